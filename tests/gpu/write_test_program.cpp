// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the test program, with device addresses, to the file named on the command line.

#include "gpu/rig.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    using namespace hearth;
    if (argc != 2) return 2;
    const BindingModel model = BindingModel::kDeviceAddress;
    const std::vector<std::byte> bytes =
        save_program(test::TestProgramBuilder(test::test_shaders(model), model).build());
    std::FILE* file = std::fopen(argv[1], "wb");
    if (file == nullptr) return 1;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written ? 0 : 1;
}
