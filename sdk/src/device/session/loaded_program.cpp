// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads programs and packages, chooses a package's program for the device, and reads kernel code.

#include "device/session/loaded_program.hpp"

#include "device/session/check_program.hpp"
#include "program/brain.hpp"
#include "program/initial_values.hpp"
#include "program/package.hpp"

#include <algorithm>

namespace hearth::runtime {

hearth_result result_of(StatusCode code) {
    return code == StatusCode::kUnsupported       ? HEARTH_ERROR_VERSION_MISMATCH
           : code == StatusCode::kInvalidArgument ? HEARTH_ERROR_INVALID_ARGUMENT
           : code == StatusCode::kOutOfRange      ? HEARTH_ERROR_OUT_OF_HOST_MEMORY
                                                  : HEARTH_ERROR_CORRUPT_DATA;
}

UnsoundValue find_unsound_value(const hearth_program* program) {
    return hearth::find_unsound_value(reinterpret_cast<const LoadedProgram*>(program)->view());
}

namespace {

/// Checks whether the device can run a device target of an open package; `why` receives what is
/// missing.
hearth_result check_profile(const Context& context, const PackageView& package, uint32_t index,
                            const ProgramView& view, hearth_trust_level trust,
                            FixedText<512>& why) {
    const file::DeviceTargetRecord& profile = package.device_targets()[index];
    const hearth_device_caps& caps = context.device().caps();
    if (profile.shared_memory_bytes > caps.max_compute_shared_memory_size) {
        why.set(
            "needs %u bytes of shared memory, the device has %u; cook for a device target with "
            "less, too",
            profile.shared_memory_bytes, caps.max_compute_shared_memory_size);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (profile.subgroup_size != 0 &&
        !context.device().can_have_subgroups_of(profile.subgroup_size, 1)) {
        FixedText<64> have;
        describe_subgroup_sizes(context.device(), have);
        why.set("needs subgroups of %u, the device's have %s; cook for another device target, too",
                profile.subgroup_size, have.c_str());
        return HEARTH_ERROR_UNSUPPORTED;
    }
    return check_program(context.device(), view, trust, why);
}

BindingModel binding_model_of(const Context& context) {
    return context.device().binding_model() == HEARTH_BINDING_PUSH_DESCRIPTOR
               ? BindingModel::kDescriptor
               : BindingModel::kDeviceAddress;
}

size_t words(size_t bytes) {
    return (bytes + 7) / 8;
}

/// Sets bytes.program to the contents of a section, decompressed if it is stored so.
bool read_program(Context& context, const PackageView& package, uint32_t section,
                  ProgramBytes& bytes, ViewError* error) {
    if (!package.is_compressed(section)) {
        bytes.program = package.section(section);
        return true;
    }
    const uint64_t contents_bytes = package.contents_bytes(section);
    const auto size = static_cast<size_t>(contents_bytes);
    if (!bytes.decompressed.resize(context.allocator(), words(size))) {
        error->code = StatusCode::kOutOfRange;
        error->text.set("no host memory for the %zu bytes of its program", size);
        return false;
    }
    const auto contents =
        std::as_writable_bytes(std::span(bytes.decompressed.data(), words(size))).first(size);
    bytes.program = contents;
    return package.read(section, contents, error);
}

}  // namespace

bool LoadedProgram::copy(ProgramBytes& bytes) {
    const bool has_program = decompressed_.size() > 0;
    const size_t outside_at = has_program ? 0 : words(bytes.program.size()),
                 agents_at = outside_at + words(bytes.outside.size());
    if (!copy_.resize(context_->allocator(), agents_at + words(bytes.agents.size()) + 1))
        return false;
    const auto copied = [&](size_t at, std::span<const std::byte> from) {
        if (!from.empty()) std::memcpy(copy_.data() + at, from.data(), from.size());
        return std::as_bytes(std::span<const uint64_t>(copy_)).subspan(8 * at, from.size());
    };
    if (!has_program) bytes.program = copied(0, bytes.program);
    bytes.outside = copied(outside_at, bytes.outside);
    bytes.agents = copied(agents_at, bytes.agents);
    return true;
}

hearth_result LoadedProgram::adopt(Context& context, ProgramBytes bytes, bool borrow,
                                   hearth_trust_level trust, uint64_t shared_limit,
                                   LoadedProgram** out) {
    HostAllocator& allocator = context.allocator();
    auto* program = allocator.make<LoadedProgram>(context);
    if (program == nullptr)
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    program->decompressed_ = std::move(bytes.decompressed);
    if (!borrow && !program->copy(bytes)) {
        allocator.destroy(program);
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY,
                            "program: no host memory for %zu bytes",
                            bytes.program.size() + bytes.outside.size() + bytes.agents.size());
    }
    program->agents_ = bytes.agents;
    ViewError error;
    // A hash that is not the program's could make the application take it for another.
    if (!program->view_.open(bytes.program, &error, bytes.outside) ||
        (trust == HEARTH_TRUST_UNTRUSTED && !check_content_hash(program->view_, &error))) {
        allocator.destroy(program);
        return context.fail(result_of(error.code), "%s", error.text.c_str());
    }
    FixedText<512> why;
    if (const hearth_result r = check_loading(context.device(), program->view_, trust, why);
        r != HEARTH_OK) {
        allocator.destroy(program);
        return context.fail(r, "program: %s", why.c_str());
    }
    program->trust_ = trust;
    if (trust == HEARTH_TRUST_UNTRUSTED) program->owner_ = context.next_untrusted_owner();
    if (const hearth_result r = program->read_code(shared_limit); r != HEARTH_OK) {
        allocator.destroy(program);
        return r;
    }
    if (!program->list_saved()) {
        allocator.destroy(program);
        return context.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    }
    program->schema_hash_ = brain_schema_hash(program->view_);
    context.count_program(1);
    *out = program;
    return HEARTH_OK;
}

hearth_result LoadedProgram::find_functions() {
    native::Device& device = *context_->native();
    const std::span<const file::KernelRecord> kernels = view_.kernels();
    Array<hearth_cpu_kernel_source> missing;
    if (!missing.resize(context_->allocator(), kernels.size()) ||
        !is_divisible_.resize(context_->allocator(), kernels.size()))
        return context_->fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    size_t missing_count = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
        const NativeCode code = native_code(view_.spirv_of(kernels[k]));
        is_divisible_[k] = code.is_divisible;
        if (device.find(code.hash) == nullptr)
            missing[missing_count++] = {code.hash, view_.text(kernels[k].name),
                                        view_.text(kernels[k].source)};
    }
    const std::span<const hearth_cpu_kernel_source> all(missing.data(), missing_count);
    device.build(view_.cpu(), all);
    for (const hearth_cpu_kernel_source& source : all)
        if (device.find(source.hash) == nullptr)
            return context_->fail(
                HEARTH_ERROR_NOT_FOUND,
                "program: kernel %s (%016llx for %s) is in none of "
                "hearth_cpu_context_create_info::tables%s",
                source.name, static_cast<unsigned long long>(source.hash), name_of(view_.cpu()),
                device.can_build() ? ", and compiling it failed; the log says why" : "");
    return HEARTH_OK;
}

hearth_result LoadedProgram::read_code(uint64_t shared_limit) {
    if (view_.cpu() != CpuIsa::kNone) return find_functions();
    uint32_t most_ids = 0;
    for (const file::KernelRecord& kernel : view_.kernels())
        most_ids = std::max(most_ids, spirv_bound(view_.spirv_of(kernel)));
    Array<SpirvId> ids;
    if (!ids.resize(context_->allocator(), most_ids) ||
        !is_divisible_.resize(context_->allocator(), view_.kernels().size()))
        return context_->fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "program: out of host memory");
    for (uint32_t k = 0; k < view_.kernels().size(); ++k) {
        const file::KernelRecord& kernel = view_.kernels()[k];
        SpirvFacts facts;
        ViewError error;
        if (!check_code(view_, kernel, ids, &facts, &error))
            return context_->fail(result_of(error.code), "%s", error.text.c_str());
        if (facts.shared_bytes > shared_limit)
            return context_->fail(HEARTH_ERROR_CORRUPT_DATA,
                                  "program: kernel %s: its code uses %llu bytes of shared memory, "
                                  "the package declares %llu; cook it again",
                                  view_.text(kernel.name),
                                  static_cast<unsigned long long>(facts.shared_bytes),
                                  static_cast<unsigned long long>(shared_limit));
        is_divisible_[k] = facts.is_divisible;
        spirv_version_ = std::max(spirv_version_, facts.version);
        if (facts.shared_bytes <= shared_bytes_) continue;
        shared_bytes_ = facts.shared_bytes;
        shared_kernel_ = k;
    }
    return HEARTH_OK;
}

hearth_result LoadedProgram::check_needs(FixedText<512>& error) const {
    const gpu::Device& device = context_->device();
    const uint32_t allowed = device.limits().maxComputeSharedMemorySize;
    if (shared_bytes_ > allowed) {
        error.set(
            "kernel %s: uses %llu bytes of shared memory, the device allows %u; cook for a device "
            "target with less",
            view_.text(view_.kernels()[shared_kernel_].name),
            static_cast<unsigned long long>(shared_bytes_), allowed);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    const uint32_t newest = gpu::newest_spirv(device.api_version());
    if (spirv_version_ > newest) {
        error.set(
            "its SPIR-V is of version 1.%u, the Vulkan version in use accepts up to 1.%u; raise "
            "the api version, or cook with --device-targets vulkan-1.1",
            spirv_version_ >> 8 & 0xff, newest >> 8 & 0xff);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    return HEARTH_OK;
}

bool LoadedProgram::list_saved() {
    const auto kind = [&](uint32_t variable) {
        return static_cast<VariableKind>(view_.variables()[variable].kind);
    };
    const std::span<const uint32_t> order = view_.variables_by_name();
    const auto list = [&](Array<uint32_t>& into, auto is_saved) {
        const auto count = static_cast<size_t>(std::count_if(order.begin(), order.end(), is_saved));
        if (!into.resize(context_->allocator(), count)) return false;
        std::copy_if(order.begin(), order.end(), into.begin(), is_saved);
        return true;
    };
    return list(learned_, [&](uint32_t v) { return is_learned(kind(v)); }) &&
           list(resumed_, [&](uint32_t v) { return kind(v) != VariableKind::kConstant; });
}

uint64_t LoadedProgram::parent_hash() const {
    // Two threads may compute it at once; both get the same value.
    if (!has_parent_hash_.load(std::memory_order_acquire)) {
        parent_hash_.store(brain_parent_hash(view_), std::memory_order_relaxed);
        has_parent_hash_.store(true, std::memory_order_release);
    }
    return parent_hash_.load(std::memory_order_relaxed);
}

hearth_result LoadedProgram::load(Context& context, std::span<const std::byte> bytes, bool borrow,
                                  hearth_trust_level trust, LoadedProgram** out) {
    if (const hearth_result r = context.verify(bytes, false, trust); r != HEARTH_OK) return r;
    return adopt(context, {.program = bytes}, borrow, trust, UINT64_MAX, out);
}

hearth_result LoadedProgram::load_package(Context& context, std::span<const std::byte> bytes,
                                          bool borrow, hearth_trust_level trust,
                                          const char* device_target, LoadedProgram** out) {
    if (const hearth_result r = context.verify(bytes, true, trust); r != HEARTH_OK) return r;
    PackageView package;
    ViewError error;
    if (!package.open(bytes, &error))
        return context.fail(result_of(error.code), "%s", error.text.c_str());
    FixedText<1024> problems;
    hearth_result result = HEARTH_ERROR_NOT_FOUND;
    const std::span<const file::DeviceTargetRecord> targets = package.device_targets();
    // The application's buffers are made for its binding model: targets of the other one follow.
    bool is_left[HEARTH_MAX_DEVICE_TARGETS] = {};
    for (uint32_t turn = 0; turn < 2 * targets.size(); ++turn) {
        const uint32_t i = turn % static_cast<uint32_t>(targets.size());
        const bool is_first_round = turn < targets.size();
        if (!is_first_round && !is_left[i]) continue;
        const char* name = targets[i].name;
        if (device_target != nullptr && std::strcmp(name, device_target) != 0) continue;
        ProgramBytes program{.outside = package.weights(), .agents = package.agents()};
        ProgramView view;
        FixedText<512> why;
        if (!read_program(context, package, package.program_section(i), program, &error) ||
            !package.open_program(i, program.program, &view, &error)) {
            why.set("%s", error.text.c_str());
            result = result_of(error.code);
        } else if (is_first_round && view.binding_model() != binding_model_of(context)) {
            is_left[i] = true;
            continue;
        } else {
            result = check_profile(context, package, i, view, trust, why);
        }
        if (result == HEARTH_OK) {
            result = adopt(context, std::move(program), borrow, trust,
                           targets[i].shared_memory_bytes, out);
            if (result == HEARTH_OK) result = (*out)->check_needs(why);
            if (result == HEARTH_OK) return result;
            if (*out == nullptr) return result;
            (*out)->close();
            *out = nullptr;
        }
        problems.append("%sdevice target %s: %s", problems.empty() ? "" : "; ", name, why.c_str());
    }
    if (problems.empty()) {
        FixedText<512> names;
        for (const file::DeviceTargetRecord& target : targets)
            names.append("%s%s", names.empty() ? "" : ", ", target.name);
        return context.fail(result, "package: no device target is named '%s'; expected one of: %s",
                            device_target, names.c_str());
    }
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
