// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A GRU over windows of a fixed number of steps, and backpropagation through them, each as one
// kernel that iterates over time (compiler/codegen/recurrent). The rows of a window are consecutive; x's
// contribution to the gates is one matrix product over all rows, computed before. The step-by-step
// decompositions define what the kernels compute. They also serve gradients of gradients and cases
// without a kernel: states wider than 256, f64, and devices with too little shared memory.

#include "compiler/ir/graph.hpp"
#include "compiler/ops/kernels/gru_walk.hpp"
#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

constexpr FixedList<AttrSpec, 12> kAttrs = {{"length", AttrType::kInteger},
                                            {"resets", AttrType::kInteger, 0}};

int64_t length_of(const Attrs& attrs) {
    return attrs.integer("length");
}

Dim windows_of(const Shape& rows, int64_t length) {
    return {rows[0].count / length, rows[0].is_batch};
}

/// rows: shape [rows, width]. fixed_count: operands without the resets.
Status check_windows(const InferContext& call, const Shape& rows, int64_t width,
                     const Shape& weight, size_t fixed_count) {
    const int64_t length = length_of(call.attrs);
    if (weight.rank() != 2 || weight[0].is_batch || weight[1].is_batch || weight[1].count < 1 ||
        weight[0].count % 3 != 0 || weight[0].count / 3 != weight[1].count)
        return invalid_argument("the weight is " + to_string(weight) +
                                ", expected [3 * hidden, hidden]");
    if (length < 1 || rows.rank() != 2 || rows[0].count % length != 0 ||
        rows[1] != Dim(width * weight[1].count))
        return invalid_argument("rows of " + to_string(rows) + " are no windows of " +
                                std::to_string(length) + " rows of " + std::to_string(width) +
                                " * hidden");
    const size_t count = fixed_count + (call.attrs.flag("resets") ? 1 : 0);
    if (call.inputs.size() != count)
        return invalid_argument("found " + std::to_string(call.inputs.size()) +
                                " inputs, expected " + std::to_string(count));
    for (size_t k = 0; k < fixed_count; ++k)
        if (call.inputs[k].dtype != call.dtype(0) || !is_floating(call.inputs[k].dtype))
            return invalid_argument("all but the resets must have one floating-point type");
    if (count > fixed_count && (call.inputs[fixed_count].dtype != DType::kBool ||
                                call.inputs[fixed_count].shape != Shape{rows[0]}))
        return invalid_argument("the resets must be bool" + to_string(Shape{rows[0]}));
    return {};
}

Status infer_window(InferContext& call) {
    const Shape &x = call.shape(kGruFromX), &weight = call.shape(kGruWeight);
    HEARTH_TRY(check_windows(call, x, 3, weight, kGruResets));
    const Dim hidden = weight[1];
    const Shape start{windows_of(x, length_of(call.attrs)), hidden};
    if (call.shape(kGruBias) != Shape{weight[0]} || call.shape(kGruStart) != start)
        return invalid_argument("the bias is " + to_string(call.shape(kGruBias)) +
                                " and the start " + to_string(call.shape(kGruStart)) +
                                ", expected " + to_string(Shape{weight[0]}) + " and " +
                                to_string(start));
    const DType dtype = call.dtype(kGruFromX);
    call.outputs = {
        {dtype, {x[0], hidden}}, {dtype, {x[0], hidden}}, {dtype, {x[0], Dim(4 * hidden.count)}}};
    return {};
}

Status infer_backward(InferContext& call) {
    const Shape &g = call.shape(kGruCotangent), &weight = call.shape(kGruBackWeight);
    HEARTH_TRY(check_windows(call, g, 1, weight, kGruBackResets));
    const Dim hidden = weight[1];
    if (call.shape(kGruBackBefore) != g ||
        call.shape(kGruBackGates) != Shape{g[0], Dim(4 * hidden.count)})
        return invalid_argument("the cotangent is " + to_string(g) + ", the states before are " +
                                to_string(call.shape(kGruBackBefore)) + " and the gates " +
                                to_string(call.shape(kGruBackGates)));
    const DType dtype = call.dtype(kGruCotangent);
    call.outputs = {{dtype, {g[0], weight[0]}},
                    {dtype, {g[0], weight[0]}},
                    {dtype, {windows_of(g, length_of(call.attrs)), hidden}}};
    return {};
}

// --- Step by step ---

/// Splits tensors of rows into steps and joins them again.
class Steps {
  public:
    Steps(const Attrs& attrs, const Shape& rows)
        : length_(length_of(attrs)), windows_(windows_of(rows, length_)) {}

    int64_t length() const { return length_; }

    /// x: [rows, ...] -> its slice at the step: [windows, ...].
    Tensor at(const Tensor& x, int64_t step) const {
        Shape shape = x.shape();
        shape[0] = Dim(length_);
        Shape all{windows_};
        for (int i = 0; i < shape.rank(); ++i) all.push_back(shape[i]);
        return squeeze(slice(reshape(x, all), 1, step, step + 1), {1});
    }

    /// True where the windows' state is reset before the step: [windows, 1].
    Tensor resets_at(const Tensor& resets, int64_t step) const {
        return unsqueeze(at(resets, step), {1});
    }

    /// Joins [windows, width] of each step: [rows, width].
    Tensor rows(const Tensors& steps) const {
        const Tensor all = stack(steps, 1);
        return reshape(all, {Dim(windows_.count * length_, windows_.is_batch), all.dim(2)});
    }

  private:
    int64_t length_;
    Dim windows_;
};

DType wide(DType dtype) {
    return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

Tensor to_dtype(const Tensor& x, DType dtype) {
    return x.dtype() == dtype ? x : cast(x, dtype);
}

/// The operands in the type to compute with: states are rounded only where they are stored, not
/// from step to step.
Tensors widened(std::span<const Tensor> inputs) {
    Tensors all;
    for (const Tensor& t : inputs)
        all.push_back(is_floating(t.dtype()) ? to_dtype(t, wide(t.dtype())) : t);
    return all;
}

Tensors narrowed(Tensors results, DType dtype) {
    for (Tensor& t : results) t = to_dtype(t, dtype);
    return results;
}

Tensors thirds(const Tensor& x) {
    return split(x, std::vector<int64_t>(3, x.dim(-1).count / 3), -1);
}

Tensors decompose_window(DecomposeContext& d) {
    const Steps steps(d.attrs, d.in(kGruFromX).shape());
    const Tensors in = widened(d.inputs);
    Tensor h = in[kGruStart];
    Tensors states, befores, gates;
    for (int64_t t = 0; t < steps.length(); ++t) {
        if (d.attrs.flag("resets")) h = where(steps.resets_at(in[kGruResets], t), 0.0, h);
        const Tensors x = thirds(steps.at(in[kGruFromX], t));
        const Tensors y = thirds(linear(h, in[kGruWeight], in[kGruBias]));
        const Tensor reset = sigmoid(x[0] + y[0]), update = sigmoid(x[1] + y[1]);
        const Tensor candidate = tanh(x[2] + reset * y[2]);
        befores.push_back(h);
        gates.push_back(concat({reset, update, candidate, y[2]}, -1));
        h = candidate + update * (h - candidate);
        states.push_back(h);
    }
    return narrowed({steps.rows(states), steps.rows(befores), steps.rows(gates)},
                    d.in(kGruFromX).dtype());
}

Tensors decompose_backward(DecomposeContext& d) {
    const Steps steps(d.attrs, d.in(kGruCotangent).shape());
    const Tensors in = widened(d.inputs);
    const int64_t hidden = in[kGruBackWeight].dim(1).count;
    const auto length = static_cast<size_t>(steps.length());
    Tensors to_x(length), to_hidden(length);
    Tensor back;
    for (int64_t t = steps.length() - 1; t >= 0; --t) {
        Tensor g = steps.at(in[kGruCotangent], t);
        if (back.trace() != nullptr) g = g + back;
        const Tensor before = steps.at(in[kGruBackBefore], t);
        const Tensors gates =
            split(steps.at(in[kGruBackGates], t), std::vector<int64_t>(4, hidden), -1);
        const Tensor &reset = gates[0], &update = gates[1], &candidate = gates[2];
        const Tensor to_candidate = g * (1.0 - update) * (1.0 - square(candidate));
        const Tensor to_update = g * (before - candidate) * update * (1.0 - update);
        const Tensor to_reset = to_candidate * gates[3] * reset * (1.0 - reset);
        const auto at = static_cast<size_t>(t);
        to_x[at] = concat({to_reset, to_update, to_candidate}, -1);
        to_hidden[at] = concat({to_reset, to_update, to_candidate * reset}, -1);
        back = g * update + matmul(to_hidden[at], in[kGruBackWeight]);
        if (d.attrs.flag("resets")) back = where(steps.resets_at(in[kGruBackResets], t), 0.0, back);
    }
    return narrowed({steps.rows(to_x), steps.rows(to_hidden), back}, d.in(kGruCotangent).dtype());
}

/// True if the cotangent is zeros_like(): nothing differentiable reads the result.
bool is_none(const Tensor& cotangent) {
    const Graph& graph = cotangent.trace()->graph();
    ValueId v = cotangent.value();
    while (const Node* maker = graph.producer(v)) {
        if (maker->op->name != "expand") return false;
        v = maker->inputs[0];
    }
    const Value& value = graph.value(v);
    return value.data != nullptr && value.shape.rank() == 0 && value.data->get(0) == 0;
}

Tensors window_vjp(VjpContext& v) {
    // The gates are outputs only for the gradient below. If anything else differentiates through
    // them, use the decomposition.
    for (size_t k : {kGruBefore, kGruGates})
        if (!is_none(v.cotangent(k))) return vjp_of(decompose_window, v);
    const Tensor before = v.out(kGruBefore);
    Tensors in{v.cotangent(kGruH), before, v.out(kGruGates), v.in(kGruWeight)};
    if (v.attrs.flag("resets")) in.push_back(v.in(kGruResets));
    const Tensors back = apply(op(kGruWindowBackward), in, v.attrs);
    const Tensor& to_hidden = back[kGruToHidden];
    Tensors all{back[kGruToX], matmul(to_hidden, before, true, false), sum(to_hidden, {0}),
                back[kGruToStart]};
    all.resize(v.inputs.size());
    return all;
}

// --- Samples ---

struct Case {
    Dim windows;
    int64_t length, hidden;
    bool resets;
};

void add_samples(Samples& s, bool is_backward) {
    constexpr int64_t kWide = 16;
    const Case cases[] = {
        {3, 1, 1, false},      {2, 3, 2, true},   {3, 2, 7, true},    {kBatch, 2, 3, true},
        {kBatch, 1, 2, false}, {2, 16, 3, false}, {1, 17, 2, true},   {70, 2, 5, true},
        {2, 3, 64, true},      {3, 2, 65, false}, {1, 2, 256, false}, {260, 2, 9, true},
    };
    for (const Case& c : cases) {
        const Dim rows(c.windows.count * c.length, c.windows.is_batch);
        const auto wide = [&](Dim lead, int64_t width) {
            return TensorType{DType::kF32, {lead, Dim(width * c.hidden)}};
        };
        const TensorType weight{DType::kF32, {Dim(3 * c.hidden), Dim(c.hidden)}};
        Sample& sample = s.add_typed({}, {{"length", c.length}, {"resets", int64_t{c.resets}}});
        if (is_backward)
            sample.inputs = {wide(rows, 1), wide(rows, 1), wide(rows, 4), weight};
        else
            sample.inputs = {
                wide(rows, 3), weight, {DType::kF32, {Dim(3 * c.hidden)}}, wide(c.windows, 1)};
        if (c.resets) sample.inputs.push_back({DType::kBool, {rows}});
        sample.low = -1;
        sample.high = 1;
        // Finite differences over that many elements take minutes; narrow states suffice.
        sample.gradient = c.hidden <= kWide;
    }
}

constinit const OpDef kOps[] = {
    {
        .name = kGruWindow,
        .summary =
            "a GRU over windows of `length` rows, h = n + z (b - n) with r, z = sigmoid(x + W b + "
            "bias), n = tanh(x + r (W b + bias)), b being the h of the row before, the start, or "
            "zero where a reset is; all h, all b, and r, z, n and W b + bias of n",
        .inputs = {{"from_x"},
                   {"weight"},
                   {"bias"},
                   {"start and, as the attribute says, resets", TypeClass::kAny, true}},
        .attrs = kAttrs,
        .op_class = OpClass::kKernel,
        .traits = {.walk = WindowWalk::kForward},
        .infer = infer_window,
        .decompose = decompose_window,
        .vjp = window_vjp,
        .samples = [](Samples& s) { add_samples(s, false); },
        // Errors of one step grow through the following ones.
        .tolerance = {.f32 = 5e-5},
    },
    {
        .name = kGruWindowBackward,
        .summary =
            "the cotangents of gru_window's from_x, of W b + bias, and of the start, from those "
            "of all h and from its other results",
        .inputs = {{"g"},
                   {"before"},
                   {"gates"},
                   {"weight and, as the attribute says, resets", TypeClass::kAny, true}},
        .attrs = kAttrs,
        .op_class = OpClass::kKernel,
        .traits = {.walk = WindowWalk::kBackward},
        .infer = infer_backward,
        .decompose = decompose_backward,
        .vjp = [](VjpContext& v) { return vjp_of(decompose_backward, v); },
        .samples = [](Samples& s) { add_samples(s, true); },
        .tolerance = {.f32 = 5e-5},
    },
};

}  // namespace

extern constinit const std::span<const OpDef> gru_ops{kOps};

}  // namespace hearth
