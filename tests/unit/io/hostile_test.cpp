// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files that lie.  Each must be refused with a message or import to something well-formed; most of
// what these tests check is checked by the sanitizers they also run under.

#include "compiler/ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace hearth {
namespace {

using testing::bytes_of;
using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_int;
using testing::set_ints;

constexpr int64_t kHuge = int64_t{1} << 62;

/// Imports; whatever comes of it must be consistent.
Status import_and_check(std::span<const std::byte> bytes) {
    const Result<ImportedModel> model = import_onnx(bytes);
    if (!model.ok()) {
        EXPECT_FALSE(model.status().message().empty());
        return model.status();
    }
    const Status verified = verify(model->graph());
    EXPECT_TRUE(verified.ok()) << verified.message();
    return {};
}

StatusCode code_of(const OnnxBuilder& b) {
    return import_and_check(b.bytes()).code();
}

TEST(HostileOnnx, EachTruncationIsRefusedOrWellFormed) {
    const std::vector<std::byte> whole = testing::small_policy().bytes();
    ASSERT_TRUE(import_and_check(whole).ok());
    size_t refused = 0;
    for (size_t size = 0; size < whole.size(); ++size)
        refused += !import_and_check(std::span(whole).first(size)).ok();
    // The opset comes last in the file: only what is cut right before or inside it can be read at
    // all, and then the version is missing.
    EXPECT_EQ(refused, whole.size());
}

TEST(HostileOnnx, EachTruncationOfATensorIsRefused) {
    const std::vector<std::byte> whole = bytes_of(float_tensor("t", {2, 2}, {1, 2, 3, 4}));
    ASSERT_TRUE(read_onnx_tensor(whole).ok());
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(read_onnx_tensor(std::span(whole).first(size)).ok()) << size;
}

TEST(HostileOnnx, FlippedBitsAreRefusedOrWellFormed) {
    const std::vector<std::byte> whole = testing::small_policy().bytes();
    const uint64_t key = stream_key("flipped bits", 1);
    size_t refused = 0;
    constexpr uint32_t kRounds = 20000;
    for (uint32_t round = 0; round < kRounds; ++round) {
        std::vector<std::byte> bytes = whole;
        // One flip, or a few.
        for (uint32_t flip = 0; flip <= round % 4; ++flip) {
            const uint32_t where = philox_bits(key, round, flip);
            bytes[(where >> 3) % bytes.size()] ^= std::byte(1u << (where & 7));
        }
        refused += !import_and_check(bytes).ok();
    }
    EXPECT_GT(refused, kRounds / 20);
    EXPECT_LT(refused, kRounds);
}

TEST(HostileOnnx, RandomBytesInPlaceOfOthersAreRefusedOrWellFormed) {
    const std::vector<std::byte> whole = testing::small_policy().bytes();
    const uint64_t key = stream_key("random bytes", 1);
    for (uint32_t round = 0; round < 2000; ++round) {
        std::vector<std::byte> bytes = whole;
        const size_t begin = philox_bits(key, round, 0) % bytes.size();
        const size_t end = std::min(bytes.size(), begin + 1 + philox_bits(key, round, 1) % 8);
        for (size_t i = begin; i < end; ++i)
            bytes[i] = std::byte(philox_bits(key, round, static_cast<uint32_t>(2 + i)) & 255);
        (void)import_and_check(bytes);
    }
}

TEST(HostileOnnx, ExtentsOfInputsAreBounded) {
    for (const std::vector<testing::PortDim>& dims : {std::vector<testing::PortDim>{kHuge},
                                                      {kHuge, kHuge},
                                                      {0, kHuge},
                                                      {1 << 30, 1 << 30, 4}}) {
        OnnxBuilder b;
        b.input("x", dims).output("y");
        b.node("Relu", {"x"}, {"y"});
        EXPECT_EQ(code_of(b), StatusCode::kOutOfRange);
    }
}

TEST(HostileOnnx, ComputedExtentsAreBounded) {
    const auto refuses = [](const char* op, const std::vector<int64_t>& list) {
        OnnxBuilder b;
        b.input("x", {1, 1}).output("y");
        b.initializer(int_tensor("list", {static_cast<int64_t>(list.size())}, list));
        b.node(op, {"x", "list"}, {"y"});
        EXPECT_FALSE(code_of(b) == StatusCode::kOk) << op;
    };
    for (const char* op : {"Expand", "Tile", "Reshape"}) {
        refuses(op, {kHuge, kHuge});
        refuses(op, {int64_t{1} << 32, int64_t{1} << 32});
        refuses(op, {-kHuge, 2});
        refuses(op, {INT64_MIN, INT64_MIN});
    }
    refuses("Expand", std::vector<int64_t>(20, 2));
    refuses("Reshape", std::vector<int64_t>(20, 1));
    refuses("Pad", {kHuge, kHuge, kHuge, kHuge});
    refuses("Pad", {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN});
    refuses("Unsqueeze", std::vector<int64_t>(20, 0));
    refuses("Unsqueeze", {INT64_MIN});
    refuses("Squeeze", {INT64_MAX});
    refuses("ReduceSum", {INT64_MIN});
    refuses("ReduceSum", {0, 0});
    refuses("Split", {INT64_MAX, INT64_MAX});
}

TEST(HostileOnnx, ConstantsOfAnyShapeAreNotAllocated) {
    OnnxBuilder b;
    b.output("y").initializer(int_tensor("shape", {2}, {1 << 19, 1 << 20}));
    b.node("ConstantOfShape", {"shape"}, {"y"});
    const Result<ImportedModel> model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (const Value& v : model->graph().values) EXPECT_LE(v.data ? v.data->element_count() : 0, 2);
}

TEST(HostileOnnx, DoublingGraphsStopAtALimit) {
    // Each node doubles what came before: 2^60 elements after 60 nodes.
    for (const bool symbolic : {false, true}) {
        OnnxBuilder b;
        if (symbolic)
            b.input("x", {"rows"});
        else
            b.input("x", {1});
        b.node("Shape", {"x"}, {"v0"});
        for (int i = 0; i < 60; ++i) {
            const std::string from = "v" + std::to_string(i);
            set_int(b.node("Concat", {from, from}, {"v" + std::to_string(i + 1)}), "axis", 0);
        }
        b.output("v60");
        EXPECT_FALSE(code_of(b) == StatusCode::kOk);
    }
}

TEST(HostileOnnx, RangesAreBounded) {
    const auto range = [](int64_t start, int64_t limit, int64_t delta) {
        OnnxBuilder b;
        b.output("y").initializer(int_tensor("start", {}, {start}));
        b.initializer(int_tensor("limit", {}, {limit}))
            .initializer(int_tensor("delta", {}, {delta}));
        b.node("Range", {"start", "limit", "delta"}, {"y"});
        return code_of(b);
    };
    EXPECT_EQ(range(0, 5, 1), StatusCode::kOk);
    EXPECT_EQ(range(0, kHuge, 1), StatusCode::kUnsupported);
    EXPECT_EQ(range(0, 5, 0), StatusCode::kUnsupported);
    EXPECT_EQ(range(INT64_MIN, INT64_MAX, 1), StatusCode::kUnsupported);
}

TEST(HostileOnnx, SlicesAndGathersStayInside) {
    OnnxBuilder b;
    b.input("x", {4}).output("y");
    b.initializer(int_tensor("starts", {1}, {INT64_MIN}))
        .initializer(int_tensor("ends", {1}, {INT64_MAX}));
    b.initializer(int_tensor("axes", {1}, {0})).initializer(int_tensor("steps", {1}, {INT64_MIN}));
    b.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"});
    EXPECT_EQ(code_of(b), StatusCode::kOk) << "clamped, and empty";

    OnnxBuilder g;
    g.output("y").initializer(int_tensor("x", {3}, {1, 2, 3}));
    g.initializer(int_tensor("index", {2}, {kHuge, -kHuge}));
    g.node("Gather", {"x", "index"}, {"y"});
    EXPECT_EQ(code_of(g), StatusCode::kOk) << "clamped to the last and the first";
}

TEST(HostileOnnx, AttributesOfAbsurdValuesAreRefused) {
    for (const char* op : {"Softmax", "Concat", "Flatten", "Split", "ArgMax", "LayerNormalization"})
        for (const int64_t axis : {INT64_MIN, INT64_MAX, int64_t{7}, int64_t{-7}}) {
            OnnxBuilder b;
            b.input("x", {2, 3}).output("y");
            set_int(b.node(op, {"x", "x"}, {"y"}), "axis", axis);
            EXPECT_FALSE(code_of(b) == StatusCode::kOk) << op << " " << axis;
        }
    for (const std::vector<int64_t>& perm :
         {std::vector<int64_t>{0, 0}, {5, 6}, {-9, 1}, {INT64_MIN, INT64_MAX}, {0}}) {
        OnnxBuilder b;
        b.input("x", {2, 3}).output("y");
        set_ints(b.node("Transpose", {"x"}, {"y"}), "perm", perm);
        EXPECT_FALSE(code_of(b) == StatusCode::kOk);
    }
    for (const int64_t block : {int64_t{0}, int64_t{-1}, kHuge}) {
        OnnxBuilder b;
        b.input("x", {1, 4, 2, 2}).output("y");
        set_int(b.node("DepthToSpace", {"x"}, {"y"}), "blocksize", block);
        EXPECT_FALSE(code_of(b) == StatusCode::kOk);
    }
}

TEST(HostileOnnx, NodesWithoutInputsOrOutputsAreRefused) {
    for (const char* op : {"Relu",      "Add",      "Gemm",
                           "Concat",    "Reshape",  "Shape",
                           "Size",      "Sum",      "Where",
                           "Cast",      "Slice",    "Split",
                           "Pad",       "Constant", "ConstantOfShape",
                           "OneHot",    "Range",    "BatchNormalization",
                           "Clip",      "Max",      "ArgMax",
                           "ReduceSum", "Tile"})
        for (const bool empty_name : {false, true}) {
            OnnxBuilder b;
            b.output("y");
            b.node(op, empty_name ? std::vector<std::string>{"", ""} : std::vector<std::string>{},
                   {"y"});
            EXPECT_FALSE(code_of(b) == StatusCode::kOk) << op;
        }
}

TEST(HostileOnnx, DeepNestingEndsInAMessage) {
    // A graph in an attribute of a node of a graph in an attribute ...: protobuf stops at depth
    // 100.
    onnx::GraphProto inner;
    inner.set_name("innermost");
    for (int depth = 0; depth < 400; ++depth) {
        onnx::GraphProto outer;
        onnx::NodeProto& node = *outer.add_node();
        node.set_op_type("If");
        node.add_output("y");
        onnx::AttributeProto& a = *node.add_attribute();
        a.set_name("then_branch");
        a.set_type(onnx::AttributeProto::GRAPH);
        a.mutable_g()->Swap(&inner);
        inner.Swap(&outer);
    }
    OnnxBuilder b;
    b.graph().MergeFrom(inner);
    b.output("y");
    EXPECT_EQ(code_of(b), StatusCode::kCorruptData);
}

// Far deeper than the stack: what is counted before protobuf reads must stop, too.
TEST(HostileOnnx, NestingWithoutEndEndsInAMessage) {
    const auto varint = [](uint64_t value) {
        std::string text;
        for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
        return text + static_cast<char>(value);
    };
    // From the inside: an attribute's graph (6) has a node (1), which has an attribute (5).
    constexpr int kDepth = 100'000;
    std::vector<std::string> heads;
    uint64_t size = 0;
    for (int depth = 0; depth < kDepth; ++depth)
        for (const int field : {5, 1, depth + 1 == kDepth ? 7 : 6}) {  // 7: a model's graph
            heads.push_back(static_cast<char>(field << 3 | 2) + varint(size));
            size += heads.back().size();
        }
    std::string text;
    for (size_t i = heads.size(); i > 0; --i) text += heads[i - 1];
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    EXPECT_EQ(import_onnx(bytes).status().code(), StatusCode::kCorruptData);
}

TEST(HostileOnnx, RangesAreOfScalarsOfOneType) {
    const onnx::TensorProto zero = int_tensor("", {}, {0}), one = int_tensor("", {}, {1}),
                            two = int_tensor("", {2}, {1, 2}), none = int_tensor("", {0}, {}),
                            real = float_tensor("", {}, {3});
    const auto range = [](std::array<onnx::TensorProto, 3> tensors) {
        OnnxBuilder b;
        b.output("y");
        for (size_t i = 0; i < 3; ++i) {
            tensors[i].set_name(std::to_string(i));
            b.initializer(tensors[i]);
        }
        b.node("Range", {"0", "1", "2"}, {"y"});
        return import_onnx(b.bytes()).status().message();
    };
    EXPECT_EQ(range({zero, one, one}), "");
    for (const onnx::TensorProto& bad : {two, none, real})
        for (size_t i = 0; i < 3; ++i) {
            std::array<onnx::TensorProto, 3> tensors{zero, one, one};
            tensors[i] = bad;
            EXPECT_NE(range(tensors).find("start, limit and delta must be scalars of one type"),
                      std::string::npos)
                << i << ": " << range(tensors);
        }
}

TEST(HostileOnnx, RandomShapesAreBounded) {
    for (const char* op : {"RandomUniform", "RandomNormal"})
        for (const std::vector<int64_t>& shape :
             {std::vector<int64_t>{-1}, {kHuge, kHuge}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
            OnnxBuilder b;
            b.output("y");
            set_ints(b.node(op, {}, {"y"}), "shape", shape);
            EXPECT_FALSE(code_of(b) == StatusCode::kOk) << op;
        }
}

TEST(HostileOnnx, PoolsOfGramsHoldWhatTheyCount) {
    const auto grams = [](const std::vector<int64_t>& starts, const std::vector<int64_t>& outputs,
                          const std::vector<int64_t>& pool) {
        OnnxBuilder b;
        b.input("x", {1, 4}, onnx::TensorProto::INT64).output("y");
        onnx::NodeProto& node = b.node("TfIdfVectorizer", {"x"}, {"y"});
        onnx::AttributeProto& mode = testing::attribute(node, "mode", onnx::AttributeProto::STRING);
        mode.set_s("TF");
        set_int(node, "min_gram_length", 1);
        set_int(node, "max_gram_length", static_cast<int64_t>(starts.size()));
        set_int(node, "max_skip_count", 0);
        set_ints(node, "ngram_counts", starts);
        set_ints(node, "ngram_indexes", outputs);
        set_ints(node, "pool_int64s", pool);
        return import_onnx(b.bytes()).status().message();
    };
    EXPECT_EQ(grams({0}, {0, 1}, {5, 6}), "");
    EXPECT_NE(grams({0}, {0}, {5, 6}).find("has more n-grams than outputs"), std::string::npos);
    EXPECT_NE(grams({0, 2}, {0, 1}, {5, 6, 7, 8}).find("has more n-grams than outputs"),
              std::string::npos);
    EXPECT_NE(grams({2, 0}, {0, 1}, {5, 6}).find("has more n-grams than outputs"),
              std::string::npos);
    const std::string no_pool = "its attributes do not form a pool of n-grams";
    EXPECT_NE(grams({3}, {0, 1}, {5, 6}).find(no_pool), std::string::npos);
    EXPECT_NE(grams({-1}, {0, 1}, {5, 6}).find(no_pool), std::string::npos);
    EXPECT_NE(grams({0}, {0, -1}, {5, 6}).find(no_pool), std::string::npos);
    EXPECT_NE(grams({0}, {}, {5, 6}).find(no_pool), std::string::npos);
}

TEST(HostileOnnx, BlocksOfBitsThatCannotBeAreRefused) {
    const auto product = [](int64_t k, int64_t n, int64_t bits, int64_t block) {
        OnnxBuilder b;
        onnx::TensorProto packed;
        packed.set_name("w");
        packed.set_data_type(onnx::TensorProto::UINT8);
        for (const int64_t d : {2, 1, 8}) packed.add_dims(d);
        packed.set_raw_data(std::string(16, '\x5a'));
        b.input("x", {1, 16}).output("y").initializer(packed);
        b.initializer(float_tensor("scales", {2}, {1, 2}));
        onnx::NodeProto& node = b.node("MatMulNBits", {"x", "w", "scales"}, {"y"});
        node.set_domain("com.microsoft");
        set_int(node, "K", k);
        set_int(node, "N", n);
        set_int(node, "bits", bits);
        set_int(node, "block_size", block);
        return import_onnx(b.bytes()).status().message();
    };
    EXPECT_EQ(product(16, 2, 4, 16), "");
    for (const auto& [k, n, bits, block] : std::vector<std::array<int64_t, 4>>{{0, 2, 4, 16},
                                                                               {-16, 2, 4, 16},
                                                                               {kHuge, 2, 4, 16},
                                                                               {16, 0, 4, 16},
                                                                               {16, -2, 4, 16},
                                                                               {16, kHuge, 4, 16},
                                                                               {16, 2, 0, 16},
                                                                               {16, 2, 3, 16},
                                                                               {16, 2, 4, 0},
                                                                               {16, 2, 4, 8},
                                                                               {16, 2, 4, kHuge}})
        EXPECT_NE(product(k, n, bits, block)
                      .find("K " + std::to_string(k) + ", N " + std::to_string(n) + ", " +
                            std::to_string(bits) + " bits in blocks of " + std::to_string(block)),
                  std::string::npos)
            << product(k, n, bits, block);
    EXPECT_NE(product(16, 1, 4, 16).find("do not hold"), std::string::npos);
    EXPECT_NE(product(32, 2, 4, 16).find("do not hold"), std::string::npos);
}

TEST(HostileOnnx, LongChainsNeitherOverflowTheStackNorTakeForever) {
    OnnxBuilder b;
    b.input("x", {2});
    constexpr int kLength = 20000;
    for (int i = 0; i < kLength; ++i)
        b.node("Neg", {i == 0 ? std::string("x") : "v" + std::to_string(i)},
               {"v" + std::to_string(i + 1)});
    b.output("v" + std::to_string(kLength));
    EXPECT_EQ(code_of(b), StatusCode::kOk);
}

TEST(HostileOnnx, NamesInMessagesAreShortAndPrintable) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    b.node("Relu", {"line\nbreak\x1b[31m" + std::string(100000, 'a')}, {"y"});
    const Status status = import_and_check(b.bytes());
    EXPECT_LT(status.message().size(), 1000u);
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    EXPECT_EQ(status.message().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hearth
