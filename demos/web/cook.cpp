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

Status cook(const std::vector<Trace*>& entries, const CookCOptions& options,
            const std::filesystem::path& folder) {
    HEARTH_ASSIGN(const CookedC cooked, cook_c(entries, options));
    const std::string base = (folder / options.name).string();
    HEARTH_TRY(write_file_atomically(base + ".h", cooked.header));
    HEARTH_TRY(write_file_atomically(base + ".c", cooked.source));
    if (options.cpu != Cpu::kWasm128) return {};
    HEARTH_ASSIGN(const std::string plan, cook_wgsl(entries, options.rows_capacity));
    return write_file_atomically(base + ".wgsl.json", plan);
}

Status cook_all(const std::filesystem::path& folder, Cpu cpu) {
    CookCOptions digits;
    digits.cpu = cpu;
    digits.name = "digits";
    digits.rows_capacity = web::kDigitsRows;
    std::vector<Trace*> entries;
    const auto digits_traces = web::trace_digits();
    for (const auto& trace : digits_traces) entries.push_back(trace.get());
    HEARTH_TRY(cook(entries, digits, folder));

    CookCOptions ghost;
    ghost.cpu = cpu;
    ghost.name = "ghost";
    // Uses the game's traces, so that brains are interchangeable.
    const agents::Traces traces = ghost_lap::trace_brain(1);
    return cook(agents::driven_entries_of(traces, ghost_lap::manifest()), ghost, folder);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view cpu = argc == 3 ? argv[2] : "";
    const Status status = cpu == "wasm128" ? cook_all(argv[1], Cpu::kWasm128)
                          : cpu == "scalar"
                              ? cook_all(argv[1], Cpu::kScalar)
                              : invalid_argument("usage: cook_web DIR wasm128|scalar");
    if (!status.ok()) std::fprintf(stderr, "cook_web: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
