// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Opens this machine's CPU with a C compiler, a cache and threads.

#include "native/native_host.hpp"

#include <hearth/cpu.hpp>

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

Result<Device> open_device(DeviceOptions options) {
    const uint32_t cores = std::max(std::thread::hardware_concurrency(), 1u);
    Device device;
    device.host_ = std::make_unique<native::Host>(
        native::HostOptions{.cpu = options.isa,
                            .threads = options.threads == 0 ? cores : options.threads,
                            .build = {.compiler = std::move(options.compiler),
                                      .flags = std::move(options.flags),
                                      .cache_folder = std::move(options.cache_folder)},
                            .progress = std::move(options.progress)});
    hearth_cpu_context_create_info info = device.host_->info();
    info.tables = options.tables.data();
    info.table_count = static_cast<uint32_t>(options.tables.size());
    HEARTH_ASSIGN(device.context_, Context::create_cpu(info));
    HEARTH_ASSIGN(device.commands_, CpuCommandBuffer::create(device.context_));
    return device;
}

}  // namespace hearth::cpu
