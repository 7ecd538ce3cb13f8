// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The CPU device's kernel tables, and its Vulkan functions that query and create objects.

#include "device/native/device.hpp"

#include "device/native/objects.hpp"
#include "program/records.hpp"

#include <algorithm>

namespace hearth::native {

bool Device::init(const hearth_cpu_context_create_info& info, gpu::Problems& problems) {
    const uint32_t before = problems.count;
    machine_ = machine_cpu();
    cpu_ = info.cpu_isa == HEARTH_CPU_ISA_NONE ? machine_ : static_cast<CpuIsa>(info.cpu_isa);
    if (cpu_ > CpuIsa::kWasm128)
        problems.add("hearth_cpu_context_create_info::cpu_isa is %u, expected a hearth_cpu_isa",
                     static_cast<unsigned>(info.cpu_isa));
    else if (!runs_on(cpu_, machine_))
        problems.add(
            "hearth_cpu_context_create_info::cpu_isa is %s, this machine supports up to %s; use "
            "hearth_detect_cpu_isa()",
            name_of(cpu_), name_of(machine_));
    if (info.table_count > 0 && info.tables == nullptr)
        problems.add("hearth_cpu_context_create_info::tables is null, but table_count is %u",
                     info.table_count);
    else
        for (uint32_t i = 0; i < info.table_count; ++i) {
            if (info.tables[i] == nullptr)
                problems.add("hearth_cpu_context_create_info::tables[%u] is null", i);
            else
                (void)add(*info.tables[i], problems);
        }
    if (info.parallel_for != nullptr && info.thread_count == 0)
        problems.add(
            "hearth_cpu_context_create_info::thread_count is 0, but parallel_for is given; "
            "expected 1 or more");
    build_ = info.compile;
    parallel_ = info.parallel_for;
    thread_count_ = std::max(info.thread_count, 1u);
    user_data_ = info.callback_user_data;
    return problems.count == before;
}

bool Device::add(const hearth_cpu_kernel_table& table, gpu::Problems& problems) {
    const size_t count = table_count_.load(std::memory_order_relaxed);
    const auto cpu = static_cast<CpuIsa>(table.cpu_isa);
    if (count == kMostTables) {
        problems.add("there are more than %zu kernel tables", kMostTables);
    } else if (table.count > 0 && table.kernels == nullptr) {
        problems.add("a table has %u kernels, but kernels is null", table.count);
    } else if (cpu == CpuIsa::kNone || cpu > CpuIsa::kWasm128 || !runs_on(cpu, machine_)) {
        problems.add(
            "a table has kernels for %s, this machine supports up to %s; link tables for this CPU "
            "only",
            name_of(cpu), name_of(machine_));
    } else {
        tables_[count] = &table;
        table_count_.store(count + 1, std::memory_order_release);
        return true;
    }
    return false;
}

Function* Device::find(uint64_t hash) const {
    const size_t count = table_count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) {
        const std::span<const hearth_cpu_kernel> kernels(tables_[i]->kernels, tables_[i]->count);
        const auto found =
            std::lower_bound(kernels.begin(), kernels.end(), hash,
                             [](const hearth_cpu_kernel& k, uint64_t h) { return k.hash < h; });
        if (found != kernels.end() && found->hash == hash) return found->function;
    }
    return nullptr;
}

void Device::build(CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources) {
    if (build_ == nullptr || sources.empty()) return;
    const hearth_cpu_kernel_table* const table =
        build_(user_data_, static_cast<hearth_cpu_isa>(cpu), sources.data(),
               static_cast<uint32_t>(sources.size()));
    gpu::Problems ignored;  // the caller reports kernels that are still missing
    if (table != nullptr) (void)add(*table, ignored);
}

void Device::run_jobs(uint32_t count, void (*job)(void*, uint32_t), void* data) const {
    if (parallel_ != nullptr && count > 1) return parallel_(user_data_, count, job, data);
    for (uint32_t i = 0; i < count; ++i) job(data, i);
}

hearth_features Device::features() {
    return HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS | HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS |
           HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS | HEARTH_FEATURE_HOST_QUERY_RESET;
}

namespace {

Device& device_of(VkPhysicalDevice handle) {
    return *reinterpret_cast<Device*>(handle);
}
Device& device_of(VkDevice handle) {
    return *reinterpret_cast<Device*>(handle);
}

// ------------------------------------------------------------------------ queries

void VKAPI_PTR GetPhysicalDeviceProperties2(VkPhysicalDevice handle,
                                            VkPhysicalDeviceProperties2* out) {
    constexpr uint32_t kMost = 0x7fffffff;
    VkPhysicalDeviceProperties p{};
    p.apiVersion = VK_API_VERSION_1_2;
    p.driverVersion = HEARTH_VERSION;
    p.vendorID = gpu::kNativeVendor;
    p.deviceID = static_cast<uint32_t>(device_of(handle).cpu());
    p.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
    FixedText<VK_MAX_PHYSICAL_DEVICE_NAME_SIZE> name;
    name.set("CPU (%s)", name_of(device_of(handle).cpu()));
    std::memcpy(p.deviceName, name.c_str(), sizeof p.deviceName);
    VkPhysicalDeviceLimits& limits = p.limits;
    limits.maxComputeSharedMemorySize = kMost;
    for (uint32_t& count : limits.maxComputeWorkGroupCount) count = kMost;
    for (uint32_t& size : limits.maxComputeWorkGroupSize) size = 1024;
    limits.maxComputeWorkGroupInvocations = 1024;
    limits.maxPushConstantsSize = static_cast<uint32_t>(file::kMaxNativePushBytes);
    limits.minStorageBufferOffsetAlignment = 16;
    limits.maxStorageBufferRange = UINT32_MAX;
    limits.timestampPeriod = 1;
    limits.timestampComputeAndGraphics = VK_TRUE;
    out->properties = p;
    for (auto* s = static_cast<VkBaseOutStructure*>(out->pNext); s != nullptr; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES) {
            auto* const subgroups = reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(s);
            subgroups->subgroupSize = 1;
            subgroups->supportedStages = VK_SHADER_STAGE_COMPUTE_BIT;
            subgroups->supportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT;
        }
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES)
            reinterpret_cast<VkPhysicalDeviceMaintenance3Properties*>(s)->maxMemoryAllocationSize =
                uint64_t{1} << 46;
    }
}

void VKAPI_PTR GetPhysicalDeviceProperties(VkPhysicalDevice handle,
                                           VkPhysicalDeviceProperties* out) {
    VkPhysicalDeviceProperties2 properties{};
    GetPhysicalDeviceProperties2(handle, &properties);
    *out = properties.properties;
}

void VKAPI_PTR GetPhysicalDeviceFeatures2(VkPhysicalDevice, VkPhysicalDeviceFeatures2* out) {
    gpu::set_features(Device::features(), out);
}

/// Reports one memory type: visible to kernels and application alike.
/// No images: they are written by shaders.
void VKAPI_PTR GetPhysicalDeviceFormatProperties(VkPhysicalDevice, VkFormat,
                                                 VkFormatProperties* out) {
    *out = {};
}

void VKAPI_PTR GetPhysicalDeviceMemoryProperties(VkPhysicalDevice,
                                                 VkPhysicalDeviceMemoryProperties* out) {
    *out = {};
    out->memoryTypeCount = 1;
    out->memoryTypes[0].propertyFlags =
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    out->memoryHeapCount = 1;
    out->memoryHeaps[0] = {uint64_t{1} << 46, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
}

void VKAPI_PTR GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice, uint32_t* count,
                                                      VkQueueFamilyProperties* out) {
    if (out != nullptr && *count > 0) {
        *out = {};
        out->queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
        out->queueCount = 1;
        out->timestampValidBits = 64;
    }
    *count = 1;
}

VkResult VKAPI_PTR EnumerateDeviceExtensionProperties(VkPhysicalDevice, const char*,
                                                      uint32_t* count, VkExtensionProperties*) {
    *count = 0;
    return VK_SUCCESS;
}

// ------------------------------------------------------------------------ memory

VkResult VKAPI_PTR AllocateMemory(VkDevice, const VkMemoryAllocateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDeviceMemory* out) {
    if (info->allocationSize > SIZE_MAX - kMemoryAlignment) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    Memory memory;
    memory.block = allocate(callbacks, static_cast<size_t>(info->allocationSize), kMemoryAlignment);
    if (memory.block == nullptr) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    memory.data = static_cast<std::byte*>(memory.block);
    const VkResult result = create(callbacks, out, memory);
    if (result != VK_SUCCESS) free(callbacks, memory.block);
    return result;
}

void VKAPI_PTR FreeMemory(VkDevice, VkDeviceMemory handle, const VkAllocationCallbacks* callbacks) {
    if (handle == VK_NULL_HANDLE) return;
    free(callbacks, to_object<Memory>(handle)->block);
    destroy<Memory>(callbacks, handle);
}

VkResult VKAPI_PTR MapMemory(VkDevice, VkDeviceMemory handle, VkDeviceSize offset, VkDeviceSize,
                             VkMemoryMapFlags, void** out) {
    *out = to_object<Memory>(handle)->data + offset;
    return VK_SUCCESS;
}

VkResult VKAPI_PTR CreateBuffer(VkDevice, const VkBufferCreateInfo* info,
                                const VkAllocationCallbacks* callbacks, VkBuffer* out) {
    return create(callbacks, out, Buffer{nullptr, info->size});
}
void VKAPI_PTR DestroyBuffer(VkDevice, VkBuffer handle, const VkAllocationCallbacks* callbacks) {
    destroy<Buffer>(callbacks, handle);
}

void VKAPI_PTR GetBufferMemoryRequirements(VkDevice, VkBuffer handle, VkMemoryRequirements* out) {
    const uint64_t bytes = to_object<Buffer>(handle)->bytes;
    *out = {(bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment, kMemoryAlignment,
            1};
}

VkResult VKAPI_PTR BindBufferMemory(VkDevice, VkBuffer handle, VkDeviceMemory memory,
                                    VkDeviceSize offset) {
    to_object<Buffer>(handle)->data = to_object<Memory>(memory)->data + offset;
    return VK_SUCCESS;
}

VkDeviceAddress VKAPI_PTR GetBufferDeviceAddress(VkDevice, const VkBufferDeviceAddressInfo* info) {
    return reinterpret_cast<uintptr_t>(to_object<Buffer>(info->buffer)->data);
}

// ------------------------------------------------------------------------ pipelines

VkResult VKAPI_PTR CreateShaderModule(VkDevice, const VkShaderModuleCreateInfo* info,
                                      const VkAllocationCallbacks* callbacks, VkShaderModule* out) {
    if (info->codeSize != kNativeCodeWords * sizeof(uint32_t)) return VK_ERROR_INVALID_SHADER_NV;
    return create(callbacks, out, Module{native_code({info->pCode, kNativeCodeWords}).hash});
}
void VKAPI_PTR DestroyShaderModule(VkDevice, VkShaderModule handle,
                                   const VkAllocationCallbacks* callbacks) {
    destroy<Module>(callbacks, handle);
}

VkResult VKAPI_PTR CreatePipelineLayout(VkDevice, const VkPipelineLayoutCreateInfo* info,
                                        const VkAllocationCallbacks* callbacks,
                                        VkPipelineLayout* out) {
    const uint32_t bytes = info->pushConstantRangeCount > 0 ? info->pPushConstantRanges[0].size : 0;
    return create(callbacks, out, Layout{bytes});
}
void VKAPI_PTR DestroyPipelineLayout(VkDevice, VkPipelineLayout handle,
                                     const VkAllocationCallbacks* callbacks) {
    destroy<Layout>(callbacks, handle);
}

VkResult VKAPI_PTR CreateComputePipelines(VkDevice handle, VkPipelineCache, uint32_t count,
                                          const VkComputePipelineCreateInfo* infos,
                                          const VkAllocationCallbacks* callbacks, VkPipeline* out) {
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t hash = to_object<Module>(infos[i].stage.module)->hash;
        out[i] = VK_NULL_HANDLE;
        Function* const function = device_of(handle).find(hash);
        const VkResult made = function != nullptr ? create(callbacks, out + i, Pipeline{function})
                                                  : VK_ERROR_INVALID_SHADER_NV;
        if (made != VK_SUCCESS) result = made;
    }
    return result;
}
void VKAPI_PTR DestroyPipeline(VkDevice, VkPipeline handle,
                               const VkAllocationCallbacks* callbacks) {
    destroy<Pipeline>(callbacks, handle);
}

/// Pipeline caches are empty: functions are compiled already.
VkResult VKAPI_PTR CreatePipelineCache(VkDevice, const VkPipelineCacheCreateInfo*,
                                       const VkAllocationCallbacks* callbacks,
                                       VkPipelineCache* out) {
    return create(callbacks, out, Layout{});
}
void VKAPI_PTR DestroyPipelineCache(VkDevice, VkPipelineCache handle,
                                    const VkAllocationCallbacks* callbacks) {
    destroy<Layout>(callbacks, handle);
}
VkResult VKAPI_PTR GetPipelineCacheData(VkDevice, VkPipelineCache, size_t* size, void*) {
    *size = 0;
    return VK_SUCCESS;
}

// ------------------------------------------------------------------------ descriptors
// (unsupported)

VkResult VKAPI_PTR CreateDescriptorSetLayout(VkDevice, const VkDescriptorSetLayoutCreateInfo*,
                                             const VkAllocationCallbacks*, VkDescriptorSetLayout*) {
    return VK_ERROR_FEATURE_NOT_PRESENT;
}
void VKAPI_PTR DestroyDescriptorSetLayout(VkDevice, VkDescriptorSetLayout,
                                          const VkAllocationCallbacks*) {}
VkResult VKAPI_PTR CreateDescriptorPool(VkDevice, const VkDescriptorPoolCreateInfo*,
                                        const VkAllocationCallbacks*, VkDescriptorPool*) {
    return VK_ERROR_FEATURE_NOT_PRESENT;
}
void VKAPI_PTR DestroyDescriptorPool(VkDevice, VkDescriptorPool, const VkAllocationCallbacks*) {}
VkResult VKAPI_PTR AllocateDescriptorSets(VkDevice, const VkDescriptorSetAllocateInfo*,
                                          VkDescriptorSet*) {
    return VK_ERROR_FEATURE_NOT_PRESENT;
}
void VKAPI_PTR UpdateDescriptorSets(VkDevice, uint32_t, const VkWriteDescriptorSet*, uint32_t,
                                    const VkCopyDescriptorSet*) {}

// ------------------------------------------------------------------------ timestamps

VkResult VKAPI_PTR CreateQueryPool(VkDevice, const VkQueryPoolCreateInfo* info,
                                   const VkAllocationCallbacks* callbacks, VkQueryPool* out) {
    QueryPool pool;
    const size_t count = std::max(info->queryCount, 1u);
    pool.values =
        static_cast<uint64_t*>(allocate(callbacks, count * sizeof(uint64_t), alignof(uint64_t)));
    pool.are_written = static_cast<bool*>(allocate(callbacks, count, 1));
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (pool.values != nullptr && pool.are_written != nullptr) {
        std::fill_n(pool.are_written, count, false);
        result = create(callbacks, out, pool);
    }
    if (result != VK_SUCCESS) {
        free(callbacks, pool.values);
        free(callbacks, pool.are_written);
    }
    return result;
}
void VKAPI_PTR DestroyQueryPool(VkDevice, VkQueryPool handle,
                                const VkAllocationCallbacks* callbacks) {
    if (handle == VK_NULL_HANDLE) return;
    free(callbacks, to_object<QueryPool>(handle)->values);
    free(callbacks, to_object<QueryPool>(handle)->are_written);
    destroy<QueryPool>(callbacks, handle);
}
void VKAPI_PTR ResetQueryPool(VkDevice, VkQueryPool handle, uint32_t first, uint32_t count) {
    std::fill_n(to_object<QueryPool>(handle)->are_written + first, count, false);
}

VkResult VKAPI_PTR GetQueryPoolResults(VkDevice, VkQueryPool handle, uint32_t first, uint32_t count,
                                       size_t, void* data, VkDeviceSize stride,
                                       VkQueryResultFlags flags) {
    const QueryPool& pool = *to_object<QueryPool>(handle);
    auto* out = static_cast<std::byte*>(data);
    VkResult result = VK_SUCCESS;
    for (uint32_t i = first; i < first + count; ++i, out += stride) {
        const uint64_t result_words[2] = {pool.values[i], pool.are_written[i] ? 1u : 0u};
        const bool with_availability = (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT) != 0;
        if (!pool.are_written[i]) result = VK_NOT_READY;
        if (pool.are_written[i]) std::memcpy(out, result_words, sizeof(uint64_t));
        if (with_availability)
            std::memcpy(out + sizeof(uint64_t), result_words + 1, sizeof(uint64_t));
    }
    return result;
}

PFN_vkVoidFunction VKAPI_PTR GetDeviceProcAddr(VkDevice, const char* name) {
    return get_instance_proc(VK_NULL_HANDLE, name);
}

struct Named {
    const char* name;
    PFN_vkVoidFunction function;
};

}  // namespace

PFN_vkVoidFunction VKAPI_PTR get_instance_proc(VkInstance, const char* name) {
#define HEARTH_NAMED(function) \
    Named{"vk" #function, reinterpret_cast<PFN_vkVoidFunction>(function)},
    static const Named kFunctions[] = {
        HEARTH_NAMED(GetPhysicalDeviceProperties) HEARTH_NAMED(GetPhysicalDeviceProperties2)
            HEARTH_NAMED(GetPhysicalDeviceFeatures2) HEARTH_NAMED(
                GetPhysicalDeviceFormatProperties) HEARTH_NAMED(GetPhysicalDeviceMemoryProperties)
                HEARTH_NAMED(GetPhysicalDeviceQueueFamilyProperties) HEARTH_NAMED(
                    EnumerateDeviceExtensionProperties) HEARTH_NAMED(GetDeviceProcAddr)
                    HEARTH_NAMED(AllocateMemory) HEARTH_NAMED(FreeMemory) HEARTH_NAMED(MapMemory)
                        HEARTH_NAMED(CreateBuffer) HEARTH_NAMED(DestroyBuffer) HEARTH_NAMED(
                            GetBufferMemoryRequirements) HEARTH_NAMED(BindBufferMemory)
                            HEARTH_NAMED(GetBufferDeviceAddress) HEARTH_NAMED(CreateShaderModule)
                                HEARTH_NAMED(DestroyShaderModule) HEARTH_NAMED(CreatePipelineLayout)
                                    HEARTH_NAMED(DestroyPipelineLayout) HEARTH_NAMED(
                                        CreateComputePipelines) HEARTH_NAMED(DestroyPipeline)
                                        HEARTH_NAMED(CreatePipelineCache) HEARTH_NAMED(
                                            DestroyPipelineCache) HEARTH_NAMED(GetPipelineCacheData)
                                            HEARTH_NAMED(CreateDescriptorSetLayout) HEARTH_NAMED(
                                                DestroyDescriptorSetLayout)
                                                HEARTH_NAMED(CreateDescriptorPool) HEARTH_NAMED(
                                                    DestroyDescriptorPool)
                                                    HEARTH_NAMED(AllocateDescriptorSets)
                                                        HEARTH_NAMED(UpdateDescriptorSets)
                                                            HEARTH_NAMED(CreateQueryPool)
                                                                HEARTH_NAMED(DestroyQueryPool)
                                                                    HEARTH_NAMED(ResetQueryPool)
                                                                        HEARTH_NAMED(
                                                                            GetQueryPoolResults)};
#undef HEARTH_NAMED
    for (const Named& known : kFunctions)
        if (std::strcmp(known.name, name) == 0) return known.function;
    return find_recording_function(name);
}

VkBuffer create_buffer(void* memory, uint64_t bytes, const VkAllocationCallbacks* callbacks) {
    VkBuffer buffer = VK_NULL_HANDLE;
    (void)create(callbacks, &buffer, Buffer{static_cast<std::byte*>(memory), bytes});
    return buffer;
}

}  // namespace hearth::native
