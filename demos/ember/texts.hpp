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

// --- Screens ---
constexpr std::string_view kSubtitle = "A creature of your own. It learns from you.";
constexpr std::string_view kContinue = "Go on with ";
constexpr std::string_view kNew = "A new one";
constexpr std::string_view kOthers = "Who else lives here";
constexpr std::string_view kUnreadable = "cannot be woken: ";
constexpr std::string_view kDrop = "Somebody sent you a card? Drop the picture onto this window.";
constexpr std::string_view kSettings = "Settings";
constexpr std::string_view kQuit = "Good night";
constexpr std::string_view kBack = "Back";
constexpr std::string_view kResume = "Go on";
constexpr std::string_view kToStart = "To the garden gate";
constexpr std::string_view kNameIt = "What is its name?";
constexpr std::string_view kNameRule = "Letters, digits, spaces and hyphens; then Enter.";
constexpr std::string_view kHatch = "Hatch";
constexpr std::string_view kSurprise = "Another name";
constexpr std::array<std::string_view, 10> kNames = {"Ember", "Cinder", "Ash",   "Spark",  "Sol",
                                                     "Amber", "Tinder", "Flare", "Maroni", "Glim"};
constexpr std::string_view kHatching = "Something stirs in the warm sand ...";
constexpr std::string_view kAge = "{} min old";
constexpr std::string_view kAgeHours = "{:.1f} h old";
constexpr std::string_view kAsleep = "asleep, dreaming of yesterday";
constexpr std::string_view kMenuKeys =
    "Escape: menu    C: card    G: goals    U: under the hood    "
    "F9: clip    F12: picture";
constexpr std::string_view kGoalsTitle = "What there is to see";
constexpr std::string_view kReached = "Reached: ";

// --- Settings ---
constexpr std::string_view kVolume = "Volume";
constexpr std::string_view kTextSize = "Size of text";
constexpr std::string_view kDistinct = "Colours that are easier to tell apart";
constexpr std::string_view kFullScreen = "Whole screen";
constexpr std::string_view kEagerness = "How fast it learns";
constexpr std::array<std::string_view, 3> kEagernesses = {"gently", "steadily", "eagerly"};
constexpr std::array<std::string_view, 3> kEagernessHelp = {
    "For old machines: it takes its time.", "As much as a calm picture allows.",
    "As fast as it can; the picture may falter."};

// --- The card in the window ---
constexpr std::string_view kCardOf = "This is who it has become";
constexpr std::string_view kAsking = "Let us have a look at you ...";
constexpr std::string_view kExport = "Make a picture to send";
constexpr std::string_view kExported = "The card is in ";
constexpr std::string_view kCardFoot =
    "Ember: drop this picture onto the game, and I wake up there.";
constexpr std::string_view kArrived = " has moved in";
constexpr std::string_view kNoCard = "Nobody is in that picture: ";

// --- Sound and clips ---
constexpr std::string_view kNoSound = "no sound, so the garden is silent";
constexpr std::string_view kClip = "The last ten seconds are in ";

/// Under the hood: the only place where machine learning is called by its name.
namespace hood {

constexpr std::string_view kTitle = "Under the hood";
constexpr std::array<std::string_view, 4> kParts = {"Legs", "Will", "Heart", "Eyes"};
constexpr std::array<std::string_view, 4> kLearners = {
    "PPO with demonstrations: two layers of 32", "TAMER, learns from judgements: two layers of 48",
    "regression of feelings: two layers of 32", "classifier: three convolutions, 32 x 32 pixels"};
constexpr std::string_view kDoes = "answers";
constexpr std::string_view kCosts = "costs";
constexpr std::string_view kSamples = "{} samples, {} gradient steps";
constexpr std::string_view kTimes = "a decision {:.0f} us, a minibatch {:.0f} us";
constexpr std::string_view kBudget = "learning budget of a frame: {:.0f} us, shared by turns";
constexpr std::string_view kNoBudget = "learning budget of a frame: none";
constexpr std::string_view kLoss = "loss {:.3f}";
constexpr std::array<std::string_view, 5> kStride = {"cos", "sin", "far", "speed", "turn"};
constexpr std::array<std::string_view, 16> kSenses = {
    "berry", "mush.",  "shell", "lant.", "thist.", "hand",  "near", "high",
    "ring",  "hungry", "cold",  "tired", "night",  "mead.", "wood", "shore"};
constexpr std::array<std::string_view, 11> kActs = {
    "rest",    "wander",      "berry",         "mushroom", "shell", "lantern",
    "thistle", "to the hand", "from the hand", "sing",     "spin"};
constexpr std::string_view kSteps = "turn {:+.2f}, push {:+.2f}";
constexpr std::string_view kFeeling = "the next seconds will feel {:+.2f}";
constexpr std::string_view kNoWord = "no word";

}  // namespace hood

}  // namespace hearth::ember::texts
