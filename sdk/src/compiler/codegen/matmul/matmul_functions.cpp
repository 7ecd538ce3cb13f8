// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/matmul/matmul_functions.hpp"

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"
#include "compiler/kernel/writer.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth {

MatmulExtents::MatmulExtents(const Graph& graph, const Node& product) {
    const Shape& out = graph.values[product.outputs[0]].shape;
    for (int i = 0; i + 2 < out.rank(); ++i) batch.push_back(out[i]);
    m = out[out.rank() - 2];
    n = out[out.rank() - 1];
    const Shape& a = graph.values[product.inputs[0]].shape;
    k = a[a.rank() - (product.attrs.flag("transpose_a") ? 2 : 1)];
}

MatmulFunctions::MatmulFunctions(const Graph& graph, const Group& group,
                                 const std::vector<bool>& inlined, const LowerOptions& options,
                                 Body& body)
    : graph_(graph),
      group_(group),
      node_(node_of(graph, group, OpClass::kMatmul)),
      body_(body),
      operand_(operands_of(graph, options, body)),
      storage_(options.caps.narrow_storage()),
      extents_(graph, node_),
      expressions_(graph, group, inlined),
      arena_(expressions_.arena()) {}

ScalarType MatmulFunctions::number_type() const {
    return scalar_type(graph_.values[node_.outputs[0]].dtype);
}

std::array<const char*, 2> MatmulFunctions::axes_of(size_t input) {
    return input == 0 ? std::array{"m", "k"} : std::array{"k", "n"};
}

uint32_t MatmulFunctions::add_load(size_t input) {
    const Scalar batch = arena_.symbol(ScalarType::kI32);
    const Scalar i = arena_.symbol(ScalarType::kI32);
    const Scalar j = arena_.symbol(ScalarType::kI32);
    FunctionWriter f = begin(input == 0 ? "load_a" : "load_b");
    f.bind_parameter("batch", batch);
    f.bind_parameter(axes_of(input)[0], i);
    f.bind_parameter(axes_of(input)[1], j);
    const ScalarPlace place = operand_place(input, batch, i, j);
    const Expr element = f.writer.emit(expressions_.read(node_.inputs[input], place));
    HEARTH_ASSERT(element.type() == number_type());
    return f.finish_with(element);
}

uint32_t MatmulFunctions::add_gather(std::string name, size_t input, uint32_t load, Chunk chunk,
                                     bool along_k) {
    const auto [first, second] = axes_of(input);
    FunctionWriter f = begin(std::move(name));
    const Expr batch = f.add_parameter("batch", ScalarType::kI32);
    const Expr places[] = {f.add_parameter(first, ScalarType::kI32),
                           f.add_parameter(second, ScalarType::kI32)};
    const Expr counts[] = {f.add_parameter(std::string(first) + "_count", ScalarType::kI32),
                           f.add_parameter(std::string(second) + "_count", ScalarType::kI32)};
    const size_t along = along_k == (input == 0) ? 1 : 0;
    const Expr made = f.writer.declare_chunk(chunk == Chunk::kEight ? "eight" : "four", chunk);
    const Expr i = f.writer.unrolled_for_("i", 4);
    for (uint32_t four = 0; four < length_of(chunk) / 4; ++four) {
        const Expr at = (four == 0 ? places[along] : places[along] + 4 * four) + i;
        const Expr arguments[] = {batch, along == 0 ? at : places[0], along == 1 ? at : places[1]};
        const Expr element = body_.call(load, arguments);
        const Expr zero = body_.constant(0, ScalarType::kF32);
        f.writer.assign(body_.chunk_element(made, i, four),
                        select(at < counts[along], element, zero));
    }
    f.writer.end();
    return f.finish_with(made);
}

void MatmulFunctions::add_results(bool is_early) {
    const Scalar batch = arena_.symbol(ScalarType::kI32);
    const Scalar m = arena_.symbol(ScalarType::kI32);
    const Scalar n = arena_.symbol(ScalarType::kI32);
    const Scalar sum = arena_.symbol(number_type());
    FunctionWriter f = begin("results");
    f.bind_parameter("batch", batch);
    f.bind_parameter("m", m);
    f.bind_parameter("n", n);
    f.bind_parameter("sum", sum);
    expressions_.define(node_.outputs[0], sum);
    const ScalarPlace place = result_place(batch, m, n);
    result_element_ = *place.linear;
    std::vector<Scalar> values;
    for (ValueId v : group_.stores) values.push_back(expressions_.read(v, place));
    is_early_ = is_early;
    if (is_early)
        add_fetch_early(f.writer, f.add_parameter("j", ScalarType::kI32), values, {batch, m, n});
    for (size_t i = 0; i < values.size(); ++i) {
        const Expr content = f.writer.emit(values[i]);
        f.writer.assign(f.add_result("r" + std::to_string(i), content.type()), content);
        (void)operand_(group_.stores[i]);
    }
    results_ = f.finish_with(f.writer.emit(result_element_));
}

void MatmulFunctions::add_fetch_early(KernelWriter& results, Expr element,
                                      std::span<const Scalar> values,
                                      const std::array<Scalar, 3>& place) {
    const IndexAnalysis analysis(arena_, place[2], place[2], 4);
    FunctionWriter f = begin("fetch_early");
    const char* const names[] = {"batch", "m", "n"};
    for (size_t i = 0; i < place.size(); ++i) f.bind_parameter(names[i], place[i]);
    int count = 0;
    for (Scalar load : loads_in(arena_, values)) {
        const ScalarNode node = load.node();
        const Scalar index{&arena_, node.a};
        if (load.type() != ScalarType::kF32 || !reads_only(arena_, index, place)) continue;
        const std::optional<int> step = analysis.step(index);
        Expr four;
        if (step == 0)
            four = body_.fill(Chunk::kFour, f.writer.emit(load));
        else if (step == 1 && analysis.is_aligned(index) && lies_in_vec4(node.bits))
            four = load_four(f.writer, node.bits, index);
        else
            continue;
        const Expr early =
            body_.new_chunk("early" + std::to_string(count++), LocalKind::kPrivate, Chunk::kFour);
        f.writer.assign(early, four);
        results.define(load, body_.chunk_element(early, element));
    }
    (void)f.finish();
}

bool MatmulFunctions::lies_in_vec4(ValueId value) const {
    const DType held = device_dtype(graph_.values[value].dtype, storage_);
    return held == DType::kF32 || held == DType::kF16;
}

Expr MatmulFunctions::load_four(KernelWriter& writer, ValueId value, Scalar index) {
    const uint32_t buffer = operand_(value);
    return body_.load_chunk(Chunk::kFour, buffer, writer.emit(index));
}

std::vector<Expr> MatmulFunctions::add_place(FunctionWriter& f) {
    std::vector<Expr> place;
    for (const char* name : {"batch", "m", "n"})
        place.push_back(f.add_parameter(name, ScalarType::kI32));
    return place;
}

uint32_t MatmulFunctions::add_store() {
    add_results(false);
    FunctionWriter f = begin("store");
    std::vector<Expr> arguments = add_place(f);
    arguments.push_back(f.add_parameter("sum", number_type()));
    std::vector<Expr> contents;
    for (size_t i = 0; i < group_.stores.size(); ++i) {
        const ScalarType type = scalar_type(graph_.values[group_.stores[i]].dtype);
        contents.push_back(f.writer.declare("r" + std::to_string(i), type));
        arguments.push_back(contents.back());
    }
    const Expr at = f.writer.let_call("at", results_, arguments);
    for (size_t i = 0; i < contents.size(); ++i)
        f.writer.store(operand_(group_.stores[i]), at, contents[i]);
    return store_ = f.finish();
}

void MatmulFunctions::add_early_results() {
    add_results(true);
}

void MatmulFunctions::add_store4(bool are_vectors) {
    FunctionWriter f = begin("store4");
    const std::vector<Expr> place = add_place(f);
    const Expr sum = f.add_chunk("sum", Chunk::kFour);
    if (!are_vectors) {
        const Expr j = f.writer.for_("j", body_.index(0), [](Expr i) { return i < 4; });
        const Expr n = place[2] + j;
        f.writer.if_(n < count_of(extents_.n, body_));
        const Expr arguments[] = {place[0], place[1], n, body_.chunk_element(sum, j)};
        f.writer.call(store_, arguments);
        f.writer.end();
        f.writer.end();
        (void)f.finish();
        return;
    }
    std::vector<Expr> contents;
    for (size_t i = 0; i < group_.stores.size(); ++i)
        contents.push_back(f.writer.declare_chunk("r" + std::to_string(i), Chunk::kFour));
    Expr at;
    for (int64_t j = 0; j < 4; ++j) {
        const Expr lane = body_.index(j);
        std::vector<Expr> arguments = {place[0], place[1], place[2] + lane,
                                       body_.chunk_element(sum, lane)};
        if (is_early_) arguments.push_back(lane);
        for (const Expr content : contents) arguments.push_back(body_.chunk_element(content, lane));
        if (j == 0)
            at = f.writer.let_call("at", results_, arguments);
        else
            f.writer.call(results_, arguments);
    }
    for (size_t i = 0; i < contents.size(); ++i)
        f.writer.store_elements(operand_(group_.stores[i]), at, {&contents[i], 1});
    (void)f.finish();
}

std::vector<bool> MatmulFunctions::is_elementwise() const {
    return elementwise_buffers(arena_, operand_values(body_), result_element_);
}

ScalarPlace MatmulFunctions::operand_place(size_t input, Scalar batch, Scalar i, Scalar j) {
    const Shape& shape = graph_.values[node_.inputs[input]].shape;
    const Coords<Scalar> batch_at = coords_of(arena_, {batch, {}}, extents_.batch);
    Coords<Scalar> at;
    for (int axis = 0; axis + 2 < shape.rank(); ++axis) {
        const int from = axis + extents_.batch.rank() - (shape.rank() - 2);
        at.axis.push_back(shape[axis].is_one() ? arena_.index(0) : batch_at[from]);
    }
    const bool transposed = node_.attrs.flag(input == 0 ? "transpose_a" : "transpose_b");
    at.axis.push_back(transposed ? j : i);
    at.axis.push_back(transposed ? i : j);
    return {{}, at};
}

ScalarPlace MatmulFunctions::result_place(Scalar batch, Scalar m, Scalar n) {
    ScalarPlace place;
    // Behind a reshape these coordinates mean nothing; the linear index still does.
    const Shape& space = graph_.values[node_.outputs[0]].shape;
    if (std::all_of(group_.stores.begin(), group_.stores.end(),
                    [&](ValueId v) { return graph_.values[v].shape == space; })) {
        place.coords = coords_of(arena_, {batch, {}}, extents_.batch);
        place.coords->axis.push_back(m);
        place.coords->axis.push_back(n);
    }
    place.linear = (batch * extent_of(arena_, extents_.m) + m) * extent_of(arena_, extents_.n) + n;
    return place;
}

}  // namespace hearth
