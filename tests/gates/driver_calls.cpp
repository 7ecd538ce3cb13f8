// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "gates/driver_calls.hpp"

namespace hearth::gates {

DriverCalls& DriverCalls::get() {
    static DriverCalls calls;
    return calls;
}

namespace {

/// Logs a call and makes it, or lets it fail.
template <class Call>
hearth_result pass(RecordedCall call, Call make) {
    DriverCalls& log = DriverCalls::get();
    if (!log.is_on) return make();
    bool fails = log.calls.size() == log.fails_at;
    if (log.fails_if && log.fails_if(call)) {
        fails = true;
        log.fails_if = {};
    }
    call.result = fails ? log.failure : make();
    log.calls.push_back(call);
    return call.result;
}

}  // namespace
}  // namespace hearth::gates

using hearth::gates::pass;

// NOLINTBEGIN(bugprone-reserved-identifier): names of the linker.
extern "C" {

hearth_result __real_hearth_record(hearth_session*, const hearth_record_info*, hearth_run_cursor*);
hearth_result __wrap_hearth_record(hearth_session* session, const hearth_record_info* info,
                                   hearth_run_cursor* cursor) {
    return pass(
        {.function = "record", .session = session, .entry = info->entry, .rows = info->batch_size},
        [&] { return __real_hearth_record(session, info, cursor); });
}

hearth_result __real_hearth_record_initialize(hearth_session*, VkCommandBuffer);
hearth_result __wrap_hearth_record_initialize(hearth_session* session, VkCommandBuffer commands) {
    return pass({.function = "initialize", .session = session},
                [&] { return __real_hearth_record_initialize(session, commands); });
}

hearth_result __real_hearth_record_load_brain(hearth_session*, VkCommandBuffer, const void*,
                                              uint64_t, hearth_brain_flags, hearth_messages*);
hearth_result __wrap_hearth_record_load_brain(hearth_session* session, VkCommandBuffer commands,
                                              const void* bytes, uint64_t count,
                                              hearth_brain_flags flags, hearth_messages* messages) {
    return pass({.function = "load_brain", .session = session}, [&] {
        return __real_hearth_record_load_brain(session, commands, bytes, count, flags, messages);
    });
}

hearth_result __real_hearth_record_reset_variables(hearth_session*, VkCommandBuffer, const char*,
                                                   uint32_t*);
hearth_result __wrap_hearth_record_reset_variables(hearth_session* session,
                                                   VkCommandBuffer commands, const char* pattern,
                                                   uint32_t* count) {
    return pass(
        {.function = pattern == nullptr ? "reset" : "reset_variable", .session = session},
        [&] { return __real_hearth_record_reset_variables(session, commands, pattern, count); });
}

hearth_result __real_hearth_record_readback(hearth_session*, const hearth_readback_info*,
                                            hearth_readback*);
hearth_result __wrap_hearth_record_readback(hearth_session* session,
                                            const hearth_readback_info* info,
                                            hearth_readback* out) {
    return pass({.function = "readback", .session = session},
                [&] { return __real_hearth_record_readback(session, info, out); });
}

hearth_result __real_hearth_record_save_brain(hearth_session*, VkCommandBuffer, hearth_readback*);
hearth_result __wrap_hearth_record_save_brain(hearth_session* session, VkCommandBuffer commands,
                                              hearth_readback* out) {
    return pass({.function = "save_brain", .session = session},
                [&] { return __real_hearth_record_save_brain(session, commands, out); });
}

hearth_result __real_hearth_record_save_game(hearth_session*, VkCommandBuffer, hearth_readback*);
hearth_result __wrap_hearth_record_save_game(hearth_session* session, VkCommandBuffer commands,
                                             hearth_readback* out) {
    return pass({.function = "save_game", .session = session},
                [&] { return __real_hearth_record_save_game(session, commands, out); });
}

hearth_result __real_hearth_record_copy_variables(hearth_session*, hearth_session*, VkCommandBuffer,
                                                  const uint32_t*, uint32_t);
hearth_result __wrap_hearth_record_copy_variables(hearth_session* to, hearth_session* from,
                                                  VkCommandBuffer commands,
                                                  const uint32_t* variables, uint32_t count) {
    return pass({.function = "copy_variables", .session = to}, [&] {
        return __real_hearth_record_copy_variables(to, from, commands, variables, count);
    });
}

hearth_result __real_hearth_record_queue_transfer(hearth_session*, VkCommandBuffer, uint32_t,
                                                  uint32_t);
hearth_result __wrap_hearth_record_queue_transfer(hearth_session* session, VkCommandBuffer commands,
                                                  uint32_t from, uint32_t to) {
    return pass({.function = "queue_transfer", .session = session},
                [&] { return __real_hearth_record_queue_transfer(session, commands, from, to); });
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
