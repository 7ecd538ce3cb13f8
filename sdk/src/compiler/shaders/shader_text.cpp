// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/shaders/shader_text.hpp"

#include <hearth/core/assert.hpp>

namespace hearth {

std::string_view shader_text(std::string_view path) {
    for (const ShaderSource& source : shader_sources())
        if (source.path == path) return source.text;
    HEARTH_ASSERT(false && "no shader with this path");
    return {};
}

}  // namespace hearth
