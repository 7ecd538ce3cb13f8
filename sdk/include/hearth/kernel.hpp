// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes kernels of custom operators once for every target: Vulkan, CPUs, WebGPU and cooked C.
//
// A kernel rule (OpDef::kernel) returns a CustomKernel whose `body` describes, through a
// KernelBuilder, what each invocation does.  Expressions are Scalars, as in compute rules
// (hearth/op/at.hpp); statements are calls of the builder.  The body is verified, and compiled for
// the device of the program:
//
//     .kernel = [](const KernelRuleContext& c) -> std::optional<CustomKernel> {
//         const Dim count = c.outputs[0].shape.element_count();
//         return CustomKernel{
//             .name = "square",
//             .body = [](KernelBuilder& k) {
//                 k.for_each(k.out_count(0), [&](Scalar i) {
//                     const Scalar x = k.in(0, i);
//                     k.out(0, i, x * x);
//                 });
//             },
//             .local_size = {64, 1, 1},
//             .grid = {{{count, 64}}}};
//     }
//
// docs/how-to/custom_kernels.md has a matrix product with its gradient, a stencil and a reduction.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/op/scalar.hpp>

#include <cstdint>
#include <functional>
#include <type_traits>

namespace hearth {

class KernelBuilder;
class KernelVariable;

/// An operand of a builder's call: a Scalar, a variable's present value, or a literal, which takes
/// the type that is expected in its place (else f32 for floating literals and i32 for others).
class KernelArgument {
  public:
    KernelArgument(Scalar value) : scalar_(value) {}
    KernelArgument(const KernelVariable& variable);
    template <class T>
    requires std::is_arithmetic_v<T> KernelArgument(T literal)
        : literal_(static_cast<double>(literal)), is_floating_(std::is_floating_point_v<T>) {}

  private:
    friend class KernelBuilder;
    Scalar scalar_;
    double literal_ = 0;
    bool is_floating_ = false;
};

/// A variable of each invocation, made by KernelBuilder::variable.  Assignments are statements of
/// the kernel; a read (conversion to Scalar) gives the value at this point of the kernel, which
/// later assignments do not change.  A read is a statement, too: where an expression has several,
/// C++ chooses their order, which does not matter to the result.
class KernelVariable {
  public:
    KernelVariable(const KernelVariable&) = delete;

    Scalar get() const;
    operator Scalar() const { return get(); }

    KernelVariable& operator=(KernelArgument value);
    KernelVariable& operator=(const KernelVariable& other) { return *this = other.get(); }
    KernelVariable& operator+=(KernelArgument value);
    KernelVariable& operator-=(KernelArgument value);
    KernelVariable& operator*=(KernelArgument value);

  private:
    friend class KernelBuilder;
    KernelVariable(KernelBuilder* builder, uint32_t local, ScalarType type)
        : builder_(builder), local_(local), type_(type) {}

    KernelBuilder* builder_;
    uint32_t local_;
    ScalarType type_;
};

/// An array of each invocation (KernelBuilder::array) or of the workgroup (KernelBuilder::shared).
/// Elements have no initial value; indices are in [0, length).
class KernelArray {
  public:
    /// The element's value at this point of the kernel.
    Scalar operator[](KernelArgument index) const;
    void set(KernelArgument index, KernelArgument value) const;
    int64_t length() const { return length_; }

  private:
    friend class KernelBuilder;
    KernelArray(KernelBuilder* builder, uint32_t local, ScalarType type, int64_t length)
        : builder_(builder), local_(local), type_(type), length_(length) {}

    KernelBuilder* builder_;
    uint32_t local_;
    ScalarType type_;
    int64_t length_;
};

/// Writes the body of one kernel, in the order of its statements.  Code generation makes it and
/// passes it to CustomKernel::body, which may be called several times.
///
/// Values: a Scalar belongs to the loop or branch in which it was made, and may be used until that
/// ends.  Types: both operands of an operator have one type; convert() changes it.  Floats are f32
/// (elements of f16 and bf16 are converted as they are read and written), integers i32 or u32 (i64,
/// u64 and f64 where the program stores them), bools of tensors i32.
///
/// Rules that all targets share: statements within a workgroup meet at barriers, so a barrier may
/// not depend on the invocation or on memory; shared elements are written by one invocation between
/// two barriers; each element of an output is written once.
///
/// Errors are reported by the compilation of the program, naming the kernel: kInvalidArgument for
/// operands of different types, operands that do not exist and values used outside of their scope.
class KernelBuilder {
  public:
    using Statements = std::function<void()>;
    using StatementsOf = std::function<void(Scalar)>;

    // --- Operands ---

    /// Element `i` of input `input`, in row-major order; may inline the input's producer.  Made of
    /// the input as it was before the kernel.
    Scalar in(int input, KernelArgument i);
    /// Stores element `i` of output `output`; may inline an element-wise epilogue.
    void out(int output, KernelArgument i, KernelArgument value);
    /// The type of elements, as the kernel computes with them, and the number of axes.
    ScalarType in_type(int input);
    ScalarType out_type(int output);
    int in_rank(int input);
    int out_rank(int output);
    /// Extents, i32; a batch axis gives the number of rows of this run.
    Scalar in_dim(int input, int axis);
    Scalar in_count(int input);
    Scalar out_dim(int output, int axis);
    Scalar out_count(int output);
    /// The number of rows of this run.
    Scalar batch_size();

    // --- Values ---

    Scalar constant(double value, ScalarType type = ScalarType::kF32);
    Scalar index(int64_t value) { return constant(static_cast<double>(value), ScalarType::kI32); }
    /// Floats become integers by truncation and saturation, NaN zero; integers wrap around.
    Scalar convert(KernelArgument value, ScalarType type);
    /// a * b + c of floats, in one rounding on targets with such an instruction.
    Scalar multiply_add(KernelArgument a, KernelArgument b, KernelArgument c);

    // --- Place of the invocation ---

    Scalar lane();             ///< index of the invocation in its workgroup
    Scalar workgroup();        ///< index of the workgroup
    Scalar workgroup_count();  ///< number of workgroups; a recording may launch more than needed
    int64_t workgroup_size() const;

    // --- Memory ---

    KernelVariable variable(KernelArgument first);
    KernelVariable variable(ScalarType type, double first);
    KernelArray array(ScalarType type, int64_t length);
    /// An array that the workgroup shares.
    KernelArray shared(ScalarType type, int64_t length);

    // --- Statements ---

    /// Runs `body` for each i in [0, count), distributed over all invocations of all workgroups.
    void for_each(KernelArgument count, const StatementsOf& body);
    /// Runs `body` for first, first + step, ... while less than `end`.
    void loop(KernelArgument first, KernelArgument end, const StatementsOf& body);
    void loop(KernelArgument first, KernelArgument end, KernelArgument step,
              const StatementsOf& body);
    /// Runs `body` for first, first * factor, ... while less than `end`.  factor: at least 2.
    void loop_growing(KernelArgument first, KernelArgument end, int64_t factor,
                      const StatementsOf& body);
    /// Runs `body` for first, first / divisor, ... while greater than zero.  divisor: at least 2.
    void loop_shrinking(KernelArgument first, int64_t divisor, const StatementsOf& body);
    /// Runs `body` while the condition, evaluated before each turn, holds.
    void while_(const std::function<Scalar()>& condition, const Statements& body);
    void if_(Scalar condition, const Statements& then);
    void if_(Scalar condition, const Statements& then, const Statements& otherwise);
    /// Execution and shared memory of the workgroup: all of its invocations arrive before any goes
    /// on, and see what the others have written.
    void barrier();

    struct State;
    /// For code generation.
    explicit KernelBuilder(State& state) : state_(state) {}
    KernelBuilder(const KernelBuilder&) = delete;
    KernelBuilder& operator=(const KernelBuilder&) = delete;

  private:
    friend class KernelVariable;
    friend class KernelArray;
    Scalar scalar(const KernelArgument& operand, ScalarType expected);
    Scalar scalar(const KernelArgument& operand);
    Scalar element(const KernelArray& array, const KernelArgument& index);
    void assign(const KernelVariable& variable, const KernelArgument& value);
    void set_element(const KernelArray& array, const KernelArgument& index,
                     const KernelArgument& value);
    Scalar value_of(uint32_t local);

    State& state_;
};

}  // namespace hearth
