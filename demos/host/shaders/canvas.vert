// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450

// Canvas geometry: positions in any 2D space, taken to clip space by a scale and a translation.
layout(push_constant) uniform View {
    vec4 x_axis_and_offset;  // xy: clip-space image of (1, 0); zw: of the origin
    vec4 y_axis;             // xy: clip-space image of (0, 1)
} view;

layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;

layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_color;

void main() {
    out_uv = uv;
    out_color = color;
    vec2 clip = position.x * view.x_axis_and_offset.xy + position.y * view.y_axis.xy +
                view.x_axis_and_offset.zw;
    gl_Position = vec4(clip, 0.0, 1.0);
}
