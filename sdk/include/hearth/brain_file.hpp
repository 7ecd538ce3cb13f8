// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains in files: write_file_atomically() and read_whole_file() are what hosts save and load with.

#pragma once

#include <hearth/file.hpp>
