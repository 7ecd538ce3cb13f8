// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "runtime/loaded_program.hpp"

namespace hearth::runtime {

hearth_result LoadedProgram::load(Context& context, std::span<const std::byte> bytes, bool borrow,
                                  LoadedProgram** out) {
    HostAllocator& allocator = context.allocator();
    auto* program = allocator.make<LoadedProgram>(context);
    if (program == nullptr)
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    if (!borrow) {
        if (!program->copy_.resize(allocator, bytes.size() / 8 + 1)) {
            allocator.destroy(program);
            return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY,
                                "program: no host memory for %zu bytes", bytes.size());
        }
        std::memcpy(program->copy_.data(), bytes.data(), bytes.size());
        bytes = std::as_bytes(std::span<const uint64_t>(program->copy_)).first(bytes.size());
    }
    ViewError error;
    if (!program->view_.open(bytes, &error)) {
        allocator.destroy(program);
        const hearth_result result =
            error.code == StatusCode::kUnsupported       ? HEARTH_ERROR_VERSION_MISMATCH
            : error.code == StatusCode::kInvalidArgument ? HEARTH_ERROR_INVALID_ARGUMENT
                                                         : HEARTH_ERROR_CORRUPT_DATA;
        return context.fail(result, "%s", error.text.c_str());
    }
    context.count_program(1);
    *out = program;
    return HEARTH_OK;
}

void LoadedProgram::close() {
    context_->count_program(-1);
    release();
}

void LoadedProgram::release() {
    if (--uses_ == 0) context_->allocator().destroy(this);
}

}  // namespace hearth::runtime
