// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds the statements of a body, and places scalar expressions among them.
//
// Each scalar expression that is used becomes one local, in the outermost scope in which all that it
// depends on is known: what does not depend on a loop's counter is computed before the loop.  What
// is written as an Expr stays where it is written, as it is written.

#pragma once

#include "compiler/ir/variable_depths.hpp"
#include "compiler/kernel/body.hpp"

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth {

class KernelWriter {
  public:
    /// operand: the index in body.buffers of a value that scalar expressions load.
    using Operand = std::function<uint32_t(uint32_t value)>;

    /// What a load gives whose value is no operand: of other memory.  None: it is an operand.
    using OtherLoad = std::function<Expr(uint64_t value, Expr element, ScalarType type)>;

    KernelWriter(Body& body, ScalarArena& arena, Operand operand)
        : body_(body), arena_(arena), operand_(std::move(operand)) {
        scopes_.emplace_back();
    }

    void load_by(OtherLoad load) { other_load_ = std::move(load); }
    /// From now on loops of known turns are not written out.
    void keep_rolled() { is_rolled_ = true; }

    /// Declares that the variable is `as` from the current scope inward.
    void bind(Scalar variable, Expr as);
    /// The same in all scopes.
    void bind_everywhere(Scalar variable, Expr as);
    /// True if the expression depends on a variable of the current scope, so that emit() leaves it
    /// there.
    bool is_of_current_scope(Scalar value) const;
    /// Declares that the expression's value is `as` from the current scope inward.
    void define(Scalar value, Expr as);
    /// The expression's value: a local or a constant, after placing what works it out.
    Expr emit(Scalar value);

    /// A local that is set once.
    Expr let(std::string name, Expr value);
    /// A variable; without a first value if there is none.
    Expr declare(std::string name, ScalarType type, Expr first = {});
    Expr declare_array(std::string name, ScalarType type, uint32_t length);
    /// A variable that is a chunk.
    Expr declare_chunk(std::string name, Chunk chunk, Expr first = {});
    /// An array of them.
    Expr declare_chunks(std::string name, Chunk chunk, uint32_t length,
                        ScalarType type = ScalarType::kF32);
    Expr declare_buffer(std::string name, DType dtype, DType held);
    void assign(Expr place, Expr value);
    /// place = place op value; op: a sum or a product.
    void accumulate(Expr place, Expr value, ScalarOp op = ScalarOp::kAdd);
    void store(uint32_t buffer, Expr element, Expr value);
    /// Elements `at` (a multiple of `length`) and on of a buffer; element() reads one.
    Expr load_vector(std::string name, uint32_t buffer, Expr at, uint32_t length);
    void store_vector(uint32_t buffer, Expr at, Expr array);
    /// Lanes that are all `first`.
    Expr declare_lanes(std::string name, uint32_t length, Expr first);
    /// Elements `at` and on of a buffer, or of an array.
    Expr load_lanes(std::string name, uint32_t buffer, Expr at, uint32_t length);
    Expr load_lanes(std::string name, Expr array, Expr at, uint32_t length);
    void store_lanes(Expr array, Expr at, Expr lanes);
    /// sum += a * b, in one rounding where the target has that; a: lanes, or a number for all of them.
    void multiply_add(Expr sum, Expr a, Expr b);
    /// Elements `at` (a multiple of their number) and on: 4 or 8 numbers, or one chunk of four.
    void store_elements(uint32_t buffer, Expr at, std::span<const Expr> elements);
    /// Chunk number `index` of a buffer of chunks as long.
    void store_chunk(uint32_t buffer, Expr index, Expr chunk);
    /// The elements of an array of eight floats = two fours, or kHalves.
    void spread(Expr array, std::span<const Expr> chunks);
    /// A fragment = a matrix in memory, a buffer or a shared array, or the other way round.  first, stride:
    /// in elements of the memory, which has fours for elements if it is shared.
    struct MatrixPlace {
        Expr memory, first, stride;
        bool by_columns = false;    ///< neighbours in memory are neighbours in a column
        bool may_be_unset = false;  ///< some of it may be what nothing has written, and nobody uses
    };
    void load_fragment(Expr fragment, const MatrixPlace& from);
    void store_fragment(Expr fragment, const MatrixPlace& to);
    void barrier();
    void subgroup_barrier();
    void call(uint32_t function, std::span<const Expr> arguments = {});
    /// A local that is set once, to the function's result.
    Expr let_call(std::string name, uint32_t function, std::span<const Expr> arguments);
    void leave(Expr result = {});
    void next_turn();
    void leave_loop();

    /// for (name = first; condition(name); name = name op amount), without an amount ++name or, if op
    /// is a difference, --name.
    /// end() closes it.  Returns the counter.
    using Condition = std::function<Expr(Expr counter)>;
    Expr for_(std::string name, Expr first, const Condition& condition, Expr amount = {},
              ScalarOp op = ScalarOp::kAdd);
    /// The same with so many turns, from 0 on, that should be written out.
    Expr unrolled_for_(std::string name, int64_t turns);
    Expr unrolled_for_(std::string name, const Condition& condition);
    /// The loop that was opened last should be written out, or should not.
    void keep_last_unrolled() { set_last_unrolled(true); }
    void keep_last_rolled() { set_last_unrolled(false); }
    /// A scope of its own.  label: what it is about.
    void block(std::string label = {});
    void if_(Expr condition);
    /// What happens if the condition of the if_ that was just closed does not hold.
    void else_();
    void end();

    /// Writes ahead of the scope that was opened last.
    void ahead(const std::function<void()>& write);
    /// From now on, variables used outside of their scope and operations that their operands' types
    /// lack are reported in `first`, as the expressions are not Hearth's own.
    void report_misuse(Status& first) { misuse_ = &first; }
    /// From now on, conditions of a conjunction or disjunction have no locals of their own if they
    /// belong to its scope: targets evaluate the second only where the first does not decide.
    void nest_conditions() { nests_conditions_ = true; }
    /// Statements that another writer has finished.
    void append(std::vector<Statement> statements);

    /// The finished statements.  All scopes must be closed.
    std::vector<Statement> take();

  private:
    struct Scope {
        Statement header;
        bool is_otherwise = false;
        std::vector<Statement> statements;
        std::unordered_map<uint32_t, Expr> known;  ///< id of a scalar expression
    };

    void set_last_unrolled(bool is_unrolled) {
        scopes_.back().header.is_unrolled = is_unrolled;
        scopes_.back().header.is_rolled = !is_unrolled;
    }
    void add(Statement statement) { scopes_.back().statements.push_back(std::move(statement)); }
    Expr emit(uint32_t id);
    Expr emit_loop(uint32_t id);
    Expr expression(uint32_t id);
    Expr condition(uint32_t id, uint32_t of);
    Expr misused(const std::string& what, ScalarType type);
    const Expr* known(uint32_t id) const;
    Statement set(StatementKind kind, Expr local, Expr value) const;
    void transfer(StatementKind kind, Expr fragment, const MatrixPlace& place);

    Body& body_;
    ScalarArena& arena_;
    Operand operand_;
    OtherLoad other_load_;
    bool is_rolled_ = false;
    bool nests_conditions_ = false;
    Status* misuse_ = nullptr;
    std::vector<Scope> scopes_;
    VariableDepths variable_depths_;
    uint32_t locals_ = 0;
};

}  // namespace hearth
