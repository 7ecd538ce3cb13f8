// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What hearth/file.hpp promises on every system; file_test.cpp has what only POSIX systems can be
// asked.

#include <hearth/file.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace hearth {
namespace {

std::string text_of(const std::string& path) {
    const Result<std::vector<std::byte>> bytes = read_whole_file(path);
    if (!bytes.ok()) return "error: " + bytes.status().message();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

class ReplacedFile : public ::testing::Test {
  protected:
    ReplacedFile() {
        // Not ASCII: paths are UTF-8.
        folder_ = std::filesystem::temp_directory_path() /
                  std::filesystem::path(
                      u8"hearth_\u00e9\u4f60_" +
                      std::u8string(1, static_cast<char8_t>('a' + os::process_number() % 26)));
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        const std::u8string name = (folder_ / "weights.brain").u8string();
        path_.assign(name.begin(), name.end());
    }
    ~ReplacedFile() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    size_t files() const {
        size_t count = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_))
            ++count;
        return count;
    }

    std::filesystem::path folder_;
    std::string path_;
};

TEST_F(ReplacedFile, NewContentsTakeThePlaceOfTheOldAndNothingElseStays) {
    ASSERT_TRUE(write_file_atomically(path_, "first").ok());
    EXPECT_EQ(text_of(path_), "first");
    const Status second = write_file_atomically(path_, "the second, which is longer");
    ASSERT_TRUE(second.ok()) << second.message();
    EXPECT_EQ(text_of(path_), "the second, which is longer");
    EXPECT_EQ(files(), 1u);
}

TEST_F(ReplacedFile, AReaderKeepsTheOldContentsAndTheNewOnesComeWholeOrNotAtAll) {
    ASSERT_TRUE(write_file_atomically(path_, "old").ok());
    {
        os::File reader;
        ASSERT_TRUE(reader.open_to_read(path_));
        const Status written = write_file_atomically(path_, "new");
#if defined(_WIN32)
        // An open file is in the way there, for longer than the writer tries again.
        EXPECT_FALSE(written.ok());
        EXPECT_EQ(text_of(path_), "old");
#else
        EXPECT_TRUE(written.ok()) << written.message();
        EXPECT_EQ(text_of(path_), "new");
#endif
        std::byte bytes[8];
        EXPECT_EQ(reader.read(bytes), 3);
        EXPECT_EQ(static_cast<char>(bytes[0]), 'o');
    }
    EXPECT_TRUE(write_file_atomically(path_, "newer").ok());
    EXPECT_EQ(text_of(path_), "newer");
    EXPECT_EQ(files(), 1u);
}

TEST_F(ReplacedFile, APathMayBeLongerThanWindowsOlderCallsTake) {
    // Each folder still is one that those make; the file in it is none.
    const std::filesystem::path deep = folder_ / std::string(90, 'd') / std::string(90, 'e');
    std::filesystem::create_directories(deep);
    const std::u8string name = (deep / std::string(90, 'f')).u8string();
    const std::string path(name.begin(), name.end());
    ASSERT_GT(path.size(), 260u);
    for (const char* text : {"first", "second"}) {
        const Status written = write_file_atomically(path, text);
        ASSERT_TRUE(written.ok()) << written.message();
        EXPECT_EQ(text_of(path), text);
    }
}

TEST_F(ReplacedFile, TwoNamesOfOneFileAreToldFromTwoFiles) {
    const auto info_of = [](const std::string& path) {
        os::File file;
        os::FileInfo info;
        EXPECT_TRUE(file.open_to_read(path) && file.look(&info)) << path;
        return info;
    };
    ASSERT_TRUE(write_file_atomically(path_, "text").ok());
    ASSERT_TRUE(write_file_atomically(path_ + "2", "text").ok());
    const os::FileInfo one = info_of(path_), same = info_of(path_), other = info_of(path_ + "2");
    EXPECT_EQ(one.volume, same.volume);
    EXPECT_EQ(one.number, same.number);
    EXPECT_NE(one.number, other.number);
    uint64_t on_disk = 0;
    ASSERT_TRUE(write_file_atomically(path_, std::string(100'000, 'x')).ok());
    EXPECT_TRUE(os::bytes_on_disk(path_, &on_disk));
    EXPECT_GE(on_disk, 100'000u);
    EXPECT_FALSE(os::bytes_on_disk(path_ + "3", &on_disk));
}

TEST_F(ReplacedFile, AFolderIsNotReplacedAndIsNamed) {
    const std::u8string name = folder_.u8string();
    const Status status = write_file_atomically(std::string(name.begin(), name.end()), "text");
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("folder"), std::string::npos) << status.message();
    EXPECT_FALSE(check_writable(std::string(name.begin(), name.end()) + "/none/at/all").ok());
}

}  // namespace
}  // namespace hearth
