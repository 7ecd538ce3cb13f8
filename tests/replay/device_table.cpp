// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Programs for devices that players have: what is compiled for each of them keeps to its limits,
// and which profile of a package the runtime takes there.  docs/reference/devices.md shows the
// tables; HEARTH_DEVICES=write writes it.

#include "brain.hpp"
#include "compiler/driver/compile.hpp"
#include "core/device_model.hpp"
#include "digits.hpp"
#include "program/package.hpp"
#include "program/spirv.hpp"
#include "support/cases.hpp"
#include "support/described_device.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>
#include <programs/device_targets.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hearth::test {
namespace {

/// Read off public reports of drivers, 2024 and 2026.  Units are those of one card of the kind,
/// where drivers tell them.
const DeviceDescription kDevices[] = {
    {.name = "GeForce 10",
     .shared_kib = 48,
     .min_subgroup_size = 32,
     .max_subgroup_size = 32,
     .has_f16 = false,
     .buffer_mib = 4096,
     .push_constant_bytes = 256,
     .compute_units = 10},
    {.name = "GeForce 20 to 50",
     .shared_kib = 48,
     .min_subgroup_size = 32,
     .max_subgroup_size = 32,
     .matrix = {16, 16, 16},
     .buffer_mib = 4096,
     .push_constant_bytes = 256,
     .compute_units = 46},
    {.name = "Radeon RX 500, Windows",
     .shared_kib = 32,
     .subgroup_size = 64,
     .min_subgroup_size = 64,
     .max_subgroup_size = 64,
     .has_f16 = false,
     .buffer_mib = 2048,
     .compute_units = 36},
    {.name = "Radeon RX 7000 and 9000, Windows",
     .shared_kib = 32,
     .subgroup_size = 64,
     .min_subgroup_size = 32,
     .max_subgroup_size = 64,
     .matrix = {16, 16, 16},
     .buffer_mib = 2048,
     .compute_units = 84},
    {.name = "Radeon RX 7000 and 9000, RADV",
     .shared_kib = 64,
     .subgroup_size = 64,
     .min_subgroup_size = 32,
     .max_subgroup_size = 64,
     .matrix = {16, 16, 16},
     .buffer_mib = 4096,
     .push_constant_bytes = 256,
     .compute_units = 84},
    {.name = "Steam Deck",
     .shared_kib = 64,
     .subgroup_size = 64,
     .min_subgroup_size = 32,
     .max_subgroup_size = 64,
     .buffer_mib = 4096,
     .push_constant_bytes = 256,
     .is_integrated = true,
     .compute_units = 8},
    {.name = "Arc A",
     .shared_kib = 48,
     .min_subgroup_size = 8,
     .max_subgroup_size = 32,
     .matrix = {8, 8, 16},
     .push_constant_bytes = 256},
    {.name = "Arc A, older drivers",
     .shared_kib = 32,
     .min_subgroup_size = 8,
     .max_subgroup_size = 32,
     .matrix = {8, 8, 16},
     .push_constant_bytes = 256},
    {.name = "Arc B",
     .shared_kib = 48,
     .min_subgroup_size = 16,
     .max_subgroup_size = 32,
     .matrix = {8, 16, 16},
     .push_constant_bytes = 256},
    {.name = "Intel UHD, Iris Xe",
     .shared_kib = 32,
     .min_subgroup_size = 8,
     .max_subgroup_size = 32,
     .push_constant_bytes = 256,
     .is_integrated = true},
    {.name = "Apple through MoltenVK",
     .shared_kib = 32,
     .min_subgroup_size = 32,
     .max_subgroup_size = 32,
     .is_integrated = true},
    {.name = "lavapipe",
     .shared_kib = 32,
     .subgroup_size = 8,
     .min_subgroup_size = 8,
     .max_subgroup_size = 8,
     .buffer_mib = 128,
     .push_constant_bytes = 256,
     .is_software = true},
    {.name = "phones of Vulkan 1.1",
     .subgroup_size = 16,
     .has_f16 = false,
     .buffer_mib = 128,
     .api_version = VK_API_VERSION_1_1,
     .is_integrated = true},
    {.name = "H200",
     .shared_kib = 48,
     .min_subgroup_size = 32,
     .max_subgroup_size = 32,
     .matrix = {16, 16, 16},
     .buffer_mib = 4096,
     .push_constant_bytes = 256,
     .compute_units = 132},
};

bool was_run_on(const DeviceDescription& device) {
    const std::string_view name = device.name;
    return name == "lavapipe" || name == "H200";
}

/// Profiles of a package for all of them, best first: as many as one may have.
constexpr const char* kProfiles[] = {"coopmat",  "coopmat-64", "coopmat-8x16x16", "coopmat-8x8x16",
                                     "fp16-32k", "large-32k",  "baseline",        "vulkan-1.1"};

/// What a program's kernels need at most.
struct Needs {
    uint64_t shared_bytes = 0;
    uint32_t invocations = 0;
    uint32_t subgroup_size = 0;  ///< 0: any
    MatrixShape matrix{0, 0, 0};
};

bool can_have_subgroups_of(uint32_t size, const DeviceDescription& d) {
    return size == 0 || size == d.subgroup_size ||
           (size >= d.min_subgroup_size && size <= d.max_subgroup_size);
}

void expect_to_fit(const Result<Program>& program, const DeviceDescription& device, Needs& needs) {
    const DeviceCaps caps = device.caps();
    ASSERT_TRUE(program.ok()) << program.status().message();
    for (const Kernel& kernel : program->kernels) {
        const std::string where = caps.name + " " + kernel.name;
        std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
        SpirvFacts facts;
        ViewError error;
        ASSERT_TRUE(read_spirv(kernel.spirv, {}, ids, &facts, &error)) << error.text.c_str();
        const uint32_t invocations =
            facts.local_size[0] * facts.local_size[1] * facts.local_size[2];
        EXPECT_LE(facts.version, caps.spirv_version) << where;
        EXPECT_LE(facts.shared_bytes, caps.max_compute_shared_memory_size) << where;
        EXPECT_LE(invocations, caps.max_compute_work_group_invocations) << where;
        EXPECT_LE(facts.push_bytes, caps.max_push_constants_size) << where;
        const bool needs_f16 = kernel.needs_fp16_arithmetic || kernel.needs_fp16_storage;
        EXPECT_TRUE(!needs_f16 || caps.shader_float16) << where;
        EXPECT_TRUE(can_have_subgroups_of(kernel.subgroup_size, device)) << where;
        if (kernel.needs_matrix_cores != CooperativeMatrixExt::kNone) {
            EXPECT_EQ(kernel.matrix, caps.cooperative_matrix_shape) << where;
            // Subgroups are full, and each has whole matrices.
            EXPECT_EQ(kernel.local_size[0] % kernel.subgroup_size, 0u) << where;
            needs.matrix = kernel.matrix;
        }
        needs.shared_bytes = std::max(needs.shared_bytes, facts.shared_bytes);
        needs.invocations = std::max(needs.invocations, invocations);
        needs.subgroup_size = std::max(needs.subgroup_size, kernel.subgroup_size);
    }
    EXPECT_LE(program->arena_bytes, caps.max_storage_buffer_range) << caps.name;
}

Precision precision_for(const DeviceCaps& caps) {
    return caps.shader_float16 ? Precision::kF16 : Precision::kF32;
}

/// A network: its entries, and how they are compiled.
struct Network {
    std::vector<Trace*> entries;
    uint64_t rows_capacity = 1;
    bool is_rounded = true;  ///< to f16 where there is f16
};

/// Compiled for each device as it is.
void expect_to_fit_each_device(const Network& network) {
    for (const DeviceDescription& device : kDevices) {
        CompileOptions options{.caps = device.caps(), .max_batch_size = network.rows_capacity};
        if (network.is_rounded) options.precision = precision_for(options.caps);
        const auto made = compile(network.entries, options);
        ASSERT_TRUE(made.ok()) << device.name << ": " << made.status().message();
        Needs needs;
        expect_to_fit(load_program(made->bytes), device, needs);
    }
}

Result<Cooked> cook_for_all(const Network& network) {
    CookOptions options;
    options.max_batch_size = network.rows_capacity;
    for (const char* name : kProfiles) {
        HEARTH_ASSIGN(DeviceTarget profile, programs::make_device_target(name, nullptr));
        if (network.is_rounded) profile.options.precision = precision_for(profile.options.caps);
        options.device_targets.push_back(std::move(profile));
    }
    return cook(network.entries, options);
}

std::string text_of(const MatrixShape& m) {
    return m.m == 0 ? "no"
                    : std::to_string(m.m) + "x" + std::to_string(m.n) + "x" + std::to_string(m.k);
}

/// What the runtime takes of the package on each device: "fp16-32k, 9 KiB, 256", and the matrices.
std::vector<std::string> cells_of(const Result<Cooked>& package) {
    std::vector<std::string> cells;
    EXPECT_TRUE(package.ok()) << package.status().message();
    PackageView view;
    ViewError error;
    if (!package.ok() || !view.open(package->bytes, &error)) {
        ADD_FAILURE() << error.text.c_str();
        return std::vector<std::string>(std::size(kDevices));
    }
    for (const DeviceDescription& device : kDevices) {
        const DescribedHost host(device);
        const auto context = host.make_context();
        EXPECT_TRUE(context.ok()) << device.name << ": " << context.status().message();
        if (!context.ok()) return std::vector<std::string>(std::size(kDevices));
        const auto program = LoadedProgram::load_package(*context, package->bytes, true);
        EXPECT_TRUE(program.ok()) << device.name << ": " << program.status().message();
        std::string& cell = cells.emplace_back();
        if (!program.ok()) continue;
        cell = program->info().device_target;
        const auto chosen = std::ranges::find(package->device_targets, cell, &CookedTarget::name);
        const auto index = static_cast<uint32_t>(chosen - package->device_targets.begin());
        Needs needs;
        expect_to_fit(load_program(view, index), device, needs);
        cell += ", " + std::to_string((needs.shared_bytes + 1023) / 1024) + " KiB";
        if (needs.matrix.m != 0)
            cell += ", " + text_of(needs.matrix) + " by subgroups of " +
                    std::to_string(needs.subgroup_size);
    }
    return cells;
}

/// The page's parts between lines that begin with "## ": each test writes and compares its own.
std::vector<std::string> sections_of_page() {
    std::ifstream file(HEARTH_DEVICES_PAGE);
    std::vector<std::string> sections(1);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) sections.emplace_back();
        sections.back() += line + "\n";
    }
    return sections;
}

void expect_section(const std::string& title, const std::string& text) {
    const std::string section = "## " + title + "\n\n" + text;
    std::vector<std::string> sections = sections_of_page();
    const auto found = std::ranges::find_if(
        sections, [&](const std::string& s) { return s.starts_with("## " + title + "\n"); });
    ASSERT_NE(found, sections.end())
        << "docs/reference/devices.md has no section '" << title << "'";
    const bool is_last = found + 1 == sections.end();
    const std::string expected = section + (is_last ? "" : "\n");
    if (std::getenv("HEARTH_DEVICES") != nullptr) {
        *found = expected;
        std::ofstream file(HEARTH_DEVICES_PAGE);
        for (const std::string& s : sections) file << s;
    }
    EXPECT_EQ(*found, expected) << "docs/reference/devices.md is not current";
}

void trace_digits(Trace& read) {
    read.output("scores", demo::digits_net(read, read.input("x", {kBatch, 1, 8, 8}), false, 1));
}

TEST(DeviceTable, LimitsOfTheDevicesAreDocumented) {
    std::string text =
        "| device | Vulkan | units | tiles as for | shared KiB | subgroup (on request) | matrices "
        "| "
        "f16 | "
        "run on it |\n"
        "|---|---|---|---|---|---|---|---|---|\n";
    for (const DeviceDescription& d : kDevices) {
        text += "| " + std::string(d.name) + " | 1." +
                std::to_string(VK_API_VERSION_MINOR(d.api_version)) + " | " +
                (d.compute_units != 0 ? std::to_string(d.compute_units) : "?") + " | " +
                device_model(d.caps()).name + " | " + std::to_string(d.shared_kib) + " | " +
                std::to_string(d.subgroup_size);
        if (d.min_subgroup_size != d.max_subgroup_size)
            text += " (" + std::to_string(d.min_subgroup_size) + " to " +
                    std::to_string(d.max_subgroup_size) + ")";
        text += " | " + text_of(d.matrix) + " | " + (d.has_f16 ? "yes" : "no") + " | " +
                (was_run_on(d) ? "yes" : "no") + " |\n";
    }
    expect_section("The devices", text);
}

TEST(DeviceTable, WhatAPolicyAndDigitsBecomeKeepsToEachDevicesLimitsAndIsDocumented) {
    const auto traces = ghost_lap::trace_brain(1);
    const auto manifest = ghost_lap::manifest();
    const Network policy{agents::runtime_entries(traces, manifest), manifest.n_agents, false};
    Trace read("read");
    trace_digits(read);
    const Network digits{{&read}, 64};
    expect_to_fit_each_device(policy);
    expect_to_fit_each_device(digits);
    const auto learner = cells_of(cook_for_all(policy)), scores = cells_of(cook_for_all(digits));
    std::string text = "| device | Ghost Lap's learner | digits |\n|---|---|---|\n";
    for (size_t i = 0; i < std::size(kDevices); ++i)
        text +=
            "| " + std::string(kDevices[i].name) + " | " + learner[i] + " | " + scores[i] + " |\n";
    expect_section("A policy that learns, and a small convolutional network", text);
}

/// SqueezeNet lies with the reference cases.
TEST(DeviceTable, WhatSqueezeNetBecomesKeepsToEachDevicesLimitsAndIsDocumented) {
    const auto folder = reference_cases::place_of("nets/squeezenet1_1");
    if (!folder) GTEST_SKIP() << "HEARTH_CASES names no folder with squeezenet1_1";
    const auto model = import_onnx_file((*folder / "model.onnx").string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    Trace act("act");
    std::vector<Tensor> inputs;
    for (const TensorSpec& port : model->inputs())
        inputs.push_back(act.input(port.name, port.shape, port.dtype));
    act.output("y", model->call(act, inputs)[0]);
    const Network network{{&act}};
    expect_to_fit_each_device(network);
    const auto cells = cells_of(cook_for_all(network));
    std::string text = "| device | SqueezeNet 1.1 |\n|---|---|\n";
    for (size_t i = 0; i < std::size(kDevices); ++i)
        text += "| " + std::string(kDevices[i].name) + " | " + cells[i] + " |\n";
    expect_section("SqueezeNet", text);
}

/// A profile for 48 KiB is for cards with 16 or 32 too where its kernels share less.
TEST(DeviceTable, APackageAsksForTheSharedMemoryAndSubgroupsThatItsKernelsHave) {
    Trace read("read");
    trace_digits(read);
    const auto cooked = cook_for_all({{&read}, 64});
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    PackageView view;
    ViewError error;
    ASSERT_TRUE(view.open(cooked->bytes, &error)) << error.text.c_str();
    for (size_t i = 0; i < std::size(kProfiles); ++i) {
        const auto program = load_program(view, static_cast<uint32_t>(i));
        ASSERT_TRUE(program.ok()) << program.status().message();
        uint64_t shared = 0;
        uint32_t subgroup = 0;
        for (const Kernel& kernel : program->kernels) {
            std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
            SpirvFacts facts;
            ASSERT_TRUE(read_spirv(kernel.spirv, {}, ids, &facts, &error)) << error.text.c_str();
            shared = std::max(shared, facts.shared_bytes);
            subgroup = std::max(subgroup, kernel.subgroup_size);
        }
        const file::DeviceTargetRecord& record = view.device_targets()[i];
        EXPECT_EQ(record.shared_memory_bytes, shared) << kProfiles[i];
        EXPECT_EQ(record.subgroup_size, subgroup) << kProfiles[i];
        EXPECT_LE(shared, 32u << 10) << kProfiles[i];
        const std::string_view name = kProfiles[i];
        EXPECT_EQ(subgroup, name == "coopmat"              ? 32u
                            : name == "coopmat-64"         ? 64u
                            : name.starts_with("coopmat-") ? 16u
                                                           : 0u)
            << name;
    }
}

}  // namespace
}  // namespace hearth::test
