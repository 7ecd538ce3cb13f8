// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ops/op_cases.hpp"

#include "compiler/ops/op_table.hpp"
#include "ops/custom_kernel_ops.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

namespace hearth::test {

namespace {

std::string typed(DType dtype, const Shape& shape) {
    return std::string(name_of(dtype)) + to_string(shape);
}

}  // namespace

std::string describe(const OpCase& c) {
    std::string text = std::string(c.op->name) + " sample " + std::to_string(c.index) + ":";
    for (const TensorType& t : c.sample.inputs) text += " " + typed(t.dtype, t.shape);
    return text + " {" + to_string(c.sample.attrs) + "}";
}

std::vector<const OpDef*> all_ops() {
    std::vector<const OpDef*> ops;
    for (std::span<const OpDef> family : op_families())
        for (const OpDef& op : family) ops.push_back(&op);
    ops.insert(ops.end(), custom_kernel_ops().begin(), custom_kernel_ops().end());
    ops.insert(ops.end(), kernel_examples().begin(), kernel_examples().end());
    return ops;
}

std::vector<OpCase> cases_of(const OpDef& op) {
    Samples samples;
    if (op.samples != nullptr) op.samples(samples);
    std::vector<OpCase> cases;
    for (const Sample& sample : samples.all()) {
        OpCase c{&op, cases.size(), sample};
        for (const AttrSpec& spec : op.attrs) {
            if (c.sample.attrs.has(spec.name) || std::isnan(spec.default_value)) continue;
            if (spec.type == AttrType::kInteger)
                c.sample.attrs.set(spec.name, static_cast<int64_t>(spec.default_value));
            else
                c.sample.attrs.set(spec.name, spec.default_value);
        }
        cases.push_back(std::move(c));
    }
    return cases;
}

namespace {

/// Of each list in turn: shapes and types, so that no case is taken twice.
std::string signature(const OpCase& c) {
    std::string text;
    for (const TensorType& t : c.sample.inputs) text += typed(t.dtype, t.shape) + ";";
    return text + to_string(c.sample.attrs);
}

bool has_rows(const OpCase& c) {
    return std::any_of(c.sample.inputs.begin(), c.sample.inputs.end(),
                       [](const TensorType& t) { return t.shape.has_batch(); });
}

/// The case with `to` in place of the type `from`, if the operator admits it.
std::optional<OpCase> with_type(OpCase c, DType from, DType to) {
    for (TensorType& t : c.sample.inputs)
        if (t.dtype == from) t.dtype = to;
    c.sample.attrs = in_type(c.sample.attrs, from, to);
    if (!make_graph(c).ok()) return std::nullopt;
    return c;
}

// Devices hold integers of 64 bits in 32.
constexpr DType kWideTypes[] = {DType::kF32, DType::kI32, DType::kI16, DType::kI8,
                                DType::kU32, DType::kU16, DType::kU8,  DType::kBool};

}  // namespace

std::vector<OpCase> typed_cases_of(const OpDef& op) {
    const std::vector<OpCase> samples = cases_of(op);
    std::set<std::string> known;
    for (const OpCase& c : samples) known.insert(signature(c));
    std::set<std::tuple<DType, DType, bool>> covered;  // from, to, in rows
    std::vector<OpCase> cases;
    for (const OpCase& c : samples) {
        constexpr int64_t kMostElements = 100;
        const bool is_small = std::all_of(
            c.sample.inputs.begin(), c.sample.inputs.end(),
            [&](const TensorType& t) { return t.shape.element_count(c.rows()) <= kMostElements; });
        const bool is_single =
            std::all_of(c.sample.inputs.begin(), c.sample.inputs.end(),
                        [&](const TensorType& t) { return t.shape.element_count(c.rows()) == 1; });
        if (!is_small || is_single) continue;
        for (const TensorType& t : c.sample.inputs)
            for (const DType to : kWideTypes) {
                const std::tuple key{t.dtype, to, has_rows(c)};
                if (t.dtype == to || covered.contains(key)) continue;
                const std::optional<OpCase> other = with_type(c, t.dtype, to);
                if (!other) continue;
                covered.insert(key);
                if (known.insert(signature(*other)).second) cases.push_back(*other);
            }
    }
    return cases;
}

std::vector<OpCase> empty_cases_of(const OpDef& op) {
    std::set<std::string> known;
    std::vector<OpCase> cases;
    for (const OpCase& sample : cases_of(op)) {
        std::set<int64_t> extents;
        for (const TensorType& t : sample.sample.inputs)
            for (const Dim d : t.shape.dims())
                if (!d.is_batch && d.count > 1) extents.insert(d.count);
        for (const int64_t extent : extents) {
            OpCase c = sample;
            for (TensorType& t : c.sample.inputs)
                for (int axis = 0; axis < t.shape.rank(); ++axis)
                    if (t.shape[axis] == Dim(extent)) t.shape[axis] = Dim(0);
            if (!make_graph(c).ok() || !known.insert(signature(c)).second) continue;
            cases.push_back(c);
            if (op.op_class != OpClass::kReduce) continue;
            for (const DType to : kWideTypes)
                if (const auto other = with_type(c, c.sample.inputs[0].dtype, to))
                    if (known.insert(signature(*other)).second) cases.push_back(*other);
        }
    }
    return cases;
}

std::vector<HostTensor> make_inputs(const OpCase& c) {
    std::vector<HostTensor> inputs;
    for (const TensorType& type : c.sample.inputs) {
        HostTensor t(type.dtype, type.shape.resolve(c.rows()));
        const uint64_t key = stream_key(c.op->name, c.index * 16 + inputs.size());
        const double low = is_unsigned(type.dtype) ? std::max(c.sample.low, 0.0) : c.sample.low;
        for (int64_t i = 0; i < t.element_count(); ++i) {
            const double u = uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i)));
            const double value = low + (c.sample.high - low) * u;
            if (type.dtype == DType::kBool)
                t.set_int(i, u < 0.5);
            else
                t.set(i, is_floating(type.dtype) ? value : std::floor(value));
        }
        inputs.push_back(std::move(t));
    }
    return inputs;
}

bool runs_on_device(const OpCase& c) {
    const OpClass kind = c.op->op_class;
    const bool is_for_cpu_alone =
        !c.op->compute && (kind == OpClass::kElementwise || kind == OpClass::kInjective);
    return !is_for_cpu_alone &&
           std::none_of(c.sample.inputs.begin(), c.sample.inputs.end(),
                        [](const TensorType& t) { return t.dtype == DType::kF64; });
}

Result<Graph> make_graph(const OpCase& c) {
    Trace trace{std::string(c.op->name)};
    std::vector<Tensor> inputs;
    for (const TensorType& type : c.sample.inputs)
        inputs.push_back(trace.input("x" + std::to_string(inputs.size()), type.shape, type.dtype));
    const std::vector<Tensor> outputs = apply(*c.op, inputs, c.sample.attrs, &trace);
    for (size_t i = 0; i < outputs.size(); ++i) trace.output("y" + std::to_string(i), outputs[i]);
    return trace.build();
}

namespace {

/// `x` itself, after arithmetic that no pass folds away.
Tensor same_by_arithmetic(const Tensor& x) {
    if (is_floating(x.dtype())) return x * 0.5 + x * 0.5;
    return x.dtype() == DType::kBool ? logical_not(logical_not(x)) : x + x - x;
}

Tensor followed_by_arithmetic(const Tensor& y) {
    if (is_floating(y.dtype())) return y * 0.5 + 0.25;
    return y.dtype() == DType::kBool ? logical_not(y) : y * 2.0 + 1.0;
}

// wrapped: with arithmetic before and after.
Result<Variant> make_variant(const OpCase& c, bool wrapped, bool gradient) {
    const std::string name = std::string(c.op->name) + "_" + std::to_string(c.index) +
                             (wrapped ? "_wrapped" : "") + (gradient ? "_gradient" : "");
    Variant variant;
    variant.text = describe(c) + (wrapped ? " wrapped" : "") + (gradient ? " gradient" : "");
    variant.rows = c.rows();
    const std::vector<HostTensor> values = make_inputs(c);
    Trace trace(name);
    std::vector<Tensor> inputs, operands;
    for (const TensorType& type : c.sample.inputs) {
        const std::string input = name + ".x" + std::to_string(inputs.size());
        variant.inputs[input] = values[inputs.size()];
        inputs.push_back(trace.input(input, type.shape, type.dtype));
        operands.push_back(wrapped ? same_by_arithmetic(inputs.back()) : inputs.back());
    }
    const std::vector<Tensor> outputs = apply(*c.op, operands, c.sample.attrs, &trace);
    Tensor loss;
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].ok()) continue;
        const bool is_float = is_floating(outputs[i].dtype());
        const Tensor y = wrapped ? followed_by_arithmetic(outputs[i]) : outputs[i];
        trace.output(name + ".y" + std::to_string(i), y);
        if (!gradient || !is_float) continue;
        const Tensor term = sum(y * 0.75);
        if (!loss.ok())
            loss = term;
        else
            loss = loss + (term.dtype() == loss.dtype() ? term : cast(term, loss.dtype()));
    }
    if (gradient && loss.ok()) {
        std::vector<Tensor> wrt;
        for (const Tensor& x : inputs)
            if (is_floating(x.dtype())) wrt.push_back(x);
        const std::vector<Tensor> gradients = grad(loss, wrt);
        for (size_t i = 0; i < gradients.size(); ++i)
            trace.output(name + ".g" + std::to_string(i), gradients[i]);
    }
    HEARTH_ASSIGN(variant.graph, trace.build());
    return variant;
}

bool has_gradient(const OpCase& c) {
    return c.sample.gradient && !c.op->stops_gradient &&
           (c.op->vjp != nullptr || c.op->op_class == OpClass::kComposite);
}

}  // namespace

Result<std::vector<Variant>> variants_of(const OpDef& op) {
    std::vector<Variant> variants;
    auto add = [&](const OpCase& c, bool wrapped, bool gradient) -> Status {
        HEARTH_ASSIGN(Variant variant, make_variant(c, wrapped, gradient));
        variants.push_back(std::move(variant));
        return {};
    };
    for (const OpCase& c : cases_of(op)) {
        if (!runs_on_device(c)) continue;
        HEARTH_TRY(add(c, false, false).with_context(describe(c)));
        HEARTH_TRY(add(c, true, false).with_context(describe(c)));
        if (has_gradient(c)) HEARTH_TRY(add(c, true, true).with_context(describe(c)));
    }
    return variants;
}

std::vector<const OpDef*> ops_with(std::vector<OpCase> (*cases)(const OpDef&)) {
    std::vector<const OpDef*> ops;
    for (const OpDef* op : all_ops())
        if (std::ranges::any_of(cases(*op), runs_on_device)) ops.push_back(op);
    return ops;
}

Result<std::vector<Variant>> variants_of(std::span<const OpCase> cases) {
    std::vector<Variant> variants;
    for (size_t i = 0; i < cases.size(); ++i) {
        OpCase c = cases[i];
        c.index = i;  // several may be of one sample
        if (!runs_on_device(c)) continue;
        for (const bool wrapped : {false, true}) {
            auto variant = make_variant(c, wrapped, false);
            if (!variant.ok()) return variant.status().with_context(describe(c));
            variants.push_back(std::move(variant).value());
        }
    }
    return variants;
}

std::vector<Variant> epilogues_behind_products_of(DType dtype) {
    constexpr int64_t kM = 5, kK = 6, kN = 7;
    const std::string type(name_of(dtype));
    std::vector<Variant> variants;
    for (const OpDef* op : all_ops()) {
        if (op->op_class != OpClass::kElementwise || op->inputs.size() == 0 || !op->compute)
            continue;
        for (const OpCase& sample : cases_of(*op)) {
            OpCase c = sample;
            c.sample.inputs = {{dtype, {kM, kK}}, {dtype, {kK, kN}}};
            for (size_t k = 1; k < sample.sample.inputs.size(); ++k) {
                const DType own = sample.sample.inputs[k].dtype;
                c.sample.inputs.push_back(
                    {own == sample.sample.inputs[0].dtype ? dtype : own, {kM, kN}});
            }
            c.sample.attrs = in_type(c.sample.attrs, sample.sample.inputs[0].dtype, dtype);
            // Products of small integers are the same in every order of summation.
            c.sample.low = -2;
            c.sample.high = 3;
            Variant variant;
            const std::string name =
                "product_" + type + "_" + std::string(op->name) + std::to_string(c.index);
            variant.text = name;
            Trace trace(name);
            std::vector<HostTensor> values = make_inputs(c);
            std::vector<Tensor> inputs;
            for (size_t k = 0; k < values.size(); ++k) {
                const std::string input = name + ".x" + std::to_string(k);
                for (int64_t i = 0; i < values[k].element_count(); ++i)
                    if (is_floating(values[k].dtype()))
                        values[k].set(i, std::floor(values[k].get(i)));
                inputs.push_back(
                    trace.input(input, c.sample.inputs[k].shape, c.sample.inputs[k].dtype));
                variant.inputs[input] = std::move(values[k]);
            }
            std::vector<Tensor> operands{matmul(inputs[0], inputs[1])};
            operands.insert(operands.end(), inputs.begin() + 2, inputs.end());
            const std::vector<Tensor> outputs = apply(*op, operands, c.sample.attrs, &trace);
            for (size_t i = 0; i < outputs.size(); ++i)
                trace.output(name + ".y" + std::to_string(i), outputs[i]);
            auto graph = trace.build();
            if (!graph.ok()) continue;
            variant.graph = std::move(graph).value();
            variants.push_back(std::move(variant));
            break;
        }
    }
    return variants;
}

namespace {

/// The cases that a device can hold, with their f32 inputs and attributes as `dtype`.
std::vector<OpCase> narrow_cases_of(const OpDef& op, DType dtype) {
    std::vector<OpCase> cases;
    if (op.name == "bitcast") return cases;  // its types must be of one size
    for (OpCase c : cases_of(op)) {
        bool has_floats = false;
        for (TensorType& t : c.sample.inputs) {
            if (t.dtype != DType::kF32) continue;
            t.dtype = dtype;
            has_floats = true;
        }
        if (!has_floats || !runs_on_device(c)) continue;
        c.sample.attrs = in_type(c.sample.attrs, DType::kF32, dtype);
        cases.push_back(std::move(c));
    }
    return cases;
}

}  // namespace

Result<std::vector<Variant>> narrow_variants_of(const OpDef& op, DType dtype) {
    std::vector<Variant> variants;
    for (const OpCase& c : narrow_cases_of(op, dtype))
        for (const bool wrapped : {false, true}) {
            auto variant = make_variant(c, wrapped, false);
            if (!variant.ok()) return variant.status().with_context(describe(c));
            variants.push_back(std::move(variant).value());
        }
    return variants;
}

Result<std::vector<Variant>> narrow_gradients_of(const OpDef& op, DType dtype) {
    std::vector<Variant> variants;
    if (op.name == "hash_grid") return variants;  // rounded coordinates lie in other cells
    for (const OpCase& c : narrow_cases_of(op, dtype)) {
        if (!has_gradient(c)) continue;
        auto variant = make_variant(c, true, true);
        if (!variant.ok()) return variant.status().with_context(describe(c));
        variants.push_back(std::move(variant).value());
    }
    return variants;
}

Attrs in_type(const Attrs& attrs, DType from, DType to) {
    Attrs result = attrs;
    for (const Attr& a : attrs.all())
        if (a.value == AttrValue(from)) result.set(a.name, to);
    return result;
}

std::string difference(const HostTensor& found, const HostTensor& expected, double tolerance) {
    if (found.dtype() != expected.dtype() || found.shape() != expected.shape())
        return "is " + typed(found.dtype(), found.shape()) + ", expected " +
               typed(expected.dtype(), expected.shape());
    for (int64_t i = 0; i < found.element_count(); ++i) {
        const double a = found.get(i), b = expected.get(i);
        const bool is_close = std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
        if (is_close || a == b || (std::isnan(a) && std::isnan(b))) continue;
        char text[96];
        std::snprintf(text, sizeof text, "element %lld is %.9g, expected %.9g",
                      static_cast<long long>(i), a, b);
        return text;
    }
    return "";
}

}  // namespace hearth::test
