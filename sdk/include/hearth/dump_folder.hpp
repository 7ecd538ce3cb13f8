// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes dumps of a session's next recordings to files: inputs, outputs and weights ("Dumps" in
// hearth.h).  Header-only and separate from the library, which opens no files.

#pragma once

#if !defined(HEARTH_NO_EXPERIMENTAL)

#include <hearth/file.hpp>
#include <hearth/hearth_runtime.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace hearth {

#if defined(__GNUC__)  // callers get the warning; suppress it here
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

/// A folder of a session's dumps: 000000.safetensors and so on; the first includes the program.
/// `hearth replay FOLDER` runs them again, `hearth diff FOLDER FOLDER` compares those of two runs.
///
///     Result<DumpFolder> dumps = DumpFolder::open(session, "dumps", 10);
///
/// No other change to the game is needed.  hearth_begin_frame writes the files when their frames
/// have completed, and replaces existing files of the same names.
/// Lifetime: must not outlive the session.  The destructor discards dumps that have not arrived.
/// Threads: as the session.
class DumpFolder {
  public:
    /// Creates the folder if necessary, and requests dumps of the next `count` recordings.
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

    /// Number of files written so far.
    uint64_t count() const { return state_->count; }
    /// The first write error; later dumps are written nevertheless.
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
