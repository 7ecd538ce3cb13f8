// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates shape arithmetic of ONNX models on extents that depend on the batch size, and on bounds of
// extents that depend on data.

#include "import/onnx/onnx_extents.hpp"

#include "core/portable.hpp"

#include <hearth/op/onnx_call.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace hearth {

namespace {

// Longer lists are not treated as shapes.
constexpr size_t kLongestList = 64;

using Operands = std::span<const std::optional<Extents>>;
/// Called with at least one operand, the first of which is known.
using Rule = std::optional<Extents> (*)(const OnnxNode&, Operands);

bool is_fixed(const std::optional<Extents>& e) {
    return e && !e->has_rows() && !e->has_bounds();
}

/// True for a list without symbolic extents in which some numbers are bounds.
bool is_bounded_number(const std::optional<Extents>& e) {
    return e && !e->has_rows() && e->has_bounds();
}

std::optional<Extents> gather(const OnnxNode& node, Operands in) {
    if (in.size() != 2 || !in[0] || in[0]->is_scalar || !is_fixed(in[1])) return {};
    if (node.integer("axis", 0) != 0) return {};
    const auto size = static_cast<int64_t>(in[0]->dims.size());
    Extents out{{}, in[1]->is_scalar};
    for (Dim index : in[1]->dims) {
        if (index.count < -size || index.count >= size) return {};
        const int64_t at = index.count < 0 ? index.count + size : index.count;
        out.append(in[0]->dims[static_cast<size_t>(at)], in[0]->is_bound(static_cast<size_t>(at)));
    }
    return out;
}

std::optional<Extents> concat(const OnnxNode&, Operands in) {
    Extents out;
    for (const std::optional<Extents>& part : in) {
        if (!part || part->is_scalar) return {};
        for (size_t i = 0; i < part->dims.size(); ++i) out.append(part->dims[i], part->is_bound(i));
        if (out.dims.size() > kLongestList) return {};
    }
    return out;
}

std::optional<Extents> slice(const OnnxNode& node, Operands in) {
    if (in.empty() || !in[0] || in[0]->is_scalar) return {};
    std::optional<Extents> axes, steps;
    int64_t bounds[2] = {0, 0};
    for (size_t i = 0; i < 2; ++i) {
        const AttrValue* attr = node.attrs.find(i == 0 ? "starts" : "ends");
        if (attr != nullptr) {
            const auto* list = std::get_if<std::vector<int64_t>>(attr);
            if (list == nullptr || list->size() != 1) return {};
            bounds[i] = (*list)[0];
        } else {
            if (in.size() < 3 || !is_fixed(in[i + 1]) || in[i + 1]->dims.size() != 1) return {};
            bounds[i] = in[i + 1]->dims[0].count;
        }
    }
    if (in.size() > 4 && in[4] && (!is_fixed(in[4]) || in[4]->dims != std::vector<Dim>{Dim(1)}))
        return {};
    const auto size = static_cast<int64_t>(in[0]->dims.size());
    for (int64_t& b : bounds) b = std::clamp<int64_t>(b < 0 ? b + size : b, 0, size);
    Extents out;
    for (auto i = static_cast<size_t>(bounds[0]); i < static_cast<size_t>(bounds[1]); ++i)
        out.append(in[0]->dims[i], in[0]->is_bound(i));
    return out;
}

/// a * b if at most one of them depends on the batch size; nothing if the product overflows.
std::optional<Dim> times(Dim a, Dim b) {
    if (a.is_batch && b.is_batch) return {};
    int64_t product = 0;
    if (multiply_overflows(a.count, b.count, &product)) return {};
    return Dim(product, a.is_batch || b.is_batch);
}

std::optional<Dim> over(Dim a, Dim b) {
    if (b.is_batch && a.is_batch && b.count > 0 && a.count % b.count == 0)
        return Dim(a.count / b.count);
    if (b.is_batch || b.count <= 0 || a.count % b.count != 0) return {};
    return Dim(a.count / b.count, a.is_batch);
}

std::optional<Dim> plus(Dim a, Dim b) {
    int64_t sum = 0;
    if (a.is_batch != b.is_batch || add_overflows(a.count, b.count, &sum)) return {};
    return Dim(sum, a.is_batch);
}

std::optional<Dim> minus(Dim a, Dim b) {
    int64_t difference = 0;
    if (a.is_batch != b.is_batch || subtract_overflows(a.count, b.count, &difference)) return {};
    return Dim(difference, a.is_batch);
}

std::optional<Dim> smaller(Dim a, Dim b) {
    if (a.is_batch != b.is_batch) return {};
    return Dim(std::min(a.count, b.count), a.is_batch);
}

std::optional<Dim> larger(Dim a, Dim b) {
    if (a.is_batch != b.is_batch) return {};
    return Dim(std::max(a.count, b.count), a.is_batch);
}

/// Operands with which a result grows: of a bound, only such results are bounds.
enum class GrowsWith : uint8_t { kBoth, kFirst, kBothIfPositive };

template <std::optional<Dim> (*combine)(Dim, Dim), GrowsWith grows_with = GrowsWith::kBoth>
std::optional<Extents> elementwise(const OnnxNode&, Operands in) {
    if (in.size() != 2 || !in[0] || !in[1]) return {};
    const Extents &a = *in[0], &b = *in[1];
    const size_t size = std::max(a.dims.size(), b.dims.size());
    if (a.dims.empty() || b.dims.empty()) return {};
    if ((a.dims.size() != 1 && a.dims.size() != size) ||
        (b.dims.size() != 1 && b.dims.size() != size))
        return {};
    Extents out{{}, a.is_scalar && b.is_scalar};
    for (size_t i = 0; i < size; ++i) {
        const size_t ia = a.dims.size() == 1 ? 0 : i, ib = b.dims.size() == 1 ? 0 : i;
        const Dim x = a.dims[ia], y = b.dims[ib];
        const std::optional<Dim> d = combine(x, y);
        // The result must not fall as a bound rises: less a bound, or over one, is no bound.
        const bool falls = b.is_bound(ib) && grows_with == GrowsWith::kFirst;
        const bool may_fall =
            grows_with == GrowsWith::kBothIfPositive && (x.count < 0 || y.count < 0);
        const bool is_bound = a.is_bound(ia) || b.is_bound(ib);
        if (!d || falls || (is_bound && may_fall)) return {};
        out.append(*d, is_bound);
    }
    return out;
}

std::optional<Extents> product(const OnnxNode& node, Operands in) {
    if (node.integer("keepdims", 1) != 0) return {};
    Extents out{{Dim(1)}, true};
    for (Dim d : in[0]->dims) {
        const std::optional<Dim> next = times(out.dims[0], d);
        if (!next) return {};
        out.dims[0] = *next;
    }
    if (in[0]->has_bounds()) out.bounds = {true};
    return out;
}

std::optional<Extents> smallest(const OnnxNode& node, Operands in) {
    if (node.integer("keepdims", 1) != 0 || !is_bounded_number(in[0])) return {};
    Extents out{{in[0]->dims[0]}, true, {true}};
    for (Dim d : in[0]->dims) out.dims[0].count = std::min(out.dims[0].count, d.count);
    return out;
}

std::optional<Extents> unchanged(const OnnxNode&, Operands in) {
    return in[0];
}

std::optional<Extents> cast_to_integer(const OnnxNode& node, Operands in) {
    const std::optional<DType> to = dtype_from_onnx(node.integer("to", 0));
    if (to && is_integer(*to)) return in[0];
    return {};
}

std::optional<Extents> as_list(const OnnxNode&, Operands in) {
    if (!in[0]->is_scalar) return {};
    return Extents{in[0]->dims, false, in[0]->bounds};
}

std::optional<Extents> as_scalar(const OnnxNode&, Operands in) {
    if (in[0]->dims.size() != 1) return {};
    return Extents{in[0]->dims, true, in[0]->bounds};
}

std::optional<Extents> reshape_list(const OnnxNode&, Operands in) {
    const bool is_single =
        in.size() == 2 && is_fixed(in[1]) && in[0]->dims.size() == 1 && in[1]->dims.size() <= 1;
    if (!is_single) return {};
    return Extents{in[0]->dims, in[1]->dims.empty(), in[0]->bounds};
}

}  // namespace

bool Extents::has_rows() const {
    return std::any_of(dims.begin(), dims.end(), [](Dim d) { return d.is_batch; });
}

bool Extents::has_bounds() const {
    return std::find(bounds.begin(), bounds.end(), true) != bounds.end();
}

void Extents::append(Dim d, bool is_bound) {
    dims.push_back(d);
    if (!is_bound) return;
    bounds.resize(dims.size());
    bounds.back() = true;
}

HostTensor Extents::as_tensor() const {
    HostTensor tensor(DType::kI64,
                      is_scalar ? Shape{} : Shape{Dim(static_cast<int64_t>(dims.size()))});
    for (size_t i = 0; i < dims.size(); ++i) tensor.set_int(static_cast<int64_t>(i), dims[i].count);
    return tensor;
}

std::optional<Extents> Extents::from(const HostTensor& tensor) {
    if (!is_integer(tensor.dtype()) || tensor.shape().rank() > 1) return {};
    if (tensor.element_count() > static_cast<int64_t>(kLongestList)) return {};
    Extents out{{}, tensor.shape().rank() == 0};
    for (int64_t i = 0; i < tensor.element_count(); ++i) out.dims.emplace_back(tensor.get_int(i));
    return out;
}

std::optional<Extents> evaluate_extents(const OnnxNode& node, Operands in) {
    static constexpr std::pair<std::string_view, Rule> kRules[] = {
        {"Add", elementwise<plus>},
        {"Cast", cast_to_integer},
        {"Concat", concat},
        {"Div", elementwise<over, GrowsWith::kFirst>},
        {"Gather", gather},
        {"Identity", unchanged},
        {"Max", elementwise<larger>},
        {"Min", elementwise<smaller>},
        {"Mul", elementwise<times, GrowsWith::kBothIfPositive>},
        {"ReduceMin", smallest},
        {"ReduceProd", product},
        {"Reshape", reshape_list},
        {"Slice", slice},
        {"Squeeze", as_scalar},
        {"Sub", elementwise<minus, GrowsWith::kFirst>},
        {"Unsqueeze", as_list},
    };
    for (const auto& [op_type, rule] : kRules)
        if (op_type == node.op_type && !in.empty() && in[0]) return rule(node, in);
    return {};
}

}  // namespace hearth
