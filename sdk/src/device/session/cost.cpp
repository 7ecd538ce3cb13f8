// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures the GPU time of recordings, and derives slice limits in microseconds from it.

#include "device/session/session.hpp"

#include <algorithm>

namespace hearth::runtime {

namespace {

/// Assumed speed before anything is measured. It is lower than most devices', because a first slice
/// that is too long causes a stutter, and one that is too short does not.
struct Speed {
    double us_per_command, flops_per_us, bytes_per_us;
};
constexpr Speed kSmallGpu{2, 5e5, 3e4}, kCpu{10, 5e3, 5e3};

const Speed& speed_of(const hearth_device_caps& caps) {
    const bool is_cpu =
        caps.device_type == VK_PHYSICAL_DEVICE_TYPE_CPU || caps.cpu_isa != HEARTH_CPU_ISA_NONE;
    return is_cpu ? kCpu : kSmallGpu;
}

unsigned long long wide(uint64_t value) {
    return value;
}

}  // namespace

hearth_result Session::init_costs() {
    if ((flags_ & HEARTH_SESSION_COLLECT_GPU_TIMINGS) == 0) return HEARTH_OK;
    HostAllocator& allocator = context_->allocator();
    size_t commands = 0;
    for (const file::EntryRecord& entry : view().entries()) commands += entry.commands.count;
    if (!costs_.resize(allocator, entries_.size()) || !command_costs_.resize(allocator, commands))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    std::span<CostMeter::Command> left = command_costs_;
    for (size_t e = 0; e < costs_.size(); ++e) {
        const std::span<const file::CommandRecord> records =
            view().commands_of(view().entries()[e]);
        const std::span<CostMeter::Command> own = left.first(records.size());
        left = left.subspan(records.size());
        for (size_t i = 0; i < own.size(); ++i)
            own[i].is_barrier = records[i].kind == static_cast<uint32_t>(CommandKind::kBarrier);
        costs_[e].meter.set_up(own);
        (void)meter(static_cast<uint32_t>(e), view().header().max_batch_size);
        for (CostMeter::Command& command : own)
            command.us = command.is_barrier ? 0 : command.estimate;
    }
    return HEARTH_OK;
}

/// Returns the meter for this batch size. The cost of a command at a batch size that was not
/// measured is bounded from above: scaled linearly for larger batches, unchanged for smaller ones.
CostMeter& Session::meter(uint32_t e, uint64_t rows) {
    EntryCost& cost = costs_[e];
    if (cost.rows == rows) return cost.meter;
    const double factor =
        cost.rows == 0 ? 1.0
                       : std::max(1.0, static_cast<double>(rows) / static_cast<double>(cost.rows));
    cost.rows = rows;
    uint32_t index = 0;
    for (const file::CommandRecord& command : view().commands_of(view().entries()[e])) {
        const uint32_t at = index++;
        if (command.kind == static_cast<uint32_t>(CommandKind::kBarrier)) continue;
        const Grid grid = grid_at(command, rows);
        const bool is_dispatch = command.kind == static_cast<uint32_t>(CommandKind::kDispatch);
        cost.meter.rescale(at, factor, estimate_us(command, rows),
                           is_divisible(command) ? grid.part_count() : 1,
                           is_dispatch ? grid.workgroups(grid.part_count()).or_most() : 0);
    }
    return cost.meter;
}

/// Estimates a command's time from its flops and bytes, which are given for the maximum batch size,
/// scaled by its grid or byte count at `rows`.
double Session::estimate_us(const file::CommandRecord& command, uint64_t rows) const {
    const uint64_t most_rows = view().header().max_batch_size;
    double share = 1;
    if (command.kind == static_cast<uint32_t>(CommandKind::kDispatch)) {
        const auto workgroups = [&](uint64_t r) {
            const Grid grid = grid_at(command, r);
            return static_cast<double>(grid.workgroups(grid.part_count()).or_most());
        };
        if (const double most = workgroups(most_rows); most > 0) share = workgroups(rows) / most;
    } else if (command.operands.count > 0) {
        const file::ExtentRecord& bytes = view().operands_of(command)[0].bytes;
        if (const uint64_t most = extent_at(bytes, most_rows); most > 0)
            share = static_cast<double>(extent_at(bytes, rows)) / static_cast<double>(most);
    }
    const Speed& speed = speed_of(context_->device().caps());
    return speed.us_per_command +
           share * std::max(static_cast<double>(command.flops) / speed.flops_per_us,
                            static_cast<double>(command.bytes_moved) / speed.bytes_per_us);
}

void Session::limit_by_costs(hearth_record_info& info, Position first) {
    CostMeter& meter = this->meter(info.entry, info.batch_size);
    meter.set_budget(info.gpu_time_budget_us);
    Limits limits = meter.within(first, info.gpu_time_budget_us);
    if (limits.is_nothing()) limits = meter.least(first);
    const auto lower = [](uint32_t& limit, uint32_t most) {
        if (most != 0 && (limit == 0 || most < limit)) limit = most;
    };
    lower(info.max_dispatches, limits.dispatches);
    lower(info.max_workgroups, limits.workgroups);
}

void Session::limit_by_context(hearth_record_info& info, Position first) {
    const double us = context_->max_slice_us();
    if (us == 0) return;
    if (!costs_.empty()) {
        info.gpu_time_budget_us = us;
        return limit_by_costs(info, first);
    }
    const Speed& speed = speed_of(context_->device().caps());
    const auto most = [&](double per_us) {
        return std::max<uint64_t>(1, static_cast<uint64_t>(std::min(us * per_us, 1e18)));
    };
    info.max_flops = most(speed.flops_per_us);
    info.max_bytes_moved = most(speed.bytes_per_us);
}

void Session::measure_costs() {
    if (costs_.empty() || timings_slots_.empty()) return;
    while (metered_timings_ < pending_timings_) {
        const size_t index = (oldest_timings_ + metered_timings_) % timings_slots_.size();
        const TimingSlot& variable = timings_slots_[index];
        if (!variable.is_dropped && variable.frame_number > context_->completed_frame_number())
            return;
        if (!variable.is_dropped && read_timestamps(index) == HEARTH_OK)
            meter(variable.entry, variable.rows)
                .measure(variable.first, variable.end,
                         elapsed_ns(0, variable.query_count - 1) * 1e-3);
        ++metered_timings_;
        if (!is_timings_read_by_host()) free_oldest_timings();
    }
}

hearth_result Session::predict(uint32_t e, uint64_t rows, const hearth_run_cursor* cursor,
                               double& us) {
    if (costs_.empty())
        return fail(
            HEARTH_ERROR_UNSUPPORTED,
            "estimate_gpu_time: create the session with HEARTH_SESSION_COLLECT_GPU_TIMINGS");
    if (e >= entries_.size())
        return fail(HEARTH_ERROR_NOT_FOUND,
                    "estimate_gpu_time: entry is %u, expected less than %zu", e, entries_.size());
    const char* name = view().text(view().entries()[e].name);
    if (rows == 0 || rows > view().header().max_batch_size)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "estimate_gpu_time: entry %s: the batch size is %llu, expected 1..%llu", name,
                    wide(rows), wide(view().header().max_batch_size));
    Position first;
    if (cursor != nullptr) first = {cursor->next_command, cursor->next_sub_dispatch};
    if (!first.is_start() && !is_own(*cursor, e, rows))
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "estimate_gpu_time: entry %s: the cursor is of another entry or batch size; "
                    "pass the one of the previous slice, or a zeroed one to start",
                    name);
    const CostMeter& meter = this->meter(e, rows);
    us = meter.us(first, meter.end());
    return HEARTH_OK;
}

}  // namespace hearth::runtime
