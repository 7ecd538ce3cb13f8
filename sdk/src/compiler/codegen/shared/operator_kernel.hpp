// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Base of the classes that write the kernel of one operator with what is fused to it: the group, the body, and access
// to the operands.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/group_access.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/codegen/shared/vector_access.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <memory>
#include <optional>
#include <string>

namespace hearth {

class OperatorKernel {
  protected:
    explicit OperatorKernel(const KernelTask& task);
    ~OperatorKernel() = default;
    OperatorKernel(const OperatorKernel&) = delete;
    OperatorKernel& operator=(const OperatorKernel&) = delete;

    const Shape& shape(size_t input) const { return graph_.values[node_.inputs[input]].shape; }
    Expr index(int64_t value) const { return body_->index(value); }
    Expr number(double value) const { return body_->constant(value, ScalarType::kF32); }
    Expr larger(Expr a, Expr b) const { return body_->operation(ScalarOp::kMax, a, b); }
    Expr shared(const char* name, int64_t length, Chunk chunk = Chunk::kOne) {
        return body_->global(name, LocalKind::kShared, ScalarType::kF32,
                             static_cast<uint32_t>(length), chunk);
    }
    /// A variable of expressions for a value, in the current scope: what depends on it stays there.
    Scalar bound(Expr value);
    /// The same of a value that becomes a local of this name.
    Scalar bound(const std::string& name, Expr value) { return bound(w_.let(name, value)); }
    /// Stores what the group makes of an element of the operator's result.  at: its coordinates.
    void store_result(const Coords<Scalar>& at, Scalar result, Scalar element);
    /// The kernel, once its statements are written.  element: the linear index at which each invocation accesses all
    /// operands, if there is one (CallOperand).
    KernelDraft finish(std::string name, int64_t threads = 1, std::optional<Scalar> element = {});

    const Graph& graph_;
    const Group& group_;
    const LowerOptions& options_;
    const Node& node_;
    const std::shared_ptr<Body> body_ = std::make_shared<Body>();
    KernelWriter::Operand operand_;
    GroupExpressions expressions_;
    VectorAccess access_;
    ScalarArena& arena_;
    KernelWriter w_;
};

}  // namespace hearth
