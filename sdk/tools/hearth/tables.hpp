// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the commands print: JSON, and numbers for people.

#pragma once

#include <hearth/status.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::tool {

using Json = nlohmann::ordered_json;

/// Exit codes of all commands.
enum ExitCode : int {
    kExitOk = 0,
    kExitFailed = 1,   ///< it ran and what it checked is not so, or it could not be done
    kExitUsage = 105,  ///< CLI11's own codes for wrong arguments begin at 100
};

/// Prints one object to stdout.  Texts may hold any bytes.
void print_json(const Json& value);

/// Tells of a failure: as text on stderr, or as {"error": ...} on stdout.
void print_error(std::string_view command, const Status& status, bool json);

/// "1.4 MB", "312 bytes".
std::string size_text(uint64_t bytes);
/// "12.3 us", "4.56 ms".
std::string time_text(double us);
/// Hexadecimal, as hashes are written everywhere.
std::string hash_text(uint64_t hash);
/// At most `width` characters, the last three of them dots where something is left out.
std::string shortened(std::string_view text, size_t width);

}  // namespace hearth::tool
