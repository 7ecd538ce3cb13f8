// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ghost Lap: drive a lap, and a rival learns your driving while you do it.
//
// It uses one device and one command buffer per frame: the game records its picture, the ghost's
// decision and one learning step into it, or, with --async-compute, the latter two into a command
// buffer of a compute queue. The decision arrives two frames later, by polling; no frame waits for
// it.
// queue.  The decision comes back two frames later, by polling; nothing in the frame waits for it.

#include "cars.hpp"
#include "ghost_lap/input_script.hpp"
#include "host/game.hpp"
#include "host/synth.hpp"
#include "hud.hpp"
#include "person.hpp"
#include "play.hpp"
#include "report.hpp"
#include "scenery.hpp"

#include <hearth/file.hpp>

#include <programs/streams.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace hearth::ghost_lap {
namespace {

using demo::Frame;
using demo::FrameLoop;
using demo::Input;

const char* const kCurvePicture = "learning_curve.png";
const char* const kHandOverPicture = "hand_over.png";
const char* const kOtherPictures[] = {kCurvePicture, kHandOverPicture};
constexpr demo::Shot kShots[] = {{2, "1_watching.png"},
                                 {6, "2_first_ghost_lap.png"},
                                 {12, "3_learning.png"},
                                 {demo::Shot::kEnd, "4_end.png"}};
constexpr uint64_t kHandOverFrames = 10'400;  // one lap of the player, eight of the ghost
constexpr uint64_t kMostInputBytes = uint64_t{64} << 20;  // brains and drives take KB

struct GameOptions : demo::GameOptions {
    std::string driver;      ///< a scripted style; empty: a person if there is a window
    std::string record;      ///< file for the recorded drive
    std::string rival;       ///< a brain that drives a second opponent
    uint64_t hand_over = 0;  ///< corner in which the script corrects the ghost, from 1; 0: none
};

/// kFrame: everything on the graphics queue in a frame.
enum Span : uint32_t { kRender, kBrain, kFrame, kSpanCount };

const demo::GameInfo kInfo = {
    .name = "ghost_lap",
    .title = "Ghost Lap",
    .span_count = kSpanCount,
    .headless_frames = 6000,  // one lap to learn from, three and more to show the result
    .picture_folder = "ghost_lap_pictures",
    .shots = kShots,
    .other_pictures = kOtherPictures,
};

/// Sound of an engine and of wheels on gravel; it follows the car without a click.
class Engine {
  public:
    void set(float speed, float throttle, bool is_on_track) {
        speed_ = speed, throttle_ = throttle, gravel_ = is_on_track ? 0.0f : speed / kTopSpeed;
    }
    float sample(double seconds) {
        demo::follow(heard_throttle_, throttle_);
        demo::follow(heard_gravel_, gravel_);
        heard_speed_ += 0.0005f * (speed_ - heard_speed_);
        turns_ += (40.0 + 5.0 * double{heard_speed_}) / demo::kSampleRate;
        float sum = 0;
        for (int harmonic = 1; harmonic <= 5; ++harmonic)
            sum += demo::sine(turns_ * harmonic) / static_cast<float>(harmonic);
        return (0.02f + 0.05f * heard_throttle_) * sum +
               0.2f * heard_gravel_ * demo::noise(seconds, 2500);
    }

  private:
    float speed_ = 0, throttle_ = 0, gravel_ = 0;
    float heard_speed_ = 0, heard_throttle_ = 0, heard_gravel_ = 0;
    double turns_ = 0;
};

class Game final : public demo::Game {
  public:
    static Result<std::unique_ptr<demo::Game>> create(const GameOptions& options);
    std::string report() const override;
    bool has_passed() const override { return result_.has_passed(); }

  private:
    explicit Game(const GameOptions& options) : demo::Game(kInfo), options_(options) {}

    const demo::GameOptions& options() const override { return options_; }
    uint64_t played() const override { return play_ ? race().frame() : 0; }
    const Race& race() const { return play_->race(); }
    Status frame() override;
    Status finish() override;
    Status choose_driver();
    Status think(const Frame& frame);
    Status draw(const Frame& frame, const Input& input);
    void drive(const Input& input);
    void listen(Action action);
    Status handle_keys(const Input& input);
    void select_style(std::string_view name);
    void tell_laps();
    void take_times();
    Status finish_on_device();
    Status load_brains();
    Status keep_brain();
    void save_brain(std::vector<std::byte> brain);
    bool shows_hand_over() const;
    Corner coached_corner() const { return track_.corners()[options_.hand_over - 1]; }
    double since_last_frame_ms();

    GameOptions options_;
    Track track_ = Track::circuit();
    std::unique_ptr<Play> play_;
    std::unique_ptr<Driver> driver_;
    Person* person_ = nullptr;  // driver_, if a person drives
    demo::StaticMesh scenery_;
    demo::Backdrop backdrop_;
    std::unique_ptr<demo::Canvas> canvas_;
    Marks marks_;
    Corrections corrections_;
    HudState hud_;
    RunLog log_;
    InputScript recording_;
    RunResult result_;
    uint64_t last_serial_ = 0;
    std::chrono::steady_clock::time_point last_frame_ = std::chrono::steady_clock::now();
    uint64_t submitted_frames_ = 0;
    size_t saved_laps_ = 0;
    double record_seconds_ = 0.0;
    size_t told_player_laps_ = 0;
    size_t told_ghost_laps_ = 0;
    size_t told_rival_laps_ = 0;
    bool is_close_up_ = false;
    uint64_t held_frames_ = 0;  // since the person took over the ghost
    size_t heard_laps_ = 0;
    Engine engine_;
    demo::Sound sound_{[this](double seconds) { return engine_.sample(seconds); }};
};

Result<std::unique_ptr<demo::Game>> Game::create(const GameOptions& options) {
    std::unique_ptr<Game> self(new Game(options));
    GameOptions& used = self->options_;
    const bool has_end = used.frames > 0;
    HEARTH_TRY(self->open(
        used, {{"--save", &used.save}, {"--record", &used.record}, {"--out", &used.out}}));
    if (self->is_headless() && !has_end && used.hand_over > 0) used.frames = kHandOverFrames;
    HEARTH_TRY(self->choose_driver());
    if (!used.out.empty()) HEARTH_TRY(write_file_atomically(used.out, std::string_view()));
    HEARTH_ASSIGN(self->play_, Play::create(self->host_->mind_device(), options.seed));
    HEARTH_TRY(self->load_brains());
    self->play_->freeze(!options.learn);

    self->canvas_ = std::make_unique<demo::Canvas>(self->host_->ui().white_uv());
    draw_scenery(*self->canvas_, self->track_);
    HEARTH_ASSIGN(self->scenery_, self->host_->renderer().upload(*self->canvas_));

    self->hud_.play = self->play_.get();
    self->hud_.has_gpu_times = self->host_->device().timestamp_valid_bits() > 0;
    self->hud_.has_keys = !self->host_->is_headless();
    self->result_.device = self->host_->device().properties().deviceName;
    if (&self->host_->mind_device() != &self->host_->device())
        self->result_.device +=
            std::string("; networks on ") + self->host_->mind_device().properties().deviceName;
    self->result_.presenter = self->host_->presenter().name();
    self->result_.program = self->play_->mind().summary();
    if (!self->is_headless())
        if (const Status opened = self->sound_.open(); !opened.ok())
            std::fprintf(stderr, "ghost_lap: %s: no sound\n", opened.message().c_str());
    return std::unique_ptr<demo::Game>(std::move(self));
}

Status Game::choose_driver() {
    const size_t corners = track_.corners().size();
    if (options_.hand_over > corners)
        return invalid_argument("--hand-over: expected a corner from 1 to " +
                                std::to_string(corners) + ", found " +
                                std::to_string(options_.hand_over));
    if (options_.hand_over > 0 && !options_.input.empty())
        return invalid_argument("--hand-over: expected a scripted driver, found --input");
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
    if (options_.driver.empty() && !host_->is_headless() && options_.hand_over == 0) {
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

/// Hands the player's car to a script, or to the person if the name is empty.
void Game::select_style(std::string_view name) {
    person_ = nullptr;
    if (const DrivingStyle* style = find_driving_style(name)) {
        if (options_.hand_over > 0)
            driver_ = std::make_unique<Coach>(track_, *style, coached_corner(), options_.seed);
        else
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
    HEARTH_TRY(handle_keys(input));
    if (is_over_) return {};
    const bool has_picture = this->has_picture() || shows_hand_over();
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

/// Records all network work of the frame.
Status Game::think(const Frame& frame) {
    FrameLoop& loop = host_->loop();
    const auto start = std::chrono::steady_clock::now();
    loop.begin_span(frame, frame.compute_cmd, kBrain);
    HEARTH_TRY(play_->record(frame));
    loop.end_span(frame, frame.compute_cmd, kBrain);
    record_seconds_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return keep_brain();
}

Status Game::load_brains() {
    const auto load = [&](const std::string& path,
                          Status (Play::*take)(std::span<const std::byte>)) -> Status {
        if (path.empty()) return {};
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path, kMostInputBytes));
        return ((*play_).*take)(bytes).with_context(path);
    };
    HEARTH_TRY(load(options_.load, &Play::load));
    HEARTH_TRY(load(options_.rival, &Play::add_rival));
    result_.rival = std::filesystem::path(options_.rival).filename().string();
    return {};
}

/// Saves the ghost's brain whenever the player completes a lap: the GPU copies it, it arrives two
/// frames later, and another thread writes the file. No frame waits for it.
Status Game::keep_brain() {
    if (options_.save.empty()) return {};
    HEARTH_ASSIGN(auto kept, play_->take_kept());
    if (kept) save_brain(std::move(*kept));
    const size_t laps = race().player().laps().size();
    return std::exchange(saved_laps_, laps) == laps ? Status() : play_->keep();
}

void Game::save_brain(std::vector<std::byte> brain) {
    host_->files().write(
        options_.save,
        [brain = std::move(brain)]() -> Result<std::vector<std::byte>> { return brain; });
}

/// True in the one frame to save a picture of: the middle of the coach's second correction.
bool Game::shows_hand_over() const {
    constexpr uint64_t kFramesIntoIt = 30;
    return options_.hand_over > 0 && !options_.screenshots.empty() &&
           race().ghost().laps().size() == Coach::kWatchedLaps + 1 && held_frames_ == kFramesIntoIt;
}

Status Game::draw(const Frame& frame, const Input& input) {
    const VkExtent2D extent = host_->presenter().extent();
    const Layout layout = Layout::of(extent, host_->ui());
    demo::Renderer& renderer = host_->renderer();
    demo::View world = layout.world;
    if (is_close_up_) {
        world.units_per_pixel *= 0.4f;
        world.center = race().driven(race().seat()).car().position +
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
    marks_.draw(*canvas_, race().frame());
    draw_lines(*canvas_, track_, last_line(race().player()), last_line(race().ghost()));
    corrections_.draw(*canvas_);
    if (const Racer* rival = race().rival())
        draw_car(*canvas_, rival->car(), play_->rival_action(), kRivalColor, true);
    if (race().ghost_is_driving()) {
        draw_car(*canvas_, race().ghost().car(), play_->ghost_action(), kGhostColor, true);
        if (race().seat() == Seat::kGhost)
            draw_taken(*canvas_, race().ghost().car(), race().frame());
    }
    const bool is_driven = race().seat() == Seat::kOwnCar;
    draw_car(*canvas_, race().player().car(), is_driven ? hud_.player_action : Action{},
             kPlayerColor, false);
    renderer.draw(*canvas_, world);
    hud_.view = world;
    draw_hud(hud_, layout, host_->ui(), extent);
    HEARTH_TRY(host_->end_picture());
    loop.end_span(frame, frame.cmd, kRender);

    if (shows_hand_over())
        HEARTH_TRY(loop.record_screenshot(frame, host_->presenter(),
                                          options_.screenshots + "/" + kHandOverPicture));
    return capture(frame, input);
}

/// The engine of the car that is driven, gravel, and a chime for each lap.
void Game::listen(Action action) {
    const Racer& racer = race().driven(race().seat());
    sound_.change([&] {
        engine_.set(racer.car().speed, std::max(action.throttle, 0.0f), racer.is_on_track());
    });
    const size_t laps = race().player().laps().size();
    if (std::exchange(heard_laps_, laps) == laps) return;
    sound_.play(demo::chimes(std::array{659.0f, 784.0f, 988.0f}, 0.08f, 0.6f, 0.2f));
}

void Game::drive(const Input& input) {
    if (person_) person_->set_input(input);
    const uint64_t frame = race().frame();
    const Action action = play_->step(*driver_);
    const Seat seat = race().seat();
    auto& entries = recording_.entries;
    if (!options_.record.empty() &&
        (entries.empty() || entries.back().action.steer != action.steer ||
         entries.back().action.throttle != action.throttle || entries.back().seat != seat))
        entries.push_back({frame, action, seat});
    hud_.player_action = action;
    listen(action);
    held_frames_ = seat == Seat::kGhost ? held_frames_ + 1 : 0;
    if (seat == Seat::kOwnCar) {
        marks_.add(race().player(), action, race().frame());
        if (const Racer* rival = race().rival())
            marks_.add(*rival, play_->rival_action(), race().frame());
    }
    if (race().ghost_is_driving())
        marks_.add(race().ghost(), seat == Seat::kGhost ? action : play_->ghost_action(),
                   race().frame());
    corrections_.add(race());
    if (log_.add(*play_)) keep_text(options_.out, log_.text());
    tell_laps();
}

/// Prints each completed lap when there is no window.
void Game::tell_laps() {
    if (!host_->is_headless()) return;
    const auto tell = [&](const char* who, const Racer& racer, size_t& told) {
        for (; told < racer.laps().size(); ++told) {
            const Lap& lap = racer.laps()[told];
            std::fprintf(stderr, "%6.1f s  %-6s lap %zu  %s%s\n",
                         static_cast<double>(race().frame()) * static_cast<double>(kFrameSeconds),
                         who, told + 1, lap_time_text(lap.seconds).c_str(),
                         lap.is_completed() ? "" : "  failed: put back on the track");
        }
    };
    tell("player", race().player(), told_player_laps_);
    tell("ghost", race().ghost(), told_ghost_laps_);
    if (const Racer* rival = race().rival()) tell("rival", *rival, told_rival_laps_);
}

Status Game::handle_keys(const Input& input) {
    is_over_ = input.wants_to_quit || input.was_pressed("escape");
    if (input.was_pressed("f")) play_->freeze(!play_->is_frozen());
    if (input.was_pressed("r")) HEARTH_TRY(play_->reset());
    if (input.was_pressed("c")) is_close_up_ = !is_close_up_;
    if (input.was_pressed("0")) select_style("");
    const auto styles = driving_styles();
    for (size_t i = 0; i < std::min<size_t>(styles.size(), 9); ++i) {
        if (input.was_pressed(std::to_string(i + 1).c_str())) select_style(styles[i].name);
    }
    return {};
}

double Game::since_last_frame_ms() {
    const auto before = std::exchange(last_frame_, std::chrono::steady_clock::now());
    return std::chrono::duration<double, std::milli>(last_frame_ - before).count();
}

void Game::take_times() {
    constexpr double kKeep = 0.95;  // smoothing factor of displayed times, per frame
    for (const demo::SpanTime& time : host_->loop().span_times()) {
        Cost* const costs[] = {&result_.render_ms, &result_.brain_ms, &result_.frame_ms};
        double* const shown[] = {&hud_.render_ms, &hud_.brain_ms, nullptr};
        Cost& cost = *costs[time.span];
        cost.add(time.milliseconds);
        const double end_ms = time.begin_ms + time.milliseconds;
        if (&cost == &result_.brain_ms)
            result_.overlap.add_work(time.serial, time.begin_ms, end_ms);
        if (&cost == &result_.frame_ms)
            result_.overlap.add_other(time.serial, time.begin_ms, end_ms);
        if (shown[time.span] == nullptr) continue;
        double& value = *shown[time.span];
        value = cost.count() == 1 ? time.milliseconds
                                  : kKeep * value + (1.0 - kKeep) * time.milliseconds;
    }
}

/// Writes all output files; continues after an error and returns the first one.
Status Game::finish() {
    RunResult& r = result_;
    r.driver = hud_.driver;
    r.seed = options_.seed;
    r.frames = race().frame();
    r.is_headless = is_headless();
    r.is_interrupted = is_interrupted();
    r.has_async_compute = host_->device().has_async_compute();
    r.is_native = &host_->mind_device() != &host_->device();
    r.is_learning_on = options_.learn;
    r.table = race().table();
    r.lead_seconds = race().lead_seconds();
    r.corrected_frames = race().corrected_frames();
    if (options_.hand_over > 0) {
        ScriptedDriver right(track_, *find_driving_style(options_.driver), options_.seed + 1);
        r.hand_over = HandOver::of(race(), options_.hand_over - 1, driven_line(track_, right));
    }
    r.missed_actions = race().missed_actions();
    r.state_hash = race().state_hash();
    r.losses = play_->losses();
    r.has_gpu_times = hud_.has_gpu_times;
    if (submitted_frames_ > 0)
        r.record_us = 1e6 * record_seconds_ / static_cast<double>(submitted_frames_);
    Status status = submitted_frames_ > 0 ? finish_on_device() : Status();
    const demo::Guest& guest = play_->mind().guest();
    r.cpu_allocations = guest.frame_path_cpu_allocations();
    r.device_allocations = guest.frame_path_device_allocations();

    log_.finish(r);
    keep_text(options_.out, log_.text());
    if (submitted_frames_ > 0) keep_text(options_.record, write_input_script(recording_));
    r.is_validated = host_->instance().is_validating();
    return status;
}

std::string Game::report() const {
    RunResult r = result_;
    r.failed_writes = host_->files().failure_count();
    r.validation_messages = host_->instance().messages().count();
    return report_text(r);
}

/// Saves the brain first: it matters most.
Status Game::finish_on_device() {
    HEARTH_TRY(host_->loop().wait());
    take_times();
    if (!options_.save.empty()) {
        HEARTH_ASSIGN(std::vector<std::byte> brain, play_->mind().save_now(last_serial_));
        save_brain(std::move(brain));
    }
    HEARTH_ASSIGN(result_.weights_hash, play_->mind().weights_hash(last_serial_));
    result_.learning_steps = play_->learning_steps();  // all steps have completed
    if (options_.screenshots.empty()) return {};
    return host_->write_picture(
        {1080, 540}, options_.screenshots + "/" + kCurvePicture,
        [&](demo::Renderer&) { draw_learning_curve(result_, host_->ui()); });
}

int run(int argc, char** argv) {
    GameOptions options;
    CLI::App app("Ghost Lap: drive a lap, and a rival learns your driving while you do it");
    demo::add_options(app, options, "Let the ghost go on from this brain",
                      "Keep the ghost's brain in this file, after each lap and at the end");
    app.add_option("--driver", options.driver, "Let this scripted driver drive");
    app.add_option(
           "--rival", options.rival,
           "Race yesterday's you: a ghost with this brain, which learns nothing more; or one "
           "that was trained before: weights.safetensors of hearth train")
        ->check(CLI::ExistingFile);
    app.add_option(
           "--hand-over", options.hand_over,
           "Let the scripted driver take this corner (from 1) too wide, park when the ghost "
           "starts, and correct it there by taking its wheel")
        ->check(programs::whole_number(1));
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
