// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Dear ImGui without a backend: the host's renderer draws it and the host's input feeds it, so a
// headless run has the same panels as a window.

#pragma once

#include "input.hpp"
#include "renderer.hpp"

#include <imgui.h>

#include <memory>

namespace hearth::demo {

class Ui {
  public:
    /// `scale`: of all text and panels; 1 suits a height of 720 pixels. One Ui at a time.
    static std::unique_ptr<Ui> create(float scale);
    ~Ui();
    Ui(const Ui&) = delete;
    Ui& operator=(const Ui&) = delete;

    float scale() const { return scale_; }
    Atlas atlas() const;
    /// Texture coordinates of the atlas' white texel, for canvases.
    glm::vec2 white_uv() const;

    /// Fonts for text, headings and small print; push them with ImGui::PushFont.
    ImFont* body() const { return body_; }
    ImFont* heading() const { return heading_; }
    ImFont* display() const { return display_; }
    ImFont* small() const { return small_; }

    void begin(VkExtent2D extent, float seconds, const Input& input);
    /// Draw data, valid until the next begin().
    const ImDrawData& end();

  private:
    Ui() = default;

    ImGuiContext* context_ = nullptr;
    float scale_ = 1.0f;
    ImFont* body_ = nullptr;
    ImFont* heading_ = nullptr;
    ImFont* display_ = nullptr;
    ImFont* small_ = nullptr;
};

}  // namespace hearth::demo
