// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes onnx.TensorProto (onnx.proto3) in protobuf's wire format.

#include "tensor_proto.hpp"

#include "core/bytes.hpp"

namespace hearth::tool {

namespace {

void varint(ByteWriter& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.number(static_cast<uint8_t>(value | 0x80));
    out.number(static_cast<uint8_t>(value));
}

/// onnx.TensorProto.DataType.
uint64_t onnx_type(DType dtype) {
    switch (dtype) {
        case DType::kF32:
            return 1;
        case DType::kU8:
            return 2;
        case DType::kI8:
            return 3;
        case DType::kU16:
            return 4;
        case DType::kI16:
            return 5;
        case DType::kI32:
            return 6;
        case DType::kI64:
            return 7;
        case DType::kBool:
            return 9;
        case DType::kF16:
            return 10;
        case DType::kF64:
            return 11;
        case DType::kU32:
            return 12;
        case DType::kU64:
            return 13;
        case DType::kBF16:
            return 16;
        default:
            return 0;
    }
}

}  // namespace

std::vector<std::byte> write_tensor_proto(std::string_view name, const HostTensor& tensor) {
    constexpr uint64_t kVarint = 0, kBytes = 2;  // wire types
    const auto key = [](uint64_t field, uint64_t wire) { return field << 3 | wire; };
    ByteWriter out;
    for (Dim d : tensor.shape().dims()) {
        varint(out, key(1, kVarint));
        varint(out, static_cast<uint64_t>(d.count));
    }
    varint(out, key(2, kVarint));
    varint(out, onnx_type(tensor.dtype()));
    varint(out, key(8, kBytes));
    varint(out, name.size());
    out.text(name);
    varint(out, key(9, kBytes));
    varint(out, tensor.bytes().size());
    out.bytes(tensor.bytes());
    return out.finish();
}

}  // namespace hearth::tool
