// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes scalar expressions as GLSL statements, between lines that are GLSL already: for functions for the
// game's own shaders (glsl_function.cpp), the one thing that is no body (kernel/body.hpp).
//
// Each expression that is used becomes one `const` local, in the outermost scope in which all that
// it depends on is known: what does not depend on a loop's counter is computed before the loop.

#pragma once

#include "ir/variable_depths.hpp"
#include "print/glsl_expressions.hpp"

#include <hearth/op/scalar.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace hearth {

/// The buffers that one kernel touches, in the order in which its text first names them.  They are
/// named by position, so that equal kernels on different values have equal text.
struct BufferTable {
    std::vector<uint32_t> values;
    bool uses_rows = false;

    std::string name_of(uint32_t value);
    /// The value's element as the number that expressions compute with, whatever its buffer holds.
    std::string load(uint32_t value, const std::string& element);
};

class GlslWriter {
  public:
    GlslWriter(ScalarArena& arena, BufferTable& buffers) : arena_(arena), buffers_(buffers) {
        scopes_.emplace_back();
    }

    /// Declares that `variable` is written as `name` from the current scope inward.
    void bind(Scalar variable, std::string name);

    /// Declares that the expression's value is written as `name` from the current scope inward.
    void define(Scalar value, std::string name);

    /// Opens `header {`; close_scope() ends it.  What is emitted between lands inside unless it can
    /// stand outside.
    void open_scope(std::string header);
    void close_scope();

    /// A name or literal for the expression's value, after emitting what it needs.
    std::string emit(Scalar value);

    /// Adds a statement to the current scope.
    void line(const std::string& text);
    /// The finished text.  All scopes but the first must be closed.
    std::string text() const;

    /// Of shaders/common, what the text calls: rounding, or any function.
    bool calls_rounding() const { return calls_rounding_; }
    bool calls_functions() const { return calls_functions_; }

  private:
    struct Line {
        size_t depth;
        std::string text;
    };
    struct Scope {
        std::string header;
        std::vector<Line> lines;
        std::unordered_map<uint32_t, std::string> names;  ///< expression id -> local or literal
    };

    std::string emit_node(uint32_t id);
    std::string emit_loop(uint32_t id);
    std::string expression(const ScalarNode& node);
    const std::string* known(uint32_t id) const;
    void remember(uint32_t id, size_t depth, std::string name);
    void add_line(size_t depth, std::string text) {
        scopes_[depth].lines.push_back({depth, std::move(text)});
    }

    ScalarArena& arena_;
    BufferTable& buffers_;
    std::vector<Scope> scopes_;
    VariableDepths variable_depths_;
    uint32_t locals_ = 0;
    bool calls_rounding_ = false, calls_functions_ = false;
};

}  // namespace hearth
