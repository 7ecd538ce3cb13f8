// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// State behind the public KernelBuilder: the body that it writes, and how it reaches operands.

#pragma once

#include "compiler/kernel/writer.hpp"

#include <hearth/kernel.hpp>
#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <functional>
#include <string>
#include <vector>

namespace hearth {

struct KernelBuilder::State {
    Body& body;
    ScalarArena& arena;
    KernelWriter& writer;
    struct Operand {
        Shape shape;
        ScalarType type = ScalarType::kF32;
    };
    std::vector<Operand> inputs, outputs;
    std::function<Scalar(size_t input, Scalar element)> load;
    std::function<void(size_t output, Scalar element, Scalar value)> store;
    uint32_t threads = 1;    ///< invocations of a workgroup
    bool is_serial = false;  ///< one invocation per workgroup: for_each() takes neighbours in turn
    bool uses_workgroup = false;  ///< out: invocations are told apart, or work together
    Status error = {};            ///< out: the first misuse

    uint32_t names = 0;
    Scalar lane, workgroup, workgroups;
};

}  // namespace hearth
