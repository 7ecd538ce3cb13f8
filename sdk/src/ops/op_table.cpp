// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ops/op_table.hpp"

#include "core/assert.hpp"

#include <unordered_map>

namespace hearth {

const OpDef* find_op(std::string_view name) {
    static const std::unordered_map<std::string_view, const OpDef*> by_name = [] {
        std::unordered_map<std::string_view, const OpDef*> map;
        for (std::span<const OpDef> family : op_families())
            for (const OpDef& record : family) {
                const bool is_new = map.emplace(record.name, &record).second;
                HEARTH_ASSERT(is_new);  // two records with one name
            }
        return map;
    }();
    const auto at = by_name.find(name);
    return at == by_name.end() ? nullptr : at->second;
}

const OpDef& op(std::string_view name) {
    const OpDef* found = find_op(name);
    HEARTH_ASSERT(found != nullptr);
    return *found;
}

}  // namespace hearth
