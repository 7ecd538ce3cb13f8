// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A cooked file loaded as a program with a session, whose entries are recorded with bindings by
// name.  C++17, header-only, on top of hearth_runtime.hpp.
//
//     HEARTH_ASSIGN(Model guard, Model::open(context, "guard.hearth"));
//     ...                                                           // each frame:
//     HEARTH_TRY(guard.record(commands, "act", batch_size,
//                             {bind_value("observations", observations, sizeof observations),
//                              bind_buffer("actions", buffer, 0, bytes, usage)}).status());

#pragma once

#include <hearth/file.hpp>
#include <hearth/hearth_runtime.hpp>

#include <initializer_list>

namespace hearth {

/// A binding, identified by name.
struct NamedBinding {
    const char* name = "";
    hearth_tensor_binding tensor{};  ///< its binding index is looked up by name
};

/// Binds bytes by value (inputs only), which are copied during the call; at most
/// hearth_session_create_info::max_inline_bytes.
inline NamedBinding bind_value(const char* name, const void* data, uint64_t byte_count) {
    return {name, hearth_bind_bytes(0, data, byte_count)};
}

/// Binds bytes [offset, offset + byte_count) of a buffer created with `usage` (VkBufferUsageFlags).
/// before, after  the application's previous and next use of the buffer; see hearth_tensor_binding
inline NamedBinding bind_buffer(const char* name, VkBuffer buffer, uint64_t offset,
                                uint64_t byte_count, uint32_t usage,
                                hearth_sync_scope before = hearth_make_sync_scope(0, 0),
                                hearth_sync_scope after = hearth_make_sync_scope(0, 0)) {
    NamedBinding named{name, hearth_bind_buffer(0, buffer, offset, byte_count, usage)};
    named.tensor.acquire_scope = before;
    named.tensor.release_scope = after;
    return named;
}

/// A program and its session.  Must not outlive the context; may be destroyed at any time before
/// that.
class Model {
  public:
    /// Reads a package or program, creates a session and its pipelines, which can take seconds.
    /// Errors: those of reading, loading, session creation and pipeline creation, prefixed with the
    /// path.
    static Result<Model> open(
        const Context& context, const std::string& path,
        const hearth_session_create_info& session_info = hearth_session_create_info_default(),
        const ProgramLoadOptions& options = {}) {
        Result<std::vector<std::byte>> bytes = read_whole_file(path);
        if (!bytes.ok()) return bytes.status();
        Result<Model> network = load(context, *bytes, session_info, options);
        if (!network.ok()) return network.status().with_context(path);
        return network;
    }
    /// As open(), from bytes, 8-byte aligned; with options.borrow they must outlive the model and
    /// its frames.
    static Result<Model> load(
        const Context& context, span<const std::byte> bytes,
        const hearth_session_create_info& session_info = hearth_session_create_info_default(),
        const ProgramLoadOptions& options = {}) {
        Model network;
        constexpr char kPackage[] = {'H', 'R', 'P', 'K'};
        const bool is_package = bytes.size() >= sizeof kPackage &&
                                std::memcmp(bytes.data(), kPackage, sizeof kPackage) == 0;
        HEARTH_ASSIGN(network.program_, is_package
                                            ? LoadedProgram::load_package(context, bytes, options)
                                            : LoadedProgram::load(context, bytes, options));
        HEARTH_ASSIGN(network.session_, Session::create(context, network.program_, session_info));
        network.bindings_.reserve(network.program_.info().binding_count);
        HEARTH_TRY(network.session_.create_pipelines());
        return network;
    }
    Model() = default;

    const LoadedProgram& program() const { return program_; }
    Session& session() { return session_; }

    /// Records an entry, or with a cursor its next slice within `limits`; first records the
    /// initialization if it is missing.
    /// limits  gpu_time_budget_us and the other limits, barriers, occupancy_priority and
    ///         indirect_batch_buffer are used
    /// Errors: those of hearth_record; kNotFound, listing the existing names.
    Result<Progress> record(VkCommandBuffer command_buffer, const char* entry, uint64_t batch_size,
                            span<const NamedBinding> bindings, hearth_run_cursor* cursor = nullptr,
                            hearth_record_info limits = hearth_record_info_default()) {
        HEARTH_ASSIGN(limits.entry, program_.find_entry(entry));
        bindings_.clear();
        for (const NamedBinding& named : bindings) {
            bindings_.push_back(named.tensor);
            HEARTH_ASSIGN(bindings_.back().binding,
                          program_.find_binding(limits.entry, named.name));
        }
        if (session_.status().is_initialized == 0)
            HEARTH_TRY(session_.record_initialize(command_buffer));
        limits.command_buffer = command_buffer;
        limits.batch_size = batch_size;
        limits.bindings = bindings_.data();
        limits.binding_count = static_cast<uint32_t>(bindings_.size());
        return session_.record(limits, cursor);
    }
    Result<Progress> record(VkCommandBuffer command_buffer, const char* entry, uint64_t batch_size,
                            std::initializer_list<NamedBinding> bindings,
                            hearth_run_cursor* cursor = nullptr,
                            const hearth_record_info& limits = hearth_record_info_default()) {
        return record(command_buffer, entry, batch_size,
                      span<const NamedBinding>(bindings.begin(), bindings.size()), cursor, limits);
    }

    /// Records a readback of an output of `entry`, which was recorded earlier into the same command
    /// buffer; finish with session().poll() and session().release().  The buffer needs TRANSFER_SRC
    /// usage.
    Result<hearth_readback> record_readback(VkCommandBuffer command_buffer, const char* entry,
                                            const NamedBinding& output) {
        HEARTH_ASSIGN(const uint32_t index, program_.find_entry(entry));
        HEARTH_ASSIGN(const uint32_t binding, program_.find_binding(index, output.name));
        hearth_readback_info info = hearth_readback_info_default();
        HEARTH_ASSIGN(info.acquire_scope,
                      session_.binding_scope(index, binding, output.tensor.usage));
        info.command_buffer = command_buffer;
        info.buffer = output.tensor.buffer;
        info.offset = output.tensor.offset;
        info.byte_count = output.tensor.bytes;
        return session_.record_readback(info);
    }

  private:
    LoadedProgram program_;
    Session session_;
    /// Of the last recording; a member to reuse its memory.
    std::vector<hearth_tensor_binding> bindings_;
};

}  // namespace hearth
