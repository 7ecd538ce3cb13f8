// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/writer.hpp"

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/ir/scalar_range.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <iterator>

namespace hearth {

namespace {

/// Nodes of an expression that are no locals or constants.
size_t size_of(Expr e) {
    const ExprNode& node = e.node();
    if (node.kind != ExprKind::kOperation) return 0;
    size_t size = 1;
    for (const uint32_t in : node.in)
        if (in != 0) size += size_of({e.body, in});
    return size;
}

std::vector<uint32_t> ids_of(std::span<const Expr> expressions) {
    std::vector<uint32_t> ids;
    for (const Expr e : expressions) ids.push_back(e.id);
    return ids;
}

}  // namespace

void KernelWriter::bind(Scalar variable, Expr as) {
    variable_depths_.bind(variable.node(), scopes_.size() - 1);
    scopes_.back().known[variable.id] = as;
}

void KernelWriter::bind_everywhere(Scalar variable, Expr as) {
    variable_depths_.bind(variable.node(), 0);
    scopes_.front().known[variable.id] = as;
}

bool KernelWriter::is_of_current_scope(Scalar value) const {
    return variable_depths_.of(arena_, value.id) + 1 == scopes_.size();
}

void KernelWriter::define(Scalar value, Expr as) {
    scopes_.back().known[value.id] = as;
}

Statement KernelWriter::set(StatementKind kind, Expr local, Expr value) const {
    return {.kind = kind, .local = static_cast<uint32_t>(local.node().bits), .a = value.id};
}

Expr KernelWriter::let(std::string name, Expr value) {
    body_.new_local(std::move(name), LocalKind::kValue, value.type());
    body_.locals.back().chunk = value.chunk();
    const Expr local = body_.local(static_cast<uint32_t>(body_.locals.size() - 1));
    add(set(StatementKind::kLet, local, value));
    return local;
}

Expr KernelWriter::declare(std::string name, ScalarType type, Expr first) {
    const Expr local = body_.new_local(std::move(name), LocalKind::kVariable, type);
    add(set(StatementKind::kDeclare, local, first));
    return local;
}

Expr KernelWriter::declare_array(std::string name, ScalarType type, uint32_t length) {
    const Expr local = body_.new_local(std::move(name), LocalKind::kArray, type, length);
    add(set(StatementKind::kDeclare, local, {}));
    return local;
}

Expr KernelWriter::declare_chunk(std::string name, Chunk chunk, Expr first) {
    const Expr local = body_.new_chunk(std::move(name), LocalKind::kVariable, chunk);
    add(set(StatementKind::kDeclare, local, first));
    return local;
}

Expr KernelWriter::declare_chunks(std::string name, Chunk chunk, uint32_t length, ScalarType type) {
    body_.new_local(std::move(name), LocalKind::kArray, type, length);
    body_.locals.back().chunk = chunk;
    const Expr local = body_.local(static_cast<uint32_t>(body_.locals.size() - 1));
    add(set(StatementKind::kDeclare, local, {}));
    return local;
}

Expr KernelWriter::declare_buffer(std::string name, DType dtype, DType held) {
    const Expr buffer = body_.new_buffer(std::move(name), BufferKind::kVariable, dtype, held);
    add({.kind = StatementKind::kDeclareBuffer, .a = buffer.id});
    return buffer;
}

void KernelWriter::assign(Expr place, Expr value) {
    add({.kind = StatementKind::kAssign, .a = place.id, .b = value.id});
}

void KernelWriter::accumulate(Expr place, Expr value, ScalarOp op) {
    add({.kind = StatementKind::kAccumulate, .op = op, .a = place.id, .b = value.id});
}

void KernelWriter::store(uint32_t buffer, Expr element, Expr value) {
    add({.kind = StatementKind::kStore, .buffer = buffer, .a = element.id, .b = value.id});
}

Expr KernelWriter::load_vector(std::string name, uint32_t buffer, Expr at, uint32_t length) {
    const BodyBuffer& from = body_.buffers[buffer];
    const Expr local =
        body_.new_local(std::move(name), LocalKind::kVector, scalar_type(from.dtype), length);
    body_.locals[local.node().bits].held = from.held;
    Statement s = set(StatementKind::kLoadVector, local, at);
    s.buffer = buffer;
    add(std::move(s));
    return local;
}

void KernelWriter::store_vector(uint32_t buffer, Expr at, Expr array) {
    Statement s = set(StatementKind::kStoreVector, array, at);
    s.buffer = buffer;
    add(std::move(s));
}

Expr KernelWriter::declare_lanes(std::string name, uint32_t length, Expr first) {
    const Expr lanes =
        body_.new_local(std::move(name), LocalKind::kLanes, ScalarType::kF32, length);
    add(set(StatementKind::kDeclare, lanes, first));
    return lanes;
}

Expr KernelWriter::load_lanes(std::string name, uint32_t buffer, Expr at, uint32_t length) {
    const Expr lanes =
        body_.new_local(std::move(name), LocalKind::kLanes, ScalarType::kF32, length);
    Statement s = set(StatementKind::kLoadLanes, lanes, at);
    s.buffer = buffer;
    add(std::move(s));
    return lanes;
}

Expr KernelWriter::load_lanes(std::string name, Expr array, Expr at, uint32_t length) {
    const Expr lanes =
        body_.new_local(std::move(name), LocalKind::kLanes, ScalarType::kF32, length);
    Statement s = set(StatementKind::kLoadLanes, lanes, at);
    s.b = array.id;
    add(std::move(s));
    return lanes;
}

void KernelWriter::store_lanes(Expr array, Expr at, Expr lanes) {
    Statement s = set(StatementKind::kStoreLanes, lanes, at);
    s.b = array.id;
    add(std::move(s));
}

void KernelWriter::multiply_add(Expr sum, Expr a, Expr b) {
    Statement s = set(StatementKind::kMultiplyAdd, sum, a);
    s.b = b.id;
    add(std::move(s));
}

void KernelWriter::store_elements(uint32_t buffer, Expr at, std::span<const Expr> elements) {
    add({.kind = StatementKind::kStoreElements,
         .buffer = buffer,
         .a = at.id,
         .arguments = ids_of(elements)});
}

void KernelWriter::store_chunk(uint32_t buffer, Expr index, Expr chunk) {
    add({.kind = StatementKind::kStoreChunk, .buffer = buffer, .a = index.id, .b = chunk.id});
}

void KernelWriter::spread(Expr array, std::span<const Expr> chunks) {
    Statement s = set(StatementKind::kSpread, array, {});
    s.arguments = ids_of(chunks);
    add(std::move(s));
}

void KernelWriter::load_fragment(Expr fragment, const MatrixPlace& from) {
    transfer(StatementKind::kLoadFragment, fragment, from);
}

void KernelWriter::store_fragment(Expr fragment, const MatrixPlace& to) {
    transfer(StatementKind::kStoreFragment, fragment, to);
}

void KernelWriter::transfer(StatementKind kind, Expr fragment, const MatrixPlace& place) {
    add({.kind = kind,
         .by_columns = place.by_columns,
         .may_be_unset = place.may_be_unset,
         .a = fragment.id,
         .b = place.first.id,
         .c = place.stride.id,
         .arguments = {place.memory.id}});
}

void KernelWriter::barrier() {
    add({.kind = StatementKind::kBarrier});
}

void KernelWriter::subgroup_barrier() {
    add({.kind = StatementKind::kSubgroupBarrier});
}

void KernelWriter::call(uint32_t function, std::span<const Expr> arguments) {
    add({.kind = StatementKind::kCall, .function = function, .arguments = ids_of(arguments)});
}

Expr KernelWriter::let_call(std::string name, uint32_t function, std::span<const Expr> arguments) {
    body_.new_local(std::move(name), LocalKind::kValue, body_.functions[function].result);
    body_.locals.back().chunk = body_.functions[function].result_chunk;
    const Expr local = body_.local(static_cast<uint32_t>(body_.locals.size() - 1));
    Statement s = set(StatementKind::kLetCall, local, {});
    s.function = function;
    s.arguments = ids_of(arguments);
    add(std::move(s));
    return local;
}

void KernelWriter::leave(Expr result) {
    add({.kind = StatementKind::kReturn, .a = result.id});
}

void KernelWriter::next_turn() {
    add({.kind = StatementKind::kContinue});
}

void KernelWriter::leave_loop() {
    add({.kind = StatementKind::kBreak});
}

Expr KernelWriter::for_(std::string name, Expr first, const Condition& condition, Expr amount,
                        ScalarOp op) {
    const Expr counter = body_.new_local(std::move(name), LocalKind::kVariable, first.type());
    Statement s = set(StatementKind::kFor, counter, first);
    s.op = op;
    s.b = condition(counter).id;
    s.c = amount.id;
    scopes_.emplace_back();
    scopes_.back().header = std::move(s);
    return counter;
}

Expr KernelWriter::unrolled_for_(std::string name, int64_t turns) {
    return unrolled_for_(std::move(name), [&](Expr turn) { return turn < turns; });
}

Expr KernelWriter::unrolled_for_(std::string name, const Condition& condition) {
    const Expr counter = for_(std::move(name), body_.index(0), condition);
    (is_rolled_ ? scopes_.back().header.is_rolled : scopes_.back().header.is_unrolled) = true;
    return counter;
}

void KernelWriter::block(std::string label) {
    scopes_.emplace_back();
    scopes_.back().header.kind = StatementKind::kBlock;
    scopes_.back().header.label = std::move(label);
}

void KernelWriter::ahead(const std::function<void()>& write) {
    HEARTH_ASSERT(scopes_.size() > 1);
    Scope inner = std::move(scopes_.back());
    scopes_.pop_back();
    write();
    scopes_.push_back(std::move(inner));
}

void KernelWriter::append(std::vector<Statement> statements) {
    for (Statement& s : statements) add(std::move(s));
}

void KernelWriter::if_(Expr condition) {
    scopes_.emplace_back();
    scopes_.back().header.kind = StatementKind::kIf;
    scopes_.back().header.a = condition.id;
}

void KernelWriter::else_() {
    std::vector<Statement>& statements = scopes_.back().statements;
    HEARTH_ASSERT(!statements.empty() && statements.back().kind == StatementKind::kIf);
    Statement before = std::move(statements.back());
    statements.pop_back();
    scopes_.emplace_back();
    scopes_.back().header = std::move(before);
    scopes_.back().is_otherwise = true;
}

void KernelWriter::end() {
    HEARTH_ASSERT(scopes_.size() > 1);
    Scope closed = std::move(scopes_.back());
    scopes_.pop_back();
    (closed.is_otherwise ? closed.header.otherwise : closed.header.body) =
        std::move(closed.statements);
    add(std::move(closed.header));
}

std::vector<Statement> KernelWriter::take() {
    HEARTH_ASSERT(scopes_.size() == 1);
    return std::move(scopes_[0].statements);
}

const Expr* KernelWriter::known(uint32_t id) const {
    for (size_t i = scopes_.size(); i-- > 0;)
        if (auto at = scopes_[i].known.find(id); at != scopes_[i].known.end()) return &at->second;
    return nullptr;
}

Expr KernelWriter::emit(Scalar value) {
    return emit(value.id);
}

Expr KernelWriter::emit(uint32_t id) {
    if (const Expr* as = known(id)) return *as;
    const ScalarNode node = arena_.node(id);
    if (node.op == ScalarOp::kConst)
        return body_.add(
            {.kind = ExprKind::kConstant, .type = node.type, .bits = node.value_bits()});
    if (node.op == ScalarOp::kRowCount) return body_.rows();
    if (node.op == ScalarOp::kVariable)
        return misused("it uses a value outside of the loop or branch that made it", node.type);
    if (is_loop(node.op)) return emit_loop(id);
    const Expr value = expression(id);
    HEARTH_ASSERT(value.type() == node.type);
    const size_t depth = variable_depths_.of(arena_, id);
    const Expr local =
        body_.new_local("t" + std::to_string(locals_++), LocalKind::kValue, node.type);
    scopes_[depth].statements.push_back(set(StatementKind::kLet, local, value));
    scopes_[depth].known[id] = local;
    return local;
}

Expr KernelWriter::condition(uint32_t id, uint32_t of) {
    const ScalarNode node = arena_.node(id);
    const bool is_nested = !known(id) && node.type == ScalarType::kBool &&
                           operand_count(node.op) > 0 && node.op != ScalarOp::kSelect &&
                           variable_depths_.of(arena_, id) == variable_depths_.of(arena_, of);
    return is_nested ? expression(id) : emit(id);
}

Expr KernelWriter::expression(uint32_t id) {
    const ScalarNode node = arena_.node(id);
    const std::array<uint32_t, 3> operands{node.a, node.b, node.c};
    const bool is_logic =
        node.op == ScalarOp::kAnd || node.op == ScalarOp::kOr || node.op == ScalarOp::kNot;
    std::array<Expr, 3> in;
    for (size_t i = 0; i < static_cast<size_t>(operand_count(node.op)); ++i)
        in[i] = is_logic && nests_conditions_ ? condition(operands[i], id) : emit(operands[i]);
    // The shorter condition first: the other one is evaluated where that does not decide.
    if (is_logic && nests_conditions_ && in[1] && size_of(in[1]) < size_of(in[0]))
        std::swap(in[0], in[1]);
    if (node.op == ScalarOp::kLoad) {
        const Expr other = other_load_ ? other_load_(node.bits, in[0], node.type) : Expr{};
        return other ? other : body_.load(operand_(node.bits), in[0]);
    }
    ExprNode made{.kind = ExprKind::kOperation,
                  .type = node.type,
                  .op = node.op,
                  .in = {in[0].id, in[1].id, in[2].id}};
    if (node.op == ScalarOp::kPhilox) {
        made.kind = ExprKind::kPhilox;
        made.bits = arena_.key(node.bits);
    } else if (is_fitting_conversion(arena_, node)) {
        made.kind = ExprKind::kFitting;
    } else {
        const ScalarType types[] = {in[0].type(), in[1] ? in[1].type() : in[0].type(),
                                    in[2] ? in[2].type() : in[0].type()};
        if (type_of_operation(node.op, types) != node.type)
            return misused("it applies a function to " + std::string(name_of(types[0])) +
                               " that has none of this type",
                           node.type);
        return body_.operation(node.op, in[0], in[1], in[2]);
    }
    return body_.add(made);
}

Expr KernelWriter::misused(const std::string& what, ScalarType type) {
    HEARTH_ASSERT(misuse_ != nullptr);
    if (misuse_->ok()) *misuse_ = invalid_argument(what);
    return body_.constant(0, type);
}

Expr KernelWriter::emit_loop(uint32_t id) {
    const ScalarNode node = arena_.node(id);
    const size_t depth = variable_depths_.of(arena_, id);
    // Emit into the scope where the loop belongs, as if the inner scopes were not open.
    std::vector<Scope> inner(
        std::make_move_iterator(scopes_.begin() + static_cast<long>(depth) + 1),
        std::make_move_iterator(scopes_.end()));
    scopes_.resize(depth + 1);
    const Expr extent = emit(node.a);
    const std::string name = "t" + std::to_string(locals_++);
    const ScalarType type = arena_.node(node.b).type;
    const bool is_arg = node.op == ScalarOp::kLoopArgMax || node.op == ScalarOp::kLoopArgMin;
    Expr result, best;
    if (is_arg) {
        result = declare(name, ScalarType::kI32, body_.index(0));
        best = declare(name + "_best", type, body_.constant(0, type));
    } else {
        const double start = node.op == ScalarOp::kLoopProd ? 1 : 0;
        result = best = declare(name, type, body_.constant(start, type));
    }
    const Expr counter =
        for_("i" + std::to_string(node.bits), body_.index(0), [&](Expr i) { return i < extent; });
    bind({&arena_, node.c}, counter);
    const Expr value = emit(node.b);
    const Expr is_first = counter == 0;
    if (node.op == ScalarOp::kLoopSum || node.op == ScalarOp::kLoopProd) {
        accumulate(result, value, node.op == ScalarOp::kLoopSum ? ScalarOp::kAdd : ScalarOp::kMul);
    } else {
        const bool larger = node.op == ScalarOp::kLoopMax || node.op == ScalarOp::kLoopArgMax;
        if (!is_arg && type == ScalarType::kF32) {
            const ScalarOp op = larger ? ScalarOp::kMax : ScalarOp::kMin;
            assign(best, select(is_first, value, body_.operation(op, best, value)));
        } else {
            if_(logical_or(is_first, larger ? value > best : value < best));
            assign(best, value);
            if (is_arg) assign(result, counter);
            end();
        }
    }
    end();
    variable_depths_.release(node);
    scopes_[depth].known[id] = result;
    for (Scope& scope : inner) scopes_.push_back(std::move(scope));
    return result;
}

}  // namespace hearth
