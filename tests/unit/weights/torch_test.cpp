// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The samples were written by torch.save of PyTorch 1.13 (tests/fuzz/corpus/torch).

#include "support/cases.hpp"
#include "support/files.hpp"
#include "weights/pickle.hpp"

#include <hearth/weights.hpp>

#include <gtest/gtest.h>

#include <cstring>

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

/// What a pickle of these opcodes gives.
Result<Pickle> machine(const std::string& opcodes) {
    ByteReader reader(std::as_bytes(std::span(opcodes)));
    Budget budget(opcodes.size());
    return read_pickle(reader, budget);
}

TEST(Pickle, ValuesAndNamesAreBoundedByTheFilesSize) {
    // A byte for each list: as many as bytes would take 64 times the file's size.
    const auto lists = machine("\x80\x02" + std::string(2 << 20, ']') + ".");
    ASSERT_FALSE(lists.ok());
    EXPECT_EQ(lists.status().code(), StatusCode::kOutOfRange);
    // Five bytes for each class of a long name.
    std::string classes = "\x80\x02X" + std::string("\xf4\x01\0\0", 4) + std::string(500, 'm') +
                          std::string("q\0", 2);
    for (int i = 0; i < 200'000; ++i) classes += std::string("h\0h\0\x93", 5);
    const auto named = machine(classes + ".");
    ASSERT_FALSE(named.ok());
    EXPECT_NE(named.status().message().find("bytes of tensors, the limit for"), std::string::npos)
        << named.status().message();
}

TEST(Pickle, CallsAreWrittenDownAndNotMade) {
    const std::string evil = std::string("\x80\x02") + "cos\nsystem\n" + "X\x02" +
                             std::string(3, '\0') + "ls" + "\x85R.";
    const auto pickle = machine(evil);
    ASSERT_TRUE(pickle.ok()) << pickle.status().message();
    const PickleValue& root = (*pickle)[pickle->root];
    EXPECT_EQ(root.kind, PickleValue::Kind::kCall);
    EXPECT_EQ((*pickle)[root.items[0]].text, "os system");
}

TEST(Pickle, StacksThatDoNotWorkOutAreRejected) {
    for (const std::string opcodes : {".",
                                      "0",
                                      "1",
                                      "2.",
                                      "t.",
                                      "\x85.",
                                      "\x87.",
                                      "(.",
                                      "(1.",
                                      "s.",
                                      "}s.",
                                      "}NNu.",
                                      "](NNu.",
                                      "](u.",
                                      "}(Nu.",
                                      "Na.",
                                      "R.",
                                      "NNR.",
                                      ")NR.",
                                      "b.",
                                      "Nb.",
                                      "q\x01.",
                                      "h\x01.",
                                      "Q.",
                                      "]h",
                                      "\x95",
                                      "G",
                                      "X\xff\xff\xff\xff.",
                                      "\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
                                      "c.",
                                      "cos\n",
                                      "\x8a\x05",  // memcpy from nowhere, once
                                      "I1\n.",
                                      "\x80\x06.",
                                      "\x80\x01N."})
        EXPECT_FALSE(machine(opcodes).ok()) << opcodes;
}

TEST(Pickle, NumbersHaveTheirValues) {
    const std::string numbers = std::string("(J\xfe\xff\xff\xffK\xffM\x01\x02") +
                                std::string("\x8a\x01\x80\x8a\x00", 5) + "G" +
                                std::string("\xbf\xf8\0\0\0\0\0\0", 8) + "\x88Nt.";
    const auto pickle = machine(numbers);
    ASSERT_TRUE(pickle.ok()) << pickle.status().message();
    const std::vector<uint32_t>& items = (*pickle)[pickle->root].items;
    ASSERT_EQ(items.size(), 8u);
    const int64_t expected[] = {-2, 255, 513, -128, 0};
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ((*pickle)[items[i]].integer, expected[i]);
    EXPECT_EQ((*pickle)[items[5]].real, -1.5);
    EXPECT_EQ((*pickle)[items[6]].integer, 1);
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
    EXPECT_NE(tensors.status().message().find("unfold"), std::string::npos)
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
