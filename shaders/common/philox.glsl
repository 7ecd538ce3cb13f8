// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Philox4x32-10; see sdk/include/hearth/core/philox.hpp, which gives the same bits.

uint hearth_philox(uint key0, uint key1, uint step, uint element) {
    uvec4 c = uvec4(element, step, 0u, 0u);
    uvec2 k = uvec2(key0, key1);
    for (int round = 0; round < 10; ++round) {
        uint hi0, lo0, hi1, lo1;
        umulExtended(0xD2511F53u, c.x, hi0, lo0);
        umulExtended(0xCD9E8D57u, c.z, hi1, lo1);
        c = uvec4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
        k += uvec2(0x9E3779B9u, 0xBB67AE85u);
    }
    return c.x;
}
