// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each sample of each operator, written as an ONNX model and read again, computes the same.

#include "compiler/interpreter/interpreter.hpp"
#include "ops/op_cases.hpp"

#include <hearth/io.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <set>

namespace hearth::test {
namespace {

/// ONNX has these in two steps, with a rounding in between.
bool rounds_once_more(const OpCase& c) {
    static const std::set<std::string_view> kNames{"rsqrt", "silu", "mod", "standardize"};
    return kNames.contains(c.op->name);
}

/// Attributes are 32-bit floats in ONNX.
bool has_long_attribute(const OpCase& c) {
    for (const Attr& a : c.sample.attrs.all())
        if (const auto* x = std::get_if<double>(&a.value);
            x != nullptr && *x != static_cast<float>(*x))
            return true;
    return false;
}

Result<ImportedModel> through_onnx(const Graph& graph) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, export_onnx(graph));
    ImportOptions options;
    // "batch" and "2*batch" are two parameters to ONNX.
    for (ValueId id : graph.inputs)
        options.input_shapes.push_back({graph.values[id].name, graph.values[id].shape});
    Result<ImportedModel> model = import_onnx(bytes, options);
    if (model.ok()) return model;
    return Status(StatusCode::kInternal, model.status().message());  // a finding, whatever it says
}

std::string name_of_op(const ::testing::TestParamInfo<const OpDef*>& info) {
    return std::string(info.param->name);
}

class EachOpExport : public ::testing::TestWithParam<const OpDef*> {};

TEST_P(EachOpExport, WrittenAndReadAgainItComputesTheSame) {
    const OpDef& op = *GetParam();
    size_t written = 0;
    std::string why;
    for (const OpCase& c : cases_of(op)) {
        SCOPED_TRACE(describe(c));
        const Result<Graph> graph = make_graph(c);
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        const Result<ImportedModel> model = through_onnx(*graph);
        if (!model.ok()) {
            ASSERT_EQ(model.status().code(), StatusCode::kUnsupported) << model.status().message();
            why = model.status().message();
            continue;
        }
        ++written;
        const std::vector<HostTensor> inputs = make_inputs(c);
        const auto expected = evaluate(*graph, inputs, c.rows());
        const auto found = evaluate(model->graph(), inputs, c.rows());
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        ASSERT_TRUE(found.ok()) << found.status().message();
        ASSERT_EQ(found->size(), expected->size());
        const double tolerance = rounds_once_more(c) || has_long_attribute(c) ? 1e-6 : 0;
        for (size_t i = 0; i < found->size(); ++i)
            EXPECT_EQ(difference((*found)[i], (*expected)[i], tolerance), "")
                << print(model->graph());
    }
    if (written == 0) GTEST_SKIP() << why;
}

TEST(OpExport, WhatPassesItsInputsOnWhenReadIsWritten) {
    for (const OpDef* op : all_ops()) {
        if (op->onnx.size() == 0 || op->onnx[0].import != nullptr) continue;
        for (const OpCase& c : cases_of(*op)) {
            const Result<Graph> graph = make_graph(c);
            ASSERT_TRUE(graph.ok()) << graph.status().message();
            EXPECT_TRUE(export_onnx(*graph).ok()) << describe(c);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EachOpExport, ::testing::ValuesIn(all_ops()), name_of_op);

}  // namespace
}  // namespace hearth::test
