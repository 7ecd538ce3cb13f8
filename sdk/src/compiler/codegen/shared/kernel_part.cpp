// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/kernel_part.hpp"

#include "compiler/kernel/writer.hpp"

#include <hearth/op/scalar.hpp>

#include <memory>
#include <utility>

namespace hearth {

KernelDraft kernel_of_part(const char* name, WritePart* write, const KernelTask& task) {
    const auto body = std::make_shared<Body>();
    ScalarArena arena;
    KernelWriter writer(*body, arena, {});
    const Expr workgroup = writer.let("group", body->workgroup());
    KernelPart part = write(task, *body, workgroup);
    for (const uint32_t function : part.replicated_scalars) writer.call(function);
    body->statements = writer.take();
    for (Statement& s : part.statements) body->statements.push_back(std::move(s));
    body->threads = part.threads;
    KernelDraft kernel;
    kernel.name = name;
    set_body(kernel, body);
    kernel.is_elementwise = std::move(part.is_elementwise);
    kernel.grid[0] = part.grid;
    kernel.flops = part.flops;
    return kernel;
}

}  // namespace hearth
