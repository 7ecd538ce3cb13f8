// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds a track from control points, and projects positions onto it.

#include "ghost_lap/track.hpp"

#include <glm/geometric.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace hearth::ghost_lap {
namespace {

constexpr int kSampleCount = 1024;         // about 0.31 m apart on the demo's circuit
constexpr int kSplineSteps = 128;          // dense points per control point, before resampling
constexpr float kCornerCurvature = 0.03f;  // 1/m; flatter than 33 m radius is a straight
constexpr float kCornerTurn = 25.0f * std::numbers::pi_v<float> / 180.0f;

struct SplinePoint {
    glm::dvec2 position;
    double heading;
    double curvature;
};

// Uniform cubic B-spline through four control points, at t in [0, 1).
SplinePoint evaluate_spline(const glm::dvec2 (&p)[4], double t) {
    const double u = 1.0 - t;
    const glm::dvec2 position = (u * u * u * p[0] + (3.0 * t * t * t - 6.0 * t * t + 4.0) * p[1] +
                                 (3.0 * u * u * u - 6.0 * u * u + 4.0) * p[2] + t * t * t * p[3]) /
                                6.0;
    const glm::dvec2 d1 = (-u * u * p[0] + (3.0 * t * t - 4.0 * t) * p[1] -
                           (3.0 * u * u - 4.0 * u) * p[2] + t * t * p[3]) /
                          2.0;
    const glm::dvec2 d2 = u * p[0] + (3.0 * t - 2.0) * p[1] + (3.0 * u - 2.0) * p[2] + t * p[3];
    const double speed = glm::length(d1);
    return {position, std::atan2(d1.y, d1.x),
            (d1.x * d2.y - d1.y * d2.x) / (speed * speed * speed)};
}

}  // namespace

/// Position of a progress between two samples.
struct Track::Place {
    const Sample& a;
    const Sample& b;
    float t;        // in [0, 1) from a to b
    float wraps;    // whole laps in the given progress
    float b_wraps;  // 1 if b is the first sample of the next lap
};

Track::Track(std::span<const glm::vec2> control_points, float half_width)
    : half_width_(half_width) {
    const size_t count = control_points.size();
    std::vector<SplinePoint> dense;
    dense.reserve(count * kSplineSteps + 1);
    for (size_t i = 0; i < count; ++i) {
        const glm::dvec2 p[4] = {control_points[i], control_points[(i + 1) % count],
                                 control_points[(i + 2) % count], control_points[(i + 3) % count]};
        for (int step = 0; step < kSplineSteps; ++step)
            dense.push_back(evaluate_spline(p, static_cast<double>(step) / kSplineSteps));
    }
    dense.push_back(dense.front());

    // Arc length, and unwrapped headings.
    std::vector<double> arc(dense.size(), 0.0);
    for (size_t i = 1; i < dense.size(); ++i) {
        arc[i] = arc[i - 1] + glm::distance(dense[i - 1].position, dense[i].position);
        const double turn = dense[i].heading - dense[i - 1].heading;
        dense[i].heading -= 2.0 * std::numbers::pi * std::round(turn / (2.0 * std::numbers::pi));
    }
    length_ = static_cast<float>(arc.back());
    spacing_ = length_ / kSampleCount;
    full_turn_ = static_cast<float>(dense.back().heading - dense.front().heading);

    size_t i = 0;
    for (int sample = 0; sample < kSampleCount; ++sample) {
        const double at = arc.back() * sample / kSampleCount;
        while (arc[i + 1] <= at) ++i;
        const double t = (at - arc[i]) / (arc[i + 1] - arc[i]);
        const auto lerp = [t](auto a, auto b) { return a + (b - a) * t; };
        samples_.push_back({glm::vec2(lerp(dense[i].position, dense[i + 1].position)),
                            static_cast<float>(lerp(dense[i].heading, dense[i + 1].heading)),
                            static_cast<float>(lerp(dense[i].curvature, dense[i + 1].curvature))});
    }
}

Track Track::circuit() {
    static constexpr glm::vec2 kControlPoints[] = {
        {-23.1f, 23.7f},  {-10.5f, 24.6f},  {2.1f, 25.8f},    {14.7f, 26.7f},   {27.3f, 27.9f},
        {36.8f, 27.3f},   {40.5f, 21.0f},   {40.9f, 13.6f},   {41.4f, 6.3f},    {37.8f, 1.0f},
        {30.4f, -0.6f},   {24.1f, -2.1f},   {19.9f, -6.3f},   {19.9f, -12.6f},  {19.9f, -18.9f},
        {16.8f, -24.1f},  {9.4f, -25.2f},   {3.1f, -25.2f},   {-3.1f, -25.2f},  {-8.4f, -20.2f},
        {-14.7f, -20.2f}, {-19.9f, -25.2f}, {-26.2f, -25.2f}, {-32.5f, -25.2f}, {-39.9f, -24.5f},
        {-42.0f, -18.9f}, {-42.0f, -13.3f}, {-42.0f, -7.7f},  {-38.5f, -3.8f},  {-31.5f, -4.2f},
        {-23.1f, -5.2f},  {-14.7f, -6.0f},  {-6.9f, -5.7f},   {-2.1f, -2.1f},   {-2.7f, 3.1f},
        {-7.8f, 6.3f},    {-15.7f, 6.3f},   {-24.1f, 5.7f},   {-32.5f, 5.5f},   {-39.2f, 6.3f},
        {-42.0f, 11.2f},  {-41.6f, 16.1f},  {-39.9f, 21.0f},  {-31.5f, 23.0f},
    };
    constexpr float kHalfWidth = 3.0f;
    return Track(kControlPoints, kHalfWidth);
}

Track::Place Track::locate(float progress) const {
    const float wraps = std::floor(progress / length_);
    const float at = std::max(0.0f, (progress - wraps * length_) / spacing_);
    const int index = std::min(static_cast<int>(at), kSampleCount - 1);
    const int next = (index + 1) % kSampleCount;
    return {samples_[index], samples_[next], at - static_cast<float>(index), wraps,
            next == 0 ? 1.0f : 0.0f};
}

float Track::heading(float progress) const {
    const Place p = locate(progress);
    const float next = p.b.heading + p.b_wraps * full_turn_;
    return p.a.heading + (next - p.a.heading) * p.t + p.wraps * full_turn_;
}

float Track::curvature(float progress) const {
    const Place p = locate(progress);
    return p.a.curvature + (p.b.curvature - p.a.curvature) * p.t;
}

glm::vec2 Track::position(float progress, float lateral) const {
    const Place p = locate(progress);
    const float angle = heading(progress);
    const glm::vec2 left(-std::sin(angle), std::cos(angle));
    return p.a.position + (p.b.position - p.a.position) * p.t + left * (lateral * half_width_);
}

float Track::wrap(float progress) const {
    const float wrapped = progress - std::floor(progress / length_) * length_;
    return wrapped < length_ ? wrapped : 0.0f;  // a tiny negative progress rounds up to length_
}

TrackPoint Track::project(glm::vec2 position) const {
    return project_near(position, 0, kSampleCount);
}

TrackPoint Track::project(glm::vec2 position, float near_progress) const {
    const int reach = static_cast<int>(kFollowMetres / spacing_);
    const int middle = static_cast<int>(wrap(near_progress) / spacing_);
    return project_near(position, middle - reach, 2 * reach + 1);
}

TrackPoint Track::project_near(glm::vec2 position, int first, int count) const {
    float best_distance = std::numeric_limits<float>::max();
    float best_progress = 0.0f;
    for (int i = 0; i < count; ++i) {
        const int index = (first + i + kSampleCount) % kSampleCount;
        const glm::vec2 a = samples_[index].position;
        const glm::vec2 along = samples_[(index + 1) % kSampleCount].position - a;
        const float t =
            std::clamp(glm::dot(position - a, along) / glm::dot(along, along), 0.0f, 1.0f);
        const glm::vec2 off = position - (a + along * t);
        const float distance = glm::dot(off, off);
        if (distance >= best_distance) continue;
        best_distance = distance;
        best_progress = (static_cast<float>(index) + t) * spacing_;
    }
    const float angle = heading(best_progress);
    const glm::vec2 left(-std::sin(angle), std::cos(angle));
    const float lateral = glm::dot(position - this->position(best_progress), left) / half_width_;
    return {wrap(best_progress), lateral};
}

std::vector<Corner> Track::corners() const {
    const auto sign_at = [this](int i) {
        const float k = samples_[i % kSampleCount].curvature;
        return std::abs(k) < kCornerCurvature ? 0 : (k > 0.0f ? 1 : -1);
    };
    int start = 0;  // a sample on a straight, so that no corner is split
    while (start < kSampleCount && sign_at(start) != 0) ++start;

    std::vector<Corner> corners;
    for (int i = start; i < start + kSampleCount;) {
        const int sign = sign_at(i);
        Corner corner = {static_cast<float>(i % kSampleCount) * spacing_, 0.0f, 0.0f, 1e9f};
        for (; i < start + kSampleCount && sign_at(i) == sign; ++i) {
            const float k = samples_[i % kSampleCount].curvature;
            corner.length += spacing_;
            corner.turn += k * spacing_;
            corner.min_radius = std::min(corner.min_radius, 1.0f / std::abs(k));
        }
        if (sign != 0 && std::abs(corner.turn) >= kCornerTurn) corners.push_back(corner);
    }
    return corners;
}

}  // namespace hearth::ghost_lap
