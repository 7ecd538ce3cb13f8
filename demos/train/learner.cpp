// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Common parts of learners: program, pipeline cache, snapshots and acting.

#include "train/learner.hpp"

#include "train/simulated_learner.hpp"

#include <hearth/compile.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/file.hpp>

#include <standalone/cache_folder.hpp>

#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

namespace hearth::train {

namespace {

/// File for the driver's pipeline cache of a program, so that the next run starts fast; empty if it
/// cannot be written.
std::string pipelines_file(std::span<const std::byte> program) {
    const auto folder = standalone::cache_folder("pipelines");
    if (!folder.ok()) return {};
    const std::string name = std::to_string(Hash().bytes(program).value()) + ".bin";
    const std::string path = (*folder / name).string();
    return check_writable(path).ok() ? path : std::string();
}

/// Refuses values that no training reaches: floats that are not finite or whose square overflows,
/// and integers, which count and index, of all ones.
Status check_values(const char* name, const HostTensor& tensor) {
    constexpr double kMaxMagnitude = 1e18;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        const auto bad = [&](const std::string& found, const char* expected) {
            return invalid_argument("'" + std::string(name) + "': element " + std::to_string(i) +
                                    " is " + found + ", expected " + expected);
        };
        if (is_floating(tensor.dtype())) {
            const double value = tensor.get(i);
            if (std::abs(value) <= kMaxMagnitude) continue;
            char text[32];
            std::snprintf(text, sizeof text, "%g", value);
            return bad(text, "a number of at most 1e18");
        }
        const int64_t value = tensor.get_int(i);
        if (value == -1 || value == int64_t{UINT32_MAX})
            return bad(std::to_string(value), "a count or an index");
    }
    return {};
}

}  // namespace

Status Learner::build(standalone::Device& device, std::span<Trace* const> entries, int64_t agents,
                      int64_t recordings_in_flight, int64_t readback_bytes) {
    HEARTH_ASSIGN(const DeviceCaps caps, device.caps());
    HEARTH_ASSIGN(
        const Compiled compiled,
        compile(entries, {.caps = caps, .max_batch_size = static_cast<uint64_t>(agents)}));
    program_.assign(compiled.bytes.begin(), compiled.bytes.end());
    hearth_session_create_info session = hearth_session_create_info_default();
    session.recordings_in_flight = static_cast<uint32_t>(recordings_in_flight);
    session.readback_bytes = static_cast<uint64_t>(readback_bytes);
    HEARTH_ASSIGN(runner_, standalone::ProgramRunner::create(device, program_, session,
                                                             pipelines_file(program_)));
    return {};
}

Result<Learner::Entry> Learner::find_entry(const char* name) {
    Entry entry;
    HEARTH_ASSIGN(entry.index, runner_->program().find_entry(name));
    HEARTH_ASSIGN(const hearth_entry_info info, runner_->program().entry(entry.index));
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        HEARTH_ASSIGN(const hearth_binding_info binding,
                      runner_->program().binding(info.bindings[i]));
        if (std::string_view(binding.name) == "learning_rate")
            entry.learning_rate = info.bindings[i];
        else if (std::string_view(binding.name) == "clip_range")
            entry.clip = info.bindings[i];
        else
            return internal_error(std::string(name) + ": unexpected binding '" + binding.name +
                                  "'");
    }
    return entry;
}

Status Learner::record(VkCommandBuffer commands, const Entry& entry, const LiveSettings& settings) {
    hearth_tensor_binding bound[2];
    uint32_t count = 0;
    if (entry.learning_rate != UINT32_MAX)
        bound[count++] = hearth_bind_bytes(entry.learning_rate, &settings.learning_rate, 4);
    if (entry.clip != UINT32_MAX) bound[count++] = hearth_bind_bytes(entry.clip, &settings.clip, 4);
    HEARTH_ASSIGN(const Progress progress,
                  runner_->session().record(commands, entry.index, 1, {bound, count}));
    return progress == Progress::kDone ? Status() : internal_error("pipelines are not ready");
}

Status Learner::submit(const Entry& entry) {
    return runner_->submit(
        [&](VkCommandBuffer commands) { return record(commands, entry, LiveSettings()); });
}

Result<HostTensor> Learner::act(const HostTensor& observation) {
    HEARTH_ASSIGN(NamedTensors said, runner_->run("act", observation.shape()[0].count,
                                                  {{"observation", observation},
                                                   {"exploration", HostTensor::scalar(0)}}));
    HostTensor& action = said.at("action");
    for (int64_t i = 0; i < action.element_count(); ++i)
        if (!std::isfinite(action.get(i)))
            return invalid_argument("action " + std::to_string(i) +
                                    " of the brain is NaN or infinite; train it again");
    return std::move(action);
}

Result<Learner::Snapshot> Learner::snapshot() {
    Snapshot snapshot;
    HEARTH_ASSIGN(snapshot.brain, initial_brain(program_));
    const uint64_t parent = hash_of(snapshot.brain);
    HEARTH_ASSIGN(NamedTensors slots, runner_->read_variables());
    for (BrainTensor& tensor : snapshot.brain.tensors) {
        const auto at = slots.find(tensor.name);
        if (at == slots.end()) return internal_error("no slot '" + tensor.name + "'");
        tensor.value = std::move(at->second);
        slots.erase(at);
    }
    snapshot.brain.base_hash = parent;
    snapshot.transients = std::move(slots);
    return snapshot;
}

Result<std::vector<std::string>> Learner::restore(const Brain& brain,
                                                  const NamedTensors& transients) {
    // Names of the transient states that are left to restore: Brain::find also knows those of
    // version 0.1.
    Brain left;
    for (const auto& [name, value] : transients) left.tensors.push_back({name, true, {}});
    // Validate everything before anything is written.
    std::vector<std::pair<std::string, const HostTensor*>> writes;
    std::vector<std::string> missing;
    for (uint32_t i = 0; i < runner_->program().info().variable_count; ++i) {
        HEARTH_ASSIGN(const hearth_variable_info info, runner_->program().variable(i));
        if (info.kind == HEARTH_VARIABLE_CONSTANT) continue;
        const bool is_transient = info.kind == HEARTH_VARIABLE_NON_PERSISTENT;
        const BrainTensor* const found = (is_transient ? left : brain).find(info.name);
        if (found == nullptr && is_transient) {
            missing.emplace_back(info.name);
            continue;
        }
        if (found == nullptr)
            return invalid_argument("the brain has no tensor '" + std::string(info.name) + "'");
        const HostTensor* value = &found->value;
        if (is_transient) {
            value = &transients.at(found->name);
            left.tensors.erase(left.tensors.begin() + (found - left.tensors.data()));
        }
        if (value->bytes().size() != info.bytes || value->dtype() != static_cast<DType>(info.dtype))
            return invalid_argument("'" + std::string(info.name) + "' is " +
                                    std::string(name_of(value->dtype())) + " of " +
                                    std::to_string(value->bytes().size()) + " bytes, expected " +
                                    std::string(name_of(static_cast<DType>(info.dtype))) + " of " +
                                    std::to_string(info.bytes));
        HEARTH_TRY(check_values(info.name, *value));
        writes.emplace_back(info.name, value);
    }
    if (!left.tensors.empty())
        return invalid_argument("the program has no '" + left.tensors[0].name +
                                "', which the checkpoint has");
    for (const auto& [name, value] : writes)
        if (!value->bytes().empty())
            HEARTH_TRY(runner_->write_variable(name.c_str(), value->bytes()));
    return missing;
}

Result<std::unique_ptr<Learner>> make_learner(standalone::Device& device, const TrainConfig& config,
                                              GradientReducer& ranks) {
    HEARTH_ASSIGN(std::unique_ptr<Learner> learner,
                  SimulatedLearner::create(device, config, ranks));
    return learner;
}

Result<std::unique_ptr<Learner>> make_player(standalone::Device& device,
                                             const TrainConfig& config) {
    HEARTH_ASSIGN(std::unique_ptr<Learner> learner,
                  SimulatedLearner::create_player(device, config));
    return learner;
}

}  // namespace hearth::train
