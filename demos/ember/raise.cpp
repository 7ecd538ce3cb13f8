// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "raise.hpp"

#include "life.hpp"

#include <utility>

namespace hearth::ember {
namespace {

/// Visits of a stretch of time, and how many arrived.
class Visits {
  public:
    void add(const Doing& doing) {
        count_ += 1;
        arrived_ += doing.succeeded ? 1.0f : 0.0f;
    }
    float arrived() const { return count_ == 0 ? 0 : arrived_ / count_; }

  private:
    float count_ = 0, arrived_ = 0;
};

Status play(Context& context, const Submit& submit, Life& life, const Gesture& gesture) {
    HEARTH_TRY(context.begin_frame());
    HEARTH_TRY(submit([&](VkCommandBuffer commands) { return life.record(commands, gesture); }));
    life.step();
    return {};
}

/// The newest weights of all parts: snapshots take a few frames to arrive.
Result<BrainFiles> brain_of(Context& context, const Submit& submit, Life& life) {
    constexpr int kFrames = kFramesPerSecond;
    HEARTH_TRY(life.mind().take_snapshots());
    for (int frame = 0; frame < kFrames; ++frame) HEARTH_TRY(play(context, submit, life, {}));
    BrainFiles files;
    for (size_t i = 0; i < kPartCount; ++i) {
        HEARTH_ASSIGN(files[i], life.mind().save(static_cast<Part>(i)));
    }
    return files;
}

}  // namespace

Result<Raised> raise(Context& context, const PartPrograms& programs, const Submit& submit,
                     const RaiseOptions& options) {
    HEARTH_ASSIGN(Life life, Life::create(context, programs, {.seed = options.seed}));
    ScriptedPlayer player(options.temper, options.seed);
    Raised raised;
    Visits first, last;
    bool was_over = true;
    for (int frame = 0; frame < options.seconds * kFramesPerSecond; ++frame) {
        HEARTH_TRY(play(context, submit, life, player.play(life.world())));
        const Doing& doing = life.world().doing();
        const bool has_ended = doing.is_over && !std::exchange(was_over, doing.is_over);
        was_over = doing.is_over;
        if (!has_ended) continue;
        ++raised.decisions;
        if (!is_visit(doing.act)) continue;
        const int second = frame / kFramesPerSecond;
        if (second < 60) first.add(doing);
        if (second >= options.seconds - 60) last.add(doing);
    }
    raised.arrived_at_first = first.arrived(), raised.arrived_at_last = last.arrived();
    raised.deeds = life.deeds();
    HEARTH_ASSIGN(raised.brain, brain_of(context, submit, life));
    return raised;
}

}  // namespace hearth::ember
