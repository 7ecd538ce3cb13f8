// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What every game has around its frames: options, the loop, signals that end it, pictures at fixed moments,
// files that are kept, and an exit code.  The game itself stays in the demo's main.

#pragma once

#include "host.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace hearth::demo {

/// The command line that games share beyond that of all demos.
struct GameOptions : Options {
    bool learn = true;
    uint64_t draw_every = 1;  ///< frames
    std::string load;         ///< a brain to go on from
    std::string save;         ///< where to keep the brain
};
/// load_help, save_help: what the two files are to this game.
void add_options(CLI::App& app, GameOptions& options, const char* load_help, const char* save_help);

/// A picture taken without being asked for.
struct Shot {
    static constexpr uint64_t kEnd = 20;
    uint64_t twentieths = kEnd;  ///< of the run; kEnd: its last frame
    const char* name = "";       ///< of the file
};

/// What a game is to its host.
struct GameInfo {
    const char* name = "";   ///< of the program; before all that it says
    const char* title = "";  ///< of the window
    uint32_t span_count = 1;
    uint64_t headless_frames = 0;     ///< played without a window, if nobody says how many
    const char* picture_folder = "";  ///< for shots without a window, if nobody says where
    std::span<const Shot> shots;
    std::span<const char* const> other_pictures = {};  ///< that it writes into the same folder
};

/// A game on its host.
class Game {
  public:
    virtual ~Game() = default;
    Game(const Game&) = delete;
    Game& operator=(const Game&) = delete;

    /// Plays until the end, and keeps what there is to keep even if something went wrong.
    Status run();
    const GameInfo& info() const { return info_; }
    bool is_headless() const { return host_->is_headless(); }
    bool is_interrupted() const { return is_interrupted_; }
    uint32_t validation_messages() { return host_->instance().messages().count(); }

    /// What it says at the end.
    virtual std::string report() const = 0;
    /// Whether it showed what it is there to show; asked without a window alone.
    virtual bool has_passed() const = 0;

  protected:
    explicit Game(const GameInfo& info) : info_(info) {}

    /// Makes the host, and completes `options` with what holds without a window.  What would stop a file
    /// from being written at the end is told before anything begins: outputs are pairs of an option's name
    /// and its path.
    Status open(GameOptions& options,
                std::initializer_list<std::pair<const char*, const std::string*>> outputs);
    /// What open() completed.
    virtual const GameOptions& options() const = 0;

    /// Frames played so far.
    virtual uint64_t played() const = 0;
    virtual Status frame() = 0;
    /// Keeps what there is to keep; files are waited for afterwards.
    virtual Status finish() = 0;

    /// Whether to draw the frame that comes.
    bool has_picture() const;
    /// Where to put the picture of this frame; empty for most.
    std::string picture_path(const Input& input) const;
    /// Writes text beside the frames; nowhere if the path is empty.
    void keep_text(const std::string& path, std::string text);

    std::unique_ptr<Host> host_;
    bool is_over_ = false;

  private:
    Status play();
    std::string shot_path() const;
    Status check_pictures(const std::string& folder) const;

    GameInfo info_;
    bool is_interrupted_ = false;
};

/// Makes a game, plays it and says how it went.  The exit code: 0; 1: it did not pass; 2: it failed; 3:
/// validation had something to say; 128 and a signal's number: that ended it.
int play(const char* name, const std::function<Result<std::unique_ptr<Game>>()>& create);

}  // namespace hearth::demo
