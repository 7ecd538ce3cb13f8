// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix products with broadcasting batch axes.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "compiler/ops/shared/sum_type.hpp"

namespace hearth {

namespace {

// Extents of one matrix product, after transposition.
struct Extents {
    Dim m, n, a_k, b_k;
    Extents(const Attrs& attrs, const Shape& a, const Shape& b) {
        const bool swap_a = attrs.flag("transpose_a"), swap_b = attrs.flag("transpose_b");
        m = a[a.rank() - (swap_a ? 1 : 2)];
        a_k = a[a.rank() - (swap_a ? 2 : 1)];
        b_k = b[b.rank() - (swap_b ? 1 : 2)];
        n = b[b.rank() - (swap_b ? 2 : 1)];
    }
};

Shape batch_of(const Shape& shape) {
    Shape batch = shape;
    batch.erase(batch.rank() - 1);
    batch.erase(batch.rank() - 1);
    return batch;
}

Status infer_matmul(InferContext& call) {
    const Shape &a = call.shape(0), &b = call.shape(1);
    if (a.rank() < 2 || b.rank() < 2) return invalid_argument("operands need two axes or more");
    if (call.dtype(0) != call.dtype(1)) return invalid_argument("element types differ");
    const Extents extents(call.attrs, a, b);
    if (extents.a_k != extents.b_k)
        return invalid_argument("inner sizes differ: a " + to_string(a) +
                                (call.attrs.flag("transpose_a") ? " transposed" : "") + ", b " +
                                to_string(b) +
                                (call.attrs.flag("transpose_b") ? " transposed" : ""));
    HEARTH_ASSIGN(Shape shape, broadcast(batch_of(a), batch_of(b)));
    shape.push_back(extents.m);
    shape.push_back(extents.n);
    HEARTH_TRY(check_shape(shape));
    const DType dtype = call.dtype(0);
    return call.one(call.attrs.flag("wide") ? sum_type(dtype) : dtype, shape);
}

// Index of the operand's matrix that belongs to matrix `index` of the result.
int64_t matrix_of(int64_t index, const Shape& result_batch, const Shape& batch) {
    int64_t at = 0, stride = 1;
    for (int i = result_batch.rank() - 1; i >= 0; --i) {
        const int64_t coordinate = index % result_batch[i].count;
        index /= result_batch[i].count;
        const int axis = i - (result_batch.rank() - batch.rank());
        if (axis < 0 || batch[axis].count == 1) continue;
        at += coordinate * stride;
        stride *= batch[axis].count;
    }
    return at;
}

template <class V>
void multiply(ReferenceContext& call) {
    const Shape &a_shape = call.inputs[0].shape(), &b_shape = call.inputs[1].shape();
    HostTensor& result = call.outputs[0];
    const Extents extents(call.attrs, a_shape, b_shape);
    const int64_t m = extents.m.count, n = extents.n.count, k = extents.a_k.count;
    const bool swap_a = call.attrs.flag("transpose_a"), swap_b = call.attrs.flag("transpose_b");
    const int64_t a_row = swap_a ? 1 : k, a_step = swap_a ? m : 1;
    const int64_t b_column = swap_b ? k : 1, b_step = swap_b ? 1 : n;
    const std::vector<V> a = elements_of<V>(call.inputs[0]), b = elements_of<V>(call.inputs[1]);
    const Shape batch = batch_of(result.shape());
    for (int64_t matrix = 0; matrix < batch.element_count(1); ++matrix) {
        const V* left = a.data() + matrix_of(matrix, batch, batch_of(a_shape)) * m * k;
        const V* right = b.data() + matrix_of(matrix, batch, batch_of(b_shape)) * k * n;
        for (int64_t row = 0; row < m; ++row) {
            for (int64_t column = 0; column < n; ++column) {
                V total = 0;
                for (int64_t i = 0; i < k; ++i)
                    total += left[row * a_row + i * a_step] * right[column * b_column + i * b_step];
                store(result, (matrix * m + row) * n + column, total);
            }
        }
    }
}

void matmul_samples(Samples& s) {
    const auto add = [&s](const Shape& a, const Shape& b, bool swap_a = false,
                          bool swap_b = false) {
        return &s.add({a, b}, {{"transpose_a", int64_t{swap_a}}, {"transpose_b", int64_t{swap_b}}});
    };
    add({1, 1}, {1, 1});
    add({3, 5}, {5, 7});
    add({5, 3}, {5, 7}, true, false);
    add({3, 5}, {7, 5}, false, true);
    add({5, 3}, {7, 5}, true, true);
    add({kBatch, 5}, {5, 7});
    add({kBatch, 5}, {7, 5}, false, true);
    add({kBatch, 5}, {kBatch, 7}, true, false);
    add({1, 33}, {33, 1});
    add({33, 1}, {1, 17});
    add({2, 3, 4}, {2, 4, 5});
    add({2, 3, 4}, {4, 5});
    add({3, 4}, {2, 1, 4, 5});
    add({2, 1, 3, 4}, {3, 4, 5}, false, false);
    add({kBatch, 2, 3}, {3, 2});
    add({kBatch, 2, 3}, {kBatch, 4, 3}, false, true);
    add({1, 2, 1, 2, 3}, {3, 1, 2, 3, 2});
    add({67, 70}, {70, 65});
    add({70, 67}, {65, 70}, true, true);
    // Multiples of vec4: another kernel, whose gradients use it too.
    add({20, 36}, {36, 24});
    add({36, 68}, {36, 36}, true)->gradient = false;
    add({2, 20, 36}, {3, 1, 44, 36}, false, true)->gradient = false;
    Sample& rows = *add({kBatch, 36}, {20, 36}, false, true);
    rows.batch_size = 19;
    rows.gradient = false;

    const auto add_wide = [&s](DType dtype, const Shape& a, const Shape& b, int64_t swap_a,
                               int64_t swap_b) {
        s.add_typed({{dtype, a}, {dtype, b}},
                    {{"transpose_a", swap_a}, {"transpose_b", swap_b}, {"wide", int64_t{1}}});
    };
    add_wide(DType::kF32, {kBatch, 5}, {7, 5}, 0, 1);
    add_wide(DType::kF16, {3, 5}, {5, 7}, 0, 0);
    add_wide(DType::kF16, {20, 36}, {24, 36}, 0, 1);
    add_wide(DType::kF16, {kBatch, 6}, {kBatch, 7}, 1, 0);
    add_wide(DType::kBF16, {2, 3, 4}, {4, 5}, 0, 0);
}

Tensor product_of(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b, bool wide) {
    if (!a.ok() || !b.ok()) return failed_like(a);
    const Attrs attrs{{"transpose_a", int64_t{transpose_a}},
                      {"transpose_b", int64_t{transpose_b}},
                      {"wide", int64_t{wide}}};
    // With one matrix on the right, the rows of all matrices on the left form one tall matrix: one
    // product instead of many, forward and backward.
    if (b.rank() == 2 && a.rank() > 2 && !transpose_a) {
        Shape shape = a.shape();
        const Tensor tall = apply_one(op("matmul"), {flatten(a, 0, -2), b}, attrs);
        if (!tall.ok()) return tall;
        shape[shape.rank() - 1] = tall.dim(-1);
        return reshape(tall, shape);
    }
    return apply_one(op("matmul"), {a, b}, attrs);
}

constinit const OpDef kOps[] = {
    {
        .name = "matmul",
        .summary = "a b, or with transposed operands; leading axes broadcast; `wide`: the result "
                   "of f16 or bf16 is the f32 that it was summed in",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .attrs = {{"transpose_a", AttrType::kInteger, 0},
                  {"transpose_b", AttrType::kInteger, 0},
                  {"wide", AttrType::kInteger, 0}},
        .op_class = OpClass::kMatmul,
        .infer = infer_matmul,
        .reference =
            [](ReferenceContext& call) {
                if (is_floating(call.outputs[0].dtype()))
                    multiply<double>(call);
                else
                    multiply<int64_t>(call);
            },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const bool swap_a = v.attrs.flag("transpose_a"), swap_b = v.attrs.flag("transpose_b");
            const Tensor a = v.in(0), b = v.in(1), g = cast(v.cotangent(), a.dtype());
            const auto product = [&](const Tensor& x, const Tensor& y, bool swap_x, bool swap_y) {
                return product_of(x, y, swap_x, swap_y, v.attrs.flag("wide"));
            };
            const Tensor to_a =
                swap_a ? product(b, g, swap_b, true) : product(g, b, false, !swap_b);
            const Tensor to_b =
                swap_b ? product(g, a, true, swap_a) : product(a, g, !swap_a, false);
            return {cast(sum_to_shape(to_a, a.shape()), a.dtype()),
                    cast(sum_to_shape(to_b, b.shape()), b.dtype())};
        },
        .onnx_export = onnx_export::matmul,
        .onnx = {{"MatMul", 1,
                  [](OnnxCall& call) -> std::vector<Tensor> {
                      return {matmul(call.in(0), call.in(1))};
                  }}},
        .samples = matmul_samples,
        .tolerance = {.f32 = 2e-5},
    },
};

}  // namespace

extern constinit const std::span<const OpDef> matmul_ops{kOps};

Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
    return product_of(a, b, transpose_a, transpose_b, false);
}

Tensor matmul(const Tensor& a, const Tensor& b) {
    if (!a.ok() || !b.ok()) return failed_like(a);
    if (a.rank() == 0 || b.rank() == 0)
        return fail(a, invalid_argument("matmul: a scalar operand (inputs " + to_string(a.shape()) +
                                        ", " + to_string(b.shape()) + ")"));
    const Tensor product = matmul(a.rank() == 1 ? unsqueeze(a, {0}) : a,
                                  b.rank() == 1 ? unsqueeze(b, {1}) : b, false, false);
    Axes added;
    if (a.rank() == 1) added.push_back(-2);
    if (b.rank() == 1) added.push_back(-1);
    return added.empty() ? product : squeeze(product, added);
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    if (!x.ok() || !weight.ok()) return failed_like(x);
    const bool is_row = x.rank() == 1;
    const Tensor product = matmul(is_row ? unsqueeze(x, {0}) : x, weight, false, true);
    const Tensor y = is_row ? squeeze(product, {0}) : product;
    return bias.trace() == nullptr ? y : y + bias;
}

}  // namespace hearth
