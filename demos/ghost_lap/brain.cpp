// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "brain.hpp"

#include "net.hpp"

#include <chrono>
#include <cstring>

namespace hearth::ghost_lap {
namespace {

using demo::Frame;
using demo::Guest;
using standalone::Buffer;
using standalone::MemoryKind;

constexpr uint64_t kLossOffset = 256;  // results of different kinds lie apart
constexpr uint64_t kResultBytes = 512;

// VkPipelineStageFlags2 and VkAccessFlags2 of what Hearth's kernels write.
const hearth_scope kWrittenByKernels =
    hearth_make_scope(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);

class Stopwatch {
  public:
    explicit Stopwatch(double& total) : total_(total) {}
    ~Stopwatch() {
        total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

  private:
    double& total_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

hearth_bound bind(uint32_t binding, const Buffer& buffer, uint64_t offset, uint64_t bytes) {
    hearth_bound bound =
        hearth_bind_buffer(binding, buffer.handle(), offset, bytes, buffer.usage());
    bound.device_address = buffer.address();
    return bound;
}

}  // namespace

Result<std::unique_ptr<Brain>> Brain::create(standalone::Device& device, uint64_t seed) {
    std::unique_ptr<Brain> self(new Brain(device));
    HEARTH_ASSIGN(self->guest_, Guest::create(device));
    HEARTH_ASSIGN(const DeviceCaps caps, self->guest_->context().caps());
    HEARTH_ASSIGN(const Compiled compiled,
                  compile_net(caps, static_cast<BindingModel>(device.binding_model()), seed));
    self->summary_ = std::to_string(compiled.dispatch_count) + " dispatches, " +
                     std::to_string(compiled.barrier_count) + " barriers, " +
                     std::to_string(compiled.weights_bytes) + " bytes of weights";
    HEARTH_ASSIGN(self->program_, LoadedProgram::load(self->guest_->context(), compiled.bytes));
    hearth_session_create_info info = hearth_session_create_info_default();
    info.name = "ghost";
    info.flags = HEARTH_SESSION_KEEP_INITIAL;  // so that the ghost can be reset
    HEARTH_ASSIGN(self->session_, Session::create(self->guest_->context(), self->program_, info));
    HEARTH_TRY(self->session_.build());
    HEARTH_TRY(self->find_interface());
    HEARTH_TRY(self->create_buffers());
    return self;
}

Status Brain::find_interface() {
    HEARTH_ASSIGN(act_, program_.find_entry("act"));
    HEARTH_ASSIGN(learn_, program_.find_entry("learn"));
    HEARTH_ASSIGN(observation_, program_.find_binding(act_, "observation"));
    HEARTH_ASSIGN(action_, program_.find_binding(act_, "action"));
    HEARTH_ASSIGN(observations_, program_.find_binding(learn_, "observations"));
    HEARTH_ASSIGN(actions_, program_.find_binding(learn_, "actions"));
    HEARTH_ASSIGN(loss_output_, program_.find_binding(learn_, "loss"));
    return {};
}

Status Brain::create_buffers() {
    for (Slot& slot : slots_) {
        HEARTH_ASSIGN(slot.observations, Buffer::create(device_, kBatchSize * sizeof(Observation),
                                                        MemoryKind::kUpload));
        HEARTH_ASSIGN(slot.actions, Buffer::create(device_, kBatchSize * sizeof(ActionVector),
                                                   MemoryKind::kUpload));
        HEARTH_ASSIGN(slot.results, Buffer::create(device_, kResultBytes, MemoryKind::kDevice));
    }
    return {};
}

template <class T>
Result<std::optional<T>> Brain::take(hearth_readback id) {
    HEARTH_ASSIGN(const auto data, session_.poll(id));
    if (!data) return std::optional<T>();
    T value;
    std::memcpy(&value, data->bytes.data(), sizeof(value));
    session_.release(id);
    return std::optional<T>(value);
}

Status Brain::begin_frame(const Frame& frame) {
    const Guest::FramePath counted(*guest_);
    HEARTH_TRY(guest_->context().begin_frame(frame.serial, frame.completed_serial));
    decision_.reset();
    loss_.reset();
    Slot& slot = slots_[frame.slot];
    // The frame loop has just waited for the frame that used this slot, so this never says "later".
    if (slot.decision) {
        HEARTH_ASSIGN(const auto action, take<ActionVector>(slot.decision->id));
        if (action) decision_ = Decision{slot.decision->race_frame, *action};
        slot.decision.reset();
    }
    if (slot.loss) {
        HEARTH_ASSIGN(loss_, take<float>(slot.loss->id));
        slot.loss.reset();
    }
    snapshot_.reset();
    if (slot.snapshot) {
        HEARTH_ASSIGN(const auto data, session_.poll(slot.snapshot->id));
        if (data)
            snapshot_ =
                Snapshot{{data->bytes.begin(), data->bytes.end()}, slot.snapshot->race_frame};
        session_.release(slot.snapshot->id);
        slot.snapshot.reset();
    }
    if (frame.serial == 1) HEARTH_TRY(session_.record_setup(frame.compute_cmd));
    if (!loaded_.empty()) {
        HEARTH_TRY(session_.record_brain(frame.compute_cmd, loaded_));
        loaded_.clear();
    }
    ++recorded_frames_;
    return {};
}

Result<hearth_readback> Brain::record_result(const Frame& frame, uint64_t offset, uint64_t bytes) {
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = frame.compute_cmd;
    info.buffer = slots_[frame.slot].results.handle();
    info.offset = offset;
    info.byte_count = bytes;
    info.before = kWrittenByKernels;
    return session_.record_readback(info);
}

Status Brain::record_act(const Frame& frame, uint64_t race_frame, const Observation& observation) {
    const Guest::FramePath counted(*guest_);
    const Stopwatch stopwatch(record_seconds_);
    Slot& slot = slots_[frame.slot];
    const hearth_bound bound[] = {bind_values(observation_, std::span<const float>(observation)),
                                  bind(action_, slot.results, 0, sizeof(ActionVector))};
    HEARTH_TRY(session_.record(frame.compute_cmd, act_, 1, bound).status());
    HEARTH_ASSIGN(const hearth_readback id, record_result(frame, 0, sizeof(ActionVector)));
    slot.decision = Pending{race_frame, id};
    return {};
}

Status Brain::record_learn(const Frame& frame, const Demonstrations& demonstrations) {
    Slot& slot = slots_[frame.slot];
    demonstrations.fill_minibatch(learning_steps_++, slot.observations.as<float>(),
                                  slot.actions.as<float>());
    const Guest::FramePath counted(*guest_);
    const Stopwatch stopwatch(record_seconds_);
    const hearth_bound bound[] = {
        bind(observations_, slot.observations, 0, slot.observations.size_bytes()),
        bind(actions_, slot.actions, 0, slot.actions.size_bytes()),
        bind(loss_output_, slot.results, kLossOffset, sizeof(float))};
    HEARTH_TRY(session_.record(frame.compute_cmd, learn_, kBatchSize, bound).status());
    HEARTH_ASSIGN(const hearth_readback id, record_result(frame, kLossOffset, sizeof(float)));
    slot.loss = Pending{0, id};
    return {};
}

Status Brain::load(std::vector<std::byte> bytes) {
    HEARTH_TRY(program_.check_brain(bytes));
    HEARTH_ASSIGN(const hearth_brain_info info, brain_info(bytes));
    if (info.host_bytes != sizeof learning_steps_)
        return invalid_argument("the brain is not of a ghost of this game");
    std::memcpy(&learning_steps_, info.host_data, sizeof learning_steps_);
    loaded_ = std::move(bytes);
    return {};
}

Status Brain::record_snapshot(const Frame& frame) {
    HEARTH_ASSIGN(const auto id, session_.record_snapshot(frame.compute_cmd));
    if (id) slots_[frame.slot].snapshot = Pending{learning_steps_, *id};
    return {};
}

Result<std::vector<std::byte>> Brain::encode(const Snapshot& snapshot) const {
    return program_.encode_brain(snapshot.bytes, HEARTH_BRAIN_DELTA,
                                 std::as_bytes(std::span(&snapshot.learning_steps, 1)));
}

Result<Brain::Snapshot> Brain::snapshot_now(uint64_t& serial) {
    HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
    ++serial;
    Result<std::optional<hearth_readback>> id = std::optional<hearth_readback>();
    HEARTH_TRY(
        device_.run_compute([&](VkCommandBuffer cmd) { id = session_.record_snapshot(cmd); }));
    if (!id.ok()) return id.status();
    if (!*id) return internal_error("the ghost is in the middle of a step of learning");
    HEARTH_TRY(guest_->context().begin_frame(serial + 1, serial));
    ++serial;
    HEARTH_ASSIGN(const auto data, session_.poll(**id));
    if (!data) return internal_error("what was learned has not arrived");
    Snapshot snapshot{{data->bytes.begin(), data->bytes.end()}, learning_steps_};
    session_.release(**id);
    return snapshot;
}

Status Brain::record_reset(const Frame& frame) {
    learning_steps_ = 0;
    return session_.record_setup(frame.compute_cmd);
}

double Brain::mean_record_us() const {
    return recorded_frames_ > 0 ? 1e6 * record_seconds_ / static_cast<double>(recorded_frames_)
                                : 0.0;
}

}  // namespace hearth::ghost_lap
