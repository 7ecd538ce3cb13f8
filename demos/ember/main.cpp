// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ember: a creature that one keeps. It learns from its player while the game runs, and is saved all
// the time.
//
// In a frame, the answers of the frame before last arrive; the player's hand is read; the brain is
// asked, and learns within its budget, in the same command buffer as the picture; the world advances
// by 1/60 s. Nothing blocks.

#include "hands.hpp"
#include "host/game.hpp"
#include "host/guest.hpp"
#include "keep.hpp"
#include "life.hpp"
#include "screen.hpp"
#include "texts.hpp"

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace hearth::ember {
namespace {

using demo::Frame;
using demo::Input;

constexpr demo::Shot kShots[] = {
    {1, "1_hatched.png"}, {7, "2_day.png"}, {14, "3_night.png"}, {demo::Shot::kEnd, "4_end.png"}};
const demo::GameInfo kInfo = {
    .name = "ember",
    .title = "Ember",
    .headless_frames = uint64_t{240} * kFramesPerSecond,
    .picture_folder = "ember_pictures",
    .shots = kShots,
};

struct GameOptions : demo::GameOptions {
    std::string name = "Ember";
    std::string nest;  ///< folder of the creatures; empty: nothing is kept
    double budget_us = -1;
};

/// Seconds since 1970.
int64_t now() {
    const auto time = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

/// Days since 1970.
int64_t today() {
    return now() / 86'400;
}

/// Default folder of creatures.
std::string home_nest() {
    if (const char* const data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != 0)
        return std::string(data) + "/ember";
    if (const char* const home = std::getenv("HOME"); home != nullptr && *home != 0)
        return std::string(home) + "/.local/share/ember";
    return "ember";
}

class Game final : public demo::Game {
  public:
    static Result<std::unique_ptr<demo::Game>> create(const GameOptions& options);
    std::string report() const override;
    /// After a minute with the scripted player each part of its brain must have learned.
    bool has_passed() const override;

  private:
    explicit Game(const GameOptions& options) : demo::Game(kInfo), options_(options) {}

    const demo::GameOptions& options() const override { return options_; }
    uint64_t played() const override { return frames_; }
    Status frame() override;
    Status finish() override;
    Status hatch_or_resume();
    Gesture gesture(const Input& input);
    Status draw(const Frame& frame, const Input& input);
    void draw_words(const Stage& stage, const Scene& scene);
    void keep();
    void log_second();
    float follow();

    GameOptions options_;
    std::unique_ptr<demo::Guest> guest_;
    PartPrograms programs_;
    std::optional<Life> life_;
    std::optional<Nest> nest_;
    std::unique_ptr<demo::FileWriter> keeper_;
    std::optional<ScriptedPlayer> script_;  ///< without a window
    Hands hands_;
    std::unique_ptr<demo::Canvas> canvas_;
    uint64_t frames_ = 0;
    float camera_ = 0, mood_ = 0, voice_ = 0;
    bool is_paused_ = false;
};

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    GameOptions& used = self->options_;
    HEARTH_TRY(check_name(used.name).with_context("--name"));
    used.cpu_kernels = part_kernels();
    HEARTH_TRY(self->open(used, {{"--out", &used.out}}));
    if (used.budget_us < 0) used.budget_us = self->is_headless() ? kNoLimit : 2000;
    if (used.nest.empty() && !self->is_headless()) used.nest = home_nest();
    HEARTH_ASSIGN(self->guest_, demo::Guest::create(self->host_->mind_device()));
    HEARTH_ASSIGN(self->programs_, load_part_programs(self->guest_->context()));
    HEARTH_TRY(self->hatch_or_resume());
    if (self->is_headless()) self->script_.emplace(Temper::kPatient, used.seed);
    self->canvas_ = std::make_unique<demo::Canvas>(self->host_->ui().white_uv());
    self->camera_ = self->life_->world().body().position.x;
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::hatch_or_resume() {
    const LifeOptions life{.seed = options_.seed,
                           .budget_us = options_.budget_us,
                           .frames_in_flight = demo::FrameLoop::kFramesInFlight,
                           .seconds = now()};
    const Context& context = guest_->context();
    if (!options_.nest.empty()) {
        HEARTH_ASSIGN(nest_, Nest::open(options_.nest));
        keeper_ = std::make_unique<demo::FileWriter>(
            [nest = *nest_, name = options_.name](const std::string&,
                                                  std::span<const std::byte> bytes) {
                return nest.save(name, bytes, today());
            });
        for (const std::string& name : nest_->names()) {
            if (name != options_.name) continue;
            HEARTH_ASSIGN(const Kept kept, nest_->load(name));
            HEARTH_ASSIGN(life_, Life::resume(context, programs_, life, kept));
            return {};
        }
    }
    HEARTH_ASSIGN(life_, Life::create(context, programs_, life));
    return {};
}

Gesture Game::gesture(const Input& input) {
    if (script_) return life_->sleep().is_over() ? script_->play(life_->world()) : Gesture();
    const VkExtent2D extent = host_->presenter().extent();
    const Stage stage({static_cast<float>(extent.width), static_cast<float>(extent.height)},
                      camera_);
    return hands_.read(input, stage, life_->world());
}

/// Keeps the creature near the middle, without showing what is beyond the garden.
float Game::follow() {
    constexpr float kHalf = 6.5f;
    const float to = std::clamp(life_->world().body().position.x, kHalf, kGarden.x - kHalf);
    return camera_ + 0.03f * (to - camera_);
}

Status Game::frame() {
    const Input input = host_->poll();
    is_over_ = input.wants_to_quit || input.was_pressed("escape");
    if (input.was_pressed("p")) is_paused_ = !is_paused_;
    const bool has_picture = this->has_picture();
    HEARTH_ASSIGN(const auto frame, host_->begin_frame(has_picture));
    if (!frame) return {};  // minimized
    HEARTH_TRY(guest_->context().begin_frame(frame->serial, frame->completed_serial));
    const Gesture gesture = this->gesture(input);
    if (!is_paused_) HEARTH_TRY(life_->record(frame->compute_cmd, gesture));
    if (has_picture) HEARTH_TRY(draw(*frame, input));
    HEARTH_TRY(host_->end_frame(*frame));
    ++frames_;
    if (is_paused_) return {};
    life_->step();
    camera_ = follow();
    mood_ += 0.08f * (life_->mind().expectation() - mood_);
    voice_ = gesture.voice != 0 ? gesture.voice : 0.95f * voice_;
    if (frames_ % kFramesPerSecond == 0) {
        life_->tell_time(now());
        keep();
        log_second();
    }
    return {};
}

/// Appends a line of JSON to the file of --out, at once.
void Game::log_second() {
    if (options_.out.empty()) return;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen(options_.out.c_str(), "a"), std::fclose);
    if (!file) return;
    const LearningTime learning = life_->mind().learning_time();
    fmt::print(file.get(),
               "{{\"type\":\"second\",\"frame\":{},\"learning_frames\":{},\"over_budget\":{}}}\n",
               life_->world().frame(), learning.frames, learning.over_budget);
}

/// Requests a save; it is written beside the frames, and tried again if that fails.
void Game::keep() {
    if (!keeper_) return;
    Result<Kept> kept = life_->keep(options_.name);
    if (!kept.ok()) return;  // not before the first snapshot
    keeper_->write(nest_->path_of(options_.name),
                   [kept = std::move(kept).value()]() -> Result<std::vector<std::byte>> {
                       return encode(kept);
                   });
    for (const std::string& failure : keeper_->take_failures())
        fmt::print(stderr, "ember: {}; {}\n", failure, texts::kNotKept);
}

Status Game::draw(const Frame& frame, const Input& input) {
    const VkExtent2D extent = host_->presenter().extent();
    const Stage stage({static_cast<float>(extent.width), static_cast<float>(extent.height)},
                      camera_);
    const Scene scene{life_->world(), mood_, voice_, camera_};
    canvas_->clear();
    draw_scene(*canvas_, stage, scene);
    host_->begin_picture(frame, input, demo::Color::hex(0x0b1030));
    host_->renderer().draw(*canvas_, demo::View::pixels(extent));
    draw_words(stage, scene);
    HEARTH_TRY(host_->end_picture());
    return capture(frame, input);
}

/// Its name, the hint of the hour, what it says, and the keys.
void Game::draw_words(const Stage& stage, const Scene& scene) {
    demo::Ui& ui = host_->ui();
    ImDrawList& list = *ImGui::GetForegroundDrawList();
    const float unit = ui.scale();
    const auto write = [&](ImFont* font, ImVec2 at, uint32_t color, std::string_view text) {
        const float size = font->FontSize;
        list.AddText(font, size, {at.x + unit, at.y + unit}, IM_COL32(0, 0, 0, 130), text.data(),
                     text.data() + text.size());
        list.AddText(font, size, at, color, text.data(), text.data() + text.size());
    };
    const uint32_t white = IM_COL32(255, 250, 240, 255);
    write(ui.display(), {24 * unit, 14 * unit}, white, options_.name);
    const double seconds = scene.world.seconds();
    const std::string_view hint = seconds < 12    ? texts::kHatched
                                  : seconds < 120 ? texts::kFirstGoal
                                  : seconds < 600 ? texts::kSecondGoal
                                                  : texts::kThirdGoal;
    write(ui.body(), {26 * unit, 66 * unit}, white, is_paused_ ? texts::kPaused : hint);
    if (!is_headless())
        write(ui.small(), {26 * unit, stage.size().y - 28 * unit}, white, texts::kKeys);
    const auto word = life_->mind().word();
    if (!word) return;
    const glm::vec2 head = stage.at(scene.world.body().position);
    const float up = 2.3f * stage.scale(scene.world.body().position.y);
    const std::string said = fmt::format("\"{}\"", texts::kWords[static_cast<size_t>(*word)]);
    write(ui.heading(), {head.x + 24 * unit, head.y - up}, white, said);
}

Status Game::finish() {
    const Status waited = host_->loop().wait();
    keep();
    return keeper_ && waited.ok() ? keeper_->finish() : waited;
}

bool Game::has_passed() const {
    if (frames_ < uint64_t{60} * kFramesPerSecond) return true;
    for (size_t i = 0; i < kPartCount; ++i)
        if (life_->mind().agents(static_cast<Part>(i)).status()[agents::Counter::kGradientSteps] ==
            0)
            return false;
    return true;
}

std::string Game::report() const {
    std::string text = fmt::format("\n{}, seed {}, {:.0f} s old\n", options_.name, options_.seed,
                                   life_->world().seconds());
    for (size_t i = 0; i < kPartCount; ++i) {
        const agents::AgentsStatus status = life_->mind().agents(static_cast<Part>(i)).status();
        text +=
            fmt::format("{:<6} learned {:>6} times from {:>6} samples\n", kPartNames[i],
                        status[agents::Counter::kGradientSteps], status[agents::Counter::kSamples]);
    }
    const LearningTime learning = life_->mind().learning_time();
    text += fmt::format("{} of {} frames with learning exceeded its budget\n", learning.over_budget,
                        learning.frames);
    return text;
}

int run(int argc, char** argv) {
    GameOptions options;
    CLI::App app("Ember: a creature that one keeps");
    demo::add_options(app, static_cast<demo::Options&>(options));
    demo::add_clip_option(app, options);
    app.add_option("--draw-every", options.draw_every, "Draw only every so many frames")
        ->check(programs::whole_number(1));
    app.add_option("--name", options.name, "Name of the creature: a new one hatches");
    app.add_option("--nest", options.nest,
                   "Folder where creatures are kept (without a window: none is kept)");
    app.add_option("--budget", options.budget_us,
                   "Microseconds a frame for learning (2000, or no limit without a window)")
        ->check(programs::finite_number(0, kNoLimit));
    CLI11_PARSE(app, argc, argv);
    return demo::play(kInfo.name, [&] { return Game::create(options); });
}

}  // namespace
}  // namespace hearth::ember

int main(int argc, char** argv) {
    return hearth::programs::run_program("ember", [&] { return hearth::ember::run(argc, argv); });
}
