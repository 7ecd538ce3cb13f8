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
    std::function<void(hearth_host_info&)> host;
    std::function<void(hearth_session_create_info&)> session;
    std::function<void(Program&)> program;
    bool build_pipelines = true;
    bool set_up = true;
};

/// Context, program and session over one device, and buffers for one entry's bindings.
class Rig {
  public:
    /// Null, after a reported failure, if something does not work.
    static std::unique_ptr<Rig> create(standalone::Device& device, const RigOptions& options = {});
    ~Rig();

    /// One frame: begin_frame, `record` into a command buffer, submit, wait.
    void frame(const std::function<void(VkCommandBuffer)>& record);
    /// Starts a frame of which nothing has completed since the frames before.
    void begin(uint64_t serial, uint64_t completed) {
        ASSERT_TRUE(context.begin_frame(serial, completed).ok()) << context.error();
        serial_ = serial;
    }
    /// Finishes the frame before without work of its own.
    void advance() {
        frame([](VkCommandBuffer) {});
    }
    uint64_t serial() const { return serial_; }

    hearth_bound bind(uint32_t binding, const standalone::Buffer& buffer, uint64_t bytes) const;
    /// The record info of an entry over buffers x and y; `bounds` keeps the bindings.
    hearth_record_info learn_info(VkCommandBuffer commands, uint64_t rows, const float& rate,
                                  std::array<hearth_bound, 3>& bounds) const;
    hearth_record_info act_info(VkCommandBuffer commands, uint64_t rows,
                                std::array<hearth_bound, 2>& bounds) const;

    /// In frames of their own; empty after a reported failure.
    std::vector<float> learn(std::span<const float> input, float rate);
    std::vector<float> act(std::span<const float> input);
    std::vector<float> read_slot(uint32_t slot);

    void set_x(std::span<const float> input) {
        std::copy(input.begin(), input.end(), x.as<float>().begin());
    }
    std::vector<float> get_y(uint64_t rows) const {
        const std::span<float> values = y.as<float>().first(rows * kWidth);
        return {values.begin(), values.end()};
    }

    standalone::Device& device;
    Context context;
    LoadedProgram program;
    Session session;
    standalone::Buffer x, y;

  private:
    explicit Rig(standalone::Device& d) : device(d) {}
    uint64_t serial_ = 0;
};

class RuntimeTest : public VulkanTest {
  protected:
    /// As Rig::create on this test's device; fails the test if it returns null.
    std::unique_ptr<Rig> make_rig(const RigOptions& options = {}) {
        return Rig::create(device(), options);
    }
};

}  // namespace hearth::test
