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

/// Replaces control characters with '?': C0 including line breaks (unless keep_lines) and tabs,
/// DEL, and C1 encoded as UTF-8.  Messages quote names from files, which must not control terminals
/// or logs.
inline void replace_control_characters(char* text, size_t size, bool keep_lines = false) {
    for (size_t i = 0; i < size; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool is_c1 =
            c == 0xc2 && i + 1 < size && (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
        if ((c < 0x20 && !(keep_lines && c == '\n')) || c == 0x7f) text[i] = '?';
        if (is_c1) text[i] = text[i + 1] = '?';
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
