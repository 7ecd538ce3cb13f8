// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Weights from and for PyTorch: .safetensors and .pt files, and how their names become those of a
// trace.  Files are the caller's business: these functions take bytes and trust none of them.
//
//     auto file = read_torch(bytes);
//     if (!file.ok()) return file.status();
//     auto report = load_weights(*file, trace, {.rules = {NameRule::strip_prefix("module.")}});
//     if (!report.ok()) return report.status();  // names all that is missing, left over, misshapen

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Texts that travel with the tensors of a .safetensors file.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// Reads a .safetensors file (format of safetensors 0.4: a length, a JSON header, the data).
///
/// What is checked: each tensor's type, extents and bytes agree; tensors neither overlap nor leave
/// holes; no name comes twice.  metadata: receives the texts, if it is not null.
/// Errors: kCorruptData; kUnsupported naming element types that Hearth does not have.
Result<NamedTensors> read_safetensors(std::span<const std::byte> bytes,
                                      Metadata* metadata = nullptr);

/// Writes a .safetensors file; equal tensors give equal bytes.
std::vector<std::byte> write_safetensors(const NamedTensors& tensors,
                                         const Metadata& metadata = {});

/// Reads what torch.save wrote: the zip form of PyTorch 1.6 and later, or the older one.
///
/// The pickle inside is read by a machine that knows tensors, dicts, lists, tuples, numbers and
/// texts, and executes nothing.  Tensors in nested dicts and lists get names joined by dots
/// ("model.conv.weight", "optimizer.state.0.exp_avg"); everything else is left out.
/// Errors: kCorruptData; kUnsupported for compressed entries, big-endian files, sparse, quantized
/// and complex tensors, and pickled classes (save a state_dict, not a module), by name.
Result<NamedTensors> read_torch(std::span<const std::byte> bytes);

/// One step in turning a file's names into those of params.
struct NameRule {
    enum class Kind { kStripPrefix, kAddPrefix, kReplace };
    Kind kind = Kind::kStripPrefix;
    std::string pattern;
    std::string replacement;

    /// Takes `prefix` off the names that begin with it.
    static NameRule strip_prefix(std::string prefix) {
        return {Kind::kStripPrefix, std::move(prefix), {}};
    }
    static NameRule add_prefix(std::string prefix) {
        return {Kind::kAddPrefix, std::move(prefix), {}};
    }
    /// Replaces each match of a regular expression.  Known are: . \d \w \s and their negations,
    /// [a-z] and [^a-z], ( ) and (?: ), |, * + ? {n,m}, all greedy, ^ and $; in the replacement $1
    /// to $9 and $0, the whole match.  The leftmost match counts, and in it the first alternative.
    static NameRule replace(std::string pattern, std::string replacement) {
        return {Kind::kReplace, std::move(pattern), std::move(replacement)};
    }
};

struct LoadOptions {
    std::vector<NameRule> rules;  ///< applied one after the other to each of the file's names
    /// Whether anything missing, left over or misshapen is an error, and nothing is changed then.
    bool strict = true;
    /// Whether floating-point elements of another width are rounded; otherwise they do not fit.
    bool convert = true;
};

/// What became of each tensor.  Names are sorted.
struct LoadReport {
    struct Misfit {
        std::string name;      ///< of the param
        std::string expected;  ///< "f32[16, 1, 3, 3]"
        std::string found;
    };
    std::vector<std::string> loaded;      ///< params and states that fit
    std::vector<std::string> missing;     ///< params that the file does not have
    std::vector<std::string> unexpected;  ///< the file's names, after the rules, that no param has
    std::vector<Misfit> misfits;          ///< there, but of another shape or kind of element

    bool is_complete() const { return missing.empty() && unexpected.empty() && misfits.empty(); }
    /// All of it in one line for each kind.
    std::string text(std::string_view separator = "\n") const;
};

/// The name that `rules` make of `name`.  Errors: kInvalidArgument for a pattern that is none.
Result<std::string> apply_rules(std::span<const NameRule> rules, std::string_view name);

/// Puts a file's tensors in place of those of equal name in `into`.
/// Errors: kInvalidArgument for a pattern that is none, two names that become one, and - if strict -
/// an incomplete report; `into` is then unchanged.
Result<LoadReport> load_weights(const NamedTensors& file, NamedTensors& into,
                                const LoadOptions& options = {});

/// Makes a file's tensors the first contents of the trace's params and states.  A state that the
/// file does not have is no gap: optimizers' moments are states.
Result<LoadReport> load_weights(const NamedTensors& file, Trace& trace,
                                const LoadOptions& options = {});

/// The first contents of a trace's params (and states), as load_weights takes them.
NamedTensors weights_of(const Trace& trace, bool with_states = false);

}  // namespace hearth
