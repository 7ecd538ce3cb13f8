// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/demo_file.hpp"

#include "tool/run_tool.hpp"

#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace hearth;
using namespace hearth::agents;

namespace {

namespace fs = std::filesystem;

AgentSpec spec_of(int64_t thrusts = 1) {
    return {ObservationSpec().box("place", 1, {-2, 2}).unit_vector("wind", 2),
            ActionSpec().continuous("thrust", thrusts).discrete("sail", 3, /*masked=*/true)};
}

/// An expert's action: steers back to zero, and sets the sail by the side.
std::vector<float> expert(float place) {
    return {place > 0 ? -0.75f : 0.75f, place > 0 ? 2.0f : 0.0f};
}

class Demonstrations : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() /
                  ("hearth_demo_" +
                   std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::remove_all(folder_);
        fs::create_directory(folder_);
        auto device = cpu::open_device({.progress = [](std::string_view) {}});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
    }
    void TearDown() override { fs::remove_all(folder_); }

    template <class Learner>
    Agents make(const Learner& learner, const AgentSpec& spec = spec_of()) {
        auto agents = make_agents(device_->context(), spec, mlp_network({16}), learner);
        EXPECT_TRUE(agents.ok()) << agents.status().message();
        return agents.ok() ? std::move(*agents) : Agents();
    }
    std::string path(const std::string& name = "anna.demo") const {
        return (folder_ / name).string();
    }
    /// Plays `steps` with the expert, whose episodes have ten steps.
    void demonstrate(Agents& agents, AgentId id, DemoWriter& writer, int steps, uint32_t who = 0) {
        for (int i = 0; i < steps; ++i) {
            const float place = static_cast<float>(i * 37 % 101) / 25 - 2;
            const float seen[] = {place, 0, 1};
            std::copy_n(seen, 3, agents.observation(id).begin());
            DemoStepOptions options{.reward = 0.5f, .demonstrator = who};
            if (i % 10 == 9) options.episode_end = EpisodeEnd::kTruncated;
            const Status added = writer.add(agents, id, expert(place), options);
            ASSERT_TRUE(added.ok()) << added.message();
        }
    }
    void make_file(int steps) {
        Agents agents = make(Ppo{});
        const AgentId id = *agents.add();
        agents.action_mask(id)[1] = 0;
        auto writer = DemoWriter::open(path(), agents);
        ASSERT_TRUE(writer.ok()) << writer.status().message();
        demonstrate(agents, id, *writer, steps);
    }
    std::vector<std::byte> bytes() const { return *read_whole_file(path()); }

    fs::path folder_;
    std::optional<cpu::Device> device_;
};

StatusCode check(std::span<const std::byte> bytes, std::string* text = nullptr) {
    hearth_messages messages{};
    const hearth_result result = hearth_demo_open(bytes.data(), bytes.size(), nullptr, &messages);
    if (text) *text = messages.text;
    return to_status(result, "").code();
}

TEST_F(Demonstrations, KeepWhatWasDone) {
    make_file(25);
    const auto demo = DemoFile::open(path());
    ASSERT_TRUE(demo.ok()) << demo.status().message();
    EXPECT_EQ(demo->step_count(), 25u);
    EXPECT_EQ(AgentSpec::load(demo->schema())->hash(), spec_of().hash());
    const hearth_demo_step step = demo->step(9);
    const std::vector<float> action = expert(step.observation[0]);
    EXPECT_EQ(std::vector(step.action, step.action + 2), action);
    EXPECT_EQ(std::vector(step.action_mask, step.action_mask + 3), (std::vector{1.0f, 0.0f, 1.0f}));
    EXPECT_EQ(step.reward, 0.5f);
    EXPECT_EQ(step.episode_end, static_cast<uint32_t>(EpisodeEnd::kTruncated));
    EXPECT_EQ(demo->step(8).episode_end, 0u);
}

TEST_F(Demonstrations, AreWrittenAsEverBefore) {
    make_file(12);
    const std::string stored = HEARTH_DATA "/demonstrations/sail.demo";
    if (std::getenv("HEARTH_WRITE_DATA")) fs::copy(path(), stored);
    EXPECT_EQ(bytes(), *read_whole_file(stored)) << "a new layout needs another version";
}

TEST_F(Demonstrations, TeachAnotherLearnerWhenTheyAreReplayed) {
    make_file(400);
    const DemoFile demo = DemoFile::open(path()).value();
    Agents pupils = make(BehaviorCloning{.n_agents = 16, .learning_rate = 3e-3});
    std::vector<AgentId> ids(16);
    for (AgentId& id : ids) id = *pupils.add();
    const auto frame = [&](const std::function<Status(AgentId)>& prepare, float exploration) {
        ASSERT_TRUE(device_->context().begin_frame().ok());
        pupils.poll();
        for (const AgentId id : ids) {
            const Status prepared = prepare(id);
            ASSERT_TRUE(prepared.ok()) << prepared.message();
        }
        const Status recorded = device_->run([&](VkCommandBuffer commands) {
            return pupils.record(commands, {.learning_budget_us = 1e5, .exploration = exploration});
        });
        ASSERT_TRUE(recorded.ok()) << recorded.message();
    };
    uint64_t step = 0;
    for (int i = 0; i < 1'000; ++i)
        frame([&](AgentId id) { return demo.replay(pupils, id, step++ % demo.step_count()); }, 1);

    EXPECT_EQ(pupils.action_mask(ids[0])[1], 0) << "the mask of the step";
    std::vector<float> places;
    pupils.freeze(true);
    for (int i = 0; i < 4; ++i)  // actions of this observation have arrived by then
        frame(
            [&](AgentId id) {
                pupils.observation(id)[0] = static_cast<float>(id.index) / 8 - 0.95f;
                return Status();
            },
            0);
    int right = 0;
    for (const AgentId id : ids) {
        const std::vector<float> wanted = expert(static_cast<float>(id.index) / 8 - 0.95f);
        const auto action = pupils.action(id);
        right += action[0] * wanted[0] > 0 && action[1] == wanted[1];
    }
    EXPECT_GE(right, 14) << "of 16; two observations lie beside the border";
}

TEST_F(Demonstrations, AreAppendedByLaterRuns) {
    Agents agents = make(Ppo{});
    const AgentId id = *agents.add();
    for (const uint32_t who : {1u, 2u}) {
        auto writer = DemoWriter::open(path(), agents);
        ASSERT_TRUE(writer.ok()) << writer.status().message();
        demonstrate(agents, id, *writer, 10, who);
    }
    const auto demo = DemoFile::open(path());
    ASSERT_TRUE(demo.ok()) << demo.status().message();
    EXPECT_EQ(demo->step_count(), 20u);
    EXPECT_EQ(demo->step(0).demonstrator, 1u);
    EXPECT_EQ(demo->step(19).demonstrator, 2u);
}

TEST_F(Demonstrations, OfOtherAgentsAreRefusedByTheNameOfTheField) {
    make_file(3);
    Agents others = make(BehaviorCloning{}, spec_of(2));
    const Status replayed = DemoFile::open(path())->replay(others, *others.add(), 0);
    EXPECT_NE(replayed.message().find("thrust"), std::string::npos) << replayed.message();
    const auto writer = DemoWriter::open(path(), others);
    EXPECT_NE(writer.status().message().find("another specification"), std::string::npos)
        << writer.status().message();

    Agents no_pupils = make(Ppo{});
    const Status refused = DemoFile::open(path())->replay(no_pupils, *no_pupils.add(), 0);
    EXPECT_NE(refused.message().find("accepts no demonstrations"), std::string::npos)
        << refused.message();
}

TEST_F(Demonstrations, WithValuesThatAreNotFiniteAreNotWritten) {
    Agents agents = make(Ppo{});
    const AgentId id = *agents.add();
    auto writer = DemoWriter::open(path(), agents);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const auto& [action, reward, word] :
         {std::tuple(std::vector{nan, 0.0f}, 0.0f, "action"), {{0, 0}, nan, "reward"}}) {
        const Status added = writer->add(agents, id, action, {.reward = reward});
        EXPECT_NE(added.message().find(std::string(word) + " is not finite"), std::string::npos)
            << added.message();
    }
    const Status added = writer->add(agents, id, std::vector{1.0f});
    EXPECT_EQ(added.message(), "the action has 1 floats, expected 2");
    EXPECT_EQ(writer->add(agents, {7, 7}, std::vector{0.0f, 0.0f}).code(), StatusCode::kNotFound);
    const float action[] = {0, 0};
    uint64_t bytes = 0;
    EXPECT_EQ(hearth_demo_add(agents.handle(), id, action, 0, 3, 0, nullptr, &bytes),
              HEARTH_ERROR_OUT_OF_RANGE)
        << "an end of no kind";
    EXPECT_EQ(DemoFile::open(path())->step_count(), 0u);
}

TEST_F(Demonstrations, AreRefusedWithAnyByteFlipped) {
    make_file(3);
    const std::vector<std::byte> whole = bytes();
    ASSERT_EQ(check(whole), StatusCode::kOk);
    for (size_t i = 0; i < whole.size(); ++i)
        for (const int bit : {0, 3, 7}) {
            std::vector<std::byte> damaged = whole;
            damaged[i] ^= std::byte(1 << bit);
            std::string text;
            EXPECT_NE(check(damaged, &text), StatusCode::kOk) << "byte " << i;
            EXPECT_FALSE(text.empty());
        }
}

TEST_F(Demonstrations, AreRefusedWhereverTheyEndButBetweenSteps) {
    make_file(3);
    const std::vector<std::byte> whole = bytes();
    AgentSpecView spec;
    SpecText error;
    const std::vector<std::byte> saved = spec_of().save();
    ASSERT_EQ(spec.open(saved, error), StatusCode::kOk);
    const size_t header = demo_header_bytes(spec), step = demo_step_bytes(spec);
    ASSERT_EQ(whole.size(), header + 3 * step);
    for (size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
        const bool is_between = size >= header && (size - header) % step == 0;
        std::string text;
        EXPECT_EQ(check(cut, &text) == StatusCode::kOk, is_between) << size;
        if (size == whole.size() - 1) {
            EXPECT_NE(text.find("ends within step 2; cut it to " +
                                std::to_string(header + 2 * step) + " bytes"),
                      std::string::npos)
                << text;
        }
    }
}

TEST_F(Demonstrations, ThatPromiseMoreThanTheyHoldAreRefused) {
    make_file(1);
    for (const size_t at : {16u, 20u})  // DemoHeader::spec_bytes, header_bytes
        for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0xfffffff8u, 0xffffffffu}) {
            std::vector<std::byte> damaged = bytes();
            std::memcpy(damaged.data() + at, &value, sizeof value);
            EXPECT_EQ(check(damaged), StatusCode::kCorruptData);
        }
    EXPECT_EQ(check({}), StatusCode::kInvalidArgument);
    hearth_demo_step step;
    hearth_messages messages{};
    const std::vector<std::byte> whole = bytes();
    EXPECT_EQ(hearth_demo_get_step(whole.data(), whole.size(), 1, &step, &messages),
              HEARTH_ERROR_NOT_FOUND);
    EXPECT_STREQ(messages.text, "demonstration file: step 1 of 1");
}

TEST_F(Demonstrations, AreListedByTheTool) {
    make_file(25);
    const hearth::testing::Ran ran = hearth::testing::run("demo '" + path() + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    for (const char* part :
         {"25 steps", "2 episodes", "mean return 5", "place", "wind.x", "thrust", "sail", "-0.75"})
        EXPECT_TRUE(ran.says(part)) << part << " in:\n" << ran.text;

    const hearth::testing::Ran csv =
        hearth::testing::run("demo '" + path() + "' --csv '" + path("a.csv") + "'");
    EXPECT_EQ(csv.exit_code, 0) << csv.text;
    std::ifstream in(path("a.csv"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    ASSERT_EQ(lines.size(), 26u);
    EXPECT_EQ(lines[0],
              "step,episode,demonstrator,reward,episode_end,place,wind.x,wind.y,"
              "mask:0,mask:1,mask:2,thrust,sail");
    EXPECT_TRUE(lines[10].starts_with("9,0,0,0.5,truncated,")) << lines[10];
    EXPECT_TRUE(lines[11].starts_with("10,1,0,0.5,,")) << lines[11];

    const hearth::testing::Ran json = hearth::testing::run("demo '" + path() + "' --json");
    EXPECT_TRUE(json.says("\"steps\": 25")) << json.text;
}

TEST_F(Demonstrations, ThatAreDamagedAreRefusedByTheTool) {
    make_file(2);
    std::vector<std::byte> damaged = bytes();
    damaged[damaged.size() - 4] ^= std::byte{1};
    std::ofstream(path("bad.demo"), std::ios::binary)
        .write(reinterpret_cast<const char*>(damaged.data()),
               static_cast<std::streamsize>(damaged.size()));
    const hearth::testing::Ran ran = hearth::testing::run("demo '" + path("bad.demo") + "'");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_TRUE(ran.says("bad.demo") && ran.says("step 1: its checksum differs")) << ran.text;
    EXPECT_TRUE(hearth::testing::run("demo '" + path("none.demo") + "'").says("No such file"));
}

}  // namespace
