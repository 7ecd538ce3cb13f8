// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
#extension GL_GOOGLE_include_directive : require

// Canvas geometry, as it is.
#include "view.glsl"

layout(location = 0) in vec4 position_and_uv;
layout(location = 1) in vec4 color;

layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_color;

void main() {
    out_uv = position_and_uv.zw;
    out_color = color;
    gl_Position = to_clip(position_and_uv.xy);
}
