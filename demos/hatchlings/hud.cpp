// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the panels of Hatchlings with Dear ImGui.

#include "hud.hpp"

#include "picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hearth::hatchlings {
namespace {

using agents::AgentMetric;
using agents::Counter;
using demo::Color;

constexpr Color kText = Color::hex(0xf2ece0);
constexpr Color kDim = Color::hex(0x97a09c);
constexpr Color kGood = Color::hex(0x9be08a);
constexpr Color kBad = Color::hex(0xff7a66);

struct MoodWords {
    const char* badge;
    const char* advice;
    Color color;
};
MoodWords words_of(Mood mood) {
    switch (mood) {
        case Mood::kStuck:
            return {"STUCK", "They avoid everything. Soften the frost (P), or start afresh (N).",
                    kBad};
        case Mood::kDegraded:
            return {"RULES CHANGED?", "What they learned no longer feeds them. Let them adapt (N).",
                    Color::hex(0xffd36a)};
        case Mood::kLearning:
            return {"LEARNING", "One brain, shared: what one of them finds out, all of them know.",
                    kWarm};
        case Mood::kWatching:
            break;
    }
    return {"HATCHED", "They know nothing yet. Watch what they make of the embers.", kWarm};
}

class Hud {
  public:
    Hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent)
        : state_(state),
          ui_(ui),
          scale_(layout.scale),
          sidebar_(layout.sidebar),
          width_(static_cast<float>(extent.width)),
          height_(static_cast<float>(extent.height)) {}

    void draw() const {
        draw_message();
        constexpr ImGuiWindowFlags kFlags =
            ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
            ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoSavedSettings;
        ImGui::SetNextWindowPos({width_ - sidebar_, 0});
        ImGui::SetNextWindowSize({sidebar_, height_});
        ImGui::Begin("sidebar", nullptr, kFlags);
        text(ui_.heading(), kText, "HATCHLINGS");
        text(ui_.small(), kDim, "they learn to forage while you watch");
        space(8);
        draw_badge();
        space(6);
        draw_rate();
        draw_bars();
        draw_snapshots();
        space(6);
        draw_learning();
        draw_rails();
        draw_keys();
        ImGui::End();
    }

  private:
    float px(float units) const { return units * scale_; }
    void space(float units) const { ImGui::Dummy({0, px(units)}); }

    void text(ImFont* font, Color color, const std::string& words) const {
        ImGui::PushFont(font);
        ImGui::PushStyleColor(ImGuiCol_Text, ImVec4{color.r, color.g, color.b, color.a});
        ImGui::TextUnformatted(words.c_str());
        ImGui::PopStyleColor();
        ImGui::PopFont();
    }
    void row(const char* name, const std::string& value, Color color = kText) const {
        text(ui_.small(), kDim, name);
        ImGui::PushFont(ui_.small());
        const float right =
            ImGui::GetWindowContentRegionMax().x - ImGui::CalcTextSize(value.c_str()).x;
        ImGui::PopFont();
        ImGui::SameLine(right);
        text(ui_.small(), color, value);
    }
    static std::string number(const char* format, double value) {
        char out[48];
        std::snprintf(out, sizeof out, format, value);
        return out;
    }

    void draw_badge() const {
        const MoodWords words = state_.play->is_frozen() ? MoodWords{"FROZEN", "", kCold}
                                                         : words_of(state_.play->progress().mood());
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float right = at.x + ImGui::GetContentRegionAvail().x;
        list.AddRectFilled(at, {right, at.y + px(54)}, Color::hex(0xffffff, 0.06f).packed(), px(8));
        // The badge pulses after a publication, by frame number so that pictures are reproducible.
        const uint64_t since = state_.play->world().frame() - state_.play->published_frame();
        const float pulse = state_.play->published_frame() > 0 && since < 40
                                ? 1 - static_cast<float>(since) / 40
                                : 0;
        const ImVec2 dot{at.x + px(20), at.y + px(20)};
        list.AddCircleFilled(dot, px(6 + 12 * (1 - pulse) * (pulse > 0 ? 1.0f : 0.0f)),
                             words.color.with_alpha(0.5f * pulse).packed(), 24);
        list.AddCircleFilled(dot, px(6), words.color.packed(), 24);
        list.AddText(ui_.heading(), ui_.heading()->FontSize, {at.x + px(38), at.y + px(9)},
                     words.color.packed(), words.badge);
        const std::string line =
            number("learned %.0f times from ",
                   static_cast<double>(state_.play->status()[Counter::kPublications])) +
            number("%.0f moments", static_cast<double>(state_.play->status()[Counter::kSamples]));
        list.AddText(ui_.small(), ui_.small()->FontSize, {at.x + px(14), at.y + px(34)},
                     kDim.packed(), line.c_str());
        space(54);
    }

    void draw_rate() const {
        const auto& bars = state_.play->progress().bars();
        const float now = bars.empty() ? 0 : bars.back().embers;
        text(ui_.display(), kWarm, number("%.1f", now));
        ImGui::SameLine();
        text(ui_.small(), kDim, "embers a minute,\neach");
        const float gain = state_.play->progress().gain();
        if (gain > 0)
            row("against their first 15 seconds", number("%.1f times", gain),
                gain >= 1 ? kGood : kBad);
    }

    void draw_bars() const {
        const auto& bars = state_.play->progress().bars();
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float wide = ImGui::GetContentRegionAvail().x, high = px(104);
        list.AddRectFilled(at, {at.x + wide, at.y + high}, Color::hex(0x000000, 0.32f).packed(),
                           px(6));
        constexpr size_t kShown = 16;
        const size_t first = bars.size() > kShown ? bars.size() - kShown : 0;
        float top = 12;
        for (const Progress::Bar& bar : bars) top = std::max(top, 1.15f * bar.embers);
        // Lines at round numbers of embers.
        ImFont* const font = ui_.small();
        const float tick = top > 30 ? 20.0f : top > 15 ? 10.0f : 5.0f;
        for (float mark = tick; mark < top; mark += tick) {
            const float y = at.y + high - px(4) - (high - px(12)) * mark / top;
            list.AddLine({at.x, y}, {at.x + wide, y}, Color::hex(0xffffff, 0.12f).packed());
            list.AddText(font, 0.85f * font->FontSize, {at.x + wide - px(20), y}, kDim.packed(),
                         number("%.0f", static_cast<double>(mark)).c_str());
        }
        const float step = (wide - px(8)) / kShown;
        for (size_t i = first; i < bars.size(); ++i) {
            const float x = at.x + px(4) + step * static_cast<float>(i - first);
            const float y = at.y + high - px(4) - (high - px(12)) * bars[i].embers / top;
            const Color low = bars[i].is_hot_night ? Color::hex(0xb03a2a) : Color::hex(0x7a4a1e);
            const Color tip = bars[i].is_hot_night ? kBad : kWarm;
            list.AddRectFilledMultiColor({x + px(1.5f), y},
                                         {x + step - px(1.5f), at.y + high - px(4)}, tip.packed(),
                                         tip.packed(), low.packed(), low.packed());
            if (step < px(12)) continue;
            const std::string embers =
                number(bars[i].embers < 10 ? "%.1f" : "%.0f", static_cast<double>(bars[i].embers));
            list.AddText(font, 0.75f * font->FontSize, {x + px(2), y - px(11)}, kText.packed(),
                         embers.c_str());
        }
        for (const Progress::Mark& mark : state_.play->progress().marks()) {
            const float bar =
                static_cast<float>(mark.frame) / Progress::kBarFrames - static_cast<float>(first);
            if (bar < 0 || bar > kShown) continue;
            const float x = at.x + px(4) + step * bar;
            list.AddLine({x, at.y + px(4)}, {x, at.y + high - px(4)},
                         Color::hex(0xffffff, 0.5f).packed(), px(1));
            list.AddText(ui_.small(), ui_.small()->FontSize * 0.85f, {x + px(3), at.y + px(4)},
                         kText.packed(), mark.text.c_str());
        }
        space(104);
        const double shown = static_cast<double>(bars.size() - first) * Progress::kBarSeconds;
        row(number("%.0f s ago", shown).c_str(), "now", kDim);
        text(ui_.small(), kDim, "embers a minute, each; a bar is 15 seconds");
    }

    /// Draws the snapshots, oldest on the left; R restores the highlighted one.
    void draw_snapshots() const {
        const uint32_t count = state_.play->status().snapshots;
        if (count == 0) return;
        ImDrawList& list = *ImGui::GetWindowDrawList();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float wide = ImGui::GetContentRegionAvail().x, y = at.y + px(9);
        const float step = (wide - px(16)) / static_cast<float>(demo::Mind::kSnapshots - 1);
        const auto x_of = [&](uint32_t i) { return at.x + px(8) + step * static_cast<float>(i); };
        list.AddLine({x_of(0), y}, {x_of(demo::Mind::kSnapshots - 1), y},
                     Color::hex(0xffffff, 0.14f).packed(), px(2));
        for (uint32_t i = 0; i < count; ++i) {
            const bool is_chosen = i + 1 + state_.rewinds_to == count;
            list.AddCircleFilled({x_of(i), y}, px(is_chosen ? 6.0f : 3.5f),
                                 (is_chosen ? kWarm : kDim).packed(), 20);
        }
        space(18);
        const double ago = static_cast<double>(state_.rewinds_to + 1) * Progress::kBarSeconds;
        text(ui_.small(), kDim,
             state_.has_keys ? number("kept brains: R goes back by about %.0f s", ago)
                             : number("brains kept, one every 15 s: %.0f", count));
    }

    void draw_learning() const {
        const agents::AgentsStatus& s = state_.play->status();
        const double part =
            s.minibatches > 0 ? static_cast<double>(s.minibatches_done) / s.minibatches : 0;
        row("just now", s.phase == HEARTH_AGENTS_UPDATE
                            ? number("they learn: %.0f %% done", 100 * part)
                            : std::string("they gather moments"));
        const auto metric = [&](AgentMetric which) { return static_cast<double>(s[which]); };
        // Standard deviation along each of two axes, of normal distributions of this entropy.
        const double half_log_2_pi_e = 1.4189385;
        row("what they try differs by",
            number("%.0f %% of a full push",
                   100 * std::exp(metric(AgentMetric::kEntropy) / 2 - half_log_2_pi_e)));
        // Pinsker's inequality bounds the share of choices that differ.
        row("choices that changed, at most",
            number("%.1f %%", 100 * std::sqrt(std::max(metric(AgentMetric::kKl), 0.0) / 2)));
        row("what they saw coming",
            number("%.0f %%", 100 * std::clamp(metric(AgentMetric::kExplainedVariance), 0.0, 1.0)));
        row("their brain takes", state_.mind_us >= 0
                                     ? number("%.2f ms a frame", state_.mind_us / 1e3)
                                     : std::string("-"));
        row("of it to learn, at most", std::isfinite(state_.budget_us)
                                           ? number("%.2f ms", state_.budget_us / 1e3)
                                           : std::string("no limit"));
    }

    void draw_rails() const {
        const agents::AgentsStatus& s = state_.play->status();
        space(4);
        uint64_t all = 0;
        const auto caught = [&](const char* name, uint64_t count) {
            all += count;
            if (count > 0)
                row(name, number("%.0f", static_cast<double>(count)), Color::hex(0xffd36a));
        };
        caught("moments that made no sense", s[Counter::kSamplesRejected] + s.rewards_rejected);
        caught("lessons thrown away", s[Counter::kSkippedNonFinite] + s[Counter::kSkippedRatio]);
        caught("lessons cut short", s[Counter::kSkippedKl]);
        caught("new brains turned down", s[Counter::kPublicationsRejected]);
        caught("praise beyond its share", state_.play->judgements_refused());
        if (all == 0) row("mishaps caught", "none", kDim);
    }

    void draw_keys() const {
        if (!state_.has_keys) return;
        ImGui::SetCursorPosY(height_ - px(146));
        text(ui_.small(), kDim,
             "click a hatchling, then  + praise  - scold\n"
             "Space: steer it, and all learn from you\n"
             "H hot night   W wind   M more frost\n"
             "P softer frost   N adapt to new rules\n"
             "F freeze   [ ] R rewind   X forget\n"
             "T their thoughts   V their hopes\n"
             "G how they were   F12 picture");
    }

    void draw_message() const {
        const std::string words = state_.play->is_frozen()
                                      ? "Frozen: they act, and learn nothing."
                                      : words_of(state_.play->progress().mood()).advice;
        ImGui::PushFont(ui_.heading());
        const ImVec2 size = ImGui::CalcTextSize(words.c_str());
        const float pad = px(12), left = 0.5f * (width_ - sidebar_ - size.x);
        const float top = height_ - px(22) - size.y;
        ImDrawList& list = *ImGui::GetBackgroundDrawList();
        list.AddRectFilled({left - pad, top - pad * 0.6f},
                           {left + size.x + pad, top + size.y + pad * 0.6f},
                           Color::hex(0x070b0c, 0.72f).packed(), px(8));
        list.AddText({left, top}, kText.packed(), words.c_str());
        ImGui::PopFont();
        draw_legend(list);
        if (state_.play->world().rules().is_hot_night) {
            const char* const hot = "HOT NIGHT: embers burn, frost feeds";
            const float x = 0.5f * (width_ - sidebar_) - px(140);
            list.AddText(ui_.body(), ui_.body()->FontSize, {x, px(10)}, kBad.packed(), hot);
        }
    }

    /// Lists the active overlays in the upper left corner.
    void draw_legend(ImDrawList& list) const {
        float line = px(12);
        const auto say = [&](bool is_shown, const char* words) {
            if (!is_shown) return;
            const ImVec2 at{px(14), line};
            list.AddRectFilled(
                {at.x - px(6), at.y - px(2)},
                {at.x + px(6) + ui_.small()->CalcTextSizeA(ui_.small()->FontSize, 1e6f, 0, words).x,
                 at.y + ui_.small()->FontSize + px(3)},
                Color::hex(0x070b0c, 0.6f).packed(), px(4));
            list.AddText(ui_.small(), ui_.small()->FontSize, at, kText.packed(), words);
            line += ui_.small()->FontSize + px(7);
        };
        say(state_.shows_hopes, "gold: where they hope for much, blue: for little");
        say(state_.shows_thoughts, "arrow: where one means to go, ring: how far it may stray");
        say(state_.shows_then, "pale: what an early brain would do here");
    }

    const HudState& state_;
    const demo::Ui& ui_;
    float scale_, sidebar_, width_, height_;
};

}  // namespace

Layout Layout::of(VkExtent2D extent, const demo::Ui& ui) {
    constexpr float kMargin = 1.07f;  // of forest around the clearing
    Layout layout;
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    layout.scale = ui.scale();
    layout.sidebar = std::min(292.0f * layout.scale, 0.4f * width);
    layout.world.units_per_pixel =
        2 * kMargin * std::max(kHalfSize.x / (width - layout.sidebar), kHalfSize.y / height);
    layout.world.center = {0.5f * layout.sidebar * layout.world.units_per_pixel, 0};
    return layout;
}

void draw_hud(const HudState& state, const Layout& layout, const demo::Ui& ui, VkExtent2D extent) {
    Hud(state, layout, ui, extent).draw();
}

}  // namespace hearth::hatchlings
