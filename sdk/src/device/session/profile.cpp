// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records timestamps around recordings and commands and reads them later. The query pool is a ring
// of equal ranges, one per recording that waits to be read. A recording is not measured if all are
// used.

#include "device/session/session.hpp"

#include <algorithm>

namespace hearth::runtime {

hearth_result Session::init_profile(const hearth_session_create_info& info) {
    gpu::Device& device = context_->device();
    const bool is_measured = (flags_ & HEARTH_SESSION_MEASURE_COSTS) != 0;
    if (!(is_profile_read_by_host() || is_measured) || device.timestamp_valid_bits() == 0)
        return HEARTH_OK;
    uint32_t steps = 0;
    for (const EntryFacts& entry : entries_) steps = std::max(steps, entry.timed_steps);
    queries_per_slot_ = (flags_ & HEARTH_SESSION_PROFILE_STEPS) != 0 ? 1 + std::max(steps, 1u) : 2;

    uint32_t slots = info.profile_recordings;
    if (info.query_pool != VK_NULL_HANDLE) slots = info.query_count / queries_per_slot_;
    if (slots == 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "profile: no room for one recording, which takes %u queries",
                    queries_per_slot_);
    const Checked queries = Checked(slots) * queries_per_slot_;
    if (!queries.is_within(UINT32_MAX))
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "profile: %u recordings of %u queries each", slots,
                    queries_per_slot_);
    HostAllocator& allocator = context_->allocator();
    if (!profile_slots_.resize(allocator, slots) ||
        !timestamps_.resize(allocator, queries_per_slot_) ||
        !step_ns_.resize(allocator, queries_per_slot_) ||
        !step_labels_.resize(allocator, queries_per_slot_))
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
            return fail(r, "profile: no query pool of %u timestamps", pool.queryCount);
        owns_query_pool_ = true;
        device.set_name(VK_OBJECT_TYPE_QUERY_POOL, gpu::handle_bits(query_pool_),
                        "hearth timestamps");
    }
    if (device.has(HEARTH_FEATURE_HOST_QUERY_RESET))
        device.vk().ResetQueryPool(device.handle(), query_pool_, first_query_,
                                   static_cast<uint32_t>(queries.value()));
    return HEARTH_OK;
}

int64_t Session::begin_profile(VkCommandBuffer commands, const hearth_record_info& info,
                               Position first) {
    // Replaying a command buffer would write its timestamps again.
    if (profile_slots_.empty() || pending_profiles_ == profile_slots_.size() ||
        info.run_block != nullptr)
        return -1;
    const size_t index = (oldest_profile_ + pending_profiles_++) % profile_slots_.size();
    ProfileSlot& slot = profile_slots_[index];
    slot = {};
    slot.serial = context_->serial();
    slot.rows = info.rows;
    slot.entry = info.entry;
    slot.first = first;
    const gpu::Device& device = context_->device();
    if (!device.has(HEARTH_FEATURE_HOST_QUERY_RESET))
        device.vk().CmdResetQueryPool(
            commands, query_pool_, first_query_ + static_cast<uint32_t>(index) * queries_per_slot_,
            queries_per_slot_);
    write_timestamp(commands, static_cast<int64_t>(index));
    return static_cast<int64_t>(index);
}

void Session::write_timestamp(VkCommandBuffer commands, int64_t profile) {
    const auto index = static_cast<uint32_t>(profile);
    ProfileSlot& slot = profile_slots_[index];
    if (slot.query_count == queries_per_slot_) return;
    context_->device().vk().CmdWriteTimestamp(
        commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, query_pool_,
        first_query_ + index * queries_per_slot_ + slot.query_count++);
}

hearth_result Session::next_profile(hearth_profile& out) {
    const gpu::Device& device = context_->device();
    if (device.is_lost()) return HEARTH_ERROR_DEVICE_LOST;
    if (profile_slots_.empty() || !is_profile_read_by_host())
        return fail(HEARTH_ERROR_UNSUPPORTED, "profile: %s",
                    device.timestamp_valid_bits() == 0
                        ? "the queue family has no timestamps"
                        : "the session was created without a profile flag");
    while (pending_profiles_ > 0) {
        const ProfileSlot& slot = profile_slots_[oldest_profile_];
        if (!slot.is_dropped && slot.serial > context_->completed_serial()) break;
        const hearth_result result =
            slot.is_dropped ? HEARTH_NOT_READY : read_timestamps(oldest_profile_);
        if (result == HEARTH_OK) report_profile(slot, out);
        free_oldest_profile();
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
        profile_slots_[index].query_count, timestamps_.size() * 8, timestamps_.data(), 8,
        VK_QUERY_RESULT_64_BIT);
    if (result == VK_NOT_READY) return HEARTH_NOT_READY;
    if (result != VK_SUCCESS) return fail(device.check(result), "profile: cannot read timestamps");
    return HEARTH_OK;
}

void Session::free_oldest_profile() {
    const gpu::Device& device = context_->device();
    if (device.has(HEARTH_FEATURE_HOST_QUERY_RESET))
        device.vk().ResetQueryPool(device.handle(), query_pool_,
                                   first_query_ + oldest_profile_ * queries_per_slot_,
                                   queries_per_slot_);
    oldest_profile_ = (oldest_profile_ + 1) % static_cast<uint32_t>(profile_slots_.size());
    --pending_profiles_;
    metered_profiles_ -= std::min(metered_profiles_, 1u);
}

double Session::elapsed_ns(uint32_t from, uint32_t to) const {
    const gpu::Device& device = context_->device();
    const uint32_t bits = device.timestamp_valid_bits();
    const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    return static_cast<double>((timestamps_[to] - timestamps_[from]) & mask) *
           static_cast<double>(device.limits().timestampPeriod);
}

void Session::report_profile(const ProfileSlot& slot, hearth_profile& out) {
    out.serial = slot.serial;
    out.rows = slot.rows;
    out.entry = slot.entry;
    out.first_step = slot.first.step;
    out.first_part = slot.first.part;
    out.end_step = slot.end.step;
    out.end_part = slot.end.part;
    out.total_ns = elapsed_ns(0, slot.query_count - 1);
    if (slot.is_whole) {
        entries_[slot.entry].measured_ns = out.total_ns;
        entries_[slot.entry].measured_rows = slot.rows;
    }
    out.step_count = 0;
    if ((flags_ & HEARTH_SESSION_PROFILE_STEPS) != 0) {
        const std::span<const file::StepRecord> steps =
            view().steps_of(view().entries()[slot.entry]);
        for (size_t i = slot.first.step; out.step_count + 1 < slot.query_count; ++i) {
            if (steps[i].kind == static_cast<uint32_t>(StepKind::kBarrier)) continue;
            step_ns_[out.step_count] = elapsed_ns(out.step_count, out.step_count + 1);
            step_labels_[out.step_count] = view().text(steps[i].label);
            ++out.step_count;
        }
    }
    out.step_ns = step_ns_.data();
    out.step_labels = step_labels_.data();
}

}  // namespace hearth::runtime
