// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_interface.hpp"

#include "compiler/ir/held_types.hpp"
#include "compiler/print/glsl_regions.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace hearth {

namespace {

std::string buffer_type(std::string_view name, std::string_view element, int alignment) {
    return "layout(buffer_reference, std430, buffer_reference_align = " +
           std::to_string(alignment) + ") buffer " + std::string(name) + " { " +
           std::string(element) + " at[]; };\n";
}

/// Another view of a buffer: vectors of so many bytes.
struct VectorView {
    std::string_view suffix, block, element;
    int bytes;
    std::vector<uint32_t> KernelDraft::*values;

    bool has(const KernelDraft& kernel, uint32_t value) const {
        const std::vector<uint32_t>& list = kernel.*values;
        return std::find(list.begin(), list.end(), value) != list.end();
    }
};

const VectorView kVectorViews[] = {
    {"v", "F32x4", "vec4", 16, &KernelDraft::vector_loads},
    {"w", "U32x4", "uvec4", 16, &KernelDraft::word_loads},
    {"p", "U32x2", "uvec2", 8, &KernelDraft::pair_loads},
};

/// The types of all buffers that the kernel names.
std::string buffer_types(const Graph& graph, const KernelDraft& kernel, const OperandLayout& layout,
                         NarrowStorage storage) {
    std::vector<HeldType> types;
    for (uint32_t v : kernel.buffers.values)
        types.push_back(held_type(graph.values[v].dtype, storage));
    if (layout.uses_rows) types.push_back(held_type(DType::kU32, storage));
    std::string text;
    std::vector<std::string_view> declared;
    for (const HeldType& type : types) {
        if (std::find(declared.begin(), declared.end(), type.block) != declared.end()) continue;
        declared.push_back(type.block);
        text += buffer_type(type.block, type.element, static_cast<int>(size_bytes(type.dtype)));
    }
    return text;
}

/// Declares the operands so that `b0.at[i]` is an element and `b0a` the address.  Addresses are
/// words, which each use converts to a reference (see GlslPrinter::type_of).
std::string address_declarations(const Graph& graph, const KernelDraft& kernel,
                                 const OperandLayout& layout, NarrowStorage storage) {
    std::string text = buffer_types(graph, kernel, layout, storage);
    for (const VectorView& view : kVectorViews)
        if (!(kernel.*view.values).empty())
            text += buffer_type(view.block, view.element, view.bytes);
    std::string push, names;
    if (layout.located_count > 0) push += "    uvec2 arena, weights;\n";
    for (size_t o = 0; o < layout.order.size(); ++o) {
        const size_t i = layout.order[o];
        const std::string type(
            held_type(graph.values[kernel.buffers.values[i]].dtype, storage).block);
        const std::string number = std::to_string(i);
        if (o < layout.located_count) {
            text += "layout(constant_id = " + std::to_string(o) + ") const uint place" + number +
                    " = 0u;\n";
            names += "#define b" + number + "a hearth_locate(place" + number + ")\n";
        } else {
            push += "    uvec2 p" + number + ";\n";
            names += "#define b" + number + "a push.p" + number + "\n";
        }
        const auto add_view = [&](std::string_view suffix, std::string_view block) {
            names += "#define b" + number + std::string(suffix) + " " + std::string(block) + "(b" +
                     number + "a)\n";
        };
        add_view("", type);
        for (const VectorView& view : kVectorViews)
            if (view.has(kernel, kernel.buffers.values[i])) add_view(view.suffix, view.block);
    }
    if (layout.uses_rows) push += "    uvec2 run;\n";
    if (!push.empty())
        text += "layout(push_constant, std430) uniform Push {\n" + push + "} push;\n";
    if (layout.located_count > 0)
        // Program::locate: units of 16 bytes, and in bit 0 whether in the weights.
        text +=
            "uvec2 hearth_locate(uint place) {\n"
            "    const uvec2 region = (place & 1u) != 0u ? push.weights : push.arena;\n"
            "    uint carry;\n"
            "    const uint low = uaddCarry(region.x, (place >> 1) << 4, carry);\n"
            "    return uvec2(low, region.y + (place >> 29) + carry);\n}\n";
    text += names;
    if (layout.uses_rows) text += "#define rows int(U32(push.run).at[0])\n";
    return text;
}

/// Both regions, in all views of the located operands, and the operands' places: "b0a".
std::string region_declarations(const Graph& graph, const KernelDraft& kernel,
                                const OperandLayout& layout, NarrowStorage storage) {
    std::vector<RegionView> views;
    const auto add = [&](const RegionView& view) {
        if (std::find(views.begin(), views.end(), view) == views.end()) views.push_back(view);
    };
    std::string places;
    for (size_t o = 0; o < layout.located_count; ++o) {
        const uint32_t value = kernel.buffers.values[layout.order[o]];
        add(region_view(held_type(graph.values[value].dtype, storage)));
        for (const VectorView& view : kVectorViews)
            if (view.has(kernel, value))
                add({view.block, view.element, view.element, static_cast<uint32_t>(view.bytes)});
        places += "layout(constant_id = " + std::to_string(o) + ") const uint b" +
                  std::to_string(layout.order[o]) + "a = 0u;\n";
    }
    std::string text;
    for (const RegionView& view : views) text += region_functions(view);
    return text + places;
}

/// The same, in descriptors.
std::string descriptor_declarations(const Graph& graph, const KernelDraft& kernel,
                                    const OperandLayout& layout, NarrowStorage storage) {
    std::string text = region_declarations(graph, kernel, layout, storage);
    size_t binding = layout.located_count > 0 ? 2 : 0;
    const auto block = [&](std::string_view name, std::string_view element) {
        return "layout(set = 0, binding = " + std::to_string(binding) + ", std430) buffer " +
               std::string(name) + " { " + std::string(element) + " at[]; } ";
    };
    for (size_t o = layout.located_count; o < layout.order.size(); ++o, ++binding) {
        const uint32_t value = kernel.buffers.values[layout.order[o]];
        const std::string number = std::to_string(layout.order[o]);
        text += block("Block" + number, held_type(graph.values[value].dtype, storage).element) +
                "b" + number + ";\n";
        for (const VectorView& view : kVectorViews)
            if (view.has(kernel, value))
                text += block(std::string(view.block) + "Block" + number, view.element) + "b" +
                        number + std::string(view.suffix) + ";\n";
    }
    if (layout.uses_rows) text += block("RunBlock", "uint") + "run;\n#define rows int(run.at[0])\n";
    return text;
}

}  // namespace

std::string operand_declarations(const Graph& graph, const KernelDraft& kernel,
                                 const OperandLayout& layout, BindingModel model,
                                 NarrowStorage storage) {
    return model == BindingModel::kDeviceAddress
               ? address_declarations(graph, kernel, layout, storage)
               : descriptor_declarations(graph, kernel, layout, storage);
}

}  // namespace hearth
