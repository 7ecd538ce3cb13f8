// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators whose result size depends on data. Shapes are fixed when a program is compiled, so each
// result has a capacity; the used count is a result, too.

#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "core/device_model.hpp"

#include <hearth/kernel.hpp>

#include <algorithm>
#include <array>
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

/// Suppression of overlapping boxes in a kernel.  Input 0: boxes [B, N, 4]; input 1: scores
/// [B, C, N].
struct NmsKernel {
    KernelBuilder& k;
    int64_t boxes, count;
    bool is_centered, has_score;
    double overlap, least_score;

    NmsKernel(KernelBuilder& builder, const Attrs& attrs, int64_t box_count)
        : k(builder),
          boxes(box_count),
          count(attrs.integer("count")),
          is_centered(attrs.flag("centered")),
          has_score(attrs.flag("has_score")),
          overlap(attrs.real("overlap")),
          least_score(has_score ? attrs.real("score") : 0) {}

    /// Batch elements times classes.
    Scalar lines() const { return k.in_dim(1, 0) * k.in_dim(1, 1); }
    /// The first box of a line.
    Scalar first_of(Scalar line) const {
        return line / k.in_dim(1, 1) * static_cast<double>(boxes);
    }
    Scalar score(Scalar line, Scalar box) const {
        return k.in(1, line * static_cast<double>(boxes) + box);
    }
    Scalar is_enough(Scalar score) const { return score > least_score; }
    void keep(Scalar line, Scalar kept, Scalar box) const {
        k.out(0, line * static_cast<double>(count) + kept, k.convert(box, k.out_type(0)));
    }

    struct Corners {
        std::array<Scalar, 2> low, high;
        Scalar area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
    };
    Corners corners(Scalar box) const {
        const Scalar at = box * 4;
        Corners corners;
        for (int axis = 0; axis < 2; ++axis) {
            const Scalar a = k.in(0, at + axis), b = k.in(0, at + (2 + axis));
            const auto side = static_cast<size_t>(axis);
            corners.low[side] = is_centered ? a - b * 0.5 : min(a, b);
            corners.high[side] = is_centered ? a + b * 0.5 : max(a, b);
        }
        return corners;
    }
    Scalar overlaps(const Corners& a, const Corners& b) const {
        const auto extent = [&](size_t axis) {
            return max(min(a.high[axis], b.high[axis]) - max(a.low[axis], b.low[axis]), 0.0);
        };
        const Scalar common = extent(0) * extent(1), all = a.area() + b.area() - common;
        return logical_and(all > 0.0, common / all > overlap);
    }
};

/// A workgroup for each batch element and class.  Each round finds the best box left by a tree in
/// shared memory, and drops those that overlap it too much.
/// Bytes moved: about 20 * boxes for each box that is kept.
void suppress_by_workgroups(KernelBuilder& k, const Attrs& attrs, int64_t boxes) {
    const NmsKernel nms(k, attrs, boxes);
    const int64_t threads = k.workgroup_size(), words = (boxes + 32 * threads - 1) / (32 * threads);
    const Scalar lane = k.lane();
    const KernelArray best_score = k.shared(k.in_type(1), threads);
    const KernelArray best_box = k.shared(ScalarType::kI32, threads);
    const KernelArray dropped = k.shared(ScalarType::kU32, words * threads);  // own words of each
    const auto word_of = [&](Scalar turn) {
        return turn / 32 * static_cast<double>(threads) + lane;
    };
    const auto bit_of = [&](Scalar turn) { return k.convert(turn % 32, ScalarType::kU32); };
    const Scalar one = k.constant(1, ScalarType::kU32);
    k.loop(k.workgroup(), nms.lines(), k.workgroup_count(), [&](Scalar line) {
        const Scalar first = nms.first_of(line);
        k.loop(0, words,
               [&](Scalar word) { dropped.set(word * static_cast<double>(threads) + lane, 0); });
        KernelVariable is_open = k.variable(ScalarType::kBool, 1);
        k.loop(0, nms.count, [&](Scalar kept) {
            KernelVariable score = k.variable(k.in_type(1), 0), best = k.variable(-1);
            const auto consider = [&](Scalar box) {
                const Scalar turn = box / static_cast<double>(threads);
                const Scalar word = dropped[word_of(turn)];
                k.if_(bit_and(shift_right(word, bit_of(turn)), one) == 0, [&] {
                    const Scalar mine = nms.score(line, box), now = best, so_far = score;
                    Scalar is_better = logical_or(now<0, mine> so_far);
                    if (nms.has_score) is_better = logical_and(nms.is_enough(mine), is_better);
                    k.if_(is_better, [&] {
                        score = mine;
                        best = box;
                    });
                });
            };
            k.if_(is_open, [&] { k.loop(lane, boxes, threads, consider); });
            best_score.set(lane, score);
            best_box.set(lane, best);
            k.barrier();
            k.loop_shrinking(threads / 2, 2, [&](Scalar width) {
                k.if_(lane < width, [&] {
                    const Scalar other = best_box[lane + width], own = best_box[lane];
                    const Scalar a = best_score[lane], b = best_score[lane + width];
                    const Scalar is_first = logical_and(b == a, other < own);
                    const Scalar is_better = logical_or(own < 0, logical_or(b > a, is_first));
                    k.if_(logical_and(other >= 0, is_better), [&] {
                        best_score.set(lane, b);
                        best_box.set(lane, other);
                    });
                });
                k.barrier();
            });
            const Scalar winner = best_box[0];
            is_open = winner >= 0;
            k.if_(lane == 0, [&] { nms.keep(line, kept, winner); });
            k.if_(winner >= 0, [&] {
                const NmsKernel::Corners chosen = nms.corners(first + winner);
                k.loop(lane, boxes, threads, [&](Scalar box) {
                    const Scalar overlaps = nms.overlaps(nms.corners(first + box), chosen);
                    k.if_(logical_or(box == winner, overlaps), [&] {
                        const Scalar turn = box / static_cast<double>(threads);
                        const Scalar word = dropped[word_of(turn)];
                        dropped.set(word_of(turn), bit_or(word, shift_left(one, bit_of(turn))));
                    });
                });
            });
            k.barrier();  // what was best is found anew
        });
    });
}

/// An invocation for each batch element and class.
void suppress_serially(KernelBuilder& k, const Attrs& attrs, int64_t boxes) {
    const NmsKernel nms(k, attrs, boxes);
    k.for_each(nms.lines(), [&](Scalar line) {
        const Scalar first = nms.first_of(line);
        const KernelArray is_left = k.array(ScalarType::kI32, boxes);
        k.loop(0, boxes, [&](Scalar box) {
            const Scalar counts = k.index(1);
            is_left.set(box, nms.has_score
                                 ? select(nms.is_enough(nms.score(line, box)), counts, k.index(0))
                                 : counts);
        });
        k.loop(0, nms.count, [&](Scalar kept) {
            KernelVariable best = k.variable(-1), score = k.variable(k.in_type(1), 0);
            k.loop(0, boxes, [&](Scalar box) {
                const Scalar own = nms.score(line, box), now = best, so_far = score;
                const Scalar is_better =
                    logical_and(is_left[box] == 1, logical_or(now<0, own> so_far));
                score = select(is_better, own, so_far);
                best = select(is_better, box, now);
            });
            const Scalar winner = best;
            nms.keep(line, kept, winner);
            k.if_(winner >= 0, [&] {
                const NmsKernel::Corners chosen = nms.corners(first + winner);
                k.loop(0, boxes, [&](Scalar box) {
                    const Scalar overlaps = nms.overlaps(nms.corners(first + box), chosen);
                    const Scalar is_dropped = logical_or(box == winner, overlaps);
                    is_left.set(box, select(is_dropped, 0, is_left[box]));
                });
            });
        });
    });
}

std::optional<CustomKernel> nms_kernel(const KernelRuleContext& call) {
    const int64_t boxes = call.shape(0)[1].count;
    const bool has_few_cores = device_model(call.caps).has_few_cores;
    Dim lines = call.shape(1)[0];
    lines.count *= call.shape(1)[1].count;
    return CustomKernel{.name = "nms",
                        .body =
                            [=, attrs = call.attrs](KernelBuilder& k) {
                                (has_few_cores ? suppress_serially : suppress_by_workgroups)(
                                    k, attrs, boxes);
                            },
                        .local_size = {usual_workgroup_size(call.caps), 1, 1},
                        .grid = {{{lines, 1}}}};
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
