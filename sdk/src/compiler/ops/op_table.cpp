// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Looks up operator records by name and registers those of applications.

#include "compiler/ops/op_table.hpp"

#include <hearth/core/assert.hpp>

#include <unordered_map>
#include <vector>

namespace hearth {

namespace {

using Names = std::unordered_map<std::string_view, const OpDef*>;

Names& by_name() {
    static Names names = [] {
        Names map;
        for (std::span<const OpDef> family : op_families())
            for (const OpDef& record : family) {
                const bool is_new = map.emplace(record.name, &record).second;
                HEARTH_ASSERT(is_new);  // fails for two records of one name
            }
        return map;
    }();
    return names;
}

std::vector<std::span<const OpDef>>& registered() {
    static std::vector<std::span<const OpDef>> families;
    return families;
}

}  // namespace

std::span<const std::span<const OpDef>> registered_families() {
    return registered();
}

Status register_ops(std::span<const OpDef> family) {
    Names names = by_name();
    for (const OpDef& record : family) {
        if (record.name.empty() || record.infer == nullptr)
            return invalid_argument("operator '" + std::string(record.name) +
                                    "' needs a name and a shape rule");
        if (!names.emplace(record.name, &record).second)
            return invalid_argument("there is an operator '" + std::string(record.name) +
                                    "' already");
    }
    by_name() = std::move(names);
    registered().push_back(family);
    return {};
}

const OpDef* find_op(std::string_view name) {
    const auto at = by_name().find(name);
    return at == by_name().end() ? nullptr : at->second;
}

const OpDef& op(std::string_view name) {
    const OpDef* found = find_op(name);
    HEARTH_ASSERT(found != nullptr);
    return *found;
}

}  // namespace hearth
