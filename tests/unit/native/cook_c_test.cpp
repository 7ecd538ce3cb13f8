// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks as C: built by the system's compilers, they give what the interpreter gives.

#include "compiler/driver/compile.hpp"
#include "compiler/driver/cook_wgsl.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/passes/quantize_weights.hpp"
#include "native/native_net.hpp"
#include "ops/custom_kernel_ops.hpp"
#include "support/digits.hpp"
#include "unit/agents/learner_rig.hpp"

#include <hearth/brain.hpp>
#include <hearth/grad.hpp>
#include <hearth/io.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/op/op_def.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>
#include <hearth/wgsl.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace hearth::test {
namespace {

using native::NativeNet;

HostTensor numbers(const Shape& shape, uint64_t seed) {
    HostTensor tensor(DType::kF32, shape);
    uint64_t state = seed * 2654435761u + 1;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        tensor.set(i, static_cast<double>(state >> 40) / static_cast<double>(1 << 23) - 1);
    }
    return tensor;
}

/// A policy that learns: entries "act" and "learn".
std::vector<Graph> policy(std::vector<int64_t> widths = {40, 16, 3}, double rate = 1e-2) {
    Trace act("act"), learn("learn");
    const auto net = [&](Trace& trace, const Tensor& x) {
        return nn::mlp(trace, "net", x, widths, tanh, {.seed = 1});
    };
    act.output("y", net(act, act.input("x", {kBatch, 5})));
    const Tensor x = learn.input("x", {kBatch, 5});
    const Tensor loss = mse_loss(net(learn, x), learn.input("t", {kBatch, widths.back()}));
    AdamOptions adam;
    adam.learning_rate = rate;
    minimize(loss, learn.params(), adam);
    learn.output("loss", loss);
    Trace* const traces[] = {&act, &learn};
    auto graphs = finish_all(traces);
    EXPECT_TRUE(graphs.ok()) << graphs.status().message();
    return std::move(graphs).value();
}

native::BuildOptions build_options(const std::string& compiler = "",
                                   const std::string& optimization = "-O2") {
    return {.compiler = compiler,
            .flags = optimization + " -Wall -Wextra -Werror",
            .cache_folder = ::testing::TempDir() + "hearth_native_test"};
}

std::unique_ptr<NativeNet> build(std::vector<Graph> graphs, CompileToCOptions options,
                                 const std::string& compiler = "",
                                 const std::string& optimization = "-O2") {
    if (options.cpu_isa == CpuIsa::kScalar) options.cpu_isa = native::this_cpu();
    auto net = NativeNet::build(std::move(graphs), options, build_options(compiler, optimization));
    EXPECT_TRUE(net.ok()) << net.status().message();
    return net.ok() ? std::move(net).value() : nullptr;
}

void expect_near(const NamedTensors& found, const NamedTensors& expected, double tolerance) {
    for (const auto& [name, tensor] : expected) {
        const auto at = found.find(name);
        ASSERT_NE(at, found.end()) << name;
        ASSERT_EQ(at->second.shape(), tensor.shape()) << name;
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            ASSERT_NEAR(at->second.get(i), tensor.get(i), tolerance * (1 + std::abs(tensor.get(i))))
                << name << "[" << i << "]";
    }
}

NamedTensors sample(int64_t rows, uint64_t seed) {
    return {{"x", numbers({Dim(rows), 5}, seed)}, {"t", numbers({Dim(rows), 3}, seed + 100)}};
}

TEST(CookC, EntriesLearnAndActAsTheInterpreterDoes) {
    const std::vector<Graph> graphs = policy();
    for (const CpuIsa cpu : {CpuIsa::kScalar, native::this_cpu()}) {
        CompileToCOptions options;
        options.max_batch_size = 300;  // several blocks of the products' inner extents and rows
        options.cpu_isa = cpu;
        const auto net = NativeNet::build(graphs, options, build_options());
        ASSERT_TRUE(net.ok()) << net.status().message();
        NamedTensors weights;
        for (const int64_t rows : {1, 7, 300, 64}) {
            const NamedTensors inputs = sample(rows, static_cast<uint64_t>(rows));
            for (const Graph& graph : graphs) {
                const auto expected = interpret(graph, inputs, weights, rows);
                ASSERT_TRUE(expected.ok()) << expected.status().message();
                const auto found = (*net)->run(graph.name, inputs, rows);
                ASSERT_TRUE(found.ok()) << found.status().message();
                expect_near(*found, *expected, 2e-5);
            }
            expect_near((*net)->weights(), weights, 2e-5);
        }
    }
}

TEST(CookC, BitsDependOnNeitherThreadsNorCompiler) {
    std::vector<NamedTensors> results;
    for (const char* compiler : {"gcc", "clang-14"}) {
        if (std::system((std::string(compiler) + " --version > /dev/null 2>&1").c_str()) != 0) {
            std::printf("there is no %s here\n", compiler);
            continue;
        }
        CompileToCOptions options;
        options.max_batch_size = 300;
        const auto net = build(policy(), options, compiler);
        ASSERT_NE(net, nullptr);
        for (const int threads : {1, 2, 4}) {
            ASSERT_TRUE(net->forget().ok());
            for (uint64_t step = 0; step < 3; ++step)
                ASSERT_TRUE(net->run("learn", sample(300, step), 300, threads).ok());
            NamedTensors result = net->weights();
            const auto acts = net->run("act", sample(300, 9), 300, threads);
            ASSERT_TRUE(acts.ok());
            result.insert(acts->begin(), acts->end());
            results.push_back(std::move(result));
        }
    }
    for (const NamedTensors& result : results) EXPECT_EQ(result, results[0]);
}

TEST(CookC, TheDigitsNetGivesPyTorchsLogits) {
    const auto folder = reference_cases::place_of("digits");
    ASSERT_TRUE(folder);
    const auto model = import_onnx_file((*folder / "digits_cnn_script.onnx").string());
    ASSERT_TRUE(model.ok()) << model.status().message();
    const Graph& graph = model->graph();
    CompileToCOptions options;
    options.max_batch_size = 24;
    const auto net = build({graph}, options);
    ASSERT_NE(net, nullptr);
    const auto digits = hearth::testing::read_digits(*folder, true);
    const auto expected = hearth::testing::read_numbers(*folder / "logits_test.csv");
    const std::string input = graph.value(graph.inputs[0]).name;
    for (int64_t first = 0; first < 72; first += 24) {
        const auto logits = net->run(graph.name, {{input, digits.images(first, 24)}}, 24);
        ASSERT_TRUE(logits.ok()) << logits.status().message();
        for (int64_t i = 0; i < 240; ++i)
            ASSERT_NEAR(logits->begin()->second.get(i),
                        expected[static_cast<size_t>(first * 10 + i)], 1e-4)
                << "digit " << first + i / 10;
    }
}

TEST(CookC, AConvolutionalNetLearnsAsTheInterpreterDoes) {
    const auto net_of = [](Trace& trace, bool training) {
        const Tensor x = trace.input("image", {kBatch, 1, 8, 8});
        const nn::ConvLayerOptions conv{.window = {.pad_begin = {1}}, .seed = 1};
        Tensor y = nn::conv2d(trace, "conv1", x, 4, {3}, conv);
        y = relu(nn::batch_norm(trace, "bn", y, {.training = training}));
        y = nn::conv2d(trace, "conv2", max_pool(y, {2}), 6, {3}, conv);
        return nn::linear(trace, "fc", flatten(max_pool(gelu(y), {2}), 1), 10, {.seed = 1});
    };
    Trace read("read"), learn("learn");
    read.output("scores", net_of(read, false));
    const Tensor scores = net_of(learn, true);
    const Tensor loss = cross_entropy(scores, learn.input("digit", {kBatch}, DType::kI32));
    // Not Adam: of a gradient that is zero but for rounding, as a bias before a norm has, it makes
    // a step.
    minimize(loss, learn.params(),
             SgdOptions{.learning_rate = learn.input("rate", {}), .momentum = 0.9});
    learn.output("loss", loss);
    Trace* const traces[] = {&read, &learn};
    const auto graphs = finish_all(traces);
    ASSERT_TRUE(graphs.ok()) << graphs.status().message();
    CompileToCOptions options;
    options.max_batch_size = 12;
    const auto net = build(*graphs, options);
    ASSERT_NE(net, nullptr);
    NamedTensors weights, rate{{"rate", HostTensor(DType::kF32, {})}};
    rate["rate"].set(0, 1e-2);
    for (const int64_t rows : {12, 5, 1, 12}) {
        NamedTensors inputs = rate;
        inputs["image"] = numbers({Dim(rows), 1, 8, 8}, static_cast<uint64_t>(rows));
        inputs["digit"] = HostTensor(DType::kI32, {Dim(rows)});
        for (int64_t i = 0; i < rows; ++i) inputs["digit"].set(i, static_cast<double>(i * 7 % 10));
        for (const size_t entry : {1, 0}) {
            const Graph& graph = (*graphs)[entry];
            const auto expected = interpret(graph, inputs, weights, rows);
            ASSERT_TRUE(expected.ok()) << expected.status().message();
            const auto found = net->run(graph.name, inputs, rows);
            ASSERT_TRUE(found.ok()) << found.status().message();
            expect_near(*found, *expected, 2e-4);
        }
    }
    ASSERT_EQ(weights.size(), 18u);
}

TEST(CookC, WeightsOf8BitsAreThoseOfTheInterpreter) {
    Trace trace("act");
    const Tensor x = trace.input("x", {kBatch, 2, 6, 6});
    const Tensor y =
        relu(nn::conv2d(trace, "conv", x, 5, {3}, {.window = {.pad_begin = {1}}, .seed = 2}));
    trace.output("y", nn::linear(trace, "fc", flatten(y, 1), 7, {.seed = 2}));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    CompileToCOptions options;
    options.max_batch_size = 3;
    options.quantize = {.format = WeightFormat::kInt8, .min_elements = 1};
    const auto net = build({*graph}, options);
    ASSERT_NE(net, nullptr);
    EXPECT_TRUE(net->weights().contains("fc.weight.q8"));
    EXPECT_FALSE(net->weights().contains("fc.weight"));
    std::vector<Graph> rounded{*graph};
    ASSERT_TRUE(quantize_weights(rounded, options.quantize).ok());
    NamedTensors weights;
    const NamedTensors inputs{{"x", numbers({3, 2, 6, 6}, 4)}};
    const auto expected = interpret(rounded[0], inputs, weights, 3);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const auto found = net->run("act", inputs, 3);
    ASSERT_TRUE(found.ok()) << found.status().message();
    expect_near(*found, *expected, 2e-5);
}

// ---------------------------------------------------------------------------------- brains

TEST(CookC, BrainsGoToAndFro) {
    const std::vector<Graph> graphs = policy();
    CompileToCOptions options;
    options.max_batch_size = 32;
    const auto net = build(graphs, options), other = build(graphs, options);
    ASSERT_TRUE(net != nullptr && other != nullptr);
    const auto untouched = net->save_brain();
    ASSERT_TRUE(untouched.ok()) << untouched.status().message();
    const Result<Brain> parent = load_brain(*untouched);
    ASSERT_TRUE(parent.ok()) << parent.status().message();
    EXPECT_EQ(parent->base_hash, hash_of(*parent));
    EXPECT_EQ(parent->graph_hash, hash_of_graphs(graphs));
    for (uint64_t step = 0; step < 4; ++step)
        ASSERT_TRUE(net->run("learn", sample(32, step), 32).ok());
    const auto bytes = net->save_brain();
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<Brain> learned = load_brain(*bytes);
    ASSERT_TRUE(learned.ok()) << learned.status().message();
    for (const auto& tensor : learned->tensors)
        EXPECT_EQ(tensor.value, net->weights().at(tensor.name)) << tensor.name;
    // As the runtime writes them: packed, and as what changed.
    for (const auto& written : {*bytes, *save_brain(*learned), *save_brain(*learned, &*parent)}) {
        ASSERT_TRUE(other->forget().ok());
        const Status status = other->load_brain(written);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(other->weights(), net->weights());
    }
    // Both go on alike.
    ASSERT_TRUE(net->run("learn", sample(32, 5), 32).ok());
    ASSERT_TRUE(other->run("learn", sample(32, 5), 32).ok());
    EXPECT_EQ(other->weights(), net->weights());
}

TEST(CookC, BrainsOfNarrowerFloatsAreWidened) {
    CompileToCOptions options;
    const auto net = build(policy(), options);
    ASSERT_NE(net, nullptr);
    Result<Brain> brain = load_brain(*net->save_brain());
    ASSERT_TRUE(brain.ok());
    for (auto& tensor : brain->tensors)
        if (tensor.value.dtype() == DType::kF32) tensor.value = tensor.value.cast(DType::kF16);
    const Status status = net->load_brain(*save_brain(*brain));
    ASSERT_TRUE(status.ok()) << status.message();
    for (const auto& tensor : brain->tensors)
        EXPECT_EQ(tensor.value.cast(DType::kF32), net->weights().at(tensor.name).cast(DType::kF32))
            << tensor.name;
}

TEST(CookC, BrainsThatDoNotFitAreRefusedAndNamed) {
    CompileToCOptions options;
    const auto net = build(policy(), options), other = build(policy({24, 16, 3}), options);
    ASSERT_TRUE(net != nullptr && other != nullptr);
    const NamedTensors before = net->weights();
    const std::vector<std::byte> brain = *net->save_brain();
    EXPECT_EQ(net->load_brain(*other->save_brain()).message(),
              "'net.0.bias' is f32[40] here, the brain has f32[24]");
    std::vector<std::byte> damaged = brain;
    damaged[300] ^= std::byte{1};
    EXPECT_EQ(net->load_brain(damaged).message(), "the brain's checksum does not match");
    EXPECT_EQ(net->load_brain(std::span(brain).first(brain.size() - 4)).message(),
              "the brain has " + std::to_string(brain.size() - 4) + " bytes, its header says " +
                  std::to_string(brain.size()));
    Result<Brain> changed = load_brain(brain);
    changed->tensors.pop_back();
    EXPECT_EQ(net->load_brain(*save_brain(*changed)).message(),
              "the brain has no '" + load_brain(brain)->tensors.back().name + "'");
    changed = load_brain(brain);
    changed->schema_hash ^= 1;
    EXPECT_NE(net->load_brain(*save_brain(*changed)).message().find("other inputs or outputs"),
              std::string::npos);
    changed = load_brain(brain);
    changed->tensors[0].value.set(0, std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(net->load_brain(*save_brain(*changed, nullptr, NonFinite::kAllow)).message(),
              "'" + changed->tensors[0].name + "': element 0 is NaN or infinite");
    EXPECT_EQ(net->weights(), before);
}

TEST(CookC, BrainsOfVersion01LoadByTheirOldNames) {
    Trace act("act");
    const Tensor std = exp(act.param("actor.log_std", {2}, Init::constant(-0.5)));
    // Two variables whose names are aliases of each other: neither is renamed.
    const Tensor own = act.param("a.memory", {2}, Init::constant(1)) +
                       act.param("a.recurrent_state", {2}, Init::constant(2));
    act.output("action", act.input("observation", {kBatch, 2}) * std + own);
    Trace* const traces[] = {&act};
    auto graphs = finish_all(traces);
    ASSERT_TRUE(graphs.ok()) << graphs.status().message();
    const auto net = build(std::move(graphs).value(), {});
    ASSERT_NE(net, nullptr);
    Result<Brain> initial = load_brain(*net->save_brain());
    ASSERT_TRUE(initial.ok()) << initial.status().message();
    const auto rename = [](Brain& brain) {
        BrainTensor& tensor = *brain.find("actor.log_std");
        ASSERT_EQ(tensor.name, "actor.log_std");
        tensor.name = "actor.log_deviation";
        std::ranges::sort(brain.tensors, {}, &BrainTensor::name);
    };
    Brain learned = *initial;
    learned.find("actor.log_std")->value.set(1, -0.25);
    rename(learned);
    rename(*initial);
    for (const Brain* parent : {static_cast<const Brain*>(nullptr), &std::as_const(*initial)}) {
        ASSERT_TRUE(net->forget().ok());
        const Status status = net->load_brain(*save_brain(learned, parent));
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(net->weights().at("actor.log_std").get(1), -0.25);
        EXPECT_EQ(net->weights().at("a.memory").get(0), 1);
    }
    // Deltas still need the right base, and each tensor a place.
    initial->find("a.memory")->value.set(0, 7);
    EXPECT_NE(net->load_brain(*save_brain(learned, &*initial)).message().find("parent"),
              std::string::npos);
    learned.tensors.push_back({"actor.log_std", false, learned.tensors.back().value});
    EXPECT_EQ(net->load_brain(*save_brain(learned)).message(),
              "the network has no 'actor.log_deviation', which the brain has");
    EXPECT_EQ(build(policy(), {})->cooked().source.find("_aliases[]"), std::string::npos);
}

// ---------------------------------------------------------------------------------- bad calls

TEST(CookC, CallsThatCannotWorkSayWhatWasExpected) {
    CompileToCOptions options;
    options.max_batch_size = 8;
    const auto net = build(policy(), options), other = build(policy({24, 16, 3}), options);
    ASSERT_TRUE(net != nullptr && other != nullptr);
    float x[40] = {}, y[24];
    const auto refusal = [&](const NativeNet::Memory& memory, const float* in, uint32_t rows) {
        const void* const tensors[] = {in, y};
        NativeNet::Error error{};
        const int result = net->find<NativeNet::Call>("act")(&memory, tensors, rows, &error);
        EXPECT_NE(result, 0);
        return std::string(error.text);
    };
    const NativeNet::Memory good = net->memory();
    NativeNet::Memory memory = good;
    memory.arena_bytes = 64;
    EXPECT_EQ(refusal(memory, x, 8).find("the arena has 64 bytes, expected at least "), 0u);
    memory = good;
    memory.weights_bytes -= 1;
    EXPECT_EQ(refusal(memory, x, 8).find("memory for weights has "), 0u);
    memory = good;
    memory.arena = static_cast<std::byte*>(memory.arena) + 4;
    EXPECT_EQ(refusal(memory, x, 8), "weights or arena do not begin at a multiple of 64 bytes");
    EXPECT_EQ(refusal(good, x, 9), "act: there are 9 rows, expected 1 to 8");
    EXPECT_EQ(refusal(good, x, 0), "act: there are 0 rows, expected 1 to 8");
    EXPECT_EQ(refusal(good, nullptr, 8), "act: tensor 'x' is null");
    net->memory().cooked = other->memory().cooked;
    net->memory().cooked_bytes = other->memory().cooked_bytes;
    EXPECT_EQ(net->forget().message().find("cooked weights of graph "), 0u);
    net->memory() = good;
}

TEST(CookC, ScansAndSortsAreThoseOfTheInterpreter) {
    Trace trace("act");
    const Tensor x = trace.input("x", {kBatch, 7}), y = trace.input("y", {2500});
    trace.output("sum", cumsum(x, 1));
    trace.output("before", cumsum(x, 1, true, true));
    trace.output("along rows", cumsum(x, 0));
    trace.output("product", cumprod(x, 1));
    trace.output("order", argsort(x, 1, true));
    trace.output("long order", argsort(y, 0));
    trace.output("values", relu(cumsum(x * 2, 1)) + 1);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    CompileToCOptions options;
    options.max_batch_size = 9;
    const auto net = build({*graph}, options);
    ASSERT_NE(net, nullptr);
    NamedTensors inputs{{"x", numbers({5, 7}, 1)}, {"y", numbers({2500}, 2)}}, weights;
    inputs["x"].set(3, std::numeric_limits<double>::quiet_NaN());
    for (int64_t i = 0; i < 2500; i += 3) inputs["y"].set(i, static_cast<double>(i % 7));
    const auto expected = interpret(*graph, inputs, weights, 5);
    ASSERT_TRUE(expected.ok());
    const auto found = net->run("act", inputs, 5);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const char* exact : {"order", "long order"})
        EXPECT_EQ(found->at(exact), expected->at(exact)) << exact;
    for (const auto& [name, tensor] : *expected)
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            if (!std::isnan(tensor.get(i)))
                ASSERT_NEAR(found->at(name).get(i), tensor.get(i), 1e-4) << name << i;
            else
                ASSERT_TRUE(std::isnan(found->at(name).get(i))) << name << i;
}

// For GPUs a pass cuts long products; a graph that has such products runs on CPUs as well.
TEST(CookC, ProductsInPartsAreThoseOfTheInterpreter) {
    Trace trace("act");
    const auto product = [&](const char* name, const Tensor& a, const Tensor& b, int64_t ta,
                             int64_t tb, int64_t parts) {
        trace.output(name, apply_one(*find_op("matmul_partial"), {a, b},
                                     {{"transpose_a", ta}, {"transpose_b", tb}, {"parts", parts}}));
    };
    product("fixed", trace.input("a", {3, 40}), trace.input("b", {40, 5}), 0, 0, 4);
    product("rows", trace.input("x", {kBatch, 6}), trace.input("y", {kBatch, 7}), 1, 0, 3);
    product("across", trace.input("c", {5, kBatch}), trace.input("d", {9, kBatch}), 0, 1, 8);
    product("empty", trace.input("e", {3, 0}), trace.input("f", {0, 5}), 0, 0, 2);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    CompileToCOptions options;
    options.max_batch_size = 19;
    const auto net = build({*graph}, options);
    ASSERT_NE(net, nullptr);
    for (const int64_t rows : {19, 1, 7}) {
        NamedTensors inputs, weights;
        for (const ValueId id : graph->inputs) {
            const Value& v = graph->value(id);
            inputs.emplace(v.name, numbers(v.shape.resolve(rows), id));
        }
        const auto expected = interpret(*graph, inputs, weights, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto found = net->run("act", inputs, rows);
        ASSERT_TRUE(found.ok()) << found.status().message();
        expect_near(*found, *expected, 1e-5);
    }
}

/// kScalar, this machine's, and what is between.
std::vector<CpuIsa> cpus_here() {
    std::vector<CpuIsa> cpus{CpuIsa::kScalar, native::this_cpu()};
    if (native::this_cpu() == CpuIsa::kX86_64V4) cpus.push_back(CpuIsa::kX86_64V3);
    return cpus;
}

/// The entry "act" of the trace on each of them, with inputs of these rows, beside the interpreter.
void expect_as_interpreted(Trace& trace, const std::vector<int64_t>& rows) {
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    for (const CpuIsa cpu : cpus_here()) {
        SCOPED_TRACE(name_of(cpu));
        CompileToCOptions options;
        options.cpu_isa = cpu;
        options.max_batch_size = static_cast<uint64_t>(rows[0]);
        const auto net = NativeNet::build({*graph}, options, build_options());
        ASSERT_TRUE(net.ok()) << net.status().message();
        for (const int64_t count : rows) {
            NamedTensors inputs, weights;
            for (const ValueId id : graph->inputs) {
                const Value& v = graph->value(id);
                inputs.emplace(v.name, numbers(v.shape.resolve(count), id));
            }
            const auto expected = interpret(*graph, inputs, weights, count);
            ASSERT_TRUE(expected.ok()) << expected.status().message();
            const auto found = (*net)->run("act", inputs, count, 3);
            ASSERT_TRUE(found.ok()) << found.status().message();
            expect_near(*found, *expected, 2e-5);
        }
    }
}

/// An output of that name: what follows from a product of two inputs.
void output_product(Trace& trace, const std::string& name, const Shape& a, const Shape& b,
                    bool transposes_a = false, bool transposes_b = false) {
    const Tensor x = trace.input(name + ".a", a), y = trace.input(name + ".b", b);
    trace.output(name, relu(matmul(x, y, transposes_a, transposes_b) + 1));
}

// Tiles narrower than vector registers and wider than those of more rows, and rows for which
// nothing is packed.
TEST(CookC, ProductsOfFewRowsOrColumnsAreThoseOfTheInterpreter) {
    Trace trace("act");
    output_product(trace, "a column", {26, 40}, {40, 1});
    output_product(trace, "between two widths", {5, 33}, {33, 7});
    output_product(trace, "a row, turned", {1, 37}, {21, 37}, false, true);
    output_product(trace, "three rows, turned", {3, 16}, {64, 16}, false, true);
    output_product(trace, "four rows, turned", {2, 4, 200}, {9, 200}, false, true);
    output_product(trace, "two rows, long", {2, 1100}, {1100, 70});
    output_product(trace, "too short for lanes", {1, 15}, {30, 15}, false, true);
    output_product(trace, "one row, wide", {1, 40}, {40, 300});
    output_product(trace, "rows, up to three", {kBatch, 64}, {50, 64}, false, true);
    expect_as_interpreted(trace, {3, 1});
}

// Columns that are no multiple of a tile's, fewer than it has, several blocks along each extent;
// operands that are packed, or computed, or lie so that they are read in place.
TEST(CookC, ProductsOfAllShapesAreThoseOfTheInterpreter) {
    Trace trace("act");
    output_product(trace, "one row", {1, 70}, {70, 64});
    output_product(trace, "odd columns", {40, 9}, {9, 49});
    output_product(trace, "far apart", {50, 12}, {12, 577});
    output_product(trace, "far apart, odd", {7, 300}, {300, 1031});
    output_product(trace, "few columns", {40, 9}, {9, 5});
    output_product(trace, "long", {33, 700}, {700, 41});
    output_product(trace, "long, wide", {520, 300}, {300, 150});
    output_product(trace, "longer", {33, 2300}, {2300, 41});
    output_product(trace, "turned", {300, 65}, {130, 65}, false, true);
    output_product(trace, "both turned", {20, 30}, {70, 20}, true, true);
    output_product(trace, "rows", {kBatch, 20}, {20, 33});
    output_product(trace, "across", {33, 20}, {20, kBatch});
    output_product(trace, "inside", {kBatch, 20}, {kBatch, 40}, true);
    output_product(trace, "batch", {3, 13, 20}, {3, 20, 50});
    output_product(trace, "shared", {kBatch, 13, 20}, {20, 50});
    const Tensor c = trace.input("c", {40, 30}), d = trace.input("d", {30, 600});
    trace.output("computed", matmul(c * 2, d - 1) + trace.input("e", {40, 600}));
    expect_as_interpreted(trace, {130, 1, 7});
}

TEST(CookC, ConcatenationsAreReadAsByTheInterpreter) {
    Trace trace("act");
    const Tensor parts[] = {trace.input("x3", {1, 3, 9, 10}), trace.input("x8", {1, 8, 9, 10}),
                            trace.input("x5", {1, 5, 9, 10})};
    const Tensor x = concat(parts, 1);
    trace.output("of channels", relu(conv(x, trace.input("w1", {6, 16, 1, 1}))));
    trace.output("of windows", conv(x, trace.input("w3", {6, 16, 3, 3})));
    trace.output("largest", max_pool(x, {3, 2}));
    trace.output("twice", x * 2);
    trace.output("means", mean(exp(x), {2, 3}));
    trace.output(
        "of rows",
        concat({trace.input("r1", {kBatch, 3, 6}), trace.input("r2", {kBatch, 2, 6})}, 1) + 1);
    expect_as_interpreted(trace, {7, 1});
}

TEST(CookC, DepthwiseConvolutionsAreThoseOfTheInterpreter) {
    Trace trace("act");
    const auto depthwise = [&](const char* name, const Shape& x, const Shape& w,
                               ConvOptions options) {
        options.groups = x[1].count;
        const Tensor image = trace.input(std::string(name) + ".x", x);
        const Tensor weight = trace.input(std::string(name) + ".w", w);
        const Tensor bias = trace.input(std::string(name) + ".b", {w[0]});
        trace.output(name, clamp(conv(image, weight, bias, options), -1, 2));
    };
    depthwise("3 x 3", {kBatch, 3, 9, 21}, {3, 1, 3, 3}, {.pad_begin = {1}});
    depthwise("every second", {2, 3, 14, 17}, {3, 1, 3, 3}, {.strides = {2}, .pad_begin = {1}});
    depthwise("uneven", {1, 2, 11, 40}, {2, 1, 2, 5},
              {.strides = {1, 3}, .pad_begin = {0, 2}, .pad_end = {3, 1}});
    depthwise("dilated", {1, 2, 13, 18}, {2, 1, 3, 3},
              {.strides = {3, 2}, .dilations = {2, 3}, .pad_begin = {2}});
    depthwise("cut off", {1, 2, 9, 30}, {2, 1, 3, 3}, {.pad_begin = {-1, -2}, .pad_end = {0, -3}});
    depthwise("wide padding", {1, 2, 3, 4}, {2, 1, 3, 3}, {.pad_begin = {5}});
    depthwise("several for each", {2, 2, 6, 7}, {6, 1, 3, 3}, {.pad_begin = {1}});
    depthwise("one axis", {2, 3, 50}, {3, 1, 4}, {.strides = {2}, .pad_begin = {1}});
    depthwise("blocks of rows", {1, 1, 150, 130}, {1, 1, 3, 3}, {.pad_begin = {1}});
    depthwise("a row too long", {1, 1, 2, 9000}, {1, 1, 2, 3}, {.pad_begin = {1}});
    const Tensor x = trace.input("x", {kBatch, 4, 6, 6}), w = trace.input("w", {4, 1, 3, 3});
    const Tensor y = conv(transpose(x, {0, 1, 3, 2}), w, {}, {.pad_begin = {1}, .groups = 4});
    trace.output("fused", flatten(relu(y) + x, 1) * 2);
    expect_as_interpreted(trace, {5, 1});
}

// Windows on both sides of 2^20 elements, and jobs of every kind: strips along both axes, planes,
// blocks of channels and outputs, groups, images.
TEST(CookC, ConvolutionsAreThoseOfTheInterpreterOnAnyNumberOfThreads) {
    Trace trace("act");
    NamedTensors inputs;
    const auto input = [&](const std::string& name, const Shape& shape) {
        inputs.emplace(name, numbers(shape, inputs.size()));
        return trace.input(name, shape);
    };
    const auto layer = [&](const std::string& name, const Shape& x, const Shape& w,
                           const ConvOptions& options) {
        const Tensor y =
            conv(input(name + ".x", x), input(name + ".w", w), input(name + ".b", {w[0]}), options);
        trace.output(name, relu(y + input(name + ".r", y.shape())));
    };
    layer("34", {1, 96, 34, 34}, {6, 96, 3, 3}, {.pad_begin = {1}});
    layer("35", {1, 96, 35, 35}, {6, 96, 3, 3}, {.pad_begin = {1}});
    layer("a wide image", {1, 9, 6, 1100}, {14, 9, 3, 3}, {.pad_begin = {1}});
    layer("strides", {2, 3, 61, 75}, {20, 3, 7, 7}, {.strides = {2, 3}, .pad_begin = {3}});
    layer("many channels", {1, 300, 11, 12}, {300, 300, 3, 3}, {.pad_begin = {1}});
    layer("groups", {2, 12, 19, 23}, {6, 4, 3, 5}, {.pad_begin = {1, 2}, .groups = 3});
    layer("three axes", {1, 5, 7, 18, 20}, {9, 5, 3, 3, 3}, {.pad_begin = {1}});
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    const auto expected = interpret(*graph, inputs, weights, 1);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    for (const CpuIsa cpu : cpus_here()) {
        SCOPED_TRACE(name_of(cpu));
        CompileToCOptions options;
        options.cpu_isa = cpu;
        const auto net = NativeNet::build({*graph}, options, build_options());
        ASSERT_TRUE(net.ok()) << net.status().message();
        const auto found = (*net)->run("act", inputs, 1, 1),
                   again = (*net)->run("act", inputs, 1, 3);
        ASSERT_TRUE(found.ok() && again.ok());
        expect_near(*found, *expected, 1e-4);  // sums of up to 2,700 products
        expect_near(*again, *found, 0);
    }
}

// Of columns, side by side, and of axes between others; with what is made of them along the column
// again.
TEST(CookC, ReductionsOfAnyLengthAreThoseOfTheInterpreter) {
    Trace trace("act");
    for (const int64_t length : {31, 32, 33, 100, 20000}) {
        const std::string name = std::to_string(length);
        const Tensor x = trace.input("x" + name, {3, length});
        trace.output("softmax" + name, softmax(x, 1));
        trace.output("least" + name, min(x, Axes{1}));
    }
    const Tensor rows = trace.input("rows", {kBatch, 5, 8});
    trace.output("channels", mean(rows * rows, {0, 2}));
    trace.output("all", max(rows, Axes{0, 1, 2}));
    trace.output("planes",
                 mean(trace.input("p", {2, 6, 7, 7}) + trace.input("b", {6, 1, 1}), {2, 3}));
    expect_as_interpreted(trace, {70, 1, 9});
}

// Each invocation of a workgroup would stride through memory, without vectors.
TEST(CookC, NoInvocationsShareALongRow) {
    constexpr int64_t kLength = 1'000'000;
    Trace trace("act");
    const Tensor x = trace.input("x", {kLength});
    trace.output("sum", sum(x));
    trace.output("scaled", x * rsqrt(sum(x * x)));
    auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const std::vector<Graph> graphs = {std::move(*graph)};
    CompileToCOptions options;
    options.name = "sum";
    const auto cooked = cook_c_of(graphs, options);
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    EXPECT_EQ(cooked->source.find("[invocation]"), std::string::npos);

    const auto net = build(graphs, {});
    ASSERT_NE(net, nullptr);
    const HostTensor all = numbers({kLength}, 3);
    double expected = 0;
    for (int64_t i = 0; i < kLength; ++i) expected += all.get(i) + 1;
    HostTensor positive(DType::kF32, {kLength});
    for (int64_t i = 0; i < kLength; ++i) positive.set(i, all.get(i) + 1);
    const auto found = net->run("act", {{"x", positive}}, 1);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_NEAR(found->at("sum").get(0) / expected, 1, 1e-6);
}

TEST(CookC, ReductionsAcrossRowsAreThoseOfTheInterpreter) {
    Trace trace("act");
    const Tensor x = trace.input("x", {kBatch, 130}), y = trace.input("y", {9, kBatch, 5});
    trace.output("sum", sum(x, {0}) * 2);
    trace.output("largest", max(x, Axes{0}));
    const Tensor mean_of = mean(x, {0}, true);
    const Tensor apart = x - mean_of;
    trace.output("normed", apart * rsqrt(mean(apart * apart, {0}, true) + 1));
    trace.output("inside", sum(y, {0}) + 1);
    trace.output("between", sum(trace.input("z", {3, 70, 4}), {1}));
    expect_as_interpreted(trace, {70, 1, 9});
}

// Beside the C library's, in double.
TEST(CookC, TheErrorFunctionIsWithinTwoUnitsInTheLastPlace) {
    constexpr int64_t kCount = 4096;
    Trace trace("act");
    trace.output("y", erf(trace.input("x", {kCount})));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto net = build({*graph}, {});
    ASSERT_NE(net, nullptr);
    HostTensor x(DType::kF32, {kCount});
    for (int64_t i = 0; i < kCount; ++i)
        x.set(i, static_cast<float>(static_cast<double>(i - kCount / 2) * 0.0025 + 1e-4));
    const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-30, -1e-3, 0.921875};
    for (size_t i = 0; i < std::size(special); ++i) x.set(static_cast<int64_t>(i), special[i]);
    const auto found = net->run("act", {{"x", x}});
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (int64_t i = 0; i < kCount; ++i) {
        const double wanted = std::erf(x.get(i)), y = found->at("y").get(i);
        if (std::isnan(wanted)) {
            EXPECT_TRUE(std::isnan(y));
            continue;
        }
        const auto size = static_cast<float>(std::abs(wanted));
        EXPECT_NEAR(y, wanted, 2.0 * (std::nextafter(size, 2.0F) - size)) << "erf of " << x.get(i);
    }
}

// What an agent pays for a decision that it stores must not depend on how many it can remember.
TEST(CookC, RowsOfARingAreWrittenInPlace) {
    constexpr int64_t kCapacity = 5000;
    Trace trace("store");
    const Tensor ring = trace.non_persistent_state("ring", {kCapacity, 3}),
                 x = trace.input("x", {kBatch, 3});
    const Tensor next = trace.state("next", {}, {}, DType::kU32);
    trace.assign(next, ring_buffer_push(ring, next, x * 2));
    const Tensor names = trace.state("names", {kCapacity}, {}, DType::kU8);
    index_copy_(names, trace.input("at", {kBatch}, DType::kI32), cast(sum(x, {1}), DType::kU8));
    const Tensor grid = trace.state("grid", {4, 5, 2});
    trace.assign(grid,
                 scatter_nd(grid, trace.input("places", {3, 2}, DType::kI32),
                            slice(take(ring, trace.input("old", {3}, DType::kI32)), 1, 0, 2)));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    CompileToCOptions options;
    options.max_batch_size = 700;  // more than a job of rows that are known to be distinct
    const auto net = build({*graph}, options);
    ASSERT_NE(net, nullptr);
    const Variable& count = *net->program().find_variable("next");
    for (const Command& step : net->program().commands)
        for (const Operand& o : net->program().operands_of(step)) {
            const bool is_ring = o.region == Region::kWeights && o.offset != count.offset;
            EXPECT_FALSE(is_ring && o.access == Access::kWrite) << "a ring is written whole";
        }
    NamedTensors expected;
    for (const int64_t rows : {700, 1, 5, 699, 700, 700, 700, 700, 700, 700}) {
        NamedTensors inputs{{"x", numbers({Dim(rows), 3}, static_cast<uint64_t>(rows))},
                            {"at", HostTensor(DType::kI32, {Dim(rows)})},
                            {"places", HostTensor(DType::kI32, {3, 2})},
                            {"old", HostTensor(DType::kI32, {3})}};
        // Some outside, some counted from the back, some twice: the last one stays.
        for (int64_t i = 0; i < rows; ++i)
            inputs["at"].set_int(i, i % 9 == 0 ? kCapacity + i : i % 90 - 40);
        for (int64_t i = 0; i < 6; ++i) inputs["places"].set_int(i, (rows + i / 4) % 4 - 1);
        ASSERT_TRUE(interpret(*graph, inputs, expected, rows).ok());
        const auto found = net->run("store", inputs, rows, 2);
        ASSERT_TRUE(found.ok()) << found.status().message();
        for (const auto& [name, tensor] : expected)
            EXPECT_EQ(net->weights().at(name), tensor) << name;
    }
}

TEST(CookWgsl, PlansHaveEachEntryAndWhatWgslLacksIsNamed) {
    Trace act("act"), other("other");
    act.output("y", nn::mlp(act, "net", act.input("x", {kBatch, 5}), {8, 3}, tanh, {.seed = 1}));
    other.output("z", log(sum(other.input("x", {kBatch, 5}), {1})));
    Trace* const traces[] = {&act, &other};
    const auto plan = compile_to_wgsl(traces, 16);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const char* part : {"\"act\": {", "\"other\": {", "\"rows\": 16", "override at_0: u32;",
                             "@workgroup_size(64)", "\"name\": \"x\""})
        EXPECT_NE(plan->find(part), std::string::npos) << part;
    // A page's operands are places in memory: what a native device passes besides would have none.
    EXPECT_EQ(plan->find("\"run\""), std::string::npos);
    EXPECT_EQ(*compile_to_wgsl(traces, 16), *plan);

    Trace bad("act");
    bad.output("y", cast(bad.input("x", {kBatch, 5}), DType::kF16));
    Trace* const bad_traces[] = {&bad};
    const Status refused = compile_to_wgsl(bad_traces, 1).status();
    EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
    EXPECT_NE(refused.message().find("f16"), std::string::npos) << refused.message();
}

TEST(CookC, BoxesAreSuppressedAsByTheInterpreter) {
    for (const bool is_centered : {false, true}) {
        Trace trace("detect");
        const Tensor boxes = trace.input("boxes", {kBatch, 40, 4});
        const Tensor scores = trace.input("scores", {kBatch, 3, 40});
        const NmsOptions options{
            .overlap_threshold = 0.3, .score_threshold = 0.2, .centered = is_centered};
        trace.output("kept", nms(boxes, scores, 50, options));
        const auto graph = trace.build();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        CompileToCOptions cook;
        cook.max_batch_size = 4;
        const auto net = build({*graph}, cook);
        ASSERT_NE(net, nullptr);
        for (const int64_t rows : {1, 4}) {
            const NamedTensors inputs{{"boxes", numbers({rows, 40, 4}, 1)},
                                      {"scores", numbers({rows, 3, 40}, 2)}};
            NamedTensors weights;
            const auto expected = interpret(*graph, inputs, weights, rows);
            ASSERT_TRUE(expected.ok()) << expected.status().message();
            const auto found = net->run("detect", inputs, rows, 2);
            ASSERT_TRUE(found.ok()) << found.status().message();
            EXPECT_EQ(found->at("kept"), expected->at("kept")) << rows << is_centered;
        }
    }
}

/// A graph that computes with each example of docs/how-to/custom_kernels.md, and learns through them.
Graph with_examples() {
    const auto examples = test::kernel_examples();
    Trace trace("learn");
    const Tensor x = trace.input("x", {kBatch, 12}), w = trace.input("w", {12, 16}),
                 b = trace.input("b", {16});
    const Tensor y = apply_one(*examples[0], {x, w, b});
    const Tensor z = apply_one(*examples[1], {w * 2.0});
    const Tensor loss = sum(apply_one(*examples[2], {y})) + sum(apply_one(*examples[2], {z}));
    const Tensor wrt[] = {x, w, b};
    const std::vector<Tensor> gradients = grad(loss, wrt);
    trace.output("y", y);
    trace.output("z", z + 1.0);
    trace.output("loss", loss);
    for (size_t i = 0; i < 3; ++i) trace.output("g" + std::to_string(i), gradients[i]);
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return *graph;
}

TEST(CookC, CustomKernelsRunAndLearnAsTheirDecompositions) {
    const Graph graph = with_examples();
    for (const CpuIsa cpu : {CpuIsa::kScalar, native::this_cpu()}) {
        CompileToCOptions options;
        options.max_batch_size = 9;
        options.cpu_isa = cpu;
        const auto net = NativeNet::build({graph}, options, build_options());
        ASSERT_TRUE(net.ok()) << net.status().message();
        const NamedTensors inputs{
            {"x", numbers({Dim(7), 12}, 1)}, {"w", numbers({12, 16}, 2)}, {"b", numbers({16}, 3)}};
        NamedTensors weights;
        const auto expected = interpret(graph, inputs, weights, 7);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto found = (*net)->run("learn", inputs, 7);
        ASSERT_TRUE(found.ok()) << found.status().message();
        expect_near(*found, *expected, 2e-5);
    }
}

TEST(CookC, CustomKernelsAreListedAndCookedUnderTheirOwnNames) {
    const Graph graph = with_examples();
    const auto cooked = cook_c_of({graph}, {});
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    const auto wgsl = cook_wgsl_of({graph}, 8);
    ASSERT_TRUE(wgsl.ok()) << wgsl.status().message();
    for (const char* name : {"matmul_add_relu", "diffuse", "row_energy"})
        EXPECT_NE(cooked->source.find(name), std::string::npos) << name;
    EXPECT_NE(wgsl->find("workgroupBarrier();"), std::string::npos);
}

constinit const OpDef kShaderAlone = {
    .name = "test_shader_alone",
    .summary = "An operator of a game's own that has neither a decomposition nor a body.",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .infer = [](InferContext& c) { return c.one(c.dtype(0), c.shape(0)); },
    .kernel = [](const KernelRuleContext&) -> std::optional<CustomKernel> {
        return CustomKernel{};
    },
};

TEST(CookC, AnOperatorWithoutAKernelInCIsNamed) {
    Trace trace("act");
    trace.output("y", apply_one(kShaderAlone, {trace.input("x", {6})}));
    const auto cooked = compile_to_c({&trace}, {});
    ASSERT_FALSE(cooked.ok());
    EXPECT_EQ(cooked.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(cooked.status().message().find("test_shader_alone has no kernel in C"),
              std::string::npos)
        << cooked.status().message();
    CompileToCOptions bad_name;
    bad_name.name = "3d net";
    EXPECT_EQ(cook_c_of(policy(), bad_name).status().message(),
              "C cannot have names that begin with '3d net'");
}

TEST(CookC, TheSourceIsFreestandingAndPedantic) {
    CompileToCOptions options;
    options.name = "walker";
    const auto cooked = cook_c_of(policy(), options);
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    const std::filesystem::path folder =
        std::filesystem::path(::testing::TempDir()) / "hearth_freestanding";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "walker.h") << cooked->header;
    std::ofstream(folder / "walker.c") << cooked->source;
    // What it needs from outside: functions of memory and mathematics.
    const std::string command =
        "cd '" + folder.string() +
        "' && cc -std=c11 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -fwrapv "
        "-fno-strict-aliasing -fno-math-errno -ffp-contract=off -fno-stack-protector -fno-pie -c "
        "walker.c -o "
        "walker.o && "
        "! nm -u walker.o | awk '{print $2}' | grep -vxE "
        "'mem(cpy|set)|(nearbyint|tanh|sqrt|pow)f|_GLOBAL_OFFSET_TABLE_' && "
        "! nm walker.o | grep ' [bBdDC] '";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::filesystem::remove_all(folder);
}

// ---------------------------------------------------------------------------------- learners

/// A learner in C beside one on the interpreter: each entry runs on both.
class LearnerInC {
  public:
    LearnerInC(const agents::AgentGraphs& traces, uint64_t rows) : learner_(traces) {
        std::vector<Graph> graphs;
        for (const auto& trace : traces) {
            auto graph = trace->build();
            EXPECT_TRUE(graph.ok()) << graph.status().message();
            if (graph.ok()) graphs.push_back(std::move(graph).value());
        }
        CompileToCOptions options;
        options.max_batch_size = rows;
        net_ = build(graphs, options, "", "-O0");
    }

    void run(const std::string& entry, const NamedTensors& inputs = {}, int64_t rows = 1) {
        ASSERT_NE(net_, nullptr);
        const NamedTensors expected = learner_.run(entry, inputs, rows);
        const auto found = net_->run(entry, inputs, rows);
        ASSERT_TRUE(found.ok()) << found.status().message();
        expect_near(*found, expected, 1e-4);
    }

    void expect_same_weights(const std::vector<std::string>& paths) {
        ASSERT_NE(net_, nullptr);
        NamedTensors expected;
        for (const auto& [name, value] : learner_.weights)
            for (const std::string& path : paths)
                if (name.starts_with(path)) expected.emplace(name, value);
        ASSERT_GT(expected.size(), 8u);
        expect_near(net_->weights(), expected, 1e-4);
    }

  private:
    agents::InterpretedLearner learner_;
    std::unique_ptr<NativeNet> net_;
};

TEST(CookC, APpoLearnerLearnsAsTheInterpreterDoes) {
    agents::Ppo ppo;
    ppo.n_agents = 4;
    ppo.n_steps = 8;
    ppo.n_minibatches = 4;
    ppo.n_epochs = 2;
    const agents::AgentSpec schema(agents::ObservationSpec().box("x", 5),
                                   agents::ActionSpec().discrete("move", 3).continuous("aim", 2));
    const auto traces = agents::build_agent_graphs(schema, agents::mlp_network({8, 8}), ppo);
    LearnerInC both(traces, 4);
    for (uint64_t t = 0; t < 8; ++t) {
        NamedTensors rows{{"id", HostTensor(DType::kU32, {4})}};
        for (int64_t i = 0; i < 4; ++i) rows["id"].set(i, static_cast<double>(i));
        rows["observation"] = numbers({4, 5}, t);
        rows["next_observation"] = numbers({4, 5}, t + 1);
        rows["reward"] = numbers({4}, t + 2);
        rows["done_kind"] = HostTensor(DType::kF32, {4});
        rows["decision"] = numbers({4, 3}, t + 3);
        for (int64_t i = 0; i < 4; ++i) rows["decision"].set(3 * i, static_cast<double>(i % 3));
        rows["log_prob"] = numbers({4}, t + 4);
        both.run("store", rows, 4);
    }
    both.run("compute_advantages");
    for (int i = 0; i < 4; ++i) both.run("learn");
    both.run("publish");
    both.expect_same_weights({"actor", "critic", "published"});
}

TEST(CookC, ASacLearnerLearnsAsTheInterpreterDoes) {
    agents::Sac sac;
    sac.replay = {.n_agents = 2, .buffer_size = 16, .batch_size = 4, .learning_starts = 1};
    const agents::AgentSpec schema(agents::ObservationSpec().box("x", 3),
                                   agents::ActionSpec().continuous("aim", 2));
    const auto traces = agents::build_agent_graphs(schema, agents::mlp_network({8}), sac);
    LearnerInC both(traces, 2);
    for (uint64_t t = 0; t < 6; ++t) {
        NamedTensors rows{{"id", HostTensor::of({2}, std::vector<double>{0, 1}, DType::kU32)}};
        rows["observation"] = numbers({2, 3}, t);
        rows["next_observation"] = numbers({2, 3}, t + 1);
        rows["reward"] = numbers({2}, t + 2);
        rows["done_kind"] = HostTensor(DType::kF32, {2});
        rows["decision"] = numbers({2, 2}, t + 3);
        both.run("store", rows, 2);
    }
    for (int i = 0; i < 3; ++i) both.run("learn");
    both.expect_same_weights({"actor", "critic", "target", "ent_coef"});
}

}  // namespace
}  // namespace hearth::test
