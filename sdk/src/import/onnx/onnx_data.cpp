// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports ONNX operators for quantization, signals, random numbers and selections, in terms of
// Hearth's.
//
// Some operators have data-dependent output sizes (NonZero, Unique, Compress, NonMaxSuppression).
// Shapes of a program are fixed: the size is the number of results if the data is constant or in
// ImportOptions::constant_inputs, otherwise a bound, and the number of results is a count beside it.

#include "compiler/interpreter/interpreter.hpp"
#include "core/budget.hpp"
#include "import/onnx/onnx_compositions.hpp"

#include <hearth/core/convert.hpp>
#include <hearth/op/onnx_call.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hearth {

namespace {

using List = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

bool has_failed(const OnnxCall& call) {
    return !call.trace.status().ok();
}

Tensor optional_in(OnnxCall& call, size_t k) {
    return call.has(k) ? call.in(k) : Tensor();
}

/// Element type named by an attribute; fails the trace and returns nothing if it is unknown.
std::optional<DType> dtype_of(OnnxCall& call, std::string_view name, int64_t fallback) {
    const int64_t number = call.integer(name, fallback);
    const std::optional<DType> dtype = dtype_from_onnx(number);
    if (!dtype) call.unsupported("element type " + onnx_type_name(number));
    return dtype;
}

// --- Data-dependent output sizes ---

/// Limits the work per node to determine the number of results, so that a model cannot make import
/// slow.
constexpr int64_t kMostWork = int64_t{1} << 28;

/// True if the size of the result is to be determined now: no bound is given, and the contents of
/// the first `inputs` inputs are known.
bool is_known(const OnnxCall& call, size_t inputs) {
    return !call.bound && std::ranges::all_of(call.inputs.first(inputs), [](const OnnxInput& in) {
        return in.value != nullptr;
    });
}

/// Evaluates `count` on the contents of the first `inputs` inputs, about `work` operations.  Fails
/// the trace and returns nothing if the budget is exhausted.
template <class F>
std::optional<int64_t> known_count(OnnxCall& call, size_t inputs, int64_t work, F count) {
    if (Budget* budget = call.trace.budget()) {
        const Status s = budget->spend(Budget::Of::kElements, static_cast<uint64_t>(work));
        if (!s.ok()) {
            call.trace.fail(s);
            return {};
        }
    }
    Trace trace("count");
    Tensors known;
    for (size_t k = 0; k < inputs; ++k) known.push_back(trace.constant(*call.inputs[k].value));
    trace.output("count", count(known));
    const Result<Graph> graph = trace.build();
    Result<std::vector<HostTensor>> result =
        graph.ok() ? evaluate(*graph, {}, 1) : Result<std::vector<HostTensor>>(graph.status());
    if (result.ok()) return (*result)[0].get_int(0);
    call.trace.fail(result.status());
    return {};
}

Tensor nothing(OnnxCall& call, DType dtype, const Shape& shape) {
    return call.trace.constant(HostTensor(dtype, shape));
}

/// x with zeros from element `count` of the axis on.
Tensor zero_behind(OnnxCall& call, const Tensor& x, int axis, const Tensor& count) {
    return where(used_elements(x.shape(), axis, count), x, call.trace.constant(0, x.dtype()));
}

Tensors import_nonzero(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (has_failed(call)) return {};
    if (x.rank() == 0) return call.unsupported("of a scalar");
    if (x.shape().element_count().count == 0) return {nothing(call, DType::kI64, {x.rank(), 0})};
    if (is_known(call, 1)) {
        const auto count = known_count(call, 1, x.shape().element_count(1),
                                       [](const Tensors& in) { return nonzero(in[0], 1).count; });
        if (!count) return {};
        if (*count == 0) return {nothing(call, DType::kI64, {x.rank(), 0})};
        return {nonzero(x, *count).indices};
    }
    const std::optional<int64_t> extent = call.bounded_extent(x.shape().element_count());
    if (!extent) return {};
    const NonZero found = nonzero(x, *extent);
    call.pad_output(0, 1, found.count);
    return {found.indices};
}

// The condition may be shorter than the axis.
Tensors import_compress(OnnxCall& call) {
    Tensor x = call.in(0);
    const Tensor condition = call.in(1);
    if (has_failed(call)) return {};
    int64_t axis = 0;
    if (call.attrs.has("axis"))
        axis = call.integer("axis", 0);
    else
        x = reshape(x, {Dim(-1)});
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return call.invalid(at.status().message());
    if (condition.rank() != 1 || condition.dtype() != DType::kBool)
        return call.invalid("its condition is " + to_string(condition.shape()) +
                            ", expected a list of bools");
    if (const HostTensor* flags = call.inputs[1].value; flags != nullptr && !call.bound) {
        int64_t count = 0;
        for (int64_t i = 0; i < flags->element_count(); ++i) count += flags->get_int(i) != 0;
        if (count == 0) return {slice(x, axis, 0, 0)};
        return {take(x, reshape(nonzero(condition, count).indices, {Dim(count)}), axis)};
    }
    if (condition.dim(0).count == 0) return {slice(x, axis, 0, 0)};
    const std::optional<int64_t> extent = call.bounded_extent(condition.dim(0));
    if (!extent) return {};
    const NonZero found = nonzero(condition, *extent);
    const Tensor places = maximum(reshape(found.indices, {Dim(*extent)}), 0);
    call.pad_output(0, *at, found.count);
    return {zero_behind(call, take(x, places, *at), *at, found.count)};
}

Tensors import_unique(OnnxCall& call) {
    const Tensor x = call.in(0);
    std::optional<int64_t> axis;
    if (call.attrs.has("axis")) axis = call.integer("axis", 0);
    const bool is_sorted = call.flag("sorted", true);
    if (has_failed(call)) return {};
    const int64_t elements = x.shape().element_count().count;
    if (elements == 0) return call.unsupported("of nothing");
    const Result<int> at = normalize_axis(axis.value_or(0), std::max(x.rank(), axis ? 0 : 1));
    if (!at.ok()) return call.invalid(at.status().message());
    // Slices are compared pairwise.
    constexpr int64_t kMostPairs = int64_t{1} << 22;
    if (axis && elements > kMostPairs / elements)
        return call.unsupported("of slices of " + to_string(x.shape()));
    if (is_known(call, 1)) {
        const int64_t work = axis ? elements * elements : 16 * elements;
        const auto count = known_count(call, 1, work, [&](const Tensors& in) {
            return unique(in[0], 1, axis, is_sorted).count;
        });
        if (!count) return {};
        const Unique u = unique(x, *count, axis, is_sorted);
        return {u.values, u.first_index, u.inverse, u.counts};
    }
    const std::optional<int64_t> extent =
        call.bounded_extent(axis ? x.dim(*at) : x.shape().element_count());
    if (!extent) return {};
    const Unique u = unique(x, *extent, axis, is_sorted);
    call.pad_output(0, *at, u.count);
    call.pad_output(1, 0, u.count);
    call.pad_output(3, 0, u.count);
    return {zero_behind(call, u.values, *at, u.count), u.first_index, u.inverse, u.counts};
}

/// The contents of a scalar input, if it is known at import.
std::optional<double> known_scalar(const OnnxCall& call, size_t k) {
    if (!call.has(k) || call.inputs[k].value == nullptr) return {};
    if (call.inputs[k].value->element_count() != 1) return {};
    return call.inputs[k].value->get(0);
}

struct BoxSelection {
    int64_t count = 0;  ///< per class
    NmsOptions options;
    Tensor limit;  ///< i64 []: at most so many per class; not ok(): `count`

    /// i64 [B * C * count]: box indices, or -1.
    Tensor boxes(const Tensor& in0, const Tensor& in1) const {
        const Tensor selected = nms(in0, in1, count, options);
        if (!limit.ok()) return reshape(selected, {Dim(-1)});
        const Tensor place = arange(*in0.trace(), {count}, DType::kI64);
        return reshape(where(less(place, limit), selected, -1.0), {Dim(-1)});
    }
};

/// i64 [extent, 3]: (batch, class, box) of each place of `selected` with a box, in order.
Tensor selected_rows(const Tensor& selected, const Tensor& place, int64_t per_class,
                     int64_t classes) {
    const Tensor line = place / static_cast<double>(per_class);
    const auto class_count = static_cast<double>(classes);
    const Tensor batch = line / class_count;
    return stack(Tensors{batch, line - batch * class_count, take(selected, place)}, 1);
}

// Result: a row (batch, class, box) for each box that is kept.
Tensors import_nms(OnnxCall& call) {
    const Tensor boxes = call.in(0);
    Tensor scores = call.in(1);
    BoxSelection selection;
    selection.options.overlap_threshold = call.real_in(3, 0);
    selection.options.centered = call.flag("center_point_box", false);
    if (has_failed(call)) return {};
    if (scores.rank() != 3 || scores.shape().has_batch())
        return call.unsupported("scores of " + to_string(scores.shape()));
    const int64_t classes = scores.dim(1).count, n = scores.dim(2).count;
    const int64_t lines = scores.dim(0).count * classes;
    const std::optional<double> most = known_scalar(call, 2);
    if (call.has(4)) {
        // Scores are compared as floats; those that are dropped become the lowest.
        selection.options.score_threshold = known_scalar(call, 4);
        if (!selection.options.score_threshold) {
            const Tensor threshold = reshape(call.in(4), {});
            scores = where(greater(scores, threshold), scores, -HUGE_VAL);
        }
    }
    // Padding has the lowest score.
    if (!selection.options.score_threshold && call.inputs[1].value == nullptr)
        selection.options.score_threshold = -std::numeric_limits<float>::max();
    selection.count = n;
    if (most) selection.count = saturate_cast<int64_t>(std::clamp(*most, 0.0, double(n)));
    if (!most && call.has(2)) selection.limit = reshape(cast(call.in(2), DType::kI64), {});
    if (!call.has(2)) selection.count = 0;
    if (selection.count == 0 || lines == 0) return {nothing(call, DType::kI64, {0, 3})};
    const bool is_known_now = is_known(call, 2) && most && (!call.has(4) || known_scalar(call, 4));
    std::optional<int64_t> extent;
    if (!is_known_now) {
        extent = call.bounded_extent(Dim(lines * selection.count));
        if (!extent) return {};
        selection.count = std::min(selection.count, *extent);
    }
    if (selection.count > kMostWork / scores.shape().element_count().count)
        return call.unsupported(std::to_string(selection.count) + " boxes of " +
                                to_string(scores.shape()) + "; bound them, " +
                                std::string(call.bound_flag_name) + " " + std::string(call.label) +
                                "=N");
    const auto kept = [&](const Tensor& selected) { return greater_equal(selected, 0); };
    if (is_known_now) {
        const int64_t work = selection.count * scores.shape().element_count(1);
        extent = known_count(call, 2, work, [&](const Tensors& in) {
            return sum(cast(kept(selection.boxes(in[0], in[1])), DType::kI64));
        });
        if (!extent) return {};
        if (*extent == 0) return {nothing(call, DType::kI64, {0, 3})};
    }
    const Tensor selected = selection.boxes(boxes, scores);
    const NonZero found = nonzero(kept(selected), *extent);
    const Tensor place = reshape(found.indices, {*extent});
    const Tensor rows = selected_rows(selected, place, selection.count, classes);
    if (is_known_now) return {rows};
    call.pad_output(0, 0, found.count);
    return {where(less(reshape(place, {*extent, 1}), 0), -1.0, rows)};
}

// --- Quantization ---

}  // namespace

Tensors import_quantize_linear(OnnxCall& call) {
    const Tensor x = call.in(0), scale = call.in(1), zero_point = optional_in(call, 2);
    std::optional<DType> dtype = DType::kU8;
    if (zero_point.ok())
        dtype = zero_point.dtype();
    else if (call.integer("output_dtype", 0) != 0)
        dtype = dtype_of(call, "output_dtype", 0);
    if (has_failed(call)) return {};
    return {quantize_linear(x, scale, zero_point, *dtype, call.integer("axis", 1),
                            call.integer("block_size", 0))};
}

static bool is_all_zero(const HostTensor& tensor) {
    const std::span<const std::byte> bytes = tensor.bytes();
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

Tensors import_dequantize_linear(OnnxCall& call) {
    const Tensor x = call.in(0), scale = call.in(1);
    std::optional<DType> dtype = scale.dtype();
    if (call.integer("output_dtype", 0) != 0) dtype = dtype_of(call, "output_dtype", 0);
    const HostTensor* zeros = call.has(2) ? call.inputs[2].value : nullptr;
    const bool is_symmetric = zeros != nullptr && is_all_zero(*zeros);
    const Tensor y = dequantize_linear(x, scale, is_symmetric ? Tensor() : optional_in(call, 2),
                                       call.integer("axis", 1), call.integer("block_size", 0));
    if (has_failed(call)) return {};
    return {cast(y, *dtype)};
}

namespace {

Tensors import_dynamic_quantize_linear(OnnxCall& call) {
    const DynamicQuantized q = dynamic_quantize_linear(call.in(0));
    return {q.values, q.scale, q.zero_point};
}

Tensors import_matmul_integer(OnnxCall& call) {
    return {matmul_integer(call.in(0), call.in(1), optional_in(call, 2), optional_in(call, 3))};
}

/// Makes a per-row parameter of a matrix a column vector; leaves scalars unchanged.
Tensor per_row(const Tensor& parameter, const Tensor& a) {
    const bool is_list = parameter.rank() == 1 && parameter.dim(0) != Dim(1) && a.rank() > 1;
    return is_list ? unsqueeze(parameter, {-1}) : parameter;
}

Tensors import_qlinear_matmul(OnnxCall& call) {
    const Tensor a = call.in(0), b = call.in(3), y_zero = call.in(7);
    const Tensor product = matmul_integer(a, b, call.in(2), call.in(5));
    const auto real = [&](size_t k) { return cast(call.in(k), DType::kF32); };
    if (has_failed(call)) return {};
    const Tensor scale = per_row(real(1), a) * real(4) / per_row(real(6), a);
    const Tensor q = round(cast(product, DType::kF32) * scale);
    return {cast(q + cast(per_row(y_zero, a), DType::kF32), y_zero.dtype())};
}

// --- Signals ---

using Window = Tensor (*)(Trace&, int64_t, bool, DType);

template <Window kWindow>
Tensors import_window(OnnxCall& call) {
    const int64_t size = call.integer_in(0, 0);
    const std::optional<DType> dtype = dtype_of(call, "output_datatype", 1);
    if (has_failed(call)) return {};
    if (size < 0 || size > 1 << 24)
        return call.unsupported("a window of " + std::to_string(size) + " elements");
    return {kWindow(call.trace, size, call.flag("periodic", true), *dtype)};
}

Tensors import_mel_weight_matrix(OnnxCall& call) {
    const std::optional<DType> dtype = dtype_of(call, "output_datatype", 1);
    MelOptions options;
    options.mel_bins = call.integer_in(0, 0);
    options.dft_length = call.integer_in(1, 0);
    options.sample_rate = call.real_in(2, 0);
    options.lower_hertz = call.real_in(3, 0);
    options.upper_hertz = call.real_in(4, 0);
    if (has_failed(call)) return {};
    return {mel_weight_matrix(call.trace, options, *dtype)};
}

// The axis is an attribute up to opset 17, an input since 20.
Tensors import_dft(OnnxCall& call) {
    const Tensor x = call.in(0);
    DftOptions options;
    if (call.has(1)) options.length = call.integer_in(1, 0);
    options.inverse = call.flag("inverse", false);
    options.onesided = call.flag("onesided", false);
    const int64_t axis = call.opset < 20 ? call.integer("axis", 1) : call.integer_in(2, -2);
    if (has_failed(call)) return {};
    return {dft(x, axis, options)};
}

Tensors import_stft(OnnxCall& call) {
    Tensor x = call.in(0);
    const int64_t step = call.integer_in(1, 0);
    const Tensor window = optional_in(call, 2);
    if (has_failed(call)) return {};
    if (x.rank() == 2) x = unsqueeze(x, {-1});
    const int64_t size = window.ok() && !call.has(3) ? window.dim(0).count : call.integer_in(3, 0);
    if (has_failed(call)) return {};
    return {stft(x, size, step, window, call.flag("onesided", true))};
}

Tensors import_det(OnnxCall& call) {
    return {det(call.in(0))};
}

// --- Constants ---

Tensors import_eye_like(OnnxCall& call) {
    const Tensor x = call.in(0);
    const auto k = call.integer("k", 0);
    if (has_failed(call)) return {};
    std::optional<DType> dtype = x.dtype();
    if (call.attrs.has("dtype")) dtype = dtype_of(call, "dtype", 1);
    if (!dtype) return {};
    constexpr int64_t kMost = 1 << 24;
    if (x.rank() != 2 || x.shape().has_batch() || x.shape().element_count().count > kMost)
        return call.unsupported("like " + to_string(x.shape()));
    const auto bytes = static_cast<uint64_t>(x.shape().element_count(1)) * size_bytes(*dtype);
    if (!call.trace.has_room(1, bytes)) return {};
    HostTensor eye(*dtype, x.shape());
    const int64_t width = x.dim(1).count;
    for (int64_t i = 0; i < eye.element_count(); ++i) eye.set_int(i, i % width - i / width == k);
    return {call.trace.constant(std::move(eye))};
}

Tensors import_optional_has_element(OnnxCall& call) {
    return {call.trace.constant(call.has(0), DType::kBool)};
}

Tensors import_optional_get_element(OnnxCall& call) {
    return {call.in(0)};
}

// --- Random numbers ---

/// Random stream of this node, from its position in the model and its seed if it has one.  Every
/// run draws the same numbers, because the model has no run counter.
uint64_t stream_of(OnnxCall& call) {
    const std::string name =
        std::string(call.op_type) + " " + std::to_string(call.trace.graph().values.size());
    const AttrValue* seed = call.attrs.find("seed");
    const int64_t* whole = seed != nullptr ? std::get_if<int64_t>(seed) : nullptr;  // Dropout's
    return rng_key(name, static_cast<uint64_t>(whole != nullptr
                                                   ? *whole
                                                   : saturate_cast<int64_t>(call.real("seed", 0))));
}

Tensor first_draw(OnnxCall& call) {
    return call.trace.constant(0, DType::kU32);
}

/// Uniform or normal random numbers with the shape of an attribute or of the input.
template <bool kNormal, bool kLike>
Tensors import_random(OnnxCall& call) {
    std::optional<DType> dtype = DType::kF32;
    Shape shape;
    if (kLike) {
        const Tensor x = call.in(0);
        if (has_failed(call)) return {};
        shape = x.shape();
        if (is_floating(x.dtype())) dtype = x.dtype();
        if (call.attrs.has("dtype")) dtype = dtype_of(call, "dtype", 1);
    } else {
        dtype = dtype_of(call, "dtype", 1);
        std::vector<Dim> dims;
        for (int64_t n : call.integers("shape")) dims.emplace_back(n);
        const std::optional<Shape> given = call.shape(dims);
        if (!given) return {};
        shape = *given;
    }
    if (!dtype || has_failed(call)) return {};
    const auto draw = kNormal ? random_normal : random_uniform;
    const double a = kNormal ? call.real("mean", 0) : call.real("low", 0);
    const double b = kNormal ? call.real("scale", 1) : call.real("high", 1);
    return {draw(first_draw(call), stream_of(call), shape, a, b, *dtype)};
}

Tensors import_bernoulli(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (has_failed(call)) return {};
    std::optional<DType> dtype = x.dtype();
    if (call.attrs.has("dtype")) dtype = dtype_of(call, "dtype", 1);
    if (!dtype) return {};
    return {cast(bernoulli(first_draw(call), stream_of(call), x), *dtype)};
}

Tensors import_multinomial(OnnxCall& call) {
    const Tensor x = call.in(0);
    const int64_t count = call.integer("sample_size", 1);
    const std::optional<DType> dtype = dtype_of(call, "dtype", 6);
    if (has_failed(call)) return {};
    if (x.rank() != 2 || count < 1) return call.invalid("of " + to_string(x.shape()));
    const std::optional<Shape> shape = call.shape(std::vector{x.dim(0), Dim(count), x.dim(1)});
    if (!shape) return {};
    const Tensor scores = expand(unsqueeze(x, {1}), *shape);
    return {cast(categorical(first_draw(call), stream_of(call), scores), *dtype)};
}

// Drops elements only in training.  The ratio is an attribute up to opset 10, an input since 12;
// since then training_mode is an input as well.
Tensors import_dropout(OnnxCall& call) {
    const Tensor x = call.in(0);
    const bool is_training = call.has(2) && call.real_in(2, 0) != 0;
    const double ratio = is_training ? call.real_in(1, 0.5) : 0;
    if (has_failed(call)) return {};
    if (!(ratio >= 0 && ratio < 1)) return call.invalid("ratio is " + std::to_string(ratio));
    if (ratio == 0) return {x, expand(call.trace.constant(1, DType::kBool), x.shape())};
    const Tensor keeps = expand(call.trace.constant(1 - ratio), x.shape());
    const Tensor mask = bernoulli(first_draw(call), stream_of(call), keeps);
    return {where(mask, x * (1 / (1 - ratio)), 0.0), mask};
}

// --- Counts of n-grams ---

struct GramOptions {
    int64_t shortest = 1, longest = 1, most_skipped = 0;
    List pool, starts, outputs;
    std::vector<double> weights;
};

/// [B, G]: number of occurrences of each of `grams` [G, n] in x: [B, N], with elements `step`
/// apart.
Tensor count_grams(OnnxCall& call, const Tensor& x, const HostTensor& grams, int64_t step) {
    const int64_t n = grams.shape()[1].count, windows = x.dim(1).count - step * (n - 1);
    Tensor all;
    for (int64_t k = 0; k < n && !has_failed(call); ++k) {
        HostTensor wanted(DType::kI64, Shape{1, 1, grams.shape()[0].count});
        for (int64_t g = 0; g < wanted.element_count(); ++g)
            wanted.set_int(g, grams.get_int(g * n + k));
        const Tensor seen = unsqueeze(slice(x, 1, k * step, k * step + windows), {-1});
        const Tensor same = equal(seen, call.trace.constant(std::move(wanted)));
        all = k == 0 ? same : logical_and(all, same);
    }
    return sum(cast(all, DType::kF32), {1});
}

std::optional<GramOptions> gram_options(OnnxCall& call) {
    GramOptions o;
    o.shortest = call.integer("min_gram_length", 1);
    o.longest = call.integer("max_gram_length", 1);
    o.most_skipped = call.integer("max_skip_count", 0);
    o.pool = call.integers("pool_int64s");
    o.starts = call.integers("ngram_counts");
    o.outputs = call.integers("ngram_indexes");
    o.weights = call.reals("weights");
    if (has_failed(call)) return {};
    constexpr int64_t kMost = 1 << 16;
    bool fits = o.shortest >= 1 && o.shortest <= o.longest && o.longest <= 64 &&
                o.most_skipped >= 0 && o.most_skipped <= 1024 &&
                static_cast<int64_t>(o.starts.size()) >= o.longest && !o.outputs.empty() &&
                (o.weights.empty() || o.weights.size() == o.outputs.size());
    for (int64_t start : o.starts)
        fits = fits && start >= 0 && start <= static_cast<int64_t>(o.pool.size());
    for (int64_t output : o.outputs) fits = fits && output >= 0 && output < kMost;
    if (call.attrs.has("pool_strings"))
        call.unsupported("a pool of strings");
    else if (!fits)
        call.invalid("its attributes do not form a pool of n-grams");
    if (has_failed(call)) return {};
    return o;
}

Tensors import_tf_idf_vectorizer(OnnxCall& call) {
    const Tensor input = call.in(0);
    const std::string mode = call.text("mode", "TF");
    const std::optional<GramOptions> o = gram_options(call);
    if (!o) return {};
    if (input.rank() < 1 || input.rank() > 2 || input.dim(-1).is_batch)
        return call.unsupported("on " + to_string(input.shape()));
    const Tensor x = cast(input.rank() == 1 ? unsqueeze(input, {0}) : input, DType::kI64);
    const auto width = 1 + *std::max_element(o->outputs.begin(), o->outputs.end());
    const Shape result{x.dim(0), Dim(width)};
    Tensor total = expand(call.trace.constant(0), result);
    size_t number = 0;  // index of the n-gram in the pool
    for (int64_t n = 1; n <= o->longest; ++n) {
        const auto at = static_cast<size_t>(n);
        const int64_t begin = o->starts[at - 1];
        const int64_t end =
            at < o->starts.size() ? o->starts[at] : static_cast<int64_t>(o->pool.size());
        const int64_t count = (end - begin) / n;
        if (count < 0 || number + static_cast<size_t>(count) > o->outputs.size())
            return call.invalid("has more n-grams than outputs");
        if (count == 0) continue;
        constexpr int64_t kMostWeights = 1 << 24;
        if (count > kMostWeights / width)
            return call.unsupported(std::to_string(count) + " n-grams for " +
                                    std::to_string(width) + " outputs");
        if (!call.trace.has_room(1, static_cast<uint64_t>(count * (n * 8 + width * 4)))) return {};
        HostTensor grams(DType::kI64, Shape{count, n});
        HostTensor places(DType::kF32, Shape{count, width});
        for (int64_t i = 0; i < grams.element_count(); ++i)
            grams.set_int(i, o->pool[static_cast<size_t>(begin + i)]);
        for (int64_t g = 0; g < count; ++g, ++number)
            places.set(g * width + o->outputs[number],
                       mode == "TF" || o->weights.empty() ? 1 : o->weights[number]);
        if (n < o->shortest) continue;
        Tensor counts = expand(call.trace.constant(0), {x.dim(0), Dim(count)});
        for (int64_t skipped = 0; skipped <= (n == 1 ? 0 : o->most_skipped); ++skipped) {
            if (has_failed(call)) return {};
            if (x.dim(1).count > (skipped + 1) * (n - 1))
                counts = counts + count_grams(call, x, grams, skipped + 1);
        }
        if (mode == "IDF") counts = cast(greater(counts, 0), DType::kF32);
        total = total + matmul(counts, call.trace.constant(std::move(places)));
    }
    return {input.rank() == 1 ? squeeze(total, {0}) : total};
}

constexpr OnnxMapping kDataOperators[] = {
    {"Bernoulli", 15, import_bernoulli},
    {"BlackmanWindow", 17, import_window<blackman_window>},
    {"Compress", 9, import_compress},
    {"DequantizeLinear", 10, import_dequantize_linear},
    {"Det", 11, import_det},
    {"DFT", 17, import_dft},
    {"Dropout", 7, import_dropout},
    {"DynamicQuantizeLinear", 11, import_dynamic_quantize_linear},
    {"EyeLike", 9, import_eye_like},
    {"HammingWindow", 17, import_window<hamming_window>},
    {"HannWindow", 17, import_window<hann_window>},
    {"MatMulInteger", 10, import_matmul_integer},
    {"MelWeightMatrix", 17, import_mel_weight_matrix},
    {"Multinomial", 7, import_multinomial},
    {"NonMaxSuppression", 10, import_nms},
    {"NonZero", 9, import_nonzero},
    {"OptionalGetElement", 15, import_optional_get_element},
    {"OptionalHasElement", 15, import_optional_has_element},
    {"QLinearMatMul", 10, import_qlinear_matmul},
    {"QuantizeLinear", 10, import_quantize_linear},
    {"RandomNormal", 1, import_random<true, false>},
    {"RandomNormalLike", 1, import_random<true, true>},
    {"RandomUniform", 1, import_random<false, false>},
    {"RandomUniformLike", 1, import_random<false, true>},
    {"STFT", 17, import_stft},
    {"TfIdfVectorizer", 9, import_tf_idf_vectorizer},
    {"Unique", 11, import_unique},
};

}  // namespace

std::span<const OnnxMapping> onnx_data_operators() {
    return kDataOperators;
}

}  // namespace hearth
