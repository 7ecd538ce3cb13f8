// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sorting and operators built on it. A sort returns indices, not values: argsort(x)[j] is the index
// of the j-th element in order. It is stable, and NaN sorts as the largest value.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/lines.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "core/device_model.hpp"

#include <hearth/kernel.hpp>

#include <algorithm>
#include <bit>
#include <functional>
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

/// The order of values: NaN is the largest.  is_descending turns it round.
Scalar value_precedes(Scalar a, Scalar b, bool is_descending) {
    if (is_descending) std::swap(a, b);
    if (!is_floating(a.type())) return a < b;
    return logical_or(logical_and(is_nan(b), logical_not(is_nan(a))), a < b);
}

/// Places of elements along the lines of input 0.
struct PlaceKernel {
    KernelBuilder& k;
    KernelLines lines;
    int64_t run;
    bool is_descending;

    PlaceKernel(KernelBuilder& builder, const Attrs& attrs)
        : k(builder),
          lines(builder, axis_of(attrs)),
          run(attrs.integer("run")),
          is_descending(attrs.flag("descending")) {}

    Scalar element(Scalar base, Scalar place) const { return base + place * lines.stride; }
    Scalar value(Scalar base, Scalar place) const { return k.in(0, element(base, place)); }
    /// An element of merge_runs' places.
    Scalar given(Scalar base, Scalar j) const {
        return k.convert(k.in(1, element(base, j)), ScalarType::kI32);
    }
    void put(Scalar at, Scalar place) const { k.out(0, at, k.convert(place, k.out_type(0))); }

    /// Merges sorted places [first, middle) and [middle, end), of which only the second may be
    /// empty, in one loop.
    using PlaceAt = std::function<Scalar(Scalar)>;
    using Store = std::function<void(Scalar, Scalar)>;
    void merge(Scalar base, Scalar first, Scalar middle, Scalar end, const PlaceAt& place_at,
               const Store& store) const {
        KernelVariable left = k.variable(first), right = k.variable(middle);
        k.loop(first, end, [&](Scalar j) {
            const Scalar l = left, r = right;
            // Reads stay in bounds even where the value is not used.
            const Scalar of_left = place_at(min(l, end - 1)), of_right = place_at(min(r, end - 1));
            const Scalar a = value(base, of_left), b = value(base, of_right);
            const Scalar is_right =
                logical_and(r < end, logical_or(l >= middle, value_precedes(b, a, is_descending)));
            store(j, select(is_right, of_right, of_left));
            left = l + select(is_right, 0, k.index(1));
            right = r + select(is_right, 1, k.index(0));
        });
    }
};

/// Each run by a bitonic network (Batcher, "Sorting Networks and their Applications", 1968) in
/// shared memory, a workgroup for each.  Bytes moved: each element is read once, each place written
/// once.
void sort_runs_in_shared_memory(KernelBuilder& k, const Attrs& attrs) {
    const PlaceKernel s(k, attrs);
    const int64_t threads = k.workgroup_size();
    const Scalar lane = k.lane(), extent = s.lines.extent;
    const Scalar runs = (extent + static_cast<double>(s.run - 1)) / static_cast<double>(s.run);
    const KernelArray keys = k.shared(s.lines.type, s.run);
    const KernelArray places = k.shared(ScalarType::kI32, s.run);
    // Places beyond the line's end come last.
    const auto precedes = [&](Scalar a, Scalar place_a, Scalar b, Scalar place_b) {
        const Scalar is_first = place_a < place_b;
        const Scalar by_value =
            logical_or(value_precedes(a, b, s.is_descending),
                       logical_and(logical_not(value_precedes(b, a, s.is_descending)), is_first));
        return select(logical_or(place_a >= extent, place_b >= extent), is_first, by_value);
    };
    k.loop(k.workgroup(), s.lines.count * runs, k.workgroup_count(), [&](Scalar work) {
        const Scalar base = s.lines.base(work / runs);
        const Scalar first = work % runs * static_cast<double>(s.run);
        k.loop(lane, s.run, threads, [&](Scalar i) {
            const Scalar place = first + i;
            places.set(i, place);
            keys.set(i, 0);
            k.if_(place < extent, [&] { keys.set(i, s.value(base, place)); });
        });
        k.barrier();
        k.loop_growing(2, s.run + 1, 2, [&](Scalar width) {
            k.loop_shrinking(width / 2, 2, [&](Scalar reach) {
                k.loop(lane, s.run / 2, threads, [&](Scalar pair) {
                    const Scalar a = pair / reach * 2 * reach + pair % reach, b = a + reach;
                    const Scalar key_a = keys[a], place_a = places[a];
                    const Scalar key_b = keys[b], place_b = places[b];
                    const Scalar rises = bit_and(a, width) == 0;
                    k.if_(logical_xor(precedes(key_a, place_a, key_b, place_b), rises), [&] {
                        keys.set(a, key_b);
                        places.set(a, place_b);
                        keys.set(b, key_a);
                        places.set(b, place_a);
                    });
                });
                k.barrier();
            });
        });
        k.loop(lane, s.run, threads, [&](Scalar i) {
            const Scalar at = first + i, place = places[i];
            k.if_(at < extent, [&] { s.put(s.element(base, at), place); });
        });
        k.barrier();  // the run is read in again
    });
}

/// Merge sort from the bottom up in arrays of a run's length, an invocation for each line.
void sort_runs_serially(KernelBuilder& k, const Attrs& attrs) {
    const PlaceKernel s(k, attrs);
    k.for_each(s.lines.count, [&](Scalar line) {
        const Scalar base = s.lines.base(line);
        const KernelArray places = k.array(ScalarType::kI32, s.run);
        const KernelArray merged = k.array(ScalarType::kI32, s.run);
        k.loop(0, s.lines.extent, s.run, [&](Scalar begin) {
            const Scalar count = min(s.lines.extent - begin, static_cast<double>(s.run));
            k.loop(0, count, [&](Scalar i) { places.set(i, begin + i); });
            // Turns that are counted, so that C compilers can write them out.
            KernelVariable reach = k.variable(1);
            k.loop(0, std::bit_width(static_cast<uint64_t>(s.run - 1)), [&](Scalar) {
                const Scalar width = reach;
                k.loop(0, count, width * 2, [&](Scalar first) {
                    const Scalar middle = min(first + width, count);
                    s.merge(
                        base, first, middle, min(middle + width, count),
                        [&](Scalar at) { return places[at]; },
                        [&](Scalar at, Scalar place) { merged.set(at, place); });
                });
                k.loop(0, count, [&](Scalar i) { places.set(i, merged[i]); });
                reach = width * 2;
            });
            k.loop(0, count, [&](Scalar i) {
                const Scalar place = places[i];
                s.put(s.element(base, begin + i), place);
            });
        });
    });
}

std::optional<CustomKernel> sort_runs_kernel(const KernelRuleContext& call) {
    const int64_t run = call.attrs.integer("run");
    const Shape& x = call.shape(0);
    const int axis = axis_of(call.attrs);
    const auto rows = static_cast<int64_t>(call.max_batch_size);
    const int64_t extent = x[axis].resolve(rows);
    Dim work = line_count(x, axis);
    const bool has_few_cores = device_model(call.caps).has_few_cores;
    const int64_t threads = std::clamp<int64_t>(run / 2, 32, usual_workgroup_size(call.caps));
    // Runs of a symbolic axis are counted at full capacity; the kernel loops over them, so this is
    // only a bound.
    if (!has_few_cores) work.count *= (extent + run - 1) / run;
    const uint64_t steps = std::bit_width(static_cast<uint64_t>(run));
    return CustomKernel{.name = "sort_runs",
                        .body =
                            [=, attrs = call.attrs](KernelBuilder& k) {
                                (has_few_cores ? sort_runs_serially : sort_runs_in_shared_memory)(
                                    k, attrs);
                            },
                        .local_size = {static_cast<uint32_t>(threads), 1, 1},
                        .grid = {{{work, has_few_cores ? lines_of_cpu_workgroup(extent) : 1}}},
                        .flops = static_cast<uint64_t>(x.element_count(rows)) * steps * steps};
}

/// Each invocation finds the one place that it stores, by a binary search for how many elements of
/// the first run come before it (merge path: Odeh et al., "Merge Path - Parallel Merging Made
/// Simple", 2012).  Stable: of equal elements those of the first run come first.
/// Bytes moved: about 16 * log2(run) for each element, most of them from caches.
void merge_runs_by_search(KernelBuilder& k, const Attrs& attrs) {
    const PlaceKernel s(k, attrs);
    const Scalar run = k.index(s.run), extent = s.lines.extent, stride = s.lines.stride;
    k.for_each(k.in_count(0), [&](Scalar i) {
        const Scalar base = s.lines.base(i / (extent * stride) * stride + i % stride);
        const Scalar j = i / stride % extent;
        // The run may be half the range of an i32.
        const Scalar first = j / 2 / run * run * 2, within = j - first;
        const Scalar count_a = min(run, extent - first);
        const Scalar count_b = min(run, extent - first - count_a);
        // Whether the element at `b` of the second run comes before that at `a` of the first.
        const auto takes_b = [&](Scalar a, Scalar b) {
            const Scalar place_a = s.given(base, first + a);
            const Scalar place_b = s.given(base, first + count_a + b);
            return value_precedes(s.value(base, place_b), s.value(base, place_a), s.is_descending);
        };
        KernelVariable low = k.variable(max(within - count_b, k.index(0)));
        KernelVariable high = k.variable(min(within, count_a));
        k.while_([&] { return low < high; },
                 [&] {
                     const Scalar from = low, middle = (from + high) / 2;
                     k.if_(
                         takes_b(middle, within - 1 - middle), [&] { high = middle; },
                         [&] { low = middle + 1; });
                 });
        const Scalar of_a = low, of_b = within - of_a;
        KernelVariable from = k.variable(first + of_a);
        k.if_(of_b < count_b, [&] {
            KernelVariable is_b = k.variable(ScalarType::kBool, 1);
            k.if_(of_a < count_a, [&] { is_b = takes_b(of_a, of_b); });
            k.if_(is_b, [&] { from = first + count_a + of_b; });
        });
        s.put(i, s.given(base, from));
    });
}

/// An invocation for each line.
void merge_runs_serially(KernelBuilder& k, const Attrs& attrs) {
    const PlaceKernel s(k, attrs);
    // Where twice a run is more than an index holds, it is more than the line has, too.
    const int64_t both = std::min<int64_t>(2 * s.run, int64_t{1} << 30);
    k.for_each(s.lines.count, [&](Scalar line) {
        const Scalar base = s.lines.base(line), extent = s.lines.extent;
        k.loop(0, extent, both, [&](Scalar first) {
            const Scalar rest = extent - first;
            s.merge(
                base, first, first + min(rest, static_cast<double>(s.run)),
                first + min(rest, static_cast<double>(both)),
                [&](Scalar at) { return s.given(base, at); },
                [&](Scalar at, Scalar place) { s.put(s.element(base, at), place); });
        });
    });
}

std::optional<CustomKernel> merge_runs_kernel(const KernelRuleContext& call) {
    const Shape& x = call.shape(0);
    const int axis = axis_of(call.attrs);
    const auto rows = static_cast<int64_t>(call.max_batch_size);
    const uint32_t threads = usual_workgroup_size(call.caps);
    const bool has_few_cores = device_model(call.caps).has_few_cores;
    const auto run = static_cast<uint64_t>(call.attrs.integer("run"));
    CustomKernel kernel{
        .name = "merge_runs",
        .body =
            [=, attrs = call.attrs](KernelBuilder& k) {
                (has_few_cores ? merge_runs_serially : merge_runs_by_search)(k, attrs);
            },
        .local_size = {threads, 1, 1},
        .flops = static_cast<uint64_t>(x.element_count(rows)) * std::bit_width(run)};
    kernel.grid[0] = {x.element_count(), threads};
    if (has_few_cores)
        kernel.grid[0] = {line_count(x, axis), lines_of_cpu_workgroup(x[axis].resolve(rows))};
    return kernel;
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
