// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450

// Flat colours of instanced meshes.
layout(location = 0) in vec4 color;

layout(location = 0) out vec4 out_color;

void main() { out_color = color; }
