// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each allocation of each call on agents fails in turn: the call returns
// HEARTH_ERROR_OUT_OF_HOST_MEMORY, leaks nothing, and can be repeated.

#include "gates/driver_host.hpp"

#include <cstdlib>
#include <map>

namespace hearth::gates {
namespace {

using namespace agents;

/// The application's allocator, of which the n-th allocation fails.
class LimitedMemory {
  public:
    int64_t left = -1;  ///< allocations that succeed; below 0: all of them
    bool refuses_once = false;
    uint64_t refused = 0;  ///< allocations
    uint64_t held = 0;     ///< bytes

    VkAllocationCallbacks callbacks() {
        VkAllocationCallbacks c{};
        c.pUserData = this;
        c.pfnAllocation = [](void* user, size_t bytes, size_t alignment,
                             VkSystemAllocationScope) -> void* {
            auto& self = *static_cast<LimitedMemory*>(user);
            if (self.left == 0) {
                ++self.refused;
                if (self.refuses_once) self.left = -1;
                return nullptr;
            }
            if (self.left > 0) --self.left;
            alignment = std::max(alignment, sizeof(void*));
            void* const memory =
                std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
            self.sizes_[memory] = bytes;
            self.held += bytes;
            return memory;
        };
        c.pfnFree = [](void* user, void* memory) {
            auto& self = *static_cast<LimitedMemory*>(user);
            if (memory == nullptr) return;
            const auto found = self.sizes_.find(memory);
            ASSERT_NE(found, self.sizes_.end()) << "not allocated here";
            self.held -= found->second;
            self.sizes_.erase(found);
            std::free(memory);
        };
        c.pfnReallocation = [](void*, void*, size_t, size_t, VkSystemAllocationScope) -> void* {
            return nullptr;
        };
        return c;
    }

  private:
    std::map<void*, size_t> sizes_;
};

/// A context on the application's allocator, with a program of agents.
class DriverMemoryTest : public test::VulkanTest {
  protected:
    void SetUp() override {
        if (test::test_setting("HEARTH_TEST_DEVICE") != "cpu")
            GTEST_SKIP() << "a Vulkan driver allocates with the same callbacks";
        VulkanTest::SetUp();
        hearth_context_create_info info = device().host_info();
        info.allocation_callbacks = &callbacks_;
        auto context = Context::create(info);
        ASSERT_TRUE(context.ok()) << context.status().message();
        context_ = std::move(context).value();
        Ppo ppo = small_ppo();
        ppo.demo_capacity = 32;
        const AgentGraphs graphs = build_agent_graphs(small_schema(), mlp_network({8}), ppo, 1);
        const AgentManifest manifest = make_manifest(small_schema(), ppo);
        CompileOptions options;
        options.caps = *context_.device_caps();
        options.max_batch_size = 4;
        const std::vector<Trace*> entries = runtime_entries(graphs, manifest);
        const auto compiled = compile(std::span<Trace* const>(entries), options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        auto program = LoadedProgram::load(context_, compiled->bytes);
        ASSERT_TRUE(program.ok()) << program.status().message();
        program_ = std::move(program).value();
        manifest_ = manifest.save();
        schema_ = small_schema().save();
    }
    void TearDown() override {
        program_ = {};
        context_ = {};
        EXPECT_EQ(memory_.held, 0u);
        VulkanTest::TearDown();
    }

    hearth_agents_create_info create_info() const {
        hearth_agents_create_info info = hearth_agents_create_info_default();
        info.program = program_.handle();
        info.manifest = manifest_.data();
        info.manifest_bytes = manifest_.size();
        info.schema = schema_.data();
        info.schema_bytes = schema_.size();
        info.name = "agents";
        return info;
    }
    hearth_agents* create(const hearth_agents_create_info& info) {
        hearth_agents* agents = nullptr;
        EXPECT_EQ(hearth_agents_create(context_.handle(), &info, &agents, nullptr), HEARTH_OK);
        EXPECT_EQ(hearth_session_create_pipelines(hearth_agents_get_session(agents), 0), HEARTH_OK);
        return agents;
    }
    /// Frames in which every agent acts and learns.
    void play(hearth_agents* agents, int frames) {
        hearth_agent agent{};
        if (hearth_agents_count(agents) == 0) {
            EXPECT_EQ(hearth_agents_add(agents, &agent), HEARTH_OK);
        }
        for (int i = 0; i < frames; ++i) {
            EXPECT_TRUE(context_.begin_frame(serial_ + 1, serial_).ok());
            ++serial_;
            hearth_agents_poll(agents);
            EXPECT_TRUE(device()
                            .run([&](VkCommandBuffer commands) {
                                hearth_agents_record_info info =
                                    hearth_agents_record_info_default();
                                info.command_buffer = commands;
                                info.learning_budget_us = 1e6;
                                EXPECT_EQ(hearth_agents_record(agents, &info), HEARTH_OK)
                                    << hearth_agents_error(agents);
                            })
                            .ok());
        }
    }
    /// Frees what was destroyed and may still be in use.
    void complete() {
        EXPECT_TRUE(context_.begin_frame(serial_ + 1, serial_).ok());
        ++serial_;
    }
    std::vector<std::byte> snapshot_of(hearth_agents* agents) {
        EXPECT_EQ(hearth_agents_take_snapshot(agents), HEARTH_OK);
        play(agents, 3);
        uint64_t bytes = 0;
        EXPECT_EQ(hearth_agents_save(agents, 0, nullptr, &bytes), HEARTH_OK);
        std::vector<std::byte> brain(bytes);
        EXPECT_EQ(hearth_agents_save(agents, 0, brain.data(), &bytes), HEARTH_OK);
        return brain;
    }

    /// Lets each allocation of a call fail until it succeeds.  Returns the number of failures.
    int fail_each(const std::function<hearth_result()>& call) {
        int failures = 0;
        memory_.refuses_once = true;
        for (;; ++failures) {
            const uint64_t before = memory_.held;
            memory_.refused = 0;
            memory_.left = failures;
            const hearth_result result = call();
            memory_.left = -1;
            complete();
            if (memory_.refused == 0) {
                EXPECT_EQ(result, HEARTH_OK);
                return failures;
            }
            // Device memory of a CPU device comes from the application's allocator, too.
            EXPECT_TRUE(result == HEARTH_ERROR_OUT_OF_HOST_MEMORY ||
                        result == HEARTH_ERROR_OUT_OF_DEVICE_MEMORY)
                << "allocation " << failures << ": " << result;
            EXPECT_EQ(memory_.held, before) << "allocation " << failures;
            if (HasFailure()) return failures;
        }
    }

    LimitedMemory memory_;
    Context context_;
    LoadedProgram program_;
    std::vector<std::byte> manifest_, schema_;
    uint64_t serial_ = 0;

  private:
    const VkAllocationCallbacks callbacks_ = memory_.callbacks();
};

TEST_F(DriverMemoryTest, EachAllocationOfACreationMayFail) {
    const struct {
        const char* name;
        void (*change)(hearth_agents_create_info&);
    } kinds[] = {
        {"defaults", [](hearth_agents_create_info&) {}},
        {"no snapshots", [](hearth_agents_create_info& i) { i.max_snapshots = 0; }},
        {"saved games", [](hearth_agents_create_info& i) { i.enable_saved_games = 1; }},
        {"two queues", [](hearth_agents_create_info& i) { i.use_separate_learning_queue = 1; }},
    };
    for (const auto& kind : kinds) {
        SCOPED_TRACE(kind.name);
        hearth_agents_create_info info = create_info();
        kind.change(info);
        hearth_agents* agents = nullptr;
        hearth_messages messages{};
        const uint64_t before = memory_.held;
        const int failures = fail_each([&] {
            const hearth_result result =
                hearth_agents_create(context_.handle(), &info, &agents, &messages);
            if (result == HEARTH_OK) return result;
            EXPECT_EQ(agents, nullptr);
            EXPECT_NE(std::string(messages.text), "");
            return result;
        });
        EXPECT_GT(failures, 50);
        ASSERT_NE(agents, nullptr);
        hearth_session* const session = hearth_agents_get_session(agents);
        EXPECT_EQ(hearth_session_create_pipelines(session, 0), HEARTH_OK);
        if (info.use_separate_learning_queue == 0) play(agents, 3);
        hearth_agents_destroy(agents);
        complete();
        EXPECT_EQ(memory_.held, before);
    }
}

TEST_F(DriverMemoryTest, EachAllocationOfALoadMayFail) {
    hearth_agents* const source = create(create_info());
    const std::vector<std::byte> brain = snapshot_of(source);
    hearth_agents_create_info info = create_info();
    info.max_snapshots = 0;  // without space for a brain
    for (const bool is_snapshot : {false, true}) {
        hearth_agents* const agents = create(info);
        play(agents, 3);
        hearth_messages messages{};
        EXPECT_GE(fail_each([&] {
                      const hearth_result result =
                          is_snapshot
                              ? hearth_agents_load_snapshot(agents, source, 0)
                              : hearth_agents_load(agents, brain.data(), brain.size(), &messages);
                      const std::string error = hearth_agents_error(agents);
                      EXPECT_TRUE(result == HEARTH_OK ||
                                  error.find("out of memory") != std::string::npos);
                      // What was loaded before stays.
                      play(agents, 1);
                      return result;
                  }),
                  1);
        play(agents, 3);
        hearth_agents_status status = hearth_agents_status_default();
        EXPECT_EQ(hearth_agents_get_status(agents, &status), HEARTH_OK);
        EXPECT_GT(status.decisions, 3u);
        hearth_agents_destroy(agents);
        complete();
    }
    hearth_agents_destroy(source);
    complete();
}

// Calls that are documented to allocate nothing, without any memory.
TEST_F(DriverMemoryTest, OtherCallsNeedNoMemory) {
    hearth_agents_create_info info = create_info();
    info.enable_saved_games = 1;
    hearth_agents* const agents = create(info);
    const std::vector<std::byte> brain = snapshot_of(agents);
    std::vector<std::byte> space(1 << 20);
    memory_.refuses_once = false;
    memory_.left = 0;
    hearth_agent agent{}, second{};
    EXPECT_EQ(hearth_agents_add(agents, &agent), HEARTH_OK);
    EXPECT_EQ(hearth_agents_add(agents, &second), HEARTH_OK);
    EXPECT_EQ(hearth_agents_remove(agents, second), HEARTH_OK);
    uint32_t offset = 0, size = 0;
    EXPECT_EQ(hearth_agents_find_observation(agents, "speed", &offset, &size), HEARTH_OK);
    EXPECT_EQ(hearth_agents_find_observation(agents, "sped", &offset, &size),
              HEARTH_ERROR_NOT_FOUND);
    EXPECT_EQ(hearth_agents_find_action(agents, "aim", &offset, &size), HEARTH_OK);
    EXPECT_STREQ(hearth_agents_observation_name(agents, 1), "place[1]");
    EXPECT_STREQ(hearth_agents_action_name(agents, 1), "aim");
    EXPECT_NE(hearth_agents_observation(agents, agent), nullptr);
    EXPECT_NE(hearth_agents_action_mask(agents, agent), nullptr);
    EXPECT_EQ(hearth_agents_add_reward(agents, agent, 1), HEARTH_OK);
    EXPECT_EQ(hearth_agents_end_episode(agents, agent, HEARTH_AGENTS_TERMINATED, nullptr, nullptr),
              HEARTH_OK);
    EXPECT_EQ(hearth_agents_report_score(agents, 1), HEARTH_OK);
    const float action[] = {0, 1};
    EXPECT_EQ(hearth_agents_add_demonstration(agents, agent, action), HEARTH_OK);
    uint32_t binding = 0;
    EXPECT_EQ(hearth_agents_find_input(agents, "reward", &binding), HEARTH_OK);
    EXPECT_EQ(hearth_agents_set_hyperparameter(agents, "learning_rate", 1e-3), HEARTH_OK);
    play(agents, 20);
    EXPECT_EQ(hearth_agents_shrink_and_perturb(agents, 0.5), HEARTH_OK);
    hearth_agents_finish_update(agents);
    EXPECT_EQ(hearth_agents_take_snapshot(agents), HEARTH_OK);
    EXPECT_EQ(hearth_agents_save_game(agents), HEARTH_OK);
    play(agents, 4);
    hearth_agents_freeze(agents, 1);
    play(agents, 2);
    hearth_agents_freeze(agents, 0);
    uint64_t bytes = space.size();
    EXPECT_EQ(hearth_agents_save(agents, 0, space.data(), &bytes), HEARTH_OK);
    bytes = space.size();
    EXPECT_EQ(hearth_agents_get_saved_game(agents, space.data(), &bytes), HEARTH_OK)
        << hearth_agents_error(agents);
    EXPECT_EQ(hearth_agents_restore_snapshot(agents, 0), HEARTH_OK);
    play(agents, 2);
    EXPECT_EQ(hearth_agents_load(agents, brain.data(), brain.size(), nullptr), HEARTH_OK)
        << "there is space for a brain of this size";
    play(agents, 2);
    hearth_agents_reset_brain(agents);
    play(agents, 2);
    hearth_agents_status status = hearth_agents_status_default();
    EXPECT_EQ(hearth_agents_get_status(agents, &status), HEARTH_OK);
    EXPECT_GE(status.rollouts, 1u);
    EXPECT_EQ(memory_.refused, 0u);
    memory_.left = -1;
    hearth_agents_destroy(agents);
    complete();
}

}  // namespace
}  // namespace hearth::gates
