// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A minimal Vulkan wrapper for the experiments.

#include "gpu.hpp"

#include "shaders.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

namespace hearth::experiments {
namespace {

constexpr uint64_t kStagingBytes = 64ull << 20;

/// Ends the program with a message.
[[noreturn]] void fail(const std::string& message) {
    std::fprintf(stderr, "hearth_experiments: %s\n", message.c_str());
    std::exit(1);
}

/// CPU time of this process, in microseconds. On a busy machine it is steadier than wall time for a
/// software driver.
double process_now_us() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

bool has_extension(VkPhysicalDevice physical, const char* name) {
    uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr),
          "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> all(count);
    check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, all.data()),
          "vkEnumerateDeviceExtensionProperties");
    return std::any_of(all.begin(), all.end(), [name](const VkExtensionProperties& e) {
        return std::strcmp(e.extensionName, name) == 0;
    });
}

}  // namespace

void check(VkResult result, const char* call) {
    if (result != VK_SUCCESS) fail(std::string(call) + " returned " + std::to_string(result));
}

double now_us() {
    using Clock = std::chrono::steady_clock;
    return std::chrono::duration<double, std::micro>(Clock::now().time_since_epoch()).count();
}

Spread spread_of(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double fraction) {
        const double position = fraction * static_cast<double>(samples.size() - 1);
        const size_t low = static_cast<size_t>(position);
        const size_t high = std::min(low + 1, samples.size() - 1);
        const double t = position - static_cast<double>(low);
        return samples[low] * (1 - t) + samples[high] * t;
    };
    return {at(0.1), at(0.5), at(0.9)};
}

void Recorder::bind(const Pipeline& pipeline) {
    if (pipeline.handle == bound_) return;
    vkCmdBindPipeline(cmd_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
    bound_ = pipeline.handle;
}

void Recorder::dispatch_bound(uint32_t x, uint32_t y, uint32_t z) {
    vkCmdDispatch(cmd_, x, y, z);
    ++dispatches_;
}

void Recorder::barrier() {
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    vkCmdPipelineBarrier(cmd_, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0,
                         nullptr);
    ++barriers_;
}

Gpu::Gpu(uint32_t device_index) {
    VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    app.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance_info.pApplicationInfo = &app;
    check(vkCreateInstance(&instance_info, nullptr, &instance_), "vkCreateInstance");

    uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> all(count);
    check(vkEnumeratePhysicalDevices(instance_, &count, all.data()), "vkEnumeratePhysicalDevices");
    if (device_index >= count) {
        fail("no device " + std::to_string(device_index) + ": found " + std::to_string(count));
    }
    physical_ = all[device_index];
    vkGetPhysicalDeviceMemoryProperties(physical_, &memory_properties_);

    const bool has_sm_count = has_extension(physical_, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME);
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV sm{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    if (has_sm_count) driver.pNext = &sm;
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties.pNext = &driver;
    vkGetPhysicalDeviceProperties2(physical_, &properties);
    properties_ = properties.properties;
    driver_ = std::string(driver.driverName) + " " + driver.driverInfo;
    units_ = has_sm_count ? sm.shaderSMCount : is_cpu() ? 4 : 64;

    uint32_t family_count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical_, &family_count, nullptr);
    std::vector<VkQueueFamilyProperties> families(family_count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical_, &family_count, families.data());
    // The family that a game would use: graphics and compute, if available.
    uint32_t family = family_count;
    for (uint32_t i = family_count; i-- > 0;) {
        const bool is_better =
            (families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) || family == family_count;
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) && families[i].timestampValidBits &&
            is_better) {
            family = i;
        }
    }
    if (family == family_count) fail("no compute queue with timestamps");

    std::vector<const char*> extensions;
    const bool has_push = has_extension(physical_, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    if (has_push) extensions.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    VkPhysicalDeviceVulkan12Features features{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    features.bufferDeviceAddress = VK_TRUE;
    VkPhysicalDeviceVulkan11Features features11{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    // Both extensions' features have this layout; headers older than 1.3.255 lack KHR's.
    VkPhysicalDeviceCooperativeMatrixFeaturesNV matrices{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV};
    VkPhysicalDeviceCooperativeMatrixFeaturesNV khr_matrices{
        static_cast<VkStructureType>(1000506000)};
    has_nv_matrices_ = has_extension(physical_, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
    has_khr_matrices_ = has_extension(physical_, "VK_KHR_cooperative_matrix");
    if (has_nv_matrices_ || has_khr_matrices_) {
        features.shaderFloat16 = features.vulkanMemoryModel = VK_TRUE;
        features.vulkanMemoryModelDeviceScope = VK_TRUE;
        features11.storageBuffer16BitAccess = VK_TRUE;
        features.pNext = &features11;
    }
    const auto enable = [&](auto& added, const char* extension) {
        added.cooperativeMatrix = VK_TRUE;
        added.pNext = features11.pNext;
        features11.pNext = &added;
        extensions.push_back(extension);
    };
    if (has_nv_matrices_) enable(matrices, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME);
    if (has_khr_matrices_) enable(khr_matrices, "VK_KHR_cooperative_matrix");
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue_info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue_info.queueFamilyIndex = family;
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    VkDeviceCreateInfo device_info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device_info.pNext = &features;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue_info;
    device_info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    device_info.ppEnabledExtensionNames = extensions.data();
    check(vkCreateDevice(physical_, &device_info, nullptr, &device_), "vkCreateDevice");
    vkGetDeviceQueue(device_, family, 0, &queue_);
    if (has_push) {
        push_descriptor_set_ = reinterpret_cast<PFN_vkCmdPushDescriptorSetKHR>(
            vkGetDeviceProcAddr(device_, "vkCmdPushDescriptorSetKHR"));
    }

    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool_info.queueFamilyIndex = family;
    check(vkCreateCommandPool(device_, &pool_info, nullptr, &pool_), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo cmd_info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    cmd_info.commandPool = pool_;
    cmd_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    cmd_info.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(device_, &cmd_info, &cmd_), "vkAllocateCommandBuffers");
    VkQueryPoolCreateInfo query_info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = 2;
    check(vkCreateQueryPool(device_, &query_info, nullptr, &queries_), "vkCreateQueryPool");
    VkFenceCreateInfo fence_info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(vkCreateFence(device_, &fence_info, nullptr, &fence_), "vkCreateFence");

    staging_ =
        allocate_from(kStagingBytes, 0,
                      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkMapMemory(device_, staging_.memory, 0, VK_WHOLE_SIZE, 0, &staging_map_), "vkMapMemory");
}

Gpu::~Gpu() {
    vkDeviceWaitIdle(device_);
    free(staging_);
    for (VkPipeline pipeline : all_pipelines_) vkDestroyPipeline(device_, pipeline, nullptr);
    for (VkPipelineLayout layout : all_layouts_) vkDestroyPipelineLayout(device_, layout, nullptr);
    vkDestroyFence(device_, fence_, nullptr);
    vkDestroyQueryPool(device_, queries_, nullptr);
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyDevice(device_, nullptr);
    vkDestroyInstance(instance_, nullptr);
}

uint32_t Gpu::memory_type(uint32_t type_bits, VkMemoryPropertyFlags flags) const {
    for (uint32_t i = 0; i < memory_properties_.memoryTypeCount; ++i) {
        const VkMemoryPropertyFlags have = memory_properties_.memoryTypes[i].propertyFlags;
        if ((type_bits >> i & 1) && (have & flags) == flags) return i;
    }
    fail("no memory type with flags " + std::to_string(flags));
}

Buffer Gpu::allocate_from(uint64_t size_bytes, VkBufferUsageFlags usage,
                          VkMemoryPropertyFlags flags) {
    Buffer buffer;
    buffer.size_bytes = size_bytes;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size_bytes;
    info.usage = usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    check(vkCreateBuffer(device_, &info, nullptr, &buffer.handle), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(device_, buffer.handle, &needs);
    VkMemoryAllocateFlagsInfo address_flag{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO};
    address_flag.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    const bool has_address = usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocation.pNext = has_address ? &address_flag : nullptr;
    allocation.allocationSize = needs.size;
    allocation.memoryTypeIndex = memory_type(needs.memoryTypeBits, flags);
    check(vkAllocateMemory(device_, &allocation, nullptr, &buffer.memory), "vkAllocateMemory");
    check(vkBindBufferMemory(device_, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
    if (has_address) {
        VkBufferDeviceAddressInfo address_info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
        address_info.buffer = buffer.handle;
        buffer.address = vkGetBufferDeviceAddress(device_, &address_info);
    }
    return buffer;
}

Buffer Gpu::allocate(uint64_t size_bytes) {
    return allocate_from(
        size_bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

void Gpu::free(Buffer& buffer) {
    vkDestroyBuffer(device_, buffer.handle, nullptr);
    vkFreeMemory(device_, buffer.memory, nullptr);
    buffer = {};
}

void Gpu::submit_and_wait() {
    check(vkEndCommandBuffer(cmd_), "vkEndCommandBuffer");
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &cmd_;
    check(vkQueueSubmit(queue_, 1, &submit, fence_), "vkQueueSubmit");
    check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    check(vkResetFences(device_, 1, &fence_), "vkResetFences");
}

void Gpu::prepare(std::span<const std::string> shaders, uint32_t push_bytes) {
    const VkPipelineLayout layout = layout_for(push_bytes);
    std::vector<VkPipeline> made(shaders.size(), VK_NULL_HANDLE);
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t i = next++; i < shaders.size(); i = next++)
            if (!pipelines_.contains(shaders[i])) made[i] = create_pipeline(shaders[i], layout);
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < shaders.size(); ++i) {
        if (made[i] == VK_NULL_HANDLE) continue;
        all_pipelines_.push_back(made[i]);
        pipelines_.emplace(shaders[i], Pipeline{made[i], layout});
    }
}

void Gpu::run(const std::function<void(Recorder&)>& record) {
    check(vkResetCommandPool(device_, pool_, 0), "vkResetCommandPool");
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(cmd_, &begin), "vkBeginCommandBuffer");
    // Makes everything of earlier submissions, copies included, visible to this one, and vice
    // versa.
    VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    all.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
    all.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    const auto full_barrier = [&] {
        vkCmdPipelineBarrier(cmd_, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &all, 0, nullptr, 0,
                             nullptr);
    };
    full_barrier();
    Recorder recorder(cmd_);
    record(recorder);
    full_barrier();
    submit_and_wait();
}

void Gpu::copy_staged(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                      bool to_device) {
    run([&](Recorder& recorder) {
        VkBufferCopy region{};
        region.size = size_bytes;
        (to_device ? region.dstOffset : region.srcOffset) = offset_bytes;
        const VkBuffer source = to_device ? staging_.handle : buffer.handle;
        const VkBuffer target = to_device ? buffer.handle : staging_.handle;
        vkCmdCopyBuffer(recorder.cmd(), source, target, 1, &region);
        VkMemoryBarrier to_host{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
        to_host.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
        to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        vkCmdPipelineBarrier(recorder.cmd(), VK_PIPELINE_STAGE_TRANSFER_BIT,
                             VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, nullptr, 0, nullptr);
    });
}

void Gpu::upload(const Buffer& buffer, std::span<const float> data, uint64_t offset_bytes) {
    for (uint64_t done = 0; done < data.size_bytes(); done += kStagingBytes) {
        const uint64_t size = std::min<uint64_t>(kStagingBytes, data.size_bytes() - done);
        std::memcpy(staging_map_, reinterpret_cast<const char*>(data.data()) + done, size);
        copy_staged(buffer, offset_bytes + done, size, true);
    }
}

std::vector<float> Gpu::download(const Buffer& buffer, uint64_t count, uint64_t offset_bytes) {
    std::vector<float> data(count);
    const uint64_t total = count * sizeof(float);
    for (uint64_t done = 0; done < total; done += kStagingBytes) {
        const uint64_t size = std::min(kStagingBytes, total - done);
        copy_staged(buffer, offset_bytes + done, size, false);
        std::memcpy(reinterpret_cast<char*>(data.data()) + done, staging_map_, size);
    }
    return data;
}

void Gpu::fill(const Buffer& buffer, uint32_t word) {
    run([&](Recorder& recorder) {
        vkCmdFillBuffer(recorder.cmd(), buffer.handle, 0, VK_WHOLE_SIZE, word);
    });
}

VkPipelineLayout Gpu::make_layout(uint32_t push_bytes, VkDescriptorSetLayout set_layout) {
    VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
    VkPipelineLayoutCreateInfo info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = set_layout ? 1 : 0;
    info.pSetLayouts = &set_layout;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    check(vkCreatePipelineLayout(device_, &info, nullptr, &layout), "vkCreatePipelineLayout");
    all_layouts_.push_back(layout);
    return layout;
}

VkPipeline Gpu::create_pipeline(std::string_view shader, VkPipelineLayout layout) const {
    const auto all = shaders();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Shader& s) { return s.name == shader; });
    if (found == all.end()) fail("no shader " + std::string(shader));
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    module_info.codeSize = found->words.size_bytes();
    module_info.pCode = found->words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    check(vkCreateShaderModule(device_, &module_info, nullptr, &module), "vkCreateShaderModule");
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
          "vkCreateComputePipelines");
    vkDestroyShaderModule(device_, module, nullptr);
    return pipeline;
}

Pipeline Gpu::make_pipeline(std::string_view shader, VkPipelineLayout layout) {
    all_pipelines_.push_back(create_pipeline(shader, layout));
    return {all_pipelines_.back(), layout};
}

VkPipelineLayout Gpu::layout_for(uint32_t push_bytes) {
    auto [layout, is_new] = layouts_.try_emplace(push_bytes, VkPipelineLayout{});
    if (is_new) layout->second = make_layout(push_bytes, VK_NULL_HANDLE);
    return layout->second;
}

const Pipeline& Gpu::pipeline(std::string_view shader, uint32_t push_bytes) {
    const auto found = pipelines_.find(shader);
    if (found != pipelines_.end()) return found->second;
    return pipelines_.emplace(shader, make_pipeline(shader, layout_for(push_bytes))).first->second;
}

double Gpu::submit_timed(const std::function<void(Recorder&)>& record, int repetitions,
                         double* record_us, double* process_us) {
    const double process_begin_us = process_now_us();
    run([&](Recorder& recorder) {
        vkCmdResetQueryPool(recorder.cmd(), queries_, 0, 2);
        vkCmdWriteTimestamp(recorder.cmd(), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 0);
        const double begin_us = now_us();
        for (int i = 0; i < repetitions; ++i) record(recorder);
        *record_us = (now_us() - begin_us) / repetitions;
        vkCmdWriteTimestamp(recorder.cmd(), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries_, 1);
    });
    *process_us = (process_now_us() - process_begin_us) / repetitions;
    uint64_t stamps[2] = {};
    check(vkGetQueryPoolResults(device_, queries_, 0, 2, sizeof(stamps), stamps, sizeof(uint64_t),
                                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
          "vkGetQueryPoolResults");
    return static_cast<double>(stamps[1] - stamps[0]) * properties_.limits.timestampPeriod * 1e-3 /
           repetitions;
}

Timing Gpu::measure(const std::function<void(Recorder&)>& record, int repetitions,
                    double budget_s) {
    // Warm up for half the budget: an idle GPU needs a few tenths of a second to raise its clock.
    double record_us = 0, process_us = 0;
    const double start_us = now_us();
    int warm_ups = 0;
    do {
        submit_timed(record, repetitions, &record_us, &process_us);
        ++warm_ups;
    } while (now_us() - start_us < budget_s * 5e5);
    const double one_s = (now_us() - start_us) * 1e-6 / warm_ups;

    Timing timing;
    const int least = one_s * 3 > budget_s ? 3 : 5;
    timing.samples = std::clamp(static_cast<int>(budget_s / one_s), least, 100);
    timing.repetitions = repetitions;
    std::vector<double> gpu_us, record_samples_us, process_samples_us;
    for (int i = 0; i < timing.samples; ++i) {
        gpu_us.push_back(submit_timed(record, repetitions, &record_us, &process_us));
        record_samples_us.push_back(record_us);
        process_samples_us.push_back(process_us);
    }
    timing.gpu_us = spread_of(gpu_us);
    timing.record_us = spread_of(record_samples_us);
    timing.process_us = spread_of(process_samples_us);
    return timing;
}

}  // namespace hearth::experiments
