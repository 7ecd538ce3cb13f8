// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// In which scope of a kernel the variables of expressions are bound, and so where an expression can be computed first.

#pragma once

#include <hearth/op/scalar.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace hearth {

class VariableDepths {
  public:
    void bind(const ScalarNode& variable, size_t depth) { depths_[variable.bits] = depth; }
    void release(const ScalarNode& variable) { depths_.erase(variable.bits); }
    /// The outermost scope in which everything that the expression reads is known; 0 for one that reads no variable.
    size_t of(const ScalarArena& arena, uint32_t id) const;

  private:
    std::unordered_map<uint64_t, size_t> depths_;
};

}  // namespace hearth
