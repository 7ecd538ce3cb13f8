// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/operator_kernel.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

OperatorKernel::OperatorKernel(const KernelTask& task)
    : graph_(task.graph),
      group_(task.group),
      options_(task.options),
      node_(task.node()),
      operand_(operands_of(task.graph, task.options, *body_)),
      expressions_(task.graph, task.group, task.inlined),
      access_(task.graph, task.group, task.options, *body_, operand_, expressions_),
      arena_(expressions_.arena()),
      w_(*body_, arena_, operand_) {}

Scalar OperatorKernel::bound(Expr value) {
    const Scalar variable = arena_.symbol(ScalarType::kI32);
    w_.bind(variable, value);
    return variable;
}

void OperatorKernel::store_result(const Coords<Scalar>& at, Scalar result, Scalar element) {
    expressions_.define(node_.outputs[0], result);
    ScalarPlace to{element, at};
    // Behind a reshape coordinates mean nothing; the linear index still does.
    if (!std::ranges::all_of(group_.stores, [&](ValueId v) {
            return graph_.values[v].shape == graph_.values[node_.outputs[0]].shape;
        }))
        to.coords.reset();
    store_all(w_, operand_, expressions_, group_.stores, to, element);
}

KernelDraft OperatorKernel::finish(std::string name, int64_t threads,
                                   std::optional<Scalar> element) {
    KernelDraft kernel;
    kernel.name = std::move(name);
    body_->statements = w_.take();
    body_->threads = static_cast<uint32_t>(threads);
    set_body(kernel, body_);
    if (element)
        kernel.is_elementwise = elementwise_buffers(arena_, operand_values(*body_), *element);
    else
        kernel.is_elementwise.assign(kernel.buffers.values.size(), false);
    return kernel;
}

}  // namespace hearth
