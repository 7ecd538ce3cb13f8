// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens the device that a tool or demo selects: a GPU, or this machine's CPU.

#pragma once

#include "native/native_host.hpp"

#include <standalone/device.hpp>

#include <memory>
#include <string>

namespace hearth::native {

/// A device, and the objects that must outlive it.
struct OpenDevice {
    std::unique_ptr<Host> host;  ///< null for a Vulkan device
    std::unique_ptr<standalone::Instance> instance;
    std::unique_ptr<standalone::Device> device;
};

/// wish    "cpu"; or the index of a Vulkan device; or "", "-1": the best Vulkan device
/// native  options of the CPU device
/// Errors: kInvalidArgument for other values; those of the device.
Result<OpenDevice> open_device(const std::string& wish, HostOptions native = {});

}  // namespace hearth::native
