// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the agents panel.

#include "agents_panel.hpp"

#include <hearth/agents/plain_words.hpp>

#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>

namespace hearth::bridge {
namespace {

constexpr size_t kMaxSamples = 512, kMaxMarks = 64, kMaxObservations = 4;
constexpr float kLeastShare = 0.01f;  // of samples in which an observation was at a limit
constexpr float kWidth = 360;
constexpr double kCostWeight = 1.0 / 60;  // of a frame in the mean cost: about the last second
const ImVec4 kDim{0.60f, 0.64f, 0.69f, 1}, kGood{0.61f, 0.88f, 0.54f, 1}, kWarn{1, 0.83f, 0.42f, 1},
    kBad{1, 0.48f, 0.40f, 1};
constexpr ImU32 kLine = IM_COL32(255, 190, 92, 255), kGrid = IM_COL32(255, 255, 255, 26),
                kMarkLine = IM_COL32(255, 255, 255, 110), kBarLine = IM_COL32(155, 224, 138, 200);

/// Safety-limit counters, shown if above zero.
constexpr std::array kLimitCounters = {
    HEARTH_AGENTS_SAMPLES_REJECTED,   HEARTH_AGENTS_OBSERVATIONS_CLAMPED,
    HEARTH_AGENTS_REWARDS_CLAMPED,    HEARTH_AGENTS_SAMPLES_DROPPED,
    HEARTH_AGENTS_SKIPPED_NON_FINITE, HEARTH_AGENTS_SKIPPED_KL,
    HEARTH_AGENTS_SKIPPED_RATIO,      HEARTH_AGENTS_PUBLICATIONS_REJECTED,
    HEARTH_AGENTS_PUBLICATIONS_FAR};

/// A label, and a value at the right edge; below the label where both do not fit, and wrapped at the
/// panel's edge.
template <class... Args>
void row(const char* name, const ImVec4& color, const char* format, Args... args) {
    char text[256];
    std::snprintf(text, sizeof text, format, args...);
    const float left = ImGui::GetWindowContentRegionMin().x,
                right = ImGui::GetWindowContentRegionMax().x - ImGui::CalcTextSize(text).x;
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(kDim, "%s", name);
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    if (left + ImGui::CalcTextSize(name).x + gap <= right)
        ImGui::SameLine(right);
    else
        ImGui::SetCursorPosX(std::max(left, right));
    ImGui::TextColored(color, "%s", text);
    ImGui::PopTextWrapPos();
}

/// Text that is wrapped at the panel's edge.
void note(const ImVec4& color, const char* text) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(color, "%s", text);
    ImGui::PopTextWrapPos();
}

double mebibytes(uint64_t bytes) {
    return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace

AgentsPanel::AgentsPanel(const hearth_context* context, hearth_agents* agents, BrainFiles files)
    : context_(context),
      agents_(agents),
      files_(std::move(files)),
      status_(hearth_agents_status_default()) {
    samples_.reserve(kMaxSamples);
}

void AgentsPanel::add(const AgentsPanelFrame& frame) {
    frame_ = frame;
    if (frame.gpu_us < 0 || mean_us_ < 0)
        mean_us_ = frame.gpu_us;
    else
        mean_us_ += kCostWeight * (frame.gpu_us - mean_us_);
    hearth_agents_get_status(agents_, &status_);
    if (!samples_.empty() && frame.seconds < samples_.back().seconds + period_) return;
    if (samples_.size() == kMaxSamples) {
        // Halve the sampling rate, so that the whole game stays in view.
        for (size_t i = 0; i < kMaxSamples / 2; ++i) samples_[i] = samples_[2 * i];
        samples_.resize(kMaxSamples / 2);
        period_ *= 2;
    }
    Sample sample{.seconds = frame.seconds, .values = {}};
    std::copy_n(status_.metrics, HEARTH_AGENTS_METRICS, sample.values.begin());
    sample.values.back() = static_cast<float>(status_.score);
    samples_.push_back(sample);
    find_observations_at_limit();
}

void AgentsPanel::find_observations_at_limit() {
    at_limit_.clear();
    const auto add = [&](uint32_t index, float share, const char* format) {
        if (!(share >= kLeastShare)) return;
        char text[160];
        std::snprintf(text, sizeof text, format, hearth_agents_observation_name(agents_, index),
                      100 * static_cast<double>(share));
        at_limit_.push_back({text, share});
    };
    for (uint32_t i = 0; i < hearth_agents_observation_size(agents_); ++i) {
        float clamped = 0, unresolved = 0;
        if (hearth_agents_observation_limits(agents_, i, &clamped, &unresolved) != HEARTH_OK)
            continue;
        add(i, clamped, "%s: %.0f %% of samples at the limit");
        add(i, unresolved, "%s: %.0f %% of samples too far away for an f32");
    }
    std::ranges::stable_sort(at_limit_, std::greater(), &AtLimit::share);
}

void AgentsPanel::mark(std::string text) {
    if (marks_.size() == kMaxMarks) marks_.erase(marks_.begin());
    marks_.push_back({frame_.seconds, std::move(text)});
}

const char* AgentsPanel::curve_name(size_t index) const {
    return index < HEARTH_AGENTS_METRICS ? hearth_agents_metric_name(static_cast<uint32_t>(index))
                                         : "score";
}

void AgentsPanel::draw(const char* title) {
    // Height adapts to the content, which changes.
    ImGui::SetNextWindowSizeConstraints({kWidth, 0}, {kWidth, FLT_MAX});
    if (ImGui::Begin(title, nullptr, ImGuiWindowFlags_AlwaysAutoResize)) {
        draw_answers();
        draw_curve();
        draw_game();
        draw_warnings();
        draw_buttons();
        ImGui::Checkbox("details", &has_details_);
        if (has_details_) {
            ImGui::Separator();
            draw_head();
            draw_cost();
            draw_limits();
        }
    }
    ImGui::End();
}

/// Episodes' returns, or the score of decisions in games without episodes.
size_t AgentsPanel::measure_curve() const {
    const bool has_episodes = std::ranges::any_of(
        samples_, [](const Sample& sample) { return sample.values[kReturnCurve] != 0; });
    return has_episodes ? kReturnCurve : kCurves - 1;
}

void AgentsPanel::draw_answers() const {
    const size_t measure = measure_curve();
    std::vector<double> values;
    // Zero until the first episode has ended.
    for (const Sample& sample : samples_)
        if (const float value = sample.values[measure]; !values.empty() || value != 0)
            values.push_back(static_cast<double>(value));
    const agents::Course course = agents::course_of(values);
    const ImVec4& color = status_.frozen != 0                        ? kDim
                          : course.trend == agents::Trend::kRising   ? kGood
                          : course.trend == agents::Trend::kFalling  ? kBad
                          : course.trend == agents::Trend::kTooEarly ? kDim
                                                                     : kWarn;
    row("Is it learning?", color, "%s", agents::learning_text(course, status_.frozen != 0).c_str());
    const double now = values.empty() ? 0 : values.back();
    row("How good?", ImGui::GetStyleColorVec4(ImGuiCol_Text), "%s",
        values.empty()            ? "no reward yet"
        : measure == kReturnCurve ? agents::quality_text(now, bar_).c_str()
                                  : (agents::short_number(now) + " reward a decision").c_str());
    if (bar_ == bar_ && bar_ > 0 && measure == kReturnCurve)
        ImGui::ProgressBar(static_cast<float>(std::clamp(now / bar_, 0.0, 1.0)), {-1, 4}, "");
    const bool is_bounded = frame_.budget_us > 0 && frame_.budget_us < 1e6;
    if (mean_us_ < 0)
        row("What does it cost?", kDim, "%s", "not measured");
    else if (is_bounded)
        // The budget is of learning alone, the time of acting, too: frames that exceed it count.
        row("What does it cost?",
            100 * status_.update_frames_over_budget > status_.update_frames ? kWarn : kGood,
            "%.2f ms a frame, to learn at most %.2f", mean_us_ / 1e3, frame_.budget_us / 1e3);
    else
        row("What does it cost?", kGood, "%.2f ms a frame", mean_us_ / 1e3);
}

void AgentsPanel::draw_head() const {
    const bool updates = status_.phase == HEARTH_AGENTS_UPDATE;
    if (status_.frozen != 0)
        ImGui::TextColored(kDim, "FROZEN");
    else
        ImGui::TextColored(kGood, updates ? "UPDATE" : "ROLLOUT");
    ImGui::SameLine();
    if (updates)
        ImGui::TextColored(kDim, "minibatch %u of %u, %u agents", status_.minibatches_done,
                           status_.minibatches, status_.agents);
    else
        ImGui::TextColored(kDim, "%u agents", status_.agents);
}

void AgentsPanel::draw_curve() {
    if (!has_details_) {
        curve_ = measure_curve();
        ImGui::TextColored(kDim, curve_ == kReturnCurve ? "return of an episode (reward), over time"
                                                        : "reward of a decision, over time");
    } else if (ImGui::BeginCombo("curve", curve_name(curve_))) {
        for (size_t i = 0; i < kCurves; ++i) {
            const bool is_of_learner =
                i >= HEARTH_AGENTS_METRICS || (status_.metrics_available >> i & 1) != 0;
            if (is_of_learner && ImGui::Selectable(curve_name(i), i == curve_)) curve_ = i;
        }
        ImGui::EndCombo();
    }
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{std::max(ImGui::GetContentRegionAvail().x, 50.0f),
                      7 * ImGui::GetTextLineHeight()};
    ImGui::InvisibleButton("plot", size);
    const bool is_pointed_at = ImGui::IsItemHovered();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y}, IM_COL32(0, 0, 0, 80), 4);
    if (samples_.size() < 2) return;
    const double first = samples_.front().seconds, last = samples_.back().seconds;
    float low = samples_[0].values[curve_], high = low;
    for (const Sample& s : samples_) {
        low = std::min(low, s.values[curve_]);
        high = std::max(high, s.values[curve_]);
    }
    const bool has_bar = curve_ == kReturnCurve && bar_ == bar_;
    if (has_bar) {
        low = std::min(low, static_cast<float>(bar_));
        high = std::max(high, static_cast<float>(bar_));
    }
    if (!(high > low)) high = low + 1;
    const auto x_of = [&](double seconds) {
        return at.x + size.x * static_cast<float>((seconds - first) / std::max(last - first, 1e-9));
    };
    const auto y_of = [&](float value) {
        return at.y + size.y - 4 - (size.y - 8) * (value - low) / (high - low);
    };
    for (const float part : {0.25f, 0.5f, 0.75f})
        list.AddLine({at.x, at.y + part * size.y}, {at.x + size.x, at.y + part * size.y}, kGrid);
    if (has_bar) {
        const float y = y_of(static_cast<float>(bar_));
        list.AddLine({at.x, y}, {at.x + size.x, y}, kBarLine, 1);
    }
    list.PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
    for (const Mark& mark : marks_) {
        if (mark.seconds < first || mark.seconds > last) continue;
        const float x = x_of(mark.seconds);
        list.AddLine({x, at.y}, {x, at.y + size.y}, kMarkLine);
        list.AddText({x + 3, at.y + 2}, kMarkLine, mark.text.c_str());
    }
    std::array<ImVec2, kMaxSamples> points;
    for (size_t i = 0; i < samples_.size(); ++i)
        points[i] = {x_of(samples_[i].seconds), y_of(samples_[i].values[curve_])};
    list.AddPolyline(points.data(), static_cast<int>(samples_.size()), kLine, 0, 2);
    list.PopClipRect();
    char spans[48];
    std::snprintf(spans, sizeof spans, "%.0f to %.0f s", first, last);
    row(spans, ImGui::GetStyleColorVec4(ImGuiCol_Text), "%s to %s, now %s",
        agents::short_number(static_cast<double>(low)).c_str(),
        agents::short_number(static_cast<double>(high)).c_str(),
        agents::short_number(static_cast<double>(samples_.back().values[curve_])).c_str());
    if (!is_pointed_at) return;
    const double under =
        first + (last - first) * static_cast<double>((ImGui::GetIO().MousePos.x - at.x) / size.x);
    const auto nearest = std::ranges::min_element(
        samples_, {}, [&](const Sample& s) { return std::abs(s.seconds - under); });
    ImGui::SetTooltip("%.4g at %.0f s", static_cast<double>(nearest->values[curve_]),
                      nearest->seconds);
}

void AgentsPanel::draw_game() const {
    for (uint32_t i = 0; i < hearth_agents_custom_metric_count(agents_); ++i) {
        hearth_agents_custom_metric metric{};
        (void)hearth_agents_get_custom_metric(agents_, i, &metric);
        row(metric.name, kGood, "%.4g", metric.last);
    }
    for (uint32_t i = 0; i < hearth_agents_parameter_count(agents_); ++i) {
        hearth_agents_lesson lesson{};
        (void)hearth_agents_get_lesson(agents_, i, &lesson);
        if (lesson.count > 1)
            row(lesson.parameter, kGood, "lesson %u of %u: %s", lesson.index + 1, lesson.count,
                lesson.lesson);
    }
}

void AgentsPanel::draw_warnings() const {
    const auto counter = [&](hearth_agents_counter c) { return status_.counters[c]; };
    if (status_.is_plateaued != 0)
        note(kBad, "It scores a quarter of what it did at first: other rewards, or a reset?");
    if (status_.reward_shift_detected != 0)
        note(kWarn, "It suddenly scores less. Did the rules of the game change?");
    if (status_.rewards_rejected > 0)
        note(kWarn, "Some rewards are not numbers; the game's code divides by zero?");
    if (counter(HEARTH_AGENTS_SAMPLES_REJECTED) > 0)
        note(kWarn, "Some observations are not numbers; the game's code divides by zero?");
    if (counter(HEARTH_AGENTS_SAMPLES_DROPPED) > counter(HEARTH_AGENTS_SAMPLES))
        note(kWarn, "Most of what it does is not learned from: give learning more time a frame.");
    for (size_t i = 0; i < std::min(at_limit_.size(), kMaxObservations); ++i)
        note(kWarn, at_limit_[i].text.c_str());
    if (at_limit_.size() > kMaxObservations)
        ImGui::TextColored(kWarn, "and %zu more observations", at_limit_.size() - kMaxObservations);
}

void AgentsPanel::draw_cost() const {
    if (status_.minibatch_us_p95 > 0)
        row("minibatch, decision (p95)", kDim, "%.0f, %.0f us", status_.minibatch_us_p95,
            status_.decision_us_p95);
    hearth_context_stats stats = hearth_context_stats_default();
    if (hearth_context_get_stats(context_, &stats) == HEARTH_OK)
        row("memory, GPU and CPU", kDim, "%.1f, %.1f MiB", mebibytes(stats.device_bytes_total),
            mebibytes(stats.cpu_bytes));
}

void AgentsPanel::draw_limits() const {
    const auto counter = [&](hearth_agents_counter c) {
        return static_cast<unsigned long long>(status_.counters[c]);
    };
    row("samples, gradient steps, publications", kDim, "%llu, %llu, %llu",
        counter(HEARTH_AGENTS_SAMPLES), counter(HEARTH_AGENTS_GRADIENT_STEPS),
        counter(HEARTH_AGENTS_PUBLICATIONS));
    bool is_quiet = status_.rewards_rejected + status_.rollbacks == 0 && at_limit_.empty();
    for (const hearth_agents_counter limit : kLimitCounters) {
        const unsigned long long count = counter(limit);
        if (count > 0) row(hearth_agents_counter_name(limit), kWarn, "%llu", count);
        is_quiet = is_quiet && count == 0;
    }
    if (is_quiet) row("safety limits", kDim, "%s", "none exceeded");
    if (status_.rewards_rejected + status_.rollbacks > 0)
        row("rewards rejected, rollbacks", kWarn, "%llu, %llu",
            static_cast<unsigned long long>(status_.rewards_rejected),
            static_cast<unsigned long long>(status_.rollbacks));
}

void AgentsPanel::check(hearth_result result, const char* done) {
    is_error_ = result < 0;
    message_ = is_error_ ? hearth_agents_error(agents_) : done;
    if (!is_error_) mark(done);
}

void AgentsPanel::save() {
    uint64_t size = 0;
    const auto snapshot = static_cast<uint32_t>(snapshot_);
    hearth_result result = hearth_agents_save(agents_, snapshot, nullptr, &size);
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    if (result >= 0) result = hearth_agents_save(agents_, snapshot, bytes.data(), &size);
    check(result, "saved");
    if (result < 0 || files_.save(bytes)) return;
    is_error_ = true;
    message_ = "the game could not write the brain";
}

void AgentsPanel::load() {
    const std::vector<std::byte> bytes = files_.load();
    if (bytes.empty()) {
        is_error_ = true;
        message_ = "the game has no brain to load";
        return;
    }
    hearth_messages messages{};
    const hearth_result result = hearth_agents_load(agents_, bytes.data(), bytes.size(), &messages);
    check(result, "loaded");
    if (result < 0 && messages.text[0] != '\0') message_ = messages.text;
}

void AgentsPanel::draw_buttons() {
    ImGui::Separator();
    bool is_frozen = status_.frozen != 0;
    if (ImGui::Checkbox("freeze", &is_frozen)) {
        hearth_agents_freeze(agents_, is_frozen ? 1u : 0u);
        check(HEARTH_OK, is_frozen ? "frozen" : "thawed");
    }
    ImGui::SameLine();
    if (ImGui::Button("snapshot")) check(hearth_agents_take_snapshot(agents_), "snapshot");
    ImGui::SameLine();
    if (files_.save && ImGui::Button("save")) save();
    if (files_.save) ImGui::SameLine();
    if (files_.load && ImGui::Button("load")) load();
    if (files_.load) ImGui::SameLine();
    // Irreversible, so it requires confirmation.
    if (ImGui::Button(confirms_reset_ ? "really?###reset" : "reset###reset")) {
        if (confirms_reset_) {
            hearth_agents_reset_brain(agents_);
            check(HEARTH_OK, "reset");
        }
        confirms_reset_ = !confirms_reset_;
    } else if (ImGui::IsMouseClicked(0) && !ImGui::IsItemHovered()) {
        confirms_reset_ = false;
    }
    const int count = static_cast<int>(status_.snapshots);
    if (count > 0) {
        snapshot_ = std::clamp(snapshot_, 0, count - 1);
        ImGui::SetNextItemWidth(-ImGui::CalcTextSize("restore").x -
                                4 * ImGui::GetStyle().FramePadding.x);
        ImGui::SliderInt("##snapshot", &snapshot_, 0, count - 1,
                         snapshot_ == 0 ? "newest" : "%d before");
        ImGui::SameLine();
        if (ImGui::Button("restore"))
            check(hearth_agents_restore_snapshot(agents_, static_cast<uint32_t>(snapshot_)),
                  "restored");
    } else {
        ImGui::TextColored(kDim, "no snapshots to restore or save yet");
    }
    if (!message_.empty()) note(is_error_ ? kBad : kGood, message_.c_str());
}

}  // namespace hearth::bridge
