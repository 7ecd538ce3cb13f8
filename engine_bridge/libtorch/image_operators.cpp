// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Interpolated reads of images and grids, and their adjoints.

#include "operators.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth::libtorch {

namespace {

// --- Along an axis, at constant positions ---

at::Tensor weighted_taps(const Call& c) {
    const int64_t axis = c.integer("axis");
    List along(static_cast<size_t>(c.in[0].dim()), 1);
    along[static_cast<size_t>(axis)] = c.in[1].size(1);
    at::Tensor sum = at::zeros(c.out_shape(), c.options());
    for (int64_t tap = 0; tap < c.in[1].size(0); ++tap)
        sum = sum + c.in[0].index_select(axis, c.in[1][tap]) * c.in[2][tap].reshape(along);
    return sum;
}

// --- At positions that are data ---

/// One tap along one axis: its index, and its weight, zero if it does not contribute.
struct Tap {
    at::Tensor index, weight;
};

/// The `order`th derivative of a polynomial, highest power first.
at::Tensor derivative(std::array<double, 4> p, int64_t order, const at::Tensor& d) {
    for (int64_t n = 0; n < order; ++n) p = {0, 3 * p[0], 2 * p[1], p[2]};
    return ((d * p[0] + p[1]) * d + p[2]) * d + p[3];
}

class Sampler {
  public:
    explicit Sampler(const Call& c) : c_(c) {}

    /// coordinates: [N, Q].
    std::vector<Tap> taps(const at::Tensor& coordinates, int64_t order, int64_t size) const {
        constexpr double kFar = 1 << 24;
        const at::Tensor at = at::nan_to_num(coordinates, -kFar, kFar, -kFar).clamp(-kFar, kFar);
        const int64_t mode = c_.integer("mode");
        std::vector<Tap> taps;
        if (mode == 0) {
            taps.push_back(tap(at.round(), at::full_like(at, order == 0 ? 1 : 0), size));
            return taps;
        }
        const at::Tensor base = at.floor(), d = at - base;
        if (mode == 1) {
            taps.push_back(tap(base, derivative({0, 0, -1, 1}, order, d), size));
            taps.push_back(tap(base + 1, derivative({0, 0, 1, 0}, order, d), size));
            return taps;
        }
        const double a = c_.real("cubic_a"), sign = order % 2 == 0 ? 1 : -1;
        const std::array<double, 4> near = {a + 2, -(a + 3), 0, 1},
                                    far = {a, -5 * a, 8 * a, -4 * a};
        taps.push_back(tap(base - 1, derivative(far, order, d + 1), size));
        taps.push_back(tap(base, derivative(near, order, d), size));
        taps.push_back(tap(base + 1, derivative(near, order, 1 - d) * sign, size));
        taps.push_back(tap(base + 2, derivative(far, order, 2 - d) * sign, size));
        return taps;
    }

  private:
    Tap tap(const at::Tensor& number, const at::Tensor& weight, int64_t size) const {
        const at::Tensor at = number.to(at::kLong);
        const int64_t padding = c_.integer("padding");
        if (padding == 0) {
            const at::Tensor is_inside = at.ge(0).logical_and(at.lt(size));
            return {at.clamp(0, size - 1), at::where(is_inside, weight, at::zeros_like(weight))};
        }
        if (padding == 1 || size == 1) return {at.clamp(0, size - 1), weight};
        if (c_.flag("align_corners")) {
            const at::Tensor phase = at.abs().remainder(2 * (size - 1));
            return {at::minimum(phase, 2 * (size - 1) - phase), weight};
        }
        const at::Tensor phase = at::maximum(at, -1 - at).remainder(2 * size);
        return {at::minimum(phase, 2 * size - 1 - phase), weight};
    }

    const Call& c_;
};

/// All combinations of taps: flat indices in the plane and weights, [N, Q] each.
std::vector<Tap> plane_taps(const Call& c, const List& size) {
    const auto rank = static_cast<int64_t>(size.size());
    const at::Tensor grid = c.in[1].reshape({c.in[1].size(0), -1, rank});
    const Sampler sampler(c);
    std::vector<Tap> all{{at::zeros({}, at::kLong), at::ones({}, c.in[0].options())}};
    for (int64_t axis = 0; axis < rank; ++axis) {
        const auto a = static_cast<size_t>(axis);
        const std::vector<Tap> taps =
            sampler.taps(grid.select(-1, rank - 1 - axis), c.integers("orders")[a], size[a]);
        std::vector<Tap> next;
        for (const Tap& outer : all)
            for (const Tap& tap : taps)
                next.push_back({outer.index * size[a] + tap.index, outer.weight * tap.weight});
        all = std::move(next);
    }
    return all;
}

at::Tensor sample(const Call& c) {
    const List shape = c.in[0].sizes().vec();
    const at::Tensor x = c.in[0].reshape({shape[0], shape[1], -1});
    at::Tensor sum;
    for (const Tap& tap : plane_taps(c, {shape.begin() + 2, shape.end()})) {
        const at::Tensor index = tap.index.unsqueeze(1).expand({shape[0], shape[1], -1});
        const at::Tensor term = x.gather(2, index) * tap.weight.unsqueeze(1);
        sum = sum.defined() ? sum + term : term;
    }
    return sum.reshape(c.out_shape());
}

at::Tensor sample_spread(const Call& c) {
    const List shape = c.out_shape();
    const at::Tensor y = c.in[0].reshape({shape[0], shape[1], -1});
    int64_t plane = 1;
    for (const int64_t extent : c.integers("extents")) plane *= extent;
    at::Tensor sums = at::zeros({shape[0], shape[1], plane}, c.options());
    for (const Tap& tap : plane_taps(c, c.integers("extents"))) {
        const at::Tensor index = tap.index.unsqueeze(1).expand({shape[0], shape[1], -1});
        sums.scatter_add_(2, index, y * tap.weight.unsqueeze(1));
    }
    return sums.reshape(shape);
}

// --- Regions of interest ---

/// Samples of a region along one axis: the two neighbouring elements of each, and the second one's
/// weight.
struct RegionAxis {
    at::Tensor low, high, weight, is_inside;  ///< [bins * samples]
    int64_t bins, samples;

    RegionAxis(const Call& c, const at::Tensor& region, int64_t column, int64_t bin_count,
               int64_t size)
        : bins(bin_count) {
        const bool is_half = c.flag("half_pixel");
        const double scale = c.real("spatial_scale"), offset = is_half ? 0.5 : 0;
        const double begin = region[column].item<double>() * scale - offset;
        double extent = region[column + 2].item<double>() * scale - offset - begin;
        if (!is_half) extent = std::max(extent, 1.0);
        const double bin = extent / static_cast<double>(bins);
        const int64_t ratio = c.integer("sampling_ratio");
        samples =
            ratio > 0
                ? ratio
                : static_cast<int64_t>(std::ceil(bin > 0 ? std::min(bin, double{1 << 12}) : 0));
        const at::Tensor number = at::arange(bins * samples, at::kDouble);
        const at::Tensor position =
            (number + 0.5) * (bin / static_cast<double>(std::max<int64_t>(samples, 1))) + begin;
        is_inside = position.ge(-1).logical_and(position.le(static_cast<double>(size)));
        const at::Tensor inside = at::where(is_inside, position, at::zeros_like(position))
                                      .clamp(0, static_cast<double>(size - 1));
        low = inside.floor().to(at::kLong);
        high = (low + 1).clamp_max(size - 1);
        weight = inside - low;
    }

    /// Returns [bins, elements]: the weight of each element in each bin's sum.
    at::Tensor matrix(int64_t size) const {
        const at::Tensor row =
            at::div(at::arange(low.size(0), at::kLong), std::max<int64_t>(samples, 1), "floor");
        const at::Tensor counts = is_inside.to(at::kDouble);
        at::Tensor flat = at::zeros({bins * size}, at::kDouble);
        flat.index_add_(0, row * size + low, (1 - weight) * counts);
        flat.index_add_(0, row * size + high, weight * counts);
        return flat.reshape({bins, size});
    }
};

int64_t image_of(const at::Tensor& images, int64_t region, int64_t count) {
    return std::clamp<int64_t>(images[region].to(at::kDouble).trunc().item<int64_t>(), 0,
                               count - 1);
}

/// The maximum weighted corner of all samples in each bin, as in ONNX.
at::Tensor largest_corners(const at::Tensor& x, const RegionAxis& v, const RegionAxis& h) {
    const auto corner = [&](const at::Tensor& row, const at::Tensor& column,
                            const at::Tensor& of_row, const at::Tensor& of_column) {
        return x.index_select(1, row).index_select(2, column) * of_row.unsqueeze(1) * of_column;
    };
    at::Tensor best = at::maximum(at::maximum(corner(v.low, h.low, 1 - v.weight, 1 - h.weight),
                                              corner(v.low, h.high, 1 - v.weight, h.weight)),
                                  at::maximum(corner(v.high, h.low, v.weight, 1 - h.weight),
                                              corner(v.high, h.high, v.weight, h.weight)));
    const at::Tensor is_inside = v.is_inside.unsqueeze(1).logical_and(h.is_inside);
    best = at::where(is_inside, best, at::zeros_like(best));
    return best.reshape({x.size(0), v.bins, v.samples, h.bins, h.samples}).amax({2, 4});
}

at::Tensor roi_align(const Call& c) {
    const at::Tensor x = c.in[0].to(at::kDouble), regions = c.in[1].to(at::kDouble);
    at::Tensor y = at::zeros(c.out_shape(), at::kDouble);
    for (int64_t r = 0; r < regions.size(0); ++r) {
        const RegionAxis v(c, regions[r], 1, c.integer("height"), x.size(2));
        const RegionAxis h(c, regions[r], 0, c.integer("width"), x.size(3));
        if (v.samples * h.samples == 0) continue;
        const at::Tensor image = x[image_of(c.in[2], r, x.size(0))];
        const auto count = static_cast<double>(v.samples * h.samples);
        y[r] = c.flag("takes_max")
                   ? largest_corners(image, v, h)
                   : at::matmul(at::matmul(v.matrix(x.size(2)), image), h.matrix(x.size(3)).t()) /
                         count;
    }
    return y.to(c.options());
}

at::Tensor roi_align_spread(const Call& c) {
    const at::Tensor g = c.in[0].to(at::kDouble), regions = c.in[1].to(at::kDouble);
    at::Tensor x = at::zeros(c.out_shape(), at::kDouble);
    for (int64_t r = 0; r < regions.size(0); ++r) {
        const RegionAxis v(c, regions[r], 1, c.integer("height"), x.size(2));
        const RegionAxis h(c, regions[r], 0, c.integer("width"), x.size(3));
        if (v.samples * h.samples == 0) continue;
        x[image_of(c.in[2], r, x.size(0))] +=
            at::matmul(at::matmul(v.matrix(x.size(2)).t(), g[r]), h.matrix(x.size(3))) /
            static_cast<double>(v.samples * h.samples);
    }
    return x.to(c.options());
}

/// Range of elements that a bin of max_roi_pool covers along an axis.
std::pair<int64_t, int64_t> bin_range(const Call& c, const at::Tensor& region, int64_t column,
                                      int64_t bin, int64_t bins, int64_t size) {
    // Rounded in f32, the type of the coordinates.
    const auto whole = [&](int64_t k) {
        const float at = std::floor(
            region[k].item<float>() * static_cast<float>(c.real("spatial_scale")) + 0.5F);
        return std::clamp(at, -0x1p24F, 0x1p24F);
    };
    const float begin = whole(column), extent = std::max(whole(column + 2) - begin + 1, 1.0F);
    const auto edge = [&](float at) {
        return std::clamp<int64_t>(static_cast<int64_t>(at + begin), 0, size);
    };
    const auto number = static_cast<float>(bin), all = static_cast<float>(bins);
    return {edge(std::floor(number * extent / all)), edge(std::ceil((number + 1) * extent / all))};
}

at::Tensor max_roi_pool(const Call& c, bool gives_index) {
    const at::Tensor& x = c.in[0];
    at::Tensor y = at::full(c.out_shape(), gives_index ? -1 : 0, c.options());
    for (int64_t r = 0; r < y.size(0); ++r)
        for (int64_t i = 0; i < y.size(2); ++i)
            for (int64_t j = 0; j < y.size(3); ++j) {
                const auto [top, bottom] = bin_range(c, c.in[1][r], 2, i, y.size(2), x.size(2));
                const auto [left, right] = bin_range(c, c.in[1][r], 1, j, y.size(3), x.size(3));
                if (bottom <= top || right <= left) continue;
                const at::Tensor bin = x[image_of(c.in[1].select(1, 0), r, x.size(0))]
                                           .narrow(1, top, bottom - top)
                                           .narrow(2, left, right - left)
                                           .reshape({x.size(1), -1});
                const at::Tensor best = bin.argmax(1),
                                 width = at::full({}, right - left, at::kLong);
                const at::Tensor index = (at::div(best, width, "floor") + top) * x.size(3) +
                                         best.remainder(width) + left;
                y.select(2, i).select(2, j)[r] = gives_index ? index.to(c.options()) : bin.amax(1);
            }
    return y;
}

// --- Hash grids ---

/// cell: [..., levels, axes]; the rest [levels]. Returns indices in the table, [..., levels,
/// corners].
at::Tensor entry_indices(const at::Tensor& cell, const at::Tensor& cells, const at::Tensor& entries,
                         const at::Tensor& first, const at::Tensor& hashed) {
    constexpr std::array<int64_t, 3> kFactors = {1, 2654435761, 805459861};
    const int64_t axes = cell.size(-1);
    const at::Tensor corner = at::arange(int64_t{1} << axes, at::kLong);
    const at::Tensor most = cells.unsqueeze(-1);
    at::Tensor row_by_row = at::zeros({}, at::kLong), hash = row_by_row;
    at::Tensor stride = at::ones_like(most);
    for (int64_t k = 0; k < axes; ++k) {
        const at::Tensor at =
            cell.select(-1, k).unsqueeze(-1) + corner.bitwise_right_shift(k).bitwise_and(1);
        row_by_row = row_by_row + at::minimum(at.clamp_min(0), most) * stride;
        hash = hash.bitwise_xor(at * kFactors[static_cast<size_t>(k)]);
        stride = stride * (most + 1);
    }
    const at::Tensor wrapped = hash.bitwise_and(entries.unsqueeze(-1) - 1);
    return first.unsqueeze(-1) + at::where(hashed.unsqueeze(-1).ne(0), wrapped, row_by_row);
}

/// Table entries around positions, and their weights: [n, levels, corners] each.
std::pair<at::Tensor, at::Tensor> corners_of(const Call& c) {
    const List &cells = c.integers("cells"), &entries = c.integers("entries");
    const int64_t axes = c.integer("axes");
    List firsts, hashed;
    int64_t first = 0;
    for (size_t l = 0; l < cells.size(); ++l) {
        int64_t all = 1;
        for (int64_t k = 0; k < axes; ++k) all *= cells[l] + 1;
        hashed.push_back(all > entries[l]);
        firsts.push_back(first);
        first += entries[l];
    }
    const auto tensor = [](const List& list) { return at::tensor(list, at::kLong); };
    const at::Tensor count = tensor(cells);
    const at::Tensor scaled =
        c.in[0].reshape({-1, 1, axes}) * count.to(c.in[0].scalar_type()).reshape({1, -1, 1});
    const at::Tensor cell = scaled.floor(), offset = scaled - cell;
    const at::Tensor corner = at::arange(int64_t{1} << axes, at::kLong);
    at::Tensor weight = at::ones({}, c.in[0].options());
    for (int64_t k = 0; k < axes; ++k) {
        const at::Tensor along = offset.select(-1, k).unsqueeze(-1);
        const at::Tensor is_far = corner.bitwise_right_shift(k).bitwise_and(1).ne(0);
        weight = weight * at::where(is_far, along, 1 - along);
    }
    return {
        entry_indices(cell.to(at::kLong), count, tensor(entries), tensor(firsts), tensor(hashed)),
        weight};
}

at::Tensor hash_grid(const Call& c) {
    const auto [entry, weight] = corners_of(c);
    List shape = entry.sizes().vec();
    shape.push_back(c.in[1].size(1));
    const at::Tensor read = c.in[1].index_select(0, entry.reshape({-1})).reshape(shape);
    return (read * weight.unsqueeze(-1)).sum(2).reshape(c.out_shape());
}

at::Tensor hash_grid_gradient(const Call& c) {
    const auto [entry, weight] = corners_of(c);
    const List shape = c.out_shape();
    const at::Tensor g = c.in[1].reshape({entry.size(0), entry.size(1), 1, shape[1]});
    return at::zeros(shape, c.options())
        .index_add(0, entry.reshape({-1}), (g * weight.unsqueeze(-1)).reshape({-1, shape[1]}));
}

}  // namespace

void add_image_rules(Rules& rules) {
    rules["weighted_taps"] = weighted_taps;
    rules["sample"] = sample;
    rules["sample_spread"] = sample_spread;
    rules["roi_align"] = roi_align;
    rules["roi_align_spread"] = roi_align_spread;
    rules["max_roi_pool"] = [](const Call& c) { return max_roi_pool(c, false); };
    rules["max_roi_pool_index"] = [](const Call& c) { return max_roi_pool(c, true); };
    rules["hash_grid"] = hash_grid;
    rules["hash_grid_gradient"] = hash_grid_gradient;
    rules["hash_grid_entry"] = [](const Call& c) {
        return entry_indices(c.in[0], c.in[1], c.in[2], c.in[3], c.in[4]);
    };
}

}  // namespace hearth::libtorch
