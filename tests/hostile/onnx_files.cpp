// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// ONNX models, with and without other files, and single tensors.  Changes are made through
// protobuf's reflection: what comes out is always a message, and what is wrong with it is what it
// says.

#include "files.hpp"
#include "support/onnx_models.hpp"

#include <google/protobuf/message.h>

#include <cmath>
#include <limits>

namespace hearth::hostile {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_graph;
using testing::set_int;
using testing::set_ints;

// --- Valid models, one for each part of the format ---

OnnxBuilder image() {
    OnnxBuilder b;
    b.input("x", {"n", 1, 8, 8}).output("y");
    b.initializer(float_tensor("w", {2, 1, 3, 3}, std::vector<float>(18, 0.5f)));
    b.initializer(float_tensor("scales", {4}, {1, 1, 2, 2}));
    for (const char* name : {"scale", "bias", "mean", "variance"})
        b.initializer(float_tensor(name, {2}, {1, 2}));
    set_ints(b.node("Conv", {"x", "w"}, {"c"}), "pads", {1, 1, 1, 1});
    b.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"b"});
    set_ints(b.node("MaxPool", {"b"}, {"p"}), "kernel_shape", {2, 2});
    b.node("Resize", {"p", "", "scales"}, {"r"});
    set_int(b.node("Flatten", {"r"}, {"y"}), "axis", 1);
    return b;
}

OnnxBuilder signal() {
    OnnxBuilder b;
    b.input("x", {1, 64, 1}).output("y").output("m").output("k");
    b.initializer(int_tensor("step", {}, {16})).initializer(int_tensor("size", {}, {16}));
    b.initializer(int_tensor("bins", {}, {8})).initializer(float_tensor("rate", {}, {8000}));
    b.initializer(float_tensor("low", {}, {0})).initializer(float_tensor("high", {}, {4000}));
    b.initializer(int_tensor("two", {1}, {2}));
    b.node("HannWindow", {"size"}, {"w"});
    b.node("STFT", {"x", "step", "w"}, {"y"});
    b.node("MelWeightMatrix", {"bins", "size", "rate", "low", "high"}, {"m"});
    b.node("TopK", {"m", "two"}, {"k", "places"});
    return b;
}

OnnxBuilder recurrent() {
    OnnxBuilder b;
    b.input("x", {5, 2, 3}).output("y");
    b.initializer(float_tensor("w", {1, 8, 3}, std::vector<float>(24, 0.1f)));
    b.initializer(float_tensor("r", {1, 8, 2}, std::vector<float>(16, 0.1f)));
    set_int(b.node("LSTM", {"x", "w", "r"}, {"y"}), "hidden_size", 2);
    return b;
}

OnnxBuilder shapes() {
    OnnxBuilder b;
    b.input("x", {"n", 4}).output("y").output("z");
    b.initializer(int_tensor("zero", {1}, {0})).initializer(int_tensor("rest", {1}, {-1}));
    b.initializer(int_tensor("repeats", {2}, {1, 2}));
    b.initializer(int_tensor("starts", {1}, {1})).initializer(int_tensor("ends", {1}, {3}));
    b.node("Shape", {"x"}, {"shape"});
    b.node("Gather", {"shape", "zero"}, {"rows"});
    set_int(b.node("Concat", {"rows", "rest"}, {"wanted"}), "axis", 0);
    b.node("Reshape", {"x", "wanted"}, {"r"});
    b.node("Tile", {"r", "repeats"}, {"t"});
    b.node("Slice", {"t", "starts", "ends", "starts"}, {"y"});
    b.node("ConstantOfShape", {"repeats"}, {"c"});
    b.node("NonZero", {"c"}, {"z"});
    return b;
}

onnx::TensorProto external_tensor(const std::string& location, uint64_t offset, int64_t count) {
    onnx::TensorProto w;
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(count);
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                     {"offset", std::to_string(offset)}}) {
        onnx::StringStringEntryProto& entry = *w.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
    }
    return w;
}

OnnxBuilder external(const std::string& location = "w.data", uint64_t offset = 0,
                     int64_t count = 4) {
    OnnxBuilder b;
    b.input("x", {count}).output("y");
    b.initializer(external_tensor(location, offset, count));
    b.node("Add", {"x", "w"}, {"y"});
    return b;
}

// --- Changes of messages ---

constexpr int64_t kIntegers[] = {0,         1,         -1,        2,         7,         64,
                                 1 << 16,   1 << 24,   INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN,
                                 1ll << 40, 1ll << 62, 1000,      65537};
constexpr double kReals[] = {0, -1, 1e-30, 1e30, -1e30, 2147483648.0, HUGE_VAL, -HUGE_VAL, 1e9};
constexpr const char* kTexts[] = {"",
                                  "x",
                                  "y",
                                  "a\nb",
                                  "../w.data",
                                  "/etc/passwd",
                                  "If",
                                  "Loop",
                                  "Cast",
                                  "\xff\xfe",
                                  "18446744073709551615",
                                  "-1"};

void collect(Message& message, std::vector<Message*>& all) {
    all.push_back(&message);
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const FieldDescriptor* f : fields) {
        if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
        if (!f->is_repeated()) {
            collect(*message.GetReflection()->MutableMessage(&message, f), all);
            continue;
        }
        for (int i = 0; i < message.GetReflection()->FieldSize(message, f); ++i)
            collect(*message.GetReflection()->MutableRepeatedMessage(&message, f, i), all);
    }
}

/// Sets the field, or element i of it, to something extreme.
void set_extreme(Message& m, const FieldDescriptor* f, int i, Random& random) {
    const auto* r = m.GetReflection();
    const bool many = f->is_repeated();
    switch (f->cpp_type()) {
        case FieldDescriptor::CPPTYPE_INT64: {
            const int64_t v = random.one_of(kIntegers);
            return many ? r->SetRepeatedInt64(&m, f, i, v) : r->SetInt64(&m, f, v);
        }
        case FieldDescriptor::CPPTYPE_INT32: {
            const auto v = static_cast<int32_t>(random.one_of(kIntegers));
            return many ? r->SetRepeatedInt32(&m, f, i, v) : r->SetInt32(&m, f, v);
        }
        case FieldDescriptor::CPPTYPE_UINT64: {
            const auto v = static_cast<uint64_t>(random.one_of(kIntegers));
            return many ? r->SetRepeatedUInt64(&m, f, i, v) : r->SetUInt64(&m, f, v);
        }
        case FieldDescriptor::CPPTYPE_FLOAT: {
            const auto v =
                random.below(8) == 0 ? std::nanf("") : static_cast<float>(random.one_of(kReals));
            return many ? r->SetRepeatedFloat(&m, f, i, v) : r->SetFloat(&m, f, v);
        }
        case FieldDescriptor::CPPTYPE_DOUBLE: {
            const double v = random.below(8) == 0 ? std::nan("") : random.one_of(kReals);
            return many ? r->SetRepeatedDouble(&m, f, i, v) : r->SetDouble(&m, f, v);
        }
        case FieldDescriptor::CPPTYPE_ENUM: {
            const auto v = static_cast<int>(random.below(17));
            return many ? r->SetRepeatedEnumValue(&m, f, i, v) : r->SetEnumValue(&m, f, v);
        }
        case FieldDescriptor::CPPTYPE_STRING: {
            // Raw data is a text to protobuf; elements of it become extreme.
            std::string v = many ? r->GetRepeatedString(m, f, i) : r->GetString(m, f);
            if (f->name() == "raw_data" && !v.empty() && random.below(4) != 0)
                v[random.below(v.size())] = static_cast<char>(random.bits());
            else
                v = random.one_of(kTexts);
            return many ? r->SetRepeatedString(&m, f, i, v) : r->SetString(&m, f, v);
        }
        default:
            return;
    }
}

void change(Message& root, Random& random) {
    std::vector<Message*> all;
    collect(root, all);
    Message& m = *all[random.below(all.size())];
    const auto* r = m.GetReflection();
    std::vector<const FieldDescriptor*> fields;
    r->ListFields(m, &fields);
    if (fields.empty()) return;
    const FieldDescriptor* f = fields[random.below(fields.size())];
    const int size = f->is_repeated() ? r->FieldSize(m, f) : 1;
    const int i = static_cast<int>(random.below(static_cast<size_t>(size)));
    if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE && random.below(4) != 0)
        return set_extreme(m, f, i, random);
    if (!f->is_repeated()) return r->ClearField(&m, f);
    switch (random.below(3)) {
        case 0:
            return r->RemoveLast(&m, f);
        case 1:
            return r->SwapElements(&m, f, 0, i);
        default:
            if (f->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
                Message* copy = r->GetRepeatedMessage(m, f, i).New();
                copy->CopyFrom(r->GetRepeatedMessage(m, f, i));
                r->AddAllocatedMessage(&m, f, copy);
            }
    }
}

template <class Proto>
void add_changes(Files& files, const std::string& reader, const std::string& name,
                 const std::function<Proto()>& valid, size_t count) {
    files.push_back({reader, name, [=] { return testing::bytes_of(valid()); }, true});
    for (size_t i = 0; i < count; ++i) {
        const std::string which = name + ", change " + std::to_string(i);
        files.push_back({reader, which, [=] {
                             Random random(reader + "/" + which);
                             Proto proto = valid();
                             for (size_t n = 1 + random.below(4); n > 0; --n) change(proto, random);
                             return testing::bytes_of(proto);
                         }});
    }
}

// --- Named attacks ---

/// The body of a Loop that carries "v" and holds `inner`, if any.
onnx::GraphProto loop_body(const onnx::GraphProto* inner, int dead_nodes = 0) {
    OnnxBuilder b;
    b.input("i", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL);
    b.input("v", {1}).output("go").output(inner != nullptr ? "w" : "v");
    for (int i = 0; i < dead_nodes; ++i) b.node("Neg", {"v"}, {"dead" + std::to_string(i)});
    if (inner != nullptr) set_graph(b.node("Loop", {"turns", "", "v"}, {"w"}), "body", *inner);
    return b.graph();
}

Bytes nested_loops(int depth, int64_t turns) {
    OnnxBuilder b;
    b.input("x", {1}).output("y").initializer(int_tensor("turns", {}, {turns}));
    onnx::GraphProto body = loop_body(nullptr);
    for (int i = 1; i < depth; ++i) {
        const onnx::GraphProto inner = body;
        body = loop_body(&inner);
    }
    set_graph(b.node("Loop", {"turns", "", "x"}, {"y"}), "body", body);
    return b.bytes();
}

Bytes loop_over_dead_nodes(int dead) {
    OnnxBuilder b;
    b.input("x", {1}).output("y").initializer(int_tensor("turns", {}, {1000}));
    set_graph(b.node("Loop", {"turns", "", "x"}, {"y"}), "body", loop_body(nullptr, dead));
    return b.bytes();
}

Bytes long_sequence(const std::string& op, int64_t gates, int64_t length) {
    OnnxBuilder b;
    b.input("x", {length, 1, 1}).output("y");
    const std::vector<float> weights(static_cast<size_t>(gates), 0.5f);
    b.initializer(float_tensor("w", {1, gates, 1}, weights))
        .initializer(float_tensor("r", {1, gates, 1}, weights));
    set_int(b.node(op, {"x", "w", "r"}, {"y"}), "hidden_size", 1);
    return b.bytes();
}

Bytes many_of(const std::string& op, int count, const std::vector<testing::PortDim>& dims,
              bool as_outputs) {
    OnnxBuilder b;
    b.input("x", dims);
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) {
        all.push_back("d" + std::to_string(i));
        b.node(op, {"x"}, {all.back()});
        if (as_outputs) b.output(all.back());
    }
    if (!as_outputs) {
        b.node("Sum", all, {"y"});
        b.output("y");
    }
    return b.bytes();
}

Bytes functions_calling_functions(int depth, int calls, int dead) {
    OnnxBuilder b;
    b.input("x", {1}).output("y");
    for (int level = 0; level < depth; ++level) {
        onnx::FunctionProto& f = *b.proto.add_functions();
        f.set_name("F" + std::to_string(level));
        f.set_domain("own");
        f.add_opset_import()->set_version(17);
        f.add_input("v0");
        f.add_output("v" + std::to_string(calls));
        for (int i = 0; i < calls; ++i) {
            onnx::NodeProto& n = *f.add_node();
            n.set_op_type(level + 1 < depth ? "F" + std::to_string(level + 1) : "Identity");
            if (level + 1 < depth) n.set_domain("own");
            n.add_input("v" + std::to_string(i));
            n.add_output("v" + std::to_string(i + 1));
        }
        for (int i = 0; i < dead; ++i) {
            onnx::NodeProto& n = *f.add_node();
            n.set_op_type("Neg");
            n.add_input("v0");
            n.add_output("dead" + std::to_string(i));
        }
    }
    b.node("F0", {"x"}, {"y"}).set_domain("own");
    return b.bytes();
}

Bytes chain(int length, const std::string& op) {
    OnnxBuilder b;
    b.input("x", {1}).output("v" + std::to_string(length));
    for (int i = 0; i < length; ++i)
        b.node(op, {i == 0 ? std::string("x") : "v" + std::to_string(i)},
               {"v" + std::to_string(i + 1)});
    return b.bytes();
}

Bytes many_attributes(int count) {
    OnnxBuilder b;
    b.input("x", {1}).output("y");
    onnx::NodeProto& node = b.node("LeakyRelu", {"x"}, {"y"});
    for (int i = count; i-- > 0;) set_int(node, "a" + std::to_string(10'000'000 + i), i);
    return b.bytes();
}

Bytes many_missing() {
    OnnxBuilder b;
    b.input("x", {1});
    for (int i = 0; i < 5000; ++i) {
        const std::string name = "m" + std::to_string(i);
        b.node("Mi\x1b[31mss\ning" + std::string(500, 'q') + name, {"x"}, {name});
        b.output(name);
    }
    return b.bytes();
}

Bytes one_node(const std::string& op, const std::vector<int64_t>& list) {
    OnnxBuilder b;
    b.input("x", {1, 1}).output("y");
    b.initializer(int_tensor("list", {static_cast<int64_t>(list.size())}, list));
    b.node(op, {"x", "list"}, {"y"});
    return b.bytes();
}

/// Constants computed from constants, each from all before it.
Bytes folding(int count, int64_t size) {
    OnnxBuilder b;
    b.output("y").initializer(int_tensor("n", {2}, {size, size}));
    b.node("ConstantOfShape", {"n"}, {"v0"});
    for (int i = 0; i < count; ++i)
        b.node("MatMul", {"v" + std::to_string(i), "v" + std::to_string(i)},
               {"v" + std::to_string(i + 1)});
    b.node("NonZero", {"v" + std::to_string(count)}, {"y"});
    return b.bytes();
}

/// Copies of one large window, which the file does not contain.
Bytes windows(int count) {
    OnnxBuilder b;
    b.initializer(int_tensor("n", {}, {1 << 24}));
    for (int i = 0; i < count; ++i) {
        const std::string name = "w" + std::to_string(i);
        b.node("HannWindow", {"n"}, {name});
        b.output(name);
    }
    return b.bytes();
}

/// A field of a message: its number, its length, what it holds.
std::string field(uint32_t number, const std::string& contents) {
    std::string text(1, static_cast<char>(number << 3 | 2));
    size_t size = contents.size();
    for (; size >= 0x80; size >>= 7) text += static_cast<char>(size | 0x80);
    return text + static_cast<char>(size) + contents;
}

/// A model with this in its graph.
Bytes model_of(const std::string& graph) {
    return bytes_of("\x08\x08" + field(7, graph));
}

Bytes empty_messages(uint32_t number, int count) {
    std::string graph;
    for (int i = 0; i < count; ++i) graph += field(number, "");
    return model_of(graph);
}

Bytes mel(float rate, float low, float high, int64_t bins, int64_t length) {
    OnnxBuilder b;
    b.output("y").initializer(int_tensor("bins", {}, {bins}));
    b.initializer(int_tensor("length", {}, {length}));
    b.initializer(float_tensor("rate", {}, {rate})).initializer(float_tensor("low", {}, {low}));
    b.initializer(float_tensor("high", {}, {high}));
    b.node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"});
    return b.bytes();
}

Bytes reads_one_part_again(int count) {
    OnnxBuilder b;
    b.input("x", {4});
    for (int i = 0; i < count; ++i) {
        onnx::TensorProto t = external_tensor("w.data", 0, 4);
        t.set_name("w" + std::to_string(i));
        b.initializer(t);
        b.node("Add", {"x", t.name()}, {"y" + std::to_string(i)});
        b.output("y" + std::to_string(i));
    }
    return b.bytes();
}

}  // namespace

void add_onnx_files(Files& files) {
    const auto attack = [&](const std::string& name, std::function<Bytes()> make) {
        files.push_back({"onnx", name, std::move(make)});
    };
    const auto valid = [&](const std::string& name, OnnxBuilder (*make)(), size_t count) {
        add_changes<onnx::ModelProto>(
            files, "onnx", name, [=] { return make().proto; }, count);
    };
    valid("branches", testing::model_with_branches, 20);
    valid("loops", testing::model_with_loops, 30);
    valid("image", image, 30);
    valid("signal", signal, 30);
    valid("recurrent", recurrent, 25);
    valid("shapes", shapes, 35);
    valid("function", testing::model_with_function, 20);
    valid("policy", testing::small_policy, 20);

    attack("three nested loops with empty bodies", [] { return nested_loops(3, 1000); });
    attack("thirty nested loops", [] { return nested_loops(30, 3); });
    attack("a loop without end", [] { return nested_loops(1, INT64_MAX); });
    attack("a loop over a body of dead nodes", [] { return loop_over_dead_nodes(20'000); });
    for (const auto& [op, gates] : {std::pair{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}}) {
        const std::string kind = op;
        const int64_t count = gates;
        attack(kind + " of a million steps", [=] { return long_sequence(kind, count, 1'000'000); });
        attack(kind + " of 2^38 steps", [=] { return long_sequence(kind, count, 1ll << 38); });
    }
    attack("2,000 determinants", [] { return many_of("Det", 2000, {64, 64}, false); });
    attack("30 determinants", [] { return many_of("Det", 30, {64, 64}, false); });
    attack("50,000 wide", [] { return many_of("Neg", 50'000, {1}, true); });
    attack("a sum of 50,000", [] { return many_of("Neg", 50'000, {1}, false); });
    attack("250,000 long", [] { return chain(250'000, "Neg"); });
    attack("20,000 products long", [] { return chain(20'000, "Sigmoid"); });
    attack("n-grams of every length and gap",
           [] { return testing::model_with_long_ngrams(65535).bytes(); });
    attack("functions doubling", [] { return functions_calling_functions(40, 2, 0); });
    attack("functions thirty deep", [] { return functions_calling_functions(30, 1, 100); });
    attack("functions with dead bodies", [] { return functions_calling_functions(2, 2000, 5000); });
    attack("200,000 attributes", [] { return many_attributes(200'000); });
    attack("5,000 missing operators with long names", many_missing);
    attack("constants of constants", [] { return folding(200, 60); });
    attack("large constants of constants", [] { return folding(50, 4096); });
    attack("windows of 2^24 elements", [] { return windows(20); });
    for (const char* op : {"Expand", "Tile", "Reshape", "Pad", "Unsqueeze", "Squeeze", "ReduceSum",
                           "Split", "ConstantOfShape", "Slice"}) {
        const std::string name = op;
        attack(name + " to 2^124 elements", [=] { return one_node(name, {1ll << 62, 1ll << 62}); });
        attack(name + " to -2^63", [=] { return one_node(name, {INT64_MIN, INT64_MIN}); });
        attack(name + " of rank 1,000",
               [=] { return one_node(name, std::vector<int64_t>(1000, 1)); });
    }
    attack("a million empty nodes", [] { return empty_messages(1, 1'000'000); });
    attack("a million empty initializers", [] { return empty_messages(5, 1'000'000); });
    attack("a million empty attributes", [] {
        std::string node = "\x22\x04Relu";
        for (int i = 0; i < 1'000'000; ++i) node += std::string("\x2a\0", 2);
        return model_of(field(1, node));
    });
    constexpr float kInfinity = HUGE_VALF;
    attack("mel weights at an infinite rate", [] { return mel(kInfinity, 0, 4000, 8, 16); });
    attack("mel weights up to infinity", [] { return mel(kInfinity, 0, kInfinity, 8, 16); });
    attack("mel weights of no number", [] { return mel(std::nanf(""), 0, 1, 8, 16); });
    attack("2^24 mel bins", [] { return mel(8000, 0, 4000, 1 << 24, 1 << 24); });
    attack("2^63 mel bins", [] { return mel(8000, 0, 4000, INT64_MAX, INT64_MAX); });

    // The file w.data beside the model has 64 bytes, sparse.data 2^36 of which none is on disk.
    add_changes<onnx::ModelProto>(
        files, "external", "a tensor in a file", [] { return external().proto; }, 30);
    const auto beside = [&](const std::string& name, std::function<Bytes()> make) {
        files.push_back({"external", name, std::move(make)});
    };
    for (const char* location : {"../w.data", "/etc/passwd", "a/../../w.data", "absent.data", "",
                                 "link.data", "folder", "/dev/zero", "pipe.data"}) {
        const std::string where = location;
        beside("data in '" + where + "'", [=] { return external(where).bytes(); });
    }
    beside("24 bytes at the end of 2^36",
           [] { return external("sparse.data", (1ull << 36) - 24, 6).bytes(); });
    beside("all of 2^36 bytes", [] { return external("sparse.data", 0, 1ll << 34).bytes(); });
    beside("2^42 bytes", [] { return external("w.data", 0, 1ll << 40).bytes(); });
    beside("beyond 2^64", [] { return external("w.data", ~0ull - 3, 4).bytes(); });
    beside("one part 10,000 times", [] { return reads_one_part_again(10'000); });

    add_changes<onnx::TensorProto>(
        files, "tensor", "floats",
        [] {
            return float_tensor("t", {2, 2}, {1, 2, 3, 4});
        },
        20);
    add_changes<onnx::TensorProto>(
        files, "tensor", "integers",
        [] {
            return int_tensor("t", {3}, {1, 2, 3});
        },
        20);
}

}  // namespace hearth::hostile
