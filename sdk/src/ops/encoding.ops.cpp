// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What encodings of coordinates (nn.hpp) need beside other operators.

#include "ops/rules.hpp"

namespace hearth {

namespace {

Status infer_hash_grid_entry(InferCall& call) {
    const Shape& cell = call.shape(0);
    const int rank = cell.rank();
    const Dim axes = rank < 2 ? Dim(0) : cell[rank - 1];
    if (axes.per_row || axes.count < 1 || axes.count > 3 || cell[rank - 2].per_row)
        return invalid_argument("cell must be [..., levels, 1 to 3], found " + to_string(cell));
    if (call.attrs.integer("axes") != axes.count)
        return invalid_argument("axes is " + std::to_string(call.attrs.integer("axes")) +
                                ", cell " + to_string(cell));
    for (int k = 1; k <= 4; ++k)
        if (call.shape(k) != Shape{cell[rank - 2]} || call.dtype(k) != call.dtype(0))
            return invalid_argument(
                "cells, entries, first and hashed must be [levels], of cell's type");
    Shape shape = cell;
    shape[rank - 1] = Dim(int64_t{1} << axes.count);
    return call.one(call.dtype(0), shape);
}

// The factors of the spatial hash (Mueller et al., "Instant Neural Graphics Primitives", 2022,
// equation 4), as the signed numbers with the same bits: only the low bits of products count.
constexpr int32_t kHashFactors[3] = {1, static_cast<int32_t>(2654435761u), 805459861};

constinit const OpDef kOps[] = {
    {
        .name = "hash_grid_entry",
        .summary = "where the table of a hash grid holds each corner of a cell: row by row where "
                   "they fit, else (hashed) at xor(coordinate * factor) mod entries",
        .inputs = {{"cell", TypeClass::kInteger},
                   {"cells", TypeClass::kInteger},
                   {"entries", TypeClass::kInteger},
                   {"first", TypeClass::kInteger},
                   {"hashed", TypeClass::kInteger}},
        .attrs = {{"axes", AttrType::kInteger}},
        .op_class = OpClass::kIndexed,
        .infer = infer_hash_grid_entry,
        .at = at_integer([](auto& c) {
            const int last = c.rank() - 1;
            auto place = c.coords();
            auto corner = place[last];
            decltype(place) level;
            level.axis.push_back(place[last - 1]);
            auto cells = c.in(1, level);
            auto row_by_row = c.value(0), hash = c.value(0), stride = c.value(1);
            for (int k = 0; k < c.attrs().integer("axes"); ++k) {
                place[last] = c.index(k);
                auto bit = bit_and(corner / (1 << k), c.index(1));
                auto coordinate = c.in(0, place) + c.to_output(bit);
                // Places outside of the grid read its border.
                row_by_row = row_by_row + min(max(coordinate, c.value(0)), cells) * stride;
                hash = bit_xor(hash, coordinate * c.value(kHashFactors[k]));
                stride = stride * (cells + 1);
            }
            auto wrapped = bit_and(hash, c.in(2, level) - 1);
            return c.in(3, level) + select(c.in(4, level) != 0, wrapped, row_by_row);
        }),
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& cell, const Shape& levels, int64_t axes) {
                    const TensorType per_level{DType::kI32, levels};
                    Sample& sample = s.add_typed(
                        {{DType::kI32, cell}, per_level, per_level, per_level, per_level},
                        {{"axes", axes}});
                    sample.low = -1;
                    sample.high = 40;
                };
                add({2, 1}, {2}, 1);
                add({5, 3, 2}, {3}, 2);
                add({kRows, 4, 3}, {4}, 3);
                add({2, kRows, 1, 2}, {1}, 2);
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> encoding_ops{kOps};

}  // namespace hearth
