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
            case HEARTH_ERROR_WRONG_ORDER:
            case HEARTH_ERROR_MISMATCH:
            case HEARTH_ERROR_NOT_FINITE:
            case HEARTH_ERROR_UNTRUSTED:
                return StatusCode::kInvalidArgument;
            case HEARTH_ERROR_NOT_FOUND:
            case HEARTH_ERROR_DROPPED:
                return StatusCode::kNotFound;
            case HEARTH_ERROR_UNSUPPORTED:
            case HEARTH_ERROR_VERSION_MISMATCH:
                return StatusCode::kUnsupported;
            case HEARTH_ERROR_CORRUPT_DATA:
                return StatusCode::kCorruptData;
            case HEARTH_ERROR_OUT_OF_RANGE:
            case HEARTH_ERROR_RING_FULL:
            case HEARTH_ERROR_BUDGET:
            case HEARTH_ERROR_OUT_OF_HOST_MEMORY:
            case HEARTH_ERROR_OUT_OF_DEVICE_MEMORY:
                return StatusCode::kOutOfRange;
            default:
                return StatusCode::kInternal;
        }
    }();
    std::string text = hearth_result_name(result);
    if (!detail.empty()) text.append(": ");
    for (const char c : detail) {  // join a report's lines into one message
        if (c == '\n')
            text.append("; ");
        else
            text.push_back(c);
    }
    return {code, std::move(text)};
}

/// Extensions and features to enable on a device.
/// Errors: kUnsupported, naming everything that is missing.
inline Result<hearth_requirements> query_device(const hearth_device_query& query) {
    hearth_requirements out = hearth_requirements_default();
    hearth_report report{};
    const hearth_result result = hearth_query_device(&query, &out, &report);
    if (result != HEARTH_OK) return to_status(result, report.text);
    return out;
}

#if defined(HEARTH_HAS_DEVICE_CAPS)

inline DeviceCaps to_caps(const hearth_device_caps& c) {
    if (c.cpu != HEARTH_CPU_NONE) return cpu_caps(static_cast<Cpu>(c.cpu));
    DeviceCaps caps;
    caps.name = c.name;
    caps.subgroup_size = c.subgroup_size;
    caps.max_workgroup_invocations = c.max_workgroup_invocations;
    caps.max_workgroup_size_x = c.max_workgroup_size_x;
    caps.max_workgroup_count_x = c.max_workgroup_count_x;
    caps.shared_memory_bytes = c.shared_memory_bytes;
    caps.push_constant_bytes = c.push_constant_bytes;
    caps.buffer_alignment = c.buffer_alignment;
    caps.max_buffer_bytes = c.max_buffer_bytes;
    caps.fp16_arithmetic = c.fp16_arithmetic != 0;
    caps.fp16_storage = c.fp16_storage != 0;
    caps.int8_storage = c.int8_storage != 0;
    caps.subgroup_arithmetic = c.subgroup_arithmetic != 0;
    caps.matrix_cores = c.matrix_cores == HEARTH_MATRIX_CORES_NV    ? MatrixCores::kNv
                        : c.matrix_cores == HEARTH_MATRIX_CORES_KHR ? MatrixCores::kKhr
                                                                    : MatrixCores::kNone;
    caps.matrix = {c.matrix_m, c.matrix_n, c.matrix_k};
    static_assert(std::tuple_size_v<decltype(caps.workgroup_matrices)> ==
                  HEARTH_MAX_WORKGROUP_MATRICES);
    for (size_t i = 0; i < caps.workgroup_matrices.size(); ++i) {
        const hearth_workgroup_matrix& w = c.workgroup_matrices[i];
        caps.workgroup_matrices[i] = {w.invocations, {w.m, w.n, w.k}};
    }
    caps.workgroup_matrix_shared_bytes = c.workgroup_matrix_shared_bytes;
    caps.nv_matrix_cores = c.nv_matrix_cores != 0;
    caps.is_software = c.is_software != 0;
    caps.is_integrated = c.is_integrated != 0;
    caps.compute_units = c.compute_units;
    caps.spirv_version = c.spirv_version;
    return caps;
}

/// Caps of a device on which the features `enabled` are or will be enabled.
inline Result<DeviceCaps> query_caps(const hearth_device_query& query, hearth_features enabled) {
    hearth_device_caps caps = hearth_device_caps_default();
    if (const hearth_result result = hearth_query_caps(&query, enabled, &caps); result != HEARTH_OK)
        return to_status(result);
    return to_caps(caps);
}

#endif

/// An adopted device.  Destroy it last, after the GPU has finished all recorded work.
class Context {
  public:
    static Result<Context> create(const hearth_host_info& info) {
        hearth_context* context = nullptr;
        hearth_report report{};
        const hearth_result result = hearth_context_create(&info, &context, &report);
        if (result != HEARTH_OK) return to_status(result, report.text);
        return Context(context);
    }
    /// Creates a context for this machine's CPU; see "CPU device" in hearth.h.
    static Result<Context> create_native(
        const hearth_native_info& info = hearth_native_info_default()) {
        hearth_context* context = nullptr;
        hearth_report report{};
        const hearth_result result = hearth_context_create_native(&info, &context, &report);
        if (result != HEARTH_OK) return to_status(result, report.text);
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

    Status begin_frame(uint64_t serial, uint64_t completed_serial) {
        return check(hearth_begin_frame(handle_, serial, completed_serial));
    }
    /// Reports that a frame was never submitted; returns what was lost, one item per line (see
    /// hearth_frame_dropped).
    Result<std::string> frame_dropped(uint64_t serial) {
        hearth_report report{};
        HEARTH_TRY(check(hearth_frame_dropped(handle_, serial, &report)));
        return std::string(report.text);
    }
#if defined(HEARTH_HAS_DEVICE_CAPS)
    Result<DeviceCaps> caps() const {
        hearth_device_caps caps = hearth_device_caps_default();
        HEARTH_TRY(check(hearth_context_caps(handle_, &caps)));
        return to_caps(caps);
    }
#endif
    /// Serializes the pipeline cache, for hearth_host_info::pipeline_cache_data of the next run.
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

/// Command buffer and queue of a CPU context.  Destroy it before the context.
class NativeCommands {
  public:
    static Result<NativeCommands> create(const Context& context) {
        NativeCommands made;
        const hearth_result result =
            hearth_native_commands_create(context.handle(), &made.commands_);
        if (result != HEARTH_OK) return to_status(result, context.error());
        made.context_ = context.handle();
        return made;
    }
    NativeCommands() = default;
    NativeCommands(NativeCommands&& other) noexcept { *this = std::move(other); }
    NativeCommands& operator=(NativeCommands&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(commands_, other.commands_);
        return *this;
    }
    ~NativeCommands() {
        if (context_ != nullptr) hearth_native_commands_destroy(context_, commands_);
    }

    /// The command buffer to pass to functions that record.
    VkCommandBuffer handle() const { return commands_; }
    /// Executes and empties the command buffer; returns when the work is complete.
    Status run() {
        const hearth_result result = hearth_native_commands_run(context_, commands_);
        return result == HEARTH_OK ? Status() : to_status(result, hearth_context_error(context_));
    }
    /// Empties the command buffer without executing it; call Context::frame_dropped() afterwards.
    void reset() { (void)hearth_native_commands_reset(context_, commands_); }

  private:
    hearth_context* context_ = nullptr;
    VkCommandBuffer commands_ = nullptr;
};

/// Wraps caller-owned memory, at a multiple of 16 bytes, as a buffer of a CPU context.  Must not
/// outlive the context.
class NativeBuffer {
  public:
    static Result<NativeBuffer> create(const Context& context, span<std::byte> memory) {
        NativeBuffer made;
        const hearth_result result = hearth_native_buffer_create(context.handle(), memory.data(),
                                                                 memory.size(), &made.buffer_);
        if (result != HEARTH_OK) return to_status(result, context.error());
        made.context_ = context.handle();
        made.bytes_ = memory.size();
        return made;
    }
    NativeBuffer() = default;
    NativeBuffer(NativeBuffer&& other) noexcept { *this = std::move(other); }
    NativeBuffer& operator=(NativeBuffer&& other) noexcept {
        std::swap(context_, other.context_);
        std::swap(buffer_, other.buffer_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~NativeBuffer() {
        if (context_ != nullptr) hearth_native_buffer_destroy(context_, buffer_);
    }

    VkBuffer handle() const { return buffer_; }
    /// Binds the whole buffer.
    hearth_bound bind(uint32_t binding) const {
        return hearth_bind_buffer(binding, buffer_, 0, bytes_, HEARTH_NATIVE_BUFFER_USAGE);
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
    hearth_report report{};
    const hearth_result result = hearth_package_get_info(bytes.data(), bytes.size(), &out, &report);
    if (result != HEARTH_OK) return to_status(result, report.text);
    return out;
}

/// Validates and describes a brain, 8-byte aligned.  Errors describe what is wrong with the bytes.
inline Result<hearth_brain_info> brain_info(span<const std::byte> bytes) {
    hearth_brain_info out = hearth_brain_info_default();
    hearth_report report{};
    const hearth_result result = hearth_brain_get_info(bytes.data(), bytes.size(), &out, &report);
    if (result != HEARTH_OK) return to_status(result, report.text);
    return out;
}

/// Computes a SHA-256 hash, for hearth_host_info::verify.
inline std::array<uint8_t, 32> sha256_of(span<const std::byte> bytes) {
    std::array<uint8_t, 32> hash{};
    hearth_sha256(bytes.data(), bytes.size(), hash.data());
    return hash;
}

/// Options for loading a program or package.
struct ProgramLoadOptions {
    bool borrow = false;  ///< the bytes outlive the program and its sessions: no copy is made
    const char* profile = nullptr;  ///< of a package; null: the first the device can run
    /// HEARTH_TRUST_FOREIGN for files from players; see "Trust" in hearth.h.
    hearth_trust trust = HEARTH_TRUST_HOST;
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
    /// profile.
    static Result<LoadedProgram> load_package(const Context& context, span<const std::byte> bytes,
                                              const ProgramLoadOptions& options) {
        hearth_package_load_info info = hearth_package_load_info_default();
        info.bytes = bytes.data();
        info.byte_count = bytes.size();
        info.borrow = options.borrow ? 1u : 0u;
        info.trust = options.trust;
        info.profile = options.profile;
        hearth_program* program = nullptr;
        const hearth_result result = hearth_package_load(context.handle(), &info, &program);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return LoadedProgram(program);
    }
    static Result<LoadedProgram> load_package(const Context& context, span<const std::byte> bytes,
                                              bool borrow = false, const char* profile = nullptr) {
        ProgramLoadOptions options;
        options.borrow = borrow;
        options.profile = profile;
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
    Result<hearth_slot_info> slot(uint32_t index) const {
        hearth_slot_info out = hearth_slot_info_default();
        HEARTH_TRY(check(hearth_program_get_slot(handle_, index, &out)));
        return out;
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
    Result<uint32_t> find_slot(const char* name) const {
        uint32_t index = 0;
        HEARTH_TRY(check(hearth_program_find_slot(handle_, name, &index)));
        return index;
    }

    /// Finds a named scalar of an output that packs them; returns its index.
    Result<uint32_t> find_element(uint32_t binding, const char* name) const {
        uint32_t index = 0;
        HEARTH_TRY(check(hearth_program_find_element(handle_, binding, name, &index)));
        return index;
    }

    /// Size of a snapshot of one of the program's sessions, in bytes.
    uint64_t snapshot_bytes() const { return hearth_program_snapshot_bytes(handle_); }
#if !defined(HEARTH_NO_EXPERIMENTAL)
#if defined(__GNUC__)  // calls other experimental functions
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    /// Size of the readback of Session::record_dump(), in bytes.
    HEARTH_EXPERIMENTAL uint64_t dump_bytes(uint32_t entry, uint64_t rows,
                                            uint32_t step = HEARTH_NO_STEP) const {
        return hearth_program_dump_bytes(handle_, entry, rows, step);
    }
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif
    /// Encodes a snapshot of one of the program's sessions as a brain.
    Result<std::vector<std::byte>> encode_brain(span<const std::byte> snapshot,
                                                hearth_brain_flags flags = 0,
                                                span<const std::byte> host_data = {}) const {
        hearth_brain_save_info info = hearth_brain_save_info_default();
        info.snapshot = snapshot.data();
        info.snapshot_bytes = snapshot.size();
        info.flags = flags;
        info.host_data = host_data.data();
        info.host_bytes = host_data.size();
        uint64_t bytes = 0;
        HEARTH_TRY(check(hearth_brain_encode(handle_, &info, nullptr, &bytes)));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(check(hearth_brain_encode(handle_, &info, out.data(), &bytes)));
        out.resize(bytes);
        return out;
    }
    /// Returns ok, or all reasons why the brain cannot be loaded.
    Status check_brain(span<const std::byte> brain, hearth_brain_flags flags = 0) const {
        hearth_report report{};
        const hearth_result result =
            hearth_brain_check(handle_, brain.data(), brain.size(), flags, &report);
        return to_status(result, report.text);
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
hearth_bound bind_values(uint32_t binding, span<const T> values) {
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
    uint64_t serial = 0;

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
    static Result<hearth_memory_needs> query_memory(const Context& context,
                                                    const LoadedProgram& program,
                                                    hearth_session_create_info info) {
        info.program = program.handle();
        hearth_memory_needs needs = hearth_memory_needs_default();
        const hearth_result result = hearth_session_query_memory(context.handle(), &info, &needs);
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
    Status build() { return check(hearth_session_build(handle_, 0)); }
    /// Creates pipelines through hearth_host_info::run_job; poll status().pipelines.
    Status build_async() { return check(hearth_session_build_async(handle_)); }
    hearth_session_status status() const {
        hearth_session_status status = hearth_session_status_default();
        (void)hearth_session_get_status(handle_, &status);
        return status;
    }

    Status record_setup(VkCommandBuffer command_buffer) {
        return check(hearth_record_setup(handle_, command_buffer));
    }
    Status record_upload(VkCommandBuffer command_buffer, uint32_t slot, span<const std::byte> bytes,
                         uint64_t offset = 0) {
        return check(hearth_record_upload(handle_, command_buffer, slot, offset, bytes.data(),
                                          bytes.size()));
    }
    /// With a cursor, records the next slice within the limits of `info`; without, the whole entry.
    Result<Progress> record(const hearth_record_info& info, hearth_cursor* cursor = nullptr) {
        const hearth_result result = hearth_record(handle_, &info, cursor);
        if (result == HEARTH_OK) return Progress::kDone;
        if (result == HEARTH_INCOMPLETE) return Progress::kIncomplete;
        if (result == HEARTH_NOT_READY) return Progress::kNotReady;
        return to_status(result, error());
    }
    /// Records a whole entry, with automatic barriers.
    Result<Progress> record(VkCommandBuffer command_buffer, uint32_t entry, uint64_t rows,
                            span<const hearth_bound> bound) {
        hearth_record_info info = hearth_record_info_default();
        info.command_buffer = command_buffer;
        info.entry = entry;
        info.rows = rows;
        info.bound = bound.data();
        info.bound_count = static_cast<uint32_t>(bound.size());
        return record(info);
    }

    /// Estimates the GPU microseconds from the cursor to the end of the entry, or of the whole
    /// entry without a cursor.  For sessions with HEARTH_SESSION_MEASURE_COSTS.
    Result<double> predict_us(uint32_t entry, uint64_t rows,
                              const hearth_cursor* cursor = nullptr) {
        double us = 0;
        HEARTH_TRY(check(hearth_session_predict(handle_, entry, rows, cursor, &us)));
        return us;
    }

    Result<hearth_readback> record_readback(const hearth_readback_info& info) {
        hearth_readback id = 0;
        HEARTH_TRY(check(hearth_record_readback(handle_, &info, &id)));
        return id;
    }
    /// Reads back a whole variable.
    Result<hearth_readback> record_readback(VkCommandBuffer command_buffer, uint32_t slot) {
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = command_buffer;
        info.slot = slot;
        return record_readback(info);
    }
    /// Reads back several ranges at the same point, packed in this order; see hearth_part_of_slot
    /// and hearth_part_of_buffer.
    Result<hearth_readback> record_readback(VkCommandBuffer command_buffer,
                                            span<const hearth_readback_part> parts) {
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = command_buffer;
        info.parts = parts.data();
        info.part_count = static_cast<uint32_t>(parts.size());
        return record_readback(info);
    }
    /// Returns the bytes, or nothing if they have not arrived yet.
    Result<std::optional<ReadbackData>> poll(hearth_readback id) {
        const void* data = nullptr;
        uint64_t byte_count = 0, serial = 0;
        const hearth_result result = hearth_readback_poll(handle_, id, &data, &byte_count, &serial);
        if (result == HEARTH_NOT_READY) return std::optional<ReadbackData>();
        HEARTH_TRY(check(result));
        const auto* bytes = static_cast<const std::byte*>(data);
        return std::optional(ReadbackData{span(bytes, byte_count), serial});
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
        const hearth_record_info& info, uint32_t step = HEARTH_NO_STEP) {
        hearth_readback id = 0;
        const hearth_result result = hearth_record_dump(handle_, &info, step, &id);
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
    /// Describes the session as JSON; see hearth_session_describe.
    HEARTH_EXPERIMENTAL Result<std::string> describe() {
        uint64_t bytes = 0;
        HEARTH_TRY(check(hearth_session_describe(handle_, nullptr, &bytes)));
        std::string json(bytes, '\0');
        HEARTH_TRY(check(hearth_session_describe(handle_, json.data(), &bytes)));
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
    Result<std::optional<hearth_readback>> record_snapshot(VkCommandBuffer command_buffer) {
        hearth_readback id = 0;
        const hearth_result result = hearth_record_snapshot(handle_, command_buffer, &id);
        if (result == HEARTH_NOT_READY) return std::optional<hearth_readback>();
        HEARTH_TRY(check(result));
        return std::optional(id);
    }
    Status record_brain(VkCommandBuffer command_buffer, span<const std::byte> brain,
                        hearth_brain_flags flags = 0) {
        hearth_report report{};
        const hearth_result result = hearth_record_brain(handle_, command_buffer, brain.data(),
                                                         brain.size(), flags, &report);
        if (result == HEARTH_OK) return {};
        return to_status(result, report.problem_count > 0 ? report.text : error());
    }
    /// Resets parameters and states to their initial values; returns the number of variables reset.
    Result<uint32_t> record_forget(VkCommandBuffer command_buffer, const char* pattern = nullptr) {
        uint32_t count = 0;
        HEARTH_TRY(check(hearth_record_forget(handle_, command_buffer, pattern, &count)));
        return count;
    }

    Result<hearth_buffer_range> slot_buffer(uint32_t slot) const {
        hearth_buffer_range range = hearth_buffer_range_default();
        HEARTH_TRY(check(hearth_session_get_slot_buffer(handle_, slot, &range)));
        return range;
    }
    Result<hearth_scope> binding_scope(uint32_t entry, uint32_t binding, uint32_t usage) const {
        hearth_scope scope{};
        HEARTH_TRY(check(hearth_session_get_binding_scope(handle_, entry, binding, usage, &scope)));
        return scope;
    }
    /// Returns the oldest unread timings, or nothing.
    Result<std::optional<hearth_profile>> next_profile() {
        hearth_profile profile = hearth_profile_default();
        const hearth_result result = hearth_profile_next(handle_, &profile);
        if (result == HEARTH_NOT_READY) return std::optional<hearth_profile>();
        HEARTH_TRY(check(result));
        return std::optional(profile);
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
class Converter {
  public:
    /// format  VkFormat of the image views
    static Result<Converter> create(const Context& context, hearth_conversion_direction direction,
                                    uint32_t format, uint32_t recordings_in_flight = 8) {
        hearth_converter_create_info info = hearth_converter_create_info_default();
        info.direction = direction;
        info.format = format;
        info.recordings_in_flight = recordings_in_flight;
        hearth_converter* converter = nullptr;
        const hearth_result result = hearth_converter_create(context.handle(), &info, &converter);
        if (result != HEARTH_OK) return to_status(result, context.error());
        return Converter(converter);
    }
    Converter() = default;
    Converter(Converter&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Converter& operator=(Converter&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Converter() { hearth_converter_destroy(handle_); }

    hearth_converter* handle() const { return handle_; }
    Status record(const hearth_conversion_info& info) {
        const hearth_result result = hearth_record_conversion(handle_, &info);
        return to_status(result, hearth_converter_error(handle_));
    }

  private:
    explicit Converter(hearth_converter* handle) : handle_(handle) {}
    hearth_converter* handle_ = nullptr;
};

}  // namespace hearth

#undef HEARTH_HAS_DEVICE_CAPS
