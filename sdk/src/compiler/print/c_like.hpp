// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The walk over a body's statements and expressions that the printers of GLSL, WGSL, MSL and C share.  Each overrides what
// its language writes in another way, and leaves the rest to this one.

#pragma once

#include "compiler/kernel/body.hpp"
#include "compiler/kernel/decompositions.hpp"
#include "compiler/print/operators.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/status.hpp>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth {

/// Types of operands, as a set of bits 1 << ScalarType.
using ScalarTypes = uint32_t;
constexpr ScalarTypes set_of(ScalarType type) {
    return 1u << static_cast<uint32_t>(type);
}
constexpr ScalarTypes kOfF32 = set_of(ScalarType::kF32), kOfI32 = set_of(ScalarType::kI32),
                      kOfU32 = set_of(ScalarType::kU32), kOfBool = set_of(ScalarType::kBool),
                      kOfI64 = set_of(ScalarType::kI64), kOfU64 = set_of(ScalarType::kU64);
constexpr ScalarTypes kOfSigned = kOfI32 | kOfI64, kOfUnsigned = kOfU32 | kOfU64;
constexpr ScalarTypes kOfIntegers = kOfSigned | kOfUnsigned, kOfAny = ~0u;

/// A language's text for an operation on operands of such types.  $a, $b, $c: the operands, in parentheses where they need
/// them; $A, $B, $C: without; $t: the result's type.  Operations without a row are decompositions.
struct Spelling {
    ScalarOp op;
    ScalarTypes of;
    std::string_view text;
};

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
    /// Lines of a function.  prefix: ahead of head_of().
    void print_function(const BodyFunction& f, const std::string& prefix = "");
    std::string function_call(uint64_t function, std::span<const uint32_t> arguments);
    /// An argument for this parameter.
    virtual std::string argument(uint32_t parameter, uint32_t argument);
    /// An operation by the operator that languages share, by its spelling, or as a call of its decomposition.
    std::string spelled(const ExprNode& n);
    virtual std::span<const Spelling> spellings() const { return {}; }
    virtual std::string chunk_type(ScalarType type, Chunk chunk) const;
    /// Elements of what languages have as a number or a vector; 0: of no such chunk.
    static uint32_t vector_length(Chunk chunk);
    /// A function's first line, without the brace.
    virtual std::string head_of(const BodyFunction& f);
    /// Chunks in languages with vectors of two to four numbers.
    std::string chunk(uint32_t id);
    std::string elements_from(const ExprNode& n, const std::string& first);
    void store_chunk(const Statement& s);
    void spread(const Statement& s);
    /// A value that is set once, as expressions name it.
    virtual std::string name_of_value(const std::string& name) const { return name; }
    /// The functions of decompositions() that were called, and those that they call.  Printer: of the language.
    template <class Printer>
    std::string called_decompositions(const std::string& prefix = "") const {
        std::map<uint32_t, std::string> texts;  // functions come before those that call them
        for (std::set<uint32_t> wanted = decompositions_; !wanted.empty();) {
            const uint32_t index = *wanted.begin();
            wanted.erase(wanted.begin());
            if (texts.contains(index)) continue;
            Printer printer(decompositions());
            printer.print_function(decompositions().functions[index], prefix);
            HEARTH_ASSERT(printer.error_.ok());
            wanted.merge(printer.decompositions_);
            texts[index] = std::move(printer.text_);
        }
        std::string all;
        for (const auto& [index, text] : texts) all += text;
        return all;
    }
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
    std::set<uint32_t> decompositions_;  ///< indices of functions that were called
    uint32_t stored_chunks_ = 0;         ///< each is a value with a name of its own
};

}  // namespace hearth
