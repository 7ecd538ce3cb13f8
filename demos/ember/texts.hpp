// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// All words that a player reads.

#pragma once

#include "deeds.hpp"
#include "ember/things.hpp"

#include <array>
#include <string_view>

namespace hearth::ember::texts {

constexpr std::array<std::string_view, kThingCount> kThings = {"berries", "mushrooms", "shells",
                                                               "lanterns", "thistles"};
constexpr std::array<std::string_view, kThingCount> kWords = {"berry", "mushroom", "shell",
                                                              "lantern", "thistle"};
constexpr std::array<std::string_view, kPlaceCount> kPlaces = {"the meadow", "the wood",
                                                               "the shore"};

// --- The game ---
constexpr std::string_view kTitle = "Ember";
constexpr std::string_view kHatched = "It has just hatched, and knows nothing. Say hello.";
constexpr std::string_view kFirstGoal =
    "First: take it by the hand (hold space) and lead it to a berry.";
constexpr std::string_view kSecondGoal = "Teach it a word: point at a thing, and press its number.";
constexpr std::string_view kThirdGoal =
    "Teach it a trick: a sign, and kind words when it does well.";
constexpr std::string_view kPaused = "Paused";
constexpr std::string_view kKeys =
    "+ kind word    - stern word    space lead    1 berry  2 mushroom  3 shell  4 lantern  "
    "5 thistle    Q hand high    E ring    P pause";

// --- Goals, in the order of Goal and Horizon ---
constexpr std::array<std::string_view, kGoalCount> kGoals = {
    "It walks to three things by itself",
    "It has its first meal",
    "A friend: it comes to your hand",
    "It says three words at the right things",
    "It does a trick at your sign, five times",
    "It looks after itself: eight meals, and a light in a cold night",
    "A free spirit: it keeps out of reach of your hand",
    "It knows all five words",
    "It knows two tricks by heart",
    "It has lived through thirty nights",
    "You have been here on seven days"};
constexpr std::array<std::string_view, 3> kHorizons = {"At first", "Later: one of these",
                                                       "In a week"};

// --- Sleep: hours, then a list ---
constexpr std::string_view kSlept = "It slept for {} hours";
constexpr std::string_view kDreamt = ", and dreamt of ";
constexpr std::string_view kDreamOfHand = "your hand", kDreamOfWords = "words";

constexpr std::string_view kKept = "kept";
constexpr std::string_view kNotKept = "could not be kept; trying again";

// --- The card: each sentence is about what the brain does ---
constexpr std::string_view kComes = "Comes running when a hand is near.";
constexpr std::string_view kWarmsToHand = "Brightens at the sight of a hand.";
constexpr std::string_view kFlees = "Runs from a hand.";
constexpr std::string_view kDreadsHand = "Shrinks when a hand is near.";
constexpr std::string_view kIgnoresHand = "A hand is nothing to it: it goes about its own day.";
constexpr std::string_view kKnowsNoWord = "Knows no words.";
constexpr std::string_view kKnowsWords = "Knows the words: ";
constexpr std::string_view kSings = "Sings when a hand is held high.";
constexpr std::string_view kSpins = "Spins when a hand draws a ring.";
constexpr std::string_view kLikes = "Likes best: ";
constexpr std::string_view kLeaves = "Leaves alone: ";
constexpr std::string_view kHopes = "Is glad near: ";
constexpr std::string_view kFears = "Is uneasy near: ";
constexpr std::string_view kEats = "Finds its own supper.";
constexpr std::string_view kWarms = "Seeks a light when it is cold.";
constexpr std::string_view kRests = "Lies down when it is tired.";
constexpr std::string_view kStrides = "Walks straight to where it wants to be.";
constexpr std::string_view kToddles = "Still toddles.";

}  // namespace hearth::ember::texts
