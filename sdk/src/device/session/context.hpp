// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// State of one adopted device: memory, pipelines, programs, sessions and the frame number.

#pragma once

#include "core/handle_tag.hpp"
#include "core/portable.hpp"
#include "device/native/device.hpp"
#include "device/vulkan/memory.hpp"
#include "device/vulkan/pipeline.hpp"
#include "device/vulkan/pipeline_cache.hpp"

namespace hearth::runtime {

class Converter;
class Session;

/// Fails a call, named `what`, that needs a device which is lost.
template <class Owner>
hearth_result fail_lost(Owner& owner, const char* what) {
    return owner.fail(HEARTH_ERROR_DEVICE_LOST, "%s: %s", what, gpu::kDeviceLost);
}

class Context : public HandleTag<0x48435458> {
  public:
    /// `info` is complete; its arrays need not outlive the call.
    static hearth_result create(const hearth_context_create_info& info, Context** out,
                                gpu::Problems& problems);
    /// As above, for this machine's CPU.
    static hearth_result create_cpu(const hearth_cpu_context_create_info& info, Context** out,
                                    gpu::Problems& problems);
    hearth_result destroy();

    hearth_result begin_frame(uint64_t frame_number, uint64_t completed_frame_number);
    /// Undoes what was recorded in frame `serial`; adds a line per lost item to `lost`.
    hearth_result drop_frame(uint64_t frame_number, gpu::Problems& lost);
    /// Current frame number; 0 before the first begin_frame.
    uint64_t frame_number() const { return frame_number_; }
    uint64_t completed_frame_number() const { return completed_; }

    gpu::Device& device() { return device_; }
    const gpu::Device& device() const { return device_; }
    /// Null for a Vulkan device.
    native::Device* native() const { return native_; }
    /// Limit of slices without limits of their own, in GPU microseconds; 0: none.
    double max_slice_us() const { return max_slice_us_; }
    gpu::DeviceMemory& memory() { return memory_; }
    const gpu::DeviceMemory& memory() const { return memory_; }
    gpu::PipelineTable& pipelines() { return pipelines_; }
    const gpu::PipelineTable& pipelines() const { return pipelines_; }
    gpu::PipelineCache& pipeline_cache() { return pipeline_cache_; }
    const gpu::PipelineCache& pipeline_cache() const { return pipeline_cache_; }
    HostAllocator& allocator() { return allocator_; }
    const HostAllocator& allocator() const { return allocator_; }

    /// Stores the message for hearth_context_error, logs it, and returns `result`.
    HEARTH_PRINTF(3, 4) hearth_result fail(hearth_result result, const char* format, ...);
    /// The last message; of a lost device also if no call has failed since.
    const char* error() const {
        return error_.empty() && device_.is_lost() ? gpu::kDeviceLost : error_.c_str();
    }

    /// Calls the application's verify callback to decide whether the bytes may be loaded.
    hearth_result verify(std::span<const std::byte> bytes, bool is_package,
                         hearth_trust_level trust);

    bool has_jobs() const { return run_job_ != nullptr; }
    void run_job(void (*job)(void*), void* data) const { run_job_(callback_user_, job, data); }

    void add(Session& session);
    void add(Converter& converter);
    void retire(Converter& converter);
    /// Frees the session now, or in the first begin_frame that finds it unused.
    void retire(Session& session);
    /// Returns an id that is unique among the context's untrusted programs.
    uint64_t next_untrusted_owner() { return ++untrusted_programs_; }
    void count_program(int change) { programs_ += static_cast<uint32_t>(change); }
    void count_arena(int change) { arenas_ += static_cast<uint32_t>(change); }
    uint32_t session_count() const { return live_sessions_; }

  private:
    friend class hearth::HostAllocator;
    explicit Context(const VkAllocationCallbacks* callbacks);
    ~Context() = default;
    void free_session(Session& session);
    void free_converter(Converter& converter);
    hearth_result create_pipeline_cache(const hearth_context_create_info& info);

    VkAllocationCallbacks callbacks_{};
    HostAllocator allocator_;
    gpu::Device device_;
    native::Device* native_ = nullptr;
    bool owns_native_ = false;
    gpu::DeviceMemory memory_;
    gpu::PipelineCache pipeline_cache_;
    gpu::PipelineTable pipelines_;
    hearth_log_callback log_ = nullptr;
    hearth_task_callback run_job_ = nullptr;
    hearth_verify_callback verify_ = nullptr;
    uint64_t untrusted_programs_ = 0;  ///< loaded so far
    void* callback_user_ = nullptr;
    VkSemaphore frame_semaphore_ = VK_NULL_HANDLE;
    double max_slice_us_ = 0;
    uint64_t frame_number_ = 0, completed_ = 0;
    Session* sessions_ = nullptr;      ///< live and retired
    Converter* converters_ = nullptr;  ///< live and retired
    uint32_t live_sessions_ = 0, live_converters_ = 0, programs_ = 0, arenas_ = 0;
    FixedText<1024> error_;
};

}  // namespace hearth::runtime
