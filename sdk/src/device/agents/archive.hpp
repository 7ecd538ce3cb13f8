// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Saves and restores the driver's own state, for saved games.  Each class lists its members once,
// in archive().

#pragma once

#include "core/alloc.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace hearth::agents {

class Archive {
  public:
    /// Counts bytes.
    static Archive measure() { return Archive(Mode::kMeasure, nullptr, 0); }
    static Archive write(std::span<std::byte> to) {
        return Archive(Mode::kWrite, to.data(), to.size());
    }
    /// Reads untrusted bytes: what is read must be checked.  The bytes are not written to.
    static Archive read(std::span<const std::byte> from) {
        return Archive(Mode::kRead, const_cast<std::byte*>(from.data()), from.size());
    }

    bool reads() const { return mode_ == Mode::kRead; }
    uint64_t position() const { return at_; }
    /// Bytes were missing, or a check failed.
    bool failed() const { return failed_; }
    /// Fails unless what was read is sound.
    void check(bool is_sound) { failed_ = failed_ || !is_sound; }

    template <class... T>
    requires(std::is_trivially_copyable_v<T>&&...) void operator()(T&... values) {
        (value(values), ...);
    }
    template <class T>
    void array(Array<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        transfer(values.data(), values.size() * sizeof(T));
    }

  private:
    enum class Mode : uint8_t { kMeasure, kWrite, kRead };
    Archive(Mode mode, std::byte* bytes, uint64_t size) : mode_(mode), bytes_(bytes), size_(size) {}
    template <class T>
    void value(T& value) {
        transfer(&value, sizeof value);
    }
    /// Any byte but 0 is true.
    void value(bool& value) {
        auto byte = static_cast<uint8_t>(value);
        transfer(&byte, sizeof byte);
        value = byte != 0;
    }
    void transfer(void* value, size_t bytes) {
        if (mode_ != Mode::kMeasure && bytes > size_ - at_) failed_ = true;
        if (failed_) return;
        auto* const own = static_cast<std::byte*>(value);
        if (mode_ == Mode::kWrite) std::copy_n(own, bytes, bytes_ + at_);
        if (mode_ == Mode::kRead) std::copy_n(bytes_ + at_, bytes, own);
        at_ += bytes;
    }

    Mode mode_;
    std::byte* bytes_;
    uint64_t size_, at_ = 0;
    bool failed_ = false;
};

}  // namespace hearth::agents
