// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth cook, run, replay, bench, diff, brain, verify --cooked; and what keeps a crash to its
// case.

#include "../../sdk/tools/hearth/isolate.hpp"
#include "../../sdk/tools/hearth/tensor_proto.hpp"
#include "import/data/npy.hpp"
#include "run_tool.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/brain.hpp>
#include <hearth/brain_file.hpp>
#include <hearth/compile.hpp>
#include <hearth/core/os_file.hpp>
#include <hearth/io.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

namespace hearth {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::kIsWindows;
using testing::Ran;
using testing::run;

/// A layer that is wide enough for its weights to be narrowed: x [batch, 64] -> y [batch, 48]
testing::OnnxBuilder wide_layer() {
    testing::OnnxBuilder b;
    std::vector<float> w(48 * 64);
    for (size_t i = 0; i < w.size(); ++i) w[i] = std::sin(static_cast<float>(i)) / 4;
    b.input("x", {"batch", 64}).initializer(testing::float_tensor("w", {48, 64}, w));
    testing::set_int(b.node("Gemm", {"x", "w"}, {"y"}), "transB", 1);
    b.output("y");
    return b;
}

/// A folder with a small model, gone when the test ends.
class Tool : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::temp_directory_path() /
                ("hearth_tool_" + std::to_string(os::process_number()) + "_" + info.name());
        fs::create_directories(root_);
        ASSERT_TRUE(
            write_file_atomically(path("model.onnx"), testing::small_policy().bytes()).ok());
    }
    void TearDown() override { fs::remove_all(root_); }

    std::string path(const std::string& name) const { return (root_ / name).string(); }

    /// Cooks the model; the report.
    json cook(const std::string& options = "") {
        const Ran ran = run("cook '" + path("model.onnx") + "' -o '" + path("model.hearth") +
                            "' --json --no-measure --max-batch-size 16 " + options);
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        return json::parse(ran.text, nullptr, false);
    }
    std::vector<std::byte> read(const std::string& name) {
        const auto bytes = read_whole_file(path(name));
        EXPECT_TRUE(bytes.ok()) << bytes.status().message();
        return bytes.ok() ? *bytes : std::vector<std::byte>();
    }

    fs::path root_;
};

TEST_F(Tool, TuneSaysWhenThereIsNothingToMeasure) {
    testing::OnnxBuilder b;
    b.input("x", {4}).output("y");
    b.node("Relu", {"x"}, {"y"});
    ASSERT_TRUE(write_file_atomically(path("relu.onnx"), b.bytes()).ok());
    const Ran ran = run("tune '" + path("relu.onnx") + "' -o '" + path("tuning") + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(
        ran.says(": 0 trials\n  nothing was measured: no kernel of the model has variants "
                 "for this device\n"))
        << ran.text;
    EXPECT_FALSE(ran.says("fastest")) << ran.text;
}

TEST_F(Tool, TuneMeasuresKernelsOfTheCpu) {
    if (kIsWindows) GTEST_SKIP() << "there is no compiler under Wine";
    testing::OnnxBuilder b;
    b.input("x", {1, 8, 16, 16}).output("y");
    b.initializer(testing::float_tensor("w", {16, 8, 3, 3}, std::vector<float>(16 * 8 * 9, 0.1f)));
    b.node("Conv", {"x", "w"}, {"y"});
    ASSERT_TRUE(write_file_atomically(path("conv.onnx"), b.bytes()).ok());
    const Ran ran = run("tune --device cpu --samples 4 --json '" + path("conv.onnx") + "' -o '" +
                        path("tuning") + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    const json report = json::parse(ran.text, nullptr, false);
    ASSERT_FALSE(report.is_discarded()) << ran.text;
    EXPECT_GE(report["trials"], 2);
    EXPECT_TRUE(report["remarks"].empty()) << ran.text;
    const Ran bench = run("bench --device cpu --samples 4 --tuning '" + path("tuning") + "' '" +
                          path("conv.onnx") + "'");
    EXPECT_EQ(bench.exit_code, 0) << bench.text;
    EXPECT_FALSE(bench.says("tuning is ignored")) << bench.text;
}

TEST_F(Tool, CookReportsBytesCommandsAndFusedGroups) {
    const json report = cook("--device-targets large,baseline --name act");
    ASSERT_FALSE(report.is_discarded());
    EXPECT_EQ(report["bytes"], fs::file_size(path("model.hearth")));
    EXPECT_EQ(report["max_batch_size"], 16);
    ASSERT_EQ(report["device_targets"].size(), 2u);
    const json& target = report["device_targets"][0];
    EXPECT_EQ(target["name"], "large");
    EXPECT_EQ(target["bytes"]["params"], 4 * (5 * 6 + 5 + 2 * 5));
    EXPECT_GT(target["bytes"]["spirv"], 100);
    const json& entry = target["entries"][0];
    EXPECT_EQ(entry["name"], "act");
    EXPECT_GT(entry["dispatches"], 0);
    EXPECT_GT(entry["operators"], entry["dispatches"]);
    EXPECT_GT(entry["estimated_us"], 0);
    EXPECT_FALSE(entry["fused"].empty());
}

TEST_F(Tool, CookPacksAProgramForEachDeviceTarget) {
    const json report = cook("--device-targets coopmat,fp16,descriptors,baseline --quantize f16");
    ASSERT_FALSE(report.is_discarded());
    ASSERT_EQ(report["device_targets"].size(), 4u);
    for (const char* target : {"coopmat", "fp16", "descriptors", "baseline"}) {
        const Ran ran = run("run '" + path("model.hearth") + "' --device program --device-target " +
                            target + " --batch-size 3 --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
    }
    const Ran other =
        run("run '" + path("model.hearth") + "' --device program --device-target none");
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(other.says("'none'")) << other.text;
}

TEST_F(Tool, CookKeepsNarrowWeightsAndTellsTheirErrors) {
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), wide_layer().bytes()).ok());
    const std::string inputs = " --device reference --batch-size 4 --seed 5 -o ";
    EXPECT_EQ(run("run '" + path("model.onnx") + "'" + inputs + path("exact")).exit_code, 0);
    const HostTensor exact = read_npy(read("exact/y.npy")).value();
    const struct {
        const char* format;
        double smaller, error, worst;  ///< times; of the weights' rms; of the outputs
    } kCases[] = {{"f16", 2, 1e-3, 2e-3}, {"int8", 3.76, 0.01, 0.03}, {"int4", 7.1, 0.13, 0.4}};
    for (const auto& c : kCases) {
        const json report = cook(std::string("--quantize ") + c.format);
        ASSERT_EQ(report["quantized"].size(), 1u) << report;
        const json& w = report["quantized"][0];
        EXPECT_EQ(w["name"], "w");
        EXPECT_NEAR(w["bytes_before"].get<double>() / w["bytes_after"].get<double>(), c.smaller,
                    0.1);
        EXPECT_GT(w["rms_error"], 0);
        EXPECT_LT(w["rms_error"].get<double>(), c.error * w["rms"].get<double>());
        const std::string folder = path(c.format);
        for (const char* device : {"reference", "gpu"}) {
            if (std::string_view(device) == "gpu" && c.format != std::string_view("int8")) continue;
            const Ran ran = run("run '" + path("model.hearth") + "' --batch-size 4 --seed 5 -o '" +
                                folder + "' --device " + device);
            EXPECT_EQ(ran.exit_code, 0) << ran.text;
            const HostTensor y = read_npy(read(std::string(c.format) + "/y.npy")).value();
            double largest = 0;
            for (int64_t i = 0; i < y.element_count(); ++i)
                largest = std::max(largest, std::abs(y.get(i) - exact.get(i)));
            EXPECT_GT(largest, 0) << c.format;
            EXPECT_LT(largest, c.worst) << c.format;
        }
    }
    const Ran text = run("cook '" + path("model.onnx") + "' -o '" + path("m.hearth") +
                         "' --no-measure --quantize int8");
    EXPECT_TRUE(text.says("w: 12.3 KB to 3264 bytes, rms error ")) << text.text;
    EXPECT_GE(run("cook '" + path("model.onnx") + "' -o '" + path("m.hearth") + "' --quantize int3")
                  .exit_code,
              100);
}

TEST_F(Tool, CookLetsProductsReadF16) {
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), wide_layer().bytes()).ok());
    const auto cooked = [&](const char* precision) {
        EXPECT_FALSE(cook(std::string("--precision ") + precision).is_discarded());
        const Ran ran =
            run("run '" + path("model.hearth") + "' --device program --batch-size 4 --seed 5 -o '" +
                path(precision) + "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        return read_npy(read(std::string(precision) + "/y.npy")).value();
    };
    const HostTensor exact = cooked("f32"), mixed = cooked("f16");
    double largest = 0;
    for (int64_t i = 0; i < exact.element_count(); ++i)
        largest = std::max(largest, std::abs(mixed.get(i) - exact.get(i)));
    EXPECT_GT(largest, 0);
    EXPECT_LT(largest, 4e-3);  // f16 has 11 bits
}

TEST_F(Tool, CookWritesAPlanForWebGpuBesideTheCThatKeepsItsWeights) {
    const std::string cook_wgsl = "cook '" + path("model.onnx") +
                                  "' --target wgsl --function walker --name act " +
                                  "--max-batch-size 8 -o '" + path("page") + "' --json ";
    const Ran ran = run(cook_wgsl);
    ASSERT_EQ(ran.exit_code, 0) << ran.text;
    const json report = json::parse(ran.text, nullptr, false);
    EXPECT_EQ(fs::path(report["plan"].get<std::string>()), fs::path(path("page/walker.wgsl.json")));
    const auto bytes = read("page/walker.wgsl.json");
    const json plan =
        json::parse(reinterpret_cast<const char*>(bytes.data()),
                    reinterpret_cast<const char*>(bytes.data() + bytes.size()), nullptr, false);
    ASSERT_FALSE(plan.is_discarded());
    EXPECT_EQ(plan["rows"], 8);
    EXPECT_EQ(plan["weights_bytes"], report["weights_bytes"]);
    EXPECT_FALSE(plan["entries"]["act"]["steps"].empty());
    EXPECT_NE(plan["kernels"][0]["code"].get<std::string>().find("@compute"), std::string::npos);
    EXPECT_FALSE(read("page/walker.c").empty());

    const Ran narrow = run(cook_wgsl + "--quantize int8");
    EXPECT_EQ(narrow.exit_code, 1);
    EXPECT_TRUE(narrow.says("--target wgsl computes in f32 only; remove --quantize int8"))
        << narrow.text;
}

TEST_F(Tool, ReplayOfADumpFindsTheSameBits) {
    const std::string dump = path("run.safetensors");
    EXPECT_FALSE(cook("--device-targets baseline").is_discarded());
    for (const char* model : {"model.onnx", "model.hearth"}) {
        const Ran ran = run("run '" + path(model) + "' --batch-size 3 --dump '" + dump +
                            "' --dump-command 0 --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        const Ran text = run("replay '" + dump + "'");
        EXPECT_EQ(text.exit_code, 0) << text.text;
        EXPECT_TRUE(text.says("batch_size: 3")) << text.text;
        EXPECT_TRUE(text.says("commands:\n0 dispatch ")) << text.text;
        const Ran again = run("replay '" + dump + "' --json");
        const json report = json::parse(again.text, nullptr, false);
        ASSERT_FALSE(report.is_discarded()) << again.text;
        EXPECT_TRUE(report["agree"]);
        EXPECT_GE(report["outputs"].size(), 2u) << "an output and the results of command 0";
        for (const json& output : report["outputs"]) EXPECT_TRUE(output["equal_bits"]) << output;
    }
    // As version 0.1 wrote it.
    Metadata texts;
    NamedTensors tensors = read_safetensors(read("run.safetensors"), &texts).value(), old;
    const std::pair<std::string_view, std::string_view> kGroups[] = {
        {"variable/", "slot/"}, {"variable_after/", "slot_after/"}, {"command/", "step/"}};
    for (const auto& [name, tensor] : tensors) {
        std::string then = name;
        for (const auto& [now, group] : kGroups)
            if (name.starts_with(now)) then = std::string(group) + name.substr(now.size());
        old.emplace(then, tensor);
    }
    Metadata old_texts = texts;
    old_texts["hearth_dump"] = "1";
    for (const auto& [now, then] :
         {std::pair("batch_size", "rows"), std::pair("command", "step"),
          std::pair("commands", "steps"), std::pair("device_target", "profile")}) {
        ASSERT_TRUE(old_texts.contains(now)) << now;
        old_texts[then] = old_texts[now];
        old_texts.erase(now);
    }
    ASSERT_TRUE(write_file_atomically(dump, write_safetensors(old, old_texts)).ok());
    const Ran first_version = run("replay '" + dump + "'");
    EXPECT_EQ(first_version.exit_code, 0) << first_version.text;
    EXPECT_TRUE(first_version.says("batch_size: 3")) << first_version.text;

    // Without the program in it: the package gives it, and no other one does.
    ASSERT_EQ(tensors.erase("program"), 1u);
    ASSERT_TRUE(write_file_atomically(dump, write_safetensors(tensors, texts)).ok());
    EXPECT_TRUE(
        run("replay '" + dump + "'").says("the dump contains no program; give its package"));
    const std::string with_program =
        "replay '" + dump + "' --program '" + path("model.hearth") + "'";
    EXPECT_EQ(run(with_program).exit_code, 0);
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), wide_layer().bytes()).ok());
    EXPECT_FALSE(cook("--device-targets baseline").is_discarded());
    const Ran other = run(with_program);
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(other.says("; give the one that the dump was made with")) << other.text;
}

TEST_F(Tool, ReplayOfAFolderGoesThroughItsDumpsInOrder) {
    const std::string folder = path("dumps");
    ASSERT_TRUE(std::filesystem::create_directory(folder));
    EXPECT_TRUE(run("replay '" + folder + "'").says("without .safetensors files"));
    for (const char* name : {"0", "1", "2"}) {
        const Ran ran = run("run '" + path("model.onnx") + "' --seed " + name + " --dump '" +
                            folder + "/" + name + ".safetensors'");
        ASSERT_EQ(ran.exit_code, 0) << ran.text;
    }
    // The second one's program is in the first alone, and the host changes a weight before the
    // third.
    Metadata texts;
    NamedTensors second = read_safetensors(read("dumps/1.safetensors"), &texts).value();
    ASSERT_EQ(second.erase("program"), 1u);
    ASSERT_TRUE(
        write_file_atomically(folder + "/1.safetensors", write_safetensors(second, texts)).ok());
    const json all = json::parse(run("replay '" + folder + "' --json").text, nullptr, false);
    ASSERT_FALSE(all.is_discarded());
    EXPECT_TRUE(all["agree"]);
    ASSERT_EQ(all["dumps"].size(), 3u);
    EXPECT_EQ(all["dumps"][1]["file"], "1.safetensors");
    EXPECT_EQ(all["dumps"][1]["changed_before"], json::array());

    NamedTensors third = read_safetensors(read("dumps/2.safetensors"), &texts).value();
    const auto variable = std::find_if(
        third.begin(), third.end(), [](const auto& t) { return t.first.starts_with("variable/"); });
    ASSERT_NE(variable, third.end());
    variable->second.bytes()[2] ^= std::byte{0x40};
    ASSERT_TRUE(
        write_file_atomically(folder + "/2.safetensors", write_safetensors(third, texts)).ok());
    const Ran changed = run("replay '" + folder + "'");
    EXPECT_EQ(changed.exit_code, 1) << "what came out was made of other weights";
    EXPECT_TRUE(changed.says("== 2.safetensors")) << changed.text;
    EXPECT_TRUE(changed.says("continues from the end of the previous dump")) << changed.text;
    EXPECT_TRUE(changed.says("changed since the previous dump: " + variable->first.substr(9)))
        << changed.text;
}

TEST_F(Tool, DiffOfFoldersOfDumpsNamesTheExecutionAndTheTensorThatDiffers) {
    for (const char* folder : {"ours", "theirs"}) {
        ASSERT_TRUE(std::filesystem::create_directory(path(folder)));
        for (const char* name : {"0", "1"})
            ASSERT_EQ(run("run '" + path("model.onnx") + "' --seed " + name + " --dump '" +
                          path(folder) + "/" + name + ".safetensors'")
                          .exit_code,
                      0);
    }
    const std::string both = "diff '" + path("ours") + "' '" + path("theirs") + "'";
    const Ran equal = run(both);
    EXPECT_EQ(equal.exit_code, 0) << equal.text;
    EXPECT_TRUE(equal.says("1.safetensors: ") && equal.says(": agree")) << equal.text;

    Metadata texts;
    NamedTensors tensors = read_safetensors(read("theirs/1.safetensors"), &texts).value();
    const auto output = std::find_if(tensors.begin(), tensors.end(),
                                     [](const auto& t) { return t.first.starts_with("output/"); });
    ASSERT_NE(output, tensors.end());
    output->second.set(0, output->second.get(0) + 1);
    const auto write = [&] {
        ASSERT_TRUE(
            write_file_atomically(path("theirs/1.safetensors"), write_safetensors(tensors, texts))
                .ok());
    };
    write();
    EXPECT_EQ(run(both).exit_code, 1);
    const json report = json::parse(run(both + " --json").text, nullptr, false);
    ASSERT_FALSE(report.is_discarded());
    EXPECT_EQ(report["dumps"][0]["differences"], json::array());
    ASSERT_EQ(report["dumps"][1]["differences"].size(), 1u);
    EXPECT_EQ(report["dumps"][1]["differences"][0]["what"], output->first);
    // What was run is told before what came of it, and a run that ended early from one that did
    // not.
    texts["batch_size"] = "99";
    write();
    EXPECT_TRUE(run(both).says("  batch_size: '")) << run(both).text;
    ASSERT_TRUE(std::filesystem::remove(path("theirs/1.safetensors")));
    EXPECT_TRUE(run(both).says("2 dumps in the first, 1 in the second"));
    EXPECT_EQ(run(both).exit_code, 1);
    EXPECT_TRUE(run("diff '" + path("ours") + "' '" + path("model.onnx") + "'")
                    .says("expected two models or two dumps"));
}

TEST_F(Tool, ReplayTellsWhatDiffersAndRefusesWhatIsNoDump) {
    const std::string dump = path("run.safetensors");
    EXPECT_EQ(run("run '" + path("model.onnx") + "' --dump '" + dump + "'").exit_code, 0);
    const std::vector<std::byte> whole = read("run.safetensors");
    Metadata texts;
    NamedTensors tensors = read_safetensors(whole, &texts).value();
    const auto output = std::find_if(tensors.begin(), tensors.end(),
                                     [](const auto& t) { return t.first.starts_with("output/"); });
    ASSERT_NE(output, tensors.end());
    output->second.set(0, output->second.get(0) + 1);
    const auto write = [&] {
        ASSERT_TRUE(write_file_atomically(dump, write_safetensors(tensors, texts)).ok());
    };
    write();
    const Ran differs = run("replay '" + dump + "'");
    EXPECT_EQ(differs.exit_code, 1);
    EXPECT_TRUE(differs.says(output->first + ": ")) << differs.text;
    EXPECT_EQ(run("replay --print '" + dump + "'").exit_code, 0);
    // Of a lost device: texts alone, with nothing to run.
    tensors.clear();
    write();
    EXPECT_EQ(run("replay '" + dump + "'").exit_code, 0);
    texts["hearth_dump"] = "3";
    write();
    EXPECT_TRUE(run("replay '" + dump + "'")
                    .says("expected a dump of version 1 or 2, found hearth_dump '3'"));
    for (const size_t size : {size_t{0}, size_t{7}, size_t{100}, whole.size() - 1}) {
        ASSERT_TRUE(write_file_atomically(dump, std::span(whole).first(size)).ok());
        EXPECT_EQ(run("replay '" + dump + "'").exit_code, 1) << size;
    }
    const std::string model = "run '" + path("model.onnx") + "' --dump '" + dump + "' ";
    EXPECT_TRUE(run(model + "--device reference")
                    .says("--device is reference; use --device gpu or --device cpu"));
    EXPECT_TRUE(run(model + "--dump-command 99").says("command 99 does not exist"));
}

TEST_F(Tool, CookMeasuresWhereThereIsADevice) {
    const Ran ran = run("cook '" + path("model.onnx") + "' -o '" + path("m.hearth") +
                        "' --device-targets device");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says("estimated ")) << ran.text;
    EXPECT_TRUE(ran.says(", measured ")) << ran.text;
}

/// x [batch, 3, height, width] -> y [batch, 4, height, width]
testing::OnnxBuilder open_convolution() {
    testing::OnnxBuilder b;
    std::vector<float> w(4 * 3 * 3 * 3);
    for (size_t i = 0; i < w.size(); ++i) w[i] = std::sin(static_cast<float>(i)) / 4;
    b.input("x", {"batch", 3, "height", "width"}).output("y");
    b.initializer(testing::float_tensor("w", {4, 3, 3, 3}, w));
    testing::set_ints(b.node("Conv", {"x", "w"}, {"y"}), "pads", {1, 1, 1, 1});
    return b;
}

TEST_F(Tool, AModelOfOpenExtentsIsAnsweredWithAShapeOptionThatWorks) {
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), open_convolution().bytes()).ok());
    for (const char* command : {"run --device reference", "bench", "inspect", "cook -o x.hearth"}) {
        const Ran ran = run(std::string(command) + " '" + path("model.onnx") + "'");
        EXPECT_EQ(ran.exit_code, 1) << command;
        EXPECT_TRUE(ran.says("'x' is [batch, 3, height, width] in the model")) << ran.text;
        EXPECT_TRUE(ran.says(": give --shape x=1,3,160,160\n")) << ran.text;
    }
    const json report = cook("--shape x=1,3,160,160");
    ASSERT_FALSE(report.is_discarded());
    EXPECT_EQ(report["remarks"], json::array());
}

// A reader of lines of text takes images of one height, which its file does not say.
TEST_F(Tool, ASizeThatAModelCannotTakeIsNamedBesideWhatItBreaks) {
    testing::OnnxBuilder flat;
    flat.input("x", {"batch", "height"}).output("y");
    flat.initializer(testing::int_tensor("to", {2}, {-1, 48}));
    flat.node("Reshape", {"x", "to"}, {"y"});
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), flat.bytes()).ok());
    const Ran ran = run("cook -o x.hearth '" + path("model.onnx") + "' --shape x=1,160");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_TRUE(ran.says("; imported with x [1, 160]; try another --shape\n")) << ran.text;
}

TEST_F(Tool, SeveralSizesOfAModelShareItsWeightsInOnePackage) {
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), open_convolution().bytes()).ok());
    const json one = cook("--name net --shape x=1,3,8,10");
    const json two = cook("--name net --shape x=1,3,8,10 --shape x=batch,3,16,12");
    ASSERT_FALSE(two.is_discarded());
    const json& entries = two["device_targets"][0]["entries"];
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0]["name"], "net_1x3x8x10");
    EXPECT_EQ(entries[1]["name"], "net_batchx3x16x12");
    EXPECT_EQ(two["weights_bytes"], one["weights_bytes"]);
    EXPECT_EQ(two["device_targets"][0]["bytes"]["params"],
              one["device_targets"][0]["bytes"]["params"]);
    // Each computes what the model of its size does.
    const struct {
        const char *entry, *shape;
    } kSizes[] = {{"net_1x3x8x10", "x=1,3,8,10"}, {"net_batchx3x16x12", "x=batch,3,16,12"}};
    for (const auto& size : kSizes) {
        const std::string same = " --seed 3 --batch-size 2 -o '";
        EXPECT_EQ(run("run '" + path("model.onnx") + "' --device reference --shape " + size.shape +
                      same + path("a") + "'")
                      .exit_code,
                  0);
        const Ran ran = run("run '" + path("model.hearth") + "' --entry " + size.entry + same +
                            path("b") + "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        const HostTensor a = read_npy(read("a/y.npy")).value();
        const HostTensor b = read_npy(read("b/y.npy")).value();
        ASSERT_EQ(a.shape(), b.shape());
        for (int64_t i = 0; i < a.element_count(); ++i) ASSERT_NEAR(a.get(i), b.get(i), 1e-5);
    }
    const std::string cooking = "cook '" + path("model.onnx") + "' -o '" + path("m.hearth") + "' ";
    const Ran twice = run(cooking + "--shape x=1,3,8,8 --shape x=1,3,8,8");
    EXPECT_TRUE(twice.says("--shape gives the size 1x3x8x8 twice")) << twice.text;
    const Ran none = run(cooking + "--shape z=1,3,8,8");
    EXPECT_TRUE(none.says("--shape names 'z', which is not an input of the model")) << none.text;
}

TEST_F(Tool, ContentsThatAModelNeedsToKnowCanBeGiven) {
    testing::OnnxBuilder b;
    b.input("x", {2, 3}).input("shape", {2}, onnx::TensorProto::INT64).output("y");
    b.node("Reshape", {"x", "shape"}, {"y"});
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), b.bytes()).ok());
    const std::string command = "run '" + path("model.onnx") + "' --device reference ";
    const Ran ran = run(command + "--value shape=3,-1");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says("y f32[3, 2]")) << ran.text;
    EXPECT_TRUE(run(command + "--value shape=3").says("'shape' is [2], its given value is [1]"));
    EXPECT_TRUE(run(command + "--value shape=3,0.5").says("is of i64, which 0.5"));
    EXPECT_TRUE(run(command + "--value z=3").says("names 'z', which is not an input of the model"));
    EXPECT_TRUE(run(command + "--value shape=3,x").says("'shape=3,x' is no value; expected NAME="));
}

TEST_F(Tool, ABatchSizeThatCannotStaySymbolicIsFixedWithARemark) {
    testing::OnnxBuilder b;  // the second row: one that there must be
    b.input("x", {"batch", 2}).output("y");
    b.initializer(testing::int_tensor("one", {1}, {1}));
    b.initializer(testing::int_tensor("two", {1}, {2}));
    b.node("Slice", {"x", "one", "two"}, {"y"});
    ASSERT_TRUE(write_file_atomically(path("model.onnx"), b.bytes()).ok());
    const Ran ran = run("run '" + path("model.onnx") + "' --device reference --batch-size 3");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says("remark: ")) << ran.text;
    EXPECT_TRUE(ran.says("its batch size cannot stay symbolic (")) << ran.text;
    EXPECT_TRUE(ran.says("; compiled for x [3, 2]\n")) << ran.text;
    const Ran cooked = run("cook '" + path("model.onnx") + "' -o '" + path("m.hearth") +
                               "' --json --no-measure --max-batch-size 4",
                           "", " 2>/dev/null");
    const json report = json::parse(cooked.text, nullptr, false);
    ASSERT_FALSE(report.is_discarded());
    ASSERT_EQ(report["remarks"].size(), 1u);
    EXPECT_NE(report["remarks"][0].get<std::string>().find("x [4, 2]"), std::string::npos)
        << report;
}

TEST_F(Tool, TheHeaderOfAPackageCompilesAndAgreesWithIt) {
    if (kIsWindows) GTEST_SKIP() << "there is no compiler under Wine";
    const std::string header = path("my policy-2.h");
    cook("--name act --device-targets descriptors,baseline --header '" + header + "'");
    const std::string text =
        "#include \"my policy-2.h\"\n"
        "#if MY_POLICY_2_MAX_BATCH_SIZE != 16\n#error batch\n#endif\n"
        "static const int64_t shape[] = MY_POLICY_2_ACT_OBS_SHAPE(5);\n"
        "int main(void) {\n"
        "    return !(MY_POLICY_2_ENTRY_ACT == 0 && MY_POLICY_2_ACT_OBS_RANK == "
        "2 && shape[0] == 5 && shape[1] == 6 && MY_POLICY_2_ACT_OBS_BYTES(5) "
        "== 120 && MY_POLICY_2_VARIABLE_W1_RANK == 2);\n"
        "}\n";
    for (const char* compiler : {"cc -std=c11", "c++ -std=c++17 -Wold-style-cast"}) {
        const std::string source = path(compiler[1] == 'c' ? "use.c" : "use.cpp");
        ASSERT_TRUE(write_file_atomically(source, text).ok());
        const std::string command =
            std::string(compiler) +
            " -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -I '" HEARTH_INCLUDE "' '" +
            source + "' -o '" + path("use") + "' && '" + path("use") + "'";
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
    // The names and indices are those of the package.
    const json info = json::parse(run("inspect --json '" + path("model.hearth") + "'").text);
    std::string found;
    const std::vector<std::byte> bytes = read("my policy-2.h");
    found.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_NE(found.find("MY_POLICY_2_GRAPH_HASH UINT64_C(0x" +
                         info["graph_hash"].get<std::string>() + ")"),
              std::string::npos)
        << found;
    for (const char* line :
         {"#define MY_POLICY_2_ACT_ACTION_NAME \"action\"\n",
          "/* output \"action\": f32 [batch, 2], in the buffer f32 */\n",
          "static inline int my_policy_2_matches(const hearth_program* program)"})
        EXPECT_NE(found.find(line), std::string::npos) << line << found;
}

TEST_F(Tool, CookListsTheFilesThatItWroteAndRefusesAFolderAsTheirPrefix) {
    const std::string cook = "cook '" + path("model.onnx") + "' -o '" + path("m.hearth") +
                             "' --device-targets scalar --no-measure";
    const Ran ran = run(cook + " --header '" + path("m.h") + "' --kernels '" + path("net") + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    for (const char* name : {"m.hearth", "m.h", "net_scalar.c"})
        EXPECT_TRUE(ran.says("wrote " + path(name) + ": ")) << name << ran.text;
    const json report = json::parse(run(cook + " --json", "", " 2>/dev/null").text);
    ASSERT_EQ(report["files"].size(), 1u) << report;
    EXPECT_EQ(report["files"][0]["path"], path("m.hearth"));
    EXPECT_EQ(report["files"][0]["bytes"], report["bytes"]);
    for (const std::string& folder : {path(""), path(".")}) {
        const Ran refused = run(cook + " --kernels '" + folder + "'");
        EXPECT_EQ(refused.exit_code, 1) << refused.text;
        EXPECT_TRUE(refused.says("is a folder; expected the beginning of the files' names"))
            << refused.text;
    }
    const Ran c = run("cook '" + path("model.onnx") + "' --target c -o '" + path("c") + "'");
    EXPECT_TRUE(c.says("wrote " + path("c/net.c") + ": ")) << c.text;
}

TEST_F(Tool, CookSaysWhatIsWrong) {
    const Ran unknown = run("cook '" + path("model.onnx") + "' -o '" + path("m.hearth") +
                            "' --device-targets nonsense");
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_TRUE(unknown.says("there is no device target 'nonsense'; expected one of: baseline,"))
        << unknown.text;
    const Ran place = run("cook '" + path("model.onnx") + "' -o /nonexistent/x --no-measure");
    EXPECT_EQ(place.exit_code, 1);
    EXPECT_TRUE(place.says("the package: cannot create a file beside '/nonexistent/x': "))
        << place.text;
#if !defined(_WIN32)
    EXPECT_TRUE(place.says("No such file or directory")) << place.text;
#endif
    EXPECT_GE(run("cook").exit_code, 100) << "wrong usage has codes of its own";
}

TEST_F(Tool, CookingAPackageAgainGivesTheSameBytes) {
    cook();
    const std::vector<std::byte> first = read("model.hearth");
    const Ran again = run("cook '" + path("model.hearth") + "' -o '" + path("again.hearth") +
                          "' --no-measure --max-batch-size 16");
    EXPECT_EQ(again.exit_code, 0) << again.text;
    const auto info = run("inspect --json '" + path("again.hearth") + "'");
    EXPECT_EQ(info.exit_code, 0) << info.text;
    const json a = json::parse(run("inspect --json '" + path("model.hearth") + "'").text);
    json b = json::parse(info.text);
    EXPECT_EQ(a["graph_hash"], b["graph_hash"]);
    EXPECT_EQ(a["device_targets"], b["device_targets"]);
}

TEST_F(Tool, AgentsCookedAgainKeepTheirNumberAndPrecision) {
    using namespace agents;
    const AgentSpec spec(ObservationSpec().box("x"), ActionSpec().discrete("y", 2));
    const Ppo ppo{.n_agents = 8, .n_steps = 4};
    const AgentManifest manifest = make_manifest(spec, ppo);
    const AgentGraphs graphs = build_agent_graphs(spec, mlp_network({8}), ppo);
    const Result<Cooked> cooked =
        hearth::cook(runtime_entries(graphs, manifest), {.max_batch_size = manifest.n_agents,
                                                         .notes = R"({"precision": "f16"})",
                                                         .agents = manifest.save()});
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    ASSERT_TRUE(write_file_atomically(path("agents.hearth"), cooked->bytes).ok());
    const std::string cook = "cook --no-measure --json '" + path("agents.hearth") + "' -o '" +
                             path("again.hearth") + "'";
    const Ran again = run(cook);
    ASSERT_EQ(again.exit_code, 0) << again.text;
    EXPECT_EQ(json::parse(again.text)["max_batch_size"], 8);
    const json info = json::parse(run("inspect --json '" + path("again.hearth") + "'").text);
    EXPECT_EQ(info["device_targets"][0]["max_batch_size"], 8);
    EXPECT_EQ(json::parse(info["remarks"].get<std::string>())["precision"], "f16");
    const Ran small = run(cook + " --max-batch-size 1");
    EXPECT_EQ(small.exit_code, 1) << small.text;
    EXPECT_TRUE(small.says("max_batch_size is 1, expected at least the 8 agents of the package"))
        << small.text;
}

TEST_F(Tool, RunWritesWhatTheReferenceComputes) {
    cook();
    for (const char* model : {"model.onnx", "model.hearth"})
        for (const char* device : {"reference", "gpu", "program"}) {
            const std::string folder = path(std::string(model) + device);
            const Ran ran = run("run '" + path(model) + "' --device " + device +
                                " --batch-size 3 -o '" + folder + "' --seed 9");
            EXPECT_EQ(ran.exit_code, 0) << ran.text;
            const auto bytes = read_whole_file(folder + "/action.npy");
            ASSERT_TRUE(bytes.ok()) << bytes.status().message();
            const Result<HostTensor> action = read_npy(*bytes);
            ASSERT_TRUE(action.ok()) << action.status().message();
            EXPECT_EQ(action->shape(), (Shape{3, 2}));
            const auto reference = read_whole_file(path("model.onnxreference") + "/action.npy");
            const HostTensor expected = read_npy(*reference).value();
            for (int64_t i = 0; i < expected.element_count(); ++i)
                EXPECT_NEAR(action->get(i), expected.get(i), 1e-5);
        }
}

TEST_F(Tool, RunReadsBothKindsOfFiles) {
    HostTensor obs(DType::kF32, {2, 6});
    for (int64_t i = 0; i < 12; ++i) obs.set(i, 0.1 * static_cast<double>(i));
    ASSERT_TRUE(write_file_atomically(path("obs.npy"), write_npy(obs)).ok());
    ASSERT_TRUE(write_file_atomically(path("obs.pb"), tool::write_tensor_proto("obs", obs)).ok());
    std::string first;
    for (const char* file : {"obs.npy", "obs.pb"}) {
        const Ran ran =
            run("run '" + path("model.onnx") + "' --device reference --json -i state_ins=ones " +
                "-i 'obs=" + path(file) + "' --format pb -o '" + path("out") + "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        const json report = json::parse(ran.text, nullptr, false);
        ASSERT_FALSE(report.is_discarded());
        EXPECT_EQ(report["batch_size"], 2);
        if (first.empty()) first = report.dump();
        EXPECT_EQ(report.dump(), first);
        const Result<NamedTensor> action = read_onnx_tensor(read("out/action.pb"));
        ASSERT_TRUE(action.ok()) << action.status().message();
        EXPECT_EQ(action->name, "action");
        EXPECT_EQ(action->tensor.shape(), (Shape{2, 2}));
    }
}

TEST_F(Tool, RunNamesInputsThatDoNotFit) {
    const Ran unknown = run("run '" + path("model.onnx") + "' -i nothing=zeros");
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_TRUE(unknown.says("no input is named 'nothing'; expected one of: obs, state_ins"))
        << unknown.text;
    HostTensor obs(DType::kF32, {2, 5});
    ASSERT_TRUE(write_file_atomically(path("obs.npy"), write_npy(obs)).ok());
    const Ran shape = run("run '" + path("model.onnx") + "' -i 'obs=" + path("obs.npy") + "'");
    EXPECT_EQ(shape.exit_code, 1);
    EXPECT_TRUE(shape.says("input 'obs' is f32[batch, 6], the file has f32[2, 5]; give a file"))
        << shape.text;
}

TEST_F(Tool, WhatIsNoModelIsNamed) {
    const std::string text = "hello";
    ASSERT_TRUE(write_file_atomically(path("text.txt"), std::as_bytes(std::span(text))).ok());
    const std::string cook = "cook -o '" + path("model.hearth") + "'";
    for (const std::string& command :
         {std::string("inspect"), std::string("run --device reference"), std::string("bench"),
          cook}) {
        const Ran folder = run(command + (" '" + root_.string() + "'"));
        EXPECT_EQ(folder.exit_code, 1) << command;
        EXPECT_TRUE(folder.says("' is a folder, expected a file")) << folder.text;
        const Ran file = run(command + (" '" + path("text.txt") + "'"));
        EXPECT_EQ(file.exit_code, 1) << command;
        EXPECT_TRUE(file.says("text.txt: the 5 bytes are not a serialized ONNX model"))
            << file.text;
    }
    Brain brain;
    brain.tensors.push_back({"w", false, HostTensor(DType::kF32, {4})});
    ASSERT_TRUE(write_file_atomically(path("a.brain"), *save_brain(brain)).ok());
    const Ran other = run("run '" + path("a.brain") + "'");
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(other.says("expected an ONNX file or a package (.hearth), found a Hearth brain"))
        << other.text;
    const Ran twice =
        run("run --device reference '" + path("model.onnx") + "' -i obs=ones -i obs=zeros");
    EXPECT_EQ(twice.exit_code, 1);
    EXPECT_TRUE(twice.says("input 'obs' is given twice")) << twice.text;
}

TEST_F(Tool, NamesOfClassesAreListedInModelsAndPackages) {
    const std::string model = HEARTH_ML_DATA "/forest_names/model.onnx";
    EXPECT_EQ(run("cook '" + model + "' -o '" + path("named.hearth") + "' --no-measure").exit_code,
              0);
    // A package that is cooked again keeps them.
    EXPECT_EQ(
        run("cook '" + path("named.hearth") + "' -o '" + path("again.hearth") + "' --no-measure")
            .exit_code,
        0);
    for (const std::string& file : {model, path("named.hearth"), path("again.hearth")}) {
        const Ran ran = run("inspect '" + file + "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("string 0: 'attack'\nstring 1: 'flee'\nstring 2: 'idle'\n"))
            << ran.text;
    }
}

/// The largest magnitude of `action` in files of `hearth run -o`.
double largest_action(const std::vector<std::byte>& npy) {
    const HostTensor action = read_npy(npy).value();
    double most = 0;
    for (int64_t i = 0; i < action.element_count(); ++i)
        most = std::max(most, std::abs(action.get(i)));
    return most;
}

TEST_F(Tool, ExportedEntriesComputeWhatThePackageDoes) {
    cook("--name act");
    const std::string exported = "export '" + path("model.hearth") + "' -o '" + path("out.onnx");
    const Ran ran = run(exported + "' --entry act --json");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_EQ(json::parse(ran.text, nullptr, false)["bytes"], fs::file_size(path("out.onnx")));
    for (const char* model : {"model.hearth", "model.onnx"}) {
        const Ran same =
            run("diff '" + path(model) + "' '" + path("out.onnx") + "' --batch-size 4 --rtol 0");
        EXPECT_EQ(same.exit_code, 0) << same.text;
    }
    // An ONNX file is written again as it was imported.
    EXPECT_EQ(run("export '" + path("model.onnx") + "' -o '" + path("again.onnx") + "'").exit_code,
              0);
    EXPECT_EQ(run("diff '" + path("again.onnx") + "' '" + path("out.onnx") + "'").exit_code, 0);
    const Ran other = run(exported + "' --entry learn");
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(other.says("no entry is named 'learn'; expected one of: act")) << other.text;
}

TEST_F(Tool, ExportTakesTrainedWeights) {
    cook();
    const auto exports = [&](const std::string& weights) {
        return run("export '" + path("model.hearth") + "' -o '" + path("out.onnx") +
                   "' --weights '" + path(weights) + "'");
    };
    const auto action = [&] {
        const Ran ran = run("run '" + path("out.onnx") + "' --device reference --batch-size 2 -o " +
                            path("ran"));
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        return largest_action(read("ran/action.npy"));
    };
    Brain brain = initial_brain(read("model.hearth")).value();
    NamedTensors tensors;
    for (BrainTensor& tensor : brain.tensors) {
        if (tensor.name == "w2") tensor.value = HostTensor(DType::kF32, {2, 5});  // zeros
        tensors.emplace(tensor.name, tensor.value);
    }
    ASSERT_TRUE(write_file_atomically(path("a.brain"), *save_brain(brain)).ok());
    ASSERT_TRUE(write_file_atomically(path("a.safetensors"), write_safetensors(tensors)).ok());
    for (const char* weights : {"a.brain", "a.safetensors"}) {
        EXPECT_EQ(
            run("export '" + path("model.hearth") + "' -o '" + path("out.onnx") + "'").exit_code,
            0);
        EXPECT_GT(action(), 0.01);
        const Ran ran = exports(weights);
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_EQ(action(), 0) << weights;
    }
    tensors.erase("b1");
    ASSERT_TRUE(write_file_atomically(path("a.safetensors"), write_safetensors(tensors)).ok());
    const Ran lacking = exports("a.safetensors");
    EXPECT_EQ(lacking.exit_code, 1);
    EXPECT_TRUE(lacking.says("the weights have no tensor 'b1', which entry")) << lacking.text;
    const Ran brainless = run("export '" + path("model.onnx") + "' -o '" + path("out.onnx") +
                              "' --weights '" + path("a.brain") + "'");
    EXPECT_EQ(brainless.exit_code, 1);
    EXPECT_TRUE(brainless.says("a brain belongs to a package")) << brainless.text;
}

TEST_F(Tool, DiffFindsEqualAndUnequalModels) {
    cook();
    const std::string same =
        "diff '" + path("model.onnx") + "' '" + path("model.hearth") + "' --batch-size 4 ";
    const Ran equal = run(same);
    EXPECT_EQ(equal.exit_code, 0) << equal.text;
    EXPECT_TRUE(equal.says("action: equal bits")) << equal.text;
    EXPECT_EQ(
        run(same + "--device gpu --second-device reference --rtol 1e-4 --atol 1e-5").exit_code, 0);

    auto other = testing::small_policy();
    float weight = 0.5f;
    auto& tensor = *other.graph().mutable_initializer(0);
    tensor.mutable_raw_data()->replace(0, sizeof weight, reinterpret_cast<const char*>(&weight),
                                       sizeof weight);
    ASSERT_TRUE(write_file_atomically(path("other.onnx"), other.bytes()).ok());
    const Ran unequal =
        run("diff --json '" + path("model.onnx") + "' '" + path("other.onnx") + "'");
    EXPECT_EQ(unequal.exit_code, 1) << unequal.text;
    const json report = json::parse(unequal.text, nullptr, false);
    ASSERT_FALSE(report.is_discarded());
    EXPECT_EQ(report["agree"], false);
    EXPECT_GT(report["outputs"][0]["max_abs"], 0);
}

TEST_F(Tool, BenchListsEachCommandBesideTheRoofline) {
    const json cooked = cook();
    const Ran ran = run("bench --json --samples 4 --batch-size 16 '" + path("model.hearth") + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    const json report = json::parse(ran.text, nullptr, false);
    ASSERT_FALSE(report.is_discarded()) << ran.text;
    EXPECT_EQ(report["samples"], 4) << "the warm-up is not one of them";
    EXPECT_GT(report["total_us"], 0);
    EXPECT_GT(report["roof"]["gflops_per_s"], 0);
    const json& entry = cooked["device_targets"][0]["entries"][0];
    EXPECT_EQ(report["commands"].size(),
              entry["dispatches"].get<size_t>() + entry["copies"].get<size_t>());
    for (const json& command : report["commands"]) {
        EXPECT_GT(command["us"], 0);
        EXPECT_FALSE(command["command"].get<std::string>().empty());
    }
    const Ran text = run("bench --samples 4 --no-roof '" + path("model.onnx") + "'");
    EXPECT_EQ(text.exit_code, 0) << text.text;
    EXPECT_TRUE(text.says("sum of the commands")) << text.text;
}

TEST_F(Tool, ADamagedPackageIsToldAbout) {
    cook();
    std::vector<std::byte> bytes = read("model.hearth");
    bytes[bytes.size() / 3] ^= std::byte{1};
    ASSERT_TRUE(write_file_atomically(path("bad.hearth"), bytes).ok());
    const Ran ran = run("run --device reference --json '" + path("bad.hearth") + "'");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_TRUE(ran.says("package: ")) << ran.text;
    EXPECT_TRUE(ran.says("\"error\"")) << ran.text;
}

TEST_F(Tool, BrainsAreShownComparedAveragedAndReset) {
    cook();
    const Brain initial = initial_brain(read("model.hearth")).value();
    Brain a = initial, b = initial;
    a.find("w1")->value.set(0, 1);
    b.find("w1")->value.set(0, 3);
    ASSERT_TRUE(write_file_atomically(path("a.brain"), *save_brain(a)).ok());
    ASSERT_TRUE(write_file_atomically(path("b.brain"), *save_brain(b, &initial)).ok());
    const std::string from = " --initial '" + path("model.hearth") + "'";

    const Ran shown = run("brain show '" + path("b.brain") + "'" + from);
    EXPECT_EQ(shown.exit_code, 0) << shown.text;
    EXPECT_TRUE(shown.says("a delta (1 tensors changed)")) << shown.text;
    const Ran orphan = run("brain show '" + path("b.brain") + "'");
    EXPECT_EQ(orphan.exit_code, 1);
    EXPECT_TRUE(orphan.says("give it by --initial")) << orphan.text;

    const Ran diff = run("brain diff '" + path("a.brain") + "' '" + path("b.brain") + "'" + from);
    EXPECT_EQ(diff.exit_code, 1);
    EXPECT_TRUE(diff.says("w1: 1 of 30 elements changed, max |b-a| 2")) << diff.text;
    EXPECT_EQ(run("brain diff '" + path("a.brain") + "' '" + path("a.brain") + "'").exit_code, 0);

    const Ran average = run("brain average '" + path("a.brain") + "' '" + path("b.brain") +
                            "' -w 3,1 --delta -o '" + path("m.brain") + "'" + from);
    EXPECT_EQ(average.exit_code, 0) << average.text;
    const Result<Brain> mean = load_brain(read("m.brain"), &initial);
    ASSERT_TRUE(mean.ok()) << mean.status().message();
    EXPECT_EQ(mean->find("w1")->value.get(0), 1.5);

    const Ran reset = run("brain reset '" + path("a.brain") + "' --match 'w*' -o '" +
                          path("f.brain") + "'" + from);
    EXPECT_EQ(reset.exit_code, 0) << reset.text;
    EXPECT_TRUE(reset.says("2 of 3 tensors have their initial values")) << reset.text;
    EXPECT_EQ(load_brain(read("f.brain"))->find("w1")->value, initial.find("w1")->value);
}

TEST_F(Tool, InfoHasJsonToo) {
    const json info = json::parse(run("info --json").text, nullptr, false);
    ASSERT_FALSE(info.is_discarded());
    EXPECT_GT(info["usable"], 0);
    EXPECT_FALSE(info["devices"][0]["name"].get<std::string>().empty());
}

TEST(Npy, RefusesWhatItCannotRead) {
    const HostTensor tensor = HostTensor::of({3}, std::vector<double>{1, 2, 3});
    const std::vector<std::byte> good = write_npy(tensor);
    ASSERT_TRUE(read_npy(good).ok());
    for (size_t size = 0; size < good.size(); ++size)
        EXPECT_FALSE(read_npy(std::span(good).first(size)).ok()) << size;
    std::vector<std::byte> longer = good;
    longer.push_back({});
    EXPECT_FALSE(read_npy(longer).ok());
}

TEST(Npy, KeepsEveryTypeAndShape) {
    for (int d = 0; d < kDTypeCount; ++d)
        for (const Shape& shape : {Shape{}, Shape{4}, Shape{2, 0, 3}, Shape{2, 3, 4}}) {
            const auto dtype = static_cast<DType>(d);
            if (dtype == DType::kBF16) continue;  // NumPy has none
            HostTensor tensor(dtype, shape);
            for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.set_int(i, i % 2);
            const Result<HostTensor> back = read_npy(write_npy(tensor));
            ASSERT_TRUE(back.ok()) << back.status().message();
            EXPECT_EQ(*back, tensor);
        }
}

TEST(Isolate, ACrashAndAHangFailTheirCasesAlone) {
#if defined(_WIN32)
    // Each child is this program again, which is to come to this very test.
    (void)_putenv_s("GTEST_FILTER", "Isolate.ACrashAndAHangFailTheirCasesAlone");
#endif
    const auto start = [] {
        return [](size_t i) -> std::vector<tool::DeviceOutcome> {
#if defined(_WIN32)
            if (i == 1) RaiseException(EXCEPTION_ACCESS_VIOLATION, 0, 0, nullptr);
#else
            if (i == 1) raise(SIGSEGV);
#endif
            if (i == 3) _exit(7);
            if (i == 4) std::this_thread::sleep_for(std::chrono::seconds(60));
            return {{"reference", {tool::Outcome::Kind::kPassed, std::to_string(i)}}};
        };
    };
    std::vector<std::string> seen;
    tool::run_isolated(6, start,
                       [&](size_t i, std::vector<tool::DeviceOutcome> outcomes) {
                           ASSERT_EQ(outcomes.size(), 1u);
                           EXPECT_EQ(i, seen.size());
                           seen.push_back(outcomes[0].outcome.text);
                       },
                       {.timeout_s = 1});
    ASSERT_EQ(seen.size(), 6u);
    EXPECT_EQ(seen[0], "0");
    EXPECT_TRUE(seen[1].starts_with("the process crashed: ")) << seen[1];
    EXPECT_EQ(seen[2], "2");
    EXPECT_EQ(seen[3], "the process ended with exit code 7");
    EXPECT_EQ(seen[4], "no answer after 1 s");
    EXPECT_EQ(seen[5], "5");
}

}  // namespace
}  // namespace hearth
