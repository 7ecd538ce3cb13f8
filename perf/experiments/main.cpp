// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the measurements behind the design notes 0001 (binding model) and 0002 (fused networks).

#include "experiments.hpp"

#include <hearth/file.hpp>

#include <CLI/CLI.hpp>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace hearth {
namespace {

int run(int argc, char** argv) {
    uint32_t device_index = 0;
    std::string rows, json_path;
    std::vector<uint32_t> batches = {256, 4096, 65536};
    double budget_s = 1.0;
    CLI::App app("Hearth's experiments: binding models and row programs, on one Vulkan device.");
    app.add_option("--device", device_index, "Index of the physical device.")
        ->check(programs::whole_number(0, 1000));
    app.add_option("--rows", rows,
                   "Only rows whose name/variant contains one of these comma-separated words.");
    app.add_option("--batches", batches, "Batch sizes, comma-separated; multiples of 256.")
        ->delimiter(',')
        ->check(programs::whole_number(256, 1 << 24));
    app.add_option("--budget", budget_s, "Seconds to measure each row for, about.")
        ->check(programs::finite_number(0, 86'400));
    app.add_option("--json", json_path, "Also write the results to this file.");
    CLI11_PARSE(app, argc, argv);

    if (!json_path.empty()) {
        const Status status = check_writable(json_path);
        if (!status.ok()) {
            std::fprintf(stderr, "hearth_experiments: %s\n", status.message().c_str());
            return 1;
        }
    }
    experiments::Gpu gpu(device_index);
    experiments::Report report(gpu, rows);
    experiments::run_binding_models(gpu, report, budget_s);
    experiments::run_training(gpu, report, batches, budget_s);
    experiments::run_matrix_cores(gpu, report, batches, budget_s);
    if (!json_path.empty() && !report.write_json(json_path)) return 1;
    return report.is_all_correct() ? 0 : 1;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
    return hearth::programs::run_program("hearth_experiments",
                                         [&] { return hearth::run(argc, argv); });
}
