// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates shape arithmetic of ONNX models on extents that depend on the batch size.

#include "import/onnx/onnx_extents.hpp"

#include "core/portable.hpp"

#include <hearth/op/onnx_call.hpp>

#include <algorithm>
#include <string_view>

namespace hearth {

namespace {

// Longer lists are not treated as shapes.
constexpr size_t kLongestList = 64;

using Operands = std::span<const std::optional<Extents>>;

bool is_fixed(const std::optional<Extents>& e) {
    return e && !e->has_rows();
}

std::optional<Extents> gather(const OnnxNode& node, Operands in) {
    if (in.size() != 2 || !in[0] || in[0]->is_scalar || !is_fixed(in[1])) return {};
    if (node.integer("axis", 0) != 0) return {};
    const auto size = static_cast<int64_t>(in[0]->dims.size());
    Extents out{{}, in[1]->is_scalar};
    for (Dim index : in[1]->dims) {
        if (index.count < -size || index.count >= size) return {};
        const int64_t at = index.count < 0 ? index.count + size : index.count;
        out.dims.push_back(in[0]->dims[static_cast<size_t>(at)]);
    }
    return out;
}

std::optional<Extents> concat(Operands in) {
    Extents out;
    for (const std::optional<Extents>& part : in) {
        if (!part || part->is_scalar) return {};
        out.dims.insert(out.dims.end(), part->dims.begin(), part->dims.end());
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
    if (in.size() > 4 && in[4] && (in[4]->has_rows() || in[4]->dims != std::vector<Dim>{Dim(1)}))
        return {};
    const auto size = static_cast<int64_t>(in[0]->dims.size());
    for (int64_t& b : bounds) b = std::clamp<int64_t>(b < 0 ? b + size : b, 0, size);
    Extents out;
    for (int64_t i = bounds[0]; i < bounds[1]; ++i)
        out.dims.push_back(in[0]->dims[static_cast<size_t>(i)]);
    return out;
}

/// a * b if at most one of them depends on the batch size; nothing if the product overflows.
std::optional<Dim> times(Dim a, Dim b) {
    if (a.is_batch && b.is_batch) return {};
    int64_t product = 0;
    if (multiply_overflows(a.count, b.count, &product)) return {};
    return Dim(product, a.is_batch || b.is_batch);
}

std::optional<Dim> arithmetic(std::string_view op, Dim a, Dim b) {
    int64_t result = 0;
    if (op == "Mul") return times(a, b);
    if (op == "Div") {
        if (b.is_batch && a.is_batch && b.count > 0 && a.count % b.count == 0)
            return Dim(a.count / b.count);
        if (b.is_batch || b.count <= 0 || a.count % b.count != 0) return {};
        return Dim(a.count / b.count, a.is_batch);
    }
    if (a.is_batch != b.is_batch) return {};
    const bool overflows = op == "Add" ? add_overflows(a.count, b.count, &result)
                                       : subtract_overflows(a.count, b.count, &result);
    if (overflows) return {};
    return Dim(result, a.is_batch);
}

std::optional<Extents> elementwise(std::string_view op, Operands in) {
    if (in.size() != 2 || !in[0] || !in[1]) return {};
    const Extents &a = *in[0], &b = *in[1];
    const size_t size = std::max(a.dims.size(), b.dims.size());
    if (a.dims.empty() || b.dims.empty()) return {};
    if ((a.dims.size() != 1 && a.dims.size() != size) ||
        (b.dims.size() != 1 && b.dims.size() != size))
        return {};
    Extents out{{}, a.is_scalar && b.is_scalar};
    for (size_t i = 0; i < size; ++i) {
        const Dim x = a.dims[a.dims.size() == 1 ? 0 : i], y = b.dims[b.dims.size() == 1 ? 0 : i];
        const std::optional<Dim> d = arithmetic(op, x, y);
        if (!d) return {};
        out.dims.push_back(*d);
    }
    return out;
}

std::optional<Extents> product(Operands in) {
    if (in.empty() || !in[0]) return {};
    Extents out{{Dim(1)}, true};
    for (Dim d : in[0]->dims) {
        const std::optional<Dim> next = times(out.dims[0], d);
        if (!next) return {};
        out.dims[0] = *next;
    }
    return out;
}

}  // namespace

bool Extents::has_rows() const {
    return std::any_of(dims.begin(), dims.end(), [](Dim d) { return d.is_batch; });
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
    const std::string_view op = node.op_type;
    if (op == "Gather") return gather(node, in);
    if (op == "Concat") return concat(in);
    if (op == "Slice") return slice(node, in);
    if (op == "Mul" || op == "Div" || op == "Add" || op == "Sub") return elementwise(op, in);
    if (op == "ReduceProd" && node.integer("keepdims", 1) == 0) return product(in);
    if (in.empty() || !in[0]) return {};
    if (op == "Identity") return in[0];
    if (op == "Cast") {
        const std::optional<DType> to = dtype_from_onnx(node.integer("to", 0));
        if (to && is_integer(*to)) return in[0];
    }
    if (op == "Unsqueeze" && in[0]->is_scalar) return Extents{in[0]->dims, false};
    if (op == "Squeeze" && in[0]->dims.size() == 1) return Extents{in[0]->dims, true};
    return {};
}

}  // namespace hearth
