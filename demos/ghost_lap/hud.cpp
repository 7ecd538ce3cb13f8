// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the panels of Ghost Lap with Dear ImGui.

#include "hud.hpp"

#include "cars.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace hearth::ghost_lap {
namespace {

using demo::Color;

constexpr Color kText = Color::hex(0xf2f0ea);
constexpr Color kDim = Color::hex(0x9aa3ad);
constexpr Color kGood = Color::hex(0x7fe08a);
constexpr Color kBad = Color::hex(0xff6b5e);

ImU32 packed(Color color) {
    return color.packed();
}  // ImGui packs colours in the same order
ImVec4 vector(Color color) {
    return {color.r, color.g, color.b, color.a};
}

/// The smallest loss that a curve resolves.
constexpr float kLossFloor = 1e-5f;

std::string format(const char* pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof(text), pattern, value);
    return text;
}

class Hud {
  public:
    Hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent)
        : state_(state),
          play_(*state.play),
          race_(play_.race()),
          table_(race_.table()),
          ui_(ui),
          scale_(layout.scale),
          sidebar_(layout.sidebar),
          width_(static_cast<float>(extent.width)),
          height_(static_cast<float>(extent.height)) {}

    void draw() {
        draw_names();
        draw_message();
        draw_sidebar();
    }

  private:
    float px(float units) const { return units * scale_; }

    void begin_panel(const char* name, ImVec2 position, ImVec2 size) const {
        constexpr ImGuiWindowFlags kFlags =
            ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
            ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoSavedSettings;
        ImGui::SetNextWindowPos(position);
        ImGui::SetNextWindowSize(size);
        ImGui::Begin(name, nullptr, kFlags);
    }

    void text(ImFont* font, Color color, const char* words) const {
        ImGui::PushFont(font);
        ImGui::PushStyleColor(ImGuiCol_Text, vector(color));
        ImGui::TextUnformatted(words);
        ImGui::PopStyleColor();
        ImGui::PopFont();
    }
    void text(ImFont* font, Color color, const std::string& words) const {
        text(font, color, words.c_str());
    }

    /// Prints text at a fixed column of the current row; next_row() ends the row.
    void cell(float x, Color color, const std::string& words, bool is_right = false) const {
        float left = ImGui::GetWindowContentRegionMin().x + px(x);
        if (is_right) left -= ImGui::CalcTextSize(words.c_str()).x;
        ImGui::SameLine(left);
        ImGui::PushStyleColor(ImGuiCol_Text, vector(color));
        ImGui::TextUnformatted(words.c_str());
        ImGui::PopStyleColor();
    }

    /// Draws a level between -1 and 1 from the middle, or between 0 and 1 from the left.
    void bar(ImVec2 min, ImVec2 max, float level, Color color, bool is_centered) const {
        ImDrawList& list = *ImGui::GetWindowDrawList();
        list.AddRectFilled(min, max, packed(Color::hex(0xffffff, 0.10f)), px(3));
        const float zero = is_centered ? 0.5f * (min.x + max.x) : min.x;
        const float reach = is_centered ? 0.5f * (max.x - min.x) : max.x - min.x;
        const float tip = zero + std::clamp(level, -1.0f, 1.0f) * reach;
        if (std::abs(tip - zero) > 0.5f) {
            list.AddRectFilled({std::min(zero, tip), min.y}, {std::max(zero, tip), max.y},
                               packed(color), px(3));
        }
    }

    void draw_clock() const {
        text(ui_.small(), kDim, "LAP " + std::to_string(race_.player().laps().size() + 1));
        text(ui_.display(), kText, lap_time_text(race_.player().lap_seconds()));
        float best = 0.0f;
        for (const RaceTable::Row& row : table_.player.rows) {
            if (row.is_completed && (best == 0.0f || row.seconds < best)) best = row.seconds;
        }
        const std::string last =
            table_.player.rows.empty() ? "-" : lap_time_text(table_.player.rows.back().seconds);
        text(ui_.small(), kDim,
             "last " + last + "    best " + (best > 0.0f ? lap_time_text(best) : "-"));
        if (race_.rival()) {
            const float lead = race_.lead_seconds();
            text(ui_.body(), lead < 0.0f ? kBad : kGood,
                 format("%.2f s ", static_cast<double>(std::abs(lead))) +
                     (lead < 0.0f ? "behind yesterday's you" : "ahead of yesterday's you"));
        }
        const float speed = race_.player().car().speed;
        const ImVec2 at = ImGui::GetCursorScreenPos();
        bar({at.x, at.y + px(4)}, {at.x + ImGui::GetContentRegionAvail().x, at.y + px(10)},
            speed / kTopSpeed, kPlayerColor, false);
        ImGui::Dummy({0.0f, px(18)});
    }

    /// Labels the cars, avoiding labels that are already placed.
    void draw_names() const {
        struct Box {
            ImVec2 min, max;
        };
        std::vector<Box> taken;
        const auto name = [&](const Racer& racer, Color color, const char* words) {
            const glm::vec2 off =
                (racer.car().position - state_.view.center) / state_.view.units_per_pixel;
            ImFont* const font = ui_.small();
            const ImVec2 size = font->CalcTextSizeA(font->FontSize, 1e9f, 0.0f, words);
            const ImVec2 at{0.5f * width_ + off.x + px(14), 0.5f * height_ - off.y - px(20)};
            if (at.x + size.x > width_ - sidebar_) return;
            Box box{{at.x - px(4), at.y - px(1)}, {at.x + size.x + px(4), at.y + size.y + px(1)}};
            const auto covers = [&](const Box& other) {
                return other.min.x < box.max.x && box.min.x < other.max.x &&
                       other.min.y < box.max.y && box.min.y < other.max.y;
            };
            for (auto other = std::ranges::find_if(taken, covers); other != taken.end();
                 other = std::ranges::find_if(taken, covers)) {
                const float up = box.max.y - other->min.y + px(2);
                box.min.y -= up;
                box.max.y -= up;
            }
            taken.push_back(box);
            ImDrawList& list = *ImGui::GetBackgroundDrawList();
            list.AddRectFilled(box.min, box.max, packed(Color::hex(0x0d1014, 0.6f)), px(4));
            list.AddText(font, font->FontSize, {box.min.x + px(4), box.min.y + px(1)},
                         packed(color), words);
        };
        if (race_.rival()) name(*race_.rival(), kRivalColor, "yesterday");
        const bool is_held = race_.seat() == Seat::kGhost;
        if (race_.ghost_is_driving())
            name(race_.ghost(), is_held ? kTaughtColor : kGhostColor,
                 is_held ? "ghost: you have the wheel" : "ghost");
        name(race_.player(), kPlayerColor,
             race_.seat() == Seat::kOwnCar ? state_.driver.c_str() : "waits");
    }

    /// Prints one sentence about the current situation at the bottom of the track.
    void draw_message() const {
        std::string words;
        Color color = kText;
        if (race_.seat() == Seat::kGhost) {
            words = "You have your ghost's wheel. It learns what you do here.";
            color = kTaughtColor;
        } else if (race_.seat() == Seat::kNone) {
            words = "Your car waits while you watch your ghost.";
        } else if (!race_.ghost_is_driving()) {
            words = play_.learning_steps() > 0
                        ? "Your ghost is learning from every metre. Finish the lap."
                        : "Drive one lap. Somebody is watching how you do it.";
        } else if (race_.ghost().laps().empty()) {
            words = "Your ghost has the wheel. It drives by what it learnt from you.";
            color = kGhostColor;
        } else if (table_.has_ghost_lapped(3, 0.1f)) {
            words = "Three clean laps. It drives like you.";
            color = kGood;
        } else {
            words = "It keeps learning while you drive.";
        }
        ImGui::PushFont(ui_.heading());
        const ImVec2 size = ImGui::CalcTextSize(words.c_str());
        const float pad = px(12);
        const float left = 0.5f * (width_ - sidebar_ - size.x);
        const float top = height_ - px(22) - size.y;
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        list.AddRectFilled({left - pad, top - pad * 0.6f},
                           {left + size.x + pad, top + size.y + pad * 0.6f},
                           packed(Color::hex(0x0d1014, 0.72f)), px(8));
        list.AddText({left, top}, packed(color), words.c_str());
        ImGui::PopFont();
        if (!state_.has_keys) return;
        const char* const keys =
            "arrows or WASD: drive    hold H: take the ghost's wheel    P: park    F: freeze "
            "learning    "
            "R: reset the ghost    1-5: let a script drive    0: drive yourself    C: camera";
        ImGui::PushFont(ui_.small());
        const ImVec2 extent = ImGui::CalcTextSize(keys);
        const float x = 0.5f * (width_ - sidebar_ - extent.x);
        list.AddRectFilled({x - pad, 0.0f}, {x + extent.x + pad, extent.y + px(8)},
                           packed(Color::hex(0x0d1014, 0.6f)), px(8),
                           ImDrawFlags_RoundCornersBottom);
        list.AddText({x, px(3)}, packed(kText.with_alpha(0.85f)), keys);
        ImGui::PopFont();
    }

    void draw_sidebar() const {
        begin_panel("sidebar", {width_ - sidebar_, 0.0f}, {sidebar_, height_});
        text(ui_.heading(), kText, "GHOST LAP");
        text(ui_.small(), kDim, "a rival that learns your driving");
        ImGui::Dummy({0.0f, px(10)});
        draw_clock();
        draw_badge();
        ImGui::Dummy({0.0f, px(4)});
        draw_ladder();
        draw_wheel();
        if (race_.ghost_is_driving()) draw_senses();
        draw_costs();
        ImGui::End();
    }

    void draw_badge() const {
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float right = at.x + ImGui::GetContentRegionAvail().x;
        const bool is_corrected = race_.seat() == Seat::kGhost;
        const Color color = play_.is_frozen()     ? kDim
                            : is_corrected        ? kTaughtColor
                            : play_.is_learning() ? kGhostColor
                                                  : Color::hex(0xd7b95a);
        const char* const words = play_.is_frozen()     ? "FROZEN"
                                  : is_corrected        ? "CORRECTED"
                                  : play_.is_learning() ? "LEARNING"
                                                        : "WATCHING";
        list.AddRectFilled(at, {right, at.y + px(146)}, packed(Color::hex(0xffffff, 0.05f)), px(8));
        // The dot pulses while it learns, by frame number so that pictures are reproducible.
        const float beat =
            0.5f + 0.5f * std::sin(static_cast<float>(race_.frame() % 60) * 0.10472f);
        const ImVec2 dot{at.x + px(18), at.y + px(20)};
        if (play_.is_learning()) {
            list.AddCircleFilled(dot, px(6.0f + 5.0f * beat),
                                 packed(color.with_alpha(0.25f * (1.0f - beat) + 0.1f)), 24);
        }
        list.AddCircleFilled(dot, px(6), packed(color), 24);
        list.AddText(ui_.heading(), ui_.heading()->FontSize, {at.x + px(34), at.y + px(9)},
                     packed(color), words);
        char numbers[96];
        std::snprintf(numbers, sizeof(numbers), "learned %llu times from %llu moments",
                      static_cast<unsigned long long>(play_.learning_steps()),
                      static_cast<unsigned long long>(play_.samples()));
        list.AddText(ui_.small(), ui_.small()->FontSize, {at.x + px(12), at.y + px(38)},
                     packed(kDim), numbers);
        const ImVec2 min{at.x + px(12), at.y + px(62)};
        const ImVec2 max{right - px(12), at.y + px(122)};
        list.AddRectFilled(min, max, packed(Color::hex(0x000000, 0.30f)), px(4));
        draw_curve(list, min, max, play_.losses(), packed(kGhostColor), 0.0f, true);
        draw_curve_axes(list, min, max);
        const std::string difference =
            play_.losses().empty()
                ? std::string("no moment of your driving yet")
                : "differs from you by " + percent(play_.losses().back()) + " of full wheel";
        list.AddText(ui_.small(), ui_.small()->FontSize, {at.x + px(12), at.y + px(125)},
                     packed(kDim), difference.c_str());
        ImGui::Dummy({0.0f, px(146)});
    }

    /// A loss is the sum of two squared differences, of wheel and pedals from -1 to 1.
    static std::string percent(float loss) {
        return format("%.1f %%", 100 * std::sqrt(0.5 * static_cast<double>(loss)));
    }

    /// The scale of the curve, which is logarithmic, and its time.
    void draw_curve_axes(ImDrawList& list, ImVec2 min, ImVec2 max) const {
        const std::vector<float>& losses = play_.losses();
        if (losses.size() < 2) return;
        const auto [least, most] = std::ranges::minmax(losses);
        ImFont* const font = ui_.small();
        const float size = 0.85f * font->FontSize;
        const auto write = [&](float x, float y, const std::string& text) {
            list.AddText(font, size, {x, y}, packed(kText.with_alpha(0.7f)), text.c_str());
        };
        write(min.x + px(12), min.y + px(1), percent(most));
        write(min.x + px(3), max.y - size - px(1), percent(std::max(least, kLossFloor)));
        const std::string time = format("in %.0f s", static_cast<double>(losses.size()) / 60);
        write(max.x - px(3) - font->CalcTextSizeA(size, 1e6f, 0, time.c_str()).x, min.y + px(1),
              time);
    }

    void draw_ladder() const {
        // A rival needs a column, which narrows the bars.
        const bool has_rival = table_.rival.has_value();
        const float kColumns[] = {28.0f, has_rival ? 76.0f : 98.0f, has_rival ? 126.0f : 168.0f,
                                  has_rival ? 204.0f : 176.0f, 196.0f};
        ImGui::PushFont(ui_.small());
        ImGui::Dummy({0.0f, 0.0f});
        cell(0.0f, kDim, "lap");
        cell(kColumns[1], kPlayerColor, state_.driver, true);
        cell(kColumns[2], kGhostColor, "ghost", true);
        if (has_rival) cell(kColumns[4], kRivalColor, "yesterday", true);
        cell(kColumns[3], kDim, has_rival ? "off" : "off your line");
        ImGui::PopFont();
        ImGui::PushFont(ui_.body());
        constexpr size_t kRows = 5;
        size_t count = std::max(table_.player.rows.size(), table_.ghost.rows.size());
        if (has_rival) count = std::max(count, table_.rival->rows.size());
        const size_t first = count > kRows ? count - kRows : 0;
        float worst = 0.05f;
        for (const RaceTable::Row& row : table_.ghost.rows) {
            worst = std::max(worst, row.line_error);
        }
        for (size_t i = first; i < count; ++i) {
            ImGui::Dummy({0.0f, ImGui::GetTextLineHeight()});
            const float top = ImGui::GetItemRectMin().y;
            cell(0.0f, kDim, std::to_string(i + 1));
            if (i < table_.player.rows.size()) {
                cell(kColumns[1], kText, format("%.2f", table_.player.rows[i].seconds), true);
            }
            if (has_rival && i < table_.rival->rows.size()) {
                const RaceTable::Row& rival = table_.rival->rows[i];
                cell(kColumns[4], rival.is_completed ? kText : kBad,
                     rival.is_completed ? format("%.2f", rival.seconds) : "lost", true);
            }
            if (i >= table_.ghost.rows.size()) continue;
            const RaceTable::Row& ghost = table_.ghost.rows[i];
            cell(kColumns[2], ghost.is_completed ? kText : kBad,
                 ghost.is_completed ? format("%.2f", ghost.seconds) : "lost", true);
            const float left = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMin().x +
                               px(kColumns[3] + 2.0f);
            const float width = px(226.0f - kColumns[3]);
            bar({left, top + px(4)}, {left + width, top + px(13)}, ghost.line_error / worst,
                kGood.mix(kBad, std::min(ghost.line_error / 0.3f, 1.0f)), false);
            const double metres =
                static_cast<double>(ghost.line_error * race_.track().half_width());
            ImGui::GetWindowDrawList()->AddText(ui_.small(), 0.85f * ui_.small()->FontSize,
                                                {left + width + px(4), top + px(2)}, packed(kText),
                                                format("%.2f m", metres).c_str());
        }
        if (count == 0) text(ui_.small(), kDim, "no lap yet");
        ImGui::PopFont();
        ImGui::Dummy({0.0f, px(6)});
    }

    void draw_wheel() const {
        text(ui_.small(), kDim, "wheel and pedals");
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float right = at.x + ImGui::GetContentRegionAvail().x;
        const float middle = 0.5f * (at.x + right);
        const auto row = [&](float y, Action action, Color color) {
            // Negated so that left on the screen is left at the wheel.
            bar({at.x, at.y + px(y)}, {middle - px(5), at.y + px(y + 9)}, -action.steer, color,
                true);
            bar({middle + px(5), at.y + px(y)}, {right, at.y + px(y + 9)}, action.throttle,
                action.throttle < 0.0f ? kBad : color, true);
        };
        // The person's input goes to the car that they steer.
        const bool is_held = race_.seat() == Seat::kGhost;
        const bool is_own = race_.seat() == Seat::kOwnCar;
        const Action ghost = is_held ? state_.player_action : play_.ghost_action();
        row(2, is_own ? state_.player_action : Action{}, kPlayerColor);
        row(16, race_.ghost_is_driving() ? ghost : Action{}, is_held ? kTaughtColor : kGhostColor);
        ImGui::Dummy({0.0f, px(32)});
    }

    /// Draws the eight values that the ghost observes as bars from -1.5 to 1.5.
    void draw_senses() const {
        constexpr const char* kNames[kObservationSize] = {"speed", "side", "angle", "4 m",
                                                          "8 m",   "14 m", "21 m",  "30 m"};
        constexpr float kHeight = 64.0f;
        text(ui_.small(), kDim, "what the ghost sees");
        const Observation seen = race_.ghost().observation();
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float step = ImGui::GetContentRegionAvail().x / kObservationSize;
        const float middle = at.y + px(0.5f * kHeight);
        for (int i = 0; i < kObservationSize; ++i) {
            const float left = at.x + step * static_cast<float>(i);
            const float level = std::clamp(seen[static_cast<size_t>(i)] / 1.5f, -1.0f, 1.0f);
            list.AddRectFilled({left + px(2), at.y}, {left + step - px(2), at.y + px(kHeight)},
                               packed(Color::hex(0xffffff, 0.06f)), px(3));
            const float tip = middle - level * px(0.5f * kHeight - 2.0f);
            list.AddRectFilled({left + px(5), std::min(tip, middle)},
                               {left + step - px(5), std::max(tip, middle) + px(1)},
                               packed(kGhostColor.with_alpha(0.85f)), px(2));
            ImFont* const font = ui_.small();
            const float size = font->FontSize * 0.85f;
            const float width = font->CalcTextSizeA(size, 1e9f, 0.0f, kNames[i]).x;
            list.AddText(font, size, {left + 0.5f * (step - width), at.y + px(kHeight + 2.0f)},
                         packed(kDim), kNames[i]);
        }
        ImGui::Dummy({0.0f, px(kHeight + 22.0f)});
    }

    void draw_costs() const {
        if (!state_.has_gpu_times) return;
        ImGui::SetCursorPosY(height_ - px(62));
        text(ui_.small(), kDim, "GPU time of a frame, on average");
        char words[96];
        std::snprintf(words, sizeof(words), "picture %.2f ms   ghost %.3f ms", state_.render_ms,
                      state_.brain_ms);
        text(ui_.small(), kText, words);
    }

    const HudState& state_;
    const Play& play_;
    const Race& race_;
    RaceTable table_;
    const demo::Ui& ui_;
    float scale_;
    float sidebar_;
    float width_;
    float height_;
};

}  // namespace

Layout Layout::of(VkExtent2D extent, const demo::Ui& ui) {
    constexpr glm::vec2 kCircuitCenter{-0.5f, 0.8f};
    constexpr glm::vec2 kCircuitSize{98.0f, 70.0f};  // metres, including room for labels
    Layout layout;
    const auto width = static_cast<float>(extent.width);
    const auto height = static_cast<float>(extent.height);
    layout.scale = ui.scale();
    layout.sidebar = std::min(292.0f * layout.scale, 0.4f * width);
    layout.world.units_per_pixel =
        std::max(kCircuitSize.x / (width - layout.sidebar), kCircuitSize.y / height);
    layout.world.center =
        kCircuitCenter + glm::vec2(0.5f * layout.sidebar * layout.world.units_per_pixel, 0.0f);
    return layout;
}

void draw_hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent) {
    Hud(state, layout, ui, extent).draw();
}

void draw_curve(ImDrawList& list, ImVec2 min, ImVec2 max, const std::vector<float>& values,
                ImU32 color, float top, bool is_logarithmic) {
    if (values.size() < 2) return;
    const auto shown = [&](float value) {
        return is_logarithmic ? std::log10(std::max(value, kLossFloor)) : value;
    };
    const auto [least, most] = std::ranges::minmax(values);
    const float low = is_logarithmic ? shown(least) : 0.0f;
    const float high = shown(top > 0.0f ? top : most);
    const float range = std::max(high - low, 1e-6f);
    // At most one point per pixel.
    const auto points = std::min(values.size(), static_cast<size_t>(max.x - min.x));
    std::vector<ImVec2> line(points);
    for (size_t i = 0; i < points; ++i) {
        const float t = static_cast<float>(i) / static_cast<float>(points - 1);
        const auto index =
            static_cast<size_t>(std::lround(t * static_cast<float>(values.size() - 1)));
        const float y = std::clamp((shown(values[index]) - low) / range, 0.0f, 1.0f);
        line[i] = {min.x + t * (max.x - min.x), max.y - 3.0f - y * (max.y - min.y - 6.0f)};
    }
    list.AddPolyline(line.data(), static_cast<int>(points), color, ImDrawFlags_None, 2.0f);
}

std::string lap_time_text(float seconds) {
    char text[32];
    const int minutes = static_cast<int>(seconds / 60.0f);
    if (minutes > 0) {
        std::snprintf(text, sizeof(text), "%d:%06.3f", minutes,
                      static_cast<double>(seconds - 60.0f * static_cast<float>(minutes)));
    } else {
        std::snprintf(text, sizeof(text), "%.3f", static_cast<double>(seconds));
    }
    return text;
}

}  // namespace hearth::ghost_lap
