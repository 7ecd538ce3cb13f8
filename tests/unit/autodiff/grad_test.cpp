// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ops/op_table.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace hearth {
namespace {

HostTensor vector_of(std::vector<double> values) {
    return HostTensor::of({static_cast<int64_t>(values.size())}, values, DType::kF64);
}

// What `build` returns at x, an f64 vector (or with symbolic rows, as many as x has).
HostTensor at(const std::vector<double>& x, const std::function<Tensor(const Tensor&)>& build,
              bool symbolic = false) {
    Trace trace("t");
    const auto count = static_cast<int64_t>(x.size());
    trace.output("y", build(trace.input("x", {symbolic ? kBatch : Dim(count)}, DType::kF64)));
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    const std::vector<HostTensor> inputs{vector_of(x)};
    const auto result = evaluate(*graph, inputs, count);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return (*result)[0];
}

std::string error_of(const std::function<void(Trace&)>& build) {
    Trace trace("t");
    build(trace);
    return trace.status().message();
}

// The error of grad() by a param w [4] of the loss that `build` makes of it.
std::string error_of_loss(const std::function<Tensor(const Tensor& w)>& build) {
    return error_of([&](Trace& t) {
        const Tensor w = t.param("w", {4});
        grad(build(w), w);
    });
}

TEST(Grad, ReportsAParamThatTheLossReachesOnlyThroughWhatHasNoGradient) {
    const auto index_of_best = [](const Tensor& w) { return cast(argmax(w), DType::kF32); };
    const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&)>>> losses = {
        {"argmax", index_of_best},
        {"argmax", [&](const Tensor& w) { return square(index_of_best(w * 2.0) - 1.0); }},
        {"greater", [](const Tensor& w) { return mean(cast(greater(w, 0), DType::kF32)); }},
        {"less",
         [](const Tensor& w) {
             return mean(where(less(w, 1), w.trace()->constant(1), w.trace()->constant(0)));
         }},
        {"round", [](const Tensor& w) { return mean(round(w)); }}};
    for (const auto& [name, loss] : losses)
        EXPECT_NE(error_of_loss(loss).find("only through '" + name + "'"), std::string::npos)
            << name << ": " << error_of_loss(loss);
    EXPECT_NE(error_of_loss(index_of_best).find("the param 'w'"), std::string::npos);
}

TEST(Grad, AcceptsParamsThatReachTheLossOtherwiseOrOnPurposeNot) {
    const auto index_of_best = [](const Tensor& w) { return cast(argmax(w), DType::kF32); };
    EXPECT_EQ(error_of_loss([&](const Tensor& w) { return index_of_best(w) + mean(w); }), "");
    EXPECT_EQ(error_of_loss([&](const Tensor& w) { return index_of_best(stop_gradient(w)); }), "");
    EXPECT_EQ(error_of_loss([&](const Tensor& w) { return stop_gradient(index_of_best(w)); }), "");
    EXPECT_EQ(error_of_loss([](const Tensor& w) { return mean(where(greater(w, 0), w, w * 0.1)); }),
              "");
    EXPECT_EQ(error_of_loss([](const Tensor& w) {
                  return mean(w + stop_gradient(round(w) - w));  // straight-through
              }),
              "");
    EXPECT_EQ(error_of([](Trace& t) { grad(mean(t.input("x", {4})), t.param("unused", {4})); }),
              "");
}

// An operator that has no gradient.
Tensor without_gradient(const Tensor& x) {
    return apply_one(op("sum_of_products_of_others"), {x, x}, {{"axis", int64_t{0}}});
}

TEST(Grad, AddsUpOverEveryUse) {
    // d/dx sum(x * x + 3 x) = 2 x + 3
    EXPECT_EQ(at({1, -2}, [](const Tensor& x) { return grad(sum(x * x + x * 3.0), x); }),
              vector_of({5, -1}));
}

TEST(Grad, OfAGradientIsTheSecondDerivative) {
    const auto second = [](const Tensor& x) {
        const Tensor first = grad(sum(x * x * x), x);
        return grad(sum(first), x);
    };
    EXPECT_EQ(at({1, -2}, second), vector_of({6, -12}));
    const auto third = [&](const Tensor& x) { return grad(sum(second(x)), x); };
    EXPECT_EQ(at({1, -2}, third), vector_of({6, 6}));
}

TEST(Grad, IsZeroWhereTheLossDoesNotDependOnIt) {
    EXPECT_EQ(at({1, 2}, [](const Tensor& x) { return grad(sum(floor(x)), x); }),
              vector_of({0, 0}));
    EXPECT_EQ(at({1, 2}, [](const Tensor& x) { return grad(x.trace()->constant(1.0), x); }),
              vector_of({0, 0}));
}

TEST(Grad, StopsAtStopGradient) {
    EXPECT_EQ(at({3, 5}, [](const Tensor& x) { return grad(sum(x * stop_gradient(x)), x); }),
              vector_of({3, 5}));
}

TEST(Grad, WithRespectToAnIntermediateValueDoesNotGoThroughIt) {
    EXPECT_EQ(at({3, 5},
                 [](const Tensor& x) {
                     const Tensor y = x * x;
                     return grad(sum(y * y), y);
                 }),
              vector_of({18, 50}));
}

TEST(Grad, OfAMeanOverRowsDividesByTheLiveCount) {
    EXPECT_EQ(at(
                  {1, 2, 3, 4}, [](const Tensor& x) { return grad(mean(x * x), x); }, true),
              vector_of({0.5, 1, 1.5, 2}));
}

TEST(Grad, OfEqualExtremaIsShared) {
    EXPECT_EQ(at({3, 1, 3}, [](const Tensor& x) { return grad(max(x), x); }),
              vector_of({0.5, 0, 0.5}));
    EXPECT_EQ(at({3, 1}, [](const Tensor& x) { return grad(sum(maximum(x, 1)), x); }),
              vector_of({1, 0.5}));
}

TEST(Grad, OfAProductIsRightWhereFactorsAreZero) {
    EXPECT_EQ(at({0, 2, 3}, [](const Tensor& x) { return grad(prod(x), x); }),
              vector_of({6, 0, 0}));
    EXPECT_EQ(at({0, 2, 0}, [](const Tensor& x) { return grad(prod(x), x); }),
              vector_of({0, 0, 0}));
}

TEST(Grad, OfAGradientOfAProductIsRightWhereFactorsAreZero) {
    // y = abcd; the Hessian's row of a, times (1, 2, 3, 4).
    const auto second = [](const Tensor& x) {
        const Tensor weights =
            x.trace()->constant(HostTensor::of({4}, std::vector<double>{1, 2, 3, 4}, DType::kF64));
        return grad(sum(grad(prod(x), x) * weights), x);
    };
    EXPECT_EQ(at({2, 3, 5, 7}, second), vector_of({2 * 35 + 3 * 21 + 4 * 15, 35 + 3 * 14 + 4 * 10,
                                                   21 + 2 * 14 + 4 * 6, 15 + 2 * 10 + 3 * 6}));
    EXPECT_EQ(at({0, 3, 5, 7}, second), vector_of({2 * 35 + 3 * 21 + 4 * 15, 35, 21, 15}));
    EXPECT_EQ(at({0, 0, 5, 7}, second), vector_of({2 * 35, 35, 0, 0}));
    EXPECT_EQ(at({0, 0, 0, 7}, second), vector_of({0, 0, 0, 0}));
}

TEST(Grad, TakesALossOfOneElement) {
    EXPECT_EQ(at({2, 4}, [](const Tensor& x) { return grad(sum(x * x, {0}, true), x); }),
              vector_of({4, 8}));
}

TEST(Grad, ErrorsNameWhatIsWrong) {
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2});
                  grad(x, x);
              }),
              "grad: the loss must be a floating-point scalar, found f32[2]");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2}, DType::kI32);
                  grad(sum(x), x);
              }),
              "grad: the loss must be a floating-point scalar, found i32[]");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2}), i = t.input("i", {2}, DType::kI32);
                  grad(sum(x), i);
              }),
              "grad: wrt 0 is i32[2], not floating-point");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2});
                  grad(sum(without_gradient(x)), x);
              }),
              "grad: the operator 'sum_of_products_of_others' has no gradient");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2}), g = t.input("g", {3});
                  vjp(std::span(&x, 1), std::span(&g, 1), std::span(&x, 1));
              }),
              "vjp: output 0 is f32[2], its cotangent f32[3]");
}

TEST(Grad, AnOperatorWithoutGradientThatDoesNotMatterIsNoError) {
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2}), other = t.input("other", {2});
                  grad(sum(x * without_gradient(other)), x);
              }),
              "");
}

TEST(ValueAndGrad, ReturnsBoth) {
    const HostTensor both = at({3, 4}, [](const Tensor& x) {
        const auto [value, gradients] =
            value_and_grad([&] { return sum(x * x); }, std::span(&x, 1));
        return concat({reshape(value, {1}), gradients[0]}, 0);
    });
    EXPECT_EQ(both, vector_of({25, 6, 8}));
}

// Concat's gradient along the symbolic axis takes parts that a slice cannot name.
TEST(Grad, OfPartsJoinedAlongRows) {
    const HostTensor g = at(
        {1, 2, 3},
        [](const Tensor& x) {
            const Tensor all = concat({x * 2.0, x * 3.0, x * 5.0}, 0);
            return grad(sum(all * all), x);
        },
        true);
    EXPECT_EQ(g, vector_of({2 * 38, 4 * 38, 6 * 38}));
}

// A record whose gradient is wrong by a factor, to see the check fail.
TEST(Gradcheck, FindsAWrongGradient) {
    static const OpDef doubled = {
        .name = "doubled",
        .inputs = {{"x"}},
        .infer = [](InferContext& c) { return c.one(c.dtype(0), c.shape(0)); },
        .compute = compute_float([](auto& c) { return 2.0 * c.x(0); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * 2.001}; },
    };
    const TensorType type{DType::kF32, {3}};
    const HostTensor x = vector_of({1, 2, 3});
    const Status status = gradcheck(
        [](Trace&, std::span<const Tensor> t) {
            return std::vector<Tensor>{apply_one(doubled, {t[0]})};
        },
        std::span(&type, 1), std::span(&x, 1));
    EXPECT_EQ(status.message().find("input 0 element 0: gradient "), 0u) << status.message();
}

}  // namespace
}  // namespace hearth
