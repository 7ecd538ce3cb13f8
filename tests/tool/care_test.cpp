// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How `hearth` takes wrong numbers, files that are none, places that cannot be written and output
// that nobody receives: one sentence, an exit code that is not zero, and nothing left behind.

#include "run_tool.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/brain.hpp>
#include <hearth/file.hpp>
#include <hearth/hearth.h>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::Ran;
using testing::run;

/// A folder with a model and a brain, gone when the test ends.  What hangs is killed: exit code
/// 137.
class ToolCare : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::temp_directory_path() /
                ("hearth_care_" + std::to_string(getpid()) + "_" + info.name());
        fs::create_directories(root_);
        ASSERT_TRUE(
            write_file_atomically(path("model.onnx"), testing::small_policy().bytes()).ok());
        Brain brain;
        brain.tensors.push_back({"w", false, HostTensor(DType::kF32, {4})});
        ASSERT_TRUE(write_file_atomically(path("a.brain"), *save_brain(brain)).ok());
        ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    }
    void TearDown() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return (root_ / name).string(); }
    static Ran run_for_at_most_20_s(const std::string& arguments) {
        return run(arguments, "timeout -s KILL 20");
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(root_))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    fs::path root_;
};

TEST_F(ToolCare, TheVersionIsThatOfTheLibrary) {
    const Ran ran = run("--version");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.text, std::string(hearth_build_info()) + "\n");
}

TEST_F(ToolCare, NumbersThatAreNoneAreWrongUsage) {
    const std::string model = " '" + path("model.onnx") + "' ",
                      brain = " '" + path("a.brain") + "' ";
    const std::string out = " -o '" + path("out") + "' ";
    for (const std::string& arguments : {
             "run --seed -1" + model,
             "run --seed 1.5" + model,
             "run --seed 99999999999999999999" + model,
             "run --seed ''" + model,
             "run --batch-size -18446744073709551615" + model,  // once the same as 1
             "run --batch-size 0" + model,
             "run --batch-size 010" + model,
             "run --device-index -2" + model,
             "run --device-index 4294967296" + model,
             "bench --samples -4294967292" + model,
             "bench --batch-size 1e3" + model,
             "inspect --max-batch-size -1" + model,
             "cook --max-batch-size -1" + out + model,
             "tune --samples 0x10" + out + model,
             "diff --rtol nan" + model + model,
             "diff --atol inf" + model + model,
             "diff --rtol -1" + model + model,
             "verify --rtol nan '" + root_.string() + "'",
             "verify --atol 1e999 '" + root_.string() + "'",
             "verify --timeout nan '" + root_.string() + "'",
             "verify --timeout 1e300 '" + root_.string() + "'",
             "brain average -w nan" + out + brain,
             "brain average -w -1" + out + brain,
             "brain average -w 1,inf" + out + brain + brain,
         }) {
        const Ran ran = run_for_at_most_20_s(arguments);
        EXPECT_GE(ran.exit_code, 100) << arguments << "\n" << ran.text;
        EXPECT_LT(ran.exit_code, 128) << arguments << "\n" << ran.text;
        EXPECT_TRUE(ran.says("expected ")) << arguments << "\n" << ran.text;
    }
}

TEST_F(ToolCare, WhatIsNoRegularFileIsNeitherReadNorWaitedFor) {
    const std::string out = " -o '" + path("out") + "' ";
    for (const std::string& file : {std::string("/dev/zero"), path("fifo"), root_.string()}) {
        const std::string quoted = " '" + file + "' ";
        for (const std::string& arguments :
             {"inspect" + quoted, "run --device reference" + quoted, "bench" + quoted,
              "cook" + out + quoted, "tune" + out + quoted, "diff" + quoted + quoted,
              "brain show" + quoted, "brain diff" + quoted + quoted,
              "brain average" + out + quoted + quoted,
              "brain show --initial" + quoted + "'" + path("a.brain") + "'",
              "run --device reference '" + path("model.onnx") + "' -i 'obs=" + file + "'"}) {
            const Ran ran = run_for_at_most_20_s(arguments);
            EXPECT_EQ(ran.exit_code, 1) << arguments << "\n" << ran.text;
            EXPECT_TRUE(ran.says("expected a file")) << arguments << "\n" << ran.text;
        }
    }
    EXPECT_EQ(names(), (std::vector<std::string>{"a.brain", "fifo", "model.onnx"}));
}

TEST_F(ToolCare, ATuningAndATolerancesFileAreReadLikeAllOthers) {
    fs::create_directories(root_ / "case");
    fs::copy_file(path("model.onnx"), path("case/model.onnx"));
    fs::create_directories(root_ / "case" / "test_data_set_0");
    ASSERT_EQ(mkfifo(path("case/tolerance.txt").c_str(), 0600), 0);
    const Ran verify = run_for_at_most_20_s("verify --timeout 5 '" + path("case") + "'");
    EXPECT_EQ(verify.exit_code, 1) << verify.text;
    EXPECT_TRUE(verify.says("expected a file")) << verify.text;
    const Ran bench =
        run_for_at_most_20_s("bench --tuning '" + path("fifo") + "' '" + path("model.onnx") + "'");
    EXPECT_EQ(bench.exit_code, 1) << bench.text;
    EXPECT_TRUE(bench.says("expected a file")) << bench.text;
}

TEST_F(ToolCare, APlaceThatCannotBeWrittenIsToldBeforeTheWork) {
    const std::string model = "'" + path("model.onnx") + "'", brain = "'" + path("a.brain") + "'";
    fs::create_symlink(path("a.brain"), path("link"));
    const std::vector<std::string> before = names();
    const std::vector<std::byte> old = *read_whole_file(path("a.brain"));
    for (const std::string& target :
         {std::string("/dev/full"), std::string("/dev/null"), std::string("/dev/stdout"),
          path("fifo"), path("link"), root_.string(), path("nowhere/x"), std::string("")}) {
        const std::string out = " -o '" + target + "' ";
        for (const std::string& arguments :
             {"cook --no-measure" + out + model, "tune" + out + model,
              "brain average" + out + brain + " " + brain,
              "brain reset --initial " + model + out + brain}) {
            const Ran ran = run_for_at_most_20_s(arguments);
            EXPECT_EQ(ran.exit_code, 1) << arguments << "\n" << ran.text;
            EXPECT_TRUE(ran.says("cannot create a file beside '" + target) ||
                        ran.says("cannot replace '" + target) || ran.says("names no file"))
                << arguments << "\n"
                << ran.text;
        }
    }
    for (const std::string& folder : {path("fifo"), path("a.brain/x"), std::string("/proc/x")}) {
        const Ran ran = run_for_at_most_20_s("run --device reference -o '" + folder + "' " + model);
        EXPECT_EQ(ran.exit_code, 1) << folder << "\n" << ran.text;
        EXPECT_TRUE(ran.says("cannot ")) << ran.text;
    }
    EXPECT_EQ(names(), before);
    EXPECT_EQ(*read_whole_file(path("a.brain")), old);
}

TEST_F(ToolCare, OutputsOfOneFileNameAreToldApart) {
    testing::OnnxBuilder b;
    b.input("x", {2});
    b.node("Relu", {"x"}, {"a/b"});
    b.node("Neg", {"x"}, {"a:b"});
    b.output("a/b");
    b.output("a:b");
    ASSERT_TRUE(write_file_atomically(path("two.onnx"), b.bytes()).ok());
    const Ran ran = run_for_at_most_20_s("run --device reference '" + path("two.onnx") + "' -o '" +
                                         path("out") + "'");
    EXPECT_EQ(ran.exit_code, 1) << ran.text;
    EXPECT_TRUE(ran.says("outputs 'a/b' and 'a:b' would both be written to")) << ran.text;
}

// Redirections come last, so what is said on stderr is looked at where stdout fails.
TEST_F(ToolCare, OutputThatNobodyReceivesIsAFailure) {
    const std::string model = "'" + path("model.onnx") + "'";
    for (const std::string& arguments :
         {"inspect " + model, "inspect --source --passes " + model, "inspect --json " + model,
          "run --device reference " + model, "brain show '" + path("a.brain") + "'",
          "diff " + model + " " + model, std::string("--help")})
        for (const char* stream : {" 2>&1 >/dev/full ", " 2>&1 >&- "}) {
            const Ran ran = run(arguments + stream, "timeout -s KILL 20", "");
            EXPECT_EQ(ran.exit_code, 1) << arguments << stream << ran.text;
            EXPECT_TRUE(ran.says("hearth: ")) << arguments << stream << ran.text;
        }
}

// With standard output closed, the first file that was opened got its number, and the report its
// text.
TEST_F(ToolCare, WhatIsPrintedNeverLandsInAFile) {
    const Ran ran = run(
        "cook --no-measure '" + path("model.onnx") + "' -o '" + path("m.hearth") + "' <&- 2>&- >&-",
        "timeout -s KILL 60", "");
    EXPECT_EQ(ran.exit_code, 1);
    const Ran inspected = run("inspect --json '" + path("m.hearth") + "'");
    EXPECT_EQ(inspected.exit_code, 0) << inspected.text;
}

TEST_F(ToolCare, ACookedPackageKeepsTheModeOfTheOneItReplaces) {
    const std::string cook =
        "cook --no-measure '" + path("model.onnx") + "' -o '" + path("m.hearth") + "'";
    ASSERT_EQ(run(cook).exit_code, 0);
    ASSERT_EQ(chmod(path("m.hearth").c_str(), 0600), 0);
    ASSERT_EQ(run(cook).exit_code, 0);
    struct stat s;
    ASSERT_EQ(stat(path("m.hearth").c_str(), &s), 0);
    EXPECT_EQ(s.st_mode & 0777, 0600u);
    EXPECT_EQ(names(), (std::vector<std::string>{"a.brain", "fifo", "m.hearth", "model.onnx"}));
}

TEST_F(ToolCare, ABrainThatIsNotFiniteIsShownButNotAveragedUnlessAllowed) {
    Brain brain;
    brain.tensors.push_back({"w", false, HostTensor(DType::kF32, {4})});
    brain.tensors[0].value.set(2, std::nan(""));
    ASSERT_TRUE(
        write_file_atomically(path("nan.brain"), *save_brain(brain, nullptr, NonFinite::kAllow))
            .ok());
    const std::string both = "'" + path("a.brain") + "' '" + path("nan.brain") + "'";
    const std::string average = "brain average -o '" + path("out.brain") + "' " + both;
    const Ran refused = run(average);
    EXPECT_EQ(refused.exit_code, 1) << refused.text;
    EXPECT_TRUE(refused.says("nan.brain: 1 of 4 elements of 'w' are not finite")) << refused.text;
    EXPECT_FALSE(fs::exists(path("out.brain")));
    const Ran asked = run(average + " --allow-non-finite");
    EXPECT_EQ(asked.exit_code, 0) << asked.text;
    const Ran shown = run("brain show '" + path("nan.brain") + "'");
    EXPECT_EQ(shown.exit_code, 0) << shown.text;
    EXPECT_TRUE(shown.says("1 not finite")) << shown.text;
}

TEST_F(ToolCare, AveragesKilledAtAnyTimeLeaveAWholeBrain) {
    Brain large;
    large.tensors.push_back({"w", false, HostTensor(DType::kF32, {400, 500})});
    for (int64_t i = 0; i < 200'000; ++i)
        large.tensors[0].value.set(i, static_cast<double>(i % 977));
    ASSERT_TRUE(write_file_atomically(path("a.brain"), *save_brain(large)).ok());
    const std::string target = path("average.brain"), a = "'" + path("a.brain") + "'";
    const std::string average = "brain average -o '" + target + "' " + a + " " + a;
    ASSERT_EQ(run(average).exit_code, 0);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(run(average).exit_code, 0);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
    int killed = 0;
    for (int i = 0; i < 30; ++i) {
        // Two at a time, killed at moments that differ; the later ones come to their end.
        const auto seconds = [&](double part) { return std::to_string(part * whole.count()); };
        const std::string other = "timeout -s KILL " + seconds(1 - i / 60.0) + " '" +
                                  testing::program().string() + "' " + average;
        const Ran ran =
            run(average + " 2>&1 & " + other, "timeout -s KILL " + seconds(0.4 + i / 30.0), "");
        killed += ran.exit_code != 0;
        const auto bytes = read_whole_file(target);
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        const Result<Brain> brain = load_brain(*bytes);
        ASSERT_TRUE(brain.ok()) << brain.status().message();
        EXPECT_EQ(brain->tensors[0].value, large.tensors[0].value);
    }
    EXPECT_GT(killed, 0);
    usleep(200'000);  // until the last of them is gone
    ASSERT_EQ(run(average).exit_code, 0);
    EXPECT_EQ(names(),
              (std::vector<std::string>{"a.brain", "average.brain", "fifo", "model.onnx"}));
}

}  // namespace
}  // namespace hearth
