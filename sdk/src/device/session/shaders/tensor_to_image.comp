// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A tensor of f32 to the texels of an image's region, resampled: one invocation for each texel.
// IMAGE, TEXEL: the component type of the image (image2D and vec4, uimage2D and uvec4, ...).
// The kernel stores to any format; the runtime declares one where it can (converter.cpp).
#version 450

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) readonly buffer Tensor { float tensor[]; };
layout(set = 0, binding = 1) uniform writeonly IMAGE image;
layout(push_constant) uniform Conversion {
    ivec4 region;  // x, y, width, height
    uvec4 extent;  // of the tensor: width, height, channels; flags
    uvec4 swizzle;
    vec4 scale, bias;
    vec4 least, most;  // of integer components
} conversion;

const uint kChannelsLast = 1u, kLinear = 2u, kFlipX = 4u, kFlipY = 8u, kSrgb = 16u;

bool has(uint flag) { return (conversion.extent.w & flag) != 0u; }

vec3 to_srgb(vec3 c) {  // IEC 61966-2-1
    c = max(c, vec3(0.0));
    return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055,
               greaterThan(c, vec3(0.0031308)));
}

float element(ivec2 at, uint channel) {
    const uvec3 extent = conversion.extent.xyz;
    const uvec2 place = uvec2(clamp(at, ivec2(0), ivec2(extent.xy) - 1));
    const uint pixel = place.y * extent.x + place.x;
    return tensor[has(kChannelsLast) ? pixel * extent.z + channel
                                     : channel * extent.x * extent.y + pixel];
}

float resampled(vec2 at, uint channel) {
    if (!has(kLinear)) return element(ivec2(floor(at)), channel);
    const vec2 corner = floor(at - 0.5), part = at - 0.5 - corner;
    const ivec2 from = ivec2(corner);
    return mix(mix(element(from, channel), element(from + ivec2(1, 0), channel), part.x),
               mix(element(from + ivec2(0, 1), channel), element(from + ivec2(1, 1), channel),
                   part.x),
               part.y);
}

void main() {
    const ivec2 place = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(place, conversion.region.zw))) return;
    ivec2 from = place;
    if (has(kFlipX)) from.x = conversion.region.z - 1 - from.x;
    if (has(kFlipY)) from.y = conversion.region.w - 1 - from.y;
    const vec2 at = (vec2(from) + 0.5) * vec2(conversion.extent.xy) / vec2(conversion.region.zw);
    vec4 value;
    for (uint k = 0u; k < 4u; ++k) {
        const uint source = conversion.swizzle[k];
        value[k] = source == 4u ? 0.0 : source == 5u ? 1.0 : resampled(at, source);
    }
    value = value * conversion.scale + conversion.bias;
    if (has(kSrgb)) value.rgb = to_srgb(value.rgb);
#ifdef INTEGER
    value = clamp(roundEven(mix(value, vec4(0.0), isnan(value))), conversion.least, conversion.most);
#endif
    imageStore(image, conversion.region.xy + place, TEXEL(value));
}
