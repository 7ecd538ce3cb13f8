// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Asks a brain what it would do, expect and say in situations that are made up. The brain does not
// notice: it is copied into agents of its own, which learn nothing.

#pragma once

#include "mind.hpp"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace hearth::ember {

/// A brain's answers.
struct Findings {
    /// Expected feeling of the next seconds, on average of many moments: -1 to 1.
    float calm = 0;
    /// Its differences: close to each thing minus far from it, with the hand close by minus
    /// without, at night minus by day, and so on.
    std::array<float, kThingCount> hopes{};
    float hope_of_hand = 0, hope_of_night = 0, hope_of_hunger = 0;
    std::array<float, kPlaceCount> hope_of_place{};

    /// Fraction of all pairs and moments in which it goes for this thing rather than the other.
    std::array<float, kThingCount> choices{};
    /// In how many moments it comes to the hand, and runs from it.
    float comes = 0, flees = 0;
    /// In how many it sings and spins at each sign (none, high, round).
    std::array<float, 3> sings{}, spins{};
    /// In how many it rests when it is tired, eats berries when it is hungry, seeks a lantern when
    /// it is cold.
    float rests = 0, eats = 0, warms = 0;

    /// Pictures of each thing that it calls by the right word, and of other things that it calls by
    /// it: 0 to 1.
    std::array<float, kThingCount> words{}, wrong_words{};

    /// Seconds from a place to one 5 m away, on average; 10 if it does not get there.
    float walk_seconds = 10;
};

/// Runs a recording on the device of the programs, and waits for it.
using Submit = std::function<Status(const std::function<Status(VkCommandBuffer)>& record)>;

class Probe {
  public:
    /// context, programs and submit must outlive it.
    static Result<Probe> create(Context& context, const PartPrograms& programs, Submit submit);

    /// Asks one brain. Deterministic.
    Result<Findings> ask(const BrainFiles& brain);

  private:
    using Change = std::function<Senses(const Senses&)>;

    Status frame();
    Result<float> hope(const Change& changed, const Change& plain);
    Result<float> share(Act act, const Change& changed);
    Result<float> expectation(const Senses& senses);
    Result<Act> decision(const Senses& senses, const ActMask& possible);
    Result<std::optional<Thing>> word(const Gaze& gaze);
    Status ask_heart(Findings& findings);
    Status ask_will(Findings& findings);
    Status ask_about_hand(Findings& findings);
    Status ask_eyes(Findings& findings);
    Status ask_legs(Findings& findings);

    Context* context_ = nullptr;
    Submit submit_;
    Mind mind_;
    uint64_t serial_ = 0;
};

}  // namespace hearth::ember
