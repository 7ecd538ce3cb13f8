// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The clearing: hatchlings, embers that feed them and frost motes that chill them. It uses no
// Vulkan, no clock, and only Hearth's random numbers: fixed steps, and equal options and inputs
// give equal worlds. simulation.hpp is the same as tensor code. Rule changes must be made in both,
// so nothing here depends on the order of hatchlings, except where their indices break ties.

#pragma once

#include <hearth/core/philox.hpp>

#include <glm/vec2.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace hearth::hatchlings {

constexpr int kFramesPerSecond = 60;
constexpr float kFrameSeconds = 1.0f / kFramesPerSecond;
constexpr int kFramesPerDecision = 4;  // 15 decisions per second, held in between
constexpr int kObservationWidth = 27;
constexpr int kActionWidth = 2;

/// A hatchling's observation, all within about [-1, 1]:
///
///     0..1    its velocity, relative to top speed
///     2..3    its position relative to the centre, divided by half of the clearing's size
///     4..9    the three nearest embers, nearest first: direction times closeness
///     10..24  the three nearest frost motes: direction times closeness, velocity relative to its
///             own divided by top speed, and how far they reach into its surroundings
///     25      1 while it is chilled
///     26      1 in a hot night
///
/// Closeness falls from 1 (touching) to 0 (out of sight). Missing embers and motes are zeros.
using Observation = std::array<float, kObservationWidth>;

/// Sizes and speeds, in metres and seconds.
constexpr glm::vec2 kHalfSize = {14.0f, 8.0f};  // of the clearing
constexpr float kTopSpeed = 5.0f;
constexpr float kSight = 9.0f;
constexpr float kHatchlingRadius = 0.35f;
constexpr float kEmberRadius = 0.22f;
constexpr float kMoteRadius = 0.40f;
constexpr float kThrust = 14.0f;              // m/s^2 at full thrust
constexpr float kDrag = kThrust / kTopSpeed;  // 1/s
constexpr float kEmberSpeed = 0.5f;
constexpr float kMoteSpeed = 1.3f;
constexpr float kTurn = 0.6f;  // maximum change of a drifter's speed per second, relative to it
constexpr float kDrifterEdge = 0.3f;
constexpr float kBounce = 0.4f;  // fraction of the speed kept after bouncing off the edge
constexpr float kChilledSeconds = 0.8f;
constexpr float kImmuneSeconds = 2.0f;
constexpr float kReach = 3.0f;     // of a mote's cold, for the observation
constexpr int kSeen = 3;           // embers, and motes
constexpr float kAppears = 0.95f;  // of half the size: area where drifters appear
constexpr float kHatches = 0.38f;  // of half the size: hatchlings, around the fire

/// Rules that the player or the environment may change at any time.
struct Rules {
    float ember_reward = 1.0f;
    float frost_reward = -0.1f;
    uint32_t ember_count = 18;  ///< at most kMaxEmbers
    uint32_t mote_count = 8;    ///< at most kMaxMotes
    glm::vec2 wind = {0, 0};    ///< m/s^2, on everything
    /// Embers burn and frost feeds: both rewards change sign.
    bool is_hot_night = false;

    bool operator==(const Rules&) const = default;
};
constexpr uint32_t kMaxEmbers = 64;
constexpr uint32_t kMaxMotes = 64;

/// Purposes of random numbers.
enum class Draw : uint8_t { kHatch, kEmberPlace, kEmberTurn, kMotePlace, kMoteTurn, kRules };

/// Random numbers of one moment of a world: pure functions of these members and the index. `rows`
/// worlds may share a stream, as they do on the device; this is world `row` of them.
struct Chance {
    uint64_t key = 0;
    uint32_t counter = 0;
    uint32_t row = 0, rows = 1;

    /// Key of the stream for one purpose.
    static uint64_t key_of(uint64_t key, Draw what) {
        return Hash().number(key).number(static_cast<uint32_t>(what)).value();
    }
    /// Random number `index` for this purpose: in [-1, 1), on a grid of 2^-23.
    float number(Draw what, uint32_t index) const {
        const uint32_t bits = philox_bits(key_of(key, what), counter, index * rows + row);
        return static_cast<float>(2 * uniform_from_bits(bits) - 1);
    }
    /// Random numbers `index` and `index` + 1.
    glm::vec2 pair(Draw what, uint32_t index) const {
        return {number(what, index), number(what, index + 1)};
    }
};

/// Random rules within the range of player settings: a hot night half the time, wind up to 3 m/s^2,
/// 4 to 24 motes that cost up to 0.5.
Rules varied_rules(const Chance& chance);
constexpr float kMostWind = 3.0f, kLeastPenalty = 0.025f, kMostPenalty = 0.5f;
constexpr uint32_t kFewestMotes = 4, kMostVariedMotes = 24;

struct Hatchling {
    glm::vec2 position = {0, 0};
    glm::vec2 velocity = {0, 0};
    glm::vec2 thrust = {0, 0};  ///< of the last decision, each within [-1, 1]
    float chilled_s = 0;        ///< remaining time without thrust
    float immune_s = 0;         ///< remaining time of immunity to frost
    float reward = 0;           ///< since take_reward()
    float glow = 0;             ///< 1 when it has just eaten, fading; for the picture
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

/// The complete state of a world.
struct WorldState {
    uint64_t seed = 1;
    Rules rules;
    std::vector<Hatchling> hatchlings;
    std::vector<Drifter> embers, motes;
    uint64_t frame = 0;
    int64_t score = 0;
    uint64_t state_hash = 0;
};

/// An event of the last step, for sounds and sparks.
struct Event {
    enum class Kind : uint8_t { kEmber, kFrost } kind;
    uint32_t hatchling;
    glm::vec2 position;
};

class World {
  public:
    explicit World(const WorldOptions& options);
    /// Creates a world with these random numbers; later steps use the seed unless given theirs.
    World(const WorldOptions& options, const Chance& chance);
    /// Continues from the state of another world.
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

    /// Returns the current observation of hatchling `index`.
    Observation observe(uint32_t index) const { return observe_as(state_.hatchlings[index]); }
    /// Returns the observation of a hatchling at rest at `place`.
    Observation observe_at(glm::vec2 place) const { return observe_as({.position = place}); }
    /// Sets its thrust until the next call, clamped to [-1, 1]; NaN becomes 0.
    void set_thrust(uint32_t index, glm::vec2 thrust);
    /// Returns its accumulated reward since the last call.
    float take_reward(uint32_t index);

    /// Advances by one frame.
    void step();
    /// Advances by one frame, with these random numbers.
    void step(const Chance& chance);

    const Rules& rules() const { return state_.rules; }
    /// Takes effect with the next step: surplus embers and motes fade, missing ones appear.
    void set_rules(const Rules& rules) { state_.rules = rules; }

    std::span<const Hatchling> hatchlings() const { return state_.hatchlings; }
    std::span<const Drifter> embers() const { return state_.embers; }
    std::span<const Drifter> motes() const { return state_.motes; }
    std::span<const Event> events() const { return events_; }
    /// Embers minus motes, of all hatchlings since the start; the reverse in hot nights.
    int64_t score() const { return state_.score; }

    /// A hash of all positions and velocities since the start.
    uint64_t state_hash() const { return state_.state_hash; }

  private:
    Observation observe_as(const Hatchling& hatchling) const;
    void drift(std::vector<Drifter>& drifters, uint32_t count, float speed, Draw turn, Draw place,
               const Chance& chance);
    void move(Hatchling& hatchling) const;
    void part_hatchlings();
    void touch(const Chance& chance);

    WorldState state_;
    std::vector<Event> events_;
    std::vector<glm::vec2> pushes_;  ///< scratch memory of part_hatchlings
};

}  // namespace hearth::hatchlings
