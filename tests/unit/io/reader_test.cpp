// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "support/onnx_builder.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth {
namespace {

using testing::bytes_of;
using testing::float_tensor;
using testing::int_tensor;

onnx::TensorProto typed(int32_t type, const std::vector<int64_t>& dims) {
    onnx::TensorProto t;
    t.set_name("t");
    t.set_data_type(type);
    for (int64_t d : dims) t.add_dims(d);
    return t;
}

std::string message_of(const onnx::TensorProto& proto) {
    const Result<NamedTensor> tensor = read_onnx_tensor(bytes_of(proto));
    return tensor.ok() ? "(no error)" : tensor.status().message();
}

StatusCode code_of(const onnx::TensorProto& proto) {
    return read_onnx_tensor(bytes_of(proto)).status().code();
}

void expect_values(const onnx::TensorProto& proto, DType dtype, const std::vector<double>& values) {
    const Result<NamedTensor> read = read_onnx_tensor(bytes_of(proto));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->tensor.dtype(), dtype);
    ASSERT_EQ(read->tensor.element_count(), static_cast<int64_t>(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(read->tensor.get(static_cast<int64_t>(i)), values[i]) << name_of(dtype);
}

TEST(OnnxTensor, RawFloatsKeepNameShapeAndValues) {
    const Result<NamedTensor> t =
        read_onnx_tensor(bytes_of(float_tensor("weights", {2, 3}, {1, 2, 3, 4, 5, -0.5f})));
    ASSERT_TRUE(t.ok()) << t.status().message();
    EXPECT_EQ(t->name, "weights");
    EXPECT_EQ(t->tensor.shape(), (Shape{2, 3}));
    EXPECT_EQ(t->tensor.get(5), -0.5);
}

TEST(OnnxTensor, EachTypeIsReadFromItsTypedField) {
    onnx::TensorProto f = typed(onnx::TensorProto::FLOAT, {2});
    f.add_float_data(1.5f);
    f.add_float_data(-2);
    expect_values(f, DType::kF32, {1.5, -2});

    onnx::TensorProto d = typed(onnx::TensorProto::DOUBLE, {1});
    d.add_double_data(1e-200);
    expect_values(d, DType::kF64, {1e-200});

    for (const auto& [type, dtype] : {std::pair{onnx::TensorProto::INT8, DType::kI8},
                                      std::pair{onnx::TensorProto::INT16, DType::kI16},
                                      std::pair{onnx::TensorProto::INT32, DType::kI32}}) {
        onnx::TensorProto t = typed(type, {2});
        t.add_int32_data(-7);
        t.add_int32_data(100);
        expect_values(t, dtype, {-7, 100});
    }
    for (const auto& [type, dtype] : {std::pair{onnx::TensorProto::UINT8, DType::kU8},
                                      std::pair{onnx::TensorProto::UINT16, DType::kU16}}) {
        onnx::TensorProto t = typed(type, {1});
        t.add_int32_data(200);
        expect_values(t, dtype, {200});
    }
    onnx::TensorProto b = typed(onnx::TensorProto::BOOL, {2});
    b.add_int32_data(0);
    b.add_int32_data(1);
    expect_values(b, DType::kBool, {0, 1});

    onnx::TensorProto u = typed(onnx::TensorProto::UINT32, {1});
    u.add_uint64_data(4000000000u);
    expect_values(u, DType::kU32, {4000000000.0});
    u.set_data_type(onnx::TensorProto::UINT64);
    expect_values(u, DType::kU64, {4000000000.0});
    expect_values(int_tensor("i", {1}, {-5}), DType::kI64, {-5});

    onnx::TensorProto h = typed(onnx::TensorProto::FLOAT16, {1});
    h.add_int32_data(0x3e00);
    expect_values(h, DType::kF16, {1.5});
    h.set_data_type(onnx::TensorProto::BFLOAT16);
    h.set_int32_data(0, 0x3fc0);
    expect_values(h, DType::kBF16, {1.5});
}

TEST(OnnxTensor, RawBoolsOtherThanOneAreTrue) {
    onnx::TensorProto b = typed(onnx::TensorProto::BOOL, {3});
    b.set_raw_data(std::string("\x00\x01\x80", 3));
    expect_values(b, DType::kBool, {0, 1, 1});
}

TEST(OnnxTensor, ScalarsAndEmptyTensorsAreRead) {
    expect_values(float_tensor("s", {}, {3}), DType::kF32, {3});
    expect_values(float_tensor("e", {0, 4}, {}), DType::kF32, {});
    expect_values(typed(onnx::TensorProto::INT64, {0}), DType::kI64, {});
}

TEST(OnnxTensor, ExtentsThatThePayloadDoesNotHaveAreRejectedBeforeAllocating) {
    onnx::TensorProto t = float_tensor("t", {1 << 20, 1 << 18}, {1, 2, 3});
    EXPECT_EQ(code_of(t), StatusCode::kCorruptData);
    EXPECT_NE(message_of(t).find("takes 1099511627776 bytes, the file has 12"), std::string::npos)
        << message_of(t);
    EXPECT_EQ(code_of(float_tensor("t", {4}, {1, 2, 3})), StatusCode::kCorruptData);
    EXPECT_EQ(code_of(float_tensor("t", {2}, {1, 2, 3})), StatusCode::kCorruptData);
    EXPECT_EQ(code_of(int_tensor("t", {3}, {1, 2})), StatusCode::kCorruptData);
    EXPECT_EQ(code_of(typed(onnx::TensorProto::FLOAT, {1000000})), StatusCode::kCorruptData);
}

TEST(OnnxTensor, ExtentsWhoseProductOverflowsAreRejected) {
    EXPECT_EQ(code_of(float_tensor("t", {INT64_MAX, INT64_MAX}, {})), StatusCode::kOutOfRange);
    EXPECT_EQ(code_of(float_tensor("t", {0, INT64_MAX}, {})), StatusCode::kOutOfRange);
    EXPECT_EQ(code_of(float_tensor("t", {int64_t{1} << 32, int64_t{1} << 32}, {})),
              StatusCode::kOutOfRange);
    EXPECT_EQ(code_of(float_tensor("t", {-1}, {})), StatusCode::kInvalidArgument);
}

TEST(OnnxTensor, WhatHearthHasNoTypeForIsNamed) {
    EXPECT_NE(message_of(typed(17, {1})).find("float8e4m3fn"), std::string::npos);
    EXPECT_NE(message_of(typed(onnx::TensorProto::STRING, {1})).find("string"), std::string::npos);
    EXPECT_NE(message_of(typed(99, {1})).find("element type 99"), std::string::npos);
    EXPECT_NE(message_of(typed(-4, {1})).find("element type -4"), std::string::npos);
    EXPECT_EQ(code_of(typed(99, {1})), StatusCode::kUnsupported);
    EXPECT_EQ(code_of(float_tensor("t", {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})),
              StatusCode::kUnsupported);
}

TEST(OnnxTensor, DataInAnotherFileIsRefusedWithItsName) {
    onnx::TensorProto t = typed(onnx::TensorProto::FLOAT, {4});
    t.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *t.add_external_data();
    entry.set_key("location");
    entry.set_value("weights.data");
    EXPECT_EQ(code_of(t), StatusCode::kUnsupported);
    EXPECT_NE(message_of(t).find("'weights.data'"), std::string::npos) << message_of(t);
}

TEST(OnnxTensor, BytesThatAreNoTensorAreRejected) {
    const std::string text = "this is no protobuf message at all";
    EXPECT_EQ(read_onnx_tensor(std::as_bytes(std::span(text))).status().code(),
              StatusCode::kCorruptData);
    EXPECT_EQ(read_onnx_tensor({}).status().code(), StatusCode::kCorruptData);
}

}  // namespace
}  // namespace hearth
