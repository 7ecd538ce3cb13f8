// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Little-endian readers of untrusted bytes, and writers.

#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

/// Reads from the front of `bytes`, which must outlive it.  A read beyond the end returns zeros (or
/// an empty span) and sets failed(), which stays set: code may read a whole record and check once.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool failed() const { return failed_; }
    uint64_t position() const { return at_; }
    uint64_t left() const { return failed_ ? 0 : bytes_.size() - at_; }

    /// Returns the next `size` bytes, in place.
    std::span<const std::byte> take(uint64_t size) {
        if (size > left()) {
            failed_ = true;
            return {};
        }
        const auto taken = bytes_.subspan(at_, size);
        at_ += size;
        return taken;
    }
    std::string_view text(uint64_t size) {
        const std::span<const std::byte> taken = take(size);
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    /// A string prefixed with its length (32 bits).
    std::string_view counted_text() { return text(number<uint32_t>()); }
    /// An element count (32 bits) for elements that take at least `element_bytes` each.  Fails if
    /// the remaining bytes cannot hold that many, so that the count is safe to allocate by.
    uint32_t count(size_t element_bytes) {
        const auto value = number<uint32_t>();
        if (value <= left() / element_bytes) return value;
        failed_ = true;
        return 0;
    }
    /// Returns the bytes up to the next line break, which is consumed and not returned.
    std::string_view line() {
        const std::string_view rest(reinterpret_cast<const char*>(bytes_.data()) + at_, left());
        const size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            failed_ = true;
            return {};
        }
        at_ += end + 1;
        return rest.substr(0, end);
    }
    /// An integer, or a float by its bit pattern.
    template <class T>
    requires std::integral<T> || std::floating_point<T> T number() {
        static_assert(std::endian::native == std::endian::little);
        T value{};
        if (const auto taken = take(sizeof(T)); !taken.empty())
            std::memcpy(&value, taken.data(), sizeof(T));
        return value;
    }
    void seek(uint64_t position) {
        if (failed_ || position > bytes_.size())
            failed_ = true;
        else
            at_ = position;
    }

  private:
    std::span<const std::byte> bytes_;
    uint64_t at_ = 0;
    bool failed_ = false;
};

/// Appends to a growing byte vector.
class ByteWriter {
  public:
    uint64_t position() const { return bytes_.size(); }
    ByteWriter& bytes(std::span<const std::byte> data);
    ByteWriter& text(std::string_view value) { return bytes(std::as_bytes(std::span(value))); }
    /// Writes the string prefixed with its length (32 bits).
    ByteWriter& counted_text(std::string_view value) {
        return number(static_cast<uint32_t>(value.size())).text(value);
    }
    template <class T>
    requires std::integral<T> || std::floating_point<T> ByteWriter& number(T value) {
        static_assert(std::endian::native == std::endian::little);
        return bytes(std::as_bytes(std::span(&value, 1)));
    }
    /// Pads with zeros to a multiple of `alignment`.
    void align(size_t alignment) {
        bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    }
    std::vector<std::byte> finish() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

/// A name from a file for use in a message: control characters replaced by '?', at most 100 bytes.
std::string shown(std::string_view name);
/// shown() in single quotes.
std::string quoted(std::string_view name);

}  // namespace hearth
