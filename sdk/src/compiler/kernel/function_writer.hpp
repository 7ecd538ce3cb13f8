// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds one function of a body.

#pragma once

#include "compiler/kernel/writer.hpp"

#include <string>
#include <utility>

namespace hearth {

class FunctionWriter {
  public:
    FunctionWriter(Body& body, ScalarArena& arena, KernelWriter::Operand operand, std::string name)
        : writer(body, arena, std::move(operand)), body_(body), arena_(arena) {
        function_.name = std::move(name);
    }

    /// Parameters, in the order in which they are added.
    Expr add_parameter(std::string name, ScalarType type);
    /// One that the function sets for its caller.
    Expr add_result(std::string name, ScalarType type);
    /// A parameter that scalar expressions call by a new variable, or by this one.
    Scalar add_variable(std::string name, ScalarType type);
    void bind_parameter(std::string name, Scalar variable);

    /// Adds the function to the body and gives its index.
    uint32_t finish();
    uint32_t finish_with(Expr result);

    KernelWriter writer;  ///< of its statements

  private:
    Expr note(Expr parameter);

    Body& body_;
    ScalarArena& arena_;
    BodyFunction function_;
};

}  // namespace hearth
