// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_draft.hpp"

#include "compiler/kernel/code_size.hpp"
#include "core/device_model.hpp"

#include <utility>

namespace hearth {

std::vector<uint32_t> operand_values(const Body& body) {
    std::vector<uint32_t> values;
    for (const BodyBuffer& buffer : body.buffers)
        if (buffer.kind == BufferKind::kOperand) values.push_back(buffer.value);
    return values;
}

void set_body(KernelDraft& kernel, std::shared_ptr<Body> body) {
    kernel.local_size = {body->threads, 1, 1};
    set_functions(kernel, std::move(body));
}

void set_functions(KernelDraft& kernel, std::shared_ptr<Body> body) {
    const BodyRequirements needs = body_requirements(*body);
    kernel.buffers.values = operand_values(*body);
    kernel.buffers.uses_rows = needs.rows;
    kernel.has_matrices = needs.matrices;
    kernel.uses_subgroups = needs.subgroups;
    kernel.described = std::move(body);
}

bool compiles_quickly(const KernelDraft& kernel, const DeviceCaps& caps) {
    return kernel.described == nullptr ||
           estimate_instructions(*kernel.described) <= device_model(caps).max_instructions;
}

}  // namespace hearth
