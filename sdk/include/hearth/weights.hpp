// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Weights from and for PyTorch: .safetensors and .pt files, and the mapping of their names to those
// of a trace.  These functions take untrusted bytes; file access is the caller's business.
//
//     auto file = read_torch(bytes);
//     if (!file.ok()) return file.status();
//     auto report = load_weights(*file, trace, {.rules = {KeyRule::strip_prefix("module.")}});
//     if (!report.ok()) return report.status();  // names all that is missing, left over, misshapen

#pragma once

#include <hearth/core/cpp20.hpp>
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

/// Metadata strings of a .safetensors file.
using Metadata = std::map<std::string, std::string, std::less<>>;

/// A tensor of a file that Hearth cannot read.
struct UnreadTensor {
    std::string name = {};
    std::string reason = {};  ///< "tensor 'x': element type 'C64'"
};
using LeftOut = std::vector<UnreadTensor>;

/// Reads a .safetensors file (format of safetensors 0.4: a length, a JSON header, the data).
///
/// Checked: each tensor's type, extents and byte range agree; tensors neither overlap nor leave
/// gaps; names are unique.  metadata: receives the strings, if not null.  left_out: receives the
/// tensors of element types that Hearth does not have (complex numbers, floats of 8 bits), if not
/// null; the others are returned.
/// Errors: kCorruptData; kUnsupported if all tensors are left out, naming the first.
Result<NamedTensors> read_safetensors(std::span<const std::byte> bytes,
                                      Metadata* metadata = nullptr, LeftOut* left_out = nullptr);

/// Writes a .safetensors file; equal tensors give equal bytes.
std::vector<std::byte> write_safetensors(const NamedTensors& tensors,
                                         const Metadata& metadata = {});

/// Reads a file written by torch.save: the zip format of PyTorch 1.6 and later, or the legacy
/// format.
///
/// The pickle is interpreted without executing anything: tensors, dicts, lists, tuples, numbers and
/// strings only.  Tensors in nested dicts and lists get names joined by dots ("model.conv.weight",
/// "optimizer.state.0.exp_avg"); everything else is ignored.  Parameters, buffers and subclasses of
/// them are tensors.  left_out: receives sparse, quantized, complex and 8-bit float tensors, if not
/// null; the others are returned.
/// Errors: kCorruptData; kUnsupported for compressed entries, big-endian files, archives of
/// TorchScript and torch.export, pickled classes (save a state_dict, not a module), by name, and if
/// all tensors are left out, naming the first.
Result<NamedTensors> read_torch(std::span<const std::byte> bytes, LeftOut* left_out = nullptr);

/// One rule for mapping a file's names to those of params.
struct KeyRule {
    enum class Kind { kStripPrefix, kAddPrefix, kReplace };
    Kind kind = Kind::kStripPrefix;
    std::string pattern = {};
    std::string replacement = {};

    /// Removes `prefix` from names that begin with it.
    static KeyRule strip_prefix(std::string prefix) {
        return {Kind::kStripPrefix, std::move(prefix), {}};
    }
    static KeyRule add_prefix(std::string prefix) {
        return {Kind::kAddPrefix, std::move(prefix), {}};
    }
    /// Replaces each match of a regular expression.  Supported: . \d \w \s and their negations,
    /// [a-z] and [^a-z], ( ) and (?: ), |, * + ? {n,m}, all greedy, ^ and $; in the replacement $1
    /// to $9, and $0 for the whole match.  The leftmost match wins, and the first alternative that
    /// matches there.
    static KeyRule replace(std::string pattern, std::string replacement) {
        return {Kind::kReplace, std::move(pattern), std::move(replacement)};
    }
};

struct LoadOptions {
    std::vector<KeyRule> rules = {};  ///< applied in order to each of the file's names
    /// True: missing, unexpected or mismatched tensors are an error, and nothing is changed.
    bool strict = true;
    /// True: floating-point elements of another width are rounded; false: they are a mismatch.
    bool convert = true;
};

/// Outcome for each tensor.  Names are sorted.
struct LoadReport {
    struct Mismatch {
        std::string name;      ///< of the param
        std::string expected;  ///< "f32[16, 1, 3, 3]"
        std::string found;
    };
    std::vector<std::string> loaded = {};      ///< params and states that match
    std::vector<std::string> missing = {};     ///< params that the file does not have
    std::vector<std::string> unexpected = {};  ///< names in the file, after rules, without a param
    std::vector<Mismatch> mismatched = {};     ///< present, but of another shape or kind of element

    bool is_complete() const { return missing.empty() && unexpected.empty() && mismatched.empty(); }
    /// All lists, one line per kind.
    std::string text(std::string_view separator = "\n") const;
};

/// Applies `rules` to `name`.  Errors: kInvalidArgument for an invalid pattern.
Result<std::string> remap_key(std::span<const KeyRule> rules, std::string_view name);

/// Replaces the tensors in `into` by the file's tensors of equal name.  Learners' tensors are also
/// found by the names that they had in version 0.1.
/// Errors: kInvalidArgument for an invalid pattern, two names that are mapped to one, and - if
/// strict - an incomplete report; `into` is then unchanged.
Result<LoadReport> load_weights(const NamedTensors& file, NamedTensors& into,
                                const LoadOptions& options = {});

/// Makes a file's tensors the initial values of the trace's params and states.  A state that the
/// file lacks is not reported as missing: optimizers' moments are states.
Result<LoadReport> load_weights(const NamedTensors& file, Trace& trace,
                                const LoadOptions& options = {});

/// The initial values of a trace's params (and states), in the form that load_weights takes.
NamedTensors state_dict(const Trace& trace, bool with_states = false);

}  // namespace hearth
