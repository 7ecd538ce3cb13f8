// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assembles small compute modules in SPIR-V, right ones and wrong ones.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth::test {

class SpirvModule {
  public:
    explicit SpirvModule(uint32_t version = 0x00010500) : words_{0x07230203, version, 0, 1, 0} {}

    SpirvModule& op(uint32_t opcode, std::span<const uint32_t> operands) {
        words_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | opcode);
        words_.insert(words_.end(), operands.begin(), operands.end());
        return *this;
    }
    SpirvModule& op(uint32_t opcode, std::initializer_list<uint32_t> operands = {}) {
        return op(opcode, std::span(operands.begin(), operands.size()));
    }
    uint32_t new_id() { return words_[3]++; }
    SpirvModule& set_bound(uint32_t bound) {
        words_[3] = bound;
        return *this;
    }
    const std::vector<uint32_t>& words() const { return words_; }

  private:
    std::vector<uint32_t> words_;
};

inline constexpr uint32_t kMainName = 'm' | 'a' << 8 | 'i' << 16 | 'n' << 24;

/// What to vary of a module that does nothing.
struct ModuleParts {
    uint32_t version = 0x00010500;
    std::vector<uint32_t> capabilities{1};  // Shader
    bool nop_before_capabilities = false;
    uint32_t execution_model = 5;  // GLCompute
    std::array<uint32_t, 2> entry_name{kMainName, 0};
    uint32_t entry_points = 1;
    std::array<uint32_t, 3> local_size{64, 1, 1};
    bool has_local_size = true;
    uint32_t push_words = 0;              ///< members of the push constants' block, of 32 bits
    uint32_t shared_words = 0;            ///< a shared array of so many floats
    uint32_t local_words = 0;             ///< a local array of so many floats
    std::vector<uint32_t> spec_ids;       ///< constants of 32 bits
    std::vector<uint32_t> wide_spec_ids;  ///< constants of 64 bits
    std::vector<uint32_t> bindings;       ///< storage buffers in set 0
    uint32_t set = 0;
    uint32_t load_alignment = 0;  ///< of a load; 0: there is none
    uint32_t bound = 0;           ///< 0: the right one
};

/// A compute shader with these declarations, and a main() that returns.
inline std::vector<uint32_t> make_module(const ModuleParts& parts) {
    SpirvModule m(parts.version);
    if (parts.nop_before_capabilities) m.op(0);
    for (uint32_t capability : parts.capabilities) m.op(17, {capability});
    m.op(14, {0, 1});
    const uint32_t main = m.new_id();
    for (uint32_t i = 0; i < parts.entry_points; ++i)
        m.op(15, {parts.execution_model, main, parts.entry_name[0], parts.entry_name[1]});
    if (parts.has_local_size)
        m.op(16, {main, 17, parts.local_size[0], parts.local_size[1], parts.local_size[2]});

    // Ids that decorations name come before what defines them.
    std::vector<uint32_t> specs, wide_specs, buffers;
    for (uint32_t id : parts.spec_ids) m.op(71, {specs.emplace_back(m.new_id()), 1, id});
    for (uint32_t id : parts.wide_spec_ids) m.op(71, {wide_specs.emplace_back(m.new_id()), 1, id});
    const uint32_t push = m.new_id();
    for (uint32_t i = 0; i < parts.push_words; ++i) m.op(72, {push, i, 35, 4 * i});
    if (parts.push_words > 0) m.op(71, {push, 2});
    const uint32_t block = m.new_id(), floats = m.new_id();
    if (!parts.bindings.empty()) {
        m.op(71, {floats, 6, 4});
        m.op(71, {block, 2}).op(72, {block, 0, 35, 0});
    }
    for (uint32_t binding : parts.bindings) {
        const uint32_t id = buffers.emplace_back(m.new_id());
        m.op(71, {id, 34, parts.set}).op(71, {id, 33, binding});
    }

    const uint32_t nothing = m.new_id(), function = m.new_id(), word = m.new_id(),
                   real = m.new_id(), wide = m.new_id();
    m.op(19, {nothing}).op(33, {function, nothing});
    m.op(21, {word, 32, 0}).op(22, {real, 32}).op(21, {wide, 64, 0});
    for (uint32_t id : specs) m.op(50, {word, id, 0});
    for (uint32_t id : wide_specs) m.op(50, {wide, id, 0, 0});
    const auto array_variable = [&](uint32_t count, uint32_t storage) {
        const uint32_t length = m.new_id(), array = m.new_id(), pointer = m.new_id();
        m.op(43, {word, length, count}).op(28, {array, real, length});
        m.op(32, {pointer, storage, array}).op(59, {pointer, m.new_id(), storage});
    };
    if (parts.push_words > 0) {
        std::vector<uint32_t> members(1, push);
        members.resize(1 + parts.push_words, word);
        const uint32_t pointer = m.new_id();
        m.op(30, members).op(32, {pointer, 9, push}).op(59, {pointer, m.new_id(), 9});
    }
    if (parts.shared_words > 0) array_variable(parts.shared_words, 4);
    if (parts.local_words > 0) array_variable(parts.local_words, 6);
    if (!parts.bindings.empty()) {
        const uint32_t pointer = m.new_id();
        m.op(29, {floats, real}).op(30, {block, floats}).op(32, {pointer, 12, block});
        for (uint32_t id : buffers) m.op(59, {pointer, id, 12});
    }
    m.op(54, {nothing, main, 0, function}).op(248, {m.new_id()});
    if (parts.load_alignment > 0) m.op(61, {word, m.new_id(), m.new_id(), 2, parts.load_alignment});
    m.op(253).op(56);
    if (parts.bound != 0) m.set_bound(parts.bound);
    return m.words();
}

}  // namespace hearth::test
