// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth tune: measures the variants of a model's kernels on a device and saves the fastest.

#include "commands.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "measure.hpp"
#include "model.hpp"
#include "native/open_device.hpp"
#include "progress.hpp"
#include "tables.hpp"
#include "tuning_file.hpp"

#include <hearth/file.hpp>
#include <hearth/tuning.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <standalone/program_runner.hpp>

namespace hearth::tool {

namespace {

struct TuneOptions {
    ModelOptions model;
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    std::string output;
    std::string precision = "f32";
    uint64_t max_batch_size = 1;
    uint32_t samples = 20;
    std::string device;
    uint32_t threads = 1;
    bool json = false;
};

Result<TuningResult> run_trial(standalone::Device& device, const TuningTrial& trial,
                               uint32_t samples) {
    TuningResult result;
    HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> runner,
                  standalone::ProgramRunner::create(device, trial.program.bytes));
    HEARTH_ASSIGN(
        result.outputs,
        runner->run(trial.entry.c_str(), static_cast<int64_t>(trial.batch_size), trial.inputs));
    MeasureOptions options{.entry = trial.entry,
                           .batch_size = static_cast<int64_t>(trial.batch_size),
                           .samples = samples};
    options.wants_commands = false;
    HEARTH_ASSIGN(const Measured measured, measure(device, trial.program.bytes, options));
    result.us = measured.min_us;
    return result;
}

Json report(const TuneOptions& options, const Tuner& tuner, const Tuning& tuning) {
    Json json = {{"device", tuning.device},       {"driver", tuning.driver},
                 {"trials", tuner.trials_done()}, {"file", options.output},
                 {"changed", Json::object()},     {"remarks", tuner.remarks()}};
    for (const auto& [kernel, variant] : tuning.variants)
        json["changed"][kernel] = {{"variant", variant}, {"times", tuning.remarks.at(kernel)}};
    return json;
}

void print_report(const Json& json) {
    print("{}: {} trials\n", json["device"].get<std::string>(), json["trials"].get<size_t>());
    for (const auto& [kernel, change] : json["changed"].items())
        print("  {}\n    {}: {}\n", kernel, change["variant"].get<std::string>(),
              change["times"].get<std::string>());
    if (json["trials"] == 0)
        print("  nothing was measured: no kernel of the model has variants for this device\n");
    else if (json["changed"].empty())
        print("  the default variants are fastest\n");
    for (const Json& remark : json["remarks"]) print("  remark: {}\n", remark.get<std::string>());
}

Status tune_model(const TuneOptions& options) {
    HEARTH_TRY(check_writable(options.output).with_context("the tuning"));
    HEARTH_ASSIGN(const Model model, load_model(options.model));
    HEARTH_ASSIGN(const native::OpenDevice opened,
                  native::open_device(options.device, {.threads = options.threads}));
    const std::unique_ptr<standalone::Device>& device = opened.device;
    CompileOptions compile_options = options.assume;
    HEARTH_ASSIGN(compile_options.caps, device->caps());
    compile_options.driver_id = driver_text(*device);
    compile_options.max_batch_size = options.max_batch_size;
    if (options.precision == "f16") compile_options.precision = Precision::kF16;
    HEARTH_ASSIGN(CompiledProgram compiled, compile_graphs(model.graphs, compile_options));
    Tuner tuner(std::move(compiled.tunable), compile_options, model.graphs);
    Progress progress("tune");
    HEARTH_TRY(tune(
        tuner, [&](const TuningTrial& trial) { return run_trial(*device, trial, options.samples); },
        [&](size_t done, size_t count) {
            progress.at(done, count, "");
            return true;
        }));
    progress.clear();
    const std::string text = tuner.save();
    HEARTH_TRY(write_file_atomically(options.output, text).with_context("the tuning"));
    HEARTH_ASSIGN(const Tuning tuning, parse_tuning(text));
    const Json json = report(options, tuner, tuning);
    if (options.json)
        print_json(json);
    else
        print_report(json);
    return {};
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<TuneOptions>();
    CLI::App* command = app.add_subcommand(
        "tune", "Measure the variants of a model's kernels on a device and save the fastest.");
    add_model_options(*command, options->model);
    add_assume_options(*command, options->assume);
    command
        ->add_option("-o,--output", options->output,
                     "The tuning file, for cook --tuning, bench --tuning and games.")
        ->required();
    command
        ->add_option("--max-batch-size", options->max_batch_size,
                     "Largest batch size of a recording.")
        ->check(programs::whole_number(1, uint64_t{1} << 24))
        ->capture_default_str();
    command->add_option("--precision", options->precision, "Operand type of matrix products.")
        ->check(CLI::IsMember({"f32", "f16"}))
        ->capture_default_str();
    command->add_option("--samples", options->samples, "Timed recordings of each variant.")
        ->check(programs::whole_number(4, 1000))
        ->capture_default_str();
    command->add_option(
        "--device,--device-index", options->device,
        "cpu: this machine's CPU; or the index of a GPU in `hearth info`; default: the first "
        "discrete one.");
    command->add_option("--threads", options->threads, "Threads of the CPU device.")
        ->check(programs::whole_number(1, 256))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print one JSON object.");
    command->footer(
        "A variant wins only if its results agree with the default's.  The file is for this "
        "device, "
        "driver and version of Hearth; others ignore it.");
    command->callback([options, &exit_code] {
        if (Status status = tune_model(*options); !status.ok()) {
            print_error("tune", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
