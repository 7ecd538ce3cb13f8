// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators that a game defines for itself: one as a rule, which is fused and differentiated like
// Hearth's own; one with a kernel in GLSL; one with a finished shader.  Exits with 0 if all of them
// compute on the device what they should and a parameter behind them learns.

#include <hearth/compile.hpp>
#include <hearth/op/op_def.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <invert.spv.hpp>  // after <cstdint>, which it needs and does not include
#include <standalone/device.hpp>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

using namespace hearth;

namespace {

constexpr int64_t kRowCount = 5, kWidth = 4;

Status same_shape(InferContext& c) {
    return c.one(c.dtype(0), c.shape(0));
}

// What is left of the light after `depth` of fog.
constinit const OpDef kFog = {
    .name = "game.fog",
    .summary = "e^(-density * depth)",
    .inputs = {{"depth"}, {"density"}},
    .infer = same_shape,
    .compute = compute_float([](auto& c) { return exp(-(c.x(0) * c.x(1))); }),
    .vjp = [](VjpContext& v) -> std::vector<Tensor> {
        const Tensor g = neg(v.cotangent() * v.out());
        return {g * v.in(1), sum_to_shape(g * v.in(0), v.in(1).shape())};
    },
};

// The nearest thing seen so far along each ray.
constinit const OpDef kRunningMin = {
    .name = "game.running_min",
    .summary = "the least of the row's elements up to each",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .infer = same_shape,
    .reference =
        [](ReferenceContext& c) {
            const int64_t width = c.inputs[0].shape()[1].count;
            for (int64_t i = 0; i < c.inputs[0].element_count(); ++i) {
                const double before = i % width == 0 ? HUGE_VAL : c.outputs[0].get(i - 1);
                c.outputs[0].set(i, std::min(before, c.inputs[0].get(i)));
            }
        },
    .kernel = [](const KernelRuleContext& c) -> std::optional<CustomKernel> {
        return CustomKernel{.name = "running_min",
                            .glsl = R"(
void main() {
    for (int row = int(gl_GlobalInvocationID.x); row < in0_dim0; row += 64 * int(gl_NumWorkGroups.x)) {
        float least = in0(row * in0_dim1);
        for (int i = 0; i < in0_dim1; ++i) {
            least = min(least, in0(row * in0_dim1 + i));
            out0(row * in0_dim1 + i, least);
        }
    }
}
)",
                            .local_size = {64, 1, 1},
                            .grid = {{{c.shape(0)[0], 64}}}};
    },
    .stops_gradient = true,
};

constinit const OpDef kInvert = {
    .name = "game.invert",
    .summary = "1 - x",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .is_opaque = true,
    .infer = same_shape,
    .reference =
        [](ReferenceContext& c) {
            for (int64_t i = 0; i < c.inputs[0].element_count(); ++i)
                c.outputs[0].set(i, 1 - c.inputs[0].get(i));
        },
    .kernel = [](const KernelRuleContext& c) -> std::optional<CustomKernel> {
        return CustomKernel{.name = "invert",
                            .local_size = {64, 1, 1},
                            .grid = {{{c.shape(0).element_count(), 64}}},
                            .spirv = {std::begin(kInvertSpirv), std::end(kInvertSpirv)},
                            .spirv_reads_rows = true};
    },
    .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {neg(v.cotangent())}; },
};

Result<Compiled> compile_game(const DeviceCaps& caps) {
    Trace look("look"), learn("learn");
    auto light_of = [](Trace& trace) {
        const Tensor depth = trace.input("depth", {kBatch, kWidth});
        const Tensor density = trace.param("density", {}, Init::constant(0.2));
        const Tensor nearest = apply_one(kRunningMin, {depth * 2.0});
        return apply_one(kInvert, {apply_one(kFog, {nearest, density})});
    };
    look.output("dark", light_of(look) * 1.0);
    const Tensor seen = light_of(learn);
    const Tensor loss = mse_loss(seen, learn.input("target", {kBatch, kWidth}));
    learn.output("loss", loss);
    minimize(loss, learn.params(), SgdOptions{.learning_rate = 0.5});
    return compile({&look, &learn}, {.caps = caps, .max_batch_size = 16});
}

Status check(const HostTensor& depth, const HostTensor& found, double density) {
    for (int64_t i = 0; i < depth.element_count(); ++i) {
        double least = HUGE_VAL;
        for (int64_t j = i / kWidth * kWidth; j <= i; ++j) least = std::min(least, depth.get(j));
        const double expected = 1 - std::exp(-density * 2 * least);
        if (std::abs(found.get(i) - expected) > 1e-5)
            return internal_error("element " + std::to_string(i) + " is " +
                                  std::to_string(found.get(i)) + ", expected " +
                                  std::to_string(expected));
    }
    return {};
}

Status run() {
    HEARTH_TRY(register_ops(std::span(&kFog, 1)));
    if (register_ops(std::span(&kFog, 1)).ok()) return internal_error("one name was taken twice");
    HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
    HEARTH_ASSIGN(const auto device, standalone::Device::create(*instance));
    HEARTH_ASSIGN(const DeviceCaps caps, device->caps());
    HEARTH_ASSIGN(const Compiled compiled, compile_game(caps));
    HEARTH_ASSIGN(const auto runner, standalone::ProgramRunner::create(*device, compiled.bytes));

    HostTensor depth(DType::kF32, {kRowCount, kWidth}), wanted(DType::kF32, {kRowCount, kWidth});
    constexpr double kTrueDensity = 0.9;
    for (int64_t i = 0; i < depth.element_count(); ++i) {
        depth.set(i, 0.3 + static_cast<double>(i * 7 % 11) / 10);
    }
    for (int64_t i = 0; i < depth.element_count(); ++i) {
        double least = HUGE_VAL;
        for (int64_t j = i / kWidth * kWidth; j <= i; ++j) least = std::min(least, depth.get(j));
        wanted.set(i, 1 - std::exp(-kTrueDensity * 2 * least));
    }
    HEARTH_ASSIGN(const NamedTensors first, runner->run("look", kRowCount, {{"depth", depth}}));
    HEARTH_TRY(check(depth, first.at("dark"), 0.2));
    for (int step = 0; step < 200; ++step)
        HEARTH_TRY(
            runner->run("learn", kRowCount, {{"depth", depth}, {"target", wanted}}).status());
    HEARTH_ASSIGN(const HostTensor density, runner->read_variable("density"));
    std::printf("density %.4f after 200 steps\n", density.get(0));
    if (std::abs(density.get(0) - kTrueDensity) > 1e-3) return internal_error("it did not learn");
    HEARTH_ASSIGN(const NamedTensors last, runner->run("look", kRowCount, {{"depth", depth}}));
    return check(depth, last.at("dark"), density.get(0));
}

}  // namespace

int main() {
    const Status status = run();
    if (!status.ok()) std::fprintf(stderr, "custom_operator: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
