// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Functions of mathematics that targets lack, executed without a device and compared with the reference.

#include "compiler/kernel/decompositions.hpp"

#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/reference/run_kernel.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace hearth::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Zeros, limits, whole numbers, and magnitudes from subnormal to the largest.
std::vector<float> floats() {
    std::vector<float> all{0.0f,          kInfinity,     std::nanf(""), 0x1p-149f, 3.4e38f,
                           2147483648.0f, 4294967296.0f, 0x1p63f,       65504.0f,  65520.0f};
    for (int e = -140; e < 127; e += 3) all.push_back(std::ldexp(1.37f, e));
    for (int i = 1; i < 60; ++i) all.push_back(static_cast<float>(i) * 0.17f);
    for (int i = 1; i < 9; ++i) all.push_back(static_cast<float>(i));
    const size_t count = all.size();
    for (size_t i = 0; i < count; ++i) all.push_back(-all[i]);
    return all;
}

/// The body with a kernel that stores function(b0[t], b1[t]) to b2[t]; the second operand only if it takes two.
Body calling(uint32_t function, DType of, DType to, uint32_t count) {
    Body body = decompositions();
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    body.threads = count;
    const size_t parameters = body.functions[function].parameters.size();
    std::vector<Expr> arguments;
    const Expr t = writer.let("t", body.invocation());
    for (uint32_t p = 0; p < parameters; ++p) {
        (void)body.operand(p, of, of);
        arguments.push_back(body.load(p, t));
    }
    const uint32_t result = body.operand(static_cast<uint32_t>(parameters), to, to);
    writer.store(result, t, body.call(function, arguments));
    body.statements = writer.take();
    return body;
}

HostTensor tensor_of(const std::vector<float>& numbers) {
    HostTensor tensor(DType::kF32, {static_cast<int64_t>(numbers.size())});
    for (size_t i = 0; i < numbers.size(); ++i)
        tensor.set(static_cast<int64_t>(i), static_cast<double>(numbers[i]));
    return tensor;
}

/// Steps between two floats; zero if both are NaN.
double steps_between(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b) ? 0 : kInfinity;
    const auto order = [](float x) {
        const auto bits = std::bit_cast<int32_t>(x);
        return static_cast<double>(bits < 0 ? -2147483648LL - bits : int64_t{bits});
    };
    return std::abs(order(a) - order(b));
}

struct Case {
    ScalarOp op;
    double steps;     ///< units in the last place
    double absolute;  ///< or that far off
};

class Decomposition : public testing::TestWithParam<Case> {};

TEST_P(Decomposition, EqualsTheReferenceOnFloatsOfAllMagnitudes) {
    const auto [op, steps, absolute] = GetParam();
    const auto function = find_decomposition(op, ScalarType::kF32);
    ASSERT_TRUE(function.has_value());
    const std::vector<float> numbers = floats();
    std::vector<float> a, b;
    const bool is_binary = operand_count(op) == 2;
    for (size_t i = 0; i < numbers.size(); ++i)
        for (size_t j = 0; j < (is_binary ? numbers.size() : 1); j += 7) {
            a.push_back(numbers[i]);
            b.push_back(numbers[(i + j) % numbers.size()]);
        }
    const auto count = static_cast<uint32_t>(a.size());
    const Body body = calling(*function, DType::kF32, DType::kF32, count);
    std::vector<OperandMemory> memory{OperandMemory::full(tensor_of(a))};
    if (is_binary) memory.push_back(OperandMemory::full(tensor_of(b)));
    memory.push_back(OperandMemory::empty(DType::kF32, {int64_t{count}}));
    const Status status = run_kernel(body, {"decomposition", 1, 1}, memory);
    ASSERT_TRUE(status.ok()) << status.message();
    for (uint32_t i = 0; i < count; ++i) {
        const auto bits = [](float x) { return uint64_t{std::bit_cast<uint32_t>(x)}; };
        const auto expected = std::bit_cast<float>(static_cast<uint32_t>(
            scalar_operation(op, ScalarType::kF32, {bits(a[i]), bits(b[i]), 0})));
        const auto found = static_cast<float>(memory.back().tensor.get(i));
        if (std::abs(found - expected) <= absolute) continue;
        EXPECT_LE(steps_between(found, expected), steps)
            << a[i] << ", " << b[i] << ": " << found << " instead of " << expected;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, Decomposition,
    testing::Values(Case{ScalarOp::kTanh, 8, 1e-37}, Case{ScalarOp::kSin, 8, 3e-7},
                    Case{ScalarOp::kCos, 8, 3e-7}, Case{ScalarOp::kTan, 16, 3e-7},
                    Case{ScalarOp::kAsin, 8, 1e-37}, Case{ScalarOp::kAcos, 8, 3e-7},
                    Case{ScalarOp::kAtan, 8, 1e-37}, Case{ScalarOp::kAtan2, 8, 1e-37},
                    Case{ScalarOp::kSinh, 16, 1e-37}, Case{ScalarOp::kCosh, 16, 0},
                    Case{ScalarOp::kAsinh, 16, 1e-37}, Case{ScalarOp::kAcosh, 16, 3e-7},
                    Case{ScalarOp::kAtanh, 16, 1e-37}, Case{ScalarOp::kErf, 16, 1e-37},
                    Case{ScalarOp::kMod, 0, 0}, Case{ScalarOp::kPow, 2, 0},
                    Case{ScalarOp::kRoundF16, 0, 0}, Case{ScalarOp::kRoundBF16, 0, 0}),
    [](const testing::TestParamInfo<Case>& one) {
        return "Operation" + std::to_string(static_cast<int>(one.param.op));
    });

TEST(Decompositions, ConvertFloatsToTheNearestIntegerThatTheTypeHolds) {
    const std::vector<float> numbers = floats();
    const auto count = static_cast<uint32_t>(numbers.size());
    for (const auto& [op, dtype] :
         {std::pair{ScalarOp::kToI32, DType::kI32}, std::pair{ScalarOp::kToU32, DType::kU32},
          std::pair{ScalarOp::kToI64, DType::kI64}, std::pair{ScalarOp::kToU64, DType::kU64}}) {
        const Body body =
            calling(*find_decomposition(op, ScalarType::kF32), DType::kF32, dtype, count);
        std::vector<OperandMemory> memory{OperandMemory::full(tensor_of(numbers)),
                                          OperandMemory::empty(dtype, {int64_t{count}})};
        const Status status = run_kernel(body, {"conversion", 1, 1}, memory);
        ASSERT_TRUE(status.ok()) << status.message();
        for (uint32_t i = 0; i < count; ++i) {
            const uint64_t expected =
                scalar_operation(op, ScalarType::kF32, {std::bit_cast<uint32_t>(numbers[i]), 0, 0});
            const auto found = static_cast<uint64_t>(memory[1].tensor.get_int(i));
            const bool is_wide = size_bytes(dtype) == 8;
            EXPECT_EQ(is_wide ? found : static_cast<uint32_t>(found), expected) << numbers[i];
        }
    }
}

TEST(Decompositions, RaiseIntegersToPowers) {
    for (const auto& [type, dtype] :
         {std::pair{ScalarType::kI32, DType::kI32}, std::pair{ScalarType::kI64, DType::kI64},
          std::pair{ScalarType::kU64, DType::kU64}}) {
        std::vector<int64_t> a, b;
        for (int64_t x = is_unsigned(type) ? 0 : -4; x < 9; ++x)
            for (int64_t y = is_unsigned(type) ? 0 : -3; y < 34; ++y) {
                a.push_back(x);
                b.push_back(y);
            }
        const auto count = static_cast<uint32_t>(a.size());
        HostTensor base(dtype, {int64_t{count}}), exponent(dtype, {int64_t{count}});
        for (uint32_t i = 0; i < count; ++i) {
            base.set_int(i, a[i]);
            exponent.set_int(i, b[i]);
        }
        const Body body = calling(*find_decomposition(ScalarOp::kPow, type), dtype, dtype, count);
        std::vector<OperandMemory> memory{OperandMemory::full(std::move(base)),
                                          OperandMemory::full(std::move(exponent)),
                                          OperandMemory::empty(dtype, {int64_t{count}})};
        const Status status = run_kernel(body, {"power", 1, 1}, memory);
        ASSERT_TRUE(status.ok()) << status.message();
        const auto bits = [&](int64_t x) {
            return is_wide(type) ? static_cast<uint64_t>(x) : static_cast<uint32_t>(x);
        };
        for (uint32_t i = 0; i < count; ++i)
            EXPECT_EQ(bits(memory[2].tensor.get_int(i)),
                      scalar_operation(ScalarOp::kPow, type, {bits(a[i]), bits(b[i]), 0}))
                << a[i] << " to the " << b[i];
    }
}

TEST(Decompositions, DivideToTheNearestFloat) {
    const std::vector<float> numbers = floats();
    std::vector<float> a, b;
    for (size_t i = 0; i < numbers.size(); ++i)
        for (size_t j = 0; j < numbers.size(); j += 5) {
            a.push_back(numbers[i]);
            b.push_back(numbers[(i + j) % numbers.size()]);
        }
    const auto count = static_cast<uint32_t>(a.size());
    const Body body = calling(exact_division(), DType::kF32, DType::kF32, count);
    std::vector<OperandMemory> memory{OperandMemory::full(tensor_of(a)),
                                      OperandMemory::full(tensor_of(b)),
                                      OperandMemory::empty(DType::kF32, {int64_t{count}})};
    const Status status = run_kernel(body, {"division", 1, 1}, memory);
    ASSERT_TRUE(status.ok()) << status.message();
    // What is left of a number below 2^-100 may be too small for a float, and so may be what a quotient lacks.
    for (uint32_t i = 0; i < count; ++i) {
        const float expected = a[i] / b[i];
        if ((a[i] != 0 && std::abs(a[i]) < 0x1p-100f) ||
            (expected != 0 && std::abs(expected) < 0x1p-100f))
            continue;
        EXPECT_EQ(steps_between(static_cast<float>(memory[2].tensor.get(i)), expected), 0)
            << a[i] << " / " << b[i];
    }
}

TEST(Decompositions, CompileAsTheFunctionsOfKernelsInGlsl) {
    std::string source =
        "#version 450\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n" +
        print_glsl_math(/*has_int64=*/true) +
        "layout(binding = 0) buffer B { float at[]; } b;\nvoid main() {\n";
    for (const char* name : {"tanh", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
                             "asinh", "acosh", "atanh", "erf", "round_f16", "round_bf16", "sign"})
        source += "    b.at[0] = hearth_" + std::string(name) + "(b.at[0]);\n";
    for (const char* name : {"pow", "fmod", "atan2", "min", "max", "divide"})
        source += "    b.at[0] = hearth_" + std::string(name) + "(b.at[0], b.at[1]);\n";
    source +=
        "    b.at[2] = float(hearth_to_int(b.at[0]) + hearth_ipow(3, "
        "hearth_to_int(b.at[1])));\n}\n";
    const auto compiled = compile_glsl(source, "math");
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
}

}  // namespace
}  // namespace hearth::test
