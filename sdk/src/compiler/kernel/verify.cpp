// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A proof over all bodies, not over one run: types and scopes by a walk; uniform control flow by a
// fixed point, as a local is uniform only if all that sets it is.

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/body.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <optional>

namespace hearth {

namespace {

const char* name_of(Chunk chunk) {
    constexpr const char* kNames[] = {"a number",     "four",        "eight",        "a half",
                                      "eight halves", "16 integers", "32 integers",  "three",
                                      "two",          "left factor", "right factor", "sums",
                                      "half sums"};
    return kNames[static_cast<size_t>(chunk)];
}

const char* name_of(StatementKind kind) {
    constexpr const char* kNames[] = {"let",
                                      "declare",
                                      "declare buffer",
                                      "assign",
                                      "accumulate",
                                      "load vector",
                                      "store",
                                      "store vector",
                                      "load lanes",
                                      "store lanes",
                                      "multiply and add",
                                      "store chunk",
                                      "store elements",
                                      "spread",
                                      "load fragment",
                                      "store fragment",
                                      "for",
                                      "if",
                                      "barrier",
                                      "subgroup barrier",
                                      "call",
                                      "let call",
                                      "return",
                                      "continue",
                                      "break",
                                      "block"};
    return kNames[static_cast<size_t>(kind)];
}

/// Among which invocations of a workgroup something may differ: `|` says among all of either.
using Varies = uint32_t;
constexpr Varies kAlike = 0, kBySubgroup = 1, kByInvocation = 3;

/// Where control is, as far as invocations of a workgroup may differ in it.
struct Flow {
    Varies divergence = kAlike;  ///< among whom some may be elsewhere
    int loops = 0;
};

class BodyVerifier {
  public:
    explicit BodyVerifier(const Body& body)
        : body_(body),
          is_known_(body.locals.size(), false),
          is_buffer_known_(body.buffers.size(), false),
          is_counter_(body.locals.size(), false),
          varies_(body.locals.size(), kAlike),
          barriers_(body.functions.size(), false) {
        for (size_t i = 0; i < body.locals.size(); ++i) {
            const LocalKind kind = body.locals[i].kind;
            is_known_[i] = kind == LocalKind::kShared || kind == LocalKind::kPrivate;
            // What lies in memory may differ from one invocation to the next.
            const bool is_memory = is_known_[i] || kind == LocalKind::kArray ||
                                   kind == LocalKind::kVector || kind == LocalKind::kLanes;
            varies_[i] = is_memory ? kByInvocation : kAlike;
        }
        for (size_t b = 0; b < body.buffers.size(); ++b)
            is_buffer_known_[b] = body.buffers[b].kind == BufferKind::kOperand;
    }

    Status run() {
        check_subgroups();
        if (!error_.ok()) return error_;
        do {  // each turn finds more that varies, and there is only so much
            has_changed_ = false;
            for (function_ = 0; function_ <= body_.functions.size(); ++function_) {
                Flow flow;
                for (const uint32_t p : parameters()) declare_parameter(p);
                block(statements(), flow);
                for (const uint32_t p : parameters()) forget_parameter(p);
                if (!error_.ok()) return error_;
            }
        } while (has_changed_);
        is_proving_ = true;
        for (function_ = 0; function_ <= body_.functions.size() && error_.ok(); ++function_) {
            Flow flow;
            for (const uint32_t p : parameters()) declare_parameter(p);
            block(statements(), flow);
            for (const uint32_t p : parameters()) forget_parameter(p);
        }
        return error_;
    }

  private:
    bool is_main() const { return function_ == body_.functions.size(); }
    std::span<const Statement> statements() const {
        return is_main() ? body_.statements : body_.functions[function_].statements;
    }
    std::span<const uint32_t> parameters() const {
        return is_main() ? std::span<const uint32_t>() : body_.functions[function_].parameters;
    }
    std::string place() const { return is_main() ? "the kernel" : body_.functions[function_].name; }

    void fail(const std::string& what) {
        if (!error_.ok()) return;
        error_ =
            internal_error(place() + ", " +
                           name_of(at_ != nullptr ? at_->kind : StatementKind::kLet) + ": " + what);
    }
    void expect(bool holds, const char* what) {
        if (!holds) fail(what);
    }

    void declare_parameter(uint32_t id) {
        const ExprNode& n = body_.expressions[id];
        (n.kind == ExprKind::kBuffer ? is_buffer_known_ : is_known_)[n.bits] = true;
    }
    void forget_parameter(uint32_t id) {
        const ExprNode& n = body_.expressions[id];
        (n.kind == ExprKind::kBuffer ? is_buffer_known_ : is_known_)[n.bits] = false;
    }

    void note_varying(uint32_t local, Varies varies) {
        if ((varies_[local] | varies) == varies_[local]) return;
        varies_[local] |= varies;
        has_changed_ = true;
    }

    void check_subgroups() {
        const uint32_t size = body_.subgroup_size;
        if (size == 0) return;
        const MatrixShape& shape = body_.matrix;
        const bool divides = body_.threads % size == 0 && shape.m * shape.n % size == 0 &&
                             shape.m * shape.k % size == 0 && shape.k * shape.n % size == 0;
        if (!divides)
            error_ = internal_error("subgroups of " + std::to_string(size) +
                                    " invocations divide neither a workgroup of " +
                                    std::to_string(body_.threads) + " nor a fragment");
    }

    // ------------------------------------------------------------------------ statements

    /// Returns among whom some invocations may have left before the end.
    Varies block(std::span<const Statement> statements, Flow flow) {
        std::vector<uint32_t> declared, buffers;
        Varies leaves = kAlike;
        for (const Statement& s : statements) {
            if (!error_.ok()) break;
            at_ = &s;
            const Varies left = statement(s, flow, declared, buffers);
            flow.divergence |= left;
            leaves |= left;
        }
        for (const uint32_t local : declared) is_known_[local] = false;
        for (const uint32_t buffer : buffers) is_buffer_known_[buffer] = false;
        return leaves;
    }

    void declare(const Statement& s, LocalKind kind, std::vector<uint32_t>& declared) {
        const bool is_fresh = s.local < body_.locals.size() && !is_known_[s.local] &&
                              body_.locals[s.local].kind == kind;
        if (!is_fresh) return fail("sets a local of another kind, or one that is known already");
        is_known_[s.local] = true;
        declared.push_back(s.local);
    }

    /// Returns among whom some invocations may leave here.
    Varies statement(const Statement& s, const Flow& flow, std::vector<uint32_t>& declared,
                     std::vector<uint32_t>& buffers) {
        switch (s.kind) {
            case StatementKind::kLet: {
                const Use value = use(s.a, flow);
                declare(s, LocalKind::kValue, declared);
                if (!error_.ok()) return kAlike;
                expect_like(value, body_.locals[s.local], "the value");
                note_varying(s.local, value.varies);
                return kAlike;
            }
            case StatementKind::kLetCall: {
                call(s.function, s.arguments, flow);
                declare(s, LocalKind::kValue, declared);
                if (!error_.ok()) return kAlike;
                const BodyFunction& function = body_.functions[s.function];
                expect(function.has_result, "a function without a result");
                expect_like({function.result, kByInvocation, function.result_chunk},
                            body_.locals[s.local], "the result");
                note_varying(s.local, kByInvocation);
                return kAlike;
            }
            case StatementKind::kDeclare: {
                if (body_.locals[s.local].kind == LocalKind::kLanes) {
                    expect_type(use(s.a, flow), ScalarType::kF32, "the first value");
                    declare(s, LocalKind::kLanes, declared);
                    return kAlike;
                }
                const bool is_array = body_.locals[s.local].kind == LocalKind::kArray;
                const Local& local = body_.locals[s.local];
                const Use value = s.a == 0 ? Use{local.type, kAlike, local.chunk} : use(s.a, flow);
                declare(s, is_array ? LocalKind::kArray : LocalKind::kVariable, declared);
                expect(!is_array || s.a == 0, "an array has a first value");
                expect_like(value, local, "the first value");
                note_varying(s.local, value.varies);
                return kAlike;
            }
            case StatementKind::kDeclareBuffer: {
                const ExprNode& n = body_.expressions[s.a];
                const bool is_variable = n.kind == ExprKind::kBuffer && !is_buffer_known_[n.bits] &&
                                         body_.buffers[n.bits].kind == BufferKind::kVariable;
                if (!is_variable)
                    fail("declares no new buffer variable");
                else {
                    is_buffer_known_[n.bits] = true;
                    buffers.push_back(static_cast<uint32_t>(n.bits));
                }
                return kAlike;
            }
            case StatementKind::kAssign:
            case StatementKind::kAccumulate:
                assignment(s, flow);
                return kAlike;
            case StatementKind::kLoadVector: {
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                declare(s, LocalKind::kVector, declared);
                vector(s);
                return kAlike;
            }
            case StatementKind::kStoreVector:
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                expect(is_known_[s.local] && body_.locals[s.local].kind == LocalKind::kArray,
                       "stores no array");
                vector(s);
                return kAlike;
            case StatementKind::kLoadLanes:
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                declare(s, LocalKind::kLanes, declared);
                if (s.b != 0)
                    expect(is_local(s.b, LocalKind::kArray), "loads of no array");
                else if (buffer(s.buffer))
                    expect(body_.buffers[s.buffer].held == DType::kF32, "loads of no f32");
                return kAlike;
            case StatementKind::kStoreLanes:
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                expect(is_known_[s.local] && body_.locals[s.local].kind == LocalKind::kLanes,
                       "stores no lanes");
                expect(is_local(s.b, LocalKind::kArray), "stores to no array");
                return kAlike;
            case StatementKind::kMultiplyAdd: {
                const auto are_lanes = [&](uint32_t id) {
                    return is_local(id, LocalKind::kLanes) &&
                           body_.locals[body_.expressions[id].bits].length ==
                               body_.locals[s.local].length;
                };
                expect(is_known_[s.local] && body_.locals[s.local].kind == LocalKind::kLanes &&
                           are_lanes(s.b),
                       "multiplies no lanes");
                if (!are_lanes(s.a)) expect_type(use(s.a, flow), ScalarType::kF32, "the factor");
                return kAlike;
            }
            case StatementKind::kStoreChunk: {
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                const Use value = use(s.b, flow);
                const bool are_halves = value.chunk == Chunk::kHalves;
                if (!are_halves) expect_type(value, ScalarType::kF32, "the chunk", Chunk::kFour);
                if (buffer(s.buffer))
                    expect(body_.buffers[s.buffer].held == (are_halves ? DType::kF16 : DType::kF32),
                           "stores chunks of another type");
                return kAlike;
            }
            case StatementKind::kSpread: {
                const bool is_half = s.arguments.size() == 1;
                expect(is_half || s.arguments.size() == 2, "spreads no two fours");
                for (const uint32_t id : s.arguments)
                    expect_type(use(id, flow), ScalarType::kF32, "a chunk",
                                is_half ? Chunk::kHalves : Chunk::kFour);
                expect(is_array_of_eight(s.local), "spreads to no array of eight floats");
                return kAlike;
            }
            case StatementKind::kLoadFragment:
            case StatementKind::kStoreFragment:
                transfer(s, flow);
                return kAlike;
            case StatementKind::kStoreElements:
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                elements(s, flow);
                return kAlike;
            case StatementKind::kStore: {
                expect_type(use(s.a, flow), ScalarType::kI32, "the index");
                const Use value = use(s.b, flow);
                if (buffer(s.buffer))
                    expect_type(value, scalar_type(body_.buffers[s.buffer].dtype), "the value");
                return kAlike;
            }
            case StatementKind::kFor:
                return loop(s, flow);
            case StatementKind::kIf: {
                const Use condition = use(s.a, flow);
                expect_type(condition, ScalarType::kBool, "the condition");
                Flow inner = flow;
                inner.divergence |= condition.varies;
                const Varies yes = block(s.body, inner), no = block(s.otherwise, inner);
                // If all leave together, nobody is left to differ from.
                return yes | no;
            }
            case StatementKind::kBarrier:
                if (!is_main()) barriers_[function_] = true;
                if (is_proving_)
                    expect(flow.divergence == kAlike,
                           "a barrier where not all invocations need come by");
                return kAlike;
            case StatementKind::kSubgroupBarrier:
                expect(body_.subgroup_size != 0, "there are no subgroups");
                // Where drivers make it the workgroup's, all of that must come by.
                if (is_proving_)
                    expect(flow.divergence == kAlike,
                           "a barrier where not all invocations need come by");
                return kAlike;
            case StatementKind::kCall:
                call(s.function, s.arguments, flow);
                return kAlike;
            case StatementKind::kReturn: {
                const bool has_result = !is_main() && body_.functions[function_].has_result;
                expect(has_result == (s.a != 0), "a result that is missing or not asked for");
                if (s.a != 0) {
                    const BodyFunction& function = body_.functions[function_];
                    const Use result = use(s.a, flow);
                    expect_type(result, function.result, "the result", function.result_chunk);
                }
                return flow.divergence;
            }
            case StatementKind::kBlock:
                return block(s.body, flow);
            case StatementKind::kBreak:
            case StatementKind::kContinue:
                expect(flow.loops > 0, "there is no loop");
                return flow.divergence;
        }
        return kAlike;
    }

    Varies loop(const Statement& s, const Flow& flow) {
        const Use first = use(s.a, flow);
        std::vector<uint32_t> declared;
        declare(s, LocalKind::kVariable, declared);
        if (!error_.ok()) return kAlike;
        const Use condition = use(s.b, flow);
        const Use amount = s.c == 0 ? Use{first.type} : use(s.c, flow);
        expect_type(first, body_.locals[s.local].type, "the counter's first value");
        expect_type(condition, ScalarType::kBool, "the condition");
        expect_type(amount, body_.locals[s.local].type, "the amount");
        expect(s.op == ScalarOp::kAdd || (s.op == ScalarOp::kSub && s.c == 0) ||
                   ((s.op == ScalarOp::kMul || s.op == ScalarOp::kDiv) && s.c != 0),
               "no sum, product or quotient");
        note_varying(s.local, first.varies | amount.varies | flow.divergence);
        is_counter_[s.local] = true;
        Flow inner = flow;
        inner.divergence |= condition.varies;
        ++inner.loops;
        const Varies leaves = block(s.body, inner);
        is_counter_[s.local] = false;
        is_known_[s.local] = false;
        return returns(s.body) ? leaves : kAlike;
    }

    bool is_array_of_eight(uint64_t local) const {
        return local < body_.locals.size() && is_known_[local] &&
               body_.locals[local].kind == LocalKind::kArray && body_.locals[local].length == 8 &&
               body_.locals[local].type == ScalarType::kF32 &&
               body_.locals[local].chunk == Chunk::kOne;
    }

    /// Of a fragment's element or of statements with fragments: all of a subgroup do it together.
    void together(const Flow& flow) {
        expect(body_.subgroup_size != 0, "a fragment where there are no subgroups");
        if (is_proving_)
            expect((flow.divergence | kBySubgroup) == kBySubgroup,
                   "a fragment where not all invocations of a subgroup need come by");
    }

    void transfer(const Statement& s, const Flow& flow) {
        together(flow);
        const Use fragment = use(s.a, flow);
        if (!error_.ok()) return;
        expect(is_fragment(fragment.chunk), "moves no fragment");
        const ExprNode& to = body_.expressions[s.a];
        if (s.kind == StatementKind::kLoadFragment) set(to, kByInvocation);
        for (const uint32_t id : {s.b, s.c}) {
            const Use place = use(id, flow);
            expect_type(place, ScalarType::kI32, "the place");
            if (is_proving_)
                expect((place.varies | kBySubgroup) == kBySubgroup,
                       "a place that differs within a subgroup");
        }
        if (!error_.ok() || s.arguments.size() != 1) return fail("a fragment without memory");
        const ExprNode& memory = body_.expressions[s.arguments[0]];
        const bool is_half = fragment.chunk != Chunk::kSums;
        if (memory.kind == ExprKind::kBuffer) {
            if (buffer(memory.bits))
                expect(body_.buffers[memory.bits].held == (is_half ? DType::kF16 : DType::kF32),
                       "a buffer of other elements than the fragment");
        } else {
            expect(memory.kind == ExprKind::kLocal &&
                       body_.locals[memory.bits].kind == LocalKind::kShared &&
                       body_.locals[memory.bits].chunk == Chunk::kFour &&
                       body_.locals[memory.bits].type == ScalarType::kU32,
                   "a fragment in memory that is no buffer and no fours of shared words");
        }
    }

    /// Whether the expression is a local of f32 as a whole, known here and of this kind.
    bool is_local(uint32_t id, LocalKind kind) const {
        if (id == 0 || id >= body_.expressions.size()) return false;
        const ExprNode& n = body_.expressions[id];
        return n.kind == ExprKind::kLocal && n.bits < body_.locals.size() && is_known_[n.bits] &&
               body_.locals[n.bits].kind == kind && body_.locals[n.bits].type == ScalarType::kF32;
    }

    static bool returns(std::span<const Statement> statements) {
        return std::any_of(statements.begin(), statements.end(), [](const Statement& s) {
            return s.kind == StatementKind::kReturn || returns(s.body) || returns(s.otherwise);
        });
    }

    void assignment(const Statement& s, const Flow& flow) {
        const ExprNode& to = body_.expressions[s.a];
        if (to.kind == ExprKind::kBuffer) {
            const ExprNode& from = body_.expressions[s.b];
            expect(buffer(to.bits) && body_.buffers[to.bits].kind == BufferKind::kVariable,
                   "sets a buffer that is no variable");
            expect(from.kind == ExprKind::kBuffer && buffer(from.bits) &&
                       body_.buffers[from.bits].held == body_.buffers[to.bits].held,
                   "no buffer of the same elements");
            return;
        }
        const Use place = use(s.a, flow), value = use(s.b, flow);
        if (!error_.ok()) return;
        set(to, value.varies | flow.divergence);
        if (is_fragment(place.chunk)) together(flow);
        expect_type(value, place.type, "the value", place.chunk);
        if (s.kind == StatementKind::kAccumulate) {
            const ScalarType types[] = {place.type, value.type};
            expect(type_of_operation(s.op, types) == place.type, "no such operation");
        }
    }

    /// An expression that is given another value.
    void set(const ExprNode& to, Varies varies) {
        if (to.kind == ExprKind::kChunkElement) return set(body_.expressions[to.in[0]], varies);
        if (to.kind == ExprKind::kElement)
            return expect(body_.locals[to.bits].kind != LocalKind::kVector &&
                              body_.locals[to.bits].kind != LocalKind::kLanes,
                          "sets what can not be set");
        if (to.kind != ExprKind::kLocal) return fail("sets what can not be set");
        const LocalKind kind = body_.locals[to.bits].kind;
        expect(kind == LocalKind::kVariable || kind == LocalKind::kPrivate ||
                   kind == LocalKind::kResult,
               "sets a local that is no variable");
        expect(!is_counter_[to.bits], "sets a loop's counter");
        note_varying(static_cast<uint32_t>(to.bits), varies);
    }

    void elements(const Statement& s, const Flow& flow) {
        if (!error_.ok() || !buffer(s.buffer)) return;
        const BodyBuffer& to = body_.buffers[s.buffer];
        expect(to.held == to.dtype && (to.held == DType::kF32 || to.held == DType::kF16),
               "elements of neither f32 nor f16");
        const bool is_chunk = s.arguments.size() == 1;
        for (const uint32_t id : s.arguments)
            expect_type(use(id, flow), ScalarType::kF32, "an element",
                        is_chunk ? Chunk::kFour : Chunk::kOne);
        const bool are_halves = to.held == DType::kF16;
        expect(is_chunk || s.arguments.size() == 4 || (are_halves && s.arguments.size() == 8),
               "no 8 or 16 bytes");
    }

    void vector(const Statement& s) {
        if (!error_.ok() || !buffer(s.buffer)) return;
        const Local& local = body_.locals[s.local];
        const BodyBuffer& b = body_.buffers[s.buffer];
        const uint32_t bytes = local.length * size_bytes(b.held);
        expect(local.type == scalar_type(b.dtype), "elements of another type");
        expect(size_bytes(b.held) > 1 && (bytes == 8 || bytes == 16), "no 8 or 16 bytes");
    }

    bool buffer(uint64_t index) {
        const bool is_there = index < body_.buffers.size() && is_buffer_known_[index];
        expect(is_there, "a buffer that is not known here");
        return is_there;
    }

    void call(uint64_t index, std::span<const uint32_t> arguments, const Flow& flow) {
        // Functions come before those that call them, so none calls itself.
        if (index >= function_) return fail("a function that is not known here");
        const BodyFunction& function = body_.functions[index];
        if (arguments.size() != function.parameters.size())
            return fail("another number of arguments than " + function.name + " has");
        for (size_t i = 0; i < arguments.size(); ++i) {
            const ExprNode& parameter = body_.expressions[function.parameters[i]];
            const ExprNode& argument = body_.expressions[arguments[i]];
            if (parameter.kind == ExprKind::kBuffer) {
                expect(argument.kind == ExprKind::kBuffer && buffer(argument.bits) &&
                           body_.buffers[argument.bits].held == body_.buffers[parameter.bits].held,
                       "an argument is no buffer of the same elements");
                continue;
            }
            const Use value = use(arguments[i], flow);
            expect_type(value, parameter.type, "an argument", parameter.chunk);
            note_varying(static_cast<uint32_t>(parameter.bits), value.varies);
            if (error_.ok() && body_.locals[parameter.bits].kind == LocalKind::kResult)
                set(argument, kByInvocation);
        }
        if (!barriers_[index]) return;
        if (!is_main()) barriers_[function_] = true;
        if (is_proving_ && flow.divergence != kAlike)
            fail("a barrier in " + function.name + " where not all invocations need come by");
    }

    // ------------------------------------------------------------------------ expressions

    struct Use {
        ScalarType type = ScalarType::kI32;
        Varies varies = kAlike;
        Chunk chunk = Chunk::kOne;
    };

    void expect_type(const Use& found, ScalarType type, const char* what,
                     Chunk chunk = Chunk::kOne) {
        if (found.type != type)
            fail(std::string(what) + " is " + name_of(found.type) + ", not " + name_of(type));
        if (found.chunk != chunk)
            fail(std::string(what) + " is " + name_of(found.chunk) + ", not " + name_of(chunk));
    }
    void expect_like(const Use& found, const Local& local, const char* what) {
        expect_type(found, local.type, what, local.chunk);
    }

    Use use(uint32_t id, const Flow& flow) {
        if (id == 0 || id >= body_.expressions.size()) {
            fail("an expression is missing");
            return {};
        }
        const ExprNode& n = body_.expressions[id];
        Use result{n.type, kAlike, n.chunk};
        const bool are_words = n.chunk == Chunk::kFour && n.type == ScalarType::kU32;
        if (n.chunk != Chunk::kOne && !are_words)
            expect_type(result, ScalarType::kF32, "a chunk", n.chunk);
        switch (n.kind) {
            case ExprKind::kNothing:
            case ExprKind::kBuffer:
                fail("no value");
                break;
            case ExprKind::kConstant:
                break;
            case ExprKind::kRowCount:
            case ExprKind::kPushedWord:
            case ExprKind::kWorkgroup:
            case ExprKind::kWorkgroups:
                expect_type(result, ScalarType::kI32, "a count");
                break;
            case ExprKind::kInvocation:
                result.varies = kByInvocation;
                break;
            case ExprKind::kSubgroup:
            case ExprKind::kSubgroupInvocation:
                expect(body_.subgroup_size != 0, "there are no subgroups");
                result.varies = n.kind == ExprKind::kSubgroup ? kBySubgroup : kByInvocation;
                break;
            case ExprKind::kTwoHalves:
                expect_type(use(n.in[0], flow), ScalarType::kU32, "the word");
                expect(n.chunk == Chunk::kTwo, "two halves of another length");
                result.varies = kByInvocation;
                break;
            case ExprKind::kPack:
                expect(is_array_of_eight(n.bits) && n.chunk == Chunk::kHalves,
                       "packs no array of eight floats");
                result.varies = kByInvocation;
                break;
            case ExprKind::kReinterpret: {
                const bool to_words = n.chunk == Chunk::kFour;
                expect_type(use(n.in[0], flow), to_words ? ScalarType::kF32 : ScalarType::kU32,
                            "what is reinterpreted", to_words ? Chunk::kHalves : Chunk::kFour);
                expect(are_words || n.chunk == Chunk::kHalves, "neither four words nor halves");
                result.varies = kByInvocation;
                break;
            }
            case ExprKind::kLength:
                expect(is_fragment(use(n.in[0], flow).chunk), "the length of no fragment");
                expect_type(result, ScalarType::kI32, "the length");
                break;
            case ExprKind::kConvert: {
                together(flow);
                const Use from = use(n.in[0], flow);
                if (error_.ok())
                    expect(is_fragment(from.chunk) && is_fragment(n.chunk) &&
                               body_.shape_of(from.chunk) == body_.shape_of(n.chunk),
                           "fragments of other sizes");
                result.varies = kByInvocation;
                break;
            }
            case ExprKind::kLocal:
            case ExprKind::kElement:
                result.varies = local(n, flow);
                break;
            case ExprKind::kLoad:
                result.varies = kByInvocation;
                expect_type(use(n.in[0], flow), ScalarType::kI32, "the index");
                if (buffer(n.bits))
                    expect_type(result, scalar_type(body_.buffers[n.bits].dtype), "a load",
                                n.chunk);
                if (error_.ok()) expect_chunk(n.chunk, body_.buffers[n.bits].held);
                break;
            case ExprKind::kChunkElement: {
                const Use of = use(n.in[0], flow);
                const uint32_t length = is_fragment(of.chunk) ? 1 : length_of(of.chunk);
                expect(of.chunk == Chunk::kTwo || of.chunk == Chunk::kThree ||
                           of.chunk == Chunk::kFour || of.chunk == Chunk::kEight ||
                           is_fragment(of.chunk),
                       "a lane of no floats");
                expect_type(result, of.type, "the lane");
                expect(n.bits < (length + 3) / 4, "a lane beyond the last");
                expect_type(use(n.in[1], flow), ScalarType::kI32, "the lane");
                result.varies = kByInvocation;
                break;
            }
            case ExprKind::kVector: {
                const bool is_four = n.bits < body_.locals.size() && is_known_[n.bits] &&
                                     body_.locals[n.bits].kind == LocalKind::kVector &&
                                     body_.locals[n.bits].length == 4 && n.chunk == Chunk::kFour;
                expect(is_four && body_.locals[n.bits].held == DType::kF16,
                       "no vector of four f16 that is known here");
                result.varies = kByInvocation;
                break;
            }
            case ExprKind::kFill:
                expect_type(use(n.in[0], flow), ScalarType::kF32, "the element");
                expect(n.chunk != Chunk::kOne && n.chunk != Chunk::kInt8 &&
                           n.chunk != Chunk::kInt4 &&
                           (n.chunk != Chunk::kHalves || is_zero(n.in[0])),
                       "fills no such chunk");
                result.varies = kByInvocation;
                break;
            case ExprKind::kPart: {
                const Use of = use(n.in[0], flow);
                expect((of.chunk == Chunk::kEight || of.chunk == Chunk::kHalves) && n.bits < 2,
                       "four of no eight");
                expect(n.chunk == Chunk::kFour, "a part of another length");
                result.varies = kByInvocation;
                break;
            }
            case ExprKind::kJoin:
                for (size_t i = 0; i < 2; ++i)
                    expect_type(use(n.in[i], flow), ScalarType::kF32, "a half", Chunk::kFour);
                expect(n.chunk == Chunk::kEight || n.chunk == Chunk::kHalves, "joins to no eight");
                result.varies = kByInvocation;
                break;
            case ExprKind::kGather: {
                const uint32_t first[] = {n.in[0]};
                call(n.bits, first, flow);
                if (error_.ok())
                    expect(body_.functions[n.bits].has_result &&
                               body_.functions[n.bits].result == ScalarType::kF32 &&
                               body_.functions[n.bits].result_chunk == Chunk::kOne &&
                               (n.chunk == Chunk::kFour || n.chunk == Chunk::kHalves),
                           "gathers no floats");
                result.varies = kByInvocation;
                break;
            }
            case ExprKind::kLoadChunk:
                expect_type(use(n.in[0], flow), ScalarType::kI32, "the index");
                if (buffer(n.bits))
                    expect((body_.buffers[n.bits].held == DType::kF32 && n.chunk == Chunk::kFour) ||
                               (body_.buffers[n.bits].held == DType::kF16 &&
                                n.chunk == Chunk::kHalves),
                           "loads neither four f32 nor eight f16");
                result.varies = kByInvocation;
                break;
            case ExprKind::kCompose:
                expect((n.chunk == Chunk::kThree || n.chunk == Chunk::kFour) &&
                           n.in[1] == length_of(n.chunk),
                       "a chunk of another number of elements");
                for (const uint32_t element : body_.arguments_of(n))
                    expect_type(use(element, flow), ScalarType::kF32, "an element");
                result.varies = kByInvocation;
                break;
            case ExprKind::kScale:
                expect(n.chunk == Chunk::kThree || n.chunk == Chunk::kFour,
                       "scales no three and no four");
                expect_type(use(n.in[0], flow), ScalarType::kF32, "the chunk", n.chunk);
                expect_type(use(n.in[1], flow), ScalarType::kF32, "the factor");
                result.varies = kByInvocation;
                break;
            case ExprKind::kMultiplyAdd:
                if (n.chunk == Chunk::kSums) {
                    together(flow);
                    constexpr Chunk kChunks[] = {Chunk::kLeft, Chunk::kRight, Chunk::kSums};
                    for (size_t i = 0; i < n.in.size(); ++i)
                        expect_type(use(n.in[i], flow), ScalarType::kF32, "a factor", kChunks[i]);
                    result.varies = kByInvocation;
                    break;
                }
                expect(n.chunk == Chunk::kOne || n.chunk == Chunk::kFour,
                       "multiplies and adds no numbers and no fours");
                for (const uint32_t in : n.in)
                    expect_type(use(in, flow), ScalarType::kF32, "a factor", n.chunk);
                result.varies = kByInvocation;
                break;
            case ExprKind::kDot:
                for (size_t i = 0; i < 2; ++i)
                    expect_type(use(n.in[i], flow), ScalarType::kF32, "a factor", Chunk::kFour);
                result.varies = kByInvocation;
                break;
            case ExprKind::kHighProduct:
                for (size_t i = 0; i < 2; ++i) {
                    const Use operand = use(n.in[i], flow);
                    expect_type(operand, ScalarType::kU32, "a factor");
                    result.varies |= operand.varies;
                }
                expect_type(result, ScalarType::kU32, "the upper word");
                break;
            case ExprKind::kClamp:
                for (const uint32_t in : n.in) {
                    const Use operand = use(in, flow);
                    expect_type(operand, ScalarType::kI32, "a bound");
                    result.varies |= operand.varies;
                }
                break;
            case ExprKind::kUnpack:
                expect_type(use(n.in[0], flow), ScalarType::kI32, "the index");
                expect_type(use(n.in[1], flow), ScalarType::kF32, "the scale");
                if (n.in[2] != 0) expect_type(use(n.in[2], flow), ScalarType::kI32, "the four");
                if (buffer(n.bits))
                    expect(body_.buffers[n.bits].held == DType::kU32, "unpacks no words");
                expect((n.width == 8 && n.chunk != Chunk::kInt4) ||
                           (n.width == 4 && n.chunk != Chunk::kInt8),
                       "integers of another width");
                result.varies = kByInvocation;
                break;
            case ExprKind::kCall: {
                result.varies = kByInvocation;
                call(n.bits, body_.arguments_of(n), flow);
                if (error_.ok())
                    expect(body_.functions[n.bits].has_result &&
                               body_.functions[n.bits].result == n.type &&
                               body_.functions[n.bits].result_chunk == n.chunk,
                           "a function without such a result");
                break;
            }
            default:
                operation(n, flow, result);
        }
        return result;
    }

    bool is_zero(uint32_t id) const {
        const ExprNode& n = body_.expressions[id];
        return n.kind == ExprKind::kConstant && n.bits == 0;
    }

    void expect_chunk(Chunk chunk, DType held) {
        const bool is_float = held == DType::kF32, is_half = held == DType::kF16;
        switch (chunk) {
            case Chunk::kOne:
                return;
            case Chunk::kFour:
                return expect(is_float || is_half, "loads four that are neither f32 nor f16");
            case Chunk::kEight:
                return expect(is_float, "loads eight that are no f32");
            case Chunk::kHalf:
            case Chunk::kHalves:
                return expect(is_half, "loads halves that are no f16");
            case Chunk::kTwo:
            case Chunk::kThree:
            case Chunk::kLeft:
            case Chunk::kRight:
            case Chunk::kSums:
            case Chunk::kHalfSums:
                return fail("loads what is no chunk of memory");
            case Chunk::kInt8:
            case Chunk::kInt4:
                return fail("loads what has to be unpacked");
        }
    }

    Varies local(const ExprNode& n, const Flow& flow) {
        if (n.bits >= body_.locals.size() || !is_known_[n.bits]) {
            fail("a local that is not known here");
            return kAlike;
        }
        const Local& l = body_.locals[n.bits];
        const bool is_many = l.kind == LocalKind::kArray || l.kind == LocalKind::kVector ||
                             l.kind == LocalKind::kLanes || l.kind == LocalKind::kShared;
        expect(is_many == (n.kind == ExprKind::kElement), "an array without an index");
        expect_type({n.type, kAlike, n.chunk}, l.type, "the local", l.chunk);
        if (n.kind == ExprKind::kElement)
            expect_type(use(n.in[0], flow), ScalarType::kI32, "the index");
        return varies_[n.bits];
    }

    void operation(const ExprNode& n, const Flow& flow, Use& result) {
        const size_t count = n.kind == ExprKind::kOperation || n.kind == ExprKind::kFitting
                                 ? static_cast<size_t>(operand_count(n.op))
                                 : 2;
        std::array<ScalarType, 3> types{};
        for (size_t i = 0; i < count; ++i) {
            const Use operand = use(n.in[i], flow);
            types[i] = operand.type;
            result.varies |= operand.varies;
            const bool is_condition = n.op == ScalarOp::kSelect && i == 0;
            expect(operand.chunk == (is_condition ? Chunk::kOne : n.chunk),
                   "operands that are no chunks of a kind");
        }
        expect(n.chunk == Chunk::kOne || n.op == ScalarOp::kSelect ||
                   (n.chunk == Chunk::kFour &&
                    (n.op == ScalarOp::kRoundF16 || n.op == ScalarOp::kBitsToF32 ||
                     n.op == ScalarOp::kBitsToU32)) ||
                   (n.chunk == Chunk::kTwo && n.op == ScalarOp::kAdd),
               "an operation that chunks lack");
        if (!error_.ok()) return;
        std::optional<ScalarType> type;
        if (n.kind == ExprKind::kPhilox)
            type = ScalarType::kU32;
        else if (n.kind == ExprKind::kGreater || n.kind == ExprKind::kGreaterEqual)
            type = type_of_operation(ScalarOp::kLess, types);
        else if (n.kind == ExprKind::kOperation || types[0] == ScalarType::kF32)
            type = type_of_operation(n.op, types);
        if (type != n.type)
            fail("operation " + std::to_string(static_cast<int>(n.op)) + " of " +
                 name_of(types[0]) + " is no " + name_of(n.type));
    }

    const Body& body_;
    Status error_;
    const Statement* at_ = nullptr;
    size_t function_ = 0;
    std::vector<bool> is_known_, is_buffer_known_, is_counter_;
    std::vector<Varies> varies_;  ///< per local
    std::vector<bool> barriers_;  ///< per function: it has some, or calls one that has
    bool has_changed_ = false, is_proving_ = false;
};

}  // namespace

Status verify_body(const Body& body) {
    return BodyVerifier(body).run();
}

}  // namespace hearth
