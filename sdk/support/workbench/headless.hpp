// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Definition of hearth_workbench.h's headless application.

#pragma once

#include "hearth_workbench.h"

#include <native/native_host.hpp>
#include <standalone/device.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace hearth::workbench {

/// A mutex that threads get in the order in which they ask for it.
class FairMutex {
  public:
    void lock() {
        std::unique_lock lock(mutex_);
        const uint64_t ticket = next_ticket_++;
        changed_.wait(lock, [&] { return serving_ == ticket; });
    }
    void unlock() {
        {
            const std::lock_guard lock(mutex_);
            ++serving_;
        }
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t next_ticket_ = 0, serving_ = 0;
};

}  // namespace hearth::workbench

struct hearth_headless {
    hearth_headless() = default;
    hearth_headless(const hearth_headless&) = delete;
    hearth_headless& operator=(const hearth_headless&) = delete;
    ~hearth_headless();

    /// Lets the CPU device compile the kernels in these bytes.
    void trust(std::span<const std::byte> bytes);
    bool trusts(std::span<const std::byte> bytes) const;

    hearth::native::SharedLibrary kernels;  ///< compiled ones that came with this library, if any
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
    std::atomic<bool> is_lost = false;
    hearth::workbench::FairMutex mutex;  ///< hearth_headless_lock
    uint32_t share_count = 0;            ///< calls of hearth_headless_share; 0: not shared
    /// SHA-256 of packages and programs whose kernels, C text, the CPU device compiles.
    std::set<std::array<uint8_t, 32>> trusted;
};

namespace hearth::workbench {

/// hearth_cook_package() as bytes; with weights, hearth_cook_package_with_weights().
Result<std::vector<std::byte>> cook_package(std::span<const std::byte> package, const char* options,
                                            hearth_headless* host,
                                            std::span<const std::byte> weights = {});

}  // namespace hearth::workbench
