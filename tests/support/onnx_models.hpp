// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Small ONNX models, each with one part of the format: seeds of the fuzz targets, and the files
// that tests/hostile changes.

#pragma once

#include "support/onnx_builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::testing {

/// If, with one node in each branch.
inline OnnxBuilder model_with_branches() {
    const auto branch = [](const std::string& op) {
        OnnxBuilder b;
        b.node(op, {"x"}, {op});
        b.output(op);
        return b.graph();
    };
    OnnxBuilder b;
    b.input("x", {"n", 3}).input("flag", {}, onnx::TensorProto::BOOL).output("y");
    onnx::NodeProto& node = b.node("If", {"flag"}, {"y"});
    set_graph(node, "then_branch", branch("Neg"));
    set_graph(node, "else_branch", branch("Abs"));
    return b;
}

/// A Loop of three turns, and a Scan over what it collects.
inline OnnxBuilder model_with_loops() {
    OnnxBuilder body;
    body.input("i", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL);
    body.input("sum", {2}).output("go").output("next").output("next");
    body.node("Add", {"sum", "x"}, {"next"});
    OnnxBuilder step;
    step.input("state", {2}).input("slice", {2}).output("out").output("out");
    step.node("Mul", {"state", "slice"}, {"out"});
    OnnxBuilder b;
    b.input("x", {2}).output("total").output("last");
    b.initializer(int_tensor("turns", {}, {3}));
    set_graph(b.node("Loop", {"turns", "", "x"}, {"total", "all"}), "body", body.graph());
    onnx::NodeProto& scan = b.node("Scan", {"x", "all"}, {"last", "seen"});
    set_graph(scan, "body", step.graph());
    set_int(scan, "num_scan_inputs", 1);
    return b;
}

/// A call of a function whose node takes its attribute from the call.
inline OnnxBuilder model_with_function() {
    OnnxBuilder b;
    b.input("x", {"n", 2}).output("y");
    onnx::FunctionProto& f = *b.proto.add_functions();
    f.set_name("Twice");
    f.set_domain("own");
    f.add_opset_import()->set_version(17);
    f.add_input("a");
    f.add_output("r");
    onnx::NodeProto& node = *f.add_node();
    node.set_op_type("LeakyRelu");
    node.add_input("a");
    node.add_output("r");
    attribute(node, "alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("slope");
    onnx::NodeProto& call = b.node("Twice", {"x"}, {"y"});
    call.set_domain("own");
    set_float(call, "slope", 0.5f);
    return b;
}

/// A TfIdfVectorizer with n-grams of 1 to 64 numbers and skips: 7 kB that would expand to billions
/// of values.  last_output: where the longest n-gram is counted.
inline OnnxBuilder model_with_long_ngrams(int64_t last_output) {
    OnnxBuilder b;
    b.input("x", {1, 70000}, onnx::TensorProto::INT64).output("y");
    onnx::NodeProto& node = b.node("TfIdfVectorizer", {"x"}, {"y"});
    set_int(node, "min_gram_length", 1);
    set_int(node, "max_gram_length", 64);
    set_int(node, "max_skip_count", 1024);
    std::vector<int64_t> pool, starts, outputs;
    for (int64_t n = 1; n <= 64; ++n) {
        starts.push_back(static_cast<int64_t>(pool.size()));
        pool.insert(pool.end(), static_cast<size_t>(n), n);
        outputs.push_back(n == 64 ? last_output : n - 1);
    }
    set_ints(node, "pool_int64s", pool);
    set_ints(node, "ngram_counts", starts);
    set_ints(node, "ngram_indexes", outputs);
    return b;
}

}  // namespace hearth::testing
