// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tessellates two-dimensional shapes into coloured triangles, on the CPU. The renderer's
// multisampling smooths edges. Colours are not linearized, as user interfaces expect.

#pragma once

#include <glm/vec2.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace hearth::demo {

/// Red, green, blue, alpha from 0 to 1.
struct Color {
    float r = 1, g = 1, b = 1, a = 1;

    /// 0xRRGGBB.
    static constexpr Color hex(uint32_t rgb, float alpha = 1.0f) {
        return {static_cast<float>(rgb >> 16 & 255u) / 255.0f,
                static_cast<float>(rgb >> 8 & 255u) / 255.0f,
                static_cast<float>(rgb & 255u) / 255.0f, alpha};
    }
    constexpr Color with_alpha(float alpha) const { return {r, g, b, alpha}; }
    /// Interpolates from this colour (t = 0) to `other` (t = 1).
    constexpr Color mix(Color other, float t) const {
        return {r + (other.r - r) * t, g + (other.g - g) * t, b + (other.b - b) * t,
                a + (other.a - a) * t};
    }
    /// Bytes in the order R, G, B, A.
    uint32_t packed() const;
};

/// A vertex of a triangle. `uv`: texture coordinates; of shapes, the atlas' white texel. Vertex
/// shaders of instanced meshes may give it another meaning.
struct Vertex {
    glm::vec2 position;
    glm::vec2 uv;
    uint32_t rgba;
};

/// A list of triangles, in drawing order.
class Canvas {
  public:
    /// `uv`: of all vertices; to be drawn as it is, a canvas needs Ui::white_uv().
    explicit Canvas(glm::vec2 uv) : uv_(uv) {}

    void clear();
    /// Sets `uv` of the vertices that follow.
    void set_uv(glm::vec2 uv) { uv_ = uv; }
    void triangle(glm::vec2 a, glm::vec2 b, glm::vec2 c, Color color);
    void quad(glm::vec2 a, glm::vec2 b, glm::vec2 c, glm::vec2 d, Color color);
    /// Convex outline, in order.
    void convex(std::span<const glm::vec2> outline, Color color);
    /// The band between two lines with equally many points.
    void band(std::span<const glm::vec2> left, std::span<const glm::vec2> right, Color color);
    /// As above, one colour per point pair.
    void band(std::span<const glm::vec2> left, std::span<const glm::vec2> right,
              std::span<const Color> colors);
    /// A line with mitred corners.
    void stroke(std::span<const glm::vec2> points, float width, Color color,
                bool is_closed = false);
    /// As above, one colour per point.
    void stroke(std::span<const glm::vec2> points, float width, std::span<const Color> colors,
                bool is_closed = false);
    /// A disc that fades from one colour in the centre to another at the rim.
    void disc(glm::vec2 center, float radius, Color inner, Color rim, int segments = 24);
    /// A disc stretched along two half axes, which need not be orthogonal. `light` shifts the
    /// colour gradient's centre, in units of the half axes (both within (-1, 1)).
    void ellipse(glm::vec2 center, glm::vec2 half_a, glm::vec2 half_b, Color inner, Color rim,
                 glm::vec2 light = {0.0f, 0.0f}, int segments = 24);
    void ring(glm::vec2 center, float radius, float width, Color color, int segments = 32);
    /// A rectangle turned by `angle` (radians) whose corners have `corner_radius`.
    void rounded_box(glm::vec2 center, glm::vec2 half_size, float angle, float corner_radius,
                     Color color);

    std::span<const Vertex> vertices() const { return vertices_; }
    std::span<const uint32_t> indices() const { return indices_; }

  private:
    uint32_t add(glm::vec2 position, uint32_t rgba);

    glm::vec2 uv_;
    std::vector<Vertex> vertices_;
    std::vector<uint32_t> indices_;
};

}  // namespace hearth::demo
