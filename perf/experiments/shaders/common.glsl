// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What every kernel of the experiments shares: buffer types reached through device addresses, the
// flat parameter layout, and one macro that declares a kernel's buffers in either binding model.

#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_buffer_reference : require

// Five 64x64 layers. Layer l holds w[in][out] (4096 floats), then b[out] (64 floats).
const uint kWidth = 64;
const uint kLayers = 5;
const uint kLayerVec4s = 1040;
const uint kParamVec4s = kLayers * kLayerVec4s;

layout(buffer_reference, std430, buffer_reference_align = 16) readonly restrict buffer ReadVec4s {
    vec4 v[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer Vec4s { vec4 v[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer ReadFloats {
    float v[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) restrict buffer Floats { float v[]; };

// The step counter lives on the device, so that a recording can be replayed.
layout(buffer_reference, std430, buffer_reference_align = 16) restrict buffer State {
    uint step;
    float loss;
};
