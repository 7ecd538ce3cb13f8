// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operands of the test kernels in both binding models.  A kernel lists its operands with
// OPERAND(index, name) and its words with WORDS(...), then uses name(i) and run_rows.

#extension GL_EXT_buffer_reference : enable

layout(local_size_x = 64) in;

#ifdef BY_DESCRIPTOR
layout(std430, set = 0, binding = 0) readonly buffer RunBlock { uint rows; } run_block;
#define run_rows run_block.rows
#define OPERAND(index, name) layout(std430, set = 0, binding = index) buffer B##name { float v[]; } name##_;
#define ARGUMENTS(operands, words) layout(push_constant) uniform Push { words } push;
#define AT(name, i) name##_.v[i]
#else
layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer RunBlock { uint rows; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float v[]; };
#define run_rows push.run_block.rows
#define OPERAND(index, name)
#define ARGUMENTS(operands, words) layout(push_constant) uniform Push { RunBlock run_block; operands words } push;
#define AT(name, i) push.name.v[i]
#endif
