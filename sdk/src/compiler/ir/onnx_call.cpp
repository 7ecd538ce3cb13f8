// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Typed access to the attributes and inputs of an ONNX node, with error messages.

#include <hearth/op/onnx_call.hpp>

#include <algorithm>
#include <array>

namespace hearth {

namespace {

std::string input_text(size_t k) {
    return "input " + std::to_string(k);
}

int64_t saturated(int64_t n) {
    return std::clamp(n, -kMaxExtent, kMaxExtent);
}

/// The attribute as a T; the fallback if it is absent or (an error) of another type.
template <class T>
T attribute(OnnxCall& c, std::string_view name, std::string_view kind, T fallback) {
    const AttrValue* found = c.attrs.find(name);
    if (found == nullptr) return fallback;
    if (const T* value = std::get_if<T>(found)) return *value;
    c.invalid("attribute '" + std::string(name) + "' is not " + std::string(kind));
    return fallback;
}

}  // namespace

Tensor OnnxCall::in(size_t k) {
    if (!has(k)) {
        invalid("needs " + input_text(k));
        return {&trace, 0xffffffffu};
    }
    if (inputs[k].tensor.trace() == nullptr) {
        unsupported(input_text(k) + " is computed from the batch size, which is known only " +
                    "when the program runs; import with fixed input shapes");
        return {&trace, 0xffffffffu};
    }
    return inputs[k].tensor;
}

std::vector<Tensor> OnnxCall::all() {
    std::vector<Tensor> tensors;
    for (size_t k = 0; k < inputs.size(); ++k) tensors.push_back(in(k));
    return tensors;
}

int64_t OnnxCall::integer(std::string_view name, int64_t fallback) {
    return attribute<int64_t>(*this, name, "an integer", fallback);
}

std::optional<int> OnnxCall::axis(std::string_view name, int64_t fallback, int rank) {
    const Result<int> at = normalize_axis(integer(name, fallback), rank);
    if (at.ok()) return *at;
    trace.fail(at.status());
    return {};
}

double OnnxCall::real(std::string_view name, double fallback) {
    return attribute<double>(*this, name, "a float", fallback);
}

std::string OnnxCall::text(std::string_view name, std::string_view fallback) {
    return attribute<std::string>(*this, name, "a string", std::string(fallback));
}

std::vector<std::string> OnnxCall::texts(std::string_view name) {
    std::vector<std::string> lines;
    const std::string all = text(name, "");
    for (size_t at = 0; at < all.size();) {
        const size_t end = std::min(all.find('\n', at), all.size());
        lines.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

std::vector<int64_t> OnnxCall::integers(std::string_view name, std::vector<int64_t> fallback) {
    std::vector<int64_t> list =
        attribute<std::vector<int64_t>>(*this, name, "a list of integers", std::move(fallback));
    for (int64_t& n : list) n = saturated(n);
    return list;
}

std::vector<double> OnnxCall::reals(std::string_view name, std::vector<double> fallback) {
    return attribute<std::vector<double>>(*this, name, "a list of floats", std::move(fallback));
}

const HostTensor* OnnxCall::value(size_t k) {
    if (has(k) && inputs[k].value != nullptr) return inputs[k].value;
    if (has(k)) {
        if (!unknown_input) unknown_input = k;
        unsupported(input_text(k) + " must be constant");
    } else {
        invalid("needs " + input_text(k));
    }
    return nullptr;
}

std::vector<int64_t> OnnxCall::integers_in(size_t k) {
    std::vector<int64_t> list;
    const HostTensor* found = value(k);
    if (found == nullptr) return list;
    if (!is_integer(found->dtype())) {
        invalid(input_text(k) + " must hold integers, not " + std::string(name_of(found->dtype())));
        return list;
    }
    for (int64_t i = 0; i < found->element_count(); ++i)
        list.push_back(saturated(found->get_int(i)));
    return list;
}

std::vector<double> OnnxCall::reals_in(size_t k) {
    std::vector<double> list;
    if (const HostTensor* found = value(k))
        for (int64_t i = 0; i < found->element_count(); ++i) list.push_back(found->get(i));
    return list;
}

double OnnxCall::real_in(size_t k, double fallback) {
    if (!has(k)) return fallback;
    const HostTensor* found = value(k);
    if (found == nullptr) return fallback;
    if (found->element_count() == 1) return found->get(0);
    invalid(input_text(k) + " has " + to_string(found->shape()) + ", expected one element");
    return fallback;
}

int64_t OnnxCall::integer_in(size_t k, int64_t fallback) {
    if (!has(k)) return fallback;
    const HostTensor* found = value(k);
    if (found == nullptr) return fallback;
    if (found->element_count() == 1) {
        const int64_t n = found->get_int(0);
        // A u64 beyond 2^63 looks negative.
        return found->dtype() == DType::kU64 && n < 0 ? kMaxExtent : saturated(n);
    }
    invalid(input_text(k) + " has " + to_string(found->shape()) + ", expected one element");
    return fallback;
}

std::vector<Dim> OnnxCall::extents_in(size_t k) {
    if (has(k) && inputs[k].extents != nullptr) return *inputs[k].extents;
    std::vector<Dim> dims;
    for (int64_t n : integers_in(k)) dims.emplace_back(n);
    return dims;
}

std::optional<int64_t> OnnxCall::bounded_extent(Dim largest) {
    constexpr int64_t kMostByDefault = 1 << 14;
    if (bound) return largest.is_batch ? *bound : std::min(*bound, largest.count);
    if (!largest.is_batch && largest.count <= kMostByDefault) return largest.count;
    unsupported("an extent of its output depends on data and may be " + to_string(largest) +
                "; bound it, " + std::string(bound_flag_name) + " " + std::string(label) + "=N");
    return {};
}

std::optional<Shape> OnnxCall::shape(std::span<const Dim> dims) {
    if (dims.size() > static_cast<size_t>(kMaxRank)) {
        unsupported("rank " + std::to_string(dims.size()) + " is more than " +
                    std::to_string(kMaxRank));
        return {};
    }
    Shape made;
    for (Dim d : dims) made.push_back(d);
    if (Status s = check_extents(made); !s.ok()) {
        trace.fail(s);
        return {};
    }
    return made;
}

std::optional<std::vector<int64_t>> OnnxCall::list(std::string_view name, size_t k) {
    if (has(k)) return integers_in(k);
    if (attrs.has(name)) return integers(name);
    return {};
}

std::vector<Tensor> OnnxCall::unsupported(std::string_view what) {
    trace.fail(hearth::unsupported(std::string(what)));
    return {};
}

std::vector<Tensor> OnnxCall::invalid(std::string_view what) {
    trace.fail(invalid_argument(std::string(what)));
    return {};
}

namespace {

struct OnnxType {
    std::string_view name;
    std::optional<DType> dtype;
};

// Indexed by onnx.proto's TensorProto.DataType (ONNX 1.20).
constexpr std::array<OnnxType, 27> kOnnxTypes = {{
    {"undefined", {}},
    {"float", DType::kF32},
    {"uint8", DType::kU8},
    {"int8", DType::kI8},
    {"uint16", DType::kU16},
    {"int16", DType::kI16},
    {"int32", DType::kI32},
    {"int64", DType::kI64},
    {"string", {}},
    {"bool", DType::kBool},
    {"float16", DType::kF16},
    {"double", DType::kF64},
    {"uint32", DType::kU32},
    {"uint64", DType::kU64},
    {"complex64", {}},
    {"complex128", {}},
    {"bfloat16", DType::kBF16},
    {"float8e4m3fn", {}},
    {"float8e4m3fnuz", {}},
    {"float8e5m2", {}},
    {"float8e5m2fnuz", {}},
    {"uint4", {}},
    {"int4", {}},
    {"float4e2m1", {}},
    {"float8e8m0", {}},
    {"uint2", {}},
    {"int2", {}},
}};

}  // namespace

std::optional<DType> dtype_from_onnx(int64_t number) {
    if (number < 0 || number >= static_cast<int64_t>(kOnnxTypes.size())) return {};
    return kOnnxTypes[static_cast<size_t>(number)].dtype;
}

int32_t onnx_type_of(DType dtype) {
    const auto at = std::find_if(kOnnxTypes.begin(), kOnnxTypes.end(),
                                 [&](const OnnxType& t) { return t.dtype == dtype; });
    return static_cast<int32_t>(at - kOnnxTypes.begin());
}

std::string onnx_type_name(int64_t number) {
    if (number < 0 || number >= static_cast<int64_t>(kOnnxTypes.size()))
        return "element type " + std::to_string(number);
    return std::string(kOnnxTypes[static_cast<size_t>(number)].name);
}

}  // namespace hearth
