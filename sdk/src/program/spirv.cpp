// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads declarations of untrusted SPIR-V modules and compares them with a kernel's record.

#include "program/spirv.hpp"

#include "core/portable.hpp"

#include <algorithm>

namespace hearth {

namespace {

constexpr uint32_t kMagic = 0x07230203, kHeaderWords = 5;
constexpr uint32_t kNone = 0xffffffffu;

enum Op : uint32_t {
    kOpMemoryModel = 14,
    kOpEntryPoint = 15,
    kOpExecutionMode = 16,
    kOpCapability = 17,
    kOpTypeVoid = 19,
    kOpTypeBool = 20,
    kOpTypeInt = 21,
    kOpTypeFloat = 22,
    kOpTypeVector = 23,
    kOpTypeMatrix = 24,
    kOpTypeArray = 28,
    kOpTypeRuntimeArray = 29,
    kOpTypeStruct = 30,
    kOpTypePointer = 32,
    kOpTypeForwardPointer = 39,
    kOpConstantTrue = 41,
    kOpConstantFalse = 42,
    kOpConstant = 43,
    kOpConstantComposite = 44,
    kOpSpecConstantTrue = 48,
    kOpSpecConstantFalse = 49,
    kOpSpecConstant = 50,
    kOpSpecConstantComposite = 51,
    kOpSpecConstantOp = 52,
    kOpVariable = 59,
    kOpLoad = 61,
    kOpStore = 62,
    kOpCopyMemory = 63,
    kOpCopyMemorySized = 64,
    kOpDecorate = 71,
    kOpMemberDecorate = 72,
    kOpDecorationGroup = 73,
    kOpGroupDecorate = 74,
    kOpGroupMemberDecorate = 75,
    kOpAtomicLoad = 227,
    kOpAtomicXor = 242,  // and all atomics in between
    kOpAtomicFlagTestAndSet = 318,
    kOpAtomicFlagClear = 319,
    kOpExecutionModeId = 331,
    kOpCooperativeMatrixLoadKhr = 4457,
    kOpCooperativeMatrixStoreKhr = 4458,
    kOpCooperativeMatrixLoadNv = 5359,
    kOpCooperativeMatrixStoreNv = 5360,
    kOpAtomicFMin = 5614,
    kOpAtomicFMax = 5615,
    kOpAtomicFAdd = 6035,
};

enum Decoration : uint32_t {
    kSpecId = 1,
    kBufferBlock = 3,
    kArrayStride = 6,
    kBuiltIn = 11,
    kBinding = 33,
    kDescriptorSet = 34,
    kOffset = 35,
};

enum StorageClass : uint32_t {
    kInput = 1,
    kUniform = 2,
    kWorkgroup = 4,
    kPrivate = 6,
    kFunction = 7,
    kPushConstant = 9,
    kStorageBuffer = 12,
    kPhysicalStorageBuffer = 5349,
};

constexpr uint32_t kGlCompute = 5;                            // execution model
constexpr uint32_t kLocalSize = 17, kLocalSizeId = 38;        // execution modes
constexpr uint32_t kNumWorkgroups = 24, kWorkgroupSize = 25;  // built-ins
constexpr uint32_t kAlignedBit = 2;                           // memory operand
constexpr uint32_t kPhysicalAddresses = 5347;                 // capability
// Largest private and function storage of an invocation.  Hearth's own kernels use a few hundred
// bytes; a driver may put them on a stack.
constexpr uint64_t kMaxLocalBytes = 256 << 10;

enum Kind : uint32_t {
    kUndefined,
    kScalar,
    kVector,
    kArray,
    kRuntimeArray,
    kStruct,
    kPointer,
    kConstant,
    kComposite,
    kOther
};

/// The words of one instruction, including the first with opcode and length.
struct Instruction {
    uint32_t op = 0;
    std::span<const uint32_t> words;

    /// Zero past the end; has() checks the length.
    uint32_t operator[](size_t i) const { return i < words.size() ? words[i] : 0; }
    bool has(size_t count) const { return words.size() >= count; }
};

class Reader {
  public:
    Reader(std::span<const uint32_t> words, std::span<const file::SpecConstantRecord> constants,
           std::span<SpirvId> ids, SpirvFacts* facts, ViewError* error)
        : words_(words), constants_(constants), ids_(ids), facts_(*facts), error_(error) {}

    bool run() {
        facts_ = {};
        const uint32_t bound = spirv_bound(words_);
        if (bound == 0 || ids_.size() < bound)
            return bad("an id bound that is too large for its size");
        ids_ = ids_.first(bound);
        if (constants_.size() > bound)
            return bad("fewer ids than the kernel sets specialization constants");
        std::fill(ids_.begin(), ids_.end(), SpirvId{});
        facts_.version = words_[1];
        constexpr uint32_t kNewest = 0x00010600;
        if (facts_.version < 0x00010000 || facts_.version > kNewest || (facts_.version & 0xff) != 0)
            return bad("version word 0x%08x, expected 1.0 to 1.6", facts_.version);
        if (words_[4] != 0) return bad("an instruction schema, expected 0");
        for (size_t at = kHeaderWords; at < words_.size();) {
            const uint32_t length = words_[at] >> 16;
            if (length == 0 || length > words_.size() - at)
                return bad("an instruction of impossible length at word %zu", at);
            if (!read({words_[at] & 0xffff, words_.subspan(at, length)})) return false;
            at += length;
        }
        if (entry_points_ != 1) return bad("%u entry points, expected one", entry_points_);
        if (!has_local_size_) return bad("no local size");
        for (size_t i = 0; i < constants_.size(); ++i)
            if (constants_[i].id >= optional_constants_ && !ids_[i].is_constant_declared)
                return bad("no specialization constant %u, which the kernel sets",
                           constants_[i].id);
        return true;
    }

    /// Allows constants with ids below `count` to be missing from the module.
    void set_optional_constants(uint32_t count) { optional_constants_ = count; }

  private:
    HEARTH_PRINTF(2, 3) bool bad(const char* format, ...) {
        error_->code = StatusCode::kCorruptData;
        error_->text.set("its SPIR-V has ");
        va_list arguments;
        va_start(arguments, format);
        error_->text.append_list(format, arguments);
        va_end(arguments);
        return false;
    }
    /// Returns null for id 0, which is invalid: operator[] returns it for a missing operand.
    SpirvId* find(uint32_t id) { return id < ids_.size() && id > 0 ? &ids_[id] : nullptr; }
    /// Returns a type that is already defined and has a size, or null.
    const SpirvId* find_sized(uint32_t id) {
        const SpirvId* type = find(id);
        return type != nullptr && type->alignment != 0 ? type : nullptr;
    }
    const file::SpecConstantRecord* find_constant(uint32_t spec_id) const {
        const auto at = std::lower_bound(
            constants_.begin(), constants_.end(), spec_id,
            [](const file::SpecConstantRecord& c, uint32_t id) { return c.id < id; });
        return at != constants_.end() && at->id == spec_id ? &*at : nullptr;
    }
    bool read(const Instruction& in) {
        switch (in.op) {
            case kOpCapability:
                if (!in.has(2)) return bad("a capability instruction without its operand");
                facts_.has_addresses |= in[1] == kPhysicalAddresses;
                return true;
            case kOpEntryPoint:
                return entry_point(in);
            case kOpExecutionMode:
                if (in[2] != kLocalSize) return true;
                if (!in.has(6)) return bad("a local size without three extents");
                set_local_size(in[3], in[4], in[5]);
                return true;
            case kOpExecutionModeId:
                return in[2] != kLocalSizeId || bad("a local size that is given by ids");
            case kOpDecorate:
                return decorate(in);
            case kOpMemberDecorate:
                return decorate_member(in);
            case kOpDecorationGroup:
            case kOpGroupDecorate:
            case kOpGroupMemberDecorate:
                return bad("groups of decorations, which are not accepted");
            case kOpVariable:
                return variable(in);
            case kOpLoad:
                return access(in, 4);
            case kOpStore:
            case kOpCopyMemory:
                return access(in, 3);
            case kOpCopyMemorySized:
                return access(in, 4);
            case kOpCooperativeMatrixLoadKhr:
            case kOpCooperativeMatrixLoadNv:
                return access(in, 6);
            case kOpCooperativeMatrixStoreKhr:
            case kOpCooperativeMatrixStoreNv:
                return access(in, 5);
            case kOpAtomicFlagTestAndSet:
            case kOpAtomicFlagClear:
            case kOpAtomicFMin:
            case kOpAtomicFMax:
            case kOpAtomicFAdd:
                facts_.is_divisible = false;
                return true;
            default:
                break;
        }
        if (in.op >= kOpAtomicLoad && in.op <= kOpAtomicXor) facts_.is_divisible = false;
        if (in.op >= kOpTypeVoid && in.op <= kOpTypeForwardPointer) return type(in);
        if (in.op >= kOpConstantTrue && in.op <= kOpSpecConstantOp) return constant(in);
        return true;
    }

    bool entry_point(const Instruction& in) {
        if (!in.has(4)) return bad("an entry point without a name");
        if (in[1] != kGlCompute) return bad("an entry point that is not a compute shader");
        // "main" is one word of characters and one with the terminating zero.
        constexpr uint32_t kMain = 'm' | 'a' << 8 | 'i' << 16 | 'n' << 24;
        if (!in.has(5) || in[3] != kMain || in[4] != 0)
            return bad("an entry point that is not named main");
        ++entry_points_;
        return true;
    }

    void set_local_size(uint32_t x, uint32_t y, uint32_t z) {
        // The WorkgroupSize built-in constant takes precedence (section 3.21, BuiltIn
        // WorkgroupSize).
        if (!has_built_in_size_) facts_.local_size = {x, y, z};
        has_local_size_ = true;
    }

    bool decorate(const Instruction& in) {
        SpirvId* id = find(in[1]);
        if (!in.has(3) || id == nullptr) return bad("a decoration of an id that does not exist");
        if (has_types_) return bad("decorations after the types");
        switch (in[2]) {
            case kSpecId:
                id->spec_id = in[3];
                return in.has(4) || bad("a decoration without its operand");
            case kArrayStride:
                id->stride = in[3];
                return (in.has(4) && in[3] > 0) || bad("an array without a stride");
            case kBinding:
                id->binding = in[3];
                return in.has(4) || bad("a decoration without its operand");
            case kDescriptorSet:
                id->set = in[3];
                return in.has(4) || bad("a decoration without its operand");
            case kBufferBlock:
                id->is_buffer_block = true;
                return true;
            case kBuiltIn:
                id->is_workgroup_size |= in.has(4) && in[3] == kWorkgroupSize;
                facts_.is_divisible &= in[3] != kNumWorkgroups;
                return true;
            default:
                return true;
        }
    }

    bool decorate_member(const Instruction& in) {
        SpirvId* id = find(in[1]);
        if (!in.has(4) || id == nullptr) return bad("a decoration of an id that does not exist");
        if (has_types_) return bad("decorations after the types");
        if (in[3] == kBuiltIn) facts_.is_divisible &= in[4] != kNumWorkgroups;
        if (in[3] != kOffset) return true;
        if (!in.has(5)) return bad("a decoration without its operand");
        constexpr uint32_t kMostMembers = 1u << 16;  // largest word count of an instruction
        if (in[2] >= kMostMembers) return bad("an offset of a member that does not exist");
        if (id->last_member == kNone || in[4] >= id->last_offset) {
            id->last_member = in[2];
            id->last_offset = in[4];
        }
        return true;
    }

    bool type(const Instruction& in) {
        has_types_ = true;
        SpirvId* id = find(in[1]);
        if (id == nullptr) return bad("a type without an id");
        if (in.op == kOpTypeForwardPointer) {
            id->storage_class = in[2];
            if (in[2] == kPhysicalStorageBuffer) id->size = 8, id->alignment = 8;
            return in.has(3) || bad("a pointer without a storage class");
        }
        if (id->kind != kUndefined) return bad("an id that is defined twice");
        id->kind = kOther;
        switch (in.op) {
            case kOpTypeBool:
                id->kind = kScalar;
                id->size = id->alignment = 4;
                return true;
            case kOpTypeInt:
            case kOpTypeFloat:
                if (in[2] != 8 && in[2] != 16 && in[2] != 32 && in[2] != 64)
                    return bad("a type of %u bits, which kernels may not use", in[2]);
                id->kind = kScalar;
                id->size = id->alignment = in[2] / 8;
                return true;
            case kOpTypeVector:
            case kOpTypeMatrix:
                return vector_type(in, *id);
            case kOpTypeArray:
                return array_type(in, *id);
            case kOpTypeRuntimeArray: {
                const SpirvId* element = find_sized(in[2]);
                if (element == nullptr) return bad("an array of a type without a size");
                id->kind = kRuntimeArray;
                id->alignment = element->alignment;
                facts_.access_bytes = std::max(facts_.access_bytes, element->alignment);
                return true;
            }
            case kOpTypeStruct:
                return struct_type(in, *id);
            case kOpTypePointer:
                if (!in.has(4)) return bad("a pointer without a type");
                id->kind = kPointer;
                id->storage_class = in[2];
                id->type = in[3];
                if (in[2] == kPhysicalStorageBuffer) id->size = 8, id->alignment = 8;
                return true;
            default:
                return true;
        }
    }

    bool vector_type(const Instruction& in, SpirvId& id) {
        const SpirvId* element = find_sized(in[2]);
        if (element == nullptr || element->kind > kVector || in[3] < 2 || in[3] > 16)
            return bad("a vector or matrix of a type without a size");
        const bool is_matrix = in.op == kOpTypeMatrix;
        id.kind = is_matrix ? kOther : kVector;
        // std430 alignment: vec3 is aligned like vec4.
        const uint32_t lanes = in[3] == 3 ? 4 : in[3];
        id.alignment = is_matrix ? element->alignment : lanes * element->alignment;
        id.size = is_matrix ? in[3] * Checked(element->size).aligned(element->alignment).value()
                            : in[3] * element->size;
        return true;
    }

    bool array_type(const Instruction& in, SpirvId& id) {
        const SpirvId* element = find(in[2]);
        const SpirvId* length = find(in[3]);
        if (!in.has(4) || element == nullptr) return bad("an array without an element type");
        id.kind = kArray;
        // Elements of unknown size (cooperative matrices).
        if (element->alignment == 0) return true;
        if (length == nullptr || length->kind != kConstant)
            return bad("an array whose length is not a constant");
        const Checked stride = id.stride != 0 ? Checked(id.stride)
                                              : Checked(element->size).aligned(element->alignment);
        const Checked size = stride * length->size;
        constexpr uint64_t kMostBytes = uint64_t{1} << 32;
        if (!size.is_within(kMostBytes)) return bad("an array of over 2^32 bytes");
        id.alignment = element->alignment;
        id.size = size.value();
        return true;
    }

    bool struct_type(const Instruction& in, SpirvId& id) {
        id.kind = kStruct;
        uint32_t alignment = 1;
        Checked end;
        uint64_t last_size = 0;
        for (size_t member = 2; member < in.words.size(); ++member) {
            const SpirvId* type = find(in[member]);
            if (type == nullptr) return bad("a struct member without a type");
            if (type->alignment == 0) return true;
            alignment = std::max(alignment, type->alignment);
            end = end.aligned(type->alignment) + type->size;
            if (member - 2 == id.last_member) last_size = type->size;
        }
        if (id.last_member != kNone) {
            if (id.last_member + 2 >= in.words.size())
                return bad("an offset of a member that does not exist");
            end = Checked(id.last_offset) + last_size;
        }
        constexpr uint64_t kMostBytes = uint64_t{1} << 33;
        if (!end.is_within(kMostBytes)) return bad("a struct of over 2^33 bytes");
        id.alignment = alignment;
        id.size = end.value();
        return true;
    }

    bool constant(const Instruction& in) {
        has_types_ = true;
        SpirvId* id = find(in[2]);
        const SpirvId* type = find(in[1]);
        if (id == nullptr || type == nullptr) return bad("a constant without an id");
        if (id->kind != kUndefined) return bad("an id that is defined twice");
        id->kind = kOther;
        id->type = in[1];
        switch (in.op) {
            case kOpConstantTrue:
            case kOpSpecConstantTrue:
                id->kind = kConstant;
                id->size = 1;
                break;
            case kOpConstantFalse:
            case kOpSpecConstantFalse:
                id->kind = kConstant;
                break;
            case kOpConstant:
            case kOpSpecConstant:
                if (!in.has(4)) return bad("a constant without a value");
                id->kind = kConstant;
                id->size = in[3] | uint64_t{in[4]} << 32;
                break;
            case kOpConstantComposite:
            case kOpSpecConstantComposite:
                id->kind = kComposite;
                return !id->is_workgroup_size || built_in_size(in);
            default:
                return true;
        }
        if (id->spec_id == kNone) return true;
        if (const file::SpecConstantRecord* set = find_constant(id->spec_id)) {
            ids_[static_cast<size_t>(set - constants_.data())].is_constant_declared = true;
            if (type->kind != kScalar || type->size != 4)
                return bad("a specialization constant %u that is not of 32 bits", id->spec_id);
            id->size = set->value;
        }
        return true;
    }

    bool built_in_size(const Instruction& in) {
        if (in.words.size() != 6) return bad("a local size without three extents");
        for (size_t i = 0; i < 3; ++i) {
            const SpirvId* part = find(in[3 + i]);
            if (part == nullptr || part->kind != kConstant || part->size > UINT32_MAX)
                return bad("a local size that is not constant");
            facts_.local_size[i] = static_cast<uint32_t>(part->size);
        }
        has_built_in_size_ = has_local_size_ = true;
        return true;
    }

    bool variable(const Instruction& in) {
        has_types_ = true;
        const SpirvId* pointer = find(in[1]);
        SpirvId* id = find(in[2]);
        if (!in.has(4) || pointer == nullptr || pointer->kind != kPointer || id == nullptr)
            return bad("a variable without a type or an id");
        const SpirvId* type = find(pointer->type);
        if (type == nullptr) return bad("a variable without a type");
        const uint32_t storage = in[3];
        if (storage != pointer->storage_class)
            return bad("a variable of another storage class than its type");
        switch (storage) {
            case kInput:  // built-ins
                return true;
            case kWorkgroup:
                return add(facts_.shared_bytes, *type, uint64_t{1} << 32);
            case kPrivate:
            case kFunction:
                // Opaque types (cooperative matrices) have no known size.
                if (type->alignment == 0) return true;
                return add(local_bytes_, *type, kMaxLocalBytes);
            case kPushConstant:
                if (type->kind != kStruct || type->alignment == 0 || facts_.push_bytes != 0)
                    return bad("push constants that are not one block");
                facts_.push_bytes = type->size;
                return true;
            case kStorageBuffer:
            case kUniform:
                return descriptor(*id, *type, storage);
            default:
                return bad("a variable of storage class %u, which kernels may not use", storage);
        }
    }

    bool add(uint64_t& sum, const SpirvId& type, uint64_t limit) {
        if (type.alignment == 0) return bad("a variable of a type without a size");
        const Checked bytes = Checked(sum).aligned(type.alignment) + type.size;
        if (!bytes.is_within(limit))
            return bad("variables of over %llu bytes", static_cast<unsigned long long>(limit));
        sum = bytes.value();
        return true;
    }

    bool descriptor(const SpirvId& id, const SpirvId& type, uint32_t storage) {
        constexpr uint32_t kMaxBinding = 1u << 16;
        if (type.kind != kStruct || (storage == kUniform && !type.is_buffer_block))
            return bad("a descriptor that is not a storage buffer");
        if (id.set != 0 || id.binding > kMaxBinding)
            return bad("a descriptor that is not in set 0");
        facts_.descriptor_count = std::max(facts_.descriptor_count, id.binding + 1);
        return true;
    }

    /// mask  index of the memory operands, if present.
    bool access(const Instruction& in, size_t mask) {
        if ((in[mask] & kAlignedBit) == 0) return true;
        if (!in.has(mask + 2)) return bad("an access without its alignment");
        facts_.access_bytes = std::max(facts_.access_bytes, in[mask + 1]);
        return true;
    }

    std::span<const uint32_t> words_;
    std::span<const file::SpecConstantRecord> constants_;
    std::span<SpirvId> ids_;
    SpirvFacts& facts_;
    ViewError* error_;
    uint32_t optional_constants_ = 0;
    uint32_t entry_points_ = 0;
    uint64_t local_bytes_ = 0;
    bool has_local_size_ = false, has_built_in_size_ = false;
    bool has_types_ = false;
};

}  // namespace

uint32_t spirv_bound(std::span<const uint32_t> words) {
    // Each id takes an instruction of at least two words; some ids may be unused.
    constexpr size_t kSpare = 16;
    if (words.size() <= kHeaderWords || words[0] != kMagic) return 0;
    const uint32_t bound = words[kSpirvBoundWord];
    return bound <= words.size() + kSpare ? bound : 0;
}

bool read_spirv(std::span<const uint32_t> words,
                std::span<const file::SpecConstantRecord> constants, std::span<SpirvId> ids,
                SpirvFacts* facts, ViewError* error) {
    return Reader(words, constants, ids, facts, error).run();
}

bool check_code(const ProgramView& view, const file::KernelRecord& kernel, std::span<SpirvId> ids,
                SpirvFacts* facts, ViewError* error) {
    Reader reader(view.spirv_of(kernel), view.spec_constants_of(kernel), ids, facts, error);
    // Compilers remove constants of operands that were optimized away.
    reader.set_optional_constants(kernel.located_count);
    const auto wide = [](uint64_t value) { return static_cast<unsigned long long>(value); };
    const auto refuse = [&] {
        FixedText<256> why;
        why.set("%s", error->text.c_str());
        error->text.set("program: kernel %.64s: %s", view.text(kernel.name), why.c_str());
        return false;
    };
    const auto bad = [&] {
        error->code = StatusCode::kCorruptData;
        return refuse();
    };
    if (!reader.run()) return refuse();
    const std::array<uint32_t, 3>& size = facts->local_size;
    if (!std::equal(size.begin(), size.end(), kernel.local_size)) {
        error->text.set("local size %ux%ux%u, its code has %ux%ux%u", kernel.local_size[0],
                        kernel.local_size[1], kernel.local_size[2], size[0], size[1], size[2]);
        return bad();
    }
    const uint64_t push_bytes = file::push_bytes_of(kernel, view.binding_model());
    if (facts->push_bytes != 0 && facts->push_bytes != push_bytes) {
        error->text.set(
            "its operands and words take %llu bytes of push constants, its code has %llu",
            wide(push_bytes), wide(facts->push_bytes));
        return bad();
    }
    const bool addresses = view.binding_model() == BindingModel::kDeviceAddress;
    const uint64_t descriptors = addresses ? 0 : file::bound_count_of(kernel);
    if (facts->descriptor_count > descriptors) {
        error->text.set("its code has binding %u, its operands are %llu descriptors",
                        facts->descriptor_count - 1, wide(descriptors));
        return bad();
    }
    if (facts->has_addresses && !addresses) {
        error->text.set("its code uses addresses, the program's operands are descriptors");
        return bad();
    }
    if (facts->access_bytes > kernel.access_bytes) {
        error->text.set("its code accesses %u bytes at once, its record says %u",
                        facts->access_bytes, kernel.access_bytes);
        return bad();
    }
    return true;
}

}  // namespace hearth
