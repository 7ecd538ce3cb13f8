// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds graphs: Tensor, Trace, and the application of operators with shape inference.

#include "compiler/ir/graph.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/ir/shared_constant.hpp"
#include "core/budget.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>
#include <hearth/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace hearth {

namespace {

std::string typed(DType dtype, const Shape& shape) {
    return std::string(name_of(dtype)) + to_string(shape);
}

std::string_view words_for(TypeClass types) {
    switch (types) {
        case TypeClass::kFloating:
            return "floating-point";
        case TypeClass::kInteger:
            return "integer";
        case TypeClass::kBool:
            return "bool";
        case TypeClass::kNumber:
            return "floating-point or integer";
        case TypeClass::kAny:
            return "any";
    }
    return "?";
}

bool accepts(TypeClass types, DType dtype) {
    switch (types) {
        case TypeClass::kFloating:
            return is_floating(dtype);
        case TypeClass::kInteger:
            return is_integer(dtype);
        case TypeClass::kBool:
            return dtype == DType::kBool;
        case TypeClass::kNumber:
            return dtype != DType::kBool;
        case TypeClass::kAny:
            return true;
    }
    return false;
}

Status of_another_trace(const std::string& what, const Tensor& found, const Trace& here) {
    return invalid_argument(what + " is a tensor of trace '" + found.trace()->graph().name +
                            "', not of '" + here.graph().name + "'");
}

}  // namespace

struct Trace::Impl {
    Graph graph;
    Status status;
    Budget* budget = nullptr;
    std::unordered_set<std::string> output_names;
    std::unordered_set<ValueId> assigned;
    std::unordered_map<std::string, ValueId> by_name;
    std::unordered_map<uint64_t, ValueId> scalar_constants;  ///< by dtype and bits

    struct Mirror {
        std::string prefix, original;
    };
    std::vector<Mirror> mirrors;
};

bool Tensor::ok() const {
    return trace_ != nullptr && value_ != kInvalidId;
}
Shape Tensor::shape() const {
    return ok() ? trace_->graph().values[value_].shape : Shape();
}
DType Tensor::dtype() const {
    return ok() ? trace_->graph().values[value_].dtype : DType::kF32;
}
Dim Tensor::dim(int axis) const {
    const int at = axis < 0 ? axis + rank() : axis;
    return at >= 0 && at < rank() ? shape()[at] : Dim(1);
}

Trace::Trace(std::string name) : impl_(std::make_unique<Impl>()) {
    impl_->graph.name = std::move(name);
}
Trace::~Trace() = default;

void Trace::fail(Status status) {
    if (impl_->status.ok()) impl_->status = std::move(status);
}
const Status& Trace::status() const {
    return impl_->status;
}
Graph& mutable_graph(Trace& trace) {
    return trace.impl_->graph;
}
const Graph& Trace::graph() const {
    return impl_->graph;
}

void Trace::set_limit(Budget* budget) {
    impl_->budget = budget;
}
Budget* Trace::budget() const {
    return impl_->budget;
}

bool Trace::has_room(uint64_t values, uint64_t constant_bytes) {
    constexpr uint64_t kMostValues = uint64_t{1} << 24;
    if (!impl_->status.ok()) return false;
    if (const Budget* budget = impl_->budget) {
        for (const auto& [of, amount] : {std::pair{Budget::Of::kValues, values},
                                         std::pair{Budget::Of::kCopiedBytes, constant_bytes}})
            if (!budget->allows(of, amount)) fail(budget->refusal(of));
    }
    if (values > kMostValues - std::min<uint64_t>(impl_->graph.values.size(), kMostValues))
        fail(out_of_range("more than " + std::to_string(kMostValues) + " values in one trace"));
    return impl_->status.ok();
}

namespace {

/// Charges `count` values that are about to be appended; false after failing the trace.
bool take_values(Trace& trace, uint64_t count) {
    if (!trace.has_room(count)) return false;
    return trace.budget() == nullptr || trace.budget()->spend(Budget::Of::kValues, count).ok();
}

/// Far beyond the memory of any device, and small enough to be computed with.
constexpr int64_t kMaxElements = int64_t{1} << 40;

bool is_possible(const Shape& shape) {
    int64_t count = 1;
    for (const Dim d : shape.dims()) {
        if (d.count < 0 || (d.count > 0 && count > kMaxElements / d.count)) return false;
        count *= d.count;
    }
    return true;
}

Tensor add_leaf(Trace& trace, ValueKind kind, std::string_view name, DType dtype,
                const Shape& shape) {
    if (!is_possible(shape)) {
        trace.fail(invalid_argument("'" + std::string(name) + "' has the shape " +
                                    to_string(shape) +
                                    "; expected extents of 0 or more, and at most 2^40 elements"));
        return {&trace, kInvalidId};
    }
    if (!take_values(trace, 1)) return {&trace, kInvalidId};
    Graph& graph = mutable_graph(trace);
    const auto id = static_cast<ValueId>(graph.values.size());
    Value v;
    v.kind = kind;
    v.dtype = dtype;
    v.shape = shape;
    v.name = name;
    graph.values.push_back(std::move(v));
    return {&trace, id};
}

}  // namespace

Tensor Trace::input(std::string_view name, const Shape& shape, DType dtype) {
    if (!impl_->by_name.try_emplace(std::string(name), kInvalidId).second) {
        fail(invalid_argument("input '" + std::string(name) +
                              "' is declared twice; choose another name"));
        return {this, kInvalidId};
    }
    int symbolic = 0;
    for (Dim d : shape.dims()) symbolic += d.is_batch;
    if (symbolic > 1) {
        fail(invalid_argument("input '" + std::string(name) + "' has " + to_string(shape) +
                              ": at most one extent may be symbolic"));
        return {this, kInvalidId};
    }
    const Tensor t = add_leaf(*this, ValueKind::kInput, name, dtype, shape);
    if (!t.ok()) return t;
    impl_->by_name[std::string(name)] = t.value();
    impl_->graph.inputs.push_back(t.value());
    return t;
}

namespace {

/// A param or state to be declared.
struct Persistent {
    ValueKind kind;
    bool is_kept = true;
    std::string_view name;
    std::string seed_name;  ///< name that seeds its random initial value
    const Shape& shape;
    const Init& init;
    DType dtype;
};

std::string_view words_for(ValueKind kind, bool is_kept) {
    return kind == ValueKind::kParam ? "param" : is_kept ? "state" : "non-persistent state";
}

Tensor persistent(Trace& trace, std::unordered_map<std::string, ValueId>& by_name,
                  const Persistent& p) {
    const std::string what =
        std::string(words_for(p.kind, p.is_kept)) + " '" + std::string(p.name) + "'";
    if (auto known = by_name.find(std::string(p.name)); known != by_name.end()) {
        if (known->second == kInvalidId) return {&trace, kInvalidId};
        const Value& v = trace.graph().values[known->second];
        if (v.kind == p.kind && v.is_persistent == p.is_kept && v.shape == p.shape &&
            v.dtype == p.dtype)
            return {&trace, known->second};
        trace.fail(invalid_argument(
            what + " " + typed(p.dtype, p.shape) + " is already declared with " +
            typed(v.dtype, v.shape) +
            (v.kind == p.kind && v.is_persistent == p.is_kept
                 ? ""
                 : ", as " + (v.kind == ValueKind::kInput
                                  ? std::string("input")
                                  : std::string(words_for(v.kind, v.is_persistent))))));
        return {&trace, kInvalidId};
    }
    if (p.shape.has_batch()) {
        trace.fail(invalid_argument(what + " has " + to_string(p.shape) +
                                    "; persistent state needs a fixed shape"));
        return {&trace, kInvalidId};
    }
    const Init& init = p.init;
    if (init.kind == Init::Kind::kData &&
        (init.data->shape() != p.shape || init.data->dtype() != p.dtype)) {
        trace.fail(invalid_argument(what + " is " + typed(p.dtype, p.shape) + ", its data is " +
                                    typed(init.data->dtype(), init.data->shape())));
        return {&trace, kInvalidId};
    }
    const Tensor t = add_leaf(trace, p.kind, p.name, p.dtype, p.shape);
    if (!t.ok()) return t;
    Value& value = mutable_graph(trace).values[t.value()];
    value.is_persistent = p.is_kept;
    if (init.kind == Init::Kind::kData)
        value.data = init.data;
    else if (init.kind != Init::Kind::kZeros)
        value.data = std::make_shared<const HostTensor>(init.make(p.seed_name, p.dtype, p.shape));
    by_name[std::string(p.name)] = t.value();
    return t;
}

bool is_under(std::string_view name, std::string_view path) {
    return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.');
}

}  // namespace

Tensor Trace::param(std::string_view name, const Shape& shape, const Init& init, DType dtype) {
    for (const Impl::Mirror& m : impl_->mirrors)
        if (is_under(name, m.prefix))
            return persistent(
                *this, impl_->by_name,
                {ValueKind::kState, true, name,
                 m.original + std::string(name.substr(m.prefix.size())), shape, init, dtype});
    return persistent(*this, impl_->by_name,
                      {ValueKind::kParam, true, name, std::string(name), shape, init, dtype});
}

Tensor Trace::state(std::string_view name, const Shape& shape, const Init& init, DType dtype) {
    return persistent(*this, impl_->by_name,
                      {ValueKind::kState, true, name, std::string(name), shape, init, dtype});
}

Tensor Trace::non_persistent_state(std::string_view name, const Shape& shape, const Init& init,
                                   DType dtype) {
    return persistent(*this, impl_->by_name,
                      {ValueKind::kState, false, name, std::string(name), shape, init, dtype});
}

void Trace::target_copy(std::string_view prefix, std::string_view original) {
    if (prefix.empty() || original.empty() || prefix == original)
        return fail(invalid_argument("target_copy: '" + std::string(prefix) + "' of '" +
                                     std::string(original) + "': expected two prefixes"));
    for (const Value& v : impl_->graph.values)
        if (v.kind == ValueKind::kParam && is_under(v.name, prefix))
            return fail(invalid_argument("target_copy: param '" + v.name +
                                         "' is already declared; call target_copy before it is"));
    for (const Impl::Mirror& m : impl_->mirrors)
        if (m.prefix == prefix) {
            if (m.original == original) return;
            return fail(invalid_argument("target_copy: '" + m.prefix +
                                         "' is already a target copy of '" + m.original + "'"));
        }
    impl_->mirrors.push_back({std::string(prefix), std::string(original)});
}

Tensor Trace::constant(HostTensor data) {
    // Scalars are deduplicated: traces repeat a few of them often.
    uint64_t key = 0;
    if (data.shape().rank() == 0) {
        key = Hash().number(static_cast<int>(data.dtype())).bytes(data.bytes()).value();
        if (auto known = impl_->scalar_constants.find(key); known != impl_->scalar_constants.end())
            return {this, known->second};
    }
    const uint64_t bytes = data.bytes().size();
    if (!has_room(1, bytes)) return {this, kInvalidId};
    if (impl_->budget != nullptr) (void)impl_->budget->spend(Budget::Of::kCopiedBytes, bytes);
    const Tensor t = add_leaf(*this, ValueKind::kConstant, "", data.dtype(), data.shape());
    if (data.shape().rank() == 0) impl_->scalar_constants[key] = t.value();
    impl_->graph.values[t.value()].data = std::make_shared<const HostTensor>(std::move(data));
    return t;
}

Tensor shared_constant(Trace& trace, std::shared_ptr<const HostTensor> data) {
    if (data->shape().rank() == 0) return trace.constant(*data);  // deduplicated
    if (!trace.has_room(1, data->bytes().size())) return {&trace, kInvalidId};
    const Tensor t = add_leaf(trace, ValueKind::kConstant, "", data->dtype(), data->shape());
    mutable_graph(trace).values[t.value()].data = std::move(data);
    return t;
}

Tensor Trace::constant(double value, DType dtype) {
    return constant(HostTensor::scalar(value, dtype));
}

void Trace::output(std::string_view name, const Tensor& value) {
    if (!value.ok()) return;
    if (value.trace() != this)
        return fail(of_another_trace("output '" + std::string(name) + "'", value, *this));
    if (!impl_->output_names.emplace(name).second)
        return fail(invalid_argument("output '" + std::string(name) + "' is named twice"));
    impl_->graph.outputs.push_back({std::string(name), value.value()});
}

void Trace::assign(const Tensor& target, const Tensor& value) {
    if (!target.ok() || !value.ok()) return;
    if (target.trace() != this) return fail(of_another_trace("assign: the target", target, *this));
    if (value.trace() != this)
        return fail(of_another_trace(
            "assign: the value for '" + impl_->graph.values[target.value()].name + "'", value,
            *this));
    const Value& t = impl_->graph.values[target.value()];
    if (!may_be_updated(t.kind))
        return fail(invalid_argument("assign: the target must be a param, state or input"));
    if (t.shape != value.shape() || t.dtype != value.dtype())
        return fail(invalid_argument("assign: '" + t.name + "' is " + typed(t.dtype, t.shape) +
                                     ", the value is " + typed(value.dtype(), value.shape())));
    if (!impl_->assigned.insert(target.value()).second)
        return fail(invalid_argument("assign: '" + t.name + "' is assigned twice"));
    if (t.kind == ValueKind::kInput && !impl_->output_names.emplace(t.name).second)
        return fail(invalid_argument("assign: there is an output named '" + t.name +
                                     "', like the input; rename it"));
    impl_->graph.updates.push_back({target.value(), value.value()});
}

ParamList Trace::params() const {
    ParamList all;
    for (ValueId id = 0; id < impl_->graph.values.size(); ++id)
        if (impl_->graph.values[id].kind == ValueKind::kParam)
            all.emplace_back(const_cast<Trace*>(this), id);
    return all;
}

ParamList ParamList::current(const Tensor& loss) const {
    const bool is_of_loss = loss.trace() != nullptr && (empty() || front().trace() == loss.trace());
    return is_of_loss ? loss.trace()->params() : *this;
}

Result<Graph> Trace::build() {
    if (!impl_->status.ok()) return impl_->status.with_context("trace '" + impl_->graph.name + "'");
    Graph graph = canonical(impl_->graph);
    if (Status s = verify(graph); !s.ok()) return s.with_context("trace '" + graph.name + "'");
    return graph;
}

namespace {

std::string shapes_of(std::span<const TensorType> inputs) {
    std::string text;
    for (const TensorType& t : inputs) text += (text.empty() ? "" : ", ") + typed(t.dtype, t.shape);
    return text;
}

Status check_operands(const OpDef& op, std::span<const TensorType> inputs) {
    const bool variadic = !op.inputs.empty() && op.inputs[op.inputs.size() - 1].variadic;
    if (variadic ? inputs.size() < op.inputs.size() : inputs.size() != op.inputs.size())
        return invalid_argument("takes " + std::string(variadic ? "at least " : "") +
                                std::to_string(op.inputs.size()) + " inputs, found " +
                                std::to_string(inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
        const InputSpec& spec = op.inputs[std::min(i, op.inputs.size() - 1)];
        if (!accepts(spec.types, inputs[i].dtype))
            return invalid_argument(std::string(spec.name) + " must be " +
                                    std::string(words_for(spec.types)) + ", found " +
                                    std::string(name_of(inputs[i].dtype)));
    }
    return {};
}

Status check_attrs(const OpDef& op, const Attrs& attrs) {
    for (const Attr& a : attrs.all()) {
        const AttrSpec* spec = nullptr;
        for (const AttrSpec& s : op.attrs)
            if (s.name == a.name) spec = &s;
        if (spec == nullptr) return invalid_argument("has no attribute '" + a.name + "'");
        if (static_cast<size_t>(spec->type) != a.value.index())
            return invalid_argument("attribute '" + a.name + "' has the wrong type");
    }
    for (const AttrSpec& s : op.attrs)
        if (!attrs.has(s.name))
            return invalid_argument("needs the attribute '" + std::string(s.name) + "'");
    return {};
}

}  // namespace

void add_defaults(const OpDef& op, Attrs& attrs) {
    for (const AttrSpec& s : op.attrs) {
        if (attrs.has(s.name) || std::isnan(s.default_value)) continue;
        if (s.type == AttrType::kInteger) attrs.set(s.name, static_cast<int64_t>(s.default_value));
        if (s.type == AttrType::kFloat) attrs.set(s.name, s.default_value);
    }
}

Status infer_types(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                   std::vector<TensorType>& outputs) {
    HEARTH_TRY(check_operands(op, inputs));
    HEARTH_TRY(check_attrs(op, attrs));
    InferContext call{attrs, inputs, outputs};
    return op.infer(call);
}

std::vector<Tensor> apply(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs,
                          Trace* trace) {
    bool all_ok = true;
    for (const Tensor& t : inputs) {
        if (trace == nullptr) trace = t.trace();
        all_ok = all_ok && t.ok();
    }
    // Eight is more than any operator returns; a failed call's outputs are all failed tensors.
    const std::vector<Tensor> failed(8, Tensor(trace, kInvalidId));
    if (trace == nullptr || !all_ok) return failed;

    std::vector<TensorType> types, results;
    for (const Tensor& t : inputs) {
        if (t.trace() != trace) {
            trace->fail(invalid_argument(
                std::string(op.name) + ": the inputs come from different traces, '" +
                trace->graph().name + "' and '" + t.trace()->graph().name + "'"));
            return failed;
        }
        types.push_back({t.dtype(), t.shape()});
    }
    add_defaults(op, attrs);
    if (Status s = infer_types(op, attrs, types, results); !s.ok()) {
        trace->fail(Status(s.code(), std::string(op.name) + ": " + s.message() + " (inputs " +
                                         shapes_of(types) + ")"));
        return failed;
    }
    // A composite without a gradient rule is replaced by its decomposition.
    if (op.op_class == OpClass::kComposite && op.vjp == nullptr) {
        DecomposeContext call{*trace, attrs, inputs};
        std::vector<Tensor> outputs = op.decompose(call);
        return trace->status().ok() ? outputs : failed;
    }
    if (!take_values(*trace, results.size())) return failed;
    Graph& graph = mutable_graph(*trace);
    Node node;
    node.op = &op;
    node.attrs = std::move(attrs);
    for (const Tensor& t : inputs) node.inputs.push_back(t.value());
    std::vector<Tensor> outputs;
    for (const TensorType& type : results) {
        const auto id = static_cast<ValueId>(graph.values.size());
        Value v;
        v.dtype = type.dtype;
        v.shape = type.shape;
        v.node = static_cast<NodeId>(graph.nodes.size());
        v.output = static_cast<uint32_t>(outputs.size());
        graph.values.push_back(std::move(v));
        node.outputs.push_back(id);
        outputs.emplace_back(trace, id);
    }
    graph.nodes.push_back(std::move(node));
    return outputs;
}

Tensor apply_one(const OpDef& op, std::initializer_list<Tensor> inputs, Attrs attrs) {
    return apply(op, std::span(inputs.begin(), inputs.size()), std::move(attrs))[0];
}

}  // namespace hearth
