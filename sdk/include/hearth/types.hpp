// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element types, shapes with a symbolic batch axis, and the description of a device as plain data.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

enum class DType : uint8_t {
    kF32,
    kF16,
    kBF16,
    kF64,
    kI8,
    kU8,
    kI16,
    kU16,
    kI32,
    kU32,
    kI64,
    kU64,
    kBool
};

inline constexpr int kDTypeCount = 13;

/// Bytes of one element in host memory.
uint32_t size_bytes(DType dtype);
/// "f32", "i64", "bool", ...
std::string_view name_of(DType dtype);
bool is_floating(DType dtype);
bool is_integer(DType dtype);  ///< signed or unsigned; not bool
bool is_unsigned(DType dtype);

/// Element types other than those of 32 bits that device buffers hold natively.
/// Each element of another type takes a 32-bit word: packing several narrow ones into one would be
/// a data race between threads, and wide ones are rounded or wrap.
struct NarrowStorage {
    bool bits16 = false;   ///< f16, bf16, i16 and u16 take 2 bytes
    bool bits8 = false;    ///< i8, u8 and bool take 1 byte
    bool int64 = false;    ///< i64 and u64 take 8 bytes
    bool float64 = false;  ///< f64 takes 8 bytes

    friend constexpr bool operator==(NarrowStorage, NarrowStorage) = default;
};

/// The type of an element in device memory.  f32, i32 and u32 are unchanged, and so are types that
/// `storage` covers; other floats are held as f32 (f16 and bf16 rounded to their own precision),
/// other signed integers and bool as i32, unsigned ones as u32.  CPUs hold all types as they are;
/// for a GPU compile() proves that 32 bits hold the integers of a program, has it store 64 bits, or
/// fails (CompileOptions::assume_int32).
DType device_dtype(DType dtype, NarrowStorage storage);

/// One extent: `count`, or `count` times the batch size.
///
/// The batch size is the number of agents (or samples) of a frame.  It is known only when a program
/// is recorded; everything else about a shape is known when it is compiled.
struct Dim {
    int64_t count = 1;
    bool is_batch = false;

    constexpr Dim() = default;
    constexpr Dim(int64_t fixed) : count(fixed) {}
    constexpr Dim(int64_t count_, bool is_batch_) : count(count_), is_batch(is_batch_) {}

    constexpr int64_t resolve(int64_t batch_size) const {
        return is_batch ? count * batch_size : count;
    }
    constexpr bool is_one() const { return count == 1 && !is_batch; }
    friend constexpr bool operator==(Dim, Dim) = default;
};

/// The symbolic extent: one element per item of the batch.
inline constexpr Dim kBatch{1, true};

inline constexpr int kMaxRank = 8;

/// Extents from the outermost to the innermost dimension, at most kMaxRank of them.
class Shape {
  public:
    Shape() = default;
    Shape(std::initializer_list<Dim> dims) {
        for (Dim d : dims) push_back(d);
    }
    explicit Shape(std::span<const int64_t> dims) {
        for (int64_t d : dims) push_back(Dim(d));
    }

    int rank() const { return rank_; }
    Dim operator[](int axis) const { return dims_[static_cast<size_t>(axis)]; }
    Dim& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
    std::span<const Dim> dims() const { return {dims_.data(), static_cast<size_t>(rank_)}; }
    void push_back(Dim d);
    void insert(int axis, Dim d);
    void erase(int axis);

    bool has_batch() const;
    /// Number of elements for this batch size.
    int64_t element_count(int64_t batch_size) const;
    /// The number of elements as one extent.  At most one dimension of a shape may be symbolic.
    Dim element_count() const;
    /// The shape with symbolic extents resolved for this batch size.
    Shape resolve(int64_t batch_size) const;

    friend bool operator==(const Shape& a, const Shape& b) {
        if (a.rank_ != b.rank_) return false;
        for (int i = 0; i < a.rank_; ++i)
            if (a[i] != b[i]) return false;
        return true;
    }

  private:
    std::array<Dim, kMaxRank> dims_{};
    int rank_ = 0;
};

/// "[batch, 64]", "[2*batch]", "[]".
std::string to_string(const Shape& shape);
std::string to_string(Dim dim);

/// NumPy's broadcasting of two shapes.  Errors: kInvalidArgument if two extents differ and neither
/// is 1.
Result<Shape> broadcast(const Shape& a, const Shape& b);

/// `axis` counted from the front; negative counts from the back.  Errors: kOutOfRange.
Result<int> normalize_axis(int64_t axis, int rank);

/// Mechanism by which kernels access their operands.
enum class BindingModel : uint8_t {
    kDeviceAddress,  ///< 64-bit addresses in push constants (needs bufferDeviceAddress)
    kDescriptor,     ///< push descriptors, for devices and applications without addresses
};

/// Vulkan extension through which kernels use cooperative matrices.
enum class CooperativeMatrixExt : uint8_t {
    kNone,
    kNv,   ///< VK_NV_cooperative_matrix
    kKhr,  ///< VK_KHR_cooperative_matrix, with the Vulkan memory model
};

/// Shape of a matrix product: [m, k] times [k, n].
struct MatrixShape {
    uint32_t m = 16, n = 16, k = 16;
    friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// Granularity (m, n, k) of workgroup-scope cooperative matrices for one workgroup size.
struct WorkgroupMatrixGranularity {
    uint32_t invocations = 0;  ///< workgroup size; 0: unused entry
    MatrixShape granularity = {};
    friend bool operator==(const WorkgroupMatrixGranularity&,
                           const WorkgroupMatrixGranularity&) = default;
};

/// Instruction set of the CPU that kernels in C are generated for, as compilers name it.
enum class CpuIsa : uint8_t {
    kNone,      ///< a GPU, through Vulkan
    kScalar,    ///< no vector registers: any C11 compiler
    kX86_64V2,  ///< SSE4.2: -march=x86-64-v2
    kX86_64V3,  ///< AVX2 and FMA: -march=x86-64-v3
    kX86_64V4,  ///< AVX-512: -march=x86-64-v4
    kNeon,      ///< AArch64
    kWasm128,   ///< WebAssembly: -msimd128
};

/// "x86-64-v3", as compilers call it; "none", "scalar", "neon", "wasm128".
const char* name_of(CpuIsa isa);

/// The kind of a Vulkan device, by the values of VkPhysicalDeviceType.
enum class DeviceType : uint8_t {
    kOther = 0,
    kIntegratedGpu = 1,  ///< shares its memory with the CPU
    kDiscreteGpu = 2,
    kVirtualGpu = 3,
    kCpu = 4,  ///< a driver that runs on the CPU
};

/// The device properties that the compiler depends on.  Plain data: filled in from a real device,
/// by `baseline_caps()` for cooking, or by hand in tests.
struct DeviceCaps {
    std::string name = "baseline";
    uint32_t subgroup_size = 32;
    uint32_t max_compute_work_group_invocations = 256;
    uint32_t max_compute_work_group_size_x = 256;
    uint32_t max_compute_work_group_count_x = 65535;
    uint32_t max_compute_shared_memory_size = 16384;
    uint32_t max_push_constants_size = 128;
    uint64_t min_storage_buffer_offset_alignment = 256;  ///< alignment of each value in the arena
    uint64_t max_storage_buffer_range = uint64_t{1} << 30;
    bool shader_float16 = false;
    bool storage_buffer_16bit_access = false;  ///< 16-bit elements in buffers
    bool storage_buffer_8bit_access = false;   ///< 8-bit elements in buffers
    /// 64-bit integers in kernels and buffers, for programs whose integers may exceed 32 bits.
    bool shader_int64 = false;
    bool shader_float64 = false;  ///< doubles in kernels and buffers: only of CPUs
    bool subgroup_arithmetic = false;
    /// With f16 operands and f32 accumulators.
    CooperativeMatrixExt cooperative_matrix = CooperativeMatrixExt::kNone;
    MatrixShape cooperative_matrix_shape = {};  ///< of a subgroup-scope product
    /// VK_NV_cooperative_matrix2, with f16 operands and f32 accumulators.
    std::array<WorkgroupMatrixGranularity, 4> workgroup_scope_granularities = {};
    uint32_t workgroup_scope_reserved_shared_memory = 0;  ///< bytes reserved by the driver
    bool cooperative_matrix_nv = false;                   ///< VK_NV_cooperative_matrix is enabled
    /// f16 pairs are multiplied and added up in f32 by one instruction.
    bool mixed_float_dot_product = false;
    CpuIsa cpu_isa = CpuIsa::kNone;  ///< not kNone: kernels are C for it (hearth/c.hpp), not SPIR-V
    DeviceType device_type = DeviceType::kOther;
    /// Multiprocessors, compute units or Xe cores, each of which runs workgroups: from the driver,
    /// or by device_id where it does not report them.  0: unknown.
    uint32_t compute_units = 0;
    /// Programs may reach buffers by address; otherwise all are compiled for push descriptors
    /// (BindingModel::kDescriptor).
    bool buffer_device_address = true;
    /// Newest SPIR-V version supported, as encoded in modules: 0x00010300 for Vulkan 1.1,
    /// 0x00010500 for 1.2.
    uint32_t spirv_version = 0x00010500;
    /// VkPhysicalDeviceProperties' vendorID and deviceID, and VkPhysicalDeviceDriverProperties'
    /// driverID.  0: unknown, as in device targets for devices of several vendors.
    uint32_t vendor_id = 0, device_id = 0, driver_id = 0;
    uint32_t driver_version = 0;  ///< driverVersion, in the vendor's encoding; 0: unknown

    NarrowStorage narrow_storage() const {
        return {storage_buffer_16bit_access, storage_buffer_8bit_access, shader_int64,
                shader_float64};
    }

    friend bool operator==(const DeviceCaps&, const DeviceCaps&) = default;
};

/// Limits that every desktop device with Vulkan 1.2 has: programs cooked for it run on all of them.
DeviceCaps baseline_caps();

/// Caps for kernels in C that run on a CPU without Vulkan.
DeviceCaps cpu_caps(CpuIsa isa);

}  // namespace hearth
