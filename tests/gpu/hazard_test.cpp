// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Barriers: what is ordered by Hearth and what by the host.  The validation layers must see a
// hazard that is planted, or their silence says nothing.

#include "gpu/rig.hpp"
#include "gpu/vulkan_objects.hpp"

#include <hearth/brain.hpp>

namespace hearth::test {
namespace {

class Hazard : public HazardTest {
  protected:
    /// The hazard that was planted is the one that is reported.
    void expect_hazard_seen(const char* kind) {
        if (!instance().is_validating()) GTEST_SKIP() << "the validation layers are off";
        const auto messages = take_messages();
        ASSERT_FALSE(messages.empty());
        EXPECT_NE(messages[0].text.find(kind), std::string::npos) << messages[0].text;
    }
    static hearth_sync_scope copies(VkAccessFlags access) {
        return hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, access);
    }
    /// Copies into the rig's x or y, and makes what arrives there visible to the CPU.
    void copy(VkCommandBuffer commands, const standalone::Buffer& from,
              const standalone::Buffer& to, uint64_t bytes) {
        const VkBufferCopy region{0, 0, bytes};
        vk().CmdCopyBuffer(commands, from.handle(), to.handle(), 1, &region);
    }
};

TEST_F(Hazard, WithHostBarriersTheQueriedScopesAreEnough) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const standalone::Buffer device_x =
        make_buffer(8 * kWidth * 4, standalone::MemoryKind::kDevice);
    const standalone::Buffer device_y =
        make_buffer(8 * kWidth * 4, standalone::MemoryKind::kDevice);
    const std::vector<float> x = test_values(2 * kWidth, 7);
    rig->set_x(x);
    const uint64_t bytes = 2 * kWidth * 4;
    rig->frame([&](VkCommandBuffer commands) {
        const auto barrier = [&](hearth_sync_scope before, hearth_sync_scope after) {
            VkMemoryBarrier memory{};
            memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
            memory.srcAccessMask = static_cast<VkAccessFlags>(before.access);
            memory.dstAccessMask = static_cast<VkAccessFlags>(after.access);
            vk().CmdPipelineBarrier(commands, static_cast<VkPipelineStageFlags>(before.stages),
                                    static_cast<VkPipelineStageFlags>(after.stages), 0, 1, &memory,
                                    0, nullptr, 0, nullptr);
        };
        const hearth_sync_scope write =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
        const hearth_sync_scope read =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT);
        const auto scope = [&](uint32_t binding, const standalone::Buffer& buffer) {
            return rig->session.binding_scope(kAct, binding, buffer.usage()).value();
        };
        EXPECT_EQ(scope(kActX, device_x).access, uint64_t{VK_ACCESS_SHADER_READ_BIT});
        EXPECT_EQ(scope(kActY, device_y).access, uint64_t{VK_ACCESS_SHADER_WRITE_BIT});

        VkBufferCopy region{0, 0, bytes};
        vk().CmdCopyBuffer(commands, rig->x().handle(), device_x.handle(), 1, &region);
        barrier(write, scope(kActX, device_x));
        std::array<hearth_tensor_binding, 2> bounds;
        hearth_record_info info = rig->act_info(commands, 2, bounds);
        bounds = {rig->bind(kActX, device_x, bytes), rig->bind(kActY, device_y, bytes)};
        info.barriers = HEARTH_BARRIERS_MANUAL;
        ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
        barrier(scope(kActY, device_y), read);
        vk().CmdCopyBuffer(commands, device_y.handle(), rig->y().handle(), 1, &region);
        barrier(write, hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT));
    });
    EXPECT_EQ(rig->get_y(2), TestReference().act(x));
}

/// x is copied in, `act` computes, y is copied out, with no barrier but what `before` and `after`
/// say.  Hearth's readbacks have barriers of their own, so the copy out is the host's.
TEST_F(Hazard, WithSdkBarriersTheHostsScopesAreEnough) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const uint64_t bytes = 2 * kWidth * 4;
    const standalone::Buffer device_x = make_buffer(bytes, standalone::MemoryKind::kDevice);
    const standalone::Buffer device_y = make_buffer(bytes, standalone::MemoryKind::kDevice);
    const std::vector<float> x = test_values(2 * kWidth, 7);
    const auto run = [&](const hearth_sync_scope& after) {
        rig->set_x(x);
        rig->frame([&](VkCommandBuffer commands) {
            copy(commands, rig->x(), device_x, bytes);
            std::array<hearth_tensor_binding, 2> bounds;
            const hearth_record_info info = rig->act_info(commands, 2, bounds);
            bounds = {rig->bind(kActX, device_x, bytes), rig->bind(kActY, device_y, bytes)};
            bounds[0].acquire_scope = copies(VK_ACCESS_TRANSFER_WRITE_BIT);
            bounds[1].release_scope = after;
            ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
            copy(commands, device_y, rig->y(), bytes);
            barrier_to_host(vk(), commands);
        });
        return rig->get_y(2);
    };
    EXPECT_EQ(run(copies(VK_ACCESS_TRANSFER_READ_BIT)), TestReference().act(x));
    if (!instance().is_validating()) GTEST_SKIP() << "the validation layers are off";
    for (const standalone::ValidationMessage& message : take_messages())
        ADD_FAILURE() << message.text;
    // It is the closing barrier that does it: without the scope there is a hazard, and it is seen.
    (void)run(hearth_make_sync_scope(0, 0));
    expect_hazard_seen("READ_AFTER_WRITE");
}

TEST_F(Hazard, EverythingOfASessionInOneCommandBufferIsOrderedByIt) {
    RigOptions options;
    options.set_up = false;
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    const Brain brain = *initial_brain(save_program(
        TestProgramBuilder(test_shaders(BindingModel::kDescriptor), BindingModel::kDescriptor)
            .build()));
    const std::vector<std::byte> bytes = *save_brain(brain);
    const std::vector<float> x = test_values(4 * kWidth, 1), one = {1.0f};
    const float rate = 0.25f;
    TestReference reference;
    rig->set_x(x);
    std::vector<hearth_readback> reads;
    rig->frame([&](VkCommandBuffer commands) {
        // Each thing after each other, without a barrier of the host's.
        const std::vector<std::function<bool()>> things = {
            [&] {
                std::array<hearth_tensor_binding, 3> bounds;
                const hearth_record_info info = rig->learn_info(commands, 4, rate, bounds);
                bounds[0].acquire_scope = bounds[0].release_scope = hearth_make_sync_scope(
                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT);
                return rig->session.record(info).ok();
            },
            [&] {
                const auto read = rig->session.record_readback(commands, kStateVariable);
                reads.push_back(read.value());
                return read.ok();
            },
            [&] {
                return rig->session
                    .record_update_variable(commands, kStateVariable, std::as_bytes(std::span(one)))
                    .ok();
            },
            [&] {
                const auto snapshot = rig->session.record_save_brain(commands);
                reads.push_back(snapshot.value().value());
                return snapshot.ok();
            },
            [&] { return rig->session.record_load_brain(commands, bytes).ok(); },
            [&] { return rig->session.record_reset_variables(commands, "*").ok(); },
        };
        EXPECT_TRUE(rig->session.record_initialize(commands).ok());
        for (const auto& first : things)
            for (const auto& second : things) {
                EXPECT_TRUE(first()) << rig->session.error();
                EXPECT_TRUE(second()) << rig->session.error();
            }
        EXPECT_TRUE(things[5]());
        EXPECT_TRUE(things[0]());
    });
    (void)reference.learn(x, rate);
    rig->advance();
    for (const hearth_readback read : reads) rig->session.release(read);
    EXPECT_EQ(rig->read_slot(kStateVariable), reference.state);
}

TEST_F(Hazard, AHazardThatTheHostPlantsIsSeen) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    const standalone::Buffer device_y =
        make_buffer(8 * kWidth * 4, standalone::MemoryKind::kDevice);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 1, bounds);
        bounds[1] = rig->bind(kActY, device_y, kWidth * 4);  // `after` says nothing of the copy
        EXPECT_TRUE(rig->session.record(info).ok());
        const VkBufferCopy region{0, 0, kWidth * 4};
        vk().CmdCopyBuffer(commands, device_y.handle(), rig->y().handle(), 1, &region);
    });
    rig->finish();
    expect_hazard_seen("READ_AFTER_WRITE");
}

/// The transfers of buffers between queue families that were recorded.  The device has one family,
/// so that they are kept here and the driver gets barriers without them.
struct Transfers {
    struct Transfer {
        VkBuffer buffer;
        uint32_t from, to;
        bool operator==(const Transfer&) const = default;
    };
    static inline std::vector<Transfer> seen;
    static inline PFN_vkGetDeviceProcAddr real = nullptr;
    static inline PFN_vkCmdPipelineBarrier old_barrier = nullptr;
    static inline PFN_vkCmdPipelineBarrier2 new_barrier = nullptr;

    template <class Barrier>
    static std::vector<Barrier> keep(const Barrier* barriers, uint32_t count) {
        std::vector<Barrier> own(barriers, barriers + count);
        for (Barrier& b : own) {
            seen.push_back({b.buffer, b.srcQueueFamilyIndex, b.dstQueueFamilyIndex});
            b.srcQueueFamilyIndex = b.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        }
        return own;
    }
    static void VKAPI_PTR record_old(VkCommandBuffer commands, VkPipelineStageFlags before,
                                     VkPipelineStageFlags after, VkDependencyFlags flags,
                                     uint32_t memory_count, const VkMemoryBarrier* memory,
                                     uint32_t count, const VkBufferMemoryBarrier* buffers,
                                     uint32_t image_count, const VkImageMemoryBarrier* images) {
        const auto own = keep(buffers, count);
        old_barrier(commands, before, after, flags, memory_count, memory, count, own.data(),
                    image_count, images);
    }
    static void VKAPI_PTR record_new(VkCommandBuffer commands, const VkDependencyInfo* info) {
        const auto own = keep(info->pBufferMemoryBarriers, info->bufferMemoryBarrierCount);
        VkDependencyInfo changed = *info;
        changed.pBufferMemoryBarriers = own.data();
        new_barrier(commands, &changed);
    }
    static PFN_vkVoidFunction VKAPI_PTR get_proc(VkDevice device, const char* name) {
        const PFN_vkVoidFunction found = real(device, name);
        const std::string_view asked = name;
        if (found != nullptr && asked == "vkCmdPipelineBarrier") {
            old_barrier = reinterpret_cast<PFN_vkCmdPipelineBarrier>(found);
            return reinterpret_cast<PFN_vkVoidFunction>(&record_old);
        }
        if (found != nullptr && asked.starts_with("vkCmdPipelineBarrier2")) {
            new_barrier = reinterpret_cast<PFN_vkCmdPipelineBarrier2>(found);
            return reinterpret_cast<PFN_vkVoidFunction>(&record_new);
        }
        return found;
    }
};

TEST_F(Hazard, WhatAnotherQueueFamilyOwnsIsTakenBeforeAndGivenBackAfterwards) {
    RigOptions options;
    options.host = [](hearth_context_create_info& info) {
        Transfers::real = info.get_device_proc_addr;
        info.get_device_proc_addr = Transfers::get_proc;
    };
    ASSERT_NE(device().host_info().get_device_proc_addr, nullptr);
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    const std::vector<float> x = test_values(2 * kWidth, 1);
    TestReference reference;
    Transfers::seen.clear();
    EXPECT_EQ(rig->act(x), reference.act(x));
    EXPECT_TRUE(Transfers::seen.empty());  // nothing changes hands unless the host says so

    const uint32_t own = device().queue_family(), graphics = own + 1;
    rig->set_x(x);
    rig->frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const hearth_record_info info = rig->act_info(commands, 2, bounds);
        for (hearth_tensor_binding& bound : bounds) {
            bound.acquire_scope = bound.release_scope = hearth_make_sync_scope(
                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_WRITE_BIT);
            bound.acquire_scope.queue_family = bound.release_scope.queue_family = graphics;
        }
        bounds[1].acquire_scope.queue_family =
            HEARTH_QUEUE_FAMILY_SAME;  // what is in it is not wanted
        ASSERT_TRUE(rig->session.record(info).ok()) << rig->session.error();
    });
    const VkBuffer in = rig->x().handle(), out = rig->y().handle();
    const std::vector<Transfers::Transfer> expected = {
        {in, graphics, own}, {in, own, graphics}, {out, own, graphics}};
    EXPECT_EQ(Transfers::seen, expected);
    EXPECT_EQ(rig->get_y(2), reference.act(x));
}

TEST_F(Hazard, AProgramWithoutABarrierIsSeen) {
    RigOptions options;
    // The barrier between the state's update and y guards only the arena; the first guards t0, t1.
    options.program = [](Program& program) {
        program.commands.erase(program.commands.begin() + 2);
        --program.entries[kLearn].command_count;
        --program.entries[kAct].first_command;
    };
    const auto rig = make_rig(options);
    ASSERT_TRUE(rig);
    (void)rig->learn(test_values(kWidth, 1), 0.5f);
    rig->finish();
    expect_hazard_seen("READ_AFTER_WRITE");
}

}  // namespace
}  // namespace hearth::test
