// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What each class that writes a kernel for CPUs has at hand: the group, its operator, the body and what writes it.

#pragma once

#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hearth {

class CpuKernel {
  protected:
    CpuKernel(const Graph& graph, const Group& group, const std::vector<bool>& inlined,
              const LowerOptions& options, OpClass op_class)
        : graph_(graph),
          group_(group),
          options_(options),
          node_(node_of(graph, group, op_class)),
          body_(std::make_shared<Body>()),
          operand_(operands_of(graph, options, *body_)),
          expressions_(graph, group, inlined),
          arena_(expressions_.arena()),
          writer_(*body_, arena_, operand_) {}

    const Shape& shape(size_t input) const { return graph_.values[node_.inputs[input]].shape; }
    Expr index(int64_t value) const { return body_->index(value); }
    Expr smaller(Expr a, Expr b) const { return body_->operation(ScalarOp::kMin, a, b); }
    Expr larger(Expr a, Expr b) const { return body_->operation(ScalarOp::kMax, a, b); }

    /// A variable of expressions for the value, which is a local of that name.
    Scalar bound(const std::string& name, Expr value) {
        const Scalar variable = arena_.symbol(ScalarType::kI32);
        writer_.bind(variable, writer_.let(name, value));
        return variable;
    }

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    std::shared_ptr<Body> body_;
    KernelWriter::Operand operand_;
    GroupExpressions expressions_;
    ScalarArena& arena_;
    KernelWriter writer_;
};

}  // namespace hearth
