// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ember: a creature that one keeps. It learns from its player while the game runs, and is saved all
// the time.
//
// In a frame, the answers of the frame before last arrive; the player's hand is read; the brain is
// asked, and learns within its budget, in the same command buffer as the picture; the world advances
// by 1/60 s. Nothing blocks, but waking, hatching and asking for a card, for which the garden stands
// still.

#include "card.hpp"
#include "card_file.hpp"
#include "card_view.hpp"
#include "ears.hpp"
#include "hands.hpp"
#include "hood.hpp"
#include "host/game.hpp"
#include "host/guest.hpp"
#include "keep.hpp"
#include "life.hpp"
#include "menu.hpp"
#include "probe.hpp"
#include "screen.hpp"
#include "settings.hpp"
#include "texts.hpp"

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <array>
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
constexpr float kNewsSeconds = 6;
constexpr float kSpeakSeconds = 0.6f, kReadSeconds = 2.5f;  ///< of a word
constexpr uint64_t kShownFrames = 30;  ///< of a window that --show opens before the end

struct GameOptions : demo::GameOptions {
    std::string name;  ///< of the creature; empty: the player chooses
    std::string nest;  ///< folder of the creatures; empty: nothing is kept
    double budget_us = -1;
    std::string card;               ///< picture whose creature moves in first
    std::vector<std::string> show;  ///< what the pictures show besides the garden
    bool shows(std::string_view what) const { return std::ranges::count(show, what) > 0; }
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

/// The garden of the start screen, on a morning.
World morning() {
    WorldState state = World(4).state();
    state.frame = static_cast<uint64_t>(0.12f * kDaySeconds * kFramesPerSecond);
    state.body.heading = 4.2f;
    return World(state);
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

    // Creatures.
    Status open_nest();
    Status live(const std::string& name);
    Status leave();
    void keep();
    void log_second();
    void adopt(const std::string& path);
    Status look_at_card();
    Status export_card();

    // What the player does.
    Status handle(const Input& input);
    Status obey(const MenuAnswer& order);
    Gesture gesture(const Input& input);
    void surprise();
    void go_to(Screen screen);
    void apply_settings(bool is_changed);
    Status fit_text(const Input& input);
    double budget_us() const;

    // What is seen and heard.
    Status draw(const Frame& frame, const Input& input);
    void draw_words(const Stage& stage);
    void draw_hint(float unit);
    void draw_goals();
    void write(ImFont* font, ImVec2 at, float wide, std::string_view text, bool has_plate) const;
    void open_audio();
    void listen(const Gesture& gesture);
    void tell(std::string news);
    void cheer();
    std::optional<Thing> known_word() const;
    const World& world() const { return life_ ? life_->world() : idle_; }
    float follow() const;

    GameOptions options_;
    Settings settings_;
    std::unique_ptr<demo::Guest> guest_, probe_guest_;
    PartPrograms programs_, probe_programs_;
    std::optional<Probe> probe_;
    std::optional<Life> life_;
    std::optional<Nest> nest_;
    std::unique_ptr<demo::FileWriter> keeper_;
    std::optional<ScriptedPlayer> script_;  ///< without a window
    Hands hands_;
    std::unique_ptr<demo::Canvas> canvas_;

    MenuState menu_;
    Screen behind_ = Screen::kStart;  ///< the settings
    MenuAnswer order_;
    int order_waits_ = 0;  ///< frames until it is obeyed, so that its message is seen
    World idle_ = morning();
    Traits traits_;
    uint64_t seed_ = 1;
    CardFace face_;
    bool has_hood_ = false, has_goals_ = false;
    std::string news_;
    float news_seconds_ = 0, scale_ = 0;
    std::array<bool, kGoalCount> reached_{};

    Ears ears_;
    AirSound air_;
    demo::Sound sound_{[this](double seconds) { return air_.sample(seconds); }};
    uint64_t frames_ = 0;
    float camera_ = 0, mood_ = 0, voice_ = 0;
    std::optional<Thing> word_;
    float word_seconds_ = 0;  ///< since it said its word
};

// --- Begin and end -------------------------------------------------------------------------------

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    GameOptions& used = self->options_;
    if (!used.name.empty()) HEARTH_TRY(check_name(used.name).with_context("--name"));
    used.cpu_kernels = part_kernels();
    HEARTH_TRY(self->open(used, {{"--out", &used.out}}));
    if (used.nest.empty() && !self->is_headless()) used.nest = home_nest();
    HEARTH_TRY(self->open_nest());
    if (!used.card.empty()) {
        if (!self->nest_) return invalid_argument("--card needs a folder to move into: --nest");
        HEARTH_ASSIGN(used.name, adopt_card(*self->nest_, used.card, today()));
    }
    HEARTH_ASSIGN(self->guest_, demo::Guest::create(self->host_->mind_device()));
    HEARTH_ASSIGN(self->programs_, load_part_programs(self->guest_->context()));
    self->open_audio();
    self->apply_settings(false);
    HEARTH_TRY(self->fit_text({}));
    const bool has_menu = used.shows("start") || used.shows("name") || used.shows("settings");
    if (used.name.empty() && self->is_headless() && !has_menu)
        used.name = std::string(texts::kTitle);
    self->go_to(used.shows("settings") ? Screen::kSettings
                : used.shows("name")   ? Screen::kName
                                       : Screen::kStart);
    if (!used.name.empty()) HEARTH_TRY(self->live(used.name));
    self->camera_ = self->follow();
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::open_nest() {
    if (options_.nest.empty()) return {};
    HEARTH_ASSIGN(nest_, Nest::open(options_.nest));
    Result<Settings> settings = load_settings(options_.nest + "/settings.txt");
    if (settings.ok())
        settings_ = std::move(settings).value();
    else
        fmt::print(stderr, "ember: {}\n", settings.status().message());
    return {};
}

Status Game::finish() {
    const Status waited = host_->loop().wait();
    sound_.close();
    const Status left = leave();
    return waited.ok() ? left : waited;
}

bool Game::has_passed() const {
    if (frames_ < uint64_t{60} * kFramesPerSecond || !life_) return true;
    for (size_t i = 0; i < kPartCount; ++i)
        if (life_->mind().agents(static_cast<Part>(i)).status()[agents::Counter::kGradientSteps] ==
            0)
            return false;
    return true;
}

std::string Game::report() const {
    if (!life_) return {};
    std::string text = fmt::format("\n{}, seed {}, {:.0f} s old\n", options_.name, seed_,
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

// --- Creatures -----------------------------------------------------------------------------------

double Game::budget_us() const {
    if (options_.budget_us >= 0) return options_.budget_us;
    return is_headless() ? kNoLimit : ember::budget_us(settings_.eagerness);
}

/// Wakes the creature of this name, or hatches one.
Status Game::live(const std::string& name) {
    HEARTH_TRY(leave());
    LifeOptions life{.seed = options_.seed,
                     .budget_us = budget_us(),
                     .frames_in_flight = demo::FrameLoop::kFramesInFlight,
                     .seconds = now()};
    const bool is_kept = nest_ && std::ranges::count(nest_->names(), name) > 0;
    if (is_kept) {
        HEARTH_ASSIGN(const Kept kept, nest_->load(name));
        seed_ = kept.seed;
        HEARTH_ASSIGN(life_, Life::resume(guest_->context(), programs_, life, kept));
    } else {
        // Each newborn of a window is another one.
        if (!is_headless()) life.seed = static_cast<uint64_t>(now());
        seed_ = life.seed;
        HEARTH_ASSIGN(life_, Life::create(guest_->context(), programs_, life));
    }
    options_.name = name;
    if (nest_)
        keeper_ = std::make_unique<demo::FileWriter>(
            [nest = *nest_, name](const std::string&, std::span<const std::byte> bytes) {
                return nest.save(name, bytes, today());
            });
    if (is_headless()) script_.emplace(Temper::kPatient, options_.seed);
    traits_ = traits_of(seed_);
    ears_ = Ears();
    mood_ = voice_ = 0;
    word_.reset();
    for (size_t i = 0; i < kGoalCount; ++i)
        reached_[i] = is_done(static_cast<Goal>(i), life_->deeds());
    camera_ = follow();
    settings_.last = name;
    apply_settings(true);
    go_to(Screen::kPlay);
    return {};
}

/// Keeps the creature, and lets it sleep. The report of a run's end still tells of it.
Status Game::leave() {
    if (!life_) return {};
    keep();
    Status kept;
    if (keeper_) kept = keeper_->finish();
    keeper_.reset();
    return kept;
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
    for (const std::string& failure : keeper_->take_failures()) {
        fmt::print(stderr, "ember: {}; {}\n", failure, texts::kNotKept);
        tell(std::string(texts::kNotKept));
    }
}

/// Takes the creature of a card into the nest.
void Game::adopt(const std::string& path) {
    if (!nest_) return;
    const Result<std::string> name = adopt_card(*nest_, path, today());
    tell(name.ok() ? *name + std::string(texts::kArrived)
                   : std::string(texts::kNoCard) + name.status().message());
    menu_.residents = nest_->residents();
}

/// Asks a copy of its brain who it has become.
Status Game::look_at_card() {
    HEARTH_ASSIGN(const Kept kept, life_->keep(options_.name));
    standalone::Device& device = host_->mind_device();
    if (!probe_) {
        HEARTH_ASSIGN(probe_guest_, demo::Guest::create(device));
        HEARTH_ASSIGN(probe_programs_, load_part_programs(probe_guest_->context()));
        const Submit submit = [&device](const auto& record) {
            Status recorded;
            HEARTH_TRY(device.run([&](VkCommandBuffer commands) { recorded = record(commands); }));
            return recorded;
        };
        HEARTH_ASSIGN(probe_, Probe::create(probe_guest_->context(), probe_programs_, submit));
    }
    HEARTH_TRY(host_->loop().wait());
    HEARTH_ASSIGN(const Findings found, probe_->ask(kept.brain));
    face_ = {.name = options_.name,
             .sentences = card_of(found),
             .look = {.palette = &palette_of(settings_.has_distinct_colours),
                      .traits = traits_,
                      .mood = std::clamp(found.calm + found.hope_of_hand, -1.0f, 1.0f),
                      .heading = 4.7f,
                      .time = 0.4f,
                      .glow = 0}};
    return {};
}

/// Writes the card as a picture with the creature inside.
Status Game::export_card() {
    HEARTH_ASSIGN(const Kept kept, life_->keep(options_.name));
    const std::string folder = nest_ ? options_.nest : options_.screenshots;
    const std::string path = folder + "/" + options_.name + ".png";
    const CardBox box = CardBox::in(kCardPixels, 0);
    demo::Canvas canvas(host_->ui().white_uv());
    draw_card_shapes(canvas, box, face_);
    HEARTH_TRY(host_->write_picture(
        kCardPixels, path,
        [&](demo::Renderer& renderer) {
            renderer.draw(canvas, demo::View::pixels(kCardPixels));
            draw_card_words(*ImGui::GetForegroundDrawList(), host_->ui(), box, face_);
        },
        [kept](std::vector<std::byte> png) { return with_creature(png, kept); }));
    menu_.message = std::string(texts::kExported) + path;
    return {};
}

// --- What the player does ------------------------------------------------------------------------

void Game::go_to(Screen screen) {
    menu_.screen = screen;
    menu_.message.clear();
    if (screen == Screen::kStart && nest_) menu_.residents = nest_->residents();
    if (screen == Screen::kName) surprise();
}

/// Suggests the next name that is free.
void Game::surprise() {
    const auto found = std::ranges::find(texts::kNames, menu_.name);
    const size_t next =
        found == texts::kNames.end() ? 0 : static_cast<size_t>(found - texts::kNames.begin()) + 1;
    menu_.name = texts::kNames[next % texts::kNames.size()];
    if (nest_) menu_.name = nest_->free_name(menu_.name);
}

void Game::apply_settings(bool is_changed) {
    sound_.set_volume(settings_.volume);
    if (life_) life_->set_budget(budget_us());
    if (!is_changed) {
        if (settings_.is_full_screen) host_->set_full_screen(true);
        return;
    }
    host_->set_full_screen(settings_.is_full_screen);
    if (nest_) keep_text(options_.nest + "/settings.txt", to_text(settings_));
}

/// Makes text as large as the window and the settings ask for, but neither too small to be read nor
/// so large that a window does not fit.
Status Game::fit_text(const Input& input) {
    const auto height = static_cast<float>(host_->presenter().extent().height);
    const float wanted =
        std::min(settings_.text_size * std::max(height / 720, 0.7f), std::max(height / 410, 0.7f));
    if (wanted == scale_ || input.is_mouse_down) return {};
    scale_ = wanted;
    HEARTH_TRY(host_->set_ui_scale(wanted));
    canvas_ = std::make_unique<demo::Canvas>(host_->ui().white_uv());
    return {};
}

Status Game::handle(const Input& input) {
    is_over_ = input.wants_to_quit;
    for (const std::string& path : input.dropped) adopt(path);
    if (order_.order != Order::kNone && --order_waits_ <= 0)
        HEARTH_TRY(obey(std::exchange(order_, {})));
    HEARTH_TRY(fit_text(input));
    const bool plays = menu_.screen == Screen::kPlay;
    if (menu_.screen == Screen::kName) {
        menu_.name = typed(menu_.name, input);
        if (input.was_pressed("return") && check_name(menu_.name).ok())
            order_ = {.order = Order::kHatch, .name = menu_.name};
    }
    if (input.was_pressed("escape")) order_.order = plays ? Order::kBack : Order::kResume;
    if (!life_) return {};
    if (plays && input.was_pressed("p")) order_.order = Order::kBack;
    if (plays && input.was_pressed("c")) order_.order = Order::kCard;
    // One at a time: there is not always room for both.
    if (input.was_pressed("u")) has_hood_ = !has_hood_, has_goals_ = false;
    if (input.was_pressed("g")) has_goals_ = !has_goals_, has_hood_ = false;
    return {};
}

/// Carries out what was chosen in a window, between two frames.
Status Game::obey(const MenuAnswer& answer) {
    const Screen screen = menu_.screen;
    switch (answer.order) {
        case Order::kWake:
        case Order::kHatch: {
            const bool is_new = answer.order == Order::kHatch && nest_;
            const Status woken = live(is_new ? nest_->free_name(answer.name) : answer.name);
            if (woken.ok()) break;
            life_.reset();
            go_to(Screen::kStart);
            menu_.message = woken.message();
            break;
        }
        case Order::kName:
            go_to(Screen::kName);
            break;
        case Order::kSurprise:
            surprise();
            break;
        case Order::kSettings:
            behind_ = screen;
            go_to(Screen::kSettings);
            break;
        case Order::kBack:  // out of a window, and from the game to its pause
            go_to(screen == Screen::kPlay       ? Screen::kPause
                  : screen == Screen::kSettings ? behind_
                                                : Screen::kStart);
            break;
        case Order::kResume:
            if (screen == Screen::kSettings)
                go_to(behind_);
            else if (screen == Screen::kStart)
                is_over_ = true;
            else
                go_to(life_ && screen != Screen::kName ? Screen::kPlay : Screen::kStart);
            break;
        case Order::kCard: {
            const Status looked = look_at_card();
            if (!looked.ok()) tell(looked.message());
            go_to(looked.ok() ? Screen::kCard : Screen::kPlay);
            break;
        }
        case Order::kExport: {
            const Status exported = export_card();
            if (!exported.ok()) menu_.message = exported.message();
            break;
        }
        case Order::kStart:
            HEARTH_TRY(leave());
            HEARTH_TRY(host_->loop().wait());
            life_.reset();
            go_to(Screen::kStart);
            camera_ = follow();
            break;
        case Order::kQuit:
            is_over_ = true;
            break;
        case Order::kNone:
            break;
    }
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
float Game::follow() const {
    constexpr float kHalf = 6.5f;
    if (!life_) return idle_.body().position.x - 2.6f;  // beside the menu
    return std::clamp(life_->world().body().position.x, kHalf, kGarden.x - kHalf);
}

Status Game::frame() {
    const Input input = host_->poll();
    HEARTH_TRY(handle(input));
    if (is_over_) return {};
    const bool has_picture = this->has_picture();
    HEARTH_ASSIGN(const auto frame, host_->begin_frame(has_picture));
    if (!frame) return {};  // minimized
    HEARTH_TRY(guest_->context().begin_frame(frame->serial, frame->completed_serial));
    const bool lives = life_ && menu_.screen == Screen::kPlay;
    const Gesture gesture = lives ? this->gesture(input) : Gesture();
    if (lives) HEARTH_TRY(life_->record(frame->compute_cmd, gesture));
    if (has_picture) HEARTH_TRY(draw(*frame, input));
    HEARTH_TRY(host_->end_frame(*frame));
    ++frames_;
    news_seconds_ -= kFrameSeconds;
    if (options_.frames == frames_ + kShownFrames) {
        if (options_.shows("card")) order_.order = Order::kCard;
        if (options_.shows("pause")) order_.order = Order::kBack;
    }
    if (options_.shows("export") && options_.frames == frames_ + kShownFrames / 2)
        order_.order = Order::kExport;
    if (!lives) {
        if (!life_) idle_.step({});
        return {};
    }
    life_->step();
    camera_ += 0.03f * (follow() - camera_);
    mood_ += 0.08f * (life_->mind().expectation() - mood_);
    voice_ = gesture.voice != 0 ? gesture.voice : 0.95f * voice_;
    word_seconds_ += kFrameSeconds;
    if (const auto word = known_word(); std::exchange(word_, word) != word) word_seconds_ = 0;
    listen(gesture);
    if (frames_ % kFramesPerSecond == 0) {
        life_->tell_time(now());
        keep();
        log_second();
        cheer();
    }
    return {};
}

// --- What is heard -------------------------------------------------------------------------------

/// Without an audio device the game is silent, and says so once.
void Game::open_audio() {
    if (is_headless()) return;
    const Status opened = sound_.open();
    if (!opened.ok()) fmt::print(stderr, "ember: {}: {}\n", opened.message(), texts::kNoSound);
}

void Game::listen(const Gesture& gesture) {
    sound_.play(ears_.hear({.world = life_->world(),
                            .seed = seed_,
                            .mood = mood_,
                            .voice = gesture.voice,
                            .word = word_}));
    sound_.change([&] { air_.set(air_at(life_->world(), camera_)); });
}

/// The word for what it looks at; none before it was taught one.
std::optional<Thing> Game::known_word() const {
    const agents::AgentsStatus eyes = life_->mind().agents(Part::kEyes).status();
    if (eyes[agents::Counter::kGradientSteps] == 0) return std::nullopt;
    return life_->mind().word();
}

void Game::tell(std::string news) {
    news_ = std::move(news);
    news_seconds_ = kNewsSeconds;
}

/// Tells of goals that were reached since the last time.
void Game::cheer() {
    for (size_t i = 0; i < kGoalCount; ++i) {
        if (reached_[i] || !is_done(static_cast<Goal>(i), life_->deeds())) continue;
        reached_[i] = true;
        tell(std::string(texts::kReached) + std::string(texts::kGoals[i]));
        sound_.play(hour_notes(true));
    }
}

// --- What is seen --------------------------------------------------------------------------------

Status Game::draw(const Frame& frame, const Input& input) {
    const VkExtent2D extent = host_->presenter().extent();
    const Stage stage({static_cast<float>(extent.width), static_cast<float>(extent.height)},
                      camera_);
    const Palette& palette =
        palette_of(settings_.has_distinct_colours || options_.shows("distinct"));
    const Scene scene{.world = world(),
                      .palette = palette,
                      .traits = traits_,
                      .mood = mood_,
                      .voice = voice_,
                      .is_asleep = life_ && !life_->sleep().is_over(),
                      .speaks = word_ && word_seconds_ < kSpeakSeconds};
    canvas_->clear();
    draw_scene(*canvas_, stage, scene);
    const bool has_card = menu_.screen == Screen::kCard;
    CardBox box = CardBox::in(extent, 0.03f * stage.size().y);
    box.corner.x = 0.36f * stage.size().x - 0.5f * box.size.x;  // buttons are on the right
    if (has_card) draw_card_shapes(*canvas_, box, face_);
    host_->begin_picture(frame, input, demo::Color::hex(0x0b1030));
    host_->renderer().draw(*canvas_, demo::View::pixels(extent));
    if (life_ && !has_card) draw_words(stage);
    if (has_card) draw_card_words(*ImGui::GetBackgroundDrawList(), host_->ui(), box, face_);
    const bool plays = life_ && menu_.screen == Screen::kPlay;
    if (plays && (has_hood_ || options_.shows("hood")))
        draw_hood(life_->mind(), budget_us(), host_->ui(), extent);
    if (plays && (has_goals_ || options_.shows("goals"))) draw_goals();
    const MenuAnswer answer = draw_menu(menu_, settings_, host_->ui(), extent);
    if (answer.has_new_settings) apply_settings(true);
    if (answer.order != Order::kNone) {
        order_ = answer;
        sound_.play(button_note());
        order_waits_ = 1;
        if (answer.order == Order::kHatch || answer.order == Order::kWake)
            menu_.message = texts::kHatching, order_waits_ = 3;
        if (answer.order == Order::kCard) menu_.message = texts::kAsking, order_waits_ = 3;
    }
    HEARTH_TRY(host_->end_picture());
    HEARTH_TRY(capture(frame, input));
    if (std::string path = take_clip_path(); !path.empty()) tell(std::string(texts::kClip) + path);
    return {};
}

/// Writes words that can be read on any ground: with a plate behind them, or a shadow.
void Game::write(ImFont* font, ImVec2 at, float wide, std::string_view text, bool has_plate) const {
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    const char* const end = text.data() + text.size();
    const float size = font->FontSize, pad = 0.4f * size;
    const ImVec2 area = font->CalcTextSizeA(size, 1e6f, wide, text.data(), end);
    if (has_plate)
        list.AddRectFilled({at.x - pad, at.y - 0.5f * pad},
                           {at.x + area.x + pad, at.y + area.y + 0.6f * pad},
                           IM_COL32(30, 18, 20, 150), 0.5f * size);
    list.AddText(font, size, {at.x + scale_, at.y + scale_}, IM_COL32(0, 0, 0, 150), text.data(),
                 end, wide);
    list.AddText(font, size, at, IM_COL32(255, 250, 240, 255), text.data(), end, wide);
}

/// Its name, the next goal or the news, what it says, and the keys.
void Game::draw_words(const Stage& stage) {
    const demo::Ui& ui = host_->ui();
    const float wide = stage.size().x - 48 * scale_;
    write(ui.display(), {24 * scale_, 12 * scale_}, 0, options_.name, false);
    draw_hint(wide);
    if (menu_.screen != Screen::kPlay) return;
    if (!is_headless()) {
        const std::string keys = fmt::format("{}\n{}", texts::kKeys, texts::kMenuKeys);
        const ImVec2 area =
            ui.small()->CalcTextSizeA(ui.small()->FontSize, 1e6f, wide, keys.c_str());
        write(ui.small(), {26 * scale_, stage.size().y - area.y - 12 * scale_}, wide, keys, true);
    }
    if (!word_ || word_seconds_ > kReadSeconds) return;
    const Body& body = world().body();
    const glm::vec2 head = stage.at(body.position);
    write(ui.heading(), {head.x + 24 * scale_, head.y - 2.3f * stage.scale(body.position.y)}, 0,
          fmt::format("\"{}\"", texts::kWords[static_cast<size_t>(*word_)]), true);
}

void Game::draw_hint(float wide) {
    std::string hint;
    if (news_seconds_ > 0) {
        hint = news_;
    } else if (!life_->sleep().is_over()) {
        hint = texts::kAsleep;
    } else if (world().seconds() < 12) {
        hint = texts::kHatched;
    } else {
        const auto next = std::ranges::find(reached_, false);
        if (next == reached_.end()) return;
        const auto goal = static_cast<Goal>(next - reached_.begin());
        hint = texts::kGoals[static_cast<size_t>(goal)];
        const bool is_of_words = goal == Goal::kFirstWords || goal == Goal::kAllWords;
        const bool is_of_tricks = goal == Goal::kTrick || goal == Goal::kBothTricks;
        if (horizon_of(goal) == Horizon::kTwoMinutes || is_of_words || is_of_tricks)
            hint += fmt::format("\n{}", is_of_words    ? texts::kSecondGoal
                                        : is_of_tricks ? texts::kThirdGoal
                                                       : texts::kFirstGoal);
    }
    write(host_->ui().body(), {28 * scale_, 70 * scale_}, wide, hint, true);
}

/// All goals with how far they are reached.
void Game::draw_goals() {
    const demo::Ui& ui = host_->ui();
    constexpr float kTop = 126, kHeight = 360;  // at scale 1
    const auto height = static_cast<float>(host_->presenter().extent().height);
    const float fit = std::min(1.0f, (height - kTop * scale_) / (kHeight * scale_));
    ImGui::SetNextWindowPos({24 * scale_, kTop * scale_});
    ImGui::Begin("##goals", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoInputs |
                     ImGuiWindowFlags_AlwaysAutoResize);
    ImGui::SetWindowFontScale(fit);
    ImGui::PushFont(ui.heading());
    ImGui::TextUnformatted(texts::kGoalsTitle.data());
    ImGui::PopFont();
    std::optional<Horizon> shown;
    for (size_t i = 0; i < kGoalCount; ++i) {
        const auto goal = static_cast<Goal>(i);
        const Horizon horizon = horizon_of(goal);
        if (shown != horizon) {
            ImGui::PushFont(ui.small());
            ImGui::TextDisabled("%s", texts::kHorizons[static_cast<size_t>(horizon)].data());
            ImGui::PopFont();
        }
        shown = horizon;
        const float part = std::clamp(progress_of(goal, life_->deeds()), 0.0f, 1.0f);
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float size = fit * ui.body()->FontSize, middle = at.y + 0.55f * size;
        ImDrawList& list = *ImGui::GetWindowDrawList();
        list.AddRectFilled({at.x, middle - 0.2f * size}, {at.x + 3 * size, middle + 0.2f * size},
                           IM_COL32(255, 255, 255, 40), 0.2f * size);
        list.AddRectFilled(
            {at.x, middle - 0.2f * size}, {at.x + 3 * part * size, middle + 0.2f * size},
            part >= 1 ? IM_COL32(255, 190, 90, 255) : IM_COL32(220, 130, 70, 255), 0.2f * size);
        ImGui::Dummy({3.3f * size, size});
        ImGui::SameLine();
        ImGui::TextUnformatted(texts::kGoals[i].data());
    }
    ImGui::End();
}

int run(int argc, char** argv) {
    GameOptions options;
    CLI::App app("Ember: a creature that one keeps");
    demo::add_options(app, static_cast<demo::Options&>(options));
    demo::add_clip_option(app, options);
    app.add_option("--draw-every", options.draw_every, "Draw only every so many frames")
        ->check(programs::whole_number(1));
    app.add_option("--name", options.name,
                   "Name of the creature: wakes it, or hatches a new one, without a start screen");
    app.add_option("--nest", options.nest,
                   "Folder where creatures are kept (without a window: none is kept)");
    app.add_option("--card", options.card, "Let the creature of this card move in, and wake it")
        ->check(CLI::ExistingFile);
    app.add_option("--budget", options.budget_us,
                   "Microseconds a frame for learning (as in the settings; without a window no "
                   "limit)")
        ->check(programs::finite_number(0, kNoLimit));
    app.add_option("--show", options.show, "Show these, separated by commas, without a window")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->check(CLI::IsMember(
            {"start", "name", "settings", "pause", "card", "export", "hood", "goals", "distinct"}));
    CLI11_PARSE(app, argc, argv);
    return demo::play(kInfo.name, [&] { return Game::create(options); });
}

}  // namespace
}  // namespace hearth::ember

int main(int argc, char** argv) {
    return hearth::programs::run_program("ember", [&] { return hearth::ember::run(argc, argv); });
}
