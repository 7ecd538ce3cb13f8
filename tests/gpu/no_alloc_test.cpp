// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ten thousand frames of learning, acting, uploading and reading back allocate nothing: neither CPU
// memory (malloc and all that leads to it is replaced in this program) nor Vulkan objects (every
// function that Hearth calls is counted).  What the driver allocates while recording is the
// driver's.

#include "gpu/rig.hpp"
#include "support/vulkan_shim.hpp"

namespace {

thread_local bool t_in_hearth = false;
std::atomic<uint64_t> g_allocations{0};

void count_allocation() {
    if (t_in_hearth && !hearth::test::VulkanShim::in_driver()) ++g_allocations;
}

}  // namespace

// The C library's own entry points, under the names it keeps for programs that replace malloc.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
    count_allocation();
    return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
    count_allocation();
    return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
    count_allocation();
    return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
    count_allocation();
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
    count_allocation();
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
    count_allocation();
    *out = __libc_memalign(alignment, bytes);
    return *out != nullptr ? 0 : 12;  // ENOMEM
}
}

namespace hearth::test {
namespace {

/// Allocations between its construction and destruction count as Hearth's.
struct InHearth {
    InHearth() { t_in_hearth = true; }
    ~InHearth() { t_in_hearth = false; }
};

TEST(NoAlloc, TheCounterSeesWhatItShouldSee) {
    const uint64_t before = g_allocations;
    std::vector<int>* values = nullptr;
    {
        const InHearth in_hearth;
        values = new std::vector<int>(100);
    }
    EXPECT_EQ(g_allocations - before, 2u);
    {
        const InHearth in_hearth;
        VulkanShim::in_driver() = true;
        std::free(std::malloc(10));
        VulkanShim::in_driver() = false;
    }
    EXPECT_EQ(g_allocations - before, 2u);
    delete values;
}

TEST(NoAlloc, TenThousandFramesAllocateNothingAndOnlyRecord) {
    auto instance = standalone::Instance::create();  // no layers: they allocate between the calls
    ASSERT_TRUE(instance.ok()) << instance.status().message();
    auto device = standalone::Device::create(*instance.value(), test_device_options());
    ASSERT_TRUE(device.ok()) << device.status().message();
    VulkanShim& shim = VulkanShim::get();
    shim.reset();
    RigOptions options;
    options.host = [&](hearth_context_create_info& info) { shim.intercept(info); };
    options.session = [](hearth_session_create_info& info) {
        info.flags = HEARTH_SESSION_TIMESTAMP_COMMANDS | HEARTH_SESSION_COLLECT_GPU_TIMINGS |
                     HEARTH_SESSION_ALLOW_STAGING_COPIES;
    };
    const auto rig = Rig::create(*device.value(), options);
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(kRowsCapacity * kWidth, 1);
    rig->set_x(x);
    const float rate = 0.0078125f, word = 1.0f;
    hearth_run_cursor cursor{};
    hearth_readback pending = 0;
    uint64_t learned = 0, read = 0, profiled = 0;
    rig->advance();
    const uint64_t objects_before = shim.object_calls();
    const uint64_t allocations_before = g_allocations;
    const uint64_t cpu_bytes_before = rig->context.stats().cpu_bytes;
    uint64_t serial = rig->serial();
    for (uint64_t frame = 0; frame < 10000; ++frame) {
        ++serial;
        {
            const InHearth in_hearth;
            ASSERT_TRUE(rig->context.begin_frame(serial, serial - 1).ok());
            if (pending != 0) {
                const auto data = rig->session.poll(pending);
                ASSERT_TRUE(data.ok() && data.value().has_value());
                rig->session.release(pending);
                pending = 0;
                ++read;
            }
            for (;;) {
                const auto profile = rig->session.next_timings();
                if (!profile.ok() || !profile.value().has_value()) break;
                ++profiled;
            }
        }
        const Status run = device.value()->run([&](VkCommandBuffer commands) {
            const InHearth in_hearth;
            std::array<hearth_tensor_binding, 3> learn;
            std::array<hearth_tensor_binding, 2> act;
            // Each run takes two slices; rows and the way x is reached change from run to run.
            const uint64_t run_index = frame / 2;
            hearth_record_info info =
                rig->learn_info(commands, 1 + run_index % kRowsCapacity, rate, learn);
            info.max_dispatches = 4;
            info.gpu_time_budget_us = 1e6;
            if (run_index % 3 == 0) learn[1].usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
            const Result<Progress> progress = rig->session.record(info, &cursor);
            ASSERT_TRUE(progress.ok()) << rig->session.error();
            learned += progress.value() == Progress::kDone;
            ASSERT_TRUE(rig->session.record(rig->act_info(commands, 2, act)).ok());
            ASSERT_TRUE(rig->session
                            .record_update_variable(commands, kZeroVariable,
                                                    std::as_bytes(std::span(&word, 1)),
                                                    4 * (frame % 16))
                            .ok());
            const auto readback = rig->session.record_readback(commands, kStateVariable);
            ASSERT_TRUE(readback.ok()) << readback.status().message();
            pending = readback.value();
        });
        ASSERT_TRUE(run.ok()) << run.message();
    }
    EXPECT_EQ(g_allocations - allocations_before, 0u);
    EXPECT_EQ(shim.object_calls(), objects_before);
    EXPECT_EQ(rig->context.stats().cpu_bytes, cpu_bytes_before);
    EXPECT_EQ(learned, 5000u);
    EXPECT_EQ(read, 9999u);
    if (device.value()->timestamp_valid_bits() != 0) {
        EXPECT_GT(profiled, 15000u);
    }
    EXPECT_TRUE(shim.unexpected.empty()) << *shim.unexpected.begin();
    EXPECT_GT(shim.calls[kCmdDispatch], 30000u);
}

}  // namespace
}  // namespace hearth::test
