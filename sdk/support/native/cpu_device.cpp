// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens this machine's CPU with a C compiler, a cache and threads.

#include "native/device_executor.hpp"
#include "native/native_host.hpp"

#include <hearth/cpu.hpp>

#include <standalone/device.hpp>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace hearth::cpu {

void print_progress(std::string_view message) {
    std::fprintf(stderr, "hearth: %.*s\n", static_cast<int>(message.size()), message.data());
}

Device::Device() = default;
Device::Device(Device&& other) noexcept = default;
Device& Device::operator=(Device&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(context_, other.context_);
    std::swap(commands_, other.commands_);
    return *this;
}
Device::~Device() = default;

bool Device::interprets_kernels() const {
    return host_->has_interpreted();
}

namespace {

std::unique_ptr<native::Host> make_host(DeviceOptions& options) {
    const uint32_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    return std::make_unique<native::Host>(
        native::HostOptions{.cpu = options.isa,
                            .threads = options.threads == 0 ? cores : options.threads,
                            .build = {.compiler = std::move(options.compiler),
                                      .flags = std::move(options.flags),
                                      .cache_folder = std::move(options.cache_folder)},
                            .tables = std::move(options.tables),
                            .progress = std::move(options.progress)});
}

/// An executor with the device that it runs on.
class CpuExecutor final : public Executor {
  public:
    static Result<std::unique_ptr<Executor>> make(DeviceOptions options) {
        auto made = std::make_unique<CpuExecutor>();
        made->host_ = make_host(options);
        HEARTH_ASSIGN(made->instance_, standalone::Instance::create_native(made->host_->info()));
        HEARTH_ASSIGN(made->device_, standalone::Device::create(*made->instance_, {}));
        HEARTH_ASSIGN(made->executor_, native::make_device_executor(*made->device_, "cpu"));
        return std::unique_ptr<Executor>(std::move(made));
    }
    std::string_view name() const override { return executor_->name(); }
    Status load(std::vector<Graph> entries, int64_t max_batch_size) override {
        return executor_->load(std::move(entries), max_batch_size);
    }
    Result<NamedTensors> run(std::string_view entry, const NamedTensors& inputs,
                             int64_t batch_size) override {
        return executor_->run(entry, inputs, batch_size);
    }
    Result<HostTensor> read(std::string_view variable) override {
        return executor_->read(variable);
    }
    Status write(std::string_view variable, const HostTensor& value) override {
        return executor_->write(variable, value);
    }

  private:
    std::unique_ptr<native::Host> host_;
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    std::unique_ptr<Executor> executor_;
};

}  // namespace

Result<std::unique_ptr<Executor>> make_executor(DeviceOptions options) {
    return CpuExecutor::make(std::move(options));
}

Result<Device> open_device(DeviceOptions options) {
    Device device;
    device.host_ = make_host(options);
    const hearth_cpu_context_create_info info = device.host_->info();
    HEARTH_ASSIGN(device.context_, Context::create_cpu(info));
    HEARTH_ASSIGN(device.commands_, CpuCommandBuffer::create(device.context_));
    return device;
}

}  // namespace hearth::cpu
