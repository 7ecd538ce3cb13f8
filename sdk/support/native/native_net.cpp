// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds, loads and runs networks cooked to C.

#include "native/native_net.hpp"

#include <hearth/hearth.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace hearth::native {

namespace {

constexpr size_t kAlignment = 64;

/// A tensor in the memory layout of the C entry.
struct Held {
    DType dtype = DType::kF32;
    Shape shape;
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
};

}  // namespace

CpuIsa this_cpu() {
    return static_cast<CpuIsa>(hearth_detect_cpu_isa());
}

std::unique_ptr<std::byte[], NativeNet::Aligned> NativeNet::allocate(size_t bytes) {
    const size_t size = (bytes / kAlignment + 1) * kAlignment;
    auto* const memory = static_cast<std::byte*>(allocate_aligned(size, kAlignment));
    if (memory != nullptr) std::memset(memory, 0xff, size);
    return std::unique_ptr<std::byte[], Aligned>(memory);
}

void* NativeNet::find_symbol(const std::string& name) const {
    return library_.find(name_ + "_" + name);
}

Result<std::unique_ptr<NativeNet>> NativeNet::build(std::vector<Graph> graphs,
                                                    CompileToCOptions cook,
                                                    const BuildOptions& options) {
    std::unique_ptr<NativeNet> net(new NativeNet);
    net->name_ = cook.name;
    HEARTH_ASSIGN(net->cooked_, cook_c_of(std::move(graphs), cook, &net->program_));
    HEARTH_ASSIGN(const std::filesystem::path library,
                  build_library({{cook.name + ".c", net->cooked_.source},
                                 {cook.name + ".h", net->cooked_.header}},
                                cook.cpu_isa, options));
    HEARTH_ASSIGN(net->library_, SharedLibrary::open(library));
    net->weights_ = allocate(net->cooked_.weights_bytes);
    net->arena_ = allocate(net->cooked_.arena_bytes);
    if (net->weights_ == nullptr || net->arena_ == nullptr)
        return out_of_range("no memory for weights and arena");
    net->memory_ = {net->weights_.get(),         net->cooked_.weights_bytes,
                    net->arena_.get(),           net->cooked_.arena_bytes,
                    net->cooked_.weights.data(), net->cooked_.weights.size()};
    HEARTH_TRY(net->forget());
    return net;
}

Status NativeNet::forget() {
    Error error{};
    if (find<int(const Memory*, Error*)>("init")(&memory_, &error) == 0) return {};
    return invalid_argument(error.text);
}

Status NativeNet::load_brain(std::span<const std::byte> brain) {
    Error error{};
    const auto load = find<int(const Memory*, const void*, size_t, Error*)>("load");
    if (load(&memory_, brain.data(), brain.size(), &error) == 0) return {};
    return invalid_argument(error.text);
}

Result<std::vector<std::byte>> NativeNet::save_brain() const {
    Error error{};
    std::vector<std::byte> brain(cooked_.brain_bytes);
    const auto save = find<int(const Memory*, void*, size_t, Error*)>("save");
    if (save(&memory_, brain.data(), brain.size(), &error) != 0)
        return invalid_argument(error.text);
    return brain;
}

HostTensor NativeNet::read(const Variable& variable) const {
    HostTensor held(device_dtype(variable.dtype, program_.storage), variable.shape);
    std::copy_n(weights_.get() + variable.offset, held.bytes().size(), held.bytes().begin());
    return held.cast(variable.dtype);
}

NamedTensors NativeNet::weights() const {
    NamedTensors all;
    for (const Variable& variable : program_.variables)
        if (variable.kind != VariableKind::kConstant) all.emplace(variable.name, read(variable));
    return all;
}

Result<NamedTensors> NativeNet::run(std::string_view name, const NamedTensors& inputs, int64_t rows,
                                    int threads) {
    const Entry* const entry = program_.find_entry(name);
    if (entry == nullptr) return not_found("there is no entry '" + std::string(name) + "'");
    std::vector<Held> held;
    std::vector<void*> tensors;
    for (const uint32_t index : entry->bindings) {
        const Binding& binding = program_.bindings[index];
        Held& tensor = held.emplace_back();
        tensor.dtype = device_dtype(binding.dtype, program_.storage);
        tensor.shape = binding.shape.resolve(rows);
        const HostTensor empty(tensor.dtype, tensor.shape);
        tensor.size = empty.bytes().size();
        tensor.bytes = std::make_unique<std::byte[]>(tensor.size + 16);
        tensors.push_back(tensor.bytes.get());
        if (binding.direction == Direction::kOutput) continue;
        const auto given = inputs.find(binding.name);
        if (given == inputs.end())
            return invalid_argument("input '" + binding.name + "' is missing");
        if (given->second.dtype() != binding.dtype || given->second.shape() != tensor.shape)
            return invalid_argument("input '" + binding.name + "' is " +
                                    to_string(given->second.shape()) + ", expected " +
                                    to_string(tensor.shape));
        const HostTensor contents = given->second.cast(tensor.dtype);
        std::copy(contents.bytes().begin(), contents.bytes().end(), tensor.bytes.get());
    }
    tensors.push_back(nullptr);
    const std::string symbol(name);
    std::string c_name;
    for (const char c : symbol)
        c_name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
    Error error{};
    const auto live = static_cast<uint32_t>(rows);
    if (threads == 1) {
        if (find<Call>(c_name)(&memory_, tensors.data(), live, &error) != 0)
            return invalid_argument(error.text);
    } else {
        if (find<Call>(c_name + "_check")(&memory_, tensors.data(), live, &error) != 0)
            return invalid_argument(error.text);
        Jobs* const jobs = find<Jobs>(c_name + "_jobs");
        Run* const run_jobs = find<Run>(c_name + "_run");
        // Phases without jobs may lie between others, so the search ends at an upper bound of the
        // phase count.
        const auto phases = static_cast<uint32_t>(entry->command_count + 1);
        for (uint32_t phase = 0; phase < phases; ++phase) {
            const uint32_t count = jobs(phase, live);
            std::vector<std::thread> pool;
            for (int t = 0; t < threads; ++t) {
                const auto share = [&](int part) {
                    return static_cast<uint32_t>(uint64_t{count} * static_cast<uint64_t>(part) /
                                                 static_cast<uint64_t>(threads));
                };
                pool.emplace_back([&, phase, first = share(t), end = share(t + 1)] {
                    run_jobs(&memory_, tensors.data(), live, phase, first, end);
                });
            }
            for (std::thread& thread : pool) thread.join();
        }
    }
    NamedTensors outputs;
    for (size_t i = 0; i < held.size(); ++i) {
        const Binding& binding = program_.bindings[entry->bindings[i]];
        if (binding.direction == Direction::kInput) continue;
        HostTensor tensor(held[i].dtype, held[i].shape);
        std::copy_n(held[i].bytes.get(), held[i].size, tensor.bytes().begin());
        outputs.emplace(binding.name, tensor.cast(binding.dtype));
    }
    return outputs;
}

}  // namespace hearth::native
