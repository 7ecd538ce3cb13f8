// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ops/op_cases.hpp"

#include "ops/op_table.hpp"
#include "ops/own_kernel_ops.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <cmath>

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
    ops.insert(ops.end(), own_kernel_ops().begin(), own_kernel_ops().end());
    return ops;
}

std::vector<OpCase> cases_of(const OpDef& op) {
    Samples samples;
    if (op.samples != nullptr) op.samples(samples);
    std::vector<OpCase> cases;
    for (const Sample& sample : samples.all()) {
        OpCase c{&op, cases.size(), sample};
        for (const AttrSpec& spec : op.attrs) {
            if (c.sample.attrs.has(spec.name) || std::isnan(spec.fallback)) continue;
            if (spec.type == AttrType::kInteger)
                c.sample.attrs.set(spec.name, static_cast<int64_t>(spec.fallback));
            else
                c.sample.attrs.set(spec.name, spec.fallback);
        }
        cases.push_back(std::move(c));
    }
    return cases;
}

std::vector<HostTensor> make_inputs(const OpCase& c) {
    std::vector<HostTensor> inputs;
    for (const TensorType& type : c.sample.inputs) {
        HostTensor t(type.dtype, type.shape.at(c.rows()));
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
        !c.op->at && (kind == OpClass::kElementwise || kind == OpClass::kIndexed);
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
    return trace.finish();
}

namespace {

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
        const bool is_scaled = wrapped && is_floating(type.dtype);
        operands.push_back(is_scaled ? inputs.back() * 0.5 + inputs.back() * 0.5 : inputs.back());
    }
    const std::vector<Tensor> outputs = apply(*c.op, operands, c.sample.attrs, &trace);
    Tensor loss;
    for (size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].ok()) continue;
        const bool is_float = is_floating(outputs[i].dtype());
        const Tensor y = wrapped && is_float ? outputs[i] * 0.5 + 0.25 : outputs[i];
        trace.output(name + ".y" + std::to_string(i), y);
        if (gradient && is_float) loss = loss.ok() ? loss + sum(y * 0.75) : sum(y * 0.75);
    }
    if (gradient && loss.ok()) {
        std::vector<Tensor> wrt;
        for (const Tensor& x : inputs)
            if (is_floating(x.dtype())) wrt.push_back(x);
        const std::vector<Tensor> gradients = grad(loss, wrt);
        for (size_t i = 0; i < gradients.size(); ++i)
            trace.output(name + ".g" + std::to_string(i), gradients[i]);
    }
    HEARTH_ASSIGN(variant.graph, trace.finish());
    return variant;
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
        HEARTH_TRY(add(c, false, false).in(describe(c)));
        HEARTH_TRY(add(c, true, false).in(describe(c)));
        const bool has_gradient = c.sample.gradient && !op.stops_gradient &&
                                  (op.vjp != nullptr || op.op_class == OpClass::kComposite);
        if (has_gradient) HEARTH_TRY(add(c, true, true).in(describe(c)));
    }
    return variants;
}

Result<std::vector<Variant>> narrow_variants_of(const OpDef& op, DType dtype) {
    std::vector<Variant> variants;
    if (op.name == "bitcast") return variants;  // its types must be of one size
    for (OpCase c : cases_of(op)) {
        bool has_floats = false;
        for (TensorType& t : c.sample.inputs) {
            if (t.dtype != DType::kF32) continue;
            t.dtype = dtype;
            has_floats = true;
        }
        if (!has_floats || !runs_on_device(c)) continue;
        c.sample.attrs = in_type(c.sample.attrs, dtype);
        for (const bool wrapped : {false, true}) {
            auto variant = make_variant(c, wrapped, false);
            if (!variant.ok()) return variant.status().in(describe(c));
            variants.push_back(std::move(variant).value());
        }
    }
    return variants;
}

Attrs in_type(const Attrs& attrs, DType dtype) {
    Attrs result = attrs;
    for (const Attr& a : attrs.all())
        if (a.value == AttrValue(DType::kF32)) result.set(a.name, dtype);
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
