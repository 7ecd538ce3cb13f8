// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Error handling of the C++ interface, without exceptions: a code and a one-sentence message.

#pragma once

#include <hearth/core/assert.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth {

/// Error codes.  The C interface (hearth.h) has corresponding negative result codes.
enum class StatusCode {
    kOk,
    kInvalidArgument,  ///< a shape, type, name or value that the call does not accept
    kNotFound,         ///< a name or file that does not exist
    kUnsupported,      ///< valid, but not possible with this build or device
    kCorruptData,      ///< untrusted bytes that are invalid
    kOutOfRange,       ///< a size beyond a stated limit or the available memory
    kInternal,         ///< a broken invariant inside Hearth
};

/// Size in bytes of the control character that UTF-8 text begins with; 0 for any other character.
/// Control characters are C0, DEL, C1, line and paragraph separators (U+2028, U+2029), and the marks
/// that change the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
inline size_t control_character_size(std::string_view text) {
    const auto at = [&](size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    if (at(0) < 0x20 || at(0) == 0x7f) return text.empty() ? 0 : 1;
    if (at(0) == 0xc2 && (at(1) & 0xe0) == 0x80) return 2;
    if (at(0) == 0xd8 && at(1) == 0x9c) return 2;
    if (at(0) != 0xe2) return 0;
    const bool is_mark = at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f);
    const bool is_separator_or_embedding = at(1) == 0x80 && at(2) >= 0xa8 && at(2) <= 0xae;
    const bool is_isolate = at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9;
    return is_mark || is_separator_or_embedding || is_isolate ? 3 : 0;
}

/// Replaces each byte of control characters with '?', except line breaks with keep_lines.  Messages
/// quote names from files, which must not control terminals or logs.
inline void replace_control_characters(char* text, size_t size, bool keep_lines = false) {
    for (size_t i = 0; i < size; ++i) {
        if (keep_lines && text[i] == '\n') continue;
        for (size_t left = control_character_size({text + i, size - i}); left > 0; --left)
            text[i + left - 1] = '?';
    }
}

/// Sanitizes a message: removes control characters except line breaks, and limits its length to
/// 4096 bytes, whatever names from files it contains.
inline std::string sanitize_message(std::string text) {
    constexpr size_t kLongest = 4096;
    constexpr std::string_view kGap = " [...] ";
    if (text.size() > kLongest) {
        // Keep both ends: the context is at the beginning, the failure at the end.
        constexpr size_t kHalf = (kLongest - kGap.size()) / 2;
        text.replace(kHalf, text.size() - 2 * kHalf, kGap);
    }
    replace_control_characters(text.data(), text.size(), true);
    return text;
}

/// A code and a message that states the expectation and the fact.
class [[nodiscard]] Status {
  public:
    Status() = default;
    Status(StatusCode code, std::string message)
        : code_(code), message_(sanitize_message(std::move(message))) {}

    bool ok() const { return code_ == StatusCode::kOk; }
    StatusCode code() const { return code_; }
    const std::string& message() const { return message_; }

    /// Returns the same failure with context added: "context: message".
    Status with_context(std::string_view context) const {
        return ok() ? *this : Status(code_, std::string(context) + ": " + message_);
    }

  private:
    StatusCode code_ = StatusCode::kOk;
    std::string message_;
};

inline Status invalid_argument(std::string message) {
    return {StatusCode::kInvalidArgument, std::move(message)};
}
inline Status not_found(std::string message) {
    return {StatusCode::kNotFound, std::move(message)};
}
inline Status unsupported(std::string message) {
    return {StatusCode::kUnsupported, std::move(message)};
}
inline Status corrupt_data(std::string message) {
    return {StatusCode::kCorruptData, std::move(message)};
}
inline Status out_of_range(std::string message) {
    return {StatusCode::kOutOfRange, std::move(message)};
}
inline Status internal_error(std::string message) {
    return {StatusCode::kInternal, std::move(message)};
}

/// Passes the message of a failed Result, whose value was requested, to the assert handler.
[[noreturn]] inline void bad_result_access(const Status& failure) {
    assert_failed(("value() of a failure: " + failure.message()).c_str(), __FILE__, __LINE__);
}

/// A value, or the Status that explains its absence.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Status status) : status_(std::move(status)) {
        HEARTH_ASSERT(!status_.ok() && "a success must carry a value");
    }

    bool ok() const { return value_.has_value(); }
    const Status& status() const { return status_; }

    /// The value.  Calling this on a failure is a programming error and invokes the assert handler.
    T& value() & { return check(), *value_; }
    const T& value() const& { return check(), *value_; }
    T&& value() && { return check(), std::move(*value_); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

  private:
    void check() const {
        if (!value_) bad_result_access(status_);
    }
    Status status_;
    std::optional<T> value_;
};

}  // namespace hearth

/// Returns from the enclosing function if `expression` is a failed Status.
#define HEARTH_TRY(expression)                                                    \
    do {                                                                          \
        if (::hearth::Status hearth_status_ = (expression); !hearth_status_.ok()) \
            return hearth_status_;                                                \
    } while (false)

#define HEARTH_CONCAT_INNER_(a, b) a##b
#define HEARTH_CONCAT_(a, b) HEARTH_CONCAT_INNER_(a, b)

/// `HEARTH_ASSIGN(auto x, f());` assigns the value of f() to x, or returns f()'s failed Status from
/// the enclosing function.
#define HEARTH_ASSIGN(declaration, expression) \
    HEARTH_ASSIGN_AS_(HEARTH_CONCAT_(hearth_result_, __COUNTER__), declaration, expression)
#define HEARTH_ASSIGN_AS_(result, declaration, expression) \
    auto result = (expression);                            \
    if (!result.ok()) return result.status();              \
    declaration = std::move(result).value()
