// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records commands of the CPU device into a growing buffer and executes them at submission.
// Commands between two barriers are independent of each other: with threads, their workgroups and
// bytes are split into ranges that the application's threads run in parallel.

#include "device/native/objects.hpp"
#include "program/records.hpp"

#include <algorithm>
#include <chrono>

namespace hearth::native {

namespace {

enum class CommandKind : uint32_t { kDispatch, kCopy, kFill, kBarrier, kTimestamp, kResetQueries };

struct Command {
    CommandKind kind;
    uint32_t bytes;  ///< including trailing data: offset to the next command
};

struct DispatchCommand : Command {
    Function* function;
    uint32_t first, end, workgroups;
    uint32_t operand_count;  ///< count of trailing addresses; the last is the run block's
};

struct CopyCommand : Command {
    const std::byte* from;
    std::byte* to;
    uint64_t size;
};

struct FillCommand : Command {
    std::byte* to;
    uint64_t size;
    uint32_t word;
};

struct QueryCommand : Command {
    QueryPool* pool;
    uint32_t first, count;
};

/// Bytes per job of a copy or fill.
constexpr uint64_t kBytesAtOnce = uint64_t{1} << 18;

/// A VkCommandBuffer. A dispatchable handle: its first word is reserved for Vulkan loaders.
struct Commands {
    Commands(Device& of, const VkAllocationCallbacks* allocation)
        : device(&of),
          has_callbacks(allocation != nullptr),
          callbacks(has_callbacks ? *allocation : VkAllocationCallbacks{}) {}

    const VkAllocationCallbacks* allocation() const { return has_callbacks ? &callbacks : nullptr; }

    /// Allocates a command with `extra` bytes behind it; null, and remembered, if out of memory.
    template <class T>
    T* add(CommandKind kind, size_t extra = 0) {
        const size_t bytes = (sizeof(T) + extra + alignof(T) - 1) / alignof(T) * alignof(T);
        static_assert(alignof(T) == alignof(uint64_t));
        if (size + bytes > capacity && !grow(size + bytes)) return nullptr;
        T* const command = new (data + size) T{};
        command->kind = kind;
        command->bytes = static_cast<uint32_t>(bytes);
        size += bytes;
        return command;
    }
    void barrier() {
        // Merges consecutive barriers.
        if (size == 0 || last_is_barrier) return;
        last_is_barrier = add<QueryCommand>(CommandKind::kBarrier) != nullptr;
    }

    bool grow(size_t needed) {
        const size_t wanted = std::max(needed, std::max<size_t>(2 * capacity, 16384));
        auto* const bigger =
            static_cast<std::byte*>(allocate(allocation(), wanted, kMemoryAlignment));
        if (bigger == nullptr) {
            is_out_of_memory = true;
            return false;
        }
        if (size > 0) std::memcpy(bigger, data, size);
        free(allocation(), data);
        data = bigger;
        capacity = wanted;
        return true;
    }

    void* loader = nullptr;
    Device* device;
    bool has_callbacks;
    VkAllocationCallbacks callbacks;
    std::byte* data = nullptr;
    size_t size = 0, capacity = 0;
    bool is_out_of_memory = false, last_is_barrier = false;
    // State of the next dispatch.
    Function* function = nullptr;
    alignas(8) std::byte push[file::kMaxNativePushBytes];
    uint32_t push_bytes = 0;
};

Commands& of(VkCommandBuffer handle) {
    return *reinterpret_cast<Commands*>(handle);
}

// ------------------------------------------------------------------------ recording

void VKAPI_PTR CmdBindPipeline(VkCommandBuffer commands, VkPipelineBindPoint, VkPipeline pipeline) {
    of(commands).function = to_object<Pipeline>(pipeline)->function;
}

void VKAPI_PTR CmdPushConstants(VkCommandBuffer commands, VkPipelineLayout, VkShaderStageFlags,
                                uint32_t offset, uint32_t size, const void* values) {
    Commands& c = of(commands);
    HEARTH_ASSERT(offset + size <= sizeof c.push);
    std::memcpy(c.push + offset, values, size);
    c.push_bytes = offset + size;
}

void VKAPI_PTR CmdDispatchBase(VkCommandBuffer commands, uint32_t base_x, uint32_t base_y,
                               uint32_t base_z, uint32_t x, uint32_t y, uint32_t z) {
    Commands& c = of(commands);
    auto* const command = c.add<DispatchCommand>(CommandKind::kDispatch, c.push_bytes);
    if (command == nullptr) return;
    // A sub-dispatch has one axis, so the other two bases are 0.
    command->first = base_x + base_y + base_z;
    command->workgroups = command->end = command->first + x * y * z;
    command->function = c.function;
    command->operand_count = c.push_bytes / static_cast<uint32_t>(sizeof(void*));
    std::memcpy(command + 1, c.push, c.push_bytes);
    c.last_is_barrier = false;
}
void VKAPI_PTR CmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    CmdDispatchBase(commands, 0, 0, 0, x, y, z);
}

void VKAPI_PTR CmdCopyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count,
                             const VkBufferCopy* regions) {
    Commands& c = of(commands);
    for (uint32_t i = 0; i < count; ++i) {
        auto* const command = c.add<CopyCommand>(CommandKind::kCopy);
        if (command == nullptr) return;
        command->from = to_object<Buffer>(from)->data + regions[i].srcOffset;
        command->to = to_object<Buffer>(to)->data + regions[i].dstOffset;
        command->size = regions[i].size;
    }
    c.last_is_barrier = false;
}

void VKAPI_PTR CmdFillBuffer(VkCommandBuffer commands, VkBuffer to, VkDeviceSize offset,
                             VkDeviceSize size, uint32_t word) {
    Commands& c = of(commands);
    auto* const command = c.add<FillCommand>(CommandKind::kFill);
    if (command == nullptr) return;
    const Buffer& buffer = *to_object<Buffer>(to);
    command->to = buffer.data + offset;
    command->size = size == VK_WHOLE_SIZE ? (buffer.bytes - offset) / 4 * 4 : size;
    command->word = word;
    c.last_is_barrier = false;
}

void VKAPI_PTR CmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags,
                                  VkPipelineStageFlags, VkDependencyFlags, uint32_t,
                                  const VkMemoryBarrier*, uint32_t, const VkBufferMemoryBarrier*,
                                  uint32_t, const VkImageMemoryBarrier*) {
    of(commands).barrier();
}

/// Writes the time at which all earlier commands have finished.
void VKAPI_PTR CmdWriteTimestamp(VkCommandBuffer commands, VkPipelineStageFlagBits,
                                 VkQueryPool pool, uint32_t query) {
    Commands& c = of(commands);
    c.barrier();
    auto* const command = c.add<QueryCommand>(CommandKind::kTimestamp);
    if (command == nullptr) return;
    command->pool = to_object<QueryPool>(pool);
    command->first = query;
    c.last_is_barrier = false;
    c.barrier();
}

void VKAPI_PTR CmdResetQueryPool(VkCommandBuffer commands, VkQueryPool pool, uint32_t first,
                                 uint32_t count) {
    Commands& c = of(commands);
    auto* const command = c.add<QueryCommand>(CommandKind::kResetQueries);
    if (command == nullptr) return;
    command->pool = to_object<QueryPool>(pool);
    command->first = first;
    command->count = count;
    c.last_is_barrier = false;
}

void VKAPI_PTR CmdBindDescriptorSets(VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout,
                                     uint32_t, uint32_t, const VkDescriptorSet*, uint32_t,
                                     const uint32_t*) {}

// ------------------------------------------------------------------------ executing

template <class T>
const T& as(const Command& command) {
    return static_cast<const T&>(command);
}

void dispatch(const DispatchCommand& command, uint32_t first, uint32_t end) {
    const auto* const operands = reinterpret_cast<void* const*>(&command + 1);
    uint32_t rows = 0;
    std::memcpy(&rows, operands[command.operand_count - 1], sizeof rows);  // RunBlock::rows
    command.function(operands, static_cast<int32_t>(rows), static_cast<int32_t>(first),
                     static_cast<int32_t>(end), static_cast<int32_t>(command.workgroups));
}

/// Number of jobs that the command can be split into.
uint64_t job_count(const Command& command) {
    switch (command.kind) {
        case CommandKind::kDispatch:
            return as<DispatchCommand>(command).end - as<DispatchCommand>(command).first;
        case CommandKind::kCopy:
            return (as<CopyCommand>(command).size + kBytesAtOnce - 1) / kBytesAtOnce;
        case CommandKind::kFill:
            return (as<FillCommand>(command).size + kBytesAtOnce - 1) / kBytesAtOnce;
        default:
            return 1;
    }
}

/// Runs jobs [first, end) of a command.
void run(const Command& command, uint64_t first, uint64_t end) {
    const auto bytes_until = [](uint64_t job, uint64_t size) {
        return static_cast<size_t>(std::min(job * kBytesAtOnce, size));
    };
    switch (command.kind) {
        case CommandKind::kDispatch: {
            const auto& c = as<DispatchCommand>(command);
            return dispatch(c, c.first + static_cast<uint32_t>(first),
                            c.first + static_cast<uint32_t>(end));
        }
        case CommandKind::kCopy: {
            const auto& c = as<CopyCommand>(command);
            const size_t begin = bytes_until(first, c.size);
            std::memcpy(c.to + begin, c.from + begin, bytes_until(end, c.size) - begin);
            return;
        }
        case CommandKind::kFill: {
            const auto& c = as<FillCommand>(command);
            const size_t stop = bytes_until(end, c.size);
            for (size_t at = bytes_until(first, c.size); at < stop; at += sizeof c.word)
                std::memcpy(c.to + at, &c.word, sizeof c.word);
            return;
        }
        case CommandKind::kTimestamp: {
            const auto& c = as<QueryCommand>(command);
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            c.pool->values[c.first] = static_cast<uint64_t>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
            c.pool->are_written[c.first] = true;
            return;
        }
        case CommandKind::kResetQueries: {
            const auto& c = as<QueryCommand>(command);
            std::fill_n(c.pool->are_written + c.first, c.count, false);
            return;
        }
        case CommandKind::kBarrier:
            return;
    }
}

const Command& at(const Commands& commands, size_t offset) {
    return *reinterpret_cast<const Command*>(commands.data + offset);
}

/// The commands between two barriers, split into ranges of jobs for the threads.
struct Phase {
    const Commands* commands;
    size_t begin, end;
    uint64_t jobs;
    uint32_t ranges;

    static void run_range(void* data, uint32_t index) {
        const Phase& phase = *static_cast<const Phase*>(data);
        const uint64_t first = phase.jobs * index / phase.ranges,
                       last = phase.jobs * (index + 1) / phase.ranges;
        uint64_t before = 0;
        for (size_t offset = phase.begin; offset < phase.end && before < last;) {
            const Command& command = at(*phase.commands, offset);
            const uint64_t count = job_count(command);
            const uint64_t from = first > before ? first - before : 0;
            const uint64_t to = std::min(last - before, count);
            if (from < to) run(command, from, to);
            before += count;
            offset += command.bytes;
        }
    }
};

void execute_phase(const Commands& commands, size_t begin, size_t end) {
    Phase phase{&commands, begin, end, 0, 1};
    for (size_t offset = begin; offset < end; offset += at(commands, offset).bytes)
        phase.jobs += job_count(at(commands, offset));
    // More ranges than threads balance the load when a thread is delayed.
    constexpr uint32_t kRangesPerThread = 4;
    const uint32_t threads = commands.device->thread_count();
    if (threads > 1)
        phase.ranges = static_cast<uint32_t>(
            std::clamp<uint64_t>(phase.jobs, 1, uint64_t{threads} * kRangesPerThread));
    commands.device->run_jobs(phase.ranges, Phase::run_range, &phase);
}

struct Named {
    const char* name;
    PFN_vkVoidFunction function;
};

}  // namespace

PFN_vkVoidFunction find_recording_function(const char* name) {
#define HEARTH_NAMED(function) \
    Named{"vk" #function, reinterpret_cast<PFN_vkVoidFunction>(function)},
    static const Named kFunctions[] = {
        HEARTH_NAMED(CmdBindPipeline) HEARTH_NAMED(CmdPushConstants) HEARTH_NAMED(CmdDispatch)
            HEARTH_NAMED(CmdDispatchBase) HEARTH_NAMED(CmdCopyBuffer) HEARTH_NAMED(CmdFillBuffer)
                HEARTH_NAMED(CmdPipelineBarrier) HEARTH_NAMED(CmdBindDescriptorSets)
                    HEARTH_NAMED(CmdWriteTimestamp) HEARTH_NAMED(CmdResetQueryPool)};
#undef HEARTH_NAMED
    for (const Named& known : kFunctions)
        if (std::strcmp(known.name, name) == 0) return known.function;
    return nullptr;
}

VkCommandBuffer create_commands(Device& device, const VkAllocationCallbacks* callbacks) {
    void* const memory = allocate(callbacks, sizeof(Commands), alignof(Commands));
    return memory == nullptr
               ? nullptr
               : reinterpret_cast<VkCommandBuffer>(new (memory) Commands(device, callbacks));
}

void destroy_commands(VkCommandBuffer handle) {
    if (handle == nullptr) return;
    Commands& commands = of(handle);
    const bool has_callbacks = commands.has_callbacks;
    const VkAllocationCallbacks callbacks = commands.callbacks;
    free(commands.allocation(), commands.data);
    commands.~Commands();
    free(has_callbacks ? &callbacks : nullptr, &commands);
}

void reset_commands(VkCommandBuffer handle) {
    Commands& commands = of(handle);
    commands.size = 0;
    commands.push_bytes = 0;
    commands.function = nullptr;
    commands.is_out_of_memory = commands.last_is_barrier = false;
}

VkResult execute(VkCommandBuffer handle) {
    const Commands& commands = of(handle);
    if (commands.is_out_of_memory) return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (size_t begin = 0; begin < commands.size;) {
        size_t end = begin;
        while (end < commands.size && at(commands, end).kind != CommandKind::kBarrier)
            end += at(commands, end).bytes;
        if (begin < end) execute_phase(commands, begin, end);
        begin = end < commands.size ? end + at(commands, end).bytes : end;
    }
    return VK_SUCCESS;
}

}  // namespace hearth::native
