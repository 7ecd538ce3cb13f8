// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/lz4.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

namespace hearth::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::initializer_list<int> values) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

/// The contents of a block as text; "refused" if it has not that many.
std::string text_of(const Bytes& block, size_t size) {
    std::string text(size, '?');
    const bool is_read = lz4_decompress(block, std::as_writable_bytes(std::span(text)));
    return is_read ? text : "refused";
}

// Blocks written by hand from the description of the format.
TEST(Lz4, ReadsLiteralsAndMatches) {
    EXPECT_EQ(text_of(bytes_of({0x00}), 0), "");
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c'}), 3), "abc");
    // "abc", four from three back, "defgh".
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 3, 0, 0x50, 'd', 'e', 'f', 'g', 'h'}), 12),
              "abcabcadefgh");
    // 4 + 15 + 1 of one letter, which the match repeats while it writes it.
    EXPECT_EQ(text_of(bytes_of({0x1f, 'z', 1, 0, 1, 0x00}), 21), std::string(21, 'z'));
    // 15 + 2 literals.
    Bytes seventeen = bytes_of({0xf0, 2});
    seventeen.insert(seventeen.end(), 17, std::byte{'q'});
    EXPECT_EQ(text_of(seventeen, 17), std::string(17, 'q'));
}

TEST(Lz4, RefusesEveryOtherBlock) {
    EXPECT_EQ(text_of({}, 0), "refused");
    EXPECT_EQ(text_of(bytes_of({0x01}), 0), "refused");                 // a match after the last
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b'}), 3), "refused");       // a literal is missing
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c'}), 2), "refused");  // too many
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c'}), 4), "refused");  // too few
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 0, 0, 0}), 7), "refused");  // distance 0
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 4, 0, 0}), 7), "refused");  // before the start
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 0, 1, 0}), 7), "refused");  // 256 back
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 3}), 7), "refused");        // half a distance
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 3, 0}), 7), "refused");     // no last literals
    EXPECT_EQ(text_of(bytes_of({0x30, 'a', 'b', 'c', 3, 0, 0}), 6), "refused");  // a match too long
    EXPECT_EQ(text_of(bytes_of({0x3f, 'a', 'b', 'c', 3, 0, 255}), 300), "refused");  // no length
    EXPECT_EQ(text_of(bytes_of({0xf0}), 15), "refused");
    EXPECT_EQ(text_of(bytes_of({0xf0, 255}), 270), "refused");
}

/// Words of a few values, as tables and code have them, with random stretches between.
Bytes alike_words(size_t size, uint32_t seed) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(i % 4 != 0         ? 0
                                          : i / 512 % 3 == 0 ? random()
                                                             : random() % 7);
    return bytes;
}

TEST(Lz4, ReadsWhatItWrote) {
    std::vector<Bytes> all = {{}, Bytes(1), Bytes(100000), Bytes(70000, std::byte{255})};
    for (size_t size = 1; size < 40; ++size) all.push_back(alike_words(size, 1));
    for (uint32_t seed = 0; seed < 20; ++seed) all.push_back(alike_words(5000 * seed + seed, seed));
    for (const Bytes& bytes : all) {
        const Bytes block = lz4_compress(bytes);
        Bytes read(bytes.size(), std::byte{77});
        ASSERT_TRUE(lz4_decompress(block, read)) << bytes.size();
        ASSERT_EQ(read, bytes);
        EXPECT_EQ(block, lz4_compress(bytes));
        EXPECT_LE(bytes.size(), kLz4MostRatio * block.size());
    }
    EXPECT_LT(lz4_compress(Bytes(100000)).size(), 420u);
    EXPECT_LT(lz4_compress(alike_words(100000, 3)).size(), 40000u);
}

// The description of the format: 5 literals last, and no match within the last 12 bytes.
TEST(Lz4, EndsBlocksAsTheFormatAsks) {
    for (size_t size = 0; size < 40; ++size) {
        const Bytes block = lz4_compress(Bytes(size, std::byte{'x'}));
        const size_t last = std::min<size_t>(size, 5);
        ASSERT_GT(block.size(), last);
        EXPECT_EQ(
            std::count(block.end() - static_cast<ptrdiff_t>(last), block.end(), std::byte{'x'}),
            static_cast<ptrdiff_t>(last));
        if (size <= 12) {
            EXPECT_EQ(block.size(), size + 1);
        }
    }
}

TEST(Lz4, NeverWritesBeyondWhatItWasGiven) {
    std::mt19937 random(5);
    const Bytes good = lz4_compress(alike_words(3000, 9));
    for (int i = 0; i < 20000; ++i) {
        Bytes block = good;
        for (uint32_t k = random() % 4; k <= 4; ++k)
            block[random() % block.size()] = static_cast<std::byte>(random());
        block.resize(random() % (block.size() + 1));
        const size_t size = random() % 4000;
        Bytes out(size + 64, std::byte{0x5a});
        (void)lz4_decompress(block, std::span(out).first(size));
        ASSERT_TRUE(std::all_of(out.end() - 64, out.end(),
                                [](std::byte b) { return b == std::byte{0x5a}; }));
    }
}

}  // namespace
}  // namespace hearth::test
