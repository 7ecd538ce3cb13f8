// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How the demos, run as programs, take wrong numbers, files that are none, places that cannot be
// written, signals that end them, and output that nobody receives.

#include <hearth/brain.hpp>
#include <hearth/file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stb_image.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

namespace hearth::demo {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

fs::path folder_of_programs() {
    return fs::read_symlink("/proc/self/exe").parent_path();
}

/// A program under way, with what it prints to both streams in a file.
class Process {
  public:
    struct Options {
        std::string output;           ///< where its streams go
        std::string folder;           ///< where it runs
        bool ignores_hangup = false;  ///< as under nohup
    };

    Process(const std::string& name, const std::vector<std::string>& arguments,
            const Options& options)
        : output_(options.output) {
        pid_ = fork();
        if (pid_ != 0) return;
        if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(99);
        (void)signal(SIGHUP, options.ignores_hangup ? SIG_IGN : SIG_DFL);
        const int file = open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, 1);
        dup2(file, 2);
        unsetenv("DISPLAY");
        unsetenv("WAYLAND_DISPLAY");
        setenv("XDG_CACHE_HOME", HEARTH_NATIVE_CACHE, 1);
        std::vector<std::string> words = {(folder_of_programs() / name).string()};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        execv(pointers[0], pointers.data());
        _exit(98);
    }
    ~Process() {
        if (is_running()) ::kill(pid_, SIGKILL);
        (void)wait(10s);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void send(int signal) const { ::kill(pid_, signal); }
    bool is_running() {
        if (!has_ended_) has_ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
        return !has_ended_;
    }
    /// Its exit code, or minus the signal that killed it; what takes too long is killed.
    int wait(std::chrono::seconds most) {
        const auto deadline = std::chrono::steady_clock::now() + most;
        while (is_running()) {
            if (std::chrono::steady_clock::now() > deadline) ::kill(pid_, SIGKILL);
            std::this_thread::sleep_for(5ms);
        }
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
    }
    /// Waits until something is so; false if the program ends first or it takes minutes.
    bool wait_until(const std::function<bool()>& is_so) {
        const auto deadline = std::chrono::steady_clock::now() + 300s;
        while (is_running() && std::chrono::steady_clock::now() < deadline) {
            if (is_so()) return true;
            std::this_thread::sleep_for(5ms);
        }
        return is_so();
    }
    std::string text() const {
        const auto bytes = read_whole_file(output_);
        return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                          : std::string();
    }
    bool says(const std::string& part) const { return text().find(part) != std::string::npos; }

  private:
    std::string output_;
    pid_t pid_ = -1;
    int status_ = 0;
    bool has_ended_ = false;
};

class DemoCare : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::temp_directory_path() /
                ("hearth_demo_care_" + std::to_string(getpid()) + "_" + info.name());
        fs::create_directories(root_ / "run");
        ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    }
    void TearDown() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return (root_ / name).string(); }
    /// A race that nobody sees, as fast as it goes, far longer than any test waits.
    std::vector<std::string> race(const std::vector<std::string>& more,
                                  const std::string& frames = "10000000") const {
        std::vector<std::string> all = {"--headless", "--turbo", "--draw-every", "1000000000",
                                        "--frames",   frames,    "--device",     "cpu"};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    Process::Options here() const {
        return {.output = path("output"), .folder = path("run"), .ignores_hangup = false};
    }
    std::string text_of(const std::string& file) const {
        const auto bytes = read_whole_file(file);
        return bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())
                          : std::string();
    }
    /// The names in the folder where the program ran.
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(root_ / "run"))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    fs::path root_;
};

TEST_F(DemoCare, NumbersThatAreNoneAreWrongUsage) {
    const std::pair<const char*, std::vector<std::string>> cases[] = {
        {"ghost_lap", {"--frames", "-1"}},     {"ghost_lap", {"--frames", "nan"}},
        {"ghost_lap", {"--frames", "1e3"}},    {"ghost_lap", {"--frames", "99999999999999999999"}},
        {"ghost_lap", {"--seed", "-1"}},       {"ghost_lap", {"--draw-every", "0"}},
        {"ghost_lap", {"--draw-every", "-1"}}, {"ghost_lap", {"--draw-every", "nan"}},
        {"ghost_lap", {"--width", "-1"}},      {"ghost_lap", {"--height", "1e9"}},
        {"ghost_lap", {"--device", "-2"}},     {"ghost_lap", {"--device", "9999999999"}},
        {"ghost_lap", {"--hand-over", "0"}},   {"ghost_lap", {"--hand-over", "nan"}},
        {"digits", {"--rate", "nan"}},         {"digits", {"--rate", "-1"}},
        {"digits", {"--rate", "inf"}},         {"digits", {"--seed", "-1"}},
        {"digits", {"--epochs", "-1"}},        {"digits", {"--batch", "0"}},
        {"digits", {"--device", "-7"}},
    };
    for (const auto& [program, arguments] : cases) {
        Process process(program, arguments, here());
        const int exit_code = process.wait(20s);
        EXPECT_GE(exit_code, 100) << program << " " << arguments[0] << " " << arguments[1];
        EXPECT_TRUE(process.says("expected ")) << arguments[0] << ": " << process.text();
    }
}

TEST_F(DemoCare, GhostLapTellsBeforeTheDriveWhatItCouldNotWrite) {
    fs::create_symlink(path("victim"), path("link"));
    ASSERT_TRUE(write_file_atomically(path("file"), std::string_view("kept")).ok());
    const std::vector<std::string> places = {"/proc/x",     path("nowhere/x"), "/dev/full",
                                             "/dev/stdout", path("fifo"),      path("link"),
                                             path("run")};
    for (const char* option : {"--save", "--record", "--out"})
        for (const std::string& place : places) {
            Process process("ghost_lap", race({option, place, "--screenshots", "pictures"}),
                            here());
            EXPECT_EQ(process.wait(20s), 2) << option << " " << place << "\n" << process.text();
            EXPECT_TRUE(process.says(std::string("ghost_lap: ") + option + ": cannot "))
                << process.text();
        }
    fs::create_directories(root_ / "run/taken/3_learning.png");
    for (const std::string& place :
         {std::string("/proc/x"), path("file"), path("file/x"), path("fifo"), path("run/taken")}) {
        Process process("ghost_lap", race({"--screenshots", place}), here());
        EXPECT_EQ(process.wait(20s), 2) << place << "\n" << process.text();
        EXPECT_TRUE(process.says("ghost_lap: --screenshots: cannot ")) << process.text();
    }
    // Nothing is touched if anything stands against it.
    Process process("ghost_lap", race({"--out", path("file"), "--record", path("fifo")}), here());
    EXPECT_EQ(process.wait(20s), 2);
    EXPECT_EQ(text_of(path("file")), "kept");
    Process twice("ghost_lap", race({"--out", path("run/x"), "--save", path("run/x")}), here());
    EXPECT_EQ(twice.wait(20s), 2);
    EXPECT_TRUE(twice.says("is also where something else goes")) << twice.text();
    EXPECT_EQ(names(), std::vector<std::string>{"taken"});
}

TEST_F(DemoCare, EndlessAndHugeFilesAreRefused) {
    const std::string sparse = path("sparse");
    ASSERT_TRUE(write_file_atomically(sparse, std::string_view()).ok());
    ASSERT_EQ(truncate(sparse.c_str(), off_t{1} << 40), 0);
    for (const std::string& file : {std::string("/dev/zero"), path("fifo"), sparse, path("run")}) {
        for (const char* option : {"--load", "--rival", "--input"}) {
            Process process("ghost_lap", race({option, file}, "10"), here());
            const int exit_code = process.wait(60s);
            EXPECT_GT(exit_code, 1) << option << " " << file << "\n" << process.text();
            EXPECT_TRUE(process.says(file)) << process.text();
        }
        Process digits("digits", {"--data", file}, here());
        EXPECT_EQ(digits.wait(20s), 1) << digits.text();
        EXPECT_TRUE(digits.says("digits: '" + file + "' is ")) << digits.text();
    }
}

/// What the program says behind these words, to the end of the line.
std::string said(const Process& process, const std::string& words) {
    const std::string text = process.text();
    const size_t at = text.find(words);
    if (at == std::string::npos) return {};
    return text.substr(at + words.size(), text.find('\n', at) - at - words.size());
}

TEST_F(DemoCare, WhatOneRaceLearnedTheNextOneGoesOnWithOrRacesAgainst) {
    const std::string brain = path("run/ghost.brain"), again = path("run/again.brain");
    // So short a race has no winner, which its exit code says.
    Process first("ghost_lap", race({"--driver", "smooth", "--save", brain}, "420"), here());
    ASSERT_EQ(first.wait(300s), 1) << first.text();
    const std::string learned = said(first, "weights hash: ");
    ASSERT_EQ(learned.size(), 16u) << first.text();
    Process next("ghost_lap",
                 race({"--seed", "9", "--learn", "off", "--load", brain, "--save", again}, "30"),
                 here());
    ASSERT_EQ(next.wait(300s), 1) << next.text();
    EXPECT_EQ(said(next, "weights hash: "), learned);
    // Counters go on; what was learned is in the file as it was.
    const auto saved = load_brain(read_whole_file(brain).value());
    const auto kept = load_brain(read_whole_file(again).value());
    ASSERT_TRUE(saved.ok() && kept.ok());
    size_t compared = 0;
    for (const BrainTensor& tensor : saved->tensors) {
        if (tensor.is_state) continue;
        const BrainTensor* const other = kept->find(tensor.name);
        ASSERT_NE(other, nullptr) << tensor.name;
        ++compared;
        for (int64_t i = 0; i < tensor.value.element_count(); ++i)
            ASSERT_EQ(tensor.value.get(i), other->value.get(i)) << tensor.name;
    }
    EXPECT_GE(compared, 6u) << "weights and biases of three layers";

    Process duel("ghost_lap", race({"--rival", brain}, "120"), here());
    EXPECT_EQ(duel.wait(300s), 1) << duel.text();
    EXPECT_TRUE(duel.says("the rival, ghost.brain")) << duel.text();
    Process lost("ghost_lap", race({"--hand-over", "99"}, "10"), here());
    EXPECT_EQ(lost.wait(60s), 2);
    EXPECT_TRUE(lost.says("--hand-over: expected a corner from 1 to 11, found 99")) << lost.text();
}

TEST_F(DemoCare, ASignalSavesWhatWasLearnedAndEndsTheLog) {
    const struct {
        int signal;
        const char* name;
    } kSignals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
    for (const auto& [signal, name] : kSignals) {
        const std::string brain = path("run/ghost.brain"), log = path("run/run.jsonl"),
                          drive = path("run/drive.txt");
        Process process("ghost_lap", race({"--save", brain, "--out", log, "--record", drive}),
                        here());
        // A first line of the log: 900 frames have gone by.
        ASSERT_TRUE(process.wait_until([&] { return !text_of(log).empty(); })) << process.text();
        EXPECT_TRUE(process.is_running());
        fs::remove(brain);  // that of a lap, if there was one
        process.send(signal);
        EXPECT_EQ(process.wait(60s), 128 + signal) << process.text();
        EXPECT_TRUE(process.says(std::string("ended by ") + name)) << process.text();
        const std::string lines = text_of(log);
        EXPECT_NE(lines.find("\"type\":\"end\""), std::string::npos) << lines;
        EXPECT_NE(lines.find("\"interrupted\":true"), std::string::npos) << lines;
        EXPECT_FALSE(text_of(drive).empty());
        const auto bytes = read_whole_file(brain);
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        // What was learned goes on in the next race.
        Process next("ghost_lap", race({"--load", brain}, "2"), here());
        EXPECT_EQ(next.wait(60s), 1) << next.text();  // too short a race to win
        EXPECT_FALSE(next.says(", 0 steps of learning")) << next.text();
        fs::remove_all(root_ / "run");
        fs::create_directories(root_ / "run");
    }
}

/// What the picture of the learning curve says under its heading: driver, seed, steps.
std::vector<uint8_t> curve_subtitle(const std::string& pictures) {
    constexpr int kTop = 40, kBottom = 64;  // rows
    int width = 0, height = 0, channels = 0;
    stbi_uc* const pixels =
        stbi_load((pictures + "/learning_curve.png").c_str(), &width, &height, &channels, 1);
    std::vector<uint8_t> rows;
    if (pixels != nullptr && height > kBottom)
        rows.assign(pixels + kTop * width, pixels + kBottom * width);
    stbi_image_free(pixels);
    return rows;
}

// It always said "0 steps".
TEST_F(DemoCare, ThePictureOfTheCurveTellsHowOftenItLearned) {
    const auto subtitle = [&](const char* learn) {
        const std::string pictures = path(std::string("run/learn_") + learn);
        fs::create_directories(pictures);
        Process process("ghost_lap", race({"--learn", learn, "--screenshots", pictures}, "420"),
                        here());
        EXPECT_EQ(process.wait(300s), 1) << process.text();  // too short a race to win
        return curve_subtitle(pictures);
    };
    const std::vector<uint8_t> nothing = subtitle("off");
    ASSERT_FALSE(nothing.empty());
    EXPECT_EQ(nothing, subtitle("off"));
    EXPECT_NE(nothing, subtitle("on"));
}

TEST_F(DemoCare, ASignalWhileItStartsEndsItWithoutTouchingTheBrain) {
    const std::string brain = path("run/ghost.brain");
    ASSERT_TRUE(write_file_atomically(brain, std::string_view("the old one")).ok());
    Process process("ghost_lap", race({"--save", brain, "--out", path("run/log")}), here());
    ASSERT_TRUE(process.wait_until([&] { return fs::exists(path("run/log")); }));
    process.send(SIGTERM);  // while the network is compiled
    EXPECT_EQ(process.wait(60s), 128 + SIGTERM) << process.text();
    EXPECT_NE(text_of(path("run/log")).find("\"interrupted\":true"), std::string::npos);
    if (process.says(" 0 frames")) {
        EXPECT_EQ(text_of(brain), "the old one");
    }
}

TEST_F(DemoCare, HangUpIsIgnoredUnderNohup) {
    Process::Options options = here();
    options.ignores_hangup = true;
    const std::string log = path("run/log");
    Process process("ghost_lap", race({"--out", log}), options);
    ASSERT_TRUE(process.wait_until([&] { return fs::exists(log); }));
    process.send(SIGHUP);
    ASSERT_TRUE(process.wait_until([&] { return !text_of(log).empty(); })) << process.text();
    EXPECT_TRUE(process.is_running());
    process.send(SIGTERM);
    EXPECT_EQ(process.wait(60s), 128 + SIGTERM) << process.text();
}

TEST_F(DemoCare, AFailedSaveIsToldAndTriedAgainAndDoesNotEndTheRace) {
    // The folder goes away while the race is on, and comes back.
    fs::create_directories(root_ / "kept");
    const std::string brain = path("kept/ghost.brain");
    Process process("ghost_lap", race({"--save", brain}), here());
    ASSERT_TRUE(process.wait_until([&] { return fs::exists(brain); }))  // after the first lap
        << process.text();
    fs::rename(root_ / "kept", root_ / "away");
    ASSERT_TRUE(process.wait_until([&] { return process.says("trying again"); })) << process.text();
    EXPECT_TRUE(process.says("cannot create a file beside '" + brain)) << process.text();
    EXPECT_TRUE(process.is_running());
    fs::create_directories(root_ / "kept");
    // It is not the next lap that saves it.
    ASSERT_TRUE(process.wait_until([&] { return fs::exists(brain); })) << process.text();
    process.send(SIGTERM);
    EXPECT_EQ(process.wait(60s), 128 + SIGTERM) << process.text();
    EXPECT_TRUE(process.says("writes of files that failed")) << process.text();
}

TEST_F(DemoCare, WhatCouldNotBeSavedInTheEndIsAFailure) {
    fs::create_directories(root_ / "kept");
    Process process("ghost_lap", race({"--save", path("kept/brain"), "--out", path("run/log")}),
                    here());
    ASSERT_TRUE(process.wait_until([&] { return !text_of(path("run/log")).empty(); }))
        << process.text();
    fs::remove_all(root_ / "kept");
    process.send(SIGTERM);
    EXPECT_EQ(process.wait(60s), 2) << process.text();
    EXPECT_TRUE(process.says("race hash: ")) << "the table is printed all the same";
    EXPECT_NE(text_of(path("run/log")).find("\"type\":\"end\""), std::string::npos);
}

TEST_F(DemoCare, OutputThatNobodyReceivesIsAFailure) {
    Process::Options options = here();
    options.output = "/dev/full";
    for (const char* program : {"hello_inference", "hello_training"}) {
        Process process(program, {}, options);
        EXPECT_EQ(process.wait(60s), 1) << program;
    }
    Process digits("digits", {"--help"}, options);
    EXPECT_EQ(digits.wait(60s), 1);
    // A race that is too short to be won exits with 1 in any case; its help does not.
    Process help("ghost_lap", {"--help"}, options);
    EXPECT_EQ(help.wait(60s), 1);
}

}  // namespace
}  // namespace hearth::demo
