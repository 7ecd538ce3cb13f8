// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "card.hpp"

#include "texts.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace hearth::ember {
namespace {

// Fractions of moments, and differences of expected feelings, from which on something is said.
constexpr float kOften = 0.25f, kMostly = 0.5f, kFelt = 0.25f;
/// A word is known if it is right so often, and seldom said of other things.
constexpr float kRightWord = 0.35f, kWrongWord = 0.2f;

using Names = std::array<std::string_view, kThingCount>;

/// The names whose flag is set, as in "berries, shells"; empty if there are none.
template <class Holds>
std::string list(const Names& names, Holds holds) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) {
        if (!holds(i)) continue;
        if (!text.empty()) text += ", ";
        text += names[i];
    }
    return text;
}

void say(std::vector<std::string>& card, bool holds, std::string_view sentence) {
    if (holds) card.emplace_back(sentence);
}

void say_list(std::vector<std::string>& card, std::string_view begins, const std::string& names) {
    if (!names.empty()) card.push_back(std::string(begins) + names + ".");
}

void speak_of_hand(const Findings& found, std::vector<std::string>& card) {
    const bool comes = found.comes >= kOften, flees = !comes && found.flees >= kOften;
    const bool is_glad = found.hope_of_hand >= kFelt, dreads = found.hope_of_hand <= -kFelt;
    say(card, comes, texts::kComes);
    say(card, flees, texts::kFlees);
    say(card, is_glad, texts::kWarmsToHand);
    say(card, dreads, texts::kDreadsHand);
    say(card, !comes && !flees && !is_glad && !dreads, texts::kIgnoresHand);
}

void speak_of_words(const Findings& found, std::vector<std::string>& card) {
    const std::string words = list(texts::kWords, [&](size_t i) {
        return found.words[i] >= kRightWord && found.wrong_words[i] <= kWrongWord;
    });
    if (words.empty()) return say(card, true, texts::kKnowsNoWord);
    say_list(card, texts::kKnowsWords, words);
}

/// A trick is done at its sign, and more often than without it.
void speak_of_tricks(const Findings& found, std::vector<std::string>& card) {
    const auto is_trick = [](std::span<const float> shares, Sign sign) {
        const float at_sign = shares[static_cast<size_t>(sign)];
        return at_sign >= kOften && at_sign >= shares[0] + kOften;
    };
    say(card, is_trick(found.sings, Sign::kHigh), texts::kSings);
    say(card, is_trick(found.spins, Sign::kRound), texts::kSpins);
}

void speak_of_things(const Findings& found, std::vector<std::string>& card) {
    const size_t best =
        static_cast<size_t>(std::ranges::max_element(found.choices) - found.choices.begin());
    say_list(card, texts::kLikes, std::string(texts::kThings[best]));
    say_list(card, texts::kLeaves,
             list(texts::kThings, [&](size_t i) { return found.choices[i] <= kOften; }));
    say_list(card, texts::kHopes,
             list(texts::kThings, [&](size_t i) { return found.hopes[i] >= kFelt; }));
    say_list(card, texts::kFears,
             list(texts::kThings, [&](size_t i) { return found.hopes[i] <= -kFelt; }));
}

void speak_of_life(const Findings& found, std::vector<std::string>& card) {
    say(card, found.eats >= kMostly, texts::kEats);
    say(card, found.warms >= kMostly, texts::kWarms);
    say(card, found.rests >= kMostly, texts::kRests);
    constexpr float kSure = 3.5f;  // seconds for 5 m; the fastest take 1.9
    say(card, true, found.walk_seconds <= kSure ? texts::kStrides : texts::kToddles);
}

}  // namespace

std::vector<std::string> card_of(const Findings& findings) {
    std::vector<std::string> card;
    speak_of_hand(findings, card);
    speak_of_words(findings, card);
    speak_of_tricks(findings, card);
    speak_of_things(findings, card);
    speak_of_life(findings, card);
    return card;
}

}  // namespace hearth::ember
