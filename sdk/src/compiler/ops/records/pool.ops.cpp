// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Pooling: sums and maxima over sliding windows. Averages are sums divided by counts known when the
// graph is built; the gradient of a maximum goes to the first element that attains it.

#include "compiler/ops/onnx/conv_onnx.hpp"
#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/shared/windows.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

constexpr FixedList<AttrSpec, 12> kWindowAttrs = {{"kernel", AttrType::kIntegers},
                                                  {"strides", AttrType::kIntegers},
                                                  {"dilations", AttrType::kIntegers},
                                                  {"low", AttrType::kIntegers},
                                                  {"extents", AttrType::kIntegers}};
constexpr FixedList<AttrSpec, 12> kIndexAttrs = {
    {"kernel", AttrType::kIntegers},        {"strides", AttrType::kIntegers},
    {"dilations", AttrType::kIntegers},     {"low", AttrType::kIntegers},
    {"extents", AttrType::kIntegers},       {"column_major", AttrType::kInteger, 0},
    {"whole_tensor", AttrType::kInteger, 0}};
constexpr FixedList<AttrSpec, 12> kBackAttrs = {
    {"kernel", AttrType::kIntegers},    {"strides", AttrType::kIntegers},
    {"dilations", AttrType::kIntegers}, {"low", AttrType::kIntegers},
    {"count", AttrType::kIntegers},     {"extents", AttrType::kIntegers}};

Window pool_window(const Attrs& attrs) {
    return Window(attrs, attrs.integers("kernel"));
}

Attrs window_attrs(const Window& w, const List& count) {
    Attrs attrs = w.attrs();
    attrs.set("kernel", w.kernel);
    attrs.set("extents", count);
    return attrs;
}

/// Attributes of the adjoint: from `count` windows back to `size` elements.
Attrs back_attrs(const Window& w, const List& count, const List& size) {
    Attrs attrs = window_attrs(w, size);
    attrs.set("count", count);
    return attrs;
}

Status check_spatial(const Shape& x) {
    bool is_fixed = x.rank() >= 3 && x.rank() <= 5;
    for (int i = 2; is_fixed && i < x.rank(); ++i) is_fixed = !x[i].is_batch && x[i].count > 0;
    if (is_fixed) return {};
    return invalid_argument("expected batch, channels and 1 to 3 fixed, positive spatial extents");
}

Status infer_pool_as(InferContext& call, DType dtype) {
    const Shape& x = call.shape(0);
    HEARTH_TRY(check_spatial(x));
    const List& count = call.attrs.integers("extents");
    HEARTH_TRY(check_window(pool_window(call.attrs), spatial_extents(x), count));
    return call.one(dtype, shape_of(x[0], x[1], count));
}

Status infer_pool(InferContext& call) {
    return infer_pool_as(call, call.dtype(0));
}

Status infer_back(InferContext& call) {
    const Shape& y = call.shape(0);
    HEARTH_TRY(check_spatial(y));
    const List &size = call.attrs.integers("extents"), &count = call.attrs.integers("count");
    HEARTH_TRY(check_window(pool_window(call.attrs), size, count));
    if (spatial_extents(y) != count)
        return invalid_argument("expected " + to_string(AttrValue(count)) + " windows");
    return call.one(call.dtype(0), shape_of(y[0], y[1], size));
}

/// Padding value of a maximum: the identity of max.
double least_like(double) {
    return -HUGE_VAL;
}
int64_t least_like(int64_t) {
    return INT64_MIN;
}
Scalar least_like(Scalar x) {
    const ScalarType type = x.type();
    const double least = is_floating(type)          ? -HUGE_VAL
                         : is_unsigned(type)        ? 0.0
                         : type == ScalarType::kI64 ? -0x1p63
                                                    : double{INT32_MIN};
    return x.arena->constant(least, type);
}

// x: [N, C, S...]; calls add(attributes of the pool, x's shape).
template <class F>
void each_pool(F add) {
    const auto pool = [&](const Shape& x, List kernel, List strides, List dilations, List low,
                          List high) {
        PaddedWindow w;
        w.window.kernel = kernel;
        w.window.strides = strides;
        w.window.dilations = dilations;
        w.window.low = low;
        w.high = high;
        add(w.window, x, w.counts(spatial_extents(x)));
    };
    pool({2, 3, 9}, {3}, {2}, {1}, {0}, {0});
    pool({kBatch, 2, 4, 6}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0});
    pool({1, 2, 7, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1});
    pool({1, 2, 7, 6}, {3, 2}, {1, 3}, {2, 1}, {1, 0}, {2, 0});
    pool({2, 1, 5, 5}, {2, 3}, {2, 2}, {2, 2}, {0, 2}, {1, 1});
    pool({kBatch, 1, 3, 4, 3}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 0});
    pool({1, 1, 2, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0});
    pool({3, 5, 17, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1});
}

void pool_samples(Samples& s) {
    each_pool([&](const Window& w, const Shape& x, const List& count) {
        s.add({x}, window_attrs(w, count));
    });
}

void max_samples(Samples& s) {
    pool_samples(s);
    const Window w = [] {
        Window made;
        made.kernel = made.strides = {2, 2};
        made.dilations = made.low = {1, 1};
        return made;
    }();
    for (DType dtype : {DType::kI8, DType::kU8, DType::kI32})
        s.add_typed({{dtype, {1, 2, 5, 4}}}, window_attrs(w, {3, 3})).high = 20;
}

constinit const OpDef kOps[] = {
    {
        .name = "max_pool",
        .summary = "the largest element of each window; padding counts as minus infinity",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = kWindowAttrs,
        .op_class = OpClass::kInjective,
        .infer = infer_pool,
        .compute = compute_any([](auto& c) {
            const Window w = pool_window(c.attrs());
            const List size = spatial_extents(c.in_shape(0)), count = c.attrs().integers("extents");
            const auto out = c.coords();
            return largest_over(c, w.kernel, [&](const auto& k) {
                const auto tap = tap_of(c, w, size, count, spatial_part(out), k);
                const auto x = c.in(0, joined(out[0], out[1], tap.at));
                return select(tap.inside, x, least_like(x));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor index = apply_one(op("max_pool_index"), {v.in(0)}, v.attrs);
            return {apply_one(op("window_scatter"), {v.cotangent(), index},
                              back_attrs(pool_window(v.attrs), v.attrs.integers("extents"),
                                         spatial_extents(v.in(0).shape())))};
        },
        .onnx_export = onnx_export::max_pool,
        .onnx = {{"MaxPool", 1, import_max_pool}},
        .samples = max_samples,
    },
    {
        .name = "max_pool_index",
        .summary = "where the first largest element of each window is: its index in the plane, or "
                   "in the whole tensor",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = kIndexAttrs,
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status { return infer_pool_as(call, DType::kI64); },
        .compute = compute_any([](auto& c) {
            const Window w = pool_window(c.attrs());
            const List size = spatial_extents(c.in_shape(0)), count = c.attrs().integers("extents");
            const auto out = c.coords();
            const auto tap_at = [&](auto i) {
                return tap_of(c, w, size, count, spatial_part(out), place_in(c, w.kernel, i));
            };
            const auto best = c.to_index(c.argmax(c.index(count_of(w.kernel)), [&](auto i) {
                const auto tap = tap_at(i);
                const auto x = c.in(0, joined(out[0], out[1], tap.at));
                return select(tap.inside, x, least_like(x));
            }));
            const auto at = tap_at(best).at;
            auto index = c.index(0);
            for (int i = 0; i < at.rank(); ++i) {
                const int axis = c.attrs().flag("column_major") ? at.rank() - 1 - i : i;
                index = index * c.index(size[static_cast<size_t>(axis)]) + at[axis];
            }
            if (c.attrs().flag("whole_tensor"))
                index = index + (out[0] * c.dim(1) + out[1]) * c.index(count_of(size));
            return c.number(index);
        }),
        .stops_gradient = true,
        .samples =
            [](Samples& s) {
                each_pool([&](const Window& w, const Shape& x, const List& count) {
                    Attrs attrs = window_attrs(w, count);
                    s.add({x}, attrs);
                    attrs.set("column_major", int64_t{1});
                    attrs.set("whole_tensor", int64_t{1});
                    s.add({x}, attrs);
                });
            },
    },
    {
        .name = "window_scatter",
        .summary = "x[n,c,q] = sum of y[n,c,p] over the windows p that reach q and have index q",
        .inputs = {{"y", TypeClass::kNumber}, {"indices", TypeClass::kInteger}},
        .attrs = kBackAttrs,
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            if (call.shape(0) != call.shape(1))
                return invalid_argument("indices must have the shape of y");
            return infer_back(call);
        },
        .compute = compute_any([](auto& c) {
            const Window w = pool_window(c.attrs());
            const List count = c.attrs().integers("count");
            const auto out = c.coords();
            const auto here = index_in(c, c.attrs().integers("extents"), spatial_part(out));
            return sum_over(c, pairs_of(w), [&](const auto& j) {
                const auto pair = pair_of(c, w, count, spatial_part(out), j);
                const auto from = joined(out[0], out[1], pair.window);
                const auto is_here = c.to_index(c.in(1, from)) == here;
                return select(logical_and(pair.inside, is_here), c.in(0, from), c.value(0));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const auto planes = [](const Tensor& x) { return flatten(x, 2, -1); };
            const Tensor picked = gather_elements(planes(v.cotangent()), planes(v.in(1)), 2);
            return {reshape(picked, v.in(0).shape()), Tensor()};
        },
        .samples =
            [](Samples& s) {
                // Each index lies in its window, as those of max_pool_index do: windows cover the
                // whole plane.
                const auto add = [&s](Dim batch, const List& size, const List& count) {
                    Window w;
                    w.kernel = w.low = size;
                    w.strides = w.dilations = List(size.size(), 1);
                    for (size_t i = 0; i < size.size(); ++i) {
                        w.low[i] = count[i] - 1;
                        w.kernel[i] = size[i] + count[i] - 1;
                    }
                    const Shape y = shape_of(batch, 2, count);
                    Sample& sample = s.add_typed({{DType::kF32, y}, {DType::kI64, y}},
                                                 back_attrs(w, count, size));
                    sample.low = 0;
                    sample.high = static_cast<double>(count_of(size));
                };
                add(2, {5}, {3});
                add(kBatch, {4, 3}, {2, 2});
                add(1, {3, 2, 2}, {2, 2, 1});
            },
    },
    {
        .name = "window_sum",
        .summary = "the sum of each window; padding counts as zero",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = kWindowAttrs,
        .op_class = OpClass::kInjective,
        .infer = infer_pool,
        .compute = compute_any([](auto& c) {
            const Window w = pool_window(c.attrs());
            const List size = spatial_extents(c.in_shape(0)), count = c.attrs().integers("extents");
            const auto out = c.coords();
            return sum_over(c, w.kernel, [&](const auto& k) {
                const auto tap = tap_of(c, w, size, count, spatial_part(out), k);
                return select(tap.inside, c.in(0, joined(out[0], out[1], tap.at)), c.value(0));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {apply_one(op("window_spread"), {v.cotangent()},
                              back_attrs(pool_window(v.attrs), v.attrs.integers("extents"),
                                         spatial_extents(v.in(0).shape())))};
        },
        .onnx_export = onnx_export::window_sum,
        .onnx = {{"AveragePool", 1, import_average_pool}, {"LpPool", 1, import_lp_pool}},
        .samples = pool_samples,
    },
    {
        .name = "window_spread",
        .summary =
            "the adjoint of window_sum: each element is the sum of the windows that reach it",
        .inputs = {{"y", TypeClass::kNumber}},
        .attrs = kBackAttrs,
        .op_class = OpClass::kInjective,
        .infer = infer_back,
        .compute = compute_any([](auto& c) {
            const Window w = pool_window(c.attrs());
            const List count = c.attrs().integers("count");
            const auto out = c.coords();
            return sum_over(c, pairs_of(w), [&](const auto& j) {
                const auto pair = pair_of(c, w, count, spatial_part(out), j);
                return select(pair.inside, c.in(0, joined(out[0], out[1], pair.window)),
                              c.value(0));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {apply_one(op("window_sum"), {v.cotangent()},
                              window_attrs(pool_window(v.attrs), v.attrs.integers("count")))};
        },
        .samples =
            [](Samples& s) {
                each_pool([&](const Window& w, const Shape& x, const List& count) {
                    s.add({shape_of(x[0], x[1], count)}, back_attrs(w, count, spatial_extents(x)));
                });
            },
    },
};

// --- Functions ---

/// A pool over x: the window and the window counts; nothing after failing x's trace.
struct Pool {
    PaddedWindow padded;
    List size, count;

    Attrs attrs() const { return window_attrs(padded.window, count); }
};

std::optional<Pool> pool_over(const Tensor& x, const List& kernel, const PoolOptions& o,
                              std::string_view what) {
    if (!x.ok() || !x.trace()->status().ok()) return {};
    const Status status = check_spatial(x.shape());
    if (!status.ok() || kernel.size() + 2 > static_cast<size_t>(x.rank()) || kernel.empty()) {
        fail(x,
             invalid_argument(std::string(what) + ": a kernel of " + std::to_string(kernel.size()) +
                              " extents over " + to_string(x.shape()) +
                              (status.ok() ? std::string() : ": " + status.message())));
        return {};
    }
    Pool pool;
    pool.size = spatial_extents(x.shape());
    const List extents = for_each_axis(x, kernel, pool.size.size(), 1, what);
    pool.padded = padded_window(x, extents, o.strides.empty() ? extents : o.strides, o.dilations,
                                o.pad_begin, o.pad_end, what);
    if (!x.trace()->status().ok()) return {};
    const Window& w = pool.padded.window;
    pool.count = pool.padded.counts(pool.size);
    for (size_t i = 0; o.ceil_mode && i < pool.size.size(); ++i) {
        // One more window for the remainder, unless it would lie entirely in the padding at the
        // end.
        const int64_t span = (w.kernel[i] - 1) * w.dilations[i] + 1;
        const int64_t room = pool.size[i] + w.low[i] + pool.padded.high[i] - span;
        if (w.strides[i] > 0 && room >= 0 && room % w.strides[i] != 0 &&
            pool.count[i] * w.strides[i] < pool.size[i] + w.low[i])
            ++pool.count[i];
    }
    return pool;
}

/// Elements per window along an axis.
List held(const Pool& pool, size_t axis, bool include_padding) {
    const Window& w = pool.padded.window;
    const int64_t step = w.dilations[axis];
    const int64_t first = include_padding ? -w.low[axis] : 0;
    const int64_t end = pool.size[axis] + (include_padding ? pool.padded.high[axis] : 0);
    List counts;
    for (int64_t p = 0; p < pool.count[axis]; ++p) {
        // Number of taps before a position.
        const int64_t start = p * w.strides[axis] - w.low[axis];
        const auto taps_before = [&](int64_t place) {
            const int64_t distance = place - start;
            return distance <= 0 ? 0 : std::min((distance + step - 1) / step, w.kernel[axis]);
        };
        counts.push_back(taps_before(end) - taps_before(first));
    }
    return counts;
}

/// Elements per window: a scalar factor for each axis with uniform windows, else [windows, 1, ...]
/// factors.
Tensor window_elements(const Tensor& x, const Pool& pool, bool include_padding) {
    constexpr int64_t kMostWindows = 1 << 20;  // along one axis
    double same = 1;
    Tensor differing;
    for (size_t i = 0; i < pool.count.size(); ++i) {
        if (pool.count[i] > kMostWindows)
            return fail(x, unsupported("avg_pool: " + std::to_string(pool.count[i]) +
                                       " windows along one axis"));
        const List counts = held(pool, i, include_padding);
        if (std::ranges::all_of(counts, [&](int64_t n) { return n == counts[0]; })) {
            same *= static_cast<double>(std::max<int64_t>(counts.empty() ? 1 : counts[0], 1));
            continue;
        }
        Shape shape{pool.count[i]};
        for (size_t k = i + 1; k < pool.count.size(); ++k) shape.push_back(Dim(1));
        if (!x.trace()->has_room(1, counts.size() * size_bytes(x.dtype()))) return failed_like(x);
        HostTensor along(x.dtype(), shape);
        // A window of only padding has sum zero, and so average zero: avoid the division by zero.
        for (size_t p = 0; p < counts.size(); ++p)
            along.set(static_cast<int64_t>(p),
                      static_cast<double>(std::max<int64_t>(counts[p], 1)));
        const Tensor next = x.trace()->constant(std::move(along));
        differing = differing.trace() == nullptr ? next : differing * next;
    }
    if (differing.trace() == nullptr) return constant_like(x, same);
    return same == 1 ? differing : differing * same;
}

Tensor window_sums(const Tensor& x, const Pool& pool) {
    return apply_one(op("window_sum"), {x}, pool.attrs());
}

/// Range of an axis of `size` that adaptive pooling to `count` reduces.
struct Stretch {
    int64_t begin, end;
};
Stretch adaptive_stretch(int64_t i, int64_t size, int64_t count) {
    return {i * size / count, ((i + 1) * size + count - 1) / count};
}

/// Pools each axis in turn to the extents, with `fold` over each range.
Tensor pool_adaptively(const Tensor& x, const List& extents, std::string_view what,
                       Tensor (*fold)(const Tensor&, const Axes&, bool)) {
    if (!x.ok()) return x;
    const Status status = check_spatial(x.shape());
    if (!status.ok()) return fail(x, status.with_context(what));
    const List counts = for_each_axis(x, extents, static_cast<size_t>(x.rank() - 2), 1, what);
    if (!x.trace()->status().ok()) return failed_like(x);
    Tensor y = x;
    for (size_t i = 0; i < counts.size(); ++i) {
        const int axis = static_cast<int>(i) + 2;
        const int64_t size = x.dim(axis).count, count = counts[i];
        if (count < 1)
            return fail(x,
                        invalid_argument(std::string(what) + ": extent " + std::to_string(count)));
        if (count == size) continue;
        std::vector<Tensor> parts;
        for (int64_t p = 0; p < count; ++p) {
            const Stretch s = adaptive_stretch(p, size, count);
            parts.push_back(fold(slice(y, axis, s.begin, s.end), {axis}, true));
        }
        y = concat(parts, axis);
    }
    return y;
}

/// The kernel extents equivalent to adaptive pooling if the extents divide evenly.
std::optional<List> even_kernel(const Tensor& x, const List& extents) {
    if (!x.ok() || !check_spatial(x.shape()).ok()) return {};
    List kernel = spatial_extents(x.shape());
    if (extents.size() != kernel.size() && extents.size() != 1) return {};
    for (size_t i = 0; i < kernel.size(); ++i) {
        const int64_t count = extents[extents.size() == 1 ? 0 : i];
        if (count < 1 || kernel[i] % count != 0) return {};
        kernel[i] /= count;
    }
    return kernel;
}

Axes spatial_axes(const Tensor& x) {
    Axes axes;
    for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
    return axes;
}

bool is_one_window(const List& extents) {
    return std::ranges::all_of(extents, [](int64_t e) { return e == 1; });
}

}  // namespace

extern constinit const std::span<const OpDef> pool_ops{kOps};

Tensor max_pool(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options) {
    const std::optional<Pool> pool = pool_over(x, kernel, options, "max_pool");
    return pool ? apply_one(op("max_pool"), {x}, pool->attrs()) : failed_like(x);
}

Tensor max_pool_indices(const Tensor& x, const std::vector<int64_t>& kernel,
                        const PoolOptions& options) {
    const std::optional<Pool> pool = pool_over(x, kernel, options, "max_pool_indices");
    return pool ? apply_one(op("max_pool_index"), {x}, pool->attrs()) : failed_like(x);
}

Tensor avg_pool(const Tensor& x, const std::vector<int64_t>& kernel, const PoolOptions& options) {
    const std::optional<Pool> pool = pool_over(x, kernel, options, "avg_pool");
    if (!pool) return failed_like(x);
    return window_sums(x, *pool) / window_elements(x, *pool, options.count_include_pad);
}

Tensor lp_pool(const Tensor& x, double p, const std::vector<int64_t>& kernel,
               const PoolOptions& options) {
    const std::optional<Pool> pool = pool_over(x, kernel, options, "lp_pool");
    if (!pool) return failed_like(x);
    if (!(p > 0)) return fail(x, invalid_argument("lp_pool: p is " + std::to_string(p)));
    const Tensor size = p == 1 ? abs(x) : p == 2 ? square(x) : pow(abs(x), p);
    const Tensor total = window_sums(size, *pool);
    if (p == 1) return total;
    // The root's slope at zero is infinite; a window of zeros passes no gradient.
    const Tensor is_zero = equal(total, 0);
    const Tensor positive = where(is_zero, 1.0, total);
    return where(is_zero, 0.0, p == 2 ? sqrt(positive) : pow(positive, 1 / p));
}

Tensor adaptive_avg_pool(const Tensor& x, const std::vector<int64_t>& extents) {
    if (is_one_window(extents) && x.ok() && x.rank() > 2) return mean(x, spatial_axes(x), true);
    if (const std::optional<List> kernel = even_kernel(x, extents)) return avg_pool(x, *kernel);
    return pool_adaptively(x, extents, "adaptive_avg_pool", mean);
}

Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& extents) {
    if (const std::optional<List> kernel = even_kernel(x, extents)) return max_pool(x, *kernel);
    return pool_adaptively(x, extents, "adaptive_max_pool", max);
}

Tensor max_unpool(const Tensor& x, const Tensor& indices, const std::vector<int64_t>& extents) {
    if (!x.ok() || !indices.ok()) return failed_like(x);
    if (x.rank() < 3 || extents.size() + 2 != static_cast<size_t>(x.rank()) ||
        x.shape() != indices.shape())
        return fail(x, invalid_argument("max_unpool: x is " + to_string(x.shape()) +
                                        ", indices are " + to_string(indices.shape()) + ", to " +
                                        std::to_string(extents.size()) + " spatial extents"));
    const Shape result = shape_of(x.dim(0), x.dim(1), extents);
    const Tensor zeros = expand(constant_like(x, 0), {x.dim(0), x.dim(1), Dim(count_of(extents))});
    const Tensor planes =
        scatter_elements(zeros, flatten(indices, 2, -1), flatten(x, 2, -1), 2, "add");
    return reshape(planes, result);
}

}  // namespace hearth
