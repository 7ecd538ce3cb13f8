// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes .safetensors: u64 length of the header, the header in JSON, the data.
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...,
//    "__metadata__": {"key": "text"}}
// Follows the format description of the safetensors library (version 0.4).

#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"
#include "import/safetensors/json.hpp"

#include <hearth/core/extents.hpp>
#include <hearth/weights.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace hearth {

namespace {

constexpr std::string_view kMetadata = "__metadata__";
constexpr size_t kAlignment = 8;  // of the data section in the file

// Indexed by DType.
constexpr std::array<std::string_view, kDTypeCount> kTypeNames = {
    "F32", "F16", "BF16", "F64", "I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "BOOL"};

std::optional<DType> type_named(std::string_view name) {
    const auto at = std::find(kTypeNames.begin(), kTypeNames.end(), name);
    if (at == kTypeNames.end()) return {};
    return static_cast<DType>(at - kTypeNames.begin());
}

std::string_view name_of_type(DType dtype) {
    return kTypeNames[static_cast<size_t>(dtype)];
}

/// A tensor as described in the header.
struct Entry {
    std::string name;
    std::string dtype;
    std::vector<int64_t> extents;
    uint64_t begin = 0, end = 0;
};

Result<Entry> read_entry(JsonReader& json, const std::string& name) {
    Entry entry{name, {}, {}, 0, 0};
    int fields = 0;
    HEARTH_TRY(json.object([&](const std::string& key) -> Status {
        ++fields;
        if (key == "dtype") {
            HEARTH_ASSIGN(entry.dtype, json.text());
        } else if (key == "shape") {
            HEARTH_ASSIGN(entry.extents, json.numbers());
        } else if (key == "data_offsets") {
            HEARTH_ASSIGN(const std::vector<int64_t> range, json.numbers());
            if (range.size() != 2) return corrupt_data("data_offsets must be two numbers");
            entry.begin = static_cast<uint64_t>(range[0]);
            entry.end = static_cast<uint64_t>(range[1]);
        } else {
            return corrupt_data("unknown field " + quoted(key));
        }
        return {};
    }));
    if (fields != 3) return corrupt_data("needs dtype, shape and data_offsets");
    return entry;
}

Result<std::vector<Entry>> read_header(std::string_view header, Metadata* metadata) {
    std::vector<Entry> entries;
    JsonReader json(header);
    HEARTH_TRY(json.object([&](const std::string& name) -> Status {
        if (name == kMetadata)
            return json.object([&](const std::string& key) -> Status {
                HEARTH_ASSIGN(std::string value, json.text());
                if (metadata != nullptr) (*metadata)[key] = std::move(value);
                return {};
            });
        Result<Entry> entry = read_entry(json, name);
        if (!entry.ok()) return entry.status().with_context("tensor " + quoted(name));
        entries.push_back(std::move(*entry));
        return {};
    }));
    HEARTH_TRY(json.end());
    return entries;
}

/// Checks that tensors are contiguous and end at the end of the data.
Status check_layout(std::vector<Entry>& entries, uint64_t size) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    uint64_t at = 0;
    for (const Entry& e : entries) {
        if (e.begin != at || e.end < e.begin || e.end > size)
            return corrupt_data("tensor " + quoted(e.name) + " has the bytes " +
                                std::to_string(e.begin) + " to " + std::to_string(e.end) + " of " +
                                std::to_string(size) + ", expected them from " +
                                std::to_string(at) + " on");
        at = e.end;
    }
    if (at == size) return {};
    return corrupt_data("the tensors end at byte " + std::to_string(at) + " of " +
                        std::to_string(size));
}

Result<HostTensor> read_tensor(const Entry& entry, std::span<const std::byte> data) {
    const std::optional<DType> dtype = type_named(entry.dtype);
    if (!dtype) return unsupported("element type " + quoted(entry.dtype));
    HEARTH_ASSIGN(const Shape shape, checked_shape(entry.extents));
    const uint64_t expected = static_cast<uint64_t>(shape.element_count(1)) * size_bytes(*dtype);
    if (expected != entry.end - entry.begin)
        return corrupt_data(std::string(name_of(*dtype)) + to_string(shape) + " takes " +
                            std::to_string(expected) + " bytes, the file has " +
                            std::to_string(entry.end - entry.begin));
    HostTensor tensor(*dtype, shape);
    const auto from = data.subspan(static_cast<size_t>(entry.begin), static_cast<size_t>(expected));
    std::copy(from.begin(), from.end(), tensor.bytes().begin());
    return tensor;
}

Result<NamedTensors> read_file(std::span<const std::byte> bytes, Metadata* metadata,
                               LeftOut* left_out) {
    ByteReader reader(bytes);
    const auto header_size = reader.number<uint64_t>();
    const std::string_view header = reader.text(header_size);
    if (reader.failed())
        return corrupt_data("its header of " + std::to_string(header_size) +
                            " bytes is longer than the " + std::to_string(bytes.size()) +
                            " bytes there are; the file is truncated or damaged, copy it again");
    HEARTH_ASSIGN(std::vector<Entry> entries, read_header(header, metadata));
    const std::span<const std::byte> data = reader.take(reader.left());
    HEARTH_TRY(check_layout(entries, data.size()));
    NamedTensors tensors;
    Status first_left_out;
    for (const Entry& entry : entries) {
        Result<HostTensor> tensor = read_tensor(entry, data);
        if (tensor.ok()) {
            tensors.emplace(entry.name, std::move(*tensor));
            continue;
        }
        const Status status = tensor.status().with_context("tensor " + quoted(entry.name));
        if (status.code() != StatusCode::kUnsupported) return status;
        if (first_left_out.ok()) first_left_out = status;
        if (left_out != nullptr) left_out->push_back({entry.name, status.message()});
    }
    if (tensors.empty() && !first_left_out.ok()) return first_left_out;
    return tensors;
}

}  // namespace

Result<NamedTensors> read_safetensors(std::span<const std::byte> bytes, Metadata* metadata,
                                      LeftOut* left_out) {
    return or_out_of_memory([&]() -> Result<NamedTensors> {
        Result<NamedTensors> tensors = read_file(bytes, metadata, left_out);
        if (!tensors.ok()) return tensors.status().with_context("safetensors");
        return tensors;
    });
}

std::vector<std::byte> write_safetensors(const NamedTensors& tensors, const Metadata& metadata) {
    // Widest elements first, so that all tensors are aligned.
    std::vector<NamedTensors::const_iterator> order;
    for (auto at = tensors.begin(); at != tensors.end(); ++at) order.push_back(at);
    std::stable_sort(order.begin(), order.end(), [](auto a, auto b) {
        return size_bytes(a->second.dtype()) > size_bytes(b->second.dtype());
    });

    std::string header = "{";
    if (!metadata.empty()) {
        header += json_text(kMetadata) + ":{";
        for (const auto& [key, value] : metadata)
            header += (header.back() == '{' ? "" : ",") + json_text(key) + ":" + json_text(value);
        header += "}";
    }
    uint64_t at = 0;
    for (const auto& entry : order) {
        const auto& [name, tensor] = *entry;
        std::string extents;
        for (Dim d : tensor.shape().dims())
            extents += (extents.empty() ? "" : ",") + std::to_string(d.count);
        const uint64_t end = at + tensor.bytes().size();
        header += (header.size() == 1 ? "" : ",") + json_text(name) + ":{\"dtype\":\"" +
                  std::string(name_of_type(tensor.dtype())) + "\",\"shape\":[" + extents +
                  "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
        at = end;
    }
    header += "}";
    header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');

    ByteWriter writer;
    const uint64_t header_bytes = header.size();
    writer.number(header_bytes);
    writer.text(header);
    for (const auto& entry : order) writer.bytes(entry->second.bytes());
    return writer.finish();
}

}  // namespace hearth
