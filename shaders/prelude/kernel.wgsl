// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What kernels in WGSL use beside its own functions.

struct Run { rows: i32, workgroups: i32 }
@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
@group(0) @binding(1) var<uniform> run: Run;

fn hearth_of_bits(bits: u32) -> f32 { return bitcast<f32>(bits); }
fn hearth_dot_halves(a: u32, b: u32, sum: f32) -> f32 {
  let first = unpack2x16float(a);
  let second = unpack2x16float(b);
  return fma(first.y, second.y, fma(first.x, second.x, sum));
}
fn hearth_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn hearth_is_inf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }
fn hearth_min(a: f32, b: f32) -> f32 { return select(b, a, hearth_is_nan(a) || a < b); }
fn hearth_max(a: f32, b: f32) -> f32 { return select(b, a, hearth_is_nan(a) || a > b); }
fn hearth_div_i32(a: i32, b: i32) -> i32 { return select(a / select(b, 1, b == 0), 0, b == 0); }
fn hearth_mod_i32(a: i32, b: i32) -> i32 { return select(a % select(b, 1, b == 0), 0, b == 0); }
fn hearth_div_u32(a: u32, b: u32) -> u32 { return select(a / max(b, 1u), 0u, b == 0u); }
fn hearth_mod_u32(a: u32, b: u32) -> u32 { return select(a % max(b, 1u), 0u, b == 0u); }
fn hearth_shl_i32(a: i32, b: i32) -> i32 { return select(0, a << (u32(b) & 31u), b >= 0 && b < 32); }
fn hearth_shr_i32(a: i32, b: i32) -> i32 { return select(0, a >> (u32(b) & 31u), b >= 0 && b < 32); }
fn hearth_shl_u32(a: u32, b: u32) -> u32 { return select(0u, a << (b & 31u), b < 32u); }
fn hearth_shr_u32(a: u32, b: u32) -> u32 { return select(0u, a >> (b & 31u), b < 32u); }

fn hearth_high_product(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
    let middle = ah * bl + ((al * bl) >> 16u);
    return ah * bh + (middle >> 16u) + (((middle & 0xffffu) + al * bh) >> 16u);
}
fn hearth_philox(first_key: u32, second_key: u32, step: u32, element: u32) -> u32 {
    var key = vec2<u32>(first_key, second_key);
    var c = vec4<u32>(element, step, 0u, 0u);
    for (var round = 0; round < 10; round++) {
        c = vec4<u32>(hearth_high_product(0xcd9e8d57u, c.z) ^ c.y ^ key.x, 0xcd9e8d57u * c.z,
                      hearth_high_product(0xd2511f53u, c.x) ^ c.w ^ key.y, 0xd2511f53u * c.x);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return c.x;
}
