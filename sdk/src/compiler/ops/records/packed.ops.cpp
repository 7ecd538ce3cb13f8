// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Narrow elements packed several to a 32-bit word. The reader (a matrix product, a convolution)
// unpacks them as it loads: they save memory and bandwidth, nothing else.
// compiler/passes/quantize_weights.cpp packs weights with one scale per block, and
// compiler/passes/pack_leaves.cpp all other narrow weights of devices without narrow storage.

#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

struct Packing {
    int64_t bits, block, per_word;
    explicit Packing(const Attrs& attrs)
        : bits(attrs.integer("bits")), block(attrs.integer("block")), per_word(32 / bits) {}
};

Dim parts_of(Dim count, int64_t each) {
    return {(count.count + each - 1) / each, count.is_batch};
}

Status infer_unpack(InferContext& call) {
    const int64_t bits = call.attrs.integer("bits");
    if (bits != 4 && bits != 8)
        return invalid_argument("bits are " + std::to_string(bits) + ", expected 4 or 8");
    const Packing p(call.attrs);
    if (p.block < 1)
        return invalid_argument("block is " + std::to_string(p.block) + ", expected 1 or more");
    const Shape& shape = call.attrs.shape("shape");
    HEARTH_TRY(check_shape(shape));
    const Dim count = shape.element_count();
    if (count.is_batch && (count.count % p.per_word != 0 || count.count % p.block != 0))
        return invalid_argument("rows of " + to_string(shape) + " end within a word or a block");
    const Shape words{parts_of(count, p.per_word)}, scales{parts_of(count, p.block)};
    if (call.dtype(0) != DType::kU32 || call.shape(0) != words)
        return invalid_argument("words are " + std::string(name_of(call.dtype(0))) +
                                to_string(call.shape(0)) + ", expected u32" + to_string(words));
    if (call.shape(1) != scales)
        return invalid_argument("scales are " + to_string(call.shape(1)) + ", expected " +
                                to_string(scales));
    if (!is_floating(call.attrs.dtype("to")))
        return invalid_argument("to is " + std::string(name_of(call.attrs.dtype("to"))) +
                                ", expected a float");
    return call.one(call.attrs.dtype("to"), shape);
}

double unpack_on_doubles(CpuAt<double>& c) {
    const Packing p(c.attrs());
    const int64_t i = c.linear();
    const auto word = static_cast<uint32_t>(c.in_linear(0, i / p.per_word));
    const auto up = static_cast<int>(32 - p.bits - i % p.per_word * p.bits);
    const int32_t q = static_cast<int32_t>(word << up) >> static_cast<int>(32 - p.bits);
    return q * c.in_linear(1, i / p.block);
}

Scalar unpack_on_scalars(GpuAt& c) {
    const Packing p(c.attrs());
    const Scalar i = c.linear();
    const Scalar word = c.in_linear(0, i / c.index(p.per_word));
    const Scalar up = c.index(32 - p.bits) - i % c.index(p.per_word) * c.index(p.bits);
    const Scalar q =
        shift_right(reinterpret(shift_left(word, up), ScalarType::kI32), c.index(32 - p.bits));
    return c.to_output(q) * c.in_linear(1, i / c.index(p.block));
}

// --- Elements without scales ---

Status infer_unpack_elements(InferContext& call) {
    const DType to = call.attrs.dtype("to");
    const int64_t bits = call.attrs.integer("bits");
    const bool is_part = (bits == 2 || bits == 4) && (to == DType::kI8 || to == DType::kU8);
    if (!is_part && (size_bytes(to) > 2 || bits != int64_t{8} * size_bytes(to)))
        return invalid_argument("bits are " + std::to_string(bits) + " and to is " +
                                std::string(name_of(to)) +
                                ", expected a type of 8 or 16 bits, or 2 or 4 bits and i8 or u8");
    const Shape& shape = call.attrs.shape("shape");
    HEARTH_TRY(check_shape(shape));
    const Dim count = shape.element_count();
    if (count.is_batch && count.count % (32 / bits) != 0)
        return invalid_argument("rows of " + to_string(shape) + " end within a word");
    const Shape words{parts_of(count, 32 / bits)};
    if (call.dtype(0) != DType::kU32 || call.shape(0) != words)
        return invalid_argument("words are " + std::string(name_of(call.dtype(0))) +
                                to_string(call.shape(0)) + ", expected u32" + to_string(words));
    return call.one(to, shape);
}

int64_t unpack_element_on_integers(CpuAt<int64_t>& c) {
    const int64_t bits = c.attrs().integer("bits"), per_word = 32 / bits, i = c.linear();
    const auto word = static_cast<uint32_t>(c.in_linear(0, i / per_word));
    const auto up = static_cast<int>(32 - bits - i % per_word * bits);
    const int down = static_cast<int>(32 - bits);
    if (is_unsigned(c.dtype()) || c.dtype() == DType::kBool) return (word << up) >> down;
    return static_cast<int32_t>(word << up) >> down;
}

double unpack_element_on_doubles(CpuAt<double>& c) {
    const int64_t i = c.linear();
    const auto word = static_cast<uint32_t>(c.in_linear(0, i / 2));
    const auto bits = static_cast<uint16_t>(word >> (i % 2 * 16));
    return c.dtype() == DType::kF16 ? half_to_float(bits) : bfloat16_to_float(bits);
}

/// The f16 value, exactly, of the upper 16 bits of a u32. Subnormal ones are computed by a product,
/// because devices may flush subnormal operands.
Scalar float_of_half(Scalar upper, GpuAt& c) {
    const auto word = [&](uint32_t v) { return upper.arena->constant(v, ScalarType::kU32); };
    const Scalar magnitude = shift_right(bit_and(upper, word(0x7fff0000)), c.index(16));
    const Scalar shifted = shift_left(magnitude, c.index(13));
    const Scalar subnormal =
        reinterpret(upper.arena->convert(magnitude, ScalarType::kF32) * 0x1p-24, ScalarType::kU32);
    const Scalar bits = select(magnitude < word(0x0400), subnormal,
                               select(magnitude < word(0x7c00), shifted + word(0x38000000),
                                      bit_or(shifted, word(0x7f800000))));
    return reinterpret(bit_or(bits, bit_and(upper, word(0x80000000))), ScalarType::kF32);
}

Scalar unpack_element_on_scalars(GpuAt& c) {
    const int64_t bits = c.attrs().integer("bits"), per_word = 32 / bits;
    const Scalar i = c.linear();
    const Scalar word = c.in_linear(0, i / c.index(per_word));
    const Scalar up = c.index(32 - bits) - i % c.index(per_word) * c.index(bits);
    const Scalar upper = shift_left(word, up), down = c.index(32 - bits);
    if (c.dtype() == DType::kF16) return float_of_half(upper, c);
    if (c.dtype() == DType::kBF16) return reinterpret(upper, ScalarType::kF32);
    const bool is_signed = !is_unsigned(c.dtype()) && c.dtype() != DType::kBool;
    return c.to_output(is_signed ? shift_right(reinterpret(upper, ScalarType::kI32), down)
                                 : shift_right(upper, down));
}

constinit const OpDef kOps[] = {
    {
        .name = "unpack_elements",
        .summary = "The elements of `bits` bits that lie in words from the lowest bits up, as `to`",
        .inputs = {{"words", TypeClass::kInteger}},
        .attrs = {{"shape", AttrType::kShape}, {"to", AttrType::kDType}, {"bits"}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .traits = {.unpacks_elements = true},
        .infer = infer_unpack_elements,
        .compute = {unpack_element_on_doubles, unpack_element_on_integers,
                    unpack_element_on_scalars},
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& shape, DType to, int64_t bits) {
                    Sample& sample =
                        s.add_typed({{DType::kU32, {parts_of(shape.element_count(), 32 / bits)}}},
                                    {{"shape", shape}, {"to", to}, {"bits", bits}});
                    sample.low = 0;
                    // Finite: the lower half of a word is below the bits of infinity.
                    sample.high = to == DType::kF16 ? 0x7c00 : to == DType::kBF16 ? 0x7f80 : 0x1p32;
                };
                add({3, 5, 7}, DType::kF16, 16);
                add({33, 2}, DType::kBF16, 16);
                add({7}, DType::kI16, 16);
                add({8, 3}, DType::kU16, 16);
                add({33, 31}, DType::kI8, 8);
                add({1}, DType::kU8, 8);
                add({5, 13}, DType::kI8, 4);
                add({64, 4}, DType::kU8, 4);
                add({kBatch, 96}, DType::kU8, 2);
            },
    },
    {
        .name = "unpack_weights",
        .summary = "q[i] * scales[i / block], q the signed integers of `bits` bits that lie in "
                   "words from the lowest bits up",
        .inputs = {{"words", TypeClass::kInteger}, {"scales"}},
        .attrs = {{"bits"},
                  {"block", AttrType::kInteger, 32},
                  {"shape", AttrType::kShape},
                  {"to", AttrType::kDType}},
        .op_class = OpClass::kInjective,
        .is_view = true,  // recomputed by each reader: storing the unpacked elements would lose the
                          // saving
        .infer = infer_unpack,
        .compute = {unpack_on_doubles, nullptr, unpack_on_scalars},
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& shape, int64_t bits, int64_t block,
                                      DType scale = DType::kF32) {
                    const Dim count = shape.element_count();
                    Sample& sample = s.add_typed(
                        {{DType::kU32, {parts_of(count, 32 / bits)}},
                         {scale, {parts_of(count, block)}}},
                        {{"bits", bits}, {"block", block}, {"shape", shape}, {"to", DType::kF32}});
                    sample.low = 0;
                    sample.high = 0x1p32;
                };
                add({4, 64}, 8, 32);
                add({4, 64}, 4, 32);
                add({3, 5, 7}, 8, 32);
                add({33, 31}, 4, 32);
                add({kBatch, 96}, 4, 16);
                add({1}, 4, 32);
                add({7}, 8, 3);
                add({1031}, 4, 16, DType::kBF16);
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> packed_ops{kOps};

}  // namespace hearth
