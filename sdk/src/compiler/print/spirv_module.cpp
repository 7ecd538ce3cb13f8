// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/spirv_module.hpp"

namespace hearth::spirv {

namespace {

constexpr uint32_t kMagic = 0x07230203, kVersion14 = 0x00010400;
constexpr uint32_t kGlCompute = 5, kLocalSize = 17, kRoundingModeRte = 4462;

Words words_of(std::string_view text) {
    Words words(text.size() / 4 + 1);
    for (size_t i = 0; i < text.size(); ++i)
        words[i / 4] |= uint32_t{static_cast<uint8_t>(text[i])} << (8 * (i % 4));
    return words;
}

void append(Words& to, Op op, std::initializer_list<uint32_t> operands) {
    append(to, op, std::span(operands.begin(), operands.size()));
}

}  // namespace

void append(Words& to, Op op, std::span<const uint32_t> operands) {
    to.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(op));
    to.insert(to.end(), operands.begin(), operands.end());
}

uint32_t Module::declare(Op op, std::span<const uint32_t> operands, uint32_t type) {
    Words key{static_cast<uint32_t>(op), type};
    key.insert(key.end(), operands.begin(), operands.end());
    const auto [at, is_new] = declared_.try_emplace(std::move(key), 0);
    if (!is_new) return at->second;
    at->second = new_id();
    Words all;
    if (type != 0) all.push_back(type);
    all.push_back(at->second);
    all.insert(all.end(), operands.begin(), operands.end());
    append(declarations_, op, all);
    return at->second;
}

uint32_t Module::type_block_of(uint32_t element, uint32_t bytes) {
    const auto known = blocks_.find({element, bytes});
    if (known != blocks_.end()) return known->second;
    const uint32_t array = new_id(), block = new_id();
    append(declarations_, Op::kTypeRuntimeArray, {array, element});
    append(declarations_, Op::kTypeStruct, {block, array});
    decorate(array, Decoration::kArrayStride, {bytes});
    append(decorations_, Op::kMemberDecorate,
           {block, 0, static_cast<uint32_t>(Decoration::kOffset), 0});
    decorate(block, Decoration::kBlock);
    blocks_.emplace(std::pair(element, bytes), block);
    return block;
}

uint32_t Module::type_pointer_to_block_of(uint32_t element, uint32_t bytes) {
    const auto [at, is_new] = pointers_to_blocks_.try_emplace({element, bytes}, 0);
    if (!is_new) return at->second;
    constexpr auto kStorage = static_cast<uint32_t>(Storage::kPhysicalStorageBuffer);
    at->second = new_id();
    append(declarations_, Op::kTypeForwardPointer, {at->second, kStorage});
    const uint32_t block = type_block_of(element, bytes);
    append(declarations_, Op::kTypePointer, {at->second, kStorage, block});
    return at->second;
}

uint32_t Module::type_block(std::span<const Member> members) {
    const uint32_t block = new_id();
    Words all{block};
    uint32_t offset = 0;
    for (uint32_t i = 0; i < members.size(); ++i) {
        all.push_back(members[i].type);
        append(decorations_, Op::kMemberDecorate,
               {block, i, static_cast<uint32_t>(Decoration::kOffset), offset});
        offset += members[i].bytes;
    }
    append(declarations_, Op::kTypeStruct, all);
    decorate(block, Decoration::kBlock);
    return block;
}

uint32_t Module::spec_constant(uint32_t number) {
    const auto [at, is_new] = spec_constants_.try_emplace(number, 0);
    if (!is_new) return at->second;
    const uint32_t type = type_int(32, false);
    at->second = new_id();
    append(declarations_, Op::kSpecConstant, {type, at->second, 0});
    decorate(at->second, Decoration::kSpecId, {number});
    return at->second;
}

uint32_t Module::variable(Storage storage, uint32_t type) {
    const uint32_t pointer = type_pointer(storage, type), id = new_id();
    append(declarations_, Op::kVariable, {pointer, id, static_cast<uint32_t>(storage)});
    variables_.emplace_back(id, storage);
    return id;
}

uint32_t Module::built_in(BuiltIn which, uint32_t type) {
    const auto [at, is_new] = built_ins_.try_emplace(static_cast<uint32_t>(which), 0);
    if (!is_new) return at->second;
    at->second = variable(Storage::kInput, type);
    decorate(at->second, Decoration::kBuiltIn, {static_cast<uint32_t>(which)});
    return at->second;
}

void Module::decorate(uint32_t id, Decoration decoration,
                      std::initializer_list<uint32_t> operands) {
    Words all{id, static_cast<uint32_t>(decoration)};
    all.insert(all.end(), operands.begin(), operands.end());
    append(decorations_, Op::kDecorate, all);
}

void Module::name(uint32_t id, std::string_view text) {
    Words all{id};
    for (const uint32_t word : words_of(text)) all.push_back(word);
    append(names_, Op::kName, all);
}

uint32_t Module::math_instructions() {
    if (math_ == 0) math_ = new_id();
    return math_;
}

Words Module::finish(uint32_t main, std::span<const uint32_t> local_size) {
    Words words{kMagic, version_, 0, next_id_, 0};
    require(Capability::kShader);
    for (const uint32_t capability : capabilities_) append(words, Op::kCapability, {capability});
    for (const std::string& extension : extensions_)
        append(words, Op::kExtension, words_of(extension));
    if (math_ != 0) {
        Words import{math_};
        for (const uint32_t word : words_of("GLSL.std.450")) import.push_back(word);
        append(words, Op::kExtInstImport, import);
    }
    append(words, Op::kMemoryModel, {addressing_, memory_});
    Words entry{kGlCompute, main};
    for (const uint32_t word : words_of("main")) entry.push_back(word);
    for (const auto& [id, storage] : variables_)
        if (version_ >= kVersion14 || storage == Storage::kInput) entry.push_back(id);
    append(words, Op::kEntryPoint, entry);
    append(words, Op::kExecutionMode,
           {main, kLocalSize, local_size[0], local_size[1], local_size[2]});
    if (rounds_halves_to_even_) append(words, Op::kExecutionMode, {main, kRoundingModeRte, 16});
    for (const Words* section : {&names_, &decorations_, &declarations_, &functions_})
        words.insert(words.end(), section->begin(), section->end());
    return words;
}

}  // namespace hearth::spirv
