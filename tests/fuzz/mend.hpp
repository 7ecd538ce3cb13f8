// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth's own formats under mutation: what was changed gets checksums that are right again, or
// nothing behind them would ever be reached; and changes that know where the records lie.

#pragma once

#include "core/checksum.hpp"
#include "fuzz_target.hpp"
#include "program/brain.hpp"
#include "program/package.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::fuzz {

/// Small, repeatable and good enough.
class Random {
  public:
    explicit Random(uint32_t seed) : state_(seed * 2654435769u + 1) {}
    uint32_t bits() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        return state_ ^= state_ << 5;
    }
    size_t below(size_t n) { return n == 0 ? 0 : bits() % n; }

  private:
    uint32_t state_;
};

/// The record at `at`, or a default one if the bytes end before.
template <class T>
T record_at(std::span<const std::byte> bytes, size_t at) {
    T record{};
    if (at <= bytes.size() && sizeof record <= bytes.size() - at)
        std::memcpy(&record, bytes.data() + at, sizeof record);
    return record;
}
inline void put(std::span<std::byte> bytes, size_t at, const void* value, size_t size) {
    if (at <= bytes.size() && size <= bytes.size() - at)
        std::memcpy(bytes.data() + at, value, size);
}

inline void mend_program(std::span<std::byte> program) {
    if (program.size() < sizeof(file::FileHeader)) return;
    const uint64_t sum = checksum(program.subspan(file::kChecksumEnd));
    put(program, offsetof(file::FileHeader, checksum), &sum, sizeof sum);
}

inline void mend_package(std::span<std::byte> bytes) {
    auto header = record_at<file::PackageHeader>(bytes, 0);
    const size_t sections = sizeof header;
    const uint64_t count = std::min(header.section_count, file::kMaxPackageSections);
    for (uint64_t i = 0; i < count; ++i) {
        const size_t at = sections + i * sizeof(file::PackageSectionRecord);
        if (at + sizeof(file::PackageSectionRecord) > bytes.size()) return;
        auto record = record_at<file::PackageSectionRecord>(bytes, at);
        if (record.offset > bytes.size() || record.bytes > bytes.size() - record.offset) continue;
        const std::span<std::byte> section = bytes.subspan(record.offset, record.bytes);
        if (static_cast<file::PackageSectionKind>(record.kind) ==
            file::PackageSectionKind::kProgram)
            mend_program(section);
        record.checksum = checksum(section);
        put(bytes, at, &record, sizeof record);
    }
    const uint64_t end = sections + count * sizeof(file::PackageSectionRecord) +
                         uint64_t{header.device_target_count} * sizeof(file::DeviceTargetRecord);
    const size_t begin = offsetof(file::PackageHeader, checksum) + sizeof(uint64_t);
    if (end > bytes.size() || end < begin) return;
    header.checksum = checksum(bytes.subspan(begin, static_cast<size_t>(end) - begin));
    put(bytes, 0, &header, sizeof header);
}

/// Tensors that are stored as they are get right checksums too.
inline void mend_brain(std::span<std::byte> bytes) {
    constexpr size_t kSum = offsetof(file::BrainHeader, checksum);
    if (bytes.size() < sizeof(file::BrainHeader)) return;
    const auto header = record_at<file::BrainHeader>(bytes, 0);
    for (size_t i = 0; i < header.tensor_count; ++i) {
        const size_t at = sizeof header + i * sizeof(file::BrainTensorRecord);
        if (at + sizeof(file::BrainTensorRecord) > bytes.size()) break;
        auto tensor = record_at<file::BrainTensorRecord>(bytes, at);
        if (tensor.encoding != static_cast<uint32_t>(file::BrainEncoding::kRaw) ||
            tensor.offset > bytes.size() || tensor.stored_bytes > bytes.size() - tensor.offset)
            continue;
        tensor.checksum = checksum(bytes.subspan(static_cast<size_t>(tensor.offset),
                                                 static_cast<size_t>(tensor.stored_bytes)));
        put(bytes, at, &tensor, sizeof tensor);
    }
    const uint64_t sum = checksum(bytes.subspan(kSum + sizeof(uint64_t)));
    put(bytes, kSum, &sum, sizeof sum);
}

/// Changes one word of `record`, the way that numbers in tables go wrong; `other` is a record of
/// the same table.
inline void change_word(std::span<std::byte> record, std::span<const std::byte> other,
                        Random& random) {
    if (record.size() < 4) {
        if (!record.empty()) record[0] = std::byte(random.bits() & 255);
        return;
    }
    const size_t at = 4 * random.below(record.size() / 4);
    auto word = record_at<uint32_t>(record, at);
    constexpr uint32_t kEdges[] = {
        0,          1,          2,     3,          4,          7,          16,         64,
        0x7fffffff, 0x80000000, 65536, 0xffffffff, 0xfffffff0, 0x3f800000, 0x7f800000, 0x7fc00000};
    switch (random.below(7)) {
        case 0:
            word = kEdges[random.below(std::size(kEdges))];
            break;
        case 1:
            word += 1 + random.bits() % 16;
            break;
        case 2:
            word -= 1 + random.bits() % 16;
            break;
        case 3:
            word ^= 1u << random.below(32);
            break;
        case 4:
            word = record_at<uint32_t>(other, at);
            break;
        case 5:
            word = random.bits() % 256;
            break;
        default:
            word = word * 2 + (random.bits() & 1);
            break;
    }
    put(record, at, &word, sizeof word);
}

/// Changes a record of a program, or its header.  SPIR-V stays what it is: it runs as code, and
/// what a driver does with any other is not Hearth's.
inline void change_program(std::span<std::byte> program, Random& random) {
    const auto header = record_at<file::FileHeader>(program, 0);
    const size_t choice = random.below(file::kSectionCount + 2);
    if (choice >= file::kSectionCount) {
        // The fields; now and then where the sections lie.
        const size_t fields = offsetof(file::FileHeader, sections);
        const bool is_table = random.below(8) == 0;
        const size_t begin = is_table ? fields : offsetof(file::FileHeader, content_hash);
        const size_t end = is_table ? sizeof header : fields;
        if (program.size() >= end)
            change_word(program.subspan(begin, end - begin), program.subspan(begin), random);
        return;
    }
    if (choice == file::kSpirv) return;
    const file::SectionRef& section = header.sections[choice];
    const uint64_t size = file::kElementBytes[choice];
    if (section.count == 0 || section.offset > program.size() ||
        section.count > (program.size() - section.offset) / size)
        return;
    const auto record = [&](size_t index) {
        return program.subspan(static_cast<size_t>(section.offset + index * size),
                               static_cast<size_t>(size));
    };
    const auto count = static_cast<size_t>(section.count);
    const std::span<std::byte> changed = record(random.below(count));
    const std::span<std::byte> other = record(random.below(count));
    // A whole record in place of another keeps them well-formed, each by itself.
    if (random.below(8) == 0 && changed.data() != other.data())
        std::copy(other.begin(), other.end(), changed.begin());
    else
        change_word(changed, other, random);
}

/// Changes one of the programs, or a section, a profile or the header.
inline void change_package(std::span<std::byte> bytes, Random& random) {
    const auto header = record_at<file::PackageHeader>(bytes, 0);
    const uint32_t count = std::min(header.section_count, file::kMaxPackageSections);
    const size_t tables = sizeof header + count * sizeof(file::PackageSectionRecord) +
                          header.device_target_count * sizeof(file::DeviceTargetRecord);
    if (random.below(4) == 0 && tables <= bytes.size() && header.device_target_count < 100) {
        const size_t begin = offsetof(file::PackageHeader, graph_hash);
        change_word(bytes.subspan(begin, tables - begin), bytes.subspan(begin), random);
        return;
    }
    const auto section = record_at<file::PackageSectionRecord>(
        bytes, sizeof header + random.below(count) * sizeof(file::PackageSectionRecord));
    if (section.offset > bytes.size() || section.bytes > bytes.size() - section.offset) return;
    const auto part = bytes.subspan(section.offset, section.bytes);
    if (section.kind == static_cast<uint32_t>(file::PackageSectionKind::kProgram))
        change_program(part, random);
    else
        change_word(part, part, random);
}

/// Changes a record of a brain, its header, or some bytes.
inline void change_brain(std::span<std::byte> brain, Random& random) {
    const auto header = record_at<file::BrainHeader>(brain, 0);
    const size_t records = sizeof header;
    const size_t fields = offsetof(file::BrainHeader, graph_hash);
    const size_t tensor =
        records + random.below(header.tensor_count) * sizeof(file::BrainTensorRecord);
    if (brain.size() < records) return;
    if (random.below(4) == 0)
        change_word(brain.subspan(fields, records - fields), brain.subspan(fields), random);
    else if (random.below(4) == 0 || tensor + sizeof(file::BrainTensorRecord) > brain.size())
        change_word(brain.subspan(records), brain.subspan(records), random);
    else
        change_word(brain.subspan(tensor, sizeof(file::BrainTensorRecord)), brain.subspan(records),
                    random);
}

/// A custom mutator of a format: mostly a change that knows it, else libFuzzer's own; then mended.
inline size_t mutate(uint8_t* data, size_t size, size_t max_size, uint32_t seed,
                     void (*change)(std::span<std::byte>, Random&),
                     void (*mend)(std::span<std::byte>)) {
    Random random(seed);
    if (random.below(3) == 0) size = LLVMFuzzerMutate(data, size, max_size);
    const auto bytes = std::as_writable_bytes(std::span(data, size));
    for (size_t changes = random.below(4); changes-- > 0;) change(bytes, random);
    mend(bytes);
    return size;
}

}  // namespace hearth::fuzz
