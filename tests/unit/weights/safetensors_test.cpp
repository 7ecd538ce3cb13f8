// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "support/files.hpp"

#include <hearth/weights.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace hearth {
namespace {

std::vector<std::byte> sample(const std::string& name) {
    return testing::file_bytes(std::filesystem::path(HEARTH_CORPUS) / "safetensors" / name);
}

/// A file of this header and this much data.
std::vector<std::byte> file_of(const std::string& header, size_t data_bytes) {
    std::vector<std::byte> bytes(8 + header.size() + data_bytes);
    const uint64_t size = header.size();
    std::memcpy(bytes.data(), &size, 8);
    std::memcpy(bytes.data() + 8, header.data(), header.size());
    return bytes;
}

std::string message_of(const std::string& header, size_t data_bytes) {
    const auto read = read_safetensors(file_of(header, data_bytes));
    return read.ok() ? "(no error)" : read.status().message();
}

TEST(Safetensors, FilesOfTheReferenceLibraryAreRead) {
    Metadata metadata;
    const auto linear = read_safetensors(sample("linear.safetensors"), &metadata);
    ASSERT_TRUE(linear.ok()) << linear.status().message();
    ASSERT_EQ(linear->size(), 2u);
    EXPECT_EQ(linear->at("weight"),
              HostTensor::of({2, 3}, std::vector<float>{0, .25f, .5f, .75f, 1, 1.25f}));
    EXPECT_EQ(linear->at("bias"), HostTensor::of({2}, std::vector<float>{.5f, -1.5f}));
    EXPECT_EQ(metadata.at("note"), "a \"quoted\" \\ text");

    const auto types = read_safetensors(sample("types.safetensors"));
    ASSERT_TRUE(types.ok()) << types.status().message();
    EXPECT_EQ(types->size(), 12u);
    for (const auto& [name, tensor] : *types) {
        EXPECT_EQ(tensor.get(2), name == "bool" ? 1 : 2) << name;
        EXPECT_EQ(tensor.get(3), name == "bool" ? 1 : 100) << name;
    }
    EXPECT_EQ(types->at("uint16").dtype(), DType::kU16);

    const auto odd = read_safetensors(sample("odd.safetensors"));
    ASSERT_TRUE(odd.ok()) << odd.status().message();
    EXPECT_EQ(odd->at("empty").shape(), (Shape{0, 3}));
    EXPECT_EQ(odd->at("scalar").shape(), Shape{});
    EXPECT_EQ(odd->at("\xc3\xbcnicode").get(1), 1);
}

TEST(Safetensors, WhatIsWrittenIsReadTheSame) {
    NamedTensors tensors;
    for (int i = 0; i < kDTypeCount; ++i) {
        HostTensor t(static_cast<DType>(i), {2, 3});
        for (int64_t e = 0; e < 6; ++e) t.set(e, static_cast<double>(e) - 1);
        tensors.emplace("tensor \"" + std::to_string(i) + "\"\n", t);
    }
    tensors.emplace("none", HostTensor(DType::kF32, {3, 0}));
    const Metadata metadata{{"key", "tab\t\"and\" \\"}, {"other", ""}};
    const std::vector<std::byte> bytes = write_safetensors(tensors, metadata);
    Metadata found;
    const auto read = read_safetensors(bytes, &found);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, tensors);
    EXPECT_EQ(found, metadata);
    EXPECT_EQ(write_safetensors(*read, found), bytes);
    EXPECT_TRUE(read_safetensors(write_safetensors({})).ok());
}

TEST(Safetensors, TensorsOfUnknownTypesAreLeftOutByName) {
    const std::vector<std::byte> bytes =
        file_of(R"({"c":{"dtype":"C64","shape":[1],"data_offsets":[0,8]},)"
                R"("w":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                16);
    LeftOut left_out;
    const auto tensors = read_safetensors(bytes, nullptr, &left_out);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    EXPECT_EQ(tensors->size(), 1u);
    EXPECT_EQ(tensors->at("w").shape(), Shape{2});
    ASSERT_EQ(left_out.size(), 1u);
    EXPECT_EQ(left_out[0].name, "c");
    EXPECT_EQ(left_out[0].reason, "tensor 'c': element type 'C64'");
}

TEST(Safetensors, DataIsAligned) {
    const std::vector<std::byte> bytes = write_safetensors(
        {{"a", HostTensor(DType::kU8, {3})}, {"b", HostTensor(DType::kF64, {1})}});
    uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    EXPECT_EQ(header % 8, 0u);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, header);
    EXPECT_NE(text.find(R"("b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})"),
              std::string_view::npos)
        << text;
}

TEST(Safetensors, EachTruncationIsRejected) {
    for (const char* name : {"linear.safetensors", "types.safetensors", "odd.safetensors"}) {
        const std::vector<std::byte> whole = sample(name);
        ASSERT_FALSE(whole.empty());
        for (size_t size = 0; size < whole.size(); ++size) {
            const auto read = read_safetensors(std::span(whole).first(size));
            ASSERT_FALSE(read.ok()) << name << " " << size;
            EXPECT_EQ(read.status().code(), StatusCode::kCorruptData);
        }
    }
}

TEST(Safetensors, HalvesOfSurrogatePairsAreRefusedWhereverTheyStand) {
    const auto named = [](const std::string& name) {
        return message_of("{\"" + name + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                          0);
    };
    EXPECT_EQ(named("\\ud83d\\ude00"), "(no error)");
    EXPECT_NE(named("\\ude00").find("the first half of a surrogate pair"), std::string::npos)
        << named("\\ude00");
    EXPECT_NE(named("a\\udfff\\ud83d").find("the first half"), std::string::npos);
    EXPECT_NE(named("\\ud83d").find("the second half of a surrogate pair"), std::string::npos);
    EXPECT_NE(named("\\ud83d\\ud83d").find("the second half"), std::string::npos);
    EXPECT_NE(named("\\ud83dx").find("the second half"), std::string::npos);
}

TEST(Safetensors, HeadersThatLieAreRejectedWithTheFact) {
    const auto tensor = [](const std::string& shape, const std::string& offsets) {
        return R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
    };
    EXPECT_EQ(message_of(tensor("[2]", "[0,8]"), 8), "(no error)");
    EXPECT_EQ(message_of(tensor("[3]", "[0,8]"), 8),
              "safetensors: tensor 'w': f32[3] takes 12 bytes, the file has 8");
    EXPECT_NE(message_of(tensor("[2]", "[0,8]"), 12).find("end at byte 8 of 12"),
              std::string::npos);
    EXPECT_NE(message_of(tensor("[2]", "[4,12]"), 12).find("expected them from 0"),
              std::string::npos);
    EXPECT_NE(message_of(tensor("[2]", "[8,0]"), 8).find("bytes 8 to 0"), std::string::npos);
    EXPECT_NE(message_of(tensor("[2]", "[0,16]"), 8).find("bytes 0 to 16 of 8"), std::string::npos);
    EXPECT_NE(message_of(tensor("[4611686018427387904,4]", "[0,8]"), 8).find("too large"),
              std::string::npos);
    EXPECT_NE(message_of(tensor("[1,1,1,1,1,1,1,1,2]", "[0,8]"), 8).find("rank 9"),
              std::string::npos);
    EXPECT_NE(message_of(tensor("[-2]", "[0,8]"), 8).find("whole number"), std::string::npos);
    EXPECT_NE(message_of(R"({"w":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}})", 2)
                  .find("'F8_E4M3'"),
              std::string::npos);
    const auto refused = [](const std::string& fields) {
        return message_of(R"({"w":{"dtype":"F32",)" + fields + "}}", 8);
    };
    const std::string of = "safetensors: tensor 'w': ";
    EXPECT_EQ(refused(R"("shape":[2],"data_offsets":[0,8,8])"),
              of + "data_offsets must be two numbers");
    EXPECT_EQ(refused(R"("shape":[2],"data_offsets":[0])"),
              of + "data_offsets must be two numbers");
    EXPECT_EQ(refused(R"("data_offsets":[0,8])"), of + "needs dtype, shape and data_offsets");
    EXPECT_EQ(refused(R"("shape":[2],"data_offsets":[0,8],"more":[])"),
              of + "unknown field 'more'");
    // The bytes of the next tensor would begin where this one's begin.
    EXPECT_NE(message_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                         R"("b":{"dtype":"F32","shape":[0],"data_offsets":[8,4]}})",
                         8)
                  .find("tensor 'b' has the bytes 8 to 4 of 8, expected them from 8 on"),
              std::string::npos);
    EXPECT_EQ(message_of("{", 0), "safetensors: JSON: expected '\"' at byte 1");
    std::vector<std::byte> longer = file_of("{}", 0);
    longer[0] = std::byte{3};
    EXPECT_EQ(read_safetensors(longer).status().message(),
              "safetensors: its header of 3 bytes is longer than the 10 bytes there are; the file "
              "is truncated or damaged, copy it again");
    for (
        const char* header :
        {"", "{", "[]", "{}x", R"({"w":1})", R"({"w":{}})", R"({"w":{"dtype":"F32"}})",
         R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0],"more":[]}})",
         R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)",
         R"({"\ud800":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
         R"({"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"w":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})"})
        EXPECT_NE(message_of(header, 0), "(no error)") << header;
}

}  // namespace
}  // namespace hearth
