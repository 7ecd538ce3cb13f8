// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators for coordinate encodings (nn.hpp).

#include "compiler/ops/shared/rules.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace hearth {

namespace {

// The factors of the spatial hash (Mueller et al., "Instant Neural Graphics Primitives", 2022,
// equation 4), as signed integers with the same bits: only the low bits of products matter.
constexpr int32_t kHashFactors[3] = {1, static_cast<int32_t>(2654435761u), 805459861};

/// One level of a grid: cells along each axis, number and offset of its table entries, and whether
/// corners share entries by hashing.
struct Level {
    int64_t cells = 0, entries = 0, first = 0;
    bool is_hashed = false;
};

/// The levels that the attributes describe.
struct Levels {
    int axes;
    std::vector<Level> all;

    explicit Levels(const Attrs& attrs) : axes(static_cast<int>(attrs.integer("axes"))) {
        const std::vector<int64_t>&cells = attrs.integers("cells"),
              &entries = attrs.integers("entries");
        int64_t first = 0;
        for (size_t l = 0; l < cells.size(); ++l) {
            int64_t corners = 1;
            for (int k = 0; k < axes; ++k) corners *= cells[l] + 1;
            all.push_back({cells[l], entries[l], first, corners > entries[l]});
            first += entries[l];
        }
    }
    int64_t entry_count() const { return all.back().first + all.back().entries; }
    bool any_hashed() const {
        return std::any_of(all.begin(), all.end(), [](const Level& l) { return l.is_hashed; });
    }
    bool all_hashed() const {
        return std::all_of(all.begin(), all.end(), [](const Level& l) { return l.is_hashed; });
    }
};

/// Checks x: [..., axes] and the levels' attributes.
Status check_levels(const InferContext& call) {
    const Shape& x = call.shape(0);
    const int64_t axes = call.attrs.integer("axes");
    if (x.rank() < 1 || axes < 1 || axes > 3 || x[x.rank() - 1] != Dim(axes))
        return invalid_argument("x must be [..., axes] of 1 to 3 axes, found " + to_string(x) +
                                " and " + std::to_string(axes));
    const std::vector<int64_t>&cells = call.attrs.integers("cells"),
          &entries = call.attrs.integers("entries");
    if (cells.empty() || cells.size() != entries.size())
        return invalid_argument("there are " + std::to_string(cells.size()) + " cells and " +
                                std::to_string(entries.size()) +
                                " entries: expected one for each level");
    for (size_t l = 0; l < cells.size(); ++l) {
        const bool in_range =
            cells[l] >= 1 && cells[l] < 1 << 20 && entries[l] >= 1 && entries[l] <= 1 << 24;
        int64_t corners = 1;
        for (int64_t k = 0; in_range && k < axes; ++k) corners *= cells[l] + 1;
        const bool is_power = (entries[l] & (entries[l] - 1)) == 0;
        if (!in_range || entries[l] > corners || (entries[l] < corners && !is_power))
            return invalid_argument("level " + std::to_string(l) + " has " +
                                    std::to_string(cells[l]) + " cells and " +
                                    std::to_string(entries[l]) +
                                    " entries: expected one for each corner, or a power of two");
    }
    return {};
}

Status infer_hash_grid(InferContext& call) {
    HEARTH_TRY(check_levels(call));
    const Shape &x = call.shape(0), &table = call.shape(1);
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    const Levels levels(call.attrs);
    if (table.rank() != 2 || table[0] != Dim(levels.entry_count()) || table[1].is_batch ||
        table[1].count < 1)
        return invalid_argument("table must be [" + std::to_string(levels.entry_count()) +
                                ", features], found " + to_string(table));
    Shape shape = x;
    shape[x.rank() - 1] = Dim(static_cast<int64_t>(levels.all.size()) * table[1].count);
    return call.one(call.dtype(0), shape);
}

Status infer_hash_grid_gradient(InferContext& call) {
    HEARTH_TRY(check_levels(call));
    const Shape &x = call.shape(0), &g = call.shape(1);
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    const Levels levels(call.attrs);
    const auto count = static_cast<int64_t>(levels.all.size());
    const bool fits = x.rank() == 2 && g.rank() == 2 && x[0] == g[0] && !g[1].is_batch &&
                      g[1].count >= count && g[1].count % count == 0;
    if (!fits)
        return invalid_argument("expected x [n, axes] and cotangent [n, " + std::to_string(count) +
                                " * features], found " + to_string(x) + " and " + to_string(g));
    return call.one(call.dtype(0), {Dim(levels.entry_count()), Dim(g[1].count / count)});
}

/// Selects value(level) for level `at`, which is known only when the kernel runs.
template <class C, class I, class F>
auto of_level(C& c, const Levels& levels, I at, F value) {
    auto result = c.index(value(levels.all[0]));
    for (size_t l = 1; l < levels.all.size(); ++l)
        result =
            select(at >= c.index(static_cast<int64_t>(l)), c.index(value(levels.all[l])), result);
    return result;
}

/// Index of a cell corner's entry within its level's table.
template <class C, class I, class K>
I entry_of(C& c, const Levels& levels, const I& level, const K& corner) {
    const auto of = [&](auto value) { return of_level(c, levels, level, value); };
    I cells = of([](const Level& l) { return l.cells; });
    I row_by_row = c.index(0), hash = c.index(0), stride = c.index(1);
    for (int k = 0; k < levels.axes; ++k) {
        const I& at = corner[static_cast<size_t>(k)];
        // Coordinates outside of the grid are clamped to its border.
        row_by_row = row_by_row + min(max(at, c.index(0)), cells) * stride;
        hash = bit_xor(hash, at * c.index(kHashFactors[k]));
        stride = stride * (cells + 1);
    }
    if (!levels.any_hashed()) return row_by_row;
    I wrapped = bit_and(hash, of([](const Level& l) { return l.is_hashed ? l.entries - 1 : 0; }));
    I is_hashed = of([](const Level& l) { return int64_t{l.is_hashed}; });
    return select(is_hashed > 0, wrapped, row_by_row);
}

/// Calls f(corner, weight) for each corner of the cell around a position: the corner's coordinates
/// in the level's grid, and its weight in linear interpolation.
template <class C, class I, class V, class F>
void for_each_corner(C& c, const Levels& levels, const V (&cell)[3], const V (&offset)[3], I, F f) {
    for (int corner = 0; corner < 1 << levels.axes; ++corner) {
        std::array<I, 3> at{c.index(0), c.index(0), c.index(0)};
        V weight = c.value(1);
        for (int k = 0; k < levels.axes; ++k) {
            const bool is_far = ((corner >> k) & 1) != 0;
            at[static_cast<size_t>(k)] = c.to_index(cell[k]) + (is_far ? 1 : 0);
            weight = weight * (is_far ? offset[k] : 1.0 - offset[k]);
        }
        f(at, weight);
    }
}

const auto hash_grid_rule = [](auto& c) {
    using Index = typename std::remove_reference_t<decltype(c)>::Index;
    using V = decltype(c.value(0));
    const Levels levels(c.attrs());
    auto place = c.coords();
    const int last = c.rank() - 1;
    const int64_t features = c.in_shape(1)[1].count;
    Index level = place[last] / c.index(features), feature = place[last] % c.index(features);
    Index first = of_level(c, levels, level, [](const Level& l) { return l.first; });
    V cells = c.number(of_level(c, levels, level, [](const Level& l) { return l.cells; }));
    V cell[3] = {cells, cells, cells}, offset[3] = {cells, cells, cells};
    for (int k = 0; k < levels.axes; ++k) {
        place[last] = c.index(k);
        V scaled = c.in(0, place) * cells;
        cell[k] = floor(scaled);
        offset[k] = scaled - cell[k];
    }
    V sum = c.value(0);
    decltype(place) at;
    at.axis.push_back(first);
    at.axis.push_back(feature);
    for_each_corner(c, levels, cell, offset, level, [&](const auto& corner, V weight) {
        at[0] = first + entry_of(c, levels, level, corner);
        sum = sum + weight * c.in(1, at);
    });
    return sum;
};

// Gather form: each entry loops over all positions. If corners do not share entries, an entry's
// weight is a tent function around its corner, and no position's entry index is needed.
const auto hash_grid_gradient_rule = [](auto& c) {
    using Index = typename std::remove_reference_t<decltype(c)>::Index;
    using V = decltype(c.value(0));
    const Levels levels(c.attrs());
    const auto here = c.coords();
    const int64_t features = c.in_shape(1)[1].count / static_cast<int64_t>(levels.all.size());
    Index level = c.index(0);
    for (size_t l = 1; l < levels.all.size(); ++l)
        level = level + select(here[0] >= c.index(levels.all[l].first), c.index(1), c.index(0));
    const auto of = [&](auto value) { return of_level(c, levels, level, value); };
    Index cell_count = of([](const Level& l) { return l.cells; });
    V cells = c.number(cell_count);
    Index entry = here[0] - of([](const Level& l) { return l.first; });
    V vertex[3] = {cells, cells, cells};
    Index rest = entry;
    for (int k = 0; k < levels.axes; ++k) {
        vertex[k] = c.number(k + 1 == levels.axes ? rest : rest % (cell_count + 1));
        rest = rest / (cell_count + 1);
    }
    Index is_hashed = of([](const Level& l) { return int64_t{l.is_hashed}; });
    Index feature = level * c.index(features) + here[1];
    return c.sum(c.in_dim(0, 0), [&](auto i) {
        decltype(c.coords()) at;
        at.axis.push_back(i);
        at.axis.push_back(feature);
        V cotangent = c.in(1, at);
        V scaled[3] = {cells, cells, cells};
        V tent = c.value(1), hashed = c.value(0);
        for (int k = 0; k < levels.axes; ++k) {
            at[1] = c.index(k);
            scaled[k] = c.in(0, at) * cells;
            V away = abs(min(max(scaled[k], c.value(0)), cells) - vertex[k]);
            tent = tent * max(c.value(1) - away, c.value(0));
        }
        if (levels.any_hashed()) {
            V cell[3] = {cells, cells, cells}, offset[3] = {cells, cells, cells};
            for (int k = 0; k < levels.axes; ++k) {
                cell[k] = floor(scaled[k]);
                offset[k] = scaled[k] - cell[k];
            }
            for_each_corner(c, levels, cell, offset, level, [&](const auto& corner, V weight) {
                hashed = hashed +
                         select(entry_of(c, levels, level, corner) == entry, weight, c.value(0));
            });
        }
        if (levels.all_hashed()) return hashed * cotangent;
        if (!levels.any_hashed()) return tent * cotangent;
        return select(is_hashed > 0, hashed, tent) * cotangent;
    });
};

Tensor numbers(const Tensor& like, const std::vector<double>& values, DType dtype) {
    return like.trace()->constant(
        HostTensor::of({static_cast<int64_t>(values.size())}, values, dtype));
}

/// Inputs of the interpolation as tensor code: the entry of each corner of each level's cell, [...,
/// levels, corners], and the fractional position in the cell, [..., levels, axes].
struct Corners {
    Tensor entries, offsets;
};

Corners corners_of(const Tensor& x, const Attrs& attrs) {
    const Levels levels(attrs);
    std::vector<double> cells, entries, first, hashed;
    for (const Level& l : levels.all) {
        cells.push_back(static_cast<double>(l.cells));
        entries.push_back(static_cast<double>(l.entries));
        first.push_back(static_cast<double>(l.first));
        hashed.push_back(l.is_hashed ? 1 : 0);
    }
    const auto count = static_cast<int64_t>(levels.all.size());
    const Tensor scaled = unsqueeze(x, {-2}) * reshape(numbers(x, cells, x.dtype()), {count, 1});
    const Tensor cell = floor(scaled);
    const auto whole = [&](const std::vector<double>& values) {
        return numbers(x, values, DType::kI32);
    };
    return {apply_one(op("hash_grid_entry"),
                      {cast(cell, DType::kI32), whole(cells), whole(entries), whole(first),
                       whole(hashed)},
                      {{"axes", int64_t{levels.axes}}}),
            scaled - cell};
}

/// Factor of each corner's weight along axis k, and its slope: [..., levels, corners].
struct Along {
    Tensor weight, slope;
};

Along along_axis(const Tensor& offsets, int k, int axes) {
    // Bit k of the corner index c is its coordinate along axis k.
    std::vector<double> slope, base;
    for (int corner = 0; corner < 1 << axes; ++corner) {
        const bool is_far = ((corner >> k) & 1) != 0;
        slope.push_back(is_far ? 1 : -1);
        base.push_back(is_far ? 0 : 1);
    }
    const Tensor slopes = numbers(offsets, slope, offsets.dtype());
    return {slice(offsets, -1, k, k + 1) * slopes + numbers(offsets, base, offsets.dtype()),
            slopes};
}

/// True if a loop of each entry over all positions is cheap enough (estimate).
bool looks_are_few(const Levels& levels, const Shape& x) {
    constexpr int64_t kManyLooks = int64_t{1} << 26, kUsualRows = 1024;
    const int64_t places = x.element_count(kUsualRows) / levels.axes;
    int64_t looks = 0;
    for (const Level& l : levels.all)
        looks += l.entries * (l.is_hashed ? int64_t{1} << levels.axes : 1);
    return looks <= kManyLooks / std::max<int64_t>(places, 1);
}

/// Reshapes the cotangent of features, [..., levels * features], by level.
Tensor by_level(const Tensor& cotangent, int64_t levels) {
    Shape shape = cotangent.shape();
    const int64_t features = cotangent.dim(-1).count / levels;
    shape[shape.rank() - 1] = Dim(levels);
    shape.push_back(Dim(features));
    return reshape(cotangent, shape);
}

/// Gradient of hash_grid by its positions: each feature's slope along each axis.
Tensor gradient_of_places(const Tensor& x, const Tensor& table, const Tensor& cotangent,
                          const Attrs& attrs) {
    const Levels levels(attrs);
    const Corners corners = corners_of(x, attrs);
    const Tensor of_features = by_level(cotangent, static_cast<int64_t>(levels.all.size()));
    const Tensor kept = sum(take(table, corners.entries) * unsqueeze(of_features, {-2}),
                            {-1});  // [..., levels, corners]
    std::vector<Along> along;
    for (int k = 0; k < levels.axes; ++k)
        along.push_back(along_axis(corners.offsets, k, levels.axes));
    std::vector<double> cells;
    for (const Level& l : levels.all) cells.push_back(static_cast<double>(l.cells));
    std::vector<Tensor> slopes;
    for (int k = 0; k < levels.axes; ++k) {
        Tensor slope = kept * along[static_cast<size_t>(k)].slope;
        for (int other = 0; other < levels.axes; ++other)
            if (other != k) slope = slope * along[static_cast<size_t>(other)].weight;
        slopes.push_back(sum(sum(slope, {-1}) * numbers(x, cells, x.dtype()), {-1}));
    }
    return stack(slopes, -1);
}

/// Gradient of hash_grid by its table.
Tensor gradient_of_table(const Tensor& x, const Tensor& table, const Tensor& cotangent,
                         const Attrs& attrs) {
    const Levels levels(attrs);
    if (looks_are_few(levels, x.shape()))
        return apply_one(op("hash_grid_gradient"),
                         {reshape(x, {Dim(-1), Dim(levels.axes)}),
                          reshape(cotangent, {Dim(-1), cotangent.dim(-1)})},
                         attrs);
    const Corners corners = corners_of(x, attrs);
    Tensor weights;
    for (int k = 0; k < levels.axes; ++k) {
        const Tensor weight = along_axis(corners.offsets, k, levels.axes).weight;
        weights = k == 0 ? weight : weights * weight;
    }
    const Tensor of_features = by_level(cotangent, static_cast<int64_t>(levels.all.size()));
    const Tensor updates = unsqueeze(weights, {-1}) * unsqueeze(of_features, {-2});
    return scatter_nd(zeros_like(table), unsqueeze(corners.entries, {-1}), updates, "add");
}

/// Grids whose corners share entries in no level, in some and in all. of_gradient: the second
/// operand is a cotangent, else the table.
void hash_grid_samples(Samples& s, bool of_gradient) {
    const auto add = [&](const Shape& x, int64_t axes, int64_t features,
                         const std::vector<int64_t>& cells, const std::vector<int64_t>& entries) {
        int64_t entry_count = 0;
        for (int64_t n : entries) entry_count += n;
        Shape second{Dim(entry_count), Dim(features)};
        if (of_gradient) second = {x[0], Dim(static_cast<int64_t>(cells.size()) * features)};
        Sample& sample =
            s.add({x, second}, {{"axes", axes}, {"cells", cells}, {"entries", entries}});
        // Positions outside of the grid, too, which read its border.
        sample.low = -0.1;
        sample.high = 1.1;
    };
    add({5, 1}, 1, 2, {2, 3}, {3, 4});
    add({kBatch, 2}, 2, 3, {2, 4, 6}, {9, 25, 16});
    add({4, 2}, 2, 1, {5, 7}, {4, 8});
    add({kBatch, 3}, 3, 2, {2, 3}, {27, 32});
    if (!of_gradient) add({2, kBatch, 2}, 2, 2, {3, 300}, {16, 65536});
}

Status infer_hash_grid_entry(InferContext& call) {
    const Shape& cell = call.shape(0);
    const int rank = cell.rank();
    const Dim axes = rank < 2 ? Dim(0) : cell[rank - 1];
    if (axes.is_batch || axes.count < 1 || axes.count > 3 || cell[rank - 2].is_batch)
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

constinit const OpDef kOps[] = {
    {
        .name = "hash_grid",
        .summary =
            "features of a multi-resolution hash grid: linear between the corners of each level's "
            "cell that x, in [0, 1], lies in",
        .inputs = {{"x"}, {"table"}},
        .attrs = {{"axes", AttrType::kInteger},
                  {"cells", AttrType::kIntegers},
                  {"entries", AttrType::kIntegers}},
        .op_class = OpClass::kInjective,
        .infer = infer_hash_grid,
        .compute = compute_float(hash_grid_rule),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {gradient_of_places(v.in(0), v.in(1), v.cotangent(), v.attrs),
                    gradient_of_table(v.in(0), v.in(1), v.cotangent(), v.attrs)};
        },
        .samples = [](Samples& s) { hash_grid_samples(s, false); },
    },
    {
        .name = "hash_grid_gradient",
        .summary = "the gradient of hash_grid by its table, each entry looking at all places",
        .inputs = {{"x"}, {"cotangent"}},
        .attrs = {{"axes", AttrType::kInteger},
                  {"cells", AttrType::kIntegers},
                  {"entries", AttrType::kIntegers}},
        .op_class = OpClass::kInjective,
        .infer = infer_hash_grid_gradient,
        .compute = compute_float(hash_grid_gradient_rule),
        // Linear in the cotangent with the weights of hash_grid, so the gradient by the cotangent
        // is hash_grid with its own cotangent as the table.
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {gradient_of_places(v.in(0), v.cotangent(), v.in(1), v.attrs),
                    apply_one(op("hash_grid"), {v.in(0), v.cotangent()}, v.attrs)};
        },
        .samples = [](Samples& s) { hash_grid_samples(s, true); },
    },
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
        .op_class = OpClass::kInjective,
        .infer = infer_hash_grid_entry,
        .compute = compute_integer([](auto& c) {
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
                // Coordinates outside of the grid are clamped to its border.
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
                add({kBatch, 4, 3}, {4}, 3);
                add({2, kBatch, 1, 2}, {1}, 2);
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> encoding_ops{kOps};

}  // namespace hearth
