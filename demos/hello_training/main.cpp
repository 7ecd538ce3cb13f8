// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Training is recorded like any other GPU work: a network is fitted to a curve, one step per frame.
//
// New compared with hello_inference: a second entry, `learn`, that shares its weights with
// `predict`, and minimize(), which appends the backward pass and the optimizer's update.

#include <hearth/compile.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <standalone/device.hpp>

#include <cmath>
#include <cstdio>

using namespace hearth;

namespace {

constexpr int kSamples = 64;
constexpr uint64_t kSteps = 1000;

/// x [batch, 1] -> y [batch, 1]. Layers with equal names share their weights among all entries.
Tensor net(Trace& trace, const Tensor& x) {
    return nn::mlp(trace, "curve", x, {32, 32, 1}, tanh, {.seed = 1});
}

Result<Compiled> compile_curve(const DeviceCaps& caps) {
    Trace predict("predict");
    predict.output("y", net(predict, predict.input("x", {kBatch, 1})));

    Trace learn("learn");
    const Tensor x = learn.input("x", {kBatch, 1});
    const Tensor target = learn.input("target", {kBatch, 1});
    const Tensor loss = mse_loss(net(learn, x), target);
    minimize(loss, learn.params(), AdamOptions{.learning_rate = 3e-3});
    learn.output("loss", loss);
    return compile({&predict, &learn}, {.caps = caps, .max_batch_size = kSamples});
}

Status run() {
    HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
    HEARTH_ASSIGN(const auto device, standalone::Device::create(*instance));
    std::printf("on %s\n", device->properties().deviceName);
    HEARTH_ASSIGN(Context context, Context::create(device->host_info()));
    HEARTH_ASSIGN(const DeviceCaps caps, context.device_caps());
    HEARTH_ASSIGN(const Compiled compiled, compile_curve(caps));
    HEARTH_ASSIGN(const LoadedProgram program, LoadedProgram::load(context, compiled.bytes));
    HEARTH_ASSIGN(Session session, Session::create(context, program));
    HEARTH_TRY(session.create_pipelines());

    // Samples of the curve, in host-visible buffers that the GPU reads and writes.
    const auto shared = [&](size_t floats) {
        return standalone::Buffer::create(*device, sizeof(float) * floats,
                                          standalone::MemoryKind::kReadback);
    };
    HEARTH_ASSIGN(const auto x, shared(kSamples));
    HEARTH_ASSIGN(const auto target, shared(kSamples));
    HEARTH_ASSIGN(const auto y, shared(kSamples));
    HEARTH_ASSIGN(const auto loss, shared(1));
    for (size_t i = 0; i < kSamples; ++i) {
        x.as<float>()[i] = 2.0f * static_cast<float>(i) / (kSamples - 1) - 1.0f;
        target.as<float>()[i] = std::sin(5.0f * x.as<float>()[i]);
    }

    // Each frame records one entry. release_scope: the application's next use of the output, CPU
    // reads.
    uint64_t frame_number = 0;
    struct Bound {
        const char* name;
        const standalone::Buffer& buffer;
    };
    const auto frame = [&](const char* entry, std::initializer_list<Bound> inputs,
                           const Bound& output) -> Status {
        HEARTH_TRY(context.begin_frame(frame_number + 1, frame_number));
        HEARTH_ASSIGN(const uint32_t index, program.find_entry(entry));
        std::vector<hearth_tensor_binding> bindings;
        const auto bind = [&](const Bound& bound) -> Status {
            HEARTH_ASSIGN(const uint32_t binding, program.find_binding(index, bound.name));
            bindings.push_back(hearth_bind_buffer(binding, bound.buffer.handle(), 0,
                                                  bound.buffer.size_bytes(), bound.buffer.usage()));
            return {};
        };
        for (const Bound& input : inputs) HEARTH_TRY(bind(input));
        HEARTH_TRY(bind(output));
        bindings.back().release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
        const Status recorded = device->run([&](VkCommandBuffer cmd) -> Status {
            if (frame_number == 0) HEARTH_TRY(session.record_initialize(cmd));
            return session.record(cmd, index, kSamples, bindings).status();
        });
        ++frame_number;
        return recorded;
    };
    for (uint64_t step = 0; step <= kSteps; ++step) {
        HEARTH_TRY(frame("learn", {{"x", x}, {"target", target}}, {"loss", loss}));
        if (step % 200 == 0)
            std::printf("step %4d  loss %.6f\n", static_cast<int>(step),
                        static_cast<double>(loss.as<float>()[0]));
    }
    HEARTH_TRY(frame("predict", {{"x", x}}, {"y", y}));
    for (size_t i = 0; i < kSamples; i += 9) {
        std::printf(
            "sin(5 * %6.3f) = %6.3f, the net says %6.3f\n", static_cast<double>(x.as<float>()[i]),
            static_cast<double>(target.as<float>()[i]), static_cast<double>(y.as<float>()[i]));
    }
    return loss.as<float>()[0] < 0.001f ? Status() : internal_error("it did not learn the curve");
}

}  // namespace

int main() {
    const Status status = run();
    if (!status.ok()) std::fprintf(stderr, "hello_training: %s\n", status.message().c_str());
    const bool is_printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return status.ok() && is_printed ? 0 : 1;
}
