// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds reference cases on disk and reads their tensors and tolerances.

#include "cases.hpp"

#include <hearth/file.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <system_error>

namespace hearth::tool {

namespace fs = std::filesystem;

namespace {

// Largest depth of a case below the folder that was named.
constexpr int kDeepest = 4;

void collect(const fs::path& folder, int depth, std::vector<fs::path>& found) {
    std::error_code error;
    if (fs::is_regular_file(folder / "model.onnx", error)) {
        found.push_back(folder);
        return;
    }
    if (depth == kDeepest) return;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (at->is_directory(error)) collect(at->path(), depth + 1, found);
}

}  // namespace

Result<std::vector<std::byte>> read_file(const fs::path& path) {
    return read_whole_file(path.string());
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
    return read_whole_file(path);
}

std::vector<fs::path> find_cases(const fs::path& root) {
    std::vector<fs::path> found;
    collect(root, 0, found);
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<fs::path> find_data_sets(const fs::path& case_folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(case_folder, error), end; !error && at != end;
         at.increment(error))
        if (at->is_directory(error) && at->path().filename().string().starts_with("test_data_set_"))
            found.push_back(at->path());
    // Numeric order: shorter names first, then lexicographic.
    std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
        const std::string x = a.filename().string(), y = b.filename().string();
        return x.size() != y.size() ? x.size() < y.size() : x < y;
    });
    return found;
}

Result<std::optional<Tolerance>> read_tolerance(const fs::path& case_folder) {
    const fs::path path = case_folder / "tolerance.txt";
    std::error_code error;
    if (!fs::exists(path, error)) return std::optional<Tolerance>();
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path.string(), 4096));
    std::istringstream file(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    Tolerance tolerance;
    if (file >> tolerance.relative >> tolerance.absolute && tolerance.relative >= 0 &&
        tolerance.absolute >= 0 && std::isfinite(tolerance.relative + tolerance.absolute))
        return std::optional(tolerance);
    return corrupt_data("tolerance.txt does not hold two numbers, `rtol atol`");
}

Result<std::vector<NamedTensor>> read_tensors(const fs::path& data_set, const std::string& kind) {
    std::vector<NamedTensor> tensors;
    for (size_t n = 0;; ++n) {
        const std::string name = kind + "_" + std::to_string(n) + ".pb";
        std::error_code error;
        if (!fs::exists(data_set / name, error)) return tensors;
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(data_set / name));
        Result<NamedTensor> tensor = read_onnx_tensor(bytes);
        if (!tensor.ok()) return tensor.status().with_context(name);
        tensors.push_back(std::move(*tensor));
    }
}

}  // namespace hearth::tool
