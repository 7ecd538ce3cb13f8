// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/own_kernel.hpp"

#include "codegen/group_expressions.hpp"
#include "codegen/group_kernels.hpp"
#include "codegen/steps.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

std::string define(const std::string& name, const std::string& text) {
    return "#define " + name + " " + text + "\n";
}

class OwnKernel {
  public:
    OwnKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
              const LowerOptions& options)
        : graph_(graph),
          group_(group),
          options_(options),
          node_(find_node()),
          text_(*own_kernel_of(graph, node_, options.caps, options.rows_capacity)),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()) {}

    GroupKernel run() {
        kernel_.name = text_.name;
        kernel_.local_size = text_.local_size;
        kernel_.flops = text_.flops;
        for (size_t axis = 0; axis < 3; ++axis) kernel_.grid[axis] = grid_axis(axis);
        if (text_.spirv.empty())
            write_body();
        else
            bind_finished_code();
        kernel_.is_elementwise.assign(kernel_.buffers.values.size(), false);
        return std::move(kernel_);
    }

  private:
    const Node& find_node() const {
        for (NodeId n : group_.nodes)
            if (graph_.nodes[n].op->op_class == OpClass::kKernel) return graph_.nodes[n];
        HEARTH_ASSERT(false && "a group of kind own without an operator that has a kernel");
        return graph_.nodes[group_.nodes[0]];
    }

    GridAxis grid_axis(size_t axis) const {
        const auto [items, per_group] = text_.grid[axis];
        if (axis != 0) return {work_of(items), per_group};
        const uint64_t most = uint64_t{options_.caps.max_workgroup_count_x} * per_group;
        return {work_of(items), per_group * items_each(items, options_.rows_capacity, most)};
    }

    void bind_finished_code() {
        HEARTH_ASSERT(node_.op->reads_buffers);
        kernel_.spirv = text_.spirv;
        std::vector<uint32_t>& values = kernel_.buffers.values;
        values.assign(node_.inputs.begin(), node_.inputs.end());
        values.insert(values.end(), node_.outputs.begin(), node_.outputs.end());
        kernel_.buffers.uses_rows = text_.spirv_reads_rows;
    }

    void write_body() {
        std::string head;
        for (size_t k = 0; k < node_.inputs.size(); ++k) {
            const std::string name = "in" + std::to_string(k);
            head += extents(name, node_.inputs[k]);
            head += node_.op->reads_buffers ? buffer_names(name, node_.inputs[k])
                                            : load_function(name, node_.inputs[k]);
            if (mentions(name + "_four(")) head += load_four_function(name, node_.inputs[k]);
        }
        for (size_t k = 0; k < node_.outputs.size(); ++k) {
            const std::string name = "out" + std::to_string(k);
            head += extents(name, node_.outputs[k]) + store_function(name, node_.outputs[k]);
            if (mentions(name + "_at(")) head += store_at_function(name, node_.outputs[k]);
        }
        kernel_.body = head + text_.glsl;
    }

    bool mentions(const std::string& name) const {
        return text_.glsl.find(name) != std::string::npos;
    }

    /// Only those that the text mentions: an extent of the rows costs an operand.
    std::string extents(const std::string& name, ValueId value) {
        const Shape& shape = graph_.values[value].shape;
        std::string defines;
        auto add = [&](const std::string& macro, Dim count) {
            if (mentions(macro)) defines += define(macro, glsl_count(count, kernel_.buffers));
        };
        for (int i = 0; i < shape.rank(); ++i) add(name + "_dim" + std::to_string(i), shape[i]);
        add(name + "_count", shape.element_count());
        return defines;
    }

    std::string buffer_names(const std::string& name, ValueId value) {
        return define(name, kernel_.buffers.name_of(value)) +
               define(name + "_load(i)",
                      kernel_.buffers.load(value, "i", scalar_type(graph_.values[value].dtype)));
    }

    std::string load_function(const std::string& name, ValueId value) {
        GlslWriter writer(arena_, kernel_.buffers);
        const Scalar i = arena_.variable(ScalarType::kI32);
        writer.bind(i, "i");
        const std::string element = writer.emit(expressions_.read(value, {i, {}}));
        return type_of(value) + " " + name + "(int i) {\n" + writer.text() + "    return " +
               element + ";\n}\n";
    }

    /// Four elements from the i-th on, a multiple of four: at once where they lie in memory so.
    std::string load_four_function(const std::string& name, ValueId value) {
        const std::string head = "vec4 " + name + "_four(int i) {\n";
        const Scalar i = arena_.variable(ScalarType::kI32);
        const Scalar element = expressions_.read(value, {i, {}});
        const ScalarNode load = element.node();
        const Scalar index{&arena_, load.a};
        const Steps steps(arena_, i, i, 4);
        if (load.op == ScalarOp::kLoad && steps.step(index) == 1 && steps.is_aligned(index)) {
            GlslWriter writer(arena_, kernel_.buffers);
            writer.bind(i, "i");
            const std::string buffer = kernel_.buffers.name_of(load.bits);
            const std::string at = writer.emit(index) + " / 4]";
            switch (device_dtype(graph_.values[load.bits].dtype, options_.caps.narrow_storage())) {
                case DType::kF32:
                    kernel_.vector_loads.push_back(load.bits);
                    return head + writer.text() + "    return " + buffer + "v.at[" + at + ";\n}\n";
                case DType::kF16:
                    kernel_.pair_loads.push_back(load.bits);
                    return head + writer.text() + "    const uvec2 four = " + buffer + "p.at[" +
                           at +
                           ";\n    return vec4(unpackHalf2x16(four.x), "
                           "unpackHalf2x16(four.y));\n}\n";
                default:
                    break;
            }
        }
        return head + "    return vec4(" + name + "(i), " + name + "(i + 1), " + name +
               "(i + 2), " + name + "(i + 3));\n}\n";
    }

    /// What the group stores of an output.  Of several outputs each stores itself: only the reader
    /// of a single one can be fused.
    std::vector<ValueId> stores_of(ValueId value) const {
        std::vector<ValueId> stores(group_.stores);
        if (node_.outputs.size() > 1)
            std::erase_if(stores, [&](ValueId stored) { return stored != value; });
        return stores;
    }

    std::string store_function(const std::string& name, ValueId value) {
        const Scalar i = arena_.variable(ScalarType::kI32);
        GlslWriter writer(arena_, kernel_.buffers);
        writer.bind(i, "i");
        return store_at(name + "(int i", value, writer, {i, {}});
    }

    /// The same by coordinates c0, c1, ..., from which what follows need not be worked out.
    std::string store_at_function(const std::string& name, ValueId value) {
        GlslWriter writer(arena_, kernel_.buffers);
        const Shape& shape = graph_.values[value].shape;
        Coords<Scalar> at;
        std::string parameters = name + "_at(";
        for (int axis = 0; axis < shape.rank(); ++axis) {
            const std::string c = "c" + std::to_string(axis);
            at.axis.push_back(arena_.variable(ScalarType::kI32));
            writer.bind(at[axis], c);
            parameters += (axis == 0 ? "int " : ", int ") + c;
        }
        ScalarPlace place{linear_of(arena_, {{}, at}, shape), {}};
        // Behind a reshape coordinates mean nothing.
        if (std::ranges::all_of(stores_of(value),
                                [&](ValueId v) { return graph_.values[v].shape == shape; }))
            place.coords = at;
        return store_at(parameters, value, writer, place);
    }

    std::string store_at(const std::string& parameters, ValueId value, GlslWriter& writer,
                         const ScalarPlace& place) {
        const Scalar v = arena_.variable(scalar_type(graph_.values[value].dtype));
        writer.bind(v, "v");
        expressions_.define(value, v);
        store_all(writer, kernel_.buffers, expressions_, stores_of(value), place, *place.linear);
        return "void " + parameters + ", " + type_of(value) + " v) {\n" + writer.text() + "}\n";
    }

    std::string type_of(ValueId value) const {
        return std::string(glsl_type(scalar_type(graph_.values[value].dtype)));
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    KernelText text_;
    GroupKernel kernel_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
};

}  // namespace

GroupKernel own_kernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                       const LowerOptions& options) {
    return OwnKernel(graph, group, inlined, options).run();
}

}  // namespace hearth
