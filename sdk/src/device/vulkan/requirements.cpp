// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Queries and checks the features, extensions and capabilities of a physical device.

#include "device/vulkan/requirements.hpp"

#include "core/alloc.hpp"
#include "core/gpu_ids.hpp"
#include "device/vulkan/device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hearth::gpu {

namespace {

constexpr uint32_t kNeverCore = UINT32_MAX;

constexpr Feature kFeatures[] = {
    {HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS, "bufferDeviceAddress", true,
     VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, VK_API_VERSION_1_2},
    {HEARTH_FEATURE_SYNCHRONIZATION_2, "synchronization2", false,
     VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, VK_API_VERSION_1_3},
    {HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS, "storageBuffer16BitAccess", false, nullptr,
     VK_API_VERSION_1_1},
    {HEARTH_FEATURE_SHADER_FLOAT16, "shaderFloat16", false,
     VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, VK_API_VERSION_1_2},
    {HEARTH_FEATURE_SHADER_INT16, "shaderInt16", false, nullptr, VK_API_VERSION_1_0},
    {HEARTH_FEATURE_SHADER_INT64, "shaderInt64", false, nullptr, VK_API_VERSION_1_0},
    {HEARTH_FEATURE_HOST_QUERY_RESET, "hostQueryReset", false,
     VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME, VK_API_VERSION_1_2},
    {HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS, "storageBuffer8BitAccess", false,
     VK_KHR_8BIT_STORAGE_EXTENSION_NAME, VK_API_VERSION_1_2},
    {HEARTH_FEATURE_COOPERATIVE_MATRIX_NV,
     "VkPhysicalDeviceCooperativeMatrixFeaturesNV::cooperativeMatrix", false,
     VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME, kNeverCore},
    {HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR,
     "VkPhysicalDeviceCooperativeMatrixFeaturesKHR::cooperativeMatrix", false,
     kKhrCooperativeMatrixExtension, kNeverCore},
    {HEARTH_FEATURE_VULKAN_MEMORY_MODEL, "vulkanMemoryModel", false,
     VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, VK_API_VERSION_1_2},
    {HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE, "cooperativeMatrixWorkgroupScope", false,
     kNvCooperativeMatrix2Extension, kNeverCore},
    {HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS, "cooperativeMatrixFlexibleDimensions",
     false, kNvCooperativeMatrix2Extension, kNeverCore},
    {HEARTH_FEATURE_TIMELINE_SEMAPHORE, "timelineSemaphore", false,
     VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_API_VERSION_1_2},
    {HEARTH_FEATURE_ROBUST_BUFFER_ACCESS, "robustBufferAccess", false, nullptr, VK_API_VERSION_1_0,
     true},
    {HEARTH_FEATURE_ROBUST_BUFFER_ACCESS_2,
     "VkPhysicalDeviceRobustness2FeaturesEXT::robustBufferAccess2", false,
     VK_EXT_ROBUSTNESS_2_EXTENSION_NAME, kNeverCore, true},
    {HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL, "subgroupSizeControl", false,
     VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3},
    {HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS, "computeFullSubgroups", false,
     VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_API_VERSION_1_3},
    {HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY, "computeOccupancyPriority", false,
     kNvOccupancyPriorityExtension, kNeverCore},
    {HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT, "shaderMixedFloatDotProductFloat16AccFloat32", false,
     kMixedFloatDotProductExtension, kNeverCore},
    {HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT,
     "shaderStorageImageWriteWithoutFormat", false, nullptr, VK_API_VERSION_1_0},
};
static_assert(std::size(kFeatures) == HEARTH_FEATURE_COUNT);

/// A struct of a pNext chain that contains a feature's boolean.
struct Home {
    hearth_features bit;
    VkStructureType type;
    size_t struct_bytes;
    size_t member_offset;
};

#define HEARTH_HOME(bit, structure, type, member) \
    { bit, type, sizeof(structure), offsetof(structure, member) }

// A feature's own struct comes first: it may be appended to any chain that holds none of its homes,
// whereas a VulkanXXFeatures must not appear together with the structs that it aggregates.
constexpr Home kHomes[] = {
    HEARTH_HOME(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS, VkPhysicalDeviceBufferDeviceAddressFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
                bufferDeviceAddress),
    HEARTH_HOME(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, bufferDeviceAddress),
    HEARTH_HOME(HEARTH_FEATURE_SYNCHRONIZATION_2, VkPhysicalDeviceSynchronization2Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES, synchronization2),
    HEARTH_HOME(HEARTH_FEATURE_SYNCHRONIZATION_2, VkPhysicalDeviceVulkan13Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, synchronization2),
    HEARTH_HOME(HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS, VkPhysicalDevice16BitStorageFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, storageBuffer16BitAccess),
    HEARTH_HOME(HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS, VkPhysicalDeviceVulkan11Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, storageBuffer16BitAccess),
    HEARTH_HOME(HEARTH_FEATURE_SHADER_FLOAT16, VkPhysicalDeviceShaderFloat16Int8Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, shaderFloat16),
    HEARTH_HOME(HEARTH_FEATURE_SHADER_FLOAT16, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, shaderFloat16),
    HEARTH_HOME(HEARTH_FEATURE_SHADER_INT16, VkPhysicalDeviceFeatures2,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, features.shaderInt16),
    HEARTH_HOME(HEARTH_FEATURE_SHADER_INT64, VkPhysicalDeviceFeatures2,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, features.shaderInt64),
    HEARTH_HOME(HEARTH_FEATURE_HOST_QUERY_RESET, VkPhysicalDeviceHostQueryResetFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES, hostQueryReset),
    HEARTH_HOME(HEARTH_FEATURE_HOST_QUERY_RESET, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, hostQueryReset),
    HEARTH_HOME(HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS, VkPhysicalDevice8BitStorageFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, storageBuffer8BitAccess),
    HEARTH_HOME(HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, storageBuffer8BitAccess),
    HEARTH_HOME(HEARTH_FEATURE_COOPERATIVE_MATRIX_NV, VkPhysicalDeviceCooperativeMatrixFeaturesNV,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV,
                cooperativeMatrix),
    HEARTH_HOME(HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR, KhrCooperativeMatrixFeatures,
                kKhrCooperativeMatrixFeaturesType, cooperativeMatrix),
    HEARTH_HOME(HEARTH_FEATURE_VULKAN_MEMORY_MODEL, VkPhysicalDeviceVulkanMemoryModelFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, vulkanMemoryModel),
    HEARTH_HOME(HEARTH_FEATURE_VULKAN_MEMORY_MODEL, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, vulkanMemoryModel),
    HEARTH_HOME(HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE, NvCooperativeMatrix2Features,
                kNvCooperativeMatrix2FeaturesType, cooperativeMatrixWorkgroupScope),
    HEARTH_HOME(HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS, NvCooperativeMatrix2Features,
                kNvCooperativeMatrix2FeaturesType, cooperativeMatrixFlexibleDimensions),
    HEARTH_HOME(HEARTH_FEATURE_TIMELINE_SEMAPHORE, VkPhysicalDeviceTimelineSemaphoreFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, timelineSemaphore),
    HEARTH_HOME(HEARTH_FEATURE_TIMELINE_SEMAPHORE, VkPhysicalDeviceVulkan12Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, timelineSemaphore),
    HEARTH_HOME(HEARTH_FEATURE_ROBUST_BUFFER_ACCESS, VkPhysicalDeviceFeatures2,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, features.robustBufferAccess),
    HEARTH_HOME(HEARTH_FEATURE_ROBUST_BUFFER_ACCESS_2, VkPhysicalDeviceRobustness2FeaturesEXT,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT, robustBufferAccess2),
    HEARTH_HOME(HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL, VkPhysicalDeviceSubgroupSizeControlFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                subgroupSizeControl),
    HEARTH_HOME(HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL, VkPhysicalDeviceVulkan13Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, subgroupSizeControl),
    HEARTH_HOME(HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS, VkPhysicalDeviceSubgroupSizeControlFeatures,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                computeFullSubgroups),
    HEARTH_HOME(HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS, VkPhysicalDeviceVulkan13Features,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, computeFullSubgroups),
    HEARTH_HOME(HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY, NvOccupancyPriorityFeatures,
                kNvOccupancyPriorityFeaturesType, computeOccupancyPriority),
    HEARTH_HOME(HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT, MixedFloatDotProductFeatures,
                kMixedFloatDotProductFeaturesType, shaderMixedFloatDotProductFloat16AccFloat32),
    HEARTH_HOME(HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT, VkPhysicalDeviceFeatures2,
                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                features.shaderStorageImageWriteWithoutFormat),
};

#undef HEARTH_HOME

/// An upper bound of the size of all single structs of kHomes together.
constexpr size_t kMaxChainBytes = 768;

size_t align_up(size_t bytes) {
    return (bytes + 7) & ~size_t{7};
}

VkBool32* member_of(VkBaseOutStructure* structure, const Home& home) {
    return reinterpret_cast<VkBool32*>(reinterpret_cast<std::byte*>(structure) +
                                       home.member_offset);
}

/// Returns the boolean of `bit` in the chain, or null.
VkBool32* find_in_chain(VkBaseOutStructure* chain, hearth_features bit) {
    for (VkBaseOutStructure* s = chain; s != nullptr; s = s->pNext)
        for (const Home& home : kHomes)
            if (home.bit == bit && home.type == s->sType) return member_of(s, home);
    return nullptr;
}

const Home& own_home(hearth_features bit) {
    return *std::find_if(std::begin(kHomes), std::end(kHomes),
                         [&](const Home& home) { return home.bit == bit; });
}

/// The names of a device's extensions. Queried before there is a context, so the memory comes from
/// the C library.
class ExtensionNames {
  public:
    VkResult load(const InstanceFunctions& vk, VkPhysicalDevice physical_device) {
        uint32_t count = 0;
        const auto list = [&](VkExtensionProperties* out) {
            return vk.EnumerateDeviceExtensionProperties(physical_device, nullptr, &count, out);
        };
        if (const VkResult r = list(nullptr); r != VK_SUCCESS) return r;
        if (!properties_.resize(allocator_, count)) return VK_ERROR_OUT_OF_HOST_MEMORY;
        if (const VkResult r = list(properties_.data()); r != VK_SUCCESS) return r;
        if (!names_.resize(allocator_, count)) return VK_ERROR_OUT_OF_HOST_MEMORY;
        for (uint32_t i = 0; i < count; ++i) names_[i] = properties_[i].extensionName;
        return VK_SUCCESS;
    }
    std::span<const char* const> names() const { return {names_.data(), names_.size()}; }

  private:
    HostAllocator allocator_;
    Array<VkExtensionProperties> properties_;
    Array<const char*> names_;
};

/// Shape of cooperative matrices, of either extension; their enumerators have the same values.
struct MatrixKind {
    uint32_t m = 0, n = 0, k = 0;

    bool is_square() const { return m == 16 && n == 16 && k == 16; }
};

/// True for f16 operands with f32 accumulation.
template <class Properties>
bool is_mixed(const Properties& p, VkComponentTypeNV result) {
    return p.AType == VK_COMPONENT_TYPE_FLOAT16_NV && p.BType == VK_COMPONENT_TYPE_FLOAT16_NV &&
           p.CType == VK_COMPONENT_TYPE_FLOAT32_NV && result == VK_COMPONENT_TYPE_FLOAT32_NV;
}

/// Zero sizes unless it is f16 with f32 accumulation at subgroup scope.
template <class Properties>
MatrixKind to_kind(const Properties& p, VkComponentTypeNV result) {
    const bool is_fit = is_mixed(p, result) && p.scope == VK_SCOPE_SUBGROUP_NV;
    return is_fit ? MatrixKind{p.MSize, p.NSize, p.KSize} : MatrixKind{};
}
MatrixKind kind_of(const VkCooperativeMatrixPropertiesNV& p) {
    return to_kind(p, p.DType);
}
MatrixKind kind_of(const KhrCooperativeMatrixProperties& p) {
    return to_kind(p, p.ResultType);
}

/// Calls `use` with each shape that the device lists.
template <class Properties, class Use>
void for_each_kind(VkResult(VKAPI_PTR* query)(VkPhysicalDevice, uint32_t*, Properties*),
                   VkPhysicalDevice physical_device, VkStructureType type, const Use& use) {
    uint32_t count = 0;
    if (query == nullptr || query(physical_device, &count, nullptr) != VK_SUCCESS) return;
    HostAllocator allocator;
    Array<Properties> listed;
    if (!listed.resize(allocator, count)) return;
    for (uint32_t i = 0; i < count; ++i) listed[i].sType = type;
    if (query(physical_device, &count, listed.data()) != VK_SUCCESS) return;
    for (uint32_t i = 0; i < count; ++i) use(listed[i]);
}

/// Chooses 16x16x16 if the device lists it, else the first suitable shape.
template <class Properties>
MatrixKind choose_kind(VkResult(VKAPI_PTR* query)(VkPhysicalDevice, uint32_t*, Properties*),
                       VkPhysicalDevice physical_device, VkStructureType type) {
    MatrixKind chosen;
    for_each_kind(query, physical_device, type, [&](const Properties& listed) {
        if (const MatrixKind kind = kind_of(listed);
            kind.is_square() || (kind.m != 0 && chosen.m == 0))
            chosen = kind;
    });
    return chosen;
}

/// Fills in the granularities of workgroup-scope cooperative matrices.
void query_workgroup_matrices(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                              hearth_device_caps& caps) {
    NvCooperativeMatrix2Properties limits{};
    limits.sType = kNvCooperativeMatrix2PropertiesType;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &limits;
    vk.GetPhysicalDeviceProperties2(physical_device, &properties);
    caps.workgroup_scope_reserved_shared_memory =
        limits.cooperativeMatrixWorkgroupScopeReservedSharedMemory;
    uint32_t count = 0;
    for_each_kind(
        vk.GetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV, physical_device,
        kNvFlexibleDimensionsPropertiesType, [&](const NvFlexibleDimensionsProperties& p) {
            if (count == HEARTH_MAX_WORKGROUP_SCOPE_GRANULARITIES || !is_mixed(p, p.ResultType) ||
                p.scope != VK_SCOPE_WORKGROUP_NV || p.saturatingAccumulation == VK_TRUE)
                return;
            caps.workgroup_scope_granularities[count++] = {p.workgroupInvocations, p.MGranularity,
                                                           p.NGranularity, p.KGranularity};
        });
}

/// True of 8x8x16, which Intel's DG2 alone has: each kernel with matrices spills there, and one takes
/// a minute to compile (ANV of Mesa 26.2).  Such a device counts as one without matrix cores.
bool spills(const MatrixKind& kind) {
    return kind.m == 8 && kind.n == 8 && kind.k == 16;
}

/// Fills in the matrix core support with these enabled features.
void query_cooperative_matrix(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                              hearth_features enabled, hearth_device_caps& caps) {
    constexpr hearth_features kKhr =
        HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR | HEARTH_FEATURE_VULKAN_MEMORY_MODEL;
    constexpr hearth_features kElements =
        HEARTH_FEATURE_SHADER_FLOAT16 | HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS;
    if ((enabled & kElements) != kElements) return;
    MatrixKind khr, nv;
    if ((enabled & kKhr) == kKhr)
        khr = choose_kind(vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR, physical_device,
                          kKhrCooperativeMatrixPropertiesType);
    if ((enabled & HEARTH_FEATURE_COOPERATIVE_MATRIX_NV) != 0)
        nv = choose_kind(vk.GetPhysicalDeviceCooperativeMatrixPropertiesNV, physical_device,
                         VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV);
    // KHR first: the same product takes 14 % less time with it on an H200 (driver 580).
    const MatrixKind& kind = khr.m != 0 ? khr : nv;
    if (kind.m == 0 || spills(kind)) return;
    caps.cooperative_matrix =
        khr.m != 0 ? HEARTH_COOPERATIVE_MATRIX_EXT_KHR : HEARTH_COOPERATIVE_MATRIX_EXT_NV;
    caps.cooperative_matrix_m = kind.m;
    caps.cooperative_matrix_n = kind.n;
    caps.cooperative_matrix_k = kind.k;
    caps.cooperative_matrix_nv = nv.m == kind.m && nv.n == kind.n && nv.k == kind.k ? 1 : 0;
    constexpr hearth_features kWorkgroup = HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE |
                                           HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS;
    if (caps.cooperative_matrix == HEARTH_COOPERATIVE_MATRIX_EXT_KHR &&
        (enabled & kWorkgroup) == kWorkgroup)
        query_workgroup_matrices(vk, physical_device, caps);
}

/// True if the feature's struct may be queried and enabled.
bool is_reachable(const Feature& feature, uint32_t api_version,
                  std::span<const char* const> extensions) {
    return api_version >= feature.core_version ||
           (feature.extension != nullptr && contains(extensions, feature.extension));
}

}  // namespace

void Problems::add(const char* format, ...) {
    const bool is_first = count++ == 0;
    if (text.is_full()) return;  // bounds the number of problems
    va_list arguments;
    va_start(arguments, format);
    if (!is_first) text.append_line_break();
    text.append_list(format, arguments);
    va_end(arguments);
}

bool contains(std::span<const char* const> names, const char* name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* n) { return std::strcmp(n, name) == 0; });
}

std::span<const Feature> all_features() {
    return kFeatures;
}

hearth_features required_features(hearth_binding_model model) {
    hearth_features bits = 0;
    for (const Feature& feature : kFeatures)
        if (feature.needed_for_addresses && model == HEARTH_BINDING_DEVICE_ADDRESS)
            bits |= feature.bit;
    return bits;
}

hearth_features untrusted_features() {
    hearth_features bits = 0;
    for (const Feature& feature : kFeatures)
        if (feature.needed_for_untrusted) bits |= feature.bit;
    return bits;
}

const char* required_extension(hearth_binding_model model) {
    return model == HEARTH_BINDING_PUSH_DESCRIPTOR ? VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME
                                                   : nullptr;
}

InstanceFunctions load_instance_functions(hearth_get_instance_proc get_proc, VkInstance instance,
                                          Problems& problems) {
    InstanceFunctions vk;
#define HEARTH_LOAD(name)                                                     \
    vk.name = reinterpret_cast<PFN_vk##name>(get_proc(instance, "vk" #name)); \
    if (vk.name == nullptr) problems.add("get_instance_proc_addr: no vk" #name);
    HEARTH_INSTANCE_FUNCTIONS(HEARTH_LOAD)
#undef HEARTH_LOAD
#define HEARTH_LOAD(name) \
    vk.name = reinterpret_cast<decltype(vk.name)>(get_proc(instance, "vk" #name));
    HEARTH_OPTIONAL_INSTANCE_FUNCTIONS(HEARTH_LOAD)
#undef HEARTH_LOAD
    return vk;
}

hearth_features supported_features(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                                   uint32_t api_version, std::span<const char* const> extensions) {
    hearth_features reachable = 0;
    for (const Feature& feature : kFeatures)
        if (is_reachable(feature, api_version, extensions)) reachable |= feature.bit;

    VkPhysicalDeviceFeatures2 chain{};
    chain.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    alignas(8) std::byte storage[kMaxChainBytes];
    size_t storage_bytes = sizeof storage;
    auto* const head = reinterpret_cast<VkBaseOutStructure*>(&chain);
    if (patch_features(reachable, head, storage, &storage_bytes) != HEARTH_OK) return 0;
    vk.GetPhysicalDeviceFeatures2(physical_device, &chain);

    hearth_features supported = 0;
    for (const Feature& feature : kFeatures)
        if ((reachable & feature.bit) != 0 && *find_in_chain(head, feature.bit) == VK_TRUE)
            supported |= feature.bit;
    return supported;
}

DeviceProperties query_properties(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                                  hearth_features enabled) {
    // VkPhysicalDeviceVulkan11Properties requires Vulkan 1.2.
    VkPhysicalDeviceSubgroupSizeControlProperties sizes{};
    sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES;
    VkPhysicalDeviceMaintenance3Properties allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES;
    const bool has_sizes = (enabled & HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL) != 0;
    allocation.pNext = has_sizes ? &sizes : nullptr;
    VkPhysicalDeviceSubgroupProperties subgroups{};
    subgroups.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES;
    subgroups.pNext = &allocation;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &subgroups;
    vk.GetPhysicalDeviceProperties2(physical_device, &properties);

    DeviceProperties found;
    found.device = properties.properties;
    found.max_allocation_bytes = allocation.maxMemoryAllocationSize;
    // Workarounds (core/driver_workarounds.hpp): kUnreportedSubgroups, kBasicSubgroups.
    found.subgroup_size = std::max(1u, subgroups.subgroupSize);
    if (subgroups.subgroupSize != 0 &&
        (subgroups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
        found.subgroup_operations =
            has_unreliable_shuffles(found.device.vendorID)
                ? subgroups.supportedOperations & VK_SUBGROUP_FEATURE_BASIC_BIT
                : subgroups.supportedOperations;
    if ((sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        found.min_subgroup_size = sizes.minSubgroupSize;
        found.max_subgroup_size = sizes.maxSubgroupSize;
        found.max_workgroup_subgroups = sizes.maxComputeWorkgroupSubgroups;
    }
    return found;
}

namespace {

/// Fills in the ids of device and driver, and the number of compute units (SMs, CUs, cores). Vulkan
/// has no property for the latter, but vendor extensions have, which can be queried without being
/// enabled; where there is none, known_units() may know them by the device's id.
hearth_result query_identity(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                             uint32_t api_version, hearth_device_caps& caps) {
    ExtensionNames available;
    const hearth_result result = to_result(available.load(vk, physical_device));
    if (result != HEARTH_OK) return result;
    const auto has = [&](const char* name) { return contains(available.names(), name); };
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia{};
    nvidia.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV;
    VkPhysicalDeviceShaderCoreProperties2AMD amd{};
    amd.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD;
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm{};
    arm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM;
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    if (has(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME))
        properties.pNext = &nvidia;
    else if (has(VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME))
        properties.pNext = &amd;
    else if (has(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME))
        properties.pNext = &arm;
    if (api_version >= VK_API_VERSION_1_2 || has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME)) {
        driver.pNext = properties.pNext;
        properties.pNext = &driver;
    }
    vk.GetPhysicalDeviceProperties2(physical_device, &properties);
    caps.vendor_id = properties.properties.vendorID;
    caps.device_id = properties.properties.deviceID;
    caps.driver_version = properties.properties.driverVersion;
    caps.driver_id = driver.driverID;
    caps.compute_units = nvidia.shaderSMCount + amd.activeComputeUnitCount + arm.shaderCoreCount;
    if (caps.compute_units == 0) caps.compute_units = known_units(caps.vendor_id, caps.device_id);
    return HEARTH_OK;
}

/// Kernels for pairs of f16 ask for this rounding by an execution mode.
bool rounds_halves_to_even(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                           uint32_t api_version) {
    if (api_version < VK_API_VERSION_1_2) return false;
    VkPhysicalDeviceFloatControlsProperties controls{};
    controls.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES;
    VkPhysicalDeviceProperties2 properties{};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    properties.pNext = &controls;
    vk.GetPhysicalDeviceProperties2(physical_device, &properties);
    return controls.shaderRoundingModeRTEFloat16 == VK_TRUE;
}

}  // namespace

uint32_t newest_spirv(uint32_t api_version) {
    return api_version >= VK_API_VERSION_1_3   ? 0x00010600
           : api_version >= VK_API_VERSION_1_2 ? 0x00010500
                                               : 0x00010300;
}

hearth_device_caps query_caps(const InstanceFunctions& vk, VkPhysicalDevice physical_device,
                              uint32_t api_version, hearth_features enabled,
                              hearth_binding_model model, hearth_result& result) {
    const DeviceProperties found = query_properties(vk, physical_device, enabled);
    const VkPhysicalDeviceProperties& properties = found.device;
    const VkPhysicalDeviceLimits& limits = properties.limits;

    hearth_device_caps caps = hearth_device_caps_default();
    std::memcpy(caps.name, properties.deviceName, sizeof caps.name);
    caps.name[sizeof caps.name - 1] = '\0';
    caps.subgroup_size = found.subgroup_size;
    caps.min_subgroup_size = found.min_subgroup_size;
    caps.max_subgroup_size = found.max_subgroup_size;
    caps.spirv_version = newest_spirv(api_version);
    caps.buffer_device_address = model == HEARTH_BINDING_DEVICE_ADDRESS;
    caps.device_type = static_cast<uint32_t>(properties.deviceType);
    result = query_identity(vk, physical_device, api_version, caps);
    caps.max_compute_work_group_invocations = limits.maxComputeWorkGroupInvocations;
    caps.max_compute_work_group_size_x = limits.maxComputeWorkGroupSize[0];
    caps.max_compute_work_group_count_x = limits.maxComputeWorkGroupCount[0];
    caps.max_compute_shared_memory_size = limits.maxComputeSharedMemorySize;
    caps.max_push_constants_size = limits.maxPushConstantsSize;
    // 256 is the largest minStorageBufferOffsetAlignment that Vulkan allows.
    caps.min_storage_buffer_offset_alignment =
        std::max<uint64_t>(256, limits.minStorageBufferOffsetAlignment);
    caps.max_storage_buffer_range = found.max_allocation_bytes;
    if (model == HEARTH_BINDING_PUSH_DESCRIPTOR)
        caps.max_storage_buffer_range =
            std::min<uint64_t>(caps.max_storage_buffer_range, limits.maxStorageBufferRange);
    caps.shader_float16 = (enabled & HEARTH_FEATURE_SHADER_FLOAT16) != 0;
    caps.storage_buffer_16bit_access = (enabled & HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS) != 0;
    caps.storage_buffer_8bit_access = (enabled & HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS) != 0;
    caps.shader_int64 = (enabled & HEARTH_FEATURE_SHADER_INT64) != 0;
    constexpr hearth_features kDots = HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT |
                                      HEARTH_FEATURE_SHADER_FLOAT16 |
                                      HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS;
    caps.mixed_float_dot_product =
        (enabled & kDots) == kDots && rounds_halves_to_even(vk, physical_device, api_version);
    caps.subgroup_arithmetic =
        (found.subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
    if (properties.vendorID == kNativeVendor) caps.cpu_isa = properties.deviceID;
    query_cooperative_matrix(vk, physical_device, enabled, caps);
    // Matrices of 8 rows are Intel's: in subgroups of 32 fragments take twice the registers.
    constexpr uint32_t kIntelSubgroup = 16;
    if (caps.cooperative_matrix_m == 8 && found.min_subgroup_size != 0 &&
        found.min_subgroup_size <= kIntelSubgroup && kIntelSubgroup <= found.max_subgroup_size)
        caps.subgroup_size = kIntelSubgroup;
    return caps;
}

hearth_result query_requirements(const hearth_device_requirements_info& query,
                                 hearth_requirements& out, Problems& problems) {
    out.min_api_version = kMinApiVersion;
    out.compute_queue_count = 1;
    if (query.get_instance_proc_addr == nullptr || query.instance == VK_NULL_HANDLE ||
        query.physical_device == VK_NULL_HANDLE) {
        problems.add(
            "hearth_device_requirements_info: instance, physical_device and get_instance_proc_addr "
            "must be given");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    const InstanceFunctions vk =
        load_instance_functions(query.get_instance_proc_addr, query.instance, problems);
    if (problems.count > 0) return HEARTH_ERROR_UNSUPPORTED;
    const bool is_new_enough = query.api_version >= kMinApiVersion;
    if (!is_new_enough)
        problems.add(
            "Vulkan 1.1 or newer is required, the version in use is %u.%u; create the instance "
            "with a newer apiVersion, or update the driver",
            VK_API_VERSION_MAJOR(query.api_version), VK_API_VERSION_MINOR(query.api_version));

    ExtensionNames available;
    if (const VkResult r = available.load(vk, query.physical_device); r != VK_SUCCESS)
        return to_result(r);
    const bool is_untrusted = query.allow_untrusted_programs != 0;
    const auto require = [&](const char* name) {
        out.required_extensions[out.required_extension_count++] = name;
        if (!contains(available.names(), name))
            problems.add(
                "device extension %s is required, and the device does not support it; update the "
                "driver or choose another device",
                name);
    };
    // Untrusted programs use descriptors, whatever the application's own programs use.
    if (const char* name =
            required_extension(is_untrusted ? HEARTH_BINDING_PUSH_DESCRIPTOR : query.binding_model);
        name != nullptr)
        require(name);
    out.required_features = required_features(query.binding_model);
    if (is_untrusted) out.required_features |= untrusted_features();
    const hearth_features supported =
        supported_features(vk, query.physical_device, query.api_version, available.names());
    out.optional_features = supported & ~out.required_features & ~untrusted_features();
    for (const Feature& feature : kFeatures) {
        const bool is_required = (out.required_features & feature.bit) != 0;
        const bool needs_extension = query.api_version < feature.core_version;
        if (is_required && needs_extension && feature.extension != nullptr)
            require(feature.extension);
        // A missing version or extension is reported once, not again for each feature that needs
        // it.
        if (is_required && is_reachable(feature, query.api_version, available.names()) &&
            (supported & feature.bit) == 0)
            problems.add(
                "feature %s is required, and the device does not support it; update the driver or "
                "choose another device",
                feature.name);
        const std::span<const char* const> listed(out.optional_extensions,
                                                  out.optional_extension_count);
        if ((out.optional_features & feature.bit) != 0 && needs_extension &&
            !contains(listed, feature.extension))
            out.optional_extensions[out.optional_extension_count++] = feature.extension;
    }
    return problems.count == 0 ? HEARTH_OK : HEARTH_ERROR_UNSUPPORTED;
}

hearth_result report_unknown_extensions(const InstanceFunctions& vk,
                                        VkPhysicalDevice physical_device,
                                        std::span<const char* const> listed, Problems& problems) {
    if (listed.empty()) return HEARTH_OK;
    ExtensionNames available;
    if (const VkResult r = available.load(vk, physical_device); r != VK_SUCCESS)
        return to_result(r);
    for (const char* name : listed)
        if (!contains(available.names(), name))
            problems.add(
                "device extension %s is listed as enabled, and the device does not have it; check "
                "its spelling, unless a layer provides it",
                name);
    return HEARTH_OK;
}

hearth_features read_features(const VkBaseInStructure* chain,
                              const VkPhysicalDeviceFeatures* enabled) {
    hearth_features found = 0;
    const auto read = [&](VkStructureType type, const void* structure) {
        for (const Home& home : kHomes) {
            if (home.type != type) continue;
            VkBool32 value = VK_FALSE;
            std::memcpy(&value, static_cast<const std::byte*>(structure) + home.member_offset,
                        sizeof value);
            if (value == VK_TRUE) found |= home.bit;
        }
    };
    for (const VkBaseInStructure* s = chain; s != nullptr; s = s->pNext) read(s->sType, s);
    if (enabled != nullptr) {
        VkPhysicalDeviceFeatures2 features{};
        features.features = *enabled;
        read(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &features);
    }
    return found;
}

void set_features(hearth_features features, VkPhysicalDeviceFeatures2* chain) {
    for (const Feature& feature : kFeatures)
        if (VkBool32* member =
                find_in_chain(reinterpret_cast<VkBaseOutStructure*>(chain), feature.bit))
            *member = (features & feature.bit) != 0 ? VK_TRUE : VK_FALSE;
}

hearth_result patch_features(hearth_features features, VkBaseOutStructure* chain, void* storage,
                             size_t* storage_bytes) {
    size_t needed = 0;
    for (const Feature& feature : kFeatures)
        if ((features & feature.bit) != 0 && find_in_chain(chain, feature.bit) == nullptr)
            needed += align_up(own_home(feature.bit).struct_bytes);
    const size_t given = *storage_bytes;
    *storage_bytes = needed;
    if (storage == nullptr) return HEARTH_OK;
    if (given < needed) return HEARTH_ERROR_OUT_OF_RANGE;

    auto* free_storage = static_cast<std::byte*>(storage);
    for (const Feature& feature : kFeatures) {
        if ((features & feature.bit) == 0) continue;
        if (VkBool32* member = find_in_chain(chain, feature.bit)) {
            *member = VK_TRUE;
            continue;
        }
        const Home& home = own_home(feature.bit);
        std::memset(free_storage, 0, home.struct_bytes);
        auto* added = reinterpret_cast<VkBaseOutStructure*>(free_storage);
        added->sType = home.type;
        if (chain == nullptr) {
            chain = added;  // at the beginning of the storage, where the application finds it
        } else {
            added->pNext = chain->pNext;
            chain->pNext = added;
        }
        *member_of(added, home) = VK_TRUE;
        free_storage += align_up(home.struct_bytes);
    }
    return HEARTH_OK;
}

}  // namespace hearth::gpu
