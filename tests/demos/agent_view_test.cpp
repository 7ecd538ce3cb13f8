// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What an agent sees, drawn by engine_bridge/imgui: what is drawn of each kind of field, and where.
// hatchlings.show_seen renders it.

#include <hearth/hearth.hpp>

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui/agent_view.hpp>

#include <cmath>
#include <optional>
#include <string>

namespace hearth {
namespace {

using namespace agents;
using bridge::AgentView;
using bridge::AgentViewAs;

class AgentViewTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto device = cpu::open_device({.flags = "-O1", .progress = [](std::string_view) {}});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
        const AgentSpec spec(ObservationSpec()
                                 .box("rays", 3, {0, 30})
                                 .entities("embers", 3, ObservationSpec().position("place", 2, 50))
                                 .unit_vector("wind", 2),
                             ActionSpec().continuous("thrust", 2).discrete("chirp", 3, true));
        auto agents = make_agents(
            device_->context(), spec, mlp_network({8}),
            Ppo{.n_agents = 1, .n_steps = 8, .n_minibatches = 1, .report_values = true});
        ASSERT_TRUE(agents.ok()) << agents.status().message();
        agents_.emplace(std::move(*agents));
        fox_ = *agents_->add();
        ImGui::CreateContext();
        ImGuiIO& io = ImGui::GetIO();
        io.IniFilename = nullptr;
        io.DisplaySize = {1280, 720};
        io.Fonts->Build();
        // Rays, the number of embers, embers, wind.
        const float seen[] = {10, 20, 30, 2, 3, 4, -5, 6, 99, 99, 0, 1};
        std::copy(std::begin(seen), std::end(seen), agents_->observation(fox_).begin());
        hearth_agents_action_mask(agents_->handle(), fox_)[1] = 0;
    }
    void TearDown() override {
        if (ImGui::GetCurrentContext() != nullptr) ImGui::DestroyContext();
    }
    void decide() {
        ASSERT_TRUE(device_->context().begin_frame().ok());
        ASSERT_TRUE(device_
                        ->run([&](VkCommandBuffer commands) {
                            return agents_->record(commands, {.exploration = 0});
                        })
                        .ok());
        ASSERT_TRUE(device_->context().begin_frame().ok());
        agents_->poll();
    }
    /// Vertices that are drawn over the picture within a few pixels of a point.
    int vertices_near(const AgentView& view, ImVec2 point) {
        ImGui::NewFrame();
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        view.draw(list, fox_, {.at = {600, 400}, .pixels = 10, .arrow = 60});
        int count = 0;
        for (const ImDrawVert& v : list.VtxBuffer)
            count += std::hypot(v.pos.x - point.x, v.pos.y - point.y) < 10 ? 1 : 0;
        ImGui::Render();
        return count;
    }
    std::string table(const AgentView& view) {
        std::string text;
        ImGuiIO& io = ImGui::GetIO();
        io.ClipboardUserData = &text;
        io.SetClipboardTextFn = [](void* out, const char* copied) {
            *static_cast<std::string*>(out) = copied;
        };
        ImGui::NewFrame();
        ImGui::LogToClipboard();
        view.draw_table("fox", fox_);
        ImGui::LogFinish();
        ImGui::Render();
        return text;
    }

    std::optional<cpu::Device> device_;
    std::optional<Agents> agents_;
    AgentId fox_{};
};

TEST_F(AgentViewTest, EachKindStandsWhereTheGameHasIt) {
    const AgentView view(
        agents_->handle(),
        {{.field = "rays", .as = AgentViewAs::kRays, .first = -1.5707964f, .last = 1.5707964f}});
    EXPECT_GT(vertices_near(view, {600, 500}), 0) << "the first ray, to the right: 10 units";
    EXPECT_GT(vertices_near(view, {800, 400}), 0) << "the second, ahead: 20 units";
    EXPECT_GT(vertices_near(view, {600, 100}), 0) << "the third, to the left: 30 units";
    EXPECT_GT(vertices_near(view, {630, 360}), 0) << "the first ember, at 3, 4";
    EXPECT_GT(vertices_near(view, {550, 340}), 0) << "the second";
    EXPECT_EQ(vertices_near(view, {1590, -590}), 0) << "the third is not there";
    EXPECT_GT(vertices_near(view, {600, 340}), 0) << "the wind's arrow, up";
    const AgentView hidden(agents_->handle(), {{.field = "rays", .as = AgentViewAs::kNothing}});
    EXPECT_EQ(vertices_near(hidden, {600, 100}), 0);
}

TEST_F(AgentViewTest, TheTableNamesFieldsMasksActionAndValue) {
    const AgentView view(agents_->handle());
    EXPECT_EQ(table(view).find("thrust"), std::string::npos) << "no action has arrived";
    decide();
    const std::string text = table(view);
    for (const char* has : {"rays", "10, 20, 30", "embers/place", "3, 4", "-5, 6", "wind", "thrust",
                            "chirp", "expects"})
        EXPECT_NE(text.find(has), std::string::npos) << text;
    EXPECT_EQ(text.find("99"), std::string::npos) << text;
    const float chosen = agents_->action(fox_)[2];
    EXPECT_NE(text.find(chosen == 0 ? "[0]  -  2" : "0  -  [2]"), std::string::npos) << text;
}

TEST_F(AgentViewTest, WhatIsNotFiniteOrGoneIsNoCrash) {
    const AgentView view(agents_->handle());
    for (float& value : agents_->observation(fox_)) value = std::nanf("");
    EXPECT_GT(vertices_near(view, {600, 400}), 0);
    for (float& value : agents_->observation(fox_)) value = 1e38f;
    EXPECT_GT(vertices_near(view, {600, 400}), 0);
    ASSERT_TRUE(agents_->remove(fox_).ok());
    EXPECT_EQ(vertices_near(view, {600, 400}), 0);
    EXPECT_NE(table(view).find("the agent is gone"), std::string::npos);
}

}  // namespace
}  // namespace hearth
