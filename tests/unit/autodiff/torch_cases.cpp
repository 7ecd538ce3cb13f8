// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "unit/autodiff/torch_cases.hpp"

#include <cstdlib>
#include <fstream>

namespace hearth::test {

std::optional<nlohmann::json> read_case(const std::string& path, std::string& why) {
    const char* folder = std::getenv("HEARTH_CASES");
    if (folder == nullptr || *folder == '\0') {
        why = "HEARTH_CASES does not name the folder of reference cases";
        return std::nullopt;
    }
    std::ifstream file(std::string(folder) + "/" + path);
    if (!file) {
        why = std::string(folder) + "/" + path + " is not there";
        return std::nullopt;
    }
    return nlohmann::json::parse(file);
}

HostTensor f64_tensor(const Shape& shape, const nlohmann::json& numbers) {
    return HostTensor::of(shape, numbers.get<std::vector<double>>(), DType::kF64);
}

HostTensor f64_tensor(const nlohmann::json& object) {
    const auto dims = object.at("shape").get<std::vector<int64_t>>();
    return f64_tensor(Shape(std::span<const int64_t>(dims)), object.at("data"));
}

}  // namespace hearth::test
