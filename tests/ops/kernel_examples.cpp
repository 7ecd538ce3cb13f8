// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The examples of docs/how-to/custom_kernels.md, which the test docs.kernels compares with the page.

#include "ops/custom_kernel_ops.hpp"

#include <hearth/kernel.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <array>

namespace hearth::test {
namespace {

constinit const OpDef kMatmulAddRelu = {
    .name = "game_matmul_add_relu",
    .summary = "relu(lhs @ rhs + bias), of [M, K], [K, N] and [N].",
    .inputs = {{"lhs"}, {"rhs"}, {"bias"}},
    .op_class = OpClass::kKernel,
    .infer =
        [](InferContext& c) {
            return c.one(c.dtype(0), {c.shape(0)[0], c.shape(1)[1]});
        },
    .decompose = [](DecomposeContext& c) -> std::vector<Tensor> {
        return {relu(matmul(c.in(0), c.in(1)) + c.in(2))};
    },
    .kernel = [](const KernelRuleContext& c) -> std::optional<CustomKernel> {
        return CustomKernel{.name = "matmul_add_relu",
                            .body =
                                [](KernelBuilder& k) {
                                    const Scalar inner = k.in_dim(0, 1), columns = k.out_dim(0, 1);
                                    k.for_each(k.out_count(0), [&](Scalar i) {
                                        const Scalar row = i / columns, column = i % columns;
                                        KernelVariable sum = k.variable(k.in(2, column));
                                        k.loop(0, inner, [&](Scalar j) {
                                            const Scalar a = k.in(0, row * inner + j);
                                            sum = k.multiply_add(a, k.in(1, j * columns + column),
                                                                 sum);
                                        });
                                        k.out(0, i, max(sum, 0.0));
                                    });
                                },
                            .local_size = {64, 1, 1},
                            .grid = {{{c.outputs[0].shape.element_count(), 64}}}};
    },
    .vjp = [](VjpContext& v) -> std::vector<Tensor> {
        const Tensor g = where(greater(v.out(), 0.0), v.cotangent(), 0.0);
        return {matmul(g, transpose(v.in(1))), matmul(transpose(v.in(0)), g),
                sum_to_shape(g, v.in(2).shape())};
    },
    .samples =
        [](Samples& s) {
            s.add({{8, 12}, {12, 16}, {16}});
            s.add({{kBatch, 5}, {5, 3}, {3}});
            s.add({{1, 1}, {1, 70}, {70}});
        },
};

constinit const OpDef kDiffuse = {
    .name = "game_diffuse",
    .summary = "x + 0.2 (the sum of its four neighbours - 4 x) of [H, W]; the border is repeated.",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .infer = [](InferContext& c) { return c.one(c.dtype(0), c.shape(0)); },
    .reference =
        [](ReferenceContext& c) {
            const int64_t height = c.inputs[0].shape()[0].count,
                          width = c.inputs[0].shape()[1].count;
            const auto at = [&](int64_t y, int64_t x) {
                return c.inputs[0].get(std::clamp<int64_t>(y, 0, height - 1) * width +
                                       std::clamp<int64_t>(x, 0, width - 1));
            };
            for (int64_t y = 0; y < height; ++y)
                for (int64_t x = 0; x < width; ++x) {
                    const double around = at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1);
                    c.outputs[0].set(y * width + x, at(y, x) + 0.2 * (around - 4 * at(y, x)));
                }
        },
    .kernel = [](const KernelRuleContext& c) -> std::optional<CustomKernel> {
        return CustomKernel{
            .name = "diffuse",
            .body =
                [](KernelBuilder& k) {
                    const Scalar height = k.in_dim(0, 0), width = k.in_dim(0, 1);
                    const auto at = [&](Scalar y, Scalar x) {
                        return k.in(0,
                                    min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1));
                    };
                    k.for_each(k.out_count(0), [&](Scalar i) {
                        const Scalar y = i / width, x = i % width, here = k.in(0, i);
                        const Scalar around =
                            at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1);
                        k.out(0, i, here + 0.2 * (around - 4.0 * here));
                    });
                },
            .local_size = {64, 1, 1},
            .grid = {{{c.outputs[0].shape.element_count(), 64}}}};
    },
    // Neighbourhood is symmetric, and so is the matrix of this linear map.
    .vjp = [](VjpContext& v) -> std::vector<Tensor> {
        return {apply_one(kDiffuse, {v.cotangent()})};
    },
    .samples =
        [](Samples& s) {
            s.add({{7, 9}});
            s.add({{1, 70}});
            s.add({{kBatch, 5}});
        },
};

constinit const OpDef kRowEnergy = {
    .name = "game_row_energy",
    .summary = "Sums of squares of the rows of [N, M].",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .infer = [](InferContext& c) { return c.one(c.dtype(0), {c.shape(0)[0]}); },
    .decompose = [](DecomposeContext& c) -> std::vector<Tensor> {
        return {sum(square(c.in(0)), {1})};
    },
    .kernel = [](const KernelRuleContext& c) -> std::optional<CustomKernel> {
        return CustomKernel{
            .name = "row_energy",
            .body =
                [](KernelBuilder& k) {
                    const Scalar lane = k.lane(), columns = k.in_dim(0, 1);
                    const KernelArray sums = k.shared(ScalarType::kF32, 64);
                    k.loop(k.workgroup(), k.out_count(0), k.workgroup_count(), [&](Scalar row) {
                        KernelVariable sum = k.variable(0.0);
                        k.loop(lane, columns, 64, [&](Scalar j) {
                            const Scalar x = k.in(0, row * columns + j);
                            sum += x * x;
                        });
                        sums.set(lane, sum);
                        k.barrier();
                        k.loop_shrinking(32, 2, [&](Scalar width) {
                            const Scalar mine = sums[lane];
                            k.if_(lane < width, [&] { sums.set(lane, mine + sums[lane + width]); });
                            k.barrier();
                        });
                        k.if_(lane == 0, [&] { k.out(0, row, sums[0]); });
                        k.barrier();  // the next row is summed in the same array
                    });
                },
            .local_size = {64, 1, 1},
            .grid = {{{c.outputs[0].shape.element_count(), 1}}}};
    },
    .vjp = [](VjpContext& v) -> std::vector<Tensor> {
        return {2.0 * v.in(0) * unsqueeze(v.cotangent(), {1})};
    },
    .samples =
        [](Samples& s) {
            s.add({{3, 150}});
            s.add({{kBatch, 5}});
            s.add({{70, 1}});
        },
};

}  // namespace

std::span<const OpDef* const> kernel_examples() {
    static constexpr std::array<const OpDef*, 3> kOps{&kMatmulAddRelu, &kDiffuse, &kRowEnergy};
    return kOps;
}

}  // namespace hearth::test
