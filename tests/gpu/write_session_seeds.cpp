// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the seeds of the fuzz target `session`: fuzz_session_seeds FOLDER.  Run it after a file
// format changes.

#include "fuzz/session_input.hpp"
#include "gpu/rig.hpp"

#include <hearth/brain.hpp>

#include <filesystem>
#include <fstream>

namespace hearth::test {
namespace {

/// The test program, with a slot of halves beside its own.
Program program() {
    Program program =
        TestProgramBuilder(test_shaders(BindingModel::kDescriptor), BindingModel::kDescriptor)
            .build();
    Variable half = program.variables[1];
    half.name = "half";
    half.dtype = DType::kF16;
    half.shape = {Dim(4), Dim(4)};
    half.offset = 832;
    half.bytes = 32;
    program.variables.push_back(half);
    program.storage.bits16 = true;
    program.hash = content_hash(program);
    return program;
}

void write(const std::filesystem::path& path, uint32_t script, const Program& program,
           const std::vector<std::byte>& brain) {
    const std::vector<std::byte> bytes =
        fuzz::join_session_input(script, save_program(program), brain);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

}  // namespace
}  // namespace hearth::test

int main(int argc, char** argv) {
    using namespace hearth;
    if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    const Program program = test::program();
    const Brain shipped = *initial_brain(save_program(program));
    Brain learned = shipped;
    HostTensor state(DType::kF32, {test::kWidth});
    for (int64_t i = 0; i < state.element_count(); ++i) state.set(i, 0.5);
    learned.find("state")->value = state;
    test::write(folder / "full.session", 0, program, *save_brain(learned));
    test::write(folder / "delta.session", 0x155, program, *save_brain(learned, &shipped));
    learned.find("state")->value = state.cast(DType::kF16);
    test::write(folder / "halves.session", 0xaaaa, program, *save_brain(learned));
    test::write(folder / "none.session", 0xffffffff, program, {});
    return 0;
}
