// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Counter-based random numbers: functions of key, counter and element alone (core/philox.hpp).

#include "compiler/ir/graph.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <hearth/core/philox.hpp>

#include <numbers>

namespace hearth {

namespace {

Status infer_random(InferContext& call) {
    if (call.shape(0).rank() != 0)
        return invalid_argument("counter must be a scalar, found " + to_string(call.shape(0)));
    if (!is_floating(call.attrs.dtype("dtype")))
        return invalid_argument("random numbers are floating-point");
    HEARTH_TRY(check_shape(call.attrs.shape("shape")));
    return call.one(call.attrs.dtype("dtype"), call.attrs.shape("shape"));
}

uint64_t key_of(const Attrs& attrs) {
    return static_cast<uint64_t>(attrs.integer("key"));
}

// Key of the second stream for the Box-Muller transform: one round of the finalizer of SplitMix64
// (Steele, Lea and Flood, 2014), so that it does not collide with neighbouring keys.
uint64_t second_key(uint64_t key) {
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    return key ^ (key >> 27);
}

void random_samples(Samples& s, const char* first, const char* second) {
    int64_t key = 1;
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{kBatch, 5},
                               Shape{2, 3, 1, 5}, Shape{1, 2, 3, 2, 2}, Shape{1031}}) {
        Sample& sample = s.add_typed(
            {{DType::kU32, {}}},
            {{"key", key}, {"shape", shape}, {first, -1.5}, {second, 2.0}, {"dtype", DType::kF32}});
        sample.low = 0;
        sample.high = 1000;
        key = static_cast<int64_t>(second_key(static_cast<uint64_t>(key)));
    }
}

constinit const OpDef kOps[] = {
    {
        .name = "random_uniform",
        .summary = "low + (high - low) * u, u uniform in [0, 1), from key, counter and element",
        .inputs = {{"counter", TypeClass::kInteger}},
        .attrs = {{"key", AttrType::kInteger},
                  {"shape", AttrType::kShape},
                  {"low", AttrType::kFloat, 0},
                  {"high", AttrType::kFloat, 1},
                  {"dtype", AttrType::kDType}},
        .traits = {.is_random = true},
        .infer = infer_random,
        .compute = compute_float([](auto& c) {
            const double low = c.attrs().real("low"), high = c.attrs().real("high");
            return low + (high - low) * c.uniform(key_of(c.attrs()), c.x(0));
        }),
        .stops_gradient = true,
        .samples = [](Samples& s) { random_samples(s, "low", "high"); },
    },
    {
        .name = "random_normal",
        .summary = "mean + deviation * z, z normal (Box and Muller, 1958)",
        .inputs = {{"counter", TypeClass::kInteger}},
        .attrs = {{"key", AttrType::kInteger},
                  {"shape", AttrType::kShape},
                  {"mean", AttrType::kFloat, 0},
                  {"deviation", AttrType::kFloat, 1},
                  {"dtype", AttrType::kDType}},
        .traits = {.is_random = true},
        .infer = infer_random,
        .compute = compute_float([](auto& c) {
            const uint64_t key = key_of(c.attrs());
            auto u = c.uniform(key, c.x(0));
            auto v = c.uniform(second_key(key), c.x(0));
            // The angle lies in [-pi, pi), for which Vulkan specifies the error of cos; 1 - u is
            // never zero.
            auto angle = 2 * std::numbers::pi * (v - 0.5);
            auto z = sqrt(-2.0 * log(1.0 - u)) * cos(angle);
            return c.attrs().real("mean") + c.attrs().real("deviation") * z;
        }),
        .stops_gradient = true,
        .samples = [](Samples& s) { random_samples(s, "mean", "deviation"); },
        .tolerance = {.f32 = 1e-4},
    },
};

}  // namespace

extern constinit const std::span<const OpDef> random_ops{kOps};

Tensor random_uniform(const Tensor& counter, uint64_t key, const Shape& shape, double low,
                      double high, DType dtype) {
    return apply_one(op("random_uniform"), {counter},
                     {{"key", static_cast<int64_t>(key)},
                      {"shape", shape},
                      {"low", low},
                      {"high", high},
                      {"dtype", dtype}});
}

Tensor random_normal(const Tensor& counter, uint64_t key, const Shape& shape, double mean,
                     double deviation, DType dtype) {
    return apply_one(op("random_normal"), {counter},
                     {{"key", static_cast<int64_t>(key)},
                      {"shape", shape},
                      {"mean", mean},
                      {"deviation", deviation},
                      {"dtype", dtype}});
}

Tensor bernoulli(const Tensor& counter, uint64_t key, const Tensor& probability) {
    if (!probability.ok()) return probability;
    const Tensor u = random_uniform(counter, key, probability.shape(), 0, 1, probability.dtype());
    return less(u, probability);
}

// Gumbel-max trick: the argmax of scores plus Gumbel noise is distributed as their softmax (Gumbel,
// 1954).
Tensor categorical(const Tensor& counter, uint64_t key, const Tensor& scores) {
    if (!scores.ok()) return scores;
    // Half a step of the uniform distribution keeps both logarithms finite.
    constexpr double kHalfStep = 0x1p-25;
    const Tensor u =
        random_uniform(counter, key, scores.shape(), kHalfStep, 1 - kHalfStep, scores.dtype());
    return argmax(scores - log(neg(log(u))), -1);
}

Tensor random_permutation(const Tensor& counter, uint64_t key, int64_t count) {
    return argsort(random_uniform(counter, key, {count}), 0);
}

uint64_t rng_key(std::string_view name, uint64_t seed) {
    return stream_key(name, seed);
}

Tensor global_step(Trace& trace, std::string_view name) {
    const Tensor runs = trace.state(name, {}, Init::zeros(), DType::kU32);
    if (!runs.ok()) return runs;
    for (const Assignment& u : trace.graph().updates)
        if (u.target == runs.value()) return runs;
    trace.assign(runs, runs + 1);
    return runs;
}

}  // namespace hearth
