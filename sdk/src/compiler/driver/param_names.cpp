// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds misspelt names of params.  Two names count as one if they differ in one part, by few edits:
// insertions, deletions, substitutions and transpositions of neighbours (Damerau, "A technique for
// computer detection and correction of spelling errors", 1964; the restricted distance).

#include "compiler/driver/param_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); ++i)
        for (size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            const size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

std::string without_digits(std::string_view text) {
    std::string rest;
    for (const char c : text)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) rest += c;
    return rest;
}

/// Numbered parts ("q1", "q2") and very short ones differ on purpose.
bool is_misspelling(std::string_view a, std::string_view b) {
    constexpr size_t kShortest = 3, kLong = 6;
    const size_t shorter = std::min(a.size(), b.size());
    if (shorter < kShortest || without_digits(a) == without_digits(b)) return false;
    return edit_distance(a, b) <= (shorter < kLong ? 1 : 2);
}

std::vector<std::string_view> parts_of(std::string_view name) {
    std::vector<std::string_view> parts;
    for (size_t end = 0; end != std::string_view::npos; name.remove_prefix(end + 1)) {
        end = name.find('.');
        parts.push_back(name.substr(0, end));
        if (end == std::string_view::npos) break;
    }
    return parts;
}

bool are_nearly_equal(std::string_view a, std::string_view b) {
    const std::vector<std::string_view> as = parts_of(a), bs = parts_of(b);
    if (as.size() != bs.size()) return false;
    size_t differing = 0, at = 0;
    for (size_t i = 0; i < as.size(); ++i)
        if (as[i] != bs[i]) ++differing, at = i;
    return differing == 1 && is_misspelling(as[at], bs[at]);
}

struct Param {
    const Value* value = nullptr;
    std::vector<const Graph*> readers;
    const Graph* trainer = nullptr;
};

}  // namespace

Status check_param_names(std::span<const Graph> entries) {
    std::map<std::string_view, Param> params;
    for (const Graph& entry : entries) {
        for (const Value& v : entry.values)
            if (v.kind == ValueKind::kParam) {
                params[v.name].value = &v;
                params[v.name].readers.push_back(&entry);
            }
        for (const Assignment& update : entry.updates)
            if (const Value& v = entry.value(update.target); v.kind == ValueKind::kParam)
                params[v.name].trainer = &entry;
    }
    for (const auto& [read_name, read] : params)
        for (const auto& [trained_name, trained] : params) {
            if (read.trainer != nullptr || trained.trainer == nullptr ||
                trained.readers.size() != 1 ||
                std::ranges::count(read.readers, trained.trainer) != 0 ||
                read.value->dtype != trained.value->dtype ||
                read.value->shape != trained.value->shape ||
                !are_nearly_equal(read_name, trained_name))
                continue;
            return invalid_argument(
                "the entry '" + read.readers[0]->name + "' reads the param '" +
                std::string(read_name) + "', which no entry trains, and the entry '" +
                trained.trainer->name + "' trains '" + std::string(trained_name) +
                "', which no other entry reads; is one of them misspelt? If not, use names that "
                "differ more");
        }
    return {};
}

}  // namespace hearth
