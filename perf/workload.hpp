// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A compiled program on a device, as a game holds it: its bindings are buffers in device memory.

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

/// Everything before is finished and visible to everything after, copies included.
void record_full_barrier(const standalone::VulkanApi& vk, VkCommandBuffer commands);

struct WorkloadOptions {
    hearth_session_flags session_flags = 0;
    /// Whether objects get their names and recordings their labels, which costs recording time.
    bool has_labels = false;
    /// Where the runtime gets its functions from, instead of the driver.
    hearth_get_device_proc get_device_proc_addr = nullptr;
};

/// The first entry of a program, ready to be recorded.  Not thread-safe.
class Workload {
  public:
    /// Builds the pipelines, uploads the first weights, and makes a buffer for each binding with
    /// room for `rows_capacity` rows.
    static Result<std::unique_ptr<Workload>> create(standalone::Device& device,
                                                    const Compiled& compiled, int64_t rows_capacity,
                                                    const WorkloadOptions& options = {});

    Status set_input(const char* name, const HostTensor& value);
    /// An output of the last recording, which had `rows` rows.
    Result<HostTensor> read_output(const char* name, int64_t rows);
    /// What a param or state holds now.
    Result<HostTensor> read_slot(const char* name);

    /// Records the entry once, after everything that was recorded before it.
    Status record(VkCommandBuffer commands, int64_t rows);
    /// Before recordings that are not made by `submit`; all earlier ones must have finished.
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
    std::vector<hearth_bound> bound_;
    uint64_t serial_ = 0;
};

}  // namespace hearth::perf
