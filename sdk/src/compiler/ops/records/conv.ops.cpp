// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Convolution, its two adjoints, and the patches they are made of.
//
// A convolution is linear in each operand, so three operators are closed under differentiation.
// With x [N, C, S...], w [O, C/groups, K...] and y [N, O, P...] of one window:
//
//     conv            y from x and w
//     conv_transpose  x from y and w: the transposed convolution, and the gradient by x
//     conv_weights    w from x and y: the gradient by w
//
// GPUs have kernels for the first (conv_tiles.hpp).  Without a kernel, and for the others, the
// decomposition depends on the shape.  Usually it is implicit GEMM: a matrix product with a view of
// patches as one operand; the kernel reads x while it fills its tile and never stores the patches
// (Chellapilla et al., "High Performance Convolutional Neural Networks for Document Processing",
// 2006; implicit form: Chetlur et al., "cuDNN", 2014).  Where groups leave too little for a tile,
// it is a plain loop per element.

#include "compiler/ops/kernels/cpu_conv_strips.hpp"
#include "compiler/ops/onnx/conv_onnx.hpp"
#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/windows.hpp"

#include <algorithm>
#include <array>

namespace hearth {

namespace {

/// The three tensor shapes of a convolution and its window.
struct Conv {
    Shape x, w, y;
    Window window;
    int64_t groups = 1;

    Conv(const Attrs& attrs, Shape x_shape, Shape w_shape, Shape y_shape)
        : x(x_shape),
          w(w_shape),
          y(y_shape),
          window(attrs, spatial_extents(w_shape)),
          groups(attrs.integer("groups")) {}

    int64_t in_each() const { return x[1].count / groups; }   ///< channels of x in a group
    int64_t out_each() const { return y[1].count / groups; }  ///< channels of y in a group
    int64_t taps() const { return count_of(window.kernel); }
    int64_t places() const { return count_of(spatial_extents(y)); }
};

Conv conv_from_xw(const Attrs& attrs, const Shape& x, const Shape& w) {
    return {attrs, x, w, shape_of(x[0], w[0], attrs.integers("extents"))};
}
Conv conv_from_yw(const Attrs& attrs, const Shape& y, const Shape& w) {
    const Dim channels(w[1].count * attrs.integer("groups"));
    return {attrs, shape_of(y[0], channels, attrs.integers("extents")), w, y};
}
Conv conv_from_xy(const Attrs& attrs, const Shape& x, const Shape& y) {
    const int64_t groups = std::max<int64_t>(1, attrs.integer("groups"));
    return {attrs, x, shape_of(y[1], Dim(x[1].count / groups), attrs.integers("extents")), y};
}

Status check_operand(const char* name, const Shape& shape) {
    const int first = name[0] == 'w' ? 0 : 1;  // batches may be symbolic
    bool is_fixed = shape.rank() >= 3 && shape.rank() <= 5;
    for (int i = first; is_fixed && i < shape.rank(); ++i)
        is_fixed = !shape[i].is_batch && shape[i].count > 0;
    if (is_fixed) return {};
    return invalid_argument(std::string(name) + " is " + to_string(shape) +
                            ": expected 1 to 3 fixed, positive spatial extents behind two axes");
}

Status check_operands(const InferContext& call, const char* first, const char* second) {
    HEARTH_TRY(check_operand(first, call.shape(0)));
    HEARTH_TRY(check_operand(second, call.shape(1)));
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    if (call.shape(0).rank() != call.shape(1).rank())
        return invalid_argument(std::string(first) + " is " + to_string(call.shape(0)) + ", " +
                                second + " is " + to_string(call.shape(1)) + ": ranks differ");
    const int64_t groups = call.attrs.integer("groups");
    if (groups < 1 || groups > INT32_MAX)
        return invalid_argument("groups is " + std::to_string(groups));
    if (call.attrs.integers("extents").size() + 2 != static_cast<size_t>(call.shape(0).rank()))
        return invalid_argument("needs an extent for each spatial axis of " +
                                to_string(call.shape(0)));
    return {};
}

Status check_conv(const Conv& c) {
    if (c.x[0] != c.y[0])
        return invalid_argument("batches differ: x " + to_string(c.x) + ", y " + to_string(c.y));
    if (c.x[1].count % c.groups != 0 || c.y[1].count % c.groups != 0 ||
        c.w[1].count != c.in_each() || c.w[0] != c.y[1])
        return invalid_argument("weights " + to_string(c.w) + " do not lead from " +
                                to_string(c.x[1]) + " to " + to_string(c.y[1]) + " channels in " +
                                std::to_string(c.groups) + " groups");
    return check_window(c.window, spatial_extents(c.x), spatial_extents(c.y));
}

template <Conv (*make)(const Attrs&, const Shape&, const Shape&), Shape Conv::*result>
Status infer_conv(InferContext& call, const char* first, const char* second) {
    HEARTH_TRY(check_operands(call, first, second));
    const Conv c = make(call.attrs, call.shape(0), call.shape(1));
    HEARTH_TRY(check_conv(c));
    return call.one(call.dtype(0), c.*result);
}

// --- CPU reference ---

/// Loop bounds of a convolution over three spatial axes; missing leading axes have extent 1.
struct Loops {
    std::array<int64_t, 3> size{1, 1, 1}, kernel{1, 1, 1}, count{1, 1, 1}, stride{1, 1, 1},
        dilation{1, 1, 1}, low{0, 0, 0};

    explicit Loops(const Conv& c) {
        const List from = spatial_extents(c.x), to = spatial_extents(c.y);
        const size_t added = 3 - from.size();
        for (size_t i = 0; i < from.size(); ++i) {
            size[added + i] = from[i];
            kernel[added + i] = c.window.kernel[i];
            count[added + i] = to[i];
            stride[added + i] = c.window.strides[i];
            dilation[added + i] = c.window.dilations[i];
            low[added + i] = c.window.low[i];
        }
    }

    /// Calls f(element of a plane of x, tap, element of a plane of y) for each combination in
    /// bounds.
    template <class F>
    void each_meeting(F f) const {
        for (int64_t k0 = 0; k0 < kernel[0]; ++k0)
            for (int64_t k1 = 0; k1 < kernel[1]; ++k1)
                for (int64_t k2 = 0; k2 < kernel[2]; ++k2) each_window({k0, k1, k2}, f);
    }

  private:
    template <class F>
    void each_window(const std::array<int64_t, 3>& k, F f) const {
        const int64_t tap = (k[0] * kernel[1] + k[1]) * kernel[2] + k[2];
        const auto at = [&](size_t axis, int64_t p) {
            return p * stride[axis] - low[axis] + k[axis] * dilation[axis];
        };
        for (int64_t p0 = 0; p0 < count[0]; ++p0) {
            const int64_t q0 = at(0, p0);
            if (q0 < 0 || q0 >= size[0]) continue;
            for (int64_t p1 = 0; p1 < count[1]; ++p1) {
                const int64_t q1 = at(1, p1);
                if (q1 < 0 || q1 >= size[1]) continue;
                for (int64_t p2 = 0; p2 < count[2]; ++p2) {
                    const int64_t q2 = at(2, p2);
                    if (q2 < 0 || q2 >= size[2]) continue;
                    f((q0 * size[1] + q1) * size[2] + q2, tap,
                      (p0 * count[1] + p1) * count[2] + p2);
                }
            }
        }
    }
};

/// Calls f(element of x, of w, of y) for each product of the convolution.
template <class F>
void each_product(const Conv& c, F f) {
    const Loops loops(c);
    const int64_t in = c.in_each(), out = c.out_each(), taps = c.taps(), places = c.places();
    const int64_t plane = count_of(spatial_extents(c.x));
    for (int64_t n = 0; n < c.x[0].count; ++n) {
        for (int64_t o = 0; o < c.y[1].count; ++o) {
            const int64_t y = (n * c.y[1].count + o) * places;
            for (int64_t i = 0; i < in; ++i) {
                const int64_t x = (n * c.x[1].count + o / out * in + i) * plane;
                const int64_t w = (o * in + i) * taps;
                loops.each_meeting(
                    [&](int64_t q, int64_t k, int64_t p) { f(x + q, w + k, y + p); });
            }
        }
    }
}

enum class Role { kX, kW, kY };

/// Accumulates into `result` the products of the other two, which the call has in the order x, w,
/// y.
template <Role result, class V>
void sum_products(ReferenceContext& call, const Conv& c) {
    const std::vector<V> a = elements_of<V>(call.inputs[0]), b = elements_of<V>(call.inputs[1]);
    std::vector<V> total(static_cast<size_t>(call.outputs[0].element_count()));
    const auto at = [](int64_t i) { return static_cast<size_t>(i); };
    each_product(c, [&](int64_t x, int64_t w, int64_t y) {
        if constexpr (result == Role::kY) total[at(y)] += a[at(x)] * b[at(w)];
        if constexpr (result == Role::kX) total[at(x)] += a[at(y)] * b[at(w)];
        if constexpr (result == Role::kW) total[at(w)] += a[at(x)] * b[at(y)];
    });
    for (size_t i = 0; i < total.size(); ++i)
        store(call.outputs[0], static_cast<int64_t>(i), total[i]);
}

template <Role result, Conv (*make)(const Attrs&, const Shape&, const Shape&)>
void reference(ReferenceContext& call) {
    const Conv c = make(call.attrs, call.inputs[0].shape(), call.inputs[1].shape());
    if (is_floating(call.outputs[0].dtype()))
        sum_products<result, double>(call, c);
    else
        sum_products<result, int64_t>(call, c);
}

// --- Gradients ---

Attrs conv_attrs(const Attrs& like, List extents) {
    Attrs attrs = like;
    attrs.set("extents", std::move(extents));
    return attrs;
}

Tensor conv_node(std::string_view name, const Tensor& a, const Tensor& b, const Attrs& like,
                 const Shape& result) {
    return apply_one(op(name), {a, b}, conv_attrs(like, spatial_extents(result)));
}

// --- Decompositions ---

/// im2col: x's patches as [N, C * taps, windows].
Tensor patches(const Tensor& x, const Window& w, const List& count) {
    if (w.is_identity(spatial_extents(x.shape()), count))
        return reshape(x, {x.dim(0), x.dim(1), count_of(count)});
    Attrs attrs = w.attrs();
    attrs.set("kernel", w.kernel);
    attrs.set("extents", count);
    return apply_one(op("unfold"), {x}, attrs);
}

/// col2im, the adjoint of patches(): sums [N, C * taps, windows] into the elements they came from.
Tensor from_patches(const Tensor& p, const Window& w, const List& size, const List& count) {
    Attrs attrs = w.attrs();
    attrs.set("kernel", w.kernel);
    attrs.set("count", count);
    attrs.set("extents", size);
    return apply_one(op("fold"), {p}, attrs);
}

/// [N, groups * a, b] -> [N, groups, a, b]; x itself if there is one group.
Tensor grouped(const Tensor& x, int64_t groups) {
    if (groups == 1) return x;
    return reshape(x, {x.dim(0), groups, x.dim(1).count / groups, x.dim(2)});
}

/// [N, groups, a, b] or [N, a, b] -> [groups, a, N * b] or [a, N * b].
Tensor batch_inward(const Tensor& x, int64_t groups) {
    if (groups == 1) {
        const Tensor t = transpose(x, {1, 0, 2});
        return reshape(t, {t.dim(0), Dim(-1)});
    }
    const Tensor t = transpose(x, {1, 2, 0, 3});
    return reshape(t, {t.dim(0), t.dim(1), Dim(-1)});
}

/// True if a matrix product with `rows` rows fills enough of a tile. A group of a depthwise
/// convolution has one row.
bool fills_a_tile(DType dtype, int64_t rows, int64_t depth) {
    constexpr int64_t kLeastRows = 4, kLeastDepth = 4;
    return is_floating(dtype) && rows >= kLeastRows && depth >= kLeastDepth;
}

Tensor decompose_conv(const DecomposeContext& call) {
    const Conv c = conv_from_xw(call.attrs, call.in(0).shape(), call.in(1).shape());
    const int64_t depth = c.in_each() * c.taps();
    if (!fills_a_tile(call.in(0).dtype(), c.out_each(), depth))
        return apply_one(op("conv_direct"), {call.in(0), call.in(1)}, call.attrs);
    const Tensor columns = patches(call.in(0), c.window, spatial_extents(c.y));
    Shape weights{c.out_each(), depth};
    if (c.groups > 1) weights.insert(0, Dim(c.groups));
    const Tensor product = apply_one(
        op("matmul"), {reshape(call.in(1), weights), grouped(columns, c.groups)}, Attrs());
    return reshape(product, c.y);
}

bool has_unit_strides(const Window& window) {
    return std::ranges::all_of(window.strides, [](int64_t s) { return s == 1; });
}

/// Windows of the forward convolution, from y to x, that equals a transposed one of stride 1.
Window turned_window(const Conv& c) {
    Window back = c.window;
    for (size_t i = 0; i < back.rank(); ++i)
        back.low[i] = (back.kernel[i] - 1) * back.dilations[i] - back.low[i];
    return back;
}

/// Its weights.
Tensor turned_weights(const Conv& c, const Tensor& w) {
    const Tensor all = reshape(w, {c.groups, c.out_each(), c.in_each(), c.taps()});
    const Tensor turned = transpose(c.taps() == 1 ? all : flip(all, {3}), {0, 2, 1, 3});
    Shape shape{c.in_each(), c.out_each() * c.taps()};
    if (c.groups > 1) shape.insert(0, Dim(c.groups));
    return reshape(turned, shape);
}

/// conv_transpose of stride 1 in one group as a conv of turned weights.
std::optional<Tensor> conv_of_transposed(const Tensor& y, const Tensor& w, const Attrs& attrs) {
    const Conv c = conv_from_yw(attrs, y.shape(), w.shape());
    if (!has_unit_strides(c.window) || c.groups > 1) return {};
    std::vector<int64_t> order, spatial;
    for (int i = 0; i < w.shape().rank(); ++i) order.push_back(i);
    for (int i = 2; i < w.shape().rank(); ++i) spatial.push_back(i);
    std::swap(order[0], order[1]);
    Attrs turned = turned_window(c).attrs();
    turned.set("groups", c.groups);
    turned.set("extents", spatial_extents(c.x));
    return apply_one(op("conv"), {y, flip(transpose(w, order), spatial)}, turned);
}

Tensor decompose_conv_transpose(const DecomposeContext& call) {
    const Tensor &y = call.in(0), &w = call.in(1);
    if (call.caps != nullptr && has_conv_kernel(y.dtype(), *call.caps))
        if (const std::optional<Tensor> conv = conv_of_transposed(y, w, call.attrs)) return *conv;
    const Conv c = conv_from_yw(call.attrs, y.shape(), w.shape());
    const bool steps_by_one = has_unit_strides(c.window);
    if (steps_by_one && fills_a_tile(y.dtype(), c.in_each(), c.out_each() * c.taps())) {
        const Tensor columns = patches(y, turned_window(c), spatial_extents(c.x));
        return reshape(
            apply_one(op("matmul"), {turned_weights(c, w), grouped(columns, c.groups)}, Attrs()),
            c.x);
    }
    if (!steps_by_one && fills_a_tile(y.dtype(), c.in_each() * c.taps(), c.out_each())) {
        Shape weights{c.out_each(), c.in_each() * c.taps()};
        if (c.groups > 1) weights.insert(0, Dim(c.groups));
        const Tensor planes = reshape(y, {c.y[0], c.y[1], c.places()});
        const Tensor columns =
            apply_one(op("matmul"), {reshape(w, weights), grouped(planes, c.groups)},
                      {{"transpose_a", int64_t{1}}});
        return from_patches(reshape(columns, {c.x[0], c.x[1].count * c.taps(), c.places()}),
                            c.window, spatial_extents(c.x), spatial_extents(c.y));
    }
    return apply_one(op("conv_transpose_direct"), {y, w}, call.attrs);
}

Tensor decompose_conv_weights(const DecomposeContext& call) {
    const Tensor &x = call.in(0), &y = call.in(1);
    const Conv c = conv_from_xy(call.attrs, x.shape(), y.shape());
    const Tensor columns = patches(x, c.window, spatial_extents(c.y));
    const Tensor planes = reshape(y, {c.y[0], c.y[1], c.places()});
    if (fills_a_tile(x.dtype(), c.out_each(), c.in_each() * c.taps())) {
        const Tensor a = batch_inward(grouped(planes, c.groups), c.groups);
        const Tensor b = batch_inward(grouped(columns, c.groups), c.groups);
        return reshape(apply_one(op("matmul"), {a, b}, {{"transpose_b", int64_t{1}}}), c.w);
    }
    // One sum over batch and positions per weight.
    const Dim n = c.x[0];
    const int64_t groups = c.groups, depth = c.in_each() * c.taps();
    const Tensor left = reshape(planes, {n, groups, c.out_each(), 1, c.places()});
    const Tensor right = reshape(columns, {n, groups, 1, depth, c.places()});
    return reshape(sum(left * right, {0, 4}), c.w);
}

template <Tensor (*decompose)(const DecomposeContext&)>
std::vector<Tensor> one(DecomposeContext& call) {
    return {decompose(call)};
}

// --- Records ---

constexpr FixedList<AttrSpec, 12> kConvAttrs = {{"strides", AttrType::kIntegers},
                                                {"dilations", AttrType::kIntegers},
                                                {"low", AttrType::kIntegers},
                                                {"extents", AttrType::kIntegers},
                                                {"groups", AttrType::kInteger, 1}};

// A convolution as a sample; the padding determines the extents of y.
struct ConvCase {
    Dim batch;
    int64_t in, out, groups;
    List size, kernel, strides, dilations, low, high;
};

std::vector<ConvCase> conv_cases() {
    return {
        {2, 3, 4, 1, {7}, {3}, {1}, {1}, {1}, {1}},
        {kBatch, 2, 5, 1, {4, 5}, {3, 2}, {1, 1}, {1, 1}, {1, 0}, {1, 1}},
        {1, 2, 4, 1, {5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
        {1, 2, 4, 1, {7, 6}, {2, 3}, {2, 1}, {2, 2}, {1, 2}, {0, 2}},
        {2, 4, 8, 2, {4, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
        {2, 4, 8, 2, {5, 4}, {3, 2}, {2, 3}, {1, 1}, {1, 1}, {1, 1}},
        {kBatch, 3, 3, 3, {5, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
        {1, 2, 4, 2, {6, 5}, {3, 2}, {2, 2}, {1, 2}, {1, 0}, {1, 0}},
        {2, 6, 5, 1, {3, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
        {1, 2, 4, 1, {3, 4, 3}, {2, 3, 2}, {1, 2, 1}, {1, 1, 1}, {0, 1, 1}, {1, 1, 0}},
        {3, 16, 33, 1, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    };
}

/// Calls add(x, w, y, attrs without extents) for each case.
template <class F>
void each_case(F add) {
    for (const ConvCase& c : conv_cases()) {
        List count;
        for (size_t i = 0; i < c.size.size(); ++i)
            count.push_back(window_count(c.size[i], c.kernel[i], c.strides[i], c.dilations[i],
                                         c.low[i], c.high[i]));
        const Attrs attrs{{"strides", c.strides},
                          {"dilations", c.dilations},
                          {"low", c.low},
                          {"groups", c.groups}};
        add(shape_of(c.batch, Dim(c.in), c.size),
            shape_of(Dim(c.out), Dim(c.in / c.groups), c.kernel),
            shape_of(c.batch, Dim(c.out), count), attrs);
    }
}

void conv_samples(Samples& s) {
    each_case([&](const Shape& x, const Shape& w, const Shape& y, const Attrs& attrs) {
        s.add({x, w}, conv_attrs(attrs, spatial_extents(y)));
    });
    s.add_typed({{DType::kI32, {1, 2, 4, 5}}, {DType::kI32, {3, 2, 2, 2}}},
                {{"strides", List{1, 1}},
                 {"dilations", List{1, 1}},
                 {"low", List{0, 0}},
                 {"extents", List{3, 4}}})
        .high = 9;
}

void conv_transpose_samples(Samples& s) {
    each_case([&](const Shape& x, const Shape& w, const Shape& y, const Attrs& attrs) {
        s.add({y, w}, conv_attrs(attrs, spatial_extents(x)));
    });
    // Negative padding that crops more than the kernel reaches.
    s.add({{1, 2, 5}, {2, 4, 1}},
          {{"strides", List{1}}, {"dilations", List{1}}, {"low", List{2}}, {"extents", List{2}}});
}

// Shapes that use the direct loops, and some that do not.
void direct_samples(Samples& s, void (*samples)(Samples&)) {
    Samples all;
    samples(all);
    for (size_t i : {1u, 3u, 5u, 6u, 7u, 9u}) {
        const Sample& sample = all.all()[i];
        s.add({sample.inputs[0].shape, sample.inputs[1].shape}, sample.attrs).gradient = false;
    }
}

Window unfold_window(const Attrs& attrs) {
    return Window(attrs, attrs.integers("kernel"));
}

// Samples of unfold and fold: shape of x, shape of its patches, attributes without "extents".
template <class F>
void each_patch_case(F add) {
    each_case([&](const Shape& x, const Shape& w, const Shape& y, Attrs attrs) {
        const List kernel = spatial_extents(w), count = spatial_extents(y);
        if (x[1].count > 6) return;
        Attrs window{{"kernel", kernel}};
        for (const char* name : {"strides", "dilations", "low"})
            window.set(name, attrs.integers(name));
        add(x, Shape{x[0], x[1].count * count_of(kernel), count_of(count)}, window, count);
    });
}

constexpr FixedList<AttrSpec, 12> kUnfoldAttrs = {{"kernel", AttrType::kIntegers},
                                                  {"strides", AttrType::kIntegers},
                                                  {"dilations", AttrType::kIntegers},
                                                  {"low", AttrType::kIntegers},
                                                  {"extents", AttrType::kIntegers}};
constexpr FixedList<AttrSpec, 12> kFoldAttrs = {
    {"kernel", AttrType::kIntegers},    {"strides", AttrType::kIntegers},
    {"dilations", AttrType::kIntegers}, {"low", AttrType::kIntegers},
    {"count", AttrType::kIntegers},     {"extents", AttrType::kIntegers}};

Status infer_unfold(InferContext& call) {
    HEARTH_TRY(check_operand("x", call.shape(0)));
    const Window w = unfold_window(call.attrs);
    const List& count = call.attrs.integers("extents");
    HEARTH_TRY(check_window(w, spatial_extents(call.shape(0)), count));
    if (call.shape(0)[1].count > INT32_MAX)
        return out_of_range("more than 2^31 channels: " + to_string(call.shape(0)));
    return call.one(call.dtype(0), {call.shape(0)[0], call.shape(0)[1].count * count_of(w.kernel),
                                    count_of(count)});
}

Status infer_fold(InferContext& call) {
    const Shape& p = call.shape(0);
    const Window w = unfold_window(call.attrs);
    const List &count = call.attrs.integers("count"), &size = call.attrs.integers("extents");
    if (size.empty() || size.size() > 3)
        return invalid_argument("needs 1 to 3 extents, found " + to_string(AttrValue(size)));
    HEARTH_TRY(check_window(w, size, count));
    const int64_t taps = count_of(w.kernel);
    if (p.rank() != 3 || p[1].is_batch || p[1].count < 1 || p[1].count % taps != 0 ||
        p[2] != Dim(count_of(count)))
        return invalid_argument("patches are " + to_string(p) + ", expected [N, a multiple of " +
                                std::to_string(taps) + ", " + std::to_string(count_of(count)) +
                                "]");
    return call.one(call.dtype(0), shape_of(p[0], Dim(p[1].count / taps), size));
}

constinit const OpDef kOps[] = {
    {
        .name = "conv",
        .summary = "y[n,o,p] = sum over c, k of x[n,c, p*stride - low + k*dilation] w[o,c,k], "
                   "channels in groups; zeros outside",
        .inputs = {{"x", TypeClass::kNumber}, {"w", TypeClass::kNumber}},
        .attrs = kConvAttrs,
        .op_class = OpClass::kKernel,
        .traits = {.has_filter = true, .is_convolution = true},
        .infer = [](InferContext& call) -> Status {
            return infer_conv<conv_from_xw, &Conv::y>(call, "x", "w");
        },
        .reference = reference<Role::kY, conv_from_xw>,
        .decompose = one<decompose_conv>,
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), x = v.in(0), w = v.in(1);
            return {conv_node("conv_transpose", g, w, v.attrs, x.shape()),
                    conv_node("conv_weights", x, g, v.attrs, w.shape())};
        },
        .onnx_export = onnx_export::conv,
        .onnx = {{"Conv", 1, import_conv},
                 {"ConvInteger", 10, import_conv_integer},
                 {"QLinearConv", 10, import_qlinear_conv}},
        .samples = conv_samples,
        .tolerance = {.f32 = 2e-5, .f16 = 1e-2},
    },
    {
        .name = "conv_transpose",
        .summary = "the adjoint of conv by x: each y[n,o,p] w[o,c,k] is added where conv read",
        .inputs = {{"y", TypeClass::kNumber}, {"w", TypeClass::kNumber}},
        .attrs = kConvAttrs,
        .op_class = OpClass::kComposite,
        .traits = {.has_filter = true},
        .infer = [](InferContext& call) -> Status {
            return infer_conv<conv_from_yw, &Conv::x>(call, "y", "w");
        },
        .reference = reference<Role::kX, conv_from_yw>,
        .decompose = one<decompose_conv_transpose>,
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), y = v.in(0), w = v.in(1);
            return {conv_node("conv", g, w, v.attrs, y.shape()),
                    conv_node("conv_weights", g, y, v.attrs, w.shape())};
        },
        .onnx_export = onnx_export::conv_transpose,
        .onnx = {{"ConvTranspose", 1, import_conv_transpose}},
        .samples = conv_transpose_samples,
        .tolerance = {.f32 = 2e-5, .f16 = 1e-2},
    },
    {
        .name = "conv_weights",
        .summary = "the adjoint of conv by w: w[o,c,k] = sum over n, p of y[n,o,p] and the x that "
                   "conv multiplies it with",
        .inputs = {{"x"}, {"y"}},
        .attrs = kConvAttrs,
        .op_class = OpClass::kComposite,
        .infer = [](InferContext& call) -> Status {
            return infer_conv<conv_from_xy, &Conv::w>(call, "x", "y");
        },
        .reference = reference<Role::kW, conv_from_xy>,
        .decompose = one<decompose_conv_weights>,
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), x = v.in(0), y = v.in(1);
            return {conv_node("conv_transpose", y, g, v.attrs, x.shape()),
                    conv_node("conv", x, g, v.attrs, y.shape())};
        },
        .samples =
            [](Samples& s) {
                each_case([&](const Shape& x, const Shape& w, const Shape& y, const Attrs& attrs) {
                    s.add({x, y}, conv_attrs(attrs, spatial_extents(w)));
                });
            },
        .tolerance = {.f32 = 5e-5, .f16 = 1e-2},
    },
    {
        .name = "conv_direct",
        .summary = "conv as one loop for each element, for few channels in a group and for "
                   "integers",
        .inputs = {{"x", TypeClass::kNumber}, {"w", TypeClass::kNumber}},
        .attrs = kConvAttrs,
        .op_class = OpClass::kInjective,
        .traits = {.has_filter = true},
        .infer = [](InferContext& call) -> Status {
            return infer_conv<conv_from_xw, &Conv::y>(call, "x", "w");
        },
        .compute = compute_any([](auto& c) {
            const Shape x = c.in_shape(0);
            const Conv conv = conv_from_xw(c.attrs(), x, c.in_shape(1));
            const List size = spatial_extents(x), count = spatial_extents(conv.y);
            const auto out = c.coords();
            const auto group = conv.groups == 1 ? c.index(0) : out[1] / c.index(conv.out_each());
            const auto channel = [&](auto i) {
                return sum_over(c, conv.window.kernel, [&](const auto& k) {
                    const auto tap = tap_of(c, conv.window, size, count, spatial_part(out), k);
                    const auto from = group * c.index(conv.in_each()) + i;
                    return select(tap.inside, c.in(0, joined(out[0], from, tap.at)), c.value(0)) *
                           c.in(1, joined(out[1], i, k));
                });
            };
            return conv.in_each() == 1 ? channel(c.index(0))
                                       : c.sum(c.index(conv.in_each()), channel);
        }),
        .samples = [](Samples& s) { direct_samples(s, conv_samples); },
        .tolerance = {.f32 = 2e-5},
    },
    {
        .name = "conv_transpose_direct",
        .summary = "conv_transpose as one loop for each element",
        .inputs = {{"y", TypeClass::kNumber}, {"w", TypeClass::kNumber}},
        .attrs = kConvAttrs,
        .op_class = OpClass::kInjective,
        .traits = {.has_filter = true},
        .infer = [](InferContext& call) -> Status {
            return infer_conv<conv_from_yw, &Conv::x>(call, "y", "w");
        },
        .compute = compute_any([](auto& c) {
            const Shape y = c.in_shape(0);
            const Conv conv = conv_from_yw(c.attrs(), y, c.in_shape(1));
            const List count = spatial_extents(y);
            const auto out = c.coords();
            const auto each = c.index(conv.in_each());
            const auto group = conv.groups == 1 ? c.index(0) : out[1] / each;
            const auto within = conv.groups == 1 ? out[1] : out[1] % each;
            const auto channel = [&](auto i) {
                return sum_over(c, pairs_of(conv.window), [&](const auto& j) {
                    const auto pair = pair_of(c, conv.window, count, spatial_part(out), j);
                    const auto from = group * c.index(conv.out_each()) + i;
                    return select(pair.inside,
                                  c.in(0, joined(out[0], from, pair.window)) *
                                      c.in(1, joined(from, within, pair.tap)),
                                  c.value(0));
                });
            };
            return conv.out_each() == 1 ? channel(c.index(0))
                                        : c.sum(c.index(conv.out_each()), channel);
        }),
        .samples = [](Samples& s) { direct_samples(s, conv_transpose_samples); },
        .tolerance = {.f32 = 2e-5},
    },
    {
        .name = "unfold",
        .summary = "patches[n, (c,k), p] = x[n,c, p*stride - low + k*dilation]; zeros outside",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = kUnfoldAttrs,
        .op_class = OpClass::kInjective,
        .is_view = true,
        .traits = {.repeats_windows = true},
        .infer = infer_unfold,
        .compute = compute_any([](auto& c) {
            const Window w = unfold_window(c.attrs());
            const List size = spatial_extents(c.in_shape(0)), count = c.attrs().integers("extents");
            const auto out = c.coords();
            const auto taps = c.index(count_of(w.kernel));
            const auto tap = tap_of(c, w, size, count, place_in(c, count, out[2]),
                                    place_in(c, w.kernel, out[1] % taps));
            return select(tap.inside, c.in(0, joined(out[0], out[1] / taps, tap.at)), c.value(0));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {from_patches(v.cotangent(), unfold_window(v.attrs),
                                 spatial_extents(v.in(0).shape()), v.attrs.integers("extents"))};
        },
        .samples =
            [](Samples& s) {
                each_patch_case([&](const Shape& x, const Shape&, Attrs attrs, const List& count) {
                    attrs.set("extents", count);
                    s.add({x}, attrs);
                });
            },
    },
    {
        .name = "fold",
        .summary = "the adjoint of unfold: patches added where they came from",
        .inputs = {{"patches", TypeClass::kNumber}},
        .attrs = kFoldAttrs,
        .op_class = OpClass::kInjective,
        .infer = infer_fold,
        .compute = compute_any([](auto& c) {
            const Window w = unfold_window(c.attrs());
            const List count = c.attrs().integers("count");
            const auto out = c.coords();
            return sum_over(c, pairs_of(w), [&](const auto& j) {
                const auto pair = pair_of(c, w, count, spatial_part(out), j);
                const auto taps = c.index(count_of(w.kernel));
                const auto row = out[1] * taps + index_in(c, w.kernel, pair.tap);
                const auto column = index_in(c, count, pair.window);
                decltype(spatial_part(out)) place;
                for (const auto& at : {out[0], row, column}) place.axis.push_back(at);
                return select(pair.inside, c.in(0, place), c.value(0));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {patches(v.cotangent(), unfold_window(v.attrs), v.attrs.integers("count"))};
        },
        .onnx_export = onnx_export::fold,
        .onnx = {{"Col2Im", 18, import_col2im}},
        .samples =
            [](Samples& s) {
                each_patch_case(
                    [&](const Shape& x, const Shape& p, Attrs attrs, const List& count) {
                        attrs.set("extents", spatial_extents(x));
                        attrs.set("count", count);
                        s.add({p}, attrs);
                    });
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> conv_ops{kOps};

namespace {

/// Returns the window of these weights over x; fails x's trace if ranks differ.
PaddedWindow conv_window(const Tensor& x, const Tensor& w, const ConvOptions& o,
                         std::string_view what) {
    if (x.rank() < 3 || w.rank() != x.rank())
        fail(x, invalid_argument(std::string(what) + ": x is " + to_string(x.shape()) +
                                 ", weights are " + to_string(w.shape()) +
                                 ": expected equal ranks of 3 to 5"));
    return padded_window(x, spatial_extents(w.shape()), o.strides, o.dilations, o.pad_begin,
                         o.pad_end, what);
}

/// The operator's node with these extents, plus the bias.
Tensor biased(std::string_view name, const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Window& window, int64_t groups, const List& extents) {
    Attrs attrs = conv_attrs(window.attrs(), extents);
    attrs.set("groups", groups);
    const Tensor y = apply_one(op(name), {x, weight}, attrs);
    if (bias.trace() == nullptr || !y.ok()) return y;
    Shape shape{Dim(-1)};
    for (int i = 2; i < y.rank(); ++i) shape.push_back(Dim(1));
    return y + reshape(bias, shape);
}

bool has_failed(const Tensor& x) {
    return !x.ok() || !x.trace()->status().ok();
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
    if (!x.ok() || !weight.ok()) return failed_like(x);
    const PaddedWindow w = conv_window(x, weight, options, "conv");
    if (has_failed(x)) return failed_like(x);
    return biased("conv", x, weight, bias, w.window, options.groups,
                  w.counts(spatial_extents(x.shape())));
}

Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      const ConvOptions& options, const std::vector<int64_t>& output_padding) {
    if (!x.ok() || !weight.ok()) return failed_like(x);
    const auto [window, high] = conv_window(x, weight, options, "conv_transpose");
    const List added =
        for_each_axis(x, output_padding, window.rank(), 0, "conv_transpose: output_padding");
    if (has_failed(x)) return failed_like(x);
    List size = spatial_extents(x.shape());
    for (size_t i = 0; i < size.size(); ++i)
        size[i] = (size[i] - 1) * window.strides[i] + (window.kernel[i] - 1) * window.dilations[i] +
                  1 + added[i] - window.low[i] - high[i];
    return biased("conv_transpose", x, weight, bias, window, options.groups, size);
}

Tensor unfold(const Tensor& x, const std::vector<int64_t>& kernel, const ConvOptions& options) {
    if (!x.ok()) return x;
    if (x.rank() != static_cast<int>(kernel.size()) + 2)
        return fail(x, invalid_argument("unfold: a kernel of " + std::to_string(kernel.size()) +
                                        " extents for " + to_string(x.shape())));
    const PaddedWindow w = padded_window(x, kernel, options.strides, options.dilations,
                                         options.pad_begin, options.pad_end, "unfold");
    if (has_failed(x)) return failed_like(x);
    return patches(x, w.window, w.counts(spatial_extents(x.shape())));
}

Tensor fold(const Tensor& patches, const std::vector<int64_t>& extents,
            const std::vector<int64_t>& kernel, const ConvOptions& options) {
    if (!patches.ok()) return patches;
    if (extents.size() != kernel.size())
        return fail(patches,
                    invalid_argument("fold: " + std::to_string(extents.size()) +
                                     " extents, a kernel of " + std::to_string(kernel.size())));
    const PaddedWindow w = padded_window(patches, kernel, options.strides, options.dilations,
                                         options.pad_begin, options.pad_end, "fold");
    if (has_failed(patches)) return failed_like(patches);
    return from_patches(patches, w.window, extents, w.counts(extents));
}

}  // namespace hearth
