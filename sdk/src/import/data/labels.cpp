// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "import/data/labels.hpp"

#include "core/bytes.hpp"

#include <algorithm>
#include <charconv>

namespace hearth {

namespace {

bool read_whole(std::string_view text, int32_t* value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

Result<Labels> number_labels(std::span<const std::string> labels,
                             std::vector<std::string> classes) {
    Labels out{HostTensor(DType::kI32, {static_cast<int64_t>(labels.size())}), {}};
    const std::span<int32_t> numbers = out.numbers.as<int32_t>();
    const auto is_number = [](const std::string& label) {
        int32_t unused = 0;
        return read_whole(label, &unused);
    };
    const bool are_numbers = std::all_of(labels.begin(), labels.end(), is_number);
    if (classes.empty() && are_numbers) {
        for (size_t i = 0; i < labels.size(); ++i) (void)read_whole(labels[i], &numbers[i]);
        return out;
    }
    if (classes.empty()) {
        classes.assign(labels.begin(), labels.end());
        std::sort(classes.begin(), classes.end());
        classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    }
    for (size_t i = 0; i < labels.size(); ++i) {
        const auto found = std::find(classes.begin(), classes.end(), labels[i]);
        if (found == classes.end()) {
            std::string list;
            for (const std::string& name : classes)
                if (list.size() < 200) list += (list.empty() ? "" : ", ") + shown(name);
            return invalid_argument("data set: sample " + std::to_string(i) + " has the class '" +
                                    shown(labels[i]) + "', expected one of: " + list);
        }
        numbers[i] = static_cast<int32_t>(found - classes.begin());
    }
    out.classes = std::move(classes);
    return out;
}

}  // namespace hearth
