// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles traces to a Program, and cooks packages of programs for several devices.
//
//     Trace act("act"), learn("learn");
//     ... build both; params of the same name are the same weights ...
//     auto compiled = compile({&act, &learn}, {.caps = caps, .max_batch_size = 256});
//     auto program = LoadedProgram::load(context, compiled->bytes);   // hearth_runtime.hpp

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>
#include <hearth/types.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Storage format of weights for inference.
enum class WeightFormat : uint8_t {
    kUnchanged,
    kF16,   ///< 2 bytes where the device has 16-bit storage
    kInt8,  ///< packed four to a word
    kInt4,  ///< packed eight to a word
};

/// Post-training quantization without calibration of the f32 params and constants that matrix
/// products and convolutions read.  kInt8 and kInt4 store integers and one scale for each
/// `group_size` elements that are contiguous along the inner axis, as params "NAME.q8" or "NAME.q4"
/// (u32 words) and "NAME.scale"; kF16 keeps the name.  Kernels widen weights as they load them, and
/// accumulate in f32.  Weights that an entry updates stay as they are: learn first, then compile
/// the trained weights.
struct QuantizeOptions {
    WeightFormat format = WeightFormat::kUnchanged;
    uint64_t min_elements = 1024;    ///< smaller weights stay as they are
    int64_t group_size = 32;         ///< elements per scale
    DType scale_type = DType::kF16;  ///< or kF32
};

/// Fusion of computations that treat each batch item on its own, matrix products included, into one
/// kernel.
enum class FuseMlp : uint8_t {
    kAuto,  ///< on GPUs; software drivers are faster with one kernel per product
    kAlways,
    kNever,
};

/// Operand precision of matrix products, including convolutions that run as products and the
/// products of gradients.
enum class Precision : uint8_t {
    kF32,
    /// Operands rounded to f16, with f32 accumulators and f32 for all other arithmetic; params and
    /// states keep their types.  Results are accurate to about three digits, and operands beyond
    /// 65,504 become infinite: train with a GradScaler (hearth/optim.hpp).  Halves the bytes read,
    /// and uses cooperative matrices where the device has them; without 16-bit storage, f32
    /// elements hold the rounded values.
    kF16,
};

/// Quantization error and size of one weight.
struct QuantizedWeight {
    std::string name = {};
    Shape shape = {};
    double rms = 0;        ///< root mean square of the original elements
    double rms_error = 0;  ///< root mean square of the differences
    double max_error = 0;
    uint64_t bytes_before = 0, bytes_after = 0;  ///< scales included
};

struct CompileOptions {
    /// The device to compile for: get_device_caps() of a device, or baseline_caps() for any.
    DeviceCaps caps = baseline_caps();
    BindingModel binding_model = BindingModel::kDeviceAddress;  ///< see caps.buffer_device_address
    /// Maximum batch size (agents, samples) of a recording of any entry.
    uint64_t max_batch_size = 1;
    /// Maximum scratch memory of the Program; 0: no limit.  To stay within it, long-lived values
    /// are recomputed, first those that free the most bytes for the least arithmetic
    /// (compiler/passes/rematerialize.cpp).  Where that does not suffice, gradients are summed in
    /// fewer parts, by fewer workgroups.  Results are equal up to rounding, because kernels are
    /// fused differently.
    uint64_t arena_budget_bytes = 0;
    /// Off: one kernel for each operator, to measure the effect of fusion.
    bool fuse = true;
    /// Fusing MLPs also needs `fuse`.
    FuseMlp fuse_mlp = FuseMlp::kAuto;
    /// Lets entries share scratch memory.  No entry may then run between two slices of another.
    bool share_arena = false;
    /// Keeps each kernel's source in the Program: GLSL for people to read; C for a CPU device to
    /// compile where it has no function of the kernel.  By default C is kept and GLSL is not.
    std::optional<bool> keep_source = {};
    QuantizeOptions quantize = {};
    Precision precision = Precision::kF32;
    /// GPUs: holds i64 and u64 in 32 bits even where their range is not proven to fit, which is an
    /// error otherwise on a device without DeviceCaps::shader_int64.  Beyond 32 bits they wrap.
    bool assume_int32 = false;
    /// GPUs: computes f64 in f32, which is an error otherwise: kernels of GPUs have no doubles.
    bool assume_float32 = false;
    /// Kernel variants that were measured on a device (hearth/tuning.hpp).  Ignored, with a remark,
    /// if they were measured on a device other than caps.name, or with another driver or version of
    /// Hearth.
    std::string tuning = {};
    /// Identifies the device's driver: any text that differs between drivers.  Used only for
    /// tuning.
    std::string driver_id = {};
    /// Called with each entry's graph as text after tracing ("trace") and after each pass.
    std::function<void(std::string_view entry, std::string_view stage, const std::string& text)>
        on_pass = {};
};

/// Result of compile().
struct Compiled {
    std::vector<std::byte> bytes = {};      ///< the serialized Program, for hearth_program_load
    uint64_t hash = 0;                      ///< equal for equal Programs on every platform
    std::string disassembly = {};           ///< weights, arena map, commands and barriers, as text
    std::vector<std::string> remarks = {};  ///< optimizations that were not applied, and why
    uint64_t weights_bytes = 0, arena_bytes = 0;
    uint32_t dispatch_count = 0, barrier_count = 0, kernel_count = 0;  ///< over all entries
    std::vector<QuantizedWeight> quantized = {};                       ///< in the order of names
    /// Kernels that have variants, for hearth::Tuner.
    std::vector<std::string> tunable_kernels = {};
};

/// Compiles the entries of one Program.  Params and states of one name are one variable and must
/// agree in shape, type and size of the initial value; the first entry that declares it initializes
/// it.
///
/// Errors: the first error of a trace; kInvalidArgument for a trace without outputs and updates,
/// and naming each field of the caps that is out of its range or contradicts another;
/// kUnsupported naming an operator without a kernel, or a node whose integers may exceed the
/// device's 32 bits, or doubles on a GPU (assume_int32, assume_float32);
/// kOutOfRange for memory beyond the device's limits or the arena's budget.
/// Threads: any; calls are independent.  Deterministic.
Result<Compiled> compile(std::span<Trace* const> entries, const CompileOptions& options);
inline Result<Compiled> compile(std::initializer_list<Trace*> entries,
                                const CompileOptions& options) {
    return compile(std::span<Trace* const>(entries.begin(), entries.size()), options);
}

/// One program of a package: its device target.
struct DeviceTarget {
    std::string name = "baseline";  ///< up to 31 characters
    CompileOptions options = {};    ///< max_batch_size: CookOptions'; caps.name: `name`
};

struct CookOptions {
    /// In order of preference: a device uses the first that it can run.  Empty: baseline alone.
    std::vector<DeviceTarget> device_targets = {};
    /// Maximum batch size of a recording; 0: 1, and for recook() that of the package.
    uint64_t max_batch_size = 0;
    std::string notes = {};  ///< kept in the package, for information
    /// AgentManifest::save() of agents whose entries these are: hearth_agents_create then needs
    /// only the package.
    std::vector<std::byte> agents = {};
    /// Applies to all device targets and to the graphs that the package keeps: it holds no
    /// unquantized copy.
    QuantizeOptions quantize = {};
    /// Called before each device target is compiled, and after the last: 0 <= done <= count.
    std::function<void(std::string_view profile, size_t done, size_t count)> progress = {};
};

/// The compiled program of one device target.
struct CookedTarget {
    std::string name = {};
    Compiled compiled = {};       ///< without `bytes`: the program is in the package
    uint64_t program_bytes = 0;   ///< in the package, compressed, without weights
    uint64_t spirv_bytes = 0;     ///< before compression
    uint64_t operator_count = 0;  ///< operators that the kernels compute, after the passes
};

struct Cooked {
    std::vector<std::byte> bytes = {};  ///< the package: a `.hearth` file
    uint64_t graph_hash = 0;
    uint64_t weights_bytes = 0;  ///< stored once, for all device targets
    uint64_t graph_bytes = 0;    ///< in the package, compressed
    std::vector<CookedTarget> device_targets = {};
    std::vector<QuantizedWeight> quantized = {};  ///< in the order of names
};

/// Compiles the entries for each device target and packs the programs, the weights and the graphs,
/// for LoadedProgram::load_package.  Errors: as compile(), naming the device target;
/// kInvalidArgument for device targets of equal names, and for a max_batch_size below the number of
/// agents in options.agents.  Deterministic.
Result<Cooked> cook(std::span<Trace* const> entries, const CookOptions& options);
inline Result<Cooked> cook(std::initializer_list<Trace*> entries, const CookOptions& options) {
    return cook(std::span<Trace* const>(entries.begin(), entries.size()), options);
}

/// Cooks the graphs that a package keeps again for other device targets.  Without options.agents
/// its agent manifest is kept, without options.max_batch_size its maximum batch size.
/// Errors: also those of the package.
Result<Cooked> recook(std::span<const std::byte> package, const CookOptions& options);

}  // namespace hearth
