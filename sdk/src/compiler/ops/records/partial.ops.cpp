// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Partial sums (split-K).  A sum over all agents has few results and so little parallelism;
// compiler/passes/split_sums.cpp rewrites it as one of these operators, which gives many partial
// results, and a short final sum.  Only that pass creates them, after differentiation; the number
// of parts is a constant of the program, so results are deterministic.  Partial results of f16 and
// bf16 are f32: only the final sum is rounded.
//
// compiler/passes/split_norms.cpp creates the block sums and block maxima.

#include "compiler/ops/shared/rules.hpp"
#include "compiler/ops/shared/sum_type.hpp"

namespace hearth {

namespace {

/// [parts, the input's extents with 1 along `axes`].
Shape partial_shape(const Shape& x, const Attrs& attrs) {
    Shape shape{Dim(attrs.integer("parts"))};
    for (Dim d : x.dims()) shape.push_back(d);
    for (int64_t axis : attrs.integers("axes")) shape[static_cast<int>(axis) + 1] = Dim(1);
    return shape;
}

/// Terms per part: all parts but the last ones are equally long multiples of `granule`. At least 4
/// for products: see their kernels.
int64_t chunk_of(int64_t terms, const Attrs& attrs) {
    const int64_t parts = attrs.integer("parts"), granule = attrs.integer("granule");
    const int64_t least = (terms + parts - 1) / parts;
    return (least + granule - 1) / granule * granule;
}

Status check_parts(const Attrs& attrs) {
    if (attrs.integer("parts") < 1) return invalid_argument("parts must be at least 1");
    if (attrs.has("granule") && attrs.integer("granule") < 1)
        return invalid_argument("granule must be at least 1");
    return {};
}

Status infer_matmul_partial(InferContext& call) {
    const Shape &a = call.shape(0), &b = call.shape(1);
    if (a.rank() != 2 || b.rank() != 2) return invalid_argument("a and b must be of rank 2");
    const bool ta = call.attrs.flag("transpose_a"), tb = call.attrs.flag("transpose_b");
    if (a[ta ? 0 : 1] != b[tb ? 1 : 0])
        return invalid_argument("inner sizes differ: a " + to_string(a) + ", b " + to_string(b));
    HEARTH_TRY(check_parts(call.attrs));
    return call.one(sum_type(call.dtype(0)),
                    {Dim(call.attrs.integer("parts")), a[ta ? 1 : 0], b[tb ? 0 : 1]});
}

void reference_matmul_partial(ReferenceContext& call) {
    const HostTensor &a = call.inputs[0], &b = call.inputs[1];
    const bool ta = call.attrs.flag("transpose_a"), tb = call.attrs.flag("transpose_b");
    const int64_t parts = call.attrs.integer("parts");
    const int64_t m = a.shape()[ta ? 1 : 0].count, k = a.shape()[ta ? 0 : 1].count;
    const int64_t n = b.shape()[tb ? 0 : 1].count;
    const int64_t chunk = chunk_of(k, call.attrs);
    for (int64_t p = 0; p < parts; ++p) {
        for (int64_t i = 0; i < m * n; ++i) {
            const int64_t row = i / n, column = i % n;
            double sum = 0;
            for (int64_t j = p * chunk; j < std::min(k, (p + 1) * chunk); ++j)
                sum += a.get(ta ? j * m + row : row * k + j) *
                       b.get(tb ? column * k + j : j * n + column);
            call.outputs[0].set(p * m * n + i, sum);
        }
    }
}

/// Computes each part as the full product with the other parts' terms zeroed, for targets without
/// the kernel.
std::vector<Tensor> decompose_matmul_partial(DecomposeContext& call) {
    const Tensor &a = call.in(0), &b = call.in(1);
    const bool ta = call.attrs.flag("transpose_a"), tb = call.attrs.flag("transpose_b");
    const int64_t parts = call.attrs.integer("parts"), granule = call.attrs.integer("granule");
    const int inner_of_a = ta ? 0 : 1, inner_of_b = tb ? 1 : 0;
    const Tensor count = cast(numel_along(a, {inner_of_a}), DType::kI32);
    const auto whole = [&](int64_t value) {
        return call.trace.constant(static_cast<double>(value), DType::kI32);
    };
    const Tensor least = (count + whole(parts - 1)) / whole(parts);
    const Tensor each = (least + whole(granule - 1)) / whole(granule) * whole(granule);
    const Tensor part = arange(call.trace, Shape{a.dim(inner_of_a)}, DType::kI32) / each;
    Attrs attrs{{"transpose_a", int64_t{ta}}, {"transpose_b", int64_t{tb}}};
    attrs.set("wide", int64_t{sum_type(a.dtype()) != a.dtype()});
    std::vector<Tensor> products;
    for (int64_t p = 0; p < parts; ++p) {
        const Tensor is_here = equal(part, whole(p));
        const auto masked = [&](const Tensor& x, int inner) {
            return where(unsqueeze(is_here, {inner == 0 ? 1 : 0}), x, constant_like(x, 0));
        };
        products.push_back(
            apply_one(op("matmul"), {masked(a, inner_of_a), masked(b, inner_of_b)}, attrs));
    }
    return {stack(products, 0)};
}

Status infer_blocks(InferContext& call) {
    const int64_t block = call.attrs.integer("block");
    if (block < 1) return invalid_argument("block must be at least 1");
    Shape shape = call.shape(0);
    if (shape.rank() < 1 || shape[shape.rank() - 1].is_batch || shape[shape.rank() - 1].count < 1)
        return invalid_argument("x must have a last axis, of a fixed extent");
    Dim& last = shape[shape.rank() - 1];
    last = Dim((last.count + block - 1) / block);
    return call.one(call.dtype(0), shape);
}

void block_samples(Samples& s) {
    s.add({{7}}, {{"block", int64_t{3}}}).gradient = false;
    s.add({{2, 8}}, {{"block", int64_t{4}}}).gradient = false;
    s.add({{kBatch, 5}}, {{"block", int64_t{32}}}).gradient = false;
    s.add({{100}}, {{"block", int64_t{32}}}).gradient = false;
}

/// The element at `at` on the last axis, clamped to the last one.
template <class Context, class Index>
auto element_of_block(Context& c, Index at) {
    auto place = c.coords();
    const int axis = place.rank() - 1;
    place[axis] = min(at, c.in_dim(0, axis) - 1);
    return c.in(0, place);
}

constinit const OpDef kOps[] = {
    {
        .name = "block_sum",
        .summary = "sums of `block` neighbours on the last axis each; the last of what is left",
        .inputs = {{"x"}},
        .attrs = {{"block"}},
        .op_class = OpClass::kInjective,
        .reads_each_element_once = true,
        .traits = {.reduces_blocks = true},
        .reduce = ReduceOp::kSum,
        .infer = infer_blocks,
        .compute = compute_float([](auto& c) {
            const auto block = c.index(c.attrs().integer("block"));
            const int axis = c.coords().rank() - 1;
            const auto first = c.coords()[axis] * block;
            return c.sum(block, [&](auto j) {
                return select(first + j < c.in_dim(0, axis), element_of_block(c, first + j),
                              c.value(0));
            });
        }),
        .samples = block_samples,
    },
    {
        .name = "block_max",
        .summary = "the largest of `block` neighbours on the last axis each; NaN if there is one",
        .inputs = {{"x"}},
        .attrs = {{"block"}},
        .op_class = OpClass::kInjective,
        .reads_each_element_once = true,
        .traits = {.reduces_blocks = true},
        .reduce = ReduceOp::kMax,
        .infer = infer_blocks,
        .compute = compute_float([](auto& c) {
            const auto block = c.index(c.attrs().integer("block"));
            const auto first = c.coords()[c.coords().rank() - 1] * block;
            return c.reduce_max(block, [&](auto j) { return element_of_block(c, first + j); });
        }),
        .samples = block_samples,
    },
    {
        .name = "partial_sum",
        .summary = "sums over every parts-th element along `axes`, from each of the first `parts`",
        .inputs = {{"x"}},
        .attrs = {{"axes", AttrType::kIntegers}, {"parts"}},
        .op_class = OpClass::kInjective,
        .reads_each_element_once = true,
        .infer = [](InferContext& call) -> Status {
            if (call.attrs.integer("parts") < 1)
                return invalid_argument("parts must be at least 1");
            return call.one(sum_type(call.dtype(0)), partial_shape(call.shape(0), call.attrs));
        },
        .compute = compute_float([](auto& c) {
            auto at = c.coords();
            auto from = c.coords();
            const auto& axes = c.attrs().integers("axes");
            auto length = c.index(1);
            for (int64_t axis : axes) length = length * c.in_dim(0, static_cast<int>(axis));
            const auto parts = c.index(c.attrs().integer("parts"));
            return c.sum((length + parts - 1) / parts, [&](auto j) {
                auto index = j * parts + at[0];
                // Reads stay in bounds even if the value is unused.
                auto inside = index < length;
                auto rest = select(inside, index, c.index(0));
                from = {};
                for (int i = 0; i + 1 < at.rank(); ++i) from.axis.push_back(at[i + 1]);
                for (size_t i = axes.size(); i-- > 0;) {
                    const int axis = static_cast<int>(axes[i]);
                    from[axis] = i == 0 ? rest : rest % c.in_dim(0, axis);
                    rest = rest / c.in_dim(0, axis);
                }
                return select(inside, c.in(0, from), c.value(0));
            });
        }),
        .samples =
            [](Samples& s) {
                s.add({{7, 5}}, {{"axes", std::vector<int64_t>{0}}, {"parts", int64_t{3}}})
                    .gradient = false;
                s.add({{3, 1, 4}}, {{"axes", std::vector<int64_t>{0, 2}}, {"parts", int64_t{5}}})
                    .gradient = false;
                s.add({{kBatch, 5}}, {{"axes", std::vector<int64_t>{0, 1}}, {"parts", int64_t{4}}})
                    .gradient = false;
                s.add({{6}}, {{"axes", std::vector<int64_t>{0}}, {"parts", int64_t{16}}}).gradient =
                    false;
            },
    },
    {
        .name = "matmul_partial",
        .summary = "matrix product in `parts` terms, each over one stretch of the inner extent",
        .inputs = {{"a"}, {"b"}},
        .attrs = {{"transpose_a", AttrType::kInteger, 0},
                  {"transpose_b", AttrType::kInteger, 0},
                  {"wide", AttrType::kInteger, 0},
                  {"parts"},
                  {"granule", AttrType::kInteger, 4},
                  {"by_rows", AttrType::kInteger, 0}},  // 1: a fused network may compute it
        .op_class = OpClass::kMatmul,
        .traits = {.is_partial_sum = true},
        .infer = infer_matmul_partial,
        .reference = reference_matmul_partial,
        .decompose = decompose_matmul_partial,
        .samples =
            [](Samples& s) {
                auto add = [&s](const Shape& a, const Shape& b, int64_t ta, int64_t tb,
                                int64_t parts) {
                    Sample& sample =
                        s.add({a, b}, {{"transpose_a", ta}, {"transpose_b", tb}, {"parts", parts}});
                    sample.gradient = false;
                    sample.batch_size = 19;
                };
                add({3, 40}, {40, 5}, 0, 0, 4);
                add({kBatch, 6}, {kBatch, 7}, 1, 0, 3);
                add({5, kBatch}, {9, kBatch}, 0, 1, 8);
                add({20, 44}, {24, 44}, 0, 1, 3);
                add({kBatch, 36}, {kBatch, 20}, 1, 0, 4);
                Sample& coarse = s.add(
                    {{kBatch, 6}, {kBatch, 7}},
                    {{"transpose_a", int64_t{1}}, {"parts", int64_t{3}}, {"granule", int64_t{8}}});
                coarse.gradient = false;
                coarse.batch_size = 19;
            },
    },
    {
        .name = "partial_row_sum",
        .summary = "sums over `axes`, 0 among them, of `parts` stretches of axis 0; all but the "
                   "last stretches are equal multiples of `granule` long",
        .inputs = {{"x"}},
        .attrs = {{"axes", AttrType::kIntegers}, {"parts"}, {"granule", AttrType::kInteger, 1}},
        .op_class = OpClass::kInjective,
        .reads_each_element_once = true,
        .traits = {.is_partial_sum = true},
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_parts(call.attrs));
            const std::vector<int64_t>& axes = call.attrs.integers("axes");
            if (axes.empty() || axes[0] != 0) return invalid_argument("axes must begin with 0");
            return call.one(sum_type(call.dtype(0)), partial_shape(call.shape(0), call.attrs));
        },
        .compute = compute_float([](auto& c) {
            const auto& axes = c.attrs().integers("axes");
            const auto parts = c.index(c.attrs().integer("parts"));
            const auto granule = c.index(c.attrs().integer("granule"));
            auto inner = c.index(1);
            for (size_t i = 1; i < axes.size(); ++i)
                inner = inner * c.in_dim(0, static_cast<int>(axes[i]));
            const auto rows = c.in_dim(0, 0);
            const auto chunk = ((rows + parts - 1) / parts + granule - 1) / granule * granule;
            auto at = c.coords();
            auto from = c.coords();
            return c.sum(chunk * inner, [&](auto j) {
                auto row = at[0] * chunk + j / inner;
                // Reads stay in bounds even if the value is unused.
                auto inside = row < rows;
                auto rest = j % inner;
                from = {};
                for (int i = 0; i + 1 < at.rank(); ++i) from.axis.push_back(at[i + 1]);
                from[0] = select(inside, row, c.index(0));
                for (size_t i = axes.size(); i-- > 1;) {
                    const int axis = static_cast<int>(axes[i]);
                    from[axis] = rest % c.in_dim(0, axis);
                    rest = rest / c.in_dim(0, axis);
                }
                return select(inside, c.in(0, from), c.value(0));
            });
        }),
        .samples =
            [](Samples& s) {
                auto add = [&s](const Shape& shape, std::vector<int64_t> axes, int64_t parts,
                                int64_t granule) {
                    Sample& sample =
                        s.add({shape},
                              {{"axes", std::move(axes)}, {"parts", parts}, {"granule", granule}});
                    sample.gradient = false;
                    sample.batch_size = 11;
                };
                add({kBatch, 5}, {0}, 3, 1);
                add({kBatch, 5}, {0, 1}, 4, 2);
                add({kBatch, 2, 3}, {0, 2}, 2, 4);
                add({7, 3}, {0, 1}, 16, 1);
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> partial_ops{kOps};

}  // namespace hearth
