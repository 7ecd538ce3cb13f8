// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cooks the page's networks to C: digits.h and digits.c, ghost.h and ghost.c; for wasm128 also for
// WebGPU: digits.wgsl.json, ghost.wgsl.json. Usage: cook_web DIR wasm128|scalar

#include "brain.hpp"
#include "digits_net.hpp"

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
    if (options.cpu_isa != CpuIsa::kWasm128) return {};
    HEARTH_ASSIGN(const std::string plan, compile_to_wgsl(entries, options.max_batch_size));
    return write_file_atomically(base + ".wgsl.json", plan);
}

Status cook_all(const std::filesystem::path& folder, CpuIsa cpu) {
    CompileToCOptions digits;
    digits.cpu_isa = cpu;
    digits.name = "digits";
    digits.max_batch_size = web::kDigitsRows;
    std::vector<Trace*> entries;
    const auto digits_traces = web::trace_digits();
    for (const auto& trace : digits_traces) entries.push_back(trace.get());
    HEARTH_TRY(cook(entries, digits, folder));

    CompileToCOptions ghost;
    ghost.cpu_isa = cpu;
    ghost.name = "ghost";
    // Uses the game's traces, so that brains are interchangeable.
    const agents::AgentGraphs traces = ghost_lap::trace_brain(1);
    return cook(agents::runtime_entries(traces, ghost_lap::manifest()), ghost, folder);
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
