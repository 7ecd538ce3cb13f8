// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// write_test_program FILE [descriptor]: the test program, with device addresses or push
// descriptors.

#include "gpu/rig.hpp"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    using namespace hearth;
    const bool has_descriptors = argc == 3 && std::string_view(argv[2]) == "descriptor";
    if (argc != 2 && !has_descriptors) return 2;
    const BindingModel model =
        has_descriptors ? BindingModel::kDescriptor : BindingModel::kDeviceAddress;
    const std::vector<std::byte> bytes =
        save_program(test::TestProgramBuilder(test::test_shaders(model), model).build());
    std::FILE* file = std::fopen(argv[1], "wb");
    if (file == nullptr) return 1;
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written ? 0 : 1;
}
