// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The computation of each gradient case. Constants belong to the case; names and defaults are
// PyTorch's.

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <gradient_cases/gradient_cases.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::gradient_cases {

namespace {

Tensor numbers(const Tensor& like, const Shape& shape, std::vector<double> values, DType dtype) {
    return like.trace()->constant(HostTensor::of(shape, values, dtype));
}

// torch.tensor([...]) is f32, even if combined with f64.
Tensor torch_tensor(const Tensor& like, std::vector<double> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return like.trace()->constant(HostTensor::of(shape, values).cast(like.dtype()));
}

Tensor indices(const Tensor& like, const Shape& shape, std::vector<double> values) {
    return numbers(like, shape, std::move(values), DType::kI64);
}

// PyTorch's GRU cell, gates in the order r, z, n.
// Gates in the order i, f, g, o.
Tensor ppo_loss(Inputs t) {
    const Tensor& logits = t[0];
    const Tensor taken = categorical_log_prob(logits, indices(logits, {4}, {0, 1, 2, 0}));
    const Tensor policy = ppo_clip_loss(taken, torch_tensor(logits, {-1, -1.2, -0.9, -1.1}),
                                        torch_tensor(logits, {1, -1, 0.5, 2}));
    const Tensor value = mse_loss(squeeze(t[1], {1}), torch_tensor(logits, {1, 0, 2, -1}));
    return policy - mean(categorical_entropy(logits)) * 0.01 + value * 0.5;
}

// Sorted by name.
constexpr GradientCase kCases[] = {
    {"abs", [](Inputs t) { return abs(t[0]); }},
    {"adaptive_avg_pool",
     [](Inputs t) {
         return adaptive_avg_pool(t[0], {1, 1});
     }},
    {"add_broadcast", [](Inputs t) { return t[0] + t[1]; }},
    {"amax", [](Inputs t) { return max(t[0], {1}); }},
    {"avg_pool2d",
     [](Inputs t) { return avg_pool(t[0], {3}, {.strides = {2}, .pad_begin = {1}}); }},
    {"batch_norm_train", [](Inputs t) { return batch_norm_train(t[0], t[1], t[2]); }},
    {"batched_matmul", [](Inputs t) { return matmul(t[0], t[1]); }},
    {"bce_logits",
     [](Inputs t) {
         return binary_cross_entropy_with_logits(t[0], sigmoid(stop_gradient(t[1]))) +
                sum(t[1]) * 0.0;
     }},
    {"clamp", [](Inputs t) { return clamp(t[0], -0.5, 0.7); }},
    {"concat",
     [](Inputs t) {
         return concat({t[0], t[1]}, 1);
     }},
    {"conv1d", [](Inputs t) { return conv(t[0], t[1], {}, {.pad_begin = {1}}); }},
    {"conv2d", [](Inputs t) { return conv(t[0], t[1], t[2], {.pad_begin = {1}}); }},
    {"conv2d_groups",
     [](Inputs t) { return conv(t[0], t[1], {}, {.pad_begin = {1}, .groups = 4}); }},
    {"conv2d_stride_dil",
     [](Inputs t) {
         return conv(t[0], t[1], {}, {.strides = {2}, .dilations = {2}, .pad_begin = {2}});
     }},
    {"conv_transpose2d",
     [](Inputs t) {
         return conv_transpose(t[0], t[1], {}, {.strides = {2}, .pad_begin = {1}}, {1, 1});
     }},
    {"cos", [](Inputs t) { return cos(t[0]); }},
    {"cosine_similarity", [](Inputs t) { return cosine_similarity(t[0], t[1], 1); }},
    {"cross_entropy",
     [](Inputs t) {
         return cross_entropy(t[0], indices(t[0], {3}, {1, 0, 3}));
     }},
    {"cumsum", [](Inputs t) { return cumsum(t[0], 1); }},
    {"div_broadcast", [](Inputs t) { return t[0] / t[1]; }},
    {"elu", [](Inputs t) { return elu(t[0]); }},
    {"embedding",
     [](Inputs t) {
         return take(t[0], indices(t[0], {3}, {1, 3, 1}));
     }},
    {"erf", [](Inputs t) { return erf(t[0]); }},
    {"exp", [](Inputs t) { return exp(t[0]); }},
    {"expand",
     [](Inputs t) {
         return expand(t[0], {4, 3, 2});
     }},
    {"flip", [](Inputs t) { return flip(t[0], {1}); }},
    {"gather",
     [](Inputs t) {
         return gather_elements(t[0], indices(t[0], {3, 2}, {0, 2, 1, 1, 3, 0}), 1);
     }},
    {"gelu", [](Inputs t) { return gelu(t[0]); }},
    {"gelu_tanh", [](Inputs t) { return gelu_tanh(t[0]); }},
    {"grid_sample", [](Inputs t) { return grid_sample(t[0], tanh(t[1])); }},
    {"group_norm", [](Inputs t) { return group_norm(t[0], 2, t[1], t[2]); }},
    {"gru", [](Inputs t) { return gru(t[0], t[1], t[2], t[3], t[4], t[5]); }},
    {"gru_cell", [](Inputs t) { return gru_cell(t[0], t[1], t[2], t[3], t[4], t[5]); }},
    {"gru_resets",
     [](Inputs t) {
         const Tensor resets =
             equal(indices(t[0], {3, 4}, {0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0}), 1);
         return gru(t[0], t[1], t[2], t[3], t[4], t[5], resets);
     }},
    {"hardswish", [](Inputs t) { return hard_swish(t[0]); }},
    {"huber", [](Inputs t) { return huber_loss(t[0], t[1], 0.5); }},
    {"index_select_dup",
     [](Inputs t) {
         return take(t[0], indices(t[0], {4}, {0, 2, 2, 1}));
     }},
    {"instance_norm", [](Inputs t) { return instance_norm(t[0]); }},
    {"interp_bilinear",
     [](Inputs t) {
         return interpolate(t[0], {6, 8});
     }},
    {"interp_nearest",
     [](Inputs t) {
         return interpolate(t[0], {6, 6}, {.mode = Interpolation::kNearest});
     }},
    {"kl_div", [](Inputs t) { return kl_div(log_softmax(t[0], 1), softmax(t[1], 1)); }},
    {"layer_norm", [](Inputs t) { return layer_norm(t[0], {1}, t[1], t[2]); }},
    {"leaky_relu", [](Inputs t) { return leaky_relu(t[0]); }},
    {"linear", [](Inputs t) { return linear(t[0], t[1], t[2]); }},
    {"log", [](Inputs t) { return log(t[0]); }},
    {"log_softmax", [](Inputs t) { return log_softmax(t[0], 1); }},
    {"logsumexp", [](Inputs t) { return logsumexp(t[0], {1}); }},
    {"lstm_cell",
     [](Inputs t) {
         const LstmState next = lstm_cell(t[0], {t[1], t[2]}, t[3], t[4], t[5], t[6]);
         return concat({next.h, next.c}, 1);
     }},
    {"matmul", [](Inputs t) { return matmul(t[0], t[1]); }},
    {"matmul_broadcast", [](Inputs t) { return matmul(t[0], t[1]); }},
    {"matvec", [](Inputs t) { return matmul(t[0], t[1]); }},
    {"max_pool2d", [](Inputs t) { return max_pool(t[0], {2}); }},
    {"max_pool2d_pad",
     [](Inputs t) { return max_pool(t[0], {3}, {.strides = {2}, .pad_begin = {1}}); }},
    {"maximum", [](Inputs t) { return maximum(t[0], t[1]); }},
    {"mean_keepdim",
     [](Inputs t) {
         return mean(t[0], {0, 2}, true);
     }},
    {"minimum", [](Inputs t) { return minimum(t[0], t[1]); }},
    {"mish", [](Inputs t) { return mish(t[0]); }},
    {"mlp2", [](Inputs t) { return matmul(tanh(matmul(t[0], t[1]) + t[2]), t[3]) + t[4]; }},
    {"mse", [](Inputs t) { return mse_loss(t[0], t[1]); }},
    {"mul_broadcast", [](Inputs t) { return t[0] * t[1]; }},
    {"norm", [](Inputs t) { return sqrt(sum(square(t[0]))); }},
    {"pad_const",
     [](Inputs t) {
         return pad(t[0], {0, 1}, {1, 2}, 0.5);
     }},
    {"pad_reflect",
     [](Inputs t) {
         return pad(t[0], {0, 0, 1, 1}, {0, 0, 1, 1}, PadMode::kReflect);
     }},
    {"pixel_shuffle", [](Inputs t) { return pixel_shuffle(t[0], 2); }},
    {"pow", [](Inputs t) { return pow(t[0], t[1]); }},
    {"ppo_loss", ppo_loss},
    {"prod", [](Inputs t) { return prod(t[0], {1}); }},
    {"reciprocal", [](Inputs t) { return reciprocal(t[0]); }},
    {"relu", [](Inputs t) { return relu(t[0]); }},
    {"reshape_transpose",
     [](Inputs t) {
         return transpose(reshape(t[0], {4, 6}));
     }},
    {"rms_norm", [](Inputs t) { return rms_norm(t[0], {1}, t[1]); }},
    {"rsqrt", [](Inputs t) { return rsqrt(t[0]); }},
    {"scatter_add",
     [](Inputs t) {
         const Tensor places = indices(t[0], {2, 3}, {0, 1, 1, 2, 0, 1});
         return scatter_elements(t[0], places, t[1], 0, "add");
     }},
    {"sdpa", [](Inputs t) { return attention(t[0], t[1], t[2]); }},
    {"sdpa_causal", [](Inputs t) { return attention(t[0], t[1], t[2], {}, {.causal = true}); }},
    {"selu", [](Inputs t) { return selu(t[0]); }},
    {"sigmoid", [](Inputs t) { return sigmoid(t[0]); }},
    {"silu", [](Inputs t) { return silu(t[0]); }},
    {"sin", [](Inputs t) { return sin(t[0]); }},
    {"slice_step", [](Inputs t) { return slice(t[0], 1, 1, 6, 2); }},
    {"smooth_l1", [](Inputs t) { return smooth_l1_loss(t[0], t[1]); }},
    {"softmax", [](Inputs t) { return softmax(t[0], -1); }},
    {"softplus", [](Inputs t) { return softplus(t[0]); }},
    {"sqrt", [](Inputs t) { return sqrt(t[0]); }},
    {"sub_broadcast", [](Inputs t) { return t[0] - t[1]; }},
    {"sum_axis", [](Inputs t) { return sum(t[0], {1}); }},
    {"tanh", [](Inputs t) { return tanh(t[0]); }},
    {"var", [](Inputs t) { return var(t[0], {1}); }},
    {"where", [](Inputs t) { return where(greater(t[0], t[1]), t[0] * 2.0, t[1] * 3.0); }},
};

}  // namespace

std::span<const GradientCase> all_cases() {
    return kCases;
}

const GradientCase* find_case(std::string_view name) {
    const auto* const at = std::ranges::lower_bound(kCases, name, {}, &GradientCase::name);
    return at != std::end(kCases) && at->name == name ? at : nullptr;
}

}  // namespace hearth::gradient_cases
