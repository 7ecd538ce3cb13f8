// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth verify: runs reference cases and compares the results with their stored outputs.

#include "verify.hpp"

#include "cases.hpp"
#include "commands.hpp"
#include "compare.hpp"
#include "compiler/ir/graph.hpp"
#include "core/path.hpp"
#include "isolate.hpp"
#include "model.hpp"
#include "progress.hpp"
#include "runner.hpp"

#include <hearth/op/op_def.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearth::tool {

namespace fs = std::filesystem;

namespace {

/// Contents of a data set.
struct DataSet {
    std::string name;
    std::vector<HostTensor> inputs;
    std::vector<HostTensor> outputs;
    std::vector<std::string> names = {};  ///< of the inputs; empty where files have none
};

Result<DataSet> read_data_set(const fs::path& folder) {
    DataSet set{folder.filename().string(), {}, {}};
    HEARTH_ASSIGN(std::vector<NamedTensor> inputs, read_tensors(folder, "input"));
    HEARTH_ASSIGN(std::vector<NamedTensor> outputs, read_tensors(folder, "output"));
    for (NamedTensor& t : inputs) {
        set.names.push_back(t.name);
        set.inputs.push_back(std::move(t.tensor));
    }
    for (NamedTensor& t : outputs) set.outputs.push_back(std::move(t.tensor));
    if (set.outputs.empty()) return not_found("there is no output_0.pb");
    return set;
}

/// Batch size of the inputs; checks their number, types and shapes.
Result<int64_t> batch_size_of(const ImportedModel& model, std::span<const HostTensor> inputs) {
    if (inputs.size() != model.inputs().size())
        return invalid_argument(fmt::format("the model takes {} inputs, the data set has {}",
                                            model.inputs().size(), inputs.size()));
    int64_t batch_size = 1;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const TensorSpec& port = model.inputs()[i];
        if (port.shape.has_batch() && inputs[i].shape().rank() > 0)
            batch_size = inputs[i].shape()[0].count;
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        const TensorSpec& port = model.inputs()[i];
        if (inputs[i].dtype() != port.dtype || inputs[i].shape() != port.shape.resolve(batch_size))
            return invalid_argument(fmt::format(
                "input '{}' is {}{}, the data set has {}{}", port.name, name_of(port.dtype),
                to_string(port.shape), name_of(inputs[i].dtype()), to_string(inputs[i].shape())));
    }
    return batch_size;
}

bool has_operator(const Graph& graph, std::string_view name) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& n) { return n.op->name == name; });
}

/// Small results of a Fourier transform are differences of large terms, so the stored values
/// contain rounding errors of the size of the largest one.
Tolerance for_transforms(Tolerance tolerance, const HostTensor& expected) {
    double largest = 0;
    for (int64_t i = 0; i < expected.element_count(); ++i)
        largest = std::fmax(largest, std::abs(expected.get(i)));
    tolerance.absolute = std::max(tolerance.absolute, ulp(expected.dtype(), largest));
    return tolerance;
}

bool draws_numbers(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const Node& n) { return n.op->name.starts_with("random_"); });
}

/// Limits the memory of a case.
Status check_memory(const ImportedModel& model, int64_t batch_size) {
    constexpr double kMaxBytes = 8e9;
    double bytes = 0;
    for (const Value& v : model.graph().values)
        if (!v.data)
            bytes += static_cast<double>(v.shape.element_count(batch_size)) * size_bytes(v.dtype);
    if (bytes <= kMaxBytes) return {};
    return out_of_range(
        fmt::format("its values take {:.3g} bytes, the limit is {:.3g}", bytes, kMaxBytes));
}

/// The first `count` elements along an axis.
HostTensor first_along(const HostTensor& x, int axis, int64_t count) {
    Shape shape = x.shape();
    const int64_t extent = shape[axis].count;
    shape[axis] = Dim(count);
    HostTensor part(x.dtype(), shape);
    size_t inner = size_bytes(x.dtype());
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<size_t>(shape[i].count);
    const size_t used = inner * static_cast<size_t>(count);
    if (used == 0) return part;
    const size_t outer = part.bytes().size() / used;
    for (size_t i = 0; i < outer; ++i)
        std::memcpy(part.bytes().data() + i * used,
                    x.bytes().data() + i * inner * static_cast<size_t>(extent), used);
    return part;
}

/// The elements of an output that are in use: all, or as many as its counts say.
Result<HostTensor> without_padding(const ImportedModel& model, size_t output,
                                   std::span<const HostTensor> found) {
    HostTensor tensor = found[output];
    for (const ExtentCount& c : model.outputs()[output].counts) {
        const auto at = std::ranges::find(model.outputs(), c.output,
                                          [](const TensorSpec& s) { return s.name; });
        const int64_t count = found[static_cast<size_t>(at - model.outputs().begin())].get_int(0);
        if (count < 0 || count > tensor.shape()[c.axis].count)
            return internal_error(fmt::format("output '{}' is {}, beyond the extent of '{}' {}",
                                              c.output, count, model.outputs()[output].name,
                                              to_string(tensor.shape())));
        tensor = first_along(tensor, c.axis, count);
    }
    return tensor;
}

Outcome compare_outputs(const ImportedModel& model, const DataSet& set,
                        std::span<const HostTensor> found, Tolerance tolerance) {
    if (set.outputs.size() > found.size())
        return failed(fmt::format("the model has {} outputs, the data set {}", found.size(),
                                  set.outputs.size()));
    const bool transforms = has_operator(model.graph(), "dft");
    for (size_t i = 0; i < set.outputs.size(); ++i) {
        const Result<HostTensor> used = without_padding(model, i, found);
        if (!used.ok()) return from_error(used.status());
        if (const auto difference = first_difference(
                *used, set.outputs[i],
                transforms ? for_transforms(tolerance, set.outputs[i]) : tolerance))
            return failed(
                fmt::format("output_{} '{}' {}", i, model.outputs()[i].name, *difference));
    }
    return {};
}

class Verifier {
  public:
    explicit Verifier(const VerifyOptions& options)
        : options_(options),
          runners_(
              make_runners(options.device, options.device_index, options.assume, options.cooked)) {}

    std::vector<DeviceOutcome> run_case(const fs::path& folder) {
        const Result<std::vector<std::byte>> bytes = read_file(folder / "model.onnx");
        if (!bytes.ok()) return {{"", failed(bytes.status().message())}};
        const Result<std::optional<Tolerance>> own = read_tolerance(folder);
        if (!own.ok()) return {{"", failed(own.status().message())}};
        Tolerance tolerance = own->value_or(Tolerance{});
        tolerance.relative = options_.relative.value_or(tolerance.relative);
        tolerance.absolute = options_.absolute.value_or(tolerance.absolute);

        const std::vector<fs::path> sets = find_data_sets(folder);
        if (sets.empty()) return {{"", failed("there is no test_data_set_*")}};
        std::vector<DeviceOutcome> outcomes;
        for (const fs::path& set_folder : sets) {
            const Result<DataSet> set = read_data_set(set_folder);
            const Result<ImportedModel> model = import(*bytes, set, folder);
            // The data set of an unsupported model may have inputs that cannot be read, so check
            // this first.
            if (!model.ok() && model.status().code() == StatusCode::kUnsupported)
                return {{"", from_error(model.status())}};
            if (!set.ok())
                return {
                    {"", from_error(set.status().with_context(set_folder.filename().string()))}};
            if (!model.ok()) return {{"", from_error(model.status())}};
            if (draws_numbers(model->graph()))
                return {{"", from_error(unsupported("its outputs depend on random numbers; those "
                                                    "stored are another generator's"))}};
            if (!runners_.missing.ok())
                outcomes.push_back({options_.device == "both" ? "gpu" : options_.device,
                                    failed("no device: " + runners_.missing.message())});
            for (const std::unique_ptr<Runner>& runner : runners_.list)
                outcomes.push_back(
                    {std::string(runner->name()), run_set(*runner, *model, *set, tolerance)});
        }
        return outcomes;
    }

    Result<ImportedModel> import(std::span<const std::byte> bytes, const Result<DataSet>& set,
                                 const fs::path& folder) const {
        ImportOptions import_options;
        import_options.external_data = directory_loader(folder.string());
        import_options.bound_flag_name = "--bound";
        import_options.value_flag_name = "--constant-input";
        for (const std::string& text : options_.bounds) {
            HEARTH_ASSIGN(NamedBound bound, parse_bound(text));
            import_options.bounds.push_back(std::move(bound));
        }
        if (set.ok() && !options_.symbolic_batch)
            for (const HostTensor& input : set->inputs)
                import_options.input_shapes.push_back({"", input.shape()});
        if (set.ok())
            for (const std::string& name : options_.constant_inputs)
                HEARTH_TRY(add_constants(name, *set, import_options));
        return import_onnx(bytes, import_options);
    }

    /// The contents of an input that the data set names, or of all.
    static Status add_constants(const std::string& name, const DataSet& set,
                                ImportOptions& options) {
        bool is_found = name == "all";
        for (size_t i = 0; i < set.inputs.size(); ++i) {
            if (name != "all" && set.names[i] != name) continue;
            options.constant_inputs.push_back({name == "all" ? "" : name, set.inputs[i]});
            is_found = true;
        }
        if (is_found) return {};
        return not_found("--constant-input " + name + ": the data set has no input of this name");
    }

    static Outcome run_set(Runner& runner, const ImportedModel& model, const DataSet& set,
                           Tolerance tolerance) {
        const Result<int64_t> batch_size = batch_size_of(model, set.inputs);
        if (!batch_size.ok()) return from_error(batch_size.status());
        if (Status s = check_memory(model, *batch_size); !s.ok()) return from_error(s);
        const Result<std::vector<HostTensor>> found = runner.run(model, set.inputs, *batch_size);
        if (!found.ok()) return from_error(found.status());
        Outcome outcome = compare_outputs(model, set, *found, tolerance);
        if (outcome.kind == Outcome::Kind::kFailed) outcome.text = set.name + ": " + outcome.text;
        return outcome;
    }

    const VerifyOptions& options_;
    Runners runners_;
};

VerifyMode onnx_mode(const VerifyOptions& options) {
    return {.find = find_cases, .none_found = "no folder with a model.onnx", .start = [&options] {
                auto verifier = std::make_shared<Verifier>(options);
                return [verifier](const fs::path& folder) { return verifier->run_case(folder); };
            }};
}

/// `path` as shown in reports: relative to the parent of `root`.
std::string label_for(const fs::path& path, const fs::path& root) {
    const fs::path base = fs::absolute(root).lexically_normal();
    const fs::path outer =
        base.has_filename() ? base.parent_path() : base.parent_path().parent_path();
    return fs::absolute(path).lexically_normal().lexically_relative(outer).generic_string();
}

struct Case {
    std::string label;
    fs::path path;
};

ExitCode verify_cases(const VerifyOptions& options) {
    const VerifyMode mode = options.gradients ? gradients_mode(options) : onnx_mode(options);
    Report report(options.report);
    std::vector<Case> cases;
    for (const std::string& name : options.folders) {
        const fs::path root = path_of(name);
        const std::vector<fs::path> found = mode.find(root);
        if (found.empty()) report.count(name, {{"", failed(mode.none_found)}});
        for (const fs::path& path : found) cases.push_back({label_for(path, root), path});
    }
    Progress progress("verify");
    run_isolated(
        cases.size(),
        [&]() -> RunCase {
            return [&, run = mode.start()](size_t i) { return run(cases[i].path); };
        },
        [&](size_t i, std::vector<DeviceOutcome> outcomes) {
            progress.clear();
            report.count(cases[i].label, outcomes);
            progress.at(i + 1, cases.size(), cases[i].label);
        },
        {options.timeout_s});
    progress.clear();
    return report.finish();
}

}  // namespace

void add_verify(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<VerifyOptions>();
    CLI::App* command = app.add_subcommand(
        "verify", "Run reference cases (folders with model.onnx and test_data_set_*) and compare.");
    command
        ->add_option("--device", options->device,
                     "Where to run: reference (the interpreter), gpu, both (reference and gpu), "
                     "cpu (kernels in "
                     "C that the system's compiler builds), program (the compiled program, "
                     "interpreted at its "
                     "real offsets), or another library (docs/how-to/executors.md).")
        ->check(known_device(/*may_be_both=*/true))
        ->capture_default_str();
    command
        ->add_option("--rtol", options->relative,
                     "Relative tolerance; default: the case's tolerance.txt, or 1e-3.")
        ->check(programs::finite_number(0, 1e30));
    command
        ->add_option("--atol", options->absolute,
                     "Absolute tolerance; default: the case's tolerance.txt, or 1e-5.")
        ->check(programs::finite_number(0, 1e30));
    command->add_flag(
        "--symbolic-batch", options->symbolic_batch,
        "Compile open leading extents as a symbolic batch size instead of the data's.");
    add_bound_option(*command, options->bounds);
    command
        ->add_option("--constant-input", options->constant_inputs,
                     "Import with the data's contents of this input as a constant, or of `all` "
                     "inputs: for cases of models that take shapes, axes or counts as inputs. "
                     "The result holds for this data alone.")
        ->allow_extra_args(false);
    command->add_flag(
        "--gradients", options->gradients,
        "The folders hold PyTorch's gradients as .json files: run each name's graph in "
        "f32.  Default tolerances: 2e-4 and 2e-5.");
    add_assume_options(*command, options->assume);
    command->add_flag(
        "--cooked", options->cooked,
        "Also cook each model to a package and run that: its results must be bitwise equal.");
    command
        ->add_option(
            "--timeout", options->timeout_s,
            "Seconds for one case; 0: no limit.  Cases run in a separate process, so a crash or a "
            "hang fails only that case.")
        ->check(programs::finite_number(0, 1e6))
        ->capture_default_str();
    command->add_flag("-v,--verbose", options->report.list_passed,
                      "Also list the cases that pass.");
    command->add_flag("--json", options->report.json,
                      "Print one JSON object with every case instead of text.");
    command->add_option("DIR", options->folders, "Cases, or folders that contain cases.")
        ->required();
    command->footer("Exit code 77: all cases were skipped, so nothing was checked.");
    command->callback([options, &exit_code] { exit_code = verify_cases(*options); });
}

}  // namespace hearth::tool
