// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Atomic replacement and bounded reading of files.  Header-only and separate from the library,
// which opens no files.  Applications with their own storage should do the same there: write to a
// temporary file, make it durable, then rename it over the old file.
//
// Guarantees of every write:
//   - After a crash, kill or power loss at any moment, the file has the old or the new contents.
//   - Any number of threads and processes may write the same name concurrently: the last to finish
//     wins.
//   - Only regular files are replaced.  Folders, devices (/dev/stdout included), FIFOs and symbolic
//     links are rejected immediately, without opening them.
//   - On POSIX the permissions of an existing file are kept (and its owner and group, where
//     allowed), and new files follow the umask; on Windows the written file inherits the folder's
//     permissions.  Files that this process may not write are rejected.
//   - A killed process leaves no temporary file behind.  Where the system has files without a name
//     (O_TMPFILE), contents get one, NAME.<16 hex digits>.tmp in the same folder, only for the moment
//     before they replace NAME; elsewhere they have it from the start.  It is created exclusively
//     and is locked while in use; the next write of NAME, or check_writable(), removes what a kill in
//     between left.

#pragma once

#include <hearth/core/os_file.hpp>
#include <hearth/core/span.hpp>
#include <hearth/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

/// Stages of a write, for tests.
enum class FileStage { kOpened, kPartlyWritten, kWritten, kSynced, kRenamed, kDone };

namespace detail {

inline Status file_error(std::string_view what, const std::string& path) {
    const std::string why = os::error_text();  // before anything else can change it
    return not_found("cannot " + std::string(what) + " '" + path + "': " + why);
}

struct NoStages {
    void operator()(FileStage) const {}
};

/// Splits a path into folder and name: "a/b" is "a" and "b", "b" is "." and "b".
struct SplitPath {
    std::string folder, name;

    explicit SplitPath(const std::string& path) {
        const size_t slash = path.find_last_of(os::kSeparators);
        name = slash == std::string::npos ? path : path.substr(slash + 1);
        folder = slash == std::string::npos ? "." : path.substr(0, slash == 0 ? 1 : slash);
    }
    std::string beside(const std::string& other) const {
        return (folder == "/" ? folder : folder + "/") + other;
    }
};

// Temporary names: a prefix derived from the file's name, 16 hexadecimal digits, ".tmp".
inline constexpr size_t kTemporaryDigits = 16, kMaxNameBytes = 255;
inline constexpr std::string_view kTemporaryEnd = ".tmp";

inline std::string temporary_prefix(const std::string& name) {
    constexpr size_t kRoom = kMaxNameBytes - 1 - kTemporaryDigits - kTemporaryEnd.size();
    return name.substr(0, kRoom) + ".";
}

inline std::string temporary_name(const std::string& name) {
    uint64_t number = os::unlikely_number();
    std::string digits(kTemporaryDigits, '0');
    for (size_t i = kTemporaryDigits; i-- > 0; number >>= 4)
        digits[i] = "0123456789abcdef"[number & 15];
    return temporary_prefix(name) + digits + std::string(kTemporaryEnd);
}

inline bool is_temporary_of(const std::string& name, std::string_view other) {
    const std::string prefix = temporary_prefix(name);
    if (other.size() != prefix.size() + kTemporaryDigits + kTemporaryEnd.size() ||
        other.substr(0, prefix.size()) != prefix ||
        other.substr(other.size() - kTemporaryEnd.size()) != kTemporaryEnd)
        return false;
    return other.substr(prefix.size(), kTemporaryDigits).find_first_not_of("0123456789abcdef") ==
           std::string_view::npos;
}

/// Returns information about `path` if it is a replaceable file or does not exist; otherwise an
/// error.
inline Result<os::FileInfo> replaceable(const std::string& path) {
    const SplitPath split(path);
    if (split.name.empty() || split.name == "." || split.name == "..")
        return invalid_argument("'" + path + "' names no file");
    if (path.find('\0') != std::string::npos)
        return invalid_argument("the path '" + std::string(path.c_str()) +
                                "' goes on after a zero");
    os::FileInfo info;
    if (!os::query_file(path, &info)) return file_error("look at", path);
    const char* what = nullptr;
    if (info.kind == os::FileKind::kFolder) what = "a folder";
    if (info.kind == os::FileKind::kLink) what = "a symbolic link";
    if (info.kind == os::FileKind::kOther) what = "a device, a FIFO or a socket";
    if (what != nullptr)
        return invalid_argument("cannot replace '" + path + "': it is " + what +
                                ", expected a regular file or a new name");
    if (info.kind == os::FileKind::kFile && !os::may_write(path))
        return file_error("replace", path);
    return info;
}

/// A temporary file for `path`, removed unless replace_file() succeeds.
class Replacement {
  public:
    Replacement() = default;
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;
    ~Replacement() {
        // Remove before closing: once unlocked, another writer could take the file for abandoned.
        if (temporary_.empty()) return;
#if defined(_WIN32)
        file_.close();  // Windows cannot remove an open file
#endif
        (void)os::remove_file(temporary_);
    }

    Status open(const std::string& path) {
        HEARTH_ASSIGN(old_, replaceable(path));
        bool has_no_unnamed = false;
        if (file_.create_unnamed(SplitPath(path).folder, has_old(), &has_no_unnamed)) return {};
        const auto create = [&](const std::string& name, bool* is_taken) {
            return file_.create_new(name, has_old(), is_taken);
        };
        if (has_no_unnamed && make_name(path, create)) return {};
        return file_error("create a file beside", path);
    }
    bool write(span<const std::byte> bytes) {
        return file_.write_all(bytes);
    }
    bool finish() {
        return (!has_old() || file_.take_after(old_)) && file_.sync();
    }
    bool replace_file(const std::string& path) {
        const auto give = [&](const std::string& name, bool* is_taken) {
            return file_.give_name(name, is_taken);
        };
        if (temporary_.empty() && !make_name(path, give)) return false;
        if (!os::replace_file(file_, temporary_, path)) return false;
        temporary_.clear();
        return true;
    }

  private:
    bool has_old() const {
        return old_.kind == os::FileKind::kFile;
    }
    /// Tries names beside `path` until `make` makes one.
    template <class Make>
    bool make_name(const std::string& path, const Make& make) {
        constexpr int kAttempts = 100;
        const SplitPath split(path);
        bool is_taken = true;
        for (int attempt = 0; attempt < kAttempts && is_taken; ++attempt) {
            const std::string name = split.beside(temporary_name(split.name));
            if (!make(name, &is_taken)) continue;
            temporary_ = name;
            return true;
        }
        return false;
    }

    os::FileInfo old_;
    os::File file_;
    std::string temporary_;  // name of the temporary file; empty: it has none
};

/// Removes temporary files that killed writers of `path` left behind.
inline void remove_leftovers(const std::string& path) {
    const SplitPath split(path);
    for (const std::string& name : os::names_in(split.folder))
        if (is_temporary_of(split.name, name)) os::remove_if_abandoned(split.beside(name));
}

}  // namespace detail

/// Atomically replaces the contents of the file `path`, or creates it; see the head of this file.
/// Errors: kInvalidArgument if `path` does not name a regular file; kNotFound if the system reports
/// an error.  The old file is then unchanged, with one exception, which the message states: the new
/// contents are in place, but the system could not make the folder's entry durable.
/// Threads: any, also for the same path.  Blocks until the disk has the data: not for use in a
/// frame.
template <class OnStage = detail::NoStages>
Status write_file_atomically(const std::string& path, span<const std::byte> bytes,
                             const OnStage& on_stage = {}) {
    constexpr size_t kChunk = 1 << 16;
    {
        detail::Replacement file;
        HEARTH_TRY(file.open(path));
        on_stage(FileStage::kOpened);
        for (size_t at = 0; at < bytes.size(); at += kChunk) {
            const size_t size = bytes.size() - at < kChunk ? bytes.size() - at : kChunk;
            if (!file.write(bytes.subspan(at, size))) return detail::file_error("write", path);
            on_stage(FileStage::kPartlyWritten);
        }
        on_stage(FileStage::kWritten);
        if (!file.finish()) return detail::file_error("write", path);
        on_stage(FileStage::kSynced);
        if (!file.replace_file(path)) return detail::file_error("replace", path);
    }
    on_stage(FileStage::kRenamed);
    const std::string folder = detail::SplitPath(path).folder;
    if (!os::sync_folder(folder))
        return detail::file_error("make the new '" + path + "' durable in the folder", folder);
    detail::remove_leftovers(path);
    on_stage(FileStage::kDone);
    return {};
}

/// As above, for text.
template <class OnStage = detail::NoStages>
Status write_file_atomically(const std::string& path, std::string_view text,
                             const OnStage& on_stage = {}) {
    return write_file_atomically(path, as_bytes(span(text)), on_stage);
}

/// Returns ok if write_file_atomically() could replace or create `path` now: creates the temporary
/// file and removes it, and those of killed processes.  For programs that save late and should fail
/// early.
inline Status check_writable(const std::string& path) {
    HEARTH_TRY(detail::Replacement().open(path));
    detail::remove_leftovers(path);
    return {};
}

/// Default size limit of read_whole_file(), in bytes.
inline constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 31) - 1;

namespace detail {

/// Opens a regular file; symbolic links are followed.
inline Status open_regular(const std::string& path, os::File& file, os::FileInfo& info) {
    if (!file.open_to_read(path)) return file_error("open", path);
    if (!file.look(&info)) return file_error("look at", path);
    if (info.kind == os::FileKind::kFolder)
        return invalid_argument("'" + path + "' is a folder, expected a file");
    if (info.kind != os::FileKind::kFile)
        return invalid_argument("'" + path + "' is a device, a FIFO or a socket, expected a file");
    return {};
}

}  // namespace detail

/// A regular file's bytes, which the system reads as they are used: no copy is made. The file must
/// not be truncated meanwhile; write_file_atomically() does not.
class MappedFile {
  public:
    MappedFile() = default;
    MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~MappedFile() {
        if (!bytes_.empty()) os::File::unmap(bytes_.data(), bytes_.size());
    }

    /// Symbolic links are followed. Errors: those of read_whole_file().
    static Result<MappedFile> open(const std::string& path) {
        os::File file;
        os::FileInfo info;
        HEARTH_TRY(detail::open_regular(path, file, info));
        MappedFile mapped;
        if (info.bytes == 0) return mapped;
        const void* const memory = file.map(info.bytes);
        if (memory == nullptr) return detail::file_error("map", path);
        mapped.bytes_ = span<const std::byte>(static_cast<const std::byte*>(memory), info.bytes);
        return mapped;
    }

    /// Page-aligned.
    span<const std::byte> bytes() const { return bytes_; }

  private:
    span<const std::byte> bytes_;
};

/// Reads a whole regular file; symbolic links are followed.
/// max_bytes  limit of the size; larger files are rejected
inline Result<std::vector<std::byte>> read_whole_file(const std::string& path,
                                                      uint64_t max_bytes = kMaxFileBytes) {
    os::File file;
    os::FileInfo info;
    HEARTH_TRY(detail::open_regular(path, file, info));
    const auto too_large = [&] {
        return out_of_range("'" + path + "' is larger than " + std::to_string(max_bytes) +
                            " bytes");
    };
    if (info.bytes > max_bytes) return too_large();
    // The size is only a first guess: the file may change, and files in /proc report no size.
    constexpr size_t kMinRoom = 1 << 12;
    std::vector<std::byte> bytes(info.bytes + 1);
    size_t size = 0;
    while (const int64_t n = file.read(span(bytes).subspan(size))) {
        if (n < 0) return detail::file_error("read", path);
        size += static_cast<size_t>(n);
        if (size > max_bytes) return too_large();
        if (size == bytes.size())
            bytes.resize(std::min<uint64_t>(2 * size + kMinRoom, max_bytes + 1));
    }
    bytes.resize(size);
    return bytes;
}

}  // namespace hearth
