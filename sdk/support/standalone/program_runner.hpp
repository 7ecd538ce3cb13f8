// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs one entry of a program on a device and waits for it: what tools and tests need, and no game.

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

    /// Loads `bytes` (a serialized Program), builds its pipelines on as many threads as there are processors,
    /// and uploads its first weights.
    /// session    what its session is made with; the program is set here.
    /// pipelines  a file that keeps what the driver compiled for the next run: read if it is there and of this
    ///            device and driver, written otherwise; empty: none.
    /// Errors: those of the driver and of write_file_atomically().
    static Result<std::unique_ptr<ProgramRunner>> create(
        Device& device, std::span<const std::byte> bytes,
        const hearth_session_create_info& session = hearth_session_create_info_default(),
        const std::string& pipelines = {});

    /// The same of a package: the best profile for the device, or the named one.
    static Result<std::unique_ptr<ProgramRunner>> create_from_package(
        Device& device, std::span<const std::byte> package, const char* profile = nullptr);

    /// Binds `inputs`, records `entry` for `rows` rows, submits, waits, returns all outputs.
    /// limit  sets the limits of each slice, which has a submission of its own; empty: whole.
    /// Errors: kNotFound or kInvalidArgument naming an input that is missing or has another shape.
    Result<NamedTensors> run(const char* entry, int64_t rows, const NamedTensors& inputs,
                             const std::function<void(hearth_record_info&)>& limit = {});

    /// Runs the entry once on a copy of all slots, which stay as they are, and returns a dump of it ("Dumps"
    /// in hearth.h), with the program.  step: HEARTH_NO_STEP, or one whose results it is to hold.
    Result<std::vector<std::byte>> dump(const char* entry, int64_t rows, const NamedTensors& inputs,
                                        uint32_t step);

    /// Puts `bytes` into a slot, all of it.
    Status write_slot(const char* name, std::span<const std::byte> bytes);

    /// Records with `record` in a frame of its own, submits and waits.
    Status submit(const std::function<Status(VkCommandBuffer)>& record);
    /// The same in several submissions of one frame: the device is at work on each while the next is recorded.
    /// Errors: the first of `records`; those behind it are not called then.
    Status submit(std::span<const std::function<Status(VkCommandBuffer)>> records);

    /// Begins a frame in which nothing is submitted, so that readbacks of earlier ones can be polled.
    Status begin_frame();

    /// What a param, state or constant holds now.
    Result<HostTensor> read_slot(const char* name);
    /// All params and states.
    Result<NamedTensors> read_slots();

    Context& context() { return context_; }
    Session& session() { return session_; }
    LoadedProgram& program() { return program_; }

  private:
    struct Bound;
    explicit ProgramRunner(Device& device) : device_(device) {}
    /// So many command buffers.
    Status make_commands(size_t count);
    Status record_and_submit(VkCommandBuffer commands,
                             const std::function<Status(VkCommandBuffer)>& record);
    /// pipelines: what the driver compiled in an earlier run.
    Status make_context(std::span<const std::byte> pipelines);
    Status build_pipelines();
    Status set_up(Result<LoadedProgram> program,
                  const hearth_session_create_info& session = hearth_session_create_info_default());
    /// All bindings of an entry, with the inputs in their buffers.
    Result<std::vector<Bound>> bind_all(const hearth_entry_info& entry, int64_t rows,
                                        const NamedTensors& inputs);
    static std::vector<hearth_bound> bounds_of(const std::vector<Bound>& bindings);
    Result<Bound> bind(uint32_t binding, int64_t rows, const NamedTensors& inputs);

    Device& device_;
    // Kept from run to run: where drivers get memory from the kernel, making them takes far longer than
    // small programs run.
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::vector<VkCommandBuffer> commands_;
    std::map<uint32_t, Buffer> buffers_;  ///< by binding
    /// Those of hearth_session_build_async.
    struct Job {
        void (*run)(void*);
        void* data;
    };
    std::vector<Job> jobs_;
    Context context_;
    LoadedProgram program_;
    Session session_;
    uint64_t readback_bytes_ = 0;
    uint64_t serial_ = 0;
};

}  // namespace hearth::standalone
