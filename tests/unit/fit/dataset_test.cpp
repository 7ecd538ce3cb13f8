// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Data sets from arrays, CSV, .npz and folders of images.  tests/data/fit/make_files.py wrote the files,
// by NumPy, Python's zlib and csv.

#include "import/archive/inflate.hpp"
#include "import/archive/zip.hpp"
#include "import/data/npy.hpp"

#include <hearth/dataset.hpp>
#include <hearth/file.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

namespace hearth {
namespace {

const std::string kData = HEARTH_FIT_DATA;

std::string error_of(const Result<Dataset>& data) {
    return data.ok() ? "no error" : data.status().message();
}

std::vector<double> values_of(const HostTensor& tensor) {
    std::vector<double> values;
    for (int64_t i = 0; i < tensor.element_count(); ++i) values.push_back(tensor.get(i));
    return values;
}

TEST(Dataset, ArraysBecomeSamples) {
    const HostTensor x = HostTensor::of({2, 2}, std::vector<double>{1, 2, 3, 4}, DType::kU8);
    const auto labels =
        make_dataset(x, HostTensor::of({2}, std::vector<double>{1, 0}, DType::kI64));
    ASSERT_TRUE(labels.ok()) << labels.status().message();
    EXPECT_TRUE(labels->has_labels());
    EXPECT_EQ(labels->inputs.dtype(), DType::kF32);
    const auto numbers = make_dataset(x, HostTensor::of({2}, std::vector<double>{0.5, 1}));
    ASSERT_TRUE(numbers.ok());
    EXPECT_EQ(numbers->targets.shape(), Shape({2, 1}));
    const std::vector<int64_t> second = {1};
    EXPECT_EQ(values_of(labels->pick(second).inputs), (std::vector<double>{3, 4}));
    EXPECT_EQ(values_of(labels->pick(second).targets), (std::vector<double>{0}));
}

TEST(Dataset, WrongArraysAreNamed) {
    const auto x = [](double bad) {
        return HostTensor::of({2, 2}, std::vector<double>{1, 2, bad, 4});
    };
    const HostTensor y = HostTensor::of({2}, std::vector<double>{0, 1}, DType::kI32);
    EXPECT_EQ(error_of(make_dataset(HostTensor(DType::kF32, {0, 2}), y)),
              "data set: no samples: inputs are [0, 2], expected [n, ...] with n at least 1");
    EXPECT_EQ(error_of(make_dataset(x(3), HostTensor(DType::kI32, {3}))),
              "data set: inputs [2, 2] have 2 samples, targets [3] have 3");
    EXPECT_EQ(error_of(make_dataset(x(NAN), y)),
              "data set: sample 1, input 0: NaN, expected a finite number; remove the sample or "
              "replace it");
    EXPECT_EQ(error_of(make_dataset(x(3), HostTensor::of({2}, std::vector<double>{1, INFINITY}))),
              "data set: sample 1, target 0: infinity, expected a finite number; remove the sample "
              "or replace it");
    EXPECT_EQ(error_of(make_dataset(x(3), y, {"only"})),
              "data set: sample 1 has the label 1, expected 0 to 0");
    EXPECT_EQ(
        error_of(make_dataset(x(3), HostTensor::of({2}, std::vector<double>{0, -1}, DType::kI64))),
        "data set: sample 1 has the label -1, expected 0 to the number of classes - 1");
}

TEST(Dataset, SplitsAndOrdersDependOnTheSeedAlone) {
    std::vector<double> numbers(100);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
    const auto data =
        make_dataset(HostTensor::of({100, 1}, numbers), HostTensor::of({100}, numbers));
    ASSERT_TRUE(data.ok());
    const auto [train, validation] = split(*data, 0.2, 3);
    EXPECT_EQ(train.size(), 80);
    EXPECT_EQ(validation.size(), 20);
    EXPECT_EQ(values_of(split(*data, 0.2, 3).second.inputs), values_of(validation.inputs));
    EXPECT_NE(values_of(split(*data, 0.2, 4).second.inputs), values_of(validation.inputs));
    std::multiset<double> all;
    for (const Dataset* part : {&train, &validation}) {
        EXPECT_EQ(values_of(part->inputs), values_of(part->targets)) << "pairs stay together";
        for (const double value : values_of(part->inputs)) all.insert(value);
    }
    EXPECT_TRUE(std::equal(all.begin(), all.end(), numbers.begin(), numbers.end()));
    const std::vector<int64_t> order = shuffled_indices(100, 1, 1);
    EXPECT_EQ(order, shuffled_indices(100, 1, 1));
    EXPECT_NE(order, shuffled_indices(100, 1, 2));
    EXPECT_NE(order, shuffled_indices(100, 2, 1));
}

TEST(Csv, ColumnsAreFoundByNameAndPosition) {
    const std::string text =
        "\xef\xbb\xbfwidth, species,\"height, cm\"\r\n# a "
        "comment\n1,setosa,2.5\r\n\n3e1,virginica,-4\n"
        "5,setosa,6\n";
    const auto flowers = read_csv(text, {.targets = {"species"}, .labels = true});
    ASSERT_TRUE(flowers.ok()) << flowers.status().message();
    EXPECT_EQ(values_of(flowers->inputs), (std::vector<double>{1, 2.5, 30, -4, 5, 6}));
    EXPECT_EQ(values_of(flowers->targets), (std::vector<double>{0, 1, 0}));
    EXPECT_EQ(flowers->classes, (std::vector<std::string>{"setosa", "virginica"}));
    const auto known = read_csv(
        text,
        {.targets = {"species"}, .labels = true, .classes = {"other", "virginica", "setosa"}});
    ASSERT_TRUE(known.ok());
    EXPECT_EQ(values_of(known->targets), (std::vector<double>{2, 1, 2}));
    const auto numbers = read_csv("1;2;3\n4;5;6\n", {.targets = {"2", "0"}, .delimiter = ';'});
    ASSERT_TRUE(numbers.ok()) << numbers.status().message();
    EXPECT_EQ(values_of(numbers->inputs), (std::vector<double>{2, 5}));
    EXPECT_EQ(values_of(numbers->targets), (std::vector<double>{3, 1, 6, 4}));
    const auto last = read_csv("1,0\n2,7\n", {.labels = true});
    ASSERT_TRUE(last.ok());
    EXPECT_EQ(values_of(last->targets), (std::vector<double>{0, 7}));
    EXPECT_TRUE(last->classes.empty());
}

TEST(Csv, WrongFilesAreNamedWithLineAndColumn) {
    EXPECT_EQ(error_of(read_csv("1,2,3\n4,5\n")),
              "csv: line 2: expected 3 fields as in line 1, found 2");
    EXPECT_EQ(error_of(read_csv("a,b\n1,2\n# x\n1,zwei\n")),
              "csv: line 4: column b: expected a finite number, found 'zwei'");
    EXPECT_EQ(error_of(read_csv("1,2\nnan,2\n")),
              "csv: line 2: column 0: expected a finite number, found 'nan'");
    EXPECT_EQ(error_of(read_csv("1,2\n,2\n")),
              "csv: line 2: column 0: expected a finite number, found ''");
    EXPECT_EQ(error_of(read_csv("a,b\n1,2\n", {.targets = {"c"}})),
              "csv: no column is named 'c'; there are 2: a, b");
    EXPECT_EQ(error_of(read_csv("1,2\n", {.targets = {"2"}})),
              "csv: no column is named '2'; there are 2, numbered from 0");
    EXPECT_EQ(error_of(read_csv("\n# only this\n")), "csv: no samples: the file has no lines");
    EXPECT_EQ(error_of(read_csv("a,b\n")), "csv: no samples: the file has names of columns only");
    EXPECT_EQ(error_of(read_csv("1,\"2\n")), "csv: line 1: a quoted field has no end");
    EXPECT_EQ(error_of(read_csv("1,\"2\"x\n")), "csv: line 1: text follows a quoted field");
    EXPECT_EQ(error_of(read_csv("1\n2\n")),
              "csv: all 1 columns are targets, which leaves no inputs");
    EXPECT_EQ(error_of(read_csv("1,-3\n2,0\n", {.labels = true})),
              "data set: sample 0 has the label -3, expected 0 to the number of classes - 1");
    EXPECT_EQ(error_of(read_csv("1,a\n2,b\n", {.labels = true, .classes = {"b", "c"}})),
              "data set: sample 0 has the class 'a', expected one of: b, c");
}

TEST(Npz, FilesOfNumpyAreRead) {
    for (const char* const name : {"stored.npz", "deflated.npz"}) {
        const auto data = load_dataset(kData + "/" + name, {.labels = true});
        ASSERT_TRUE(data.ok()) << data.status().message();
        EXPECT_EQ(data->inputs.shape(), Shape({50, 3}));
        for (int64_t i = 0; i < 150; ++i)
            EXPECT_EQ(data->inputs.get(i), static_cast<double>(i % 7));
        for (int64_t i = 0; i < 50; ++i)
            EXPECT_EQ(data->targets.get(i), static_cast<double>(i % 5)) << i;
        const auto other = load_dataset(kData + "/" + name, {.targets = {"z"}});
        ASSERT_TRUE(other.ok()) << other.status().message();
        EXPECT_EQ(other->targets.get(49), 24.5);
    }
}

TEST(Npz, DamagedFilesAreNamed) {
    auto bytes = read_whole_file(kData + "/deflated.npz");
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(error_of(read_npz(*bytes, {.inputs = "images"})),
              "npz: no array is named 'images'; there are: x, y, z");
    EXPECT_EQ(error_of(read_npz(*bytes, {.targets = {"z"}, .labels = true})),
              "npz: labels are f32, expected an integer type");
    EXPECT_EQ(error_of(read_npz(std::span(*bytes).first(bytes->size() - 30))),
              "npz: has no directory at its end; the file is truncated, copy it again");
    // Every byte of the first member's compressed data is covered by code, length or checksum.
    constexpr size_t kFirst = 60, kLast = 120;
    for (size_t at = kFirst; at < kLast; ++at) {
        std::vector<std::byte> damaged = *bytes;
        damaged[at] ^= std::byte{0x10};
        EXPECT_NE(error_of(read_npz(damaged, {.labels = true})), "no error") << at;
    }
}

TEST(Images, FoldersAreClasses) {
    const auto data = load_dataset(kData + "/images");
    ASSERT_TRUE(data.ok()) << data.status().message();
    EXPECT_EQ(data->inputs.shape(), Shape({5, 3, 2, 4}));
    EXPECT_EQ(data->classes, (std::vector<std::string>{"cat", "dog"}));
    EXPECT_EQ(values_of(data->targets), (std::vector<double>{0, 0, 1, 1, 1}));
    // The same pixels as PNG with each filter, of 16 bits, with a palette, and PPM: value =
    // position * 10.
    for (int64_t i = 0; i < 5; ++i)
        for (int64_t channel = 0; channel < 3; ++channel)
            for (int64_t pixel = 0; pixel < 8; ++pixel)
                EXPECT_FLOAT_EQ(static_cast<float>(data->inputs.get((i * 3 + channel) * 8 + pixel)),
                                static_cast<float>((pixel * 3 + channel) * 10) / 255)
                    << i;
}

TEST(Images, WrongFilesAreNamed) {
    EXPECT_EQ(error_of(load_dataset(kData + "/sizes")),
              "'" + kData +
                  "/sizes/b/large.pgm' is [1, 3, 2] (channels, height, width), expected "
                  "[1, 2, 2] as '" +
                  kData + "/sizes/a/small.pgm'; images of a data set have one size");
    EXPECT_EQ(error_of(load_dataset(kData + "/formats")),
              "'" + kData +
                  "/formats/a/photo.jpg': image: JPEG, expected PNG, PGM (P5) or PPM "
                  "(P6); convert it");
    EXPECT_NE(error_of(load_dataset(kData + "/sizes/a")).find("has no images"), std::string::npos);
    const auto png = read_whole_file(kData + "/images/cat/filters.png");
    ASSERT_TRUE(png.ok());
    const size_t end = png->size() - 12;  // the last chunk is empty, and is not read
    for (size_t size = 8; size < end; ++size)
        EXPECT_FALSE(read_image(std::span(*png).first(size)).ok()) << size;
    for (size_t at = 8; at < end; ++at) {
        std::vector<std::byte> damaged = *png;
        damaged[at] ^= std::byte{1};
        EXPECT_FALSE(read_image(damaged).ok()) << at;  // each chunk has a checksum
    }
}

TEST(Images, SizesThatAFileCannotHoldAreRefusedBeforeTheyAreAllocated) {
    auto png = read_whole_file(kData + "/images/cat/filters.png");
    ASSERT_TRUE(png.ok());
    constexpr size_t kHeader = 12, kWidth = 16, kHeight = 20, kChecksum = 29;
    for (const size_t at : {kWidth, kHeight}) (*png)[at + 2] = std::byte{0x75};  // 29,952 and more
    const uint32_t sum = crc32(std::span(*png).subspan(kHeader, kChecksum - kHeader));
    for (size_t i = 0; i < 4; ++i)
        (*png)[kChecksum + i] = static_cast<std::byte>(sum >> (24 - 8 * i));
    const auto image = read_image(*png);
    EXPECT_EQ(image.status().code(), StatusCode::kOutOfRange);
    EXPECT_TRUE(image.status().message().starts_with(
        "png: 29956 x 29954 pixels take 2691906072 bytes, expected at most 1677"))
        << image.status().message();
}

TEST(Inflate, StreamsThatHoldOtherSizesAreRefused) {
    const auto stream = read_whole_file(kData + "/repeats.deflate");
    ASSERT_TRUE(stream.ok());
    const auto found = inflate(*stream, 100'000);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (size_t i = 0; i < found->size(); ++i)
        ASSERT_EQ((*found)[i], static_cast<std::byte>(i / 1000 % 251 + i % 3)) << i;
    EXPECT_EQ(inflate(*stream, 99'999).status().message(),
              "its compressed data holds more than the 99999 bytes that it describes");
    EXPECT_EQ(inflate(*stream, 100'001).status().message(),
              "its compressed data holds 100000 bytes, expected 100001");
    for (size_t size = 0; size < stream->size(); ++size)
        EXPECT_FALSE(inflate(std::span(*stream).first(size), 100'000).ok());
    EXPECT_EQ(inflate(std::span(*stream).first(10), 1 << 30).status().message(),
              "its 10 bytes of compressed data cannot hold the 1073741824 bytes that it describes");
    EXPECT_EQ(inflate(std::span(*stream).first(20), 20'000).status().message(),
              "its compressed data is damaged: truncated");
}

}  // namespace
}  // namespace hearth
