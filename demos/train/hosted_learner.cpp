// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "train/hosted_learner.hpp"

#include "hatchlings/learner.hpp"

#include <hearth/agents/simulation.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace hearth::train {

using hatchlings::kActionWidth;
using hatchlings::kObservationWidth;

namespace {

constexpr const char* kWorlds = "worlds";

}  // namespace

Result<std::unique_ptr<HostedLearner>> HostedLearner::create(standalone::Device& device,
                                                             const TrainConfig& config,
                                                             GradientReducer& ranks) {
    if (ranks.size() > 1)
        return unsupported(config.task + ": worlds in C++ train on one rank, found " +
                           std::to_string(ranks.size()));
    return create(device, config, /*only_acts=*/false);
}

Result<std::unique_ptr<HostedLearner>> HostedLearner::create_player(standalone::Device& device,
                                                                    const TrainConfig& config) {
    return create(device, config, /*only_acts=*/true);
}

Result<std::unique_ptr<HostedLearner>> HostedLearner::create(standalone::Device& device,
                                                             const TrainConfig& config,
                                                             bool only_acts) {
    if (config.ppo.agents % HatchlingsWorlds::kInOne != 0)
        return invalid_argument("ppo.agents: " + std::to_string(config.ppo.agents) +
                                " hatchlings, expected a multiple of " +
                                std::to_string(HatchlingsWorlds::kInOne) +
                                ", which live in a clearing");
    std::unique_ptr<HostedLearner> learner(new HostedLearner(config));
    learner->items_ = config.ppo.epochs * config.ppo.minibatches;
    const agents::Traces traces = agents::trace_agents(
        hatchlings::schema(), agents::mlp_network(config.network), config.ppo, config.seed);
    std::vector<Trace*> entries = agents::simulated_entries_of(traces);
    if (only_acts) entries.resize(1);
    HEARTH_TRY(
        learner->build(device, entries, config.ppo.agents, 2 * learner->items_ + 4, 1 << 20));
    if (only_acts) return learner;
    HEARTH_ASSIGN(learner->prepare_, learner->find_entry("prepare"));
    HEARTH_ASSIGN(learner->learn_, learner->find_entry("learn"));
    HEARTH_ASSIGN(learner->publish_, learner->find_entry("publish"));
    return learner;
}

Result<std::vector<Window>> HostedLearner::run(std::span<const LiveSettings> windows) {
    std::vector<Window> out;
    for (const LiveSettings& settings : windows) {
        HEARTH_ASSIGN(Window window, play());
        HEARTH_TRY(learn(settings));
        HEARTH_TRY(read_status(window));
        out.push_back(std::move(window));
    }
    return out;
}

Result<Window> HostedLearner::play() {
    Window window;
    HostTensor id(DType::kU32, {agents_});
    std::iota(id.as<uint32_t>().begin(), id.as<uint32_t>().end(), 0u);
    const auto seen = [&] {
        HostTensor observation(DType::kF32, {agents_, kObservationWidth});
        worlds_.observe(observation.as<float>());
        return observation;
    };
    HostTensor observation = seen();
    for (int64_t t = 0; t < horizon_; ++t) {
        HEARTH_ASSIGN(NamedTensors said, runner_->run("act", agents_,
                                                      {{"observation", observation},
                                                       {"explore", HostTensor::scalar(1)}}));
        const std::vector<HatchlingsWorlds::Outcome> outcomes =
            worlds_.step(said.at("action").as<float>());
        HostTensor reward(DType::kF32, {agents_}), end(DType::kF32, {agents_});
        for (size_t i = 0; i < outcomes.size(); ++i) {
            reward.as<float>()[i] = outcomes[i].reward;
            end.as<float>()[i] = outcomes[i].end;
            window.end.push_back(outcomes[i].end);
            window.episode_return.push_back(outcomes[i].episode_return);
        }
        const NamedTensors transition = {{"id", id},
                                         {"observation", std::move(observation)},
                                         {"decision", std::move(said.at("decision"))},
                                         {"log_probability", std::move(said.at("log_probability"))},
                                         {"reward", std::move(reward)},
                                         {"end", std::move(end)},
                                         {"next_observation", seen()}};
        HEARTH_TRY(runner_->run("store", agents_, transition).status());
        worlds_.begin_anew();
        observation = seen();
    }
    return window;
}

Status HostedLearner::learn(const LiveSettings& settings) {
    return runner_->submit([&](VkCommandBuffer commands) -> Status {
        HEARTH_TRY(record(commands, prepare_, settings));
        for (int64_t i = 0; i < items_; ++i) HEARTH_TRY(record(commands, learn_, settings));
        return record(commands, publish_, settings);
    });
}

Status HostedLearner::read_status(Window& window) {
    std::vector<HostTensor> states;
    for (const char* role : {"store", "prepare", "learn", "publish"})
        for (const char* part : {"status", "counters", "carries"}) {
            HEARTH_ASSIGN(HostTensor state,
                          runner_->read_slot(("agents." + std::string(part) + "." + role).c_str()));
            states.push_back(std::move(state));
        }
    std::vector<agents::RoleStatus> roles;
    for (size_t i = 0; i < states.size(); i += 3)
        roles.push_back(
            {states[i].as<float>(), states[i + 1].as<uint32_t>(), states[i + 2].as<uint32_t>()});
    std::ranges::copy(agents::sum_of_status(roles), window.status.begin());
    return {};
}

Result<Learner::Snapshot> HostedLearner::snapshot() {
    HEARTH_ASSIGN(Snapshot snapshot, Learner::snapshot());
    const std::vector<std::byte> worlds = worlds_.save();
    HostTensor tensor(DType::kU8, {static_cast<int64_t>(worlds.size())});
    std::ranges::copy(worlds, tensor.bytes().begin());
    snapshot.transients[kWorlds] = std::move(tensor);
    return snapshot;
}

Status HostedLearner::restore(const Brain& brain, const NamedTensors& transients) {
    NamedTensors slots = transients;
    const auto worlds = slots.find(kWorlds);
    if (worlds == slots.end()) return invalid_argument("the checkpoint has no worlds");
    HEARTH_TRY(worlds_.load(worlds->second.bytes()));
    slots.erase(worlds);
    return Learner::restore(brain, slots);
}

}  // namespace hearth::train
