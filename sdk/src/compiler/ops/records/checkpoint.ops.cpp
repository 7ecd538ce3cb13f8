// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Markers for gradient checkpointing; see compiler/autodiff/checkpoint.cpp.

#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

constinit const OpDef kOps[] = {
    {
        .name = "checkpoint",
        .summary = "x, the result of the last `nodes` operators before it, which gradients compute "
                   "again instead of keeping what they need of them",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"nodes", AttrType::kInteger}},
        .op_class = OpClass::kComposite,
        .traits = {.is_checkpoint = true},
        .infer = same_as_input,
        .decompose = [](DecomposeContext& c) -> std::vector<Tensor> { return {c.in(0)}; },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent()}; },
        .samples =
            [](Samples& s) {
                for (const Shape& shape : {Shape{}, Shape{3, 5}, Shape{kBatch, 2}})
                    s.add({shape}, {{"nodes", int64_t{0}}});
            },
    },
    {
        .name = "compute_after",
        .summary = "x, as a value of its own that is not read before `after` is there: what is "
                   "computed of it is computed then",
        .inputs = {{"x", TypeClass::kAny}, {"after", TypeClass::kAny}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .traits = {.is_delayed = true},
        .infer = same_as_input,
        .compute = compute_any([](auto& c) { return c.in(0, c.coords()); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent(), Tensor()};
        },
        .samples =
            [](Samples& s) {
                s.add({{}, {2}});
                s.add({{3, 5}, {}});
                s.add({{kBatch, 2}, {7}});
                s.add_typed({{DType::kI32, {4}}, {DType::kF32, {kBatch}}});
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> checkpoint_ops{kOps};

}  // namespace hearth
