// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A recurrent policy: couriers see at first alone which of two doors is theirs, walk through a dark
// corridor, and choose a door at its end.  Without memory they choose by chance.  On this machine's
// CPU.

#include <hearth/hearth.hpp>

#include <cstdio>
#include <random>

using namespace hearth;
using namespace hearth::agents;

constexpr int kCorridor = 6;  // steps between the sign and the doors

struct Courier {
    AgentId id{};
    float door = 1;  // -1: the left one
    int step = 0;
};

/// Observations: the sign, which is dark after the first step, and whether the doors are here.
static void observe(Agents& agents, const Courier& courier) {
    const std::span<float> seen = agents.observation(courier.id);
    seen[0] = courier.step == 0 ? courier.door : 0;
    seen[1] = courier.step == kCorridor ? 1 : 0;
}

/// Adds 1 to `right` if the courier chose its own door.
static Status play(Agents& agents, Courier& courier, std::mt19937& random, int& right, int& all) {
    const std::span<const float> action = agents.action(courier.id);
    if (action.empty()) return {};
    if (courier.step++ == kCorridor) {
        const bool is_right = (action[0] == 1.0f) == (courier.door > 0);
        right += is_right, ++all;
        HEARTH_TRY(agents.add_reward(courier.id, is_right ? 1 : -1));
        HEARTH_TRY(agents.end_episode(courier.id, EpisodeEnd::kTerminated));
        courier.step = 0, courier.door = random() % 2 != 0 ? 1 : -1;
    }
    observe(agents, courier);
    return {};
}

static Status run() {
    const AgentSpec spec(ObservationSpec().box("sign", 1).box("doors", 1),
                         ActionSpec().discrete("door", 2));
    // bptt_length: steps through which gradients flow; at least from the sign to the doors.
    Ppo ppo{.n_agents = 16, .n_steps = 32, .n_epochs = 4};
    ppo.learning_rate = 3e-3, ppo.bptt_length = 8;
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
    HEARTH_ASSIGN(Agents agents, make_agents(device.context(), spec, gru_network(16), ppo));
    std::mt19937 random(1);
    std::vector<Courier> couriers(agents.capacity());
    for (Courier& courier : couriers) {
        HEARTH_ASSIGN(courier.id, agents.add());
        observe(agents, courier);
    }
    double share = 0;
    for (int block = 1; block <= 16 && share < 0.95; ++block) {
        int right = 0, all = 0;
        for (int frame = 0; frame < 500; ++frame) {
            HEARTH_TRY(device.context().begin_frame());
            agents.poll();
            for (Courier& courier : couriers) HEARTH_TRY(play(agents, courier, random, right, all));
            HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
                return agents.record(commands, {.learning_budget_us = 20'000});
            }));
        }
        share = static_cast<double>(right) / all;
        std::printf("%5d frames: the right door in %.0f %%\n", 500 * block, 100 * share);
    }
    return share >= 0.95 ? Status() : internal_error("the couriers do not remember the sign");
}

int main() {
    const Status status = run();
    if (!status.ok()) std::fprintf(stderr, "hello_memory: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
