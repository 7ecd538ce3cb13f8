// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tensor data in host memory: contents of parameters, inputs and results.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Owned, contiguous, row-major elements of one type.  Its shape has no symbolic extent.
class HostTensor {
  public:
    HostTensor() = default;
    /// All elements zero.
    HostTensor(DType dtype, const Shape& shape);
    /// Elements converted from `values`, whose number must equal the shape's element count.
    static HostTensor of(const Shape& shape, std::span<const double> values,
                         DType dtype = DType::kF32);
    static HostTensor of(const Shape& shape, std::span<const float> values);
    static HostTensor scalar(double value, DType dtype = DType::kF32);

    DType dtype() const { return dtype_; }
    const Shape& shape() const { return shape_; }
    int64_t element_count() const { return count_; }
    std::span<std::byte> bytes() { return bytes_; }
    std::span<const std::byte> bytes() const { return bytes_; }

    /// Element `i` as a double (exact for all types but i64 and u64 beyond 2^53).
    double get(int64_t i) const;
    /// Rounds to the element type: half to even for floats, modulo 2^n for integers, != 0 for bool.
    /// A float outside the range of all integer types saturates (NaN: zero).
    void set(int64_t i, double value);
    /// Integer access, without conversion to floating point.
    int64_t get_int(int64_t i) const;
    void set_int(int64_t i, int64_t value);

    /// The elements as a C++ type of the same size and kind; the type must match `dtype()`.
    template <class T>
    std::span<T> as() {
        return {reinterpret_cast<T*>(bytes_.data()), static_cast<size_t>(count_)};
    }
    template <class T>
    std::span<const T> as() const {
        return {reinterpret_cast<const T*>(bytes_.data()), static_cast<size_t>(count_)};
    }

    /// A copy with another element type.
    HostTensor cast(DType dtype) const;
    /// The same for a buffer that holds the elements as `dtype`; name: of the tensor, for errors.
    /// Errors: kUnsupported for an integer that `dtype` cannot hold.
    Result<HostTensor> held_as(DType dtype, std::string_view name) const;
    /// A copy with another shape of the same element count.
    HostTensor reshaped(const Shape& shape) const;

    friend bool operator==(const HostTensor& a, const HostTensor& b) {
        return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ && a.bytes_ == b.bytes_;
    }

  private:
    DType dtype_ = DType::kF32;
    Shape shape_;
    int64_t count_ = 0;
    std::vector<std::byte> bytes_;
};

/// Tensors by name.
using NamedTensors = std::map<std::string, HostTensor, std::less<>>;

/// Conversions of 16-bit floats, round to nearest even (IEEE 754 binary16; bfloat16 is the upper
/// half of binary32).
uint16_t float_to_half(double value);
double half_to_float(uint16_t bits);
uint16_t float_to_bfloat16(double value);
double bfloat16_to_float(uint16_t bits);

}  // namespace hearth
