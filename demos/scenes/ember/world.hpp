// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The garden and the creature's body: three places in a row, day and night, things that feed, warm
// or prick, needs that grow, and the player's hand. No brain, no clock, no Hearth: fixed steps, and
// equal seeds and inputs give equal worlds.

#pragma once

#include "ember/dice.hpp"
#include "ember/things.hpp"

#include <glm/vec2.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace hearth::ember {

/// Sizes in metres. x runs from west to east, y from the front to the back.
constexpr float kPlaceWidth = 14.0f, kDepth = 7.0f;
constexpr glm::vec2 kGarden = {kPlaceWidth * kPlaceCount, kDepth};
constexpr float kSight = 8.0f;
constexpr float kReach = 0.7f;  ///< distance at which a thing or the hand is touched
constexpr float kTopSpeed = 2.8f, kTopTurn = 3.5f;
constexpr float kDaySeconds = 240.0f;  ///< the second half is night

/// Fractions from 0 (none) to 1.
struct Needs {
    float hunger = 0.3f, cold = 0.0f, fatigue = 0.1f;
};

struct Body {
    glm::vec2 position = {0, 0};
    float heading = 0;  ///< radians, from east to the back
    float speed = 0, turning = 0;
};

/// A thing at its place. Eaten ones grow again elsewhere in their place.
struct Item {
    Thing kind = Thing::kBerry;
    Place place = Place::kMeadow;
    glm::vec2 position = {0, 0};
    float grown = 1;  ///< of use from 1 on
    bool is_ripe() const { return grown >= 1; }
};

/// The player, as the creature sees it.
struct Hand {
    bool is_here = false;
    glm::vec2 position = {0, 0};
    Sign sign = Sign::kNone;
};

/// Something that the creature felt, from -1 to 1.
struct Feeling {
    enum class Cause : uint8_t { kThing, kRest, kVoice, kTrick, kEffort } cause;
    float amount = 0;
};

/// The body's half of a decision: legs that turn and push, each from -1 to 1. A push of -1 stands
/// still.
struct Steps {
    float turn = 0, push = -1;
};

/// The act in progress, or the last one.
struct Doing {
    Act act = Act::kRest;
    bool is_over = true;  ///< it looks up, and waits for a decision
    float seconds = 0;    ///< since it began, or since it was over
    glm::vec2 target = {0, 0};
    uint32_t item = 0;       ///< of a visit
    bool succeeded = false;  ///< valid when over
};

/// Everything that is saved.
struct WorldState {
    Dice dice;
    uint64_t frame = 0;
    Body body;
    Needs needs;
    Doing doing;
    std::vector<Item> items;
};

/// The senses of the will and the heart, all within about [-1, 1]:
///
///     0..4    closeness of the nearest ripe thing of each kind: 1 touching, 0 out of sight
///     5..6    the hand is here; its closeness
///     7..8    one-hot: the sign high, the sign round
///     9..11   hunger, cold, fatigue
///     12      1 at night
///     13..15  one-hot: the place
constexpr size_t kSenseCount = 16;
using Senses = std::array<float, kSenseCount>;

/// The senses of the legs: cosine and sine of the angle to the target, its distance (1 from 4 m
/// on), speed and turning relative to the top.
constexpr size_t kStrideCount = 5;
using Stride = std::array<float, kStrideCount>;

class World {
  public:
    explicit World(uint64_t seed);
    /// Continues a saved world.
    explicit World(WorldState state) : state_(std::move(state)) {}
    const WorldState& state() const { return state_; }

    uint64_t frame() const { return state_.frame; }
    double seconds() const { return static_cast<double>(state_.frame) * double{kFrameSeconds}; }
    /// Time of the day, from 0 (dawn) over 0.5 (dusk) to 1.
    float day_time() const;
    bool is_night() const { return day_time() >= 0.5f; }
    /// From 0 (deep night) to 1 (noon), without jumps.
    float daylight() const;
    static Place place_at(glm::vec2 position);

    const Body& body() const { return state_.body; }
    const Needs& needs() const { return state_.needs; }
    const Doing& doing() const { return state_.doing; }
    std::span<const Item> items() const { return state_.items; }
    const Hand& hand() const { return hand_; }
    /// Index of the nearest ripe item of a kind within sight.
    std::optional<uint32_t> nearest(Thing kind) const;
    /// Index of the nearest ripe item of any kind within `distance`.
    std::optional<uint32_t> nearest_item(float distance) const;

    Senses senses() const;
    /// Senses of the legs; the target must exist.
    Stride stride() const;
    /// Acts that are possible now.
    ActMask possible() const;
    /// True if it has finished what it did and looked up long enough.
    bool is_waiting() const;
    /// The goal of its walk; none while it stays.
    std::optional<glm::vec2> target() const;

    /// Begins an act; one that is not possible becomes rest.
    void begin(Act act);
    /// Ends the act: someone takes it by the hand.
    void interrupt() { state_.doing.is_over = true, state_.doing.seconds = 0; }
    /// Ends the act as done: someone led it there.
    void finish_led(Act act, uint32_t item);
    void set_hand(const Hand& hand) { hand_ = hand; }
    /// The voice of the player: from -1 to 1.
    void hear(float voice);
    /// It has slept for so many hours: it is rested and warm, and hungrier.
    void sleep(double hours);
    /// Advances by one frame. Legs move the body only where it has a target, or is led.
    void step(const Steps& steps, bool is_led = false);

    /// Returns the feelings since the last call.
    std::vector<Feeling> take_feelings() { return std::exchange(feelings_, {}); }

  private:
    void move(const Steps& steps);
    void live();
    void grow();
    void carry_on();
    void end(bool succeeded);
    void feel(Feeling::Cause cause, float amount);
    void use(Item& item);
    glm::vec2 somewhere();

    WorldState state_;
    Hand hand_;
    std::vector<Feeling> feelings_;
};

/// The body's movement in one frame: pure, for practice in tests and on cards.
Body moved(Body body, const Steps& steps);
/// Senses of legs that go to `target`.
Stride stride_of(const Body& body, glm::vec2 target);

}  // namespace hearth::ember
