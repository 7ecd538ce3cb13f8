// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files replaced as a whole (hearth/file.hpp), with the system under them made to fail and to kill.
//
// The calls that a save makes are defined here in place of libc's: they count, and on request the
// process dies before one of them, or one fails.

#include <hearth/file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// What happens at the calls below, in this process.
struct Interposed {
    bool is_on = false;
    std::vector<std::string> calls;  ///< names, in order
    int fatal = -1;                  ///< the process is killed before this call
    int failing = -1;                ///< this call fails with `error`
    int error = EIO;
    size_t most_written = SIZE_MAX;     ///< bytes that one write takes
    bool interrupts_each_once = false;  ///< calls that may, fail with EINTR before they work
    bool was_interrupted = false;
    bool has_no_unnamed_files = false;  ///< O_TMPFILE fails, as on some file systems
};
Interposed interposed;

/// Counts a call; whether it shall fail, with errno set.
bool call_fails(const char* name) {
    Interposed& i = interposed;
    if (!i.is_on) return false;
    const bool can_be_interrupted =
        std::string_view("create open write sync folder").find(name) != std::string_view::npos;
    if (i.interrupts_each_once && can_be_interrupted && !std::exchange(i.was_interrupted, true)) {
        errno = EINTR;
        return true;
    }
    i.was_interrupted = false;
    const auto number = static_cast<int>(i.calls.size());
    i.calls.emplace_back(name);
    if (number == i.fatal) raise(SIGKILL);
    if (number != i.failing) return false;
    errno = i.error;
    return true;
}

bool is_folder(int fd) {
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISDIR(s.st_mode);
}

}  // namespace

extern "C" {
int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const bool creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    const int mode = creates ? va_arg(more, int) : 0;
    va_end(more);
    if ((flags & O_TMPFILE) == O_TMPFILE && interposed.has_no_unnamed_files) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (call_fails(creates ? "create" : "open")) return -1;
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
ssize_t write(int fd, const void* bytes, size_t size) {
    if (call_fails("write")) return -1;
    if (interposed.is_on) size = std::min(size, interposed.most_written);
    // A process may also die in the middle of a write.
    if (interposed.is_on && static_cast<int>(interposed.calls.size()) == interposed.fatal)
        size = (size + 1) / 2;
    return syscall(SYS_write, fd, bytes, size);
}
int fsync(int fd) {
    if (call_fails(is_folder(fd) ? "sync folder" : "sync")) return -1;
    return static_cast<int>(syscall(SYS_fsync, fd));
}
int fchmod(int fd, mode_t mode) noexcept {
    if (call_fails("chmod")) return -1;
    return static_cast<int>(syscall(SYS_fchmod, fd, mode));
}
int flock(int fd, int operation) noexcept {
    // Where there are no locks, files are written all the same.
    if (call_fails("lock")) return -1;
    return static_cast<int>(syscall(SYS_flock, fd, operation));
}
int rename(const char* from, const char* to) noexcept {
    if (call_fails("rename")) return -1;
    return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    if (call_fails("link")) return -1;
    return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
int unlink(const char* path) noexcept {
    if (call_fails("unlink")) return -1;
    return static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int close(int fd) {
    const bool fails = call_fails("close");
    const int error = errno;
    const auto result = static_cast<int>(syscall(SYS_close, fd));  // it is closed in any case
    if (!fails) return result;
    errno = error;
    return -1;
}
}

namespace hearth::test {
namespace {

namespace fs = std::filesystem;

/// Contents whose every part tells which they are.
std::string contents(char which, size_t size = 200'000) {
    return std::string(size, which);
}

class AtomicFile : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() /
                  ("hearth_file_" + std::to_string(getpid()) + "_" + info.name());
        fs::create_directories(folder_);
        path_ = path("ghost.brain");
        alarm(120);  // what blocks for ever is a failure, not a hang
    }
    void TearDown() override {
        alarm(0);
        interposed = {};
        fs::remove_all(folder_);
    }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    static std::string text_of(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static mode_t mode_of(const std::string& path) {
        struct stat s;
        return stat(path.c_str(), &s) == 0 ? s.st_mode & 07777 : 0;
    }
    /// All names in the folder.
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(folder_))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }
    /// The names of a temporary file of path_, as a killed process would leave it.
    std::string leftover(const std::string& digits) const { return path_ + "." + digits + ".tmp"; }

    bool has_unnamed_files() const {
        os::File file;
        bool is_unsupported = false;
        return file.create_unnamed(folder_.string(), false, &is_unsupported);
    }
    /// Kills a save before each of its calls in turn; counts those that left a temporary file.
    void kill_before_each_call(bool has_no_unnamed_files, int* leftovers);

    fs::path folder_;
    std::string path_;
};

TEST_F(AtomicFile, IsCreatedAndReplacedAndLeavesNothingElse) {
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    EXPECT_EQ(text_of(path_), contents('a'));
    ASSERT_TRUE(write_file_atomically(path_, contents('b', 3)).ok());
    EXPECT_EQ(text_of(path_), "bbb");
    ASSERT_TRUE(write_file_atomically(path_, std::string()).ok());
    EXPECT_EQ(text_of(path_), "");
    EXPECT_EQ(names(), std::vector<std::string>{"ghost.brain"});
}

// The temporary file was once called PATH.tmp, whatever lay there.
TEST_F(AtomicFile, DoesNotWriteThroughALinkWhereItsTemporaryFileOnceWas) {
    std::ofstream(path("victim")) << "precious";
    fs::create_symlink(path("victim"), path_ + ".tmp");
    EXPECT_TRUE(write_file_atomically(path_, contents('a')).ok());
    EXPECT_EQ(text_of(path("victim")), "precious");
    EXPECT_FALSE(fs::is_symlink(path_));
    EXPECT_EQ(text_of(path_), contents('a'));
}

TEST_F(AtomicFile, DoesNotWaitForAFifoWhereItsTemporaryFileOnceWas) {
    ASSERT_EQ(mkfifo((path_ + ".tmp").c_str(), 0600), 0);
    EXPECT_TRUE(write_file_atomically(path_, contents('a')).ok());
    EXPECT_EQ(text_of(path_), contents('a'));
}

TEST_F(AtomicFile, OnlyRegularFilesAreReplaced) {
    const auto refused = [&](const std::string& target) {
        const Status status = write_file_atomically(target, contents('a'));
        EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << target;
        EXPECT_EQ(check_writable(target).message(), status.message());
        return status.message();
    };
    std::ofstream(path("victim")) << "precious";
    fs::create_symlink(path("victim"), path("link"));
    fs::create_symlink(path("nothing"), path("dangling"));
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    for (const char* name : {"link", "dangling"})
        EXPECT_EQ(refused(path(name)), "cannot replace '" + path(name) +
                                           "': it is a symbolic link, expected a regular file or a "
                                           "new name");
    for (const std::string& name :
         {path("fifo"), std::string("/dev/full"), std::string("/dev/null")})
        EXPECT_NE(refused(name).find("a device, a FIFO or a socket"), std::string::npos) << name;
    if (fs::is_symlink("/dev/stdout")) {
        EXPECT_NE(refused("/dev/stdout").find("symbolic link"), std::string::npos);
    }
    EXPECT_NE(refused(folder_.string()).find("it is a folder"), std::string::npos);
    for (const char* name : {"", "/", ".", "..", "a/..", "a/"})
        EXPECT_EQ(refused(name), "'" + std::string(name) + "' names no file");
    refused(path_ + std::string("\0.png", 5));
    EXPECT_EQ(text_of(path("victim")), "precious");
    EXPECT_EQ(names(), (std::vector<std::string>{"dangling", "fifo", "link", "victim"}));
}

TEST_F(AtomicFile, KeepsTheModeOfTheFileThatWasThere) {
    for (const mode_t mode : {0600, 0640, 0604, 0777}) {
        ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
        ASSERT_EQ(chmod(path_.c_str(), mode), 0);
        ASSERT_TRUE(write_file_atomically(path_, contents('b')).ok());
        EXPECT_EQ(mode_of(path_), mode);
    }
}

TEST_F(AtomicFile, IsNoMoreOpenWhileItIsWrittenThanTheFileThatWasThere) {
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
    int looked = 0;
    const Status status = write_file_atomically(path_, contents('b'), [&](FileStage stage) {
        if (stage >= FileStage::kRenamed) return;
        for (const std::string& name : names()) {
            EXPECT_EQ(mode_of(path(name)) & 077, 0u) << name;
            ++looked;
        }
    });
    ASSERT_TRUE(status.ok());
    EXPECT_GT(looked, 4);
}

TEST_F(AtomicFile, NewFilesFollowTheUmask) {
    const mode_t old = umask(027);
    const Status status = write_file_atomically(path_, contents('a'));
    umask(old);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(mode_of(path_), 0640u);
}

TEST_F(AtomicFile, KeepsOwnerAndGroupWhereThatIsAllowed) {
    if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
    ASSERT_TRUE(write_file_atomically(path_, contents('b')).ok());
    struct stat s;
    ASSERT_EQ(stat(path_.c_str(), &s), 0);
    EXPECT_EQ(s.st_uid, 65534u);
    EXPECT_EQ(s.st_gid, 65534u);
}

TEST_F(AtomicFile, AFileThatMayNotBeWrittenIsNotReplaced) {
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
    ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0) _exit(3);  // root may write anything
        _exit(check_writable(path_).ok()                         ? 1
              : write_file_atomically(path_, contents('b')).ok() ? 2
                                                                 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(text_of(path_), contents('a'));
}

TEST_F(AtomicFile, LongNamesHaveRoomForTheirTemporaryOnes) {
    const std::string longest = path(std::string(255, 'n'));
    EXPECT_TRUE(write_file_atomically(longest, contents('a')).ok());
    EXPECT_EQ(text_of(longest), contents('a'));
    EXPECT_FALSE(write_file_atomically(longest + "n", contents('a')).ok());
    EXPECT_EQ(names().size(), 1u);
}

TEST_F(AtomicFile, IsDurableBeforeItIsRenamedAndItsFolderAfterwards) {
    if (!has_unnamed_files()) GTEST_SKIP() << "no O_TMPFILE in " << folder_;
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    interposed.is_on = true;
    const Status status = write_file_atomically(path_, contents('b', 100));
    interposed.is_on = false;
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(interposed.calls,
              (std::vector<std::string>{"create", "lock", "write", "chmod", "sync", "link",
                                        "rename", "close", "open", "sync folder", "close"}));
}

TEST_F(AtomicFile, IsWrittenWithANameWhereTheSystemHasNoFilesWithoutOne) {
    interposed.has_no_unnamed_files = true;
    interposed.is_on = true;
    const Status status = write_file_atomically(path_, contents('b', 100));
    interposed.is_on = false;
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(interposed.calls,
              (std::vector<std::string>{"create", "lock", "write", "sync", "rename", "close",
                                        "open", "sync folder", "close"}));
    EXPECT_EQ(text_of(path_), contents('b', 100));
}

void AtomicFile::kill_before_each_call(bool has_no_unnamed_files, int* leftovers) {
    int fatal = 0;
    bool saw[2] = {};
    for (;; ++fatal) {
        interposed = {};
        interposed.has_no_unnamed_files = has_no_unnamed_files;
        ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            interposed.is_on = true;
            interposed.fatal = fatal;
            _exit(write_file_atomically(path_, contents('b')).ok() ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        const std::string found = text_of(path_);
        ASSERT_TRUE(found == contents('a') || found == contents('b')) << "before call " << fatal;
        saw[found == contents('b')] = true;
        if (names().size() > 1) ++*leftovers;
        // A program that only looks whether it could save removes it, too.
        ASSERT_TRUE(check_writable(path_).ok());
        ASSERT_EQ(names(), std::vector<std::string>{"ghost.brain"}) << "before call " << fatal;
        // The next save goes on in spite of what the killed one left behind, and removes it.
        ASSERT_TRUE(write_file_atomically(path_, contents('c')).ok());
        ASSERT_EQ(text_of(path_), contents('c'));
        ASSERT_EQ(names(), std::vector<std::string>{"ghost.brain"}) << "before call " << fatal;
        if (!WIFSIGNALED(status)) break;
        ASSERT_EQ(WTERMSIG(status), SIGKILL);
    }
    EXPECT_GE(fatal, 12);  // all calls of the tests above, and some writes more
    EXPECT_TRUE(saw[0] && saw[1]);
}

TEST_F(AtomicFile, KilledBeforeAnyCallTheOldOrTheNewFileIsThereWhole) {
    int leftovers = 0;
    kill_before_each_call(true, &leftovers);
    EXPECT_GE(leftovers, 5) << "each kill before the rename leaves one";
}

TEST_F(AtomicFile, NoTemporaryFileStaysAfterAKillButBetweenItsNameAndTheRename) {
    if (!has_unnamed_files()) GTEST_SKIP() << "no O_TMPFILE in " << folder_;
    int leftovers = 0;
    kill_before_each_call(false, &leftovers);
    EXPECT_EQ(leftovers, 1);
}

TEST_F(AtomicFile, WhicheverCallFailsTheOldOrTheNewFileIsThereWhole) {
    for (const int error : {EIO, ENOSPC, EDQUOT, EPERM})
        for (int failing = 0;; ++failing) {
            interposed = {};
            ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
            interposed.is_on = true;
            interposed.failing = failing;
            interposed.error = error;
            const Status status = write_file_atomically(path_, contents('b'));
            interposed.is_on = false;
            const bool is_reached = interposed.calls.size() > static_cast<size_t>(failing);
            const std::string call =
                is_reached ? interposed.calls[static_cast<size_t>(failing)] : "none";
            const std::string found = text_of(path_);
            ASSERT_TRUE(found == contents('a') || found == contents('b')) << call;
            if (status.ok()) {
                ASSERT_EQ(found, contents('b')) << call;
            } else {
                EXPECT_NE(status.message().find(std::strerror(error)), std::string::npos) << call;
                EXPECT_NE(status.message().find(path_), std::string::npos) << status.message();
            }
            for (const char* must_fail : {"create", "write", "chmod", "sync", "rename"})
                if (call == must_fail) {
                    EXPECT_FALSE(status.ok()) << call;
                    EXPECT_EQ(found, contents('a')) << call;
                }
            // Some folders cannot be made durable, and then nobody expects it.
            if (call == "sync folder" && error != EPERM) {
                EXPECT_FALSE(status.ok()) << call;
            }
            if (call != "unlink") {
                ASSERT_EQ(names(), std::vector<std::string>{"ghost.brain"}) << call;
            }
            if (!is_reached) {
                EXPECT_TRUE(status.ok());
                break;
            }
        }
}

TEST_F(AtomicFile, ShortAndInterruptedWritesGoOn) {
    interposed.is_on = true;
    interposed.most_written = 1000;
    interposed.interrupts_each_once = true;
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    EXPECT_GE(interposed.calls.size(), 200u);
    EXPECT_EQ(text_of(path_), contents('a'));
}

TEST_F(AtomicFile, AFullDiskLeavesTheOldFile) {
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        (void)signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100'000, 100'000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
        _exit(write_file_atomically(path_, contents('b')).ok() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(text_of(path_), contents('a'));
    EXPECT_EQ(names(), std::vector<std::string>{"ghost.brain"});
}

TEST_F(AtomicFile, ProcessesThatSaveOneFileAtATimeNeverBreakIt) {
    constexpr int kWriters = 5, kSaves = 60, kLooks = 10;
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    // A busy machine may run the writers before who looks: they go on until the pipe is closed at
    // this end.
    int watched[2];
    ASSERT_EQ(pipe2(watched, O_CLOEXEC | O_NONBLOCK), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kWriters; ++i) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            close(watched[1]);
            char nothing;
            for (int save = 0; save < kSaves || read(watched[0], &nothing, 1) != 0; ++save) {
                const auto which = static_cast<char>('a' + (save + i) % 26);
                // Sizes differ, so that a mixture shows as well.
                const size_t size = 1000 + 37'000 * static_cast<size_t>(i);
                if (!write_file_atomically(path_, contents(which, size)).ok()) _exit(1);
            }
            _exit(0);
        }
        children.push_back(child);
    }
    int looks = 0;
    bool is_running = true;
    while (is_running) {
        const std::string text = text_of(path_);
        ASSERT_FALSE(text.empty());
        ASSERT_EQ(text, contents(text[0], text.size())) << "look " << looks;
        ASSERT_TRUE(text.size() == 200'000 || (text.size() - 1000) % 37'000 == 0) << text.size();
        if (++looks == kLooks) close(watched[1]);
        siginfo_t ended{};
        is_running = waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
        // Collects one child at a time; ECHILD once there are no more.
        if (is_running && ended.si_pid != 0) {
            int status = 0;
            ASSERT_EQ(waitpid(ended.si_pid, &status, 0), ended.si_pid);
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
    }
    EXPECT_GE(looks, kLooks);
    close(watched[0]);
    EXPECT_EQ(names(), std::vector<std::string>{"ghost.brain"});
}

TEST_F(AtomicFile, ProcessesKilledAmongOthersLeaveAWholeFile) {
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    const auto start = [&](char which) {
        const pid_t child = fork();
        if (child == 0)
            for (;;)
                if (!write_file_atomically(path_, contents(which)).ok()) _exit(1);
        return child;
    };
    const pid_t steady = start('s');
    for (int round = 0; round < 40; ++round) {
        const pid_t child = start(static_cast<char>('a' + round % 26));
        usleep(static_cast<useconds_t>(300 + 157 * round % 4000));
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "a save failed";
        const std::string text = text_of(path_);
        ASSERT_EQ(text, contents(text[0])) << round;
    }
    kill(steady, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(steady, &status, 0), steady);
    EXPECT_TRUE(WIFSIGNALED(status)) << "a save failed";
    ASSERT_TRUE(write_file_atomically(path_, contents('z')).ok());
    EXPECT_EQ(names(), std::vector<std::string>{"ghost.brain"});
}

TEST_F(AtomicFile, LeftoversAreRemovedUnlessSomebodyIsAtWork) {
    std::ofstream(leftover("0123456789abcdef")) << "half a brai";
    std::ofstream(leftover("1111111111111111")) << "another process is writing this";
    const int held = ::open(leftover("1111111111111111").c_str(), O_RDONLY);
    ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
    ASSERT_EQ(mkfifo(leftover("2222222222222222").c_str(), 0600), 0);
    fs::create_symlink(path("victim"), leftover("3333333333333333"));
    std::ofstream(path("victim")) << "precious";
    const std::vector<std::string> others = {"ghost.brain.tmp", "ghost.brain.0123.tmp",
                                             "other.brain.0123456789abcdef.tmp",
                                             "ghost.brain.0123456789ABCDEF.tmp"};
    for (const std::string& name : others) std::ofstream(path(name)) << "not ours";
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    std::vector<std::string> expected = others;
    for (const char* digits : {"1111111111111111", "2222222222222222", "3333333333333333"})
        expected.push_back("ghost.brain." + std::string(digits) + ".tmp");
    expected.insert(expected.end(), {"ghost.brain", "victim"});
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(names(), expected);
    EXPECT_EQ(text_of(path("victim")), "precious");
    ::close(held);
}

TEST_F(AtomicFile, CanBeCheckedBeforeItIsNeeded) {
    EXPECT_TRUE(check_writable(path_).ok());
    EXPECT_TRUE(names().empty()) << "a check leaves nothing";
    ASSERT_TRUE(write_file_atomically(path_, contents('a')).ok());
    EXPECT_TRUE(check_writable(path_).ok());
    EXPECT_EQ(text_of(path_), contents('a'));
    const Status nowhere = check_writable(path("nowhere/ghost.brain"));
    EXPECT_EQ(nowhere.message(), "cannot create a file beside '" + path("nowhere/ghost.brain") +
                                     "': No such file or directory");
    EXPECT_EQ(check_writable("/proc/ghost.brain").ok(), false);
}

TEST_F(AtomicFile, IsReadWithinBounds) {
    ASSERT_TRUE(write_file_atomically(path_, contents('a', 1000)).ok());
    const auto bytes = read_whole_file(path_, 1000);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_EQ(bytes->size(), 1000u);
    const auto refused = [](const std::string& path, uint64_t most = 1 << 20) {
        const auto found = read_whole_file(path, most);
        return found.ok() ? std::string("read") : found.status().message();
    };
    EXPECT_EQ(refused(path_, 999), "'" + path_ + "' is larger than 999 bytes");
    const std::string sparse = path("sparse");
    std::ofstream(sparse) << "";
    ASSERT_EQ(truncate(sparse.c_str(), off_t{1} << 40), 0);
    EXPECT_EQ(refused(sparse), "'" + sparse + "' is larger than 1048576 bytes");
    EXPECT_EQ(read_whole_file(sparse).status().code(), StatusCode::kOutOfRange);
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    for (const std::string& endless : {path("fifo"), std::string("/dev/zero")})
        EXPECT_EQ(refused(endless),
                  "'" + endless + "' is a device, a FIFO or a socket, expected a file");
    EXPECT_EQ(refused(folder_.string()), "'" + folder_.string() + "' is a folder, expected a file");
    EXPECT_EQ(refused(path("nothing")),
              "cannot open '" + path("nothing") + "': No such file or directory");
    // A file that says it has no bytes, and has some.
    const auto status = read_whole_file("/proc/self/status", 1 << 20);
    ASSERT_TRUE(status.ok());
    EXPECT_GT(status->size(), 100u);
    EXPECT_EQ(refused("/proc/self/status", 50), "'/proc/self/status' is larger than 50 bytes");
}

}  // namespace
}  // namespace hearth::test
