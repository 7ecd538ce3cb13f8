// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// CPU memory of the runtime: every byte comes from the application's allocation callbacks, and
// running out of memory is a return value to check, never an abort.  Nothing here is called while
// recording.

#pragma once

#include <hearth/core/assert.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace hearth {

/// The application's allocation callbacks, with a count of the bytes held.  Not copyable: other
/// objects keep pointers to it.
class HostAllocator {
  public:
    using AllocateFunction = void* (*)(void* user_data, size_t bytes, size_t alignment);
    using FreeFunction = void (*)(void* user_data, void* memory);

    /// Uses the C library's allocator.
    HostAllocator();
    HostAllocator(void* user_data, AllocateFunction allocate_function, FreeFunction free_function)
        : user_data_(user_data), allocate_(allocate_function), free_(free_function) {}
    HostAllocator(const HostAllocator&) = delete;
    HostAllocator& operator=(const HostAllocator&) = delete;

    /// Returns null if out of memory.
    void* allocate(size_t bytes, size_t alignment);
    /// `bytes` as passed to allocate().  `memory` may be null.
    void free(void* memory, size_t bytes);

    template <class T, class... Args>
    T* make(Args&&... args) {
        void* memory = allocate(sizeof(T), alignof(T));
        return memory != nullptr ? new (memory) T(std::forward<Args>(args)...) : nullptr;
    }
    template <class T>
    void destroy(T* object) {
        if (object == nullptr) return;
        object->~T();
        free(object, sizeof(T));
    }

    uint64_t bytes_held() const { return held_; }
    uint64_t bytes_peak() const { return peak_; }
    /// Takes over the byte counts of another allocator with the same callbacks.
    void adopt_count(const HostAllocator& other) { held_ = other.held_, peak_ = other.peak_; }

  private:
    void* user_data_ = nullptr;
    AllocateFunction allocate_;
    FreeFunction free_;
    uint64_t held_ = 0, peak_ = 0;
};

/// A fixed number of elements, allocated once.
template <class T>
class Array {
  public:
    Array() = default;
    Array(Array&& other) noexcept
        : allocator_(other.allocator_),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    Array& operator=(Array&& other) noexcept {
        std::swap(allocator_, other.allocator_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Array() { reset(); }

    /// Replaces the elements by `size` value-initialized ones; returns false if out of memory.
    [[nodiscard]] bool resize(HostAllocator& allocator, size_t size) {
        reset();
        if (size == 0) return true;
        if (size > SIZE_MAX / sizeof(T)) return false;
        data_ = static_cast<T*>(allocator.allocate(size * sizeof(T), alignof(T)));
        if (data_ == nullptr) return false;
        allocator_ = &allocator;
        size_ = size;
        for (size_t i = 0; i < size; ++i) new (data_ + i) T();
        return true;
    }
    void reset() {
        if (data_ == nullptr) return;
        for (size_t i = 0; i < size_; ++i) data_[i].~T();
        allocator_->free(data_, size_ * sizeof(T));
        data_ = nullptr;
        size_ = 0;
    }

    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return HEARTH_ASSERT(i < size_), data_[i]; }
    const T& operator[](size_t i) const { return HEARTH_ASSERT(i < size_), data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

  private:
    HostAllocator* allocator_ = nullptr;
    T* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace hearth
