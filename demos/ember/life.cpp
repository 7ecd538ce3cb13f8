// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "life.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::ember {
namespace {

constexpr uint64_t kFramesPerStride = 4, kFramesPerExpectation = 12, kFramesPerLook = 30;
/// The heart expects what it feels within so many seconds, sooner feelings more.
constexpr float kHorizonSeconds = 4, kHalfLifeSeconds = 1.5f;
constexpr int kGlances = 4;            ///< at what is named, and as many at nothing
constexpr float kShownFeeling = 0.6f;  ///< of an act that a person showed
/// Fraction of random decisions: a newborn tries everything.
constexpr float kFirstCuriosity = 0.6f, kLastCuriosity = 0.15f, kCuriousSeconds = 240;

}  // namespace

Result<Life> Life::create(const Context& context, const PartPrograms& programs,
                          const LifeOptions& options) {
    Life life(options);
    HEARTH_ASSIGN(life.mind_, Mind::create(context, programs,
                                           {.seed = options.seed,
                                            .frames_in_flight = options.frames_in_flight}));
    life.eye_dice_.seed = options.seed + 7;
    return life;
}

Result<Life> Life::resume(const Context& context, const PartPrograms& programs, LifeOptions options,
                          const Kept& kept) {
    options.seed = kept.seed;
    HEARTH_ASSIGN(Life life, create(context, programs, options));
    life.world_ = World(kept.world);
    for (size_t i = 0; i < kPartCount; ++i)
        HEARTH_TRY(
            life.mind_.load(static_cast<Part>(i), kept.brain[i]).with_context(kPartNames[i]));
    return life;
}

Result<Kept> Life::keep(std::string name) const {
    Kept kept{.name = std::move(name), .seed = options_.seed, .world = world_.state(), .brain = {}};
    for (size_t i = 0; i < kPartCount; ++i) {
        HEARTH_ASSIGN(kept.brain[i], mind_.save(static_cast<Part>(i)));
    }
    return kept;
}

Status Life::record(VkCommandBuffer commands, const Gesture& gesture) {
    mind_.poll();
    HEARTH_TRY(feel());
    HEARTH_TRY(obey(gesture));
    HEARTH_TRY(decide());
    HEARTH_TRY(walk(gesture));
    HEARTH_TRY(expect());
    HEARTH_TRY(look());
    if (world_.frame() % kFramesPerSecond == 0) HEARTH_TRY(mind_.take_snapshots());
    return mind_.record(commands, options_.budget_us);
}

void Life::step() {
    world_.step(steps_, is_led_);
}

/// Feelings judge the last decision, and become memories.
Status Life::feel() {
    const float frames = kHalfLifeSeconds * kFramesPerSecond;
    for (const Feeling& feeling : world_.take_feelings()) {
        HEARTH_TRY(mind_.judge(feeling.amount));
        if (feeling.cause == Feeling::Cause::kEffort) continue;
        for (Memory& memory : memories_)
            memory.felt += feeling.amount *
                           std::exp2(-static_cast<float>(world_.frame() - memory.frame) / frames);
    }
    return {};
}

Status Life::obey(const Gesture& gesture) {
    world_.set_hand(gesture.hand);
    if (gesture.voice != 0) world_.hear(std::clamp(gesture.voice, -1.0f, 1.0f));
    if (gesture.points_at) lesson_ = Lesson{*gesture.points_at, gesture.word, 0};
    HEARTH_TRY(hear_name(gesture));
    if (gesture.shows) return be_shown(*gesture.shows);
    return {};
}

/// Looks a few times at what is named, and as often past it.
Status Life::hear_name(const Gesture&) {
    if (!lesson_) return {};
    Lesson& lesson = *lesson_;
    const bool at_thing = lesson.glances % 2 == 0;
    HEARTH_TRY(at_thing ? mind_.name(glance(lesson.item), lesson.word)
                        : mind_.name(glance(std::nullopt), std::nullopt));
    if (++lesson.glances >= 2 * kGlances) lesson_.reset();
    return {};
}

Gaze Life::glance(std::optional<uint32_t> item) {
    GazeOptions options{.daylight = world_.daylight()};
    options.place = World::place_at(world_.body().position);
    if (item) options.thing = world_.items()[*item].kind;
    return look_at(options, eye_dice_);
}

/// It did what it was shown: the only choice, and it felt right.
Status Life::be_shown(uint32_t item) {
    const Act act = visit(world_.items()[item].kind);
    ActMask only{};
    only[static_cast<size_t>(act)] = true;
    HEARTH_TRY(mind_.ask_will(world_.senses(), only, 0));
    world_.finish_led(act, item);
    world_.hear(kShownFeeling);
    return {};
}

Status Life::decide() {
    if (const auto act = mind_.take_decision(); act && is_asking_) {
        is_asking_ = false;
        if (!is_led_) world_.begin(*act);
        return {};
    }
    if (is_led_ || is_asking_ || !world_.is_waiting()) return {};
    is_asking_ = true;
    const auto age = static_cast<float>(world_.seconds());
    const float curiosity =
        kLastCuriosity + (kFirstCuriosity - kLastCuriosity) * std::exp(-age / kCuriousSeconds);
    return mind_.ask_will(world_.senses(), world_.possible(), curiosity);
}

/// Distance that it has come nearer, relative to what it could.
float Life::progress() {
    const float distance = glm::distance(*world_.target(), world_.body().position);
    const float nearer = last_distance_ - distance;
    last_distance_ = distance;
    return nearer / (kTopSpeed * kFramesPerStride * kFrameSeconds);
}

Status Life::walk(const Gesture& gesture) {
    const bool was_led = std::exchange(is_led_, gesture.leads.has_value());
    if (is_led_) {
        if (!was_led) world_.interrupt();
        is_asking_ = is_walking_ = false;
        steps_ = *gesture.leads;
        if (world_.frame() % kFramesPerStride != 0 || !gesture.leads_to) return {};
        return mind_.show_steps(stride_of(world_.body(), *gesture.leads_to), steps_);
    }
    const auto target = world_.target();
    if (!target) {
        if (std::exchange(is_walking_, false))
            return mind_.end_walk(stride_of(world_.body(), world_.body().position),
                                  world_.doing().succeeded ? 1.0f : 0.0f, world_.doing().succeeded);
        return {};
    }
    steps_ = mind_.steps();
    if (!std::exchange(is_walking_, true))
        last_distance_ = glm::distance(*target, world_.body().position);
    if (world_.frame() % kFramesPerStride != 0) return {};
    return mind_.ask_legs(world_.stride(), progress());
}

Status Life::expect() {
    if (world_.frame() % kFramesPerExpectation == 0) HEARTH_TRY(mind_.ask_heart(world_.senses()));
    if (world_.frame() % kFramesPerLook == 0)
        memories_.push_back({world_.senses(), world_.frame(), 0});
    const auto horizon = static_cast<uint64_t>(kHorizonSeconds * kFramesPerSecond);
    if (memories_.empty() || world_.frame() < memories_.front().frame + horizon) return {};
    const Memory memory = memories_.front();
    memories_.pop_front();
    return mind_.remember(memory.senses, memory.felt);
}

Status Life::look() {
    if (world_.frame() % kFramesPerLook != 0) return {};
    return mind_.ask_eyes(glance(world_.nearest_item(3.5f)));
}

}  // namespace hearth::ember
