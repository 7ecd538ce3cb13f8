// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints benchmark rows as a table and writes them as JSON.

#include "report.hpp"

#include <hearth/file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace hearth::perf {

namespace {

const char* name_of(Row::State state) {
    switch (state) {
        case Row::State::kOk:
            return "ok";
        case Row::State::kOverBudget:
            return "over budget";
        case Row::State::kFailed:
            break;
    }
    return "FAILED";
}

/// The figure that represents the row.
double figure_us(const Row& row) {
    return row.state == Row::State::kOverBudget ? row.single_us.median : row.repeated_us.median;
}

/// Formats at most nine characters; a dash for zero.
std::string number(double value) {
    if (value == 0) return "-";
    if (value < 1000) return fmt::format("{:.4g}", value);
    return value < 1e8 ? fmt::format("{:.0f}", value) : fmt::format("{:.2e}", value);
}

nlohmann::ordered_json to_json(const Statistics& s) {
    return {{"median", s.median}, {"min", s.min},   {"p10", s.p10},           {"p90", s.p90},
            {"max", s.max},       {"mean", s.mean}, {"variance", s.variance}, {"count", s.count}};
}

nlohmann::ordered_json to_json(const Row& row) {
    nlohmann::ordered_json json = {
        {"name", row.name}, {"state", name_of(row.state)}, {"note", row.note}};
    if (row.state == Row::State::kFailed) return json;
    json["repeated_us"] = to_json(row.repeated_us);
    json["repetitions"] = row.repetitions;
    json["single_us"] = to_json(row.single_us);
    json["wall_us"] = to_json(row.wall_us);
    json["record_us"] = to_json(row.record_us);
    json["process_us"] = to_json(row.process_us);
    json["dispatches"] = row.dispatches;
    json["copies"] = row.copies;
    json["barriers"] = row.barriers;
    json["arena_bytes"] = row.arena_bytes;
    json["flops"] = row.flops;
    json["bytes"] = row.bytes;
    json["roof_us"] = row.roof_us;
    json["bound"] = row.is_memory_bound ? "memory" : "arithmetic";
    json["part_of_roof"] = row.roof_us / figure_us(row);
    for (const auto& [name, value] : row.details) json["details"][name] = value;
    for (const StepTime& step : row.steps)
        json["steps"].push_back({{"label", step.label}, {"us", step.us}});
    for (const PipelineStatistics& pipeline : row.pipelines)
        json["pipelines"].push_back({{"kernel", pipeline.kernel}, {"figures", text_of(pipeline)}});
    return json;
}

}  // namespace

Report::Report(const standalone::Device& device, const Roof& roof, const Settings& settings,
               const ClockGuard& clock)
    : device_(device.properties().deviceName), roof_(roof), settings_(settings), clock_(clock) {
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties.pNext = &driver;
    device.vk().GetPhysicalDeviceProperties2(device.physical_device(), &properties);
    driver_ = fmt::format("{} {}", driver.driverName, driver.driverInfo);
    const uint32_t version = device.properties().apiVersion;
    api_version_ = fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version),
                               VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
    fmt::print("{}, {}, Vulkan {}\nroof: {:.4g} GB/s, {:.4g} GFLOP/s (f32)", device_, driver_,
               api_version_, roof_.bytes_per_s * 1e-9, roof_.flops_per_s * 1e-9);
    if (roof_.matrix_flops_per_s > 0)
        fmt::print(", {:.4g} GFLOP/s (f16 on matrix cores)", roof_.matrix_flops_per_s * 1e-9);
    fmt::print("\n\n");
    fmt::print(
        "{:<21}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>5}{:>10}{:>10}{:>10}{:>11}{:>5}{:>5}{:>6}{:>"
        "10}"
        "{:>9}{:>10}{:>8}\n",
        "row", "us median", "min", "p10", "p90", "mean", "variance", "reps", "single us", "wall us",
        "record us", "process us", "disp", "copy", "barr", "MFLOP", "MB", "roof us", "of roof");
}

void Report::add(Row row) {
    if (row.state == Row::State::kFailed) {
        // The error of a kernel that does not compile includes its source; the JSON file has all of
        // it.
        fmt::print("{:<21}FAILED: {}\n", row.name, row.note.substr(0, row.note.find('\n')));
    } else {
        const Statistics& t = row.repeated_us;
        const std::string mark = mark_of(row).empty() ? "" : "  MARKED: " + mark_of(row);
        const std::string part = row.roof_us == 0
                                     ? "-"
                                     : fmt::format("{:.1f}%{}", 100 * row.roof_us / figure_us(row),
                                                   row.is_memory_bound ? "m" : "a");
        fmt::print(
            "{:<21}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>5}{:>10}{:>10}{:>10}{:>11}{:>5}{:>5}{:>6}"
            "{:>10}{:>9}{:>10}{:>8}{}\n",
            row.name, number(t.median), number(t.min), number(t.p10), number(t.p90), number(t.mean),
            number(t.variance), row.repetitions, number(row.single_us.median),
            number(row.wall_us.median), number(row.record_us.median), number(row.process_us.median),
            row.dispatches, row.copies, row.barriers, number(row.flops * 1e-6),
            number(row.bytes * 1e-6), number(row.roof_us), part,
            row.state == Row::State::kOverBudget ? "  over budget: one run" : mark);
        fmt::print("    {}\n", row.note);
        for (const auto& [name, value] : row.details)
            fmt::print("    {:>10} {}\n", number(value), name);
        for (const StepTime& step : row.steps)
            fmt::print("    {:>10} us  {}\n", number(step.us), step.label);
        for (const PipelineStatistics& pipeline : row.pipelines)
            fmt::print("    {}: {}\n", pipeline.kernel, text_of(pipeline));
    }
    std::fflush(stdout);
    rows_.push_back(std::move(row));
}

std::string Report::mark_of(const Row& row) const {
    // A faster run of the reference kernel may have come later.
    const bool is_low = !row.is_full_clock || !clock_.was_full_clock(row.reference_us);
    if (is_low && row.is_bimodal) return "low clock, bimodal";
    return is_low ? "low clock" : row.is_bimodal ? "bimodal" : "";
}

void Report::finish() const {
    for (const Row& row : rows_)
        if (const std::string mark = mark_of(row); !mark.empty())
            fmt::print("marked: {} ({}; reference {:.1f} us, at full clock {:.1f})\n", row.name,
                       mark, row.reference_us, clock_.fastest_us());
}

bool Report::is_ok() const {
    return std::all_of(rows_.begin(), rows_.end(),
                       [](const Row& row) { return row.state != Row::State::kFailed; });
}

Status Report::write_json(const std::string& path) const {
    nlohmann::ordered_json document = {{"program", "hearth_perf"},
                                       {"device", device_},
                                       {"driver", driver_},
                                       {"api_version", api_version_},
                                       {"budget_s", settings_.budget_s},
                                       {"fused", settings_.fuse},
                                       {"roof",
                                        {{"bytes_per_s", roof_.bytes_per_s},
                                         {"flops_per_s", roof_.flops_per_s},
                                         {"matrix_flops_per_s", roof_.matrix_flops_per_s}}}};
    document["rows"] = nlohmann::ordered_json::array();
    for (const Row& row : rows_) {
        document["rows"].push_back(to_json(row));
        if (row.state != Row::State::kOk || !clock_.is_on()) continue;
        document["rows"].back()["clock"] = {{"reference_us", row.reference_us},
                                            {"at_full_clock_us", clock_.fastest_us()},
                                            {"refused", row.refused},
                                            {"mark", mark_of(row)}};
    }
    return write_file_atomically(path, document.dump(1) + "\n");
}

}  // namespace hearth::perf
