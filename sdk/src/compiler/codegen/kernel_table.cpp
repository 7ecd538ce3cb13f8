// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_table.hpp"

#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/codegen/glsl_kernel.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/print/spirv.hpp"
#include "core/device_model.hpp"
#include "core/driver_workarounds.hpp"
#include "program/spirv.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace hearth {

namespace {

/// The alignment that the kernel's code relies on.
Result<uint32_t> access_bytes_of(const Kernel& kernel) {
    std::vector<SpirvId> ids(spirv_bound(kernel.spirv));
    SpirvFacts facts;
    ViewError error;
    if (!read_spirv(kernel.spirv, {}, ids, &facts, &error))
        return internal_error("kernel " + kernel.name + ": " + error.text.c_str());
    return std::bit_ceil(facts.access_bytes);
}

uint64_t code_hash(const Kernel& kernel) {
    Hash hash;
    for (const uint32_t word : kernel.spirv) hash.number(word);
    return hash.value();
}

uint32_t spirv_version_of(const DeviceCaps& caps) {
    constexpr uint32_t kSpirv13 = 0x00010300, kSpirv15 = 0x00010500;
    return caps.spirv_version >= kSpirv15 ? kSpirv15 : kSpirv13;
}

/// The extension by which a kernel with matrices reaches matrix cores.
CooperativeMatrixExt matrix_cores_of(const KernelDraft& kernel, const DeviceCaps& caps) {
    return kernel.prefers_nv_matrices && caps.cooperative_matrix_nv ? CooperativeMatrixExt::kNv
                                                                    : caps.cooperative_matrix;
}

Result<std::vector<uint32_t>> print_body(const KernelDraft& draft, const OperandLayout& layout,
                                         BindingModel model, const DeviceCaps& caps) {
    SpirvOptions print;
    print.version = spirv_version_of(caps);
    print.binding_model = model;
    print.local_size = draft.local_size;
    print.order.assign(layout.order.begin(), layout.order.end());
    print.located_count = layout.located_count;
    print.uses_rows = layout.uses_rows;
    if (body_requirements(*draft.described).matrices) print.matrices = matrix_cores_of(draft, caps);
    print.has_dot_halves = caps.mixed_float_dot_product;
    print.divides_exactly = !draft.may_divide_inexactly && kExactDivision.is_needed(caps);
    print.guards_rounding = kGuardedRounding.is_needed(caps);
    print.guards_nan = kGuardedNan.is_needed(caps);
    return print_spirv(*draft.described, print);
}

}  // namespace

Result<uint32_t> KernelTable::add(const Graph& graph, const KernelDraft& kernel,
                                  const OperandLayout& layout, const std::string& label) {
    if (device_model(options_.caps).keeps_bodies) return add_body(kernel, layout);
    if (!options_.compile_kernels) return uint32_t{0};
    return add_compiled(graph, kernel, layout, label);
}

/// Calls with equal bodies share a kernel.
uint32_t KernelTable::add_body(const KernelDraft& kernel, const OperandLayout& layout) {
    const uint64_t hash = structural_hash(*kernel.described);
    const std::string key = std::to_string(hash) + " " + std::to_string(layout.count());
    if (const auto known = by_source_.find(key); known != by_source_.end()) return known->second;
    const auto index = static_cast<uint32_t>(size());
    Kernel made;
    made.name = kernel.name + "_" + std::to_string(index);
    made.operand_count = layout.count();
    made.local_size = kernel.local_size;
    program_.kernels.push_back(std::move(made));
    program_.bodies.push_back(kernel.described);
    by_source_.emplace(key, index);
    return index;
}

Result<uint32_t> KernelTable::add_compiled(const Graph& graph, const KernelDraft& draft,
                                           const OperandLayout& layout, const std::string& label) {
    const bool is_text = draft.spirv.empty() && draft.is_text();
    if (is_text && layout.located_count > 0)
        return unsupported("kernel " + draft.name + " in GLSL has " +
                           std::to_string(layout.count()) + " operands, at most " +
                           std::to_string(kMaxBoundOperands) +
                           "; write it as a body (hearth/kernel.hpp)");
    const std::string text =
        is_text ? glsl_kernel(graph, draft, layout, options_.binding_model, options_.caps) : "";
    // A kernel that locates its operands belongs to one call.
    const bool is_shared = layout.located_count == 0;
    if (auto known = by_source_.find(text); is_shared && is_text && known != by_source_.end())
        return known->second;
    HEARTH_ASSIGN(Kernel kernel, compile(graph, draft, layout, text, label));
    const uint32_t equal = is_shared ? equal_kernel(kernel) : kInvalidId;
    const uint32_t index = equal != kInvalidId ? equal : static_cast<uint32_t>(size());
    if (equal == kInvalidId) {
        if (is_shared) by_code_hash_.emplace(code_hash(kernel), index);
        if (options_.keep_source && draft.spirv.empty())
            kernel.source = is_text ? text : print_glsl(*draft.described);
        program_.kernels.push_back(std::move(kernel));
    }
    if (is_text) by_source_.emplace(text, index);
    return index;
}

/// text: in GLSL, of a kernel that is_text().
Result<Kernel> KernelTable::compile(const Graph& graph, const KernelDraft& draft,
                                    const OperandLayout& layout, const std::string& text,
                                    const std::string& label) const {
    const DeviceCaps& caps = options_.caps;
    const NarrowStorage storage = caps.narrow_storage();
    const bool is_finished = !draft.spirv.empty();
    Kernel kernel;
    kernel.name = draft.name + "_" + std::to_string(size());
    if (is_finished) {
        kernel.spirv = draft.spirv;
    } else if (draft.is_text()) {
        HEARTH_ASSIGN(kernel.spirv,
                      compile_glsl(text, kernel.name + " (" + label + ")", caps.spirv_version));
    } else {
        HEARTH_ASSIGN(kernel.spirv, print_body(draft, layout, options_.binding_model, caps));
    }
    if (!is_finished && draft.has_matrices) {
        kernel.needs_matrix_cores = matrix_cores_of(draft, caps);
        kernel.needs_workgroup_matrices = draft.workgroup_matrix.has_value();
        kernel.matrix = draft.workgroup_matrix.value_or(caps.cooperative_matrix_shape);
        kernel.needs_fp16_arithmetic = true;
        kernel.subgroup_size = caps.subgroup_size;
    }
    // A part of a network on matrices may deal its work to subgroups and multiply nothing.
    if (!is_finished && draft.uses_subgroups && !draft.has_matrices)
        kernel.subgroup_size = draft.described->subgroup_size;
    HEARTH_ASSIGN(kernel.access_bytes, access_bytes_of(kernel));
    kernel.operand_count = layout.count();
    kernel.located_count = layout.located_count;
    kernel.local_size = draft.local_size;
    kernel.needs_fp16_storage = holds(graph, draft.buffers, storage, 2);
    kernel.needs_int8_storage = holds(graph, draft.buffers, storage, 1);
    return kernel;
}

/// A shared kernel with the same code, or kInvalidId: texts may differ in names alone.
uint32_t KernelTable::equal_kernel(const Kernel& kernel) const {
    const auto [first, end] = by_code_hash_.equal_range(code_hash(kernel));
    const auto found = std::find_if(first, end, [&](const auto& entry) {
        const Kernel& other = program_.kernels[entry.second];
        return other.spirv == kernel.spirv && other.operand_count == kernel.operand_count &&
               other.needs_fp16_storage == kernel.needs_fp16_storage &&
               other.needs_int8_storage == kernel.needs_int8_storage;
    });
    return found == end ? kInvalidId : found->second;
}

namespace {

/// Words of b0 to b1, as many as the dispatch says.
Body copy_body(uint32_t threads) {
    Body body;
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    body.threads = threads;
    for (const uint32_t operand : {0u, 1u}) (void)body.operand(operand, DType::kU32, DType::kU32);
    const Expr first = body.workgroup() * static_cast<int64_t>(threads);
    const Expr i = writer.let("i", first + body.invocation());
    writer.if_(i < body.pushed_word(0));
    writer.store(1, i, body.load(0, i));
    writer.end();
    body.statements = writer.take();
    return body;
}

}  // namespace

/// A copy between kernels by vkCmdCopyBuffer takes a GPU about 3 us, as both wait for another
/// stage; one by a kernel takes as long as any small one.  For a CPU it is the other way round.
Status KernelTable::add_copy_kernel() {
    if (is_software(options_.caps) || !options_.compile_kernels) return {};
    const uint32_t threads = usual_workgroup_size(options_.caps);
    const Body body = copy_body(threads);
    SpirvOptions print;
    print.version = spirv_version_of(options_.caps);
    print.binding_model = options_.binding_model;
    print.local_size = {threads, 1, 1};
    print.order = {0, 1};
    print.word_count = 1;
    Kernel kernel;
    kernel.name = kCopyKernel;
    HEARTH_ASSIGN(kernel.spirv, print_spirv(body, print));
    kernel.operand_count = 2;
    kernel.word_count = 1;
    kernel.operands = {{Access::kRead, {}, sizeof(uint32_t)},
                       {Access::kWrite, {}, sizeof(uint32_t)}};
    kernel.local_size = {threads, 1, 1};
    program_.kernels.push_back(std::move(kernel));
    return {};
}

void KernelTable::truncate(size_t first) {
    program_.kernels.resize(first);
    if (program_.bodies.size() > first) program_.bodies.resize(first);
    const auto is_gone = [&](const auto& entry) { return entry.second >= first; };
    std::erase_if(by_source_, is_gone);
    std::erase_if(by_code_hash_, is_gone);
}

}  // namespace hearth
