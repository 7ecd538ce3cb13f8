// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each call that can fail does, one after another: nothing crashes, nothing leaks (the validation
// layers would say so), and the same device works afterwards.

#include "gpu/rig.hpp"
#include "support/vulkan_shim.hpp"

#include <map>

namespace hearth::test {
namespace {

class Failure : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        VulkanShim::get().reset();
        const BindingModel model = binding_model(device());
        bytes_ = save_program(TestProgramBuilder(test_shaders(model), model).build());
    }

    /// From adoption to built pipelines; the first failure, or OK.
    hearth_result live_once(const hearth_host_info& info) {
        hearth_context* context = nullptr;
        hearth_program* program = nullptr;
        hearth_session* session = nullptr;
        hearth_result result = hearth_context_create(&info, &context, nullptr);
        if (result == HEARTH_OK) {
            hearth_program_load_info load = hearth_program_load_info_default();
            load.bytes = bytes_.data();
            load.byte_count = bytes_.size();
            result = hearth_program_load(context, &load, &program);
        }
        if (result == HEARTH_OK) {
            hearth_session_create_info create = hearth_session_create_info_default();
            create.program = program;
            create.flags = HEARTH_SESSION_PROFILE_STEPS | HEARTH_SESSION_COPY_BINDINGS;
            hearth_memory_needs needs = hearth_memory_needs_default();
            result = hearth_session_query_memory(context, &create, &needs);
            if (result == HEARTH_OK) result = hearth_session_create(context, &create, &session);
        }
        if (result == HEARTH_OK) result = hearth_session_build(session, 0);
        if (result == HEARTH_ERROR_OUT_OF_DEVICE_MEMORY && session != nullptr) {
            // A failed pipeline may be tried again.
            EXPECT_EQ(hearth_session_build(session, 0), HEARTH_OK);
        }
        if (result < 0 && session == nullptr && context != nullptr) {
            EXPECT_STRNE(hearth_context_error(context), "");
        }
        hearth_session_destroy(session);
        hearth_program_destroy(program);
        EXPECT_EQ(hearth_context_destroy(context), HEARTH_OK);
        return result;
    }
    std::vector<std::byte> bytes_;
};

TEST_F(Failure, OutOfDeviceMemoryAtEachCallIsAnErrorAndNothingLeaks) {
    hearth_host_info info = device().host_info();
    VulkanShim& shim = VulkanShim::get();
    shim.intercept(info);
    uint32_t failures = 0;
    for (int64_t n = 0; n < 1000; ++n) {
        shim.fallible_calls_left = n;
        const hearth_result result = live_once(info);
        const bool reached = shim.fallible_calls_left < 0;
        shim.fallible_calls_left = -1;
        if (!reached) {
            EXPECT_EQ(result, HEARTH_OK);
            break;
        }
        // The query of extensions needs no extensions to go on; everything else fails.
        EXPECT_TRUE(result == HEARTH_ERROR_OUT_OF_DEVICE_MEMORY) << n << " " << result;
        ++failures;
    }
    EXPECT_GT(failures, 30u);
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Failure, ALostDeviceAtEachCallIsReportedAndTornDown) {
    hearth_host_info info = device().host_info();
    VulkanShim& shim = VulkanShim::get();
    shim.intercept(info);
    shim.failure = VK_ERROR_DEVICE_LOST;
    uint32_t failures = 0;
    for (int64_t n = 0; n < 1000; n += 3) {
        shim.fallible_calls_left = n;
        const hearth_result result = live_once(info);
        const bool reached = shim.fallible_calls_left < 0;
        shim.fallible_calls_left = -1;
        if (!reached) break;
        EXPECT_EQ(result, HEARTH_ERROR_DEVICE_LOST) << n;
        ++failures;
    }
    EXPECT_GT(failures, 10u);
}

/// The host's CPU allocator: keeps count, and refuses the n-th request.
struct CountingAllocator {
    int64_t left = -1;
    bool only_hearth = true;  ///< requests of the driver are always granted
    std::map<void*, size_t> live;
    uint64_t driver_bytes = 0;  ///< requested by the driver, freed or not
    uint64_t refused = 0;

    VkAllocationCallbacks callbacks() {
        VkAllocationCallbacks c{};
        c.pUserData = this;
        c.pfnAllocation = [](void* user, size_t bytes, size_t alignment,
                             VkSystemAllocationScope) -> void* {
            auto& self = *static_cast<CountingAllocator*>(user);
            const bool may_refuse = !self.only_hearth || !VulkanShim::in_driver();
            if (may_refuse && self.left >= 0 && self.left-- == 0) {
                ++self.refused;
                return nullptr;
            }
            alignment = std::max(alignment, sizeof(void*));
            void* memory =
                std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
            self.live[memory] = bytes;
            if (VulkanShim::in_driver()) self.driver_bytes += bytes;
            return memory;
        };
        c.pfnReallocation = [](void* user, void* old, size_t bytes, size_t alignment,
                               VkSystemAllocationScope scope) -> void* {
            auto& self = *static_cast<CountingAllocator*>(user);
            const VkAllocationCallbacks own = self.callbacks();
            void* memory = bytes > 0 ? own.pfnAllocation(user, bytes, alignment, scope) : nullptr;
            if (old != nullptr && (memory != nullptr || bytes == 0)) {
                if (memory != nullptr) std::memcpy(memory, old, std::min(bytes, self.live[old]));
                own.pfnFree(user, old);
            }
            return memory;
        };
        c.pfnFree = [](void* user, void* memory) {
            auto& self = *static_cast<CountingAllocator*>(user);
            if (memory == nullptr) return;
            EXPECT_EQ(self.live.erase(memory), 1u);
            std::free(memory);
        };
        return c;
    }
};

TEST_F(Failure, OutOfHostMemoryAtEachAllocationIsAnErrorAndNothingLeaks) {
    hearth_host_info info = device().host_info();
    VulkanShim::get().intercept(info);
    uint32_t failures = 0;
    for (int64_t n = 0; n < 1000; ++n) {
        CountingAllocator allocator;
        const VkAllocationCallbacks callbacks = allocator.callbacks();
        info.cpu_allocation = &callbacks;
        allocator.left = n;
        const hearth_result result = live_once(info);
        EXPECT_TRUE(allocator.live.empty());
        if (allocator.refused == 0) {
            EXPECT_EQ(result, HEARTH_OK);
            break;
        }
        EXPECT_EQ(result, HEARTH_ERROR_OUT_OF_HOST_MEMORY) << n;
        ++failures;
    }
    EXPECT_GT(failures, 15u);
}

TEST_F(Failure, TheCountOfCpuBytesIsWhatTheHostCounts) {
    CountingAllocator allocator;
    const VkAllocationCallbacks callbacks = allocator.callbacks();
    {
        hearth_host_info info = device().host_info();
        VulkanShim::get().intercept(info);
        info.cpu_allocation = &callbacks;
        Context context = Context::create(info).value();
        const LoadedProgram program = LoadedProgram::load(context, bytes_).value();
        uint64_t host_bytes = 0;
        for (const auto& [memory, bytes] : allocator.live) host_bytes += bytes;
        EXPECT_EQ(context.stats().cpu_bytes, host_bytes - allocator.driver_bytes);
        EXPECT_GE(context.stats().cpu_bytes_peak, context.stats().cpu_bytes);
    }
    EXPECT_TRUE(allocator.live.empty());
}

TEST_F(Failure, ADriverThatRefusesAPipelineLeavesTheRestUsable) {
    RigOptions options;
    options.build_pipelines = false;
    options.host = [](hearth_host_info& info) { VulkanShim::get().intercept(info); };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    VulkanShim& shim = VulkanShim::get();
    shim.failure = VK_ERROR_UNKNOWN;
    // Layout, module, then the pipeline; descriptors have a set layout first.
    shim.fallible_calls_left = binding_model(device()) == BindingModel::kDescriptor ? 3 : 2;
    EXPECT_EQ(hearth_session_build(rig->session.handle(), 0), HEARTH_ERROR_PIPELINE);
    EXPECT_EQ(rig->session.error(), "kernel mix: HEARTH_ERROR_PIPELINE");
    EXPECT_EQ(rig->session.status().pipelines, HEARTH_ERROR_PIPELINE);
    rig->frame([&](VkCommandBuffer commands) {
        const float rate = 0;
        std::array<hearth_bound, 3> bounds;
        const hearth_record_info info = rig->learn_info(commands, 1, rate, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr), HEARTH_ERROR_PIPELINE);
    });
    EXPECT_EQ(hearth_session_build(rig->session.handle(), 0), HEARTH_OK);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

}  // namespace
}  // namespace hearth::test
