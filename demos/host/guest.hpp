// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth as a guest on the demo's device.  The handshake is the whole of it; the hooks are there to
// count: Hearth takes every byte of the GPU's memory, and of its own, through the host.

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

    /// While one lives, allocations by this thread are counted: open one around calls of the frame
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
    /// Counted so far: operator new and the host's allocation callbacks.
    uint64_t frame_path_cpu_allocations() const { return cpu_allocations_; }
    /// vkAllocateMemory, through the memory hooks.
    uint64_t frame_path_device_allocations() const { return frame_device_allocations_; }

    /// A hash of all params of a session, once all frames are done.  serial: the last frame's; it
    /// counts on for what is read back.
    Result<uint64_t> weights_hash(const LoadedProgram& program, hearth_session* session,
                                  uint64_t& serial);

  private:
    explicit Guest(standalone::Device& device) : device_(device) {}

    static hearth_result allocate(void* user_data, const hearth_memory_request* request,
                                  hearth_memory_block* out);
    static void free(void* user_data, const hearth_memory_block* block);

    standalone::Device& device_;
    uint64_t device_allocations_ = 0;
    uint64_t cpu_allocations_ = 0;
    uint64_t frame_device_allocations_ = 0;
    Context context_;
};

}  // namespace hearth::demo
