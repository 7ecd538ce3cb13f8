// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reductions, partial sums, quantized blocks and Fourier transforms.

#include "operators.hpp"

#include <cmath>
#include <limits>

namespace hearth::libtorch {

namespace {

/// Reduces over the given axes. LibTorch would reduce over all of them if the list were empty.
at::Tensor reduced(const Call& c, at::Tensor (*reduce)(const at::Tensor&, int64_t axis)) {
    at::Tensor y = c.in[0];
    for (const int64_t axis : c.integers("axes")) y = reduce(y, axis);
    return y;
}

/// Identity of max or min in a carrier type: its smallest or largest value.
at::Scalar extreme(const at::Tensor& like, bool is_least) {
    if (like.is_floating_point()) return is_least ? -HUGE_VAL : HUGE_VAL;
    return is_least ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

at::Tensor fold_axis(const at::Tensor& x, int64_t axis, bool is_largest) {
    if (x.size(axis) > 0) return is_largest ? x.amax(axis, true) : x.amin(axis, true);
    List shape = x.sizes().vec();
    shape[static_cast<size_t>(axis)] = 1;
    return at::full(shape, extreme(x, is_largest), x.options());
}

at::Tensor product_of_others(const at::Tensor& x, int64_t axis) {
    const at::Tensor one = at::ones_like(x.narrow(axis, 0, 1));
    const int64_t n = x.size(axis);
    const at::Tensor before = at::cat({one, x.narrow(axis, 0, n - 1)}, axis).cumprod(axis);
    const at::Tensor behind =
        at::cat({one, x.flip(axis).narrow(axis, 0, n - 1)}, axis).cumprod(axis).flip(axis);
    return before * behind;
}

/// For each k, the sum over i != k of g_i times the product of all x except x_i and x_k. It equals
/// the sum over all i of g_i times the product of the others, with x_k = 1 and g_k = 0.
at::Tensor sum_of_products_of_others(const Call& c) {
    const int64_t axis = c.integer("axis");
    std::vector<at::Tensor> parts;
    for (int64_t k = 0; k < c.in[0].size(axis); ++k) {
        at::Tensor x = c.in[0].clone(), g = c.in[1].clone();
        x.narrow(axis, k, 1).fill_(1);
        g.narrow(axis, k, 1).fill_(0);
        parts.push_back((g * product_of_others(x, axis)).sum(axis, true));
    }
    return at::cat(parts, axis);
}

/// Moves the reduced axes last, so that each partial sum's elements are contiguous.
at::Tensor axes_last(const Call& c, const List& axes) {
    List order, kept;
    for (int64_t i = 0; i < c.in[0].dim(); ++i)
        if (std::find(axes.begin(), axes.end(), i) == axes.end()) {
            order.push_back(i);
            kept.push_back(c.in[0].size(i));
        }
    order.insert(order.end(), axes.begin(), axes.end());
    kept.push_back(-1);
    return c.in[0].permute(order).reshape(kept);
}

int64_t round_up(int64_t count, int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

at::Tensor padded_to(const at::Tensor& x, int64_t extent, const at::Scalar& value) {
    return at::constant_pad_nd(x, {0, extent - x.size(-1)}, value);
}

/// Splits the last axis into blocks: [..., blocks, block].
at::Tensor in_blocks(const at::Tensor& x, int64_t block, const at::Scalar& value) {
    const at::Tensor padded = padded_to(x, round_up(x.size(-1), block), value);
    List shape = padded.sizes().vec();
    shape.back() /= block;
    shape.push_back(block);
    return padded.reshape(shape);
}

/// Length of each chunk of a split reduction, except the last ones.
int64_t stretch_of(const Call& c, int64_t terms) {
    const int64_t parts = c.integer("parts");
    return std::max<int64_t>(round_up((terms + parts - 1) / parts, c.integer("granule")), 1);
}

at::Tensor partial_sum(const Call& c) {
    const int64_t parts = c.integer("parts");
    const at::Tensor blocks = in_blocks(axes_last(c, c.integers("axes")), parts, 0);
    return blocks.sum(-2).movedim(-1, 0).reshape(c.out_shape());
}

at::Tensor partial_row_sum(const Call& c) {
    const int64_t parts = c.integer("parts"), each = stretch_of(c, c.in[0].size(0));
    List others;
    for (const int64_t axis : c.integers("axes"))
        if (axis != 0) others.push_back(axis);
    const at::Tensor x = others.empty() ? c.in[0] : c.in[0].sum(others, true);
    std::vector<at::Tensor> sums;
    for (int64_t p = 0; p < parts; ++p) {
        const int64_t first = std::min(p * each, x.size(0));
        sums.push_back(x.narrow(0, first, std::min(each, x.size(0) - first)).sum(0, true));
    }
    return at::stack(sums);
}

at::Tensor matmul(const Call& c) {
    const at::Tensor a = c.flag("transpose_a") ? c.in[0].transpose(-2, -1) : c.in[0];
    const at::Tensor b = c.flag("transpose_b") ? c.in[1].transpose(-2, -1) : c.in[1];
    return at::matmul(a, b);
}

at::Tensor matmul_partial(const Call& c) {
    const at::Tensor a = c.flag("transpose_a") ? c.in[0].t() : c.in[0];
    const at::Tensor b = c.flag("transpose_b") ? c.in[1].t() : c.in[1];
    const int64_t inner = a.size(1), each = stretch_of(c, inner);
    std::vector<at::Tensor> products;
    for (int64_t p = 0; p < c.integer("parts"); ++p) {
        const int64_t first = std::min(p * each, inner), count = std::min(each, inner - first);
        products.push_back(at::matmul(a.narrow(1, first, count), b.narrow(0, first, count)));
    }
    return at::stack(products);
}

at::Tensor unpack_weights(const Call& c) {
    const int64_t bits = c.integer("bits"), per_word = 32 / bits, half = int64_t{1} << (bits - 1);
    const List shape = c.out_shape();
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    const at::Tensor i = at::arange(count, at::kLong);
    const at::Tensor word = c.in[0].index_select(0, at::div(i, per_word, "floor"));
    const at::Tensor field =
        word.bitwise_right_shift(i.remainder(per_word) * bits).bitwise_and(2 * half - 1);
    const at::Tensor q = at::where(field.ge(half), field - 2 * half, field);
    return (q * c.in[1].index_select(0, at::div(i, c.integer("block"), "floor"))).reshape(shape);
}

at::Tensor scan(const Call& c, at::Tensor (*along)(const at::Tensor&, int64_t), int64_t neutral) {
    const int64_t axis = c.integer("axis");
    at::Tensor x = c.flag("reverse") ? c.in[0].flip(axis) : c.in[0];
    if (c.flag("exclusive") && x.size(axis) > 0)
        x = at::cat(
            {at::full_like(x.narrow(axis, 0, 1), neutral), x.narrow(axis, 0, x.size(axis) - 1)},
            axis);
    const at::Tensor y = along(x, axis);
    return c.flag("reverse") ? y.flip(axis) : y;
}

at::Tensor linear_recurrence(const Call& c) {
    const int64_t axis = c.integer("axis");
    const at::Tensor x = c.flag("reverse") ? c.in[0].flip(axis) : c.in[0];
    const at::Tensor f = c.flag("reverse") ? c.in[1].flip(axis) : c.in[1];
    std::vector<at::Tensor> steps;
    for (int64_t t = 0; t < x.size(axis); ++t) {
        const at::Tensor own = x.narrow(axis, t, 1);
        const int64_t factor = c.flag("previous") ? t - 1 : t;
        steps.push_back(t == 0 ? own : own + f.narrow(axis, factor, 1) * steps.back());
    }
    const at::Tensor y = steps.empty() ? x : at::cat(steps, axis);
    return c.flag("reverse") ? y.flip(axis) : y;
}

/// Views pairs of values as complex, and uses LibTorch's transform of `length` elements.
at::Tensor dft(const Call& c) {
    const int64_t axis = c.integer("axis"), length = c.integer("length");
    const at::Tensor x = at::view_as_complex(c.in[0].contiguous());
    const at::Tensor y =
        c.flag("inverse") ? at::fft_ifft(x, length, axis, "forward") : at::fft_fft(x, length, axis);
    const int64_t count = c.integer("count"), kept = std::min(count, length);
    const at::Tensor pairs = at::view_as_real(y.narrow(axis, 0, kept)) * c.real("scale");
    List pads;
    for (int64_t i = pairs.dim() - 1; i >= axis; --i) {
        pads.push_back(0);
        pads.push_back(i == axis ? count - kept : 0);
    }
    return at::constant_pad_nd(pairs, pads);
}

}  // namespace

void add_reduction_rules(Rules& rules) {
    rules["reduce_sum"] = [](const Call& c) {
        return reduced(c, [](const at::Tensor& x, int64_t a) { return x.sum(a, true); });
    };
    rules["reduce_prod"] = [](const Call& c) {
        return reduced(c, [](const at::Tensor& x, int64_t a) { return x.prod(a, true); });
    };
    rules["reduce_max"] = [](const Call& c) {
        return reduced(c, [](const at::Tensor& x, int64_t a) { return fold_axis(x, a, true); });
    };
    rules["reduce_min"] = [](const Call& c) {
        return reduced(c, [](const at::Tensor& x, int64_t a) { return fold_axis(x, a, false); });
    };
    rules["argmax"] = [](const Call& c) { return c.in[0].argmax(c.integer("axis"), true); };
    rules["argmin"] = [](const Call& c) { return c.in[0].argmin(c.integer("axis"), true); };
    rules["product_of_others"] = [](const Call& c) {
        return product_of_others(c.in[0], c.integer("axis"));
    };
    rules["sum_of_products_of_others"] = sum_of_products_of_others;
    rules["block_sum"] = [](const Call& c) {
        return in_blocks(c.in[0], c.integer("block"), 0).sum(-1);
    };
    rules["block_max"] = [](const Call& c) {
        return in_blocks(c.in[0], c.integer("block"), -HUGE_VAL).amax(-1);
    };
    rules["partial_sum"] = partial_sum;
    rules["partial_row_sum"] = partial_row_sum;
    rules["matmul"] = matmul;
    rules["matmul_partial"] = matmul_partial;
    rules["unpack_weights"] = unpack_weights;
    rules["cumsum"] = [](const Call& c) {
        return scan(
            c, [](const at::Tensor& x, int64_t axis) { return x.cumsum(axis); }, 0);
    };
    rules["cumprod"] = [](const Call& c) {
        return scan(
            c, [](const at::Tensor& x, int64_t axis) { return x.cumprod(axis); }, 1);
    };
    rules["linear_scan"] = linear_recurrence;
    rules["dft"] = dft;
}

}  // namespace hearth::libtorch
