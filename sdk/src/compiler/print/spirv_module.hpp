// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds a SPIR-V compute module: sections in the order that the specification asks for (SPIR-V 1.6, 2.4), each type and
// constant declared once.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::spirv {

/// Opcodes, in the order of their numbers (SPIR-V 1.6, 3.49; cooperative matrices: their extensions).
enum class Op : uint16_t {
    kName = 5,
    kExtension = 10,
    kExtInstImport = 11,
    kExtInst = 12,
    kMemoryModel = 14,
    kEntryPoint = 15,
    kExecutionMode = 16,
    kCapability = 17,
    kTypeVoid = 19,
    kTypeBool = 20,
    kTypeInt = 21,
    kTypeFloat = 22,
    kTypeVector = 23,
    kTypeArray = 28,
    kTypeRuntimeArray = 29,
    kTypeStruct = 30,
    kTypePointer = 32,
    kTypeFunction = 33,
    kTypeForwardPointer = 39,
    kConstantTrue = 41,
    kConstantFalse = 42,
    kConstant = 43,
    kConstantComposite = 44,
    kSpecConstant = 50,
    kFunction = 54,
    kFunctionParameter = 55,
    kFunctionEnd = 56,
    kFunctionCall = 57,
    kVariable = 59,
    kLoad = 61,
    kStore = 62,
    kAccessChain = 65,
    kDecorate = 71,
    kMemberDecorate = 72,
    kVectorExtractDynamic = 77,
    kVectorShuffle = 79,
    kCompositeConstruct = 80,
    kCompositeExtract = 81,
    kCopyObject = 83,
    kConvertFToU = 109,
    kConvertFToS = 110,
    kConvertSToF = 111,
    kConvertUToF = 112,
    kUConvert = 113,
    kSConvert = 114,
    kFConvert = 115,
    kBitcast = 124,
    kSNegate = 126,
    kFNegate = 127,
    kIAdd = 128,
    kFAdd = 129,
    kISub = 130,
    kFSub = 131,
    kIMul = 132,
    kFMul = 133,
    kUDiv = 134,
    kSDiv = 135,
    kFDiv = 136,
    kUMod = 137,
    kSRem = 138,
    kVectorTimesScalar = 142,
    kDot = 148,
    kIAddCarry = 149,
    kUMulExtended = 151,
    kIsNan = 156,
    kIsInf = 157,
    kLogicalEqual = 164,
    kLogicalNotEqual = 165,
    kLogicalOr = 166,
    kLogicalAnd = 167,
    kLogicalNot = 168,
    kSelect = 169,
    kIEqual = 170,
    kINotEqual = 171,
    kUGreaterThan = 172,
    kSGreaterThan = 173,
    kUGreaterThanEqual = 174,
    kSGreaterThanEqual = 175,
    kULessThan = 176,
    kSLessThan = 177,
    kULessThanEqual = 178,
    kSLessThanEqual = 179,
    kFOrdEqual = 180,
    kFUnordNotEqual = 183,
    kFOrdLessThan = 184,
    kFOrdGreaterThan = 186,
    kFOrdLessThanEqual = 188,
    kFOrdGreaterThanEqual = 190,
    kShiftRightLogical = 194,
    kShiftRightArithmetic = 195,
    kShiftLeftLogical = 196,
    kBitwiseOr = 197,
    kBitwiseXor = 198,
    kBitwiseAnd = 199,
    kNot = 200,
    kBitFieldSExtract = 202,
    kBitFieldUExtract = 203,
    kControlBarrier = 224,
    kPhi = 245,
    kLoopMerge = 246,
    kSelectionMerge = 247,
    kLabel = 248,
    kBranch = 249,
    kBranchConditional = 250,
    kReturn = 253,
    kReturnValue = 254,
    kUnreachable = 255,
    // Cooperative matrices.
    kTypeMatrixKhr = 4456,
    kLoadMatrixKhr = 4457,
    kStoreMatrixKhr = 4458,
    kMultiplyAddKhr = 4459,
    kMatrixLengthKhr = 4460,
    kTypeMatrixNv = 5358,
    kLoadMatrixNv = 5359,
    kStoreMatrixNv = 5360,
    kMultiplyAddNv = 5361,
    kFDot2MixAcc32 = 6916,
    kMatrixLengthNv = 5362,
};

/// Of the extended instruction set GLSL.std.450.
enum class Math : uint32_t {
    kRoundEven = 2,
    kTrunc = 3,
    kFAbs = 4,
    kSAbs = 5,
    kFSign = 6,
    kSSign = 7,
    kFloor = 8,
    kCeil = 9,
    kPow = 26,
    kExp = 27,
    kLog = 28,
    kSqrt = 31,
    kInverseSqrt = 32,
    kFMin = 37,
    kUMin = 38,
    kSMin = 39,
    kFMax = 40,
    kUMax = 41,
    kSMax = 42,
    kSClamp = 45,
    kFma = 50,
    kPackHalf2x16 = 58,
    kUnpackHalf2x16 = 62,
};

enum class Capability : uint32_t {
    kShader = 1,
    kFloat16 = 9,
    kFloat64 = 10,
    kInt64 = 11,
    kGroupNonUniform = 61,
    kStorageBuffer16Bit = 4433,
    kStorageBuffer8Bit = 4448,
    kRoundingModeRte = 4467,
    kVulkanMemoryModel = 5345,
    kPhysicalStorageBufferAddresses = 5347,
    kMatricesNv = 5357,
    kMatricesKhr = 6022,
    kDotHalves = 6912,
};

enum class Decoration : uint32_t {
    kSpecId = 1,
    kBlock = 2,
    kArrayStride = 6,
    kBuiltIn = 11,
    kBinding = 33,
    kDescriptorSet = 34,
    kOffset = 35,
    kNoContraction = 42,
};

enum class Storage : uint32_t {
    kInput = 1,
    kWorkgroup = 4,
    kPrivate = 6,
    kFunction = 7,
    kPushConstant = 9,
    kStorageBuffer = 12,
    kPhysicalStorageBuffer = 5349,
};

enum class BuiltIn : uint32_t {
    kNumWorkgroups = 24,
    kWorkgroupId = 26,
    kLocalInvocationId = 27,
    kSubgroupId = 40,
    kSubgroupInvocation = 41,
};

using Words = std::vector<uint32_t>;

void append(Words& to, Op op, std::span<const uint32_t> operands);

class Module {
  public:
    explicit Module(uint32_t version) : version_(version) {}

    uint32_t new_id() { return next_id_++; }

    void require(Capability capability) { capabilities_.insert(static_cast<uint32_t>(capability)); }
    /// Conversions to f16 round to nearest even, whatever the driver does otherwise.
    void round_halves_to_even() {
        require(Capability::kRoundingModeRte);
        constexpr uint32_t kCoreSince = 0x00010400;
        require_extension("SPV_KHR_float_controls", kCoreSince);
        rounds_halves_to_even_ = true;
    }
    /// An extension that `core` (0x00010500 for 1.5) took up; 0: none has.
    void require_extension(const std::string& name, uint32_t core) {
        if (core == 0 || version_ < core) extensions_.insert(name);
    }

    // Types, each declared once.
    uint32_t type_void() { return declare(Op::kTypeVoid, {}); }
    uint32_t type_bool() { return declare(Op::kTypeBool, {}); }
    uint32_t type_int(uint32_t bits, bool is_signed) {
        return declare(Op::kTypeInt, {bits, is_signed ? 1u : 0u});
    }
    uint32_t type_float(uint32_t bits) { return declare(Op::kTypeFloat, {bits}); }
    uint32_t type_vector(uint32_t component, uint32_t count) {
        return declare(Op::kTypeVector, {component, count});
    }
    uint32_t type_array(uint32_t element, uint32_t length) {
        return declare(Op::kTypeArray, {element, constant(length)});
    }
    uint32_t type_struct(std::span<const uint32_t> members) {
        return declare(Op::kTypeStruct, members);
    }
    uint32_t type_pointer(Storage storage, uint32_t type) {
        return declare(Op::kTypePointer, {static_cast<uint32_t>(storage), type});
    }
    uint32_t type_function(std::span<const uint32_t> result_and_parameters) {
        return declare(Op::kTypeFunction, result_and_parameters);
    }
    /// A block of one member, an array of elements of so many bytes without an end.
    uint32_t type_block_of(uint32_t element, uint32_t bytes);
    /// A pointer into physical storage to such a block.  It is declared ahead of the block, as pointers to what points to
    /// its own kind must be: only so validators let it be cast whatever the elements are.
    uint32_t type_pointer_to_block_of(uint32_t element, uint32_t bytes);
    /// A block of members of these types one behind the other, each of so many bytes.
    struct Member {
        uint32_t type = 0, bytes = 0;
    };
    uint32_t type_block(std::span<const Member> members);

    // Constants, each declared once.
    uint32_t constant(uint32_t value) { return constant(type_int(32, false), {value}); }
    uint32_t constant(uint32_t type, std::initializer_list<uint32_t> words) {
        return declare(Op::kConstant, std::span(words.begin(), words.size()), type);
    }
    uint32_t constant(bool value) {
        return declare(value ? Op::kConstantTrue : Op::kConstantFalse, {}, type_bool());
    }
    uint32_t constant_composite(uint32_t type, std::span<const uint32_t> members) {
        return declare(Op::kConstantComposite, members, type);
    }
    /// A word that the host may set when it makes the pipeline; 0 by itself.
    uint32_t spec_constant(uint32_t number);
    /// A variable of the module.
    uint32_t variable(Storage storage, uint32_t type);
    uint32_t built_in(BuiltIn which, uint32_t type);

    /// OpTypeX or OpConstantX with these operands, declared once.  type: of a constant.
    uint32_t declare(Op op, std::span<const uint32_t> operands, uint32_t type = 0);
    uint32_t declare(Op op, std::initializer_list<uint32_t> operands, uint32_t type = 0) {
        return declare(op, std::span(operands.begin(), operands.size()), type);
    }

    void decorate(uint32_t id, Decoration decoration,
                  std::initializer_list<uint32_t> operands = {});
    void name(uint32_t id, std::string_view text);

    uint32_t math_instructions();

    /// A finished function, OpFunction to OpFunctionEnd.
    void add_function(std::span<const uint32_t> words) {
        functions_.insert(functions_.end(), words.begin(), words.end());
    }
    void set_memory_model(uint32_t addressing, uint32_t memory) {
        addressing_ = addressing;
        memory_ = memory;
    }

    Words finish(uint32_t main, std::span<const uint32_t> local_size);

  private:
    uint32_t version_, next_id_ = 1;
    uint32_t addressing_ = 0, memory_ = 1;
    uint32_t math_ = 0;
    std::set<uint32_t> capabilities_;
    std::set<std::string> extensions_;
    bool rounds_halves_to_even_ = false;
    std::map<Words, uint32_t> declared_;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> blocks_, pointers_to_blocks_;
    std::map<uint32_t, uint32_t> built_ins_, spec_constants_;
    std::vector<std::pair<uint32_t, Storage>> variables_;
    Words names_, decorations_, declarations_, functions_;
};

}  // namespace hearth::spirv
