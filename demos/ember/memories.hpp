// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Memories of the days before: they are kept with a creature, and learned from again in its
// sleep, because the learners' own samples last only as long as the game runs.

#pragma once

#include "ember/world.hpp"

#include <cstddef>
#include <vector>

namespace hearth::ember {

/// Senses, and how the next seconds felt, -1 to 1: for the heart.
struct FeltMoment {
    Senses senses{};
    float felt = 0;
};

/// An act, and how it felt, -1 to 1: for the will.
struct FeltAct {
    Senses senses{};
    Act act = Act::kRest;
    float felt = 0;
};

/// A word that was said of a thing: for the eyes, which see the thing again.
struct HeardWord {
    Thing thing = Thing::kBerry, word = Thing::kBerry;
    Place place = Place::kMeadow;
    float daylight = 1;
};

/// Memories of each kind, up to kMost; a new one takes the place of any older one.
struct Memories {
    static constexpr size_t kMostMoments = 128, kMostActs = 96, kMostWords = 48;

    std::vector<FeltMoment> moments;
    std::vector<FeltAct> acts;
    std::vector<HeardWord> words;

    bool is_empty() const { return moments.empty() && acts.empty() && words.empty(); }
};

/// Adds a memory; once there are `most`, it replaces one at random: some of long ago remain.
template <class Memory>
void remember(std::vector<Memory>& memories, size_t most, const Memory& memory, Dice& dice) {
    if (memories.size() < most)
        memories.push_back(memory);
    else
        memories[dice.below(most)] = memory;
}

}  // namespace hearth::ember
