// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix products c = a * b: square ones, and layers with small batches.

#include "bench.hpp"
#include "data.hpp"

#include <hearth/ops.hpp>

#include <fmt/format.h>

namespace hearth::perf {

namespace {

/// c [m, n] = a [m, k] * b, stored as [k, n], or as [n, k] like the weights of a layer.
struct Product {
    int64_t m, n, k;
    DType dtype = DType::kF32;  ///< of a, b and c; accumulators are f32
    bool b_is_transposed = false;
    WeightFormat weights = WeightFormat::kUnchanged;  ///< of b, which is then a parameter
};

/// Returns x [rows, columns] times v; or v times x, if by_columns.
std::vector<double> times(const HostTensor& x, bool by_columns, const std::vector<double>& v) {
    const auto rows = static_cast<size_t>(x.shape()[0].count);
    const auto columns = static_cast<size_t>(x.shape()[1].count);
    const std::span<const float> values = x.as<float>();
    std::vector<double> out(by_columns ? columns : rows);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) {
            const auto element = static_cast<double>(values[i * columns + j]);
            if (by_columns)
                out[j] += element * v[i];
            else
                out[i] += element * v[j];
        }
    return out;
}

/// Freivalds' check of every row: c * v against a * (b * v), with random signs v. Returns the
/// maximum error relative to the magnitude of a row sum.
double freivalds_error(const Product& p, const HostTensor& a, const HostTensor& b,
                       const HostTensor& c) {
    const HostTensor random = random_tensor("signs", {p.n});
    std::vector<double> signs(static_cast<size_t>(p.n));
    for (int64_t i = 0; i < p.n; ++i) signs[static_cast<size_t>(i)] = random.get(i) < 0 ? -1 : 1;
    const std::vector<double> expected = times(a, false, times(b, p.b_is_transposed, signs));
    const std::vector<double> found = times(c, false, signs);
    // Each of the row's n elements is a sum of k products of uniform values: variance k / 9.
    const double size = std::sqrt(static_cast<double>(p.n) * static_cast<double>(p.k)) / 3;
    double worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        const double e = std::abs(found[i] - expected[i]) / size;
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

// One element with an error of its own magnitude, sqrt(k) / 3, gives 1 / sqrt(n): at least 0.015
// here. Rounding of f32 sums gives about 1e-6; rounding of results to f16, 2e-4.
double tolerance(const Product& p) {
    return p.dtype == DType::kF16 ? 2e-3 : 1e-4;
}

/// Values that 8-bit or 4-bit blocks represent exactly: multiples of 1/128, each block including
/// the maximum.
HostTensor exact_weights(WeightFormat format, const Shape& shape) {
    HostTensor tensor = random_tensor("b", shape);
    const double largest = format == WeightFormat::kInt4 ? 7 : 127;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
        const double q = i % 32 == 0 ? largest : std::round(tensor.get(i) * largest);
        tensor.set(i, q / 128);
    }
    return tensor;
}

HostTensor as_f32(const HostTensor& tensor) {
    HostTensor out(DType::kF32, tensor.shape());
    for (int64_t i = 0; i < tensor.element_count(); ++i) out.set(i, tensor.get(i));
    return out;
}

HostTensor rounded(const HostTensor& tensor, DType dtype) {
    HostTensor out(dtype, tensor.shape());
    for (int64_t i = 0; i < tensor.element_count(); ++i) out.set(i, tensor.get(i));
    return out;
}

Status run_product(Bench& bench, Row& row, const Product& p) {
    const Shape a_shape{p.m, p.k}, c_shape{p.m, p.n};
    const Shape b_shape = p.b_is_transposed ? Shape{p.n, p.k} : Shape{p.k, p.n};
    const bool is_param = p.weights != WeightFormat::kUnchanged;
    const double bytes = size_bytes(p.dtype);
    const double b_bytes = p.weights == WeightFormat::kInt4   ? 0.5 + 2.0 / 32  // and the scales
                           : p.weights == WeightFormat::kInt8 ? 1 + 2.0 / 32
                           : p.weights == WeightFormat::kF16  ? 2
                                                              : bytes;
    const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
               k = static_cast<double>(p.k);
    row.operands = p.dtype;
    row.flops = 2 * m * n * k;
    row.bytes = (m * k + m * n) * bytes + n * k * b_bytes;
    const HostTensor a = rounded(random_tensor("a", a_shape), p.dtype);
    const HostTensor b = rounded(
        is_param ? exact_weights(p.weights, b_shape) : random_tensor("b", b_shape), p.dtype);
    Trace trace("gemm");
    const Tensor left = trace.input("a", a_shape, p.dtype);
    const Tensor right = is_param ? trace.param("b", b_shape, Init::from(b), p.dtype)
                                  : trace.input("b", b_shape, p.dtype);
    trace.output("c", matmul(left, right, false, p.b_is_transposed));
    HEARTH_ASSIGN(const Compiled compiled,
                  bench.compile_for_device(trace, 1, Precision::kF32, {.format = p.weights}));
    const auto set_inputs = [&](Workload& workload) -> Status {
        HEARTH_TRY(workload.set_input("a", a));
        return is_param ? Status() : workload.set_input("b", b);
    };
    HEARTH_ASSIGN(std::unique_ptr<Workload> workload,
                  Workload::create(bench.device(), compiled, 1));
    HEARTH_TRY(set_inputs(*workload));
    const HostTensor wide_a = as_f32(a), wide_b = as_f32(b);
    const auto check = [&]() -> Status {
        HEARTH_ASSIGN(const HostTensor c, workload->read_output("c", 1));
        const double e = freivalds_error(p, wide_a, wide_b, as_f32(c));
        row.note = fmt::format("rows differ by {:.1e} from double precision", e);
        return e <= tolerance(p) ? Status() : internal_error(row.note);
    };
    HEARTH_ASSIGN(const Bench::Sample first, bench.sample(*workload, 1, 1));
    HEARTH_TRY(check());
    HEARTH_TRY(bench.time(*workload, 1, first, row));
    HEARTH_TRY(check());
    if (bench.settings().wants_tuning) HEARTH_TRY(bench.time_variants(compiled, row).status());
    return bench.profile(compiled, 1, set_inputs, row);
}

template <Product kProduct>
Status run_gemm(Bench& bench, Row& row) {
    return run_product(bench, row, kProduct);
}

constexpr Product square(int64_t n, DType dtype) {
    return {n, n, n, dtype};
}
/// A layer of 4,096 to 4,096 with a small batch: limited by reading the weights.
constexpr Product layer(int64_t rows, DType dtype,
                        WeightFormat weights = WeightFormat::kUnchanged) {
    return {rows, 4096, 4096, dtype, true, weights};
}

/// A layer of a small transformer.
constexpr Product small_layer(int64_t inner, int64_t columns, DType dtype = DType::kF16) {
    return {128, columns, inner, dtype, true};
}

constexpr Scene kScenes[] = {
    {"gemm_f32_1024", "product of two 1,024 x 1,024 matrices", run_gemm<square(1024, DType::kF32)>},
    {"gemm_f32_4096", "product of two 4,096 x 4,096 matrices", run_gemm<square(4096, DType::kF32)>},
    {"gemm_f16_1024", "the same of f16, summed in f32", run_gemm<square(1024, DType::kF16)>},
    {"gemm_f16_4096", "the same of f16, summed in f32", run_gemm<square(4096, DType::kF16)>},
    {"layer_1_f32", "1 row times 4,096 x 4,096 weights", run_gemm<layer(1, DType::kF32)>},
    {"layer_1_f16", "the same of f16", run_gemm<layer(1, DType::kF16)>},
    {"layer_1_int8", "the same with weights of 8 bits",
     run_gemm<layer(1, DType::kF32, WeightFormat::kInt8)>},
    {"layer_1_int4", "the same with weights of 4 bits",
     run_gemm<layer(1, DType::kF32, WeightFormat::kInt4)>},
    {"layer_8_f32", "8 rows times 4,096 x 4,096 weights", run_gemm<layer(8, DType::kF32)>},
    {"layer_8_f16", "the same of f16", run_gemm<layer(8, DType::kF16)>},
    {"layer_8_int8", "the same with weights of 8 bits",
     run_gemm<layer(8, DType::kF32, WeightFormat::kInt8)>},
    {"layer_32_f32", "32 rows times 4,096 x 4,096 weights", run_gemm<layer(32, DType::kF32)>},
    {"layer_32_f16", "the same of f16", run_gemm<layer(32, DType::kF16)>},
    {"block_256_256_f16", "128 rows times 256 x 256 weights", run_gemm<small_layer(256, 256)>},
    {"block_256_768_f16", "128 rows times 256 x 768 weights", run_gemm<small_layer(256, 768)>},
    {"block_256_1024_f16", "128 rows times 256 x 1,024 weights", run_gemm<small_layer(256, 1024)>},
    {"block_256_256_f32", "the same of f32", run_gemm<small_layer(256, 256, DType::kF32)>},
    {"block_256_768_f32", "the same of f32", run_gemm<small_layer(256, 768, DType::kF32)>},
    {"block_1024_256_f32", "the same of f32", run_gemm<small_layer(1024, 256, DType::kF32)>},
    {"block_1024_256_f16", "128 rows times 1,024 x 256 weights", run_gemm<small_layer(1024, 256)>},
};

}  // namespace

std::span<const Scene> gemm_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
