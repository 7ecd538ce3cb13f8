// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sorting, scattering, selecting, quantizing and transforming: values worked out by hand, or by a
// plain loop beside the operator.

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace hearth::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

HostTensor f32(const Shape& shape, std::vector<double> values) {
    return HostTensor::of(shape, values);
}
HostTensor typed(DType dtype, const Shape& shape, std::vector<double> values) {
    return HostTensor::of(shape, values, dtype);
}
HostTensor i64(const Shape& shape, std::vector<double> values) {
    return typed(DType::kI64, shape, std::move(values));
}

using Build = std::function<std::vector<Tensor>(Trace&, std::span<const Tensor>)>;

Result<std::vector<HostTensor>> try_run(const Build& build, const std::vector<HostTensor>& inputs) {
    Trace trace("data");
    std::vector<Tensor> traced;
    for (const HostTensor& t : inputs)
        traced.push_back(trace.input("x" + std::to_string(traced.size()), t.shape(), t.dtype()));
    const std::vector<Tensor> outputs = build(trace, traced);
    for (size_t i = 0; i < outputs.size(); ++i) trace.output("y" + std::to_string(i), outputs[i]);
    HEARTH_ASSIGN(const Graph graph, trace.build());
    return evaluate(graph, inputs);
}

void expect(const Build& build, const std::vector<HostTensor>& inputs,
            const std::vector<HostTensor>& expected, double tolerance = 1e-6) {
    const auto found = try_run(build, inputs);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(difference((*found)[i], expected[i], tolerance), "") << "output " << i;
}

void expect_error(const Build& build, const std::vector<HostTensor>& inputs,
                  const std::string& text) {
    const auto found = try_run(build, inputs);
    ASSERT_FALSE(found.ok());
    EXPECT_NE(found.status().message().find(text), std::string::npos) << found.status().message();
}

HostTensor random_tensor(const Shape& shape, double low, double high, DType dtype, uint64_t key) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) {
        const double u = uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i)));
        const double value = low + (high - low) * u;
        t.set(i, is_floating(dtype) ? value : std::floor(value));
    }
    return t;
}

TEST(Sort, PutsNanLastAndKeepsEqualElementsInOrder) {
    const HostTensor x = f32({6}, {2, kNan, -kInf, 2, kInf, -1});
    expect(
        [](Trace&, auto in) -> std::vector<Tensor> {
            return {argsort(in[0]), sort(in[0])};
        },
        {x}, {i64({6}, {2, 5, 0, 3, 4, 1}), f32({6}, {-kInf, -1, 2, 2, kInf, kNan})});
}

TEST(Sort, DescendingPutsNanFirstAndStillKeepsEqualElementsInOrder) {
    const HostTensor x = f32({6}, {2, kNan, -kInf, 2, kInf, -1});
    expect([](Trace&, auto in) -> std::vector<Tensor> { return {argsort(in[0], 0, true)}; }, {x},
           {i64({6}, {1, 4, 0, 3, 5, 2})});
}

TEST(TopK, OfColumnsGivesTheFirstOfEquals) {
    expect(
        [](Trace&, auto in) -> std::vector<Tensor> {
            const TopK top = topk(in[0], 2, 0);
            return {top.values, top.indices};
        },
        {f32({3, 2}, {1, 5, 3, 5, 3, 4})}, {f32({2, 2}, {3, 5, 3, 5}), i64({2, 2}, {1, 0, 2, 1})});
}

TEST(TopK, OfMoreThanThereAreIsRefused) {
    expect_error([](Trace&, auto in) -> std::vector<Tensor> { return {topk(in[0], 4).values}; },
                 {f32({3}, {1, 2, 3})}, "top_k: 4 of 3 elements");
}

TEST(SearchSorted, CountsSmallerAndNoLargerElements) {
    expect(
        [](Trace&, auto in) -> std::vector<Tensor> {
            return {searchsorted(in[0], in[1]), searchsorted(in[0], in[1], true)};
        },
        {f32({5}, {1, 2, 2, 2, 9}), f32({4}, {0, 2, 9, 10})},
        {i64({4}, {0, 1, 4, 5}), i64({4}, {0, 4, 5, 5})});
}

TEST(CumSum, HasAllFourForms) {
    expect(
        [](Trace&, auto in) -> std::vector<Tensor> {
            return {cumsum(in[0], 0), cumsum(in[0], 0, true), cumsum(in[0], 0, false, true),
                    cumsum(in[0], 0, true, true)};
        },
        {f32({3}, {1, 2, 4})},
        {f32({3}, {1, 3, 7}), f32({3}, {0, 1, 3}), f32({3}, {7, 6, 4}), f32({3}, {6, 4, 0})});
}

TEST(CumProd, GradientHoldsWhereFactorsAreZero) {
    for (const std::vector<double>& x :
         {std::vector<double>{2, 0, 3, -1}, {0, 2, 0, 3}, {1, 2, 3, 0}, {0, 0, 0, 0}}) {
        for (const bool exclusive : {false, true}) {
            const TracedFunction product = [&](Trace&, std::span<const Tensor> in) {
                return std::vector<Tensor>{cumprod(in[0], 0, exclusive)};
            };
            const std::vector<TensorType> types{{DType::kF32, {4}}};
            const Status status =
                gradcheck(product, types, std::vector<HostTensor>{f32({4}, x)}, {});
            EXPECT_TRUE(status.ok()) << status.message();
        }
    }
}

// What scatter_elements promises, one update after the other.
HostTensor scattered(HostTensor data, const HostTensor& indices, const HostTensor& updates,
                     const std::string& reduction) {
    for (int64_t i = 0; i < indices.element_count(); ++i) {
        int64_t at = indices.get_int(i);
        const int64_t count = data.element_count();
        if (at < 0) at += count;
        if (at < 0 || at >= count) continue;
        const double old = data.get(at), update = updates.get(i);
        data.set(at, reduction == "add"   ? old + update
                     : reduction == "mul" ? old * update
                     : reduction == "max" ? std::max(old, update)
                     : reduction == "min" ? std::min(old, update)
                                          : update);
    }
    return data;
}

TEST(ScatterElements, WithManyUpdatesEqualsALoopOverThem) {
    const HostTensor data = random_tensor({3000}, -2, 2, DType::kF32, 1);
    const HostTensor indices = random_tensor({2000}, -3100, 3100, DType::kI64, 2);
    const HostTensor updates = random_tensor({2000}, -2, 2, DType::kF32, 3);
    for (const std::string reduction : {"none", "add", "mul", "max", "min"}) {
        SCOPED_TRACE(reduction);
        expect(
            [&](Trace&, auto in) -> std::vector<Tensor> {
                return {scatter_elements(in[0], in[1], in[2], 0, reduction)};
            },
            {data, indices, updates}, {scattered(data, indices, updates, reduction)});
    }
}

TEST(ScatterElements, RefusesAReductionThatItDoesNotKnow) {
    expect_error(
        [](Trace&, auto in) -> std::vector<Tensor> {
            return {scatter_elements(in[0], in[1], in[2], 0, "mean")};
        },
        {f32({2}, {1, 2}), i64({1}, {0}), f32({1}, {3})}, "reduction is 'mean'");
}

TEST(ScatterNd, ReplacesSlicesAndLeavesOutWhatIsOutside) {
    expect([](Trace&, auto in) -> std::vector<Tensor> { return {scatter_nd(in[0], in[1], in[2])}; },
           {f32({3, 2}, {1, 2, 3, 4, 5, 6}), i64({3, 1}, {-1, 0, 3}),
            f32({3, 2}, {10, 20, 30, 40, 50, 60})},
           {f32({3, 2}, {30, 40, 3, 4, 10, 20})});
}

TEST(NonZero, CountsBeyondItsCapacity) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const NonZero small = nonzero(in[0], 2), large = nonzero(in[0], 4);
        return {small.indices, large.indices, large.count};
    };
    expect(build, {f32({2, 3}, {0, 1, 0, kNan, 0, -2})},
           {i64({2, 2}, {0, 1, 1, 0}), i64({2, 4}, {0, 1, 1, -1, 1, 0, 2, -1}), i64({}, {3})});
}

TEST(Unique, SortsCountsAndInverts) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const Unique u = unique(in[0], 4);
        return {u.values, u.first_index, u.inverse, u.counts, u.count};
    };
    expect(build, {f32({6}, {2, 1, 1, 3, 4, 3})},
           {f32({4}, {1, 2, 3, 4}), i64({4}, {1, 0, 3, 4}), i64({6}, {1, 0, 0, 2, 3, 2}),
            i64({4}, {2, 1, 2, 1}), i64({}, {4})});
}

TEST(Unique, UnsortedKeepsTheOrderOfFirstPlaces) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const Unique u = unique(in[0], 4, {}, false);
        return {u.values, u.first_index, u.inverse, u.counts};
    };
    expect(build, {f32({6}, {2, 1, 1, 3, 4, 3})},
           {f32({4}, {2, 1, 3, 4}), i64({4}, {0, 1, 3, 4}), i64({6}, {0, 1, 1, 2, 3, 2}),
            i64({4}, {1, 2, 2, 1})});
}

TEST(Unique, TakesNanForEqualAndMarksWhatIsNotUsed) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const Unique u = unique(in[0], 4);
        return {u.first_index, u.counts, u.count};
    };
    expect(build, {f32({4}, {kNan, 1, kNan, 1})},
           {i64({4}, {1, 0, -1, -1}), i64({4}, {2, 2, 0, 0}), i64({}, {2})});
}

TEST(Unique, OfSlicesComparesThemLikeWords) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const Unique u = unique(in[0], 3, 1);
        return {u.values, u.inverse};
    };
    // The columns (1, 2), (0, 9), (1, 2), (1, 1).
    expect(build, {f32({2, 4}, {1, 0, 1, 1, 2, 9, 2, 1})},
           {f32({2, 3}, {0, 1, 1, 9, 1, 2}), i64({4}, {2, 0, 2, 1})});
}

TEST(Nms, DropsBoxesThatOverlapABetterOne) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        return {nms(in[0], in[1], 3, {.overlap_threshold = 0.5, .score_threshold = 0.2})};
    };
    // The second overlaps the first; the fourth scores too little.
    const HostTensor boxes = f32({1, 4, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 3, 4, 2, 2, 9, 9, 8, 8});
    expect(build, {boxes, f32({1, 1, 4}, {0.9, 0.8, 0.95, 0.1})}, {i64({1, 1, 3}, {2, 0, -1})});
}

TEST(Quantize, RoundsHalvesToEvenAndSaturates) {
    const Build build = [](Trace& trace, auto in) -> std::vector<Tensor> {
        return {
            quantize_linear(in[0], trace.constant(2), trace.constant(10, DType::kI8), DType::kI8)};
    };
    expect(build, {f32({6}, {1, 3, -1, 1e9, -kInf, 0})},
           {typed(DType::kI8, {6}, {10, 12, 10, 127, -128, 10})});
}

TEST(Quantize, ByBlocksOfAnExtentThatTheyDoNotDivide) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const Tensor q = quantize_linear(in[0], in[1], {}, DType::kU8, 1, 2);
        return {q, dequantize_linear(q, in[1], {}, 1, 2)};
    };
    expect(build, {f32({1, 3}, {4, 6, 30}), f32({1, 2}, {2, 10})},
           {typed(DType::kU8, {1, 3}, {2, 3, 3}), f32({1, 3}, {4, 6, 30})});
}

TEST(Quantize, DynamicallyCoversZero) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const DynamicQuantized q = dynamic_quantize_linear(in[0]);
        return {q.values, q.scale, q.zero_point};
    };
    expect(build, {f32({2}, {51, 25.5})},
           {typed(DType::kU8, {2}, {255, 128}), f32({}, {0.2}), typed(DType::kU8, {}, {0})});
    expect(build, {f32({2}, {0, 0})},
           {typed(DType::kU8, {2}, {0, 0}), f32({}, {0}), typed(DType::kU8, {}, {0})});
}

TEST(MatmulInteger, IsExactBeyondTheIntegersOfFloats) {
    // 4,096 * 127 * 255 is more than 2^24; one less does not get lost.
    HostTensor a(DType::kI8, Shape{1, 4096}), b(DType::kU8, Shape{4096, 1});
    for (int64_t i = 0; i < 4096; ++i) {
        a.set_int(i, 127);
        b.set_int(i, i == 0 ? 254 : 255);
    }
    expect([](Trace&, auto in) -> std::vector<Tensor> { return {matmul_integer(in[0], in[1])}; },
           {a, b}, {typed(DType::kI32, {1, 1}, {4096.0 * 127 * 255 - 127})}, 0);
}

TEST(Dft, OfFourNumbers) {
    expect([](Trace&, auto in) -> std::vector<Tensor> { return {dft(in[0], 0)}; },
           {f32({4, 1}, {1, 2, 3, 4})}, {f32({4, 2}, {10, 0, -2, 2, -2, 0, -2, -2})}, 1e-5);
}

TEST(Dft, OnesidedInverseUndoesTheForwardTransformOfEvenAndOddLengths) {
    for (const int64_t length : {8, 7}) {
        const HostTensor x = random_tensor({2, length, 1}, -1, 1, DType::kF32, 5);
        const Build build = [&](Trace&, auto in) -> std::vector<Tensor> {
            const Tensor half = dft(in[0], 1, {.onesided = true});
            return {dft(half, 1, {.length = length, .inverse = true, .onesided = true})};
        };
        expect(build, {x}, {x}, 1e-5);
    }
}

TEST(Stft, FramesTheSignal) {
    const Build build = [](Trace& trace, auto in) -> std::vector<Tensor> {
        return {stft(in[0], 2, 1, hann_window(trace, 2, false), false)};
    };
    // A symmetric Hann window of two is zero.
    expect(build, {f32({1, 3, 1}, {1, 2, 3})}, {f32({1, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0})});
}

TEST(Det, ExchangesRowsAndIsZeroForSingularMatrices) {
    expect([](Trace&, auto in) -> std::vector<Tensor> { return {det(in[0])}; },
           {f32({4, 3, 3}, {0, 2, 1, 1, 0, 0, 0, 0, 3,   // one exchange
                            1, 2, 3, 4, 5, 6, 7, 8, 10,  //
                            1, 2, 3, 2, 4, 6, 1, 1, 1,   // dependent rows
                            0, 0, 0, 0, 0, 0, 0, 0, 0})},
           {f32({4}, {-6, -3, 0, 0})}, 1e-5);
}

TEST(Bits, ShiftsByTheWidthAndByNegativeAmounts) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        return {shift_left(in[0], in[1]), shift_right(in[0], in[1])};
    };
    expect(build,
           {typed(DType::kI8, {5}, {-8, 4, -1, 65, 3}), typed(DType::kI8, {5}, {1, 8, -1, 1, 7})},
           {typed(DType::kI8, {5}, {-16, 0, 0, -126, -128}),
            typed(DType::kI8, {5}, {-4, 0, -1, 32, 0})});
}

TEST(Bits, CastOfFloatsAndBack) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        const Tensor bits = bitcast(in[0], DType::kI32);
        return {bits, bitcast(bits, DType::kF32)};
    };
    expect(build, {f32({3}, {1, -2, 0})},
           {typed(DType::kI32, {3}, {0x3f800000, -1073741824.0, 0}), f32({3}, {1, -2, 0})}, 0);
}

TEST(Movement, TilesRollsAndCutsTriangles) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        return {tile(in[0], {2, 1}), roll(in[0], 1, 1), roll(in[0], -4, 1), triu(in[0], 1),
                tril(in[0])};
    };
    expect(build, {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
           {f32({4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}), f32({2, 3}, {3, 1, 2, 6, 4, 5}),
            f32({2, 3}, {2, 3, 1, 5, 6, 4}), f32({2, 3}, {0, 2, 3, 0, 0, 6}),
            f32({2, 3}, {1, 0, 0, 4, 5, 0})});
}

TEST(Movement, FillsWhereAMaskHoldsAndFoldsBools) {
    const Build build = [](Trace&, auto in) -> std::vector<Tensor> {
        return {masked_fill(in[0], in[1], -1), any(in[1], {1}), all(in[1], {0}, true)};
    };
    const auto flags = [](const Shape& shape, std::vector<double> values) {
        return typed(DType::kBool, shape, std::move(values));
    };
    expect(build, {f32({2, 2}, {1, 2, 3, 4}), flags({2, 2}, {0, 1, 0, 1})},
           {f32({2, 2}, {1, -1, 3, -1}), flags({2}, {1, 1}), flags({1, 2}, {0, 1})});
}

TEST(Random, BernoulliAndCategoricalFollowTheirProbabilities) {
    constexpr int64_t kDraws = 20000;
    const Build build = [&](Trace& trace, auto in) -> std::vector<Tensor> {
        const Tensor counter = trace.constant(0, DType::kU32);
        const Tensor heads = bernoulli(counter, 7, expand(trace.constant(0.3), {kDraws}));
        const Tensor classes = categorical(counter, 8, expand(in[0], {kDraws, 3}));
        return {mean(cast(heads, DType::kF32)), mean(one_hot(classes, 3), {0})};
    };
    // 20,000 draws deviate by less than 0.0035, one standard deviation; this allows five.
    expect(build, {f32({3}, {std::log(1.0), std::log(2.0), std::log(5.0)})},
           {f32({}, {0.3}), f32({3}, {0.125, 0.25, 0.625})}, 0.018);
}

TEST(Random, PermutationHoldsEachNumberOnce) {
    const auto found = try_run(
        [](Trace& trace, auto) -> std::vector<Tensor> {
            return {random_permutation(trace.constant(3, DType::kU32), 9, 1000)};
        },
        {});
    ASSERT_TRUE(found.ok()) << found.status().message();
    std::vector<int64_t> numbers;
    int64_t fixed = 0;
    for (int64_t i = 0; i < 1000; ++i) {
        numbers.push_back((*found)[0].get_int(i));
        fixed += numbers.back() == i;
    }
    EXPECT_LT(fixed, 10);  // one on average
    std::sort(numbers.begin(), numbers.end());
    std::vector<int64_t> all(1000);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(numbers, all);
}

}  // namespace
}  // namespace hearth::test
