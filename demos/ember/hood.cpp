// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "hood.hpp"

#include "texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hearth::ember {
namespace {

namespace words = texts::hood;
using demo::Color;

constexpr Color kText = Color::hex(0xf2ece0), kDim = Color::hex(0x9fb0b4),
                kBar = Color::hex(0x62c3d0), kBack = Color::hex(0xffffff, 0.08f);

class Hood {
  public:
    /// scale: of text and bars, which may be smaller than that of the other windows.
    Hood(const Mind& mind, const demo::Ui& ui, float scale) : mind_(mind), ui_(ui), scale_(scale) {}

    void draw(double budget_us) const {
        text(ui_.heading(), kText, words::kTitle);
        text(ui_.small(), kDim,
             budget_us < kNoLimit ? fmt::format(words::kBudget, budget_us)
                                  : std::string(words::kNoBudget));
        for (size_t i = 0; i < kPartCount; ++i) draw_part(static_cast<Part>(i));
    }

  private:
    float px(float units) const { return units * scale_; }
    float small_size() const { return ui_.small()->FontSize * scale_ / ui_.scale(); }

    static void text(ImFont* font, Color color, std::string_view words) {
        ImGui::PushFont(font);
        ImGui::PushStyleColor(ImGuiCol_Text, ImVec4{color.r, color.g, color.b, color.a});
        ImGui::TextUnformatted(words.data(), words.data() + words.size());
        ImGui::PopStyleColor();
        ImGui::PopFont();
    }

    void draw_part(Part part) const {
        const auto index = static_cast<size_t>(part);
        const agents::AgentsStatus status = mind_.agents(part).status();
        ImGui::Dummy({0, px(3)});
        text(ui_.body(), kText, words::kParts[index]);
        ImGui::SameLine();
        text(ui_.small(), kDim, words::kLearners[index]);
        switch (part) {
            case Part::kLegs:
                draw_bars(mind_.seen(part), words::kStride);
                break;
            case Part::kEyes:
                draw_picture(mind_.seen(part));
                break;
            default:
                draw_bars(mind_.seen(part), words::kSenses);
        }
        text(ui_.small(), kText, fmt::format("{}: {}", words::kDoes, answer_of(part)));
        text(ui_.small(), kDim,
             fmt::format("{}: {}; {}", words::kCosts,
                         fmt::format(words::kSamples, status[agents::Counter::kSamples],
                                     status[agents::Counter::kGradientSteps]),
                         fmt::format(words::kLoss, status[agents::AgentMetric::kLoss])));
        text(ui_.small(), kDim,
             fmt::format(words::kTimes, status.decision_us_p95, status.minibatch_us_p95));
    }

    std::string answer_of(Part part) const {
        const std::span<const float> did = mind_.did(part);
        if (did.empty()) return "-";
        switch (part) {
            case Part::kLegs:
                return fmt::format(words::kSteps, did[0], did[1]);
            case Part::kWill:
                return std::string(words::kActs[static_cast<size_t>(mind_.newest_decision())]);
            case Part::kHeart:
                return fmt::format(words::kFeeling, did[0]);
            case Part::kEyes:
                break;
        }
        const auto word = mind_.word();
        return std::string(word ? texts::kWords[static_cast<size_t>(*word)] : words::kNoWord);
    }

    /// Bars from -1 to 1 with names below.
    void draw_bars(std::span<const float> values, std::span<const std::string_view> names) const {
        if (values.size() < names.size()) return;
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float step = ImGui::GetContentRegionAvail().x / static_cast<float>(names.size());
        const float high = px(26), middle = at.y + 0.5f * high;
        for (size_t i = 0; i < names.size(); ++i) {
            const float left = at.x + step * static_cast<float>(i);
            list.AddRectFilled({left + 1, at.y}, {left + step - 1, at.y + high}, kBack.packed());
            const float tip = middle - 0.5f * high * std::clamp(values[i], -1.0f, 1.0f);
            list.AddRectFilled({left + 2, std::min(tip, middle)},
                               {left + step - 2, std::max(tip, middle) + 1}, kBar.packed());
            ImFont* const font = ui_.small();
            const float wide = font->CalcTextSizeA(small_size(), 1e6f, 0, names[i].data()).x;
            const float size = small_size() * std::min(0.9f, 0.96f * step / std::max(wide, 1.0f));
            list.AddText(font, size, {left + 1, at.y + high + 1}, kDim.packed(), names[i].data());
        }
        ImGui::Dummy({0, high + small_size()});
    }

    /// The picture that it looks at: three planes of red, green and blue.
    void draw_picture(std::span<const float> values) const {
        constexpr size_t kPlane = kGazeSide * kGazeSide;
        if (values.size() < 3 * kPlane) return;
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float pixel = std::max(1.0f, px(2.2f));
        for (size_t i = 0; i < kPlane; ++i) {
            const float x = at.x + pixel * static_cast<float>(i % kGazeSide);
            const float y = at.y + pixel * static_cast<float>(i / kGazeSide);
            const Color color{values[i], values[kPlane + i], values[2 * kPlane + i], 1};
            list.AddRectFilled({x, y}, {x + pixel, y + pixel}, color.packed());
        }
        ImGui::Dummy({0, pixel * kGazeSide});
    }

    const Mind& mind_;
    const demo::Ui& ui_;
    float scale_;
};

}  // namespace

void draw_hood(const Mind& mind, double budget_us, const demo::Ui& ui, VkExtent2D extent) {
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    constexpr float kHeight = 690;  // of all parts, at scale 1
    const float scale = std::min(ui.scale(), height / kHeight);
    const float wide = std::min(430 * scale, 0.6f * width);
    ImGui::SetNextWindowPos({width - wide, 0});
    ImGui::SetNextWindowSize({wide, height});
    ImGui::Begin("##hood", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs);
    ImGui::SetWindowFontScale(scale / ui.scale());
    Hood(mind, ui, scale).draw(budget_us);
    ImGui::End();
}

}  // namespace hearth::ember
