// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compile/compile.hpp"
#include "runner.hpp"

#include <fmt/format.h>
#include <standalone/device.hpp>
#include <standalone/instance.hpp>
#include <standalone/program_runner.hpp>

#include <limits>

namespace hearth::tool {

namespace {

/// On a device integers have 32 bits.
Status check_fits(const std::string& name, const HostTensor& tensor) {
    const DType dtype = tensor.dtype();
    if (dtype != DType::kI64 && dtype != DType::kU64) return {};
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        const int64_t n = tensor.get_int(i);
        const bool fits = dtype == DType::kI64 ? n == static_cast<int32_t>(n)
                                               : n >= 0 && n <= int64_t{UINT32_MAX};
        if (!fits)
            return unsupported(fmt::format(
                "{} holds {}, beyond the 32 bits that integers have on a device", name, n));
    }
    return {};
}

class GpuRunner final : public Runner {
  public:
    static Result<std::unique_ptr<Runner>> create(int device_index) {
        auto runner = std::make_unique<GpuRunner>();
        HEARTH_ASSIGN(runner->instance_, standalone::Instance::create());
        HEARTH_ASSIGN(runner->device_,
                      standalone::Device::create(*runner->instance_, {.index = device_index}));
        HEARTH_ASSIGN(runner->caps_, runner->device_->caps());
        return std::unique_ptr<Runner>(std::move(runner));
    }

    std::string_view name() const override { return "gpu"; }

    Result<NamedTensors> run_graph(const Graph& graph, const NamedTensors& inputs,
                                   int64_t rows) override {
        CompileOptions options = compile_options();
        options.rows_capacity = static_cast<uint64_t>(rows);
        HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs({graph}, options));
        const std::vector<std::byte> bytes = save_program(compiled.program);
        HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> program,
                      standalone::ProgramRunner::create(*device_, bytes));
        return run(*program, graph.name, inputs, rows);
    }
    Result<NamedTensors> run_package(std::span<const std::byte> package, const std::string& entry,
                                     const NamedTensors& inputs, int64_t rows,
                                     const char* profile) override {
        HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> program,
                      standalone::ProgramRunner::create_from_package(*device_, package, profile));
        return run(*program, entry, inputs, rows);
    }
    Status keep_dump(uint32_t step, std::vector<std::byte>* bytes) override {
        dump_step_ = step;
        dump_ = bytes;
        return {};
    }
    CompileOptions compile_options() const override {
        CompileOptions options;
        options.caps = caps_;
        return options;
    }
    Status check(const Status& fits_device) const override { return fits_device; }
    Status check(const NamedTensors& inputs) const override {
        for (const auto& [name, tensor] : inputs) HEARTH_TRY(check_fits(name, tensor));
        return {};
    }

  private:
    Result<NamedTensors> run(standalone::ProgramRunner& program, const std::string& entry,
                             const NamedTensors& inputs, int64_t rows) {
        if (dump_ != nullptr) {
            HEARTH_ASSIGN(*dump_, program.dump(entry.c_str(), rows, inputs, dump_step_));
        }
        return program.run(entry.c_str(), rows, inputs);
    }

    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    DeviceCaps caps_;
    uint32_t dump_step_ = HEARTH_NO_STEP;
    std::vector<std::byte>* dump_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Runner>> make_gpu_runner(int device_index) {
    return GpuRunner::create(device_index);
}

}  // namespace hearth::tool
