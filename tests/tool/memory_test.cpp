// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The tool's peak memory per byte of a model.

#include "run_tool.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/file.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

namespace hearth::testing {
namespace {

namespace fs = std::filesystem;

/// Products with square matrices of so many megabytes in all.
std::string write_products(const fs::path& folder, int megabytes) {
    constexpr int64_t kEdge = 1024;  // 4 MiB of f32
    OnnxBuilder b;
    b.input("x", {1, kEdge});
    std::string x = "x";
    for (int i = 0; i < megabytes / 4; ++i) {
        std::vector<float> values(kEdge * kEdge);
        for (size_t k = 0; k < values.size(); ++k)
            values[k] = 1e-3f * static_cast<float>((k * 7 + static_cast<size_t>(i)) % 61) - 0.03f;
        const std::string w = "w" + std::to_string(i), y = "y" + std::to_string(i);
        b.initializer(float_tensor(w, {kEdge, kEdge}, values));
        b.node("MatMul", {x, w}, {y});
        x = y;
    }
    b.output(x);
    const fs::path path = folder / (std::to_string(megabytes) + ".onnx");
    EXPECT_TRUE(write_file_atomically(path.string(), b.bytes()).ok());
    return path.string();
}

/// Largest peak of the programs that this process has started so far, in bytes.
double peak_of_children() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// How much the command's peak grows with each byte of the model.
double peak_per_byte(const std::string& command, const std::string& options) {
    const fs::path folder =
        fs::path(::testing::TempDir()) / ("memory_" + command + std::to_string(getpid()));
    fs::create_directories(folder);
    double peaks[2] = {};
    constexpr int kMegabytes[2] = {32, 160};
    for (int i = 0; i < 2; ++i) {
        const Ran ran =
            run(command + " '" + write_products(folder, kMegabytes[i]) + "' " + options);
        EXPECT_EQ(ran.exit_code, 0) << ran.text;
        peaks[i] = peak_of_children();
    }
    fs::remove_all(folder);
    return (peaks[1] - peaks[0]) / (double{1 << 20} * (kMegabytes[1] - kMegabytes[0]));
}

// A process for each test, because peaks of children only grow.
TEST(MemoryOfCook, IsAtMostThreeAndAQuarterTimesTheModel) {
    const std::string out = (fs::path(::testing::TempDir()) / "memory.hearth").string();
    EXPECT_LE(peak_per_byte("cook", "--no-measure -o '" + out + "'"), 3.25);
    fs::remove(out);
}

TEST(MemoryOfRun, OnTheCpuIsAtMostThreeAndAQuarterTimesTheModel) {
    EXPECT_LE(peak_per_byte("run", "--device cpu"), 3.25);
}

}  // namespace
}  // namespace hearth::testing
