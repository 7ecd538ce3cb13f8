// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cooks the page's networks to C: digits.h and digits.c, and the same of doodles and ghost; for
// wasm128 also for WebGPU: digits.wgsl.json, ghost.wgsl.json. Usage: cook_web DIR wasm128|scalar

#include "brain.hpp"
#include "nets.hpp"

#include <hearth/c.hpp>
#include <hearth/file.hpp>
#include <hearth/wgsl.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

using namespace hearth;

namespace {

Status cook(const std::vector<Trace*>& entries, const CompileToCOptions& options,
            const std::filesystem::path& folder) {
    HEARTH_ASSIGN(const CProgram cooked, compile_to_c(entries, options));
    const std::string base = (folder / options.name).string();
    HEARTH_TRY(write_file_atomically(base + ".h", cooked.header));
    HEARTH_TRY(write_file_atomically(base + ".c", cooked.source));
    return {};
}

Status cook_for_webgpu(const std::vector<Trace*>& entries, const CompileToCOptions& options,
                       const std::filesystem::path& folder) {
    HEARTH_ASSIGN(const std::string plan, compile_to_wgsl(entries, options.max_batch_size));
    return write_file_atomically((folder / (options.name + ".wgsl.json")).string(), plan);
}

Status cook_all(const std::filesystem::path& folder, CpuIsa cpu) {
    const bool for_page = cpu == CpuIsa::kWasm128;
    CompileToCOptions options;
    options.cpu_isa = cpu;

    options.name = "digits";
    options.max_batch_size = web::kDigitsRows;
    const auto digits = web::trace_digits();
    HEARTH_TRY(cook({digits[0].get(), digits[1].get()}, options, folder));
    if (for_page) HEARTH_TRY(cook_for_webgpu({digits[0].get(), digits[1].get()}, options, folder));

    options.name = "doodles";
    options.max_batch_size = web::kDoodlesRows;
    const auto doodles = web::trace_doodles();
    HEARTH_TRY(cook({doodles[0].get(), doodles[1].get()}, options, folder));

    options.name = "ghost";
    options.max_batch_size = CompileToCOptions{}.max_batch_size;
    // Uses the game's traces, so that brains are interchangeable.
    const agents::AgentGraphs ghost = ghost_lap::trace_brain(1);
    const std::vector<Trace*> entries = agents::runtime_entries(ghost, ghost_lap::manifest());
    HEARTH_TRY(cook(entries, options, folder));
    return for_page ? cook_for_webgpu(entries, options, folder) : Status();
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view cpu = argc == 3 ? argv[2] : "";
    const Status status = cpu == "wasm128" ? cook_all(argv[1], CpuIsa::kWasm128)
                          : cpu == "scalar"
                              ? cook_all(argv[1], CpuIsa::kScalar)
                              : invalid_argument("usage: cook_web DIR wasm128|scalar");
    if (!status.ok()) std::fprintf(stderr, "cook_web: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
