// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning as data: variants that won, and where they did.
//
// A text of lines, first a head:
//     hearth tuning 1
//     device NVIDIA H200
//     driver 580.159.04
//     version 0.1.0
//     matmul 64x64x1024 ... = matrix 64x64x64 of 32x32, 1 stages, 0 threads = 20.5 us, shipped 25.1
// A line that does not fit, or a variant that is none of the product's candidates, is not trusted.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <map>
#include <string>
#include <string_view>

namespace hearth {

struct Tuning {
    std::string device, driver, version;
    std::map<std::string, std::string> variants;  ///< by what is computed
    std::map<std::string, std::string> remarks;   ///< likewise, for people

    /// Why it is not for what the options compile for; empty if it is.
    std::string mismatch(const CompileOptions& options) const;
};

/// An empty one for what the options compile for.
Tuning tuning_for(const CompileOptions& options);

/// Errors: kCorruptData naming the line.
Result<Tuning> parse_tuning(std::string_view text);

std::string print_tuning(const Tuning& tuning);

}  // namespace hearth
