// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tessellates two-dimensional shapes into triangles.

#include "canvas.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::demo {
namespace {

constexpr float kTwoPi = 2.0f * std::numbers::pi_v<float>;
constexpr float kLongestMitre = 3.0f;  // in half-widths; longer mitres are cut off

glm::vec2 normal_of(glm::vec2 from, glm::vec2 to) {
    const glm::vec2 d = to - from;
    const float length = glm::length(d);
    return length > 0.0f ? glm::vec2(-d.y, d.x) / length : glm::vec2(0.0f);
}

/// Offset of the line's edge from each point: half a width along the corner's bisector.
std::vector<glm::vec2> edge_offsets(std::span<const glm::vec2> points, float width,
                                    bool is_closed) {
    const size_t n = points.size();
    std::vector<glm::vec2> offsets(n);
    for (size_t i = 0; i < n; ++i) {
        const bool has_before = is_closed || i > 0;
        const bool has_after = is_closed || i + 1 < n;
        const glm::vec2 before =
            has_before ? normal_of(points[(i + n - 1) % n], points[i]) : glm::vec2(0.0f);
        const glm::vec2 after =
            has_after ? normal_of(points[i], points[(i + 1) % n]) : glm::vec2(0.0f);
        const glm::vec2 sum = before + after;
        const float length = glm::length(sum);
        if (length < 1e-6f) {
            offsets[i] = after * (width * 0.5f);
            continue;
        }
        const glm::vec2 bisector = sum / length;
        const float cosine = glm::dot(bisector, has_after ? after : before);
        offsets[i] = bisector * (width * 0.5f * std::min(1.0f / cosine, kLongestMitre));
    }
    return offsets;
}

}  // namespace

uint32_t Color::packed() const {
    const auto byte = [](float x) {
        return static_cast<uint32_t>(std::lround(std::clamp(x, 0.0f, 1.0f) * 255.0f));
    };
    return byte(r) | byte(g) << 8 | byte(b) << 16 | byte(a) << 24;
}

void Canvas::clear() {
    vertices_.clear();
    indices_.clear();
}

uint32_t Canvas::add(glm::vec2 position, uint32_t rgba) {
    vertices_.push_back({position, uv_, rgba});
    return static_cast<uint32_t>(vertices_.size() - 1);
}

void Canvas::triangle(glm::vec2 a, glm::vec2 b, glm::vec2 c, Color color) {
    const glm::vec2 corners[] = {a, b, c};
    convex(corners, color);
}

void Canvas::quad(glm::vec2 a, glm::vec2 b, glm::vec2 c, glm::vec2 d, Color color) {
    const glm::vec2 corners[] = {a, b, c, d};
    convex(corners, color);
}

void Canvas::convex(std::span<const glm::vec2> outline, Color color) {
    if (outline.size() < 3) return;
    const uint32_t rgba = color.packed();
    const uint32_t first = add(outline[0], rgba);
    for (const glm::vec2 point : outline.subspan(1)) add(point, rgba);
    for (uint32_t i = 2; i < outline.size(); ++i) {
        indices_.insert(indices_.end(), {first, first + i - 1, first + i});
    }
}

void Canvas::band(std::span<const glm::vec2> left, std::span<const glm::vec2> right, Color color) {
    const std::vector<Color> colors(std::min(left.size(), right.size()), color);
    band(left, right, colors);
}

void Canvas::band(std::span<const glm::vec2> left, std::span<const glm::vec2> right,
                  std::span<const Color> colors) {
    const size_t n = std::min({left.size(), right.size(), colors.size()});
    for (size_t i = 0; i < n; ++i) {
        const uint32_t rgba = colors[i].packed();
        const uint32_t first = add(left[i], rgba);
        add(right[i], rgba);
        if (i == 0) continue;
        indices_.insert(indices_.end(), {first - 2, first - 1, first, first, first - 1, first + 1});
    }
}

void Canvas::stroke(std::span<const glm::vec2> points, float width, Color color, bool is_closed) {
    const std::vector<Color> colors(points.size(), color);
    stroke(points, width, colors, is_closed);
}

void Canvas::stroke(std::span<const glm::vec2> points, float width, std::span<const Color> colors,
                    bool is_closed) {
    const size_t n = points.size();
    if (n < 2) return;
    const std::vector<glm::vec2> offsets = edge_offsets(points, width, is_closed);
    const size_t count = is_closed ? n + 1 : n;
    std::vector<glm::vec2> left(count);
    std::vector<glm::vec2> right(count);
    std::vector<Color> shades(count);
    for (size_t i = 0; i < count; ++i) {
        left[i] = points[i % n] + offsets[i % n];
        right[i] = points[i % n] - offsets[i % n];
        shades[i] = colors[i % n];
    }
    band(left, right, shades);
}

void Canvas::disc(glm::vec2 center, float radius, Color inner, Color rim, int segments) {
    ellipse(center, {radius, 0.0f}, {0.0f, radius}, inner, rim, {0.0f, 0.0f}, segments);
}

void Canvas::ellipse(glm::vec2 center, glm::vec2 half_a, glm::vec2 half_b, Color inner, Color rim,
                     glm::vec2 light, int segments) {
    const uint32_t middle = add(center + light.x * half_a + light.y * half_b, inner.packed());
    const uint32_t rgba = rim.packed();
    for (int i = 0; i <= segments; ++i) {
        const float angle = kTwoPi * static_cast<float>(i) / static_cast<float>(segments);
        const uint32_t point =
            add(center + half_a * std::cos(angle) + half_b * std::sin(angle), rgba);
        if (i > 0) indices_.insert(indices_.end(), {middle, point - 1, point});
    }
}

void Canvas::ring(glm::vec2 center, float radius, float width, Color color, int segments) {
    std::vector<glm::vec2> points;
    for (int i = 0; i < segments; ++i) {
        const float angle = kTwoPi * static_cast<float>(i) / static_cast<float>(segments);
        points.push_back(center + radius * glm::vec2(std::cos(angle), std::sin(angle)));
    }
    stroke(points, width, color, true);
}

void Canvas::rounded_box(glm::vec2 center, glm::vec2 half_size, float angle, float corner_radius,
                         Color color) {
    constexpr int kStepsPerCorner = 4;
    const glm::vec2 inner = half_size - glm::vec2(corner_radius);
    const glm::vec2 corners[] = {
        {inner.x, inner.y}, {-inner.x, inner.y}, {-inner.x, -inner.y}, {inner.x, -inner.y}};
    const float c = std::cos(angle);
    const float s = std::sin(angle);
    std::vector<glm::vec2> outline;
    for (int corner = 0; corner < 4; ++corner) {
        for (int i = 0; i <= kStepsPerCorner; ++i) {
            const float turn = kTwoPi * 0.25f *
                               (static_cast<float>(corner) +
                                static_cast<float>(i) / static_cast<float>(kStepsPerCorner));
            const glm::vec2 p =
                corners[corner] + corner_radius * glm::vec2(std::cos(turn), std::sin(turn));
            outline.push_back(center + glm::vec2(p.x * c - p.y * s, p.x * s + p.y * c));
        }
    }
    convex(outline, color);
}

}  // namespace hearth::demo
