// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "all_headers.hpp"

#include <cstdio>

int main() {
    const hearth::Status nowhere = hearth::check_writable("/nowhere/at/all");
    const auto context = hearth::Context::create(hearth_context_create_info_default());
    if (nowhere.ok() || context.ok()) return 1;
    std::puts(hearth_build_info());
    return 0;
}
