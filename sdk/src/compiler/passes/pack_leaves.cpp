// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/passes/pack_leaves.hpp"

#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/shared/packed_elements.hpp"

#include <algorithm>

namespace hearth {

namespace {

constexpr int64_t kLeastElements = 1024;  // fewer are read at once, as they are

bool is_packable(const Value& leaf, NarrowStorage storage, bool with_params) {
    const bool is_frozen =
        leaf.kind == ValueKind::kConstant || (leaf.kind == ValueKind::kParam && with_params);
    return is_frozen && leaf.data != nullptr && size_bytes(leaf.dtype) < 4 &&
           device_dtype(leaf.dtype, storage) != leaf.dtype &&
           leaf.data->element_count() >= kLeastElements;
}

Tensor unpacked(Trace& trace, const Value& leaf) {
    HostTensor words = words_of(leaf.data->bytes());
    const Shape shape = words.shape();
    const Tensor packed = leaf.kind == ValueKind::kConstant
                              ? trace.constant(std::move(words))
                              : trace.param(leaf.name + "." + std::string(name_of(leaf.dtype)),
                                            shape, Init::from(std::move(words)), DType::kU32);
    return unpack_elements(packed, leaf.shape, leaf.dtype, int64_t{8} * size_bytes(leaf.dtype));
}

}  // namespace

Result<Graph> pack_leaves(const Graph& graph, NarrowStorage storage, bool with_params) {
    const auto packs = [&](const Value& leaf) { return is_packable(leaf, storage, with_params); };
    if (std::ranges::none_of(graph.values, packs)) return graph;
    const RewriteRule keep = [](Trace&, const Node&, std::span<const Tensor>) {
        return std::nullopt;
    };
    return rewrite(graph, keep, [&](Trace& trace, const Value& leaf) -> std::optional<Tensor> {
        if (!packs(leaf)) return std::nullopt;
        return unpacked(trace, leaf);
    });
}

Status pack_leaves(std::span<Graph> graphs, NarrowStorage storage) {
    const bool with_params =
        std::ranges::all_of(graphs, [](const Graph& graph) { return graph.updates.empty(); });
    for (Graph& graph : graphs) {
        HEARTH_ASSIGN(graph, pack_leaves(graph, storage, with_params));
    }
    return {};
}

}  // namespace hearth
