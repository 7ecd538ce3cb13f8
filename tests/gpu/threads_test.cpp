// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What hearth.h allows several threads to do at once; the thread sanitizer watches in its build.

#include "gpu/rig.hpp"

#include <thread>

namespace hearth::test {
namespace {

using Threads = RuntimeTest;

TEST_F(Threads, SessionsOfOneContextRecordAtTheSameTime) {
    constexpr int kThreads = 3;
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    struct Worker {
        Session session;
        standalone::Buffer x, y;
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        hearth_result result = HEARTH_ERROR_INTERNAL;
        TestReference reference;
    } workers[kThreads];
    for (Worker& worker : workers) {
        worker.session = Session::create(rig->context, rig->program).value();
        ASSERT_TRUE(worker.session.create_pipelines().ok());
        worker.x = make_buffer(kWidth * 4, standalone::MemoryKind::kUpload);
        worker.y = make_buffer(kWidth * 4, standalone::MemoryKind::kReadback);
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.queueFamilyIndex = device().queue_family();
        ASSERT_EQ(vk().CreateCommandPool(device().handle(), &pool, nullptr, &worker.pool),
                  VK_SUCCESS);
        VkCommandBufferAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        allocate.commandPool = worker.pool;
        allocate.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
        allocate.commandBufferCount = 1;
        ASSERT_EQ(vk().AllocateCommandBuffers(device().handle(), &allocate, &worker.commands),
                  VK_SUCCESS);
    }
    rig->frame([&](VkCommandBuffer commands) {
        for (Worker& worker : workers) EXPECT_TRUE(worker.session.record_initialize(commands).ok());
    });

    const auto record = [&](Worker& worker) {
        ASSERT_EQ(vk().ResetCommandPool(device().handle(), worker.pool, 0), VK_SUCCESS);
        VkCommandBufferInheritanceInfo inheritance{};
        inheritance.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
        VkCommandBufferBeginInfo begin{};
        begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
        begin.pInheritanceInfo = &inheritance;
        ASSERT_EQ(vk().BeginCommandBuffer(worker.commands, &begin), VK_SUCCESS);
        const float rate = 0.5f;
        std::array<hearth_tensor_binding, 3> bounds;
        const hearth_record_info info = rig->learn_info(worker.commands, 1, rate, bounds);
        bounds[0] = rig->bind(kLearnY, worker.y, kWidth * 4);
        bounds[1] = rig->bind(kLearnX, worker.x, kWidth * 4);
        worker.result = hearth_record(worker.session.handle(), &info, nullptr);
        ASSERT_EQ(vk().EndCommandBuffer(worker.commands), VK_SUCCESS);
    };
    for (uint64_t i = 0; i < 30; ++i) {
        for (int w = 0; w < kThreads; ++w) {
            const std::vector<float> x =
                test_values(kWidth, i * kThreads + static_cast<uint64_t>(w));
            std::copy(x.begin(), x.end(), workers[w].x.as<float>().begin());
        }
        rig->frame([&](VkCommandBuffer commands) {
            std::vector<std::thread> threads;
            for (Worker& worker : workers) threads.emplace_back([&] { record(worker); });
            for (std::thread& thread : threads) thread.join();
            for (Worker& worker : workers) {
                ASSERT_EQ(worker.result, HEARTH_OK) << worker.session.error();
                vk().CmdExecuteCommands(commands, 1, &worker.commands);
            }
        });
        rig->finish();
        for (Worker& worker : workers) {
            const std::span<const float> x = worker.x.as<float>(), y = worker.y.as<float>();
            EXPECT_EQ(std::vector<float>(y.begin(), y.end()), worker.reference.learn(x, 0.5f));
        }
    }
    for (Worker& worker : workers) {
        worker.session = Session();
        vk().DestroyCommandPool(device().handle(), worker.pool, nullptr);
    }
}

TEST_F(Threads, PipelinesMayBeBuiltByManyThreadsWhileAnotherSessionRecords) {
    const auto rig = make_rig();
    ASSERT_TRUE(rig);
    // Kernels of its own, so that there is something to build.
    Program program =
        TestProgramBuilder(test_shaders(binding_model(device())), binding_model(device())).build();
    for (uint32_t k = 0; k < 2; ++k) program.kernels[k].spec_constants = {{7, 0x40000000 + k}};
    const LoadedProgram loaded = LoadedProgram::load(rig->context, save_program(program)).value();
    const Session other = Session::create(rig->context, loaded).value();
    EXPECT_EQ(other.status().pipelines, HEARTH_NOT_READY);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            while (hearth_session_create_pipelines(other.handle(), 1) == HEARTH_NOT_READY)
                std::this_thread::yield();
        });
    TestReference reference;
    for (uint64_t i = 0; i < 20; ++i) {
        const std::vector<float> x = test_values(kWidth, i);
        EXPECT_EQ(rig->learn(x, 0.5f), reference.learn(x, 0.5f));
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(other.status().pipelines, HEARTH_OK);
}

}  // namespace
}  // namespace hearth::test
