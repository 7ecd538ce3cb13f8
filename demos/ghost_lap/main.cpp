// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ghost Lap: drive a lap, and a rival learns your driving while you do it.
//
// One device, one command buffer a frame: the game records its picture, the ghost's decision
// ("act") and one step of its learning ("learn") into it; or, with --async-compute, the latter two
// into one for a compute queue.  The decision comes back two frames later, by polling; nothing in
// the frame waits for it.

#include "brain.hpp"
#include "cars.hpp"
#include "ghost_lap/driver.hpp"
#include "ghost_lap/input_script.hpp"
#include "host/game.hpp"
#include "hud.hpp"
#include "person.hpp"
#include "report.hpp"
#include "scenery.hpp"

#include <hearth/file.hpp>

#include <programs/streams.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

namespace hearth::ghost_lap {
namespace {

using demo::Frame;
using demo::FrameLoop;
using demo::Input;

const char* const kCurvePicture = "learning_curve.png";
constexpr demo::Shot kShots[] = {{2, "1_watching.png"},
                                 {6, "2_first_ghost_lap.png"},
                                 {12, "3_learning.png"},
                                 {demo::Shot::kEnd, "4_end.png"}};
constexpr uint64_t kMostInputBytes = uint64_t{64} << 20;  // of a brain or a drive: kilobytes do

struct GameOptions : demo::GameOptions {
    std::string driver;  ///< a scripted style; empty: a person where there is a window
    std::string record;  ///< where to write the drive
};

/// kFrame: all that the queue that draws does for a frame.
enum Span : uint32_t { kRender, kAct, kLearn, kFrame, kSpanCount };

const demo::GameInfo kInfo = {
    .name = "ghost_lap",
    .title = "Ghost Lap",
    .span_count = kSpanCount,
    .headless_frames = 6000,  // a lap to learn from, three and more to show it
    .picture_folder = "ghost_lap_pictures",
    .shots = kShots,
    .other_pictures = std::span(&kCurvePicture, 1),
};

class Game final : public demo::Game {
  public:
    static Result<std::unique_ptr<demo::Game>> create(const GameOptions& options);
    std::string report() const override;
    bool has_passed() const override { return result_.has_passed(); }

  private:
    explicit Game(const GameOptions& options)
        : demo::Game(kInfo),
          options_(options),
          track_(Track::circuit()),
          race_(track_, {.seed = options.seed,
                         .action_latency_frames = FrameLoop::kFramesInFlight,
                         .reaction_frames = FrameLoop::kFramesInFlight}) {}

    const demo::GameOptions& options() const override { return options_; }
    uint64_t played() const override { return race_.frame(); }
    Status frame() override;
    Status finish() override;
    Status choose_driver();
    Status think(const Frame& frame);
    Status draw(const Frame& frame, const Input& input);
    void drive(const Input& input);
    void handle_keys(const Input& input);
    void select_style(std::string_view name);
    void tell_laps();
    void take_times();
    Status finish_on_device();
    Status load_brain();
    void keep_brain(const Frame& frame);
    void save_brain(Brain::Snapshot snapshot);
    double since_last_frame_ms();

    GameOptions options_;
    Track track_;
    Race race_;
    std::unique_ptr<Brain> brain_;
    std::unique_ptr<Driver> driver_;
    Person* person_ = nullptr;  // driver_, if a person drives
    demo::StaticMesh scenery_;
    demo::Backdrop backdrop_;
    std::unique_ptr<demo::Canvas> canvas_;
    Marks marks_;
    HudState hud_;
    RunLog log_;
    InputScript recording_;
    RunResult result_;
    uint64_t last_serial_ = 0;
    std::chrono::steady_clock::time_point last_frame_ = std::chrono::steady_clock::now();
    uint64_t submitted_frames_ = 0;
    size_t saved_laps_ = 0;
    uint64_t failed_snapshots_ = 0;
    size_t told_player_laps_ = 0;
    size_t told_ghost_laps_ = 0;
    bool is_close_up_ = false;
    bool is_reset_wanted_ = false;
    bool has_learned_ = false;  // in this frame
};

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    GameOptions& used = self->options_;
    HEARTH_TRY(self->open(
        used, {{"--save", &used.save}, {"--record", &used.record}, {"--out", &used.out}}));
    HEARTH_TRY(self->choose_driver());
    if (!used.out.empty()) HEARTH_TRY(write_file_atomically(used.out, std::string_view()));
    HEARTH_ASSIGN(self->brain_, Brain::create(self->host_->device(), options.seed));
    HEARTH_TRY(self->load_brain());

    self->canvas_ = std::make_unique<demo::Canvas>(self->host_->ui().white_uv());
    draw_scenery(*self->canvas_, self->track_);
    HEARTH_ASSIGN(self->scenery_, self->host_->renderer().upload(*self->canvas_));

    self->hud_.race = &self->race_;
    self->hud_.is_learning_wanted = options.learn;
    self->hud_.has_gpu_times = self->host_->device().timestamp_valid_bits() > 0;
    self->hud_.has_keys = !self->host_->is_headless();
    self->result_.device = self->host_->device().properties().deviceName;
    self->result_.presenter = self->host_->presenter().name();
    self->result_.program = self->brain_->summary();
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::choose_driver() {
    if (!options_.input.empty()) {
        HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                      read_whole_file(options_.input, kMostInputBytes));
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        auto script = parse_input_script(text);
        if (const auto* error = std::get_if<InputScriptError>(&script)) {
            return invalid_argument(options_.input + ": " + error->message);
        }
        driver_ = std::make_unique<ReplayDriver>(std::get<InputScript>(std::move(script)));
        hud_.driver = "replay";
        return {};
    }
    if (options_.driver.empty() && !host_->is_headless()) {
        select_style("");
        return {};
    }
    if (options_.driver.empty()) options_.driver = driving_styles().front().name;
    if (!find_driving_style(options_.driver)) {
        std::string known;
        for (const DrivingStyle& style : driving_styles()) {
            known += " " + std::string(style.name);
        }
        return not_found("driver '" + options_.driver + "': known are" + known);
    }
    select_style(options_.driver);
    return {};
}

/// Hands the player's car to a script, or with an empty name to the person.
void Game::select_style(std::string_view name) {
    person_ = nullptr;
    if (const DrivingStyle* style = find_driving_style(name)) {
        driver_ = std::make_unique<ScriptedDriver>(track_, *style, options_.seed);
        hud_.driver = style->name;
        return;
    }
    auto person = std::make_unique<Person>();
    person_ = person.get();
    driver_ = std::move(person);
    hud_.driver = "you";
}

Status Game::frame() {
    const Input input = host_->poll();
    handle_keys(input);
    if (is_over_) return {};
    const bool has_picture = this->has_picture();
    HEARTH_ASSIGN(const auto frame, host_->begin_frame(has_picture));
    if (!frame) return {};  // minimized
    last_serial_ = frame->serial;
    take_times();
    host_->loop().begin_span(*frame, frame->cmd, kFrame);
    HEARTH_TRY(think(*frame));
    if (has_picture) HEARTH_TRY(draw(*frame, input));
    host_->loop().end_span(*frame, frame->cmd, kFrame);
    HEARTH_TRY(host_->end_frame(*frame));
    ++submitted_frames_;
    result_.frame_period_ms.add(since_last_frame_ms());
    drive(input);
    return {};
}

/// Everything the ghost does on the GPU.
Status Game::think(const Frame& frame) {
    FrameLoop& loop = host_->loop();
    HEARTH_TRY(brain_->begin_frame(frame));
    if (const auto& decision = brain_->decision()) {
        race_.set_ghost_action(decision->race_frame, decision->action);
        hud_.ghost_action = clamp_action({decision->action[0], decision->action[1]});
    }
    if (const auto loss = brain_->loss()) hud_.losses.push_back(*loss);
    if (is_reset_wanted_) {
        HEARTH_TRY(brain_->record_reset(frame));
        hud_.losses.clear();
        is_reset_wanted_ = false;
    }

    loop.begin_span(frame, frame.compute_cmd, kAct);
    HEARTH_TRY(brain_->record_act(frame, race_.frame(), race_.ghost().observation()));
    loop.end_span(frame, frame.compute_cmd, kAct);

    has_learned_ = hud_.is_learning_wanted && race_.demonstrations().is_ready();
    if (has_learned_) {
        loop.begin_span(frame, frame.compute_cmd, kLearn);
        HEARTH_TRY(brain_->record_learn(frame, race_.demonstrations()));
        loop.end_span(frame, frame.compute_cmd, kLearn);
    }
    keep_brain(frame);
    hud_.is_learning = has_learned_;
    hud_.learning_steps = brain_->learning_steps();
    return {};
}

Status Game::load_brain() {
    if (options_.load.empty()) return {};
    HEARTH_ASSIGN(std::vector<std::byte> bytes, read_whole_file(options_.load, kMostInputBytes));
    return brain_->load(std::move(bytes)).in(options_.load);
}

/// Saves what the ghost has learned whenever the player ends a lap: the GPU copies it, two frames
/// later it is here, and another thread writes the file.  No frame waits for any of it, and the race
/// goes on if it fails.
void Game::keep_brain(const Frame& frame) {
    if (options_.save.empty()) return;
    if (const auto& snapshot = brain_->snapshot()) save_brain(*snapshot);
    if (race_.player().laps().size() == saved_laps_) return;
    saved_laps_ = race_.player().laps().size();
    if (const Status status = brain_->record_snapshot(frame); !status.ok()) {
        ++failed_snapshots_;
        std::fprintf(stderr, "ghost_lap: not saved after this lap: %s\n", status.message().c_str());
    }
}

void Game::save_brain(Brain::Snapshot snapshot) {
    // Shared, because a function object must be copyable and the snapshot need not be copied.
    const auto kept = std::make_shared<const Brain::Snapshot>(std::move(snapshot));
    host_->files().write(options_.save, [this, kept] { return brain_->encode(*kept); });
}

Status Game::draw(const Frame& frame, const Input& input) {
    const VkExtent2D extent = host_->presenter().extent();
    const Layout layout = Layout::of(extent, host_->ui());
    demo::Renderer& renderer = host_->renderer();
    demo::View world = layout.world;
    if (is_close_up_) {
        world.units_per_pixel *= 0.4f;
        world.center = race_.player().car().position +
                       glm::vec2(0.5f * layout.sidebar * world.units_per_pixel, 0.0f);
    }
    const bool fits =
        backdrop_.extent().width == extent.width && backdrop_.extent().height == extent.height;
    if (!is_close_up_ && !fits) {
        HEARTH_TRY(host_->loop().wait());
        HEARTH_TRY(renderer.bake(backdrop_, scenery_, world, extent, kGrass));
    }

    FrameLoop& loop = host_->loop();
    loop.begin_span(frame, frame.cmd, kRender);
    host_->begin_picture(frame, input, kGrass);
    if (is_close_up_) {
        renderer.draw(scenery_, world);
    } else {
        renderer.draw(backdrop_);
    }
    const auto last_line = [](const Racer& racer) {
        return racer.laps().empty() ? nullptr : &racer.laps().back().line;
    };
    canvas_->clear();
    marks_.draw(*canvas_, race_.frame());
    draw_lines(*canvas_, track_, last_line(race_.player()), last_line(race_.ghost()));
    if (race_.ghost_is_driving()) {
        draw_car(*canvas_, race_.ghost().car(), hud_.ghost_action, kGhostColor, true);
    }
    draw_car(*canvas_, race_.player().car(), hud_.player_action, kPlayerColor, false);
    renderer.draw(*canvas_, world);
    draw_hud(hud_, layout, host_->ui(), extent);
    host_->end_picture();
    loop.end_span(frame, frame.cmd, kRender);

    const std::string path = picture_path(input);
    if (path.empty()) return {};
    return loop.record_screenshot(frame, host_->presenter(), path);
}

void Game::drive(const Input& input) {
    if (person_) person_->set_input(input);
    const Action action = driver_->drive(race_.player(), race_.frame());
    const auto& entries = recording_.entries;
    if (!options_.record.empty() &&
        (entries.empty() || entries.back().action.steer != action.steer ||
         entries.back().action.throttle != action.throttle)) {
        recording_.entries.push_back({race_.frame(), action});
    }
    hud_.player_action = action;
    race_.step(action);
    marks_.add(race_.player(), action, race_.frame());
    if (race_.ghost_is_driving()) marks_.add(race_.ghost(), hud_.ghost_action, race_.frame());
    if (log_.add(race_, brain_->learning_steps(), hud_.losses.empty() ? 0.0f : hud_.losses.back()))
        keep_text(options_.out, log_.text());
    tell_laps();
}

/// Says each lap as it ends, for those who see no picture.
void Game::tell_laps() {
    if (!host_->is_headless()) return;
    const auto tell = [&](const char* who, const Racer& racer, size_t& told) {
        for (; told < racer.laps().size(); ++told) {
            const Lap& lap = racer.laps()[told];
            std::fprintf(stderr, "%6.1f s  %-6s lap %zu  %s%s\n",
                         static_cast<double>(race_.frame()) * static_cast<double>(kFrameSeconds),
                         who, told + 1, lap_time_text(lap.seconds).c_str(),
                         lap.is_completed() ? "" : "  failed: put back on the track");
        }
    };
    tell("player", race_.player(), told_player_laps_);
    tell("ghost", race_.ghost(), told_ghost_laps_);
}

void Game::handle_keys(const Input& input) {
    is_over_ = input.wants_to_quit || input.was_pressed("escape");
    if (input.was_pressed("f")) hud_.is_learning_wanted = !hud_.is_learning_wanted;
    if (input.was_pressed("r")) is_reset_wanted_ = true;
    if (input.was_pressed("c")) is_close_up_ = !is_close_up_;
    if (input.was_pressed("0")) select_style("");
    const auto styles = driving_styles();
    for (size_t i = 0; i < std::min<size_t>(styles.size(), 9); ++i) {
        if (input.was_pressed(std::to_string(i + 1).c_str())) select_style(styles[i].name);
    }
}

double Game::since_last_frame_ms() {
    const auto before = std::exchange(last_frame_, std::chrono::steady_clock::now());
    return std::chrono::duration<double, std::milli>(last_frame_ - before).count();
}

void Game::take_times() {
    constexpr double kKeep = 0.95;  // of a shown figure from frame to frame
    for (const demo::SpanTime& time : host_->loop().span_times()) {
        Cost* const costs[] = {&result_.render_ms, &result_.act_ms, &result_.learn_ms,
                               &result_.frame_ms};
        double* const shown[] = {&hud_.render_ms, &hud_.act_ms, &hud_.learn_ms, nullptr};
        Cost& cost = *costs[time.span];
        cost.add(time.milliseconds);
        if (shown[time.span] == nullptr) continue;
        double& value = *shown[time.span];
        value = cost.count() == 1 ? time.milliseconds
                                  : kKeep * value + (1.0 - kKeep) * time.milliseconds;
    }
}

/// Keeps all that there is to keep; the first thing that went wrong ends none of the others.
Status Game::finish() {
    RunResult& r = result_;
    r.driver = hud_.driver;
    r.seed = options_.seed;
    r.frames = race_.frame();
    r.is_headless = is_headless();
    r.is_interrupted = is_interrupted();
    r.has_async_compute = host_->device().has_async_compute();
    r.is_learning_on = options_.learn;
    r.table = race_.table();
    r.learning_steps = brain_->learning_steps();
    r.missed_actions = race_.missed_actions();
    r.state_hash = race_.state_hash();
    r.losses = hud_.losses;
    r.has_gpu_times = hud_.has_gpu_times;
    r.record_us = brain_->mean_record_us();
    Status status = submitted_frames_ > 0 ? finish_on_device() : Status();
    r.cpu_allocations = brain_->guest().frame_path_cpu_allocations();
    r.device_allocations = brain_->guest().frame_path_device_allocations();

    log_.finish(r);
    keep_text(options_.out, log_.text());
    if (submitted_frames_ > 0) keep_text(options_.record, write_input_script(recording_));
    r.is_validated = host_->instance().is_validating();
    return status;
}

std::string Game::report() const {
    RunResult r = result_;
    r.failed_writes = host_->files().failure_count() + failed_snapshots_;
    r.validation_messages = host_->instance().messages().count();
    return report_text(r);
}

/// What was learned first: it matters most.
Status Game::finish_on_device() {
    HEARTH_TRY(host_->loop().wait());
    take_times();
    if (!options_.save.empty()) {
        HEARTH_ASSIGN(Brain::Snapshot snapshot, brain_->snapshot_now(last_serial_));
        save_brain(std::move(snapshot));
    }
    HEARTH_ASSIGN(result_.weights_hash, brain_->weights_hash(last_serial_));
    if (options_.screenshots.empty()) return {};
    return host_->write_picture({1080, 540}, options_.screenshots + "/" + kCurvePicture,
                                [&] { draw_learning_curve(result_, host_->ui()); });
}

int run(int argc, char** argv) {
    GameOptions options;
    CLI::App app("Ghost Lap: drive a lap, and a rival learns your driving while you do it");
    demo::add_options(app, options, "Let the ghost go on from this brain",
                      "Keep the ghost's brain in this file, after each lap and at the end");
    app.add_option("--driver", options.driver, "Let this scripted driver drive");
    app.add_option("--record", options.record, "Write the drive into this file, for --input");
    CLI11_PARSE(app, argc, argv);
    return demo::play(kInfo.name, [&] { return Game::create(options); });
}

}  // namespace
}  // namespace hearth::ghost_lap

int main(int argc, char** argv) {
    return hearth::programs::run_program("ghost_lap",
                                         [&] { return hearth::ghost_lap::run(argc, argv); });
}
