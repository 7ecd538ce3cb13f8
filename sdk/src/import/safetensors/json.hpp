// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// As much of JSON (RFC 8259) as the header of a .safetensors file has: objects, texts, lists of
// whole numbers.  Read in one pass, without a tree.

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

    /// Calls `member` with each key of the object that comes next; it reads the value.  A key that
    /// comes twice is an error.
    Status object(const std::function<Status(const std::string& key)>& member);
    Result<std::string> text();
    /// A list of integers from 0 to 2^63 - 1.
    Result<std::vector<int64_t>> numbers();
    /// Nothing but white space may follow.
    Status end();

  private:
    char next();  ///< after white space, not taken; 0 at the end
    bool accept(char c);
    Status expect(char c);
    Status error(std::string_view what) const;
    Result<uint32_t> code_unit();
    Status escape(std::string& to);

    std::string_view text_;
    size_t at_ = 0;
};

/// `value` as a JSON text, quotes included.
std::string json_text(std::string_view value);

}  // namespace hearth
