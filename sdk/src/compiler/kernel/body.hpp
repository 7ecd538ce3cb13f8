// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a kernel does, as data: typed statements over expressions.  An intermediate representation
// between scalar expressions (op/scalar.hpp), which know no order, and a target's text, which only
// print/ writes and nobody reads back.
//
// A body says what each invocation of a workgroup does to buffers of elements.  It knows no syntax,
// no binding model and no device.  Expressions are trees in one pool; what is worked out once and
// used again is a local (kLet), and the printer adds nothing to that.  KernelWriter
// (compiler/kernel/writer.hpp) builds bodies; verify_body() proves them well formed; body_requirements() says
// what a target must offer; BodyOutline compares them; compiler/reference/run_kernel.hpp executes them.

#pragma once

#include <hearth/op/scalar.hpp>
#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Elements that follow each other, floats, as one value.
enum class Chunk : uint8_t {
    kOne,     ///< a single number of any type: most expressions
    kFour,    ///< four floats
    kHalves,  ///< eight f16, as they lie in memory
    kThree,   ///< three floats
    kTwo,     ///< two floats

    // Fragments: matrices that the invocations of a subgroup hold together, of the sizes of Body::matrix.
    // Each invocation has some of the elements; which ones only the device knows.
    kLeft,      ///< f16, [m, k]: a left factor
    kRight,     ///< f16, [k, n]: a right factor
    kSums,      ///< f32, [m, n]
    kHalfSums,  ///< f16, [m, n]
};
inline bool is_fragment(Chunk chunk) {
    return chunk >= Chunk::kLeft;
}
/// Elements of a chunk that is no fragment.
uint32_t length_of(Chunk chunk);

enum class ExprKind : uint8_t {
    kNothing,             ///< there is no expression
    kConstant,            ///< bits: the value's bits
    kRowCount,            ///< the live row count
    kPushedWord,          ///< bits: which of the words that a dispatch gives its kernel, i32
    kInvocation,          ///< the invocation's index in its workgroup (one-dimensional)
    kWorkgroup,           ///< the workgroup's index along axis `bits` (Body::across)
    kWorkgroups,          ///< number of workgroups along axis `bits`
    kSubgroup,            ///< the subgroup's index in its workgroup
    kSubgroupInvocation,  ///< the invocation's index in its subgroup
    kLocal,               ///< bits: index into Body::locals
    kElement,             ///< bits: a local that is an array or a vector; in[0]: index
    kBuffer,  ///< bits: index into Body::buffers; an argument, or what a buffer variable is set to
    kLoad,    ///< bits: index into Body::buffers; in[0]: element, the first one of a chunk
    kCall,    ///< bits: index into Body::functions; in[1] of Body::arguments from in[0] on
    kPhilox,  ///< bits: key; in: step, element
    kOperation,  ///< op, of in; as written: neither simplified nor put in another order
    kFitting,  ///< op, of operands for which the target's own instruction is right: kToI32 ... kToU64 of a float that
               ///< fits, kPow of a positive base
    kGreater,  ///< in[0] > in[1]; ScalarOp has the other direction, code tells them apart
    kGreaterEqual,
    kClamp,        ///< in[0], at least in[1] and at most in[2]; integers
    kHighProduct,  ///< the upper word of the product of the words in[0] and in[1]

    // Of and with chunks:
    kChunkElement,  ///< element in[1] of the chunk in[0]
    kVector,        ///< bits: a local that is a vector of four; all of it
    kFill,          ///< in[0] as each element; of kHalves: zeros
    kPart,          ///< elements 4 * bits to 4 * bits + 3 of in[0]
    kJoin,          ///< of in[0] and in[1], which are fours
    kLoadChunk,  ///< chunk in[0] of buffer `bits`, the chunks before it being as long; fours and kHalves
    kCompose,      ///< a three or four of numbers: in[1] of Body::arguments from in[0] on
    kScale,        ///< the three or four in[0], each element times the number in[1]
    kMultiplyAdd,  ///< in[0] * in[1] + in[2], of numbers or of fours element by element
    kDot,          ///< the sum of products of elements of in[0] and in[1], which are fours
    kDotHalves,    ///< in[2] + the products of the f16 that the words in[0] and in[1] hold, in f32
    kTwoHalves,    ///< kTwo: the f16 that the word in[0] holds
    kPack,         ///< kHalves: the elements of local `bits`, an array of eight floats, rounded
    kReinterpret,  ///< in[0], four words, as the kHalves that they hold; or the other way round

    // Of and with fragments:
    kLength,   ///< how many elements of in[0] each invocation has; kChunkElement is one of them
    kConvert,  ///< in[0] as another fragment of as many elements: rounded, or the same numbers
};

struct ExprNode {
    ExprKind kind = ExprKind::kNothing;
    ScalarType type =
        ScalarType::kI32;  ///< of the value; kBuffer: of its elements; kFour can be of words
    ScalarOp op = ScalarOp::kConst;
    uint64_t bits = 0;
    std::array<uint32_t, 3> in{};  ///< ids of expressions; 0: none
    Chunk chunk = Chunk::kOne;
    bool may_be_unset = false;  ///< kElement: of what nothing may have written; nobody uses it then
};

/// Whether `in` says where in Body::arguments an expression's operands are.
bool has_arguments(ExprKind kind);

/// The value of a kConstant (bool: 0 or 1).  Integers of 64 bits are rounded.
double constant_value(const ExprNode& node);

struct Body;

/// A handle to an expression of a body.  id 0: none.
struct Expr {
    Body* body = nullptr;
    uint32_t id = 0;

    const ExprNode& node() const;
    ScalarType type() const { return node().type; }
    Chunk chunk() const { return node().chunk; }
    explicit operator bool() const { return id != 0; }
};

enum class LocalKind : uint8_t {
    kValue,      ///< set once, by kLet
    kParameter,  ///< of a function
    kResult,     ///< a parameter that the function sets for its caller
    kVariable,   ///< of an invocation; set by kDeclare and kAssign
    kArray,      ///< of an invocation
    kVector,     ///< elements of a buffer, as loaded by kLoadVector
    kLanes,      ///< f32 of an invocation, side by side in a vector register
    kShared,     ///< an array of the workgroup
    kPrivate,    ///< of an invocation and all functions; declared nowhere
};

struct Local {
    std::string name;
    LocalKind kind = LocalKind::kValue;
    ScalarType type = ScalarType::kF32;
    uint32_t length = 1;       ///< elements of an array or a vector
    DType held = DType::kF32;  ///< of a vector: as what its elements lie in memory
    Chunk chunk = Chunk::kOne;
};

enum class BufferKind : uint8_t { kOperand, kParameter, kVariable };

/// A tensor's elements in memory.  A load gives what kernels compute with (scalar_type(dtype)); a
/// store rounds floats to nearest even and wraps integers around, as the tensor's type does.
struct BodyBuffer {
    std::string name;
    BufferKind kind = BufferKind::kOperand;
    uint32_t value = 0;         ///< of an operand: value of the graph
    DType dtype = DType::kF32;  ///< of the tensor
    DType held = DType::kF32;   ///< as what its elements lie in memory: device_dtype()
};

enum class StatementKind : uint8_t {
    kLet,  ///< local = a, once
    kDeclare,  ///< a variable or an array comes to be; a: its first value, if it has one; or lanes, a: of each
    kDeclareBuffer,  ///< a buffer variable comes to be; a: kBuffer
    kAssign,         ///< a = b; a: kLocal, kElement, or kBuffer with b: kBuffer
    kAccumulate,     ///< a = a op b
    kLoadVector,     ///< local = elements from a on, a multiple of local's length, of the buffer
    kStore,          ///< element a of the buffer = b
    kStoreVector,    ///< elements from a on, a multiple of local's length, of the buffer = local's
    kLoadLanes,   ///< local's lanes = elements from a on of the array b, or of the buffer without b
    kStoreLanes,  ///< elements from a on of the array b = local's lanes
    kMultiplyAdd,  ///< local's lanes += a * b, lane by lane; b: lanes; a: lanes, or one f32 for all
    kStoreChunk,   ///< chunk a of the buffer = b; as kLoadChunk
    kStoreElements,  ///< elements from a on, a multiple of their number, = arguments: 4 or 8, or kFour
    kSpread,         ///< local, an array of eight floats = arguments: two fours, or kHalves
    kLoadFragment,   ///< a = matrix of which element [i, j] is number b + i c + j of arguments[0]
    kStoreFragment,  ///< the same of a: memory = matrix
    kFor,      ///< for (local = a; b; local = local op c) body; op: a sum, product or quotient;
               ///< without c: ++local, or --local
    kIf,       ///< if (a) body, else otherwise
    kBarrier,  ///< of execution and of shared memory, of the workgroup
    kSubgroupBarrier,  ///< the same of the subgroup; some drivers make it the workgroup's
    kCall,      ///< function with arguments; what a kResult gets is an argument that can be set
    kLetCall,   ///< local = function with arguments, once
    kReturn,    ///< a: the function's result, if it has one
    kContinue,  ///< with the innermost loop's next turn
    kBreak,     ///< with what is behind the innermost loop
    kBlock,     ///< body, in a scope of its own; label: what it is about
};

struct Statement {
    StatementKind kind = StatementKind::kBarrier;
    ScalarOp op = ScalarOp::kAdd;
    bool is_unrolled = false;  ///< kFor: its turns are known, and should be written out
    bool is_rolled = false;    ///< kFor: they are known, and should not
    bool by_columns = false;   ///< of a fragment in memory: [i, j] is number b + i + j c
    bool may_be_unset =
        false;  ///< kLoadFragment: of what nothing may have written; nobody uses that then
    uint32_t local = 0, buffer = 0, function = 0;
    uint32_t a = 0, b = 0, c = 0;  ///< expressions
    std::vector<uint32_t> arguments;
    std::vector<Statement> body, otherwise;
    std::string label;  ///< kBlock
};

struct BodyFunction {
    std::string name;
    bool has_result = false;
    ScalarType result = ScalarType::kF32;
    Chunk result_chunk = Chunk::kOne;
    std::vector<uint32_t> parameters;  ///< expressions: kLocal of kParameter or kResult, or kBuffer
    std::vector<Statement> statements;
};

/// Copyable data.  Functions come before those that call them.
struct Body {
    std::vector<ExprNode> expressions{ExprNode{}};
    std::vector<uint32_t> arguments;  ///< expressions: of calls within expressions
    std::vector<Local> locals;
    std::vector<BodyBuffer> buffers;  ///< operands first
    std::vector<BodyFunction> functions;
    std::vector<Statement> statements;  ///< what the kernel does
    uint32_t threads = 1;               ///< invocations of a workgroup
    /// Numbers of workgroups along x and y of a grid of three axes, for targets that number workgroups
    /// linearly, x first; 0: the grid has one axis.
    uint32_t across = 0, down = 0;
    MatrixShape matrix;  ///< of fragments
    /// 0: subgroup barriers order nothing.  They keep compilers from moving loads.
    uint32_t subgroup_size = 0;
    /// Fragments belong to the workgroup, which counts as one subgroup.
    bool has_workgroup_matrices = false;

    Expr add(ExprNode node);
    Expr constant(double value, ScalarType type);
    Expr index(int64_t value) { return constant(static_cast<double>(value), ScalarType::kI32); }
    Expr rows() { return add({.kind = ExprKind::kRowCount}); }
    Expr pushed_word(uint32_t index) { return add({.kind = ExprKind::kPushedWord, .bits = index}); }
    Expr invocation() { return add({.kind = ExprKind::kInvocation}); }
    Expr workgroup(uint32_t axis = 0) { return add({.kind = ExprKind::kWorkgroup, .bits = axis}); }
    Expr workgroups(uint32_t axis = 0) {
        return add({.kind = ExprKind::kWorkgroups, .bits = axis});
    }
    Expr subgroup() { return add({.kind = ExprKind::kSubgroup}); }
    Expr subgroup_invocation() { return add({.kind = ExprKind::kSubgroupInvocation}); }
    /// An operation as it is written.
    Expr operation(ScalarOp op, Expr a, Expr b = {}, Expr c = {});
    Expr call(uint32_t function, std::span<const Expr> with);
    Expr call(uint32_t function, Expr with) { return call(function, {&with, 1}); }
    std::span<const uint32_t> arguments_of(const ExprNode& call) const {
        return std::span(arguments).subspan(call.in[0], call.in[1]);
    }
    Expr load(uint32_t buffer, Expr element);
    Expr buffer(uint32_t index);
    Expr local(uint32_t index);
    Expr element(Expr array, Expr index);
    /// The same where nothing may have written it: any number, which nobody uses.
    Expr element_or_anything(Expr array, Expr index);
    /// The number as another type; itself if it has that type.
    Expr as(ScalarType type, Expr number);
    Expr new_local(std::string name, LocalKind kind, ScalarType type, uint32_t length = 1);
    Expr new_chunk(std::string name, LocalKind kind, Chunk chunk);
    /// Elements from `element` on; of a buffer of u32: four words.
    Expr load_chunk(Chunk chunk, uint32_t buffer, Expr element);
    /// Chunk number `index` of a buffer of chunks as long.
    Expr load_chunk_at(Chunk chunk, uint32_t buffer, Expr index);
    Expr compose(std::span<const Expr> three_or_four);
    Expr scale(Expr chunk, Expr factor);
    Expr multiply_add(Expr a, Expr b, Expr sum);
    Expr dot(Expr a, Expr b);
    /// Of words a and b, which hold two f16 each.
    Expr dot_halves(Expr a, Expr b, Expr sum);
    Expr clamp(Expr value, Expr least, Expr most);
    Expr high_product(Expr a, Expr b);
    Expr chunk_element(Expr chunk, Expr index);
    Expr fill(Chunk chunk, Expr value);
    Expr part(Expr chunk, uint32_t four);
    Expr join(Chunk chunk, Expr low, Expr high);
    Expr vector(Expr four);
    Expr two_halves(Expr word);
    /// An array of eight floats as kHalves.
    Expr pack(Expr array);
    /// Four words as kHalves, or kHalves as four words.
    Expr reinterpret(Expr chunk);
    /// Elements of a fragment that each invocation has.
    Expr length(Expr fragment);
    Expr convert(Chunk to, Expr fragment);
    /// Rows and columns of a fragment.
    std::array<uint32_t, 2> shape_of(Chunk fragment) const;

    /// The operand that is this value, added if there is none yet.
    uint32_t operand(uint32_t value, DType dtype, DType held);
    /// A parameter of a function, or a variable.
    Expr new_buffer(std::string name, BufferKind kind, DType dtype, DType held);
    /// The shared array or private variable of this name, added if there is none yet.
    Expr global(const std::string& name, LocalKind kind, ScalarType type, uint32_t length = 1,
                Chunk chunk = Chunk::kOne);
    /// The function of this name, if there is one.
    const BodyFunction* find_function(const std::string& name, uint32_t* index) const;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator%(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator>>(Expr a, int64_t bits);
Expr operator&(Expr a, int64_t bits);
Expr lesser(Expr a, Expr b);
Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
Expr select(Expr condition, Expr yes, Expr no);
inline Expr operator+(Expr a, int64_t b) {
    return a + a.body->index(b);
}
inline Expr operator-(Expr a, int64_t b) {
    return a - a.body->index(b);
}
inline Expr operator*(Expr a, int64_t b) {
    return a * a.body->index(b);
}
inline Expr operator/(Expr a, int64_t b) {
    return a / a.body->index(b);
}
inline Expr operator%(Expr a, int64_t b) {
    return a % a.body->index(b);
}
inline Expr operator<(Expr a, int64_t b) {
    return a < a.body->index(b);
}
inline Expr operator>(Expr a, int64_t b) {
    return a > a.body->index(b);
}
inline Expr operator==(Expr a, int64_t b) {
    return a == a.body->index(b);
}

/// What a target must offer beyond scalar arithmetic and buffers.
struct BodyRequirements {
    bool rows = false;       ///< reads the live row count
    bool barriers = false;   ///< between a workgroup's invocations
    bool rounding = false;   ///< rounds to f16 or bf16: an operation, or a store
    bool random = false;     ///< Philox
    bool functions = false;  ///< functions of mathematics beyond those of a target's language
    bool lanes = false;      ///< vector registers: for CPUs alone
    bool subgroups = false;  ///< subgroups of Body::subgroup_size, with barriers of their own
    bool matrices = false;   ///< fragments, of Body::matrix
    bool wide = false;       ///< integers of 64 bits
    uint32_t shared_bytes = 0;
};
BodyRequirements body_requirements(const Body& body);

/// Proves the body well formed: types, counts and kinds of what each expression and statement is
/// made of; locals used where they are known and set where they may be; functions known before they
/// are called; barriers where all invocations of a workgroup come by, or none (an expression is
/// uniform if it depends on neither the invocation's index nor a load).
/// Errors: kInternal naming the function and the statement.
Status verify_body(const Body& body);

/// The structure of statements with holes where two kernels of a kind may differ: whole numbers from
/// 0 to 99,999,999, and buffers of floats reached element by element.  Names of locals that the
/// statements declare, and of `group`, do not count.
struct BodyOutline {
    std::vector<uint64_t> structure;  ///< equal for statements that are alike
    struct Hole {
        bool is_buffer = false;
        uint32_t content = 0;  ///< the whole number, or the buffer's index
        friend bool operator==(const Hole&, const Hole&) = default;
        friend auto operator<=>(const Hole&, const Hole&) = default;
    };
    std::vector<Hole> holes;  ///< in reading order
};
BodyOutline outline_of(const Body& body, std::span<const Statement> statements, Expr group);

/// The statements with other expressions in place of their holes: one per hole, none (id 0) leaves
/// it as it is; a buffer's is a kBuffer.
std::vector<Statement> fill_holes(Body& body, std::span<const Statement> statements, Expr group,
                                  std::span<const Expr> contents);

/// A hash of all that the body does: equal for equal bodies whatever their locals' names.
uint64_t structural_hash(const Body& body);

}  // namespace hearth
