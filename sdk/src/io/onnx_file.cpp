// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/bytes.hpp"

#include <hearth/io.hpp>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace hearth {

namespace {

namespace fs = std::filesystem;

Result<std::vector<std::byte>> read_file(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        return not_found("no file " + hearth::quoted(path.string()));
    const uintmax_t size = fs::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    std::vector<std::byte> bytes(error ? 0 : static_cast<size_t>(size));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (error || !file) return not_found("cannot read " + hearth::quoted(path.string()));
    return bytes;
}

/// The file at `location` below `folder`, wherever links lead, if that is still below it.
Result<std::vector<std::byte>> read_below(const fs::path& folder, const std::string& location) {
    std::error_code error;
    const fs::path path = fs::canonical(folder / location, error);
    if (error) return not_found("no file " + hearth::quoted((folder / location).string()));
    const auto [end, ignored] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (end != folder.end())
        return invalid_argument("the file " + hearth::quoted(location) +
                                " is a link out of the model's folder");
    return read_file(path);
}

}  // namespace

ExternalData files_below(const std::string& folder) {
    return [folder](const std::string& location) -> Result<std::vector<std::byte>> {
        std::error_code error;
        const fs::path real =
            fs::canonical(folder.empty() ? fs::path(".") : fs::path(folder), error);
        if (error) return not_found("no folder " + hearth::quoted(folder));
        return read_below(real, location);
    };
}

Result<ImportedModel> import_onnx_file(const std::string& path, ImportOptions options) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
    if (!options.external_data)
        options.external_data = files_below(fs::path(path).parent_path().string());
    return import_onnx(bytes, options);
}

}  // namespace hearth
