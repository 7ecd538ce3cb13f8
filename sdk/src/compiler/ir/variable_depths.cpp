// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the outermost scope of a kernel in which an expression can be computed.

#include "compiler/ir/variable_depths.hpp"

#include "compiler/ir/scalar_operands.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace hearth {

size_t VariableDepths::of(const ScalarArena& arena, uint32_t id) const {
    std::vector<uint32_t> stack{id};
    std::unordered_set<uint32_t> seen;
    size_t depth = 0;
    while (!stack.empty()) {
        const uint32_t at = stack.back();
        stack.pop_back();
        if (!seen.insert(at).second) continue;
        const ScalarNode& n = arena.node(at);
        if (n.op == ScalarOp::kVariable) {
            // An unbound counter belongs to a loop inside this expression.
            if (auto bound = depths_.find(n.bits); bound != depths_.end())
                depth = std::max(depth, bound->second);
        } else {
            const uint32_t operands[] = {n.a, n.b, n.c};
            stack.insert(stack.end(), operands, operands + operand_count(n.op));
        }
    }
    return depth;
}

}  // namespace hearth
