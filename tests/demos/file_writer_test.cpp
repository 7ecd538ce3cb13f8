// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The demos' writer of files: it never makes a frame wait, and a write that fails is tried again.

#include "host/file_writer.hpp"

#include <hearth/file.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>

namespace hearth::demo {
namespace {

using namespace std::chrono_literals;

/// A request for these bytes.
FileWriter::Make text(std::string text) {
    return [text = std::move(text)]() -> Result<std::vector<std::byte>> {
        const auto bytes = std::as_bytes(std::span(text));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
}

/// What was written, in order, by a disk that waits and fails as it is told to.
class Disk {
  public:
    FileWriter::Write writer() {
        return [this](const std::string& path, std::span<const std::byte> bytes) -> Status {
            std::unique_lock lock(mutex_);
            ++begun_;
            changed_.notify_all();
            changed_.wait(lock, [&] { return !is_stuck_; });
            if (failures_to_come_ > 0) {
                --failures_to_come_;
                return not_found("cannot write '" + path + "'");
            }
            written_.push_back(
                path + "=" +
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
            changed_.notify_all();
            return {};
        };
    }
    void stick(bool is_stuck) {
        const std::lock_guard lock(mutex_);
        is_stuck_ = is_stuck;
        changed_.notify_all();
    }
    void fail(int times) {
        const std::lock_guard lock(mutex_);
        failures_to_come_ = times;
    }
    void wait_until_begun(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return begun_ >= count; });
    }
    void wait_until_written(size_t count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return written_.size() >= count; });
    }
    std::vector<std::string> written() {
        const std::lock_guard lock(mutex_);
        return written_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_stuck_ = false;
    int failures_to_come_ = 0;
    int begun_ = 0;
    std::vector<std::string> written_;
};

using Texts = std::vector<std::string>;

TEST(FileWriter, NobodyWaitsForAWriteThatIsStuck) {
    Disk disk;
    disk.stick(true);
    FileWriter files(disk.writer());
    files.write("a", text("0"));
    disk.wait_until_begun(1);
    // This would never end if any of it waited.
    for (int i = 1; i < 1000; ++i) {
        files.write("a", text(std::to_string(i)));
        EXPECT_TRUE(files.take_failures().empty());
        EXPECT_EQ(files.failure_count(), 0u);
    }
    disk.stick(false);
    EXPECT_TRUE(files.finish().ok());
    EXPECT_EQ(disk.written(), (Texts{"a=0", "a=999"})) << "of those in between nobody needs any";
}

TEST(FileWriter, FilesDoNotTakeEachOthersPlaces) {
    Disk disk;
    FileWriter files(disk.writer());
    for (const char* path : {"a", "b", "c"}) files.write(path, text(path));
    EXPECT_TRUE(files.finish().ok());
    EXPECT_EQ(disk.written().size(), 3u);
}

TEST(FileWriter, AFailedWriteIsToldAndCountedAndTriedAgain) {
    Disk disk;
    disk.fail(3);
    FileWriter files(disk.writer(), 1ms);
    files.write("a", text("x"));
    disk.wait_until_written(1);  // by itself, without another request
    EXPECT_TRUE(files.finish().ok());
    EXPECT_EQ(disk.written(), Texts{"a=x"});
    EXPECT_EQ(files.failure_count(), 3u);
    EXPECT_EQ(files.take_failures(), Texts(3, "cannot write 'a'"));
    EXPECT_TRUE(files.take_failures().empty());
}

TEST(FileWriter, AnotherProgramThatSavesTheSameFileIsReported) {
    const std::string path = (std::filesystem::temp_directory_path() /
                              ("hearth_two_games_" + std::to_string(os::process_number())))
                                 .string();
    FileWriter files;
    const auto save = [&](const char* contents) {
        files.write(path, text(contents));
        EXPECT_TRUE(files.finish().ok());
        return files.take_failures();
    };
    EXPECT_EQ(save("mine"), Texts());
    EXPECT_EQ(save("mine, later"), Texts());
    // More than once, so that the first one's number may be used again.
    for (const char* other : {"yours", "yours, later"})
        ASSERT_TRUE(write_file_atomically(path, std::string_view(other)).ok());
    EXPECT_EQ(save("mine again"), Texts{"another program also saves to '" + path +
                                        "'; the last to save wins, so give each game a file of "
                                        "its own"});
    EXPECT_EQ(save("mine again"), Texts());
    const auto kept = read_whole_file(path);
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(kept->size(), 10u) << "the last to save wins";
    std::filesystem::remove(path);
}

TEST(FileWriter, ANewerRequestTakesThePlaceOfAFailedOne) {
    Disk disk;
    disk.fail(1);
    FileWriter files(disk.writer(), 1h);
    files.write("a", text("old"));
    disk.wait_until_begun(1);
    while (files.failure_count() == 0) std::this_thread::yield();
    files.write("a", text("new"));
    disk.wait_until_written(1);
    EXPECT_TRUE(files.finish().ok());
    EXPECT_EQ(disk.written(), Texts{"a=new"});
}

TEST(FileWriter, FinishTriesOnceMoreAtOnceAndTellsWhatIsLost) {
    Disk disk;
    disk.fail(1);
    FileWriter files(disk.writer(), 1h);
    files.write("a", text("x"));
    while (files.failure_count() == 0) std::this_thread::yield();
    EXPECT_TRUE(files.finish().ok());
    EXPECT_EQ(disk.written(), Texts{"a=x"});

    disk.fail(1000);
    files.write("b", text("y"));
    const Status lost = files.finish();
    EXPECT_EQ(lost.message(), "cannot write 'b'");
    disk.fail(0);
    EXPECT_TRUE(files.finish().ok()) << "it was given up, and told once";
    EXPECT_EQ(disk.written(), Texts{"a=x"});
}

TEST(FileWriter, BytesThatCannotBeMadeAreAFailureToo) {
    Disk disk;
    FileWriter files(disk.writer(), 1h);
    files.write("a", []() -> Result<std::vector<std::byte>> { return internal_error("no bytes"); });
    EXPECT_EQ(files.finish().message(), "no bytes");
    EXPECT_TRUE(disk.written().empty());
}

TEST(FileWriter, WritesFilesAsAWholeAndFinishesWhenItEnds) {
    const std::string path = ::testing::TempDir() + "/hearth_file_writer_test";
    {
        FileWriter files;
        files.write(path, text("whole"));
    }
    const auto bytes = read_whole_file(path);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->size(), 5u);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace hearth::demo
