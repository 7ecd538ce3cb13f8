// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the results of a Ghost Lap run: JSON lines, the table, the learning curve.

#include "report.hpp"

#include "cars.hpp"
#include "hud.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace hearth::ghost_lap {
namespace {

using demo::Color;
using Json = nlohmann::ordered_json;

constexpr uint64_t kStatisticsFrames = 15 * kFramesPerSecond;

uint32_t completed(const RaceTable::Laps& laps) {
    return static_cast<uint32_t>(
        std::ranges::count(laps.rows, true, &RaceTable::Row::is_completed));
}

double seconds_of(uint64_t frame) {
    return static_cast<double>(frame) / kFramesPerSecond;
}

/// Uses separate metrics per car, like "ghost/seconds".
Json lap_line(double at, const char* car, size_t index, const RaceTable::Row& row) {
    return {{"type", "lap"},
            {"at", at},
            {car,
             {{"lap", index + 1},
              {"seconds", row.seconds},
              {"mean_line", row.mean_offset},
              {"line_error", row.line_error},
              {"off_tracks", row.off_tracks},
              {"completed", row.is_completed}}}};
}

/// Describes the duel: player against rival (who started together), and ghost against rival by lap
/// time.
std::string duel_text(const RunResult& r) {
    const RaceTable::Laps& ghost = r.table.ghost;
    const RaceTable::Laps& rival = *r.table.rival;
    std::string text = fmt::format("the player was {:.2f} s {} it", std::abs(r.lead_seconds),
                                   r.lead_seconds < 0.0f ? "behind" : "ahead of");
    if (completed(ghost) > 0 && completed(rival) > 0)
        text += fmt::format("; today's ghost is {:.3f} s a lap {}",
                            std::abs(rival.seconds - ghost.seconds),
                            rival.seconds < ghost.seconds ? "slower" : "faster");
    return text;
}

std::string hash_text(uint64_t hash) {
    return fmt::format("{:016x}", hash);
}

/// Exponential moving average that shows the trend through minibatch noise.
std::vector<float> smooth(const std::vector<float>& values, float keep) {
    std::vector<float> result;
    result.reserve(values.size());
    float level = 0.0f;
    for (const float value : values) {
        // A plain mean at first, so that the initial value does not linger.
        const auto n = static_cast<float>(result.size());
        level += (value - level) * std::max(1.0f - keep, 1.0f / (n + 1.0f));
        result.push_back(level);
    }
    return result;
}

}  // namespace

void RunLog::add_line(const Json& line) {
    text_ += line.dump() + '\n';
}

bool RunLog::add(const Play& play) {
    const Race& race = play.race();
    const auto laps_of = [](const Racer* racer) { return racer ? racer->laps().size() : 0; };
    const bool is_time = race.frame() > 0 && race.frame() % kStatisticsFrames == 0;
    const bool is_lap = laps_of(&race.player()) > player_laps_ ||
                        laps_of(&race.ghost()) > ghost_laps_ || laps_of(race.rival()) > rival_laps_;
    if (!is_time && !is_lap) return false;
    const RaceTable table = race.table();
    const double at = seconds_of(race.frame());
    if (text_.empty()) add_line({{"type", "run"}, {"program", "ghost_lap"}, {"at", "seconds"}});
    const auto tell = [&](const char* car, const RaceTable::Laps& laps, size_t& told) {
        for (; told < laps.rows.size(); ++told) add_line(lap_line(at, car, told, laps.rows[told]));
    };
    tell("player", table.player, player_laps_);
    tell("ghost", table.ghost, ghost_laps_);
    if (table.rival) tell("rival", *table.rival, rival_laps_);
    if (!is_time) return true;
    Json line = {{"type", "statistics"},
                 {"at", at},
                 {"learning_steps", play.learning_steps()},
                 {"samples", play.samples()},
                 {"loss", play.losses().empty() ? 0.0f : play.losses().back()},
                 {"player_laps", completed(table.player)},
                 {"ghost_laps", completed(table.ghost)},
                 {"ghost_off_tracks", table.ghost.off_tracks}};
    if (table.rival) line["lead_seconds"] = race.lead_seconds();
    add_line(line);
    return true;
}

HandOver HandOver::of(const Race& race, size_t corner, const Line& right) {
    constexpr size_t kTaughtEnd = Coach::kWatchedLaps + Coach::kTaughtLaps;
    const size_t laps = race.ghost().laps().size();
    HandOver result{.corner = corner, .is_complete = laps > kTaughtEnd};
    const auto take = [&](size_t first, size_t end, float& in_it, float& in_others) {
        const std::vector<float> errors = corner_errors(race, right, first, end);
        in_it = errors.at(corner);
        in_others = (std::accumulate(errors.begin(), errors.end(), 0.0f) - in_it) /
                    static_cast<float>(errors.size() - 1);
    };
    take(Coach::kWatchedLaps - 1, Coach::kWatchedLaps, result.before, result.others_before);
    take(kTaughtEnd, laps, result.after, result.others_after);
    return result;
}

void RunLog::finish(const RunResult& result) {
    const auto car = [](const RaceTable::Laps& laps) {
        return Json{{"laps", completed(laps)},
                    {"seconds", laps.seconds},
                    {"mean_line", laps.mean_offset},
                    {"off_tracks", laps.off_tracks},
                    {"resets", laps.resets}};
    };
    Json line = {{"type", "end"},
                 {"at", seconds_of(result.frames)},
                 {"seed", result.seed},
                 {"frames", result.frames},
                 {"interrupted", result.is_interrupted},
                 {"driver", result.driver},
                 {"learning", result.is_learning_on},
                 {"learning_steps", result.learning_steps},
                 {"missed_actions", result.missed_actions},
                 {"player", car(result.table.player)},
                 {"ghost", car(result.table.ghost)}};
    if (result.table.rival) {
        line["rival"] = car(*result.table.rival);
        line["lead_seconds"] = result.lead_seconds;
    }
    if (const auto& h = result.hand_over)
        line["hand_over"] = {{"corner", h->corner + 1},
                             {"before", h->before},
                             {"after", h->after},
                             {"others_before", h->others_before},
                             {"others_after", h->others_after}};
    line.update({{"corrected_seconds", seconds_of(result.corrected_frames)},
                 {"sdk_allocations", result.cpu_allocations + result.device_allocations},
                 {"passed", result.has_passed()},
                 {"race_hash", hash_text(result.state_hash)},
                 {"weights_hash", hash_text(result.weights_hash)}});
    add_line(line);
}

std::string report_text(const RunResult& r) {
    std::string text;
    const auto line = [&text]<class... Args>(fmt::format_string<Args...> pattern, Args&&... args) {
        fmt::format_to(std::back_inserter(text), pattern, std::forward<Args>(args)...);
        text += '\n';
    };
    const auto& player = r.table.player;
    const auto& ghost = r.table.ghost;
    line("Ghost Lap: seed {}, driver {}, {} frames ({:.1f} s), learning {}", r.seed, r.driver,
         r.frames, static_cast<double>(r.frames) / kFramesPerSecond,
         r.is_learning_on ? "on" : "off");
    line("on {}, {}", r.device, r.presenter);
    line("net: {}, {} steps of learning", r.program, r.learning_steps);
    line("");
    line("{:>4}  {:>10} {:>10}  {:>10} {:>10} {:>11} {:>11}", "lap", "player s", "line", "ghost s",
         "line", "line error", "off-tracks");
    const size_t rows = std::max(player.rows.size(), ghost.rows.size());
    for (size_t i = 0; i < rows; ++i) {
        const auto value = [&](const RaceTable::Laps& laps, auto member, int digits) {
            return i < laps.rows.size() ? fmt::format("{:.{}f}", laps.rows[i].*member, digits)
                                        : std::string("-");
        };
        const bool has_ghost = i < ghost.rows.size();
        line("{:>4}  {:>10} {:>10}  {:>10} {:>10} {:>11} {:>11}{}", i + 1,
             value(player, &RaceTable::Row::seconds, 3),
             value(player, &RaceTable::Row::mean_offset, 3),
             value(ghost, &RaceTable::Row::seconds, 3),
             value(ghost, &RaceTable::Row::mean_offset, 3),
             value(ghost, &RaceTable::Row::line_error, 3),
             has_ghost ? std::to_string(ghost.rows[i].off_tracks) : "-",
             has_ghost && !ghost.rows[i].is_completed ? "  failed: put back on the track" : "");
    }
    line("");
    const auto row = [&](const char* name, auto value) {
        line("{:<28} {:>10} {:>10}{}", name, value(player), value(ghost),
             r.table.rival ? fmt::format(" {:>10}", value(*r.table.rival)) : "");
    };
    using Laps = RaceTable::Laps;
    line("{:<28} {:>10} {:>10}{}", "", "player", "ghost",
         r.table.rival ? fmt::format(" {:>10}", "rival") : "");
    row("laps completed", [](const Laps& l) { return fmt::format("{}", completed(l)); });
    row("mean lap time, s", [](const Laps& l) { return fmt::format("{:.3f}", l.seconds); });
    row("mean line, half-widths",
        [](const Laps& l) { return fmt::format("{:.3f}", l.mean_offset); });
    row("off-tracks", [](const Laps& l) { return fmt::format("{}", l.off_tracks); });
    row("put back on the track", [](const Laps& l) { return fmt::format("{}", l.resets); });
    if (r.table.rival) line("{:<28} {}", "the rival, " + r.rival, duel_text(r));
    if (const auto& h = r.hand_over)
        line("{:<28} line error {:.3f} before, {:.3f} after; in the others {:.3f}, {:.3f}{}",
             fmt::format("corrected in corner {}", h->corner + 1), h->before, h->after,
             h->others_before, h->others_after,
             h->is_complete ? "" : "  (no lap after the corrections)");
    if (r.corrected_frames > 0)
        line("{:<28} {:>10.1f}", "corrected, s", seconds_of(r.corrected_frames));
    line("");
    if (r.has_gpu_times) {
        line("{:<28} {:>10} {:>10} {:>10} {:>10} {:>10}   the first of each left out",
             "frame cost, ms of GPU time", "mean", "median", "p99", "p99.9", "worst");
        const auto cost = [&](const char* name, const Cost& c) {
            line("{:<28} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}", name, c.mean(),
                 c.quantile(0.5), c.quantile(0.99), c.quantile(0.999), c.quantile(1));
        };
        cost("  render", r.render_ms);
        cost("  decide and learn", r.brain_ms);
        cost(r.has_async_compute ? "  frame (queue that draws)" : "  frame", r.frame_ms);
        cost("  the clock, frame to frame", r.frame_period_ms);
        if (r.has_async_compute)
            line("{:<28} {:>9.1f}%   (of {:.1f} ms, by both queues' timestamps)",
                 "decided, learned beside it", 100 * r.overlap.share(), r.overlap.work_ms());
        line("{:<28} {:>10}", "networks run on",
             r.is_native           ? "the CPU"
             : r.has_async_compute ? "a queue of their own"
                                   : "the queue that draws");
    } else {
        line("frame cost: this queue has no timestamps");
    }
    line("{:<28} {:>10.1f}", "recording, us of CPU time", r.record_us);
    const double frames = r.frames > 0 ? static_cast<double>(r.frames) : 1.0;
    line("{:<28} {:>10} {:>10}   (CPU, GPU; {} and {} in all)", "SDK allocations per frame",
         fmt::format("{:g}", static_cast<double>(r.cpu_allocations) / frames),
         fmt::format("{:g}", static_cast<double>(r.device_allocations) / frames), r.cpu_allocations,
         r.device_allocations);
    line("{:<28} {:>10}", "actions that came too late", r.missed_actions);
    if (r.failed_writes > 0)
        line("{:<28} {:>10}   (each was tried again)", "writes of files that failed",
             r.failed_writes);
    if (r.is_validated) line("{:<28} {:>10}", "validation messages", r.validation_messages);
    line("{:<28} {:>10}", "three laps within 10 %", r.has_passed() ? "yes" : "NO");
    line("race hash: {}", hash_text(r.state_hash));
    line("weights hash: {}", hash_text(r.weights_hash));
    return text;
}

void draw_learning_curve(const RunResult& r, const demo::Ui& ui) {
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const ImU32 bright = Color::hex(0xf2f0ea).packed();
    const ImU32 dim = Color::hex(0x9aa3ad).packed();
    const ImU32 grid = Color::hex(0xffffff, 0.09f).packed();
    const auto text = [&](ImFont* font, float x, float y, ImU32 color, const std::string& words,
                          float align = 0.0f) {
        const float width = font->CalcTextSizeA(font->FontSize, 1e9f, 0.0f, words.c_str()).x;
        list.AddText(font, font->FontSize, {x - align * width, y}, color, words.c_str());
    };
    text(ui.heading(), 24, 16, bright, "How the ghost learnt");
    text(ui.small(), 24, 44, dim,
         fmt::format("driver {}, seed {}, {} steps of Adam on minibatches of {}", r.driver, r.seed,
                     r.learning_steps, learner().batch_size));

    // Left: the loss, on a logarithmic scale.
    const ImVec2 min{80, 92};
    const ImVec2 max{size.x * 0.58f, size.y - 56};
    text(ui.body(), min.x, 68, bright, "squared error of the actions");
    list.AddRectFilled(min, max, Color::hex(0xffffff, 0.03f).packed(), 6.0f);
    if (r.losses.size() > 1) {
        const auto [least, most] = std::ranges::minmax(r.losses);
        const float low = std::floor(std::log10(std::max(least, 1e-6f)));
        const float high = std::max(low + 1.0f, std::ceil(std::log10(std::max(most, 1e-6f))));
        const auto y_of = [&](float loss) {
            const float t = (std::log10(std::max(loss, 1e-6f)) - low) / (high - low);
            return max.y - std::clamp(t, 0.0f, 1.0f) * (max.y - min.y);
        };
        for (float decade = low; decade <= high; decade += 1.0f) {
            const float y = y_of(std::pow(10.0f, decade));
            list.AddLine({min.x, y}, {max.x, y}, grid);
            text(ui.small(), min.x - 8, y - 8, dim, fmt::format("1e{:.0f}", decade), 1.0f);
        }
        const auto draw = [&](const std::vector<float>& values, ImU32 color, float width) {
            const auto points = std::min<size_t>(values.size(), 900);
            std::vector<ImVec2> line(points);
            for (size_t i = 0; i < points; ++i) {
                const float t = static_cast<float>(i) / static_cast<float>(points - 1);
                const auto index = static_cast<size_t>(t * static_cast<float>(values.size() - 1));
                line[i] = {min.x + t * (max.x - min.x), y_of(values[index])};
            }
            list.AddPolyline(line.data(), static_cast<int>(points), color, ImDrawFlags_None, width);
        };
        draw(r.losses, kGhostColor.with_alpha(0.28f).packed(), 1.0f);
        draw(smooth(r.losses, 0.97f), kGhostColor.packed(), 2.5f);
        const auto steps = static_cast<float>(r.losses.size());
        for (int i = 0; i <= 4; ++i) {
            const float t = static_cast<float>(i) / 4.0f;
            text(ui.small(), min.x + t * (max.x - min.x), max.y + 6, dim,
                 fmt::format("{:.0f}", t * steps), 0.5f);
        }
        text(ui.small(), 0.5f * (min.x + max.x), max.y + 26, dim, "steps, one a frame", 0.5f);
    }

    // Right: line error and time of each of the ghost's laps.
    const ImVec2 bars{size.x * 0.64f, 92};
    const float right = size.x - 32;
    text(ui.body(), bars.x, 68, bright, "the ghost's laps: distance from the player's line");
    const auto& rows = r.table.ghost.rows;
    const size_t shown = std::min<size_t>(rows.size(), 12);
    float worst = 0.1f;
    for (size_t i = 0; i < shown; ++i) worst = std::max(worst, rows[i].line_error);
    for (size_t i = 0; i < shown; ++i) {
        const RaceTable::Row& row = rows[i];
        const float y = bars.y + 34.0f * static_cast<float>(i);
        const float reach = (right - bars.x - 200.0f) * std::min(row.line_error / worst, 1.0f);
        text(ui.body(), bars.x, y + 3, dim, fmt::format("lap {}", i + 1));
        list.AddRectFilled({bars.x + 56, y}, {bars.x + 58 + reach, y + 24},
                           row.is_completed ? kGhostColor.with_alpha(0.8f).packed()
                                            : Color::hex(0xff6b5e, 0.8f).packed(),
                           4.0f);
        text(ui.small(), bars.x + 66 + reach, y + 4, bright, fmt::format("{:.3f}", row.line_error));
        text(ui.body(), right, y + 3, row.is_completed ? bright : Color::hex(0xff6b5e).packed(),
             row.is_completed ? fmt::format("{:.2f} s", row.seconds) : "failed", 1.0f);
    }
    if (shown == 0) text(ui.body(), bars.x, bars.y, dim, "it finished no lap");
    text(ui.body(), bars.x, max.y - 22, kPlayerColor.packed(),
         fmt::format("the player's mean lap: {:.2f} s", r.table.player.seconds));
    text(ui.body(), bars.x, max.y, kGhostColor.packed(),
         fmt::format("the ghost's mean lap: {:.2f} s", r.table.ghost.seconds));
}

}  // namespace hearth::ghost_lap
