// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The two extensions differ in this (SPV_NV_cooperative_matrix and SPV_KHR_cooperative_matrix,
// Khronos SPIR-V registry):
//
//   type     NV: component, scope, rows, columns.  KHR: then the use, which is 0 for left operands, 1
//            for right ones, 2 for sums.
//   load     NV: pointer, stride, whether by columns (a bool), memory operands.
//            KHR: pointer, layout (0 by rows, 1 by columns), stride, memory operands.
//   store    likewise, after pointer and object.
//   the sum of products, and the length, have other numbers.

#include "compiler/codegen/khr_matrices.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

namespace hearth {

namespace {

constexpr uint32_t kHeaderWords = 5, kBoundWord = 3;
constexpr uint32_t kFirstScopeId = 2000;  // of shaders/common/coopmat.glsl
constexpr uint32_t kUses = 3;
constexpr uint32_t kNvCapability = 5357, kKhrCapability = 6022;
constexpr uint32_t kDecorationSpecId = 1;

enum Op : uint32_t {
    kOpSourceExtension = 4,
    kOpLine = 8,
    kOpExtension = 10,
    kOpCapability = 17,
    kOpTypeInt = 21,
    kOpConstantTrue = 41,
    kOpConstantFalse = 42,
    kOpConstant = 43,
    kOpSpecConstantOp = 52,
    kOpFunctionParameter = 55,
    kOpVariable = 59,
    kOpFunction = 54,
    kOpDecorate = 71,
    kOpIAdd = 128,
    kOpLabel = 248,
    kOpTypeMatrixKhr = 4456,
    kOpLoadKhr = 4457,
    kOpStoreKhr = 4458,
    kOpMulAddKhr = 4459,
    kOpLengthKhr = 4460,
    kOpTypeMatrixNv = 5358,
    kOpLoadNv = 5359,
    kOpStoreNv = 5360,
    kOpMulAddNv = 5361,
    kOpLengthNv = 5362,
};

class Translator {
  public:
    explicit Translator(std::span<const uint32_t> in) : in_(in) {}

    Result<std::vector<uint32_t>> run() {
        out_.assign(in_.begin(), in_.begin() + kHeaderWords);
        next_id_ = in_[kBoundWord];
        for (size_t at = kHeaderWords; at < in_.size();) {
            const uint32_t count = in_[at] >> 16;
            if (count == 0 || count > in_.size() - at)
                return internal_error("khr_matrices: a module cut short");
            HEARTH_TRY(instruction(in_[at] & 0xffff, in_.subspan(at, count)));
            at += count;
        }
        out_[kBoundWord] = next_id_;
        return std::move(out_);
    }

  private:
    Status instruction(uint32_t opcode, std::span<const uint32_t> words) {
        switch (opcode) {
            case kOpCapability:
                emit(opcode, {words[1] == kNvCapability ? kKhrCapability : words[1]});
                return {};
            case kOpExtension:
                extension(words);
                return {};
            case kOpDecorate:
                if (words.size() == 4 && words[2] == kDecorationSpecId &&
                    words[3] - kFirstScopeId < kUses)
                    use_of_scope_[words[1]] = words[3] - kFirstScopeId;
                break;
            case kOpConstantTrue:
            case kOpConstantFalse:
                is_true_[words[2]] = opcode == kOpConstantTrue;
                break;
            case kOpTypeMatrixNv:
                return matrix_type(words);
            case kOpLoadNv:
                return transfer(kOpLoadKhr, words, 3);
            case kOpStoreNv:
                return transfer(kOpStoreKhr, words, 2);
            case kOpMulAddNv:
                return renumbered(kOpMulAddKhr, words);
            case kOpLengthNv:
                return renumbered(kOpLengthKhr, words);
            case kOpSpecConstantOp:
                if (!is_of_length(words)) break;
                lengths_.push_back(words);
                return {};
            case kOpFunction:
                is_first_block_ = !lengths_.empty();
                break;
            case kOpFunctionParameter:
            case kOpLabel:
            case kOpVariable:
            case kOpLine:
                copy(words);
                return {};
            default:
                if (is_first_block_) emit_lengths();
                break;
        }
        copy(words);
        return {};
    }

    /// Whether a constant is a matrix's length, or that as another integer.
    bool is_of_length(std::span<const uint32_t> words) const {
        return words[3] == kOpLengthNv ||
               (words[3] == kOpIAdd && std::any_of(lengths_.begin(), lengths_.end(),
                                                   [&](std::span<const uint32_t> length) {
                                                       return length[2] == words[4];
                                                   }));
    }

    /// Lengths are constants by one extension alone: by the other main(), the first function, asks
    /// for them before all else.
    void emit_lengths() {
        for (std::span<const uint32_t> length : lengths_)
            if (length[3] == kOpLengthNv)
                emit(kOpLengthKhr, {length[1], length[2], length[4]});
            else
                emit(kOpIAdd, {length[1], length[2], length[4], length[5]});
        lengths_.clear();
        is_first_block_ = false;
    }

    void copy(std::span<const uint32_t> words) {
        out_.insert(out_.end(), words.begin(), words.end());
    }

    void emit(uint32_t opcode, const std::vector<uint32_t>& operands) {
        out_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
        out_.insert(out_.end(), operands.begin(), operands.end());
    }

    Status renumbered(uint32_t opcode, std::span<const uint32_t> words) {
        emit(opcode, {words.begin() + 1, words.end()});
        return {};
    }

    void extension(std::span<const uint32_t> words) {
        constexpr std::string_view kNv = "SPV_NV_cooperative_matrix";
        constexpr char kKhr[] = "SPV_KHR_cooperative_matrix";
        const auto* text = reinterpret_cast<const char*>(words.data() + 1);
        if (std::string_view(text, strnlen(text, (words.size() - 1) * 4)) != kNv)
            return copy(words);
        std::vector<uint32_t> name((sizeof kKhr + 3) / 4, 0);
        std::memcpy(name.data(), kKhr, sizeof kKhr);
        emit(kOpExtension, name);
    }

    Status matrix_type(std::span<const uint32_t> words) {
        const auto use = words.size() == 6 ? use_of_scope_.find(words[3]) : use_of_scope_.end();
        if (use == use_of_scope_.end())
            return internal_error("khr_matrices: a matrix type whose scope tells no use");
        HEARTH_TRY(make_numbers());
        emit(kOpTypeMatrixKhr,
             {words[1], words[2], words[3], words[4], words[5], numbers_[use->second]});
        return {};
    }

    /// A load or store; `stride` is the position of that operand's word less one.
    Status transfer(uint32_t opcode, std::span<const uint32_t> words, size_t stride) {
        ++stride;
        const auto by_columns =
            words.size() > stride + 1 ? is_true_.find(words[stride + 1]) : is_true_.end();
        if (by_columns == is_true_.end())
            return internal_error("khr_matrices: a layout that is no constant");
        std::vector<uint32_t> operands(words.begin() + 1,
                                       words.begin() + static_cast<ptrdiff_t>(stride));
        operands.push_back(numbers_[by_columns->second ? 1 : 0]);
        operands.push_back(words[stride]);
        operands.insert(operands.end(), words.begin() + static_cast<ptrdiff_t>(stride) + 2,
                        words.end());
        emit(opcode, operands);
        return {};
    }

    /// The constants 0, 1 and 2, of an integer type that the module has by now.
    Status make_numbers() {
        if (numbers_[0] != 0) return {};
        uint32_t type = 0;
        for (size_t at = kHeaderWords; at < out_.size() && type == 0; at += out_[at] >> 16)
            if ((out_[at] & 0xffff) == kOpTypeInt && out_[at + 2] == 32) type = out_[at + 1];
        if (type == 0) return internal_error("khr_matrices: no integer type before the matrices");
        for (uint32_t i = 0; i < kUses; ++i) {
            numbers_[i] = next_id_++;
            emit(kOpConstant, {type, numbers_[i], i});
        }
        return {};
    }

    std::span<const uint32_t> in_;
    std::vector<uint32_t> out_;
    uint32_t next_id_ = 0;
    uint32_t numbers_[kUses] = {};
    std::map<uint32_t, uint32_t> use_of_scope_;
    std::map<uint32_t, bool> is_true_;
    std::vector<std::span<const uint32_t>> lengths_;
    bool is_first_block_ = false;
};

}  // namespace

Result<std::vector<uint32_t>> to_khr_matrices(std::span<const uint32_t> spirv) {
    if (spirv.size() < kHeaderWords) return internal_error("khr_matrices: no module");
    return Translator(spirv).run();
}

}  // namespace hearth
