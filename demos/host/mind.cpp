// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "mind.hpp"

#include <hearth/compile.hpp>

#include <functional>
#include <utility>

namespace hearth::demo {

Result<std::unique_ptr<Mind>> Mind::create(standalone::Device& device, const agents::Traces& traces,
                                           const agents::AgentManifest& manifest) {
    std::unique_ptr<Mind> self(new Mind(device));
    HEARTH_ASSIGN(self->guest_, Guest::create(device));
    Context& context = self->guest_->context();
    HEARTH_ASSIGN(const DeviceCaps caps, context.caps());
    HEARTH_ASSIGN(const Compiled compiled,
                  compile(agents::driven_entries_of(traces, manifest),
                          {.caps = caps,
                           .binding_model = static_cast<BindingModel>(device.binding_model()),
                           .rows_capacity = manifest.agents}));
    self->summary_ = std::to_string(compiled.dispatch_count) + " dispatches, " +
                     std::to_string(compiled.barrier_count) + " barriers, " +
                     std::to_string(compiled.weights_bytes) + " bytes of weights";
    HEARTH_ASSIGN(self->program_, LoadedProgram::load(context, compiled.bytes));
    const std::vector<std::byte> saved_manifest = manifest.save();
    HEARTH_ASSIGN(self->agents_,
                  agents::Agents::create(context, self->program_,
                                         {.manifest = saved_manifest,
                                          .frames_in_flight = FrameLoop::kFramesInFlight,
                                          .snapshot_count = kSnapshots,
                                          .snapshot_period = kSnapshotFrames}));
    HEARTH_TRY(self->agents_.build());
    return self;
}

Status Mind::begin_frame(const Frame& frame) {
    const Guest::FramePath counted(*guest_);
    HEARTH_TRY(guest_->context().begin_frame(frame.serial, frame.completed_serial));
    agents_.poll();
    status_ = agents_.status();
    return {};
}

Status Mind::record(const Frame& frame, const agents::AgentsFrame& how) {
    const Guest::FramePath counted(*guest_);
    return agents_.record(frame.compute_cmd, how).status();
}

Result<bool> Mind::record_snapshot(const Frame& frame) {
    if (copying_ != 0) return false;
    const hearth_result result =
        hearth_record_snapshot(agents_.session(), frame.compute_cmd, &copying_);
    if (result == HEARTH_OK) return true;
    copying_ = 0;
    HEARTH_TRY(check(result));
    return false;
}

std::optional<std::vector<std::byte>> Mind::take_snapshot() {
    if (copying_ == 0) return std::nullopt;
    const void* data = nullptr;
    uint64_t size_bytes = 0, serial = 0;
    const hearth_result result =
        hearth_readback_poll(agents_.session(), copying_, &data, &size_bytes, &serial);
    if (result == HEARTH_NOT_READY) return std::nullopt;
    std::optional<std::vector<std::byte>> arrived;
    if (result == HEARTH_OK) {
        const auto* const begin = static_cast<const std::byte*>(data);
        arrived.emplace(begin, begin + size_bytes);
    }
    hearth_readback_release(agents_.session(), std::exchange(copying_, 0));
    return arrived;
}

Result<std::vector<std::byte>> Mind::snapshot_now(uint64_t& serial) {
    const auto step = [&](const std::function<Status(VkCommandBuffer)>& record) -> Status {
        HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
        ++serial;
        agents_.poll();  // what is still under way takes room in the ring
        Status recorded;
        HEARTH_TRY(
            device_.run_compute([&](VkCommandBuffer commands) { recorded = record(commands); }));
        return recorded;
    };
    // In the middle of a window there is nothing whole to keep.
    agents_.freeze(false);
    for (int i = 0; i < 64 && agents_.status().phase == HEARTH_AGENTS_LEARNING; ++i)
        HEARTH_TRY(step([&](VkCommandBuffer commands) {
            return agents_.record(commands, {.learn_us = 1e9, .decide = false}).status();
        }));
    (void)take_snapshot();  // one that was under way
    Result<bool> recorded = false;
    HEARTH_TRY(step([&](VkCommandBuffer commands) {
        recorded = record_snapshot({.compute_cmd = commands});
        return recorded.status();
    }));
    if (!*recorded) return internal_error("they are in the middle of a step of learning");
    HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
    ++serial;
    auto snapshot = take_snapshot();
    if (!snapshot) return internal_error("what was learned has not arrived");
    return std::move(*snapshot);
}

Result<uint64_t> Mind::weights_hash(uint64_t& serial) {
    HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
    ++serial;
    agents_.poll();
    (void)take_snapshot();
    return guest_->weights_hash(program_, agents_.session(), serial);
}

}  // namespace hearth::demo
