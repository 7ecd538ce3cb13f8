// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Data sets by path: folders of images, and files.

#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"
#include "core/path.hpp"
#include "import/data/labels.hpp"

#include <hearth/dataset.hpp>
#include <hearth/file.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace hearth {

namespace {

namespace fs = std::filesystem;

/// The names in a folder that do not begin with a dot, sorted; folders or files alone.
std::vector<std::string> sorted_names(const std::string& folder, bool folders) {
    std::vector<std::string> names;
    for (const std::string& name : os::names_in(folder)) {
        std::error_code error;
        const bool is_folder = fs::is_directory(path_of(folder + "/" + name), error);
        if (!name.starts_with('.') && is_folder == folders) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

Result<Dataset> read_image_folder(const std::string& path, const DatasetOptions& options) {
    return or_out_of_memory([&]() -> Result<Dataset> {
        std::vector<std::string> labels;
        std::vector<float> pixels;
        Shape shape;
        std::string first;
        for (const std::string& name : sorted_names(path, true))
            for (const std::string& file : sorted_names(path + "/" + name, false)) {
                const std::string image_path = path + "/" + name + "/" + file;
                HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(image_path));
                Result<HostTensor> image = read_image(bytes);
                if (!image.ok()) return image.status().with_context(hearth::quoted(image_path));
                if (labels.empty()) shape = image->shape(), first = image_path;
                if (image->shape() != shape)
                    return invalid_argument(
                        hearth::quoted(image_path) + " is " + to_string(image->shape()) +
                        " (channels, height, width), expected " + to_string(shape) + " as " +
                        hearth::quoted(first) + "; images of a data set have one size");
                const std::span<const float> values = image->as<float>();
                pixels.insert(pixels.end(), values.begin(), values.end());
                labels.push_back(name);
            }
        if (labels.empty())
            return not_found(hearth::quoted(path) +
                             " has no images: expected a folder for each class, with images in it");
        std::vector<std::string> classes = options.classes;
        if (classes.empty()) {
            classes = labels;  // sorted; names of digits are names, too
            classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
        }
        HEARTH_ASSIGN(const Labels y, number_labels(labels, std::move(classes)));
        HostTensor x(DType::kF32,
                     {static_cast<int64_t>(labels.size()), shape[0], shape[1], shape[2]});
        std::memcpy(x.bytes().data(), pixels.data(), x.bytes().size());
        return make_dataset(x, y.numbers, y.classes);
    });
}

Result<Dataset> load_dataset(const std::string& path, const DatasetOptions& options) {
    std::error_code error;
    if (fs::is_directory(path_of(path), error)) return read_image_folder(path, options);
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    Result<Dataset> data =
        path.ends_with(".npz")
            ? read_npz(bytes, options)
            : read_csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, options);
    if (!data.ok()) return data.status().with_context(hearth::quoted(path));
    return data;
}

}  // namespace hearth
