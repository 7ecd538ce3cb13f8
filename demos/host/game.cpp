// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a game: frames, stop signals, screenshots, and the exit code.

#include "game.hpp"

#include "stop_signals.hpp"

#include <hearth/file.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

namespace hearth::demo {

void add_clip_option(CLI::App& app, GameOptions& options) {
    app.add_option("--clip", options.clip,
                   "Write the last ten seconds into this file, an animated WebP");
}

void add_play_options(CLI::App& app, GameOptions& options) {
    app.add_option_function<std::string>(
           "--learn", [&options](const std::string& learn) { options.learn = learn == "on"; },
           "on, or off: nothing is learned")
        ->check(CLI::IsMember({"on", "off"}));
    app.add_option("--draw-every", options.draw_every, "Draw only every so many frames")
        ->check(programs::whole_number(1));
}

void add_options(CLI::App& app, GameOptions& options, const char* load_help,
                 const char* save_help) {
    add_options(app, static_cast<Options&>(options));
    add_play_options(app, options);
    app.add_option("--clip-every", options.clip_every,
                   "Also write every so many frames a picture into the folder of --screenshots")
        ->check(programs::whole_number(1));
    add_clip_option(app, options);
    app.add_option("--load", options.load, load_help);
    app.add_option("--save", options.save, save_help);
}

Status Game::check_pictures(const std::string& folder) const {
    if (folder.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        return invalid_argument("cannot make the folder '" + folder + "': " + error.message());
    for (const char* name : info_.other_pictures) HEARTH_TRY(check_writable(folder + "/" + name));
    for (const Shot& shot : info_.shots) HEARTH_TRY(check_writable(folder + "/" + shot.name));
    return {};
}

Status Game::open(GameOptions& options,
                  std::initializer_list<std::pair<const char*, const std::string*>> outputs) {
    std::set<std::string> taken;
    for (const auto& [option, path] : outputs) {
        if (path->empty()) continue;
        HEARTH_TRY(check_writable(*path).with_context(option));
        if (!taken.insert(*path).second)
            return invalid_argument(std::string(option) + ": '" + *path +
                                    "' is also where something else goes");
    }
    if (!options.clip.empty()) HEARTH_TRY(check_writable(options.clip).with_context("--clip"));
    HEARTH_TRY(check_pictures(options.screenshots).with_context("--screenshots"));
    HEARTH_ASSIGN(host_, Host::create(options, info_.title, info_.span_count));
    if (!host_->is_headless()) return {};
    if (options.frames == 0) options.frames = info_.headless_frames;
    if (!options.screenshots.empty()) return {};
    options.screenshots = info_.picture_folder;
    return check_pictures(options.screenshots);
}

Status Game::run() {
    const Status played = play();
    // A failed frame may have been submitted, and its resources are destroyed before the host is.
    if (!played.ok()) host_->wait_idle();
    const Status finished = finish();
    if (!options().clip.empty() && !clip_->is_empty()) write_clip(options().clip);
    const Status written = host_->files().finish();
    if (!played.ok()) return played;
    return finished.ok() ? written : finished;
}

Status Game::play() {
    while (!is_over_ && (options().frames == 0 || played() < options().frames)) {
        if (StopSignals::received() != 0) {
            is_interrupted_ = true;
            break;
        }
        HEARTH_TRY(frame());
        for (const std::string& failure : host_->files().take_failures())
            std::fprintf(stderr, "%s: %s; trying again\n", info_.name, failure.c_str());
    }
    return {};
}

bool Game::has_picture() const {
    const uint64_t every = options().draw_every * host_->pace().frames_per_picture();
    return played() % every == 0 || host_->has_picture_key() || (is_headless() && is_of_clip()) ||
           !shot_path().empty();
}

/// With a window all of them, without one the last of a run that shall leave a clip.
bool Game::is_of_clip() const {
    if (played() < next_clip_frame_) return false;
    return !is_headless() ||
           (!options().clip.empty() && played() + Clip::kFrames >= options().frames);
}

void Game::write_clip(const std::string& path) {
    host_->files().write(path, clip_->encoder());
}

std::string Game::shot_path() const {
    const uint64_t frames = options().frames;
    if (options().screenshots.empty() || frames == 0) return {};
    for (const Shot& shot : info_.shots)
        if (played() ==
            (shot.twentieths == Shot::kEnd ? frames - 1 : shot.twentieths * frames / Shot::kEnd))
            return options().screenshots + "/" + shot.name;
    if (options().clip_every == 0 || played() % options().clip_every != 0) return {};
    const std::string number = std::to_string(played());
    return options().screenshots + "/frame_" +
           std::string(8 - std::min<size_t>(8, number.size()), '0') + number + ".png";
}

Status Game::capture(const Frame& frame, const Input& input) {
    FrameLoop& loop = host_->loop();
    const std::string path =
        input.was_pressed("f12") ? std::string(info_.name) + ".png" : shot_path();
    if (!path.empty()) HEARTH_TRY(loop.record_screenshot(frame, host_->presenter(), path));
    if (is_of_clip() && host_->presenter().can_copy()) {
        next_clip_frame_ = played() + Clip::kFramesPerPicture;
        HEARTH_TRY(loop.record_copy(
            frame, host_->presenter(),
            [clip = clip_, now = played()](const Pixels& pixels) { clip->add(pixels, now); }));
    }
    if (!input.was_pressed("f9") || clip_->is_empty()) return {};
    clip_path_ = std::string(info_.name) + ".webp";
    write_clip(clip_path_);
    return {};
}

void Game::keep_text(const std::string& path, std::string text) {
    if (path.empty()) return;
    host_->files().write(path, [text = std::move(text)]() -> Result<std::vector<std::byte>> {
        const auto bytes = std::as_bytes(std::span(text));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
}

int play(const char* name, const std::function<Result<std::unique_ptr<Game>>()>& create) {
    const StopSignals stop_signals;
    const auto fail = [&](const Status& status) {
        std::fprintf(stderr, "%s: %s\n", name, status.message().c_str());
        return 2;
    };
    auto made = create();
    if (!made.ok()) return fail(made.status());
    Game& game = **made;
    const Status status = game.run();
    std::fputs(game.report().c_str(), stdout);
    if (!status.ok()) return fail(status);
    if (game.validation_messages() > 0) return 3;
    if (game.is_interrupted()) {
        const int signal = StopSignals::received();
        std::fprintf(stderr, "%s: ended by %s\n", name, StopSignals::name_of(signal));
        return 128 + signal;  // as shells do
    }
    // Closing the window early is not a failure.
    return game.is_headless() && !game.has_passed() ? 1 : 0;
}

}  // namespace hearth::demo
