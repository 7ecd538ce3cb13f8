// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Packages, and the programs and graphs in them.  Checksums would keep every change from what lies
// behind them, so each input is read twice: as it is, and with its checksums made right.

#include "compile/graph_file.hpp"
#include "core/checksum.hpp"
#include "fuzz_target.hpp"
#include "program/package.hpp"

#include <cstring>

using namespace hearth;

namespace {

uint64_t checksum_of(std::span<const std::byte> bytes, size_t begin, size_t end) {
    return checksum(bytes.subspan(begin, end - begin));
}

void repair_program(std::span<std::byte> program) {
    if (program.size() < sizeof(file::FileHeader)) return;
    const uint64_t sum = checksum_of(program, file::kChecksumEnd, program.size());
    std::memcpy(program.data() + offsetof(file::FileHeader, checksum), &sum, sizeof sum);
}

void repair(std::span<std::byte> bytes) {
    file::PackageHeader header;
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    const size_t sections = sizeof header;
    const uint64_t count = std::min(header.section_count, file::kMaxPackageSections);
    for (uint64_t i = 0; i < count; ++i) {
        file::PackageSectionRecord record;
        const size_t at = sections + i * sizeof record;
        if (at + sizeof record > bytes.size()) return;
        std::memcpy(&record, bytes.data() + at, sizeof record);
        if (record.offset > bytes.size() || record.bytes > bytes.size() - record.offset) continue;
        const std::span<std::byte> section = bytes.subspan(record.offset, record.bytes);
        if (static_cast<file::PackageSectionKind>(record.kind) ==
            file::PackageSectionKind::kProgram)
            repair_program(section);
        record.checksum = checksum(section);
        std::memcpy(bytes.data() + at, &record, sizeof record);
    }
    const uint64_t end = sections + count * sizeof(file::PackageSectionRecord) +
                         uint64_t{header.profile_count} * sizeof(file::ProfileRecord);
    const size_t begin = offsetof(file::PackageHeader, checksum) + sizeof(uint64_t);
    if (end > bytes.size()) return;
    header.checksum = checksum_of(bytes, begin, end);
    std::memcpy(bytes.data(), &header, sizeof header);
}

/// Reads what a checked program refers to.
uint64_t walk(const ProgramView& program) {
    uint64_t sum = 0;
    for (const file::KernelRecord& kernel : program.kernels())
        for (uint32_t word : program.spirv_of(kernel)) sum += word;
    for (const file::EntryRecord& entry : program.entries()) {
        for (uint32_t binding : program.bindings_of(entry))
            sum += program.text_view(program.bindings()[binding].name).size();
        for (const file::StepRecord& step : program.steps_of(entry)) {
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
    for (uint32_t i = 0; i < package.profiles().size(); ++i) {
        ProgramView program;
        if (program.open(package.program(i), &error, package.weights()))
            (void)walk(program);
        else
            fuzz::require(!error.text.empty(), "refused without a message");
    }
    const auto graphs = load_graphs(package.graph(), package.weights());
    if (!graphs.ok()) return fuzz::check_refusal(graphs.status());
    for (const Graph& graph : *graphs) {
        const Status verified = verify(graph);
        fuzz::require(verified.ok(), verified.message().c_str());
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    fuzz::open_twice(data, size, open, repair);
    return 0;
}
