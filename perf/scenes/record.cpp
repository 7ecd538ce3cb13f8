// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// CPU cost of recording: the MLP's training step, recorded and never submitted.
//
// To separate the driver's share from the runtime's, the same program is recorded three times:
// unchanged; with a no-op vkCmdPipelineBarrier; and with all vkCmd* as no-ops.

#include "bench.hpp"
#include "mlp.hpp"

#include <fmt/format.h>

#include <cstring>

namespace hearth::perf {

namespace {

// No-op replacements of the driver's functions.
void VKAPI_PTR no_barrier(VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags,
                          VkDependencyFlags, uint32_t, const VkMemoryBarrier*, uint32_t,
                          const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*) {}
void VKAPI_PTR no_barrier_2(VkCommandBuffer, const VkDependencyInfo*) {}
void VKAPI_PTR no_bind(VkCommandBuffer, VkPipelineBindPoint, VkPipeline) {}
void VKAPI_PTR no_push(VkCommandBuffer, VkPipelineLayout, VkShaderStageFlags, uint32_t, uint32_t,
                       const void*) {}
void VKAPI_PTR no_copy(VkCommandBuffer, VkBuffer, VkBuffer, uint32_t, const VkBufferCopy*) {}
void VKAPI_PTR no_dispatch(VkCommandBuffer, uint32_t, uint32_t, uint32_t) {}

struct Replacement {
    const char* name;
    PFN_vkVoidFunction function;
    bool is_barrier;
};

const Replacement kReplacements[] = {
    {"vkCmdPipelineBarrier", reinterpret_cast<PFN_vkVoidFunction>(no_barrier), true},
    {"vkCmdPipelineBarrier2", reinterpret_cast<PFN_vkVoidFunction>(no_barrier_2), true},
    {"vkCmdPipelineBarrier2KHR", reinterpret_cast<PFN_vkVoidFunction>(no_barrier_2), true},
    {"vkCmdBindPipeline", reinterpret_cast<PFN_vkVoidFunction>(no_bind), false},
    {"vkCmdPushConstants", reinterpret_cast<PFN_vkVoidFunction>(no_push), false},
    {"vkCmdCopyBuffer", reinterpret_cast<PFN_vkVoidFunction>(no_copy), false},
    {"vkCmdDispatch", reinterpret_cast<PFN_vkVoidFunction>(no_dispatch), false},
};

constexpr int64_t kRowCount = 256;

/// The original function; a global, because the hook has no user data.
PFN_vkGetDeviceProcAddr driver_proc = nullptr;

template <bool kBarriersOnly>
hearth_void_function HEARTH_VKAPI_PTR replaced_proc(VkDevice device, const char* name) {
    for (const Replacement& r : kReplacements)
        if ((r.is_barrier || !kBarriersOnly) && std::strcmp(name, r.name) == 0) return r.function;
    return driver_proc(device, name);
}

/// A command buffer that is recorded into and never submitted.
class ScratchCommands {
  public:
    explicit ScratchCommands(standalone::Device& device) : device_(device), vk_(device.vk()) {}
    ~ScratchCommands() {
        if (pool_) vk_.DestroyCommandPool(device_.handle(), pool_, nullptr);
    }
    ScratchCommands(const ScratchCommands&) = delete;
    ScratchCommands& operator=(const ScratchCommands&) = delete;

    Status create() {
        VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        pool.queueFamilyIndex = device_.queue_family();
        HEARTH_TRY(standalone::check_vulkan(
            vk_.CreateCommandPool(device_.handle(), &pool, nullptr, &pool_),
            "vkCreateCommandPool"));
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        allocate.commandPool = pool_;
        allocate.commandBufferCount = 1;
        return standalone::check_vulkan(
            vk_.AllocateCommandBuffers(device_.handle(), &allocate, &commands_),
            "vkAllocateCommandBuffers");
    }

    /// Begins again; discards what was recorded but keeps its memory.
    Result<VkCommandBuffer> begin() {
        HEARTH_TRY(standalone::check_vulkan(vk_.ResetCommandPool(device_.handle(), pool_, 0),
                                            "vkResetCommandPool"));
        const VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        HEARTH_TRY(standalone::check_vulkan(vk_.BeginCommandBuffer(commands_, &info),
                                            "vkBeginCommandBuffer"));
        return commands_;
    }
    void end() { (void)vk_.EndCommandBuffer(commands_); }

  private:
    standalone::Device& device_;
    const standalone::VulkanApi& vk_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

/// CPU time to record `compiled` once, in us. get_proc: source of the runtime's driver functions;
/// null: the driver.
Result<Statistics> time_recording(Bench& bench, const Compiled& compiled,
                                  hearth_get_device_proc get_proc) {
    constexpr int kWarm = 50, kSamples = 2000;
    constexpr int kRecordings = 16;  // per command buffer, to amortize the clock's cost
    HEARTH_ASSIGN(
        std::unique_ptr<Workload> workload,
        Workload::create(bench.device(), compiled, kRowCount, {.get_device_proc_addr = get_proc}));
    ScratchCommands scratch(bench.device());
    HEARTH_TRY(scratch.create());
    std::vector<double> samples;
    for (int i = 0; i < kWarm + kSamples; ++i) {
        HEARTH_TRY(workload->begin_frame());
        HEARTH_ASSIGN(const VkCommandBuffer commands, scratch.begin());
        const double begin_us = now_us();
        for (int k = 0; k < kRecordings; ++k) HEARTH_TRY(workload->record(commands, kRowCount));
        const double us = (now_us() - begin_us) / kRecordings;
        scratch.end();
        if (i >= kWarm) samples.push_back(us);
    }
    return statistics_of(samples);
}

Statistics scaled(Statistics s, double factor) {
    for (double* x : {&s.min, &s.p10, &s.median, &s.p90, &s.mean}) *x *= factor;
    s.variance *= factor * factor;
    return s;
}

Status run_record(Bench& bench, Row& row) {
    const std::unique_ptr<Trace> trace = trace_mlp(true);
    HEARTH_ASSIGN(const Compiled compiled, bench.compile_for_device(*trace, kRowCount));
    driver_proc = bench.device().vk().GetDeviceProcAddr;
    HEARTH_ASSIGN(const Statistics all, time_recording(bench, compiled, nullptr));
    HEARTH_ASSIGN(const Statistics unbarred, time_recording(bench, compiled, replaced_proc<true>));
    HEARTH_ASSIGN(const Statistics own, time_recording(bench, compiled, replaced_proc<false>));

    HEARTH_ASSIGN(const std::unique_ptr<Workload> workload,
                  Workload::create(bench.device(), compiled, kRowCount));
    count_steps(workload->entry(), row);
    const double steps = row.dispatches + row.copies;
    const double barriers = row.barriers + 1;  // and the one before the first command
    row.repetitions = 1;
    row.record_us = all;
    row.repeated_us = scaled(all, 1 / steps);
    row.note = fmt::format(
        "CPU us for each of the {} dispatches and copies of mlp_train_b256_f32, its share of the "
        "barriers included",
        steps);
    row.details = {
        {"us for each dispatch or copy, without barriers", unbarred.median / steps},
        {"us for each barrier, in the driver", (all.median - unbarred.median) / barriers},
        {"us for each dispatch or copy, in the runtime", own.median / steps},
        {"us for the whole training step", all.median},
    };
    row.state = Row::State::kOk;
    return {};
}

constexpr Scene kScenes[] = {
    {"record", "CPU time to record mlp_train_b256_f32, for each dispatch and barrier", run_record},
};

}  // namespace

std::span<const Scene> record_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
