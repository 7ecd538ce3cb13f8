// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth doctor: names in words what keeps the agents of a run log from learning.

#include "commands.hpp"
#include "run_log.hpp"
#include "tables.hpp"

#include <hearth/agents/diagnose.hpp>

#include <memory>

namespace hearth::tool {

namespace {

struct Options {
    std::string file;
    bool json = false;
};

agents::RunMetrics metrics_of(const RunLog& log) {
    agents::RunMetrics metrics{.is_in_seconds = log.unit() == "seconds"};
    for (const Metric& metric : log.metrics())
        for (const Point& point : metric.points)
            metrics.series[metric.name].emplace_back(point.at, point.value);
    return metrics;
}

Result<int> run_doctor(const Options& options) {
    RunLogFile file(options.file);
    HEARTH_TRY(file.poll().status());
    const agents::RunMetrics metrics = metrics_of(file.log());
    if (!metrics.series.contains("samples"))
        return invalid_argument("'" + options.file +
                                "' has no samples of agents; expected a run log that "
                                "hearth/agents/run_log.hpp wrote");
    const std::vector<agents::Finding> findings = agents::diagnose(metrics);
    if (options.json) {
        Json all = Json::array();
        for (const agents::Finding& f : findings)
            all.push_back({{"name", f.name}, {"problem", f.problem}, {"advice", f.advice}});
        print_json({{"file", options.file}, {"findings", std::move(all)}});
    } else {
        for (const agents::Finding& f : findings)
            print("{}: {}\n  try: {}\n", f.name, f.problem, f.advice);
        if (findings.empty()) print("{}: nothing found in {}\n", options.file, counts_text(file));
    }
    return static_cast<int>(findings.empty() ? kExitOk : kExitFailed);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "doctor",
        "Name in words what keeps the agents of a run log from learning, and what to "
        "try.  Exits with 1 if something was found.");
    command->add_option("file", options->file, "A run log (docs/reference/run_log.md).")
        ->required();
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        const Result<int> code = run_doctor(*options);
        if (!code.ok()) print_error("doctor", code.status(), options->json);
        exit_code = code.ok() ? *code : static_cast<int>(kExitFailed);
    });
}

}  // namespace hearth::tool
