// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Minimax polynomials: Cephes Mathematical Library (Moshier), single precision, where nothing else is said.  Vulkan lets
// sin and cos be off by 2^-11 and atan by 4096 ulp.

#include "compiler/kernel/decompositions.hpp"

#include "compiler/kernel/function_writer.hpp"

#include <hearth/core/assert.hpp>

#include <initializer_list>
#include <map>
#include <utility>

namespace hearth {

namespace {

constexpr double kPi = 3.14159265358979, kHalfPi = 1.5707963267948966;
constexpr uint32_t kSignBit = 0x80000000u, kInfinityBits = 0x7f800000u, kNanBits = 0x7fc00000u;

struct Decompositions {
    Body body;
    std::map<std::pair<ScalarOp, ScalarType>, uint32_t> by_operation;
    uint32_t exact_division = 0;
};

/// Writes one function: its statements, and short names for what they are made of.
class MathFunction : public FunctionWriter {
  public:
    MathFunction(Decompositions& all, ScalarArena& arena, std::string name)
        : FunctionWriter(all.body, arena, {}, std::move(name)), all_(all), b_(all.body) {}

    Expr f32(double value) { return b_.constant(value, ScalarType::kF32); }
    Expr u32(uint32_t value) { return b_.constant(value, ScalarType::kU32); }
    Expr let(std::string name, Expr value) { return writer.let(std::move(name), value); }
    Expr apply(ScalarOp op, Expr a) { return b_.operation(op, a); }
    Expr abs(Expr a) { return apply(ScalarOp::kAbs, a); }
    Expr negative(Expr a) { return apply(ScalarOp::kNeg, a); }
    Expr is_nan(Expr a) { return apply(ScalarOp::kIsNan, a); }
    Expr bits(Expr a) { return apply(ScalarOp::kBitsToU32, a); }
    Expr number_of(Expr bits) { return apply(ScalarOp::kBitsToF32, bits); }
    Expr infinity() { return number_of(u32(kInfinityBits)); }
    Expr fma(Expr a, Expr b, Expr c) { return b_.multiply_add(a, b, c); }
    Expr shift_left(Expr a, Expr by) { return b_.operation(ScalarOp::kShiftLeft, a, by); }
    Expr shift_right(Expr a, Expr by) { return b_.operation(ScalarOp::kShiftRight, a, by); }
    Expr bit_and(Expr a, Expr b) { return b_.operation(ScalarOp::kBitAnd, a, b); }
    Expr bit_or(Expr a, Expr b) { return b_.operation(ScalarOp::kBitOr, a, b); }

    /// The last coefficient is the constant one.
    Expr polynomial(Expr x, std::initializer_list<double> coefficients) {
        Expr sum;
        for (const double c : coefficients) sum = sum ? fma(sum, x, f32(c)) : f32(c);
        return sum;
    }
    /// -magnitude where `of` is below zero.
    Expr with_sign_of(Expr of, Expr magnitude) {
        return select(of < f32(0), negative(magnitude), magnitude);
    }
    Expr call(const char* function, std::initializer_list<Expr> arguments) {
        uint32_t index = 0;
        const bool is_known = b_.find_function(function, &index) != nullptr;
        HEARTH_ASSERT(is_known);
        return b_.call(index, {arguments.begin(), arguments.size()});
    }
    /// return value if the condition holds
    void leave_if(Expr condition, Expr value) {
        writer.if_(condition);
        writer.leave(value);
        writer.end();
    }
    uint32_t finish_as(ScalarOp op, ScalarType type, Expr result) {
        const uint32_t index = finish_with(result);
        all_.by_operation.emplace(std::pair(op, type), index);
        return index;
    }

  private:
    Decompositions& all_;
    Body& b_;
};

class DecompositionsWriter {
  public:
    Decompositions run() {
        trigonometric();
        inverse_trigonometric();
        hyperbolic();
        inverse_hyperbolic();
        erf();
        fmod();
        pow();
        integer_power(ScalarType::kI32);
        integer_power(ScalarType::kU64);
        integer_power(ScalarType::kI64);
        saturating(ScalarOp::kToI32, ScalarType::kI32, -0x1p31, 0x1p31, 0x80000000u, 0x7fffffffu);
        saturating(ScalarOp::kToU32, ScalarType::kU32, 0, 0x1p32, 0, 0xffffffffu);
        saturating(ScalarOp::kToI64, ScalarType::kI64, -0x1p63, 0x1p63, 1ull << 63, ~0ull >> 1);
        saturating(ScalarOp::kToU64, ScalarType::kU64, 0, 0x1p64, 0, ~0ull);
        rounding();
        division();
        return std::move(all_);
    }

  private:
    MathFunction begin(const char* name) { return {all_, arena_, name}; }

    // ---------------------------------------------------------------------- trigonometry

    /// Word `index` (below 8) of a word of zeros and then 2 / pi after the binary point.
    void two_over_pi() {
        MathFunction f = begin("hearth_two_over_pi");
        const Expr index = f.add_parameter("index", ScalarType::kU32);
        constexpr uint32_t kWords[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
        const Expr is_odd = f.let("is_odd", f.bit_and(index, f.u32(1)) != f.u32(0));
        const auto pair = [&](size_t i) {
            return select(is_odd, f.u32(kWords[i + 1]), f.u32(kWords[i]));
        };
        f.finish_with(select(index < f.u32(4), select(index < f.u32(2), pair(0), pair(2)),
                             select(index < f.u32(6), pair(4), pair(6))));
    }

    /// As hearth_reduce for any finite x beyond 2^-7: x times the bits of 2 / pi that matter to the product modulo 4
    /// (Payne and Hanek, "Radian reduction for trigonometric functions", 1983).
    void reduce_far() {
        MathFunction f = begin("hearth_reduce_far");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr quadrant = f.add_result("quadrant", ScalarType::kI32);
        const Expr bits = f.let("bits", f.bits(f.abs(x)));
        const Expr mantissa =
            f.let("mantissa", f.bit_or(f.bit_and(bits, f.u32(0x7fffffu)), f.u32(0x800000u)));
        // Of the product's bits, those from the place of 2 on: 96 bits of 2 / pi make 94 after the point.
        const Expr start = f.let("start", f.shift_right(bits, f.u32(23)) - f.u32(120));
        const Expr word = f.let("word", f.shift_right(start, f.u32(5)));
        const Expr shift = f.let("shift", f.bit_and(start, f.u32(31)));
        // The product, least word first, in a loop: few come here, and all have the code.
        const auto two_over_pi = [&](Expr i) { return f.call("hearth_two_over_pi", {i}); };
        const Expr rest = f.let("rest", f.bit_and(f.u32(32) - shift, f.u32(31)));
        const Expr behind =
            f.writer.declare("behind", ScalarType::kU32, two_over_pi(word + f.u32(3)));
        const Expr carry = f.writer.declare("carry", ScalarType::kU32, f.u32(0));
        const Expr low = f.writer.declare("low", ScalarType::kU32, f.u32(0));
        const Expr middle = f.writer.declare("middle", ScalarType::kU32, f.u32(0));
        const Expr high = f.writer.declare("high", ScalarType::kU32, f.u32(0));
        f.writer.keep_rolled();
        const Expr turn_number = f.writer.unrolled_for_("i", 3);
        const Expr here =
            f.let("here", two_over_pi(word + f.u32(2) - f.apply(ScalarOp::kToU32, turn_number)));
        const Expr next = select(shift == f.u32(0), f.u32(0), f.shift_right(behind, rest));
        const Expr bits_of_quotient =
            f.let("bits_of_quotient", f.bit_or(f.shift_left(here, shift), next));
        const Expr product = f.let("product", mantissa * bits_of_quotient);
        f.writer.assign(low, middle);
        f.writer.assign(middle, high);
        f.writer.assign(high, product + carry);
        f.writer.assign(carry, all_.body.high_product(mantissa, bits_of_quotient) +
                                   select(high < product, f.u32(1), f.u32(0)));
        f.writer.assign(behind, here);
        f.writer.end();
        // 64 bits after the point, as a number in [-1/2, 1/2).
        const Expr a =
            f.let("a", f.bit_or(f.shift_left(high, f.u32(2)), f.shift_right(middle, f.u32(30))));
        const Expr b =
            f.let("b", f.bit_or(f.shift_left(middle, f.u32(2)), f.shift_right(low, f.u32(30))));
        const Expr is_above = f.let("is_above", a >= f.u32(kSignBit));
        const Expr b_turned = f.let("b_turned", f.apply(ScalarOp::kBitNot, b) + f.u32(1));
        const Expr a_turned =
            f.apply(ScalarOp::kBitNot, a) + select(b_turned == f.u32(0), f.u32(1), f.u32(0));
        const auto to_float = [&](Expr of) { return f.apply(ScalarOp::kToF32, of); };
        const Expr turn =
            f.let("turn", to_float(select(is_above, a_turned, a)) * f.f32(0x1p-32) +
                              to_float(select(is_above, b_turned, b)) * f.f32(0x1p-64));
        const Expr r = f.let("r", select(is_above, f.negative(turn), turn) * f.f32(kHalfPi));
        const Expr q = f.let("q", f.apply(ScalarOp::kToI32, f.shift_right(high, f.u32(30))) +
                                      select(is_above, index(1), index(0)));
        f.writer.assign(quadrant, select(x < f.f32(0), f.negative(q), q) & 3);
        f.finish_with(f.with_sign_of(x, r));
    }

    /// x reduced to [-pi/4, pi/4] and the quadrant, with pi/2 in three parts (Cody and Waite), whose products with j are
    /// exact up to here.
    void reduce() {
        MathFunction f = begin("hearth_reduce");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr quadrant = f.add_result("quadrant", ScalarType::kI32);
        f.writer.if_(logical_and(f.abs(x) > f.f32(8192),
                                 f.apply(ScalarOp::kNot, f.apply(ScalarOp::kIsInf, x))));
        const Expr far = f.writer.declare("far", ScalarType::kI32);
        const Expr arguments[] = {x, far};
        uint32_t function = 0;
        all_.body.find_function("hearth_reduce_far", &function);
        const Expr r = f.writer.let_call("r", function, arguments);
        f.writer.assign(quadrant, far);
        f.writer.leave(r);
        f.writer.end();
        const Expr j = f.let("j", f.apply(ScalarOp::kRound, x * f.f32(0.636619772367581343)));
        // Infinities come by here, too.
        const Expr is_near = all_.body.operation(ScalarOp::kLessEqual, f.abs(x), f.f32(8192));
        f.writer.assign(quadrant, fitting_int(select(is_near, j, f.f32(0))) & 3);
        const Expr first = f.let("first", x - j * f.f32(1.5703125));
        const Expr second = f.let("second", first - j * f.f32(4.837512969970703125e-4));
        f.finish_with(second - j * f.f32(7.549789948768648e-8));
    }

    /// A float that fits, as an integer.
    Expr fitting_int(Expr x) {
        return all_.body.add({.kind = ExprKind::kFitting,
                              .type = ScalarType::kI32,
                              .op = ScalarOp::kToI32,
                              .in = {x.id, 0, 0}});
    }
    Expr index(int64_t value) { return all_.body.index(value); }

    void trigonometric() {
        two_over_pi();
        reduce_far();
        reduce();
        {
            MathFunction f = begin("hearth_sin_kernel");
            const Expr r = f.add_parameter("r", ScalarType::kF32);
            const Expr z = f.let("z", r * r);
            const Expr p = f.polynomial(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
            f.finish_with(f.fma(p * z, r, r));
        }
        {
            MathFunction f = begin("hearth_cos_kernel");
            const Expr r = f.add_parameter("r", ScalarType::kF32);
            const Expr z = f.let("z", r * r);
            const Expr p = f.polynomial(
                z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
            f.finish_with(f.fma(p * z, z, f.fma(f.f32(-0.5), z, f.f32(1))));
        }
        for (const bool is_sine : {true, false}) {
            MathFunction f = begin(is_sine ? "hearth_sin" : "hearth_cos");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr q = f.writer.declare("q", ScalarType::kI32);
            uint32_t reduce = 0;
            all_.body.find_function("hearth_reduce", &reduce);
            const Expr arguments[] = {x, q};
            const Expr r = f.writer.let_call("r", reduce, arguments);
            const Expr sine = f.let("sine", f.call("hearth_sin_kernel", {r}));
            const Expr cosine = f.let("cosine", f.call("hearth_cos_kernel", {r}));
            const Expr is_even = (q & 1) == 0;
            const Expr y =
                f.let("y", is_sine ? select(is_even, sine, cosine) : select(is_even, cosine, sine));
            const Expr is_negative = is_sine ? (q & 2) != index(0) : logical_or(q == 1, q == 2);
            f.finish_as(is_sine ? ScalarOp::kSin : ScalarOp::kCos, ScalarType::kF32,
                        select(is_negative, f.negative(y), y));
        }
        MathFunction f = begin("hearth_tan");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        f.finish_as(ScalarOp::kTan, ScalarType::kF32,
                    f.call("hearth_sin", {x}) / f.call("hearth_cos", {x}));
    }

    void inverse_trigonometric() {
        atan();
        atan2();
        {
            MathFunction f = begin("hearth_asin");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr a = f.let("a", f.abs(x));
            const Expr is_far = f.let("is_far", a > f.f32(0.5));
            const Expr z = f.let("z", select(is_far, f.f32(0.5) * (f.f32(1) - a), a * a));
            const Expr s = f.let("s", select(is_far, f.apply(ScalarOp::kSqrt, z), a));
            const Expr p = f.polynomial(z, {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2,
                                            7.4953002686e-2, 1.6666752422e-1});
            const Expr near = f.let("near", f.fma(p * z, s, s));
            const Expr y = f.let("y", select(is_far, f.f32(kHalfPi) - f.f32(2) * near, near));
            f.finish_as(ScalarOp::kAsin, ScalarType::kF32, f.with_sign_of(x, y));
        }
        MathFunction f = begin("hearth_acos");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const auto from_half = [&](Expr distance) {
            return f.f32(2) *
                   f.call("hearth_asin", {f.apply(ScalarOp::kSqrt, f.f32(0.5) * distance)});
        };
        f.leave_if(x > f.f32(0.5), from_half(f.f32(1) - x));
        f.leave_if(x < f.f32(-0.5), f.f32(kPi) - from_half(f.f32(1) + x));
        f.finish_as(ScalarOp::kAcos, ScalarType::kF32, f.f32(kHalfPi) - f.call("hearth_asin", {x}));
    }

    void atan() {
        MathFunction f = begin("hearth_atan");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr a = f.writer.declare("a", ScalarType::kF32, f.abs(x));
        const Expr base = f.writer.declare("base", ScalarType::kF32, f.f32(0));
        f.writer.if_(a > f.f32(2.414213562373095));
        f.writer.assign(base, f.f32(kHalfPi));
        f.writer.assign(a, f.f32(-1) / a);
        f.writer.end();
        f.writer.else_();
        f.writer.if_(a > f.f32(0.4142135623730950));
        f.writer.assign(base, f.f32(0.7853981633974483));
        f.writer.assign(a, (a - f.f32(1)) / (a + f.f32(1)));
        f.writer.end();
        f.writer.end();
        const Expr z = f.let("z", a * a);
        const Expr p = f.polynomial(
            z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
        const Expr y = f.let("y", base + f.fma(p * z, a, a));
        f.finish_as(ScalarOp::kAtan, ScalarType::kF32,
                    select(f.is_nan(x), x, f.with_sign_of(x, y)));
    }

    void atan2() {
        MathFunction f = begin("hearth_atan2");
        const Expr y = f.add_parameter("y", ScalarType::kF32);
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const auto has_sign = [&](Expr of) { return f.bits(of) >= f.u32(kSignBit); };
        const auto is_infinite = [&](Expr of) { return f.apply(ScalarOp::kIsInf, of); };
        const Expr zero = f.f32(0);
        f.leave_if(logical_and(x == zero, y == zero),
                   select(has_sign(x), select(has_sign(y), f.f32(-kPi), f.f32(kPi)), y));
        f.writer.if_(logical_and(is_infinite(x), is_infinite(y)));
        const Expr corner = f.let("corner", select(x > zero, f.f32(0.25 * kPi), f.f32(0.75 * kPi)));
        f.writer.leave(f.with_sign_of(y, corner));
        f.writer.end();
        f.leave_if(x == zero, select(y > zero, f.f32(0.5 * kPi), f.f32(-0.5 * kPi)));
        const Expr a = f.let("a", f.call("hearth_atan", {y / x}));
        f.finish_as(ScalarOp::kAtan2, ScalarType::kF32,
                    select(x > zero, a, select(has_sign(y), a - f.f32(kPi), a + f.f32(kPi))));
    }

    // ---------------------------------------------------------------------- exponentials

    void hyperbolic() {
        {
            MathFunction f = begin("hearth_tanh");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr a = f.let("a", f.abs(x));
            f.writer.if_(a < f.f32(0.625));
            const Expr z = f.let("z", x * x);
            const Expr p = f.polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                                            1.33314422036e-1, -3.33332819422e-1});
            f.writer.leave(f.fma(p * z, x, x));
            f.writer.end();
            // exp overflows beyond 88; tanh is 1 to the last bit from 9 on.
            const Expr bounded = select(a < f.f32(20), a, f.f32(20));
            const Expr e = f.apply(ScalarOp::kExp, f.f32(2) * bounded);
            const Expr y = f.let("y", f.f32(1) - f.f32(2) / (e + f.f32(1)));
            f.finish_as(ScalarOp::kTanh, ScalarType::kF32,
                        select(f.is_nan(x), x, f.with_sign_of(x, y)));
        }
        {
            MathFunction f = begin("hearth_sinh");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr a = f.let("a", f.abs(x));
            f.writer.if_(a < f.f32(1));
            const Expr z = f.let("z", x * x);
            const Expr p = f.polynomial(z, {2.03721912945e-4, 8.33028376239e-3, 1.66667160211e-1});
            f.writer.leave(f.fma(p * z, x, x));
            f.writer.end();
            const auto [grown, shrunk] = halves_of_exponentials(f, a);
            const Expr y = f.let("y", grown - shrunk);
            f.finish_as(ScalarOp::kSinh, ScalarType::kF32, f.with_sign_of(x, y));
        }
        MathFunction f = begin("hearth_cosh");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const auto [grown, shrunk] = halves_of_exponentials(f, f.abs(x));
        f.finish_as(ScalarOp::kCosh, ScalarType::kF32, grown + shrunk);
    }

    /// exp(a) / 2 and exp(-a) / 2; the first as a product, so that it overflows no earlier than the result does.
    std::pair<Expr, Expr> halves_of_exponentials(MathFunction& f, Expr a) {
        const Expr h = f.let("h", f.apply(ScalarOp::kExp, f.f32(0.5) * a));
        return {f.f32(0.5) * h * h, f.f32(0.5) / (h * h)};
    }

    void inverse_hyperbolic() {
        {
            // log(1 + x) without losing small x (Kahan's correction).
            MathFunction f = begin("hearth_log1p");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr u = f.let("u", f.f32(1) + x);
            const Expr d = f.let("d", u - f.f32(1));
            f.finish_with(select(d == f.f32(0), x, f.apply(ScalarOp::kLog, u) * (x / d)));
        }
        constexpr double kLn2 = 0.6931471805599453;
        {
            MathFunction f = begin("hearth_asinh");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr a = f.let("a", f.abs(x));
            const Expr root = f.apply(ScalarOp::kSqrt, f.f32(1) + a * a);
            const Expr near =
                f.let("near", f.call("hearth_log1p", {a + a * a / (f.f32(1) + root)}));
            const Expr y = f.let(
                "y", select(a > f.f32(1.0e4), f.apply(ScalarOp::kLog, a) + f.f32(kLn2), near));
            f.finish_as(ScalarOp::kAsinh, ScalarType::kF32, f.with_sign_of(x, y));
        }
        {
            MathFunction f = begin("hearth_acosh");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            f.leave_if(x > f.f32(1.0e4), f.apply(ScalarOp::kLog, x) + f.f32(kLn2));
            const Expr t = f.let("t", x - f.f32(1));
            const Expr root = f.apply(ScalarOp::kSqrt, f.f32(2) * t + t * t);
            const Expr y = f.let("y", f.call("hearth_log1p", {t + root}));
            f.finish_as(ScalarOp::kAcosh, ScalarType::kF32,
                        select(t < f.f32(0), f.number_of(f.u32(kNanBits)), y));
        }
        MathFunction f = begin("hearth_atanh");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr a = f.let("a", f.abs(x));
        const Expr inside =
            f.let("inside", f.f32(0.5) * f.call("hearth_log1p", {f.f32(2) * a / (f.f32(1) - a)}));
        const Expr y = f.let("y", select(a == f.f32(1), f.infinity(), inside));
        f.finish_as(ScalarOp::kAtanh, ScalarType::kF32, f.with_sign_of(x, y));
    }

    /// Below 0.95 x + x P(x^2), beyond 1 - exp(Q(|x|)): P and Q interpolate at Chebyshev's nodes and are within 2.3e-8 of
    /// x and of the exponent.  Both are computed: less than a branch costs.
    void erf() {
        MathFunction f = begin("hearth_erf");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr s = f.let("s", x * x);
        const Expr p = f.polynomial(s, {-0.0005876505632, 0.004970797457, -0.02675150035,
                                        0.112814073, -0.3761245598, 0.1283791442});
        const Expr near = f.let("near", f.fma(p, x, x));
        const Expr a = f.let("a", f.abs(x));
        // From here on it is 1 to the last bit.
        const Expr z = f.let("z", select(a < f.f32(3.95), a, f.f32(3.95)));
        constexpr double kLn2 = 0.6931471805599453;
        const Expr q =
            f.polynomial(z, {kLn2 * 2.396850269e-6, kLn2 * -6.710616827e-5, kLn2 * 0.0008662784073,
                             kLn2 * -0.006889976979, kLn2 * 0.03817995428, kLn2 * -0.1589144875,
                             kLn2 * -0.9114312112, kLn2 * -1.63063669, kLn2 * 0.000474136794});
        const Expr far = f.let("far", f.f32(1) - f.apply(ScalarOp::kExp, q));
        f.finish_as(ScalarOp::kErf, ScalarType::kF32,
                    select(a > f.f32(0.95), f.with_sign_of(x, far), near));
    }

    // ---------------------------------------------------------------------- remainders and powers

    /// C's remainder, exact: the sign is the dividend's.  A quotient from a GPU's division may be a unit off, and that of
    /// two whole numbers then gives b instead of 0; so the fractions are divided as integers, eight bits at a time.
    void fmod() {
        MathFunction f = begin("hearth_fmod");
        const Expr a = f.add_parameter("a", ScalarType::kF32);
        const Expr b = f.add_parameter("b", ScalarType::kF32);
        const auto magnitude = [&](Expr of) { return f.bit_and(f.bits(of), f.u32(~kSignBit)); };
        const auto exponent_of = [&](Expr bits) { return f.shift_right(bits, f.u32(23)); };
        // a = fraction * 2^(exponent - 150); below 1 as it is, without the leading bit.
        const auto fraction_of = [&](Expr bits) {
            const Expr leading = select(exponent_of(bits) != f.u32(0), f.u32(0x800000u), f.u32(0));
            return f.bit_or(f.bit_and(bits, f.u32(0x7fffffu)), leading);
        };
        const auto at_least_one = [&](Expr exponent) {
            return select(exponent > f.u32(1), exponent, f.u32(1));
        };
        const Expr x = f.let("x", magnitude(a)), y = f.let("y", magnitude(b));
        f.leave_if(logical_or(x >= f.u32(kInfinityBits),
                              logical_or(y > f.u32(kInfinityBits), y == f.u32(0))),
                   f.number_of(f.u32(kNanBits)));
        f.leave_if(x < y, a);
        const Expr exponent_x = f.let("exponent_x", at_least_one(exponent_of(x)));
        const Expr exponent_y = f.let("exponent_y", at_least_one(exponent_of(y)));
        const Expr fraction_y = f.let("fraction_y", fraction_of(y));
        const Expr rest = f.writer.declare("rest", ScalarType::kU32, fraction_of(x) % fraction_y);
        const Expr left = f.let("left", exponent_x - exponent_y);
        const Expr at = f.writer.for_(
            "at", f.u32(0), [&](Expr i) { return logical_and(i<left, rest> f.u32(0)); }, f.u32(8));
        f.writer.assign(rest, f.shift_left(rest, lesser(left - at, f.u32(8))) % fraction_y);
        f.writer.end();
        const Expr sign = f.let("sign", f.bit_and(f.bits(a), f.u32(kSignBit)));
        f.leave_if(rest == f.u32(0), f.number_of(sign));
        // The position of the leading bit is the exponent of the fraction as a float.
        const Expr leading = exponent_of(f.bits(f.apply(ScalarOp::kToF32, rest))) - f.u32(127);
        const Expr shift = f.let("shift", lesser(f.u32(23) - leading, exponent_y - f.u32(1)));
        const Expr shifted = f.let("shifted", f.shift_left(rest, shift));
        const Expr exponent =
            select(f.bit_and(shifted, f.u32(0x800000u)) != f.u32(0), exponent_y - shift, f.u32(0));
        const Expr bits = f.bit_or(f.bit_or(sign, f.shift_left(exponent, f.u32(23))),
                                   f.bit_and(shifted, f.u32(0x7fffffu)));
        f.finish_as(ScalarOp::kMod, ScalarType::kF32, f.number_of(bits));
    }

    /// The power of a positive base is the target's own; targets leave it undefined for a negative base and 0 to the 0.
    void pow() {
        MathFunction f = begin("hearth_pow");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr y = f.add_parameter("y", ScalarType::kF32);
        const Expr zero = f.f32(0), one = f.f32(1);
        const auto floor = [&](Expr of) { return f.apply(ScalarOp::kFloor, of); };
        const auto is_odd = [&](Expr of) { return of - f.f32(2) * floor(of * f.f32(0.5)) == one; };
        f.leave_if(logical_or(y == zero, x == one), one);
        f.leave_if(y == f.f32(2), x * x);
        f.leave_if(y == one, x);
        f.writer.if_(x == zero);
        const Expr odd = f.let("odd", is_odd(y));
        f.leave_if(y > zero, select(odd, x, zero));
        f.leave_if(f.is_nan(y), y);
        f.writer.leave(select(logical_and(odd, f.bits(x) >= f.u32(kSignBit)),
                              f.negative(f.infinity()), f.infinity()));
        f.writer.end();
        const Expr p = f.let("p", all_.body.add({.kind = ExprKind::kFitting,
                                                 .type = ScalarType::kF32,
                                                 .op = ScalarOp::kPow,
                                                 .in = {f.abs(x).id, y.id, 0}}));
        f.leave_if(x > zero, p);
        f.leave_if(logical_or(f.is_nan(x), f.is_nan(y)), x + y);
        const Expr is_infinite =
            logical_or(f.apply(ScalarOp::kIsInf, x), f.apply(ScalarOp::kIsInf, y));
        f.leave_if(logical_and(floor(y) != y, f.apply(ScalarOp::kNot, is_infinite)),
                   f.number_of(f.u32(kNanBits)));
        f.finish_as(ScalarOp::kPow, ScalarType::kF32, select(is_odd(f.abs(y)), f.negative(p), p));
    }

    /// By squaring; to a negative power 1, -1 or 0.
    void integer_power(ScalarType type) {
        const char* name = type == ScalarType::kI32   ? "hearth_ipow"
                           : type == ScalarType::kI64 ? "hearth_ipow64"
                                                      : "hearth_upow64";
        MathFunction f = begin(name);
        const Expr x = f.add_parameter("x", type);
        const Expr y = f.add_parameter("y", type);
        const auto number = [&](double value) { return all_.body.constant(value, type); };
        const Expr one = number(1), zero = number(0);
        const auto is_odd = [&](Expr of) { return f.bit_and(of, one) != zero; };
        if (!is_unsigned(type)) {
            const Expr sign = select(is_odd(y), number(-1), one);
            f.leave_if(y < zero, select(x == one, one, select(x == number(-1), sign, zero)));
        }
        const Expr result = f.writer.declare("result", type, one);
        const Expr square = f.writer.declare("square", type, x);
        const Expr left = f.writer.for_(
            "left", y, [&](Expr i) { return i > zero; }, number(2), ScalarOp::kDiv);
        f.writer.if_(is_odd(left));
        f.writer.assign(result, result * square);
        f.writer.end();
        f.writer.assign(square, square * square);
        f.writer.end();
        f.finish_as(ScalarOp::kPow, type, result);
    }

    // ---------------------------------------------------------------------- conversions

    /// A float without its fraction; what the type does not hold becomes its nearest number, NaN zero.
    void saturating(ScalarOp op, ScalarType type, double least, double beyond, uint64_t least_bits,
                    uint64_t most_bits) {
        const std::string names[] = {"hearth_to_int", "hearth_to_uint", "hearth_to_int64",
                                     "hearth_to_uint64"};
        const bool is_signed = !is_unsigned(type);
        MathFunction f = begin(names[(is_wide(type) ? 2 : 0) + (is_signed ? 0 : 1)].c_str());
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const auto constant = [&](uint64_t bits) {
            return all_.body.add({.kind = ExprKind::kConstant, .type = type, .bits = bits});
        };
        const Expr fitting =
            all_.body.add({.kind = ExprKind::kFitting, .type = type, .op = op, .in = {x.id, 0, 0}});
        const Expr below =
            is_signed ? select(f.is_nan(x), constant(0), constant(least_bits)) : constant(0);
        f.finish_as(op, ScalarType::kF32,
                    select(x >= f.f32(beyond), constant(most_bits),
                           select(x > f.f32(least), fitting, below)));
    }

    void rounding() {
        {
            MathFunction f = begin("hearth_round_f16");
            const Expr x = f.add_parameter("x", ScalarType::kF32);
            const Expr bits = f.let("bits", f.bits(x));
            const Expr magnitude = f.let("magnitude", f.bit_and(bits, f.u32(~kSignBit)));
            const Expr odd = f.bit_and(f.shift_right(magnitude, f.u32(13)), f.u32(1));
            const Expr rounded =
                f.let("rounded", f.bit_and(magnitude + f.u32(0xfff) + odd, f.u32(~0x1fffu)));
            // Beyond 65504 it is infinite.
            const Expr bounded =
                select(rounded > f.u32(0x477fe000u), f.u32(kInfinityBits), rounded);
            const Expr normal = f.number_of(f.bit_or(bounded, f.bit_and(bits, f.u32(kSignBit))));
            // Below 2^-14 f16 has steps of 2^-24.
            const Expr small = f.apply(ScalarOp::kRound, x * f.f32(0x1p24)) * f.f32(0x1p-24);
            f.leave_if(magnitude >= f.u32(kInfinityBits), x);
            f.finish_as(ScalarOp::kRoundF16, ScalarType::kF32,
                        select(magnitude < f.u32(0x38800000u), small, normal));
        }
        MathFunction f = begin("hearth_round_bf16");
        const Expr x = f.add_parameter("x", ScalarType::kF32);
        const Expr bits = f.let("bits", f.bits(x));
        const Expr odd = f.bit_and(f.shift_right(bits, f.u32(16)), f.u32(1));
        const Expr rounded =
            select(f.is_nan(x), f.bit_or(bits, f.u32(0x400000u)), bits + f.u32(0x7fff) + odd);
        f.finish_as(ScalarOp::kRoundBF16, ScalarType::kF32,
                    f.number_of(f.bit_and(rounded, f.u32(0xffff0000u))));
    }

    /// Vulkan lets division be 2.5 units in the last place off; what is left of a, divided again, mends that (Markstein,
    /// "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
    void division() {
        MathFunction f = begin("hearth_divide");
        const Expr a = f.add_parameter("a", ScalarType::kF32);
        const Expr b = f.add_parameter("b", ScalarType::kF32);
        const Expr quotient = f.let("quotient", a / b);
        const Expr rest = f.let("rest", f.fma(f.negative(quotient), b, a));
        // Zeros, infinities and NaN come out of the plain division as they should.
        const Expr is_inexact =
            logical_and(rest != f.f32(0),
                        all_.body.operation(ScalarOp::kLessEqual, f.abs(rest), f.f32(3.0e38)));
        all_.exact_division = f.finish_with(select(is_inexact, quotient + rest / b, quotient));
    }

    Decompositions all_;
    ScalarArena arena_;
};

const Decompositions& all() {
    static const Decompositions made = DecompositionsWriter().run();
    return made;
}

}  // namespace

const Body& decompositions() {
    return all().body;
}

std::optional<uint32_t> find_decomposition(ScalarOp op, ScalarType operand) {
    const auto found = all().by_operation.find({op, operand});
    return found == all().by_operation.end() ? std::nullopt : std::optional(found->second);
}

bool is_library_function(ScalarOp op, ScalarType operand) {
    const bool is_choice = op == ScalarOp::kSign || op == ScalarOp::kMin || op == ScalarOp::kMax;
    return find_decomposition(op, operand).has_value() || (is_choice && is_floating(operand));
}

uint32_t exact_division() {
    return all().exact_division;
}

}  // namespace hearth
