// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Every variant of every kind of product computes what the shipped one does, on the device; and so
// does a program that was compiled with them.

#include "compiler/driver/compile.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/tuning.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

namespace hearth::test {
namespace {

class TuningTest : public VulkanTest {
  protected:
    CompileOptions options() {
        CompileOptions options;
        auto caps = device().caps();
        EXPECT_TRUE(caps.ok());
        options.caps = *caps;
        options.driver_id = "as installed";
        options.fuse_mlp = FuseMlp::kNever;  // products stay products
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        return options;
    }

    Result<NamedTensors> run_program(const Compiled& compiled, const std::string& entry,
                                     const NamedTensors& inputs, uint64_t rows = 1) {
        HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> runner,
                      standalone::ProgramRunner::create(device(), compiled.bytes));
        return runner->run(entry.c_str(), static_cast<int64_t>(rows), inputs);
    }

    /// Runs all trials as if each were faster than the one before; none may be ruled out.
    void let_the_last_win(Tuner& tuner) {
        double us = 1e6;
        ASSERT_TRUE(tune(tuner, [&](const TuningTrial& trial) -> Result<TuningResult> {
                        TuningResult result{us *= 0.9, {}};
                        HEARTH_ASSIGN(result.outputs, run_program(trial.program, trial.entry,
                                                                  trial.inputs, trial.batch_size));
                        return result;
                    }).ok());
        for (const std::string& note : tuner.remarks()) ADD_FAILURE() << note;
    }
};

/// Products of all kinds of operands, with odd extents among them, and something that follows.
Compiled compile_products(const CompileOptions& options) {
    Trace trace("main");
    const Tensor x = trace.input("x", {40, 72}), wide = trace.input("wide", {24, 72});
    trace.output("layer", relu(matmul(x, wide, false, true)));
    // A software driver takes a third of a second for each variant.
    if (!(options.caps.device_type == DeviceType::kCpu)) {
        trace.output("columns", matmul(x, x, true, false));
        const Tensor odd = trace.input("odd", {2, 19, 33});
        trace.output("odd products", matmul(odd, transpose(odd, {0, 2, 1})));
        const Tensor half = cast(trace.input("half", {33, 72}), DType::kF16);
        trace.output("halves", cast(matmul(half, half, false, true), DType::kF32));
        trace.output("row", matmul(trace.input("one", {1, 72}), wide, false, true));
    }
    auto compiled = compile({&trace}, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? std::move(*compiled) : Compiled();
}

HostTensor random_tensor(const char* name, const Shape& shape) {
    return Init::uniform(-1, 1).make(name, DType::kF32, shape);
}

TEST_F(TuningTest, EveryVariantAgreesWithTheShippedOne) {
    CompileOptions settings = options();
    const Compiled shipped = compile_products(settings);
    EXPECT_GE(shipped.tunable_kernels.size(),
              !(settings.caps.device_type == DeviceType::kCpu) ? 4u : 1u);
    Tuner tuner(shipped.tunable_kernels, settings);
    ASSERT_NO_FATAL_FAILURE(let_the_last_win(tuner));
    EXPECT_GE(tuner.trials_done(), 2 * shipped.tunable_kernels.size());

    settings.tuning = tuner.save();
    const Compiled tuned = compile_products(settings);
    EXPECT_TRUE(tuned.remarks.empty());
    EXPECT_NE(tuned.hash, shipped.hash);
    NamedTensors inputs = {{"x", random_tensor("x", {40, 72})},
                           {"wide", random_tensor("wide", {24, 72})},
                           {"odd", random_tensor("odd", {2, 19, 33})},
                           {"half", random_tensor("half", {33, 72})},
                           {"one", random_tensor("one", {1, 72})}};
    if (settings.caps.device_type == DeviceType::kCpu)
        for (const char* unused : {"odd", "half", "one"}) inputs.erase(unused);
    const auto expected = run_program(shipped, "main", inputs);
    const auto found = run_program(tuned, "main", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const auto& [name, tensor] : *expected) {
        const HostTensor& other = found->at(name);
        // The results of f16 may round to neighbours, 2^-7 apart below 16.
        const double tolerance = name == "halves" ? 0x1p-7 : 1e-4;
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            ASSERT_NEAR(other.get(i), tensor.get(i), tolerance) << name << " " << i;
    }
}

TEST_F(TuningTest, FusedNetworksAreTunedWithinTheirEntries) {
    CompileOptions settings = options();
    if (settings.binding_model == BindingModel::kDescriptor)
        GTEST_SKIP() << "fused networks have more buffers than descriptors reach";
    settings.caps.device_type = DeviceType::kOther;
    settings.fuse_mlp = FuseMlp::kAlways;
    settings.max_batch_size = 24;
    Trace act("act");
    act.output("y", nn::mlp(act, "net", act.input("x", {kBatch, 6}), {16, 8}, tanh, {.seed = 3}));
    const auto shipped = compile({&act}, settings);
    ASSERT_TRUE(shipped.ok()) << shipped.status().message();
    ASSERT_EQ(shipped->tunable_kernels.size(), 1u);
    EXPECT_TRUE(shipped->tunable_kernels[0].starts_with("fused network of act, 24 rows, "));
    EXPECT_EQ(Tuner(shipped->tunable_kernels, settings).trial_count(), 0u) << "without the entry";
    Tuner tuner(shipped->tunable_kernels, settings, {act.build().value()});
    EXPECT_GE(tuner.trial_count(), 4u);
    ASSERT_NO_FATAL_FAILURE(let_the_last_win(tuner));
    settings.tuning = tuner.save();
    EXPECT_NE(settings.tuning.find(shipped->tunable_kernels[0] + " = tiles of "),
              std::string::npos);
    const auto tuned = compile({&act}, settings);
    ASSERT_TRUE(tuned.ok()) << tuned.status().message();
    EXPECT_TRUE(tuned->remarks.empty());
    EXPECT_NE(tuned->hash, shipped->hash);
}

TEST_F(TuningTest, TilesOfAttentionAgreeWithTheShippedOnes) {
    CompileOptions settings = options();
    settings.caps.device_type = DeviceType::kOther;
    Trace trace("main");
    const Shape shape{1, 2, 37, 12};
    trace.output("y", attention(trace.input("q", shape), trace.input("k", shape),
                                trace.input("v", shape), {}, {.causal = true}));
    const auto shipped = compile({&trace}, settings);
    ASSERT_TRUE(shipped.ok()) << shipped.status().message();
    ASSERT_EQ(shipped->tunable_kernels.size(), 1u);
    Tuner tuner(shipped->tunable_kernels, settings);
    EXPECT_GE(tuner.trial_count(), 4u);
    ASSERT_NO_FATAL_FAILURE(let_the_last_win(tuner));
    EXPECT_NE(tuner.save().find(shipped->tunable_kernels[0] + " = tiles of"), std::string::npos);
}

TEST_F(TuningTest, AKernelRulesVariantsAreTunedLikeThoseOfProducts) {
    CompileOptions settings = options();
    settings.caps.device_type = DeviceType::kOther;
    const auto compile_layer = [&] {
        Trace trace("main");
        const Tensor x = trace.input("x", {2, 5, 13, 11});
        const Tensor w = trace.input("w", {5, 1, 3, 3});
        trace.output("y", relu(conv(x, w, {}, {.pad_begin = {1}, .groups = 5})));
        return compile({&trace}, settings);
    };
    const auto shipped = compile_layer();
    ASSERT_TRUE(shipped.ok()) << shipped.status().message();
    ASSERT_EQ(shipped->tunable_kernels.size(), 1u);
    Tuner tuner(shipped->tunable_kernels, settings);
    EXPECT_GE(tuner.trial_count(), 4u);
    ASSERT_NO_FATAL_FAILURE(let_the_last_win(tuner));
    settings.tuning = tuner.save();
    EXPECT_NE(settings.tuning.find(shipped->tunable_kernels[0] + " = "), std::string::npos);
    const auto tuned = compile_layer();
    ASSERT_TRUE(tuned.ok()) << tuned.status().message();
    EXPECT_TRUE(tuned->remarks.empty());
    EXPECT_NE(tuned->hash, shipped->hash);
    const NamedTensors inputs = {{"x", random_tensor("x", {2, 5, 13, 11})},
                                 {"w", random_tensor("w", {5, 1, 3, 3})}};
    const auto expected = run_program(*shipped, "main", inputs);
    const auto found = run_program(*tuned, "main", inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    ASSERT_TRUE(found.ok()) << found.status().message();
    const HostTensor &y = expected->at("y"), &other = found->at("y");
    for (int64_t i = 0; i < y.element_count(); ++i) ASSERT_NEAR(other.get(i), y.get(i), 1e-5) << i;
}

}  // namespace
}  // namespace hearth::test
