// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/matmul/matmul_rows.hpp"

#include "compiler/codegen/shared/extents.hpp"
#include "compiler/codegen/shared/fold.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

std::optional<MatmulPrologue> prologue_of(const KernelTask& task) {
    const bool folds = std::ranges::any_of(task.group.nodes, [&](NodeId n) {
        return task.graph.nodes[n].op->op_class == OpClass::kReduce;
    });
    if (!folds) return std::nullopt;
    const auto product = static_cast<NodeId>(&task.node() - task.graph.nodes.data());
    return find_matmul_prologue(task.graph, product);
}

void MatmulRows::make_rows(Expr slice, int64_t stride) {
    raw_ = arena_.symbol(ScalarType::kF32);
    m_ = arena_.symbol(ScalarType::kI32);
    k_ = arena_.symbol(ScalarType::kI32);
    expressions_.set_resident([this](ValueId value, const ScalarPlace&) {
        return value == prologue_->raw ? std::optional<Scalar>(raw_) : std::nullopt;
    });
    w_.block("rows");
    lane_ = w_.let("row_lane", thread_ % lanes());
    w_.bind(m_, w_.let("row_m", lesser(first_m_ + thread_ / lanes(), m_count_ - 1)));
    row_ = fours_array("row");
    load_row();
    for (const NodeId n : prologue_->nodes)
        if (graph_.nodes[n].op->op_class == OpClass::kReduce) fold_row(graph_.nodes[n]);
    const Scalar operand = expressions_.read(node_.inputs[0], operand_place(0, m_, k_));
    load_params(operand);
    for_each_of_row([&](Expr element) { w_.assign(element, w_.emit(operand)); });
    const Expr u = w_.unrolled_for_("u", chunks());
    const Expr chunk = w_.let("chunk", u * lanes() + lane_);
    w_.if_(chunk < tile_.bk / 8);
    const Expr low = body_->element(row_, u * 2), high = body_->element(row_, u * 2 + 1);
    w_.assign(body_->element(slice, thread_ / lanes() * stride + chunk),
              body_->reinterpret(body_->join(Chunk::kHalves, low, high)));
    end(3);
    expressions_.set_resident({});
}

Expr MatmulRows::fours_array(const char* name) {
    return w_.declare_chunks(name, Chunk::kFour, static_cast<uint32_t>(2 * chunks()));
}

/// Eight elements at a time, zeros beyond the last.
void MatmulRows::load_row() {
    const uint32_t buffer = operand_(prologue_->raw);
    const bool are_halves = body_->buffers[buffer].held == DType::kF16;
    const Expr u = w_.unrolled_for_("u", chunks());
    const Expr k = w_.let("k", (u * lanes() + lane_) * 8);
    for (int64_t half = 0; half < 2; ++half)
        w_.assign(body_->element(row_, u * 2 + half), four_zeros());
    w_.if_(k < k_end_);
    w_.bind(k_, k);
    const Scalar row = batch_index_ * extent_of(arena_, extents_.m) + m_;
    const Expr at = w_.emit(row * extent_of(arena_, extents_.k) + k_);
    const Expr halves =
        are_halves ? w_.let("halves", body_->load_chunk(Chunk::kHalves, buffer, at)) : Expr();
    for (int64_t half = 0; half < 2; ++half)
        w_.assign(body_->element(row_, u * 2 + half),
                  are_halves ? body_->part(halves, static_cast<uint32_t>(half))
                             : body_->load_chunk(Chunk::kFour, buffer, at + 4 * half));
    end(2);
}

/// Loads what the operand reads besides the row four at a time: scale and bias.
void MatmulRows::load_params(Scalar operand) {
    const Scalar variables[] = {batch_index_, m_, k_};
    const IndexAnalysis analysis(arena_, k_, k_, 4);
    for (const Scalar load : loads_in(arena_, {&operand, 1})) {
        const ScalarNode node = load.node();
        const Scalar at{&arena_, node.a};
        const auto value = static_cast<ValueId>(node.bits);
        if (load.type() != ScalarType::kF32 || !reads_only(arena_, at, variables) ||
            analysis.step(at) != 1 || !analysis.is_aligned(at) || !lies_in_fours(value))
            continue;
        const Expr param = fours_array("param");
        const Expr u = w_.unrolled_for_("u", 2 * chunks());
        const Expr k = w_.let("k", k_of_four(u));
        w_.assign(body_->element(param, u), four_zeros());
        w_.if_(k < k_end_);
        w_.bind(k_, k);
        w_.assign(body_->element(param, u), load_four(value, at));
        end(2);
        params_.emplace_back(load, param);
    }
}

/// Calls `statement` where expressions of k and the row's element are those of one that the invocation holds.
template <class Statement>
void MatmulRows::for_each_of_row(const Statement& statement) {
    const Expr u = w_.unrolled_for_("u", 2 * chunks());
    const Expr four = w_.let("k_of_four", k_of_four(u));
    w_.if_(four < k_end_);
    const Expr j = w_.unrolled_for_("j", 4);
    w_.bind(k_, w_.let("k", four + j));
    const Expr element = body_->chunk_element(body_->element(row_, u), j);
    w_.bind(raw_, w_.let("raw", element));
    for (const auto& [load, param] : params_)
        w_.define(load, body_->chunk_element(body_->element(param, u), j));
    statement(element);
    end(3);
}

/// A reduction of the row: each invocation's elements, then those of its neighbours.
void MatmulRows::fold_row(const Node& node) {
    const ReduceOp fold = node.op->reduce;
    const ValueId input = node.inputs[0];
    const Scalar term = expressions_.read(input, row_place(graph_.values[input].shape));
    const Expr start = body_->constant(fold_start(fold, DType::kF32), ScalarType::kF32);
    const Expr result = w_.declare("fold", ScalarType::kF32, start);
    for_each_of_row([&](Expr) { w_.assign(result, fold_step(fold, result, w_.emit(term))); });
    const Expr of_lane =
        body_->global("of_lane", LocalKind::kShared, ScalarType::kF32, body_->threads);
    w_.assign(body_->element(of_lane, thread_), result);
    w_.barrier();
    const Expr first = w_.let("first", thread_ - lane_);
    w_.assign(result, body_->element(of_lane, first));
    const Expr l = w_.for_("l", index(1), [&](Expr turn) { return turn < lanes(); });
    w_.assign(result, fold_step(fold, result, body_->element(of_lane, first + l)));
    w_.end();
    w_.barrier();
    const Scalar folded = arena_.symbol(ScalarType::kF32);
    expressions_.define(node.outputs[0], folded);
    w_.bind(folded, w_.let("folded", result));
}

/// The place in a tensor of whole rows, or of a number for each, of the operand's element.
ScalarPlace MatmulRows::row_place(const Shape& shape) {
    const Scalar row = batch_index_ * extent_of(arena_, extents_.m) + m_;
    Shape outer = shape;
    outer[shape.rank() - 1] = Dim(1);
    ScalarPlace place{row * extent_of(arena_, extents_.k) + k_,
                      coords_of(arena_, {row, {}}, outer)};
    (*place.coords)[shape.rank() - 1] = k_;
    return place;
}

}  // namespace hearth
