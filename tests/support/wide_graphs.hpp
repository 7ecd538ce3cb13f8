// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs whose results need more than 32 bits, with inputs that show it.

#pragma once

#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace hearth::test {

struct WideGraph {
    std::string name;
    Graph graph;
    NamedTensors inputs;
    bool has_doubles = false;
};

inline HostTensor integers(const Shape& shape, const std::vector<int64_t>& values,
                           DType dtype = DType::kI64) {
    HostTensor tensor(dtype, shape);
    for (size_t i = 0; i < values.size(); ++i) tensor.set_int(static_cast<int64_t>(i), values[i]);
    return tensor;
}

inline HostTensor doubles(const Shape& shape, const std::vector<double>& values) {
    return HostTensor::of(shape, values, DType::kF64);
}

/// What an operator of i64 or f64 makes of numbers that 32 bits do not hold; each output in full.
inline std::vector<WideGraph> wide_graphs() {
    constexpr int64_t kBig = 3'000'000'000, kBigger = int64_t{1} << 53;
    const HostTensor x = integers({2, 3}, {kBig, -kBig, 7, kBigger + 1, -kBigger - 1, -9});
    const HostTensor y = integers({2, 3}, {kBig + 1, 11, -3, 3, 5, -kBigger});
    const HostTensor a = doubles({2, 3}, {86400.125, 1e300, -1.0000000001, 0.1, 1e-300, 123456.7});
    const HostTensor b = doubles({2, 3}, {2.5, 1e-300, 3, 0.2, 1e300, -7});
    std::vector<WideGraph> graphs;
    using Make = std::function<Tensor(Trace&, Tensor, Tensor)>;
    const auto add = [&](const std::string& name, const HostTensor& first, const HostTensor& second,
                         const Make& make) {
        Trace trace(name);
        const Tensor p = trace.input(name + ".x", first.shape(), first.dtype());
        const Tensor q = trace.input(name + ".y", second.shape(), second.dtype());
        trace.output(name + ".out", make(trace, p, q));
        auto graph = trace.build();
        EXPECT_TRUE(graph.ok()) << name << ": " << graph.status().message();
        if (!graph.ok()) return;
        const bool has_doubles = first.dtype() == DType::kF64 || second.dtype() == DType::kF64 ||
                                 graph->value(graph->outputs[0].value).dtype == DType::kF64;
        graphs.push_back({name,
                          std::move(graph).value(),
                          {{name + ".x", first}, {name + ".y", second}},
                          has_doubles});
    };
    const auto binary = [&](const std::string& name, Tensor (*op)(const Tensor&, const Tensor&)) {
        add(name + "_i64", x, y, [op](Trace&, Tensor p, Tensor q) { return op(p, q); });
        add(name + "_f64", a, b, [op](Trace&, Tensor p, Tensor q) { return op(p, q); });
    };
    binary("add", hearth::add);
    binary("sub", hearth::sub);
    binary("mul", hearth::mul);
    binary("div", hearth::div);
    binary("minimum", hearth::minimum);
    binary("maximum", hearth::maximum);
    binary("less", hearth::less);
    binary("equal", hearth::equal);
    binary("fmod", hearth::fmod);
    binary("mod", hearth::mod);
    const auto unary = [&](const std::string& name, const HostTensor& of,
                           const std::function<Tensor(Tensor)>& op) {
        add(name, of, y, [op](Trace&, Tensor p, Tensor) { return op(p); });
    };
    unary("neg_i64", x, [](Tensor p) { return neg(p); });
    unary("abs_i64", x, [](Tensor p) { return abs(p); });
    unary("sign_i64", x, [](Tensor p) { return sign(p); });
    unary("not_i64", x, [](Tensor p) { return bitwise_not(p); });
    unary("square_i64", integers({3}, {kBig, -kBig, 9}), [](Tensor p) { return p * p; });
    unary("clamp_i64", x, [](Tensor p) { return clamp(p, -4e9, 4e9); });
    unary("sum_i64", x, [](Tensor p) { return sum(p, {1}); });
    unary("sum_of_columns_i64", x, [](Tensor p) { return sum(p, {0}); });
    unary("prod_i64", integers({1, 3}, {kBig, 7, -100}), [](Tensor p) { return prod(p, {1}); });
    unary("max_i64", x, [](Tensor p) { return max(p, {1}); });
    unary("min_i64", x, [](Tensor p) { return min(p, {0}); });
    unary("cumsum_i64", x, [](Tensor p) { return cumsum(p, 1); });
    unary("argmax_i64", x, [](Tensor p) { return argmax(p, 1); });
    unary("sorted_i64", x, [](Tensor p) { return sort(p, 1); });
    unary("to_f32", x, [](Tensor p) { return cast(p, DType::kF32); });
    unary("to_f64", x, [](Tensor p) { return cast(p, DType::kF64); });
    unary("to_i32", x, [](Tensor p) { return cast(p, DType::kI32); });
    unary("to_u64", x, [](Tensor p) { return cast(p, DType::kU64); });
    unary("to_bool", integers({3}, {int64_t{1} << 32, 0, -1}),
          [](Tensor p) { return cast(p, DType::kBool); });
    unary("f32_to_i64", HostTensor::of({4}, std::vector<double>{1e10, -1e10, 1e30, 2.5}),
          [](Tensor p) { return cast(p, DType::kI64); });
    unary("f64_to_i64", doubles({4}, {1e10, -1e10, 1e30, 0x1p53 - 1}),
          [](Tensor p) { return cast(p, DType::kI64); });
    unary("f64_to_f32", a, [](Tensor p) { return cast(p, DType::kF32); });
    unary("sum_f64", a, [](Tensor p) { return sum(p, {0}); });
    unary("cumsum_f64", b, [](Tensor p) { return cumsum(p, 1); });
    unary("max_f64", a, [](Tensor p) { return max(p, {1}); });
    unary("sorted_f64", a, [](Tensor p) { return sort(p, 1); });
    unary("exp_f64", b, [](Tensor p) { return exp(clamp(p, -5, 5)); });
    unary("sqrt_f64", b, [](Tensor p) { return sqrt(abs(p)); });
    unary("floor_f64", a, [](Tensor p) { return floor(p); });
    // A day and an eighth of a second: an f32 of the phase is off by half a degree.
    unary("phase", doubles({2}, {86400.125, 1000000.25}),
          [](Tensor t) { return sin(t * (2 * 3.14159265358979323846)); });
    unary("shift_i64", x, [](Tensor p) {
        return shift_right(shift_left(p, p.trace()->constant(20, DType::kI64)),
                           p.trace()->constant(33, DType::kI64));
    });
    const HostTensor table = HostTensor::of({11, 2}, std::vector<double>(22, 0));
    HostTensor rows = table;
    for (int64_t i = 0; i < rows.element_count(); ++i) rows.set(i, static_cast<double>(i));
    // A spatial hash: the products exceed 32 bits, and so must the remainder's operand.
    add("spatial_hash", integers({4, 1}, {123456, 7, 99999, -5}), integers({1, 2}, {77777, 3}),
        [&](Trace& trace, Tensor p, Tensor q) {
            const Tensor key = bitwise_xor(p * 73856093.0, q * 19349663.0);
            return take(trace.constant(rows), mod(key, trace.constant(11, DType::kI64)), 0);
        });
    add("matmul_i64", integers({2, 2}, {kBig, 2, 3, kBig}), integers({2, 2}, {5, 6, 7, kBig}),
        [](Trace&, Tensor p, Tensor q) { return matmul(p, q); });
    add("matmul_f64", doubles({2, 2}, {1, 1e-12, 3, 4}), doubles({2, 2}, {1, 1, 1, -1}),
        [](Trace&, Tensor p, Tensor q) { return matmul(p, q); });
    add("range_i64", integers({1}, {kBig}), y, [](Trace& trace, Tensor p, Tensor) {
        return arange(trace, {5}, DType::kI64) * 1000000000.0 + p;
    });
    add("where_i64", x, y, [](Trace&, Tensor p, Tensor q) { return where(greater(p, q), p, q); });
    add("wide_constant", x, y, [](Trace& trace, Tensor p, Tensor) {
        return p + trace.constant(integers({}, {(int64_t{1} << 53) + 1}));
    });
    return graphs;
}

}  // namespace hearth::test
