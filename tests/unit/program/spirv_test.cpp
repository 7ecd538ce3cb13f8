// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/spirv.hpp"

#include "support/spirv_module.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

using Constants = std::vector<file::SpecConstantRecord>;

struct Reading {
    bool ok = false;
    SpirvFacts facts;
    std::string error;
};

Reading read(std::span<const uint32_t> words, const Constants& constants = {}) {
    // A copy of its own, so that a sanitizer sees reads beyond the end.
    const std::vector<uint32_t> copy(words.begin(), words.end());
    std::vector<SpirvId> ids(spirv_bound(copy));
    Reading reading;
    ViewError error;
    reading.ok = read_spirv(copy, constants, ids, &reading.facts, &error);
    reading.error = error.text.c_str();
    if (!reading.ok) {
        EXPECT_EQ(error.code, StatusCode::kCorruptData);
    }
    return reading;
}

void expect_refused(const ModuleParts& parts, std::string_view expected,
                    const Constants& constants = {}) {
    const Reading reading = read(make_module(parts), constants);
    EXPECT_FALSE(reading.ok) << expected;
    EXPECT_NE(reading.error.find(expected), std::string::npos) << reading.error;
}

TEST(Spirv, ReadsWhatAModuleDeclares) {
    const Reading reading = read(make_module({.local_size = {8, 4, 2},
                                              .push_words = 5,
                                              .shared_words = 100,
                                              .spec_ids = {0, 7},
                                              .bindings = {0, 3},
                                              .load_alignment = 8}),
                                 {{0, 1}, {7, 2}});
    ASSERT_TRUE(reading.ok) << reading.error;
    EXPECT_EQ(reading.facts.version, 0x00010500u);
    EXPECT_EQ(reading.facts.local_size, (std::array<uint32_t, 3>{8, 4, 2}));
    EXPECT_EQ(reading.facts.push_bytes, 20u);
    EXPECT_EQ(reading.facts.shared_bytes, 400u);
    EXPECT_EQ(reading.facts.descriptor_count, 4u);
    EXPECT_EQ(reading.facts.access_bytes, 8u);
    EXPECT_FALSE(reading.facts.has_addresses);
    EXPECT_TRUE(read(make_module({.capabilities = {1, 5347}})).facts.has_addresses);
    EXPECT_TRUE(read(make_module({.capabilities = {1, 5347}, .nop_before_capabilities = true}))
                    .facts.has_addresses);
}

TEST(Spirv, AnIdBoundOutOfProportionIsRefused) {
    std::vector<uint32_t> words = make_module({});
    EXPECT_NE(spirv_bound(words), 0u);
    words[3] = static_cast<uint32_t>(words.size()) + 17;
    EXPECT_EQ(spirv_bound(words), 0u);
    words[3] = 0xffffffff;
    EXPECT_EQ(spirv_bound(words), 0u);
    EXPECT_FALSE(read(words).ok);
    // An id that is not below the bound.
    for (uint32_t bound = 1; bound < make_module({.push_words = 2})[3]; ++bound) {
        const Reading reading = read(make_module({.push_words = 2, .bound = bound}));
        EXPECT_TRUE(reading.ok || !reading.error.empty()) << bound;
    }
    expect_refused({.push_words = 2, .bound = 4}, "id");
}

TEST(Spirv, AVersionOrSchemaThatIsNoneIsRefused) {
    expect_refused({.version = 0x00010700}, "version word 0x00010700, expected 1.0 to 1.6");
    expect_refused({.version = 0x00000900}, "version");
    expect_refused({.version = 0x00010501}, "version");
    std::vector<uint32_t> words = make_module({});
    words[4] = 1;
    EXPECT_FALSE(read(words).ok);
}

TEST(Spirv, AnEntryPointThatIsNotOneComputeShaderNamedMainIsRefused) {
    expect_refused({.execution_model = 4}, "no compute shader");
    expect_refused({.entry_name = {'f', 0}}, "not named main");
    expect_refused({.entry_name = {kMainName, '2'}}, "not named main");
    expect_refused({.entry_points = 0}, "0 entry points");
    expect_refused({.entry_points = 2}, "2 entry points");
    expect_refused({.has_local_size = false}, "no local size");
}

TEST(Spirv, AVariableWithoutMeasureIsRefused) {
    expect_refused({.shared_words = 0xffffffff}, "array of over 2^32 bytes");
    expect_refused({.local_words = 1 << 20}, "variables of over 262144 bytes");
    EXPECT_TRUE(read(make_module({.local_words = 1 << 10})).ok);
    // A driver would compute the array's size once more.
    expect_refused({.bindings = {0}, .set = 1}, "not in set 0");
    expect_refused({.bindings = {1u << 20}}, "not in set 0");
}

TEST(Spirv, SpecializationConstantsThatAreNotThereOrNotOf32BitsAreRefused) {
    EXPECT_TRUE(read(make_module({.spec_ids = {1, 2}}), {{2, 0}}).ok);
    expect_refused({.spec_ids = {1, 2}}, "no specialization constant 3", {{2, 0}, {3, 0}});
    expect_refused({.wide_spec_ids = {4}}, "specialization constant 4 that is not of 32 bits",
                   {{4, 0}});
    expect_refused({}, "fewer ids", Constants(100, {1, 1}));
}

TEST(Spirv, SpecializationSetsTheLengthsOfArrays) {
    SpirvModule m;
    const uint32_t main = m.new_id(), length = m.new_id(), word = m.new_id(), array = m.new_id(),
                   pointer = m.new_id();
    m.op(17, {1}).op(14, {0, 1}).op(15, {5, main, kMainName, 0}).op(16, {main, 17, 1, 1, 1});
    m.op(71, {length, 1, 9});
    m.op(21, {word, 32, 0}).op(50, {word, length, 10}).op(28, {array, word, length});
    m.op(32, {pointer, 4, array}).op(59, {pointer, m.new_id(), 4});
    EXPECT_EQ(read(m.words()).facts.shared_bytes, 40u);
    EXPECT_EQ(read(m.words(), {{9, 1000}}).facts.shared_bytes, 4000u);
}

TEST(Spirv, TheBuiltInWorkgroupSizeOverridesTheExecutionMode) {
    SpirvModule m;
    const uint32_t main = m.new_id(), size = m.new_id(), word = m.new_id(), vector = m.new_id(),
                   two = m.new_id(), spec = m.new_id();
    m.op(17, {1}).op(14, {0, 1}).op(15, {5, main, kMainName, 0}).op(16, {main, 17, 64, 1, 1});
    m.op(71, {size, 11, 25}).op(71, {spec, 1, 3});
    m.op(21, {word, 32, 0}).op(23, {vector, word, 3}).op(43, {word, two, 2});
    m.op(50, {word, spec, 5}).op(51, {vector, size, two, two, spec});
    EXPECT_EQ(read(m.words()).facts.local_size, (std::array<uint32_t, 3>{2, 2, 5}));
    EXPECT_EQ(read(m.words(), {{3, 600}}).facts.local_size, (std::array<uint32_t, 3>{2, 2, 600}));
}

TEST(Spirv, WhatHidesDeclarationsIsRefused) {
    SpirvModule m;
    const uint32_t main = m.new_id(), word = m.new_id();
    m.op(17, {1}).op(14, {0, 1}).op(15, {5, main, kMainName, 0}).op(16, {main, 17, 1, 1, 1});
    SpirvModule grouped = m, late = m, by_ids = m;
    grouped.op(73, {word});
    EXPECT_NE(read(grouped.words()).error.find("groups of decorations"), std::string::npos);
    late.op(21, {word, 32, 0}).op(71, {word, 1, 9});
    EXPECT_NE(read(late.words()).error.find("decorations behind the types"), std::string::npos);
    by_ids.op(331, {main, 38, word, word, word});
    EXPECT_NE(read(by_ids.words()).error.find("by ids"), std::string::npos);
}

// A struct that has the one before twice, twenty times over: a megabyte to whoever walks the tree.
TEST(Spirv, NestedTypesAreMeasuredOnce) {
    SpirvModule m;
    const uint32_t main = m.new_id(), word = m.new_id();
    m.op(17, {1}).op(14, {0, 1}).op(15, {5, main, kMainName, 0}).op(16, {main, 17, 1, 1, 1});
    m.op(21, {word, 32, 0});
    uint32_t inner = word;
    for (int depth = 0; depth < 20; ++depth) {
        const uint32_t outer = m.new_id();
        m.op(30, {outer, inner, inner});
        inner = outer;
    }
    const uint32_t pointer = m.new_id();
    m.op(32, {pointer, 4, inner}).op(59, {pointer, m.new_id(), 4});
    EXPECT_EQ(read(m.words()).facts.shared_bytes, 4u << 20);
}

TEST(Spirv, EachTruncationAndEachChangedWordIsReadInBounds) {
    const std::vector<uint32_t> words = make_module({.push_words = 3,
                                                     .shared_words = 10,
                                                     .local_words = 5,
                                                     .spec_ids = {1},
                                                     .bindings = {0, 1},
                                                     .load_alignment = 16});
    ASSERT_TRUE(read(words).ok);
    for (size_t size = 0; size < words.size(); ++size)
        (void)read(std::span(words).first(size), {{1, 1}});
    for (size_t at = 0; at < words.size(); ++at)
        for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0xffffffffu, words[at] + 1,
                                     words[at] + 0x10000, words[at] - 0x10000}) {
            std::vector<uint32_t> changed = words;
            changed[at] = value;
            const Reading reading = read(changed, {{1, 1}});
            EXPECT_TRUE(reading.ok || !reading.error.empty());
        }
}

}  // namespace
}  // namespace hearth::test
