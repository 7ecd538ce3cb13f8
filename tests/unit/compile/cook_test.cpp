// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "program/package.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

/// A learner of two entries.
class Cook : public ::testing::Test {
  protected:
    Cook() {
        act_.output("y", net(act_, act_.input("x", {kBatch, 5})));
        const Tensor loss =
            mse_loss(net(learn_, learn_.input("x", {kBatch, 5})), learn_.input("t", {kBatch, 3}));
        minimize(loss, learn_.params(), AdamOptions{});
        learn_.output("loss", loss);
    }
    static Tensor net(Trace& trace, const Tensor& x) {
        return nn::mlp(trace, "net", x, {16, 16, 3}, relu, {.seed = 1});
    }
    static CookOptions two_profiles() {
        CookOptions options;
        DeviceTarget large{"large", {}};
        large.options.caps.max_compute_work_group_invocations = 1024;
        large.options.caps.max_compute_shared_memory_size = 49152;
        options.device_targets = {large, DeviceTarget{}};
        options.max_batch_size = 32;
        return options;
    }
    Result<Cooked> cooked() { return cook({&act_, &learn_}, two_profiles()); }

    Trace act_{"act"}, learn_{"learn"};
};

PackageView open(const Cooked& cooked) {
    PackageView view;
    ViewError error;
    EXPECT_TRUE(view.open(cooked.bytes, &error)) << error.text.c_str();
    return view;
}

TEST_F(Cook, EachProfilesProgramIsWhatCompileMakes) {
    const Result<Cooked> package = cooked();
    ASSERT_TRUE(package.ok()) << package.status().message();
    const PackageView view = open(*package);
    const CookOptions options = two_profiles();
    ASSERT_EQ(view.device_targets().size(), 2u);
    for (uint32_t i = 0; i < 2; ++i) {
        CompileOptions alone = options.device_targets[i].options;
        alone.caps.name = options.device_targets[i].name;
        alone.max_batch_size = 32;
        const Result<Compiled> compiled = compile({&act_, &learn_}, alone);
        ASSERT_TRUE(compiled.ok());
        EXPECT_EQ(package->device_targets[i].compiled.hash, compiled->hash);

        // From the package: the same but for where first contents lie.
        Result<Program> packed = load_program(view, i);
        const Result<Program> program = load_program(compiled->bytes);
        ASSERT_TRUE(packed.ok() && program.ok());
        EXPECT_EQ(packed->graph_hash, view.header().graph_hash);
        for (size_t s = 0; s < program->variables.size(); ++s) {
            const Variable& from = program->variables[s];
            Variable& slot = packed->variables[s];
            ASSERT_EQ(from.data_offset == kZeroFilled, slot.data_offset == kZeroFilled);
            if (slot.data_offset == kZeroFilled) continue;
            EXPECT_EQ(std::memcmp(packed->data.data() + slot.data_offset,
                                  program->data.data() + from.data_offset, from.bytes),
                      0);
            slot.data_offset = from.data_offset;
        }
        packed->data = program->data;
        EXPECT_EQ(content_hash(*packed), program->hash);
    }
}

TEST_F(Cook, WeightsAreInThePackageOnce) {
    const Result<Cooked> two = cooked();
    ASSERT_TRUE(two.ok());
    CookOptions one = two_profiles();
    one.device_targets.pop_back();
    const Result<Cooked> single = cook({&act_, &learn_}, one);
    ASSERT_TRUE(single.ok());
    EXPECT_EQ(two->weights_bytes, single->weights_bytes);
    EXPECT_EQ(two->graph_hash, single->graph_hash);
    // Layers of 5x16, 16x16 and 16x3 with biases, and a little more for constants.
    const uint64_t net_bytes = 4 * (5 * 16 + 16 + 16 * 16 + 16 + 16 * 3 + 3);
    EXPECT_GE(two->weights_bytes, net_bytes - 4 * 35);  // biases start as zeros
    EXPECT_LT(two->weights_bytes, net_bytes + 1024);
}

TEST_F(Cook, CookingAgainGivesTheSamePackage) {
    const Result<Cooked> package = cooked();
    ASSERT_TRUE(package.ok());
    const Result<Cooked> again = recook(package->bytes, two_profiles());
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->bytes, package->bytes);
}

TEST_F(Cook, APackageKeepsItsBatchSizeWhenItIsCookedAgain) {
    const Result<Cooked> package = cooked();
    ASSERT_TRUE(package.ok());
    CookOptions options = two_profiles();
    options.max_batch_size = 0;
    const Result<Cooked> again = recook(package->bytes, options);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->bytes, package->bytes);
}

TEST_F(Cook, ABatchSmallerThanItsAgentsIsRefused) {
    using namespace agents;
    const AgentSpec spec(ObservationSpec().box("x"), ActionSpec().discrete("y", 2));
    const AgentManifest manifest = make_manifest(spec, Ppo{.n_agents = 5});
    CookOptions options{.max_batch_size = 4, .agents = manifest.save()};
    const Result<Cooked> small = cook({&act_, &learn_}, options);
    ASSERT_FALSE(small.ok());
    EXPECT_EQ(small.status().message(),
              "max_batch_size is 4, expected at least the 5 agents of the package");
    options.max_batch_size = 5;
    const Result<Cooked> package = cook({&act_, &learn_}, options);
    ASSERT_TRUE(package.ok()) << package.status().message();
    EXPECT_FALSE(recook(package->bytes, {.max_batch_size = 1}).ok());
    const Result<Cooked> again = recook(package->bytes, {});
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->bytes, package->bytes);
}

TEST_F(Cook, ReportsItsProgress) {
    CookOptions options = two_profiles();
    std::vector<std::string> seen;
    options.progress = [&](std::string_view profile, size_t done, size_t count) {
        seen.push_back(std::string(profile) + " " + std::to_string(done) + "/" +
                       std::to_string(count));
    };
    ASSERT_TRUE(cook({&act_, &learn_}, options).ok());
    EXPECT_EQ(seen, (std::vector<std::string>{"large 0/2", "baseline 1/2", " 2/2"}));
}

TEST_F(Cook, AFailureNamesTheProfile) {
    CookOptions options = two_profiles();
    options.device_targets[1].options.caps.max_storage_buffer_range = 64;
    const Result<Cooked> package = cook({&act_, &learn_}, options);
    ASSERT_FALSE(package.ok());
    EXPECT_TRUE(package.status().message().starts_with("device target 'baseline': "))
        << package.status().message();
}

TEST_F(Cook, WhatIsCookedRunsAsBefore) {
    const Result<Cooked> package = cooked();
    ASSERT_TRUE(package.ok());
    const PackageView view = open(*package);
    const Graph act = act_.build().value();
    CompileOptions options = two_profiles().device_targets[1].options;
    options.caps.name = "baseline";
    options.max_batch_size = 32;
    const Result<CompiledProgram> direct = compile_graphs({act, learn_.build().value()}, options);
    ASSERT_TRUE(direct.ok());
    const Result<Program> packed = load_program(view, 1);
    ASSERT_TRUE(packed.ok());
    HostTensor x(DType::kF32, {7, 5});
    for (int64_t i = 0; i < x.element_count(); ++i)
        x.set(i, 0.1 * static_cast<double>(i % 9) - 0.4);
    ProgramMemory a(direct->program), b(*packed);
    const auto expected = run_program(direct->program, "act", direct->graphs[0], {{"x", x}}, a, 7);
    const auto found = run_program(*packed, "act", direct->graphs[0], {{"x", x}}, b, 7);
    ASSERT_TRUE(expected.ok() && found.ok());
    EXPECT_EQ(found->at("y"), expected->at("y"));
}

}  // namespace
}  // namespace hearth::test
