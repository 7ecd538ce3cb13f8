// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writers of run logs (hearth/run_log.hpp): one program for each log, and requests to it.

#include <hearth/run_log.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>

namespace hearth {
namespace {

class RunLog : public ::testing::Test {
  protected:
    void SetUp() override {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string text() const {
        const Result<std::vector<std::byte>> bytes = read_whole_file(path_);
        if (!bytes.ok()) return bytes.status().message();
        return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() /
        ("hearth_run_log_" + std::to_string(os::process_number()));
    const std::string path_ = (folder_ / "run.jsonl").string();
};

TEST_F(RunLog, ASecondGameDoesNotWriteIntoTheLogOfTheFirst) {
    Result<RunLogWriter> first = RunLogWriter::open(path_);
    ASSERT_TRUE(first.ok()) << first.status().message();
    ASSERT_TRUE(first->write(run_log_begin("one", "frames")).ok());
    for (const auto mode : {RunLogWriter::Mode::kReplace, RunLogWriter::Mode::kAppend}) {
        const Result<RunLogWriter> second = RunLogWriter::open(path_, mode);
        ASSERT_FALSE(second.ok());
        EXPECT_EQ(second.status().message(), "another program is writing the run log '" + path_ +
                                                 "'; give each run a log of its own");
    }
    ASSERT_TRUE(first->write(run_log_event(1, "still here")).ok());
    EXPECT_EQ(text(), run_log_begin("one", "frames") + run_log_event(1, "still here"));
    first = RunLogWriter();
    Result<RunLogWriter> later = RunLogWriter::open(path_, RunLogWriter::Mode::kAppend);
    ASSERT_TRUE(later.ok()) << later.status().message();
    ASSERT_TRUE(later->write(run_log_event(2, "later")).ok());
    EXPECT_NE(text().find("still here"), std::string::npos);
    later = RunLogWriter();
    ASSERT_TRUE(RunLogWriter::open(path_).ok());
    EXPECT_EQ(text(), "");
}

TEST_F(RunLog, RequestsToAnEarlierRunAreWithdrawn) {
    ASSERT_TRUE(RunLogWriter::open(path_).ok());
    for (const RunRequest request : kAllRunRequests) ASSERT_TRUE(request_run(path_, request).ok());
    Result<RunLogWriter> log = RunLogWriter::open(path_);
    ASSERT_TRUE(log.ok());
    const RunControl asked = log->control();
    EXPECT_FALSE(asked.stop || asked.pause || asked.freeze);
}

TEST_F(RunLog, AStopIsTakenOnceAndTheOthersStayUntilTheyAreWithdrawn) {
    Result<RunLogWriter> log = RunLogWriter::open(path_);
    ASSERT_TRUE(log.ok());
    for (const RunRequest request : kAllRunRequests) ASSERT_TRUE(request_run(path_, request).ok());
    RunControl asked = log->control();
    EXPECT_TRUE(asked.stop && asked.pause && asked.freeze);
    asked = log->control();
    EXPECT_TRUE(!asked.stop && asked.pause && asked.freeze);
    ASSERT_TRUE(request_run(path_, RunRequest::kPause, false).ok());
    ASSERT_TRUE(request_run(path_, RunRequest::kPause, false).ok()) << "there is none to withdraw";
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    asked = log->control();
    EXPECT_TRUE(!asked.stop && !asked.pause && asked.freeze);
    EXPECT_NE(request_run((folder_ / "none").string(), RunRequest::kStop)
                  .message()
                  .find("there is no run log"),
              std::string::npos);
}

TEST_F(RunLog, APausedRunWaitsUntilItGoesOn) {
    Result<RunLogWriter> log = RunLogWriter::open(path_);
    ASSERT_TRUE(log.ok() && request_run(path_, RunRequest::kPause).ok());
    std::thread player([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        EXPECT_TRUE(request_run(path_, RunRequest::kPause, false).ok());
    });
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(log->waits_or_stops());
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(150));
    player.join();
}

TEST_F(RunLog, ADeviceIsNoLogOfAnybody) {
#if !defined(_WIN32)
    Result<RunLogWriter> one = RunLogWriter::open("/dev/null"),
                         two = RunLogWriter::open("/dev/null");
    ASSERT_TRUE(one.ok() && two.ok());
    EXPECT_TRUE(one->write(run_log_event(1, "unseen")).ok());
#endif
    RunLogWriter none;
    EXPECT_TRUE(none.write("unseen").ok());
    EXPECT_FALSE(none.control().stop);
}

}  // namespace
}  // namespace hearth
