// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "parts.hpp"

#include "ember/dice.hpp"
#include "parts.inc"  // kPackages and kKernels, by cook_ember

#include <algorithm>
#include <string_view>

namespace hearth::ember {

std::vector<const hearth_cpu_kernel_table*> part_kernels() {
    const hearth_cpu_isa machine = hearth_detect_cpu_isa();
    std::vector<const hearth_cpu_kernel_table*> tables;
    for (const hearth_cpu_kernel_table* const table : kKernels)
        if (table->cpu_isa <= static_cast<uint32_t>(machine)) tables.push_back(table);
    return tables;
}

Result<PartPrograms> load_part_programs(const Context& context) {
    HEARTH_ASSIGN(const DeviceCaps caps, context.device_caps());
    const bool is_software = caps.device_type == DeviceType::kCpu &&
                             caps.cpu_isa == CpuIsa::kNone && caps.buffer_device_address;
    PartPrograms programs;
    for (size_t i = 0; i < kPartCount; ++i) {
        const std::span<const std::byte> package = kPackages[i];
        HEARTH_ASSIGN(programs[i].program,
                      LoadedProgram::load_package(context, package, true,
                                                  is_software ? kSoftwareTarget : nullptr));
        HEARTH_ASSIGN(programs[i].fresh, initial_brain(package));
        programs[i].fresh.base_hash = hash_of(programs[i].fresh);
    }
    return programs;
}

Result<std::vector<std::byte>> newborn(const PartProgram& part, uint64_t seed) {
    constexpr std::string_view kPublished = "published.param.";  // copies used for acting
    constexpr double kOwn = 0.15;  ///< of its own, relative to the size of a weight
    Brain brain = part.fresh;
    Dice dice{seed};
    for (BrainTensor& tensor : brain.tensors) {
        if (tensor.is_state || tensor.name.ends_with("log_std")) continue;
        for (int64_t i = 0; i < tensor.value.element_count(); ++i) {
            const double weight = tensor.value.get(i);
            tensor.value.set(i, weight * (1 + kOwn * double{dice.symmetric()}));
        }
    }
    for (BrainTensor& tensor : brain.tensors) {
        if (!tensor.name.starts_with(kPublished)) continue;
        const BrainTensor* const own = brain.find(tensor.name.substr(kPublished.size()));
        if (own != nullptr) tensor.value = own->value;
    }
    return save_brain(brain);
}

}  // namespace hearth::ember
