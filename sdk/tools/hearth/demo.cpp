// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth demo: contents of a demonstration file, as a summary or as CSV.

#include "commands.hpp"
#include "tables.hpp"

#include <hearth/agents/demo.hpp>
#include <hearth/agents/schema.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <set>

namespace hearth::tool {

namespace {

using agents::AgentSpec;
using agents::DemoFile;

struct Options {
    std::string file, csv;
    bool json = false;
};

/// Values of a column over all steps.
struct Column {
    std::string name;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    double sum = 0;

    void add(double value) {
        low = std::min(low, value), high = std::max(high, value), sum += value;
    }
};

struct Summary {
    uint64_t steps = 0, episodes = 0;
    double sum_of_returns = 0;  ///< of episodes that have ended
    std::set<uint32_t> demonstrators;
    std::vector<Column> columns;

    double mean_return() const {
        return episodes > 0 ? sum_of_returns / static_cast<double>(episodes) : 0;
    }
    double mean(const Column& column) const {
        return steps > 0 ? column.sum / static_cast<double>(steps) : 0;
    }
};

/// Calls visit(values, count) for observation, mask and action, in the order of the columns.
template <class Visit>
void each_part(const hearth_demo_info& info, const hearth_demo_step& step, Visit visit) {
    visit(step.observation, info.observation_size);
    visit(step.action_mask, info.action_mask_size);
    visit(step.action, info.action_size);
}

std::vector<Column> columns_of(const DemoFile& demo, const AgentSpec& spec) {
    std::vector<Column> columns;
    for (uint32_t i = 0; i < demo.info().observation_size; ++i)
        columns.push_back({spec.observation_name(i)});
    for (uint32_t i = 0; i < demo.info().action_mask_size; ++i)
        columns.push_back({fmt::format("mask:{}", i)});
    for (uint32_t i = 0; i < demo.info().action_size; ++i) columns.push_back({spec.action_name(i)});
    return columns;
}

Summary summarize(const DemoFile& demo, const AgentSpec& spec) {
    Summary summary{.steps = demo.step_count(), .columns = columns_of(demo, spec)};
    double episode_return = 0;
    for (uint64_t i = 0; i < summary.steps; ++i) {
        const hearth_demo_step step = demo.step(i);
        size_t column = 0;
        each_part(demo.info(), step, [&](const float* values, uint32_t count) {
            for (uint32_t k = 0; k < count; ++k)
                summary.columns[column++].add(static_cast<double>(values[k]));
        });
        summary.demonstrators.insert(step.demonstrator);
        episode_return += static_cast<double>(step.reward);
        if (step.episode_end == 0) continue;
        ++summary.episodes;
        summary.sum_of_returns += episode_return;
        episode_return = 0;
    }
    return summary;
}

/// RFC 4180: quotes text with separators, and doubles its quotes.
std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string csv_of(const DemoFile& demo, const Summary& summary) {
    constexpr std::array<const char*, 3> kEnds = {"", "terminated", "truncated"};
    std::string csv = "step,episode,demonstrator,reward,episode_end";
    for (const Column& column : summary.columns) csv += "," + csv_text(column.name);
    csv += "\n";
    uint64_t episode = 0;
    for (uint64_t i = 0; i < summary.steps; ++i) {
        const hearth_demo_step step = demo.step(i);
        csv += fmt::format("{},{},{},{},{}", i, episode, step.demonstrator, step.reward,
                           kEnds.at(step.episode_end));
        each_part(demo.info(), step, [&](const float* values, uint32_t count) {
            for (uint32_t k = 0; k < count; ++k) csv += fmt::format(",{}", values[k]);
        });
        csv += "\n";
        episode += step.episode_end != 0;
    }
    return csv;
}

void print_summary(const Options& options, const DemoFile& demo, const Summary& summary) {
    if (options.json) {
        Json columns = Json::array();
        for (const Column& c : summary.columns)
            columns.push_back(
                {{"name", c.name}, {"min", c.low}, {"mean", summary.mean(c)}, {"max", c.high}});
        print_json({{"file", options.file},
                    {"steps", summary.steps},
                    {"episodes", summary.episodes},
                    {"mean_return", summary.mean_return()},
                    {"demonstrators", summary.demonstrators},
                    {"schema_hash", hash_text(demo.info().schema_hash)},
                    {"columns", std::move(columns)}});
        return;
    }
    print("{}: {} steps, {} episodes, mean return {:.4g}, {} demonstrators, schema {}\n",
          options.file, summary.steps, summary.episodes, summary.mean_return(),
          summary.demonstrators.size(), hash_text(demo.info().schema_hash));
    if (summary.steps == 0) return;
    print("{:32} {:>11} {:>11} {:>11}\n", "", "min", "mean", "max");
    for (const Column& c : summary.columns)
        print("{:32} {:11.4g} {:11.4g} {:11.4g}\n", shortened(c.name, 32), c.low, summary.mean(c),
              c.high);
}

Status run_demo(const Options& options) {
    HEARTH_ASSIGN(const DemoFile demo, DemoFile::open(options.file));
    HEARTH_ASSIGN(const AgentSpec spec, AgentSpec::load(demo.schema()));
    const Summary summary = summarize(demo, spec);
    if (!options.csv.empty()) HEARTH_TRY(write_file_atomically(options.csv, csv_of(demo, summary)));
    print_summary(options, demo, summary);
    return {};
}

}  // namespace

void add_demo(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "demo", "Show what is in a demonstration file: steps, episodes, and ranges by field.");
    command->add_option("file", options->file, "A demonstration file (*.demo).")->required();
    command->add_option("--csv", options->csv, "Also write all steps as comma-separated values.");
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        const Status status = run_demo(*options);
        if (!status.ok()) print_error("demo", status, options->json);
        exit_code = static_cast<int>(status.ok() ? kExitOk : kExitFailed);
    });
}

}  // namespace hearth::tool
