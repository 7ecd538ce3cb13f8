// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A right program of which tests change one thing, with the checksum mended.

#pragma once

#include "core/checksum.hpp"
#include "program/view.hpp"
#include "support/test_program.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace hearth::test {

// A header and one OpNop: enough for what ProgramView checks of SPIR-V.
inline constexpr uint32_t kSpirv[] = {0x07230203, 0x00010500, 0, 1, 0, 0x00010000};

inline Program make_program(BindingModel model = BindingModel::kDeviceAddress) {
    return TestProgramBuilder({kSpirv, kSpirv, kSpirv}, model).build();
}

/// Bytes whose records can be changed.
class File {
  public:
    explicit File(const Program& program) : bytes_(save_program(program)) {}

    template <class Record>
    Record* records(file::Section section) {
        return reinterpret_cast<Record*>(bytes_.data() + header().sections[section].offset);
    }
    file::FileHeader& header() { return *reinterpret_cast<file::FileHeader*>(bytes_.data()); }
    Status load() {
        header().checksum = checksum(std::span(bytes_).subspan(file::kChecksumEnd));
        return load_program(bytes_).status();
    }

  private:
    std::vector<std::byte> bytes_;
};

inline void expect_corrupt(const Status& status, std::string_view expected) {
    EXPECT_EQ(status.code(), StatusCode::kCorruptData) << "no refusal: " << expected;
    EXPECT_NE(status.message().find(expected), std::string::npos) << status.message();
}

inline void expect_refused(const std::function<void(Program&)>& change, std::string_view expected) {
    Program program = make_program();
    change(program);
    expect_corrupt(load_program(save_program(program)).status(), expected);
}

inline void expect_accepted(const std::function<void(Program&)>& change) {
    Program program = make_program();
    change(program);
    const Result<Program> loaded = load_program(save_program(program));
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
}

/// Of a step of the program, to be changed.
inline Operand& operand(Program& program, size_t step, uint32_t index) {
    return program.operands[program.commands[step].first_operand + index];
}

inline constexpr size_t kT0 = 0, kFill = 4, kCopy = 6, kUpdate = 8;  // steps

}  // namespace hearth::test
