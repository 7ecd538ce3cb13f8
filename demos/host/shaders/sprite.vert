// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
#extension GL_GOOGLE_include_directive : require

// A mesh per instance of Sprite, moved, turned, scaled and tinted.
#include "view.glsl"

layout(location = 0) in vec4 position_and_uv;
layout(location = 1) in vec4 color;

layout(location = 2) in vec4 place;  // xy: image of the mesh's origin; zw: of its x axis
layout(location = 3) in vec4 inner;
layout(location = 4) in vec4 rim;

layout(location = 0) out vec4 out_color;

void main() {
    const vec2 position = position_and_uv.xy;
    out_color = color * mix(inner, rim, min(length(position), 1.0));
    gl_Position = to_clip(place.xy + position.x * place.zw + position.y * vec2(-place.w, place.z));
}
