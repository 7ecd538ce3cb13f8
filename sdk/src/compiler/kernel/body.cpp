// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/body.hpp"

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/decompositions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/hash.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace hearth {

const ExprNode& Expr::node() const {
    return body->expressions[id];
}

double constant_value(const ExprNode& node) {
    return value_of(node.bits, node.type);
}

Expr Body::add(ExprNode node) {
    expressions.push_back(node);
    return {this, static_cast<uint32_t>(expressions.size() - 1)};
}

Expr Body::constant(double value, ScalarType type) {
    return add({.kind = ExprKind::kConstant, .type = type, .bits = bits_of(value, type)});
}

uint32_t length_of(Chunk chunk) {
    switch (chunk) {
        case Chunk::kOne:
            return 1;
        case Chunk::kTwo:
            return 2;
        case Chunk::kThree:
            return 3;
        case Chunk::kFour:
            return 4;
        case Chunk::kHalves:
            return 8;
        case Chunk::kLeft:
        case Chunk::kRight:
        case Chunk::kSums:
        case Chunk::kHalfSums:
            HEARTH_ASSERT(false && "a fragment's elements are many invocations'");
            break;
    }
    return 1;
}

std::array<uint32_t, 2> Body::shape_of(Chunk fragment) const {
    return {fragment == Chunk::kRight ? matrix.k : matrix.m,
            fragment == Chunk::kLeft ? matrix.k : matrix.n};
}

Expr Body::operation(ScalarOp op, Expr a, Expr b, Expr c) {
    std::array<ScalarType, 3> types{a.type(), b ? b.type() : a.type(), c ? c.type() : a.type()};
    const std::optional<ScalarType> type = type_of_operation(op, types);
    HEARTH_ASSERT(type);
    return add({.kind = ExprKind::kOperation,
                .type = *type,
                .op = op,
                .in = {a.id, b.id, c.id},
                .chunk = op == ScalarOp::kSelect ? b.chunk() : a.chunk()});
}

Expr Body::as(ScalarType type, Expr number) {
    return number.type() == type ? number : operation(conversion_to(type), number);
}

Expr Body::call(uint32_t function, std::span<const Expr> with) {
    const auto first = static_cast<uint32_t>(arguments.size());
    for (const Expr argument : with) arguments.push_back(argument.id);
    return add({.kind = ExprKind::kCall,
                .type = functions[function].result,
                .bits = function,
                .in = {first, static_cast<uint32_t>(with.size()), 0},
                .chunk = functions[function].result_chunk});
}

Expr Body::load(uint32_t index, Expr element_index) {
    return add({.kind = ExprKind::kLoad,
                .type = scalar_type(buffers[index].dtype),
                .bits = index,
                .in = {element_index.id, 0, 0}});
}

Expr Body::buffer(uint32_t index) {
    return add(
        {.kind = ExprKind::kBuffer, .type = scalar_type(buffers[index].dtype), .bits = index});
}

Expr Body::local(uint32_t index) {
    return add({.kind = ExprKind::kLocal,
                .type = locals[index].type,
                .bits = index,
                .chunk = locals[index].chunk});
}

Expr Body::element(Expr array, Expr at) {
    HEARTH_ASSERT(array.node().kind == ExprKind::kLocal);
    return add({.kind = ExprKind::kElement,
                .type = array.type(),
                .bits = array.node().bits,
                .in = {at.id, 0, 0},
                .chunk = array.chunk()});
}

Expr Body::element_or_anything(Expr array, Expr at) {
    const Expr made = element(array, at);
    expressions[made.id].may_be_unset = true;
    return made;
}

Expr Body::new_local(std::string name, LocalKind kind, ScalarType type, uint32_t length) {
    locals.push_back({std::move(name), kind, type, length, DType::kF32, Chunk::kOne});
    return local(static_cast<uint32_t>(locals.size() - 1));
}

Expr Body::new_chunk(std::string name, LocalKind kind, Chunk chunk) {
    locals.push_back({std::move(name), kind, ScalarType::kF32, 1, DType::kF32, chunk});
    return local(static_cast<uint32_t>(locals.size() - 1));
}

Expr Body::load_chunk(Chunk chunk, uint32_t index, Expr first) {
    const bool are_words = buffers[index].held == DType::kU32;
    return add({.kind = ExprKind::kLoad,
                .type = are_words ? ScalarType::kU32 : ScalarType::kF32,
                .bits = index,
                .in = {first.id, 0, 0},
                .chunk = chunk});
}

Expr Body::load_chunk_at(Chunk chunk, uint32_t index, Expr number) {
    return add({.kind = ExprKind::kLoadChunk,
                .type = ScalarType::kF32,
                .bits = index,
                .in = {number.id, 0, 0},
                .chunk = chunk});
}

Expr Body::compose(std::span<const Expr> numbers) {
    const auto first = static_cast<uint32_t>(arguments.size());
    for (const Expr number : numbers) arguments.push_back(number.id);
    return add({.kind = ExprKind::kCompose,
                .type = ScalarType::kF32,
                .in = {first, static_cast<uint32_t>(numbers.size()), 0},
                .chunk = numbers.size() == 3 ? Chunk::kThree : Chunk::kFour});
}

Expr Body::scale(Expr chunk, Expr factor) {
    return add({.kind = ExprKind::kScale,
                .type = ScalarType::kF32,
                .in = {chunk.id, factor.id, 0},
                .chunk = chunk.chunk()});
}

Expr Body::multiply_add(Expr a, Expr b, Expr sum) {
    return add({.kind = ExprKind::kMultiplyAdd,
                .type = ScalarType::kF32,
                .in = {a.id, b.id, sum.id},
                .chunk = sum.chunk()});
}

Expr Body::dot(Expr a, Expr b) {
    return add({.kind = ExprKind::kDot, .type = ScalarType::kF32, .in = {a.id, b.id, 0}});
}

Expr Body::dot_halves(Expr a, Expr b, Expr sum) {
    return add(
        {.kind = ExprKind::kDotHalves, .type = ScalarType::kF32, .in = {a.id, b.id, sum.id}});
}

Expr Body::clamp(Expr value, Expr least, Expr most) {
    return add(
        {.kind = ExprKind::kClamp, .type = value.type(), .in = {value.id, least.id, most.id}});
}

Expr Body::chunk_element(Expr chunk, Expr index) {
    return add(
        {.kind = ExprKind::kChunkElement, .type = chunk.type(), .in = {chunk.id, index.id, 0}});
}

Expr Body::fill(Chunk chunk, Expr value) {
    return add({.kind = ExprKind::kFill,
                .type = ScalarType::kF32,
                .in = {value.id, 0, 0},
                .chunk = chunk});
}

Expr Body::vector(Expr four) {
    return add({.kind = ExprKind::kVector,
                .type = ScalarType::kF32,
                .bits = four.node().bits,
                .chunk = Chunk::kFour});
}

Expr Body::part(Expr chunk, uint32_t four) {
    return add({.kind = ExprKind::kPart,
                .type = ScalarType::kF32,
                .bits = four,
                .in = {chunk.id, 0, 0},
                .chunk = Chunk::kFour});
}

Expr Body::join(Chunk chunk, Expr low, Expr high) {
    return add({.kind = ExprKind::kJoin,
                .type = ScalarType::kF32,
                .in = {low.id, high.id, 0},
                .chunk = chunk});
}

Expr Body::two_halves(Expr word) {
    return add({.kind = ExprKind::kTwoHalves,
                .type = ScalarType::kF32,
                .in = {word.id, 0, 0},
                .chunk = Chunk::kTwo});
}

Expr Body::pack(Expr array) {
    return add({.kind = ExprKind::kPack,
                .type = ScalarType::kF32,
                .bits = array.node().bits,
                .chunk = Chunk::kHalves});
}

Expr Body::reinterpret(Expr chunk) {
    const bool are_words = chunk.type() == ScalarType::kU32;
    return add({.kind = ExprKind::kReinterpret,
                .type = are_words ? ScalarType::kF32 : ScalarType::kU32,
                .in = {chunk.id, 0, 0},
                .chunk = are_words ? Chunk::kHalves : Chunk::kFour});
}

Expr Body::length(Expr fragment) {
    return add({.kind = ExprKind::kLength, .in = {fragment.id, 0, 0}});
}

Expr Body::convert(Chunk to, Expr fragment) {
    return add({.kind = ExprKind::kConvert,
                .type = ScalarType::kF32,
                .in = {fragment.id, 0, 0},
                .chunk = to});
}

Expr Body::high_product(Expr a, Expr b) {
    return add({.kind = ExprKind::kHighProduct, .type = ScalarType::kU32, .in = {a.id, b.id, 0}});
}

uint32_t Body::operand(uint32_t value, DType dtype, DType held) {
    uint32_t index = 0;
    for (; index < buffers.size() && buffers[index].kind == BufferKind::kOperand; ++index)
        if (buffers[index].value == value) return index;
    HEARTH_ASSERT(index == buffers.size());  // operands come first
    buffers.push_back({"b" + std::to_string(index), BufferKind::kOperand, value, dtype, held});
    return index;
}

Expr Body::new_buffer(std::string name, BufferKind kind, DType dtype, DType held) {
    buffers.push_back({std::move(name), kind, 0, dtype, held});
    return buffer(static_cast<uint32_t>(buffers.size() - 1));
}

Expr Body::global(const std::string& name, LocalKind kind, ScalarType type, uint32_t length,
                  Chunk chunk) {
    for (uint32_t i = 0; i < locals.size(); ++i)
        if (locals[i].kind == kind && locals[i].name == name) {
            HEARTH_ASSERT(locals[i].type == type && locals[i].length == length);
            return local(i);
        }
    locals.push_back({name, kind, type, length, DType::kF32, chunk});
    return local(static_cast<uint32_t>(locals.size() - 1));
}

const BodyFunction* Body::find_function(const std::string& name, uint32_t* index) const {
    for (uint32_t i = 0; i < functions.size(); ++i)
        if (functions[i].name == name) {
            *index = i;
            return &functions[i];
        }
    return nullptr;
}

Expr operator+(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kAdd, a, b);
}
Expr operator-(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kSub, a, b);
}
Expr operator*(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kMul, a, b);
}
Expr operator/(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kDiv, a, b);
}
Expr operator%(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kMod, a, b);
}
Expr operator<(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kLess, a, b);
}
Expr operator>(Expr a, Expr b) {
    return a.body->add(
        {.kind = ExprKind::kGreater, .type = ScalarType::kBool, .in = {a.id, b.id, 0}});
}
Expr operator>=(Expr a, Expr b) {
    return a.body->add(
        {.kind = ExprKind::kGreaterEqual, .type = ScalarType::kBool, .in = {a.id, b.id, 0}});
}
Expr operator==(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kEqual, a, b);
}
Expr operator!=(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kNotEqual, a, b);
}
Expr operator>>(Expr a, int64_t bits) {
    return a.body->operation(ScalarOp::kShiftRight, a, a.body->index(bits));
}
Expr operator&(Expr a, int64_t bits) {
    return a.body->operation(ScalarOp::kBitAnd, a, a.body->index(bits));
}
Expr lesser(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kMin, a, b);
}
Expr logical_and(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kAnd, a, b);
}
Expr logical_or(Expr a, Expr b) {
    return a.body->operation(ScalarOp::kOr, a, b);
}
Expr select(Expr condition, Expr yes, Expr no) {
    return yes.body->operation(ScalarOp::kSelect, condition, yes, no);
}

// ------------------------------------------------------------------------------- requirements

bool has_arguments(ExprKind kind) {
    return kind == ExprKind::kCall || kind == ExprKind::kCompose;
}

namespace {

class RequirementWalk {
  public:
    explicit RequirementWalk(const Body& body) : body_(body) {}

    BodyRequirements run() {
        for (const BodyFunction& f : body_.functions) walk(f.statements);
        walk(body_.statements);
        for (const Local& local : body_.locals)
            if (local.kind == LocalKind::kShared)
                needs_.shared_bytes +=
                    local.length * length_of(local.chunk) * (local.chunk == Chunk::kHalves ? 2 : 4);
        return std::move(needs_);
    }

  private:
    void walk(std::span<const Statement> statements) {
        for (const Statement& s : statements) {
            for (const uint32_t id : {s.a, s.b, s.c}) walk(id);
            for (const uint32_t id : s.arguments) walk(id);
            needs_.barriers |= s.kind == StatementKind::kBarrier;
            needs_.lanes |= s.kind == StatementKind::kMultiplyAdd;
            if (s.kind == StatementKind::kStore || s.kind == StatementKind::kStoreVector ||
                s.kind == StatementKind::kStoreElements) {
                const DType dtype = body_.buffers[s.buffer].dtype;
                needs_.rounding |= dtype == DType::kF16 || dtype == DType::kBF16;
            }
            needs_.subgroups |=
                s.kind == StatementKind::kSubgroupBarrier && body_.subgroup_size != 0;
            walk(s.body);
            walk(s.otherwise);
        }
    }

    void walk(uint32_t id) {
        if (id == 0) return;
        const ExprNode& n = body_.expressions[id];
        if (has_arguments(n.kind))
            for (const uint32_t argument : body_.arguments_of(n)) walk(argument);
        else
            for (const uint32_t in : n.in) walk(in);
        needs_.rows |= n.kind == ExprKind::kRowCount;
        needs_.random |= n.kind == ExprKind::kPhilox;
        needs_.subgroups |=
            n.kind == ExprKind::kSubgroup || n.kind == ExprKind::kSubgroupInvocation;
        needs_.matrices |= is_fragment(n.chunk);
        needs_.wide |= is_wide(n.type);
        if (n.kind != ExprKind::kOperation) return;
        needs_.rounding |= n.op == ScalarOp::kRoundF16 || n.op == ScalarOp::kRoundBF16;
        needs_.functions |= is_library_function(n.op, body_.expressions[n.in[0]].type);
    }

    const Body& body_;
    BodyRequirements needs_;
};

// ------------------------------------------------------------------------------- structure

/// Goes through statements in reading order, and makes copies with other contents of holes.
class StructureWalk {
  public:
    StructureWalk(const Body& body, bool has_holes) : body_(body), has_holes_(has_holes) {}

    /// The copies are made in `target`, which is the body.
    void fill(Body& target, std::span<const Expr> contents) {
        target_ = &target;
        contents_ = contents;
    }

    void note_expression(uint32_t id) { (void)walk(id); }
    void name(uint32_t local) { locals_.try_emplace(local, locals_.size()); }

    std::vector<Statement> walk(std::span<const Statement> statements) {
        std::vector<Statement> copies;
        note(statements.size());
        for (const Statement& s : statements) copies.push_back(walk(s));
        return copies;
    }

    BodyOutline outline;

  private:
    void note(uint64_t word) { outline.structure.push_back(word); }

    static constexpr uint64_t kNoBuffer = ~uint64_t{0};

    Statement walk(const Statement& s) {
        Statement copy = s;
        note(static_cast<uint64_t>(s.kind) << 16 | static_cast<uint64_t>(s.op) << 2 |
             uint64_t{s.is_rolled} << 1 | uint64_t{s.is_unrolled} | uint64_t{s.by_columns} << 32);
        switch (s.kind) {
            case StatementKind::kLet:
            case StatementKind::kDeclare:
            case StatementKind::kFor:
                note_local(s.local);
                break;
            case StatementKind::kLetCall:
                note_local(s.local);
                note(s.function);
                break;
            case StatementKind::kStoreChunk:
                note(s.buffer);
                break;
            case StatementKind::kStoreElements:
                note(s.buffer);
                note(s.arguments.size());
                break;
            case StatementKind::kLoadVector:
            case StatementKind::kStoreVector:
                note_local(s.local);
                note(s.buffer);
                break;
            case StatementKind::kLoadLanes:
            case StatementKind::kStoreLanes:
                note_local(s.local);
                note(s.b == 0 ? s.buffer : kNoBuffer);
                break;
            case StatementKind::kMultiplyAdd:
            case StatementKind::kSpread:
                note_local(s.local);
                break;
            case StatementKind::kStore:
                copy.buffer = walk_buffer(s.buffer);
                break;
            case StatementKind::kCall:
                note(s.function);
                break;
            default:
                break;
        }
        copy.a = walk(s.a);
        copy.b = walk(s.b);
        copy.c = walk(s.c);
        for (uint32_t& id : copy.arguments) id = walk(id);
        copy.body = walk(s.body);
        copy.otherwise = walk(s.otherwise);
        return copy;
    }

    void note_local(uint32_t index) {
        const Local& local = body_.locals[index];
        note(static_cast<uint64_t>(local.chunk) << 48 | static_cast<uint64_t>(local.kind) << 40 |
             static_cast<uint64_t>(local.type) << 32 | local.length);
        note_name(index);
        if (local.kind == LocalKind::kVector) note(static_cast<uint64_t>(local.held));
    }

    void note_name(uint32_t index) {
        const LocalKind kind = body_.locals[index].kind;
        const bool is_global = kind == LocalKind::kShared || kind == LocalKind::kPrivate;
        note(is_global ? uint64_t{1} << 32 | index
                       : locals_.try_emplace(index, locals_.size()).first->second);
    }

    uint32_t walk_buffer(uint32_t index) {
        const bool is_hole = has_holes_ && body_.buffers[index].held == DType::kF32;
        if (!is_hole) {
            note(uint64_t{1} << 32 | index);
            return index;
        }
        note(buffers_.try_emplace(index, buffers_.size()).first->second);
        const Expr content = next_content();
        outline.holes.push_back({true, index});
        return content ? static_cast<uint32_t>(content.node().bits) : index;
    }

    Expr next_content() const {
        const size_t hole = outline.holes.size();
        return hole < contents_.size() ? contents_[hole] : Expr{};
    }

    uint32_t walk(uint32_t id) {
        constexpr uint32_t kHoles = 100'000'000;
        if (id == 0) return 0;
        ExprNode n = body_.expressions[id];
        note(static_cast<uint64_t>(n.chunk) << 32 | static_cast<uint64_t>(n.kind) << 24 |
             static_cast<uint64_t>(n.type) << 16 | static_cast<uint64_t>(n.op));
        const ExprNode before = n;
        switch (n.kind) {
            case ExprKind::kConstant:
                if (has_holes_ && n.type == ScalarType::kI32 && n.bits < kHoles) {
                    const Expr content = next_content();
                    outline.holes.push_back({false, static_cast<uint32_t>(n.bits)});
                    return content ? content.id : id;
                }
                note(n.bits);
                break;
            case ExprKind::kLocal:
            case ExprKind::kElement:
                note_name(static_cast<uint32_t>(n.bits));
                break;
            case ExprKind::kLoad:
            case ExprKind::kBuffer:
                if (n.chunk == Chunk::kOne)
                    n.bits = walk_buffer(static_cast<uint32_t>(n.bits));
                else
                    note(n.bits);
                break;
            case ExprKind::kVector:
            case ExprKind::kPack:
                note_name(static_cast<uint32_t>(n.bits));
                break;
            default:
                note(n.bits);
        }
        if (has_arguments(n.kind)) return walk_call(n, id);
        for (uint32_t& in : n.in) in = walk(in);
        if (target_ == nullptr || (n.bits == before.bits && n.in == before.in)) return id;
        return target_->add(n).id;
    }

    uint32_t walk_call(const ExprNode& n, uint32_t id) {
        const std::span<const uint32_t> before = body_.arguments_of(n);
        std::vector<uint32_t> arguments(before.begin(), before.end());
        note(arguments.size());
        for (uint32_t& argument : arguments) argument = walk(argument);
        if (target_ == nullptr || std::ranges::equal(arguments, body_.arguments_of(n))) return id;
        std::vector<Expr> copies;
        for (const uint32_t argument : arguments) copies.push_back({target_, argument});
        return (n.kind == ExprKind::kCall ? target_->call(static_cast<uint32_t>(n.bits), copies)
                                          : target_->compose(copies))
            .id;
    }

    const Body& body_;
    bool has_holes_;
    Body* target_ = nullptr;
    std::span<const Expr> contents_;
    std::map<uint32_t, uint64_t> locals_, buffers_;  ///< numbered as they appear
};

}  // namespace

BodyRequirements body_requirements(const Body& body) {
    return RequirementWalk(body).run();
}

BodyOutline outline_of(const Body& body, std::span<const Statement> statements, Expr group) {
    StructureWalk walk(body, true);
    walk.name(static_cast<uint32_t>(group.node().bits));
    (void)walk.walk(statements);
    return std::move(walk.outline);
}

std::vector<Statement> fill_holes(Body& body, std::span<const Statement> statements, Expr group,
                                  std::span<const Expr> contents) {
    StructureWalk walk(body, true);
    walk.name(static_cast<uint32_t>(group.node().bits));
    walk.fill(body, contents);
    return walk.walk(statements);
}

uint64_t structural_hash(const Body& body) {
    StructureWalk walk(body, false);
    Hash hash;
    for (const BodyBuffer& b : body.buffers)
        hash.number(static_cast<uint32_t>(b.kind))
            .number(static_cast<uint32_t>(b.dtype))
            .number(static_cast<uint32_t>(b.held));
    for (const Local& local : body.locals)
        if (local.kind == LocalKind::kShared || local.kind == LocalKind::kPrivate)
            hash.number(static_cast<uint32_t>(local.type)).number(local.length);
    for (const BodyFunction& f : body.functions) {
        hash.number(f.parameters.size());
        for (const uint32_t p : f.parameters)
            if (body.expressions[p].kind == ExprKind::kLocal)
                walk.name(static_cast<uint32_t>(body.expressions[p].bits));
        (void)walk.walk(f.statements);
    }
    (void)walk.walk(body.statements);
    walk.note_expression(body.across);
    walk.note_expression(body.down);
    for (const uint64_t word : walk.outline.structure) hash.number(word);
    if (body.subgroup_size != 0)
        hash.number(body.subgroup_size)
            .number(body.has_workgroup_matrices ? 1 : 0)
            .number(body.matrix.m)
            .number(body.matrix.n)
            .number(body.matrix.k);
    return hash.number(body.threads).value();
}

}  // namespace hearth
