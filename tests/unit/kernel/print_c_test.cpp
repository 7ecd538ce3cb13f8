// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators' samples as C: built by the system's compiler, they give what the
// interpreter gives, in whatever order their workgroups run.

#include "compiler/kernel/writer.hpp"
#include "compiler/print/c.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/op/op_def.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hearth::test {
namespace {

using RunWorkgroups = void(void* const* operands, int32_t rows, int32_t first, int32_t end,
                           int32_t workgroups);

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
        default:
            return copy_elements<int32_t>(tensor, memory, to_memory);
    }
}

/// A shared library of C.
class Library {
  public:
    Library(const std::filesystem::path& folder, const std::string& text,
            const std::string& optimization) {
        const auto source = folder / "kernels.c", library = folder / "kernels.so";
        std::ofstream(source) << text;
        const char* const compiler = std::getenv("CC");
        const std::string command =
            std::string(compiler != nullptr ? compiler : "cc") +
            " -std=c11 -Wall -Werror -Wno-unused -Wno-tautological-compare " + optimization +
            " -fwrapv -ffp-contract=off -shared -fPIC -o " + library.string() + " " +
            source.string() + " -lm";
        if (std::system(command.c_str()) != 0) return;
        library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    ~Library() {
        if (library_ != nullptr) dlclose(library_);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    bool is_open() const { return library_ != nullptr; }
    RunWorkgroups* find(const std::string& name) const {
        return reinterpret_cast<RunWorkgroups*>(dlsym(library_, name.c_str()));
    }

  private:
    void* library_ = nullptr;
};

void expect_as_interpreted(OpKernel kernel, RunWorkgroups* run, double tolerance) {
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
    for (const auto& [index, expected] : kernel.expected) {
        memory[index].pop_back();
        copy_elements(kernel.operands[index].tensor, held[index], memory[index], false);
        EXPECT_EQ(difference(kernel.operands[index].tensor, expected, tolerance), "")
            << kernel.launch.label << ": operand " << index;
    }
}

class KernelsInC : public testing::TestWithParam<const OpDef*> {};

TEST_P(KernelsInC, GiveWhatTheInterpreterGives) {
    const OpDef& op = *GetParam();
    const bool is_nightly = std::getenv("HEARTH_TEST_EVERY") != nullptr;
    std::vector<std::pair<OpKernel, double>> kernels;
    const auto take = [&](const Result<std::vector<Variant>>& variants, double tolerance) {
        ASSERT_TRUE(variants.ok()) << variants.status().message();
        for (size_t i = 0; i < variants->size(); i += is_nightly ? 1 : 7)
            for (const DeviceCaps& caps : {gpu_caps(), cpu_caps()})
                for (OpKernel& kernel : kernels_of((*variants)[i], caps))
                    kernels.emplace_back(std::move(kernel), tolerance);
    };
    take(variants_of(op), op.tolerance.f32);
    take(narrow_variants_of(op, DType::kF16), op.tolerance.f16);
    if (is_nightly) take(narrow_variants_of(op, DType::kBF16), 8 * op.tolerance.f16);
    if (HasFatalFailure()) return;
    if (kernels.empty()) GTEST_SKIP() << op.name << " has no kernel that is a body";

    std::string text(c_prelude());
    for (size_t i = 0; i < kernels.size(); ++i) {
        const auto printed = print_c(*kernels[i].first.body, "kernel_" + std::to_string(i));
        ASSERT_TRUE(printed.ok()) << printed.status().message();
        text += *printed;
    }
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / ("hearth_kernels_in_c_" + std::string(op.name));
    std::filesystem::create_directories(folder);
    const Library library(folder, text, is_nightly ? "-O3" : "-O0");
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(library.is_open()) << "cc refuses the kernels of " << op.name;
    for (size_t i = 0; i < kernels.size(); ++i) {
        RunWorkgroups* const run = library.find("kernel_" + std::to_string(i));
        ASSERT_NE(run, nullptr);
        expect_as_interpreted(kernels[i].first, run, kernels[i].second);
    }
}

TEST(PrintC, AReturnOutOfALoopBesideBarriersIsUnsupported) {
    Body body;
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    body.threads = 8;
    const uint32_t b = body.operand(0, DType::kF32, DType::kF32);
    writer.barrier();
    const Expr turn = writer.for_("turn", body.index(0), [](Expr i) { return i < 3; });
    writer.if_(turn == body.invocation());
    writer.leave();
    writer.end();
    writer.end();
    writer.store(b, body.invocation(), body.constant(1, ScalarType::kF32));
    body.statements = writer.take();
    ASSERT_TRUE(verify_body(body).ok());
    const auto printed = print_c(body, "k");
    ASSERT_FALSE(printed.ok());
    EXPECT_EQ(printed.status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(printed.status().message(), "kernel k in C: a return out of a loop beside barriers");
}

INSTANTIATE_TEST_SUITE_P(Of, KernelsInC, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
