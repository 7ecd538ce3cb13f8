// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sorting and operators built on it. A sort returns indices, not values: argsort(x)[j] is the index
// of the j-th element in order. It is stable, and NaN sorts as the largest value.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/lines.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "compiler/shaders/define.hpp"
#include "compiler/shaders/shader_text.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace hearth {

namespace {

int axis_of(const Attrs& attrs) {
    return static_cast<int>(attrs.integer("axis"));
}

/// Maximum elements sorted at once in shared memory.
constexpr int64_t kLongestRun = 1024;

// --- On the CPU ---

template <class V>
bool precedes(V a, V b, bool is_descending) {
    if (is_descending) std::swap(a, b);
    if constexpr (std::is_same_v<V, double>)
        if (std::isnan(b)) return !std::isnan(a);
    return a < b;
}

/// Calls `work(value_of_place, line)` for each line of x, with doubles or integers.
template <class F>
void for_each_line(const HostTensor& x, const Lines& lines, F work) {
    const auto run = [&](const auto& data) {
        for (int64_t line = 0; line < lines.count; ++line)
            work(
                [&](int64_t place) {
                    return data[static_cast<size_t>(lines.base(line) + place * lines.stride)];
                },
                line);
    };
    if (is_floating(x.dtype()))
        run(elements_of<double>(x));
    else
        run(elements_of<int64_t>(x));
}

/// Indices of each line's elements, sorted within runs of `run` elements.
void sort_in_runs(ReferenceContext& call, int64_t run) {
    const Lines lines(call.inputs[0].shape(), axis_of(call.attrs));
    const bool is_descending = call.attrs.flag("descending");
    std::vector<int64_t> places(static_cast<size_t>(lines.extent));
    for_each_line(call.inputs[0], lines, [&](auto value, int64_t line) {
        std::iota(places.begin(), places.end(), 0);
        for (int64_t first = 0; first < lines.extent; first += run)
            std::stable_sort(
                places.begin() + first, places.begin() + std::min(first + run, lines.extent),
                [&](int64_t a, int64_t b) { return precedes(value(a), value(b), is_descending); });
        for (int64_t j = 0; j < lines.extent; ++j)
            call.outputs[0].set_int(lines.base(line) + j * lines.stride,
                                    places[static_cast<size_t>(j)]);
    });
}

void reference_merge_runs(ReferenceContext& call) {
    const Lines lines(call.inputs[0].shape(), axis_of(call.attrs));
    const bool is_descending = call.attrs.flag("descending");
    const int64_t run = call.attrs.integer("run");
    std::vector<int64_t> places(static_cast<size_t>(lines.extent)), merged = places;
    for_each_line(call.inputs[0], lines, [&](auto value, int64_t line) {
        for (int64_t j = 0; j < lines.extent; ++j)
            places[static_cast<size_t>(j)] =
                call.inputs[1].get_int(lines.base(line) + j * lines.stride);
        for (int64_t first = 0; first < lines.extent; first += 2 * run) {
            const auto at = [&](int64_t j) {
                return places.begin() + std::min(first + j, lines.extent);
            };
            std::merge(
                at(0), at(run), at(run), at(2 * run), merged.begin() + first,
                [&](int64_t a, int64_t b) { return precedes(value(a), value(b), is_descending); });
        }
        for (int64_t j = 0; j < lines.extent; ++j)
            call.outputs[0].set_int(lines.base(line) + j * lines.stride,
                                    merged[static_cast<size_t>(j)]);
    });
}

// --- In kernels ---

std::string sort_macros(const KernelRuleContext& call) {
    const std::string type(kernel_type(call.inputs[0].dtype));
    const std::string wide = "bool value_precedes(" + type + " a, " + type +
                             " b) { return DESCENDING ? a > b : a < b; }\n";
    return define("DESCENDING", call.attrs.flag("descending") ? "true" : "false") +
           define("T", type) +
           (size_bytes(call.inputs[0].dtype) == 8 && type.ends_with("64_t") ? wide : "") +
           define("RUN", call.attrs.integer("run")) +
           line_macros(call.shape(0), axis_of(call.attrs)) +
           std::string(shader_text("sort/order.glsl"));
}

std::optional<CustomKernel> sort_runs_kernel(const KernelRuleContext& call) {
    const int64_t run = call.attrs.integer("run");
    const Shape& x = call.shape(0);
    const int axis = axis_of(call.attrs);
    const int64_t threads = std::clamp<int64_t>(run / 2, 32, usual_workgroup_size(call.caps));
    // Runs of a symbolic axis are counted at full capacity; the kernel loops over them, so this is
    // only a bound.
    const auto rows = static_cast<int64_t>(call.max_batch_size);
    const int64_t runs = (x[axis].resolve(rows) + run - 1) / run;
    Dim work = line_count(x, axis);
    work.count *= runs;
    CustomKernel text;
    text.name = "sort_runs";
    text.glsl = sort_macros(call) + define("THREADS", threads);
    text.glsl += shader_text("sort/sort_runs.comp");
    text.local_size = {static_cast<uint32_t>(threads), 1, 1};
    text.grid[0] = {work, 1};
    const uint64_t steps = std::bit_width(static_cast<uint64_t>(run));
    text.flops = static_cast<uint64_t>(x.element_count(rows)) * steps * steps;
    return text;
}

std::optional<CustomKernel> merge_runs_kernel(const KernelRuleContext& call) {
    const Shape& x = call.shape(0);
    CustomKernel text;
    text.name = "merge_runs";
    const uint32_t threads = usual_workgroup_size(call.caps);
    text.glsl = sort_macros(call) + define("THREADS", threads) +
                std::string(shader_text("sort/merge_runs.comp"));
    text.local_size = {threads, 1, 1};
    text.grid[0] = {x.element_count(), threads};
    const auto run = static_cast<uint64_t>(call.attrs.integer("run"));
    const uint64_t steps = std::bit_width(run);
    text.flops =
        static_cast<uint64_t>(x.element_count(static_cast<int64_t>(call.max_batch_size))) * steps;
    return text;
}

// --- The composition ---

Status infer_places(InferContext& call) {
    HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
    return call.one(DType::kI64, call.shape(0));
}

Status infer_runs(InferContext& call) {
    const int64_t run = call.attrs.integer("run");
    if (run < 2 || run > INT32_MAX || !std::has_single_bit(static_cast<uint64_t>(run)))
        return invalid_argument("a run of " + std::to_string(run) + ", expected a power of two");
    return infer_places(call);
}

Status infer_sort_runs(InferContext& call) {
    if (call.attrs.integer("run") > kLongestRun)
        return out_of_range("runs are at most " + std::to_string(kLongestRun));
    return infer_runs(call);
}

Status infer_merge_runs(InferContext& call) {
    if (call.shape(1) != call.shape(0) || call.dtype(1) != DType::kI64)
        return invalid_argument("places must be i64, one for each element of x");
    return infer_runs(call);
}

/// Merge sort: runs that fit shared memory are merged until one run is the whole line.
std::vector<Tensor> sort_by_merging(DecomposeContext& call) {
    const Tensor x = call.in(0);
    const Dim extent = x.dim(axis_of(call.attrs));
    // The batch size is unknown, so the runs are merged for the largest one; merges of runs longer
    // than the line only copy.
    const int64_t length = extent.is_batch ? int64_t{INT32_MAX} : extent.count;
    int64_t run = 2;
    while (run < length && run < kLongestRun) run *= 2;
    Attrs attrs = call.attrs;
    attrs.set("run", run);
    Tensor places = apply_one(op("sort_runs"), {x}, attrs);
    for (; run < length && run <= (int64_t{1} << 29); run *= 2) {
        attrs.set("run", run);
        places = apply_one(op("merge_runs"), {x, places}, attrs);
    }
    return {places};
}

std::vector<Tensor> no_gradient(VjpContext& v) {
    return std::vector<Tensor>(v.inputs.size());
}

// --- Search in sorted tensors ---

/// Number of elements that precede the value: bisection, unrolled for the maximum element count.
template <bool kRight>
struct SearchRule {
    template <class C>
    auto operator()(C& c) const {
        auto value = c.x(1);
        auto low = c.index(0), high = c.in_count(0);
        for (int64_t reach = c.attrs().integer("steps"); reach > 0; --reach) {
            auto middle = (low + high) / c.index(2);
            auto here = c.in_linear(0, min(middle, c.in_count(0) - 1));
            auto is_before = kRight ? logical_not(value < here) : here < value;
            auto is_open = low < high;
            auto goes_up = logical_and(is_open, is_before);
            high = select(logical_and(is_open, logical_not(is_before)), middle, high);
            low = select(goes_up, middle + c.index(1), low);
        }
        return c.number(low);
    }
};

void search_samples(Samples& s) {
    const auto add = [&s](const Shape& sorted, const Shape& values, int64_t steps, DType dtype) {
        s.add_typed({{dtype, sorted}, {dtype, values}}, {{"steps", steps}});
    };
    add({1}, {7}, 1, DType::kF32);
    add({5}, {kBatch, 3}, 3, DType::kF32);
    add({kBatch}, {4}, 31, DType::kF32);
    add({70}, {2, 1, 3}, 7, DType::kI32);
}

Status infer_search(InferContext& call) {
    if (call.shape(0).rank() != 1 || call.shape(0)[0].count < 1)
        return invalid_argument("sorted is " + to_string(call.shape(0)) + ", expected one axis");
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    return call.one(DType::kI64, call.shape(1));
}

void sort_samples(Samples& s) {
    const auto add = [&s](const Shape& shape, int64_t axis, int64_t descending,
                          DType dtype = DType::kF32) {
        Sample& sample =
            s.add_typed({{dtype, shape}}, {{"axis", axis}, {"descending", descending}});
        // Few distinct values, to get many ties.
        sample.low = is_floating(dtype) ? -2 : 0;
        sample.high = is_floating(dtype) ? 2 : 9;
    };
    add({7}, 0, 0);
    add({3, 5}, 1, 1);
    add({3, 5}, 0, 0);
    add({kBatch, 5}, 1, 0);
    add({kBatch, 5}, 0, 1);
    add({2, 70, 3}, 1, 1, DType::kI32);
    add({2, 2500}, 1, 0, DType::kI32);
    add({2500}, 0, 1);
    add({300}, 0, 1, DType::kU8);
}

void runs_samples(Samples& s, bool merges) {
    const auto add = [&](const Shape& shape, int64_t axis, int64_t run, int64_t descending) {
        const Attrs attrs{{"axis", axis}, {"run", run}, {"descending", descending}};
        if (merges) {
            // Random indices are not sorted runs; argsort's long samples merge real ones.
            Sample& sample = s.add_typed({{DType::kI32, shape}, {DType::kI64, shape}}, attrs);
            sample.low = 0;
            sample.high = 1;
        } else {
            s.add({shape}, attrs);
        }
    };
    add({7}, 0, 4, 0);
    add({3, 70}, 1, 32, 1);
    add({kBatch, 5}, 1, 2, 0);
    add({5, kBatch}, 1, 2, 1);
}

constinit const OpDef kOps[] = {
    {
        .name = "argsort",
        .summary = "places along the axis in the order of their elements; stable, NaN the largest",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = {{"axis", AttrType::kInteger}, {"descending", AttrType::kInteger, 0}},
        .op_class = OpClass::kComposite,
        .infer = infer_places,
        .reference = [](ReferenceContext& call) { sort_in_runs(call, INT32_MAX); },
        .decompose = sort_by_merging,
        .vjp = no_gradient,
        .stops_gradient = true,
        .onnx_export = onnx_export::argsort,
        .onnx = {{"TopK", 1, import_top_k}},
        .samples = sort_samples,
    },
    {
        .name = "sort_runs",
        .summary = "places sorted within runs of `run` elements along the axis",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = {{"axis", AttrType::kInteger},
                  {"run", AttrType::kInteger},
                  {"descending", AttrType::kInteger, 0}},
        .op_class = OpClass::kKernel,
        .reads_each_element_once = true,
        .infer = infer_sort_runs,
        .reference = [](ReferenceContext& call) { sort_in_runs(call, call.attrs.integer("run")); },
        .kernel = sort_runs_kernel,
        .stops_gradient = true,
        .samples = [](Samples& s) { runs_samples(s, false); },
    },
    {
        .name = "merge_runs",
        .summary = "places of which each two sorted runs of `run` elements became one",
        .inputs = {{"x", TypeClass::kNumber}, {"places", TypeClass::kInteger}},
        .attrs = {{"axis", AttrType::kInteger},
                  {"run", AttrType::kInteger},
                  {"descending", AttrType::kInteger, 0}},
        .op_class = OpClass::kKernel,
        .is_opaque = true,
        .infer = infer_merge_runs,
        .reference = reference_merge_runs,
        .kernel = merge_runs_kernel,
        .stops_gradient = true,
        .samples = [](Samples& s) { runs_samples(s, true); },
    },
    {
        .name = "search_left",
        .summary = "how many elements of `sorted` are less than the value",
        .inputs = {{"sorted", TypeClass::kNumber}, {"values", TypeClass::kNumber}},
        .attrs = {{"steps", AttrType::kInteger}},
        .op_class = OpClass::kInjective,
        .infer = infer_search,
        .compute = compute_any(SearchRule<false>{}),
        .stops_gradient = true,
        .samples = search_samples,
    },
    {
        .name = "search_right",
        .summary = "how many elements of `sorted` are less than the value or equal to it",
        .inputs = {{"sorted", TypeClass::kNumber}, {"values", TypeClass::kNumber}},
        .attrs = {{"steps", AttrType::kInteger}},
        .op_class = OpClass::kInjective,
        .infer = infer_search,
        .compute = compute_any(SearchRule<true>{}),
        .stops_gradient = true,
        .samples = search_samples,
    },
};

}  // namespace

extern constinit const std::span<const OpDef> sort_ops{kOps};

Tensor argsort(const Tensor& x, int64_t axis, bool descending) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context("argsort"));
    return apply_one(op("argsort"), {x},
                     {{"axis", int64_t{*at}}, {"descending", int64_t{descending}}});
}

Tensor sort(const Tensor& x, int64_t axis, bool descending) {
    return gather_elements(x, argsort(x, axis, descending), axis);
}

TopK topk(const Tensor& x, int64_t k, int64_t axis, bool largest) {
    const TopK failed{failed_like(x), failed_like(x)};
    if (!x.ok()) return failed;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) {
        fail(x, at.status().with_context("top_k"));
        return failed;
    }
    const Dim extent = x.dim(*at);
    if (k < 0 || extent.is_batch || k > extent.count) {
        fail(x, invalid_argument("top_k: " + std::to_string(k) + " of " + to_string(extent) +
                                 " elements"));
        return failed;
    }
    const Tensor places = slice(argsort(x, *at, largest), *at, 0, k);
    if (k == 0) return {slice(x, *at, 0, 0), places};
    return {gather_elements(x, places, *at), places};
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
    if (!sorted.ok() || !values.ok()) return failed_like(sorted);
    const Dim extent = sorted.rank() == 1 ? sorted.dim(0) : Dim(1);
    const auto most = extent.is_batch ? uint64_t{INT32_MAX} : static_cast<uint64_t>(extent.count);
    return apply_one(op(right ? "search_right" : "search_left"), {sorted, values},
                     {{"steps", static_cast<int64_t>(std::bit_width(most))}});
}

// k is an attribute in version 1, an input since 10.
std::vector<Tensor> import_top_k(OnnxCall& call) {
    const Tensor x = call.in(0);
    const std::optional<std::vector<int64_t>> k = call.list("k", 1);
    if (!call.trace.status().ok()) return {};
    if (!k && !call.attrs.has("k")) return call.invalid("needs k");
    const int64_t count = k && !k->empty() ? (*k)[0] : call.integer("k", 0);
    const TopK top = topk(x, count, call.integer("axis", -1), call.flag("largest", true));
    return {top.values, top.indices};
}

}  // namespace hearth
