// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rows of a tensor written in place, of which no two are meant for one place (write_rows, `distinct`): a thread for each
// element.  As a body and not a text, so that the rows of several tensors are parts of one kernel.
// Bytes moved: the rows once in and once out; an index for each element, mostly from a cache.

#include "compiler/codegen/scatter/rows_kernel.hpp"

#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/kernel/writer.hpp"
#include "core/device_model.hpp"

#include <algorithm>

namespace hearth {

bool writes_distinct_rows(const Graph& graph, const Group& group) {
    if (group.kind != GroupKind::kCustom) return false;
    const Node& node = node_of(graph, group, OpClass::kKernel);
    return node.op->writes_in_place && node.attrs.flag("distinct");
}

Shape written_rows(const Graph& graph, const Group& group) {
    return graph.value(node_of(graph, group, OpClass::kKernel).inputs[2]).shape;
}

KernelPart rows_part(const KernelTask& task, Body& body, Expr workgroup) {
    const auto& [graph, group, inlined, options] = task;
    const Node& node = node_of(graph, group, OpClass::kKernel);
    const auto shape = [&graph = task.graph, &node](size_t input) {
        return graph.value(node.inputs[input]).shape;
    };
    const int64_t width =
        std::max<int64_t>(shape(2).element_count(1) / shape(1).element_count(1), 1);
    const int64_t places = shape(0).element_count(1) / width;
    const Dim count = shape(2).element_count();
    const KernelWriter::Operand operand = operands_of(graph, options, body);
    GroupExpressions expressions(graph, group, inlined);
    ScalarArena& arena = expressions.arena();
    KernelWriter writer(body, arena, operand);
    const auto in_at = [&](size_t input, Expr at) {
        const Scalar element = arena.symbol(ScalarType::kI32);
        writer.bind(element, at);
        return writer.emit(expressions.read(node.inputs[input], {element, {}}));
    };

    const uint32_t threads = usual_workgroup_size(options.caps);
    const uint64_t most = uint64_t{threads} * options.caps.max_compute_work_group_count_x;
    const uint32_t each = items_each(count, options.rows_capacity, most);
    const Expr total = count_of(count, body);
    const Expr start = workgroup * threads + body.invocation();
    Expr i;
    if (each == 1) {
        i = writer.let("i", start);
        writer.if_(i < total);
    } else {
        i = writer.for_(
            "i", start, [&](Expr at) { return at < total; }, body.workgroups() * threads);
    }
    const Expr place =
        writer.let("place", body.as(ScalarType::kI32, in_at(1, writer.let("row", i / width))));
    writer.if_(logical_and(place >= body.index(0), place < places));
    const Scalar to = arena.symbol(ScalarType::kI32);
    const Scalar content = arena.symbol(scalar_type(graph.value(node.outputs[0]).dtype));
    writer.bind(content, writer.let("content", in_at(2, i)));
    writer.bind(to, writer.let("to", place * width + i % width));
    expressions.define(node.outputs[0], content);
    store_all(writer, operand, expressions, group.stores, {to, {}}, to);
    writer.end();
    writer.end();

    KernelPart part;
    part.statements = writer.take();
    part.is_elementwise.assign(body.buffers.size(), false);
    part.threads = threads;
    part.grid = {work_of(count), threads * each};
    return part;
}

// On CPUs they are a custom kernel.
const KernelFamily kRowsFamily = {
    .name = "rows in place",
    .matches =
        [](const KernelTask& task) {
            return !device_model(task.options.caps).keeps_bodies &&
                   writes_distinct_rows(task.graph, task.group);
        },
    .write = [](const KernelTask& task,
                const KernelChoice&) { return kernel_of_part("write_rows", rows_part, task); }};

}  // namespace hearth
