// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The samples were written by torch.save of PyTorch 1.13 (tests/fuzz/corpus/torch).

#include "support/cases.hpp"
#include "support/files.hpp"
#include "unit/weights/archive.hpp"

#include <hearth/weights.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>

namespace hearth {
namespace {

std::vector<std::byte> sample(const std::string& name) {
    return testing::file_bytes(std::filesystem::path(HEARTH_CORPUS) / "torch" / name);
}

Result<NamedTensors> read(const std::string& name) {
    return read_torch(sample(name));
}

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
    return HostTensor::of(shape, values);
}

TEST(TorchFile, EveryProtocolAndBothContainersGiveTheSameTensors) {
    for (const char* name : {"zip_protocol2.pt", "zip_protocol3.pt", "zip_protocol4.pt",
                             "zip_protocol5.pt", "legacy.pt"}) {
        const auto tensors = read(name);
        ASSERT_TRUE(tensors.ok()) << name << ": " << tensors.status().message();
        ASSERT_EQ(tensors->size(), 2u);
        EXPECT_EQ(tensors->at("weight"), floats({2, 3}, {0, .25f, .5f, .75f, 1, 1.25f})) << name;
        EXPECT_EQ(tensors->at("bias"), floats({2}, {.5f, -1.5f})) << name;
    }
}

TEST(TorchFile, ViewsAreReadThroughTheirStrides) {
    for (const char* name : {"views.pt", "views_legacy.pt"}) {
        const auto tensors = read(name);  // of the numbers 0 to 23 as [4, 6]
        ASSERT_TRUE(tensors.ok()) << name << ": " << tensors.status().message();
        const HostTensor& t = tensors->at("transposed");
        ASSERT_EQ(t.shape(), (Shape{6, 4}));
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 4; ++j) EXPECT_EQ(t.get(i * 4 + j), j * 6 + i);
        EXPECT_EQ(tensors->at("column"), floats({4}, {2, 8, 14, 20}));
        EXPECT_EQ(tensors->at("step"), floats({3, 3}, {6, 8, 10, 12, 14, 16, 18, 20, 22}));
        EXPECT_EQ(tensors->at("expanded"), floats({5}, {3, 3, 3, 3, 3}));
        EXPECT_EQ(tensors->at("tail"), floats({4}, {20, 21, 22, 23}));
        EXPECT_EQ(tensors->at("empty").shape(), Shape{0});
        EXPECT_EQ(tensors->at("scalar"), floats({}, {7}));
        EXPECT_EQ(tensors->at("tied").get(23), 23);
    }
}

TEST(TorchFile, ElementTypesAreKept) {
    const auto tensors = read("types.pt");
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    const std::map<std::string, DType> expected{
        {"float32", DType::kF32}, {"float16", DType::kF16}, {"bfloat16", DType::kBF16},
        {"float64", DType::kF64}, {"int8", DType::kI8},     {"uint8", DType::kU8},
        {"int16", DType::kI16},   {"int32", DType::kI32},   {"int64", DType::kI64},
        {"bool", DType::kBool}};
    ASSERT_EQ(tensors->size(), expected.size());
    for (const auto& [name, dtype] : expected) {
        const HostTensor& t = tensors->at(name);
        EXPECT_EQ(t.dtype(), dtype);
        EXPECT_EQ(t.get(0), 0) << name;
        EXPECT_EQ(t.get(3), name == "bool" ? 1 : 100) << name;
    }
}

TEST(TorchFile, TensorsInContainersGetDottedNamesAndTheRestIsLeftOut) {
    const auto tensors = read("checkpoint.pt");
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    std::string names;
    for (const auto& [name, tensor] : *tensors) names += name + " ";
    EXPECT_EQ(names,
              "list.0 list.1.0 model.0.bias model.0.weight model.1.bias "
              "model.1.num_batches_tracked model.1.running_mean model.1.running_var model.1.weight "
              "optimizer.state.0.exp_avg optimizer.state.0.exp_avg_sq optimizer.state.0.step "
              "optimizer.state.1.exp_avg optimizer.state.1.exp_avg_sq optimizer.state.1.step "
              "optimizer.state.2.exp_avg optimizer.state.2.exp_avg_sq optimizer.state.2.step "
              "optimizer.state.3.exp_avg optimizer.state.3.exp_avg_sq optimizer.state.3.step "
              "parameter ");
    EXPECT_EQ(tensors->at("model.0.weight").shape(), (Shape{2, 3}));
    EXPECT_EQ(tensors->at("model.1.num_batches_tracked").get_int(0), 1);
    EXPECT_EQ(tensors->at("parameter"), floats({2}, {1, 1}));
}

TEST(TorchFile, WhatIsNoTensorIsRefusedByName) {
    const std::map<std::string, std::string> expected{
        {"module.pt", "the class 'torch.nn.modules.container Sequential'"},
        {"complex.pt", "elements of 'torch ComplexFloatStorage'"},
        {"sparse.pt", "'x' is a tensor of a kind that '_rebuild_sparse_tensor' makes"}};
    for (const auto& [name, text] : expected) {
        const auto tensors = read(name);
        ASSERT_FALSE(tensors.ok()) << name;
        EXPECT_EQ(tensors.status().code(), StatusCode::kUnsupported);
        EXPECT_NE(tensors.status().message().find(text), std::string::npos)
            << tensors.status().message();
    }
}

/// The archive with the entry called `from` in both of its places, but no checksum, renamed.
std::vector<std::byte> renamed(std::vector<std::byte> bytes, const std::string& from,
                               const std::string& to) {
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    int found = 0;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
        text.replace(at, from.size(), to);
        ++found;
    }
    EXPECT_EQ(found, 2) << from;
    std::memcpy(bytes.data(), text.data(), bytes.size());
    return bytes;
}

TEST(TorchFile, AnArchiveWithOneNameTwiceIsRefused) {
    // Which of the two is meant would depend on the reader.
    const std::vector<std::byte> whole = sample("zip_protocol2.pt");
    ASSERT_TRUE(read_torch(whole).ok());
    const auto twice = read_torch(renamed(whole, "/data/1", "/data/0"));
    ASSERT_FALSE(twice.ok());
    EXPECT_EQ(twice.status().code(), StatusCode::kCorruptData);
    EXPECT_NE(twice.status().message().find("/data/0' is there twice"), std::string::npos)
        << twice.status().message();
}

TEST(TorchFile, EachTruncationIsRejected) {
    for (const char* name : {"zip_protocol2.pt", "zip_protocol5.pt", "legacy.pt", "views.pt"}) {
        const std::vector<std::byte> whole = sample(name);
        ASSERT_FALSE(whole.empty());
        for (size_t size = 0; size < whole.size(); ++size)
            ASSERT_FALSE(read_torch(std::span(whole).first(size)).ok()) << name << " " << size;
    }
}

TEST(TorchFile, FlippedBytesOfStoragesAreFound) {
    std::vector<std::byte> bytes = sample("zip_protocol2.pt");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const size_t quarter = text.find(std::string_view("\0\0\x80\x3e", 4));  // 0.25f
    ASSERT_NE(quarter, std::string_view::npos);
    bytes[quarter] ^= std::byte{1};
    EXPECT_FALSE(read_torch(bytes).ok());
}

// --- Files of the older form, made from a pickled object

using archive::number;

std::string text(const std::string& value) {
    return "X" + number(static_cast<uint32_t>(value.size())) + value;
}
std::string integer(int64_t value) {
    return "\x8a\x08" + number(value);
}
std::string tuple(std::initializer_list<std::string> items) {
    std::string all = "(";
    for (const std::string& item : items) all += item;
    return all + "t";
}
std::string integers(std::initializer_list<int64_t> values) {
    std::string all = "(";
    for (const int64_t value : values) all += integer(value);
    return all + "t";
}
std::string global(const std::string& module, const std::string& name) {
    return "c" + module + "\n" + name + "\n";
}
std::string call(const std::string& module, const std::string& name, const std::string& arguments) {
    return global(module, name) + arguments + "R";
}
std::string dict(const std::string& key, const std::string& value) {
    return "}" + text(key) + value + "s";
}
std::string storage(const std::string& type = "FloatStorage", const std::string& key = "0") {
    return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(4)}) +
           "Q";
}

/// The arguments of a tensor of four floats: 1, 2, 3, 4.
struct TensorParts {
    std::string storage = hearth::storage();
    std::string offset = integer(0), extents = integers({4}), strides = integers({1});
    std::string more;  ///< arguments behind these

    std::string arguments() const {
        return "(" + storage + offset + extents + strides + more + "t";
    }
    std::string v2() const { return call("torch._utils", "_rebuild_tensor_v2", arguments()); }
    std::string v3() const { return call("torch._utils", "_rebuild_tensor_v3", arguments()); }
};

struct Legacy {
    std::string magic = std::string("\x8a\x0a") + "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
    std::string version = "M\xe9\x03";  // 1001
    std::string system = "}";
    std::string object = dict("x", TensorParts().v2());
    std::string keys = "](" + text("0") + "e";
    std::string storages =
        number<uint64_t>(4) + number(1.0f) + number(2.0f) + number(3.0f) + number(4.0f);
};

/// The tensors that were read, with their elements, or the message.
std::string reading(std::span<const std::byte> bytes) {
    const auto tensors = read_torch(bytes);
    if (!tensors.ok()) return tensors.status().message();
    std::string all;
    for (const auto& [name, t] : *tensors) {
        all += name + "=" + std::string(name_of(t.dtype())) + to_string(t.shape());
        for (int64_t i = 0; i < std::min<int64_t>(t.element_count(), 4); ++i)
            all += " " + std::to_string(static_cast<int>(t.get(i)));
        all += ";";
    }
    return all;
}

std::string bytes_of(const Legacy& legacy) {
    std::string file;
    for (const std::string* part :
         {&legacy.magic, &legacy.version, &legacy.system, &legacy.object, &legacy.keys})
        file += "\x80\x02" + *part + ".";
    return file + legacy.storages;
}

std::string reading(const Legacy& legacy) {
    const std::string file = bytes_of(legacy);
    return reading(std::as_bytes(std::span(file)));
}

std::string reading_object(const std::string& object) {
    Legacy legacy;
    legacy.object = object;
    if (object.find("Storage\n") == std::string::npos) legacy.keys = "]", legacy.storages = "";
    return reading(legacy);
}

std::string reading_tensor(const std::function<void(TensorParts&)>& change) {
    TensorParts parts;
    change(parts);
    return reading_object(dict("x", parts.v2()));
}

void expect_in(const std::string& expected, const std::string& message) {
    EXPECT_NE(message.find(expected), std::string::npos) << expected << "\n" << message;
}

TEST(TorchFile, TheOlderFormIsCheckedPartByPart) {
    EXPECT_EQ(reading(Legacy()), "x=f32[4] 1 2 3 4;");
    const auto changed = [](std::string Legacy::*part, const std::string& value) {
        Legacy legacy;
        legacy.*part = value;
        return reading(legacy);
    };
    const char* magic =
        "torch file: does not begin with PyTorch's magic number; expected a file of torch.save";
    EXPECT_EQ(changed(&Legacy::magic, integer(5)), magic);
    EXPECT_EQ(changed(&Legacy::magic,
                      std::string("\x8a\x0a") + "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x18"),
              magic);
    EXPECT_EQ(changed(&Legacy::magic, text("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")), magic);
    EXPECT_EQ(changed(&Legacy::version, integer(1002)), "torch file: version 1002");
    EXPECT_EQ(changed(&Legacy::system, dict("little_endian", "\x89")),
              "torch file: it is big-endian; save it on a little-endian machine");
    EXPECT_EQ(changed(&Legacy::system, dict("little_endian", "\x88")), "x=f32[4] 1 2 3 4;");
    EXPECT_EQ(changed(&Legacy::system, dict("protocol_version", integer(0))), "x=f32[4] 1 2 3 4;");
    EXPECT_EQ(changed(&Legacy::keys, "](" + text("7") + "e"),
              "torch file: nothing uses the storage '7'");
    EXPECT_EQ(changed(&Legacy::keys, "](" + text(std::string(4096, 'k')) + "e").substr(0, 42),
              "torch file: nothing uses the storage 'kkkk");
    EXPECT_EQ(changed(&Legacy::keys, "](" + text(std::string(4097, 'k')) + "e"),
              "torch file: a storage's name is too long");
    EXPECT_EQ(changed(&Legacy::storages, number<uint64_t>(5) + std::string(16, '\0')),
              "torch file: its storages are truncated; copy the file again");
    // Four times this is nothing.
    EXPECT_EQ(changed(&Legacy::storages, number(uint64_t{1} << 62)),
              "torch file: the storage '0' is truncated");
    // The part of a storage that is missing may have any size, up to what a file can have.
    EXPECT_EQ(changed(&Legacy::object, "N"), "torch file: nothing uses the storage '0'");
}

TEST(TorchFile, TensorsOfAnyKnownFormAreRead) {
    const std::string expected = "x=f32[4] 1 2 3 4;";
    const TensorParts parts;
    EXPECT_EQ(reading_object(
                  dict("x", call("torch._utils", "_rebuild_parameter", "(" + parts.v2() + "t"))),
              expected);
    EXPECT_EQ(reading_object(dict("x", parts.v2())), expected);
    // (key, value) pairs as the argument of an OrderedDict, and items put into one.
    const std::string pairs = "](" + tuple({text("x"), parts.v2()}) + "e";
    EXPECT_EQ(reading_object(call("collections", "OrderedDict", "(" + pairs + "t")), expected);
    EXPECT_EQ(
        reading_object(call("collections", "OrderedDict", ")") + text("x") + parts.v2() + "s"),
        expected);
    // What a defaultdict is called with is not its contents.
    EXPECT_EQ(reading_object(call("collections", "defaultdict", "(" + pairs + "t") + text("y") +
                             parts.v2() + "s"),
              "y=f32[4] 1 2 3 4;");
    EXPECT_EQ(reading_object("](" + parts.v2() + "e"), "0=f32[4] 1 2 3 4;");
    EXPECT_EQ(reading_object("}" + integer(-3) + parts.v2() + "s"), "-3=f32[4] 1 2 3 4;");
    EXPECT_EQ(reading_object("}" + tuple({text("x")}) + parts.v2() + "s"), "");
    // Beside tensors there may be numbers, types, sizes and devices.
    EXPECT_EQ(reading_object("](" + integer(1) + global("torch", "float32") +
                             global("torch.nn", "X") + call("torch", "Size", "(t") +
                             call("torch", "device", "(" + text("cpu") + "t") + parts.v2() + "e"),
              "5=f32[4] 1 2 3 4;");
    // torch.Size is a tuple.
    EXPECT_EQ(reading_tensor([](TensorParts& p) {
                  p.extents = call("torch", "Size", "(" + integers({2, 2}) + "t");
                  p.strides = "](" + integer(2) + integer(1) + "e";
              }),
              "x=f32[2, 2] 1 2 3 4;");
    TensorParts typed;
    typed.more = "NN" + global("torch", "int32");
    EXPECT_EQ(reading_object(dict("x", typed.v3())).substr(0, 8), "x=i32[4]");
    typed.storage = storage("UntypedStorage");
    typed.extents = integers({1});
    EXPECT_EQ(reading_object(dict("x", typed.v3())).substr(0, 8), "x=i32[1]");
}

TEST(TorchFile, WhatIsNoTensorOfAKnownFormIsRefused) {
    const std::string refused = "; save tensors, such as a state_dict";
    expect_in("the class 'torchx Thing'" + refused, reading_object(global("torchx", "Thing")));
    expect_in("the class 'os system'" + refused, reading_object(call("os", "system", ")")));
    expect_in("the class 'torch Sizes'" + refused, reading_object(call("torch", "Sizes", ")")));
    for (const auto& [name, arguments] : std::map<std::string, std::string>{
             {"_rebuild_parameter", ")"},
             {"_rebuild_tensor_v2", tuple({storage(), integer(0), integers({4})})},
             {"_rebuild_tensor_v3",
              tuple({storage(), integer(0), integers({4}), integers({1}), "N", "N"})},
             {"_rebuild_other_v3", tuple({storage(), integer(0), integers({4}), integers({1}), "N",
                                          "N", global("torch", "float32")})},
             {"_rebuild_sparse_tensor", ")"}})
        expect_in("'x' is a tensor of a kind that '" + name + "' makes",
                  reading_object(dict("x", call("torch._utils", name, arguments))));
    const std::string odd = "a dictionary key has no value";
    expect_in(odd, reading_object(call("collections", "OrderedDict", ")") + text("x") + "a"));
    expect_in(
        odd, reading_object(call("collections", "OrderedDict", "(](" + tuple({text("x")}) + "et")));
    expect_in("two tensors are called 'a.b'",
              reading_object("}(" + text("a") + dict("b", TensorParts().v2()) + text("a.b") +
                             TensorParts().v2() + "u"));
}

TEST(TorchFile, TensorsThatReachOutOfTheirStorageAreRefused) {
    using P = TensorParts;
    EXPECT_EQ(reading_tensor([](P& p) { p.extents = integers({3}), p.offset = integer(1); }),
              "x=f32[3] 2 3 4;");
    expect_in("tensor 'x': reaches element 4 of a storage of 4",
              reading_tensor([](P& p) { p.offset = integer(1); }));
    expect_in("reaches element 4 of a storage of 4",
              reading_tensor([](P& p) { p.extents = integers({5}); }));
    expect_in("reaches element 6 of a storage of 4",
              reading_tensor([](P& p) { p.strides = integers({2}); }));
    EXPECT_EQ(reading_tensor([](P& p) { p.extents = integers({2}), p.strides = integers({3}); }),
              "x=f32[2] 1 4;");
    EXPECT_EQ(reading_tensor([](P& p) { p.strides = integers({0}); }), "x=f32[4] 1 1 1 1;");
    // A stride along one element is never taken, and may be anything that does not overflow.
    EXPECT_EQ(reading_tensor([](P& p) {
                  p.extents = integers({1, 4}), p.strides = integers({int64_t{1} << 40, 1});
              }),
              "x=f32[1, 4] 1 2 3 4;");
    expect_in("has a stride of 1099511627777", reading_tensor([](P& p) {
                  p.extents = integers({1, 4}), p.strides = integers({(int64_t{1} << 40) + 1, 1});
              }));
    expect_in("has a stride of -1",
              reading_tensor([](P& p) { p.offset = integer(3), p.strides = integers({-1}); }));
    expect_in("has a stride of 1099511627776", reading_tensor([](P& p) {
                  p.extents = integers({int64_t{1} << 40}),
                  p.strides = integers({int64_t{1} << 40});
              }));
    expect_in("has a stride of 1", reading_tensor([](P& p) { p.offset = integer(INT64_MAX); }));
    EXPECT_EQ(
        reading_tensor([](P& p) { p.extents = integers({0}), p.offset = integer(INT64_MAX); }),
        "x=f32[0];");
    expect_in("its offset is negative or not an integer",
              reading_tensor([](P& p) { p.offset = integer(-1); }));
    expect_in("its offset is negative or not an integer",
              reading_tensor([](P& p) { p.offset = "N"; }));
    expect_in("has 2 strides for [4]", reading_tensor([](P& p) { p.strides = integers({1, 1}); }));
    expect_in("its shape is not a tuple", reading_tensor([](P& p) { p.extents = "}"; }));
    expect_in("an extent is not an integer",
              reading_tensor([](P& p) { p.extents = tuple({text("4")}); }));
    expect_in("rank 9 is more than 8", reading_tensor([](P& p) {
                  p.extents = integers({1, 1, 1, 1, 1, 1, 1, 1, 4});
              }));
    EXPECT_EQ(reading_tensor([](P& p) {
                  p.extents = integers({1, 1, 1, 1, 1, 1, 1, 4});
                  p.strides = integers({4, 4, 4, 4, 4, 4, 4, 1});
              }),
              "x=f32[1, 1, 1, 1, 1, 1, 1, 4] 1 2 3 4;");
    // Elements that are read again and again, more than in proportion to the file.
    expect_in("tensor 'x': [1073741824] and the tensors before it: it asks for more than",
              reading_tensor([](P& p) {
                  p.extents = integers({int64_t{1} << 30}), p.strides = integers({0});
              }));
}

TEST(TorchFile, StoragesThatAreNoneAreRefused) {
    const auto of = [](const std::string& storage) {
        TensorParts parts;
        parts.storage = storage;
        return reading_object("}(" + text("x") + parts.v2() + text("y") + TensorParts().v2() + "u");
    };
    const std::string type = global("torch", "FloatStorage"), key = text("0"), cpu = text("cpu");
    const auto reference = [&](std::initializer_list<std::string> parts) {
        return of(tuple(parts) + "Q");
    };
    expect_in("has no storage", of(tuple({text("storage"), type, key, cpu, integer(4)})));
    const char* none = "refers to a value that is not a storage";
    expect_in(none, reference({text("storage"), type, key, cpu}));
    expect_in(none, reference({text("module"), type, key, cpu, integer(4)}));
    expect_in(none, of("](" + text("storage") + type + key + cpu + integer(4) + "eQ"));
    EXPECT_EQ(reference({text("storage"), type, key, cpu, integer(4), "N"}),
              "x=f32[4] 1 2 3 4;y=f32[4] 1 2 3 4;");
    // Tensors of kinds that are not known are left out; the others are read.
    const std::string rest = "y=f32[4] 1 2 3 4;";
    EXPECT_EQ(reference({text("storage"), type, key, cpu, integer(4), tuple({key})}), rest);
    EXPECT_EQ(of(storage("OddStorage")), rest);
    EXPECT_EQ(reference({text("storage"), global("other", "FloatStorage"), key, cpu, integer(4)}),
              rest);
    EXPECT_EQ(reference({text("storage"), text("torch FloatStorage"), key, cpu, integer(4)}), rest);
    expect_in("its storage has no element type", of(storage("UntypedStorage")));
    // A key of the greatest length is looked for, a longer one is not.
    Legacy legacy;
    TensorParts parts;
    parts.storage = storage("FloatStorage", std::string(4096, 'k'));
    legacy.object = "](" + dict("x", parts.v2()) + TensorParts().v2() + "e";
    expect_in("is not in the file", reading(legacy));
    parts.storage = storage("FloatStorage", std::string(4097, 'k'));
    legacy.object = "](" + dict("x", parts.v2()) + TensorParts().v2() + "e";
    expect_in("its storage's name is too long", reading(legacy));

    TensorParts typed;
    typed.more = "NN" + global("torch", "complex64");
    expect_in("elements of 'torch complex64'", reading_object(dict("x", typed.v3())));
    typed.more = "NN" + text("torch float32");
    expect_in("elements of 'torch float32'", reading_object(dict("x", typed.v3())));
}

TEST(TorchFile, TensorsOfUnknownKindsAreLeftOutByName) {
    TensorParts odd, narrow;
    odd.storage = storage("OddStorage");
    narrow.more = "NN" + global("torch", "float8_e4m3fn");
    narrow.storage = storage("UntypedStorage");
    Legacy legacy;
    legacy.object = "}(" + text("a") + odd.v2() + text("b") +
                    call("torch._utils", "_rebuild_sparse_tensor", ")") + text("c") + narrow.v3() +
                    text("x") + TensorParts().v2() + "u";
    const std::string bytes = bytes_of(legacy);
    LeftOut left_out;
    const auto tensors = read_torch(std::as_bytes(std::span(bytes)), &left_out);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    EXPECT_EQ(tensors->size(), 1u);
    EXPECT_TRUE(tensors->contains("x"));
    ASSERT_EQ(left_out.size(), 3u);
    EXPECT_EQ(left_out[0].name, "a");
    EXPECT_EQ(left_out[0].reason, "tensor 'a': elements of 'torch OddStorage'");
    EXPECT_EQ(left_out[1].reason, "'b' is a tensor of a kind that '_rebuild_sparse_tensor' makes");
    EXPECT_EQ(left_out[2].reason, "tensor 'c': elements of 'torch float8_e4m3fn'");
}

TEST(TorchFile, BuffersAndSubclassesOfParametersAreTensors) {
    const std::string expected = "x=f32[4] 1 2 3 4;";
    const auto from_type = [](const std::string& function, const std::string& arguments) {
        return dict("x", call("torch._tensor", "_rebuild_from_type_v2",
                              tuple({function, global("game", "Weight"), arguments, "}"})));
    };
    const TensorParts parts;
    const std::string v2 = global("torch._utils", "_rebuild_tensor_v2");
    EXPECT_EQ(reading_object(from_type(v2, parts.arguments())), expected);
    const std::string parameter = global("torch._utils", "_rebuild_parameter");
    EXPECT_EQ(reading_object(from_type(parameter, "(" + parts.v2() + "t")), expected);
    EXPECT_EQ(reading_object(dict("x", call("torch._utils", "_rebuild_parameter_with_state",
                                            "(" + parts.v2() + "t"))),
              expected);
    expect_in("the class 'os system'", reading_object(from_type(global("os", "system"), ")")));
}

TEST(TorchFile, ProgramsAreCalledWhatTheyAre) {
    const auto refusal = [](const std::string& entry) {
        const std::string bytes =
            archive::archive_of_files({{"m/data.pkl", "\x80\x02}."}, {entry, "x"}});
        return read_torch(std::as_bytes(std::span(bytes))).status().message();
    };
    expect_in("it is a TorchScript archive of torch.jit.save", refusal("m/constants.pkl"));
    expect_in("torch.save(module.state_dict(), FILE)", refusal("m/code/__torch__.py"));
    expect_in("it is an archive of torch.export.save", refusal("m/models/model.json"));
    // TorchScript's code is compressed.
    archive::Member code;
    code.name = code.local_name = "m/code/__torch__.py";
    code.method = 8;
    const std::string bytes = archive::archive_of(code);
    expect_in("it is a TorchScript archive", reading(std::as_bytes(std::span(bytes))));
}

TEST(TorchFile, NamesAndNestingAreBounded) {
    const auto nested = [](int depth) {
        return reading_object(std::string(static_cast<size_t>(depth), ']') + TensorParts().v2() +
                              std::string(static_cast<size_t>(depth), 'a'));
    };
    EXPECT_NE(nested(64).find("=f32[4]"), std::string::npos) << nested(64);
    expect_in("nested deeper than 64", nested(65));
    const auto named = [](size_t size) {
        return reading_object(dict(std::string(size, 'n'), TensorParts().v2()));
    };
    EXPECT_NE(named(4096).find("=f32[4]"), std::string::npos);
    expect_in("a name is too long", named(4097));
    expect_in("a name is too long",
              reading_object(dict(std::string(4000, 'n'), dict(std::string(96, 'm'), "N"))));
}

TEST(TorchFile, ArchivesWithoutTheirPartsAreRefused) {
    const std::vector<std::byte> whole = sample("zip_protocol2.pt");
    EXPECT_EQ(reading(renamed(whole, "/data.pkl", "/date.pkl")),
              "torch file: the archive has no data.pkl; expected a file of torch.save");
    EXPECT_EQ(reading(renamed(whole, "/data.pkl", "xdata.pkl")),
              "torch file: the archive has no data.pkl; expected a file of torch.save");
    expect_in("is not in the file", reading(renamed(whole, "/data/1", "/datb/1")));
    const auto archived = [](const std::vector<archive::File>& files) {
        const std::string bytes = archive::archive_of_files(files);
        return reading(std::as_bytes(std::span(bytes)));
    };
    const std::string object = "\x80\x02" + dict("x", TensorParts().v2()) + ".";
    const std::string data = number(1.0f) + number(2.0f) + number(3.0f) + number(4.0f);
    EXPECT_EQ(archived({{"data.pkl", object}, {"data/0", data}}), "x=f32[4] 1 2 3 4;");
    EXPECT_EQ(archived({{"m/data.pkl", object}, {"m/data/0", data}, {"m/byteorder", "little"}}),
              "x=f32[4] 1 2 3 4;");
    EXPECT_EQ(archived({{"m/data.pkl", object}, {"m/data/0", data}, {"m/byteorder", "big"}}),
              "torch file: it is big-endian; save it on a little-endian machine");
    EXPECT_EQ(archived({{"m/data.pkl", "\x80\x02"}}),
              "torch file: pickle: ends before its STOP; the file is truncated, copy it again");
    EXPECT_EQ(reading(std::span(whole).first(100)),
              "torch file: zip archive: has no directory at its end; the file is truncated, copy "
              "it again");
}

TEST(TorchFile, SharedValuesThatUnfoldWithoutEndAreRejected) {
    // l0 = []; l1 = [l0, l0]; l2 = [l1, l1] ... as the object of a file in the older form.
    const std::string magic =
        std::string("\x80\x02\x8a\x0a") + "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" + ".";
    std::string object = "\x80\x02]";
    for (char i = 0; i < 60; ++i) {
        object += std::string("q") + i + "0";
        object += std::string("(h") + i + "h" + i + "l";
    }
    const std::string file = magic + "\x80\x02M\xe9\x03." + "\x80\x02}." + object + "." +
                             "\x80\x02]." + std::string(64, '\0');
    const auto tensors = read_torch(std::as_bytes(std::span(file)));
    ASSERT_FALSE(tensors.ok());
    EXPECT_NE(tensors.status().message().find("expand to too many"), std::string::npos)
        << tensors.status().message();
}

TEST(TorchFile, TheDigitsNetworkIsTheSameInBothFormats) {
    const auto folder = reference_cases::place_of("digits");
    ASSERT_TRUE(folder);
    const auto torch = read_torch(testing::file_bytes(*folder / "digits_cnn.pt"));
    const auto safe = read_safetensors(testing::file_bytes(*folder / "digits_cnn.safetensors"));
    ASSERT_TRUE(torch.ok()) << torch.status().message();
    ASSERT_TRUE(safe.ok()) << safe.status().message();
    EXPECT_EQ(torch->size(), 13u);
    EXPECT_EQ(*torch, *safe);
    EXPECT_EQ(read_safetensors(write_safetensors(*torch)).value(), *torch);
}

}  // namespace
}  // namespace hearth
