// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/shaders/shader_text.hpp"

#include <hearth/core/assert.hpp>

#include <string>

namespace hearth {

std::string_view shader_text(std::string_view path) {
    for (const ShaderSource& source : shader_sources())
        if (source.path == path) return source.text;
    HEARTH_ASSERT(false && "no shader with this path");
    return {};
}

std::string_view prelude_text(std::string_view name) {
    const std::string_view text = shader_text("prelude/" + std::string(name));
    return text.substr(text.find("\n\n") + 2);
}

}  // namespace hearth
