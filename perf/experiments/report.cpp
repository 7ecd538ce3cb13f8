// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints and writes the results of the experiments.

#include "report.hpp"

#include <hearth/file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace hearth::experiments {
namespace {

nlohmann::json to_json(const Spread& spread) {
    return {{"p10", spread.p10}, {"median", spread.median}, {"p90", spread.p90}};
}

}  // namespace

Report::Report(const Gpu& gpu, const std::string& filter) : gpu_(gpu) {
    std::stringstream stream(filter);
    for (std::string word; std::getline(stream, word, ',');) words_.push_back(word);
    std::printf("device: %s, %s\n", gpu.properties().deviceName, gpu.driver().c_str());
    std::printf("%-22s %-24s %5s %5s %11s %11s %11s %11s %10s %8s %9s %8s  %s\n", "row", "variant",
                "disp", "barr", "gpu p10 us", "median us", "p90 us", "process us", "record us",
                "first ms", "GFLOP/s", "GB/s", "check");
}

bool Report::wants(const std::string& name, const std::string& variant) const {
    const std::string full = name + "/" + variant;
    return words_.empty() || std::any_of(words_.begin(), words_.end(), [&](const auto& word) {
               return full.find(word) != std::string::npos;
           });
}

void Report::add(ResultRow row) {
    const Timing& t = row.timing;
    std::printf("%-22s %-24s %5d %5d %11.2f %11.2f %11.2f %11.2f %10.3f %8.0f %9.1f %8.1f  %s %s\n",
                row.name.c_str(), row.variant.c_str(), row.dispatches, row.barriers, t.gpu_us.p10,
                t.gpu_us.median, t.gpu_us.p90, t.process_us.median, t.record_us.median,
                row.first_ms, row.gflop_per_s, row.gb_per_s, row.is_correct ? "ok" : "WRONG",
                row.check.c_str());
    std::fflush(stdout);
    rows_.push_back(std::move(row));
}

bool Report::is_all_correct() const {
    return std::all_of(rows_.begin(), rows_.end(), [](const auto& row) { return row.is_correct; });
}

bool Report::write_json(const std::string& path) const {
    nlohmann::json rows = nlohmann::json::array();
    for (const ResultRow& row : rows_) {
        rows.push_back({{"name", row.name},
                        {"variant", row.variant},
                        {"dispatches", row.dispatches},
                        {"barriers", row.barriers},
                        {"gpu_us", to_json(row.timing.gpu_us)},
                        {"record_us", to_json(row.timing.record_us)},
                        {"process_us", to_json(row.timing.process_us)},
                        {"first_ms", row.first_ms},
                        {"samples", row.timing.samples},
                        {"repetitions", row.timing.repetitions},
                        {"gflop_per_s", row.gflop_per_s},
                        {"gb_per_s", row.gb_per_s},
                        {"is_correct", row.is_correct},
                        {"check", row.check}});
    }
    const VkPhysicalDeviceProperties& p = gpu_.properties();
    const nlohmann::json document = {
        {"program", "hearth_experiments"},
        {"device", p.deviceName},
        {"driver", gpu_.driver()},
        {"api_version", std::to_string(VK_API_VERSION_MAJOR(p.apiVersion)) + "." +
                            std::to_string(VK_API_VERSION_MINOR(p.apiVersion)) + "." +
                            std::to_string(VK_API_VERSION_PATCH(p.apiVersion))},
        {"units", gpu_.units()},
        {"max_push_constants_bytes", p.limits.maxPushConstantsSize},
        {"max_shared_memory_bytes", p.limits.maxComputeSharedMemorySize},
        {"rows", rows}};
    const Status status = write_file_atomically(path, document.dump(1) + "\n");
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
    return status.ok();
}

}  // namespace hearth::experiments
