// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX sequence operators that are composed of others here: attention with KV caches, rotary
// embedding, linear attention, and the causal convolution before it.

#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <cmath>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

/// [batch, length, heads * n] as [batch, heads, length, n]; fails the trace if n is not an integer.
Tensor unpacked(OnnxCall& call, const Tensor& x, int64_t heads) {
    if (!x.ok()) return x;
    if (x.rank() != 3 || heads < 1 || x.dim(2).is_batch || x.dim(2).count % heads != 0) {
        call.invalid(to_string(x.shape()) + " in " + std::to_string(heads) + " heads");
        return failed_like(x);
    }
    const Tensor split = reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2).count / heads});
    return transpose(split, {0, 2, 1, 3});
}

/// Inverse of unpacked().
Tensor packed(const Tensor& x) {
    return flatten(transpose(x, {0, 2, 1, 3}), 2, 3);
}

/// The mask as [.., queries, keys]; missing columns are masked out.
Tensor whole_mask(OnnxCall& call, Tensor mask, const Tensor& q, Dim keys) {
    if (!mask.ok() || mask.rank() == 0) return mask;
    if (is_integer(mask.dtype())) mask = cast(mask, q.dtype());
    const Dim columns = mask.dim(-1);
    if (columns == keys) return mask;
    if (columns.is_batch || keys.is_batch || columns.count > keys.count) {
        call.invalid("the mask is " + to_string(mask.shape()) + " for " + to_string(keys) +
                     " keys");
        return failed_like(mask);
    }
    std::vector<int64_t> low(static_cast<size_t>(mask.rank()), 0), high = low;
    high.back() = keys.count - columns.count;
    return pad(mask, low, high, mask.dtype() == DType::kBool ? 0 : -HUGE_VAL);
}

Tensor appended(OnnxCall& call, const Tensor& present, size_t past) {
    return call.has(past) ? concat({call.in(past), present}, 2) : present;
}

}  // namespace

// inputs: Q, K, V, mask, past key, past value, lengths; outputs: Y, present key and value, scores.
// softmax_precision needs no handling: the softmax is f32 at least.
Tensors import_attention(OnnxCall& call) {
    Tensor q = call.in(0), k = call.in(1), v = call.in(2);
    if (call.has_failed()) return {};
    const bool is_packed = q.rank() == 3;
    if (is_packed) {
        const int64_t heads = call.integer("q_num_heads", 0);
        const int64_t key_heads = call.integer("kv_num_heads", 0);
        q = unpacked(call, q, heads);
        k = unpacked(call, k, key_heads);
        v = unpacked(call, v, key_heads);
    }
    if (call.has_failed()) return {};
    if (q.rank() != 4) return call.invalid("Q is " + to_string(q.shape()));
    AttentionOptions options;
    const Dim before = k.dim(2);
    k = appended(call, k, 4);
    v = appended(call, v, 5);
    if (call.has_failed()) return {};
    if (before.is_batch || k.dim(2).is_batch) {
        if (call.has(4)) return call.unsupported("a cache along the rows");
    } else {
        options.kv_cache_length = k.dim(2).count - before.count;
    }
    if (call.attrs.has("scale")) options.scale = call.real("scale", 0);
    options.softcap = call.real("softcap", 0);
    options.causal = call.flag("is_causal", false);
    options.left_window = call.integer("left_window_size", -1);
    options.right_window = call.integer("right_window_size", -1);
    if (call.has(6)) options.lengths = call.in(6);
    const Tensor mask = call.has(3) ? whole_mask(call, call.in(3), q, k.dim(2)) : Tensor();
    if (call.has_failed()) return {};
    const Tensor y = attention(q, k, v, mask, options);
    Tensors outputs{is_packed ? packed(y) : y, k, v};
    if (call.output_count > 3) {
        const int64_t mode = call.integer("qk_matmul_output_mode", 0);
        if (mode < 0 || mode > 3) return call.invalid("its output mode is " + std::to_string(mode));
        outputs.push_back(
            attention_scores(q, k, v, mask, options, static_cast<AttentionStage>(mode)));
    }
    return outputs;
}

// inputs: x [batch, heads, length, n] or [batch, length, heads * n], cosines, sines, positions
Tensors import_rotary_embedding(OnnxCall& call) {
    const Tensor x = call.in(0);
    Tensor cosines = call.in(1), sines = call.in(2);
    if (call.has_failed()) return {};
    const bool is_packed = x.rank() == 3;
    const Tensor heads = is_packed ? unpacked(call, x, call.integer("num_heads", 0)) : x;
    if (call.has_failed()) return {};
    if (heads.rank() != 4) return call.invalid("X is " + to_string(x.shape()));
    if (call.has(3)) {
        const Tensor positions = call.in(3);
        cosines = take(cosines, positions, 0);
        sines = take(sines, positions, 0);
    }
    if (cosines.rank() != 3) return call.invalid("the caches are " + to_string(cosines.shape()));
    int64_t width = call.integer("rotary_embedding_dim", 0);
    if (width == 0) width = heads.dim(3).count;
    // A cache may be wider than the rotated part.
    const auto table = [width](const Tensor& t) {
        return unsqueeze(slice(t, -1, 0, width / 2), {1});
    };
    const Tensor y =
        rotary_embedding(heads, table(cosines), table(sines), call.flag("interleaved", false));
    return {is_packed ? packed(y) : y};
}

// inputs: query, key, value, past state, decay, beta; outputs: result, present state
Tensors import_linear_attention(OnnxCall& call) {
    const std::string rule = call.text("update_rule", "gated_delta");
    const bool is_gated = rule == "gated" || rule == "gated_delta";
    const bool is_delta = rule == "delta" || rule == "gated_delta";
    if (!is_gated && !is_delta && rule != "linear")
        return call.invalid("its rule is '" + rule + "'");
    const int64_t heads = call.integer("q_num_heads", 0);
    const int64_t key_heads = call.integer("kv_num_heads", 0);
    const Tensor packed_q = call.in(0);
    const Tensor q = unpacked(call, packed_q, heads), k = unpacked(call, call.in(1), key_heads),
                 v = unpacked(call, call.in(2), key_heads);
    LinearAttentionOptions options;
    options.scale = call.real("scale", 0);
    const auto wide = [](const Tensor& t) {
        return t.dtype() == DType::kF64 ? t : cast(t, DType::kF32);
    };
    // A gate may be one value per head, or one per column of a head; beta may be shared by all
    // heads.
    const auto gate = [&](size_t input) {
        const Tensor t = call.in(input);
        if (!t.ok()) return t;
        return wide(unpacked(call, t, t.rank() == 3 && t.dim(2).is_one() ? 1 : key_heads));
    };
    if (is_gated) options.decay = gate(4);
    if (is_delta) options.beta = gate(5);
    if (call.has(3)) options.past = wide(call.in(3));
    if (call.has_failed()) return {};
    const LinearAttention result = linear_attention(wide(q), wide(k), wide(v), options);
    const DType dtype = packed_q.dtype();
    const auto narrow = [dtype](const Tensor& t) {
        return t.dtype() == dtype ? t : cast(t, dtype);
    };
    return {narrow(packed(result.output)), narrow(result.state)};
}

// inputs: x [batch, channels, length], weight [channels, 1, k], bias, past state
Tensors import_causal_conv_with_state(OnnxCall& call) {
    const Tensor x = call.in(0), weight = call.in(1);
    const std::string activation = call.text("activation", "none");
    if (call.has_failed()) return {};
    if (activation != "none" && activation != "silu" && activation != "swish")
        return call.invalid("its activation is '" + activation + "'");
    const CausalConv result = causal_conv(x, weight, call.has(2) ? call.in(2) : Tensor(),
                                          call.has(3) ? call.in(3) : Tensor());
    return {activation == "none" ? result.output : silu(result.output), result.state};
}

}  // namespace hearth
