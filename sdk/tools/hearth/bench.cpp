// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth bench: GPU time of a model and of each of its commands, compared with the device's
// roofline.

#include "commands.hpp"
#include "compiler/driver/compile.hpp"
#include "measure.hpp"
#include "model.hpp"
#include "native/open_device.hpp"
#include "tables.hpp"
#include "tuning_file.hpp"

#include <fmt/format.h>
#include <programs/arguments.hpp>

#include <algorithm>
#include <numeric>

namespace hearth::tool {

namespace {

struct BenchOptions {
    ModelOptions model;
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    int64_t batch_size = 1;
    uint32_t samples = 50;
    std::string device;
    uint32_t threads = 1;
    std::string device_target;
    std::string tuning;
    bool by_time = false;
    bool no_roof = false;
    bool json = false;
};

/// Fraction of the roofline that a command reaches: 1 is optimal.
double share_of_roof(const Roof& roof, const CommandTime& command) {
    return command.us > 0 ? roof.min_us(command.flops, command.bytes) / command.us : 0;
}

Json report(const BenchOptions& options, standalone::Device& device, const std::string& entry,
            const Measured& measured, const Roof& roof) {
    Json commands = Json::array();
    for (const CommandTime& command : measured.commands) {
        Json line = {{"command", command.label},
                     {"kind", command.kind},
                     {"us", command.us},
                     {"flops", command.flops},
                     {"bytes", command.bytes},
                     {"gflops_per_s", command.flops / command.us * 1e-3},
                     {"gb_per_s", command.bytes / command.us * 1e-3}};
        if (roof.flops_per_s > 0) line["of_roof"] = share_of_roof(roof, command);
        commands.push_back(std::move(line));
    }
    Json json = {{"device", device.properties().deviceName},
                 {"device_target", measured.device_target},
                 {"entry", entry},
                 {"batch_size", options.batch_size},
                 {"samples", measured.samples},
                 {"total_us", measured.total_us},
                 {"min_us", measured.min_us},
                 {"max_us", measured.max_us}};
    if (roof.flops_per_s > 0)
        json["roof"] = {{"gflops_per_s", roof.flops_per_s * 1e-9},
                        {"gb_per_s", roof.bytes_per_s * 1e-9}};
    json["commands"] = std::move(commands);
    return json;
}

void print_table(const BenchOptions& options, standalone::Device& device, const std::string& entry,
                 const Measured& measured, const Roof& roof) {
    print("{}, device target {}, entry {}, batch size {}: {} (of {} runs: {} to {})\n",
          device.properties().deviceName, measured.device_target, entry, options.batch_size,
          time_text(measured.total_us), measured.samples, time_text(measured.min_us),
          time_text(measured.max_us));
    if (roof.flops_per_s > 0)
        print("roof: {:.4g} GFLOP/s in registers, {:.4g} GB/s through memory\n",
              roof.flops_per_s * 1e-9, roof.bytes_per_s * 1e-9);
    std::vector<CommandTime> commands = measured.commands;
    if (options.by_time)
        std::stable_sort(commands.begin(), commands.end(),
                         [](const CommandTime& a, const CommandTime& b) { return a.us > b.us; });
    const double sum =
        std::accumulate(commands.begin(), commands.end(), 0.0,
                        [](double s, const CommandTime& command) { return s + command.us; });
    print("{:>10} {:>6} {:>10} {:>10} {:>9} {:>8} {:>7}  {}\n", "us", "share", "flops", "bytes",
          "GFLOP/s", "GB/s", "of roof", "command");
    for (const CommandTime& command : commands)
        print(
            "{:>10.2f} {:>5.1f}% {:>10.3g} {:>10.3g} {:>9.4g} {:>8.4g} {:>7}  {}\n", command.us,
            sum > 0 ? 100 * command.us / sum : 0, command.flops, command.bytes,
            command.us > 0 ? command.flops / command.us * 1e-3 : 0,
            command.us > 0 ? command.bytes / command.us * 1e-3 : 0,
            roof.flops_per_s > 0 ? fmt::format("{:.0f}%", 100 * share_of_roof(roof, command)) : "",
            shortened(command.kind == "kernel" ? command.label : command.kind + " " + command.label,
                      60));
    print(
        "{:>10.2f}         sum of the commands, each between timestamps: an upper bound, because "
        "they "
        "cannot overlap\n",
        sum);
}

Status bench(const BenchOptions& options) {
    ModelOptions model_options = options.model;
    model_options.fixed_batch_size = options.batch_size;
    HEARTH_ASSIGN(const Model model, load_model(model_options));
    HEARTH_ASSIGN(const size_t index, find_entry(model.graphs, options.model.entry));
    const std::string& entry = model.graphs[index].name;
    HEARTH_ASSIGN(const native::OpenDevice opened,
                  native::open_device(options.device, {.threads = options.threads}));
    const std::unique_ptr<standalone::Device>& device = opened.device;
    std::vector<std::byte> bytes = model.package;
    const bool is_cpu = opened.host != nullptr;
    if (!model.is_package() || (is_cpu && !model.trusts_kernels)) {
        if (!options.device_target.empty())
            return invalid_argument(
                "--device-target chooses among a package's programs, whose C text a CPU compiles "
                "and runs only with --trust");
        CompileOptions compile_options = options.assume;
        if (model.is_package()) {
            HEARTH_ASSIGN(const PackageView view, open_package(model.package));
            compile_options.precision = precision_of(view);
        }
        HEARTH_ASSIGN(compile_options.caps, device->caps());
        compile_options.max_batch_size = static_cast<uint64_t>(options.batch_size);
        HEARTH_TRY(add_tuning(compile_options, options.tuning, *device));
        HEARTH_ASSIGN(const CompiledProgram compiled,
                      compile_graphs(model.graphs, compile_options));
        bytes = save_program(compiled.program);
    }
    MeasureOptions measure_options{.entry = entry, .batch_size = options.batch_size};
    measure_options.samples = options.samples;
    if (!options.device_target.empty())
        measure_options.device_target = options.device_target.c_str();
    HEARTH_ASSIGN(const Measured measured, measure(*device, bytes, measure_options));
    Roof roof;
    if (!options.no_roof && !is_cpu) {
        HEARTH_ASSIGN(roof, measure_roof(*device));
    }
    if (options.json)
        print_json(report(options, *device, entry, measured, roof));
    else
        print_table(options, *device, entry, measured, roof);
    return {};
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command = app.add_subcommand(
        "bench", "Time a model and each of its commands on a GPU, and compare with its roofline.");
    add_model_options(*command, options->model);
    add_assume_options(*command, options->assume);
    add_trust_option(*command, options->model);
    command->add_option("--batch-size", options->batch_size, "Batch size of the timed runs.")
        ->check(programs::whole_number(1, uint64_t{1} << 24))
        ->capture_default_str();
    command->add_option("--samples", options->samples, "Recordings to time.")
        ->check(programs::whole_number(4, 100'000))
        ->capture_default_str();
    command->add_option(
        "--device,--device-index", options->device,
        "cpu: this machine's CPU; or the index of a GPU in `hearth info`; default: the first "
        "discrete one.");
    command->add_option("--threads", options->threads, "Threads of the CPU device.")
        ->check(programs::whole_number(1, 256))
        ->capture_default_str();
    command->add_option("--device-target", options->device_target,
                        "Device target of a package; default: the first that the device can run.");
    command->add_option("--tuning", options->tuning, "A file written by `hearth tune`.");
    command->add_flag("--by-time", options->by_time, "List the slowest commands first.");
    command->add_flag("--no-roof", options->no_roof, "Do not measure the device's roofline.");
    command->add_flag("--json", options->json, "Print one JSON object instead of a table.");
    command->callback([options, &exit_code] {
        if (Status status = bench(*options); !status.ok()) {
            print_error("bench", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
