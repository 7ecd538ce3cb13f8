// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports operators of the domain com.microsoft that ONNX Runtime's quantization tools and
// exporters emit, in terms of others.  After ONNX Runtime's docs/ContribOperators.md.  A quantized
// operator dequantizes its operands, applies the float operator and quantizes the result; matrix
// products are exact integer products.

#include "compiler/ops/onnx/conv_onnx.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/packed_elements.hpp"
#include "import/onnx/onnx_compositions.hpp"

#include <hearth/ops.hpp>

namespace hearth {

namespace {

using List = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

Tensor optional_in(OnnxCall& call, size_t k) {
    return call.has(k) ? call.in(k) : Tensor();
}

/// Dequantizes inputs k, k + 1 and k + 2: values, scale, and optional zero point.
Tensor dequantized(OnnxCall& call, size_t k) {
    return dequantize_linear(call.in(k), call.in(k + 1), optional_in(call, k + 2));
}

/// Quantizes y with scale input k and optional zero point input k + 1.  The result has the zero
/// point's type, or `dtype` without one.
Tensors quantized(OnnxCall& call, const Tensor& y, size_t k, DType dtype) {
    const Tensor scale = call.in(k), zero_point = optional_in(call, k + 1);
    if (call.has_failed()) return {};
    return {quantize_linear(y, scale, zero_point, zero_point.ok() ? zero_point.dtype() : dtype)};
}

// --- Elementwise: a, a_scale, a_zero_point, b, b_scale, b_zero_point, scale, zero_point ---

Tensors import_qlinear_add(OnnxCall& call) {
    const Tensor sum = dequantized(call, 0) + dequantized(call, 3);
    return quantized(call, sum, 6, call.in(0).dtype());
}

Tensors import_qlinear_mul(OnnxCall& call) {
    const Tensor product = dequantized(call, 0) * dequantized(call, 3);
    return quantized(call, product, 6, call.in(0).dtype());
}

// condition, x, x_scale, x_zero_point, y, y_scale, y_zero_point, z_scale, z_zero_point
Tensors import_qlinear_where(OnnxCall& call) {
    const Tensor chosen = where(call.in(0), dequantized(call, 1), dequantized(call, 4));
    return quantized(call, chosen, 7, call.in(1).dtype());
}

// --- One operand: x, x_scale, x_zero_point, y_scale, y_zero_point ---

Tensors import_qlinear_sigmoid(OnnxCall& call) {
    return quantized(call, sigmoid(dequantized(call, 0)), 3, call.in(0).dtype());
}

Tensors import_qlinear_leaky_relu(OnnxCall& call) {
    const Tensor y = leaky_relu(dequantized(call, 0), call.real("alpha", 0.01));
    return quantized(call, y, 3, call.in(0).dtype());
}

/// Applies ONNX's own operator to the dequantized operand.
template <Tensors (*kImport)(OnnxCall&)>
Tensors import_on_dequantized(OnnxCall& call) {
    const OnnxInput x{dequantized(call, 0), nullptr, nullptr};
    if (call.has_failed()) return {};
    // QLinearSoftmax has an attribute for the opset of its Softmax.
    const auto opset = static_cast<int>(call.integer("opset", call.opset));
    OnnxCall inner{call.trace, call.op_type, opset, call.attrs, std::span(&x, 1), 1};
    const Tensors y = kImport(inner);
    if (call.has_failed()) return {};
    return quantized(call, y[0], 3, call.in(0).dtype());
}

Tensors import_qlinear_average_pool(OnnxCall& call) {
    if (call.flag("channels_last", false)) return call.unsupported("channels_last");
    return import_on_dequantized<import_average_pool>(call);
}

Tensors import_qlinear_global_average_pool(OnnxCall& call) {
    const Tensor x = dequantized(call, 0);
    if (call.has_failed()) return {};
    const bool channels_last = call.flag("channels_last", false);
    List axes;
    for (int axis = channels_last ? 1 : 2; axis < x.rank() - (channels_last ? 1 : 0); ++axis)
        axes.push_back(axis);
    return quantized(call, mean(x, axes, true), 3, call.in(0).dtype());
}

// scale, zero_point, then values, scale and zero_point of each part
Tensors import_qlinear_concat(OnnxCall& call) {
    Tensors parts;
    for (size_t k = 2; k + 2 < call.input_count(); k += 3) parts.push_back(dequantized(call, k));
    if (call.has_failed()) return {};
    if (parts.empty() || call.input_count() % 3 != 2)
        return call.invalid("has " + std::to_string(call.input_count()) +
                            " inputs, expected 2 and 3 for each part");
    const std::optional<int> axis = call.axis("axis", 0, parts[0].rank());
    if (!axis) return {};
    return quantized(call, concat(parts, *axis), 0, call.in(2).dtype());
}

// --- Products ---

/// Scales an integer product to floats and adds the optional bias.
Tensor scaled(const Tensor& product, const Tensor& scale, const Tensor& bias) {
    const Tensor y = cast(product, DType::kF32) * scale;
    return bias.ok() ? y + bias : y;
}

// a, b, a_scale, b_scale, a_zero_point, b_zero_point, bias
Tensors import_matmul_integer_to_float(OnnxCall& call) {
    const Tensor product =
        matmul_integer(call.in(0), call.in(1), optional_in(call, 4), optional_in(call, 5));
    return {scaled(product, call.in(2) * call.in(3), optional_in(call, 6))};
}

// a, b, b_scale, b_zero_point, bias: a is quantized at run time, by its range.
Tensors import_dynamic_quantize_matmul(OnnxCall& call) {
    const DynamicQuantized a = dynamic_quantize_linear(call.in(0));
    const Tensor product = matmul_integer(a.values, call.in(1), a.zero_point, optional_in(call, 3));
    return {scaled(product, a.scale * call.in(2), optional_in(call, 4))};
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, c, y_scale, y_zero_point.  c is in units of
// alpha * a_scale * b_scale; without y_scale the result is float.
Tensors import_qgemm(OnnxCall& call) {
    Tensor a = call.in(0), b = call.in(3);
    if (call.has_failed()) return {};
    if (a.rank() != 2 || b.rank() != 2)
        return call.invalid("a is " + to_string(a.shape()) + ", b is " + to_string(b.shape()) +
                            "; expected two matrices");
    if (call.flag("transA", false)) a = transpose(a, {1, 0});
    if (call.flag("transB", false)) b = transpose(b, {1, 0});
    Tensor product = matmul_integer(a, b, optional_in(call, 2), optional_in(call, 5));
    if (call.has(6)) product = product + call.in(6);
    const Tensor y = scaled(product, call.in(1) * call.in(4) * call.real("alpha", 1), {});
    if (!call.has(7)) return {y};
    return quantized(call, y, 7, call.in(0).dtype());
}

// a: [..., K]; b: N rows of blocks of `bits`-bit numbers, lowest bits first; one scale and zero
// point per block, the zero points packed like b or in the scales' type.  b stays packed, in the
// order of a product's right operand: the product unpacks the elements that it loads.
Tensors import_matmul_nbits(OnnxCall& call) {
    const int64_t k = call.integer("K", 0), n = call.integer("N", 0),
                  bits = call.integer("bits", 4), block = call.integer("block_size", 0);
    const HostTensor *packed = call.value(1), *scales = call.value(2);
    const HostTensor* zeros = call.has(3) ? call.value(3) : nullptr;
    if (call.has_failed()) return {};
    constexpr int64_t kMost = 1 << 24;
    const bool fits = k > 0 && n > 0 && k <= kMost && n <= kMost && block >= 16 && block <= kMost;
    if (!fits || (bits != 2 && bits != 4 && bits != 8))
        return call.unsupported("K " + std::to_string(k) + ", N " + std::to_string(n) + ", " +
                                std::to_string(bits) + " bits in blocks of " +
                                std::to_string(block));
    if (call.has(4)) return call.unsupported("g_idx");
    const int64_t blocks = (k + block - 1) / block, per_byte = 8 / bits;
    const int64_t block_bytes = block / per_byte, zero_bytes = (blocks + per_byte - 1) / per_byte;
    const bool packed_zeros = zeros != nullptr && zeros->dtype() == DType::kU8;
    if (packed->dtype() != DType::kU8 || packed->element_count() != n * blocks * block_bytes ||
        scales->element_count() != n * blocks ||
        (zeros != nullptr && zeros->element_count() != n * (packed_zeros ? zero_bytes : blocks)))
        return call.invalid("weights " + to_string(packed->shape()) + " with scales " +
                            to_string(scales->shape()) + " do not hold " + std::to_string(n) +
                            " rows of " + std::to_string(blocks) + " blocks");
    const auto number = [&](const HostTensor& from, int64_t byte, int64_t at) {
        return static_cast<uint32_t>(from.get_int(byte + at / per_byte) >>
                                     (bits * (at % per_byte))) &
               ((1u << bits) - 1);
    };
    // [n, blocks, block] as [blocks, block, n], in which the columns of a product lie side by side.
    const int64_t per_word = 32 / bits;
    HostTensor words(DType::kU32, Shape{(n * blocks * block + per_word - 1) / per_word});
    HostTensor zero(DType::kF32, Shape{blocks, 1, n}), scale(DType::kF32, Shape{blocks, 1, n});
    const std::span<uint32_t> word = words.as<uint32_t>();
    for (int64_t row = 0; row < n; ++row)
        for (int64_t in = 0; in < blocks; ++in) {
            const int64_t from = row * blocks + in, to = in * n + row;
            for (int64_t i = 0; i < block; ++i) {
                const int64_t at = (in * block + i) * n + row;
                word[static_cast<size_t>(at / per_word)] |= number(*packed, from * block_bytes, i)
                                                            << (at % per_word * bits);
            }
            scale.set(to, scales->get(from));
            zero.set(to, zeros == nullptr ? static_cast<double>(1u << (bits - 1))
                         : packed_zeros   ? number(*zeros, row * zero_bytes, in)
                                          : zeros->get(from));
        }
    const Tensor q = unpack_elements(call.trace.constant(std::move(words)), {blocks, block, n},
                                     DType::kU8, bits);
    const Tensor weights = (cast(q, DType::kF32) - call.trace.constant(std::move(zero))) *
                           call.trace.constant(std::move(scale));
    const Tensor a = call.in(0);
    Tensor y = matmul(a, cast(slice(reshape(weights, {blocks * block, n}), 0, 0, k), a.dtype()));
    if (call.has(5)) y = y + call.in(5);
    return {y};
}

// --- Activations and products from exporters' fusions ---

Tensors import_exact_gelu(OnnxCall& call) {
    return {gelu(call.in(0))};
}

// x, bias
Tensors import_bias_gelu(OnnxCall& call) {
    return {gelu(call.in(0) + call.in(1))};
}

// x, optional bias
Tensors import_fast_gelu(OnnxCall& call) {
    return {gelu_tanh(call.has(1) ? call.in(0) + call.in(1) : call.in(0))};
}

Tensors import_quick_gelu(OnnxCall& call) {
    const Tensor x = call.in(0);
    return {x * sigmoid(x * call.real("alpha", 1.702))};
}

Tensors import_fused_matmul(OnnxCall& call) {
    if (call.flag("transBatchA", false) || call.flag("transBatchB", false))
        return call.unsupported("transBatchA or transBatchB");
    const Tensor y =
        matmul(call.in(0), call.in(1), call.flag("transA", false), call.flag("transB", false));
    const double alpha = call.real("alpha", 1);
    return {alpha == 1 ? y : y * alpha};
}

constexpr OnnxMapping kContribOperators[] = {
    {"com.microsoft.BiasGelu", 1, import_bias_gelu},
    {"com.microsoft.DequantizeLinear", 1, import_dequantize_linear},
    {"com.microsoft.DynamicQuantizeLSTM", 1, import_dynamic_quantize_lstm},
    {"com.microsoft.DynamicQuantizeMatMul", 1, import_dynamic_quantize_matmul},
    {"com.microsoft.FastGelu", 1, import_fast_gelu},
    {"com.microsoft.FusedMatMul", 1, import_fused_matmul},
    {"com.microsoft.Gelu", 1, import_exact_gelu},
    {"com.microsoft.MatMulIntegerToFloat", 1, import_matmul_integer_to_float},
    {"com.microsoft.MatMulNBits", 1, import_matmul_nbits},
    {"com.microsoft.QGemm", 1, import_qgemm},
    {"com.microsoft.QLinearAdd", 1, import_qlinear_add},
    {"com.microsoft.QLinearAveragePool", 1, import_qlinear_average_pool},
    {"com.microsoft.QLinearConcat", 1, import_qlinear_concat},
    {"com.microsoft.QLinearGlobalAveragePool", 1, import_qlinear_global_average_pool},
    {"com.microsoft.QLinearLeakyRelu", 1, import_qlinear_leaky_relu},
    {"com.microsoft.QLinearMul", 1, import_qlinear_mul},
    {"com.microsoft.QLinearSigmoid", 1, import_qlinear_sigmoid},
    {"com.microsoft.QLinearSoftmax", 1, import_on_dequantized<import_softmax>},
    {"com.microsoft.QLinearWhere", 1, import_qlinear_where},
    {"com.microsoft.QuantizeLinear", 1, import_quantize_linear},
    {"com.microsoft.QuickGelu", 1, import_quick_gelu},
};

}  // namespace

std::span<const OnnxMapping> onnx_contrib_operators() {
    return kContribOperators;
}

}  // namespace hearth
