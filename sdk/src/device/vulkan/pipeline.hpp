// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compute pipelines, shared by content between the sessions of a context and built off the frame
// path.

#pragma once

#include "device/vulkan/device.hpp"

#include <hearth/types.hpp>

#include <iterator>

namespace hearth::gpu {

/// Everything that identifies a pipeline; points into the program.
struct PipelineSource {
    const char* name = "";
    std::span<const uint32_t> spirv;
    std::span<const VkSpecializationMapEntry> constant_map;  ///< into constant_values
    std::span<const uint32_t> constant_values;
    uint32_t bound_count = 0, push_bytes = 0;  ///< descriptors, if it binds any
    uint32_t subgroup_size = 0;                ///< required by its code; 0: any
    uint32_t threads_x = 0;                    ///< workgroup size along the first axis
    bool is_divisible = false;                 ///< for vkCmdDispatchBase, too
    BindingModel binding_model = BindingModel::kDeviceAddress;
    /// Pipelines are shared by hash without comparing sources. Untrusted programs have an owner
    /// each, so that their pipelines are never shared.
    uint64_t owner = 0;
};

/// Hash of everything but the name.
uint64_t hash_of(const PipelineSource& source);

class Pipeline {
  public:
    Pipeline(Device& device, uint64_t hash) : device_(&device), hash_(hash) {}
    ~Pipeline();

    /// HEARTH_OK: built. HEARTH_NOT_READY: not built. Otherwise the error of the last attempt;
    /// build() may be tried again. Any thread.
    hearth_result status() const { return status_.load(std::memory_order_acquire); }
    bool is_ready() const { return status() == HEARTH_OK; }
    /// The driver's result behind a failed status. Any thread.
    VkResult failure() const { return failure_.load(std::memory_order_acquire); }

    /// Builds it. Returns HEARTH_NOT_READY if another thread is building it. Any thread.
    hearth_result build(const PipelineSource& source);

    VkPipeline handle() const { return handle_; }
    VkPipelineLayout layout() const { return layout_; }

  private:
    friend class PipelineTable;
    hearth_result build_locked(const PipelineSource& source);
    hearth_result create_layout(const PipelineSource& source);
    /// Like Device::check(), and remembers a failure.
    hearth_result check(VkResult result);
    void release();

    Device* device_;
    uint64_t hash_;
    std::atomic<hearth_result> status_{HEARTH_NOT_READY};
    std::atomic<VkResult> failure_{VK_SUCCESS};
    std::atomic<bool> building_{false};
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline handle_ = VK_NULL_HANDLE;
    uint32_t users_ = 0;
    Pipeline* next_ = nullptr;
};

/// The pipelines of a context.  acquire() and release() are externally synchronized.
class PipelineTable {
  public:
    void init(Device& device, HostAllocator& allocator) {
        device_ = &device;
        allocator_ = &allocator;
    }
    /// Returns the pipeline with this hash, created if needed; null if out of host memory.
    Pipeline* acquire(uint64_t hash);
    /// Destroys it once unused.
    void release(Pipeline* pipeline);
    uint32_t count() const { return count_; }

  private:
    Device* device_ = nullptr;
    HostAllocator* allocator_ = nullptr;
    Pipeline*& bucket_of(uint64_t hash) { return buckets_[hash % std::size(buckets_)]; }
    Pipeline* buckets_[256] = {};  ///< linked lists, by hash
    uint32_t count_ = 0;
};

}  // namespace hearth::gpu
