// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

using namespace hearth;
using namespace hearth::agents;

namespace {

AgentSpec spec() {
    ObservationSpec ember = ObservationSpec().position("place", 2, 50).box("heat", 1, {0, 9});
    ObservationSpec squad =
        ObservationSpec().array("members", 2, ObservationSpec().angle("facing"));
    return {ObservationSpec()
                .box("rays", 5, {0, 30})
                .dict("home", ObservationSpec().unit_vector("way", 2).discrete("kind", 4))
                .entities("embers", 3, ember)
                .array("squads", 2, squad)
                .quaternion("head"),
            ActionSpec()
                .continuous("thrust", 2, {-2, 2})
                .discrete("chirp", 3, true)
                .discrete("hide", 2, true)};
}

class Seen : public ::testing::Test {
  protected:
    void open(const AgentSpec& spec, const auto& learner) {
        auto device = cpu::open_device({.flags = "-O1", .progress = [](std::string_view) {}});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
        auto agents = make_agents(device_->context(), spec, mlp_network({8}), learner);
        ASSERT_TRUE(agents.ok()) << agents.status().message();
        agents_.emplace(std::move(*agents));
        fox_ = *agents_->add();
    }
    void frame() {
        ASSERT_TRUE(device_->context().begin_frame().ok());
        agents_->poll();
        const Status run = device_->run([&](VkCommandBuffer commands) {
            return agents_->record(commands, {.learning_budget_us = 1e6});
        });
        ASSERT_TRUE(run.ok()) << run.message();
    }
    void poll() {
        ASSERT_TRUE(device_->context().begin_frame().ok());
        agents_->poll();
    }

    std::optional<cpu::Device> device_;
    std::optional<Agents> agents_;
    AgentId fox_{};
};

const AgentSpec kSimple(ObservationSpec().box("x"), ActionSpec().discrete("push", 2));

TEST_F(Seen, FieldsAreListedByNameKindAndPlace) {
    open(spec(), Ppo{.n_agents = 2, .n_steps = 8, .n_minibatches = 1});
    const std::vector<hearth_agents_field> fields = agents_->fields();
    struct Expected {
        const char* name;
        hearth_agents_field_kind kind;
        uint32_t offset, size, options, copies, stride, count_offset, mask_offset;
    };
    constexpr uint32_t kNone = HEARTH_AGENTS_NO_FLOAT;
    const Expected expected[] = {
        {"rays", HEARTH_AGENTS_FIELD_BOX, 0, 5, 0, 1, 0, kNone, kNone},
        {"home/way", HEARTH_AGENTS_FIELD_UNIT_VECTOR, 5, 2, 0, 1, 0, kNone, kNone},
        {"home/kind", HEARTH_AGENTS_FIELD_DISCRETE, 7, 1, 4, 1, 0, kNone, kNone},
        {"embers/place", HEARTH_AGENTS_FIELD_POSITION, 9, 2, 0, 3, 3, 8, kNone},
        {"embers/heat", HEARTH_AGENTS_FIELD_BOX, 11, 1, 0, 3, 3, 8, kNone},
        {"squads/members[0]/facing", HEARTH_AGENTS_FIELD_ANGLE, 18, 1, 0, 2, 2, kNone, kNone},
        {"squads/members[1]/facing", HEARTH_AGENTS_FIELD_ANGLE, 19, 1, 0, 2, 2, kNone, kNone},
        {"head", HEARTH_AGENTS_FIELD_QUATERNION, 22, 4, 0, 1, 0, kNone, kNone},
        {"thrust", HEARTH_AGENTS_FIELD_CONTINUOUS_ACTION, 0, 2, 0, 1, 0, kNone, kNone},
        {"chirp", HEARTH_AGENTS_FIELD_DISCRETE_ACTION, 2, 1, 3, 1, 0, kNone, 0},
        {"hide", HEARTH_AGENTS_FIELD_DISCRETE_ACTION, 3, 1, 2, 1, 0, kNone, 3}};
    ASSERT_EQ(fields.size(), std::size(expected));
    for (size_t i = 0; i < fields.size(); ++i) {
        const hearth_agents_field& f = fields[i];
        const Expected& e = expected[i];
        SCOPED_TRACE(e.name);
        EXPECT_STREQ(f.name, e.name);
        EXPECT_EQ(f.kind, e.kind);
        EXPECT_EQ(f.offset, e.offset);
        EXPECT_EQ(f.size, e.size);
        EXPECT_EQ(f.options, e.options);
        EXPECT_EQ(f.copies, e.copies);
        EXPECT_EQ(f.stride, e.stride);
        EXPECT_EQ(f.count_offset, e.count_offset);
        EXPECT_EQ(f.mask_offset, e.mask_offset);
    }
    EXPECT_EQ(fields[0].high, 30);
    EXPECT_EQ(fields[3].high, 50);
    EXPECT_EQ(fields[8].low, -2);
    // Where find_observation finds them.
    uint32_t offset = 0, size = 0;
    ASSERT_EQ(hearth_agents_find_observation(agents_->handle(), "embers/heat", &offset, &size),
              HEARTH_OK);
    EXPECT_EQ(offset, fields[4].offset);
    hearth_agents_field none{};
    EXPECT_EQ(hearth_agents_get_field(agents_->handle(), 11, &none), HEARTH_ERROR_OUT_OF_RANGE);
    EXPECT_STREQ(hearth_agents_error(agents_->handle()), "index is 11, expected less than 11");
}

TEST_F(Seen, ValuesArriveWithTheActionsIfTheLearnerReportsThem) {
    open(kSimple, Ppo{.n_agents = 2, .n_steps = 512, .n_minibatches = 1, .report_values = true});
    const Result<float> early = agents_->value(fox_);
    ASSERT_FALSE(early.ok());
    EXPECT_NE(early.status().message().find("no action of agent 0 has arrived"), std::string::npos)
        << early.status().message();
    std::vector<float> seen;
    for (const float x : {-1.0f, 1.0f, -1.0f}) {
        agents_->observation(fox_)[0] = x;
        frame();
        poll();
        const Result<float> value = agents_->value(fox_);
        ASSERT_TRUE(value.ok()) << value.status().message();
        seen.push_back(*value);
    }
    EXPECT_NE(seen[0], seen[1]);
    EXPECT_NEAR(seen[0], seen[2], 1e-3f) << "the same observation, by statistics that moved";
}

TEST_F(Seen, WithoutReportValuesTheMessageNamesIt) {
    open(kSimple, Ppo{.n_agents = 2, .n_steps = 8, .n_minibatches = 1});
    const Result<float> value = agents_->value(fox_);
    ASSERT_FALSE(value.ok());
    EXPECT_NE(value.status().message().find(
                  "the learner computes no values for the game; make it with Ppo::report_values"),
              std::string::npos)
        << value.status().message();
}

TEST_F(Seen, FrozenAgentsReportTheReturnsOfTheirEpisodes) {
    open(kSimple, Ppo{.n_agents = 2, .n_steps = 8, .n_minibatches = 1});
    frame();
    agents_->freeze(true);
    // Episodes of three decisions that return 6, and then 12.
    for (const float reward : {2.0f, 4.0f}) {
        for (int step = 0; step < 3; ++step) {
            frame();
            ASSERT_TRUE(agents_->add_reward(fox_, reward).ok());
        }
        ASSERT_TRUE(agents_->end_episode(fox_, EpisodeEnd::kTerminated).ok());
    }
    frame();
    AgentsStatus status = agents_->status();
    EXPECT_FLOAT_EQ(status[AgentMetric::kEpisodeReturn], 9);
    EXPECT_NEAR(status[AgentMetric::kEpisodeLength], 3.5f, 0.51f);
    EXPECT_LE(status[Counter::kEpisodes], 1u) << "the outcome of the last decision before alone";
    agents_->freeze(false);
    EXPECT_EQ(agents_->status()[AgentMetric::kEpisodeReturn], 0) << "the learner's own again";
}

TEST_F(Seen, RunLogsHoldTheMetricsThatTheLearnerHas) {
    Dqn dqn;
    dqn.replay.n_agents = 2;
    open(kSimple, dqn);
    const std::string line = run_log_sample(*agents_, 1);
    for (const char* has : {"\"loss\":", "\"episode_return\":", "\"value_loss\":"})
        EXPECT_NE(line.find(has), std::string::npos) << line;
    for (const char* lacks : {"\"kl\":", "\"clip_fraction\":", "\"entropy\":", "\"ent_coef\":"})
        EXPECT_EQ(line.find(lacks), std::string::npos) << line;
}

}  // namespace
