// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth::span: std::span in C++20; in C++17 a view with the subset of its interface that the
// runtime headers need.  Only header-only code may use it in signatures, because C++17 and C++20
// translation units would disagree about its type.

#pragma once

#include <cstddef>

#if __cplusplus >= 202002L || (defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)

#include <span>

namespace hearth {

using std::as_bytes;
using std::span;

}  // namespace hearth

#else

#include <array>
#include <type_traits>
#include <utility>

namespace hearth {

/// A non-owning view of `size` elements starting at `data`.
template <class T>
class span {
  public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() = default;
    constexpr span(T* data, std::size_t size) : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr span(T (&array)[N]) : data_(array), size_(N) {}
    /// Converts from containers with data() and size(): vectors, arrays, other spans.
    template <
        class Container,
        class = std::enable_if_t<
            !std::is_array_v<std::remove_reference_t<Container>> &&
            std::is_convertible_v<
                std::remove_pointer_t<decltype(std::declval<Container&>().data())> (*)[], T (*)[]>>,
        class = decltype(std::declval<Container&>().size())>
    constexpr span(Container&& container) : data_(container.data()), size_(container.size()) {}

    constexpr T* data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr std::size_t size_bytes() const { return size_ * sizeof(T); }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T& operator[](std::size_t i) const { return data_[i]; }
    constexpr T* begin() const { return data_; }
    constexpr T* end() const { return data_ + size_; }
    constexpr span subspan(std::size_t from) const { return {data_ + from, size_ - from}; }
    constexpr span subspan(std::size_t from, std::size_t count) const {
        return {data_ + from, count};
    }
    constexpr span first(std::size_t count) const { return {data_, count}; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};
template <class T, std::size_t N>
span(T (&)[N]) -> span<T>;
template <class T>
span(T*, std::size_t) -> span<T>;
template <class Container>
span(Container&&) -> span<std::remove_pointer_t<decltype(std::declval<Container&>().data())>>;

template <class T>
span<const std::byte> as_bytes(span<T> values) {
    return {reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()};
}

}  // namespace hearth

#endif
