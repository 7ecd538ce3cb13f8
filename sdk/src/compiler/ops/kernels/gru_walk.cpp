// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the GLSL of a workgroup's walk through the steps of a GRU.

#include "compiler/ops/kernels/gru_walk.hpp"

#include "compiler/shaders/define.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace hearth {

namespace {

int ceil_of(int64_t a, int64_t b) {
    return static_cast<int>((a + b - 1) / b);
}

}  // namespace

GruWalk GruWalk::of(bool is_backward, int64_t hidden, int64_t steps, int sequences, int threads,
                    const DeviceCaps& caps) {
    // Per thread; beyond this, registers spill.
    constexpr int kMostHeldFloats = 96, kMostSlices = 8;
    GruWalk walk;
    walk.is_backward = is_backward;
    walk.hidden = static_cast<int>(hidden);
    walk.steps = static_cast<int>(steps);
    walk.sequences = sequences;
    walk.threads = threads;
    // A CPU device runs a workgroup's threads one after the other: nothing to share.
    if (is_software(caps)) return walk;
    while (2 * walk.slices <= kMostSlices && 2 * walk.slices * walk.units() <= threads &&
           8 * walk.slices <= walk.hidden)
        walk.slices *= 2;
    const int held_floats = walk.terms_each() * (is_backward ? 1 : 3);
    walk.held = walk.units() * walk.slices <= threads && held_floats <= kMostHeldFloats;
    return walk;
}

int GruWalk::terms_each() const {
    return ceil_of(is_backward ? 3 * hidden : hidden, slices);
}

int64_t GruWalk::shared_floats() const {
    const int64_t all = units();
    return is_backward ? all * (4 + slices) : all * (1 + 3 * slices);
}

std::string gru_walk_text(const GruWalk& walk, const GruAccess& access, int64_t shared_offset) {
    const int64_t units = walk.units();
    std::vector<std::pair<std::string_view, std::string>> names = {
        {"HIDDEN", std::to_string(walk.hidden)},
        {"STEPS", std::to_string(walk.steps)},
        {"UNITS", std::to_string(units)},
        {"THREADS", std::to_string(walk.threads)},
        {"SLICES", std::to_string(walk.slices)},
        {"TASKS", std::to_string(units * walk.slices)},
        {"EACH", std::to_string(walk.terms_each())},
        {"HELD", walk.held ? "1" : "0"},
        {"READ_WEIGHT", access.read_weight},
        {"READ_RESET", access.read_reset},
        {"STORE", access.store},
    };
    const auto add = [&](std::string_view name, std::string value) {
        names.emplace_back(name, std::move(value));
    };
    const auto place = [&](int64_t of_units) {
        return std::to_string(shared_offset + of_units * units);
    };
    if (walk.is_backward) {
        add("DIRECT", place(0));
        add("LINES", place(1));
        add("SUMS", place(4));
        add("READ_COTANGENT", access.read_cotangent);
        add("READ_BEFORE", access.read_before);
        add("READ_GATES", access.read_gates);
        add("STORE_START", access.store_start);
        add("LAST_STEP", access.store_start.empty() ? "0" : "-1");
    } else {
        add("STATE", place(0));
        add("SUMS", place(1));
        add("READ_START", access.read_start);
        add("READ_FROM_X", access.read_from_x);
        add("READ_BIAS", access.read_bias);
    }
    std::string text;
    for (const auto& [name, value] : names) text += define(name, value);
    text += shader_text(walk.is_backward ? "recurrent/gru_backward.glsl"
                                         : "recurrent/gru_forward.glsl");
    for (const auto& [name, value] : names) text += "#undef " + std::string(name) + "\n";
    return text;
}

}  // namespace hearth
