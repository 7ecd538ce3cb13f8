// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// From traces to a Program: the one call that runs the compiler column.
//
//     Trace act("act"), learn("learn");
//     ... build both; params of the same name are the same weights ...
//     auto compiled = compile({&act, &learn}, {.rows_capacity = 256, .caps = caps});
//     auto program = LoadedProgram::load(context, compiled->bytes);   // hearth_runtime.hpp

#pragma once

#include <hearth/status.hpp>
#include <hearth/tensor.hpp>
#include <hearth/types.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// How weights are kept for inference.
enum class WeightFormat : uint8_t {
    kAsTraced,
    kF16,   ///< 2 bytes where the device has 16-bit storage
    kInt8,  ///< packed four to a word
    kInt4,  ///< packed eight to a word
};

/// Post-training quantization, without calibration: replaces f32 params and constants that matrix
/// products and convolutions read.  kInt8 and kInt4 keep integers and a scale for each `block`
/// elements that follow each other in memory, along the inner axis, as params "NAME.q8" or "NAME.q4"
/// (u32 words) and "NAME.scale"; kF16 keeps the name.  Kernels widen weights while they read, and
/// accumulate in f32.  Weights that an entry updates stay as they are: learn first, then compile
/// the trained contents.
struct QuantizeOptions {
    WeightFormat format = WeightFormat::kAsTraced;
    uint64_t min_elements = 1024;    ///< smaller weights stay as they are
    int64_t block = 32;              ///< elements of one scale
    DType scale_type = DType::kF16;  ///< or kF32
};

/// Whether what treats each row alone, with its products, becomes one kernel.
enum class FusedNetworks : uint8_t {
    kWherePays,  ///< on GPUs; a software driver is faster with a kernel for each product
    kAlways,
    kNever,
};

/// What matrix products read.  Convolutions that run as products and all gradients are included.
enum class Precision : uint8_t {
    kF32,
    /// Operands rounded to f16, sums and all other arithmetic in f32; params and states keep their
    /// types.  Results are then accurate to about three digits, and operands beyond 65,504 become
    /// infinite: train with a LossScale (hearth/optim.hpp).  Half the bytes, and matrix cores where
    /// the device has them; without 16-bit storage, f32 that hold rounded numbers.
    kF16,
};

/// What became of one weight.
struct QuantizedWeight {
    std::string name;
    Shape shape;
    double rms = 0;        ///< of its elements before
    double rms_error = 0;  ///< of the differences
    double max_error = 0;
    uint64_t bytes_before = 0, bytes_after = 0;  ///< scales included
};

struct CompileOptions {
    /// The GPU to compile for: query_caps() of a device, or baseline_caps() for any.
    DeviceCaps caps = baseline_caps();
    BindingModel binding_model = BindingModel::kDeviceAddress;
    /// The most rows (agents, samples) that a recording of any entry may have.
    uint64_t rows_capacity = 1;
    /// The most scratch memory that the Program may take; 0: no limit.  Where it would take more,
    /// values that are kept for long are computed again: those first that free the most bytes for
    /// the least arithmetic (compiler/passes/rematerialize.cpp).  Results are the same up to rounding:
    /// a device's kernels are divided differently then.
    uint64_t arena_budget_bytes = 0;
    /// Off: one kernel for each operator.  For finding out what fusion does.
    bool fuse = true;
    /// Fused networks need fusion and device addresses, too.
    FusedNetworks fused_networks = FusedNetworks::kWherePays;
    /// Lets entries share scratch memory.  Then none may run between two slices of another.
    bool share_arena = false;
    /// Keep each kernel's GLSL in the Program, for people to read.
    bool keep_source = true;
    QuantizeOptions quantize;
    Precision precision = Precision::kF32;
    /// Kernel variants that were measured on a device (hearth/tuning.hpp).  Ignored, with a note, if
    /// they were measured on another than caps.name, with another driver or version of Hearth.
    std::string tuning;
    /// The device's driver: any text that is another for another driver.  Matters for tuning alone.
    std::string driver;
    /// Sees each entry's graph after tracing ("trace") and after each pass, as text.
    std::function<void(std::string_view entry, std::string_view stage, const std::string& text)>
        observer;
};

/// What compile() makes.
struct Compiled {
    std::vector<std::byte> bytes;    ///< the serialized Program, for hearth_program_load
    uint64_t hash = 0;               ///< equal for equal Programs on every platform
    std::string listing;             ///< weights, arena map, steps and barriers, for people
    std::vector<std::string> notes;  ///< what could have been faster but was not done, and why
    uint64_t weights_bytes = 0, arena_bytes = 0;
    uint32_t dispatch_count = 0, barrier_count = 0, kernel_count = 0;  ///< over all entries
    std::vector<QuantizedWeight> quantized;                            ///< in the order of names
    /// Kernels that have variants, for hearth::Tuner.
    std::vector<std::string> tunable;
};

/// Compiles the entries of one Program.  Params and states with one name are one tensor and must
/// agree in shape, type and first contents' size; the first entry that declares it initializes it.
///
/// Errors: the first error of a trace; kInvalidArgument for a trace without outputs and updates;
/// kUnsupported naming an operator without a kernel;
/// kOutOfRange for memory beyond the device's limits or the arena's budget.
/// Threads: any; calls are independent.  Deterministic.
Result<Compiled> compile(std::span<Trace* const> entries, const CompileOptions& options);
inline Result<Compiled> compile(std::initializer_list<Trace*> entries,
                                const CompileOptions& options) {
    return compile(std::span<Trace* const>(entries.begin(), entries.size()), options);
}

/// One program of a package.
struct CookProfile {
    std::string name = "baseline";  ///< up to 31 characters
    CompileOptions options;         ///< rows_capacity and observer are CookOptions' own
};

struct CookOptions {
    /// Best first: a device gets the first that it can run.  None: baseline alone.
    std::vector<CookProfile> profiles;
    uint64_t rows_capacity = 1;
    std::string notes;  ///< kept in the package, for people and tools
    /// AgentManifest::save() of agents whose entries these are: hearth_agents_create then needs the
    /// package alone.
    std::vector<std::byte> agents;
    /// Of all profiles and of the graphs that the package keeps: it holds no wider copy.
    QuantizeOptions quantize;
    /// Called before each profile is compiled, and after the last: 0 <= done <= count.
    std::function<void(std::string_view profile, size_t done, size_t count)> progress;
};

/// What one profile of a package came to.
struct CookedProfile {
    std::string name;
    Compiled compiled;            ///< also usable alone
    uint64_t program_bytes = 0;   ///< in the package, without weights
    uint64_t spirv_bytes = 0;     ///< of them
    uint64_t operator_count = 0;  ///< that the kernels compute, after the passes
};

struct Cooked {
    std::vector<std::byte> bytes;  ///< the package: a `.hearth` file
    uint64_t graph_hash = 0;
    uint64_t weights_bytes = 0;  ///< once, for all profiles
    uint64_t graph_bytes = 0;
    std::vector<CookedProfile> profiles;
    std::vector<QuantizedWeight> quantized;  ///< in the order of names
};

/// Compiles the entries for each profile and packs the programs, the weights and the graphs, for
/// LoadedProgram::load_package.  Errors: as compile(), naming the profile; kInvalidArgument for
/// profiles of equal names.  Deterministic.
Result<Cooked> cook(std::span<Trace* const> entries, const CookOptions& options);
inline Result<Cooked> cook(std::initializer_list<Trace*> entries, const CookOptions& options) {
    return cook(std::span<Trace* const>(entries.begin(), entries.size()), options);
}

/// Cooks again what a package was made of, for other profiles; without options.agents, its manifest of
/// agents stays.  Errors: also those of the package.
Result<Cooked> recook(std::span<const std::byte> package, const CookOptions& options);

}  // namespace hearth
