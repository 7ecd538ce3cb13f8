// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/scope.hpp"

#include "compiler/codegen/reduction/replicated_scalar_functions.hpp"
#include "core/driver_workarounds.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth {

namespace {

/// Loads of these values are of elements of shared memory: floats, or f16.
constexpr uint32_t kSharedMemory = 0xfffffffeu, kSharedHalves = 0xfffffffdu;

}  // namespace

NetworkScope::NetworkScope(NetworkFrame& frame, const NetworkStage& stage)
    : expressions(frame.graph, stage.group != nullptr ? *stage.group : nothing_, frame.inlined),
      arena(expressions.arena()),
      writer(*frame.body, arena, frame.operand),
      row(arena.symbol(ScalarType::kI32)),
      local(arena.symbol(ScalarType::kI32)),
      frame_(frame) {
    if (kRolledLoops.is_needed(frame.options.caps)) writer.keep_rolled();
    writer.load_by([&frame](uint64_t value, Expr element, ScalarType type) {
        if (value == kSharedHalves) return frame.shared_half(element);
        return value == kSharedMemory ? frame.shared(element, type) : Expr{};
    });
    expressions.set_resident([this, level = stage.level](ValueId v, const ScalarPlace& at) {
        return resident(level, v, at);
    });
}

void NetworkScope::open_row(Expr in_tile) {
    name_row(in_tile, writer.let("row", lesser(frame_.first + in_tile, frame_.last_row)));
}

void NetworkScope::name_row(Expr in_tile, Expr in_whole) {
    in_tile_ = in_tile;
    in_whole_ = in_whole;
    writer.bind(local, in_tile_);
    writer.bind(row, in_whole_);
}

ScalarPlace NetworkScope::place(const Shape& shape, Scalar inner) {
    const Coords<Scalar> rest = coords_of(arena, {inner, {}}, without_rows(shape));
    ScalarPlace at;
    at.coords.emplace();
    at.coords->axis.push_back(row);
    for (int i = 0; i < rest.rank(); ++i) at.coords->axis.push_back(rest[i]);
    return at;
}

std::optional<Scalar> NetworkScope::number(ValueId v) {
    for (const std::shared_ptr<const Group>& number : frame_.replicated_scalars) {
        if (std::find(number->stores.begin(), number->stores.end(), v) == number->stores.end())
            continue;
        const Scalar variable = arena.symbol(scalar_type(frame_.graph.value(v).dtype));
        writer.bind(variable, replicated_scalar_variable(frame_.graph, v, *frame_.body));
        return variable;
    }
    return std::nullopt;
}

std::optional<Scalar> NetworkScope::resident(uint32_t level, ValueId v, const ScalarPlace& at) {
    if (const std::optional<Scalar> known = number(v)) return known;
    const Value& value = frame_.graph.value(v);
    for (const RowVector& vector : frame_.plan.vectors)
        if (vector.value == v && level > 0)
            return arena.load(
                kSharedMemory,
                linear_of(arena, at, value.shape) + static_cast<double>(vector.offset),
                ScalarType::kF32);
    const RowTile* tile = frame_.plan.tile_of(v, level);
    if (tile == nullptr || !at.coords || at.coords->rank() == 0 || (*at.coords)[0].id != row.id) {
        frame_.is_lost |= value.kind == ValueKind::kNode && frame_.region.has(value.node);
        return std::nullopt;
    }
    Coords<Scalar> rest;
    for (int i = 1; i < at.coords->rank(); ++i) rest.axis.push_back((*at.coords)[i]);
    const Scalar inner = linear_of(arena, {{}, rest}, without_rows(value.shape));
    const double each = tile->is_half() ? 2 : 1;  // offsets and strides are in floats
    const Scalar element = local * (each * tile->stride) + inner + each * tile->offset;
    return arena.load(tile->is_half() ? kSharedHalves : kSharedMemory, element,
                      scalar_type(value.dtype));
}

void NetworkScope::store_row(std::span<const ValueId> values, Scalar variable, Expr inner,
                             Expr inside) {
    std::vector<Expr> contents;
    for (ValueId v : values)
        contents.push_back(
            writer.emit(expressions.read(v, place(frame_.graph.value(v).shape, variable))));
    for (size_t i = 0; i < values.size(); ++i) store(values[i], contents[i], inner, inside);
}

void NetworkScope::store(ValueId v, Expr content, Expr inner, Expr inside) {
    store_shared(v, content, inner, inside);
    store_outside(v, content, inner, inside);
}

void NetworkScope::store_shared(ValueId v, Expr content, Expr inner, Expr inside) {
    const RowTile* tile = frame_.plan.tile_for(v);
    if (tile == nullptr) return;
    HEARTH_ASSERT(!tile->is_half());
    // Beyond the row lie zeros that products read, or another row.
    const bool has_zeros = tile->padded() > tile->width;
    if (inside && has_zeros) {
        if (content.type() != ScalarType::kF32)
            content = frame_.body->operation(ScalarOp::kBitsToF32, content);
        content = select(inside, content, frame_.zero());
    }
    const bool is_guarded = inside && !has_zeros;
    if (is_guarded) writer.if_(inside);
    frame_.put_shared(writer, in_tile_ * tile->stride + inner + tile->offset, content);
    if (is_guarded) writer.end();
}

void NetworkScope::store_outside(ValueId v, Expr content, Expr inner, Expr inside) {
    if (!is_stored_outside(v)) return;
    frame_.note_store(v);
    const Expr is_there = in_tile_ < frame_.count;
    writer.if_(inside ? logical_and(is_there, inside) : is_there);
    writer.store(frame_.buffer(v), in_whole_ * frame_.row_width(v) + inner, content);
    writer.end();
}

}  // namespace hearth
