// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth watch: learning curves of training runs, live on a terminal, or as a picture or page.

#include "chart.hpp"
#include "chart_html.hpp"
#include "chart_png.hpp"
#include "commands.hpp"
#include "core/path.hpp"
#include "run_log.hpp"
#include "tables.hpp"
#include "terminal.hpp"

#include <hearth/file.hpp>
#include <hearth/run_log.hpp>

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace hearth::tool {
namespace {

struct Options {
    std::vector<std::string> files, metrics;
    std::string png, html;
    std::string control;
    std::optional<double> bar;
    bool has_details = false;
    bool is_log = false, json = false;
    double smoothing = 0;
};

constexpr size_t kMaxFiles = 64;

/// Values of --control.
struct Control {
    std::string_view name;
    RunRequest request;
    bool is_wanted;
};
constexpr Control kControls[] = {{"stop", RunRequest::kStop, true},
                                 {"pause", RunRequest::kPause, true},
                                 {"resume", RunRequest::kPause, false},
                                 {"freeze", RunRequest::kFreeze, true},
                                 {"learn", RunRequest::kFreeze, false}};

Json summary_of(const RunLogFile& file) {
    const RunLog& log = file.log();
    const RunLog::Counts& c = log.counts();
    Json metrics = Json::object();
    for (const Metric& m : log.metrics()) {
        const auto [least, most] = std::ranges::minmax(m.points, {}, &Point::value);
        metrics[m.name] = {{"count", m.points.size()},
                           {"first", m.points.front().value},
                           {"last", m.points.back().value},
                           {"min", least.value},
                           {"max", most.value}};
    }
    return {{"path", file.path()},
            {"program", log.program()},
            {"unit", log.unit()},
            {"last_at", log.last_at()},
            {"has_ended", log.has_ended()},
            {"lines", c.lines},
            {"samples", c.samples},
            {"events", c.events},
            {"runs", c.runs},
            {"foreign", c.foreign},
            {"out_of_order", c.out_of_order},
            {"non_finite", c.non_finite},
            {"beyond", c.beyond},
            {"cut_bytes", log.cut_bytes()},
            {"observations", log.observations()},
            {"metrics", std::move(metrics)}};
}

/// The metrics that are asked for, or by default those of designers.
std::vector<std::string> shown_metrics(const std::vector<RunLogFile>& files,
                                       const Options& options) {
    if (!options.metrics.empty()) return options.metrics;
    return options.has_details ? metric_names(files) : plain_metric_names(files);
}

/// Output that is not a terminal: prints one table per log with the latest value of each metric.
void print_tables(const std::vector<RunLogFile>& files, const Options& options) {
    const std::vector<std::string> wanted = shown_metrics(files, options);
    for (const RunLogFile& file : files) {
        print("{}: {}, up to {} {}\n", file.path(), counts_text(file),
              number_text(file.log().last_at()), file.log().unit());
        for (const std::string& line : summary_lines(file.log(), options.bar))
            print("  {}\n", line);
        for (const std::string& observation : file.log().observations())
            print("  {}\n", observation);
        print("  {:<40} {:>8} {:>11} {:>11} {:>11} {:>11}\n", "metric", "count", "first", "last",
              "min", "max");
        for (const std::string& name : wanted) {
            const Metric* const found = file.log().find(name);
            if (found == nullptr) continue;
            const Metric& m = *found;
            const auto [least, most] = std::ranges::minmax(m.points, {}, &Point::value);
            print("  {:<40} {:>8} {:>11} {:>11} {:>11} {:>11}\n", title_of(m.name), m.points.size(),
                  number_text(m.points.front().value), number_text(m.points.back().value),
                  number_text(least.value), number_text(most.value));
        }
    }
}

/// A name that occurs in no log is an error: probably a typo.
Status check_metrics(const std::vector<RunLogFile>& files, const std::vector<std::string>& wanted) {
    const std::vector<std::string> names = metric_names(files);
    for (const std::string& name : wanted) {
        if (std::ranges::find(names, name) != names.end()) continue;
        std::string list;
        for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
        return not_found(
            fmt::format("no metric '{}'; there are: {}", name, list.empty() ? "none" : list));
    }
    return {};
}

Status write_pictures(const std::vector<RunLogFile>& files, const Options& options) {
    const std::vector<std::string> names = shown_metrics(files, options);
    std::string title, subtitle;
    for (const RunLogFile& file : files) {
        const std::string name = path_of(file.path()).filename().string();
        title += (title.empty() ? "" : ", ") + name;
        if (files.size() == 1)
            for (const std::string& line : summary_lines(file.log(), options.bar))
                subtitle += line + "\n";
        else if (!subtitle.empty())
            subtitle += " | ";
        subtitle += (file.log().program().empty() ? "" : file.log().program() + ": ") +
                    counts_text(file) + ", by " + file.log().unit();
        if (!file.log().observations().empty()) subtitle += "; " + observations_text(file.log());
    }
    std::vector<Chart> charts;
    for (const std::string& name : names)
        charts.push_back(make_chart(files, name,
                                    {.window = {},
                                     .is_log = options.is_log,
                                     .smoothing = options.smoothing,
                                     .width = kPngPanelWidth,
                                     .bar = options.bar}));
    if (!options.png.empty()) {
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, draw_png(title, subtitle, charts));
        HEARTH_TRY(write_file_atomically(options.png, bytes));
    }
    if (!options.html.empty())
        HEARTH_TRY(write_file_atomically(options.html,
                                         std::string_view(draw_html(title, subtitle, charts))));
    return {};
}

Result<int> run_watch(const Options& options) {
    for (const std::string& path : {options.png, options.html})
        if (!path.empty()) HEARTH_TRY(check_writable(path));
    std::vector<RunLogFile> files;
    for (const std::string& path : options.files) files.emplace_back(path);
    const bool is_live = options.png.empty() && options.html.empty() && !options.json &&
                         programs::is_terminal(0) && programs::is_terminal(1);
    if (is_live && options.control.empty())
        return watch_in_terminal(
            files,
            {.metrics = options.metrics, .has_details = options.has_details, .bar = options.bar});
    for (RunLogFile& file : files) HEARTH_TRY(file.poll().status());
    if (!options.control.empty()) {
        const Control& control = *std::ranges::find(kControls, options.control, &Control::name);
        for (const RunLogFile& file : files)
            HEARTH_TRY(request_run(file, control.request, control.is_wanted));
        return static_cast<int>(kExitOk);
    }
    HEARTH_TRY(check_metrics(files, options.metrics));
    HEARTH_TRY(write_pictures(files, options));
    if (options.json) {
        Json all = Json::array();
        for (const RunLogFile& file : files) all.push_back(summary_of(file));
        print_json({{"files", std::move(all)}});
    } else if (options.png.empty() && options.html.empty()) {
        print_tables(files, options);
    } else {
        for (const RunLogFile& file : files) print("{}: {}\n", file.path(), counts_text(file));
    }
    return static_cast<int>(kExitOk);
}

}  // namespace

void add_watch(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("watch",
                           "Show the curves of run logs (docs/reference/run_log.md): live on a "
                           "terminal, or as PNG or HTML.");
    command->add_option("files", options->files, "Run logs; several are drawn into one chart.")
        ->required()
        ->expected(1, static_cast<int>(kMaxFiles));
    command->add_option("-m,--metrics", options->metrics, "Only these, comma-separated.")
        ->delimiter(',');
    command->add_flag("--details", options->has_details,
                      "Show the metrics of researchers, too: losses, entropy, counters.");
    command
        ->add_option_function<double>(
            "--bar", [options](double value) { options->bar = value; },
            "A return to reach: a line in its chart.")
        ->check(programs::finite_number(-1e30, 1e30));
    command->add_option("--png", options->png, "Write a picture of the curves, and stop.");
    command->add_option("--html", options->html,
                        "Write one page that needs nothing else, and stop.");
    command
        ->add_option("--smooth", options->smoothing,
                     "Part of the last value that is kept, in pictures (0).")
        ->check(programs::finite_number(0, 0.9999));
    command->add_flag("--log", options->is_log,
                      "Logarithmic axes where all values are above zero.");
    std::vector<std::string> controls;
    for (const Control& control : kControls) controls.emplace_back(control.name);
    command
        ->add_option("--control", options->control,
                     "Ask the programs that write these logs to stop, to pause and to go on "
                     "(resume), to act without learning (freeze) and to learn again (learn).  The "
                     "first line of a log names what its program listens to.")
        ->check(CLI::IsMember(controls));
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        const Result<int> code = run_watch(*options);
        if (!code.ok()) print_error("watch", code.status(), options->json);
        exit_code = code.ok() ? *code : static_cast<int>(kExitFailed);
    });
}

}  // namespace hearth::tool
