// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// SHA-256 for applications that verify the files they load: FIPS 180-4, sections 4.1.2, 5 and 6.2.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth {

std::array<uint8_t, 32> sha256(std::span<const std::byte> data);

}  // namespace hearth
