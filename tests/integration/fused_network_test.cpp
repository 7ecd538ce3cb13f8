// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Small networks as fused networks: one dispatch to act, as many results right as without them, for
// odd widths and numbers of rows, several heads and losses written by hand.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "support/build_graphs.hpp"
#include "support/random_cuts.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::test {
namespace {

Tensor regression(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 5}), {8, 64, 3}, relu, {.seed = 1});
    t.output("y", y);
    return mse_loss(y, t.input("target", {kBatch, 3}));
}

Tensor odd_widths(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 33}), {100, 17, 1}, tanh, {.seed = 2});
    t.output("y", y);
    return huber_loss(y, t.input("target", {kBatch, 1}), 0.3);
}

Tensor odd_widths_few(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 33}), {40, 17, 1}, relu, {.seed = 2});
    t.output("y", y);
    return huber_loss(y, t.input("target", {kBatch, 1}), 0.3);
}

Tensor one_wide(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 1}), {1, 1}, gelu, {.seed = 3});
    t.output("y", y);
    return mse_loss(y, t.input("target", {kBatch, 1}));
}

Tensor wide(Trace& t) {
    const Tensor x = t.input("x", {kBatch, 200});
    const Tensor y = nn::mlp(t, "net", x, {256, 130, 2}, silu, {.seed = 4});
    t.output("y", y);
    return mse_loss(y, t.input("target", {kBatch, 2}));
}

Tensor classes(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 6}), {20, 20, 7}, relu, {.seed = 5});
    t.output("probabilities", softmax(y, -1));
    return cross_entropy(y, t.input("labels", {kBatch}, DType::kI32));
}

/// Two networks on one observation, a skip connection, and a loss of the user's own, with a mean
/// over the batch that comes before the layers.
Tensor two_heads(Trace& t) {
    const Tensor x = t.input("x", {kBatch, 6});
    const Tensor actor = nn::mlp(t, "actor", x, {16, 16, 5}, tanh, {.seed = 6});
    const Tensor hidden = nn::mlp(t, "critic", x, {12, 6}, tanh, {.seed = 7});
    const Tensor value = nn::mlp(t, "head", concat({hidden, x + hidden}, 1), {1}, tanh);
    t.output("value", value);
    const Tensor gains = t.input("gains", {kBatch, 1});
    const Tensor centered = gains - mean(gains);
    const Tensor log_p = log_softmax(actor, -1);
    const Tensor chosen =
        gather_elements(log_p, reshape(t.input("actions", {kBatch}, DType::kI32), {kBatch, 1}), -1);
    const Tensor ratio = exp(chosen + 1.5);
    const Tensor surrogate = minimum(ratio * centered, clamp(ratio, 0.8, 1.2) * centered);
    const Tensor entropy = neg(sum(exp(log_p) * log_p, {-1}, true));
    return neg(mean(surrogate + entropy * 0.01)) + mean(square(value - gains)) * 0.5;
}

/// A policy and a value on one observation, advantages brought to mean 0 and deviation 1 within the
/// batch.
Tensor small_policy(Trace& t) {
    const Tensor x = t.input("x", {kBatch, 6}), gains = t.input("gains", {kBatch});
    const Tensor policy = nn::mlp(t, "actor", x, {9, 2}, tanh, {.seed = 8});
    const Tensor value = nn::mlp(t, "critic", x, {12, 1}, tanh, {.seed = 9});
    t.output("value", value);
    const Tensor log_deviation = t.param("log_deviation", {2}, Init::zeros());
    const Tensor centered = gains - mean(gains);
    const Tensor advantage = centered / (sqrt(mean(square(centered))) + 1e-3);
    const Tensor log_p = normal_log_prob(t.input("action", {kBatch, 2}), policy, log_deviation);
    return ppo_clip_loss(log_p, t.input("old", {kBatch}) - 2.0, advantage) +
           mse_loss(reshape(value, {kBatch}), gains) - normal_entropy(log_deviation) * 0.01;
}

/// More weights than lie in shared memory beside what is shared; inputs, targets and outputs in
/// f16.
Tensor deep(Trace& t) {
    const auto input = [&](const char* name) {
        return cast(t.input(name, {kBatch, 64}, DType::kF16), DType::kF32);
    };
    const Tensor y = nn::mlp(t, "net", input("x"), {64, 64, 64}, relu, {.seed = 8});
    t.output("y", cast(y, DType::kF16));
    // Scaled, so that gradients of a mean over many numbers are no subnormal f16.
    return mse_loss(y, input("target")) * 64.0;
}

/// Residual blocks whose gradients read what gelu was given beside what it gave.
Tensor residuals(Trace& t) {
    Tensor x = nn::linear(t, "in", t.input("x", {kBatch, 12}), 32, {.seed = 12});
    for (int i = 0; i < 4; ++i) {
        const std::string name = "block" + std::to_string(i);
        const Tensor hidden = gelu(nn::linear(t, name + ".1", x, 128, {.seed = 13}));
        x = x + nn::linear(t, name + ".2", hidden, 32, {.seed = 14});
    }
    const Tensor y = nn::linear(t, "out", x, 3, {.seed = 15});
    t.output("y", y);
    return mse_loss(y, t.input("target", {kBatch, 3}));
}

/// Two networks on one observation, and a loss of the user's own of both, element by element.
Tensor two_outputs(Trace& t) {
    const Tensor x = t.input("x", {kBatch, 12});
    const Tensor hidden = nn::mlp(t, "body", x, {32, 32}, relu, {.seed = 9});
    const Tensor left = nn::mlp(t, "left", relu(hidden), {16, 4}, relu, {.seed = 10});
    const Tensor right = nn::mlp(t, "right", relu(hidden), {4}, relu, {.seed = 11});
    t.output("left", left);
    t.output("right", right);
    const Tensor target = t.input("target", {kBatch, 4});
    const Tensor error = left * 0.5 + right - target;
    return mean(square(error) + abs(error) * 0.25);
}

/// So many networks with a memory on windows of what is seen, each with a head of its own.
template <int64_t kLength, int64_t kHidden, int kNetworks>
Tensor recurrent(Trace& t) {
    const Dim rows(kLength, true);
    const Tensor x = t.input("x", {kBatch, kLength, 5});
    const Tensor resets = greater(t.input("resets", {kBatch, kLength}), 0.5);
    Tensor loss = t.constant(0);
    for (int i = 0; i < kNetworks; ++i) {
        const std::string name = "net" + std::to_string(i);
        const Tensor seen = tanh(nn::linear(t, name + ".in", reshape(x, {rows, 5}), 9));
        const Tensor h = nn::gru(t, name + ".gru", reshape(seen, {kBatch, kLength, 9}), kHidden,
                                 {.seed = 12,
                                  .h = t.input(name + ".h", {1, kBatch, kHidden}),
                                  .episode_starts = resets})
                             .output;
        const Tensor y = nn::linear(t, name + ".head", reshape(h, {rows, kHidden}), 2);
        t.output(name + ".y", y);
        loss = loss + mse_loss(y, t.input(name + ".target", {rows, 2}));
    }
    return loss;
}

struct NetCase {
    const char* name;
    Tensor (*build)(Trace&);
    uint64_t capacity;
    uint32_t shared_bytes;  ///< 0: what the device has
    int64_t classes;
    Precision precision = Precision::kF32;
    bool is_scaled = false;  ///< learns with a loss scale, and gradients clipped by their norm
    /// The most rows that tests run, if not as many as there may be.  Many of those let subgroups
    /// with matrix cores keep rows in registers.
    int64_t most_rows = 0;

    int64_t rows() const { return most_rows != 0 ? most_rows : static_cast<int64_t>(capacity); }
    bool is_half() const { return precision == Precision::kF16; }
};

void PrintTo(const NetCase& c, std::ostream* out) {
    *out << c.name;
}

constexpr NetCase kCases[] = {
    {"Regression", regression, 21, 0, 0},
    {"RegressionOfManyRows", regression, 1500, 0, 0},
    {"RegressionInLittleMemory", regression, 1100, 8192, 0},
    {"OddWidths", odd_widths, 40, 0, 0},
    {"OneWide", one_wide, 9, 0, 0},
    {"Wide", wide, 20, 0, 0},
    {"Classes", classes, 50, 0, 7},
    {"TwoHeads", two_heads, 70, 16384, 5},
    {"SmallPolicy", small_policy, 70, 0, 0, Precision::kF32, true},
    {"WindowsOfTwo", recurrent<2, 65, 1>, 9, 0, 0},
    {"WindowsOfThree", recurrent<3, 7, 2>, 40, 0, 0},
    {"WindowsOfSixteen", recurrent<16, 16, 2>, 11, 0, 0},
    {"WindowsInTurns", recurrent<16, 24, 2>, 11, 24576, 0},
    {"WindowsOfSeventeen", recurrent<17, 1, 1>, 30, 0, 0},
    {"RegressionInHalf", regression, 21, 0, 0, Precision::kF16},
    {"RegressionOfManyRowsInHalf", regression, 4100, 0, 0, Precision::kF16},
    {"OddWidthsInHalf", odd_widths, 40, 0, 0, Precision::kF16},
    {"OneWideInHalf", one_wide, 9, 0, 0, Precision::kF16},
    {"WideInHalf", wide, 20, 0, 0, Precision::kF16},
    {"ClassesInHalf", classes, 50, 0, 7, Precision::kF16},
    {"TwoHeadsInHalf", two_heads, 70, 16384, 5, Precision::kF16},
    {"SmallPolicyInHalf", small_policy, 70, 0, 0, Precision::kF16, true},
    {"RegressionInRegisters", regression, 20000, 0, 0, Precision::kF16, false, 150},
    {"OddWidthsInRegisters", odd_widths_few, 20000, 0, 0, Precision::kF16, false, 140},
    {"DeepInRegisters", deep, 20000, 0, 0, Precision::kF16, false, 133},
    {"TwoOutputsInRegisters", two_outputs, 20000, 0, 0, Precision::kF16, false, 70},
};

/// Cases whose learning step is longer than what players' drivers compile quickly.
constexpr std::string_view kLongCases[] = {"Wide", "WindowsOfSixteen", "SmallPolicyInHalf"};

DeviceCaps matrix_caps() {
    DeviceCaps caps = baseline_caps();
    caps.max_compute_shared_memory_size = 49152;
    caps.max_compute_work_group_invocations = 1024;
    caps.subgroup_size = 32;
    caps.storage_buffer_16bit_access = caps.shader_float16 = true;
    caps.cooperative_matrix = CooperativeMatrixExt::kNv;
    caps.cooperative_matrix_nv = true;
    return caps;
}

class FusedNetwork : public VulkanTest, public testing::WithParamInterface<NetCase> {
  protected:
    CompiledProgram compile_net(bool fuse) { return compile_net(fuse, device().caps().value()); }

    CompiledProgram compile_net(bool fuse, const DeviceCaps& caps) {
        return compile_net(fuse, caps,
                           test_setting("HEARTH_TEST_BINDING") == "descriptor"
                               ? BindingModel::kDescriptor
                               : BindingModel::kDeviceAddress);
    }

    CompiledProgram compile_net(bool fuse, const DeviceCaps& caps, BindingModel binding_model) {
        Trace act("act"), learn("learn");
        (void)GetParam().build(act);
        const Tensor loss = GetParam().build(learn);
        const std::vector<Tensor> params = learn.params();
        const AdamOptions adam_options{.learning_rate = 1e-2};
        if (GetParam().is_scaled) {
            GradScaler scale(learn, {.init_scale = 16});
            adam(params, clip_by_global_norm(scale.grad(loss, params), 0.5), adam_options);
            (void)scale.update();
        } else {
            minimize(loss, params, adam_options);
        }
        learn.output("loss", loss);
        CompileOptions options;
        options.caps = caps;
        options.keep_source = true;
        options.precision = GetParam().precision;
        if (GetParam().shared_bytes != 0)
            options.caps.max_compute_shared_memory_size =
                std::min(options.caps.max_compute_shared_memory_size, GetParam().shared_bytes);
        options.max_batch_size = GetParam().capacity;
        options.fuse = fuse;
        options.fuse_mlp = FuseMlp::kAlways;
        options.binding_model = binding_model;
        return compile_traces({&act, &learn}, options);
    }

    NamedTensors inputs(const Graph& graph, int step, int64_t rows) {
        NamedTensors result;
        for (ValueId v : graph.inputs) {
            const Value& value = graph.value(v);
            HostTensor tensor(value.dtype, value.shape.resolve(rows));
            for (int64_t i = 0; i < tensor.element_count(); ++i) {
                const auto draw = static_cast<uint32_t>(1000 * step) + v;
                const double u = uniform_from_bits(philox_bits(9, draw, static_cast<uint32_t>(i)));
                tensor.set(i, is_floating(value.dtype)
                                  ? 2 * u - 1
                                  : std::floor(u * static_cast<double>(GetParam().classes)));
            }
            result.emplace(value.name, std::move(tensor));
        }
        return result;
    }

    static void expect_near(const NamedTensors& found, const NamedTensors& expected,
                            double tolerance, const std::string& where) {
        for (const auto& [name, value] : expected) {
            ASSERT_TRUE(found.contains(name)) << where << ": no " << name;
            const HostTensor& is = found.at(name);
            for (int64_t i = 0; i < value.element_count(); ++i)
                ASSERT_NEAR(is.get(i), value.get(i),
                            tolerance * std::max(1.0, std::abs(value.get(i))))
                    << where << ": " << name << "[" << i << "]";
        }
    }

    /// Compares steps of learning on the device with the interpreter's.
    void expect_to_learn(const CompiledProgram& compiled);

    static bool uses_matrix_cores(const Program& program) {
        return std::any_of(program.kernels.begin(), program.kernels.end(), [](const Kernel& k) {
            return k.needs_matrix_cores != CooperativeMatrixExt::kNone;
        });
    }

    static int dispatches(const Program& program, std::string_view entry) {
        const auto steps = program.commands_of(*program.find_entry(entry));
        return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const Command& s) {
            return s.kind == CommandKind::kDispatch;
        }));
    }

    static int barriers(const Program& program, std::string_view entry) {
        const auto steps = program.commands_of(*program.find_entry(entry));
        return static_cast<int>(std::count_if(steps.begin(), steps.end(), [](const Command& s) {
            return s.kind == CommandKind::kBarrier;
        }));
    }
};

TEST_P(FusedNetwork, ActsInOneDispatchAndLearnsWithFewBarriers) {
    if (GetParam().most_rows != 0)
        GTEST_SKIP() << "many rows are a fused network where matrix cores hold them in registers";
    const CompiledProgram compiled = compile_net(true);
    EXPECT_TRUE(compiled.remarks.empty()) << compiled.remarks[0];
    EXPECT_EQ(dispatches(compiled.program, "act"), 1);
    EXPECT_LE(barriers(compiled.program, "learn"), GetParam().is_scaled ? 2 : 1)
        << dump(compiled.program);
}

TEST_P(FusedNetwork, RunsOnMatrixCoresWhereProductsReadHalf) {
    DeviceCaps caps = matrix_caps();
    caps.name = "NVIDIA H200";  // where long kernels are not split
    const CompiledProgram compiled = compile_net(true, caps);
    EXPECT_TRUE(compiled.remarks.empty()) << compiled.remarks[0];
    EXPECT_EQ(dispatches(compiled.program, "act"), 1);
    EXPECT_EQ(uses_matrix_cores(compiled.program), GetParam().is_half());
    if (GetParam().most_rows != 0) {
        EXPECT_EQ(barriers(compiled.program, "learn"), 1) << dump(compiled.program);
        for (const Kernel& kernel : compiled.program.kernels) {
            if (!kernel.name.starts_with("fused_network")) continue;
            EXPECT_NE(kernel.source.find("half_sums halfs"), std::string::npos);
        }
    }
}

TEST_P(FusedNetwork, ComputesOnTheCpuWhatTheInterpreterDoes) {
    const CompiledProgram compiled = compile_net(true);
    ProgramMemory memory(compiled.program);
    const Graph& graph = compiled.graphs[1];
    NamedTensors weights;
    const int64_t most = GetParam().rows();
    for (int64_t rows : {most, int64_t{1}, most / 2}) {
        const NamedTensors in = inputs(graph, static_cast<int>(rows), rows);
        const auto expected = interpret(graph, in, weights, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto found = run_program(compiled.program, "learn", graph, in, memory, rows);
        ASSERT_TRUE(found.ok()) << found.status().message();
        expect_near(*found, *expected, 1e-5, std::to_string(rows) + " rows");
    }
}

TEST_P(FusedNetwork, LearnsOnTheDeviceAsTheInterpreterDoes) {
    expect_to_learn(compile_net(true));
}

void FusedNetwork::expect_to_learn(const CompiledProgram& compiled) {
    auto runner = standalone::ProgramRunner::create(device(), save_program(compiled.program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    NamedTensors weights;
    const int64_t most = GetParam().rows();
    int step = 0;
    for (int64_t rows : {most, int64_t{1}, most / 2 + 1}) {
        const std::string where = std::to_string(rows) + " rows";
        const NamedTensors in = inputs(compiled.graphs[1], ++step, rows);
        const auto expected = interpret(compiled.graphs[1], in, weights, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto found = (*runner)->run("learn", rows, in);
        ASSERT_TRUE(found.ok()) << found.status().message();
        // Sums in another order may round to the f16 beside it.
        expect_near(*found, *expected, GetParam().is_half() ? 1e-2 : 2e-4, where);
    }
    const auto slots = (*runner)->read_variables();
    ASSERT_TRUE(slots.ok());
    // Adam divides by the root of squares: tiny differences of tiny gradients grow, and where one
    // turns its sign in f16, a step of 0.01 goes the other way.
    expect_near(*slots, weights, GetParam().is_half() ? 4e-2 : 3e-3, "weights");
    const NamedTensors in = inputs(compiled.graphs[0], 77, most - 1);
    const auto expected = interpret(compiled.graphs[0], in, weights, most - 1);
    const auto found = (*runner)->run("act", most - 1, in);
    ASSERT_TRUE(expected.ok() && found.ok());
    expect_near(*found, *expected, GetParam().is_half() ? 5e-2 : 2e-2, "act");
}

/// A fused network that is divided because its activations exceed shared memory.
class DividedFusedNetwork : public FusedNetwork {};

TEST_P(DividedFusedNetwork, LearnsAsTheInterpreterDoes) {
    DeviceCaps caps = device().caps().value();
    caps.device_type = DeviceType::kDiscreteGpu;
    caps.name = "NVIDIA H200";  // where long kernels are not split
    const CompiledProgram compiled = compile_net(true, caps);
    ASSERT_FALSE(compiled.remarks.empty());
    EXPECT_NE(compiled.remarks.back().find("fused networks, not one: the activations of 1 row"),
              std::string::npos)
        << compiled.remarks.back();
    EXPECT_LE(dispatches(compiled.program, "learn"), 8) << dump(compiled.program);
    expect_to_learn(compiled);
}

/// Fused networks that are split where drivers would compile them for seconds.
class SplitFusedNetwork : public FusedNetwork {};

TEST_P(SplitFusedNetwork, LearnsInKernelsOfLimitedLengthAsTheInterpreterDoes) {
    DeviceCaps caps = device().caps().value();
    caps.device_type = DeviceType::kDiscreteGpu;
    caps.name = "NVIDIA H200";
    const auto fused_networks = [](const Program& program) {
        return std::ranges::count_if(program.kernels, [](const Kernel& kernel) {
            return kernel.name.starts_with("fused_network");
        });
    };
    const auto whole = fused_networks(compile_net(true, caps).program);
    caps.name = "NVIDIA GeForce RTX 4090";
    const CompiledProgram compiled = compile_net(true, caps);
    EXPECT_GT(fused_networks(compiled.program), whole) << dump(compiled.program);
    expect_to_learn(compiled);
}

TEST_P(SplitFusedNetwork, IsAProgramOnMatrixCores) {
    DeviceCaps caps = matrix_caps();
    caps.name = "NVIDIA GeForce RTX 4090";
    const CompiledProgram compiled = compile_net(true, caps);
    const auto loaded = load_program(save_program(compiled.program));
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    for (const std::string& remark : compiled.remarks)
        EXPECT_EQ(remark.find("is no fused network"), std::string::npos) << remark;
    std::vector<bool> is_used(compiled.program.kernels.size());
    for (const Command& command : compiled.program.commands)
        if (command.kind == CommandKind::kDispatch) is_used[command.kernel] = true;
    for (size_t k = 0; k < is_used.size(); ++k)
        EXPECT_TRUE(is_used[k] || compiled.program.kernels[k].name == "copy")
            << compiled.program.kernels[k].name << " is used by no command";
}

TEST_P(FusedNetwork, CutAtRandomItLearnsTheSameBits) {
    const CompiledProgram compiled = compile_net(true);
    const std::vector<std::byte> bytes = save_program(compiled.program);
    auto whole = standalone::ProgramRunner::create(device(), bytes);
    auto cut = standalone::ProgramRunner::create(device(), bytes, session_that_cuts());
    ASSERT_TRUE(whole.ok() && cut.ok());
    for (int step = 0; step < 3; ++step) {
        const int64_t rows = GetParam().rows() - step;
        const NamedTensors in = inputs(compiled.graphs[1], step, rows);
        const auto expected = (*whole)->run("learn", rows, in);
        const auto found = (*cut)->run(
            "learn", rows, in, RandomCuts((*cut)->program(), "learn", static_cast<uint64_t>(step)));
        ASSERT_TRUE(expected.ok() && found.ok());
        EXPECT_EQ(*found, *expected) << step;
    }
    const auto expected = (*whole)->read_variables(), found = (*cut)->read_variables();
    ASSERT_TRUE(expected.ok() && found.ok());
    EXPECT_EQ(*found, *expected);
}

TEST_P(FusedNetwork, BoundByDescriptorsItHasAsManyDispatchesAndLearnsTheSameBits) {
    const DeviceCaps caps = device().caps().value();
    if (!caps.buffer_device_address) GTEST_SKIP() << "the device has no addresses";
    const CompiledProgram addresses = compile_net(true, caps, BindingModel::kDeviceAddress);
    const CompiledProgram descriptors = compile_net(true, caps, BindingModel::kDescriptor);
    for (const char* entry : {"act", "learn"})
        EXPECT_EQ(dispatches(descriptors.program, entry), dispatches(addresses.program, entry));
    standalone::DeviceOptions with_descriptors = test_device_options();
    with_descriptors.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    const auto other_device = make_device(with_descriptors);
    ASSERT_NE(other_device, nullptr);
    auto expected = standalone::ProgramRunner::create(device(), save_program(addresses.program));
    auto found =
        standalone::ProgramRunner::create(*other_device, save_program(descriptors.program));
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (int step = 0; step < 2; ++step) {
        const int64_t rows = GetParam().rows() - step;
        const NamedTensors in = inputs(addresses.graphs[1], step, rows);
        const auto expected_out = (*expected)->run("learn", rows, in);
        const auto found_out = (*found)->run("learn", rows, in);
        ASSERT_TRUE(expected_out.ok() && found_out.ok());
        EXPECT_EQ(*found_out, *expected_out) << step;
    }
    EXPECT_EQ((*found)->read_variables().value(), (*expected)->read_variables().value());
}

bool is_long(const NetCase& c) {
    return std::ranges::find(kLongCases, std::string_view(c.name)) != std::end(kLongCases);
}

std::vector<NetCase> long_cases() {
    std::vector<NetCase> cases;
    std::ranges::copy_if(kCases, std::back_inserter(cases), is_long);
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Nets, DividedFusedNetwork,
                         testing::Values(NetCase{"Residuals", residuals, 40, 8192, 0}),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Nets, SplitFusedNetwork, testing::ValuesIn(long_cases()),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Nets, FusedNetwork, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
