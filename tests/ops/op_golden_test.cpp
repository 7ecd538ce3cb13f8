// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Values from outside.  Reference and kernels come from one text, so only numbers that were not
// made by it can show that the text is wrong.  Decimal values: CPython 3.11's math module (the C
// library's functions in double), or by hand where they are short.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ops/op_table.hpp"
#include "ops/op_cases.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace hearth::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensor f32(const Shape& shape, std::vector<double> values) {
    return HostTensor::of(shape, values);
}
HostTensor i32(const Shape& shape, std::vector<double> values) {
    return HostTensor::of(shape, values, DType::kI32);
}
HostTensor flags(const Shape& shape, std::vector<double> values) {
    return HostTensor::of(shape, values, DType::kBool);
}

using Build = std::function<Tensor(std::span<const Tensor>)>;

HostTensor run(const Build& build, std::vector<HostTensor> inputs) {
    Trace trace("golden");
    std::vector<Tensor> traced;
    for (const HostTensor& t : inputs)
        traced.push_back(trace.input("x" + std::to_string(traced.size()), t.shape(), t.dtype()));
    trace.output("y", build(traced));
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    if (!graph.ok()) return {};
    const auto outputs = evaluate(*graph, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? (*outputs)[0] : HostTensor();
}

void expect(const Build& build, std::vector<HostTensor> inputs, const HostTensor& expected,
            double tolerance = 1e-7) {
    EXPECT_EQ(difference(run(build, std::move(inputs)), expected, tolerance), "");
}

using Unary = Tensor (*)(const Tensor&);
struct UnaryCase {
    const char* name;
    Unary function;
    std::vector<double> expected;
};

void check_unary(std::span<const UnaryCase> cases, const std::vector<double>& points) {
    const Shape shape{static_cast<int64_t>(points.size())};
    for (const UnaryCase& c : cases) {
        SCOPED_TRACE(c.name);
        expect([&](auto x) { return c.function(x[0]); }, {f32(shape, points)},
               f32(shape, c.expected), 2e-7);
    }
}

const Unary leaky = [](const Tensor& x) { return leaky_relu(x); };
const Unary elu_of_1 = [](const Tensor& x) { return elu(x); };
const Unary celu_of_1 = [](const Tensor& x) { return celu(x); };
const Unary hard_sigmoid_by_default = [](const Tensor& x) { return hard_sigmoid(x); };

TEST(Golden, FunctionsOfAllRealNumbers) {
    const UnaryCase cases[] = {
        {"exp", exp, {0.22313016, 0.778800783, 1, 1.64872127, 7.3890561}},
        {"sin", sin, {-0.997494987, -0.247403959, 0, 0.479425539, 0.909297427}},
        {"cos", cos, {0.0707372017, 0.968912422, 1, 0.877582562, -0.416146837}},
        {"tan", tan, {-14.1014199, -0.255341921, 0, 0.54630249, -2.18503986}},
        {"atan", atan, {-0.982793723, -0.244978663, 0, 0.463647609, 1.10714872}},
        {"sinh", sinh, {-2.12927946, -0.252612317, 0, 0.521095305, 3.62686041}},
        {"cosh", cosh, {2.35240962, 1.0314131, 1, 1.12762597, 3.76219569}},
        {"tanh", tanh, {-0.905148254, -0.244918662, 0, 0.462117157, 0.96402758}},
        {"asinh", asinh, {-1.19476322, -0.247466462, 0, 0.481211825, 1.44363548}},
        {"erf", erf, {-0.966105146, -0.27632639, 0, 0.520499878, 0.995322265}},
        {"floor", floor, {-2, -1, 0, 0, 2}},
        {"ceil", ceil, {-1, 0, 0, 1, 2}},
        {"gelu", gelu, {-0.100210802, -0.100323419, 0, 0.345731231, 1.95449974}},
        {"gelu_tanh", gelu_tanh, {-0.100428423, -0.100324649, 0, 0.34571401, 1.95459769}},
        {"silu", silu, {-0.273638286, -0.109455875, 0, 0.311229666, 1.76159416}},
        {"sigmoid", sigmoid, {0.182425524, 0.437823499, 0.5, 0.622459331, 0.880797078}},
        {"softplus", softplus, {0.201413278, 0.57593942, 0.693147181, 0.974076984, 2.12692801}},
        {"mish", mish, {-0.298099742, -0.129926964, 0, 0.375245211, 1.94395896}},
        {"softsign", softsign, {-0.6, -0.2, 0, 0.333333333, 0.666666667}},
        {"elu", elu_of_1, {-0.77686984, -0.221199217, 0, 0.5, 2}},
        {"selu", selu, {-1.36581435, -0.388890197, 0, 0.525350494, 2.10140197}},
        {"celu", celu_of_1, {-0.77686984, -0.221199217, 0, 0.5, 2}},
        {"relu", relu, {0, 0, 0, 0.5, 2}},
        {"leaky_relu", leaky, {-0.015, -0.0025, 0, 0.5, 2}},
        {"hard_sigmoid", hard_sigmoid_by_default, {0.2, 0.45, 0.5, 0.6, 0.9}},
        {"hard_swish", hard_swish, {-0.375, -0.114583333, 0, 0.291666667, 1.66666667}},
        {"abs", abs, {1.5, 0.25, 0, 0.5, 2}},
        {"neg", neg, {1.5, 0.25, 0, -0.5, -2}},
        {"square", square, {2.25, 0.0625, 0, 0.25, 4}},
        {"sign", sign, {-1, -1, 0, 1, 1}},
    };
    check_unary(cases, {-1.5, -0.25, 0, 0.5, 2});
}

TEST(Golden, FunctionsOfNumbersBetweenZeroAndOne) {
    const UnaryCase cases[] = {
        {"asin", asin, {0.252680255, 0.523598776, 0.848062079}},
        {"acos", acos, {1.31811607, 1.04719755, 0.722734248}},
        {"atanh", atanh, {0.255412812, 0.549306144, 0.972955075}},
        {"log", log, {-1.38629436, -0.693147181, -0.287682072}},
        {"sqrt", sqrt, {0.5, 0.707106781, 0.866025404}},
        {"rsqrt", rsqrt, {2, 1.41421356, 1.15470054}},
        {"reciprocal", reciprocal, {4, 2, 1.33333333}},
    };
    check_unary(cases, {0.25, 0.5, 0.75});
    const UnaryCase beyond_one[] = {{"acosh", acosh, {0.693147181, 1.3169579, 1.76274717}}};
    check_unary(beyond_one, {1.25, 2, 3});
}

TEST(Golden, RoundGoesToTheEvenNeighbour) {
    const UnaryCase cases[] = {{"round", round, {-2, -2, 0, 0, 2, 2, 4}}};
    check_unary(cases, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5});
}

TEST(Golden, DivisionAndRemaindersOfIntegers) {
    const HostTensor a = i32({8}, {7, -7, 7, -7, 5, 0, 6, -6}),
                     b = i32({8}, {3, 3, -3, -3, 0, 4, -1, 2});
    expect([](auto x) { return x[0] / x[1]; }, {a, b}, i32({8}, {2, -2, -2, 2, 0, 0, -6, -3}));
    expect([](auto x) { return mod(x[0], x[1]); }, {a, b}, i32({8}, {1, 2, -2, -1, 0, 0, 0, 0}));
    expect([](auto x) { return fmod(x[0], x[1]); }, {a, b}, i32({8}, {1, -1, 1, -1, 0, 0, 0, 0}));
}

TEST(Golden, DivisionOfTheSmallestIntegerByMinusOneDoesNotTrap) {
    const double least = -2147483648.0;
    expect([](auto x) { return x[0] / x[1]; }, {i32({1}, {least}), i32({1}, {-1})},
           i32({1}, {least}));
    HostTensor wide(DType::kI64, {1}), minus_one(DType::kI64, {1});
    wide.set_int(0, std::numeric_limits<int64_t>::max());
    minus_one.set_int(0, -1);
    EXPECT_EQ(run([](auto x) { return x[0] / x[1]; }, {wide, minus_one}).get_int(0),
              -std::numeric_limits<int64_t>::max());
}

TEST(Golden, LargeUnsignedDivisorsAreNotMinusOne) {
    const auto u32 = [](double v) { return HostTensor::of({1}, std::vector{v}, DType::kU32); };
    const double largest = 4294967295.0;
    expect([](auto x) { return x[0] / x[1]; }, {u32(7), u32(largest)}, u32(0));
    expect([](auto x) { return mod(x[0], x[1]); }, {u32(7), u32(largest)}, u32(7));
}

TEST(Golden, RemaindersOfFloatsFollowTheirSign) {
    const HostTensor a = f32({4}, {5.5, -5.5, 5.5, -5.5}), b = f32({4}, {2, 2, -2, -2});
    expect([](auto x) { return mod(x[0], x[1]); }, {a, b}, f32({4}, {1.5, 0.5, -0.5, -1.5}));
    expect([](auto x) { return fmod(x[0], x[1]); }, {a, b}, f32({4}, {1.5, -1.5, 1.5, -1.5}));
}

TEST(Golden, RemaindersOfInfiniteDivisorsAreTheDividendOrItsDivisor) {
    const HostTensor a = f32({4}, {5, -5, 5, -5}), b = f32({4}, {kInf, kInf, -kInf, -kInf});
    expect([](auto x) { return fmod(x[0], x[1]); }, {a, b}, a);
    expect([](auto x) { return mod(x[0], x[1]); }, {a, b}, f32({4}, {5, kInf, -kInf, -5}));
    const HostTensor zero = f32({4}, {0, 0, 0, 0});
    expect([](auto x) { return fmod(x[0], x[1]); }, {a, zero}, f32({4}, {kNan, kNan, kNan, kNan}));
}

TEST(Golden, NarrowIntegersWrap) {
    const auto bytes = [](DType dtype, std::vector<double> values) {
        return HostTensor::of({static_cast<int64_t>(values.size())}, values, dtype);
    };
    const HostTensor a = bytes(DType::kU8, {200, 3}), b = bytes(DType::kU8, {100, 5});
    expect([](auto x) { return x[0] + x[1]; }, {a, b}, bytes(DType::kU8, {44, 8}));
    expect([](auto x) { return x[0] - x[1]; }, {b, a}, bytes(DType::kU8, {156, 2}));
    expect([](auto x) { return x[0] * x[1]; }, {a, b}, bytes(DType::kU8, {32, 15}));
    expect([](auto x) { return -x[0]; }, {bytes(DType::kI8, {-128, 7})},
           bytes(DType::kI8, {-128, -7}));
    expect([](auto x) { return x[0] / x[1]; }, {bytes(DType::kI8, {-128}), bytes(DType::kI8, {-1})},
           bytes(DType::kI8, {-128}));
}

TEST(Golden, PowersOfNegativeBasesNeedWholeExponents) {
    expect([](auto x) { return pow(x[0], x[1]); },
           {f32({5}, {-2, -2, -2, 0, 9}), f32({5}, {3, 2, 0.5, 0, 0.5})},
           f32({5}, {-8, 4, kNan, 1, 3}));
}

TEST(Golden, ExtremaKeepNaNs) {
    const HostTensor a = f32({4}, {1, kNan, 3, kInf}), b = f32({4}, {2, 5, kNan, -kInf});
    expect([](auto x) { return minimum(x[0], x[1]); }, {a, b}, f32({4}, {1, kNan, kNan, -kInf}));
    expect([](auto x) { return maximum(x[0], x[1]); }, {a, b}, f32({4}, {2, kNan, kNan, kInf}));
    expect([](auto x) { return max(x[0]); }, {a}, f32({}, {kNan}));
    expect([](auto x) { return min(x[0]); }, {f32({3}, {4, -1, 2})}, f32({}, {-1}));
}

TEST(Golden, ClassificationOfFloats) {
    const HostTensor x = f32({4}, {kNan, kInf, -kInf, 1});
    expect([](auto t) { return is_nan(t[0]); }, {x}, flags({4}, {1, 0, 0, 0}));
    expect([](auto t) { return is_inf(t[0]); }, {x}, flags({4}, {0, 1, 1, 0}));
    expect([](auto t) { return is_inf(t[0], true, false); }, {x}, flags({4}, {0, 1, 0, 0}));
    expect([](auto t) { return is_inf(t[0], false, true); }, {x}, flags({4}, {0, 0, 1, 0}));
    expect([](auto t) { return is_inf(t[0], false, false); }, {x}, flags({4}, {0, 0, 0, 0}));
}

TEST(Golden, ComparisonsWithNaNAreFalse) {
    const HostTensor x = f32({3}, {1, kNan, 3});
    expect([](auto t) { return less(t[0], 2); }, {x}, flags({3}, {1, 0, 0}));
    expect([](auto t) { return greater_equal(t[0], 2); }, {x}, flags({3}, {0, 0, 1}));
    expect([](auto t) { return not_equal(t[0], t[0]); }, {x}, flags({3}, {0, 1, 0}));
}

TEST(Golden, CastsTruncateSaturateAndWrap) {
    const HostTensor x = f32({6}, {-1.9, 1.9, 300, -300, kNan, 0});
    expect([](auto t) { return cast(t[0], DType::kI32); }, {x}, i32({6}, {-1, 1, 300, -300, 0, 0}));
    expect([](auto t) { return cast(t[0], DType::kI8); }, {x},
           HostTensor::of({6}, std::vector<double>{-1, 1, 127, -128, 0, 0}, DType::kI8));
    expect([](auto t) { return cast(t[0], DType::kU8); }, {x},
           HostTensor::of({6}, std::vector<double>{0, 1, 255, 0, 0, 0}, DType::kU8));
    expect([](auto t) { return cast(t[0], DType::kBool); }, {x}, flags({6}, {1, 1, 1, 1, 1, 0}));
    expect([](auto t) { return cast(t[0], DType::kI8); }, {i32({3}, {130, -129, 256})},
           HostTensor::of({3}, std::vector<double>{-126, 127, 0}, DType::kI8));
}

TEST(Golden, MatrixProductsWithEveryTransposition) {
    const HostTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {7, 8, 9, 10, 11, 12});
    const HostTensor product = f32({2, 2}, {58, 64, 139, 154});
    for (const bool swap_a : {false, true})
        for (const bool swap_b : {false, true})
            expect(
                [=](auto x) {
                    return matmul(swap_a ? transpose(x[0]) : x[0], swap_b ? transpose(x[1]) : x[1],
                                  swap_a, swap_b);
                },
                {a, b}, product);
}

TEST(Golden, ProductsWithVectorsDropTheirAxis) {
    const HostTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), v = f32({3}, {1, 0, -1}),
                     w = f32({2}, {1, -1});
    expect([](auto x) { return matmul(x[0], x[1]); }, {a, v}, f32({2}, {-2, -2}));
    expect([](auto x) { return matmul(x[0], x[1]); }, {w, a}, f32({3}, {-3, -3, -3}));
    expect([](auto x) { return matmul(x[0], x[0]); }, {v}, f32({}, {2}));
}

TEST(Golden, LinearIsXTimesWeightTransposedPlusBias) {
    expect([](auto t) { return linear(t[0], t[1], t[2]); },
           {f32({2, 2}, {1, 2, 3, 4}), f32({3, 2}, {1, 0, 0, 1, 1, 1}), f32({3}, {10, 20, 30})},
           f32({2, 3}, {11, 22, 33, 13, 24, 37}));
    expect([](auto t) { return linear(t[0], t[1]); },
           {f32({2}, {1, 2}), f32({3, 2}, {1, 0, 0, 1, 1, 1})}, f32({3}, {1, 2, 3}));
}

TEST(Golden, ReductionsOverChosenAxes) {
    const HostTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
    expect([](auto t) { return sum(t[0]); }, {x}, f32({}, {21}));
    expect([](auto t) { return sum(t[0], {0}); }, {x}, f32({3}, {5, 7, 9}));
    expect([](auto t) { return mean(t[0], {-1}, true); }, {x}, f32({2, 1}, {2, 5}));
    expect([](auto t) { return prod(t[0], {1}); }, {x}, f32({2}, {6, 120}));
    expect([](auto t) { return var(t[0], {1}); }, {x}, f32({2}, {2.0 / 3, 2.0 / 3}));
    expect([](auto t) { return var(t[0], {1}, false, 1); }, {x}, f32({2}, {1, 1}));
    expect([](auto t) { return cast(argmax(t[0], 0), DType::kI32); }, {x}, i32({3}, {1, 1, 1}));
    expect([](auto t) { return cast(argmin(t[0], 1, true), DType::kI32); }, {x},
           i32({2, 1}, {0, 0}));
}

TEST(Golden, BlocksLieOnTheLastAxis) {
    const HostTensor x = f32({2, 3}, {1, 2, 3, 6, 5, 4});
    const auto in_blocks_of_two = [](std::string_view name) {
        return [name](auto t) { return apply_one(op(name), {t[0]}, {{"block", int64_t{2}}}); };
    };
    expect(in_blocks_of_two("block_sum"), {x}, f32({2, 2}, {3, 3, 11, 4}));
    expect(in_blocks_of_two("block_max"), {x}, f32({2, 2}, {2, 3, 6, 4}));
}

TEST(Golden, ArgumentsOfExtremaAreTheFirstOfEquals) {
    const HostTensor x = f32({5}, {1, 3, 3, 1, 2});
    expect([](auto t) { return cast(argmax(t[0]), DType::kI32); }, {x}, i32({}, {1}));
    expect([](auto t) { return cast(argmin(t[0]), DType::kI32); }, {x}, i32({}, {0}));
}

// log(e^1 + e^2 + e^3) = 3.40760596
TEST(Golden, LogSumExpNeitherOverflowsNorMakesNaN) {
    const auto all = [](auto t) { return logsumexp(t[0], {-1}); };
    expect(all, {f32({3}, {1, 2, 3})}, f32({}, {3.40760596}));
    expect(all, {f32({3}, {1001, 1002, 1003})}, f32({}, {1003.40760596}), 1e-6);
    expect(all, {f32({2, 2}, {-kInf, -kInf, kInf, 0})}, f32({2}, {-kInf, kInf}));
}

TEST(Golden, SoftmaxOfOneTwoThree) {
    const HostTensor x = f32({3}, {1, 2, 3});
    expect([](auto t) { return softmax(t[0]); }, {x},
           f32({3}, {0.0900305732, 0.244728471, 0.665240956}));
    expect([](auto t) { return log_softmax(t[0]); }, {x},
           f32({3}, {-2.40760596, -1.40760596, -0.407605964}), 2e-7);
}

TEST(Softmax, RowsOfMinusInfinityGiveZerosNotNaNInReferenceAndDecomposition) {
    const HostTensor x = f32({2, 2}, {-kInf, -kInf, 0, -kInf}), y = f32({2, 2}, {0, 0, 1, 0});
    expect([](auto t) { return softmax(t[0]); }, {x}, y);
    expect(
        [](auto t) {
            const Attrs attrs{{"axis", int64_t{1}}};
            const OpDef& softmax_op = *t[0].trace()->graph().producer(softmax(t[0]).value())->op;
            DecomposeContext call{*t[0].trace(), attrs, t};
            return softmax_op.decompose(call)[0];
        },
        {x}, y);
}

TEST(Golden, SlicesCountLikePythonSlices) {
    const HostTensor x = f32({6}, {0, 1, 2, 3, 4, 5});
    const auto check = [&x](int64_t begin, int64_t end, int64_t step,
                            std::vector<double> expected) {
        SCOPED_TRACE(std::to_string(begin) + ":" + std::to_string(end) + ":" +
                     std::to_string(step));
        const Shape shape{static_cast<int64_t>(expected.size())};
        expect([=](auto t) { return slice(t[0], 0, begin, end, step); }, {x}, f32(shape, expected));
    };
    check(1, 4, 1, {1, 2, 3});
    check(1, 100, 2, {1, 3, 5});
    check(-2, 100, 1, {4, 5});
    check(0, -1, 3, {0, 3});
    check(4, 1, -1, {4, 3, 2});
    check(5, -100, -2, {5, 3, 1});
    check(100, -100, -1, {5, 4, 3, 2, 1, 0});
    check(3, 3, 1, {});
    check(-100, 2, 1, {0, 1});
}

TEST(Golden, MovementOfElements) {
    const HostTensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
    expect([](auto t) { return transpose(t[0]); }, {x}, f32({3, 2}, {1, 4, 2, 5, 3, 6}));
    expect([](auto t) { return flip(t[0], {1}); }, {x}, f32({2, 3}, {3, 2, 1, 6, 5, 4}));
    expect([](auto t) { return reshape(t[0], {3, -1}); }, {x}, f32({3, 2}, {1, 2, 3, 4, 5, 6}));
    expect(
        [](auto t) {
            return pad(t[0], {0, 1}, {1, -1}, 9);
        },
        {x}, f32({3, 3}, {9, 1, 2, 9, 4, 5, 9, 9, 9}));
    expect(
        [](auto t) {
            return expand(unsqueeze(t[0], {0}), {2, 2, 3});
        },
        {x}, f32({2, 2, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
    expect(
        [](auto t) {
            return concat({t[0], t[0]}, 1);
        },
        {x}, f32({2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
    expect(
        [](auto t) {
            return stack(std::vector<Tensor>{t[0], -t[0]}, 1);
        },
        {x}, f32({2, 2, 3}, {1, 2, 3, -1, -2, -3, 4, 5, 6, -4, -5, -6}));
    expect([](auto t) { return split(t[0], {1, 2}, 1)[1]; }, {x}, f32({2, 2}, {2, 3, 5, 6}));
    expect([](auto t) { return flatten(t[0]); }, {x}, f32({6}, {1, 2, 3, 4, 5, 6}));
    expect([](auto t) { return squeeze(unsqueeze(t[0], {0, -1})); }, {x}, x);
}

TEST(Golden, ConcatOfMorePartsThanOneKernelTakes) {
    std::vector<double> counting;
    for (int i = 0; i < 20; ++i) counting.push_back(i);
    expect(
        [](auto t) {
            const std::vector<int64_t> ones(20, 1);
            return concat(split(t[0], ones, 0), 0);
        },
        {f32({20}, counting)}, f32({20}, counting));
}

TEST(Golden, ReadsAtIndices) {
    const HostTensor x = f32({3, 2}, {1, 2, 3, 4, 5, 6});
    // -1 is the last; 9 and -9 lie outside and are clamped.
    expect([](auto t) { return take(t[0], t[1]); }, {x, i32({4}, {2, -1, 9, -9})},
           f32({4, 2}, {5, 6, 5, 6, 5, 6, 1, 2}));
    expect([](auto t) { return take(t[0], t[1], 1); }, {x, i32({}, {1})}, f32({3}, {2, 4, 6}));
    expect([](auto t) { return gather_elements(t[0], t[1], 1); }, {x, i32({3, 1}, {0, 1, -1})},
           f32({3, 1}, {1, 4, 6}));
    expect([](auto t) { return one_hot(t[0], 3); }, {i32({4}, {0, 2, -1, 3})},
           f32({4, 3}, {1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}));
}

TEST(Golden, Losses) {
    const HostTensor p = f32({2, 2}, {1, 2, 3, 4}), t = f32({2, 2}, {1, 0, 3.5, 1});
    // Differences 0, 2, -0.5 and 3.
    expect([](auto x) { return mse_loss(x[0], x[1]); }, {p, t}, f32({}, {13.25 / 4}));
    expect([](auto x) { return huber_loss(x[0], x[1]); }, {p, t},
           f32({}, {(1.5 + 0.125 + 2.5) / 4}));
    // softplus(1) - 0.25 and softplus(-2) - (-2): 1.06326169 and 2.12692801.
    expect([](auto x) { return binary_cross_entropy_with_logits(x[0], x[1]); },
           {f32({2}, {1, -2}), f32({2}, {0.25, 1})}, f32({}, {1.59509485}));
    // The negative log-softmax of SoftmaxOfOneTwoThree: (2.40760596 + 0.407605964) / 2.
    expect([](auto x) { return cross_entropy(x[0], x[1]); },
           {f32({2, 3}, {1, 2, 3, 1, 2, 3}), i32({2}, {0, 2})}, f32({}, {1.40760596}));
}

/// The gradient of the sum of f's elements with respect to input k.
Build gradient_of(Build f, size_t k) {
    return [f = std::move(f), k](std::span<const Tensor> x) { return grad(sum(f(x)), x[k]); };
}

// The values of PyTorch 1.13, on f32.
TEST(Golden, LogaddexpOfEqualInfinitiesIsThatInfinity) {
    expect([](auto x) { return logaddexp(x[0], x[1]); },
           {f32({5}, {-kInf, kInf, -kInf, -kInf, kInf}), f32({5}, {-kInf, kInf, kInf, 0, 3})},
           f32({5}, {-kInf, kInf, kInf, 0, kInf}));
    // A sum that begins with log(0): weights of the terms are 0, 0 and 1 (PyTorch: NaN).
    const Build chain = [](auto x) { return logaddexp(logaddexp(x[0], x[1]), x[2]); };
    const std::vector<HostTensor> terms{f32({}, {-kInf}), f32({}, {-kInf}), f32({}, {2})};
    for (size_t k = 0; k < 3; ++k)
        expect(gradient_of(chain, k), terms, f32({}, {k == 2 ? 1.0 : 0.0}));
}

TEST(Golden, GradientOfBinaryCrossEntropyIsLimited) {
    const Build loss = [](auto x) { return binary_cross_entropy(x[0], x[1], Reduction::kNone); };
    const HostTensor p = f32({8}, {0, 0, 0, 1, 1, 1, 1e-20, 0.25});
    const HostTensor t = f32({8}, {0, 1, 0.5, 0, 1, 0.5, 1, 1});
    expect(loss, {p, t}, f32({8}, {0, 100, 50, 100, 0, 50, 46.0517006, 1.38629436}));
    expect(gradient_of(loss, 0), {p, t}, f32({8}, {0, -1e12, -5e11, 1e12, 0, 5e11, -1e12, -4}));
    // Of targets: log((1 - p) / p), from the clamped logarithms (PyTorch: infinite).
    expect(gradient_of(loss, 1), {p, t},
           f32({8}, {100, 100, 100, -100, -100, -100, 46.0517006, 1.09861229}));
}

TEST(Golden, GradientOfBinaryCrossEntropyIsLimitedToWhatF16Holds) {
    const auto f16 = [](std::vector<double> values) {
        return HostTensor::of({3}, values, DType::kF16);
    };
    const Build loss = [](auto x) { return binary_cross_entropy(x[0], x[1], Reduction::kNone); };
    expect(gradient_of(loss, 0), {f16({0, 1, 0.25}), f16({1, 0, 1})}, f16({-16384, 16384, -4}),
           1e-3);
}

TEST(Golden, GradientOfAtan2IsZeroAtTheOriginAndAccurateAtAnyDistance) {
    const Build angle = [](auto x) { return atan2(x[0], x[1]); };
    const HostTensor y = f32({9}, {0, -0.0, 0, -0.0, 3, 3e-30, 3e30, 0, 1e-20});
    const HostTensor x = f32({9}, {0, 0, -0.0, -0.0, 4, 4e-30, 4e30, -2, 0});
    // (x, -y) / (x^2 + y^2)
    expect(gradient_of(angle, 0), {y, x}, f32({9}, {0, 0, 0, 0, 0.16, 0.16e30, 0.16e-30, -0.5, 0}));
    expect(gradient_of(angle, 1), {y, x},
           f32({9}, {0, 0, 0, 0, -0.12, -0.12e30, -0.12e-30, 0, -1e20}));
}

TEST(Golden, GradientOfAQuotientIsFiniteWhereTheDivisorHasNoInverse) {
    const HostTensor a = f32({2}, {0, 0x1p-149}), b = f32({2}, {0x1p-149, 0x1p-148});
    expect(gradient_of([](auto x) { return x[0] / x[1]; }, 1), {a, b}, f32({2}, {0, -kInf}));
}

TEST(Golden, GradientOfGeluIsFiniteWhereTheSquareOverflows) {
    const HostTensor x =
        HostTensor::of({4}, std::vector<double>{-6e4, -300, 300, 6e4}, DType::kF16);
    for (const Unary f : {Unary(gelu), Unary(gelu_tanh)})
        expect(gradient_of([f](auto t) { return f(t[0]); }, 0), {x},
               HostTensor::of({4}, std::vector<double>{0, 0, 1, 1}, DType::kF16));
}

TEST(Golden, CosineSimilarityIsFiniteWhereSquaresOverflow) {
    // The lengths of rows of 1e20 are infinite, and the similarity is zero.
    const Build f = [](auto x) { return cosine_similarity(x[0], x[1]); };
    const HostTensor a = f32({3, 2}, {1e20, 1e20, 0, 0, 3, 4}), b = f32({3, 2}, {1, 1, 0, 0, 4, 3});
    expect(f, {a, b}, f32({3}, {0, 0, 0.96}));
    expect(gradient_of(f, 0), {a, b}, f32({3, 2}, {0, 0, 0, 0, 0.0448, -0.0336}));
    expect(gradient_of(f, 1), {a, b}, f32({3, 2}, {0, 0, 0, 0, -0.0336, 0.0448}));
}

// The known answers that come with the authors' Random123 library (kat_vectors, philox4x32 10).
TEST(Philox, GivesTheAuthorsKnownAnswers) {
    using Words = std::array<uint32_t, 4>;
    EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
              (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    const uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(
        philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
        (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, DrawsHaveTheMomentsOfTheirDistributions) {
    const HostTensor counter = HostTensor::scalar(7, DType::kU32);
    const int64_t n = 20000;
    const HostTensor u =
        run([](auto t) { return random_uniform(t[0], rng_key("u"), {n}, -1, 3); }, {counter});
    const HostTensor z =
        run([](auto t) { return random_normal(t[0], rng_key("z"), {n}, 2, 0.5); }, {counter});
    double u_sum = 0, z_sum = 0, z_squares = 0;
    for (int64_t i = 0; i < n; ++i) {
        EXPECT_GE(u.get(i), -1);
        EXPECT_LT(u.get(i), 3);
        u_sum += u.get(i);
        z_sum += z.get(i);
        z_squares += (z.get(i) - 2) * (z.get(i) - 2);
    }
    // Five standard errors of each estimate.
    EXPECT_NEAR(u_sum / n, 1, 5 * 4 / std::sqrt(12.0 * n));
    EXPECT_NEAR(z_sum / n, 2, 5 * 0.5 / std::sqrt(1.0 * n));
    EXPECT_NEAR(z_squares / n, 0.25, 5 * 0.25 * std::sqrt(2.0 / n));
}

TEST(Random, StreamsAndDrawsDiffer) {
    const auto draw = [](double counter, uint64_t key) {
        return run([=](auto t) { return random_normal(t[0], key, {64}); },
                   {HostTensor::scalar(counter, DType::kU32)});
    };
    EXPECT_EQ(draw(1, 5), draw(1, 5));
    EXPECT_NE(draw(1, 5), draw(2, 5));
    EXPECT_NE(draw(1, 5), draw(1, 6));
    EXPECT_NE(rng_key("a", 0), rng_key("a", 1));
    EXPECT_NE(rng_key("a", 0), rng_key("b", 0));
}

}  // namespace
}  // namespace hearth::test
