// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What hearth/executor.hpp promises, as a test for any executor.

#pragma once

#include <hearth/executor.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

namespace hearth::test {

inline HostTensor promised_numbers(const Shape& shape, int64_t seed) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, static_cast<double>((i * 37 + seed * 11) % 61) / 30.5 - 1);
    return t;
}

/// Two entries of a policy, of which one learns.
inline std::vector<Graph> promised_entries() {
    Trace act("act"), learn("learn");
    const auto policy = [](Trace& trace) {
        return nn::mlp(trace, "net", trace.input("x", {kBatch, 5}), {16, 3}, tanh, {.seed = 3});
    };
    act.output("y", policy(act));
    const Tensor loss = mse_loss(policy(learn), learn.input("target", {kBatch, 3}));
    minimize(loss, learn.params(), AdamOptions{.learning_rate = 1e-2});
    const Tensor count = learn.state("count", {}, {}, DType::kI32);
    learn.assign(count, count + 1);
    learn.output("loss", loss);
    std::vector<Graph> entries;
    for (Trace* trace : {&act, &learn}) {
        Result<Graph> graph = trace->build();
        EXPECT_TRUE(graph.ok()) << graph.status().message();
        entries.push_back(std::move(*graph));
    }
    return entries;
}

inline void expect_close(const HostTensor& found, const HostTensor& expected,
                         const std::string& what) {
    ASSERT_EQ(found.dtype(), expected.dtype()) << what;
    ASSERT_EQ(found.shape(), expected.shape()) << what;
    for (int64_t i = 0; i < found.element_count(); ++i)
        ASSERT_NEAR(found.get(i), expected.get(i), 2e-5) << what << "[" << i << "]";
}

/// Learns beside the reference; is asked wrongly.
inline void expect_promises(Executor& executor) {
    const std::vector<Graph> entries = promised_entries();
    const auto reference = make_reference_executor();
    ASSERT_TRUE(reference->load(entries, 8).ok());
    const Status loaded = executor.load(entries, 8);
    ASSERT_TRUE(loaded.ok()) << loaded.message();

    const auto run = [&](const char* entry, int64_t rows, int64_t seed) {
        const NamedTensors inputs{{"x", promised_numbers({rows, 5}, seed)},
                                  {"target", promised_numbers({rows, 3}, seed + 1)}};
        const auto expected = reference->run(entry, inputs, rows);
        const auto found = executor.run(entry, inputs, rows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        ASSERT_TRUE(found.ok()) << found.status().message();
        ASSERT_EQ(found->size(), expected->size());
        for (const auto& [name, tensor] : *expected) expect_close(found->at(name), tensor, name);
    };
    const auto expect_same_slot = [&](const char* slot) {
        const auto expected = reference->read(slot), found = executor.read(slot);
        ASSERT_TRUE(found.ok()) << found.status().message();
        expect_close(*found, *expected, slot);
    };
    run("act", 3, 1);
    for (int64_t step = 0; step < 4; ++step) run("learn", 8 - step, step);
    run("act", 1, 2);
    for (const char* slot : {"net.0.weight", "net.1.bias", "count"}) expect_same_slot(slot);
    EXPECT_EQ(executor.read("count")->get_int(0), 4);

    // What is written is read, and learned on from.
    const HostTensor bias = promised_numbers({3}, 5);
    for (Executor* each : {reference.get(), &executor})
        ASSERT_TRUE(each->write("net.1.bias", bias).ok());
    EXPECT_EQ(*executor.read("net.1.bias"), bias);
    run("learn", 8, 9);
    expect_same_slot("net.1.bias");

    const auto error = [&](const Status& status, StatusCode code, const char* text) {
        EXPECT_EQ(status.code(), code) << status.message();
        EXPECT_EQ(status.message(), text);
    };
    const HostTensor x = promised_numbers({2, 5}, 1);
    error(executor.run("think", {{"x", x}}, 2).status(), StatusCode::kNotFound,
          "no entry 'think' is loaded");
    error(executor.run("act", {}, 2).status(), StatusCode::kInvalidArgument,
          "input 'x' is missing");
    error(executor.run("act", {{"x", x}}, 3).status(), StatusCode::kInvalidArgument,
          "input 'x' is f32[3, 5], found f32[2, 5]");
    error(executor.run("act", {{"x", x}}, 9).status(), StatusCode::kInvalidArgument,
          "the batch size is 9, expected 1 to 8");
    error(executor.read("net.9.bias").status(), StatusCode::kNotFound,
          "there is no param or state 'net.9.bias'");
    error(executor.write("net.1.bias", x), StatusCode::kInvalidArgument,
          "'net.1.bias' is f32[3], found f32[2, 5]");

    // Loading again begins anew.
    ASSERT_TRUE(executor.load(entries, 8).ok());
    EXPECT_EQ(executor.read("count")->get_int(0), 0);
}

}  // namespace hearth::test
