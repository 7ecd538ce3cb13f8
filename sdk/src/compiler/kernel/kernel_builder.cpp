// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Values of the public builder are Scalars.  What can change (variables, arrays) or must not leave
// its branch (elements of operands) becomes a symbol that is bound to a local where it is read.

#include "compiler/kernel/kernel_builder.hpp"

#include "compiler/ir/scalar_operation.hpp"

#include <cmath>
#include <cstdio>
#include <string>

namespace hearth {

namespace {

std::string fresh(KernelBuilder::State& state, const char* name) {
    return name + std::to_string(state.names++);
}

void fail(KernelBuilder::State& state, const std::string& what) {
    if (state.error.ok()) state.error = invalid_argument(what);
}

std::string text_of(double literal) {
    char text[40];
    std::snprintf(text, sizeof text, "%g", literal);
    return text;
}

void refuse(KernelBuilder::State& state, Scalar value, ScalarType expected, const char* does) {
    fail(state, std::string(does) + " " + name_of(value.type()) + ", expected " +
                    name_of(expected) + "; convert() changes the type");
}

/// A symbol for a local or another place of the body, known from the current scope inward.
Scalar symbol_of(KernelBuilder::State& state, Expr as) {
    const Scalar symbol = state.arena.symbol(as.type());
    state.writer.bind(symbol, as);
    return symbol;
}

Scalar symbol_of(KernelBuilder::State& state, Scalar& known, Expr as) {
    if (known.arena == nullptr) {
        known = state.arena.symbol(as.type());
        state.writer.bind_everywhere(known, as);
    }
    return known;
}

/// The value as a local of the current scope, so that what is computed of it stays there.
Scalar pinned(KernelBuilder::State& state, Scalar value) {
    return state.writer.is_of_current_scope(value)
               ? value
               : symbol_of(state, state.writer.let(fresh(state, "at"), state.writer.emit(value)));
}

Scalar extent_of(ScalarArena& arena, Dim extent) {
    const Scalar count = arena.index(extent.count);
    return extent.is_batch ? arena.rows() * count : count;
}

/// An operand; reports one that does not exist.
const KernelBuilder::State::Operand& operand_of(KernelBuilder::State& state, bool is_input,
                                                int index) {
    static const KernelBuilder::State::Operand kNone;
    const auto& operands = is_input ? state.inputs : state.outputs;
    if (index >= 0 && static_cast<size_t>(index) < operands.size())
        return operands[static_cast<size_t>(index)];
    fail(state, std::string("it asks for ") + (is_input ? "input " : "output ") +
                    std::to_string(index) + " of " + std::to_string(operands.size()));
    return kNone;
}

Scalar dim_of(KernelBuilder::State& state, bool is_input, int index, int axis) {
    const Shape& shape = operand_of(state, is_input, index).shape;
    if (axis >= 0 && axis < shape.rank()) return extent_of(state.arena, shape[axis]);
    fail(state, "it asks for axis " + std::to_string(axis) + " of " +
                    (is_input ? "input " : "output ") + std::to_string(index) + ", which is " +
                    to_string(shape));
    return state.arena.index(0);
}

}  // namespace

KernelArgument::KernelArgument(const KernelVariable& variable) : scalar_(variable.get()) {}

// ------------------------------------------------------------------------ operands

Scalar KernelBuilder::in(int input, KernelArgument i) {
    const Scalar element = scalar(i, ScalarType::kI32);
    (void)operand_of(state_, true, input);
    if (!state_.error.ok()) return constant(0);
    return state_.load(static_cast<size_t>(input), pinned(state_, element));
}

void KernelBuilder::out(int output, KernelArgument i, KernelArgument value) {
    const Scalar element = scalar(i, ScalarType::kI32);
    const ScalarType type = operand_of(state_, false, output).type;
    const Scalar content = scalar(value, type);
    if (content.type() != type) return refuse(state_, content, type, "it stores");
    if (!state_.error.ok()) return;
    // A symbol of its own for each store: expressions of what follows are kept by their element.
    const Expr at = state_.writer.let(fresh(state_, "to"), state_.writer.emit(element));
    state_.store(static_cast<size_t>(output), symbol_of(state_, at), pinned(state_, content));
}

ScalarType KernelBuilder::in_type(int input) {
    return operand_of(state_, true, input).type;
}

ScalarType KernelBuilder::out_type(int output) {
    return operand_of(state_, false, output).type;
}

int KernelBuilder::in_rank(int input) {
    return operand_of(state_, true, input).shape.rank();
}

int KernelBuilder::out_rank(int output) {
    return operand_of(state_, false, output).shape.rank();
}

Scalar KernelBuilder::in_dim(int input, int axis) {
    return dim_of(state_, true, input, axis);
}

Scalar KernelBuilder::in_count(int input) {
    return extent_of(state_.arena, operand_of(state_, true, input).shape.element_count());
}

Scalar KernelBuilder::out_dim(int output, int axis) {
    return dim_of(state_, false, output, axis);
}

Scalar KernelBuilder::out_count(int output) {
    return extent_of(state_.arena, operand_of(state_, false, output).shape.element_count());
}

Scalar KernelBuilder::batch_size() {
    return state_.arena.rows();
}

// ------------------------------------------------------------------------ values

Scalar KernelBuilder::constant(double value, ScalarType type) {
    return state_.arena.constant(value, type);
}

Scalar KernelBuilder::scalar(const KernelArgument& operand) {
    return scalar(operand, operand.is_floating_ ? ScalarType::kF32 : ScalarType::kI32);
}

Scalar KernelBuilder::scalar(const KernelArgument& operand, ScalarType expected) {
    if (operand.scalar_.arena != nullptr) return operand.scalar_;
    if (operand.is_floating_ && !is_floating(expected) &&
        operand.literal_ != std::trunc(operand.literal_))
        fail(state_, "it uses " + text_of(operand.literal_) + " where " + name_of(expected) +
                         " is expected");
    return constant(operand.literal_, expected);
}

Scalar KernelBuilder::convert(KernelArgument value, ScalarType type) {
    return state_.arena.convert(scalar(value), type);
}

Scalar KernelBuilder::multiply_add(KernelArgument a, KernelArgument b, KernelArgument c) {
    Expr in[3];
    for (size_t i = 0; const KernelArgument* operand : {&a, &b, &c}) {
        const Scalar value = scalar(*operand, ScalarType::kF32);
        if (value.type() != ScalarType::kF32) {
            refuse(state_, value, ScalarType::kF32, "it calls multiply_add() with");
            return constant(0);
        }
        in[i++] = state_.writer.emit(value);
    }
    return symbol_of(state_, state_.writer.let(fresh(state_, "sum"),
                                               state_.body.multiply_add(in[0], in[1], in[2])));
}

// ------------------------------------------------------------------------ places

Scalar KernelBuilder::lane() {
    state_.uses_workgroup = true;
    return symbol_of(state_, state_.lane, state_.body.invocation());
}

Scalar KernelBuilder::workgroup() {
    state_.uses_workgroup = true;
    return symbol_of(state_, state_.workgroup, state_.body.workgroup());
}

Scalar KernelBuilder::workgroup_count() {
    state_.uses_workgroup = true;
    return symbol_of(state_, state_.workgroups, state_.body.workgroups());
}

int64_t KernelBuilder::workgroup_size() const {
    return state_.threads;
}

// ------------------------------------------------------------------------ memory

KernelVariable KernelBuilder::variable(KernelArgument first) {
    const Scalar value = scalar(first);
    const Expr content = state_.writer.emit(value);
    const Expr local = state_.writer.declare(fresh(state_, "v"), value.type(), content);
    return {this, static_cast<uint32_t>(local.node().bits), value.type()};
}

KernelVariable KernelBuilder::variable(ScalarType type, double first) {
    return variable(constant(first, type));
}

KernelArray KernelBuilder::array(ScalarType type, int64_t length) {
    if (length < 1 || length > INT32_MAX)
        fail(state_, "it has an array of " + std::to_string(length) + " elements");
    const Expr local =
        state_.writer.declare_array(fresh(state_, "a"), type, static_cast<uint32_t>(length));
    return {this, static_cast<uint32_t>(local.node().bits), type, length};
}

KernelArray KernelBuilder::shared(ScalarType type, int64_t length) {
    state_.uses_workgroup = true;
    if (length < 1 || length > INT32_MAX)
        fail(state_, "it has a shared array of " + std::to_string(length) + " elements");
    const Expr local = state_.body.global(fresh(state_, "shared"), LocalKind::kShared, type,
                                          static_cast<uint32_t>(length));
    return {this, static_cast<uint32_t>(local.node().bits), type, length};
}

Scalar KernelBuilder::value_of(uint32_t local) {
    return symbol_of(state_, state_.writer.let(fresh(state_, "now"), state_.body.local(local)));
}

Scalar KernelVariable::get() const {
    return builder_->value_of(local_);
}

void KernelBuilder::assign(const KernelVariable& variable, const KernelArgument& value) {
    const Scalar content = scalar(value, variable.type_);
    if (content.type() != variable.type_)
        return refuse(state_, content, variable.type_, "it assigns to a variable");
    const Expr from = state_.writer.emit(content);
    state_.writer.assign(state_.body.local(variable.local_), from);
}

KernelVariable& KernelVariable::operator=(KernelArgument value) {
    builder_->assign(*this, value);
    return *this;
}

KernelVariable& KernelVariable::operator+=(KernelArgument value) {
    return *this = get() + builder_->scalar(value, type_);
}

KernelVariable& KernelVariable::operator-=(KernelArgument value) {
    return *this = get() - builder_->scalar(value, type_);
}

KernelVariable& KernelVariable::operator*=(KernelArgument value) {
    return *this = get() * builder_->scalar(value, type_);
}

Scalar KernelBuilder::element(const KernelArray& array, const KernelArgument& index) {
    const Expr at = state_.writer.emit(scalar(index, ScalarType::kI32));
    const Expr place = state_.body.element(state_.body.local(array.local_), at);
    return symbol_of(state_, state_.writer.let(fresh(state_, "e"), place));
}

void KernelBuilder::set_element(const KernelArray& array, const KernelArgument& index,
                                const KernelArgument& value) {
    const Scalar content = scalar(value, array.type_);
    if (content.type() != array.type_)
        return refuse(state_, content, array.type_, "it stores to an array");
    const Expr at = state_.writer.emit(scalar(index, ScalarType::kI32));
    const Expr from = state_.writer.emit(content);
    state_.writer.assign(state_.body.element(state_.body.local(array.local_), at), from);
}

Scalar KernelArray::operator[](KernelArgument index) const {
    return builder_->element(*this, index);
}

void KernelArray::set(KernelArgument index, KernelArgument value) const {
    builder_->set_element(*this, index, value);
}

// ------------------------------------------------------------------------ statements

void KernelBuilder::for_each(KernelArgument count, const StatementsOf& body) {
    const Scalar total = scalar(count, ScalarType::kI32);
    const bool used_workgroup = state_.uses_workgroup;
    const Scalar group = workgroup(), groups = workgroup_count();
    if (state_.is_serial) {
        state_.uses_workgroup = used_workgroup;
        const Scalar each = (total + groups - 1) / groups;
        return loop(group * each, min(total, group * each + each), body);
    }
    const Scalar first = group * static_cast<double>(state_.threads) + lane();
    state_.uses_workgroup = used_workgroup;
    loop(first, total, groups * static_cast<double>(state_.threads), body);
}

void KernelBuilder::loop(KernelArgument first, KernelArgument end, const StatementsOf& body) {
    loop(first, end, 1, body);
}

void KernelBuilder::loop(KernelArgument first, KernelArgument end, KernelArgument step,
                         const StatementsOf& body) {
    KernelWriter& writer = state_.writer;
    const Expr begin = writer.emit(scalar(first, ScalarType::kI32));
    const Expr bound = writer.emit(scalar(end, ScalarType::kI32));
    const Scalar amount = scalar(step, ScalarType::kI32);
    const bool is_one = amount.is_const() && amount.const_value() == 1;
    const Expr by = is_one ? Expr{} : writer.emit(amount);
    const Expr counter = writer.for_(
        fresh(state_, "i"), begin, [&](Expr i) { return i < bound; }, by);
    body(symbol_of(state_, counter));
    writer.end();
}

void KernelBuilder::loop_growing(KernelArgument first, KernelArgument end, int64_t factor,
                                 const StatementsOf& body) {
    KernelWriter& writer = state_.writer;
    if (factor < 2) return fail(state_, "loop_growing() by a factor below 2");
    const Expr begin = writer.emit(scalar(first, ScalarType::kI32));
    const Expr bound = writer.emit(scalar(end, ScalarType::kI32));
    const Expr counter = writer.for_(
        fresh(state_, "i"), begin, [&](Expr i) { return i < bound; }, state_.body.index(factor),
        ScalarOp::kMul);
    body(symbol_of(state_, counter));
    writer.end();
}

void KernelBuilder::loop_shrinking(KernelArgument first, int64_t divisor,
                                   const StatementsOf& body) {
    KernelWriter& writer = state_.writer;
    if (divisor < 2) return fail(state_, "loop_shrinking() by a divisor below 2");
    const Expr begin = writer.emit(scalar(first, ScalarType::kI32));
    const Expr counter = writer.for_(
        fresh(state_, "i"), begin, [](Expr i) { return i > 0; }, state_.body.index(divisor),
        ScalarOp::kDiv);
    body(symbol_of(state_, counter));
    writer.end();
}

void KernelBuilder::while_(const std::function<Scalar()>& condition, const Statements& body) {
    KernelWriter& writer = state_.writer;
    const Expr always = state_.body.constant(1, ScalarType::kBool);
    writer.for_(fresh(state_, "turn"), state_.body.index(0), [&](Expr) { return always; });
    if_(logical_not(condition()), [&] { writer.leave_loop(); });
    body();
    writer.end();
}

void KernelBuilder::if_(Scalar condition, const Statements& then) {
    if_(condition, then, {});
}

void KernelBuilder::if_(Scalar condition, const Statements& then, const Statements& otherwise) {
    KernelWriter& writer = state_.writer;
    if (condition.type() != ScalarType::kBool)
        return fail(state_, "a condition is " + std::string(name_of(condition.type())) +
                                ", expected a comparison");
    writer.if_(writer.emit(condition));
    then();
    writer.end();
    if (!otherwise) return;
    writer.else_();
    otherwise();
    writer.end();
}

void KernelBuilder::barrier() {
    state_.uses_workgroup = true;
    state_.writer.barrier();
}

}  // namespace hearth
