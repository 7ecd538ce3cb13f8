// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each call that can fail does, one after another: nothing crashes, nothing leaks (the validation
// layers would say so), and the same device works afterwards.

#include "core/portable.hpp"
#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"
#include "program/package.hpp"
#include "support/vulkan_shim.hpp"

#include <cinttypes>
#include <cstdio>
#include <map>

#if defined(HEARTH_TEST_SANITIZER_ALLOCATES)
// Of the sanitizers' allocator; GCC 12 comes without the header.
extern "C" size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace hearth::test {
namespace {

/// Everything that a host does with Hearth, one call after the other, as far as it gets.
class Life {
  public:
    Life(standalone::Device& device, std::span<const std::byte> program,
         std::span<const std::byte> package)
        : device_(device), program_bytes_(program), package_bytes_(package) {}

    /// Before the call of this index the host learns that the device is lost.
    int64_t lost_before_call = -1;

    /// The first failure, or OK.  Once the device is lost, each call says so and calls nothing of
    /// Vulkan.
    hearth_result run(const hearth_context_create_info& info) {
        (void)call("context_create",
                   [&] { return hearth_context_create(&info, &context_, nullptr); });
        if (context_ != nullptr) live();
        hearth_session_destroy(session_);
        hearth_session_destroy(other_session_);
        hearth_program_destroy(package_);
        hearth_program_destroy(program_);
        EXPECT_EQ(hearth_context_destroy(context_), HEARTH_OK);
        return first_failure_;
    }
    int64_t call_count() const { return call_count_; }
    bool has_acted_right() const { return has_acted_right_; }

  private:
    template <class Call>
    hearth_result call(const char* name, const Call& make) {
        const VulkanShim& shim = VulkanShim::get();
        if (call_count_++ == lost_before_call && context_ != nullptr) {
            hearth_context_notify_device_lost(context_);
            is_lost_ = true;
        }
        const bool was_lost = is_lost_;
        const uint64_t vulkan_calls = shim.total_calls();
        const hearth_result result = make();
        if (was_lost) {
            EXPECT_EQ(result, HEARTH_ERROR_DEVICE_LOST) << name;
            EXPECT_EQ(shim.total_calls(), vulkan_calls) << name;
        }
        is_lost_ |= result == HEARTH_ERROR_DEVICE_LOST;
        if (result < 0 && first_failure_ == HEARTH_OK) first_failure_ = result;
        return result;
    }

    void live() {
        hearth_program_load_info load = hearth_program_load_info_default();
        load.bytes = program_bytes_.data();
        load.byte_count = program_bytes_.size();
        (void)call("program_load", [&] { return hearth_program_load(context_, &load, &program_); });
        hearth_package_load_info from = hearth_package_load_info_default();
        from.bytes = package_bytes_.data();
        from.byte_count = package_bytes_.size();
        (void)call("package_load", [&] { return hearth_package_load(context_, &from, &package_); });
        hearth_session_create_info create = hearth_session_create_info_default();
        create.program = package_ != nullptr ? package_ : program_;
        create.flags = HEARTH_SESSION_TIMESTAMP_COMMANDS | HEARTH_SESSION_ALLOW_STAGING_COPIES |
                       HEARTH_SESSION_KEEP_INITIAL_WEIGHTS | HEARTH_SESSION_VALIDATE_BINDINGS;
        if (create.program == nullptr) return;
        hearth_memory_requirements needs = hearth_memory_requirements_default();
        (void)call("query_memory", [&] {
            return hearth_session_get_memory_requirements(context_, &create, &needs);
        });
        (void)call("session_create",
                   [&] { return hearth_session_create(context_, &create, &session_); });
        if (session_ == nullptr) {
            EXPECT_TRUE(is_lost_ || *hearth_context_error(context_) != '\0');
            return;
        }
        // A failed pipeline may be tried again.
        if (call("build", [&] { return hearth_session_create_pipelines(session_, 0); }) < 0)
            (void)call("build again", [&] { return hearth_session_create_pipelines(session_, 0); });
        hearth_image_converter_create_info reader = hearth_image_converter_create_info_default();
        reader.format = VK_FORMAT_R8G8B8A8_UNORM;
        hearth_image_converter* converter = nullptr;
        (void)call("converter_create",
                   [&] { return hearth_image_converter_create(context_, &reader, &converter); });
        hearth_image_converter_destroy(converter);
        create.program = program_;
        if (program_ != nullptr)
            (void)call("second session",
                       [&] { return hearth_session_create(context_, &create, &other_session_); });
        frames();
        uint64_t bytes = 0;
        (void)call("pipeline cache size",
                   [&] { return hearth_context_save_pipeline_cache(context_, nullptr, &bytes); });
        std::vector<std::byte> cache(static_cast<size_t>(bytes));
        if (!cache.empty())
            (void)call("pipeline cache", [&] {
                return hearth_context_save_pipeline_cache(context_, cache.data(), &bytes);
            });
    }

    void frames() {
        const uint64_t buffer_bytes = kWidth * 4;
        const auto make = [&](standalone::MemoryKind kind) {
            return standalone::Buffer::create(device_, buffer_bytes, kind).value();
        };
        const standalone::Buffer x = make(standalone::MemoryKind::kUpload);
        const standalone::Buffer y = make(standalone::MemoryKind::kReadback);
        const std::vector<float> input = test_values(kWidth, 1);
        std::copy(input.begin(), input.end(), x.as<float>().begin());
        hearth_tensor_binding act[2] = {
            hearth_bind_buffer(kActX, x.handle(), 0, buffer_bytes, x.usage()),
            hearth_bind_buffer(kActY, y.handle(), 0, buffer_bytes, y.usage()),
        };
        act[0].usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;  // through memory of the session
        act[1].release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        const float rate = 0;
        hearth_tensor_binding learn[3] = {hearth_bind_bytes(kLearnX, input.data(), buffer_bytes),
                                          hearth_bind_bytes(kLearnRate, &rate, sizeof rate),
                                          act[1]};
        learn[2].binding = kLearnY;
        const std::vector<float> uploaded(kWidth, 3.0f);
        hearth_readback read = 0, snapshot = 0;
        std::vector<std::byte> brain;

        const auto frame = [&](uint64_t serial,
                               const std::function<void(VkCommandBuffer)>& record) {
            // Once more, because what failed for lack of memory may be tried again.
            if (call("begin_frame",
                     [&] { return hearth_begin_frame(context_, serial, serial - 1); }) < 0)
                (void)call("begin_frame again",
                           [&] { return hearth_begin_frame(context_, serial, serial - 1); });
            const Status run = device_.run(record);
            EXPECT_TRUE(run.ok()) << run.message();
        };
        const auto record = [&](VkCommandBuffer commands, uint32_t entry,
                                std::span<const hearth_tensor_binding> bound) {
            hearth_record_info info = hearth_record_info_default();
            info.command_buffer = commands;
            info.entry = entry;
            info.bindings = bound.data();
            info.binding_count = static_cast<uint32_t>(bound.size());
            return call("record", [&] { return hearth_record(session_, &info, nullptr); });
        };
        const auto poll = [&](hearth_readback id) -> std::span<const std::byte> {
            const void* data = nullptr;
            uint64_t bytes = 0, serial = 0;
            if (call("poll", [&] {
                    return hearth_readback_poll(session_, id, &data, &bytes, &serial);
                }) != HEARTH_OK)
                return {};
            return {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)};
        };
        frame(1, [&](VkCommandBuffer commands) {
            (void)call("setup", [&] { return hearth_record_initialize(session_, commands); });
            (void)record(commands, kLearn, learn);
            act[1].acquire_scope = hearth_make_sync_scope(VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                          VK_ACCESS_SHADER_WRITE_BIT);
            (void)record(commands, kAct, act);
        });
        frame(2, [&](VkCommandBuffer commands) {
            (void)call("upload", [&] {
                return hearth_record_update_variable(session_, commands, kStateVariable, 0,
                                                     uploaded.data(), buffer_bytes);
            });
            hearth_readback_info info = hearth_readback_info_default();
            info.command_buffer = commands;
            info.variable = kStateVariable;
            (void)call("readback", [&] { return hearth_record_readback(session_, &info, &read); });
            (void)call("snapshot",
                       [&] { return hearth_record_save_brain(session_, commands, &snapshot); });
        });
        frame(3, [&](VkCommandBuffer commands) {
            for (int i = 0; i < 3; ++i) {
                hearth_timings profile = hearth_timings_default();
                (void)call("profile",
                           [&] { return hearth_session_next_timings(session_, &profile); });
            }
            (void)poll(read);
            const std::span<const std::byte> data = poll(snapshot);
            hearth_brain_save_info save = hearth_brain_save_info_default();
            save.snapshot = data.data();
            save.snapshot_bytes = data.size();
            uint64_t bytes = 0;
            const hearth_program* const program = package_ != nullptr ? package_ : program_;
            if (!data.empty()) {
                EXPECT_EQ(hearth_brain_encode(program, &save, nullptr, &bytes), HEARTH_OK);
                brain.resize(static_cast<size_t>(bytes));
                EXPECT_EQ(hearth_brain_encode(program, &save, brain.data(), &bytes), HEARTH_OK);
            }
            hearth_readback_release(session_, read);
            hearth_readback_release(session_, snapshot);
            (void)call("forget", [&] {
                return hearth_record_reset_variables(session_, commands, "*", nullptr);
            });
            if (!brain.empty())
                (void)call("brain", [&] {
                    return hearth_record_load_brain(session_, commands, brain.data(), bytes, 0,
                                                    nullptr);
                });
        });
        (void)call("begin_frame", [&] { return hearth_begin_frame(context_, 4, 3); });
        if (!is_lost_)
            (void)device_.run([&](VkCommandBuffer) {});  // a command buffer that holds nothing
        (void)call("discard_frame", [&] { return hearth_discard_frame(context_, 4, nullptr); });
        // However the frames before went, the session is whole: it acts on what was uploaded last,
        // which the brain brought back.
        bool has_acted = false;
        frame(5, [&](VkCommandBuffer commands) {
            has_acted = record(commands, kAct, act) == HEARTH_OK;
        });
        has_acted_right_ = has_acted;
        for (uint32_t i = 0; i < kWidth; ++i)
            has_acted_right_ &= y.as<float>()[i] == input[i] + uploaded[i];
        if (other_session_ != nullptr) {
            hearth_session_destroy(other_session_);
            other_session_ = nullptr;
        }
        (void)call("begin_frame", [&] { return hearth_begin_frame(context_, 6, 5); });
    }

    standalone::Device& device_;
    std::span<const std::byte> program_bytes_, package_bytes_;
    hearth_context* context_ = nullptr;
    hearth_program *program_ = nullptr, *package_ = nullptr;
    hearth_session *session_ = nullptr, *other_session_ = nullptr;
    hearth_result first_failure_ = HEARTH_OK;
    int64_t call_count_ = 0;
    bool is_lost_ = false;
    bool has_acted_right_ = false;
};

class Failure : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        VulkanShim::get().reset();
        const BindingModel model = binding_model(device());
        const Program program = TestProgramBuilder(test_shaders(model), model).build();
        bytes_ = save_program(program);
        PackageContents contents;
        contents.device_targets.push_back({"fits", program, 0, 0});
        package_ = save_package(std::move(contents)).value();
    }
    Life life() { return Life(device(), bytes_, package_); }

    /// Lets each Vulkan call of a life fail in turn; the functions that did.
    std::set<std::string> fail_each_call(VkResult failure, hearth_result expected) {
        hearth_context_create_info info = device().host_info();
        VulkanShim& shim = VulkanShim::get();
        shim.intercept(info);
        shim.failure = failure;
        std::set<std::string> failed;
        for (int64_t n = 0; n < 1000; ++n) {
            shim.failed = -1;
            shim.fallible_calls_left = n;
            Life whole = life();
            const hearth_result result = whole.run(info);
            shim.fallible_calls_left = -1;
            if (shim.failed < 0) {
                EXPECT_EQ(result, HEARTH_OK);
                EXPECT_TRUE(whole.has_acted_right());
                break;
            }
            const std::string function = VulkanShim::name_of(shim.failed);
            failed.insert(function);
            EXPECT_EQ(result, expected) << "call " << n << ", " << function;
            // What failed while a session was there, and is not lost, left it as it was.
            if (failure != VK_ERROR_DEVICE_LOST && function == "vkGetQueryPoolResults") {
                EXPECT_TRUE(whole.has_acted_right()) << "call " << n;
            }
        }
        return failed;
    }
    /// All functions that Hearth calls and that may fail.
    void expect_all(const std::set<std::string>& failed) {
        std::set<std::string> expected = {"vkAllocateMemory",         "vkMapMemory",
                                          "vkCreateBuffer",           "vkBindBufferMemory",
                                          "vkCreateShaderModule",     "vkCreatePipelineLayout",
                                          "vkCreateComputePipelines", "vkCreatePipelineCache",
                                          "vkGetPipelineCacheData",   "vkCreateDescriptorSetLayout",
                                          "vkCreateDescriptorPool",   "vkAllocateDescriptorSets"};
        if (device().timestamp_valid_bits() != 0)
            expected.insert({"vkCreateQueryPool", "vkGetQueryPoolResults"});
        for (const std::string& function : expected)
            EXPECT_TRUE(failed.contains(function)) << function << " never failed";
    }
    std::vector<std::byte> bytes_, package_;
};

TEST_F(Failure, OutOfDeviceMemoryAtEachCallIsAnErrorAndNothingLeaks) {
    expect_all(fail_each_call(VK_ERROR_OUT_OF_DEVICE_MEMORY, HEARTH_ERROR_OUT_OF_DEVICE_MEMORY));
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

TEST_F(Failure, ALostDeviceAtEachCallIsReportedAndTornDown) {
    expect_all(fail_each_call(VK_ERROR_DEVICE_LOST, HEARTH_ERROR_DEVICE_LOST));
}

TEST_F(Failure, ADeviceLostBetweenAnyTwoCallsIsSaidByAllThatFollow) {
    hearth_context_create_info info = device().host_info();
    VulkanShim::get().intercept(info);
    Life whole = life();
    EXPECT_EQ(whole.run(info), HEARTH_OK);
    EXPECT_GE(whole.call_count(), 30);
    for (int64_t n = 1; n < whole.call_count(); ++n) {
        Life lost = life();
        lost.lost_before_call = n;
        EXPECT_EQ(lost.run(info), HEARTH_ERROR_DEVICE_LOST) << n;
    }
}

TEST_F(Failure, ASemaphoreThatCannotBeReadBeginsNoFrame) {
    if ((device().enabled_features() & HEARTH_FEATURE_TIMELINE_SEMAPHORE) == 0)
        GTEST_SKIP() << "timelineSemaphore is not enabled";
    const VkSemaphore semaphore = create_timeline_semaphore(device());
    ASSERT_NE(semaphore, VkSemaphore{VK_NULL_HANDLE});
    {
        hearth_context_create_info info = device().host_info();
        VulkanShim& shim = VulkanShim::get();
        shim.intercept(info);
        info.timeline_semaphore = semaphore;
        Context context = Context::create(info).value();
        shim.fallible_calls_left = 0;
        EXPECT_EQ(hearth_begin_frame(context.handle(), 1, HEARTH_COMPLETED_FROM_TIMELINE),
                  HEARTH_ERROR_OUT_OF_DEVICE_MEMORY);
        EXPECT_EQ(context.error(), "begin_frame: cannot read timeline_semaphore");
        EXPECT_EQ(hearth_begin_frame(context.handle(), 1, HEARTH_COMPLETED_FROM_TIMELINE),
                  HEARTH_OK);
        shim.failure = VK_ERROR_DEVICE_LOST;
        shim.fallible_calls_left = 0;
        EXPECT_EQ(hearth_begin_frame(context.handle(), 2, HEARTH_COMPLETED_FROM_TIMELINE),
                  HEARTH_ERROR_DEVICE_LOST);
        EXPECT_EQ(hearth_begin_frame(context.handle(), 2, 1), HEARTH_ERROR_DEVICE_LOST);
    }
    vk().DestroySemaphore(device().handle(), semaphore, nullptr);
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
            void* memory = allocate_aligned(bytes, std::max(alignment, sizeof(void*)));
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
            free_aligned(memory);
        };
        return c;
    }
};

TEST_F(Failure, OutOfHostMemoryAtEachAllocationIsAnErrorAndNothingLeaks) {
    hearth_context_create_info info = device().host_info();
    VulkanShim::get().intercept(info);
    uint32_t failures = 0;
    for (int64_t n = 0; n < 1000; ++n) {
        CountingAllocator allocator;
        const VkAllocationCallbacks callbacks = allocator.callbacks();
        info.allocation_callbacks = &callbacks;
        allocator.left = n;
        const hearth_result result = life().run(info);
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
        hearth_context_create_info info = device().host_info();
        VulkanShim::get().intercept(info);
        info.allocation_callbacks = &callbacks;
        Context context = Context::create(info).value();
        const LoadedProgram program = LoadedProgram::load(context, bytes_).value();
        uint64_t host_bytes = 0;
        for (const auto& [memory, bytes] : allocator.live) host_bytes += bytes;
        EXPECT_EQ(context.stats().cpu_bytes, host_bytes - allocator.driver_bytes);
        EXPECT_GE(context.stats().cpu_bytes_peak, context.stats().cpu_bytes);
    }
    EXPECT_TRUE(allocator.live.empty());
}

/// Bytes of memory that the process has: resident ones, or allocated ones where a sanitizer has
/// memory of its own; 0 where the system does not tell.
uint64_t process_bytes() {
#if defined(HEARTH_TEST_SANITIZER_ALLOCATES)
    return __sanitizer_get_current_allocated_bytes();
#else
    uint64_t pages = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%" SCNu64 " %" SCNu64, &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident * 4096;
#endif
}

TEST_F(Failure, AThousandContextsAreMadeAndDestroyedWithoutGrowth) {
    CountingAllocator allocator;
    const VkAllocationCallbacks callbacks = allocator.callbacks();
    VulkanShim& shim = VulkanShim::get();
    shim.reset();
    uint64_t warm = 0;
    size_t most_live = 0;
    for (int i = 0; i < 1000; ++i) {
        {
            hearth_context_create_info info = device().host_info();
            shim.intercept(info);
            info.allocation_callbacks = &callbacks;
            Context context = Context::create(info).value();
            const LoadedProgram program = LoadedProgram::load(context, bytes_).value();
            const Session session = Session::create(context, program).value();
            if (i == 0) most_live = allocator.live.size();
            EXPECT_EQ(allocator.live.size(), most_live) << i;
        }
        ASSERT_TRUE(allocator.live.empty()) << i;
        if (i == 499) warm = process_bytes();
    }
    EXPECT_GT(shim.calls[kAllocateMemory], 1000u);
    EXPECT_EQ(shim.calls[kAllocateMemory], shim.calls[kFreeMemory]);
    EXPECT_EQ(shim.calls[kCreateBuffer], shim.calls[kDestroyBuffer]);
    EXPECT_EQ(shim.calls[kCreatePipelineCache], shim.calls[kDestroyPipelineCache]);
    // The driver and the layers under it have their own ups and downs: one time in fifteen 1.4 MB.
    EXPECT_LE(process_bytes(), warm + (4u << 20));
}

TEST_F(Failure, ADriverThatRefusesAPipelineLeavesTheRestUsable) {
    RigOptions options;
    options.build_pipelines = false;
    options.host = [](hearth_context_create_info& info) { VulkanShim::get().intercept(info); };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    VulkanShim& shim = VulkanShim::get();
    shim.failure = VK_ERROR_UNKNOWN;
    // Layout, module, then the pipeline; descriptors have a set layout first.
    shim.fallible_calls_left = binding_model(device()) == BindingModel::kDescriptor ? 3 : 2;
    EXPECT_EQ(hearth_session_create_pipelines(rig->session.handle(), 0),
              HEARTH_ERROR_PIPELINE_CREATION_FAILED);
    const std::string failed = "kernel mix: HEARTH_ERROR_PIPELINE_CREATION_FAILED (VkResult -13)";
    EXPECT_EQ(rig->session.error(), failed);
    EXPECT_EQ(rig->session.status().pipelines, HEARTH_ERROR_PIPELINE_CREATION_FAILED);
    rig->frame([&](VkCommandBuffer commands) {
        const float rate = 0;
        std::array<hearth_tensor_binding, 3> bounds;
        const hearth_record_info info = rig->learn_info(commands, 1, rate, bounds);
        EXPECT_EQ(hearth_record(rig->session.handle(), &info, nullptr),
                  HEARTH_ERROR_PIPELINE_CREATION_FAILED);
        EXPECT_EQ(rig->session.error(), failed);
    });
    EXPECT_EQ(hearth_session_create_pipelines(rig->session.handle(), 0), HEARTH_OK);
    const std::vector<float> x = test_values(kWidth, 1);
    EXPECT_EQ(rig->act(x), TestReference().act(x));
}

}  // namespace
}  // namespace hearth::test
