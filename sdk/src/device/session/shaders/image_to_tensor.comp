// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Texels of an image's region to a tensor of f32, resampled: one invocation for each place of the tensor.
// TEXTURE: the component type of the image (texture2D, utexture2D, itexture2D).
#version 450
#extension GL_EXT_samplerless_texture_functions : require

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) writeonly buffer Tensor { float tensor[]; };
layout(set = 0, binding = 1) uniform TEXTURE image;
layout(push_constant) uniform Conversion {
    ivec4 region;  // x, y, width, height
    uvec4 extent;  // of the tensor: width, height, channels; flags
    uvec4 swizzle;
    vec4 scale, bias;
} conversion;

const uint kChannelsLast = 1u, kLinear = 2u, kFlipX = 4u, kFlipY = 8u, kSrgb = 16u;

bool has(uint flag) { return (conversion.extent.w & flag) != 0u; }

vec3 from_srgb(vec3 c) {  // IEC 61966-2-1
    return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), greaterThan(c, vec3(0.04045)));
}

vec4 texel(ivec2 at) {
    at = clamp(at, ivec2(0), conversion.region.zw - 1);
    vec4 value = vec4(texelFetch(image, conversion.region.xy + at, 0));
    if (has(kSrgb)) value.rgb = from_srgb(value.rgb);
    return value;
}

vec4 resampled(vec2 at) {
    if (!has(kLinear)) return texel(ivec2(floor(at)));
    const vec2 corner = floor(at - 0.5), part = at - 0.5 - corner;
    const ivec2 from = ivec2(corner);
    return mix(mix(texel(from), texel(from + ivec2(1, 0)), part.x),
               mix(texel(from + ivec2(0, 1)), texel(from + ivec2(1, 1)), part.x), part.y);
}

void main() {
    const uvec3 extent = conversion.extent.xyz;
    const uvec2 place = gl_GlobalInvocationID.xy;
    if (place.x >= extent.x || place.y >= extent.y) return;
    uvec2 from = place;
    if (has(kFlipX)) from.x = extent.x - 1u - from.x;
    if (has(kFlipY)) from.y = extent.y - 1u - from.y;
    const vec4 value =
        resampled((vec2(from) + 0.5) * vec2(conversion.region.zw) / vec2(extent.xy));
    const float sources[6] = float[6](value.r, value.g, value.b, value.a, 0.0, 1.0);
    for (uint c = 0u; c < extent.z; ++c) {
        const uint pixel = place.y * extent.x + place.x;
        const uint element =
            has(kChannelsLast) ? pixel * extent.z + c : c * extent.x * extent.y + pixel;
        tensor[element] =
            sources[conversion.swizzle[c]] * conversion.scale[c] + conversion.bias[c];
    }
}
