// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning data: the winning variants, and the device that they were measured on.
//
// A text of lines, first a header:
//     hearth tuning 1
//     device NVIDIA H200
//     driver 580.159.04
//     version 0.1.0
//     matmul 64x64x1024 ... = matrix 64x64x64 of 32x32, 1 stages, 0 threads = 20.5 us, shipped 25.1
// Malformed lines are an error; variants that are not candidates of the product are ignored.

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>

#include <map>
#include <string>
#include <string_view>

namespace hearth {

struct Tuning {
    std::string device, driver, version;
    std::map<std::string, std::string> variants;  ///< by problem
    std::map<std::string, std::string> remarks;   ///< measurements by problem, for information

    /// Returns why the data does not apply to the target of the options; empty if it does.
    std::string mismatch(const CompileOptions& options) const;
};

/// Empty tuning data for the target of the options.
Tuning tuning_for(const CompileOptions& options);

/// Errors: kCorruptData naming the line.
Result<Tuning> parse_tuning(std::string_view text);

std::string print_tuning(const Tuning& tuning);

}  // namespace hearth
