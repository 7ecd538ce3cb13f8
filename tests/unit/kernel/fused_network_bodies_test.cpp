// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Fused networks (support/fused_network_nets.hpp) executed on the CPU, without a device.

#include "support/fused_network_nets.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/core/philox.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hearth::test {
namespace {

using fused_networks::Net;

/// Matrices of one extension go from layer to layer in registers.
DeviceCaps nv_matrix_caps() {
    DeviceCaps caps = matrix_caps();
    caps.cooperative_matrix_nv = true;
    return caps;
}

/// Matrices of players' cards, with the subgroups of the profiles for them.
DeviceCaps caps_of_cards(uint32_t subgroup_size, MatrixShape matrix) {
    DeviceCaps caps = gpu_caps();
    caps.subgroup_size = subgroup_size;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 1024;
    caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    caps.cooperative_matrix_shape = matrix;
    return caps;
}

std::vector<DeviceCaps> devices_for(const Net& net) {
    if (!net.has_matrices) return {gpu_caps(), cpu_caps()};
    return {matrix_caps(), nv_matrix_caps(), caps_of_cards(64, {16, 16, 16}),
            caps_of_cards(16, {8, 16, 16}), caps_of_cards(16, {8, 8, 16})};
}

/// The networks' graphs that act and that give gradients, with contents of their inputs.
std::vector<Variant> variants_of(const Net& c) {
    std::vector<Variant> variants;
    for (const bool learns : {false, true}) {
        Trace t(learns ? "learn" : "act");
        fused_networks::trace(c, learns, t);
        auto graph = t.build();
        EXPECT_TRUE(graph.ok()) << graph.status().message();
        Variant variant{c.name, std::move(graph).value(), {}, c.rows};
        variant.text += learns ? ", learning" : ", acting";
        for (const ValueId v : variant.graph.inputs) {
            const Value& value = variant.graph.value(v);
            HostTensor tensor(value.dtype, value.shape.resolve(c.rows));
            for (int64_t i = 0; i < tensor.element_count(); ++i) {
                const double u = uniform_from_bits(philox_bits(9, v, static_cast<uint32_t>(i)));
                tensor.set(i, is_floating(value.dtype) ? 2 * u - 1 : std::floor(7 * u));
            }
            variant.inputs.emplace(value.name, std::move(tensor));
        }
        variants.push_back(std::move(variant));
    }
    return variants;
}

bool is_fused_network(const OpKernel& kernel) {
    return kernel.launch.label.ends_with("fused network");
}

class FusedNetworkBodies : public testing::TestWithParam<Net> {
  protected:
    static std::vector<OpKernel> kernels(const Variant& variant, DeviceCaps caps) {
        caps.name = "H200";  // kernels of any size
        caps.max_compute_shared_memory_size = GetParam().shared_bytes;
        return kernels_of(
            variant, caps,
            {.fused_networks = true,
             .rows_capacity = GetParam().capacity,
             .precision = GetParam().has_matrices ? Precision::kF16 : Precision::kF32});
    }
};

TEST_P(FusedNetworkBodies, GiveWhatTheInterpreterGivesWithoutFaults) {
    // Sums in another order, which may round to the f16 beside it.
    const double tolerance = GetParam().has_matrices ? 4e-3 : 1e-5;
    bool matrices = false;
    for (const DeviceCaps& caps : devices_for(GetParam()))
        for (const Variant& variant : variants_of(GetParam())) {
            int fused_networks = 0;
            for (OpKernel& kernel : kernels(variant, caps)) {
                if (!is_fused_network(kernel)) continue;
                ++fused_networks;
                matrices |= body_requirements(*kernel.body).matrices;
                const Status status = run_kernel(*kernel.body, kernel.launch, kernel.operands);
                EXPECT_TRUE(status.ok())
                    << status.message() << ", subgroups of " << caps.subgroup_size
                    << ", matrices of " << caps.cooperative_matrix_shape.m << "x"
                    << caps.cooperative_matrix_shape.n << "x" << caps.cooperative_matrix_shape.k;
                if (!status.ok()) continue;
                for (const auto& [index, expected] : kernel.expected)
                    EXPECT_EQ(difference(kernel.operands[index].tensor, expected, tolerance), "")
                        << kernel.launch.label << ": operand " << index << ", subgroups of "
                        << caps.subgroup_size;
            }
            EXPECT_EQ(fused_networks, 1) << variant.text << ", subgroups of " << caps.subgroup_size;
        }
    EXPECT_EQ(matrices, GetParam().has_matrices);
}

/// Takes out the barriers ahead of the last stage.
size_t remove_last_barrier(std::vector<Statement>& statements) {
    for (size_t i = statements.size(); i-- > 0;) {
        if (statements[i].kind == StatementKind::kBarrier) {
            statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(i));
            return 1;
        }
        if (statements[i].kind != StatementKind::kFor &&
            statements[i].kind != StatementKind::kBlock)
            continue;
        if (remove_last_barrier(statements[i].body) != 0) return 1;
    }
    return 0;
}

TEST(FusedNetworkBodies, AMissingBarrierIsARaceOfAStageThatIsNamed) {
    constexpr Net kCase{"Planted", fused_networks::regression, 21, 21};
    const Variant variant = variants_of(kCase)[0];
    for (OpKernel& kernel : kernels_of(variant, gpu_caps(),
                                       {.fused_networks = true, .rows_capacity = kCase.capacity})) {
        Body body = *kernel.body;
        ASSERT_EQ(remove_last_barrier(body.statements), 1u);
        const Status status = run_kernel(body, kernel.launch, kernel.operands);
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.message().find("a race"), std::string::npos) << status.message();
        EXPECT_NE(status.message().find("matmul"), std::string::npos) << status.message();
    }
}

INSTANTIATE_TEST_SUITE_P(Nets, FusedNetworkBodies, testing::ValuesIn(fused_networks::kNets),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::test
