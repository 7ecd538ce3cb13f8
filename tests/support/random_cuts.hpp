// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Limits that cut a recording at random, also in the middle of dispatches.

#pragma once

#include <hearth/core/hash.hpp>
#include <hearth/hearth_runtime.hpp>

#include <algorithm>

namespace hearth::test {

/// What a session is made with whose dispatches are cut.
inline hearth_session_create_info session_that_cuts() {
    hearth_session_create_info info = hearth_session_create_info_default();
    info.flags |= HEARTH_SESSION_SPLIT_DISPATCHES;
    return info;
}

/// For ProgramRunner::run, in a session_that_cuts(): about three slices of an entry.
class RandomCuts {
  public:
    RandomCuts(const LoadedProgram& program, const char* entry, uint64_t key) : key_(key) {
        uint32_t index = 0;
        hearth_entry_info about = hearth_entry_info_default();
        (void)hearth_program_find_entry(program.handle(), entry, &index);
        (void)hearth_program_get_entry(program.handle(), index, &about);
        for (uint32_t i = 0; i < about.command_count; ++i) {
            hearth_command_info step = hearth_command_info_default();
            (void)hearth_program_get_command(program.handle(), index, i, &step);
            workgroups_ += step.workgroups;
        }
    }
    void operator()(hearth_record_info& info) {
        const uint64_t random = Hash().number(key_).number(slices_++).value();
        info.max_workgroups =
            1 + static_cast<uint32_t>(random % std::max<uint64_t>(workgroups_ * 2 / 3, 1));
    }

  private:
    uint64_t key_, workgroups_ = 0, slices_ = 0;
};

}  // namespace hearth::test
