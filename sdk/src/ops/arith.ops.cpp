// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise arithmetic with broadcasting.

#include <hearth/ops.hpp>

#include "ops/rules.hpp"

namespace hearth {

extern constinit const OpDef arith_ops[] = {
    {
        .name = "add",
        .summary = "a + b, broadcast.",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .at = at_any([](auto& c) { return c.x(0) + c.x(1); }),
        .vjp = [](VjpCall& v) -> std::vector<Tensor> {
            return {sum_to(v.cotangent(), v.in(0).shape()), sum_to(v.cotangent(), v.in(1).shape())};
        },
        .onnx = {{"Add", 7}},
        .samples = binary_samples,
    },
    {
        .name = "mul",
        .summary = "a * b, broadcast.",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .at = at_any([](auto& c) { return c.x(0) * c.x(1); }),
        .vjp = [](VjpCall& v) -> std::vector<Tensor> {
            return {sum_to(v.cotangent() * v.in(1), v.in(0).shape()),
                    sum_to(v.cotangent() * v.in(0), v.in(1).shape())};
        },
        .onnx = {{"Mul", 7}},
        .samples = binary_samples,
    },
};

}  // namespace hearth
