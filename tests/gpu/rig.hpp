// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A device adopted and the test program running on it.

#pragma once

#include "support/test_program.hpp"
#include "support/vulkan_fixture.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

namespace hearth::test {

/// SPIR-V of the test kernels.
TestShaders test_shaders(BindingModel model);
std::span<const uint32_t> needs_float16_shader(BindingModel model);

inline BindingModel binding_model(const standalone::Device& device) {
    return device.host_info().binding_model == HEARTH_BINDING_PUSH_DESCRIPTOR
               ? BindingModel::kDescriptor
               : BindingModel::kDeviceAddress;
}

struct RigOptions {
    std::function<void(hearth_context_create_info&)> host;
    std::function<void(hearth_session_create_info&)> session;
    std::function<void(Program&)> program;
    bool build_pipelines = true;
    bool set_up = true;
    /// Frames that the GPU may still be busy with while the next one is recorded.  With several,
    /// what is freed or written too early is in use, which the validation layers report and the
    /// results show; 1: each frame is waited for.
    uint32_t frames_in_flight = 3;
};

/// Context, program and session over one device, and buffers for one entry's bindings.
class Rig {
  public:
    /// Null, after a reported failure, if something does not work.
    static std::unique_ptr<Rig> create(standalone::Device& device, const RigOptions& options = {});
    ~Rig();

    /// One frame: waits for the one frames_in_flight ago, tells begin_frame so, lets `record` write
    /// a command buffer and submits it.
    void frame(const std::function<void(VkCommandBuffer)>& record);
    /// The same, but the command buffer is not submitted: what hearth_discard_frame tells is lost.
    std::string drop(const std::function<void(VkCommandBuffer)>& record);
    /// Waits for the GPU without telling Hearth.
    void finish();
    /// Lets the GPU stand still before the frames to come, up to frames_in_flight of them, until
    /// let_go(): then everything that they use really is in use.
    void hold();
    void let_go();
    /// Tells Hearth of a frame, without work of its own.  What it is told of as completed is.
    void begin(uint64_t serial, uint64_t completed) {
        finish_serial(completed);
        ASSERT_TRUE(context.begin_frame(serial, completed).ok()) << context.error();
        serial_ = serial;
        told_ = completed;
    }
    /// Begins a frame after all frames before have finished, without work of its own.
    void advance() {
        finish();
        begin(serial_ + 1, serial_);
    }
    uint64_t serial() const { return serial_; }

    hearth_tensor_binding bind(uint32_t binding, const standalone::Buffer& buffer,
                               uint64_t bytes) const;
    /// The record info of an entry over buffers x and y; `bounds` keeps the bindings.
    hearth_record_info learn_info(VkCommandBuffer commands, uint64_t rows, const float& rate,
                                  std::array<hearth_tensor_binding, 3>& bounds) const;
    hearth_record_info act_info(VkCommandBuffer commands, uint64_t rows,
                                std::array<hearth_tensor_binding, 2>& bounds) const;

    /// In frames of their own; empty after a reported failure.
    std::vector<float> learn(std::span<const float> input, float rate);
    std::vector<float> act(std::span<const float> input);
    std::vector<float> read_slot(uint32_t slot);

    /// Puts the input into x(), which is then another buffer than before: earlier frames may still
    /// be reading theirs.
    void set_x(std::span<const float> input) {
        current_ = (current_ + 1) % pairs_.size();
        finish_serial(pairs_[current_].last_serial);
        std::copy(input.begin(), input.end(), x().as<float>().begin());
    }
    /// What the frames so far wrote into y().
    std::vector<float> get_y(uint64_t rows) {
        finish();
        const std::span<float> values = y().as<float>().first(rows * kWidth);
        return {values.begin(), values.end()};
    }
    const standalone::Buffer& x() const { return pairs_[current_].x; }
    const standalone::Buffer& y() const { return pairs_[current_].y; }

    standalone::Device& device;
    Context context;
    LoadedProgram program;
    Session session;

  private:
    struct Frame {
        VkCommandPool pool = VK_NULL_HANDLE;
        VkCommandBuffer commands = VK_NULL_HANDLE;
        VkFence fence = VK_NULL_HANDLE;
        uint64_t serial = 0;
        bool is_pending = false;
    };
    struct Pair {
        standalone::Buffer x, y;
        uint64_t last_serial = 0;
    };

    explicit Rig(standalone::Device& d) : device(d) {}
    bool create_frames(uint32_t count);
    /// The next frame, begun and recorded; null after a reported failure.
    Frame* record_frame(const std::function<void(VkCommandBuffer)>& record);
    void wait(Frame& frame);
    void finish_serial(uint64_t serial);

    std::vector<Frame> frames_;
    std::vector<Pair> pairs_;
    size_t next_frame_ = 0, current_ = 0;
    VkEvent event_ = VK_NULL_HANDLE;
    bool is_held_ = false;
    uint64_t serial_ = 0, told_ = 0;
};

class RuntimeTest : public VulkanTest {
  protected:
    explicit RuntimeTest(const standalone::DeviceOptions& options = test_device_options())
        : VulkanTest(options) {}
    /// As Rig::create on this test's device; fails the test if it returns null.
    std::unique_ptr<Rig> make_rig(const RigOptions& options = {}) {
        return Rig::create(device(), options);
    }
};

/// For hazards.  Synchronization validation knows what a kernel touches through descriptors, and
/// nothing of what it touches through device addresses: programs have descriptors here, on every
/// host.
class HazardTest : public RuntimeTest {
  protected:
    HazardTest() : RuntimeTest(with_descriptors(test_device_options())) {}

  private:
    static standalone::DeviceOptions with_descriptors(standalone::DeviceOptions options) {
        options.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
        return options;
    }
};

}  // namespace hearth::test
