// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/vector_access.hpp"

#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/index_analysis.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>

namespace hearth {

namespace {

Coords<Scalar> moved(const Coords<Scalar>& at, Scalar by) {
    Coords<Scalar> to = at;
    Scalar& last = to.axis[to.axis.size() - 1];
    last = last + by;
    return to;
}

}  // namespace

DType VectorAccess::held(ValueId value) const {
    return device_dtype(graph_.values[value].dtype, options_.caps.narrow_storage());
}

Expr VectorAccess::load_four(KernelWriter& writer, ValueId value, const Coords<Scalar>& at) {
    const Scalar element = at.axis[at.axis.size() - 1];
    if (const std::optional<Expr> four = load_vector(writer, value, {{}, at}, element))
        return *four;
    std::vector<Expr> elements;
    for (int64_t lane = 0; lane < 4; ++lane) {
        const Coords<Scalar> of_lane = lane == 0 ? at : moved(at, arena_.index(lane));
        elements.push_back(writer.emit(expressions_.read(value, {{}, of_lane})));
    }
    return body_.compose(elements);
}

Expr VectorAccess::load_four(KernelWriter& writer, ValueId value, Scalar first) {
    if (const std::optional<Expr> four = load_vector(writer, value, {first, {}}, first))
        return *four;
    std::vector<Expr> elements;
    for (int64_t lane = 0; lane < 4; ++lane) {
        const Scalar at = lane == 0 ? first : first + arena_.index(lane);
        elements.push_back(writer.emit(expressions_.read(value, {at, {}})));
    }
    return body_.compose(elements);
}

std::optional<Expr> VectorAccess::load_vector(KernelWriter& writer, ValueId value,
                                              const ScalarPlace& place, Scalar element) {
    const ScalarNode load = expressions_.read(value, place).node();
    if (load.op != ScalarOp::kLoad) return {};
    const Scalar index{&arena_, load.a};
    const IndexAnalysis analysis(arena_, element, element, 4);
    if (analysis.step(index) != 1 || !analysis.is_aligned(index)) return {};
    const DType in_memory = held(load.bits);
    if (in_memory != DType::kF32 && in_memory != DType::kF16) return {};
    const uint32_t buffer = operand_(load.bits);
    const Expr first = writer.emit(index);
    if (in_memory == DType::kF32) return body_.load_chunk(Chunk::kFour, buffer, first);
    return body_.vector(writer.load_vector("four", buffer, first, 4));
}

std::vector<ValueId> VectorAccess::stores_of(const Node& node, ValueId output) const {
    std::vector<ValueId> stores(group_.stores);
    if (node.outputs.size() > 1)
        std::erase_if(stores, [&](ValueId stored) { return stored != output; });
    return stores;
}

void VectorAccess::store(KernelWriter& writer, const Node& node, ValueId output,
                         const ScalarPlace& place, Expr content) {
    const Scalar value = arena_.symbol(content.type());
    writer.bind(value, content);
    expressions_.define(output, value);
    store_all(writer, operand_, expressions_, stores_of(node, output), place, *place.linear);
}

void VectorAccess::store_vector(KernelWriter& writer, const Node& node, ValueId output,
                                const Coords<Scalar>& at, std::span<const Expr> contents) {
    const std::vector<ValueId> stores = stores_of(node, output);
    std::vector<std::vector<Expr>> stored(stores.size());
    for (size_t lane = 0; lane < contents.size(); ++lane) {
        const Scalar value = arena_.symbol(contents[lane].type());
        writer.bind(value, contents[lane]);
        expressions_.define(output, value);
        const ScalarPlace place = store_place(node, output, at, static_cast<uint32_t>(lane));
        for (size_t k = 0; k < stores.size(); ++k)
            stored[k].push_back(writer.emit(expressions_.read(stores[k], place)));
    }
    const Expr where = writer.emit(*store_place(node, output, at, 0).linear);
    for (size_t k = 0; k < stores.size(); ++k)
        store_neighbours(writer, stores[k], where, stored[k]);
}

ScalarPlace VectorAccess::store_place(const Node& node, ValueId output, const Coords<Scalar>& at,
                                      uint32_t behind) const {
    const Shape& shape = graph_.values[output].shape;
    const Coords<Scalar> to = behind == 0 ? at : moved(at, arena_.index(behind));
    ScalarPlace place{linear_of(arena_, {{}, to}, shape), {}};
    // Behind a reshape coordinates mean nothing.
    if (std::ranges::all_of(stores_of(node, output),
                            [&](ValueId v) { return graph_.values[v].shape == shape; }))
        place.coords = to;
    return place;
}

/// In as few stores as the buffer allows.
void VectorAccess::store_neighbours(KernelWriter& writer, ValueId value, Expr where,
                                    std::span<const Expr> contents) {
    const uint32_t buffer = operand_(value);
    const BodyBuffer to = body_.buffers[buffer];
    if (to.held == DType::kF16) return writer.store_elements(buffer, where, contents);
    const bool are_floats = to.held == DType::kF32 && to.dtype == DType::kF32;
    const size_t each = are_floats ? 4 : 1;
    for (size_t k = 0; k < contents.size(); k += each) {
        const Expr at = k == 0 ? where : where + static_cast<int64_t>(k);
        if (are_floats)
            writer.store_elements(buffer, at, contents.subspan(k, each));
        else
            writer.store(buffer, at, contents[k]);
    }
}

}  // namespace hearth
