// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// engine_bridge/submit: Hearth's recordings submitted on a queue that others use, too.

#include "gpu/rig.hpp"
#include "submit/hearth_submit.h"

#include <mutex>
#include <thread>

namespace hearth::test {
namespace {

/// A game's queue: its lock, who holds it, and what was asked under which key.
struct GameQueue {
    std::mutex mutex;
    std::atomic<uint32_t> held{0}, locked{0}, submitted{0};
    std::atomic<bool> is_wrong{false};
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    PFN_vkQueueSubmit queue_submit = nullptr;

    void take(uint32_t of_family, uint32_t index) {
        mutex.lock();
        if (held++ != 0 || of_family != family || index != 0) is_wrong = true;
        ++locked;
    }
    void give() {
        --held;
        mutex.unlock();
    }
    static void lock(void* self, uint32_t family, uint32_t index) {
        static_cast<GameQueue*>(self)->take(family, index);
    }
    static void unlock(void* self, uint32_t, uint32_t) { static_cast<GameQueue*>(self)->give(); }
    static VkResult submit(void* self, uint32_t family, uint32_t index, const VkSubmitInfo* info,
                           VkFence fence) {
        auto& game = *static_cast<GameQueue*>(self);
        game.take(family, index);
        const VkResult result = game.queue_submit(game.queue, 1, info, fence);
        game.give();
        ++game.submitted;
        return result;
    }
};

class SubmitBridge : public RuntimeTest {
  protected:
    hearth_queue_access access(GameQueue& game) {
        game.queue = device().queue();
        game.family = device().queue_family();
        hearth_queue_access access{};
        access.device = device().handle();
        access.get_device_proc_addr = instance().vk().GetDeviceProcAddr;
        access.queue = game.queue;
        access.family = game.family;
        access.user_data = &game;
        game.queue_submit = reinterpret_cast<PFN_vkQueueSubmit>(
            access.get_device_proc_addr(access.device, "vkQueueSubmit"));
        return access;
    }

    /// A context and a session that learns so many times in submissions of its own, and what must
    /// come of it.
    void learn(const hearth_queue_access& access, const Program& program, uint64_t key,
               std::vector<float>& state) {
        auto context = Context::create(device().host_info());
        ASSERT_TRUE(context.ok()) << context.status().message();
        auto loaded = LoadedProgram::load(*context, save_program(program));
        ASSERT_TRUE(loaded.ok());
        auto session = Session::create(*context, *loaded);
        ASSERT_TRUE(session.ok());
        ASSERT_TRUE(session->create_pipelines().ok());
        const standalone::Buffer x = make_buffer(kWidth * 4, standalone::MemoryKind::kUpload),
                                 y = make_buffer(kWidth * 4, standalone::MemoryKind::kReadback);
        const std::vector<float> values = test_values(kWidth, key);
        std::copy(values.begin(), values.end(), x.as<float>().begin());
        hearth_submitter submitter;
        ASSERT_EQ(hearth_submitter_create(&submitter, &access), VK_SUCCESS);
        hearth_readback read = 0;
        const float rate = 0.5f;
        for (int i = 0; i < 40;) {
            VkCommandBuffer commands = VK_NULL_HANDLE;
            uint64_t serial = 0, completed = 0;
            const VkResult ready =
                hearth_submitter_begin(&submitter, &commands, &serial, &completed);
            if (ready == VK_NOT_READY) {
                std::this_thread::yield();
                continue;
            }
            ASSERT_EQ(ready, VK_SUCCESS);
            ASSERT_TRUE(context->begin_frame(serial, completed).ok()) << context->error();
            if (i == 0) {
                ASSERT_TRUE(session->record_initialize(commands).ok());
            }
            const hearth_tensor_binding bounds[] = {
                hearth_bind_buffer(kLearnX, x.handle(), 0, kWidth * 4, x.usage()),
                hearth_bind_bytes(kLearnRate, &rate, sizeof rate),
                hearth_bind_buffer(kLearnY, y.handle(), 0, kWidth * 4, y.usage())};
            hearth_record_info info = hearth_record_info_default();
            info.command_buffer = commands;
            info.entry = kLearn;
            info.bindings = bounds;
            info.binding_count = 3;
            info.batch_size = 1;
            ASSERT_TRUE(session->record(info).ok()) << session->error();
            if (++i == 40) read = session->record_readback(commands, kStateVariable).value();
            ASSERT_EQ(hearth_submitter_end(&submitter, nullptr), VK_SUCCESS);
        }
        ASSERT_EQ(hearth_submitter_wait(&submitter, UINT64_MAX), VK_SUCCESS);
        ASSERT_EQ(submitter.completed, submitter.submitted);
        ASSERT_TRUE(context->begin_frame(submitter.submitted + 1, submitter.completed).ok());
        const void* data = nullptr;
        uint64_t bytes = 0, of_serial = 0;
        ASSERT_EQ(hearth_readback_poll(session->handle(), read, &data, &bytes, &of_serial),
                  HEARTH_OK);
        state.resize(kWidth);
        std::memcpy(state.data(), data, bytes);
        hearth_submitter_destroy(&submitter);
    }

    /// The game draws on the queue, too, from this thread, while two others learn.
    void play(const hearth_queue_access& access, GameQueue& game) {
        const BindingModel model = binding_model(device());
        const Program program = TestProgramBuilder(test_shaders(model), model).build();
        std::vector<float> states[2];
        std::thread threads[2];
        std::atomic<int> running{2};
        for (uint64_t t = 0; t < 2; ++t)
            threads[t] = std::thread([&, t] {
                learn(access, program, t, states[t]);
                --running;
            });
        uint32_t drawn = 0;
        while (running > 0) {
            game.take(game.family, 0);
            EXPECT_EQ(game.queue_submit(game.queue, 0, nullptr, VK_NULL_HANDLE), VK_SUCCESS);
            game.give();
            ++drawn;
            std::this_thread::yield();
        }
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(game.locked, 80 + drawn);
        EXPECT_FALSE(game.is_wrong);
        for (uint64_t t = 0; t < 2; ++t) {
            TestReference reference;
            for (int i = 0; i < 40; ++i) reference.learn(test_values(kWidth, t), 0.5f);
            EXPECT_EQ(states[t], reference.state) << t;
        }
    }
};

TEST_F(SubmitBridge, TwoThreadsLearnOnTheGamesQueueUnderItsLock) {
    GameQueue game;
    hearth_queue_access access = this->access(game);
    access.lock = GameQueue::lock;
    access.unlock = GameQueue::unlock;
    play(access, game);
    EXPECT_EQ(game.submitted, 0u);
}

TEST_F(SubmitBridge, OrTheGameSubmitsItself) {
    GameQueue game;
    hearth_queue_access access = this->access(game);
    access.submit = GameQueue::submit;
    play(access, game);
    EXPECT_EQ(game.submitted, 80u);
}

TEST_F(SubmitBridge, WhatIsMissingIsRefusedAndAFailedSubmissionIsBegunAnew) {
    GameQueue game;
    hearth_queue_access access = this->access(game);
    hearth_submitter submitter;
    EXPECT_EQ(hearth_submitter_create(&submitter, &access), VK_ERROR_INITIALIZATION_FAILED);
    access.lock = GameQueue::lock;
    EXPECT_EQ(hearth_submitter_create(&submitter, &access), VK_ERROR_INITIALIZATION_FAILED);

    access.submit = [](void*, uint32_t, uint32_t, const VkSubmitInfo*, VkFence) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    };
    ASSERT_EQ(hearth_submitter_create(&submitter, &access), VK_SUCCESS);
    VkCommandBuffer commands = VK_NULL_HANDLE;
    for (int i = 0; i < 5; ++i) {
        uint64_t serial = 0, completed = 0;
        ASSERT_EQ(hearth_submitter_begin(&submitter, &commands, &serial, &completed), VK_SUCCESS);
        EXPECT_EQ(serial, 1u);
        EXPECT_EQ(completed, 0u);
        EXPECT_EQ(hearth_submitter_end(&submitter, nullptr), VK_ERROR_OUT_OF_HOST_MEMORY);
    }
    hearth_submitter_destroy(&submitter);
}

}  // namespace
}  // namespace hearth::test
