// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators whose result size depends on data. Shapes are fixed when a program is compiled, so each
// result has a capacity; the used count is a result, too.

#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "compiler/shaders/define.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

// --- reverse_sequence ---

Status infer_reverse_sequence(InferContext& call) {
    const Shape &x = call.shape(0), &lengths = call.shape(1);
    const int64_t time = call.attrs.integer("time_axis"), batch = call.attrs.integer("batch_axis");
    if (time < 0 || batch < 0 || time >= x.rank() || batch >= x.rank() || time == batch)
        return out_of_range("axes " + std::to_string(time) + " and " + std::to_string(batch) +
                            " of " + to_string(x));
    if (lengths != Shape{x[static_cast<int>(batch)]} || x[static_cast<int>(time)].count == 0)
        return invalid_argument("lengths must be [" + to_string(x[static_cast<int>(batch)]) +
                                "], found " + to_string(lengths));
    return call.one(call.dtype(0), x);
}

const auto reverse_sequence_rule = [](auto& c) {
    const int time = static_cast<int>(c.attrs().integer("time_axis"));
    auto place = c.coords();
    decltype(place) at;
    at.axis.push_back(place[static_cast<int>(c.attrs().integer("batch_axis"))]);
    auto length = min(c.to_index(c.in(1, at)), c.dim(time));
    auto here = place[time];
    place[time] = select(here < length, max(length - 1 - here, c.index(0)), here);
    return c.in(0, place);
};

// --- row_ranks ---

/// Rank of row i in lexicographic order; ties keep input order.
const auto row_ranks_rule = [](auto& c) {
    auto here = c.coord(0);
    return c.sum(c.in_dim(0, 0), [&](auto other) {
        const auto at = [&](auto row, auto column) {
            Coords<typename std::remove_reference_t<decltype(c)>::Index> place;
            place.axis.push_back(row);
            place.axis.push_back(column);
            return c.in(0, place);
        };
        auto differs = c.to_index(c.argmax(c.in_dim(0, 1), [&](auto column) {
            return select(at(other, column) != at(here, column), c.value(1), c.value(0));
        }));
        auto theirs = at(other, differs);
        auto own = at(here, differs);
        auto is_before = logical_or(theirs < own, logical_and(theirs == own, other < here));
        return select(is_before, c.value(1), c.value(0));
    });
};

// --- nms ---

constexpr int64_t kMostBoxes = 65536;  // one bit per box in shared memory

Status infer_nms(InferContext& call) {
    const Shape &boxes = call.shape(0), &scores = call.shape(1);
    const bool fits = boxes.rank() == 3 && scores.rank() == 3 && boxes[2] == Dim(4) &&
                      boxes[0] == scores[0] && boxes[1] == scores[2] && !boxes[1].is_batch;
    if (!fits)
        return invalid_argument("expected boxes [B, N, 4] and scores [B, C, N], found " +
                                to_string(boxes) + " and " + to_string(scores));
    if (boxes[1].count < 1 || boxes[1].count > kMostBoxes || call.attrs.integer("count") < 1)
        return out_of_range(std::to_string(call.attrs.integer("count")) + " of " +
                            to_string(boxes[1]) + " boxes");
    return call.one(DType::kI64, {scores[0], scores[1], Dim(call.attrs.integer("count"))});
}

struct Box {
    double low[2], high[2];
    double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box box_at(const HostTensor& boxes, int64_t index, bool is_centered) {
    Box box{};
    for (int axis = 0; axis < 2; ++axis) {
        const double a = boxes.get(index * 4 + axis), b = boxes.get(index * 4 + 2 + axis);
        box.low[axis] = is_centered ? a - b / 2 : std::min(a, b);
        box.high[axis] = is_centered ? a + b / 2 : std::max(a, b);
    }
    return box;
}

double overlap(const Box& a, const Box& b) {
    double common = 1;
    for (int axis = 0; axis < 2; ++axis)
        common *= std::max(
            0.0, std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]));
    const double all = a.area() + b.area() - common;
    return all > 0 ? common / all : 0;
}

void reference_nms(ReferenceContext& call) {
    const HostTensor &boxes = call.inputs[0], &scores = call.inputs[1];
    const int64_t count = call.attrs.integer("count"), n = boxes.shape()[1].count;
    const int64_t classes = scores.shape()[1].count;
    const bool is_centered = call.attrs.flag("centered"), has_score = call.attrs.flag("has_score");
    for (int64_t line = 0; line < scores.shape()[0].count * classes; ++line) {
        std::vector<int64_t> left;
        for (int64_t i = 0; i < n; ++i)
            if (!has_score || scores.get(line * n + i) > call.attrs.real("score"))
                left.push_back(i);
        std::stable_sort(left.begin(), left.end(), [&](int64_t a, int64_t b) {
            return scores.get(line * n + a) > scores.get(line * n + b);
        });
        for (int64_t kept = 0; kept < count; ++kept) {
            const int64_t best = left.empty() ? -1 : left[0];
            call.outputs[0].set_int(line * count + kept, best);
            if (best < 0) continue;
            const Box chosen = box_at(boxes, line / classes * n + best, is_centered);
            std::erase_if(left, [&](int64_t i) {
                const Box other = box_at(boxes, line / classes * n + i, is_centered);
                return i == best || overlap(other, chosen) > call.attrs.real("overlap");
            });
        }
    }
}

std::optional<CustomKernel> nms_kernel(const KernelRuleContext& call) {
    const auto literal = [](double value) {
        char text[40];
        std::snprintf(text, sizeof text, "%.9e", value);
        return std::string(text);
    };
    const auto flag = [&](const char* name) { return call.attrs.flag(name) ? "true" : "false"; };
    const Shape& scores = call.shape(1);
    const int64_t threads = usual_workgroup_size(call.caps);
    CustomKernel text;
    text.name = "nms";
    text.glsl = define("COUNT", call.attrs.integer("count")) + define("THREADS", threads) +
                define("WORDS", (call.shape(0)[1].count + 32 * threads - 1) / (32 * threads)) +
                define("OVERLAP", literal(call.attrs.real("overlap"))) +
                define("SCORE", literal(call.attrs.real("score"))) +
                define("HAS_SCORE", flag("has_score")) + define("CENTERED", flag("centered"));
    text.glsl += shader_text("select/nms.comp");
    text.local_size = {static_cast<uint32_t>(threads), 1, 1};
    Dim lines = scores[0];
    lines.count *= scores[1].count;
    text.grid[0] = {lines, 1};
    return text;
}

constinit const OpDef kOps[] = {
    {
        .name = "reverse_sequence",
        .summary = "x with the first lengths[b] elements along time_axis backwards, for each b",
        .inputs = {{"x", TypeClass::kAny}, {"lengths", TypeClass::kInteger}},
        .attrs = {{"time_axis", AttrType::kInteger}, {"batch_axis", AttrType::kInteger}},
        .op_class = OpClass::kInjective,
        .infer = infer_reverse_sequence,
        .compute = compute_any(reverse_sequence_rule),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {apply_one(op("reverse_sequence"), {v.cotangent(), v.in(1)}, v.attrs), Tensor()};
        },
        .onnx = {{"ReverseSequence", 10, import_reverse_sequence}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& x, int64_t time, int64_t batch, double longest) {
                    Sample& sample =
                        s.add_typed({{DType::kF32, x}, {DType::kI64, {x[static_cast<int>(batch)]}}},
                                    {{"time_axis", time}, {"batch_axis", batch}});
                    sample.low = 0;
                    sample.high = longest + 1;
                };
                add({4, 4}, 0, 1, 4);
                add({kBatch, 5}, 1, 0, 5);
                add({3, 2, 7}, 2, 1, 7);
            },
    },
    {
        .name = "row_ranks",
        .summary = "how many rows of a matrix come before each, in the order of dictionaries",
        .inputs = {{"x", TypeClass::kAny}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            if (call.shape(0).rank() != 2 || call.shape(0)[1].count < 1)
                return invalid_argument("x is " + to_string(call.shape(0)) + ", expected a matrix");
            return call.one(DType::kI64, {call.shape(0)[0]});
        },
        .compute = compute_any(row_ranks_rule),
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                s.add_typed({{DType::kI32, {7, 2}}});
                s.add_typed({{DType::kI32, {5, 3}}}).high = 1;
                s.add({{kBatch, 4}});
            },
    },
    {
        .name = "nms",
        .summary = "indices of the best boxes of each class that overlap no better one; -1 behind",
        .inputs = {{"boxes"}, {"scores"}},
        .attrs = {{"count", AttrType::kInteger},
                  {"overlap", AttrType::kFloat, 0},
                  {"has_score", AttrType::kInteger, 0},
                  {"score", AttrType::kFloat, 0},
                  {"centered", AttrType::kInteger, 0}},
        .op_class = OpClass::kKernel,
        .is_opaque = true,
        .infer = infer_nms,
        .reference = reference_nms,
        .kernel = nms_kernel,
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& boxes, Dim classes, int64_t count,
                                      double overlap, int64_t centered) {
                    Sample& sample =
                        s.add({boxes, {boxes[0], classes, boxes[1]}}, {{"count", count},
                                                                       {"overlap", overlap},
                                                                       {"has_score", int64_t{1}},
                                                                       {"score", 0.2},
                                                                       {"centered", centered}});
                    sample.low = 0.1;
                    sample.high = 2;
                };
                add({1, 6, 4}, 1, 3, 0.5, 0);
                add({2, 40, 4}, 3, 50, 0.3, 1);
                add({kBatch, 7, 4}, 2, 4, 0.1, 0);
                add({1, 600, 4}, 1, 30, 0.4, 0);
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> select_ops{kOps};

Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t time_axis,
                        int64_t batch_axis) {
    if (!x.ok()) return x;
    const Result<int> time = normalize_axis(time_axis, x.rank());
    const Result<int> batch = normalize_axis(batch_axis, x.rank());
    if (!time.ok()) return fail(x, time.status().with_context("reverse_sequence"));
    if (!batch.ok()) return fail(x, batch.status().with_context("reverse_sequence"));
    return apply_one(op("reverse_sequence"), {x, lengths},
                     {{"time_axis", int64_t{*time}}, {"batch_axis", int64_t{*batch}}});
}

std::vector<Tensor> import_reverse_sequence(OnnxCall& call) {
    return {reverse_sequence(call.in(0), call.in(1), call.integer("time_axis", 0),
                             call.integer("batch_axis", 1))};
}

NonZero nonzero(const Tensor& x, int64_t capacity) {
    const NonZero failed{failed_like(x), failed_like(x)};
    if (!x.ok()) return failed;
    const Shape shape = x.shape();
    bool suits = shape.rank() >= 1 && shape.element_count().count > 0 && capacity >= 1;
    for (int i = 1; i < shape.rank(); ++i) suits = suits && !shape[i].is_batch;
    if (!suits) {
        fail(x, invalid_argument("nonzero: capacity " + std::to_string(capacity) + " for " +
                                 to_string(shape) +
                                 "; needs elements, and only the first axis may be symbolic"));
        return failed;
    }
    const bool is_bool = x.dtype() == DType::kBool;
    const Tensor flags = cast(is_bool ? x : not_equal(x, 0), DType::kI64);
    const Tensor so_far = cumsum(reshape(flags, {Dim(-1)}), 0);
    const Tensor count = sum(flags);
    // The j-th selected element is where the running count first exceeds j.
    const Tensor number = arange(*x.trace(), {capacity}, DType::kI64);
    const Tensor place = searchsorted(so_far, number, true);
    std::vector<Tensor> coordinates;
    Tensor rest = place;
    for (int i = shape.rank() - 1; i >= 0; --i) {
        const auto extent = static_cast<double>(shape[i].count);
        const Tensor coordinate = i == 0 ? rest : mod(rest, constant_like(rest, extent));
        coordinates.push_back(where(less(number, count), coordinate, -1.0));
        rest = rest / extent;
    }
    std::reverse(coordinates.begin(), coordinates.end());
    return {stack(coordinates, 0), count};
}

namespace {

/// True where a row (or element) of sorted differs from the one before; false for the first.
Tensor differs_from_last(const Tensor& sorted) {
    const Tensor number = arange(*sorted.trace(), {sorted.dim(0)}, DType::kI64);
    const Tensor last = take(sorted, maximum(number - 1.0, 0), 0);
    Tensor differs = not_equal(sorted, last);
    if (is_floating(sorted.dtype()))
        differs = logical_and(differs, logical_not(logical_and(is_nan(sorted), is_nan(last))));
    if (sorted.rank() == 1) return differs;
    return greater(max(cast(differs, DType::kI32), {1}), 0);
}

}  // namespace

Unique unique(const Tensor& x, int64_t capacity, std::optional<int64_t> axis, bool sorted) {
    const Tensor failed_tensor = failed_like(x);
    const Unique failed{failed_tensor, failed_tensor, failed_tensor, failed_tensor, failed_tensor};
    if (!x.ok()) return failed;
    const Result<int> at = axis ? normalize_axis(*axis, x.rank()) : Result<int>(0);
    if (!at.ok() || capacity < 1 || x.shape().element_count().count == 0) {
        fail(x, at.ok() ? invalid_argument("unique: capacity " + std::to_string(capacity) +
                                           " for " + to_string(x.shape()))
                        : at.status().with_context("unique"));
        return failed;
    }
    // Slices become rows; without an axis, single elements.
    Axes leading{*at};
    for (int i = 0; i < x.rank(); ++i)
        if (i != *at) leading.push_back(i);
    Tensor rows = axis ? transpose(x, leading) : reshape(x, {Dim(-1)});
    if (rows.rank() > 1) rows = flatten(rows, 1, -1);
    const Tensor order = argsort(rows.rank() == 1 ? rows : apply_one(op("row_ranks"), {rows}), 0);
    const Tensor group = cumsum(cast(differs_from_last(take(rows, order, 0)), DType::kI64), 0);
    const Tensor count = max(group) + 1.0;
    const Tensor number = arange(*x.trace(), {capacity}, DType::kI64);
    const Tensor is_used = less(number, count);
    const Tensor begin = searchsorted(group, number), end = searchsorted(group, number, true);
    Tensor counts = end - begin;
    Tensor first = where(is_used, take(order, begin, 0), -1.0);
    Tensor inverse = take(group, argsort(order, 0), 0);
    if (!sorted) {
        const Tensor by_place = argsort(where(is_used, first, static_cast<double>(INT32_MAX)), 0);
        counts = take(counts, by_place, 0);
        first = take(first, by_place, 0);
        inverse = take(argsort(by_place, 0), inverse, 0);
    }
    Tensor values = take(axis ? x : reshape(x, {Dim(-1)}), maximum(first, 0), *at);
    return {values, first, inverse, counts, count};
}

Tensor nms(const Tensor& boxes, const Tensor& scores, int64_t count, const NmsOptions& options) {
    const bool has_score = options.score_threshold.has_value();
    return apply_one(op("nms"), {boxes, scores},
                     {{"count", count},
                      {"overlap", options.overlap_threshold},
                      {"has_score", int64_t{has_score}},
                      {"score", has_score ? *options.score_threshold : 0.0},
                      {"centered", int64_t{options.centered}}});
}

}  // namespace hearth
