// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/index_analysis.hpp"

#include "compiler/ir/scalar_operands.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace hearth {

namespace {

/// Calls f(node) of every node that the expressions consist of, once.
template <class F>
void for_each_node(const ScalarArena& arena, std::span<const Scalar> expressions, F f) {
    std::vector<bool> seen(arena.size());
    std::vector<uint32_t> stack;
    for (Scalar x : expressions) stack.push_back(x.id);
    while (!stack.empty()) {
        const uint32_t id = stack.back();
        stack.pop_back();
        if (seen[id]) continue;
        seen[id] = true;
        const ScalarNode& node = arena.node(id);
        f(id, node);
        const std::array<uint32_t, 3> operands{node.a, node.b, node.c};
        stack.insert(stack.end(), operands.begin(), operands.begin() + operand_count(node.op));
    }
}

}  // namespace

bool reads_only(const ScalarArena& arena, Scalar x, std::span<const Scalar> variables) {
    bool result = true;
    for_each_node(arena, {&x, 1}, [&](uint32_t id, const ScalarNode& node) {
        if (node.op == ScalarOp::kVariable)
            result = result && std::ranges::any_of(
                                   variables, [id](Scalar variable) { return variable.id == id; });
    });
    return result;
}

bool IndexAnalysis::is_of_element(Scalar x) const {
    return reads_only(arena_, x, {&element_, 1});
}

bool IndexAnalysis::depends(Scalar x) const {
    if (x.id == element_.id) return true;
    if (const auto known = depends_.find(x.id); known != depends_.end()) return known->second;
    const ScalarNode node = x.node();
    const std::array<uint32_t, 3> operands{node.a, node.b, node.c};
    bool result = false;
    for (int i = 0; i < operand_count(node.op); ++i)
        result = result || depends(operand(operands[static_cast<size_t>(i)]));
    return depends_[x.id] = result;
}

std::optional<int> IndexAnalysis::step(Scalar x) const {
    if (const auto known = steps_.find(x.id); known != steps_.end()) return known->second;
    const std::optional<int> result = find_step(x);
    steps_[x.id] = result;
    return result;
}

std::optional<int> IndexAnalysis::find_step(Scalar x) const {
    if (x.id == element_.id) return 1;
    if (!depends(x)) return 0;
    const ScalarNode node = x.node();
    if (node.type != ScalarType::kI32) return std::nullopt;
    const Scalar a = operand(node.a), b = operand(node.b);
    switch (node.op) {
        case ScalarOp::kAdd: {
            const std::optional<int> left = step(a), right = step(b);
            if (left && right && *left + *right <= 1) return *left + *right;
            return std::nullopt;
        }
        case ScalarOp::kSub:
            return step(b) == 0 ? step(a) : std::nullopt;
        case ScalarOp::kMul:
            return step(a) == 0 && step(b) == 0 ? std::optional<int>(0) : std::nullopt;
        case ScalarOp::kDiv:
        case ScalarOp::kMod:
            if (step(a) == 0 && step(b) == 0) return 0;
            if (!b.is_const() || b.const_value() <= 0 || !is_aligned(a) || !is_aligned(b) ||
                step(a) != 1)
                return std::nullopt;
            return node.op == ScalarOp::kMod ? 1 : 0;
        default:
            return std::nullopt;
    }
}

bool IndexAnalysis::is_aligned(Scalar x) const {
    if (x.id == element_.id) return true;
    if (const auto known = aligned_.find(x.id); known != aligned_.end()) return known->second;
    const ScalarNode node = x.node();
    bool result = false;
    if (node.op == ScalarOp::kConst)
        result =
            node.type == ScalarType::kI32 && static_cast<int64_t>(x.const_value()) % width_ == 0;
    else if (node.op == ScalarOp::kAdd || node.op == ScalarOp::kSub || node.op == ScalarOp::kMod)
        result = is_aligned(operand(node.a)) && is_aligned(operand(node.b));
    else if (node.op == ScalarOp::kMul)
        result = is_aligned(operand(node.a)) || is_aligned(operand(node.b));
    return aligned_[x.id] = result;
}

Scalar IndexAnalysis::at_first(Scalar x) const {
    if (x.id == element_.id) return first_;
    if (!depends(x)) return x;
    if (const auto known = at_first_.find(x.id); known != at_first_.end()) return known->second;
    const ScalarNode node = x.node();
    const Scalar a = at_first(operand(node.a));
    Scalar result;
    if (node.op == ScalarOp::kLoad) {
        result = arena_.load(node.bits, a, node.type);
    } else if (operand_count(node.op) == 1) {
        result = arena_.unary(node.op, a);
    } else {
        const Scalar b = at_first(operand(node.b));
        result = node.op == ScalarOp::kSelect ? arena_.select(a, b, at_first(operand(node.c)))
                                              : arena_.binary(node.op, a, b);
    }
    at_first_[x.id] = result;
    return result;
}

std::vector<Scalar> parts_of(ScalarArena& arena, std::span<const Scalar> expressions) {
    std::vector<Scalar> parts;
    for_each_node(arena, expressions, [&](uint32_t id, const ScalarNode&) {
        parts.push_back({&arena, id});
    });
    // Operands are built before what consists of them.
    std::ranges::sort(parts, {}, &Scalar::id);
    return parts;
}

std::optional<std::vector<int64_t>> quotient_steps(ScalarArena& arena,
                                                   std::span<const Scalar> expressions,
                                                   Scalar variable, int64_t least) {
    // Of a quotient of the variable: by how much it is divided.
    std::unordered_map<uint32_t, int64_t> divided{{variable.id, 1}};
    std::unordered_set<uint32_t> remainders;
    std::vector<int64_t> steps;
    for (const Scalar part : parts_of(arena, expressions)) {  // operands first
        const ScalarNode& node = part.node();
        if (node.op != ScalarOp::kDiv && node.op != ScalarOp::kMod) continue;
        const auto a = divided.find(node.a);
        const Scalar by{&arena, node.b};
        if (a == divided.end()) continue;
        if (!by.is_const()) return std::nullopt;
        const int64_t length = a->second * static_cast<int64_t>(by.const_value());
        const bool is_within = remainders.contains(node.a);
        if (is_within && length < least) continue;
        if (is_within || node.op == ScalarOp::kMod) remainders.insert(part.id);
        steps.push_back(length);
        divided[part.id] = node.op == ScalarOp::kDiv ? length : a->second;
    }
    return steps;
}

std::vector<Scalar> loads_in(ScalarArena& arena, std::span<const Scalar> expressions) {
    std::vector<Scalar> loads;
    for_each_node(arena, expressions, [&](uint32_t id, const ScalarNode& node) {
        if (node.op == ScalarOp::kLoad) loads.push_back({&arena, id});
    });
    return loads;
}

}  // namespace hearth
