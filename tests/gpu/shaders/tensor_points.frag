#version 460
// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

layout(location = 0) in float colour;
layout(location = 0) out float target;

void main() {
    target = colour;
}
