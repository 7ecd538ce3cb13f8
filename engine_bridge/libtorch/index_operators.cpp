// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes at indices that are data. Writes use flat indices into the tensor; -1 skips an
// element.

#include "operators.hpp"

namespace hearth::libtorch {

namespace {

/// Negative indices count from the back; indices out of range are clamped.
at::Tensor in_bounds(const at::Tensor& index, int64_t count) {
    return at::where(index.lt(0), index + count, index).clamp(0, count - 1);
}

/// Negative indices count from the back; indices out of range become -1.
at::Tensor valid(const at::Tensor& index, int64_t count) {
    const at::Tensor from_front = at::where(index.lt(0), index + count, index);
    return from_front.masked_fill(from_front.lt(0).logical_or(from_front.ge(count)), -1);
}

/// Coordinate of each element along one axis.
at::Tensor coordinate(const List& shape, size_t axis) {
    List extents(shape.size(), 1);
    extents[axis] = shape[axis];
    return at::arange(shape[axis], at::kLong).reshape(extents).expand(shape);
}

/// Returns the tensor with updates reduced into the elements at `indices`, in order.
at::Tensor reduce_at(const at::Tensor& data, const at::Tensor& indices, const at::Tensor& updates,
                     const std::string& reduction) {
    const bool is_bool = data.scalar_type() == at::kBool;
    const auto flat = [&](const at::Tensor& t) {
        return is_bool ? t.reshape({-1}).to(at::kLong) : t.reshape({-1});
    };
    const at::Tensor kept = indices.reshape({-1}).ge(0).nonzero().squeeze(1);
    const at::Tensor to = indices.reshape({-1}).index_select(0, kept);
    const at::Tensor with = flat(updates).index_select(0, kept);
    at::Tensor y = flat(data).clone();
    if (reduction == "none")
        y.scatter_(0, to, with);
    else
        y.scatter_reduce_(0, to, with,
                          reduction == "add"   ? "sum"
                          : reduction == "mul" ? "prod"
                          : reduction == "max" ? "amax"
                                               : "amin");
    return y.reshape(data.sizes());
}

at::Tensor gather(const Call& c) {
    const int64_t axis = c.integer("axis");
    const at::Tensor index = in_bounds(c.in[1], c.in[0].size(axis));
    return c.in[0].index_select(axis, index.reshape({-1})).reshape(c.out_shape());
}

at::Tensor gather_elements(const Call& c) {
    const int64_t axis = c.integer("axis");
    return c.in[0].gather(axis, in_bounds(c.in[1], c.in[0].size(axis)));
}

at::Tensor index_sum(const Call& c) {
    const int64_t axis = c.integer("axis");
    const at::Tensor zeros = at::zeros(c.out_shape(), c.in[0].options());
    return zeros.index_add(axis, in_bounds(c.in[1], zeros.size(axis)), c.in[0]);
}

at::Tensor one_hot(const Call& c) {
    const int64_t axis = c.integer("axis"), depth = c.integer("depth");
    const at::Tensor index = at::where(c.in[0].lt(0), c.in[0] + depth, c.in[0]);
    return index.unsqueeze(axis)
        .eq(coordinate(c.out_shape(), static_cast<size_t>(axis)))
        .to(c.options());
}

/// Returns the slices of x that the index tuples select, after the batch axes; -1: out of range.
/// clamps: clamp instead
at::Tensor picked_slices(const at::Tensor& x, const at::Tensor& indices, int64_t batch,
                         bool clamps) {
    const int64_t depth = indices.size(-1);
    List shape = indices.sizes().vec();
    shape.pop_back();
    at::Tensor slice = at::zeros(shape, at::kLong), is_outside = at::zeros(shape, at::kBool);
    for (int64_t axis = 0; axis < batch; ++axis)
        slice = slice * x.size(axis) + coordinate(shape, static_cast<size_t>(axis));
    for (int64_t k = 0; k < depth; ++k) {
        const int64_t count = x.size(batch + k);
        const at::Tensor index = indices.select(-1, k);
        const at::Tensor at = clamps ? in_bounds(index, count) : valid(index, count);
        is_outside = is_outside.logical_or(at.lt(0));
        slice = slice * count + at;
    }
    return slice.masked_fill(is_outside, -1);
}

/// Number of elements of a slice after this many axes.
int64_t slice_size(const at::Tensor& x, int64_t axes) {
    int64_t count = 1;
    for (int64_t axis = axes; axis < x.dim(); ++axis) count *= x.size(axis);
    return count;
}

at::Tensor gather_nd(const Call& c) {
    const int64_t batch = c.integer("batch_dims"), axes = batch + c.in[1].size(-1);
    const at::Tensor slices = picked_slices(c.in[0], c.in[1], batch, true);
    return c.in[0]
        .reshape({-1, slice_size(c.in[0], axes)})
        .index_select(0, slices.reshape({-1}))
        .reshape(c.out_shape());
}

/// Flat indices of the slices' elements.
at::Tensor indices_of(const at::Tensor& slices, int64_t size) {
    const at::Tensor first = slices.reshape({-1, 1});
    const at::Tensor indices = first * size + at::arange(size, at::kLong);
    return at::where(first.lt(0), at::full({}, -1, at::kLong), indices);
}

at::Tensor scatter_nd(const Call& c) {
    const int64_t batch = c.integer("batch_dims");
    const at::Tensor slices = picked_slices(c.in[0], c.in[1], batch, false);
    const int64_t size = slice_size(c.in[0], batch + c.in[1].size(-1));
    return reduce_at(c.in[0], indices_of(slices, size), c.in[2], c.attrs().text("reduction"));
}

at::Tensor scatter_elements(const Call& c) {
    const auto axis = static_cast<size_t>(c.integer("axis"));
    const List shape = c.in[1].sizes().vec();
    const at::Tensor along = valid(c.in[1], c.in[0].size(c.integer("axis")));
    at::Tensor indices = at::zeros(shape, at::kLong);
    for (size_t i = 0; i < shape.size(); ++i)
        indices = indices * c.in[0].size(static_cast<int64_t>(i)) +
                  (i == axis ? along : coordinate(shape, i));
    return reduce_at(c.in[0], indices.masked_fill(along.lt(0), -1), c.in[2],
                     c.attrs().text("reduction"));
}

/// data: [A, N, B], updates: [A, M, B], order: [M], begins: [N + 1].
at::Tensor segment_fold(const Call& c) {
    const at::Tensor &data = c.in[0], &begins = c.in[3];
    const at::Tensor turn = at::arange(c.in[2].size(0), at::kLong);
    const at::Tensor segment = at::searchsorted(begins, turn, false, true) - 1;
    const at::Tensor is_outside = segment.lt(0).logical_or(segment.ge(data.size(1)));
    const at::Tensor updates = c.in[1].index_select(1, c.in[2]);
    const List shape = updates.sizes().vec();
    const at::Tensor along = segment.reshape({1, -1, 1}).expand(shape);
    const at::Tensor indices =
        (coordinate(shape, 0) * data.size(1) + along) * data.size(2) + coordinate(shape, 2);
    return reduce_at(data, indices.masked_fill(is_outside.reshape({1, -1, 1}), -1), updates,
                     c.attrs().text("reduction"));
}

at::Tensor tensor_scatter(const Call& c) {
    const auto axis = static_cast<size_t>(c.integer("axis"));
    const List shape = c.in[1].sizes().vec();
    const int64_t extent = c.in[0].size(c.integer("axis"));
    List lines(shape.size(), 1);
    lines[0] = shape[0];
    at::Tensor along = c.in[2].reshape(lines) + coordinate(shape, axis);
    if (c.flag("circular")) along = along.remainder(extent);
    const at::Tensor is_outside = along.lt(0).logical_or(along.ge(extent));
    at::Tensor indices = at::zeros(shape, at::kLong);
    for (size_t i = 0; i < shape.size(); ++i)
        indices = indices * c.in[0].size(static_cast<int64_t>(i)) +
                  (i == axis ? along : coordinate(shape, i));
    return reduce_at(c.in[0], indices.masked_fill(is_outside, -1), c.in[1], "none");
}

/// Negative indices are out of range.
at::Tensor write_rows(const Call& c) {
    const int64_t size = slice_size(c.in[0], c.integer("depth"));
    const int64_t count = size == 0 ? 0 : c.in[0].numel() / size;
    const at::Tensor kept_rows =
        c.in[1].masked_fill(c.in[1].ge(count).logical_or(c.in[1].lt(0)), -1);
    return reduce_at(c.in[0], indices_of(kept_rows, size), c.in[2], "none");
}

}  // namespace

void add_index_rules(Rules& rules) {
    rules["gather"] = gather;
    rules["gather_elements"] = gather_elements;
    rules["gather_nd"] = gather_nd;
    rules["index_sum"] = rules["index_sum_scan"] = index_sum;
    rules["one_hot"] = one_hot;
    rules["scatter_nd"] = rules["scatter_nd_scan"] = scatter_nd;
    rules["scatter_elements"] = rules["scatter_elements_scan"] = scatter_elements;
    rules["segment_fold"] = segment_fold;
    rules["tensor_scatter"] = tensor_scatter;
    rules["write_rows"] = write_rows;
}

}  // namespace hearth::libtorch
