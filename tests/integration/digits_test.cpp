// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A model from elsewhere goes on learning on a device and goes back: import, train, export, import.

#include "support/digits.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/compile.hpp>
#include <hearth/io.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>

namespace hearth::test {
namespace {

constexpr int64_t kBatchSize = 32, kTestDigits = 360;

class DigitsTest : public VulkanTest {
  protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        const auto folder = reference_cases::place_of("digits");
        if (!folder) GTEST_SKIP() << "neither tests/data/torch nor HEARTH_CASES is there";
        folder_ = *folder;
        train_ = hearth::testing::read_digits(folder_, false);
        test_ = hearth::testing::read_digits(folder_, true);
    }

    std::unique_ptr<standalone::ProgramRunner> make_runner(const ImportedModel& model) {
        Trace act("act"), learn("learn");
        act.output("logits", model.call(act, {act.input("x", {kBatch, 1, 8, 8})})[0]);
        const Tensor logits = model.call(learn, {learn.input("x", {kBatch, 1, 8, 8})})[0];
        const Tensor loss = cross_entropy(logits, learn.input("labels", {kBatch}, DType::kI64));
        learn.output("loss", loss);
        minimize(loss, learn.params(), SgdOptions{.learning_rate = 2e-3, .momentum = 0.9});
        CompileOptions options;
        const auto caps = device().caps();
        EXPECT_TRUE(caps.ok());
        options.caps = *caps;
        options.max_batch_size = kTestDigits;
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        const auto compiled = compile({&act, &learn}, options);
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        if (!compiled.ok()) return nullptr;
        auto runner = standalone::ProgramRunner::create(device(), compiled->bytes);
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        return runner.ok() ? std::move(*runner) : nullptr;
    }

    int correct(standalone::ProgramRunner& runner) {
        const auto outputs = runner.run("act", kTestDigits, {{"x", test_.images(0, kTestDigits)}});
        EXPECT_TRUE(outputs.ok()) << outputs.status().message();
        return outputs.ok() ? hearth::testing::correct_count(outputs->at("logits"), test_) : 0;
    }

    double epoch(standalone::ProgramRunner& runner) {
        double total = 0;
        for (int64_t first = 0; first < train_.count(); first += kBatchSize) {
            const int64_t n = std::min(kBatchSize, train_.count() - first);
            const auto outputs = runner.run(
                "learn", n, {{"x", train_.images(first, n)}, {"labels", train_.targets(first, n)}});
            EXPECT_TRUE(outputs.ok()) << outputs.status().message();
            if (!outputs.ok()) return NAN;
            total += outputs->at("loss").get(0) * static_cast<double>(n);
        }
        return total / static_cast<double>(train_.count());
    }

    std::filesystem::path folder_;
    hearth::testing::Digits train_, test_;
};

TEST_F(DigitsTest, AnImportedModelLearnsOnAndGoesBackToOnnxBitForBit) {
    const auto model = import_onnx_file((folder_ / "digits_cnn_script.onnx").string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto runner = make_runner(*model);
    ASSERT_NE(runner, nullptr);
    const int before = correct(*runner);
    EXPECT_EQ(before, std::lround(hearth::testing::read_accuracy(folder_) * kTestDigits));
    const double first = epoch(*runner);
    const double last = epoch(*runner);
    EXPECT_LT(last, first);
    EXPECT_GE(correct(*runner), before);

    const auto slots = runner->read_variables();
    ASSERT_TRUE(slots.ok()) << slots.status().message();
    NamedTensors learned;  // without the optimizer's states
    for (const auto& [name, first_contents] : initial_weights(model->graph()))
        learned[name] = slots->at(name);
    const auto bytes = export_onnx(model->graph(), learned);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const auto again = import_onnx(*bytes);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(initial_weights(again->graph()), learned);

    NamedTensors weights = learned;
    constexpr int64_t kSome = 20;
    const HostTensor images = test_.images(0, kSome);
    const auto expected = interpret(model->graph(), {{"x", images}}, weights, kSome);
    const auto found = evaluate(again->graph(), std::vector{images}, kSome);
    ASSERT_TRUE(expected.ok() && found.ok());
    EXPECT_EQ((*found)[0], expected->at("logits"));
}

}  // namespace
}  // namespace hearth::test
