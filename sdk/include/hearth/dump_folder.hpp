// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The next executions of a session as files: inputs, outputs and weights ("Dumps" in hearth.h).  Header-only and
// apart from the library, which opens no files.

#pragma once

#if !defined(HEARTH_NO_EXPERIMENTAL)

#include <hearth/file.hpp>
#include <hearth/hearth_runtime.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace hearth {

#if defined(__GNUC__)  // who opens one is warned of it, here is nothing to warn of
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

/// A folder that a session's dumps go to: 000000.safetensors and so on, the first with the program in it.
/// `hearth replay FOLDER` runs them again, `hearth diff FOLDER FOLDER` compares those of two runs.
///
///     Result<DumpFolder> dumps = DumpFolder::open(session, "dumps", 10);
///
/// is the one call; what the game records and begins is as it was.  Files are written in hearth_begin_frame, when
/// their serials have completed, and what lies in the folder already under these names is replaced.
/// Lifetime: the session's or shorter; its end gives up what has not arrived.  Threads: as the session.
class DumpFolder {
  public:
    /// Creates the folder if there is none, and asks for the next `count` executions.
    /// Errors: those of hearth_session_dump; kNotFound if the folder cannot be created.
    HEARTH_EXPERIMENTAL static Result<DumpFolder> open(Session& session, const std::string& folder,
                                                       uint64_t count) {
        std::error_code error;
        std::filesystem::create_directories(folder, error);
        if (error)
            return not_found("cannot create the folder '" + folder + "': " + error.message());
        DumpFolder dumps;
        dumps.state_ = std::make_unique<State>();
        dumps.state_->session = session.handle();
        dumps.state_->folder = folder;
        hearth_session_dump_info info = hearth_session_dump_info_default();
        info.count = count;
        info.callback = write;
        info.user_data = dumps.state_.get();
        info.flags = HEARTH_DUMP_PROGRAM;
        HEARTH_TRY(session.dump(info));
        return dumps;
    }

    DumpFolder(DumpFolder&&) = default;
    DumpFolder& operator=(DumpFolder&& other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~DumpFolder() {
        const hearth_session_dump_info none = hearth_session_dump_info_default();
        if (state_) (void)hearth_session_dump(state_->session, &none);
    }

    /// Files written so far.
    uint64_t count() const { return state_->count; }
    /// The first failure to write one; the others are written nevertheless.
    const Status& status() const { return state_->status; }

  private:
    struct State {
        hearth_session* session = nullptr;
        std::string folder;
        uint64_t count = 0;
        Status status;
    };
    DumpFolder() = default;

    static void write(void* user_data, uint64_t index, const void* bytes, uint64_t byte_count) {
        auto& state = *static_cast<State*>(user_data);
        const std::string digits = std::to_string(index);
        const std::string zeros(digits.size() < 6 ? 6 - digits.size() : 0, '0');
        const Status status =
            write_file_atomically(state.folder + "/" + zeros + digits + ".safetensors",
                                  span(static_cast<const std::byte*>(bytes), byte_count));
        if (status.ok()) ++state.count;
        if (state.status.ok()) state.status = status;
    }

    std::unique_ptr<State> state_;
};

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

}  // namespace hearth

#endif
