// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Attention layers and transformer blocks.  Vaswani et al., "Attention is all you need", 2017;
// params have PyTorch's names, so that its weights can be loaded.

#include "compiler/ir/graph.hpp"

#include <hearth/nn.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::nn {

namespace {

/// Splits heads: [n, length, heads * size] -> [n, heads, length, size].
Tensor in_heads(const Tensor& x, int64_t heads) {
    return transpose(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2).count / heads}), {0, 2, 1, 3});
}

Status check(std::string_view name, const Tensor& x, const Tensor& memory,
             const AttentionLayerOptions& options, int64_t key_heads) {
    const Dim width = x.dim(-1);
    const bool has_positions =
        !options.rotary || (!x.dim(1).is_batch && !memory.dim(1).is_batch &&
                            width.count % (2 * std::max<int64_t>(options.num_heads, 1)) == 0);
    if (has_positions && x.rank() == 3 && memory.rank() == 3 && !width.is_batch &&
        memory.dim(2) == width && options.num_heads > 0 && width.count % options.num_heads == 0 &&
        key_heads > 0 && options.num_heads % key_heads == 0)
        return {};
    return invalid_argument(
        "attention '" + std::string(name) + "': x is " + to_string(x.shape()) + ", memory " +
        to_string(memory.shape()) + ", " + std::to_string(options.num_heads) + " heads and " +
        std::to_string(key_heads) +
        " of keys; expected [n, length, width] with a width that the heads divide, and for "
        "rotary positions a fixed length and heads of even width");
}

/// Applies rotary position embeddings to each head, if enabled.
Tensor rotated(Trace& trace, const Tensor& heads, const AttentionLayerOptions& options) {
    if (!options.rotary) return heads;
    const RotaryTables tables =
        rotary_tables(trace, heads.dim(2).count, heads.dim(3).count, options.rope_theta);
    const auto of_type = [&](const Tensor& t) {
        return t.dtype() == heads.dtype() ? t : cast(t, heads.dtype());
    };
    return rotary_embedding(heads, of_type(tables.cosines), of_type(tables.sines));
}

Tensor feed_forward(Trace& trace, std::string_view name, const Tensor& x,
                    const TransformerOptions& options) {
    const Tensor inner =
        options.activation(linear(trace, join_name(name, "linear1"), x, options.dim_feedforward));
    const Tensor dropped =
        dropout(trace, join_name(name, "dropout"), inner, options.dropout, {options.training});
    return linear(trace, join_name(name, "linear2"), dropped, x.dim(-1).count);
}

/// Residual connection x + part(x), with normalization before or after.
template <class F>
Tensor residual(Trace& trace, std::string_view name, int index, const Tensor& x,
                const TransformerOptions& options, F part) {
    const std::string number = std::to_string(index);
    const auto norm = [&](const Tensor& t) {
        return layer_norm(trace, join_name(name, "norm" + number), t);
    };
    const Tensor added =
        dropout(trace, join_name(name, "dropout" + number), part(options.norm_first ? norm(x) : x),
                options.dropout, {options.training});
    return options.norm_first ? x + added : norm(x + added);
}

AttentionLayerOptions self_options(const TransformerOptions& options) {
    return {.num_heads = options.num_heads,
            .num_kv_heads = options.num_kv_heads,
            .causal = options.causal,
            .rotary = options.rotary};
}

}  // namespace

Tensor multi_head_attention(Trace& trace, std::string_view name, const Tensor& x,
                            const Tensor& memory_or_none, const AttentionLayerOptions& options,
                            const Tensor& mask) {
    const bool is_self = memory_or_none.trace() == nullptr;
    const Tensor memory = is_self ? x : memory_or_none;
    const Tensor failed(&trace, kInvalidId);
    if (!x.ok() || !memory.ok()) return failed;
    const int64_t key_heads = options.num_kv_heads != 0 ? options.num_kv_heads : options.num_heads;
    if (Status s = check(name, x, memory, options, key_heads); !s.ok()) {
        trace.fail(std::move(s));
        return failed;
    }
    const int64_t width = x.dim(2).count, key_width = width / options.num_heads * key_heads;
    const int64_t rows = width + 2 * key_width;
    const Tensor weight =
        trace.param(join_name(name, "in_proj_weight"), {rows, width},
                    weight_init(WeightInit::kXavier, width, rows, options.seed), x.dtype());
    const Tensor bias = options.bias ? trace.param(join_name(name, "in_proj_bias"), {rows},
                                                   Init::zeros(), x.dtype())
                                     : Tensor();
    std::vector<Tensor> parts;  // queries, keys, values
    if (is_self) {
        parts = split(hearth::linear(x, weight, bias), {width, key_width, key_width}, -1);
    } else {
        const auto weights = split(weight, {width, 2 * key_width}, 0);
        const auto biases =
            options.bias ? split(bias, {width, 2 * key_width}, 0) : std::vector<Tensor>(2);
        parts = split(hearth::linear(memory, weights[1], biases[1]), {key_width, key_width}, -1);
        parts.insert(parts.begin(), hearth::linear(x, weights[0], biases[0]));
    }
    const Tensor q = rotated(trace, in_heads(parts[0], options.num_heads), options);
    const Tensor k = rotated(trace, in_heads(parts[1], key_heads), options);
    const Tensor y = attention(q, k, in_heads(parts[2], key_heads), mask,
                               {.causal = options.causal, .left_window = options.attention_window});
    return linear(trace, join_name(name, "out_proj"), flatten(transpose(y, {0, 2, 1, 3}), 2, 3),
                  width, {.bias = options.bias, .seed = options.seed});
}

Tensor transformer_encoder_layer(Trace& trace, std::string_view name, const Tensor& x,
                                 const TransformerOptions& options, const Tensor& mask) {
    const Tensor attended = residual(trace, name, 1, x, options, [&](const Tensor& t) {
        return multi_head_attention(trace, join_name(name, "self_attn"), t, {},
                                    self_options(options), mask);
    });
    return residual(trace, name, 2, attended, options,
                    [&](const Tensor& t) { return feed_forward(trace, name, t, options); });
}

Tensor transformer_decoder_layer(Trace& trace, std::string_view name, const Tensor& x,
                                 const Tensor& memory, const TransformerOptions& options,
                                 const Tensor& mask, const Tensor& memory_mask) {
    const Tensor attended = residual(trace, name, 1, x, options, [&](const Tensor& t) {
        return multi_head_attention(trace, join_name(name, "self_attn"), t, {},
                                    self_options(options), mask);
    });
    const Tensor informed = residual(trace, name, 2, attended, options, [&](const Tensor& t) {
        const AttentionLayerOptions cross{.num_heads = options.num_heads,
                                          .num_kv_heads = options.num_kv_heads};
        return multi_head_attention(trace, join_name(name, "multihead_attn"), t, memory, cross,
                                    memory_mask);
    });
    return residual(trace, name, 3, informed, options,
                    [&](const Tensor& t) { return feed_forward(trace, name, t, options); });
}

Tensor transformer_encoder(Trace& trace, std::string_view name, const Tensor& x, int layers,
                           const TransformerOptions& options, const Tensor& mask) {
    Tensor y = x;
    for (int i = 0; i < layers; ++i)
        y = transformer_encoder_layer(
            trace, join_name(join_name(name, "layers"), static_cast<size_t>(i)), y, options, mask);
    return y;
}

Tensor sinusoidal_positions(Trace& trace, int64_t length, int64_t width) {
    HostTensor table(DType::kF32, Shape{length, width});
    for (int64_t i = 0; i < table.element_count(); ++i) {
        const int64_t column = i % width;
        const double rate =
            std::pow(10000.0, -static_cast<double>(column / 2 * 2) / static_cast<double>(width));
        const double angle = static_cast<double>(i / width) * rate;
        table.set(i, column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
    return trace.constant(std::move(table));
}

Tensor learned_positions(Trace& trace, std::string_view name, int64_t length, int64_t width,
                         uint64_t seed) {
    return trace.param(join_name(name, "weight"), {length, width}, Init::normal(0, 0.02, seed));
}

RotaryTables rotary_tables(Trace& trace, int64_t length, int64_t width, double base) {
    const int64_t half = width / 2;
    HostTensor cosines(DType::kF32, Shape{length, half}), sines(DType::kF32, Shape{length, half});
    for (int64_t i = 0; i < cosines.element_count(); ++i) {
        const double rate =
            std::pow(base, -2.0 * static_cast<double>(i % half) / static_cast<double>(width));
        const double angle = static_cast<double>(i / half) * rate;
        cosines.set(i, std::cos(angle));
        sines.set(i, std::sin(angle));
    }
    return {trace.constant(std::move(cosines)), trace.constant(std::move(sines))};
}

}  // namespace hearth::nn
