// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gates/device_learner.hpp"

#include "compiler/ir/graph.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>

namespace hearth::gates {

Result<std::unique_ptr<DeviceLearner>> DeviceLearner::create(standalone::Device& device,
                                                             const agents::AgentGraphs& traces,
                                                             uint64_t rows_capacity,
                                                             const NamedTensors& first_contents,
                                                             FuseMlp fused_networks) {
    for (const auto& trace : traces)
        for (Value& v : mutable_graph(*trace).values) {
            const bool persists = v.kind == ValueKind::kParam || v.kind == ValueKind::kState;
            const auto given = first_contents.find(v.name);
            if (!persists || given == first_contents.end()) continue;
            if (given->second.shape() != v.shape)
                return invalid_argument("first contents of '" + v.name + "' are " +
                                        to_string(given->second.shape()) + ", expected " +
                                        to_string(v.shape));
            v.data = std::make_shared<const HostTensor>(given->second);
        }
    CompileOptions options;
    HEARTH_ASSIGN(options.caps, device.caps());
    options.max_batch_size = rows_capacity;
    options.fuse_mlp = fused_networks;
    if (const char* model = std::getenv("HEARTH_TEST_BINDING");
        model != nullptr && std::string_view(model) == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    const std::vector<Trace*> entries = agents::all_entries(traces);
    HEARTH_ASSIGN(const Compiled compiled, compile(std::span<Trace* const>(entries), options));
    auto learner = std::make_unique<DeviceLearner>();
    learner->listing_ = compiled.disassembly;
    HEARTH_ASSIGN(learner->runner_, standalone::ProgramRunner::create(device, compiled.bytes));
    return learner;
}

Result<NamedTensors> DeviceLearner::run(const char* entry, const NamedTensors& inputs,
                                        int64_t rows) {
    return runner_->run(entry, rows, inputs);
}

agents::StatusView DeviceLearner::status() {
    std::vector<HostTensor> states;
    for (const char* role :
         {"store", "compute_advantages", "learn", "publish", "add_demonstrations"})
        for (const char* part : {"status", "counters", "carries"}) {
            const std::string name = "agents." + std::string(part) + "." + role;
            if (!runner_->program().find_variable(name.c_str()).ok()) continue;
            if (auto read = runner_->read_variable(name.c_str()); read.ok())
                states.push_back(std::move(read).value());
        }
    std::vector<agents::EntryStatus> roles;
    for (size_t i = 0; i + 2 < states.size(); i += 3)
        roles.push_back(
            {states[i].as<float>(), states[i + 1].as<uint32_t>(), states[i + 2].as<uint32_t>()});
    words_ = agents::sum_status(roles);
    if (runner_->program().find_variable("learn.skipped_in_a_row").ok())
        if (const auto read = runner_->read_variable("learn.skipped_in_a_row"); read.ok())
            words_[agents::kMetricCount + static_cast<size_t>(agents::Counter::kSkippedInARow)] =
                read->as<uint32_t>()[0];
    return agents::StatusView(words_);
}

Crowd::Crowd(const MakeTask& make, int64_t count, uint64_t seed)
    : sums_(static_cast<size_t>(count)),
      lengths_(static_cast<size_t>(count)),
      is_first_(static_cast<size_t>(count)),
      seed_(seed) {
    for (int64_t i = 0; i < count; ++i) tasks_.push_back(make());
    for (size_t i = 0; i < tasks_.size(); ++i) start(i);
}

void Crowd::start(size_t i) {
    tasks_[i]->reset(seed_ * 1000003 + episodes_++);
    sums_[i] = 0;
    lengths_[i] = 0;
    is_first_[i] = true;
}

HostTensor Crowd::observations() const {
    const auto width = static_cast<size_t>(info().observation_width);
    HostTensor all(DType::kF32, {count(), static_cast<int64_t>(width)});
    for (size_t i = 0; i < tasks_.size(); ++i)
        tasks_[i]->observe(all.as<float>().subspan(i * width, width));
    return all;
}

Status Crowd::step_exploring(DeviceLearner& learner, double explore) {
    NamedTensors inputs{{"observation", observations()},
                        {"exploration", HostTensor::scalar(explore)},
                        {"id", HostTensor(DType::kU32, {count()})},
                        {"episode_start", HostTensor(DType::kF32, {count()})}};
    for (int64_t i = 0; i < count(); ++i) {
        inputs["id"].set(i, static_cast<double>(i));
        inputs["episode_start"].set(i, is_first_[static_cast<size_t>(i)] ? 1 : 0);
    }
    HEARTH_ASSIGN(NamedTensors said, learner.run("act", inputs, count()));
    HostTensor reward(DType::kF32, {count()}), end(DType::kF32, {count()});
    const HostTensor action = said.at("action");
    transition_ = std::move(said);
    for (const char* name : {"observation", "id"}) transition_[name] = inputs.at(name);
    for (size_t i = 0; i < tasks_.size(); ++i) {
        const auto row = static_cast<int64_t>(i);
        const classic::Outcome outcome = tasks_[i]->step(static_cast<float>(action.get(row)));
        sums_[i] += outcome.reward;
        is_first_[i] = false;
        reward.set(row, outcome.reward);
        if (outcome.terminated)
            end.set(row, 1);
        else if (++lengths_[i] >= info().step_limit)
            end.set(row, 2);
    }
    transition_["next_observation"] = observations();
    for (size_t i = 0; i < tasks_.size(); ++i) {
        if (end.get(static_cast<int64_t>(i)) == 0) continue;
        returns_.push_back(sums_[i]);
        start(i);
    }
    transition_["reward"] = std::move(reward);
    transition_["done_kind"] = std::move(end);
    steps_ += count();
    return {};
}

double Crowd::mean_return(size_t count) const {
    if (returns_.size() < count) return -std::numeric_limits<double>::infinity();
    return std::accumulate(returns_.end() - static_cast<std::ptrdiff_t>(count), returns_.end(),
                           0.0) /
           static_cast<double>(count);
}

Result<double> evaluate(DeviceLearner& learner, const MakeTask& make, int64_t agents,
                        size_t episodes, uint64_t seed) {
    Crowd crowd(make, agents, seed);
    while (crowd.returns().size() < episodes) HEARTH_TRY(crowd.step(learner, false));
    return std::accumulate(crowd.returns().begin(),
                           crowd.returns().begin() + static_cast<std::ptrdiff_t>(episodes), 0.0) /
           static_cast<double>(episodes);
}

}  // namespace hearth::gates
