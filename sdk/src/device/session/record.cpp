// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records commands into a VkCommandBuffer. prepare() checks everything and may fail. Recording then
// cannot fail: it neither allocates nor locks, and calls the driver only to record (and to get
// buffer addresses).
//
// A recording consists of (items in brackets only if needed):
//   leading barrier    from the session's earlier work and each binding's `before` to this work
//   [copies in]        host buffers that kernels cannot access and large values; first slice only
//   commands           to the end, to a barrier at which the slice stops, or to a cut between two
//                      barriers
//   [copies out]       last slice only
//   closing barrier    from this work to each binding's `after`
// The leading barrier replaces the program's barrier at which the previous slice stopped. Commands
// between two barriers are independent of each other, and so are the workgroups of a dispatch.

#include "core/checked.hpp"
#include "device/session/dump.hpp"
#include "device/session/session.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>
#include <iterator>

namespace hearth::runtime {

namespace {

constexpr uint64_t kRunBlockAlignment = 256;
constexpr uint64_t kInlineAlignment = 256;
/// Kernels may load four words at once from any binding.
constexpr uint64_t kAddressAlignment = 16;

unsigned long long wide(uint64_t value) {
    return value;
}

gpu::Scope to_scope(const hearth_sync_scope& scope) {
    return {scope.stages, scope.access};
}

Position position_of(const hearth_run_cursor& cursor) {
    return {cursor.next_command, cursor.next_sub_dispatch};
}

bool is_limited(const hearth_record_info& info) {
    return (info.max_dispatches | info.max_workgroups | info.max_flops | info.max_bytes_moved) !=
               0 ||
           info.gpu_time_budget_us > 0;
}

}  // namespace

/// Records one slice of a prepared recording.
class Recorder {
  public:
    /// dump: where to copy inputs and results, or null.
    Recorder(Session& session, const hearth_record_info& info, const Session::DumpTarget* dump)
        : session_(session),
          view_(session.view()),
          device_(session.context_->device()),
          info_(info),
          commands_(info.command_buffer),
          entry_(view_.entries()[info.entry]),
          dump_(dump) {}

    /// Records from `first` on. Returns where to continue, or the start if the entry is complete.
    Position record(Position first) {
        gpu::begin_label(device_, commands_, session_.name_.c_str());
        gpu::begin_label(device_, commands_, view_.text(entry_.name));
        leading_barrier();
        if (first.is_start()) copy_shadows(/*in=*/true);
        copy_dump({DumpPart::kVariableBefore, DumpPart::kInput});
        timings_ = session_.begin_timings(commands_, info_, first);
        occupy(info_.occupancy_priority);
        const Position next = record_commands(first);
        occupy(gpu::kNormalOccupancyPriority);
        copy_dump({DumpPart::kOutput, DumpPart::kVariableAfter});
        if (next.is_start()) copy_shadows(/*in=*/false);
        if (timings_ >= 0 && !has_command_times()) session_.write_timestamp(commands_, timings_);
        if (timings_ >= 0) {
            Session::TimingSlot& variable = session_.timings_slots_[static_cast<size_t>(timings_)];
            variable.is_whole = first.is_start() && next.is_start();
            variable.end = next.is_start() ? Position{entry_.commands.count} : next;
        }
        closing_barrier();
        gpu::end_label(device_, commands_);
        gpu::end_label(device_, commands_);
        return next;
    }

  private:
    struct Place {
        VkBuffer buffer;
        uint64_t offset;
        uint64_t address;
    };
    /// Cost of commands and of sub-dispatches.
    struct Cost {
        uint64_t dispatches = 0, workgroups = 0, flops = 0, bytes_moved = 0;
    };

    /// Stages and accesses of everything in this recording.
    gpu::Scope work_scope() const {
        gpu::Scope scope = session_.entries_[info_.entry].scope;
        if (has_shadows() || dump_ != nullptr) scope |= gpu::kTransferScope;
        // An entry without commands still orders its bindings.
        return scope.stages != 0 ? scope : gpu::kComputeScope;
    }
    /// Sets the occupancy priority; no-op if the recording keeps the application's.
    void occupy(float priority) {
        if (info_.occupancy_priority == 0 ||
            !device_.has(HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY))
            return;
        gpu::NvOccupancyPriorityParameters parameters{};
        parameters.sType = gpu::kNvOccupancyPriorityParametersType;
        parameters.occupancyPriority = priority;
        device_.vk().CmdSetComputeOccupancyPriorityNV(commands_, &parameters);
    }
    bool has_command_times() const {
        return (session_.flags_ & HEARTH_SESSION_TIMESTAMP_COMMANDS) != 0;
    }
    bool has_shadows() const {
        for (uint32_t binding : view_.bindings_of(entry_))
            if (session_.resolved_[binding].is_shadow) return true;
        return false;
    }

    void leading_barrier() {
        edge_barrier(session_.earlier_scope(), work_scope(), &hearth_tensor_binding::acquire_scope,
                     true);
    }
    void closing_barrier() {
        edge_barrier(work_scope(), {}, &hearth_tensor_binding::release_scope, false);
    }

    /// Records the barrier between the application's work and this recording. The bindings' `scope`
    /// joins one side.
    void edge_barrier(gpu::Scope before, gpu::Scope after,
                      hearth_sync_scope hearth_tensor_binding::*scope, bool is_leading) {
        gpu::OwnershipTransfer transfers[gpu::kMaxTransfers];
        size_t transfer_count = 0;
        const auto add = [&](const Session::Resolved& resolved) {
            const hearth_sync_scope& host = resolved.bound->*scope;
            const uint32_t family = device_.queue_family();
            if (host.queue_family != HEARTH_QUEUE_FAMILY_SAME && host.queue_family != family) {
                gpu::OwnershipTransfer& t = transfers[transfer_count++];
                t = {resolved.bound->buffer,
                     resolved.bound->offset,
                     resolved.bound->bytes,
                     is_leading ? host.queue_family : family,
                     is_leading ? family : host.queue_family,
                     is_leading ? gpu::Scope{} : work_scope(),
                     is_leading ? work_scope() : gpu::Scope{}};
            } else {
                (is_leading ? before : after) |= to_scope(host);
            }
        };
        if (info_.barriers == HEARTH_BARRIERS_AUTOMATIC) {
            for (uint32_t binding : view_.bindings_of(entry_))
                if (!session_.resolved_[binding].is_value()) add(session_.resolved_[binding]);
            if (session_.run_block_.bound != nullptr) add(session_.run_block_);
        }
        gpu::record_barrier(device_, commands_, before, after, {transfers, transfer_count});
    }

    /// Copies host buffers that kernels cannot access and staged values: in before the first
    /// command, out after the last.
    void copy_shadows(bool in) {
        bool copied = false;
        for (uint32_t binding : view_.bindings_of(entry_)) {
            const Session::Resolved& r = session_.resolved_[binding];
            if (!r.is_shadow || !(in ? r.is_input : r.is_output) || r.bytes == 0) continue;
            if (!copied && !in)
                gpu::record_barrier(device_, commands_, work_scope(), gpu::kTransferScope);
            copied = true;
            copy_rows(r, in);
        }
        if (copied && in)
            gpu::record_barrier(device_, commands_, gpu::kTransferScope, work_scope());
    }

    /// Copies between the session's packed rows and the application's, which may be strided.
    void copy_rows(const Session::Resolved& r, bool in) {
        const VkBuffer host =
            r.is_staged ? session_.buffers_[kUploadBuffer].handle : r.bound->buffer;
        const uint64_t host_offset = r.is_staged ? r.staged_at : r.bound->offset;
        const uint64_t row_bytes = r.row_bytes != 0 ? r.row_bytes : r.bytes;
        const uint64_t rows = r.bytes / row_bytes;
        VkBufferCopy regions[64];
        uint32_t count = 0;
        for (uint64_t row = 0; row < rows; ++row) {
            const uint64_t packed = r.offset + row * row_bytes;
            const uint64_t apart = host_offset + row * r.bound->item_stride;
            regions[count++] = {in ? apart : packed, in ? packed : apart, row_bytes};
            if (count < std::size(regions) && row + 1 < rows) continue;
            device_.vk().CmdCopyBuffer(commands_, in ? host : r.buffer, in ? r.buffer : host, count,
                                       regions);
            count = 0;
        }
    }

    /// Copies these parts of a dump, ordered after what is recorded so far and before what follows.
    void copy_dump(std::initializer_list<DumpPart> parts) {
        if (dump_ == nullptr) return;
        const gpu::Buffer& readbacks = session_.buffers_[kReadbackBuffer];
        gpu::record_barrier(device_, commands_, work_scope(), gpu::kTransferScope);
        for_each_dumped(
            view_, info_.entry, info_.batch_size, dump_->command, [&](const DumpItem& item) {
                if (std::find(parts.begin(), parts.end(), item.part) == parts.end()) return;
                const uint64_t to = dump_->offset + item.offset;
                if (item.part == DumpPart::kInput && session_.resolved_[item.index].is_value()) {
                    std::memcpy(readbacks.mapped + to, session_.resolved_[item.index].bound->data,
                                static_cast<size_t>(item.bytes));
                    return;
                }
                const Place from = place_of(item);
                const VkBufferCopy region{from.offset, to, item.bytes};
                device_.vk().CmdCopyBuffer(commands_, from.buffer, readbacks.handle, 1, &region);
            });
        gpu::record_barrier(device_, commands_, gpu::kTransferScope, work_scope());
    }

    Position record_commands(Position first) {
        const std::span<const file::CommandRecord> commands = view_.commands_of(entry_);
        const bool is_limited = runtime::is_limited(info_);
        const gpu::Scope scope = session_.entries_[info_.entry].scope;
        Cost spent;
        bool needs_barrier = false;      // something was recorded since the last one
        bool has_bound_regions = false;  // by a command since then
        // If the first interval exceeds a limit alone, it is cut before the next barrier.
        bool is_cut = is_limited && exceeds(interval_cost(commands, first));
        for (Position at = first; at.command < commands.size(); at = {at.command + 1}) {
            const file::CommandRecord& command = commands[at.command];
            if (command.kind == static_cast<uint32_t>(CommandKind::kBarrier)) {
                const Position next{at.command + 1};
                const Cost ahead = is_limited ? interval_cost(commands, next) : Cost{};
                if (is_limited && needs_barrier && next.command < commands.size() &&
                    exceeds(plus(spent, ahead)))
                    return next;
                if (needs_barrier) gpu::record_barrier(device_, commands_, scope, scope);
                needs_barrier = has_bound_regions = false;
                is_cut = is_limited && spent.dispatches == 0 && exceeds(ahead);
                continue;
            }
            const uint32_t part_count = this->part_count(command);
            uint32_t end = part_count;
            if (is_cut) {
                end = end_within(spent, command, at.part, part_count);
                if (end == at.part && needs_barrier) return at;
                end = std::max(end, at.part + 1);
            }
            const bool binds_regions = this->binds_regions(command);
            if (needs_barrier && (binds_regions || has_bound_regions))
                gpu::record_barrier(device_, commands_, scope, scope);
            has_bound_regions = binds_regions;
            record_command(command, at.part, end);
            if (dump_ != nullptr && dump_->command == at.command) copy_dump({DumpPart::kCommand});
            spent = plus(spent, cost_of(command, end - at.part, part_count));
            needs_barrier = true;
            if (end < part_count) return {at.command, end};
        }
        return {};
    }

    /// True if the command binds arena and weights as a whole.  It touches no bytes that another
    /// command of its interval writes, but synchronization validation sees descriptors, not bytes.
    bool binds_regions(const file::CommandRecord& command) const {
        return view_.binding_model() == BindingModel::kDescriptor &&
               command.kind == static_cast<uint32_t>(CommandKind::kDispatch) &&
               view_.kernels()[command.kernel].located_count > 0;
    }

    /// Returns the number of sub-dispatches that the command may be split into; 1: indivisible.
    uint32_t part_count(const file::CommandRecord& command) const {
        return session_.is_divisible(command) ? grid_at(command, info_.batch_size).part_count() : 1;
    }
    Cost cost_of(const file::CommandRecord& command, uint32_t parts, uint32_t part_count) const {
        const auto share = [&](uint64_t whole) {
            return whole / part_count * parts + whole % part_count * parts / part_count;
        };
        Cost cost{1, 0, share(command.flops), share(command.bytes_moved)};
        if (command.kind == static_cast<uint32_t>(CommandKind::kDispatch)) {
            const Grid grid = grid_at(command, info_.batch_size);
            cost.workgroups = grid.workgroups(part_count > 1 ? parts : grid.part_count()).or_most();
        }
        return cost;
    }
    /// Cost of the commands between `first` and the next barrier.
    Cost interval_cost(std::span<const file::CommandRecord> commands, Position first) const {
        Cost cost;
        for (Position at = first; at.command < commands.size(); at = {at.command + 1}) {
            const file::CommandRecord& command = commands[at.command];
            if (command.kind == static_cast<uint32_t>(CommandKind::kBarrier)) break;
            const uint32_t part_count = this->part_count(command);
            cost = plus(cost, cost_of(command, part_count - at.part, part_count));
        }
        return cost;
    }
    /// Returns the last sub-dispatch + 1 that fits within the limits, counting from `first`, on top
    /// of `spent`.
    uint32_t end_within(const Cost& spent, const file::CommandRecord& command, uint32_t first,
                        uint32_t part_count) const {
        uint64_t fits = first, exceeds_at = uint64_t{part_count} + 1;
        while (exceeds_at - fits > 1) {
            const uint64_t middle = (fits + exceeds_at) / 2;
            const auto parts = static_cast<uint32_t>(middle - first);
            (exceeds(plus(spent, cost_of(command, parts, part_count))) ? exceeds_at : fits) =
                middle;
        }
        return static_cast<uint32_t>(fits);
    }
    static Cost plus(const Cost& a, const Cost& b) {
        return {a.dispatches + b.dispatches, (Checked(a.workgroups) + b.workgroups).or_most(),
                (Checked(a.flops) + b.flops).or_most(),
                (Checked(a.bytes_moved) + b.bytes_moved).or_most()};
    }
    bool exceeds(const Cost& cost) const {
        const auto over = [](uint64_t value, uint64_t limit) {
            return limit != 0 && value > limit;
        };
        return over(cost.dispatches, info_.max_dispatches) ||
               over(cost.workgroups, info_.max_workgroups) || over(cost.flops, info_.max_flops) ||
               over(cost.bytes_moved, info_.max_bytes_moved);
    }

    /// Records sub-dispatches [first, end) of a command.
    void record_command(const file::CommandRecord& command, uint32_t first, uint32_t end) {
        gpu::begin_label(device_, commands_, view_.text(command.label));
        switch (static_cast<CommandKind>(command.kind)) {
            case CommandKind::kDispatch:
                dispatch(command, first, end);
                break;
            case CommandKind::kCopy:
                copy(command);
                break;
            case CommandKind::kFill:
                fill(command);
                break;
            case CommandKind::kBarrier:
                break;
        }
        if (timings_ >= 0 && has_command_times()) session_.write_timestamp(commands_, timings_);
        gpu::end_label(device_, commands_);
    }

    void dispatch(const file::CommandRecord& command, uint32_t first, uint32_t end) {
        Grid grid = grid_at(command, info_.batch_size);
        if (grid.is_empty()) return;
        uint32_t base[3] = {};
        if (session_.is_divisible(command)) {
            base[grid.axis] = first;
            grid.groups[grid.axis] = end - first;
        }
        const gpu::Pipeline* pipeline = session_.pipelines_[command.kernel];
        if (pipeline != bound_) {
            device_.vk().CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE,
                                         pipeline->handle());
            bound_ = pipeline;
        }
        const std::span<const uint32_t> words = view_.words_of(command);
        const bool addresses = view_.binding_model() == BindingModel::kDeviceAddress;
        std::byte push[file::kMaxNativePushBytes];  // the view refuses more
        size_t push_bytes = 0;
        if (addresses) {
            const auto push_address = [&](uint64_t address) {
                std::memcpy(push + push_bytes, &address, sizeof address);
                push_bytes += sizeof address;
            };
            const uint32_t located_count = view_.kernels()[command.kernel].located_count;
            if (located_count > 0) {
                push_address(session_.buffers_[kArenaBuffer].address);
                push_address(session_.buffers_[kWeightsBuffer].address);
            }
            for (const file::OperandRecord& operand :
                 view_.operands_of(command).subspan(located_count))
                push_address(place_of(operand).address);
        } else {
            push_descriptors(command, pipeline->layout());
        }
        if (!words.empty()) std::memcpy(push + push_bytes, words.data(), words.size_bytes());
        push_bytes += words.size_bytes();
        if (push_bytes > 0)
            device_.vk().CmdPushConstants(commands_, pipeline->layout(),
                                          VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                          static_cast<uint32_t>(push_bytes), push);
        if (first == 0)
            device_.vk().CmdDispatch(commands_, grid.groups[0], grid.groups[1], grid.groups[2]);
        else
            device_.vk().CmdDispatchBase(commands_, base[0], base[1], base[2], grid.groups[0],
                                         grid.groups[1], grid.groups[2]);
    }

    void push_descriptors(const file::CommandRecord& command, VkPipelineLayout layout) {
        VkDescriptorBufferInfo buffers[32];  // the view refuses more
        VkWriteDescriptorSet writes[32];
        uint32_t count = 0;
        const auto push = [&](const Place& place, uint64_t bytes) {
            buffers[count] = {place.buffer, place.offset, bytes};
            writes[count] = {};
            writes[count].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
            writes[count].dstBinding = count;
            writes[count].descriptorCount = 1;
            writes[count].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
            writes[count].pBufferInfo = &buffers[count];
            ++count;
        };
        const uint32_t located_count = view_.kernels()[command.kernel].located_count;
        if (located_count > 0) {
            push_region(kArenaBuffer, view_.header().arena_bytes, push);
            push_region(kWeightsBuffer, view_.header().weights_bytes, push);
        }
        for (const file::OperandRecord& operand : view_.operands_of(command).subspan(located_count))
            push(place_of(operand), bytes_at(operand));
        if (count > 0)
            device_.vk().CmdPushDescriptorSetKHR(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout,
                                                 0, count, writes);
    }

    template <class Push>
    void push_region(size_t buffer, uint64_t bytes, Push push) const {
        if (bytes == 0) return push(place_of(session_.run_block_), sizeof(RunBlock));
        push(place_in(session_.buffers_[buffer], 0), bytes);
    }

    void copy(const file::CommandRecord& command) {
        const std::span<const file::OperandRecord> operands = view_.operands_of(command);
        const Place from = place_of(operands[0]), to = place_of(operands[1]);
        const VkBufferCopy region{from.offset, to.offset,
                                  extent_at(operands[0].bytes, info_.batch_size)};
        if (region.size > 0)
            device_.vk().CmdCopyBuffer(commands_, from.buffer, to.buffer, 1, &region);
    }

    void fill(const file::CommandRecord& command) {
        const file::OperandRecord& operand = view_.operands_of(command)[0];
        const Place to = place_of(operand);
        const uint64_t bytes = extent_at(operand.bytes, info_.batch_size);
        if (bytes > 0)
            device_.vk().CmdFillBuffer(commands_, to.buffer, to.offset, bytes,
                                       view_.words_of(command)[0]);
    }

    /// A descriptor must not be empty, nor start at its region's end. Kernels do not access an
    /// empty operand, so the run block stands in for it.
    bool is_empty(const file::OperandRecord& operand) const {
        return extent_at(operand.bytes, info_.batch_size) == 0;
    }
    uint64_t bytes_at(const file::OperandRecord& operand) const {
        return is_empty(operand) ? sizeof(RunBlock) : extent_at(operand.bytes, info_.batch_size);
    }
    Place place_of(const file::OperandRecord& operand) const {
        if (is_empty(operand)) return place_of(session_.run_block_);
        switch (static_cast<Region>(operand.region)) {
            case Region::kArena:
                return place_in(session_.buffers_[kArenaBuffer], operand.offset);
            case Region::kWeights:
                return place_in(session_.buffers_[kWeightsBuffer], operand.offset);
            case Region::kExternal:
                return place_of(session_.resolved_[operand.binding]);
            case Region::kRun:
                break;
        }
        return place_of(session_.run_block_);
    }
    Place place_of(const DumpItem& item) const {
        switch (item.part) {
            case DumpPart::kInput:
            case DumpPart::kOutput:
                return place_of(session_.resolved_[item.index]);
            case DumpPart::kCommand:
                return place_of(
                    view_.operands_of(view_.commands_of(entry_)[dump_->command])[item.index]);
            case DumpPart::kVariableBefore:
            case DumpPart::kVariableAfter:
                break;
        }
        return place_in(session_.buffers_[kWeightsBuffer], view_.variables()[item.index].offset);
    }
    static Place place_in(const gpu::Buffer& buffer, uint64_t offset) {
        return {buffer.handle, offset, buffer.address + offset};
    }
    static Place place_of(const Session::Resolved& r) { return {r.buffer, r.offset, r.address}; }

    Session& session_;
    const ProgramView& view_;
    const gpu::Device& device_;
    const hearth_record_info& info_;
    VkCommandBuffer commands_;
    const file::EntryRecord& entry_;
    const Session::DumpTarget* dump_;
    const gpu::Pipeline* bound_ = nullptr;
    int64_t timings_ = -1;
};

hearth_result Session::record(const hearth_record_info& given, hearth_run_cursor* cursor) {
    if (const hearth_result r = prepare(given, cursor); r != HEARTH_OK) return r;
    hearth_record_info info = given;
    const Position first = first_of(entries_[info.entry], cursor);
    if (info.gpu_time_budget_us > 0)
        limit_by_costs(info, first);
    else if (cursor != nullptr && !is_limited(info))
        limit_by_context(info, first);
    DumpTarget target;
    Readback* dump = nullptr;
    if (is_dumped(info, cursor))
        if (const hearth_result r = begin_dump(info, HEARTH_NO_COMMAND, &dump, target);
            r != HEARTH_OK && r != HEARTH_ERROR_TOO_MANY_IN_FLIGHT)
            return r;
    const EntryFacts& entry = entries_[info.entry];
    const Position end = record_prepared(info, first, dump != nullptr ? &target : nullptr);
    if (dump != nullptr) keep_dump(info, finish_readback(info.command_buffer, *dump));
    if (cursor == nullptr) return HEARTH_OK;
    // prepare() has compared those of a slice that resumes with the cursor's.
    uint64_t bindings_hash = cursor->bindings_hash;
    const bool resumes = !position_of(*cursor).is_start();
    *cursor = {};
    if (end.is_start()) return HEARTH_OK;
    if (!resumes) {
        remember_bound(info);
        bindings_hash = fingerprint(info);
    }
    *cursor = {info.entry, end.command, end.part, 0, entry.epoch, bindings_hash};
    return HEARTH_INCOMPLETE;
}

hearth_result Session::record_dump(const hearth_record_info& info, uint32_t command,
                                   hearth_readback* out) {
    if (const hearth_result r = prepare(info, nullptr); r != HEARTH_OK) return r;
    DumpTarget target;
    Readback* readback = nullptr;
    if (const hearth_result r = begin_dump(info, command, &readback, target); r != HEARTH_OK)
        return r;
    (void)record_prepared(info, {}, &target);
    *out = finish_readback(info.command_buffer, *readback);
    return HEARTH_OK;
}

hearth_result Session::begin_dump(const hearth_record_info& info, uint32_t command,
                                  Readback** readback, DumpTarget& target) {
    const file::EntryRecord& entry = view().entries()[info.entry];
    const char* name = view().text(entry.name);
    if (!is_dump_command(view(), entry, command))
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "dump of entry %s: command %u %s; expected HEARTH_NO_COMMAND or another of its %u",
            name, command, command < entry.commands.count ? "is a barrier" : "does not exist",
            entry.commands.count);
    for (const uint32_t binding : view().bindings_of(entry)) {
        const Resolved& r = resolved_[binding];
        if (r.is_value() || r.is_shadow || r.bytes == 0 ||
            (r.bound->usage & VK_BUFFER_USAGE_TRANSFER_SRC_BIT) != 0)
            continue;
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "dump of entry %s: binding %s is a buffer of usage 0x%x; create it with "
                    "TRANSFER_SRC usage, which dumps need",
                    name, view().text(view().bindings()[binding].name), r.bound->usage);
    }
    const uint64_t bytes =
        for_each_dumped(view(), info.entry, info.batch_size, command, [](const DumpItem&) {});
    if (bytes == 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "dump of entry %s: it has no bindings, variables or results to dump", name);
    if (const hearth_result r = begin_readback(bytes, readback); r != HEARTH_OK) return r;
    target = {command, readback_ring_.segment((*readback)->segment).offset};
    return HEARTH_OK;
}

Position Session::record_prepared(const hearth_record_info& info, Position first,
                                  const DumpTarget* dump) {
    EntryFacts& entry = entries_[info.entry];
    if (first.is_start()) {
        ++entry.epoch;
        entry.first_frame_number = context_->frame_number();
    }
    if (first.is_start() || entry.last_frame_number != context_->frame_number())
        entry.last_start = first;
    entry.last_frame_number = context_->frame_number();
    entry.is_taken_back = false;
    if (uses_run_slot_) {
        run_slots_[next_run_slot_] = {context_->frame_number(), true};
        next_run_slot_ = (next_run_slot_ + 1) % static_cast<uint32_t>(run_slots_.size());
    }
    entry.open = Recorder(*this, info, dump).record(first);
    has_recorded_ = true;
    if (arena_ != nullptr) entry.arena_turn = arena_->take_turn(*this);
    return entry.open;
}

/// Returns where the recording begins: at the start, at the cursor, or at the first dropped slice
/// of the run.
Position Session::first_of(const EntryFacts& entry, const hearth_run_cursor* cursor) const {
    if (cursor == nullptr) return {};
    const Position at = position_of(*cursor);
    return entry.is_taken_back ? std::min(at, entry.open) : at;
}

bool Session::is_divisible(const file::CommandRecord& command) const {
    return command.kind == static_cast<uint32_t>(CommandKind::kDispatch) &&
           may_be_cut(command.kernel);
}

/// True if the cursor is a valid position in the entry at this batch size.
bool Session::is_own(const hearth_run_cursor& cursor, uint32_t entry, uint64_t rows) const {
    const std::span<const file::CommandRecord> commands =
        view().commands_of(view().entries()[entry]);
    if (cursor.entry != entry || cursor.next_command >= commands.size()) return false;
    const file::CommandRecord& command = commands[cursor.next_command];
    return cursor.next_sub_dispatch == 0 ||
           (is_divisible(command) &&
            cursor.next_sub_dispatch < grid_at(command, rows).part_count());
}

hearth_result Session::prepare(const hearth_record_info& info, const hearth_run_cursor* cursor) {
    if (const hearth_result r = check_transfer(info.command_buffer, "record"); r != HEARTH_OK)
        return r;
    if (!is_set_up()) return fail_without_setup("record");
    if (info.entry >= entries_.size())
        return fail(HEARTH_ERROR_NOT_FOUND, "record: entry is %u, expected less than %zu",
                    info.entry, entries_.size());
    const file::EntryRecord& entry = view().entries()[info.entry];
    const char* name = view().text(entry.name);
    if (info.batch_size == 0 || info.batch_size > view().header().max_batch_size)
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "entry %s: the batch size is %llu, expected 1..%llu",
                    name, wide(info.batch_size), wide(view().header().max_batch_size));
    const bool resumes = cursor != nullptr && !position_of(*cursor).is_start();
    if (resumes && !is_own(*cursor, info.entry, info.batch_size))
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "entry %s: the cursor is of another entry or batch size; pass the one of the "
                    "previous slice, or a zeroed one to start",
                    name);
    if (resumes && cursor->generation != entries_[info.entry].epoch)
        return fail(HEARTH_ERROR_INVALID_STATE,
                    "entry %s: the entry was started again since the slice that the cursor "
                    "continues; continue with the newer cursor, or start again",
                    name);
    if (resumes && arena_ != nullptr && !arena_->is_turn(entries_[info.entry].arena_turn))
        return fail(
            HEARTH_ERROR_INVALID_STATE,
            "entry %s: another session has used the shared arena since the slice that the cursor "
            "continues; start the entry again, and finish slices before another session runs",
            name);
    if (!(info.gpu_time_budget_us >= 0))
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "entry %s: gpu_time_budget_us is %g, expected 0 or more", name,
                    info.gpu_time_budget_us);
    if (info.gpu_time_budget_us > 0 && costs_.empty())
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "entry %s: gpu_time_budget_us is %g, which needs a session created with "
                    "HEARTH_SESSION_COLLECT_GPU_TIMINGS",
                    name, info.gpu_time_budget_us);
    if (!(info.occupancy_priority >= 0 && info.occupancy_priority <= 1))
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "entry %s: occupancy_priority is %g, expected 0..1", name,
                    static_cast<double>(info.occupancy_priority));
    if (is_limited(info) && cursor == nullptr)
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "entry %s: limits such as max_flops need a cursor, at which a later call continues",
            name);
    if (const hearth_result r = check_ready(info.entry); r != HEARTH_OK) return r;

    if (const hearth_result r = check_bound(info); r != HEARTH_OK) return r;
    inline_used_ = staged_used_ = 0;
    for (uint32_t i = 0; i < entry.bindings.count; ++i)
        if (const hearth_result r =
                resolve(info, view().bindings_of(entry)[i], entry.bindings.first + i);
            r != HEARTH_OK)
            return r;
    uses_run_slot_ = info.indirect_batch_buffer == nullptr || inline_used_ > 0;
    if (uses_run_slot_) {
        const RunSlot& variable = run_slots_[next_run_slot_];
        if (variable.is_used && variable.frame_number > context_->completed_frame_number())
            return fail(
                HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
                "entry %s: all %zu recordings_in_flight are in flight, because the last "
                "hearth_begin_frame had completed_frame_number %llu; pass the newest frame number "
                "whose fence or timeline semaphore has signalled, or raise recordings_in_flight",
                name, run_slots_.size(), wide(context_->completed_frame_number()));
    }
    if (const hearth_result r = resolve_run_block(info); r != HEARTH_OK) return r;
    if (const hearth_result r = check_overlaps(info); r != HEARTH_OK) return r;
    if ((flags_ & HEARTH_SESSION_VALIDATE_BINDINGS) != 0)
        if (const hearth_result r = check_ranges(info); r != HEARTH_OK) return r;
    if (resumes && cursor->bindings_hash != fingerprint(info)) return fail_changed(info);

    // Later slices find their inputs in the shadow buffers, copied by the first one.
    if (staged_used_ > 0 && first_of(entries_[info.entry], cursor).is_start())
        if (const hearth_result r = stage_inputs(entry); r != HEARTH_OK) return r;

    // All checks passed: write the inline values.
    for (uint32_t binding : view().bindings_of(entry)) {
        const Resolved& r = resolved_[binding];
        if (r.is_inline)
            std::memcpy(buffers_[kRunBuffer].mapped + r.offset, r.bound->data,
                        static_cast<size_t>(r.bytes));
    }
    if (info.indirect_batch_buffer == nullptr) {
        const RunBlock block{static_cast<uint32_t>(info.batch_size), {0, 0, 0}};
        std::memcpy(buffers_[kRunBuffer].mapped + run_block_.offset, &block, sizeof block);
    }
    return HEARTH_OK;
}

/// Places values that are too large to go inline in one segment of the upload ring, to be copied
/// from.
hearth_result Session::stage_inputs(const file::EntryRecord& entry) {
    const int64_t segment = upload_ring_.allocate(staged_used_, context_->frame_number(), false,
                                                  context_->completed_frame_number(), kInputUpload);
    if (segment < 0)
        return fail(HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
                    "entry %s: no room for %llu bytes of inputs by value in the upload ring; raise "
                    "hearth_session_create_info::upload_bytes or upload_count, or bind buffers",
                    view().text(entry.name), wide(staged_used_));
    const uint64_t begin = upload_ring_.segment(static_cast<size_t>(segment)).offset;
    for (uint32_t binding : view().bindings_of(entry)) {
        Resolved& r = resolved_[binding];
        if (!r.is_staged) continue;
        r.staged_at += begin;
        const uint64_t bytes = r.bytes;
        std::memcpy(buffers_[kUploadBuffer].mapped + r.staged_at, r.bound->data,
                    static_cast<size_t>(bytes));
    }
    return HEARTH_OK;
}

hearth_result Session::check_ready(uint32_t e) {
    if (entries_[e].is_ready) return HEARTH_OK;
    for (const file::CommandRecord& command : view().commands_of(view().entries()[e])) {
        if (command.kind != static_cast<uint32_t>(CommandKind::kDispatch)) continue;
        const hearth_result status = pipelines_[command.kernel]->status();
        if (status == HEARTH_OK) continue;
        if (status < 0) return fail_pipeline(command.kernel, status);
        return fail(status,
                    "entry %s: the pipeline of kernel %s is not ready; call "
                    "hearth_session_create_pipelines, or wait for the asynchronous one",
                    view().text(view().entries()[e].name),
                    view().text(view().kernels()[command.kernel].name));
    }
    entries_[e].is_ready = true;
    return HEARTH_OK;
}

/// Checks that each of the entry's bindings is given exactly once, and no others.
hearth_result Session::check_bound(const hearth_record_info& info) {
    const file::EntryRecord& entry = view().entries()[info.entry];
    const char* name = view().text(entry.name);
    if (static_cast<uint32_t>(info.barriers) > HEARTH_BARRIERS_MANUAL)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "entry %s: barriers is %u, expected 0 or 1",
                    name, static_cast<unsigned>(info.barriers));
    if (info.binding_count != entry.bindings.count)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "entry %s: %u bindings given, expected %u", name,
                    info.binding_count, entry.bindings.count);
    if (info.binding_count > 0 && info.bindings == nullptr)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "entry %s: bindings is null", name);
    const std::span<const uint32_t> list = view().bindings_of(entry);
    for (uint32_t i = 0; i < info.binding_count; ++i) {
        const uint32_t binding = info.bindings[i].binding;
        if (std::find(list.begin(), list.end(), binding) == list.end()) {
            FixedText<300> known;
            for (const uint32_t b : list)
                known.append("%s%.40s (%u)", known.empty() ? "" : ", ",
                             view().text(view().bindings()[b].name), b);
            return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                        "entry %s: bindings[%u].binding is %u, which is not a binding of this "
                        "entry; expected %s",
                        name, i, binding, known.c_str());
        }
        for (uint32_t k = 0; k < i; ++k)
            if (info.bindings[k].binding == binding)
                return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                            "entry %s: binding %s (%u) is given twice; give it once", name,
                            view().text(view().bindings()[binding].name), binding);
    }
    return HEARTH_OK;
}

hearth_result Session::check_range(const char* name, const hearth_tensor_binding& bound,
                                   uint64_t bytes) {
    const gpu::Device& device = context_->device();
    VkMemoryRequirements needs{};
    device.vk().GetBufferMemoryRequirements(device.handle(), bound.buffer, &needs);
    if (bound.offset > needs.size || bound.bytes > needs.size - bound.offset)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "%s: [%llu, +%llu) exceeds its VkBuffer, which has at most %llu bytes", name,
                    wide(bound.offset), wide(bound.bytes), wide(needs.size));
    if (bytes > bound.bytes)
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "%s: %llu bytes given, expected %llu or more", name,
                    wide(bound.bytes), wide(bytes));
    if (bound.device_address == 0 || !device.has(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS) ||
        (bound.usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) == 0)
        return HEARTH_OK;
    VkBufferDeviceAddressInfo query{};
    query.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    query.buffer = bound.buffer;
    const uint64_t address = device.vk().GetBufferDeviceAddress(device.handle(), &query);
    if (address != bound.device_address)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "%s: device_address is %llx, the address of its VkBuffer is %llx", name,
                    wide(bound.device_address), wide(address));
    return HEARTH_OK;
}

/// No barriers are planned between bindings, so two of them may share bytes only if neither is
/// written.
hearth_result Session::check_overlaps(const hearth_record_info& info) {
    const std::span<const uint32_t> list = view().bindings_of(view().entries()[info.entry]);
    const auto name_of = [&](uint32_t b) { return view().text(view().bindings()[b].name); };
    // Rows of equal strides may interleave.
    const auto interleave = [](const Resolved& a, const Resolved& b) {
        const uint64_t stride = a.bound->item_stride;
        if (a.row_bytes == 0 || b.row_bytes == 0 || b.bound->item_stride != stride) return false;
        const uint64_t from_a = (b.bound->offset + stride - a.bound->offset % stride) % stride;
        return from_a >= a.row_bytes && from_a + b.row_bytes <= stride;
    };
    const auto overlap = [](const hearth_tensor_binding& a, uint64_t a_bytes,
                            const hearth_tensor_binding& b, uint64_t b_bytes) {
        return a.buffer == b.buffer && a_bytes > 0 && b_bytes > 0 &&
               (Checked(b.offset) + b_bytes).or_most() > a.offset &&
               (Checked(a.offset) + a_bytes).or_most() > b.offset;
    };
    for (const uint32_t binding : list) {
        const Resolved& r = resolved_[binding];
        if (r.is_value()) continue;
        for (const uint32_t other : list) {
            if (other == binding) break;
            const Resolved& o = resolved_[other];
            if (o.is_value() || !(r.is_output || o.is_output) ||
                !overlap(*r.bound, r.host_bytes, *o.bound, o.host_bytes) || interleave(r, o))
                continue;
            return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                        "bindings %.120s and %.120s share bytes of a VkBuffer, [%llu, +%llu) and "
                        "[%llu, +%llu), and %.120s is an output; give each binding bytes of its "
                        "own, or make it one in-out binding by assigning the input in the graph",
                        name_of(other), name_of(binding), wide(o.bound->offset), wide(o.host_bytes),
                        wide(r.bound->offset), wide(r.host_bytes),
                        name_of(r.is_output ? binding : other));
        }
        if (info.indirect_batch_buffer != nullptr && r.is_output &&
            overlap(*r.bound, r.host_bytes, *info.indirect_batch_buffer, sizeof(RunBlock)))
            return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                        "binding %.120s is an output and shares bytes with indirect_batch_buffer; "
                        "give it bytes of its own",
                        name_of(binding));
    }
    return HEARTH_OK;
}

hearth_result Session::check_ranges(const hearth_record_info& info) {
    for (const uint32_t binding : view().bindings_of(view().entries()[info.entry])) {
        const Resolved& r = resolved_[binding];
        if (r.is_value()) continue;
        FixedText<160> name;
        name.set("binding %.120s", view().text(view().bindings()[binding].name));
        if (const hearth_result result = check_range(name.c_str(), *r.bound, r.host_bytes);
            result != HEARTH_OK)
            return result;
    }
    return info.indirect_batch_buffer != nullptr
               ? check_range("run_block", *info.indirect_batch_buffer, sizeof(RunBlock))
               : HEARTH_OK;
}

hearth_result Session::resolve(const hearth_record_info& info, uint32_t binding,
                               uint32_t list_index) {
    const file::BindingRecord& record = view().bindings()[binding];
    const char* name = view().text(record.name);
    const hearth_tensor_binding* bound = nullptr;
    for (uint32_t i = 0; i < info.binding_count; ++i)
        if (info.bindings[i].binding == binding) bound = &info.bindings[i];
    if (bound == nullptr)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "binding %s (%u) is missing; each binding of the entry must be given once",
                    name, binding);
    Resolved& out = resolved_[binding];
    out = {};
    out.bytes = out.host_bytes = extent_at(record.bytes, info.batch_size);
    if (bound->item_stride != 0)
        if (const hearth_result r = resolve_stride(info, *bound, record, out); r != HEARTH_OK)
            return r;
    if (bound->bytes < out.host_bytes)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "binding %s: %llu bytes given, expected %llu or more for a batch size of %llu",
                    name, wide(bound->bytes), wide(out.host_bytes), wide(info.batch_size));
    const BindingFacts& facts = binding_facts_[list_index];
    out.is_input = record.direction != static_cast<uint32_t>(Direction::kOutput);
    out.is_output = !out.is_input || facts.is_written || facts.is_copied_to;

    if (bound->buffer == VK_NULL_HANDLE) {
        if (bound->data == nullptr)
            return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                        "binding %s has neither a buffer nor bytes; make it with "
                        "hearth_bind_buffer or hearth_bind_bytes",
                        name);
        if (out.is_output)
            return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                        "binding %s is an output and cannot be given by value; bind a buffer",
                        name);
        const uint64_t room =
            (out.bytes + kInlineAlignment - 1) / kInlineAlignment * kInlineAlignment;
        out.bound = bound;
        if (room > inline_bytes_ - inline_used_) {
            if ((flags_ & HEARTH_SESSION_ALLOW_STAGING_COPIES) == 0)
                return fail(HEARTH_ERROR_OUT_OF_RANGE,
                            "binding %s: %llu bytes by value, %llu of max_inline_bytes are left; "
                            "bind a buffer, or use HEARTH_SESSION_ALLOW_STAGING_COPIES, which "
                            "stages more in the upload ring",
                            name, wide(out.bytes), wide(inline_bytes_ - inline_used_));
            out.is_staged = true;
            out.staged_at = staged_used_;
            staged_used_ += room;
            use_shadow(out, list_index);
            return HEARTH_OK;
        }
        const gpu::Buffer& run = buffers_[kRunBuffer];
        out.is_inline = true;
        out.buffer = run.handle;
        out.offset = next_run_slot_ * run_slot_bytes() + kRunBlockAlignment + inline_used_;
        out.address = run.address + out.offset;
        inline_used_ += room;
        return HEARTH_OK;
    }
    if (out.row_bytes == 0 && is_direct(*bound, facts)) {
        out.buffer = bound->buffer;
        out.offset = bound->offset;
        if (view().binding_model() == BindingModel::kDeviceAddress &&
            (facts.is_read || facts.is_written)) {
            uint64_t address = bound->device_address;
            if (address == 0) {
                VkBufferDeviceAddressInfo query{};
                query.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
                query.buffer = bound->buffer;
                const gpu::Device& device = context_->device();
                address = device.vk().GetBufferDeviceAddress(device.handle(), &query);
            }
            out.address = address + bound->offset;
        }
        out.bound = bound;
        return HEARTH_OK;
    }
    VkBufferUsageFlags needed = out.is_input ? VK_BUFFER_USAGE_TRANSFER_SRC_BIT : 0;
    if (out.is_output) needed |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if ((flags_ & HEARTH_SESSION_ALLOW_STAGING_COPIES) == 0 || (bound->usage & needed) != needed)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "binding %s: kernels cannot reach a buffer of usage 0x%x at offset %llu%s; it "
                    "needs %s usage and an offset that is a multiple of %llu, or "
                    "HEARTH_SESSION_ALLOW_STAGING_COPIES and %s usage",
                    name, bound->usage, wide(bound->offset),
                    out.row_bytes != 0 ? " with an item_stride" : "",
                    view().binding_model() == BindingModel::kDeviceAddress ? "SHADER_DEVICE_ADDRESS"
                                                                           : "STORAGE_BUFFER",
                    wide(view().binding_model() == BindingModel::kDeviceAddress
                             ? kAddressAlignment
                             : context_->device().limits().minStorageBufferOffsetAlignment),
                    !out.is_output  ? "TRANSFER_SRC"
                    : !out.is_input ? "TRANSFER_DST"
                                    : "TRANSFER_SRC and TRANSFER_DST");
    use_shadow(out, list_index);
    out.bound = bound;
    return HEARTH_OK;
}

void Session::use_shadow(Resolved& out, uint32_t list_index) const {
    const gpu::Buffer& shadow = buffers_[kShadowBuffer];
    out.is_shadow = true;
    out.buffer = shadow.handle;
    out.offset = shadow_offsets_[list_index];
    out.address = shadow.address + out.offset;
}

/// Resolves a binding whose rows are strided in the application's buffer.
hearth_result Session::resolve_stride(const hearth_record_info& info,
                                      const hearth_tensor_binding& bound,
                                      const file::BindingRecord& record, Resolved& out) {
    const char* name = view().text(record.name);
    const uint64_t row_bytes = record.bytes.is_batch;
    if (record.bytes.fixed != 0 || row_bytes == 0)
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "binding %s: item_stride is %llu, but the binding has no batch axis; expected 0", name,
            wide(bound.item_stride));
    if (bound.buffer == VK_NULL_HANDLE)
        return fail(
            HEARTH_ERROR_INVALID_ARGUMENT,
            "binding %s: item_stride is %llu, but values given as bytes are packed; expected 0",
            name, wide(bound.item_stride));
    if (bound.item_stride < row_bytes)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "binding %s: item_stride is %llu, expected a multiple of the element size and "
                    "at least the %llu bytes of an item",
                    name, wide(bound.item_stride), wide(row_bytes));
    if (bound.item_stride == row_bytes) return HEARTH_OK;
    out.row_bytes = row_bytes;
    out.host_bytes = (Checked(bound.item_stride) * (info.batch_size - 1) + row_bytes).or_most();
    return HEARTH_OK;
}

bool Session::is_direct(const hearth_tensor_binding& bound, const BindingFacts& facts) const {
    const bool addresses = view().binding_model() == BindingModel::kDeviceAddress;
    VkBufferUsageFlags needed = 0;
    uint64_t alignment = 4;
    if (facts.is_read || facts.is_written) {
        needed |= addresses ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT
                            : VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
        alignment = addresses
                        ? kAddressAlignment
                        : uint64_t{context_->device().limits().minStorageBufferOffsetAlignment};
    }
    if (facts.is_copied_from) needed |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    if (facts.is_copied_to) needed |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    return (bound.usage & needed) == needed && bound.offset % alignment == 0;
}

hearth_result Session::resolve_run_block(const hearth_record_info& info) {
    run_block_ = {};
    run_block_.bytes = sizeof(RunBlock);
    if (info.indirect_batch_buffer == nullptr) {
        const gpu::Buffer& run = buffers_[kRunBuffer];
        run_block_.buffer = run.handle;
        run_block_.offset = next_run_slot_ * run_slot_bytes();
        run_block_.address = run.address + run_block_.offset;
        return HEARTH_OK;
    }
    const hearth_tensor_binding& bound = *info.indirect_batch_buffer;
    const BindingFacts read_by_kernels{.is_read = true};
    if (bound.buffer == VK_NULL_HANDLE || bound.bytes < sizeof(RunBlock) ||
        bound.offset % kRunBlockAlignment != 0 || !is_direct(bound, read_by_kernels))
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "indirect_batch_buffer: needs STORAGE_BUFFER usage or a device address, %zu "
                    "bytes, and an offset that is a multiple of %llu",
                    sizeof(RunBlock), wide(kRunBlockAlignment));
    run_block_.bound = &bound;
    run_block_.buffer = bound.buffer;
    run_block_.offset = bound.offset;
    if (view().binding_model() != BindingModel::kDeviceAddress) return HEARTH_OK;
    VkBufferDeviceAddressInfo query{};
    query.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
    query.buffer = bound.buffer;
    const gpu::Device& device = context_->device();
    run_block_.address =
        bound.offset + (bound.device_address != 0
                            ? bound.device_address
                            : device.vk().GetBufferDeviceAddress(device.handle(), &query));
    return HEARTH_OK;
}

namespace {

void add_bound(Hash& hash, const hearth_tensor_binding& bound) {
    hash.number(gpu::handle_bits(bound.buffer)).number(bound.offset).number(bound.bytes);
    hash.number(bound.item_stride);
}

}  // namespace

uint64_t Session::bound_hash(uint32_t binding) const {
    Hash hash;
    const Resolved& r = resolved_[binding];
    add_bound(hash, *r.bound);
    if (r.is_value())
        hash.bytes({static_cast<const std::byte*>(r.bound->data), static_cast<size_t>(r.bytes)});
    return hash.value();
}

uint64_t Session::indirect_hash(const hearth_record_info& info) {
    Hash hash;
    if (info.indirect_batch_buffer != nullptr) add_bound(hash, *info.indirect_batch_buffer);
    return hash.value();
}

uint64_t Session::fingerprint(const hearth_record_info& info) const {
    Hash hash;
    hash.number(info.batch_size).number(indirect_hash(info));
    for (uint32_t binding : view().bindings_of(view().entries()[info.entry]))
        hash.number(bound_hash(binding));
    return hash.value();
}

void Session::remember_bound(const hearth_record_info& info) {
    const file::EntryRecord& entry = view().entries()[info.entry];
    entries_[info.entry].rows = info.batch_size;
    entries_[info.entry].indirect_hash = indirect_hash(info);
    for (uint32_t i = 0; i < entry.bindings.count; ++i)
        binding_facts_[entry.bindings.first + i].bound_hash =
            bound_hash(view().bindings_of(entry)[i]);
}

hearth_result Session::fail_changed(const hearth_record_info& info) {
    const file::EntryRecord& entry = view().entries()[info.entry];
    const EntryFacts& run = entries_[info.entry];
    FixedText<160> what;
    if (run.rows != info.batch_size)
        what.set("the batch size is %llu, that of the previous slice was %llu",
                 wide(info.batch_size), wide(run.rows));
    for (uint32_t i = 0; i < entry.bindings.count && what.empty(); ++i) {
        const uint32_t binding = view().bindings_of(entry)[i];
        if (binding_facts_[entry.bindings.first + i].bound_hash != bound_hash(binding))
            what.set("binding %.100s differs from that of the previous slice",
                     view().text(view().bindings()[binding].name));
    }
    if (what.empty() && run.indirect_hash != indirect_hash(info))
        what.set("indirect_batch_buffer differs from that of the previous slice");
    if (what.empty()) what.set("the cursor was changed since the previous slice");
    return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                "entry %s: %s; pass the same for all slices of a run", view().text(entry.name),
                what.c_str());
}

hearth_result Session::binding_scope(uint32_t e, uint32_t binding, uint32_t buffer_usage,
                                     hearth_sync_scope& out) {
    if (e >= entries_.size())
        return fail(HEARTH_ERROR_NOT_FOUND, "entry is %u, expected less than %zu", e,
                    entries_.size());
    const file::EntryRecord& entry = view().entries()[e];
    const std::span<const uint32_t> list = view().bindings_of(entry);
    const auto found = std::find(list.begin(), list.end(), binding);
    if (found == list.end())
        return fail(HEARTH_ERROR_NOT_FOUND, "entry %s has no binding %u", view().text(entry.name),
                    binding);
    BindingFacts facts =
        binding_facts_[entry.bindings.first + static_cast<size_t>(found - list.begin())];
    hearth_tensor_binding aligned = hearth_bind_buffer(binding, VK_NULL_HANDLE, 0, 0, buffer_usage);
    if (!is_direct(aligned, facts)) {
        const bool is_input =
            view().bindings()[binding].direction != static_cast<uint32_t>(Direction::kOutput);
        const bool is_output = !is_input || facts.is_written || facts.is_copied_to;
        facts = {.is_copied_from = is_input, .is_copied_to = is_output};
    }
    out = hearth_make_sync_scope(0, 0);
    const auto add = [&](bool used, uint64_t stages, uint64_t access) {
        if (used) out.stages |= stages, out.access |= access;
    };
    add(facts.is_read, gpu::kComputeScope.stages, VK_ACCESS_SHADER_READ_BIT);
    add(facts.is_written, gpu::kComputeScope.stages, VK_ACCESS_SHADER_WRITE_BIT);
    add(facts.is_copied_from, gpu::kTransferScope.stages, VK_ACCESS_TRANSFER_READ_BIT);
    add(facts.is_copied_to, gpu::kTransferScope.stages, VK_ACCESS_TRANSFER_WRITE_BIT);
    return HEARTH_OK;
}

}  // namespace hearth::runtime
