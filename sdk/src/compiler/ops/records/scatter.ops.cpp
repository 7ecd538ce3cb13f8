// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes at indices that are data. No result depends on thread order: each element finds the
// updates that target it and folds them in order. With few updates it loops over all of them; many
// are first sorted by target, and each element folds its segment. An update whose index is out of
// range is discarded.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

bool is_reduction(std::string_view name) {
    return name == "none" || name == "add" || name == "mul" || name == "max" || name == "min";
}

Status check_reduction(const Attrs& attrs) {
    const std::string& name = attrs.text("reduction");
    if (is_reduction(name)) return {};
    return invalid_argument("reduction is '" + name + "', expected none, add, mul, max or min");
}

Status check_types(const InferContext& call, size_t data, size_t updates) {
    if (call.inputs[data].dtype == call.inputs[updates].dtype) return {};
    return invalid_argument("data is " + std::string(name_of(call.inputs[data].dtype)) +
                            ", updates are " + std::string(name_of(call.inputs[updates].dtype)));
}

template <class I>
I from_front(I index, I count) {
    return select(index < 0, index + count, index);
}
template <class I>
I clamped(I index, I count) {
    return min(max(index, count - count), count - 1);
}

/// Folds into `old` the updates i in [0, count) for which `matches(i)`; `update(i)` reads one, and
/// must stay in bounds for each.
template <class C, class V, class I, class M, class U>
V fold_updates(C& c, V old, I count, M matches, U update) {
    const std::string& reduction = c.attrs().text("reduction");
    if (reduction == "add")
        return old +
               c.sum(count, [&](auto i) { return select(matches(i), update(i), c.value(0)); });
    if (reduction == "mul")
        return old *
               c.product(count, [&](auto i) { return select(matches(i), update(i), c.value(1)); });
    // A candidate without a match is `old`, which leaves the extrema unchanged. The loop over no
    // updates has no candidate, hence the select.
    const auto candidate = [&](auto i) { return select(matches(i), update(i), old); };
    if (reduction == "max") return max(old, select(count > 0, c.reduce_max(count, candidate), old));
    if (reduction == "min") return min(old, select(count > 0, c.reduce_min(count, candidate), old));
    // The last one wins. Its number, from 1, is found in the output's type.
    auto last = c.to_index(c.reduce_max(
        count, [&](auto i) { return select(matches(i), c.number(i + 1), c.value(0)); }));
    return select(last > 0, update(max(last - 1, count - count)), old);
}

// --- By coordinates along one axis ---

Status infer_scatter_elements(InferContext& call) {
    const Shape &data = call.shape(0), &indices = call.shape(1);
    HEARTH_TRY(check_axis(call.attrs, data.rank()));
    HEARTH_TRY(check_reduction(call.attrs));
    HEARTH_TRY(check_types(call, 0, 2));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    bool fits = indices.rank() == data.rank() && call.shape(2) == indices;
    for (int i = 0; fits && i < data.rank(); ++i)
        fits = indices[i].count > 0 &&
               (i == axis || indices[i] == data[i] ||
                (indices[i].is_batch == data[i].is_batch && indices[i].count <= data[i].count));
    if (!fits)
        return invalid_argument(
            "indices and updates must have one shape, within data's except along axis " +
            std::to_string(axis));
    return call.one(call.dtype(0), data);
}

/// True if two extents are known to be equal: indices in bounds of one are then in bounds of the
/// other, and a coordinate needs no clamping.
bool is_same(int64_t a, int64_t b) {
    return a == b;
}
bool is_same(Scalar a, Scalar b) {
    return a.id == b.id;
}

const auto scatter_elements_rule = [](auto& c) {
    const int axis = static_cast<int>(c.attrs().integer("axis"));
    auto here = c.coords();
    auto place = here;
    auto is_covered = c.index(0) == c.index(0);
    for (int i = 0; i < c.rank(); ++i) {
        if (i == axis || is_same(c.in_dim(1, i), c.dim(i))) continue;
        is_covered = logical_and(is_covered, here[i] < c.in_dim(1, i));
        place[i] = clamped(here[i], c.in_dim(1, i));
    }
    const auto matches = [&](auto i) {
        place[axis] = i;
        auto target = from_front(c.to_index(c.in(1, place)), c.dim(axis));
        return logical_and(is_covered, target == here[axis]);
    };
    const auto update = [&](auto i) {
        place[axis] = i;
        return c.in(2, place);
    };
    return fold_updates(c, c.in(0, here), c.in_dim(1, axis), matches, update);
};

// --- By tuples of coordinates ---

/// indices: [batch axes..., more..., depth]; x: [batch axes..., depth axes..., rest...].
struct Tuples {
    int batch, rank, depth;
    Tuples(const Attrs& attrs, const Shape& indices)
        : batch(static_cast<int>(attrs.integer("batch_dims"))),
          rank(indices.rank() - 1),
          depth(static_cast<int>(indices[rank].count)) {}
};

Status check_tuples(const Attrs& attrs, const Shape& x, const Shape& indices) {
    const int64_t batch = attrs.integer("batch_dims");
    if (indices.rank() < 1 || indices[indices.rank() - 1].is_batch || batch < 0 ||
        batch >= indices.rank())
        return invalid_argument("indices are " + to_string(indices) + " with " +
                                std::to_string(batch) + " batch axes");
    const Tuples t(attrs, indices);
    bool fits = t.depth >= 1 && t.batch + t.depth <= x.rank();
    for (int i = 0; fits && i < t.batch; ++i) fits = x[i] == indices[i];
    if (fits) return {};
    return invalid_argument("tuples of " + std::to_string(t.depth) + " indices, after " +
                            std::to_string(batch) + " batch axes, do not suit " + to_string(x));
}

/// The shape of the slices that the tuples select.
Shape picked_shape(const Attrs& attrs, const Shape& x, const Shape& indices) {
    const Tuples t(attrs, indices);
    Shape shape;
    for (int i = 0; i < t.rank; ++i) shape.push_back(indices[i]);
    for (int i = t.batch + t.depth; i < x.rank(); ++i) shape.push_back(x[i]);
    return shape;
}

Status infer_gather_nd(InferContext& call) {
    const Shape &x = call.shape(0), &indices = call.shape(1);
    HEARTH_TRY(check_tuples(call.attrs, x, indices));
    const Tuples t(call.attrs, indices);
    for (int i = 0; i < t.depth; ++i)
        if (x[t.batch + i].count == 0) return invalid_argument("an axis to read from is empty");
    if (t.rank + x.rank() - t.batch - t.depth > kMaxRank)
        return out_of_range("the result's rank is above " + std::to_string(kMaxRank));
    const Shape shape = picked_shape(call.attrs, x, indices);
    HEARTH_TRY(check_shape(shape));
    return call.one(call.dtype(0), shape);
}

Status infer_scatter_nd(InferContext& call) {
    const Shape &data = call.shape(0), &indices = call.shape(1);
    HEARTH_TRY(check_reduction(call.attrs));
    HEARTH_TRY(check_types(call, 0, 2));
    HEARTH_TRY(check_tuples(call.attrs, data, indices));
    if (indices.element_count().count == 0) return invalid_argument("there are no indices");
    const Shape expected = picked_shape(call.attrs, data, indices);
    if (call.shape(2) != expected)
        return invalid_argument("updates must be " + to_string(expected) + ", found " +
                                to_string(call.shape(2)));
    return call.one(call.dtype(0), data);
}

const auto gather_nd_rule = [](auto& c) {
    const int batch = static_cast<int>(c.attrs().integer("batch_dims"));
    const int tuple_rank = c.in_rank(1) - 1;
    const int depth = c.in_rank(0) - batch - (c.rank() - tuple_rank);
    auto out = c.coords();
    decltype(out) tuple, place;
    for (int i = 0; i < tuple_rank; ++i) tuple.axis.push_back(out[i]);
    tuple.axis.push_back(c.index(0));
    for (int i = 0; i < batch; ++i) place.axis.push_back(out[i]);
    for (int k = 0; k < depth; ++k) {
        tuple[tuple_rank] = c.index(k);
        auto count = c.in_dim(0, batch + k);
        place.axis.push_back(clamped(from_front(c.to_index(c.in(1, tuple)), count), count));
    }
    for (int i = tuple_rank; i < c.rank(); ++i) place.axis.push_back(out[i]);
    return c.in(0, place);
};

const auto scatter_nd_rule = [](auto& c) {
    const int batch = static_cast<int>(c.attrs().integer("batch_dims"));
    const int tuple_rank = c.in_rank(1) - 1;
    const int depth = c.rank() - batch - (c.in_rank(2) - tuple_rank);
    auto here = c.coords();
    decltype(here) tuple, place;
    auto count = c.index(1);
    for (int i = 0; i < tuple_rank; ++i) {
        tuple.axis.push_back(i < batch ? here[i] : c.index(0));
        place.axis.push_back(i < batch ? here[i] : c.index(0));
        if (i >= batch) count = count * c.in_dim(1, i);
    }
    tuple.axis.push_back(c.index(0));
    for (int i = batch + depth; i < c.rank(); ++i) place.axis.push_back(here[i]);
    // Enumerates tuples in row-major order: the last of their axes changes fastest.
    using Index = typename std::remove_reference_t<decltype(c)>::Index;
    const auto move_to = [&](auto& at, Index i) {
        Index rest = i;
        for (int axis = tuple_rank - 1; axis >= batch; --axis) {
            at[axis] = axis == batch ? rest : rest % c.in_dim(1, axis);
            rest = rest / c.in_dim(1, axis);
        }
    };
    const auto matches = [&](auto i) {
        move_to(tuple, i);
        auto all = c.index(0) == c.index(0);
        for (int k = 0; k < depth; ++k) {
            tuple[tuple_rank] = c.index(k);
            auto target = from_front(c.to_index(c.in(1, tuple)), c.dim(batch + k));
            all = logical_and(all, target == here[batch + k]);
        }
        return all;
    };
    const auto update = [&](auto i) {
        move_to(place, i);
        return c.in(2, place);
    };
    return fold_updates(c, c.in(0, here), count, matches, update);
};

// --- Updates sorted by target ---

/// data: [A, N, B], updates: [A, M, B], order: [M] (updates sorted by target), begins: [N + 1]
/// (offset of each target's segment of `order`).
Status infer_segment_fold(InferContext& call) {
    const Shape &data = call.shape(0), &updates = call.shape(1);
    HEARTH_TRY(check_reduction(call.attrs));
    HEARTH_TRY(check_types(call, 0, 1));
    const bool fits = data.rank() == 3 && updates.rank() == 3 && data[0] == updates[0] &&
                      data[2] == updates[2] && call.shape(2) == Shape{updates[1]} &&
                      call.shape(3).rank() == 1 &&
                      (data[1].is_batch || call.shape(3)[0] == Dim(data[1].count + 1));
    if (!fits) return invalid_argument("expected [A, N, B], [A, M, B], [M] and [N + 1]");
    if (updates[1] == Dim(0)) return invalid_argument("no updates: their axis 1 is empty");
    return call.one(call.dtype(0), data);
}

const auto segment_fold_rule = [](auto& c) {
    auto here = c.coords();
    auto place = here;
    decltype(here) at;
    at.axis.push_back(here[1]);
    auto begin = c.to_index(c.in(3, at));
    at[0] = here[1] + 1;
    auto count = c.to_index(c.in(3, at)) - begin;
    // The first is read even if the segment is empty.
    const auto matches = [&](auto i) { return i < count; };
    const auto update = [&](auto i) {
        at[0] = clamped(begin + i, c.in_dim(2, 0));
        place[1] = c.to_index(c.in(2, at));
        return c.in(1, place);
    };
    return fold_updates(c, c.in(0, here), count, matches, update);
};

// --- On the CPU: the updates in order ---

template <class V>
V fold(std::string_view reduction, V old, V update) {
    if (reduction == "add") return old + update;
    if (reduction == "mul") return old * update;
    if (reduction == "max") return max(old, update);
    if (reduction == "min") return min(old, update);
    return update;
}

/// target(i): target of element i of the updates, or -1.
template <class F>
void fold_in_order(ReferenceContext& call, F target) {
    const HostTensor &data = call.inputs[0], &updates = call.inputs[2];
    HostTensor& out = call.outputs[0];
    const std::string& reduction = call.attrs.text("reduction");
    const auto run = [&](auto elements, const auto& with) {
        for (int64_t i = 0; i < updates.element_count(); ++i) {
            const int64_t at = target(i);
            if (at < 0) continue;
            auto& element = elements[static_cast<size_t>(at)];
            element = fold(reduction, element, with[static_cast<size_t>(i)]);
        }
        for (int64_t i = 0; i < out.element_count(); ++i)
            store(out, i, elements[static_cast<size_t>(i)]);
    };
    if (is_floating(data.dtype()))
        run(elements_of<double>(data), elements_of<double>(updates));
    else
        run(elements_of<int64_t>(data), elements_of<int64_t>(updates));
}

/// The index counted from the front; -1 if out of range.
int64_t valid_index(int64_t index, int64_t count) {
    if (index < 0) index += count;
    return index >= 0 && index < count ? index : -1;
}

void reference_scatter_elements(ReferenceContext& call) {
    const Shape &data = call.inputs[0].shape(), &indices = call.inputs[1].shape();
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    fold_in_order(call, [&](int64_t i) {
        const int64_t index = valid_index(call.inputs[1].get_int(i), data[axis].count);
        int64_t at = 0, stride = 1, rest = i;
        for (int a = data.rank() - 1; a >= 0; --a) {
            const int64_t coordinate = rest % indices[a].count;
            rest /= indices[a].count;
            at += (a == axis ? index : coordinate) * stride;
            stride *= data[a].count;
        }
        return index < 0 ? int64_t{-1} : at;
    });
}

void reference_scatter_nd(ReferenceContext& call) {
    const Shape &data = call.inputs[0].shape(), &indices = call.inputs[1].shape();
    const Tuples t(call.attrs, indices);
    int64_t slice = 1, tuples = 1;  // elements of a slice, tuples of one batch element
    for (int a = t.batch + t.depth; a < data.rank(); ++a) slice *= data[a].count;
    for (int a = t.batch; a < t.rank; ++a) tuples *= indices[a].count;
    fold_in_order(call, [&](int64_t i) {
        const int64_t tuple = i / slice;
        int64_t at = tuple / tuples;
        for (int k = 0; k < t.depth; ++k) {
            const int64_t count = data[t.batch + k].count;
            const int64_t index = valid_index(call.inputs[1].get_int(tuple * t.depth + k), count);
            if (index < 0) return int64_t{-1};
            at = at * count + index;
        }
        return at * slice + i % slice;
    });
}

// --- Scan or sort ---

/// Indices counted from the front; -1 if out of range.
Tensor valid_indices(const Tensor& indices, int64_t count) {
    const auto extent = static_cast<double>(count);
    const Tensor i = cast(indices, DType::kI64);
    const Tensor from_front = where(less(i, 0), i + extent, i);
    const Tensor is_valid = logical_and(greater_equal(from_front, 0), less(from_front, extent));
    return where(is_valid, from_front, -1.0);
}

std::vector<Tensor> scatter_elements_by_cost(DecomposeContext& call) {
    const Tensor data = call.in(0), indices = call.in(1), updates = call.in(2);
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    const Shape shape = data.shape();
    if (shape.has_batch() || !should_sort(shape, indices.dim(axis)))
        return {apply_one(op("scatter_elements_scan"), {data, indices, updates}, call.attrs)};
    // The tensor is flattened to one axis; updates go to origin + index * stride there.
    const int64_t total = shape.element_count(1);
    Tensor origin = reshape(arange(call.trace, {total}, DType::kI64), shape);
    int64_t stride = 1;
    for (int a = 0; a < shape.rank(); ++a) {
        origin = slice(origin, a, 0, a == axis ? 1 : indices.dim(a).count);
        if (a > axis) stride *= shape[a].count;
    }
    const Tensor index = valid_indices(indices, shape[axis].count);
    const Tensor target = where(less(index, 0), static_cast<double>(total),
                                origin + index * static_cast<double>(stride));
    const Tensor result =
        fold_sorted(reshape(data, {1, total, 1}), reshape(updates, {1, Dim(-1), 1}),
                    reshape(target, {Dim(-1)}), call.attrs.text("reduction"));
    return {reshape(result, shape)};
}

/// assign(state, scatter_nd(state, indices, rows)) as rows written in place, where that applies.
std::optional<Tensor> as_written_rows(const DecomposeContext& call) {
    const Shape &x = call.in(0).shape(), &indices = call.in(1).shape(),
                &updates = call.in(2).shape();
    if (!call.updates_input || call.attrs.text("reduction") != "none" ||
        call.attrs.integer("batch_dims") != 0 || indices.rank() != 2 || x.has_batch() ||
        x.element_count().count == 0 || updates.element_count().count == 0)
        return {};
    const int64_t depth = indices[1].count;
    const Tensor places = flat_row_places(call.in(1), x, static_cast<int>(depth));
    return apply_one(op("write_rows"), {call.in(0), places, call.in(2)}, {{"depth", depth}});
}

std::vector<Tensor> scatter_nd_by_cost(DecomposeContext& call) {
    if (const std::optional<Tensor> rows = as_written_rows(call)) return {*rows};
    const Tensor data = call.in(0), indices = call.in(1), updates = call.in(2);
    const Shape shape = data.shape(), from = indices.shape();
    const Tuples t(call.attrs, from);
    Dim tuples(1);
    for (int a = t.batch; a < t.rank; ++a)
        tuples = Dim(tuples.count * from[a].count, tuples.is_batch || from[a].is_batch);
    if (t.batch > 0 || shape.has_batch() || !should_sort(shape, tuples))
        return {apply_one(op("scatter_nd_scan"), {data, indices, updates}, call.attrs)};
    int64_t slices = 1, elements = 1;
    for (int a = 0; a < shape.rank(); ++a) (a < t.depth ? slices : elements) *= shape[a].count;
    Tensor target = call.trace.constant(0, DType::kI64);
    Tensor is_outside = call.trace.constant(0, DType::kBool);
    for (int k = 0; k < t.depth; ++k) {
        const Tensor index =
            valid_indices(squeeze(slice(indices, -1, k, k + 1), {-1}), shape[k].count);
        is_outside = logical_or(is_outside, less(index, 0));
        target = target * static_cast<double>(shape[k].count) + index;
    }
    target = where(is_outside, static_cast<double>(slices), target);
    const Tensor result =
        fold_sorted(reshape(data, {1, slices, elements}), reshape(updates, {1, Dim(-1), elements}),
                    reshape(target, {Dim(-1)}), call.attrs.text("reduction"));
    return {reshape(result, shape)};
}

// --- Gradients, shared by both ways of addressing ---

/// One of the two ways of addressing: indices along an axis, or tuples.
struct Address {
    std::string_view scatter_name, gather_name;
    Tensor indices;
    Attrs attrs;  ///< attributes of the gather

    Tensor scatter(const Tensor& data, const Tensor& updates, const char* reduction) const {
        Attrs with = attrs;
        with.set("reduction", std::string(reduction));
        return apply_one(op(scatter_name), {data, indices, updates}, with);
    }
    /// For each update, x at its target; undefined values for updates without a target.
    Tensor gather(const Tensor& x) const { return apply_one(op(gather_name), {x, indices}, attrs); }
};

/// True per index if it is in bounds of x's axis.
Tensor is_within(const Tensor& indices, const Tensor& x, int axis) {
    const Dim extent = x.dim(axis);
    const Tensor count = extent.is_batch
                             ? cast(hearth::numel_along(x, {axis}), indices.dtype())
                             : constant_like(indices, static_cast<double>(extent.count));
    const Tensor from_front = where(less(indices, 0), indices + count, indices);
    return logical_and(greater_equal(from_front, 0), less(from_front, count));
}

/// True per update if it has a target.
Tensor has_target(const VjpContext& v, const Address& at) {
    const Tensor data = v.in(0), indices = at.indices, updates = v.in(2);
    if (at.attrs.has("axis"))
        return is_within(indices, data, static_cast<int>(at.attrs.integer("axis")));
    const Tuples t(at.attrs, indices.shape());
    Tensor all;
    for (int k = 0; k < t.depth; ++k) {
        const Tensor one = is_within(slice(indices, -1, k, k + 1), data, t.batch + k);
        all = k == 0 ? one : logical_and(all, one);
    }
    Shape shape;
    for (int i = 0; i < updates.rank(); ++i) shape.push_back(i < t.rank ? updates.dim(i) : Dim(1));
    return expand(reshape(all, shape), updates.shape());
}

/// A number per update that is unique among updates of the same target.
Tensor update_numbers(const Tensor& updates) {
    Shape all;
    all.push_back(updates.shape().element_count());
    const Tensor numbers =
        apply(op("iota"), {}, {{"shape", all}, {"dtype", DType::kI32}}, updates.trace())[0];
    return reshape(numbers, updates.shape());
}

/// Gradient of the product of the updates of a target and its old value. Division fails for zeros:
/// with one zero factor, its gradient is the product of the others; with several, all are zero.
std::vector<Tensor> product_vjp(const Address& at, const Tensor& g, const Tensor& data,
                                const Tensor& updates) {
    const auto is_zero = [](const Tensor& x) { return equal(x, 0); };
    const auto without_zeros = [&](const Tensor& x) { return where(is_zero(x), 1.0, x); };
    const auto count_zeros = [&](const Tensor& x) { return cast(is_zero(x), x.dtype()); };
    const Tensor product = at.scatter(without_zeros(data), without_zeros(updates), "mul");
    const Tensor zeros = at.scatter(count_zeros(data), count_zeros(updates), "add");
    const auto gradient = [&](const Tensor& x, const Tensor& all, const Tensor& count,
                              const Tensor& cotangent) {
        const Tensor other_zeros = count - count_zeros(x);
        return cotangent * where(equal(other_zeros, 0), all / without_zeros(x), 0.0);
    };
    return {gradient(data, product, zeros, g), Tensor(),
            gradient(updates, at.gather(product), at.gather(zeros), at.gather(g))};
}

std::vector<Tensor> vjp_with_targets(VjpContext& v, const Address& at) {
    const Tensor g = v.cotangent(), data = v.in(0), updates = v.in(2);
    const std::string& reduction = v.attrs.text("reduction");
    if (reduction == "add") return {g, Tensor(), at.gather(g)};
    if (reduction == "mul") return product_vjp(at, g, data, updates);
    if (reduction == "none") {
        // Only the update that won has a gradient.
        const Tensor numbers = update_numbers(updates);
        const Tensor none = expand(g.trace()->constant(-1, DType::kI32), g.shape());
        const Tensor winners = at.scatter(none, numbers, "none");
        return {where(less(winners, 0), g, 0.0), Tensor(),
                where(equal(at.gather(winners), numbers), at.gather(g), 0.0)};
    }
    // Elements that attain the extremum share its gradient.
    const Tensor reach_data = cast(equal(data, v.out()), g.dtype());
    const Tensor reach_updates = cast(equal(updates, at.gather(v.out())), g.dtype());
    const Tensor share = g / at.scatter(reach_data, reach_updates, "add");
    return {reach_data * share, Tensor(), reach_updates * at.gather(share)};
}

std::vector<Tensor> scatter_vjp(VjpContext& v, const Address& at) {
    std::vector<Tensor> gradients = vjp_with_targets(v, at);
    gradients[2] = where(has_target(v, at), gradients[2], 0.0);
    return gradients;
}

// --- Samples ---

constexpr TensorType real(const Shape& shape) {
    return {DType::kF32, shape};
}
constexpr TensorType index(const Shape& shape) {
    return {DType::kI32, shape};
}

void scatter_elements_samples(Samples& s, bool differentiable) {
    const auto add = [&](const Shape& data, const Shape& indices, int64_t axis,
                         const char* reduction, double count) -> Sample& {
        Sample& sample = s.add_typed({real(data), index(indices), real(indices)},
                                     {{"axis", axis}, {"reduction", std::string(reduction)}});
        sample.low = -count;
        sample.high = count;
        sample.gradient = differentiable;
        return sample;
    };
    add({7}, {5}, 0, "none", 7);
    add({3, 5}, {2, 4}, 1, "none", 5);
    add({3, 5}, {4, 5}, 0, "add", 3);
    add({kBatch, 5}, {kBatch, 2}, 1, "add", 5);
    add({kBatch, 3}, {kBatch, 4}, 1, "none", 3);
    add({2, 3, 1, 5}, {2, 6, 1, 4}, 1, "mul", 3);
    add({2, 1, 3}, {2, 1, 7}, 2, "max", 3);
    add({2, 1, 3}, {2, 1, 7}, 2, "min", 3);
    if (differentiable) {
        // Enough to be sorted.
        for (const char* reduction : {"none", "add", "max"})
            add({1100, 3}, {500, 2}, 0, reduction, 1100).gradient = reduction[0] != 'm';
    }
    Sample& bytes = s.add_typed({{DType::kI8, {4}}, index({9}), {DType::kI8, {9}}},
                                {{"axis", int64_t{0}}, {"reduction", std::string("add")}});
    bytes.low = -4;
    bytes.high = 4;
}

void scatter_nd_samples(Samples& s, bool differentiable) {
    const auto add = [&](const Shape& data, const Shape& indices, const Shape& updates,
                         int64_t batch, const char* reduction, double count) {
        Sample& sample =
            s.add_typed({real(data), index(indices), real(updates)},
                        {{"batch_dims", batch}, {"reduction", std::string(reduction)}});
        sample.low = -count;
        sample.high = count;
        sample.gradient = differentiable;
    };
    add({8}, {5, 1}, {5}, 0, "none", 8);
    add({4, 3}, {3, 2}, {3}, 0, "add", 3);
    add({4, 3}, {2, 3, 1}, {2, 3, 3}, 0, "add", 4);
    add({kBatch, 3}, {kBatch, 2, 1}, {kBatch, 2}, 1, "add", 3);
    add({2, 3, 4}, {2, 5, 1}, {2, 5, 4}, 1, "none", 3);
    add({3, 2, 2}, {4, 2}, {4, 2}, 0, "mul", 2);
    add({3, 2, 2}, {4, 2}, {4, 2}, 0, "max", 2);
    add({3, 2, 2}, {4, 3}, {4}, 0, "min", 2);
    // Enough to be sorted.
    if (differentiable) add({40, 30, 2}, {kBatch, 150, 2}, {kBatch, 150, 2}, 0, "add", 40);
}

void gather_nd_samples(Samples& s) {
    const auto add = [&s](const Shape& x, const Shape& indices, int64_t batch, double count) {
        Sample& sample = s.add_typed({real(x), index(indices)}, {{"batch_dims", batch}});
        sample.low = -count;
        sample.high = count;
    };
    add({7}, {5, 1}, 0, 7);
    add({2, 3}, {4, 2}, 0, 2);
    add({2, 3, 4}, {3, 1}, 0, 2);
    add({kBatch, 3}, {kBatch, 2, 1}, 1, 3);
    add({2, 3, 4}, {2, 2, 1}, 1, 3);
    add({2, 2, 3, 2}, {2, 2, 3, 1}, 2, 3);
}

// --- One window per batch element ---

Status infer_tensor_scatter(InferContext& call) {
    const Shape &cache = call.shape(0), &update = call.shape(1), &begins = call.shape(2);
    HEARTH_TRY(check_axis(call.attrs, cache.rank()));
    HEARTH_TRY(check_types(call, 0, 1));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    bool fits = axis > 0 && update.rank() == cache.rank() && begins.rank() == 1 &&
                begins[0] == cache[0] && !cache[axis].is_batch && !update[axis].is_batch &&
                update[axis].count > 0 && update[axis].count <= cache[axis].count;
    for (int i = 0; fits && i < cache.rank(); ++i) fits = i == axis || update[i] == cache[i];
    if (!fits)
        return invalid_argument("update must have the cache's extents but along axis " +
                                std::to_string(axis) + ", where it is shorter; begins: one for " +
                                "each element of axis 0");
    return call.one(call.dtype(0), cache);
}

const auto tensor_scatter_rule = [](auto& c) {
    const int axis = static_cast<int>(c.attrs().integer("axis"));
    auto here = c.coords();
    decltype(here) batch;
    batch.axis.push_back(here[0]);
    auto begin = c.to_index(c.in(2, batch));
    auto length = c.in_dim(1, axis);
    auto offset = here[axis] - begin;
    if (c.attrs().flag("circular")) {
        begin = begin % c.dim(axis);
        begin = select(begin < 0, begin + c.dim(axis), begin);
        offset = here[axis] - begin;
        offset = select(offset < 0, offset + c.dim(axis), offset);
    }
    auto is_inside = logical_and(offset >= 0, offset < length);
    auto place = here;
    place[axis] = clamped(offset, length);
    return select(is_inside, c.in(1, place), c.in(0, here));
};

constexpr FixedList<InputSpec, 8> kScatterInputs = {
    {"data", TypeClass::kAny}, {"indices", TypeClass::kInteger}, {"updates", TypeClass::kAny}};

constinit const OpDef kOps[] = {
    {
        .name = "gather_nd",
        .summary = "slices of x at tuples of indices, after `batch_dims` axes in common",
        .inputs = {{"x", TypeClass::kAny}, {"indices", TypeClass::kInteger}},
        .attrs = {{"batch_dims", AttrType::kInteger, 0}},
        .op_class = OpClass::kInjective,
        .infer = infer_gather_nd,
        .compute = compute_any(gather_nd_rule),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            Attrs attrs = v.attrs;
            attrs.set("reduction", std::string("add"));
            return {
                apply_one(op("scatter_nd"), {zeros_like(v.in(0)), v.in(1), v.cotangent()}, attrs),
                Tensor()};
        },
        .onnx_export = onnx_export::gather_nd,
        .onnx = {{"GatherND", 11, import_gather_nd}},
        .samples = gather_nd_samples,
    },
    {
        .name = "scatter_nd",
        .summary = "data with slices replaced by, or combined with, updates at tuples of indices",
        .inputs = kScatterInputs,
        .attrs = {{"batch_dims", AttrType::kInteger, 0}, {"reduction", AttrType::kString}},
        .op_class = OpClass::kComposite,
        .infer = infer_scatter_nd,
        .reference = reference_scatter_nd,
        .decompose = scatter_nd_by_cost,
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return scatter_vjp(v, {"scatter_nd",
                                   "gather_nd",
                                   v.in(1),
                                   {{"batch_dims", v.attrs.integer("batch_dims")}}});
        },
        .onnx_export = onnx_export::scatter_nd,
        .onnx = {{"ScatterND", 11, import_scatter_nd}},
        .samples = [](Samples& s) { scatter_nd_samples(s, true); },
    },
    {
        .name = "scatter_elements",
        .summary =
            "data with elements replaced by, or combined with, updates at indices along axis",
        .inputs = kScatterInputs,
        .attrs = {{"axis", AttrType::kInteger, 0}, {"reduction", AttrType::kString}},
        .op_class = OpClass::kComposite,
        .infer = infer_scatter_elements,
        .reference = reference_scatter_elements,
        .decompose = scatter_elements_by_cost,
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return scatter_vjp(v, {"scatter_elements",
                                   "gather_elements",
                                   v.in(1),
                                   {{"axis", v.attrs.integer("axis")}}});
        },
        .onnx_export = onnx_export::scatter_elements,
        .onnx = {{"Scatter", 9, import_scatter_elements},
                 {"ScatterElements", 11, import_scatter_elements}},
        .samples = [](Samples& s) { scatter_elements_samples(s, true); },
    },
    {
        .name = "scatter_nd_scan",
        .summary = "scatter_nd, each element looking at all updates; made by its decomposition",
        .inputs = kScatterInputs,
        .attrs = {{"batch_dims", AttrType::kInteger, 0}, {"reduction", AttrType::kString}},
        .op_class = OpClass::kInjective,
        .infer = infer_scatter_nd,
        .compute = at_wrapping(scatter_nd_rule),
        .samples = [](Samples& s) { scatter_nd_samples(s, false); },
    },
    {
        .name = "scatter_elements_scan",
        .summary = "scatter_elements, each element looking at all updates; made by its "
                   "decomposition",
        .inputs = kScatterInputs,
        .attrs = {{"axis", AttrType::kInteger, 0}, {"reduction", AttrType::kString}},
        .op_class = OpClass::kInjective,
        .infer = infer_scatter_elements,
        .compute = at_wrapping(scatter_elements_rule),
        .samples = [](Samples& s) { scatter_elements_samples(s, false); },
    },
    {
        .name = "segment_fold",
        .summary = "data[:, j] folded with updates[:, order[i]] for all i in [begins[j], "
                   "begins[j + 1])",
        .inputs = {{"data", TypeClass::kAny},
                   {"updates", TypeClass::kAny},
                   {"order", TypeClass::kInteger},
                   {"begins", TypeClass::kInteger}},
        .attrs = {{"reduction", AttrType::kString}},
        .op_class = OpClass::kInjective,
        .infer = infer_segment_fold,
        .compute = at_wrapping(segment_fold_rule),
        .samples =
            [](Samples& s) {
                // Random begins would not ascend; scatter_nd's large samples have real ones.
                const auto add = [&s](const Shape& data, const Shape& updates,
                                      const char* reduction) {
                    Sample& sample = s.add_typed({real(data), real(updates), index({updates[1]}),
                                                  index({data[1].count + 1})},
                                                 {{"reduction", std::string(reduction)}});
                    sample.low = 0;
                    sample.high = 1;
                    sample.gradient = false;
                };
                add({2, 3, 4}, {2, 5, 4}, "add");
                add({1, 7, 1}, {1, kBatch, 1}, "none");
                add({1, 3, kBatch}, {1, 2, kBatch}, "add");
            },
    },
    {
        .name = "tensor_scatter",
        .summary = "cache with a window along the axis replaced by update, from begins[i] on for "
                   "element i of axis 0",
        .inputs = {{"cache", TypeClass::kAny},
                   {"update", TypeClass::kAny},
                   {"begins", TypeClass::kInteger}},
        .attrs = {{"axis", AttrType::kInteger}, {"circular", AttrType::kInteger, 0}},
        .op_class = OpClass::kInjective,
        .infer = infer_tensor_scatter,
        .compute = compute_any(tensor_scatter_rule),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const int axis = static_cast<int>(v.attrs.integer("axis"));
            const Tensor update = v.in(1);
            const auto axes_of_begins = [&] {
                Axes axes;
                for (int i = 1; i < update.rank(); ++i) axes.push_back(i);
                return axes;
            };
            Shape along;
            for (int i = 0; i < update.rank(); ++i)
                along.push_back(i == axis ? update.dim(axis) : Dim(1));
            const Tensor steps =
                reshape(apply(op("iota"), {},
                              {{"shape", Shape{update.dim(axis)}}, {"dtype", v.in(2).dtype()}},
                              update.trace())[0],
                        along);
            Tensor places = unsqueeze(v.in(2), axes_of_begins()) + steps;
            if (v.attrs.flag("circular"))
                places = mod(places,
                             constant_like(places, static_cast<double>(v.in(0).dim(axis).count)));
            return {apply_one(op("tensor_scatter"), {v.cotangent(), zeros_like(update), v.in(2)},
                              v.attrs),
                    gather_elements(v.cotangent(), expand(places, update.shape()), axis), Tensor()};
        },
        .onnx = {{"TensorScatter", 24, import_tensor_scatter}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& cache, const Shape& update, int64_t axis,
                                      int64_t circular, double count) {
                    Sample& sample = s.add_typed({real(cache), real(update), index({cache[0]})},
                                                 {{"axis", axis}, {"circular", circular}});
                    sample.low = 0;
                    sample.high = count;
                };
                add({3, 4, 5}, {3, 2, 5}, 1, 0, 3);
                add({2, 1, 4, 5}, {2, 1, 2, 5}, 2, 1, 4);
                add({kBatch, 4}, {kBatch, 3}, 1, 1, 4);
                add({kBatch, 6, 2}, {kBatch, 1, 2}, 1, 0, 6);
            },
    },
    {
        .name = "iota",
        .summary = "the number of each element, in row-major order",
        .attrs = {{"shape", AttrType::kShape}, {"dtype", AttrType::kDType}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_shape(call.attrs.shape("shape")));
            return call.one(call.attrs.dtype("dtype"), call.attrs.shape("shape"));
        },
        .compute = compute_any([](auto& c) { return c.number(c.linear()); }),
        .stops_gradient = true,
        .onnx_export = onnx_export::iota,
        .samples =
            [](Samples& s) {
                s.add({}, {{"shape", Shape{7}}, {"dtype", DType::kF32}});
                s.add({}, {{"shape", Shape{kBatch, 5}}, {"dtype", DType::kI32}});
                s.add({}, {{"shape", Shape{2, 1, 3}}, {"dtype", DType::kI64}});
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> scatter_ops{kOps};

bool should_sort(const Shape& shape, Dim looks) {
    constexpr int64_t kManyReads = 1 << 20, kUsualRows = 1024;
    return shape.element_count(kUsualRows) >
           kManyReads / std::max<int64_t>(looks.resolve(kUsualRows), 1);
}

Tensor fold_sorted(const Tensor& data, const Tensor& updates, const Tensor& targets,
                   const std::string& reduction) {
    const Dim ends(data.dim(1).count + 1);
    const Tensor order = argsort(targets, 0);
    const Tensor begins =
        searchsorted(take(targets, order), arange(*data.trace(), {ends}, DType::kI64));
    return apply_one(op("segment_fold"), {data, updates, order, begins},
                     {{"reduction", reduction}});
}

namespace {

bool is_empty(const Tensor& t) {
    return t.shape().element_count().count == 0;
}

}  // namespace

Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims) {
    return apply_one(op("gather_nd"), {x, indices}, {{"batch_dims", batch_dims}});
}

Tensor scatter_nd(const Tensor& data, const Tensor& indices, const Tensor& updates,
                  std::string_view reduction) {
    if (data.ok() && indices.ok() && is_empty(indices)) return data;
    return apply_one(op("scatter_nd"), {data, indices, updates},
                     {{"reduction", std::string(reduction)}});
}

Tensor scatter_elements(const Tensor& data, const Tensor& indices, const Tensor& updates,
                        int64_t axis, std::string_view reduction) {
    if (!data.ok() || !indices.ok()) return failed_like(data);
    const Result<int> at = normalize_axis(axis, data.rank());
    if (!at.ok()) return fail(data, at.status().with_context("scatter_elements"));
    if (is_empty(indices)) return data;
    return apply_one(op("scatter_elements"), {data, indices, updates},
                     {{"axis", int64_t{*at}}, {"reduction", std::string(reduction)}});
}

Tensor tensor_scatter(const Tensor& cache, const Tensor& update, const Tensor& begins, int64_t axis,
                      bool circular) {
    if (!cache.ok()) return cache;
    const Result<int> at = normalize_axis(axis, cache.rank());
    if (!at.ok()) return fail(cache, at.status().with_context("tensor_scatter"));
    return apply_one(op("tensor_scatter"), {cache, update, begins},
                     {{"axis", int64_t{*at}}, {"circular", int64_t{circular}}});
}

Tensor arange(Trace& trace, const Shape& shape, DType dtype) {
    return apply(op("iota"), {}, {{"shape", shape}, {"dtype", dtype}}, &trace)[0];
}

std::vector<Tensor> import_gather_nd(OnnxCall& call) {
    return {gather_nd(call.in(0), call.in(1), call.integer("batch_dims", 0))};
}

std::vector<Tensor> import_scatter_nd(OnnxCall& call) {
    return {scatter_nd(call.in(0), call.in(1), call.in(2), call.text("reduction", "none"))};
}

std::vector<Tensor> import_scatter_elements(OnnxCall& call) {
    return {scatter_elements(call.in(0), call.in(1), call.in(2), call.integer("axis", 0),
                             call.text("reduction", "none"))};
}

std::vector<Tensor> import_tensor_scatter(OnnxCall& call) {
    const Tensor cache = call.in(0), update = call.in(1);
    if (!call.trace.status().ok()) return {};
    const std::string mode = call.text("mode", "linear");
    if (mode != "linear" && mode != "circular") return call.invalid("mode is '" + mode + "'");
    const Tensor begins =
        call.has(2) ? call.in(2) : expand(call.trace.constant(0, DType::kI64), {cache.shape()[0]});
    return {tensor_scatter(cache, update, begins, call.integer("axis", -2), mode == "circular")};
}

}  // namespace hearth
