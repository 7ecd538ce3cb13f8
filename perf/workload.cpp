// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a compiled program on a device for benchmarks.

#include "workload.hpp"

#include "pipeline_statistics.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::perf {

using standalone::Buffer;
using standalone::MemoryKind;

namespace {

Shape shape_of(const hearth_dim* dims, uint32_t rank) {
    Shape shape;
    for (uint32_t i = 0; i < rank; ++i) shape.push_back(Dim(dims[i].count, dims[i].is_batch != 0));
    return shape;
}

/// Removes debug labels: shipped games have none, and each costs recording time.
std::vector<const char*> without_labels(const hearth_context_create_info& info) {
    std::vector<const char*> names(info.instance_extensions,
                                   info.instance_extensions + info.instance_extension_count);
    std::erase_if(names, [](const char* name) {
        return std::strcmp(name, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0;
    });
    return names;
}

}  // namespace

void record_full_barrier(const standalone::VulkanApi& vk, VkCommandBuffer commands) {
    VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    all.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    all.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    vk.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                          &all, 0, nullptr, 0, nullptr);
}

Result<std::unique_ptr<Workload>> Workload::create(standalone::Device& device,
                                                   const Compiled& compiled, int64_t max_batch_size,
                                                   const WorkloadOptions& options) {
    std::unique_ptr<Workload> self(new Workload(device));
    hearth_context_create_info host = device.host_info();
    const std::vector<const char*> extensions = without_labels(host);
    const hearth_get_device_proc captured = PipelineCapture::get_device_proc_addr();
    if (captured != nullptr)
        host.get_device_proc_addr = captured;
    else if (options.get_device_proc_addr != nullptr)
        host.get_device_proc_addr = options.get_device_proc_addr;
    if (!options.has_labels && captured == nullptr) {
        host.instance_extensions = extensions.data();
        host.instance_extension_count = static_cast<uint32_t>(extensions.size());
    }
    HEARTH_ASSIGN(self->context_, Context::create(host));
    HEARTH_ASSIGN(self->program_, LoadedProgram::load(self->context_, compiled.bytes));
    hearth_session_create_info info = hearth_session_create_info_default();
    info.flags = options.session_flags;
    HEARTH_ASSIGN(self->session_, Session::create(self->context_, self->program_, info));
    HEARTH_TRY(self->session_.create_pipelines());
    HEARTH_ASSIGN(self->entry_, self->program_.entry(0));
    for (uint32_t i = 0; i < self->entry_.binding_count; ++i) {
        const uint32_t index = self->entry_.bindings[i];
        HEARTH_ASSIGN(const hearth_binding_info binding, self->program_.binding(index));
        const uint64_t bytes =
            binding.bytes_fixed + binding.bytes_per_item * static_cast<uint64_t>(max_batch_size);
        HEARTH_ASSIGN(Buffer buffer,
                      Buffer::create(device, std::max<uint64_t>(bytes, 4), MemoryKind::kDevice));
        hearth_tensor_binding bound =
            hearth_bind_buffer(index, buffer.handle(), 0, buffer.size_bytes(), buffer.usage());
        bound.device_address = buffer.address();
        self->infos_.push_back(binding);
        self->bound_.push_back(bound);
        self->buffers_.push_back(std::move(buffer));
    }
    Session& session = self->session_;
    HEARTH_TRY(self->submit(
        [&](VkCommandBuffer commands) { return session.record_initialize(commands); }));
    return self;
}

Result<size_t> Workload::find_binding(const char* name) const {
    for (size_t i = 0; i < infos_.size(); ++i)
        if (std::strcmp(infos_[i].name, name) == 0) return i;
    return not_found("no binding '" + std::string(name) + "'");
}

Status Workload::begin_frame() {
    HEARTH_TRY(context_.begin_frame(serial_ + 1, serial_));
    ++serial_;
    return {};
}

Status Workload::submit(const std::function<Status(VkCommandBuffer)>& record) {
    HEARTH_TRY(begin_frame());
    Status recorded;
    HEARTH_TRY(device_.run([&](VkCommandBuffer commands) { recorded = record(commands); }));
    return recorded;
}

Status Workload::record(VkCommandBuffer commands, int64_t rows) {
    HEARTH_ASSIGN(const Progress progress,
                  session_.record(commands, 0, static_cast<uint64_t>(rows), bound_));
    return progress == Progress::kDone ? Status() : internal_error("pipelines are not ready");
}

Status Workload::transfer(const Buffer& buffer, std::span<std::byte> bytes, bool to_device) {
    const MemoryKind kind = to_device ? MemoryKind::kUpload : MemoryKind::kReadback;
    HEARTH_ASSIGN(Buffer staging, Buffer::create(device_, bytes.size(), kind));
    if (to_device) std::memcpy(staging.data(), bytes.data(), bytes.size());
    const standalone::VulkanApi& vk = device_.vk();
    HEARTH_TRY(device_.run([&](VkCommandBuffer commands) {
        record_full_barrier(vk, commands);
        const VkBufferCopy region{0, 0, bytes.size()};
        vk.CmdCopyBuffer(commands, to_device ? staging.handle() : buffer.handle(),
                         to_device ? buffer.handle() : staging.handle(), 1, &region);
        record_full_barrier(vk, commands);
    }));
    if (!to_device) std::memcpy(bytes.data(), staging.data(), bytes.size());
    return {};
}

Status Workload::set_input(const char* name, const HostTensor& value) {
    HEARTH_ASSIGN(const size_t index, find_binding(name));
    HEARTH_ASSIGN(HostTensor raw,
                  value.held_as(static_cast<DType>(infos_[index].device_dtype), name));
    if (raw.bytes().size() > buffers_[index].size_bytes())
        return invalid_argument("input '" + std::string(name) +
                                "' has more rows than the capacity");
    return transfer(buffers_[index], raw.bytes(), true);
}

Result<HostTensor> Workload::read_output(const char* name, int64_t rows) {
    HEARTH_ASSIGN(const size_t index, find_binding(name));
    const hearth_binding_info& info = infos_[index];
    HostTensor raw(static_cast<DType>(info.device_dtype),
                   shape_of(info.dims, info.rank).resolve(rows));
    HEARTH_TRY(transfer(buffers_[index], raw.bytes(), false));
    return raw.cast(static_cast<DType>(info.dtype));
}

Result<HostTensor> Workload::read_variable(const char* name) {
    HEARTH_ASSIGN(const uint32_t index, program_.find_variable(name));
    HEARTH_ASSIGN(const hearth_variable_info info, program_.variable(index));
    hearth_readback id{};
    HEARTH_TRY(submit([&](VkCommandBuffer commands) -> Status {
        HEARTH_ASSIGN(id, session_.record_readback(commands, index));
        return {};
    }));
    HEARTH_TRY(begin_frame());
    HEARTH_ASSIGN(const std::optional<ReadbackData> data, session_.poll(id));
    if (!data) return internal_error("the readback of a finished submission is not there");
    HostTensor raw(static_cast<DType>(info.device_dtype), shape_of(info.dims, info.rank));
    std::memcpy(raw.bytes().data(), data->bytes.data(), raw.bytes().size());
    session_.release(id);
    return raw.cast(static_cast<DType>(info.dtype));
}

}  // namespace hearth::perf
