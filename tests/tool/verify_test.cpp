// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the `hearth` program, which lies beside this one, on cases written here and on reference
// cases.

#include "run_tool.hpp"
#include "support/cases.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/core/os_file.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of;
using testing::float_tensor;
using testing::int_tensor;
using testing::kIsWindows;
using testing::OnnxBuilder;
using testing::Ran;
using testing::run;

/// A folder of cases that is gone when the test ends.
class VerifyTool : public ::testing::Test {
  protected:
    void SetUp() override {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        root_ = fs::temp_directory_path() /
                ("hearth_verify_" + std::to_string(os::process_number()) + "_" + info.name());
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }

    static void write(const fs::path& path, const std::vector<std::byte>& bytes) {
        fs::create_directories(path.parent_path());
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }

    /// A case with one input x and one expected output.
    void add_case(const std::string& name, const OnnxBuilder& model, const onnx::TensorProto& x,
                  const onnx::TensorProto& y) {
        write(root_ / name / "model.onnx", model.bytes());
        write(root_ / name / "test_data_set_0" / "input_0.pb", bytes_of(x));
        write(root_ / name / "test_data_set_0" / "output_0.pb", bytes_of(y));
    }

    /// y = op(x) on [4] floats.
    void add_unary(const std::string& name, const std::string& op, const std::vector<float>& x,
                   const std::vector<float>& y) {
        OnnxBuilder b;
        b.input("x", {4}).output("y");
        b.node(op, {"x"}, {"y"});
        add_case(name, b, float_tensor("x", {4}, x), float_tensor("y", {4}, y));
    }

    void set_tolerance(const std::string& name, const std::string& text) {
        std::ofstream(root_ / name / "tolerance.txt") << text;
    }

    Ran verify(const std::string& options) {
        return run("verify " + options + " '" + root_.string() + "'");
    }

    fs::path root_;
};

TEST_F(VerifyTool, CountsWhatPassedAndExitsWithZero) {
    add_unary("relu", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    add_unary("neg", "Neg", {-1, 0, 2, 3}, {1, 0, -2, -3});
    const Ran ran = verify("--device reference");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_EQ(ran.text, "2 passed, 0 failed, 0 skipped\n");
}

// What ONNX Runtime computes: tests/data/contrib/make_cases.py.
TEST_F(VerifyTool, OperatorsOfQuantizationToolsComputeWhatOnnxRuntimeDoes) {
    for (const char* device : {"reference", "gpu"}) {
        const Ran ran =
            run(std::string("verify --device ") + device + " '" HEARTH_CONTRIB_DATA "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("27 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

// Models of scikit-learn, XGBoost and LightGBM, and single nodes: tests/data/ml/make_cases.py.
TEST_F(VerifyTool, ModelsOfMachineLearningLibrariesComputeWhatOnnxRuntimeDoes) {
    for (const char* device : {"reference", "gpu"}) {
        const Ran ran = run(std::string("verify --device ") + device + " '" HEARTH_ML_DATA "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("59 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

// Fractional scales and odd sizes, from tests/data/resize/make_cases.py.
TEST_F(VerifyTool, ResizeComputesWhatOnnxRuntimeDoes) {
    for (const char* device : {"reference", "gpu"}) {
        const Ran ran = run(std::string("verify --device ") + device + " '" HEARTH_RESIZE_DATA "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("7 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

// Extents and trip counts that depend on data, from tests/data/bounds/make_cases.py.
TEST_F(VerifyTool, ResultsOfDataDependentSizeAreThoseOfOnnxRuntime) {
    std::vector<std::string> devices = {"reference", "program", "gpu"};
    if (!kIsWindows) devices.emplace_back("cpu");
    for (const std::string& device : devices) {
        const Ran ran = run("verify --device " + device + " '" HEARTH_BOUNDS_DATA "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("19 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

TEST_F(VerifyTool, ContentsOfInputsAreConstantsOnlyIfAskedFor) {
    testing::OnnxBuilder b;
    b.input("x", {4}).input("shape", {2}, onnx::TensorProto::INT64).output("y");
    b.node("Reshape", {"x", "shape"}, {"y"});
    const fs::path folder = root_ / "reshape" / "test_data_set_0";
    write(root_ / "reshape" / "model.onnx", b.bytes());
    write(folder / "input_0.pb", testing::bytes_of(testing::float_tensor("x", {4}, {1, 2, 3, 4})));
    write(folder / "input_1.pb", testing::bytes_of(testing::int_tensor("shape", {2}, {2, 2})));
    write(folder / "output_0.pb",
          testing::bytes_of(testing::float_tensor("y", {2, 2}, {1, 2, 3, 4})));
    const Ran plain = verify("--device reference");
    EXPECT_TRUE(plain.says("it depends on 'shape': give the value by --constant-input"))
        << plain.text;
    EXPECT_TRUE(plain.says("0 passed, 0 failed, 1 skipped\n")) << plain.text;
    for (const char* name : {"shape", "all"}) {
        const Ran ran = verify(std::string("--device reference --constant-input ") + name);
        EXPECT_TRUE(ran.says("1 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

TEST_F(VerifyTool, AFailureNamesCaseDeviceIndexAndBothValues) {
    add_unary("good", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    add_unary("wrong", "Relu", {-1, 0, 2, 3}, {0, 0, 2.5f, 7});
    const Ran ran = verify("--device reference");
    EXPECT_EQ(ran.exit_code, 1) << ran.text;
    EXPECT_TRUE(ran.says(
        "/wrong [reference]: test_data_set_0: output_0 'y' differs first at [2]: 2, expected 2.5"))
        << ran.text;
    EXPECT_TRUE(ran.says("1 passed, 1 failed, 0 skipped\n")) << ran.text;
}

TEST_F(VerifyTool, WhatIsMissingIsNamedUnderSkipped) {
    add_unary("odd", "NoSuchOp", {1, 2, 3, 4}, {1, 2, 3, 4});
    add_unary("relu", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    const Ran ran = verify("--device reference");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says("skipped:\n")) << ran.text;
    EXPECT_TRUE(ran.says("/odd: ")) << ran.text;
    EXPECT_TRUE(ran.says("operator NoSuchOp (1 node: 'NoSuchOp_1')")) << ran.text;
    EXPECT_TRUE(ran.says("1 passed, 0 failed, 1 skipped\n")) << ran.text;
}

// Once exit code 0, as if all had passed.
TEST_F(VerifyTool, SkippingAllCasesHasAnExitCodeOfItsOwn) {
    add_unary("odd", "NoSuchOp", {1, 2, 3, 4}, {1, 2, 3, 4});
    for (const std::string format : {"", "--json "}) {
        const Ran ran = verify(format + "--device reference");
        EXPECT_EQ(ran.exit_code, 77) << ran.text;
        if (!format.empty()) continue;
        EXPECT_TRUE(
            ran.says("0 passed, 0 failed, 1 skipped\n"
                     "nothing was checked: all cases were skipped\n"))
            << ran.text;
    }
    add_unary("wrong", "Relu", {1, 2, 3, 4}, {1, 2, 3, 5});
    EXPECT_EQ(verify("--device reference").exit_code, 1);
}

TEST_F(VerifyTool, ToleranceIsTheOptionsThenTheCasesThenTheDefault) {
    add_unary("close", "Relu", {1, 2, 3, 4}, {1.05f, 2, 3, 4});
    EXPECT_EQ(verify("--device reference").exit_code, 1);
    set_tolerance("close", "0.1 0\n");
    EXPECT_EQ(verify("--device reference").exit_code, 0);
    EXPECT_EQ(verify("--device reference --rtol 1e-3").exit_code, 1);
    EXPECT_EQ(verify("--device reference --rtol 0 --atol 0.06").exit_code, 0);
    set_tolerance("close", "much");
    const Ran ran = verify("--device reference");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_TRUE(ran.says("tolerance.txt")) << ran.text;
}

TEST_F(VerifyTool, TwoUlpAreAlwaysAllowedAndThreeAreNot) {
    const float two = std::nextafter(std::nextafter(3.0f, 4.0f), 4.0f);
    add_unary("ulp", "Relu", {1, 2, two, 4}, {1, 2, 3, 4});
    EXPECT_EQ(verify("--device reference --rtol 0 --atol 0").exit_code, 0);
    add_unary("ulp", "Relu", {1, 2, std::nextafter(two, 4.0f), 4}, {1, 2, 3, 4});
    EXPECT_EQ(verify("--device reference --rtol 0 --atol 0").exit_code, 1);
    // Around zero an ulp is the smallest number there is.
    add_unary("ulp", "Relu", {1, 2, 1e-30f, 4}, {1, 2, 0, 4});
    EXPECT_EQ(verify("--device reference --rtol 0 --atol 0").exit_code, 1);
}

TEST_F(VerifyTool, NaNEqualsNaNAndInfinitiesEqualThemselvesAlone) {
    const float nan = std::nanf(""), inf = HUGE_VALF;
    add_unary("same", "Neg", {nan, inf, -inf, 1}, {nan, -inf, inf, -1});
    EXPECT_EQ(verify("--device reference").exit_code, 0);
    add_unary("other", "Neg", {inf, 0, 0, 0}, {inf, 0, 0, 0});
    EXPECT_TRUE(
        verify("--device reference")
            .says("/other [reference]: test_data_set_0: output_0 'y' differs first at [0]: -inf, "
                  "expected inf"));
    add_unary("other", "Neg", {1, 0, 0, 0}, {nan, 0, 0, 0});
    EXPECT_EQ(verify("--device reference").exit_code, 1);
    add_unary("other", "Neg", {nan, 0, 0, 0}, {1, 0, 0, 0});
    EXPECT_EQ(verify("--device reference").exit_code, 1);
    // However large the tolerance.
    add_unary("other", "Neg", {1, 0, 0, 0}, {-inf, 0, 0, 0});
    EXPECT_EQ(verify("--device reference --rtol 1 --atol 1e30").exit_code, 1);
}

TEST_F(VerifyTool, IntegersMustBeTheSame) {
    OnnxBuilder b;
    b.input("x", {1}, onnx::TensorProto::INT64).output("y");
    b.node("Neg", {"x"}, {"y"});
    add_case("int", b, int_tensor("x", {1}, {100000}), int_tensor("y", {1}, {-100001}));
    EXPECT_TRUE(
        verify("--device reference --rtol 1 --atol 5").says("[0]: -100000, expected -100001"));
}

TEST_F(VerifyTool, ShapesAndTypesMustBeTheSame) {
    OnnxBuilder b;
    b.input("x", {4}).output("y");
    b.node("Relu", {"x"}, {"y"});
    add_case("shape", b, float_tensor("x", {4}, {1, 2, 3, 4}),
             float_tensor("y", {4, 1}, {1, 2, 3, 4}));
    EXPECT_TRUE(verify("--device reference").says("is f32[4], expected f32[4, 1]"));
}

TEST_F(VerifyTool, BrokenCasesFailAndTheOthersStillRun) {
    add_unary("a_good", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    add_unary("b_truncated_model", "Relu", {1, 2, 3, 4}, {1, 2, 3, 4});
    fs::resize_file(root_ / "b_truncated_model" / "model.onnx", 20);
    add_unary("c_empty_model", "Relu", {1, 2, 3, 4}, {1, 2, 3, 4});
    fs::resize_file(root_ / "c_empty_model" / "model.onnx", 0);
    add_unary("d_truncated_input", "Relu", {1, 2, 3, 4}, {1, 2, 3, 4});
    fs::resize_file(root_ / "d_truncated_input" / "test_data_set_0" / "input_0.pb", 9);
    add_unary("e_no_input", "Relu", {1, 2, 3, 4}, {1, 2, 3, 4});
    fs::remove(root_ / "e_no_input" / "test_data_set_0" / "input_0.pb");
    add_unary("f_no_output", "Relu", {1, 2, 3, 4}, {1, 2, 3, 4});
    fs::remove(root_ / "f_no_output" / "test_data_set_0" / "output_0.pb");
    add_unary("g_no_data", "Relu", {1, 2, 3, 4}, {1, 2, 3, 4});
    fs::remove_all(root_ / "g_no_data" / "test_data_set_0");
    OnnxBuilder b;
    b.input("x", {4}).output("y");
    b.node("Relu", {"x"}, {"y"});
    add_case("h_other_shape", b, float_tensor("x", {3}, {1, 2, 3}),
             float_tensor("y", {3}, {1, 2, 3}));
    OnnxBuilder large;
    large.input("x", {4}).output("y").initializer(int_tensor("s", {2}, {1 << 19, 1 << 20}));
    large.node("ConstantOfShape", {"s"}, {"zeros"});
    large.node("ReduceSum", {"zeros"}, {"y"});
    add_case("i_needs_2_tib", large, float_tensor("x", {4}, {1, 2, 3, 4}),
             float_tensor("y", {1, 1}, {0}));
    add_unary("z_good", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});

    const Ran ran = verify("--device both");
    EXPECT_EQ(ran.exit_code, 1);
    for (const char* name :
         {"b_truncated_model", "c_empty_model", "d_truncated_input", "e_no_input", "f_no_output",
          "g_no_data", "h_other_shape", "i_needs_2_tib"})
        EXPECT_TRUE(ran.says(name)) << name << " in " << ran.text;
    EXPECT_TRUE(ran.says("2 passed, 8 failed, 0 skipped\n")) << ran.text;
}

TEST_F(VerifyTool, DevicesAndThePlannedProgramGiveTheSame) {
    const OnnxBuilder policy = testing::small_policy();
    write(root_ / "policy" / "model.onnx", policy.bytes());
    const fs::path set = root_ / "policy" / "test_data_set_0";
    std::vector<float> obs(3 * 6, 0.5f);
    write(set / "input_0.pb", bytes_of(float_tensor("obs", {3, 6}, obs)));
    write(set / "input_1.pb", bytes_of(float_tensor("state_ins", {3}, {7, 8, 9})));
    // The hidden layer: sums of each row's weights times 0.5, plus bias, through tanh.
    std::vector<float> action;
    const float bias[5] = {0.1f, -0.1f, 0.2f, 0, 0.3f};
    for (int row = 0; row < 3; ++row)
        for (int out = 0; out < 2; ++out) {
            double sum = 0;
            for (int h = 0; h < 5; ++h) {
                double before = static_cast<double>(bias[h]);
                for (int i = 0; i < 6; ++i) before += 0.5 * (0.1 * ((h * 6 + i) % 7) - 0.3);
                sum += std::tanh(before) * (0.2 * ((out * 5 + h) % 3) - 0.1);
            }
            action.push_back(static_cast<float>(sum));
        }
    write(set / "output_0.pb", bytes_of(float_tensor("action", {3, 2}, action)));
    write(set / "output_1.pb", bytes_of(float_tensor("state_outs", {3}, {7, 8, 9})));
    std::vector<std::string> devices = {"reference", "gpu", "both", "program"};
    if (!kIsWindows) devices.emplace_back("cpu");
    for (const std::string& device : devices)
        for (const char* batch : {"", "--symbolic-batch"}) {
            const Ran ran = verify("--rtol 1e-5 --atol 1e-6 --device " + device + " " + batch);
            EXPECT_EQ(ran.exit_code, 0) << device << batch << ": " << ran.text;
            EXPECT_TRUE(ran.says("1 passed, 0 failed, 0 skipped\n")) << ran.text;
        }
}

TEST_F(VerifyTool, NoDeviceIsAFailureNotASkip) {
#if defined(_WIN32)
    GTEST_SKIP() << "the loader there does not take its drivers from these variables";
#endif
    add_unary("relu", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    for (const char* device : {"gpu", "both"}) {
        const Ran ran = run(std::string("verify --device ") + device + " '" + root_.string() + "'",
                            "VK_ICD_FILENAMES=/nonexistent.json VK_DRIVER_FILES=/nonexistent.json");
        EXPECT_EQ(ran.exit_code, 1) << ran.text;
        EXPECT_TRUE(ran.says("/relu [gpu]: no device")) << ran.text;
        EXPECT_TRUE(ran.says("0 passed, 1 failed, 0 skipped\n")) << ran.text;
    }
}

TEST_F(VerifyTool, AFolderWithoutCasesIsAFailure) {
    const Ran ran = verify("--device reference");
    EXPECT_EQ(ran.exit_code, 1) << ran.text;
    EXPECT_TRUE(ran.says("no folder with a model.onnx")) << ran.text;
    EXPECT_NE(run("verify --device tpu /tmp").exit_code, 0);
    EXPECT_NE(run("verify").exit_code, 0);
    EXPECT_NE(run("").exit_code, 0);
}

/// y = sin(x) with the cotangent 2, as PyTorch's results are stored.
std::string sine_case(const std::string& name, double gradient) {
    return "{\"name\": \"" + name +
           "\", \"inputs\": [{\"shape\": [1], \"data\": [0]}],"
           " \"output\": {\"shape\": [1], \"data\": [0]}, \"grad_output\": [2],"
           " \"grad_inputs\": [[" +
           std::to_string(gradient) + "]]}";
}

TEST_F(VerifyTool, GradientsPassFailAndAreSkippedByName) {
    std::ofstream(root_ / "a_right.json") << sine_case("sin", 2);
    for (const char* device : {"reference", "gpu", "both", "program"}) {
        const Ran ran = verify(std::string("--gradients --device ") + device);
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_EQ(ran.text, "1 passed, 0 failed, 0 skipped\n");
    }
    std::ofstream(root_ / "b_wrong.json") << sine_case("sin", 2.001);
    std::ofstream(root_ / "c_unknown.json") << sine_case("sinus", 2);
    std::ofstream(root_ / "d_broken.json") << "{\"name\": \"sin\"}";
    std::ofstream(root_ / "e_other_shape.json") << sine_case("sum_axis", 2);
    const Ran ran = verify("--gradients --device reference");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_TRUE(
        ran.says("/b_wrong.json [reference]: the gradient of input 0 differs first at [0]: 2, "
                 "expected 2.00099993"))
        << ran.text;
    EXPECT_TRUE(ran.says("/c_unknown.json: the name 'sinus' is not known")) << ran.text;
    EXPECT_TRUE(ran.says("/d_broken.json: ")) << ran.text;
    EXPECT_TRUE(ran.says("/e_other_shape.json [reference]: ")) << ran.text;
    EXPECT_TRUE(ran.says("1 passed, 3 failed, 1 skipped\n")) << ran.text;
    EXPECT_EQ(verify("--gradients --device reference --rtol 0.01").exit_code, 1)
        << "two are broken";
}

// A crash once ended the table.  Isolate.ACrashAndAHangFailTheirCasesAlone has the crash itself.
TEST_F(VerifyTool, GradientsRunInAProcessOfTheirOwnWithATimeLimit) {
    std::ofstream(root_ / "a.json") << sine_case("sin", 2);
    std::ofstream(root_ / "b.json") << sine_case("sin", 2);
    const Ran ran = verify("--gradients --device gpu --timeout 1e-6");
    EXPECT_EQ(ran.exit_code, 1) << ran.text;
    EXPECT_TRUE(ran.says("/a.json: no answer after 1e-06 s\n")) << ran.text;
    EXPECT_TRUE(ran.says("0 passed, 2 failed, 0 skipped\n")) << ran.text;
}

TEST_F(VerifyTool, JsonHoldsEveryCaseAndNothingElse) {
    add_unary("good", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    add_unary("wrong", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 7});
    add_unary("odd", "NoSuchOp", {1, 2, 3, 4}, {1, 2, 3, 4});
    const Ran ran = verify("--device reference --json");
    EXPECT_EQ(ran.exit_code, 1);
    const auto json = nlohmann::json::parse(ran.text, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << ran.text;
    EXPECT_EQ(json["passed"], 1);
    EXPECT_EQ(json["failed"], 1);
    EXPECT_EQ(json["skipped"], 1);
    ASSERT_EQ(json["cases"].size(), 3u);
    EXPECT_EQ(json["cases"][0]["outcome"], "passed");
    EXPECT_EQ(json["cases"][2]["devices"][0]["device"], "reference");
    EXPECT_NE(std::string(json["cases"][2]["devices"][0]["text"]).find("differs first at [3]"),
              std::string::npos);
}

TEST_F(VerifyTool, CookedModelsGiveTheSameBits) {
    add_unary("relu", "Relu", {-1, 0, 2, 3}, {0, 0, 2, 3});
    add_unary("tanh", "Tanh", {-1, 0, 0.5f, 3},
              {std::tanh(-1.0f), 0, std::tanh(0.5f), std::tanh(3.0f)});
    for (const char* device : {"both", "program"}) {
        const Ran ran = verify(std::string("--cooked --device ") + device);
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("2 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

TEST_F(VerifyTool, InspectPrintsGraphProgramArenaAndBarriers) {
    write(root_ / "model.onnx", testing::small_policy().bytes());
    const Ran ran =
        run("inspect --max-batch-size 64 --source '" + (root_ / "model.onnx").string() + "'");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    for (const char* part : {"graph test", "param @w1 : f32[5, 6]", "batch 1..64", "barrier",
                             "arena map of test", "void main"})
        EXPECT_TRUE(ran.says(part)) << part << " in " << ran.text;
    EXPECT_EQ(run("inspect /nonexistent.onnx").exit_code, 1);
}

TEST_F(VerifyTool, InfoListsAUsableDevice) {
    const Ran ran = run("info");
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    for (const char* part : {"device 0: ", "adopted features: ", "device target: "})
        EXPECT_TRUE(ran.says(part)) << part << " in " << ran.text;
}

/// A folder of the reference cases; skips the test with a clear message when it is not there.
#define REFERENCE_CASES(variable, folder)                                        \
    const char* const cases_root = std::getenv("HEARTH_CASES");                  \
    if (cases_root == nullptr)                                                   \
        GTEST_SKIP() << "HEARTH_CASES is not set: no reference cases to verify"; \
    const fs::path variable = fs::path(cases_root) / folder;                     \
    if (!fs::is_directory(variable))                                             \
    GTEST_SKIP() << "HEARTH_CASES has no folder '" << folder << "': " << variable

TEST(ReferenceCases, AllPoliciesPassOnAllDevices) {
    REFERENCE_CASES(policies, "policies");
    std::vector<std::string> all = {"--device both", "--symbolic-batch --device both"};
    if (!kIsWindows) all.emplace_back("--device cpu");
    for (const std::string& arguments : all) {
        const Ran ran =
            run("verify --rtol 1e-4 --atol 1e-4 " + arguments + " '" + policies.string() + "'");
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says("13 passed, 0 failed, 0 skipped\n")) << ran.text;
    }
}

/// These places as arguments.
std::string quoted(const std::vector<fs::path>& paths) {
    std::string text;
    for (const fs::path& path : paths) text += " '" + path.string() + "'";
    return text;
}

TEST(ReferenceCases, CookedNetsAndPoliciesGiveTheSameBits) {
    const Ran ran =
        run("verify --cooked --device both" + quoted(reference_cases::places_of("policies")) +
            quoted(reference_cases::places_of("nets")));
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_FALSE(ran.says("0 passed")) << ran.text;
    EXPECT_TRUE(ran.says(" 0 failed, ")) << ran.text;
}

TEST(ReferenceCases, NoConformanceCaseFailsAndWhatIsSkippedIsNamed) {
    REFERENCE_CASES(nodes, "onnx_node");
    // A driver or a compiler translates each case's kernels: all in the nightly tests, by day a
    // share.
    // ONNX's generator divides by the unrounded length minus one; its specification, ONNX Runtime
    // and PyTorch by the rounded one.
    const std::set<std::string> wrong = {"test_resize_downsample_scales_cubic_align_corners",
                                         "test_resize_downsample_scales_linear_align_corners"};
    std::vector<fs::path> cases;
    for (const fs::directory_entry& one : fs::directory_iterator(nodes))
        if (one.is_directory() && !wrong.contains(one.path().filename().string()))
            cases.push_back(one.path());
    std::ranges::sort(cases);
    const size_t step = std::getenv("HEARTH_TEST_EVERY") != nullptr ? 1 : kIsWindows ? 16 : 4;
    std::vector<fs::path> share, native_share;
    for (size_t i = 0; i < cases.size(); i += step) share.push_back(cases[i]);
    for (size_t i = 0; i < cases.size(); i += step * step) native_share.push_back(cases[i]);
    const std::string on_cpu = quoted(kIsWindows ? share : cases);
    std::vector<std::string> runs = {"--device reference" + on_cpu, "--device program" + on_cpu,
                                     "--device gpu" + quoted(share)};
    if (!kIsWindows) runs.push_back("--device cpu" + quoted(native_share));
    for (const std::string& arguments : runs) {
        // Many of ONNX's cases take shapes, axes and counts as inputs.
        const Ran ran = run("verify --constant-input all " + arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        EXPECT_TRUE(ran.says(" 0 failed, ")) << ran.text;
        EXPECT_FALSE(ran.says("\n0 passed")) << ran.text;
    }
}

TEST(ReferenceCases, GradientsEqualPyTorchs) {
    // The repository's are checked on the CPU, too (TorchGradient): those of HEARTH_CASES are a
    // sample of the same expressions.
    const std::string folder = quoted({reference_cases::places_of("autograd").back()});
    const Ran ran = run("verify --gradients --device both" + folder);
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says(" 0 failed, ")) << ran.text;
    EXPECT_FALSE(ran.says("0 passed")) << ran.text;
}

TEST(ReferenceCases, NoExportedNetFails) {
    const Ran ran = run("verify --device both" + quoted(reference_cases::places_of("nets")));
    EXPECT_EQ(ran.exit_code, 0) << ran.text;
    EXPECT_TRUE(ran.says(" 0 failed, ")) << ran.text;
}

}  // namespace
}  // namespace hearth
