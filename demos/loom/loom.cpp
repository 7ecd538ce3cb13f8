// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the cloth's network: training, evaluation and the data that the shader reads.

#include "loom.hpp"

#include "random.hpp"

#include <cloth_cpu.frag.spv.h>
#include <cloth_gpu.frag.spv.h>

#include <cstring>
#include <numeric>
#include <utility>

namespace hearth::loom {
namespace {

using demo::Frame;
using standalone::Buffer;
using standalone::MemoryKind;

/// Size of the package in bytes, then the package.
constexpr uint64_t kPackage[] = {
#include <loom_package.inc>
};
// The variable whose address weave() requires: see the head of weave.glsl.
constexpr const char* kFirstSlot = "grid.table";

hearth_tensor_binding bind(uint32_t binding, const Buffer& buffer) {
    hearth_tensor_binding bound =
        hearth_bind_buffer(binding, buffer.handle(), 0, buffer.size_bytes(), buffer.usage());
    bound.device_address = buffer.address();
    return bound;
}

}  // namespace

Result<std::unique_ptr<Loom>> Loom::create(standalone::Device& device, uint64_t seed) {
    std::unique_ptr<Loom> self(new Loom(device, seed));
    self->is_cpu_ = device.properties().deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    HEARTH_ASSIGN(self->guest_, demo::Guest::create(device));
    Context& context = self->guest_->context();
    HEARTH_ASSIGN(self->program_,
                  LoadedProgram::load_package(
                      context, std::as_bytes(std::span(kPackage).subspan(1)).first(kPackage[0]),
                      true, self->is_cpu_ ? "cpu" : "gpu"));
    hearth_session_create_info info = hearth_session_create_info_default();
    info.name = "loom";
    info.flags = HEARTH_SESSION_KEEP_INITIAL_WEIGHTS;  // to reset the cloth
    HEARTH_ASSIGN(self->session_, Session::create(context, self->program_, info));
    HEARTH_TRY(self->session_.create_pipelines());
    HEARTH_TRY(self->find_interface());
    HEARTH_TRY(self->create_buffers());
    return self;
}

Status Loom::find_interface() {
    HEARTH_ASSIGN(learn_, program_.find_entry("learn"));
    HEARTH_ASSIGN(judge_, program_.find_entry("judge"));
    constexpr const char* kNames[] = {"picture", "texel", "loss"};
    for (size_t i = 0; i < 3; ++i) {
        HEARTH_ASSIGN(of_learn_[i], program_.find_binding(learn_, kNames[i]));
        HEARTH_ASSIGN(of_judge_[i], program_.find_binding(judge_, kNames[i]));
    }
    HEARTH_ASSIGN(const uint32_t slot, program_.find_variable(kFirstSlot));
    HEARTH_ASSIGN(const hearth_buffer_range range, session_.variable_buffer(slot));
    weights_address_ = range.device_address;
    for (uint32_t i = 0; i < program_.info().variable_count; ++i) {
        HEARTH_ASSIGN(const hearth_variable_info info, program_.variable(i));
        if (info.kind == HEARTH_VARIABLE_PARAM) weights_bytes_ += info.bytes;
    }
    HEARTH_ASSIGN(const hearth_entry_info learn, program_.entry(learn_));
    summary_ = std::to_string(learn.dispatch_count) + " dispatches, " +
               std::to_string(learn.barrier_count) +
               (learn.barrier_count == 1 ? " barrier" : " barriers");
    return {};
}

Status Loom::create_buffers() {
    const VkDeviceSize picture_bytes = 3 * kTexels * sizeof(float);
    HEARTH_ASSIGN(picture_, Buffer::create(device_, picture_bytes, MemoryKind::kDevice));
    for (Slot& slot : slots_) {
        HEARTH_ASSIGN(slot.staging, Buffer::create(device_, picture_bytes, MemoryKind::kUpload));
        HEARTH_ASSIGN(slot.texels,
                      Buffer::create(device_, kBatchSize * sizeof(int32_t), MemoryKind::kUpload));
        HEARTH_ASSIGN(slot.loss, Buffer::create(device_, sizeof(float), MemoryKind::kDevice));
    }
    return {};
}

Status Loom::begin_frame(const Frame& frame) {
    const demo::Guest::FramePath counted(*guest_);
    serial_ = frame.serial + ahead_;
    HEARTH_TRY(guest_->context().begin_frame(serial_, frame.completed_serial + ahead_));
    loss_.reset();
    Slot& slot = slots_[frame.slot];
    if (slot.arriving) {
        HEARTH_ASSIGN(const auto data, session_.poll(*slot.arriving));
        if (data) {
            float loss = 0;
            std::memcpy(&loss, data->bytes.data(), sizeof loss);
            loss_ = loss;
        }
        session_.release(*slot.arriving);
        slot.arriving.reset();
    }
    if (frame.serial == 1) HEARTH_TRY(session_.record_initialize(frame.cmd));
    return {};
}

void Loom::record_picture(const Frame& frame, std::span<const float> texels) {
    const standalone::VulkanApi& vk = device_.vk();
    const Slot& slot = slots_[frame.slot];
    std::memcpy(slot.staging.data(), texels.data(), texels.size_bytes());
    // The previous frame's commands and pixels may still read it.
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    vk.CmdPipelineBarrier(
        frame.cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
        VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    const VkBufferCopy copy{0, 0, texels.size_bytes()};
    vk.CmdCopyBuffer(frame.cmd, slot.staging.handle(), picture_.handle(), 1, &copy);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    vk.CmdPipelineBarrier(
        frame.cmd, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 1,
        &barrier, 0, nullptr, 0, nullptr);
}

Result<hearth_readback> Loom::record_step(VkCommandBuffer cmd, uint32_t index, uint32_t entry,
                                          const std::array<uint32_t, 3>& bindings) {
    const Slot& slot = slots_[index];
    const hearth_tensor_binding bound[] = {
        bind(bindings[0], picture_), bind(bindings[1], slot.texels), bind(bindings[2], slot.loss)};
    HEARTH_TRY(session_.record(cmd, entry, static_cast<uint32_t>(kBatchSize), bound).status());
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = cmd;
    info.buffer = slot.loss.handle();
    info.byte_count = sizeof(float);
    info.acquire_scope = hearth_make_sync_scope(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                                VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    return session_.record_readback(info);
}

Status Loom::record_learn(const Frame& frame) {
    const std::span<int32_t> texels = slots_[frame.slot].texels.as<int32_t>();
    const uint64_t first = steps_++ * kBatchSize;
    for (size_t i = 0; i < texels.size(); ++i)
        texels[i] = static_cast<int32_t>(
            scenes::random_bits(seed_, scenes::Stream::kMinibatch, first + i) % kTexels);
    // Waits until the previous frame's pixels have read the weights that this step updates.
    device_.vk().CmdPipelineBarrier(frame.cmd, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, nullptr, 0, nullptr,
                                    0, nullptr);
    const demo::Guest::FramePath counted(*guest_);
    HEARTH_ASSIGN(const hearth_readback id, record_step(frame.cmd, frame.slot, learn_, of_learn_));
    slots_[frame.slot].arriving = id;
    return {};
}

Status Loom::record_unravel(const Frame& frame) {
    device_.vk().CmdPipelineBarrier(frame.cmd, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
                                    VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 0,
                                    nullptr);
    return session_.record_initialize(frame.cmd);
}

void Loom::record_ready(const Frame& frame) {
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    device_.vk().CmdPipelineBarrier(
        frame.cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

ClothConstants Loom::constants(Look look) const {
    return {.weights = weights_address_, .picture = picture_.address(), .look = look};
}

std::span<const uint32_t> Loom::fragment_shader() const {
    return is_cpu_ ? std::span<const uint32_t>(cloth_cpu_spv)
                   : std::span<const uint32_t>(cloth_gpu_spv);
}

Result<std::vector<std::byte>> Loom::run(
    const std::function<Result<hearth_readback>(VkCommandBuffer)>& record) {
    const auto begin_frame = [&] {
        ++serial_;
        ++ahead_;
        return guest_->context().begin_frame(serial_, serial_ - 1);
    };
    HEARTH_TRY(begin_frame());
    // Frees readbacks of earlier frames, which would take up room in the ring for many later ones.
    for (Slot& slot : slots_)
        if (slot.arriving) session_.release(*std::exchange(slot.arriving, std::nullopt));
    Result<hearth_readback> id = hearth_readback{};
    HEARTH_TRY(device_.run_compute([&](VkCommandBuffer cmd) { id = record(cmd); }));
    if (!id.ok()) return id.status();
    HEARTH_TRY(begin_frame());
    HEARTH_ASSIGN(const auto data, session_.poll(*id));
    if (!data) return internal_error("what was read back has not arrived");
    std::vector<std::byte> bytes(data->bytes.begin(), data->bytes.end());
    session_.release(*id);
    return bytes;
}

Result<double> Loom::mean_square_error() {
    double sum = 0;
    for (int64_t first = 0; first < kTexels; first += kBatchSize) {
        const std::span<int32_t> texels = slots_[0].texels.as<int32_t>();
        std::iota(texels.begin(), texels.end(), static_cast<int32_t>(first));
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, run([&](VkCommandBuffer cmd) {
                          return record_step(cmd, 0, judge_, of_judge_);
                      }));
        float error = 0;
        std::memcpy(&error, bytes.data(), sizeof error);
        sum += static_cast<double>(error);
    }
    return sum / static_cast<double>(kTexels / kBatchSize);
}

Result<uint64_t> Loom::weights_hash() {
    const uint64_t before = serial_;
    Result<uint64_t> hash = guest_->weights_hash(program_, session_.handle(), serial_);
    ahead_ += serial_ - before;
    return hash;
}

Result<std::vector<std::pair<std::string, std::vector<std::byte>>>> Loom::weights() {
    std::vector<std::pair<std::string, std::vector<std::byte>>> all;
    for (uint32_t i = 0; i < program_.info().variable_count; ++i) {
        HEARTH_ASSIGN(const hearth_variable_info slot, program_.variable(i));
        if (slot.kind != HEARTH_VARIABLE_PARAM) continue;
        HEARTH_ASSIGN(std::vector<std::byte> bytes,
                      run([&](VkCommandBuffer cmd) { return session_.record_readback(cmd, i); }));
        all.emplace_back(slot.name, std::move(bytes));
    }
    return all;
}

}  // namespace hearth::loom
