// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A compiled program on a device, set up as in a game: its bindings are buffers in device memory.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/host_tensor.hpp>

#include <standalone/device.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace hearth::perf {

/// Makes everything before finished and visible to everything after, copies included.
void record_full_barrier(const standalone::VulkanApi& vk, VkCommandBuffer commands);

struct WorkloadOptions {
    hearth_session_flags session_flags = 0;
    /// True to name objects and label recordings, which costs recording time.
    bool has_labels = false;
    /// Source of the runtime's functions; null: the driver.
    hearth_get_device_proc get_device_proc_addr = nullptr;
};

/// The first entry of a program, ready to be recorded. Not thread-safe.
class Workload {
  public:
    /// Builds the pipelines, uploads the initial weights, and creates a buffer for each binding
    /// with room for `rows_capacity` rows.
    static Result<std::unique_ptr<Workload>> create(standalone::Device& device,
                                                    const Compiled& compiled,
                                                    int64_t max_batch_size,
                                                    const WorkloadOptions& options = {});

    Status set_input(const char* name, const HostTensor& value);
    /// Reads an output of the last recording, which had batch size `rows`.
    Result<HostTensor> read_output(const char* name, int64_t rows);
    /// Reads the current value of a parameter or state.
    Result<HostTensor> read_variable(const char* name);

    /// Records the entry once, ordered after everything recorded earlier.
    Status record(VkCommandBuffer commands, int64_t rows);
    /// Call before recordings outside `submit`; all earlier ones must have finished.
    Status begin_frame();
    /// Submits what `record` records, and waits for it.
    Status submit(const std::function<Status(VkCommandBuffer)>& record);

    const hearth_entry_info& entry() const { return entry_; }
    uint64_t arena_bytes() const { return program_.info().arena_bytes; }
    Session& session() { return session_; }
    const LoadedProgram& program() const { return program_; }

  private:
    explicit Workload(standalone::Device& device) : device_(device) {}
    Result<size_t> find_binding(const char* name) const;
    /// Copies between a buffer and host memory.
    Status transfer(const standalone::Buffer& buffer, std::span<std::byte> bytes, bool to_device);

    standalone::Device& device_;
    Context context_;
    LoadedProgram program_;
    Session session_;
    hearth_entry_info entry_{};
    std::vector<hearth_binding_info> infos_;
    std::vector<standalone::Buffer> buffers_;
    std::vector<hearth_tensor_binding> bound_;
    uint64_t serial_ = 0;
};

}  // namespace hearth::perf
