// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws what an agent sees and chose over the game's picture with Dear ImGui, by the names and
// kinds of its fields (hearth_agents_get_field): positions, directions, rays, the members of sets that
// are there, masked options, the chosen action, and the critic's value. Two files to add to a game.
//
//     AgentView view(agents, {{.field = "rays", .as = AgentViewAs::kRays, .first = -1, .last = 1}});
//     between NewFrame and Render:
//         view.draw(*ImGui::GetBackgroundDrawList(), fox, {.at = pixels_of(fox), .pixels = 12});
//         view.draw_table("fox", fox);     // a window with every field by name

#pragma once

#include <hearth/hearth_agents.h>

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

namespace hearth::bridge {

/// The drawing of a field over the picture.
enum class AgentViewAs {
    kKind,       ///< by its kind; boxes are in the table alone
    kNothing,    ///< in the table alone
    kPosition,   ///< a point from the agent, in units of the game
    kPlace,      ///< a point from AgentViewPlace::origin, in units of the game
    kDirection,  ///< an arrow, of AgentViewPlace::arrow pixels for the length one
    kRays,       ///< distances in a fan of `first` to `last` radians, counterclockwise
};

/// What the specification of a field does not say.
struct AgentViewHint {
    std::string field;  ///< its path: "embers/place"
    AgentViewAs as = AgentViewAs::kKind;
    float scale = 1;            ///< units of the game for the value one
    float first = 0, last = 0;  ///< kRays: radians from the agent's heading
};

/// The agent in the picture.
struct AgentViewPlace {
    ImVec2 at{0, 0};                  ///< pixels
    float pixels = 1;                 ///< of a unit of the game
    float heading = 0;                ///< radians, counterclockwise: the first axis of what it sees
    ImVec2 origin{0, 0};              ///< pixels of the game's origin, for kPlace
    float arrow = 60;                 ///< pixels of a direction of length one
    std::optional<float> value = {};  ///< of the critic, if the game has it; or by the learner
};

/// Threads: that of the agents and ImGui's.
class AgentView {
  public:
    /// agents: must outlive the view.
    explicit AgentView(hearth_agents* agents, std::vector<AgentViewHint> hints = {});

    /// Draws over the picture; nothing for an agent that is gone.
    void draw(ImDrawList& list, hearth_agent agent, const AgentViewPlace& place) const;
    /// Draws a window with all fields, masks, the action and the value.
    void draw_table(const char* title, hearth_agent agent, std::optional<float> value = {}) const;

  private:
    struct Shown {
        hearth_agents_field field;
        AgentViewHint hint;
    };

    std::optional<float> value_of(hearth_agent agent, std::optional<float> given) const;

    hearth_agents* agents_;
    std::vector<Shown> fields_;
};

}  // namespace hearth::bridge
