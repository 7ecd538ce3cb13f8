// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Trains with PPO on environments simulated on the device.

#include "train/simulated_learner.hpp"

#include "classic/simulations.hpp"
#include "ghost_lap/learner.hpp"
#include "ghost_lap/simulation.hpp"
#include "hatchlings/learner.hpp"
#include "hatchlings/simulation.hpp"
#include "train/pooled.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace hearth::train {

using namespace agents;

namespace {

// GPU drivers take long to compile the unrolled steps: 47 s for 32 of them on an H200, 4 s for
// eight, under a second for two; a recording costs about 30 us. Drivers without a GPU compile a
// kernel per step.
constexpr int64_t kMostSteps = 2, kMostStepsWithoutGpu = 4;

int64_t steps_of_recording(const standalone::Device& device, const TrainConfig& config) {
    if (config.rollout_steps != 0) return config.rollout_steps;
    if (config.task == kHatchlings || config.task == kGhostLap) return 1;  // several frames each
    const int64_t horizon = config.ppo.n_steps;
    const bool is_gpu = device.properties().deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    int64_t steps = std::min(horizon, is_gpu ? kMostSteps : kMostStepsWithoutGpu);
    while (horizon % steps != 0) --steps;
    return steps;
}

/// A task's observations, actions and environments.
struct Game {
    AgentSpec schema;
    VectorEnv simulation;
};

Result<Game> game_of(const TrainConfig& config) {
    if (config.task == kHatchlings)
        return Game{hatchlings::schema(),
                    hatchlings::make_simulation({.varies_rules = config.varies_rules})};
    if (config.task == kGhostLap)
        return Game{ghost_lap::schema(), ghost_lap::make_simulation(ghost_lap::Track::circuit())};
    const auto simulation = classic::make_simulation(config.task);
    if (!simulation) return not_found("no task '" + config.task + "'");
    return Game{classic::schema_of(classic::make_task(config.task)->info()), *simulation};
}

/// Opens the demonstrations of a configuration, which must be of the task's agents.
Result<DemoFile> open_demonstrations(const TrainConfig& config, const AgentSpec& schema) {
    HEARTH_ASSIGN(DemoFile file, DemoFile::open(config.demonstrations));
    if (file.step_count() == 0)
        return invalid_argument(config.demonstrations +
                                ": expected at least one step, found none; record some");
    if (file.info().schema_hash == schema.hash()) return file;
    HEARTH_ASSIGN(const AgentSpec theirs, AgentSpec::load(file.schema()));
    return invalid_argument(config.demonstrations +
                            ": expected demonstrations of the task's agents (here), found those "
                            "of others (there): " +
                            schema.diff(theirs));
}

/// True for state that must be equal on all ranks; per-rank counters are excluded.
bool is_shared(std::string_view name) {
    return !name.starts_with("agents.") && !name.starts_with("episodes.");
}

template <class T>
std::vector<T> of_all_ranks(GradientReducer& ranks, const std::vector<T>& own) {
    const std::vector<std::byte> bytes = ranks.gather(std::as_bytes(std::span(own)));
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

std::string of_rank(int rank, const std::string& name) {
    return "rank" + std::to_string(rank) + "/" + name;
}

}  // namespace

Result<std::unique_ptr<SimulatedLearner>> SimulatedLearner::create(standalone::Device& device,
                                                                   const TrainConfig& config,
                                                                   GradientReducer& ranks) {
    return create(device, config, ranks, /*only_acts=*/false);
}

Result<std::unique_ptr<SimulatedLearner>> SimulatedLearner::create_player(
    standalone::Device& device, const TrainConfig& config) {
    static OneRank alone;
    return create(device, config, alone, /*only_acts=*/true);
}

Result<std::unique_ptr<SimulatedLearner>> SimulatedLearner::create(standalone::Device& device,
                                                                   const TrainConfig& config,
                                                                   GradientReducer& ranks,
                                                                   bool only_acts) {
    HEARTH_ASSIGN(const Game game, game_of(config));
    Ppo ppo = config.ppo;
    if (ppo.n_agents % ranks.size() != 0)
        return invalid_argument("ppo.agents: " + std::to_string(ppo.n_agents) +
                                " agents cannot be divided among " + std::to_string(ranks.size()) +
                                " ranks");
    ppo.n_agents /= ranks.size();
    std::optional<DemoFile> demonstrations;
    if (!config.demonstrations.empty() && !only_acts) {
        HEARTH_ASSIGN(demonstrations, open_demonstrations(config, game.schema));
        if (ppo.demo_capacity == 0)
            ppo.demo_capacity = static_cast<int64_t>(demonstrations->step_count());
    }
    const uint64_t seed = config.seed + (static_cast<uint64_t>(ranks.rank()) << 54);
    const RolloutOptions rollout{.steps_per_recording = steps_of_recording(device, config),
                                 .seed = seed,
                                 .data_parallel = ranks.size() > 1};
    // The initial weights of all ranks are those of the first one.
    const PolicyNetwork network = mlp_network(config.network, tanh, config.seed);
    const AgentGraphs traces =
        build_agent_graphs(game.schema, network, ppo, game.simulation, rollout, seed);
    std::vector<Trace*> entries = simulation_entries(traces);
    if (only_acts) entries.resize(1);
    std::unique_ptr<SimulatedLearner> learner(new SimulatedLearner());
    learner->ranks_ = &ranks;
    learner->schema_ = game.schema;
    learner->normalizes_observations_ = ppo.normalize_observations;
    learner->normalizes_rewards_ = ppo.normalize_rewards;
    learner->recordings_ =
        rollout.steps_per_recording == 0 ? 1 : ppo.n_steps / rollout.steps_per_recording;
    learner->items_ = ppo.n_epochs * ppo.n_minibatches;
    // Readbacks: two values per sample, and the status.
    HEARTH_TRY(learner->build(
        device, entries, ppo.n_agents,
        kMostWindowsAtOnce * (learner->recordings_ + learner->items_ + 3),
        std::max<int64_t>(1 << 20,
                          kMostWindowsAtOnce * ppo.n_agents * ppo.n_steps * 8 + (1 << 16))));
    if (only_acts) return learner;
    HEARTH_ASSIGN(learner->rollout_, learner->find_entry("rollout"));
    HEARTH_ASSIGN(learner->prepare_, learner->find_entry("compute_advantages"));
    if (!rollout.data_parallel) {
        HEARTH_ASSIGN(learner->learn_, learner->find_entry("learn"));
    }
    HEARTH_ASSIGN(learner->publish_, learner->find_entry("publish"));
    for (const char* name : {"rollout.end", "rollout.episode_return", "agents.status",
                             "agents.recent", "agents.observation_limits"}) {
        HEARTH_ASSIGN(const uint32_t slot, learner->runner_->program().find_variable(name));
        learner->read_slots_.push_back(slot);
    }
    if (demonstrations) HEARTH_TRY(learner->show(*demonstrations, ppo.n_agents));
    if (rollout.data_parallel) {
        HEARTH_TRY(learner->share_first_weights());
        return learner;
    }
    const auto add = [&](const Entry& entry, int64_t times) -> Status {
        HEARTH_ASSIGN(const hearth_entry_info info, learner->runner_->program().entry(entry.index));
        learner->cost_.dispatches += info.dispatch_count * static_cast<uint64_t>(times);
        learner->cost_.barriers += (info.barrier_count + 1) * static_cast<uint64_t>(times);
        return {};
    };
    HEARTH_TRY(add(learner->rollout_, learner->recordings_));
    HEARTH_TRY(add(learner->prepare_, 1));
    HEARTH_TRY(add(learner->learn_, learner->items_));
    HEARTH_TRY(add(learner->publish_, 1));
    return learner;
}

Status SimulatedLearner::show(const DemoFile& demonstrations, int64_t agents) {
    const auto count = static_cast<int64_t>(demonstrations.step_count());
    const hearth_demo_info& info = demonstrations.info();
    for (int64_t first = 0; first < count; first += agents) {
        const int64_t rows = std::min(agents, count - first);
        HostTensor observation(DType::kF32, {rows, info.observation_size}),
            action(DType::kF32, {rows, info.action_size});
        for (int64_t row = 0; row < rows; ++row) {
            const hearth_demo_step step = demonstrations.step(static_cast<uint64_t>(first + row));
            std::copy_n(step.observation, info.observation_size,
                        observation.as<float>().data() + row * info.observation_size);
            std::copy_n(step.action, info.action_size,
                        action.as<float>().data() + row * info.action_size);
        }
        HEARTH_TRY(runner_
                       ->run("add_demonstrations", rows,
                             {{"observation", observation}, {"action", action}})
                       .status());
    }
    return {};
}

Result<std::vector<Window>> SimulatedLearner::run(std::span<const LiveSettings> windows) {
    if (windows.size() > kMostWindowsAtOnce)
        return invalid_argument(std::to_string(windows.size()) +
                                " windows at once, expected up to " +
                                std::to_string(kMostWindowsAtOnce));
    if (ranks_->size() > 1) {
        std::vector<Window> out;
        for (const LiveSettings& settings : windows) {
            HEARTH_ASSIGN(Window window, play_together());
            HEARTH_TRY(learn_together(settings));
            out.push_back(std::move(window));
        }
        return out;
    }
    // Separate submissions for rollouts and learning, so that the device works while the CPU
    // records.
    std::vector<hearth_readback> reads;
    std::vector<std::function<Status(VkCommandBuffer)>> records;
    for (const LiveSettings& settings : windows) {
        records.push_back([&, settings](VkCommandBuffer commands) -> Status {
            for (int64_t i = 0; i < recordings_; ++i)
                HEARTH_TRY(record(commands, rollout_, settings));
            HEARTH_TRY(record(commands, prepare_, settings));
            std::vector<hearth_readback_region> parts;
            for (const uint32_t slot : read_slots_)
                parts.push_back(hearth_readback_of_variable(slot, 0, 0));
            HEARTH_ASSIGN(const hearth_readback read,
                          runner_->session().record_readback(commands, parts));
            reads.push_back(read);
            return {};
        });
        records.push_back([&, settings](VkCommandBuffer commands) -> Status {
            for (int64_t i = 0; i < items_; ++i) HEARTH_TRY(record(commands, learn_, settings));
            return record(commands, publish_, settings);
        });
    }
    HEARTH_TRY(runner_->submit(records));
    HEARTH_TRY(runner_->begin_frame());
    std::vector<Window> out;
    for (const hearth_readback read : reads) {
        HEARTH_ASSIGN(const std::optional<ReadbackData> data, runner_->session().poll(read));
        if (!data) return internal_error("the readback of a finished submission is not there");
        Window window;
        std::array<uint32_t, kSavedStatusWords> status;
        std::array<uint32_t, kCounterCount - kSavedCounterCount> recent;
        std::vector<uint32_t> limits(
            static_cast<size_t>(observation_limit_words(schema_.frame_size())));
        const size_t counts = sizeof status + sizeof recent + limits.size() * sizeof(uint32_t);
        const size_t samples = (data->bytes.size() - counts) / (2 * sizeof(float));
        window.end.resize(samples);
        window.episode_return.resize(samples);
        const std::byte* from = data->bytes.data();
        std::memcpy(window.end.data(), from, samples * sizeof(float));
        from += samples * sizeof(float);
        std::memcpy(window.episode_return.data(), from, samples * sizeof(float));
        from += samples * sizeof(float);
        std::memcpy(status.data(), from, sizeof status);
        from += sizeof status;
        std::memcpy(recent.data(), from, sizeof recent);
        std::memcpy(limits.data(), from + sizeof recent, limits.size() * sizeof(uint32_t));
        window.status = status_words(status, recent);
        window.observations = observations_at_limit(schema_, limits);
        runner_->session().release(read);
        out.push_back(std::move(window));
    }
    return out;
}

// --- Several ranks ---

Result<std::vector<float>> SimulatedLearner::read(const std::string& slot) {
    HEARTH_ASSIGN(const HostTensor value, runner_->read_variable(slot.c_str()));
    const auto numbers = value.as<float>();
    return std::vector<float>(numbers.begin(), numbers.end());
}

Status SimulatedLearner::write(const std::string& slot, std::span<const float> values) {
    return runner_->write_variable(slot.c_str(), std::as_bytes(values));
}

Status SimulatedLearner::share_first_weights() {
    HEARTH_ASSIGN(const Brain shipped, initial_brain(program_));
    for (const BrainTensor& tensor : shipped.tensors) {
        if (!is_shared(tensor.name) || tensor.value.bytes().empty()) continue;
        std::vector<std::byte> bytes(tensor.value.bytes().begin(), tensor.value.bytes().end());
        ranks_->broadcast(bytes);
        if (ranks_->rank() > 0) HEARTH_TRY(runner_->write_variable(tensor.name.c_str(), bytes));
    }
    return check_consensus();
}

Status SimulatedLearner::check_consensus() {
    if (ranks_->size() == 1) return {};
    HEARTH_ASSIGN(const Brain shipped, initial_brain(program_));
    std::vector<std::string> names;
    std::vector<uint64_t> own;
    for (const BrainTensor& tensor : shipped.tensors) {
        if (!is_shared(tensor.name)) continue;
        HEARTH_ASSIGN(HostTensor value, runner_->read_variable(tensor.name.c_str()));
        Brain one;
        one.tensors.push_back({tensor.name, tensor.is_state, std::move(value)});
        own.push_back(hash_of(one));
        names.push_back(tensor.name);
    }
    const std::vector<uint64_t> all = of_all_ranks(*ranks_, own);
    for (size_t i = own.size(); i < all.size(); ++i)
        if (all[i] != all[i % own.size()])
            return internal_error("'" + names[i % own.size()] + "' of rank " +
                                  std::to_string(i / own.size()) + " is not that of rank 0");
    return {};
}

// Meanwhile the running statistics are kept on the CPU and the device's are empty. The device then
// yields the statistics of these samples alone, to be pooled with those of other ranks.
Result<Statistics> SimulatedLearner::read_statistics(const std::string& name) {
    Statistics s;
    HEARTH_ASSIGN(s.mean, read(name + ".mean"));
    HEARTH_ASSIGN(s.variance, read(name + ".variance"));
    HEARTH_ASSIGN(const std::vector<float> counts, read(name + ".count"));
    s.count = counts[0];
    return s;
}

Status SimulatedLearner::prepare_together() {
    std::vector<std::string> names;
    if (normalizes_rewards_) names.push_back("rewards");
    if (normalizes_observations_) names.push_back("observations");
    std::vector<Statistics> running;
    for (const std::string& name : names) {
        HEARTH_ASSIGN(Statistics s, read_statistics(name));
        running.push_back(std::move(s));
        const float none = 0;
        HEARTH_TRY(write(name + ".count", {&none, 1}));
    }
    HEARTH_TRY(submit(prepare_));
    for (size_t i = 0; i < names.size(); ++i) {
        HEARTH_ASSIGN(const Statistics own, read_statistics(names[i]));
        std::vector<float> flat = own.mean;
        flat.insert(flat.end(), own.variance.begin(), own.variance.end());
        flat.push_back(own.count);
        const std::vector<float> all = of_all_ranks(*ranks_, flat);
        std::vector<Statistics> parts;
        for (auto at = all.begin(); at != all.end();) {
            const auto variances = at + static_cast<ptrdiff_t>(own.mean.size());
            const auto counts = variances + static_cast<ptrdiff_t>(own.variance.size());
            parts.push_back({{at, variances}, {variances, counts}, *counts});
            at = counts + 1;
        }
        const Statistics next = pooled(running[i], parts);
        HEARTH_TRY(write(names[i] + ".mean", next.mean));
        HEARTH_TRY(write(names[i] + ".variance", next.variance));
        HEARTH_TRY(write(names[i] + ".count", {&next.count, 1}));
    }
    return {};
}

Result<Window> SimulatedLearner::play_together() {
    for (int64_t i = 0; i < recordings_; ++i) HEARTH_TRY(submit(rollout_));
    HEARTH_TRY(prepare_together());
    const auto of_all = [&](const char* slot) -> Result<std::vector<float>> {
        HEARTH_ASSIGN(const std::vector<float> own, read(slot));
        return of_all_ranks(*ranks_, own);
    };
    Window window;
    HEARTH_ASSIGN(window.end, of_all("rollout.end"));
    HEARTH_ASSIGN(window.episode_return, of_all("rollout.episode_return"));
    HEARTH_ASSIGN(const HostTensor status, runner_->read_variable("agents.status"));
    HEARTH_ASSIGN(const HostTensor recent, runner_->read_variable("agents.recent"));
    window.status = status_words(status.as<uint32_t>(), recent.as<uint32_t>());
    HEARTH_ASSIGN(const HostTensor limits, runner_->read_variable("agents.observation_limits"));
    window.observations = observations_at_limit(schema_, limits.as<uint32_t>());
    return window;
}

Status SimulatedLearner::learn_together(const LiveSettings& settings) {
    HEARTH_ASSIGN(const std::vector<float> own, read("learn.minibatches"));
    HEARTH_TRY(write("learn.minibatches", pooled_minibatches(of_all_ranks(*ranks_, own),
                                                             static_cast<size_t>(ranks_->size()))));
    NamedTensors inputs = {{"learning_rate", HostTensor::scalar(settings.learning_rate)},
                           {"clip_range", HostTensor::scalar(settings.clip)}};
    for (int64_t i = 0; i < items_; ++i) {
        HEARTH_ASSIGN(NamedTensors out, runner_->run("gradient", 1, inputs));
        HostTensor& sums = out.at("sums");
        ranks_->sum(sums.as<float>());
        inputs["sums"] = sums;
        HEARTH_ASSIGN(out, runner_->run("step", 1, inputs));
    }
    return submit(publish_);
}

Result<Learner::Snapshot> SimulatedLearner::snapshot() {
    HEARTH_ASSIGN(Snapshot snapshot, Learner::snapshot());
    const NamedTensors own = snapshot.transients;
    for (const auto& [name, value] : own) {
        if (ranks_->size() == 1) break;
        const std::vector<std::byte> all = ranks_->gather(value.bytes());
        const size_t bytes = value.bytes().size();
        for (int r = 1; r < ranks_->size(); ++r) {
            HostTensor other(value.dtype(), value.shape());
            std::copy_n(all.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(r) * bytes), bytes,
                        other.bytes().begin());
            snapshot.transients[of_rank(r, name)] = std::move(other);
        }
    }
    return snapshot;
}

Result<std::vector<std::string>> SimulatedLearner::restore(const Brain& brain,
                                                           const NamedTensors& transients) {
    NamedTensors own;
    const std::string prefix = of_rank(ranks_->rank(), "");
    for (const auto& [name, value] : transients)
        if (ranks_->rank() == 0 ? !name.starts_with("rank") : name.starts_with(prefix))
            own[ranks_->rank() == 0 ? name : name.substr(prefix.size())] = value;
    return Learner::restore(brain, own);
}

}  // namespace hearth::train
