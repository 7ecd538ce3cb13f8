// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The compiled program: the interface between compiler and runtime.
//
// A Program is flat tables without pointers: every byte offset, dispatch and barrier is fixed.  It
// holds its SPIR-V or, for a CPU, the hashes of the C functions it needs.  Entries (`act`, `learn`,
// ...) share one set of weights; each has its own arena range, so that one entry may run between
// two slices of another.

#pragma once

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Incremented whenever the serialized layout or the meaning of a field changes.
inline constexpr uint32_t kProgramFormatVersion = 4;

/// Memory region of an operand.
enum class Region : uint8_t {
    kArena,     ///< intermediates of one recording of an entry
    kWeights,   ///< params, states and constants; persist between recordings
    kExternal,  ///< a buffer of the application, bound when recording
    kRun,       ///< the RunBlock of this recording
};

/// Small per-recording values in a buffer that kernels read, so that a recorded command buffer can
/// be replayed.
struct RunBlock {
    uint32_t rows;  ///< batch size, at most Program::max_batch_size
    uint32_t reserved[3];
};

enum class Access : uint8_t { kRead = 1, kWrite = 2, kReadWrite = 3 };

/// A byte count that may depend on the batch size: fixed + per_row * rows.
struct Extent {
    uint64_t fixed = 0;
    uint64_t is_batch = 0;
    uint64_t at(uint64_t rows) const { return fixed + is_batch * rows; }
    friend bool operator==(const Extent&, const Extent&) = default;
};

/// A byte range that a command touches.
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

/// A kernel's use of one of its operands, in all commands that run it.  The operand that a command
/// passes must permit this access and be large enough.
struct KernelOperand {
    Access access = Access::kRead;
    /// It touches at most the first `bytes`, plus this many for each unit of the command's first
    /// word.
    Extent bytes;
    uint32_t bytes_per_word = 0;
    friend bool operator==(const KernelOperand&, const KernelOperand&) = default;
};

/// The shader of one compute pipeline.
///
/// Push constants: with BindingModel::kDeviceAddress the operands' addresses (8 bytes each, in
/// operand order), then the command's words (4 bytes each).  With kDescriptor the operands are
/// storage buffers 0..n-1 of set 0 and the push constants are the words alone.  Entry point "main".
///
/// A kernel with more operands than push constants or descriptors hold locates its first
/// `located_count` operands itself: they lie in the arena or the weights, these two regions come
/// ahead of the other operands (as addresses, or whole in storage buffers 0 and 1), and
/// specialization constant i gives the location of operand i (locate()).  Such a kernel belongs to
/// one command.
///
/// In a program for a CPU a kernel is a C function (HearthNativeFunction): its last operand is the
/// run block, `spirv` holds the words of a NativeCode, and `source` is the function's text.
struct Kernel {
    std::string name;
    std::vector<uint32_t> spirv;
    std::vector<SpecConstant> spec_constants;  ///< in ascending order of ids
    uint32_t operand_count = 0;
    std::vector<KernelOperand> operands;  ///< one per operand; see declare_operands()
    /// Size of its widest load or store in bytes, at most 16; operands are aligned to it.
    uint32_t access_bytes = 4;
    uint32_t word_count = 0;
    uint32_t located_count = 0;
    std::array<uint32_t, 3> local_size{1, 1, 1};
    bool needs_fp16_storage = false;
    bool needs_int8_storage = false;
    bool needs_fp16_arithmetic = false;
    bool needs_subgroup_arithmetic = false;
    CooperativeMatrixExt needs_matrix_cores = CooperativeMatrixExt::kNone;
    bool needs_workgroup_matrices = false;
    /// Cooperative-matrix shape that the device must support, if any; subgroup scope, or else
    /// workgroup scope.
    MatrixShape matrix;
    uint32_t subgroup_size = 0;  ///< required subgroup size; 0: any
    std::string source;          ///< GLSL (for people) or C; may be stripped
};

/// Identifies the C function of a kernel in a program for a CPU; stored in place of SPIR-V.
struct NativeCode {
    uint64_t hash = 0;          ///< of the function's text: the key of function tables
    bool is_divisible = false;  ///< its workgroups may be run in several ranges
};
inline constexpr size_t kNativeCodeWords = 3;  ///< hash (low, high), is_divisible

constexpr std::array<uint32_t, kNativeCodeWords> words_of(NativeCode code) {
    return {static_cast<uint32_t>(code.hash), static_cast<uint32_t>(code.hash >> 32),
            code.is_divisible ? 1u : 0u};
}
/// Decodes `words`, which has kNativeCodeWords elements.
constexpr NativeCode native_code(std::span<const uint32_t> words) {
    return {uint64_t{words[1]} << 32 | words[0], words[2] != 0};
}

/// Located operands start at multiples of this many bytes.
inline constexpr uint64_t kLocationUnit = 16;

/// Encodes a located operand as a specialization constant: the offset in units of kLocationUnit,
/// and in bit 0 whether the region is the weights.
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

enum class CommandKind : uint8_t {
    kDispatch,  ///< operands as the kernel declares them
    kCopy,      ///< operand 0 to operand 1, equal Extent
    kFill,      ///< fills operand 0 with the word `words[first_word]`
    kBarrier,   ///< all earlier commands finish and are visible to all later ones
};

struct Command {
    CommandKind kind = CommandKind::kBarrier;
    uint32_t kernel = 0;  ///< kDispatch: index into Program::kernels
    uint32_t first_operand = 0, operand_count = 0;
    uint32_t first_word = 0, word_count = 0;
    std::array<GridAxis, 3> grid;
    std::string label;   ///< what it computes; for debug labels and listings
    uint64_t flops = 0;  ///< at rows_capacity, for cost estimates
    uint64_t bytes_moved = 0;
    /// Values of the entry's graph that this command computes, in order (debug table; may be
    /// stripped).
    std::vector<uint32_t> computes;
    /// Value of the entry's graph that each operand holds; kNoValue for the run block.
    std::vector<uint32_t> operand_values;
};

inline constexpr uint32_t kNoValue = 0xffffffffu;

enum class Direction : uint8_t {
    kInput,
    kOutput,
    kInOut,  ///< an input that at least one entry overwrites
};

/// A tensor in a buffer that the application binds when recording an entry.
struct Binding {
    std::string name;
    Direction direction = Direction::kInput;
    DType dtype = DType::kF32;  ///< logical; in the buffer: device_dtype(dtype, Program::storage)
    Shape shape;
    Extent bytes;
    std::vector<std::string> elements = {};  ///< names of its elements, if any
};

enum class VariableKind : uint8_t {
    kParam,
    kState,
    kConstant,
    kTransient,  ///< a state that brains do not hold
};

/// True if brains hold variables of this kind.
constexpr bool is_learned(VariableKind kind) {
    return kind == VariableKind::kParam || kind == VariableKind::kState;
}

inline constexpr uint64_t kZeroFilled = ~uint64_t{0};

/// A tensor in the weights region.
struct Variable {
    std::string name;
    VariableKind kind = VariableKind::kParam;
    DType dtype = DType::kF32;  ///< logical; in memory: device_dtype(dtype, Program::storage)
    Shape shape;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t data_offset = kZeroFilled;  ///< initial bytes in Program::data
};

struct Entry {
    std::string name;
    uint32_t first_command = 0, command_count = 0;
    uint64_t arena_offset = 0, arena_bytes = 0;  ///< this entry's range of the arena
    std::vector<uint32_t> bindings;              ///< indices into Program::bindings that it uses
};

struct Program {
    uint32_t format_version = kProgramFormatVersion;
    uint64_t hash = 0;  ///< content hash of everything but source, labels and debug tables
    /// Hash of the source graphs: equal for all device targets.  Not part of `hash`.
    uint64_t graph_hash = 0;
    std::string device_target = "baseline";
    BindingModel binding_model = BindingModel::kDeviceAddress;
    CpuIsa cpu = CpuIsa::kNone;  ///< instruction set of its C kernels; kNone: SPIR-V
    NarrowStorage storage;       ///< storage of narrow element types in memory
    uint64_t max_batch_size = 1;
    uint64_t arena_bytes = 0;
    uint64_t weights_bytes = 0;
    std::vector<Kernel> kernels;
    std::vector<Operand> operands;
    std::vector<uint32_t> words;
    std::vector<Command> commands;
    std::vector<Entry> entries;
    std::vector<Binding> bindings;
    std::vector<Variable> variables;
    std::vector<std::byte> data;  ///< initial values of variables

    std::span<const Operand> operands_of(const Command& command) const {
        return std::span(operands).subspan(command.first_operand, command.operand_count);
    }
    std::span<const uint32_t> words_of(const Command& command) const {
        return std::span(words).subspan(command.first_word, command.word_count);
    }
    std::span<const Command> commands_of(const Entry& entry) const {
        return std::span(commands).subspan(entry.first_command, entry.command_count);
    }
    const Entry* find_entry(std::string_view name) const;
    const Variable* find_variable(std::string_view name) const;
};

/// Computes the content hash for Program::hash.
uint64_t content_hash(const Program& program);

/// Fills Kernel::operands of each kernel that does not declare them yet with the intersection over
/// its commands: the accesses that all commands permit, and the smallest size.
void declare_operands(Program& program);

/// Serializes `program` as little-endian bytes; load_program returns an equal Program.
std::vector<std::byte> save_program(const Program& program);

/// Serializes without `data`, which is stored elsewhere: the variables' data_offsets refer to
/// `outside_bytes` bytes that must be passed again on opening.
std::vector<std::byte> save_program_without_data(const Program& program, uint64_t outside_bytes);

/// Reads untrusted bytes.  Errors: kCorruptData naming the field, kUnsupported for another version.
/// Every index, size and offset is checked here, so that the runtime need not.
/// outside  initial values of a program that was saved without data; copied into `data`.
Result<Program> load_program(std::span<const std::byte> bytes,
                             std::span<const std::byte> outside = {});

/// Human-readable listing: variables, bindings, arena map, commands, barriers.
std::string dump(const Program& program);

}  // namespace hearth
