// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implements executors on a Vulkan device or the CPU device.

#include "native/device_executor.hpp"

#include "compiler/driver/compile.hpp"

#include <standalone/program_runner.hpp>

#include <utility>

namespace hearth::native {

namespace {

class DeviceExecutor final : public Executor {
  public:
    DeviceExecutor(standalone::Device& device, std::string name, CompileOptions options)
        : device_(device), name_(std::move(name)), options_(std::move(options)) {}

    std::string_view name() const override { return name_; }

    Status load(std::vector<Graph> entries, int64_t max_batch_size) override {
        HEARTH_ASSIGN(NamedTensors variables, initial_values(entries));
        options_.max_batch_size = static_cast<uint64_t>(max_batch_size);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(entries, options_));
        HEARTH_ASSIGN(runner_,
                      standalone::ProgramRunner::create(device_, save_program(compiled.program)));
        variables_ = std::move(variables);
        entries_ = std::move(entries);
        return {};
    }
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t rows) override {
        HEARTH_ASSIGN(const Graph* const graph,
                      validate_entry(entries_, entry, inputs, rows,
                                     static_cast<int64_t>(options_.max_batch_size)));
        return runner_->run(graph->name.c_str(), rows, inputs);
    }
    Result<HostTensor> read(std::string_view variable) override {
        HEARTH_ASSIGN(HostTensor written, read_checked(variables_, variable));
        const std::string name(variable);
        // Variables that no entry uses are not on the device, and never change.
        if (!runner_->program().find_variable(name.c_str()).ok()) return written;
        return runner_->read_variable(name.c_str());
    }
    Status write(std::string_view variable, const HostTensor& contents) override {
        HEARTH_TRY(validate_write(variables_, variable, contents));
        const auto known = variables_.find(variable);
        const Result<uint32_t> index = runner_->program().find_variable(known->first.c_str());
        if (!index.ok()) {
            known->second = contents;
            return {};
        }
        HEARTH_ASSIGN(const hearth_variable_info info, runner_->program().variable(*index));
        HEARTH_ASSIGN(const HostTensor held,
                      contents.held_as(static_cast<DType>(info.device_dtype), variable));
        return runner_->write_variable(known->first.c_str(), held.bytes());
    }

  private:
    standalone::Device& device_;
    std::string name_;
    CompileOptions options_;
    std::vector<Graph> entries_;
    NamedTensors variables_;  ///< with their initial values
    std::unique_ptr<standalone::ProgramRunner> runner_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_device_executor(standalone::Device& device, std::string name,
                                                       CompileOptions options) {
    HEARTH_ASSIGN(options.caps, device.caps());
    return std::unique_ptr<Executor>(
        std::make_unique<DeviceExecutor>(device, std::move(name), std::move(options)));
}

}  // namespace hearth::native
