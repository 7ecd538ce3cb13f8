// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads shared libraries at run time.

#include "native/shared_library.hpp"

#include <hearth/core/os_file.hpp>

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

namespace hearth::native {

#if defined(_WIN32)

SharedLibrary::~SharedLibrary() {
    if (handle_ != nullptr) FreeLibrary(static_cast<HMODULE>(handle_));
}

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path) {
    SharedLibrary library;
    library.handle_ = LoadLibraryW(path.c_str());
    if (library.handle_ == nullptr)
        return internal_error("cannot load " + path.string() + ": " + os::error_text());
    return library;
}

void* SharedLibrary::find(const std::string& symbol) const {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), symbol.c_str()));
}

#else

SharedLibrary::~SharedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path) {
    SharedLibrary library;
    library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle_ == nullptr) return internal_error(dlerror());
    return library;
}

void* SharedLibrary::find(const std::string& symbol) const {
    return dlsym(handle_, symbol.c_str());
}

#endif

}  // namespace hearth::native
