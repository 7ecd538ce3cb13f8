// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/lower.hpp"

#include "codegen/glsl_compiler.hpp"
#include "codegen/group_kernels.hpp"
#include "core/hash.hpp"
#include "ir/op_def.hpp"
#include "kernels/library.hpp"

#include <algorithm>
#include <unordered_map>

namespace hearth {

namespace {

std::string_view block_name(DType dtype) {
    switch (device_dtype(dtype)) {
        case DType::kI32:
            return "I32";
        case DType::kU32:
            return "U32";
        default:
            return "F32";
    }
}

/// Declares those that are also read four elements at a time.
std::string vector_declarations(const GroupKernel& kernel, bool by_address) {
    std::string text;
    if (by_address && !kernel.vector_loads.empty())
        text +=
            "layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer F32x4 "
            "{ vec4 at[]; };\n";
    const std::vector<uint32_t>& values = kernel.buffers.values;
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string n = std::to_string(i);
        if (std::find(kernel.vector_loads.begin(), kernel.vector_loads.end(), values[i]) ==
            kernel.vector_loads.end())
            continue;
        text += by_address ? "#define b" + n + "v F32x4(push.p" + n + ")\n"
                           : "layout(set = 0, binding = " + n + ", std430) readonly buffer VBlock" +
                                 n + " { vec4 at[]; } b" + n + "v;\n";
    }
    return text;
}

/// Declares the operands so that `b0.at[i]` is an element in either binding model.
std::string operand_declarations(const Graph& graph, const GroupKernel& kernel,
                                 BindingModel model) {
    std::string text;
    const bool by_address = model == BindingModel::kDeviceAddress;
    const std::vector<uint32_t>& values = kernel.buffers.values;
    if (by_address) {
        for (const char* type : {"float F32", "int I32", "uint U32"}) {
            const std::string element(type, std::string_view(type).find(' '));
            text += "layout(buffer_reference, std430, buffer_reference_align = 4) buffer " +
                    std::string(type).substr(element.size() + 1) + " { " + element + " at[]; };\n";
        }
        text += "layout(push_constant, std430) uniform Push {\n";
        for (size_t i = 0; i < values.size(); ++i)
            text += "    " + std::string(block_name(graph.values[values[i]].dtype)) + " p" +
                    std::to_string(i) + ";\n";
        if (kernel.buffers.uses_rows) text += "    U32 run;\n";
        text += "} push;\n";
        for (size_t i = 0; i < values.size(); ++i)
            text += "#define b" + std::to_string(i) + " push.p" + std::to_string(i) + "\n";
        if (kernel.buffers.uses_rows) text += "#define rows int(push.run.at[0])\n";
        return text;
    }
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string_view block = block_name(graph.values[values[i]].dtype);
        const std::string element = block == "F32" ? "float" : (block == "I32" ? "int" : "uint");
        text += "layout(set = 0, binding = " + std::to_string(i) + ", std430) buffer Block" +
                std::to_string(i) + " { " + element + " at[]; } b" + std::to_string(i) + ";\n";
    }
    if (kernel.buffers.uses_rows)
        text += "layout(set = 0, binding = " + std::to_string(values.size()) +
                ", std430) buffer RunBlock { uint at[]; } run;\n#define rows int(run.at[0])\n";
    return text;
}

std::string kernel_source(const Graph& graph, const GroupKernel& kernel, BindingModel model) {
    std::string text = "#version 450\n";
    if (model == BindingModel::kDeviceAddress)
        text += "#extension GL_EXT_buffer_reference : require\n";
    text += "layout(local_size_x = " + std::to_string(kernel.local_size[0]) +
            ", local_size_y = " + std::to_string(kernel.local_size[1]) +
            ", local_size_z = " + std::to_string(kernel.local_size[2]) + ") in;\n";
    text += operand_declarations(graph, kernel, model);
    text += vector_declarations(kernel, model == BindingModel::kDeviceAddress);
    if (kernel.body.find("hearth_philox") != std::string::npos)
        text += shader_text("common/philox.glsl");
    if (kernel.body.find("hearth_") != std::string::npos) text += shader_text("common/math.glsl");
    return text + kernel.body;
}

/// Every value that the group's kernel works out, recomputed views included, in data-flow order.
std::vector<uint32_t> computed_values(const Graph& graph, const Group& group,
                                      const std::vector<bool>& inlined) {
    std::vector<bool> wanted(graph.nodes.size());
    std::vector<NodeId> stack(group.nodes);
    while (!stack.empty()) {
        const NodeId n = stack.back();
        stack.pop_back();
        if (wanted[n]) continue;
        wanted[n] = true;
        if (graph.nodes[n].op->reads_buffers) continue;
        for (ValueId v : graph.nodes[n].inputs)
            if (const Value& in = graph.values[v]; in.kind == ValueKind::kNode && inlined[in.node])
                stack.push_back(in.node);
    }
    std::vector<uint32_t> values;
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        if (wanted[n])
            values.insert(values.end(), graph.nodes[n].outputs.begin(),
                          graph.nodes[n].outputs.end());
    return values;
}

std::string label_of(const Graph& graph, const Group& group) {
    std::string label;
    for (NodeId n : group.nodes)
        label += (label.empty() ? "" : "+") + std::string(graph.nodes[n].op->name);
    return label;
}

Status check_types(const Graph& graph, const GroupKernel& kernel) {
    for (uint32_t v : kernel.buffers.values)
        if (graph.values[v].dtype == DType::kF16)
            return unsupported("no kernel holds f16 tensors in this profile (value " +
                               std::to_string(v) + ")");
    return {};
}

/// Lowers graphs one after the other, sharing kernels of equal text.
class Lowerer {
  public:
    explicit Lowerer(const LowerOptions& options) : options_(options) {
        out_.binding_model = options.binding_model;
        out_.profile = options.caps.name;
    }

    Status add(const Graph& graph) {
        LoweredEntry entry;
        entry.name = graph.name;
        for (ValueId v = 0; v < graph.values.size(); ++v) entry.alias_of.push_back(v);
        const FusionPlan plan = fuse(graph, {.enabled = options_.fuse, .max_operands = 14});
        for (const Group& group : plan.groups)
            HEARTH_TRY(add_group(graph, group, plan.inlined, entry));
        out_.entries.push_back(std::move(entry));
        return {};
    }

    LoweredProgram take() { return std::move(out_); }

  private:
    Status add_group(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                     LoweredEntry& entry) {
        HEARTH_TRY(check_lowerable(graph, group));
        GroupKernel kernel = group_kernel(graph, group, inlined);
        // What folded away in the kernel is an operand still: the step's debug table speaks of it.
        for (ValueId v : loads_of(graph, group, inlined)) (void)kernel.buffers.name_of(v);
        kernel.is_elementwise.resize(kernel.buffers.values.size(), false);
        HEARTH_TRY(check_types(graph, kernel));
        KernelCall call;
        call.label = label_of(graph, group);
        HEARTH_ASSIGN(call.kernel, kernel_index(graph, kernel, call.label));
        for (size_t i = 0; i < kernel.buffers.values.size(); ++i)
            call.operands.push_back(operand(group, kernel, i));
        if (kernel.buffers.uses_rows) call.operands.push_back({});
        call.grid = kernel.grid;
        call.flops = kernel.flops;
        for (uint32_t v : kernel.buffers.values) {
            const Value& value = graph.values[v];
            call.bytes_moved += static_cast<uint64_t>(value.shape.element_count(
                                    static_cast<int64_t>(options_.rows_capacity))) *
                                size_bytes(device_dtype(value.dtype));
        }
        call.computes = computed_values(graph, group, inlined);
        entry.calls.push_back(std::move(call));
        return {};
    }

    GroupKernel group_kernel(const Graph& graph, const Group& group,
                             const std::vector<bool>& inlined) const {
        switch (group.kind) {
            case GroupKind::kMap:
                return map_kernel(graph, group, inlined, options_);
            case GroupKind::kRowwise:
                return rows_kernel(graph, group, inlined, options_);
            case GroupKind::kMatmul:
                return matmul_kernel(graph, group, inlined, options_);
            case GroupKind::kOwn:
                return own_kernel(graph, group, inlined, options_);
        }
        return {};
    }

    static Status check_lowerable(const Graph& graph, const Group& group) {
        for (NodeId n : group.nodes) {
            const OpDef& op = *graph.nodes[n].op;
            const bool has_kernel = op.at || op.op_class == OpClass::kReduce ||
                                    op.op_class == OpClass::kMatmul ||
                                    op.op_class == OpClass::kKernel;
            if (!has_kernel) return unsupported(std::string(op.name) + " has no kernel");
        }
        return {};
    }

    static CallOperand operand(const Group& group, const GroupKernel& kernel, size_t index) {
        const uint32_t value = kernel.buffers.values[index];
        const bool is_stored =
            std::find(group.stores.begin(), group.stores.end(), value) != group.stores.end();
        return {value, is_stored ? Access::kWrite : Access::kRead, kernel.is_elementwise[index]};
    }

    Result<uint32_t> kernel_index(const Graph& graph, const GroupKernel& text,
                                  const std::string& label) {
        const bool is_finished = !text.spirv.empty();
        const std::string source =
            is_finished ? std::string(reinterpret_cast<const char*>(text.spirv.data()),
                                      text.spirv.size() * sizeof(uint32_t))
                        : kernel_source(graph, text, options_.binding_model);
        if (auto known = by_source_.find(source); known != by_source_.end()) return known->second;
        Kernel kernel;
        kernel.name = text.name + "_" + std::to_string(out_.kernels.size());
        if (is_finished) {
            kernel.spirv = text.spirv;
        } else {
            HEARTH_ASSIGN(kernel.spirv, compile_glsl(source, kernel.name + " (" + label + ")"));
        }
        kernel.operand_count =
            static_cast<uint32_t>(text.buffers.values.size()) + (text.buffers.uses_rows ? 1 : 0);
        kernel.local_size = text.local_size;
        if (options_.keep_source && !is_finished) kernel.source = source;
        const auto index = static_cast<uint32_t>(out_.kernels.size());
        out_.kernels.push_back(std::move(kernel));
        by_source_.emplace(source, index);
        return index;
    }

    LowerOptions options_;
    LoweredProgram out_;
    std::unordered_map<std::string, uint32_t> by_source_;
};

}  // namespace

Result<LoweredProgram> lower(std::span<const Graph> graphs, const LowerOptions& options) {
    Lowerer lowerer(options);
    for (const Graph& graph : graphs)
        if (Status s = lowerer.add(graph); !s.ok()) return s.in("entry '" + graph.name + "'");
    return lowerer.take();
}

}  // namespace hearth
