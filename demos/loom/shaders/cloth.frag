// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
#extension GL_GOOGLE_include_directive : require

// The cloth: at each pixel the network is asked what colour it is there, with the weights that the step of
// learning before this picture has left.  weave() is Hearth's, from the package.

#include "weave.glsl"

layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Picture { float at[]; };

layout(push_constant) uniform Constants {
    layout(offset = 32) uvec2 weights;  // as weave() wants them
    Picture picture;                    // what is to be woven
    uint look;
    uint size;  // texels along its side
} constants;

const uint kCloth = 0, kPlain = 1, kError = 2, kPicture = 3;

layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 tint;
layout(location = 0) out vec4 out_color;

vec3 texel(ivec2 at) {
    const ivec2 inside = clamp(at, ivec2(0), ivec2(constants.size - 1));
    const uint first = 3 * (uint(inside.y) * constants.size + uint(inside.x));
    return vec3(constants.picture.at[first], constants.picture.at[first + 1],
                constants.picture.at[first + 2]);
}

vec3 picture_at(vec2 place) {
    const vec2 scaled = place * float(constants.size) - 0.5;
    const ivec2 corner = ivec2(floor(scaled));
    const vec2 part = scaled - vec2(corner);
    return mix(mix(texel(corner), texel(corner + ivec2(1, 0)), part.x),
               mix(texel(corner + ivec2(0, 1)), texel(corner + ivec2(1, 1)), part.x), part.y);
}

// From cold to hot, by how far the colours are apart.
vec3 heat(float error) {
    const float t = clamp(3.0 * error, 0.0, 1.0);
    return clamp(vec3(2.2 * t, 2.6 * t - 0.9, 0.18 + 0.9 * t * (1.0 - t) + 2.0 * max(t - 0.8, 0.0)), 0.0,
                 1.0);
}

// Threads that go over and under each other catch the light in turn.
float threads(vec2 place) {
    const vec2 thread = place * 110.0;
    const bool is_weft = mod(floor(thread.x) + floor(thread.y), 2.0) < 1.0;
    const float across = is_weft ? fract(thread.y) : fract(thread.x);
    const float along = is_weft ? fract(thread.x) : fract(thread.y);
    return 0.80 + 0.24 * sin(3.14159265 * across) * (0.6 + 0.4 * sin(3.14159265 * along));
}

void main() {
    if (constants.look == kPicture) {
        out_color = vec4(picture_at(uv), 1.0) * tint;
        return;
    }
    vec3 colour;
    weave(constants.weights, uv, colour);
    colour = clamp(colour, 0.0, 1.0);
    if (constants.look == kCloth) colour *= threads(uv);
    if (constants.look == kError) colour = heat(distance(colour, picture_at(uv)));
    out_color = vec4(colour, 1.0) * tint;
}
