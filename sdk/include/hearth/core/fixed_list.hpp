// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>

namespace hearth {

/// A list of up to N values without allocation; usable in constant-initialized tables.
template <class T, size_t N>
class FixedList {
  public:
    constexpr FixedList() = default;
    constexpr FixedList(std::initializer_list<T> list) {
        for (const T& value : list) push_back(value);
    }
    constexpr void push_back(const T& value) { items_[size_++] = value; }
    constexpr size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T& operator[](size_t i) { return items_[i]; }
    constexpr const T& operator[](size_t i) const { return items_[i]; }
    constexpr const T* begin() const { return items_.data(); }
    constexpr const T* end() const { return items_.data() + size_; }

  private:
    std::array<T, N> items_{};
    size_t size_ = 0;
};

}  // namespace hearth
