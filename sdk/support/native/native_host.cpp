// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Provides kernels and threads to CPU devices.

#include "native/native_host.hpp"

#include "compiler/driver/kept_bodies.hpp"
#include "compiler/print/native_kernels.hpp"

#include <chrono>
#include <cstdio>
#include <optional>

namespace hearth::native {

namespace {

constexpr char kTable[] = "hearth_kernels";

Host& host_of(void* user_data) {
    return *static_cast<Host*>(user_data);
}

}  // namespace

Host::Host(HostOptions options)
    : options_(std::move(options)),
      team_(options_.threads),
      has_compiler_(has_compiler(options_.build)) {
    if (!has_compiler_) keep_bodies();
}

hearth_cpu_context_create_info Host::info() {
    hearth_cpu_context_create_info info = hearth_cpu_context_create_info_default();
    info.cpu_isa = static_cast<hearth_cpu_isa>(options_.cpu);
    info.callback_user_data = this;
    info.tables = options_.tables.data();
    info.table_count = static_cast<uint32_t>(options_.tables.size());
    info.compile = [](void* self, hearth_cpu_isa cpu, const hearth_cpu_kernel_source* sources,
                      uint32_t count) -> const hearth_cpu_kernel_table* {
        Host& host = host_of(self);
        Result<const hearth_cpu_kernel_table*> table =
            host.provide(static_cast<CpuIsa>(cpu), std::span(sources, count));
        if (table.ok()) return *table;
        host.error_ = table.status().message();
        std::fprintf(stderr, "native device: %s\n", host.error_.c_str());
        return nullptr;
    };
    if (team_.size() == 1) return info;
    info.thread_count = team_.size();
    info.parallel_for = [](void* self, uint32_t count, void (*job)(void*, uint32_t), void* data) {
        host_of(self).team_.run(count, job, data);
    };
    return info;
}

Result<const hearth_cpu_kernel_table*> Host::provide(
    CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources) {
    if (has_compiler_) return build(cpu, sources);
    const Result<const hearth_cpu_kernel_table*> cached = build(cpu, sources);
    return cached.ok() ? cached : interpret(cpu, sources);
}

Result<const hearth_cpu_kernel_table*> Host::interpret(
    CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources) {
    HEARTH_ASSIGN(std::unique_ptr<InterpretedKernels> kernels,
                  InterpretedKernels::make(cpu, sources));
    const std::string message =
        "no C compiler '" + compiler_command(options_.build) + "': interpreting " +
        std::to_string(sources.size()) +
        " kernels, which is some 34 times slower; install one (Debian: gcc), name it in CC, or "
        "link kernels of `hearth cook --kernels`";
    if (options_.progress)
        options_.progress(message);
    else
        std::fprintf(stderr, "hearth: %s\n", message.c_str());
    return interpreted_.emplace_back(std::move(kernels))->table();
}

Result<const hearth_cpu_kernel_table*> Host::build(
    CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources) {
    std::vector<NativeFunctionRef> functions;
    for (const hearth_cpu_kernel_source& source : sources) {
        if (source.text[0] == '\0')
            return not_found("kernel " + std::string(source.name) + " comes without its source");
        functions.push_back({source.hash, source.text});
    }
    using Clock = std::chrono::steady_clock;
    const std::string kernels = std::to_string(functions.size()) + " kernels";
    std::optional<Clock::time_point> begun;
    BuildOptions build = options_.build;
    build.on_compile = [&] {
        begun = Clock::now();
        if (options_.progress) options_.progress("compiling " + kernels);
    };
    Result<std::filesystem::path> built =
        build_library({{"kernels.c", print_native_table(functions, cpu, kTable)}}, cpu, build);
    if (!built.ok()) return built.status().with_context(kernels + " are to be compiled");
    const std::filesystem::path& path = *built;
    if (begun && options_.progress) {
        char seconds[32];
        std::snprintf(seconds, sizeof seconds, " in %.1f s",
                      std::chrono::duration<double>(Clock::now() - *begun).count());
        options_.progress("compiled " + kernels + seconds);
    }
    HEARTH_ASSIGN(SharedLibrary library, SharedLibrary::open(path));
    const auto* const table = static_cast<const hearth_cpu_kernel_table*>(library.find(kTable));
    libraries_.push_back(std::move(library));
    if (table == nullptr) return internal_error(path.string() + " has no " + kTable);
    return table;
}

}  // namespace hearth::native
