// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning in command buffers of its own, for a queue beside the one on which agents act: the same
// bits as together, whenever they run.  Where a device has two queue families they are two queues;
// elsewhere both go to the one there is, in any order that two queues could have them in.

#include "gates/driver_host.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace hearth::gates {
namespace {

using namespace agents;

/// In which order a frame's two command buffers run.
struct Order {
    bool learns_first = false;
    uint32_t lag = 0;  ///< frames that learning is submitted later
};

/// A game with two queues.  It waits for frames `in_flight` behind the newest, and tells Hearth of
/// no others.
class TwoQueues {
  public:
    static std::unique_ptr<TwoQueues> create(standalone::Device& device, bool is_apart,
                                             Order order = {}) {
        auto self = std::unique_ptr<TwoQueues>(new TwoQueues(device, is_apart, order));
        const Status made = self->set_up();
        EXPECT_TRUE(made.ok()) << made.message();
        return made.ok() ? std::move(self) : nullptr;
    }
    ~TwoQueues() {
        EXPECT_TRUE(finish().ok());
        agents = Agents();
        for (Slot& slot : slots_) {
            vk_.DestroyFence(device_.handle(), slot.acted, nullptr);
            vk_.DestroyFence(device_.handle(), slot.learned, nullptr);
        }
        for (const VkCommandPool pool : {acting_pool_, learning_pool_})
            vk_.DestroyCommandPool(device_.handle(), pool, nullptr);
        if (times_ != VK_NULL_HANDLE) vk_.DestroyQueryPool(device_.handle(), times_, nullptr);
    }

    Status frame(RecordOptions how, const std::function<void()>& play = {}) {
        ++serial_;
        Slot& slot = slots_[serial_ % kSlots];
        const uint64_t completed = serial_ > in_flight() + 1 ? serial_ - in_flight() - 1 : 0;
        if (completed > 0) HEARTH_TRY(wait(slots_[completed % kSlots]));
        HEARTH_TRY(wait(slot));
        HEARTH_TRY(context_.begin_frame(serial_, completed));
        agents.poll();
        if (play) play();
        for (const VkCommandBuffer commands : {slot.acting, slot.learning}) {
            VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
            HEARTH_TRY(standalone::check_vulkan(vk_.BeginCommandBuffer(commands, &begin), "begin"));
            write_time(commands, slot, commands == slot.acting ? 0 : 2);
        }
        if (is_apart_) how.learning_command_buffer = slot.learning;
        HEARTH_TRY(agents.record(slot.acting, how).status());
        for (const VkCommandBuffer commands : {slot.acting, slot.learning}) {
            write_time(commands, slot, commands == slot.acting ? 1 : 3);
            HEARTH_TRY(standalone::check_vulkan(vk_.EndCommandBuffer(commands), "end"));
        }
        late_.push_back(&slot);
        if (order_.learns_first) HEARTH_TRY(submit_late(order_.lag));
        HEARTH_TRY(submit(device_.compute_queue(), slot.acting, slot.acted));
        slot.has_acted = true;
        return submit_late(order_.lag);
    }
    /// Frames without decisions, until nothing is learned and everything has come back.
    void settle(double learn_us = 1e9) {
        for (int i = 0; i < 30; ++i) {
            const Status recorded =
                frame({.learning_budget_us = learn_us, .request_decision = false});
            ASSERT_TRUE(recorded.ok()) << recorded.message();
        }
    }
    Status finish() {
        HEARTH_TRY(submit_late(0));
        return standalone::check_vulkan(vk_.DeviceWaitIdle(device_.handle()), "wait");
    }
    uint64_t serial() const { return serial_; }
    std::vector<float> slot(const char* name) {
        EXPECT_TRUE(finish().ok());
        hearth_readback_info info = hearth_readback_info_default();
        const auto index = program_.find_variable(name);
        EXPECT_TRUE(index.ok()) << name;
        if (!index.ok()) return {};
        info.variable = *index;
        hearth_readback id = 0;
        // The serials in between have all completed.
        serial_ += kSlots;
        EXPECT_TRUE(context_.begin_frame(serial_, serial_ - 1).ok());
        EXPECT_TRUE(device_
                        .run_compute([&](VkCommandBuffer commands) {
                            info.command_buffer = commands;
                            EXPECT_EQ(hearth_record_readback(agents.session(), &info, &id),
                                      HEARTH_OK);
                        })
                        .ok());
        ++serial_;
        EXPECT_TRUE(context_.begin_frame(serial_, serial_ - 1).ok());
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        EXPECT_EQ(hearth_readback_poll(agents.session(), id, &data, &bytes, &serial), HEARTH_OK);
        std::vector<float> out(bytes / sizeof(float));
        std::memcpy(out.data(), data, out.size() * sizeof(float));
        hearth_readback_release(agents.session(), id);
        serial_ += kSlots;
        return out;
    }

    /// When the frame's command buffers began and ended, in ns: acting, then learning.
    bool times_of(uint64_t serial, std::array<double, 4>& ns) {
        std::array<uint64_t, 4> ticks{};
        const auto first = static_cast<uint32_t>(serial % kSlots * 4);
        if (vk_.GetQueryPoolResults(device_.handle(), times_, first, 4, sizeof ticks, ticks.data(),
                                    sizeof(uint64_t), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
            return false;
        for (size_t i = 0; i < 4; ++i)
            ns[i] = static_cast<double>(ticks[i]) *
                    static_cast<double>(device_.properties().limits.timestampPeriod);
        return true;
    }
    Status measure_times() {
        VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
        info.queryType = VK_QUERY_TYPE_TIMESTAMP;
        info.queryCount = 4 * kSlots;
        return standalone::check_vulkan(
            vk_.CreateQueryPool(device_.handle(), &info, nullptr, &times_), "vkCreateQueryPool");
    }

  private:
    static constexpr uint64_t kSlots = 8;
    struct Slot {
        VkCommandBuffer acting = VK_NULL_HANDLE, learning = VK_NULL_HANDLE;
        VkFence acted = VK_NULL_HANDLE, learned = VK_NULL_HANDLE;
        bool has_acted = false, has_learned = false;
        uint32_t index = 0;
    };

    TwoQueues(standalone::Device& device, bool is_apart, Order order)
        : device_(device), vk_(device.vk()), is_apart_(is_apart), order_(order) {}
    uint64_t in_flight() const { return order_.lag; }
    void write_time(VkCommandBuffer commands, const Slot& slot, uint32_t which) {
        if (times_ == VK_NULL_HANDLE) return;
        const uint32_t query = 4 * slot.index + which;
        if (which % 2 == 0) vk_.CmdResetQueryPool(commands, times_, query, 2);
        vk_.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, times_, query);
    }
    Status submit(const standalone::Queue& queue, VkCommandBuffer commands, VkFence fence) {
        VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands;
        return standalone::check_vulkan(vk_.QueueSubmit(queue.handle, 1, &info, fence), "submit");
    }
    Status submit_late(uint32_t lag) {
        for (; late_.size() > lag; late_.pop_front()) {
            HEARTH_TRY(
                submit(device_.main_queue(), late_.front()->learning, late_.front()->learned));
            late_.front()->has_learned = true;
        }
        return {};
    }
    Status wait(Slot& slot) {
        for (const auto& [fence, is_pending] :
             {std::pair(slot.acted, &slot.has_acted), std::pair(slot.learned, &slot.has_learned)}) {
            if (!std::exchange(*is_pending, false)) continue;
            HEARTH_TRY(standalone::check_vulkan(
                vk_.WaitForFences(device_.handle(), 1, &fence, VK_TRUE, UINT64_MAX), "wait"));
            HEARTH_TRY(standalone::check_vulkan(vk_.ResetFences(device_.handle(), 1, &fence),
                                                "vkResetFences"));
        }
        return {};
    }
    Status set_up() {
        HEARTH_ASSIGN(context_, Context::create(device_.host_info()));
        const Ppo ppo = small_ppo();
        const AgentGraphs traces = build_agent_graphs(small_schema(), mlp_network({8}), ppo, 1);
        const AgentManifest manifest = make_manifest(small_schema(), ppo);
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, context_.device_caps());
        options.max_batch_size = manifest.n_agents;
        const std::vector<Trace*> entries = runtime_entries(traces, manifest);
        HEARTH_ASSIGN(const Compiled compiled, compile(std::span<Trace* const>(entries), options));
        HEARTH_ASSIGN(program_, LoadedProgram::load(context_, compiled.bytes));
        const std::vector<std::byte> bytes = manifest.save();
        HEARTH_ASSIGN(agents,
                      Agents::create(context_, program_,
                                     {.manifest = bytes,
                                      .frames_in_flight = order_.lag + 1,
                                      .use_separate_learning_queue = is_apart_,
                                      .learning_queue_family = device_.main_queue().family}));
        HEARTH_TRY(agents.create_pipelines());
        HEARTH_TRY(make_pool(device_.compute_queue(), acting_pool_));
        HEARTH_TRY(make_pool(device_.main_queue(), learning_pool_));
        for (Slot& slot : slots_) {
            slot.index = static_cast<uint32_t>(&slot - slots_.data());
            HEARTH_TRY(allocate(acting_pool_, slot.acting));
            HEARTH_TRY(allocate(learning_pool_, slot.learning));
            for (VkFence* const fence : {&slot.acted, &slot.learned}) {
                const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, nullptr, 0};
                HEARTH_TRY(standalone::check_vulkan(
                    vk_.CreateFence(device_.handle(), &info, nullptr, fence), "vkCreateFence"));
            }
        }
        return {};
    }
    Status make_pool(const standalone::Queue& queue, VkCommandPool& out) {
        VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        info.queueFamilyIndex = queue.family;
        return standalone::check_vulkan(
            vk_.CreateCommandPool(device_.handle(), &info, nullptr, &out), "vkCreateCommandPool");
    }
    Status allocate(VkCommandPool pool, VkCommandBuffer& out) {
        VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
        info.commandPool = pool;
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        return standalone::check_vulkan(vk_.AllocateCommandBuffers(device_.handle(), &info, &out),
                                        "vkAllocateCommandBuffers");
    }

    standalone::Device& device_;
    const standalone::VulkanApi& vk_;
    bool is_apart_;
    Order order_;
    Context context_;
    LoadedProgram program_;
    VkCommandPool acting_pool_ = VK_NULL_HANDLE, learning_pool_ = VK_NULL_HANDLE;
    VkQueryPool times_ = VK_NULL_HANDLE;
    std::array<Slot, kSlots> slots_;
    std::deque<Slot*> late_;  ///< recorded, and learning not submitted
    uint64_t serial_ = 0;

  public:
    Agents agents;  // last: it goes before its context does
};

/// On two families where there are two.
class DriverApartTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        standalone::DeviceOptions options = test::test_device_options();
        options.async_compute = true;
        auto two = standalone::Device::create(instance(), options);
        if (two.ok()) two_ = std::move(two).value();
    }
    void TearDown() override {
        two_.reset();
        DriverTest::TearDown();
    }
    bool has_two() const { return two_ != nullptr; }
    standalone::Device& queues() { return has_two() ? *two_ : device(); }

  private:
    std::unique_ptr<standalone::Device> two_;
};

using Weights = std::map<std::string, std::vector<float>>;

Weights weights_of(TwoQueues& game) {
    Weights out;
    for (const char* name :
         {"actor.0.weight", "actor.head.bias", "critic.0.weight", "actor.0.weight.m",
          "published.param.actor.0.weight", "published.state.observations.mean",
          "observations.variance", "last.action"})
        out[name] = game.slot(name);
    return out;
}

std::vector<AgentId> add_all(TwoQueues& game) {
    std::vector<AgentId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(*game.agents.add());
    return ids;
}

/// Decisions [begin, end) of the same life.
void play(TwoQueues& game, const std::vector<AgentId>& ids, int begin, int end,
          RecordOptions how = {.learning_budget_us = 1e9}) {
    for (int frame = begin; frame < end; ++frame) {
        const Status recorded = game.frame(how, [&] { live(game.agents, ids, frame); });
        ASSERT_TRUE(recorded.ok()) << recorded.message();
    }
}

TEST_F(DriverApartTest, WhatIsLearnedOnTwoQueuesIsToTheBitWhatIsLearnedOnOne) {
    // Each window is learned from before the next one begins, so that it does not matter when.
    const auto after = [&](bool is_apart, Order order) -> Weights {
        const auto game = TwoQueues::create(queues(), is_apart, order);
        if (game == nullptr) return {};
        const auto ids = add_all(*game);
        play(*game, ids, 0, 9, {.learning_budget_us = 0});
        for (int window = 1; window < 4; ++window) {
            game->settle();
            play(*game, ids, 1 + 8 * window, 9 + 8 * window, {.learning_budget_us = 0});
        }
        game->settle();
        const AgentsStatus status = game->agents.status();
        EXPECT_EQ(status.rollouts, 4u);
        EXPECT_EQ(status.phase, HEARTH_AGENTS_ROLLOUT);
        play(*game, ids, 33, 34,
             {.learning_budget_us = 0});  // whose status is that of what was published
        for (int i = 0; i < 8; ++i)
            EXPECT_TRUE(game->frame({.learning_budget_us = 0, .request_decision = false}).ok());
        EXPECT_EQ(game->agents.status()[Counter::kPublications], 4u);
        EXPECT_GE(game->agents.status()[Counter::kGradientSteps], 8u);
        EXPECT_EQ(game->agents.status()[Counter::kSamples], 4u * 33);
        return weights_of(*game);
    };
    for (const Order order : {Order{}, Order{.learns_first = true}, Order{.lag = 2},
                              Order{.learns_first = true, .lag = 1}}) {
        const Weights together = after(false, order);
        EXPECT_EQ(after(true, order), together) << order.learns_first << order.lag;
    }
}

TEST_F(DriverApartTest, AgentsGoOnWhileTheyLearnWhicheverQueueIsFirst) {
    const auto after = [&](Order order, uint32_t within) -> Weights {
        const auto game = TwoQueues::create(queues(), true, order);
        if (game == nullptr) return {};
        const auto ids = add_all(*game);
        play(*game, ids, 0, 60, {.learning_budget_us = 1e9, .max_decision_frames = within});
        game->settle();
        EXPECT_GE(game->agents.status().rollouts, within == 1 ? 3u : 1u);
        EXPECT_GE(game->agents.status()[Counter::kPublications], within == 1 ? 3u : 1u);
        return weights_of(*game);
    };
    EXPECT_EQ(after({.learns_first = false, .lag = 0}, 1),
              after({.learns_first = true, .lag = 0}, 1));
    EXPECT_EQ(after({.learns_first = false, .lag = 2}, 1),
              after({.learns_first = true, .lag = 2}, 1));
    EXPECT_EQ(after({.learns_first = false, .lag = 1}, 3),
              after({.learns_first = true, .lag = 1}, 3));
}

TEST_F(DriverApartTest, WhatIsRewoundAdaptedAndForgottenIsSoForBothQueues) {
    // A detour of learning, given up in its middle, leaves nothing behind.
    const auto after = [&](bool is_apart, int detour) -> Weights {
        const auto game = TwoQueues::create(queues(), is_apart, {.lag = 1});
        if (game == nullptr) return {};
        const auto ids = add_all(*game);
        play(*game, ids, 0, 9, {.learning_budget_us = 0});
        game->settle();
        EXPECT_TRUE(game->agents.take_snapshot().ok());
        game->settle();
        EXPECT_EQ(game->agents.snapshot_count(), 1u);
        play(*game, ids, 100, 100 + detour);
        EXPECT_TRUE(game->agents.restore_snapshot().ok());
        game->settle(0);
        EXPECT_EQ(game->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
        play(*game, ids, 9, 18, {.learning_budget_us = 0});
        game->settle();
        EXPECT_TRUE(game->agents.shrink_and_perturb(0.5).ok());
        game->settle();
        play(*game, ids, 18, 26, {.learning_budget_us = 0});
        game->settle();
        EXPECT_EQ(game->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
        return weights_of(*game);
    };
    const Weights together = after(false, 0);
    EXPECT_EQ(after(true, 0), together);
    for (const int detour : {10, 11, 12, 13, 19})
        EXPECT_EQ(after(true, detour), together) << detour;

    const auto game = TwoQueues::create(queues(), true, {.lag = 1});
    ASSERT_NE(game, nullptr);
    const auto ids = add_all(*game);
    ASSERT_TRUE(game->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    const Weights first = weights_of(*game);
    play(*game, ids, 0, 30);
    game->agents.reset_brain();
    game->settle(0);
    const Weights forgotten = weights_of(*game);
    EXPECT_EQ(forgotten, first);
    play(*game, ids, 30, 60);
    game->settle();
    EXPECT_NE(weights_of(*game), first) << "learning goes on";
}

TEST_F(DriverApartTest, LearnersWithoutWindowsAndAgentsThatLearnTogetherRefuseTheSecondQueue) {
    const AgentSpec schema(ObservationSpec().box("x", 2), ActionSpec().continuous("aim"));
    Sac sac;
    sac.replay.n_agents = 2;
    const AgentGraphs traces = build_agent_graphs(schema, mlp_network({8}), sac, 1);
    const AgentManifest manifest = make_manifest(schema, sac);
    auto context = Context::create(device().host_info());
    ASSERT_TRUE(context.ok());
    CompileOptions options;
    options.caps = *context->device_caps();
    options.max_batch_size = 2;
    const std::vector<Trace*> entries = runtime_entries(traces, manifest);
    const auto compiled = compile(std::span<Trace* const>(entries), options);
    ASSERT_TRUE(compiled.ok());
    const auto program = LoadedProgram::load(*context, compiled->bytes);
    ASSERT_TRUE(program.ok());
    const std::vector<std::byte> bytes = manifest.save();
    const auto made = Agents::create(*context, *program,
                                     {.manifest = bytes, .use_separate_learning_queue = true});
    EXPECT_NE(made.status().message().find("SAC learns from the samples of each frame"),
              std::string::npos)
        << made.status().message();

    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    VkCommandBuffer any = reinterpret_cast<VkCommandBuffer>(uintptr_t{1});
    const Status refused = host->frame({.learning_command_buffer = any});
    EXPECT_NE(refused.message().find("use_separate_learning_queue"), std::string::npos);
}

// On a device with two queue families: how much of learning runs beside acting.  Prints it.
TEST_F(DriverApartTest, TheQueuesOverlapWhereThereAreTwo) {
    if (!has_two()) GTEST_SKIP() << "one queue family computes";
    const auto game = TwoQueues::create(queues(), true, {.lag = 2});
    ASSERT_NE(game, nullptr);
    ASSERT_TRUE(game->measure_times().ok());
    const auto ids = add_all(*game);
    double acting = 0, learning = 0, both = 0;
    for (int frame = 0; frame < 600; ++frame) {
        play(*game, ids, frame, frame + 1);
        std::array<double, 4> learned{}, now{}, next{};
        // Learning was submitted behind the acting of two frames later.
        if (frame < 8 || !game->times_of(game->serial() - 6, learned) ||
            !game->times_of(game->serial() - 4, now) || !game->times_of(game->serial() - 3, next))
            continue;
        acting += now[1] - now[0];
        learning += learned[3] - learned[2];
        for (const std::array<double, 4>& other : {now, next})
            both += std::max(0.0, std::min(other[1], learned[3]) - std::max(other[0], learned[2]));
    }
    std::printf("acting %.1f us, learning %.1f us, of which %.1f us beside acting\n", acting * 1e-3,
                learning * 1e-3, both * 1e-3);
    EXPECT_GT(game->agents.status().rollouts, 20u);
    EXPECT_GT(both, 0);
}

}  // namespace
}  // namespace hearth::gates
