// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450

// Flat colours and text alike: the atlas holds glyphs as coverage, and one white texel for shapes.
layout(set = 0, binding = 0) uniform sampler2D atlas;

layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 color;

layout(location = 0) out vec4 out_color;

void main() { out_color = vec4(color.rgb, color.a * texture(atlas, uv).r); }
