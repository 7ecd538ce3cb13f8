// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth {
namespace {

double largest_magnitude(const HostTensor& t) {
    double largest = 0;
    for (int64_t i = 0; i < t.element_count(); ++i) largest = std::max(largest, std::abs(t.get(i)));
    return largest;
}

TEST(Linear, DeclaresItsParamsOnceUnderItsName) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 5});
    nn::linear(trace, "fc", x, 3);
    const Tensor y = nn::linear(trace, "fc", x, 3);
    EXPECT_EQ(y.shape(), (Shape{kBatch, 3}));
    ASSERT_EQ(trace.params().size(), 2u);
    const Graph& graph = trace.graph();
    EXPECT_EQ(graph.value(graph.find("fc.weight")).shape, (Shape{3, 5}));
    EXPECT_EQ(graph.value(graph.find("fc.bias")).shape, (Shape{3}));
    EXPECT_TRUE(trace.status().ok());
}

TEST(Linear, InitsStayWithinTheirBoundsAndNearlyReachThem) {
    const auto weights = [](nn::WeightInit init) {
        Trace trace("t");
        nn::linear(trace, "fc", trace.input("x", {24}), 48, {.init = init, .seed = 3});
        return initial_weights(trace.graph());
    };
    const auto check = [](const HostTensor& t, double bound) {
        EXPECT_LE(largest_magnitude(t), bound);
        EXPECT_GE(largest_magnitude(t), 0.9 * bound);
    };
    check(weights(nn::WeightInit::kPyTorchDefault).at("fc.weight"), std::sqrt(1.0 / 24));
    check(weights(nn::WeightInit::kPyTorchDefault).at("fc.bias"), std::sqrt(1.0 / 24));
    check(weights(nn::WeightInit::kKaiming).at("fc.weight"), std::sqrt(6.0 / 24));
    check(weights(nn::WeightInit::kXavier).at("fc.weight"), std::sqrt(6.0 / 72));
    EXPECT_EQ(largest_magnitude(weights(nn::WeightInit::kKaiming).at("fc.bias")), 0);
    EXPECT_EQ(largest_magnitude(weights(nn::WeightInit::kZeros).at("fc.weight")), 0);
}

TEST(Linear, NeedsAFixedNumberOfFeatures) {
    Trace trace("t");
    nn::linear(trace, "fc", trace.input("x", {2, kBatch}), 3);
    EXPECT_EQ(trace.status().message(),
              "linear 'fc': from [2, batch] to 3 features: both must be fixed and positive");
}

TEST(Mlp, LearnsExclusiveOr) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {kBatch, 2}), t = trace.input("t", {kBatch, 1});
    const Tensor logits = nn::mlp(trace, "net", x, {8, 1}, tanh, {.seed = 1});
    const Tensor loss = binary_cross_entropy_with_logits(logits, t);
    minimize(loss, trace.params(), AdamOptions{.learning_rate = 0.05});
    trace.output("loss", loss);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const NamedTensors inputs{
        {"x", HostTensor::of({4, 2}, std::vector<double>{0, 0, 0, 1, 1, 0, 1, 1})},
        {"t", HostTensor::of({4, 1}, std::vector<double>{0, 1, 1, 0})}};
    NamedTensors weights;
    double last = 0;
    for (int i = 0; i < 300; ++i) {
        const auto outputs = interpret(*graph, inputs, weights, 4);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        last = outputs->at("loss").get(0);
        if (i == 0) {
            EXPECT_GT(last, 0.5);
        }
    }
    EXPECT_LT(last, 0.05);
}

/// What one output of a trace is for these inputs; the weights are as first declared.
HostTensor run_once(Trace& trace, const Tensor& y, const NamedTensors& inputs = {},
                    int64_t rows = 1) {
    trace.output("y", y);
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    const auto outputs = graph.ok() ? interpret(*graph, inputs, weights, rows)
                                    : Result<NamedTensors>(graph.status());
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? outputs->at("y") : HostTensor();
}

Tensor f64_constant(Trace& trace, const Shape& shape, const std::vector<double>& values) {
    return trace.constant(HostTensor::of(shape, values, DType::kF64));
}

void expect_near(const HostTensor& found, const std::vector<double>& expected, double tolerance) {
    ASSERT_EQ(found.element_count(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found.get(static_cast<int64_t>(i)), expected[i], tolerance) << i;
}

// --- Initializers ---

struct Moments {
    double mean = 0, deviation = 0, largest = 0;
};

Moments moments_of(const Init& init, const Shape& shape) {
    const HostTensor t = init.make("w", DType::kF64, shape);
    const auto n = static_cast<double>(t.element_count());
    Moments m;
    for (int64_t i = 0; i < t.element_count(); ++i) m.mean += t.get(i) / n;
    for (int64_t i = 0; i < t.element_count(); ++i)
        m.deviation += (t.get(i) - m.mean) * (t.get(i) - m.mean) / n;
    m.deviation = std::sqrt(m.deviation);
    m.largest = largest_magnitude(t);
    return m;
}

TEST(Init, FansCountTheKernel) {
    const Shape conv{32, 16, 3, 3};
    EXPECT_EQ(nn::fan_of(conv, nn::Fan::kIn), 16 * 9);
    EXPECT_EQ(nn::fan_of(conv, nn::Fan::kOut), 32 * 9);
    EXPECT_EQ(nn::fan_of({5, 7}, nn::Fan::kIn), 7);
    EXPECT_EQ(nn::fan_of({5}, nn::Fan::kIn), 1);
}

TEST(Init, DeviationsAreThoseOfTheFormulas) {
    const Shape w{64, 32, 3, 3};
    const double in = 32 * 9, out = 64 * 9, root2 = std::sqrt(2.0);
    using nn::Fan;
    const std::pair<Init, double> cases[] = {
        {nn::kaiming_normal(w), root2 / std::sqrt(in)},
        {nn::kaiming_uniform(w), root2 / std::sqrt(in)},
        {nn::kaiming_normal(w, Fan::kOut, 1), 1 / std::sqrt(out)},
        {nn::kaiming_uniform(w, Fan::kOut, 1), 1 / std::sqrt(out)},
        {nn::xavier_normal(w), std::sqrt(2 / (in + out))},
        {nn::xavier_uniform(w, 3), 3 * std::sqrt(2 / (in + out))},
        {nn::weight_init(nn::WeightInit::kKaimingNormal, w), root2 / std::sqrt(in)},
        {nn::weight_init(nn::WeightInit::kXavierNormal, w), std::sqrt(2 / (in + out))},
        {nn::weight_init(nn::WeightInit::kPyTorchDefault, w), 1 / std::sqrt(3 * in)},
        // The deviation of a normal cut off at two deviations.
        {Init::truncated_normal(0, 0.02), 0.02 * 0.8796},
    };
    for (const auto& [init, deviation] : cases) {
        const Moments m = moments_of(init, w);
        EXPECT_NEAR(m.deviation / deviation, 1, 0.02);
        EXPECT_NEAR(m.mean / deviation, 0, 0.03);
    }
}

TEST(Init, TruncatedNormalStaysWithinTwoDeviations) {
    const Moments m = moments_of(Init::truncated_normal(0, 0.5), {10000});
    EXPECT_LE(m.largest, 1);
    EXPECT_GT(m.largest, 0.99);
}

TEST(Init, OrthogonalHasOrthonormalRowsOrColumns) {
    for (const Shape& shape : {Shape{5, 12}, Shape{12, 5}, Shape{6, 2, 2, 3}, Shape{7, 7}}) {
        const HostTensor t = Init::orthogonal(2).make("w", DType::kF64, shape);
        const int64_t rows = shape[0].count, columns = t.element_count() / rows;
        const bool by_rows = rows <= columns;
        const auto vectors = std::min(rows, columns), size = std::max(rows, columns);
        const auto at = [&](int64_t v, int64_t i) {
            return t.get(by_rows ? v * columns + i : i * columns + v);
        };
        for (int64_t a = 0; a < vectors; ++a)
            for (int64_t b = 0; b < vectors; ++b) {
                double product = 0;
                for (int64_t i = 0; i < size; ++i) product += at(a, i) * at(b, i);
                EXPECT_NEAR(product, a == b ? 4 : 0, 1e-12);
            }
    }
}

TEST(Init, DependsOnNameAndSeedAlone) {
    for (const Init& init : {Init::orthogonal(1, 3), Init::truncated_normal(0, 1, 3)}) {
        const HostTensor t = init.make("a", DType::kF32, {4, 4});
        EXPECT_EQ(t, init.make("a", DType::kF32, {4, 4}));
        EXPECT_NE(t, init.make("b", DType::kF32, {4, 4}));
        Init other = init;
        other.seed = 4;
        EXPECT_NE(t, other.make("a", DType::kF32, {4, 4}));
    }
}

// --- Modules and names ---

Tensor block(Trace& trace, std::string_view name, const Tensor& x) {
    const Tensor y = relu(nn::linear(trace, nn::join_name(name, "in"), x, 6));
    return x + nn::linear(trace, nn::join_name(name, "out"), y, x.dim(-1).count);
}

TEST(Sequential, NamesItsModulesByPositionAndNests) {
    const nn::Sequential inner{relu, nn::layer(nn::linear, 3, nn::LinearOptions{.bias = false})};
    const nn::Sequential net{block, sigmoid, inner,
                             [](const Tensor& x) { return leaky_relu(x, 0.2); }};
    Trace trace("t");
    const Tensor y = net(trace, "net", trace.input("x", {kBatch, 4}));
    EXPECT_EQ(y.shape(), (Shape{kBatch, 3}));
    std::vector<std::string> names;
    for (const nn::NamedParameter& p : nn::named_parameters(trace)) names.push_back(p.name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"net.0.in.weight", "net.0.in.bias", "net.0.out.weight",
                                        "net.0.out.bias", "net.2.1.weight"}));
}

TEST(Params, ArePickedByPath) {
    Trace trace("t");
    for (const char* name : {"net.0.weight", "net.0.bias", "net.01.weight", "net.1", "head"})
        trace.param(name, {2});
    EXPECT_EQ(nn::parameters_with_prefix(trace, {"net.0"}).size(), 2u);
    EXPECT_EQ(nn::parameters_with_prefix(trace, {"net"}).size(), 4u);
    EXPECT_EQ(nn::parameters_with_prefix(trace, {"net.1", "head"}).size(), 2u);
    EXPECT_EQ(nn::parameters_except(trace, {"net.0", "net.1"}).size(), 2u);
    EXPECT_EQ(nn::parameters_with_prefix(trace, {"ne"}).size(), 0u);
    EXPECT_EQ(
        nn::filter_parameters(trace, [](std::string_view n) { return n.ends_with("bias"); }).size(),
        1u);
}

TEST(Params, FrozenOnesKeepTheirContentsAndGroupsHaveRatesOfTheirOwn) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {kBatch, 4});
    Tensor y = x;
    for (const char* name : {"a", "b", "c"}) y = nn::linear(trace, name, y, 4);
    const Tensor loss = mean(square(y));
    minimize(loss, nn::parameters_with_prefix(trace, {"b"}), SgdOptions{.learning_rate = 0.5});
    minimize(loss, nn::parameters_with_prefix(trace, {"c"}), AdamOptions{.learning_rate = 0.01});
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights = initial_weights(*graph);
    const NamedTensors before = weights;
    HostTensor ones(DType::kF32, {3, 4});
    for (int64_t i = 0; i < 12; ++i) ones.set(i, 1);
    ASSERT_TRUE(interpret(*graph, {{"x", ones}}, weights, 3).ok());
    EXPECT_EQ(weights.at("a.weight"), before.at("a.weight"));
    EXPECT_NE(weights.at("b.weight"), before.at("b.weight"));
    // Adam's first step has one size in every coordinate.
    for (int64_t i = 0; i < 16; ++i)
        EXPECT_NEAR(std::abs(weights.at("c.weight").get(i) - before.at("c.weight").get(i)), 0.01,
                    1e-4);
}

// --- Layers ---

TEST(Glu, GatesOneHalfByTheOther) {
    Trace trace("t");
    const Tensor x = f64_constant(trace, {2, 4}, {1, 2, 0, 3, -1, 4, 100, -100});
    const double s3 = 1 / (1 + std::exp(-3.0));
    expect_near(run_once(trace, nn::glu(x)), {0.5, 2 * s3, -1, 0}, 1e-12);
    Trace odd("t");
    nn::glu(odd.input("x", {2, 3}));
    EXPECT_EQ(odd.status().message(),
              "glu: axis 1 of [2, 3]; expected an even extent, which splits into two halves");
}

TEST(GatedMlp, IsSwiGlu) {
    Trace trace("t");
    const Tensor x = trace.input("x", {2, 3});
    const Tensor y = nn::gated_mlp(trace, "ff", x, 5, 3);
    const Tensor expected = linear(silu(linear(x, trace.param("ff.gate.weight", {5, 3}))) *
                                       linear(x, trace.param("ff.up.weight", {5, 3})),
                                   trace.param("ff.down.weight", {3, 5}));
    EXPECT_EQ(trace.params().size(), 3u);
    const HostTensor data = Init::normal(0, 1).make("x", DType::kF32, {2, 3});
    const HostTensor difference = run_once(trace, y - expected, {{"x", data}});
    EXPECT_EQ(largest_magnitude(difference), 0);
}

TEST(Embedding, GivesRowsOfItsTableAndTheirGradients) {
    Trace trace("t");
    const Tensor indices = trace.input("i", {kBatch}, DType::kI32);
    const Tensor y = nn::embedding(trace, "words", indices, 5, 3);
    EXPECT_EQ(y.shape(), (Shape{kBatch, 3}));
    const Tensor table = trace.params()[0];
    const HostTensor g =
        run_once(trace, sum(grad(sum(y), table), {1}),
                 {{"i", HostTensor::of({3}, std::vector<double>{4, 1, 4}, DType::kI32)}}, 3);
    expect_near(g, {0, 3, 0, 0, 6}, 0);
}

TEST(Dropout, DropsAboutTheRateAndKeepsTheMean) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {kBatch, 100});
    const Tensor y = nn::dropout(trace, "d", x, 0.3);
    trace.output("y", y);
    trace.output("other", nn::dropout(trace, "e", x, 0.3));
    trace.output("g", grad(sum(y), x));
    trace.output("all", nn::dropout(trace, "f", x, 1));
    trace.output("none", nn::dropout(trace, "g", x, 0.3, {.training = false}));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    HostTensor ones(DType::kF32, {50, 100});
    for (int64_t i = 0; i < 5000; ++i) ones.set(i, 1);
    NamedTensors weights;
    const auto first = interpret(*graph, {{"x", ones}}, weights, 50);
    const auto second = interpret(*graph, {{"x", ones}}, weights, 50);
    ASSERT_TRUE(first.ok() && second.ok());
    int64_t kept = 0;
    for (int64_t i = 0; i < 5000; ++i) {
        const double v = first->at("y").get(i);
        kept += v != 0;
        EXPECT_TRUE(v == 0 || std::abs(v - 1 / 0.7) < 1e-6);
    }
    EXPECT_NEAR(static_cast<double>(kept), 3500, 120);
    EXPECT_EQ(first->at("g"), first->at("y")) << "the gradient has the same mask";
    EXPECT_NE(first->at("y"), second->at("y")) << "each run draws anew";
    EXPECT_NE(first->at("y"), first->at("other")) << "each layer has its own draws";
    EXPECT_EQ(largest_magnitude(first->at("all")), 0);
    EXPECT_EQ(first->at("none"), ones);
    NamedTensors again;
    EXPECT_EQ(interpret(*graph, {{"x", ones}}, again, 50)->at("y"), first->at("y"));
}

TEST(Dropout, RefusesARateThatIsNoProbability) {
    Trace trace("t");
    nn::dropout(trace, "d", trace.input("x", {2}), 1.5);
    EXPECT_EQ(trace.status().message(), "dropout 'd': the rate is 1.500000; it must be in [0, 1]");
}

// --- Adapters ---

TEST(Lora, StartsAsTheWeightAloneAndMergesIntoIt) {
    Trace learn("learn");
    const Tensor x = learn.input("x", {kBatch, 4});
    const nn::LinearOptions adapted{.lora = nn::Lora{.rank = 2, .alpha = 6}};
    const Tensor y = nn::linear(learn, "fc", x, 3, adapted);
    learn.output("y", y);
    const std::vector<Tensor> adapters = nn::lora_params(learn);
    ASSERT_EQ(adapters.size(), 2u);
    minimize(mean(square(y - 1.0)), adapters, SgdOptions{.learning_rate = 0.1});
    Trace plain("plain");
    plain.output("y", nn::linear(plain, "fc", plain.input("x", {kBatch, 4}), 3));
    const auto learn_graph = learn.build(), plain_graph = plain.build();
    ASSERT_TRUE(learn_graph.ok()) << learn_graph.status().message();

    const NamedTensors inputs{{"x", Init::normal(0, 1).make("x", DType::kF32, {5, 4})}};
    NamedTensors weights;
    const auto first = interpret(*learn_graph, inputs, weights, 5);
    EXPECT_EQ(first->at("y"), interpret(*plain_graph, inputs, weights, 5)->at("y"));
    const HostTensor frozen = weights.at("fc.weight");
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(interpret(*learn_graph, inputs, weights, 5).ok());
    EXPECT_EQ(weights.at("fc.weight"), frozen);

    NamedTensors copy = weights;
    const auto last = interpret(*learn_graph, inputs, copy, 5);
    const Status merged = nn::merge_lora(weights, 6);
    ASSERT_TRUE(merged.ok()) << merged.message();
    EXPECT_EQ(weights.count("fc.lora_a") + weights.count("fc.lora_b"), 0u);
    const auto after = interpret(*plain_graph, inputs, weights, 5);
    for (int64_t i = 0; i < 15; ++i) EXPECT_NEAR(after->at("y").get(i), last->at("y").get(i), 1e-5);
    EXPECT_NE(after->at("y"), first->at("y"));
}

TEST(Lora, MergingNamesWhatDoesNotFit) {
    NamedTensors weights{{"fc.lora_a", HostTensor(DType::kF32, {2, 4})}};
    EXPECT_EQ(nn::merge_lora(weights, 1).message(),
              "merge_lora: 'fc' lacks its weight or a half of its adapter");
    weights.emplace("fc.lora_b", HostTensor(DType::kF32, {3, 2}));
    weights.emplace("fc.weight", HostTensor(DType::kF32, {3, 5}));
    EXPECT_EQ(nn::merge_lora(weights, 1).message(),
              "merge_lora: 'fc' has the weight [3, 5] and the adapter [3, 2] times [2, 4]");
}

// --- Encodings ---

TEST(FrequencyEncoding, GivesSineAndCosineOfEachOctave) {
    Trace trace("t");
    const Tensor x = f64_constant(trace, {2, 1}, {0.25, 0.1});
    std::vector<double> expected;
    for (double v : {0.25, 0.1})
        for (int l = 0; l < 3; ++l) {
            expected.push_back(std::sin(std::ldexp(M_PI, l) * v));
            expected.push_back(std::cos(std::ldexp(M_PI, l) * v));
        }
    expect_near(run_once(trace, nn::frequency_encoding(x, 3)), expected, 1e-12);
    Trace rows("t");
    EXPECT_EQ(nn::frequency_encoding(rows.input("x", {kBatch, 3}), 4).shape(), (Shape{kBatch, 24}));
}

TEST(OneBlobEncoding, PeaksInTheBinOfTheCoordinate) {
    Trace trace("t");
    const Tensor x = f64_constant(trace, {2}, {0.625, 0});
    const double one = std::exp(-0.5), two = std::exp(-2.0);
    const double edge = std::exp(-0.125), e1 = std::exp(-1.125), e2 = std::exp(-3.125),
                 e3 = std::exp(-6.125);
    expect_near(run_once(trace, nn::one_blob_encoding(x, 4)), {two, one, 1, one, edge, e1, e2, e3},
                1e-12);
}

// Products of two harmonics average to zero over the sphere, squares to 1 / (4 pi); Gauss-Legendre
// in z and equal steps around it are exact for these polynomials.
TEST(SphericalHarmonics, AreOrthonormal) {
    const double nodes[4] = {-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                             0.8611363115940526};
    const double weights[4] = {0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                               0.3478548451374538};
    constexpr int kSteps = 12;
    std::vector<double> directions, areas;
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < kSteps; ++k) {
            const double angle = 2 * M_PI * k / kSteps, r = std::sqrt(1 - nodes[i] * nodes[i]);
            for (double v : {r * std::cos(angle), r * std::sin(angle), nodes[i]})
                directions.push_back(v);
            areas.push_back(weights[i] * 2 * M_PI / kSteps);
        }
    Trace trace("t");
    const auto count = static_cast<int64_t>(areas.size());
    const HostTensor sh =
        run_once(trace, nn::spherical_harmonics(f64_constant(trace, {count, 3}, directions)));
    ASSERT_EQ(sh.shape(), (Shape{count, 16}));
    for (int a = 0; a < 16; ++a)
        for (int b = 0; b < 16; ++b) {
            double integral = 0;
            for (int64_t i = 0; i < count; ++i)
                integral += areas[static_cast<size_t>(i)] * sh.get(i * 16 + a) * sh.get(i * 16 + b);
            EXPECT_NEAR(integral, a == b ? 1 : 0, 1e-12) << a << ", " << b;
        }
}

TEST(Encodings, NameWhatTheyCannotEncode) {
    const auto error_of = [](const std::function<void(Trace&)>& build) {
        Trace trace("t");
        build(trace);
        return trace.status().message();
    };
    EXPECT_EQ(error_of([](Trace& t) {
                  nn::spherical_harmonics(t.input("x", {5, 2}));
              }),
              "spherical_harmonics: degree 4 of directions [5, 2]; expected 1 to 4, and [..., 3]");
    EXPECT_EQ(error_of([](Trace& t) {
                  nn::hash_grid(t, "g", t.input("x", {kBatch, 4}));
              }),
              "hash_grid: x is f32[batch, 4]; it must be floats with 1 to 3 coordinates along the "
              "last axis");
    EXPECT_NE(error_of([](Trace& t) {
                  nn::hash_grid(t, "g", t.input("x", {kBatch, 2}), {.levels = 40});
              }).find("hash_grid: 40 levels of 2 features and 2^14 entries"),
              std::string::npos);
}

/// The paper's formula for one point, with loops.
std::vector<double> hash_grid_of(const std::vector<double>& x, const HostTensor& table,
                                 const nn::HashGridOptions& options) {
    std::vector<double> features;
    int64_t first = 0;
    const size_t axes = x.size();
    for (int l = 0; l < options.levels; ++l) {
        const auto cells =
            static_cast<int64_t>(std::floor(options.base_resolution * std::pow(options.growth, l)));
        int64_t corners = 1;
        for (size_t k = 0; k < axes; ++k) corners *= cells + 1;
        const int64_t entries = std::min<int64_t>(corners, int64_t{1} << options.log2_entries);
        std::vector<double> sums(static_cast<size_t>(options.features));
        for (uint32_t corner = 0; corner < 1u << axes; ++corner) {
            double weight = 1;
            uint32_t hash = 0;
            int64_t row_by_row = 0, stride = 1;
            const uint32_t primes[3] = {1, 2654435761u, 805459861u};
            for (size_t k = 0; k < axes; ++k) {
                const double at = x[k] * static_cast<double>(cells);
                const auto bit = corner >> k & 1;
                const auto place = static_cast<int64_t>(std::floor(at)) + bit;
                const double within = at - std::floor(at);
                weight *= bit ? within : 1 - within;
                hash ^= static_cast<uint32_t>(place) * primes[k];
                row_by_row += std::min(place, cells) * stride;
                stride *= cells + 1;
            }
            const int64_t entry = corners <= entries ? row_by_row : hash % entries;
            for (size_t f = 0; f < sums.size(); ++f)
                sums[f] += weight *
                           table.get((first + entry) * options.features + static_cast<int64_t>(f));
        }
        features.insert(features.end(), sums.begin(), sums.end());
        first += entries;
    }
    EXPECT_EQ(first, table.shape()[0].count);
    return features;
}

TEST(HashGrid, FollowsThePapersFormulaInOneTwoAndThreeDimensions) {
    const nn::HashGridOptions options{.levels = 5,
                                      .features = 3,
                                      .log2_entries = 8,
                                      .base_resolution = 4,
                                      .growth = 1.7,
                                      .init_range = 1};
    for (int64_t axes = 1; axes <= 3; ++axes) {
        std::vector<double> points;
        for (int64_t i = 0; i < 4 * axes; ++i)
            points.push_back(0.5 + 0.49 * std::sin(static_cast<double>(7 * i)));
        points[0] = 1;  // on the border
        Trace trace("t");
        const Tensor y = nn::hash_grid(trace, "g", f64_constant(trace, {4, axes}, points), options);
        const HostTensor table = initial_weights(trace.graph()).at("g.table");
        const HostTensor found = run_once(trace, y);
        ASSERT_EQ(found.shape(), (Shape{4, 15}));
        for (int64_t p = 0; p < 4; ++p) {
            const std::vector<double> expected = hash_grid_of(
                {points.begin() + p * axes, points.begin() + (p + 1) * axes}, table, options);
            for (int64_t f = 0; f < 15; ++f)
                EXPECT_NEAR(found.get(p * 15 + f), expected[static_cast<size_t>(f)], 1e-12);
        }
    }
}

TEST(HashGrid, PassesGradientsToTheTableAndToTheCoordinates) {
    const TracedFunction f = [](Trace& trace, std::span<const Tensor> inputs) {
        const Tensor y =
            nn::hash_grid(trace, "g", inputs[0],
                          {.levels = 3, .log2_entries = 5, .base_resolution = 3, .init_range = 1});
        // The table's gradient, as a function of x, is checked along with the features.
        const Tensor table = trace.params()[0];
        return std::vector<Tensor>{y, grad(sum(square(y)), table)};
    };
    const TensorType type{DType::kF64, {4, 2}};
    HostTensor x(DType::kF64, {4, 2});
    for (int64_t i = 0; i < 8; ++i) x.set(i, 0.5 + 0.41 * std::sin(static_cast<double>(3 * i + 1)));
    const Status status = gradcheck(f, std::span(&type, 1), std::span(&x, 1));
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(HashGrid, LearnsAnImageThatAPlainNetOfThatSizeDoesNot) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {kBatch, 2}), t = trace.input("t", {kBatch, 1});
    const Tensor features =
        nn::hash_grid(trace, "grid", x, {.levels = 4, .log2_entries = 8, .base_resolution = 4});
    const Tensor loss = mse_loss(nn::mlp(trace, "net", features, {16, 1}, relu), t);
    minimize(loss, trace.params(), AdamOptions{.learning_rate = 0.02});
    trace.output("loss", loss);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    constexpr int64_t kPoints = 64;
    HostTensor points(DType::kF32, {kPoints, 2}), target(DType::kF32, {kPoints, 1});
    for (int64_t i = 0; i < kPoints; ++i) {
        const double u = 0.0625 + 0.125 * static_cast<double>(i % 8),
                     v = 0.0625 + 0.125 * static_cast<double>(i / 8);
        points.set(2 * i, u);
        points.set(2 * i + 1, v);
        target.set(i, static_cast<double>((i % 8 + i / 8) % 2));  // a chequerboard
    }
    NamedTensors weights;
    double loss_now = 1;
    for (int step = 0; step < 60; ++step)
        loss_now =
            interpret(*graph, {{"x", points}, {"t", target}}, weights, kPoints)->at("loss").get(0);
    EXPECT_LT(loss_now, 0.01);
}

}  // namespace
}  // namespace hearth
