// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise kernels that take some elements at once compute what the reference does: operands
// that follow each other in memory, are broadcast or lie in another order, of any type, and counts
// that no vector divides.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <map>
#include <string>

namespace hearth::test {
namespace {

constexpr int64_t kRowCount = 1031, kCapacity = 1100;

/// Builds a graph; its inputs are random.
struct MapCase {
    const char* name;
    int width;  ///< elements that a thread takes at once
    void (*build)(Trace& trace);
};

Tensor input(Trace& trace, const char* name, const Shape& shape, DType dtype = DType::kF32) {
    return trace.input(name, shape, dtype);
}

const MapCase kCases[] = {
    {"SameShape", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 8}), y = input(t, "y", {kBatch, 8});
         t.output("sum", tanh(x) + y * 2.0);
         t.output("difference", x - y);
     }},
    {"OddCount", 4,
     [](Trace& t) {
         t.output("y", square(input(t, "x", {kBatch, 5})) + 1.0);
     }},
    {"OddFixedCount", 4, [](Trace& t) { t.output("y", exp(input(t, "x", {4099}))); }},
    {"BiasAlongTheLastAxis", 4,
     [](Trace& t) {
         t.output("y", relu(input(t, "x", {kBatch, 12}) + input(t, "bias", {12})));
     }},
    {"BiasOfAnOddWidth", 4,
     [](Trace& t) {
         t.output("y", relu(input(t, "x", {kBatch, 7}) + input(t, "bias", {7})));
     }},
    {"OneNumberForEachRow", 4,
     [](Trace& t) {
         t.output("y", input(t, "x", {kBatch, 16}) * input(t, "scale", {kBatch, 1}));
     }},
    {"ChannelsOfImages", 4,
     [](Trace& t) {
         t.output("y", input(t, "x", {2, 6, 24, 20}) * input(t, "scale", {6, 1, 1}) +
                           input(t, "bias", {6, 1, 1}));
     }},
    {"HeadsInAnotherOrder", 4,
     [](Trace& t) {
         const Tensor x = reshape(input(t, "x", {3, 16, 96}), {3, 16, 8, 12});
         t.output("y", transpose(x, {0, 2, 1, 3}) * input(t, "scale", {8, 16, 12}));
     }},
    {"Flipped", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {64, 68});
         t.output("y", transpose(reshape(x, {68, 64}), {1, 0}) + flip(x, {0, 1}));
     }},
    {"PartsSideBySide", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 6}), y = input(t, "y", {kBatch, 3});
         t.output("y", concat({x, y}, 1) + input(t, "z", {kBatch, 9}));
     }},
    {"SlicesOffTheGrid", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 21});
         t.output("y", slice(x, 1, 1, 9) * slice(x, 1, 12, 20));
     }},
    {"Halves", 8,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 8}, DType::kF16);
         t.output("y", x * 3.0 + input(t, "bias", {8}, DType::kF16));
     }},
    {"HalvesOfAnOddCount", 8,
     [](Trace& t) {
         t.output("y", input(t, "x", {kBatch, 9}, DType::kF16) * 0.25);
     }},
    {"HalvesAndFloats", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 10}, DType::kF16);
         t.output("y", cast(x, DType::kF32) + input(t, "z", {kBatch, 10}));
         t.output("half", x * 0.5);
     }},
    {"BrainFloats", 8,
     [](Trace& t) {
         t.output("y", input(t, "x", {kBatch, 11}, DType::kBF16) * 1.5);
     }},
    {"Integers", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 6}, DType::kI32);
         const Tensor y = input(t, "y", {kBatch, 6}, DType::kI16);
         t.output("y", x + cast(y, DType::kI32));
         t.output("short", y + y);
         t.output("unsigned", cast(y, DType::kU16));
     }},
    {"Bools", 4,
     [](Trace& t) {
         const Tensor x = input(t, "x", {kBatch, 6}), b = input(t, "b", {kBatch, 6}, DType::kBool);
         t.output("y", where(b, x, -x));
         t.output("is_more", logical_and(greater(x, 0.25), b));
     }},
};

HostTensor random_input(const Shape& shape, DType dtype, uint64_t key) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) {
        const double u = uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i)));
        t.set(i, dtype == DType::kBool
                     ? std::floor(2 * u)
                     : (is_floating(dtype) ? 2 * u - 1 : std::floor(200 * u) - 90));
    }
    if (is_floating(dtype)) {
        t.set(3, INFINITY);
        t.set(t.element_count() - 1, NAN);
    }
    return t;
}

class ElementwiseKernel : public VulkanTest, public testing::WithParamInterface<MapCase> {};

TEST_P(ElementwiseKernel, EqualsTheReference) {
    Trace trace("run");
    GetParam().build(trace);
    Graph graph = trace.build().value();
    NamedTensors inputs;
    for (ValueId v : graph.inputs) {
        const Value& value = graph.value(v);
        inputs.emplace(value.name, random_input(value.shape.resolve(kRowCount), value.dtype,
                                                inputs.size() + 1));
    }
    NamedTensors weights;
    const auto expected = interpret(graph, inputs, weights, kRowCount);
    ASSERT_TRUE(expected.ok()) << expected.status().message();

    CompileOptions options{.caps = device().caps().value(),
                           .max_batch_size = kCapacity,
                           .fuse_mlp = FuseMlp::kNever,
                           .keep_source = true};
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    // Of a device with few threads, so that small tensors will do.
    options.caps.subgroup_size = 8;
    options.caps.device_type = DeviceType::kCpu;
    const auto compiled = compile_graphs({graph}, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const bool has_halves = options.caps.narrow_storage().bits16;
    const std::string loop = "lane < " + std::to_string(has_halves ? GetParam().width : 4) + ";";
    EXPECT_TRUE(std::ranges::any_of(compiled->program.kernels, [&](const Kernel& kernel) {
        return kernel.source.find(loop) != std::string::npos;
    }));
    const auto runner =
        standalone::ProgramRunner::create(device(), save_program(compiled->program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    const auto found = (*runner)->run("run", kRowCount, inputs);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const auto& [name, value] : *expected)
        for (int64_t i = 0; i < value.element_count(); ++i) {
            const double wanted = value.get(i), is = found->at(name).get(i);
            if (std::isnan(wanted))
                ASSERT_TRUE(std::isnan(is)) << name << " " << i;
            else if (std::isinf(wanted))
                ASSERT_EQ(is, wanted) << name << " " << i;
            else  // one rounding apart at most
                ASSERT_NEAR(is, wanted,
                            (value.dtype() == DType::kBF16  ? 0x1p-7
                             : value.dtype() == DType::kF16 ? 0x1p-10
                                                            : 1e-6) *
                                (1 + std::abs(wanted)))
                    << name << " " << i;
        }
}

INSTANTIATE_TEST_SUITE_P(Maps, ElementwiseKernel, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

class FloatsOnADevice : public VulkanTest {
  protected:
    /// Runs the graph with floats for its inputs.
    void run(Trace& trace, const std::map<std::string, std::vector<float>>& inputs,
             NamedTensors& outputs) {
        NamedTensors tensors;
        for (const auto& [name, values] : inputs)
            tensors.emplace(name,
                            HostTensor::of({static_cast<int64_t>(values.size())},
                                           std::vector<double>(values.begin(), values.end())));
        CompileOptions options{.caps = device().caps().value()};
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        const auto compiled = compile_graphs({trace.build().value()}, options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        const auto results = (*runner)->run("run", 1, tensors);
        ASSERT_TRUE(results.ok()) << results.status().message();
        outputs = *results;
    }
};

/// Vulkan lets a quotient be 2.5 units off, and -127.499996 is not rounded to what -127.5 is.
TEST_F(FloatsOnADevice, AreDividedExactly) {
    std::vector<float> a = {0, -0.0f, 0, 1, -1, INFINITY, 1, -1, INFINITY, NAN, 1, FLT_MAX, 5};
    std::vector<float> b = {1, 1, 0, 0, 0, 2, INFINITY, INFINITY, INFINITY, 1, NAN, 1, FLT_MIN};
    // A number in [1, 2) or its negative, times a power of two.
    const auto draw = [](uint32_t i, uint32_t which) {
        const uint32_t bits = philox_bits(3, which, i);
        const int exponent = static_cast<int>(bits >> 24) % 61 - 30;
        const float number = std::bit_cast<float>(0x3f800000u | (bits & 0x7fffffu));
        return std::ldexp((bits & 0x800000u) != 0 ? -number : number, exponent);
    };
    for (uint32_t i = 0; i < 5000; ++i) {
        a.push_back(draw(i, 0));
        b.push_back(draw(i, 1));
    }
    // Quotients halfway between whole numbers.
    for (int i = -255; i < 255; i += 2)
        for (const float scale : {0.019607844f, 0.3f, 1.0f / 3}) {
            a.push_back(static_cast<float>(i) * 0.5f * scale);
            b.push_back(scale);
        }
    const auto count = static_cast<int64_t>(a.size());
    Trace trace("run");
    trace.output("quotient", trace.input("x", {count}) / trace.input("y", {count}));
    NamedTensors found;
    run(trace, {{"x", a}, {"y", b}}, found);
    ASSERT_EQ(found.size(), 1u);
    for (size_t i = 0; i < a.size(); ++i) {
        const auto quotient = static_cast<float>(found.at("quotient").get(static_cast<int64_t>(i)));
        const float expected = a[i] / b[i];
        if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(quotient)) << a[i] << " / " << b[i];
        else
            EXPECT_EQ(std::bit_cast<uint32_t>(quotient), std::bit_cast<uint32_t>(expected))
                << a[i] << " / " << b[i] << " is " << expected << ", found " << quotient;
    }
}

/// A driver may take a choice between a number and another for the larger of both, which loses NaN.
TEST_F(FloatsOnADevice, KeepNanBehindArithmetic) {
    std::vector<float> x(64, NAN), y(64, 2);
    for (size_t i = 0; i < x.size(); i += 2) x[i] = static_cast<float>(i) - 32;
    const auto count = static_cast<int64_t>(x.size());
    Trace trace("run");
    const Tensor a = trace.input("x", {count}), b = trace.input("y", {count});
    const std::pair<const char*, Tensor> results[] = {{"plain", a},
                                                      {"sum", a + b},
                                                      {"difference", b - a},
                                                      {"product", a * b},
                                                      {"sum_of_product", a * b + b},
                                                      {"quotient", a / b}};
    for (const auto& [name, value] : results) {
        trace.output(std::string(name) + "_relu", relu(value));
        trace.output(std::string(name) + "_clamp", clamp(value, -1.0, 6.0));
    }
    NamedTensors found;
    run(trace, {{"x", x}, {"y", y}}, found);
    ASSERT_EQ(found.size(), 2 * std::size(results));
    for (const auto& [name, values] : found)
        for (size_t i = 0; i < x.size(); ++i)
            EXPECT_EQ(std::isnan(values.get(static_cast<int64_t>(i))), i % 2 != 0)
                << name << " of " << x[i];
}

/// 1 + e^x is 1 in f32 where x is below -17.
TEST_F(FloatsOnADevice, KeepSmallValuesOfSoftplus) {
    std::vector<float> x, zero;
    for (int i = -600; i <= 200; ++i) x.push_back(static_cast<float>(i) * 0.1f);
    zero.resize(x.size());
    const auto count = static_cast<int64_t>(x.size());
    Trace trace("run");
    const Tensor a = trace.input("x", {count});
    trace.output("softplus", softplus(a));
    trace.output("mish", mish(a));
    trace.output("logaddexp", logaddexp(a, trace.input("zero", {count})));
    NamedTensors found;
    run(trace, {{"x", x}, {"zero", zero}}, found);
    ASSERT_EQ(found.size(), 3u);
    for (size_t i = 0; i < x.size(); ++i) {
        const double expected = std::log1p(std::exp(static_cast<double>(x[i])));
        const auto at = static_cast<int64_t>(i);
        // e^x itself may be 3 + 2 |x| units off on a GPU.
        EXPECT_NEAR(found.at("softplus").get(at) / expected, 1, 2e-5) << x[i];
        EXPECT_NEAR(found.at("logaddexp").get(at) / expected, 1, 2e-5) << x[i];
        const double mish = x[i] * std::tanh(expected);
        EXPECT_NEAR(found.at("mish").get(at), mish, std::abs(mish) * 2e-5) << x[i];
    }
}

/// Infinite operands, logarithms of zero, and squares that overflow or underflow.
TEST_F(FloatsOnADevice, HaveFiniteGradientsWhereFormulasGiveNan) {
    struct Case {
        const char* name;
        Tensor (*build)(const Tensor& x, const Tensor& y);
        std::vector<float> x, y, value, to_x, to_y;
    };
    const float inf = INFINITY;
    const Case cases[] = {
        {"logaddexp",
         [](const Tensor& x, const Tensor& y) { return logaddexp(x, y); },
         {-inf, inf, -inf, 1},
         {-inf, inf, 2, 1},
         {-inf, inf, 2, 1.69314718f},
         {0.5f, 0.5f, 0, 0.5f},
         {0.5f, 0.5f, 1, 0.5f}},
        {"atan2",
         [](const Tensor& x, const Tensor& y) { return atan2(x, y); },
         {0, 0, 3, 3e-30f, 3e30f},
         {0, -2, 4, 4e-30f, 4e30f},
         {0, 3.14159265f, 0.643501109f, 0.643501109f, 0.643501109f},
         {0, -0.5f, 0.16f, 0.16e30f, 0.16e-30f},
         {0, 0, -0.12f, -0.12e30f, -0.12e-30f}},
        {"binary_cross_entropy",
         [](const Tensor& x, const Tensor& y) {
             return binary_cross_entropy(x, y, Reduction::kNone);
         },
         {0, 0, 1, 1, 0.25f},
         {0, 1, 0, 1, 1},
         {0, 100, 100, 0, 1.38629436f},
         {0, -1e12f, 1e12f, 0, -4},
         {100, 100, -100, -100, 1.09861229f}},
        {"gelu_tanh",
         [](const Tensor& x, const Tensor& y) { return gelu_tanh(x) + y; },
         {-1e30f, 1e30f},
         {0, 0},
         {0, 1e30f},
         {0, 1},
         {1, 1}},
    };
    for (const Case& c : cases) {
        const auto count = static_cast<int64_t>(c.x.size());
        Trace trace("run");
        const Tensor x = trace.input("x", {count}), y = trace.input("y", {count});
        const Tensor value = c.build(x, y);
        const std::vector<Tensor> gradients = grad(sum(value), std::vector<Tensor>{x, y});
        trace.output("value", value);
        trace.output("to_x", gradients[0]);
        trace.output("to_y", gradients[1]);
        NamedTensors found;
        run(trace, {{"x", c.x}, {"y", c.y}}, found);
        ASSERT_EQ(found.size(), 3u);
        for (const auto& [name, expected] :
             {std::pair{"value", &c.value}, {"to_x", &c.to_x}, {"to_y", &c.to_y}})
            for (int64_t i = 0; i < count; ++i) {
                const double right = (*expected)[static_cast<size_t>(i)],
                             got = found.at(name).get(i);
                if (got == right) continue;
                EXPECT_NEAR(got, right, 2e-5 * std::abs(right))
                    << c.name << " " << name << " " << i;
            }
    }
}

/// Otherwise a number would depend on what else its kernel works out.
TEST_F(FloatsOnADevice, RoundProductsBeforeTheyAreAdded) {
    std::vector<float> x, y, z;
    for (int i = 1; i <= 500; ++i) {
        x.push_back(1 + static_cast<float>(i) * 0x1p-23f);
        y.push_back(1 - static_cast<float>(i) * 0x1p-22f);
        z.push_back(-x.back() * y.back());  // a fused sum is what the product lost
    }
    const auto count = static_cast<int64_t>(x.size());
    Trace trace("run");
    const Tensor left = trace.input("x", {count}), right = trace.input("y", {count});
    trace.output("sum", left * right + trace.input("z", {count}));
    NamedTensors found;
    run(trace, {{"x", x}, {"y", y}, {"z", z}}, found);
    ASSERT_EQ(found.size(), 1u);
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(found.at("sum").get(i), 0) << i;
}

/// Division on a GPU may be a unit off; a remainder of it would then be the divisor instead of
/// zero.
TEST_F(FloatsOnADevice, HaveExactRemainders) {
    std::vector<float> a, b;
    const auto add = [&](float x, float y) {
        a.insert(a.end(), {x, -x, x, -x});
        b.insert(b.end(), {y, y, -y, -y});
    };
    for (int i = 1; i <= 60; ++i)
        for (int j = 1; j <= 60; ++j) {
            const auto part = static_cast<float>(j) * 0x1p-7f;
            add(static_cast<float>(i) * part, part);  // 0
            add(static_cast<float>(i) + part, static_cast<float>(j) / 3);
            add(static_cast<float>(i) * 1e10f,
                static_cast<float>(j));  // a quotient that no float holds
        }
    add(5, INFINITY);
    add(INFINITY, 5);
    add(5, 0);
    add(0, 5);
    add(NAN, 5);
    add(FLT_MAX, 3);
    const auto count = static_cast<int64_t>(a.size());
    Trace trace("run");
    const Tensor x = trace.input("x", {count}), y = trace.input("y", {count});
    trace.output("fmod", fmod(x, y));
    trace.output("mod", mod(x, y));
    NamedTensors results;
    run(trace, {{"x", a}, {"y", b}}, results);
    ASSERT_EQ(results.size(), 2u);
    const HostTensor &truncated = results.at("fmod"), &floored = results.at("mod");
    for (int64_t i = 0; i < count; ++i) {
        const float p = a[static_cast<size_t>(i)], q = b[static_cast<size_t>(i)];
        const float rest = std::fmod(p, q);
        const float with_sign_of_q = rest != 0 && (rest < 0) != (q < 0) ? rest + q : rest;
        if (std::isnan(rest)) {
            ASSERT_TRUE(std::isnan(truncated.get(i)) && std::isnan(floored.get(i)))
                << p << " mod " << q;
            continue;
        }
        ASSERT_EQ(truncated.get(i), static_cast<double>(rest)) << p << " mod " << q;
        ASSERT_EQ(floored.get(i), static_cast<double>(with_sign_of_q)) << p << " mod " << q;
    }
}

}  // namespace
}  // namespace hearth::test
