// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Agents learn on a CPU without a C compiler: their kernels are interpreted, to the bits of compiled
// ones.

#include "native/interpreted_kernels.hpp"

#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr uint32_t kCarts = 8;

/// The carts of demos/hello_agents.
struct Cart {
    AgentId id{};
    double place = 0, speed = 0, angle = 0, turning = 0;
    int steps = 0;

    void start(std::mt19937& random) {
        std::uniform_real_distribution<double> near_zero(-0.05, 0.05);
        place = near_zero(random), speed = near_zero(random);
        angle = near_zero(random), turning = near_zero(random), steps = 0;
    }
    bool step(bool push_right) {
        const double sine = std::sin(angle), cosine = std::cos(angle), seconds = 0.02;
        const double push = ((push_right ? 10.0 : -10.0) + 0.05 * turning * turning * sine) / 1.1;
        const double turn =
            (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1));
        place += seconds * speed, speed += seconds * (push - 0.05 * turn * cosine / 1.1);
        angle += seconds * turning, turning += seconds * turn;
        ++steps;
        return std::fabs(place) <= 2.4 && std::fabs(angle) <= 0.2094;
    }
    void show(std::span<float> seen) const {
        seen[0] = static_cast<float>(place), seen[1] = static_cast<float>(speed);
        seen[2] = static_cast<float>(angle), seen[3] = static_cast<float>(turning);
    }
};

struct Learned {
    std::vector<std::byte> brain;
    double mean_steps = 0;  ///< of the episodes in the last quarter of the frames
    std::vector<std::string> messages;
    bool was_interpreted = false;
};

/// Plays the game of demos/hello_agents, with its network and hyperparameters.
Result<Learned> learn(cpu::DeviceOptions options, int frames) {
    Learned learned;
    options.progress = [&](std::string_view message) { learned.messages.emplace_back(message); };
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device(std::move(options)));
    const AgentSpec spec(ObservationSpec().box("cart", 4), ActionSpec().discrete("push", 2));
    Ppo ppo{.n_agents = kCarts, .n_steps = 32, .n_minibatches = 1, .n_epochs = 20, .vf_coef = 0.5};
    ppo.gamma = 0.98, ppo.gae_lambda = 0.8;
    ppo.ent_coef = ppo.limits.target_kl = 0;
    ppo.normalize_observations = ppo.normalize_rewards = false;
    HEARTH_ASSIGN(Agents agents, make_agents(device.context(), spec, mlp_network({64, 64}), ppo));
    std::mt19937 random(1);
    std::array<Cart, kCarts> carts;
    for (Cart& cart : carts) {
        HEARTH_ASSIGN(cart.id, agents.add());
        cart.start(random);
        cart.show(agents.observation(cart.id));
    }
    double steps = 0, episodes = 0;
    for (int frame = 0; frame < frames; ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        agents.poll();
        for (Cart& cart : carts) {
            const std::span<const float> action = agents.action(cart.id);
            if (action.empty()) continue;
            const bool stands = cart.step(action[0] == 1.0f);
            cart.show(agents.observation(cart.id));
            HEARTH_TRY(agents.add_reward(cart.id, 1));
            if (stands && cart.steps < 500) continue;
            HEARTH_TRY(agents.end_episode(
                cart.id, stands ? EpisodeEnd::kTruncated : EpisodeEnd::kTerminated));
            if (frame >= frames - frames / 4) ++episodes, steps += cart.steps;
            cart.start(random);
            cart.show(agents.observation(cart.id));
        }
        // An update takes the frame in which its samples are complete, so that both kinds of kernels
        // learn after the same frames.
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
            return agents.record(commands, {.learning_budget_us = 1e9});
        }));
    }
    learned.mean_steps = episodes == 0 ? 0 : steps / episodes;
    HEARTH_TRY(agents.take_snapshot());
    for (int frame = 0; frame < 8; ++frame) {
        HEARTH_TRY(device.context().begin_frame());
        agents.poll();
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) { return agents.record(commands); }));
    }
    HEARTH_ASSIGN(learned.brain, agents.save());
    learned.was_interpreted = device.interprets_kernels();
    return learned;
}

/// Hides compilers from the process, as a machine without any does.
class NoCompiler : public ::testing::Test {
  protected:
    void SetUp() override {
        path_ = std::getenv("PATH");
        ::setenv("PATH", "", 1);
        ::unsetenv("CC");
    }
    void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

    /// With an empty cache, so that kernels of earlier runs are not found.
    static cpu::DeviceOptions options() {
        return {.cache_folder = ::testing::TempDir() + "hearth_no_compiler"};
    }

    std::string path_;
};

TEST_F(NoCompiler, LearnsToTheBitsOfCompiledKernels) {
    constexpr int kFrames = 32 * 6;
    const auto begun = learn(options(), 1);
    ASSERT_TRUE(begun.ok()) << begun.status().message();
    auto interpreted = learn(options(), kFrames);
    ASSERT_TRUE(interpreted.ok()) << interpreted.status().message();
    EXPECT_TRUE(interpreted->was_interpreted);
    EXPECT_NE(interpreted->brain, begun->brain);
    ASSERT_EQ(interpreted->messages.size(), 1u);
    EXPECT_TRUE(interpreted->messages[0].starts_with("no C compiler 'cc': interpreting "))
        << interpreted->messages[0];

    // Threads share the code of kernels.
    cpu::DeviceOptions with_threads = options();
    with_threads.threads = 3;
    auto threaded = learn(std::move(with_threads), kFrames);
    ASSERT_TRUE(threaded.ok()) << threaded.status().message();
    EXPECT_EQ(threaded->brain, interpreted->brain);

    ::setenv("PATH", path_.c_str(), 1);
    auto compiled = learn({.flags = "-O1"}, kFrames);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_FALSE(compiled->was_interpreted);
    EXPECT_EQ(compiled->brain, interpreted->brain);
    EXPECT_EQ(compiled->mean_steps, interpreted->mean_steps);
}

TEST_F(NoCompiler, KernelsOfAnotherProcessAreNamed) {
    const hearth_cpu_kernel_source unknown{.hash = 1, .name = "elsewhere", .text = "void f() {}"};
    const auto kernels = native::InterpretedKernels::make(CpuIsa::kScalar, {&unknown, 1});
    ASSERT_FALSE(kernels.ok());
    EXPECT_EQ(kernels.status().code(), StatusCode::kNotFound);
    EXPECT_EQ(
        kernels.status().message(),
        "kernel elsewhere was not compiled since the process opened a CPU device, so without a "
        "C compiler it needs a table that `hearth cook --kernels` wrote");
}

}  // namespace
