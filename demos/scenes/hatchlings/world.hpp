// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing: hatchlings, the embers that feed them and the frost motes that chill them.  No
// Vulkan, no Hearth, no clock: fixed steps, and equal options and inputs give equal worlds.

#pragma once

#include <glm/vec2.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hearth::hatchlings {

constexpr int kFramesPerSecond = 60;
constexpr float kFrameSeconds = 1.0f / kFramesPerSecond;
constexpr int kFramesPerDecision = 4;  // 15 decisions a second, held in between
constexpr int kObservationWidth = 26;
constexpr int kActionWidth = 2;

/// What a hatchling senses, all within about [-1, 1]:
///
///     0..1    its velocity, by top speed
///     2..3    its place in the clearing, from the centre, by half of the clearing's size
///     4..9    the three nearest embers, nearest first: direction times closeness
///     10..24  the three nearest frost motes: direction times closeness, velocity relative to its
///             own by top speed, and how far they reach into its surroundings
///     25      1 while it is chilled
///
/// Closeness falls from 1 (touching) to 0 (out of sight); what does not exist is zeros.
using Observation = std::array<float, kObservationWidth>;

/// Sizes and speeds, in metres and seconds.
constexpr glm::vec2 kHalfSize = {14.0f, 8.0f};  // of the clearing
constexpr float kTopSpeed = 5.0f;
constexpr float kSight = 9.0f;
constexpr float kHatchlingRadius = 0.35f;
constexpr float kEmberRadius = 0.22f;
constexpr float kMoteRadius = 0.40f;

/// What the player and nature may change at any time.
struct Rules {
    float ember_reward = 1.0f;
    float frost_reward = -0.1f;
    uint32_t ember_count = 18;  ///< at most kMaxEmbers
    uint32_t mote_count = 8;    ///< at most kMaxMotes
    glm::vec2 wind = {0, 0};    ///< m/s^2, on everything
    /// Embers burn and frost feeds: both rewards change their signs.
    bool is_hot_night = false;

    bool operator==(const Rules&) const = default;
};
constexpr uint32_t kMaxEmbers = 64;
constexpr uint32_t kMaxMotes = 64;

struct Hatchling {
    glm::vec2 position = {0, 0};
    glm::vec2 velocity = {0, 0};
    glm::vec2 thrust = {0, 0};  ///< of the last decision, each within [-1, 1]
    float chilled_s = 0;        ///< it cannot thrust for so long
    float immune_s = 0;         ///< frost does nothing to it for so long
    float reward = 0;           ///< since take_reward()
    float glow = 0;             ///< 1 when it has just eaten, fading: for the picture
    uint32_t embers = 0;        ///< touched since the start
    uint32_t motes = 0;
};

struct Drifter {
    glm::vec2 position;
    glm::vec2 velocity;
    float age_s = 0;  ///< since it appeared
};

struct WorldOptions {
    uint64_t seed = 1;
    uint32_t hatchling_count = 16;
    Rules rules;
};

/// All that a world goes on from.
struct WorldState {
    uint64_t seed = 1;
    Rules rules;
    std::vector<Hatchling> hatchlings;
    std::vector<Drifter> embers, motes;
    uint64_t frame = 0;
    uint64_t draws = 0;  ///< random numbers drawn so far
    int64_t score = 0;
    uint64_t state_hash = 0;
};

/// Something that happened in the last step, for sounds and sparks.
struct Event {
    enum class Kind : uint8_t { kEmber, kFrost } kind;
    uint32_t hatchling;
    glm::vec2 position;
};

class World {
  public:
    explicit World(const WorldOptions& options);
    /// A world that goes on from where another one was.
    static World resume(WorldState state) {
        World world(WorldOptions{});
        world.state_ = std::move(state);
        return world;
    }
    const WorldState& state() const { return state_; }

    /// Frames stepped so far.
    uint64_t frame() const { return state_.frame; }
    /// True if hatchlings decide before the next step.
    bool is_decision_frame() const { return state_.frame % kFramesPerDecision == 0; }

    /// What hatchling `index` senses now.
    Observation observe(uint32_t index) const { return observe_as(state_.hatchlings[index]); }
    /// What one would sense that rests at `place`.
    Observation observe_at(glm::vec2 place) const { return observe_as({.position = place}); }
    /// Its thrust until the next call, brought into [-1, 1]; what is not a number is 0.
    void set_thrust(uint32_t index, glm::vec2 thrust);
    /// What it was rewarded with since the last call.
    float take_reward(uint32_t index);

    /// One frame.
    void step();

    const Rules& rules() const { return state_.rules; }
    /// Takes effect with the next step: what is too many fades, what is missing appears.
    void set_rules(const Rules& rules) { state_.rules = rules; }

    std::span<const Hatchling> hatchlings() const { return state_.hatchlings; }
    std::span<const Drifter> embers() const { return state_.embers; }
    std::span<const Drifter> motes() const { return state_.motes; }
    std::span<const Event> events() const { return events_; }
    /// Embers less motes, of all hatchlings since the start; the other way round in hot nights.
    int64_t score() const { return state_.score; }

    /// A hash of all positions and velocities since the start.
    uint64_t state_hash() const { return state_.state_hash; }

  private:
    float random_signed() { return random_signed_at(state_.draws++); }
    float random_signed_at(uint64_t counter) const;
    glm::vec2 random_place();
    Observation observe_as(const Hatchling& hatchling) const;
    Drifter appear(float speed);
    void drift(std::vector<Drifter>& drifters, uint32_t count, float speed);
    void move(Hatchling& hatchling) const;
    void part_hatchlings();
    void touch();

    WorldState state_;
    std::vector<Event> events_;
};

}  // namespace hearth::hatchlings
