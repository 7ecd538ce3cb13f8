// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/extents.hpp"

#include <algorithm>

namespace hearth {

Extent work_of(Dim count) {
    const auto n = static_cast<uint64_t>(count.count);
    return count.is_batch ? Extent{0, n} : Extent{n, 0};
}

std::string glsl_count(Dim count) {
    if (!count.is_batch) return std::to_string(count.count);
    return count.count == 1 ? "rows" : "(" + std::to_string(count.count) + " * rows)";
}

uint32_t items_each(Dim count, uint64_t rows_capacity, uint64_t limit) {
    const uint64_t most = work_of(count).at(rows_capacity);
    return static_cast<uint32_t>(std::max<uint64_t>(1, (most + limit - 1) / limit));
}

Expr count_of(Dim count, Body& body) {
    if (!count.is_batch) return body.index(count.count);
    return count.count == 1 ? body.rows() : body.index(count.count) * body.rows();
}

}  // namespace hearth
