// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Programs for devices that players have: what is compiled for each of them keeps to its limits.
// docs/devices.md shows the table; HEARTH_DEVICES=write writes it.

#include "brain.hpp"
#include "compile/compile.hpp"
#include "digits.hpp"
#include "program/package.hpp"
#include "program/spirv.hpp"
#include "support/cases.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hearth::test {
namespace {

/// Read off public reports of drivers, 2024 and 2026.
struct Device {
    const char* name;
    uint32_t shared_kib, subgroup;
    MatrixShape matrix{0, 0, 0};  ///< none
    bool has_f16 = true;
    uint64_t buffer_mib = 1024;
    const char* was_run = "no";
};

constexpr Device kDevices[] = {
    {"GeForce 10", 48, 32, {0, 0, 0}, false},
    {"GeForce 20 to 50", 48, 32, {16, 16, 16}},
    {"Radeon RX 500, Windows", 32, 64, {0, 0, 0}, false},
    {"Radeon RX 7000 and 9000, Windows", 32, 64, {16, 16, 16}},
    {"Radeon RX 7000 and 9000, RADV", 64, 64, {16, 16, 16}},
    {"Steam Deck", 64, 64},
    {"Arc A", 48, 32, {8, 8, 16}},
    {"Arc B", 48, 32, {8, 16, 16}},
    {"Intel UHD, Iris Xe", 32, 32},
    {"Apple through MoltenVK", 32, 32},
    {"lavapipe", 32, 8, {0, 0, 0}, true, 128, "yes"},
    {"phones, Android baseline 2025", 16, 16, {0, 0, 0}, false, 128},
    {"H200", 48, 32, {16, 16, 16}, true, 4096, "yes"},
};

DeviceCaps caps_of(const Device& d) {
    DeviceCaps caps;
    caps.name = d.name;
    caps.subgroup_size = d.subgroup;
    caps.shared_memory_bytes = d.shared_kib << 10;
    caps.max_buffer_bytes = d.buffer_mib << 20;
    caps.max_workgroup_invocations = caps.max_workgroup_size_x = d.shared_kib > 16 ? 1024 : 256;
    caps.fp16_arithmetic = caps.fp16_storage = caps.int8_storage = d.has_f16;
    caps.matrix = d.matrix;
    if (d.matrix.m != 0) caps.matrix_cores = MatrixCores::kKhr;
    return caps;
}

/// What a program's kernels need at most.
struct Needs {
    uint64_t shared_bytes = 0;
    uint32_t invocations = 0;
    MatrixShape matrix{0, 0, 0};
};

void expect_to_fit(const Result<Compiled>& made, const DeviceCaps& caps, Needs& needs) {
    ASSERT_TRUE(made.ok()) << caps.name << ": " << made.status().message();
    const auto program = load_program(made->bytes);
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const Kernel& kernel : program->kernels) {
        std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
        SpirvFacts facts;
        ViewError error;
        ASSERT_TRUE(read_spirv(kernel.spirv, {}, ids, &facts, &error)) << error.text.c_str();
        const uint32_t invocations =
            facts.local_size[0] * facts.local_size[1] * facts.local_size[2];
        EXPECT_LE(facts.shared_bytes, caps.shared_memory_bytes) << caps.name << " " << kernel.name;
        EXPECT_LE(invocations, caps.max_workgroup_invocations) << caps.name << " " << kernel.name;
        EXPECT_LE(facts.push_bytes, caps.push_constant_bytes) << caps.name << " " << kernel.name;
        const bool needs_f16 = kernel.needs_fp16_arithmetic || kernel.needs_fp16_storage;
        EXPECT_TRUE(!needs_f16 || caps.fp16_arithmetic) << caps.name << " " << kernel.name;
        if (kernel.needs_matrix_cores != MatrixCores::kNone) {
            EXPECT_EQ(kernel.matrix, caps.matrix) << caps.name << " " << kernel.name;
            needs.matrix = kernel.matrix;
        }
        needs.shared_bytes = std::max(needs.shared_bytes, facts.shared_bytes);
        needs.invocations = std::max(needs.invocations, invocations);
    }
    EXPECT_LE(program->arena_bytes, caps.max_buffer_bytes) << caps.name;
}

Result<Compiled> compile_digits(const DeviceCaps& caps) {
    Trace read("read");
    read.output("scores", demo::digits_net(read, read.input("x", {kRows, 1, 8, 8}), false, 1));
    CompileOptions options{.caps = caps, .rows_capacity = 64};
    options.precision = caps.fp16_arithmetic ? Precision::kF16 : Precision::kF32;
    return compile({&read}, options);
}

Result<Compiled> compile_ghost(const DeviceCaps& caps) {
    const auto traces = ghost_lap::trace_brain(1);
    const auto manifest = ghost_lap::manifest();
    return compile(agents::driven_entries_of(traces, manifest),
                   {.caps = caps, .rows_capacity = manifest.agents});
}

Result<Compiled> compile_model(const ImportedModel& model, const DeviceCaps& caps) {
    Trace act("act");
    std::vector<Tensor> inputs;
    for (const ModelPort& port : model.inputs())
        inputs.push_back(act.input(port.name, port.shape, port.dtype));
    act.output("y", model.apply(act, inputs)[0]);
    CompileOptions options{.caps = caps, .rows_capacity = 1};
    options.precision = caps.fp16_arithmetic ? Precision::kF16 : Precision::kF32;
    return compile({&act}, options);
}

std::string text_of(const Needs& needs) {
    std::string text = std::to_string((needs.shared_bytes + 1023) / 1024) + " KiB, " +
                       std::to_string(needs.invocations);
    if (needs.matrix.m != 0)
        text += ", " + std::to_string(needs.matrix.m) + "x" + std::to_string(needs.matrix.n) + "x" +
                std::to_string(needs.matrix.k);
    return text;
}

constexpr const char* kHead =
    "# Devices\n\n"
    "What some networks are compiled to for devices that players have: of all kernels the most "
    "shared memory and the\n"
    "most invocations of a workgroup, and the shape of matrices where a kernel uses matrix cores. "
    "The devices' limits\n"
    "are read off public reports of drivers. Only those marked have run it; of the others it is "
    "known that what is\n"
    "compiled keeps to their limits (`hearth_test_replay`, `DeviceTable`), not that it is fast "
    "there, or runs.\n"
    "`HEARTH_DEVICES=write build/release/bin/hearth_test_replay` writes this page.\n\n"
    "| device | shared KiB | subgroup | matrices | f16 | run on it | Ghost Lap's learner | digits "
    "| U-Net |\n"
    "|---|---|---|---|---|---|---|---|---|\n";

TEST(DeviceTable, WhatIsCompiledKeepsToEachDevicesLimitsAndIsDocumented) {
    const auto path = std::filesystem::path(HEARTH_TORCH_DATA) / "nets/unet/model.onnx";
    const auto unet = import_onnx_file(path.string());
    ASSERT_TRUE(unet.ok()) << unet.status().message();
    std::string page = kHead;
    for (const Device& device : kDevices) {
        const DeviceCaps caps = caps_of(device);
        Needs policy, digits, image;
        expect_to_fit(compile_ghost(caps), caps, policy);
        expect_to_fit(compile_digits(caps), caps, digits);
        expect_to_fit(compile_model(*unet, caps), caps, image);
        const MatrixShape m = device.matrix;
        page += "| " + std::string(device.name) + " | " + std::to_string(device.shared_kib) +
                " | " + std::to_string(device.subgroup) + " | " +
                (m.m == 0 ? "no"
                          : std::to_string(m.m) + "x" + std::to_string(m.n) + "x" +
                                std::to_string(m.k)) +
                " | " + (device.has_f16 ? "yes" : "no") + " | " + device.was_run + " | " +
                text_of(policy) + " | " + text_of(digits) + " | " + text_of(image) + " |\n";
    }
    if (const char* setting = std::getenv("HEARTH_DEVICES"); setting != nullptr)
        std::ofstream(HEARTH_DEVICES_PAGE) << page;
    std::stringstream written;
    written << std::ifstream(HEARTH_DEVICES_PAGE).rdbuf();
    EXPECT_EQ(written.str(), page) << "docs/devices.md is not current";
}

/// A profile for 48 KiB is for cards with 16 or 32 too where its kernels share less.
TEST(DeviceTable, APackageAsksForTheSharedMemoryThatItsKernelsHave) {
    const auto traces = ghost_lap::trace_brain(1);
    const auto manifest = ghost_lap::manifest();
    CookProfile large{"large", {}};
    large.options.caps.shared_memory_bytes = 48 << 10;
    CookOptions options;
    options.profiles = {large};
    options.rows_capacity = manifest.agents;
    const auto cooked = cook(agents::driven_entries_of(traces, manifest), options);
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(cooked->bytes, &error)) << error.text.c_str();
    Needs needs;
    expect_to_fit(cooked->profiles[0].compiled, large.options.caps, needs);
    EXPECT_EQ(view.profiles()[0].shared_memory_bytes, needs.shared_bytes);
    EXPECT_GT(needs.shared_bytes, 0u);
    EXPECT_LE(needs.shared_bytes, 16u << 10);
}

/// SqueezeNet lies with the reference cases.
TEST(DeviceTable, SqueezeNetKeepsToEachDevicesLimits) {
    const auto folder = reference_cases::place_of("nets/squeezenet1_1");
    if (!folder) GTEST_SKIP() << "HEARTH_CASES names no folder with squeezenet1_1";
    const auto model = import_onnx_file((*folder / "model.onnx").string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (const Device& device : kDevices) {
        const DeviceCaps caps = caps_of(device);
        Needs needs;
        expect_to_fit(compile_model(*model, caps), caps, needs);
    }
}

}  // namespace
}  // namespace hearth::test
