// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450

// A picture drawn earlier, pixel for pixel.
layout(set = 0, binding = 0) uniform sampler2D picture;

layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 color;

layout(location = 0) out vec4 out_color;

void main() { out_color = vec4(texture(picture, uv).rgb, 1.0); }
