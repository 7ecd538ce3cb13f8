// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "train/simulated_learner.hpp"

#include "classic/simulations.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace hearth::train {

using namespace agents;

namespace {

// A GPU's driver takes long to compile the code of many steps: 47 s for 32 of them on an H200, where four recordings
// of eight run faster, too.  What a driver without a GPU compiles for each step is a kernel of its own.
constexpr int64_t kMostSteps = 8, kMostStepsWithoutGpu = 4;

int64_t steps_of_recording(const standalone::Device& device, int64_t asked, int64_t horizon) {
    if (asked != 0) return asked;
    const bool is_gpu = device.properties().deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    int64_t steps = std::min(horizon, is_gpu ? kMostSteps : kMostStepsWithoutGpu);
    while (horizon % steps != 0) --steps;
    return steps;
}

}  // namespace

Result<std::unique_ptr<SimulatedLearner>> SimulatedLearner::create(standalone::Device& device,
                                                                   const TrainConfig& config) {
    return create(device, config, /*only_acts=*/false);
}

Result<std::unique_ptr<SimulatedLearner>> SimulatedLearner::create_player(
    standalone::Device& device, const TrainConfig& config) {
    return create(device, config, /*only_acts=*/true);
}

Result<std::unique_ptr<SimulatedLearner>> SimulatedLearner::create(standalone::Device& device,
                                                                   const TrainConfig& config,
                                                                   bool only_acts) {
    const auto simulation = classic::make_simulation(config.task);
    if (!simulation) return not_found("no task '" + config.task + "'");
    const Ppo& ppo = config.ppo;
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    const RolloutOptions rollout{
        .steps = steps_of_recording(device, config.rollout_steps, ppo.horizon),
        .seed = config.seed};
    const Traces traces =
        trace_agents(classic::schema_of(classic::make_task(config.task)->info()),
                     mlp_network(config.network), ppo, *simulation, rollout, config.seed);
    std::vector<Trace*> entries = simulated_entries_of(traces);
    if (only_acts) entries.resize(1);
    HEARTH_ASSIGN(Compiled compiled,
                  compile(std::span<Trace* const>(entries),
                          {.caps = caps, .rows_capacity = static_cast<uint64_t>(ppo.agents)}));
    std::unique_ptr<SimulatedLearner> learner(new SimulatedLearner());
    learner->program_.assign(compiled.bytes.begin(), compiled.bytes.end());
    learner->recordings_ = rollout.steps == 0 ? 1 : ppo.horizon / rollout.steps;
    learner->items_ = ppo.epochs * ppo.minibatches;
    hearth_session_create_info session = hearth_session_create_info_default();
    session.recordings_in_flight =
        static_cast<uint32_t>(kMostWindowsAtOnce * (learner->recordings_ + learner->items_ + 3));
    // Two numbers of each sample, and the status.
    session.readback_bytes = std::max<uint64_t>(
        1 << 20,
        static_cast<uint64_t>(kMostWindowsAtOnce * ppo.agents * ppo.horizon * 8 + (1 << 16)));
    HEARTH_ASSIGN(learner->runner_,
                  standalone::ProgramRunner::create(device, learner->program_, session));
    if (only_acts) return learner;
    HEARTH_ASSIGN(learner->rollout_, learner->find_entry("rollout"));
    HEARTH_ASSIGN(learner->prepare_, learner->find_entry("prepare"));
    HEARTH_ASSIGN(learner->learn_, learner->find_entry("learn"));
    HEARTH_ASSIGN(learner->publish_, learner->find_entry("publish"));
    for (const char* name : {"rollout.end", "rollout.episode_return", "agents.status"}) {
        HEARTH_ASSIGN(const uint32_t slot, learner->runner_->program().find_slot(name));
        learner->read_slots_.push_back(slot);
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

Result<SimulatedLearner::Entry> SimulatedLearner::find_entry(const char* name) {
    Entry entry;
    HEARTH_ASSIGN(entry.index, runner_->program().find_entry(name));
    HEARTH_ASSIGN(const hearth_entry_info info, runner_->program().entry(entry.index));
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        HEARTH_ASSIGN(const hearth_binding_info binding,
                      runner_->program().binding(info.bindings[i]));
        if (std::string_view(binding.name) == "learning_rate")
            entry.learning_rate = info.bindings[i];
        else if (std::string_view(binding.name) == "clip")
            entry.clip = info.bindings[i];
        else
            return internal_error(std::string(name) + ": unexpected binding '" + binding.name +
                                  "'");
    }
    return entry;
}

Status SimulatedLearner::record(VkCommandBuffer commands, const Entry& entry,
                                const LiveSettings& settings) {
    hearth_bound bound[2];
    uint32_t count = 0;
    if (entry.learning_rate != UINT32_MAX)
        bound[count++] = hearth_bind_bytes(entry.learning_rate, &settings.learning_rate, 4);
    if (entry.clip != UINT32_MAX) bound[count++] = hearth_bind_bytes(entry.clip, &settings.clip, 4);
    HEARTH_ASSIGN(const Progress progress,
                  runner_->session().record(commands, entry.index, 1, {bound, count}));
    return progress == Progress::kDone ? Status() : internal_error("pipelines are not ready");
}

Result<std::vector<Window>> SimulatedLearner::run(std::span<const LiveSettings> windows) {
    if (windows.size() > kMostWindowsAtOnce)
        return invalid_argument(std::to_string(windows.size()) +
                                " windows in one submission, expected up to " +
                                std::to_string(kMostWindowsAtOnce));
    std::vector<hearth_readback> reads;
    const Status submitted = runner_->submit([&](VkCommandBuffer commands) -> Status {
        for (const LiveSettings& settings : windows) {
            for (int64_t i = 0; i < recordings_; ++i)
                HEARTH_TRY(record(commands, rollout_, settings));
            hearth_readback_part parts[3];
            for (size_t i = 0; i < 3; ++i) parts[i] = hearth_part_of_slot(read_slots_[i], 0, 0);
            HEARTH_ASSIGN(const hearth_readback read,
                          runner_->session().record_readback(commands, parts));
            reads.push_back(read);
            HEARTH_TRY(record(commands, prepare_, settings));
            for (int64_t i = 0; i < items_; ++i) HEARTH_TRY(record(commands, learn_, settings));
            HEARTH_TRY(record(commands, publish_, settings));
        }
        return {};
    });
    HEARTH_TRY(submitted);
    HEARTH_TRY(runner_->begin_frame());
    std::vector<Window> out;
    for (const hearth_readback read : reads) {
        HEARTH_ASSIGN(const std::optional<ReadbackData> data, runner_->session().poll(read));
        if (!data) return internal_error("the readback of a finished submission is not there");
        Window window;
        const size_t samples = (data->bytes.size() - sizeof window.status) / (2 * sizeof(float));
        window.end.resize(samples);
        window.episode_return.resize(samples);
        const std::byte* from = data->bytes.data();
        std::memcpy(window.end.data(), from, samples * sizeof(float));
        from += samples * sizeof(float);
        std::memcpy(window.episode_return.data(), from, samples * sizeof(float));
        from += samples * sizeof(float);
        std::memcpy(window.status.data(), from, sizeof window.status);
        runner_->session().release(read);
        out.push_back(std::move(window));
    }
    return out;
}

Result<HostTensor> SimulatedLearner::act(const HostTensor& observation) {
    HEARTH_ASSIGN(NamedTensors said,
                  runner_->run("act", observation.shape()[0].count,
                               {{"observation", observation}, {"explore", HostTensor::scalar(0)}}));
    return std::move(said.at("action"));
}

Result<SimulatedLearner::Snapshot> SimulatedLearner::snapshot() {
    Snapshot snapshot;
    HEARTH_ASSIGN(snapshot.brain, shipped_brain(program_));
    const uint64_t parent = hash_of(snapshot.brain);
    HEARTH_ASSIGN(NamedTensors slots, runner_->read_slots());
    for (BrainTensor& tensor : snapshot.brain.tensors) {
        const auto at = slots.find(tensor.name);
        if (at == slots.end()) return internal_error("no slot '" + tensor.name + "'");
        tensor.value = std::move(at->second);
        slots.erase(at);
    }
    snapshot.brain.parent_hash = parent;
    snapshot.transients = std::move(slots);
    return snapshot;
}

Status SimulatedLearner::restore(const Brain& brain, const NamedTensors& transients) {
    HEARTH_ASSIGN(const Brain shipped, shipped_brain(program_));
    // Everything is compared before anything is written.
    std::vector<std::pair<std::string, const HostTensor*>> writes;
    const auto add = [&](const std::string& name, const HostTensor& value) -> Status {
        HEARTH_ASSIGN(const uint32_t index, runner_->program().find_slot(name.c_str()));
        HEARTH_ASSIGN(const hearth_slot_info info, runner_->program().slot(index));
        if (value.bytes().size() != info.bytes)
            return invalid_argument("'" + name + "' has " + std::to_string(value.bytes().size()) +
                                    " bytes, expected " + std::to_string(info.bytes));
        writes.emplace_back(name, &value);
        return {};
    };
    for (const BrainTensor& tensor : shipped.tensors) {
        const BrainTensor* const found = brain.find(tensor.name);
        if (found == nullptr)
            return invalid_argument("the brain has no tensor '" + tensor.name + "'");
        HEARTH_TRY(add(tensor.name, found->value));
    }
    for (const auto& [name, value] : transients) HEARTH_TRY(add(name, value));
    for (const auto& [name, value] : writes)
        if (!value->bytes().empty()) HEARTH_TRY(runner_->write_slot(name.c_str(), value->bytes()));
    return {};
}

}  // namespace hearth::train
