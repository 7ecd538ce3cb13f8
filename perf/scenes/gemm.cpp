// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Square matrix products, c = a * b.

#include "bench.hpp"
#include "data.hpp"

#include <hearth/ops.hpp>

#include <fmt/format.h>

namespace hearth::perf {

namespace {

/// x as a matrix times v, or v as a row times x.
std::vector<double> times(const HostTensor& x, const std::vector<double>& v) {
    const auto n = static_cast<int64_t>(v.size());
    const std::span<const float> values = x.as<float>();
    std::vector<double> out(v.size());
    for (int64_t i = 0; i < n; ++i)
        for (int64_t k = 0; k < n; ++k)
            out[static_cast<size_t>(i)] +=
                static_cast<double>(values[static_cast<size_t>(i * n + k)]) *
                v[static_cast<size_t>(k)];
    return out;
}

/// Freivalds' check of every row: c * v against a * (b * v), v being random signs.  Returns the
/// largest error in units of a row sum's size.
double freivalds_error(const HostTensor& a, const HostTensor& b, const HostTensor& c, int64_t n) {
    const HostTensor random = random_tensor("signs", {n});
    std::vector<double> signs(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) signs[static_cast<size_t>(i)] = random.get(i) < 0 ? -1 : 1;
    const std::vector<double> expected = times(a, times(b, signs)), found = times(c, signs);
    // Each of the row's n elements is a sum of n products of uniform numbers: variance n / 9.
    const double size = static_cast<double>(n) / 3;
    double worst = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        const double e = std::abs(found[i] - expected[i]) / size;
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

// One element that is off by its own size, sqrt(n) / 3, gives 1 / sqrt(n): at least 0.015 here.
// Rounding gives about 1e-6.
constexpr double kTolerance = 1e-4;

template <int64_t kSize>
Status run_gemm(Bench& bench, Row& row) {
    const Shape shape{kSize, kSize};
    row.flops = 2.0 * kSize * kSize * kSize;
    row.bytes = 3.0 * kSize * kSize * sizeof(float);
    Trace trace("gemm");
    trace.output("c", matmul(trace.input("a", shape), trace.input("b", shape)));
    HEARTH_ASSIGN(const Compiled compiled, bench.compile_for_device(trace, 1));
    const HostTensor a = random_tensor("a", shape), b = random_tensor("b", shape);
    const auto set_inputs = [&](Workload& workload) -> Status {
        HEARTH_TRY(workload.set_input("a", a));
        return workload.set_input("b", b);
    };
    HEARTH_ASSIGN(std::unique_ptr<Workload> workload,
                  Workload::create(bench.device(), compiled, 1));
    HEARTH_TRY(set_inputs(*workload));
    const auto check = [&]() -> Status {
        HEARTH_ASSIGN(const HostTensor c, workload->read_output("c", 1));
        const double e = freivalds_error(a, b, c, kSize);
        row.note = fmt::format("rows differ by {:.1e} from double precision", e);
        return e <= kTolerance ? Status() : internal_error(row.note);
    };
    HEARTH_ASSIGN(const Bench::Sample first, bench.sample(*workload, 1, 1));
    HEARTH_TRY(check());
    HEARTH_TRY(bench.time(*workload, 1, first, row));
    HEARTH_TRY(check());
    if (bench.settings().wants_steps && row.state == Row::State::kOk) {
        HEARTH_ASSIGN(row.steps, bench.step_times(compiled, 1, set_inputs));
    }
    return {};
}

constexpr Scene kScenes[] = {
    {"gemm_f32_1024", "product of two 1,024 x 1,024 matrices", run_gemm<1024>},
    {"gemm_f32_4096", "product of two 4,096 x 4,096 matrices", run_gemm<4096>},
};

}  // namespace

std::span<const Scene> gemm_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
