// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads ONNX models from disk, with tensors in external files below the model's folder.

#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"
#include "core/path.hpp"

#include <hearth/core/os_file.hpp>
#include <hearth/io.hpp>

#include <filesystem>
#include <fstream>
#include <system_error>

namespace hearth {

namespace {

namespace fs = std::filesystem;

struct OpenFile {
    std::ifstream stream;
    uint64_t size = 0;
};

Result<OpenFile> open_file(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        return not_found("no file " + hearth::quoted(path.string()));
    OpenFile file{std::ifstream(path, std::ios::binary), fs::file_size(path, error)};
    if (error || !file.stream) return not_found("cannot read " + hearth::quoted(path.string()));
    return file;
}

/// Reads a range, which must lie within the file.
Result<std::vector<std::byte>> read_range(OpenFile& file, const fs::path& path, uint64_t offset,
                                          uint64_t size) {
    std::vector<std::byte> bytes(static_cast<size_t>(size));
    file.stream.seekg(static_cast<std::streamoff>(offset));
    file.stream.read(reinterpret_cast<char*>(bytes.data()),
                     static_cast<std::streamsize>(bytes.size()));
    if (!file.stream) return not_found("cannot read " + hearth::quoted(path.string()));
    return bytes;
}

Result<std::vector<std::byte>> read_file(const fs::path& path) {
    HEARTH_ASSIGN(OpenFile file, open_file(path));
    return read_range(file, path, 0, file.size);
}

/// Reads a range of the file `location` below `folder`; rejects it if symbolic links lead
/// elsewhere.
Result<std::vector<std::byte>> read_below(const fs::path& folder, const std::string& location,
                                          uint64_t offset, uint64_t size) {
    std::error_code error;
    const fs::path path = fs::canonical(folder / path_of(location), error);
    if (error) return not_found("no file " + hearth::quoted((folder / location).string()));
    const auto [end, ignored] =
        std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    if (end != folder.end())
        return invalid_argument(
            "the file " + hearth::quoted(location) +
            " is a link that leads outside the model's folder; copy the file into it");
    HEARTH_ASSIGN(OpenFile file, open_file(path));
    if (offset > file.size || size > file.size - offset)
        return corrupt_data("its data is at the bytes " + std::to_string(offset) + " to " +
                            std::to_string(offset + size) + " of the file " +
                            hearth::quoted(location) + ", which has " + std::to_string(file.size));
    // Sparse files: holes read as zeros, so a huge file may take hardly any disk space.
    constexpr uint64_t kMostTimes = 16, kSmall = uint64_t{1} << 25;
    uint64_t on_disk = 0;
    if (os::bytes_on_disk(path.string(), &on_disk) && size > kSmall + kMostTimes * on_disk)
        return corrupt_data("its data takes " + std::to_string(size) + " bytes of the file " +
                            hearth::quoted(location) + ", which is sparse but for " +
                            std::to_string(on_disk));
    return read_range(file, path, offset, size);
}

}  // namespace

ExternalData directory_loader(const std::string& folder) {
    return [folder](const std::string& location, uint64_t offset,
                    uint64_t size) -> Result<std::vector<std::byte>> {
        std::error_code error;
        const fs::path real =
            fs::canonical(folder.empty() ? fs::path(".") : path_of(folder), error);
        if (error) return not_found("no folder " + hearth::quoted(folder));
        return read_below(real, location, offset, size);
    };
}

Result<ImportedModel> import_onnx_file(const std::string& path, ImportOptions options) {
    return or_out_of_memory([&]() -> Result<ImportedModel> {
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(path_of(path)));
        if (!options.external_data)
            options.external_data = directory_loader(path_of(path).parent_path().string());
        return import_onnx(bytes, options);
    });
}

}  // namespace hearth
