// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scope depths of variables, from which the outermost scope of an expression follows.

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
    /// Depth of the outermost scope in which all variables of the expression are bound; 0 if it has
    /// none.
    size_t of(const ScalarArena& arena, uint32_t id) const;

  private:
    std::unordered_map<uint64_t, size_t> depths_;
};

}  // namespace hearth
