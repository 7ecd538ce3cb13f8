// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/graph.hpp"
#include "runner.hpp"

#include <hearth/compile.hpp>

#include <fmt/format.h>
#include <standalone/device.hpp>
#include <standalone/instance.hpp>
#include <standalone/program_runner.hpp>

#include <limits>

namespace hearth::tool {

namespace {

/// On a device integers have 32 bits.
Status check_fits(const HostTensor& tensor, size_t index) {
    const DType dtype = tensor.dtype();
    if (dtype != DType::kI64 && dtype != DType::kU64) return {};
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        const int64_t n = tensor.get_int(i);
        const bool fits = dtype == DType::kI64 ? n == static_cast<int32_t>(n)
                                               : n >= 0 && n <= int64_t{UINT32_MAX};
        if (!fits)
            return unsupported(fmt::format(
                "input_{} holds {}, beyond the 32 bits that integers have on a device", index, n));
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

    Result<NamedTensors> run_trace(Trace& trace, const NamedTensors& inputs,
                                   int64_t rows) override {
        CompileOptions options;
        options.caps = caps_;
        options.rows_capacity = static_cast<uint64_t>(rows);
        HEARTH_ASSIGN(const Compiled compiled, compile({&trace}, options));
        HEARTH_ASSIGN(const std::unique_ptr<standalone::ProgramRunner> program,
                      standalone::ProgramRunner::create(*device_, compiled.bytes));
        return program->run(trace.graph().name.c_str(), rows, inputs);
    }

  protected:
    Status check(const ImportedModel& model, std::span<const HostTensor> inputs) const override {
        HEARTH_TRY(model.fits_device());
        for (size_t i = 0; i < inputs.size(); ++i) HEARTH_TRY(check_fits(inputs[i], i));
        return {};
    }

  private:
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    DeviceCaps caps_;
};

}  // namespace

Result<std::unique_ptr<Runner>> make_gpu_runner(int device_index) {
    return GpuRunner::create(device_index);
}

}  // namespace hearth::tool
