// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Lays out a brain file.

#include "program/brain_writer.hpp"

#include <algorithm>
#include <cstring>

namespace hearth {

BrainWriter::BrainWriter(const file::BrainHeader& header, std::span<std::byte> out)
    : out_(out), header_(header) {
    header_.magic = file::kBrainMagic;
    header_.format_version = file::kBrainFormatVersion;
    header_.texts_offset = sizeof header_ + header_.tensor_count * sizeof(file::BrainTensorRecord);
    at_ = header_.texts_offset + header_.texts_bytes;
    pad();
}

void BrainWriter::add(file::BrainTensorRecord record, std::string_view name) {
    record.name = {static_cast<uint32_t>(text_), static_cast<uint32_t>(name.size())};
    record.offset = at_;
    std::memcpy(out_.data() + header_.texts_offset + text_, name.data(), name.size());
    std::memcpy(out_.data() + sizeof header_ + index_ * sizeof record, &record, sizeof record);
    text_ += name.size();
    at_ += record.stored_bytes;
    ++index_;
    pad();
}

uint64_t BrainWriter::finish(std::span<const std::byte> host_data) {
    header_.host_offset = at_;
    header_.host_bytes = host_data.size();
    std::ranges::copy(host_data, room().begin());
    header_.total_bytes = at_ + host_data.size();
    std::memcpy(out_.data(), &header_, sizeof header_);
    header_.checksum = brain_checksum(out_.first(header_.total_bytes));
    std::memcpy(out_.data(), &header_, sizeof header_);
    return header_.total_bytes;
}

void BrainWriter::pad() {
    const uint64_t end = align_brain_bytes(at_);
    std::ranges::fill(out_.subspan(at_, end - at_), std::byte{0});
    at_ = end;
}

}  // namespace hearth
