// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The smallest use of Hearth: a small network chooses one of three actions for each of four guards.
//
//   1. define the network as tensor code   (hearth/tensor.hpp, ops.hpp)
//   2. compile it for this GPU             (hearth/compile.hpp)
//   3. allocate its memory                 (hearth_runtime.hpp: LoadedProgram, Session)
//   4. record it into your command buffer, submit that as usual, and read the result back
//
// A game brings its own VkDevice; here `standalone` creates one. Read hello_training next.

#include <hearth/compile.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <standalone/device.hpp>

#include <cstdio>

using namespace hearth;

namespace {

constexpr int kObservations = 4;  // distance to the player, their noise, own health, own courage
constexpr int kActions = 3;
constexpr int kGuards = 4;
const char* const kActionNames[kActions] = {"attack", "hide", "flee"};

/// observations [batch, 4] -> probabilities [batch, 3]. A recording sets the batch size.
Result<Compiled> compile_guard(const DeviceCaps& caps) {
    Trace trace("choose");
    const Tensor observations = trace.input("observations", {kBatch, kObservations});
    const Tensor scores = nn::mlp(trace, "guard", observations, {16, kActions}, relu, {.seed = 1});
    trace.output("actions", softmax(scores));
    return compile({&trace}, {.caps = caps, .max_batch_size = 64});
}

Status run() {
    HEARTH_ASSIGN(const auto instance, standalone::Instance::create());
    HEARTH_ASSIGN(const auto device, standalone::Device::create(*instance));
    std::printf("on %s\n", device->properties().deviceName);

    // Hearth borrows the device; the application keeps owning it.
    HEARTH_ASSIGN(Context context, Context::create(device->host_info()));
    HEARTH_ASSIGN(const DeviceCaps caps, context.device_caps());
    HEARTH_ASSIGN(const Compiled compiled, compile_guard(caps));
    HEARTH_ASSIGN(const LoadedProgram program, LoadedProgram::load(context, compiled.bytes));
    HEARTH_ASSIGN(Session session, Session::create(context, program));
    HEARTH_TRY(session.create_pipelines());  // before the first frame

    HEARTH_ASSIGN(const uint32_t choose, program.find_entry("choose"));
    HEARTH_ASSIGN(const uint32_t observations, program.find_binding(choose, "observations"));
    HEARTH_ASSIGN(const uint32_t actions, program.find_binding(choose, "actions"));

    // The output goes to a buffer of the application.
    constexpr VkDeviceSize kBytes = sizeof(float) * kGuards * kActions;
    HEARTH_ASSIGN(const auto result,
                  standalone::Buffer::create(*device, kBytes, standalone::MemoryKind::kDevice));
    const float seen[kGuards][kObservations] = {{0.1f, 0.9f, 1.0f, 0.8f},
                                                {0.9f, 0.1f, 1.0f, 0.8f},
                                                {0.2f, 0.8f, 0.1f, 0.2f},
                                                {0.5f, 0.5f, 0.5f, 0.5f}};

    // Record one frame. Hearth only records; the application submits.
    HEARTH_TRY(context.begin_frame(/*frame_number=*/1, /*completed_frame_number=*/0));
    hearth_readback request = 0;
    const Status recorded = device->run([&](VkCommandBuffer cmd) -> Status {
        const hearth_tensor_binding bindings[] = {
            hearth_bind_bytes(observations, seen, sizeof(seen)),
            hearth_bind_buffer(actions, result.handle(), 0, kBytes, result.usage())};
        HEARTH_TRY(session.record_initialize(cmd));  // once: uploads the weights
        HEARTH_TRY(session.record(cmd, choose, kGuards, bindings).status());
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = cmd;
        info.buffer = result.handle();
        info.byte_count = kBytes;
        info.acquire_scope = hearth_make_sync_scope(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                                    VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
        HEARTH_ASSIGN(request, session.record_readback(info));
        return {};
    });
    HEARTH_TRY(recorded);

    // In a game this is a later frame, once frame 1 has completed on the GPU.
    HEARTH_TRY(context.begin_frame(/*frame_number=*/2, /*completed_frame_number=*/1));
    HEARTH_ASSIGN(const auto data, session.poll(request));
    if (!data) return internal_error("the result has not arrived");
    const std::span<const float> p = data->as<float>();
    for (int guard = 0; guard < kGuards; ++guard) {
        std::printf("guard %d:", guard);
        for (int action = 0; action < kActions; ++action) {
            std::printf("  %s %.3f", kActionNames[action],
                        static_cast<double>(p[static_cast<size_t>(guard * kActions + action)]));
        }
        std::printf("\n");
    }
    return {};
}

}  // namespace

int main() {
    const Status status = run();
    if (!status.ok()) std::fprintf(stderr, "hello_inference: %s\n", status.message().c_str());
    const bool is_printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return status.ok() && is_printed ? 0 : 1;
}
