// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The driver of agents on a device: learning through it, whatever the budget, and what it refuses.

#include "gates/count_allocations.hpp"
#include "gates/driver_host.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace hearth::gates {
namespace {

/// More than any item was ever measured to take, on a machine with other work to do too.
constexpr double kUnlimited = 1e9;

using namespace agents;

TEST_F(DriverTest, AgentsComeAndGoAtAnyFrame) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    Agents& agents = host->agents;
    const AgentId first = *agents.add(), second = *agents.add();
    EXPECT_TRUE(agents.action(first).empty());
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(host->frame({.learning_budget_us = 0},
                                [&] {
                                    for (const AgentId id : {first, second}) {
                                        agents.observation(id)[0] = static_cast<float>(i);
                                        EXPECT_TRUE(agents.add_reward(id, 0.5f).ok());
                                    }
                                })
                        .ok());
    host->settle();
    ASSERT_EQ(agents.action(first).size(), 2u);
    EXPECT_LE(std::abs(agents.action(first)[1]), 2.0f);
    EXPECT_EQ(agents.status()[Counter::kSamples], 4u);  // two of each: the third is not over

    ASSERT_TRUE(agents.remove(first).ok());
    EXPECT_TRUE(agents.observation(first).empty());
    EXPECT_TRUE(agents.action(first).empty());
    EXPECT_FALSE(agents.add_reward(first, 1).ok());
    const AgentId third = *agents.add();  // a place of its own: the first one's is still taken
    EXPECT_NE(third.index, first.index);
    EXPECT_TRUE(agents.action(third).empty());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    host->settle();
    EXPECT_EQ(agents.status()[Counter::kSamples], 6u);   // both last decisions, one of them an end
    EXPECT_EQ(agents.status()[Counter::kEpisodes], 1u);  // of the agent that left
    EXPECT_FALSE(agents.action(third).empty());

    const AgentId again = *agents.add();
    EXPECT_EQ(again.index, first.index);
    EXPECT_NE(again.generation, first.generation);
    EXPECT_TRUE(agents.action(again).empty()) << "what the agent before did";
    ASSERT_TRUE(agents.add().ok());
    const auto fifth = agents.add();
    ASSERT_FALSE(fifth.ok());
    EXPECT_NE(fifth.status().message().find("4 agents"), std::string::npos);
}

/// A thousand agents, whose observations are more than goes inline.
class Crowd {
  public:
    explicit Crowd(standalone::Device& device) {
        Ppo ppo;
        ppo.n_agents = kAgents;
        ppo.n_steps = 4;
        ppo.n_minibatches = 4;
        ppo.n_epochs = 1;
        const AgentSpec schema(ObservationSpec().box("x", 24), ActionSpec().continuous("aim", 2));
        host = Host::create(device, build_agent_graphs(schema, mlp_network({8}), ppo, 1),
                            make_manifest(schema, ppo));
        if (host == nullptr) return;
        for (int i = 0; i < kAgents; ++i) ids_.push_back(*host->agents.add());
    }
    void live(int frame) {
        for (size_t i = 0; i < ids_.size(); ++i) {
            const std::span<const float> action = host->agents.action(ids_[i]);
            const std::span<float> seen = host->agents.observation(ids_[i]);
            for (size_t k = 0; k < seen.size(); ++k)
                seen[k] = std::sin(0.1f * static_cast<float>(k + i) + static_cast<float>(frame));
            if (action.empty()) continue;
            EXPECT_TRUE(host->agents.add_reward(ids_[i], -std::abs(action[0] - seen[1])).ok());
        }
    }

    static constexpr int kAgents = 1024;
    std::unique_ptr<Host> host;

  private:
    std::vector<AgentId> ids_;
};

TEST_F(DriverTest, AThousandAgentsSeeThroughHostMemoryHoweverTheirDecisionIsCut) {
    std::vector<float> whole;
    for (const uint32_t within : {1u, 3u}) {
        Crowd crowd(device());
        ASSERT_NE(crowd.host, nullptr);
        for (int frame = 0; frame < 4; ++frame)
            for (uint32_t part = 0; part < within; ++part) {
                const Status recorded = crowd.host->frame(
                    {.learning_budget_us = 0, .exploration = 0, .max_decision_frames = within},
                    [&] {
                        if (part == 0) crowd.live(frame);
                    });
                ASSERT_TRUE(recorded.ok()) << recorded.message();
            }
        crowd.host->settle();
        const AgentsStatus status = crowd.host->agents.status();
        EXPECT_EQ(status.agents, 1024u);
        EXPECT_EQ(status[Counter::kSamples], 3u * 1024);
        EXPECT_EQ(status[Counter::kSamplesRejected], 0u);
        const std::vector<float> actions = crowd.host->slot("last.action");
        ASSERT_EQ(actions.size(), 2u * 1024);
        if (within > 1) {
            EXPECT_EQ(actions, whole);
            continue;
        }
        whole = actions;
        // Each saw something of its own, so no two do the same.
        std::set<std::pair<float, float>> different;
        for (size_t i = 0; i < actions.size(); i += 2)
            different.insert({actions[i], actions[i + 1]});
        EXPECT_EQ(different.size(), 1024u);
    }
}

TEST_F(DriverTest, WhatIsWrongIsRefusedByName) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    Agents& agents = host->agents;
    const AgentId id = *agents.add();
    const auto speed = agents.find_observation("speed");
    ASSERT_TRUE(speed.ok());
    EXPECT_EQ(speed->offset, 2u);
    EXPECT_NE(agents.find_observation("sped").status().message().find("'speed'"),
              std::string::npos);
    EXPECT_NE(agents.set_hyperparameter("learning_rat", 1).message().find("'learning_rate'"),
              std::string::npos);
    EXPECT_FALSE(agents.set_hyperparameter("learning_rate", NAN).ok());
    EXPECT_TRUE(agents.set_hyperparameter("learning_rate", 1e-3).ok());
    EXPECT_FALSE(agents.add_reward(id, NAN).ok());
    EXPECT_FALSE(agents.add_reward(id, std::numeric_limits<float>::infinity()).ok());
    EXPECT_EQ(agents.status().rewards_rejected, 2u);
    EXPECT_FALSE(agents.shrink_and_perturb(1.5).ok());
    EXPECT_FALSE(agents.add_demonstration(id, std::vector<float>{0, 0}).ok());
    EXPECT_STREQ(hearth_agents_counter_name(0), "samples");
    EXPECT_EQ(hearth_agents_counter_name(HEARTH_AGENTS_COUNTERS), nullptr);
}

TEST_F(DriverTest, AManifestOfAnotherProgramIsRefusedByWhatDiffers) {
    const AgentSpec schema = small_schema();
    const AgentGraphs traces = build_agent_graphs(schema, mlp_network({8}), small_ppo());
    auto context = Context::create(device().host_info());
    ASSERT_TRUE(context.ok());
    const AgentManifest manifest = make_manifest(schema, small_ppo());
    const std::vector<Trace*> entries = runtime_entries(traces, manifest);
    CompileOptions options;
    options.caps = *context->device_caps();
    options.max_batch_size = 4;
    const auto compiled = compile(std::span<Trace* const>(entries), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto program = LoadedProgram::load(*context, compiled->bytes);
    ASSERT_TRUE(program.ok());
    const auto error = [&](const std::vector<std::byte>& bytes) {
        return Agents::create(*context, *program, bytes).status().message();
    };
    AgentManifest wider = manifest;
    wider.schema = AgentSpec(ObservationSpec().box("place", 3).box("speed"),
                             ActionSpec().discrete("move", 3, true).continuous("aim"));
    EXPECT_NE(error(wider.save()).find("'observation': 3 floats in the program, 4"),
              std::string::npos)
        << error(wider.save());
    AgentManifest more = manifest;
    more.n_agents = 5;
    EXPECT_NE(error(more.save()).find("room for 4 agents"), std::string::npos);
    AgentManifest without = manifest;
    without.hyperparameters.clear();
    EXPECT_NE(error(without.save()).find("'learning_rate'"), std::string::npos);
    const std::vector<std::byte> bytes = manifest.save();
    for (size_t size = 0; size < bytes.size(); size += 3)
        EXPECT_NE(error({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}), "");
    EXPECT_EQ(error(bytes), "");
}

TEST_F(DriverTest, APackageIsAllThatAGameNeeds) {
    auto context = Context::create(device().host_info());
    ASSERT_TRUE(context.ok());
    const AgentSpec schema = small_schema();
    const AgentManifest manifest = make_manifest(schema, small_ppo());
    const AgentGraphs traces = build_agent_graphs(schema, mlp_network({8}), small_ppo(), 1);
    DeviceTarget profile;
    profile.options.caps = *context->device_caps();
    if (test::test_setting("HEARTH_TEST_BINDING") == "descriptor")
        profile.options.binding_model = BindingModel::kDescriptor;
    CookOptions options{.device_targets = {profile}, .max_batch_size = 4};
    const auto entries = runtime_entries(traces, manifest);
    const auto load = [&](const Result<Cooked>& cooked) {
        EXPECT_TRUE(cooked.ok()) << cooked.status().message();
        return LoadedProgram::load_package(*context, cooked->bytes);
    };
    const auto silent = load(cook(std::span<Trace* const>(entries), options));
    ASSERT_TRUE(silent.ok());
    EXPECT_NE(Agents::create(*context, *silent).status().message().find("manifest of agents"),
              std::string::npos);

    options.agents = manifest.save();
    const auto cooked = cook(std::span<Trace* const>(entries), options);
    options.agents.clear();
    const auto program = load(recook(cooked->bytes, options));  // which keeps the manifest
    ASSERT_TRUE(program.ok()) << program.status().message();
    auto agents = Agents::create(*context, *program, {.schema = schema.save()});
    ASSERT_TRUE(agents.ok()) << agents.status().message();
    EXPECT_EQ(hearth_agents_schema_hash(agents->handle()), schema.hash());
    EXPECT_STREQ(hearth_agents_observation_name(agents->handle(), 1), "place[1]");
    EXPECT_STREQ(hearth_agents_action_name(agents->handle(), 0), "move");
    EXPECT_STREQ(hearth_agents_action_name(agents->handle(), 2), "");
    uint32_t begin = 0, width = 0;
    EXPECT_EQ(hearth_agents_find_action(agents->handle(), "aim", &begin, &width), HEARTH_OK);
    EXPECT_EQ(begin, 1u);
    EXPECT_EQ(width, 1u);
    EXPECT_EQ(hearth_agents_find_action(agents->handle(), "am", &begin, &width),
              HEARTH_ERROR_NOT_FOUND);
    EXPECT_STREQ(hearth_agents_error(agents->handle()), "no action 'am'; there are 'move', 'aim'");

    const AgentSpec other(ObservationSpec().box("place", 2).box("speed", 2),
                          ActionSpec().discrete("move", 3, true).continuous("aim", 1, {-2, 2}));
    const auto refused = Agents::create(*context, *program, {.schema = other.save()});
    EXPECT_NE(refused.status().message().find("observations/speed"), std::string::npos)
        << refused.status().message();
}

/// Plays windows one by one, each learned from before the next one starts: at once, or by an eighth
/// of an item a frame.
std::map<std::string, std::vector<float>> weights_after(standalone::Device& device, bool is_whole,
                                                        int* most_frames, uint64_t* learn_frames) {
    const auto host = small_host(device);
    if (host == nullptr) return {};
    std::vector<AgentId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(*host->agents.add());
    int frame = 0;
    *most_frames = 0;
    for (int window = 0; window < 3; ++window) {
        for (int t = 0; t < (window == 0 ? 9 : 8); ++t, ++frame)
            EXPECT_TRUE(
                host->frame({.learning_budget_us = 0}, [&] { live(host->agents, ids, frame); })
                    .ok());
        int frames = 0;
        do {
            const double eighth = std::max(1.0, host->agents.status().minibatch_us_p95 / 8);
            EXPECT_TRUE(host->frame({.learning_budget_us = is_whole ? 1e9 : eighth,
                                     .request_decision = false})
                            .ok());
            ++frames;
        } while (host->agents.status().phase == HEARTH_AGENTS_UPDATE && frames < 2000);
        *most_frames = std::max(*most_frames, frames);
    }
    host->settle();
    EXPECT_EQ(host->agents.status().rollouts, 3u);
    *learn_frames = host->agents.status().update_frames;
    EXPECT_LE(host->agents.status().update_frames_over_budget, *learn_frames);
    std::map<std::string, std::vector<float>> out;
    for (const char* name : {"actor.0.weight", "actor.head.bias", "critic.0.weight",
                             "published.param.actor.0.weight", "actor.log_std"})
        out[name] = host->slot(name);
    return out;
}

TEST_F(DriverTest, WhatIsLearnedDoesNotDependOnTheBudget) {
    int at_once = 0, in_pieces = 0;
    uint64_t frames_at_once = 0, frames_in_pieces = 0;
    const auto whole = weights_after(device(), true, &at_once, &frames_at_once);
    const auto pieces = weights_after(device(), false, &in_pieces, &frames_in_pieces);
    EXPECT_EQ(whole, pieces);
    EXPECT_GT(in_pieces, 2 * at_once) << "the small budget made no difference";
    EXPECT_GE(frames_at_once, 2u);  // the newest frame's times may still be on their way
    EXPECT_GT(frames_in_pieces, 2 * frames_at_once);
    EXPECT_EQ(whole.at("actor.0.weight"), whole.at("published.param.actor.0.weight"));
}

TEST_F(DriverTest, APreferenceThatIsNoneIsRefused) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    ASSERT_TRUE(host->agents.add().ok());
    for (const auto preference : {HEARTH_AGENTS_PRIORITY_BALANCED, HEARTH_AGENTS_PRIORITY_GRAPHICS,
                                  HEARTH_AGENTS_PRIORITY_LEARNING})
        EXPECT_TRUE(host->frame({.priority = preference}).ok());
    EXPECT_FALSE(host->frame({.priority = static_cast<hearth_agents_priority>(3)}).ok());
    EXPECT_STREQ(hearth_agents_error(host->agents.handle()), "priority is 3, expected 0 to 2");
}

TEST_F(DriverTest, WithoutABudgetNothingIsLearnedAndFullWindowsDropSamples) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    std::vector<AgentId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(*host->agents.add());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}, [&] { live(host->agents, ids, 0); }).ok());
    const std::vector<float> before = host->slot("actor.0.weight");
    for (int frame = 1; frame < 12; ++frame)
        ASSERT_TRUE(
            host->frame({.learning_budget_us = 0}, [&] { live(host->agents, ids, frame); }).ok());
    host->settle();
    EXPECT_EQ(host->slot("actor.0.weight"), before);
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 32u);
    EXPECT_EQ(host->agents.status()[Counter::kSamplesDropped], 12u);
    EXPECT_EQ(host->agents.status()[Counter::kGradientSteps], 0u);
}

// Without validation layers, whose memory would count as ours.
TEST(Driver, AFrameAllocatesNothing) {
    const auto instance = standalone::Instance::create();
    ASSERT_TRUE(instance.ok());
    const auto device = standalone::Device::create(**instance, test::test_device_options());
    ASSERT_TRUE(device.ok());
    const auto host = small_host(**device);
    ASSERT_NE(host, nullptr);
    std::vector<AgentId> ids;
    for (int i = 0; i < 3; ++i) ids.push_back(*host->agents.add());
    const auto allocated_by = [&](int frames, int begin) {
        const uint64_t before = allocations();
        for (int frame = begin; frame < begin + frames; ++frame)
            EXPECT_TRUE(
                host->frame({.learning_budget_us = frame % 3 ? kUnlimited : 200.0},
                            [&] {
                                live(host->agents, ids, frame);
                                counts_allocations(true);
                                EXPECT_TRUE(
                                    host->agents.set_hyperparameter("learning_rate", 1e-3).ok());
                                counts_allocations(false);
                            })
                    .ok());
        return allocations() - before;
    };
    (void)allocated_by(30, 0);  // a driver may allocate when it first sees something
    EXPECT_EQ(allocated_by(90, 30), 0u);
    EXPECT_GE(host->agents.status().rollouts, 5u);
}

TEST(Driver, AFrameOfAThousandAgentsAllocatesNothing) {
    const auto instance = standalone::Instance::create();
    ASSERT_TRUE(instance.ok());
    const auto device = standalone::Device::create(**instance, test::test_device_options());
    ASSERT_TRUE(device.ok());
    Crowd crowd(**device);
    ASSERT_NE(crowd.host, nullptr);
    const auto allocated_by = [&](int frames, int begin) {
        const uint64_t before = allocations();
        for (int frame = begin; frame < begin + frames; ++frame) {
            const Status recorded =
                crowd.host->frame({.learning_budget_us = kUnlimited}, [&] { crowd.live(frame); });
            EXPECT_TRUE(recorded.ok()) << recorded.message();
        }
        return allocations() - before;
    };
    (void)allocated_by(7, 0);
    EXPECT_EQ(allocated_by(7, 7), 0u);
    EXPECT_GE(crowd.host->agents.status().rollouts, 2u);
}

TEST_F(DriverTest, AdaptStartsAnewAndLearningGoesOn) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    std::vector<AgentId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(*host->agents.add());
    for (int frame = 0; frame < 10; ++frame)
        ASSERT_TRUE(
            host->frame({.learning_budget_us = kUnlimited}, [&] { live(host->agents, ids, frame); })
                .ok());
    const std::vector<float> before = host->slot("actor.0.weight");
    ASSERT_TRUE(host->agents.shrink_and_perturb(1).ok());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
    EXPECT_NE(host->slot("actor.0.weight"), before);
    for (const float moment : host->slot("actor.0.weight.m")) EXPECT_EQ(moment, 0.0f);
    const uint64_t steps = host->agents.status()[Counter::kGradientSteps];
    for (int frame = 10; frame < 24; ++frame)
        ASSERT_TRUE(
            host->frame({.learning_budget_us = kUnlimited}, [&] { live(host->agents, ids, frame); })
                .ok());
    host->settle();
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    host->settle();
    EXPECT_GT(host->agents.status()[Counter::kGradientSteps], steps);
}

TEST_F(DriverTest, CloningFollowsThePersonWhoTakesTheWheel) {
    const AgentSpec schema(ObservationSpec().box("x", 1, {-2, 2}), ActionSpec().continuous("steer"),
                           2);
    BehaviorCloning clone;
    clone.n_agents = 2;
    clone.buffer_size = 256;
    clone.batch_size = 32;
    clone.learning_starts = 16;
    clone.learning_rate = 1e-2;
    clone.loss = BcLoss::kMse;
    const auto host =
        Host::create(device(), build_agent_graphs(schema, mlp_network({16}), clone, 1),
                     make_manifest(schema, clone));
    ASSERT_NE(host, nullptr);
    Agents& agents = host->agents;
    const AgentId car = *agents.add();
    float worst = 0;
    for (int frame = 0; frame < 260; ++frame) {
        const float x = std::sin(0.37f * static_cast<float>(frame));
        const bool is_driven = frame < 200;
        ASSERT_TRUE(host->frame({.learning_budget_us = kUnlimited, .exploration = 0},
                                [&] {
                                    agents.observation(car)[0] = x;
                                    const float wanted = -0.5f * x;
                                    if (!is_driven) return;
                                    EXPECT_TRUE(
                                        agents.add_demonstration(car, std::span(&wanted, 1)).ok());
                                })
                        .ok());
        if (is_driven) continue;
        // What arrives now was decided for this x.
        ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
        agents.poll();
        worst = std::max(worst, std::abs(agents.action(car)[0] + 0.5f * x));
    }
    EXPECT_LT(worst, 0.15f);
}

// Two cars with one brain: a person drives the first one, and the second one learns it, too.
// Whatever an item of learning is cut into, the ring is not written while it is read.
TEST_F(DriverTest, PpoLearnsFromThePersonWhoTakesTheWheelAndTakesNothingOfItForItsOwn) {
    const AgentSpec schema(ObservationSpec().box("x", 1, {-2, 2}),
                           ActionSpec().continuous("steer"));
    Ppo ppo;
    ppo.n_agents = 2;
    ppo.n_steps = 8;
    ppo.n_minibatches = 1;
    ppo.normalize_observations = false;
    ppo.learning_rate = 1e-2;
    ppo.limits.target_kl = 0;
    ppo.demo_capacity = 256;
    ppo.bc_coef = 10;
    for (const double learn_us : {kUnlimited, 1.0}) {
        const auto host =
            Host::create(device(), build_agent_graphs(schema, mlp_network({16}), ppo, 1),
                         make_manifest(schema, ppo));
        ASSERT_NE(host, nullptr);
        Agents& agents = host->agents;
        const AgentId driven = *agents.add(), other = *agents.add();
        float worst = 0;
        constexpr int kDriven = 160;
        const int frames = learn_us > 1 ? kDriven + 20 : 40;
        for (int frame = 0; frame < frames; ++frame) {
            const float x = std::sin(0.37f * static_cast<float>(frame));
            ASSERT_TRUE(host->frame({.learning_budget_us = learn_us,
                                     .exploration = frame < kDriven ? 1.0f : 0.0f},
                                    [&] {
                                        for (const AgentId id : {driven, other}) {
                                            agents.observation(id)[0] = x;
                                            EXPECT_TRUE(agents.add_reward(id, 0.1f).ok());
                                        }
                                        const float wanted = -0.5f * x;
                                        if (frame >= kDriven) return;
                                        const Status shown =
                                            agents.add_demonstration(driven, std::span(&wanted, 1));
                                        EXPECT_TRUE(shown.ok()) << shown.message();
                                    })
                            .ok());
            if (frame < kDriven) continue;
            ASSERT_TRUE(host->frame({.learning_budget_us = 0, .request_decision = false}).ok());
            agents.poll();
            worst = std::max(worst, std::abs(agents.action(other)[0] + 0.5f * x));
        }
        host->settle();
        const std::vector<float> size = host->slot("demonstration.size");
        int32_t shown = 0;
        std::memcpy(&shown, size.data(), sizeof shown);
        const AgentsStatus status = agents.status();
        const uint64_t own = status[Counter::kSamples] + status[Counter::kSamplesDropped] -
                             static_cast<uint64_t>(shown);
        if (learn_us > 1) {
            // While nothing is known of the cost, items are cut, and one replaces another that
            // waits.
            EXPECT_GE(shown, kDriven - 4);
            EXPECT_LE(shown, kDriven);
            EXPECT_LT(worst, 0.15f);
            // Of the driven one those alone that it decided and did: one after the wheel is let go
            // counts as not done.
            EXPECT_EQ(own, static_cast<uint64_t>(frames - 1 + frames - 1 - kDriven));
        } else {
            EXPECT_EQ(own, static_cast<uint64_t>(frames - 1));
            EXPECT_GT(shown, 8);
            EXPECT_LE(shown, frames);
        }
        EXPECT_EQ(status[Counter::kSamplesRejected], 0u);
    }
}

TEST_F(DriverTest, DemonstrationsForALearnerThatTakesNoneAreRefused) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const AgentId id = *host->agents.add();
    const float action[2] = {};
    EXPECT_NE(
        host->agents.add_demonstration(id, action).message().find("or with Ppo::demo_capacity"),
        std::string::npos);
}

}  // namespace
}  // namespace hearth::gates
