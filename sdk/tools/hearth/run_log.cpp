// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parses run logs incrementally and follows growing log files.

#include "run_log.hpp"

#include "chart.hpp"
#include "tables.hpp"

#include <hearth/agents/run_log.hpp>

#include <fmt/format.h>
#include <programs/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace hearth::tool {
namespace {

constexpr size_t kMaxDepth = 4, kMaxNameBytes = 64, kMaxTextBytes = 200;

/// Removes control sequences from log text before it is shown on a terminal.
std::string shown(std::string text, size_t most_bytes) {
    replace_control_characters(text.data(), text.size());
    if (text.size() > most_bytes) {
        text.resize(most_bytes);
        // Do not cut within a UTF-8 sequence.
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80)
            text.pop_back();
        if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
    }
    return text;
}

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return {};
    return shown(found->get<std::string>(), kMaxTextBytes);
}

/// Names that logs of version 0.1 gave to metrics of agents, and today's.
constexpr std::pair<std::string_view, std::string_view> kOldNames[] = {
    {"return", "episode_return"},
    {"temperature", "ent_coef"},
    {"leash", "reference_kl"},
    {"update_ratio", "update_to_weight_ratio"},
    {"samples_refused", "samples_rejected"},
    {"learn_steps", "gradient_steps"},
    {"skipped_not_finite", "skipped_non_finite"},
    {"publications_refused", "publications_rejected"},
    {"learn_us_p95", "minibatch_us_p95"},
};

/// Today's name of a metric of agents.
std::string_view new_name(std::string_view name) {
    const auto* found =
        std::ranges::find(kOldNames, name, [](const auto& pair) { return pair.first; });
    return found == std::end(kOldNames) ? name : found->second;
}

/// Calls `number(name, value)` for each number and bool in the object, recursively; null is NaN.
template <class Number>
void for_each_number(const Json& object, const std::string& prefix, size_t depth,
                     const Number& number) {
    for (const auto& [key, value] : object.items()) {
        if (depth == 0 && (key == "at" || key == "type")) continue;
        const std::string name = prefix + shown(key, kMaxNameBytes);
        if (value.is_number())
            number(name, value.template get<double>());
        else if (value.is_boolean())
            number(name, value.template get<bool>() ? 1.0 : 0.0);
        else if (value.is_null())
            number(name, std::nan(""));
        else if (value.is_object() && depth + 1 < kMaxDepth)
            for_each_number(value, name + "/", depth + 1, number);
    }
}

/// The requests that a run's first line names, as bits.
uint32_t listens_of(const Json& run) {
    uint32_t bits = 0;
    const auto names = run.find("listens");
    if (names == run.end() || !names->is_array()) return bits;
    for (const Json& name : *names)
        for (size_t i = 0; i < kRunRequestNames.size(); ++i)
            if (name.is_string() && name.get<std::string>() == kRunRequestNames[i]) bits |= 1u << i;
    return bits;
}

/// Observations of a sample whose share is above 0 and at most 1, the largest first.
std::vector<std::string> observations_of(const Json& sample) {
    std::vector<agents::ObservationAtLimit> found;
    const auto read = [&](std::string_view key, agents::ObservationLimit limit) {
        const auto shares = sample.find(key);
        if (shares == sample.end() || !shares->is_object()) return;
        for (const auto& [name, value] : shares->items())
            if (const double share = value.is_number() ? value.template get<double>() : 0;
                share > 0 && share <= 1)
                found.push_back({shown(name, kMaxNameBytes), limit, share});
    };
    read(agents::kAtLimitKey, agents::ObservationLimit::kClamped);
    read(agents::kUnresolvedKey, agents::ObservationLimit::kUnresolved);
    std::ranges::stable_sort(found, std::greater(), &agents::ObservationAtLimit::share);
    found.resize(std::min(found.size(), RunLog::kMaxObservations));
    std::vector<std::string> texts;
    for (const agents::ObservationAtLimit& observation : found)
        texts.push_back(agents::observation_warning(observation));
    return texts;
}

}  // namespace

void RunLog::read(std::string_view bytes) {
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        const std::string_view piece = bytes.substr(0, end);
        if (partial_.size() + piece.size() > kMaxLineBytes) {
            partial_.clear();
            skips_line_ = true;
        }
        if (end == std::string_view::npos) {
            if (!skips_line_) partial_.append(piece);
            return;
        }
        bytes.remove_prefix(end + 1);
        if (skips_line_) {
            ++counts_.lines;
            ++counts_.foreign;
        } else if (partial_.empty()) {
            read_line(piece);
        } else {
            partial_.append(piece);
            read_line(partial_);
        }
        partial_.clear();
        skips_line_ = false;
    }
}

void RunLog::begin_run() {
    metrics_.clear();
    events_.clear();
    observations_.clear();
    has_place_ = has_ended_ = false;
    last_at_ = 0;
}

void RunLog::read_line(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return;
    ++counts_.lines;
    const Result<Json> parsed = programs::parse_json<Json>(line);
    if (!parsed.ok() || !parsed->is_object()) {
        ++counts_.foreign;
        return;
    }
    const Json& json = *parsed;
    const std::string type = text_of(json, "type");
    if (type == "run") {
        begin_run();
        ++counts_.runs;
        program_ = text_of(json, "program");
        unit_ = text_of(json, "at");
        if (unit_.empty()) unit_ = "at";
        listens_ = listens_of(json);
        return;
    }
    const auto place = json.find("at");
    const double at = place != json.end() && place->is_number() ? place->get<double>() : NAN;
    if (!std::isfinite(at)) {
        ++counts_.foreign;
        return;
    }
    if (has_place_ && at < last_at_) {
        ++counts_.out_of_order;
        return;
    }
    last_at_ = at;
    has_place_ = true;
    if (type == "event") {
        ++counts_.events;
        if (events_.size() < kMaxEvents)
            events_.push_back({at, text_of(json, "text")});
        else
            ++counts_.beyond;
        return;
    }
    has_ended_ = type == "end";
    if (has_ended_) return;  // an "end" line summarizes earlier lines
    ++counts_.samples;
    // Other lines belong to the program, which may use the same names for metrics of its own.
    const bool is_of_agents = type == "agents";
    if (is_of_agents) observations_ = observations_of(json);
    for_each_number(json, "", 0, [&](const std::string& name, double value) {
        add(is_of_agents ? std::string(new_name(name)) : name, at, value);
    });
}

void RunLog::add(const std::string& name, double at, double value) {
    if (!std::isfinite(value)) {
        ++counts_.non_finite;
        return;
    }
    auto found = std::ranges::find_if(metrics_, [&](const Metric& m) { return m.name == name; });
    if (found == metrics_.end()) {
        if (metrics_.size() == kMaxMetrics) {
            ++counts_.beyond;
            return;
        }
        found = metrics_.insert(found, {name, {}});
    }
    found->points.push_back({at, value});
    if (found->points.size() > kMaxPoints) {
        const Range all{found->points.front().at, at};
        found->points = thinned(found->points, all, kMaxPoints / 4);
    }
}

const Metric* RunLog::find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(metrics_, [&](const Metric& m) { return m.name == name; });
    return found == metrics_.end() ? nullptr : &*found;
}

// --- Files ---------------------------------------------------------------------------------------

namespace {

struct OpenLog {
    os::File file;
    os::FileInfo info;
};

Result<OpenLog> open_log(const std::string& path) {
    OpenLog log;
    if (!log.file.open_to_read(path))
        return not_found(fmt::format("cannot open the run log '{}': {}", path, os::error_text()));
    if (!log.file.look(&log.info) || log.info.kind != os::FileKind::kFile)
        return invalid_argument(
            fmt::format("'{}' is not a regular file; expected a run log", path));
    return log;
}

}  // namespace

Result<bool> RunLogFile::poll() {
    Result<OpenLog> named = open_log(path_);
    if (file_) {
        os::FileInfo opened;
        const bool is_same = named.ok() && file_->look(&opened) &&
                             opened.volume == named->info.volume &&
                             opened.number == named->info.number;
        // Programs that rewrite the whole log replace the file each time.
        if (!is_same || opened.bytes < read_bytes_) {
            restarts_ += (named.ok() ? named->info.bytes : 0) < read_bytes_;
            file_.reset();
            read_bytes_ = 0;
            is_stale_ = true;
        }
    }
    const bool begins_anew = !file_;
    if (begins_anew) {
        // Keep the log that was read while the file is missing.
        HEARTH_TRY(named.status());
        file_ = std::move(named->file);
        if (std::exchange(is_stale_, false)) log_ = RunLog();
    }
    const uint64_t before = read_bytes_;
    std::array<std::byte, 1 << 16> bytes;
    for (;;) {
        const int64_t size = file_->read(bytes);
        if (size < 0)
            return not_found(fmt::format("cannot read '{}': {}", path_, os::error_text()));
        if (size == 0) break;
        log_.read({reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size)});
        read_bytes_ += static_cast<uint64_t>(size);
    }
    return begins_anew || read_bytes_ != before;
}

Status request_run(const RunLogFile& file, RunRequest request, bool is_wanted) {
    const std::string_view name = kRunRequestNames[static_cast<size_t>(request)];
    if (is_wanted && (file.log().listens() >> static_cast<uint32_t>(request) & 1) == 0)
        return unsupported(fmt::format(
            "'{}': the program{} does not listen to \"{}\": the log's first line names no such "
            "request in \"listens\" (docs/reference/run_log.md); end or change the program itself",
            file.path(), file.log().program().empty() ? "" : " " + file.log().program(), name));
    return hearth::request_run(file.path(), request, is_wanted);
}

std::string observations_text(const RunLog& log) {
    const std::vector<std::string>& all = log.observations();
    if (all.empty()) return "";
    return all.front() + (all.size() == 1 ? "" : fmt::format(", and {} more", all.size() - 1));
}

std::string counts_text(const RunLogFile& file) {
    const RunLog::Counts& c = file.log().counts();
    std::string text = fmt::format("{} lines", c.lines);
    const auto add = [&](uint64_t count, std::string_view what) {
        if (count > 0) text += fmt::format(", {} {}", count, what);
    };
    add(c.events, "events");
    if (c.runs > 1) add(c.runs, "runs (the last is shown)");
    add(c.foreign, "foreign");
    add(c.out_of_order, "out of order");
    add(c.non_finite, "not finite");
    add(c.beyond, "beyond the limits");
    add(file.log().cut_bytes() > 0, "cut at the end");
    add(file.restarts(), "restarts");
    return text;
}

}  // namespace hearth::tool
