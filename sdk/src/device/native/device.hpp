// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The CPU as a device: those functions of Vulkan that the device column calls (device/vulkan/vulkan.hpp), fulfilled by
// memory of the host, functions in C and a list of commands that is executed when it is submitted.  Sessions,
// brains and slices are the same code on both, and the table of functions is where they part.
//
// device.cpp answers questions and makes objects, commands.cpp records and executes, cpu.cpp tells what this
// machine has.

#pragma once

#include "core/alloc.hpp"
#include "device/vulkan/requirements.hpp"

#include <hearth/types.hpp>

#include <array>
#include <atomic>

namespace hearth::native {

/// The widest that this machine runs: kX86_64V2 to kX86_64V4, kNeon, or else kScalar.
Cpu machine_cpu();
/// Whether functions for `wanted` run where `given` is the widest that runs.
bool runs_on(Cpu wanted, Cpu given);

using Function = hearth_native_function;

class Device {
  public:
    /// Settings of `info`, which is complete; tables and callbacks must outlive the device.  False leaves the
    /// problems in `problems`.
    [[nodiscard]] bool init(const hearth_native_info& info, gpu::Problems& problems);

    /// What programs are to be compiled for; those for less run, too.
    Cpu cpu() const { return cpu_; }

    /// The function with this hash, or null.  Any thread.
    Function* find(uint64_t hash) const;
    bool can_build() const { return build_ != nullptr; }
    /// Asks the host for what tables lack; afterwards find() has it, or not.
    void build(Cpu cpu, std::span<const hearth_native_source> sources);

    /// job(data, i) for 0 <= i < count, on the host's threads; all are done when it returns.
    void run_jobs(uint32_t count, void (*job)(void*, uint32_t), void* data) const;
    uint32_t thread_count() const { return parallel_ != nullptr ? thread_count_ : 1; }

    /// Vulkan's handles of a device are pointers to it.
    VkInstance instance() { return reinterpret_cast<VkInstance>(this); }
    VkPhysicalDevice physical_device() { return reinterpret_cast<VkPhysicalDevice>(this); }
    VkDevice handle() { return reinterpret_cast<VkDevice>(this); }

    /// For hearth_host_info: what it has, all of which is enabled.
    static hearth_features features();

  private:
    [[nodiscard]] bool add(const hearth_native_kernels& table, gpu::Problems& problems);

    static constexpr size_t kMostTables = 4096;
    Cpu cpu_ = Cpu::kScalar, machine_ = Cpu::kScalar;
    std::array<const hearth_native_kernels*, kMostTables> tables_{};
    /// Tables are added while others may look for functions.
    std::atomic<size_t> table_count_{0};
    hearth_native_build_callback build_ = nullptr;
    hearth_parallel_callback parallel_ = nullptr;
    uint32_t thread_count_ = 1;
    void* user_data_ = nullptr;
};

/// As vkGetInstanceProcAddr: functions of all native devices.
PFN_vkVoidFunction VKAPI_PTR get_instance_proc(VkInstance instance, const char* name);

/// A buffer over memory of the host's; null if there is no memory.  Destroyed by vkDestroyBuffer.
VkBuffer create_buffer(void* memory, uint64_t bytes, const VkAllocationCallbacks* callbacks);

/// A list of commands; null if there is no memory.
VkCommandBuffer create_commands(Device& device, const VkAllocationCallbacks* callbacks);
void destroy_commands(VkCommandBuffer commands);
/// Forgets what was recorded.
void reset_commands(VkCommandBuffer commands);
/// Executes what was recorded, in its order; it may be executed again.
/// Errors: VK_ERROR_OUT_OF_HOST_MEMORY if recording ran out of memory; nothing is executed then.
VkResult execute(VkCommandBuffer commands);

}  // namespace hearth::native
