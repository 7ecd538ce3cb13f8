// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators on the bits of integers, and the bits of other types read as integers.

#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <cstring>

namespace hearth {

namespace {

void bit_samples(Samples& s) {
    binary_samples_of(s, DType::kI32, -99, 99);
    binary_samples_of(s, DType::kU32, 0, 99);
    narrow_integer_samples(s, 2);
}

// Shift amounts include negative ones and ones of at least the type's width.
void shift_samples(Samples& s) {
    binary_samples_of(s, DType::kI32, -40, 40);
    binary_samples_of(s, DType::kU32, 0, 40);
    for (DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16}) {
        Sample& sample = s.add_typed({{dtype, {3, 67}}, {dtype, {67}}});
        sample.low = is_unsigned(dtype) ? 0 : -20;
        sample.high = 20;
    }
}

int64_t bits_of(DType dtype) {
    return 8 * int64_t{size_bytes(dtype)};
}

/// Returns whether the amount is within the type's width, and the amount, or zero if not.
template <class C>
auto shift_amount(C& c) {
    auto amount = c.x(1);
    auto width = c.value(static_cast<double>(bits_of(c.dtype())));
    auto fits = logical_and(amount >= 0, amount < width);
    return std::pair(fits, select(fits, amount, c.value(0)));
}

const auto shift_left_rule = [](auto& c) {
    auto [fits, amount] = shift_amount(c);
    return wrap_to_dtype(c, select(fits, shift_left(c.x(0), amount), c.value(0)));
};

// Shifts in zeros for unsigned types and the sign for signed ones.
const auto shift_right_rule = [](auto& c) {
    auto x = c.x(0);
    auto [fits, amount] = shift_amount(c);
    if (is_unsigned(c.dtype())) return select(fits, shift_right_logical(x, amount), c.value(0));
    return select(fits, shift_right(x, amount), select(x < 0, c.value(-1), c.value(0)));
};

Status infer_bitcast(InferContext& call) {
    const DType from = call.dtype(0), to = call.attrs.dtype("to");
    if (size_bytes(from) != size_bytes(to))
        return invalid_argument(std::string(name_of(from)) + " and " + std::string(name_of(to)) +
                                " differ in size");
    return call.one(to, call.shape(0));
}

void reference_bitcast(ReferenceContext& call) {
    const HostTensor& from = call.inputs[0];
    HostTensor& to = call.outputs[0];
    if (to.dtype() == DType::kBool) {
        for (int64_t i = 0; i < to.element_count(); ++i) to.set_int(i, from.get_int(i));
    } else if (to.element_count() > 0) {
        std::memcpy(to.bytes().data(), from.bytes().data(), to.bytes().size());
    }
}

/// True if a kernel holds exactly the bits of an element.
bool device_holds_bits(DType dtype) {
    return size_bytes(dtype) <= 4 && dtype != DType::kF16 && dtype != DType::kBF16;
}

template <class F>
constexpr OpDef bitwise(std::string_view name, std::string_view summary, std::string_view onnx,
                        F function) {
    return {.name = name,
            .summary = summary,
            .inputs = {{"a", TypeClass::kInteger}, {"b", TypeClass::kInteger}},
            .infer = broadcast_same_type,
            .compute = compute_integer(function),
            .onnx = {{onnx, 18}},
            .samples = bit_samples};
}

constinit const OpDef kOps[] = {
    bitwise("bitwise_and", "a & b, bit by bit", "BitwiseAnd",
            [](auto& c) { return bit_and(c.x(0), c.x(1)); }),
    bitwise("bitwise_or", "a | b, bit by bit", "BitwiseOr",
            [](auto& c) { return bit_or(c.x(0), c.x(1)); }),
    bitwise("bitwise_xor", "a ^ b, bit by bit", "BitwiseXor",
            [](auto& c) { return bit_xor(c.x(0), c.x(1)); }),
    {
        .name = "bitwise_not",
        .summary = "~x, bit by bit",
        .inputs = {{"x", TypeClass::kInteger}},
        .infer = same_as_input,
        .compute = compute_integer([](auto& c) { return wrap_to_dtype(c, bit_not(c.x(0))); }),
        .onnx = {{"BitwiseNot", 18}},
        .samples =
            [](Samples& s) {
                unary_samples_of(s, DType::kI32, -99, 99);
                narrow_integer_samples(s, 1);
            },
    },
    {
        .name = "shift_left",
        .summary = "x * 2^amount modulo 2^bits; 0 for an amount outside [0, bits)",
        .inputs = {{"x", TypeClass::kInteger}, {"amount", TypeClass::kInteger}},
        .infer = broadcast_same_type,
        .compute = compute_integer(shift_left_rule),
        .onnx = {{"BitShift", 11, import_bit_shift}},
        .samples = shift_samples,
    },
    {
        .name = "shift_right",
        .summary = "floor(x / 2^amount); 0, or -1 for x < 0, for an amount outside [0, bits)",
        .inputs = {{"x", TypeClass::kInteger}, {"amount", TypeClass::kInteger}},
        .infer = broadcast_same_type,
        .compute = compute_integer(shift_right_rule),
        .samples = shift_samples,
    },
    {
        .name = "bitcast",
        .summary = "the bits of x as another type of the same size",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"to", AttrType::kDType}},
        .infer = [](InferContext& call) -> Status {
            for (const DType dtype : {call.dtype(0), call.attrs.dtype("to")})
                if (!device_holds_bits(dtype))
                    return invalid_argument("kernels do not hold the bits of " +
                                            std::string(name_of(dtype)) + ": see bitcast_wide");
            return infer_bitcast(call);
        },
        .compute = {nullptr, nullptr,
                    [](GpuAt& c) {
                        const Scalar x = c.x(0);
                        if (c.dtype() == DType::kBool) return c.to_output(x != 0);
                        const Scalar bits = reinterpret(x, scalar_type(c.dtype()));
                        return is_integer(c.dtype()) ? wrap_to_dtype(c, bits) : bits;
                    }},
        .reference = reference_bitcast,
        .stops_gradient = true,
        .onnx = {{"BitCast", 26, import_bitcast}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](DType from, DType to, const Shape& shape) {
                    s.add_typed({{from, shape}}, {{"to", to}}).high = is_unsigned(from) ? 200 : 2;
                };
                add(DType::kF32, DType::kI32, {kBatch, 5});
                add(DType::kF32, DType::kU32, {3, 1});
                add(DType::kI32, DType::kU32, {7});
                add(DType::kU32, DType::kI32, {});
                add(DType::kI8, DType::kU8, {67});
                add(DType::kU8, DType::kI8, {67});
                add(DType::kU16, DType::kI16, {2, 3});
                add(DType::kBool, DType::kU8, {9});
                add(DType::kI8, DType::kBool, {9});
                // Small integers are the bits of subnormal floats, which a device may flush.
                add(DType::kF32, DType::kF32, {3, 5});
            },
    },
    {
        .name = "bitcast_wide",
        .summary = "the bits of x as another type of its size; of types that no kernel holds whole",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"to", AttrType::kDType}},
        .infer = infer_bitcast,
        .reference = reference_bitcast,
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                const auto add = [&s](DType from, DType to, const Shape& shape) {
                    s.add_typed({{from, shape}}, {{"to", to}});
                };
                add(DType::kF64, DType::kI64, {kBatch, 5});
                add(DType::kF64, DType::kU64, {3});
                add(DType::kF16, DType::kI16, {2, 3});
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> bits_ops{kOps};

std::vector<Tensor> import_bit_shift(OnnxCall& call) {
    const std::string direction = call.text("direction", "");
    const Tensor x = call.in(0), amount = call.in(1);
    if (direction == "LEFT") return {shift_left(x, amount)};
    if (direction == "RIGHT") return {shift_right(x, amount)};
    return call.invalid("direction is '" + direction + "', expected LEFT or RIGHT");
}

std::vector<Tensor> import_bitcast(OnnxCall& call) {
    const int64_t number = call.integer("to", 0);
    const std::optional<DType> to = dtype_from_onnx(number);
    if (!to) return call.unsupported("element type " + onnx_type_name(number));
    return {bitcast(call.in(0), *to)};
}

HEARTH_BINARY_FUNCTION(bitwise_and)
HEARTH_BINARY_FUNCTION(bitwise_or)
HEARTH_BINARY_FUNCTION(bitwise_xor)
HEARTH_UNARY_FUNCTION(bitwise_not)
HEARTH_BINARY_FUNCTION(shift_left)
HEARTH_BINARY_FUNCTION(shift_right)

Tensor bitcast(const Tensor& x, DType dtype) {
    if (!x.ok() || x.dtype() == dtype) return x;
    const bool is_narrow = device_holds_bits(x.dtype()) && device_holds_bits(dtype);
    return apply_one(op(is_narrow ? "bitcast" : "bitcast_wide"), {x}, {{"to", dtype}});
}

}  // namespace hearth
