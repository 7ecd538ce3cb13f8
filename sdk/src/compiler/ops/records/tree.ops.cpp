// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Walks through decision trees that are stored as tables, so that the size of a kernel does not
// depend on the number of trees.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

constexpr int64_t kMostSteps = 64;

// inputs: x [n, features]; nodes i32 [n or 1, trees]: where each walk begins; words i32 [count]:
// 2 * feature + 1 if a missing value (NaN) passes the test; thresholds [count]; children i32
// [2 * count]: the next node if x[feature] <= threshold is false, then if it is true.  A leaf is
// its own child.
Status infer_walk(InferContext& call) {
    const Shape &x = call.shape(0), &nodes = call.shape(1);
    const bool fits = x.rank() == 2 && nodes.rank() == 2 && !x[1].is_batch && x[1].count > 0 &&
                      (nodes[0] == x[0] || nodes[0] == Dim(1));
    if (!fits)
        return invalid_argument("x is " + to_string(x) + ", nodes are " + to_string(nodes) +
                                "; expected [n, features] and [n, trees]");
    const Shape& words = call.shape(2);
    const bool are_tables = words.rank() == 1 && !words[0].is_batch && words[0].count > 0 &&
                            call.shape(3) == words && call.shape(4) == Shape{2 * words[0].count};
    if (!are_tables)
        return invalid_argument("words, thresholds and children are " + to_string(words) + ", " +
                                to_string(call.shape(3)) + " and " + to_string(call.shape(4)) +
                                "; expected [count], [count] and [2 count]");
    if (call.dtype(0) != call.dtype(3))
        return invalid_argument("x and the thresholds have different element types");
    const int64_t steps = call.attrs.integer("steps");
    if (steps < 1 || steps > kMostSteps)
        return out_of_range(std::to_string(steps) + " steps, expected 1 to " +
                            std::to_string(kMostSteps));
    return call.one(DType::kI32, {x[0], nodes[1]});
}

template <class I>
I clamped(I index, I count) {
    return min(max(index, count - count), count - 1);
}

struct WalkRule {
    template <class C>
    auto operator()(C& c) const {
        const bool has_missing = c.attrs().integer("has_missing") != 0;
        const auto row = c.coord(0) * c.in_dim(0, 1);
        auto node = c.to_index(c.x(1));
        for (int64_t step = c.attrs().integer("steps"); step > 0; --step) {
            const auto at = clamped(node, c.in_count(2));
            const auto word = c.to_index(c.in_linear(2, at));
            const auto feature = word / c.index(2);
            const auto value = c.in_linear(0, row + clamped(feature, c.in_dim(0, 1)));
            auto passes = value <= c.in_linear(3, at);
            if (has_missing)
                passes =
                    logical_or(passes, logical_and(is_nan(value), word > feature * c.index(2)));
            node = c.to_index(
                c.in_linear(4, at * c.index(2) + select(passes, c.index(1), c.index(0))));
        }
        return c.number(node);
    }
};

void walk_samples(Samples& s) {
    const auto add = [&s](Dim rows, int64_t features, const Shape& nodes, int64_t count,
                          int64_t steps, int64_t has_missing) {
        Sample& sample = s.add_typed({{DType::kF32, {rows, features}},
                                      {DType::kI32, nodes},
                                      {DType::kI32, {count}},
                                      {DType::kF32, {count}},
                                      {DType::kI32, {2 * count}}},
                                     {{"steps", steps}, {"has_missing", has_missing}});
        sample.low = 0;
        sample.high = 5;
    };
    add(4, 3, {1, 5}, 5, 3, 0);
    add(kBatch, 2, {1, 3}, 7, 5, 1);
    add(kBatch, 3, {kBatch, 1}, 6, 2, 0);
    add(1, 1, {1, 1}, 6, 1, 1);
}

constexpr OpDef kOps[] = {
    {
        .name = "walk_trees",
        .summary = "the node of each tree that x reaches after `steps` tests",
        .inputs = {{"x"},
                   {"nodes", TypeClass::kInteger},
                   {"words", TypeClass::kInteger},
                   {"thresholds"},
                   {"children", TypeClass::kInteger}},
        .attrs = {{"steps", AttrType::kInteger}, {"has_missing", AttrType::kInteger, 0}},
        .op_class = OpClass::kInjective,
        .infer = infer_walk,
        .compute = compute_float(WalkRule{}),
        .stops_gradient = true,
        .onnx_export = onnx_export::walk_trees,
        .samples = walk_samples,
    },
};

}  // namespace

extern constinit const std::span<const OpDef> tree_ops{kOps};

}  // namespace hearth
