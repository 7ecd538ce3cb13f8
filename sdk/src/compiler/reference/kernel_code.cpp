// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/reference/kernel_code.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/instructions.hpp"
#include "compiler/reference/float_functions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>

namespace hearth {

namespace {

/// d, a, b, c: registers, unless the comment says otherwise.
enum class Code : uint8_t {
    kEnd,
    kBarrier,
    kJump,        ///< to instruction a
    kJumpUnless,  ///< to instruction a, unless b
    kCall,        ///< the function at instruction a
    kReturn,

    kCopy,   ///< c words
    kFill,   ///< c words = a
    kRead,   ///< c words = register a + b
    kWrite,  ///< c words from a, to register d + b
    kReadShared,
    kWriteShared,

    kBind,   ///< buffer d = buffer a
    kLoad,   ///< c words = words from element b of buffer a
    kStore,  ///< c words from a = words from element b of buffer d
    kLoadWide,
    kStoreWide,
    kLoadF16,
    kStoreF16,
    kLoadBF16,
    kStoreBF16,
    kLoadI8,
    kLoadU8,
    kStore8,
    kLoadI16,
    kLoadU16,
    kStore16,
    kLoadHalves,  ///< four words = eight f16 from element b of buffer a
    kHalf,        ///< f32 of the lower (b = 0) or upper (b = 1) f16 of word a

    // f32
    kAddF,
    kSubF,
    kMulF,
    kDivF,
    kNegF,
    kAbsF,
    kMinF,
    kMaxF,
    kLessF,
    kLessEqualF,
    kEqualF,
    kNotEqualF,
    kFunction,         ///< of a and b; c: a ScalarOp
    kProductSum,       ///< a * b + c
    kFma,              ///< the same, rounded once
    kLanesProductSum,  ///< `count` words: d += a * b
    kLanesFma,
    kLanesFactorProductSum,  ///< the same with one factor a for all
    kLanesFactorFma,

    // Words
    kAdd,
    kSub,
    kMul,
    kAddConstant,  ///< a + b, b: a number
    kMulConstant,
    kMinI,
    kMaxI,
    kLessI,
    kLessEqualI,
    kDivI,
    kModI,
    kEqual,
    kNotEqual,
    kAnd,
    kOr,
    kNotCondition,
    kSelect,  ///< c of a condition a, b if it holds
    kScalar,  ///< scalar_operation() of a and b
    kPhilox,  ///< key a (two words), step b, element c
    kHighProduct,
    kExtendI8,
    kExtendU8,
    kExtendI16,
    kExtendU16,
};

constexpr uint32_t kNone = ~0u;

// Registers with the place of an invocation.
enum : uint32_t { kInvocation, kWorkgroup, kWorkgroupCount, kRows, kFirstFree };

}  // namespace

struct KernelInstruction {
    Code code = Code::kEnd;
    uint8_t count = 0;                                                  ///< of lanes
    bool is_wide_a = false, is_wide_b = false, is_wide_result = false;  ///< kScalar
    ScalarType type = ScalarType::kF32;  ///< kScalar: of the operands
    ScalarOp op = ScalarOp::kAdd;        ///< kScalar, kFunction
    uint32_t d = 0, a = 0, b = 0, c = 0;
};

/// State of an invocation between barriers.
struct KernelCode::Invocation {
    std::vector<uint32_t> registers;
    std::vector<std::byte*> buffers;
    std::vector<uint32_t> returns;  ///< instructions after the calls that it is in
    uint32_t next = 0;
};

KernelCode::KernelCode() = default;
KernelCode::KernelCode(KernelCode&& other) noexcept = default;
KernelCode& KernelCode::operator=(KernelCode&& other) noexcept = default;
KernelCode::~KernelCode() = default;

// ---------------------------------------------------------------------------- lowering

class KernelLowering {
  public:
    KernelLowering(const Body& body, CpuIsa cpu)
        : body_(body),
          has_fma_(cpu == CpuIsa::kX86_64V3 || cpu == CpuIsa::kX86_64V4 || cpu == CpuIsa::kNeon),
          local_at_(body.locals.size()) {}

    Result<KernelCode> lower(std::string_view name) {
        out_.threads_ = body_.threads;
        out_.buffer_count_ = static_cast<uint32_t>(body_.buffers.size());
        for (const BodyBuffer& buffer : body_.buffers)
            out_.operand_count_ += buffer.kind == BufferKind::kOperand ? 1 : 0;
        place_constants();
        place_locals();
        for (const BodyFunction& function : body_.functions) {
            is_main_ = false;
            result_ =
                function.has_result
                    ? words(length_of(function.result_chunk) * (is_wide(function.result) ? 2u : 1u))
                    : kNone;
            functions_.push_back({here(), result_});
            block(function.statements);
            emit({.code = Code::kReturn});
            free_ = most_;  // its registers live while its callers do
        }
        is_main_ = true;
        out_.entry_ = here();
        block(body_.statements);
        emit({.code = Code::kEnd});
        for (const uint32_t at : ends_) out_.code_[at].a = here() - 1;
        if (!error_.empty())
            return unsupported("kernel " + std::string(name) + " without a C compiler: " + error_);
        out_.initial_.resize(most_);
        return std::move(out_);
    }

  private:
    struct Function {
        uint32_t entry, result;
    };
    /// Memory of an invocation or a workgroup: words from `base` on, plus an index in a register.
    struct Place {
        uint32_t base = 0, index = kNone;
        bool is_shared = false;
    };

    void fail(const std::string& what) {
        if (error_.empty()) error_ = what;
    }
    const ExprNode& node(uint32_t id) const { return body_.expressions[id]; }

    uint32_t here() const { return static_cast<uint32_t>(out_.code_.size()); }
    uint32_t emit(KernelInstruction instruction) {
        out_.code_.push_back(instruction);
        return here() - 1;
    }

    // ------------------------------------------------------------------------ registers

    /// New registers for `count` words.
    uint32_t words(uint32_t count) {
        const uint32_t at = free_;
        free_ += count;
        most_ = std::max(most_, free_);
        return at;
    }
    uint32_t words_of(ScalarType type, Chunk chunk) {
        if (is_fragment(chunk) || chunk == Chunk::kHalf) fail("chunks of f16 and fragments");
        if (is_fragment(chunk) || chunk == Chunk::kHalf) return 1;
        if (chunk == Chunk::kHalves) return 4;
        return length_of(chunk) * (is_wide(type) ? 2 : 1);
    }
    uint32_t words_of(const ExprNode& n) { return words_of(n.type, n.chunk); }
    uint32_t words_of(const Local& l) { return words_of(l.type, l.chunk); }

    /// The register of a constant that place_constants() has placed.
    uint32_t constant(uint64_t bits, uint32_t count) const { return constants_.at({bits, count}); }
    void place_constant(uint64_t bits, uint32_t count) {
        const auto [found, is_new] = constants_.try_emplace({bits, count}, free_);
        if (!is_new) return;
        (void)words(count);
        out_.initial_.resize(free_);
        std::memcpy(&out_.initial_[found->second], &bits, count * sizeof(uint32_t));
    }
    void place_constants() {
        for (const ExprNode& n : body_.expressions) {
            if (n.kind == ExprKind::kConstant) place_constant(n.bits, is_wide(n.type) ? 2 : 1);
            if (n.kind == ExprKind::kPhilox) place_constant(n.bits, 2);
        }
        for (const uint32_t count : {1u, 2u}) place_constant(1, count);
        place_constant(0, 1);
        zero_ = constant(0, 1);
    }
    void place_locals() {
        for (size_t i = 0; i < body_.locals.size(); ++i) {
            const Local& l = body_.locals[i];
            const uint32_t count = words_of(l) * l.length;
            if (l.kind == LocalKind::kShared)
                local_at_[i] = std::exchange(out_.shared_words_, out_.shared_words_ + count);
            else
                local_at_[i] = words(count);
        }
    }

    // ------------------------------------------------------------------------ places

    Place place(uint32_t id) {
        const ExprNode& n = node(id);
        if (n.kind == ExprKind::kChunkElement) {
            const ExprKind of = node(n.in[0]).kind;
            Place whole =
                of == ExprKind::kLocal || of == ExprKind::kElement || of == ExprKind::kChunkElement
                    ? place(n.in[0])
                    : Place{.base = value(n.in[0])};
            return moved(whole, n.in[1], 1);
        }
        const Local& l = body_.locals[n.bits];
        Place whole{.base = local_at_[n.bits], .is_shared = l.kind == LocalKind::kShared};
        if (n.kind == ExprKind::kElement) return moved(whole, n.in[0], words_of(l));
        return whole;
    }
    Place moved(Place from, uint32_t index, uint32_t size) {
        const ExprNode& n = node(index);
        if (n.kind == ExprKind::kConstant) {
            from.base += static_cast<uint32_t>(n.bits) * size;
            return from;
        }
        uint32_t at = value(index);
        if (size != 1) {
            const uint32_t scaled = words(1);
            emit({.code = Code::kMulConstant, .d = scaled, .a = at, .b = size});
            at = scaled;
        }
        if (from.index != kNone) {
            const uint32_t sum = words(1);
            emit({.code = Code::kAdd, .d = sum, .a = from.index, .b = at});
            at = sum;
        }
        from.index = at;
        return from;
    }
    /// Registers with `count` words of the place; `wanted`, if there is one.
    uint32_t read(const Place& from, uint32_t count, uint32_t wanted) {
        if (from.index == kNone && !from.is_shared && wanted == kNone) return from.base;
        const uint32_t to = wanted == kNone ? words(count) : wanted;
        if (from.index == kNone && !from.is_shared)
            copy(to, from.base, count);
        else
            emit({.code = from.is_shared ? Code::kReadShared : Code::kRead,
                  .d = to,
                  .a = from.base,
                  .b = from.index == kNone ? zero_ : from.index,
                  .c = count});
        return to;
    }
    void write(const Place& to, uint32_t from, uint32_t count) {
        if (to.index == kNone && !to.is_shared) return copy(to.base, from, count);
        emit({.code = to.is_shared ? Code::kWriteShared : Code::kWrite,
              .d = to.base,
              .a = from,
              .b = to.index == kNone ? zero_ : to.index,
              .c = count});
    }
    void copy(uint32_t to, uint32_t from, uint32_t count) {
        if (to != from) emit({.code = Code::kCopy, .d = to, .a = from, .c = count});
    }

    // ------------------------------------------------------------------------ buffers

    /// `count` neighbours from element `at` on, as what kernels compute with.
    void load(uint64_t buffer, uint32_t at, uint32_t count, uint32_t to) {
        const BodyBuffer& from = body_.buffers[buffer];
        const auto source = static_cast<uint32_t>(buffer);
        const bool is_condition = scalar_type(from.dtype) == ScalarType::kBool;
        if (size_bytes(from.held) == 4 && !is_condition) {
            emit({.code = Code::kLoad, .d = to, .a = source, .b = at, .c = count});
            return;
        }
        const uint32_t size = size_bytes(from.held) == 8 ? 2 : 1;
        for (uint32_t i = 0; i < count; ++i) {
            emit({.code = code_to_load(from.held),
                  .d = to + i * size,
                  .a = source,
                  .b = shifted(at, i),
                  .c = 1});
            if (is_condition) emit({.code = Code::kNotEqual, .d = to + i, .a = to + i, .b = zero_});
        }
    }
    static Code code_to_load(DType held) {
        switch (held) {
            case DType::kF16:
                return Code::kLoadF16;
            case DType::kBF16:
                return Code::kLoadBF16;
            case DType::kI8:
                return Code::kLoadI8;
            case DType::kU8:
            case DType::kBool:
                return Code::kLoadU8;
            case DType::kI16:
                return Code::kLoadI16;
            case DType::kU16:
                return Code::kLoadU16;
            default:
                return size_bytes(held) == 8 ? Code::kLoadWide : Code::kLoad;
        }
    }
    void store(uint64_t buffer, uint32_t at, uint32_t count, uint32_t from) {
        const BodyBuffer& to = body_.buffers[buffer];
        const auto target = static_cast<uint32_t>(buffer);
        const Code rounding = code_to_round(to);
        if (size_bytes(to.held) == 4 && rounding == Code::kCopy) {
            emit({.code = Code::kStore, .d = target, .a = from, .b = at, .c = count});
            return;
        }
        const uint32_t size = size_bytes(to.held) == 8 ? 2 : 1;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t stored = from + i * size;
            if (rounding != Code::kCopy) {
                stored = words(1);
                emit({.code = rounding,
                      .op = to.dtype == DType::kF16 ? ScalarOp::kRoundF16 : ScalarOp::kRoundBF16,
                      .d = stored,
                      .a = from + i,
                      .b = from + i});
            }
            emit({.code = code_to_store(to.held),
                  .d = target,
                  .a = stored,
                  .b = shifted(at, i),
                  .c = 1});
        }
    }
    /// What is done to a value whose type is narrower than what its elements are held as.
    static Code code_to_round(const BodyBuffer& to) {
        if (to.dtype == to.held) return Code::kCopy;
        switch (to.dtype) {
            case DType::kF16:
            case DType::kBF16:
                return Code::kFunction;
            case DType::kI8:
                return Code::kExtendI8;
            case DType::kU8:
                return Code::kExtendU8;
            case DType::kI16:
                return Code::kExtendI16;
            case DType::kU16:
                return Code::kExtendU16;
            default:
                return Code::kCopy;
        }
    }
    static Code code_to_store(DType held) {
        switch (held) {
            case DType::kF16:
                return Code::kStoreF16;
            case DType::kBF16:
                return Code::kStoreBF16;
            default:
                break;
        }
        switch (size_bytes(held)) {
            case 1:
                return Code::kStore8;
            case 2:
                return Code::kStore16;
            case 8:
                return Code::kStoreWide;
            default:
                return Code::kStore;
        }
    }
    uint32_t shifted(uint32_t index, uint32_t by) {
        if (by == 0) return index;
        const uint32_t sum = words(1);
        emit({.code = Code::kAddConstant, .d = sum, .a = index, .b = by});
        return sum;
    }
    uint32_t scaled(uint32_t index, uint32_t by) {
        const uint32_t product = words(1);
        emit({.code = Code::kMulConstant, .d = product, .a = index, .b = by});
        return product;
    }
    static bool are_words(const ExprNode& n) {
        return n.chunk == Chunk::kHalves || (n.chunk == Chunk::kFour && n.type == ScalarType::kU32);
    }
    uint32_t load_chunk(const ExprNode& n, uint32_t first, uint32_t wanted) {
        const uint32_t to = wanted == kNone ? words(words_of(n)) : wanted;
        if (n.chunk == Chunk::kHalves)
            emit({.code = Code::kLoadHalves,
                  .d = to,
                  .a = static_cast<uint32_t>(n.bits),
                  .b = first});
        else
            load(n.bits, first, length_of(n.chunk), to);
        return to;
    }

    // ------------------------------------------------------------------------ expressions

    /// Registers with the value of an expression; `wanted`, if given, which no operand may be in
    /// unless the expression is a single instruction.
    uint32_t value(uint32_t id, uint32_t wanted = kNone) {
        const ExprNode& n = node(id);
        const auto given = [&](uint32_t at) {
            if (wanted == kNone) return at;
            copy(wanted, at, words_of(n));
            return wanted;
        };
        const auto result = [&] { return wanted == kNone ? words(words_of(n)) : wanted; };
        switch (n.kind) {
            case ExprKind::kConstant:
                return given(constant(n.bits, is_wide(n.type) ? 2 : 1));
            case ExprKind::kRowCount:
                return given(kRows);
            case ExprKind::kInvocation:
                return given(kInvocation);
            case ExprKind::kWorkgroup:
                return given(along_axis(n, kWorkgroup));
            case ExprKind::kWorkgroups:
                return given(along_axis(n, kWorkgroupCount));
            case ExprKind::kLocal:
            case ExprKind::kElement:
            case ExprKind::kChunkElement:
                return read(place(id), words_of(n), wanted);
            case ExprKind::kVector:
                return given(local_at_[n.bits]);
            case ExprKind::kReinterpret: {
                const uint32_t at = value(n.in[0]);
                return given(at);
            }
            case ExprKind::kLoad: {
                const uint32_t at = value(n.in[0]);
                if (n.chunk != Chunk::kOne) return load_chunk(n, at, wanted);
                const uint32_t to = result();
                load(n.bits, at, 1, to);
                return to;
            }
            case ExprKind::kLoadChunk: {
                const uint32_t at = value(n.in[0]);
                return load_chunk(n, scaled(at, are_words(n) ? 4 : length_of(n.chunk)), wanted);
            }
            case ExprKind::kCall:
                return given(call(static_cast<uint32_t>(n.bits), body_.arguments_of(n)));
            case ExprKind::kPhilox: {
                const uint32_t step = value(n.in[0]), element = value(n.in[1]), to = result();
                emit({.code = Code::kPhilox,
                      .d = to,
                      .a = constant(n.bits, 2),
                      .b = step,
                      .c = element});
                return to;
            }
            case ExprKind::kClamp: {
                const uint32_t a = value(n.in[0]), least = value(n.in[1]), most = value(n.in[2]);
                const uint32_t raised = words(1), to = result();
                emit({.code = Code::kMaxI, .d = raised, .a = a, .b = least});
                emit({.code = Code::kMinI, .d = to, .a = raised, .b = most});
                return to;
            }
            case ExprKind::kHighProduct:
                return binary(Code::kHighProduct, n, result());
            case ExprKind::kOperation:
            case ExprKind::kFitting:
            case ExprKind::kGreater:
            case ExprKind::kGreaterEqual:
                return operation(n, wanted);
            default:
                return chunk_value(n, wanted);
        }
    }
    /// value() of chunks, and of sums of products.
    uint32_t chunk_value(const ExprNode& n, uint32_t wanted) {
        const auto given = [&](uint32_t at) {
            if (wanted == kNone) return at;
            copy(wanted, at, words_of(n));
            return wanted;
        };
        const auto result = [&] { return wanted == kNone ? words(words_of(n)) : wanted; };
        switch (n.kind) {
            case ExprKind::kFill: {
                const uint32_t a = value(n.in[0]), to = result();
                emit({.code = Code::kFill, .d = to, .a = a, .c = words_of(n)});
                return to;
            }
            case ExprKind::kCompose: {
                const uint32_t to = words(words_of(n));
                uint32_t at = to;
                for (const uint32_t element : body_.arguments_of(n)) (void)value(element, at++);
                return given(to);
            }
            case ExprKind::kScale: {
                const uint32_t a = value(n.in[0]), factor = value(n.in[1]), to = result();
                for (uint32_t i = 0; i < length_of(n.chunk); ++i)
                    emit({.code = Code::kMulF, .d = to + i, .a = a + i, .b = factor});
                return to;
            }
            case ExprKind::kMultiplyAdd: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]), c = value(n.in[2]);
                const uint32_t to = result();
                for (uint32_t i = 0; i < words_of(n); ++i)
                    emit({.code = product_sum(), .d = to + i, .a = a + i, .b = b + i, .c = c + i});
                return to;
            }
            case ExprKind::kDot: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]), sum = words(1);
                copy(sum, zero_, 1);
                for (uint32_t i = 0; i < 4; ++i)
                    emit({.code = product_sum(), .d = sum, .a = a + i, .b = b + i, .c = sum});
                return given(sum);
            }
            case ExprKind::kTwoHalves: {
                const uint32_t word = value(n.in[0]), to = words(2);
                for (uint32_t i = 0; i < 2; ++i)
                    emit({.code = Code::kHalf, .d = to + i, .a = word, .b = i});
                return given(to);
            }
            default:
                fail(std::string("the expression '") + instruction_of(n.kind).name + "'");
                return zero_;
        }
    }
    Code product_sum() const { return has_fma_ ? Code::kFma : Code::kProductSum; }

    uint32_t binary(Code code, const ExprNode& n, uint32_t to) {
        const uint32_t a = value(n.in[0]), b = value(n.in[1]);
        emit({.code = code, .d = to, .a = a, .b = b});
        return to;
    }

    uint32_t along_axis(const ExprNode& n, uint32_t linear) {
        if (body_.across == 0) return linear;
        const uint32_t across = value(body_.across), down = value(body_.down);
        if (n.kind == ExprKind::kWorkgroups && n.bits < 2) return n.bits == 0 ? across : down;
        const uint32_t at = words(1);
        const auto divide = [&](Code code, uint32_t a, uint32_t b) {
            emit({.code = code, .d = at, .a = a, .b = b});
            return at;
        };
        if (n.bits == 0) return divide(Code::kModI, linear, across);
        (void)divide(Code::kDivI, linear, across);
        return divide(n.bits == 1 ? Code::kModI : Code::kDivI, at, down);
    }

    KernelInstruction scalar(ScalarOp op, ScalarType type, uint32_t d, uint32_t a, uint32_t b,
                             bool is_wide_b = false, bool is_wide_result = false) const {
        return {.code = Code::kScalar,
                .is_wide_a = is_wide(type),
                .is_wide_b = is_wide_b,
                .is_wide_result = is_wide_result,
                .type = type,
                .op = op,
                .d = d,
                .a = a,
                .b = b};
    }

    uint32_t operation(const ExprNode& n, uint32_t wanted) {
        ScalarOp op = n.op;
        std::array<uint32_t, 3> in = n.in;
        if (n.kind == ExprKind::kGreater || n.kind == ExprKind::kGreaterEqual) {
            op = n.kind == ExprKind::kGreater ? ScalarOp::kLess : ScalarOp::kLessEqual;
            std::swap(in[0], in[1]);
        }
        if (op == ScalarOp::kSelect || op == ScalarOp::kAnd || op == ScalarOp::kOr)
            return choice(n, op, in, wanted);
        const ScalarType type = node(in[0]).type;
        const bool is_unary_op = operand_count(op) == 1;
        const uint32_t a = value(in[0]), b = is_unary_op ? a : value(in[1]);
        const uint32_t to = wanted == kNone ? words(words_of(n)) : wanted;
        for (uint32_t i = 0; i < length_of(n.chunk); ++i)
            apply(op, type, to + i, a + i, b + i,
                  is_unary_op ? is_wide(type) : is_wide(node(in[1]).type), is_wide(n.type));
        return to;
    }

    void apply(ScalarOp op, ScalarType type, uint32_t to, uint32_t a, uint32_t b, bool is_wide_b,
               bool is_wide_result) {
        if (type == ScalarType::kF32) {
            if (const Code code = float_code(op); code != Code::kEnd) {
                emit({.code = code, .d = to, .a = a, .b = b});
                return;
            }
            if (float_function(op) != nullptr) {
                emit({.code = Code::kFunction, .op = op, .d = to, .a = a, .b = b});
                return;
            }
        }
        if (const Code code = word_code(op, type); code != Code::kEnd)
            emit({.code = code, .d = to, .a = a, .b = b, .c = 1});
        else
            emit(scalar(op, type, to, a, b, is_wide_b, is_wide_result));
    }
    static Code float_code(ScalarOp op) {
        switch (op) {
            case ScalarOp::kAdd:
                return Code::kAddF;
            case ScalarOp::kSub:
                return Code::kSubF;
            case ScalarOp::kMul:
                return Code::kMulF;
            case ScalarOp::kDiv:
                return Code::kDivF;
            case ScalarOp::kNeg:
                return Code::kNegF;
            case ScalarOp::kAbs:
                return Code::kAbsF;
            case ScalarOp::kMin:
                return Code::kMinF;
            case ScalarOp::kMax:
                return Code::kMaxF;
            case ScalarOp::kLess:
                return Code::kLessF;
            case ScalarOp::kLessEqual:
                return Code::kLessEqualF;
            case ScalarOp::kEqual:
                return Code::kEqualF;
            case ScalarOp::kNotEqual:
                return Code::kNotEqualF;
            default:
                return Code::kEnd;
        }
    }
    /// The instruction for an operation of words that are integers or conditions; kEnd: none.
    static Code word_code(ScalarOp op, ScalarType type) {
        if (is_wide(type) || is_floating(type)) return Code::kEnd;
        const bool is_i32 = type == ScalarType::kI32;
        switch (op) {
            case ScalarOp::kAdd:
                return Code::kAdd;
            case ScalarOp::kSub:
                return Code::kSub;
            case ScalarOp::kMul:
                return Code::kMul;
            case ScalarOp::kBitAnd:
                return Code::kAnd;
            case ScalarOp::kBitOr:
                return Code::kOr;
            case ScalarOp::kEqual:
                return Code::kEqual;
            case ScalarOp::kNotEqual:
            case ScalarOp::kXor:
                return Code::kNotEqual;
            case ScalarOp::kNot:
                return Code::kNotCondition;
            case ScalarOp::kToI32:
            case ScalarOp::kToU32:
            case ScalarOp::kBitsToF32:
                return Code::kCopy;
            case ScalarOp::kMin:
                return is_i32 ? Code::kMinI : Code::kEnd;
            case ScalarOp::kMax:
                return is_i32 ? Code::kMaxI : Code::kEnd;
            case ScalarOp::kLess:
                return is_i32 ? Code::kLessI : Code::kEnd;
            case ScalarOp::kLessEqual:
                return is_i32 ? Code::kLessEqualI : Code::kEnd;
            case ScalarOp::kDiv:
                return is_i32 ? Code::kDivI : Code::kEnd;
            case ScalarOp::kMod:
                return is_i32 ? Code::kModI : Code::kEnd;
            default:
                return Code::kEnd;
        }
    }

    bool is_at_hand(uint32_t id) const {
        const ExprNode& n = node(id);
        return n.kind == ExprKind::kConstant ||
               (n.kind == ExprKind::kLocal && body_.locals[n.bits].kind != LocalKind::kShared);
    }
    /// kSelect, kAnd and kOr evaluate only the operands that count.
    uint32_t choice(const ExprNode& n, ScalarOp op, const std::array<uint32_t, 3>& in,
                    uint32_t wanted) {
        const uint32_t count = words_of(n), condition = value(in[0]);
        if (op == ScalarOp::kSelect && count == 1 && is_at_hand(in[1]) && is_at_hand(in[2])) {
            const uint32_t yes = value(in[1]), no = value(in[2]);
            const uint32_t to = wanted == kNone ? words(1) : wanted;
            emit({.code = Code::kSelect, .d = to, .a = condition, .b = yes, .c = no});
            return to;
        }
        if (op != ScalarOp::kSelect && is_at_hand(in[1])) {
            const uint32_t other = value(in[1]), to = wanted == kNone ? words(1) : wanted;
            emit({.code = op == ScalarOp::kAnd ? Code::kAnd : Code::kOr,
                  .d = to,
                  .a = condition,
                  .b = other});
            return to;
        }
        const uint32_t to = words(count);
        const uint32_t to_no = emit({.code = Code::kJumpUnless, .b = condition});
        if (op == ScalarOp::kOr)
            copy(to, condition, 1);
        else
            (void)value(in[1], to);
        const uint32_t to_end = emit({.code = Code::kJump});
        out_.code_[to_no].a = here();
        if (op == ScalarOp::kAnd)
            copy(to, condition, 1);
        else
            (void)value(in[op == ScalarOp::kOr ? 1 : 2], to);
        out_.code_[to_end].a = here();
        if (wanted == kNone) return to;
        copy(wanted, to, count);
        return wanted;
    }

    bool is_result(uint32_t parameter) const {
        const ExprNode& n = node(parameter);
        return n.kind == ExprKind::kLocal && body_.locals[n.bits].kind == LocalKind::kResult;
    }
    /// Returns registers with the result that no other call changes.
    uint32_t call(uint32_t index, std::span<const uint32_t> arguments) {
        const BodyFunction& function = body_.functions[index];
        std::vector<uint32_t> values(arguments.size(), kNone);
        for (size_t i = 0; i < arguments.size(); ++i)
            if (node(function.parameters[i]).kind != ExprKind::kBuffer &&
                !is_result(function.parameters[i]))
                values[i] = value(arguments[i]);
        for (size_t i = 0; i < arguments.size(); ++i) {
            const ExprNode& parameter = node(function.parameters[i]);
            if (parameter.kind == ExprKind::kBuffer)
                bind(parameter.bits, node(arguments[i]).bits);
            else if (values[i] != kNone)
                copy(local_at_[parameter.bits], values[i], words_of(parameter));
        }
        emit({.code = Code::kCall, .a = functions_[index].entry});
        for (size_t i = 0; i < arguments.size(); ++i)
            if (is_result(function.parameters[i]))
                write(place(arguments[i]), local_at_[node(function.parameters[i]).bits],
                      words_of(node(arguments[i])));
        if (!function.has_result) return kNone;
        const uint32_t count = words_of(function.result, function.result_chunk), to = words(count);
        copy(to, functions_[index].result, count);
        return to;
    }
    void bind(uint64_t buffer, uint64_t to) {
        emit({.code = Code::kBind,
              .d = static_cast<uint32_t>(buffer),
              .a = static_cast<uint32_t>(to)});
    }

    // ------------------------------------------------------------------------ statements

    void block(std::span<const Statement> statements) {
        for (const Statement& s : statements) {
            const uint32_t before = free_;
            statement(s);
            free_ = before;
        }
    }

    void statement(const Statement& s) {
        switch (s.kind) {
            case StatementKind::kLet:
                (void)value(s.a, local_at_[s.local]);
                return;
            case StatementKind::kLetCall: {
                const uint32_t result = call(s.function, s.arguments);
                return copy(local_at_[s.local], result, words_of(body_.locals[s.local]));
            }
            case StatementKind::kCall:
                (void)call(s.function, s.arguments);
                return;
            case StatementKind::kDeclare: {
                const Local& l = body_.locals[s.local];
                if (s.a == 0) return;
                const uint32_t first = value(s.a);
                if (l.kind == LocalKind::kLanes)
                    emit({.code = Code::kFill, .d = local_at_[s.local], .a = first, .c = l.length});
                else
                    copy(local_at_[s.local], first, words_of(l));
                return;
            }
            case StatementKind::kDeclareBuffer:
                return;
            case StatementKind::kAssign:
                return assign(s);
            case StatementKind::kAccumulate:
                return accumulate(s);
            case StatementKind::kLoadVector:
            case StatementKind::kStoreVector: {
                const uint32_t at = value(s.a), length = body_.locals[s.local].length;
                if (s.kind == StatementKind::kLoadVector)
                    return load(s.buffer, at, length, local_at_[s.local]);
                return store(s.buffer, at, length, local_at_[s.local]);
            }
            case StatementKind::kStore: {
                const uint32_t at = value(s.a), stored = value(s.b);
                return store(s.buffer, at, 1, stored);
            }
            case StatementKind::kStoreChunk:
            case StatementKind::kStoreElements:
                return store_chunk(s);
            case StatementKind::kLoadLanes: {
                const uint32_t at = value(s.a), length = body_.locals[s.local].length;
                if (s.b == 0) return load(s.buffer, at, length, local_at_[s.local]);
                (void)read({.base = local_at_[node(s.b).bits],
                            .index = at,
                            .is_shared = is_shared(node(s.b).bits)},
                           length, local_at_[s.local]);
                return;
            }
            case StatementKind::kStoreLanes:
                return write({.base = local_at_[node(s.b).bits],
                              .index = value(s.a),
                              .is_shared = is_shared(node(s.b).bits)},
                             local_at_[s.local], body_.locals[s.local].length);
            case StatementKind::kMultiplyAdd:
                return multiply_add_lanes(s);
            case StatementKind::kFor:
                return loop(s);
            case StatementKind::kIf: {
                const uint32_t to_otherwise = emit({.code = Code::kJumpUnless, .b = value(s.a)});
                block(s.body);
                if (s.otherwise.empty()) {
                    out_.code_[to_otherwise].a = here();
                    return;
                }
                const uint32_t to_end = emit({.code = Code::kJump});
                out_.code_[to_otherwise].a = here();
                block(s.otherwise);
                out_.code_[to_end].a = here();
                return;
            }
            case StatementKind::kBlock:
                return block(s.body);
            case StatementKind::kBarrier:
                out_.has_barriers_ = true;
                emit({.code = Code::kBarrier});
                return;
            case StatementKind::kSubgroupBarrier:
                if (body_.subgroup_size != 0) fail("subgroups");
                return;
            case StatementKind::kReturn:
                if (is_main_) {
                    ends_.push_back(emit({.code = Code::kJump}));
                    return;
                }
                if (s.a != 0) copy(result_, value(s.a), words_of(node(s.a)));
                emit({.code = Code::kReturn});
                return;
            case StatementKind::kContinue:
                continues_.push_back(emit({.code = Code::kJump}));
                return;
            case StatementKind::kBreak:
                breaks_.push_back(emit({.code = Code::kJump}));
                return;
            default:
                return fail(std::string("the statement '") + instruction_of(s.kind).name + "'");
        }
    }
    bool is_shared(uint64_t local) const { return body_.locals[local].kind == LocalKind::kShared; }

    void assign(const Statement& s) {
        const ExprNode& to = node(s.a);
        if (to.kind == ExprKind::kBuffer) return bind(to.bits, node(s.b).bits);
        const uint32_t from = value(s.b), count = words_of(to);
        write(place(s.a), from, count);
    }

    void accumulate(const Statement& s) {
        const ExprNode& to = node(s.a);
        const uint32_t with = value(s.b), count = words_of(to);
        const Place at = place(s.a);
        const uint32_t before = read(at, count, kNone);
        const bool is_register = at.index == kNone && !at.is_shared;
        const uint32_t after = is_register ? before : words(count);
        for (uint32_t i = 0; i < length_of(to.chunk); ++i)
            apply(s.op, to.type, after + i, before + i, with + i, is_wide(to.type),
                  is_wide(to.type));
        if (!is_register) write(at, after, count);
    }

    void store_chunk(const Statement& s) {
        const uint32_t index = value(s.a);
        if (s.kind == StatementKind::kStoreChunk) {
            if (node(s.b).chunk != Chunk::kFour) return fail("chunks of f16");
            const uint32_t four = value(s.b);
            return store(s.buffer, scaled(index, 4), 4, four);
        }
        if (s.arguments.size() == 1) {
            if (node(s.arguments[0]).chunk != Chunk::kFour) return fail("chunks of f16");
            const uint32_t four = value(s.arguments[0]);
            return store(s.buffer, index, 4, four);
        }
        for (uint32_t i = 0; i < s.arguments.size(); ++i) {
            const uint32_t number = value(s.arguments[i]);
            store(s.buffer, shifted(index, i), 1, number);
        }
    }

    void multiply_add_lanes(const Statement& s) {
        const ExprNode& a = node(s.a);
        const bool has_lanes =
            a.kind == ExprKind::kLocal && body_.locals[a.bits].kind == LocalKind::kLanes;
        const uint32_t factor = has_lanes ? local_at_[a.bits] : value(s.a);
        const Code code = has_lanes
                              ? (has_fma_ ? Code::kLanesFma : Code::kLanesProductSum)
                              : (has_fma_ ? Code::kLanesFactorFma : Code::kLanesFactorProductSum);
        emit({.code = code,
              .count = static_cast<uint8_t>(body_.locals[s.local].length),
              .d = local_at_[s.local],
              .a = factor,
              .b = local_at_[node(s.b).bits]});
    }

    void loop(const Statement& s) {
        const uint32_t counter = local_at_[s.local];
        const ScalarType type = body_.locals[s.local].type;
        (void)value(s.a, counter);
        const uint32_t start = here();
        const uint32_t to_end = emit({.code = Code::kJumpUnless, .b = value(s.b)});
        std::vector<uint32_t> outer_continues, outer_breaks;
        std::swap(outer_continues, continues_);
        std::swap(outer_breaks, breaks_);
        block(s.body);
        for (const uint32_t at : continues_) out_.code_[at].a = here();
        if (s.c == 0 && type == ScalarType::kI32)
            emit({.code = Code::kAddConstant,
                  .d = counter,
                  .a = counter,
                  .b = s.op == ScalarOp::kSub ? ~0u : 1u});
        else if (s.c == 0)
            apply(s.op, type, counter, counter, constant(1, is_wide(type) ? 2 : 1), is_wide(type),
                  is_wide(type));
        else
            apply(s.op, type, counter, counter, value(s.c), is_wide(type), is_wide(type));
        emit({.code = Code::kJump, .a = start});
        out_.code_[to_end].a = here();
        for (const uint32_t at : breaks_) out_.code_[at].a = here();
        std::swap(outer_continues, continues_);
        std::swap(outer_breaks, breaks_);
    }

    const Body& body_;
    const bool has_fma_;
    KernelCode out_;
    std::string error_;
    std::vector<uint32_t> local_at_;  ///< per local: its first register, or word of shared memory
    std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants_;
    std::vector<Function> functions_;
    uint32_t free_ = kFirstFree, most_ = kFirstFree;
    uint32_t zero_ = 0;
    uint32_t result_ = kNone;  ///< of the function that is lowered
    bool is_main_ = false;
    std::vector<uint32_t> ends_, continues_, breaks_;  ///< jumps whose targets are not known yet
};

Result<KernelCode> lower_kernel(const Body& body, CpuIsa cpu, std::string_view name) {
    return KernelLowering(body, cpu).lower(name);
}

// ---------------------------------------------------------------------------- execution

namespace {

float f32(uint32_t bits) {
    return std::bit_cast<float>(bits);
}
uint32_t bits_of(float value) {
    return std::bit_cast<uint32_t>(value);
}
uint64_t two_words(const uint32_t* from) {
    uint64_t bits;
    std::memcpy(&bits, from, sizeof bits);
    return bits;
}

template <class T>
T element(const std::byte* buffer, uint32_t index) {
    T value;
    std::memcpy(&value,
                buffer + static_cast<ptrdiff_t>(static_cast<int32_t>(index)) *
                             static_cast<ptrdiff_t>(sizeof(T)),
                sizeof value);
    return value;
}
template <class T>
void set_element(std::byte* buffer, uint32_t index, T value) {
    std::memcpy(buffer + static_cast<ptrdiff_t>(static_cast<int32_t>(index)) *
                             static_cast<ptrdiff_t>(sizeof(T)),
                &value, sizeof value);
}
template <class T>
uint32_t extended(uint32_t bits) {
    return static_cast<uint32_t>(static_cast<T>(bits));
}

// A quotient by zero is zero.
int32_t quotient(int32_t a, int32_t b) {
    return b == 0 ? 0 : b == -1 ? static_cast<int32_t>(0u - static_cast<uint32_t>(a)) : a / b;
}
int32_t remainder_of(int32_t a, int32_t b) {
    return b == 0 || b == -1 ? 0 : a % b;
}

void product_sums(uint32_t* sums, const uint32_t* a, const uint32_t* b, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) sums[i] = bits_of(f32(sums[i]) + f32(a[i]) * f32(b[i]));
}
void factor_product_sums(uint32_t* sums, float a, const uint32_t* b, uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) sums[i] = bits_of(f32(sums[i]) + a * f32(b[i]));
}
#if defined(__x86_64__) && defined(__GNUC__)
// Only kernels for CPUs with these instructions reach the functions.
#define HEARTH_TARGET_FMA __attribute__((target("avx2,fma")))
#else
#define HEARTH_TARGET_FMA
#endif
HEARTH_TARGET_FMA void fused_product_sums(uint32_t* sums, const uint32_t* a, const uint32_t* b,
                                          uint32_t n) {
    for (uint32_t i = 0; i < n; ++i)
        sums[i] = bits_of(std::fma(f32(a[i]), f32(b[i]), f32(sums[i])));
}
HEARTH_TARGET_FMA void fused_factor_product_sums(uint32_t* sums, float a, const uint32_t* b,
                                                 uint32_t n) {
    for (uint32_t i = 0; i < n; ++i) sums[i] = bits_of(std::fma(a, f32(b[i]), f32(sums[i])));
}

uint32_t scalar_bits(const KernelInstruction& i, uint32_t* r) {
    const uint64_t a = i.is_wide_a ? two_words(r + i.a) : r[i.a];
    const uint64_t b = i.is_wide_b ? two_words(r + i.b) : r[i.b];
    const uint64_t result = scalar_operation(i.op, i.type, {a, b, 0});
    if (i.is_wide_result) r[i.d + 1] = static_cast<uint32_t>(result >> 32);
    return static_cast<uint32_t>(result);
}

size_t bytes_of(uint32_t words) {
    return words * sizeof(uint32_t);
}
int32_t i32(uint32_t bits) {
    return static_cast<int32_t>(bits);
}

void copy_words(const KernelInstruction& i, uint32_t* r, uint32_t* shared) {
    switch (i.code) {
        case Code::kCopy:
            if (i.c == 1)
                r[i.d] = r[i.a];
            else
                std::memmove(r + i.d, r + i.a, bytes_of(i.c));
            break;
        case Code::kFill:
            std::fill_n(r + i.d, i.c, r[i.a]);
            break;
        case Code::kRead:
            std::memmove(r + i.d, r + i.a + i32(r[i.b]), bytes_of(i.c));
            break;
        case Code::kWrite:
            std::memmove(r + i.d + i32(r[i.b]), r + i.a, bytes_of(i.c));
            break;
        case Code::kReadShared:
            std::memcpy(r + i.d, shared + i.a + i32(r[i.b]), bytes_of(i.c));
            break;
        case Code::kWriteShared:
            std::memcpy(shared + i.d + i32(r[i.b]), r + i.a, bytes_of(i.c));
            break;
        default:
            HEARTH_ASSERT(false && "an instruction of another kind");
    }
}

void access_buffer(const KernelInstruction& i, uint32_t* r, std::byte** buffers) {
    const auto word_at = [&](uint32_t buffer, uint32_t index) {
        return buffers[buffer] +
               static_cast<ptrdiff_t>(i32(index)) * static_cast<ptrdiff_t>(sizeof(uint32_t));
    };
    switch (i.code) {
        case Code::kBind:
            buffers[i.d] = buffers[i.a];
            break;
        case Code::kLoad:
            if (i.c == 1)
                r[i.d] = element<uint32_t>(buffers[i.a], r[i.b]);
            else
                std::memcpy(r + i.d, word_at(i.a, r[i.b]), bytes_of(i.c));
            break;
        case Code::kStore:
            if (i.c == 1)
                set_element(buffers[i.d], r[i.b], r[i.a]);
            else
                std::memcpy(word_at(i.d, r[i.b]), r + i.a, bytes_of(i.c));
            break;
        case Code::kLoadWide: {
            const auto bits = element<uint64_t>(buffers[i.a], r[i.b]);
            std::memcpy(r + i.d, &bits, sizeof bits);
            break;
        }
        case Code::kStoreWide:
            set_element(buffers[i.d], r[i.b], two_words(r + i.a));
            break;
        case Code::kLoadF16:
            r[i.d] = static_cast<uint32_t>(half_of(element<uint16_t>(buffers[i.a], r[i.b]), 0));
            break;
        case Code::kStoreF16:
            set_element(buffers[i.d], r[i.b], static_cast<uint16_t>(bits_of_half(r[i.a])));
            break;
        case Code::kLoadBF16:
            r[i.d] = uint32_t{element<uint16_t>(buffers[i.a], r[i.b])} << 16;
            break;
        case Code::kStoreBF16:
            set_element(buffers[i.d], r[i.b], float_to_bfloat16(static_cast<double>(f32(r[i.a]))));
            break;
        case Code::kLoadI8:
            r[i.d] = extended<int8_t>(element<uint8_t>(buffers[i.a], r[i.b]));
            break;
        case Code::kLoadU8:
            r[i.d] = element<uint8_t>(buffers[i.a], r[i.b]);
            break;
        case Code::kStore8:
            set_element(buffers[i.d], r[i.b], static_cast<uint8_t>(r[i.a]));
            break;
        case Code::kLoadI16:
            r[i.d] = extended<int16_t>(element<uint16_t>(buffers[i.a], r[i.b]));
            break;
        case Code::kLoadU16:
            r[i.d] = element<uint16_t>(buffers[i.a], r[i.b]);
            break;
        case Code::kStore16:
            set_element(buffers[i.d], r[i.b], static_cast<uint16_t>(r[i.a]));
            break;
        case Code::kLoadHalves:
            std::memcpy(r + i.d, buffers[i.a] + ptrdiff_t{2} * i32(r[i.b]), 16);
            break;
        case Code::kHalf:
            r[i.d] = static_cast<uint32_t>(half_of(r[i.a], i.b));
            break;
        default:
            HEARTH_ASSERT(false && "an instruction of another kind");
    }
}

void compute_floats(const KernelInstruction& i, uint32_t* r) {
    switch (i.code) {
        case Code::kAddF:
            r[i.d] = bits_of(f32(r[i.a]) + f32(r[i.b]));
            break;
        case Code::kSubF:
            r[i.d] = bits_of(f32(r[i.a]) - f32(r[i.b]));
            break;
        case Code::kMulF:
            r[i.d] = bits_of(f32(r[i.a]) * f32(r[i.b]));
            break;
        case Code::kDivF:
            r[i.d] = bits_of(f32(r[i.a]) / f32(r[i.b]));
            break;
        case Code::kNegF:
            r[i.d] = r[i.a] ^ 0x80000000u;
            break;
        case Code::kAbsF:
            r[i.d] = r[i.a] & 0x7fffffffu;
            break;
        case Code::kMinF: {  // NaN stays NaN
            const float a = f32(r[i.a]), b = f32(r[i.b]);
            r[i.d] = std::isnan(b) || b < a ? r[i.b] : r[i.a];
            break;
        }
        case Code::kMaxF: {
            const float a = f32(r[i.a]), b = f32(r[i.b]);
            r[i.d] = std::isnan(b) || b > a ? r[i.b] : r[i.a];
            break;
        }
        case Code::kLessF:
            r[i.d] = f32(r[i.a]) < f32(r[i.b]);
            break;
        case Code::kLessEqualF:
            r[i.d] = f32(r[i.a]) <= f32(r[i.b]);
            break;
        case Code::kEqualF:
            r[i.d] = f32(r[i.a]) == f32(r[i.b]);
            break;
        case Code::kNotEqualF:
            r[i.d] = f32(r[i.a]) != f32(r[i.b]);
            break;
        case Code::kFunction:
            r[i.d] = bits_of(float_function(i.op)(f32(r[i.a]), f32(r[i.b])));
            break;
        case Code::kProductSum:
            r[i.d] = bits_of(f32(r[i.a]) * f32(r[i.b]) + f32(r[i.c]));
            break;
        case Code::kFma:
            r[i.d] = bits_of(std::fma(f32(r[i.a]), f32(r[i.b]), f32(r[i.c])));
            break;
        case Code::kLanesProductSum:
            product_sums(r + i.d, r + i.a, r + i.b, i.count);
            break;
        case Code::kLanesFma:
            fused_product_sums(r + i.d, r + i.a, r + i.b, i.count);
            break;
        case Code::kLanesFactorProductSum:
            factor_product_sums(r + i.d, f32(r[i.a]), r + i.b, i.count);
            break;
        case Code::kLanesFactorFma:
            fused_factor_product_sums(r + i.d, f32(r[i.a]), r + i.b, i.count);
            break;
        default:
            HEARTH_ASSERT(false && "an instruction of another kind");
    }
}

void compute_words(const KernelInstruction& i, uint32_t* r) {
    switch (i.code) {
        case Code::kAdd:
            r[i.d] = r[i.a] + r[i.b];
            break;
        case Code::kSub:
            r[i.d] = r[i.a] - r[i.b];
            break;
        case Code::kMul:
            r[i.d] = r[i.a] * r[i.b];
            break;
        case Code::kAddConstant:
            r[i.d] = r[i.a] + i.b;
            break;
        case Code::kMulConstant:
            r[i.d] = r[i.a] * i.b;
            break;
        case Code::kMinI:
            r[i.d] = static_cast<uint32_t>(std::min(i32(r[i.a]), i32(r[i.b])));
            break;
        case Code::kMaxI:
            r[i.d] = static_cast<uint32_t>(std::max(i32(r[i.a]), i32(r[i.b])));
            break;
        case Code::kLessI:
            r[i.d] = i32(r[i.a]) < i32(r[i.b]);
            break;
        case Code::kLessEqualI:
            r[i.d] = i32(r[i.a]) <= i32(r[i.b]);
            break;
        case Code::kDivI:
            r[i.d] = static_cast<uint32_t>(quotient(i32(r[i.a]), i32(r[i.b])));
            break;
        case Code::kModI:
            r[i.d] = static_cast<uint32_t>(remainder_of(i32(r[i.a]), i32(r[i.b])));
            break;
        case Code::kEqual:
            r[i.d] = r[i.a] == r[i.b];
            break;
        case Code::kNotEqual:
            r[i.d] = r[i.a] != r[i.b];
            break;
        case Code::kAnd:
            r[i.d] = r[i.a] & r[i.b];
            break;
        case Code::kOr:
            r[i.d] = r[i.a] | r[i.b];
            break;
        case Code::kNotCondition:
            r[i.d] = r[i.a] == 0;
            break;
        case Code::kSelect:
            r[i.d] = r[i.a] != 0 ? r[i.b] : r[i.c];
            break;
        case Code::kScalar:
            r[i.d] = scalar_bits(i, r);
            break;
        case Code::kPhilox:
            r[i.d] = philox_bits(two_words(r + i.a), r[i.b], r[i.c]);
            break;
        case Code::kHighProduct:
            r[i.d] = static_cast<uint32_t>(uint64_t{r[i.a]} * r[i.b] >> 32);
            break;
        case Code::kExtendI8:
            r[i.d] = extended<int8_t>(r[i.a]);
            break;
        case Code::kExtendU8:
            r[i.d] = extended<uint8_t>(r[i.a]);
            break;
        case Code::kExtendI16:
            r[i.d] = extended<int16_t>(r[i.a]);
            break;
        case Code::kExtendU16:
            r[i.d] = extended<uint16_t>(r[i.a]);
            break;
        default:
            HEARTH_ASSERT(false && "an instruction of another kind");
    }
}

}  // namespace

bool KernelCode::resume(Invocation& invocation, uint32_t* shared) const {
    uint32_t* const r = invocation.registers.data();
    std::byte** const buffers = invocation.buffers.data();
    const KernelInstruction* const code = code_.data();
    for (const KernelInstruction* next = code + invocation.next;;) {
        const KernelInstruction& i = *next++;
        switch (i.code) {
            case Code::kEnd:
                return false;
            case Code::kBarrier:
                invocation.next = static_cast<uint32_t>(next - code);
                return true;
            case Code::kJump:
                next = code + i.a;
                break;
            case Code::kJumpUnless:
                if (r[i.b] == 0) next = code + i.a;
                break;
            case Code::kCall:
                invocation.returns.push_back(static_cast<uint32_t>(next - code));
                next = code + i.a;
                break;
            case Code::kReturn:
                next = code + invocation.returns.back();
                invocation.returns.pop_back();
                break;

            default:
                if (i.code < Code::kBind)
                    copy_words(i, r, shared);
                else if (i.code < Code::kAddF)
                    access_buffer(i, r, buffers);
                else if (i.code < Code::kAdd)
                    compute_floats(i, r);
                else
                    compute_words(i, r);
        }
    }
}

void KernelCode::run(void* const* operands, int32_t rows, int32_t first, int32_t end,
                     int32_t workgroups) const {
    // Without barriers one state serves all invocations, one after another.
    std::vector<Invocation> states(has_barriers_ ? threads_ : 1);
    for (Invocation& state : states) {
        state.registers = initial_;
        state.registers[kRows] = static_cast<uint32_t>(rows);
        state.registers[kWorkgroupCount] = static_cast<uint32_t>(workgroups);
        state.buffers.resize(buffer_count_);
        for (uint32_t o = 0; o < operand_count_; ++o)
            state.buffers[o] = static_cast<std::byte*>(operands[o]);
    }
    std::vector<uint32_t> shared(shared_words_);
    for (int32_t workgroup = first; workgroup < end; ++workgroup) {
        const auto begin = [&](Invocation& state, uint32_t invocation) {
            state.next = entry_;
            state.registers[kInvocation] = invocation;
            state.registers[kWorkgroup] = static_cast<uint32_t>(workgroup);
        };
        if (!has_barriers_) {
            for (uint32_t t = 0; t < threads_; ++t) {
                begin(states[0], t);
                (void)resume(states[0], shared.data());
            }
            continue;
        }
        for (uint32_t t = 0; t < threads_; ++t) begin(states[t], t);
        // Invocations come to a barrier together, and to the end.
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (Invocation& state : states) goes_on = resume(state, shared.data()) || goes_on;
        }
    }
}

}  // namespace hearth
