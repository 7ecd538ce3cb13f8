// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The compute rule: the computation of one element of an operator's output.
//
// A rule is one generic lambda over a context `c`: `c.x(k)` reads input k at the output's own
// coordinates (broadcast), `c.in(k, coords)` anywhere else.  It is instantiated three times from
// the same source: with double and with int64_t it is the CPU reference, with Scalar it is the GPU
// lowering, in which reads of other fused nodes become their expressions.
//
//     .compute = compute_float([](auto& c) { auto x = c.x(0); return x / (1.0 + exp(-x)); })

#pragma once

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/core/fixed_list.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/op/scalar.hpp>
#include <hearth/types.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace hearth {

// The scalar functions on the CPU's types, beside those on Scalar, so that unqualified calls in a
// rule resolve to either.
using std::abs, std::floor, std::ceil, std::trunc, std::sqrt, std::exp, std::log, std::sin,
    std::cos, std::tan, std::asin, std::acos, std::atan, std::sinh, std::cosh, std::tanh,
    std::asinh, std::acosh, std::atanh, std::erf, std::pow, std::atan2, std::fmod;
inline double rsqrt(double x) {
    return 1.0 / std::sqrt(x);
}
inline double round_even(double x) {
    return std::nearbyint(x);
}
inline double sign(double x) {
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
}
inline int64_t sign(int64_t x) {
    return (x > 0) - (x < 0);
}
inline bool is_nan(double x) {
    return std::isnan(x);
}
inline bool is_inf(double x) {
    return std::isinf(x);
}
inline double min(double a, double b) {
    return std::isnan(a) || a < b ? a : b;
}
inline double max(double a, double b) {
    return std::isnan(a) || a > b ? a : b;
}
inline int64_t min(int64_t a, int64_t b) {
    return a < b ? a : b;
}
inline int64_t max(int64_t a, int64_t b) {
    return a > b ? a : b;
}
inline bool logical_not(bool a) {
    return !a;
}
inline bool logical_and(bool a, bool b) {
    return a && b;
}
inline bool logical_or(bool a, bool b) {
    return a || b;
}
inline bool logical_xor(bool a, bool b) {
    return a != b;
}
inline int64_t bit_not(int64_t a) {
    return ~a;
}
inline int64_t bit_and(int64_t a, int64_t b) {
    return a & b;
}
inline int64_t bit_or(int64_t a, int64_t b) {
    return a | b;
}
inline int64_t bit_xor(int64_t a, int64_t b) {
    return a ^ b;
}
/// amount: in [0, 64).
inline int64_t shift_left(int64_t a, int64_t amount) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) << amount);
}
inline int64_t shift_right(int64_t a, int64_t amount) {
    return a >> amount;
}
/// As for an unsigned number: shifts in zeros.
inline int64_t shift_right_logical(int64_t a, int64_t amount) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) >> amount);
}
inline double select(bool condition, double yes, double no) {
    return condition ? yes : no;
}
inline int64_t select(bool condition, int64_t yes, int64_t no) {
    return condition ? yes : no;
}

inline constexpr int kMaxInputs = 16;

/// One coordinate for each axis of a tensor.
template <class I>
struct Coords {
    FixedList<I, kMaxRank> axis;
    I& operator[](int i) { return axis[static_cast<size_t>(i)]; }
    const I& operator[](int i) const { return axis[static_cast<size_t>(i)]; }
    int rank() const { return static_cast<int>(axis.size()); }
};

/// A tensor as the CPU reference reads it: elements as V, extents resolved.
template <class V>
struct CpuInput {
    const V* data = nullptr;
    Shape shape = {};
};

/// Context of a compute rule on the CPU; V is double or int64_t.
template <class V>
class CpuAt {
  public:
    using Index = int64_t;
    using Element = V;

    CpuAt(const Attrs& attrs, std::span<const CpuInput<V>> inputs, const Shape& output_shape,
          DType output_dtype)
        : attrs_(attrs), inputs_(inputs), shape_(output_shape), dtype_(output_dtype) {}

    /// Moves to the output element with this linear index.
    void seek(int64_t linear) {
        linear_ = linear;
        coords_ = {};
        for (int i = 0; i < shape_.rank(); ++i) coords_.axis.push_back(0);
        for (int i = shape_.rank() - 1; i >= 0; --i) {
            coords_[i] = linear % shape_[i].count;
            linear /= shape_[i].count;
        }
    }

    const Attrs& attrs() const { return attrs_; }
    int input_count() const { return static_cast<int>(inputs_.size()); }
    int rank() const { return shape_.rank(); }
    int in_rank(int k) const { return input(k).shape.rank(); }
    const Shape& in_shape(int k) const { return input(k).shape; }
    Index dim(int axis) const { return shape_[axis].count; }
    Index in_dim(int k, int axis) const { return input(k).shape[axis].count; }
    Index in_count(int k) const { return input(k).shape.element_count(0); }
    /// Element count of a shape among the attributes.
    Index count_of(const Shape& shape) const { return shape.element_count(1); }
    DType dtype() const { return dtype_; }
    Coords<Index> coords() const { return coords_; }
    Index coord(int axis) const { return coords_[axis]; }
    Index linear() const { return linear_; }
    Index index(int64_t value) const { return value; }
    V value(double v) const { return converted<V>(v); }
    V number(Index i) const { return static_cast<V>(i); }
    /// As on a device, where indices have 32 bits: saturates; NaN becomes zero.
    Index to_index(V v) const {
        if constexpr (std::is_same_v<V, double>) return saturate_cast<int32_t>(v);
        return static_cast<Index>(v);
    }
    V to_output(V v) const { return v; }

    V x(int k) const {
        const Shape& from = input(k).shape;
        if (from == shape_) return input(k).data[linear_];
        int64_t at = 0;
        for (int i = 0; i < from.rank(); ++i) {
            const int64_t c = coords_[i + shape_.rank() - from.rank()];
            at = at * from[i].count + (from[i].count == 1 ? 0 : c);
        }
        return input(k).data[at];
    }
    V in(int k, const Coords<Index>& at) const {
        const Shape& from = input(k).shape;
        int64_t linear = 0;
        for (int i = 0; i < from.rank(); ++i) linear = linear * from[i].count + at[i];
        return in_linear(k, linear);
    }
    V in_linear(int k, Index linear) const {
        HEARTH_ASSERT(linear >= 0 && linear < input(k).shape.element_count(0));
        return input(k).data[linear];
    }

    template <class F>
    V sum(Index extent, F body) const {
        V total = 0;
        for (Index i = 0; i < extent; ++i) total += body(i);
        return total;
    }
    template <class F>
    V product(Index extent, F body) const {
        V total = 1;
        for (Index i = 0; i < extent; ++i) total *= body(i);
        return total;
    }
    template <class F>
    V reduce_max(Index extent, F body) const {
        V best = body(0);
        for (Index i = 1; i < extent; ++i) best = max(best, body(i));
        return best;
    }
    template <class F>
    V reduce_min(Index extent, F body) const {
        V best = body(0);
        for (Index i = 1; i < extent; ++i) best = min(best, body(i));
        return best;
    }
    /// Index of the largest (smallest) element; the first in case of ties.
    template <class F>
    V argmax(Index extent, F body) const {
        Index best = 0;
        for (Index i = 1; i < extent; ++i)
            if (body(i) > body(best)) best = i;
        return static_cast<V>(best);
    }
    template <class F>
    V argmin(Index extent, F body) const {
        Index best = 0;
        for (Index i = 1; i < extent; ++i)
            if (body(i) < body(best)) best = i;
        return static_cast<V>(best);
    }

    /// A multiple of 2^-24 in [0, 1) for element `linear()` of draw `step`.
    V uniform(uint64_t key, V step) const {
        return static_cast<V>(uniform_from_bits(philox_bits(
            key, static_cast<uint32_t>(converted<int64_t>(step)), static_cast<uint32_t>(linear_))));
    }

  private:
    template <class To, class From>
    static To converted(From v) {
        if constexpr (std::is_same_v<From, double> && std::is_same_v<To, int64_t>)
            return saturate_cast<int64_t>(v);
        return static_cast<To>(v);
    }
    const CpuInput<V>& input(int k) const { return inputs_[static_cast<size_t>(k)]; }
    const Attrs& attrs_;
    std::span<const CpuInput<V>> inputs_;
    Shape shape_;
    DType dtype_;
    Coords<Index> coords_;
    int64_t linear_ = 0;
};

/// A position in a tensor: linear index, coordinates, or both; the missing one is derived on
/// demand.
struct ScalarPlace {
    std::optional<Scalar> linear = {};
    std::optional<Coords<Scalar>> coords = {};
};

/// Resolves the reads of a compute rule that is lowered: to a load, or to the expression of a fused
/// node.
class ScalarReader {
  public:
    virtual Scalar read(int input, const ScalarPlace& place) = 0;
    virtual ScalarArena& arena() = 0;

  protected:
    ~ScalarReader() = default;
};

/// The extent as an expression (a constant, or a multiple of the batch size).
Scalar extent_of(ScalarArena& arena, Dim dim);
/// Coordinates of a position in a tensor of `shape`.
Coords<Scalar> coords_of(ScalarArena& arena, const ScalarPlace& place, const Shape& shape);
/// Linear index of a position in a tensor of `shape`.
Scalar linear_of(ScalarArena& arena, const ScalarPlace& place, const Shape& shape);

/// Context of a compute rule that is lowered.
class GpuAt {
  public:
    using Index = Scalar;
    using Element = Scalar;

    GpuAt(const Attrs& attrs, std::span<const Shape> input_shapes, const Shape& output_shape,
          DType output_dtype, const ScalarPlace& place, ScalarReader& reader)
        : attrs_(attrs),
          in_shapes_(input_shapes),
          shape_(output_shape),
          dtype_(output_dtype),
          place_(place),
          reader_(reader),
          arena_(reader.arena()) {}

    const Attrs& attrs() const { return attrs_; }
    int input_count() const { return static_cast<int>(in_shapes_.size()); }
    int rank() const { return shape_.rank(); }
    int in_rank(int k) const { return in_shape(k).rank(); }
    const Shape& in_shape(int k) const { return in_shapes_[static_cast<size_t>(k)]; }
    Index dim(int axis) const { return extent_of(arena_, shape_[axis]); }
    Index in_dim(int k, int axis) const { return extent_of(arena_, in_shape(k)[axis]); }
    Index in_count(int k) const { return extent_of(arena_, in_shape(k).element_count()); }
    Index count_of(const Shape& shape) const { return extent_of(arena_, shape.element_count()); }
    DType dtype() const { return dtype_; }
    Coords<Index> coords();
    Index coord(int axis) { return coords()[axis]; }
    Index linear();
    Index index(int64_t value) const { return arena_.index(value); }
    /// A constant of the output's type.
    Scalar value(double v) const { return arena_.constant(v, scalar_type(dtype_)); }
    Scalar number(Index i) const { return arena_.convert(i, scalar_type(dtype_)); }
    Index to_index(Scalar v) const { return arena_.convert(v, ScalarType::kI32); }
    Scalar to_output(Scalar v) const { return arena_.convert(v, scalar_type(dtype_)); }

    Scalar x(int k);
    Scalar in(int k, const Coords<Index>& at) { return reader_.read(k, {{}, at}); }
    Scalar in_linear(int k, Index linear) { return reader_.read(k, {linear, {}}); }

    template <class F>
    Scalar sum(Index n, F body) {
        return loop(ScalarOp::kLoopSum, n, body);
    }
    template <class F>
    Scalar product(Index n, F body) {
        return loop(ScalarOp::kLoopProd, n, body);
    }
    template <class F>
    Scalar reduce_max(Index n, F body) {
        return loop(ScalarOp::kLoopMax, n, body);
    }
    template <class F>
    Scalar reduce_min(Index n, F body) {
        return loop(ScalarOp::kLoopMin, n, body);
    }
    template <class F>
    Scalar argmax(Index n, F body) {
        return loop(ScalarOp::kLoopArgMax, n, body);
    }
    template <class F>
    Scalar argmin(Index n, F body) {
        return loop(ScalarOp::kLoopArgMin, n, body);
    }

    Scalar uniform(uint64_t key, Scalar step) {
        const Scalar u = arena_.unary(ScalarOp::kBitsToUniform,
                                      arena_.philox(key, arena_.convert(step, ScalarType::kU32),
                                                    arena_.convert(linear(), ScalarType::kU32)));
        return dtype_ == DType::kF64 ? to_output(u) : u;
    }

  private:
    template <class F>
    Scalar loop(ScalarOp op, Index n, F body) {
        const Scalar counter = arena_.symbol(ScalarType::kI32);
        return arena_.loop(op, counter, n, body(counter));
    }
    const Attrs& attrs_;
    std::span<const Shape> in_shapes_;
    Shape shape_;
    DType dtype_;
    ScalarPlace place_;
    ScalarReader& reader_;
    ScalarArena& arena_;
};

/// The three instantiations of one compute rule; null where the rule is not defined.
struct ComputeRule {
    double (*on_doubles)(CpuAt<double>&) = nullptr;
    int64_t (*on_integers)(CpuAt<int64_t>&) = nullptr;
    Scalar (*on_scalars)(GpuAt&) = nullptr;
    explicit operator bool() const { return on_scalars != nullptr; }
};

/// A rule for floating-point tensors (bools and integers are read as doubles).
template <class F>
constexpr ComputeRule compute_float(F) {
    return {[](CpuAt<double>& c) { return static_cast<double>(F{}(c)); }, nullptr,
            [](GpuAt& c) { return F{}(c); }};
}

/// A rule for integers and bools only.
template <class F>
constexpr ComputeRule compute_integer(F) {
    return {nullptr, [](CpuAt<int64_t>& c) { return static_cast<int64_t>(F{}(c)); },
            [](GpuAt& c) { return F{}(c); }};
}

/// A rule shared by floats, integers and bools.
template <class F>
constexpr ComputeRule compute_any(F) {
    return {[](CpuAt<double>& c) { return static_cast<double>(F{}(c)); },
            [](CpuAt<int64_t>& c) { return static_cast<int64_t>(F{}(c)); },
            [](GpuAt& c) { return F{}(c); }};
}

}  // namespace hearth
