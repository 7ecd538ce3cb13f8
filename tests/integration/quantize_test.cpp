// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Weights in f16 and in blocks of 8 and 4 bits: what is converted and what is not, how large the
// error is, and that device, planned program and interpreter agree on the converted graphs.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "compiler/passes/quantize_weights.hpp"
#include "support/random_tensor.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>

namespace hearth::test {
namespace {

constexpr WeightFormat kFormats[] = {WeightFormat::kF16, WeightFormat::kInt8, WeightFormat::kInt4};

/// A convolution, a constant matrix and two linear layers; odd extents, so that blocks end within
/// rows and words within blocks.
void build_net(Trace& trace) {
    const Tensor image = trace.input("image", {kBatch, 3, 7, 5});
    const Tensor filters =
        trace.param("filters", {9, 3, 3, 3}, Init::from(random_tensor({9, 3, 3, 3}, 1, 0.3)));
    Tensor x = relu(conv(image, filters, {}, {.pad_begin = {1, 1}, .pad_end = {1, 1}}));
    x = reshape(x, {kBatch, 9 * 7 * 5});
    x = relu(matmul(x, trace.constant(random_tensor({315, 33}, 2, 0.1))));
    x = nn::linear(trace, "hidden", x, 31, {.seed = 3});
    trace.output("y", nn::linear(trace, "last", tanh(x), 10, {.seed = 4}));
}

Result<Graph> net_graph() {
    Trace trace("act");
    build_net(trace);
    return trace.build();
}

QuantizeOptions to(WeightFormat format) {
    return {.format = format, .min_elements = 200};
}

TEST(PackWeights, AreWithinHalfAStepOfTheirBlocksLargest) {
    const HostTensor w = random_tensor({1031}, 5);
    for (const auto& [bits, steps] : {std::pair{8, 127.0}, {4, 7.0}}) {
        const PackedWeights packed = pack_weights(w, bits, 32, DType::kF32);
        const int per_word = 32 / bits;
        ASSERT_EQ(packed.words.element_count(), (1031 + per_word - 1) / per_word);
        ASSERT_EQ(packed.scales.element_count(), 33);
        double squares = 0;
        for (int64_t i = 0; i < w.element_count(); ++i) {
            double largest = 0;
            for (int64_t j = i / 32 * 32; j < std::min<int64_t>(1031, i / 32 * 32 + 32); ++j)
                largest = std::max(largest, std::abs(w.get(j)));
            const uint32_t word = packed.words.as<uint32_t>()[static_cast<size_t>(i / per_word)];
            const auto q =
                static_cast<int32_t>(word << (32 - bits - i % per_word * bits)) >> (32 - bits);
            const double off = q * packed.scales.get(i / 32) - w.get(i);
            // Four bits may clip the largest to lose less elsewhere.
            EXPECT_LE(std::abs(off), largest / steps * (bits == 8 ? 0.5001 : 3)) << i;
            squares += off * off;
        }
        // Uniform errors of half a step have a mean square of step^2 / 12.
        EXPECT_LE(std::sqrt(squares / 1031), 1 / steps / std::sqrt(12.0)) << bits << " bits";
    }
}

TEST(PackWeights, ABlockOfZerosOrOfOneNumberIsExact) {
    HostTensor w(DType::kF32, {70});
    for (int64_t i = 32; i < 64; ++i) w.set(i, -0.75);
    for (int bits : {8, 4}) {
        const PackedWeights packed = pack_weights(w, bits, 32, DType::kF32);
        EXPECT_EQ(packed.scales.get(0), 0);
        EXPECT_EQ(packed.words.as<uint32_t>()[0], 0u);
        const uint32_t word = packed.words.as<uint32_t>()[static_cast<size_t>(32 * bits / 32)];
        const int32_t q = static_cast<int32_t>(word << (32 - bits)) >> (32 - bits);
        EXPECT_NEAR(q * packed.scales.get(1), -0.75, 1e-6);
        EXPECT_EQ(packed.scales.get(2), 0);
    }
}

TEST(QuantizeWeights, ReportsEachMatrixAndLeavesBiasesAlone) {
    const double worst[] = {1e-3, 0.01, 0.12};
    for (size_t f = 0; f < std::size(kFormats); ++f) {
        std::vector<Graph> graphs{net_graph().value()};
        const auto report = quantize_weights(graphs, to(kFormats[f]));
        ASSERT_TRUE(report.ok()) << report.status().message();
        ASSERT_EQ(report->size(), 4u);  // filters, the constant, two layers
        for (const QuantizedWeight& w : *report) {
            EXPECT_GT(w.rms_error, 0) << w.name;
            EXPECT_LE(w.rms_error, worst[f] * w.rms) << w.name;
            EXPECT_GE(w.max_error, w.rms_error) << w.name;
            EXPECT_EQ(w.bytes_before, 4 * static_cast<uint64_t>(w.shape.element_count(1)));
            const double ratio =
                static_cast<double>(w.bytes_before) / static_cast<double>(w.bytes_after);
            EXPECT_NEAR(ratio, f == 0 ? 2 : f == 1 ? 3.76 : 7, 0.2) << w.name;
        }
        for (const Value& v : graphs[0].values) {
            if (v.kind != ValueKind::kParam || v.dtype != DType::kF32) continue;
            EXPECT_TRUE(v.name.ends_with(".bias")) << v.name;
        }
    }
}

TEST(QuantizeWeights, LeavesWhatAnEntryUpdates) {
    Trace act("act"), learn("learn");
    const auto net = [](Trace& trace) {
        return nn::linear(trace, "net", trace.input("x", {kBatch, 64}), 32, {.seed = 1});
    };
    act.output("y", net(act));
    const Tensor loss = mean(square(net(learn)));
    minimize(loss, learn.params(), SgdOptions{});
    std::vector<Graph> graphs{act.build().value(), learn.build().value()};
    const std::vector<Graph> before = graphs;
    const auto report = quantize_weights(graphs, to(WeightFormat::kInt8));
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->empty());
    EXPECT_EQ(print(graphs[0]), print(before[0]));
}

TEST(QuantizeWeights, RefusesWeightsThatAreNotFinite) {
    HostTensor bad = random_tensor({64, 64}, 1);
    bad.set(77, NAN);
    Trace trace("act");
    trace.output(
        "y", matmul(trace.input("x", {kBatch, 64}), trace.param("w", {64, 64}, Init::from(bad))));
    std::vector<Graph> graphs{trace.build().value()};
    const auto report = quantize_weights(graphs, to(WeightFormat::kInt4));
    ASSERT_FALSE(report.ok());
    EXPECT_NE(report.status().message().find("weight 'w' holds NaN or infinity"), std::string::npos)
        << report.status().message();
}

class QuantizedNet : public VulkanTest, public testing::WithParamInterface<WeightFormat> {};

TEST_P(QuantizedNet, RunsAlikeOnTheDeviceInThePlanAndInTheInterpreter) {
    constexpr int64_t kNetRows = 6;
    const Graph original = net_graph().value();
    const NamedTensors inputs{{"image", random_tensor({kNetRows, 3, 7, 5}, 9)}};
    NamedTensors weights, narrow_weights;
    const auto exact = interpret(original, inputs, weights, kNetRows);
    ASSERT_TRUE(exact.ok());
    std::vector<Graph> graphs{original};
    ASSERT_TRUE(quantize_weights(graphs, to(GetParam())).ok());
    const auto expected = interpret(graphs[0], inputs, narrow_weights, kNetRows);
    ASSERT_TRUE(expected.ok()) << expected.status().message();

    CompileOptions options;
    options.caps = device().caps().value();
    options.max_batch_size = 11;
    options.quantize = to(GetParam());
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    for (const bool fuse : {true, false}) {
        options.fuse = fuse;
        const auto compiled = compile_graphs({original}, options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        EXPECT_EQ(compiled->quantized.size(), 4u);
        // Unpacked weights are never stored: no value of the arena is as large as the constant.
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        const auto found = (*runner)->run("act", kNetRows, inputs);
        ASSERT_TRUE(found.ok()) << found.status().message();
        ProgramMemory memory(compiled->program);
        const auto planned =
            run_program(compiled->program, "act", compiled->graphs[0], inputs, memory, kNetRows);
        ASSERT_TRUE(planned.ok()) << planned.status().message();
        const HostTensor &y = expected->at("y"), &full = exact->at("y");
        const double loss = GetParam() == WeightFormat::kInt4 ? 0.15 : 0.01;
        for (int64_t i = 0; i < y.element_count(); ++i) {
            EXPECT_NEAR(found->at("y").get(i), y.get(i), 1e-5) << i;
            EXPECT_NEAR(planned->at("y").get(i), y.get(i), 1e-5) << i;
            EXPECT_NEAR(y.get(i), full.get(i), loss) << i;
        }
    }
}

TEST_P(QuantizedNet, TakesTheMemoryOfItsFormat) {
    CompileOptions options;
    options.caps = device().caps().value();
    const auto wide = compile_graphs({net_graph().value()}, options);
    options.quantize = to(GetParam());
    const auto narrow = compile_graphs({net_graph().value()}, options);
    ASSERT_TRUE(wide.ok() && narrow.ok());
    const bool has_f16 = options.caps.storage_buffer_16bit_access;
    const double least = GetParam() == WeightFormat::kF16    ? (has_f16 ? 1.8 : 1)
                         : GetParam() == WeightFormat::kInt8 ? 2.9
                                                             : 4.3;
    EXPECT_GE(static_cast<double>(wide->program.weights_bytes) /
                  static_cast<double>(narrow->program.weights_bytes),
              least);
    // Nothing is unpacked into scratch memory: the arena is what it was.
    EXPECT_EQ(narrow->program.arena_bytes, wide->program.arena_bytes);
}

INSTANTIATE_TEST_SUITE_P(Formats, QuantizedNet, testing::ValuesIn(kFormats), [](const auto& test) {
    return std::string(test.param == WeightFormat::kF16    ? "F16"
                       : test.param == WeightFormat::kInt8 ? "Int8"
                                                           : "Int4");
});

}  // namespace
}  // namespace hearth::test
