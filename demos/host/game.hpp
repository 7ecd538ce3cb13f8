// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Common frame of all games: options, the loop, stop signals, pictures at fixed moments, output
// files and an exit code. The game itself stays in the demo's main.

#pragma once

#include "clip.hpp"
#include "host.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace hearth::demo {

/// Command line options of games, in addition to those of all demos.
struct GameOptions : Options {
    bool learn = true;
    uint64_t draw_every = 1;  ///< frames
    uint64_t clip_every = 0;  ///< frames between pictures that are written, too; 0: none
    std::string clip;         ///< file for a clip of the last seconds
    std::string load;         ///< brain to continue from
    std::string save;         ///< file for the brain
};
/// Adds --clip.
void add_clip_option(CLI::App& app, GameOptions& options);
/// Adds --learn and --draw-every.
void add_play_options(CLI::App& app, GameOptions& options);
/// Adds all. load_help, save_help: help texts of the two file options.
void add_options(CLI::App& app, GameOptions& options, const char* load_help, const char* save_help);

/// A picture taken automatically.
struct Shot {
    static constexpr uint64_t kEnd = 20;
    uint64_t twentieths = kEnd;  ///< of the run; kEnd: its last frame
    const char* name = "";       ///< of the file
};

/// Static description of a game.
struct GameInfo {
    const char* name = "";   ///< of the program; prefix of its messages
    const char* title = "";  ///< of the window
    uint32_t span_count = 1;
    uint64_t headless_frames = 0;     ///< default without a window
    const char* picture_folder = "";  ///< default folder for shots without a window
    std::span<const Shot> shots;
    std::span<const char* const> other_pictures = {};  ///< also written into that folder
};

/// A game running on a Host.
class Game {
  public:
    virtual ~Game() = default;
    Game(const Game&) = delete;
    Game& operator=(const Game&) = delete;

    /// Plays until the end, and saves results even after an error.
    Status run();
    const GameInfo& info() const { return info_; }
    bool is_headless() const { return host_->is_headless(); }
    bool is_interrupted() const { return is_interrupted_; }
    uint32_t validation_messages() { return host_->instance().messages().count(); }

    /// Summary printed at the end.
    virtual std::string report() const = 0;
    /// True if the demo achieved its goal; called only without a window.
    virtual bool has_passed() const = 0;

  protected:
    explicit Game(const GameInfo& info) : info_(info) {}

    /// Creates the host, and completes `options` with the defaults without a window. Checks up
    /// front that output files can be written. outputs: pairs of an option's name and its path.
    Status open(GameOptions& options,
                std::initializer_list<std::pair<const char*, const std::string*>> outputs);
    /// The options completed by open().
    virtual const GameOptions& options() const = 0;

    /// Frames played so far.
    virtual uint64_t played() const = 0;
    virtual Status frame() = 0;
    /// Saves results; pending files are waited for afterwards.
    virtual Status finish() = 0;

    /// True if the coming frame is drawn.
    bool has_picture() const;
    /// Takes the pictures that are due in this frame: F12 and shots write one, F9 a clip of the last
    /// ten seconds. Call between drawing and the frame's end.
    Status capture(const Frame& frame, const Input& input);
    /// The clip's file when F9 asked for one, once.
    std::string take_clip_path() { return std::exchange(clip_path_, {}); }
    /// Writes a text file in the background; no-op if the path is empty.
    void keep_text(const std::string& path, std::string text);

    std::unique_ptr<Host> host_;
    bool is_over_ = false;

  private:
    Status play();
    std::string shot_path() const;
    Status check_pictures(const std::string& folder) const;
    bool is_of_clip() const;
    void write_clip(const std::string& path);

    GameInfo info_;
    /// Shared with copies in flight.
    std::shared_ptr<Clip> clip_ = std::make_shared<Clip>();
    std::string clip_path_;
    uint64_t next_clip_frame_ = 0;
    bool is_interrupted_ = false;
};

/// Creates a game, plays it and prints the summary. Returns the exit code: 0; 1: goal not achieved;
/// 2: error; 3: validation messages; 128 + the number of the signal that ended it.
int play(const char* name, const std::function<Result<std::unique_ptr<Game>>()>& create);

}  // namespace hearth::demo
