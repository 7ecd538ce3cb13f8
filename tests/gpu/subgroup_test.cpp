// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Subgroup sizes that kernels are written for: which of them a device is asked for, and which it
// can have.

#include "device/vulkan/requirements.hpp"
#include "gpu/rig.hpp"

#include <string_view>
#include <vector>

namespace hearth::test {
namespace {

constexpr hearth_features kSizeControl = HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL,
                          kFullSubgroups = HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS;

/// A host's functions, which note what pipelines ask for, and tell of another range of sizes if one
/// is set.
struct HostFunctions {
    struct Asked {
        uint32_t size = 0;  ///< 0: for none
        bool full = false;
    };
    static inline PFN_vkGetInstanceProcAddr real_instance = nullptr;
    static inline PFN_vkGetDeviceProcAddr real_device = nullptr;
    static inline VkInstance instance = VK_NULL_HANDLE;
    static inline VkDevice device = VK_NULL_HANDLE;
    static inline std::vector<Asked> asked;
    static inline uint32_t size = 0, least = 0, most = 0;  ///< 0: the device's own

    static VkResult VKAPI_PTR create_pipelines(VkDevice handle, VkPipelineCache cache,
                                               uint32_t count,
                                               const VkComputePipelineCreateInfo* infos,
                                               const VkAllocationCallbacks* callbacks,
                                               VkPipeline* out) {
        for (uint32_t i = 0; i < count; ++i) {
            Asked& one = asked.emplace_back();
            for (const auto* s = static_cast<const VkBaseInStructure*>(infos[i].stage.pNext);
                 s != nullptr; s = s->pNext)
                if (s->sType ==
                    VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
                    one.size = reinterpret_cast<
                                   const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo*>(s)
                                   ->requiredSubgroupSize;
            one.full = (infos[i].stage.flags &
                        VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT) != 0;
        }
        const auto create = reinterpret_cast<PFN_vkCreateComputePipelines>(
            real_device(device, "vkCreateComputePipelines"));
        return create(handle, cache, count, infos, callbacks, out);
    }
    static void VKAPI_PTR tell_properties(VkPhysicalDevice handle,
                                          VkPhysicalDeviceProperties2* out) {
        const auto tell = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2>(
            real_instance(instance, "vkGetPhysicalDeviceProperties2"));
        tell(handle, out);
        if (size == 0) return;
        for (auto* s = static_cast<VkBaseOutStructure*>(out->pNext); s != nullptr; s = s->pNext) {
            if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES)
                reinterpret_cast<VkPhysicalDeviceSubgroupProperties*>(s)->subgroupSize = size;
            if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES)
                continue;
            auto& sizes = *reinterpret_cast<VkPhysicalDeviceSubgroupSizeControlProperties*>(s);
            sizes.minSubgroupSize = least;
            sizes.maxSubgroupSize = most;
            sizes.maxComputeWorkgroupSubgroups = 4;
            sizes.requiredSubgroupSizeStages = VK_SHADER_STAGE_COMPUTE_BIT;
        }
    }
    static PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice handle, const char* name) {
        if (std::string_view(name) == "vkCreateComputePipelines")
            return reinterpret_cast<PFN_vkVoidFunction>(&create_pipelines);
        return real_device(handle, name);
    }
    static PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance handle, const char* name) {
        if (std::string_view(name) == "vkGetPhysicalDeviceProperties2")
            return reinterpret_cast<PFN_vkVoidFunction>(&tell_properties);
        return real_instance(handle, name);
    }
};

class SubgroupSizes : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        HostFunctions::real_instance = instance().vk().GetInstanceProcAddr;
        HostFunctions::real_device = vk().GetDeviceProcAddr;
        HostFunctions::instance = instance().handle();
        HostFunctions::device = device().handle();
        HostFunctions::asked.clear();
        HostFunctions::size = HostFunctions::least = HostFunctions::most = 0;
        if ((device().enabled_features() & kSizeControl) == 0)
            GTEST_SKIP() << "subgroupSizeControl is not enabled";
    }

    /// A rig whose first kernel is for subgroups of `size`, on a host that enabled `less` fewer
    /// features.
    RigOptions options(uint32_t size, hearth_features less = 0) {
        RigOptions options;
        options.program = [size](Program& program) { program.kernels[0].subgroup_size = size; };
        options.host = [less](hearth_context_create_info& info) {
            info.features &= ~less;
            info.get_instance_proc_addr = HostFunctions::instance_proc;
            info.get_device_proc_addr = HostFunctions::device_proc;
        };
        return options;
    }

    /// What a device with subgroups of 32, and of 16 to 64 on request, says of a kernel for `size`.
    std::string refusal(uint32_t size, hearth_features less = 0) {
        HostFunctions::size = 32;
        HostFunctions::least = 16;
        HostFunctions::most = 64;
        hearth_context_create_info info = device().host_info();
        options(size, less).host(info);
        const auto context = Context::create(info);
        EXPECT_TRUE(context.ok()) << context.status().message();
        const BindingModel model = binding_model(device());
        Program program = TestProgramBuilder(test_shaders(model), model).build();
        program.kernels[0].subgroup_size = size;
        const auto loaded = LoadedProgram::load(*context, save_program(program));
        EXPECT_TRUE(loaded.ok()) << loaded.status().message();
        const auto session = Session::create(*context, *loaded);
        return session.ok() ? "none" : session.status().message();
    }
};

TEST_F(SubgroupSizes, APipelineAsksForTheOneThatItsKernelIsWrittenFor) {
    const uint32_t size = device().caps()->subgroup_size;
    const std::vector<float> input(3 * kWidth, 0.25f);
    const auto plain = make_rig();
    ASSERT_TRUE(plain);
    const std::vector<float> expected = plain->learn(input, 0.5f);
    const auto rig = make_rig(options(size));
    ASSERT_TRUE(rig);
    EXPECT_EQ(rig->learn(input, 0.5f), expected);
    const bool has_full = (device().enabled_features() & kFullSubgroups) != 0;
    size_t count = 0;
    for (const HostFunctions::Asked& asked : HostFunctions::asked) {
        count += asked.size == size;
        EXPECT_TRUE(asked.size == 0 || asked.size == size) << asked.size;
        EXPECT_EQ(asked.full, asked.size != 0 && has_full);
    }
    EXPECT_EQ(count, 1u);
    EXPECT_GT(HostFunctions::asked.size(), 1u);
}

TEST_F(SubgroupSizes, NothingIsAskedForThatTheHostDidNotEnable) {
    const auto rig =
        make_rig(options(device().caps()->subgroup_size, kSizeControl | kFullSubgroups));
    ASSERT_TRUE(rig);
    ASSERT_FALSE(HostFunctions::asked.empty());
    for (const HostFunctions::Asked& asked : HostFunctions::asked) {
        EXPECT_EQ(asked.size, 0u);
        EXPECT_FALSE(asked.full);
    }
}

TEST_F(SubgroupSizes, AKernelRunsOnADeviceThatHasItsSizeOnRequest) {
    for (const uint32_t size : {16u, 32u, 64u}) EXPECT_EQ(refusal(size), "none") << size;
    for (const uint32_t size : {8u, 48u, 128u})
        EXPECT_NE(refusal(size).find("needs subgroups of " + std::to_string(size) +
                                     ", the device's have 32, and 16 to 64 on request"),
                  std::string::npos)
            << refusal(size);
    // Without the feature there is one size.
    EXPECT_EQ(refusal(32, kSizeControl | kFullSubgroups), "none");
    EXPECT_NE(refusal(64, kSizeControl | kFullSubgroups)
                  .find("needs subgroups of 64, the device's have 32"),
              std::string::npos);
}

TEST_F(SubgroupSizes, ThoseOnRequestAreCapsOfTheDevice) {
    HostFunctions::size = 32;
    HostFunctions::least = 8;
    HostFunctions::most = 64;
    gpu::Problems problems;
    const gpu::InstanceFunctions functions =
        gpu::load_instance_functions(HostFunctions::instance_proc, instance().handle(), problems);
    const auto caps_with = [&](hearth_features enabled) {
        hearth_result result = HEARTH_OK;
        return gpu::query_caps(functions, device().physical_device(), VK_API_VERSION_1_2, enabled,
                               HEARTH_BINDING_DEVICE_ADDRESS, result);
    };
    EXPECT_EQ(caps_with(kSizeControl).min_subgroup_size, 8u);
    EXPECT_EQ(caps_with(kSizeControl).max_subgroup_size, 64u);
    EXPECT_EQ(caps_with(0).min_subgroup_size, 0u);
    EXPECT_EQ(caps_with(0).max_subgroup_size, 0u);
    EXPECT_EQ(caps_with(0).subgroup_size, 32u);
}

}  // namespace
}  // namespace hearth::test
