// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where an operator's value is finite, so is its gradient; exceptions are listed with a reason.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "ops/edge_points.hpp"
#include "ops/op_cases.hpp"

#include <hearth/agents/distribution.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <set>

namespace hearth::test {
namespace {

using Inputs = std::span<const Tensor>;

/// A function that is graph code: a loss, a statistic, a normalization.
struct Function {
    const char* name;
    Tensor (*build)(Inputs);
    std::vector<Shape> shapes;
};

Tensor labels(const Tensor& like) {
    return like.trace()->constant(HostTensor::of({2}, std::vector<double>{1, 0}, DType::kI64));
}

/// A field of each kind that is encoded without parameters.
agents::AgentSpec every_field() {
    return agents::AgentSpec(agents::ObservationSpec()
                                 .box("box", 2)
                                 .position("place", 2, 10)
                                 .unit_vector("up", 3)
                                 .angle("yaw")
                                 .quaternion("turn"),
                             agents::ActionSpec().continuous("y"));
}

agents::AgentSpec every_action() {
    return agents::AgentSpec(
        agents::ObservationSpec().box("x"),
        agents::ActionSpec().continuous("aim", 2, {-3, 5}).discrete("fire", 3));
}

/// x: means and logits [2, 5], log_std [2]
agents::ActionDistribution policy(Inputs x, agents::ContinuousDistribution kind) {
    return agents::ActionDistribution(every_action(), x[0], {}, x[1], kind);
}

const std::vector<Function>& functions() {
    constexpr Reduction kNone = Reduction::kNone;
    using enum agents::ContinuousDistribution;
    static const std::vector<Shape> kPolicy = {{2, 5}, {2}, {2, 3}};
    static const std::vector<Function> all = {
        {"mse_loss", [](Inputs x) { return mse_loss(x[0], x[1], kNone); }, {{2, 3}, {2, 3}}},
        {"l1_loss", [](Inputs x) { return l1_loss(x[0], x[1], kNone); }, {{2, 3}, {2, 3}}},
        {"huber_loss", [](Inputs x) { return huber_loss(x[0], x[1], 1, kNone); }, {{2, 3}, {2, 3}}},
        {"smooth_l1_loss",
         [](Inputs x) { return smooth_l1_loss(x[0], x[1], 0.5, kNone); },
         {{2, 3}, {2, 3}}},
        {"relative_l2_loss",
         [](Inputs x) { return relative_l2_loss(x[0], x[1], 1e-2, kNone); },
         {{2, 3}, {2, 3}}},
        {"poisson_nll_loss",
         [](Inputs x) { return poisson_nll_loss(x[0], x[1], kNone); },
         {{2, 3}, {2, 3}}},
        {"cosine_similarity",
         [](Inputs x) { return cosine_similarity(x[0], x[1]); },
         {{2, 3}, {2, 3}}},
        {"cross_entropy", [](Inputs x) { return cross_entropy(x[0], labels(x[0])); }, {{2, 3}}},
        {"cross_entropy_smooth",
         [](Inputs x) { return cross_entropy(x[0], labels(x[0]), {.label_smoothing = 0.1}); },
         {{2, 3}}},
        {"cross_entropy_soft",
         [](Inputs x) { return cross_entropy(x[0], x[1], {.reduction = kNone}); },
         {{2, 3}, {2, 3}}},
        {"nll_loss", [](Inputs x) { return nll_loss(x[0], labels(x[0])); }, {{2, 3}}},
        {"binary_cross_entropy_with_logits",
         [](Inputs x) { return binary_cross_entropy_with_logits(x[0], x[1], kNone); },
         {{2, 3}, {2, 3}}},
        {"binary_cross_entropy_with_pos_weight",
         [](Inputs x) { return binary_cross_entropy_with_logits(x[0], x[1], kNone, 3); },
         {{2, 3}, {2, 3}}},
        {"kl_div", [](Inputs x) { return kl_div(x[0], x[1], kNone); }, {{2, 3}, {2, 3}}},
        {"hinge_loss", [](Inputs x) { return hinge_loss(x[0], x[1], 1, kNone); }, {{2, 3}, {2, 3}}},
        {"categorical_log_prob",
         [](Inputs x) { return categorical_log_prob(x[0], labels(x[0])); },
         {{2, 3}}},
        {"categorical_entropy", [](Inputs x) { return categorical_entropy(x[0]); }, {{2, 3}}},
        {"normal_log_prob",
         [](Inputs x) { return normal_log_prob(x[0], x[1], x[2]); },
         {{2, 3}, {2, 3}, {2, 3}}},
        {"normal_entropy", [](Inputs x) { return normal_entropy(x[0]); }, {{2, 3}}},
        {"ppo_clip_loss",
         [](Inputs x) { return ppo_clip_loss(x[0], x[1], x[2], 0.2, kNone); },
         {{3}, {3}, {3}}},
        {"ppo_value_loss",
         [](Inputs x) { return ppo_value_loss(x[0], x[1], x[2], 0.2, kNone); },
         {{3}, {3}, {3}}},
        {"square", [](Inputs x) { return square(x[0]); }, {{3}}},
        {"masked_fill", [](Inputs x) { return masked_fill(x[0], greater(x[0], 0), 2); }, {{2, 3}}},
        {"triu", [](Inputs x) { return triu(x[0]); }, {{3, 3}}},
        {"mean", [](Inputs x) { return mean(x[0], {1}); }, {{2, 3}}},
        {"var", [](Inputs x) { return var(x[0], {1}); }, {{2, 3}}},
        {"unbiased_var", [](Inputs x) { return var(x[0], {1}, false, 1); }, {{2, 3}}},
        {"logsumexp", [](Inputs x) { return logsumexp(x[0], {1}); }, {{2, 3}}},
        {"layer_norm",
         [](Inputs x) { return layer_norm(x[0], {1}, x[1], x[2]); },
         {{2, 3}, {3}, {3}}},
        {"rms_norm", [](Inputs x) { return rms_norm(x[0], {1}, x[1]); }, {{2, 3}, {3}}},
        {"group_norm", [](Inputs x) { return group_norm(x[0], 2); }, {{1, 4, 2}}},
        {"batch_norm", [](Inputs x) { return batch_norm(x[0], x[1], x[2]); }, {{2, 3}, {3}, {3}}},
        {"batch_norm_train", [](Inputs x) { return batch_norm_train(x[0]); }, {{2, 3}}},
        {"local_response_norm", [](Inputs x) { return local_response_norm(x[0], 3); }, {{1, 4, 2}}},
        {"lp_pool_1", [](Inputs x) { return lp_pool(x[0], 1, {2}); }, {{1, 1, 4}}},
        {"lp_pool_2", [](Inputs x) { return lp_pool(x[0], 2, {2}); }, {{1, 1, 4}}},
        {"lp_pool_3", [](Inputs x) { return lp_pool(x[0], 3, {2}); }, {{1, 1, 4}}},
        {"adaptive_max_pool", [](Inputs x) { return adaptive_max_pool(x[0], {2}); }, {{1, 1, 5}}},
        {"linear_recurrence",
         [](Inputs x) { return linear_recurrence(x[0], x[1], 0); },
         {{3}, {3}}},
        {"discounted_cumsum",
         [](Inputs x) { return discounted_cumsum(x[0], 0.9, x[1], 0); },
         {{3}, {3}}},
        {"sort", [](Inputs x) { return sort(x[0]); }, {{4}}},
        {"det", [](Inputs x) { return det(x[0]); }, {{2, 3, 3}}},
        {"einsum",
         [](Inputs x) {
             return einsum("ij,jk->ik", {x[0], x[1]});
         },
         {{2, 3}, {3, 2}}},
        {"rnn_cell",
         [](Inputs x) { return rnn_cell(x[0], x[1], x[2], x[3]); },
         {{1, 2}, {1, 2}, {2, 2}, {2, 2}}},
        {"pow_2", [](Inputs x) { return pow(x[0], 2.0); }, {{3}}},
        {"pow_half", [](Inputs x) { return pow(x[0], 0.5); }, {{3}}},
        {"log_of_sigmoid", [](Inputs x) { return -softplus(-x[0]); }, {{3}}},
        {"glu", [](Inputs x) { return nn::glu(x[0]); }, {{2, 4}}},
        {"frequency_encoding", [](Inputs x) { return nn::frequency_encoding(x[0], 3); }, {{2, 3}}},
        {"one_blob_encoding", [](Inputs x) { return nn::one_blob_encoding(x[0], 4); }, {{2, 3}}},
        {"spherical_harmonics", [](Inputs x) { return nn::spherical_harmonics(x[0]); }, {{2, 3}}},
        {"encode_frame",
         [](Inputs x) { return agents::encode_frame(every_field(), x[0]); },
         {{2, 12}}},
        {"scale_action",
         [](Inputs x) { return agents::scale_action(every_action(), x[0]); },
         {{2, 3}}},
        {"unscale_action",
         [](Inputs x) { return agents::unscale_action(every_action(), x[0]); },
         {{2, 3}}},
        {"policy_log_prob", [](Inputs x) { return policy(x, kGaussian).log_prob(x[2]); }, kPolicy},
        {"policy_entropy", [](Inputs x) { return policy(x, kGaussian).entropy(); }, kPolicy},
        {"policy_kl",
         [](Inputs x) {
             const Tensor other[] = {x[0] * 0.5, x[2]};
             return policy(x, kGaussian).kl(policy(other, kGaussian));
         },
         {{2, 5}, {2}, {2}}},
        {"squashed_policy_log_prob",
         [](Inputs x) { return policy(x, kSquashedGaussian).log_prob(x[2]); }, kPolicy},
        {"squashed_policy_entropy", [](Inputs x) { return policy(x, kSquashedGaussian).entropy(); },
         kPolicy},
        {"squashed_policy_sample",
         [](Inputs x) {
             const agents::ActionSample sample =
                 policy(x, kSquashedGaussian).sample(x[0].trace()->constant(3, DType::kU32), 5);
             return concat({sample.action, unsqueeze(sample.log_prob, {-1})}, -1);
         },
         kPolicy},
        // Chains through a value that is not finite.
        {"logaddexp_chain",
         [](Inputs x) { return logaddexp(logaddexp(x[0], x[1]), x[2]); },
         {{3}, {3}, {3}}},
    };
    return all;
}

EdgeCase edge_case_of(const Function& f, DType dtype) {
    EdgeCase c{.name = f.name};
    c.build = [build = f.build](Trace&, Inputs inputs) {
        return std::vector<Tensor>{build(inputs)};
    };
    for (const Shape& shape : f.shapes) {
        HostTensor& t = c.usual.emplace_back(dtype, shape);
        const uint64_t key = stream_key(f.name, c.usual.size());
        for (int64_t i = 0; i < t.element_count(); ++i)
            t.set(i, 0.1 + 0.8 * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))));
    }
    return c;
}

class EdgesOfFunction : public testing::TestWithParam<size_t> {};

class EdgesOfOp : public testing::TestWithParam<const OpDef*> {};

/// Checks the gradients in each type, and that each of the listed exceptions is needed.
void expect_finite_gradients(const std::string& name,
                             const std::function<std::vector<EdgeCase>(DType)>& cases) {
    std::set<const EdgeException*> used;
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16})
        for (const EdgeCase& c : cases(dtype)) {
            const auto faults = edge_faults_of(c, dtype);
            ASSERT_TRUE(faults.ok()) << faults.status().message();
            for (const EdgeFault& fault : *faults) {
                const EdgeException* const exception = exception_for(name, fault);
                used.insert(exception);
                EXPECT_NE(exception, nullptr) << name_of(dtype) << " " << describe(name, fault);
            }
        }
    for (const EdgeException& e : edge_exceptions())
        EXPECT_TRUE(e.name != name || used.contains(&e)) << "not needed: " << e.reason;
}

TEST_P(EdgesOfOp, HaveFiniteGradientsWhereTheValueIsFinite) {
    expect_finite_gradients(std::string(GetParam()->name),
                            [](DType dtype) { return edge_cases_of(*GetParam(), dtype); });
}

TEST_P(EdgesOfFunction, HaveFiniteGradientsWhereTheValueIsFinite) {
    const Function& f = functions()[GetParam()];
    expect_finite_gradients(
        f.name, [&](DType dtype) { return std::vector<EdgeCase>{edge_case_of(f, dtype)}; });
}

/// Element-wise operators, as their kernels compute them.
class EdgesOfKernel : public EdgesOfOp {};

TEST_P(EdgesOfKernel, HaveFiniteGradientsWhereTheValueIsFinite) {
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16})
        for (const EdgeCase& c : edge_cases_of(*GetParam(), dtype)) {
            const auto d = differentiate(c, dtype);
            ASSERT_TRUE(d.ok()) << d.status().message();
            if (d->output_count == 0) continue;
            const auto compiled = compile_graphs({d->graph}, {});
            ASSERT_TRUE(compiled.ok()) << compiled.status().message();
            ProgramMemory memory(compiled->program);
            const auto results = run_program(compiled->program, d->graph.name, compiled->graphs[0],
                                             d->named(c.usual), memory, 1);
            ASSERT_TRUE(results.ok()) << results.status().message();
            const auto faults = edge_faults_among(c, *d, *results);
            ASSERT_TRUE(faults.ok()) << faults.status().message();
            for (const EdgeFault& fault : *faults)
                EXPECT_NE(exception_for(c.name, fault), nullptr)
                    << name_of(dtype) << " " << describe(c.name, fault);
        }
}

INSTANTIATE_TEST_SUITE_P(Every, EdgesOfOp, testing::ValuesIn(ops_with_edge_cases(false)),
                         [](const auto& test) { return std::string(test.param->name); });
INSTANTIATE_TEST_SUITE_P(Every, EdgesOfKernel, testing::ValuesIn(ops_with_edge_cases(true)),
                         [](const auto& test) { return std::string(test.param->name); });
INSTANTIATE_TEST_SUITE_P(Every, EdgesOfFunction, testing::Range(size_t{0}, functions().size()),
                         [](const auto& test) { return functions()[test.param].name; });

}  // namespace
}  // namespace hearth::test
