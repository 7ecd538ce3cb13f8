// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Distributions of actions against torch.distributions (data/agents/make_distributions.py), closed
// forms, finite differences and their own samples.

#include "compiler/interpreter/gradcheck.hpp"

#include <hearth/agents/distribution.hpp>
#include <hearth/eval.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>

namespace hearth::agents {
namespace {

constexpr int64_t kRowCount = 5;

/// A masked choice of 4, numbers [2], a choice of 3.
AgentSpec hybrid() {
    return AgentSpec(
        ObservationSpec().box("x"),
        ActionSpec().discrete("move", 4, true).continuous("aim", 2, {-3, 5}).discrete("shout", 3));
}

class Reference {
  public:
    Reference() { std::ifstream(HEARTH_TEST_DATA "/agents/distributions.json") >> json_; }
    std::vector<double> list(const char* name) const { return json_.at(name); }
    HostTensor tensor(const char* name, DType dtype = DType::kF64) const {
        const std::vector<double> values = list(name);
        const auto count = static_cast<int64_t>(values.size());
        const Shape shape =
            count % kRowCount == 0 ? Shape{kRowCount, count / kRowCount} : Shape{count};
        return HostTensor::of(shape, values, dtype);
    }

  private:
    nlohmann::json json_;
};

ActionDistribution policy(Trace& trace, const Reference& reference, ContinuousDistribution kind,
                          const char* head = "head", const char* deviation = "log_deviation") {
    return ActionDistribution(hybrid(), trace.constant(reference.tensor(head)),
                              trace.constant(reference.tensor("mask")),
                              trace.constant(reference.tensor(deviation)), kind);
}

void expect_near(const Tensor& found, const std::vector<double>& expected, double tolerance) {
    const auto values = eval(found);
    ASSERT_TRUE(values.ok()) << values.status().message();
    ASSERT_EQ(values->element_count(), static_cast<int64_t>(expected.size()));
    for (int64_t i = 0; i < values->element_count(); ++i)
        EXPECT_NEAR(values->get(i), expected[static_cast<size_t>(i)], tolerance) << "row " << i;
}

TEST(ActionDistribution, HybridPolicyAgreesWithPyTorch) {
    const Reference reference;
    Trace trace("t");
    const ActionDistribution p = policy(trace, reference, ContinuousDistribution::kGaussian);
    const ActionDistribution q =
        policy(trace, reference, ContinuousDistribution::kGaussian, "other", "other_deviation");
    expect_near(p.log_prob(trace.constant(reference.tensor("action"))), reference.list("log_prob"),
                1e-12);
    expect_near(p.entropy(), reference.list("entropy"), 1e-12);
    expect_near(p.kl(q), reference.list("kl"), 1e-12);
    expect_near(p.kl(p), std::vector<double>(kRowCount, 0.0), 1e-15);
}

TEST(ActionDistribution, SquashedNumbersAgreeWithPyTorchAndNumericalIntegration) {
    const Reference reference;
    Trace trace("t");
    const ActionDistribution p =
        policy(trace, reference, ContinuousDistribution::kSquashedGaussian);
    expect_near(p.log_prob(trace.constant(reference.tensor("tanh_action"))),
                reference.list("tanh_log_probability"), 1e-9);
    expect_near(p.entropy(), reference.list("tanh_entropy"), 1e-3);  // of the quadrature
    // The divergence is that of the normals, whatever invertible map follows.
    const ActionDistribution q = policy(trace, reference, ContinuousDistribution::kSquashedGaussian,
                                        "other", "other_deviation");
    expect_near(p.kl(q), reference.list("kl"), 1e-12);
}

TEST(ActionDistribution, AnActionAtTheEdgeHasAFiniteDensity) {
    Trace trace("t");
    const AgentSpec schema(ObservationSpec().box("x"), ActionSpec().continuous("a"));
    const Tensor head = trace.constant(HostTensor::of({2, 1}, std::vector<float>{0, 50}));
    const Tensor deviation = trace.constant(HostTensor::of({1}, std::vector<float>{-2}));
    const ActionDistribution p(schema, head, {}, deviation,
                               ContinuousDistribution::kSquashedGaussian);
    const Tensor edge = trace.constant(HostTensor::of({2, 1}, std::vector<float>{1, -1}));
    const auto found = eval(p.log_prob(edge)), entropy = eval(p.entropy());
    ASSERT_TRUE(found.ok() && entropy.ok());
    for (int64_t i = 0; i < 2; ++i) {
        EXPECT_TRUE(std::isfinite(found->get(i)));
        EXPECT_TRUE(std::isfinite(entropy->get(i)));
    }
}

TEST(ActionDistribution, GradientsAreThoseOfFiniteDifferences) {
    const Reference reference;
    for (const ContinuousDistribution kind :
         {ContinuousDistribution::kGaussian, ContinuousDistribution::kSquashedGaussian}) {
        const bool is_tanh = kind == ContinuousDistribution::kSquashedGaussian;
        const auto f = [&](Trace& trace, std::span<const Tensor> in) -> std::vector<Tensor> {
            const Tensor mask = trace.constant(reference.tensor("mask"));
            const ActionDistribution p(hybrid(), in[0], mask, in[1], kind);
            const ActionDistribution q = policy(trace, reference, kind, "other", "other_deviation");
            const char* const action = is_tanh ? "tanh_action" : "action";
            return {p.log_prob(trace.constant(reference.tensor(action))), p.entropy(), p.kl(q),
                    q.kl(p)};
        };
        const TensorType types[] = {{DType::kF64, {kRowCount, 9}}, {DType::kF64, {2}}};
        const HostTensor inputs[] = {reference.tensor("head"), reference.tensor("log_deviation")};
        const Status status = gradcheck(f, types, inputs);
        EXPECT_TRUE(status.ok()) << (is_tanh ? "tanh: " : "normal: ") << status.message();
    }
}

// Samples carry the density that log_probability() gives them, and are differentiable.
TEST(ActionDistribution, SamplesKnowTheirDensity) {
    const Reference reference;
    for (const ContinuousDistribution kind :
         {ContinuousDistribution::kGaussian, ContinuousDistribution::kSquashedGaussian}) {
        Trace trace("t");
        const ActionDistribution p = policy(trace, reference, kind);
        const ActionSample sample = p.sample(trace.constant(3, DType::kU32), 5);
        const Tensor again = p.log_prob(sample.action);
        const Tensor all[] = {sample.log_prob, again};
        const auto found = eval(all);
        ASSERT_TRUE(found.ok()) << found.status().message();
        for (int64_t i = 0; i < kRowCount; ++i)
            EXPECT_NEAR((*found)[0].get(i), (*found)[1].get(i), 1e-5) << i;
    }
}

TEST(ActionDistribution, SamplesAreDistributedAsTheySay) {
    constexpr int64_t kSamples = 20000;
    const AgentSpec schema = hybrid();
    const std::vector<double> head = {0, 1, 2, -1, 0.5, -0.25, 1, 0, -1};
    const std::vector<double> mask = {1, 0, 1, 1};
    Trace trace("t");
    const auto spread = [&](const std::vector<double>& row) {
        const auto width = static_cast<int64_t>(row.size());
        return expand(trace.constant(HostTensor::of({1, width}, row)), {kSamples, width});
    };
    const std::vector<double> log_deviation = {-1, 0.3};
    const ActionDistribution p(schema, spread(head), spread(mask),
                               trace.constant(HostTensor::of({2}, log_deviation)));
    const ActionSample sample = p.sample(trace.constant(0, DType::kU32), 1);
    const Tensor all[] = {sample.action, p.entropy(), sample.log_prob};
    const auto found = eval(all);
    ASSERT_TRUE(found.ok()) << found.status().message();
    double first[4] = {}, last[3] = {}, mean[2] = {}, square[2] = {}, surprise = 0;
    for (int64_t i = 0; i < kSamples; ++i) {
        first[static_cast<int>((*found)[0].get(4 * i))] += 1.0 / kSamples;
        last[static_cast<int>((*found)[0].get(4 * i + 3))] += 1.0 / kSamples;
        for (int k = 0; k < 2; ++k) {
            const double x = (*found)[0].get(4 * i + 1 + k);
            mean[k] += x / kSamples;
            square[k] += x * x / kSamples;
        }
        surprise -= (*found)[2].get(i) / kSamples;
    }
    const double total = 1 + std::exp(2.0) + std::exp(-1.0),
                 rest = std::exp(1.0) + 1 + std::exp(-1.0);
    EXPECT_NEAR(first[0], 1 / total, 0.01);
    EXPECT_EQ(first[1], 0);  // masked
    EXPECT_NEAR(first[2], std::exp(2.0) / total, 0.01);
    EXPECT_NEAR(last[0], std::exp(1.0) / rest, 0.01);
    for (int k = 0; k < 2; ++k) {
        const double deviation = std::exp(log_deviation[static_cast<size_t>(k)]);
        EXPECT_NEAR(mean[k], head[static_cast<size_t>(4 + k)], 4 * deviation / std::sqrt(kSamples));
        EXPECT_NEAR(std::sqrt(square[k] - mean[k] * mean[k]), deviation, 0.02 * deviation);
    }
    EXPECT_NEAR(surprise, (*found)[1].get(0), 0.03);
}

TEST(ActionDistribution, ModeAvoidsMaskedChoicesAndWhereNoneIsThereTakesTheFirst) {
    Trace trace("t");
    const AgentSpec schema(ObservationSpec().box("x"), ActionSpec().discrete("move", 3, true));
    const Tensor head =
        trace.constant(HostTensor::of({2, 3}, std::vector<float>{3, 2, 1, 1, 3, 2}));
    const Tensor mask =
        trace.constant(HostTensor::of({2, 3}, std::vector<float>{0, 0, 1, 0, 0, 0}));
    const ActionDistribution p(schema, head, mask, {});
    expect_near(p.mode(), {2, 0}, 0);
    expect_near(p.log_prob(p.mode()), {0, 0}, 0);
    expect_near(p.entropy(), {0, 0}, 0);
    expect_near(p.sample(trace.constant(0, DType::kU32), 1).action, {2, 0}, 0);
}

TEST(ActionDistribution, ActionsOfTheGameAreWithinTheirRange) {
    Trace trace("t");
    const AgentSpec schema = hybrid();  // aim: -3 to 5
    const Tensor action =
        trace.constant(HostTensor::of({2, 4}, std::vector<float>{2, -7, 0.5f, 1, 0, 1, 1.5f, 0}));
    const Tensor game = unscale_action(schema, action);
    expect_near(game, {2, -3, 3, 1, 0, 5, 5, 0}, 1e-6);
    expect_near(scale_action(schema, game), {2, -1, 0.5, 1, 0, 1, 1, 0}, 1e-6);
}

TEST(ActionDistribution, WrongWidthsAreErrorsThatNameThem) {
    const auto error = [](int64_t head, int64_t mask, int64_t deviation) {
        Trace trace("t");
        const auto input = [&](const char* name, int64_t width) {
            return trace.input(name, {kBatch, width});
        };
        const ActionDistribution p(hybrid(), input("h", head), input("m", mask),
                                   input("d", deviation));
        return trace.status().message();
    };
    EXPECT_EQ(error(9, 4, 2), "");
    EXPECT_NE(error(8, 4, 2).find("the head is [batch, 8]"), std::string::npos);
    EXPECT_NE(error(9, 5, 2).find("the mask is [batch, 5]"), std::string::npos);
    EXPECT_NE(error(9, 4, 1).find("log_std is [batch, 1]"), std::string::npos);
}

// --- Observations ---

HostTensor row(std::vector<float> values) {
    return HostTensor::of({1, static_cast<int64_t>(values.size())}, values);
}

TEST(Encode, MapsEachKindOfField) {
    const ObservationSpec fields =
        ObservationSpec()
            .box("speed", 1, {0, 30})
            .discrete("weapon", 3)
            .position("place", 2, 50)
            .unit_vector("ahead", 2)
            .angle("yaw")
            .quaternion("turret")
            .array("wheels", 2, ObservationSpec().binary("down").angle("steer"));
    const AgentSpec schema(fields, ActionSpec().discrete("a", 2));
    Trace trace("t");
    const auto half = static_cast<float>(std::numbers::pi / 2);
    const float root = std::sqrt(0.5f);
    const Tensor frame = trace.constant(row({15, 2, 25, -100, 3, -4, half,  //
                                             0, 0, root, root,  // a quarter turn about z
                                             1, 0, 0, half}));
    ASSERT_EQ(frame.dim(1).count, schema.frame_size());
    const Tensor seen = encode_frame(schema, frame);
    ASSERT_EQ(seen.dim(1).count, fields.encoded_size());
    expect_near(seen, {0, 0, 0, 1,  0.5, -2, 0.6, -0.8, 1, 0,  //
                       0, 1, 0, -1, 0,   0,                    //
                       1, 0, 1, 0,  1,   0},
                1e-6);
}

TEST(Encode, WhatIsNotFiniteIsZeroAndWhatIsFarStaysAsFarAsItsSquareFits) {
    const AgentSpec schema(ObservationSpec().box("x", 4).discrete("k", 2).angle("yaw"),
                           ActionSpec().discrete("a", 2));
    Trace trace("t");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const Tensor frame = trace.constant(row({nan, infinity, 60'000, -50, 1e30f, nan}));
    expect_near(encode(trace, "net", schema, frame), {0, 0, 60'000, -50, 0, 0, 0, 1}, 1e-6);
    const auto far =
        eval(encode(trace, "net", schema, trace.constant(row({1e30f, 0, 0, 0, 0, 0}))));
    ASSERT_TRUE(far.ok()) << far.status().message();
    EXPECT_NEAR(far->get(0), 1e15, 1e8);
}

// The direction of a vector does not depend on its length.
TEST(Encode, LongVectorsKeepTheirDirection) {
    const AgentSpec schema(ObservationSpec().unit_vector("ahead", 2).quaternion("turret"),
                           ActionSpec().discrete("a", 2));
    Trace trace("t");
    const auto root = static_cast<float>(std::sqrt(0.5));
    expect_near(encode_frame(schema, trace.constant(row({3e8f, -4e8f, 0, 0, 1e7f, 1e7f}))),
                {0.6, -0.8, 0, 1, 0, -1, 0, 0}, 1e-6);
    expect_near(encode_frame(schema, trace.constant(row({3, -4, 0, 0, root, root}))),
                {0.6, -0.8, 0, 1, 0, -1, 0, 0}, 1e-6);
}

// What is cut is cut after normalization.
TEST(Encode, OnlyNormalizedValuesAreCutOff) {
    const AgentSpec schema(ObservationSpec().box("x", 2).box("y", 1, {}, false),
                           ActionSpec().discrete("a", 2));
    Trace trace("t");
    EncodeOptions options;
    options.normalizer.mean = trace.constant(HostTensor::of({3}, std::vector<float>{4e4f, 0, 0}));
    options.normalizer.variance =
        trace.constant(HostTensor::of({3}, std::vector<float>{1e8f, 1, 1}));
    expect_near(encode(trace, "net", schema, trace.constant(row({6e4f, 60, 60})), options),
                {2, 10, 60}, 1e-5);
}

TEST(Encode, NormalizesWhatTakesPart) {
    const AgentSpec schema(ObservationSpec().box("x", 2).binary("f"), ActionSpec().discrete("a", 2),
                           2);
    Trace trace("t");
    EncodeOptions options;
    options.normalizer.mean = trace.constant(HostTensor::of({3}, std::vector<float>{1, 2, 9}));
    options.normalizer.variance =
        trace.constant(HostTensor::of({3}, std::vector<float>{4, 0.25f, 9}));
    const Tensor stack = trace.constant(row({3, 2, 1, 1, 3, 0}));
    expect_near(encode(trace, "net", schema, stack, options), {1, 0, 1, 0, 2, 0}, 1e-5);
}

TEST(Encode, SetsLookOnlyAtWhatIsThereAndDoNotKnowAnOrder) {
    const AgentSpec schema(ObservationSpec().box("x").entities(
                               "enemies", 3, ObservationSpec().box("at", 2).binary("armed")),
                           ActionSpec().discrete("a", 2));
    Trace trace("t");
    const EncodeOptions options{.entity_features = 4};
    const auto seen = [&](std::vector<float> values) {
        const auto found = eval(encode(trace, "net", schema, trace.constant(row(values)), options));
        EXPECT_TRUE(found.ok()) << found.status().message();
        return *found;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const HostTensor two = seen({0.5f, 2, 1, 2, 1, 3, -4, 0, 0, 0, 0});
    EXPECT_EQ(two.element_count(), 1 + 2 * 4);
    EXPECT_EQ(two, seen({0.5f, 2, 3, -4, 0, 1, 2, 1, 0, 0, 0}));    // swapped
    EXPECT_EQ(two, seen({0.5f, 2, 1, 2, 1, 3, -4, 0, nan, 7, 9}));  // behind the last
    EXPECT_NE(two, seen({0.5f, 1, 1, 2, 1, 3, -4, 0, 0, 0, 0}));    // one is gone
    const HostTensor none = seen({0.5f, 0, 1, 2, 1, 3, -4, 0, 0, 0, 0});
    for (int64_t i = 1; i < none.element_count(); ++i) EXPECT_EQ(none.get(i), 0);
    EXPECT_EQ(seen({0.5f, 9, 1, 2, 1, 3, -4, 0, 1, 1, 1}),  // more than fit: all of them
              seen({0.5f, 3, 1, 2, 1, 3, -4, 0, 1, 1, 1}));
}

}  // namespace
}  // namespace hearth::agents
