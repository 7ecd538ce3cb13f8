// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Elementwise operators.

#include "operators.hpp"

#include <cmath>
#include <limits>

namespace hearth::libtorch {

namespace {

constexpr int64_t kLeast64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost64 = std::numeric_limits<int64_t>::max();

int64_t bits_of(DType dtype) {
    return static_cast<int64_t>(size_bytes(dtype)) * 8;
}

/// Range of an integer type; u64 is limited to the maximum of Long.
std::pair<int64_t, int64_t> limits_of(DType dtype) {
    const int64_t bits = bits_of(dtype);
    if (is_unsigned(dtype)) return {0, bits == 64 ? kMost64 : (int64_t{1} << bits) - 1};
    if (bits == 64) return {kLeast64, kMost64};
    return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

at::Tensor cast(const Call& c) {
    const at::Tensor& x = c.in[0];
    const DType to = c.out_dtype();
    if (to == DType::kBool) return x.ne(0);
    if (!is_floating(c.dtype(0)) || is_floating(to)) return x.to(carrier_of(to));
    // Floats saturate to the type's range; NaN becomes zero.
    const auto [least, most] = limits_of(to);
    const at::Tensor wide = at::nan_to_num(x.to(at::kDouble).trunc(), 0.0, HUGE_VAL, -HUGE_VAL);
    const at::Tensor inside =
        wide.clamp(-0x1p62, 0x1p62)
            .to(at::kLong)
            .clamp(std::max(least, -(int64_t{1} << 62)), std::min(most, int64_t{1} << 62));
    const at::Tensor high =
        at::where(wide.ge(static_cast<double>(most)), at::full_like(inside, most), inside);
    return at::where(wide.le(static_cast<double>(least)), at::full_like(high, least), high);
}

at::Tensor bitcast(const Call& c) {
    const Shape shape = c.graph.value(c.node.outputs[0]).shape.resolve(c.batch_size);
    const HostTensor from =
        to_host(c.in[0], c.dtype(0), c.graph.value(c.node.inputs[0]).shape.resolve(c.batch_size));
    HostTensor to(c.out_dtype(), shape);
    std::copy(from.bytes().begin(), from.bytes().end(), to.bytes().begin());
    return from_host(to);
}

at::Tensor divide(const Call& c) {
    if (is_floating(c.out_dtype())) return c.in[0] / c.in[1];
    const at::Tensor is_zero = c.in[1].eq(0);
    const at::Tensor quotient = at::div(c.in[0], c.in[1].masked_fill(is_zero, 1), "trunc");
    return quotient.masked_fill(is_zero, 0);
}

/// Integer divisors with zeros replaced: the remainder by zero is unspecified.
at::Tensor divisor(const Call& c) {
    return is_floating(c.out_dtype()) ? c.in[1] : c.in[1].masked_fill(c.in[1].eq(0), 1);
}

at::Tensor is_shift(const Call& c) {
    return c.in[1].ge(0).logical_and(c.in[1].lt(bits_of(c.out_dtype())));
}

at::Tensor is_infinite(const Call& c) {
    at::Tensor found = at::zeros_like(c.in[0], at::kBool);
    if (c.flag("detect_positive")) found = found.logical_or(c.in[0].eq(HUGE_VAL));
    if (c.flag("detect_negative")) found = found.logical_or(c.in[0].eq(-HUGE_VAL));
    return found;
}

}  // namespace

void add_element_rules(Rules& rules) {
    const auto same = [](const Call& c) { return c.in[0]; };
    rules["identity"] = rules["stop_gradient"] = rules["checkpoint"] = rules["compute_after"] =
        same;
    rules["cast"] = cast;
    rules["bitcast"] = rules["bitcast_wide"] = bitcast;

    rules["relu"] = [](const Call& c) { return c.in[0].relu(); };
    rules["leaky_relu"] = [](const Call& c) { return at::leaky_relu(c.in[0], c.real("alpha")); };
    rules["prelu"] = [](const Call& c) {
        return at::where(c.in[0].ge(0), c.in[0], c.in[1] * c.in[0]);
    };
    rules["elu"] = [](const Call& c) { return at::elu(c.in[0], c.real("alpha")); };
    rules["selu"] = [](const Call& c) {
        return at::elu(c.in[0], c.real("alpha"), c.real("gamma"));
    };
    rules["celu"] = [](const Call& c) { return at::celu(c.in[0], c.real("alpha")); };
    rules["gelu"] = [](const Call& c) { return at::gelu(c.in[0]); };
    rules["gelu_tanh"] = [](const Call& c) { return at::gelu(c.in[0], "tanh"); };
    rules["silu"] = [](const Call& c) { return at::silu(c.in[0]); };
    rules["mish"] = [](const Call& c) { return at::mish(c.in[0]); };
    rules["softplus"] = [](const Call& c) { return at::softplus(c.in[0]); };
    rules["softsign"] = [](const Call& c) { return c.in[0] / (c.in[0].abs() + 1); };
    rules["sigmoid"] = [](const Call& c) { return c.in[0].sigmoid(); };
    rules["hard_sigmoid"] = [](const Call& c) {
        return (c.in[0] * c.real("alpha") + c.real("beta")).clamp(0, 1);
    };
    rules["hard_swish"] = [](const Call& c) { return at::hardswish(c.in[0]); };

    rules["add"] = [](const Call& c) { return c.in[0] + c.in[1]; };
    rules["sub"] = [](const Call& c) { return c.in[0] - c.in[1]; };
    rules["mul"] = [](const Call& c) { return c.in[0] * c.in[1]; };
    rules["div"] = divide;
    rules["neg"] = [](const Call& c) { return c.in[0].neg(); };
    rules["pow"] = [](const Call& c) { return at::pow(c.in[0], c.in[1]); };
    rules["mod"] = [](const Call& c) { return at::remainder(c.in[0], divisor(c)); };
    rules["fmod"] = [](const Call& c) { return at::fmod(c.in[0], divisor(c)); };
    rules["minimum"] = [](const Call& c) { return at::minimum(c.in[0], c.in[1]); };
    rules["maximum"] = [](const Call& c) { return at::maximum(c.in[0], c.in[1]); };
    rules["abs"] = [](const Call& c) { return c.in[0].abs(); };
    rules["sign"] = [](const Call& c) { return c.in[0].sign(); };
    rules["reciprocal"] = [](const Call& c) { return c.in[0].reciprocal(); };
    rules["sqrt"] = [](const Call& c) { return c.in[0].sqrt(); };
    rules["rsqrt"] = [](const Call& c) { return c.in[0].rsqrt(); };

    rules["exp"] = [](const Call& c) { return c.in[0].exp(); };
    rules["log"] = [](const Call& c) { return c.in[0].log(); };
    rules["sin"] = [](const Call& c) { return c.in[0].sin(); };
    rules["cos"] = [](const Call& c) { return c.in[0].cos(); };
    rules["tan"] = [](const Call& c) { return c.in[0].tan(); };
    rules["asin"] = [](const Call& c) { return c.in[0].asin(); };
    rules["acos"] = [](const Call& c) { return c.in[0].acos(); };
    rules["atan"] = [](const Call& c) { return c.in[0].atan(); };
    rules["atan2"] = [](const Call& c) { return at::atan2(c.in[0], c.in[1]); };
    rules["logaddexp"] = [](const Call& c) { return at::logaddexp(c.in[0], c.in[1]); };
    rules["sinh"] = [](const Call& c) { return c.in[0].sinh(); };
    rules["cosh"] = [](const Call& c) { return c.in[0].cosh(); };
    rules["tanh"] = [](const Call& c) { return c.in[0].tanh(); };
    rules["asinh"] = [](const Call& c) { return c.in[0].asinh(); };
    rules["acosh"] = [](const Call& c) { return c.in[0].acosh(); };
    rules["atanh"] = [](const Call& c) { return c.in[0].atanh(); };
    rules["erf"] = [](const Call& c) { return c.in[0].erf(); };
    rules["floor"] = [](const Call& c) { return c.in[0].floor(); };
    rules["ceil"] = [](const Call& c) { return c.in[0].ceil(); };
    rules["round"] = [](const Call& c) { return c.in[0].round(); };

    rules["bitwise_and"] = [](const Call& c) { return c.in[0].bitwise_and(c.in[1]); };
    rules["bitwise_or"] = [](const Call& c) { return c.in[0].bitwise_or(c.in[1]); };
    rules["bitwise_xor"] = [](const Call& c) { return c.in[0].bitwise_xor(c.in[1]); };
    rules["bitwise_not"] = [](const Call& c) { return c.in[0].bitwise_not(); };
    rules["shift_left"] = [](const Call& c) {
        const at::Tensor amount = at::where(is_shift(c), c.in[1], at::zeros_like(c.in[1]));
        return at::where(is_shift(c), c.in[0].bitwise_left_shift(amount), at::zeros({}, at::kLong));
    };
    rules["shift_right"] = [](const Call& c) {
        const at::Tensor amount = at::where(is_shift(c), c.in[1], at::full_like(c.in[1], 63));
        return c.in[0].bitwise_right_shift(amount);
    };

    rules["equal"] = [](const Call& c) { return c.in[0].eq(c.in[1]); };
    rules["not_equal"] = [](const Call& c) { return c.in[0].ne(c.in[1]); };
    rules["less"] = [](const Call& c) { return c.in[0].lt(c.in[1]); };
    rules["less_equal"] = [](const Call& c) { return c.in[0].le(c.in[1]); };
    rules["greater"] = [](const Call& c) { return c.in[0].gt(c.in[1]); };
    rules["greater_equal"] = [](const Call& c) { return c.in[0].ge(c.in[1]); };
    rules["logical_and"] = [](const Call& c) { return c.in[0].logical_and(c.in[1]); };
    rules["logical_or"] = [](const Call& c) { return c.in[0].logical_or(c.in[1]); };
    rules["logical_xor"] = [](const Call& c) { return c.in[0].logical_xor(c.in[1]); };
    rules["logical_not"] = [](const Call& c) { return c.in[0].logical_not(); };
    rules["is_nan"] = [](const Call& c) { return c.in[0].isnan(); };
    rules["is_inf"] = is_infinite;
    rules["where"] = [](const Call& c) { return at::where(c.in[0], c.in[1], c.in[2]); };
    rules["clamp"] = [](const Call& c) { return c.in[0].clamp(c.real("low"), c.real("high")); };
    rules["standardize"] = [](const Call& c) {
        return (c.in[0] - c.in[1]) / (c.in[2] + c.real("epsilon")).sqrt();
    };
}

}  // namespace hearth::libtorch
