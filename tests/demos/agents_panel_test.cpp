// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The panel of engine_bridge/imgui, over agents that run: what it shows and what its buttons do.
// Nothing is rendered here; hatchlings.show_the_panel does that.

#include <hearth/agents.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui/agents_panel.hpp>
#include <imgui_internal.h>
#include <standalone/device.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace hearth {
namespace {

using namespace agents;
using bridge::AgentsPanel;

class AgentsPanelTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto instance = standalone::Instance::create();
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        instance_ = std::move(instance).value();
        auto device = standalone::Device::create(*instance_);
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::move(device).value();
        const Status made = make();
        ASSERT_TRUE(made.ok()) << made.message();
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {1280, 720};
        io.Fonts->Build();
    }
    void TearDown() override {
        if (ImGui::GetCurrentContext() != nullptr) ImGui::DestroyContext();
    }

    Status make() {
        const AgentSpec schema(ObservationSpec().box("x", 2), ActionSpec().continuous("y", 1));
        const Ppo ppo{.n_agents = 2, .n_steps = 4, .n_minibatches = 1, .n_epochs = 1};
        const AgentManifest manifest = make_manifest(schema, ppo);
        const AgentGraphs traces = build_agent_graphs(schema, mlp_network({8}), ppo);
        HEARTH_ASSIGN(context_, Context::create(device_->host_info()));
        HEARTH_ASSIGN(const DeviceCaps caps, context_.device_caps());
        HEARTH_ASSIGN(const Compiled compiled, compile(runtime_entries(traces, manifest),
                                                       {.caps = caps, .max_batch_size = 2}));
        HEARTH_ASSIGN(program_, LoadedProgram::load(context_, compiled.bytes));
        HEARTH_ASSIGN(agents_, Agents::create(context_, program_, manifest.save()));
        HEARTH_TRY(agents_.create_pipelines());
        HEARTH_ASSIGN(agent_, agents_.add());
        return {};
    }
    /// A frame of the game, and one of ImGui.
    void play(AgentsPanel& panel, int frames = 1) {
        for (int i = 0; i < frames; ++i) {
            ++frame_;
            ASSERT_TRUE(context_.begin_frame(frame_, frame_ - 1).ok());
            agents_.poll();
            agents_.observation(agent_)[0] = seen_;
            ASSERT_TRUE(agents_.add_reward(agent_, 1).ok());
            Status recorded;
            ASSERT_TRUE(device_
                            ->run([&](VkCommandBuffer commands) {
                                recorded =
                                    agents_.record(commands, {.learning_budget_us = 1e9}).status();
                            })
                            .ok());
            ASSERT_TRUE(recorded.ok()) << recorded.message();
            panel.add({.seconds = static_cast<double>(frame_), .gpu_us = 40, .budget_us = 100});
            draw(panel);
        }
    }
    void draw(AgentsPanel& panel) {
        ImGui::NewFrame();
        panel.draw("brain");
        ImGui::Render();
    }
    /// All text of the panel, which ImGui copies to its clipboard.
    std::string text_of(AgentsPanel& panel) {
        std::string text;
        ImGuiIO& io = ImGui::GetIO();
        io.ClipboardUserData = &text;
        io.SetClipboardTextFn = [](void* out, const char* copied) {
            *static_cast<std::string*>(out) = copied;
        };
        ImGui::NewFrame();
        ImGui::LogToClipboard();
        panel.draw("brain");
        ImGui::LogFinish();
        ImGui::Render();
        return text;
    }
    /// As if it was clicked.
    void press(AgentsPanel& panel, const char* button) {
        ImGuiWindow* const window = ImGui::FindWindowByName("brain");
        ASSERT_NE(window, nullptr);
        ImGui::ActivateItem(window->GetID(button));
        draw(panel);
        draw(panel);
    }

    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    Context context_;
    LoadedProgram program_;
    Agents agents_;
    AgentId agent_{};
    uint64_t frame_ = 0;
    float seen_ = 0.5f;
};

TEST_F(AgentsPanelTest, ShowsAgentsFromTheFirstFrameOn) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    draw(panel);  // before anything is known
    play(panel, 12);
    EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 500);
    EXPECT_EQ(agents_.status()[Counter::kPublications], 2u) << "after the updates of two rollouts";
    EXPECT_EQ(panel.message(), "");
}

TEST_F(AgentsPanelTest, KeepsAsManyPointsOfALongGameAsOfAShortOne) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    for (int i = 0; i < 500; ++i) panel.add({.seconds = static_cast<double>(i)});
    panel.mark("here");
    draw(panel);  // finds its size
    draw(panel);
    const int vertices = ImGui::GetDrawData()->TotalVtxCount;
    ASSERT_GT(vertices, 500);
    for (int i = 500; i < 20000; ++i) panel.add({.seconds = static_cast<double>(i)});
    draw(panel);
    EXPECT_LT(ImGui::GetDrawData()->TotalVtxCount, 2 * vertices);
}

TEST_F(AgentsPanelTest, NamesObservationsAtTheirLimits) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    play(panel, 6);
    EXPECT_EQ(text_of(panel).find("at the limit"), std::string::npos) << text_of(panel);
    seen_ = 1e20f;
    play(panel, 20);
    const float share = agents_.observation_limits(0).clamped;
    EXPECT_GT(share, 0.5f);
    EXPECT_NE(text_of(panel).find("x[0]: " + std::to_string(std::lround(100 * share)) +
                                  " % of samples at the limit"),
              std::string::npos)
        << text_of(panel);
    EXPECT_EQ(text_of(panel).find("x[1]"), std::string::npos) << text_of(panel);
}

TEST_F(AgentsPanelTest, ADesignerReadsWordsAndAResearcherOpensTheDetails) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    panel.set_bar(20);
    play(panel, 12);
    const std::string plain = text_of(panel);
    for (const char* has : {"Is it learning?", "How good?", "What does it cost?", "ms a frame"})
        EXPECT_NE(plain.find(has), std::string::npos) << plain;
    for (const char* lacks : {"ROLLOUT", "minibatch", "gradient steps", "curve"})
        EXPECT_EQ(plain.find(lacks), std::string::npos) << plain;
    press(panel, "details");
    EXPECT_NE(text_of(panel).find("samples, gradient steps, publications"), std::string::npos)
        << text_of(panel);
}

TEST_F(AgentsPanelTest, TheCostIsTheMeanOfAboutASecondNotThatOfTheLastFrame) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    for (int i = 0; i < 400; ++i)
        panel.add({.seconds = i / 60.0, .gpu_us = i % 2 == 0 ? 600.0 : 0.0, .budget_us = 500});
    EXPECT_NE(text_of(panel).find("0.30 ms a frame, to learn at most 0.50"), std::string::npos)
        << text_of(panel);
}

TEST_F(AgentsPanelTest, NumbersAndNamesStayWithinThePanel) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    panel.show_details(true);
    panel.set_bar(1e30);
    ASSERT_TRUE(
        agents_.log("embers_that_were_found_in_the_dark_by_the_youngest_of_them", -1.23456e-30)
            .ok());
    for (int i = 0; i < 12; ++i) {
        ASSERT_TRUE(agents_.add_reward(agent_, 1e7f).ok());
        if (i % 3 == 2) {
            ASSERT_TRUE(agents_.end_episode(agent_, EpisodeEnd::kTerminated).ok());
        }
        play(panel);
    }
    panel.add({.seconds = 1e7, .gpu_us = 1e15, .budget_us = 9e5});
    panel.mark(
        "a mark whose text is far longer than the plot is wide, wherever in it the mark stands");
    draw(panel), draw(panel);
    const ImGuiWindow* const window = ImGui::FindWindowByName("brain");
    ASSERT_NE(window, nullptr);
    EXPECT_LE(window->ContentSize.x, window->Size.x - 2 * window->WindowPadding.x + 0.5f);
}

TEST_F(AgentsPanelTest, ShowsMetricsOfTheGamesOwn) {
    AgentsPanel panel(context_.handle(), agents_.handle());
    ASSERT_TRUE(agents_.log("elo", 1234).ok());
    play(panel, 2);
    EXPECT_NE(text_of(panel).find("elo"), std::string::npos) << text_of(panel);
    EXPECT_NE(text_of(panel).find("1234"), std::string::npos) << text_of(panel);
}

TEST_F(AgentsPanelTest, ItsButtonsDoWhatTheySay) {
    std::optional<size_t> saved;
    std::vector<std::byte> brain;
    AgentsPanel panel(context_.handle(), agents_.handle(),
                      {.save =
                           [&](std::span<const std::byte> bytes) {
                               brain.assign(bytes.begin(), bytes.end());
                               saved = bytes.size();
                               return true;
                           },
                       .load = [&] { return brain; }});
    play(panel);
    press(panel, "freeze");
    EXPECT_EQ(panel.message(), "frozen");
    EXPECT_TRUE(agents_.status().frozen);
    play(panel);
    press(panel, "freeze");
    EXPECT_EQ(panel.message(), "thawed");
    EXPECT_FALSE(agents_.status().frozen);
    play(panel);

    press(panel, "load");
    EXPECT_EQ(panel.message(), "the game has no brain to load");
    press(panel, "save");
    EXPECT_EQ(panel.message(), "saved") << "before the first snapshot, the initial weights";
    EXPECT_GT(saved.value_or(0), 100u);
    press(panel, "snapshot");
    EXPECT_EQ(panel.message(), "snapshot");
    play(panel, 12);
    ASSERT_GT(agents_.snapshot_count(), 0u);
    press(panel, "save");
    EXPECT_EQ(panel.message(), "saved");
    EXPECT_GT(saved.value_or(0), 100u);
    press(panel, "restore");
    EXPECT_EQ(panel.message(), "restored");
    press(panel, "load");
    EXPECT_EQ(panel.message(), "loaded");
    play(panel, 2);

    press(panel, "###reset");
    EXPECT_EQ(panel.message(), "loaded") << "it asks for confirmation first";
    press(panel, "###reset");
    EXPECT_EQ(panel.message(), "reset");
    play(panel, 2);
    EXPECT_EQ(agents_.snapshot_count(), 0u);
}

}  // namespace
}  // namespace hearth
