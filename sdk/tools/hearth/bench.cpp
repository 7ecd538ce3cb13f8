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
    int64_t rows = 1;
    uint32_t samples = 50;
    std::string device;
    uint32_t threads = 1;
    std::string profile;
    std::string tuning;
    bool by_time = false;
    bool no_roof = false;
    bool json = false;
};

/// Fraction of the roofline that a command reaches: 1 is optimal.
double share_of_roof(const Roof& roof, const StepTime& step) {
    return step.us > 0 ? roof.least_us(step.flops, step.bytes) / step.us : 0;
}

Json report(const BenchOptions& options, standalone::Device& device, const std::string& entry,
            const Measured& measured, const Roof& roof) {
    Json steps = Json::array();
    for (const StepTime& step : measured.steps) {
        Json line = {{"step", step.label},
                     {"kind", step.kind},
                     {"us", step.us},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"gflops_per_s", step.flops / step.us * 1e-3},
                     {"gb_per_s", step.bytes / step.us * 1e-3}};
        if (roof.flops_per_s > 0) line["of_roof"] = share_of_roof(roof, step);
        steps.push_back(std::move(line));
    }
    Json json = {{"device", device.properties().deviceName},
                 {"profile", measured.profile},
                 {"entry", entry},
                 {"rows", options.rows},
                 {"samples", measured.samples},
                 {"total_us", measured.total_us},
                 {"least_us", measured.least_us},
                 {"most_us", measured.most_us}};
    if (roof.flops_per_s > 0)
        json["roof"] = {{"gflops_per_s", roof.flops_per_s * 1e-9},
                        {"gb_per_s", roof.bytes_per_s * 1e-9}};
    json["steps"] = std::move(steps);
    return json;
}

void print_table(const BenchOptions& options, standalone::Device& device, const std::string& entry,
                 const Measured& measured, const Roof& roof) {
    fmt::print("{}, profile {}, entry {}, {} rows: {} (of {} runs: {} to {})\n",
               device.properties().deviceName, measured.profile, entry, options.rows,
               time_text(measured.total_us), measured.samples, time_text(measured.least_us),
               time_text(measured.most_us));
    if (roof.flops_per_s > 0)
        fmt::print("roof: {:.4g} GFLOP/s in registers, {:.4g} GB/s through memory\n",
                   roof.flops_per_s * 1e-9, roof.bytes_per_s * 1e-9);
    std::vector<StepTime> steps = measured.steps;
    if (options.by_time)
        std::stable_sort(steps.begin(), steps.end(),
                         [](const StepTime& a, const StepTime& b) { return a.us > b.us; });
    const double sum = std::accumulate(steps.begin(), steps.end(), 0.0,
                                       [](double s, const StepTime& step) { return s + step.us; });
    fmt::print("{:>10} {:>6} {:>10} {:>10} {:>9} {:>8} {:>7}  {}\n", "us", "share", "flops",
               "bytes", "GFLOP/s", "GB/s", "of roof", "step");
    for (const StepTime& step : steps)
        fmt::print(
            "{:>10.2f} {:>5.1f}% {:>10.3g} {:>10.3g} {:>9.4g} {:>8.4g} {:>7}  {}\n", step.us,
            sum > 0 ? 100 * step.us / sum : 0, step.flops, step.bytes,
            step.us > 0 ? step.flops / step.us * 1e-3 : 0,
            step.us > 0 ? step.bytes / step.us * 1e-3 : 0,
            roof.flops_per_s > 0 ? fmt::format("{:.0f}%", 100 * share_of_roof(roof, step)) : "",
            shortened(step.kind == "kernel" ? step.label : step.kind + " " + step.label, 60));
    fmt::print(
        "{:>10.2f}         sum of the steps, each between timestamps: no less than when "
        "they overlap\n",
        sum);
}

Status bench(const BenchOptions& options) {
    ModelOptions model_options = options.model;
    model_options.fixed_rows = options.rows;
    HEARTH_ASSIGN(const Model model, load_model(model_options));
    HEARTH_TRY(model.fits_device);
    HEARTH_ASSIGN(const size_t index, find_entry(model.graphs, options.model.entry));
    const std::string& entry = model.graphs[index].name;
    HEARTH_ASSIGN(const native::OpenDevice opened,
                  native::open_device(options.device, {.threads = options.threads}));
    const std::unique_ptr<standalone::Device>& device = opened.device;
    std::vector<std::byte> bytes = model.package;
    if (!model.is_package()) {
        CompileOptions compile_options;
        HEARTH_ASSIGN(compile_options.caps, device->caps());
        compile_options.max_batch_size = static_cast<uint64_t>(options.rows);
        compile_options.keep_source = opened.host != nullptr;  // compiled on a CPU device
        HEARTH_TRY(add_tuning(compile_options, options.tuning, *device));
        HEARTH_ASSIGN(const CompiledProgram compiled,
                      compile_graphs(model.graphs, compile_options));
        bytes = save_program(compiled.program);
    }
    MeasureOptions measure_options{.entry = entry, .rows = options.rows};
    measure_options.samples = options.samples;
    if (!options.profile.empty()) measure_options.profile = options.profile.c_str();
    HEARTH_ASSIGN(const Measured measured, measure(*device, bytes, measure_options));
    Roof roof;
    if (!options.no_roof && opened.host == nullptr) {
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
        "bench", "Time a model and each of its steps on a GPU, and compare with its roofline.");
    add_model_options(*command, options->model);
    command->add_option("--rows", options->rows, "Live rows.")
        ->check(programs::whole_number(1, uint64_t{1} << 24))
        ->capture_default_str();
    command->add_option("--samples", options->samples, "Recordings to time.")
        ->check(programs::whole_number(4, 100'000))
        ->capture_default_str();
    command->add_option(
        "--device,--device-index", options->device,
        "native: this machine's CPU; or which GPU of `hearth info`; default: the first "
        "discrete one.");
    command->add_option("--threads", options->threads, "Of a native device.")
        ->check(programs::whole_number(1, 256))
        ->capture_default_str();
    command->add_option("--profile", options->profile,
                        "Of a package; default: the first that the device can run.");
    command->add_option("--tuning", options->tuning, "What `hearth tune` measured.");
    command->add_flag("--by-time", options->by_time, "Longest steps first.");
    command->add_flag("--no-roof", options->no_roof, "Do not measure the device's roof.");
    command->add_flag("--json", options->json, "Print one JSON object instead of a table.");
    command->callback([options, &exit_code] {
        if (Status status = bench(*options); !status.ok()) {
            print_error("bench", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
