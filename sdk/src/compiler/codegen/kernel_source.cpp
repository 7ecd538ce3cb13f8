// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_source.hpp"

#include "compiler/codegen/kernel_interface.hpp"
#include "compiler/print/glsl.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/driver_workarounds.hpp"

namespace hearth {

namespace {

/// Requirements of the kernel's text.
BodyRequirements needs_of(const KernelDraft& kernel) {
    BodyRequirements needs = body_requirements(*kernel.described);
    if (!kernel.is_text()) return needs;
    // What it calls itself; its extensions it requires itself.
    needs.rounding = true;
    needs.functions |= kernel.calls_math;
    needs.matrices = false;
    return needs;
}

/// Extensions and definitions of kernels with matrices.
std::string matrix_head(const KernelDraft& kernel, const DeviceCaps& caps) {
    std::string text =
        "#extension GL_NV_cooperative_matrix : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\n"
        "#extension GL_KHR_shader_subgroup_basic : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n";
    if (matrix_cores_of(kernel, caps) == CooperativeMatrixExt::kKhr)
        text += "#pragma use_vulkan_memory_model\n#define HEARTH_MATRIX_KHR\n";
    if (kernel.workgroup_matrix) text += "#define HEARTH_MATRIX_WORKGROUP\n";
    const MatrixShape shape = kernel.workgroup_matrix.value_or(caps.cooperative_matrix_shape);
    const auto size = [&](const char* name, uint32_t value) {
        text += "#define hearth_matrix_" + std::string(name) + " " + std::to_string(value) + "\n";
    };
    size("m", shape.m);
    size("n", shape.n);
    size("k", shape.k);
    return text;
}

}  // namespace

CooperativeMatrixExt matrix_cores_of(const KernelDraft& kernel, const DeviceCaps& caps) {
    return kernel.prefers_nv_matrices && caps.cooperative_matrix_nv ? CooperativeMatrixExt::kNv
                                                                    : caps.cooperative_matrix;
}

std::string kernel_source(const Graph& graph, const KernelDraft& kernel,
                          const OperandLayout& layout, BindingModel model, const DeviceCaps& caps) {
    const NarrowStorage storage = caps.narrow_storage();
    const bool by_address = model == BindingModel::kDeviceAddress;
    const BodyRequirements needs = needs_of(kernel);
    std::string text = "#version 450\n";
    if (needs.unrolled) text += "#extension GL_EXT_control_flow_attributes : require\n";
    if (kernel.has_matrices)
        text += matrix_head(kernel, caps);
    else if (kernel.uses_subgroups || needs.subgroup_barriers)
        text += "#extension GL_KHR_shader_subgroup_basic : require\n";
    if (by_address) text += "#extension GL_EXT_buffer_reference : require\n";
    if (by_address) text += "#extension GL_EXT_buffer_reference_uvec2 : require\n";
    if (holds(graph, kernel.buffers, storage, 2))
        text += "#extension GL_EXT_shader_16bit_storage : require\n";
    if (holds(graph, kernel.buffers, storage, 1))
        text += "#extension GL_EXT_shader_8bit_storage : require\n";
    const bool is_wide = needs.wide || holds(graph, kernel.buffers, storage, 8);
    if (is_wide) text += "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n";
    text += "layout(local_size_x = " + std::to_string(kernel.local_size[0]) +
            ", local_size_y = " + std::to_string(kernel.local_size[1]) +
            ", local_size_z = " + std::to_string(kernel.local_size[2]) + ") in;\n";
    text += operand_declarations(graph, kernel, layout, model, storage);
    const bool has_fours = !kernel.is_text() && !needs.pairs.empty();
    if (needs.rounding || has_fours) {
        if (kGuardedRounding.is_needed(caps) && holds(graph, kernel.buffers, storage, 2))
            text += "#define HEARTH_CONVERTS_TO_NEAREST\n";
        text += shader_text("common/narrow.glsl");
        if (has_fours) text += shader_text("common/fours.glsl");
    }
    if (needs.random) text += shader_text("common/philox.glsl");
    if (kernel.has_matrices) text += shader_text("common/coopmat.glsl");
    if (needs.matrices) text += shader_text("common/halves.glsl");
    if (needs.functions) text += print_glsl_math();
    if (is_wide) text += shader_text("common/int64.glsl");
    GlslOptions print{
        .divides_exactly = !kernel.may_divide_inexactly && kExactDivision.is_needed(caps),
        .asks_for_nan = kGuardedNan.is_needed(caps)};
    if (!by_address && layout.located_count > 0) {
        print.in_region.resize(layout.order.size());
        for (size_t o = 0; o < layout.located_count; ++o) print.in_region[layout.order[o]] = true;
    }
    if (needs.quotients && print.divides_exactly) text += shader_text("common/division.glsl");
    if (kernel.is_text()) {
        text += kernel.head + print_glsl_functions(*kernel.described, print);
        return text + kernel.text;
    }
    return text + print_glsl(*kernel.described, print);
}

}  // namespace hearth
