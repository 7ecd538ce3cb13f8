// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates sessions: plans and allocates their buffers and acquires their pipelines.

#include "device/session/session.hpp"

#include "device/native/device.hpp"
#include "device/session/check_program.hpp"
#include "program/spirv.hpp"

#include <algorithm>

namespace hearth::runtime {

namespace {

struct BufferFacts {
    hearth_memory_usage usage;
    const char* name;
};

// Indexed by BufferId.
constexpr BufferFacts kBuffers[kBufferCount] = {
    {HEARTH_MEMORY_WEIGHTS, "hearth weights"},
    {HEARTH_MEMORY_ARENA, "hearth arena"},
    {HEARTH_MEMORY_PER_RECORDING, "hearth run blocks"},
    {HEARTH_MEMORY_STAGING, "hearth initial weights"},
    {HEARTH_MEMORY_STAGING, "hearth uploads"},
    {HEARTH_MEMORY_READBACK, "hearth readbacks"},
    {HEARTH_MEMORY_BOUNCE, "hearth bounce buffers"},
};

constexpr uint64_t kShadowAlignment = 256;

uint64_t align_up(uint64_t bytes, uint64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

uint64_t inline_capacity(const hearth_session_create_info& info) {
    return align_up(info.max_inline_bytes, 256);
}

/// Calls visit(list_index, binding) for each element of each entry's list of bindings.
template <class Visit>
void for_each_entry_binding(const ProgramView& view, Visit visit) {
    for (const file::EntryRecord& entry : view.entries())
        for (uint32_t i = 0; i < entry.bindings.count; ++i)
            visit(entry.bindings.first + i, view.bindings_of(entry)[i]);
}

size_t entry_binding_count(const ProgramView& view) {
    return static_cast<size_t>(view.header().sections[file::kEntryBindings].count);
}

Checked shadow_bytes(const ProgramView& view, uint32_t binding) {
    return Checked(extent_at(view.bindings()[binding].bytes, view.header().max_batch_size))
        .aligned(kShadowAlignment);
}

unsigned long long wide(uint64_t value) {
    return value;
}

/// Returns `info` with automatic ring sizes replaced by actual ones.
hearth_session_create_info with_rings(hearth_session_create_info info, const ProgramView& view) {
    constexpr uint64_t kMost = uint64_t{1} << 20, kLeast = uint64_t{1} << 14;
    Checked weights(view.header().weights_bytes), inputs, outputs;
    for (const file::BindingRecord& binding : view.bindings())
        (binding.direction == static_cast<uint32_t>(Direction::kOutput) ? outputs : inputs) +=
            extent_at(binding.bytes, view.header().max_batch_size);
    const auto ring = [&](const Checked& bytes) {
        return std::min((bytes * 2 + kLeast).or_most(), kMost);
    };
    if (info.upload_bytes == HEARTH_SIZE_AUTO) info.upload_bytes = ring(weights + inputs.or_most());
    if (info.readback_bytes == HEARTH_SIZE_AUTO)
        info.readback_bytes = ring(weights + outputs.or_most());
    return info;
}

}  // namespace

hearth_result Session::plan_memory(const gpu::Device& device, const ProgramView& view,
                                   const hearth_session_create_info& info, MemoryPlan& out,
                                   FixedText<512>& error) {
    // Rounded up to words, because vkCmdFillBuffer clears them.
    out.bytes[kWeightsBuffer] = Checked(view.header().weights_bytes).aligned(4);
    if (info.arena == nullptr)
        out.bytes[kArenaBuffer] = Checked(view.header().arena_bytes).aligned(4);
    out.bytes[kRunBuffer] = Checked(info.recordings_in_flight) * (256 + inline_capacity(info));
    if (view.cpu() == CpuIsa::kNone)
        for_each_initial(view, [&](const file::VariableRecord& variable, uint64_t at) {
            out.bytes[kInitialBuffer] = Checked(at) + variable.bytes;
        });
    out.bytes[kUploadBuffer] = info.upload_bytes;
    out.bytes[kReadbackBuffer] = info.readback_bytes;
    if ((info.flags & HEARTH_SESSION_ALLOW_STAGING_COPIES) != 0)
        for_each_entry_binding(view, [&](uint32_t, uint32_t binding) {
            out.bytes[kShadowBuffer] += shadow_bytes(view, binding);
        });
    const uint64_t limit = device.max_allocation_bytes();
    for (uint32_t i = 0; i < kBufferCount; ++i) {
        if (out.bytes[i].is_within(limit)) continue;
        if (out.bytes[i].fits())
            error.set(
                "%s: %llu bytes in one buffer, the device allows %llu; cook with a smaller "
                "--max-batch-size",
                kBuffers[i].name, wide(out.bytes[i].value()), wide(limit));
        else
            error.set(
                "%s: over 2^64 bytes in one buffer, the device allows %llu; cook with a smaller "
                "--max-batch-size",
                kBuffers[i].name, wide(limit));
        return HEARTH_ERROR_UNSUPPORTED;
    }
    return HEARTH_OK;
}

Session::Session(Context& context, LoadedProgram& program)
    : context_(&context), program_(&program) {
    program.retain();
}

Session::~Session() {
    for (gpu::Pipeline* pipeline : pipelines_) context_->pipelines().release(pipeline);
    if (arena_ != nullptr) {
        buffers_[kArenaBuffer] = {};
        arena_->release(*this);
    }
    for (gpu::Buffer& buffer : buffers_) context_->memory().destroy(buffer);
    gpu::Device& device = context_->device();
    if (owns_query_pool_)
        device.vk().DestroyQueryPool(device.handle(), query_pool_, device.callbacks());
    program_->release();
}

hearth_result Session::query_memory(Context& context, const hearth_session_create_info& info,
                                    const LoadedProgram& program, hearth_memory_requirements& out) {
    MemoryPlan plan;
    FixedText<512> why;
    if (const hearth_result r = plan_memory(context.device(), program.view(),
                                            with_rings(info, program.view()), plan, why);
        r != HEARTH_OK)
        return context.fail(r, "session memory: %s", why.c_str());
    for (uint32_t i = 0; i < HEARTH_MEMORY_USAGE_COUNT; ++i) out.memory_type_bits[i] = ~0u;
    for (uint32_t i = 0; i < kBufferCount; ++i) {
        const uint64_t bytes = plan.bytes[i].value();
        if (bytes == 0) continue;
        const hearth_memory_usage usage = kBuffers[i].usage;
        VkMemoryRequirements needs{};
        if (const hearth_result r = context.memory().query(usage, bytes, needs); r != HEARTH_OK)
            return context.fail(
                r, "session memory: cannot query the memory requirements of %llu bytes",
                wide(bytes));
        out.bytes[usage] += needs.size;
        out.alignment[usage] = std::max<uint64_t>(out.alignment[usage], needs.alignment);
        out.memory_type_bits[usage] &= needs.memoryTypeBits;
        out.total_bytes += needs.size;
    }
    return HEARTH_OK;
}

hearth_result Session::create(Context& context, const hearth_session_create_info& info,
                              LoadedProgram& program, Session** out) {
    HostAllocator& allocator = context.allocator();
    auto* session = allocator.make<Session>(context, program);
    if (session == nullptr)
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "session: out of host memory");
    if (const hearth_result result = session->init(with_rings(info, program.view()));
        result != HEARTH_OK) {
        context.fail(result, "session: %s", session->error());
        allocator.destroy(session);
        return result;
    }
    context.add(*session);
    *out = session;
    return HEARTH_OK;
}

hearth_result Session::init(const hearth_session_create_info& info) {
    flags_ = info.flags;
    name_.set("%s", info.name != nullptr ? info.name : "hearth");
    if (info.recordings_in_flight == 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "recordings_in_flight is 0, expected 1 or more");
    constexpr uint32_t kMaxInline = 1u << 16;
    if (info.max_inline_bytes > kMaxInline)
        return fail(HEARTH_ERROR_OUT_OF_RANGE, "max_inline_bytes is %u, expected at most %u",
                    info.max_inline_bytes, kMaxInline);
    if (const hearth_result r =
            check_program(context_->device(), view(), program_->trust(), error_);
        r != HEARTH_OK)
        return r;
    if (const hearth_result r = program_->check_needs(error_); r != HEARTH_OK) return r;
    if (const hearth_result r = gather_facts(); r != HEARTH_OK) return r;
    if (const hearth_result r = allocate_buffers(info); r != HEARTH_OK) return r;
    if (const hearth_result r = acquire_pipelines(); r != HEARTH_OK) return r;
    if (const hearth_result r = init_costs(); r != HEARTH_OK) return r;
    return init_timings(info);
}

hearth_result Session::gather_facts() {
    HostAllocator& allocator = context_->allocator();
    if (!entries_.resize(allocator, view().entries().size()) ||
        !binding_facts_.resize(allocator, entry_binding_count(view())) ||
        !resolved_.resize(allocator, view().bindings().size()))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    for (size_t e = 0; e < entries_.size(); ++e) {
        const file::EntryRecord& entry = view().entries()[e];
        EntryFacts& facts = entries_[e];
        uint32_t command_index = 0;  // index + 1 of the command
        for (const file::CommandRecord& command : view().commands_of(entry)) {
            const auto kind = static_cast<CommandKind>(command.kind);
            ++command_index;
            if (kind == CommandKind::kBarrier) continue;
            ++facts.timed_commands;
            const bool is_dispatch = kind == CommandKind::kDispatch;
            facts.scope |= is_dispatch ? gpu::kComputeScope : gpu::kTransferScope;
            for (const file::OperandRecord& operand : view().operands_of(command)) {
                if (operand.region == static_cast<uint32_t>(Region::kWeights) &&
                    (operand.access & static_cast<uint32_t>(Access::kWrite)) != 0) {
                    if (facts.writes_end == 0) facts.first_write = command_index - 1;
                    facts.writes_end = command_index;
                }
                if (operand.region != static_cast<uint32_t>(Region::kExternal)) continue;
                const std::span<const uint32_t> list = view().bindings_of(entry);
                const size_t position = static_cast<size_t>(
                    std::find(list.begin(), list.end(), operand.binding) - list.begin());
                BindingFacts& binding = binding_facts_[entry.bindings.first + position];
                const bool reads = (operand.access & static_cast<uint32_t>(Access::kRead)) != 0;
                const bool writes = (operand.access & static_cast<uint32_t>(Access::kWrite)) != 0;
                (is_dispatch ? binding.is_read : binding.is_copied_from) |= reads;
                (is_dispatch ? binding.is_written : binding.is_copied_to) |= writes;
            }
        }
    }
    return HEARTH_OK;
}

hearth_result Session::allocate_buffers(const hearth_session_create_info& info) {
    HostAllocator& allocator = context_->allocator();
    MemoryPlan plan;
    if (const hearth_result r = plan_memory(context_->device(), view(), info, plan, error_);
        r != HEARTH_OK)
        return r;
    if (const hearth_result r = use_arena(info); r != HEARTH_OK) return r;
    inline_bytes_ = inline_capacity(info);
    if (!run_slots_.resize(allocator, info.recordings_in_flight) ||
        !upload_ring_.init(allocator, info.upload_bytes, info.upload_count) ||
        !readback_ring_.init(allocator, info.readback_bytes, info.readback_count) ||
        !readbacks_.resize(allocator, info.readback_count) ||
        !shadow_offsets_.resize(allocator, entry_binding_count(view())))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    for (uint32_t i = 0; i < kBufferCount; ++i) {
        const uint64_t bytes = plan.bytes[i].value();
        if (bytes == 0) continue;
        const BufferFacts& facts = kBuffers[i];
        const hearth_result r =
            context_->memory().create(facts.usage, bytes, facts.name, buffers_[i]);
        if (r == HEARTH_ERROR_BUDGET_EXCEEDED) {
            FixedText<256> why;
            context_->memory().describe_refusal(why);
            return fail(r, "%s: %s", facts.name, why.c_str());
        }
        if (r != HEARTH_OK)
            return fail(r,
                        "%s: cannot allocate %llu bytes of device memory; free memory or cook with "
                        "a smaller --max-batch-size",
                        facts.name, wide(bytes));
    }
    if (const hearth_result r = stage_initial_values(); r != HEARTH_OK) return r;
    Checked shadow_end;  // used only if there is a shadow buffer; its size
    for_each_entry_binding(view(), [&](uint32_t list_index, uint32_t binding) {
        shadow_offsets_[list_index] = shadow_end.or_most();
        shadow_end += shadow_bytes(view(), binding);
    });
    return HEARTH_OK;
}

hearth_result Session::stage_initial_values() {
    const std::span<const std::byte> data = view().data();
    gpu::Buffer& staged = buffers_[kInitialBuffer];
    if (view().cpu() == CpuIsa::kNone) {
        for_each_initial(view(), [&](const file::VariableRecord& variable, uint64_t at) {
            std::memcpy(staged.mapped + at, data.data() + variable.data_offset,
                        static_cast<size_t>(variable.bytes));
        });
        return HEARTH_OK;
    }
    if (data.empty()) return HEARTH_OK;
    // Only read: it is the source of copies.
    staged.handle = native::create_buffer(const_cast<std::byte*>(data.data()), data.size(),
                                          context_->device().callbacks());
    if (staged.handle == VK_NULL_HANDLE)
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    return HEARTH_OK;
}

/// Uses the shared arena, if one is given.
hearth_result Session::use_arena(const hearth_session_create_info& info) {
    if (info.arena == nullptr) return HEARTH_OK;
    auto* arena = reinterpret_cast<Arena*>(info.arena);
    const uint64_t needed = view().header().arena_bytes;
    if (arena->buffer().bytes < needed)
        return fail(
            HEARTH_ERROR_OUT_OF_RANGE,
            "the shared arena has %llu bytes, this session needs %llu; create a larger arena",
            wide(arena->buffer().bytes), wide(needed));
    arena_ = arena;
    arena_->retain();
    buffers_[kArenaBuffer] = arena_->buffer();
    return HEARTH_OK;
}

/// Copies the SPIR-V of divisible kernels with an id bound that is one too high. A driver may find
/// an earlier pipeline in its cache without comparing the flag for vkCmdDispatchBase (NVIDIA 580
/// does), and a pipeline built without the flag ignores the base workgroup. The different bound
/// makes the modules distinct.
hearth_result Session::gather_spirv() {
    const std::span<const file::KernelRecord> kernels = view().kernels();
    const bool is_native = view().cpu() != CpuIsa::kNone;
    size_t words = 0;
    for (uint32_t k = 0; k < kernels.size(); ++k)
        if (may_be_cut(k) && !is_native) words += view().spirv_of(kernels[k]).size();
    if (!spirv_.resize(context_->allocator(), kernels.size()) ||
        !cut_spirv_.resize(context_->allocator(), words))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    size_t end = 0;
    for (uint32_t k = 0; k < kernels.size(); ++k) {
        spirv_[k] = view().spirv_of(kernels[k]);
        if (!may_be_cut(k) || is_native) continue;
        const std::span<uint32_t> copy(cut_spirv_.data() + end, spirv_[k].size());
        std::ranges::copy(spirv_[k], copy.begin());
        ++copy[kSpirvBoundWord];
        spirv_[k] = copy;
        end += copy.size();
    }
    return HEARTH_OK;
}

hearth_result Session::acquire_pipelines() {
    if (const hearth_result r = gather_spirv(); r != HEARTH_OK) return r;
    HostAllocator& allocator = context_->allocator();
    const auto constants =
        static_cast<size_t>(view().header().sections[file::kSpecConstants].count);
    if (!constant_map_.resize(allocator, constants) ||
        !constant_values_.resize(allocator, constants) ||
        !pipelines_.resize(allocator, view().kernels().size()) ||
        !jobs_.resize(allocator, view().kernels().size()))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    for (uint32_t k = 0; k < pipelines_.size(); ++k) {
        const file::KernelRecord& kernel = view().kernels()[k];
        for (uint32_t i = 0; i < kernel.spec_constants.count; ++i) {
            const file::SpecConstantRecord& constant = view().spec_constants_of(kernel)[i];
            const uint32_t at = kernel.spec_constants.first + i;
            constant_map_[at] = {constant.id, 4 * i, 4};
            constant_values_[at] = constant.value;
        }
        jobs_[k] = {this, k};
        pipelines_[k] = context_->pipelines().acquire(hash_of(pipeline_source(k)));
        if (pipelines_[k] == nullptr)
            return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    }
    return HEARTH_OK;
}

gpu::PipelineSource Session::pipeline_source(uint32_t k) const {
    const file::KernelRecord& kernel = view().kernels()[k];
    gpu::PipelineSource source;
    source.name = view().text(kernel.name);
    source.spirv = spirv_[k];
    const file::ListRef constants = kernel.spec_constants;
    source.constant_map = std::span<const VkSpecializationMapEntry>(constant_map_)
                              .subspan(constants.first, constants.count);
    source.constant_values =
        std::span<const uint32_t>(constant_values_).subspan(constants.first, constants.count);
    source.bound_count = static_cast<uint32_t>(file::bound_count_of(kernel));
    source.subgroup_size = kernel.subgroup_size;
    source.threads_x = kernel.local_size[0];
    source.is_divisible = may_be_cut(k);
    source.binding_model = view().binding_model();
    source.owner = program_->owner();
    source.push_bytes = static_cast<uint32_t>(file::push_bytes_of(kernel, source.binding_model));
    return source;
}

void Session::collect() {
    const bool keeps = (flags_ & HEARTH_SESSION_KEEP_INITIAL_WEIGHTS) != 0;
    if (is_set_up() && !keeps && setup_frame_number_ <= context_->completed_frame_number())
        context_->memory().destroy(buffers_[kInitialBuffer]);
    measure_costs();
    hand_over_dumps();
}

hearth_result Session::variable_buffer(uint32_t variable, hearth_buffer_range& out) {
    if (variable >= view().variables().size())
        return fail(HEARTH_ERROR_NOT_FOUND, "variable is %u, expected less than %zu", variable,
                    view().variables().size());
    const file::VariableRecord& record = view().variables()[variable];
    const gpu::Buffer& weights = buffers_[kWeightsBuffer];
    out.buffer = weights.handle;
    out.offset = record.offset;
    out.bytes = record.bytes;
    out.device_address = weights.address != 0 ? weights.address + record.offset : 0;
    return HEARTH_OK;
}

void Session::fill_status(hearth_session_status& out) const {
    out.pipelines = pipelines_status(&out.pipelines_ready);
    out.pipeline_count = static_cast<uint32_t>(pipelines_.size());
    out.is_initialized = is_set_up();
    out.initialized_frame = setup_frame_number_;
    for (const RunSlot& variable : run_slots_)
        out.recordings_in_flight +=
            variable.is_used && variable.frame_number > context_->completed_frame_number();
    for (const Readback& readback : readbacks_) out.readbacks_in_flight += readback.is_active;
    out.discarded_frame = dropped_frame_number_;
    out.discarded_initializations = dropped_setups_;
    out.discarded_uploads = dropped_uploads_;
    out.discarded_readbacks = dropped_readbacks_;
    out.discarded_frames = dropped_frames_;
}

hearth_result Session::fail(hearth_result result, const char* format, ...) {
    error_.clear();
    va_list arguments;
    va_start(arguments, format);
    error_.append_list(format, arguments);
    va_end(arguments);
    return result;
}

}  // namespace hearth::runtime
