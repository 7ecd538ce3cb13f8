// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Eight carts learn to balance a pole in a frame loop: the minimal game with learning agents.
//
// New compared with hello_training: no losses and no buffers. A schema declares what agents observe
// and do, a learner how they learn. Each frame reads their actions, sets observations and rewards,
// and records.

#include "classic/task.hpp"
#include "native/open_device.hpp"

#include <hearth/agents.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/agents/run_log.hpp>
#include <hearth/compile.hpp>

#include <cstdio>
#include <string>
#include <string_view>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr size_t kCarts = 8;
Status run(const std::string& wish, std::FILE* log) {
    // Declares observations, actions and the algorithm. A game does this part offline and ships
    // bytes.
    const AgentSpec schema(ObservationSpec().box("cart", 4), ActionSpec().discrete("push", 2));
    // Hyperparameters of RL Baselines3 Zoo for this task.
    Ppo ppo{.n_agents = kCarts, .n_steps = 32, .n_minibatches = 1, .n_epochs = 20, .vf_coef = 0.5};
    ppo.gamma = 0.98, ppo.gae_lambda = 0.8;
    ppo.ent_coef = ppo.limits.target_kl = 0;
    ppo.normalize_observations = ppo.normalize_rewards = false;
    const AgentManifest manifest = make_manifest(schema, ppo);
    const AgentGraphs traces = build_agent_graphs(schema, mlp_network({64, 64}), ppo);
    // A game has a device already.
    HEARTH_ASSIGN(const native::OpenDevice opened, native::open_device(wish));
    const auto& device = opened.device;
    std::printf("on %s\n", device->properties().deviceName);
    HEARTH_ASSIGN(Context context, Context::create(device->host_info()));
    HEARTH_ASSIGN(const DeviceCaps caps, context.device_caps());
    HEARTH_ASSIGN(const Compiled compiled, compile(runtime_entries(traces, manifest),
                                                   {.caps = caps, .max_batch_size = kCarts}));
    HEARTH_ASSIGN(const LoadedProgram program, LoadedProgram::load(context, compiled.bytes));
    HEARTH_ASSIGN(Agents agents, Agents::create(context, program, manifest.save()));
    HEARTH_TRY(agents.create_pipelines());

    struct Cart {
        AgentId id{};
        std::unique_ptr<classic::Task> task = classic::make_task("CartPole");
        int steps = 0;
    };
    std::vector<Cart> carts(kCarts);
    uint64_t episodes = 0;
    for (Cart& cart : carts) {
        HEARTH_ASSIGN(cart.id, agents.add());
        cart.task->reset(++episodes);
        cart.task->observe(agents.observation(cart.id));
    }

    std::fputs(run_log_begin("hello_agents", "frames").c_str(), log);  // hearth watch LOG
    for (uint64_t frame = 1; frame <= 20'000; ++frame) {
        HEARTH_TRY(context.begin_frame(frame, frame - 1));
        agents.poll();  // receives actions and status
        for (Cart& cart : carts) {
            // Execute the action; report observation, reward and the end of the episode.
            const std::span<const float> action = agents.action(cart.id);
            if (action.empty()) continue;
            const classic::Outcome outcome = cart.task->step(action[0]);
            cart.task->observe(agents.observation(cart.id));
            HEARTH_TRY(agents.add_reward(cart.id, static_cast<float>(outcome.reward)));
            if (!outcome.terminated && ++cart.steps < cart.task->info().step_limit) continue;
            HEARTH_TRY(agents.end_episode(
                cart.id, outcome.terminated ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated));
            cart.task->reset(++episodes);
            cart.task->observe(agents.observation(cart.id));
            cart.steps = 0;
        }
        // Record decisions and up to 20 ms of learning; submit as usual.
        HEARTH_TRY(device->run([&](VkCommandBuffer commands) {
            return agents.record(commands, {.learning_budget_us = 20'000}).status();
        }));
        const AgentsStatus status = agents.status();
        const auto length = static_cast<double>(status[AgentMetric::kEpisodeLength]);
        if (frame % 100 == 0)
            std::fputs(run_log_sample(agents, static_cast<double>(frame)).c_str(), log);
        if (frame % 500 == 0)
            std::printf("%5d frames: up for %.0f steps\n", static_cast<int>(frame), length);
        if (length >= 475) return {};
    }
    return internal_error("the carts did not learn to keep their poles upright");
}

}  // namespace

// hello_agents [--device cpu] [LOG]
int main(int count, char** arguments) {
    const bool is_told = count > 2 && std::string_view(arguments[1]) == "--device";
    const int log_at = is_told ? 3 : 1;
    std::FILE* const log = std::fopen(count > log_at ? arguments[log_at] : "/dev/null", "w");
    const Status status =
        log ? run(is_told ? arguments[2] : "", log) : not_found("cannot write the log");
    if (!status.ok()) std::fprintf(stderr, "hello_agents: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
