// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth cook: compiles a model to a package, to C or WGSL, or an entry of a package to a GLSL
// function.

#include "c_header.hpp"
#include "commands.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/cook_c.hpp"
#include "compiler/driver/cook_wgsl.hpp"
#include "compiler/driver/export_glsl.hpp"
#include "compiler/driver/native_program.hpp"
#include "compiler/passes/quantize_weights.hpp"
#include "core/path.hpp"
#include "describe_program.hpp"
#include "measure.hpp"
#include "model.hpp"
#include "progress.hpp"
#include "tables.hpp"
#include "tuning_file.hpp"

#include <hearth/file.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/device_targets.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace hearth::tool {

namespace {

struct CookCommand {
    ModelOptions model;
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    std::string output;
    std::vector<std::string> device_targets{"baseline"};
    std::string target = "package";
    std::string function;
    std::string name = "main";
    uint64_t max_batch_size = 0;  ///< 0: not given
    std::string quantize, tuning, header, kernels;
    std::string precision;  ///< empty: not given
    std::string cpu = "scalar", weights = "source";
    bool strip = false;        ///< no C of kernels for CPUs
    bool keep_source = false;  ///< GLSL, too
    bool measure = true;
    bool json = false;
};

/// Loads the model.  Options that were not given become those of a package, or the defaults.
Result<Model> load_model(CookCommand& command) {
    ModelOptions options = command.model;
    options.fixed_batch_size = static_cast<int64_t>(std::max<uint64_t>(command.max_batch_size, 1));
    HEARTH_ASSIGN(Model model, load_model(options));
    if (model.is_package()) {
        HEARTH_ASSIGN(const PackageView package, open_package(model.package));
        if (command.precision.empty() && precision_of(package) == Precision::kF16)
            command.precision = "f16";
        if (command.max_batch_size == 0) {
            HEARTH_ASSIGN(command.max_batch_size, max_batch_size_of(package));
        }
    }
    if (command.precision.empty()) command.precision = "f32";
    if (command.max_batch_size == 0) command.max_batch_size = 1;
    return model;
}

/// The GPU of this machine, if it has a usable one.
struct Machine {
    std::unique_ptr<standalone::Instance> instance;
    std::unique_ptr<standalone::Device> device;
};

Machine find_machine() {
    Machine machine;
    Result<std::unique_ptr<standalone::Instance>> instance = standalone::Instance::create();
    if (!instance.ok()) return machine;
    machine.instance = std::move(*instance);
    Result<std::unique_ptr<standalone::Device>> device =
        standalone::Device::create(*machine.instance);
    if (device.ok()) machine.device = std::move(*device);
    return machine;
}

/// The program of a device target; it refers to the package's bytes.
Result<Program> program_of(const Cooked& cooked, size_t target) {
    HEARTH_ASSIGN(const PackageView package, open_package(cooked.bytes));
    return load_program(package, static_cast<uint32_t>(target));
}

Result<Json> target_report(const Cooked& cooked, size_t index) {
    const CookedTarget& target = cooked.device_targets[index];
    HEARTH_ASSIGN(const Program program, program_of(cooked, index));
    Json report = describe_program(program);
    report["name"] = target.name;
    report["bytes"]["program"] = target.program_bytes;
    report["remarks"] = target.compiled.remarks;
    return report;
}

/// Adds the measured time of each entry in each device target on this machine's GPU.
Status add_measured(Json& report, const Cooked& cooked, standalone::Device& device,
                    uint64_t batch_size) {
    for (Json& target : report["device_targets"])
        for (Json& entry : target["entries"]) {
            const std::string name = target["name"];
            MeasureOptions options{.entry = entry["name"],
                                   .batch_size = static_cast<int64_t>(batch_size)};
            options.device_target = name.c_str();
            options.samples = 20;
            options.max_s = 0.5;  // a software device takes a second for one run of a large network
            options.wants_commands = false;
            const Result<Measured> measured = measure(device, cooked.bytes, options);
            if (measured.ok())
                entry["measured_us"] = measured->total_us;
            else
                entry["not_measured"] = measured.status().message();
        }
    report["device"] = device.properties().deviceName;
    return {};
}

void print_report(const Json& report, const CookCommand& command) {
    print("{}: {} (graph {}, weights {})\n", command.output,
          size_text(report["bytes"].get<uint64_t>()),
          size_text(report["graph_bytes"].get<uint64_t>()),
          size_text(report["weights_bytes"].get<uint64_t>()));
    for (const Json& w : report.value("quantized", Json::array()))
        print("  {}: {} to {}, rms error {:.3g} of {:.3g}\n", w["name"].get<std::string>(),
              size_text(w["bytes_before"].get<uint64_t>()),
              size_text(w["bytes_after"].get<uint64_t>()), w["rms_error"].get<double>(),
              w["rms"].get<double>());
    for (const Json& target : report["device_targets"]) {
        const Json& bytes = target["bytes"];
        print("device target {}: {} kernels, program {} (SPIR-V {})\n",
              target["name"].get<std::string>(), target["kernels"].get<uint64_t>(),
              size_text(bytes["program"].get<uint64_t>()),
              size_text(bytes["spirv"].get<uint64_t>()));
        print("  device memory: params {}, states {}, constants {}, arena {} at batch size {}\n",
              size_text(bytes["params"].get<uint64_t>()),
              size_text(bytes["states"].get<uint64_t>()),
              size_text(bytes["constants"].get<uint64_t>()),
              size_text(bytes["arena"].get<uint64_t>()), command.max_batch_size);
        for (const Json& remark : target["remarks"])
            print("  remark: {}\n", remark.get<std::string>());
        for (const Json& entry : target["entries"]) {
            print(
                "  entry {}: {} operators in {} dispatches, {} copies, {} barriers; {:.3g} "
                "flops, {:.3g} bytes moved\n",
                entry["name"].get<std::string>(), entry["operators"].get<uint64_t>(),
                entry["dispatches"].get<uint64_t>(), entry["copies"].get<uint64_t>(),
                entry["barriers"].get<uint64_t>(), entry["flops"].get<double>(),
                entry["bytes_moved"].get<double>());
            std::string measured;
            if (entry.contains("measured_us"))
                measured = fmt::format(", measured {} on {}",
                                       time_text(entry["measured_us"].get<double>()),
                                       report["device"].get<std::string>());
            if (entry.contains("not_measured"))
                measured = ", not measured: " + entry["not_measured"].get<std::string>();
            print("    estimated {} on a middle-class GPU ({:.0f} TFLOP/s, {:.0f} GB/s){}\n",
                  time_text(entry["estimated_us"].get<double>()), kEstimatedFlopsPerS / 1e12,
                  kEstimatedBytesPerS / 1e9, measured);
            for (const Json& group : entry["fused"])
                print("    fused {}x {}\n", group["count"].get<uint64_t>(),
                      shortened(group["group"].get<std::string>(), 90));
        }
    }
}

void set_assumptions(const CookCommand& command, CompileOptions& options) {
    options.assume_int32 = command.assume.assume_int32;
    options.assume_float32 = command.assume.assume_float32;
}

Result<std::vector<DeviceTarget>> make_device_targets(const CookCommand& command,
                                                      Machine& machine) {
    std::vector<DeviceTarget> device_targets;
    for (const std::string& name : command.device_targets) {
        HEARTH_ASSIGN(DeviceTarget target,
                      programs::make_device_target(name, machine.device.get()));
        if (name == "device")
            HEARTH_TRY(add_tuning(target.options, command.tuning, *machine.device));
        if (command.keep_source || command.strip) target.options.keep_source = command.keep_source;
        if (command.precision == "f16") target.options.precision = Precision::kF16;
        set_assumptions(command, target.options);
        device_targets.push_back(std::move(target));
    }
    return device_targets;
}

/// Files that were written, for the report.
using WrittenFiles = std::vector<std::pair<std::string, uint64_t>>;

template <class Contents>
Status write_listed(const std::string& path, const Contents& contents, WrittenFiles& written) {
    HEARTH_TRY(write_file_atomically(path, contents));
    written.emplace_back(path, contents.size());
    return {};
}

void print_written(const WrittenFiles& written) {
    for (const auto& [path, bytes] : written) print("wrote {}: {}\n", path, size_text(bytes));
}

Json written_report(const WrittenFiles& written) {
    Json all = Json::array();
    for (const auto& [path, bytes] : written) all.push_back({{"path", path}, {"bytes", bytes}});
    return all;
}

/// Writes the C header of the cooked package.
Status write_header(const CookCommand& command, const Cooked& cooked, WrittenFiles& written) {
    std::vector<Program> programs;
    for (size_t i = 0; i < cooked.device_targets.size(); ++i) {
        HEARTH_ASSIGN(Program program, program_of(cooked, i));
        programs.push_back(std::move(program));
    }
    const std::string package = path_of(command.output).filename().string();
    HEARTH_ASSIGN(const std::string text,
                  c_header(command.header, package, cooked.graph_hash, programs));
    return write_listed(command.header, text, written);
}

/// Errors: kInvalidArgument for a folder: files named by the device target alone would be lost
/// among others.
Status check_kernel_prefix(const std::string& prefix) {
    std::error_code error;
    const std::filesystem::path path = path_of(prefix);
    if (prefix.empty() || (path.has_filename() && !std::filesystem::is_directory(path, error)))
        return {};
    return invalid_argument("--kernels " + prefix +
                            " is a folder; expected the beginning of the files' names, such as " +
                            (path / "walker").string() + ", for walker_x86_64_v3.c");
}

/// Writes the C functions of each CPU device target as PREFIX_DEVICE_TARGET.c.
Status write_kernels(const CookCommand& command, const std::vector<Graph>& graphs,
                     const CookOptions& options, WrittenFiles& written) {
    const auto in_c = [](std::string text) {
        std::replace(text.begin(), text.end(), '-', '_');
        return text;
    };
    bool is_any = false;
    for (const DeviceTarget& target : options.device_targets) {
        if (target.options.caps.cpu_isa == CpuIsa::kNone) continue;
        is_any = true;
        CompileOptions with_text = target.options;
        with_text.keep_source = true;
        with_text.max_batch_size = options.max_batch_size;
        std::vector<Graph> own = graphs;
        HEARTH_TRY(quantize_weights(own, options.quantize).status());
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(std::move(own), with_text));
        const std::filesystem::path prefix = path_of(command.kernels);
        const std::string table = in_c(prefix.filename().string() + "_" + target.name);
        HEARTH_ASSIGN(const std::string text, cpu_kernels_of(compiled.program, table));
        HEARTH_TRY(write_listed((prefix.parent_path() / (table + ".c")).string(), text, written));
    }
    if (is_any) return {};
    return invalid_argument(
        "--kernels writes the functions of CPUs, and no device target is one; add one of a CPU, "
        "such "
        "as --device-targets x86-64-v3");
}

/// Entries get the option's name; several sizes of one model append theirs: "act_1x3x160x160".
void name_entries(std::vector<Graph>& graphs, const std::string& name) {
    for (Graph& graph : graphs) graph.name = graphs.size() == 1 ? name : name + "_" + graph.name;
}

void set_quantization(const std::string& name, QuantizeOptions& options) {
    if (name == "f16") options.format = WeightFormat::kF16;
    if (name == "int8") options.format = WeightFormat::kInt8;
    if (name == "int4") options.format = WeightFormat::kInt4;
}

/// The package's program for the device target; a package with one device target matches any name.
Result<Program> packed_program(const Model& model, const std::string& target) {
    HEARTH_ASSIGN(const PackageView package, open_package(model.package));
    int index = package.find_device_target(target);
    if (index < 0 && package.device_targets().size() == 1) index = 0;
    if (index < 0) {
        std::string names;
        for (const file::DeviceTargetRecord& p : package.device_targets())
            names += (names.empty() ? "" : ", ") + std::string(p.name);
        return not_found("the package has no device target '" + target +
                         "'; --device-targets takes one of: " + names);
    }
    return load_program(package, static_cast<uint32_t>(index));
}

/// Writes an entry as a GLSL function that reads the weights of sessions with one device target's
/// program.
Status cook_glsl(CookCommand command) {
    HEARTH_TRY(check_writable(command.output).with_context("the GLSL"));
    if (command.device_targets.size() != 1)
        return invalid_argument(fmt::format(
            "--target glsl takes exactly one of --device-targets, found {}: the offsets of "
            "weights may differ between them",
            command.device_targets.size()));
    HEARTH_ASSIGN(Model model, load_model(command));
    CompileOptions options;
    Program program;
    if (model.is_package()) {
        HEARTH_ASSIGN(program, packed_program(model, command.device_targets[0]));
    } else {
        name_entries(model.graphs, command.name);
        Machine machine;
        if (command.device_targets[0] == "device") machine = find_machine();
        HEARTH_ASSIGN(DeviceTarget target, programs::make_device_target(command.device_targets[0],
                                                                        machine.device.get()));
        options = std::move(target.options);
        set_assumptions(command, options);
        options.max_batch_size = command.max_batch_size;
        set_quantization(command.quantize, options.quantize);
        HEARTH_TRY(quantize_weights(model.graphs, options.quantize).status());
        options.quantize = {};
    }
    if (command.precision == "f16") options.precision = Precision::kF16;
    if (!model.is_package()) {
        HEARTH_ASSIGN(CompiledProgram compiled, compile_graphs(model.graphs, options));
        program = std::move(compiled.program);
    }
    HEARTH_ASSIGN(const size_t entry, find_entry(model.graphs, command.model.entry));
    Result<GlslFunction> made =
        export_glsl_of(model.graphs[entry], program, options, command.function);
    if (!made.ok())
        return made.status().with_context("GLSL of entry '" + model.graphs[entry].name + "'");
    HEARTH_TRY(write_file_atomically(command.output, made->text).with_context("the GLSL"));
    if (command.json)
        print_json({{"glsl", command.output},
                    {"bytes", made->text.size()},
                    {"variable", made->variable},
                    {"device_target", program.device_target},
                    {"program_hash", hash_text(program.hash)}});
    else
        print(
            "{}: {}, for sessions of program {} (device target {}); needs the address of variable "
            "'{}'\n",
            command.output, size_text(made->text.size()), hash_text(program.hash),
            program.device_target, made->variable);
    return {};
}

constexpr std::pair<const char*, CpuIsa> kCpus[] = {
    {"scalar", CpuIsa::kScalar},      {"x86-64-v2", CpuIsa::kX86_64V2},
    {"x86-64-v3", CpuIsa::kX86_64V3}, {"x86-64-v4", CpuIsa::kX86_64V4},
    {"neon", CpuIsa::kNeon},          {"wasm128", CpuIsa::kWasm128}};

/// Writes all entries as C: NAME.h, NAME.c and, if requested, NAME.weights.  For WebGPU, writes a
/// plan with WGSL kernels, NAME.wgsl.json, and the C for wasm128, which loads and saves the plan's
/// weights.
Status cook_to_c(CookCommand command) {
    const bool is_wgsl = command.target == "wgsl";
    if (is_wgsl && (!command.quantize.empty() || command.precision == "f16"))
        return invalid_argument("--target wgsl computes in f32 only; remove --" +
                                (command.quantize.empty() ? "precision " + command.precision
                                                          : "quantize " + command.quantize));
    if (is_wgsl) command.precision = "f32";
    CompileToCOptions options;
    options.name = command.function.empty() ? "net" : command.function;
    const std::filesystem::path folder = path_of(command.output);
    const std::string base = (folder / options.name).string();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return not_found("cannot make the folder " + command.output + ": " + error.message());
    for (const char* suffix : {".h", ".c"}) HEARTH_TRY(check_writable(base + suffix));
    const std::string plan_path = base + ".wgsl.json";
    if (is_wgsl) HEARTH_TRY(check_writable(plan_path));
    HEARTH_ASSIGN(Model model, load_model(command));
    if (!model.is_package()) name_entries(model.graphs, command.name);
    const std::string cpu_name = is_wgsl ? "wasm128" : command.cpu;
    for (const auto& [name, cpu] : kCpus)
        if (cpu_name == name) options.cpu_isa = cpu;
    options.max_batch_size = command.max_batch_size;
    options.embed_weights = command.weights == "source";
    set_quantization(command.quantize, options.quantize);
    if (command.precision == "f16") options.precision = Precision::kF16;
    WrittenFiles written;
    if (is_wgsl) {
        HEARTH_ASSIGN(const std::string plan, cook_wgsl_of(model.graphs, command.max_batch_size));
        HEARTH_TRY(write_listed(plan_path, plan, written).with_context("the plan"));
    }
    HEARTH_ASSIGN(const CProgram cooked, cook_c_of(std::move(model.graphs), options));
    HEARTH_TRY(write_listed(base + ".h", cooked.header, written).with_context("the header"));
    HEARTH_TRY(write_listed(base + ".c", cooked.source, written).with_context("the source"));
    if (!options.embed_weights)
        HEARTH_TRY(
            write_listed(base + ".weights", cooked.weights, written).with_context("the weights"));
    if (command.json) {
        Json report = {{"header", base + ".h"},
                       {"source", base + ".c"},
                       {"cpu", cpu_name},
                       {"graph_hash", hash_text(cooked.graph_hash)},
                       {"max_batch_size", command.max_batch_size},
                       {"source_bytes", cooked.source.size()},
                       {"weights_bytes", cooked.weights_bytes},
                       {"arena_bytes", cooked.arena_bytes},
                       {"brain_bytes", cooked.brain_bytes},
                       {"functions", cooked.kernel_count},
                       {"commands", cooked.command_count},
                       {"files", written_report(written)},
                       {"remarks", model.remarks}};
        if (is_wgsl) report["plan"] = plan_path;
        print_json(report);
    } else {
        if (is_wgsl) print("{}: the plan with its kernels in WGSL\n", plan_path);
        print(
            "{0}.h, {0}.c: {1} of C for {2}, {3} functions in {4} commands; weights {5}, arena "
            "{6} at batch size {7}\n",
            base, size_text(cooked.source.size()), cpu_name, cooked.kernel_count,
            cooked.command_count, size_text(cooked.weights_bytes), size_text(cooked.arena_bytes),
            command.max_batch_size);
        print_written(written);
    }
    return {};
}

Status cook_model(CookCommand command) {
    // Cooking takes long, so the output paths are checked first.
    HEARTH_TRY(check_kernel_prefix(command.kernels));
    HEARTH_TRY(check_writable(command.output).with_context("the package"));
    if (!command.header.empty())
        HEARTH_TRY(check_writable(command.header).with_context("the header"));
    HEARTH_ASSIGN(Model model, load_model(command));
    if (!model.is_package()) name_entries(model.graphs, command.name);
    Machine machine;
    const bool names_device =
        std::find(command.device_targets.begin(), command.device_targets.end(), "device") !=
        command.device_targets.end();
    if (command.measure || names_device) machine = find_machine();
    Progress progress("cook");
    CookOptions options;
    HEARTH_ASSIGN(options.device_targets, make_device_targets(command, machine));
    options.max_batch_size = command.max_batch_size;
    set_quantization(command.quantize, options.quantize);
    const std::string file = path_of(command.model.path).filename().string();
    Json notes{
        {"cooked_from", file}, {"by", hearth_build_info()}, {"precision", command.precision}};
    if (!model.strings.empty()) notes["strings"] = model.strings;
    options.notes = notes.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    if (model.is_package()) {
        HEARTH_ASSIGN(const PackageView package, open_package(model.package));
        options.agents.assign(package.agents().begin(), package.agents().end());
        model.package = {};  // its graphs are loaded
    }
    options.progress = [&](std::string_view target, size_t done, size_t count) {
        progress.at(done, count + 1, target);
    };
    std::vector<Graph> graphs = std::exchange(model.graphs, {});
    if (!command.kernels.empty()) model.graphs = graphs;
    HEARTH_ASSIGN(const Cooked cooked, cook_graphs(std::move(graphs), options));
    WrittenFiles written;
    HEARTH_TRY(write_listed(command.output, cooked.bytes, written).with_context("the package"));
    if (!command.header.empty())
        HEARTH_TRY(write_header(command, cooked, written).with_context("the header"));
    if (!command.kernels.empty())
        HEARTH_TRY(
            write_kernels(command, model.graphs, options, written).with_context("the kernels"));
    Json report = {{"package", command.output},
                   {"bytes", cooked.bytes.size()},
                   {"graph_hash", hash_text(cooked.graph_hash)},
                   {"graph_bytes", cooked.graph_bytes},
                   {"weights_bytes", cooked.weights_bytes},
                   {"max_batch_size", command.max_batch_size},
                   {"remarks", model.remarks},
                   {"files", written_report(written)},
                   {"device_targets", Json::array()}};
    for (const QuantizedWeight& w : cooked.quantized)
        report["quantized"].push_back({{"name", w.name},
                                       {"bytes_before", w.bytes_before},
                                       {"bytes_after", w.bytes_after},
                                       {"rms", w.rms},
                                       {"rms_error", w.rms_error},
                                       {"max_error", w.max_error}});
    for (size_t i = 0; i < cooked.device_targets.size(); ++i) {
        HEARTH_ASSIGN(Json described, target_report(cooked, i));
        report["device_targets"].push_back(std::move(described));
    }
    if (command.measure && machine.device) {
        progress.at(cooked.device_targets.size(), cooked.device_targets.size() + 1, "measuring");
        HEARTH_TRY(add_measured(report, cooked, *machine.device, command.max_batch_size));
    }
    progress.clear();
    if (command.json) return print_json(report), Status();
    print_report(report, command);
    print_written(written);
    return {};
}

std::string device_target_help() {
    std::string text = "Device targets, best first; a device gets the first that it can run:";
    for (const programs::DeviceTargetClass& c : programs::device_target_classes())
        text += fmt::format(" {} ({});", c.name, c.summary);
    text.back() = '.';
    return text;
}

}  // namespace

void add_cook(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<CookCommand>();
    CLI::App* command = app.add_subcommand(
        "cook", "Compile a model for classes of devices and pack the programs into one file.");
    add_model_options(*command, options->model);
    add_assume_options(*command, options->assume);
    command
        ->add_option(
            "-o,--output", options->output,
            "The package (*.hearth), the GLSL file (*.glsl), or the folder for C and WGSL.")
        ->required();
    command
        ->add_option(
            "--target", options->target,
            "glsl: instead of a package, one entry as a GLSL function for one item of the batch, "
            "for "
            "the game's shaders to include; it reads the weights of a session.  c: all entries as "
            "C11 for "
            "a CPU, NAME.h and NAME.c (docs/how-to/cooked_c.md).  wgsl: NAME.wgsl.json, a plan for "
            "WebGPU "
            "with kernels in WGSL, beside the C for wasm128 that loads and saves its weights.")
        ->check(CLI::IsMember({"package", "glsl", "c", "wgsl"}))
        ->capture_default_str();
    command->add_option(
        "--function", options->function,
        "Name of the GLSL function; default: the entry's.  For C: prefix of all names; default: "
        "net.");
    std::vector<std::string> cpus;
    for (const auto& cpu : kCpus) cpus.emplace_back(cpu.first);
    command->add_option("--cpu", options->cpu, "For C: the CPU's vector instruction set.")
        ->check(CLI::IsMember(cpus))
        ->capture_default_str();
    command
        ->add_option("--weights", options->weights,
                     "For C: store the initial weights in the source, or in a file beside it, "
                     "NAME.weights.")
        ->check(CLI::IsMember({"source", "file"}))
        ->capture_default_str();
    command->add_option("--device-targets", options->device_targets, device_target_help())
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--name", options->name, "Name of an ONNX model's entry.")
        ->capture_default_str();
    command
        ->add_option("--max-batch-size", options->max_batch_size,
                     "Largest batch size of a recording; default: the package's, 1 for a model.")
        ->check(programs::whole_number(1, uint64_t{1} << 24));
    command
        ->add_option("--quantize", options->quantize,
                     "Store the weights of matrix products as f16, int8 or int4.")
        ->check(CLI::IsMember({"f16", "int8", "int4"}));
    command
        ->add_option("--precision", options->precision,
                     "Operand type of matrix products: f16 halves the bytes and has about three "
                     "digits; default: the package's, f32 for a model.")
        ->check(CLI::IsMember({"f32", "f16"}));
    command->add_option(
        "--header", options->header,
        "Also write a C header with the indices, names, shapes and sizes of entries, "
        "bindings, params and states.");
    command->add_option(
        "--kernels", options->kernels,
        "For device targets that are CPUs: also write their functions as PREFIX_DEVICE_TARGET.c, "
        "for the game to link (hearth_cpu_context_create_info::tables, "
        "docs/how-to/cpu_device.md).");
    command->add_option("--tuning", options->tuning,
                        "For the device target 'device': a file written by `hearth tune`.");
    auto* const keeps =
        command->add_flag("--keep-source", options->keep_source,
                          "Keep the kernels' GLSL, which `inspect --source` prints.");
    command
        ->add_flag("--strip", options->strip,
                   "Omit the C of kernels for CPUs, for which the game then needs --kernels.")
        ->excludes(keeps);
    command->add_flag("!--no-measure", options->measure,
                      "Do not measure on this machine's device, if there is one.");
    command->add_flag("--json", options->json, "Print the report as one JSON object.");
    command->footer(
        "MODEL may be a package: it is then cooked again from its graph, which also brings a "
        "package "
        "of an older version up to date.");
    command->callback([options, &exit_code] {
        Status status = options->target == "glsl"      ? cook_glsl(*options)
                        : options->target == "package" ? cook_model(*options)
                                                       : cook_to_c(*options);
        if (!status.ok()) {
            print_error("cook", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
