// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes scalar expressions as GLSL statements, between lines that are GLSL already: for what is no
// body yet (kernel/body.hpp): fused networks, and functions for the game's own shaders.
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

    /// Loads of this value are of elements of shared memory.
    static constexpr uint32_t kShared = 0xfffffffeu;
    /// The same of shared memory that holds f16.
    static constexpr uint32_t kSharedHalf = 0xfffffffdu;

    std::string name_of(uint32_t value);
    /// The value's element as the number that kernels compute with, whatever its buffer holds; see
    /// operands.hpp.
    std::string load(uint32_t value, const std::string& element, ScalarType type);
    /// A statement that stores `contents` as an element, rounded to the value's type.
    std::string store(uint32_t value, const std::string& element, const std::string& contents);
};

/// An element of shared memory, which holds floats, as a `type`; and the other way.
std::string shared_element(const std::string& element, ScalarType type);
std::string shared_content(const std::string& value, ScalarType type);

class GlslWriter {
  public:
    /// round_f16: the function that rounds to f16.
    GlslWriter(ScalarArena& arena, BufferTable& buffers, std::string_view round_f16 = kRoundF16)
        : arena_(arena), buffers_(buffers), round_f16_(round_f16) {
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
    /// Leaves room in the current scope for a line that is known later: fill().
    void leave_room();
    void fill_room(std::string text) { room_ = std::move(text); }

    /// The finished text, so many steps from the margin.  All scopes but the first must be closed.
    std::string text(size_t margin = 1) const;
    /// The same as one line, which a macro can be.
    std::string text_in_line() const;

    /// Of shaders/common, what the text calls: rounding, or any function.
    bool calls_rounding() const { return calls_rounding_; }
    bool calls_functions() const { return calls_functions_; }

  private:
    struct Line {
        size_t depth;
        std::string text;
        bool is_room = false;
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
    std::string_view round_f16_;
    std::string room_;
    bool calls_rounding_ = false, calls_functions_ = false;
};

}  // namespace hearth
