// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Single 3 x 3 convolutions with relu: a batch of images as in the autotuning study of Burn's issue
// 805, and a 1080p frame.

#include "bench.hpp"
#include "data.hpp"

#include <hearth/ops.hpp>

#include <fmt/format.h>

#include <vector>

namespace hearth::perf {

namespace {

struct Case {
    int64_t images, in, out, height, width;
    DType dtype = DType::kF32;

    Shape x() const { return {images, in, height, width}; }
    Shape w() const { return {out, in, 3, 3}; }
    Shape y() const { return {images, out, height, width}; }
};

std::vector<float> floats(const HostTensor& x) {
    const HostTensor wide = x.cast(DType::kF32);
    const std::span<const float> values = wide.as<float>();
    return {values.begin(), values.end()};
}

/// Convolution of x with one 3 x 3 kernel per channel, padded by 1, in double precision.
std::vector<double> one_channel(const Case& c, const std::vector<float>& x,
                                const std::vector<double>& w) {
    std::vector<double> sums(static_cast<size_t>(c.images * c.height * c.width));
    for (int64_t plane = 0; plane < c.images * c.in; ++plane) {
        for (int64_t tap = 0; tap < 9; ++tap) {
            const double weight = w[static_cast<size_t>(plane % c.in * 9 + tap)];
            const int64_t down = tap / 3 - 1, right = tap % 3 - 1;
            for (int64_t i = std::max<int64_t>(0, -down); i < c.height - std::max<int64_t>(0, down);
                 ++i) {
                double* to = sums.data() + (plane / c.in * c.height + i) * c.width;
                const float* from = x.data() + (plane * c.height + i + down) * c.width + right;
                for (int64_t j = std::max<int64_t>(0, -right);
                     j < c.width - std::max<int64_t>(0, right); ++j)
                    to[j] += weight * from[j];
            }
        }
    }
    return sums;
}

/// Freivalds' check of every element: the output channels, summed with random signs, against the
/// convolution with weights summed likewise. Returns the maximum error relative to the magnitude of
/// such a sum.
double freivalds_error(const Case& c, const HostTensor& x, const HostTensor& w,
                       const HostTensor& y) {
    const HostTensor random = random_tensor("signs", {c.out});
    const std::vector<float> weights = floats(w), found = floats(y);
    const int64_t depth = c.in * 9, places = c.height * c.width;
    std::vector<double> added(static_cast<size_t>(depth));
    for (int64_t i = 0; i < c.out * depth; ++i)
        added[static_cast<size_t>(i % depth)] +=
            (random.get(i / depth) < 0 ? -1 : 1) * double(weights[static_cast<size_t>(i)]);
    std::vector<double> difference = one_channel(c, floats(x), added);
    for (int64_t plane = 0; plane < c.images * c.out; ++plane) {
        const double sign = random.get(plane % c.out) < 0 ? -1 : 1;
        const float* from = found.data() + plane * places;
        double* to = difference.data() + plane / c.out * places;
        for (int64_t p = 0; p < places; ++p) to[p] -= sign * from[p];
    }
    // A sum of depth * out products of uniform values, variance 1 / 9 each.
    const double size = std::sqrt(static_cast<double>(depth * c.out)) / 3;
    double worst = 0;
    for (const double d : difference)
        if (!(std::abs(d) / size <= worst)) worst = std::abs(d) / size;
    return worst;
}

// One element with an error of its own magnitude, sqrt(depth) / 3, gives 1 / sqrt(out): at least
// 0.125.
constexpr double kTolerance = 1e-5, kToleranceF16 = 5e-3;

struct Operands {
    HostTensor x, w;

    Status set(Workload& workload) const {
        HEARTH_TRY(workload.set_input("x", x));
        return workload.set_input("w", w);
    }
};

Result<Compiled> compile_conv(Bench& bench, const Case& c, const std::string& tuning) {
    Trace trace("conv");
    trace.output("y", conv(trace.input("x", c.x(), c.dtype), trace.input("w", c.w(), c.dtype), {},
                           {.pad_begin = {1}}));
    return bench.compile_for_device(trace, 1, Precision::kF32, {}, tuning);
}

/// Times a program, checked before and after.
Status time_conv(Bench& bench, const Case& c, const Compiled& compiled, const Operands& operands,
                 Row& row) {
    HEARTH_ASSIGN(std::unique_ptr<Workload> workload,
                  Workload::create(bench.device(), compiled, 1));
    HEARTH_TRY(operands.set(*workload));
    const auto check = [&]() -> Status {
        HEARTH_ASSIGN(const HostTensor y, workload->read_output("y", 1));
        const double e = freivalds_error(c, operands.x, operands.w, y);
        row.note = fmt::format("sums of channels differ by {:.1e} from double precision", e);
        return e <= (c.dtype == DType::kF16 ? kToleranceF16 : kTolerance)
                   ? Status()
                   : internal_error(row.note);
    };
    HEARTH_ASSIGN(const Bench::Sample first, bench.sample(*workload, 1, 1));
    HEARTH_TRY(check());
    HEARTH_TRY(bench.time(*workload, 1, first, row));
    return check();
}

/// Tunes the kernel, times the program again and adds its figures to the row's details.
Status add_tuned(Bench& bench, const Case& c, const Compiled& shipped, const Operands& operands,
                 Row& row) {
    HEARTH_ASSIGN(const std::string tuning, bench.time_variants(shipped, row));
    HEARTH_ASSIGN(const Compiled compiled, compile_conv(bench, c, tuning));
    Row tuned;
    HEARTH_TRY(time_conv(bench, c, compiled, operands, tuned));
    const auto add = [&](const std::string& which, const Statistics& s) {
        const std::pair<const char*, double> figures[] = {{"mean", s.mean},
                                                          {"variance", s.variance},
                                                          {"median", s.median},
                                                          {"min", s.min},
                                                          {"max", s.max}};
        for (const auto& [name, value] : figures)
            row.details.emplace_back(which + ", us, " + name, value);
    };
    add("default", row.repeated_us);
    add("tuned", tuned.repeated_us);
    return {};
}

template <const Case& c>
Status run_conv(Bench& bench, Row& row) {
    const double element_bytes = size_bytes(c.dtype);
    const auto places = static_cast<double>(c.images * c.height * c.width);
    row.operands = c.dtype;
    row.flops = 2 * places * static_cast<double>(c.out * c.in * 9);
    row.bytes = places * static_cast<double>(c.in + c.out) * element_bytes;
    const Operands operands{random_tensor("x", c.x()).cast(c.dtype),
                            random_tensor("w", c.w()).cast(c.dtype)};
    HEARTH_ASSIGN(const Compiled compiled, compile_conv(bench, c, ""));
    HEARTH_TRY(time_conv(bench, c, compiled, operands, row));
    if (bench.settings().wants_tuning) HEARTH_TRY(add_tuned(bench, c, compiled, operands, row));
    return bench.profile(
        compiled, 1, [&](Workload& workload) { return operands.set(workload); }, row);
}

constexpr Case kConv3To64{32, 3, 64, 224, 224}, kConv3To16{32, 3, 16, 224, 224};
template <int64_t images, int64_t out>
constexpr Case kConvOfBatch{images, 3, out, 224, 224};
constexpr Case kFrame{1, 16, 16, 1080, 1920}, kFrameF16{1, 16, 16, 1080, 1920, DType::kF16};
constexpr Case kDeep{32, 64, 64, 56, 56}, kDeepF16{32, 64, 64, 56, 56, DType::kF16};
constexpr Case kConv3To64Small{2, 3, 64, 64, 64}, kConv3To16Small{2, 3, 16, 64, 64};
constexpr Case kFrameSmall{1, 16, 16, 135, 240};

constexpr Scene kScenes[] = {
    {"conv_3_64_f32", "32 images of 224 x 224, 3 to 64 channels", run_conv<kConv3To64>},
    {"conv_3_16_f32", "the same, 3 to 16 channels", run_conv<kConv3To16>},
    {"conv_3_64_f32_b8", "8 images, 3 to 64 channels", run_conv<kConvOfBatch<8, 64>>},
    {"conv_3_64_f32_b10", "10 images", run_conv<kConvOfBatch<10, 64>>},
    {"conv_3_64_f32_b12", "12 images", run_conv<kConvOfBatch<12, 64>>},
    {"conv_3_16_f32_b8", "8 images, 3 to 16 channels", run_conv<kConvOfBatch<8, 16>>},
    {"conv_3_16_f32_b10", "10 images", run_conv<kConvOfBatch<10, 16>>},
    {"conv_3_16_f32_b12", "12 images", run_conv<kConvOfBatch<12, 16>>},
    {"conv_16_16_1080p_f32", "1,920 x 1,080, 16 to 16 channels", run_conv<kFrame>},
    {"conv_16_16_1080p_f16", "the same, f16", run_conv<kFrameF16>},
    {"conv_64_64_f32", "32 images of 56 x 56, 64 to 64 channels", run_conv<kDeep>},
    {"conv_64_64_f16", "the same, f16", run_conv<kDeepF16>},
    {"conv_3_64_small", "2 images of 64 x 64, 3 to 64 channels", run_conv<kConv3To64Small>},
    {"conv_3_16_small", "the same, 3 to 16 channels", run_conv<kConv3To16Small>},
    {"conv_16_16_small", "240 x 135, 16 to 16 channels", run_conv<kFrameSmall>},
};

}  // namespace

std::span<const Scene> convolution_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
