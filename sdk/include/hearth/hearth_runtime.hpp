// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// C++17 interface over hearth.h: move-only handles, spans and Results.  Header-only; adds nothing
// to the ABI.  Conversions to the compiler's DeviceCaps require C++20, as the compiler does.
//
// The central classes are Context (an adopted device), LoadedProgram (compiled entries) and Session
// (a program with device memory, which records).  The thread, ordering and lifetime rules of
// hearth.h apply.

#pragma once

#include <hearth/core/span.hpp>
#include <hearth/hearth.h>
#include <hearth/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#include <hearth/types.hpp>
#define HEARTH_HAS_DEVICE_CAPS 1
#endif

namespace hearth {

/// Converts a C result to a Status; positive results are successes.
inline Status to_status(hearth_result result, std::string_view detail = {}) {
    if (result >= 0) return {};
    const auto code = [&] {
        switch (result) {
            case HEARTH_ERROR_INVALID_ARGUMENT:
            case HEARTH_ERROR_INVALID_STATE:
            case HEARTH_ERROR_INCOMPATIBLE:
            case HEARTH_ERROR_NON_FINITE:
            case HEARTH_ERROR_VERIFICATION_FAILED:
                return StatusCode::kInvalidArgument;
            case HEARTH_ERROR_NOT_FOUND:
            case HEARTH_ERROR_DISCARDED:
                return StatusCode::kNotFound;
            case HEARTH_ERROR_UNSUPPORTED:
            case HEARTH_ERROR_VERSION_MISMATCH:
                return StatusCode::kUnsupported;
            case HEARTH_ERROR_CORRUPT_DATA:
                return StatusCode::kCorruptData;
            case HEARTH_ERROR_OUT_OF_RANGE:
            case HEARTH_ERROR_TOO_MANY_IN_FLIGHT:
            case HEARTH_ERROR_BUDGET_EXCEEDED:
            case HEARTH_ERROR_OUT_OF_HOST_MEMORY:
            case HEARTH_ERROR_OUT_OF_DEVICE_MEMORY:
                return StatusCode::kOutOfRange;
            default:
                return StatusCode::kInternal;
        }
    }();
    std::string text = hearth_result_name(result);
    if (!detail.empty()) text.append(": ");
    for (const char c : detail) {  // join the lines of several messages into one
        if (c == '\n')
            text.append("; ");
        else
            text.push_back(c);
    }
    return {code, std::move(text)};
}

/// Extensions and features to enable on a device.
/// Errors: kUnsupported, naming everything that is missing.
inline Result<hearth_requirements> get_device_requirements(
    const hearth_device_requirements_info& query) {
    hearth_requirements out = hearth_requirements_default();
    hearth_messages messages{};
    const hearth_result result = hearth_get_device_requirements(&query, &out, &messages);
    if (result != HEARTH_OK) return to_status(result, messages.text);
    return out;
}

#if defined(HEARTH_HAS_DEVICE_CAPS)

inline DeviceCaps to_caps(const hearth_device_caps& c) {
    if (c.cpu_isa != HEARTH_CPU_ISA_NONE) return cpu_caps(static_cast<CpuIsa>(c.cpu_isa));
    DeviceCaps caps;
    caps.name = c.name;
    caps.subgroup_size = c.subgroup_size;
    caps.max_compute_work_group_invocations = c.max_compute_work_group_invocations;
    caps.max_compute_work_group_size_x = c.max_compute_work_group_size_x;
    caps.max_compute_work_group_count_x = c.max_compute_work_group_count_x;
    caps.max_compute_shared_memory_size = c.max_compute_shared_memory_size;
    caps.max_push_constants_size = c.max_push_constants_size;
    caps.min_storage_buffer_offset_alignment = c.min_storage_buffer_offset_alignment;
    caps.max_storage_buffer_range = c.max_storage_buffer_range;
    caps.shader_float16 = c.shader_float16 != 0;
    caps.storage_buffer_16bit_access = c.storage_buffer_16bit_access != 0;
    caps.storage_buffer_8bit_access = c.storage_buffer_8bit_access != 0;
    caps.subgroup_arithmetic = c.subgroup_arithmetic != 0;
    caps.cooperative_matrix =
        c.cooperative_matrix == HEARTH_COOPERATIVE_MATRIX_EXT_NV    ? CooperativeMatrixExt::kNv
        : c.cooperative_matrix == HEARTH_COOPERATIVE_MATRIX_EXT_KHR ? CooperativeMatrixExt::kKhr
                                                                    : CooperativeMatrixExt::kNone;
    caps.cooperative_matrix_shape = {c.cooperative_matrix_m, c.cooperative_matrix_n,
                                     c.cooperative_matrix_k};
    static_assert(std::tuple_size_v<decltype(caps.workgroup_scope_granularities)> ==
                  HEARTH_MAX_WORKGROUP_SCOPE_GRANULARITIES);
    for (size_t i = 0; i < caps.workgroup_scope_granularities.size(); ++i) {
        const hearth_workgroup_scope_granularity& w = c.workgroup_scope_granularities[i];
        caps.workgroup_scope_granularities[i] = {w.invocations, {w.m, w.n, w.k}};
    }
    caps.workgroup_scope_reserved_shared_memory = c.workgroup_scope_reserved_shared_memory;
    caps.cooperative_matrix_nv = c.cooperative_matrix_nv != 0;
    caps.device_type = static_cast<DeviceType>(c.device_type);
    caps.compute_units = c.compute_units;
    caps.shader_int64 = c.shader_int64 != 0;
    caps.buffer_device_address = c.buffer_device_address != 0;
    caps.spirv_version = c.spirv_version;
    caps.mixed_float_dot_product = c.mixed_float_dot_product != 0;
    caps.vendor_id = c.vendor_id;
    caps.device_id = c.device_id;
    caps.driver_id = c.driver_id;
    caps.driver_version = c.driver_version;
    return caps;
}

/// Caps of a device on which the features `enabled` are or will be enabled.
inline Result<DeviceCaps> get_device_caps(const hearth_device_requirements_info& query,
                                          hearth_features enabled) {
    hearth_device_caps caps = hearth_device_caps_default();
    if (const hearth_result result = hearth_get_device_caps(&query, enabled, &caps);
        result != HEARTH_OK)
        return to_status(result);
    return to_caps(caps);
}

#endif

/// HEARTH_VERSION of the loaded library.  Any thread.
inline uint32_t version() {
    return hearth_version();
}

/// Checks that a caller compiled against `header_version` can use the loaded library.  Any thread.
/// Errors: kUnsupported if the versions differ too much; see hearth_check_version.
inline Status check_version(uint32_t header_version = HEARTH_VERSION) {
    return to_status(hearth_check_version(header_version));
}

/// Build description for bug reports: "hearth 0.2.0 g++ 12.2.0 release".  Any thread.
inline std::string_view build_info() {
    return hearth_build_info();
}

/// The widest instruction set that this machine supports.  Any thread.
inline hearth_cpu_isa detect_cpu_isa() {
    return hearth_detect_cpu_isa();
}

/// Vulkan's name of a single feature bit, such as "bufferDeviceAddress"; "" for anything else.  Any
/// thread.
inline std::string_view feature_name(hearth_features one_bit) {
    return hearth_feature_name(one_bit);
}

/// Sets the booleans of `features` in the application's pNext chain for vkCreateDevice.
/// chain  the chain's first struct; null: there is none, and the memory begins with the first of a
///        chain of the structs that are needed
/// Returns memory of structs that were added to the chain; it must outlive vkCreateDevice.
/// Errors: kInvalidArgument for a struct without sType.
inline Result<std::vector<uint64_t>> enable_features(hearth_features features, uint32_t api_version,
                                                     void* chain) {
    size_t bytes = 0;
    HEARTH_TRY(to_status(hearth_enable_features(features, api_version, chain, nullptr, &bytes)));
    // Never empty: a null pointer would only ask for the size.
    std::vector<uint64_t> storage(bytes / sizeof(uint64_t) + 1);
    HEARTH_TRY(
        to_status(hearth_enable_features(features, api_version, chain, storage.data(), &bytes)));
    return storage;
}

/// The features that a device was created with, for hearth_context_create_info::features: the
/// inverse of enable_features.  Any thread.
/// chain             VkDeviceCreateInfo::pNext or a tail of it; null for none
/// enabled_features  VkDeviceCreateInfo::pEnabledFeatures, or null
inline hearth_features get_enabled_features(const void* chain,
                                            const void* enabled_features = nullptr) {
    return hearth_get_enabled_features(chain, enabled_features);
}

/// Instance extensions to enable, all optional.
inline Result<hearth_requirements> get_instance_requirements() {
    hearth_requirements out = hearth_requirements_default();
    if (const hearth_result result = hearth_get_instance_requirements(&out); result != HEARTH_OK)
        return to_status(result);
    return out;
}

/// An adopted device.  Destroy it last, after the GPU has finished all recorded work.
class Context {
  public:
    static Result<Context> create(const hearth_context_create_info& info) {
        hearth_context* context = nullptr;
        hearth_messages messages{};
        const hearth_result result = hearth_context_create(&info, &context, &messages);
        if (result != HEARTH_OK) return to_status(result, messages.text);
        return Context(context);
    }
    /// Creates a context for this machine's CPU; see "CPU device" in hearth.h.
    static Result<Context> create_cpu(
        const hearth_cpu_context_create_info& info = hearth_cpu_context_create_info_default()) {
        hearth_context* context = nullptr;
        hearth_messages messages{};
        const hearth_result result = hearth_context_create_cpu(&info, &context, &messages);
        if (result != HEARTH_OK) return to_status(result, messages.text);
        return Context(context);
    }
    Context() = default;
    Context(Context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Context& operator=(Context&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Context() {
        if (handle_ != nullptr) (void)hearth_context_destroy(handle_);
    }

    hearth_context* handle() const { return handle_; }
    std::string_view error() const { return hearth_context_error(handle_); }

    Status begin_frame(uint64_t frame_number, uint64_t completed_frame_number) {
        return check(hearth_begin_frame(handle_, frame_number, completed_frame_number));
    }
    /// Begins the frame after the last one, all of which have completed: for applications that wait
    /// for each submission.
    Status begin_frame() { return begin_frame(HEARTH_NEXT_FRAME, HEARTH_COMPLETED_ALL); }
    /// Reports that a frame was never submitted; returns what was lost, one item per line (see
    /// hearth_discard_frame).
    Result<std::string> discard_frame(uint64_t frame_number) {
        hearth_messages messages{};
        HEARTH_TRY(check(hearth_discard_frame(handle_, frame_number, &messages)));
        return std::string(messages.text);
    }
#if defined(HEARTH_HAS_DEVICE_CAPS)
    Result<DeviceCaps> device_caps() const {
        hearth_device_caps caps = hearth_device_caps_default();
        HEARTH_TRY(check(hearth_context_get_device_caps(handle_, &caps)));
        return to_caps(caps);
    }
#endif
    /// Reports that the device is lost; see hearth_context_notify_device_lost.
    void notify_device_lost() {
        hearth_context_notify_device_lost(handle_);
    }
    /// Serializes the pipeline cache, for hearth_context_create_info::pipeline_cache_data of the
    /// next run.
    Result<std::vector<std::byte>> save_pipeline_cache() {
        uint64_t bytes = 0;
        HEARTH_TRY(to_status(hearth_context_save_pipeline_cache(handle_, nullptr, &bytes), "size"));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(
            to_status(hearth_context_save_pipeline_cache(handle_, out.data(), &bytes), "data"));
        out.resize(bytes);
        return out;
    }
    hearth_context_stats stats() const {
        hearth_context_stats stats = hearth_context_stats_default();
        (void)hearth_context_get_stats(handle_, &stats);
        return stats;
    }

  private:
    explicit Context(hearth_context* handle) : handle_(handle) {}
    Status check(hearth_result result) const {
        return result >= 0 ? Status() : to_status(result, error());
    }
    hearth_context* handle_ = nullptr;
};

/// Scratch memory shared by sessions that never run concurrently: hearth_session_create_info::arena.
/// Destroy it before the context; its memory is freed only after the sessions that use it.
class Arena {
  public:
    /// bytes  at least hearth_program_info::arena_bytes of each program whose sessions use it
    /// Errors: kOutOfRange for 0 bytes, and for more than the device or the budget allows.
    static Result<Arena> create(const Context& context, uint64_t bytes) {
        Arena made;
        const hearth_result result = hearth_arena_create(context.handle(), bytes, &made.handle_);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return made;
    }
    Arena() = default;
    Arena(Arena&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Arena& operator=(Arena&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Arena() { hearth_arena_destroy(handle_); }

    hearth_arena* handle() const { return handle_; }

  private:
    hearth_arena* handle_ = nullptr;
};

/// Command buffer and queue of a CPU context.  Destroy it before the context.
class CpuCommandBuffer {
  public:
    static Result<CpuCommandBuffer> create(const Context& context) {
        CpuCommandBuffer made;
        const hearth_result result =
            hearth_cpu_command_buffer_create(context.handle(), &made.commands_);
        if (result != HEARTH_OK) return to_status(result, context.error());
        made.context_ = context.handle();
        return made;
    }
    CpuCommandBuffer() = default;
    CpuCommandBuffer(CpuCommandBuffer&& other) noexcept { *this = std::move(other); }
    CpuCommandBuffer& operator=(CpuCommandBuffer&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(commands_, other.commands_);
        return *this;
    }
    ~CpuCommandBuffer() {
        if (context_ != nullptr) hearth_cpu_command_buffer_destroy(context_, commands_);
    }

    /// The command buffer to pass to functions that record.
    VkCommandBuffer handle() const { return commands_; }
    /// Executes and empties the command buffer; returns when the work is complete.
    Status execute() {
        const hearth_result result = hearth_cpu_command_buffer_execute(context_, commands_);
        return result == HEARTH_OK ? Status() : to_status(result, hearth_context_error(context_));
    }
    /// Empties the command buffer without executing it; call Context::discard_frame() afterwards.
    void reset() { (void)hearth_cpu_command_buffer_reset(context_, commands_); }

  private:
    hearth_context* context_ = nullptr;
    VkCommandBuffer commands_ = nullptr;
};

/// Wraps caller-owned memory, at a multiple of 16 bytes, as a buffer of a CPU context.  Must not
/// outlive the context.
class CpuBuffer {
  public:
    static Result<CpuBuffer> import(const Context& context, span<std::byte> memory) {
        CpuBuffer made;
        const hearth_result result =
            hearth_cpu_buffer_import(context.handle(), memory.data(), memory.size(), &made.buffer_);
        if (result != HEARTH_OK) return to_status(result, context.error());
        made.context_ = context.handle();
        made.bytes_ = memory.size();
        return made;
    }
    CpuBuffer() = default;
    CpuBuffer(CpuBuffer&& other) noexcept { *this = std::move(other); }
    CpuBuffer& operator=(CpuBuffer&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(buffer_, other.buffer_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~CpuBuffer() {
        if (context_ != nullptr) hearth_cpu_buffer_destroy(context_, buffer_);
    }

    VkBuffer handle() const { return buffer_; }
    /// Binds the whole buffer.
    hearth_tensor_binding bind(uint32_t binding) const {
        return hearth_bind_buffer(binding, buffer_, 0, bytes_, HEARTH_CPU_BUFFER_USAGE);
    }

  private:
    hearth_context* context_ = nullptr;
    VkBuffer buffer_ = VkBuffer();
    uint64_t bytes_ = 0;
};

/// Validates and describes a package, 8-byte aligned.  Errors describe what is wrong with the
/// bytes.
inline Result<hearth_package_info> package_info(span<const std::byte> bytes) {
    hearth_package_info out = hearth_package_info_default();
    hearth_messages messages{};
    const hearth_result result =
        hearth_package_get_info(bytes.data(), bytes.size(), &out, &messages);
    if (result != HEARTH_OK) return to_status(result, messages.text);
    return out;
}

/// What acting needs of a learner's brain; see hearth_brain_extract_weights.
inline Result<std::vector<std::byte>> extract_weights(span<const std::byte> brain) {
    hearth_messages messages{};
    std::vector<std::byte> out(brain.size());
    uint64_t bytes = out.size();
    const hearth_result result =
        hearth_brain_extract_weights(brain.data(), brain.size(), out.data(), &bytes, &messages);
    if (result != HEARTH_OK) return to_status(result, messages.text);
    out.resize(bytes);
    return out;
}

/// Validates and describes a brain, 8-byte aligned.  Errors describe what is wrong with the bytes.
inline Result<hearth_brain_info> brain_info(span<const std::byte> bytes) {
    hearth_brain_info out = hearth_brain_info_default();
    hearth_messages messages{};
    const hearth_result result = hearth_brain_get_info(bytes.data(), bytes.size(), &out, &messages);
    if (result != HEARTH_OK) return to_status(result, messages.text);
    return out;
}

/// Computes a SHA-256 hash, for hearth_context_create_info::verify.
inline std::array<uint8_t, 32> sha256_of(span<const std::byte> bytes) {
    std::array<uint8_t, 32> hash{};
    hearth_sha256(bytes.data(), bytes.size(), hash.data());
    return hash;
}

/// Options for loading a program or package.
struct ProgramLoadOptions {
    bool borrow = false;  ///< the bytes outlive the program and its sessions: no copy is made
    const char* device_target = nullptr;  ///< of a package; null: the first the device can run
    /// HEARTH_TRUST_UNTRUSTED for files from players; see "Trust" in hearth.h.
    hearth_trust_level trust = HEARTH_TRUST_TRUSTED;
};

/// A validated program, from which sessions are created.  May be destroyed before its sessions.
class LoadedProgram {
  public:
    static Result<LoadedProgram> load(const Context& context, span<const std::byte> bytes,
                                      const ProgramLoadOptions& options) {
        hearth_program_load_info info = hearth_program_load_info_default();
        info.bytes = bytes.data();
        info.byte_count = bytes.size();
        info.borrow = options.borrow ? 1u : 0u;
        info.trust = options.trust;
        hearth_program* program = nullptr;
        const hearth_result result = hearth_program_load(context.handle(), &info, &program);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return LoadedProgram(program);
    }
    /// borrow  `bytes` outlive the program and its sessions: no copy is made
    static Result<LoadedProgram> load(const Context& context, span<const std::byte> bytes,
                                      bool borrow = false) {
        ProgramLoadOptions options;
        options.borrow = borrow;
        return load(context, bytes, options);
    }
    /// Loads a package's first program that the context's device can run, or that of the named
    /// device target.
    static Result<LoadedProgram> load_package(const Context& context, span<const std::byte> bytes,
                                              const ProgramLoadOptions& options) {
        hearth_package_load_info info = hearth_package_load_info_default();
        info.bytes = bytes.data();
        info.byte_count = bytes.size();
        info.borrow = options.borrow ? 1u : 0u;
        info.trust = options.trust;
        info.device_target = options.device_target;
        hearth_program* program = nullptr;
        const hearth_result result = hearth_package_load(context.handle(), &info, &program);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return LoadedProgram(program);
    }
    static Result<LoadedProgram> load_package(const Context& context, span<const std::byte> bytes,
                                              bool borrow = false,
                                              const char* device_target = nullptr) {
        ProgramLoadOptions options;
        options.borrow = borrow;
        options.device_target = device_target;
        return load_package(context, bytes, options);
    }
    LoadedProgram() = default;
    LoadedProgram(LoadedProgram&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)) {}
    LoadedProgram& operator=(LoadedProgram&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~LoadedProgram() { hearth_program_destroy(handle_); }

    hearth_program* handle() const { return handle_; }

    hearth_program_info info() const {
        hearth_program_info out = hearth_program_info_default();
        (void)hearth_program_get_info(handle_, &out);
        return out;
    }
    Result<hearth_entry_info> entry(uint32_t index) const {
        hearth_entry_info out = hearth_entry_info_default();
        HEARTH_TRY(check(hearth_program_get_entry(handle_, index, &out)));
        return out;
    }
    Result<hearth_binding_info> binding(uint32_t index) const {
        hearth_binding_info out = hearth_binding_info_default();
        HEARTH_TRY(check(hearth_program_get_binding(handle_, index, &out)));
        return out;
    }
    Result<hearth_variable_info> variable(uint32_t index) const {
        hearth_variable_info out = hearth_variable_info_default();
        HEARTH_TRY(check(hearth_program_get_variable(handle_, index, &out)));
        return out;
    }
    Result<hearth_command_info> command(uint32_t entry, uint32_t index) const {
        hearth_command_info out = hearth_command_info_default();
        HEARTH_TRY(check(hearth_program_get_command(handle_, entry, index, &out)));
        return out;
    }
    /// Variables that an entry writes.
    Result<std::vector<uint32_t>> mutated_variables(uint32_t entry) const {
        uint32_t count = 0;
        HEARTH_TRY(check(hearth_program_get_mutated_variables(handle_, entry, nullptr, &count)));
        std::vector<uint32_t> out(count);
        HEARTH_TRY(check(hearth_program_get_mutated_variables(handle_, entry, out.data(), &count)));
        return out;
    }
    /// The manifest that the package holds for hearth_agents; lives as long as the program.
    Result<span<const std::byte>> agent_manifest() const {
        const void* bytes = nullptr;
        uint64_t byte_count = 0;
        HEARTH_TRY(check(hearth_program_get_agent_manifest(handle_, &bytes, &byte_count)));
        return span(static_cast<const std::byte*>(bytes), byte_count);
    }
    /// Name of a scalar of an output; lives as long as the program.
    Result<std::string_view> scalar_name(uint32_t binding, uint32_t index) const {
        const char* name = nullptr;
        HEARTH_TRY(check(hearth_program_get_scalar(handle_, binding, index, &name)));
        return std::string_view(name);
    }
    Result<uint32_t> find_entry(const char* name) const {
        uint32_t index = 0;
        HEARTH_TRY(check(hearth_program_find_entry(handle_, name, &index)));
        return index;
    }
    Result<uint32_t> find_binding(uint32_t entry, const char* name) const {
        uint32_t index = 0;
        HEARTH_TRY(check(hearth_program_find_binding(handle_, entry, name, &index)));
        return index;
    }
    Result<uint32_t> find_variable(const char* name) const {
        uint32_t index = 0;
        HEARTH_TRY(check(hearth_program_find_variable(handle_, name, &index)));
        return index;
    }

    /// Finds a named scalar of an output that packs them; returns its index.
    Result<uint32_t> find_scalar(uint32_t binding, const char* name) const {
        uint32_t index = 0;
        HEARTH_TRY(check(hearth_program_find_scalar(handle_, binding, name, &index)));
        return index;
    }

    /// Size of a snapshot of one of the program's sessions, in bytes.
    uint64_t brain_size() const { return hearth_program_get_brain_size(handle_); }
    /// The snapshot of a session that has only been initialized; see
    /// hearth_program_get_initial_snapshot.
    std::vector<std::byte> initial_snapshot() const {
        std::vector<std::byte> out(brain_size());
        (void)hearth_program_get_initial_snapshot(handle_, out.data(), out.size());
        return out;
    }
    uint64_t saved_game_size() const { return hearth_program_get_saved_game_size(handle_); }
#if !defined(HEARTH_NO_EXPERIMENTAL)
#if defined(__GNUC__)  // calls other experimental functions
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    /// Size of the readback of Session::record_dump(), in bytes.
    HEARTH_EXPERIMENTAL uint64_t dump_size(uint32_t entry, uint64_t batch_size,
                                           uint32_t command = HEARTH_NO_COMMAND) const {
        return hearth_program_get_dump_size(handle_, entry, batch_size, command);
    }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
    /// Encodes a snapshot of one of the program's sessions as a brain.
    Result<std::vector<std::byte>> serialize_brain(span<const std::byte> snapshot,
                                                   hearth_brain_flags flags = 0,
                                                   span<const std::byte> user_data = {}) const {
        hearth_brain_save_info info = hearth_brain_save_info_default();
        info.snapshot = snapshot.data();
        info.snapshot_bytes = snapshot.size();
        info.flags = flags;
        info.user_data = user_data.data();
        info.user_data_size = user_data.size();
        uint64_t bytes = 0;
        HEARTH_TRY(check(hearth_brain_encode(handle_, &info, nullptr, &bytes)));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(check(hearth_brain_encode(handle_, &info, out.data(), &bytes)));
        out.resize(bytes);
        return out;
    }
    /// Returns ok, or all reasons why the brain cannot be loaded.
    Status validate_brain(span<const std::byte> brain, hearth_brain_flags flags = 0) const {
        hearth_messages messages{};
        const hearth_result result =
            hearth_brain_check(handle_, brain.data(), brain.size(), flags, &messages);
        return to_status(result, messages.text);
    }

  private:
    explicit LoadedProgram(hearth_program* handle) : handle_(handle) {}
    Status check(hearth_result result) const {
        return result >= 0 ? Status() : to_status(result, hearth_program_error(handle_));
    }
    hearth_program* handle_ = nullptr;
};

/// Binds an array of trivially copyable values by value (inputs only).
template <class T>
hearth_tensor_binding bind_values(uint32_t binding, span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return hearth_bind_bytes(binding, values.data(), values.size_bytes());
}

/// Progress of a recording.
enum class Progress {
    kDone,
    kIncomplete,  ///< stopped at a limit: record again with the same cursor
    kNotReady,    ///< pipelines are still being built: nothing was recorded
};

/// Bytes of a finished readback; valid until it is released.
struct ReadbackData {
    span<const std::byte> bytes;
    uint64_t frame_number = 0;

    template <class T>
    span<const T> as() const {
        static_assert(std::is_trivially_copyable_v<T>);
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
};

/// A program with device memory for its variables.  May be destroyed at any time: memory is freed
/// when the GPU is done with it.
class Session {
  public:
    /// `info.program` is set by this call; see hearth_session_create_info_default().
    static Result<Session> create(const Context& context, const LoadedProgram& program,
                                  hearth_session_create_info info) {
        info.program = program.handle();
        hearth_session* session = nullptr;
        const hearth_result result = hearth_session_create(context.handle(), &info, &session);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return Session(session);
    }
    static Result<Session> create(const Context& context, const LoadedProgram& program) {
        return create(context, program, hearth_session_create_info_default());
    }
    /// Device memory that create() would allocate with `info`, by usage.
    static Result<hearth_memory_requirements> get_memory_requirements(
        const Context& context, const LoadedProgram& program, hearth_session_create_info info) {
        info.program = program.handle();
        hearth_memory_requirements needs = hearth_memory_requirements_default();
        const hearth_result result =
            hearth_session_get_memory_requirements(context.handle(), &info, &needs);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return needs;
    }
    Session() = default;
    Session(Session&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Session& operator=(Session&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Session() { hearth_session_destroy(handle_); }

    hearth_session* handle() const { return handle_; }
    std::string_view error() const { return hearth_session_error(handle_); }

    /// Creates all pipelines on the calling thread, which can take seconds.
    Status create_pipelines() { return check(hearth_session_create_pipelines(handle_, 0)); }
    /// Creates pipelines through hearth_context_create_info::submit_task; poll status().pipelines.
    Status create_pipelines_async() {
        return check(hearth_session_create_pipelines_async(handle_));
    }
    hearth_session_status status() const {
        hearth_session_status status = hearth_session_status_default();
        (void)hearth_session_get_status(handle_, &status);
        return status;
    }

    Status record_initialize(VkCommandBuffer command_buffer) {
        return check(hearth_record_initialize(handle_, command_buffer));
    }
    Status record_update_variable(VkCommandBuffer command_buffer, uint32_t variable,
                                  span<const std::byte> bytes, uint64_t offset = 0) {
        return check(hearth_record_update_variable(handle_, command_buffer, variable, offset,
                                                   bytes.data(), bytes.size()));
    }
    /// With a cursor, records the next slice within the limits of `info`; without, the whole entry.
    Result<Progress> record(const hearth_record_info& info, hearth_run_cursor* cursor = nullptr) {
        const hearth_result result = hearth_record(handle_, &info, cursor);
        if (result == HEARTH_OK) return Progress::kDone;
        if (result == HEARTH_INCOMPLETE) return Progress::kIncomplete;
        if (result == HEARTH_NOT_READY) return Progress::kNotReady;
        return to_status(result, error());
    }
    /// Records a whole entry, with automatic barriers.
    Result<Progress> record(VkCommandBuffer command_buffer, uint32_t entry, uint64_t batch_size,
                            span<const hearth_tensor_binding> bindings) {
        hearth_record_info info = hearth_record_info_default();
        info.command_buffer = command_buffer;
        info.entry = entry;
        info.batch_size = batch_size;
        info.bindings = bindings.data();
        info.binding_count = static_cast<uint32_t>(bindings.size());
        return record(info);
    }

    /// Estimates the GPU microseconds from the cursor to the end of the entry, or of the whole
    /// entry without a cursor.  For sessions with HEARTH_SESSION_COLLECT_GPU_TIMINGS.
    Result<double> estimate_gpu_us(uint32_t entry, uint64_t batch_size,
                                   const hearth_run_cursor* cursor = nullptr) {
        double us = 0;
        HEARTH_TRY(
            check(hearth_session_estimate_gpu_time(handle_, entry, batch_size, cursor, &us)));
        return us;
    }

    Result<hearth_readback> record_readback(const hearth_readback_info& info) {
        hearth_readback id = 0;
        HEARTH_TRY(check(hearth_record_readback(handle_, &info, &id)));
        return id;
    }
    /// Reads back a whole variable.
    Result<hearth_readback> record_readback(VkCommandBuffer command_buffer, uint32_t variable) {
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = command_buffer;
        info.variable = variable;
        return record_readback(info);
    }
    /// Reads back several ranges at the same point, packed in this order; see
    /// hearth_readback_of_variable and hearth_readback_of_buffer.
    Result<hearth_readback> record_readback(VkCommandBuffer command_buffer,
                                            span<const hearth_readback_region> regions) {
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = command_buffer;
        info.regions = regions.data();
        info.region_count = static_cast<uint32_t>(regions.size());
        return record_readback(info);
    }
    /// Returns the bytes, or nothing if they have not arrived yet.
    Result<std::optional<ReadbackData>> poll(hearth_readback id) {
        const void* data = nullptr;
        uint64_t byte_count = 0, frame_number = 0;
        const hearth_result result =
            hearth_readback_poll(handle_, id, &data, &byte_count, &frame_number);
        if (result == HEARTH_NOT_READY) return std::optional<ReadbackData>();
        HEARTH_TRY(check(result));
        const auto* bytes = static_cast<const std::byte*>(data);
        return std::optional(ReadbackData{span(bytes, byte_count), frame_number});
    }
    void release(hearth_readback id) { hearth_readback_release(handle_, id); }

#if !defined(HEARTH_NO_EXPERIMENTAL)
#if defined(__GNUC__)  // calls other experimental functions
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    /// Records a whole entry and copies the contents of a dump; returns nothing while pipelines are
    /// being built.
    HEARTH_EXPERIMENTAL Result<std::optional<hearth_readback>> record_dump(
        const hearth_record_info& info, uint32_t command = HEARTH_NO_COMMAND) {
        hearth_readback id = 0;
        const hearth_result result = hearth_record_dump(handle_, &info, command, &id);
        if (result == HEARTH_NOT_READY) return std::optional<hearth_readback>();
        HEARTH_TRY(check(result));
        return std::optional(id);
    }
    /// Encodes a dump as the content of a .safetensors file; see "Dumps" in hearth.h.
    HEARTH_EXPERIMENTAL Result<std::vector<std::byte>> encode_dump(const hearth_dump_info& info) {
        uint64_t bytes = 0;
        HEARTH_TRY(check(hearth_dump_encode(handle_, &info, nullptr, &bytes)));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(check(hearth_dump_encode(handle_, &info, out.data(), &bytes)));
        return out;
    }
    /// Describes the session as JSON; see hearth_session_to_json.
    HEARTH_EXPERIMENTAL Result<std::string> to_json() {
        uint64_t bytes = 0;
        HEARTH_TRY(check(hearth_session_to_json(handle_, nullptr, &bytes)));
        std::string json(bytes, '\0');
        HEARTH_TRY(check(hearth_session_to_json(handle_, json.data(), &bytes)));
        json.pop_back();  // the terminating zero
        return json;
    }
    /// Dumps the next recordings; DumpFolder (dump_folder.hpp) writes them to files.
    HEARTH_EXPERIMENTAL Status dump(const hearth_session_dump_info& info) {
        return check(hearth_session_dump(handle_, &info));
    }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif

    /// Records a copy of all parameters and states; returns nothing while a sliced entry is between
    /// its first and its last write.
    Result<std::optional<hearth_readback>> record_save_brain(VkCommandBuffer command_buffer) {
        hearth_readback id = 0;
        const hearth_result result = hearth_record_save_brain(handle_, command_buffer, &id);
        if (result == HEARTH_NOT_READY) return std::optional<hearth_readback>();
        HEARTH_TRY(check(result));
        return std::optional(id);
    }
    /// As record_save_brain(), with non-persistent states.
    Result<std::optional<hearth_readback>> record_save_game(VkCommandBuffer command_buffer) {
        hearth_readback id = 0;
        const hearth_result result = hearth_record_save_game(handle_, command_buffer, &id);
        if (result == HEARTH_NOT_READY) return std::optional<hearth_readback>();
        HEARTH_TRY(check(result));
        return std::optional(id);
    }
    Status record_load_brain(VkCommandBuffer command_buffer, span<const std::byte> brain,
                             hearth_brain_flags flags = 0) {
        hearth_messages messages{};
        const hearth_result result = hearth_record_load_brain(handle_, command_buffer, brain.data(),
                                                              brain.size(), flags, &messages);
        if (result == HEARTH_OK) return {};
        return to_status(result, messages.message_count > 0 ? messages.text : error());
    }
    /// Resets parameters and states to their initial values; returns the number of variables reset.
    Result<uint32_t> record_reset_variables(VkCommandBuffer command_buffer,
                                            const char* pattern = nullptr) {
        uint32_t count = 0;
        HEARTH_TRY(check(hearth_record_reset_variables(handle_, command_buffer, pattern, &count)));
        return count;
    }

    /// Records copies of variables from another session of the same program; see
    /// hearth_record_copy_variables.
    Status record_copy_variables(const Session& from, VkCommandBuffer command_buffer,
                                 span<const uint32_t> variables) {
        return check(hearth_record_copy_variables(handle_, from.handle_, command_buffer,
                                                  variables.data(),
                                                  static_cast<uint32_t>(variables.size())));
    }
    /// Records half of a transfer between queue families; see hearth_record_queue_transfer.
    Status record_queue_transfer(VkCommandBuffer command_buffer, uint32_t from_family,
                                 uint32_t to_family) {
        return check(hearth_record_queue_transfer(handle_, command_buffer, from_family, to_family));
    }
    Result<hearth_buffer_range> variable_buffer(uint32_t variable) const {
        hearth_buffer_range range = hearth_buffer_range_default();
        HEARTH_TRY(check(hearth_session_get_variable_buffer(handle_, variable, &range)));
        return range;
    }
    Result<hearth_sync_scope> binding_scope(uint32_t entry, uint32_t binding,
                                            uint32_t usage) const {
        hearth_sync_scope scope{};
        HEARTH_TRY(check(hearth_session_get_binding_scope(handle_, entry, binding, usage, &scope)));
        return scope;
    }
    /// Returns the oldest unread timings, or nothing.
    Result<std::optional<hearth_timings>> next_timings() {
        hearth_timings device_target = hearth_timings_default();
        const hearth_result result = hearth_session_next_timings(handle_, &device_target);
        if (result == HEARTH_NOT_READY) return std::optional<hearth_timings>();
        HEARTH_TRY(check(result));
        return std::optional(device_target);
    }

  private:
    explicit Session(hearth_session* handle) : handle_(handle) {}
    Status check(hearth_result result) const {
        return result >= 0 ? Status() : to_status(result, error());
    }
    hearth_session* handle_ = nullptr;
};

/// Converts images to tensors or back; see "Images" in hearth.h.  May be destroyed at any time
/// before its context.
class ImageConverter {
  public:
    /// format  VkFormat of the image views
    static Result<ImageConverter> create(const Context& context,
                                         hearth_image_conversion_direction direction,
                                         uint32_t format, uint32_t recordings_in_flight = 8) {
        hearth_image_converter_create_info info = hearth_image_converter_create_info_default();
        info.direction = direction;
        info.format = format;
        info.recordings_in_flight = recordings_in_flight;
        hearth_image_converter* converter = nullptr;
        const hearth_result result =
            hearth_image_converter_create(context.handle(), &info, &converter);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return ImageConverter(converter);
    }
    ImageConverter() = default;
    ImageConverter(ImageConverter&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)) {}
    ImageConverter& operator=(ImageConverter&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~ImageConverter() { hearth_image_converter_destroy(handle_); }

    hearth_image_converter* handle() const { return handle_; }
    Status record(const hearth_image_conversion_info& info) {
        const hearth_result result = hearth_record_convert_image(handle_, &info);
        return to_status(result, hearth_image_converter_error(handle_));
    }

  private:
    explicit ImageConverter(hearth_image_converter* handle) : handle_(handle) {}
    hearth_image_converter* handle_ = nullptr;
};

}  // namespace hearth

#undef HEARTH_HAS_DEVICE_CAPS
