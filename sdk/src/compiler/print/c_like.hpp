// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The walk over a body's statements and expressions that the printers of GLSL, WGSL and C share.  Each overrides what its
// language writes in another way, and leaves the rest to this one.

#pragma once

#include "compiler/kernel/body.hpp"
#include "compiler/print/operators.hpp"

#include <hearth/status.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

class CLikePrinter {
  protected:
    explicit CLikePrinter(const Body& body) : body_(body) {}
    ~CLikePrinter() = default;

    const ExprNode& node(uint32_t id) const { return body_.expressions[id]; }
    const Local& local(const Statement& s) const { return body_.locals[s.local]; }
    void line(const std::string& text) { text_ += std::string(4 * depth_, ' ') + text + "\n"; }
    void block(const std::vector<Statement>& statements);

    virtual void statement(const Statement& s);
    virtual std::string expression(uint32_t id);
    /// The expression as part of a larger one: a name, a literal, a call or in parentheses.
    std::string operand(uint32_t id);
    /// The expressions with commas between them, but those that are 0.
    std::string list(std::span<const uint32_t> expressions);
    /// The first of a statement's lines: "for (...) {".
    std::string loop_head(const Statement& s);
    /// Statements that load or store a vector, element by element.
    void load_elements(const Statement& s);
    void store_elements(const Statement& s);
    /// kWorkgroup or kWorkgroups of an axis.  linear: the workgroup's number among all, or their count.
    std::string along_axis(const ExprNode& n, const std::string& linear);
    /// Whether a quotient or remainder of whole numbers is by a constant that is not zero.
    bool is_by_constant(const ExprNode& operation) const;

    virtual std::string literal(uint64_t bits, ScalarType type) const = 0;
    virtual std::string place_of(uint64_t local) const = 0;
    virtual std::string place_of_buffer(uint64_t buffer) const;
    /// A variable, an array or a value that is set once, with its type.
    virtual std::string declaration(const Local& l) = 0;
    virtual std::string declaration_of_value(const Local& l) { return "const " + declaration(l); }
    virtual std::string load(uint64_t buffer, const std::string& element) = 0;
    /// A statement.  element, value: see operand().
    virtual std::string store(uint64_t buffer, const std::string& element,
                              const std::string& value) = 0;
    virtual std::string operation(const ExprNode& n) = 0;
    /// A counter of random numbers, as a word without sign.
    virtual std::string random_counter(uint32_t id) { return expression(id); }
    /// What a loop does before its next turn.
    virtual std::string update(const Statement& s);

    /// Notes that the body cannot be written in this language; the first reason stays.
    void fail(const std::string& what) {
        if (error_.ok()) error_ = unsupported(what);
    }

    const Body& body_;
    Status error_;
    std::string text_;
    size_t depth_ = 0;
};

}  // namespace hearth
