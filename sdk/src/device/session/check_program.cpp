// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks whether a device can run a program, and whether it may load it.

#include "device/session/check_program.hpp"

#include "core/portable.hpp"
#include "device/native/device.hpp"

#include <algorithm>

namespace hearth::runtime {

namespace {

/// A capability that SPIR-V may declare, and the device features that it requires.
struct Capability {
    uint32_t value;  ///< SPIR-V 1.6, section 3.31
    const char* name;
    hearth_features feature;              ///< 0: none
    VkSubgroupFeatureFlags subgroup_ops;  ///< 0: none
};

constexpr Capability kCapabilities[] = {
    {0, "Matrix", 0, 0},
    {1, "Shader", 0, 0},
    {9, "Float16", HEARTH_FEATURE_SHADER_FLOAT16, 0},
    {11, "Int64", HEARTH_FEATURE_SHADER_INT64, 0},
    {22, "Int16", HEARTH_FEATURE_SHADER_INT16, 0},
    {61, "GroupNonUniform", 0, VK_SUBGROUP_FEATURE_BASIC_BIT},
    {62, "GroupNonUniformVote", 0, VK_SUBGROUP_FEATURE_VOTE_BIT},
    {63, "GroupNonUniformArithmetic", 0, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
    {64, "GroupNonUniformBallot", 0, VK_SUBGROUP_FEATURE_BALLOT_BIT},
    {65, "GroupNonUniformShuffle", 0, VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
    {66, "GroupNonUniformShuffleRelative", 0, VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT},
    {67, "GroupNonUniformClustered", 0, VK_SUBGROUP_FEATURE_CLUSTERED_BIT},
    {4433, "StorageBuffer16BitAccess", HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS, 0},
    {4448, "StorageBuffer8BitAccess", HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS, 0},
    // Declared, for conversions to f16, by kernels for devices with this feature.
    {4467, "RoundingModeRTE", HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT, 0},
    {5345, "VulkanMemoryModel", HEARTH_FEATURE_VULKAN_MEMORY_MODEL, 0},
    {5347, "PhysicalStorageBufferAddresses", HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS, 0},
    {5357, "CooperativeMatrixNV", HEARTH_FEATURE_COOPERATIVE_MATRIX_NV, 0},
    {6022, "CooperativeMatrixKHR", HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR, 0},
    {6912, "DotProductFloat16AccFloat32VALVE", HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT, 0},
};

const char* feature_name(hearth_features bit) {
    for (const gpu::Feature& feature : gpu::all_features())
        if (feature.bit == bit) return feature.name;
    return "";
}

unsigned long long wide(uint64_t value) {
    return value;
}

}  // namespace

void describe_subgroup_sizes(const gpu::Device& device, FixedText<64>& out) {
    const hearth_device_caps& caps = device.caps();
    if (device.asks_for_subgroup_sizes())
        out.set("%u, and %u to %u on request", caps.subgroup_size, caps.min_subgroup_size,
                caps.max_subgroup_size);
    else
        out.set("%u", caps.subgroup_size);
}

namespace {

class ProgramChecker {
  public:
    ProgramChecker(const gpu::Device& device, const ProgramView& view, hearth_trust_level trust,
                   FixedText<512>& error)
        : device_(device), view_(view), trust_(trust), error_(error) {}

    hearth_result run() {
        if (device_.is_lost()) return fail(HEARTH_ERROR_DEVICE_LOST, "%s", gpu::kDeviceLost);
        if (const hearth_result r = check_loading(); r != HEARTH_OK) return r;
        if (view_.binding_model() == BindingModel::kDeviceAddress) {
            if (!device_.has(HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS))
                return fail(
                    HEARTH_ERROR_UNSUPPORTED,
                    "the program needs feature bufferDeviceAddress, which is not enabled; enable "
                    "it when you create the device (hearth_get_device_requirements lists it)");
        } else if (!device_.has_push_descriptors()) {
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "the program needs extension %s, which is not enabled; enable it when you "
                        "create the device (hearth_get_device_requirements lists it)",
                        VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
        }
        const uint64_t largest = std::max(view_.header().arena_bytes, view_.header().weights_bytes);
        if (largest > device_.caps().max_storage_buffer_range)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "the program needs a buffer of %llu bytes, the device allows %llu; cook it "
                        "with a smaller --max-batch-size",
                        wide(largest), wide(device_.caps().max_storage_buffer_range));
        if (const hearth_result r = check_bindings(); r != HEARTH_OK) return r;
        for (const file::KernelRecord& kernel : view_.kernels())
            if (const hearth_result r = check_kernel(kernel); r != HEARTH_OK) return r;
        return check_grids();
    }

    hearth_result check_loading() {
        if (const hearth_result r = check_target(); r != HEARTH_OK) return r;
        return check_trust();
    }

    hearth_result check_target() {
        const auto device_cpu = static_cast<CpuIsa>(device_.caps().cpu_isa);
        if (device_cpu == CpuIsa::kNone && view_.cpu() != CpuIsa::kNone)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "it is for a CPU (%s), and this is a Vulkan device; cook it for GPUs, too: "
                        "--device-targets baseline,%s",
                        name_of(view_.cpu()), name_of(view_.cpu()));
        if (device_cpu != CpuIsa::kNone && view_.cpu() == CpuIsa::kNone)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "it is for a Vulkan device, and this is a CPU device (%s); cook it for "
                        "this CPU, too: --device-targets %s",
                        name_of(device_cpu), name_of(device_cpu));
        if (view_.cpu() != CpuIsa::kNone && !native::runs_on(view_.cpu(), device_cpu))
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "it is for CPUs with %s, and this one has %s; cook it for this one, too: "
                        "--device-targets %s",
                        name_of(view_.cpu()), name_of(device_cpu), name_of(device_cpu));
        return HEARTH_OK;
    }

    /// An untrusted kernel must never obtain an address, nor access memory beyond its descriptors.
    hearth_result check_trust() {
        if (trust_ != HEARTH_TRUST_UNTRUSTED) return HEARTH_OK;
        if (view_.cpu() != CpuIsa::kNone)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "an untrusted program must bind descriptors, and programs for CPUs cannot; "
                        "load it as HEARTH_TRUST_TRUSTED if you trust it");
        if (view_.binding_model() == BindingModel::kDeviceAddress)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "an untrusted program must bind descriptors, and this one uses addresses; "
                        "cook it with --device-targets descriptors, or load it as "
                        "HEARTH_TRUST_TRUSTED if you trust it");
        for (const gpu::Feature& feature : gpu::all_features())
            if (feature.needed_for_untrusted && !device_.has(feature.bit))
                return fail(
                    HEARTH_ERROR_UNSUPPORTED,
                    "an untrusted program needs feature %s, which is not enabled; enable it when "
                    "you create the device (hearth_get_device_requirements lists it)",
                    feature.name);
        return HEARTH_OK;
    }

    hearth_result check_bindings() {
        uint64_t limit = device_.max_allocation_bytes();
        if (view_.binding_model() == BindingModel::kDescriptor)
            limit = std::min<uint64_t>(limit, device_.limits().maxStorageBufferRange);
        for (const file::BindingRecord& binding : view_.bindings()) {
            const uint64_t bytes = extent_at(binding.bytes, view_.header().max_batch_size);
            if (bytes > limit)
                return fail(HEARTH_ERROR_UNSUPPORTED,
                            "binding %s: %llu bytes at the maximum batch size, the device allows "
                            "%llu in a buffer; cook with a smaller --max-batch-size",
                            view_.text(binding.name), wide(bytes), wide(limit));
        }
        return HEARTH_OK;
    }

    hearth_result check_kernel(const file::KernelRecord& kernel) {
        const char* name = view_.text(kernel.name);
        const VkPhysicalDeviceLimits& limits = device_.limits();
        uint64_t invocations = 1;
        for (uint32_t i = 0; i < 3; ++i) {
            invocations *= kernel.local_size[i];
            if (kernel.local_size[i] > limits.maxComputeWorkGroupSize[i])
                return fail(HEARTH_ERROR_UNSUPPORTED,
                            "kernel %s: local size %u along axis %u, the device allows %u; cook "
                            "for a device target with smaller workgroups",
                            name, kernel.local_size[i], i, limits.maxComputeWorkGroupSize[i]);
        }
        if (invocations > limits.maxComputeWorkGroupInvocations)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "kernel %s: %llu invocations in a workgroup, the device allows %u; cook "
                        "for a device target with smaller workgroups",
                        name, wide(invocations), limits.maxComputeWorkGroupInvocations);

        if (view_.binding_model() == BindingModel::kDescriptor &&
            file::bound_count_of(kernel) > limits.maxPerStageDescriptorStorageBuffers)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "kernel %s: binds %llu storage buffers, the device allows %u; cook for a "
                        "device target with buffer addresses",
                        name, wide(file::bound_count_of(kernel)),
                        limits.maxPerStageDescriptorStorageBuffers);

        if (kernel.subgroup_size != 0 &&
            !device_.can_have_subgroups_of(kernel.subgroup_size,
                                           static_cast<uint32_t>(invocations))) {
            FixedText<64> have;
            describe_subgroup_sizes(device_, have);
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "kernel %s: needs subgroups of %u, the device's have %s; cook for another "
                        "device target",
                        name, kernel.subgroup_size, have.c_str());
        }
        if (const hearth_result r = check_matrices(kernel, name); r != HEARTH_OK) return r;

        if (view_.cpu() != CpuIsa::kNone) return HEARTH_OK;
        // The declarations in the code decide; the manifest's flags are informative. The whole
        // module is scanned, because drivers may accept capabilities that are declared late.
        constexpr uint32_t kOpCapability = 17, kHeaderWords = 5;
        const std::span<const uint32_t> spirv = view_.spirv_of(kernel);
        for (size_t at = kHeaderWords; at < spirv.size(); at += spirv[at] >> 16) {
            if ((spirv[at] & 0xffff) != kOpCapability || spirv[at] >> 16 < 2) continue;
            const uint32_t value = spirv[at + 1];
            const auto* known = std::find_if(std::begin(kCapabilities), std::end(kCapabilities),
                                             [&](const Capability& c) { return c.value == value; });
            if (known == std::end(kCapabilities))
                return fail(HEARTH_ERROR_UNSUPPORTED,
                            "kernel %s: SPIR-V capability %u is unknown to this version of Hearth; "
                            "cook with this version",
                            name, value);
            if (!device_.has(known->feature))
                return fail(HEARTH_ERROR_UNSUPPORTED,
                            "kernel %s: SPIR-V capability %s needs feature %s, which is not "
                            "enabled; enable it when you create the device "
                            "(hearth_get_device_requirements lists it)",
                            name, known->name, feature_name(known->feature));
            if ((device_.subgroup_operations() & known->subgroup_ops) != known->subgroup_ops)
                return fail(HEARTH_ERROR_UNSUPPORTED,
                            "kernel %s: the device lacks the subgroup operations of SPIR-V "
                            "capability %s; cook for device target baseline",
                            name, known->name);
        }
        return HEARTH_OK;
    }

    hearth_result check_matrices(const file::KernelRecord& kernel, const char* name) {
        constexpr uint32_t kMatrixCores = file::kNeedsNvMatrixCores | file::kNeedsKhrMatrixCores;
        if ((kernel.flags & kMatrixCores) == 0) return HEARTH_OK;
        const hearth_device_caps& caps = device_.caps();
        if (caps.cooperative_matrix == HEARTH_COOPERATIVE_MATRIX_EXT_NONE)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "kernel %s: needs feature cooperativeMatrix with f16 operands and f32 "
                        "results, which is not enabled; enable it, or cook for device target fp16",
                        name);
        if ((kernel.flags & file::kNeedsWorkgroupMatrices) != 0)
            return check_workgroup_matrices(kernel, name);
        if (caps.cooperative_matrix_m != kernel.matrix_m ||
            caps.cooperative_matrix_n != kernel.matrix_n ||
            caps.cooperative_matrix_k != kernel.matrix_k)
            return fail(HEARTH_ERROR_UNSUPPORTED,
                        "kernel %s: needs cooperative matrices of %ux%ux%u, the device has "
                        "%ux%ux%u; cook for a device target with these",
                        name, kernel.matrix_m, kernel.matrix_n, kernel.matrix_k,
                        caps.cooperative_matrix_m, caps.cooperative_matrix_n,
                        caps.cooperative_matrix_k);
        return HEARTH_OK;
    }

    hearth_result check_workgroup_matrices(const file::KernelRecord& kernel, const char* name) {
        for (const hearth_workgroup_scope_granularity& kind :
             device_.caps().workgroup_scope_granularities)
            if (kind.invocations == kernel.local_size[0] && kernel.matrix_m % kind.m == 0 &&
                kernel.matrix_n % kind.n == 0 && kernel.matrix_k % kind.k == 0)
                return HEARTH_OK;
        return fail(
            HEARTH_ERROR_UNSUPPORTED,
            "kernel %s: needs cooperative matrices of %ux%ux%u for workgroups of %u invocations "
            "(feature cooperativeMatrixWorkgroupScope), which are not enabled or which the device "
            "lacks; enable the feature, or cook for another device target",
            name, kernel.matrix_m, kernel.matrix_n, kernel.matrix_k, kernel.local_size[0]);
    }

    hearth_result check_grids() {
        const VkPhysicalDeviceLimits& limits = device_.limits();
        const bool descriptors = view_.binding_model() == BindingModel::kDescriptor;
        const uint64_t alignment = limits.minStorageBufferOffsetAlignment;
        for (const file::CommandRecord& command : view_.commands()) {
            if (command.kind != static_cast<uint32_t>(CommandKind::kDispatch)) continue;
            const char* name = view_.text(view_.kernels()[command.kernel].name);
            for (uint32_t i = 0; i < 3; ++i) {
                const uint32_t groups = groups_at(command.grid[i], view_.header().max_batch_size);
                if (groups > limits.maxComputeWorkGroupCount[i])
                    return fail(HEARTH_ERROR_UNSUPPORTED,
                                "kernel %s: %u workgroups along axis %u at the maximum batch size, "
                                "the device allows %u; cook with a smaller --max-batch-size",
                                name, groups, i, limits.maxComputeWorkGroupCount[i]);
            }
            for (const file::OperandRecord& operand : view_.operands_of(command))
                if (descriptors && operand.offset % alignment != 0)
                    return fail(HEARTH_ERROR_UNSUPPORTED,
                                "kernel %s: an operand is at offset %llu, the device needs "
                                "multiples of %llu; cook for another device target",
                                name, wide(operand.offset), wide(alignment));
        }
        return HEARTH_OK;
    }

  private:
    HEARTH_PRINTF(3, 4) hearth_result fail(hearth_result result, const char* format, ...) {
        error_.clear();
        va_list arguments;
        va_start(arguments, format);
        error_.append_list(format, arguments);
        va_end(arguments);
        return result;
    }

    const gpu::Device& device_;
    const ProgramView& view_;
    hearth_trust_level trust_;
    FixedText<512>& error_;
};

}  // namespace

hearth_result check_loading(const gpu::Device& device, const ProgramView& view,
                            hearth_trust_level trust, FixedText<512>& error) {
    return ProgramChecker(device, view, trust, error).check_loading();
}

hearth_result check_program(const gpu::Device& device, const ProgramView& view,
                            hearth_trust_level trust, FixedText<512>& error) {
    return ProgramChecker(device, view, trust, error).run();
}

}  // namespace hearth::runtime
