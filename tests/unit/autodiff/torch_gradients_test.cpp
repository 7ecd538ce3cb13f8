// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Values and gradients against PyTorch's, both in double.

#include "cpu/interpreter.hpp"
#include "ops/op_cases.hpp"
#include "unit/autodiff/torch_cases.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

using Inputs = std::span<const Tensor>;

struct TorchCase {
    const char* name;
    Tensor (*build)(Inputs);
};

class TorchGradient : public testing::TestWithParam<TorchCase> {};

Tensor numbers(const Tensor& like, const Shape& shape, std::vector<double> values,
               DType dtype = DType::kF64) {
    return like.trace()->constant(HostTensor::of(shape, values, dtype));
}

// torch.tensor([...]) holds f32, also where it meets f64.
Tensor torch_tensor(const Tensor& like, std::vector<double> values) {
    const Shape shape{static_cast<int64_t>(values.size())};
    return like.trace()->constant(HostTensor::of(shape, values).cast(DType::kF64));
}

Tensor indices(const Tensor& like, const Shape& shape, std::vector<double> values) {
    return numbers(like, shape, std::move(values), DType::kI64);
}

Tensor normalized(const Tensor& x, const Axes& axes) {
    return (x - mean(x, axes, true)) * rsqrt(var(x, axes, true) + 1e-5);
}

// scaled_dot_product_attention; `mask` is added to the scores.
Tensor attention(Inputs t, const Tensor& mask) {
    const Tensor scores = matmul(t[0], t[1], false, true) * 0.5 + mask;  // 1 / sqrt(4)
    return matmul(softmax(scores), t[2]);
}

Tensor causal_mask(const Tensor& like) {
    std::vector<double> values;
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) values.push_back(j > i ? -HUGE_VAL : 0);
    return numbers(like, {5, 5}, values);
}

// PyTorch's cell, gates in the order r, z, n.
Tensor gru_cell(Inputs t) {
    const auto from_x = split(linear(t[0], t[2], t[4]), {5, 5, 5}, 1);
    const auto from_h = split(linear(t[1], t[3], t[5]), {5, 5, 5}, 1);
    const Tensor r = sigmoid(from_x[0] + from_h[0]), z = sigmoid(from_x[1] + from_h[1]);
    const Tensor n = tanh(from_x[2] + r * from_h[2]);
    return (1.0 - z) * n + z * t[1];
}

// Gates in the order i, f, g, o.
Tensor lstm_cell(Inputs t) {
    const auto gates = split(linear(t[0], t[3], t[5]) + linear(t[1], t[4], t[6]), {5, 5, 5, 5}, 1);
    const Tensor c = sigmoid(gates[1]) * t[2] + sigmoid(gates[0]) * tanh(gates[2]);
    return concat({sigmoid(gates[3]) * tanh(c), c}, 1);
}

Tensor kl_div(Inputs t) {
    const Tensor target = softmax(t[1], 1);
    return sum(target * (log(target) - log_softmax(t[0], 1))) / 3.0;
}

Tensor cosine_similarity(Inputs t) {
    const Tensor squares = sum(square(t[0]), {1}) * sum(square(t[1]), {1});
    return sum(t[0] * t[1], {1}) / sqrt(squares);
}

Tensor ppo_loss(Inputs t) {
    const Tensor lp = log_softmax(t[0]), v = squeeze(t[1], {1});
    const Tensor taken = squeeze(gather_elements(lp, indices(lp, {4, 1}, {0, 1, 2, 0}), 1), {1});
    const Tensor ratio = exp(taken - torch_tensor(lp, {-1, -1.2, -0.9, -1.1}));
    const Tensor advantage = torch_tensor(lp, {1, -1, 0.5, 2});
    const Tensor policy = mean(maximum(-advantage * ratio, -advantage * clamp(ratio, 0.8, 1.2)));
    const Tensor entropy = mean(neg(sum(exp(lp) * lp, {-1})));
    const Tensor value = mean(square(v - torch_tensor(lp, {1, 0, 2, -1})));
    return policy - entropy * 0.01 + value * 0.5;
}

Tensor scatter_add(Inputs t) {
    // a.scatter_add(0, index, b): each row of b goes to the rows that the index names.
    const Tensor target = one_hot(indices(t[0], {2, 3}, {0, 1, 1, 2, 0, 1}), 3, 0, DType::kF64);
    return t[0] + sum(target * unsqueeze(t[1], {0}), {1});
}

constexpr TorchCase kCases[] = {
    {"abs", [](Inputs t) { return abs(t[0]); }},
    {"adaptive_avg_pool",
     [](Inputs t) {
         return mean(t[0], {2, 3}, true);
     }},
    {"add_broadcast", [](Inputs t) { return t[0] + t[1]; }},
    {"amax", [](Inputs t) { return max(t[0], {1}); }},
    {"batched_matmul", [](Inputs t) { return matmul(t[0], t[1]); }},
    {"batch_norm_train",
     [](Inputs t) {
         return normalized(t[0], {0, 2, 3}) * reshape(t[1], {3, 1, 1}) + reshape(t[2], {3, 1, 1});
     }},
    {"clamp", [](Inputs t) { return clamp(t[0], -0.5, 0.7); }},
    {"cos", [](Inputs t) { return cos(t[0]); }},
    {"cosine_similarity", cosine_similarity},
    {"cross_entropy",
     [](Inputs t) {
         return cross_entropy(t[0], indices(t[0], {3}, {1, 0, 3}));
     }},
    {"div_broadcast", [](Inputs t) { return t[0] / t[1]; }},
    {"embedding",
     [](Inputs t) {
         return gather(t[0], indices(t[0], {3}, {1, 3, 1}));
     }},
    {"expand",
     [](Inputs t) {
         return expand(t[0], {4, 3, 2});
     }},
    {"gelu", [](Inputs t) { return gelu(t[0]); }},
    {"group_norm",
     [](Inputs t) {
         const Tensor grouped = normalized(reshape(t[0], {2, 2, 2, 3, 3}), {2, 3, 4});
         return reshape(grouped, t[0].shape()) * reshape(t[1], {4, 1, 1}) +
                reshape(t[2], {4, 1, 1});
     }},
    {"gru_cell", gru_cell},
    {"huber", [](Inputs t) { return huber_loss(t[0], t[1], 0.5); }},
    {"index_select_dup",
     [](Inputs t) {
         return gather(t[0], indices(t[0], {4}, {0, 2, 2, 1}));
     }},
    {"instance_norm",
     [](Inputs t) {
         return normalized(t[0], {2, 3});
     }},
    {"kl_div", kl_div},
    {"layer_norm", [](Inputs t) { return normalized(t[0], {1}) * t[1] + t[2]; }},
    {"leaky_relu", [](Inputs t) { return leaky_relu(t[0]); }},
    {"linear", [](Inputs t) { return linear(t[0], t[1], t[2]); }},
    {"log", [](Inputs t) { return log(t[0]); }},
    {"lstm_cell", lstm_cell},
    {"matmul_broadcast", [](Inputs t) { return matmul(t[0], t[1]); }},
    {"maximum", [](Inputs t) { return maximum(t[0], t[1]); }},
    {"mean_keepdim",
     [](Inputs t) {
         return mean(t[0], {0, 2}, true);
     }},
    {"minimum", [](Inputs t) { return minimum(t[0], t[1]); }},
    {"mish", [](Inputs t) { return mish(t[0]); }},
    {"mlp2", [](Inputs t) { return matmul(tanh(matmul(t[0], t[1]) + t[2]), t[3]) + t[4]; }},
    {"pad_const",
     [](Inputs t) {
         return pad(t[0], {0, 1}, {1, 2}, 0.5);
     }},
    {"pixel_shuffle",
     [](Inputs t) {
         return reshape(transpose(reshape(t[0], {1, 2, 2, 2, 3, 3}), {0, 1, 4, 2, 5, 3}),
                        {1, 2, 6, 6});
     }},
    {"pow", [](Inputs t) { return pow(t[0], t[1]); }},
    {"ppo_loss", ppo_loss},
    {"prod", [](Inputs t) { return prod(t[0], {1}); }},
    {"relu", [](Inputs t) { return relu(t[0]); }},
    {"reshape_transpose",
     [](Inputs t) {
         return transpose(reshape(t[0], {4, 6}));
     }},
    {"rms_norm",
     [](Inputs t) { return t[0] * rsqrt(mean(square(t[0]), {1}, true) + 1e-5) * t[1]; }},
    {"scatter_add", scatter_add},
    {"sdpa", [](Inputs t) { return attention(t, t[0].trace()->constant(0, DType::kF64)); }},
    {"sdpa_causal", [](Inputs t) { return attention(t, causal_mask(t[0])); }},
    {"sigmoid", [](Inputs t) { return sigmoid(t[0]); }},
    {"silu", [](Inputs t) { return silu(t[0]); }},
    {"slice_step", [](Inputs t) { return slice(t[0], 1, 1, 6, 2); }},
    {"smooth_l1", [](Inputs t) { return huber_loss(t[0], t[1]); }},
    {"sqrt", [](Inputs t) { return sqrt(t[0]); }},
    {"sub_broadcast", [](Inputs t) { return t[0] - t[1]; }},
    {"tanh", [](Inputs t) { return tanh(t[0]); }},
};

TEST_P(TorchGradient, EqualsTheStoredOne) {
    std::string why;
    const auto stored = read_case("autograd/" + std::string(GetParam().name) + ".json", why);
    if (!stored) GTEST_SKIP() << why;
    Trace trace("torch");
    std::vector<Tensor> inputs;
    std::vector<HostTensor> contents;
    for (const auto& input : stored->at("inputs")) {
        contents.push_back(f64_tensor(input));
        inputs.push_back(
            trace.input("x" + std::to_string(inputs.size()), contents.back().shape(), DType::kF64));
    }
    const HostTensor expected = f64_tensor(stored->at("output"));
    const Tensor y = GetParam().build(inputs);
    const Tensor cotangent =
        trace.constant(f64_tensor(expected.shape(), stored->at("grad_output")));
    trace.output("y", y);
    for (const Tensor& g : vjp(std::span(&y, 1), std::span(&cotangent, 1), inputs))
        trace.output("g" + std::to_string(trace.graph().outputs.size()), g);
    const auto graph = trace.finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto results = evaluate(*graph, contents);
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ(difference((*results)[0], expected, 1e-12), "") << "the value";
    for (size_t i = 0; i < contents.size(); ++i)
        EXPECT_EQ(difference((*results)[i + 1],
                             f64_tensor(contents[i].shape(), stored->at("grad_inputs")[i]), 1e-11),
                  "")
            << "the gradient of input " << i;
}

INSTANTIATE_TEST_SUITE_P(Each, TorchGradient, testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace hearth::test
