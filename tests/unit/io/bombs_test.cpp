// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Small files that ask for work or memory without end.  Each must be refused by its budget, with
// the limit in the message, or cost what its size allows.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/onnx_models.hpp"

#include <hearth/compile.hpp>
#include <hearth/io.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_float;
using testing::set_graph;
using testing::set_int;

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// What a file may take, whatever it is; sanitizers make everything slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 30;
#else
constexpr double kMostSeconds = 5;
#endif

class Stopwatch {
  public:
    ~Stopwatch() { EXPECT_LT(cpu_seconds() - start_, kMostSeconds); }

  private:
    double start_ = cpu_seconds();
};

Status import_status(const OnnxBuilder& b) {
    const Stopwatch watch;
    const auto model = import_onnx(b.bytes());
    if (!model.ok()) return model.status();
    EXPECT_TRUE(verify(model->graph()).ok());
    return {};
}

void expect_limit(const OnnxBuilder& b, const std::string& of) {
    const Status status = import_status(b);
    EXPECT_EQ(status.code(), StatusCode::kOutOfRange) << status.message();
    EXPECT_NE(status.message().find(of + ", the limit for"), std::string::npos) << status.message();
}

/// A Loop body that carries "x" (called so inside and outside) and does nothing but `inner`.
onnx::GraphProto body(const onnx::GraphProto* inner) {
    OnnxBuilder b;
    b.input("i", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL);
    b.input("v", {1});
    if (inner != nullptr) {
        set_graph(b.node("Loop", {"turns", "", "v"}, {"w"}), "body", *inner);
        b.output("go").output("w");
    } else {
        b.output("go").output("v");
    }
    return b.graph();
}

TEST(OnnxBomb, TurnsOfNestedLoopsAreCountedEvenIfTheyDoNothing) {
    OnnxBuilder b;
    b.input("x", {1}).output("y").initializer(int_tensor("turns", {}, {1000}));
    const onnx::GraphProto innermost = body(nullptr), middle = body(&innermost),
                           outer = body(&middle);
    set_graph(b.node("Loop", {"turns", "", "x"}, {"y"}), "body", outer);
    expect_limit(b, "turns of loops");
}

TEST(OnnxBomb, StepsOfASequenceAreCounted) {
    for (const int64_t length : {int64_t{1'000'000}, int64_t{1} << 38})
        for (const char* op : {"LSTM", "GRU", "RNN"}) {
            const int64_t gates = op[0] == 'L' ? 4 : op[0] == 'G' ? 3 : 1;
            OnnxBuilder b;
            b.input("x", {length, 1, 1}).output("y");
            const std::vector<float> weights(static_cast<size_t>(gates), 0.5f);
            b.initializer(float_tensor("w", {1, gates, 1}, weights))
                .initializer(float_tensor("r", {1, gates, 1}, weights));
            set_int(b.node(op, {"x", "w", "r"}, {"y"}), "hidden_size", 1);
            expect_limit(b, "values");
        }
}

TEST(OnnxBomb, ModeratelyLongSequencesAreFine) {
    OnnxBuilder b;
    b.input("x", {500, 1, 1}).output("y");
    const std::vector<float> weights(4, 0.5f);
    b.initializer(float_tensor("w", {1, 4, 1}, weights))
        .initializer(float_tensor("r", {1, 4, 1}, weights));
    set_int(b.node("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", 1);
    const Status status = import_status(b);
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(OnnxBomb, NodesThatOneOperatorMakesAreCounted) {
    OnnxBuilder b;
    b.input("x", {64, 64}).output("y");
    std::vector<std::string> all;
    for (int i = 0; i < 2000; ++i) {
        all.push_back("d" + std::to_string(i));
        b.node("Det", {"x"}, {all.back()});
    }
    b.node("Sum", all, {"y"});
    expect_limit(b, "values");

    const OnnxBuilder t = testing::model_with_long_ngrams(63);
    EXPECT_LT(t.bytes().size(), 7000u);
    expect_limit(t, "values");
}

TEST(OnnxBomb, AHostMayAllowMore) {
    OnnxBuilder b;
    b.input("x", {64, 64}).output("y");
    std::vector<std::string> all;
    for (int i = 0; i < 60; ++i) {
        all.push_back("d" + std::to_string(i));
        b.node("Det", {"x"}, {all.back()});
    }
    b.node("Sum", all, {"y"});
    expect_limit(b, "values");
    const auto model = import_onnx(b.bytes(), {.expansion_limit = 4});
    EXPECT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(import_onnx(b.bytes(), {.expansion_limit = std::nan("")}).status().code(),
              StatusCode::kInvalidArgument);
}

/// Nodes that nothing reads.
void add_dead_nodes(onnx::GraphProto& graph, int count) {
    for (int i = 0; i < count; ++i) {
        onnx::NodeProto& n = *graph.add_node();
        n.set_op_type("Neg");
        n.add_input("v");
        n.add_output("dead" + std::to_string(i));
    }
}

TEST(OnnxBomb, DeadBodiesAreNotWalkedAtEachCall) {
    constexpr int kDead = 20000;
    OnnxBuilder b;
    b.input("x", {1}).output("y").initializer(int_tensor("turns", {}, {1000}));
    onnx::GraphProto loop = body(nullptr);
    add_dead_nodes(loop, kDead);
    set_graph(b.node("Loop", {"turns", "", "x"}, {"y"}), "body", loop);
    EXPECT_TRUE(import_status(b).ok());

    OnnxBuilder f;
    f.input("x", {1}).output("y");
    onnx::FunctionProto& function = *f.proto.add_functions();
    function.set_name("Same");
    function.set_domain("own");
    function.add_opset_import()->set_version(17);
    function.add_input("v");
    function.add_output("r");
    onnx::GraphProto dead;
    add_dead_nodes(dead, kDead);
    function.mutable_node()->Swap(dead.mutable_node());
    onnx::NodeProto& live = *function.add_node();
    live.set_op_type("Identity");
    live.add_input("v");
    live.add_output("r");
    for (int i = 0; i < 3000; ++i)
        f.node("Same", {i == 0 ? std::string("x") : "v" + std::to_string(i)},
               {i == 2999 ? std::string("y") : "v" + std::to_string(i + 1)})
            .set_domain("own");
    const Status status = import_status(f);
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(OnnxBomb, ManyAttributesAreReadInTheirOrderOfMagnitude) {
    constexpr int kCount = 200'000;
    OnnxBuilder b;
    b.input("x", {1}).output("y");
    onnx::NodeProto& node = b.node("LeakyRelu", {"x"}, {"y"});
    for (int i = kCount; i-- > 0;) set_int(node, "a" + std::to_string(1'000'000 + i), i);
    EXPECT_EQ(import_status(b).code(), StatusCode::kUnsupported);

    // And passed on by a function, each by its name.
    OnnxBuilder f;
    f.input("x", {1}).output("y");
    onnx::FunctionProto& function = *f.proto.add_functions();
    function.set_name("Pass");
    function.set_domain("own");
    function.add_opset_import()->set_version(17);
    function.add_input("v");
    function.add_output("r");
    onnx::NodeProto& inner = *function.add_node();
    inner.set_op_type("LeakyRelu");
    inner.add_input("v");
    inner.add_output("r");
    onnx::NodeProto& call = f.node("Pass", {"x"}, {"y"});
    call.set_domain("own");
    for (int i = kCount / 4; i-- > 0;) {
        const std::string name = "a" + std::to_string(1'000'000 + i);
        set_int(call, name, i);
        onnx::AttributeProto& a = testing::attribute(inner, name, onnx::AttributeProto::INT);
        a.set_ref_attr_name(name);
    }
    EXPECT_FALSE(import_status(f).ok());
}

TEST(OnnxBomb, WideGraphsAreRead) {
    OnnxBuilder b;
    b.input("x", {1});
    for (int i = 0; i < 50'000; ++i) {
        const std::string name = "y" + std::to_string(i);
        b.node("Neg", {"x"}, {name});
        b.output(name);
    }
    const Stopwatch watch;
    const auto model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->outputs().size(), 50'000u);
    EXPECT_GT(print(model->graph()).size(), 50'000u);
}

TEST(OnnxBomb, LongGraphsAreRead) {
    OnnxBuilder b;
    b.input("x", {1}).output("v250000");
    for (int i = 0; i < 250'000; ++i)
        b.node("Neg", {i == 0 ? std::string("x") : "v" + std::to_string(i)},
               {"v" + std::to_string(i + 1)});
    const Stopwatch watch;
    const auto model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_GT(print(model->graph()).size(), 250'000u);
}

TEST(OnnxBomb, MessagesStayShortHoweverMuchIsMissing) {
    OnnxBuilder b;
    b.input("x", {1}).output("y");
    std::vector<std::string> all;
    for (int i = 0; i < 20'000; ++i) {
        const std::string name = "m" + std::to_string(i);
        b.node("Missing\x1b[31m\n" + std::string(900, 'q') + name, {"x"}, {name});
        all.push_back(name);
        onnx::TensorProto odd = float_tensor("odd" + name, {1}, {1});
        odd.set_data_type(onnx::TensorProto::COMPLEX64);
        b.initializer(odd);
    }
    b.node("Sum", all, {"y"});
    const Status status = import_status(b);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_LT(status.message().size(), 5000u);
    for (char c : status.message()) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

/// y = x + w, with w of `count` floats at `offset` in the file w.data.
OnnxBuilder with_external(uint64_t offset, int64_t count) {
    OnnxBuilder b;
    b.input("x", {count}).output("y");
    onnx::TensorProto w;
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(count);
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", "w.data"},
                                     {"offset", std::to_string(offset)}}) {
        onnx::StringStringEntryProto& entry = *w.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
    }
    b.initializer(w);
    b.node("Add", {"x", "w"}, {"y"});
    return b;
}

TEST(OnnxBomb, OfALargeFileOnlyWhatIsAskedForIsRead) {
    constexpr uint64_t kSize = uint64_t{64} << 30;  // sparse: it takes no room on disk
    std::string folder = (std::filesystem::temp_directory_path() / "hearth_bomb_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::filesystem::path root(folder);
    std::ofstream(root / "w.data").put('\0');
    std::error_code error;
    std::filesystem::resize_file(root / "w.data", kSize, error);
    const std::vector<std::byte> bytes = with_external(kSize - 24, 6).bytes();
    std::ofstream(root / "m.onnx", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!error) {
        const Stopwatch watch;
        const auto model = import_onnx_file((root / "m.onnx").string());
        EXPECT_TRUE(model.ok()) << model.status().message();
    }
    std::filesystem::remove_all(root);
    ASSERT_FALSE(error) << error.message();
}

TEST(OnnxBomb, WhatIsReadOfOtherFilesIsWhatTheModelNames) {
    uint64_t asked_offset = 0, asked_size = 0;
    const auto read = [&](const std::string&, uint64_t offset,
                          uint64_t size) -> Result<std::vector<std::byte>> {
        asked_offset = offset;
        asked_size = size;
        if (size > 1000) return out_of_range("too much");
        return std::vector<std::byte>(size);
    };
    EXPECT_TRUE(import_onnx(with_external(7, 6).bytes(), {.external_data = read}).ok());
    EXPECT_EQ(asked_offset, 7u);
    EXPECT_EQ(asked_size, 24u);
    // Nothing is allocated on the model's word before the host has seen it.
    EXPECT_EQ(import_onnx(with_external(0, int64_t{1} << 38).bytes(), {.external_data = read})
                  .status()
                  .message()
                  .find("out of memory"),
              std::string::npos);
    EXPECT_EQ(asked_size, uint64_t{4} << 38);
}

TEST(OnnxFunction, EachCallsConstantsAreItsOwn) {
    OnnxBuilder b;
    b.input("x", {1}).output("y");
    onnx::FunctionProto& f = *b.proto.add_functions();
    f.set_name("Plus");
    f.set_domain("own");
    f.add_opset_import()->set_version(17);
    f.add_input("v");
    f.add_output("r");
    onnx::NodeProto& constant = *f.add_node();
    constant.set_op_type("Constant");
    constant.add_output("c");
    testing::attribute(constant, "value_float", onnx::AttributeProto::FLOAT)
        .set_ref_attr_name("amount");
    onnx::NodeProto& add = *f.add_node();
    add.set_op_type("Add");
    for (const char* in : {"v", "c"}) add.add_input(in);
    add.add_output("r");
    for (const auto& [in, out, amount] :
         {std::tuple{"x", "a", 1.0f}, {"a", "b", 10.0f}, {"b", "y", 100.0f}}) {
        onnx::NodeProto& call = b.node("Plus", {in}, {out});
        call.set_domain("own");
        set_float(call, "amount", amount);
    }
    const auto model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto y = evaluate(model->graph(), std::vector{HostTensor(DType::kF32, {1})});
    ASSERT_TRUE(y.ok());
    EXPECT_EQ((*y)[0].get(0), 111);
}

// --- Numbers that no integer holds ---

Status mel(float rate, float low, float high, int64_t bins = 8, int64_t length = 16) {
    OnnxBuilder b;
    b.output("y").initializer(int_tensor("bins", {}, {bins}));
    b.initializer(int_tensor("length", {}, {length}));
    b.initializer(float_tensor("rate", {}, {rate})).initializer(float_tensor("low", {}, {low}));
    b.initializer(float_tensor("high", {}, {high}));
    b.node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"});
    return import_status(b);
}

TEST(OnnxNumbers, MelWeightsOfImpossibleFrequenciesAreRefused) {
    EXPECT_TRUE(mel(8000, 0, 4000).ok());
    const float inf = HUGE_VALF, nan = std::nanf("");
    for (const auto& [rate, low, high] : {std::tuple{inf, 0.0f, 4000.0f},
                                          {inf, 0.0f, inf},
                                          {inf, inf, inf},
                                          {nan, 0.0f, 1.0f},
                                          {8000.0f, nan, 1.0f},
                                          {8000.0f, 0.0f, nan},
                                          {8000.0f, -inf, 1.0f},
                                          {-1.0f, 0.0f, 0.0f},
                                          {8000.0f, 0.0f, 8001.0f},
                                          {0.0f, 0.0f, 0.0f}})
        EXPECT_FALSE(mel(rate, low, high).ok()) << rate << " " << low << " " << high;
    EXPECT_TRUE(mel(3e38f, 0, 3e38f).ok());
    for (const int64_t n : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
        EXPECT_FALSE(mel(8000, 0, 4000, n).ok()) << n;
        EXPECT_FALSE(mel(8000, 0, 4000, 8, n).ok()) << n;
    }
}

TEST(OnnxNumbers, ScalarsBeyondAllIntegersAreRefusedOrBounded) {
    const auto with_scalar = [](const char* op, double value, int32_t type, int64_t opset) {
        OnnxBuilder b(opset);
        b.input("x", {1, 8, 1}).output("y");
        onnx::TensorProto t;
        t.set_name("n");
        t.set_data_type(type);
        if (type == onnx::TensorProto::DOUBLE)
            t.add_double_data(value);
        else
            t.add_float_data(static_cast<float>(value));
        b.initializer(t);
        if (std::string_view(op) == "HannWindow")
            b.node(op, {"n"}, {"y"});
        else if (std::string_view(op) == "STFT")
            b.node(op, {"x", "n", "", "n"}, {"y"});
        else
            b.node(op, {"x", "n"}, {"y"});
        // NaN counts as 0, and a DFT of at most 0 elements has the length of its axis.
        const bool is_dft = std::string_view(op) == "DFT";
        const bool is_bounded =
            is_dft ? !(value > 0) : std::isnan(value) && std::string_view(op) == "HannWindow";
        EXPECT_EQ(import_status(b).ok(), is_bounded) << op << " " << value << " " << type;
    };
    for (const char* op : {"HannWindow", "STFT", "DFT"})
        for (const double value : {HUGE_VAL, -HUGE_VAL, std::nan(""), 1e300, -1e300, 0x1p63})
            for (const int32_t type : {onnx::TensorProto::DOUBLE, onnx::TensorProto::FLOAT})
                with_scalar(op, value, type, 20);
}

}  // namespace
}  // namespace hearth
