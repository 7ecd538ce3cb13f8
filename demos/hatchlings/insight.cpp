// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates policy and critic for display, in an entry of its own.

#include "insight.hpp"

#include <hearth/agents/distribution.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace hearth::hatchlings {
namespace {

constexpr size_t kPlaces = size_t{Insight::kColumns} * Insight::kRows;

}  // namespace

std::unique_ptr<Trace> Insight::trace(uint64_t seed, uint32_t hatchlings) {
    auto owner = std::make_unique<Trace>("look");
    Trace& trace = *owner;
    const agents::AgentSpec described = schema();
    const agents::Ppo ppo = learner(hatchlings);
    const auto count = static_cast<int64_t>(hatchlings + kPlaces);
    const Tensor seen = trace.input("seen", {count, kObservationWidth});
    // Reads the parameters of the learner's actor and critic, by name.
    const auto output = [&](const std::string& net, int64_t width, double gain) {
        const Tensor features =
            network(seed)
                .forward(trace, net,
                         agents::encode(trace, net, described, seen,
                                        {.normalizer = {}, .clip = ppo.limits.clip_obs}),
                         {})
                .features;
        const Tensor weight = trace.param(net + ".head.weight", {width, features.dim(-1)},
                                          Init::orthogonal(gain, seed));
        return linear(features, weight, trace.param(net + ".head.bias", {width}));
    };
    const Tensor mean = output("actor", kActionWidth, 0.01), value = output("critic", 1, 1);
    const Tensor deviation =
        exp(clamp(trace.param("actor.log_std", {kActionWidth}, Init::constant(ppo.log_std_init)),
                  ppo.log_std_min, ppo.log_std_max));
    const Tensor all =
        concat({reshape(mean, {kActionWidth * count}), reshape(value, {count}), deviation}, 0);
    trace.assign(
        trace.non_persistent_state("look.answer", {(kActionWidth + 1) * count + kActionWidth}),
        all);
    return owner;
}

Result<Insight> Insight::create(standalone::Device& device, demo::Mind& mind, uint32_t hatchlings) {
    Insight insight;
    insight.hatchlings_ = hatchlings;
    HEARTH_ASSIGN(insight.entry_, mind.program().find_entry("look"));
    HEARTH_ASSIGN(insight.seen_, mind.program().find_binding(insight.entry_, "seen"));
    HEARTH_ASSIGN(insight.answer_, mind.program().find_variable("look.answer"));
    const uint64_t size_bytes = (hatchlings + kPlaces) * sizeof(Observation);
    for (standalone::Buffer& buffer : insight.buffers_) {
        HEARTH_ASSIGN(buffer, standalone::Buffer::create(device, size_bytes,
                                                         standalone::MemoryKind::kUpload));
    }
    return insight;
}

Status Insight::record(const demo::Frame& frame, demo::Mind& mind, const World& world) {
    if (under_way_ != 0) return {};
    const standalone::Buffer& buffer = buffers_[frame.slot];
    const std::span<float> seen = buffer.as<float>();
    auto at = seen.begin();
    for (uint32_t i = 0; i < hatchlings_; ++i) at = std::ranges::copy(world.observe(i), at).out;
    for (int row = 0; row < kRows; ++row)
        for (int column = 0; column < kColumns; ++column) {
            const glm::vec2 part(2.0f * static_cast<float>(column) / (kColumns - 1) - 1.0f,
                                 2.0f * static_cast<float>(row) / (kRows - 1) - 1.0f);
            at = std::ranges::copy(world.observe_at(part * kHalfSize), at).out;
        }
    hearth_session* const session = mind.agents().session();
    const auto check = [&](hearth_result result) {
        return result >= 0 ? Status() : to_status(result, hearth_session_error(session));
    };
    hearth_tensor_binding bound =
        hearth_bind_buffer(seen_, buffer.handle(), 0, buffer.size_bytes(), buffer.usage());
    bound.device_address = buffer.address();
    hearth_record_info record = hearth_record_info_default();
    record.command_buffer = frame.compute_cmd;
    record.entry = entry_;
    record.bindings = &bound;
    record.binding_count = 1;
    record.batch_size = 1;
    HEARTH_TRY(check(hearth_record(session, &record, nullptr)));
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = frame.compute_cmd;
    info.variable = answer_;
    const hearth_result result = hearth_record_readback(session, &info, &under_way_);
    if (result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT)
        under_way_ = 0;  // a snapshot is in flight: retry later
    return result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT ? Status() : check(result);
}

void Insight::poll(demo::Mind& mind) {
    if (under_way_ == 0) return;
    const void* data = nullptr;
    uint64_t size_bytes = 0, serial = 0;
    const hearth_result result =
        hearth_readback_poll(mind.agents().session(), under_way_, &data, &size_bytes, &serial);
    if (result == HEARTH_NOT_READY) return;
    const size_t count = hatchlings_ + kPlaces;
    if (result == HEARTH_OK && size_bytes >= (3 * count + 2) * sizeof(float)) {
        const auto* const values = static_cast<const float*>(data);
        const float doubt = 0.5f * (values[3 * count] + values[3 * count + 1]);
        thoughts_.clear();
        for (size_t i = 0; i < hatchlings_; ++i)
            thoughts_.push_back({{values[2 * i], values[2 * i + 1]}, doubt});
        const float* const hopes = values + 2 * count + hatchlings_;
        hopes_.assign(hopes, hopes + kPlaces);
        expectations_.assign(hopes - hatchlings_, hopes);
    }
    cancel(mind);
}

void Insight::cancel(demo::Mind& mind) {
    hearth_readback_release(mind.agents().session(), std::exchange(under_way_, 0));
}

}  // namespace hearth::hatchlings
