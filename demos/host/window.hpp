// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An SDL2 window. SDL is loaded only when a window is opened: a headless run loads no display
// library.

#pragma once

#include "input.hpp"

#include <standalone/instance.hpp>

#include <memory>
#include <string>
#include <vector>

namespace hearth::demo {

class Window {
  public:
    /// Errors: kUnsupported if SDL2 is not installed or there is no display that can show Vulkan.
    static Result<std::unique_ptr<Window>> create(const char* title, VkExtent2D extent);
    virtual ~Window() = default;
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

    virtual Result<std::vector<std::string>> instance_extensions() = 0;
    /// The caller destroys the surface before the window.
    virtual Result<VkSurfaceKHR> create_surface(const standalone::Instance& instance) = 0;
    /// Size in pixels; zero while minimized.
    virtual VkExtent2D extent() = 0;
    /// Covers the whole display, or returns to the window's size.
    virtual void set_full_screen(bool is_full) = 0;
    /// Handles the window's events.
    virtual Input poll() = 0;

  protected:
    Window() = default;
};

}  // namespace hearth::demo
