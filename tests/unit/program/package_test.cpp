// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/package.hpp"

#include "core/checksum.hpp"
#include "support/test_program.hpp"

#include <gtest/gtest.h>

#include <random>

namespace hearth::test {
namespace {

// A header and one OpNop: enough for what is checked of SPIR-V.
constexpr uint32_t kSpirv[] = {0x07230203, 0x00010500, 0, 1, 0, 0x00010000};

Program make_program(const char* profile) {
    Program program =
        TestProgramBuilder({kSpirv, kSpirv, kSpirv}, BindingModel::kDeviceAddress).build();
    program.profile = profile;
    return program;
}

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

PackageContents make_contents() {
    PackageContents contents;
    contents.graph = bytes_of("a graph, which the device column never reads");
    contents.graph_hash = 42;
    contents.profiles.push_back({"fast", make_program("fast"), 32768, 32});
    contents.profiles.push_back({"baseline", make_program("baseline"), 16384, 0});
    contents.notes = "{}";
    return contents;
}

std::vector<std::byte> make_package() {
    return save_package(make_contents()).value();
}

bool opens(std::span<const std::byte> bytes, ViewError* error) {
    PackageView view;
    if (!view.open(bytes, error)) return false;
    for (uint32_t i = 0; i < view.profiles().size(); ++i) {
        ProgramView program;
        if (!program.open(view.program(i), error, view.weights())) return false;
    }
    return true;
}

/// Expects a refusal with `expected` in the message.
void expect_refused(std::span<const std::byte> bytes, std::string_view expected) {
    ViewError error;
    EXPECT_FALSE(opens(bytes, &error));
    EXPECT_NE(std::string_view(error.text.c_str()).find(expected), std::string_view::npos)
        << error.text.c_str();
}

template <class Change>
std::vector<std::byte> with_header(std::vector<std::byte> bytes, Change change) {
    file::PackageHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

TEST(Package, HoldsEachProfileAndTheWeightsOnce) {
    const std::vector<std::byte> bytes = make_package();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error)) << error.text.c_str();
    EXPECT_EQ(view.header().graph_hash, 42u);
    ASSERT_EQ(view.profiles().size(), 2u);
    EXPECT_EQ(view.find_profile("baseline"), 1);
    EXPECT_EQ(view.find_profile("other"), -1);
    EXPECT_EQ(view.profiles()[0].shared_memory_bytes, 32768u);
    EXPECT_EQ(view.notes(), "{}");
    const Program original = make_program("fast");
    uint64_t contents = 0;
    for (const Slot& slot : original.slots)
        if (slot.data_offset != kZeroFilled) contents += (slot.bytes + 15) / 16 * 16;
    EXPECT_LE(view.weights().size(), contents);
    for (uint32_t i = 0; i < 2; ++i) {
        const Result<Program> program = load_program(view.program(i), view.weights());
        ASSERT_TRUE(program.ok()) << program.status().message();
        EXPECT_EQ(program->profile, view.profiles()[i].name);
        ASSERT_EQ(program->slots.size(), original.slots.size());
        for (size_t s = 0; s < original.slots.size(); ++s) {
            const Slot &a = original.slots[s], &b = program->slots[s];
            ASSERT_EQ(a.data_offset == kZeroFilled, b.data_offset == kZeroFilled);
            if (a.data_offset == kZeroFilled) continue;
            EXPECT_EQ(std::memcmp(original.data.data() + a.data_offset,
                                  program->data.data() + b.data_offset, a.bytes),
                      0);
        }
    }
}

TEST(Package, HoldsAManifestOfAgentsWhereThereIsOne) {
    ViewError error;
    PackageView view;
    const std::vector<std::byte> without = make_package();
    ASSERT_TRUE(view.open(without, &error));
    EXPECT_TRUE(view.agents().empty());
    PackageContents contents = make_contents();
    contents.agents = {std::byte{1}, std::byte{2}, std::byte{3}};
    const std::vector<std::byte> with = save_package(std::move(contents)).value();
    ASSERT_TRUE(view.open(with, &error)) << error.text.c_str();
    ASSERT_EQ(view.agents().size(), 3u);
    EXPECT_EQ(view.agents()[2], std::byte{3});
    EXPECT_EQ(view.notes(), "{}");
}

TEST(Package, SectionsLieWhereTheyCanBeMapped) {
    const std::vector<std::byte> bytes = make_package();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error));
    EXPECT_EQ((view.weights().data() - bytes.data()) % 4096, 0);
    for (uint32_t i = 0; i < view.sections().size(); ++i)
        EXPECT_EQ((view.section(i).data() - bytes.data()) % 64, 0);
}

TEST(Package, SavingIsDeterministic) {
    EXPECT_EQ(make_package(), make_package());
}

TEST(Package, EachTruncationIsRejectedWithAMessage) {
    const std::vector<std::byte> bytes = make_package();
    for (size_t size = 0; size < bytes.size(); ++size) {
        // A copy of its own, so that a sanitizer sees reads beyond the end.
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<ptrdiff_t>(size));
        ViewError error;
        EXPECT_FALSE(opens(cut, &error)) << size;
        EXPECT_FALSE(error.text.empty()) << size;
    }
}

TEST(Package, EachFlippedBitIsRejected) {
    std::vector<std::byte> bytes = make_package();
    for (size_t bit = 0; bit < bytes.size() * 8; bit += bit < 8192 ? 1 : 13) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        ViewError error;
        EXPECT_FALSE(opens(bytes, &error)) << "bit " << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(Package, AnythingUnderARightChecksumIsRejectedOrReadInBounds) {
    const std::vector<std::byte> original = make_package();
    const size_t tables =
        sizeof(file::PackageHeader) + 5 * sizeof(file::PackageSectionRecord) + 2 * 48;
    std::mt19937_64 random(7);
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> bytes = original;
        for (uint64_t change = random() % 3; change < 3; ++change)
            bytes[24 + random() % (tables - 24)] = static_cast<std::byte>(random());
        const uint64_t sum = checksum(std::span(bytes).first(tables).subspan(24));
        std::memcpy(bytes.data() + 16, &sum, sizeof sum);
        ViewError error;
        (void)opens(bytes, &error);
    }
}

TEST(Package, SaysWhatIsWrong) {
    const std::vector<std::byte> bytes = make_package();
    expect_refused({}, "shorter than its header");
    expect_refused(with_header(bytes, [](auto& h) { h.magic = 0; }), "not a Hearth package");
    expect_refused(with_header(bytes, [](auto& h) { h.format_version = 9; }),
                   "format version 9, expected 1");
    expect_refused(with_header(bytes, [](auto& h) { h.graph_hash = 0; }), "checksum");
    expect_refused(std::span(bytes).first(bytes.size() - 1), "the header says");
    std::vector<std::byte> longer = bytes;
    longer.push_back({});
    expect_refused(longer, "the header says");
}

TEST(Package, AProgramOfAnotherVersionIsToldApartFromDamage) {
    PackageContents contents = make_contents();
    contents.profiles[0].program.format_version += 1;
    const std::vector<std::byte> bytes = save_package(std::move(contents)).value();
    ViewError error;
    EXPECT_FALSE(opens(bytes, &error));
    EXPECT_EQ(error.code, StatusCode::kUnsupported);
}

TEST(Package, AProgramWithoutItsWeightsIsRefused) {
    const std::vector<std::byte> bytes = make_package();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(bytes, &error));
    ProgramView program;
    EXPECT_FALSE(program.open(view.program(0), &error));
    EXPECT_FALSE(program.open(view.program(0), &error, view.weights().first(8)));
}

TEST(Package, NamesOfProfilesMustDiffer) {
    PackageContents contents = make_contents();
    contents.profiles[1].name = "fast";
    const auto twice = save_package(std::move(contents));
    ASSERT_FALSE(twice.ok());
    EXPECT_EQ(twice.status().message(), "two profiles are named 'fast'");
    EXPECT_FALSE(save_package({}).ok());
}

TEST(DataPool, StoresEqualBytesOnce) {
    DataPool pool;
    const uint64_t a = pool.add(bytes_of("weights"));
    EXPECT_EQ(pool.add(bytes_of("weights")), a);
    EXPECT_NE(pool.add(bytes_of("weight")), a);
    EXPECT_EQ(pool.bytes().size(), 22u);
}

TEST(Checksum, EachBitOfEachLengthMatters) {
    for (size_t size = 0; size < 80; ++size) {
        std::vector<std::byte> data(size);
        const uint64_t zeros = checksum(data);
        std::vector<std::byte> longer(size + 1);
        EXPECT_NE(checksum(longer), zeros);
        for (size_t bit = 0; bit < size * 8; ++bit) {
            data[bit / 8] = std::byte{1} << (bit % 8);
            EXPECT_NE(checksum(data), zeros) << size << " " << bit;
            data[bit / 8] = {};
        }
    }
    // Computed apart, by the formula in checksum.hpp: files depend on it for ever.
    EXPECT_EQ(checksum(bytes_of("The quick brown fox jumps over the lazy dog")),
              0x937d1b546494d5c6);
}

}  // namespace
}  // namespace hearth::test
