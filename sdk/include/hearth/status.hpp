// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How the compiler column reports what went wrong: no exceptions, one code and one sentence.

#pragma once

#include <hearth/core/assert.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth {

/// Kinds of failure.  The C interface (`hearth.h`) has the same kinds as negative result codes.
enum class StatusCode {
    kOk,
    kInvalidArgument,  ///< a shape, type, name or value that the call does not accept
    kNotFound,         ///< a name that does not exist
    kUnsupported,      ///< understood, but this build, device or profile cannot do it
    kCorruptData,      ///< untrusted bytes that are not what they claim to be
    kOutOfRange,       ///< a size beyond a stated limit, or beyond the memory there is
    kInternal,         ///< a broken invariant inside Hearth
};

/// Puts '?' in place of each control character: C0 with line breaks and tabs (unless line breaks stay),
/// DEL, and C1 as UTF-8 has it.  Messages quote names from files, and no terminal or log may obey
/// those.
inline void replace_control_characters(char* text, size_t size, bool keep_lines = false) {
    for (size_t i = 0; i < size; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool is_c1 =
            c == 0xc2 && i + 1 < size && (static_cast<unsigned char>(text[i + 1]) & 0xe0) == 0x80;
        if ((c < 0x20 && !(keep_lines && c == '\n')) || c == 0x7f) text[i] = '?';
        if (is_c1) text[i] = text[i + 1] = '?';
    }
}

/// `text` as a message can show it: no control characters but line breaks, and no longer than a few
/// kilobytes, whatever names from a file went into it.
inline std::string presentable(std::string text) {
    constexpr size_t kLongest = 4096;
    constexpr std::string_view kGap = " [...] ";
    if (text.size() > kLongest) {
        // What went wrong stands at the end, where at the beginning.
        constexpr size_t kHalf = (kLongest - kGap.size()) / 2;
        text.replace(kHalf, text.size() - 2 * kHalf, kGap);
    }
    replace_control_characters(text.data(), text.size(), true);
    return text;
}

/// A code and a message that names what was expected and what was found.
class [[nodiscard]] Status {
  public:
    Status() = default;
    Status(StatusCode code, std::string message)
        : code_(code), message_(presentable(std::move(message))) {}

    bool ok() const { return code_ == StatusCode::kOk; }
    StatusCode code() const { return code_; }
    const std::string& message() const { return message_; }

    /// The same failure, told from one level further out: "context: message".
    Status in(std::string_view context) const {
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

/// Tells the assert handler what a failure that was taken for a value says.
[[noreturn]] inline void no_value(const Status& failure) {
    assert_failed(("value() of a failure: " + failure.message()).c_str(), __FILE__, __LINE__);
}

/// A value, or the Status that tells why there is none.
template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : value_(std::move(value)) {}
    Result(Status status) : status_(std::move(status)) {
        HEARTH_ASSERT(!status_.ok() && "a success must carry a value");
    }

    bool ok() const { return value_.has_value(); }
    const Status& status() const { return status_; }

    /// The value.  Calling these on a failure is a programming error: the assert handler is told.
    T& value() & { return check(), *value_; }
    const T& value() const& { return check(), *value_; }
    T&& value() && { return check(), std::move(*value_); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

  private:
    void check() const {
        if (!value_) no_value(status_);
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

/// `HEARTH_ASSIGN(auto x, f());` - x is the value of f(), or the enclosing function returns its
/// Status.
#define HEARTH_ASSIGN(declaration, expression) \
    HEARTH_ASSIGN_AS_(HEARTH_CONCAT_(hearth_result_, __COUNTER__), declaration, expression)
#define HEARTH_ASSIGN_AS_(result, declaration, expression) \
    auto result = (expression);                            \
    if (!result.ok()) return result.status();              \
    declaration = std::move(result).value()
