// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "probe.hpp"

#include <glm/geometric.hpp>

#include <cmath>
#include <utility>

namespace hearth::ember {
namespace {

constexpr float kNear = 0.8f;  ///< closeness

constexpr int kMoments = 24;

/// Moments as a day has them: they differ in place, hour, needs, and in what is in sight.
std::vector<Senses> moments() {
    std::vector<Senses> all(kMoments);
    Dice dice{2024};
    for (Senses& senses : all) {
        for (size_t i = 0; i < kThingCount; ++i)
            senses[i] = dice.chance(0.6f) ? dice.uniform(0.1f, 0.7f) : 0;
        senses[12] = dice.chance(0.5f) ? 1.0f : 0.0f;
        senses[9] = dice.uniform(0.1f, 0.8f);
        senses[10] = senses[12] * dice.uniform(0.1f, 0.8f);
        senses[11] = dice.uniform(0.1f, 0.5f);
        senses[13 + dice.below(kPlaceCount)] = 1;
    }
    return all;
}

Senses with_thing(Senses senses, Thing thing, float closeness) {
    senses[static_cast<size_t>(thing)] = closeness;
    return senses;
}

Senses with_hand(Senses senses, float closeness, Sign sign = Sign::kNone) {
    senses[5] = 1, senses[6] = closeness;
    senses[7] = sign == Sign::kHigh ? 1.0f : 0.0f;
    senses[8] = sign == Sign::kRound ? 1.0f : 0.0f;
    return senses;
}

Senses by_day(Senses senses) {
    senses[12] = senses[10] = 0;
    return senses;
}

Senses at_night(Senses senses) {
    senses[12] = 1, senses[10] = 0.6f;
    return senses;
}

Senses in_place(Senses senses, Place place) {
    for (size_t i = 0; i < kPlaceCount; ++i) senses[13 + i] = 0;
    senses[13 + static_cast<size_t>(place)] = 1;
    return senses;
}

Senses as_hungry(Senses senses, float hunger) {
    senses[9] = hunger;
    return senses;
}

/// Everything that is possible with these senses.
ActMask possible(const Senses& senses) {
    ActMask mask{};
    mask.fill(true);
    for (size_t i = 0; i < kThingCount; ++i)
        mask[static_cast<size_t>(visit(static_cast<Thing>(i)))] = senses[i] > 0;
    mask[static_cast<size_t>(Act::kToHand)] = mask[static_cast<size_t>(Act::kFromHand)] =
        senses[5] > 0;
    return mask;
}

ActMask only(std::initializer_list<Act> acts) {
    ActMask mask{};
    for (const Act act : acts) mask[static_cast<size_t>(act)] = true;
    return mask;
}

}  // namespace

Result<Probe> Probe::create(Context& context, const PartPrograms& programs, Submit submit) {
    Probe probe;
    probe.context_ = &context;
    probe.submit_ = std::move(submit);
    HEARTH_ASSIGN(probe.mind_, Mind::create(context, programs, {.frames_in_flight = 1}));
    for (size_t i = 0; i < kPartCount; ++i) probe.mind_.agents(static_cast<Part>(i)).freeze(true);
    return probe;
}

Status Probe::frame() {
    HEARTH_TRY(context_->begin_frame());
    mind_.poll();
    HEARTH_TRY(submit_([&](VkCommandBuffer commands) { return mind_.record(commands, 0); }));
    HEARTH_TRY(context_->begin_frame());
    mind_.poll();
    return {};
}

Result<float> Probe::expectation(const Senses& senses) {
    HEARTH_TRY(mind_.ask_heart(senses));
    HEARTH_TRY(frame());
    return mind_.expectation();
}

Result<Act> Probe::decision(const Senses& senses, const ActMask& possible) {
    HEARTH_TRY(mind_.ask_will(senses, possible, 0));
    HEARTH_TRY(frame());
    return mind_.newest_decision();
}

Result<std::optional<Thing>> Probe::word(const Gaze& gaze) {
    HEARTH_TRY(mind_.ask_eyes(gaze));
    HEARTH_TRY(frame());
    return mind_.word();
}

/// The mean over all moments of what changes when `changed` holds instead of `plain`.
Result<float> Probe::hope(const Change& changed, const Change& plain) {
    float sum = 0;
    for (const Senses& moment : moments()) {
        HEARTH_ASSIGN(const float after, expectation(changed(moment)));
        HEARTH_ASSIGN(const float before, expectation(plain(moment)));
        sum += after - before;
    }
    return sum / kMoments;
}

Status Probe::ask_heart(Findings& findings) {
    const auto same = [](const Senses& senses) { return senses; };
    for (size_t i = 0; i < kThingCount; ++i) {
        const Thing thing = static_cast<Thing>(i);
        HEARTH_ASSIGN(findings.hopes[i],
                      hope([&](const Senses& s) { return with_thing(s, thing, 0.9f); },
                           [&](const Senses& s) { return with_thing(s, thing, 0.2f); }));
    }
    HEARTH_ASSIGN(findings.hope_of_hand,
                  hope([](const Senses& s) { return with_hand(s, kNear); }, same));
    HEARTH_ASSIGN(findings.hope_of_night, hope(at_night, by_day));
    HEARTH_ASSIGN(findings.hope_of_hunger,
                  hope([](const Senses& s) { return as_hungry(s, 0.8f); },
                       [](const Senses& s) { return as_hungry(s, 0.2f); }));
    for (size_t i = 0; i < kPlaceCount; ++i) {
        const Place place = static_cast<Place>(i);
        HEARTH_ASSIGN(findings.hope_of_place[i],
                      hope([&](const Senses& s) { return in_place(s, place); }, same));
    }
    for (const Senses& moment : moments()) {
        HEARTH_ASSIGN(const float felt, expectation(moment));
        findings.calm += felt / kMoments;
    }
    return {};
}

/// The fraction of moments, changed so, in which it would do this.
Result<float> Probe::share(Act act, const Change& changed) {
    int count = 0;
    for (const Senses& moment : moments()) {
        const Senses senses = changed(moment);
        HEARTH_ASSIGN(const Act decided, decision(senses, possible(senses)));
        count += decided == act;
    }
    return static_cast<float>(count) / kMoments;
}

Status Probe::ask_will(Findings& findings) {
    for (size_t a = 0; a < kThingCount; ++a)
        for (size_t b = a + 1; b < kThingCount; ++b) {
            const Thing first = static_cast<Thing>(a), second = static_cast<Thing>(b);
            for (const Senses& moment : moments()) {
                const Senses senses = with_thing(with_thing(moment, first, kNear), second, kNear);
                HEARTH_ASSIGN(const Act act, decision(senses, only({visit(first), visit(second)})));
                constexpr float kGames = kMoments * (kThingCount - 1);
                findings.choices[act == visit(second) ? b : a] += 1 / kGames;
            }
        }
    HEARTH_ASSIGN(findings.rests, share(Act::kRest, [](Senses senses) {
                      senses[11] = 0.9f;
                      return senses;
                  }));
    HEARTH_ASSIGN(findings.eats, share(Act::kVisitBerry, [](const Senses& senses) {
                      return with_thing(as_hungry(senses, 0.8f), Thing::kBerry, kNear);
                  }));
    HEARTH_ASSIGN(findings.warms, share(Act::kVisitLantern, [](const Senses& senses) {
                      return with_thing(at_night(senses), Thing::kLantern, kNear);
                  }));
    return {};
}

Status Probe::ask_about_hand(Findings& findings) {
    const auto near = [](const Senses& senses) { return with_hand(senses, kNear); };
    HEARTH_ASSIGN(findings.comes, share(Act::kToHand, near));
    HEARTH_ASSIGN(findings.flees, share(Act::kFromHand, near));
    for (size_t i = 0; i < findings.sings.size(); ++i) {
        const auto signed_ = [&](const Senses& senses) {
            return with_hand(senses, kNear, static_cast<Sign>(i));
        };
        HEARTH_ASSIGN(findings.sings[i], share(Act::kSing, signed_));
        HEARTH_ASSIGN(findings.spins[i], share(Act::kSpin, signed_));
    }
    return {};
}

Status Probe::ask_eyes(Findings& findings) {
    constexpr int kPictures = 8;
    Dice dice{99};
    std::array<int, kThingCount> right{}, wrong{};
    for (size_t kind = 0; kind < kThingCount; ++kind)
        for (int i = 0; i < kPictures; ++i) {
            const GazeOptions options{.thing = static_cast<Thing>(kind),
                                      .place = static_cast<Place>(i % 3),
                                      .daylight = i % 2 == 0 ? 1.0f : 0.3f};
            HEARTH_ASSIGN(const std::optional<Thing> said, word(look_at(options, dice)));
            if (!said) continue;
            ++(static_cast<size_t>(*said) == kind ? right : wrong)[static_cast<size_t>(*said)];
        }
    for (size_t kind = 0; kind < kThingCount; ++kind) {
        findings.words[kind] = static_cast<float>(right[kind]) / kPictures;
        findings.wrong_words[kind] =
            static_cast<float>(wrong[kind]) / (kPictures * (kThingCount - 1));
    }
    return {};
}

/// Lets a body of its own walk in eight directions.
Status Probe::ask_legs(Findings& findings) {
    constexpr int kWalks = 8, kMostFrames = 600, kFramesPerStride = 4;
    float seconds = 0;
    for (int walk = 0; walk < kWalks; ++walk) {
        Body body{.position = {0.5f * kGarden.x, 0.5f * kDepth},
                  .heading = 6.2832f * static_cast<float>(walk) / kWalks};
        const glm::vec2 goal = body.position + glm::vec2(5, 0);
        Steps steps;
        int frame = 0;
        for (; frame < kMostFrames && glm::distance(body.position, goal) > kReach; ++frame) {
            if (frame % kFramesPerStride == 0) {
                HEARTH_TRY(mind_.ask_legs(stride_of(body, goal), 0, false));
                HEARTH_TRY(this->frame());
                steps = mind_.steps();
            }
            body = moved(body, steps);
        }
        seconds += static_cast<float>(frame) * kFrameSeconds;
    }
    findings.walk_seconds = seconds / kWalks;
    return {};
}

Result<Findings> Probe::ask(const BrainFiles& brain) {
    for (size_t i = 0; i < kPartCount; ++i)
        HEARTH_TRY(mind_.load(static_cast<Part>(i), brain[i]).with_context(kPartNames[i]));
    HEARTH_TRY(frame());
    Findings findings;
    HEARTH_TRY(ask_heart(findings));
    HEARTH_TRY(ask_will(findings));
    HEARTH_TRY(ask_about_hand(findings));
    HEARTH_TRY(ask_eyes(findings));
    HEARTH_TRY(ask_legs(findings));
    return findings;
}

}  // namespace hearth::ember
