// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Included first by headers that need C++20, so that older modes get one sentence.

#pragma once

#if !(defined(_MSVC_LANG) ? _MSVC_LANG >= 202002L : __cplusplus >= 202002L)
#error \
    "this header of Hearth needs C++20; in C++17 there are hearth_runtime.hpp, network.hpp and file.hpp"
#endif
