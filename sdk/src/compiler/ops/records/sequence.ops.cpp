// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sequence operators besides attention: rotary embedding, linear attention, and causal
// convolutions.

#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

Status infer_rotary(InferContext& call) {
    const Shape &x = call.shape(0), &table = call.shape(1);
    if (table != call.shape(2) || table.rank() < 1 || table.rank() > x.rank())
        return invalid_argument("cosines and sines must have one shape, of x's rank or less");
    const Dim half = table[table.rank() - 1], width = x[x.rank() - 1];
    if (half.is_batch || width.is_batch || 2 * half.count > width.count)
        return invalid_argument("the tables are wider than half of x");
    Shape leading = x, of_table = table;
    leading[x.rank() - 1] = of_table[table.rank() - 1] = Dim(1);
    HEARTH_ASSIGN(const Shape whole, broadcast(leading, of_table));
    if (whole != leading) return invalid_argument("the tables do not broadcast to x");
    if (call.dtype(0) != call.dtype(1) || call.dtype(0) != call.dtype(2))
        return invalid_argument("element types differ");
    return same_as_input(call);
}

// Su et al., "RoFormer: Enhanced transformer with rotary position embedding", 2021.
Tensors decompose_rotary(DecomposeContext& d) {
    const Tensor x = d.in(0), cosines = d.in(1), sines = d.in(2);
    const int64_t half = cosines.dim(-1).count, width = x.dim(-1).count;
    const bool interleaved = d.attrs.flag("interleaved");
    const Tensor a = interleaved ? slice(x, -1, 0, 2 * half, 2) : slice(x, -1, 0, half);
    const Tensor b = interleaved ? slice(x, -1, 1, 2 * half, 2) : slice(x, -1, half, 2 * half);
    const Tensor real = a * cosines - b * sines, imaginary = a * sines + b * cosines;
    const Tensor rotated = interleaved ? flatten(stack(Tensors{real, imaginary}, -1), -2, -1)
                                       : concat({real, imaginary}, -1);
    if (2 * half == width) return {rotated};
    return {concat({rotated, slice(x, -1, 2 * half, width)}, -1)};
}

constinit const OpDef kOps[] = {
    {
        .name = "rotary_embedding",
        .summary = "pairs of elements of x turned by the angles whose cosines and sines are given: "
                   "(a c - b s, a s + b c)",
        .inputs = {{"x"}, {"cosines"}, {"sines"}},
        .attrs = {{"interleaved", AttrType::kInteger, 0}},
        .op_class = OpClass::kComposite,
        .infer = infer_rotary,
        .decompose = decompose_rotary,
        .onnx = {{"RotaryEmbedding", 23, import_rotary_embedding}},
        .samples =
            [](Samples& s) {
                for (int64_t interleaved : {0, 1}) {
                    const Attrs attrs{{"interleaved", interleaved}};
                    s.add({{4}, {2}, {2}}, attrs);
                    s.add({{3, 6}, {3, 2}, {3, 2}}, attrs);
                    s.add({{kBatch, 2, 3, 4}, {3, 2}, {3, 2}}, attrs);
                    s.add({{2, 2, 3, 7}, {2, 1, 3, 3}, {2, 1, 3, 3}}, attrs);
                }
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> sequence_ops{kOps};

Tensor rotary_embedding(const Tensor& x, const Tensor& cosines, const Tensor& sines,
                        bool interleaved) {
    return apply_one(op("rotary_embedding"), {x, cosines, sines},
                     {{"interleaved", int64_t{interleaved}}});
}

namespace {

/// The operands split along the sequence, and the state carried from chunk to chunk.
class LinearAttentionSteps {
  public:
    LinearAttentionSteps(const Tensor& q, const Tensor& k, const Tensor& v,
                         const LinearAttentionOptions& options)
        : k_(k), v_(v), options_(options), length_(k.dim(2).count) {
        // Queries of the heads that share keys are grouped: [batch, key_heads, each, length, n].
        const Dim heads = k.dim(1);
        q_ = reshape(q, {q.dim(0), heads, q.dim(1).count / heads.count, q.dim(2), q.dim(3)});
        const double scale =
            options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(q.dim(3).count));
        q_ = q_ * scale;
        const Shape shape{k.dim(0), heads, k.dim(3), v.dim(3)};
        state_ =
            options.past.trace() != nullptr ? options.past : expand(constant_like(k, 0), shape);
    }

    LinearAttention run(const Shape& result) {
        const bool is_plain = options_.decay.trace() == nullptr && options_.beta.trace() == nullptr;
        const int64_t piece = is_plain ? std::min<int64_t>(length_, kChunk) : 1;
        std::vector<int64_t> extents;
        for (int64_t done = 0; done < length_; done += piece)
            extents.push_back(std::min(piece, length_ - done));
        const auto pieces = [&](const Tensor& t, int64_t axis) {
            return t.trace() == nullptr ? Tensors(extents.size()) : split(t, extents, axis);
        };
        const Tensors q = pieces(q_, 3), k = pieces(k_, 2), v = pieces(v_, 2),
                      decay = pieces(options_.decay, 2), beta = pieces(options_.beta, 2);
        Tensors outputs;
        for (size_t i = 0; i < extents.size(); ++i)
            outputs.push_back(is_plain ? chunk(q[i], k[i], v[i])
                                       : step(q[i], k[i], v[i], decay[i], beta[i]));
        return {reshape(concat(outputs, 3), result), state_};
    }

  private:
    static constexpr int64_t kChunk = 64;  ///< elements at once if nothing decays

    /// Within a chunk, attention without softmax; across chunks, through the state.
    Tensor chunk(const Tensor& q, const Tensor& k, const Tensor& v) {
        const Dim length = k.dim(2);
        const Tensor row = arange(*k.trace(), {length, 1}),
                     column = arange(*k.trace(), {1, length});
        const Tensor keys = unsqueeze(k, {2}), values = unsqueeze(v, {2});
        const Tensor products = matmul(q, keys, false, true);
        const Tensor seen = where(less_equal(column, row), products, 0.0);
        const Tensor y = matmul(seen, values) + matmul(q, unsqueeze(state_, {2}));
        state_ = state_ + matmul(k, v, true, false);
        return y;
    }

    /// One element of the sequence.  Yang et al., "Gated delta networks", 2024, equation 10.
    Tensor step(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& decay,
                const Tensor& beta) {
        if (decay.trace() != nullptr) state_ = state_ * swapaxes(exp(decay), 2, 3);
        Tensor written = v;
        if (beta.trace() != nullptr) written = beta * (v - matmul(k, state_));
        state_ = state_ + swapaxes(k, 2, 3) * written;
        // The queries of all heads that share this state form the rows of one product.
        return unsqueeze(matmul(squeeze(q, {3}), state_), {3});
    }

    Tensor q_, k_, v_, state_;
    const LinearAttentionOptions& options_;
    int64_t length_;
};

Status check_linear(const Tensor& q, const Tensor& k, const Tensor& v,
                    const LinearAttentionOptions& options) {
    const auto text = [&] {
        return "linear_attention: q " + to_string(q.shape()) + ", k " + to_string(k.shape()) +
               ", v " + to_string(v.shape());
    };
    for (const Tensor& t : {q, k, v})
        if (t.rank() != 4 || t.dim(2).is_batch || t.dim(1).is_batch || t.dim(0) != q.dim(0) ||
            t.dim(2) != q.dim(2))
            return invalid_argument(text() + " must be [batch, heads, length, n]");
    if (k.dim(1) != v.dim(1) || k.dim(1).count < 1 || q.dim(1).count % k.dim(1).count != 0 ||
        q.dim(3) != k.dim(3) || q.dim(2).count < 1)
        return invalid_argument(text() + " do not fit together");
    const Shape state{k.dim(0), k.dim(1), k.dim(3), v.dim(3)};
    if (options.past.trace() != nullptr && options.past.shape() != state)
        return invalid_argument(text() + ", the past " + to_string(options.past.shape()));
    for (const Tensor& gate : {options.decay, options.beta}) {
        if (gate.trace() == nullptr) continue;
        const auto whole = broadcast(gate.shape(), k.shape());
        if (gate.rank() != 4 || gate.dim(2) != k.dim(2) || !whole.ok() || *whole != k.shape())
            return invalid_argument(text() + ", a gate " + to_string(gate.shape()));
    }
    return {};
}

}  // namespace

LinearAttention linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const LinearAttentionOptions& options) {
    for (const Tensor& t : {q, k, v})
        if (!t.ok()) return {failed_like(q), failed_like(q)};
    if (Status s = check_linear(q, k, v, options); !s.ok()) {
        const Tensor failed = fail(q, std::move(s));
        return {failed, failed};
    }
    LinearAttentionSteps steps(q, k, v, options);
    return steps.run({q.dim(0), q.dim(1), q.dim(2), v.dim(3)});
}

CausalConv causal_conv(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const Tensor& past) {
    if (!x.ok() || !weight.ok()) return {failed_like(x), failed_like(x)};
    const bool fits = x.rank() == 3 && weight.rank() == 3 && weight.dim(0) == x.dim(1) &&
                      weight.dim(1).is_one() && weight.dim(2).count >= 1 && !x.dim(2).is_batch;
    const Shape before{x.dim(0), x.dim(1), weight.dim(-1).count - 1};
    if (!fits || (past.trace() != nullptr && past.ok() && past.shape() != before)) {
        const Tensor failed = fail(
            x, invalid_argument("causal_conv: x is " + to_string(x.shape()) + ", weight " +
                                to_string(weight.shape()) + ", past " + to_string(past.shape()) +
                                "; expected [n, channels, length], [channels, 1, k], [n, "
                                "channels, k - 1]"));
        return {failed, failed};
    }
    const int64_t taps = weight.dim(2).count, length = x.dim(2).count;
    const bool is_half = x.dtype() == DType::kF16 || x.dtype() == DType::kBF16;
    const auto wide = [is_half](const Tensor& t) { return is_half ? cast(t, DType::kF32) : t; };
    Tensor all = x;
    if (past.trace() != nullptr)
        all = concat({past, x}, 2);
    else if (taps > 1)
        all = pad(x, {0, 0, taps - 1}, {0, 0, 0});
    // Few taps: one element-wise kernel reads all of them.
    Tensor y;
    for (int64_t k = 0; k < taps; ++k) {
        const Tensor tap = squeeze(slice(wide(weight), 2, k, k + 1), {2});
        const Tensor term = slice(wide(all), 2, k, k + length) * tap;
        y = k == 0 ? term : y + term;
    }
    if (bias.trace() != nullptr) y = y + unsqueeze(wide(bias), {1});
    return {is_half ? cast(y, x.dtype()) : y, slice(all, 2, length, length + taps - 1)};
}

}  // namespace hearth
