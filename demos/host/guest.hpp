// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth on the demo's device. Only the handshake is required; the hooks exist to count
// allocations: Hearth takes all GPU memory, and its own, through the application.

#pragma once

#include <hearth/hearth_runtime.hpp>

#include <standalone/device.hpp>

#include <memory>

namespace hearth::demo {

class Guest {
  public:
    static Result<std::unique_ptr<Guest>> create(standalone::Device& device);
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;

    Context& context() { return context_; }

    /// Counts allocations of this thread during its lifetime: open one around calls of the frame
    /// path, where there must be none.
    class FramePath {
      public:
        explicit FramePath(Guest& guest);
        ~FramePath();
        FramePath(const FramePath&) = delete;
        FramePath& operator=(const FramePath&) = delete;

      private:
        Guest& guest_;
        uint64_t device_before_;
    };
    /// Number counted so far: operator new and the application's allocation callbacks.
    uint64_t frame_path_cpu_allocations() const { return cpu_allocations_; }
    /// Number of vkAllocateMemory calls, through the memory hooks.
    uint64_t frame_path_device_allocations() const { return frame_device_allocations_; }

    /// Returns a hash of all parameters of a session, once all frames are done. serial: the last
    /// frame number; incremented for the readbacks.
    Result<uint64_t> weights_hash(const LoadedProgram& program, hearth_session* session,
                                  uint64_t& serial);

  private:
    explicit Guest(standalone::Device& device) : device_(device) {}

    static hearth_result allocate(void* user_data,
                                  const hearth_device_memory_allocate_info* request,
                                  hearth_memory_block* out);
    static void free(void* user_data, const hearth_memory_block* block);

    standalone::Device& device_;
    uint64_t device_allocations_ = 0;
    uint64_t cpu_allocations_ = 0;
    uint64_t frame_device_allocations_ = 0;
    Context context_;
};

}  // namespace hearth::demo
