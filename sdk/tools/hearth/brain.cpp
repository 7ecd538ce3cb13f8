// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth brain: prints, compares, averages and resets brain files.

#include "commands.hpp"
#include "tables.hpp"

#include <hearth/brain.hpp>
#include <hearth/file.hpp>
#include <hearth/hearth_runtime.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace hearth::tool {

namespace {

struct BrainOptions {
    std::vector<std::string> files;
    std::string initial;  ///< a package or program with the initial values
    std::string output;
    std::string match = "*";
    std::vector<double> weights;
    bool as_delta = false;
    bool allow_non_finite = false;
    bool json = false;
};

Result<std::optional<Brain>> read_initial(const BrainOptions& options) {
    if (options.initial.empty()) return std::optional<Brain>();
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(options.initial));
    Result<Brain> initial = initial_brain(bytes);
    if (!initial.ok()) return initial.status().with_context(options.initial);
    return std::optional(std::move(*initial));
}

/// Allows NaN and infinities; commands that write brains call check_finite().
Result<Brain> read_brain(const std::string& path, const std::optional<Brain>& initial) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    Result<Brain> brain = load_brain(bytes, initial ? &*initial : nullptr, 0, NonFinite::kAllow);
    if (brain.ok()) return brain;
    const bool needs_initial = !initial && brain.status().code() == StatusCode::kInvalidArgument;
    return brain.status().with_context(path + (needs_initial ? "; give it by --initial" : ""));
}

int64_t count_non_finite(const HostTensor& tensor) {
    int64_t count = 0;
    if (!is_floating(tensor.dtype())) return count;
    for (int64_t i = 0; i < tensor.element_count(); ++i) count += !std::isfinite(tensor.get(i));
    return count;
}

/// A brain with NaN or infinities cannot recover by learning, and an average spreads them.
Status check_finite(const BrainOptions& options, const Brain& brain, const std::string& path) {
    if (options.allow_non_finite) return {};
    for (const BrainTensor& tensor : brain.tensors)
        if (const int64_t count = count_non_finite(tensor.value); count > 0)
            return invalid_argument(
                fmt::format("{}: {} of {} elements of '{}' are not finite; reset them by `hearth "
                            "brain reset`, or "
                            "accept them by --allow-non-finite",
                            path, count, tensor.value.element_count(), tensor.name));
    return {};
}

Status write_brain_file(const BrainOptions& options, const Brain& brain,
                        const std::optional<Brain>& initial) {
    HEARTH_TRY(check_finite(options, brain, options.output));
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  save_brain(brain, options.as_delta ? &*initial : nullptr, NonFinite::kAllow));
    return write_file_atomically(options.output, bytes);
}

/// Checks before any file is read that the result can be written.
Status check_output(const BrainOptions& options) {
    if (options.as_delta && options.initial.empty())
        return invalid_argument(
            "--delta stores the difference from the initial brain; give its package or program by "
            "--initial");
    return check_writable(options.output);
}

Json describe(const BrainTensor& tensor) {
    double squares = 0, most = 0;
    int64_t non_finite = 0;
    for (int64_t i = 0; i < tensor.value.element_count(); ++i) {
        const double value = tensor.value.get(i);
        if (!std::isfinite(value)) {
            ++non_finite;
            continue;
        }
        squares += value * value;
        most = std::max(most, std::abs(value));
    }
    const auto count = static_cast<double>(tensor.value.element_count());
    return {{"name", tensor.name},
            {"kind", tensor.is_state ? "state" : "param"},
            {"dtype", name_of(tensor.value.dtype())},
            {"shape", to_string(tensor.value.shape())},
            {"rms", count > 0 ? std::sqrt(squares / count) : 0.0},
            {"max_abs", most},
            {"non_finite", non_finite}};
}

Status show(const BrainOptions& options) {
    HEARTH_ASSIGN(const std::optional<Brain> initial, read_initial(options));
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(options.files[0]));
    HEARTH_ASSIGN(const hearth_brain_info info, brain_info(bytes));
    HEARTH_ASSIGN(const Brain brain, read_brain(options.files[0], initial));
    Json json = {{"file", options.files[0]},
                 {"bytes", bytes.size()},
                 {"format_version", info.format_version},
                 {"is_delta", info.is_delta != 0},
                 {"graph_hash", hash_text(brain.graph_hash)},
                 {"schema_hash", hash_text(brain.schema_hash)},
                 {"base_hash", hash_text(brain.base_hash)},
                 {"user_schema_hash", hash_text(brain.user_schema_hash)},
                 {"user_data_size", brain.user_data.size()}};
    if (initial) json["fits_initial"] = hash_of(*initial) == brain.base_hash;
    Json tensors = Json::array();
    for (const BrainTensor& tensor : brain.tensors) tensors.push_back(describe(tensor));
    if (options.json) {
        json["tensors"] = std::move(tensors);
        print_json(json);
        return {};
    }
    print(
        "{}: {}, format {}{}, {} tensors, {} bytes of user data\n", options.files[0],
        size_text(bytes.size()), info.format_version,
        info.is_delta != 0 ? fmt::format(", a delta ({} tensors changed)", info.changed_count) : "",
        brain.tensors.size(), brain.user_data.size());
    print("graph {}  schema {}  base {}\n", hash_text(brain.graph_hash),
          hash_text(brain.schema_hash), hash_text(brain.base_hash));
    for (const Json& t : tensors)
        print("  {:<6} {}{} {}  rms {:.4g}  max {:.4g}{}\n", t["kind"].get<std::string>(),
              t["dtype"].get<std::string>(), t["shape"].get<std::string>(),
              t["name"].get<std::string>(), t["rms"].get<double>(), t["max_abs"].get<double>(),
              t["non_finite"] != 0 ? fmt::format("  {} not finite", t["non_finite"].get<int64_t>())
                                   : "");
    return {};
}

const char* word_for(TensorDiff::Kind kind) {
    switch (kind) {
        case TensorDiff::Kind::kEqual:
            return "equal";
        case TensorDiff::Kind::kChanged:
            return "changed";
        case TensorDiff::Kind::kMissing:
            return "only in the first";
        case TensorDiff::Kind::kAdded:
            return "only in the second";
        case TensorDiff::Kind::kTypeChanged:
            return "of another type or shape";
    }
    return "?";
}

/// Returns true if the brains are equal.
Result<bool> diff(const BrainOptions& options) {
    HEARTH_ASSIGN(const std::optional<Brain> initial, read_initial(options));
    HEARTH_ASSIGN(const Brain a, read_brain(options.files[0], initial));
    HEARTH_ASSIGN(const Brain b, read_brain(options.files[1], initial));
    const std::vector<TensorDiff> all = diff_brains(a, b);
    const bool equal = std::all_of(all.begin(), all.end(), [](const TensorDiff& d) {
        return d.kind == TensorDiff::Kind::kEqual;
    });
    Json list = Json::array();
    for (const TensorDiff& d : all) {
        if (options.json) {
            list.push_back({{"name", d.name},
                            {"difference", word_for(d.kind)},
                            {"changed", d.changed_count},
                            {"elements", d.element_count},
                            {"max_abs", d.max_abs_diff},
                            {"rms", d.rms_diff},
                            {"relative", d.relative_rms}});
        } else if (d.kind == TensorDiff::Kind::kChanged) {
            print(
                "{}: {} of {} elements changed, max |b-a| {:.4g}, rms {:.4g}, relative "
                "{:.4g}\n",
                d.name, d.changed_count, d.element_count, d.max_abs_diff, d.rms_diff,
                d.relative_rms);
        } else if (d.kind != TensorDiff::Kind::kEqual) {
            print("{}: {}\n", d.name, word_for(d.kind));
        }
    }
    if (options.json)
        print_json({{"equal", equal},
                    {"same_graph", a.graph_hash == b.graph_hash},
                    {"same_schema", a.schema_hash == b.schema_hash},
                    {"same_base", a.base_hash == b.base_hash},
                    {"tensors", list}});
    else if (equal)
        print("equal: {} tensors\n", all.size());
    return equal;
}

Status average(const BrainOptions& options) {
    HEARTH_TRY(check_output(options));
    HEARTH_ASSIGN(const std::optional<Brain> initial, read_initial(options));
    std::vector<Brain> brains;
    for (const std::string& file : options.files) {
        HEARTH_ASSIGN(Brain brain, read_brain(file, initial));
        HEARTH_TRY(check_finite(options, brain, file));
        brains.push_back(std::move(brain));
    }
    std::vector<double> weights = options.weights;
    if (weights.empty()) weights.assign(brains.size(), 1.0);
    HEARTH_ASSIGN(const Brain mean, average_brains(brains, weights));
    HEARTH_TRY(write_brain_file(options, mean, initial));
    if (options.json)
        print_json({{"output", options.output}, {"brains", brains.size()}});
    else
        print("{}: the average of {} brains\n", options.output, brains.size());
    return {};
}

Status reset(const BrainOptions& options) {
    HEARTH_TRY(check_output(options));
    HEARTH_ASSIGN(const std::optional<Brain> initial, read_initial(options));
    HEARTH_ASSIGN(Brain brain, read_brain(options.files[0], initial));
    HEARTH_ASSIGN(const size_t count, reset_to_initial(brain, *initial, options.match));
    HEARTH_TRY(write_brain_file(options, brain, initial));
    if (options.json)
        print_json({{"output", options.output}, {"reset", count}});
    else
        print("{}: {} of {} tensors have their initial values\n", options.output, count,
              brain.tensors.size());
    return {};
}

/// Adds a subcommand of `brain`, with the options that all of them share.
CLI::App* add_action(CLI::App& brain, const char* name, const char* summary, int files,
                     BrainOptions& options) {
    CLI::App* command = brain.add_subcommand(name, summary);
    CLI::Option* list = command->add_option("BRAIN", options.files, "Brain files.")->required();
    if (files > 0) list->expected(files);
    command->add_option("--initial", options.initial,
                        "The package or program with the initial values; deltas need it.");
    command->add_flag("--json", options.json, "Print one JSON object instead of text.");
    return command;
}

void add_output(CLI::App& command, BrainOptions& options) {
    command.add_option("-o,--output", options.output, "The brain file to write, atomically.")
        ->required();
    command.add_flag("--allow-non-finite", options.allow_non_finite,
                     "Accept and write brains that contain NaN or infinity.");
    command.add_flag("--delta", options.as_delta, "Store only the difference from --initial.");
}

}  // namespace

void add_brain(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<BrainOptions>();
    CLI::App* brain = app.add_subcommand("brain", "Show, compare, average and reset brains.");
    brain->require_subcommand(1);
    const auto finish = [options, &exit_code](const char* name, const Status& status) {
        if (status.ok()) return;
        print_error(fmt::format("brain {}", name), status, options->json);
        exit_code = kExitFailed;
    };
    add_action(*brain, "show", "List the tensors of a brain.", 1, *options)
        ->callback([options, finish] { finish("show", show(*options)); });
    add_action(*brain, "diff", "Compare two brains; exit code 1 if they differ.", 2, *options)
        ->callback([options, finish, &exit_code] {
            const Result<bool> equal = diff(*options);
            if (equal.ok())
                exit_code = *equal ? kExitOk : kExitFailed;
            else
                finish("diff", equal.status());
        });
    CLI::App* averaging =
        add_action(*brain, "average", "Write the weighted mean of brains.", 0, *options);
    add_output(*averaging, *options);
    averaging
        ->add_option("-w,--weight", options->weights,
                     "One weight for each brain; default: all equal.")
        ->delimiter(',')
        ->check(programs::finite_number(0, 1e30));
    averaging->callback([options, finish] { finish("average", average(*options)); });
    CLI::App* resetting =
        add_action(*brain, "reset", "Reset tensors to their initial values.", 1, *options);
    add_output(*resetting, *options);
    resetting->get_option("--initial")->required();
    resetting
        ->add_option("--match", options->match,
                     "Names of the tensors; * stands for any characters.")
        ->capture_default_str();
    resetting->callback([options, finish] { finish("reset", reset(*options)); });
}

}  // namespace hearth::tool
