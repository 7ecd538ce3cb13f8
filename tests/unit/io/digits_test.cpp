// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// One network in four formats, all of PyTorch's making: each must give PyTorch's logits.

#include "support/digits.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/io.hpp>
#include <hearth/ops.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

class DigitsFormats : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto folder = reference_cases::place_of("digits");
        ASSERT_TRUE(folder);
        folder_ = *folder;
        digits_ = testing::read_digits(folder_, true);
        expected_ = testing::read_numbers(folder_ / "logits_test.csv");
        ASSERT_EQ(digits_.count(), 360);
        ASSERT_EQ(expected_.size(), 3600u);
        accuracy_ = testing::read_accuracy(folder_);
    }

    /// Runs the graph on all test digits, `batch` at a time, and compares.
    void check(const Graph& graph, int64_t batch) {
        int correct = 0;
        for (int64_t first = 0; first < digits_.count(); first += batch) {
            const auto logits = evaluate(graph, std::vector{digits_.images(first, batch)}, batch);
            ASSERT_TRUE(logits.ok()) << logits.status().message();
            for (int64_t i = 0; i < batch * 10; ++i)
                ASSERT_NEAR((*logits)[0].get(i), expected_[static_cast<size_t>(first * 10 + i)],
                            1e-4)
                    << "digit " << first + i / 10;
            correct += testing::correct_count((*logits)[0], digits_, first);
        }
        EXPECT_NEAR(correct / 360.0, accuracy_, 1e-6);
    }

    void check_weights(const Result<NamedTensors>& file) {
        ASSERT_TRUE(file.ok()) << file.status().message();
        Trace trace("digits");
        build(trace);
        const auto report = load_weights(*file, trace);
        ASSERT_TRUE(report.ok()) << report.status().message();
        EXPECT_EQ(report->loaded.size(), 13u);
        const Result<Graph> graph = trace.build();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        check(*graph, 360);
    }

    /// The network of the cases' README, with PyTorch's names.
    static void build(Trace& trace) {
        const auto norm = [&](const char* name, ValueKind kind) {
            const Tensor t =
                kind == ValueKind::kParam ? trace.param(name, {16}) : trace.state(name, {16});
            return reshape(t, {16, 1, 1});
        };
        trace.state("bn.num_batches_tracked", {}, {}, DType::kI64);
        Tensor x = trace.input("x", {kBatch, 1, 8, 8});
        x = conv(x, trace.param("conv1.weight", {16, 1, 3, 3}), trace.param("conv1.bias", {16}),
                 {.pad_begin = {1}});
        x = (x - norm("bn.running_mean", ValueKind::kState)) *
                rsqrt(norm("bn.running_var", ValueKind::kState) + 1e-5) *
                norm("bn.weight", ValueKind::kParam) +
            norm("bn.bias", ValueKind::kParam);
        x = max_pool(relu(x), {2});
        x = conv(x, trace.param("conv2.weight", {32, 16, 3, 3}), trace.param("conv2.bias", {32}),
                 {.pad_begin = {1}});
        x = flatten(max_pool(gelu(x), {2}), 1);
        x = relu(linear(x, trace.param("fc1.weight", {64, 128}), trace.param("fc1.bias", {64})));
        trace.output("logits",
                     linear(x, trace.param("fc2.weight", {10, 64}), trace.param("fc2.bias", {10})));
    }

    std::filesystem::path folder_;
    testing::Digits digits_;
    std::vector<double> expected_;
    double accuracy_ = 0;
};

TEST_F(DigitsFormats, TheScriptExportersModel) {
    const auto model = import_onnx_file((folder_ / "digits_cnn_script.onnx").string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    check(model->graph(), 360);
}

TEST_F(DigitsFormats, TheDynamoExportersModelWithItsDataFile) {
    const auto path = folder_ / "digits_cnn_dynamo.onnx";
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "HEARTH_CASES names no folder with what newer exporters wrote";
    const auto model = import_onnx_file(path.string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    check(model->graph(), 2);  // the model has this batch
}

TEST_F(DigitsFormats, TheTorchFile) {
    check_weights(read_torch(testing::file_bytes(folder_ / "digits_cnn.pt")));
}

TEST_F(DigitsFormats, TheSafetensorsFile) {
    check_weights(read_safetensors(testing::file_bytes(folder_ / "digits_cnn.safetensors")));
}

}  // namespace
}  // namespace hearth
