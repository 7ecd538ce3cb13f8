// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/driver/device_caps.hpp"

#include <bit>
#include <string>
#include <string_view>

namespace hearth {

namespace {

/// Collects the fields that are wrong.
class Problems {
  public:
    /// found, expected: text that follows "is" and "expected".
    void add(std::string_view field, const std::string& found, const std::string& expected) {
        text_ += (text_.empty() ? "" : "; ") + std::string(field) + " is " + found + ", expected " +
                 expected;
    }

    void range(std::string_view field, uint64_t value, uint64_t least, uint64_t most) {
        if (value >= least && value <= most) return;
        add(field, std::to_string(value), between(least, most));
    }

    void power_of_two(std::string_view field, uint64_t value, uint64_t least, uint64_t most) {
        if (std::has_single_bit(value) && value >= least && value <= most) return;
        add(field, std::to_string(value), "a power of two " + between(least, most));
    }

    /// One of `count` enumerators, of values from 0 on.
    template <class Enum>
    void enumerator(std::string_view field, Enum value, Enum last) {
        range(field, static_cast<uint64_t>(value), 0, static_cast<uint64_t>(last));
    }

    Status status() const {
        if (text_.empty()) return {};
        return invalid_argument("DeviceCaps: " + text_ +
                                "; take them from get_device_caps() or start with "
                                "baseline_caps()");
    }

  private:
    static std::string between(uint64_t least, uint64_t most) {
        return "from " + std::to_string(least) + " to " + std::to_string(most);
    }

    std::string text_;
};

// Lower bounds: what kernels rely on, which every device with Vulkan 1.1 has.  Shared memory may be
// less: kernels that need more have replacements.
void check_limits(const DeviceCaps& caps, Problems& problems) {
    problems.power_of_two("subgroup_size", caps.subgroup_size, 1, 128);
    problems.range("max_compute_work_group_invocations", caps.max_compute_work_group_invocations,
                   128, 65536);
    problems.range("max_compute_work_group_size_x", caps.max_compute_work_group_size_x, 128, 65536);
    problems.range("max_compute_work_group_count_x", caps.max_compute_work_group_count_x, 65535,
                   0xffffffff);
    problems.range("max_compute_shared_memory_size", caps.max_compute_shared_memory_size, 4096,
                   1 << 30);
    problems.range("max_push_constants_size", caps.max_push_constants_size, 128, 65536);
    // Kernels load vectors of 16 bytes.
    problems.power_of_two("min_storage_buffer_offset_alignment",
                          caps.min_storage_buffer_offset_alignment, 16, 65536);
    problems.range("max_storage_buffer_range", caps.max_storage_buffer_range, 1, uint64_t{1} << 62);
    problems.range("compute_units", caps.compute_units, 0, 65536);
    const bool is_version = (caps.spirv_version & 0xffff00ff) == 0x00010000;
    if (!is_version || caps.spirv_version < 0x00010300)
        problems.add("spirv_version", std::to_string(caps.spirv_version),
                     "0x00010300 (66304) for Vulkan 1.1 or a later version of SPIR-V 1");
    problems.enumerator("device_type", caps.device_type, DeviceType::kCpu);
    problems.enumerator("cpu_isa", caps.cpu_isa, CpuIsa::kWasm128);
    if (caps.shader_float64 && caps.cpu_isa == CpuIsa::kNone)
        problems.add("shader_float64", "true", "false, as cpu_isa is kNone");
}

void check_dot_product(const DeviceCaps& caps, Problems& problems) {
    if (!caps.mixed_float_dot_product) return;
    if (!caps.shader_float16)
        problems.add("shader_float16", "false", "true, as mixed_float_dot_product is");
    if (!caps.storage_buffer_16bit_access)
        problems.add("storage_buffer_16bit_access", "false", "true, as mixed_float_dot_product is");
}

void check_matrices(const DeviceCaps& caps, Problems& problems) {
    problems.enumerator("cooperative_matrix", caps.cooperative_matrix, CooperativeMatrixExt::kKhr);
    const bool has_matrices = caps.cooperative_matrix != CooperativeMatrixExt::kNone;
    if (caps.cooperative_matrix_nv && !has_matrices)
        problems.add("cooperative_matrix_nv", "true", "false, as cooperative_matrix is kNone");
    if (!has_matrices) return;
    const MatrixShape& shape = caps.cooperative_matrix_shape;
    problems.power_of_two("cooperative_matrix_shape.m", shape.m, 4, 128);
    problems.power_of_two("cooperative_matrix_shape.n", shape.n, 4, 128);
    problems.power_of_two("cooperative_matrix_shape.k", shape.k, 4, 128);
    if (!caps.shader_float16)
        problems.add("shader_float16", "false", "true, as cooperative_matrix is not kNone");
    if (!caps.storage_buffer_16bit_access)
        problems.add("storage_buffer_16bit_access", "false",
                     "true, as cooperative_matrix is not kNone");
}

void check_workgroup_matrices(const DeviceCaps& caps, Problems& problems) {
    problems.range("workgroup_scope_reserved_shared_memory",
                   caps.workgroup_scope_reserved_shared_memory, 0,
                   caps.max_compute_shared_memory_size);
    for (size_t i = 0; i < caps.workgroup_scope_granularities.size(); ++i) {
        const auto& [invocations, granularity] = caps.workgroup_scope_granularities[i];
        if (invocations == 0) continue;
        const std::string field = "workgroup_scope_granularities[" + std::to_string(i) + "]";
        if (caps.cooperative_matrix != CooperativeMatrixExt::kKhr) {
            problems.add(field + ".invocations", std::to_string(invocations),
                         "0, as cooperative_matrix is not kKhr");
            continue;
        }
        problems.range(field + ".invocations", invocations, 1,
                       caps.max_compute_work_group_invocations);
        problems.range(field + ".granularity.m", granularity.m, 1, 1024);
        problems.range(field + ".granularity.n", granularity.n, 1, 1024);
        problems.range(field + ".granularity.k", granularity.k, 1, 1024);
    }
}

}  // namespace

Status check_device_caps(const DeviceCaps& caps) {
    Problems problems;
    check_limits(caps, problems);
    check_dot_product(caps, problems);
    check_matrices(caps, problems);
    check_workgroup_matrices(caps, problems);
    return problems.status();
}

}  // namespace hearth
