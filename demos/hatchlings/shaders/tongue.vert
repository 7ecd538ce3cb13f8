// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
#extension GL_GOOGLE_include_directive : require

// Bends a strip from (-1, 0) to (1, 1) into a tongue of fire.
#include "view.glsl"

layout(location = 0) in vec4 vertex;
layout(location = 1) in vec4 color;  // opacity along the strip

// The fields of Tongue (picture.cpp).
layout(location = 2) in vec4 place;  // root, height, half of the width
layout(location = 3) in vec4 bend;   // linear, quadratic
layout(location = 4) in vec4 tint;

layout(location = 0) out vec4 out_color;

const float kPi = 3.14159265;

void main() {
    const float s = vertex.y;
    const float bulge = sin(kPi * sqrt(0.04 + 0.96 * s)) + 0.02;
    out_color = color * tint;
    gl_Position = to_clip(place.xy + vec2(vertex.x * place.w * bulge + bend.x * s + bend.y * s * s,
                                          place.z * s));
}
