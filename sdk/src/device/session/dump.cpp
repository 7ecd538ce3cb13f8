// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes dumps as .safetensors files (format of safetensors 0.4): u64 length of the header, the
// JSON header, the data. The header is written twice, first to count its bytes, so that nothing is
// allocated. Also hands over requested dumps of later recordings as they arrive.

#include "device/session/dump.hpp"

#include "device/session/json_sink.hpp"
#include "device/session/session.hpp"

#include <algorithm>

namespace hearth::runtime {

namespace {

// Indexed by DType.
constexpr const char* kTypeNames[kDTypeCount] = {"F32", "F16", "BF16", "F64", "I8",  "U8",  "I16",
                                                 "U16", "I32", "U32",  "I64", "U64", "BOOL"};
constexpr uint64_t kHeaderAlignment = 8;

/// For printf: uint64_t is a different type on each platform.
unsigned long long wide(uint64_t value) {
    return value;
}

/// Decimal digits of a number.
struct Digits {
    char text[24];
    explicit Digits(uint64_t value) { (void)std::snprintf(text, sizeof text, "%llu", wide(value)); }
    operator std::string_view() const { return text; }
};

/// A hash in the usual format: 16 hexadecimal digits.
struct Hexadecimal {
    char text[24];
    explicit Hexadecimal(uint64_t value) {
        (void)std::snprintf(text, sizeof text, "%016llx", wide(value));
    }
    operator std::string_view() const { return text; }
};

/// Writes one line per command: "3 dispatch mix: t2".
void write_commands(JsonSink& json, const ProgramView& view, const file::EntryRecord& entry) {
    const auto put = [&](std::string_view text) {
        for (const char c : text) json.escaped(c);
    };
    json.raw("\"");
    uint32_t index = 0;
    for (const file::CommandRecord& command : view.commands_of(entry)) {
        if (index > 0) put("\n");
        put(Digits(index++));
        put(" ");
        put(name_of(static_cast<CommandKind>(command.kind)));
        if (command.kind == static_cast<uint32_t>(CommandKind::kDispatch)) {
            put(" ");
            put(view.text_view(view.kernels()[command.kernel].name));
        }
        if (command.label.size > 0) put(": ");
        put(view.text_view(command.label));
    }
    json.raw("\"");
}

void write_metadata(JsonSink& json, Session& session, const hearth_dump_info& info) {
    const ProgramView& view = session.view();
    const file::EntryRecord& entry = view.entries()[info.entry];
    bool is_first = true;
    const auto key = [&](std::string_view name) {
        json.raw(is_first ? "" : ",");
        is_first = false;
        json.text({name});
        json.raw(":");
    };
    const auto put = [&](std::string_view name, std::string_view value) {
        key(name);
        json.text({value});
    };
    json.raw("\"__metadata__\":{");
    put("hearth_dump", "2");
    put("build", hearth_build_info());
    put("device", session.context().device().caps().name);
    put("program", Hexadecimal(view.header().content_hash));
    put("graph", Hexadecimal(view.header().graph_hash));
    put("device_target", view.text_view(view.header().device_target));
    put("session", session.name());
    put("entry", view.text_view(entry.name));
    put("batch_size", Digits(info.batch_size));
    if (info.command != HEARTH_NO_COMMAND) put("command", Digits(info.command));
    put("frame_number", Digits(info.frame_number));
    put("session_error", session.error());
    put("context_error", session.context().error());
    if (info.note != nullptr) put("note", info.note);
    key("commands");
    write_commands(json, view, entry);
    json.raw("}");
}

void write_tensor(JsonSink& json, std::initializer_list<std::string_view> name, DType dtype,
                  uint64_t begin, uint64_t end) {
    json.raw(",");
    json.text(name);
    json.raw(":{\"dtype\":\"");
    json.raw(kTypeNames[static_cast<size_t>(dtype)]);
    json.raw("\",\"data_offsets\":[");
    json.number(begin);
    json.raw(",");
    json.number(end);
    json.raw("],\"shape\":[");
}

void write_item(JsonSink& json, const ProgramView& view, const hearth_dump_info& info,
                const DumpItem& item, uint64_t begin) {
    const auto shaped = [&](std::string_view prefix, file::TextRef name, uint32_t dtype,
                            const file::ShapeRecord& shape) {
        const DType held = device_dtype(static_cast<DType>(dtype), view.storage());
        write_tensor(json, {prefix, view.text_view(name)}, held, begin, begin + item.bytes);
        for (uint32_t i = 0; i < shape.rank; ++i) {
            if (i > 0) json.raw(",");
            const bool per_row = (shape.batch_mask >> i & 1) != 0;
            json.number(static_cast<uint64_t>(shape.counts[i]) * (per_row ? info.batch_size : 1));
        }
        json.raw("]}");
    };
    switch (item.part) {
        case DumpPart::kVariableBefore:
        case DumpPart::kVariableAfter: {
            const file::VariableRecord& variable = view.variables()[item.index];
            return shaped(item.part == DumpPart::kVariableBefore ? "variable/" : "variable_after/",
                          variable.name, variable.dtype, variable.shape);
        }
        case DumpPart::kInput:
        case DumpPart::kOutput: {
            const file::BindingRecord& binding = view.bindings()[item.index];
            return shaped(item.part == DumpPart::kInput ? "input/" : "output/", binding.name,
                          binding.dtype, binding.shape);
        }
        case DumpPart::kCommand:
            break;
    }
    // A program knows the size of intermediate buffers, not their element type.
    write_tensor(json, {"command/", Digits(info.command), "/", Digits(item.index)}, DType::kU8,
                 begin, begin + item.bytes);
    json.number(item.bytes);
    json.raw("]}");
}

}  // namespace

bool writes_variable(const ProgramView& view, const file::EntryRecord& entry,
                     const file::VariableRecord& variable) {
    for (const file::CommandRecord& command : view.commands_of(entry))
        for (const file::OperandRecord& operand : view.operands_of(command))
            if (operand.region == static_cast<uint32_t>(Region::kWeights) &&
                (operand.access & static_cast<uint32_t>(Access::kWrite)) != 0 &&
                operand.offset < variable.offset + variable.bytes &&
                variable.offset < operand.offset + operand.bytes.fixed)
                return true;
    return false;
}

bool writes_binding(const ProgramView& view, const file::EntryRecord& entry, uint32_t binding) {
    if (view.bindings()[binding].direction == static_cast<uint32_t>(Direction::kOutput))
        return true;
    for (const file::CommandRecord& command : view.commands_of(entry))
        for (const file::OperandRecord& operand : view.operands_of(command))
            if (operand.region == static_cast<uint32_t>(Region::kExternal) &&
                operand.binding == binding &&
                (operand.access & static_cast<uint32_t>(Access::kWrite)) != 0)
                return true;
    return false;
}

hearth_result encode_dump(Session& session, const hearth_dump_info& info, std::byte* out,
                          uint64_t* byte_count) {
    const ProgramView& view = session.view();
    if (info.entry >= view.entries().size())
        return session.fail(HEARTH_ERROR_NOT_FOUND, "dump: entry is %u, expected less than %zu",
                            info.entry, view.entries().size());
    const file::EntryRecord& entry = view.entries()[info.entry];
    if (info.batch_size == 0 || info.batch_size > view.header().max_batch_size)
        return session.fail(HEARTH_ERROR_OUT_OF_RANGE,
                            "dump: the batch size is %llu, expected 1..%llu", wide(info.batch_size),
                            wide(view.header().max_batch_size));
    if (!is_dump_command(view, entry, info.command))
        return session.fail(HEARTH_ERROR_INVALID_ARGUMENT,
                            "dump: command %u of %u does not exist or is a barrier; expected "
                            "another index, or HEARTH_NO_COMMAND",
                            info.command, entry.commands.count);
    if ((info.flags & ~HEARTH_DUMP_PROGRAM) != 0)
        return session.fail(HEARTH_ERROR_INVALID_ARGUMENT, "dump: flags 0x%x has unknown bits",
                            info.flags & ~HEARTH_DUMP_PROGRAM);
    const uint64_t expected =
        for_each_dumped(view, info.entry, info.batch_size, info.command, [](const DumpItem&) {});
    const auto* const data = static_cast<const std::byte*>(info.data);
    if (data != nullptr && info.data_bytes != expected)
        return session.fail(HEARTH_ERROR_INVALID_ARGUMENT,
                            "dump: %llu bytes of data, expected the %llu of hearth_record_dump "
                            "with this entry, batch size and command",
                            wide(info.data_bytes), wide(expected));

    const auto for_each = [&](auto visit) {
        if (data == nullptr) return;
        for_each_dumped(view, info.entry, info.batch_size, info.command, visit);
    };
    const bool has_program = (info.flags & HEARTH_DUMP_PROGRAM) != 0;
    uint64_t data_size = 0;
    const auto write_header = [&](std::byte* to) {
        JsonSink json(to);
        json.raw("{");
        write_metadata(json, session, info);
        data_size = 0;
        for_each([&](const DumpItem& item) {
            write_item(json, view, info, item, data_size);
            data_size += item.bytes;
        });
        if (has_program) {
            write_tensor(json, {"program"}, DType::kU8, data_size, data_size + view.bytes().size());
            json.number(view.bytes().size());
            json.raw("]}");
            data_size += view.bytes().size();
        }
        json.raw("}");
        return json.size();
    };
    const uint64_t header_size = write_header(nullptr);
    const uint64_t padded =
        (header_size + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment;
    const uint64_t total = 8 + padded + data_size, capacity = *byte_count;
    *byte_count = total;
    if (out == nullptr) return HEARTH_OK;
    if (capacity < total)
        return session.fail(HEARTH_ERROR_OUT_OF_RANGE,
                            "dump: it takes %llu bytes, and there is room for %llu; call with out "
                            "= NULL for the size",
                            wide(total), wide(capacity));
    for (size_t i = 0; i < 8; ++i) out[i] = static_cast<std::byte>(padded >> 8 * i & 0xff);
    out += 8;
    (void)write_header(out);
    std::memset(out + header_size, ' ', padded - header_size);
    out += padded;
    for_each([&](const DumpItem& item) {
        std::memcpy(out, data + item.offset, static_cast<size_t>(item.bytes));
        out += item.bytes;
    });
    if (has_program) std::memcpy(out, view.bytes().data(), view.bytes().size());
    return HEARTH_OK;
}

hearth_result Session::dump_next(const hearth_session_dump_info& info) {
    if (context_->device().is_lost()) return fail_lost(*this, "session_dump");
    if (info.count > 0 && info.callback == nullptr)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "session_dump: callback is null");
    if ((info.flags & ~HEARTH_DUMP_PROGRAM) != 0)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT, "session_dump: flags 0x%x has unknown bits",
                    info.flags & ~HEARTH_DUMP_PROGRAM);
    uint64_t least = UINT64_MAX;
    for (uint32_t e = 0; e < entries_.size(); ++e)
        least = std::min(least,
                         for_each_dumped(view(), e, 1, HEARTH_NO_COMMAND, [](const DumpItem&) {}));
    const uint64_t room = buffers_[kReadbackBuffer].bytes;
    if (info.count > 0 && least > room)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "session_dump: a dump takes %llu bytes or more; raise "
                    "hearth_session_create_info::readback_bytes, which is %llu",
                    wide(least), wide(room));
    Array<PendingDump> pending;
    if (info.count > 0 && !pending.resize(context_->allocator(), readbacks_.size()))
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "session_dump: out of host memory");
    for (; pending_dump_count_ > 0; --pending_dump_count_) {
        release(pending_dumps_[oldest_dump_].id);
        oldest_dump_ = (oldest_dump_ + 1) % pending_dumps_.size();
    }
    pending_dumps_ = std::move(pending);
    oldest_dump_ = 0;
    dump_info_ = info;
    next_dump_ = 0;
    return HEARTH_OK;
}

bool Session::is_dumped(const hearth_record_info& info, const hearth_run_cursor* cursor) const {
    const bool is_whole =
        cursor == nullptr ||
        (cursor->next_command == 0 && cursor->next_sub_dispatch == 0 &&
         (info.max_dispatches | info.max_workgroups | info.max_flops | info.max_bytes_moved) == 0);
    return dump_info_.count > 0 && is_whole && info.indirect_batch_buffer == nullptr &&
           for_each_dumped(view(), info.entry, info.batch_size, HEARTH_NO_COMMAND,
                           [](const DumpItem&) {}) > 0;
}

void Session::keep_dump(const hearth_record_info& info, hearth_readback id) {
    // There are at most as many as readbacks.
    pending_dumps_[(oldest_dump_ + pending_dump_count_) % pending_dumps_.size()] = {
        id, info.batch_size, next_dump_++, info.entry};
    ++pending_dump_count_;
    --dump_info_.count;
}

void Session::hand_over_dumps() {
    // The application no longer expects callbacks of a session that it destroyed.
    while (pending_dump_count_ > 0 && !is_retired_) {
        const PendingDump& dump = pending_dumps_[oldest_dump_];
        const Readback& readback = readbacks_[(dump.id & 0xffffffffu) - 1];
        if (!readback.is_dropped) {
            if (readback.frame_number > context_->completed_frame_number()) return;
            if (!hand_over(dump))
                (void)fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY,
                           "session_dump: out of host memory, dump %llu is missing",
                           wide(dump.index));
        }
        release(dump.id);
        oldest_dump_ = (oldest_dump_ + 1) % pending_dumps_.size();
        --pending_dump_count_;
    }
    if (pending_dump_count_ == 0 && dump_info_.count == 0) pending_dumps_.reset();
}

/// Returns false if out of memory.
bool Session::hand_over(const PendingDump& dump) {
    hearth_dump_info info = hearth_dump_info_default();
    info.entry = dump.entry;
    info.batch_size = dump.rows;
    info.flags = dump_info_.flags;
    if (poll(dump.id, &info.data, &info.data_bytes, &info.frame_number) != HEARTH_OK) return true;
    uint64_t byte_count = 0;
    (void)encode_dump(*this, info, nullptr, &byte_count);
    Array<std::byte> bytes;
    if (!bytes.resize(context_->allocator(), byte_count)) return false;
    (void)encode_dump(*this, info, bytes.data(), &byte_count);
    dump_info_.flags = 0;  // only the first dump includes the program
    dump_info_.callback(dump_info_.user_data, dump.index, bytes.data(), byte_count);
    return true;
}

}  // namespace hearth::runtime
