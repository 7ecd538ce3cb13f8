// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hatchlings: a group of newly hatched creatures that share one brain and learn to forage, by PPO,
// while the player watches, praises, scolds, and changes the rules of the world.
//
// In a frame, the actions of the frame before last arrive and are applied to the world;
// observations and rewards are written; decisions and, within the budget, learning are recorded
// into the same command buffer as the picture; the world advances by 1/60 s. Nothing blocks.

#include "host/cost.hpp"
#include "host/game.hpp"
#include "host/synth.hpp"
#include "hud.hpp"
#include "picture.hpp"
#include "play.hpp"

#include <hearth/brain_file.hpp>
#include <hearth/weights.hpp>

#include <fmt/format.h>
#include <glm/geometric.hpp>
#include <imgui/agent_view.hpp>
#include <imgui/agents_panel.hpp>
#include <nlohmann/json.hpp>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <span>
#include <utility>

namespace hearth::hatchlings {
namespace {

using demo::Frame;
using demo::Input;
using Json = nlohmann::ordered_json;

constexpr uint64_t kMostScriptBytes = 1 << 20, kMostBrainBytes = 64 << 20;
constexpr demo::Shot kShots[] = {{1, "1_hatched.png"},
                                 {6, "2_learning.png"},
                                 {12, "3_later.png"},
                                 {demo::Shot::kEnd, "4_end.png"}};
constexpr float kPickRadius = 0.9f;  // metres around a click

/// GPU time: of Hearth, and of everything on the graphics queue in a frame.
enum Span : uint32_t { kMind, kFrame, kSpanCount };

const demo::GameInfo kInfo = {
    .name = "hatchlings",
    .title = "Hatchlings",
    .span_count = kSpanCount,
    .headless_frames = uint64_t{180} * kFramesPerSecond,
    .picture_folder = "hatchlings_pictures",
    .shots = kShots,
};

struct GameOptions : demo::GameOptions {
    uint32_t hatchlings = 16;
    double budget_us = -1;  ///< for learning in a frame; negative: automatic
    float penalty = Rules().frost_reward;
    uint32_t motes = 8;
    std::vector<std::string> show;  ///< overlays of kShown
    std::string weights;            ///< a file, or kShipped
};

/// Value of --weights for the weights embedded in the game.
constexpr const char* kShipped = "shipped";

/// Optional overlays.
constexpr const char* kThoughts = "thoughts";
constexpr const char* kHopes = "hopes";
constexpr const char* kThen = "then";
constexpr const char* kPanel = "panel";
constexpr const char* kSeen = "seen";
constexpr uint64_t kThenFrames = uint64_t{20} * kFramesPerSecond;  ///< replay interval

struct Outcome {
    uint64_t state_hash = 0, weights_hash = 0;
    bool has_weights = false;
};

/// Reads the brain of a saved game, or of a brain file.
Result<std::vector<std::byte>> brain_of(const std::string& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path, kMostBrainBytes));
    HEARTH_ASSIGN(LoadedFile file, read_file(bytes));
    return std::move(file.brain);
}

/// Reads a file that `hearth train` wrote, or kShipped.
Status read_weights(const std::string& name, NamedTensors& out) {
    if (name == kShipped) {
        HEARTH_ASSIGN(out, shipped_weights());
        return {};
    }
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(name, kMostBrainBytes));
    Result<NamedTensors> read = read_safetensors(bytes);
    if (!read.ok()) return read.status().with_context(name);
    out = std::move(read).value();
    return {};
}

constexpr size_t kMostNamed = 64;

class Game final : public demo::Game {
  public:
    static Result<std::unique_ptr<demo::Game>> create(const GameOptions& options);
    std::string report() const override;
    /// Requires three times as many embers as at first, unless it was trained before or does not
    /// learn.
    bool has_passed() const override {
        return !options_.learn || !options_.weights.empty() || play_->progress().gain() >= 3;
    }

  private:
    explicit Game(const GameOptions& options) : demo::Game(kInfo), options_(options) {}

    const demo::GameOptions& options() const override { return options_; }
    uint64_t played() const override { return play_->world().frame(); }
    Status frame() override;
    Status finish() override;
    Status create_picture();
    void make_panel();
    void tell_panel();
    void draw_seen(const Layout& layout, VkExtent2D extent);
    Status read_script();
    Status draw(const Frame& frame, const Input& input);
    Status handle_input(const Input& input);
    Status run_script();
    Status obey(const Command& command);
    Status play_then(const Frame& frame);
    Status toggle_then();
    void pick(const Input& input);
    void step();
    void listen();
    void log_bar();
    void save(std::vector<std::byte> game);
    void take_times();
    std::string costs() const;

    GameOptions options_;
    std::unique_ptr<Play> play_;
    std::vector<Command> script_;
    size_t script_at_ = 0;
    uint32_t selected_ = 0;
    bool shows_thoughts_ = false, shows_hopes_ = false;
    /// A replay of the same moment with an early brain, restarted at intervals.
    std::unique_ptr<Play> then_;
    uint64_t then_since_ = 0;
    demo::StaticMesh clearing_;
    demo::Backdrop backdrop_;
    std::unique_ptr<Picture> picture_;
    Sparks sparks_;
    /// The fire crackles.
    demo::Sound sound_{[](double seconds) {
        const float spark = std::max(demo::noise(seconds, 30) - 0.6f, 0.0f);
        return 0.02f * demo::noise(seconds, 700) + 0.25f * spark * demo::noise(seconds, 5000);
    }};
    HudState hud_;
    /// What the selected hatchling sees, toggled with E.
    std::unique_ptr<bridge::AgentView> view_;
    bool shows_seen_ = false;
    /// The generic agents panel, toggled with B.
    std::unique_ptr<bridge::AgentsPanel> panel_;
    bool shows_panel_ = false;
    double mind_us_ = -1;
    size_t marks_shown_ = 0;
    std::string log_;
    size_t marks_logged_ = 0;
    Outcome result_;
    demo::Cost mind_ms_, frame_ms_, period_ms_;
    std::chrono::steady_clock::time_point last_frame_ = std::chrono::steady_clock::now();
    /// Log of frames in which learning exceeded its budget, with the GPU time of all network work.
    std::vector<std::string> over_budget_;
    uint64_t learn_frames_over_ = 0;
    uint64_t last_serial_ = 0;
};

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    GameOptions& used = self->options_;
    HEARTH_TRY(self->open(used, {{"--save", &used.save}, {"--out", &used.out}}));
    // Without a window there is no frame rate to keep, so all pending learning runs at once,
    // reproducibly.
    if (used.budget_us < 0) used.budget_us = self->host_->is_headless() ? kNoLimit : 1000;
    HEARTH_TRY(self->read_script());
    NamedTensors weights;
    if (!used.weights.empty()) HEARTH_TRY(read_weights(used.weights, weights));
    HEARTH_ASSIGN(self->play_,
                  Play::create(self->host_->mind_device(),
                               {.seed = used.seed,
                                .hatchlings = used.hatchlings,
                                .rules = {.frost_reward = used.penalty, .mote_count = used.motes},
                                .learn_us = used.budget_us,
                                .learns = used.learn,
                                .weights = std::move(weights)}));
    if (!used.load.empty()) {
        HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                      read_whole_file(used.load, kMostBrainBytes));
        HEARTH_TRY(self->play_->load(bytes).with_context(used.load));
    }
    // Skips commands that were executed before the game was saved.
    while (self->script_at_ < self->script_.size() &&
           self->script_[self->script_at_].frame < self->played())
        ++self->script_at_;
    HEARTH_TRY(self->create_picture());
    self->hud_.play = self->play_.get();
    const auto shows = [&](const char* what) { return std::ranges::count(used.show, what) > 0; };
    self->shows_thoughts_ = shows(kThoughts);
    self->shows_hopes_ = shows(kHopes);
    if (shows(kThen)) HEARTH_TRY(self->toggle_then());
    self->shows_panel_ = shows(kPanel);
    self->shows_seen_ = shows(kSeen);
    self->make_panel();
    self->hud_.budget_us = used.budget_us < kNoLimit ? used.budget_us : HUGE_VAL;
    self->hud_.has_keys = !self->is_headless();
    if (!self->is_headless())
        if (const Status opened = self->sound_.open(); !opened.ok())
            fmt::print(stderr, "hatchlings: {}: no sound\n", opened.message());
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::create_picture() {
    const glm::vec2 white_uv = host_->ui().white_uv();
    demo::Canvas clearing(white_uv);
    draw_clearing(clearing);
    HEARTH_ASSIGN(clearing_, host_->renderer().upload(clearing));
    // All of a script's may come at once, and each key judges once a frame.
    constexpr uint32_t kKeys = 3, kKeyed = kKeys * (Sparks::kFrames + 1);
    const PictureLimits limits{.hatchlings = options_.hatchlings,
                               .judgements = kKeyed + static_cast<uint32_t>(script_.size())};
    HEARTH_ASSIGN(picture_, Picture::create(host_->renderer(), white_uv, limits));
    return {};
}

void Game::make_panel() {
    bridge::BrainFiles files;
    if (!options_.save.empty())
        files.save = [this](std::span<const std::byte> brain) {
            save({brain.begin(), brain.end()});
            return true;
        };
    // Loads what was saved last, or else the file that this game started from.
    if (!options_.save.empty() || !options_.load.empty())
        files.load = [this]() -> std::vector<std::byte> {
            std::string file = options_.save;
            if (file.empty() || !std::filesystem::exists(file)) file = options_.load;
            if (file.empty()) return {};
            auto brain = brain_of(file);
            if (brain.ok()) return std::move(brain).value();
            fmt::print(stderr, "hatchlings: {}\n", brain.status().message());
            return {};
        };
    using bridge::AgentViewAs;
    view_ = std::make_unique<bridge::AgentView>(
        play_->mind().agents().handle(),
        std::vector<bridge::AgentViewHint>{
            {.field = "velocity", .as = AgentViewAs::kDirection},
            {.field = "embers/toward", .as = AgentViewAs::kDirection},
            {.field = "motes/toward", .as = AgentViewAs::kDirection}});
    panel_ =
        std::make_unique<bridge::AgentsPanel>(play_->mind().guest().context().handle(),
                                              play_->mind().agents().handle(), std::move(files));
}

void Game::draw_seen(const Layout& layout, VkExtent2D extent) {
    const std::optional<agents::AgentId> agent = play_->agent(selected_);
    if (!agent) return;
    const auto pixels_of = [&](glm::vec2 place) {
        const glm::vec2 from = (place - layout.world.center) / layout.world.units_per_pixel;
        return ImVec2(0.5f * static_cast<float>(extent.width) + from.x,
                      0.5f * static_cast<float>(extent.height) - from.y);
    };
    bridge::AgentViewPlace place{.at = pixels_of(play_->world().hatchlings()[selected_].position),
                                 .pixels = 1 / layout.world.units_per_pixel,
                                 .origin = pixels_of({0, 0}),
                                 .arrow = 3 / layout.world.units_per_pixel};
    const std::span<const float> expected = play_->insight().expectations();
    if (selected_ < expected.size()) place.value = expected[selected_];
    view_->draw(*ImGui::GetBackgroundDrawList(), *agent, place);
    // Beside the panel, whose place this is.
    ImGui::SetNextWindowPos({shows_panel_ ? 440.0f : 60.0f, 60}, ImGuiCond_FirstUseEver);
    view_->draw_table("what it sees", *agent, place.value);
}

void Game::tell_panel() {
    const auto& marks = play_->progress().marks();
    for (; marks_shown_ < marks.size(); ++marks_shown_) panel_->mark(marks[marks_shown_].text);
    panel_->add({.seconds = static_cast<double>(played()) / kFramesPerSecond,
                 .gpu_us = mind_us_,
                 .budget_us = hud_.budget_us});
}

Status Game::read_script() {
    if (options_.input.empty()) return {};
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  read_whole_file(options_.input, kMostScriptBytes));
    auto script = parse_script({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (const auto* error = std::get_if<ScriptError>(&script))
        return invalid_argument(options_.input + ": " + error->message);
    script_ = std::get<std::vector<Command>>(std::move(script));
    for (const Command& c : script_)
        if (c.hatchling >= options_.hatchlings)
            return invalid_argument(options_.input + ": hatchling " + std::to_string(c.hatchling) +
                                    " of " + std::to_string(options_.hatchlings));
    return {};
}

Status Game::frame() {
    const Input input = host_->poll();
    HEARTH_TRY(handle_input(input));
    HEARTH_TRY(run_script());
    if (is_over_) return {};
    const bool has_picture = this->has_picture();
    HEARTH_ASSIGN(const auto frame, host_->begin_frame(has_picture));
    if (!frame) return {};  // minimized
    last_serial_ = frame->serial;
    take_times();
    demo::FrameLoop& loop = host_->loop();
    loop.begin_span(*frame, frame->cmd, kFrame);
    loop.begin_span(*frame, frame->compute_cmd, kMind);
    play_->look(shows_thoughts_ || shows_hopes_ || shows_seen_);
    HEARTH_TRY(play_->record(*frame));
    tell_panel();
    if (then_) HEARTH_TRY(play_then(*frame));
    loop.end_span(*frame, frame->compute_cmd, kMind);
    if (has_picture) HEARTH_TRY(draw(*frame, input));
    loop.end_span(*frame, frame->cmd, kFrame);
    HEARTH_TRY(host_->end_frame(*frame));
    step();
    return {};
}

void Game::take_times() {
    const auto before = std::exchange(last_frame_, std::chrono::steady_clock::now());
    period_ms_.add(std::chrono::duration<double, std::milli>(last_frame_ - before).count());
    for (const demo::SpanTime& time : host_->loop().span_times()) {
        (time.span == kMind ? mind_ms_ : frame_ms_).add(time.milliseconds);
        if (time.span != kMind) continue;
        mind_us_ = 1e3 * time.milliseconds;
        // Of about a second, as in the panel of agents.
        constexpr double kWeight = 1.0 / kFramesPerSecond;
        hud_.mind_us =
            hud_.mind_us < 0 ? mind_us_ : hud_.mind_us + kWeight * (mind_us_ - hud_.mind_us);
    }
    const uint64_t over = play_->status().update_frames_over_budget;
    if (over > learn_frames_over_ && over_budget_.size() < kMostNamed)
        over_budget_.push_back(fmt::format("{} ({:.0f} us)", last_serial_, mind_us_));
    learn_frames_over_ = over;
}

std::string Game::costs() const {
    std::string text;
    const auto line = [&](const char* name, const demo::Cost& cost) {
        if (cost.count() < 2) return;
        text += fmt::format("{:<34}{:9.3f}{:9.3f}{:9.3f}{:9.3f}\n", name, cost.quantile(0.5),
                            cost.quantile(0.99), cost.quantile(0.999), cost.quantile(1));
    };
    text += fmt::format("{:<34}{:>9}{:>9}{:>9}{:>9}\n", "milliseconds a frame", "median", "99 %",
                        "99.9 %", "worst");
    line("GPU: deciding and learning", mind_ms_);
    line("GPU: all", frame_ms_);
    line("clock: from frame to frame", period_ms_);
    const agents::AgentsStatus status = play_->status();
    if (std::isfinite(hud_.budget_us) && mind_ms_.count() > 0)
        text += fmt::format("{:<34}{:8.3f} % of frames ({} of {} in which they learned)\n",
                            "GPU: learning above its budget",
                            100 * static_cast<double>(status.update_frames_over_budget) /
                                static_cast<double>(mind_ms_.count()),
                            status.update_frames_over_budget, status.update_frames);
    if (!over_budget_.empty())
        text += fmt::format("{:<34}{}\n", "  noticed in frames", fmt::join(over_budget_, ", "));
    const demo::Guest& guest = play_->mind().guest();
    text += fmt::format("{:<34}{:>9} CPU, {} GPU\n", "allocations while recording",
                        guest.frame_path_cpu_allocations(), guest.frame_path_device_allocations());
    return text;
}

/// An ember chimes, by who eats it; frost rustles.
void Game::listen() {
    constexpr float kScale[] = {1.0f, 1.125f, 1.25f, 1.5f, 1.6667f};
    std::vector<demo::Note> notes;
    for (const Event& event : play_->world().events()) {
        const uint32_t who = event.hatchling;
        const float hertz = (who / 5 % 2 == 0 ? 523.0f : 1046.0f) * kScale[who % 5];
        if (event.kind == Event::Kind::kEmber)
            notes.push_back({demo::Timbre::kChime, 0, 0.5f, hertz, 1, 0.12f});
        else
            notes.push_back({demo::Timbre::kRustle, 0, 0.25f, 2600, 1, 0.16f});
        if (notes.size() == 3) break;
    }
    sound_.play(notes);
}

void Game::step() {
    const bool is_bar = play_->step();
    if (then_) (void)then_->step();
    sparks_.add(play_->world());
    listen();
    if (is_bar) {
        log_bar();
        if (!options_.save.empty()) play_->save();
    }
    if (auto game = play_->take_saved()) save(std::move(*game));
}

void Game::save(std::vector<std::byte> game) {
    host_->files().write(
        options_.save,
        [kept = std::move(game)]() -> Result<std::vector<std::byte>> { return kept; });
}

void Game::log_bar() {
    const Progress::Bar& bar = play_->progress().bars().back();
    const agents::AgentsStatus& s = play_->status();
    constexpr const char* kMoods[] = {"watching", "learning", "stuck", "degraded"};
    const char* const mood = kMoods[static_cast<size_t>(play_->progress().mood())];
    const auto seconds = static_cast<unsigned>(played() / kFramesPerSecond);
    if (log_.empty()) {
        const Json run = {
            {"type", "run"}, {"program", "hatchlings"}, {"at", "seconds"}, {"seed", options_.seed}};
        log_ += run.dump() + '\n';
    }
    for (const auto& marks = play_->progress().marks(); marks_logged_ < marks.size();
         ++marks_logged_) {
        const Progress::Mark& mark = marks[marks_logged_];
        const Json event = {{"type", "event"},
                            {"at", static_cast<double>(mark.frame) / kFramesPerSecond},
                            {"text", mark.text}};
        log_ += event.dump() + '\n';
    }
    const Json line = {{"type", "bar"},
                       {"at", seconds},
                       {"embers", bar.embers},
                       {"motes", bar.motes},
                       {"score", bar.score},
                       {"mood", mood},
                       {"kl", s[agents::AgentMetric::kKl]},
                       {"entropy", s[agents::AgentMetric::kEntropy]},
                       {"explained_variance", s[agents::AgentMetric::kExplainedVariance]},
                       {"samples", s[agents::Counter::kSamples]},
                       {"learn_steps", s[agents::Counter::kGradientSteps]},
                       {"publications", s[agents::Counter::kPublications]},
                       {"refused", s[agents::Counter::kSamplesRejected]}};
    log_ += line.dump() + '\n';
    keep_text(options_.out, log_);
    if (host_->is_headless())
        std::fprintf(stderr, "%4u s  %5.1f embers a minute, %4.1f motes  %s\n", seconds,
                     static_cast<double>(bar.embers), static_cast<double>(bar.motes), mood);
}

// --- Player commands
// -------------------------------------------------------------------------------

Status Game::run_script() {
    for (; script_at_ < script_.size() && script_[script_at_].frame <= played(); ++script_at_)
        HEARTH_TRY(obey(script_[script_at_]));
    return {};
}

Status Game::obey(const Command& command) {
    if (command.verb == Verb::kPraise || command.verb == Verb::kScold)
        sparks_.add(command.verb == Verb::kPraise ? Sparks::Kind::kPraise : Sparks::Kind::kScold,
                    play_->world().hatchlings()[command.hatchling].position, played());
    return play_->obey(command);
}

Status Game::toggle_then() {
    then_since_ = 0;
    if (then_) {
        HEARTH_TRY(host_->loop().wait());
        then_.reset();
        return {};
    }
    HEARTH_ASSIGN(then_, Play::create(host_->mind_device(), {.seed = options_.seed,
                                                             .hatchlings = options_.hatchlings,
                                                             .learns = false}));
    return {};
}

/// Restarts the replay at intervals from the current world, with the oldest snapshot's brain.
Status Game::play_then(const Frame& frame) {
    if (then_since_ == 0 || played() >= then_since_ + kThenFrames) {
        const uint32_t kept = play_->mind().agents().snapshot_count();
        HEARTH_TRY(then_->replay(*play_, kept > 0 ? kept - 1 : HEARTH_AGENTS_INITIAL_WEIGHTS));
        then_since_ = std::max<uint64_t>(played(), 1);
    }
    return then_->record(frame);
}

void Game::pick(const Input& input) {
    if (!input.is_mouse_down || ImGui::GetIO().WantCaptureMouse) return;
    const VkExtent2D extent = host_->presenter().extent();
    const Layout layout = Layout::of(extent, host_->ui());
    const glm::vec2 middle(0.5f * static_cast<float>(extent.width),
                           0.5f * static_cast<float>(extent.height));
    const glm::vec2 pixels = input.mouse - middle;
    const glm::vec2 at =
        layout.world.center + layout.world.units_per_pixel * glm::vec2(pixels.x, -pixels.y);
    float nearest = kPickRadius;
    const auto hatchlings = play_->world().hatchlings();
    for (uint32_t i = 0; i < hatchlings.size(); ++i) {
        const float distance = glm::distance(hatchlings[i].position, at);
        if (distance >= nearest) continue;
        nearest = distance;
        selected_ = i;
    }
}

Status Game::handle_input(const Input& input) {
    is_over_ = input.wants_to_quit || input.was_pressed("escape");
    pick(input);
    struct Key {
        const char* name;
        Verb verb;
        glm::vec2 value;
    };
    const Rules& rules = play_->world().rules();
    const float windy = glm::length(rules.wind) > 0 ? 0.0f : 3.0f;
    const Key keys[] = {
        {"h", Verb::kHotNight, {}},
        {"w", Verb::kWind, {windy, 0.0f}},
        {"m", Verb::kFrost, {static_cast<float>(rules.mote_count + 4), 0}},
        {"p", Verb::kPenalty, {0.5f * rules.frost_reward, 0}},
        {"n", Verb::kAdapt, {0.6f, 0}},
        {"f", Verb::kFreeze, {}},
        {"r", Verb::kRewind, {static_cast<float>(hud_.rewinds_to), 0}},
        {"x", Verb::kForget, {}},
        {"+", Verb::kPraise, {}},
        {"=", Verb::kPraise, {}},
        {"-", Verb::kScold, {}},
        {"space", play_->possessed() ? Verb::kRelease : Verb::kPossess, {}},
    };
    for (const Key& key : keys)
        if (input.was_pressed(key.name))
            HEARTH_TRY(obey({played(), key.verb, selected_, key.value}));
    if (input.was_pressed("t")) shows_thoughts_ = !shows_thoughts_;
    if (input.was_pressed("b")) shows_panel_ = !shows_panel_;
    if (input.was_pressed("e")) shows_seen_ = !shows_seen_;
    if (input.was_pressed("v")) shows_hopes_ = !shows_hopes_;
    if (input.was_pressed("g")) HEARTH_TRY(toggle_then());
    const uint32_t kept = play_->mind().agents().snapshot_count();
    if (input.was_pressed("[") && hud_.rewinds_to + 1 < kept) ++hud_.rewinds_to;
    if (input.was_pressed("]") && hud_.rewinds_to > 0) --hud_.rewinds_to;
    const auto axis = [&](const char* less, const char* more) {
        return (input.is_held(more) ? 1.0f : 0.0f) - (input.is_held(less) ? 1.0f : 0.0f);
    };
    if (script_.empty())
        play_->steer(glm::vec2(axis("left", "right"), axis("down", "up")) + input.stick);
    return {};
}

// --- The picture
// ----------------------------------------------------------------------------------

Status Game::draw(const Frame& frame, const Input& input) {
    const VkExtent2D extent = host_->presenter().extent();
    const Layout layout = Layout::of(extent, host_->ui());
    demo::Renderer& renderer = host_->renderer();
    if (backdrop_.extent().width != extent.width || backdrop_.extent().height != extent.height) {
        HEARTH_TRY(host_->loop().wait());
        HEARTH_TRY(renderer.bake(backdrop_, clearing_, layout.world, extent, kNight));
    }
    host_->begin_picture(frame, input, kNight);
    renderer.draw(backdrop_);
    Scene scene{.world = play_->world(), .sparks = sparks_};
    if (then_) scene.then = &then_->world();
    if (shows_thoughts_) scene.thoughts = play_->insight().thoughts();
    if (shows_hopes_) scene.hopes = play_->insight().hopes();
    scene.possessed = play_->possessed();
    if (hud_.has_keys || shows_seen_) scene.selected = selected_;
    picture_->draw(scene, layout.world);
    hud_.shows_thoughts = shows_thoughts_;
    hud_.shows_hopes = shows_hopes_;
    hud_.shows_then = then_ != nullptr;
    draw_hud(hud_, layout, host_->ui(), extent);
    if (shows_seen_) draw_seen(layout, extent);
    if (shows_panel_) panel_->draw("brain");
    HEARTH_TRY(host_->end_picture());
    return capture(frame, input);
}

// --- The end -------------------------------------------------------------------------------------

/// Saves the brain first: it matters most.
Status Game::finish() {
    Status status = host_->loop().wait();
    play_->stop_looking();
    if (status.ok() && last_serial_ > 0) {
        if (!options_.save.empty()) {
            auto game = play_->save_now(last_serial_);
            status = game.status();
            if (game.ok()) save(std::move(game).value());
        }
        auto hash = play_->mind().weights_hash(last_serial_);
        result_.has_weights = hash.ok();
        if (hash.ok()) result_.weights_hash = *hash;
        if (status.ok()) status = hash.status();
    }
    result_.state_hash = play_->world().state_hash();
    const Json end = {
        {"type", "end"},
        {"at", static_cast<double>(played()) / kFramesPerSecond},
        {"seed", options_.seed},
        {"frames", play_->world().frame()},
        {"interrupted", is_interrupted()},
        {"gain", play_->progress().gain()},
        {"frame_path_cpu_allocations", play_->mind().guest().frame_path_cpu_allocations()},
        {"state_hash", fmt::format("{:016x}", result_.state_hash)},
        {"weights_hash", fmt::format("{:016x}", result_.weights_hash)}};
    log_ += end.dump() + '\n';
    keep_text(options_.out, log_);
    return status;
}

std::string Game::report() const {
    std::string text = fmt::format(
        "\n{} hatchlings, seed {}, {:.0f} s; {}\n", options_.hatchlings, options_.seed,
        static_cast<double>(play_->world().frame()) / kFramesPerSecond, play_->mind().summary());
    const auto& bars = play_->progress().bars();
    if (!bars.empty())
        text += fmt::format("embers a minute, each: {:.1f} in the first 15 s, {:.1f} in the last\n",
                            bars.front().embers, bars.back().embers);
    text += costs();
    text += fmt::format("hashes: world {:016x}", result_.state_hash);
    if (result_.has_weights) text += fmt::format(", weights {:016x}", result_.weights_hash);
    return text + "\n";
}

int run(int argc, char** argv) {
    GameOptions options;
    CLI::App app("Hatchlings: creatures with one brain that learn to forage while you watch");
    demo::add_options(app, options, "Go on from this brain",
                      "Keep the brain in this file, every 15 seconds");
    app.add_option("--hatchlings", options.hatchlings, "How many there are")
        ->check(programs::whole_number(1, 1024));
    app.add_option("--budget", options.budget_us,
                   "GPU microseconds a frame for learning (1000, or no limit without a window)")
        ->check(programs::finite_number(0, kNoLimit));
    app.add_option("--penalty", options.penalty, "Reward for touching a frost mote (-0.1)")
        ->check(programs::finite_number(-100, 0));
    app.add_option(
           "--show", options.show,
           "Show also, comma-separated: thoughts (T), hopes (V), then (G): how they were, beside "
           "them; panel (B); seen (E): what one of them sees")
        ->allow_extra_args(false)  // one list for each --show: the next word is another option
        ->delimiter(',')
        ->check(CLI::IsMember({kThoughts, kHopes, kThen, kPanel, kSeen}));
    app.add_option("--motes", options.motes, "How many frost motes there are")
        ->check(programs::whole_number(0, kMaxMotes));
    app.add_option(
        "--weights", options.weights,
        "Begin with what they learned before: 'shipped', or weights.safetensors of hearth train");
    CLI11_PARSE(app, argc, argv);
    return demo::play(kInfo.name, [&] { return Game::create(options); });
}

}  // namespace
}  // namespace hearth::hatchlings

int main(int argc, char** argv) {
    return hearth::programs::run_program("hatchlings",
                                         [&] { return hearth::hatchlings::run(argc, argv); });
}
