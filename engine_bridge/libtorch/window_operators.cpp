// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sliding windows: convolution, pooling and their adjoints.

#include "operators.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace hearth::libtorch {

namespace {

int64_t product_of(const List& extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

/// Extents without batch and channels.
List spatial(const List& shape) {
    return {shape.begin() + 2, shape.end()};
}

/// Tap k of window p is at p * stride - low + k * dilation.
struct Windows {
    List kernel, strides, dilations, low;
    List size, count;  ///< number of elements and of windows along each axis

    Windows(const Call& c, List kernel_extents, List elements, List windows)
        : kernel(std::move(kernel_extents)),
          strides(c.integers("strides")),
          dilations(c.integers("dilations")),
          low(c.integers("low")),
          size(std::move(elements)),
          count(std::move(windows)) {}

    /// Returns [windows, taps]: the flat index in a plane, -1 for padding.
    at::Tensor indices() const {
        at::Tensor flat = at::zeros({1, 1}, at::kLong), is_outside = at::zeros({1, 1}, at::kBool);
        for (size_t i = 0; i < kernel.size(); ++i) {
            const at::Tensor at =
                (at::arange(count[i], at::kLong) * strides[i] - low[i]).unsqueeze(1) +
                (at::arange(kernel[i], at::kLong) * dilations[i]).unsqueeze(0);
            const at::Tensor outside = at.lt(0).logical_or(at.ge(size[i]));
            const auto grid = [](const at::Tensor& outer, const at::Tensor& inner) {
                return std::pair(outer.reshape({outer.size(0), 1, outer.size(1), 1}),
                                 inner.reshape({1, inner.size(0), 1, inner.size(1)}));
            };
            const List shape{flat.size(0) * count[i], flat.size(1) * kernel[i]};
            const auto [before, here] = grid(flat, at);
            const auto [was_outside, is_here_outside] = grid(is_outside, outside);
            flat = (before * size[i] + here).reshape(shape);
            is_outside = was_outside.logical_or(is_here_outside).reshape(shape);
        }
        return flat.masked_fill(is_outside, -1);
    }

    /// Gathers [N, C, windows, taps] from x: [N, C, ...].
    at::Tensor of(const at::Tensor& x, const at::Scalar& padding) const {
        const at::Tensor at = indices();
        const List shape{x.size(0), x.size(1), at.size(0), at.size(1)};
        const at::Tensor taken =
            x.reshape({x.size(0), x.size(1), -1}).index_select(2, at.clamp_min(0).reshape({-1}));
        return taken.reshape(shape).masked_fill(at.lt(0), padding);
    }

    /// The adjoint of of(): accumulates taps [N, C, windows, taps] into the elements that they came
    /// from.
    at::Tensor back(const at::Tensor& taps) const {
        const int64_t plane = product_of(size);
        const at::Tensor at = indices();
        at::Tensor sums = at::zeros({taps.size(0), taps.size(1), plane + 1}, taps.options());
        sums.index_add_(2, at.masked_fill(at.lt(0), plane).reshape({-1}),
                        taps.reshape({taps.size(0), taps.size(1), -1}));
        List shape{taps.size(0), taps.size(1)};
        shape.insert(shape.end(), size.begin(), size.end());
        return sums.narrow(2, 0, plane).reshape(shape);
    }
};

/// Windows of operators from elements to windows.
Windows forth(const Call& c) {
    return {c, c.integers("kernel"), spatial(c.in[0].sizes().vec()), c.integers("extents")};
}
/// Windows of operators from windows to elements.
Windows backward(const Call& c) {
    return {c, c.integers("kernel"), c.integers("extents"), c.integers("count")};
}

/// Integers are multiplied in f64, which represents their products exactly.
at::Tensor number(const at::Tensor& x) {
    return x.is_floating_point() ? x : x.to(at::kDouble);
}

at::Tensor conv(const Call& c) {
    const Windows w(c, spatial(c.in[1].sizes().vec()), spatial(c.in[0].sizes().vec()),
                    c.integers("extents"));
    List pads;
    for (size_t i = w.kernel.size(); i-- > 0;) {
        const int64_t reach =
            (w.count[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1;
        pads.push_back(w.pad_begin[i]);
        pads.push_back(reach - w.pad_begin[i] - w.size[i]);
    }
    const List none(w.kernel.size(), 0);
    return at::convolution(at::constant_pad_nd(number(c.in[0]), pads), number(c.in[1]), {},
                           w.strides, none, w.dilations, /*transposed=*/false, none,
                           c.integer("groups"))
        .to(c.options());
}

/// y: [N, O, windows...], w: [O, C / groups, kernel...].
at::Tensor conv_transpose(const Call& c) {
    const int64_t groups = c.integer("groups");
    const at::Tensor y = number(c.in[0]), weights = number(c.in[1]);
    const Windows w(c, spatial(weights.sizes().vec()), c.integers("extents"),
                    spatial(y.sizes().vec()));
    const int64_t taps = product_of(w.kernel), outputs = y.size(1) / groups;
    const at::Tensor columns = at::matmul(weights.reshape({groups, outputs, -1}).transpose(1, 2),
                                          y.reshape({y.size(0), groups, outputs, -1}));
    return w.back(columns.reshape({y.size(0), groups * weights.size(1), taps, -1}).transpose(2, 3))
        .to(c.options());
}

at::Tensor conv_weights(const Call& c) {
    const int64_t groups = c.integer("groups"), n = c.in[0].size(0);
    const List shape = c.out_shape();
    const Windows w(c, spatial(shape), spatial(c.in[0].sizes().vec()),
                    spatial(c.in[1].sizes().vec()));
    const at::Tensor x = w.of(c.in[0], 0);
    const at::Tensor columns = x.reshape({n, groups, x.size(1) / groups, x.size(2), x.size(3)});
    const at::Tensor y = c.in[1].reshape({n, groups, c.in[1].size(1) / groups, -1});
    return at::einsum("ngop,ngcpt->goct", {y, columns}).reshape(shape);
}

at::Tensor unfold(const Call& c) {
    return forth(c).of(c.in[0], 0).transpose(2, 3).reshape(c.out_shape());
}

at::Tensor fold(const Call& c) {
    const Windows w = backward(c);
    const int64_t taps = product_of(w.kernel);
    return w.back(
        c.in[0].reshape({c.in[0].size(0), c.in[0].size(1) / taps, taps, -1}).transpose(2, 3));
}

at::Tensor largest_padding(const Call& c) {
    const at::Scalar least = c.in[0].is_floating_point()
                                 ? at::Scalar(-HUGE_VAL)
                                 : at::Scalar(std::numeric_limits<int64_t>::min());
    return forth(c).of(c.in[0], least);
}

at::Tensor max_pool(const Call& c) {
    at::Tensor y = largest_padding(c).amax(-1);
    // Windows of only padding yield the type's minimum.
    if (!c.in[0].is_floating_point()) {
        const int64_t bits = static_cast<int64_t>(size_bytes(c.out_dtype())) * 8;
        if (is_unsigned(c.out_dtype()) || bits < 64)
            y = y.clamp_min(is_unsigned(c.out_dtype()) ? 0 : -(int64_t{1} << (bits - 1)));
    }
    return y.reshape(c.out_shape());
}

at::Tensor max_pool_index(const Call& c) {
    const Windows w = forth(c);
    const at::Tensor best = largest_padding(c).argmax(-1, true);
    const at::Tensor indices =
        w.indices().clamp_min(0).expand({c.in[0].size(0), c.in[0].size(1), -1, -1});
    at::Tensor index = indices.gather(-1, best).squeeze(-1);
    if (c.flag("column_major")) {
        List order(w.size.size());
        std::arange(order.rbegin(), order.rend(), 0);
        List turned(w.size.rbegin(), w.size.rend());
        const at::Tensor column_major =
            at::arange(product_of(w.size), at::kLong).reshape(turned).permute(order);
        index =
            column_major.reshape({-1}).index_select(0, index.reshape({-1})).reshape(index.sizes());
    }
    if (c.flag("whole_tensor")) {
        const at::Tensor plane =
            at::arange(c.in[0].size(0) * c.in[0].size(1), at::kLong) * product_of(w.size);
        index = index + plane.reshape({c.in[0].size(0), c.in[0].size(1), 1});
    }
    return index.reshape(c.out_shape());
}

at::Tensor window_scatter(const Call& c) {
    const Windows w = backward(c);
    const at::Tensor index = c.in[1].reshape({c.in[1].size(0), c.in[1].size(1), -1, 1});
    const at::Tensor is_here = w.indices().eq(index).logical_and(index.ge(0));
    const at::Tensor y = c.in[0].reshape(index.sizes());
    return w.back(at::where(is_here, y, at::zeros({}, y.options())));
}

at::Tensor window_sum(const Call& c) {
    return forth(c).of(c.in[0], 0).sum(-1).reshape(c.out_shape());
}

at::Tensor window_spread(const Call& c) {
    const Windows w = backward(c);
    const at::Tensor y = c.in[0].reshape({c.in[0].size(0), c.in[0].size(1), -1, 1});
    return w.back(y.expand({-1, -1, -1, product_of(w.kernel)}));
}

}  // namespace

void add_window_rules(Rules& rules) {
    rules["conv"] = rules["conv_direct"] = conv;
    rules["conv_transpose"] = rules["conv_transpose_direct"] = conv_transpose;
    rules["conv_weights"] = conv_weights;
    rules["unfold"] = unfold;
    rules["fold"] = fold;
    rules["max_pool"] = max_pool;
    rules["max_pool_index"] = max_pool_index;
    rules["window_scatter"] = window_scatter;
    rules["window_sum"] = window_sum;
    rules["window_spread"] = window_spread;
}

}  // namespace hearth::libtorch
