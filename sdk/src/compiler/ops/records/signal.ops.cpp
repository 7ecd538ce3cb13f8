// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The discrete Fourier transform and related operators. Complex numbers are a last axis of two: the
// real and the imaginary part.

#include "compiler/ir/graph.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <hearth/core/convert.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace hearth {

namespace {

// Element index times frequency index must fit 32 bits.
constexpr int64_t kLongestTransform = 46340;

Status infer_dft(InferContext& call) {
    const Shape& x = call.shape(0);
    HEARTH_TRY(check_axis(call.attrs, x.rank()));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    const int64_t length = call.attrs.integer("length"), count = call.attrs.integer("count");
    if (axis == x.rank() - 1 || x[x.rank() - 1] != Dim(2) || x[axis].is_batch)
        return invalid_argument("x is " + to_string(x) +
                                ", expected complex numbers in the last axis");
    if (length < 1 || length > kLongestTransform || count < 1 || x[axis].count < 1)
        return out_of_range("length " + std::to_string(length) + ", expected 1 to " +
                            std::to_string(kLongestTransform));
    Shape shape = x;
    shape[axis] = Dim(count);
    return call.one(call.dtype(0), shape);
}

/// scale * sum over n of x[n] * exp(-+ 2 pi i k n / length); the real and imaginary parts differ in
/// a sign.
const auto dft_rule = [](auto& c) {
    const int axis = static_cast<int>(c.attrs().integer("axis")), parts = c.rank() - 1;
    const int64_t length = c.attrs().integer("length");
    auto here = c.coords();
    auto place = here;
    auto part = here[parts];
    const double turns = c.attrs().flag("inverse") ? -1 : 1;
    auto sign = select(part == 0, c.value(turns), c.value(-turns));
    const double turn = 2 * std::numbers::pi / static_cast<double>(length);
    auto count = min(c.in_dim(0, axis), c.index(length));
    auto sum = c.sum(count, [&](auto n) {
        auto step = n * here[axis] % c.index(length);
        // Angles in (-pi, pi].
        auto angle = c.number(select(step + step > c.index(length), step - c.index(length), step));
        angle = angle * c.value(turn);
        place[axis] = n;
        place[parts] = part;
        auto along = c.in(0, place);
        place[parts] = 1 - part;
        auto across = c.in(0, place);
        return along * cos(angle) + sign * across * sin(angle);
    });
    // The adjoint of a transform that dropped elements gives these a gradient of zero.
    return select(here[axis] < c.index(length), sum * c.value(c.attrs().real("scale")), c.value(0));
};

constinit const OpDef kOps[] = {
    {
        .name = "dft",
        .summary = "scale * sum over n < length of x[n] exp(-2 pi i k n / length), k < count; "
                   "inverse: +2 pi i",
        .inputs = {{"x"}},
        .attrs = {{"axis", AttrType::kInteger},
                  {"length", AttrType::kInteger},
                  {"count", AttrType::kInteger},
                  {"inverse", AttrType::kInteger, 0},
                  {"scale", AttrType::kFloat, 1}},
        .op_class = OpClass::kInjective,
        .infer = infer_dft,
        .compute = compute_float(dft_rule),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            Attrs adjoint = v.attrs;
            const int axis = static_cast<int>(v.attrs.integer("axis"));
            adjoint.set("count", v.in(0).dim(axis).count);
            adjoint.set("inverse", int64_t{!v.attrs.flag("inverse")});
            return {apply_one(op("dft"), {v.cotangent()}, adjoint)};
        },
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& x, int64_t axis, int64_t length, int64_t count,
                                      int64_t inverse) {
                    s.add({x}, {{"axis", axis},
                                {"length", length},
                                {"count", count},
                                {"inverse", inverse},
                                {"scale", 0.5}});
                };
                add({8, 2}, 0, 8, 8, 0);
                add({3, 7, 2}, 1, 7, 4, 0);
                add({kBatch, 5, 2}, 1, 5, 5, 1);
                add({2, 6, 3, 2}, 1, 9, 9, 1);
                add({2, 6, 2}, 1, 4, 3, 0);
                add({1, 300, 2}, 1, 300, 151, 0);
            },
        .tolerance = {.f32 = 1e-4},
    },
};

}  // namespace

extern constinit const std::span<const OpDef> signal_ops{kOps};

Tensor dft(const Tensor& x, int64_t axis, const DftOptions& options) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context("dft"));
    const Dim parts = x.dim(-1), extent = x.dim(*at);
    if (*at == x.rank() - 1 || (parts != Dim(1) && parts != Dim(2)) || extent.is_batch)
        return fail(x, invalid_argument("dft: x is " + to_string(x.shape()) +
                                        ", expected one or two parts in the last axis, and a " +
                                        "length that is no number of rows"));
    const bool to_real = options.inverse && options.onesided;
    const int64_t length = options.length > 0 ? options.length
                           : to_real          ? 2 * (extent.count - 1)
                                              : extent.count;
    if (length < 1 || length > kLongestTransform)
        return fail(x, out_of_range("dft: length " + std::to_string(length) + ", expected 1 to " +
                                    std::to_string(kLongestTransform)));
    Tensor complex = x;
    if (parts == Dim(1)) complex = concat({x, zeros_like(x)}, -1);
    if (to_real) {
        // The missing half is the conjugate of the given one.
        const int64_t given = std::min(extent.count, length / 2 + 1);
        complex = slice(complex, *at, 0, given);
        Tensor mirrored = flip(slice(complex, *at, 1, length - given + 1), {*at});
        mirrored = concat({slice(mirrored, -1, 0, 1), neg(slice(mirrored, -1, 1, 2))}, -1);
        if (given < length) complex = concat({complex, mirrored}, *at);
    }
    const bool is_half = options.onesided && !options.inverse;
    const Tensor y = apply_one(
        op("dft"), {complex},
        {{"axis", int64_t{*at}},
         {"length", length},
         {"count", is_half ? length / 2 + 1 : length},
         {"inverse", int64_t{options.inverse}},
         {"scale",
          options.inverse ? 1.0 / static_cast<double>(std::max<int64_t>(length, 1)) : 1.0}});
    return to_real ? slice(y, -1, 0, 1) : y;
}

Tensor stft(const Tensor& x, int64_t frame_length, int64_t frame_step, const Tensor& window,
            bool onesided) {
    if (!x.ok()) return x;
    const int64_t length = x.rank() == 3 && !x.dim(1).is_batch ? x.dim(1).count : 0;
    if (frame_length < 1 || frame_step < 1 || frame_length > length)
        return fail(
            x, invalid_argument("stft: frames of " + std::to_string(frame_length) + ", every " +
                                std::to_string(frame_step) + ", of " + to_string(x.shape()) +
                                "; expected [batch, length, 1 or 2]"));
    const int64_t frames = (length - frame_length) / frame_step + 1;
    constexpr int64_t kMost = 1 << 24;
    if (frames > kMost / frame_length)
        return fail(x, out_of_range("stft: " + std::to_string(frames) + " frames of " +
                                    std::to_string(frame_length)));
    const auto places_bytes = static_cast<uint64_t>(frames * frame_length) * sizeof(int64_t);
    if (!x.trace()->has_room(1, places_bytes)) return failed_like(x);
    HostTensor places(DType::kI64, Shape{frames, frame_length});
    for (int64_t i = 0; i < places.element_count(); ++i)
        places.set_int(i, i / frame_length * frame_step + i % frame_length);
    Tensor framed = take(x, x.trace()->constant(std::move(places)), 1);
    if (window.ok()) framed = framed * unsqueeze(window, {-1});
    return dft(framed, 2, {.onesided = onesided});
}

namespace {

/// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N)
Tensor cosine_window(Trace& trace, int64_t size, bool periodic, DType dtype, double a0, double a1,
                     double a2) {
    if (size < 0 || size > INT32_MAX) {
        trace.fail(out_of_range("a window of " + std::to_string(size) + " elements"));
        return {&trace, kInvalidId};
    }
    if (!trace.has_room(1, static_cast<uint64_t>(size) * size_bytes(dtype)))
        return {&trace, kInvalidId};
    HostTensor window(dtype, Shape{size});
    const double turn =
        2 * std::numbers::pi / std::max(1.0, static_cast<double>(periodic ? size : size - 1));
    for (int64_t n = 0; n < size; ++n) {
        const double angle = turn * static_cast<double>(n);
        window.set(n, a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
    }
    return trace.constant(std::move(window));
}

}  // namespace

Tensor hann_window(Trace& trace, int64_t size, bool periodic, DType dtype) {
    return cosine_window(trace, size, periodic, dtype, 0.5, 0.5, 0);
}

Tensor hamming_window(Trace& trace, int64_t size, bool periodic, DType dtype) {
    // ONNX's coefficients; Hamming rounded them to 0.54 and 0.46.
    return cosine_window(trace, size, periodic, dtype, 25.0 / 46, 21.0 / 46, 0);
}

Tensor blackman_window(Trace& trace, int64_t size, bool periodic, DType dtype) {
    return cosine_window(trace, size, periodic, dtype, 0.42, 0.5, 0.08);
}

Tensor mel_weight_matrix(Trace& trace, const MelOptions& options, DType dtype) {
    constexpr int64_t kMost = 1 << 24;
    const int64_t bins = options.mel_bins, length = options.dft_length;
    // Written so that NaN and infinities are rejected, too.
    const bool fits = bins >= 1 && length >= 1 && length <= 2 * kMost &&
                      bins <= kMost / (length / 2 + 1) && options.sample_rate >= 1 &&
                      options.sample_rate <= std::numeric_limits<float>::max() &&
                      options.lower_hertz >= 0 && options.lower_hertz <= options.upper_hertz &&
                      options.upper_hertz <= options.sample_rate;
    if (!fits) {
        trace.fail(invalid_argument(
            "mel_weight_matrix: " + std::to_string(bins) + " bins of " + std::to_string(length) +
            " from " + std::to_string(options.lower_hertz) + " to " +
            std::to_string(options.upper_hertz) + " Hz at " + std::to_string(options.sample_rate) +
            " samples a second; expected 0 <= from <= to <= samples, all of them finite, and at " +
            "most 2^24 weights"));
        return {&trace, kInvalidId};
    }
    const int64_t spectrum = length / 2 + 1;
    if (!trace.has_room(1, static_cast<uint64_t>(spectrum * bins) * size_bytes(dtype)))
        return {&trace, kInvalidId};
    // O'Shaughnessy's formula for the mel scale, 1987.
    const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = mel(options.lower_hertz), high = mel(options.upper_hertz);
    std::vector<int64_t> edges;
    for (int64_t i = 0; i < bins + 2; ++i) {
        const double at =
            low + static_cast<double>(i) * (high - low) / static_cast<double>(bins + 2);
        const double hertz = 700 * (std::pow(10, at / 2595) - 1);
        // Within [0, length + 1], as the upper frequency is no more than the rate.
        const double edge =
            std::floor(static_cast<double>(length + 1) * hertz / options.sample_rate);
        edges.push_back(std::clamp<int64_t>(saturate_cast<int64_t>(edge), 0, length + 1));
    }
    HostTensor weights(dtype, Shape{spectrum, bins});
    const auto set = [&](int64_t frequency, int64_t bin, int64_t part, int64_t whole) {
        if (frequency >= 0 && frequency < spectrum)
            weights.set(frequency * bins + bin,
                        static_cast<double>(part) / static_cast<double>(whole));
    };
    for (int64_t i = 0; i < bins; ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t begin = edges[at], peak = edges[at + 1], end = edges[at + 2];
        if (begin == peak) set(peak, i, 1, 1);
        for (int64_t j = begin; begin < peak && j <= peak; ++j) set(j, i, j - begin, peak - begin);
        for (int64_t j = peak; j < end; ++j) set(j, i, end - j, end - peak);
    }
    return trace.constant(std::move(weights));
}

}  // namespace hearth
