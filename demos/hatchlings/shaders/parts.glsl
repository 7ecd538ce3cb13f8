// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parts of a hatchling, for the shader that places them and, as C++, for the mesh. Some have
// copies: two feet, eyes, pupils, glints and lids, three feathers of the crest, three ice shards.

const int kDoubt = 0, kDoubtRing = 1, kArrow = 2, kArrowHead = 3, kRing = 4, kGlow = 5, kShadow = 6,
          kFoot = 7, kTail = 8, kTrunk = 9, kBelly = 10, kWing = 11, kCrest = 12, kEye = 13,
          kPupil = 14, kGlint = 15, kLid = 16, kBeak = 17, kShard = 18;
