// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Slices in microseconds, and the priority of what is recorded: on a device whose clock the test
// keeps.

#include "device/vulkan/vulkan.hpp"
#include "gpu/rig.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace hearth::test {
namespace {

/// Between Hearth and the device: a clock that goes on while commands are recorded, so long for
/// each workgroup, copy and fill.  Timestamps tell it, once the device has really written them.
struct FakeClock {
    PFN_vkGetInstanceProcAddr real_instance_proc = nullptr;
    PFN_vkGetDeviceProcAddr real_device_proc = nullptr;
    double us_per_workgroup = 10, us_per_copy = 5;
    double period_ns = 1;
    double now_us = 0;
    std::map<uint32_t, double> stamps;
    uint32_t reads = 0, waits = 0;
    std::vector<gpu::NvOccupancyPriorityParameters> priorities;
    uint64_t dispatches = 0, first_dispatch_at = 0;  ///< priorities before the first dispatch

    static FakeClock& get() {
        static FakeClock clock;
        return clock;
    }
    void intercept(hearth_context_create_info& info) {
        *this = {};
        real_instance_proc = info.get_instance_proc_addr;
        real_device_proc = info.get_device_proc_addr != nullptr
                               ? info.get_device_proc_addr
                               : reinterpret_cast<PFN_vkGetDeviceProcAddr>(
                                     real_instance_proc(info.instance, "vkGetDeviceProcAddr"));
        info.get_instance_proc_addr = instance_proc;
        info.get_device_proc_addr = device_proc;
        const auto properties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
            real_instance_proc(info.instance, "vkGetPhysicalDeviceProperties"));
        VkPhysicalDeviceProperties about{};
        properties(info.physical_device, &about);
        period_ns = static_cast<double>(about.limits.timestampPeriod);
    }
    void run(uint64_t workgroups) {
        if (dispatches++ == 0) first_dispatch_at = priorities.size();
        now_us += us_per_workgroup * static_cast<double>(workgroups);
    }

    static PFN_vkVoidFunction VKAPI_PTR instance_proc(VkInstance instance, const char* name);
    static PFN_vkVoidFunction VKAPI_PTR device_proc(VkDevice device, const char* name);
};

PFN_vkCmdDispatch g_dispatch;
PFN_vkCmdDispatchBase g_dispatch_base;
PFN_vkCmdCopyBuffer g_copy;
PFN_vkCmdFillBuffer g_fill;
PFN_vkCmdWriteTimestamp g_write;
PFN_vkGetQueryPoolResults g_results;
PFN_vkGetPhysicalDeviceFeatures2 g_features;

void VKAPI_PTR dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
    FakeClock::get().run(uint64_t{x} * y * z);
    g_dispatch(commands, x, y, z);
}
void VKAPI_PTR dispatch_base(VkCommandBuffer commands, uint32_t a, uint32_t b, uint32_t c,
                             uint32_t x, uint32_t y, uint32_t z) {
    FakeClock::get().run(uint64_t{x} * y * z);
    g_dispatch_base(commands, a, b, c, x, y, z);
}
void VKAPI_PTR copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count,
                    const VkBufferCopy* regions) {
    FakeClock::get().now_us += FakeClock::get().us_per_copy;
    g_copy(commands, from, to, count, regions);
}
void VKAPI_PTR fill(VkCommandBuffer commands, VkBuffer to, VkDeviceSize offset, VkDeviceSize bytes,
                    uint32_t word) {
    FakeClock::get().now_us += FakeClock::get().us_per_copy;
    g_fill(commands, to, offset, bytes, word);
}
void VKAPI_PTR write(VkCommandBuffer commands, VkPipelineStageFlagBits stage, VkQueryPool pool,
                     uint32_t query) {
    FakeClock::get().stamps[query] = FakeClock::get().now_us;
    g_write(commands, stage, pool, query);
}
VkResult VKAPI_PTR results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count,
                           size_t bytes, void* data, VkDeviceSize stride,
                           VkQueryResultFlags flags) {
    FakeClock& clock = FakeClock::get();
    ++clock.reads;
    if ((flags & VK_QUERY_RESULT_WAIT_BIT) != 0) ++clock.waits;
    const VkResult result = g_results(device, pool, first, count, bytes, data, stride, flags);
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i)
        static_cast<uint64_t*>(data)[i] =
            static_cast<uint64_t>(std::llround(clock.stamps[first + i] * 1000 / clock.period_ns));
    return result;
}

// What a device with VK_NV_compute_occupancy_priority says and does.
void VKAPI_PTR set_priority(VkCommandBuffer, const gpu::NvOccupancyPriorityParameters* given) {
    FakeClock::get().priorities.push_back(*given);
}
void VKAPI_PTR features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* chain) {
    auto* before = reinterpret_cast<VkBaseOutStructure*>(chain);
    while (before->pNext != nullptr &&
           before->pNext->sType != gpu::kNvOccupancyPriorityFeaturesType)
        before = before->pNext;
    VkBaseOutStructure* const own = before->pNext;
    if (own != nullptr) before->pNext = own->pNext;
    g_features(device, chain);
    if (own == nullptr) return;
    before->pNext = own;
    reinterpret_cast<gpu::NvOccupancyPriorityFeatures*>(own)->computeOccupancyPriority = VK_TRUE;
}

PFN_vkVoidFunction VKAPI_PTR FakeClock::instance_proc(VkInstance instance, const char* name) {
    const PFN_vkVoidFunction function = get().real_instance_proc(instance, name);
    if (std::strcmp(name, "vkGetPhysicalDeviceFeatures2") != 0) return function;
    g_features = reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(function);
    return reinterpret_cast<PFN_vkVoidFunction>(features);
}
PFN_vkVoidFunction VKAPI_PTR FakeClock::device_proc(VkDevice device, const char* name) {
    if (std::strcmp(name, "vkCmdSetComputeOccupancyPriorityNV") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(set_priority);
    const PFN_vkVoidFunction function = get().real_device_proc(device, name);
    const auto take = [&](const char* own, auto& real, auto fake) {
        if (std::strcmp(name, own) != 0) return PFN_vkVoidFunction{};
        real = reinterpret_cast<std::remove_reference_t<decltype(real)>>(function);
        return reinterpret_cast<PFN_vkVoidFunction>(fake);
    };
    for (const PFN_vkVoidFunction fake :
         {take("vkCmdDispatch", g_dispatch, dispatch),
          take("vkCmdDispatchBase", g_dispatch_base, dispatch_base),
          take("vkCmdCopyBuffer", g_copy, copy), take("vkCmdFillBuffer", g_fill, fill),
          take("vkCmdWriteTimestamp", g_write, write),
          take("vkGetQueryPoolResults", g_results, results)})
        if (fake != nullptr) return fake;
    return function;
}

/// At 8 rows the steps of `learn` take 120, 120 | 120, 5 | 5 | 20 | 120 us, where | is a barrier.
constexpr double kWhole = 510;

class Microseconds : public RuntimeTest {
  protected:
    void SetUp() override {
        RuntimeTest::SetUp();
        if (HasFatalFailure()) return;
        if (device().timestamp_valid_bits() == 0) GTEST_SKIP() << "the queue has no timestamps";
    }
    static RigOptions options(hearth_session_flags flags = HEARTH_SESSION_COLLECT_GPU_TIMINGS) {
        RigOptions options;
        options.host = [](hearth_context_create_info& info) { FakeClock::get().intercept(info); };
        options.session = [=](hearth_session_create_info& info) { info.flags |= flags; };
        return options;
    }
    /// What each slice of a run of `learn` took by the clock.
    std::vector<double> learn(Rig& rig, std::span<const float> x, float rate,
                              const std::function<double()>& max_us) {
        std::vector<double> slices;
        rig.set_x(x);
        hearth_run_cursor cursor{};
        for (Progress progress = Progress::kIncomplete;
             progress == Progress::kIncomplete && slices.size() < 200;) {
            rig.frame([&](VkCommandBuffer commands) {
                std::array<hearth_tensor_binding, 3> bounds;
                hearth_record_info info = rig.learn_info(commands, x.size() / kWidth, rate, bounds);
                info.gpu_time_budget_us = max_us();
                const double before = FakeClock::get().now_us;
                const Result<Progress> result = rig.session.record(info, &cursor);
                ASSERT_TRUE(result.ok()) << result.status().message();
                progress = result.value();
                slices.push_back(FakeClock::get().now_us - before);
            });
        }
        return slices;
    }
    static double longest(const std::vector<double>& slices) {
        return *std::max_element(slices.begin(), slices.end());
    }
};

TEST_F(Microseconds, SlicesTakeWhatTheirStepsWereMeasuredToTake) {
    struct Case {
        double max_us;
        size_t most_slices;
    };
    // Both long steps between two barriers; one at a time; halves and quarters of them.
    for (const Case& c :
         {Case{600, 1}, Case{300, 2}, Case{250, 3}, Case{130, 5}, Case{70, 9}, Case{40, 17}}) {
        const auto rig = make_rig(options());
        ASSERT_TRUE(rig);
        TestReference reference;
        for (uint64_t run = 0; run < 60; ++run) {
            const std::vector<float> x = test_values(8 * kWidth, run);
            const std::vector<double> slices = learn(*rig, x, 0.25f, [&] { return c.max_us; });
            EXPECT_EQ(rig->get_y(8), reference.learn(x, 0.25f)) << run;
            if (run < 50) continue;
            EXPECT_LE(longest(slices), c.max_us) << run;
            EXPECT_LE(slices.size(), c.most_slices) << c.max_us;
        }
        EXPECT_NEAR(rig->session.estimate_gpu_us(kLearn, 8).value(), kWhole, 0.2 * kWhole)
            << c.max_us;
        EXPECT_GT(FakeClock::get().reads, 50u);
        EXPECT_EQ(FakeClock::get().waits, 0u);
    }
}

TEST_F(Microseconds, RandomBudgetsGiveTheSameBits) {
    const auto whole = make_rig(), sliced = make_rig(options());
    ASSERT_TRUE(whole && sliced);
    size_t slices = 0;
    for (uint64_t i = 0; i < 40; ++i) {
        const uint64_t rows = 1 + i % kRowsCapacity;
        const std::vector<float> x = test_values(rows * kWidth, i);
        uint64_t cuts = 0;
        slices += learn(*sliced, x, 0.3f, [&] {
                      return 1 + static_cast<double>(Hash().number(i).number(++cuts).value() % 400);
                  }).size();
        EXPECT_EQ(whole->learn(x, 0.3f), sliced->get_y(rows)) << i;
    }
    EXPECT_GT(slices, 80u);
    EXPECT_EQ(sliced->read_slot(kStateVariable), whole->read_slot(kStateVariable));
}

TEST_F(Microseconds, FlopsAndBytesAreTheGuessBeforeAnythingWasMeasured) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    const double guess = rig->session.estimate_gpu_us(kLearn, 8).value();
    EXPECT_GT(guess, 7 * 2.0);  // steps
    EXPECT_GT(guess, 6 * rig->session.estimate_gpu_us(kAct, 8).value());
    rig->set_x(test_values(8 * kWidth, 1));
    const float rate = 0.5f;
    hearth_run_cursor cursor{};
    // All of it in one frame, of which nothing is measured before it has ended.
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
        info.gpu_time_budget_us = 0.6 * guess;
        EXPECT_EQ(rig->session.record(info, &cursor).value(), Progress::kIncomplete);
        EXPECT_EQ(cursor.next_command, 6u);  // 4 of 7 steps, and the barrier
        const double left = rig->session.estimate_gpu_us(kLearn, 8, &cursor).value();
        EXPECT_NEAR(left, guess * 3 / 7, 0.1 * guess);
        EXPECT_EQ(rig->session.record(info, &cursor).value(), Progress::kDone);
    });
    EXPECT_EQ(FakeClock::get().reads, 0u);
    rig->advance();
    EXPECT_EQ(FakeClock::get().reads, 2u);
    EXPECT_NEAR(rig->session.estimate_gpu_us(kLearn, 8).value(), kWhole, 1);
}

// With more rows so many times as long, with fewer as long, until it is known.
TEST_F(Microseconds, OtherRowsAreTakenToCostTheMostThatTheyCan) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    const auto predict = [&](uint64_t rows) {
        return rig->session.estimate_gpu_us(kLearn, rows).value();
    };
    const auto run = [&](uint64_t rows) {
        learn(*rig, test_values(rows * kWidth, rows), 0.5f, [] { return 1e6; });
        rig->advance();
    };
    run(8);
    EXPECT_NEAR(predict(8), kWhole, 1);
    EXPECT_NEAR(predict(4), kWhole, 1);
    run(4);
    const double half = 3 * 60 + 60 + 20 + 10;
    EXPECT_NEAR(predict(4), half, 1);
    EXPECT_NEAR(predict(8), 2 * half, 2);
    EXPECT_EQ(learn(*rig, test_values(8 * kWidth, 1), 0.5f, [&] { return 2 * half + 10; }).size(),
              1u);
}

TEST_F(Microseconds, ADroppedSliceTeachesNothing) {
    const auto rig = make_rig(options());
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(8 * kWidth, 1);
    learn(*rig, x, 0.5f, [] { return 1e6; });
    rig->advance();
    const double before = rig->session.estimate_gpu_us(kLearn, 8).value();
    FakeClock::get().us_per_workgroup = 1000;
    const float rate = 0.5f;
    EXPECT_NE(rig->drop([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        hearth_run_cursor cursor{};
        hearth_record_info info = rig->learn_info(commands, 8, rate, bounds);
        info.gpu_time_budget_us = 1e6;
        ASSERT_TRUE(rig->session.record(info, &cursor).ok());
    }),
              "");
    rig->advance();
    EXPECT_EQ(rig->session.estimate_gpu_us(kLearn, 8).value(), before);
}

TEST_F(Microseconds, AHostMayReadTheTimesToo) {
    const auto rig =
        make_rig(options(HEARTH_SESSION_COLLECT_GPU_TIMINGS | HEARTH_SESSION_TIMESTAMP_RUNS));
    ASSERT_TRUE(rig);
    const std::vector<double> slices =
        learn(*rig, test_values(8 * kWidth, 1), 0.5f, [] { return 40.0; });
    rig->advance();
    uint32_t step = 0, part = 0;
    for (size_t i = 0; i < std::min<size_t>(slices.size(), 16); ++i) {
        const auto profile = rig->session.next_timings();
        ASSERT_TRUE(profile.ok() && profile->has_value()) << i;
        EXPECT_NEAR((*profile)->total_ns * 1e-3, slices[i], 1) << i;
        EXPECT_EQ((*profile)->first_command, step) << i;
        EXPECT_EQ((*profile)->first_sub_dispatch, part) << i;
        step = (*profile)->end_command;
        part = (*profile)->end_sub_dispatch;
    }
    EXPECT_FALSE(rig->session.next_timings().value().has_value());
    EXPECT_LT(rig->session.estimate_gpu_us(kLearn, 8).value(), 1.5 * kWhole);
}

TEST_F(Microseconds, WhatIsWrongIsNamed) {
    const auto rig = make_rig(options()), without = make_rig();
    ASSERT_TRUE(rig && without);
    const float rate = 0.5f;
    const auto says = [&](Rig& r, double max_us, float priority, bool has_cursor) {
        std::string text;
        r.frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 3> bounds;
            hearth_record_info info = r.learn_info(commands, 1, rate, bounds);
            info.gpu_time_budget_us = max_us;
            info.occupancy_priority = priority;
            hearth_run_cursor cursor{};
            EXPECT_FALSE(r.session.record(info, has_cursor ? &cursor : nullptr).ok());
            text = r.session.error();
        });
        return text;
    };
    EXPECT_EQ(says(*rig, -1, 0, true), "entry learn: gpu_time_budget_us is -1, expected 0 or more");
    EXPECT_EQ(says(*rig, NAN, 0, true),
              "entry learn: gpu_time_budget_us is nan, expected 0 or more");
    EXPECT_EQ(
        says(*rig, 100, 0, false),
        "entry learn: limits such as max_flops need a cursor, at which a later call continues");
    EXPECT_EQ(says(*rig, 0, 1.5f, true), "entry learn: occupancy_priority is 1.5, expected 0..1");
    EXPECT_EQ(says(*without, 100, 0, true),
              "entry learn: gpu_time_budget_us is 100, which needs a session created with "
              "HEARTH_SESSION_COLLECT_GPU_TIMINGS");
    EXPECT_FALSE(without->session.estimate_gpu_us(kLearn, 1).ok());
    EXPECT_EQ(without->session.error(),
              "estimate_gpu_time: create the session with HEARTH_SESSION_COLLECT_GPU_TIMINGS");
    EXPECT_FALSE(rig->session.estimate_gpu_us(7, 1).ok());
    EXPECT_EQ(rig->session.error(), "estimate_gpu_time: entry is 7, expected less than 2");
    EXPECT_FALSE(rig->session.estimate_gpu_us(kLearn, 9).ok());
    EXPECT_EQ(rig->session.error(),
              "estimate_gpu_time: entry learn: the batch size is 9, expected 1..8");
    const hearth_run_cursor other{kAct, 1, 0, 0, 0, 0};
    EXPECT_FALSE(rig->session.estimate_gpu_us(kLearn, 1, &other).ok());
    EXPECT_EQ(rig->session.error(),
              "estimate_gpu_time: entry learn: the cursor is of another entry or batch size; pass "
              "the one of the previous slice, or a zeroed one to start");
}

class OccupancyPriority : public RuntimeTest {
  protected:
    /// A device of which the host says that it has the extension, and has enabled it or not.
    static RigOptions options(bool is_enabled) {
        static std::vector<const char*> extensions;
        RigOptions options;
        options.host = [=](hearth_context_create_info& info) {
            FakeClock::get().intercept(info);
            if (!is_enabled) return;
            extensions.assign(info.device_extensions,
                              info.device_extensions + info.device_extension_count);
            extensions.push_back(gpu::kNvOccupancyPriorityExtension);
            info.device_extensions = extensions.data();
            info.device_extension_count = static_cast<uint32_t>(extensions.size());
            info.features |= HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY;
        };
        return options;
    }
    static void act(Rig& rig, float priority) {
        rig.set_x(test_values(kWidth, 1));
        rig.frame([&](VkCommandBuffer commands) {
            std::array<hearth_tensor_binding, 2> bounds;
            hearth_record_info info = rig.act_info(commands, 1, bounds);
            info.occupancy_priority = priority;
            ASSERT_TRUE(rig.session.record(info).ok()) << rig.session.error();
        });
    }
};

TEST_F(OccupancyPriority, IsSetBeforeTheDispatchesAndPutBackBehindThem) {
    const auto rig = make_rig(options(true));
    ASSERT_TRUE(rig);
    act(*rig, 0.25f);
    const FakeClock& clock = FakeClock::get();
    ASSERT_EQ(clock.priorities.size(), 2u);
    EXPECT_EQ(clock.dispatches, 1u);
    EXPECT_EQ(clock.first_dispatch_at, 1u);
    EXPECT_EQ(clock.priorities[0].sType, static_cast<VkStructureType>(1000645000));
    EXPECT_EQ(clock.priorities[0].pNext, nullptr);
    EXPECT_EQ(clock.priorities[0].occupancyPriority, 0.25f);
    EXPECT_EQ(clock.priorities[0].occupancyThrottling, 0.0f);
    EXPECT_EQ(clock.priorities[1].occupancyPriority, 0.5f);
}

TEST_F(OccupancyPriority, TheUsualOneIsTheHosts) {
    const auto rig = make_rig(options(true));
    ASSERT_TRUE(rig);
    act(*rig, hearth_record_info_default().occupancy_priority);
    EXPECT_TRUE(FakeClock::get().priorities.empty());
}

TEST_F(OccupancyPriority, IsAWishWhereTheHostDidNotEnableIt) {
    const auto rig = make_rig(options(false));
    ASSERT_TRUE(rig);
    act(*rig, 0.25f);
    EXPECT_EQ(FakeClock::get().dispatches, 1u);
    EXPECT_TRUE(FakeClock::get().priorities.empty());
}

}  // namespace
}  // namespace hearth::test
