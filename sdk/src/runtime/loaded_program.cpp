// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "runtime/loaded_program.hpp"

#include "program/package.hpp"
#include "runtime/check_program.hpp"

#include <algorithm>

namespace hearth::runtime {

hearth_result result_of(StatusCode code) {
    return code == StatusCode::kUnsupported       ? HEARTH_ERROR_VERSION_MISMATCH
           : code == StatusCode::kInvalidArgument ? HEARTH_ERROR_INVALID_ARGUMENT
                                                  : HEARTH_ERROR_CORRUPT_DATA;
}

namespace {

/// Whether the device can run a profile of an open package; `why` says what it lacks.
hearth_result check_profile(const Context& context, const PackageView& package, uint32_t index,
                            FixedText<512>& why) {
    ProgramView view;
    ViewError error;
    if (!view.open(package.program(index), &error, package.weights())) {
        why.set("%s", error.text.c_str());
        return result_of(error.code);
    }
    const file::ProfileRecord& profile = package.profiles()[index];
    const hearth_device_caps& caps = context.device().caps();
    if (profile.shared_memory_bytes > caps.shared_memory_bytes) {
        why.set("needs %u bytes of shared memory, the device has %u", profile.shared_memory_bytes,
                caps.shared_memory_bytes);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (profile.subgroup_size != 0 && profile.subgroup_size != caps.subgroup_size) {
        why.set("needs subgroups of %u, the device's have %u", profile.subgroup_size,
                caps.subgroup_size);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    return check_program(context.device(), view, why);
}

size_t words(size_t bytes) {
    return (bytes + 7) / 8;
}

}  // namespace

hearth_result LoadedProgram::adopt(Context& context, std::span<const std::byte> bytes,
                                   std::span<const std::byte> outside, bool borrow,
                                   LoadedProgram** out) {
    HostAllocator& allocator = context.allocator();
    auto* program = allocator.make<LoadedProgram>(context);
    if (program == nullptr)
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    if (!borrow) {
        if (!program->copy_.resize(allocator, words(bytes.size()) + words(outside.size()) + 1)) {
            allocator.destroy(program);
            return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY,
                                "program: no host memory for %zu bytes",
                                bytes.size() + outside.size());
        }
        const auto copied = [&](size_t at, std::span<const std::byte> from) {
            if (!from.empty()) std::memcpy(program->copy_.data() + at, from.data(), from.size());
            return std::as_bytes(std::span<const uint64_t>(program->copy_))
                .subspan(8 * at, from.size());
        };
        bytes = copied(0, bytes);
        outside = copied(words(bytes.size()), outside);
    }
    ViewError error;
    if (!program->view_.open(bytes, &error, outside)) {
        allocator.destroy(program);
        return context.fail(result_of(error.code), "%s", error.text.c_str());
    }
    if (!program->sort_learned()) {
        allocator.destroy(program);
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    }
    context.count_program(1);
    *out = program;
    return HEARTH_OK;
}

bool LoadedProgram::sort_learned() {
    const auto is_learned_slot = [&](const file::SlotRecord& slot) {
        return is_learned(static_cast<SlotKind>(slot.kind));
    };
    const std::span<const file::SlotRecord> slots = view_.slots();
    const auto count =
        static_cast<size_t>(std::count_if(slots.begin(), slots.end(), is_learned_slot));
    if (!learned_.resize(context_->allocator(), count)) return false;
    uint32_t* end = learned_.begin();
    for (uint32_t i = 0; i < slots.size(); ++i)
        if (is_learned_slot(slots[i])) *end++ = i;
    std::sort(learned_.begin(), learned_.end(), [&](uint32_t a, uint32_t b) {
        return view_.text_view(slots[a].name) < view_.text_view(slots[b].name);
    });
    return true;
}

hearth_result LoadedProgram::load(Context& context, std::span<const std::byte> bytes, bool borrow,
                                  LoadedProgram** out) {
    return adopt(context, bytes, {}, borrow, out);
}

hearth_result LoadedProgram::load_package(Context& context, std::span<const std::byte> bytes,
                                          bool borrow, const char* profile, LoadedProgram** out) {
    PackageView package;
    ViewError error;
    if (!package.open(bytes, &error))
        return context.fail(result_of(error.code), "%s", error.text.c_str());
    FixedText<1024> problems;
    hearth_result result = HEARTH_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < package.profiles().size(); ++i) {
        const char* name = package.profiles()[i].name;
        if (profile != nullptr && std::strcmp(name, profile) != 0) continue;
        FixedText<512> why;
        result = check_profile(context, package, i, why);
        if (result == HEARTH_OK)
            return adopt(context, package.program(i), package.weights(), borrow, out);
        problems.append("%sprofile %s: %s", problems.empty() ? "" : "; ", name, why.c_str());
    }
    if (problems.empty()) return context.fail(result, "package: no profile is named '%s'", profile);
    return context.fail(result, "package: %s", problems.c_str());
}

void LoadedProgram::close() {
    if (is_closed_) return;
    is_closed_ = true;
    context_->count_program(-1);
    release();
}

void LoadedProgram::release() {
    if (--uses_ == 0) context_->allocator().destroy(this);
}

}  // namespace hearth::runtime
