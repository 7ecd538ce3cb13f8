// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sizes that the network, the game and the shader agree on.

#pragma once

#include <cstdint>

namespace hearth::loom {

constexpr int64_t kPictureSize = 256;  ///< texels along each side of the picture
constexpr int64_t kTexels = kPictureSize * kPictureSize;
constexpr int64_t kBatchSize = 1024;  ///< texels per learning step

}  // namespace hearth::loom
