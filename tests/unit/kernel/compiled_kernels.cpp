// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "unit/kernel/compiled_kernels.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hearth::test {

namespace {

/// What is in memory as a kernel finds it, from and to the test's tensors.
template <class Held>
void copy_elements(HostTensor& tensor, std::vector<std::byte>& memory, bool to_memory) {
    memory.resize(static_cast<size_t>(tensor.element_count()) * sizeof(Held));
    Held* const elements = reinterpret_cast<Held*>(memory.data());
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        if (to_memory && is_floating(tensor.dtype()))
            elements[i] = static_cast<Held>(tensor.get(i));
        else if (to_memory)
            elements[i] = static_cast<Held>(tensor.get_int(i));
        else if (is_floating(tensor.dtype()))
            tensor.set(i, static_cast<double>(elements[i]));
        else
            tensor.set_int(i, static_cast<int64_t>(elements[i]));
    }
}

void copy_elements(HostTensor& tensor, DType held, std::vector<std::byte>& memory, bool to_memory) {
    switch (held) {
        case DType::kF32:
            return copy_elements<float>(tensor, memory, to_memory);
        case DType::kF16:
        case DType::kBF16: {
            HostTensor bits(DType::kU16, tensor.shape());
            const bool is_f16 = held == DType::kF16;
            if (to_memory)
                for (int64_t i = 0; i < tensor.element_count(); ++i)
                    bits.set_int(i, is_f16 ? float_to_half(tensor.get(i))
                                           : float_to_bfloat16(tensor.get(i)));
            copy_elements<uint16_t>(bits, memory, to_memory);
            if (!to_memory)
                for (int64_t i = 0; i < tensor.element_count(); ++i) {
                    const auto element = static_cast<uint16_t>(bits.get_int(i));
                    tensor.set(i, is_f16 ? half_to_float(element) : bfloat16_to_float(element));
                }
            return;
        }
        case DType::kI8:
            return copy_elements<int8_t>(tensor, memory, to_memory);
        case DType::kU8:
        case DType::kBool:
            return copy_elements<uint8_t>(tensor, memory, to_memory);
        case DType::kI16:
            return copy_elements<int16_t>(tensor, memory, to_memory);
        case DType::kU16:
            return copy_elements<uint16_t>(tensor, memory, to_memory);
        case DType::kU32:
            return copy_elements<uint32_t>(tensor, memory, to_memory);
        case DType::kI64:
            return copy_elements<int64_t>(tensor, memory, to_memory);
        case DType::kU64:
            return copy_elements<uint64_t>(tensor, memory, to_memory);
        default:
            return copy_elements<int32_t>(tensor, memory, to_memory);
    }
}

}  // namespace

KernelLibrary::KernelLibrary(const std::string& name, const std::string& source,
                             const std::string& text, const std::string& command) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
    std::filesystem::create_directories(folder);
    const auto path = folder / source, library = folder / "kernels.so";
    std::ofstream(path) << text;
    if (std::system(
            (command + " -shared -fPIC -o " + library.string() + " " + path.string()).c_str()) == 0)
        library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::filesystem::remove_all(folder);
}

KernelLibrary::~KernelLibrary() {
    if (library_ != nullptr) dlclose(library_);
}

RunWorkgroups* KernelLibrary::find(const std::string& name) const {
    return reinterpret_cast<RunWorkgroups*>(dlsym(library_, name.c_str()));
}

std::vector<std::vector<std::byte>> expect_as_interpreted(OpKernel kernel,
                                                          const std::function<RunWorkgroups>& run,
                                                          double tolerance) {
    std::vector<std::vector<std::byte>> memory(kernel.operands.size());
    std::vector<void*> operands;
    std::vector<DType> held;
    for (const BodyBuffer& b : kernel.body->buffers)
        if (b.kind == BufferKind::kOperand) held.push_back(b.held);
    for (size_t i = 0; i < memory.size(); ++i) {
        copy_elements(kernel.operands[i].tensor, held[i], memory[i], true);
        memory[i].resize(memory[i].size() + 1);  // of nothing there is an address as well
        operands.push_back(memory[i].data());
    }
    const auto rows = static_cast<int32_t>(kernel.launch.rows);
    const auto workgroups = static_cast<int32_t>(kernel.launch.workgroups);
    // The last ones first, and one at a time.
    const int32_t half = workgroups / 2;
    run(operands.data(), rows, half, workgroups, workgroups);
    for (int32_t i = 0; i < half; ++i) run(operands.data(), rows, i, i + 1, workgroups);
    std::vector<std::vector<std::byte>> written;
    for (const auto& [index, expected] : kernel.expected) {
        memory[index].pop_back();
        written.push_back(memory[index]);
        copy_elements(kernel.operands[index].tensor, held[index], memory[index], false);
        EXPECT_EQ(difference(kernel.operands[index].tensor, expected, tolerance), "")
            << kernel.launch.label << ": operand " << index;
    }
    return written;
}

}  // namespace hearth::test
