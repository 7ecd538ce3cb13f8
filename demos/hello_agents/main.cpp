// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Eight carts learn to balance a pole in a frame loop: the minimal game with learning agents.
//
// A specification declares what agents observe and do, a learner how they learn.  Each frame reads
// their actions, sets observations and rewards, and records.  This file builds from an installed
// Hearth, with CMakeLists.txt beside it.

#include <hearth/hearth.hpp>

#include <standalone/device.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string_view>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr size_t kCarts = 8;
constexpr int kMostSteps = 500;

/// Simulates 0.02 s per step (Barto, Sutton and Anderson, 1983, with Gymnasium's constants).
struct Cart {
    AgentId id{};
    double place = 0, speed = 0, angle = 0, turning = 0;
    int steps = 0;

    void start(std::mt19937& random) {
        std::uniform_real_distribution<double> near_zero(-0.05, 0.05);
        place = near_zero(random), speed = near_zero(random);
        angle = near_zero(random), turning = near_zero(random), steps = 0;
    }
    /// Returns false if the pole has fallen or the cart has left the track.
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

/// Executes a cart's action, and reports its reward and the end of an episode.
Status play(Agents& agents, Cart& cart, std::mt19937& random) {
    const std::span<const float> action = agents.action(cart.id);
    if (action.empty()) return {};
    const bool stands = cart.step(action[0] == 1.0f);
    cart.show(agents.observation(cart.id));
    HEARTH_TRY(agents.add_reward(cart.id, 1));
    if (stands && cart.steps < kMostSteps) return {};
    HEARTH_TRY(
        agents.end_episode(cart.id, stands ? EpisodeEnd::kTruncated : EpisodeEnd::kTerminated));
    cart.start(random);
    cart.show(agents.observation(cart.id));
    return {};
}

/// Records with a function, submits, and waits for the device: the game's own renderer.
using Submit = std::function<Status(const std::function<Status(VkCommandBuffer)>& record)>;

Status learn(Context& context, const Submit& submit, RunLogWriter& log) {
    const AgentSpec spec(ObservationSpec().box("cart", 4), ActionSpec().discrete("push", 2));
    // Hyperparameters of RL Baselines3 Zoo for this task.
    Ppo ppo{.n_agents = kCarts, .n_steps = 32, .n_minibatches = 1, .n_epochs = 20, .vf_coef = 0.5};
    ppo.gamma = 0.98, ppo.gae_lambda = 0.8;
    ppo.ent_coef = ppo.limits.target_kl = 0;
    ppo.normalize_observations = ppo.normalize_rewards = false;
    HEARTH_ASSIGN(Agents agents, make_agents(context, spec, mlp_network({64, 64}), ppo));

    std::mt19937 random(1);
    std::vector<Cart> carts(agents.capacity());
    for (Cart& cart : carts) {
        HEARTH_ASSIGN(cart.id, agents.add());
        cart.start(random);
        cart.show(agents.observation(cart.id));
    }
    HEARTH_TRY(log.write(run_log_begin("hello_agents", "frames", kAllRunRequests)));
    for (int frame = 1; frame <= 20'000; ++frame) {
        if (log.waits_or_stops()) return {};  // hearth watch LOG --control pause
        agents.freeze(log.control().freeze);
        HEARTH_TRY(context.begin_frame());
        agents.poll();  // receives actions and status
        for (Cart& cart : carts) HEARTH_TRY(play(agents, cart, random));
        // Records decisions and up to 20 ms of learning.
        HEARTH_TRY(submit([&](VkCommandBuffer commands) {
            return agents.record(commands, {.learning_budget_us = 20'000}).status();
        }));
        const auto length = static_cast<double>(agents.status()[AgentMetric::kEpisodeLength]);
        if (frame % 100 == 0) HEARTH_TRY(log.write(run_log_sample(agents, frame)));
        if (frame % 500 == 0) std::printf("%5d frames: up for %.0f steps\n", frame, length);
        if (length >= 475) return {};
    }
    return internal_error("the carts did not learn to keep their poles upright");
}

/// A game has a device already; this one opens a GPU, or this machine's CPU.
Status run(bool on_cpu, const char* path) {
    RunLogWriter log;
    if (path != nullptr) {
        HEARTH_ASSIGN(log, RunLogWriter::open(path));
    }
    if (on_cpu) {
        HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
        return learn(
            device.context(), [&](const auto& record) { return device.run(record); }, log);
    }
    HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
    HEARTH_ASSIGN(const auto device, standalone::Device::create(*instance));
    std::printf("on %s\n", device->properties().deviceName);
    HEARTH_ASSIGN(Context context, Context::create(device->host_info()));
    return learn(
        context, [&](const auto& record) { return device->run(record); }, log);
}

}  // namespace

// hello_agents [--device cpu] [LOG]
int main(int count, char** arguments) {
    const bool on_cpu = count > 2 && std::string_view(arguments[1]) == "--device" &&
                        std::string_view(arguments[2]) == "cpu";
    const int log_at = on_cpu ? 3 : 1;
    if (count > log_at && arguments[log_at][0] == '-') {
        std::fprintf(stderr, "usage: hello_agents [--device cpu] [LOG]\n");
        return 2;
    }
    const Status status = run(on_cpu, count > log_at ? arguments[log_at] : nullptr);
    if (!status.ok()) std::fprintf(stderr, "hello_agents: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
