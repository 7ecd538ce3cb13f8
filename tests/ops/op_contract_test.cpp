// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What every operator's record promises, checked for each of its samples on the CPU.

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

class OpContract : public testing::TestWithParam<const OpDef*> {};
// The promises that only some records make.
class ComposedOp : public OpContract {};
class DifferentiableOp : public OpContract {};
class TwiceDifferentiableOp : public OpContract {};
class OpOfFixedArity : public OpContract {};

// The gradient of product_of_others, which is that of a product.  It has none itself.
constexpr std::string_view kWithoutGradient = "sum_of_products_of_others";

bool has_floats(std::span<const TensorType> types) {
    for (const TensorType& t : types)
        if (is_floating(t.dtype)) return true;
    return false;
}

std::vector<TensorType> output_types(const OpCase& c) {
    std::vector<TensorType> types;
    const Status status = infer_types(*c.op, c.sample.attrs, c.sample.inputs, types);
    EXPECT_TRUE(status.ok()) << status.message();
    return types;
}

// Every way of applying the operator that has a gradient.
std::vector<OpCase> differentiable_cases(const OpDef& op) {
    std::vector<OpCase> cases;
    if (op.stops_gradient) return cases;
    for (OpCase& c : cases_of(op))
        if (c.sample.gradient && has_floats(c.sample.inputs) && has_floats(output_types(c)))
            cases.push_back(std::move(c));
    return cases;
}

TracedFunction traced(const OpCase& c) {
    return [c](Trace& trace, std::span<const Tensor> inputs) {
        return apply(*c.op, inputs, in_double(c.sample.attrs), &trace);
    };
}

TEST_P(OpContract, HasASummaryAndSamplesOfSeveralShapes) {
    const OpDef& op = *GetParam();
    EXPECT_FALSE(op.summary.empty());
    const std::vector<OpCase> cases = cases_of(op);
    EXPECT_GE(cases.size(), 3u);
    bool has_rows = false;
    for (const OpCase& c : cases) {
        for (const TensorType& t : c.sample.inputs) has_rows = has_rows || t.shape.has_batch();
        for (const TensorType& t : output_types(c)) has_rows = has_rows || t.shape.has_batch();
        for (const Attr& a : c.sample.attrs.all())
            if (const auto* shape = std::get_if<Shape>(&a.value))
                has_rows = has_rows || shape->has_batch();
    }
    EXPECT_TRUE(has_rows) << "no sample has a symbolic extent";
}

TEST_P(OpContract, ShapeRuleOfSymbolicRowsAgreesWithThatOfNumbers) {
    for (const OpCase& c : cases_of(*GetParam())) {
        SCOPED_TRACE(describe(c));
        const auto outputs = evaluate_node(*c.op, c.sample.attrs,
                                           std::span<const HostTensor>(make_inputs(c)), c.rows());
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        const std::vector<TensorType> types = output_types(c);
        ASSERT_EQ(outputs->size(), types.size());
        for (size_t i = 0; i < types.size(); ++i) {
            EXPECT_EQ((*outputs)[i].dtype(), types[i].dtype);
            EXPECT_EQ((*outputs)[i].shape(), types[i].shape.resolve(c.rows()));
        }
    }
}

TEST_P(OpContract, GraphOfOneNodeEqualsTheOperatorAndPrintsIt) {
    for (const OpCase& c : cases_of(*GetParam())) {
        SCOPED_TRACE(describe(c));
        const std::vector<HostTensor> inputs = make_inputs(c);
        const auto graph = make_graph(c);
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        if (c.op->op_class != OpClass::kComposite || c.op->vjp != nullptr) {
            EXPECT_NE(print(*graph).find(" " + std::string(c.op->name) + "("), std::string::npos);
        }
        const auto by_graph = evaluate(*graph, inputs, c.rows());
        const auto by_node =
            evaluate_node(*c.op, c.sample.attrs, std::span<const HostTensor>(inputs), c.rows());
        ASSERT_TRUE(by_graph.ok()) << by_graph.status().message();
        ASSERT_TRUE(by_node.ok()) << by_node.status().message();
        EXPECT_EQ(*by_graph, *by_node);
    }
}

TEST_P(OpContract, TwoRunsAreBitEqual) {
    for (const OpCase& c : cases_of(*GetParam())) {
        SCOPED_TRACE(describe(c));
        const std::vector<HostTensor> inputs = make_inputs(c);
        const auto first =
            evaluate_node(*c.op, c.sample.attrs, std::span<const HostTensor>(inputs), c.rows());
        const auto second =
            evaluate_node(*c.op, c.sample.attrs, std::span<const HostTensor>(inputs), c.rows());
        ASSERT_TRUE(first.ok() && second.ok());
        EXPECT_EQ(*first, *second);
    }
}

TEST_P(ComposedOp, DecompositionEqualsReference) {
    const OpDef& op = *GetParam();
    OpDef without_reference = op;
    without_reference.reference = nullptr;
    for (const OpCase& c : cases_of(op)) {
        SCOPED_TRACE(describe(c));
        const std::vector<HostTensor> inputs = make_inputs(c);
        const auto expected =
            evaluate_node(op, c.sample.attrs, std::span<const HostTensor>(inputs), c.rows());
        const auto found = evaluate_node(without_reference, c.sample.attrs,
                                         std::span<const HostTensor>(inputs), c.rows());
        ASSERT_TRUE(expected.ok() && found.ok());
        for (size_t i = 0; i < found->size(); ++i)
            EXPECT_EQ(difference((*found)[i], (*expected)[i], op.tolerance.f32), "");
    }
}

TEST_P(DifferentiableOp, StatesItsGradientUnlessItIsOneItself) {
    const OpDef& op = *GetParam();
    const bool states_it = op.vjp != nullptr || op.op_class == OpClass::kComposite;
    EXPECT_EQ(states_it, op.name != kWithoutGradient);
}

TEST_P(DifferentiableOp, GradientEqualsFiniteDifferences) {
    const OpDef& op = *GetParam();
    for (const OpCase& c : differentiable_cases(op)) {
        SCOPED_TRACE(describe(c));
        const Status status =
            gradcheck(traced(c), c.sample.inputs, make_inputs(c), {.rows = c.rows()});
        if (op.name == kWithoutGradient) {
            EXPECT_EQ(status.message(),
                      "trace 'gradcheck': grad: the operator 'sum_of_products_of_others' has no "
                      "gradient");
        } else {
            EXPECT_TRUE(status.ok()) << status.message();
        }
    }
}

/// The gradients of a weighted sum of the outputs, in one floating-point type.
Result<std::vector<HostTensor>> gradients_in(const OpCase& c, DType dtype,
                                             std::vector<HostTensor> inputs) {
    Trace trace("gradient");
    std::vector<Tensor> traced, wrt;
    for (HostTensor& t : inputs) {
        if (is_floating(t.dtype())) t = t.cast(dtype);
        const Shape& shape = c.sample.inputs[traced.size()].shape;
        traced.push_back(trace.input("x" + std::to_string(traced.size()), shape, t.dtype()));
        if (is_floating(t.dtype())) wrt.push_back(traced.back());
    }
    Tensor loss;
    for (const Tensor& y :
         apply(*c.op, traced, in_type(c.sample.attrs, DType::kF32, dtype), &trace)) {
        if (!is_floating(y.dtype())) continue;
        const Tensor term = sum(cast(y, dtype) * 0.75);
        loss = loss.ok() ? loss + term : term;
    }
    for (const Tensor& g : grad(loss, wrt))
        trace.output("g" + std::to_string(trace.graph().outputs.size()), g);
    HEARTH_ASSIGN(const Graph graph, trace.build());
    return evaluate(graph, inputs, c.rows());
}

TEST_P(DifferentiableOp, GradientInNarrowFloatsIsThatInDouble) {
    const OpDef& op = *GetParam();
    if (op.name == kWithoutGradient) return;
    if (op.name == "hash_grid") GTEST_SKIP() << "rounded coordinates lie in other cells";
    for (const DType dtype : {DType::kF16, DType::kBF16})
        for (const OpCase& c : differentiable_cases(op)) {
            SCOPED_TRACE(describe(c));
            std::vector<HostTensor> inputs;
            for (const HostTensor& t : make_inputs(c))
                inputs.push_back(is_floating(t.dtype()) ? t.cast(dtype) : t);
            const auto found = gradients_in(c, dtype, inputs);
            const auto expected = gradients_in(c, DType::kF64, inputs);
            ASSERT_TRUE(found.ok()) << found.status().message();
            ASSERT_TRUE(expected.ok()) << expected.status().message();
            for (size_t i = 0; i < expected->size(); ++i) {
                const HostTensor &g = (*found)[i], &right = (*expected)[i];
                double largest = 1;
                for (int64_t e = 0; e < right.element_count(); ++e)
                    largest = std::max(largest, std::abs(right.get(e)));
                double worst = 0;
                for (int64_t e = 0; e < right.element_count(); ++e)
                    worst = std::max(worst, std::abs(g.get(e) - right.get(e)) / largest);
                // A few roundings, to 2^-11 and 2^-8.
                EXPECT_LE(worst, dtype == DType::kF16 ? 0.004 : 0.025) << name_of(dtype) << i;
            }
        }
}

TEST_P(TwiceDifferentiableOp, GradientOfTheGradientEqualsFiniteDifferences) {
    const OpDef& op = *GetParam();
    for (const OpCase& c : differentiable_cases(op)) {
        int64_t largest = 0;
        for (const TensorType& t : c.sample.inputs)
            largest = std::max(largest, t.shape.element_count(c.rows()));
        if (largest > 100) continue;
        SCOPED_TRACE(describe(c));
        const TracedFunction gradient = [&c](Trace& trace, std::span<const Tensor> inputs) {
            std::vector<Tensor> wrt;
            Tensor loss = trace.constant(0, DType::kF64);
            for (const Tensor& x : inputs)
                if (is_floating(x.dtype())) wrt.push_back(x);
            for (const Tensor& y : apply(*c.op, inputs, in_double(c.sample.attrs), &trace))
                if (is_floating(y.dtype())) loss = loss + sum(y * 0.75);
            return grad(loss, wrt);
        };
        const Status status = gradcheck(gradient, c.sample.inputs, make_inputs(c),
                                        {.rows = c.rows(), .tolerance = 1e-5});
        EXPECT_TRUE(status.ok()) << status.message();
    }
}

TEST_P(OpOfFixedArity, RefusesOneInputTooManyAndNamesItself) {
    const OpDef& op = *GetParam();
    OpCase c = cases_of(op)[0];
    c.sample.inputs.push_back({DType::kF32, {}});
    const auto graph = make_graph(c);
    ASSERT_FALSE(graph.ok());
    const std::string count = std::to_string(op.inputs.size());
    EXPECT_NE(graph.status().message().find(std::string(op.name) + ": takes " + count),
              std::string::npos)
        << graph.status().message();
}

std::vector<const OpDef*> ops_that(bool (*holds)(const OpDef&)) {
    std::vector<const OpDef*> ops;
    for (const OpDef* op : all_ops())
        if (holds(*op)) ops.push_back(op);
    return ops;
}

bool is_composed(const OpDef& op) {
    return op.decompose != nullptr && op.reference != nullptr;
}
bool is_differentiable(const OpDef& op) {
    return !differentiable_cases(op).empty();
}
bool is_twice_differentiable(const OpDef& op) {
    return is_differentiable(op) && op.name != "product_of_others" && op.name != kWithoutGradient;
}
bool has_fixed_arity(const OpDef& op) {
    return op.inputs.empty() || !op.inputs[op.inputs.size() - 1].variadic;
}

const auto name_of_op = [](const auto& op) { return std::string(op.param->name); };

INSTANTIATE_TEST_SUITE_P(Every, OpContract, testing::ValuesIn(all_ops()), name_of_op);
INSTANTIATE_TEST_SUITE_P(Every, ComposedOp, testing::ValuesIn(ops_that(is_composed)), name_of_op);
INSTANTIATE_TEST_SUITE_P(Every, DifferentiableOp, testing::ValuesIn(ops_that(is_differentiable)),
                         name_of_op);
INSTANTIATE_TEST_SUITE_P(Every, TwiceDifferentiableOp,
                         testing::ValuesIn(ops_that(is_twice_differentiable)), name_of_op);
INSTANTIATE_TEST_SUITE_P(Every, OpOfFixedArity, testing::ValuesIn(ops_that(has_fixed_arity)),
                         name_of_op);

}  // namespace
}  // namespace hearth::test
