// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"
#include "import/archive/zip.hpp"
#include "import/data/npy.hpp"

#include <hearth/dataset.hpp>

namespace hearth {

namespace {

using Arrays = std::map<std::string, std::vector<std::byte>, std::less<>>;

Result<HostTensor> array_in(const Arrays& arrays, const std::string& name) {
    const auto found = arrays.find(name + ".npy");
    if (found == arrays.end()) {
        std::string list;
        for (const auto& [file, unused] : arrays)
            list += (list.empty() ? "" : ", ") +
                    shown(std::string_view(file).substr(0, file.rfind('.')));
        return not_found("npz: no array is named '" + shown(name) +
                         "'; there are: " + (list.empty() ? "none" : list));
    }
    Result<HostTensor> array = read_npy(found->second);
    if (!array.ok()) return array.status().with_context("npz: array " + quoted(name));
    return array;
}

}  // namespace

Result<Dataset> read_npz(std::span<const std::byte> bytes, const DatasetOptions& options) {
    constexpr uint64_t kFloor = uint64_t{64} << 20, kFactor = 50;
    return or_out_of_memory([&]() -> Result<Dataset> {
        if (options.targets.size() > 1)
            return invalid_argument("npz: expected one array of targets, found " +
                                    std::to_string(options.targets.size()));
        Result<Arrays> arrays = unpack_zip(bytes, kFloor + kFactor * bytes.size());
        if (!arrays.ok()) return arrays.status().with_context("npz");
        HEARTH_ASSIGN(const HostTensor x, array_in(*arrays, options.inputs));
        HEARTH_ASSIGN(HostTensor y,
                      array_in(*arrays, options.targets.empty() ? "y" : options.targets[0]));
        if (options.labels && is_floating(y.dtype()))
            return invalid_argument("npz: labels are " + std::string(name_of(y.dtype())) +
                                    ", expected an integer type");
        if (!options.labels) y = y.cast(DType::kF32);
        return make_dataset(x, y, options.labels ? options.classes : std::vector<std::string>());
    });
}

}  // namespace hearth
