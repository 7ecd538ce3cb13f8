// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cooks graphs to a package: compiles them for each profile, and stores them for recooking.

#include "compiler/driver/compile.hpp"
#include "compiler/driver/graph_file.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/passes/quantize_weights.hpp"
#include "core/out_of_memory.hpp"
#include "program/package.hpp"
#include "program/spirv.hpp"

#include <hearth/agents/manifest.hpp>

#include <algorithm>

namespace hearth {

namespace {

/// Maximum shared memory of a workgroup of any kernel, from its SPIR-V.
Result<uint64_t> shared_bytes_of(const Program& program) {
    uint64_t most = 0;
    for (const Kernel& kernel : program.kernels) {
        std::vector<file::SpecConstantRecord> constants;
        for (const SpecConstant& c : kernel.spec_constants) constants.push_back({c.id, c.value});
        std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
        SpirvFacts facts;
        ViewError error;
        if (!read_spirv(kernel.spirv, constants, ids, &facts, &error))
            return Status(error.code, "kernel " + kernel.name + ": " + error.text.c_str());
        most = std::max(most, facts.shared_bytes);
    }
    return most;
}

/// Packs a program with the device requirements of its kernels, which may be below the profile's
/// caps.
Result<PackedDeviceTarget> pack(const DeviceTarget& profile, Program program) {
    PackedDeviceTarget packed;
    packed.name = profile.name;
    const auto any_kernel = [&](bool Kernel::*needs) {
        return std::ranges::any_of(program.kernels, needs);
    };
    if (profile.options.caps.cpu_isa == CpuIsa::kNone) {
        HEARTH_ASSIGN(const uint64_t shared_bytes, shared_bytes_of(program));
        packed.shared_memory_bytes = static_cast<uint32_t>(shared_bytes);
        // Drivers reserve shared memory for workgroup-scope matrices.
        if (any_kernel(&Kernel::needs_workgroup_matrices))
            packed.shared_memory_bytes +=
                profile.options.caps.workgroup_scope_reserved_shared_memory;
    }
    for (const Kernel& kernel : program.kernels)
        packed.subgroup_size = std::max(packed.subgroup_size, kernel.subgroup_size);
    packed.program = std::move(program);
    return packed;
}

CookedTarget describe_profile(const std::string& name, const Program& program) {
    CookedTarget cooked;
    cooked.name = name;
    cooked.compiled = describe(program);
    for (const Kernel& kernel : program.kernels) cooked.spirv_bytes += 4 * kernel.spirv.size();
    for (const Command& step : program.commands) cooked.operator_count += step.computes.size();
    return cooked;
}

/// Sets caps.name to the target's name.  Tuning is keyed by the name of the device, so its key is
/// replaced, too; tuning for anything else is dropped, and the reason is returned.
std::string take_name(CompileOptions& options, const std::string& name) {
    std::string problem;
    if (!options.tuning.empty()) {
        Result<Tuning> tuning = parse_tuning(options.tuning);
        problem = tuning.ok() ? tuning->mismatch(options) : tuning.status().message();
        if (problem.empty()) tuning->device = name;
        options.tuning = problem.empty() ? print_tuning(*tuning) : "";
    }
    options.caps.name = name;
    return problem.empty() ? "" : "tuning is ignored: " + problem;
}

/// An open package; copied if its bytes are not aligned.
struct OpenPackage {
    std::vector<uint64_t> copy;
    PackageView view;
};

Result<OpenPackage> open_package(std::span<const std::byte> bytes) {
    OpenPackage package;
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) != 0) {
        package.copy.resize((bytes.size() + 7) / 8);
        std::memcpy(package.copy.data(), bytes.data(), bytes.size());
        bytes = std::as_bytes(std::span(package.copy)).first(bytes.size());
    }
    ViewError error;
    if (!package.view.open(bytes, &error)) return Status(error.code, error.text.c_str());
    return package;
}

/// Checks that the agents of a manifest (AgentManifest::save()) fit into a batch.
Status check_agents(std::span<const std::byte> manifest, uint64_t max_batch_size) {
    if (manifest.empty()) return {};
    HEARTH_ASSIGN(const agents::AgentManifest agents, agents::AgentManifest::load(manifest));
    if (agents.n_agents <= max_batch_size) return {};
    return invalid_argument("max_batch_size is " + std::to_string(max_batch_size) +
                            ", expected at least the " + std::to_string(agents.n_agents) +
                            " agents of the package");
}

}  // namespace

Result<Cooked> cook_graphs(std::vector<Graph> graphs, const CookOptions& options) {
    const uint64_t max_batch_size = std::max<uint64_t>(options.max_batch_size, 1);
    HEARTH_TRY(check_agents(options.agents, max_batch_size));
    std::vector<DeviceTarget> profiles = options.device_targets;
    if (profiles.empty()) profiles.emplace_back();
    const auto report = [&](std::string_view profile, size_t done) {
        if (options.progress) options.progress(profile, done, profiles.size());
    };
    Cooked cooked;
    HEARTH_ASSIGN(cooked.quantized, quantize_weights(graphs, options.quantize));
    PackageContents contents;
    // Before the programs: the pool then refers to the graphs, and equal data of programs is freed.
    contents.graph = save_graphs(
        graphs, [&](std::span<const std::byte> data) { return contents.pool.add(data); });
    for (size_t i = 0; i < profiles.size(); ++i) {
        DeviceTarget& profile = profiles[i];
        report(profile.name, i);
        const std::string remark = take_name(profile.options, profile.name);
        profile.options.max_batch_size = max_batch_size;
        Result<CompiledProgram> compiled = compile_graphs(graphs, profile.options);
        if (!compiled.ok())
            return compiled.status().with_context("device target '" + profile.name + "'");
        cooked.device_targets.push_back(describe_profile(profile.name, compiled->program));
        Compiled& described = cooked.device_targets.back().compiled;
        described.quantized = std::move(compiled->quantized);
        described.remarks = std::move(compiled->remarks);
        if (!remark.empty()) described.remarks.push_back(remark);
        HEARTH_ASSIGN(PackedDeviceTarget packed, pack(profile, std::move(compiled->program)));
        move_data(packed.program, contents.pool);
        contents.device_targets.push_back(std::move(packed));
    }
    report("", profiles.size());
    contents.graph_hash = hash_of_graphs(graphs);
    contents.notes = options.notes;
    contents.agents = options.agents;
    cooked.graph_hash = contents.graph_hash;
    HEARTH_ASSIGN(cooked.bytes, save_package(std::move(contents)));
    HEARTH_ASSIGN(const OpenPackage package, open_package(cooked.bytes));
    cooked.weights_bytes = package.view.weights().size();
    cooked.graph_bytes = package.view.section(package.view.graph_section()).size();
    for (uint32_t i = 0; i < profiles.size(); ++i)
        cooked.device_targets[i].program_bytes =
            package.view.section(package.view.program_section(i)).size();
    return cooked;
}

Result<Cooked> cook(std::span<Trace* const> entries, const CookOptions& options) {
    return or_out_of_memory([&]() -> Result<Cooked> {
        HEARTH_ASSIGN(std::vector<Graph> graphs, finish_all(entries));
        return cook_graphs(std::move(graphs), options);
    });
}

Result<uint64_t> max_batch_size_of(const PackageView& package) {
    if (const Result<OpenProgram> program = open_program(package, 0); program.ok())
        return program->view.header().max_batch_size;
    // Programs of older formats cannot be read; a manifest of agents can.
    if (!package.agents().empty()) {
        HEARTH_ASSIGN(const agents::AgentManifest agents,
                      agents::AgentManifest::load(package.agents()));
        return agents.n_agents;
    }
    return invalid_argument(
        "max_batch_size must be given: the package's programs, which have one, cannot be read");
}

Result<Cooked> recook(std::span<const std::byte> package, const CookOptions& options) {
    return or_out_of_memory([&]() -> Result<Cooked> {
        HEARTH_ASSIGN(const OpenPackage open, open_package(package));
        ViewError error;
        if (!open.view.check_programs(&error)) return Status(error.code, error.text.c_str());
        HEARTH_ASSIGN(std::vector<Graph> graphs, load_graphs(open.view));
        CookOptions kept = options;
        if (kept.agents.empty())
            kept.agents.assign(open.view.agents().begin(), open.view.agents().end());
        if (kept.max_batch_size == 0) {
            HEARTH_ASSIGN(kept.max_batch_size, max_batch_size_of(open.view));
        }
        return cook_graphs(std::move(graphs), kept);
    });
}

}  // namespace hearth
