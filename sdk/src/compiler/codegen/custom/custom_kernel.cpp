// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/custom/custom_kernel.hpp"

#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/codegen/shared/vector_access.hpp"
#include "compiler/ir/custom_kernel.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/function_writer.hpp"
#include "compiler/kernel/kernel_builder.hpp"
#include "compiler/kernel/writer.hpp"
#include "compiler/print/glsl_elements.hpp"
#include "compiler/shaders/define.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

class CustomKernelWriter {
  public:
    /// is_serial: a body has one invocation per workgroup; see needs_workgroup().
    CustomKernelWriter(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
                       const LowerOptions& options, bool is_serial)
        : is_serial_(is_serial),
          graph_(graph),
          group_(group),
          options_(options),
          node_(node_of(graph, group, OpClass::kKernel)),
          key_(kernel_problem(graph, node_, options.rows_capacity).key()),
          text_(*custom_kernel_of(graph, node_, options.caps, options.rows_capacity, measured())),
          operand_(operands_of(graph, options, *body_)),
          expressions_(graph, group, inlined),
          access_(graph, group, options, *body_, operand_, expressions_),
          arena_(expressions_.arena()) {}

    KernelDraft run() {
        kernel_.name = text_.name;
        kernel_.local_size = text_.local_size;
        kernel_.flops = text_.flops;
        kernel_.calls_math = uses("math.glsl");
        if (text_.variants.size() > 1) kernel_.tunable = key_;
        for (size_t axis = 0; axis < 3; ++axis) kernel_.grid[axis] = grid_axis(axis);
        kernel_.status = check_kind();
        if (!kernel_.status.ok()) return std::move(kernel_);
        if (text_.body)
            describe();
        else if (text_.spirv.empty())
            write_functions();
        else
            bind_finished_code();
        kernel_.is_elementwise.assign(kernel_.buffers.values.size(), false);
        return std::move(kernel_);
    }
    /// True if run() described a body whose invocations work together.
    bool needs_workgroup() const { return needs_workgroup_; }

  private:
    Status check_kind() const {
        const int kinds =
            (text_.body ? 1 : 0) + (text_.glsl.empty() ? 0 : 1) + (text_.spirv.empty() ? 0 : 1);
        if (kinds != 1)
            return invalid_argument(std::string(node_.op->name) + ": its kernel rule returns " +
                                    std::to_string(kinds) +
                                    " of body, glsl and spirv; expected one of them");
        const bool has_one_axis = text_.local_size[1] == 1 && text_.local_size[2] == 1 &&
                                  text_.grid[1].work_items.is_one() &&
                                  text_.grid[2].work_items.is_one();
        if (text_.body && (!has_one_axis || text_.local_size[0] == 0))
            return invalid_argument(std::string(node_.op->name) +
                                    ": its kernel's local_size and grid have more axes than x; "
                                    "expected local_size {n, 1, 1} and grid {{{items, tile}}}");
        return {};
    }

    /// The kernel as the rule's body, which loads and stores through this group's expressions.
    void describe() {
        KernelWriter writer(*body_, arena_, operand_);
        KernelBuilder::State state{.body = *body_, .arena = arena_, .writer = writer};
        const auto operand = [&](ValueId v) -> KernelBuilder::State::Operand {
            return {graph_.values[v].shape, scalar_type(graph_.values[v].dtype)};
        };
        for (ValueId v : node_.inputs) state.inputs.push_back(operand(v));
        for (ValueId v : node_.outputs) state.outputs.push_back(operand(v));
        state.load = [&](size_t k, Scalar i) {
            if (k == 0 && node_.op->writes_in_place && state.error.ok())
                state.error = invalid_argument("it reads input 0, which it writes in place");
            return expressions_.read(node_.inputs[k], {i, {}});
        };
        state.store = [&](size_t k, Scalar i, Scalar value) {
            expressions_.define(node_.outputs[k], value);
            store_all(writer, operand_, expressions_, access_.stores_of(node_, node_.outputs[k]),
                      {i, {}}, i);
        };
        state.threads = is_serial_ ? 1 : text_.local_size[0];
        state.is_serial = is_serial_;
        writer.nest_conditions();
        writer.report_misuse(state.error);
        arena_.note_misuse();
        KernelBuilder builder(state);
        text_.body(builder);
        body_->statements = writer.take();
        body_->threads = state.threads;
        needs_workgroup_ = state.uses_workgroup;
        if (!arena_.misuse().empty()) state.error = invalid_argument(arena_.misuse());
        kernel_.status = state.error.with_context(std::string(node_.op->name));
        set_body(kernel_, body_);
    }

    /// The measured choice of a variant if there is one.
    std::string_view measured() const {
        const auto known = options_.variants.find(key_);
        return known == options_.variants.end() ? std::string_view() : known->second;
    }

    GridAxis grid_axis(size_t axis) const {
        const auto [items, per_group] = text_.grid[axis];
        if (axis != 0) return {work_of(items), per_group};
        const uint64_t most = uint64_t{options_.caps.max_compute_work_group_count_x} * per_group;
        return {work_of(items), per_group * items_each(items, options_.rows_capacity, most)};
    }

    void bind_finished_code() {
        HEARTH_ASSERT(node_.op->is_opaque);
        kernel_.spirv = text_.spirv;
        std::vector<uint32_t>& values = kernel_.buffers.values;
        values.assign(node_.inputs.begin(), node_.inputs.end());
        values.insert(values.end(), node_.outputs.begin(), node_.outputs.end());
        kernel_.buffers.uses_rows = text_.spirv_reads_rows;
    }

    /// The functions by which the text reaches its operands, as a body ahead of it.
    void write_functions() {
        for (size_t k = node_.op->writes_in_place ? 1 : 0; k < node_.inputs.size(); ++k) {
            const std::string name = "in" + std::to_string(k);
            const ValueId value = node_.inputs[k];
            add_extents(name, value);
            if (node_.op->is_opaque)
                name_buffer(name, value);
            else
                add_load(name, value);
            if (uses(name + "_four")) add_load_four(name, value);
            if (uses(name + "_four_at")) add_load_four_at(name, value);
            if (uses(name + "_half")) add_load_half(name, value);
            if (uses(name + "_eight")) add_load_eight(name, value);
        }
        for (size_t k = 0; k < node_.outputs.size(); ++k) {
            const std::string name = "out" + std::to_string(k);
            const ValueId value = node_.outputs[k];
            add_extents(name, value);
            add_store(name, value);
            if (uses(name + "_at")) add_store_at(name + "_at", value, 1);
            if (uses(name + "_four_at")) add_store_at(name + "_four_at", value, 4);
            if (uses(name + "_eight_at")) add_store_at(name + "_eight_at", value, 8);
        }
        set_functions(kernel_, body_);
        kernel_.buffers.uses_rows |= has_rows_;
        kernel_.head = macros_;
        kernel_.text = text_.glsl;
        kernel_.has_matrices = text_.has_matrices;
    }

    bool uses(std::string_view name) const {
        return std::find(text_.helpers.begin(), text_.helpers.end(), name) != text_.helpers.end();
    }

    void add_extents(const std::string& name, ValueId value) {
        const Shape& shape = graph_.values[value].shape;
        const auto add = [&](const std::string& extent, Dim count) {
            macros_ += define(name + extent, glsl_count(count));
            has_rows_ |= count.is_batch;
        };
        for (int i = 0; i < shape.rank(); ++i) add("_dim" + std::to_string(i), shape[i]);
        add("_count", shape.element_count());
    }

    void name_buffer(const std::string& name, ValueId value) {
        const BodyBuffer& buffer = body_->buffers[operand_(value)];
        macros_ +=
            define(name, buffer.name) +
            define(name + "_load(i)", load_text(held_type(buffer.held), buffer.name + ".at[i]"));
    }

    FunctionWriter begin(std::string name) { return {*body_, arena_, operand_, std::move(name)}; }
    /// Parameters c0, c1, ... for the value's coordinates.
    Coords<Scalar> add_coordinates(FunctionWriter& f, ValueId value) {
        Coords<Scalar> at;
        for (int axis = 0; axis < graph_.values[value].shape.rank(); ++axis)
            at.axis.push_back(f.add_variable("c" + std::to_string(axis), ScalarType::kI32));
        return at;
    }

    void add_load(const std::string& name, ValueId value) {
        FunctionWriter f = begin(name);
        const Scalar i = f.add_variable("i", ScalarType::kI32);
        load_ = f.finish_with(f.writer.emit(expressions_.read(value, {i, {}})));
    }

    /// The value whose buffer holds the elements just as they are read; none if they are computed.
    std::optional<uint32_t> buffer_of(ValueId value) {
        const Scalar i = arena_.symbol(ScalarType::kI32);
        const ScalarNode load = arena_.node(expressions_.read(value, {i, {}}).id);
        if (load.op != ScalarOp::kLoad || load.a != i.id) return {};
        return load.bits;
    }

    DType held(ValueId value) const {
        return device_dtype(graph_.values[value].dtype, options_.caps.narrow_storage());
    }

    bool is_in_eights(ValueId value) const {
        const Dim count = graph_.values[value].shape.element_count();
        return held(value) == DType::kF16 && !count.is_batch && count.count % 8 == 0;
    }

    /// Four elements from the i-th on, a multiple of four: at once where they lie in memory so.
    void add_load_four(const std::string& name, ValueId value) {
        FunctionWriter f = begin(name + "_four");
        const Scalar i = f.add_variable("i", ScalarType::kI32);
        load_four(f, value, {i, {}}, i, i);
    }

    /// The same by coordinates, of which the last is the multiple of four.
    void add_load_four_at(const std::string& name, ValueId value) {
        FunctionWriter f = begin(name + "_four_at");
        const Coords<Scalar> at = add_coordinates(f, value);
        const Scalar i = linear_of(arena_, {{}, at}, graph_.values[value].shape);
        (void)f.writer.emit(i);
        load_four(f, value, {{}, at}, at[at.rank() - 1], i);
    }

    /// The elements are at `place`, where `element` moves; the first one is the i-th.
    void load_four(FunctionWriter& f, ValueId value, const ScalarPlace& place, Scalar element,
                   Scalar i) {
        const std::optional<Expr> four = access_.load_vector(f.writer, value, place, element);
        (void)f.finish_with(four ? *four : body_->gather(Chunk::kFour, load_, f.writer.emit(i)));
    }

    void add_load_half(const std::string& name, ValueId value) {
        const std::optional<uint32_t> buffer = buffer_of(value);
        FunctionWriter f = begin(name + "_half");
        const Expr i = f.add_parameter("i", ScalarType::kI32);
        (void)f.finish_with(buffer && held(*buffer) == DType::kF16
                                ? body_->load_chunk(Chunk::kHalf, operand_(*buffer), i)
                                : body_->fill(Chunk::kHalf, body_->call(load_, i)));
    }

    void add_load_eight(const std::string& name, ValueId value) {
        const std::optional<uint32_t> buffer = buffer_of(value);
        FunctionWriter f = begin(name + "_eight");
        const Expr i = f.add_parameter("i", ScalarType::kI32);
        (void)f.finish_with(buffer && is_in_eights(*buffer)
                                ? body_->load_chunk(Chunk::kHalves, operand_(*buffer), i)
                                : body_->gather(Chunk::kHalves, load_, i));
    }

    void add_store(const std::string& name, ValueId value) {
        FunctionWriter f = begin(name);
        const Scalar i = f.add_variable("i", ScalarType::kI32);
        store_at(f, value, {i, {}});
    }

    /// The same by coordinates, from which what follows need not be worked out: of one element, or
    /// of four or eight along the last axis.
    void add_store_at(const std::string& name, ValueId value, uint32_t lanes) {
        FunctionWriter f = begin(name);
        const Coords<Scalar> at = add_coordinates(f, value);
        if (lanes == 1) return store_at(f, value, access_.store_place(node_, value, at, 0));
        std::vector<Expr> fours;
        for (uint32_t first = 0; first < lanes; first += 4) {
            fours.push_back(f.add_chunk(first == 0 ? "v" : "after", Chunk::kFour));
        }
        std::vector<Expr> contents;
        for (uint32_t lane = 0; lane < lanes; ++lane)
            contents.push_back(body_->chunk_element(fours[lane / 4], body_->index(lane % 4)));
        access_.store_vector(f.writer, node_, value, at, contents);
        (void)f.finish();
    }

    void store_at(FunctionWriter& f, ValueId value, const ScalarPlace& place) {
        const Scalar v = f.add_variable("v", scalar_type(graph_.values[value].dtype));
        expressions_.define(value, v);
        store_all(f.writer, operand_, expressions_, access_.stores_of(node_, value), place,
                  *place.linear);
        (void)f.finish();
    }

    const bool is_serial_;
    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    std::string key_;  ///< of what is computed, for tuning
    CustomKernel text_;
    KernelDraft kernel_;
    const std::shared_ptr<Body> body_ = std::make_shared<Body>();
    KernelWriter::Operand operand_;
    GroupExpressions expressions_;
    VectorAccess access_;
    ScalarArena& arena_;
    std::string macros_;     ///< names of extents, and of buffers
    bool has_rows_ = false;  ///< an extent depends on the live rows
    bool needs_workgroup_ = false;
    uint32_t load_ = 0;  ///< the function that loads an element of the present input
};

}  // namespace

KernelDraft custom_kernel(const KernelTask& task) {
    const auto& [graph, group, inlined, options] = task;
    if (device_model(options.caps).vectorizes_loops) {
        // Where each invocation works alone, a workgroup is one that takes its elements in turn.
        CustomKernelWriter serial(graph, group, inlined, options, true);
        KernelDraft kernel = serial.run();
        if (!serial.needs_workgroup()) return kernel;
    }
    return CustomKernelWriter(graph, group, inlined, options, false).run();
}

}  // namespace hearth
