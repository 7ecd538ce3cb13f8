// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cumulative sums and products, and linear recurrences.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/lines.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "core/device_model.hpp"

#include <hearth/kernel.hpp>

namespace hearth {

namespace {

int axis_of(const Attrs& attrs) {
    return static_cast<int>(attrs.integer("axis"));
}

Status infer_scan(InferContext& call) {
    HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
    return same_as_input(call);
}

template <class V>
void scan_lines(ReferenceContext& call, V neutral, V (*combine)(V, V)) {
    const HostTensor& x = call.inputs[0];
    const Lines lines(x.shape(), axis_of(call.attrs));
    const bool is_reverse = call.attrs.flag("reverse"), excludes = call.attrs.flag("exclusive");
    const std::vector<V> data = elements_of<V>(x);
    for (int64_t line = 0; line < lines.count; ++line) {
        V total = neutral;
        for (int64_t j = 0; j < lines.extent; ++j) {
            const int64_t at = is_reverse ? lines.extent - 1 - j : j;
            const int64_t element = lines.base(line) + at * lines.stride;
            const V before = total;
            total = combine(total, data[static_cast<size_t>(element)]);
            store(call.outputs[0], element, excludes ? before : total);
        }
    }
}

// Integers wrap, as everywhere.
struct Sum {
    static constexpr double kNeutral = 0;
    static double of(double a, double b) { return a + b; }
    static int64_t of(int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
};
struct Product {
    static constexpr double kNeutral = 1;
    static double of(double a, double b) { return a * b; }
    static int64_t of(int64_t a, int64_t b) {
        return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
};

template <class F>
void reference_scan(ReferenceContext& call) {
    if (is_floating(call.inputs[0].dtype()))
        scan_lines<double>(call, F::kNeutral, F::of);
    else
        scan_lines<int64_t>(call, static_cast<int64_t>(F::kNeutral), F::of);
}

/// Number and size of workgroups of a scan along lines: one invocation per line if lines are short
/// or many, and on CPUs, which have few threads; else a workgroup.
struct ScanPlan {
    bool is_serial = true;
    uint32_t threads = 64;
    CustomKernel::Axis axis;

    explicit ScanPlan(const KernelRuleContext& call) {
        constexpr int64_t kShort = 32, kMany = 4096;
        const Shape& x = call.shape(0);
        const auto rows = static_cast<int64_t>(call.max_batch_size);
        const int along = axis_of(call.attrs);
        const Dim lines = line_count(x, along);
        const int64_t extent = x[along].resolve(rows);
        const bool has_few_cores = device_model(call.caps).has_few_cores;
        is_serial = has_few_cores || extent <= kShort || lines.resolve(rows) >= kMany;
        if (!is_serial) threads = usual_workgroup_size(call.caps);
        axis = {lines, has_few_cores ? lines_of_cpu_workgroup(extent) : is_serial ? threads : 1};
    }
};

/// Element number `j` of a line in the direction of the scan.
Scalar place_in(const KernelLines& lines, Scalar base, Scalar j, bool is_reverse) {
    return base + (is_reverse ? lines.extent - 1 - j : j) * lines.stride;
}

using CombineScalars = Scalar (*)(Scalar, Scalar);

/// Running sums or products, an invocation for each line.
void scan_serially(KernelBuilder& k, const Attrs& attrs, CombineScalars combine, double neutral) {
    const KernelLines lines(k, axis_of(attrs));
    const bool is_reverse = attrs.flag("reverse"), excludes = attrs.flag("exclusive");
    k.for_each(lines.count, [&](Scalar line) {
        const Scalar base = lines.base(line);
        KernelVariable total = k.variable(lines.type, neutral);
        k.loop(0, lines.extent, [&](Scalar j) {
            const Scalar at = place_in(lines, base, j, is_reverse), before = total.get();
            total = combine(before, k.in(0, at));
            k.out(0, at, excludes ? before : total.get());
        });
    });
}

/// The same, a workgroup for each line: the line passes in blocks, each scanned in shared memory
/// (Hillis and Steele, "Data Parallel Algorithms", 1986), and carries what came before.  The order
/// of the additions depends on the line's extent alone: deterministic.
/// Bytes moved: each element is read once and written once.
void scan_in_blocks(KernelBuilder& k, const Attrs& attrs, CombineScalars combine, double neutral) {
    const KernelLines lines(k, axis_of(attrs));
    const bool is_reverse = attrs.flag("reverse"), excludes = attrs.flag("exclusive");
    const int64_t threads = k.workgroup_size();
    const Scalar lane = k.lane();
    const KernelArray block = k.shared(lines.type, threads);
    k.loop(k.workgroup(), lines.count, k.workgroup_count(), [&](Scalar line) {
        const Scalar base = lines.base(line);
        KernelVariable carry = k.variable(lines.type, neutral);
        k.loop(0, lines.extent, threads, [&](Scalar first) {
            const Scalar j = first + lane, at = place_in(lines, base, j, is_reverse);
            KernelVariable mine = k.variable(lines.type, neutral);
            k.if_(j < lines.extent, [&] { mine = k.in(0, at); });
            block.set(lane, mine);
            k.barrier();
            k.loop_growing(1, threads, 2, [&](Scalar reach) {
                k.if_(lane >= reach, [&] {
                    const Scalar earlier = block[lane - reach], own = mine;
                    mine = combine(earlier, own);
                });
                k.barrier();
                block.set(lane, mine);
                k.barrier();
            });
            const Scalar before = carry, all = block[threads - 1];
            k.if_(j < lines.extent, [&] {
                KernelVariable part = k.variable(lines.type, neutral);
                if (!excludes) part = mine;
                if (excludes) k.if_(lane > 0, [&] { part = block[lane - 1]; });
                k.out(0, at, combine(before, part));
            });
            carry = combine(before, all);
            k.barrier();  // the block is written again
        });
    });
}

std::optional<CustomKernel> scan_kernel(const KernelRuleContext& call, CombineScalars combine,
                                        double neutral) {
    const ScanPlan plan(call);
    return CustomKernel{
        .name = "scan",
        .body =
            [=, attrs = call.attrs](KernelBuilder& k) {
                (plan.is_serial ? scan_serially : scan_in_blocks)(k, attrs, combine, neutral);
            },
        .local_size = {plan.threads, 1, 1},
        .grid = {{plan.axis}},
        .flops = static_cast<uint64_t>(
            call.shape(0).element_count(static_cast<int64_t>(call.max_batch_size)))};
}

/// The attributes of the scan in the other direction.
Attrs reversed(const Attrs& attrs) {
    Attrs other = attrs;
    other.set("reverse", int64_t{!attrs.flag("reverse")});
    return other;
}

// The gradient at element k is the sum, over the results that contain it, of their cotangents times
// the product of their other factors: the reverse cumulative sum of g * y, divided by x[k]. Where
// x[k] is zero, only the line's first zero has a gradient, and its products use 1 in its place.
std::vector<Tensor> cumprod_vjp(VjpContext& v) {
    const Tensor x = v.in(0), g = v.cotangent();
    Attrs inclusive = v.attrs;
    inclusive.set("exclusive", int64_t{0});
    const Tensor is_zero = equal(x, 0);
    const Tensor zeros = apply_one(op("cumsum"), {cast(is_zero, DType::kI32)}, inclusive);
    const Tensor is_first = logical_and(is_zero, equal(zeros, 1));
    const auto back = [&](const Tensor& y) {
        return apply_one(op("cumsum"), {g * y}, reversed(v.attrs));
    };
    const Tensor without = apply_one(op("cumprod"), {where(is_first, 1.0, x)}, v.attrs);
    const Tensor regular = where(is_zero, 0.0, back(v.out()) / where(is_zero, 1.0, x));
    return {where(is_first, back(without), regular)};
}

// --- Recurrences: y[t] = x[t] + f * y[t before] ---

// `previous` selects the factor: of the element itself, or of the one before it in scan direction.
// The gradient of one kind is a reverse scan of the other.

Status infer_recurrence(InferContext& call) {
    HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
    if (call.shape(1) != call.shape(0) || call.dtype(1) != call.dtype(0))
        return invalid_argument("x and factor must have one shape and type");
    return same_as_input(call);
}

void reference_recurrence(ReferenceContext& call) {
    const Lines lines(call.inputs[0].shape(), axis_of(call.attrs));
    const bool is_reverse = call.attrs.flag("reverse"), is_previous = call.attrs.flag("previous");
    const std::vector<double> x = elements_of<double>(call.inputs[0]);
    const std::vector<double> factor = elements_of<double>(call.inputs[1]);
    for (int64_t line = 0; line < lines.count; ++line) {
        double y = 0, before = 0;
        for (int64_t j = 0; j < lines.extent; ++j) {
            const int64_t at = is_reverse ? lines.extent - 1 - j : j;
            const auto element = static_cast<size_t>(lines.base(line) + at * lines.stride);
            // The first element has no predecessor; the factor is ignored, even if infinite.
            if (j > 0) y *= is_previous ? before : factor[element];
            y += x[element];
            before = factor[element];
            store(call.outputs[0], static_cast<int64_t>(element), y);
        }
    }
}

/// An invocation for each line.
void recur_serially(KernelBuilder& k, const Attrs& attrs) {
    const KernelLines lines(k, axis_of(attrs));
    const bool is_reverse = attrs.flag("reverse"), is_previous = attrs.flag("previous");
    k.for_each(lines.count, [&](Scalar line) {
        const Scalar base = lines.base(line);
        KernelVariable y = k.variable(lines.type, 0), last = k.variable(lines.type, 0);
        k.loop(0, lines.extent, [&](Scalar j) {
            const Scalar at = place_in(lines, base, j, is_reverse);
            const Scalar x = k.in(0, at), own = k.in(1, at), before = y;
            const Scalar factor = is_previous ? last.get() : own;
            // At the start there is nothing to multiply, not even if the factor is infinite.
            y = select(j == 0, x, x + factor * before);
            if (is_previous) last = own;
            k.out(0, at, y);
        });
    });
}

/// A workgroup for each line: the line passes in blocks, each scanned in shared memory as maps
/// y -> sum + factor * y, which compose (Blelloch, "Prefix Sums and Their Applications", 1990,
/// section 1.4).  The order of the additions depends on the line's extent alone: deterministic.
/// Bytes moved: each element of x and factor is read once, of y written once.
void recur_in_blocks(KernelBuilder& k, const Attrs& attrs) {
    const KernelLines lines(k, axis_of(attrs));
    const bool is_reverse = attrs.flag("reverse"), is_previous = attrs.flag("previous");
    const int64_t threads = k.workgroup_size();
    const Scalar lane = k.lane();
    const KernelArray sums = k.shared(lines.type, threads), factors = k.shared(lines.type, threads);
    const auto share = [&](KernelVariable& sum, KernelVariable& factor) {
        sums.set(lane, sum);
        factors.set(lane, factor);
        k.barrier();
    };
    k.loop(k.workgroup(), lines.count, k.workgroup_count(), [&](Scalar line) {
        const Scalar base = lines.base(line);
        KernelVariable carry = k.variable(lines.type, 0);
        k.loop(0, lines.extent, threads, [&](Scalar first) {
            const Scalar j = first + lane, at = place_in(lines, base, j, is_reverse);
            // Behind the line's end: the map that changes nothing.
            KernelVariable sum = k.variable(lines.type, 0), factor = k.variable(lines.type, 1);
            k.if_(j < lines.extent, [&] {
                sum = k.in(0, at);
                // The first element has nothing before it; its factor may be anything.
                factor = 0;
                const Scalar step = is_reverse ? -lines.stride : lines.stride;
                k.if_(j > 0, [&] { factor = k.in(1, is_previous ? at - step : at); });
            });
            share(sum, factor);
            k.loop_growing(1, threads, 2, [&](Scalar reach) {
                k.if_(lane >= reach, [&] {
                    const Scalar own = factor, earlier = sums[lane - reach];
                    sum += own * earlier;
                    factor *= factors[lane - reach];
                });
                k.barrier();
                share(sum, factor);
            });
            const Scalar before = carry, own = sum, own_factor = factor;
            k.if_(j < lines.extent, [&] { k.out(0, at, own + own_factor * before); });
            const Scalar all = sums[threads - 1], all_factors = factors[threads - 1];
            carry = all + all_factors * before;
            k.barrier();  // the block is written again
        });
    });
}

std::optional<CustomKernel> recurrence_kernel(const KernelRuleContext& call) {
    const ScanPlan plan(call);
    return CustomKernel{
        .name = "linear_scan",
        .body =
            [=, attrs = call.attrs](KernelBuilder& k) {
                (plan.is_serial ? recur_serially : recur_in_blocks)(k, attrs);
            },
        .local_size = {plan.threads, 1, 1},
        .grid = {{plan.axis}},
        .flops = static_cast<uint64_t>(
            2 * call.shape(0).element_count(static_cast<int64_t>(call.max_batch_size)))};
}

/// Shifts x by one element along the axis, in the direction of the scan; zero-fills the start.
Tensor moved(const Tensor& x, int axis, bool reverse) {
    const int64_t extent = x.dim(axis).count;
    Shape edge = x.shape();
    edge[axis] = Dim(1);
    const Tensor zero = expand(constant_like(x, 0), edge);
    if (extent == 1) return zero;
    const Tensor parts[] = {reverse ? slice(x, axis, 1, extent) : zero,
                            reverse ? zero : slice(x, axis, 0, extent - 1)};
    return concat(parts, axis);
}

std::vector<Tensor> recurrence_vjp(VjpContext& v) {
    Attrs back = v.attrs;
    const bool is_reverse = v.attrs.flag("reverse"), is_previous = v.attrs.flag("previous");
    back.set("reverse", int64_t{!is_reverse});
    back.set("previous", int64_t{!is_previous});
    const Tensor gradient = apply_one(op("linear_scan"), {v.cotangent(), v.in(1)}, back);
    // The batch axis cannot be shifted yet: it has no fixed extent.
    const int axis = axis_of(v.attrs);
    if (v.in(0).dim(axis).is_batch) return {gradient, Tensor()};
    return {gradient, is_previous ? moved(gradient, axis, !is_reverse) * v.out()
                                  : gradient * moved(v.out(), axis, is_reverse)};
}

void recurrence_samples(Samples& s) {
    const auto add = [&](const Shape& shape, int64_t axis, int64_t reverse, int64_t previous = 0) {
        Sample& sample =
            s.add_typed({{DType::kF32, shape}, {DType::kF32, shape}},
                        {{"axis", axis}, {"reverse", reverse}, {"previous", previous}});
        sample.low = -1;
        sample.high = 1;
    };
    add({7}, 0, 0);
    add({1}, 0, 1);
    add({3, 5}, 1, 1);
    add({3, 5}, 0, 0, 1);
    add({kBatch, 5}, 1, 1, 1);
    add({2, 3, 1, 5}, 1, 0);
    add({3, 40}, 1, 1);
    add({2, 300, 2}, 1, 1);
    add({515}, 0, 0, 1);
    add({520, 2}, 0, 1);
}

void scan_samples(Samples& s, double low, double high) {
    const auto add = [&](const Shape& shape, int64_t axis, int64_t exclusive, int64_t reverse,
                         DType dtype = DType::kF32) {
        Sample& sample = s.add_typed(
            {{dtype, shape}}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
        sample.low = low;
        sample.high = high;
    };
    add({7}, 0, 0, 0);
    add({1}, 0, 1, 0);
    add({3, 5}, 1, 1, 0);
    add({3, 5}, 0, 0, 1);
    add({kBatch, 5}, 0, 1, 1);
    add({kBatch, 5}, 1, 0, 1);
    add({2, 3, 1, 5}, 1, 0, 0);
    add({3, 40}, 1, 1, 1);
    add({2, 300, 2}, 1, 0, 0);
    add({515}, 0, 0, 1);
    add({3, 300}, 1, 1, 0, DType::kI32);
    add({2, 70}, 1, 0, 0, DType::kI8);
    add({2, 7}, 1, 0, 0, DType::kU8);
}

constexpr FixedList<AttrSpec, 12> kScanAttrs = {{"axis", AttrType::kInteger},
                                                {"exclusive", AttrType::kInteger, 0},
                                                {"reverse", AttrType::kInteger, 0}};

constinit const OpDef kOps[] = {
    {
        .name = "cumsum",
        .summary = "running sums along the axis; exclusive: without the element itself",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = kScanAttrs,
        .op_class = OpClass::kKernel,
        .reads_each_element_once = true,
        .infer = infer_scan,
        .reference = reference_scan<Sum>,
        .kernel =
            [](const KernelRuleContext& call) {
                return scan_kernel(
                    call, [](Scalar a, Scalar b) { return a + b; }, 0);
            },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {apply_one(op("cumsum"), {v.cotangent()}, reversed(v.attrs))};
        },
        .onnx_export = onnx_export::cumsum,
        .onnx = {{"CumSum", 11, import_cumsum}},
        .samples = [](Samples& s) { scan_samples(s, -2, 2); },
        .tolerance = {.f32 = 1e-4},
    },
    {
        .name = "cumprod",
        .summary = "running products along the axis; exclusive: without the element itself",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = kScanAttrs,
        .op_class = OpClass::kKernel,
        .reads_each_element_once = true,
        .reduce = ReduceOp::kProduct,
        .infer = infer_scan,
        .reference = reference_scan<Product>,
        .kernel =
            [](const KernelRuleContext& call) {
                return scan_kernel(
                    call, [](Scalar a, Scalar b) { return a * b; }, 1);
            },
        .vjp = cumprod_vjp,
        .onnx_export = onnx_export::cumprod,
        .onnx = {{"CumProd", 26, import_cumprod}},
        // Near 1, to keep long products in range.
        .samples = [](Samples& s) { scan_samples(s, 0.9, 1.1); },
        .tolerance = {.f32 = 1e-4},
    },
    {
        .name = "linear_scan",
        .summary = "y[t] = x[t] + factor[t] * y[t - 1] along the axis, with factor[t - 1] if "
                   "`previous`; reverse: from the end",
        .inputs = {{"x"}, {"factor"}},
        .attrs = {{"axis", AttrType::kInteger},
                  {"reverse", AttrType::kInteger, 0},
                  {"previous", AttrType::kInteger, 0}},
        .op_class = OpClass::kKernel,
        .reads_each_element_once = true,
        .infer = infer_recurrence,
        .reference = reference_recurrence,
        .kernel = recurrence_kernel,
        .vjp = recurrence_vjp,
        .samples = recurrence_samples,
        .tolerance = {.f32 = 1e-4},
    },
};

Tensor scan(std::string_view name, const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context(name));
    if (x.shape().element_count().count == 0) return x;
    return apply_one(
        op(name), {x},
        {{"axis", int64_t{*at}}, {"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}});
}

std::vector<Tensor> import_scan(OnnxCall& call, std::string_view name) {
    const Tensor x = call.in(0);
    const std::vector<int64_t> axes = call.integers_in(1);
    if (!call.trace.status().ok()) return {};
    if (axes.size() != 1) return call.invalid("needs one axis");
    return {scan(name, x, axes[0], call.flag("exclusive", false), call.flag("reverse", false))};
}

}  // namespace

extern constinit const std::span<const OpDef> scan_ops{kOps};

Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
    return scan("cumsum", x, axis, exclusive, reverse);
}

Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
    return scan("cumprod", x, axis, exclusive, reverse);
}

Tensor linear_recurrence(const Tensor& x, const Tensor& factor, int64_t axis, bool reverse) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context("linear_scan"));
    if (x.shape().element_count().count == 0) return x;
    return apply_one(op("linear_scan"), {x, factor},
                     {{"axis", int64_t{*at}}, {"reverse", int64_t{reverse}}});
}

Tensor discounted_cumsum(const Tensor& x, const Tensor& discount, const Tensor& dones, int64_t axis,
                         bool reverse) {
    if (!x.ok() || !discount.ok() || !dones.ok()) return failed_like(x);
    const Tensor goes_on = 1.0 - cast(dones, x.dtype());
    return linear_recurrence(x, expand(cast(discount, x.dtype()) * goes_on, x.shape()), axis,
                             reverse);
}

Tensor discounted_cumsum(const Tensor& x, double discount, const Tensor& dones, int64_t axis,
                         bool reverse) {
    if (!x.ok()) return x;
    return discounted_cumsum(x, constant_like(x, discount), dones, axis, reverse);
}

std::vector<Tensor> import_cumsum(OnnxCall& call) {
    return import_scan(call, "cumsum");
}

std::vector<Tensor> import_cumprod(OnnxCall& call) {
    return import_scan(call, "cumprod");
}

}  // namespace hearth
