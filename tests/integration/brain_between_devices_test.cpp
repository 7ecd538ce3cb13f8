// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// One brain file, two devices: it learns on Vulkan, goes on on the CPU, and comes back.

#include "compiler/driver/compile.hpp"
#include "native/native_host.hpp"
#include "support/regression.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

namespace hearth::test {
namespace {

constexpr uint64_t kCapacity = 64;

class BrainBetweenDevices : public VulkanTest {
  protected:
    static std::unique_ptr<standalone::ProgramRunner> make_runner(standalone::Device& device) {
        Trace learn("learn");
        const Tensor x = learn.input("x", {kBatch, 2}), y = learn.input("y", {kBatch, 2});
        const Tensor loss = mse_loss(nn::mlp(learn, "net", x, {16, 16, 2}, tanh, {.seed = 7}), y);
        minimize(loss, learn.params(), AdamOptions{.learning_rate = 3e-3});
        learn.output("loss", loss);
        const auto caps = device.caps();
        EXPECT_TRUE(caps.ok());
        const auto compiled = compile({&learn}, {.caps = *caps, .max_batch_size = kCapacity});
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        hearth_session_create_info session = hearth_session_create_info_default();
        auto runner = standalone::ProgramRunner::create(device, compiled->bytes, session);
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        return runner.ok() ? std::move(runner).value() : nullptr;
    }
    static double learn(standalone::ProgramRunner& runner, int step) {
        const auto outputs = runner.run("learn", kCapacity, regression_batch(step, kCapacity));
        EXPECT_TRUE(outputs.ok()) << outputs.status().message();
        return outputs.ok() ? outputs->at("loss").get(0) : 0;
    }
    static std::vector<std::byte> brain_of(standalone::ProgramRunner& runner) {
        hearth_readback id = 0;
        Status status = runner.submit([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(const auto recorded, runner.session().record_save_brain(commands));
            id = recorded.value();
            return {};
        });
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(runner.begin_frame().ok());
        const auto arrived = runner.session().poll(id);
        EXPECT_TRUE(arrived.ok() && arrived->has_value());
        auto brain = runner.program().serialize_brain((*arrived)->bytes);
        EXPECT_TRUE(brain.ok()) << brain.status().message();
        runner.session().release(id);
        return std::move(brain).value();
    }
    static void load(standalone::ProgramRunner& runner, std::span<const std::byte> brain) {
        const Status status = runner.submit([&](VkCommandBuffer commands) {
            return runner.session().record_load_brain(commands, brain);
        });
        EXPECT_TRUE(status.ok()) << status.message();
    }
};

TEST_F(BrainBetweenDevices, LossesGoOnFromVulkanToTheCpuAndBack) {
    native::Host host;
    const auto instance = standalone::Instance::create_native(host.info());
    ASSERT_TRUE(instance.ok()) << instance.status().message();
    const auto cpu = standalone::Device::create(**instance);
    ASSERT_TRUE(cpu.ok()) << cpu.status().message();
    const auto stays = make_runner(device()), travels = make_runner(device()),
               native = make_runner(**cpu);
    ASSERT_TRUE(stays && travels && native);
    for (int step = 0; step < 40; ++step) {
        const bool is_away = step >= 15 && step < 30;
        if (step == 15) load(*native, brain_of(*travels));
        if (step == 30) load(*travels, brain_of(*native));
        const double expected = learn(*stays, step);
        // The same arithmetic in another order: differences of a step are those of rounding.
        EXPECT_NEAR(learn(is_away ? *native : *travels, step), expected, 2e-5 * (1 + expected))
            << "step " << step;
    }
    // A brain that only passed through is the same bytes.
    const std::vector<std::byte> brain = brain_of(*stays);
    load(*native, brain);
    EXPECT_EQ(brain_of(*native), brain);
}

}  // namespace
}  // namespace hearth::test
