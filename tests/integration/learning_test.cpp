// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A small network learns on a device: as well as on the CPU, to the bit the same from run to run,
// whole or in slices, for any number of rows.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/build_graphs.hpp"
#include "support/random_cuts.hpp"
#include "support/regression.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/file.hpp>
#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>
#include <unistd.h>

#include <cmath>
#include <filesystem>

namespace hearth::test {
namespace {

constexpr uint64_t kCapacity = 64;

/// Fits y = (sin 3a, a b) with an 2-16-16-2 network.
CompiledProgram compile_learner(const DeviceCaps& caps) {
    auto network = [](Trace& trace, const Tensor& x) {
        return nn::mlp(trace, "net", x, {16, 16, 2}, tanh, {.seed = 7});
    };
    Trace act("act");
    act.output("action", network(act, act.input("observation", {kBatch, 2})));
    Trace learn("learn");
    const Tensor x = learn.input("x", {kBatch, 2}), y = learn.input("y", {kBatch, 2});
    const Tensor loss = mse_loss(network(learn, x), y);
    minimize(loss, learn.params(), AdamOptions{.learning_rate = 3e-3});
    learn.output("loss", loss);

    CompileOptions options;
    options.caps = caps;
    options.max_batch_size = kCapacity;
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    return compile_traces({&act, &learn}, options);
}

class LearningTest : public VulkanTest {
  protected:
    std::unique_ptr<standalone::ProgramRunner> make_runner(const CompiledProgram& compiled) {
        auto runner = standalone::ProgramRunner::create(device(), save_program(compiled.program),
                                                        session_that_cuts());
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        return runner.ok() ? std::move(runner).value() : nullptr;
    }

    DeviceCaps caps() {
        auto caps = device().caps();
        EXPECT_TRUE(caps.ok());
        return *caps;
    }

    static double learn(standalone::ProgramRunner& runner, int step, int64_t rows = kCapacity,
                        const std::function<void(hearth_record_info&)>& limit = {}) {
        auto outputs = runner.run("learn", rows, regression_batch(step, rows), limit);
        EXPECT_TRUE(outputs.ok()) << outputs.status().message();
        return outputs.ok() ? outputs->at("loss").get(0) : NAN;
    }
};

TEST_F(LearningTest, PipelinesAreKeptInAFileForTheNextRun) {
    auto caps = device().caps();
    ASSERT_TRUE(caps.ok()) << caps.status().message();
    const std::vector<std::byte> program = save_program(compile_learner(*caps).program);
    const std::string folder = testing::TempDir() + "hearth_pipelines_" +
                               std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
                               std::to_string(getpid());
    std::filesystem::create_directory(folder);
    const std::string path = folder + "/learner.bin";
    const auto start = [&](const std::string& file) {
        return standalone::ProgramRunner::create(device(), program,
                                                 hearth_session_create_info_default(), file);
    };
    for (const char* before : {"", "no pipelines"}) {
        // Missing at first, then damaged.
        if (*before != 0) {
            ASSERT_TRUE(write_file_atomically(path, std::string_view(before)).ok());
        }
        const auto runner = start(path);
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        EXPECT_EQ((*runner)->context().stats().pipeline_cache_used, 0u);
        const auto expected = (*runner)->context().save_pipeline_cache();
        const auto kept = read_whole_file(path);
        ASSERT_TRUE(expected.ok() && kept.ok()) << kept.status().message();
        EXPECT_EQ(kept->size(), expected->size()) << before;
        const auto next = start(path);
        ASSERT_TRUE(next.ok()) << next.status().message();
    }
    const auto nowhere = start(folder + "/missing/learner.bin");
    EXPECT_FALSE(nowhere.ok());
    EXPECT_NE(nowhere.status().message().find("missing/learner.bin"), std::string::npos)
        << nowhere.status().message();
    std::filesystem::remove_all(folder);
}

TEST_F(LearningTest, LossFallsBelowAKnownValue) {
    const CompiledProgram compiled = compile_learner(caps());
    auto runner = make_runner(compiled);
    ASSERT_NE(runner, nullptr);
    const double first = learn(*runner, 0);
    double last = 0;
    for (int step = 1; step < 600; ++step) last = learn(*runner, step);
    EXPECT_GT(first, 0.2);
    EXPECT_LT(last, 0.02);
}

TEST_F(LearningTest, WeightsFollowTheCpuReferenceForTwentySteps) {
    const CompiledProgram compiled = compile_learner(caps());
    auto runner = make_runner(compiled);
    ASSERT_NE(runner, nullptr);
    NamedTensors weights = initial_weights(compiled.graphs[1]);
    for (int step = 0; step < 20; ++step) {
        // The number of rows changes from step to step, without compiling anew.
        const int64_t rows = 1 + (step * 13) % static_cast<int64_t>(kCapacity);
        auto expected = interpret(compiled.graphs[1], regression_batch(step, rows), weights, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        EXPECT_NEAR(learn(*runner, step, rows), expected->at("loss").get(0), 1e-5);
    }
    auto found = runner->read_variables();
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const auto& [name, value] : *found) {
        const HostTensor& expected = weights.at(name);
        for (int64_t i = 0; i < value.element_count(); ++i)
            // Adam divides by the root of squares: tiny differences of tiny gradients grow.
            ASSERT_NEAR(value.get(i), expected.get(i), 2e-4) << name << "[" << i << "]";
    }
}

TEST_F(LearningTest, AThousandStepsAreBitIdenticalWholeAndInSlicesWithActingInBetween) {
    const CompiledProgram compiled = compile_learner(caps());
    auto whole = make_runner(compiled), sliced = make_runner(compiled);
    ASSERT_TRUE(whole && sliced);
    for (int step = 0; step < 1000; ++step) {
        const double a = learn(*whole, step % 50);
        const double b = learn(*sliced, step % 50, kCapacity,
                               RandomCuts(sliced->program(), "learn", static_cast<uint64_t>(step)));
        ASSERT_EQ(a, b) << "step " << step;
        if (step % 100 == 0) {
            HostTensor observation(DType::kF32, {3, 2});
            ASSERT_TRUE(sliced->run("act", 3, {{"observation", observation}}).ok());
        }
    }
    auto a = whole->read_variables(), b = sliced->read_variables();
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(*a, *b);
}

TEST_F(LearningTest, ActingUsesWhatWasLearned) {
    const CompiledProgram compiled = compile_learner(caps());
    auto runner = make_runner(compiled);
    ASSERT_NE(runner, nullptr);
    const NamedTensors inputs = {{"observation", regression_batch(99, 5).at("x")}};
    auto before = runner->run("act", 5, inputs);
    for (int step = 0; step < 5; ++step) learn(*runner, step);
    auto after = runner->run("act", 5, inputs);
    ASSERT_TRUE(before.ok() && after.ok());
    EXPECT_NE(*before, *after);
    auto weights = runner->read_variables();
    ASSERT_TRUE(weights.ok());
    auto expected = interpret(compiled.graphs[0], inputs, *weights, 5);
    ASSERT_TRUE(expected.ok());
    for (int64_t i = 0; i < 10; ++i)
        EXPECT_NEAR(after->at("action").get(i), expected->at("action").get(i), 1e-5);
}

}  // namespace
}  // namespace hearth::test
