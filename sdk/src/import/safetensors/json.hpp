// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The subset of JSON (RFC 8259) that the header of a .safetensors file uses: objects, strings,
// lists of integers.  Parsed in one pass, without a tree.

#pragma once

#include <hearth/status.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class JsonReader {
  public:
    explicit JsonReader(std::string_view text) : text_(text) {}

    /// Parses an object; calls `member` with each key, which must parse the value.  A duplicate key
    /// is an error.
    Status object(const std::function<Status(const std::string& key)>& member);
    Result<std::string> text();
    /// Parses a list of integers from 0 to 2^63 - 1.
    Result<std::vector<int64_t>> numbers();
    /// Checks that only white space follows.
    Status end();

  private:
    char next();  ///< next character after white space, not consumed; 0 at the end
    bool accept(char c);
    Status expect(char c);
    Status error(std::string_view what) const;
    Result<uint32_t> code_unit();
    Status escape(std::string& to);

    std::string_view text_;
    size_t at_ = 0;
};

/// Encodes `value` as a JSON string, quotes included.
std::string json_text(std::string_view value);

}  // namespace hearth
