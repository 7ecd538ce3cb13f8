// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parses the JSON subset of .safetensors headers, and quotes strings.

#include "import/safetensors/json.hpp"

#include <charconv>
#include <cstdio>
#include <unordered_set>

namespace hearth {

namespace {

void append_utf8(std::string& to, uint32_t code) {
    const auto tail = [&](int shift) { to += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
        to += static_cast<char>(code);
    } else if (code < 0x800) {
        to += static_cast<char>(0xc0 | (code >> 6));
        tail(0);
    } else if (code < 0x10000) {
        to += static_cast<char>(0xe0 | (code >> 12));
        tail(6);
        tail(0);
    } else {
        to += static_cast<char>(0xf0 | (code >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

}  // namespace

char JsonReader::next() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonReader::accept(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
}

Status JsonReader::error(std::string_view what) const {
    return corrupt_data("JSON: expected " + std::string(what) + " at byte " + std::to_string(at_));
}

Status JsonReader::expect(char c) {
    return accept(c) ? Status() : error("'" + std::string(1, c) + "'");
}

Status JsonReader::object(const std::function<Status(const std::string& key)>& member) {
    HEARTH_TRY(expect('{'));
    std::unordered_set<std::string> keys;
    if (accept('}')) return {};
    do {
        HEARTH_ASSIGN(const std::string key, text());
        if (!keys.insert(key).second) return error("a key that differs from the previous ones");
        HEARTH_TRY(expect(':'));
        HEARTH_TRY(member(key));
    } while (accept(','));
    return expect('}');
}

Result<uint32_t> JsonReader::code_unit() {
    uint32_t code = 0;
    const char* first = text_.data() + at_;
    if (text_.size() - at_ < 4 || std::from_chars(first, first + 4, code, 16).ptr != first + 4)
        return error("four hexadecimal digits");
    at_ += 4;
    return code;
}

Status JsonReader::escape(std::string& to) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return error("an escape");
    const char c = text_[at_++];
    if (const size_t i = kNames.find(c); i != std::string_view::npos) {
        to += kMeant[i];
        return {};
    }
    if (c != 'u') return error("an escape");
    HEARTH_ASSIGN(uint32_t code, code_unit());
    if (code >= 0xd800 && code < 0xdc00) {  // high surrogate
        if (text_.substr(at_, 2) != "\\u") return error("the second half of a surrogate pair");
        at_ += 2;
        HEARTH_ASSIGN(const uint32_t low, code_unit());
        if (low < 0xdc00 || low >= 0xe000) return error("the second half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return error("the first half of a surrogate pair");
    }
    append_utf8(to, code);
    return {};
}

Result<std::string> JsonReader::text() {
    HEARTH_TRY(expect('"'));
    std::string value;
    while (at_ < text_.size() && text_[at_] != '"') {
        const char c = text_[at_++];
        if (static_cast<unsigned char>(c) < 0x20) return error("no control characters in a string");
        if (c == '\\')
            HEARTH_TRY(escape(value));
        else
            value += c;
    }
    if (at_ == text_.size()) return error("the end of a string");
    ++at_;
    return value;
}

Result<std::vector<int64_t>> JsonReader::numbers() {
    HEARTH_TRY(expect('['));
    std::vector<int64_t> list;
    if (accept(']')) return list;
    do {
        (void)next();
        int64_t number = 0;
        const char *first = text_.data() + at_, *last = text_.data() + text_.size();
        const auto [end, failure] = std::from_chars(first, last, number);
        if (failure != std::errc() || number < 0) return error("a whole number");
        at_ += static_cast<size_t>(end - first);
        list.push_back(number);
    } while (accept(','));
    HEARTH_TRY(expect(']'));
    return list;
}

Status JsonReader::end() {
    (void)next();
    return at_ == text_.size() ? Status() : error("the end");
}

std::string json_text(std::string_view value) {
    std::string text = "\"";
    for (char c : value) {
        if (c == '"' || c == '\\') {
            text += '\\';
            text += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
            text += escaped;
        } else {
            text += c;
        }
    }
    return text + "\"";
}

}  // namespace hearth
