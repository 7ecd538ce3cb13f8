// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints a planned program as a header and a source file of C11 (hearth/c.hpp says what is in them).

#pragma once

#include "compiler/kernel/body.hpp"
#include "program/program.hpp"

#include <hearth/status.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

struct CProgramText {
    const Program& program;
    std::span<const std::shared_ptr<const Body>> bodies;  ///< of each kernel of the program
    CpuIsa cpu = CpuIsa::kScalar;
    std::string name;                           ///< begins all names: "net"
    uint64_t schema_hash = 0, parent_hash = 0;  ///< of brains
    uint64_t alias_schema_hash = 0;             ///< program/legacy_names.hpp
    bool has_weights_in_source = true;
};

struct PrintedC {
    std::string header, source;
    std::vector<std::byte> weights;  ///< first contents: what memory's `cooked` points to
    uint64_t brain_bytes = 0;        ///< of a brain that it saves
};

/// Errors: kUnsupported naming a kernel that C cannot have, or a name that is no identifier.
Result<PrintedC> print_c_program(const CProgramText& program);

}  // namespace hearth
