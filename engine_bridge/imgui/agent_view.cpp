// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws what an agent sees.

#include "agent_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>
#include <utility>

namespace hearth::bridge {
namespace {

constexpr ImU32 kActionColor = IM_COL32(255, 190, 92, 255),
                kRayColor = IM_COL32(120, 200, 255, 120), kHitColor = IM_COL32(120, 200, 255, 255),
                kTextColor = IM_COL32(236, 239, 242, 255), kShade = IM_COL32(10, 12, 16, 150),
                kGoodColor = IM_COL32(155, 224, 138, 255), kBadColor = IM_COL32(255, 122, 102, 255);
/// Colors of fields, in their order: Okabe and Ito's palette, which color-blind people can tell apart.
constexpr std::array<ImU32, 6> kFieldColors = {
    IM_COL32(86, 180, 233, 255), IM_COL32(0, 158, 115, 255), IM_COL32(204, 121, 167, 255),
    IM_COL32(240, 228, 66, 255), IM_COL32(213, 94, 0, 255),  IM_COL32(150, 160, 255, 255)};
constexpr float kMaxPixels = 4096;  // beyond any picture
const ImVec4 kDim{0.60f, 0.64f, 0.69f, 1}, kChosen{1, 0.75f, 0.36f, 1};

bool is_action(const hearth_agents_field& field) {
    return field.kind == HEARTH_AGENTS_FIELD_DISCRETE_ACTION ||
           field.kind == HEARTH_AGENTS_FIELD_CONTINUOUS_ACTION;
}

/// The last part of a path.
const char* short_name(const hearth_agents_field& field) {
    const std::string_view name = field.name;
    const size_t slash = name.find_last_of('/');
    return field.name + (slash == std::string_view::npos ? 0 : slash + 1);
}

AgentViewAs drawing_of(const hearth_agents_field& field, const AgentViewHint& hint) {
    if (hint.as != AgentViewAs::kKind) return hint.as;
    switch (field.kind) {
        case HEARTH_AGENTS_FIELD_POSITION:
            return AgentViewAs::kPosition;
        case HEARTH_AGENTS_FIELD_UNIT_VECTOR:
        case HEARTH_AGENTS_FIELD_ANGLE:
            return AgentViewAs::kDirection;
        default:
            return AgentViewAs::kNothing;
    }
}

/// The copies of a field that are there.
uint32_t copies_of(const hearth_agents_field& field, const float* observation) {
    if (field.count_offset == HEARTH_AGENTS_NO_FLOAT) return field.copies;
    const float count = observation[field.count_offset];
    return count > 0 ? std::min(static_cast<uint32_t>(count), field.copies) : 0;
}

/// Offsets on the screen, whose y axis points down.
class Screen {
  public:
    Screen(ImDrawList& list, const AgentViewPlace& place)
        : list_(list),
          place_(place),
          cosine_(std::cos(place.heading)),
          sine_(std::sin(place.heading)) {}

    ImVec2 turned(ImVec2 from, float x, float y, float pixels) const {
        const float limit = kMaxPixels;
        const float right = pixels * (cosine_ * x - sine_ * y),
                    up = pixels * (sine_ * x + cosine_ * y);
        // NaN is at the agent.
        return {from.x + (right == right ? std::clamp(right, -limit, limit) : 0),
                from.y - (up == up ? std::clamp(up, -limit, limit) : 0)};
    }
    void arrow(float x, float y, ImU32 color, float width) const {
        const ImVec2 end = turned(place_.at, x, y, place_.arrow);
        const float dx = end.x - place_.at.x, dy = end.y - place_.at.y;
        const float length = std::hypot(dx, dy);
        if (length < 2) return;
        list_.AddLine(place_.at, end, color, width);
        const float head = std::min(8.0f, length / 2);
        const ImVec2 back{end.x - dx / length * head, end.y - dy / length * head};
        const ImVec2 side{-dy / length * head / 2, dx / length * head / 2};
        list_.AddTriangleFilled(end, {back.x + side.x, back.y + side.y},
                                {back.x - side.x, back.y - side.y}, color);
    }
    void point(ImVec2 at, ImU32 color) const {
        list_.AddLine(place_.at, at, (color & ~IM_COL32_A_MASK) | IM_COL32(0, 0, 0, 110), 1);
        list_.AddCircle(at, 7, color, 0, 2);
    }
    void text(ImVec2 at, ImU32 color, const char* text) const {
        const ImVec2 size = ImGui::CalcTextSize(text);
        list_.AddRectFilled({at.x - 3, at.y - 1}, {at.x + size.x + 3, at.y + size.y + 1}, kShade,
                            3);
        list_.AddText(at, color, text);
    }

  private:
    ImDrawList& list_;
    const AgentViewPlace& place_;
    float cosine_, sine_;
};

void draw_rays(ImDrawList& list, const Screen& screen, const AgentViewPlace& place,
               const AgentViewHint& hint, std::span<const float> distances) {
    for (size_t i = 0; i < distances.size(); ++i) {
        const float part = distances.size() > 1
                               ? static_cast<float>(i) / static_cast<float>(distances.size() - 1)
                               : 0.5f;
        const float angle = hint.first + part * (hint.last - hint.first);
        const float far = distances[i] * hint.scale;
        const ImVec2 end =
            screen.turned(place.at, far * std::cos(angle), far * std::sin(angle), place.pixels);
        list.AddLine(place.at, end, kRayColor, 1);
        list.AddCircleFilled(end, 3, kHitColor);
    }
}

/// Components of a vector, or of an angle's direction.
std::pair<float, float> direction_of(const hearth_agents_field& field, const float* values) {
    if (field.kind == HEARTH_AGENTS_FIELD_ANGLE) return {std::cos(values[0]), std::sin(values[0])};
    return {values[0], field.size > 1 ? values[1] : 0};
}

void print(const char* name, const ImVec4& color, const char* text) {
    ImGui::TextColored(kDim, "%s", name);
    // Longer names have their values below them.
    const float column = 10 * ImGui::GetFontSize();
    if (ImGui::CalcTextSize(name).x < column - ImGui::GetFontSize())
        ImGui::SameLine(column);
    else
        ImGui::SetCursorPosX(column);
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(color, "%s", text);
    ImGui::PopTextWrapPos();
}

std::string values_text(std::span<const float> values) {
    constexpr size_t kMostShown = 8;
    std::string text;
    char number[32];
    for (size_t i = 0; i < std::min(values.size(), kMostShown); ++i) {
        std::snprintf(number, sizeof number, "%s%.3g", i == 0 ? "" : ", ",
                      static_cast<double>(values[i]));
        text += number;
    }
    if (values.size() > kMostShown) text += ", ... " + std::to_string(values.size());
    return text;
}

/// "0  [1]  -": the chosen option in brackets, a masked one as a dash.
std::string options_text(const hearth_agents_field& field, float chosen, const float* mask) {
    std::string text;
    for (uint32_t i = 0; i < std::min(field.options, 16u); ++i) {
        const bool is_masked = mask != nullptr && field.mask_offset != HEARTH_AGENTS_NO_FLOAT &&
                               mask[field.mask_offset + i] == 0;
        const std::string option = is_masked ? "-" : std::to_string(i);
        text +=
            (i == 0 ? "" : "  ") + (static_cast<float>(i) == chosen ? "[" + option + "]" : option);
    }
    return text + (field.options > 16 ? "  ..." : "");
}

}  // namespace

AgentView::AgentView(hearth_agents* agents, std::vector<AgentViewHint> hints) : agents_(agents) {
    for (uint32_t i = 0; i < hearth_agents_field_count(agents); ++i) {
        Shown shown{};
        if (hearth_agents_get_field(agents, i, &shown.field) != HEARTH_OK) continue;
        const auto hint = std::ranges::find_if(
            hints, [&](const AgentViewHint& h) { return h.field == shown.field.name; });
        if (hint != hints.end()) shown.hint = *hint;
        fields_.push_back(std::move(shown));
    }
}

std::optional<float> AgentView::value_of(hearth_agent agent, std::optional<float> given) const {
    float value = 0;
    if (given) return given;
    if (hearth_agents_get_value(agents_, agent, &value) != HEARTH_OK) return {};
    return value;
}

void AgentView::draw(ImDrawList& list, hearth_agent agent, const AgentViewPlace& place) const {
    const float* const observation = hearth_agents_observation(agents_, agent);
    if (observation == nullptr) return;
    const float* const action = hearth_agents_action(agents_, agent);
    const Screen screen(list, place);
    size_t color = 0;
    float below = 14;  // pixels below the agent at which the next text stands
    for (const auto& [field, hint] : fields_) {
        if (is_action(field)) {
            if (action == nullptr) continue;
            const float* const values = action + field.offset;
            if (field.kind == HEARTH_AGENTS_FIELD_CONTINUOUS_ACTION && field.size > 1) {
                const float most = std::max({std::abs(field.low), std::abs(field.high), 1e-6f});
                screen.arrow(values[0] / most, values[1] / most, kActionColor, 4);
                continue;
            }
            char text[HEARTH_AGENTS_MAX_FIELD_NAME + 32];
            std::snprintf(text, sizeof text, "%s %.3g", short_name(field),
                          static_cast<double>(values[0]));
            screen.text({place.at.x + 10, place.at.y + below}, kActionColor, text);
            below += ImGui::GetTextLineHeight() + 3;
            continue;
        }
        const AgentViewAs as = drawing_of(field, hint);
        if (as == AgentViewAs::kNothing) continue;
        const ImU32 own = kFieldColors[color++ % kFieldColors.size()];
        for (uint32_t i = 0; i < copies_of(field, observation); ++i) {
            const float* const values = observation + field.offset + i * field.stride;
            if (as == AgentViewAs::kRays) {
                draw_rays(list, screen, place, hint, {values, field.size});
                continue;
            }
            const auto [x, y] = direction_of(field, values);
            if (as == AgentViewAs::kDirection) {
                screen.arrow(x * hint.scale, y * hint.scale, own, 2);
                continue;
            }
            const ImVec2 at =
                as == AgentViewAs::kPlace
                    ? ImVec2(place.origin.x + x * hint.scale * place.pixels,
                             place.origin.y - y * hint.scale * place.pixels)
                    : screen.turned(place.at, x * hint.scale, y * hint.scale, place.pixels);
            screen.point(at, own);
            if (i == 0) screen.text({at.x + 9, at.y - 6}, own, field.name);
        }
    }
    if (const std::optional<float> value = value_of(agent, place.value)) {
        char text[32];
        std::snprintf(text, sizeof text, "expects %.3g", static_cast<double>(*value));
        screen.text({place.at.x + 10, place.at.y - 14 - ImGui::GetTextLineHeight()},
                    *value < 0 ? kBadColor : kGoodColor, text);
    }
    list.AddCircle(place.at, 4, kTextColor, 0, 2);
}

void AgentView::draw_table(const char* title, hearth_agent agent,
                           std::optional<float> value) const {
    ImGui::SetNextWindowSize({26 * ImGui::GetFontSize(), 0});  // as high as its content
    if (ImGui::Begin(title)) {
        const float* const observation = hearth_agents_observation(agents_, agent);
        const float* const action = hearth_agents_action(agents_, agent);
        const float* const mask = hearth_agents_action_mask(agents_, agent);
        if (observation == nullptr) ImGui::TextColored(kDim, "the agent is gone");
        for (const auto& [field, hint] : fields_) {
            const float* const from = is_action(field) ? action : observation;
            if (from == nullptr) continue;
            if (field.kind == HEARTH_AGENTS_FIELD_DISCRETE_ACTION) {
                print(field.name, kChosen, options_text(field, from[field.offset], mask).c_str());
                continue;
            }
            const ImVec4 color =
                is_action(field) ? kChosen : ImGui::GetStyleColorVec4(ImGuiCol_Text);
            const uint32_t copies = is_action(field) ? 1 : copies_of(field, observation);
            std::string text;
            for (uint32_t i = 0; i < copies; ++i)
                text += (i == 0 ? "" : "\n") +
                        values_text({from + field.offset + i * field.stride, field.size});
            print(field.name, color, copies == 0 ? "none" : text.c_str());
        }
        if (const std::optional<float> known = value_of(agent, value);
            known && observation != nullptr)
            print("expects", kChosen, values_text({&*known, 1}).c_str());
    }
    ImGui::End();
}

}  // namespace hearth::bridge
