// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/checksum.hpp"
#include "program/view.hpp"
#include "support/test_program.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace hearth::test {
namespace {

// A header and one OpNop: enough for what is checked of SPIR-V.
constexpr uint32_t kSpirv[] = {0x07230203, 0x00010500, 0, 1, 0, 0x00010000};

Program make_program(BindingModel model = BindingModel::kDeviceAddress) {
    Program program = TestProgramBuilder({kSpirv, kSpirv, kSpirv}, model).build();
    program.kernels[1].source = "void main() {}";
    program.commands[0].operand_values = {kNoValue, 1, 1, 2};
    return program;
}

/// Makes the checksum right again after bytes were changed.
void fix_checksum(std::vector<std::byte>& bytes) {
    file::FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.checksum = checksum(std::span(bytes).subspan(file::kChecksumEnd));
    std::memcpy(bytes.data(), &header, sizeof header);
}

/// Saves, loads, expects kCorruptData and `expected` in the message.
void expect_refused(const std::function<void(Program&)>& change, std::string_view expected) {
    Program program = make_program();
    change(program);
    const Result<Program> loaded = load_program(save_program(program));
    ASSERT_FALSE(loaded.ok()) << expected;
    EXPECT_EQ(loaded.status().code(), StatusCode::kCorruptData);
    EXPECT_NE(loaded.status().message().find(expected), std::string::npos)
        << loaded.status().message();
}

TEST(Serialize, LoadingWhatWasSavedGivesAnEqualProgram) {
    for (const BindingModel model : {BindingModel::kDeviceAddress, BindingModel::kDescriptor}) {
        Program program = make_program(model);
        program.storage = {.bits16 = true, .bits8 = model == BindingModel::kDescriptor};
        program.kernels[0].needs_int8_storage = program.storage.bits8;
        program.kernels[1].needs_matrix_cores = model == BindingModel::kDescriptor
                                                    ? CooperativeMatrixExt::kKhr
                                                    : CooperativeMatrixExt::kNv;
        program.kernels[1].matrix = {8, 16, 32};
        program.kernels[1].needs_workgroup_matrices = model == BindingModel::kDescriptor;
        program.kernels[1].subgroup_size = 64;
        program.hash = content_hash(program);
        const std::vector<std::byte> bytes = save_program(program);
        Result<Program> loaded = load_program(bytes);
        ASSERT_TRUE(loaded.ok()) << loaded.status().message();
        EXPECT_EQ(save_program(*loaded), bytes);
        EXPECT_EQ(dump(*loaded), dump(program));
        EXPECT_EQ(content_hash(*loaded), program.hash);
        EXPECT_EQ(loaded->storage, program.storage);
        EXPECT_EQ(loaded->kernels[0].needs_int8_storage, program.storage.bits8);
        EXPECT_EQ(loaded->kernels[1].needs_matrix_cores, program.kernels[1].needs_matrix_cores);
        EXPECT_EQ(loaded->kernels[1].matrix, program.kernels[1].matrix);
        EXPECT_EQ(loaded->kernels[1].needs_workgroup_matrices,
                  program.kernels[1].needs_workgroup_matrices);
        EXPECT_EQ(loaded->kernels[1].subgroup_size, 64u);
        EXPECT_EQ(loaded->kernels[1].source, "void main() {}");
        EXPECT_EQ(loaded->commands[0].operand_values, program.commands[0].operand_values);
    }
}

TEST(Serialize, LoadsFromUnalignedBytes) {
    std::vector<std::byte> bytes = save_program(make_program());
    bytes.insert(bytes.begin(), std::byte{0});
    EXPECT_TRUE(load_program(std::span(bytes).subspan(1)).ok());
}

TEST(Serialize, EachTruncationIsRejected) {
    const std::vector<std::byte> bytes = save_program(make_program());
    for (size_t size = 0; size < bytes.size(); ++size) {
        // A copy of its own, so that a sanitizer sees reads beyond the end.
        const std::vector<std::byte> cut(bytes.begin(),
                                         bytes.begin() + static_cast<ptrdiff_t>(size));
        EXPECT_FALSE(load_program(cut).ok()) << size;
    }
}

TEST(Serialize, EachFlippedBitIsRejected) {
    std::vector<std::byte> bytes = save_program(make_program());
    for (size_t bit = 0; bit < bytes.size() * 8; bit += bit < 4096 ? 1 : 7) {
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(load_program(bytes).ok()) << "bit " << bit;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

TEST(Serialize, FlippedBitsUnderARightChecksumAreRejectedOrLoadInBounds) {
    const std::vector<std::byte> original = save_program(make_program());
    uint32_t accepted = 0, rejected = 0;
    for (size_t bit = 0; bit < original.size() * 8; bit += 3) {
        std::vector<std::byte> bytes = original;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        fix_checksum(bytes);
        const Result<Program> loaded = load_program(bytes);
        ++(loaded.ok() ? accepted : rejected);
        if (!loaded.ok()) continue;
        (void)dump(*loaded);
        for (const Command& step : loaded->commands) {
            (void)loaded->words_of(step);
            for (const Operand& operand : loaded->operands_of(step)) {
                const uint64_t end = operand.offset + operand.bytes.at(loaded->max_batch_size);
                if (operand.region == Region::kArena) {
                    EXPECT_LE(end, loaded->arena_bytes);
                }
                if (operand.region == Region::kWeights) {
                    EXPECT_LE(end, loaded->weights_bytes);
                }
            }
        }
    }
    EXPECT_GT(accepted, 0u);
    EXPECT_GT(rejected, 1000u);
}

TEST(Serialize, AnotherFormatVersionIsUnsupportedNotCorrupt) {
    Program program = make_program();
    program.format_version = kProgramFormatVersion + 1;
    const Result<Program> loaded = load_program(save_program(program));
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.status().code(), StatusCode::kUnsupported);
}

TEST(Serialize, OperandsBeyondTheirRegionAreRejected) {
    expect_refused([](Program& p) { p.operands[3].offset = p.arena_bytes; },
                   "lies outside its region");
    expect_refused([](Program& p) { p.operands[3].offset = 2; }, "not a multiple of 4");
    expect_refused([](Program& p) { p.operands[3].bytes.is_batch = ~uint64_t{0}; },
                   "extent overflows");
    expect_refused([](Program& p) { p.operands[3].bytes.fixed = ~uint64_t{0} - 8; },
                   "extent overflows");
    expect_refused([](Program& p) { p.operands[1].bytes.is_batch += 4; },
                   "larger than its binding");
    expect_refused([](Program& p) { p.operands[1].binding = 99; },
                   "refers to a binding that does not exist");
    expect_refused([](Program& p) { p.operands[1].access = Access::kWrite; }, "writes an input");
    expect_refused([](Program& p) { p.operands[0].access = Access::kWrite; },
                   "writes the run block");
    expect_refused([](Program& p) { p.operands[0].bytes.fixed = 20; }, "exceeds the run block");
}

TEST(Serialize, OperandsBeyondTheirEntryAreRejected) {
    expect_refused([](Program& p) { p.entries[0].arena_bytes -= 4; },
                   "memory that is not of this entry");
    expect_refused([](Program& p) { p.entries[1].bindings = {kActX}; },
                   "memory that is not of this entry");
    expect_refused([](Program& p) { p.entries[0].command_count = 99; }, "commands lie outside");
    expect_refused([](Program& p) { p.entries[1].bindings = {kActX, kActY, kActX}; }, "twice");
}

TEST(Serialize, StepsThatDoNotFitTheirKernelAreRejected) {
    expect_refused([](Program& p) { p.commands[0].kernel = 99; },
                   "refers to a kernel that does not exist");
    expect_refused([](Program& p) { p.commands[0].operand_count = 3; },
                   "another number of operands than its kernel");
    expect_refused([](Program& p) { p.commands[0].word_count = 2; },
                   "another number of words than its kernel");
    expect_refused([](Program& p) { p.commands[0].first_word = 1000; }, "words lie outside");
    expect_refused([](Program& p) { p.commands[0].grid[1].tile = 0; }, "tile is zero");
    expect_refused(
        [](Program& p) {
            p.commands[0].grid[0].work = {uint64_t{1} << 50, 0};
        },
        "more than 2^32 workgroups");
    expect_refused([](Program& p) { p.commands[6].operand_count = 1; },
                   "is a copy, which has two operands");
    expect_refused([](Program& p) { p.operands[p.commands[6].first_operand].bytes.fixed = 4; },
                   "different sizes");
    expect_refused([](Program& p) { p.commands[2].operand_count = 1; },
                   "is a barrier, which has neither operands");
}

TEST(Serialize, KernelsBeyondVulkansGuaranteesAreRejected) {
    expect_refused([](Program& p) { p.kernels[3].operand_count = 17; },
                   "exceed 128 bytes of push constants");
    expect_refused([](Program& p) { p.kernels[3].spirv[0] = 1; },
                   "does not begin with a SPIR-V header");
    expect_refused([](Program& p) { p.kernels[3].spirv.back() = 0; },
                   "instruction that is empty or ends outside");
    expect_refused([](Program& p) { p.kernels[3].local_size[2] = 0; }, "local size");
}

TEST(Serialize, SlotsBeyondTheWeightsAreRejected) {
    expect_refused([](Program& p) { p.variables[1].bytes = 300; }, "outside the weights");
    expect_refused([](Program& p) { p.variables[0].data_offset = 400; }, "outside the data");
    expect_refused([](Program& p) { p.variables[0].shape = {kBatch}; }, "impossible shape");
}

TEST(Serialize, TheContentHashIgnoresWhatPeopleReadAndNothingElse) {
    const uint64_t hash = content_hash(make_program());
    Program program = make_program();
    program.kernels[0].source = "other";
    program.commands[0].label = "other";
    program.commands[0].computes = {};
    program.commands[0].flops = 0;
    EXPECT_EQ(content_hash(program), hash);
    program.words[1] ^= 1;
    EXPECT_NE(content_hash(program), hash);
}

TEST(Dump, ListsSlotsBindingsStepsAndBarriers) {
    const std::string text = dump(make_program());
    for (const char* expected : {"state", "[256, +384)", "input  f32 [batch, 96] x", "barrier",
                                 "copy  t3", "entry learn", "4 barriers"})
        EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
}

}  // namespace
}  // namespace hearth::test
