// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth_perf: measures the scenes on one device.  Exits non-zero if a row fails.

#include "report.hpp"

#include <hearth/file.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <cstdio>

namespace hearth::perf {
namespace {

struct Arguments {
    std::vector<std::string> words;
    std::string json_path;
    int device_index = -1;
    double budget_s = 0;
    bool wants_commands = false, wants_statistics = false, wants_tuning = false;
    bool wants_list = false, unfused = false;
};

std::vector<Scene> chosen_scenes(const std::vector<std::string>& words) {
    std::vector<Scene> chosen;
    for (const std::span<const Scene> group :
         {mlp_scenes(), policy_scenes(), agent_scenes(), gemm_scenes(), convolution_scenes(),
          image_network_scenes(), transformer_scenes(), digits_scenes(), texture_scenes(),
          elementwise_scenes(), record_scenes(), load_scenes()})
        for (const Scene& scene : group)
            if (words.empty() || std::ranges::any_of(words, [&](const std::string& word) {
                    return std::string_view(scene.name).find(word) != std::string_view::npos;
                }))
                chosen.push_back(scene);
    return chosen;
}

Result<bool> run(const std::vector<Scene>& scenes, const Arguments& arguments) {
    // Measuring takes long, so output paths are checked first.
    if (!arguments.json_path.empty()) HEARTH_TRY(check_writable(arguments.json_path));
    HEARTH_ASSIGN(const std::unique_ptr<standalone::Instance> instance,
                  standalone::Instance::create());
    HEARTH_ASSIGN(
        const std::unique_ptr<standalone::Device> device,
        standalone::Device::create(*instance, {.index = arguments.device_index,
                                               .pipeline_statistics = arguments.wants_statistics}));
    if (device->timestamp_valid_bits() == 0)
        return unsupported(std::string(device->properties().deviceName) +
                           " has no timestamps on its compute queue");
    const bool is_software = device->properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const double usual_budget_s = is_software ? 5 : 2;
    const Settings settings{
        .budget_s = arguments.budget_s > 0 ? arguments.budget_s : usual_budget_s,
        .wants_commands = arguments.wants_commands,
        .wants_statistics = arguments.wants_statistics,
        .wants_tuning = arguments.wants_tuning,
        .fuse = !arguments.unfused};
    HEARTH_ASSIGN(const Roof roof, measure_roof(*device));
    HEARTH_ASSIGN(const std::unique_ptr<Bench> bench, Bench::create(*device, roof, settings));
    Report report(*device, roof, settings, bench->clock());
    for (const Scene& scene : scenes) {
        Row row{.name = scene.name};
        if (const Status status = scene.run(*bench, row); !status.ok()) {
            row.state = Row::State::kFailed;
            row.note = status.message();
        }
        report.add(std::move(row));
    }
    report.finish();
    if (!arguments.json_path.empty()) HEARTH_TRY(report.write_json(arguments.json_path));
    return report.is_ok();
}

int run_program(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Hearth's benchmarks, on one Vulkan device. perf/README.md tells the columns.");
    app.add_option("--rows", arguments.words,
                   "Only rows whose name contains one of these comma-separated words.")
        ->delimiter(',');
    app.add_option("--device", arguments.device_index,
                   "Index of the physical device; without it the best one.")
        ->check(programs::device_index());
    app.add_option("--budget", arguments.budget_s,
                   "Seconds to time each row for, about (2, or 5 with a software driver).")
        ->check(programs::finite_number(0, 86'400));
    app.add_option("--json", arguments.json_path, "Also write the results to this file.");
    app.add_flag(
        "--variants", arguments.wants_tuning,
        "Also time all variants of the kernel, in rows that are one product or convolution.");
    app.add_flag("--commands", arguments.wants_commands, "Also time each command of each program.");
    app.add_flag(
        "--statistics", arguments.wants_statistics,
        "Also print the driver's statistics of each pipeline: registers, stack, code size.");
    app.add_flag("--unfused", arguments.unfused,
                 "Compile one kernel for each operator, to see what fusion does.");
    app.add_flag("--list", arguments.wants_list, "List the rows and stop.");
    CLI11_PARSE(app, argc, argv);

    const std::vector<Scene> scenes = chosen_scenes(arguments.words);
    if (arguments.wants_list) {
        for (const Scene& s : scenes) fmt::print("{:<21} {}\n", s.name, s.summary);
        return 0;
    }
    if (scenes.empty()) {
        fmt::print(stderr, "hearth_perf: no such row; --list names all\n");
        return 2;
    }
    const Result<bool> is_ok = run(scenes, arguments);
    if (!is_ok.ok()) fmt::print(stderr, "hearth_perf: {}\n", is_ok.status().message());
    return is_ok.ok() && *is_ok ? 0 : 1;
}

}  // namespace
}  // namespace hearth::perf

int main(int argc, char** argv) {
    return hearth::programs::run_program("hearth_perf",
                                         [&] { return hearth::perf::run_program(argc, argv); });
}
