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
/// Feelings that are remembered for days; of the others one in kFewMoments.
constexpr float kMemorable = 0.15f;
constexpr uint64_t kFewMoments = 16;
/// Frames of learning for each hour of sleep, and at most.
constexpr double kLessonsPerHour = 60;
constexpr uint32_t kMostLessons = 300;
constexpr double kSecondsPerHour = 3600;
constexpr int64_t kSecondsPerDay = 86'400;

ActMask only(Act act) {
    ActMask mask{};
    mask[static_cast<size_t>(act)] = true;
    return mask;
}

bool wakes(const Gesture& gesture) {
    return gesture.voice != 0 || gesture.leads || gesture.points_at;
}

}  // namespace

Result<Life> Life::create(const Context& context, const PartPrograms& programs,
                          const LifeOptions& options) {
    Life life(options);
    HEARTH_ASSIGN(life.mind_, Mind::create(context, programs,
                                           {.seed = options.seed,
                                            .frames_in_flight = options.frames_in_flight}));
    life.eye_dice_.seed = options.seed + 7;
    life.memory_dice_.seed = options.seed + 11;
    life.tell_time(options.seconds);
    return life;
}

Result<Life> Life::resume(const Context& context, const PartPrograms& programs, LifeOptions options,
                          const Kept& kept) {
    options.seed = kept.seed;
    HEARTH_ASSIGN(Life life, create(context, programs, options));
    life.world_ = World(kept.world);
    life.was_over_ = kept.world.doing.is_over;
    life.deeds_ = kept.deeds;
    life.tell_time(options.seconds);
    life.memories_ = kept.memories;
    life.memory_dice_.counter = kept.world.frame;
    for (size_t i = 0; i < kPartCount; ++i)
        HEARTH_TRY(
            life.mind_.load(static_cast<Part>(i), kept.brain[i]).with_context(kPartNames[i]));
    if (kept.seconds > 0 && options.seconds > 0)
        life.fall_asleep(
            (static_cast<double>(options.seconds) - static_cast<double>(kept.seconds)) /
            kSecondsPerHour);
    return life;
}

void Life::tell_time(int64_t seconds) {
    seconds_ = seconds;
    if (seconds > 0) deeds_.note_day(seconds / kSecondsPerDay);
}

Result<Kept> Life::keep(std::string name) const {
    Kept kept{.name = std::move(name),
              .seed = options_.seed,
              .world = world_.state(),
              .brain = {},
              .seconds = seconds_,
              .deeds = deeds_,
              .memories = memories_};
    for (size_t i = 0; i < kPartCount; ++i) {
        HEARTH_ASSIGN(kept.brain[i], mind_.save(static_cast<Part>(i)));
    }
    return kept;
}

Status Life::record(VkCommandBuffer commands, const Gesture& gesture) {
    mind_.poll();
    if (wakes(gesture)) sleep_.lessons = sleep_.lessons_done;
    if (!sleep_.is_over()) {
        HEARTH_TRY(dream());
        return mind_.record(commands, options_.budget_us);
    }
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
    if (!sleep_.is_over()) return;
    const Needs before = world_.needs();
    world_.step(steps_, is_led_);
    note_deeds(before);
}

void Life::note_deeds(const Needs& before) {
    const bool is_over = world_.doing().is_over;
    if (is_over && !was_over_ && !is_led_) deeds_.note_act(world_, before);
    was_over_ = is_over;
    if (world_.frame() % kFramesPerSecond != 0) return;
    deeds_.note_night(world_);
    deeds_.note_goals();
}

// --- Sleep ---------------------------------------------------------------------------------------

void Life::fall_asleep(double hours) {
    if (hours <= 0) return;  // also if the clock was set back
    sleep_.hours = hours;
    world_.sleep(hours);
    if (memories_.is_empty()) return;
    sleep_.lessons = static_cast<uint32_t>(std::min(hours * kLessonsPerHour, double{kMostLessons}));
}

/// One memory of each kind, at random.
Status Life::dream() {
    ++sleep_.lessons_done;
    if (dreamt_act_) HEARTH_TRY(mind_.judge(dreamt_act_->felt));
    dreamt_act_.reset();
    const auto pick = [&](const auto& memories) {
        return memories[memory_dice_.below(memories.size())];
    };
    if (!memories_.moments.empty()) {
        const FeltMoment moment = pick(memories_.moments);
        HEARTH_TRY(mind_.remember(moment.senses, moment.felt));
    }
    if (!memories_.words.empty()) {
        const HeardWord heard = pick(memories_.words);
        const bool at_thing = sleep_.lessons_done % 2 == 0;
        GazeOptions view{.place = heard.place, .daylight = heard.daylight};
        if (at_thing) view.thing = heard.thing;
        HEARTH_TRY(mind_.name(look_at(view, eye_dice_),
                              at_thing ? std::optional(heard.word) : std::nullopt));
        sleep_.words += at_thing;
    }
    // The last frame only judges.
    if (memories_.acts.empty() || sleep_.is_over()) return {};
    dreamt_act_ = pick(memories_.acts);
    const Act act = dreamt_act_->act;
    if (is_visit(act)) ++sleep_.things[static_cast<size_t>(thing_of(act))];
    sleep_.hands += act == Act::kToHand || act == Act::kFromHand;
    return mind_.ask_will(dreamt_act_->senses, only(act), 0);
}

// --- Waking --------------------------------------------------------------------------------------

/// Feelings judge the last decision, and become memories.
Status Life::feel() {
    const float frames = kHalfLifeSeconds * kFramesPerSecond;
    for (const Feeling& feeling : world_.take_feelings()) {
        HEARTH_TRY(mind_.judge(feeling.amount));
        if (act_) act_->felt += feeling.amount;
        if (feeling.cause == Feeling::Cause::kEffort) continue;
        for (Moment& moment : moments_)
            moment.felt += feeling.amount *
                           std::exp2(-static_cast<float>(world_.frame() - moment.frame) / frames);
    }
    return {};
}

Status Life::obey(const Gesture& gesture) {
    world_.set_hand(gesture.hand);
    if (gesture.voice != 0) world_.hear(std::clamp(gesture.voice, -1.0f, 1.0f));
    if (gesture.points_at) {
        lesson_ = Lesson{*gesture.points_at, gesture.word, 0};
        const GazeOptions view = view_of(gesture.points_at);
        ember::remember(memories_.words, Memories::kMostWords,
                        {*view.thing, gesture.word, view.place, view.daylight}, memory_dice_);
    }
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

GazeOptions Life::view_of(std::optional<uint32_t> item) const {
    GazeOptions view{.place = World::place_at(world_.body().position),
                     .daylight = world_.daylight()};
    if (item) view.thing = world_.items()[*item].kind;
    return view;
}

Gaze Life::glance(std::optional<uint32_t> item) {
    return look_at(view_of(item), eye_dice_);
}

/// Another act begins: the last one becomes a memory.
void Life::begin_act(const Senses& senses, Act act) {
    if (act_ && std::abs(act_->felt) >= kMemorable) {
        act_->felt = std::clamp(act_->felt, -1.0f, 1.0f);
        ember::remember(memories_.acts, Memories::kMostActs, *act_, memory_dice_);
    }
    act_ = FeltAct{senses, act, 0};
}

/// It did what it was shown: the only choice, and it felt right.
Status Life::be_shown(uint32_t item) {
    const Thing thing = world_.items()[item].kind;
    const Act act = visit(thing);
    HEARTH_TRY(mind_.ask_will(world_.senses(), only(act), 0));
    begin_act(world_.senses(), act);
    if (thing == Thing::kBerry || thing == Thing::kMushroom) ++deeds_.fed;
    world_.finish_led(act, item);
    world_.hear(kShownFeeling);
    return {};
}

Status Life::decide() {
    if (const auto act = mind_.take_decision(); act && is_asking_) {
        is_asking_ = false;
        if (is_led_) return {};
        world_.begin(*act);
        begin_act(asked_, world_.doing().act);
        return {};
    }
    if (is_led_ || is_asking_ || !world_.is_waiting()) return {};
    is_asking_ = true;
    const auto age = static_cast<float>(world_.seconds());
    const float curiosity =
        kLastCuriosity + (kFirstCuriosity - kLastCuriosity) * std::exp(-age / kCuriousSeconds);
    asked_ = world_.senses();
    return mind_.ask_will(asked_, world_.possible(), curiosity);
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
        moments_.push_back({world_.senses(), world_.frame(), 0});
    const auto horizon = static_cast<uint64_t>(kHorizonSeconds * kFramesPerSecond);
    if (moments_.empty() || world_.frame() < moments_.front().frame + horizon) return {};
    const Moment moment = moments_.front();
    moments_.pop_front();
    const float felt = std::clamp(moment.felt, -1.0f, 1.0f);
    if (std::abs(felt) >= kMemorable || moment.frame / kFramesPerLook % kFewMoments == 0)
        ember::remember(memories_.moments, Memories::kMostMoments, {moment.senses, felt},
                        memory_dice_);
    return mind_.remember(moment.senses, felt);
}

Status Life::look() {
    if (world_.frame() % kFramesPerLook != 0) return {};
    if (looks_anew_) deeds_.note_word(view_of(looks_at_).thing, mind_.word());
    const auto item = world_.nearest_item(3.5f);
    looks_anew_ = item != looks_at_;
    looks_at_ = item;
    return mind_.ask_eyes(glance(item));
}

}  // namespace hearth::ember
