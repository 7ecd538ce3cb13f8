// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Encodings of coordinates and directions into features from which small networks learn faster.

#include "compiler/ops/shared/rules.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::nn {

namespace {

Tensor list(const Tensor& like, const std::vector<double>& values, DType dtype) {
    return like.trace()->constant(
        HostTensor::of({static_cast<int64_t>(values.size())}, values, dtype));
}

/// x's shape with `count` in place of the last extent.
Shape with_last(const Tensor& x, int64_t count) {
    Shape shape = x.shape();
    shape[shape.rank() - 1] = Dim(count);
    return shape;
}

/// Returns the number of coordinates, or 0 after reporting why it is not within [1, most].
int64_t coordinates_of(const Tensor& x, int64_t most, const char* what) {
    if (!x.ok()) return 0;
    const Dim last = x.rank() == 0 ? Dim(0) : x.dim(-1);
    if (is_floating(x.dtype()) && !last.is_batch && last.count >= 1 && last.count <= most)
        return last.count;
    x.trace()->fail(invalid_argument(std::string(what) + ": x is " +
                                     std::string(name_of(x.dtype())) + to_string(x.shape()) +
                                     "; it must be floats with 1 to " + std::to_string(most) +
                                     " coordinates along the last axis"));
    return 0;
}

constexpr int64_t kManyCoordinates = 4096;

}  // namespace

Tensor frequency_encoding(const Tensor& x, int octaves) {
    const int64_t n = coordinates_of(x, kManyCoordinates, "frequency_encoding");
    if (n == 0) return failed_like(x);
    std::vector<double> factors;
    for (int l = 0; l < octaves; ++l) factors.push_back(std::ldexp(std::numbers::pi, l));
    const Tensor angles = unsqueeze(x, {-1}) * list(x, factors, x.dtype());
    const std::vector<Tensor> waves{sin(angles), cos(angles)};
    return reshape(stack(waves, -1), with_last(x, n * octaves * 2));
}

Tensor one_blob_encoding(const Tensor& x, int bins) {
    const int64_t n = coordinates_of(x, kManyCoordinates, "one_blob_encoding");
    if (n == 0) return failed_like(x);
    std::vector<double> centres;
    for (int b = 0; b < bins; ++b) centres.push_back((b + 0.5) / bins);
    // exp(-40^2 / 2) is 0 in every type; beyond that the gradient would be 0 times infinity.
    constexpr double kFar = 40;
    const Tensor deviations =
        clamp((unsqueeze(x, {-1}) - list(x, centres, x.dtype())) * double(bins), -kFar, kFar);
    return reshape(exp(square(deviations) * -0.5), with_last(x, n * bins));
}

Tensor spherical_harmonics(const Tensor& direction, int degree) {
    if (coordinates_of(direction, 3, "spherical_harmonics") == 0) return failed_like(direction);
    if (direction.dim(-1).count != 3 || degree < 1 || degree > 4)
        return fail(direction,
                    invalid_argument("spherical_harmonics: degree " + std::to_string(degree) +
                                     " of directions " + to_string(direction.shape()) +
                                     "; expected 1 to 4, and [..., 3]"));
    const Tensor x = slice(direction, -1, 0, 1), y = slice(direction, -1, 1, 2),
                 z = slice(direction, -1, 2, 3);
    const Tensor xx = square(x), yy = square(y), zz = square(z);
    std::vector<Tensor> all{x * 0.0 + 0.28209479177387814};
    if (degree > 1)
        for (const Tensor& t :
             {y * -0.48860251190291987, z * 0.48860251190291987, x * -0.48860251190291987})
            all.push_back(t);
    if (degree > 2)
        for (const Tensor& t : {x * y * 1.0925484305920792, y * z * -1.0925484305920792,
                                zz * 0.94617469575755997 - 0.31539156525251999,
                                x * z * -1.0925484305920792, (xx - yy) * 0.54627421529603959})
            all.push_back(t);
    if (degree > 3)
        for (const Tensor& t :
             {y * (yy - xx * 3.0) * 0.59004358992664352, x * y * z * 2.8906114426405538,
              y * (1.0 - zz * 5.0) * 0.45704579946446572, z * (zz * 5.0 - 3.0) * 0.3731763325901154,
              x * (1.0 - zz * 5.0) * 0.45704579946446572, z * (xx - yy) * 1.4453057213202769,
              x * (yy * 3.0 - xx) * 0.59004358992664352})
            all.push_back(t);
    return concat(all, -1);
}

namespace {

/// Sizes of the levels of a hash grid, one element per level.
struct HashLevels {
    std::vector<int64_t> cells, entries;
    int64_t entry_count = 0;
};

HashLevels levels_of(const HashGridOptions& options, int64_t axes) {
    HashLevels levels;
    const double most = std::ldexp(1.0, options.log2_entries);
    for (int l = 0; l < options.levels; ++l) {
        const double cells = std::floor(options.base_resolution * std::pow(options.growth, l));
        const double corners = std::pow(cells + 1, static_cast<double>(axes));
        levels.cells.push_back(static_cast<int64_t>(cells));
        levels.entries.push_back(static_cast<int64_t>(std::min(most, corners)));
        levels.entry_count += levels.entries.back();
    }
    return levels;
}

Status check(const HashGridOptions& o) {
    const double finest = o.base_resolution * std::pow(o.growth, o.levels - 1);
    if (o.levels >= 1 && o.features >= 1 && o.log2_entries >= 1 && o.log2_entries <= 24 &&
        o.base_resolution >= 1 && o.growth >= 1 && finest < 1 << 20)
        return {};
    return invalid_argument("hash_grid: " + std::to_string(o.levels) + " levels of " +
                            std::to_string(o.features) + " features and 2^" +
                            std::to_string(o.log2_entries) + " entries, with " +
                            std::to_string(finest) +
                            " cells at the finest: out of range (1 level, 1 feature, 2^1 to 2^24 "
                            "entries, growth from 1 on, below 2^20 cells)");
}

}  // namespace

Tensor hash_grid(Trace& trace, std::string_view name, const Tensor& x,
                 const HashGridOptions& options) {
    const int64_t axes = coordinates_of(x, 3, "hash_grid");
    if (axes == 0) return failed_like(x);
    if (Status s = check(options); !s.ok()) return fail(x, std::move(s));
    const HashLevels levels = levels_of(options, axes);
    const double bound = options.init_range;
    const Tensor table =
        trace.param(join_name(name, "table"), {levels.entry_count, options.features},
                    Init::uniform(-bound, bound, options.seed), x.dtype());

    return apply_one(op("hash_grid"), {x, table},
                     {{"axes", axes}, {"cells", levels.cells}, {"entries", levels.entries}});
}

}  // namespace hearth::nn
