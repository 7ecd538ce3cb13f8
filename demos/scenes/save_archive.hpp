// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes and reads the values of a saved game.  A type lists its members once, in a template
// visit(archive, value) that serves both directions.

#pragma once

#include <glm/vec2.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace hearth::scenes {

/// Writes values in memory layout, little-endian on all supported platforms.
class SaveWriter {
  public:
    static constexpr bool kReads = false;
    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
        append(std::as_bytes(std::span(&value, 1)));
    }
    void append(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

/// Reads untrusted bytes.  Where they end too early or hold a float that is not finite, values stay
/// as they are or are unspecified, and is_sound() is false from then on.
class SaveReader {
  public:
    static constexpr bool kReads = true;
    explicit SaveReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
    template <class T>
    void operator()(T& value) {
        static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
        if constexpr (std::is_same_v<T, bool>) {
            uint8_t byte = 0;
            (*this)(byte);
            value = byte != 0;
        } else {
            const std::span<const std::byte> raw = take(sizeof value);
            if (raw.empty()) return;
            std::memcpy(&value, raw.data(), sizeof value);
            if constexpr (std::is_floating_point_v<T>) require(std::isfinite(value));
        }
    }
    /// The next bytes; empty, and the file unsound, if there are fewer.
    std::span<const std::byte> take(size_t count) {
        require(count <= bytes_.size());
        if (!is_sound_) return {};
        const auto taken = bytes_.first(count);
        bytes_ = bytes_.subspan(count);
        return taken;
    }
    void require(bool holds) { is_sound_ = is_sound_ && holds; }
    bool is_sound() const { return is_sound_; }
    bool is_at_end() const { return bytes_.empty(); }
    std::span<const std::byte> left() const { return bytes_; }

  private:
    std::span<const std::byte> bytes_;
    bool is_sound_ = true;
};

template <class Archive>
void visit(Archive& archive, glm::vec2& v) {
    archive(v.x);
    archive(v.y);
}

}  // namespace hearth::scenes
