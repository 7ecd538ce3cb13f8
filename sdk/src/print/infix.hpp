// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Binary operators that GLSL, WGSL and C write alike.

#pragma once

#include <hearth/op/scalar.hpp>

#include <string>

namespace hearth {

/// "a + b"; empty for operators that a language may write in its own way.
inline std::string infix(ScalarOp op, const std::string& a, const std::string& b) {
    switch (op) {
        case ScalarOp::kAdd:
            return a + " + " + b;
        case ScalarOp::kSub:
            return a + " - " + b;
        case ScalarOp::kMul:
            return a + " * " + b;
        case ScalarOp::kLess:
            return a + " < " + b;
        case ScalarOp::kLessEqual:
            return a + " <= " + b;
        case ScalarOp::kEqual:
            return a + " == " + b;
        case ScalarOp::kNotEqual:
        case ScalarOp::kXor:
            return a + " != " + b;
        case ScalarOp::kAnd:
            return a + " && " + b;
        case ScalarOp::kOr:
            return a + " || " + b;
        case ScalarOp::kBitAnd:
            return a + " & " + b;
        case ScalarOp::kBitOr:
            return a + " | " + b;
        case ScalarOp::kBitXor:
            return a + " ^ " + b;
        default:
            return {};
    }
}

}  // namespace hearth
