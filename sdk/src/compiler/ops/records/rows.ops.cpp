// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Replaces rows of a tensor. As the update of a param or state, its kernel writes only these rows,
// in place (OpDef::writes_in_place); otherwise it is a scatter.

#include "compiler/ir/graph.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "core/device_model.hpp"

#include <hearth/kernel.hpp>

#include <algorithm>
#include <limits>

namespace hearth {

namespace {

/// x: [N..., R...], with indices over the first `depth` axes flattened; indices: [M]; rows: [M,
/// R...].
struct RowLayout {
    int depth;
    int64_t count = 1;  ///< number of rows: the product of N
    int64_t width = 1;  ///< elements of a row
    Shape rest;         ///< R

    RowLayout(const Attrs& attrs, const Shape& x)
        : depth(static_cast<int>(attrs.integer("depth"))) {
        for (int i = 0; i < x.rank(); ++i) {
            (i < depth ? count : width) *= x[i].count;
            if (i >= depth) rest.push_back(x[i]);
        }
    }
    Shape rows(Dim m) const {
        Shape shape{m};
        for (Dim d : rest.dims()) shape.push_back(d);
        return shape;
    }
};

Status infer_write_rows(InferContext& call) {
    const Shape &x = call.shape(0), &indices = call.shape(1);
    const int64_t depth = call.attrs.integer("depth");
    if (x.has_batch() || depth < 1 || depth > x.rank() || indices.rank() != 1)
        return invalid_argument(
            "expected x of a fixed shape, indices of [M] and a depth from 1 to "
            "x's rank, found " +
            to_string(x) + ", " + to_string(indices) + " and " + std::to_string(depth));
    if (call.dtype(0) != call.dtype(2))
        return invalid_argument("x is " + std::string(name_of(call.dtype(0))) + ", rows are " +
                                std::string(name_of(call.dtype(2))));
    const RowLayout layout(call.attrs, x);
    if (call.shape(2) != layout.rows(indices[0]))
        return invalid_argument("rows must be " + to_string(layout.rows(indices[0])) + ", found " +
                                to_string(call.shape(2)));
    if (x.element_count().count == 0 || indices[0].count == 0)
        return invalid_argument("there is nothing to write");
    if (x.element_count().count > std::numeric_limits<int32_t>::max())
        return out_of_range("x has over 2^31 elements");
    return call.one(call.dtype(0), x);
}

void reference_write_rows(ReferenceContext& call) {
    const RowLayout layout(call.attrs, call.inputs[0].shape());
    call.outputs[0] = call.inputs[0];
    const auto bytes = static_cast<size_t>(layout.width) * size_bytes(call.inputs[0].dtype());
    for (int64_t i = 0; i < call.inputs[1].element_count(); ++i) {
        const int64_t place = call.inputs[1].get_int(i);
        if (place < 0 || place >= layout.count) continue;
        const auto row = call.inputs[2].bytes().subspan(static_cast<size_t>(i) * bytes, bytes);
        std::ranges::copy(row, call.outputs[0].bytes().begin() +
                                   static_cast<ptrdiff_t>(static_cast<size_t>(place) * bytes));
    }
}

std::vector<Tensor> scatter_rows(DecomposeContext& call) {
    const Tensor x = call.in(0), indices = cast(call.in(1), DType::kI32), rows = call.in(2);
    const RowLayout layout(call.attrs, x.shape());
    // scatter_nd wraps negative indices; here they are out of range.
    const Tensor places = where(less(indices, 0), static_cast<double>(layout.count), indices);
    const Tensor flat = reshape(x, layout.rows(Dim(layout.count)));
    return {reshape(scatter_nd(flat, unsqueeze(places, {-1}), rows), x.shape())};
}

/// A workgroup for each row first looks whether a later one is meant for the same place; the last
/// one stays, whatever the order in which workgroups run.
/// Bytes moved: the rows once in and once out; the indices M^2 / 2 times, mostly from a cache.
void write_rows_by_workgroups(KernelBuilder& k, const RowLayout& layout) {
    const int64_t threads = k.workgroup_size();
    const KernelArray has_found = k.shared(ScalarType::kBool, threads);
    const Scalar lane = k.lane(), rows = k.in_count(1);
    const auto place_of = [&](Scalar row) { return k.convert(k.in(1, row), ScalarType::kI32); };
    k.loop(k.workgroup(), rows, k.workgroup_count(), [&](Scalar row) {
        const Scalar place = place_of(row);
        KernelVariable found = k.variable(ScalarType::kBool, 0);
        k.loop(row + 1 + lane, rows, threads,
               [&](Scalar later) { found = logical_or(found, place_of(later) == place); });
        has_found.set(lane, found);
        k.barrier();
        KernelVariable is_last = k.variable(ScalarType::kBool, 1);
        k.loop(0, threads, [&](Scalar other) {
            const Scalar so_far = is_last;
            is_last = logical_and(so_far, logical_not(has_found[other]));
        });
        const Scalar is_inside = logical_and(place >= 0, place < static_cast<double>(layout.count));
        k.if_(logical_and(is_last, is_inside), [&] {
            const auto width = static_cast<double>(layout.width);
            k.loop(lane, layout.width, threads,
                   [&](Scalar e) { k.out(0, place * width + e, k.in(2, row * width + e)); });
        });
        k.barrier();  // has_found is written again
    });
}

/// Row after row: of several rows for one place the last one stays.
void write_rows_serially(KernelBuilder& k, const RowLayout& layout) {
    const auto width = static_cast<double>(layout.width);
    k.for_each(k.in_count(1), [&](Scalar row) {
        const Scalar place = k.convert(k.in(1, row), ScalarType::kI32);
        k.if_(logical_and(place >= 0, place < static_cast<double>(layout.count)), [&] {
            k.loop(0, layout.width,
                   [&](Scalar e) { k.out(0, place * width + e, k.in(2, row * width + e)); });
        });
    });
}

std::optional<CustomKernel> write_rows_kernel(const KernelRuleContext& call) {
    constexpr int64_t kElementsEach = 1024;  // of a CPU's workgroup: makes up for calling it
    const RowLayout layout(call.attrs, call.shape(0));
    const bool has_few_cores = device_model(call.caps).has_few_cores;
    CustomKernel kernel{.name = "write_rows",
                        .body =
                            [=](KernelBuilder& k) {
                                (has_few_cores ? write_rows_serially : write_rows_by_workgroups)(
                                    k, layout);
                            },
                        .local_size = {64, 1, 1}};
    kernel.grid[0] = {call.shape(1)[0], 1};
    // Rows that may meet at a place are for one workgroup, which takes them in their order.
    // (codegen/scatter/rows_kernel.cpp writes distinct rows on GPUs.)
    if (has_few_cores && call.attrs.flag("distinct"))
        kernel.grid[0].tile_size =
            static_cast<uint32_t>(std::max<int64_t>(kElementsEach / layout.width, 1));
    else if (has_few_cores)
        kernel.grid[0] = {Dim(1), 1};
    return kernel;
}

constinit const OpDef kOps[] = {{
    .name = "write_rows",
    .summary = "x [N..., R...] with rows [M, R...] at indices [M], which count its first `depth` "
               "axes as one; the last of several for one place stays, those outside are left out; "
               "in place where the result is nothing but the update of x",
    .inputs = {{"x", TypeClass::kAny}, {"indices", TypeClass::kInteger}, {"rows", TypeClass::kAny}},
    .attrs = {{"depth", AttrType::kInteger, 1}, {"distinct", AttrType::kInteger, 0}},
    .op_class = OpClass::kKernel,
    .reads_each_element_once = true,
    .writes_in_place = true,
    .infer = infer_write_rows,
    .reference = reference_write_rows,
    .decompose = scatter_rows,
    .kernel = write_rows_kernel,
    .stops_gradient = true,
    .samples =
        [](Samples& s) {
            const auto add = [&](const Shape& x, Dim m, int64_t depth, DType dtype) {
                Attrs attrs{{"depth", depth}, {"distinct", int64_t{0}}};
                const RowLayout layout(attrs, x);
                Sample& sample = s.add_typed(
                    {{dtype, x}, {DType::kI32, Shape{m}}, {dtype, layout.rows(m)}}, attrs);
                sample.low = -2;
                sample.high = static_cast<double>(layout.count) + 1;
                sample.gradient = false;
            };
            add({5, 3}, 4, 1, DType::kF32);
            add({7}, 9, 1, DType::kI32);
            add({3, 4, 5}, 6, 2, DType::kF32);
            add({6, 3}, kBatch, 1, DType::kF32);
            add({6, 1, 5}, 5, 1, DType::kU8);
            add({3, 3}, 2, 2, DType::kF16);
        },
}};

Status check_assign_rows(const Tensor& target, const Tensor& indices, const Tensor& rows) {
    for (const Tensor* t : {&indices, &rows})
        if (t->trace() != target.trace())
            return invalid_argument("the tensors come from different traces");
    const Shape &x = target.shape(), &i = indices.shape();
    if (!is_integer(indices.dtype()))
        return invalid_argument("the indices are " + std::string(name_of(indices.dtype())) +
                                ", expected integers");
    const int64_t depth = i.rank() == 2 ? i[1].count : 1;
    if (i.rank() < 1 || i.rank() > 2 || (i.rank() == 2 && i[1].is_batch) || depth < 1 ||
        depth > x.rank())
        return invalid_argument("the indices are " + to_string(i) +
                                ", expected [M] or [M, K] with K "
                                "from 1 to the rank of " +
                                to_string(x));
    return {};
}

/// True if there is nothing to write.
bool is_empty(const Tensor& t) {
    return t.shape().element_count().count == 0;
}

void write_rows(const Tensor& target, const Tensor& places, const Tensor& rows, int64_t depth,
                bool are_distinct) {
    if (is_empty(rows) || is_empty(target)) return;
    target.trace()->assign(target,
                           apply_one(op("write_rows"), {target, places, rows},
                                     {{"depth", depth}, {"distinct", int64_t{are_distinct}}}));
}

}  // namespace

extern constinit const std::span<const OpDef> rows_ops{kOps};

Tensor flat_row_places(const Tensor& indices, const Shape& x, int depth) {
    Tensor flat, is_inside;
    for (int k = 0; k < depth; ++k) {
        const auto extent = static_cast<double>(x[k].count);
        Tensor i = indices.rank() == 1 ? indices : squeeze(slice(indices, 1, k, k + 1), {-1});
        // An unsigned index beyond i32 must not become negative.
        i = is_unsigned(i.dtype()) ? cast(minimum(i, constant_like(i, extent)), DType::kI32)
                                   : cast(i, DType::kI32);
        if (!is_unsigned(indices.dtype())) i = where(less(i, 0), i + extent, i);
        if (depth == 1) return i;
        const Tensor fits = logical_and(greater_equal(i, 0), less(i, extent));
        is_inside = k == 0 ? fits : logical_and(is_inside, fits);
        flat = k == 0 ? i : flat * extent + i;
    }
    return where(is_inside, flat, -1.0);
}

void index_copy_(const Tensor& target, const Tensor& indices, const Tensor& rows,
                 bool are_distinct) {
    if (!target.ok() || !indices.ok() || !rows.ok()) return;
    if (Status s = check_assign_rows(target, indices, rows); !s.ok()) {
        (void)fail(target, s.with_context("index_copy_"));
        return;
    }
    const int depth = indices.rank() == 2 ? static_cast<int>(indices.dim(1).count) : 1;
    write_rows(target, flat_row_places(indices, target.shape(), depth), rows, depth, are_distinct);
}

Tensor ring_buffer_push(const Tensor& target, const Tensor& begin, const Tensor& rows) {
    if (!target.ok() || !begin.ok() || !rows.ok()) return failed_like(target);
    if (begin.trace() != target.trace() || rows.trace() != target.trace())
        return fail(target,
                    invalid_argument("ring_buffer_push: the tensors come from different traces"));
    if (!is_integer(begin.dtype()) || begin.rank() != 0 || target.rank() < 1 || rows.rank() < 1)
        return fail(
            target,
            invalid_argument("ring_buffer_push: expected a ring and rows of rank 1 or "
                             "more and an integer begin of [], found " +
                             to_string(target.shape()) + ", " + to_string(rows.shape()) + " and " +
                             std::string(name_of(begin.dtype())) + to_string(begin.shape())));
    const Dim m = rows.dim(0);
    const int64_t n = target.dim(0).count;
    if (n < 1) return fail(target, invalid_argument("ring_buffer_push: the ring has no rows"));
    Trace& trace = *target.trace();
    const auto size = static_cast<double>(n);
    const Tensor start = mod(begin, constant_like(begin, size));
    const Tensor number = arange(trace, Shape{m});
    const Tensor at = number + cast(start, DType::kI32);
    Tensor places = mod(at, constant_like(at, size));
    const Tensor count = m.is_batch ? cast(numel_along(rows, {0}), DType::kI32)
                                    : constant_like(at, static_cast<double>(m.count));
    // With more rows than the ring holds, only the last ones are written; the others would be
    // overwritten.
    if (m.is_batch || m.count > n)
        places = where(less(number, count - constant_like(at, size)), -1.0, places);
    write_rows(target, places, rows, 1, /*are_distinct=*/true);
    return cast(mod(cast(start, DType::kI32) + count, constant_like(at, size)), begin.dtype());
}

void output_scalars(std::string_view name, std::span<const NamedScalar> scalars) {
    Trace* trace = nullptr;
    for (const NamedScalar& s : scalars)
        if (trace == nullptr) trace = s.value.trace();
    if (trace == nullptr) return;
    const std::string what = "output_scalars '" + std::string(name) + "'";
    std::vector<std::string> names;
    DType dtype = scalars[0].value.dtype();
    for (const NamedScalar& s : scalars) {
        if (!s.value.ok()) return;
        const std::string label(s.name);
        if (s.value.trace() != trace)
            return trace->fail(invalid_argument(what + ": '" + label + "' is of another trace"));
        const Dim count = s.value.shape().element_count();
        if (count.is_batch || count.count != 1)
            return trace->fail(invalid_argument(what + ": '" + label + "' is " +
                                                to_string(s.value.shape()) +
                                                ", expected a single number"));
        if (label.empty() || std::find(names.begin(), names.end(), label) != names.end())
            return trace->fail(
                invalid_argument(what + ": the name '" + label + "' is empty or given twice"));
        if (s.value.dtype() != dtype) dtype = DType::kF32;
        names.push_back(label);
    }
    std::vector<Tensor> parts;
    for (const NamedScalar& s : scalars) parts.push_back(reshape(cast(s.value, dtype), {1}));
    trace->output(name, concat(parts, 0));
    if (!trace->status().ok()) return;
    mutable_graph(*trace).outputs.back().scalars = std::move(names);
}

void output_scalars(std::string_view name, std::initializer_list<NamedScalar> scalars) {
    output_scalars(name, std::span(scalars.begin(), scalars.size()));
}

}  // namespace hearth
