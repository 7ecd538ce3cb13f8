// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gpu/rig.hpp"

#include "shaders/add_row_address.h"
#include "shaders/add_row_descriptor.h"
#include "shaders/decay_address.h"
#include "shaders/decay_descriptor.h"
#include "shaders/mix_address.h"
#include "shaders/mix_descriptor.h"
#include "shaders/needs_float16_address.h"
#include "shaders/needs_float16_descriptor.h"

namespace hearth::test {

TestShaders test_shaders(BindingModel model) {
    if (model == BindingModel::kDescriptor)
        return {mix_descriptor, decay_descriptor, add_row_descriptor};
    return {mix_address, decay_address, add_row_address};
}

std::span<const uint32_t> needs_float16_shader(BindingModel model) {
    if (model == BindingModel::kDescriptor) return needs_float16_descriptor;
    return needs_float16_address;
}

std::unique_ptr<Rig> Rig::create(standalone::Device& device, const RigOptions& options) {
    std::unique_ptr<Rig> rig(new Rig(device));
    const auto take = [](auto&& result, auto& out) {
        EXPECT_TRUE(result.ok()) << result.status().message();
        if (result.ok()) out = std::move(result).value();
        return result.ok();
    };
    rig->pairs_.resize(options.frames_in_flight + 1);
    for (Pair& pair : rig->pairs_) {
        const uint64_t bytes = kRowsCapacity * kWidth * 4;
        if (!take(standalone::Buffer::create(device, bytes, standalone::MemoryKind::kUpload),
                  pair.x) ||
            !take(standalone::Buffer::create(device, bytes, standalone::MemoryKind::kReadback),
                  pair.y))
            return nullptr;
    }
    if (!rig->create_frames(options.frames_in_flight)) return nullptr;

    hearth_context_create_info host = device.host_info();
    if (options.host) options.host(host);
    if (!take(Context::create(host), rig->context)) return nullptr;

    const BindingModel model = binding_model(device);
    Program program = TestProgramBuilder(test_shaders(model), model).build();
    if (options.program) options.program(program);
    if (!take(LoadedProgram::load(rig->context, save_program(program)), rig->program))
        return nullptr;

    hearth_session_create_info info = hearth_session_create_info_default();
    info.name = "test";
    if (options.session) options.session(info);
    if (!take(Session::create(rig->context, rig->program, info), rig->session)) return nullptr;
    if (options.build_pipelines) {
        const Status built = rig->session.create_pipelines();
        EXPECT_TRUE(built.ok()) << built.message();
    }
    if (options.set_up)
        rig->frame([&](VkCommandBuffer commands) {
            const Status status = rig->session.record_initialize(commands);
            EXPECT_TRUE(status.ok()) << status.message();
        });
    return rig;
}

bool Rig::create_frames(uint32_t count) {
    const standalone::VulkanApi& vk = device.vk();
    frames_.resize(count);
    for (Frame& frame : frames_) {
        VkCommandPoolCreateInfo pool{};
        pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
        pool.queueFamilyIndex = device.queue_family();
        VkFenceCreateInfo fence{};
        fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        VkCommandBufferAllocateInfo allocate{};
        allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
        allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        allocate.commandBufferCount = 1;
        bool works =
            vk.CreateFence(device.handle(), &fence, nullptr, &frame.fence) == VK_SUCCESS &&
            vk.CreateCommandPool(device.handle(), &pool, nullptr, &frame.pool) == VK_SUCCESS;
        allocate.commandPool = frame.pool;
        works = works && vk.AllocateCommandBuffers(device.handle(), &allocate, &frame.commands) ==
                             VK_SUCCESS;
        EXPECT_TRUE(works) << "no frames to record";
        if (!works) return false;
    }
    return true;
}

void Rig::hold() {
    const standalone::VulkanApi& vk = device.vk();
    finish();
    if (event_ == VK_NULL_HANDLE) {
        VkEventCreateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO;
        EXPECT_EQ(vk.CreateEvent(device.handle(), &info, nullptr, &event_), VK_SUCCESS);
    }
    EXPECT_EQ(vk.ResetEvent(device.handle(), event_), VK_SUCCESS);
    is_held_ = true;
}

void Rig::let_go() {
    if (!std::exchange(is_held_, false)) return;
    EXPECT_EQ(device.vk().SetEvent(device.handle(), event_), VK_SUCCESS);
}

Rig::~Rig() {
    let_go();
    finish();
    device.vk().DestroyEvent(device.handle(), event_, nullptr);
    session = Session();
    program = LoadedProgram();
    for (Frame& frame : frames_) {
        device.vk().DestroyFence(device.handle(), frame.fence, nullptr);
        device.vk().DestroyCommandPool(device.handle(), frame.pool, nullptr);
    }
}

void Rig::wait(Frame& frame) {
    if (!std::exchange(frame.is_pending, false)) return;
    EXPECT_FALSE(is_held_) << "waits for ever";
    let_go();
    const standalone::VulkanApi& vk = device.vk();
    EXPECT_EQ(vk.WaitForFences(device.handle(), 1, &frame.fence, VK_TRUE, UINT64_MAX), VK_SUCCESS);
    EXPECT_EQ(vk.ResetFences(device.handle(), 1, &frame.fence), VK_SUCCESS);
}

void Rig::finish() {
    for (Frame& frame : frames_) wait(frame);
}

void Rig::finish_serial(uint64_t serial) {
    for (Frame& frame : frames_)
        if (frame.serial <= serial) wait(frame);
}

Rig::Frame* Rig::record_frame(const std::function<void(VkCommandBuffer)>& record) {
    const standalone::VulkanApi& vk = device.vk();
    Frame& frame = frames_[next_frame_];
    next_frame_ = (next_frame_ + 1) % frames_.size();
    wait(frame);
    // The queue runs frames in order: with this one, all before it have finished.
    told_ = std::max(told_, frame.serial);
    frame.serial = ++serial_;
    pairs_[current_].last_serial = serial_;
    const Status begun = context.begin_frame(serial_, told_);
    EXPECT_TRUE(begun.ok()) << begun.message();
    if (!begun.ok()) return nullptr;
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    EXPECT_EQ(vk.ResetCommandPool(device.handle(), frame.pool, 0), VK_SUCCESS);
    EXPECT_EQ(vk.BeginCommandBuffer(frame.commands, &begin), VK_SUCCESS);
    if (is_held_)
        vk.CmdWaitEvents(frame.commands, 1, &event_, VK_PIPELINE_STAGE_HOST_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, nullptr, 0, nullptr, 0, nullptr);
    record(frame.commands);
    EXPECT_EQ(vk.EndCommandBuffer(frame.commands), VK_SUCCESS);
    return &frame;
}

void Rig::frame(const std::function<void(VkCommandBuffer)>& record) {
    Frame* const frame = record_frame(record);
    if (frame == nullptr) return;
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &frame->commands;
    ASSERT_EQ(device.vk().QueueSubmit(device.queue(), 1, &submit, frame->fence), VK_SUCCESS);
    frame->is_pending = true;
    if (frames_.size() == 1) wait(*frame);
}

std::string Rig::drop(const std::function<void(VkCommandBuffer)>& record) {
    if (record_frame(record) == nullptr) return {};
    const Result<std::string> lost = context.discard_frame(serial_);
    EXPECT_TRUE(lost.ok()) << lost.status().message();
    return lost.ok() ? lost.value() : std::string();
}

hearth_tensor_binding Rig::bind(uint32_t binding, const standalone::Buffer& buffer,
                                uint64_t bytes) const {
    hearth_tensor_binding bound =
        hearth_bind_buffer(binding, buffer.handle(), 0, bytes, buffer.usage());
    // Inputs were written by the CPU before submitting, which needs no barrier.  Outputs may still
    // be read by nobody before, and are read by the CPU afterwards.
    bound.release_scope =
        hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    return bound;
}

hearth_record_info Rig::learn_info(VkCommandBuffer commands, uint64_t rows, const float& rate,
                                   std::array<hearth_tensor_binding, 3>& bounds) const {
    const uint64_t bytes = rows * kWidth * 4;
    bounds = {bind(kLearnY, y(), bytes), bind(kLearnX, x(), bytes),
              hearth_bind_bytes(kLearnRate, &rate, sizeof rate)};
    hearth_record_info info = hearth_record_info_default();
    info.command_buffer = commands;
    info.entry = kLearn;
    info.batch_size = rows;
    info.bindings = bounds.data();
    info.binding_count = 3;
    return info;
}

hearth_record_info Rig::act_info(VkCommandBuffer commands, uint64_t rows,
                                 std::array<hearth_tensor_binding, 2>& bounds) const {
    const uint64_t bytes = rows * kWidth * 4;
    bounds = {bind(kActX, x(), bytes), bind(kActY, y(), bytes)};
    hearth_record_info info = hearth_record_info_default();
    info.command_buffer = commands;
    info.entry = kAct;
    info.batch_size = rows;
    info.bindings = bounds.data();
    info.binding_count = 2;
    return info;
}

std::vector<float> Rig::learn(std::span<const float> input, float rate) {
    set_x(input);
    const uint64_t rows = input.size() / kWidth;
    bool done = false;
    frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 3> bounds;
        const Result<Progress> progress = session.record(learn_info(commands, rows, rate, bounds));
        done = progress.ok() && progress.value() == Progress::kDone;
        EXPECT_TRUE(done) << session.error();
    });
    return done ? get_y(rows) : std::vector<float>();
}

std::vector<float> Rig::act(std::span<const float> input) {
    set_x(input);
    const uint64_t rows = input.size() / kWidth;
    bool done = false;
    frame([&](VkCommandBuffer commands) {
        std::array<hearth_tensor_binding, 2> bounds;
        const Result<Progress> progress = session.record(act_info(commands, rows, bounds));
        done = progress.ok() && progress.value() == Progress::kDone;
        EXPECT_TRUE(done) << session.error();
    });
    return done ? get_y(rows) : std::vector<float>();
}

std::vector<float> Rig::read_slot(uint32_t slot) {
    hearth_readback id = 0;
    frame([&](VkCommandBuffer commands) {
        const Result<hearth_readback> request = session.record_readback(commands, slot);
        EXPECT_TRUE(request.ok()) << request.status().message();
        if (request.ok()) id = request.value();
    });
    advance();
    const auto data = session.poll(id);
    EXPECT_TRUE(data.ok()) << data.status().message();
    if (!data.ok() || !data.value().has_value()) {
        ADD_FAILURE() << "the readback has not arrived";
        return {};
    }
    const std::span<const float> values = data.value()->as<float>();
    std::vector<float> copy(values.begin(), values.end());
    session.release(id);
    return copy;
}

}  // namespace hearth::test
