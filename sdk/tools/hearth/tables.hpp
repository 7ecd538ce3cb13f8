// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Output of the commands: JSON, and numbers for people.

#pragma once

#include <hearth/status.hpp>

#include <nlohmann/json.hpp>
#include <programs/print.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::tool {

using Json = nlohmann::ordered_json;

/// Exit codes of all commands.
enum ExitCode : int {
    kExitOk = 0,
    kExitFailed = 1,    ///< a check failed, or the command could not be executed
    kExitSkipped = 77,  ///< nothing was checked: all cases were skipped
    kExitUsage = 105,   ///< CLI11's own codes for invalid arguments begin at 100
};

using programs::print;
using programs::print_to;

/// Prints one object to stdout, as ASCII.  Strings may hold any bytes.
void print_json(const Json& value);

/// Reports an error: as text on stderr, or as {"error": ...} on stdout.
void print_error(std::string_view command, const Status& status, bool json);

/// "1.4 MB", "312 bytes".
std::string size_text(uint64_t bytes);
/// "12.3 us", "4.56 ms".
std::string time_text(double us);
/// Hexadecimal, the format of hashes in all output.
std::string hash_text(uint64_t hash);
/// At most `width` characters; truncated text ends in three dots.
std::string shortened(std::string_view text, size_t width);

}  // namespace hearth::tool
