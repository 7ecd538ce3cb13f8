// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0
#version 450
#extension GL_GOOGLE_include_directive : require

// Places and colours the parts of a hatchling. The mesh has each part in coordinates of its own.
#include "parts.glsl"
#include "view.glsl"

layout(location = 0) in vec4 vertex;  // xy: within the part; z: the part; w: which of its copies
layout(location = 1) in vec4 shade;   // r: 0 in the middle of the part, 1 at its rim

// The fields of Pose (picture.cpp).
layout(location = 2) in vec4 place;    // position, unit vector away from the fire
layout(location = 3) in vec4 feather;  // colour and opacity
layout(location = 4) in vec4 motion;   // hop, squash, facing, lean
layout(location = 5) in vec4 limbs;    // steps of the left and the right foot, flap, sway
layout(location = 6) in vec4 face;     // gaze, 1 with shut eyes, angle of the ice shards or -1
layout(location = 7) in vec4 marks;    // glow, radius of the ring, 1: possessed, 1: thinking
layout(location = 8) in vec4 thought;  // intention, doubt

layout(location = 0) out vec4 out_color;

const float kRadius = 0.35;  // kHatchlingRadius
const float kSize = 1.62 * kRadius;

vec4 hex(uint rgb, float alpha) {
    return vec4(vec3(rgb >> 16 & 255u, rgb >> 8 & 255u, rgb & 255u) / 255.0, alpha);
}

/// Images of the part's origin and axes, and its colours in the middle and at the rim. A hidden
/// part has no area.
struct Part {
    vec2 center, x_axis, y_axis;
    vec2 light;   // shifts the middle, in units of the axes
    float width;  // of a ring; its mesh reaches from 1 to 2
    vec4 inner, rim;
};
const Part kHidden = Part(vec2(0), vec2(0), vec2(0), vec2(0), 0.0, vec4(0), vec4(0));

Part ellipse(vec2 center, float x, float y, vec4 inner, vec4 rim) {
    return Part(center, vec2(x, 0), vec2(0, y), vec2(0), 0.0, inner, rim);
}
Part triangle(vec2 a, vec2 b, vec2 c, vec4 color) {
    return Part(a, b - a, c - a, vec2(0), 0.0, color, color);
}
Part ring(float radius, float width, vec4 color) {
    return Part(place.xy, vec2(radius, 0), vec2(0, radius), vec2(0), width, color, color);
}

/// A hatchling's local coordinates: it stands upright and leans in its direction of motion.
vec2 body() { return place.xy + vec2(0, 0.10 * motion.x); }
vec2 at(float x, float y) { return body() + kSize * vec2(motion.z * x + motion.w * y, y); }

Part thought_part(int part) {
    if (marks.w == 0.0) return kHidden;
    const float radius = kRadius * (1.5 + 1.6 * clamp(thought.z, 0.0, 1.5));
    if (part == kDoubt && thought.z > 0.0)
        return ellipse(place.xy, radius, radius, hex(0xffb454, 0.0), hex(0xd8b4ff, 0.10));
    if (part == kDoubtRing && thought.z > 0.0) return ring(radius, 0.035, hex(0xd8b4ff, 0.45));
    const float strength = min(length(thought.xy), 1.0);
    if (strength < 0.05) return kHidden;
    const vec2 along = normalize(thought.xy), across = vec2(-along.y, along.x);
    const vec2 begin = place.xy + along * 0.55, end = begin + along * (0.35 + strength);
    if (part == kArrow)
        return Part(begin, end - begin, 0.11 * across, vec2(0), 0.0, hex(0xd8b4ff, 0.0),
                    hex(0xe6ccff, 0.9));
    if (part == kArrowHead)
        return triangle(end + along * 0.24, end + across * 0.15, end - across * 0.15,
                        hex(0xe6ccff, 0.95));
    return kHidden;
}

Part eye_part(int part, float side) {
    const float alpha = feather.a;
    const vec2 eye =
        body() + kSize * vec2(0.30 * motion.z + side * 0.26 + motion.w * 0.3, 0.30);
    const bool is_shut = face.z > 0.0;
    if (is_shut != (part == kLid)) return kHidden;
    if (part == kLid) return ellipse(eye, kSize, kSize, vec4(0), hex(0x2a1c18, alpha));
    if (part == kEye)
        return ellipse(eye, kSize * 0.17, kSize * 0.21, hex(0xffffff, alpha), hex(0xf2ece0, alpha));
    const vec2 pupil = eye + kSize * 0.075 * face.xy;
    if (part == kPupil)
        return ellipse(pupil, kSize * 0.105, kSize * 0.14, hex(0x241813, alpha),
                       hex(0x1a110e, alpha));
    return ellipse(pupil + kSize * vec2(0.035, 0.05), kSize * 0.04, kSize * 0.04,
                   hex(0xffffff, alpha), hex(0xffffff, 0.8 * alpha));
}

/// `copy`: -1 or 1 for the left and the right one, or a number from 0.
Part part_of(int part, float copy) {
    const float alpha = feather.a, hop = motion.x, squash = motion.y, facing = motion.z,
                lean = motion.w;
    const vec2 position = place.xy, from_fire = place.zw;
    const vec4 rim = mix(feather, hex(0x2a1c22, alpha), 0.36);
    const vec4 lit = mix(feather, hex(0xffffff, alpha), 0.25);
    switch (part) {
        case kRing:
            if (marks.y == 0.0) return kHidden;
            return ring(marks.y, 0.07, marks.z > 0.0 ? hex(0xffb454, 0.9) : hex(0xffffff, 0.9));
        case kGlow: {
            const float glow = marks.x, radius = 1.3 * (1.4 - 0.4 * glow);
            if (glow == 0.0) return kHidden;
            return ellipse(position, radius, radius, hex(0xffb454, 0.55 * glow * alpha),
                           hex(0xffb454, 0.0));
        }
        case kShadow:
            return ellipse(position + from_fire * 0.22 - vec2(0, 0.30), 0.48, 0.20,
                           hex(0x030606, 0.62 * alpha * (1.0 - 0.4 * hop)), hex(0x030606, 0.0));
        case kFoot:
            return ellipse(
                position + kSize * vec2(copy * 0.34 + (copy < 0.0 ? limbs.x : limbs.y), -0.80),
                kSize * 0.20, kSize * 0.11, hex(0xe08a3a, alpha), hex(0x9a5420, alpha));
        case kTail:
            return triangle(at(-0.62, -0.25), at(-1.15, 0.16), at(-0.66, 0.18), rim);
        case kTrunk:  // lit on the side of the fire
            return Part(body() - vec2(0, 0.05 * kSize), vec2(kSize * 0.86 / squash, 0),
                        vec2(lean * kSize, kSize * 0.88 * squash),
                        vec2(-0.45 * from_fire.x, 0.25 - 0.3 * from_fire.y), 0.0, lit, rim);
        case kBelly: {
            const vec4 pale = hex(0xfff6e2, alpha);
            return ellipse(at(0.16, -0.34), kSize * 0.48, kSize * 0.40,
                           vec4(mix(feather, pale, 0.65).rgb, 0.85 * alpha),
                           vec4(mix(feather, pale, 0.4).rgb, 0.0));
        }
        case kWing: {
            const float flap = limbs.z;
            return Part(at(-0.36, -0.14 + flap * 0.5),
                        kSize * vec2(0.30 * (facing < 0.0 ? -1.0 : 1.0), -0.10 + flap),
                        kSize * vec2(0.06, 0.22), vec2(0), 0.0, mix(rim, feather, 0.35), rim);
        }
        case kCrest: {
            const float x = -0.12 + 0.12 * copy;
            const vec2 root = at(x, 0.74), half_width = vec2(0.08 * kSize, 0);
            return triangle(root - half_width, root + half_width,
                            at(x - 0.10 + limbs.w, 1.08 - 0.06 * abs(copy - 1.0)), lit);
        }
        case kBeak: {
            const vec2 beak = body() + kSize * vec2(0.42 * facing + lean * 0.1, 0.06);
            return triangle(beak + kSize * vec2(-0.12, 0.06), beak + kSize * vec2(0.12, 0.06),
                            beak + kSize * vec2(0.06 * facing, -0.14), hex(0xf29a3a, alpha));
        }
        case kShard: {
            if (face.w < 0.0) return kHidden;
            const float angle = face.w + 2.1 * copy;
            const vec2 p = body() + kSize * 0.75 * vec2(cos(angle), sin(angle));
            return triangle(p, p + kSize * vec2(0.10, 0.28), p + kSize * vec2(0.20, 0.02),
                            hex(0xe4f6ff, 0.85 * alpha));
        }
        case kEye:
        case kPupil:
        case kGlint:
        case kLid:
            return eye_part(part, copy);
        default:
            return thought_part(part);
    }
}

void main() {
    const Part part = part_of(int(vertex.z), vertex.w);
    const float rim = shade.r;
    out_color = mix(part.inner, part.rim, rim);
    vec2 within = vertex.xy + (1.0 - rim) * part.light;
    vec2 outward = vec2(0);
    if (part.width > 0.0) {
        within = normalize(vertex.xy);
        outward = part.width * (length(vertex.xy) - 1.5) * within;
    }
    gl_Position =
        to_clip(part.center + within.x * part.x_axis + within.y * part.y_axis + outward);
}
