// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// OpDef: the record that defines an operator.  Its shape rule, CPU reference, gradient, GPU
// lowering, ONNX mapping and test samples are all here; nothing else in Hearth lists operators.  An
// application defines custom operators in the same way: see docs/how-to/adding_an_operator.md.

#pragma once

#include <hearth/core/cpp20.hpp>
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
    std::string_view name = {};
    TypeClass types = TypeClass::kFloating;
    bool variadic = false;  ///< this input and all further ones
};

/// Attribute kinds, in the order of AttrValue's alternatives.
enum class AttrType : uint8_t { kInteger, kFloat, kString, kIntegers, kFloats, kDType, kShape };

struct AttrSpec {
    std::string_view name = {};
    AttrType type = AttrType::kInteger;
    /// Default if a call omits the attribute (kInteger and kFloat); NaN: it is required.
    double default_value = kRequired;
    static constexpr double kRequired = std::numeric_limits<double>::quiet_NaN();
};

struct TensorType {
    DType dtype = DType::kF32;
    Shape shape = {};
};

/// Context of a shape rule.
struct InferContext {
    const Attrs& attrs;
    std::span<const TensorType> inputs = {};
    std::vector<TensorType>& outputs;

    const Shape& shape(int k) const { return inputs[static_cast<size_t>(k)].shape; }
    DType dtype(int k) const { return inputs[static_cast<size_t>(k)].dtype; }
    Status one(DType dtype, const Shape& shape) {
        outputs.push_back({dtype, shape});
        return {};
    }
};

/// Context of a CPU reference.  Outputs are allocated with the inferred types.
struct ReferenceContext {
    const Attrs& attrs;
    std::span<const HostTensor> inputs = {};
    std::span<HostTensor> outputs = {};
};

/// Context of a decomposition, which returns one tensor for each output, built of other operators.
struct DecomposeContext {
    Trace& trace;
    const Attrs& attrs;
    std::span<const Tensor> inputs = {};
    const DeviceCaps* caps = nullptr;  ///< the device, where the decomposition is for one
    /// Output 0 is nothing but the update of input 0, a param or state, which may be modified in place.
    bool updates_input = false;
    const Tensor& in(size_t k) const { return inputs[k]; }
};

/// Context of a gradient rule.  It returns, for each input, the cotangent, or an empty Tensor where
/// there is none (integers, conditions).
struct VjpContext {
    Trace& trace;
    const Attrs& attrs;
    std::span<const Tensor> inputs = {};
    std::span<const Tensor> outputs = {};
    std::span<const Tensor> cotangents = {};  ///< one for each output; empty Tensor: zero
    const Tensor& in(size_t k) const { return inputs[k]; }
    const Tensor& out(size_t k = 0) const { return outputs[k]; }
    const Tensor& cotangent(size_t k = 0) const { return cotangents[k]; }
};

/// Context of a kernel rule.
struct KernelRuleContext {
    const Attrs& attrs;
    std::span<const TensorType> inputs, outputs = {};
    const DeviceCaps& caps;
    uint64_t max_batch_size = 1;
    std::string_view variant = {};  ///< an element of CustomKernel::variants; if unknown, the first

    const Shape& shape(int k) const { return inputs[static_cast<size_t>(k)].shape; }
};

class KernelBuilder;

/// One dispatch of a custom kernel: as a `body` for every target (hearth/kernel.hpp), or for Vulkan
/// alone as `glsl` or `spirv`.
///
/// In scope of `glsl`, for input k and output k:
///
///     T ink(int i)              element i, in row-major order; may inline the input's producer
///     void outk(int i, T v)     stores element i; may inline an element-wise epilogue, so each
///                               element is stored once and by one thread
///     ink_dim0, outk_dim0, ...  extents, and ink_count, outk_count: their product
///     rows                      the batch size, if any of these extents depends on it
///
/// and functions that GLSL lacks, or that Vulkan leaves too inexact:
///
///     float hearth_sin(x)       likewise cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh,
///                               acosh, atanh and erf
///     float hearth_pow(a, b)    likewise fmod, and atan2 of y and x
///     float hearth_min(a, b)    NaN if an operand is NaN; likewise max
///     float hearth_sign(x)      -1, 0 or 1; NaN of NaN
///     float hearth_round_f16(x)     the nearest number that f16 has
///     float hearth_round_bf16(x)    likewise of bf16
///
/// A text that stores four elements at once, or multiplies matrices, is a `body` instead.
/// T is float, int or uint (bool is int); of 64 bits, where the program stores them, int64_t or
/// uint64_t.
///
/// If OpDef::is_opaque is set, `ink` is a buffer instead: ink_load(i) is element i as T, and
/// ink.at[i] the element as stored, which may have 16 or 8 bits (device_dtype).
/// The text declares the extensions it requires.
///
/// The grid has `work_items` / `tile_size` workgroups along each axis, rounded up.  Along x there
/// may be fewer if the device's limit is lower, so a kernel loops in strides of gl_NumWorkGroups.x
/// (KernelBuilder::for_each, workgroup_count); and there may be more than the batch needs, when a
/// recording is replayed.  Workgroups and grids of bodies have one axis, x.
struct CustomKernel {
    struct Axis {
        Dim work_items = Dim(1);
        uint32_t tile_size = 1;
    };
    std::string name = {};
    std::function<void(KernelBuilder&)> body = {};  ///< writes the kernel's statements
    std::string glsl = {};  ///< constants and functions, up to and including main()
    std::array<uint32_t, 3> local_size{1, 1, 1};
    std::array<Axis, 3> grid = {};
    uint64_t flops = 0;
    /// Instead of glsl: SPIR-V, bound to inputs, outputs and, if `spirv_reads_rows`, the block that
    /// begins with the batch size, in this order; requires is_opaque.
    std::vector<uint32_t> spirv = {};
    bool spirv_reads_rows = false;
    /// All equivalent implementations for this device, for tuning; the shipped one first.  The
    /// attributes must be integers and lists of integers.
    std::vector<std::string> variants = {};
};

/// Code generation strategy of a node.
enum class OpClass : uint8_t {
    kElementwise,  ///< `compute` reads each input only through c.x(k)
    kInjective,    ///< `compute` reads anywhere; cheap ones (views) are recomputed in each reader
    kReduce,       ///< reduces `axes` (attribute; kept with extent 1) with `reduce`
    kMatmul,       ///< batched matrix product with transpose flags
    kKernel,       ///< its `kernel` rule or, if that declines, its decomposition
    kComposite,    ///< has no kernel of its own: decomposed before code generation
};

/// Direction in which an operator walks along a window of rows, each step of which needs the one before.
enum class WindowWalk : uint8_t { kNone, kForward, kBackward };

/// Which of attention's kernels (compiler/codegen/attention) an operator is.
enum class AttentionPass : uint8_t { kNone, kForward, kBackwardQueries, kBackwardKeys };

/// Traits by which passes and code generation recognize operators, instead of by name.
struct OpTraits {
    bool is_gather = false;         ///< kInjective: input 0 at the indices of input 1 along `axis`
    bool is_concat = false;         ///< kInjective: the inputs one after another along `axis`
    bool repeats_windows = false;   ///< a view in which elements recur in overlapping windows
    bool has_filter = false;        ///< input 1 is the filter of a convolution
    bool is_convolution = false;    ///< conv: the result from x and the filter
    bool is_random = false;         ///< the result is drawn from `key`, so it is not a constant
    bool unpacks_elements = false;  ///< the result is the elements that are packed into words
    bool is_partial_sum = false;    ///< adds up `parts` stretches of a sum, each on its own
    bool reduces_blocks = false;    ///< reduces blocks of `block` neighbours with OpDef::reduce
    bool is_checkpoint = false;     ///< gradients recompute the `nodes` nodes before it
    bool is_delayed = false;        ///< input 0, which is not read before input 1 is computed
    WindowWalk walk = WindowWalk::kNone;
    AttentionPass attention = AttentionPass::kNone;
};

enum class ReduceOp : uint8_t { kSum, kProduct, kMax, kMin };

/// One call for tests, benchmarks and documentation.
struct Sample {
    std::vector<TensorType> inputs = {};
    Attrs attrs = {};
    double low = -2, high = 2;  ///< range of random inputs; integers: [low, high)
    int64_t batch_size = 3;     ///< batch size that kBatch stands for
    bool gradient = true;       ///< away from kinks, so that finite differences hold
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

/// Context of an import function; see hearth/op/onnx_call.hpp.
struct OnnxCall;

struct OnnxMapping {
    std::string_view op_type = {};
    int since_opset = 1;
    /// Returns the outputs; null: inputs and attributes of equal names are passed on unchanged.
    std::vector<Tensor> (*import)(OnnxCall&) = nullptr;
};

/// Context of an export rule; see hearth/op/onnx_export.hpp.
struct OnnxExportCall;
/// Writes a node to an ONNX model, or returns false if ONNX cannot express this use of the operator.
using OnnxExportRule = bool (*)(OnnxExportCall&);

struct Tolerance {
    double f32 = 1e-5;  ///< relative to max(1, |reference|)
    double f16 = 2e-3;
};

struct OpDef {
    std::string_view name = {};
    std::string_view summary = {};  ///< one sentence with the formula
    FixedList<InputSpec, 8> inputs;
    FixedList<AttrSpec, 12> attrs;
    OpClass op_class = OpClass::kElementwise;
    bool is_cast = false;     ///< kElementwise: converts the input to the type `to`
    bool is_view = false;     ///< kInjective: cheaper to recompute in each reader than to store
    bool is_reshape = false;  ///< a view of all elements in the same order
    /// kInjective, kKernel: reads each input element at most once.
    bool reads_each_element_once = false;
    /// kKernel: reads inputs as buffers, so each must be stored; nothing is fused with it.
    bool is_opaque = false;
    /// kKernel: the kernel leaves elements of output 0 that it does not write unchanged, and input
    /// 0, of the same type, is not in scope of it.  Such a node is used only if output 0 is nothing
    /// but the update of input 0, a param or state, which it modifies in place; otherwise its
    /// decomposition is used.
    bool writes_in_place = false;
    OpTraits traits = {};
    ReduceOp reduce = ReduceOp::kSum;

    Status (*infer)(InferContext&) = nullptr;
    ComputeRule compute = {};
    void (*reference)(ReferenceContext&) = nullptr;  ///< null: the CPU runs `compute` (or `reduce`)
    std::vector<Tensor> (*decompose)(DecomposeContext&) = nullptr;
    /// kKernel only.  nullopt: the operands or the device are not supported; decompose instead.
    std::optional<CustomKernel> (*kernel)(const KernelRuleContext&) = nullptr;
    /// Null: the operator has no gradient (requesting one is an error), or with stops_gradient a
    /// zero one.
    std::vector<Tensor> (*vjp)(VjpContext&) = nullptr;
    bool stops_gradient = false;

    /// Null: an operator whose first mapping has no import function is written as that one, with
    /// the same inputs and attributes; others are exported as their decomposition.
    OnnxExportRule onnx_export = nullptr;
    FixedList<OnnxMapping, 6> onnx;
    void (*samples)(Samples&) = nullptr;
    Tolerance tolerance = {};
};

/// Checks the operands and attributes against `op`, fills in attribute defaults, infers the types
/// and appends a node.  Returns one tensor for each output; all failed after an error, which names
/// the operator, the expectation and the shapes found.  trace: required only for operators without
/// inputs.
std::vector<Tensor> apply(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs = {},
                          Trace* trace = nullptr);

/// apply() for an operator with one output.
Tensor apply_one(const OpDef& op, std::initializer_list<Tensor> inputs, Attrs attrs = {});

/// Infers output types from input types (attributes complete).  Used by apply and verify.
Status infer_types(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                   std::vector<TensorType>& outputs);

/// Registers custom operators by name: for imported ONNX models, through their `onnx` mappings, and
/// for Packages that hold graphs with them.  apply() works without registration.  The records must
/// live as long as the process.  Any thread, but not while another one imports or loads.  Errors:
/// kInvalidArgument naming a record whose name is taken, or which lacks a name or a shape rule;
/// then none is registered.
Status register_ops(std::span<const OpDef> family);

}  // namespace hearth
