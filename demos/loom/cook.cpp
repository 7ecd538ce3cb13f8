// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The studio's build step: traces the network and its training, and cooks them into a package. The
// game's fragment shader gets the network from that package ("hearth cook --target glsl").

#include "net.hpp"
#include "size.hpp"

#include <hearth/file.hpp>

#include <cstdio>
#include <cstring>
#include <string>

namespace hearth::loom {
namespace {

/// Writes the package, and a C++ array of it to compile into the game: its size in bytes comes
/// first.
Status cook_loom(const std::string& package, const std::string& source) {
    const LoomTraces traces = trace_loom();
    DeviceTarget gpu{.name = "gpu", .options = loom_options(false)};
    DeviceTarget cpu{.name = "cpu", .options = loom_options(true)};
    HEARTH_ASSIGN(const Cooked cooked, cook(traces.entries(), {.device_targets = {gpu, cpu},
                                                               .max_batch_size = kBatchSize}));
    HEARTH_TRY(write_file_atomically(package, cooked.bytes));
    std::string words = std::to_string(cooked.bytes.size()) + ",\n";
    for (size_t i = 0; i < cooked.bytes.size(); i += sizeof(uint64_t)) {
        uint64_t word = 0;
        std::memcpy(&word, cooked.bytes.data() + i, std::min(sizeof word, cooked.bytes.size() - i));
        char text[24];
        std::snprintf(text, sizeof text, "0x%llx,\n", static_cast<unsigned long long>(word));
        words += text;
    }
    return write_file_atomically(source, words);
}

}  // namespace
}  // namespace hearth::loom

int main(int argc, char** argv) {
    const hearth::Status status = argc == 3
                                      ? hearth::loom::cook_loom(argv[1], argv[2])
                                      : hearth::invalid_argument("usage: cook_loom PACKAGE SOURCE");
    if (!status.ok()) std::fprintf(stderr, "cook_loom: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
