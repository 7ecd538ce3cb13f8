// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operating system layer of hearth/file.hpp, for POSIX and Windows.  Contains no policy; functions
// return true on success, and error_text() describes the calling thread's last failure.
// Header-only, because the library itself opens no files.

#pragma once

#include <hearth/core/span.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#if defined(_WIN32)
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#endif

namespace hearth::os {

/// Type of a file system entry.
enum class FileKind {
    kNothing,
    kFile,    ///< a regular file
    kFolder,  ///< a directory
    kLink,    ///< a symbolic link (Windows: any reparse point that is not a folder)
    kOther,   ///< a FIFO, a socket, a device
};

struct FileInfo {
    FileKind kind = FileKind::kNothing;
    uint64_t bytes = 0;
    uint32_t mode = 0;   ///< permission bits; POSIX only
    uint32_t owner = 0;  ///< POSIX only
    uint32_t group = 0;  ///< POSIX only
    /// Identifies the file: equal for two names of the same file.  Windows: only set for open
    /// files.
    uint64_t volume = 0, number = 0;
};

/// A number that is unlikely to collide between writers.  It need not be secret, because files are
/// created with O_EXCL.
inline uint64_t unlikely_number();

#if !defined(_WIN32)

inline constexpr char kSeparators[] = "/";

/// Describes the last failure of the calling thread.
inline std::string error_text() {
    return std::generic_category().message(errno);
}

inline uint32_t process_number() {
    return static_cast<uint32_t>(getpid());
}

namespace detail {

inline FileInfo info_of(const struct stat& s) {
    FileInfo info;
    info.kind = S_ISREG(s.st_mode)   ? FileKind::kFile
                : S_ISDIR(s.st_mode) ? FileKind::kFolder
                : S_ISLNK(s.st_mode) ? FileKind::kLink
                                     : FileKind::kOther;
    info.bytes = s.st_size > 0 ? static_cast<uint64_t>(s.st_size) : 0;
    info.mode = static_cast<uint32_t>(s.st_mode) & 07777u;
    info.owner = static_cast<uint32_t>(s.st_uid);
    info.group = static_cast<uint32_t>(s.st_gid);
    info.volume = static_cast<uint64_t>(s.st_dev);
    info.number = static_cast<uint64_t>(s.st_ino);
    return info;
}

}  // namespace detail

/// Queries a name without following links.  A name that does not exist is not a failure.
inline bool query_file(const std::string& path, FileInfo* info) {
    struct stat s;
    *info = {};
    if (lstat(path.c_str(), &s) != 0) return errno == ENOENT;
    *info = detail::info_of(s);
    return true;
}

/// Allocated size of a file on disk in bytes, less than its length if the file is sparse.
inline bool bytes_on_disk(const std::string& path, uint64_t* bytes) {
    constexpr uint64_t kBlock = 512;  // unspecified by POSIX, but 512 on all known systems
    struct stat s;
    if (stat(path.c_str(), &s) != 0) return false;
    *bytes = kBlock * static_cast<uint64_t>(s.st_blocks);
    return true;
}

/// True if permissions allow this process to write the existing file.
inline bool may_write(const std::string& path) {
    return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

class File {
  public:
    File() = default;
    File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    File& operator=(File&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~File() { close(); }

    /// Creates a new file and locks it, so that remove_if_abandoned() does not remove it.
    /// is_taken    set if only the name is the problem, so that another one may succeed
    /// is_private  readable only by its owner until take_after()
    bool create_new(const std::string& path, bool is_private, bool* is_taken) {
        do
            fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                         is_private ? 0600 : 0666);
        while (fd_ < 0 && errno == EINTR);
        *is_taken = fd_ < 0 && errno == EEXIST;
        if (fd_ < 0) return false;
        // File systems without locks do not fail here; abandoned files then stay.
        const bool is_held = flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        struct stat s;
        // Between open() and flock() another process may have removed the file as abandoned.
        *is_taken = !is_held || (fstat(fd_, &s) == 0 && s.st_nlink == 0);
        if (!*is_taken) return true;
        close();
        return false;
    }

    /// Creates and locks a file without a name, which vanishes with its last descriptor, a kill
    /// included; give_name() comes after its contents.
    /// is_unsupported  set if the system or the folder has no such files
    bool create_unnamed(const std::string& folder, bool is_private, bool* is_unsupported) {
#if defined(O_TMPFILE)
        do fd_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, is_private ? 0600 : 0666);
        while (fd_ < 0 && errno == EINTR);
        *is_unsupported = fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
        if (fd_ < 0) return false;
        (void)flock(fd_, LOCK_EX | LOCK_NB);
        // give_name() goes through /proc, which some containers lack.
        *is_unsupported = access(own_link().c_str(), F_OK) != 0;
        if (*is_unsupported) close();
        return !*is_unsupported;
#else
        (void)folder, (void)is_private;
        *is_unsupported = true;
        return false;
#endif
    }
    /// Names a file of create_unnamed().  is_taken: as in create_new().
    bool give_name(const std::string& path, bool* is_taken) {
        const bool is_named =
            linkat(AT_FDCWD, own_link().c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
        *is_taken = !is_named && errno == EEXIST;
        return is_named;
    }

    /// Opens or creates a regular file to append to, and locks it against other programs that do
    /// the same; devices are not locked.
    /// is_held  set if another program holds it
    bool open_to_append(const std::string& path, bool* is_held) {
        *is_held = false;
        do
            fd_ = ::open(path.c_str(),
                         O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
        while (fd_ < 0 && errno == EINTR);
        struct stat s;
        if (fd_ < 0 || fstat(fd_, &s) != 0) return false;
        // File systems without locks do not fail here.
        *is_held = S_ISREG(s.st_mode) && flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (*is_held) close();
        return !*is_held;
    }
    /// Empties a regular file; devices stay as they are.
    bool clear() {
        struct stat s;
        return fstat(fd_, &s) == 0 && (!S_ISREG(s.st_mode) || ftruncate(fd_, 0) == 0);
    }

    /// Opens an existing file; does not wait for the other end of a FIFO.
    bool open_to_read(const std::string& path) {
        do fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        while (fd_ < 0 && errno == EINTR);
        return fd_ >= 0;
    }

    bool look(FileInfo* info) const {
        struct stat s;
        if (fstat(fd_, &s) != 0) return false;
        *info = detail::info_of(s);
        return true;
    }

    /// Reads up to `bytes.size()` bytes.  Returns their number, 0 at the end, negative on failure.
    int64_t read(span<std::byte> bytes) {
        ssize_t n = 0;
        do n = ::read(fd_, bytes.data(), bytes.size());
        while (n < 0 && errno == EINTR);
        return n;
    }

    bool write_all(span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            bytes = bytes.subspan(static_cast<size_t>(n));
        }
        return true;
    }

    /// Copies the mode of another file, and its owner and group as far as allowed.
    bool take_after(const FileInfo& other) {
        FileInfo own;
        if (!look(&own)) return false;
        mode_t mode = other.mode & 0777u;
        if (own.owner != other.owner || own.group != other.group) {
            if (fchown(fd_, other.owner, other.group) != 0 &&
                fchown(fd_, static_cast<uid_t>(-1), other.group) != 0 && own.group != other.group)
                mode &= ~070u | ((mode & 07u) << 3);  // a new group gets no more access than others
        }
        return fchmod(fd_, mode) == 0;
    }

    /// Waits until written data is durable.
    bool sync() {
        int result = 0;
        do result = fsync(fd_);
        while (result != 0 && errno == EINTR);
        return result == 0;
    }

    /// Maps the first `bytes` > 0 bytes to read them; null on failure.
    const void* map(uint64_t bytes) const {
        void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd_, 0);
        return memory != MAP_FAILED ? memory : nullptr;
    }
    static void unmap(const void* memory, uint64_t bytes) {
        ::munmap(const_cast<void*>(memory), bytes);
    }

    bool close() {
        // After EINTR the descriptor is closed, too (Linux).
        return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0 || errno == EINTR;
    }

  private:
    std::string own_link() const {
        return "/proc/self/fd/" + std::to_string(fd_);
    }

    int fd_ = -1;
};

/// Renames a finished file, replacing an existing one.  The file may be open.
inline bool replace_file(File&, const std::string& from, const std::string& to) {
    return ::rename(from.c_str(), to.c_str()) == 0;
}

inline bool remove_file(const std::string& path) {
    return ::unlink(path.c_str()) == 0;
}

/// Removes a file that create_new() created, unless a process still has it locked.
inline void remove_if_abandoned(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    struct stat s;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        ::unlink(path.c_str());
    ::close(fd);
}

/// Makes the directory entries of a folder durable.  Not a failure if the folder may not be opened,
/// or if the file system does not support it.
inline bool sync_folder(const std::string& folder) {
    int fd = -1, result = 0;
    do fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return errno == EACCES || errno == EPERM;
    do result = fsync(fd);
    while (result != 0 && errno == EINTR);
    const bool good = result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EPERM;
    const int error = errno;
    ::close(fd);
    errno = error;
    return good;
}

inline std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    DIR* const open = opendir(folder.c_str());
    if (open == nullptr) return names;
    while (const dirent* entry = readdir(open)) names.emplace_back(entry->d_name);
    closedir(open);
    return names;
}

#else  // Windows

inline constexpr char kSeparators[] = "/\\";

inline std::string error_text() {
    const DWORD code = GetLastError();
    char text[512];
    DWORD size = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr,
                                code, 0, text, sizeof text, nullptr);
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) --size;
    return size > 0 ? std::string(text, size) : "error " + std::to_string(code);
}

inline uint32_t process_number() {
    return static_cast<uint32_t>(GetCurrentProcessId());
}

namespace detail {

inline std::wstring wide(const std::string& path) {
    const int size = static_cast<int>(path.size());
    std::wstring text(static_cast<size_t>(size), L'\0');  // UTF-16 units never exceed UTF-8 bytes
    const int used = MultiByteToWideChar(CP_UTF8, 0, path.data(), size, text.data(), size);
    text.resize(static_cast<size_t>(used));
    return text;
}

/// Converts a path for system calls; long paths to the form without the limit of 260 units.
inline std::wstring wide_path(const std::string& path) {
    constexpr size_t kMost = MAX_PATH - 12;  // limit for folders, which leaves room for an 8.3 name
    std::wstring given = wide(path);
    if (given.size() < kMost || given.compare(0, 4, LR"(\\?\)") == 0) return given;
    const DWORD size = GetFullPathNameW(given.c_str(), 0, nullptr, nullptr);
    std::wstring full(size, L'\0');
    full.resize(GetFullPathNameW(given.c_str(), size, full.data(), nullptr));
    if (full.empty()) return given;
    if (full.compare(0, 2, LR"(\\)") == 0) return LR"(\\?\UNC)" + full.substr(1);
    return LR"(\\?\)" + full;
}

inline std::string narrow(const wchar_t* text) {
    const int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
    std::string bytes(static_cast<size_t>(size > 0 ? size - 1 : 0), '\0');
    if (size > 1)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes.data(), size - 1, nullptr, nullptr);
    return bytes;
}

inline FileKind kind_of(DWORD attributes) {
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return FileKind::kFolder;
    if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return FileKind::kLink;
    return (attributes & FILE_ATTRIBUTE_DEVICE) != 0 ? FileKind::kOther : FileKind::kFile;
}

}  // namespace detail

inline bool query_file(const std::string& path, FileInfo* info) {
    *info = {};
    WIN32_FILE_ATTRIBUTE_DATA data;
    if (!GetFileAttributesExW(detail::wide_path(path).c_str(), GetFileExInfoStandard, &data)) {
        const DWORD code = GetLastError();
        return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
    }
    info->kind = detail::kind_of(data.dwFileAttributes);
    info->bytes = uint64_t{data.nFileSizeHigh} << 32 | data.nFileSizeLow;
    return true;
}

inline bool bytes_on_disk(const std::string& path, uint64_t* bytes) {
    DWORD high = 0;
    const DWORD low = GetCompressedFileSizeW(detail::wide_path(path).c_str(), &high);
    if (low == INVALID_FILE_SIZE && GetLastError() != NO_ERROR) return false;
    *bytes = uint64_t{high} << 32 | low;
    return true;
}

inline bool may_write(const std::string& path) {
    const DWORD attributes = GetFileAttributesW(detail::wide_path(path).c_str());
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) == 0)
        return true;
    SetLastError(ERROR_ACCESS_DENIED);
    return false;
}

class File {
  public:
    File() = default;
    File(File&& other) noexcept : handle_(std::exchange(other.handle_, INVALID_HANDLE_VALUE)) {}
    File& operator=(File&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~File() { close(); }

    // No sharing: the file cannot be deleted by others while it is open.
    bool create_new(const std::string& path, bool, bool* is_taken) {
        handle_ = CreateFileW(detail::wide_path(path).c_str(), GENERIC_WRITE, 0, nullptr,
                              CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr);
        *is_taken = handle_ == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS;
        return handle_ != INVALID_HANDLE_VALUE;
    }

    bool create_unnamed(const std::string&, bool, bool* is_unsupported) {
        *is_unsupported = true;
        return false;
    }
    bool give_name(const std::string&, bool*) { return false; }

    bool open_to_append(const std::string& path, bool* is_held) {
        handle_ =
            CreateFileW(detail::wide_path(path).c_str(), FILE_APPEND_DATA | FILE_WRITE_DATA,
                        FILE_SHARE_READ, nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
        *is_held = handle_ == INVALID_HANDLE_VALUE && GetLastError() == ERROR_SHARING_VIOLATION;
        if (handle_ != INVALID_HANDLE_VALUE) SetFilePointer(handle_, 0, nullptr, FILE_END);
        return handle_ != INVALID_HANDLE_VALUE;
    }
    bool clear() {
        return GetFileType(handle_) != FILE_TYPE_DISK ||
               (SetFilePointer(handle_, 0, nullptr, FILE_BEGIN) == 0 && SetEndOfFile(handle_));
    }

    bool open_to_read(const std::string& path) {
        handle_ = CreateFileW(detail::wide_path(path).c_str(), GENERIC_READ,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
        return handle_ != INVALID_HANDLE_VALUE;
    }

    bool look(FileInfo* info) const {
        *info = {};
        if (GetFileType(handle_) != FILE_TYPE_DISK) {
            info->kind = FileKind::kOther;
            return true;
        }
        BY_HANDLE_FILE_INFORMATION data;
        if (!GetFileInformationByHandle(handle_, &data)) return false;
        info->kind = detail::kind_of(data.dwFileAttributes);
        info->bytes = uint64_t{data.nFileSizeHigh} << 32 | data.nFileSizeLow;
        info->volume = data.dwVolumeSerialNumber;
        info->number = uint64_t{data.nFileIndexHigh} << 32 | data.nFileIndexLow;
        return true;
    }

    int64_t read(span<std::byte> bytes) {
        DWORD n = 0;
        const auto size = static_cast<DWORD>(bytes.size() < (1u << 30) ? bytes.size() : 1u << 30);
        return ReadFile(handle_, bytes.data(), size, &n, nullptr) ? int64_t{n} : -1;
    }

    bool write_all(span<const std::byte> bytes) {
        while (!bytes.empty()) {
            DWORD n = 0;
            const auto size =
                static_cast<DWORD>(bytes.size() < (1u << 30) ? bytes.size() : 1u << 30);
            if (!WriteFile(handle_, bytes.data(), size, &n, nullptr) || n == 0) return false;
            bytes = bytes.subspan(n);
        }
        return true;
    }

    const void* map(uint64_t bytes) const {
        const HANDLE mapping = CreateFileMappingW(handle_, nullptr, PAGE_READONLY, 0, 0, nullptr);
        if (mapping == nullptr) return nullptr;
        const void* const memory =
            MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, static_cast<SIZE_T>(bytes));
        CloseHandle(mapping);  // the view keeps the mapping
        return memory;
    }
    static void unmap(const void* memory, uint64_t) { UnmapViewOfFile(memory); }

    bool take_after(const FileInfo&) { return true; }  // not supported: inherits from the folder
    bool sync() { return FlushFileBuffers(handle_) != 0; }
    bool close() {
        const HANDLE handle = std::exchange(handle_, INVALID_HANDLE_VALUE);
        return handle == INVALID_HANDLE_VALUE || CloseHandle(handle) != 0;
    }

  private:
    HANDLE handle_ = INVALID_HANDLE_VALUE;
};

inline bool replace_file(File& file, const std::string& from, const std::string& to) {
    if (!file.close()) return false;
    const std::wstring source = detail::wide_path(from), target = detail::wide_path(to);
    // Readers and virus scanners may briefly hold the old file.
    for (int attempt = 0;; ++attempt) {
        if (MoveFileExW(source.c_str(), target.c_str(),
                        MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
            return true;
        const DWORD code = GetLastError();
        if (attempt == 20 || (code != ERROR_ACCESS_DENIED && code != ERROR_SHARING_VIOLATION))
            return false;
        Sleep(5);
    }
}

inline bool remove_file(const std::string& path) {
    return DeleteFileW(detail::wide_path(path).c_str()) != 0;
}

inline void remove_if_abandoned(const std::string& path) {
    (void)remove_file(path);
}

inline bool sync_folder(const std::string&) {
    return true;  // not needed: MOVEFILE_WRITE_THROUGH
}

inline std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    WIN32_FIND_DATAW data;
    const HANDLE found = FindFirstFileW(detail::wide_path(folder + "/*").c_str(), &data);
    if (found == INVALID_HANDLE_VALUE) return names;
    do names.push_back(detail::narrow(data.cFileName));
    while (FindNextFileW(found, &data));
    FindClose(found);
    return names;
}

#endif

inline uint64_t unlikely_number() {
    static std::atomic<uint64_t> count{0};
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    uint64_t x = static_cast<uint64_t>(now) ^ uint64_t { process_number() } << 32 ^
                 reinterpret_cast<uintptr_t>(&now);
    x += count.fetch_add(1, std::memory_order_relaxed) * 0x9e3779b97f4a7c15u;
    // The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

}  // namespace hearth::os
