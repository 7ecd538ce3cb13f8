// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Models that keep tensors in other files.

#include "compiler/interpreter/interpreter.hpp"
#include "support/files.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/core/os_file.hpp>
#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::OnnxBuilder;

void set_entry(onnx::TensorProto& t, const std::string& key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *t.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
}

/// y = x + w, with w [4] in another file.
OnnxBuilder model_with(const std::string& location, const std::string& offset = "",
                       const std::string& length = "") {
    OnnxBuilder b;
    b.input("x", {4}).output("y");
    onnx::TensorProto w;
    w.set_name("w");
    w.set_data_type(onnx::TensorProto::FLOAT);
    w.add_dims(4);
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    set_entry(w, "location", location);
    if (!offset.empty()) set_entry(w, "offset", offset);
    if (!length.empty()) set_entry(w, "length", length);
    b.initializer(w);
    b.node("Add", {"x", "w"}, {"y"});
    return b;
}

std::vector<std::byte> eight_floats() {
    const std::vector<float> values{0, 1, 2, 3, 4, 5, 6, 7};
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

Result<ImportedModel> import_with_file(const OnnxBuilder& b) {
    const auto read = [](const std::string& location, uint64_t offset,
                         uint64_t size) -> Result<std::vector<std::byte>> {
        const std::vector<std::byte> all = eight_floats();
        if (offset > all.size() || size > all.size() - offset)
            return corrupt_data("no bytes " + std::to_string(offset) + " to " +
                                std::to_string(offset + size) + " in the file '" + location +
                                "', which has " + std::to_string(all.size()));
        const auto first = all.begin() + static_cast<ptrdiff_t>(offset);
        return std::vector<std::byte>(first, first + static_cast<ptrdiff_t>(size));
    };
    return import_onnx(b.bytes(), {.external_data = read});
}

std::string message_of(const OnnxBuilder& b) {
    const auto model = import_with_file(b);
    return model.ok() ? "(no error)" : model.status().message();
}

TEST(OnnxExternalData, OffsetAndLengthChooseTheBytes) {
    const auto model = import_with_file(model_with("w.data", "16", "16"));
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto y = evaluate(model->graph(), std::vector{HostTensor(DType::kF32, {4})});
    ASSERT_TRUE(y.ok());
    EXPECT_EQ((*y)[0], HostTensor::of({4}, std::vector<float>{4, 5, 6, 7}));
    EXPECT_TRUE(import_with_file(model_with("folder/./w.data")).ok());
}

TEST(OnnxExternalData, RangesOutsideTheFileAreRejected) {
    EXPECT_NE(message_of(model_with("w", "17", "16"))
                  .find("no bytes 17 to 33 in the file 'w', which has 32"),
              std::string::npos);
    for (const char* offset : {"18446744073709551615", "18446744073709551600", "33", "-1", "1x",
                               "99999999999999999999999"})
        EXPECT_EQ(import_with_file(model_with("w", offset)).status().code(),
                  StatusCode::kCorruptData)
            << offset;
    EXPECT_NE(message_of(model_with("w", "0", "12")).find("takes 16 bytes"), std::string::npos);
}

TEST(OnnxExternalData, PathsOutOfTheFolderAreRejected) {
    for (const char* location :
         {"../w", "a/../../w", "/etc/passwd", "..", "", "C:/w", "a\\..\\w", "a/.."})
        EXPECT_NE(message_of(model_with(location)).find("not a path inside the model's folder"),
                  std::string::npos)
            << location;
    EXPECT_NE(message_of(model_with(std::string("a\0b", 3))).find("not a path inside"),
              std::string::npos);
}

TEST(OnnxExternalData, OneFileCannotFillTheMemory) {
    OnnxBuilder b = model_with("w.data", "0", "16");
    for (int i = 0; i < 8; ++i) {
        onnx::TensorProto copy = b.graph().initializer(0);
        copy.set_name("copy" + std::to_string(i));
        b.initializer(copy);
    }
    EXPECT_NE(
        message_of(b).find("more than 4 times the bytes that they refer to in the file 'w.data'"),
        std::string::npos)
        << message_of(b);
}

class OnnxFile : public ::testing::Test {
  protected:
    void SetUp() override {
        root_ =
            fs::temp_directory_path() / ("hearth_onnx_" + std::to_string(os::unlikely_number()));
        fs::create_directories(root_ / "model");
        write("outside.data", eight_floats());
        write("model/inside.data", eight_floats());
#if !defined(_WIN32)  // its library makes no links
        fs::create_symlink("../outside.data", root_ / "model/link.data");
        fs::create_symlink("..", root_ / "model/up");
        fs::create_symlink("inside.data", root_ / "model/harmless.data");
#endif
    }
    void TearDown() override {
        fs::remove_all(root_);
    }

    void write(const std::string& name, const std::vector<std::byte>& bytes) {
        std::ofstream(root_ / name, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    Status import_model(const OnnxBuilder& b) {
        write("model/net.onnx", b.bytes());
        return import_onnx_file((root_ / "model/net.onnx").string()).status();
    }
    fs::path root_;
};

TEST_F(OnnxFile, FilesBesideTheModelAreReadAndLinksOutOfItsFolderAreNot) {
    EXPECT_TRUE(import_model(model_with("inside.data")).ok());
    EXPECT_EQ(import_model(model_with("absent.data")).code(), StatusCode::kNotFound);
    EXPECT_EQ(import_onnx_file((root_ / "no.onnx").string()).status().code(),
              StatusCode::kNotFound);
#if !defined(_WIN32)
    EXPECT_TRUE(import_model(model_with("harmless.data")).ok());
    for (const char* location : {"link.data", "up/outside.data", "up/model/../outside.data"}) {
        const Status status = import_model(model_with(location));
        EXPECT_FALSE(status.ok()) << location;
    }
    EXPECT_NE(import_model(model_with("link.data")).message().find("link that leads outside"),
              std::string::npos);
#endif
}

TEST_F(OnnxFile, RangesOutsideAFileAreRejectedBeforeItIsRead) {
    EXPECT_TRUE(import_model(model_with("inside.data", "16", "16")).ok());
    for (const char* offset : {"17", "32", "33", "1000"}) {
        const std::string text = import_model(model_with("inside.data", offset, "16")).message();
        EXPECT_NE(text.find(std::string("its data is at the bytes ") + offset + " to " +
                            std::to_string(std::atoi(offset) + 16) +
                            " of the file 'inside.data', which has 32"),
                  std::string::npos)
            << text;
    }
}

}  // namespace
}  // namespace hearth
