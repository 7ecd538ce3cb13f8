// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hatchlings: a group of newly hatched creatures that share one brain and learn to forage, by PPO, while
// one watches, praises, scolds, and changes what nature is like.
//
// A frame: the actions of the frame before last have arrived and go to the world; observations and
// rewards are written; deciding and, as far as the budget goes, learning are recorded into the same
// command buffer as the picture; the world takes its step of 1/60 s.  Nothing waits for anything.

#include "brain.hpp"
#include "hatchlings/player.hpp"
#include "hatchlings/progress.hpp"
#include "host/game.hpp"
#include "hud.hpp"
#include "picture.hpp"

#include <hearth/brain_file.hpp>

#include <fmt/format.h>
#include <glm/geometric.hpp>
#include <nlohmann/json.hpp>
#include <programs/arguments.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

namespace hearth::hatchlings {
namespace {

using demo::Frame;
using demo::Input;
using Json = nlohmann::ordered_json;

constexpr uint64_t kKeepFrames = uint64_t{15} * kFramesPerSecond;  ///< from snapshot to snapshot
constexpr uint64_t kMostScriptBytes = 1 << 20, kMostBrainBytes = 64 << 20;
constexpr demo::Shot kShots[] = {{1, "1_hatched.png"},
                                 {6, "2_learning.png"},
                                 {12, "3_later.png"},
                                 {demo::Shot::kEnd, "4_end.png"}};
constexpr float kJudgement = 1.0f;   // what a praise is worth, in embers
constexpr float kPickRadius = 0.9f;  // metres around a click
constexpr double kNoLimit = 1e9;     // microseconds: all that is due, in whatever time

const demo::GameInfo kInfo = {
    .name = "hatchlings",
    .title = "Hatchlings",
    .headless_frames = uint64_t{180} * kFramesPerSecond,
    .picture_folder = "hatchlings_pictures",
    .shots = kShots,
};

struct GameOptions : demo::GameOptions {
    uint32_t hatchlings = 16;
    double budget_us = -1;  ///< for learning in a frame; negative: by itself
    float penalty = -0.3f;
    uint32_t motes = 8;
};

struct Outcome {
    uint64_t state_hash = 0, weights_hash = 0;
    bool has_weights = false;
};

class Game final : public demo::Game {
  public:
    static Result<std::unique_ptr<demo::Game>> create(const GameOptions& options);
    std::string report() const override;
    /// Three times as many embers as at first, or more.
    bool has_passed() const override { return !options_.learn || progress_.gain() >= 3; }

  private:
    explicit Game(const GameOptions& options)
        : demo::Game(kInfo),
          options_(options),
          world_({.seed = options.seed,
                  .hatchling_count = options.hatchlings,
                  .rules = {.frost_reward = options.penalty, .mote_count = options.motes}}) {}

    const demo::GameOptions& options() const override { return options_; }
    uint64_t played() const override { return world_.frame(); }
    Status frame() override;
    Status finish() override;
    Status load();
    Status think(const Frame& frame);
    Status draw(const Frame& frame, const Input& input);
    void handle_input(const Input& input);
    void run_script();
    void obey(const Command& command);
    void judge(uint32_t hatchling, bool is_praise);
    void pick(const Input& input);
    void step_world();
    void log_bar();

    GameOptions options_;
    World world_;
    Progress progress_;
    std::unique_ptr<Brain> brain_;
    std::vector<Command> script_;
    size_t script_at_ = 0;
    std::optional<uint32_t> possessed_;
    glm::vec2 steering_ = {0, 0};
    uint32_t selected_ = 0;
    bool shows_thoughts_ = false;
    std::vector<Verb> wishes_;  ///< what is to be recorded in the next frame
    float adapt_ = 0;
    demo::StaticMesh clearing_;
    demo::Backdrop backdrop_;
    std::unique_ptr<demo::Canvas> canvas_;
    Sparks sparks_;
    HudState hud_;
    Status problem_;
    std::string log_;
    Outcome result_;
    uint64_t last_serial_ = 0, publications_ = 0;
};

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    GameOptions& used = self->options_;
    HEARTH_TRY(self->open(used, {{"--save", &used.save}, {"--out", &used.out}}));
    // Without a picture to keep fluent all that is due is learned at once, which repeats exactly.
    if (used.budget_us < 0) used.budget_us = self->host_->is_headless() ? kNoLimit : 1000;
    HEARTH_TRY(self->load());
    HEARTH_ASSIGN(self->brain_, Brain::create(self->host_->device(), used.seed, used.hatchlings));
    if (!used.load.empty()) {
        HEARTH_ASSIGN(std::vector<std::byte> bytes, read_whole_file(used.load, kMostBrainBytes));
        HEARTH_TRY(self->brain_->load(std::move(bytes)).in(used.load));
    }
    self->canvas_ = std::make_unique<demo::Canvas>(self->host_->ui().white_uv());
    draw_clearing(*self->canvas_);
    HEARTH_ASSIGN(self->clearing_, self->host_->renderer().upload(*self->canvas_));
    self->hud_.world = &self->world_;
    self->hud_.progress = &self->progress_;
    self->hud_.budget_us = used.budget_us < kNoLimit ? used.budget_us : HUGE_VAL;
    self->hud_.is_frozen = !used.learn;
    self->hud_.has_keys = !self->is_headless();
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::load() {
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
    handle_input(input);
    run_script();
    if (is_over_) return {};
    const bool has_picture = this->has_picture();
    HEARTH_ASSIGN(const auto frame, host_->begin_frame(has_picture));
    if (!frame) return {};  // minimized
    last_serial_ = frame->serial;
    HEARTH_TRY(think(*frame));
    if (has_picture) HEARTH_TRY(draw(*frame, input));
    HEARTH_TRY(host_->end_frame(*frame));
    step_world();
    return problem_;
}

/// Everything the brain does on the GPU.
Status Game::think(const Frame& frame) {
    HEARTH_TRY(brain_->begin_frame(frame, world_));
    if (possessed_)
        world_.set_thrust(*possessed_,
                          script_.empty() ? steering_ : forage(world_.observe(*possessed_)));
    hud_.status = brain_->status();
    const uint64_t publications = hud_.status[agents::Counter::kPublications];
    if (publications != publications_) hud_.published = world_.frame();
    publications_ = publications;

    for (const Verb wish : wishes_) {
        if (wish == Verb::kAdapt) HEARTH_TRY(brain_->adapt(adapt_));
        if (wish == Verb::kRewind) HEARTH_TRY(brain_->record_rewind(frame));
        if (wish == Verb::kForget) HEARTH_TRY(brain_->record_forget(frame));
    }
    wishes_.clear();
    HEARTH_TRY(brain_->record(frame, world_, hud_.is_frozen ? 0 : options_.budget_us, true));
    if (world_.frame() > 0 && world_.frame() % kKeepFrames == 0)
        HEARTH_TRY(brain_->record_keep(frame));
    return {};
}

void Game::step_world() {
    world_.step();
    sparks_.add(world_);
    if (progress_.add(world_)) log_bar();
}

void Game::log_bar() {
    const Progress::Bar& bar = progress_.bars().back();
    const agents::AgentsStatus& s = hud_.status;
    constexpr const char* kMoods[] = {"watching", "learning", "stuck", "degraded"};
    const char* const mood = kMoods[static_cast<size_t>(progress_.mood())];
    const auto seconds = static_cast<unsigned>(world_.frame() / kFramesPerSecond);
    const Json line = {{"type", "bar"},
                       {"seconds", seconds},
                       {"embers", bar.embers},
                       {"motes", bar.motes},
                       {"score", bar.score},
                       {"mood", mood},
                       {"kl", s[agents::Diagnostic::kKl]},
                       {"entropy", s[agents::Diagnostic::kEntropy]},
                       {"explained_variance", s[agents::Diagnostic::kExplainedVariance]},
                       {"samples", s[agents::Counter::kSamples]},
                       {"learn_steps", s[agents::Counter::kLearnSteps]},
                       {"publications", s[agents::Counter::kPublications]},
                       {"refused", s[agents::Counter::kSamplesRefused]}};
    log_ += line.dump() + '\n';
    keep_text(options_.out, log_);
    if (host_->is_headless())
        std::fprintf(stderr, "%4u s  %5.1f embers a minute, %4.1f motes  %s\n", seconds,
                     static_cast<double>(bar.embers), static_cast<double>(bar.motes), mood);
    if (options_.save.empty() || brain_->kept_count() == 0) return;
    auto bytes = brain_->encode();
    if (!bytes.ok()) {
        problem_ = bytes.status();
        return;
    }
    host_->files().write(
        options_.save,
        [kept = std::move(bytes).value()]() -> Result<std::vector<std::byte>> { return kept; });
}

// --- What the player does -------------------------------------------------------------------------

void Game::run_script() {
    for (; script_at_ < script_.size() && script_[script_at_].frame <= world_.frame(); ++script_at_)
        obey(script_[script_at_]);
}

void Game::judge(uint32_t hatchling, bool is_praise) {
    if (Status s = brain_->judge(hatchling, is_praise ? kJudgement : -kJudgement); !s.ok())
        problem_ = std::move(s);
    sparks_.add(is_praise ? Sparks::Kind::kPraise : Sparks::Kind::kScold,
                world_.hatchlings()[hatchling].position, world_.frame());
}

void Game::obey(const Command& command) {
    Rules rules = world_.rules();
    const auto mark = [&](const char* text) { progress_.mark(world_.frame(), text); };
    switch (command.verb) {
        case Verb::kPossess:
            possessed_ = command.hatchling;
            mark("you");
            break;
        case Verb::kRelease:
            possessed_.reset();
            break;
        case Verb::kPraise:
        case Verb::kScold:
            judge(command.hatchling, command.verb == Verb::kPraise);
            break;
        case Verb::kHotNight:
            rules.is_hot_night = !rules.is_hot_night;
            mark(rules.is_hot_night ? "hot" : "cold");
            break;
        case Verb::kWind:
            rules.wind = command.value;
            mark("wind");
            break;
        case Verb::kFrost:
            rules.mote_count = static_cast<uint32_t>(
                std::clamp(command.value.x, 0.0f, static_cast<float>(kMaxMotes)));
            mark("frost");
            break;
        case Verb::kPenalty:
            rules.frost_reward = command.value.x;
            mark("soft");
            break;
        case Verb::kFreeze:
            hud_.is_frozen = !hud_.is_frozen;
            mark(hud_.is_frozen ? "freeze" : "thaw");
            break;
        case Verb::kAdapt:
            adapt_ = std::clamp(command.value.x, 0.0f, 1.0f);
            wishes_.push_back(command.verb);
            mark("adapt");
            break;
        case Verb::kRewind:
        case Verb::kForget:
            wishes_.push_back(command.verb);
            mark(command.verb == Verb::kRewind ? "rewind" : "forget");
            break;
    }
    world_.set_rules(rules);
}

void Game::pick(const Input& input) {
    if (!input.is_mouse_down) return;
    const VkExtent2D extent = host_->presenter().extent();
    const Layout layout = Layout::of(extent, host_->ui());
    const glm::vec2 middle(0.5f * static_cast<float>(extent.width),
                           0.5f * static_cast<float>(extent.height));
    const glm::vec2 pixels = input.mouse - middle;
    const glm::vec2 at =
        layout.world.center + layout.world.units_per_pixel * glm::vec2(pixels.x, -pixels.y);
    float nearest = kPickRadius;
    for (uint32_t i = 0; i < world_.hatchlings().size(); ++i) {
        const float distance = glm::distance(world_.hatchlings()[i].position, at);
        if (distance >= nearest) continue;
        nearest = distance;
        selected_ = i;
    }
}

void Game::handle_input(const Input& input) {
    is_over_ = input.wants_to_quit || input.was_pressed("escape");
    pick(input);
    struct Key {
        const char* name;
        Verb verb;
        glm::vec2 value;
    };
    const float windy = glm::length(world_.rules().wind) > 0 ? 0.0f : 3.0f;
    const Key keys[] = {
        {"h", Verb::kHotNight, {}},
        {"w", Verb::kWind, {windy, 0.0f}},
        {"m", Verb::kFrost, {static_cast<float>(world_.rules().mote_count + 4), 0}},
        {"p", Verb::kPenalty, {0.5f * world_.rules().frost_reward, 0}},
        {"n", Verb::kAdapt, {0.6f, 0}},
        {"f", Verb::kFreeze, {}},
        {"r", Verb::kRewind, {}},
        {"x", Verb::kForget, {}},
        {"+", Verb::kPraise, {}},
        {"=", Verb::kPraise, {}},
        {"-", Verb::kScold, {}},
        {"space", possessed_ ? Verb::kRelease : Verb::kPossess, {}},
    };
    for (const Key& key : keys)
        if (input.was_pressed(key.name)) obey({world_.frame(), key.verb, selected_, key.value});
    if (input.was_pressed("t")) shows_thoughts_ = !shows_thoughts_;
    const auto axis = [&](const char* less, const char* more) {
        return (input.is_held(more) ? 1.0f : 0.0f) - (input.is_held(less) ? 1.0f : 0.0f);
    };
    steering_ = glm::vec2(axis("left", "right"), axis("down", "up")) + input.stick;
}

// --- The picture ----------------------------------------------------------------------------------

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
    canvas_->clear();
    draw_lights(*canvas_, world_);
    // From the far ones to the near ones, as they stand.
    std::vector<uint32_t> order(world_.hatchlings().size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](uint32_t a, uint32_t b) {
        return world_.hatchlings()[a].position.y > world_.hatchlings()[b].position.y;
    });
    for (const uint32_t i : order) {
        CreatureLook look;
        const Hatchling& h = world_.hatchlings()[i];
        if (shows_thoughts_ || host_->is_headless()) look.thought = Thought{h.thrust, 0, 0};
        look.is_possessed = possessed_ == i;
        look.is_selected = hud_.has_keys && selected_ == i;
        draw_hatchling(*canvas_, h, i, world_.frame(), look);
    }
    sparks_.draw(*canvas_, world_.frame());
    renderer.draw(*canvas_, layout.world);
    draw_hud(hud_, layout, host_->ui(), extent);
    host_->end_picture();
    const std::string path = picture_path(input);
    if (path.empty()) return {};
    return host_->loop().record_screenshot(frame, host_->presenter(), path);
}

// --- The end --------------------------------------------------------------------------------------

/// Keeps all that there is to keep; the first thing that went wrong ends none of the others.
Status Game::finish() {
    Status status = host_->loop().wait();
    if (status.ok() && last_serial_ > 0) {
        auto hash = brain_->weights_hash(last_serial_);
        if (hash.ok()) {
            result_.weights_hash = *hash;
            result_.has_weights = true;
        } else {
            status = hash.status();
        }
    }
    result_.state_hash = world_.state_hash();
    const Json end = {{"type", "end"},
                      {"seed", options_.seed},
                      {"frames", world_.frame()},
                      {"interrupted", is_interrupted()},
                      {"gain", progress_.gain()},
                      {"frame_path_cpu_allocations", brain_->guest().frame_path_cpu_allocations()},
                      {"state_hash", fmt::format("{:016x}", result_.state_hash)},
                      {"weights_hash", fmt::format("{:016x}", result_.weights_hash)}};
    log_ += end.dump() + '\n';
    keep_text(options_.out, log_);
    return status;
}

std::string Game::report() const {
    std::string text =
        fmt::format("\n{} hatchlings, seed {}, {:.0f} s; {}\n", options_.hatchlings, options_.seed,
                    static_cast<double>(world_.frame()) / kFramesPerSecond, brain_->summary());
    const auto& bars = progress_.bars();
    if (!bars.empty())
        text += fmt::format("embers a minute, each: {:.1f} in the first 15 s, {:.1f} in the last\n",
                            bars.front().embers, bars.back().embers);
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
    app.add_option("--penalty", options.penalty, "Reward for touching a frost mote (-0.3)")
        ->check(programs::finite_number(-100, 0));
    app.add_option("--motes", options.motes, "How many frost motes there are")
        ->check(programs::whole_number(0, kMaxMotes));
    CLI11_PARSE(app, argc, argv);
    return demo::play(kInfo.name, [&] { return Game::create(options); });
}

}  // namespace
}  // namespace hearth::hatchlings

int main(int argc, char** argv) {
    return hearth::programs::run_program("hatchlings",
                                         [&] { return hearth::hatchlings::run(argc, argv); });
}
