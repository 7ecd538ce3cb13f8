// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the page of operators from their records.

#include "compiler/ops/op_table.hpp"
#include "pages.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace hearth::docgen {

namespace {

std::string words_for(TypeClass types) {
    switch (types) {
        case TypeClass::kFloating:
            return "float";
        case TypeClass::kInteger:
            return "integer";
        case TypeClass::kBool:
            return "bool";
        case TypeClass::kNumber:
            return "number";
        case TypeClass::kAny:
            return "any";
    }
    return "";
}

std::string words_for(AttrType type) {
    static const char* const names[] = {"integer", "real", "text", "integers",
                                        "reals",   "type", "shape"};
    return names[static_cast<size_t>(type)];
}

std::string inputs_of(const OpDef& op) {
    std::string text;
    for (const InputSpec& input : op.inputs)
        text += (text.empty() ? "" : ", ") + std::string(input.name) + ": " +
                words_for(input.types) + (input.variadic ? "..." : "");
    return text;
}

std::string attributes_of(const OpDef& op) {
    std::string text;
    for (const AttrSpec& attr : op.attrs) {
        text += (text.empty() ? "" : ", ") + std::string(attr.name) + ": " + words_for(attr.type);
        if (!std::isnan(attr.default_value))
            text += " = " + to_string(AttrValue(attr.default_value));
    }
    return text;
}

std::string gradient_of(const OpDef& op) {
    if (op.stops_gradient) return "zero";
    return op.vjp != nullptr || op.op_class == OpClass::kComposite ? "yes" : "none";
}

/// Text for the kernel column: how a device executes the operator.
std::string kernel_of(const OpDef& op) {
    switch (op.op_class) {
        case OpClass::kElementwise:
            return "fused";
        case OpClass::kInjective:
            return op.is_view ? "folded into its readers" : "fused";
        case OpClass::kReduce:
            return "fused with its row";
        case OpClass::kMatmul:
            return "tiled kernel, fused with what follows";
        case OpClass::kKernel:
            return op.decompose != nullptr ? "own kernel, or composed" : "own kernel";
        case OpClass::kComposite:
            return "composed";
    }
    return "";
}

std::string typed(const Tensor& t) {
    return std::string(name_of(t.dtype())) + to_string(t.shape());
}

/// Shapes and types of a sample in the record: "f32[3, 5], f32[5] -> f32[3]".
std::string example_of(const OpDef& op) {
    Samples samples;
    if (op.samples != nullptr) op.samples(samples);
    if (samples.all().empty()) return "";
    // Prefers the first sample whose shape is informative (rank 2 or more).
    const auto tells = [](const Sample& s) {
        return !s.inputs.empty() && s.inputs[0].shape.rank() >= 2;
    };
    const auto found = std::find_if(samples.all().begin(), samples.all().end(), tells);
    const Sample& sample = found == samples.all().end() ? samples.all()[0] : *found;
    Trace trace("example");
    std::vector<Tensor> inputs;
    std::string text;
    for (const TensorType& type : sample.inputs) {
        inputs.push_back(trace.input("x" + std::to_string(inputs.size()), type.shape, type.dtype));
        text += (text.empty() ? "" : ", ") + typed(inputs.back());
    }
    std::string results;
    for (const Tensor& y : apply(op, inputs, sample.attrs, &trace))
        if (y.ok()) results += (results.empty() ? "" : ", ") + typed(y);
    return text + " -> " + results;
}

std::string onnx_of(const OpDef& op) {
    std::string text;
    for (const OnnxMapping& mapping : op.onnx)
        text += (text.empty() ? "" : ", ") + std::string(mapping.op_type) + "-" +
                std::to_string(mapping.since_opset);
    return text;
}

}  // namespace

std::string operators_page() {
    std::string text =
        "# Operators\n\n"
        "Made from the records in sdk/src/compiler/ops by `hearth_docgen`; a test fails when it is "
        "stale.\n"
        "The functions in [hearth/ops.hpp](../../sdk/include/hearth/ops.hpp) apply them; "
        "[adding_an_operator.md](../how-to/adding_an_operator.md)\nsays how to add one.\n\n"
        "Each runs on the CPU, in any type, and on a GPU in any but f64; \"GPU\" says as what. "
        "The example shows the\nshapes and types of one call. Gradient \"zero\": none flows "
        "through; \"none\": asking for it is an error. ONNX:\nthe operator and the first "
        "opset that is read.\n\n"
        "Numbers that an integer type does not hold: ONNX and PyTorch leave open what `cast` makes "
        "of "
        "them; here the\nCPU and every device agree. From floats it takes the type's nearest "
        "number, "
        "and zero from NaN (`float` 300 as i8\nis 127); from integers it keeps the low bits (i32 "
        "300 "
        "as i8 is 44). NaN as bool is true. A program that holds\n64-bit integers in 32 bits, "
        "which the compiler proves to suffice or `--assume-int32` accepts, takes the nearest\n"
        "numbers of 32 bits. Operators that take positions or lengths as floats convert them in "
        "the same way.\n\n"
        "| operator | inputs | attributes | result | example | GPU | gradient | ONNX |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (std::span<const OpDef> family : op_families())
        for (const OpDef& op : family)
            text += "|" + cell("`" + std::string(op.name) + "`") + cell(inputs_of(op)) +
                    cell(attributes_of(op)) + cell(std::string(op.summary)) + cell(example_of(op)) +
                    cell(kernel_of(op)) + cell(gradient_of(op)) + cell(onnx_of(op)) + "\n";
    return text;
}

}  // namespace hearth::docgen
