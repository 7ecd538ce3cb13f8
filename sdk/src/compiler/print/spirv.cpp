// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/spirv.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/kernel/decompositions.hpp"
#include "compiler/print/spirv_memory.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace hearth {

namespace spirv {

namespace {

constexpr uint32_t kWorkgroupScope = 2, kSubgroupScope = 3;
constexpr uint32_t kAcquireRelease = 8, kUniformMemory = 0x40, kWorkgroupMemory = 0x100;
constexpr uint32_t kAligned = 2, kMakeAvailable = 8, kMakeVisible = 16,
                   kNonPrivate = 32;              // memory operands
constexpr uint32_t kUnroll = 1, kDontUnroll = 2;  // loop controls

/// Instructions for one scalar operation by the type of its operands; kCopyObject: there is none.
struct Instructions {
    ScalarOp operation;
    Op of_float, of_signed, of_unsigned, of_bool;
};
constexpr Op kNone = Op::kCopyObject;
constexpr Instructions kInstructions[] = {
    {ScalarOp::kNeg, Op::kFNegate, Op::kSNegate, Op::kSNegate, kNone},
    {ScalarOp::kNot, kNone, kNone, kNone, Op::kLogicalNot},
    {ScalarOp::kBitNot, kNone, Op::kNot, Op::kNot, kNone},
    {ScalarOp::kIsNan, Op::kIsNan, kNone, kNone, kNone},
    {ScalarOp::kIsInf, Op::kIsInf, kNone, kNone, kNone},
    {ScalarOp::kAdd, Op::kFAdd, Op::kIAdd, Op::kIAdd, kNone},
    {ScalarOp::kSub, Op::kFSub, Op::kISub, Op::kISub, kNone},
    {ScalarOp::kMul, Op::kFMul, Op::kIMul, Op::kIMul, kNone},
    {ScalarOp::kDiv, Op::kFDiv, Op::kSDiv, Op::kUDiv, kNone},
    {ScalarOp::kMod, kNone, Op::kSRem, Op::kUMod, kNone},
    {ScalarOp::kLess, Op::kFOrdLessThan, Op::kSLessThan, Op::kULessThan, kNone},
    {ScalarOp::kLessEqual, Op::kFOrdLessThanEqual, Op::kSLessThanEqual, Op::kULessThanEqual, kNone},
    {ScalarOp::kEqual, Op::kFOrdEqual, Op::kIEqual, Op::kIEqual, Op::kLogicalEqual},
    {ScalarOp::kNotEqual, Op::kFUnordNotEqual, Op::kINotEqual, Op::kINotEqual,
     Op::kLogicalNotEqual},
    {ScalarOp::kAnd, kNone, kNone, kNone, Op::kLogicalAnd},
    {ScalarOp::kOr, kNone, kNone, kNone, Op::kLogicalOr},
    {ScalarOp::kXor, kNone, kNone, kNone, Op::kLogicalNotEqual},
    {ScalarOp::kBitAnd, kNone, Op::kBitwiseAnd, Op::kBitwiseAnd, kNone},
    {ScalarOp::kBitOr, kNone, Op::kBitwiseOr, Op::kBitwiseOr, kNone},
    {ScalarOp::kBitXor, kNone, Op::kBitwiseXor, Op::kBitwiseXor, kNone},
    {ScalarOp::kShiftLeft, kNone, Op::kShiftLeftLogical, Op::kShiftLeftLogical, kNone},
    {ScalarOp::kShiftRight, kNone, Op::kShiftRightArithmetic, Op::kShiftRightLogical, kNone},
};

struct MathFunctions {
    ScalarOp operation;
    std::optional<Math> of_float, of_signed, of_unsigned;
};
constexpr MathFunctions kMath[] = {
    {ScalarOp::kAbs, Math::kFAbs, Math::kSAbs, {}},
    {ScalarOp::kSign, Math::kFSign, Math::kSSign, {}},
    {ScalarOp::kFloor, Math::kFloor, {}, {}},
    {ScalarOp::kCeil, Math::kCeil, {}, {}},
    {ScalarOp::kRound, Math::kRoundEven, {}, {}},
    {ScalarOp::kTrunc, Math::kTrunc, {}, {}},
    {ScalarOp::kSqrt, Math::kSqrt, {}, {}},
    {ScalarOp::kRsqrt, Math::kInverseSqrt, {}, {}},
    {ScalarOp::kExp, Math::kExp, {}, {}},
    {ScalarOp::kLog, Math::kLog, {}, {}},
    {ScalarOp::kPow, Math::kPow, {}, {}},
    {ScalarOp::kMin, Math::kFMin, Math::kSMin, Math::kUMin},
    {ScalarOp::kMax, Math::kFMax, Math::kSMax, Math::kUMax},
};

class FunctionPrinter {
  public:
    FunctionPrinter(KernelModule& kernel, const Body& body)
        : kernel_(kernel),
          module_(kernel.module),
          body_(body),
          is_decomposition_(&body == &decompositions()),
          has_matrices_(kernel.options.matrices != CooperativeMatrixExt::kNone),
          has_dot_halves_(kernel.options.has_dot_halves) {}

    uint32_t run(const BodyFunction* function) {
        const uint32_t id = module_.new_id();
        Words types{function != nullptr && function->has_result
                        ? kernel_.type_of(function->result, function->result_chunk)
                        : module_.type_void()};
        Code parameters;
        if (function != nullptr)
            for (const uint32_t p : function->parameters) {
                types.push_back(type_of_parameter(p));
                const uint32_t parameter = module_.new_id();
                kernel_.emit(parameters, Op::kFunctionParameter, {types.back(), parameter});
                (node(p).kind == ExprKind::kBuffer ? buffers_ : locals_)[node(p).bits] = parameter;
            }
        begin_block(module_.new_id());
        block(function != nullptr ? function->statements : body_.statements);
        if (is_open_) emit(types[0] == module_.type_void() ? Op::kReturn : Op::kUnreachable, {});
        Code all;
        kernel_.emit(all, Op::kFunction, {types[0], id, 0, module_.type_function(types)});
        all.insert(all.end(), parameters.begin(), parameters.end());
        constexpr size_t kLabelWords = 2;  // of the first block, behind which its variables are
        all.insert(all.end(), code_.begin(), code_.begin() + kLabelWords);
        all.insert(all.end(), variables_.begin(), variables_.end());
        all.insert(all.end(), code_.begin() + kLabelWords, code_.end());
        kernel_.emit(all, Op::kFunctionEnd, {});
        module_.name(id, function != nullptr ? function->name : "main");
        module_.add_function(all);
        return id;
    }

  private:
    // ------------------------------------------------------------------------ instructions

    const ExprNode& node(uint32_t id) const { return body_.expressions[id]; }
    uint32_t type_of(const ExprNode& n) { return kernel_.type_of(n.type, n.chunk); }
    uint32_t type_f32() { return kernel_.type_of(ScalarType::kF32); }
    uint32_t type_i32() { return kernel_.type_of(ScalarType::kI32); }
    uint32_t type_four() { return kernel_.type_of(ScalarType::kF32, Chunk::kFour); }
    uint32_t type_two() { return kernel_.type_of(ScalarType::kF32, Chunk::kTwo); }
    uint32_t type_two_halves() { return module_.type_vector(module_.type_float(16), 2); }
    uint32_t word(uint32_t value) { return module_.constant(value); }

    uint32_t emit(Op op, uint32_t type, std::initializer_list<uint32_t> operands) {
        return emit(op, type, std::span(operands.begin(), operands.size()));
    }
    uint32_t emit(Op op, uint32_t type, std::span<const uint32_t> operands) {
        const uint32_t id = kernel_.emit(code_, op, type, operands);
        // A decomposition corrects rounding errors by differences, which must stay as they are written.
        const bool is_sum = op == Op::kFAdd || op == Op::kFSub || op == Op::kFNegate;
        if (is_sum && is_decomposition_) module_.decorate(id, Decoration::kNoContraction);
        return id;
    }
    void emit(Op op, std::initializer_list<uint32_t> operands) {
        kernel_.emit(code_, op, operands);
        is_open_ &= op < Op::kBranch;
    }
    uint32_t math(Math function, uint32_t type, std::initializer_list<uint32_t> operands) {
        return kernel_.math(code_, function, type, operands);
    }
    uint32_t extract(uint32_t type, uint32_t composite, uint32_t index) {
        return emit(Op::kCompositeExtract, type, {composite, index});
    }
    uint32_t fail(const char* what) {
        kernel_.fail(what);
        return word(0);
    }

    void begin_block(uint32_t label) {
        emit(Op::kLabel, {label});
        block_ = label;
        is_open_ = true;
        places_.clear();
    }
    void branch_to(uint32_t label) {
        if (is_open_) emit(Op::kBranch, {label});
    }

    uint32_t new_variable(uint32_t type) {
        const uint32_t id = module_.new_id();
        kernel_.emit(variables_, Op::kVariable,
                     {module_.type_pointer(Storage::kFunction, type), id,
                      static_cast<uint32_t>(Storage::kFunction)});
        return id;
    }

    uint32_t type_of_parameter(uint32_t parameter) {
        const ExprNode& n = node(parameter);
        if (n.kind == ExprKind::kBuffer) return kernel_.type_of_place();
        const uint32_t type = type_of(n);
        return body_.locals[n.bits].kind == LocalKind::kResult
                   ? module_.type_pointer(Storage::kFunction, type)
                   : type;
    }

    // ------------------------------------------------------------------------ statements

    void block(std::span<const Statement> statements) {
        for (const Statement& s : statements) {
            if (!is_open_) return;  // the rest is unreachable
            statement(s);
        }
    }

    void statement(const Statement& s) {
        switch (s.kind) {
            case StatementKind::kLet:
                return let(s);
            case StatementKind::kLetCall:
                locals_[s.local] = call(s.function, s.arguments);
                return;
            case StatementKind::kDeclare:
                return declare(s);
            case StatementKind::kDeclareBuffer:
                buffers_[node(s.a).bits] = new_variable(kernel_.type_of_place());
                return;
            case StatementKind::kAssign:
                if (node(s.a).kind == ExprKind::kBuffer)
                    return emit(Op::kStore, {buffers_[node(s.a).bits], value(s.b)});
                return assign(s.a, value(s.b));
            case StatementKind::kAccumulate: {
                const uint32_t before = value(s.a), by = value(s.b);
                const Op op = instruction(s.op, node(s.a).type);
                return assign(s.a, emit(op, type_of(node(s.a)), {before, by}));
            }
            case StatementKind::kLoadVector:
                return load_vector(s);
            case StatementKind::kStoreVector:
                return store_vector(s);
            case StatementKind::kStore: {
                const uint32_t index = value(s.a), number = value(s.b);
                return store_element(s.buffer, index, number);
            }
            case StatementKind::kStoreChunk: {
                const bool are_halves = node(s.b).chunk == Chunk::kHalves;
                const View view = are_halves ? View::kWords : View::kFours;
                const uint32_t stored = value(s.b);
                return store_view(s.buffer, view, value(s.a), stored);
            }
            case StatementKind::kStoreElements:
                return store_elements(s);
            case StatementKind::kSpread:
                return spread(s);
            case StatementKind::kFor:
                return loop(s);
            case StatementKind::kIf:
                return choice(s);
            case StatementKind::kBlock:
                return block(s.body);
            case StatementKind::kBarrier:
                return emit(Op::kControlBarrier, {word(kWorkgroupScope), word(kWorkgroupScope),
                                                  word(kAcquireRelease | kWorkgroupMemory)});
            case StatementKind::kSubgroupBarrier:
                return emit(Op::kControlBarrier,
                            {word(kSubgroupScope), word(kSubgroupScope),
                             word(kAcquireRelease | kUniformMemory | kWorkgroupMemory)});
            case StatementKind::kCall:
                (void)call(s.function, s.arguments);
                return;
            case StatementKind::kReturn:
                if (s.a == 0) return emit(Op::kReturn, {});
                return emit(Op::kReturnValue, {value(s.a)});
            case StatementKind::kContinue:
                return emit(Op::kBranch, {loops_.back().next});
            case StatementKind::kBreak:
                return emit(Op::kBranch, {loops_.back().end});
            case StatementKind::kLoadLanes:
            case StatementKind::kStoreLanes:
            case StatementKind::kMultiplyAdd:
                kernel_.fail("vector registers of CPUs");
                return;
            case StatementKind::kLoadFragment:
            case StatementKind::kStoreFragment:
                return transfer(s);
        }
    }

    void let(const Statement& s) {
        const uint32_t number = value(s.a);
        if (!is_in_memory(s.local)) {
            locals_[s.local] = number;
            return;
        }
        locals_[s.local] = new_variable(type_of(node(s.a)));
        emit(Op::kStore, {locals_[s.local], number});
    }

    void declare(const Statement& s) {
        const Local& l = body_.locals[s.local];
        const uint32_t type = kernel_.type_of(l.type, l.chunk);
        uint32_t& variable = locals_[s.local];
        if (l.kind == LocalKind::kArray) {
            variable = new_variable(module_.type_array(type, l.length));
        } else if (l.kind == LocalKind::kVariable) {
            variable = new_variable(type);
        } else {
            return kernel_.fail("vector registers of CPUs");
        }
        if (s.a != 0) emit(Op::kStore, {locals_[s.local], value(s.a)});
    }

    void choice(const Statement& s) {
        const uint32_t condition = value(s.a);
        const uint32_t yes = module_.new_id(), end = module_.new_id();
        const uint32_t no = s.otherwise.empty() ? end : module_.new_id();
        emit(Op::kSelectionMerge, {end, 0});
        emit(Op::kBranchConditional, {condition, yes, no});
        begin_block(yes);
        block(s.body);
        bool is_left = is_open_;
        branch_to(end);
        if (no != end) {
            begin_block(no);
            block(s.otherwise);
            is_left |= is_open_;
            branch_to(end);
        }
        begin_block(end);
        if (no != end && !is_left) emit(Op::kUnreachable, {});
    }

    void loop(const Statement& s) {
        const Local& l = body_.locals[s.local];
        const uint32_t type = kernel_.type_of(l.type, l.chunk), counter = new_variable(type);
        locals_[s.local] = counter;
        emit(Op::kStore, {counter, value(s.a)});
        const uint32_t head = module_.new_id(), test = module_.new_id(), body = module_.new_id();
        const Loop ends{module_.new_id(), module_.new_id()};
        emit(Op::kBranch, {head});
        begin_block(head);
        emit(Op::kLoopMerge, {ends.end, ends.next,
                              s.is_unrolled ? kUnroll
                              : s.is_rolled ? kDontUnroll
                                            : 0});
        emit(Op::kBranch, {test});
        begin_block(test);
        const uint32_t condition = value(s.b);
        emit(Op::kBranchConditional, {condition, body, ends.end});
        begin_block(body);
        loops_.push_back(ends);
        block(s.body);
        loops_.pop_back();
        branch_to(ends.next);
        begin_block(ends.next);
        const uint32_t amount = s.c != 0 ? value(s.c) : kernel_.constant_of(1, l.type);
        const uint32_t before = emit(Op::kLoad, type, {counter});
        const Op op = instruction(s.op, l.type);
        emit(Op::kStore, {counter, emit(op, type, {before, amount})});
        emit(Op::kBranch, {head});
        begin_block(ends.end);
    }

    uint32_t call(uint32_t index, std::span<const uint32_t> arguments) {
        const BodyFunction& f = body_.functions[index];
        Words operands{kernel_.function(body_, index)};
        std::vector<std::pair<uint32_t, uint32_t>> results;  // a variable, and what it is for
        for (size_t i = 0; i < arguments.size(); ++i) {
            const ExprNode& p = node(f.parameters[i]);
            if (p.kind == ExprKind::kLocal && body_.locals[p.bits].kind == LocalKind::kResult) {
                results.emplace_back(new_variable(type_of(p)), arguments[i]);
                operands.push_back(results.back().first);
            } else {
                operands.push_back(value(arguments[i]));
            }
        }
        const uint32_t type =
            f.has_result ? kernel_.type_of(f.result, f.result_chunk) : module_.type_void();
        const uint32_t id = emit(Op::kFunctionCall, type, operands);
        for (const auto& [variable, place] : results)
            assign(place, emit(Op::kLoad, type_of(node(place)), {variable}));
        return id;
    }

    // ------------------------------------------------------------------------ places

    /// A pointer to a variable, an element of an array, or an element of a chunk of either.
    uint32_t pointer_to(uint32_t place) {
        const ExprNode &n = node(place), &of = whole_of(place);
        const bool is_lane = n.kind == ExprKind::kChunkElement;
        const auto local = static_cast<uint32_t>(of.bits);
        const Storage storage = storage_of(local);
        if (is_lane && is_fragment(of.chunk) && of.chunk != Chunk::kSums)
            kernel_.fail("single elements of f16 fragments");
        const bool is_global = storage != Storage::kFunction;
        const uint32_t variable = is_global ? kernel_.global(local) : locals_[local];
        Words path;
        if (of.kind == ExprKind::kElement) path.push_back(value(of.in[0]));
        if (is_lane) path.push_back(value(n.in[1]));
        if (path.empty()) return variable;
        const uint32_t type = module_.type_pointer(storage, type_of(n));
        path.insert(path.begin(), variable);
        return emit(Op::kAccessChain, type, path);
    }
    Storage storage_of(uint32_t local) const {
        switch (body_.locals[local].kind) {
            case LocalKind::kShared:
                return Storage::kWorkgroup;
            case LocalKind::kPrivate:
                return Storage::kPrivate;
            default:
                return Storage::kFunction;
        }
    }
    bool is_in_memory(uint64_t local) const {
        const LocalKind kind = body_.locals[local].kind;
        if (is_fragment(body_.locals[local].chunk))
            return true;  // elements of values have no index
        return kind != LocalKind::kValue && kind != LocalKind::kParameter &&
               kind != LocalKind::kVector;
    }
    const ExprNode& whole_of(uint32_t place) const {
        const ExprNode& n = node(place);
        return n.kind == ExprKind::kChunkElement ? node(n.in[0]) : n;
    }
    /// By Vulkan's memory model, accesses that others shall see say so.
    bool says_visibility(uint32_t place) const {
        return kernel_.has_khr_matrices() &&
               storage_of(static_cast<uint32_t>(whole_of(place).bits)) == Storage::kWorkgroup;
    }
    void assign(uint32_t place, uint32_t value) {
        const uint32_t pointer = pointer_to(place);
        if (says_visibility(place))
            return emit(Op::kStore,
                        {pointer, value, kMakeAvailable | kNonPrivate, word(kWorkgroupScope)});
        emit(Op::kStore, {pointer, value});
    }
    uint32_t read(uint32_t place) {
        const uint32_t pointer = pointer_to(place), type = type_of(node(place));
        if (says_visibility(place))
            return emit(Op::kLoad, type,
                        {pointer, kMakeVisible | kNonPrivate, word(kWorkgroupScope)});
        return emit(Op::kLoad, type, {pointer});
    }

    bool is_in_region(uint32_t buffer) const {
        if (body_.buffers[buffer].kind == BufferKind::kOperand) return kernel_.is_in_region(buffer);
        return !kernel_.is_by_address();
    }
    /// Where a buffer lies; 0 of an operand that is a descriptor by itself.
    uint32_t place_of(uint32_t buffer) {
        switch (body_.buffers[buffer].kind) {
            case BufferKind::kParameter:
                return buffers_[buffer];
            case BufferKind::kVariable:
                return emit(Op::kLoad, kernel_.type_of_place(), {buffers_[buffer]});
            case BufferKind::kOperand:
                break;
        }
        if (!kernel_.is_by_address() && !kernel_.is_in_region(buffer)) return 0;
        uint32_t& known = places_[buffer];
        if (known == 0) known = kernel_.place_of(code_, buffer);
        return known;
    }

    /// Calls access(pointer) for element `index` of a view; where the buffer's region is known only to the place, once
    /// for either region, and gives what it has loaded from the one.  type: of what is loaded; 0: nothing.
    template <class Access>
    uint32_t reach(uint32_t buffer, View view, uint32_t index, uint32_t type,
                   const Access& access) {
        const uint32_t place = place_of(buffer);
        const DType held = body_.buffers[buffer].held;
        if (!is_in_region(buffer))
            return access(kernel_.pointer_to(code_, buffer, place, held, view, index));
        const uint32_t at = kernel_.region_index(code_, place, held, view, index);
        const uint32_t bit = emit(Op::kBitwiseAnd, kernel_.type_word(), {place, word(1)});
        const uint32_t is_weight = emit(Op::kINotEqual, module_.type_bool(), {bit, word(0)});
        const auto in_region = [&](bool is_weights) {
            return access(kernel_.pointer_in_region(code_, is_weights, held, view, at));
        };
        return chosen(
            type, is_weight, [&] { return in_region(true); }, [&] { return in_region(false); });
    }
    uint32_t load_view(uint32_t buffer, View view, uint32_t index) {
        const DType held = body_.buffers[buffer].held;
        return reach(buffer, view, index, kernel_.type_in_view(held, view),
                     [&](uint32_t pointer) { return kernel_.load(code_, held, view, pointer); });
    }
    void store_view(uint32_t buffer, View view, uint32_t index, uint32_t value) {
        (void)reach(buffer, view, index, 0, [&](uint32_t pointer) {
            kernel_.store(code_, body_.buffers[buffer].held, view, pointer, value);
            return 0u;
        });
    }
    /// The number of the vector of `length` elements, a power of two, whose first one is `element`.
    uint32_t vector_index(uint32_t element, uint32_t length) {
        return emit(Op::kShiftRightArithmetic, type_i32(),
                    {element, word(static_cast<uint32_t>(std::countr_zero(length)))});
    }

    // ------------------------------------------------------------------------ elements of memory

    /// An element as it lies in memory, as what kernels compute with.
    uint32_t computed(DType held, uint32_t stored) {
        const uint32_t bytes = size_bytes(held);
        if (bytes >= 4) return stored;
        if (held == DType::kF16) return emit(Op::kFConvert, type_f32(), {stored});
        const uint32_t type_word = kernel_.type_word();
        if (held == DType::kBF16) {
            const uint32_t bits = emit(Op::kUConvert, type_word, {stored});
            return emit(Op::kBitcast, type_f32(),
                        {emit(Op::kShiftLeftLogical, type_word, {bits, word(16)})});
        }
        if (hearth::is_unsigned(held)) return emit(Op::kUConvert, type_word, {stored});
        if (held == DType::kBool)
            return emit(Op::kBitcast, type_i32(), {emit(Op::kUConvert, type_word, {stored})});
        return emit(Op::kSConvert, type_i32(), {stored});
    }

    /// Narrow elements are converted where they are loaded: none may leave a branch.
    uint32_t load_element(uint32_t buffer, uint32_t index) {
        const DType held = body_.buffers[buffer].held;
        const uint32_t type = kernel_.type_of(scalar_type(held));
        return reach(buffer, View::kElements, index, type, [&](uint32_t pointer) {
            return computed(held, kernel_.load(code_, held, View::kElements, pointer));
        });
    }

    /// A float as a tensor's type can hold it.
    uint32_t rounded(DType dtype, uint32_t number) {
        if (dtype == DType::kF16) return round_f16(number);
        return dtype == DType::kBF16 ? decomposed(ScalarOp::kRoundBF16, ScalarType::kF32, {number})
                                     : number;
    }

    void store_element(uint32_t buffer, uint32_t index, uint32_t number) {
        const BodyBuffer& to = body_.buffers[buffer];
        store_view(buffer, View::kElements, index, stored(to, number));
    }
    uint32_t stored(const BodyBuffer& to, uint32_t number) {
        const uint32_t bytes = size_bytes(to.held);
        if (is_floating(to.dtype)) {
            number = rounded(to.dtype, number);
            if (to.held != to.dtype || bytes >= 4) return number;
            if (to.dtype == DType::kF16)
                return emit(Op::kFConvert, module_.type_float(16), {number});
            const uint32_t half = high_half(number);
            return emit(Op::kUConvert, module_.type_int(16, false), {half});
        }
        if (bytes < 4) {
            const bool has_sign = to.held == DType::kI8 || to.held == DType::kI16;
            return emit(has_sign ? Op::kSConvert : Op::kUConvert,
                        module_.type_int(8 * bytes, has_sign), {number});
        }
        const uint32_t held_bits = 8 * size_bytes(to.dtype);
        if (!is_integer(to.dtype) || held_bits >= 32) return number;
        const ScalarType type = scalar_type(to.dtype);
        const bool has_sign = !is_unsigned(type);
        return emit(has_sign ? Op::kBitFieldSExtract : Op::kBitFieldUExtract, kernel_.type_of(type),
                    {number, word(0), word(held_bits)});
    }
    /// The upper 16 bits of a float.
    uint32_t high_half(uint32_t number) {
        const uint32_t bits = emit(Op::kBitcast, kernel_.type_word(), {number});
        return emit(Op::kShiftRightLogical, kernel_.type_word(), {bits, word(16)});
    }

    uint32_t word_count(const Statement& s) const {
        return body_.locals[s.local].length * size_bytes(body_.buffers[s.buffer].held) /
               uint32_t{sizeof(uint32_t)};
    }
    View view_of_words(const Statement& s) const {
        return word_count(s) == 2 ? View::kPairs : View::kWords;
    }

    void load_vector(const Statement& s) {
        const uint32_t index = vector_index(value(s.a), body_.locals[s.local].length);
        locals_[s.local] = load_view(s.buffer, view_of_words(s), index);
    }

    void store_vector(const Statement& s) {
        const BodyBuffer& to = body_.buffers[s.buffer];
        const Local& l = body_.locals[s.local];
        const auto element = [&](uint32_t i) {
            const uint32_t type = kernel_.type_of(l.type);
            return emit(Op::kLoad, type, {pointer_to_element(s.local, type, i)});
        };
        const uint32_t index = vector_index(value(s.a), l.length);
        Words words;
        for (uint32_t i = 0; i < word_count(s); ++i) {
            if (size_bytes(to.held) == 4) {
                const uint32_t number = stored(to, element(i));
                words.push_back(l.type == ScalarType::kU32
                                    ? number
                                    : emit(Op::kBitcast, kernel_.type_word(), {number}));
            } else {
                const uint32_t low = element(2 * i), high = element(2 * i + 1);
                words.push_back(word_of_two(to, low, high));
            }
        }
        store_view(s.buffer, view_of_words(s), index,
                   composite(kernel_.type_words(word_count(s)), words));
    }
    /// Two elements of 16 bits as a word.
    uint32_t word_of_two(const BodyBuffer& to, uint32_t low, uint32_t high) {
        const uint32_t type = kernel_.type_word();
        low = rounded(to.dtype, low);
        high = rounded(to.dtype, high);
        if (to.held == DType::kF16) return packed(low, high);
        if (to.held == DType::kBF16) {
            const uint32_t bits = emit(Op::kBitcast, type, {high});
            return emit(Op::kBitwiseOr, type,
                        {high_half(low), emit(Op::kBitwiseAnd, type, {bits, word(0xffff0000u)})});
        }
        if (to.held == DType::kI16) {
            low = emit(Op::kBitcast, type, {low});
            high = emit(Op::kBitcast, type, {high});
        }
        return emit(Op::kBitwiseOr, type,
                    {emit(Op::kBitwiseAnd, type, {low, word(0xffff)}),
                     emit(Op::kShiftLeftLogical, type, {high, word(16)})});
    }

    uint32_t composite(uint32_t type, std::span<const uint32_t> members) {
        return emit(Op::kCompositeConstruct, type, members);
    }
    uint32_t composite(uint32_t type, std::initializer_list<uint32_t> members) {
        return composite(type, std::span(members.begin(), members.size()));
    }

    uint32_t half_of(uint32_t number) {
        module_.require(Capability::kFloat16);
        if (has_dot_halves_) module_.round_halves_to_even();
        return emit(Op::kFConvert, module_.type_float(16), {number});
    }
    /// Two floats as f16 in a word.
    uint32_t packed(uint32_t low, uint32_t high) {
        if (has_dot_halves_)
            return emit(Op::kBitcast, kernel_.type_word(),
                        {composite(type_two_halves(), {half_of(low), half_of(high)})});
        return math(Math::kPackHalf2x16, kernel_.type_word(), {composite(type_two(), {low, high})});
    }
    uint32_t unpacked(uint32_t word) { return math(Math::kUnpackHalf2x16, type_two(), {word}); }
    /// Four floats of two words of a vector, `at` and the next one.
    uint32_t four_of_words(uint32_t words, uint32_t at) {
        const uint32_t low = extract(kernel_.type_word(), words, at);
        const uint32_t high = extract(kernel_.type_word(), words, at + 1);
        const uint32_t first = unpacked(low), second = unpacked(high);
        return emit(Op::kVectorShuffle, type_four(), {first, second, 0, 1, 2, 3});
    }
    uint32_t lane_of(uint32_t four, uint32_t i) { return extract(type_f32(), four, i); }

    /// Elements from a on: numbers, or a four.
    void store_elements(const Statement& s) {
        const BodyBuffer& to = body_.buffers[s.buffer];
        const bool is_half = to.held == DType::kF16, are_eight = s.arguments.size() == 8;
        Words numbers;
        for (const uint32_t id : s.arguments) numbers.push_back(value(id));
        const bool is_four = numbers.size() == 1;
        const uint32_t index = vector_index(value(s.a), are_eight ? 8 : 4);
        if (!is_half)
            return store_view(s.buffer, View::kFours, index,
                              is_four ? numbers[0] : composite(type_four(), numbers));
        if (is_four) {
            const uint32_t four = numbers[0];
            numbers.clear();
            for (uint32_t i = 0; i < 4; ++i) numbers.push_back(lane_of(four, i));
        }
        Words words;
        for (uint32_t& number : numbers) number = round_f16(number);
        for (size_t i = 0; i < numbers.size(); i += 2)
            words.push_back(packed(numbers[i], numbers[i + 1]));
        store_view(s.buffer, are_eight ? View::kWords : View::kPairs, index,
                   composite(kernel_.type_words(static_cast<uint32_t>(words.size())), words));
    }

    /// The elements of an array of eight = two fours, or halves.
    void spread(const Statement& s) {
        Words fours;
        for (const uint32_t id : s.arguments) fours.push_back(value(id));
        if (fours.size() == 1) fours = fours_of_halves(fours[0]);
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t pointer = pointer_to_element(s.local, type_f32(), i);
            emit(Op::kStore, {pointer, lane_of(fours[i / 4], i % 4)});
        }
    }
    uint32_t pointer_to_element(uint32_t array, uint32_t type, uint32_t i) {
        const uint32_t pointer = module_.type_pointer(Storage::kFunction, type);
        const uint32_t index = kernel_.constant_int(static_cast<int32_t>(i));
        return emit(Op::kAccessChain, pointer, {locals_[array], index});
    }
    Words fours_of_halves(uint32_t halves) {
        Words fours;
        for (uint32_t i = 0; i < 4; i += 2) fours.push_back(four_of_words(halves, i));
        return fours;
    }

    // ------------------------------------------------------------------------ expressions

    uint32_t value(uint32_t id) {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kConstant:
                return kernel_.constant_of(n.bits, n.type);
            case ExprKind::kRowCount:
                return kernel_.live_rows(code_);
            case ExprKind::kPushedWord:
                return kernel_.pushed_word(code_, static_cast<uint32_t>(n.bits));
            case ExprKind::kInvocation:
                return kernel_.built_in(code_, BuiltIn::kLocalInvocationId);
            case ExprKind::kWorkgroup:
                return kernel_.built_in(code_, BuiltIn::kWorkgroupId,
                                        static_cast<uint32_t>(n.bits));
            case ExprKind::kWorkgroups:
                return kernel_.built_in(code_, BuiltIn::kNumWorkgroups,
                                        static_cast<uint32_t>(n.bits));
            case ExprKind::kSubgroup:
                return kernel_.built_in(code_, BuiltIn::kSubgroupId);
            case ExprKind::kSubgroupInvocation:
                return kernel_.built_in(code_, BuiltIn::kSubgroupInvocation);
            case ExprKind::kLocal:
                return is_in_memory(n.bits) ? read(id) : locals_[n.bits];
            case ExprKind::kElement:
                return body_.locals[n.bits].kind == LocalKind::kVector ? element_of_words(n)
                                                                       : read(id);
            case ExprKind::kBuffer: {
                const uint32_t place = place_of(static_cast<uint32_t>(n.bits));
                return place != 0 ? place : fail("a descriptor that is passed to a function");
            }
            case ExprKind::kLoad:
                return load(n);
            case ExprKind::kCall:
                return call(static_cast<uint32_t>(n.bits), body_.arguments_of(n));
            case ExprKind::kPhilox:
                return random_word(n);
            case ExprKind::kOperation:
                return operation(n);
            case ExprKind::kFitting:
                return fitting(n);
            case ExprKind::kGreater:
            case ExprKind::kGreaterEqual:
                return comparison(n);
            case ExprKind::kHighProduct: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]), type = kernel_.type_word();
                const uint32_t words[] = {type, type};
                const uint32_t both = emit(Op::kUMulExtended, module_.type_struct(words), {a, b});
                return extract(type, both, 1);
            }
            case ExprKind::kClamp: {
                const uint32_t of = value(n.in[0]), least = value(n.in[1]), most = value(n.in[2]);
                return math(Math::kSClamp, type_of(n), {of, least, most});
            }
            case ExprKind::kLength: {
                const Op op =
                    kernel_.has_khr_matrices() ? Op::kMatrixLengthKhr : Op::kMatrixLengthNv;
                const uint32_t length = emit(op, kernel_.type_word(), {type_of(node(n.in[0]))});
                return emit(Op::kBitcast, type_i32(), {length});
            }
            default:
                return chunk(id);
        }
    }

    /// Expressions that make vectors or fragments, or take them.
    uint32_t chunk(uint32_t id) {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kChunkElement:
                return chunk_element(id);
            case ExprKind::kVector: {
                const uint32_t words = locals_[static_cast<uint32_t>(n.bits)];
                return four_of_words(words, 0);
            }
            case ExprKind::kFill:
                return fill(n);
            case ExprKind::kPart: {
                const uint32_t of = value(n.in[0]);
                const auto part = static_cast<uint32_t>(n.bits);
                return fours_of_halves(of)[part];
            }
            case ExprKind::kJoin: {
                const uint32_t low = value(n.in[0]), high = value(n.in[1]);
                Words numbers;
                for (const uint32_t four : {low, high})
                    for (uint32_t i = 0; i < 4; ++i) numbers.push_back(lane_of(four, i));
                return halves(numbers);
            }
            case ExprKind::kPack: {
                Words numbers;
                for (uint32_t i = 0; i < 8; ++i)
                    numbers.push_back(
                        emit(Op::kLoad, type_f32(),
                             {pointer_to_element(static_cast<uint32_t>(n.bits), type_f32(), i)}));
                return halves(numbers);
            }
            case ExprKind::kConvert: {
                const uint32_t from = value(n.in[0]), type = type_of(n);
                return type == type_of(node(n.in[0])) ? from : emit(Op::kFConvert, type, {from});
            }
            case ExprKind::kLoadChunk: {
                const View view = n.chunk == Chunk::kHalves ? View::kWords : View::kFours;
                return load_view(static_cast<uint32_t>(n.bits), view, value(n.in[0]));
            }
            case ExprKind::kCompose: {
                Words members;
                for (const uint32_t member : body_.arguments_of(n))
                    members.push_back(value(member));
                return composite(type_of(n), members);
            }
            case ExprKind::kScale: {
                const uint32_t vector = value(n.in[0]), factor = value(n.in[1]);
                return emit(Op::kVectorTimesScalar, type_of(n), {vector, factor});
            }
            case ExprKind::kMultiplyAdd: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]), sum = value(n.in[2]);
                if (!is_fragment(n.chunk)) return math(Math::kFma, type_of(n), {a, b, sum});
                return emit(kernel_.has_khr_matrices() ? Op::kMultiplyAddKhr : Op::kMultiplyAddNv,
                            type_of(n), {a, b, sum});
            }
            case ExprKind::kDot: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]);
                return emit(Op::kDot, type_f32(), {a, b});
            }
            case ExprKind::kDotHalves:
                return dot_halves(value(n.in[0]), value(n.in[1]), value(n.in[2]));
            case ExprKind::kTwoHalves:
                return unpacked(value(n.in[0]));
            case ExprKind::kReinterpret:
                return value(n.in[0]);  // both are four words
            default:
                return fail("an expression of this kind");
        }
    }

    uint32_t dot_halves(uint32_t a, uint32_t b, uint32_t sum) {
        if (!has_dot_halves_) {
            const uint32_t first = unpacked(a), second = unpacked(b);
            for (uint32_t i = 0; i < 2; ++i)
                sum = math(Math::kFma, type_f32(), {lane_of(first, i), lane_of(second, i), sum});
            return sum;
        }
        module_.require(Capability::kFloat16);
        module_.require(Capability::kDotHalves);
        module_.require_extension("SPV_VALVE_mixed_float_dot_product", 0);
        const uint32_t pair = type_two_halves();
        return emit(Op::kFDot2MixAcc32, type_f32(),
                    {emit(Op::kBitcast, pair, {a}), emit(Op::kBitcast, pair, {b}), sum});
    }

    uint32_t load(const ExprNode& n) {
        const auto buffer = static_cast<uint32_t>(n.bits);
        const uint32_t at = value(n.in[0]);
        switch (n.chunk) {
            case Chunk::kOne:
                return load_element(buffer, at);
            case Chunk::kHalves:
                return load_view(buffer, View::kWords, vector_index(at, 8));
            case Chunk::kFour: {
                if (n.type == ScalarType::kU32)
                    return load_view(buffer, View::kWords, vector_index(at, 4));
                if (body_.buffers[buffer].held == DType::kF32)
                    return load_view(buffer, View::kFours, vector_index(at, 4));
                const uint32_t pair = load_view(buffer, View::kPairs, vector_index(at, 4));
                return four_of_words(pair, 0);
            }
            default:
                return fail("loads of a single f16");
        }
    }

    /// An element of words that a kLoadVector has loaded.
    uint32_t element_of_words(const ExprNode& n) {
        const Local& l = body_.locals[n.bits];
        const uint32_t words = locals_[static_cast<uint32_t>(n.bits)], type = kernel_.type_word();
        const ExprNode& at = node(n.in[0]);
        const bool is_narrow = size_bytes(l.held) == 2;
        uint32_t of = 0, half = 0;  // the word, and by how many bits its element is shifted
        if (at.kind == ExprKind::kConstant) {
            const auto lane = static_cast<uint32_t>(at.bits);
            of = extract(type, words, is_narrow ? lane / 2 : lane);
            half = word(16 * (lane % 2));
        } else {
            const uint32_t lane = emit(Op::kBitcast, type, {value(n.in[0])});
            const uint32_t which =
                is_narrow ? emit(Op::kShiftRightLogical, type, {lane, word(1)}) : lane;
            of = emit(Op::kVectorExtractDynamic, type, {words, which});
            const uint32_t odd = emit(Op::kBitwiseAnd, type, {lane, word(1)});
            half = emit(Op::kShiftLeftLogical, type, {odd, word(4)});
        }
        if (!is_narrow)
            return l.type == ScalarType::kU32 ? of : emit(Op::kBitcast, type_of(n), {of});
        const uint32_t shifted = emit(Op::kShiftRightLogical, type, {of, half});
        switch (l.held) {
            case DType::kF16:
                return extract(type_f32(), unpacked(shifted), 0);
            case DType::kBF16:
                return emit(Op::kBitcast, type_f32(),
                            {emit(Op::kShiftLeftLogical, type, {shifted, word(16)})});
            case DType::kI16:
                return emit(Op::kBitFieldSExtract, type_i32(),
                            {emit(Op::kBitcast, type_i32(), {shifted}), word(0), word(16)});
            default:
                return emit(Op::kBitwiseAnd, type, {shifted, word(0xffff)});
        }
    }

    uint32_t chunk_element(uint32_t id) {
        const ExprNode& n = node(id);
        const ExprNode& of = node(n.in[0]);
        const bool is_place =
            (of.kind == ExprKind::kLocal || of.kind == ExprKind::kElement) && is_in_memory(of.bits);
        if (is_place) return read(id);
        const uint32_t vector = value(n.in[0]);
        const ExprNode& at = node(n.in[1]);
        if (at.kind == ExprKind::kConstant)
            return extract(type_of(n), vector, static_cast<uint32_t>(at.bits));
        return emit(Op::kVectorExtractDynamic, type_of(n), {vector, value(n.in[1])});
    }

    uint32_t fill(const ExprNode& n) {
        if (n.chunk == Chunk::kHalves || n.type == ScalarType::kU32) {
            const Words zeros(4, word(0));
            return module_.constant_composite(kernel_.type_words(4), zeros);
        }
        uint32_t number = value(n.in[0]);
        if (is_fragment(n.chunk)) {
            if (n.chunk != Chunk::kSums)
                number = emit(Op::kFConvert, kernel_.type_of_component(n.chunk), {number});
            return composite(type_of(n), {number});
        }
        const Words members(length_of(n.chunk), number);
        return composite(type_of(n), members);
    }

    /// Eight floats as f16 in four words, rounded as the device rounds.
    uint32_t halves(const Words& numbers) {
        if (!has_matrices_ && !has_dot_halves_)
            return fail("f16 in words without matrix cores and dot products of pairs");
        Words words;
        for (size_t i = 0; i < numbers.size(); i += 2)
            words.push_back(packed(numbers[i], numbers[i + 1]));
        return composite(kernel_.type_words(4), words);
    }

    /// A fragment = a matrix in memory, or the other way round.
    void transfer(const Statement& s) {
        const ExprNode& memory = node(s.arguments[0]);
        const auto place = static_cast<uint32_t>(memory.bits);
        const bool is_load = s.kind == StatementKind::kLoadFragment;
        const uint32_t stored = is_load ? 0 : value(s.a);
        const uint32_t first = value(s.b), stride = value(s.c);
        const auto move = [&](uint32_t pointer, const Words& access) {
            return is_load ? load_matrix(s, pointer, stride, access)
                           : store_matrix(s, pointer, stride, access, stored);
        };
        uint32_t loaded = 0;
        if (memory.kind == ExprKind::kBuffer) {
            Words access;
            if (kernel_.is_by_address()) access = {kAligned, size_bytes(body_.buffers[place].held)};
            loaded = reach(place, View::kElements, first, is_load ? type_of(node(s.a)) : 0,
                           [&](uint32_t pointer) { return move(pointer, access); });
        } else {
            const uint32_t type = module_.type_pointer(Storage::kWorkgroup, type_of(memory));
            const uint32_t pointer = emit(Op::kAccessChain, type, {kernel_.global(place), first});
            Words access;
            if (kernel_.has_khr_matrices())
                access = {(is_load ? kMakeVisible : kMakeAvailable) | kNonPrivate,
                          word(kWorkgroupScope)};
            loaded = move(pointer, access);
        }
        if (is_load) assign(s.a, loaded);
    }

    /// The extensions differ in the order of layout and stride, and in what a layout is.
    void add_layout(const Statement& s, uint32_t stride, Words& operands) {
        if (kernel_.has_khr_matrices()) operands.push_back(word(s.by_columns ? 1 : 0));
        operands.push_back(stride);
        if (!kernel_.has_khr_matrices()) operands.push_back(module_.constant(s.by_columns));
    }
    uint32_t load_matrix(const Statement& s, uint32_t pointer, uint32_t stride,
                         const Words& access) {
        Words operands{pointer};
        add_layout(s, stride, operands);
        operands.insert(operands.end(), access.begin(), access.end());
        return emit(kernel_.has_khr_matrices() ? Op::kLoadMatrixKhr : Op::kLoadMatrixNv,
                    type_of(node(s.a)), operands);
    }
    uint32_t store_matrix(const Statement& s, uint32_t pointer, uint32_t stride,
                          const Words& access, uint32_t stored) {
        Words operands{pointer, stored};
        add_layout(s, stride, operands);
        operands.insert(operands.end(), access.begin(), access.end());
        append(code_, kernel_.has_khr_matrices() ? Op::kStoreMatrixKhr : Op::kStoreMatrixNv,
               operands);
        return 0;
    }

    uint32_t random_word(const ExprNode& n) {
        const auto counter = [&](uint32_t id) {
            const uint32_t number = value(id);
            return node(id).type == ScalarType::kU32
                       ? number
                       : emit(Op::kBitcast, kernel_.type_word(), {number});
        };
        const uint32_t step = counter(n.in[0]), element = counter(n.in[1]);
        return emit(Op::kFunctionCall, kernel_.type_word(),
                    {kernel_.philox(), word(static_cast<uint32_t>(n.bits)),
                     word(static_cast<uint32_t>(n.bits >> 32)), step, element});
    }

    // ------------------------------------------------------------------------ operations

    static Op instruction(ScalarOp op, ScalarType type) {
        for (const Instructions& row : kInstructions)
            if (row.operation == op)
                return is_floating(type)           ? row.of_float
                       : type == ScalarType::kBool ? row.of_bool
                       : is_unsigned(type)         ? row.of_unsigned
                                                   : row.of_signed;
        return kNone;
    }

    uint32_t comparison(const ExprNode& n) {
        const uint32_t a = value(n.in[0]), b = value(n.in[1]);
        const ScalarType type = node(n.in[0]).type;
        const bool is_strict = n.kind == ExprKind::kGreater;
        const Op op = is_floating(type)
                          ? is_strict ? Op::kFOrdGreaterThan : Op::kFOrdGreaterThanEqual
                      : is_unsigned(type) ? is_strict ? Op::kUGreaterThan : Op::kUGreaterThanEqual
                      : is_strict         ? Op::kSGreaterThan
                                          : Op::kSGreaterThanEqual;
        return emit(op, module_.type_bool(), {a, b});
    }

    uint32_t operation(const ExprNode& n) {
        switch (n.op) {
            case ScalarOp::kSelect:
                return selection(n);
            case ScalarOp::kAnd:
            case ScalarOp::kOr:
                if (!is_cheap(n.in[1])) return short_circuit(n);
                break;
            case ScalarOp::kMin:
            case ScalarOp::kMax:
                if (is_floating(node(n.in[0]).type)) return extreme(n);
                break;
            case ScalarOp::kRoundF16:
                if (n.chunk == Chunk::kFour) return rounded_four(value(n.in[0]));
                if (has_matrices_)
                    return emit(Op::kFConvert, type_f32(), {half_of(value(n.in[0]))});
                return round_f16(value(n.in[0]));
            default:
                break;
        }
        const ScalarType type = node(n.in[0]).type;
        const uint32_t a = value(n.in[0]);
        if (is_unary(n.op)) return unary(n, type, a);
        const uint32_t b = value(n.in[1]);
        if (n.op == ScalarOp::kDiv && type == ScalarType::kF32 && kernel_.options.divides_exactly &&
            !is_decomposition_ && n.chunk == Chunk::kOne)
            return emit(Op::kFunctionCall, type_f32(),
                        {kernel_.function(decompositions(), exact_division()), a, b});
        return arithmetic(n.op, type, type_of(n), {a, b});
    }

    uint32_t fitting(const ExprNode& n) {
        const uint32_t type = type_of(n), a = value(n.in[0]);
        if (n.op == ScalarOp::kPow) return math(Math::kPow, type, {a, value(n.in[1])});
        return emit(is_unsigned(n.type) ? Op::kConvertFToU : Op::kConvertFToS, type, {a});
    }

    uint32_t unary(const ExprNode& n, ScalarType type, uint32_t a) {
        switch (n.op) {
            case ScalarOp::kToF32:
            case ScalarOp::kToF64:
            case ScalarOp::kToI32:
            case ScalarOp::kToU32:
            case ScalarOp::kToI64:
            case ScalarOp::kToU64:
            case ScalarOp::kToBool:
                return converted(n.op, type, n.type, a);
            case ScalarOp::kBitsToF32:
            case ScalarOp::kBitsToI32:
            case ScalarOp::kBitsToU32:
            case ScalarOp::kBitsToF64:
            case ScalarOp::kBitsToI64:
            case ScalarOp::kBitsToU64:
                return emit(Op::kBitcast, type_of(n), {a});
            case ScalarOp::kBitsToUniform: {
                const uint32_t bits =
                    emit(Op::kShiftRightLogical, kernel_.type_word(), {a, word(8)});
                return emit(
                    Op::kFMul, type_f32(),
                    {emit(Op::kConvertUToF, type_f32(), {bits}),
                     kernel_.constant_of(std::bit_cast<uint32_t>(0x1p-24f), ScalarType::kF32)});
            }
            case ScalarOp::kAbs:
                if (is_unsigned(type)) return a;
                break;
            case ScalarOp::kSign:
                return sign(type, a);
            default:
                break;
        }
        return arithmetic(n.op, type, type_of(n), {a});
    }

    /// An instruction, a function of mathematics, or a decomposition.
    uint32_t arithmetic(ScalarOp op, ScalarType type, uint32_t result,
                        std::initializer_list<uint32_t> operands) {
        if (find_decomposition(op, type)) return decomposed(op, type, operands);
        if (const Op known = instruction(op, type); known != kNone)
            return emit(known, result, operands);
        for (const MathFunctions& row : kMath)
            if (row.operation == op) {
                const std::optional<Math> function = is_floating(type)   ? row.of_float
                                                     : is_unsigned(type) ? row.of_unsigned
                                                                         : row.of_signed;
                if (function) return math(*function, result, operands);
            }
        return fail("an operation of this type");
    }

    uint32_t decomposed(ScalarOp op, ScalarType type, std::initializer_list<uint32_t> operands) {
        const uint32_t index = *find_decomposition(op, type);
        const ScalarType result = decompositions().functions[index].result;
        Words all{kernel_.function(decompositions(), index)};
        all.insert(all.end(), operands.begin(), operands.end());
        return emit(Op::kFunctionCall, kernel_.type_of(result), all);
    }

    uint32_t round_f16(uint32_t number) {
        if (has_dot_halves_) return emit(Op::kFConvert, type_f32(), {half_of(number)});
        if (!kernel_.options.guards_rounding)
            return decomposed(ScalarOp::kRoundF16, ScalarType::kF32, {number});
        // The bits depend on the value once more, by a NaN that stays one (kGuardedRounding).
        const uint32_t type = kernel_.type_word();
        const uint32_t bits = emit(Op::kBitcast, type, {number});
        const uint32_t is_nan = emit(Op::kIEqual, module_.type_bool(), {bits, word(0x7fc12345u)});
        const uint32_t odd_nan = emit(Op::kSelect, type, {is_nan, word(1), word(0)});
        const uint32_t zero = kernel_.constant_of(0, ScalarType::kF32);
        const uint32_t half = emit(Op::kBitwiseXor, type, {packed(number, zero), odd_nan});
        return extract(type_f32(), unpacked(half), 0);
    }
    uint32_t rounded_four(uint32_t four) {
        Words lanes;
        for (uint32_t i = 0; i < 4; ++i) lanes.push_back(round_f16(lane_of(four, i)));
        return composite(type_four(), lanes);
    }

    uint32_t sign(ScalarType type, uint32_t a) {
        const uint32_t result = kernel_.type_of(type);
        if (is_unsigned(type)) return math(Math::kUMin, result, {a, kernel_.constant_of(1, type)});
        if (!is_floating(type)) return math(Math::kSSign, result, {a});
        const uint32_t is_nan = emit(Op::kIsNan, module_.type_bool(), {a});
        return emit(Op::kSelect, result, {is_nan, a, math(Math::kFSign, result, {a})});
    }

    uint32_t converted(ScalarOp op, ScalarType from, ScalarType to, uint32_t a) {
        if (from == to) return a;
        const uint32_t type = kernel_.type_of(to);
        if (to == ScalarType::kBool)
            return emit(is_floating(from) ? Op::kFUnordNotEqual : Op::kINotEqual, type,
                        {a, kernel_.constant_of(0, from)});
        if (from == ScalarType::kBool) {
            const uint64_t one = to == ScalarType::kF32   ? std::bit_cast<uint32_t>(1.0f)
                                 : to == ScalarType::kF64 ? std::bit_cast<uint64_t>(1.0)
                                                          : 1;
            return emit(Op::kSelect, type,
                        {a, kernel_.constant_of(one, to), kernel_.constant_of(0, to)});
        }
        if (is_floating(from)) {
            if (is_floating(to)) return emit(Op::kFConvert, type, {a});
            if (from == ScalarType::kF64) return fail("integers of f64");
            return decomposed(op, from, {a});
        }
        if (is_floating(to))
            return emit(is_unsigned(from) ? Op::kConvertUToF : Op::kConvertSToF, type, {a});
        if (is_wide(from) == is_wide(to)) return emit(Op::kBitcast, type, {a});
        return is_wide(to) ? widened(from, to, a) : narrowed(to, a);
    }
    /// An integer of 32 bits as one of 64.  Mesa 22.3's lavapipe finds no sign-extended int to be less than a constant; it
    /// does not recognize these words as one.
    uint32_t widened(ScalarType from, ScalarType to, uint32_t a) {
        const uint32_t type = kernel_.type_of(to), word_type = kernel_.type_word();
        if (is_unsigned(from)) {
            const uint32_t wide = emit(Op::kUConvert, kernel_.type_of(ScalarType::kU64), {a});
            return is_unsigned(to) ? wide : emit(Op::kBitcast, type, {wide});
        }
        const uint32_t high = emit(Op::kShiftRightArithmetic, type_i32(), {a, word(31)});
        const uint32_t words =
            composite(kernel_.type_words(2),
                      {emit(Op::kBitcast, word_type, {a}), emit(Op::kBitcast, word_type, {high})});
        return emit(Op::kBitcast, type, {words});
    }
    uint32_t narrowed(ScalarType to, uint32_t a) {
        const uint32_t low = emit(Op::kUConvert, kernel_.type_word(), {a});
        return is_unsigned(to) ? low : emit(Op::kBitcast, kernel_.type_of(to), {low});
    }

    /// The larger or smaller of two floats; a NaN on either side wins.  Of a number that is constant: a comparison leaves
    /// NaN as it is.
    uint32_t extreme(const ExprNode& n) {
        const bool is_max = n.op == ScalarOp::kMax;
        const uint32_t a = value(n.in[0]), b = value(n.in[1]), type = type_of(n);
        const auto is_number = [&](uint32_t id) {
            return node(id).kind == ExprKind::kConstant && !std::isnan(constant_value(node(id)));
        };
        const auto nan = [&](uint32_t of) { return emit(Op::kIsNan, module_.type_bool(), {of}); };
        const auto choose = [&](uint32_t condition, uint32_t yes, uint32_t no) {
            return emit(Op::kSelect, type, {condition, yes, no});
        };
        const Math function = is_max ? Math::kFMax : Math::kFMin;
        const Op is_beyond = is_max ? Op::kFOrdLessThan : Op::kFOrdGreaterThan;
        if (is_number(n.in[0]) || is_number(n.in[1])) {
            const uint32_t free = is_number(n.in[1]) ? a : b, number = is_number(n.in[1]) ? b : a;
            if (kernel_.options.guards_nan) {
                const uint32_t is_nan = nan(free);
                return choose(is_nan, free, math(function, type, {a, b}));
            }
            const uint32_t loses = emit(is_beyond, module_.type_bool(), {free, number});
            return choose(loses, number, free);
        }
        const uint32_t a_is_nan = nan(a), b_is_nan = nan(b);
        const uint32_t number = math(function, type, {a, b});
        return choose(a_is_nan, a, choose(b_is_nan, b, number));
    }

    // ------------------------------------------------------------------------ choices

    /// True if it may be computed where its value is not used: it reads no memory and calls nothing.
    bool is_cheap(uint32_t id) const {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kLoad:
            case ExprKind::kLoadChunk:
            case ExprKind::kCall:
            case ExprKind::kElement:
            case ExprKind::kPhilox:
            case ExprKind::kCompose:
                return false;
            default:
                break;
        }
        return std::all_of(n.in.begin(), n.in.end(),
                           [&](uint32_t in) { return in == 0 || is_cheap(in); });
    }

    uint32_t selection(const ExprNode& n) {
        const uint32_t condition = value(n.in[0]), type = type_of(n);
        if (!is_cheap(n.in[1]) || !is_cheap(n.in[2])) {
            return chosen(
                type, condition, [&] { return value(n.in[1]); }, [&] { return value(n.in[2]); });
        }
        const uint32_t yes = value(n.in[1]), no = value(n.in[2]);
        const bool is_vector = n.chunk != Chunk::kOne;
        if (!is_vector) return emit(Op::kSelect, type, {condition, yes, no});
        const uint32_t length = n.chunk == Chunk::kHalves ? 4 : length_of(n.chunk);
        const Words conditions(length, condition);
        return emit(
            Op::kSelect, type,
            {composite(module_.type_vector(module_.type_bool(), length), conditions), yes, no});
    }

    uint32_t short_circuit(const ExprNode& n) {
        const uint32_t a = value(n.in[0]), type = module_.type_bool();
        const auto other = [&] { return value(n.in[1]); };
        if (n.op == ScalarOp::kAnd)
            return chosen(type, a, other, [&] { return module_.constant(false); });
        return chosen(
            type, a, [&] { return module_.constant(true); }, other);
    }

    /// type: of the values; 0: there are none.
    template <class Yes, class No>
    uint32_t chosen(uint32_t type, uint32_t condition, const Yes& yes, const No& no) {
        const uint32_t yes_label = module_.new_id(), no_label = module_.new_id(),
                       end = module_.new_id();
        emit(Op::kSelectionMerge, {end, 0});
        emit(Op::kBranchConditional, {condition, yes_label, no_label});
        begin_block(yes_label);
        const uint32_t of_yes = yes(), from_yes = block_;
        emit(Op::kBranch, {end});
        begin_block(no_label);
        const uint32_t of_no = no(), from_no = block_;
        emit(Op::kBranch, {end});
        begin_block(end);
        return type == 0 ? 0 : emit(Op::kPhi, type, {of_yes, from_yes, of_no, from_no});
    }

    struct Loop {
        uint32_t next = 0, end = 0;  ///< labels: of the update, and behind the loop
    };

    KernelModule& kernel_;
    Module& module_;
    const Body& body_;
    const bool is_decomposition_;
    /// Devices with matrix cores round to nearest even by one instruction, as the matrices do.
    const bool has_matrices_, has_dot_halves_;
    Code code_, variables_;
    uint32_t block_ = 0;    ///< label of the current block
    bool is_open_ = false;  ///< it has no branch or return yet
    std::vector<Loop> loops_;
    std::unordered_map<uint64_t, uint32_t> locals_;  ///< values, or variables
    std::unordered_map<uint64_t, uint32_t>
        buffers_;  ///< parameters: addresses; variables: variables
    std::unordered_map<uint32_t, uint32_t> places_;  ///< of operands, in the current block
};

}  // namespace

uint32_t print_function(KernelModule& kernel, const Body& body, const BodyFunction* function) {
    return FunctionPrinter(kernel, body).run(function);
}

}  // namespace spirv

Result<std::vector<uint32_t>> print_spirv(const Body& body, const SpirvOptions& options) {
    spirv::KernelModule kernel(body, options);
    const uint32_t main = spirv::print_function(kernel, body, nullptr);
    if (!kernel.error.ok()) return kernel.error;
    return kernel.module.finish(main, options.local_size);
}

}  // namespace hearth
