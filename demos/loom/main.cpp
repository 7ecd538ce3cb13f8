// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loom: a wall hanging that is no bitmap. The game's own fragment shader evaluates a small network
// per pixel for the colour of the cloth, while the network learns the target picture: one step per
// frame, on the same weights. Paint on the picture, and the cloth follows.

#include "host/cost.hpp"
#include "host/game.hpp"
#include "loom.hpp"
#include "pattern.hpp"

#include <fmt/format.h>
#include <glm/geometric.hpp>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

namespace hearth::loom {
namespace {

using demo::Color;
using demo::Frame;
using demo::Input;

constexpr Color kWall = Color::hex(0x1d1b22), kBeam = Color::hex(0x5a3d28),
                kText = Color::hex(0xf2ece0), kDim = Color::hex(0x9a968f),
                kGold = Color::hex(0xe0ad4a);
constexpr demo::Shot kShots[] = {
    {2, "1_first_threads.png"}, {6, "2_weaving.png"}, {demo::Shot::kEnd, "3_woven.png"}};
constexpr float kFramesPerSecond = 60.0f;

/// GPU time of a learning step, and of the cloth's pixels.
enum Span : uint32_t { kLearnSpan, kClothSpan, kSpanCount };

const demo::GameInfo kInfo = {
    .name = "loom",
    .title = "Loom",
    .span_count = kSpanCount,
    .headless_frames = 600,
    .picture_folder = "loom_pictures",
    .shots = kShots,
};

struct GameOptions : demo::GameOptions {
    bool moves = false;  ///< the picture changes from frame to frame
};

/// Required quality at a frame, over all texels.
struct Milestone {
    uint64_t frame;
    double decibels;  ///< minimum for a static picture
};
constexpr Milestone kMilestones[] = {{60, 20.0}, {300, 30.0}, {600, 35.0}};

double decibels_of(double square_error) {
    return -10.0 * std::log10(std::max(square_error, 1e-12));
}

/// Root of the mean squared error, in percent of the range of a colour.
double percent_off(float decibels) {
    return 100 * std::pow(10.0, -static_cast<double>(decibels) / 20);
}

/// Positions in the picture, in pixels.
struct Layout {
    float scale, sidebar;
    glm::vec2 from, to;  ///< of the cloth
    float small;         ///< side of the two small pictures on its left; 0: there is no room

    static Layout of(VkExtent2D extent, const demo::Ui& ui) {
        Layout layout{};
        const auto width = static_cast<float>(extent.width),
                   height = static_cast<float>(extent.height);
        layout.scale = ui.scale();
        layout.sidebar = std::min(300.0f * layout.scale, 0.4f * width);
        const float side = std::min(0.82f * height, 0.92f * (width - layout.sidebar));
        const glm::vec2 middle(0.5f * (width - layout.sidebar), 0.5f * height);
        layout.from = glm::round(middle - 0.5f * side);
        layout.to = layout.from + glm::round(side);
        const float room = layout.from.x - 64.0f * layout.scale;
        layout.small = room < 60.0f * layout.scale ? 0.0f : std::min(room, 180.0f * layout.scale);
        return layout;
    }
    /// Returns the upper left corner of a small picture.
    glm::vec2 small_at(int index) const {
        return {14.0f * scale, from.y + static_cast<float>(index) * (small + 34.0f * scale)};
    }
};

class Game final : public demo::Game {
  public:
    static Result<std::unique_ptr<demo::Game>> create(const GameOptions& options);
    std::string report() const override;
    /// A static picture must reach all milestones.
    bool has_passed() const override {
        return !reached_.empty() &&
               (options_.moves || std::ranges::all_of(reached_, [](const auto& r) {
                    return r.second >= r.first.decibels;
                }));
    }

  private:
    explicit Game(const GameOptions& options) : demo::Game(kInfo), options_(options) {}

    const demo::GameOptions& options() const override { return options_; }
    uint64_t played() const override { return frames_; }
    Status frame() override;
    Status finish() override;
    Status draw(const Frame& frame, const Input& input);
    void draw_loom(const Layout& layout);
    void draw_panel(const Layout& layout, VkExtent2D extent);
    void handle(const Input& input);
    void paint(const Input& input);
    void take_times();
    Status judge();
    double nanoseconds_per_pixel() const;

    GameOptions options_;
    std::unique_ptr<Loom> loom_;
    Pattern pattern_;
    demo::Effect cloth_;
    std::unique_ptr<demo::Canvas> canvas_;
    std::vector<float> errors_;  ///< in decibels, per step
    float smooth_error_ = 0.0f;  ///< mean squared error, smoothed
    std::vector<std::pair<Milestone, double>> reached_;
    demo::Cost learn_ms_, cloth_ms_;
    uint64_t frames_ = 0, weights_hash_ = 0;
    uint32_t yarn_ = 0;
    double cloth_pixels_ = 0;
    Look look_ = kCloth;
    bool is_pattern_new_ = true, is_frozen_ = false, wants_unravel_ = false;
};

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    HEARTH_TRY(self->open(self->options_, {{"--out", &self->options_.out}}));
    standalone::Device& device = self->host_->device();
    if (device.has_async_compute())
        return unsupported("--async-compute: the pixels of a frame wait for its step of learning");
    if (device.binding_model() != HEARTH_BINDING_DEVICE_ADDRESS)
        return unsupported(
            "the device has no buffer device addresses, by which pixels read weights");
    HEARTH_ASSIGN(self->loom_, Loom::create(device, options.seed));
    HEARTH_TRY(self->host_->renderer().create_effect(self->cloth_, self->loom_->fragment_shader()));
    self->canvas_ = std::make_unique<demo::Canvas>(self->host_->ui().white_uv());
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::frame() {
    const Input input = host_->poll();
    handle(input);
    if (is_over_) return {};
    const bool has_picture = this->has_picture();
    HEARTH_ASSIGN(const auto frame, host_->begin_frame(has_picture));
    if (!frame) return {};  // minimized
    take_times();
    HEARTH_TRY(loom_->begin_frame(*frame));
    if (const auto loss = loom_->loss()) {
        smooth_error_ = errors_.empty() ? *loss : 0.9f * smooth_error_ + 0.1f * *loss;
        errors_.push_back(static_cast<float>(decibels_of(static_cast<double>(smooth_error_))));
    }
    if (options_.moves) pattern_.draw(static_cast<float>(frames_) / kFramesPerSecond);
    if (std::exchange(is_pattern_new_, options_.moves))
        loom_->record_picture(*frame, pattern_.texels());
    if (std::exchange(wants_unravel_, false)) HEARTH_TRY(loom_->record_unravel(*frame));
    demo::FrameLoop& loop = host_->loop();
    if (options_.learn && !is_frozen_) {
        loop.begin_span(*frame, frame->cmd, kLearnSpan);
        HEARTH_TRY(loom_->record_learn(*frame));
        loop.end_span(*frame, frame->cmd, kLearnSpan);
    }
    loom_->record_ready(*frame);
    if (has_picture) HEARTH_TRY(draw(*frame, input));
    HEARTH_TRY(host_->end_frame(*frame));
    ++frames_;
    return host_->is_headless() ? judge() : Status();
}

void Game::take_times() {
    for (const demo::SpanTime& time : host_->loop().span_times())
        (time.span == kLearnSpan ? learn_ms_ : cloth_ms_).add(time.milliseconds);
}

double Game::nanoseconds_per_pixel() const {
    return cloth_pixels_ > 0 ? 1e6 * cloth_ms_.quantile(0.5) / cloth_pixels_ : 0.0;
}

/// Measures the error of the whole cloth at the milestones, without a window.
Status Game::judge() {
    for (const Milestone& milestone : kMilestones) {
        if (milestone.frame != frames_) continue;
        HEARTH_TRY(host_->loop().wait());
        HEARTH_ASSIGN(const double error, loom_->mean_square_error());
        reached_.emplace_back(milestone, decibels_of(error));
        std::fprintf(stderr, "%4llu frames  %.2f dB\n", static_cast<unsigned long long>(frames_),
                     reached_.back().second);
    }
    return {};
}

// --- The player
// -----------------------------------------------------------------------------------

constexpr Color kYarns[] = {Color::hex(0xf5e9c8), Color::hex(0xc8413a), Color::hex(0x3a6fc8),
                            Color::hex(0x2f8f57), Color::hex(0x17151c)};

void Game::handle(const Input& input) {
    is_over_ = input.wants_to_quit || input.was_pressed("escape");
    if (input.was_pressed("f")) is_frozen_ = !is_frozen_;
    if (input.was_pressed("u")) wants_unravel_ = true;
    if (input.was_pressed("m")) options_.moves = !options_.moves;
    if (input.was_pressed("r")) {
        pattern_.draw(0.0f);
        is_pattern_new_ = true;
    }
    const auto toggle = [&](const char* key, Look look) {
        if (input.was_pressed(key)) look_ = look_ == look ? kCloth : look;
    };
    toggle("e", kError);
    toggle("b", kPicture);
    toggle("p", kPlain);
    for (uint32_t i = 0; i < std::size(kYarns); ++i)
        if (input.was_pressed(std::to_string(i + 1).c_str())) yarn_ = i;
    paint(input);
}

void Game::paint(const Input& input) {
    if (!input.is_mouse_down) return;
    const Layout layout = Layout::of(host_->presenter().extent(), host_->ui());
    const glm::vec2 at = (input.mouse - layout.from) / (layout.to - layout.from);
    if (at.x < 0 || at.y < 0 || at.x > 1 || at.y > 1) return;
    const Color& yarn = kYarns[yarn_];
    pattern_.dab(at, 0.03f, {yarn.r, yarn.g, yarn.b});
    is_pattern_new_ = true;
}

// --- The picture ---------------------------------------------------------------------------------

Status Game::draw(const Frame& frame, const Input& input) {
    const VkExtent2D extent = host_->presenter().extent();
    const Layout layout = Layout::of(extent, host_->ui());
    demo::Renderer& renderer = host_->renderer();
    host_->begin_picture(frame, input, kWall);
    draw_loom(layout);
    renderer.draw(*canvas_, demo::View::pixels(extent));
    const auto show = [&](Look look, glm::vec2 from, glm::vec2 to) {
        const ClothConstants constants = loom_->constants(look);
        renderer.draw(cloth_, from, to, std::as_bytes(std::span(&constants, 1)));
    };
    host_->loop().begin_span(frame, frame.cmd, kClothSpan);
    show(look_, layout.from, layout.to);
    host_->loop().end_span(frame, frame.cmd, kClothSpan);
    const glm::vec2 side = layout.to - layout.from;
    cloth_pixels_ = static_cast<double>(side.x * side.y);
    if (layout.small > 0) {
        const Look looks[] = {kPicture, kError};
        for (int i = 0; i < 2; ++i)
            show(looks[i], layout.small_at(i), layout.small_at(i) + layout.small);
    }
    draw_panel(layout, extent);
    HEARTH_TRY(host_->end_picture());
    return capture(frame, input);
}

/// Draws the beam that the cloth hangs from, its shadow on the wall, and the fringe.
void Game::draw_loom(const Layout& layout) {
    canvas_->clear();
    const float s = layout.scale;
    const glm::vec2 size = layout.to - layout.from, middle = 0.5f * (layout.from + layout.to);
    canvas_->rounded_box(middle + 9.0f * s, 0.5f * size + 5.0f * s, 0.0f, 8.0f * s,
                         Color::hex(0x000000, 0.35f));
    constexpr int kTassels = 64;
    for (int i = 0; i < kTassels; ++i) {
        const float x = layout.from.x + size.x * (static_cast<float>(i) + 0.5f) / kTassels;
        const float sway = 2.5f * s * std::sin(1.7f * static_cast<float>(i));
        const glm::vec2 line[] = {{x, layout.to.y}, {x + sway, layout.to.y + 20.0f * s}};
        canvas_->stroke(line, 3.0f * s,
                        kGold.mix(kBeam, 0.3f + 0.2f * std::sin(2.9f * static_cast<float>(i))));
    }
    const glm::vec2 beam(middle.x, layout.from.y - 8.0f * s);
    canvas_->rounded_box(beam, {0.5f * size.x + 26.0f * s, 10.0f * s}, 0.0f, 9.0f * s, kBeam);
    canvas_->rounded_box(beam - glm::vec2(0, 4.0f * s), {0.5f * size.x + 22.0f * s, 2.0f * s}, 0.0f,
                         2.0f * s, kBeam.mix(kText, 0.25f));
    for (const float end : {-1.0f, 1.0f})
        canvas_->disc(beam + glm::vec2(end * (0.5f * size.x + 28.0f * s), 0.0f), 14.0f * s,
                      kBeam.mix(kText, 0.3f), kBeam.mix(kWall, 0.4f));
}

void Game::draw_panel(const Layout& layout, VkExtent2D extent) {
    const demo::Ui& ui = host_->ui();
    const float s = layout.scale;
    const auto width = static_cast<float>(extent.width), height = static_cast<float>(extent.height);
    const auto text = [](ImFont* font, Color color, const std::string& words) {
        ImGui::PushFont(font);
        ImGui::PushStyleColor(ImGuiCol_Text, ImVec4{color.r, color.g, color.b, color.a});
        ImGui::TextUnformatted(words.c_str());
        ImGui::PopStyleColor();
        ImGui::PopFont();
    };
    const auto space = [&](float units) { ImGui::Dummy({0, units * s}); };
    const auto row = [&](const char* name, const std::string& value) {
        text(ui.small(), kDim, name);
        ImGui::PushFont(ui.small());
        const float right =
            ImGui::GetWindowContentRegionMax().x - ImGui::CalcTextSize(value.c_str()).x;
        ImGui::PopFont();
        ImGui::SameLine(right);
        text(ui.small(), kText, value);
    };
    constexpr ImGuiWindowFlags kFlags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                        ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoInputs |
                                        ImGuiWindowFlags_NoSavedSettings;
    constexpr const char* kCaptions[] = {"what it is to weave",
                                         "where it errs; red: 10 % off,\nyellow: 25 % and more"};
    for (int i = 0; i < 2 && layout.small > 0; ++i) {
        const glm::vec2 below = layout.small_at(i) + glm::vec2(0.0f, layout.small + 4.0f * s);
        ImGui::GetBackgroundDrawList()->AddText(ui.small(), ui.small()->FontSize,
                                                {below.x, below.y}, kDim.packed(), kCaptions[i]);
    }
    ImGui::SetNextWindowPos({width - layout.sidebar, 0});
    ImGui::SetNextWindowSize({layout.sidebar, height});
    ImGui::Begin("panel", nullptr, kFlags);
    text(ui.heading(), kText, "LOOM");
    text(ui.small(), kDim, "each pixel asks a network that is learning");
    space(10);
    text(ui.display(), kGold,
         errors_.empty() ? std::string("-") : fmt::format("{:.1f} dB", errors_.back()));
    text(ui.small(), kDim, "likeness of the cloth to the picture");
    if (!errors_.empty())
        text(ui.small(), kText,
             fmt::format("colours are {:.1f} % off", percent_off(errors_.back())));
    space(6);

    // Plots decibels over steps; they rise as the error falls.
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float wide = ImGui::GetContentRegionAvail().x, high = 120 * s;
    constexpr float kLow = 5.0f, kHigh = 45.0f;
    const auto y_of = [&](float decibels) {
        return at.y + high * (1.0f - (std::clamp(decibels, kLow, kHigh) - kLow) / (kHigh - kLow));
    };
    list.AddRectFilled(at, {at.x + wide, at.y + high}, Color::hex(0xffffff, 0.05f).packed(), 6 * s);
    for (const float mark : {10.0f, 20.0f, 30.0f, 40.0f}) {
        list.AddLine({at.x, y_of(mark)}, {at.x + wide, y_of(mark)},
                     Color::hex(0xffffff, 0.10f).packed(), s);
        list.AddText(ui.small(), ui.small()->FontSize * 0.8f, {at.x + 4 * s, y_of(mark) - 13 * s},
                     kDim.packed(), fmt::format("{:.0f} dB", mark).c_str());
        const std::string off = fmt::format("{:.1f} % off", percent_off(mark));
        const float size = ui.small()->FontSize * 0.8f;
        const float right =
            at.x + wide - 4 * s - ui.small()->CalcTextSizeA(size, 1e6f, 0, off.c_str()).x;
        list.AddText(ui.small(), size, {right, y_of(mark) - 13 * s}, kDim.packed(), off.c_str());
    }
    constexpr size_t kPoints = 200;
    std::vector<ImVec2> points;
    const size_t points_count = std::min(errors_.size(), kPoints);
    for (size_t i = 0; i < points_count; ++i) {
        const size_t step = (i + 1) * errors_.size() / points_count - 1;
        points.push_back(
            {at.x + wide * static_cast<float>(step + 1) / static_cast<float>(errors_.size()),
             y_of(errors_[step])});
    }
    list.AddPolyline(points.data(), static_cast<int>(points.size()), kGold.packed(), 0, 2 * s);
    space(120);
    row("0 s",
        fmt::format("{:.1f} s of weaving", static_cast<double>(errors_.size()) / kFramesPerSecond));
    space(6);

    row("steps of learning", std::to_string(loom_->steps()));
    const auto time = [](const demo::Cost& cost) {
        return cost.count() > 1 ? fmt::format("{:.3f} ms", cost.quantile(0.5)) : std::string("-");
    };
    row("a step on the GPU", time(learn_ms_));
    row("the cloth on the GPU", time(cloth_ms_));
    row("for each pixel", cloth_ms_.count() > 1 ? fmt::format("{:.2f} ns", nanoseconds_per_pixel())
                                                : std::string("-"));
    row("weights", fmt::format("{:.0f} KB", static_cast<double>(loom_->weights_bytes()) / 1e3));
    row("the picture as bytes", fmt::format("{:.0f} KB", static_cast<double>(3 * kTexels) / 1e3));
    row("a step is", loom_->summary());
    if (is_frozen_) text(ui.small(), kGold, "frozen: it learns nothing");
    if (!host_->is_headless()) {
        space(8);
        text(ui.small(), kDim,
             "mouse: paint   1-5: yarn\n"
             "U unravel   F freeze   M let it move\n"
             "E where it errs   B the picture itself\n"
             "P without threads   R paint off\n"
             "F12 picture");
    }
    ImGui::End();
}

// --- The end -------------------------------------------------------------------------------------

Status Game::finish() {
    HEARTH_TRY(host_->loop().wait());
    if (frames_ == 0) return {};
    HEARTH_ASSIGN(weights_hash_, loom_->weights_hash());
    std::string log;
    for (const auto& [milestone, decibels] : reached_)
        log += fmt::format("{{\"frame\": {}, \"decibels\": {:.3f}, \"wanted\": {:.0f}}}\n",
                           milestone.frame, decibels, milestone.decibels);
    log += fmt::format("{{\"frames\": {}, \"seed\": {}, \"weights_hash\": \"{:016x}\"}}\n", frames_,
                       options_.seed, weights_hash_);
    keep_text(options_.out, log);
    return {};
}

std::string Game::report() const {
    std::string text = fmt::format("\n{} frames, seed {}; a step is {}\n", frames_, options_.seed,
                                   loom_->summary());
    for (const auto& [milestone, decibels] : reached_)
        text += fmt::format("after {:4} frames  {:6.2f} dB (wanted: {:.0f})\n", milestone.frame,
                            decibels, milestone.decibels);
    if (learn_ms_.count() > 1)
        text += fmt::format("GPU: a step {:.3f} ms", learn_ms_.quantile(0.5));
    if (cloth_ms_.count() > 1)
        text += fmt::format(", the cloth {:.3f} ms ({:.2f} ns a pixel)", cloth_ms_.quantile(0.5),
                            nanoseconds_per_pixel());
    text += fmt::format("\nallocations of a frame's recording: {}\n",
                        loom_->guest().frame_path_cpu_allocations());
    return text + fmt::format("weights {:016x}\n", weights_hash_);
}

int run(int argc, char** argv) {
    GameOptions options;
    CLI::App app("Loom: a wall hanging that a network weaves while it is looked at");
    demo::add_options(app, static_cast<demo::Options&>(options));
    demo::add_play_options(app, options);
    demo::add_clip_option(app, options);
    app.add_flag("--moves", options.moves, "Let the picture change from frame to frame");
    CLI11_PARSE(app, argc, argv);
    return demo::play(kInfo.name, [&] { return Game::create(options); });
}

}  // namespace
}  // namespace hearth::loom

int main(int argc, char** argv) {
    return hearth::programs::run_program("loom", [&] { return hearth::loom::run(argc, argv); });
}
