// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shape operators: padding, slicing, concatenation and broadcasting.

#include "operators.hpp"

namespace hearth::libtorch {

namespace {

at::Tensor arange(int64_t first, int64_t step, int64_t count) {
    return at::arange(count, at::kLong) * step + first;
}

at::Tensor slice(const Call& c) {
    const List shape = c.out_shape();
    at::Tensor y = c.in[0];
    for (size_t axis = 0; axis < shape.size(); ++axis)
        y = y.index_select(
            static_cast<int64_t>(axis),
            arange(c.integers("begins")[axis], c.integers("steps")[axis], shape[axis]));
    return y;
}

/// Moves element i of an axis to low + i * (interior + 1); drops it if that is out of range.
at::Tensor pad(const Call& c) {
    const List shape = c.out_shape();
    at::Tensor y = c.in[0];
    const double real = c.real("value");
    const at::Scalar value =
        y.is_floating_point() ? at::Scalar(real) : at::Scalar(static_cast<int64_t>(real));
    for (size_t i = 0; i < shape.size(); ++i) {
        const auto axis = static_cast<int64_t>(i);
        const at::Tensor to =
            arange(c.integers("low")[i], c.integers("interior")[i] + 1, y.size(axis));
        const at::Tensor kept = to.ge(0).logical_and(to.lt(shape[i])).nonzero().squeeze(1);
        List extents = y.sizes().vec();
        extents[i] = shape[i];
        const at::Tensor wider = at::full(extents, value, y.options());
        y = wider.index_copy(axis, to.index_select(0, kept), y.index_select(axis, kept));
    }
    return y;
}

at::Tensor reverse_sequence(const Call& c) {
    const int64_t time = c.integer("time_axis"), batch = c.integer("batch_axis");
    const auto along = [&](const at::Tensor& line, int64_t axis) {
        List shape(static_cast<size_t>(c.in[0].dim()), 1);
        shape[static_cast<size_t>(axis)] = line.size(0);
        return line.reshape(shape);
    };
    const at::Tensor here = along(at::arange(c.in[0].size(time), at::kLong), time);
    const at::Tensor length = along(c.in[1].clamp_max(c.in[0].size(time)), batch);
    const at::Tensor from = at::where(here.lt(length), length - 1 - here, here);
    return c.in[0].gather(time, from.clamp_min(0).expand(c.in[0].sizes()));
}

}  // namespace

void add_shape_rules(Rules& rules) {
    rules["reshape"] = [](const Call& c) { return c.in[0].reshape(c.out_shape()); };
    rules["transpose"] = [](const Call& c) { return c.in[0].permute(c.integers("perm")); };
    rules["expand"] = [](const Call& c) { return c.in[0].expand(c.out_shape()); };
    rules["flip"] = [](const Call& c) { return c.in[0].flip(c.integers("axes")); };
    rules["slice"] = slice;
    rules["pad"] = pad;
    rules["concat"] = [](const Call& c) { return at::cat(c.in, c.integer("axis")); };
    rules["reverse_sequence"] = reverse_sequence;
    rules["iota"] = [](const Call& c) {
        int64_t count = 1;
        for (const int64_t extent : c.out_shape()) count *= extent;
        return at::arange(count, at::kLong).reshape(c.out_shape()).to(c.options());
    };
    rules["extent"] = [](const Call& c) {
        int64_t count = 1;
        for (const int64_t extent : c.shape("shape")) count *= extent;
        return at::full({}, count, c.options());
    };
}

}  // namespace hearth::libtorch
