// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Resampling: along axes at positions known when the graph is built (resizing, padding), and at
// positions that are data (grid sampling, regions of interest, deformable convolution).
//
// Sampling at data is one family, closed under differentiation: `sample` weights the elements
// around a position with a piecewise polynomial per axis, `orders` says how often each of these is
// differentiated, and `sample_spread` is its adjoint.

#include "compiler/ops/onnx/image_onnx.hpp"
#include "compiler/ops/shared/resize_tables.hpp"
#include "compiler/ops/shared/windows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace hearth {

namespace {

// --- Along an axis ---

AxisTaps taps_of(const Attrs& attrs, int64_t from) {
    const int64_t extent = attrs.integer("extent");
    AxisTaps taps(from, extent, 0);
    taps.indices = attrs.integers("indices");
    taps.weights = attrs.floats("weights");
    taps.taps = static_cast<int64_t>(taps.indices.size()) / std::max<int64_t>(extent, 1);
    return taps;
}

Status infer_resample(InferContext& call) {
    Shape shape = call.shape(0);
    HEARTH_TRY(check_axis(call.attrs, shape.rank()));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    const int64_t extent = call.attrs.integer("extent");
    const std::vector<int64_t>& indices = call.attrs.integers("indices");
    if (shape[axis].is_batch || extent < 1 || indices.empty() ||
        static_cast<int64_t>(indices.size()) % extent != 0 ||
        indices.size() != call.attrs.floats("weights").size())
        return invalid_argument("needs as many weights as indices, some for each of " +
                                std::to_string(extent) + " elements, and a fixed axis " +
                                std::to_string(axis));
    for (int64_t i : indices)
        if (i < 0 || i >= shape[axis].count)
            return out_of_range("index " + std::to_string(i) + " along axis " +
                                std::to_string(axis));
    shape[axis] = Dim(extent);
    return call.one(call.dtype(0), shape);
}

Status infer_weighted_taps(InferContext& call) {
    Shape shape = call.shape(0);
    HEARTH_TRY(check_axis(call.attrs, shape.rank()));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    const Shape &indices = call.shape(1), &weights = call.shape(2);
    if (indices.rank() != 2 || indices.has_batch() || indices != weights ||
        call.dtype(2) != call.dtype(0) || shape[axis].is_batch || shape[axis].count < 1)
        return invalid_argument("needs indices and weights [taps, extent]");
    shape[axis] = indices[1];
    return call.one(call.dtype(0), shape);
}

void resample_samples(Samples& s) {
    const auto add = [&s](const Shape& x, int axis, const AxisTaps& taps) -> Sample& {
        return s.add({x}, {{"axis", int64_t{axis}},
                           {"extent", taps.extent},
                           {"indices", taps.indices},
                           {"weights", taps.weights}});
    };
    const ResizeRule linear{.mode = Interpolation::kLinear};
    const ResizeRule cubic{.mode = Interpolation::kCubic, .antialias = true};
    add({7}, 0, resize_taps(linear, {7, 3, 3.0 / 7}));
    add({3, 4}, 1, resize_taps(linear, {4, 9, 9.0 / 4}));
    add({kBatch, 2, 5}, 2, resize_taps(cubic, {5, 8, 8.0 / 5}));
    add({2, 6, 1, 3}, 1, resize_taps(cubic, {6, 2, 1.0 / 3}));
    add({1, 2, 3, 2, 2}, 2, resize_taps({}, {3, 6, 2}));
    add({4}, 0, resize_taps(linear, {4, 8, 2}).transposed().transposed());
}

// --- At positions that are data ---

constexpr int64_t kNearest = static_cast<int64_t>(Interpolation::kNearest),
                  kLinear = static_cast<int64_t>(Interpolation::kLinear);
constexpr int64_t kZeros = static_cast<int64_t>(SamplePadding::kZeros),
                  kBorder = static_cast<int64_t>(SamplePadding::kBorder);

constexpr FixedList<AttrSpec, 12> kSampleAttrs = {{"mode", AttrType::kInteger, 1},
                                                  {"padding", AttrType::kInteger, 0},
                                                  {"align_corners", AttrType::kInteger, 0},
                                                  {"cubic_a", AttrType::kFloat, -0.75},
                                                  {"orders", AttrType::kIntegers}};
constexpr FixedList<AttrSpec, 12> kSpreadAttrs = {
    {"mode", AttrType::kInteger, 1},          {"padding", AttrType::kInteger, 0},
    {"align_corners", AttrType::kInteger, 0}, {"cubic_a", AttrType::kFloat, -0.75},
    {"orders", AttrType::kIntegers},          {"extents", AttrType::kIntegers}};

/// Polynomial of the distance d, highest power first, differentiated `order` times.
template <class V>
V derivative(std::array<double, 4> p, int64_t order, V d) {
    double factor[4] = {3, 2, 1, 0};
    for (int64_t n = 0; n < order; ++n) {
        for (size_t i = 3; i > 0; --i) p[i] = p[i - 1] * factor[i - 1];
        p[0] = 0;
    }
    return ((p[0] * d + p[1]) * d + p[2]) * d + p[3];
}

/// One axis at one position: the first tap and the weights of all taps.
template <class C>
struct AxisSample {
    using Index = typename C::Index;
    using Number = typename C::Element;
    Index first;
    FixedList<Number, 4> weights;
};

template <class C>
AxisSample<C> axis_sample(C& c, typename C::Element at, int64_t order) {
    const int64_t mode = c.attrs().integer("mode");
    // Clamps to a position outside every image; NaN maps there too.
    constexpr double kFar = 1 << 24;
    at = select(is_nan(at), c.value(-kFar), max(min(at, c.value(kFar)), c.value(-kFar)));
    AxisSample<C> s;
    if (mode == kNearest) {
        s.first = c.to_index(round_even(at));
        s.weights.push_back(c.value(order == 0 ? 1 : 0));
        return s;
    }
    const auto base = floor(at);
    const auto d = at - base;
    if (mode == kLinear) {
        s.first = c.to_index(base);
        s.weights.push_back(derivative(std::array<double, 4>{0, 0, -1, 1}, order, d));
        s.weights.push_back(derivative(std::array<double, 4>{0, 0, 1, 0}, order, d));
        return s;
    }
    // Keys' kernel at distances 1 + d, d, 1 - d and 2 - d; the last two decrease with d, hence the
    // sign.
    const double a = c.attrs().real("cubic_a");
    const std::array<double, 4> near = {a + 2, -(a + 3), 0, 1}, far = {a, -5 * a, 8 * a, -4 * a};
    const double sign = order % 2 == 0 ? 1 : -1;
    s.first = c.to_index(base) - 1;
    s.weights.push_back(derivative(far, order, d + 1.0));
    s.weights.push_back(derivative(near, order, d));
    s.weights.push_back(sign * derivative(near, order, 1.0 - d));
    s.weights.push_back(sign * derivative(far, order, 2.0 - d));
    return s;
}

/// Index that tap `at` of an axis of `size` reads under the padding rule: always in bounds.
template <class C>
typename C::Index padded_place(C& c, typename C::Index at, int64_t size) {
    const int64_t padding = c.attrs().integer("padding");
    const auto zero = c.index(0), last = c.index(size - 1);
    if (padding == kZeros || padding == kBorder || size == 1) return min(max(at, zero), last);
    if (c.attrs().flag("align_corners")) {
        const auto phase = max(at, zero - at) % c.index(2 * (size - 1));
        return select(phase <= last, phase, c.index(2 * (size - 1)) - phase);
    }
    const auto phase = max(at, c.index(-1) - at) % c.index(2 * size);
    return select(phase <= last, phase, c.index(2 * size - 1) - phase);
}

/// Coordinate `axis` of position p of batch n; the innermost axis comes first in memory.
template <class C>
typename C::Element coordinate(C& c, const typename C::Index& batch,
                               const Coords<typename C::Index>& places, size_t axis, size_t rank) {
    Coords<typename C::Index> at;
    at.axis.push_back(batch);
    for (const auto& p : places.axis) at.axis.push_back(p);
    at.axis.push_back(c.index(static_cast<int64_t>(rank - 1 - axis)));
    return c.in(1, at);
}

/// Sums weight times element over the taps of all axes from `axis` on.
template <class C>
typename C::Element sum_taps(C& c, const std::vector<AxisSample<C>>& samples, const List& size,
                             Coords<typename C::Index> place) {
    const auto axis = static_cast<size_t>(place.rank()) - 2;
    if (axis == samples.size()) return c.in(0, place);
    const bool has_zeros = c.attrs().integer("padding") == kZeros;
    const AxisSample<C>& s = samples[axis];
    auto total = c.value(0);
    for (size_t t = 0; t < s.weights.size(); ++t) {
        const auto at = s.first + c.index(static_cast<int64_t>(t));
        auto next = place;
        next.axis.push_back(padded_place(c, at, size[axis]));
        auto term = s.weights[t] * sum_taps(c, samples, size, next);
        if (has_zeros)
            term = select(logical_and(c.index(0) <= at, at <= c.index(size[axis] - 1)), term,
                          c.value(0));
        total = total + term;
    }
    return total;
}

Status check_sample(const Attrs& attrs, const Shape& grid, size_t rank, Dim batch) {
    const int64_t mode = attrs.integer("mode"), padding = attrs.integer("padding");
    if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
        return invalid_argument("mode " + std::to_string(mode) + ", padding " +
                                std::to_string(padding));
    bool is_fixed = grid.rank() >= 3;
    for (int i = 1; is_fixed && i < grid.rank(); ++i) is_fixed = !grid[i].is_batch;
    if (rank < 1 || rank > 3 || !is_fixed || attrs.integers("orders").size() != rank ||
        grid[grid.rank() - 1] != Dim(static_cast<int64_t>(rank)) || grid[0] != batch)
        return invalid_argument("expected coordinates [" + to_string(batch) + ", places..., " +
                                std::to_string(rank) + "]");
    return {};
}

Status check_image(const Shape& x) {
    bool is_fixed = x.rank() >= 3 && x.rank() <= 5;
    for (int i = 1; is_fixed && i < x.rank(); ++i)
        is_fixed = !x[i].is_batch && x[i].count > 0 && x[i].count < 1 << 24;
    if (is_fixed) return {};
    return invalid_argument("x is " + to_string(x) +
                            ", expected [N, C, and 1 to 3 fixed, positive extents]");
}

Status infer_sample(InferContext& call) {
    const Shape &x = call.shape(0), &grid = call.shape(1);
    HEARTH_TRY(check_image(x));
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    HEARTH_TRY(check_sample(call.attrs, grid, static_cast<size_t>(x.rank() - 2), x[0]));
    Shape shape{x[0], x[1]};
    for (int i = 1; i + 1 < grid.rank(); ++i) shape.push_back(grid[i]);
    return call.one(call.dtype(0), shape);
}

Status infer_sample_spread(InferContext& call) {
    const Shape &y = call.shape(0), &grid = call.shape(1);
    const List& extents = call.attrs.integers("extents");
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    if (y.rank() < 3) return invalid_argument("y is " + to_string(y));
    HEARTH_TRY(check_sample(call.attrs, grid, extents.size(), y[0]));
    bool agrees = y.rank() == grid.rank();
    for (int i = 1; agrees && i + 1 < grid.rank(); ++i) agrees = y[i + 1] == grid[i];
    if (!agrees) return invalid_argument("y needs the places of the coordinates");
    const Shape shape = shape_of(y[0], y[1], extents);
    HEARTH_TRY(check_image(shape));
    return call.one(call.dtype(0), shape);
}

Attrs spread_attrs(const Attrs& like, List extents) {
    Attrs attrs = like;
    attrs.set("extents", std::move(extents));
    return attrs;
}

/// `attrs` reduced to the attributes of `sample`.
Attrs sample_attrs(const Attrs& from) {
    Attrs attrs;
    for (const AttrSpec& spec : kSampleAttrs) attrs.set(spec.name, *from.find(spec.name));
    return attrs;
}

/// Cotangent of the coordinates: per axis, the sum over channels of g times the slope of x's sample
/// along that axis.
Tensor coordinate_cotangent(const Tensor& g, const Tensor& x, const Tensor& coordinates,
                            const Attrs& attrs) {
    if (attrs.integer("mode") == kNearest) return zeros_like(coordinates);
    const auto rank = static_cast<size_t>(x.rank() - 2);
    std::vector<Tensor> slopes;
    for (size_t i = rank; i-- > 0;) {
        Attrs steeper = sample_attrs(attrs);
        List orders = attrs.integers("orders");
        ++orders[i];
        steeper.set("orders", orders);
        slopes.push_back(sum(g * apply_one(op("sample"), {x, coordinates}, steeper), {1}));
    }
    return stack(slopes, -1);
}

template <class F>
void each_sample(F add) {
    const auto with = [](int64_t mode, int64_t padding, int64_t align, List orders) {
        return Attrs{{"mode", mode},
                     {"padding", padding},
                     {"align_corners", align},
                     {"orders", std::move(orders)}};
    };
    add(Shape{2, 1, 5}, Shape{2, 4, 1}, with(1, 0, 0, {0}));
    add(Shape{kBatch, 2, 3, 4}, Shape{kBatch, 2, 3, 2}, with(1, 0, 0, {0, 0}));
    add(Shape{1, 2, 4, 3}, Shape{1, 5, 2}, with(1, 1, 1, {0, 0}));
    add(Shape{1, 1, 4, 5}, Shape{1, 2, 3, 2}, with(1, 2, 0, {0, 0}));
    add(Shape{1, 2, 4, 3}, Shape{1, 2, 2, 2}, with(2, 0, 0, {0, 0}));
    add(Shape{1, 1, 4, 4}, Shape{1, 2, 3, 2}, with(2, 2, 1, {0, 0}));
    add(Shape{1, 1, 4, 4}, Shape{1, 2, 3, 2}, with(2, 1, 0, {1, 2}));
    add(Shape{1, 1, 3, 4, 2}, Shape{1, 2, 2, 1, 3}, with(1, 0, 0, {0, 0, 0}));
    add(Shape{1, 1, 3, 4, 2}, Shape{1, 4, 3}, with(0, 2, 1, {0, 0, 0}));
}

// --- Regions of interest ---

Status check_regions(const InferContext& call, int64_t columns) {
    HEARTH_TRY(check_image(call.shape(0)));
    const Shape &x = call.shape(0), &regions = call.shape(1);
    if (x.rank() != 4 || x[0].is_batch || regions.rank() != 2 || regions[1] != Dim(columns) ||
        call.dtype(0) != call.dtype(1) || call.attrs.integer("height") < 1 ||
        call.attrs.integer("width") < 1)
        return invalid_argument("expected x [N, C, H, W] of fixed extents, regions [R, " +
                                std::to_string(columns) + "] and a positive height and width");
    const bool has_pixels = x[0].count > 0 && x[2].count > 0 && x[3].count > 0;
    if (!has_pixels && regions[0] != Dim(0))
        return invalid_argument("regions of x " + to_string(x) + ", which has no pixels");
    return {};
}

Shape region_shape(const InferContext& call) {
    return {call.shape(1)[0], call.shape(0)[1], call.attrs.integer("height"),
            call.attrs.integer("width")};
}

/// Element `column` of a region.
template <class C>
typename C::Element region(C& c, typename C::Index which, int64_t column) {
    Coords<typename C::Index> at;
    at.axis.push_back(which);
    at.axis.push_back(c.index(column));
    return c.in(1, at);
}

/// Index of the image that the region refers to, clamped to [0, images).
template <class C>
typename C::Index image_index(C& c, typename C::Element batch, typename C::Index images) {
    return min(max(c.to_index(batch), c.index(0)), images - 1);
}

/// One axis of a region: its begin, the width of a bin, and the samples per bin.
template <class C>
struct RegionAxis {
    typename C::Element begin, bin;
    typename C::Index samples;
};
template <class C>
RegionAxis<C> region_axis(C& c, typename C::Index which, int64_t low_column, int64_t bins) {
    const bool aligned = c.attrs().flag("half_pixel");
    const double scale = c.attrs().real("spatial_scale"), offset = aligned ? 0.5 : 0;
    const auto begin = region(c, which, low_column) * scale - offset;
    auto extent = region(c, which, low_column + 2) * scale - offset - begin;
    if (!aligned) extent = max(extent, c.value(1));
    const auto bin = extent / static_cast<double>(bins);
    const int64_t ratio = c.attrs().integer("sampling_ratio");
    constexpr double kMostSamples = 1 << 12;  // limit for degenerate data
    const auto samples =
        ratio > 0
            ? c.index(ratio)
            : c.to_index(ceil(select(bin > 0.0, min(bin, c.value(kMostSamples)), c.value(0))));
    return {begin, bin, samples};
}

/// Position of sample i of a bin.
template <class C>
typename C::Element sample_place(C& c, const RegionAxis<C>& axis, typename C::Index bin,
                                 typename C::Index i) {
    return axis.begin + c.number(bin) * axis.bin +
           (c.number(i) + 0.5) * axis.bin / c.number(axis.samples);
}

/// The two elements next to a position on an axis, and the second one's weight; positions more than
/// one element outside do not count.
template <class C>
struct Neighbours {
    typename C::Index low, high;
    typename C::Element weight;
    decltype(std::declval<typename C::Element>() < std::declval<typename C::Element>()) inside;
};
template <class C>
Neighbours<C> neighbours(C& c, typename C::Element at, typename C::Index extent) {
    const auto last = extent - 1;
    const auto size = c.number(extent);
    const auto inside = logical_and(c.value(-1) <= at, at <= size);
    const auto known = select(inside, at, c.value(0));
    const auto clamped = min(max(known, c.value(0)), c.number(last));
    const auto low = min(max(c.to_index(floor(clamped)), c.index(0)), last);
    return {low, min(low + 1, last), clamped - c.number(low), inside};
}

/// The elements that a bin of max_roi_pool covers; possibly none.
template <class C>
struct RegionBin {
    struct Range {
        typename C::Index begin, count;
    };
    C& c;
    typename C::Index image;
    Range y, x;

    typename C::Index count() const { return y.count * x.count; }
    /// Coordinates of element i, within x even if the bin is empty.
    Coords<typename C::Index> place(typename C::Index i) const {
        const auto width = max(x.count, c.index(1));
        Coords<typename C::Index> at;
        at.axis.push_back(image);
        at.axis.push_back(c.coord(1));
        at.axis.push_back(min(y.begin + i / width, c.in_dim(0, 2) - 1));
        at.axis.push_back(min(x.begin + i % width, c.in_dim(0, 3) - 1));
        return at;
    }
};
template <class C>
RegionBin<C> region_bin(C& c) {
    const auto out = c.coords();
    const double scale = c.attrs().real("spatial_scale");
    const auto range = [&](int64_t column, int64_t bins, int axis) -> typename RegionBin<C>::Range {
        constexpr double kFar = 1 << 24;
        const auto whole = [&](int64_t k) {
            const auto at = floor(region(c, out[0], k) * scale + 0.5);
            return max(min(at, c.value(kFar)), c.value(-kFar));
        };
        const auto begin = whole(column);
        const auto extent = max(whole(column + 2) - begin + 1.0, c.value(1));
        const auto bin = c.number(out[axis]);
        const auto low = floor(bin * extent / static_cast<double>(bins)) + begin;
        const auto high = ceil((bin + 1.0) * extent / static_cast<double>(bins)) + begin;
        const auto size = c.in_dim(0, axis);
        const auto from = min(max(c.to_index(low), c.index(0)), size);
        const auto to = min(max(c.to_index(high), c.index(0)), size);
        return {from, max(to - from, c.index(0))};
    };
    return {c, image_index(c, region(c, out[0], 0), c.in_dim(0, 0)),
            range(2, c.attrs().integer("height"), 2), range(1, c.attrs().integer("width"), 3)};
}

/// Gradient of max_roi_pool by x: each result's cotangent goes to its argmax element.
Tensor spread_to_largest(const Tensor& g, const Tensor& x, const Tensor& regions,
                         const Attrs& attrs) {
    const Tensor found = apply_one(op("max_roi_pool_index"), {x, regions}, attrs);
    const int64_t images = x.dim(0).count, channels = x.dim(1).count;
    const int64_t plane = x.dim(2).count * x.dim(3).count;
    HostTensor numbers(DType::kI64, {1, channels, 1, 1});
    for (int64_t i = 0; i < channels; ++i) numbers.set_int(i, i);
    const Tensor image =
        clamp(cast(slice(regions, 1, 0, 1), DType::kI64), 0, static_cast<double>(images - 1));
    const Tensor first = reshape(image, {regions.dim(0), 1, 1, 1}) * static_cast<double>(channels) +
                         x.trace()->constant(std::move(numbers));
    const Tensor index =
        cast(maximum(found, 0.0), DType::kI64) + first * static_cast<double>(plane);
    const Tensor kept = where(less(found, 0.0), 0.0, g);
    const Tensor sums =
        apply_one(op("index_sum"), {reshape(kept, {Dim(-1)}), reshape(index, {Dim(-1)})},
                  {{"axis", int64_t{0}}, {"shape", Shape{images * channels * plane}}});
    return reshape(sums, x.shape());
}

void max_roi_pool_samples(Samples& s) {
    const auto add = [&s](Dim regions, int64_t height, double scale) {
        Sample& sample =
            s.add({{2, 3, 5, 6}, {regions, 5}},
                  {{"height", height}, {"width", int64_t{2}}, {"spatial_scale", scale}});
        sample.low = 0;
        sample.high = 6;
        sample.gradient = false;
    };
    add(4, 2, 1);
    add(kBatch, 3, 0.5);
    add(1, 1, 2);
}

constexpr FixedList<AttrSpec, 12> kMaxRoiPoolAttrs = {
    {"height"}, {"width"}, {"spatial_scale", AttrType::kFloat, 1}};

constexpr FixedList<AttrSpec, 12> kRoiAlignAttrs = {{"height", AttrType::kInteger},
                                                    {"width", AttrType::kInteger},
                                                    {"sampling_ratio", AttrType::kInteger, 0},
                                                    {"half_pixel", AttrType::kInteger, 1},
                                                    {"takes_max", AttrType::kInteger, 0},
                                                    {"spatial_scale", AttrType::kFloat, 1}};

constinit const OpDef kOps[] = {
    {
        .name = "resample",
        .summary = "element i along the axis is the sum over t of weights[t,i] x[indices[t,i]]",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = {{"axis"},
                  {"extent"},
                  {"indices", AttrType::kIntegers},
                  {"weights", AttrType::kFloats}},
        .op_class = OpClass::kComposite,
        .infer = infer_resample,
        .decompose = [](DecomposeContext& call) -> std::vector<Tensor> {
            const Tensor& x = call.in(0);
            const int axis = static_cast<int>(call.attrs.integer("axis"));
            const AxisTaps taps = taps_of(call.attrs, x.dim(axis).count);
            HostTensor indices(DType::kI32, Shape{taps.taps, taps.extent});
            HostTensor weights(x.dtype(), indices.shape());
            for (size_t i = 0; i < taps.indices.size(); ++i) {
                indices.set_int(static_cast<int64_t>(i), taps.indices[i]);
                weights.set(static_cast<int64_t>(i), taps.weights[i]);
            }
            return {apply_one(op("weighted_taps"),
                              {x, call.trace.constant(std::move(indices)),
                               call.trace.constant(std::move(weights))},
                              {{"axis", int64_t{axis}}})};
        },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const int axis = static_cast<int>(v.attrs.integer("axis"));
            const AxisTaps taps = taps_of(v.attrs, v.in(0).dim(axis).count);
            return {resample(v.cotangent(), axis, taps.transposed())};
        },
        .onnx = {{"Resize", 10, import_resize}, {"Upsample", 7, import_upsample}},
        .samples = resample_samples,
    },
    {
        .name = "weighted_taps",
        .summary = "resample with its tables as tensors [taps, extent]",
        .inputs = {{"x", TypeClass::kNumber},
                   {"indices", TypeClass::kInteger},
                   {"weights", TypeClass::kNumber}},
        .attrs = {{"axis"}},
        .op_class = OpClass::kInjective,
        .infer = infer_weighted_taps,
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            auto place = c.coords();
            const auto here = place[axis];
            const auto tap = [&](auto t) {
                decltype(place) entry;
                entry.axis.push_back(t);
                entry.axis.push_back(here);
                const auto index = c.to_index(c.in(1, entry));
                place[axis] = min(max(index, c.index(0)), c.in_dim(0, axis) - 1);
                const auto weight = c.in(2, entry), x = c.in(0, place);
                // An element of weight zero may be infinite.
                return select(weight == 0, c.value(0), weight * x);
            };
            return c.in_shape(1)[0].is_one() ? tap(c.index(0)) : c.sum(c.in_dim(1, 0), tap);
        }),
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& x, int64_t axis, const Shape& table) {
                    Sample& sample =
                        s.add_typed({{DType::kF32, x}, {DType::kI32, table}, {DType::kF32, table}},
                                    {{"axis", axis}});
                    sample.low = 0;
                    sample.high = 3;
                    sample.gradient = false;
                };
                add({3}, 0, {2, 5});
                add({kBatch, 4}, 1, {1, 3});
                add({2, 3, 1, 5}, 1, {4, 2});
            },
    },
    {
        .name = "sample",
        .summary = "x at places between its elements: for each axis the weights of the nearest, "
                   "two linear or four cubic taps, differentiated `orders` times",
        .inputs = {{"x"}, {"coordinates"}},
        .attrs = kSampleAttrs,
        .op_class = OpClass::kInjective,
        .infer = infer_sample,
        .compute = compute_float([](auto& c) {
            const List size = spatial_extents(c.in_shape(0));
            const auto out = c.coords();
            std::vector<AxisSample<std::remove_reference_t<decltype(c)>>> samples;
            for (size_t i = 0; i < size.size(); ++i)
                samples.push_back(
                    axis_sample(c, coordinate(c, out[0], spatial_part(out), i, size.size()),
                                c.attrs().integers("orders")[i]));
            decltype(c.coords()) place;
            place.axis.push_back(out[0]);
            place.axis.push_back(out[1]);
            return sum_taps(c, samples, size, place);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), x = v.in(0), at = v.in(1);
            return {apply_one(op("sample_spread"), {g, at},
                              spread_attrs(v.attrs, spatial_extents(x.shape()))),
                    coordinate_cotangent(g, x, at, v.attrs)};
        },
        .onnx = {{"GridSample", 16, import_grid_sample}},
        .samples =
            [](Samples& s) {
                each_sample([&](const Shape& x, const Shape& grid, const Attrs& attrs) {
                    s.add({x, grid}, attrs);
                });
            },
    },
    {
        .name = "sample_spread",
        .summary = "the adjoint of sample by x: each y is added to the elements it was made of",
        .inputs = {{"y"}, {"coordinates"}},
        .attrs = kSpreadAttrs,
        .op_class = OpClass::kInjective,
        .infer = infer_sample_spread,
        .compute = compute_float([](auto& c) {
            const List &size = c.attrs().integers("extents"),
                       places = spatial_extents(c.in_shape(0));
            const bool has_zeros = c.attrs().integer("padding") == kZeros;
            const auto out = c.coords();
            // Gather form: each element loops over all positions. Slower than atomic adds where
            // threads run in parallel, but deterministic.
            return sum_over(c, places, [&](const auto& p) {
                auto weight = c.value(1);
                for (size_t i = 0; i < size.size(); ++i) {
                    const auto s = axis_sample(c, coordinate(c, out[0], p, i, size.size()),
                                               c.attrs().integers("orders")[i]);
                    auto along = c.value(0);
                    for (size_t t = 0; t < s.weights.size(); ++t) {
                        const auto at = s.first + c.index(static_cast<int64_t>(t));
                        const auto read = has_zeros ? at : padded_place(c, at, size[i]);
                        along = along + select(read == out[static_cast<int>(i) + 2], s.weights[t],
                                               c.value(0));
                    }
                    weight = weight * along;
                }
                return weight * c.in(0, joined(out[0], out[1], p));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), y = v.in(0), at = v.in(1);
            return {apply_one(op("sample"), {g, at}, sample_attrs(v.attrs)),
                    coordinate_cotangent(y, g, at, v.attrs)};
        },
        .samples =
            [](Samples& s) {
                each_sample([&](const Shape& x, const Shape& grid, const Attrs& attrs) {
                    Shape y{x[0], x[1]};
                    for (int i = 1; i + 1 < grid.rank(); ++i) y.push_back(grid[i]);
                    s.add({y, grid}, spread_attrs(attrs, spatial_extents(x)));
                });
            },
        .tolerance = {.f32 = 2e-5},
    },
    {
        .name = "roi_align",
        .summary = "mean (or maximum) of bilinear samples of x in each bin of each region "
                   "(x1, y1, x2, y2)",
        .inputs = {{"x"}, {"regions"}, {"images", TypeClass::kInteger}},
        .attrs = kRoiAlignAttrs,
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_regions(call, 4));
            if (call.shape(2) != Shape{call.shape(1)[0]})
                return invalid_argument("expected an image's number for each region");
            return call.one(call.dtype(0), region_shape(call));
        },
        .compute = compute_float([](auto& c) {
            const auto out = c.coords();
            decltype(c.coords()) first;
            first.axis.push_back(out[0]);
            const auto image = image_index(c, c.in(2, first), c.in_dim(0, 0));
            const auto y = region_axis(c, out[0], 1, c.attrs().integer("height"));
            const auto x = region_axis(c, out[0], 0, c.attrs().integer("width"));
            const bool takes_max = c.attrs().flag("takes_max");
            const auto sampled = [&](auto i, auto j) {
                const auto v = neighbours(c, sample_place(c, y, out[2], i), c.in_dim(0, 2));
                const auto h = neighbours(c, sample_place(c, x, out[3], j), c.in_dim(0, 3));
                const auto corner = [&](auto row, auto column, auto weight) {
                    decltype(c.coords()) place;
                    for (const auto& k : {image, out[1], row, column}) place.axis.push_back(k);
                    return select(logical_and(v.inside, h.inside), c.in(0, place) * weight,
                                  c.value(0));
                };
                const auto a = corner(v.low, h.low, (1.0 - v.weight) * (1.0 - h.weight));
                const auto b = corner(v.low, h.high, (1.0 - v.weight) * h.weight);
                const auto d = corner(v.high, h.low, v.weight * (1.0 - h.weight));
                const auto e = corner(v.high, h.high, v.weight * h.weight);
                // ONNX takes the largest weighted corner, not the largest sample.
                return takes_max ? max(max(a, b), max(d, e)) : a + b + d + e;
            };
            const auto count = c.number(y.samples * x.samples);
            if (takes_max) {
                const auto best = c.reduce_max(y.samples, [&](auto i) {
                    return c.reduce_max(x.samples, [&](auto j) { return sampled(i, j); });
                });
                return select(count < 1.0, c.value(0), best);
            }
            const auto total = c.sum(y.samples, [&](auto i) {
                return c.sum(x.samples, [&](auto j) { return sampled(i, j); });
            });
            return total / max(count, c.value(1));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            if (v.attrs.flag("takes_max"))
                return {fail(v.in(0), unsupported("roi_align: no gradient of the maximum"))};
            Attrs attrs = v.attrs;
            attrs.set("shape", v.in(0).shape());
            return {apply_one(op("roi_align_spread"), {v.cotangent(), v.in(1), v.in(2)}, attrs),
                    Tensor(), Tensor()};
        },
        .onnx = {{"RoiAlign", 10, import_roi_align}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](Dim regions, int64_t height, int64_t ratio, int64_t half,
                                      int64_t takes_max, double scale) {
                    Sample& sample = s.add_typed({{DType::kF32, {2, 3, 5, 6}},
                                                  {DType::kF32, {regions, 4}},
                                                  {DType::kI64, {regions}}},
                                                 {{"height", height},
                                                  {"width", int64_t{3}},
                                                  {"sampling_ratio", ratio},
                                                  {"half_pixel", half},
                                                  {"takes_max", takes_max},
                                                  {"spatial_scale", scale}});
                    sample.low = 0;
                    sample.high = 6;
                    sample.gradient = false;
                };
                add(4, 2, 2, 1, 0, 1);
                add(kBatch, 3, 0, 0, 0, 0.5);
                add(3, 1, 2, 0, 1, 1);
            },
    },
    {
        .name = "roi_align_spread",
        .summary = "the adjoint of roi_align by x: each bin's y is added to the elements it is the "
                   "mean of",
        .inputs = {{"y"}, {"regions"}, {"images", TypeClass::kInteger}},
        .attrs = {{"height", AttrType::kInteger},
                  {"width", AttrType::kInteger},
                  {"sampling_ratio", AttrType::kInteger, 0},
                  {"half_pixel", AttrType::kInteger, 1},
                  {"takes_max", AttrType::kInteger, 0},
                  {"spatial_scale", AttrType::kFloat, 1},
                  {"shape", AttrType::kShape}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            const Shape &y = call.shape(0), &x = call.attrs.shape("shape");
            const bool fits = y.rank() == 4 && x.rank() == 4 && y[1] == x[1] &&
                              y[2] == Dim(call.attrs.integer("height")) &&
                              y[3] == Dim(call.attrs.integer("width")) &&
                              call.shape(1) == Shape{y[0], 4} && call.shape(2) == Shape{y[0]};
            if (!fits)
                return invalid_argument(
                    "expected y [R, C, height, width], regions [R, 4] and "
                    "images [R] for x [N, C, H, W]");
            return call.one(call.dtype(0), x);
        },
        .compute = compute_float([](auto& c) {
            using C = std::remove_reference_t<decltype(c)>;
            const auto out = c.coords();
            // Total weight of one bin's samples at the element, along one axis.
            const auto weight = [&](const RegionAxis<C>& axis, auto bin, int spatial) {
                return c.sum(axis.samples, [&](auto i) {
                    const auto n = neighbours(c, sample_place(c, axis, bin, i), c.dim(spatial));
                    const auto here = out[spatial];
                    const auto low = select(n.low == here, 1.0 - n.weight, c.value(0));
                    const auto high = select(n.high == here, n.weight, c.value(0));
                    return select(n.inside, low + high, c.value(0));
                });
            };
            // Gather form: each element loops over all regions. Slower than atomic adds where
            // threads run in parallel, but deterministic.
            return c.sum(c.in_dim(1, 0), [&](auto r) {
                decltype(c.coords()) first;
                first.axis.push_back(r);
                const auto is_here = image_index(c, c.in(2, first), c.dim(0)) == out[0];
                const auto y = region_axis(c, r, 1, c.attrs().integer("height"));
                const auto x = region_axis(c, r, 0, c.attrs().integer("width"));
                const auto total = c.sum(c.in_dim(0, 2), [&](auto row) {
                    const auto along = c.sum(c.in_dim(0, 3), [&](auto column) {
                        decltype(c.coords()) place;
                        for (const auto& k : {r, out[1], row, column}) place.axis.push_back(k);
                        return weight(x, column, 3) * c.in(0, place);
                    });
                    return weight(y, row, 2) * along;
                });
                const auto count = max(c.number(y.samples * x.samples), c.value(1));
                return select(is_here, total / count, c.value(0));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            Attrs attrs;
            for (const AttrSpec& spec : kRoiAlignAttrs)
                attrs.set(spec.name, *v.attrs.find(spec.name));
            return {apply_one(op("roi_align"), {v.cotangent(), v.in(1), v.in(2)}, attrs), Tensor(),
                    Tensor()};
        },
        .samples =
            [](Samples& s) {
                const auto add = [&s](Dim regions, int64_t height, int64_t ratio, int64_t half,
                                      double scale) {
                    Sample& sample = s.add_typed({{DType::kF32, {regions, 2, height, 2}},
                                                  {DType::kF32, {regions, 4}},
                                                  {DType::kI64, {regions}}},
                                                 {{"height", height},
                                                  {"width", int64_t{2}},
                                                  {"sampling_ratio", ratio},
                                                  {"half_pixel", half},
                                                  {"spatial_scale", scale},
                                                  {"shape", Shape{2, 2, 5, 4}}});
                    sample.low = 0;
                    sample.high = 5;
                    sample.gradient = false;
                };
                add(4, 2, 2, 1, 1);
                add(kBatch, 3, 0, 0, 0.5);
                add(1, 1, 1, 0, 1);
            },
        .tolerance = {.f32 = 2e-5},
    },
    {
        .name = "max_roi_pool",
        .summary = "the largest element of x in each bin of each region (image, x1, y1, x2, y2)",
        .inputs = {{"x"}, {"regions"}},
        .attrs = kMaxRoiPoolAttrs,
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_regions(call, 5));
            return call.one(call.dtype(0), region_shape(call));
        },
        .compute = compute_float([](auto& c) {
            const auto bin = region_bin(c);
            const auto best =
                c.reduce_max(bin.count(), [&](auto i) { return c.in(0, bin.place(i)); });
            return select(c.number(bin.count()) < 1.0, c.value(0), best);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {spread_to_largest(v.cotangent(), v.in(0), v.in(1), v.attrs), Tensor()};
        },
        .onnx = {{"MaxRoiPool", 1, import_max_roi_pool}},
        .samples = max_roi_pool_samples,
    },
    {
        .name = "max_roi_pool_index",
        .summary = "where in its plane of x the first largest element of each bin is, as f32; -1 "
                   "where the bin is empty",
        .inputs = {{"x"}, {"regions"}},
        .attrs = kMaxRoiPoolAttrs,
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_regions(call, 5));
            constexpr int64_t kMostExact = 1 << 24;  // integers exact in f32
            const Shape& x = call.shape(0);
            if (x[2].count * x[3].count > kMostExact)
                return unsupported("a plane of more than " + std::to_string(kMostExact) +
                                   " elements");
            return call.one(DType::kF32, region_shape(call));
        },
        .compute = compute_float([](auto& c) {
            const auto bin = region_bin(c);
            const auto best = bin.place(
                c.to_index(c.argmax(bin.count(), [&](auto i) { return c.in(0, bin.place(i)); })));
            const auto index = c.number(best[2] * c.in_dim(0, 3) + best[3]);
            return select(c.number(bin.count()) < 1.0, c.value(-1), index);
        }),
        .stops_gradient = true,
        .samples = max_roi_pool_samples,
    },
};

}  // namespace

extern constinit const std::span<const OpDef> image_ops{kOps};

Tensor resample(const Tensor& x, int axis, const AxisTaps& taps) {
    return apply_one(op("resample"), {x},
                     {{"axis", int64_t{axis}},
                      {"extent", taps.extent},
                      {"indices", taps.indices},
                      {"weights", taps.weights}});
}

namespace {

/// Returns true if x is an image of fixed extents; fails its trace if not.
bool is_image(const Tensor& x, std::string_view what) {
    if (!x.ok()) return false;
    const Status status = check_image(x.shape());
    if (!status.ok()) x.trace()->fail(status.with_context(what));
    return status.ok();
}

}  // namespace

Tensor interpolate(const Tensor& x, const std::vector<int64_t>& extents,
                   const InterpolateOptions& options) {
    if (!is_image(x, "interpolate")) return failed_like(x);
    const List to = for_each_axis(x, extents, static_cast<size_t>(x.rank() - 2), 1, "interpolate");
    if (!x.trace()->status().ok()) return failed_like(x);
    const bool is_nearest = options.mode == Interpolation::kNearest;
    ResizeRule rule{.mode = options.mode,
                    .coordinates = is_nearest              ? ResizeCoordinates::kAsymmetric
                                   : options.align_corners ? ResizeCoordinates::kAlignCorners
                                                           : ResizeCoordinates::kHalfPixel,
                    .rounding = ResizeRounding::kFloor,
                    .cubic_a = options.antialias ? -0.5 : -0.75,
                    .antialias = options.antialias,
                    .exclude_outside = options.antialias};
    Tensor y = x;
    for (size_t i = 0; i < to.size(); ++i) {
        const int axis = static_cast<int>(i) + 2;
        const int64_t from = x.dim(axis).count;
        if (to[i] < 1 || to[i] > kMostTabulated || from > kMostTabulated)
            return fail(x, invalid_argument("interpolate: to extent " + std::to_string(to[i])));
        if (to[i] == from) continue;
        const double scale = static_cast<double>(to[i]) / static_cast<double>(from);
        y = resample(y, axis, resize_taps(rule, {.from = from, .to = to[i], .scale = scale}));
    }
    return y;
}

Tensor pad(const Tensor& x, const std::vector<int64_t>& pad_begin,
           const std::vector<int64_t>& pad_end, PadMode mode) {
    if (mode == PadMode::kConstant) return pad(x, pad_begin, pad_end, 0.0);
    if (!x.ok()) return x;
    const auto rank = static_cast<size_t>(x.rank());
    if (pad_begin.size() != rank || pad_end.size() != rank)
        return fail(
            x, invalid_argument("pad: needs two numbers for each axis of " + to_string(x.shape())));
    const bool is_bool = x.dtype() == DType::kBool;
    Tensor y = is_bool ? cast(x, DType::kI32) : x;
    for (size_t i = 0; i < rank; ++i) {
        if (pad_begin[i] == 0 && pad_end[i] == 0) continue;
        const int axis = static_cast<int>(i);
        const Dim extent = x.dim(axis);
        const int64_t total = extent.count + pad_begin[i] + pad_end[i];
        if (extent.is_batch || extent.count == 0 || total < 1 || total > kMostTabulated)
            return fail(x, invalid_argument("pad: axis " + std::to_string(i) + " of " +
                                            to_string(x.shape()) + " to " + std::to_string(total) +
                                            " elements"));
        AxisTaps taps(extent.count, total, 1);
        for (int64_t k = 0; k < total; ++k)
            taps.set(0, k, padded_index(k - pad_begin[i], extent.count, mode), 1);
        y = resample(y, axis, taps);
    }
    return is_bool ? cast(y, DType::kBool) : y;
}

Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options) {
    if (!is_image(x, "grid_sample") || !grid.ok()) return failed_like(x);
    const List size = spatial_extents(x.shape());
    if (grid.rank() < 3 || grid.dim(-1) != Dim(static_cast<int64_t>(size.size())))
        return fail(x, invalid_argument("grid_sample: the grid is " + to_string(grid.shape()) +
                                        ", expected [" + to_string(x.dim(0)) + ", places..., " +
                                        std::to_string(size.size()) + "]"));
    HostTensor extents(grid.dtype(), Shape{static_cast<int64_t>(size.size())});
    for (size_t i = 0; i < size.size(); ++i)
        extents.set(static_cast<int64_t>(size.size() - 1 - i), static_cast<double>(size[i]));
    const Tensor n = x.trace()->constant(std::move(extents));
    // From [-1, 1] to element coordinates.
    const Tensor at =
        options.align_corners ? (grid + 1.0) * (n - 1.0) * 0.5 : ((grid + 1.0) * n - 1.0) * 0.5;
    return apply_one(op("sample"), {x, at},
                     {{"mode", static_cast<int64_t>(options.mode)},
                      {"padding", static_cast<int64_t>(options.padding)},
                      {"align_corners", int64_t{options.align_corners}},
                      {"orders", List(size.size(), 0)}});
}

Tensor affine_grid(const Tensor& theta, const std::vector<int64_t>& extents, bool align_corners) {
    if (!theta.ok()) return theta;
    const auto rank = static_cast<int64_t>(extents.size());
    const Shape shape = theta.shape();
    bool fits = rank >= 2 && rank <= 3 && shape.rank() == 3 && shape[1] == Dim(rank) &&
                shape[2] == Dim(rank + 1);
    double places = 1;
    for (int64_t e : extents) {
        fits = fits && e >= 1 && e <= kMostTabulated;
        places *= static_cast<double>(e);
    }
    if (!fits || places > 1 << 22)
        return fail(theta, invalid_argument("affine_grid: theta is " + to_string(shape) + " for " +
                                            std::to_string(rank) +
                                            " extents: expected [N, 2, 3] or [N, 3, 4]"));
    const int64_t count = count_of(extents);
    if (!theta.trace()->has_room(
            1, static_cast<uint64_t>(count * (rank + 1)) * size_bytes(theta.dtype())))
        return failed_like(theta);
    HostTensor base(theta.dtype(), Shape{count, rank + 1});
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i;
        for (int64_t k = 0; k < rank; ++k) {  // the innermost axis first
            const int64_t n = extents[static_cast<size_t>(rank - 1 - k)];
            const auto at = static_cast<double>(rest % n), size = static_cast<double>(n);
            const double place =
                align_corners ? (n == 1 ? -1 : 2 * at / (size - 1) - 1) : (2 * at + 1) / size - 1;
            base.set(i * (rank + 1) + k, place);
            rest /= n;
        }
        base.set(i * (rank + 1) + rank, 1);
    }
    Shape result{shape[0]};
    for (int64_t e : extents) result.push_back(Dim(e));
    result.push_back(Dim(rank));
    return reshape(matmul(theta.trace()->constant(std::move(base)), theta, false, true), result);
}

namespace {

/// Fails x's trace unless x is [N, C, H, W] with fixed C, H, W that the factor divides: C by its
/// square, or H and W.
bool splits_into_squares(const Tensor& x, int64_t factor, bool channels, std::string_view what) {
    if (!x.ok()) return false;
    bool fits = x.rank() == 4 && factor >= 1 && factor <= 1 << 10;
    for (int i = 1; fits && i < 4; ++i) fits = !x.dim(i).is_batch;
    if (fits && channels) fits = x.dim(1).count % (factor * factor) == 0;
    if (fits && !channels) fits = x.dim(2).count % factor == 0 && x.dim(3).count % factor == 0;
    if (!fits)
        x.trace()->fail(invalid_argument(std::string(what) + ": " + to_string(x.shape()) + " by " +
                                         std::to_string(factor)));
    return fits;
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, int64_t factor) {
    if (!splits_into_squares(x, factor, true, "pixel_shuffle")) return failed_like(x);
    const Dim n = x.dim(0), h = x.dim(2), w = x.dim(3);
    const int64_t c = x.dim(1).count / (factor * factor);
    const Tensor squares = transpose(reshape(x, {n, c, factor, factor, h, w}), {0, 1, 4, 2, 5, 3});
    return reshape(squares, {n, c, h.count * factor, w.count * factor});
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor) {
    if (!splits_into_squares(x, factor, false, "pixel_unshuffle")) return failed_like(x);
    const Dim n = x.dim(0), c = x.dim(1);
    const int64_t h = x.dim(2).count / factor, w = x.dim(3).count / factor;
    const Tensor squares = transpose(reshape(x, {n, c, h, factor, w, factor}), {0, 1, 3, 5, 2, 4});
    return reshape(squares, {n, c.count * factor * factor, h, w});
}

namespace {

/// Positions of a window's taps without an offset: [taps, windows, axes], innermost axis first.
Tensor tap_places(const Tensor& x, const Window& w, const List& count) {
    const int64_t taps = count_of(w.kernel), windows = count_of(count);
    const auto rank = static_cast<int64_t>(w.rank());
    if (!x.trace()->has_room(1,
                             static_cast<uint64_t>(taps * windows * rank) * size_bytes(x.dtype())))
        return failed_like(x);
    HostTensor places(x.dtype(), Shape{taps, windows, rank});
    for (int64_t k = 0; k < taps; ++k) {
        for (int64_t p = 0; p < windows; ++p) {
            int64_t tap = k, window = p;
            for (size_t i = w.rank(); i-- > 0;) {
                const int64_t at = window % count[i] * w.strides[i] - w.low[i] +
                                   tap % w.kernel[i] * w.dilations[i];
                places.set((k * windows + p) * rank + (rank - 1 - static_cast<int64_t>(i)),
                           static_cast<double>(at));
                tap /= w.kernel[i];
                window /= count[i];
            }
        }
    }
    return x.trace()->constant(std::move(places));
}

}  // namespace

Tensor deform_conv(const Tensor& x, const Tensor& weight, const Tensor& offset, const Tensor& mask,
                   const Tensor& bias, const ConvOptions& options, int64_t offset_groups) {
    if (!is_image(x, "deform_conv") || !weight.ok() || !offset.ok()) return failed_like(x);
    if (weight.rank() != x.rank())
        return fail(x, invalid_argument("deform_conv: weights are " + to_string(weight.shape())));
    const PaddedWindow padded =
        padded_window(x, spatial_extents(weight.shape()), options.strides, options.dilations,
                      options.pad_begin, options.pad_end, "deform_conv");
    if (!x.trace()->status().ok()) return failed_like(x);
    const List size = spatial_extents(x.shape()), count = padded.counts(size);
    Status fits = check_window(padded.window, size, count);
    double places = static_cast<double>(size.size());
    for (size_t i = 0; i < size.size(); ++i)
        places *= static_cast<double>(padded.window.kernel[i]) * static_cast<double>(count[i]);
    if (fits.ok() && places > 1 << 22) fits = unsupported("more than 2^22 places to read");
    if (!fits.ok()) return fail(x, fits.with_context("deform_conv"));
    const Dim n = x.dim(0);
    const int64_t taps = count_of(padded.window.kernel), windows = count_of(count);
    const auto rank = static_cast<int64_t>(size.size()), channels = x.dim(1).count;
    const int64_t groups = offset_groups;
    const Shape expected = shape_of(n, Dim(groups * taps * rank), count);
    if (groups < 1 || channels % groups != 0 || offset.shape() != expected ||
        (mask.trace() != nullptr && mask.shape() != shape_of(n, Dim(groups * taps), count)))
        return fail(x, invalid_argument("deform_conv: offset is " + to_string(offset.shape()) +
                                        ", expected " + to_string(expected) +
                                        ", and as much of a mask for each axis"));
    const Dim images(n.count * groups, n.is_batch);
    const Tensor moves =
        flip(transpose(reshape(offset, {images, taps, rank, windows}), {0, 1, 3, 2}), {3});
    Shape split = shape_of(images, Dim(channels / groups), size);
    Tensor read =
        apply_one(op("sample"), {reshape(x, split), moves + tap_places(x, padded.window, count)},
                  {{"orders", List(size.size(), 0)}});
    if (mask.trace() != nullptr) read = read * reshape(mask, {images, 1, taps, windows});
    // A convolution over the patches: each window has one column.
    const Tensor patches = reshape(read, {n, channels * taps, windows});
    const Tensor rows = reshape(weight, {weight.dim(0), weight.dim(1).count * taps, 1});
    const Tensor y = conv(patches, rows, bias, {.groups = options.groups});
    return y.ok() ? reshape(y, shape_of(n, weight.dim(0), count)) : y;
}

}  // namespace hearth
