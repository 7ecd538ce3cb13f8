// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A small Program made by hand, with every kind of step, and what it must compute.
//
// Entry `learn`: x [rows, width] and rate [1] in, y [rows, width] out; updates slot `state`.
//   t0 = 2 x           t1 = x / 2          (independent)
//   t2 = t0 + t1       t3 = 0 (fill)
//   t3 = t2 (copy)
//   state = state / 2 + rate * sum over rows of t3
//   y = t3 + t2 / 4 + 1
// Entry `act`: x [rows, width] in, y [rows, width] out.
//   y = x + state
// All numbers in the tests are small multiples of powers of two, so that results are exact whatever
// a driver contracts.

#pragma once

#include "program/program.hpp"

#include <hearth/core/hash.hpp>

#include <bit>
#include <cstring>
#include <span>
#include <vector>

namespace hearth::test {

inline constexpr uint32_t kWidth = 96;  // not a multiple of the workgroup
inline constexpr uint64_t kRowsCapacity = 8;
inline constexpr uint32_t kLearn = 0, kAct = 1;  // entries
inline constexpr uint32_t kLearnX = 0, kLearnRate = 1, kLearnY = 2, kActX = 3, kActY = 4;
inline constexpr uint32_t kStateVariable = 0, kZeroVariable = 1;

/// SPIR-V of the three kernels, for one binding model.
struct TestShaders {
    std::span<const uint32_t> mix, decay, add_row;
};

class TestProgramBuilder {
  public:
    TestProgramBuilder(const TestShaders& shaders, BindingModel model) {
        program_.binding_model = model;
        program_.device_target = "test";
        program_.max_batch_size = kRowsCapacity;
        add_kernel("mix", shaders.mix, 4, 3);
        program_.kernels[0].spec_constants = {{7, 0}};
        add_kernel("mix_plus_one", shaders.mix, 4, 3);
        program_.kernels[1].spec_constants = {{7, 0x3f800000}};  // 1.0f
        add_kernel("decay", shaders.decay, 4, 1);
        add_kernel("add_row", shaders.add_row, 4, 1);
        add_variables();
        add_bindings();
        add_learn();
        add_act();
        declare_operands(program_);
        program_.hash = content_hash(program_);
    }
    Program build() const { return program_; }

  private:
    static constexpr uint64_t kValueBytes = kRowsCapacity * kWidth * 4;
    static constexpr Extent kPerRow{0, kWidth * 4};

    void add_kernel(const char* name, std::span<const uint32_t> spirv, uint32_t operands,
                    uint32_t words) {
        Kernel kernel;
        kernel.name = name;
        kernel.spirv.assign(spirv.begin(), spirv.end());
        kernel.operand_count = operands;
        kernel.word_count = words;
        kernel.local_size = {64, 1, 1};
        kernel.access_bytes = 16;  // the reference to the run block says so
        program_.kernels.push_back(kernel);
    }
    void add_variables() {
        program_.weights_bytes = 1024;
        Variable state;
        state.name = "state";
        state.kind = VariableKind::kState;
        state.shape = {Dim(kWidth)};
        state.offset = 256;
        state.bytes = kWidth * 4;
        state.data_offset = 16;
        program_.variables.push_back(state);
        Variable zero = state;
        zero.name = "zero";
        zero.kind = VariableKind::kParam;
        zero.offset = 768;
        zero.bytes = 64;
        zero.shape = {Dim(16)};
        zero.data_offset = kZeroFilled;
        program_.variables.push_back(zero);
        program_.data.resize(16 + kWidth * 4);
        for (uint32_t i = 0; i < kWidth; ++i) {
            const float value = static_cast<float>(i);
            std::memcpy(program_.data.data() + 16 + 4 * i, &value, 4);
        }
    }
    void add_bindings() {
        const auto add = [&](const char* name, Direction direction, Shape shape, Extent bytes) {
            program_.bindings.push_back({name, direction, DType::kF32, shape, bytes});
        };
        const Shape rows_by_width{kBatch, Dim(kWidth)};
        add("x", Direction::kInput, rows_by_width, kPerRow);
        add("rate", Direction::kInput, {Dim(1)}, {4, 0});
        add("y", Direction::kOutput, rows_by_width, kPerRow);
        add("x", Direction::kInput, rows_by_width, kPerRow);
        add("y", Direction::kOutput, rows_by_width, kPerRow);
    }

    static Operand run() { return {Region::kRun, Access::kRead, 0, 0, {16, 0}}; }
    static Operand arena(uint64_t value, Access access) {
        return {Region::kArena, access, 0, value * kValueBytes, kPerRow};
    }
    static Operand external(uint32_t binding, Access access, Extent bytes) {
        return {Region::kExternal, access, binding, 0, bytes};
    }
    static Operand state(Access access) {
        return {Region::kWeights, access, 0, 256, {kWidth * 4, 0}};
    }

    void add_step(CommandKind kind, const char* label, uint32_t kernel,
                  std::initializer_list<Operand> operands, std::initializer_list<uint32_t> words,
                  Extent work = {1, 0}) {
        Command step;
        step.kind = kind;
        step.kernel = kernel;
        step.label = label;
        step.first_operand = static_cast<uint32_t>(program_.operands.size());
        step.operand_count = static_cast<uint32_t>(operands.size());
        step.first_word = static_cast<uint32_t>(program_.words.size());
        step.word_count = static_cast<uint32_t>(words.size());
        if (kind == CommandKind::kDispatch) step.grid[0] = {work, 64};
        step.flops = kind == CommandKind::kDispatch ? 1000 : 0;
        step.bytes_moved = kind == CommandKind::kBarrier ? 0 : 4096;
        step.computes = {static_cast<uint32_t>(program_.commands.size())};
        program_.operands.insert(program_.operands.end(), operands);
        program_.words.insert(program_.words.end(), words);
        program_.commands.push_back(step);
    }
    void add_mix(const char* label, Operand a, float scale_a, Operand b, float scale_b, Operand out,
                 uint32_t kernel = 0) {
        add_step(CommandKind::kDispatch, label, kernel, {run(), a, b, out},
                 {kWidth, std::bit_cast<uint32_t>(scale_a), std::bit_cast<uint32_t>(scale_b)},
                 {0, kWidth});
    }
    void add_barrier() { add_step(CommandKind::kBarrier, "", 0, {}, {}); }

    void add_learn() {
        const Operand x = external(kLearnX, Access::kRead, kPerRow);
        add_mix("t0", x, 2.0f, x, 0.0f, arena(0, Access::kWrite));
        add_mix("t1", x, 0.5f, x, 0.0f, arena(1, Access::kWrite));
        add_barrier();
        add_mix("t2", arena(0, Access::kRead), 1.0f, arena(1, Access::kRead), 1.0f,
                arena(2, Access::kWrite));
        add_step(CommandKind::kFill, "clear t3", 0, {arena(3, Access::kWrite)}, {0});
        add_barrier();
        add_step(CommandKind::kCopy, "t3", 0, {arena(2, Access::kRead), arena(3, Access::kWrite)},
                 {});
        add_barrier();
        add_step(CommandKind::kDispatch, "state", 2,
                 {run(), arena(3, Access::kRead), external(kLearnRate, Access::kRead, {4, 0}),
                  state(Access::kReadWrite)},
                 {kWidth}, {kWidth, 0});
        add_barrier();
        add_mix("y", arena(3, Access::kRead), 1.0f, arena(2, Access::kRead), 0.25f,
                external(kLearnY, Access::kWrite, kPerRow), 1);
        Entry entry;
        entry.name = "learn";
        entry.command_count = static_cast<uint32_t>(program_.commands.size());
        entry.arena_bytes = 4 * kValueBytes;
        entry.bindings = {kLearnX, kLearnRate, kLearnY};
        program_.arena_bytes = entry.arena_bytes;
        program_.entries.push_back(entry);
    }
    void add_act() {
        Entry entry;
        entry.name = "act";
        entry.first_command = static_cast<uint32_t>(program_.commands.size());
        entry.arena_offset = program_.arena_bytes;
        entry.bindings = {kActX, kActY};
        add_step(CommandKind::kDispatch, "y", 3,
                 {run(), external(kActX, Access::kRead, kPerRow), state(Access::kRead),
                  external(kActY, Access::kWrite, kPerRow)},
                 {kWidth}, {0, kWidth});
        entry.command_count = 1;
        program_.entries.push_back(entry);
    }

    Program program_;
};

/// What the program computes, on the CPU.
struct TestReference {
    std::vector<float> state = initial_state();

    static std::vector<float> initial_state() {
        std::vector<float> values(kWidth);
        for (uint32_t i = 0; i < kWidth; ++i) values[i] = static_cast<float>(i);
        return values;
    }
    std::vector<float> learn(std::span<const float> x, float rate) {
        std::vector<float> y(x.size());
        for (uint32_t i = 0; i < kWidth; ++i) {
            float sum = 0;
            for (size_t at = i; at < x.size(); at += kWidth) {
                const float t = 2.5f * x[at];
                sum += t;
                y[at] = t + t * 0.25f + 1.0f;
            }
            state[i] = state[i] * 0.5f + rate * sum;
        }
        return y;
    }
    std::vector<float> act(std::span<const float> x) const {
        std::vector<float> y(x.size());
        for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] + state[i % kWidth];
        return y;
    }
};

/// Keyed test data: integers in -8..8.
inline std::vector<float> test_values(size_t count, uint64_t key) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(Hash().number(key).number(i).value() % 17) - 8.0f;
    return values;
}

}  // namespace hearth::test
