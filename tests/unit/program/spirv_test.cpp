// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/spirv.hpp"

#include "support/spirv_module.hpp"
#include "unit/program/program_file.hpp"

#include <functional>

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

/// The module that does nothing, with one more instruction before the first one of `opcode`.
std::vector<uint32_t> with_instruction(uint32_t opcode, const SpirvModule& more) {
    std::vector<uint32_t> words = make_module({.local_words = 4});
    size_t at = 5;
    while ((words[at] & 0xffff) != opcode) at += words[at] >> 16;
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), more.words().begin() + 5,
                 more.words().end());
    return words;
}

TEST(Spirv, ADispatchIsDivisibleUnlessItsWorkgroupsAreCountedOrMeetInAtomics) {
    constexpr uint32_t kDecorate = 71, kMemberDecorate = 72, kBuiltIn = 11, kTypeVoid = 19,
                       kReturn = 253;
    const auto is_divisible = [](const std::vector<uint32_t>& words) {
        const Reading reading = read(words);
        EXPECT_TRUE(reading.ok) << reading.error;
        return reading.facts.is_divisible;
    };
    const auto with_built_in = [&](uint32_t built_in) {
        return with_instruction(kTypeVoid, SpirvModule().op(kDecorate, {1, kBuiltIn, built_in}));
    };
    EXPECT_TRUE(is_divisible(make_module({})));
    for (const uint32_t built_in : {26u, 27u, 28u, 29u})
        EXPECT_TRUE(is_divisible(with_built_in(built_in)));
    EXPECT_FALSE(is_divisible(with_built_in(24)));  // NumWorkgroups
    EXPECT_FALSE(is_divisible(
        with_instruction(kTypeVoid, SpirvModule().op(kMemberDecorate, {1, 0, kBuiltIn, 24}))));
    for (const uint32_t atomic : {227u, 228u, 234u, 242u, 318u, 319u, 5614u, 5615u, 6035u})
        EXPECT_FALSE(is_divisible(with_instruction(kReturn, SpirvModule().op(atomic, {1, 1, 1}))))
            << atomic;
    for (const uint32_t other : {224u, 225u, 245u})  // barriers, a phi
        EXPECT_TRUE(is_divisible(with_instruction(kReturn, SpirvModule().op(other, {1, 1, 1}))))
            << other;
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

TEST(Spirv, MoreConstantsThanIdsAreRefused) {
    const std::vector<uint32_t> words = make_module({});
    Constants constants;
    while (constants.size() < words[3]) constants.push_back({uint32_t(constants.size()), 1});
    EXPECT_NE(read(words, constants).error.find("no specialization constant 0"), std::string::npos);
    constants.push_back({uint32_t(constants.size()), 1});
    EXPECT_NE(read(words, constants)
                  .error.find("fewer ids than the kernel sets specialization constants"),
              std::string::npos);
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
    expect_refused({.execution_model = 4}, "not a compute shader");
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
    EXPECT_NE(read(late.words()).error.find("decorations after the types"), std::string::npos);
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

// --- One instruction at a time

/// A module behind its execution modes, with some types to use.
struct Front {
    SpirvModule m;
    const uint32_t main = m.new_id(), decorated = m.new_id(), word = m.new_id(), wide = m.new_id(),
                   real = m.new_id(), nothing = m.new_id(), two = m.new_id(), fresh = m.new_id();
    Front() {
        m.op(17, {1}).op(14, {0, 1}).op(15, {5, main, kMainName, 0}).op(16, {main, 17, 1, 1, 1});
    }
    Front& types() {
        m.op(21, {word, 32, 0}).op(21, {wide, 64, 0}).op(22, {real, 32}).op(19, {nothing});
        m.op(43, {word, two, 2});
        return *this;
    }
    uint32_t pointer(uint32_t storage, uint32_t type) {
        const uint32_t id = m.new_id();
        m.op(32, {id, storage, type});
        return id;
    }
    void variable(uint32_t storage, uint32_t type) {
        const uint32_t to = pointer(storage, type);
        m.op(59, {to, m.new_id(), storage});
    }
};

/// What is wrong with the module: what its SPIR-V has; nothing if it is accepted.
std::string after(const std::function<void(Front&)>& change, const Constants& constants = {}) {
    Front front;
    change(front);
    const std::string error = read(front.m.words(), constants).error;
    const std::string_view subject = "its SPIR-V has ";
    EXPECT_TRUE(error.empty() || error.starts_with(subject)) << error;
    return error.empty() ? "" : error.substr(subject.size());
}

TEST(Spirv, ChecksTheHeaderAndTheLengthsOfInstructions) {
    EXPECT_EQ(spirv_bound(std::vector<uint32_t>{0x07230203, 0x00010500, 0, 1, 0}), 0u);
    EXPECT_EQ(spirv_bound(std::vector<uint32_t>{0x07230203, 0x00010500, 0, 1, 0, 0x10000}), 1u);
    EXPECT_EQ(spirv_bound(std::vector<uint32_t>{0x07230204, 0x00010500, 0, 1, 0, 0x10000}), 0u);
    EXPECT_EQ(spirv_bound({}), 0u);
    for (const std::vector<uint32_t>& none :
         {std::vector<uint32_t>(), {0x07230203, 0x00010500, 0, 1}, {1, 0x00010500, 0, 1, 0, 1}})
        EXPECT_NE(read(none).error.find("an id bound that is too large"), std::string::npos);
    EXPECT_TRUE(read(make_module({.version = 0x00010000})).ok);
    EXPECT_TRUE(read(make_module({.version = 0x00010600})).ok);
    const std::vector<uint32_t> words = make_module({});
    std::vector<SpirvId> ids(spirv_bound(words) - 1);
    SpirvFacts facts;
    ViewError error;
    EXPECT_FALSE(read_spirv(words, {}, ids, &facts, &error)) << "too few ids to read into";
    ids.emplace_back();
    EXPECT_TRUE(read_spirv(words, {}, ids, &facts, &error));
    std::vector<uint32_t> cut = words;
    for (const uint32_t bad : {0u, 2u << 16, 0xffffu << 16}) {
        cut.back() = bad;
        EXPECT_NE(read(cut).error.find("an instruction of impossible length at word"),
                  std::string::npos);
    }
}

TEST(Spirv, ChecksEntryPointsAndModes) {
    EXPECT_EQ(after([](Front&) {}), "");
    EXPECT_EQ(after([](Front& f) { f.m.op(17, {}); }),
              "a capability instruction without its operand");
    EXPECT_EQ(after([](Front& f) { f.m.op(15, {5, f.main}); }), "an entry point without a name");
    EXPECT_EQ(after([](Front& f) {
                  f.m.op(15, {5, f.main, kMainName});
              }),
              "an entry point that is not named main");
    EXPECT_EQ(after([](Front& f) {
                  f.m.op(16, {f.main, 17, 8, 8});
              }),
              "a local size without three extents");
    EXPECT_EQ(after([](Front& f) { f.m.op(16, {f.main, 5289}); }), "") << "another mode";
    EXPECT_EQ(after([](Front& f) { f.m.op(331, {f.main, 5289, f.word}); }), "") << "another mode";
}

TEST(Spirv, ChecksDecorations) {
    const std::string none = "a decoration of an id that does not exist",
                      number = "a decoration without its operand";
    EXPECT_EQ(after([](Front& f) { f.m.op(71, {f.decorated}); }), none);
    for (const uint32_t id : {0u, 9u, ~0u}) {
        EXPECT_EQ(after([=](Front& f) { f.m.op(71, {id, 1, 1}); }), none);
        EXPECT_EQ(after([=](Front& f) { f.m.op(72, {id, 0, 35, 0}); }), none);
    }
    for (const uint32_t kind : {1u, 33u, 34u})
        EXPECT_EQ(after([=](Front& f) { f.m.op(71, {f.decorated, kind}); }), number);
    EXPECT_EQ(after([](Front& f) { f.m.op(71, {f.decorated, 6}); }), "an array without a stride");
    EXPECT_EQ(after([](Front& f) {
                  f.m.op(71, {f.decorated, 6, 0});
              }),
              "an array without a stride");
    EXPECT_EQ(after([](Front& f) { f.m.op(71, {f.decorated, 24}); }), "") << "another decoration";
    EXPECT_EQ(after([](Front& f) { f.m.op(72, {f.decorated, 0}); }), none);
    EXPECT_EQ(after([](Front& f) { f.m.op(72, {f.decorated, 0, 35}); }), number);
    EXPECT_EQ(after([](Front& f) { f.m.op(72, {f.decorated, 0, 24}); }), "");
    EXPECT_EQ(after([](Front& f) { f.m.op(72, {f.decorated, 0xffff, 35, 0}); }), "");
    EXPECT_EQ(after([](Front& f) {
                  f.m.op(72, {f.decorated, 0x10000, 35, 0});
              }),
              "an offset of a member that does not exist");
    EXPECT_EQ(after([](Front& f) {
                  f.types().m.op(72, {f.decorated, 0, 35, 0});
              }),
              "decorations after the types");
}

TEST(Spirv, ChecksTypes) {
    const auto type = [](uint32_t op,
                         const std::function<std::vector<uint32_t>(Front&)>& operands) {
        return after([&](Front& f) { f.types().m.op(op, operands(f)); });
    };
    using V = std::vector<uint32_t>;
    for (const uint32_t op : {19u, 21u, 28u, 30u, 39u}) {
        EXPECT_EQ(type(op, [](Front&) { return V{}; }), "a type without an id");
        EXPECT_EQ(type(op, [](Front&) { return V{99, 32, 0}; }), "a type without an id");
    }
    EXPECT_EQ(type(39, [](Front& f) { return V{f.fresh}; }), "a pointer without a storage class");
    const std::string twice = "an id that is defined twice";
    EXPECT_EQ(type(21, [](Front& f) { return V{f.word, 32, 0}; }), twice);
    EXPECT_EQ(type(19, [](Front& f) { return V{f.nothing}; }), twice);
    for (const uint32_t bits : {8u, 16u, 32u, 64u})
        EXPECT_EQ(type(21, [=](Front& f) { return V{f.fresh, bits, 0}; }), "");
    EXPECT_EQ(type(21,
                   [](Front& f) {
                       return V{f.fresh, 24, 0};
                   }),
              "a type of 24 bits, which kernels may not use");
    EXPECT_EQ(type(22,
                   [](Front& f) {
                       return V{f.fresh, 128};
                   }),
              "a type of 128 bits, which kernels may not use");
    const std::string vector = "a vector or matrix of a type without a size";
    for (const uint32_t lanes : {2u, 16u})
        EXPECT_EQ(type(23, [=](Front& f) { return V{f.fresh, f.word, lanes}; }), "");
    for (const uint32_t lanes : {0u, 1u, 17u})
        EXPECT_EQ(type(23, [=](Front& f) { return V{f.fresh, f.word, lanes}; }), vector);
    EXPECT_EQ(type(23, [](Front& f) { return V{f.fresh, f.nothing, 2}; }), vector);
    EXPECT_EQ(type(23, [](Front& f) { return V{f.fresh, 99, 2}; }), vector);
    EXPECT_EQ(type(23,
                   [](Front& f) {
                       f.m.op(30, {f.decorated, f.word});
                       return V{f.fresh, f.decorated, 2};
                   }),
              vector)
        << "of structs";
    EXPECT_EQ(type(29,
                   [](Front& f) {
                       return V{f.fresh, f.nothing};
                   }),
              "an array of a type without a size");
    EXPECT_EQ(type(29,
                   [](Front& f) {
                       return V{f.fresh, 99};
                   }),
              "an array of a type without a size");
    EXPECT_EQ(type(32, [](Front& f) { return V{f.fresh, 4}; }), "a pointer without a type");
    EXPECT_EQ(type(28,
                   [](Front& f) {
                       return V{f.fresh, f.real};
                   }),
              "an array without an element type");
    EXPECT_EQ(type(28,
                   [](Front& f) {
                       return V{f.fresh, 99, f.two};
                   }),
              "an array without an element type");
    EXPECT_EQ(type(28,
                   [](Front& f) {
                       return V{f.fresh, f.real, 99};
                   }),
              "an array whose length is not a constant");
    EXPECT_EQ(type(28,
                   [](Front& f) {
                       return V{f.fresh, f.real, f.word};
                   }),
              "an array whose length is not a constant");
    // Of matrices that a subgroup holds, say: of no size that is known here.
    EXPECT_EQ(type(28, [](Front& f) { return V{f.fresh, f.nothing, f.word}; }), "");
    EXPECT_EQ(type(30,
                   [](Front& f) {
                       return V{f.fresh, f.word, 99};
                   }),
              "a struct member without a type");
    EXPECT_EQ(type(30, [](Front& f) { return V{f.fresh, f.nothing, f.word}; }), "");
    EXPECT_EQ(type(30, [](Front& f) { return V{f.fresh}; }), "");
}

TEST(Spirv, MeasuresMatricesArraysAndStructs) {
    const auto shared = [](const std::function<uint32_t(Front&)>& make) {
        Front f;
        f.types();
        const uint32_t type = make(f);
        f.variable(4, type);
        const Reading reading = read(f.m.words());
        return reading.ok ? std::to_string(reading.facts.shared_bytes) : reading.error;
    };
    const auto vector = [](Front& f, uint32_t of, uint32_t lanes) {
        const uint32_t id = f.m.new_id();
        f.m.op(23, {id, of, lanes});
        return id;
    };
    const auto array = [](Front& f, uint32_t of, uint32_t count) {
        const uint32_t length = f.m.new_id(), id = f.m.new_id();
        f.m.op(43, {f.word, length, count}).op(28, {id, of, length});
        return id;
    };
    EXPECT_EQ(shared([&](Front& f) { return vector(f, f.real, 3); }), "12");
    EXPECT_EQ(shared([&](Front& f) {
                  const uint32_t columns = vector(f, f.real, 3);
                  f.m.op(24, {f.fresh, columns, 2});
                  return f.fresh;
              }),
              "32");
    EXPECT_EQ(shared([&](Front& f) { return array(f, vector(f, f.real, 3), 2); }), "32");
    EXPECT_EQ(shared([&](Front& f) {
                  f.m.op(30, {f.fresh, f.word, f.wide, f.word});
                  return f.fresh;
              }),
              "20");
    const std::string array_limit = "its SPIR-V has an array of over 2^32 bytes",
                      struct_limit = "its SPIR-V has a struct of over 2^33 bytes",
                      limit = "its SPIR-V has variables of over 4294967296 bytes";
    EXPECT_EQ(shared([&](Front& f) { return array(f, f.real, 1u << 30); }), "4294967296");
    EXPECT_EQ(shared([&](Front& f) { return array(f, f.real, (1u << 30) + 1); }), array_limit);
    const auto halves = [&](bool with_more) {
        return shared([&](Front& f) {
            const uint32_t half = array(f, f.real, 1u << 30);
            if (with_more)
                f.m.op(30, {f.fresh, half, half, f.word});
            else
                f.m.op(30, {f.fresh, half, half});
            return f.fresh;
        });
    };
    EXPECT_EQ(halves(false), limit);
    EXPECT_EQ(halves(true), struct_limit);
    EXPECT_EQ(shared([](Front& f) { return f.nothing; }),
              "its SPIR-V has a variable of a type without a size");
    // Offsets say where the last member ends.
    const auto offset = [](uint32_t member, uint32_t at) {
        Front f;
        f.m.op(72, {f.fresh, member, 35, at});
        f.types();
        f.m.op(30, {f.fresh, f.word, f.word});
        f.variable(9, f.fresh);
        const Reading reading = read(f.m.words());
        return reading.ok ? std::to_string(reading.facts.push_bytes) : reading.error;
    };
    EXPECT_EQ(offset(1, 16), "20");
    EXPECT_EQ(offset(0, 16), "20");
    EXPECT_EQ(offset(2, 16), "its SPIR-V has an offset of a member that does not exist");
    // The two last of which the sum with the words ahead, or the mark for none, once was taken.
    for (const uint32_t member : {0xffffu, 0x10000u, ~0u - 1, ~0u})
        EXPECT_EQ(offset(member, 16), "its SPIR-V has an offset of a member that does not exist");
    // A pointer that is declared before what it points to has the size of an address.
    Front f;
    f.types();
    f.m.op(39, {f.decorated, 5349}).op(30, {f.fresh, f.decorated, f.word});
    f.variable(9, f.fresh);
    EXPECT_EQ(read(f.m.words()).facts.push_bytes, 12u);
}

TEST(Spirv, ChecksConstants) {
    const std::string none = "a constant without an id", twice = "an id that is defined twice";
    for (const uint32_t op : {41u, 43u, 52u}) {
        EXPECT_EQ(after([=](Front& f) { f.types().m.op(op, {f.word}); }), none);
        EXPECT_EQ(after([=](Front& f) { f.types().m.op(op, {f.word, 99, 1}); }), none);
        EXPECT_EQ(after([=](Front& f) { f.types().m.op(op, {99, f.fresh, 1}); }), none);
        EXPECT_EQ(after([=](Front& f) {
                      f.types().m.op(op, {f.word, f.fresh, 1}).op(op, {f.word, f.fresh, 1});
                  }),
                  twice);
    }
    EXPECT_EQ(after([](Front& f) {
                  f.types().m.op(43, {f.word, f.fresh});
              }),
              "a constant without a value");
    // The largest number is no mark of constants that have none.
    EXPECT_EQ(after([](Front& f) { f.types(); }, {{~0u, 1}}),
              "no specialization constant 4294967295, which the kernel sets");
    const auto specialized = [](const std::function<uint32_t(Front&)>& type) {
        return after(
            [&](Front& f) {
                f.m.op(71, {f.decorated, 1, 4});
                f.types();
                const uint32_t of = type(f);
                f.m.op(50, {of, f.decorated, 1, 0});
            },
            {{4, 1}});
    };
    const std::string bits = "a specialization constant 4 that is not of 32 bits";
    EXPECT_EQ(specialized([](Front& f) { return f.word; }), "");
    EXPECT_EQ(specialized([](Front& f) { return f.real; }), "");
    EXPECT_EQ(specialized([](Front& f) { return f.wide; }), bits);
    EXPECT_EQ(specialized([](Front& f) {
                  f.m.op(30, {f.fresh, f.word});
                  return f.fresh;
              }),
              bits);
    // A constant that the kernel does not set keeps its value, of any size.
    EXPECT_EQ(after([](Front& f) {
                  f.m.op(71, {f.decorated, 1, 4});
                  f.types().m.op(50, {f.wide, f.decorated, 1, 0});
              }),
              "");
    const auto size = [](const std::function<std::vector<uint32_t>(Front&)>& parts) {
        return after([&](Front& f) {
            f.m.op(71, {f.fresh, 11, 25});
            f.types().m.op(51, parts(f));
        });
    };
    using V = std::vector<uint32_t>;
    const std::string three = "a local size without three extents",
                      constant = "a local size that is not constant";
    EXPECT_EQ(size([](Front& f) { return V{f.word, f.fresh, f.two, f.two, f.two}; }), "");
    EXPECT_EQ(size([](Front& f) { return V{f.word, f.fresh, f.two, f.two}; }), three);
    EXPECT_EQ(size([](Front& f) { return V{f.word, f.fresh, f.two, f.two, f.two, f.two}; }), three);
    EXPECT_EQ(size([](Front& f) { return V{f.word, f.fresh, f.two, f.two, 99}; }), constant);
    EXPECT_EQ(size([](Front& f) { return V{f.word, f.fresh, f.two, f.two, f.word}; }), constant);
    const auto large = [&](uint32_t low, uint32_t high) {
        return size([=](Front& f) {
            const uint32_t id = f.m.new_id();
            f.m.op(43, {f.wide, id, low, high});
            return V{f.word, f.fresh, f.two, f.two, id};
        });
    };
    EXPECT_EQ(large(~0u, 0), "");
    EXPECT_EQ(large(0, 1), constant);
}

TEST(Spirv, ChecksVariables) {
    const std::string none = "a variable without a type or an id";
    const auto variable = [](const std::function<std::vector<uint32_t>(Front&, uint32_t)>& make) {
        return after([&](Front& f) {
            const uint32_t to = f.types().pointer(4, f.word);
            f.m.op(59, make(f, to));
        });
    };
    using V = std::vector<uint32_t>;
    EXPECT_EQ(variable([](Front& f, uint32_t to) { return V{to, f.fresh, 4}; }), "");
    EXPECT_EQ(variable([](Front& f, uint32_t to) { return V{to, f.fresh}; }), none);
    EXPECT_EQ(variable([](Front& f, uint32_t) { return V{99, f.fresh, 4}; }), none);
    EXPECT_EQ(variable([](Front& f, uint32_t) { return V{f.word, f.fresh, 4}; }), none);
    EXPECT_EQ(variable([](Front&, uint32_t to) { return V{to, 99, 4}; }), none);
    EXPECT_EQ(variable([](Front& f, uint32_t to) {
                  return V{to, f.fresh, 6};
              }),
              "a variable of another storage class than its type");
    EXPECT_EQ(after([](Front& f) { f.types().variable(4, 99); }), "a variable without a type");
    EXPECT_EQ(after([](Front& f) { f.types().variable(0, f.word); }),
              "a variable of storage class 0, which kernels may not use");
    EXPECT_EQ(after([](Front& f) { f.types().variable(6, f.nothing); }), "")
        << "of no size that is known here";
    const auto local = [](uint32_t count) {
        return after([=](Front& f) {
            f.types();
            const uint32_t length = f.m.new_id();
            f.m.op(43, {f.word, length, count}).op(28, {f.fresh, f.real, length});
            f.variable(7, f.fresh);
        });
    };
    EXPECT_EQ(local(65536), "");
    EXPECT_EQ(local(65537), "variables of over 262144 bytes");

    const std::string block = "push constants that are not one block";
    const auto push = [](const std::function<uint32_t(Front&)>& type, int count = 1) {
        return after([&](Front& f) {
            f.types();
            const uint32_t of = type(f);
            for (int i = 0; i < count; ++i) f.variable(9, of);
        });
    };
    const auto structure = [](Front& f) {
        f.m.op(30, {f.fresh, f.word});
        return f.fresh;
    };
    EXPECT_EQ(push(structure), "");
    EXPECT_EQ(push(structure, 2), block);
    EXPECT_EQ(push([](Front& f) { return f.word; }), block);
    EXPECT_EQ(push([](Front& f) {
                  f.m.op(30, {f.fresh, f.nothing});
                  return f.fresh;
              }),
              block);

    const std::string buffer = "a descriptor that is not a storage buffer";
    const auto descriptor = [](uint32_t storage, bool is_struct, bool is_block, uint32_t binding) {
        return after([=](Front& f) {
            const uint32_t id = f.m.new_id();
            f.m.op(71, {id, 34, 0}).op(71, {id, 33, binding});
            if (is_block) f.m.op(71, {f.fresh, 3});
            f.types().m.op(30, {f.fresh, f.word});
            const uint32_t to = f.pointer(storage, is_struct ? f.fresh : f.word);
            f.m.op(59, {to, id, storage});
        });
    };
    EXPECT_EQ(descriptor(12, true, false, 0), "");
    EXPECT_EQ(descriptor(2, true, true, 0), "");
    EXPECT_EQ(descriptor(2, true, false, 0), buffer);
    EXPECT_EQ(descriptor(12, false, false, 0), buffer);
    EXPECT_EQ(descriptor(12, true, false, 65536), "");
    EXPECT_EQ(descriptor(12, true, false, 65537), "a descriptor that is not in set 0");
}

TEST(Spirv, ChecksAccesses) {
    // OpLoad, OpStore, OpCopyMemory, OpCopyMemorySized, matrices: where their memory operands are.
    const std::pair<uint32_t, uint32_t> operations[] = {{61, 4},   {62, 3},   {63, 3},   {64, 4},
                                                        {4457, 6}, {4458, 5}, {5359, 6}, {5360, 5}};
    for (const auto& [op, mask] : operations) {
        std::vector<uint32_t> operands(mask - 1, 1);
        const auto with = [&, op = op](std::initializer_list<uint32_t> memory) {
            Front f;
            std::vector<uint32_t> all = operands;
            all.insert(all.end(), memory);
            const Reading reading = read(f.types().m.op(op, all).words());
            return reading.ok ? std::to_string(reading.facts.access_bytes) : reading.error;
        };
        EXPECT_EQ(with({}), "1") << op;
        EXPECT_EQ(with({2, 32}), "32") << op;
        EXPECT_EQ(with({1}), "1") << op;
        EXPECT_EQ(with({2}), "its SPIR-V has an access without its alignment") << op;
    }
}

// --- What a module declares against the record of its kernel

/// What is wrong with the code of a kernel; nothing if it is accepted.
std::string checked_kernel(const Program& program, size_t index) {
    const std::vector<std::byte> bytes = save_program(program);
    ProgramView view;
    ViewError error;
    EXPECT_TRUE(view.open(bytes, &error)) << error.text.c_str();
    if (index >= view.kernels().size()) return "no such kernel";
    std::vector<SpirvId> ids(1024);
    SpirvFacts facts;
    if (check_code(view, view.kernels()[index], ids, &facts, &error)) return "";
    EXPECT_EQ(error.code, StatusCode::kCorruptData);
    return error.text.c_str();
}

/// Kernel 0 of a program with this code.
std::string checked(const ModuleParts& parts, BindingModel model = BindingModel::kDeviceAddress) {
    Program program = make_program(model);
    program.kernels[0].spirv = make_module(parts);
    program.kernels[0].spec_constants.clear();
    return checked_kernel(program, 0);
}

TEST(CheckCode, HoldsAModuleAgainstItsRecord) {
    const std::string kernel = "program: kernel mix: ";
    const BindingModel addresses = BindingModel::kDeviceAddress, sets = BindingModel::kDescriptor;
    // Four operands and three words: 44 bytes of push constants, or 12 beside four descriptors.
    EXPECT_EQ(checked({.push_words = 11}), "");
    EXPECT_EQ(checked({.push_words = 3, .bindings = {0, 3}}, sets), "");
    EXPECT_EQ(checked({}), "") << "push constants that it does not read";
    EXPECT_EQ(checked({.push_words = 10}),
              kernel + "its operands and words take 44 bytes of push constants, its code has 40");
    EXPECT_EQ(checked({.push_words = 11}, sets),
              kernel + "its operands and words take 12 bytes of push constants, its code has 44");
    EXPECT_EQ(checked({.local_size = {64, 1, 2}}),
              kernel + "local size 64x1x1, its code has 64x1x2");
    EXPECT_EQ(checked({.local_size = {32, 1, 1}}),
              kernel + "local size 64x1x1, its code has 32x1x1");
    EXPECT_EQ(checked({.bindings = {4}}, sets),
              kernel + "its code has binding 4, its operands are 4 descriptors");
    EXPECT_EQ(checked({.bindings = {0}}, addresses),
              kernel + "its code has binding 0, its operands are 0 descriptors");
    EXPECT_EQ(checked({.capabilities = {1, 5347}}, addresses), "");
    EXPECT_EQ(checked({.capabilities = {1, 5347}}, sets),
              kernel + "its code uses addresses, the program's operands are descriptors");
    EXPECT_EQ(checked({.load_alignment = 16}), "");
    EXPECT_EQ(checked({.load_alignment = 32}),
              kernel + "its code accesses 32 bytes at once, its record says 16");
    EXPECT_EQ(checked({.version = 0x00010700}),
              kernel + "its SPIR-V has version word 0x00010700, expected 1.0 to 1.6");
    // Constants of located operands may be missing, all others not.
    const auto located = [&](uint32_t count) {
        Program program = make_program();
        Kernel added = program.kernels[0];
        added.spirv = make_module({});
        added.located_count = count;
        added.spec_constants = {{0, 0}};
        program.kernels.push_back(added);
        return checked_kernel(program, program.kernels.size() - 1);
    };
    EXPECT_EQ(located(1), "");
    EXPECT_EQ(located(0), kernel +
                              "its SPIR-V has no specialization constant 0, which the kernel "
                              "sets");
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
