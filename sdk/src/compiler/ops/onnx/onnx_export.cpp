// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ops/onnx/onnx_export.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace hearth::onnx_export {

using Call = OnnxExportCall;
using List = std::vector<int64_t>;

bool same(Call& c) {
    const OnnxMapping& mapping = c.op.onnx[0];
    c.write(mapping.op_type, c.inputs, c.attrs(), mapping.since_opset);
    return true;
}

// --- Arithmetic

bool clamp(Call& c) {
    const auto bound = [&](std::string_view name) {
        const double limit = c.attrs().real(name);
        return std::isinf(limit) ? std::string() : c.to.scalar(limit, c.dtype(0));
    };
    c.write("Clip", {c.in(0), bound("low"), bound("high")});
    return true;
}

bool cast(Call& c) {
    c.write("Cast", c.inputs, {{"to", c.attrs().dtype("to")}});
    return true;
}

bool identity(Call& c) {
    c.write("Identity", c.inputs);
    return true;
}

// ONNX's Neg takes only signed types.
bool neg(Call& c) {
    if (!is_unsigned(c.dtype(0))) return same(c);
    c.write("Sub", {c.to.scalar(0, c.dtype(0)), c.in(0)});
    return true;
}

bool not_equal(Call& c) {
    c.write("Not", {c.to.value("Equal", c.inputs)});
    return true;
}

bool rsqrt(Call& c) {
    c.write("Reciprocal", {c.to.value("Sqrt", c.inputs)});
    return true;
}

bool standardize(Call& c) {
    const std::string epsilon = c.to.scalar(c.attrs().real("epsilon"), c.dtype(2));
    const std::string variance = c.to.value("Add", {c.in(2), epsilon});
    c.write("Div", {c.to.value("Sub", {c.in(0), c.in(1)}), c.to.value("Sqrt", {variance})});
    return true;
}

bool silu(Call& c) {
    c.write("Mul", {c.in(0), c.to.value("Sigmoid", c.inputs)});
    return true;
}

bool gelu_tanh(Call& c) {
    c.write("Gelu", c.inputs, {{"approximate", std::string("tanh")}}, 20);
    return true;
}

// ONNX's Mod with the divisor's sign takes only integers.
bool mod(Call& c) {
    if (is_integer(c.dtype(0))) {
        c.write("Mod", c.inputs);
    } else {
        const std::string whole = c.to.value("Floor", {c.to.value("Div", c.inputs)});
        c.write("Sub", {c.in(0), c.to.value("Mul", {whole, c.in(1)})});
    }
    return true;
}

bool fmod(Call& c) {
    c.write("Mod", c.inputs, {{"fmod", int64_t{1}}});
    return true;
}

/// Transposes the last two axes of input k.
static std::string swapped(Call& c, size_t k) {
    const int rank = c.shape(k).rank();
    List perm;
    for (int i = 0; i < rank; ++i) perm.push_back(i);
    std::swap(perm[static_cast<size_t>(rank - 1)], perm[static_cast<size_t>(rank - 2)]);
    return c.to.value("Transpose", {c.in(k)}, {{"perm", perm}});
}

bool matmul(Call& c) {
    const bool a = c.attrs().flag("transpose_a"), b = c.attrs().flag("transpose_b");
    if (c.attrs().flag("wide")) {
        // ONNX's products have their operands' type, so the operands of wider products are cast.
        std::string factors[2];
        for (size_t k = 0; k < 2; ++k)
            factors[k] = c.to.value("Cast", {(k == 0 ? a : b) ? swapped(c, k) : c.in(k)},
                                    {{"to", DType::kF32}});
        c.write("MatMul", {factors[0], factors[1]});
        return true;
    }
    const bool has_bias = c.inputs.size() > 2;
    if ((a || b || has_bias) && c.shape(0).rank() == 2 && c.shape(1).rank() == 2 &&
        is_floating(c.dtype(0))) {
        c.write("Gemm", c.inputs, {{"transA", int64_t{a}}, {"transB", int64_t{b}}});
        return true;
    }
    c.write("MatMul", {a ? swapped(c, 0) : c.in(0), b ? swapped(c, 1) : c.in(1)});
    return true;
}

// --- Reductions: all keep the reduced axes

bool reduce(Call& c) {
    c.write(c.op.onnx[0].op_type, {c.in(0), c.to.list(c.attrs().integers("axes"))},
            {{"keepdims", int64_t{1}}});
    return true;
}

bool arg(Call& c) {
    c.write(c.op.onnx[0].op_type, c.inputs,
            {{"axis", c.attrs().integer("axis")}, {"keepdims", int64_t{1}}});
    return true;
}

bool extent(Call& c) {
    const Shape& shape = c.attrs().shape("shape");
    const std::string product =
        c.to.value("ReduceProd", {c.to.extents(shape.dims())}, {{"keepdims", int64_t{0}}});
    c.write("Cast", {product}, {{"to", c.attrs().dtype("dtype")}});
    return true;
}

// --- Shapes

bool reshape(Call& c) {
    const Shape& shape = c.attrs().shape("shape");
    List extents;
    bool has_zero = false;
    for (Dim d : shape.dims()) {
        has_zero = has_zero || d.count == 0;
        extents.push_back(d.is_batch ? -1 : d.count);
    }
    if (has_zero)
        c.write("Reshape", {c.in(0), c.to.extents(shape.dims())}, {{"allowzero", int64_t{1}}});
    else
        c.write("Reshape", {c.in(0), c.to.list(extents)});
    return true;
}

bool expand(Call& c) {
    c.write("Expand", {c.in(0), c.to.extents(c.attrs().shape("shape").dims())});
    return true;
}

bool flip(Call& c) {
    const List& axes = c.attrs().integers("axes");
    const size_t n = axes.size();
    c.write("Slice", {c.in(0), c.to.list(List(n, -1)), c.to.list(List(n, INT64_MIN)),
                      c.to.list(axes), c.to.list(List(n, -1))});
    return true;
}

bool slice(Call& c) {
    const List &begins = c.attrs().integers("begins"), &all_steps = c.attrs().integers("steps");
    const Shape& shape = c.attrs().shape("shape");
    if (shape == c.shape(0) && shape.rank() == 0) return identity(c);
    List starts, ends, axes, steps;
    for (int i = 0; i < shape.rank(); ++i) {
        const auto k = static_cast<size_t>(i);
        if (shape[i] == c.shape(0)[i] && begins[k] == 0 && all_steps[k] == 1) continue;
        if (shape[i].is_batch) return false;
        const int64_t end = begins[k] + shape[i].count * all_steps[k];
        starts.push_back(begins[k]);
        ends.push_back(end < 0 ? INT64_MIN : end);
        axes.push_back(i);
        steps.push_back(all_steps[k]);
    }
    c.write("Slice",
            {c.in(0), c.to.list(starts), c.to.list(ends), c.to.list(axes), c.to.list(steps)});
    return true;
}

/// Inserts `interior` elements after each element of x along `axis`, the last one included.
static std::string spread(Call& c, const std::string& x, Shape& shape, int axis, int64_t interior,
                          const std::string& value) {
    Shape wide = shape;
    wide.insert(axis + 1, Dim(1));
    List pads(static_cast<size_t>(2 * wide.rank()), 0);
    pads[static_cast<size_t>(wide.rank() + axis + 1)] = interior;
    const std::string column = c.to.value("Unsqueeze", {x, c.to.list({axis + 1})});
    const std::string padded = c.to.value("Pad", {column, c.to.list(pads), value});
    shape[axis].count *= interior + 1;
    return c.to.value("Reshape", {padded, c.to.extents(shape.dims())});
}

bool pad(Call& c) {
    const List &low = c.attrs().integers("low"), &interior = c.attrs().integers("interior");
    const Shape& out = c.out_shape();
    const int rank = out.rank();
    if (rank == 0) return identity(c);
    const std::string value = c.to.scalar(c.attrs().real("value"), c.dtype(0));
    Shape shape = c.shape(0);
    std::string x = c.in(0);
    for (int i = 0; i < rank; ++i)
        if (interior[static_cast<size_t>(i)] > 0 && (out[i].is_batch || rank == kMaxRank))
            return false;
    for (int i = 0; i < rank; ++i)
        if (interior[static_cast<size_t>(i)] > 0)
            x = spread(c, x, shape, i, interior[static_cast<size_t>(i)], value);
    List pads = low;
    for (int i = 0; i < rank; ++i)
        if (out[i].is_batch && out[i] != shape[i]) return false;
    for (int i = 0; i < rank; ++i)
        pads.push_back(out[i].count - shape[i].count - low[static_cast<size_t>(i)]);
    c.write("Pad", {x, c.to.list(pads), value});
    return true;
}

// --- Indices

/// Input k cast to i64.
static std::string as_i64(Call& c, size_t k) {
    return c.dtype(k) == DType::kI64 ? c.in(k)
                                     : c.to.value("Cast", {c.in(k)}, {{"to", DType::kI64}});
}

bool gather(Call& c) {
    c.write(c.op.onnx[0].op_type, {c.in(0), as_i64(c, 1)}, {{"axis", c.attrs().integer("axis")}});
    return true;
}

// Each test of a walk is a few gathers: of its word, its value, its threshold and its child.
bool walk_trees(Call& c) {
    const Attrs axis{{"axis", int64_t{1}}};
    const std::string two = c.to.scalar(2, DType::kI64);
    const auto wide = [&](const std::string& name) {
        return c.to.value("Cast", {name}, {{"to", DType::kI64}});
    };
    std::string node = c.to.value("Expand", {wide(c.in(1)), c.to.extents(c.out_shape().dims())});
    for (int64_t step = c.attrs().integer("steps"); step > 0; --step) {
        const std::string word = wide(c.to.value("Gather", {c.in(2), node}));
        const std::string value =
            c.to.value("GatherElements", {c.in(0), c.to.value("Div", {word, two})}, axis);
        std::string passes =
            c.to.value("LessOrEqual", {value, c.to.value("Gather", {c.in(3), node})});
        if (c.attrs().flag("has_missing")) {
            const std::string takes =
                c.to.value("Cast", {c.to.value("Mod", {word, two})}, {{"to", DType::kBool}});
            const std::string missing = c.to.value("And", {c.to.value("IsNaN", {value}), takes});
            passes = c.to.value("Or", {passes, missing});
        }
        const std::string child = c.to.value("Add", {c.to.value("Mul", {node, two}), wide(passes)});
        node = wide(c.to.value("Gather", {c.in(4), child}));
    }
    c.write("Cast", {node}, {{"to", DType::kI32}});
    return true;
}

// Uses the types that runtimes have kernels for; a scalar gets an axis first, because ONNX needs
// one to place the new axis.
bool one_hot(Call& c) {
    const DType dtype = c.attrs().dtype("dtype");
    const bool is_scalar = c.shape(0).rank() == 0;
    const std::string zero = c.to.list({0});
    std::string index = as_i64(c, 0);
    if (is_scalar) index = c.to.value("Unsqueeze", {index, zero});
    const std::string depth =
        c.to.scalar(static_cast<double>(c.attrs().integer("depth")), DType::kI64);
    const std::string values = c.to.constant(HostTensor::of({2}, std::vector<double>{0, 1}));
    std::string hot = c.to.value("OneHot", {index, depth, values},
                                 {{"axis", c.attrs().integer("axis") + is_scalar}});
    if (is_scalar) hot = c.to.value("Squeeze", {hot, zero});
    c.write("Cast", {hot}, {{"to", dtype}});
    return true;
}

bool gather_nd(Call& c) {
    c.write("GatherND", {c.in(0), as_i64(c, 1)}, {{"batch_dims", c.attrs().integer("batch_dims")}});
    return true;
}

bool scatter_nd(Call& c) {
    if (c.attrs().integer("batch_dims") != 0) return false;
    c.write("ScatterND", {c.in(0), as_i64(c, 1), c.in(2)},
            {{"reduction", c.attrs().text("reduction")}});
    return true;
}

bool scatter_elements(Call& c) {
    c.write("ScatterElements", {c.in(0), as_i64(c, 1), c.in(2)},
            {{"axis", c.attrs().integer("axis")}, {"reduction", c.attrs().text("reduction")}});
    return true;
}

static bool running(Call& c, std::string_view op_type, int since) {
    const std::string axis =
        c.to.scalar(static_cast<double>(c.attrs().integer("axis")), DType::kI64);
    const Attrs attrs{{"exclusive", c.attrs().integer("exclusive")},
                      {"reverse", c.attrs().integer("reverse")}};
    if (size_bytes(c.dtype(0)) >= 4 || is_floating(c.dtype(0))) {
        c.write(op_type, {c.in(0), axis}, attrs, since);
        return true;
    }
    // Narrow integers are computed in i32 and wrap around in the final cast.
    const std::string wide = c.to.value("Cast", {c.in(0)}, {{"to", DType::kI32}});
    const std::string sums = c.to.value(op_type, {wide, axis}, attrs, since);
    c.write("Cast", {sums}, {{"to", c.dtype(0)}});
    return true;
}

bool cumsum(Call& c) {
    return running(c, "CumSum", 14);
}

bool cumprod(Call& c) {
    return running(c, "CumProd", 26);
}

bool argsort(Call& c) {
    const int64_t axis = c.attrs().integer("axis");
    const Dim extent = c.shape(0)[static_cast<int>(axis)];
    if (extent.is_batch) return false;
    c.to.node("TopK", {c.in(0), c.to.list({extent.count})}, {c.to.fresh_name(), c.outputs[0]},
              {{"axis", axis}, {"largest", c.attrs().integer("descending")}});
    return true;
}

// --- Windows

/// ONNX attributes of windows from `in` to `out` elements: the padding in front is `low`, the
/// padding behind is what the last window needs.  Returns nothing if ONNX has no such windows.
static std::optional<Attrs> window(const Attrs& attrs, const List& in, const List& out,
                                   const List& kernel) {
    const List &strides = attrs.integers("strides"), &dilations = attrs.integers("dilations"),
               &low = attrs.integers("low");
    List pads = low;
    for (size_t i = 0; i < kernel.size(); ++i) {
        const int64_t reach = (kernel[i] - 1) * dilations[i] + 1;
        const int64_t needed = (out[i] - 1) * strides[i] + reach;
        const int64_t high = std::max<int64_t>(0, needed - in[i] - low[i]);
        const int64_t padded = in[i] + low[i] + high;
        const bool fits = padded >= reach && (padded - reach) / strides[i] + 1 == out[i];
        if (low[i] < 0 || !fits) return {};
        pads.push_back(high);
    }
    return Attrs{{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
}

static List spatial(const Shape& shape) {
    List extents;
    for (int i = 2; i < shape.rank(); ++i) extents.push_back(shape[i].count);
    return extents;
}

bool conv(Call& c) {
    const List kernel = spatial(c.shape(1));
    std::optional<Attrs> attrs =
        window(c.attrs(), spatial(c.shape(0)), spatial(c.out_shape()), kernel);
    if (!attrs || !is_floating(c.dtype(0))) return false;
    attrs->set("kernel_shape", kernel);
    attrs->set("group", c.attrs().integer("groups"));
    c.write("Conv", c.inputs, *attrs);
    return true;
}

bool conv_transpose(Call& c) {
    const List &strides = c.attrs().integers("strides"),
               &dilations = c.attrs().integers("dilations"), &low = c.attrs().integers("low");
    const List kernel = spatial(c.shape(1));
    List pads = low, more;
    for (size_t i = 0; i < kernel.size(); ++i) {
        const int axis = static_cast<int>(i) + 2;
        const int64_t all =
            strides[i] * (c.shape(0)[axis].count - 1) + (kernel[i] - 1) * dilations[i] + 1;
        const int64_t cut = all - low[i] - c.out_shape()[axis].count;
        if (low[i] < 0 || -cut >= std::max(strides[i], dilations[i])) return false;
        pads.push_back(std::max<int64_t>(0, cut));
        more.push_back(std::max<int64_t>(0, -cut));
    }
    c.write("ConvTranspose", c.inputs,
            {{"kernel_shape", kernel},
             {"strides", strides},
             {"dilations", dilations},
             {"pads", pads},
             {"output_padding", more},
             {"group", c.attrs().integer("groups")}});
    return true;
}

// A fixed shape is written as constant data.
bool iota(Call& c) {
    const Shape& shape = c.attrs().shape("shape");
    if (shape.has_batch()) return false;
    HostTensor numbers(c.attrs().dtype("dtype"), shape);
    for (int64_t i = 0; i < numbers.element_count(); ++i) numbers.set(i, static_cast<double>(i));
    c.write("Identity", {c.to.constant(numbers)});
    return true;
}

bool max_pool(Call& c) {
    const List& kernel = c.attrs().integers("kernel");
    std::optional<Attrs> attrs =
        window(c.attrs(), spatial(c.shape(0)), spatial(c.out_shape()), kernel);
    if (!attrs || !is_floating(c.dtype(0))) return false;
    // ONNX requires that each window contains an element.
    for (size_t i = 0; i < kernel.size(); ++i)
        if (attrs->integers("pads")[i] >= kernel[i]) return false;
    attrs->set("kernel_shape", kernel);
    c.write("MaxPool", c.inputs, *attrs);
    return true;
}

// A window sum is a depthwise convolution with ones.
bool window_sum(Call& c) {
    const List& kernel = c.attrs().integers("kernel");
    const Dim channels = c.shape(0)[1];
    std::optional<Attrs> attrs =
        window(c.attrs(), spatial(c.shape(0)), spatial(c.out_shape()), kernel);
    if (!attrs || channels.is_batch || !is_floating(c.dtype(0))) return false;
    Shape shape{channels, 1};
    for (int64_t k : kernel) shape.push_back(Dim(k));
    HostTensor ones(c.dtype(0), shape);
    for (int64_t i = 0; i < ones.element_count(); ++i) ones.set(i, 1);
    attrs->set("group", channels.count);
    attrs->set("kernel_shape", kernel);
    c.write("Conv", {c.in(0), c.to.constant(ones)}, *attrs);
    return true;
}

bool fold(Call& c) {
    const List &kernel = c.attrs().integers("kernel"), &image = c.attrs().integers("extents");
    const std::optional<Attrs> attrs =
        window(c.attrs(), image, c.attrs().integers("count"), kernel);
    if (!attrs || !is_floating(c.dtype(0))) return false;
    c.write("Col2Im", {c.in(0), c.to.list(image), c.to.list(kernel)}, *attrs);
    return true;
}

bool write_average_pool(OnnxExportCall& c) {
    const List& kernel = c.attrs().integers("kernel");
    const Attrs w = *window(c.attrs(), spatial(c.shape(0)), spatial(c.out_shape()), kernel);
    const auto has_other = [&](std::string_view name, int64_t usual) {
        return std::ranges::any_of(w.integers(name), [=](int64_t n) { return n != usual; });
    };
    const bool is_dilated = has_other("dilations", 1);
    Attrs attrs{{"kernel_shape", kernel}, {"strides", w.integers("strides")}};
    attrs.set("pads", w.integers("pads"));
    if (is_dilated) attrs.set("dilations", w.integers("dilations"));
    if (has_other("pads", 0)) attrs.set("count_include_pad", int64_t{1});
    c.write("AveragePool", c.inputs, attrs, is_dilated ? 19 : 0);
    return true;
}

bool is_average_pool(const Attrs& attrs, const Shape& x, const Shape& y) {
    return window(attrs, spatial(x), spatial(y), attrs.integers("kernel")).has_value();
}

}  // namespace hearth::onnx_export
