// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// OpDef: the one record that defines an operator.  Its shape rule, CPU reference, gradient, GPU
// lowering, ONNX mapping and test samples are all here; nothing else in Hearth lists operators.
// A game defines operators of its own in the same way: see docs/adding_an_operator.md.

#pragma once

#include <hearth/core/fixed_list.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/at.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/tensor.hpp>
#include <hearth/types.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Element types an operand may have.
enum class TypeClass : uint8_t {
    kFloating,
    kInteger,
    kBool,
    kNumber /* floating or integer */,
    kAny
};

struct InputSpec {
    std::string_view name;
    TypeClass types = TypeClass::kFloating;
    bool variadic = false;  ///< this and all further inputs
};

/// Attribute kinds, in the order of AttrValue's alternatives.
enum class AttrType : uint8_t { kInteger, kReal, kText, kIntegers, kReals, kDType, kShape };

struct AttrSpec {
    std::string_view name;
    AttrType type = AttrType::kInteger;
    /// Used when a call leaves the attribute out (kInteger and kReal); NaN: it must be given.
    double fallback = kRequired;
    static constexpr double kRequired = std::numeric_limits<double>::quiet_NaN();
};

struct TensorType {
    DType dtype = DType::kF32;
    Shape shape;
};

/// What a shape rule sees.
struct InferCall {
    const Attrs& attrs;
    std::span<const TensorType> inputs;
    std::vector<TensorType>& outputs;

    const Shape& shape(int k) const { return inputs[static_cast<size_t>(k)].shape; }
    DType dtype(int k) const { return inputs[static_cast<size_t>(k)].dtype; }
    Status one(DType dtype, const Shape& shape) {
        outputs.push_back({dtype, shape});
        return {};
    }
};

/// What a CPU reference sees.  Outputs are allocated with the inferred types.
struct ReferenceCall {
    const Attrs& attrs;
    std::span<const HostTensor> inputs;
    std::span<HostTensor> outputs;
};

/// What a decomposition sees: it returns one tensor for each output, built of other operators.
struct DecomposeCall {
    Trace& trace;
    const Attrs& attrs;
    std::span<const Tensor> inputs;
    const Tensor& in(size_t k) const { return inputs[k]; }
};

/// What a gradient rule sees.  It returns, for each input, the cotangent or an empty Tensor where
/// there is none (integers, conditions).
struct VjpCall {
    Trace& trace;
    const Attrs& attrs;
    std::span<const Tensor> inputs;
    std::span<const Tensor> outputs;
    std::span<const Tensor> cotangents;  ///< one for each output; empty Tensor: zero
    const Tensor& in(size_t k) const { return inputs[k]; }
    const Tensor& out(size_t k = 0) const { return outputs[k]; }
    const Tensor& cotangent(size_t k = 0) const { return cotangents[k]; }
};

/// What a kernel rule sees.
struct KernelRuleCall {
    const Attrs& attrs;
    std::span<const TensorType> inputs, outputs;
    const DeviceCaps& caps;
    uint64_t rows_capacity = 1;
    std::string_view variant = {};  ///< which of KernelText::variants; unknown: the first

    const Shape& shape(int k) const { return inputs[static_cast<size_t>(k)].shape; }
};

/// One dispatch with a kernel of the operator's own.  In scope of `glsl`, for input k and output k:
///
///     T ink(int i)              element i, in row-major order; may fold the input's producer
///     void outk(int i, T v)     stores element i; may fold what follows element by element, so
///                               each element is stored once and by one thread
///     ink_dim0, outk_dim0, ...  extents, and ink_count, outk_count: the product of all
///     rows                      the live rows, if any of these extents depends on them
///
/// and those of the following whose names are in `uses`:
///
///     vec4 ink_four(int i)      of a float input, elements i to i + 3, i being a multiple of four
///     float16_t ink_half(int i) of an f16 input, element i; only in texts with matrices
///     uvec4 ink_eight(int i)    of an f16 input, elements i to i + 7 as they lie in memory, i being
///                               a multiple of eight
///     void outk_at(int c0, int c1, ..., T v)    the same as outk, by coordinates
///     void outk_four_at(int c0, int c1, ..., vec4 v)    likewise, of a float output, four along the
///                               last axis, whose extent and place are multiples of four
///     void outk_eight_at(..., vec4 v, vec4 after)       likewise, eight
///
/// T is float, int or uint (bool is uint).  Where OpDef::reads_buffers is set, `ink` is a buffer
/// instead: ink_load(i) is element i as T, and ink.at[i] as it lies in memory, where it may be of 16
/// or 8 bits (device_dtype).  Of shaders/common narrow.glsl is in scope, coopmat.glsl if `has_matrices`,
/// math.glsl (hearth_tanh ...) if `uses` names it.  The text says itself which extensions it requires.
///
/// The grid is `items` / `per_group` workgroups along each axis, rounded up.  Along x there may be
/// fewer when the device allows no more, so a kernel walks in strides of gl_NumWorkGroups.x; and
/// there may be more than the live rows need, when a recording is replayed.
struct KernelText {
    struct Axis {
        Dim items = Dim(1);
        uint32_t per_group = 1;
    };
    std::string name;
    std::string glsl;                    ///< from constants and functions to main()
    std::vector<std::string> uses = {};  ///< {"in0_four", "math.glsl"}: see above
    bool has_matrices = false;           ///< the text multiplies matrices
    std::array<uint32_t, 3> local_size{1, 1, 1};
    std::array<Axis, 3> grid;
    uint64_t flops = 0;
    /// Instead of glsl: finished code, bound to inputs, outputs and, if `spirv_reads_rows`, the run
    /// block, in this order; needs reads_buffers.
    std::vector<uint32_t> spirv;
    bool spirv_reads_rows = false;
    /// All that compute the same on this device, for tuning; the one that is shipped first.  The
    /// attributes must be integers and lists of them.
    std::vector<std::string> variants;
};

/// How code generation treats a node.
enum class OpClass : uint8_t {
    kElementwise,  ///< `at` reads each input only through c.x(k)
    kIndexed,      ///< `at` reads anywhere; cheap ones (views) are recomputed in each reader
    kReduce,       ///< folds `axes` (attribute; kept with extent 1) with `fold`
    kMatmul,       ///< batched matrix product with transpose flags
    kKernel,       ///< its `kernel` rule, or, where that declines, its decomposition
    kComposite,    ///< has no kernel of its own: decomposed before code generation
};

enum class Fold : uint8_t { kSum, kProduct, kMax, kMin };

/// One call that tests, benchmarks and documentation use.
struct Sample {
    std::vector<TensorType> inputs;
    Attrs attrs;
    double low = -2, high = 2;  ///< range of random inputs; integers: [low, high)
    int64_t rows = 3;           ///< what kRows stands for
    bool gradient = true;       ///< away from kinks, so finite differences hold
    bool is_perf = false;
};

class Samples {
  public:
    Sample& add(std::initializer_list<Shape> shapes, Attrs attrs = {}) {
        Sample& s = list_.emplace_back();
        for (const Shape& shape : shapes) s.inputs.push_back({DType::kF32, shape});
        s.attrs = std::move(attrs);
        return s;
    }
    Sample& add_typed(std::initializer_list<TensorType> inputs, Attrs attrs = {}) {
        Sample& s = list_.emplace_back();
        s.inputs.assign(inputs.begin(), inputs.end());
        s.attrs = std::move(attrs);
        return s;
    }
    std::span<const Sample> all() const { return list_; }

  private:
    std::vector<Sample> list_;
};

/// Reads one ONNX node of the operator's kind; see io/onnx_import.hpp.
struct OnnxCall;

struct OnnxMapping {
    std::string_view op_type;
    int since_opset = 1;
    /// Returns the outputs; null: inputs and equally named attributes are passed on as they are.
    std::vector<Tensor> (*import)(OnnxCall&) = nullptr;
};

struct Tolerance {
    double f32 = 1e-5;  ///< relative to max(1, |reference|)
    double f16 = 2e-3;
};

struct OpDef {
    std::string_view name;
    std::string_view summary;  ///< one sentence with the formula
    FixedList<InputSpec, 8> inputs;
    FixedList<AttrSpec, 12> attrs;
    OpClass op_class = OpClass::kElementwise;
    bool is_cast = false;     ///< kElementwise: the input in the type `to`
    bool is_view = false;     ///< kIndexed: cheaper to compute again in each reader than to store
    bool is_reshape = false;  ///< a view of all elements in their order
    bool reads_once = false;  ///< kIndexed, kKernel: reads each input element at most once
    /// kKernel: reads inputs as buffers, so each must be stored; nothing is fused with it.
    bool reads_buffers = false;
    /// kKernel: the kernel leaves elements of output 0 that it does not write as they are, and
    /// input 0, of the same type, is not in scope of it.  Such a node runs only where output 0 is
    /// nothing but the update of input 0, a param or state, whose bytes it changes in place;
    /// everywhere else its decomposition takes over.
    bool writes_in_place = false;
    Fold fold = Fold::kSum;

    Status (*infer)(InferCall&) = nullptr;
    AtRule at;
    void (*reference)(ReferenceCall&) = nullptr;  ///< null: the CPU runs `at` (or the fold)
    std::vector<Tensor> (*decompose)(DecomposeCall&) = nullptr;
    /// Only for kKernel.  Nothing: the operands or the device do not suit it; decompose instead.
    std::optional<KernelText> (*kernel)(const KernelRuleCall&) = nullptr;
    /// Null: the operator has no gradient (asking for one is an error); stops_gradient: it is zero.
    std::vector<Tensor> (*vjp)(VjpCall&) = nullptr;
    bool stops_gradient = false;

    FixedList<OnnxMapping, 6> onnx;
    void (*samples)(Samples&) = nullptr;
    Tolerance tolerance;
};

/// Checks the operands and attributes against `op`, fills in attribute defaults, infers the types
/// and appends a node.  One tensor for each output; all failed after an error, which names the
/// operator, the expectation and the shapes found.  trace: only an operator without inputs needs
/// it.
std::vector<Tensor> apply(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs = {},
                          Trace* trace = nullptr);

/// The same for an operator of one output.
Tensor apply_one(const OpDef& op, std::initializer_list<Tensor> inputs, Attrs attrs = {});

/// Infers output types from input types (attributes complete).  Used by apply and verify.
Status infer_types(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                   std::vector<TensorType>& outputs);

/// Makes a game's own operators known by name: to imported ONNX models, through their `onnx`
/// mappings, and to Packages that hold graphs with them.  Using them with apply() needs none of
/// this.  The records must live as long as the process.  Any thread, but not while another imports
/// or loads.  Errors: kInvalidArgument naming a record whose name another one has, or which lacks a
/// name or a shape rule; then none is registered.
Status register_ops(std::span<const OpDef> family);

}  // namespace hearth
