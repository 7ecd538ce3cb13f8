// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "menu.hpp"

#include "texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearth::ember {
namespace {

const ImVec4 kPaper = {0.13f, 0.09f, 0.10f, 0.90f}, kInk = {1.0f, 0.96f, 0.90f, 1.0f},
             kFaint = {0.86f, 0.78f, 0.70f, 1.0f}, kButton = {0.72f, 0.33f, 0.12f, 1.0f},
             kHover = {0.86f, 0.42f, 0.16f, 1.0f}, kQuiet = {1.0f, 1.0f, 1.0f, 0.10f};

/// Colours and roundness of all windows, as long as it lives.
class Style {
  public:
    explicit Style(float scale) {
        const auto color = [&](ImGuiCol which, ImVec4 value) {
            ImGui::PushStyleColor(which, value);
            ++colors_;
        };
        color(ImGuiCol_WindowBg, kPaper), color(ImGuiCol_Text, kInk);
        color(ImGuiCol_Button, kButton), color(ImGuiCol_ButtonHovered, kHover);
        color(ImGuiCol_ButtonActive, kHover), color(ImGuiCol_FrameBg, kQuiet);
        color(ImGuiCol_FrameBgHovered, kQuiet), color(ImGuiCol_SliderGrab, kHover);
        color(ImGuiCol_SliderGrabActive, kHover), color(ImGuiCol_CheckMark, kHover);
        ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 16 * scale);
        ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, 8 * scale);
        ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(26 * scale, 22 * scale));
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(10 * scale, 9 * scale));
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(12 * scale, 7 * scale));
        ImGui::PushStyleVar(ImGuiStyleVar_GrabMinSize, 22 * scale);
    }
    ~Style() {
        ImGui::PopStyleVar(6);
        ImGui::PopStyleColor(colors_);
    }
    Style(const Style&) = delete;
    Style& operator=(const Style&) = delete;

  private:
    int colors_ = 0;
};

class Menu {
  public:
    Menu(const MenuState& state, Settings& settings, const demo::Ui& ui, VkExtent2D extent)
        : state_(state),
          settings_(settings),
          ui_(ui),
          width_(static_cast<float>(extent.width)),
          height_(static_cast<float>(extent.height)) {}

    MenuAnswer draw() {
        if (state_.screen == Screen::kPlay) return answer_;
        const Style style(ui_.scale());
        const bool is_card = state_.screen == Screen::kCard;
        const float wide = std::min(px(is_card ? 300 : 460), 0.94f * width_);
        // Beside the creature, or beside the card, and within the picture.
        const float margin = 0.02f * width_;
        const float left = std::max(margin, 0.3f * width_ - 0.5f * wide);
        ImGui::SetNextWindowPos({is_card ? width_ - margin - wide : left, 0.5f * height_},
                                ImGuiCond_Always, {0, 0.5f});
        ImGui::SetNextWindowSizeConstraints({wide, 0}, {wide, 0.94f * height_});
        ImGui::Begin("##menu", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoSavedSettings |
                         ImGuiWindowFlags_AlwaysAutoResize);
        draw_screen();
        if (!state_.message.empty()) text(ui_.small(), kFaint, state_.message);
        ImGui::End();
        return answer_;
    }

  private:
    float px(float units) const { return units * ui_.scale(); }

    static void text(ImFont* font, ImVec4 color, std::string_view words) {
        ImGui::PushFont(font);
        ImGui::PushStyleColor(ImGuiCol_Text, color);
        ImGui::PushTextWrapPos(0);
        ImGui::TextUnformatted(words.data(), words.data() + words.size());
        ImGui::PopTextWrapPos();
        ImGui::PopStyleColor();
        ImGui::PopFont();
    }

    void button(std::string_view words, Order order, std::string name = {}, bool is_main = false) {
        ImGui::PushFont(is_main ? ui_.heading() : ui_.body());
        if (!is_main) ImGui::PushStyleColor(ImGuiCol_Button, kQuiet);
        const std::string label = fmt::format("{}##{}", words, static_cast<int>(order));
        if (ImGui::Button(label.c_str(), {ImGui::GetContentRegionAvail().x, 0})) {
            answer_.order = order;
            answer_.name = std::move(name);
        }
        if (!is_main) ImGui::PopStyleColor();
        ImGui::PopFont();
    }

    void draw_screen() {
        switch (state_.screen) {
            case Screen::kStart:
                return draw_start();
            case Screen::kName:
                return draw_name();
            case Screen::kSettings:
                return draw_settings();
            case Screen::kPause:
                return draw_pause();
            case Screen::kCard:
                return draw_card_buttons();
            case Screen::kPlay:
                break;
        }
    }

    void draw_start() {
        text(ui_.display(), kInk, texts::kTitle);
        text(ui_.body(), kFaint, texts::kSubtitle);
        ImGui::Dummy({0, px(4)});
        const auto last = std::ranges::find(state_.residents, settings_.last, &Resident::name);
        if (last != state_.residents.end() && last->trouble.empty())
            button(std::string(texts::kContinue) + last->name, Order::kWake, last->name, true);
        button(texts::kNew, Order::kName, {}, last == state_.residents.end());
        draw_residents();
        button(texts::kSettings, Order::kSettings);
        button(texts::kQuit, Order::kQuit);
        text(ui_.small(), kFaint, texts::kDrop);
    }

    void draw_residents() {
        const auto others = std::ranges::count_if(state_.residents, [&](const Resident& resident) {
            return resident.name != settings_.last || !resident.trouble.empty();
        });
        if (others == 0) return;
        text(ui_.small(), kFaint, texts::kOthers);
        const float row = ImGui::GetFrameHeightWithSpacing();
        const auto rows = static_cast<float>(std::min<ptrdiff_t>(others, 4));
        ImGui::BeginChild("##residents", {0, rows * row}, false, ImGuiWindowFlags_NoNav);
        for (const Resident& resident : state_.residents) {
            if (!resident.trouble.empty()) {
                text(ui_.small(), kFaint,
                     fmt::format("{} {}{}", resident.name, texts::kUnreadable, resident.trouble));
            } else if (resident.name != settings_.last) {
                ImGui::PushID(resident.name.c_str());
                button(fmt::format("{}, {}", resident.name, age(resident.seconds)), Order::kWake,
                       resident.name);
                ImGui::PopID();
            }
        }
        ImGui::EndChild();
    }

    static std::string age(double seconds) {
        const double minutes = seconds / 60;
        if (minutes < 90) return fmt::format(texts::kAge, static_cast<int>(minutes));
        return fmt::format(texts::kAgeHours, minutes / 60);
    }

    void draw_name() {
        text(ui_.heading(), kInk, texts::kNameIt);
        const float time = static_cast<float>(ImGui::GetTime());
        const bool has_cursor = std::fmod(time, 1.0f) < 0.6f;
        ImGui::PushFont(ui_.heading());
        ImGui::PushStyleColor(ImGuiCol_Button, kQuiet);
        ImGui::PushStyleColor(ImGuiCol_ButtonHovered, kQuiet);
        ImGui::Button(fmt::format("{}{}##name", state_.name, has_cursor ? "|" : " ").c_str(),
                      {ImGui::GetContentRegionAvail().x, 0});
        ImGui::PopStyleColor(2);
        ImGui::PopFont();
        text(ui_.small(), kFaint, texts::kNameRule);
        if (check_name(state_.name).ok()) button(texts::kHatch, Order::kHatch, state_.name, true);
        button(texts::kSurprise, Order::kSurprise);
        button(texts::kBack, Order::kBack);
    }

    void draw_settings() {
        const Settings before = settings_;
        text(ui_.heading(), kInk, texts::kSettings);
        ImGui::PushFont(ui_.body());
        slider(texts::kVolume, settings_.volume, 0, 1);
        slider(texts::kTextSize, settings_.text_size, 0.75f, 1.75f);
        ImGui::Checkbox(texts::kDistinct.data(), &settings_.has_distinct_colours);
        ImGui::Checkbox(texts::kFullScreen.data(), &settings_.is_full_screen);
        ImGui::TextUnformatted(texts::kEagerness.data());
        for (size_t i = 0; i < kEagernessCount; ++i) {
            if (i > 0) ImGui::SameLine();
            if (ImGui::RadioButton(texts::kEagernesses[i].data(),
                                   settings_.eagerness == static_cast<Eagerness>(i)))
                settings_.eagerness = static_cast<Eagerness>(i);
        }
        ImGui::PopFont();
        text(ui_.small(), kFaint, texts::kEagernessHelp[static_cast<size_t>(settings_.eagerness)]);
        button(texts::kBack, Order::kBack, {}, true);
        answer_.has_new_settings = settings_ != before;
    }

    static void slider(std::string_view name, float& value, float least, float most) {
        ImGui::TextUnformatted(name.data());
        ImGui::SetNextItemWidth(-1);
        float percent = 100 * value;
        ImGui::SliderFloat(fmt::format("##{}", name).c_str(), &percent, 100 * least, 100 * most,
                           "%.0f %%");
        value = std::clamp(percent / 100, least, most);
    }

    void draw_pause() {
        text(ui_.heading(), kInk, texts::kPaused);
        button(texts::kResume, Order::kResume, {}, true);
        button(texts::kCardOf, Order::kCard);
        button(texts::kSettings, Order::kSettings);
        button(texts::kToStart, Order::kStart);
        button(texts::kQuit, Order::kQuit);
    }

    void draw_card_buttons() {
        button(texts::kExport, Order::kExport, {}, true);
        button(texts::kBack, Order::kResume);
    }

    const MenuState& state_;
    Settings& settings_;
    const demo::Ui& ui_;
    float width_, height_;
    MenuAnswer answer_;
};

}  // namespace

MenuAnswer draw_menu(const MenuState& state, Settings& settings, const demo::Ui& ui,
                     VkExtent2D extent) {
    return Menu(state, settings, ui, extent).draw();
}

}  // namespace hearth::ember
