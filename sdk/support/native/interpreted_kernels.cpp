// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "native/interpreted_kernels.hpp"

#include "compiler/driver/kept_bodies.hpp"
#include "compiler/reference/kernel_code.hpp"

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace hearth::native {

namespace {

// A hearth_cpu_kernel_fn has no argument that tells which kernel it is, so each kernel of the process
// has a function of its own, which executes the code of its slot.
constexpr size_t kMostKernels = 4096;
std::array<KernelCode, kMostKernels> codes;

template <size_t kSlot>
void run_slot(void* const* operands, int32_t rows, int32_t first, int32_t end, int32_t workgroups) {
    codes[kSlot].run(operands, rows, first, end, workgroups);
}

template <size_t... kSlots>
constexpr std::array<hearth_cpu_kernel_fn*, kMostKernels> functions_of(
    std::index_sequence<kSlots...> /*slots*/) {
    return {run_slot<kSlots>...};
}
constexpr auto kFunctions = functions_of(std::make_index_sequence<kMostKernels>());

/// The slot of a kernel; kernels of equal hashes share one.
Result<size_t> slot_of(CpuIsa cpu, const hearth_cpu_kernel_source& source) {
    static std::mutex mutex;
    static std::unordered_map<uint64_t, size_t> slots;
    const std::scoped_lock lock(mutex);
    if (const auto found = slots.find(source.hash); found != slots.end()) return found->second;
    const std::shared_ptr<const Body> body = kept_body(source.hash);
    if (body == nullptr)
        return not_found("kernel " + std::string(source.name) +
                         " was not compiled since the process opened a CPU device, so without a C "
                         "compiler it needs a table that `hearth cook --kernels` wrote");
    if (slots.size() == kMostKernels)
        return out_of_range("there are more than " + std::to_string(kMostKernels) +
                            " different kernels; a C compiler has no such limit");
    HEARTH_ASSIGN(codes[slots.size()], lower_kernel(*body, cpu, source.name));
    return slots.emplace(source.hash, slots.size()).first->second;
}

}  // namespace

Result<std::unique_ptr<InterpretedKernels>> InterpretedKernels::make(
    CpuIsa cpu, std::span<const hearth_cpu_kernel_source> sources) {
    std::map<uint64_t, hearth_cpu_kernel_fn*> by_hash;  // tables are in ascending order
    for (const hearth_cpu_kernel_source& source : sources) {
        HEARTH_ASSIGN(const size_t slot, slot_of(cpu, source));
        by_hash[source.hash] = kFunctions[slot];
    }
    auto made = std::make_unique<InterpretedKernels>();
    for (const auto& [hash, function] : by_hash) made->kernels_.push_back({hash, function});
    made->table_ = {static_cast<uint32_t>(cpu), static_cast<uint32_t>(made->kernels_.size()),
                    made->kernels_.data()};
    return made;
}

}  // namespace hearth::native
