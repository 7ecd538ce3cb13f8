// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Programs with right checksums and wrong contents: each rule of ProgramView has one that breaks
// it.

#include "core/checked.hpp"
#include "core/fixed_text.hpp"
#include "core/sha256.hpp"
#include "unit/program/program_file.hpp"

#include <hearth/brain.hpp>

#include <chrono>

namespace hearth::test {
namespace {

/// t0's kernel locates its operands a and result, which are then the first two.
void locate(Program& program) {
    Kernel kernel = program.kernels[0];
    kernel.located_count = 2;
    kernel.word_count = 3;
    Command& step = program.commands[3];  // t2 = t0 + t1, all in the arena
    std::vector<Operand> operands(program.operands.begin() + step.first_operand,
                                  program.operands.begin() + step.first_operand + 4);
    std::rotate(operands.begin(), operands.begin() + 1, operands.end());
    step.first_operand = static_cast<uint32_t>(program.operands.size());
    program.operands.insert(program.operands.end(), operands.begin(), operands.end());
    step.kernel = static_cast<uint32_t>(program.kernels.size());
    kernel.spec_constants = {{0, hearth::locate(operands[0])}, {1, hearth::locate(operands[1])}};
    kernel.operands.clear();
    program.kernels.push_back(kernel);
    declare_operands(program);
}

TEST(HostileProgram, BytesOfASlotThatAreNotThoseOfItsShapeAreRefused) {
    const char* expected = "variable 0: its size in bytes does not match its shape and type";
    expect_refused([](Program& p) { p.variables[0].bytes -= 4; }, expected);
    expect_refused([](Program& p) { p.variables[0].bytes = 0; }, expected);
    expect_refused([](Program& p) { p.variables[0].bytes += 4; }, expected);
    expect_refused([](Program& p) { p.variables[0].dtype = DType::kF16, p.storage.bits16 = true; },
                   expected);
    expect_refused(
        [](Program& p) {
            p.variables[0].shape = {Dim(int64_t{1} << 62), Dim(16)};
        },
        expected);
    expect_accepted([](Program& p) {
        p.variables[1].shape = {Dim(0), Dim(16)}, p.variables[1].bytes = 0;
    });
}

TEST(HostileProgram, BytesOfABindingThatAreNotThoseOfItsShapeAreRefused) {
    const char* expected = "binding 3: its size in bytes does not match its shape and type";
    expect_refused([](Program& p) { p.bindings[3].bytes.is_batch += 4; }, expected);
    expect_refused([](Program& p) { p.bindings[3].bytes.fixed = 4; }, expected);
    expect_refused([](Program& p) { p.bindings[3].shape = {kBatch, kBatch}; }, expected);
    // As many bytes for each row, but rows of rows.
    expect_refused([](Program& p) { p.bindings[3].shape = {kBatch, Dim(kWidth, true)}; }, expected);
    expect_refused([](Program& p) { p.bindings[3].shape = {Dim(kWidth)}; }, expected);
    expect_refused([](Program& p) { p.bindings[3].dtype = DType::kBool, p.storage.bits8 = true; },
                   expected);
}

TEST(HostileProgram, SlotsOfOneNameOrOfOnePlaceAreRefused) {
    expect_refused([](Program& p) { p.variables[1].name = "state"; },
                   "two variables have the same name");
    expect_refused([](Program& p) { p.variables[1].offset = 256 + kWidth * 4 - 4; },
                   "variable 1: overlaps the previous variable, or precedes it in memory");
    expect_refused([](Program& p) { p.variables[1].offset = 0; },
                   "variable 1: overlaps the previous variable, or precedes it in memory");
}

TEST(HostileProgram, AnOrderOfNamesThatIsNoneIsRefused) {
    File file(make_program());
    uint32_t* order = file.records<uint32_t>(file::kVariableNames);
    std::swap(order[0], order[1]);
    expect_corrupt(file.load(), "variable names 1: must be in ascending order");
    order[0] = order[1];
    expect_corrupt(file.load(), "two variables have the same name");
    order[0] = 2;
    expect_corrupt(file.load(), "variable names 0: refer to a variable that does not exist");
    file.header().sections[file::kVariableNames].count = 1;
    expect_corrupt(file.load(), "must list each variable once");
}

TEST(HostileProgram, BindingsOfOneNameOrOfNoneAreRefused) {
    const char* expected = "two of its bindings have the same name";
    expect_refused([](Program& p) { p.bindings[1].name = "x"; }, expected);
    // An output may have an input's name, but nothing that is both.
    expect_accepted([](Program& p) { p.bindings[2].name = "x"; });
    expect_refused(
        [](Program& p) {
            p.bindings[1].name = "x";
            p.bindings[1].direction = Direction::kInOut;
        },
        expected);
    expect_refused(
        [](Program& p) {
            p.bindings[2].name = "x";
            p.bindings[0].direction = Direction::kInOut;
        },
        expected);
    for (size_t i : {0, 2, 3})
        expect_refused([i](Program& p) { p.bindings[i].name = ""; }, "has no name");
}

TEST(HostileProgram, EntriesOfOneNameOrTooManyAreRefused) {
    expect_refused([](Program& p) { p.entries[1].name = "learn"; },
                   "two entries have the same name");
    expect_refused(
        [](Program& p) {
            for (int i = 0; i < 1100; ++i) {
                Entry entry;
                entry.name = "e" + std::to_string(i);
                p.entries.push_back(entry);
            }
        },
        "a program has at most 1024 entries");
}

TEST(HostileProgram, ACapacityOf2To32OrMoreIsRefused) {
    // Nothing grows with the rows, so that no sum can be what is wrong.
    const auto without_rows = [](Program& p) {
        for (Operand& o : p.operands) o.bytes = {o.bytes.is_batch > 0 ? 384u : o.bytes.fixed, 0};
        for (Binding& b : p.bindings)
            if (b.bytes.is_batch > 0) b.bytes = {384, 0}, b.shape = {Dim(kWidth)};
        for (Command& s : p.commands)
            for (GridAxis& axis : s.grid) axis.work.is_batch = 0;
        for (Kernel& k : p.kernels) k.operands.clear();
        declare_operands(p);
    };
    expect_accepted([&](Program& p) { without_rows(p), p.max_batch_size = 0xffffffff; });
    for (const uint64_t capacity : {uint64_t{1} << 32, (uint64_t{1} << 32) + 1, ~uint64_t{0}})
        expect_refused([&](Program& p) { without_rows(p), p.max_batch_size = capacity; },
                       "max_batch_size must be in 1..2^32-1");
    expect_refused([&](Program& p) { without_rows(p), p.max_batch_size = 0; },
                   "max_batch_size must");
}

TEST(HostileProgram, ACopyOntoItselfIsRefused) {
    expect_refused([](Program& p) { operand(p, kCopy, 1).offset = operand(p, kCopy, 0).offset; },
                   "command 6: is a copy whose source and destination overlap");
    expect_refused(
        [](Program& p) { operand(p, kCopy, 1).offset = operand(p, kCopy, 0).offset + 4; },
        "command 6: is a copy whose source and destination overlap");
    expect_refused(
        [](Program& p) {
            const Extent bytes = p.bindings[kLearnY].bytes;
            operand(p, kCopy, 0) = {Region::kExternal, Access::kRead, kLearnY, 0, bytes};
            operand(p, kCopy, 1) = {Region::kExternal, Access::kWrite, kLearnY, 0, bytes};
        },
        "command 6: is a copy whose source and destination overlap");
    expect_accepted([](Program& p) {
        operand(p, kCopy, 0) = {Region::kExternal, Access::kRead, kLearnX, 0,
                                p.bindings[kLearnX].bytes};
    });
    // Its buffer is none that copies may read.
    expect_refused(
        [](Program& p) {
            operand(p, kCopy, 0) = {Region::kRun, Access::kRead, 0, 0, {16, 0}};
            operand(p, kCopy, 1).bytes = {16, 0};
        },
        "copies the run block, which only kernels read");
}

TEST(HostileProgram, AFillOfOddBytesIsRefused) {
    for (const Extent bytes : {Extent{2, 0}, Extent{0, 6}, Extent{5, 0}, Extent{4, 1}})
        expect_refused([&](Program& p) { operand(p, kFill, 0).bytes = bytes; },
                       "is a fill, whose size must be a multiple of 4 bytes");
}

TEST(HostileProgram, AnOperandThatItsKernelCannotLocateIsRefused) {
    expect_accepted(locate);
    const auto expect_not_located = [](const std::function<void(Program&, Operand&)>& change,
                                       std::string_view expected) {
        expect_refused(
            [&](Program& p) {
                locate(p);
                change(p, operand(p, 3, 0));
            },
            expected);
    };
    expect_not_located(
        [](Program& p, Operand& o) {
            o = {Region::kExternal, Access::kRead, kLearnX, 0, p.bindings[kLearnX].bytes};
        },
        "gives a located operand outside arena and weights, or at an unaligned offset");
    expect_not_located(
        [](Program&, Operand& o) {
            o.offset += 16;
            o.bytes = {384, 0};
        },
        "smaller than its kernel declares");
    expect_not_located([](Program&, Operand& o) { o.offset = 3 * 8 * 384; },
                       "at another offset than its kernel's constant");
    expect_not_located([](Program& p, Operand&) { p.kernels.back().spec_constants[1].value ^= 2; },
                       "at another offset than its kernel's constant");
    expect_not_located([](Program& p, Operand&) { p.kernels.back().spec_constants.pop_back(); },
                       "must have one specialization constant for each located operand");
    expect_not_located([](Program& p, Operand&) { p.kernels.back().spec_constants[1].id = 5; },
                       "must have one specialization constant for each located operand");
}

TEST(HostileProgram, AnOperandThatItsKernelWouldLeaveIsRefused) {
    const char* expected = "gives an operand smaller than its kernel declares";
    // Behind the weights, in an arena of no bytes, and just too short.
    expect_refused(
        [](Program& p) {
            Operand& o = operand(p, kUpdate, 3);
            o.offset = p.weights_bytes;
            o.bytes = {0, 0};
        },
        expected);
    expect_refused(
        [](Program& p) {
            // act: its part of the arena has no bytes.
            Operand& y = operand(p, p.commands.size() - 1, 3);
            y = {Region::kArena, Access::kWrite, 0, p.arena_bytes, {0, 0}};
        },
        expected);
    expect_refused([](Program& p) { operand(p, kT0, 3).bytes.is_batch -= 4; }, expected);
    // As many at capacity, but fewer with one row.
    expect_refused([](Program& p) { operand(p, kUpdate, 3).bytes = {0, 48}; }, expected);
}

TEST(HostileProgram, AnOperandForLessThanItsKernelDoesIsRefused) {
    expect_refused([](Program& p) { operand(p, kT0, 3).access = Access::kRead; },
                   "gives an operand without the access that its kernel declares");
    expect_refused([](Program& p) { operand(p, kUpdate, 3).access = Access::kWrite; },
                   "gives an operand without the access that its kernel declares");
}

TEST(HostileProgram, AnOperandThatIsNotAlignedForItsKernelIsRefused) {
    const auto misplace = [](Program& p) {
        p.weights_bytes += 4;
        p.variables[1].offset += 4;
        p.variables[0].offset += 4;
        for (const size_t step : {kUpdate, p.commands.size() - 1})
            for (uint32_t i = 0; i < 4; ++i)
                if (Operand& o = operand(p, step, i); o.region == Region::kWeights) o.offset += 4;
    };
    expect_refused(misplace,
                   "gives an operand whose offset is not a multiple of its kernel's access_bytes");
    expect_accepted([&](Program& p) {
        misplace(p);
        for (Kernel& kernel : p.kernels) kernel.access_bytes = 4;
    });
    for (const uint32_t bytes : {0u, 3u, 32u})
        expect_refused([&](Program& p) { p.kernels[2].access_bytes = bytes; },
                       "access_bytes must be 1, 2, 4, 8 or 16");
}

TEST(HostileProgram, WordsThatMakeAKernelTouchMoreAreRefused) {
    // As the kernel that copies words declares it: 4 bytes for each one of the first word.
    const auto declare = [](Program& p) { p.kernels[0].operands[3] = {Access::kWrite, {}, 4}; };
    expect_accepted(declare);
    const auto with_word = [&](uint32_t word) {
        return [&declare, word](Program& p) {
            declare(p);
            p.words[p.commands[kT0].first_word] = word;
        };
    };
    expect_refused(with_word(kWidth + 1), "smaller than its kernel declares");
    expect_refused(with_word(0xffffffff), "smaller than its kernel declares");
    expect_refused(
        [](Program& p) {
            p.kernels[2].word_count = 0;
            p.kernels[2].operands[0].bytes_per_word = 4;
        },
        "sized by a word, and has no words");
}

TEST(HostileProgram, ADeclarationThatIsNoneIsRefused) {
    expect_refused([](Program& p) { p.kernels[2].operands.pop_back(); },
                   "must declare each of its operands once");
    expect_refused([](Program& p) { p.kernels[2].operands[1].access = Access{}; },
                   "unknown access");
    expect_refused([](Program& p) { p.kernels[2].operands[1].bytes.is_batch = ~uint64_t{0}; },
                   "declares an operand whose size overflows");
    expect_refused(
        [](Program& p) {
            p.kernels[2].spec_constants = {{2, 0}, {1, 0}};
        },
        "specialization constants must have ascending ids");
    expect_refused(
        [](Program& p) {
            p.kernels[2].spec_constants = {{1, 0}, {1, 0}};
        },
        "specialization constants must have ascending ids");
}

TEST(HostileProgram, AnIdBoundOutOfProportionIsRefused) {
    expect_refused([](Program& p) { p.kernels[2].spirv[3] = 0xffffffff; },
                   "kernel 2: id bound of its SPIR-V is too large for the module's size");
}

TEST(HostileProgram, ListsThatAreThoseOfOthersTooAreRefused) {
    using namespace file;
    const auto expect_shared = [](const std::function<void(File&)>& change,
                                  std::string_view expected) {
        File file(make_program());
        change(file);
        expect_corrupt(file.load(), expected);
    };
    expect_shared(
        [](File& f) {
            auto* kernels = f.records<KernelRecord>(kKernels);
            kernels[3].spirv = {0, 24};
        },
        "kernel 3: SPIR-V words overlap those of another record");
    expect_shared(
        [](File& f) {
            auto* steps = f.records<CommandRecord>(kCommands);
            steps[1].computes = {0, static_cast<uint32_t>(f.header().sections[kValues].count)};
        },
        "debug values overlap those of another record");
    expect_shared(
        [](File& f) {
            auto* entries = f.records<EntryRecord>(kEntries);
            entries[1].commands = entries[0].commands;
        },
        "entry 1: commands overlap those of another record");
    expect_shared(
        [](File& f) {
            auto* entries = f.records<EntryRecord>(kEntries);
            entries[1].bindings = entries[0].bindings;
        },
        "entry 1: bindings overlap those of another record");
    expect_shared(
        [](File& f) {
            auto* steps = f.records<CommandRecord>(kCommands);
            steps[11].operands = {0, 27};
        },
        "command 11: operands overlap those of another record");
    expect_shared(
        [](File& f) {
            auto* kernels = f.records<KernelRecord>(kKernels);
            kernels[3].operands = {0, 16};
        },
        "kernel 3: declared operands overlap those of another record");
    expect_shared(
        [](File& f) {
            const auto all = static_cast<uint32_t>(f.header().sections[kTexts].count - 1);
            auto* slots = f.records<VariableRecord>(kVariables);
            slots[1].name = {0, all};
        },
        "variable 1: name overlaps that of another record");
}

/// `steps` steps that all name one list of values, as long as the rest of the file.
TEST(HostileProgram, AFileOfSharedListsIsRefusedInTimeInProportionToIt) {
    Program program = make_program();
    program.commands[0].computes.assign(1 << 18, 1);
    for (int i = 0; i < 4000; ++i) program.commands.push_back(program.commands[2]);
    File file(program);
    auto* steps = file.records<file::CommandRecord>(file::kCommands);
    const uint64_t count = file.header().sections[file::kCommands].count;
    for (uint64_t i = 1; i < count; ++i) steps[i].computes = steps[0].computes;
    const auto begin = std::chrono::steady_clock::now();
    expect_corrupt(file.load(), "debug values overlap those of another record");
    // Copying them would take 4 GB, and seconds.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

TEST(HostileProgram, WhatIsShippedTakesNoMoreMemoryThanAllowed) {
    Program program = make_program();
    program.weights_bytes = uint64_t{1} << 40;
    program.variables[1].shape = {Dim(int64_t{1} << 36)};
    program.variables[1].bytes = uint64_t{1} << 38;
    const Result<Brain> brain = initial_brain(save_program(program));
    ASSERT_FALSE(brain.ok());
    EXPECT_EQ(brain.status().code(), StatusCode::kOutOfRange);
    EXPECT_NE(brain.status().message().find("take 274877907328 bytes"), std::string::npos)
        << brain.status().message();
}

// --- What it rests on

TEST(Checked, OverflowStaysThroughAllFurtherArithmetic) {
    const uint64_t most = ~uint64_t{0};
    EXPECT_TRUE((Checked(most) + 0).fits());
    EXPECT_FALSE((Checked(most) + 1).fits());
    EXPECT_FALSE(((Checked(most) + 1) * 0).fits());
    EXPECT_FALSE((Checked(uint64_t{1} << 32) * (uint64_t{1} << 32)).fits());
    EXPECT_EQ((Checked(uint64_t{1} << 32) * ((uint64_t{1} << 32) - 1)).value(), most - 0xffffffff);
    EXPECT_FALSE(Checked(most - 2).aligned(4).fits());
    EXPECT_EQ(Checked(most - 3).aligned(4).value(), most - 3);
    EXPECT_EQ(Checked(5).aligned(4).value(), 8u);
    EXPECT_EQ((Checked(most) + 1).or_most(), most);
    EXPECT_FALSE((Checked(most) + 1).is_within(most));
    EXPECT_FALSE((Checked(most) + 1).equals(0));
}

TEST(Messages, AreBoundedAndHaveNoControlCharacters) {
    const std::string wild =
        "a\nb\tc\x1b[31md\x7f\xc2\x9b"
        "e\xc3\xa9" +
        std::string(1 << 20, 'x');
    const Status status = invalid_argument(wild);
    EXPECT_EQ(status.message().substr(0, 17), "a\nb?c?[31md???e\xc3\xa9");
    EXPECT_LE(status.message().size(), 4096u);
    EXPECT_LE(status.with_context(wild).message().size(), 4096u);

    FixedText<32> text;
    text.set("kernel %s", wild.c_str());
    EXPECT_STREQ(text.c_str(), "kernel a?b?c?[31md???e\xc3\xa9xxxxxxx");
    text.append_line_break();
    EXPECT_TRUE(text.is_full());
}

TEST(Sha256, GivesTheStandardsExamples) {
    const auto hex = [](std::string_view text) {
        std::string digits;
        for (uint8_t byte : sha256(std::as_bytes(std::span(text)))) {
            digits += "0123456789abcdef"[byte >> 4];
            digits += "0123456789abcdef"[byte & 15];
        }
        return digits;
    };
    EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    // Tails of all lengths around the end of a block.
    EXPECT_NE(hex(std::string(55, 'a')), hex(std::string(56, 'a')));
    EXPECT_EQ(hex(std::string(64, 'a')),
              "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

}  // namespace
}  // namespace hearth::test
