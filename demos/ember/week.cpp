// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A week with a creature, without a window: each day some minutes with a patient player, saved once a
// second, and a night in which it learns from its memories. Prints a line of CSV for each day: what its
// file takes, what frames take, and how often learning exceeded its budget.

#include "life.hpp"

#include <hearth/cpu.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hearth::ember {
namespace {

struct Options {
    int days = 7, minutes = 20, fps = 0;
    double budget_us = 2000;
    std::string nest = "ember_week";
};

constexpr int64_t kFirstMorning = 20'000 * int64_t{86'400};  ///< any day will do
constexpr const char* kName = "Ember";

class Week {
  public:
    explicit Week(const Options& options) : options_(options) {}

    Status play();

  private:
    using Clock = std::chrono::steady_clock;

    Result<Life> wake(int64_t now);
    Status play_day(int day);
    Status frame(Life& life, ScriptedPlayer& player);
    void print(int day, const Life& life) const;

    Options options_;
    std::optional<cpu::Device> device_;
    PartPrograms programs_;
    std::optional<Nest> nest_;
    std::vector<double> frame_us_;
};

Status Week::play() {
    HEARTH_ASSIGN(nest_, Nest::open(options_.nest));
    if (!nest_->names().empty()) HEARTH_TRY(nest_->release(kName));
    HEARTH_ASSIGN(device_, cpu::open_device({.tables = part_kernels()}));
    HEARTH_ASSIGN(programs_, load_part_programs(device_->context()));
    fmt::print(
        "day,frames,file_bytes,versions,frame_us_median,frame_us_p99,frame_us_p999,frame_us_max,"
        "learning_frames,over_budget,dreams,words,comes\n");
    for (int day = 0; day < options_.days; ++day) HEARTH_TRY(play_day(day));
    return {};
}

Result<Life> Week::wake(int64_t now) {
    const LifeOptions options{
        .budget_us = options_.budget_us, .frames_in_flight = 1, .seconds = now};
    if (nest_->names().empty()) return Life::create(device_->context(), programs_, options);
    HEARTH_ASSIGN(const Kept kept, nest_->load(kName));
    return Life::resume(device_->context(), programs_, options, kept);
}

/// The player's part of a frame in the game: all but the picture and the writing of the file.
Status Week::frame(Life& life, ScriptedPlayer& player) {
    HEARTH_TRY(device_->context().begin_frame());
    const Gesture gesture = life.sleep().is_over() ? player.play(life.world()) : Gesture();
    HEARTH_TRY(
        device_->run([&](VkCommandBuffer commands) { return life.record(commands, gesture); }));
    life.step();
    return {};
}

Status Week::play_day(int day) {
    const int64_t morning = kFirstMorning + int64_t{86'400} * day;
    HEARTH_ASSIGN(Life life, wake(morning));
    ScriptedPlayer player(Temper::kPatient, static_cast<uint64_t>(day) + 1);
    const int frames = options_.minutes * 60 * kFramesPerSecond;
    frame_us_.clear();
    auto next = Clock::now();
    for (int i = 0; i < frames; ++i) {
        if (options_.fps > 0) {
            std::this_thread::sleep_until(next);
            next = std::max(next, Clock::now() - std::chrono::seconds(1)) +
                   std::chrono::nanoseconds(1'000'000'000 / options_.fps);
        }
        const auto begun = Clock::now();
        HEARTH_TRY(frame(life, player));
        const bool is_kept = i % kFramesPerSecond == kFramesPerSecond - 1;
        std::optional<Kept> kept;
        if (is_kept) {
            life.tell_time(morning + i / kFramesPerSecond);
            HEARTH_ASSIGN(kept, life.keep(kName));
        }
        frame_us_.push_back(
            std::chrono::duration<double, std::micro>(Clock::now() - begun).count());
        if (is_kept) HEARTH_TRY(nest_->save(*kept, morning / 86'400));
    }
    print(day, life);
    return {};
}

void Week::print(int day, const Life& life) const {
    std::vector<double> sorted = frame_us_;
    std::ranges::sort(sorted);
    const auto at = [&](double fraction) {
        return sorted[static_cast<size_t>(fraction * static_cast<double>(sorted.size() - 1))];
    };
    std::error_code error;
    const LearningTime learning = life.mind().learning_time();
    fmt::print("{},{},{},{},{:.0f},{:.0f},{:.0f},{:.0f},{},{},{},{},{}\n", day + 1, sorted.size(),
               std::filesystem::file_size(nest_->path_of(kName), error),
               nest_->versions(kName).size(), at(0.5), at(0.99), at(0.999), at(1), learning.frames,
               learning.over_budget, life.sleep().lessons_done, std::popcount(life.deeds().words),
               life.deeds().comes);
    std::fflush(stdout);
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("A week with a creature of Ember, as fast as this machine's CPU can");
    app.add_option("--days", options.days, "Days (7)")->check(programs::whole_number(1, 10'000));
    app.add_option("--minutes", options.minutes, "Minutes of play each day (20)")
        ->check(programs::whole_number(1, 1440));
    app.add_option("--fps", options.fps, "Frames a second (0: as many as can be)")
        ->check(programs::whole_number(0, 1000));
    app.add_option("--budget", options.budget_us, "Microseconds a frame for learning (2000)")
        ->check(programs::finite_number(0, kNoLimit));
    app.add_option("--nest", options.nest,
                   "Folder for the creature; that of an earlier week is removed");
    CLI11_PARSE(app, argc, argv);
    const Status status = Week(options).play();
    if (!status.ok()) std::fprintf(stderr, "ember_week: %s\n", status.message().c_str());
    return status.ok() ? 0 : 2;
}

}  // namespace
}  // namespace hearth::ember

int main(int argc, char** argv) {
    return hearth::programs::run_program("ember_week",
                                         [&] { return hearth::ember::run(argc, argv); });
}
