// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tensors in host memory: element access with conversion between all types, and f16 and bf16
// rounding.

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/host_tensor.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

namespace hearth {

namespace {

// Rounds a double to a binary float with `mantissa_bits` stored bits and at most 8 exponent bits,
// to nearest even.  Directly from the double: going through f32 would round twice.
uint32_t round_to_float(double value, int mantissa_bits, int exponent_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    const uint32_t sign = std::signbit(value) ? 1u << (mantissa_bits + exponent_bits) : 0;
    if (std::isnan(value)) return sign | infinity | (1u << (mantissa_bits - 1));
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return sign | infinity;
    if (magnitude == 0) return sign;
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
    exponent = std::max(exponent - 1, 1 - bias);
    // The magnitude in units of the last place; nearbyint rounds to nearest even.
    const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
    const auto mantissa = static_cast<uint32_t>(units);
    // A carry out of the mantissa increments the exponent, also from subnormal to normal.
    const uint32_t bits = mantissa + (static_cast<uint32_t>(exponent + bias - 1) << mantissa_bits);
    return sign | std::min(bits, infinity);
}

double float_to_double(uint32_t bits, int mantissa_bits, int exponent_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    const uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
    const double sign = (bits >> (mantissa_bits + exponent_bits)) != 0 ? -1 : 1;
    if (exponent == (1u << exponent_bits) - 1)
        return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp(mantissa + (1u << mantissa_bits),
                             static_cast<int>(exponent) - bias - mantissa_bits);
}

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <class T>
void store(std::byte* at, T value) {
    std::memcpy(at, &value, sizeof value);
}

int64_t saturate(double value, DType dtype) {
    switch (dtype) {
        case DType::kI8:
            return saturate_cast<int8_t>(value);
        case DType::kU8:
            return saturate_cast<uint8_t>(value);
        case DType::kI16:
            return saturate_cast<int16_t>(value);
        case DType::kU16:
            return saturate_cast<uint16_t>(value);
        case DType::kI32:
            return saturate_cast<int32_t>(value);
        case DType::kU32:
            return saturate_cast<uint32_t>(value);
        case DType::kU64:
            return static_cast<int64_t>(saturate_cast<uint64_t>(value));
        default:
            return saturate_cast<int64_t>(value);
    }
}

}  // namespace

uint16_t float_to_half(double value) {
    return static_cast<uint16_t>(round_to_float(value, 10, 5));
}
double half_to_float(uint16_t bits) {
    return float_to_double(bits, 10, 5);
}
uint16_t float_to_bfloat16(double value) {
    return static_cast<uint16_t>(round_to_float(value, 7, 8));
}
double bfloat16_to_float(uint16_t bits) {
    return float_to_double(bits, 7, 8);
}

HostTensor::HostTensor(DType dtype, const Shape& shape)
    : dtype_(dtype), shape_(shape), count_(shape.element_count(1)) {
    HEARTH_ASSERT(!shape.has_batch());
    bytes_.resize(static_cast<size_t>(count_) * size_bytes(dtype));
}

HostTensor HostTensor::of(const Shape& shape, std::span<const double> values, DType dtype) {
    HostTensor t(dtype, shape);
    HEARTH_ASSERT(static_cast<int64_t>(values.size()) == t.count_);
    for (int64_t i = 0; i < t.count_; ++i) t.set(i, values[static_cast<size_t>(i)]);
    return t;
}

HostTensor HostTensor::of(const Shape& shape, std::span<const float> values) {
    HostTensor t(DType::kF32, shape);
    HEARTH_ASSERT(static_cast<int64_t>(values.size()) == t.count_);
    if (!values.empty()) std::memcpy(t.bytes_.data(), values.data(), t.bytes_.size());
    return t;
}

HostTensor HostTensor::scalar(double value, DType dtype) {
    HostTensor t(dtype, Shape{});
    t.set(0, value);
    return t;
}

double HostTensor::get(int64_t i) const {
    const std::byte* at = bytes_.data() + static_cast<size_t>(i) * size_bytes(dtype_);
    switch (dtype_) {
        case DType::kF32:
            return static_cast<double>(load<float>(at));
        case DType::kF64:
            return load<double>(at);
        case DType::kF16:
            return half_to_float(load<uint16_t>(at));
        case DType::kBF16:
            return bfloat16_to_float(load<uint16_t>(at));
        case DType::kU64:
            return static_cast<double>(load<uint64_t>(at));
        default:
            return static_cast<double>(get_int(i));
    }
}

int64_t HostTensor::get_int(int64_t i) const {
    const std::byte* at = bytes_.data() + static_cast<size_t>(i) * size_bytes(dtype_);
    switch (dtype_) {
        case DType::kI8:
            return load<int8_t>(at);
        case DType::kU8:
            return load<uint8_t>(at);
        case DType::kBool:
            return load<uint8_t>(at) != 0;
        case DType::kI16:
            return load<int16_t>(at);
        case DType::kU16:
            return load<uint16_t>(at);
        case DType::kI32:
            return load<int32_t>(at);
        case DType::kU32:
            return load<uint32_t>(at);
        case DType::kI64:
            return load<int64_t>(at);
        case DType::kU64:
            return static_cast<int64_t>(load<uint64_t>(at));
        default:
            return saturate(get(i), DType::kI64);
    }
}

void HostTensor::set(int64_t i, double value) {
    std::byte* at = bytes_.data() + static_cast<size_t>(i) * size_bytes(dtype_);
    switch (dtype_) {
        case DType::kF32:
            store(at, static_cast<float>(value));
            return;
        case DType::kF64:
            store(at, value);
            return;
        case DType::kF16:
            store(at, float_to_half(value));
            return;
        case DType::kBF16:
            store(at, float_to_bfloat16(value));
            return;
        case DType::kBool:
            store<uint8_t>(at, value != 0);
            return;
        default:
            set_int(i, saturate(value, dtype_));
            return;
    }
}

void HostTensor::set_int(int64_t i, int64_t value) {
    std::byte* at = bytes_.data() + static_cast<size_t>(i) * size_bytes(dtype_);
    switch (dtype_) {
        case DType::kI8:
        case DType::kU8:
            store(at, static_cast<uint8_t>(value));
            return;
        case DType::kBool:
            store<uint8_t>(at, value != 0);
            return;
        case DType::kI16:
        case DType::kU16:
            store(at, static_cast<uint16_t>(value));
            return;
        case DType::kI32:
        case DType::kU32:
            store(at, static_cast<uint32_t>(value));
            return;
        case DType::kI64:
        case DType::kU64:
            store(at, static_cast<uint64_t>(value));
            return;
        default:
            set(i, static_cast<double>(value));
            return;
    }
}

HostTensor HostTensor::cast(DType dtype) const {
    if (dtype == dtype_) return *this;
    HostTensor out(dtype, shape_);
    for (int64_t i = 0; i < count_; ++i) {
        if (is_floating(dtype_) || is_floating(dtype))
            out.set(i, get(i));
        else
            out.set_int(i, get_int(i));
    }
    return out;
}

Result<HostTensor> HostTensor::held_as(DType dtype, std::string_view name) const {
    HostTensor held = cast(dtype);
    if (!is_integer(dtype_) || size_bytes(dtype) >= size_bytes(dtype_)) return held;
    for (int64_t i = 0; i < count_; ++i) {
        const int64_t number = get_int(i);
        if (held.get_int(i) == number) continue;
        return unsupported(std::string(name) + ": element " + std::to_string(i) + " is " +
                           (is_unsigned(dtype_) ? std::to_string(static_cast<uint64_t>(number))
                                                : std::to_string(number)) +
                           ", which device memory cannot hold as " + std::string(name_of(dtype)) +
                           "; use a device with 64-bit integers, or the CPU");
    }
    return held;
}

HostTensor HostTensor::reshaped(const Shape& shape) const {
    HEARTH_ASSERT(shape.element_count(1) == count_);
    HostTensor out = *this;
    out.shape_ = shape;
    return out;
}

}  // namespace hearth
