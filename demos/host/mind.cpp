// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles, runs and saves the agents of one brain.

#include "mind.hpp"

#include <hearth/compile.hpp>

#include <utility>

namespace hearth::demo {

Result<std::unique_ptr<Mind>> Mind::create(standalone::Device& device,
                                           const agents::AgentGraphs& traces,
                                           const agents::AgentManifest& manifest) {
    std::unique_ptr<Mind> self(new Mind(device));
    HEARTH_ASSIGN(self->guest_, Guest::create(device));
    Context& context = self->guest_->context();
    HEARTH_ASSIGN(const DeviceCaps caps, context.device_caps());
    HEARTH_ASSIGN(const Compiled compiled,
                  compile(agents::runtime_entries(traces, manifest),
                          {.caps = caps,
                           .binding_model = static_cast<BindingModel>(device.binding_model()),
                           .max_batch_size = manifest.n_agents}));
    self->summary_ = std::to_string(compiled.dispatch_count) + " dispatches, " +
                     std::to_string(compiled.barrier_count) + " barriers, " +
                     std::to_string(compiled.weights_bytes) + " bytes of weights";
    HEARTH_ASSIGN(self->program_, LoadedProgram::load(context, compiled.bytes));
    self->manifest_ = manifest.save();
    HEARTH_ASSIGN(self->fresh_, initial_brain(compiled.bytes));
    self->fresh_.base_hash = hash_of(self->fresh_);
    self->fresh_.user_schema_hash = manifest.schema.hash();
    HEARTH_ASSIGN(self->agents_,
                  agents::Agents::create(context, self->program_,
                                         {.manifest = self->manifest_,
                                          .frames_in_flight = FrameLoop::kFramesInFlight,
                                          .max_snapshots = kSnapshots,
                                          .snapshot_interval = kSnapshotFrames}));
    HEARTH_TRY(self->agents_.create_pipelines());
    return self;
}

Result<agents::Agents> Mind::create_agents(const char* name) {
    HEARTH_ASSIGN(agents::Agents made,
                  agents::Agents::create(guest_->context(), program_,
                                         {.manifest = manifest_,
                                          .name = name,
                                          .frames_in_flight = FrameLoop::kFramesInFlight,
                                          .max_snapshots = 0}));
    HEARTH_TRY(made.create_pipelines());
    return made;
}

Result<std::vector<std::byte>> Mind::brain_with(const NamedTensors& weights) const {
    constexpr std::string_view kPublished = "published.param.";  // copies used for acting
    Brain brain = fresh_;
    for (BrainTensor& tensor : brain.tensors) {
        const bool is_copy = tensor.name.starts_with(kPublished);
        if (tensor.is_state && !is_copy) continue;
        const std::string name = is_copy ? tensor.name.substr(kPublished.size()) : tensor.name;
        const auto given = weights.find(name);
        if (given == weights.end()) return invalid_argument("no weights '" + name + "'");
        if (given->second.shape() != tensor.value.shape() ||
            given->second.dtype() != tensor.value.dtype())
            return invalid_argument("'" + name + "' is " + to_string(given->second.shape()) +
                                    ", expected " + to_string(tensor.value.shape()));
        tensor.value = given->second;
    }
    return save_brain(brain);
}

Status Mind::begin_frame(const Frame& frame) {
    const Guest::FramePath counted(*guest_);
    HEARTH_TRY(guest_->context().begin_frame(frame.serial, frame.completed_serial));
    agents_.poll();
    status_ = agents_.status();
    return {};
}

Status Mind::record(const Frame& frame, const agents::RecordOptions& how) {
    const Guest::FramePath counted(*guest_);
    return agents_.record(frame.compute_cmd, how).status();
}

Result<std::vector<std::byte>> Mind::save_now(uint64_t& serial) {
    const auto step = [&](const agents::RecordOptions& how) -> Status {
        HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
        ++serial;
        agents_.poll();
        Status recorded;
        HEARTH_TRY(device_.run_compute(
            [&](VkCommandBuffer commands) { recorded = agents_.record(commands, how).status(); }));
        return recorded;
    };
    // A rollout that is being learned from cannot be saved: finish it first.
    agents_.freeze(false);
    for (int i = 0; i < 64 && agents_.status().phase == HEARTH_AGENTS_UPDATE; ++i)
        HEARTH_TRY(step({.learning_budget_us = 1e9, .request_decision = false}));
    HEARTH_TRY(agents_.take_snapshot());
    const uint64_t before = agents_.status().snapshots_taken;
    // A snapshot already in flight comes first.
    for (int i = 0; i < 4 && agents_.status().snapshot_phase != HEARTH_AGENTS_SNAPSHOT_NONE; ++i)
        HEARTH_TRY(step({.learning_budget_us = 0, .request_decision = false}));
    if (agents_.status().snapshots_taken == before)
        return internal_error("what was learned has not arrived, or is not finite");
    return agents_.save(0);
}

Result<uint64_t> Mind::weights_hash(uint64_t& serial) {
    HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
    ++serial;
    agents_.poll();
    return guest_->weights_hash(program_, agents_.session(), serial);
}

}  // namespace hearth::demo
