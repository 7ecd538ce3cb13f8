// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Copies variables in and out: initial values, uploads, readbacks. All are recorded copies through
// host-visible memory of the session; nothing blocks.

#include "device/session/session.hpp"

#include <algorithm>

namespace hearth::runtime {

namespace {

constexpr size_t kCopiesAtOnce = 32;

unsigned long long wide(uint64_t value) {
    return value;
}

}  // namespace

hearth_result Session::check_transfer(VkCommandBuffer commands, const char* what) {
    if (context_->device().is_lost()) return fail_lost(*this, what);
    if (context_->frame_number() == 0)
        return fail(HEARTH_ERROR_INVALID_STATE, "%s: call hearth_begin_frame first", what);
    if (commands == VK_NULL_HANDLE)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "%s: command_buffer is null, expected one in the recording state", what);
    return HEARTH_OK;
}

/// Makes everything recorded earlier finished and visible to the copies that follow.
void Session::transfer_barrier(VkCommandBuffer commands, gpu::Scope also_before) {
    gpu::Scope before = earlier_scope();
    before |= also_before;
    gpu::record_barrier(context_->device(), commands, before, gpu::kTransferScope);
    has_recorded_ = true;
}

hearth_result Session::record_setup(VkCommandBuffer commands) {
    if (const hearth_result r = check_transfer(commands, "initialize"); r != HEARTH_OK) return r;
    const gpu::Buffer& weights = buffers_[kWeightsBuffer];
    const gpu::Buffer& initial = buffers_[kInitialBuffer];
    bool had_initial = false;
    for_each_initial(view(), [&](const file::VariableRecord&, uint64_t) { had_initial = true; });
    if (had_initial && initial.handle == VK_NULL_HANDLE)
        return fail(HEARTH_ERROR_INVALID_STATE,
                    "initialize: the initial weights were freed after the first initialization; "
                    "create the session with HEARTH_SESSION_KEEP_INITIAL_WEIGHTS");
    const gpu::Device& device = context_->device();
    if (weights.handle != VK_NULL_HANDLE) {
        transfer_barrier(commands);
        device.vk().CmdFillBuffer(commands, weights.handle, 0, VK_WHOLE_SIZE, 0);
    }
    if (had_initial) {
        gpu::record_barrier(device, commands, gpu::kTransferScope, gpu::kTransferScope);
        VkBufferCopy regions[kCopiesAtOnce];
        uint32_t count = 0;
        const auto flush = [&] {
            if (count > 0)
                device.vk().CmdCopyBuffer(commands, initial.handle, weights.handle, count, regions);
            count = 0;
        };
        for_each_initial(view(), [&](const file::VariableRecord& variable, uint64_t at) {
            regions[count++] = {at, variable.offset, variable.bytes};
            if (count == kCopiesAtOnce) flush();
        });
        flush();
    }
    has_recorded_ = true;
    abandon_slices();
    if (setup_frame_number_ != context_->frame_number()) earlier_setup_ = setup_frame_number_;
    setup_frame_number_ = context_->frame_number();
    return HEARTH_OK;
}

hearth_result Session::fail_without_setup(const char* what) {
    if (dropped_setups_ == 0)
        return fail(HEARTH_ERROR_INVALID_STATE, "%s: call hearth_record_initialize first", what);
    return fail(
        HEARTH_ERROR_INVALID_STATE,
        "%s: call hearth_record_initialize again; the previous one was in a discarded frame", what);
}

hearth_result Session::record_upload(VkCommandBuffer commands, uint32_t variable, uint64_t offset,
                                     const void* data, uint64_t bytes) {
    if (const hearth_result r = check_transfer(commands, "update_variable"); r != HEARTH_OK)
        return r;
    if (!is_set_up()) return fail_without_setup("update_variable");
    if (variable >= view().variables().size())
        return fail(HEARTH_ERROR_NOT_FOUND,
                    "update_variable: variable is %u, expected less than %zu", variable,
                    view().variables().size());
    const file::VariableRecord& record = view().variables()[variable];
    const uint32_t element =
        size_bytes(device_dtype(static_cast<DType>(record.dtype), view().storage()));
    if (data == nullptr)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "update_variable %s: data is null",
                    view().text(record.name));
    if (bytes == 0 || bytes % element != 0 || offset % element != 0)
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "update_variable %s: [%llu, +%llu), expected offset and size in multiples of %u",
            view().text(record.name), wide(offset), wide(bytes), element);
    if (offset > record.bytes || bytes > record.bytes - offset)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "update_variable %s: [%llu, +%llu) exceeds its %llu bytes",
                    view().text(record.name), wide(offset), wide(bytes), wide(record.bytes));
    const int64_t segment = upload_ring_.allocate(bytes, context_->frame_number(), false,
                                                  context_->completed_frame_number(), variable);
    if (segment < 0)
        return fail(HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
                    "update_variable %s: no room for %llu bytes in the upload ring; raise "
                    "hearth_session_create_info::upload_bytes or upload_count, or wait for frames "
                    "to complete",
                    view().text(record.name), wide(bytes));
    const uint64_t from = upload_ring_.segment(static_cast<size_t>(segment)).offset;
    const gpu::Buffer& staging = buffers_[kUploadBuffer];
    std::memcpy(staging.mapped + from, data, bytes);
    const gpu::Device& device = context_->device();
    transfer_barrier(commands);
    const VkBufferCopy region{from, record.offset + offset, bytes};
    device.vk().CmdCopyBuffer(commands, staging.handle, buffers_[kWeightsBuffer].handle, 1,
                              &region);
    return HEARTH_OK;
}

/// Resolves a region of a readback to a memory range, and adds the scope to wait for to `before`.
hearth_result Session::resolve_part(const hearth_readback_region& part, const char* what,
                                    CopySource& out, gpu::Scope& before) {
    if (part.buffer != VK_NULL_HANDLE) {
        if (part.byte_count == 0)
            return fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: byte_count is 0, expected 1 or more",
                        what);
        out = {part.buffer, part.offset, part.byte_count};
        before |= {part.acquire_scope.stages, part.acquire_scope.access};
        return HEARTH_OK;
    }
    if (!is_set_up()) return fail_without_setup(what);
    if (part.variable >= view().variables().size())
        return fail(HEARTH_ERROR_NOT_FOUND, "%s: variable is %u, expected less than %zu", what,
                    part.variable, view().variables().size());
    const file::VariableRecord& record = view().variables()[part.variable];
    uint64_t bytes = part.byte_count;
    if (part.offset <= record.bytes && bytes == 0) bytes = record.bytes - part.offset;
    if (part.offset > record.bytes || bytes > record.bytes - part.offset)
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "%s of %s: [%llu, +%llu) exceeds its %llu bytes",
                    what, view().text(record.name), wide(part.offset), wide(bytes),
                    wide(record.bytes));
    if (bytes == 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: byte_count is 0, expected 1 or more", what);
    out = {buffers_[kWeightsBuffer].handle, record.offset + part.offset, bytes};
    return HEARTH_OK;
}

hearth_result Session::record_readback(const hearth_readback_info& info, hearth_readback* out) {
    if (const hearth_result r = check_transfer(info.command_buffer, "readback"); r != HEARTH_OK)
        return r;
    const hearth_readback_region only{info.buffer, info.variable,   0,
                                      info.offset, info.byte_count, info.acquire_scope};
    const bool has_parts = info.region_count > 0;
    if (has_parts && info.regions == nullptr)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "readback: region_count is %u, but regions is null", info.region_count);
    const std::span<const hearth_readback_region> parts(has_parts ? info.regions : &only,
                                                        has_parts ? info.region_count : 1);
    // Resolved twice, to count and to copy, so that no list has to be kept.
    gpu::Scope before;
    CopySource source;
    Checked bytes = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
        FixedText<40> what;
        what.set("readback");
        if (has_parts) what.append(", region %zu", i);
        if (const hearth_result r = resolve_part(parts[i], what.c_str(), source, before);
            r != HEARTH_OK)
            return r;
        bytes += source.bytes;
    }
    if (!bytes.fits())
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "readback: the regions together exceed 2^64 bytes");
    Readback* readback = nullptr;
    if (const hearth_result r = begin_readback(bytes.value(), &readback); r != HEARTH_OK) return r;
    transfer_barrier(info.command_buffer, before);
    uint64_t to = readback_ring_.segment(readback->segment).offset;
    const gpu::DeviceFunctions& vk = context_->device().vk();
    VkBufferCopy regions[kCopiesAtOnce];
    VkBuffer from = VK_NULL_HANDLE;
    uint32_t count = 0;
    const auto flush = [&] {
        if (count > 0)
            vk.CmdCopyBuffer(info.command_buffer, from, buffers_[kReadbackBuffer].handle, count,
                             regions);
        count = 0;
    };
    for (const hearth_readback_region& part : parts) {
        (void)resolve_part(part, "readback", source, before);
        if (source.buffer != from || count == kCopiesAtOnce) flush();
        from = source.buffer;
        regions[count++] = {source.offset, to, source.bytes};
        to += source.bytes;
    }
    flush();
    *out = finish_readback(info.command_buffer, *readback);
    return HEARTH_OK;
}

hearth_result Session::begin_readback(uint64_t bytes, Readback** readback) {
    const auto free_variable = std::find_if(readbacks_.begin(), readbacks_.end(),
                                            [](const Readback& r) { return !r.is_active; });
    const int64_t segment = free_variable == readbacks_.end()
                                ? -1
                                : readback_ring_.allocate(bytes, context_->frame_number(), true,
                                                          context_->completed_frame_number());
    if (segment < 0)
        return fail(
            HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
            "readback: no room for %llu bytes; raise hearth_session_create_info::readback_bytes or "
            "readback_count, or poll earlier readbacks",
            wide(bytes));
    free_variable->is_active = true;
    free_variable->snapshot.reset();
    ++free_variable->generation;
    free_variable->segment = static_cast<uint32_t>(segment);
    free_variable->bytes = bytes;
    free_variable->frame_number = context_->frame_number();
    free_variable->is_dropped = false;
    *readback = free_variable;
    return HEARTH_OK;
}

/// Makes the copies visible to the host and returns the request's id.
hearth_readback Session::finish_readback(VkCommandBuffer commands, const Readback& readback) {
    gpu::record_barrier(context_->device(), commands,
                        {VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT},
                        gpu::kHostReadScope);
    return uint64_t{readback.generation} << 32 |
           static_cast<uint64_t>(&readback - readbacks_.begin() + 1);
}

hearth_result Session::poll(hearth_readback id, const void** data, uint64_t* bytes,
                            uint64_t* frame_number) {
    if (context_->device().is_lost()) return fail_lost(*this, "readback_poll");
    const uint64_t index = (id & 0xffffffffu) - 1;
    if (index >= readbacks_.size() || !readbacks_[index].is_active ||
        readbacks_[index].generation != id >> 32)
        return fail(
            HEARTH_ERROR_NOT_FOUND,
            "readback %llx is not in flight; each readback can be polled until it has arrived",
            wide(id));
    const Readback& readback = readbacks_[index];
    if (readback.is_dropped)
        return fail(HEARTH_ERROR_DISCARDED,
                    "readback: its frame, number %llu, was discarded; record it again",
                    wide(readback.frame_number));
    if (readback.frame_number > context_->completed_frame_number()) return HEARTH_NOT_READY;
    std::byte* bytes_read =
        buffers_[kReadbackBuffer].mapped + readback_ring_.segment(readback.segment).offset;
    if (readback.snapshot) clear_gaps(*readback.snapshot, bytes_read);
    *data = bytes_read;
    *bytes = readback.bytes;
    *frame_number = readback.frame_number;
    return HEARTH_OK;
}

hearth_result Session::record_copy_variables(Session& from, VkCommandBuffer commands,
                                             std::span<const uint32_t> variables) {
    if (const hearth_result r = check_transfer(commands, "copy_variables"); r != HEARTH_OK)
        return r;
    if (&from == this || from.program_ != program_)
        return fail(
            HEARTH_ERROR_INCOMPATIBLE, "copy_variables: %s",
            &from == this
                ? "from and to are the same session"
                : "the sessions have different programs; expected the same program in both");
    if (!is_set_up() || !from.is_set_up()) return fail_without_setup("copy_variables");
    for (const uint32_t variable : variables)
        if (variable >= view().variables().size())
            return fail(HEARTH_ERROR_NOT_FOUND,
                        "copy_variables: variable is %u, expected less than %zu", variable,
                        view().variables().size());
    from.transfer_barrier(commands, earlier_scope());
    has_recorded_ = true;
    const gpu::DeviceFunctions& vk = context_->device().vk();
    VkBufferCopy regions[kCopiesAtOnce];
    uint32_t count = 0;
    const auto flush = [&] {
        if (count > 0)
            vk.CmdCopyBuffer(commands, from.buffers_[kWeightsBuffer].handle,
                             buffers_[kWeightsBuffer].handle, count, regions);
        count = 0;
    };
    for (const uint32_t variable : variables) {
        const file::VariableRecord& record = view().variables()[variable];
        if (record.bytes == 0) continue;
        regions[count++] = {record.offset, record.offset, record.bytes};
        if (count == kCopiesAtOnce) flush();
    }
    flush();
    return HEARTH_OK;
}

hearth_result Session::record_queue_transfer(VkCommandBuffer commands, uint32_t from_family,
                                             uint32_t to_family) {
    if (const hearth_result r = check_transfer(commands, "queue_transfer"); r != HEARTH_OK)
        return r;
    const gpu::Device& device = context_->device();
    for (uint32_t* const family : {&from_family, &to_family})
        if (*family == HEARTH_QUEUE_FAMILY_SAME) *family = device.queue_family();
    if (from_family == to_family) return HEARTH_OK;
    gpu::OwnershipTransfer transfers[kBufferCount];
    size_t count = 0;
    for (const gpu::Buffer& buffer : buffers_)
        if (buffer.handle != VK_NULL_HANDLE)
            transfers[count++] = {buffer.handle,       0,         VK_WHOLE_SIZE,
                                  from_family,         to_family, gpu::kRecordingScope,
                                  gpu::kRecordingScope};
    gpu::record_barrier(device, commands, gpu::kRecordingScope, gpu::kRecordingScope,
                        {transfers, count});
    return HEARTH_OK;
}

void Session::release(hearth_readback id) {
    const uint64_t index = (id & 0xffffffffu) - 1;
    if (index >= readbacks_.size() || !readbacks_[index].is_active ||
        readbacks_[index].generation != id >> 32)
        return;
    // The ring keeps the bytes of a pending copy until its frame number completes.
    readback_ring_.release(readbacks_[index].segment);
    readbacks_[index].is_active = false;
}

}  // namespace hearth::runtime
