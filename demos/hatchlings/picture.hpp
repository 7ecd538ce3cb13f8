// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the clearing at night, lit by a fire. Animation depends only on the world and the frame
// number, so pictures are reproducible. Whatever there may be many of is drawn instanced, in one
// draw call for each kind.

#pragma once

#include "hatchlings/world.hpp"
#include "host/renderer.hpp"
#include "insight.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <span>

namespace hearth::hatchlings {

constexpr demo::Color kNight = demo::Color::hex(0x0a1012);
constexpr demo::Color kWarm = demo::Color::hex(0xffb454);
constexpr demo::Color kCold = demo::Color::hex(0x8fd3ff);

/// Draws the ground, the trees and the hearth's stones; static.
void draw_clearing(demo::Canvas& canvas);

/// Particles for events and the player's feedback, which rise and fade.
class Sparks {
  public:
    static constexpr uint64_t kFrames = 50;  ///< lifetime
    enum class Kind : uint8_t { kEmber, kFrost, kPraise, kScold };
    struct Spark {
        Kind kind;
        glm::vec2 position;
        uint64_t frame;
    };

    void add(Kind kind, glm::vec2 position, uint64_t frame);
    /// Adds the events of the last step; call once a frame. Removes sparks that have faded.
    void add(const World& world);
    const std::deque<Spark>& all() const { return sparks_; }

  private:
    std::deque<Spark> sparks_;
};

/// The state of the game to draw.
struct Scene {
    const World& world;
    const Sparks& sparks;
    const World* then = nullptr;             ///< a replay, drawn pale
    std::span<const Thought> thoughts = {};  ///< per hatchling, shown as arrow and halo; or empty
    std::span<const float> hopes = {};       ///< Insight::hopes(), shown on the ground; or empty
    std::optional<uint32_t> possessed, selected;
};

/// Largest numbers of a game, for the buffers of instances.
struct PictureLimits {
    uint32_t hatchlings = 0;
    uint32_t judgements = 0;  ///< praises and scolds within Sparks::kFrames
};

class Picture {
  public:
    /// white_uv: Ui::white_uv(). The renderer must outlive the picture.
    static Result<std::unique_ptr<Picture>> create(demo::Renderer& renderer, glm::vec2 white_uv,
                                                   const PictureLimits& limits);

    /// Draws everything that moves. More than `limits` makes Renderer::end() fail.
    void draw(const Scene& scene, const demo::View& view);

  private:
    explicit Picture(demo::Renderer& renderer) : renderer_(renderer) {}

    demo::Renderer& renderer_;
    demo::StaticMesh logs_;
    demo::InstancedMesh tongues_, discs_, motes_, hatchlings_, hearts_;
};

}  // namespace hearth::hatchlings
