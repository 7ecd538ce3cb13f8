// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Definition of hearth_workbench.h's headless application.

#pragma once

#include "hearth_workbench.h"

#include <native/native_host.hpp>
#include <standalone/device.hpp>

#include <array>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

struct hearth_headless {
    hearth_headless() = default;
    hearth_headless(const hearth_headless&) = delete;
    hearth_headless& operator=(const hearth_headless&) = delete;
    ~hearth_headless();

    /// Lets the CPU device compile the kernels in these bytes.
    void trust(std::span<const std::byte> bytes);
    bool trusts(std::span<const std::byte> bytes) const;

    std::unique_ptr<hearth::native::Host> native;  ///< if the device is this machine's CPU
    std::unique_ptr<hearth::standalone::Instance> instance;
    std::unique_ptr<hearth::standalone::Device> device;
    hearth_context* context = nullptr;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::vector<hearth::standalone::Buffer> buffers;
    uint64_t frame_number = 1;
    bool is_recording = false;
    std::string error;
    /// SHA-256 of packages and programs whose kernels, C text, the CPU device compiles.
    std::set<std::array<uint8_t, 32>> trusted;
};

namespace hearth::workbench {

/// hearth_cook_package() as bytes; with weights, hearth_cook_package_with_weights().
Result<std::vector<std::byte>> cook_package(std::span<const std::byte> package, const char* options,
                                            hearth_headless* host,
                                            std::span<const std::byte> weights = {});

}  // namespace hearth::workbench
