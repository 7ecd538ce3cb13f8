// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A session: a program with memory. session.cpp creates it, build.cpp builds its pipelines,
// record.cpp records entries, transfer.cpp copies variables in and out, dropped.cpp undoes what was
// never submitted, profile.cpp reads timestamps, cost.cpp estimates costs from them.

#pragma once

#include "core/cost_meter.hpp"
#include "core/portable.hpp"
#include "device/session/arena.hpp"
#include "device/session/loaded_program.hpp"
#include "device/session/ring.hpp"
#include "device/vulkan/barrier.hpp"
#include "program/brain.hpp"

#include <optional>

namespace hearth::runtime {

/// Buffers of a session, each with its own memory block.
enum BufferId : uint32_t {
    kWeightsBuffer,
    kArenaBuffer,
    kRunBuffer,
    kInitialBuffer,
    kUploadBuffer,
    kReadbackBuffer,
    kShadowBuffer,
    kBufferCount,
};

/// Tag of an upload ring segment: a variable's index, or one of these.
inline constexpr uint32_t kBrainUpload = 0xffffffffu, kForgetUpload = 0xfffffffeu;
inline constexpr uint32_t kInputUpload = 0xfffffffdu;  ///< by-value inputs of one recording

/// Bytes per buffer; 0: not needed.
struct MemoryPlan {
    Checked bytes[kBufferCount];
};

/// Calls visit(slot, staged_offset) for each variable with an initial value; the offset is its
/// position in kInitialBuffer: packed, or in the program's data, which the buffer of a CPU device
/// covers without a copy.
template <class Visit>
void for_each_initial(const ProgramView& view, Visit visit) {
    const bool is_native = view.cpu() != CpuIsa::kNone;
    uint64_t at = 0;
    for (const file::VariableRecord& variable : view.variables()) {
        if (variable.data_offset == kZeroFilled || variable.bytes == 0) continue;
        visit(variable, is_native ? variable.data_offset : at);
        at += (variable.bytes + 15) / 16 * 16;
    }
}

class Session : public HandleTag<0x48534553> {
  public:
    /// Computes the buffer sizes; fails if one is larger than the device allows.
    static hearth_result plan_memory(const gpu::Device& device, const ProgramView& view,
                                     const hearth_session_create_info& info, MemoryPlan& out,
                                     FixedText<512>& error);
    static hearth_result query_memory(Context& context, const hearth_session_create_info& info,
                                      const LoadedProgram& program,
                                      hearth_memory_requirements& out);
    static hearth_result create(Context& context, const hearth_session_create_info& info,
                                LoadedProgram& program, Session** out);

    // build.cpp
    hearth_result build(uint32_t max_pipelines);
    hearth_result build_async();
    /// HEARTH_OK once all pipelines are ready; else the first failure, or HEARTH_NOT_READY.
    hearth_result pipelines_status(uint32_t* ready_count) const;

    // record.cpp
    hearth_result record(const hearth_record_info& info, hearth_run_cursor* cursor);
    /// Records a whole entry and copies its dump (dump.hpp) into a readback.
    hearth_result record_dump(const hearth_record_info& info, uint32_t command,
                              hearth_readback* out);
    hearth_result binding_scope(uint32_t entry, uint32_t binding, uint32_t buffer_usage,
                                hearth_sync_scope& out);

    // dump.cpp
    /// Dumps later recordings; hand_over_dumps() passes them to the application.
    hearth_result dump_next(const hearth_session_dump_info& info);

    // transfer.cpp
    hearth_result record_setup(VkCommandBuffer commands);
    hearth_result record_upload(VkCommandBuffer commands, uint32_t variable, uint64_t offset,
                                const void* data, uint64_t bytes);
    hearth_result record_readback(const hearth_readback_info& info, hearth_readback* out);
    hearth_result poll(hearth_readback id, const void** data, uint64_t* bytes,
                       uint64_t* frame_number);
    void release(hearth_readback id);
    hearth_result record_copy_variables(Session& from, VkCommandBuffer commands,
                                        std::span<const uint32_t> variables);
    hearth_result record_queue_transfer(VkCommandBuffer commands, uint32_t from_family,
                                        uint32_t to_family);

    // brain.cpp
    /// Copies all saved variables, packed one after the other in the order of saved().
    hearth_result record_snapshot(VkCommandBuffer commands, file::BrainContents contents,
                                  hearth_readback* out);
    hearth_result record_brain(VkCommandBuffer commands, const BrainView& brain,
                               hearth_brain_flags flags, gpu::Problems& problems);
    hearth_result record_forget(VkCommandBuffer commands, const char* pattern, uint32_t* count);

    // profile.cpp
    hearth_result next_timings(hearth_timings& out);

    // cost.cpp
    /// hearth_session_estimate_gpu_time.
    hearth_result predict(uint32_t entry, uint64_t rows, const hearth_run_cursor* cursor,
                          double& us);

    // describe.cpp
    /// hearth_session_to_json.
    hearth_result describe(char* out, uint64_t* byte_count);

    // dropped.cpp
    /// Undoes what was recorded in frame `serial`, whose command buffers will never be submitted.
    /// Adds a line per lost item to `lost`.
    void take_back(uint64_t frame_number, gpu::Problems& lost);

    /// Stores the message for hearth_session_error and returns `result`.
    HEARTH_PRINTF(3, 4) hearth_result fail(hearth_result result, const char* format, ...);
    hearth_result variable_buffer(uint32_t variable, hearth_buffer_range& out);
    void fill_status(hearth_session_status& out) const;
    const char* error() const { return error_.c_str(); }
    const char* name() const { return name_.c_str(); }
    Context& context() const { return *context_; }
    const ProgramView& view() const { return program_->view(); }

    // Used by the context.
    void retire(uint64_t frame_number) { is_retired_ = true, retired_frame_number_ = frame_number; }
    bool is_retired() const { return is_retired_; }
    uint64_t retired_frame_number() const { return retired_frame_number_; }
    bool has_jobs() const { return pending_jobs_.load(std::memory_order_acquire) > 0; }
    /// Frees resources that only completed frames used, and hands over dumps that have arrived.
    void collect();
    Session* next = nullptr;
    Session* previous = nullptr;

  private:
    friend class hearth::HostAllocator;
    friend class Recorder;

    struct Job {
        Session* session = nullptr;
        uint32_t kernel = 0;
    };
    struct EntryFacts {
        uint64_t epoch = 0;  ///< counts the runs started
        gpu::Scope scope;    ///< union over all its commands
        bool is_ready = false;
        uint32_t timed_commands = 0;  ///< all but barriers
        /// First command, and last command + 1, that write parameters or states.
        uint32_t first_write = 0, writes_end = 0;
        Position open;  ///< where a sliced run continues; the start: none is open
        // The run of `epoch`: its first and last frame numbers, and its position before the last
        // slice.
        uint64_t first_frame_number = 0, last_frame_number = 0;
        Position last_start;
        uint64_t arena_turn = 0;     ///< of the last slice; see Arena
        bool is_taken_back = false;  ///< from `open` on; a cursor beyond it continues from there
        double measured_ns = 0;      ///< of the last whole recording that was measured; 0: none
        uint64_t measured_rows = 0;
        // Batch size and hash of indirect_batch_buffer of the run of `epoch`, if it is sliced.
        uint64_t rows = 0, indirect_hash = 0;
    };
    /// Accesses of an entry to a binding, over all its commands.
    struct BindingFacts {
        bool is_read = false, is_written = false;  ///< by kernels
        bool is_copied_from = false, is_copied_to = false;
        uint64_t bound_hash = 0;  ///< of what the entry's sliced run binds
    };
    /// A binding of the recording being prepared.
    struct Resolved {
        const hearth_tensor_binding* bound = nullptr;
        VkBuffer buffer = VK_NULL_HANDLE;
        uint64_t offset = 0;
        uint64_t address = 0;     ///< of `offset`
        uint64_t bytes = 0;       ///< size of the binding at this batch size
        uint64_t host_bytes = 0;  ///< size in the application's buffer, including the stride
        uint64_t row_bytes = 0;   ///< with a stride; else 0
        bool is_input = false, is_output = false;  ///< both: updated in place
        bool is_shadow = false;
        bool is_inline = false;
        /// Passed by value and too large to go inline: copied to a shadow from the upload ring.
        bool is_staged = false;
        uint64_t staged_at = 0;  ///< offset within the staged bytes; later within kUploadBuffer
        bool is_value() const { return is_inline || is_staged; }
    };
    struct RunSlot {
        uint64_t frame_number = 0;
        bool is_used = false;
    };
    struct Readback {
        uint32_t generation = 0;
        bool is_active = false;
        std::optional<file::BrainContents> snapshot = {};
        uint32_t segment = 0;
        uint64_t bytes = 0;
        uint64_t frame_number = 0;
        bool is_dropped = false;
    };
    /// A dump requested by dump_next() that has not arrived yet.
    struct PendingDump {
        hearth_readback id = 0;
        uint64_t rows = 0, index = 0;
        uint32_t entry = 0;
    };
    struct TimingSlot {
        uint64_t frame_number = 0, rows = 0;
        uint32_t entry = 0;
        Position first, end;
        uint32_t query_count = 0;
        bool is_dropped = false;
        bool is_whole = false;  ///< covers all of the entry's commands
    };

    Session(Context& context, LoadedProgram& program);
    ~Session();

    // session.cpp
    hearth_result init(const hearth_session_create_info& info);
    hearth_result gather_facts();
    hearth_result allocate_buffers(const hearth_session_create_info& info);
    /// Fills kInitialBuffer, or lets it cover the program's data.
    hearth_result stage_initial_values();
    hearth_result use_arena(const hearth_session_create_info& info);
    hearth_result gather_spirv();
    hearth_result acquire_pipelines();
    gpu::PipelineSource pipeline_source(uint32_t kernel) const;
    hearth_result init_timings(const hearth_session_create_info& info);

    // build.cpp
    static void run_job(void* job);
    /// Calls tell(), which fails with `result`, unless another thread is about to: several may build
    /// at once, and one at a time may write the error text.
    template <class Tell>
    hearth_result tell(hearth_result result, const Tell& tell);
    /// Names the kernel whose pipeline failed, and the driver's result.
    hearth_result fail_pipeline(uint32_t kernel, hearth_result result);

    // record.cpp
    hearth_result prepare(const hearth_record_info& info, const hearth_run_cursor* cursor);
    struct DumpTarget {
        uint32_t command = HEARTH_NO_COMMAND;
        uint64_t offset = 0;  ///< in the readback buffer
    };
    /// Checks that the prepared recording can be dumped, and reserves the readback.
    hearth_result begin_dump(const hearth_record_info& info, uint32_t command, Readback** readback,
                             DumpTarget& target);
    /// Records a prepared recording from `first` on. Returns where to continue, or the start if
    /// complete.
    Position record_prepared(const hearth_record_info& info, Position first,
                             const DumpTarget* dump);
    bool is_own(const hearth_run_cursor& cursor, uint32_t entry, uint64_t rows) const;
    /// True if dispatches of the kernel may be split.
    bool may_be_cut(uint32_t kernel) const {
        constexpr hearth_session_flags kCuts =
            HEARTH_SESSION_SPLIT_DISPATCHES | HEARTH_SESSION_COLLECT_GPU_TIMINGS;
        return (flags_ & kCuts) != 0 && program_->is_divisible(kernel);
    }
    /// True for a dispatch that may be split.
    bool is_divisible(const file::CommandRecord& command) const;
    hearth_result check_ready(uint32_t entry);
    hearth_result resolve(const hearth_record_info& info, uint32_t binding, uint32_t list_index);
    void use_shadow(Resolved& out, uint32_t list_index) const;
    hearth_result resolve_stride(const hearth_record_info& info, const hearth_tensor_binding& bound,
                                 const file::BindingRecord& record, Resolved& out);
    hearth_result resolve_run_block(const hearth_record_info& info);
    hearth_result stage_inputs(const file::EntryRecord& entry);
    hearth_result check_bound(const hearth_record_info& info);
    hearth_result check_overlaps(const hearth_record_info& info);
    /// HEARTH_SESSION_VALIDATE_BINDINGS: checks the application's ranges against Vulkan's memory
    /// HEARTH_SESSION_VALIDATE_BINDINGS: checks the given sizes against what Vulkan reports of the
    /// buffers.
    hearth_result check_ranges(const hearth_record_info& info);
    hearth_result check_range(const char* name, const hearth_tensor_binding& bound, uint64_t bytes);
    Position first_of(const EntryFacts& entry, const hearth_run_cursor* cursor) const;
    bool is_direct(const hearth_tensor_binding& bound, const BindingFacts& facts) const;
    /// Hashes of a binding of the prepared recording, with the values of one passed by value, and of
    /// the indirect batch buffer.
    uint64_t bound_hash(uint32_t binding) const;
    static uint64_t indirect_hash(const hearth_record_info& info);
    uint64_t fingerprint(const hearth_record_info& info) const;
    /// Stores what slices of a run must have in common, for fail_changed().
    void remember_bound(const hearth_record_info& info);
    /// Names what differs from the previous slice.
    hearth_result fail_changed(const hearth_record_info& info);
    const BindingFacts& facts_of(uint32_t entry, uint32_t list_index) const;

    // describe.cpp
    /// Writes JSON to `out` unless it is null. Returns its size.
    uint64_t write_description(std::byte* out) const;

    // dump.cpp
    /// True if dump_next() requested this recording.
    bool is_dumped(const hearth_record_info& info, const hearth_run_cursor* cursor) const;
    void keep_dump(const hearth_record_info& info, hearth_readback id);
    void hand_over_dumps();
    bool hand_over(const PendingDump& dump);

    // brain.cpp
    /// Fails with the first problem and the number of others.
    hearth_result fail_brain(hearth_result result, const gpu::Problems& problems);
    /// Invalidates the cursors of unfinished runs.
    void abandon_slices();

    // transfer.cpp
    bool is_set_up() const { return setup_frame_number_ != 0; }
    /// Sets the error of a call that requires setup.
    hearth_result fail_without_setup(const char* what);
    struct CopySource {
        VkBuffer buffer = VK_NULL_HANDLE;
        uint64_t offset = 0, bytes = 0;
    };
    hearth_result resolve_part(const hearth_readback_region& part, const char* what,
                               CopySource& out, gpu::Scope& before);
    hearth_result begin_readback(uint64_t bytes, Readback** readback);
    void clear_gaps(file::BrainContents contents, std::byte* snapshot) const;
    uint64_t record_initial_values(VkCommandBuffer commands, const file::VariableRecord& variable,
                                   uint64_t at);
    hearth_readback finish_readback(VkCommandBuffer commands, const Readback& readback);

    // profile.cpp
    bool is_timings_read_by_host() const {
        return (flags_ & (HEARTH_SESSION_TIMESTAMP_RUNS | HEARTH_SESSION_TIMESTAMP_COMMANDS)) != 0;
    }
    int64_t begin_timings(VkCommandBuffer commands, const hearth_record_info& info, Position first);
    void write_timestamp(VkCommandBuffer commands, int64_t timings);
    /// Reads the timestamps of profile_slots_[index] into timestamps_.
    hearth_result read_timestamps(size_t index);
    double elapsed_ns(uint32_t from, uint32_t to) const;
    void report_timings(const TimingSlot& variable, hearth_timings& out);
    void free_oldest_timings();

    // cost.cpp
    hearth_result init_costs();
    /// Returns the cost meter of an entry, adapted to this batch size.
    CostMeter& meter(uint32_t entry, uint64_t rows);
    double estimate_us(const file::CommandRecord& command, uint64_t rows) const;
    /// Lowers the other limits of `info` to what max_us allows from `first` on.
    void limit_by_costs(hearth_record_info& info, Position first);
    /// Limits a slice that has no limits to what the context allows.
    void limit_by_context(hearth_record_info& info, Position first);
    /// Updates the costs from the timestamps that have arrived.
    void measure_costs();

    hearth_result check_transfer(VkCommandBuffer commands, const char* what);
    void transfer_barrier(VkCommandBuffer commands, gpu::Scope also_before = {});
    /// Scope that the next recording must wait for. It covers all recordings, not only the last
    /// one: that one's command buffer may never be submitted, and an old one may be executed again.
    gpu::Scope earlier_scope() const {
        return has_recorded_ || arena_ != nullptr ? gpu::kRecordingScope : gpu::Scope{};
    }
    uint64_t run_slot_bytes() const { return 256 + inline_bytes_; }

    Context* context_;
    LoadedProgram* program_;
    FixedText<128> name_;
    FixedText<512> error_;
    hearth_session_flags flags_ = 0;
    bool is_retired_ = false;
    uint64_t retired_frame_number_ = 0;

    gpu::Buffer buffers_[kBufferCount];
    Arena* arena_ = nullptr;                  ///< shared; provides buffers_[kArenaBuffer]
    Array<gpu::Pipeline*> pipelines_;         ///< one per kernel
    Array<std::span<const uint32_t>> spirv_;  ///< one per kernel; divisible ones point into:
    Array<uint32_t> cut_spirv_;
    Array<VkSpecializationMapEntry> constant_map_;
    Array<uint32_t> constant_values_;
    Array<Job> jobs_;
    std::atomic<uint32_t> pending_jobs_{0};
    std::atomic_flag is_telling_;

    Array<EntryFacts> entries_;
    Array<BindingFacts> binding_facts_;  ///< one per element of the entries' binding lists
    Array<uint64_t> shadow_offsets_;     ///< one per element of those lists
    Array<Resolved> resolved_;           ///< one per binding of the program

    // The recording being prepared.
    uint64_t inline_used_ = 0, staged_used_ = 0;
    bool uses_run_slot_ = false;
    Resolved run_block_;

    uint64_t inline_bytes_ = 0;
    Array<RunSlot> run_slots_;
    uint32_t next_run_slot_ = 0;

    bool has_recorded_ = false;
    uint64_t setup_frame_number_ = 0;    ///< 0: none, or dropped
    uint64_t earlier_setup_ = 0;         ///< setup_serial_ reverts to it if dropped
    uint64_t cleared_frame_number_ = 0;  ///< frame of the last reset that staged nothing
    uint64_t dropped_frame_number_ = 0;
    uint32_t dropped_setups_ = 0, dropped_uploads_ = 0, dropped_readbacks_ = 0, dropped_frames_ = 0;
    ByteRing upload_ring_, readback_ring_;
    Array<Readback> readbacks_;

    hearth_session_dump_info dump_info_{};  ///< count: recordings still to be dumped
    uint64_t next_dump_ = 0;                ///< index of the next dump
    Array<PendingDump> pending_dumps_;      ///< ring buffer, oldest first
    size_t oldest_dump_ = 0, pending_dump_count_ = 0;

    VkQueryPool query_pool_ = VK_NULL_HANDLE;
    bool owns_query_pool_ = false;
    uint32_t first_query_ = 0, queries_per_slot_ = 0;
    Array<TimingSlot> timings_slots_;
    uint32_t oldest_timings_ = 0, pending_timings_ = 0;
    uint32_t metered_timings_ = 0;  ///< oldest pending ones already in costs_
    Array<uint64_t> timestamps_;
    Array<double> command_ns_;
    Array<const char*> command_labels_;

    // HEARTH_SESSION_COLLECT_GPU_TIMINGS.
    struct EntryCost {
        CostMeter meter;
        uint64_t rows = 0;  ///< batch size of the meter
    };
    Array<EntryCost> costs_;  ///< one per entry
    Array<CostMeter::Command> command_costs_;
};

}  // namespace hearth::runtime
