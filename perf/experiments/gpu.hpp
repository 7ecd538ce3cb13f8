// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A minimal Vulkan wrapper for the experiments.

#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::experiments {

/// Ends the program, naming the call, if a Vulkan call failed.
void check(VkResult result, const char* call);

/// A device-local storage buffer with a device address.
struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceAddress address = 0;
    uint64_t size_bytes = 0;
};

/// A compute pipeline and its layout.
struct Pipeline {
    VkPipeline handle = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
};

/// Percentiles of samples.
struct Spread {
    double p10 = 0;
    double median = 0;
    double p90 = 0;
};

/// Result of `Gpu::measure`, per repetition of the sequence.
struct Timing {
    Spread gpu_us;
    Spread record_us;
    Spread process_us;  // CPU time of the process, driver threads included
    int samples = 0;
    int repetitions = 0;
};

/// Records dispatches and barriers, and counts them.
class Recorder {
  public:
    explicit Recorder(VkCommandBuffer cmd) : cmd_(cmd) {}

    VkCommandBuffer cmd() const { return cmd_; }
    int dispatches() const { return dispatches_; }
    int barriers() const { return barriers_; }

    /// Binds `pipeline` if it is not bound.
    void bind(const Pipeline& pipeline);
    /// Binds, pushes the bytes of `push` and dispatches.
    template <typename Push>
    void dispatch(const Pipeline& pipeline, const Push& push, uint32_t x, uint32_t y = 1,
                  uint32_t z = 1) {
        static_assert(sizeof(Push) <= 128);
        bind(pipeline);
        vkCmdPushConstants(cmd_, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push),
                           &push);
        dispatch_bound(x, y, z);
    }
    /// Dispatches whatever is bound.
    void dispatch_bound(uint32_t x, uint32_t y = 1, uint32_t z = 1);
    /// Makes all earlier shader writes visible to all later shader accesses.
    void barrier();

  private:
    VkCommandBuffer cmd_;
    VkPipeline bound_ = VK_NULL_HANDLE;
    int dispatches_ = 0;
    int barriers_ = 0;
};

/// A Vulkan device for measurements: one queue, one command buffer, blocking. Objects live as long
/// as the device, except buffers freed by `free`.
class Gpu {
  public:
    /// Opens the physical device with this index, as `vulkaninfo --summary` numbers them.
    explicit Gpu(uint32_t device_index);
    ~Gpu();
    Gpu(const Gpu&) = delete;
    Gpu& operator=(const Gpu&) = delete;

    VkDevice device() const { return device_; }
    const VkPhysicalDeviceProperties& properties() const { return properties_; }
    const std::string& driver() const { return driver_; }
    bool is_cpu() const { return properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
    /// Streaming multiprocessors or similar; a guess (64; 4 on a CPU) if the driver does not report
    /// it.
    uint32_t units() const { return units_; }
    /// Null if the device has no push descriptors.
    PFN_vkCmdPushDescriptorSetKHR push_descriptor_set() const { return push_descriptor_set_; }

    /// True if there are subgroup-scope 16x16 matrices of f16 with f32 accumulators, by the named
    /// extension.
    bool has_nv_matrices() const { return has_nv_matrices_; }
    bool has_khr_matrices() const { return has_khr_matrices_; }

    Buffer allocate(uint64_t size_bytes);
    void free(Buffer& buffer);
    void upload(const Buffer& buffer, std::span<const float> data, uint64_t offset_bytes = 0);
    std::vector<float> download(const Buffer& buffer, uint64_t count, uint64_t offset_bytes = 0);
    /// Fills the buffer with one word: 0, or all ones, which reads as NaN.
    void fill(const Buffer& buffer, uint32_t word);

    VkPipelineLayout make_layout(uint32_t push_bytes, VkDescriptorSetLayout set_layout);
    Pipeline make_pipeline(std::string_view shader, VkPipelineLayout layout);
    /// A pipeline whose operands are all push constants, created once per shader and size.
    const Pipeline& pipeline(std::string_view shader, uint32_t push_bytes);

    /// Creates the pipelines of several shaders in parallel, on all processors.
    void prepare(std::span<const std::string> shaders, uint32_t push_bytes);

    /// Runs a recording once and waits for it.
    void run(const std::function<void(Recorder&)>& record);
    /// Times `record`: `repetitions` times in one command buffer, between two timestamps, after a
    /// warm-up; as many samples as fit in `budget_s` (5 to 100; 3 if one takes longer than a
    /// third). `record` must end with a barrier if its repetitions depend on each other.
    Timing measure(const std::function<void(Recorder&)>& record, int repetitions,
                   double budget_s = 1.0);

  private:
    double submit_timed(const std::function<void(Recorder&)>& record, int repetitions,
                        double* record_us, double* process_us);
    void submit_and_wait();
    VkPipeline create_pipeline(std::string_view shader, VkPipelineLayout layout) const;
    VkPipelineLayout layout_for(uint32_t push_bytes);
    uint32_t memory_type(uint32_t type_bits, VkMemoryPropertyFlags flags) const;
    Buffer allocate_from(uint64_t size_bytes, VkBufferUsageFlags usage,
                         VkMemoryPropertyFlags flags);
    void copy_staged(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                     bool to_device);

    VkInstance instance_ = VK_NULL_HANDLE;
    VkPhysicalDevice physical_ = VK_NULL_HANDLE;
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer cmd_ = VK_NULL_HANDLE;
    VkQueryPool queries_ = VK_NULL_HANDLE;
    VkFence fence_ = VK_NULL_HANDLE;
    VkPhysicalDeviceProperties properties_{};
    VkPhysicalDeviceMemoryProperties memory_properties_{};
    std::string driver_;
    uint32_t units_ = 0;
    bool has_nv_matrices_ = false;
    bool has_khr_matrices_ = false;
    PFN_vkCmdPushDescriptorSetKHR push_descriptor_set_ = nullptr;
    Buffer staging_;
    void* staging_map_ = nullptr;
    std::map<uint32_t, VkPipelineLayout> layouts_;
    std::map<std::string, Pipeline, std::less<>> pipelines_;
    std::vector<VkPipelineLayout> all_layouts_;
    std::vector<VkPipeline> all_pipelines_;
};

/// A monotonic clock, in microseconds.
double now_us();

/// Percentiles of `samples` (which must not be empty).
Spread spread_of(std::vector<double> samples);

}  // namespace hearth::experiments
