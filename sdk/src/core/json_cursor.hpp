// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads JSON (RFC 8259) in place, value by value, without allocating.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hearth {

/// The caller knows which value comes next; anything else fails, and after a failure every call
/// fails.  Texts with escapes are not read.
///
///     JsonCursor json(text);
///     std::string_view key;
///     for (bool is_in = json.begin_object(); is_in && json.next_key(key);)
///         if (key == "seed") json.number(seed); else json.skip();
///     json.end();
class JsonCursor {
  public:
    explicit JsonCursor(std::string_view text) : text_(text) {}

    bool failed() const { return expected_ != nullptr; }
    /// What was expected where reading failed, such as "a number".
    const char* expected() const { return expected_ == nullptr ? "" : expected_; }
    /// Line of that place, from 1.
    size_t line() const;

    /// First character of the next value: one of { [ " t f n, a digit or '-'; '\0' at the end.
    char peek();
    bool begin_object() { return open('{', "an object"); }
    /// Returns false after the last key, or if it fails.
    bool next_key(std::string_view& key);
    bool begin_array() { return open('[', "a list"); }
    /// Moves to the next element.  Returns false after the last one, or if it fails.
    bool next_element();
    bool number(double& value);
    bool text(std::string_view& value);
    bool boolean(bool& value);
    /// Skips a value, of at most 64 levels.
    bool skip();
    /// Only white space is left.
    bool end();

  private:
    bool fail(const char* expected);
    bool open(char bracket, const char* expected);
    bool next(char bracket);
    bool accept(std::string_view word);
    void skip_space();
    bool is_at(char c) const { return at_ < text_.size() && text_[at_] == c; }
    bool is_at_digit() const {
        return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9';
    }

    std::string_view text_;
    size_t at_ = 0;
    bool is_first_ = false;  ///< nothing was read since the last open()
    const char* expected_ = nullptr;
};

}  // namespace hearth
