// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The player's input, independent of its source.

#pragma once

#include <glm/vec2.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace hearth::demo {

/// Keys held and pressed, by the lower-case names SDL gives them: "left", "space", "f", ...
struct Input {
    std::vector<std::string> held;
    std::vector<std::string> pressed;  ///< since the last frame
    std::string text;                  ///< typed since the last frame, UTF-8
    std::vector<std::string> dropped;  ///< paths of files dropped onto the window
    glm::vec2 stick{0.0f};             ///< left stick of a game controller, y up
    float right_trigger = 0.0f;        ///< 0 to 1
    float left_trigger = 0.0f;
    glm::vec2 mouse{-1.0f};
    bool is_mouse_down = false;
    bool wants_to_quit = false;

    bool is_held(const char* key) const {
        return std::find(held.begin(), held.end(), key) != held.end();
    }
    bool was_pressed(const char* key) const {
        return std::find(pressed.begin(), pressed.end(), key) != pressed.end();
    }
};

}  // namespace hearth::demo
