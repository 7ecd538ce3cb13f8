// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reference cases on disk: folders with model.onnx and test_data_set_*/{input,output}_N.pb.

#pragma once

#include "compare.hpp"

#include <hearth/io.hpp>
#include <hearth/status.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hearth::tool {

/// Reads the whole file.  Errors: kNotFound, or kOutOfRange beyond 2 GiB.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);
Result<std::vector<std::byte>> read_file(const std::string& path);

/// All folders that hold a model.onnx: `root` itself, or folders below it; sorted.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& root);

/// The test_data_set_* folders of a case, in numeric order.
std::vector<std::filesystem::path> find_data_sets(const std::filesystem::path& case_folder);

/// The case's own tolerance.  Errors: kCorruptData if tolerance.txt is not two numbers.
Result<std::optional<Tolerance>> read_tolerance(const std::filesystem::path& case_folder);

/// Reads KIND_0.pb, KIND_1.pb, ... up to the first number that has no file.
Result<std::vector<NamedTensor>> read_tensors(const std::filesystem::path& data_set,
                                              const std::string& kind);

}  // namespace hearth::tool
