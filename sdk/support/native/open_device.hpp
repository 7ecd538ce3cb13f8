// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The device that a tool or a demo was told to use: a GPU, or this machine's CPU.

#pragma once

#include "native/native_host.hpp"

#include <standalone/device.hpp>

#include <memory>
#include <string>

namespace hearth::native {

/// A device, and what has to outlive it.
struct OpenDevice {
    std::unique_ptr<Host> host;  ///< null for a Vulkan device
    std::unique_ptr<standalone::Instance> instance;
    std::unique_ptr<standalone::Device> device;
};

/// wish    "native"; or the index of a Vulkan device; or "", "-1": the best Vulkan device
/// native  how the CPU is used, where that is the wish
/// Errors: kInvalidArgument for another wish; those of the device.
Result<OpenDevice> open_device(const std::string& wish, HostOptions native = {});

}  // namespace hearth::native
