// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Row programs executed on the CPU, without a device: small networks that act and learn, with weights in
// registers, in shared memory and there in chunks, with reductions, several heads and windows; and on
// matrix cores, with rows in shared memory and in registers.

#include "unit/kernel/op_kernels.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hearth::test {
namespace {

Tensor regression(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kRows, 5}), {8, 64, 3}, relu, {.seed = 1});
    t.output("y", y);
    return mse_loss(y, t.input("target", {kRows, 3}));
}

Tensor odd_widths(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kRows, 33}), {40, 17, 1}, tanh, {.seed = 2});
    t.output("y", y);
    return huber_loss(y, t.input("target", {kRows, 1}), 0.3);
}

Tensor classes(Trace& t) {
    const Tensor y = nn::mlp(t, "net", t.input("x", {kRows, 6}), {20, 20, 7}, relu, {.seed = 5});
    t.output("probabilities", softmax(y, -1));
    return cross_entropy(y, t.input("labels", {kRows}, DType::kI32));
}

Tensor two_heads(Trace& t) {
    const Tensor x = t.input("x", {kRows, 6}), gains = t.input("gains", {kRows, 1});
    const Tensor actor = nn::mlp(t, "actor", x, {16, 16, 5}, tanh, {.seed = 6});
    const Tensor hidden = nn::mlp(t, "critic", x, {12, 6}, tanh, {.seed = 7});
    const Tensor value = nn::mlp(t, "head", concat({hidden, x + hidden}, 1), {1}, tanh);
    t.output("value", value);
    const Tensor entropy = neg(sum(softmax(actor, -1) * log_softmax(actor, -1), {-1}, true));
    return neg(mean((gains - mean(gains)) * entropy)) + mean(square(value - gains)) * 0.5;
}

/// Inputs, targets and outputs of f16.
Tensor deep(Trace& t) {
    const auto input = [&](const char* name) {
        return cast(t.input(name, {kRows, 16}, DType::kF16), DType::kF32);
    };
    const Tensor y = nn::mlp(t, "net", input("x"), {16, 16, 16}, relu, {.seed = 8});
    t.output("y", cast(y, DType::kF16));
    return mse_loss(y, input("target")) * 64.0;
}

template <int64_t kLength, int64_t kHidden>
Tensor windows(Trace& t) {
    const Dim rows(kLength, true);
    const Tensor seen =
        tanh(nn::linear(t, "in", reshape(t.input("x", {kRows, kLength, 5}), {rows, 5}), 9));
    const Tensor resets = greater(t.input("resets", {kRows, kLength}), 0.5);
    const Tensor h = nn::gru(t, "gru", reshape(seen, {kRows, kLength, 9}), kHidden,
                             {.seed = 12, .h = t.input("h", {1, kRows, kHidden}), .resets = resets})
                         .output;
    const Tensor y = nn::linear(t, "head", reshape(h, {rows, kHidden}), 2);
    t.output("y", y);
    return mse_loss(y, t.input("target", {rows, 2}));
}

struct NetCase {
    const char* name;
    Tensor (*build)(Trace&);
    int64_t rows;
    uint64_t capacity;
    uint32_t shared_bytes = 48 << 10;
    bool has_matrices = false;

    std::vector<DeviceCaps> devices() const {
        return has_matrices ? std::vector{matrix_caps(), nv_matrix_caps()}
                            : std::vector{gpu_caps(), cpu_caps()};
    }
    /// Matrices of one extension go from layer to layer in registers.
    static DeviceCaps nv_matrix_caps() {
        DeviceCaps caps = matrix_caps();
        caps.nv_matrix_cores = true;
        return caps;
    }
};

void PrintTo(const NetCase& c, std::ostream* out) {
    *out << c.name;
}

constexpr NetCase kCases[] = {
    {"WeightsInRegisters", regression, 21, 21},
    {"WeightsInSharedMemory", regression, 40, 3000},
    {"WeightsInChunks", regression, 40, 1100, 8192},
    {"OddWidths", odd_widths, 19, 40},
    {"OddWidthsOfManyRows", odd_widths, 35, 5000},
    {"Classes", classes, 30, 50},
    {"TwoHeads", two_heads, 20, 70, 16384},
    {"WindowsOfThree", windows<3, 7>, 5, 40},
    {"WindowsOfTwoWide", windows<2, 65>, 3, 9},
    {"Matrices", regression, 21, 21, 48 << 10, true},
    {"MatricesOfManyRows", regression, 40, 3000, 48 << 10, true},
    {"MatricesInChunks", regression, 40, 1100, 8192, true},
    {"MatricesOfOddWidths", odd_widths, 19, 40, 48 << 10, true},
    {"MatricesOfClasses", classes, 30, 50, 48 << 10, true},
    {"MatricesOfTwoHeads", two_heads, 20, 70, 16384, true},
    {"MatricesInRegisters", regression, 70, 20000, 48 << 10, true},
    {"MatricesOfFewRowsInRegisters", regression, 5, 20000, 48 << 10, true},
    {"MatricesOfOddWidthsInRegisters", odd_widths, 70, 20000, 48 << 10, true},
    {"MatricesOfHalvesInRegisters", deep, 70, 20000, 48 << 10, true},
};

/// The networks' graphs that act and that give gradients, with contents of their inputs.
std::vector<Variant> variants_of(const NetCase& c) {
    std::vector<Variant> variants;
    for (const bool learns : {false, true}) {
        Trace t(learns ? "learn" : "act");
        const Tensor loss = c.build(t);
        if (learns) {
            const std::vector<Tensor> gradients = grad(loss, t.params());
            for (size_t i = 0; i < gradients.size(); ++i)
                t.output("gradient" + std::to_string(i), gradients[i]);
            t.output("loss", loss);
        }
        auto graph = t.finish();
        EXPECT_TRUE(graph.ok()) << graph.status().message();
        Variant variant{c.name, std::move(graph).value(), {}, c.rows};
        variant.text += learns ? ", learning" : ", acting";
        for (const ValueId v : variant.graph.inputs) {
            const Value& value = variant.graph.value(v);
            HostTensor tensor(value.dtype, value.shape.at(c.rows));
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

bool is_row_program(const OpKernel& kernel) {
    return kernel.launch.label.ends_with("row program");
}

class RowProgramBodies : public testing::TestWithParam<NetCase> {
  protected:
    static std::vector<OpKernel> kernels(const Variant& variant, DeviceCaps caps) {
        caps.shared_memory_bytes = GetParam().shared_bytes;
        return kernels_of(
            variant, caps,
            {.row_programs = true,
             .rows_capacity = GetParam().capacity,
             .precision = GetParam().has_matrices ? Precision::kF16 : Precision::kF32});
    }
};

TEST_P(RowProgramBodies, GiveWhatTheInterpreterGivesWithoutFaults) {
    // Sums in another order, which may round to the f16 beside it.
    const double tolerance = GetParam().has_matrices ? 4e-3 : 1e-5;
    bool matrices = false;
    for (const DeviceCaps& caps : GetParam().devices())
        for (const Variant& variant : variants_of(GetParam())) {
            int row_programs = 0;
            for (OpKernel& kernel : kernels(variant, caps)) {
                if (!is_row_program(kernel)) continue;
                ++row_programs;
                matrices |= body_requirements(*kernel.body).matrices;
                const Status status = run_kernel(*kernel.body, kernel.launch, kernel.operands);
                EXPECT_TRUE(status.ok()) << status.message();
                if (!status.ok()) continue;
                for (const auto& [index, expected] : kernel.expected)
                    EXPECT_EQ(difference(kernel.operands[index].tensor, expected, tolerance), "")
                        << kernel.launch.label << ": operand " << index;
            }
            EXPECT_EQ(row_programs, 1) << variant.text;
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

TEST(RowProgramBodies, AMissingBarrierIsARaceOfAStageThatIsNamed) {
    constexpr NetCase kCase{"Planted", regression, 21, 21};
    const Variant variant = variants_of(kCase)[0];
    for (OpKernel& kernel :
         kernels_of(variant, gpu_caps(), {.row_programs = true, .rows_capacity = kCase.capacity})) {
        Body body = *kernel.body;
        ASSERT_EQ(remove_last_barrier(body.statements), 1u);
        const Status status = run_kernel(body, kernel.launch, kernel.operands);
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.message().find("a race"), std::string::npos) << status.message();
        EXPECT_NE(status.message().find("matmul"), std::string::npos) << status.message();
    }
}

INSTANTIATE_TEST_SUITE_P(Nets, RowProgramBodies, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hearth::test
