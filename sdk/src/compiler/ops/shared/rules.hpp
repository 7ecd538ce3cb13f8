// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shared by operator records: shape rules, gradient rules, `at` rules by type, and sample
// generators.

#pragma once

#include "compiler/ops/op_table.hpp"

#include <hearth/op/op_def.hpp>
#include <hearth/ops.hpp>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace hearth {

// --- Shape rules ---

/// One output with the type and shape of the first input.
Status same_as_input(InferContext& call);
/// One output: all inputs broadcast; they must have one element type, which the output has too.
Status broadcast_same_type(InferContext& call);
/// As above, but the output is bool.
Status broadcast_to_bool(InferContext& call);
/// One bool output with the shape of the first input.
Status bool_like_input(InferContext& call);
/// `axes` (normalized, sorted, distinct) of the first input become extents of 1.
Status reduce_axes(InferContext& call);

/// Error unless the attribute `axis` lies in [0, rank).
Status check_axis(const Attrs& attrs, int rank);
/// Error unless the attribute `name` is a sorted list of distinct axes below `rank`.
Status check_axes(const Attrs& attrs, int rank);
/// Error unless at most one extent is symbolic and none is negative.
Status check_shape(const Shape& shape);

// --- Graph code shared by operators ---

/// The axes counted from the front, sorted; all axes if none are given.  Fails the trace and
/// returns an empty list on error.
std::vector<int64_t> normalize_axes(const Tensor& x, const Axes& axes, std::string_view op_name);

/// Returns a tensor that carries x's error (or that of its trace).
Tensor failed_like(const Tensor& x);
/// As above, after reporting `status` to x's trace.
Tensor fail(const Tensor& x, Status status);
/// A scalar constant of x's type in x's trace.
Tensor constant_like(const Tensor& x, double value);
/// The smallest positive normal number of a floating-point type.
double smallest_normal(DType dtype);
/// All zeros, with the type and shape of x.
Tensor zeros_like(const Tensor& x);

/// True if sorting the updates of a tensor of `shape` by target costs less than a loop of each
/// element over all updates. looks: updates that each element would loop over.
bool should_sort(const Shape& shape, Dim looks);

/// Folds updates: [A, M, B] into data: [A, N, B] (N not symbolic) at targets: [M], i64, each in [0,
/// N), or N to discard the update. reduction: as in scatter_elements.
Tensor fold_sorted(const Tensor& data, const Tensor& updates, const Tensor& targets,
                   const std::string& reduction);
/// Flattens indices of rows of x, [M] or [M, depth] over its first axes, to the form of the
/// operator write_rows: i32 [M], counted from the front; out-of-range indices stay out of range.
Tensor flat_row_places(const Tensor& indices, const Shape& x, int depth);
/// Differentiates an operator through its decomposition, which is rebuilt here.
std::vector<Tensor> vjp_of(std::vector<Tensor> (*decompose)(DecomposeContext&), VjpContext& call);

/// Define the function of hearth/ops.hpp that applies the operator of the same name.
#define HEARTH_UNARY_FUNCTION(name)       \
    Tensor name(const Tensor& x) {        \
        return apply_one(op(#name), {x}); \
    }
#define HEARTH_BINARY_FUNCTION(name)                \
    Tensor name(const Tensor& a, const Tensor& b) { \
        return apply_one(op(#name), {a, b});        \
    }
#define HEARTH_FUNCTION_OF_NUMBER(name)      \
    Tensor name(const Tensor& a, double b) { \
        return name(a, constant_like(a, b)); \
    }

// --- `at` rules ---

/// One rule for floats, another for integers and bools, selected by the output's type.
template <class F, class G>
constexpr ComputeRule at_by_type(F, G) {
    return {[](CpuAt<double>& c) { return static_cast<double>(F{}(c)); },
            [](CpuAt<int64_t>& c) { return static_cast<int64_t>(G{}(c)); },
            [](GpuAt& c) { return is_floating(c.dtype()) ? F{}(c) : G{}(c); }};
}

/// Wraps to an integer type narrower than 32 bits, which a GPU holds in 32.
template <class C, class V>
V wrap_to_dtype(C& c, V x) {
    const DType dtype = c.dtype();
    if (!is_integer(dtype) || size_bytes(dtype) >= 4) return x;
    const double range = size_bytes(dtype) == 1 ? 256 : 65536;
    V low = bit_and(x, c.value(range - 1));
    if (is_unsigned(dtype)) return low;
    return select(low >= c.value(range / 2), low - c.value(range), low);
}

/// One rule for floats and integers; narrow integers wrap.
template <class F>
constexpr ComputeRule at_wrapping(F) {
    return at_by_type(F{}, [](auto& c) { return wrap_to_dtype(c, F{}(c)); });
}

/// log(1 + x) for x in [0, 1], accurate for small x. Devices use 2 atanh(x / (2 + x)), whose
/// truncated series has an error of 2e-9.
template <class V>
V log1p_of_fraction(V x) {
    if constexpr (std::is_same_v<V, double>) return std::log1p(x);
    const V s = x / (x + 2.0), square = s * s;
    V sum = square * (1.0 / 15) + 1.0 / 13;
    for (int divisor = 11; divisor > 0; divisor -= 2) sum = sum * square + 1.0 / divisor;
    return s * sum * 2.0;
}

// --- Records ---

/// What a gradient of y, a function of x, is made of; g: the cotangent of y.
struct UnaryGradient {
    Tensor g, x, y;
};

/// The record of a function of one real number.  function: of an element; gradient: of a UnaryGradient, the cotangent
/// of x.
template <class F, class G>
constexpr OpDef real_function(std::string_view name, std::string_view summary, F /*function*/,
                              G /*gradient*/, FixedList<OnnxMapping, 6> onnx,
                              void (*samples)(Samples&)) {
    return {.name = name,
            .summary = summary,
            .inputs = {{"x"}},
            .infer = same_as_input,
            .compute = compute_float([](auto& c) { return F{}(c.x(0)); }),
            .vjp = [](VjpContext& v) -> std::vector<Tensor> {
                return {G{}(UnaryGradient{v.cotangent(), v.in(0), v.out()})};
            },
            .onnx = onnx,
            .samples = samples};
}

// --- Samples ---

/// One input of ranks 0 to 5, with odd sizes, extents of 1 and symbolic rows; elements in [low,
/// high].
void unary_samples(Samples& samples, double low, double high);
inline void unary_samples(Samples& samples) {
    unary_samples(samples, -2, 2);
}
/// Two inputs that broadcast in every direction.
void binary_samples(Samples& samples, double low, double high);
inline void binary_samples(Samples& samples) {
    binary_samples(samples, -2, 2);
}
/// As above, with another element type.
void unary_samples_of(Samples& samples, DType dtype, double low, double high);
void binary_samples_of(Samples& samples, DType dtype, double low, double high);
/// Small integers of 8, 16, 32 and 64 bits, whose results may overflow their type.
void narrow_integer_samples(Samples& samples, int input_count);
/// Reductions over the first, the last, several and all axes, fixed and symbolic.
void reduce_samples(Samples& samples);

}  // namespace hearth
