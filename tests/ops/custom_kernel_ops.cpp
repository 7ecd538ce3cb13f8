// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ops/custom_kernel_ops.hpp"

#include <hearth/ops.hpp>

#include <array>

namespace hearth::test {
namespace {

void matrix_samples(Samples& s) {
    s.add({{3, 5}});
    s.add({{1, 1}});
    s.add({{70, 3}});
    s.add({{kBatch, 4}}).batch_size = 9;
}

extern const OpDef kRowPrefix;

std::optional<CustomKernel> prefix_kernel(const KernelRuleContext& call) {
    return CustomKernel{.name = "row_prefix",
                        .glsl = R"(
void main() {
    for (int row = int(gl_GlobalInvocationID.x); row < in0_dim0; row += 64 * int(gl_NumWorkGroups.x)) {
        float sum = 0.0;
        for (int i = 0; i < in0_dim1; ++i) {
            sum += in0(row * in0_dim1 + i);
            out0(row * in0_dim1 + i, sum);
        }
    }
}
)",
                        .local_size = {64, 1, 1},
                        .grid = {{{call.shape(0)[0], 64}}}};
}

void prefix_reference(ReferenceContext& call) {
    const Shape& shape = call.inputs[0].shape();
    for (int64_t row = 0; row < shape[0].count; ++row) {
        double sum = 0;
        for (int64_t i = row * shape[1].count; i < (row + 1) * shape[1].count; ++i) {
            sum += call.inputs[0].get(i);
            call.outputs[0].set(i, sum);
        }
    }
}

// Everything after and before it may be fused into its kernel.
constinit const OpDef kRowPrefix = {
    .name = "test_row_prefix",
    .summary = "Running sums of each row.",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .reads_each_element_once = true,
    .infer = [](InferContext& c) { return c.one(c.dtype(0), c.shape(0)); },
    .reference = prefix_reference,
    .kernel = prefix_kernel,
    .vjp = [](VjpContext& v) -> std::vector<Tensor> {
        return {flip(apply_one(kRowPrefix, {flip(v.cotangent(), {1})}), {1})};
    },
    .samples = matrix_samples,
};

// Two outputs of different types, from a buffer that views must be stored to.
constinit const OpDef kRowExtremes = {
    .name = "test_row_extremes",
    .summary = "The largest element of each row, and its index.",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .is_opaque = true,
    .infer = [](InferContext& c) -> Status {
        if (c.shape(0)[1] == Dim(0)) return invalid_argument("rows without elements");
        c.outputs.push_back({c.dtype(0), {c.shape(0)[0]}});
        c.outputs.push_back({DType::kI32, {c.shape(0)[0], 1}});
        return {};
    },
    .reference =
        [](ReferenceContext& call) {
            const Shape& shape = call.inputs[0].shape();
            for (int64_t row = 0; row < shape[0].count; ++row) {
                int64_t best = 0;
                auto at = [&](int64_t i) { return call.inputs[0].get(row * shape[1].count + i); };
                for (int64_t i = 1; i < shape[1].count; ++i)
                    if (at(i) > at(best)) best = i;
                call.outputs[0].set(row, at(best));
                call.outputs[1].set(row, static_cast<double>(best));
            }
        },
    .kernel = [](const KernelRuleContext& call) -> std::optional<CustomKernel> {
        return CustomKernel{.name = "row_extremes",
                            .glsl = R"(
void main() {
    const int row = int(gl_GlobalInvocationID.x);
    if (row >= out0_count) return;
    int best = 0;
    for (int i = 1; i < in0_dim1; ++i)
        if (in0_load(row * in0_dim1 + i) > in0_load(row * in0_dim1 + best)) best = i;
    out0(row, in0_load(row * in0_dim1 + best));
    out1(row, best);
}
)",
                            .local_size = {64, 1, 1},
                            .grid = {{{call.shape(0)[0], 64}}}};
    },
    .stops_gradient = true,
    .samples = matrix_samples,
};

// Declines wide rows, which are then decomposed.
constinit const OpDef kNarrowDouble = {
    .name = "test_narrow_double",
    .summary = "x + x.",
    .inputs = {{"x"}},
    .op_class = OpClass::kKernel,
    .reads_each_element_once = true,
    .infer = [](InferContext& c) { return c.one(c.dtype(0), c.shape(0)); },
    .decompose = [](DecomposeContext& c) -> std::vector<Tensor> { return {c.in(0) + c.in(0)}; },
    .kernel = [](const KernelRuleContext& call) -> std::optional<CustomKernel> {
        if (call.shape(0)[1].count > 4) return std::nullopt;
        return CustomKernel{.name = "narrow_double",
                            .glsl =
                                "void main() {\n    const int i = int(gl_GlobalInvocationID.x);\n"
                                "    if (i < in0_count) out0(i, 2.0 * in0(i));\n}\n",
                            .local_size = {64, 1, 1},
                            .grid = {{{call.shape(0).element_count(), 64}}}};
    },
    .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * 2.0}; },
    .samples = matrix_samples,
};

}  // namespace

std::span<const OpDef* const> custom_kernel_ops() {
    static constexpr std::array<const OpDef*, 3> kOps{&kRowPrefix, &kRowExtremes, &kNarrowDouble};
    return kOps;
}

}  // namespace hearth::test
