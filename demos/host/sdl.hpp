// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads functions of SDL2 by name, so that only its headers are needed to build and nothing of it to
// run headless.

#pragma once

#include <hearth/status.hpp>

#define SDL_MAIN_HANDLED
#include <SDL.h>
#include <dlfcn.h>

namespace hearth::demo {

/// Members of a struct of SDL's functions, and load(). list: a macro that applies its argument to
/// each name without SDL_.
#define HEARTH_SDL_MEMBER(name) decltype(&SDL_##name) name = nullptr;
#define HEARTH_SDL_LOAD(name)                                                     \
    name = reinterpret_cast<decltype(&SDL_##name)>(dlsym(library, "SDL_" #name)); \
    has_all = has_all && name;
#define HEARTH_SDL_FUNCTIONS(list)                     \
    list(HEARTH_SDL_MEMBER) bool load(void* library) { \
        bool has_all = true;                           \
        list(HEARTH_SDL_LOAD) return has_all;          \
    }

/// Errors: kUnsupported if SDL2 is not installed or lacks one of the functions.
template <class Functions>
Result<Functions> open_sdl() {
    void* const library = dlopen("libSDL2-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return unsupported(
            "no SDL2: libSDL2-2.0.so.0 could not be opened (on Debian: apt-get install "
            "libsdl2-2.0-0)");
    Functions functions;
    if (!functions.load(library)) return unsupported("libSDL2-2.0.so.0 is too old");
    return functions;
}

}  // namespace hearth::demo
