// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files that strangers made, given to `hearth`: they run no code on the CPU, and write nothing to
// the terminal that changes how its text reads.

#include "program/package.hpp"
#include "run_tool.hpp"
#include "support/onnx_builder.hpp"
#include "support/package_contents.hpp"

#include <hearth/brain.hpp>
#include <hearth/compile.hpp>
#include <hearth/file.hpp>
#include <hearth/io.hpp>
#include <hearth/tensor.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::Ran;
using testing::run;

/// The package with each of its programs changed; graph and weights stay where they are.
std::vector<std::byte> with_programs(std::span<const std::byte> package,
                                     const std::function<void(Program&)>& change) {
    PackageView view;
    ViewError error;
    if (!view.open(package, &error)) ADD_FAILURE() << error.text.c_str();
    Result<PackageContents> contents = testing::package_contents(view);
    if (!contents.ok()) ADD_FAILURE() << contents.status().message();
    for (PackedDeviceTarget& target : contents->device_targets) change(target.program);
    return *save_package(std::move(*contents));
}

class UntrustedFiles : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::temp_directory_path() /
                ("hearth_untrusted_" + std::to_string(getpid()) + "_" + info.name());
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return (root_ / name).string(); }
    Ran run_tool(const std::string& arguments) const {
        return run(arguments, "XDG_CACHE_HOME='" + path("cache") + "'");
    }

    fs::path root_;
};

/// A small policy, cooked for any CPU, whose kernels' C text creates the file `marker` as soon as a
/// library of it is loaded.
std::vector<std::byte> package_that_creates(const std::string& marker) {
    const Result<ImportedModel> model = import_onnx(testing::small_policy().bytes());
    Trace trace("main");
    std::vector<Tensor> inputs;
    for (const TensorSpec& spec : model->inputs())
        inputs.push_back(trace.input(spec.name, spec.shape, spec.dtype));
    const std::vector<Tensor> outputs = model->call(trace, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) trace.output(model->outputs()[i].name, outputs[i]);
    DeviceTarget scalar{.name = "scalar", .options = {.caps = cpu_caps(CpuIsa::kScalar)}};
    const Result<Cooked> cooked = cook({&trace}, {.device_targets = {scalar}, .max_batch_size = 4});
    if (!cooked.ok()) ADD_FAILURE() << cooked.status().message();
    return with_programs(cooked->bytes, [&](Program& program) {
        program.kernels[0].source +=
            "\nextern void* fopen(const char*, const char*);\n"
            "__attribute__((constructor)) static void created(void) { fopen(\"" +
            marker + "\", \"w\"); }\n";
    });
}

TEST_F(UntrustedFiles, CTextInAPackageIsCompiledOnlyIfTrusted) {
    const std::string marker = path("marker"), package = " '" + path("net.hearth") + "'";
    ASSERT_TRUE(write_file_atomically(path("net.hearth"), package_that_creates(marker)).ok());
    for (const std::string& arguments :
         {"run --device cpu" + package, "bench --device cpu --samples 4" + package,
          "diff --device cpu" + package + package,
          "diff --device reference --second-device cpu" + package + package}) {
        const Ran ran = run_tool(arguments);
        EXPECT_EQ(ran.exit_code, 0) << arguments << "\n" << ran.text;
        EXPECT_FALSE(fs::exists(marker)) << arguments;
        fs::remove(marker);
    }
    const Ran trusted = run_tool("run --device cpu --trust" + package);
    EXPECT_EQ(trusted.exit_code, 0) << trusted.text;
    EXPECT_TRUE(fs::exists(marker)) << "so the text would run";
    const Ran named = run_tool("run --device cpu --device-target scalar" + package);
    EXPECT_EQ(named.exit_code, 1) << named.text;
    EXPECT_TRUE(named.says("only with --trust")) << named.text;
}

// Without a home, libraries are cached among the files of all users.
TEST_F(UntrustedFiles, LibrariesComeFromNoFolderThatOthersCanWrite) {
    ASSERT_TRUE(write_file_atomically(path("net.onnx"), testing::small_policy().bytes()).ok());
    const fs::path folder = root_ / ("hearth-" + std::to_string(geteuid()));
    const auto run_homeless = [&] {
        return run("run --device cpu '" + path("net.onnx") + "'",
                   "env -u HOME -u XDG_CACHE_HOME TMPDIR='" + root_.string() + "'");
    };
    const Ran own = run_homeless();
    EXPECT_EQ(own.exit_code, 0) << own.text;
    EXPECT_TRUE(fs::is_directory(folder / "hearth" / "native"));
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    fs::permissions(folder, fs::perms::all);
    const Ran open = run_homeless();
    EXPECT_EQ(open.exit_code, 1) << open.text;
    EXPECT_TRUE(open.says("is not a folder that this user alone can write")) << open.text;
    fs::rename(folder, root_ / "elsewhere");
    fs::permissions(root_ / "elsewhere", fs::perms::owner_all);
    fs::create_directory_symlink(root_ / "elsewhere", folder);
    EXPECT_EQ(run_homeless().exit_code, 1);
}

TEST_F(UntrustedFiles, AProgramThatIsNotWhatItsHashSaysIsRefusedWhereverItsPackageIsRead) {
    const std::vector<std::byte> right = package_that_creates("nothing");
    const std::vector<std::byte> forged =
        with_programs(right, [](Program& program) { program.hash ^= 1; });
    ASSERT_TRUE(write_file_atomically(path("right.hearth"), right).ok());
    ASSERT_TRUE(write_file_atomically(path("forged.hearth"), forged).ok());
    for (const std::string& command :
         {std::string("inspect"), std::string("run --device reference"),
          "cook --no-measure -o '" + path("out") + "'", "diff '" + path("right.hearth") + "'",
          std::string("bench --device cpu")}) {
        const Ran ran = run_tool(command + " '" + path("forged.hearth") + "'");
        EXPECT_EQ(ran.exit_code, 1) << command << "\n" << ran.text;
        EXPECT_TRUE(ran.says("its content hash is ")) << command << "\n" << ran.text;
    }
    EXPECT_EQ(run_tool("inspect '" + path("right.hearth") + "'").exit_code, 0);
}

// U+202E shows what follows from right to left: a name reads as another.
TEST_F(UntrustedFiles, NothingOfAFileControlsTheTerminal) {
    const std::string mark = "\xe2\x80\xae", isolate = "\xe2\x81\xa6", escape = "\x1b[31m",
                      name = "a" + mark + "b" + isolate + "c" + escape + "d";
    testing::OnnxBuilder b;
    b.input(name, {2});
    b.node("Relu", {name}, {name + "y"});
    b.node("Neg", {name + "y"}, {name + "z"}).set_name(name + "n");
    b.output(name + "z");
    ASSERT_TRUE(write_file_atomically(path("net.onnx"), b.bytes()).ok());
    Brain brain;
    brain.tensors.push_back({name, false, HostTensor(DType::kF32, {4})});
    ASSERT_TRUE(write_file_atomically(path("a.brain"), *save_brain(brain)).ok());
    ASSERT_TRUE(write_file_atomically(path("run.jsonl"), R"({"type":"run","program":")" + name +
                                                             R"(","at":"x"})" + "\n{\"at\":1,\"" +
                                                             name + "\":2}\n")
                    .ok());
    const std::string net = " '" + path("net.onnx") + "' ";
    const std::string package = " '" + path(mark + "net.hearth") + "' ";
    for (const std::string& arguments :
         {"cook --no-measure --name '" + name + "' -o" + package + net, "inspect --source" + net,
          "inspect --source" + package, "inspect --json" + package, "inspect --passes" + net,
          "run --device reference" + net, "run --device reference --json" + package,
          "diff" + net + package, "bench --device cpu --samples 4 --no-roof" + package,
          "brain show '" + path("a.brain") + "'", "brain show --json '" + path("a.brain") + "'",
          "watch '" + path("run.jsonl") + "'", "watch --json '" + path("run.jsonl") + "'",
          "run --device reference -i '" + name + "=missing.npy'" + net,
          "run --device reference '" + path(mark) + "'", "verify '" + path(mark) + "'"}) {
        const Ran ran = run_tool(arguments);
        EXPECT_FALSE(ran.text.empty()) << arguments;
        for (const std::string& control : {mark, isolate, std::string("\x1b")})
            EXPECT_FALSE(ran.says(control)) << arguments << "\n" << ran.text;
    }
    // JSON keeps names, in ASCII.
    EXPECT_TRUE(run_tool("brain show --json '" + path("a.brain") + "'")
                    .says(R"(a\u202eb\u2066c\u001b[31md)"));
}

}  // namespace
}  // namespace hearth
