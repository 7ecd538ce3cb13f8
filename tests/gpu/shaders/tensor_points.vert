#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A game's vertex shader that reads a network's output: vertex i is the i-th pixel of a row of
// kVertices, its colour what the network wrote for it.
layout(std430, set = 0, binding = 0) readonly buffer Tensor {
    float element[];
};
layout(constant_id = 0) const uint kVertices = 1;
layout(location = 0) out float colour;

void main() {
    colour = element[gl_VertexIndex];
    gl_Position = vec4((float(gl_VertexIndex) + 0.5) / float(kVertices) * 2.0 - 1.0, 0.0, 0.0, 1.0);
    gl_PointSize = 1.0;
}
