// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/own_kernel.hpp"

#include "codegen/group_expressions.hpp"
#include "codegen/group_kernels.hpp"
#include "codegen/kernel_problem.hpp"
#include "codegen/operands.hpp"
#include "codegen/steps.hpp"
#include "kernels/define.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

class OwnKernel {
  public:
    OwnKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
              const LowerOptions& options)
        : graph_(graph),
          group_(group),
          options_(options),
          node_(find_node()),
          key_(kernel_problem(graph, node_, options.rows_capacity).key()),
          text_(*own_kernel_of(graph, node_, options.caps, options.rows_capacity, measured())),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()) {}

    GroupKernel run() {
        kernel_.name = text_.name;
        kernel_.local_size = text_.local_size;
        kernel_.flops = text_.flops;
        if (text_.variants.size() > 1) kernel_.tunable = key_;
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

    /// The measured choice of a variant if there is one.
    std::string_view measured() const {
        const auto known = options_.variants.find(key_);
        return known == options_.variants.end() ? std::string_view() : known->second;
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
        for (size_t k = node_.op->writes_in_place ? 1 : 0; k < node_.inputs.size(); ++k) {
            const std::string name = "in" + std::to_string(k);
            head += extents(name, node_.inputs[k]);
            head += node_.op->reads_buffers ? buffer_names(name, node_.inputs[k])
                                            : load_function(name, node_.inputs[k]);
            if (mentions(name + "_four(")) head += load_four_function(name, node_.inputs[k]);
            if (mentions(name + "_four_at(")) head += load_four_at_function(name, node_.inputs[k]);
            if (mentions(name + "_half(")) head += load_half_function(name, node_.inputs[k]);
            if (mentions(name + "_eight(")) head += load_eight_function(name, node_.inputs[k]);
        }
        for (size_t k = 0; k < node_.outputs.size(); ++k) {
            const std::string name = "out" + std::to_string(k);
            head += extents(name, node_.outputs[k]) + store_function(name, node_.outputs[k]);
            if (mentions(name + "_at(")) head += store_at_function(name, node_.outputs[k], 1);
            if (mentions(name + "_four_at(")) head += store_at_function(name, node_.outputs[k], 4);
            if (mentions(name + "_eight_at(")) head += store_at_function(name, node_.outputs[k], 8);
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

    /// The value whose buffer holds the elements just as they are read; none if they are computed.
    std::optional<uint32_t> buffer_of(ValueId value) {
        const Scalar i = arena_.variable(ScalarType::kI32);
        const ScalarNode load = arena_.node(expressions_.read(value, {i, {}}).id);
        if (load.op != ScalarOp::kLoad || load.a != i.id) return {};
        return load.bits;
    }

    DType held(ValueId value) const {
        return device_dtype(graph_.values[value].dtype, options_.caps.narrow_storage());
    }

    bool is_in_eights(ValueId value) const {
        const Dim count = graph_.values[value].shape.element_count();
        return held(value) == DType::kF16 && !count.per_row && count.count % 8 == 0;
    }

    /// Four elements from the i-th on, a multiple of four: at once where they lie in memory so.
    std::string load_four_function(const std::string& name, ValueId value) {
        const Scalar i = arena_.variable(ScalarType::kI32);
        GlslWriter writer(arena_, kernel_.buffers);
        writer.bind(i, "i");
        return load_four(
            name + "_four(int i", value, writer, {i, {}}, i,
            "vec4(" + name + "(i), " + name + "(i + 1), " + name + "(i + 2), " + name + "(i + 3))");
    }

    /// The same by coordinates c0, c1, ..., of which the last is the multiple of four.
    std::string load_four_at_function(const std::string& name, ValueId value) {
        GlslWriter writer(arena_, kernel_.buffers);
        std::string parameters = name + "_four_at(";
        const Coords<Scalar> at = coordinates(writer, value, parameters);
        const Scalar last = at[at.rank() - 1];
        const std::string i = writer.emit(linear_of(arena_, {{}, at}, graph_.values[value].shape));
        return load_four(parameters, value, writer, {{}, at}, last,
                         "vec4(" + name + "(" + i + "), " + name + "(" + i + " + 1), " + name +
                             "(" + i + " + 2), " + name + "(" + i + " + 3))");
    }

    /// parameters  of the function so far; the elements are at `place`, where `element` moves.
    std::string load_four(const std::string& parameters, ValueId value, GlslWriter& writer,
                          const ScalarPlace& place, Scalar element, const std::string& one_by_one) {
        const std::string head = "vec4 " + parameters + ") {\n";
        const ScalarNode load = expressions_.read(value, place).node();
        const Scalar index{&arena_, load.a};
        const Steps steps(arena_, element, element, 4);
        if (load.op == ScalarOp::kLoad && steps.step(index) == 1 && steps.is_aligned(index)) {
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
        return head + writer.text() + "    return " + one_by_one + ";\n}\n";
    }

    /// New variables c0, c1, ... for the value's coordinates, added to a function's parameters.
    Coords<Scalar> coordinates(GlslWriter& writer, ValueId value, std::string& parameters) {
        Coords<Scalar> at;
        for (int axis = 0; axis < graph_.values[value].shape.rank(); ++axis) {
            const std::string c = "c" + std::to_string(axis);
            at.axis.push_back(arena_.variable(ScalarType::kI32));
            writer.bind(at[axis], c);
            parameters += (axis == 0 ? "int " : ", int ") + c;
        }
        return at;
    }

    std::string load_half_function(const std::string& name, ValueId value) {
        const std::optional<uint32_t> buffer = buffer_of(value);
        const bool is_held = buffer && held(*buffer) == DType::kF16;
        return "float16_t " + name + "_half(int i) {\n    return " +
               (is_held ? kernel_.buffers.name_of(*buffer) + ".at[i]"
                        : "float16_t(" + name + "(i))") +
               ";\n}\n";
    }

    std::string load_eight_function(const std::string& name, ValueId value) {
        const std::string head = "uvec4 " + name + "_eight(int i) {\n";
        const std::optional<uint32_t> buffer = buffer_of(value);
        if (buffer && is_in_eights(*buffer)) {
            kernel_.word_loads.push_back(*buffer);
            return head + "    return " + kernel_.buffers.name_of(*buffer) + "w.at[i / 8];\n}\n";
        }
        std::string pairs;
        for (int e = 0; e < 8; e += 2)
            pairs += (e == 0 ? "" : ", ") + ("packHalf2x16(vec2(" + name) + "(i + " +
                     std::to_string(e) + "), " + name + "(i + " + std::to_string(e + 1) + ")))";
        return head + "    return uvec4(" + pairs + ");\n}\n";
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

    /// The same by coordinates c0, c1, ..., from which what follows need not be worked out: of one
    /// element, or of four or eight along the last axis.
    std::string store_at_function(const std::string& name, ValueId value, int lanes) {
        GlslWriter writer(arena_, kernel_.buffers);
        const Shape& shape = graph_.values[value].shape;
        Coords<Scalar> at;
        std::string parameters = name + (lanes == 1   ? "_at("
                                         : lanes == 4 ? "_four_at("
                                                      : "_eight_at(");
        for (int axis = 0; axis < shape.rank(); ++axis) {
            const std::string c = "c" + std::to_string(axis);
            at.axis.push_back(arena_.variable(ScalarType::kI32));
            writer.bind(at[axis], c);
            parameters += (axis == 0 ? "int " : ", int ") + c;
        }
        const auto place_of = [&](int lane) {
            Coords<Scalar> to = at;
            const size_t last = at.axis.size() - 1;
            if (lane > 0) to.axis[last] = at.axis[last] + arena_.index(lane);
            ScalarPlace place{linear_of(arena_, {{}, to}, shape), {}};
            // Behind a reshape coordinates mean nothing.
            if (std::ranges::all_of(stores_of(value),
                                    [&](ValueId v) { return graph_.values[v].shape == shape; }))
                place.coords = to;
            return place;
        };
        if (lanes == 1) return store_at(parameters, value, writer, place_of(0));
        const std::vector<ValueId> stores = stores_of(value);
        std::vector<std::vector<std::string>> contents(stores.size());
        for (int lane = 0; lane < lanes; ++lane) {
            const Scalar v = arena_.variable(scalar_type(graph_.values[value].dtype));
            writer.bind(v, (lane < 4 ? "v[" : "after[") + std::to_string(lane % 4) + "]");
            expressions_.define(value, v);
            const ScalarPlace place = place_of(lane);
            for (size_t k = 0; k < stores.size(); ++k)
                contents[k].push_back(writer.emit(expressions_.read(stores[k], place)));
        }
        const std::string where = writer.emit(*place_of(0).linear);
        for (size_t k = 0; k < stores.size(); ++k)
            store_vector(writer, stores[k], where, contents[k]);
        return "void " + parameters + ", vec4 v" + (lanes == 8 ? ", vec4 after" : "") + ") {\n" +
               writer.text() + "}\n";
    }

    std::string store_at(const std::string& parameters, ValueId value, GlslWriter& writer,
                         const ScalarPlace& place) {
        const Scalar v = arena_.variable(scalar_type(graph_.values[value].dtype));
        writer.bind(v, "v");
        expressions_.define(value, v);
        store_all(writer, kernel_.buffers, expressions_, stores_of(value), place, *place.linear);
        return "void " + parameters + ", " + type_of(value) + " v) {\n" + writer.text() + "}\n";
    }

    /// Neighbours in memory from element `where` on, in as few stores as the buffer allows.
    void store_vector(GlslWriter& writer, ValueId value, const std::string& where,
                      const std::vector<std::string>& contents) {
        const auto element = [&](size_t k) {
            return k == 0 ? where : where + " + " + std::to_string(k);
        };
        const std::string buffer = kernel_.buffers.name_of(value);
        if (held(value) == DType::kF32 && graph_.values[value].dtype == DType::kF32) {
            kernel_.vector_loads.push_back(value);
            for (size_t k = 0; k < contents.size(); k += 4)
                writer.line(buffer + "v.at[(" + element(k) + ") / 4] = vec4(" + contents[k] + ", " +
                            contents[k + 1] + ", " + contents[k + 2] + ", " + contents[k + 3] +
                            ");");
            return;
        }
        if (held(value) == DType::kF16) {
            std::string pairs;
            for (size_t k = 0; k < contents.size(); k += 2)
                pairs += (k == 0 ? "" : ", ") +
                         ("packHalf2x16(vec2(hearth_round_f16(" + contents[k]) +
                         "), hearth_round_f16(" + contents[k + 1] + ")))";
            const bool are_eight = contents.size() == 8;
            (are_eight ? kernel_.word_loads : kernel_.pair_loads).push_back(value);
            writer.line(buffer + (are_eight ? "w.at[" : "p.at[") + where + " / " +
                        std::to_string(contents.size()) +
                        "] = " + (are_eight ? "uvec4(" : "uvec2(") + pairs + ");");
            return;
        }
        for (size_t k = 0; k < contents.size(); ++k)
            writer.line(kernel_.buffers.store(value, element(k), contents[k]));
    }

    std::string type_of(ValueId value) const {
        return std::string(glsl_type(scalar_type(graph_.values[value].dtype)));
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    std::string key_;  ///< of what is computed, for tuning
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
