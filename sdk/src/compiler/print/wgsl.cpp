// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/wgsl.hpp"

#include "compiler/ir/scalar_operands.hpp"
#include "compiler/ir/scalar_operation.hpp"
#include "compiler/print/c_like.hpp"
#include "compiler/print/literals.hpp"

#include <hearth/core/assert.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hearth {

namespace {

/// What WGSL lacks, or leaves to the driver; as shaders/common/math.glsl.
constexpr std::string_view kPrelude = R"(
struct Run { rows: i32, workgroups: i32 }
@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
@group(0) @binding(1) var<uniform> run: Run;

fn hearth_of_bits(bits: u32) -> f32 { return bitcast<f32>(bits); }
fn hearth_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }
fn hearth_is_inf(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }
fn hearth_min(a: f32, b: f32) -> f32 { return select(b, a, hearth_is_nan(a) || a < b); }
fn hearth_max(a: f32, b: f32) -> f32 { return select(b, a, hearth_is_nan(a) || a > b); }
fn hearth_div_i32(a: i32, b: i32) -> i32 { return select(a / select(b, 1, b == 0), 0, b == 0); }
fn hearth_mod_i32(a: i32, b: i32) -> i32 { return select(a % select(b, 1, b == 0), 0, b == 0); }
fn hearth_div_u32(a: u32, b: u32) -> u32 { return select(a / max(b, 1u), 0u, b == 0u); }
fn hearth_mod_u32(a: u32, b: u32) -> u32 { return select(a % max(b, 1u), 0u, b == 0u); }
fn hearth_shl_i32(a: i32, b: i32) -> i32 { return select(0, a << (u32(b) & 31u), b >= 0 && b < 32); }
fn hearth_shr_i32(a: i32, b: i32) -> i32 { return select(0, a >> (u32(b) & 31u), b >= 0 && b < 32); }
fn hearth_shl_u32(a: u32, b: u32) -> u32 { return select(0u, a << (b & 31u), b < 32u); }
fn hearth_shr_u32(a: u32, b: u32) -> u32 { return select(0u, a >> (b & 31u), b < 32u); }

fn hearth_fmod(a: f32, b: f32) -> f32 {
    let x = bitcast<u32>(a) & 0x7fffffffu;
    let y = bitcast<u32>(b) & 0x7fffffffu;
    if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u) { return hearth_of_bits(0x7fc00000u); }
    if (x < y) { return a; }
    let exponent_y = max(y >> 23u, 1u);
    let fraction_y = (y & 0x7fffffu) | select(0u, 0x800000u, (y >> 23u) != 0u);
    var rest = ((x & 0x7fffffu) | select(0u, 0x800000u, (x >> 23u) != 0u)) % fraction_y;
    var left = max(x >> 23u, 1u) - exponent_y;
    while (left > 0u && rest > 0u) {
        let bits = min(left, 8u);
        rest = (rest << bits) % fraction_y;
        left -= bits;
    }
    let sign_bit = bitcast<u32>(a) & 0x80000000u;
    if (rest == 0u) { return hearth_of_bits(sign_bit); }
    let shift = min(23u - firstLeadingBit(rest), exponent_y - 1u);
    rest <<= shift;
    let exponent = select(0u, exponent_y - shift, (rest & 0x800000u) != 0u);
    return hearth_of_bits(sign_bit | (exponent << 23u) | (rest & 0x7fffffu));
}
fn hearth_tanh(x: f32) -> f32 {
    let a = abs(x);
    if (a < 0.625f) {
        let z = x * x;
        return ((((-5.70498872745e-3f * z + 2.06390887954e-2f) * z - 5.37397155531e-2f) * z +
                 1.33314422036e-1f) * z - 3.33332819422e-1f) * z * x + x;
    }
    let y = 1.0f - 2.0f / (exp(2.0f * min(a, 20.0f)) + 1.0f);
    return select(select(y, -y, x < 0.0f), x, hearth_is_nan(x));
}
fn hearth_erf(x: f32) -> f32 {
    let s = x * x;
    let near = x + x * (0.1283791442f + s * (-0.3761245598f + s * (0.112814073f +
               s * (-0.02675150035f + s * (0.004970797457f + s * -0.0005876505632f)))));
    let z = min(abs(x), 3.95f);
    let q = 0.000474136794f + z * (-1.63063669f + z * (-0.9114312112f + z * (-0.1589144875f +
            z * (0.03817995428f + z * (-0.006889976979f + z * (0.0008662784073f +
            z * (-6.710616827e-5f + z * 2.396850269e-6f)))))));
    let far = 1.0f - exp2(q);
    return select(near, select(far, -far, x < 0.0f), abs(x) > 0.95f);
}
fn hearth_pow(x: f32, y: f32) -> f32 {
    if (y == 0.0f || x == 1.0f) { return 1.0f; }
    if (y == 2.0f) { return x * x; }
    if (y == 1.0f) { return x; }
    let is_odd = abs(y) % 2.0f == 1.0f;
    if (x == 0.0f) {
        if (y > 0.0f) { return select(0.0f, x, is_odd); }
        return select(hearth_of_bits(0x7f800000u), hearth_of_bits(0xff800000u), is_odd && bitcast<i32>(x) < 0);
    }
    let p = pow(abs(x), y);
    if (x > 0.0f) { return p; }
    if (hearth_is_nan(x) || hearth_is_nan(y)) { return x + y; }
    if (floor(y) != y && !hearth_is_inf(y)) { return hearth_of_bits(0x7fc00000u); }
    return select(p, -p, is_odd);
}
fn hearth_high_product(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
    let middle = ah * bl + ((al * bl) >> 16u);
    return ah * bh + (middle >> 16u) + (((middle & 0xffffu) + al * bh) >> 16u);
}
fn hearth_philox(first_key: u32, second_key: u32, step: u32, element: u32) -> u32 {
    var key = vec2<u32>(first_key, second_key);
    var c = vec4<u32>(element, step, 0u, 0u);
    for (var round = 0; round < 10; round++) {
        c = vec4<u32>(hearth_high_product(0xcd9e8d57u, c.z) ^ c.y ^ key.x, 0xcd9e8d57u * c.z,
                      hearth_high_product(0xd2511f53u, c.x) ^ c.w ^ key.y, 0xd2511f53u * c.x);
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    }
    return c.x;
}
)";

std::string_view type_text(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return "f32";
        case ScalarType::kI32:
            return "i32";
        case ScalarType::kU32:
            return "u32";
        case ScalarType::kBool:
            return "bool";
        default:  // a program for WGSL has none of 64 bits
            return "";
    }
}

std::string literal_text(uint64_t bits, ScalarType type) {
    if (type != ScalarType::kF32) return whole_literal(bits, type, "i32(-2147483648)", "");
    const double value = value_of(bits, type);
    // WGSL has no literals of these, and refuses the largest number as other languages write it.
    if (!(std::abs(value) < 3.4e38))
        return "hearth_of_bits(" +
               std::to_string(std::bit_cast<uint32_t>(static_cast<float>(value))) + "u)";
    const std::string text = decimal_text(value) + "f";
    return text[0] == '-' ? "(" + text + ")" : text;
}

/// True if invocations of a workgroup work together: then it is one of WebGPU's as well.
bool has_workgroups(const Body& body) {
    const BodyRequirements needs = body_requirements(body);
    return needs.barriers || needs.shared_bytes > 0;
}

class WgslPrinter final : CLikePrinter {
  public:
    explicit WgslPrinter(const Body& body) : CLikePrinter(body) {}

    Result<std::string> print() {
        if (!body_.functions.empty()) return unsupported("WGSL: functions");
        text_ = kPrelude;
        for (size_t i = 0, operand = 0; i < body_.buffers.size(); ++i) {
            if (body_.buffers[i].kind != BufferKind::kOperand)
                return unsupported("WGSL: buffers that are variables");
            if (size_bytes(body_.buffers[i].held) != 4)
                return unsupported("WGSL: elements of " +
                                   std::string(name_of(body_.buffers[i].held)));
            line("override at_" + std::to_string(operand++) + ": u32;");
        }
        const std::string threads = std::to_string(body_.threads);
        const uint32_t size = wgsl_workgroup_size(body_);
        check_workgroup(size);
        for (const Local& l : body_.locals)
            if (l.kind == LocalKind::kShared)
                line("var<workgroup> " + place_of(l) + ": " + type_of(l) + ";");
        line("@compute @workgroup_size(" + std::to_string(size) + ")");
        line(
            "fn main(@builtin(workgroup_id) group: vec3<u32>, "
            "@builtin(local_invocation_index) lane: u32) {");
        ++depth_;
        if (has_workgroups(body_)) {
            line("let workgroup = i32(group.x);");
            line("let invocation = i32(lane);");
        } else {
            line("let id = i32(group.x * " + std::to_string(size) + "u + lane);");
            line("let workgroup = id / " + threads + ";");
            line("let invocation = id % " + threads + ";");
        }
        line("if (workgroup >= run.workgroups) { return; }");
        for (const Statement& s : body_.statements) statement(s);
        --depth_;
        line("}");
        if (!error_.ok()) return unsupported("WGSL: " + error_.message());
        return std::move(text_);
    }

  private:
    /// Limits that every device of WebGPU has.
    void check_workgroup(uint32_t size) {
        constexpr uint32_t kMostInvocations = 256, kMostBytes = 16384;
        if (size > kMostInvocations)
            fail("a workgroup of " + std::to_string(size) + " invocations, at most " +
                 std::to_string(kMostInvocations));
        const uint32_t bytes = body_requirements(body_).shared_bytes;
        if (bytes > kMostBytes)
            fail("shared arrays of " + std::to_string(bytes) + " bytes, at most " +
                 std::to_string(kMostBytes));
    }

    // ------------------------------------------------------------------------ statements

    /// Not a word of WGSL's, and none of this printer's.
    static std::string place_of(const Local& l) { return l.name + "_"; }
    std::string place_of(uint64_t index) const override { return place_of(body_.locals[index]); }
    std::string type_of(const Local& l) {
        const std::string type = type_of(l.type, l.chunk);
        switch (l.kind) {
            case LocalKind::kArray:
            case LocalKind::kVector:
            case LocalKind::kShared:
                return "array<" + type + ", " + std::to_string(l.length) + ">";
            case LocalKind::kLanes:
                if (l.length != 4) fail("lanes that are not 4");
                return "vec4<" + type + ">";
            case LocalKind::kPrivate:
            case LocalKind::kResult:
                fail("variables of functions");
                return type;
            default:
                return type;
        }
    }

    std::string type_of(ScalarType type, Chunk chunk) {
        const std::string number(type_text(type));
        if (chunk == Chunk::kOne) return number;
        if (is_fragment(chunk) || length_of(chunk) > 4) fail("chunks of more than four elements");
        return "vec" + std::to_string(is_fragment(chunk) ? 4 : length_of(chunk)) + "<" + number +
               ">";
    }

    std::string declaration(const Local& l) override {
        return "var " + place_of(l) + ": " + type_of(l);
    }
    std::string declaration_of_value(const Local& l) override { return "let " + place_of(l); }

    std::string update(const Statement& s) override {
        return place_of(s.local) +
               (s.op == ScalarOp::kDiv   ? " /= "
                : s.op == ScalarOp::kMul ? " *= "
                : s.op == ScalarOp::kSub ? " -= "
                                         : " += ") +
               (s.c == 0 ? "1" : expression(s.c));
    }

    template <class Text>
    std::string four(Text text, const char* number = "f32") {
        return "vec4<" + std::string(number) + ">(" + text("0") + ", " + text("1") + ", " +
               text("2") + ", " + text("3") + ")";
    }

    void statement(const Statement& s) override {
        switch (s.kind) {
            case StatementKind::kDeclare:
                if (local(s).kind != LocalKind::kLanes) break;
                return line(declaration(local(s)) + " = " + call("vec4<f32>", expression(s.a)) +
                            ";");
            case StatementKind::kLoadVector:
                line(declaration(local(s)) + ";");
                return load_elements(s);
            case StatementKind::kStoreVector:
                return store_elements(s);
            case StatementKind::kLoadLanes:
                return line(declaration(local(s)) + " = " + four([&](const char* lane) {
                                const std::string at = operand(s.a) + " + " + lane;
                                return s.b == 0 ? load(s.buffer, at)
                                                : expression(s.b) + "[" + at + "]";
                            }) +
                            ";");
            case StatementKind::kStoreLanes:
                for (const char* lane : {"0", "1", "2", "3"})
                    line(expression(s.b) + "[" + operand(s.a) + " + " + lane +
                         "] = " + place_of(s.local) + "[" + lane + "];");
                return;
            case StatementKind::kMultiplyAdd:
                return line(place_of(s.local) + " += " + operand(s.a) + " * " + operand(s.b) + ";");
            case StatementKind::kStoreChunk: {
                const uint32_t numbers[] = {s.b};
                return store_chunk(s, numbers, "4 * " + operand(s.a));
            }
            case StatementKind::kStoreElements:
                return store_chunk(s, s.arguments, operand(s.a));
            case StatementKind::kBarrier:
                return line("workgroupBarrier();");
            default:
                break;
        }
        CLikePrinter::statement(s);
    }

    /// A chunk, or numbers, to neighbours in memory.
    void store_chunk(const Statement& s, std::span<const uint32_t> numbers,
                     const std::string& first) {
        for (size_t i = 0; i < (numbers.size() == 1 ? 4 : numbers.size()); ++i) {
            const std::string lane = std::to_string(i);
            line(store(s.buffer, first + " + " + lane,
                       numbers.size() == 1 ? operand(numbers[0]) + "[" + lane + "]"
                                           : operand(numbers[i])));
        }
    }
    std::string load_four(const ExprNode& n, const std::string& first) {
        return four([&](const char* lane) { return load(n.bits, first + " + " + lane); },
                    n.type == ScalarType::kU32 ? "u32" : "f32");
    }

    std::string place_in(uint64_t buffer, const std::string& element) const {
        return "memory[at_" + std::to_string(buffer) + " + u32(" + element + ")]";
    }
    std::string load(uint64_t buffer, const std::string& element) override {
        const ScalarType type = scalar_type(body_.buffers[buffer].dtype);
        const std::string word = place_in(buffer, element);
        if (type == ScalarType::kBool) return "(" + word + " != 0u)";
        return type == ScalarType::kU32
                   ? word
                   : call("bitcast<" + std::string(type_text(type)) + ">", word);
    }
    std::string literal(uint64_t bits, ScalarType type) const override {
        return literal_text(bits, type);
    }
    std::string store(uint64_t buffer, const std::string& element,
                      const std::string& value) override {
        const BodyBuffer& to = body_.buffers[buffer];
        if (is_floating(to.dtype) ? to.dtype != DType::kF32
                                  : to.dtype != DType::kBool && size_bytes(to.dtype) < 4)
            fail("elements of " + std::string(name_of(to.dtype)));
        return place_in(buffer, element) + " = " +
               (scalar_type(to.dtype) == ScalarType::kBool ? "select(0u, 1u, " + value + ")"
                                                           : call("bitcast<u32>", value)) +
               ";";
    }

    // ------------------------------------------------------------------------ expressions

    std::string expression(uint32_t id) override {
        const ExprNode& n = node(id);
        switch (n.kind) {
            case ExprKind::kLoad:
                if (n.chunk == Chunk::kOne) break;
                if (n.chunk != Chunk::kFour) fail("chunks of more than four elements");
                return load_four(n, operand(n.in[0]));
            case ExprKind::kLoadChunk:
                if (n.chunk != Chunk::kFour) fail("chunks of more than four elements");
                return load_four(n, "4 * " + operand(n.in[0]));
            case ExprKind::kChunkElement:
                return expression(n.in[0]) + "[" + expression(n.in[1]) + "]";
            case ExprKind::kFill:
                return call(type_of(n.type, n.chunk), expression(n.in[0]));
            case ExprKind::kCompose:
                return type_of(n.type, n.chunk) + "(" + list(body_.arguments_of(n)) + ")";
            case ExprKind::kScale:
                return operand(n.in[0]) + " * " + operand(n.in[1]);
            case ExprKind::kDot:
                return "dot(" + list(n.in) + ")";
            case ExprKind::kRowCount:
                return "run.rows";
            case ExprKind::kInvocation:
                return "invocation";
            case ExprKind::kWorkgroup:
                return along_axis(n, "workgroup");
            case ExprKind::kWorkgroups:
                return along_axis(n, "run.workgroups");
            case ExprKind::kBuffer:
                fail("buffers as values");
                return "0";
            case ExprKind::kMultiplyAdd:
                return "fma(" + list(n.in) + ")";
            default:
                break;
        }
        return CLikePrinter::expression(id);
    }

    std::string random_counter(uint32_t id) override { return call("u32", expression(id)); }

    std::string operation(const ExprNode& n) override {
        if (n.chunk != Chunk::kOne && n.op != ScalarOp::kSelect) fail("operations of chunks");
        if (n.kind == ExprKind::kFitting) return call(type_text(n.type), expression(n.in[0]));
        if (n.op == ScalarOp::kSelect)
            return "select(" + expression(n.in[2]) + ", " + expression(n.in[1]) + ", " +
                   expression(n.in[0]) + ")";
        if (operand_count(n.op) == 1) return unary(n.op, node(n.in[0]).type, n.type, n.in[0]);
        return binary(n);
    }

    std::string unary(ScalarOp op, ScalarType type, ScalarType result, uint32_t id) {
        const std::string a = expression(id);
        const auto bits_to = [&](const char* to) { return call(to, a); };
        if (const std::string_view name = function_name(op, Language::kWgsl); !name.empty())
            return call(name, a);
        switch (op) {
            case ScalarOp::kNeg:
                return (type == ScalarType::kU32 ? "0u - " : "-") + operand(id);
            case ScalarOp::kNot:
                return "!" + operand(id);
            case ScalarOp::kBitNot:
                return "~" + operand(id);
            case ScalarOp::kAbs:
                return call("abs", a);
            case ScalarOp::kSign:
                if (type == ScalarType::kU32) return call("min", a, "1u");
                return type == ScalarType::kI32
                           ? call("sign", a)
                           : "select(sign(" + a + "), " + a + ", hearth_is_nan(" + a + "))";
            case ScalarOp::kRsqrt:
                return "1.0f / " + call("sqrt", a);
            case ScalarOp::kIsNan:
                return call("hearth_is_nan", a);
            case ScalarOp::kIsInf:
                return call("hearth_is_inf", a);
            case ScalarOp::kToF32:
            case ScalarOp::kToI32:
            case ScalarOp::kToU32:
            case ScalarOp::kToBool:
                return call(type_text(result), a);
            case ScalarOp::kBitsToF32:
                return bits_to("bitcast<f32>");
            case ScalarOp::kBitsToI32:
                return bits_to("bitcast<i32>");
            case ScalarOp::kBitsToU32:
                return bits_to("bitcast<u32>");
            case ScalarOp::kBitsToUniform:
                return "f32(" + operand(id) + " >> 8u) * 5.9604644775390625e-8f";
            default:
                fail("rounding to f16 or bf16");
                return "0.0f";
        }
    }

    std::string binary(const ExprNode& n) {
        const ScalarType type = node(n.in[0]).type;
        const bool is_float = type == ScalarType::kF32, is_safe = is_float || is_by_constant(n);
        const std::string a = operand(n.in[0]), b = operand(n.in[1]);
        const auto of_type = [&](const std::string& function) {
            return call(function + (type == ScalarType::kU32 ? "_u32" : "_i32"), a, b);
        };
        if (std::string text = infix(n.op, a, b); !text.empty()) return text;
        if (const std::string_view name = function_name(n.op, Language::kWgsl); !name.empty())
            return call(name, a, b);
        switch (n.op) {
            case ScalarOp::kDiv:
                return is_safe ? a + " / " + b : of_type("hearth_div");
            case ScalarOp::kMod:
                if (is_float) return call("hearth_fmod", a, b);
                return is_safe ? a + " % " + b : of_type("hearth_mod");
            case ScalarOp::kPow:
                if (!is_float) fail("powers of whole numbers");
                return call("hearth_pow", a, b);
            case ScalarOp::kMin:
                return call(is_float ? "hearth_min" : "min", a, b);
            case ScalarOp::kMax:
                return call(is_float ? "hearth_max" : "max", a, b);
            case ScalarOp::kShiftLeft:
                return of_type("hearth_shl");
            case ScalarOp::kShiftRight:
                return of_type("hearth_shr");
            default:
                HEARTH_ASSERT(false && "no binary operator");
                return {};
        }
    }
};

}  // namespace

uint32_t wgsl_workgroup_size(const Body& body) {
    return has_workgroups(body) ? body.threads : kWgslWorkgroup;
}

Result<std::string> print_wgsl(const Body& body) {
    return WgslPrinter(body).print();
}

}  // namespace hearth
