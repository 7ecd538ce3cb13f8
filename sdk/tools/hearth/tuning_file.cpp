// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads tuning files into compile options.

#include "tuning_file.hpp"

#include "cases.hpp"

namespace hearth::tool {

std::string driver_text(const standalone::Device& device) {
    return std::to_string(device.properties().driverVersion);
}

Status add_tuning(CompileOptions& options, const std::string& path,
                  const standalone::Device& device) {
    options.driver_id = driver_text(device);
    if (path.empty()) return {};
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
    options.tuning.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
}

}  // namespace hearth::tool
