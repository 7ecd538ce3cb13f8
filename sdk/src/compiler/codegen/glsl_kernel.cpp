// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/glsl_kernel.hpp"

#include "compiler/print/glsl.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/driver_workarounds.hpp"

#include <set>

namespace hearth {

namespace {

/// Declares the operands so that `b0.at[i]` is an element of the first one, and `rows` the live rows.
std::string declare_operands(const Graph& graph, const KernelDraft& kernel,
                             const OperandLayout& layout, BindingModel model,
                             NarrowStorage storage) {
    std::string types, push, names;
    std::set<std::string> declared;
    size_t operands = 0;
    const auto add = [&](const std::string& name, DType held) {
        const std::string element(glsl_held_type(held)), array = "{ " + element + " at[]; } ";
        if (model == BindingModel::kDescriptor) {
            names += "layout(set = 0, binding = " + std::to_string(operands++) +
                     ", std430) buffer block_" + name + " " + array + name + ";\n";
            return;
        }
        const std::string type = "buffer_" + element;
        if (declared.insert(type).second)
            types += "layout(buffer_reference, std430, buffer_reference_align = " +
                     std::to_string(size_bytes(held)) + ") buffer " + type + " " + array + ";\n";
        push += "    uvec2 p_" + name + ";\n";
        names += "#define " + name + " " + type + "(push.p_" + name + ")\n";
    };
    for (const size_t i : layout.order)
        add("b" + std::to_string(i),
            device_dtype(graph.values[kernel.buffers.values[i]].dtype, storage));
    if (layout.uses_rows) add("run", DType::kU32);
    if (!push.empty())
        types += "layout(push_constant, std430) uniform Push {\n" + push + "} push;\n";
    if (layout.uses_rows) names += "#define rows int(run.at[0])\n";
    return types + names;
}

}  // namespace

std::string glsl_kernel(const Graph& graph, const KernelDraft& kernel, const OperandLayout& layout,
                        BindingModel model, const DeviceCaps& caps) {
    const NarrowStorage storage = caps.narrow_storage();
    const bool is_wide =
        body_requirements(*kernel.described).wide || holds(graph, kernel.buffers, storage, 8);
    std::string text = "#version 450\n";
    const auto require = [&](bool is_needed, const char* extension) {
        if (is_needed) text += "#extension GL_EXT_" + std::string(extension) + " : require\n";
    };
    require(true, "control_flow_attributes");
    require(model == BindingModel::kDeviceAddress, "buffer_reference");
    require(model == BindingModel::kDeviceAddress, "buffer_reference_uvec2");
    require(holds(graph, kernel.buffers, storage, 2), "shader_16bit_storage");
    require(holds(graph, kernel.buffers, storage, 1), "shader_8bit_storage");
    require(is_wide, "shader_explicit_arithmetic_types_int64");
    text += "layout(local_size_x = " + std::to_string(kernel.local_size[0]) +
            ", local_size_y = " + std::to_string(kernel.local_size[1]) +
            ", local_size_z = " + std::to_string(kernel.local_size[2]) + ") in;\n" +
            declare_operands(graph, kernel, layout, model, storage);
    if (body_requirements(*kernel.described).random) text += shader_text("common/philox.glsl");
    const GlslOptions print{.divides_exactly = kExactDivision.is_needed(caps),
                            .asks_for_nan = kGuardedNan.is_needed(caps)};
    return text + print_glsl_math(is_wide) + kernel.head +
           print_glsl_functions(*kernel.described, print) + kernel.text;
}

}  // namespace hearth
