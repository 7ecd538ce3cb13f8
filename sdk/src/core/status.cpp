// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/status.hpp>

#include <cstddef>

namespace hearth {

std::string presentable(std::string text) {
    constexpr size_t kLongest = 4096;
    constexpr std::string_view kGap = " [...] ";
    if (text.size() > kLongest) {
        // What went wrong stands at the end, where at the beginning.
        constexpr size_t kHalf = (kLongest - kGap.size()) / 2;
        text.replace(kHalf, text.size() - 2 * kHalf, kGap);
    }
    replace_control_characters(text.data(), text.size(), true);
    return text;
}

}  // namespace hearth
