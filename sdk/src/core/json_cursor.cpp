// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/json_cursor.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

size_t JsonCursor::line() const {
    return 1 + static_cast<size_t>(std::count(text_.data(), text_.data() + at_, '\n'));
}

bool JsonCursor::fail(const char* expected) {
    if (expected_ == nullptr) expected_ = expected;
    return false;
}

void JsonCursor::skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
}

char JsonCursor::peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::open(char bracket, const char* expected) {
    if (failed() || peek() != bracket) return fail(expected);
    ++at_;
    is_first_ = true;
    return true;
}

/// Moves past the comma before the next member of an object or list, or past its closing bracket.
bool JsonCursor::next(char bracket) {
    if (failed()) return false;
    const bool is_first = is_first_;
    is_first_ = false;
    if (peek() == bracket) {
        ++at_;
        return false;
    }
    if (is_first) return at_ < text_.size() || fail("a value");
    if (!is_at(',')) return fail("a comma or the end of a list or object");
    ++at_;
    return true;
}

bool JsonCursor::next_key(std::string_view& key) {
    if (!next('}')) return false;
    if (!text(key)) return false;
    if (peek() != ':') return fail("a colon");
    ++at_;
    return true;
}

bool JsonCursor::next_element() {
    return next(']');
}

bool JsonCursor::number(double& value) {
    skip_space();
    const size_t begin = at_;
    const bool is_negative = !failed() && is_at('-');
    if (is_negative) ++at_;
    if (failed() || !is_at_digit()) {
        at_ = begin;
        return fail("a number");
    }
    // Up to 15 digits and powers up to 10^22 are exact, so the result is the nearest double.
    double digits = 0;
    int exponent = 0;
    const auto read = [&](int step) {
        for (; is_at_digit(); ++at_) {
            if (digits < 1e15) {
                digits = digits * 10 + (text_[at_] - '0');
                exponent += step;
            } else {
                exponent += step + 1;
            }
        }
    };
    read(0);
    if (is_at('.')) {
        ++at_;
        if (!is_at_digit()) return fail("a digit");
        read(-1);
    }
    if (is_at('e') || is_at('E')) {
        ++at_;
        const bool is_small = is_at('-');
        if (is_small || is_at('+')) ++at_;
        if (!is_at_digit()) return fail("a digit");
        int power = 0;
        for (; is_at_digit(); ++at_) power = std::min(power * 10 + (text_[at_] - '0'), 1000);
        exponent += is_small ? -power : power;
    }
    const double scale = std::pow(10.0, std::abs(exponent));
    value = (is_negative ? -1 : 1) * (exponent < 0 ? digits / scale : digits * scale);
    return std::isfinite(value) || fail("a number below 1e308");
}

bool JsonCursor::text(std::string_view& value) {
    if (failed() || peek() != '"') return fail("a text in quotes");
    const size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_)
        if (text_[at_] == '\\' || static_cast<unsigned char>(text_[at_]) < ' ')
            return fail("a text without escapes");
    if (at_ == text_.size()) return fail("a quote at the end of the text");
    value = {text_.data() + begin, at_++ - begin};  // substr() is compiled with a throw
    return true;
}

bool JsonCursor::accept(std::string_view word) {
    const std::string_view rest(text_.data() + at_, text_.size() - at_);
    if (failed() || !rest.starts_with(word)) return false;
    at_ += word.size();
    return true;
}

bool JsonCursor::boolean(bool& value) {
    skip_space();
    if (accept("true")) return value = true;
    if (!accept("false")) return fail("true or false");
    value = false;
    return true;
}

bool JsonCursor::skip() {
    constexpr int kMostLevels = 64;
    std::string_view ignored;
    double number_ignored = 0;
    // Bit i: level i is an object.
    uint64_t objects = 0;
    int level = 0;
    do {
        if (level > 0) {
            const bool is_object = (objects & 1) != 0;
            if (is_object ? !next_key(ignored) : !next_element()) {
                if (failed()) return false;
                objects >>= 1;
                --level;
                continue;
            }
        }
        const char c = peek();
        if (c == '{' || c == '[') {
            if (++level > kMostLevels) return fail("at most 64 levels");
            objects = objects << 1 | (c == '{' ? 1 : 0);
            (void)open(c, "");
        } else if (c == '"') {
            (void)text(ignored);
        } else if (!accept("true") && !accept("false") && !accept("null")) {
            (void)number(number_ignored);
        }
    } while (level > 0 && !failed());
    return !failed();
}

bool JsonCursor::end() {
    if (failed()) return false;
    return peek() == '\0' && at_ == text_.size() ? true : fail("the end of the file");
}

}  // namespace hearth
