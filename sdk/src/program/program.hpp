// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The compiled artefact: all that the compiler column and the device column share.
//
// A Program is flat tables and no pointers: every byte offset, every dispatch and every barrier is
// decided.  It carries its SPIR-V, or, for a CPU, says which C functions it needs.  Entries (`act`, `learn`, ...) share one set of weights; each
// has an arena range of its own, so that one entry may run between two slices of another.

#pragma once

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Changes whenever the serialized layout or the meaning of a field changes.
inline constexpr uint32_t kProgramFormatVersion = 4;

/// Where an operand's bytes live.
enum class Region : uint8_t {
    kArena,     ///< intermediates of one recording of an entry
    kWeights,   ///< params, states and constants: they persist between recordings
    kExternal,  ///< a buffer of the host's, bound when recording
    kRun,       ///< the RunBlock of this recording
};

/// Small per-recording values that kernels read, so that a recording can be replayed.
struct RunBlock {
    uint32_t rows;  ///< live rows, at most Program::rows_capacity
    uint32_t reserved[3];
};

enum class Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

/// A byte count that may grow with the rows: fixed + per_row * rows.
struct Extent {
    uint64_t fixed = 0;
    uint64_t per_row = 0;
    uint64_t at(uint64_t rows) const { return fixed + per_row * rows; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

/// A byte range that a step touches.
struct Operand {
    Region region = Region::kArena;
    Access access = Access::kRead;
    uint32_t binding = 0;  ///< kExternal: index into Program::bindings
    uint64_t offset = 0;   ///< bytes from the start of the region (0 in kExternal and kRun)
    Extent bytes;
};

struct SpecConstant {
    uint32_t id = 0;
    uint32_t value = 0;
};

/// What a kernel does with one of its operands, whichever step runs it.  Each step must give it an
/// operand that allows as much.
struct KernelOperand {
    Access access = Access::kRead;
    /// It touches no more than the first `bytes`, and so many for each one of the step's first word.
    Extent bytes;
    uint32_t bytes_per_word = 0;
    friend bool operator==(const KernelOperand&, const KernelOperand&) = default;
};

/// One compute pipeline's worth of shader.
///
/// Push constants: with BindingModel::kDeviceAddress the operands' addresses (8 bytes each, in
/// operand order), then the step's words (4 bytes each).  With kDescriptor the operands are storage
/// buffers 0..n-1 of set 0 and the push constants are the words alone.  Entry point "main".
///
/// A kernel with more operands than push constants hold locates its first `located_count` ones
/// itself (kDeviceAddress only): they lie in the arena or the weights, the push constants begin
/// with the addresses of those two regions, and specialization constant i says where operand i is
/// (locate()).  Such a kernel belongs to one step.
///
/// In a program for a CPU a kernel is a function in C (HearthNativeFunction): its last operand is the run block,
/// `spirv` are the words of a NativeCode, and `source` is the function's text.
struct Kernel {
    std::string name;
    std::vector<uint32_t> spirv;
    std::vector<SpecConstant> spec_constants;  ///< in ascending order of ids
    uint32_t operand_count = 0;
    std::vector<KernelOperand> operands;  ///< one for each operand; see declare_operands()
    /// Bytes of its widest load or store: operands lie at multiples of it.  At most 16.
    uint32_t access_bytes = 4;
    uint32_t word_count = 0;
    uint32_t located_count = 0;
    std::array<uint32_t, 3> local_size{1, 1, 1};
    bool needs_fp16_storage = false;
    bool needs_int8_storage = false;
    bool needs_fp16_arithmetic = false;
    bool needs_subgroup_arithmetic = false;
    MatrixCores needs_matrix_cores = MatrixCores::kNone;
    bool needs_workgroup_matrices = false;
    /// That matrix cores must multiply, if they are needed; of a subgroup, or else of a workgroup.
    MatrixShape matrix;
    uint32_t subgroup_size = 0;  ///< that it is written for; 0: any
    std::string source;          ///< GLSL, for people, or C; may be stripped
};

/// What stands for a kernel's code in a program for a CPU.
struct NativeCode {
    uint64_t hash = 0;          ///< of the function's text: what tables of functions list it by
    bool is_divisible = false;  ///< its workgroups may be run in parts
};
inline constexpr size_t kNativeCodeWords = 3;  ///< hash (low, high), is_divisible

constexpr std::array<uint32_t, kNativeCodeWords> words_of(NativeCode code) {
    return {static_cast<uint32_t>(code.hash), static_cast<uint32_t>(code.hash >> 32),
            code.is_divisible ? 1u : 0u};
}
/// words  kNativeCodeWords of them
constexpr NativeCode native_code(std::span<const uint32_t> words) {
    return {uint64_t{words[1]} << 32 | words[0], words[2] != 0};
}

/// Located operands start at multiples of this many bytes.
inline constexpr uint64_t kLocationUnit = 16;

/// What a kernel's specialization constant says of a located operand: the offset in units, and in
/// bit 0 whether the region is the weights.
constexpr uint32_t locate(const Operand& operand) {
    return static_cast<uint32_t>(operand.offset / kLocationUnit) * 2 +
           (operand.region == Region::kWeights ? 1 : 0);
}

/// Workgroups along one axis: ceil(work.at(rows) / tile).
struct GridAxis {
    Extent work{1, 0};
    uint32_t tile = 1;
    uint32_t groups(uint64_t rows) const {
        return static_cast<uint32_t>((work.at(rows) + tile - 1) / tile);
    }
};

enum class StepKind : uint8_t {
    kDispatch,  ///< operands as the kernel declares them
    kCopy,      ///< operand 0 to operand 1, same Extent
    kFill,      ///< operand 0 with the word `words[first_word]`
    kBarrier,   ///< everything before is finished and visible to everything after
};

struct Step {
    StepKind kind = StepKind::kBarrier;
    uint32_t kernel = 0;  ///< kDispatch: index into Program::kernels
    uint32_t first_operand = 0, operand_count = 0;
    uint32_t first_word = 0, word_count = 0;
    std::array<GridAxis, 3> grid;
    std::string label;   ///< what it computes, for debug labels and listings
    uint64_t flops = 0;  ///< at capacity, for cost estimates
    uint64_t bytes_moved = 0;
    /// Values of the entry's graph that this step computes, in order (debug table; may be
    /// stripped).
    std::vector<uint32_t> computes;
    /// Value of the entry's graph that each operand holds; kNoValue for the run block.
    std::vector<uint32_t> operand_values;
};

inline constexpr uint32_t kNoValue = 0xffffffffu;

enum class Direction : uint8_t {
    kInput,
    kOutput,
    kInOut,  ///< an input that at least one entry writes new contents over
};

/// A tensor that the host binds when recording an entry.
struct Binding {
    std::string name;
    Direction direction = Direction::kInput;
    DType dtype = DType::kF32;  ///< logical; in the buffer: device_dtype(dtype, Program::storage)
    Shape shape;
    Extent bytes;
    std::vector<std::string> elements = {};  ///< names of its numbers, if it has names for them
};

enum class SlotKind : uint8_t {
    kParam,
    kState,
    kConstant,
    kTransient,  ///< a state that no brain holds
};

/// Whether a brain holds slots of this kind.
constexpr bool is_learned(SlotKind kind) {
    return kind == SlotKind::kParam || kind == SlotKind::kState;
}

inline constexpr uint64_t kZeroFilled = ~uint64_t{0};

/// A tensor in the weights region.
struct Slot {
    std::string name;
    SlotKind kind = SlotKind::kParam;
    DType dtype = DType::kF32;  ///< logical; in memory: device_dtype(dtype, Program::storage)
    Shape shape;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t data_offset = kZeroFilled;  ///< initial bytes in Program::data
};

struct Entry {
    std::string name;
    uint32_t first_step = 0, step_count = 0;
    uint64_t arena_offset = 0, arena_bytes = 0;  ///< its own part of the arena
    std::vector<uint32_t> bindings;              ///< which of Program::bindings it uses
};

struct Program {
    uint32_t format_version = kProgramFormatVersion;
    uint64_t hash = 0;  ///< content hash of everything but source, labels and debug tables
    /// Hash of the graphs it was compiled from: equal for all profiles.  Not part of `hash`.
    uint64_t graph_hash = 0;
    std::string profile = "baseline";
    BindingModel binding_model = BindingModel::kDeviceAddress;
    Cpu cpu = Cpu::kNone;   ///< whose functions its kernels are; kNone: they are SPIR-V
    NarrowStorage storage;  ///< how tensors of narrow elements lie in memory
    uint64_t rows_capacity = 1;
    uint64_t arena_bytes = 0;
    uint64_t weights_bytes = 0;
    std::vector<Kernel> kernels;
    std::vector<Operand> operands;
    std::vector<uint32_t> words;
    std::vector<Step> steps;
    std::vector<Entry> entries;
    std::vector<Binding> bindings;
    std::vector<Slot> slots;
    std::vector<std::byte> data;  ///< initial contents of slots

    std::span<const Operand> operands_of(const Step& step) const {
        return std::span(operands).subspan(step.first_operand, step.operand_count);
    }
    std::span<const uint32_t> words_of(const Step& step) const {
        return std::span(words).subspan(step.first_word, step.word_count);
    }
    std::span<const Step> steps_of(const Entry& entry) const {
        return std::span(steps).subspan(entry.first_step, entry.step_count);
    }
    const Entry* find_entry(std::string_view name) const;
    const Slot* find_slot(std::string_view name) const;
};

/// The content hash that belongs in Program::hash.
uint64_t content_hash(const Program& program);

/// Has each kernel that does not declare its operands yet (Kernel::operands) declare what its steps
/// have in common: the accesses that each allows, and as many bytes as each gives it.
void declare_operands(Program& program);

/// Little-endian bytes of `program`; load_program of them gives an equal Program.
std::vector<std::byte> save_program(const Program& program);

/// The same without `data`, which lies elsewhere: the slots' data_offsets refer to `outside_bytes`
/// bytes that are given again when it is opened.
std::vector<std::byte> save_program_without_data(const Program& program, uint64_t outside_bytes);

/// Reads untrusted bytes.  Errors: kCorruptData naming the field, kUnsupported for another version.
/// Every index, size and offset is checked here, so that the device column need not.
/// outside  first contents of a program that was saved without data; copied into `data`.
Result<Program> load_program(std::span<const std::byte> bytes,
                             std::span<const std::byte> outside = {});

/// Human-readable listing: slots, bindings, arena map, steps, barriers.
std::string dump(const Program& program);

}  // namespace hearth
