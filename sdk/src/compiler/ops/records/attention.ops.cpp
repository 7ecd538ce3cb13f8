// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scaled dot product attention. The device kernels for it and its gradient
// (compiler/codegen/attention) do not store the scores. The decompositions, which do, define what
// the kernels compute; they also serve gradients of gradients and sizes without a kernel.

#include "compiler/ops/kernels/attention_tiles.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <array>
#include <cmath>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

constexpr FixedList<AttrSpec, 12> kAttrs = {
    {"scale", AttrType::kFloat},       {"softcap", AttrType::kFloat, 0},
    {"causal", AttrType::kInteger, 0}, {"left", AttrType::kInteger, -1},
    {"right", AttrType::kInteger, -1}, {"past", AttrType::kInteger, 0},
    {"mask", AttrType::kInteger, 0},   {"lengths", AttrType::kInteger, 0}};

constexpr FixedList<InputSpec, 8> kBackwardInputs = {
    {"q"}, {"k"}, {"v"}, {"g"}, {"log_total"}, {"common_part and the rest", TypeClass::kAny, true}};

DType wide(DType dtype) {
    return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

Tensor to_dtype(const Tensor& x, DType dtype) {
    return x.dtype() == dtype ? x : cast(x, dtype);
}

Shape scores_shape(const Shape& q, const Shape& k) {
    return {q[0], q[1], q[2], k[2]};
}

Status check_operands(const InferContext& call, int fixed_count) {
    const Shape &q = call.shape(kQuery), &k = call.shape(kKey), &v = call.shape(kValue);
    for (const Shape* s : {&q, &k, &v})
        if (s->rank() != 4) return invalid_argument("q, k and v must be [batch, heads, length, n]");
    if (q[0] != k[0] || k[0] != v[0] || k[1] != v[1] || k[2] != v[2] || q[3] != k[3])
        return invalid_argument("q, k and v do not fit together");
    if (q[1].is_batch || k[1].is_batch || k[1].count < 1 || q[1].count % k[1].count != 0)
        return invalid_argument("the heads of keys must divide those of queries");
    if (q[3].is_batch || v[3].is_batch || q[3].count < 1 || v[3].count < 1)
        return invalid_argument("the width of heads must be fixed and positive");
    HEARTH_TRY(check_shape(scores_shape(q, k)));
    for (int i : {kQuery, kKey, kValue})
        if (call.dtype(i) != call.dtype(kQuery) || !is_floating(call.dtype(i)))
            return invalid_argument("q, k and v must have one floating-point type");
    int next = fixed_count;
    if (call.attrs.flag("mask")) {
        const bool is_there = next < static_cast<int>(call.inputs.size());
        const Shape mask = is_there ? call.shape(next) : Shape();
        const auto whole = broadcast(mask, scores_shape(q, k));
        const bool fits = mask.rank() == 4 && whole.ok() && *whole == scores_shape(q, k) &&
                          (call.dtype(next) == DType::kBool || is_floating(call.dtype(next)));
        if (!fits)
            return invalid_argument("the mask must be bool or floating-point and broadcast to " +
                                    to_string(scores_shape(q, k)));
        ++next;
    }
    if (call.attrs.flag("lengths")) {
        const bool fits = next < static_cast<int>(call.inputs.size()) &&
                          call.shape(next) == Shape{q[0]} && is_integer(call.dtype(next));
        if (!fits) return invalid_argument("lengths must be an integer for each of the batch");
        ++next;
    }
    if (next != static_cast<int>(call.inputs.size()))
        return invalid_argument("found " + std::to_string(call.inputs.size()) +
                                " inputs, expected " + std::to_string(next));
    return {};
}

Status infer_attention(InferContext& call) {
    HEARTH_TRY(check_operands(call, kAttentionForwardCount));
    const Shape& q = call.shape(kQuery);
    call.outputs.push_back({call.dtype(kQuery), {q[0], q[1], q[2], call.shape(kValue)[3]}});
    return call.one(wide(call.dtype(kQuery)), {q[0], q[1], q[2]});
}

Status check_backward(const InferContext& call) {
    HEARTH_TRY(check_operands(call, kAttentionBackwardCount));
    const Shape &q = call.shape(kQuery), &v = call.shape(kValue);
    const Shape rows{q[0], q[1], q[2]};
    if (call.shape(kAttentionCotangent) != Shape{q[0], q[1], q[2], v[3]} ||
        call.shape(kLogTotal) != rows || call.shape(kCommonPart) != rows)
        return invalid_argument("cotangent, sums and q do not fit together");
    return {};
}

// --- Decompositions ---

/// The operands in the type to compute with; key and value heads are repeated to match the query
/// heads.
struct Operands {
    const Attrs& attrs;
    Tensor q, k, v, mask, lengths;

    Operands(const Attrs& a, std::span<const Tensor> in, size_t fixed_count) : attrs(a) {
        const DType dtype = wide(in[kQuery].dtype());
        q = to_dtype(in[kQuery], dtype);
        k = repeated(to_dtype(in[kKey], dtype), q.dim(1).count);
        v = repeated(to_dtype(in[kValue], dtype), q.dim(1).count);
        size_t next = fixed_count;
        if (attrs.flag("mask")) mask = in[next++];
        if (attrs.flag("lengths")) lengths = in[next];
    }

    /// Repeats each head `heads` / head count times, adjacent to each other.
    static Tensor repeated(const Tensor& x, int64_t heads) {
        const int64_t each = heads / x.dim(1).count;
        if (each == 1) return x;
        const Shape s = x.shape();
        return reshape(expand(unsqueeze(x, {2}), {s[0], s[1], each, s[2], s[3]}),
                       {s[0], heads, s[2], s[3]});
    }

    /// Adjoint of repeated(): the sum over the copies of each head.
    static Tensor gathered(const Tensor& x, int64_t heads) {
        const Shape s = x.shape();
        if (s[1].count == heads) return x;
        return sum(reshape(x, {s[0], heads, s[1].count / heads, s[2], s[3]}), {2});
    }
};

Tensor positions(const Tensor& like, Dim count, int axis) {
    Shape shape{1, 1, 1, 1};
    shape[axis] = count;
    return arange(*like.trace(), shape);
}

/// Mask of the keys that each query attends to, by position; an empty tensor if unrestricted.
Tensor visible(const Operands& o) {
    const int64_t left = o.attrs.integer("left"), right = o.attrs.integer("right");
    const bool causal = o.attrs.flag("causal");
    const bool has_lengths = o.lengths.trace() != nullptr;
    if (!causal && left < 0 && right < 0 && !has_lengths) return {};
    const Tensor key = positions(o.q, o.k.dim(2), 3);
    Tensor query = positions(o.q, o.q.dim(2), 2), seen;
    const auto also = [&seen](const Tensor& t) {
        seen = seen.trace() == nullptr ? t : logical_and(seen, t);
    };
    if (has_lengths) {
        const Tensor lengths = unsqueeze(to_dtype(o.lengths, DType::kI32), {1, 2, 3});
        also(less(key, lengths));
        query = query + (lengths - cast(numel_along(o.q, {2}), DType::kI32));
    } else if (o.attrs.integer("past") != 0) {
        query = query + static_cast<double>(o.attrs.integer("past"));
    }
    if (causal) also(less_equal(key, query));
    if (left >= 0) also(greater_equal(key, query - static_cast<double>(left)));
    if (right >= 0) also(less_equal(key, query + static_cast<double>(right)));
    return seen;
}

struct Scores {
    Tensor scaled, capped, shown;
};

Scores scores_of(const Operands& o) {
    Scores s;
    s.scaled = matmul(o.q, o.k, false, true) * o.attrs.real("scale");
    const double softcap = o.attrs.real("softcap");
    s.capped = softcap > 0 ? tanh(s.scaled / softcap) * softcap : s.scaled;
    s.shown = s.capped;
    if (o.mask.trace() != nullptr)
        s.shown = o.mask.dtype() == DType::kBool ? where(o.mask, s.capped, -HUGE_VAL)
                                                 : s.capped + to_dtype(o.mask, s.capped.dtype());
    const Tensor seen = visible(o);
    if (seen.trace() != nullptr) s.shown = where(seen, s.shown, -HUGE_VAL);
    return s;
}

Tensors decompose_attention(DecomposeContext& d) {
    const Operands o(d.attrs, d.inputs, kAttentionForwardCount);
    const Tensor shown = scores_of(o).shown;
    const Tensor largest = max(shown, {-1}, true);
    const Tensor shift = where(is_inf(largest, false, true), 0.0, largest);
    const Tensor e = exp(shown - shift);
    const Tensor total = sum(e, {-1}, true);
    const Tensor safe = where(equal(total, 0), 1.0, total);  // queries that attend to no key give
                                                             // zeros
    return {to_dtype(matmul(e / safe, o.v), d.in(kQuery).dtype()),
            squeeze(log(safe) + shift, {-1})};
}

struct Slopes {
    Tensor weights;     ///< exp(scores - log_total): softmax
    Tensor to_shown;    ///< cotangent of the scores
    Tensor to_product;  ///< cotangent of q k
};

Slopes slopes_of(const Operands& o, std::span<const Tensor> in) {
    const Scores s = scores_of(o);
    const auto per_row = [&o](const Tensor& t) {
        return unsqueeze(to_dtype(t, o.q.dtype()), {-1});
    };
    const Tensor hidden = is_inf(s.shown, false, true);
    Slopes result;
    result.weights = where(hidden, 0.0, exp(where(hidden, 0.0, s.shown) - per_row(in[kLogTotal])));
    const Tensor g = to_dtype(in[kAttentionCotangent], o.q.dtype());
    result.to_shown = result.weights * (matmul(g, o.v, false, true) - per_row(in[kCommonPart]));
    const double softcap = o.attrs.real("softcap");
    result.to_product = result.to_shown * o.attrs.real("scale");
    if (softcap > 0)
        result.to_product = result.to_product * (1.0 - square(s.capped * (1 / softcap)));
    return result;
}

Tensors decompose_backward_queries(DecomposeContext& d) {
    const Operands o(d.attrs, d.inputs, kAttentionBackwardCount);
    const Tensor to_q = matmul(slopes_of(o, d.inputs).to_product, o.k);
    return {to_dtype(to_q, d.in(kQuery).dtype())};
}

Tensors decompose_backward_keys(DecomposeContext& d) {
    const Operands o(d.attrs, d.inputs, kAttentionBackwardCount);
    const Slopes slopes = slopes_of(o, d.inputs);
    const int64_t heads = d.in(kKey).dim(1).count;
    const Tensor g = to_dtype(d.in(kAttentionCotangent), o.q.dtype());
    const Tensor to_k = Operands::gathered(matmul(slopes.to_product, o.q, true, false), heads);
    const Tensor to_v = Operands::gathered(matmul(slopes.weights, g, true, false), heads);
    return {to_dtype(to_k, d.in(kKey).dtype()), to_dtype(to_v, d.in(kValue).dtype())};
}

// --- Gradients ---

Tensors attention_vjp(VjpContext& v) {
    const Tensor y = to_dtype(v.out(0), wide(v.out(0).dtype()));
    const Tensor g = to_dtype(v.cotangent(0), y.dtype());
    Tensors in{v.in(kQuery),   v.in(kKey), v.in(kValue),
               v.cotangent(0), v.out(1),   sum(g * y, {-1}) - v.cotangent(1)};
    const std::span<const Tensor> extra = v.inputs.subspan(kAttentionForwardCount);
    in.insert(in.end(), extra.begin(), extra.end());
    const Tensors to_q = apply(op("attention_backward_queries"), in, v.attrs);
    const Tensors to_kv = apply(op("attention_backward_keys"), in, v.attrs);
    Tensors all{to_q[0], to_kv[0], to_kv[1]};
    all.resize(v.inputs.size());
    if (v.attrs.flag("mask") && is_floating(extra[0].dtype())) {
        // The gradient of an additive mask has the size of the scores. Dead code elimination
        // removes it if unused.
        const Tensor to_mask =
            slopes_of(Operands(v.attrs, in, kAttentionBackwardCount), in).to_shown;
        all[kAttentionForwardCount] =
            to_dtype(sum_to_shape(to_mask, extra[0].shape()), extra[0].dtype());
    }
    return all;
}

// --- Samples ---

struct Case {
    Dim batch = Dim(1);
    int64_t heads = 1, key_heads = 1;
    Dim queries = Dim(3), keys = Dim(4);
    int64_t width = 3, value_width = 2;
    Attrs attrs;
    std::vector<TensorType> extra;
};

std::vector<Case> cases() {
    constexpr int64_t kOn = 1;
    const auto mask = [](const Shape& shape, DType dtype = DType::kF32) {
        return std::vector<TensorType>{{dtype, shape}};
    };
    return {
        {},
        {.batch = 2, .heads = 2, .key_heads = 2, .queries = 1, .keys = 1, .width = 1},
        {.batch = kBatch,
         .heads = 2,
         .key_heads = 1,
         .queries = 5,
         .keys = 5,
         .attrs = {{"causal", kOn}}},
        {.batch = 2,
         .heads = 6,
         .key_heads = 2,
         .queries = 4,
         .keys = 7,
         .attrs = {{"causal", kOn}, {"past", int64_t{3}}, {"softcap", 1.5}}},
        {.batch = 2,
         .heads = 2,
         .key_heads = 2,
         .attrs = {{"mask", kOn}},
         .extra = mask({2, 1, 3, 4})},
        {.batch = 2,
         .heads = 2,
         .key_heads = 1,
         .attrs = {{"mask", kOn}, {"softcap", 2.0}},
         .extra = mask({1, 2, 1, 4})},
        {.batch = 2,
         .queries = 3,
         .keys = 4,
         .attrs = {{"mask", kOn}},
         .extra = mask({2, 1, 3, 4}, DType::kBool)},
        {.heads = 2,
         .key_heads = 2,
         .queries = 6,
         .keys = 6,
         .width = 5,
         .attrs = {{"left", int64_t{1}}, {"right", int64_t{2}}}},
        {.batch = 3,
         .queries = 2,
         .keys = 3,
         .width = 1,
         .attrs = {{"lengths", kOn}, {"causal", kOn}, {"left", int64_t{2}}},
         .extra = {{DType::kI32, {3}}}},
        {.heads = 2,
         .key_heads = 1,
         .queries = 37,
         .keys = 41,
         .width = 9,
         .value_width = 17,
         .attrs = {{"causal", kOn}, {"past", int64_t{4}}}},
        {.heads = 2, .key_heads = 1, .queries = kBatch, .keys = 5, .attrs = {{"causal", kOn}}},
        {.queries = 2, .keys = kBatch, .attrs = {{"mask", kOn}}, .extra = mask({1, 1, 2, 1})},
        {.queries = 70, .keys = 35, .width = 40, .value_width = 33},
    };
}

void add_samples(Samples& s, bool is_backward) {
    for (const Case& c : cases()) {
        const auto of = [&c](Dim heads, Dim length, int64_t width) {
            return TensorType{DType::kF32, {c.batch, heads, length, width}};
        };
        Sample& sample = s.add_typed({}, c.attrs);
        sample.attrs.set("scale", 1 / std::sqrt(static_cast<double>(c.width)));
        sample.inputs = {of(c.heads, c.queries, c.width), of(c.key_heads, c.keys, c.width),
                         of(c.key_heads, c.keys, c.value_width)};
        if (is_backward) {
            const TensorType row{DType::kF32, {c.batch, c.heads, c.queries}};
            sample.inputs.push_back(of(c.heads, c.queries, c.value_width));
            sample.inputs.insert(sample.inputs.end(), {row, row});
            sample.low = -1;  // the sums do not match the scores, so weights may exceed 1
            sample.high = 1;
        }
        sample.inputs.insert(sample.inputs.end(), c.extra.begin(), c.extra.end());
        if (c.attrs.has("lengths")) sample.high = is_backward ? 2 : 4;  // some below zero
    }
}

constinit const OpDef kOps[] = {
    {
        .name = "attention",
        .summary = "softmax(softcap(scale q k^T) + mask) v over the keys that each query may see, "
                   "and the log of the sum in each softmax",
        .inputs = {{"q"},
                   {"k"},
                   {"v and, as the attributes say, mask and lengths", TypeClass::kAny, true}},
        .attrs = kAttrs,
        .op_class = OpClass::kKernel,
        .traits = {.attention = AttentionPass::kForward},
        .infer = infer_attention,
        .decompose = decompose_attention,
        .vjp = attention_vjp,
        .onnx = {{"Attention", 23, import_attention}},
        .samples = [](Samples& s) { add_samples(s, false); },
    },
    {
        .name = "attention_backward_queries",
        .summary = "the cotangent of attention's q from those of its results: g, log of the sums, "
                   "and the sum of g times the result",
        .inputs = kBackwardInputs,
        .attrs = kAttrs,
        .op_class = OpClass::kKernel,
        .traits = {.attention = AttentionPass::kBackwardQueries},
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_backward(call));
            return same_as_input(call);
        },
        .decompose = decompose_backward_queries,
        .vjp = [](VjpContext& v) { return vjp_of(decompose_backward_queries, v); },
        .samples = [](Samples& s) { add_samples(s, true); },
        // Sums over all keys or queries of products of sums: rounding errors accumulate.
        .tolerance = {.f32 = 5e-5},
    },
    {
        .name = "attention_backward_keys",
        .summary = "the cotangents of attention's k and v, from the same",
        .inputs = kBackwardInputs,
        .attrs = kAttrs,
        .op_class = OpClass::kKernel,
        .traits = {.attention = AttentionPass::kBackwardKeys},
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_backward(call));
            for (int i : {kKey, kValue}) call.outputs.push_back({call.dtype(i), call.shape(i)});
            return {};
        },
        .decompose = decompose_backward_keys,
        .vjp = [](VjpContext& v) { return vjp_of(decompose_backward_keys, v); },
        .samples = [](Samples& s) { add_samples(s, true); },
        // Sums over all keys or queries of products of sums: rounding errors accumulate.
        .tolerance = {.f32 = 5e-5},
    },
};

/// Reshapes x of rank 2 to 4 to [batch, heads, length, width].
Tensor with_heads(const Tensor& x) {
    if (x.rank() == 2) return unsqueeze(x, {0, 1});
    return x.rank() == 3 ? unsqueeze(x, {1}) : x;
}

}  // namespace

extern constinit const std::span<const OpDef> attention_ops{kOps};

namespace {

struct AttentionCall {
    Tensors in;
    Attrs attrs;
};

/// Operands and attributes of the record; nothing after failing the trace.
std::optional<AttentionCall> attention_call(const Tensor& q, const Tensor& k, const Tensor& v,
                                            const Tensor& mask, const AttentionOptions& options) {
    for (const Tensor& t : {q, k, v})
        if (!t.ok()) return {};
    if (q.rank() < 2 || q.rank() > 4 || k.rank() != q.rank() || v.rank() != q.rank()) {
        fail(q, invalid_argument("attention: q " + to_string(q.shape()) + ", k " +
                                 to_string(k.shape()) + " and v " + to_string(v.shape()) +
                                 " must have one rank, 2 to 4"));
        return {};
    }
    AttentionCall call;
    call.in = {with_heads(q), with_heads(k), with_heads(v)};
    const double width = static_cast<double>(q.dim(-1).count);
    call.attrs = {{"scale", options.scale != 0 ? options.scale : 1 / std::sqrt(width)},
                  {"softcap", options.softcap},
                  {"causal", int64_t{options.causal}},
                  {"left", options.left_window},
                  {"right", options.right_window},
                  {"past", options.kv_cache_length}};
    if (mask.trace() != nullptr) {
        if (!mask.ok()) return {};
        Axes added;
        for (int i = mask.rank(); i < 4; ++i) added.push_back(i - mask.rank());
        // A mask of [batch, queries, keys] belongs to q without heads.
        if (q.rank() == 3 && mask.rank() == 3) added = {1};
        call.in.push_back(added.empty() ? mask : unsqueeze(mask, added));
        call.attrs.set("mask", int64_t{1});
    }
    if (options.lengths.trace() != nullptr) {
        call.in.push_back(options.lengths);
        call.attrs.set("lengths", int64_t{1});
    }
    return call;
}

}  // namespace

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                 const AttentionOptions& options) {
    const auto call = attention_call(q, k, v, mask, options);
    if (!call) return failed_like(q);
    const Tensor y = apply(op("attention"), call->in, call->attrs)[0];
    if (!y.ok() || q.rank() == 4) return y;
    return squeeze(y, q.rank() == 3 ? Axes{1} : Axes{0, 1});
}

Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                        const AttentionOptions& options, AttentionStage stage) {
    auto call = attention_call(q, k, v, mask, options);
    // Validates the operands by applying the operator; the node is dead code.
    if (!call || q.rank() != 4 || !apply(op("attention"), call->in, call->attrs)[0].ok())
        return failed_like(q);
    for (const char* flag : {"mask", "lengths"})
        if (!call->attrs.has(flag)) call->attrs.set(flag, int64_t{0});
    const Scores s = scores_of(Operands(call->attrs, call->in, kAttentionForwardCount));
    const std::array<Tensor, 3> stages{s.scaled, s.capped, s.shown};
    const Tensor found =
        stage == AttentionStage::kWeights ? softmax(s.shown) : stages[static_cast<size_t>(stage)];
    return to_dtype(found, q.dtype());
}

}  // namespace hearth
