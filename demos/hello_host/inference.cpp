// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A C++17 game that runs a network. It shows one frame; a game does the same in every frame.
// vulkan_minimal/app.h contains the Vulkan code that a game already has.

#include "vulkan_minimal/app.h"

#include <hearth/network.hpp>

#include <cstdio>

using namespace hearth;

namespace {

constexpr uint64_t kBatchSize = 8;

Status run(Context& context, const app_buffer& output) {
    HEARTH_ASSIGN(Model curve, Model::open(context, CURVE_PACKAGE));
    float x[kBatchSize];
    for (uint64_t i = 0; i < kBatchSize; ++i) x[i] = 0.25f * static_cast<float>(i) - 1.0f;
    const NamedBinding y =
        bind_buffer("y", output.buffer, 0, output.bytes, output.usage, {},
                    hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT));

    HEARTH_TRY(context.begin_frame(1, 0));
    const VkCommandBuffer commands = app_begin_commands();
    HEARTH_TRY(
        curve.record(commands, "predict", kBatchSize, {bind_value("x", x, sizeof x), y}).status());
    app_submit_and_wait(commands);

    for (uint64_t i = 0; i < kBatchSize; ++i)
        std::printf("%g: %g\n", static_cast<double>(x[i]),
                    static_cast<double>(static_cast<const float*>(output.data)[i]));
    return context.begin_frame(2, 1);
}

}  // namespace

int main() {
    app_make_device();
    const app_buffer output = app_make_buffer(sizeof(float) * kBatchSize);
    Status status;
    {
        Result<Context> context = Context::create(app_host_info());
        status = context.ok() ? run(*context, output) : context.status();
        if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
    }
    app_destroy_buffer(&output);
    app_destroy_device();
    return status.ok() ? 0 : 1;
}
