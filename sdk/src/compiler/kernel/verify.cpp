// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A proof over all bodies, not over one run: types and scopes by a walk; uniform control flow by a
// fixed point, as a local is uniform only if all that sets it is.

#include "compiler/ir/scalar_instructions.hpp"
#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/instructions.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <optional>

namespace hearth {

namespace {

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
          barriers_(body.functions.size(), false),
          is_stored_(body.buffers.size(), false) {
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
        for (const BodyFunction& f : body.functions) note_stores(f.statements);
        note_stores(body.statements);
    }

    Status run() {
        check_subgroups();
        check_grid();
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
    /// The value of an expression.
    struct Use {
        ScalarType type = ScalarType::kI32;
        Varies varies = kAlike;
        Chunk chunk = Chunk::kOne;
    };

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
        error_ = internal_error(place() + ", " +
                                (at_ != nullptr ? instruction_of(at_->kind).name : "start") + ": " +
                                what);
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

    void note_stores(std::span<const Statement> statements) {
        for (const Statement& s : statements) {
            const bool stores =
                s.kind == StatementKind::kStore || s.kind == StatementKind::kStoreVector ||
                s.kind == StatementKind::kStoreChunk || s.kind == StatementKind::kStoreElements;
            if (stores && s.buffer < is_stored_.size()) is_stored_[s.buffer] = true;
            if (s.kind == StatementKind::kStoreFragment || s.kind == StatementKind::kCall)
                for (const uint32_t id : s.arguments)
                    if (const ExprNode& n = body_.expressions[id]; n.kind == ExprKind::kBuffer)
                        is_stored_[n.bits] = true;
            note_stores(s.body);
            note_stores(s.otherwise);
        }
    }
    /// True if all invocations read the same of it: an operand that the kernel does not store to.
    bool is_constant(uint64_t buffer) const {
        return body_.buffers[buffer].kind == BufferKind::kOperand && !is_stored_[buffer];
    }

    void note_varying(uint32_t local, Varies varies) {
        if ((varies_[local] | varies) == varies_[local]) return;
        varies_[local] |= varies;
        has_changed_ = true;
    }

    void check_grid() {
        expect((body_.across == 0) == (body_.down == 0), "a grid of two axes");
        for (const uint32_t count : {body_.across, body_.down}) {
            if (count == 0 || !error_.ok()) continue;
            const Use number = use(count, {});
            expect_type(number, ScalarType::kI32, "a count");
            expect(number.varies == kAlike, "numbers of workgroups that differ among invocations");
        }
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
        const StatementInstruction& row = instruction_of(s.kind);
        Use a, b;
        if (row.a != OperandType::kNone) a = operand(s.a, row.a, flow, "operand a");
        if (row.b != OperandType::kNone) b = operand(s.b, row.b, flow, "operand b");
        if (row.c != OperandType::kNone) (void)operand(s.c, row.c, flow, "operand c");
        switch (s.kind) {
            case StatementKind::kFor:
                return loop(s, flow);
            case StatementKind::kIf: {
                Flow inner = flow;
                inner.divergence |= a.varies;
                const Varies yes = block(s.body, inner), no = block(s.otherwise, inner);
                // If all leave together, nobody is left to differ from.
                return yes | no;
            }
            case StatementKind::kReturn:
                result(s, flow);
                return flow.divergence;
            case StatementKind::kBlock:
                return block(s.body, flow);
            case StatementKind::kBreak:
            case StatementKind::kContinue:
                expect(flow.loops > 0, "there is no loop");
                return flow.divergence;
            case StatementKind::kLet:
                set_once(s, a, declared);
                break;
            case StatementKind::kLetCall:
                let_call(s, flow, declared);
                break;
            case StatementKind::kDeclare:
                declaration(s, flow, declared);
                break;
            case StatementKind::kDeclareBuffer:
                declare_buffer(s, buffers);
                break;
            case StatementKind::kAssign:
            case StatementKind::kAccumulate:
                assignment(s, flow);
                break;
            case StatementKind::kLoadVector:
                declare(s, LocalKind::kVector, declared);
                vector(s);
                break;
            case StatementKind::kStoreVector:
                expect(is_known_[s.local] && body_.locals[s.local].kind == LocalKind::kArray,
                       "stores no array");
                vector(s);
                break;
            case StatementKind::kLoadLanes:
                declare(s, LocalKind::kLanes, declared);
                if (s.b != 0)
                    expect(is_local(s.b, LocalKind::kArray), "loads of no array");
                else if (buffer(s.buffer))
                    expect(body_.buffers[s.buffer].held == DType::kF32, "loads of no f32");
                break;
            case StatementKind::kStoreLanes:
                expect(is_known_[s.local] && body_.locals[s.local].kind == LocalKind::kLanes,
                       "stores no lanes");
                expect(is_local(s.b, LocalKind::kArray), "stores to no array");
                break;
            case StatementKind::kMultiplyAdd:
                multiply_add(s, flow);
                break;
            case StatementKind::kStoreChunk:
                store_chunk(s, b);
                break;
            case StatementKind::kSpread:
                spread(s, flow);
                break;
            case StatementKind::kLoadFragment:
            case StatementKind::kStoreFragment:
                transfer(s, flow, a);
                break;
            case StatementKind::kStoreElements:
                elements(s, flow);
                break;
            case StatementKind::kStore:
                if (buffer(s.buffer))
                    expect_type(b, scalar_type(body_.buffers[s.buffer].dtype), "the value");
                break;
            case StatementKind::kBarrier:
            case StatementKind::kSubgroupBarrier:
                barrier(s, flow);
                break;
            case StatementKind::kCall:
                call(s.function, s.arguments, flow);
                break;
        }
        return kAlike;
    }

    void set_once(const Statement& s, const Use& value, std::vector<uint32_t>& declared) {
        declare(s, LocalKind::kValue, declared);
        if (!error_.ok()) return;
        expect_like(value, body_.locals[s.local], "the value");
        note_varying(s.local, value.varies);
    }

    void let_call(const Statement& s, const Flow& flow, std::vector<uint32_t>& declared) {
        call(s.function, s.arguments, flow);
        if (!error_.ok()) return;
        const BodyFunction& function = body_.functions[s.function];
        expect(function.has_result, "a function without a result");
        set_once(s, {function.result, kByInvocation, function.result_chunk}, declared);
    }

    void declaration(const Statement& s, const Flow& flow, std::vector<uint32_t>& declared) {
        const Local& local = body_.locals[s.local];
        if (local.kind == LocalKind::kLanes) {
            expect_type(use(s.a, flow), ScalarType::kF32, "the first value");
            return declare(s, LocalKind::kLanes, declared);
        }
        const bool is_array = local.kind == LocalKind::kArray;
        const Use value = s.a == 0 ? Use{local.type, kAlike, local.chunk} : use(s.a, flow);
        declare(s, is_array ? LocalKind::kArray : LocalKind::kVariable, declared);
        expect(!is_array || s.a == 0, "an array has a first value");
        expect_like(value, local, "the first value");
        note_varying(s.local, value.varies);
    }

    void declare_buffer(const Statement& s, std::vector<uint32_t>& buffers) {
        const ExprNode& n = body_.expressions[s.a];
        const bool is_variable = n.kind == ExprKind::kBuffer && !is_buffer_known_[n.bits] &&
                                 body_.buffers[n.bits].kind == BufferKind::kVariable;
        if (!is_variable) return fail("declares no new buffer variable");
        is_buffer_known_[n.bits] = true;
        buffers.push_back(static_cast<uint32_t>(n.bits));
    }

    void multiply_add(const Statement& s, const Flow& flow) {
        const auto are_lanes = [&](uint32_t id) {
            return is_local(id, LocalKind::kLanes) &&
                   body_.locals[body_.expressions[id].bits].length == body_.locals[s.local].length;
        };
        expect(
            is_known_[s.local] && body_.locals[s.local].kind == LocalKind::kLanes && are_lanes(s.b),
            "multiplies no lanes");
        if (!are_lanes(s.a)) expect_type(use(s.a, flow), ScalarType::kF32, "the factor");
    }

    void store_chunk(const Statement& s, const Use& value) {
        const bool are_halves = value.chunk == Chunk::kHalves;
        if (!are_halves) expect_type(value, ScalarType::kF32, "the chunk", Chunk::kFour);
        if (buffer(s.buffer))
            expect(body_.buffers[s.buffer].held == (are_halves ? DType::kF16 : DType::kF32),
                   "stores chunks of another type");
    }

    void spread(const Statement& s, const Flow& flow) {
        const bool is_half = s.arguments.size() == 1;
        expect(is_half || s.arguments.size() == 2, "spreads no two fours");
        for (const uint32_t id : s.arguments)
            expect_type(use(id, flow), ScalarType::kF32, "a chunk",
                        is_half ? Chunk::kHalves : Chunk::kFour);
        expect(is_array_of_eight(s.local), "spreads to no array of eight floats");
    }

    void barrier(const Statement& s, const Flow& flow) {
        if (s.kind == StatementKind::kBarrier && !is_main()) barriers_[function_] = true;
        // A driver may make a subgroup's barrier the workgroup's, so all of that must come by there, too.
        if (is_proving_)
            expect(flow.divergence == kAlike, "a barrier where not all invocations need come by");
    }

    void result(const Statement& s, const Flow& flow) {
        const bool has_result = !is_main() && body_.functions[function_].has_result;
        expect(has_result == (s.a != 0), "a result that is missing or not asked for");
        if (s.a == 0 || !error_.ok()) return;
        const BodyFunction& function = body_.functions[function_];
        expect_type(use(s.a, flow), function.result, "the result", function.result_chunk);
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

    void transfer(const Statement& s, const Flow& flow, const Use& fragment) {
        together(flow);
        if (!error_.ok()) return;
        expect(is_fragment(fragment.chunk), "moves no fragment");
        const ExprNode& to = body_.expressions[s.a];
        if (s.kind == StatementKind::kLoadFragment) set(to, kByInvocation);
        for (const uint32_t id : {s.b, s.c}) {
            const Use place = use(id, flow);
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
        const ExpressionInstruction& row = instruction_of(n.kind);
        const bool are_words = n.chunk == Chunk::kFour && n.type == ScalarType::kU32;
        Use result{n.type, row.varies & kByInvocation, n.chunk};
        if (n.chunk != Chunk::kOne && !are_words)
            expect_type(result, ScalarType::kF32, "a chunk", n.chunk);
        expect_operand(result, row.type, row.name, n.chunk);
        if (!row.gives.has(n.chunk)) fail(std::string(row.name) + " gives no " + name_of(n.chunk));
        constexpr const char* kOperands[] = {"the first operand", "the second operand",
                                             "the third operand"};
        std::array<Use, 3> operands;
        for (size_t i = 0; i < row.in.size(); ++i) {
            if (row.in[i] == OperandType::kNone) continue;
            operands[i] = operand(n.in[i], factor_of(n, row, i), flow, kOperands[i], n.chunk);
            if ((row.varies & kAsOperands) != 0) result.varies |= operands[i].varies;
        }
        rule(n, flow, operands, result);
        return result;
    }

    /// The factors of a product of fragments are fragments of other kinds.
    static OperandType factor_of(const ExprNode& n, const ExpressionInstruction& row, size_t i) {
        constexpr OperandType kFactors[] = {OperandType::kLeft, OperandType::kRight,
                                            OperandType::kSums};
        return n.kind == ExprKind::kMultiplyAdd && n.chunk == Chunk::kSums ? kFactors[i]
                                                                           : row.in[i];
    }

    /// of: what the operand is one of, for messages.
    Use operand(uint32_t id, OperandType type, const Flow& flow, const char* of,
                Chunk result = Chunk::kOne) {
        const Use found = use(id, flow);
        const char* what = type == OperandType::kIndex       ? "the index"
                           : type == OperandType::kCondition ? "the condition"
                                                             : of;
        expect_operand(found, type, what, result);
        return found;
    }

    /// result: the chunk that kSameFloats means.
    void expect_operand(const Use& found, OperandType type, const char* what, Chunk result) {
        switch (type) {
            case OperandType::kNone:
            case OperandType::kAny:
                return;
            case OperandType::kIndex:
                return expect_type(found, ScalarType::kI32, what);
            case OperandType::kWord:
                return expect_type(found, ScalarType::kU32, what);
            case OperandType::kFloat:
                return expect_type(found, ScalarType::kF32, what);
            case OperandType::kCondition:
                return expect_type(found, ScalarType::kBool, what);
            case OperandType::kFour:
                return expect_type(found, ScalarType::kF32, what, Chunk::kFour);
            case OperandType::kSameFloats:
                return expect_type(found, ScalarType::kF32, what, result);
            case OperandType::kLeft:
                return expect_type(found, ScalarType::kF32, what, Chunk::kLeft);
            case OperandType::kRight:
                return expect_type(found, ScalarType::kF32, what, Chunk::kRight);
            case OperandType::kSums:
                return expect_type(found, ScalarType::kF32, what, Chunk::kSums);
        }
    }

    /// Rules beside those of the instruction's row.
    void rule(const ExprNode& n, const Flow& flow, const std::array<Use, 3>& operands,
              Use& result) {
        const bool is_four = n.chunk == Chunk::kFour;
        switch (n.kind) {
            case ExprKind::kNothing:
            case ExprKind::kBuffer:
                return fail("no value");
            case ExprKind::kWorkgroup:
            case ExprKind::kWorkgroups:
                return expect(n.bits < (body_.across == 0 ? 1 : 3), "an axis that the grid lacks");
            case ExprKind::kSubgroup:
            case ExprKind::kSubgroupInvocation:
                return expect(body_.subgroup_size != 0, "there are no subgroups");
            case ExprKind::kPack:
                return expect(is_array_of_eight(n.bits), "packs no array of eight floats");
            case ExprKind::kReinterpret:
                expect_type(operands[0], is_four ? ScalarType::kF32 : ScalarType::kU32,
                            "what is reinterpreted", is_four ? Chunk::kHalves : Chunk::kFour);
                return expect(!is_four || n.type == ScalarType::kU32, "four that are no words");
            case ExprKind::kLength:
                return expect(is_fragment(operands[0].chunk), "the length of no fragment");
            case ExprKind::kConvert:
                together(flow);
                return expect(is_fragment(operands[0].chunk) &&
                                  body_.shape_of(operands[0].chunk) == body_.shape_of(n.chunk),
                              "fragments of other sizes");
            case ExprKind::kLocal:
            case ExprKind::kElement:
                result.varies = local(n);
                return;
            case ExprKind::kLoad:
                if (buffer(n.bits))
                    expect_type(result, scalar_type(body_.buffers[n.bits].dtype), "a load",
                                n.chunk);
                if (!error_.ok()) return;
                if (is_constant(n.bits)) result.varies = operands[0].varies;
                return expect_chunk(n.chunk, body_.buffers[n.bits].held);
            case ExprKind::kChunkElement:
                return chunk_element(operands[0], result);
            case ExprKind::kVector: {
                const bool is_vector = n.bits < body_.locals.size() && is_known_[n.bits] &&
                                       body_.locals[n.bits].kind == LocalKind::kVector &&
                                       body_.locals[n.bits].length == 4;
                return expect(is_vector && body_.locals[n.bits].held == DType::kF16,
                              "no vector of four f16 that is known here");
            }
            case ExprKind::kFill:
                return expect(n.chunk != Chunk::kHalves || is_zero(n.in[0]),
                              "fills halves with other numbers than zero");
            case ExprKind::kPart:
                return expect(operands[0].chunk == Chunk::kHalves && n.bits < 2,
                              "four of no eight");
            case ExprKind::kLoadChunk:
                if (buffer(n.bits))
                    expect(body_.buffers[n.bits].held == (is_four ? DType::kF32 : DType::kF16),
                           "loads neither four f32 nor eight f16");
                return;
            case ExprKind::kCompose:
                expect(n.in[1] == length_of(n.chunk), "a chunk of another number of elements");
                for (const uint32_t element : body_.arguments_of(n))
                    expect_type(use(element, flow), ScalarType::kF32, "an element");
                return;
            case ExprKind::kMultiplyAdd:
                if (n.chunk == Chunk::kSums) together(flow);
                return;
            case ExprKind::kCall:
                call(n.bits, body_.arguments_of(n), flow);
                if (error_.ok())
                    expect(body_.functions[n.bits].has_result &&
                               body_.functions[n.bits].result == n.type &&
                               body_.functions[n.bits].result_chunk == n.chunk,
                           "a function without such a result");
                return;
            case ExprKind::kOperation:
            case ExprKind::kFitting:
            case ExprKind::kGreater:
            case ExprKind::kGreaterEqual:
                return operation(n, flow, result);
            default:
                return;
        }
    }

    void chunk_element(const Use& of, const Use& result) {
        constexpr Chunks kReadable{Chunk::kTwo,   Chunk::kThree, Chunk::kFour,    Chunk::kLeft,
                                   Chunk::kRight, Chunk::kSums,  Chunk::kHalfSums};
        if (!kReadable.has(of.chunk)) return fail("a lane of no floats");
        expect_type(result, of.type, "the lane");
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
                return expect(is_float || is_half || held == DType::kU32,
                              "loads four that are neither f32, f16 nor words");
            case Chunk::kHalves:
                return expect(is_half, "loads halves that are no f16");
            case Chunk::kTwo:
            case Chunk::kThree:
            case Chunk::kLeft:
            case Chunk::kRight:
            case Chunk::kSums:
            case Chunk::kHalfSums:
                return fail("loads what is no chunk of memory");
        }
    }

    Varies local(const ExprNode& n) {
        if (n.bits >= body_.locals.size() || !is_known_[n.bits]) {
            fail("a local that is not known here");
            return kAlike;
        }
        const Local& l = body_.locals[n.bits];
        const bool is_many = l.kind == LocalKind::kArray || l.kind == LocalKind::kVector ||
                             l.kind == LocalKind::kLanes || l.kind == LocalKind::kShared;
        expect(is_many == (n.kind == ExprKind::kElement), "an array without an index");
        expect_type({n.type, kAlike, n.chunk}, l.type, "the local", l.chunk);
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
        if (n.kind == ExprKind::kGreater || n.kind == ExprKind::kGreaterEqual)
            type = type_of_operation(ScalarOp::kLess, types);
        else if (n.kind == ExprKind::kOperation || types[0] == ScalarType::kF32)
            type = type_of_operation(n.op, types);
        if (type != n.type)
            fail(std::string("operation ") + instruction_of(n.op).name + " of " +
                 name_of(types[0]) + " is no " + name_of(n.type));
    }

    const Body& body_;
    Status error_;
    const Statement* at_ = nullptr;
    size_t function_ = 0;
    std::vector<bool> is_known_, is_buffer_known_, is_counter_;
    std::vector<Varies> varies_;   ///< per local
    std::vector<bool> barriers_;   ///< per function: it has some, or calls one that has
    std::vector<bool> is_stored_;  ///< per buffer
    bool has_changed_ = false, is_proving_ = false;
};

}  // namespace

Status verify_body(const Body& body) {
    return BodyVerifier(body).run();
}

}  // namespace hearth
