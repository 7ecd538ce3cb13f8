// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Provides kernels and threads to CPU devices.

#include "native/native_host.hpp"

#include "compiler/print/native_kernels.hpp"

#include <cstdio>

namespace hearth::native {

namespace {

constexpr char kTable[] = "hearth_kernels";

Host& host_of(void* user_data) {
    return *static_cast<Host*>(user_data);
}

}  // namespace

hearth_native_info Host::info() {
    hearth_native_info info = hearth_native_info_default();
    info.cpu = static_cast<hearth_cpu>(options_.cpu);
    info.callback_user_data = this;
    info.build = [](void* self, hearth_cpu cpu, const hearth_native_source* sources,
                    uint32_t count) -> const hearth_native_kernels* {
        Host& host = host_of(self);
        Result<const hearth_native_kernels*> table =
            host.build(static_cast<Cpu>(cpu), std::span(sources, count));
        if (table.ok()) return *table;
        host.error_ = table.status().message();
        std::fprintf(stderr, "native device: %s\n", host.error_.c_str());
        return nullptr;
    };
    if (team_.size() == 1) return info;
    info.thread_count = team_.size();
    info.parallel = [](void* self, uint32_t count, void (*job)(void*, uint32_t), void* data) {
        host_of(self).team_.run(count, job, data);
    };
    return info;
}

Result<const hearth_native_kernels*> Host::build(Cpu cpu,
                                                 std::span<const hearth_native_source> sources) {
    std::vector<NativeFunctionRef> functions;
    for (const hearth_native_source& source : sources) {
        if (source.text[0] == '\0')
            return not_found("kernel " + std::string(source.name) + " comes without its source");
        functions.push_back({source.hash, source.text});
    }
    HEARTH_ASSIGN(const std::filesystem::path path,
                  build_library({{"kernels.c", print_native_table(functions, cpu, kTable)}}, cpu,
                                options_.build));
    HEARTH_ASSIGN(SharedLibrary library, SharedLibrary::open(path));
    const auto* const table = static_cast<const hearth_native_kernels*>(library.find(kTable));
    libraries_.push_back(std::move(library));
    if (table == nullptr) return internal_error(path.string() + " has no " + kTable);
    return table;
}

}  // namespace hearth::native
