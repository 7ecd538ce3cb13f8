// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sets up Dear ImGui: fonts, style and input.

#include "ui.hpp"

#include <pictures/font.hpp>

#include <cmath>

namespace hearth::demo {
namespace {

ImFont* add_font(std::span<const unsigned char> file, float size_pixels) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    ImFontConfig config;
    config.SizePixels = std::round(size_pixels);
    if (file.empty()) return atlas.AddFontDefault(&config);
    config.FontDataOwnedByAtlas = false;
    // Latin and the few symbols that the demos use.
    static const ImWchar ranges[] = {0x20, 0xff, 0x2013, 0x2026, 0x2190, 0x2193, 0x25a0, 0x25cf, 0};
    // ImGui takes a non-const pointer but neither writes nor frees the data.
    return atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(file.data()),
                                      static_cast<int>(file.size()), config.SizePixels, &config,
                                      ranges);
}

void set_style(float scale) {
    ImGui::StyleColorsDark();
    ImGuiStyle& style = ImGui::GetStyle();
    style.WindowRounding = 8.0f;
    style.WindowBorderSize = 0.0f;
    style.WindowPadding = {14.0f, 12.0f};
    style.ItemSpacing = {8.0f, 5.0f};
    style.Colors[ImGuiCol_WindowBg] = {0.05f, 0.06f, 0.08f, 0.78f};
    style.Colors[ImGuiCol_Text] = {0.93f, 0.94f, 0.95f, 1.0f};
    style.Colors[ImGuiCol_TextDisabled] = {0.60f, 0.64f, 0.69f, 1.0f};
    style.ScaleAllSizes(scale);
}

}  // namespace

std::unique_ptr<Ui> Ui::create(float scale) {
    std::unique_ptr<Ui> self(new Ui);
    self->context_ = ImGui::CreateContext();
    self->scale_ = scale;
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    set_style(scale);
    self->body_ = add_font(pictures::regular_font(), 16.0f * scale);
    self->heading_ = add_font(pictures::bold_font(), 20.0f * scale);
    self->display_ = add_font(pictures::bold_font(), 44.0f * scale);
    self->small_ = add_font(pictures::regular_font(), 13.0f * scale);
    io.Fonts->Build();
    return self;
}

Ui::~Ui() {
    ImGui::DestroyContext(context_);
}

Atlas Ui::atlas() const {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    return {{pixels, static_cast<size_t>(width) * static_cast<size_t>(height)},
            static_cast<uint32_t>(width),
            static_cast<uint32_t>(height)};
}

glm::vec2 Ui::white_uv() const {
    const ImVec2 uv = ImGui::GetIO().Fonts->TexUvWhitePixel;
    return {uv.x, uv.y};
}

void Ui::begin(VkExtent2D extent, float seconds, const Input& input) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(extent.width), static_cast<float>(extent.height)};
    io.DeltaTime = seconds;
    io.MousePos = {input.mouse.x, input.mouse.y};
    io.MouseDown[0] = input.is_mouse_down;
    ImGui::NewFrame();
}

const ImDrawData& Ui::end() {
    ImGui::Render();
    return *ImGui::GetDrawData();
}

}  // namespace hearth::demo
