// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_problem.hpp"

#include "compiler/ops/op_table.hpp"

#include <charconv>

namespace hearth {

namespace {

constexpr std::string_view kSeparator = ", ";

std::string joined(std::span<const int64_t> numbers) {
    std::string text;
    for (const int64_t n : numbers) text += (text.empty() ? "" : "x") + std::to_string(n);
    return text;
}

std::string joined(const Shape& shape) {
    std::vector<int64_t> extents;
    for (int axis = 0; axis < shape.rank(); ++axis) extents.push_back(shape[axis].count);
    return joined(extents);
}

std::optional<std::vector<int64_t>> numbers_of(std::string_view text) {
    std::vector<int64_t> numbers;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at != end;) {
        if (!numbers.empty() && *at++ != 'x') return std::nullopt;
        const auto [next, error] = std::from_chars(at, end, numbers.emplace_back());
        if (error != std::errc()) return std::nullopt;
        at = next;
    }
    return numbers;
}

std::optional<TensorType> type_of(std::string_view dtype, std::string_view extents) {
    const auto numbers = numbers_of(extents);
    if (!numbers || numbers->size() > kMaxRank) return std::nullopt;
    Shape shape;
    for (const int64_t n : *numbers) shape.push_back(Dim(n));
    for (int i = 0; i < kDTypeCount; ++i)
        if (name_of(static_cast<DType>(i)) == dtype)
            return TensorType{static_cast<DType>(i), shape};
    return std::nullopt;
}

/// As many digits as give the same number again.
std::string text_of(double number) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

std::optional<double> number_of(std::string_view text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || at != end) return std::nullopt;
    return number;
}

/// Sets "strides 1x1" or "scale 0.25"; false where the operator has no such attribute of numbers.
bool set_attr(KernelProblem& problem, std::string_view name, std::string_view text) {
    const auto integers = numbers_of(text);
    const auto number = number_of(text);
    for (const AttrSpec& spec : problem.op->attrs) {
        if (spec.name != name) continue;
        if (spec.type == AttrType::kIntegers && integers) problem.attrs.set(name, *integers);
        if (spec.type == AttrType::kInteger && integers && integers->size() == 1)
            problem.attrs.set(name, integers->front());
        if (spec.type == AttrType::kFloat && number) problem.attrs.set(name, *number);
    }
    return problem.attrs.has(name);
}

}  // namespace

std::string KernelProblem::key() const {
    std::string text(op->name);
    const char* before = " ";
    const auto add = [&](std::string_view name, const std::string& value) {
        text += before + std::string(name) + " " + value;
        before = kSeparator.data();
    };
    for (const TensorType& in : inputs) add(name_of(in.dtype), joined(in.shape));
    for (const Attr& attr : attrs.all()) {
        if (const auto* one = std::get_if<int64_t>(&attr.value))
            add(attr.name, std::to_string(*one));
        if (const auto* one = std::get_if<double>(&attr.value)) add(attr.name, text_of(*one));
        if (const auto* list = std::get_if<std::vector<int64_t>>(&attr.value))
            add(attr.name, joined(*list));
    }
    return text;
}

KernelProblem kernel_problem(const Graph& graph, const Node& node, uint64_t rows_capacity) {
    KernelProblem problem{node.op, {}, node.attrs};
    for (ValueId v : node.inputs) {
        const Value& value = graph.value(v);
        Shape shape;
        for (int axis = 0; axis < value.shape.rank(); ++axis)
            shape.push_back(Dim(value.shape[axis].resolve(static_cast<int64_t>(rows_capacity))));
        problem.inputs.push_back({value.dtype, shape});
    }
    return problem;
}

std::optional<KernelProblem> parse_kernel_problem(std::string_view key) {
    const size_t name_end = std::min(key.find(' '), key.size());
    KernelProblem problem;
    problem.op = find_op(key.substr(0, name_end));
    if (problem.op == nullptr) return std::nullopt;
    key.remove_prefix(std::min(name_end + 1, key.size()));
    while (!key.empty()) {
        const size_t end = std::min(key.find(kSeparator), key.size());
        const std::string_view field = key.substr(0, end);
        const size_t middle = field.find(' ');
        if (middle == std::string_view::npos) return std::nullopt;
        const std::string_view name = field.substr(0, middle), value = field.substr(middle + 1);
        // The last operand may stand for any number of them, none included.
        if (const auto type = type_of(name, value); type && problem.attrs.all().empty())
            problem.inputs.push_back(*type);
        else if (!set_attr(problem, name, value))
            return std::nullopt;
        key.remove_prefix(std::min(end + kSeparator.size(), key.size()));
    }
    return problem;
}

std::vector<std::string> variants_of(const KernelProblem& problem, const DeviceCaps& caps) {
    if (problem.op->kernel == nullptr) return {};
    std::vector<TensorType> outputs;
    if (!infer_types(*problem.op, problem.attrs, problem.inputs, outputs).ok()) return {};
    const auto text = problem.op->kernel({problem.attrs, problem.inputs, outputs, caps});
    return text ? text->variants : std::vector<std::string>();
}

}  // namespace hearth
