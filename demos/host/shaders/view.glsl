// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The view of all vertex shaders: takes positions in any 2D space to clip space by a scale and a
// translation.
layout(push_constant) uniform View {
    vec4 x_axis_and_offset;  // xy: clip-space image of (1, 0); zw: of the origin
    vec4 y_axis;             // xy: clip-space image of (0, 1)
} view;

vec4 to_clip(vec2 position) {
    return vec4(position.x * view.x_axis_and_offset.xy + position.y * view.y_axis.xy +
                    view.x_axis_and_offset.zw,
                0.0, 1.0);
}
