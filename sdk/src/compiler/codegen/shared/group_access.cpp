// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/group_access.hpp"

namespace hearth {

KernelWriter::Operand operands_of(const Graph& graph, const LowerOptions& options, Body& body) {
    return [&graph, storage = options.caps.narrow_storage(), &body](uint32_t v) {
        const DType dtype = graph.values[v].dtype;
        return body.operand(v, dtype, device_dtype(dtype, storage));
    };
}

std::vector<bool> elementwise_buffers(const ScalarArena& arena, std::span<const uint32_t> operands,
                                      Scalar element) {
    std::vector<bool> is_elementwise(operands.size(), true);
    for (uint32_t id = 0; id < arena.size(); ++id) {
        const ScalarNode& n = arena.node(id);
        if (n.op != ScalarOp::kLoad || n.a == element.id) continue;
        for (size_t b = 0; b < operands.size(); ++b)
            if (operands[b] == n.bits) is_elementwise[b] = false;
    }
    return is_elementwise;
}

void store_all(KernelWriter& writer, const KernelWriter::Operand& operand,
               GroupExpressions& expressions, std::span<const ValueId> values,
               const ScalarPlace& place, Scalar element) {
    std::vector<Expr> contents;
    for (ValueId v : values) contents.push_back(writer.emit(expressions.read(v, place)));
    const Expr where = writer.emit(element);
    for (size_t i = 0; i < values.size(); ++i) writer.store(operand(values[i]), where, contents[i]);
}

}  // namespace hearth
