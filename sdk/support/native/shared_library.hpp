// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A shared library loaded at run time.

#pragma once

#include <hearth/status.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace hearth::native {

/// Unloads the library when destroyed.
class SharedLibrary {
  public:
    SharedLibrary() = default;
    SharedLibrary(SharedLibrary&& other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)) {}
    SharedLibrary& operator=(SharedLibrary&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~SharedLibrary();

    /// Errors: kInternal with the system's reason.
    static Result<SharedLibrary> open(const std::filesystem::path& path);
    /// Returns the address of a function or object, or null.
    void* find(const std::string& symbol) const;

  private:
    void* handle_ = nullptr;
};

}  // namespace hearth::native
