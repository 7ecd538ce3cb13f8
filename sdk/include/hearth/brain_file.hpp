// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files written so that a crash at any moment leaves the old contents or the new ones.  Header-only
// and apart from the library, which opens no files; a host with storage of its own does the same
// there: write beside, make it durable, put it in place of the old one.

#pragma once

#include <hearth/status.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#if defined(_WIN32)
#include <io.h>
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace hearth {

/// How far a write has come; for tests.
enum class FileStage { kOpened, kPartlyWritten, kWritten, kSynced, kRenamed, kDone };

namespace detail {

inline Status file_error(const char* what, const std::string& path) {
    return not_found(std::string("cannot ") + what + " '" + path + "': " + std::strerror(errno));
}

struct NoStages {
    void operator()(FileStage) const {}
};

/// The folder of a path, for its entry to be made durable.
inline std::string folder_of(const std::string& path) {
    const size_t slash = path.find_last_of("/\\");
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

inline bool sync_file(std::FILE* file) {
    if (std::fflush(file) != 0) return false;
#if defined(_WIN32)
    return _commit(_fileno(file)) == 0;
#else
    return fsync(fileno(file)) == 0;
#endif
}

inline bool put_in_place(const std::string& from, const std::string& to) {
#if defined(_WIN32)
    return MoveFileExA(from.c_str(), to.c_str(),
                       MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0;
#else
    return std::rename(from.c_str(), to.c_str()) == 0;
#endif
}

/// A rename is durable once its folder is.
inline void sync_folder(const std::string& path) {
#if !defined(_WIN32)
    const int folder = open(folder_of(path).c_str(), O_RDONLY | O_CLOEXEC);
    if (folder < 0) return;
    (void)fsync(folder);
    close(folder);
#else
    (void)path;
#endif
}

}  // namespace detail

/// Puts `bytes` in place of the file `path`: writes PATH.tmp beside it, makes that durable, renames.
/// Errors: kNotFound with what failed; the old file is then as it was.
/// Threads: any; two writers of one path at a time are not supported.
template <class OnStage = detail::NoStages>
Status write_file_atomically(const std::string& path, std::span<const std::byte> bytes,
                             const OnStage& on_stage = {}) {
    constexpr size_t kChunk = 1 << 16;
    const std::string temporary = path + ".tmp";
    std::FILE* file = std::fopen(temporary.c_str(), "wb");
    if (file == nullptr) return detail::file_error("create", temporary);
    on_stage(FileStage::kOpened);
    bool good = true;
    for (size_t at = 0; good && at < bytes.size(); at += kChunk) {
        const size_t size = bytes.size() - at < kChunk ? bytes.size() - at : kChunk;
        good = std::fwrite(bytes.data() + at, 1, size, file) == size;
        on_stage(FileStage::kPartlyWritten);
    }
    on_stage(FileStage::kWritten);
    good = good && detail::sync_file(file);
    const Status failed = good ? Status() : detail::file_error("write", temporary);
    good = std::fclose(file) == 0 && good;
    on_stage(FileStage::kSynced);
    if (!good) {
        (void)std::remove(temporary.c_str());
        return failed.ok() ? detail::file_error("close", temporary) : failed;
    }
    if (!detail::put_in_place(temporary, path)) {
        const Status status = detail::file_error("replace", path);
        (void)std::remove(temporary.c_str());
        return status;
    }
    on_stage(FileStage::kRenamed);
    detail::sync_folder(path);
    on_stage(FileStage::kDone);
    return {};
}

/// The whole file.  Errors: kNotFound.
inline Result<std::vector<std::byte>> read_whole_file(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return detail::file_error("open", path);
    std::vector<std::byte> bytes;
    std::byte chunk[1 << 14];
    while (const size_t size = std::fread(chunk, 1, sizeof chunk, file))
        bytes.insert(bytes.end(), chunk, chunk + size);
    const bool good = std::ferror(file) == 0;
    std::fclose(file);
    if (!good) return detail::file_error("read", path);
    return bytes;
}

}  // namespace hearth
