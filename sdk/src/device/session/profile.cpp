// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records timestamps around recordings and commands and reads them later. The query pool is a ring
// of equal ranges, one per recording that waits to be read. A recording is not measured if all are
// used.

#include "device/session/session.hpp"

#include <algorithm>

namespace hearth::runtime {

hearth_result Session::init_timings(const hearth_session_create_info& info) {
    gpu::Device& device = context_->device();
    const bool is_measured = (flags_ & HEARTH_SESSION_COLLECT_GPU_TIMINGS) != 0;
    if (!(is_timings_read_by_host() || is_measured) || device.timestamp_valid_bits() == 0)
        return HEARTH_OK;
    uint32_t commands = 0;
    for (const EntryFacts& entry : entries_) commands = std::max(commands, entry.timed_commands);
    queries_per_slot_ =
        (flags_ & HEARTH_SESSION_TIMESTAMP_COMMANDS) != 0 ? 1 + std::max(commands, 1u) : 2;

    uint32_t variables = info.max_pending_timings;
    if (info.query_pool != VK_NULL_HANDLE) variables = info.query_count / queries_per_slot_;
    if (variables == 0)
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "timings: no room for one recording, which takes %u queries; raise max_pending_timings",
            queries_per_slot_);
    const Checked queries = Checked(variables) * queries_per_slot_;
    if (!queries.is_within(UINT32_MAX))
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "timings: %u recordings of %u queries each exceed 2^32 queries; lower "
                    "max_pending_timings",
                    variables, queries_per_slot_);
    HostAllocator& allocator = context_->allocator();
    if (!timings_slots_.resize(allocator, variables) ||
        !timestamps_.resize(allocator, queries_per_slot_) ||
        !command_ns_.resize(allocator, queries_per_slot_) ||
        !command_labels_.resize(allocator, queries_per_slot_))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    query_pool_ = info.query_pool;
    first_query_ = info.first_query;
    if (query_pool_ == VK_NULL_HANDLE) {
        first_query_ = 0;
        VkQueryPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
        pool.queryType = VK_QUERY_TYPE_TIMESTAMP;
        pool.queryCount = static_cast<uint32_t>(queries.value());
        if (const hearth_result r = device.check(device.vk().CreateQueryPool(
                device.handle(), &pool, device.callbacks(), &query_pool_));
            r != HEARTH_OK)
            return fail(
                r,
                "timings: cannot create a query pool of %u timestamps; lower max_pending_timings",
                pool.queryCount);
        owns_query_pool_ = true;
        device.set_name(VK_OBJECT_TYPE_QUERY_POOL, gpu::handle_bits(query_pool_),
                        "hearth timestamps");
    }
    if (device.has(HEARTH_FEATURE_HOST_QUERY_RESET))
        device.vk().ResetQueryPool(device.handle(), query_pool_, first_query_,
                                   static_cast<uint32_t>(queries.value()));
    return HEARTH_OK;
}

int64_t Session::begin_timings(VkCommandBuffer commands, const hearth_record_info& info,
                               Position first) {
    // Replaying a command buffer would write its timestamps again.
    if (timings_slots_.empty() || pending_timings_ == timings_slots_.size() ||
        info.indirect_batch_buffer != nullptr)
        return -1;
    const size_t index = (oldest_timings_ + pending_timings_++) % timings_slots_.size();
    TimingSlot& variable = timings_slots_[index];
    variable = {};
    variable.frame_number = context_->frame_number();
    variable.rows = info.batch_size;
    variable.entry = info.entry;
    variable.first = first;
    const gpu::Device& device = context_->device();
    if (!device.has(HEARTH_FEATURE_HOST_QUERY_RESET))
        device.vk().CmdResetQueryPool(
            commands, query_pool_, first_query_ + static_cast<uint32_t>(index) * queries_per_slot_,
            queries_per_slot_);
    write_timestamp(commands, static_cast<int64_t>(index));
    return static_cast<int64_t>(index);
}

void Session::write_timestamp(VkCommandBuffer commands, int64_t timings) {
    const auto index = static_cast<uint32_t>(timings);
    TimingSlot& variable = timings_slots_[index];
    if (variable.query_count == queries_per_slot_) return;
    context_->device().vk().CmdWriteTimestamp(
        commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, query_pool_,
        first_query_ + index * queries_per_slot_ + variable.query_count++);
}

hearth_result Session::next_timings(hearth_timings& out) {
    const gpu::Device& device = context_->device();
    if (device.is_lost()) return fail_lost(*this, "next_timings");
    if (timings_slots_.empty() || !is_timings_read_by_host())
        return fail(HEARTH_ERROR_UNSUPPORTED, "profile: %s",
                    device.timestamp_valid_bits() == 0
                        ? "the queue family has no timestamps; use one with timestampValidBits > 0"
                        : "the session was created without HEARTH_SESSION_TIMESTAMP_RUNS or "
                          "HEARTH_SESSION_TIMESTAMP_COMMANDS");
    while (pending_timings_ > 0) {
        const TimingSlot& variable = timings_slots_[oldest_timings_];
        if (!variable.is_dropped && variable.frame_number > context_->completed_frame_number())
            break;
        const hearth_result result =
            variable.is_dropped ? HEARTH_NOT_READY : read_timestamps(oldest_timings_);
        if (result == HEARTH_OK) report_timings(variable, out);
        free_oldest_timings();
        // Skips recordings that were never executed: their timestamps will never be available.
        if (result != HEARTH_NOT_READY) return result;
    }
    return HEARTH_NOT_READY;
}

hearth_result Session::read_timestamps(size_t index) {
    gpu::Device& device = context_->device();
    const VkResult result = device.vk().GetQueryPoolResults(
        device.handle(), query_pool_,
        first_query_ + static_cast<uint32_t>(index) * queries_per_slot_,
        timings_slots_[index].query_count, timestamps_.size() * 8, timestamps_.data(), 8,
        VK_QUERY_RESULT_64_BIT);
    if (result == VK_NOT_READY) return HEARTH_NOT_READY;
    if (result != VK_SUCCESS)
        return fail(device.check(result), "timings: cannot read the timestamps");
    return HEARTH_OK;
}

void Session::free_oldest_timings() {
    const gpu::Device& device = context_->device();
    if (device.has(HEARTH_FEATURE_HOST_QUERY_RESET))
        device.vk().ResetQueryPool(device.handle(), query_pool_,
                                   first_query_ + oldest_timings_ * queries_per_slot_,
                                   queries_per_slot_);
    oldest_timings_ = (oldest_timings_ + 1) % static_cast<uint32_t>(timings_slots_.size());
    --pending_timings_;
    metered_timings_ -= std::min(metered_timings_, 1u);
}

double Session::elapsed_ns(uint32_t from, uint32_t to) const {
    const gpu::Device& device = context_->device();
    const uint32_t bits = device.timestamp_valid_bits();
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return static_cast<double>((timestamps_[to] - timestamps_[from]) & mask) *
           static_cast<double>(device.limits().timestampPeriod);
}

void Session::report_timings(const TimingSlot& variable, hearth_timings& out) {
    out.frame_number = variable.frame_number;
    out.batch_size = variable.rows;
    out.entry = variable.entry;
    out.first_command = variable.first.command;
    out.first_sub_dispatch = variable.first.part;
    out.end_command = variable.end.command;
    out.end_sub_dispatch = variable.end.part;
    out.total_ns = elapsed_ns(0, variable.query_count - 1);
    if (variable.is_whole) {
        entries_[variable.entry].measured_ns = out.total_ns;
        entries_[variable.entry].measured_rows = variable.rows;
    }
    out.command_count = 0;
    if ((flags_ & HEARTH_SESSION_TIMESTAMP_COMMANDS) != 0) {
        const std::span<const file::CommandRecord> commands =
            view().commands_of(view().entries()[variable.entry]);
        for (size_t i = variable.first.command; out.command_count + 1 < variable.query_count; ++i) {
            if (commands[i].kind == static_cast<uint32_t>(CommandKind::kBarrier)) continue;
            command_ns_[out.command_count] = elapsed_ns(out.command_count, out.command_count + 1);
            command_labels_[out.command_count] = view().text(commands[i].label);
            ++out.command_count;
        }
    }
    out.command_ns = command_ns_.data();
    out.command_labels = command_labels_.data();
}

}  // namespace hearth::runtime
