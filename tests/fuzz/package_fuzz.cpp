// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Packages, and the programs and graphs in them.  Checksums would keep every change from what lies
// behind them, so each input is read twice: as it is, and with its checksums made right.

#include "compiler/driver/graph_file.hpp"
#include "mend.hpp"

using namespace hearth;

namespace {

/// Reads what a checked program refers to.
uint64_t walk(const ProgramView& program) {
    uint64_t sum = 0;
    for (const file::KernelRecord& kernel : program.kernels())
        for (uint32_t word : program.spirv_of(kernel)) sum += word;
    for (const file::EntryRecord& entry : program.entries()) {
        for (uint32_t binding : program.bindings_of(entry))
            sum += program.text_view(program.bindings()[binding].name).size();
        for (const file::CommandRecord& step : program.commands_of(entry)) {
            sum += program.operands_of(step).size();
            for (uint32_t word : program.words_of(step)) sum += word;
        }
    }
    return sum;
}

void open(std::span<const std::byte> bytes) {
    PackageView package;
    ViewError error;
    if (!package.open(bytes, &error)) {
        fuzz::require(!error.text.empty(), "refused without a message");
        return;
    }
    for (uint32_t i = 0; i < package.device_targets().size(); ++i) {
        const Result<OpenProgram> program = open_program(package, i);
        if (program.ok())
            (void)walk(program->view);
        else
            fuzz::check_refusal(program.status());
    }
    const auto graphs = load_graphs(package);
    if (!graphs.ok()) return fuzz::check_refusal(graphs.status());
    for (const Graph& graph : *graphs) {
        const Status verified = verify(graph);
        fuzz::require(verified.ok(), verified.message().c_str());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::open_twice(data, size, open, fuzz::mend_package);
    return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
    return fuzz::mutate(data, size, max_size, seed, fuzz::change_package, fuzz::mend_package);
}
