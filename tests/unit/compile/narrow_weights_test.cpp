// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Narrow weights stay narrow up to the kernel that reads them, on devices without narrow storage,
// too, and a package stores nothing twice.

#include "compiler/driver/compile.hpp"
#include "compiler/ops/shared/packed_elements.hpp"

#include <hearth/executor.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace hearth::test {
namespace {

constexpr int64_t kIn = 96, kOut = 80;

HostTensor some_weights(DType dtype, const Shape& shape) {
    HostTensor weights(dtype, shape);
    for (int64_t i = 0; i < weights.element_count(); ++i)
        weights.set(i, static_cast<double>(i * 37 % 251 - 125) * (is_floating(dtype) ? 1e-3 : 1));
    return weights;
}

/// y = x w, with the weights as a param.
Graph product(DType dtype, bool learns = false) {
    Trace trace("main");
    const Tensor w =
        trace.param("w", {kIn, kOut}, Init::from(some_weights(dtype, {kIn, kOut})), dtype);
    trace.output("y", matmul(trace.input("x", {4, kIn}), cast(w, DType::kF32)));
    if (learns) trace.assign(w, w * 0.5);
    return trace.build().value();
}

/// y = x ((q - zero) scale), as QuantizeLinear's weights are stored.
Graph quantized_product() {
    Trace trace("main");
    const Tensor q = trace.constant(some_weights(DType::kI8, {kIn, kOut}));
    const Tensor scale = trace.constant(some_weights(DType::kF32, {kOut}));
    const Tensor zero = trace.constant(some_weights(DType::kI8, {kOut}));
    trace.output("y", matmul(trace.input("x", {4, kIn}), dequantize_linear(q, scale, zero, 1)));
    return trace.build().value();
}

uint64_t weights_of_package(const Graph& graph) {
    const Result<Cooked> cooked = cook_graphs({graph}, {});
    EXPECT_TRUE(cooked.ok()) << cooked.status().message();
    return cooked->weights_bytes;
}

CompiledProgram compiled(const Graph& graph) {
    Result<CompiledProgram> program = compile_graphs({graph}, {});
    EXPECT_TRUE(program.ok()) << program.status().message();
    return std::move(program).value();
}

NamedTensors run(Executor& executor, const Graph& graph) {
    EXPECT_TRUE(executor.load({graph}, 1).ok());
    const Result<NamedTensors> found =
        executor.run("main", {{"x", some_weights(DType::kF32, {4, kIn})}}, 1);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return *found;
}

void expect_computed_as_by_the_reference(const Graph& graph) {
    const NamedTensors expected = run(*make_reference_executor(), graph),
                       found = run(*make_program_executor(), graph);
    for (int64_t i = 0; i < expected.at("y").element_count(); ++i)
        EXPECT_NEAR(found.at("y").get(i), expected.at("y").get(i),
                    1e-5 * std::max(1.0, std::abs(expected.at("y").get(i))))
            << i;
}

constexpr uint64_t kRest = 1024;  // scales and alignment

TEST(NarrowWeights, OfF16AreStoredOnceAndAsTheyAre) {
    EXPECT_LE(weights_of_package(product(DType::kF16)), kIn * kOut * 2 + kRest);
    EXPECT_LE(compiled(product(DType::kF16)).program.weights_bytes, kIn * kOut * 2 + kRest);
    expect_computed_as_by_the_reference(product(DType::kF16));
}

TEST(NarrowWeights, OfBF16AreStoredOnceAndAsTheyAre) {
    EXPECT_LE(weights_of_package(product(DType::kBF16)), kIn * kOut * 2 + kRest);
    expect_computed_as_by_the_reference(product(DType::kBF16));
}

TEST(NarrowWeights, OfInt8AreDequantizedByTheProductThatReadsThem) {
    EXPECT_LE(weights_of_package(quantized_product()), kIn * kOut + kRest);
    const CompiledProgram program = compiled(quantized_product());
    EXPECT_LE(program.program.weights_bytes, kIn * kOut + kRest);
    EXPECT_EQ(program.program.arena_bytes, 0u);
    EXPECT_EQ(program.program.kernels.size(), 1u);
    expect_computed_as_by_the_reference(quantized_product());
}

TEST(NarrowWeights, OfATableAreDequantizedWhereRowsAreRead) {
    Trace trace("main");
    const Tensor table = trace.constant(some_weights(DType::kU8, {512, 64}));
    const Tensor rows = cast(trace.input("x", {3}) * 100, DType::kI32);
    trace.output("y", take(dequantize_linear(table, trace.constant(0.25)), rows));
    const CompiledProgram program = compiled(trace.build().value());
    EXPECT_LE(program.program.arena_bytes, 3 * 256u);
    EXPECT_LE(program.program.weights_bytes, 512u * 64 + kRest);
}

TEST(NarrowWeights, ThatAnEntryUpdatesKeepTheirNameAndType) {
    const CompiledProgram program = compiled(product(DType::kF16, /*learns=*/true));
    const Variable* w = program.program.find_variable("w");
    ASSERT_NE(w, nullptr);
    EXPECT_EQ(w->dtype, DType::kF16);
    EXPECT_EQ(w->bytes, static_cast<uint64_t>(kIn * kOut * 4));
}

TEST(NarrowWeights, OfEightBitsAndTheirScalesAreStoredOnce) {
    constexpr int64_t kRows = 512, kColumns = 128;  // 2,048 scales, which are packed, too
    Trace trace("main");
    const Tensor w = trace.param("w", {kRows, kColumns},
                                 Init::from(some_weights(DType::kF32, {kRows, kColumns})));
    trace.output("y", matmul(trace.input("x", {4, kRows}), w));
    CookOptions options;
    options.quantize.format = WeightFormat::kInt8;
    const Result<Cooked> cooked = cook_graphs({trace.build().value()}, options);
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    EXPECT_LE(cooked->weights_bytes, kRows * kColumns + kRows * kColumns / 32 * 2 + kRest);
}

TEST(NarrowWeights, EachF16IsUnpackedExactly) {
    constexpr int64_t kAll = 1 << 16;
    HostTensor halves(DType::kF16, {kAll});
    for (int64_t i = 0; i < kAll; ++i)
        halves.as<uint16_t>()[static_cast<size_t>(i)] = static_cast<uint16_t>(i);
    Trace trace("main");
    const Tensor w = trace.param("w", {kAll}, Init::from(halves), DType::kF16);
    trace.output("y", cast(w, DType::kF32) * trace.input("x", {}));
    const std::unique_ptr<Executor> executor = make_program_executor();
    ASSERT_TRUE(executor->load({trace.build().value()}, 1).ok());
    const Result<NamedTensors> found = executor->run("main", {{"x", HostTensor::scalar(1)}}, 1);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (int64_t i = 0; i < kAll; ++i) {
        const double expected = halves.get(i), y = found->at("y").get(i);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(y) : y == expected) << i;
    }
}

}  // namespace
}  // namespace hearth::test
