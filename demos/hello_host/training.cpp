// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A C++17 game that trains a network while it draws frames, with two milliseconds of GPU time per
// frame. It then evaluates, saves and loads the trained network. vulkan_minimal/app.h contains the
// Vulkan code that a game already has.

#include "vulkan_minimal/app.h"

#include <hearth/network.hpp>

#include <cmath>
#include <cstdio>

using namespace hearth;

namespace {

constexpr uint64_t kSamples = 64, kSteps = 600;
constexpr double kLearnUs = 2000;  // per frame
constexpr float kGoodLoss = 0.01f;

struct Buffers {
    app_buffer x = app_make_buffer(sizeof(float) * kSamples);
    app_buffer target = app_make_buffer(sizeof(float) * kSamples);
    app_buffer y = app_make_buffer(sizeof(float) * kSamples);
    app_buffer loss = app_make_buffer(sizeof(float));

    ~Buffers() {
        for (const app_buffer* buffer : {&x, &target, &y, &loss}) app_destroy_buffer(buffer);
    }
};

NamedBinding bind(const char* name, const app_buffer& b) {
    const hearth_sync_scope read =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    return bind_buffer(name, b.buffer, 0, b.bytes, b.usage, {}, read);
}

/// A game's frames. Each waits for the GPU, so that the previous one has completed when it begins.
class Frames {
  public:
    explicit Frames(Context& context) : context_(context) {}
    template <class Record>
    Status next(const Record& record) {
        HEARTH_TRY(context_.begin_frame(frame_number_ + 1, frame_number_));
        const VkCommandBuffer commands = app_begin_commands();
        const Status status = record(commands);
        app_submit_and_wait(commands);
        ++frame_number_;
        return status;
    }
    uint64_t count() const { return frame_number_; }

  private:
    Context& context_;
    uint64_t frame_number_ = 0;
};

Status run(Context& context, const Buffers& buffers) {
    hearth_session_create_info options = hearth_session_create_info_default();
    options.flags = HEARTH_SESSION_COLLECT_GPU_TIMINGS;
    HEARTH_ASSIGN(Model curve, Model::open(context, CURVE_PACKAGE, options));
    float* const x = static_cast<float*>(buffers.x.data);
    for (uint64_t i = 0; i < kSamples; ++i) {
        x[i] = 2.0f * static_cast<float>(i) / (kSamples - 1) - 1.0f;
        static_cast<float*>(buffers.target.data)[i] = std::sin(3.0f * x[i]);
    }
    Frames frames(context);
    const auto predict = [&](Model& network) {
        return frames.next([&](VkCommandBuffer commands) {
            return network
                .record(commands, "predict", kSamples, {bind("x", buffers.x), bind("y", buffers.y)})
                .status();
        });
    };
    hearth_record_info budget = hearth_record_info_default();
    budget.gpu_time_budget_us = kLearnUs;
    hearth_run_cursor cursor{};
    for (uint64_t steps = 0; steps < kSteps;)
        HEARTH_TRY(frames.next([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(const Progress progress,
                          curve.record(commands, "learn", kSamples,
                                       {bind("x", buffers.x), bind("target", buffers.target),
                                        bind("loss", buffers.loss)},
                                       &cursor, budget));
            steps += progress == Progress::kDone;
            return {};
        }));
    std::printf("%llu steps in %llu frames\n", static_cast<unsigned long long>(kSteps),
                static_cast<unsigned long long>(frames.count()));
    const float loss = *static_cast<const float*>(buffers.loss.data);
    HEARTH_TRY(predict(curve));
    const float learned = static_cast<const float*>(buffers.y.data)[0];

    // Save the trained weights as bytes, and load them into another, untrained network.
    std::optional<hearth_readback> snapshot;
    HEARTH_TRY(frames.next([&](VkCommandBuffer commands) -> Status {
        HEARTH_ASSIGN(snapshot, curve.session().record_save_brain(commands));
        return {};
    }));
    HEARTH_TRY(frames.next([](VkCommandBuffer) { return Status(); }));
    HEARTH_ASSIGN(const auto copied, curve.session().poll(*snapshot));
    HEARTH_ASSIGN(const auto brain, curve.program().serialize_brain(copied->bytes));
    HEARTH_ASSIGN(Model other, Model::open(context, CURVE_PACKAGE));
    HEARTH_TRY(predict(other));  // also records the initial weights
    const float unlearned = static_cast<const float*>(buffers.y.data)[0];
    HEARTH_TRY(frames.next([&](VkCommandBuffer commands) {
        return other.session().record_load_brain(commands, brain);
    }));
    HEARTH_TRY(predict(other));
    const float loaded = static_cast<const float*>(buffers.y.data)[0];
    std::printf("loss %g; sin(-3): %g learned, %g loaded, %g before\n", static_cast<double>(loss),
                static_cast<double>(learned), static_cast<double>(loaded),
                static_cast<double>(unlearned));
    if (!(loss < kGoodLoss)) return internal_error("it did not learn the curve");
    return loaded == learned ? Status() : internal_error("the brain computes something else");
}

}  // namespace

int main() {
    app_make_device();
    Status status;
    {
        const Buffers buffers;
        Result<Context> context = Context::create(app_host_info());
        status = context.ok() ? run(*context, buffers) : context.status();
        if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
    }
    app_destroy_device();
    return status.ok() ? 0 : 1;
}
