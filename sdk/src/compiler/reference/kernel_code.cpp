// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/reference/kernel_code.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/kernel/instructions.hpp"
#include "compiler/reference/float_functions.hpp"

#include <hearth/core/convert.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace hearth {

namespace {

constexpr uint32_t kNone = ~0u;

// Registers with the place of an invocation.
enum : uint32_t { kInvocation, kWorkgroup, kWorkgroupCount, kRows, kFirstFree };

/// State that an invocation's instructions work on.
struct Machine {
    uint32_t* r;  ///< registers
    uint32_t* shared;
    std::byte** buffers;
    std::vector<uint32_t>& returns;
    const KernelInstruction* code;
    const KernelInstruction* next;

    float f(uint32_t at) const { return std::bit_cast<float>(r[at]); }
    int32_t s(uint32_t at) const { return static_cast<int32_t>(r[at]); }
    uint64_t two_words(uint32_t at) const {
        uint64_t bits;
        std::memcpy(&bits, r + at, sizeof bits);
        return bits;
    }
    /// Element number r[index] of a buffer.
    template <class T>
    std::byte* place(uint32_t buffer, uint32_t index) const {
        return buffers[buffer] + static_cast<ptrdiff_t>(s(index)) * ptrdiff_t{sizeof(T)};
    }
    template <class T>
    T element(uint32_t buffer, uint32_t index) const {
        T value;
        std::memcpy(&value, place<T>(buffer, index), sizeof value);
        return value;
    }
    template <class T>
    void set_element(uint32_t buffer, uint32_t index, T value) const {
        std::memcpy(place<T>(buffer, index), &value, sizeof value);
    }
};
using Execute = void (*)(const KernelInstruction& i, Machine& m);

}  // namespace

struct KernelInstruction {
    Execute run = nullptr;  ///< null: the end, or a barrier
    bool is_barrier = false;
    uint8_t count = 0;                                                  ///< of lanes
    bool is_wide_a = false, is_wide_b = false, is_wide_result = false;  ///< Do::scalar
    ScalarType type = ScalarType::kF32;  ///< Do::scalar: of the operands
    ScalarOp op = ScalarOp::kAdd;        ///< Do::scalar
    FloatFunction function = nullptr;    ///< Do::function
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

// ---------------------------------------------------------------------------- instructions

namespace {

using I = KernelInstruction;
using M = Machine;

uint32_t bits_of(float value) {
    return std::bit_cast<uint32_t>(value);
}
size_t bytes_of(uint32_t words) {
    return words * sizeof(uint32_t);
}

#if defined(__x86_64__) && defined(__GNUC__)
// Only kernels for CPUs with these instructions reach the functions.
#define HEARTH_TARGET_FMA __attribute__((target("avx2,fma")))
#else
#define HEARTH_TARGET_FMA
#endif

/// Functions of instructions.  i.d, a, b, c: registers, unless the comment says otherwise.
struct Do {
    static void jump(const I& i, M& m) { m.next = m.code + i.a; }  ///< to instruction a
    /// To instruction a, unless b.
    static void jump_unless(const I& i, M& m) {
        if (m.r[i.b] == 0) m.next = m.code + i.a;
    }
    /// The function at instruction a.
    static void call(const I& i, M& m) {
        m.returns.push_back(static_cast<uint32_t>(m.next - m.code));
        m.next = m.code + i.a;
    }
    static void leave(const I&, M& m) {
        m.next = m.code + m.returns.back();
        m.returns.pop_back();
    }

    /// c words.
    static void copy(const I& i, M& m) {
        if (i.c == 1)
            m.r[i.d] = m.r[i.a];
        else
            std::memmove(m.r + i.d, m.r + i.a, bytes_of(i.c));
    }
    /// c words = a.
    static void fill(const I& i, M& m) { std::fill_n(m.r + i.d, i.c, m.r[i.a]); }
    /// c words = register a + b.
    static void read(const I& i, M& m) {
        std::memmove(m.r + i.d, m.r + i.a + m.s(i.b), bytes_of(i.c));
    }
    /// c words from a, to register d + b.
    static void write(const I& i, M& m) {
        std::memmove(m.r + i.d + m.s(i.b), m.r + i.a, bytes_of(i.c));
    }
    static void read_shared(const I& i, M& m) {
        std::memcpy(m.r + i.d, m.shared + i.a + m.s(i.b), bytes_of(i.c));
    }
    static void write_shared(const I& i, M& m) {
        std::memcpy(m.shared + i.d + m.s(i.b), m.r + i.a, bytes_of(i.c));
    }

    /// Buffer d = buffer a.
    static void bind(const I& i, M& m) { m.buffers[i.d] = m.buffers[i.a]; }
    /// c words = words from element b of buffer a.
    static void load(const I& i, M& m) {
        std::memcpy(m.r + i.d, m.place<uint32_t>(i.a, i.b), bytes_of(i.c));
    }
    /// c words from a = words from element b of buffer d.
    static void store(const I& i, M& m) {
        std::memcpy(m.place<uint32_t>(i.d, i.b), m.r + i.a, bytes_of(i.c));
    }
    static void load_wide(const I& i, M& m) {
        std::memcpy(m.r + i.d, m.place<uint64_t>(i.a, i.b), sizeof(uint64_t));
    }
    static void store_wide(const I& i, M& m) {
        std::memcpy(m.place<uint64_t>(i.d, i.b), m.r + i.a, sizeof(uint64_t));
    }
    static void load_f16(const I& i, M& m) {
        m.r[i.d] = static_cast<uint32_t>(half_of(m.element<uint16_t>(i.a, i.b), 0));
    }
    static void store_f16(const I& i, M& m) {
        m.set_element(i.d, i.b, static_cast<uint16_t>(bits_of_half(m.r[i.a])));
    }
    static void load_bf16(const I& i, M& m) {
        m.r[i.d] = uint32_t{m.element<uint16_t>(i.a, i.b)} << 16;
    }
    static void store_bf16(const I& i, M& m) {
        m.set_element(i.d, i.b, float_to_bfloat16(static_cast<double>(m.f(i.a))));
    }
    template <class T>
    static void load_as(const I& i, M& m) {
        m.r[i.d] = static_cast<uint32_t>(m.element<T>(i.a, i.b));
    }
    template <class T>
    static void store_as(const I& i, M& m) {
        m.set_element(i.d, i.b, static_cast<T>(m.r[i.a]));
    }
    template <class T>
    static void extend(const I& i, M& m) {
        m.r[i.d] = static_cast<uint32_t>(static_cast<T>(m.r[i.a]));
    }
    /// Four words = eight f16 from element b of buffer a.
    static void load_halves(const I& i, M& m) {
        std::memcpy(m.r + i.d, m.place<uint16_t>(i.a, i.b), 16);
    }
    /// f32 of the lower (b = 0) or upper (b = 1) f16 of word a.
    static void half(const I& i, M& m) { m.r[i.d] = static_cast<uint32_t>(half_of(m.r[i.a], i.b)); }

    /// Of f32.
    static void function(const I& i, M& m) { m.r[i.d] = bits_of(i.function(m.f(i.a), m.f(i.b))); }
    static void mul_f(const I& i, M& m) { m.r[i.d] = bits_of(m.f(i.a) * m.f(i.b)); }
    /// a * b + c
    static void product_sum(const I& i, M& m) {
        m.r[i.d] = bits_of(m.f(i.a) * m.f(i.b) + m.f(i.c));
    }
    /// Fused: rounded once.
    static void fma(const I& i, M& m) {
        m.r[i.d] = bits_of(std::fma(m.f(i.a), m.f(i.b), m.f(i.c)));
    }
    /// `count` words: d += a * b.
    static void lanes_product_sum(const I& i, M& m) {
        for (uint32_t k = 0; k < i.count; ++k)
            m.r[i.d + k] = bits_of(m.f(i.d + k) + m.f(i.a + k) * m.f(i.b + k));
    }
    HEARTH_TARGET_FMA static void lanes_fma(const I& i, M& m) {
        for (uint32_t k = 0; k < i.count; ++k)
            m.r[i.d + k] = bits_of(std::fma(m.f(i.a + k), m.f(i.b + k), m.f(i.d + k)));
    }
    /// Fused, with one factor a for all.
    static void lanes_factor_product_sum(const I& i, M& m) {
        const float a = m.f(i.a);
        for (uint32_t k = 0; k < i.count; ++k)
            m.r[i.d + k] = bits_of(m.f(i.d + k) + a * m.f(i.b + k));
    }
    HEARTH_TARGET_FMA static void lanes_factor_fma(const I& i, M& m) {
        const float a = m.f(i.a);
        for (uint32_t k = 0; k < i.count; ++k)
            m.r[i.d + k] = bits_of(std::fma(a, m.f(i.b + k), m.f(i.d + k)));
    }

    // Words.  A quotient by zero is zero.
    static void add(const I& i, M& m) { m.r[i.d] = m.r[i.a] + m.r[i.b]; }
    static void add_constant(const I& i, M& m) { m.r[i.d] = m.r[i.a] + i.b; }  ///< b: a number
    static void mul_constant(const I& i, M& m) { m.r[i.d] = m.r[i.a] * i.b; }
    static void min_i(const I& i, M& m) { m.r[i.d] = m.s(i.a) < m.s(i.b) ? m.r[i.a] : m.r[i.b]; }
    static void max_i(const I& i, M& m) { m.r[i.d] = m.s(i.a) > m.s(i.b) ? m.r[i.a] : m.r[i.b]; }
    static void div_i(const I& i, M& m) {
        const int32_t a = m.s(i.a), b = m.s(i.b);
        m.r[i.d] = b == 0 ? 0 : b == -1 ? 0u - m.r[i.a] : static_cast<uint32_t>(a / b);
    }
    static void mod_i(const I& i, M& m) {
        const int32_t a = m.s(i.a), b = m.s(i.b);
        m.r[i.d] = b == 0 || b == -1 ? 0 : static_cast<uint32_t>(a % b);
    }
    static void bit_and(const I& i, M& m) { m.r[i.d] = m.r[i.a] & m.r[i.b]; }
    static void bit_or(const I& i, M& m) { m.r[i.d] = m.r[i.a] | m.r[i.b]; }
    static void not_equal(const I& i, M& m) { m.r[i.d] = m.r[i.a] != m.r[i.b]; }
    /// c of a condition a, b if it holds.
    static void select(const I& i, M& m) { m.r[i.d] = m.r[i.a] != 0 ? m.r[i.b] : m.r[i.c]; }
    /// scalar_operation() of a and b.
    static void scalar(const I& i, M& m) {
        const uint64_t a = i.is_wide_a ? m.two_words(i.a) : m.r[i.a];
        const uint64_t b = i.is_wide_b ? m.two_words(i.b) : m.r[i.b];
        const uint64_t result = scalar_operation(i.op, i.type, {a, b, 0});
        if (i.is_wide_result) m.r[i.d + 1] = static_cast<uint32_t>(result >> 32);
        m.r[i.d] = static_cast<uint32_t>(result);
    }
    /// Key a (two words), step b, element c.
    static void philox(const I& i, M& m) {
        m.r[i.d] = philox_bits(m.two_words(i.a), m.r[i.b], m.r[i.c]);
    }
    static void high_product(const I& i, M& m) {
        m.r[i.d] = static_cast<uint32_t>(uint64_t{m.r[i.a]} * m.r[i.b] >> 32);
    }
};

/// Functions by which elements of a type are loaded, stored, and made narrow where they are held in 32 bits.  Others are words.
struct Access {
    DType dtype;
    Execute load, store, narrow;
};
constexpr Access kAccesses[] = {
    {DType::kF16, Do::load_f16, Do::store_f16, Do::function},
    {DType::kBF16, Do::load_bf16, Do::store_bf16, Do::function},
    {DType::kI8, Do::load_as<int8_t>, Do::store_as<int8_t>, Do::extend<int8_t>},
    {DType::kU8, Do::load_as<uint8_t>, Do::store_as<uint8_t>, Do::extend<uint8_t>},
    {DType::kBool, Do::load_as<uint8_t>, Do::store_as<uint8_t>, nullptr},
    {DType::kI16, Do::load_as<int16_t>, Do::store_as<int16_t>, Do::extend<int16_t>},
    {DType::kU16, Do::load_as<uint16_t>, Do::store_as<uint16_t>, Do::extend<uint16_t>},
    {DType::kI64, Do::load_wide, Do::store_wide, nullptr},
    {DType::kU64, Do::load_wide, Do::store_wide, nullptr},
    {DType::kF64, Do::load_wide, Do::store_wide, nullptr},
};
Access access_of(DType dtype) {
    const auto* const found = std::ranges::find(kAccesses, dtype, &Access::dtype);
    return found == std::end(kAccesses) ? Access{dtype, Do::load, Do::store, nullptr} : *found;
}

struct Operation {
    ScalarOp op;
    Execute run;
};
/// Operations on f32.  The smaller and the larger are NaN if one is.
constexpr Operation kFloatOperations[] = {
    {ScalarOp::kAdd, [](const I& i, M& m) { m.r[i.d] = bits_of(m.f(i.a) + m.f(i.b)); }},
    {ScalarOp::kSub, [](const I& i, M& m) { m.r[i.d] = bits_of(m.f(i.a) - m.f(i.b)); }},
    {ScalarOp::kMul, Do::mul_f},
    {ScalarOp::kDiv, [](const I& i, M& m) { m.r[i.d] = bits_of(m.f(i.a) / m.f(i.b)); }},
    {ScalarOp::kNeg, [](const I& i, M& m) { m.r[i.d] = m.r[i.a] ^ 0x80000000u; }},
    {ScalarOp::kAbs, [](const I& i, M& m) { m.r[i.d] = m.r[i.a] & 0x7fffffffu; }},
    {ScalarOp::kMin,
     [](const I& i, M& m) {
         const float a = m.f(i.a), b = m.f(i.b);
         m.r[i.d] = std::isnan(b) || b < a ? m.r[i.b] : m.r[i.a];
     }},
    {ScalarOp::kMax,
     [](const I& i, M& m) {
         const float a = m.f(i.a), b = m.f(i.b);
         m.r[i.d] = std::isnan(b) || b > a ? m.r[i.b] : m.r[i.a];
     }},
    {ScalarOp::kLess, [](const I& i, M& m) { m.r[i.d] = m.f(i.a) < m.f(i.b); }},
    {ScalarOp::kLessEqual, [](const I& i, M& m) { m.r[i.d] = m.f(i.a) <= m.f(i.b); }},
    {ScalarOp::kEqual, [](const I& i, M& m) { m.r[i.d] = m.f(i.a) == m.f(i.b); }},
    {ScalarOp::kNotEqual, [](const I& i, M& m) { m.r[i.d] = m.f(i.a) != m.f(i.b); }},
};
/// Operations on i32, u32 and conditions.
constexpr Operation kWordOperations[] = {
    {ScalarOp::kAdd, Do::add},
    {ScalarOp::kSub, [](const I& i, M& m) { m.r[i.d] = m.r[i.a] - m.r[i.b]; }},
    {ScalarOp::kMul, [](const I& i, M& m) { m.r[i.d] = m.r[i.a] * m.r[i.b]; }},
    {ScalarOp::kBitAnd, Do::bit_and},
    {ScalarOp::kBitOr, Do::bit_or},
    {ScalarOp::kEqual, [](const I& i, M& m) { m.r[i.d] = m.r[i.a] == m.r[i.b]; }},
    {ScalarOp::kNotEqual, Do::not_equal},
    {ScalarOp::kXor, Do::not_equal},
    {ScalarOp::kNot, [](const I& i, M& m) { m.r[i.d] = m.r[i.a] == 0; }},
    {ScalarOp::kToI32, Do::copy},
    {ScalarOp::kToU32, Do::copy},
    {ScalarOp::kBitsToF32, Do::copy},
};
/// Operations on i32 alone.
constexpr Operation kIntegerOperations[] = {
    {ScalarOp::kMin, Do::min_i},
    {ScalarOp::kMax, Do::max_i},
    {ScalarOp::kLess, [](const I& i, M& m) { m.r[i.d] = m.s(i.a) < m.s(i.b); }},
    {ScalarOp::kLessEqual, [](const I& i, M& m) { m.r[i.d] = m.s(i.a) <= m.s(i.b); }},
    {ScalarOp::kDiv, Do::div_i},
    {ScalarOp::kMod, Do::mod_i},
};
/// Null: Do::scalar is to do it.
Execute find_operation(ScalarOp op, ScalarType type) {
    const auto find = [op](std::span<const Operation> rows) -> Execute {
        for (const Operation& row : rows)
            if (row.op == op) return row.run;
        return nullptr;
    };
    if (type == ScalarType::kF32) return find(kFloatOperations);
    if (is_wide(type)) return nullptr;
    const Execute run = type == ScalarType::kI32 ? find(kIntegerOperations) : nullptr;
    return run != nullptr ? run : find(kWordOperations);
}

}  // namespace

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
            emit({.run = Do::leave});
            free_ = most_;  // its registers live while its callers do
        }
        is_main_ = true;
        out_.entry_ = here();
        block(body_.statements);
        emit({});
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
        if (is_fragment(chunk)) fail("fragments");
        if (is_fragment(chunk)) return 1;
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
            emit({.run = Do::mul_constant, .d = scaled, .a = at, .b = size});
            at = scaled;
        }
        if (from.index != kNone) {
            const uint32_t sum = words(1);
            emit({.run = Do::add, .d = sum, .a = from.index, .b = at});
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
            emit({.run = from.is_shared ? Do::read_shared : Do::read,
                  .d = to,
                  .a = from.base,
                  .b = from.index == kNone ? zero_ : from.index,
                  .c = count});
        return to;
    }
    void write(const Place& to, uint32_t from, uint32_t count) {
        if (to.index == kNone && !to.is_shared) return copy(to.base, from, count);
        emit({.run = to.is_shared ? Do::write_shared : Do::write,
              .d = to.base,
              .a = from,
              .b = to.index == kNone ? zero_ : to.index,
              .c = count});
    }
    void copy(uint32_t to, uint32_t from, uint32_t count) {
        if (to != from) emit({.run = Do::copy, .d = to, .a = from, .c = count});
    }

    // ------------------------------------------------------------------------ buffers

    /// `count` neighbours from element `at` on, as what kernels compute with.
    void load(uint64_t buffer, uint32_t at, uint32_t count, uint32_t to) {
        const BodyBuffer& from = body_.buffers[buffer];
        const auto source = static_cast<uint32_t>(buffer);
        const bool is_condition = scalar_type(from.dtype) == ScalarType::kBool;
        if (size_bytes(from.held) == 4 && !is_condition) {
            emit({.run = Do::load, .d = to, .a = source, .b = at, .c = count});
            return;
        }
        const uint32_t size = size_bytes(from.held) == 8 ? 2 : 1;
        for (uint32_t i = 0; i < count; ++i) {
            emit({.run = access_of(from.held).load,
                  .d = to + i * size,
                  .a = source,
                  .b = shifted(at, i),
                  .c = 1});
            if (is_condition) emit({.run = Do::not_equal, .d = to + i, .a = to + i, .b = zero_});
        }
    }
    void store(uint64_t buffer, uint32_t at, uint32_t count, uint32_t from) {
        const BodyBuffer& to = body_.buffers[buffer];
        const auto target = static_cast<uint32_t>(buffer);
        const Execute narrow = to.dtype == to.held ? nullptr : access_of(to.dtype).narrow;
        if (size_bytes(to.held) == 4 && narrow == nullptr) {
            emit({.run = Do::store, .d = target, .a = from, .b = at, .c = count});
            return;
        }
        const uint32_t size = size_bytes(to.held) == 8 ? 2 : 1;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t stored = from + i * size;
            if (narrow != nullptr) {
                stored = words(1);
                emit({.run = narrow,
                      .function = float_function(to.dtype == DType::kF16 ? ScalarOp::kRoundF16
                                                                         : ScalarOp::kRoundBF16),
                      .d = stored,
                      .a = from + i,
                      .b = from + i});
            }
            emit({.run = access_of(to.held).store,
                  .d = target,
                  .a = stored,
                  .b = shifted(at, i),
                  .c = 1});
        }
    }
    uint32_t shifted(uint32_t index, uint32_t by) {
        if (by == 0) return index;
        const uint32_t sum = words(1);
        emit({.run = Do::add_constant, .d = sum, .a = index, .b = by});
        return sum;
    }
    uint32_t scaled(uint32_t index, uint32_t by) {
        const uint32_t product = words(1);
        emit({.run = Do::mul_constant, .d = product, .a = index, .b = by});
        return product;
    }
    static bool are_words(const ExprNode& n) {
        return n.chunk == Chunk::kHalves || (n.chunk == Chunk::kFour && n.type == ScalarType::kU32);
    }
    uint32_t load_chunk(const ExprNode& n, uint32_t first, uint32_t wanted) {
        const uint32_t to = wanted == kNone ? words(words_of(n)) : wanted;
        if (n.chunk == Chunk::kHalves)
            emit({.run = Do::load_halves, .d = to, .a = static_cast<uint32_t>(n.bits), .b = first});
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
                emit({.run = Do::philox,
                      .d = to,
                      .a = constant(n.bits, 2),
                      .b = step,
                      .c = element});
                return to;
            }
            case ExprKind::kClamp: {
                const uint32_t a = value(n.in[0]), least = value(n.in[1]), most = value(n.in[2]);
                const uint32_t raised = words(1), to = result();
                emit({.run = Do::max_i, .d = raised, .a = a, .b = least});
                emit({.run = Do::min_i, .d = to, .a = raised, .b = most});
                return to;
            }
            case ExprKind::kHighProduct:
                return binary(Do::high_product, n, result());
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
                emit({.run = Do::fill, .d = to, .a = a, .c = words_of(n)});
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
                    emit({.run = Do::mul_f, .d = to + i, .a = a + i, .b = factor});
                return to;
            }
            case ExprKind::kMultiplyAdd: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]), c = value(n.in[2]);
                const uint32_t to = result();
                for (uint32_t i = 0; i < words_of(n); ++i)
                    emit({.run = product_sum(), .d = to + i, .a = a + i, .b = b + i, .c = c + i});
                return to;
            }
            case ExprKind::kDot: {
                const uint32_t a = value(n.in[0]), b = value(n.in[1]), sum = words(1);
                copy(sum, zero_, 1);
                for (uint32_t i = 0; i < 4; ++i)
                    emit({.run = product_sum(), .d = sum, .a = a + i, .b = b + i, .c = sum});
                return given(sum);
            }
            case ExprKind::kTwoHalves: {
                const uint32_t word = value(n.in[0]), to = words(2);
                for (uint32_t i = 0; i < 2; ++i)
                    emit({.run = Do::half, .d = to + i, .a = word, .b = i});
                return given(to);
            }
            default:
                fail(std::string("the expression '") + instruction_of(n.kind).name + "'");
                return zero_;
        }
    }
    Execute product_sum() const { return has_fma_ ? Do::fma : Do::product_sum; }

    uint32_t binary(Execute code, const ExprNode& n, uint32_t to) {
        const uint32_t a = value(n.in[0]), b = value(n.in[1]);
        emit({.run = code, .d = to, .a = a, .b = b});
        return to;
    }

    uint32_t along_axis(const ExprNode& n, uint32_t linear) {
        if (body_.across == 0) return linear;
        const uint32_t across = value(body_.across), down = value(body_.down);
        if (n.kind == ExprKind::kWorkgroups && n.bits < 2) return n.bits == 0 ? across : down;
        const uint32_t at = words(1);
        const auto divide = [&](Execute code, uint32_t a, uint32_t b) {
            emit({.run = code, .d = at, .a = a, .b = b});
            return at;
        };
        if (n.bits == 0) return divide(Do::mod_i, linear, across);
        (void)divide(Do::div_i, linear, across);
        return divide(n.bits == 1 ? Do::mod_i : Do::div_i, at, down);
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
        const FloatFunction function = type == ScalarType::kF32 ? float_function(op) : nullptr;
        if (const Execute run = find_operation(op, type); run != nullptr)
            emit({.run = run, .d = to, .a = a, .b = b, .c = 1});
        else if (function != nullptr)
            emit({.run = Do::function, .function = function, .d = to, .a = a, .b = b});
        else
            emit({.run = Do::scalar,
                  .is_wide_a = is_wide(type),
                  .is_wide_b = is_wide_b,
                  .is_wide_result = is_wide_result,
                  .type = type,
                  .op = op,
                  .d = to,
                  .a = a,
                  .b = b});
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
            emit({.run = Do::select, .d = to, .a = condition, .b = yes, .c = no});
            return to;
        }
        if (op != ScalarOp::kSelect && is_at_hand(in[1])) {
            const uint32_t other = value(in[1]), to = wanted == kNone ? words(1) : wanted;
            emit({.run = op == ScalarOp::kAnd ? Do::bit_and : Do::bit_or,
                  .d = to,
                  .a = condition,
                  .b = other});
            return to;
        }
        const uint32_t to = words(count);
        const uint32_t to_no = emit({.run = Do::jump_unless, .b = condition});
        if (op == ScalarOp::kOr)
            copy(to, condition, 1);
        else
            (void)value(in[1], to);
        const uint32_t to_end = emit({.run = Do::jump});
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
        emit({.run = Do::call, .a = functions_[index].entry});
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
        emit({.run = Do::bind, .d = static_cast<uint32_t>(buffer), .a = static_cast<uint32_t>(to)});
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
                    emit({.run = Do::fill, .d = local_at_[s.local], .a = first, .c = l.length});
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
                const uint32_t to_otherwise = emit({.run = Do::jump_unless, .b = value(s.a)});
                block(s.body);
                if (s.otherwise.empty()) {
                    out_.code_[to_otherwise].a = here();
                    return;
                }
                const uint32_t to_end = emit({.run = Do::jump});
                out_.code_[to_otherwise].a = here();
                block(s.otherwise);
                out_.code_[to_end].a = here();
                return;
            }
            case StatementKind::kBlock:
                return block(s.body);
            case StatementKind::kBarrier:
                out_.has_barriers_ = true;
                emit({.is_barrier = true});
                return;
            case StatementKind::kSubgroupBarrier:
                if (body_.subgroup_size != 0) fail("subgroups");
                return;
            case StatementKind::kReturn:
                if (is_main_) {
                    ends_.push_back(emit({.run = Do::jump}));
                    return;
                }
                if (s.a != 0) copy(result_, value(s.a), words_of(node(s.a)));
                emit({.run = Do::leave});
                return;
            case StatementKind::kContinue:
                continues_.push_back(emit({.run = Do::jump}));
                return;
            case StatementKind::kBreak:
                breaks_.push_back(emit({.run = Do::jump}));
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
        const Execute code = has_lanes
                                 ? (has_fma_ ? Do::lanes_fma : Do::lanes_product_sum)
                                 : (has_fma_ ? Do::lanes_factor_fma : Do::lanes_factor_product_sum);
        emit({.run = code,
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
        const uint32_t to_end = emit({.run = Do::jump_unless, .b = value(s.b)});
        std::vector<uint32_t> outer_continues, outer_breaks;
        std::swap(outer_continues, continues_);
        std::swap(outer_breaks, breaks_);
        block(s.body);
        for (const uint32_t at : continues_) out_.code_[at].a = here();
        if (s.c == 0 && type == ScalarType::kI32)
            emit({.run = Do::add_constant,
                  .d = counter,
                  .a = counter,
                  .b = s.op == ScalarOp::kSub ? ~0u : 1u});
        else if (s.c == 0)
            apply(s.op, type, counter, counter, constant(1, is_wide(type) ? 2 : 1), is_wide(type),
                  is_wide(type));
        else
            apply(s.op, type, counter, counter, value(s.c), is_wide(type), is_wide(type));
        emit({.run = Do::jump, .a = start});
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

bool KernelCode::resume(Invocation& invocation, uint32_t* shared) const {
    const KernelInstruction* const code = code_.data();
    Machine machine{invocation.registers.data(), shared, invocation.buffers.data(),
                    invocation.returns,          code,   code + invocation.next};
    for (;;) {
        const KernelInstruction& i = *machine.next++;
        if (i.run != nullptr) {
            i.run(i, machine);
            continue;
        }
        invocation.next = static_cast<uint32_t>(machine.next - code);
        return i.is_barrier;
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
