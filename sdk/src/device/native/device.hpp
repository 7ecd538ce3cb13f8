// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The CPU as a device. It implements the Vulkan functions that the runtime calls
// (device/vulkan/vulkan.hpp) with host memory, C functions as kernels, and a command list that runs
// at submission. Sessions, brains and slices are the same code for both kinds of device; only the
// function table differs.
//
// device.cpp answers queries and creates objects, commands.cpp records and executes, cpu.cpp
// detects the instruction set.

#pragma once

#include "core/alloc.hpp"
#include "device/vulkan/requirements.hpp"

#include <hearth/types.hpp>

#include <array>
#include <atomic>

namespace hearth::native {

/// Returns the widest instruction set that this machine runs.
CpuIsa machine_cpu();
/// True if functions compiled for `wanted` run on a machine whose widest instruction set is
/// `given`.
bool runs_on(CpuIsa wanted, CpuIsa given);

using Function = hearth_cpu_kernel_fn;

class Device {
  public:
    /// Applies `info`, which must be complete; its tables and callbacks must outlive the device.
    /// Returns false and adds to `problems` on failure.
    [[nodiscard]] bool init(const hearth_cpu_context_create_info& info, gpu::Problems& problems);

    /// The instruction set to compile programs for; programs for narrower ones run, too.
    CpuIsa cpu() const { return cpu_; }

    /// Returns the function with this hash, or null. Any thread.
    Function* find(uint64_t hash) const;
    bool can_build() const { return build_ != nullptr; }
    /// Calls the application's build callback for kernels missing from the tables. find() then
    /// returns those that were built.
    void build(CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources);

    /// Runs job(data, i) for 0 <= i < count on the application's threads; returns when all are
    /// done.
    void run_jobs(uint32_t count, void (*job)(void*, uint32_t), void* data) const;
    uint32_t thread_count() const { return parallel_ != nullptr ? thread_count_ : 1; }

    /// The device's Vulkan handles are pointers to it.
    VkInstance instance() { return reinterpret_cast<VkInstance>(this); }
    VkPhysicalDevice physical_device() { return reinterpret_cast<VkPhysicalDevice>(this); }
    VkDevice handle() { return reinterpret_cast<VkDevice>(this); }

    /// For hearth_context_create_info: the supported features, all of which are enabled.
    static hearth_features features();

  private:
    [[nodiscard]] bool add(const hearth_cpu_kernel_table& table, gpu::Problems& problems);

    static constexpr size_t kMostTables = 4096;
    CpuIsa cpu_ = CpuIsa::kScalar, machine_ = CpuIsa::kScalar;
    std::array<const hearth_cpu_kernel_table*, kMostTables> tables_{};
    /// Atomic: tables are added while other threads look up functions.
    std::atomic<size_t> table_count_{0};
    hearth_cpu_compile_callback build_ = nullptr;
    hearth_parallel_for_callback parallel_ = nullptr;
    uint32_t thread_count_ = 1;
    void* user_data_ = nullptr;
};

/// Like vkGetInstanceProcAddr: the functions of all CPU devices.
PFN_vkVoidFunction VKAPI_PTR get_instance_proc(VkInstance instance, const char* name);

/// Creates a buffer over the application's memory; null if out of memory. Destroyed by
/// vkDestroyBuffer.
VkBuffer create_buffer(void* memory, uint64_t bytes, const VkAllocationCallbacks* callbacks);

/// Creates a command list; null if out of memory.
VkCommandBuffer create_commands(Device& device, const VkAllocationCallbacks* callbacks);
void destroy_commands(VkCommandBuffer commands);
/// Clears the recorded commands.
void reset_commands(VkCommandBuffer commands);
/// Executes the recorded commands in order; may be called repeatedly.
/// Errors: VK_ERROR_OUT_OF_HOST_MEMORY if recording ran out of memory; nothing is executed then.
VkResult execute(VkCommandBuffer commands);

}  // namespace hearth::native
