// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// File layout of a Program, which the runtime uses in place.
//
// Little-endian.  A FileHeader, then one section per table: an array of the plain records below,
// each section at a multiple of 16 bytes.  Texts lie in one section, each followed by a zero byte;
// lists lie in shared sections and are referred to by position.  No two lists refer to the same
// elements, so that visiting all lists takes time linear in the file's size.  Reserved fields are
// zero.  Any change here requires a new kProgramFormatVersion.

#pragma once

#include "program/program.hpp"

#include <cstdint>

namespace hearth::file {

inline constexpr uint32_t kMagic = 0x47505248;  // "HRPG"
inline constexpr uint64_t kSectionAlignment = 16;

/// Characters [offset, offset + size) of the text section, followed by a zero byte.
struct TextRef {
    uint32_t offset, size;
};

/// Elements [first, first + count) of a section.
struct ListRef {
    uint32_t first, count;
};

struct ExtentRecord {
    uint64_t fixed, is_batch;
};

struct ShapeRecord {
    int64_t counts[kMaxRank];
    uint32_t rank;
    uint32_t batch_mask;  ///< bit i: dimension i is the batch
};

enum KernelFlags : uint32_t {
    kNeedsFp16Storage = 1,
    kNeedsFp16Arithmetic = 2,
    kNeedsSubgroupArithmetic = 4,
    kNeedsInt8Storage = 8,
    kNeedsNvMatrixCores = 16,
    kNeedsKhrMatrixCores = 32,
    kNeedsWorkgroupMatrices = 64,  ///< set together with kNeedsKhrMatrixCores
    kAllKernelFlags = 127,
};

struct KernelRecord {
    TextRef name, source;
    ListRef spirv;           ///< kSpirv; a NativeCode in a program for a CPU
    ListRef spec_constants;  ///< kSpecConstants
    uint32_t operand_count, word_count;
    uint32_t local_size[3];
    uint32_t flags;
    uint32_t located_count;
    uint32_t subgroup_size;  ///< 0: any
    uint32_t matrix_m, matrix_n, matrix_k;
    uint32_t access_bytes;  ///< 1, 2, 4, 8 or 16
    ListRef operands;       ///< kKernelOperands, operand_count of them
};

/// Serialized KernelOperand.
struct KernelOperandRecord {
    uint32_t access;
    uint32_t bytes_per_word;
    ExtentRecord bytes;
};

/// Largest push constant block: the minimum that Vulkan guarantees, and the limit for a C
/// function's operands.
inline constexpr uint64_t kMaxPushBytes = 128, kMaxNativePushBytes = 1024;

/// Addresses or descriptors that a kernel receives: the two regions' if it locates operands, then
/// those of the other operands.
inline uint64_t bound_count_of(const KernelRecord& k) {
    const uint64_t regions = k.located_count > 0 ? 2 : 0;
    return regions + k.operand_count - k.located_count;
}

/// Push constants of a kernel: the addresses that it receives, then the words.
inline uint64_t push_bytes_of(const KernelRecord& k, BindingModel model) {
    const bool addresses = model == BindingModel::kDeviceAddress;
    return (addresses ? 8 * bound_count_of(k) : 0) + uint64_t{4} * k.word_count;
}

struct SpecConstantRecord {
    uint32_t id, value;
};

struct OperandRecord {
    uint32_t region, access;
    uint32_t binding;
    uint32_t reserved;
    uint64_t offset;
    ExtentRecord bytes;
};

struct GridAxisRecord {
    ExtentRecord work;
    uint32_t tile;
    uint32_t reserved;
};

struct CommandRecord {
    uint32_t kind;
    uint32_t kernel;
    ListRef operands;  ///< kOperands
    ListRef words;     ///< kWords
    GridAxisRecord grid[3];
    TextRef label;
    uint64_t flops, bytes_moved;
    ListRef computes;        ///< kValues
    ListRef operand_values;  ///< kValues
};

struct EntryRecord {
    TextRef name;
    ListRef commands;  ///< kSteps
    ListRef bindings;  ///< kEntryBindings
    uint64_t arena_offset, arena_bytes;
};

struct BindingRecord {
    TextRef name;
    uint32_t direction, dtype;
    ShapeRecord shape;
    ExtentRecord bytes;
    ListRef elements;  ///< kNames: empty, or one per element
};

struct VariableRecord {
    TextRef name;
    uint32_t kind, dtype;
    ShapeRecord shape;
    uint64_t offset, bytes, data_offset;
};

enum Section : uint32_t {
    kKernels,
    kKernelOperands,
    kSpirv,
    kSpecConstants,
    kOperands,
    kWords,
    kCommands,
    kValues,
    kEntries,
    kEntryBindings,
    kBindings,
    kVariables,
    kNames,          ///< TextRef
    kVariableNames,  ///< indices of variables, in ascending order of their names
    kTexts,
    kData,
    kSectionCount,
};

/// Size in bytes of one element of each Section.
inline constexpr uint32_t kElementBytes[kSectionCount] = {sizeof(KernelRecord),
                                                          sizeof(KernelOperandRecord),
                                                          4,
                                                          sizeof(SpecConstantRecord),
                                                          sizeof(OperandRecord),
                                                          4,
                                                          sizeof(CommandRecord),
                                                          4,
                                                          sizeof(EntryRecord),
                                                          4,
                                                          sizeof(BindingRecord),
                                                          sizeof(VariableRecord),
                                                          sizeof(TextRef),
                                                          4,
                                                          1,
                                                          1};

struct SectionRef {
    uint64_t offset, count;  ///< byte offset from the start of the file; number of elements
};

enum HeaderFlags : uint32_t {
    /// Section kData is empty: initial values are passed when the program is opened (a Package has
    /// one copy for all its programs).
    kDataIsOutside = 1,
    kStores16Bits = 2,  ///< NarrowStorage
    kStores8Bits = 4,
    kStoresInt64 = 8,
    kStoresFloat64 = 16,
    kCpuMask = 15 << 8,  ///< Program::cpu
    kAllHeaderFlags = 31 | 15 << 8,
};

inline constexpr uint32_t kCpuShift = 8;

struct FileHeader {
    uint32_t magic, format_version;
    uint64_t total_bytes;
    uint64_t checksum;  ///< checksum() of every byte after this field
    uint64_t content_hash, graph_hash;
    uint32_t binding_model;
    uint32_t flags;  ///< HeaderFlags
    uint64_t max_batch_size, arena_bytes, weights_bytes;
    /// kDataIsOutside: size in bytes of the data that data_offsets refer to.  Otherwise 0.
    uint64_t outside_bytes;
    TextRef device_target;
    SectionRef sections[kSectionCount];
};

inline constexpr uint64_t kChecksumEnd = 24;  ///< start of the checksummed bytes

static_assert(sizeof(KernelRecord) == 88 && sizeof(KernelOperandRecord) == 24 &&
              sizeof(OperandRecord) == 40 && sizeof(CommandRecord) == 136 &&
              sizeof(EntryRecord) == 40 && sizeof(BindingRecord) == 112 &&
              sizeof(VariableRecord) == 112 && sizeof(FileHeader) == 88 + 16 * kSectionCount);

}  // namespace hearth::file
