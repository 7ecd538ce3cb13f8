// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/vec8.hpp"

#include <algorithm>

namespace hearth {

namespace {

Expr four_of(Expr eight, int half) {
    Body& body = *eight.body;
    std::vector<Expr> four;
    for (int t = 0; t < 4; ++t) four.push_back(body.element(eight, body.index(4 * half + t)));
    return body.compose(four);
}

}  // namespace

bool is_half_tile(const NetworkPlan& plan, ValueId v) {
    const RowTile* tile = plan.tile_for(v);
    return tile != nullptr && tile->is_half();
}

// -------------------------------------------------------------------------------------- reads

std::optional<Scalar> EightScope::resident(uint32_t level, ValueId v, const ScalarPlace& at) {
    if (const std::optional<Scalar> known = number(v)) return known;
    if (inner_)
        if (const std::optional<Scalar> read = read_eight(level, v, at)) return read;
    return NetworkScope::resident(level, v, at);
}

/// Where the value's element is the row's of the same place.
std::optional<Scalar> EightScope::read_eight(uint32_t level, ValueId v, const ScalarPlace& at) {
    const Value& value = frame_.graph.value(v);
    const int rank = value.shape.rank();
    if (!is_floating(value.dtype) || !at.coords || rank == 0 || at.coords->rank() != rank ||
        value.shape[rank - 1].is_batch || value.shape[rank - 1].count % 8 != 0 ||
        (*at.coords)[rank - 1].id != inner_->id)
        return std::nullopt;
    const bool has_row =
        rank == 2 && value.shape[0] == frame_.region.rows && (*at.coords)[0].id == row.id;
    if (!has_row && value.shape.element_count() != value.shape[rank - 1]) return std::nullopt;
    const std::vector<Expr> from = eight_of(level, v, has_row);
    if (from.empty()) return std::nullopt;
    if (const auto known = read_.find(v); known != read_.end()) return known->second;
    Expr near;
    writer.ahead([&] {
        near = writer.declare_array(numbered("near", v), ScalarType::kF32, 8);
        writer.spread(near, from);
    });
    const Scalar element = arena.symbol(ScalarType::kF32);
    writer.bind(element, frame_.body->element(near, t_));
    read_.emplace(v, element);
    return element;
}

std::vector<Expr> EightScope::eight_of(uint32_t level, ValueId v, bool has_row) const {
    const Value& value = frame_.graph.value(v);
    const auto shared_floats = [&](Expr quad) {
        return std::vector{frame_.shared_four(quad), frame_.shared_four(quad + 1)};
    };
    // Beyond the row there may be no memory.
    const Expr inside = lesser(first_, frame_.index(value.shape[value.shape.rank() - 1].count - 8));
    for (const RowVector& vector : frame_.plan.vectors)
        if (vector.value == v && level > 0)
            return has_row ? std::vector<Expr>() : shared_floats(inside / 4 + vector.offset / 4);
    if (!has_row) return {};
    if (const RowTile* tile = frame_.plan.tile_of(v, level)) {
        const Expr line = in_tile_ * (tile->stride / 4) + tile->offset / 4;
        if (tile->is_half()) return {frame_.shared_halves(line + inside / 8)};
        return tile->stride % 4 == 0 ? shared_floats(line + inside / 4) : std::vector<Expr>();
    }
    if (value.kind == ValueKind::kNode && frame_.region.has(value.node)) return {};
    const Expr element = in_whole_ * frame_.row_width(v) + inside;
    if (frame_.is_plain_half(v))
        return {frame_.body->load_chunk_at(Chunk::kHalves, frame_.buffer(v), element >> 3)};
    if (!frame_.is_plain(v)) return {};
    return {frame_.load_four(v, element >> 2), frame_.load_four(v, (element >> 2) + 1)};
}

// ------------------------------------------------------------------------------------- stores

bool EightScope::is_kept_by_eight(ValueId v) const {
    const RowTile* tile = frame_.plan.tile_for(v);
    return tile != nullptr && (tile->is_half() || (frame_.graph.value(v).dtype == DType::kF32 &&
                                                   tile->width % 8 == 0 && tile->stride % 4 == 0));
}

bool EightScope::is_stored_by_eight(ValueId v) const {
    const DType dtype = frame_.graph.value(v).dtype;
    return is_stored_outside(v) && frame_.row_width(v) % 8 == 0 &&
           (dtype == DType::kF16 || dtype == DType::kF32);
}

void EightScope::store_eight(std::span<const ValueId> values, Expr first, int width,
                             const Sums* sums) {
    const auto is_by_eight = [&](ValueId v) {
        return is_kept_by_eight(v) || is_stored_by_eight(v);
    };
    first_ = first;
    std::map<ValueId, Expr> eights;
    for (const ValueId v : values)
        if (is_by_eight(v))
            eights[v] = writer.declare_array(numbered("eight", v), ScalarType::kF32, 8);
    t_ = writer.unrolled_for_("t", 8);
    const Expr n = writer.let("n", first + t_);
    const Expr inside = n < width;
    inner_ = arena.symbol(ScalarType::kI32);
    writer.bind(*inner_, writer.let("nn", lesser(n, frame_.index(width - 1))));
    if (sums != nullptr) writer.bind(sums->variable, frame_.body->element(sums->eight, t_));
    std::vector<Expr> contents;
    for (const ValueId v : values)
        contents.push_back(
            writer.emit(expressions.read(v, place(frame_.graph.value(v).shape, *inner_))));
    for (size_t i = 0; i < values.size(); ++i) {
        const ValueId v = values[i];
        if (is_by_eight(v))
            writer.assign(
                frame_.body->element(eights[v], t_),
                width % 8 == 0 ? contents[i] : select(inside, contents[i], frame_.zero()));
        if (!is_kept_by_eight(v)) store_shared(v, contents[i], n, inside);
        if (!is_stored_by_eight(v)) store_outside(v, contents[i], n, inside);
    }
    writer.end();
    for (const ValueId v : values) {
        if (is_kept_by_eight(v)) keep_eight(v, eights[v]);
        if (is_stored_by_eight(v)) store_eight_outside(v, eights[v]);
    }
}

void EightScope::keep_eight(ValueId v, Expr eight) {
    Body& body = *frame_.body;
    const RowTile& tile = *frame_.plan.tile_for(v);
    const Expr line = in_tile_ * (tile.stride / 4) + tile.offset / 4;
    if (tile.is_half()) {
        const Expr zeros = body.fill(Chunk::kHalves, frame_.zero());
        writer.assign(frame_.shared_quad(line + first_ / 8),
                      body.reinterpret(select(in_tile_ < frame_.count, body.pack(eight), zeros)));
        return;
    }
    writer.if_(first_ < tile.width);
    for (int half = 0; half < 2; ++half)
        writer.assign(frame_.shared_quad(line + half + first_ / 4),
                      body.operation(ScalarOp::kBitsToU32, four_of(eight, half)));
    writer.end();
}

void EightScope::store_eight_outside(ValueId v, Expr eight) {
    frame_.note_store(v);
    const int width = frame_.row_width(v);
    const uint32_t buffer = frame_.buffer(v);
    const Expr element = in_whole_ * width + first_;
    writer.if_(logical_and(in_tile_ < frame_.count, first_ < width));
    if (frame_.graph.value(v).dtype == DType::kF16)
        writer.store_chunk(buffer, element / 8, frame_.body->pack(eight));
    else
        for (int half = 0; half < 2; ++half)
            writer.store_chunk(buffer, element / 4 + half, four_of(eight, half));
    writer.end();
}

}  // namespace hearth
