// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs entries of a program on a device and waits; for tools and tests, not for games.

#pragma once

#include <hearth/host_tensor.hpp>

#include <standalone/device.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace hearth::standalone {

class ProgramRunner {
  public:
    ~ProgramRunner();
    ProgramRunner(const ProgramRunner&) = delete;
    ProgramRunner& operator=(const ProgramRunner&) = delete;

    /// Loads `bytes` (a serialized Program), builds its pipelines on as many threads as there are
    /// processors, and uploads its initial weights.
    /// session    options of its session; the program is set here.
    /// pipelines  file of the driver's pipeline cache between runs: read if it exists and is from
    ///            this device and driver, else written; empty: none.
    /// Errors: those of the driver and of write_file_atomically().
    static Result<std::unique_ptr<ProgramRunner>> create(
        Device& device, std::vector<std::byte> bytes,
        const hearth_session_create_info& session = hearth_session_create_info_default(),
        const std::string& pipelines = {});

    /// As above for a package: the best device target for the device, or the named one.
    static Result<std::unique_ptr<ProgramRunner>> create_from_package(
        Device& device, std::span<const std::byte> package, const char* profile = nullptr);

    /// Binds `inputs`, records `entry` for batch size `rows`, submits, waits, and returns all
    /// outputs.
    /// limit  sets the limits of each slice, each submitted separately; empty: unsliced.
    /// Errors: kNotFound or kInvalidArgument naming an input that is missing or has another shape.
    Result<NamedTensors> run(const char* entry, int64_t rows, const NamedTensors& inputs,
                             const std::function<void(hearth_record_info&)>& limit = {});

    /// Runs the entry once on a copy of all variables, which stay unchanged, and returns its dump
    /// ("Dumps" in hearth.h), with the program. step: HEARTH_NO_COMMAND, or a command whose results to
    /// include.
    Result<std::vector<std::byte>> dump(const char* entry, int64_t rows, const NamedTensors& inputs,
                                        uint32_t step);

    /// Overwrites a whole variable with `bytes`.
    Status write_variable(const char* name, std::span<const std::byte> bytes);

    /// Records with `record` in a new frame, submits and waits.
    Status submit(const std::function<Status(VkCommandBuffer)>& record);
    /// As above in several submissions of one frame: the device executes each while the next is
    /// recorded.
    /// Errors: the first of `records`; later ones are not called then.
    Status submit(std::span<const std::function<Status(VkCommandBuffer)>> records);

    /// Begins a frame without submission, so that readbacks of earlier frames can be polled.
    Status begin_frame();

    /// Returns the current value of a parameter, state or constant.
    Result<HostTensor> read_variable(const char* name);
    /// Returns all parameters and states.
    Result<NamedTensors> read_variables();

    Context& context() { return context_; }
    Session& session() { return session_; }
    LoadedProgram& program() { return program_; }

  private:
    struct Bound;
    explicit ProgramRunner(Device& device) : device_(device) {}
    /// Makes sure that there are `count` command buffers.
    Status make_commands(size_t count);
    Status record_and_submit(VkCommandBuffer commands,
                             const std::function<Status(VkCommandBuffer)>& record);
    /// pipelines: the driver's pipeline cache of an earlier run.
    Status make_context(std::span<const std::byte> pipelines);
    Status build_pipelines();
    Status set_up(Result<LoadedProgram> program,
                  const hearth_session_create_info& session = hearth_session_create_info_default());
    /// Resolves all bindings of an entry, with the inputs in their buffers.
    Result<std::vector<Bound>> bind_all(const hearth_entry_info& entry, int64_t rows,
                                        const NamedTensors& inputs);
    static std::vector<hearth_tensor_binding> bounds_of(const std::vector<Bound>& bindings);
    Result<Bound> bind(uint32_t binding, int64_t rows, const NamedTensors& inputs);

    Device& device_;
    // Reused between runs: where drivers allocate from the kernel, creating them takes far longer
    // than running small programs.
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::vector<VkCommandBuffer> commands_;
    std::map<uint32_t, Buffer> buffers_;  ///< by binding
    /// Jobs of hearth_session_create_pipelines_async.
    struct Job {
        void (*run)(void*);
        void* data;
    };
    std::vector<Job> jobs_;
    std::vector<std::byte> bytes_;  ///< of the program, which borrows them
    Context context_;
    LoadedProgram program_;
    Session session_;
    uint64_t readback_bytes_ = 0;
    uint64_t serial_ = 0;
};

}  // namespace hearth::standalone
