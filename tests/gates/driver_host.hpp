// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A game around a driver of agents: what tests of the driver share.

#pragma once

#include "gates/count_allocations.hpp"
#include "gates/device_learner.hpp"
#include "gates/driver_calls.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/agents.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hearth::gates {

/// A brain on a device, and a host that submits frames one by one.
class Host {
  public:
    static std::unique_ptr<Host> create(standalone::Device& device,
                                        const agents::AgentGraphs& traces,
                                        const agents::AgentManifest& manifest,
                                        const agents::AgentsOptions& how = {}) {
        std::vector<std::byte> program;
        return create(device, traces, manifest, how, program);
    }
    /// program: compiled if empty.
    static std::unique_ptr<Host> create(standalone::Device& device,
                                        const agents::AgentGraphs& traces,
                                        const agents::AgentManifest& manifest,
                                        agents::AgentsOptions how,
                                        std::vector<std::byte>& program) {
        using namespace agents;
        auto host = std::unique_ptr<Host>(new Host(device));
        const auto made = [&]() -> Status {
            HEARTH_ASSIGN(host->context_, Context::create(device.host_info()));
            if (program.empty()) {
                CompileOptions options;
                HEARTH_ASSIGN(options.caps, host->context_.device_caps());
                options.max_batch_size = manifest.n_agents;
                if (test::test_setting("HEARTH_TEST_BINDING") == "descriptor")
                    options.binding_model = BindingModel::kDescriptor;
                const std::vector<Trace*> entries = runtime_entries(traces, manifest);
                HEARTH_ASSIGN(const Compiled compiled,
                              compile(std::span<Trace* const>(entries), options));
                program.assign(compiled.bytes.begin(), compiled.bytes.end());
            }
            HEARTH_ASSIGN(host->program_, LoadedProgram::load(host->context_, program));
            const std::vector<std::byte> bytes = manifest.save();
            how.manifest = bytes;
            HEARTH_ASSIGN(host->agents, Agents::create(host->context_, host->program_, how));
            return host->agents.create_pipelines();
        }();
        EXPECT_TRUE(made.ok()) << made.message();
        return made.ok() ? std::move(host) : nullptr;
    }

    /// One frame: what the game does with what has arrived, then the recording.
    Status frame(const agents::RecordOptions& how, const std::function<void()>& play = {}) {
        HEARTH_TRY(begin(play));
        return record_agents(how);
    }
    Status begin(const std::function<void()>& play = {}) {
        HEARTH_TRY(begin_frame(serial_ - std::min(lag, serial_)));
        agents.poll();
        if (play) play();
        return {};
    }
    /// Records and submits.  May be called more than once in a frame.
    Status record_agents(agents::RecordOptions how) {
        Status recorded;
        HEARTH_TRY(device_.run([&](VkCommandBuffer commands) {
            if (learns_apart) how.learning_command_buffer = commands;
            DriverCalls::get().is_on = logs_calls;
            counts_allocations(true);
            const Result<bool> result = agents.record(commands, how);
            counts_allocations(false);
            DriverCalls::get().is_on = false;
            EXPECT_TRUE(!result.ok() || *result) << "a record whose pipelines are ready";
            recorded = result.status();
        }));
        return recorded;
    }
    /// Records into a command buffer that is never submitted, and discards the frame.
    Status discard_frame(const agents::RecordOptions& how) {
        return discard_frame(
            [&](VkCommandBuffer commands) { return agents.record(commands, how).status(); });
    }
    Status discard_empty_frame() {
        return discard_frame([](VkCommandBuffer) { return Status(); });
    }
    Status discard_frame(const std::function<Status(VkCommandBuffer)>& record) {
        const standalone::VulkanApi& vk = device_.vk();
        VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        info.queueFamilyIndex = device_.queue_family();
        VkCommandPool pool = VK_NULL_HANDLE;
        EXPECT_EQ(vk.CreateCommandPool(device_.handle(), &info, nullptr, &pool), VK_SUCCESS);
        VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        allocate.commandPool = pool;
        allocate.commandBufferCount = 1;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        EXPECT_EQ(vk.AllocateCommandBuffers(device_.handle(), &allocate, &commands), VK_SUCCESS);
        VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
        EXPECT_EQ(vk.BeginCommandBuffer(commands, &begin), VK_SUCCESS);
        const Status recorded = record(commands);
        EXPECT_EQ(vk.EndCommandBuffer(commands), VK_SUCCESS);
        vk.DestroyCommandPool(device_.handle(), pool, nullptr);
        HEARTH_TRY(recorded);
        return context_.discard_frame(serial_).status();
    }
    /// Lets everything arrive.
    void settle() {
        for (int i = 0; i < 2; ++i)
            EXPECT_TRUE(frame({.learning_budget_us = 0, .request_decision = false}).ok());
    }

    std::vector<float> slot(const char* name) {
        const auto index = program_.find_variable(name);
        EXPECT_TRUE(index.ok()) << name;
        hearth_readback_info info = hearth_readback_info_default();
        info.variable = *index;
        hearth_readback id = 0;
        EXPECT_TRUE(begin_frame(serial_).ok());
        EXPECT_TRUE(device_
                        .run([&](VkCommandBuffer commands) {
                            info.command_buffer = commands;
                            EXPECT_EQ(hearth_record_readback(agents.session(), &info, &id),
                                      HEARTH_OK);
                        })
                        .ok());
        EXPECT_TRUE(begin_frame(serial_).ok());
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        EXPECT_EQ(hearth_readback_poll(agents.session(), id, &data, &bytes, &serial), HEARTH_OK);
        std::vector<float> out(bytes / sizeof(float));
        std::memcpy(out.data(), data, bytes);
        hearth_readback_release(agents.session(), id);
        return out;
    }

    /// Records something of the session's own in a frame of its own.
    void record(const std::function<hearth_result(VkCommandBuffer)>& what) {
        EXPECT_TRUE(begin_frame(serial_).ok());
        EXPECT_TRUE(device_
                        .run([&](VkCommandBuffer commands) {
                            EXPECT_EQ(what(commands), HEARTH_OK)
                                << hearth_session_error(agents.session());
                        })
                        .ok());
    }
    const LoadedProgram& program() const { return program_; }
    const Context& context() const { return context_; }
    /// How many frames are taken for not completed when frame() begins one.
    uint64_t lag = 0;
    /// With use_separate_learning_queue: learning is recorded into the same command buffer.
    bool learns_apart = false;
    bool logs_calls = false;  ///< into DriverCalls

  private:
    explicit Host(standalone::Device& device) : device_(device) {}
    Status begin_frame(uint64_t completed) {
        completed_ = std::max(completed_, completed);
        return context_.begin_frame(++serial_, completed_);
    }

    standalone::Device& device_;
    Context context_;
    LoadedProgram program_;
    uint64_t serial_ = 0, completed_ = 0;

  public:
    agents::Agents agents;  // last: it goes before its context does
};

class DriverTest : public test::VulkanTest {};

inline agents::Ppo small_ppo() {
    agents::Ppo ppo;
    ppo.n_agents = 4;
    ppo.n_steps = 8;
    ppo.n_minibatches = 2;
    ppo.n_epochs = 2;
    ppo.limits.target_kl = 0;
    ppo.learning_rate = agents::Hyperparameter::tunable(3e-3);
    return ppo;
}

inline agents::AgentSpec small_schema() {
    using namespace agents;
    return AgentSpec(ObservationSpec().box("place", 2).box("speed"),
                     ActionSpec().discrete("move", 3, true).continuous("aim", 1, {-2, 2}));
}

inline std::unique_ptr<Host> small_host(standalone::Device& device,
                                        const agents::AgentsOptions& how = {}) {
    using namespace agents;
    return Host::create(device,
                        build_agent_graphs(small_schema(), mlp_network({8}), small_ppo(), 1),
                        make_manifest(small_schema(), small_ppo()), how);
}

/// Agents whose world depends on what they do and on nothing else.
inline void live(agents::Agents& brain, const std::vector<agents::AgentId>& ids, int frame) {
    using agents::EpisodeEnd;
    for (size_t i = 0; i < ids.size(); ++i) {
        const std::span<const float> action = brain.action(ids[i]);
        const float aim = action.empty() ? 0.0f : action[1];
        const std::span<float> seen = brain.observation(ids[i]);
        seen[0] = std::sin(0.3f * static_cast<float>(frame) + static_cast<float>(i));
        seen[1] = aim;
        seen[2] = action.empty() ? 0.0f : action[0];
        EXPECT_TRUE(brain.add_reward(ids[i], -std::abs(aim - seen[0])).ok());
        if ((frame + static_cast<int>(i) * 3) % 11 == 10) {
            EXPECT_TRUE(
                brain.end_episode(ids[i], i % 2 ? EpisodeEnd::kTerminated : EpisodeEnd::kTruncated)
                    .ok());
        }
    }
}

}  // namespace hearth::gates
