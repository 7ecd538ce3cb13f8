// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators that are no formula: the body of OpDef::kernel, or on GPUs its text, with reads and writes as
// functions of a body.

#include "compiler/ir/custom_kernel.hpp"

#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/operator_kernel.hpp"
#include "compiler/kernel/function_writer.hpp"
#include "compiler/kernel/kernel_builder.hpp"
#include "compiler/print/glsl.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

class CustomKernelWriter : OperatorKernel {
  public:
    /// is_serial: a body has one invocation per workgroup; see needs_workgroup().
    CustomKernelWriter(const KernelTask& task, bool is_serial)
        : OperatorKernel(task),
          is_serial_(is_serial),
          key_(kernel_problem(graph_, node_, options_.rows_capacity).key()),
          text_(*custom_kernel_of(graph_, node_, options_.caps, options_.rows_capacity,
                                  measured())) {}

    KernelDraft run() {
        kernel_.name = text_.name;
        kernel_.local_size = text_.local_size;
        kernel_.flops = text_.flops;
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
        KernelBuilder::State state{.body = *body_, .arena = arena_, .writer = w_};
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
            store_all(w_, operand_, expressions_, access_.stores_of(node_, node_.outputs[k]),
                      {i, {}}, i);
        };
        state.threads = is_serial_ ? 1 : text_.local_size[0];
        state.is_serial = is_serial_;
        w_.nest_conditions();
        w_.report_misuse(state.error);
        arena_.note_misuse();
        KernelBuilder builder(state);
        text_.body(builder);
        body_->statements = w_.take();
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
        }
        for (size_t k = 0; k < node_.outputs.size(); ++k) {
            const std::string name = "out" + std::to_string(k);
            const ValueId value = node_.outputs[k];
            add_extents(name, value);
            add_store(name, value);
        }
        set_functions(kernel_, body_);
        kernel_.buffers.uses_rows |= has_rows_;
        kernel_.head = macros_;
        kernel_.text = text_.glsl;
    }

    void add_extents(const std::string& name, ValueId value) {
        const Shape& shape = graph_.values[value].shape;
        const auto add = [&](const std::string& extent, Dim count) {
            define(name + extent, glsl_count(count));
            has_rows_ |= count.is_batch;
        };
        for (int i = 0; i < shape.rank(); ++i) add("_dim" + std::to_string(i), shape[i]);
        add("_count", shape.element_count());
    }

    void define(const std::string& name, const std::string& value) {
        macros_ += "#define " + name + " " + value + "\n";
    }

    void name_buffer(const std::string& name, ValueId value) {
        const BodyBuffer& buffer = body_->buffers[operand_(value)];
        define(name, buffer.name);
        define(name + "_load(i)", glsl_loaded(buffer.held, buffer.name + ".at[i]"));
    }

    void add_load(const std::string& name, ValueId value) {
        FunctionWriter f(*body_, arena_, operand_, name);
        const Scalar i = f.add_variable("i", ScalarType::kI32);
        (void)f.finish_with(f.writer.emit(expressions_.read(value, {i, {}})));
    }

    void add_store(const std::string& name, ValueId value) {
        FunctionWriter f(*body_, arena_, operand_, name);
        const Scalar i = f.add_variable("i", ScalarType::kI32);
        const Scalar v = f.add_variable("v", scalar_type(graph_.values[value].dtype));
        expressions_.define(value, v);
        store_all(f.writer, operand_, expressions_, access_.stores_of(node_, value), {i, {}}, i);
        (void)f.finish();
    }

    const bool is_serial_;
    std::string key_;  ///< of what is computed, for tuning
    CustomKernel text_;
    KernelDraft kernel_;
    std::string macros_;     ///< names of extents, and of buffers
    bool has_rows_ = false;  ///< an extent depends on the live rows
    bool needs_workgroup_ = false;
};

KernelDraft write(const KernelTask& task) {
    if (device_model(task.options.caps).vectorizes_loops) {
        // Where each invocation works alone, a workgroup is one that takes its elements in turn.
        CustomKernelWriter serial(task, true);
        KernelDraft kernel = serial.run();
        if (!serial.needs_workgroup()) return kernel;
    }
    return CustomKernelWriter(task, false).run();
}

}  // namespace

const KernelFamily kCustomFamily = {
    .name = "custom",
    .matches =
        [](const KernelTask& task) {
            return task.group.kind == GroupKind::kCustom &&
                   (!device_model(task.options.caps).keeps_bodies ||
                    has_body(task.graph, task.node(), task.options.caps,
                             task.options.rows_capacity));
        },
    .write = [](const KernelTask& task, const KernelChoice&) { return write(task); }};

}  // namespace hearth
