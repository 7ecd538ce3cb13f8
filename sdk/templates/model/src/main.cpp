// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the model on this machine's CPU with zeros as inputs, and prints its outputs and its time.
// Usage: my_game [RUNS]

#include <hearth/hearth.hpp>
#include <hearth/network.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace hearth;

/// Memory of an input or output of the model, for one item of a batch.
struct Binding {
    hearth_binding_info info;
    std::vector<std::byte> bytes;
    CpuBuffer buffer;
};

static Result<std::vector<Binding>> make_bindings(const Context& context, const Model& model) {
    HEARTH_ASSIGN(const hearth_entry_info entry, model.program().entry(0));
    std::vector<Binding> bindings(entry.binding_count);
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        Binding& binding = bindings[i];
        HEARTH_ASSIGN(binding.info, model.program().binding(entry.bindings[i]));
        binding.bytes.resize(binding.info.bytes_fixed + binding.info.bytes_per_item);
        HEARTH_ASSIGN(binding.buffer, CpuBuffer::import(context, binding.bytes));
    }
    return bindings;
}

/// Prints the first values of the outputs.  Errors: a value that is not finite.
static Status print_outputs(const std::vector<Binding>& bindings) {
    for (const Binding& binding : bindings) {
        std::printf("%s %s, %zu bytes", binding.info.is_output ? "output" : "input",
                    binding.info.name, binding.bytes.size());
        const bool is_float = binding.info.device_dtype == HEARTH_F32;
        for (size_t i = 0; is_float && binding.info.is_output && 4 * i < binding.bytes.size();
             ++i) {
            float value = 0;
            std::memcpy(&value, &binding.bytes[4 * i], sizeof value);
            if (!std::isfinite(value)) return internal_error("an output is not finite");
            if (i < 10) std::printf("%s%.4g", i > 0 ? ", " : ": ", static_cast<double>(value));
        }
        std::puts("");
    }
    return {};
}

static Status run(int runs) {
    HEARTH_ASSIGN(cpu::Device device, cpu::open_device());
    Context& context = device.context();
    HEARTH_ASSIGN(Model model, Model::open(context, PACKAGE));
    HEARTH_ASSIGN(std::vector<Binding> bindings, make_bindings(context, model));
    HEARTH_ASSIGN(const hearth_entry_info entry, model.program().entry(0));
    std::vector<NamedBinding> named;
    for (const Binding& binding : bindings)
        named.push_back(bind_buffer(binding.info.name, binding.buffer.handle(), 0,
                                    binding.bytes.size(), HEARTH_CPU_BUFFER_USAGE));

    std::vector<std::byte> first;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        HEARTH_TRY(context.begin_frame());
        HEARTH_TRY(device.run([&](VkCommandBuffer commands) {
            return model.record(commands, entry.name, /*batch_size=*/1, named);
        }));
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        std::printf("run %d: %.3f ms\n", i + 1, took.count());
        if (i == 0) first = bindings.back().bytes;
        if (bindings.back().bytes != first)
            return internal_error("the same inputs gave different outputs");
    }
    return print_outputs(bindings);
}

int main(int count, char** arguments) {
    const Status status = run(count > 1 ? std::atoi(arguments[1]) : 10);
    if (!status.ok()) std::fprintf(stderr, "my_game: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
