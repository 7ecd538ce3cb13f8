// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes .npy files (numpy/lib/format.py): magic, version, header length, the header as a
// Python dictionary in text, the elements.

#include "import/data/npy.hpp"

#include "core/bytes.hpp"

#include <hearth/core/extents.hpp>

#include <charconv>
#include <string>

namespace hearth {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyType {
    DType dtype;
    std::string_view descr;
};

constexpr NpyType kNpyTypes[] = {{DType::kF32, "<f4"}, {DType::kF16, "<f2"}, {DType::kF64, "<f8"},
                                 {DType::kI8, "|i1"},  {DType::kU8, "|u1"},  {DType::kI16, "<i2"},
                                 {DType::kU16, "<u2"}, {DType::kI32, "<i4"}, {DType::kU32, "<u4"},
                                 {DType::kI64, "<i8"}, {DType::kU64, "<u8"}, {DType::kBool, "|b1"}};

/// The text after 'key': in a Python dictionary, from the first non-space character.
std::string_view value_of(std::string_view header, std::string_view key) {
    const size_t at = header.find("'" + std::string(key) + "'");
    if (at == std::string_view::npos) return {};
    const size_t colon = header.find(':', at);
    if (colon == std::string_view::npos) return {};
    const size_t from = header.find_first_not_of(' ', colon + 1);
    return from == std::string_view::npos ? std::string_view() : header.substr(from);
}

/// Parses a tuple such as "(2, 3)" as a shape.
Result<Shape> parse_tuple(std::string_view text) {
    const size_t end = text.find(')');
    if (!text.starts_with('(') || end == std::string_view::npos)
        return corrupt_data("npy: the shape is no tuple");
    Shape shape;
    size_t at = 1;
    while (at < end) {
        if (text[at] == ' ' || text[at] == ',') {
            ++at;
            continue;
        }
        int64_t extent = 0;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, extent);
        if (error != std::errc() || extent < 0) return corrupt_data("npy: an impossible extent");
        if (shape.rank() == kMaxRank)
            return unsupported("npy: more than " + std::to_string(kMaxRank) + " dimensions");
        shape.push_back(Dim(extent));
        at = static_cast<size_t>(stop - text.data());
    }
    if (Status s = check_extents(shape); !s.ok()) return s.with_context("npy");
    return shape;
}

/// Computes the size of a tensor in bytes; returns false if it exceeds `limit`.
bool byte_count(DType dtype, const Shape& shape, uint64_t limit, uint64_t* bytes) {
    *bytes = size_bytes(dtype);
    for (Dim d : shape.dims())
        if (d.count == 0) return *bytes = 0, true;
    for (Dim d : shape.dims()) {
        if (*bytes > limit / static_cast<uint64_t>(d.count)) return false;
        *bytes *= static_cast<uint64_t>(d.count);
    }
    return *bytes <= limit;
}

}  // namespace

Result<HostTensor> read_npy(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    if (in.text(kNpyMagic.size()) != kNpyMagic) return corrupt_data("npy: not a .npy file");
    const auto major = in.number<uint8_t>();
    (void)in.number<uint8_t>();
    if (major < 1 || major > 3) return unsupported("npy: format version " + std::to_string(major));
    const uint64_t size = major == 1 ? in.number<uint16_t>() : in.number<uint32_t>();
    const std::string_view header = in.text(size);
    if (in.failed()) return corrupt_data("npy: ends within its header");
    if (!value_of(header, "fortran_order").starts_with("False"))
        return unsupported("npy: only C order can be read");
    const std::string_view descr = value_of(header, "descr");
    HEARTH_ASSIGN(const Shape shape, parse_tuple(value_of(header, "shape")));
    for (const NpyType& type : kNpyTypes) {
        if (!descr.starts_with("'" + std::string(type.descr) + "'")) continue;
        uint64_t expected = 0;
        if (!byte_count(type.dtype, shape, in.left(), &expected) || expected != in.left())
            return corrupt_data("npy: " + to_string(shape) + " elements of '" +
                                std::string(type.descr) + "' do not take the " +
                                std::to_string(in.left()) + " bytes that there are");
        HostTensor tensor(type.dtype, shape);
        const std::span<const std::byte> data = in.take(expected);
        std::copy(data.begin(), data.end(), tensor.bytes().begin());
        return tensor;
    }
    return unsupported("npy: element type " + shown(descr.substr(0, descr.find(','))));
}

std::vector<std::byte> write_npy(const HostTensor& tensor) {
    if (tensor.dtype() == DType::kBF16) return write_npy(tensor.cast(DType::kF32));
    std::string_view descr;
    for (const NpyType& type : kNpyTypes)
        if (type.dtype == tensor.dtype()) descr = type.descr;
    std::string shape;
    for (Dim d : tensor.shape().dims()) shape += std::to_string(d.count) + ",";
    std::string header = "{'descr': '" + std::string(descr) +
                         "', 'fortran_order': False, 'shape': (" + shape + "), }";
    constexpr size_t kAlignment = 64, kBefore = 10;
    while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
    header += '\n';
    ByteWriter out;
    out.text(kNpyMagic).number(uint8_t{1}).number(uint8_t{0});
    out.number(static_cast<uint16_t>(header.size())).text(header).bytes(tensor.bytes());
    return out.finish();
}

}  // namespace hearth
