// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Online regression: a cannon learns where its shots land while it fires, on this machine's CPU.

#include <hearth/agents/learners.hpp>
#include <hearth/cpu.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>

using namespace hearth;

static float landing(float angle, float power) {
    return power * power * std::sin(2 * angle);
}

static Status run() {
    const agents::Regression regression{.input_size = 2, .output_size = 1, .batch_size = 64};
    std::vector<Graph> entries;  // predict, store, learn, publish, shrink_and_perturb
    for (const auto& trace :
         agents::build_regression_graphs(agents::mlp_network({32, 32}), regression)) {
        HEARTH_ASSIGN(Graph graph, trace->build());
        entries.push_back(std::move(graph));
    }
    HEARTH_ASSIGN(const std::unique_ptr<Executor> brain, cpu::make_executor());
    HEARTH_TRY(brain->load(std::move(entries), 1));  // one shot at a time

    std::mt19937 random(1);
    std::uniform_real_distribution<float> angle(0, 1.57f), power(0, 1);
    float error = 0;
    for (int shot = 1; shot <= 3'000; ++shot) {
        const std::array<float, 2> aim = {angle(random), power(random)};
        const std::array<float, 1> hit = {landing(aim[0], aim[1])};
        const HostTensor input = HostTensor::of({1, 2}, aim);
        HEARTH_ASSIGN(const NamedTensors guess, brain->run("predict", {{"input", input}}, 1));
        const float miss = std::abs(static_cast<float>(guess.at("output").get(0)) - hit[0]);
        error += 0.01f * (miss - error);
        // A sample arrives: it is stored, a minibatch is learned, the weights are published.
        HEARTH_TRY(
            brain->run("store", {{"input", input}, {"target", HostTensor::of({1, 1}, hit)}}, 1)
                .status());
        HEARTH_TRY(brain->run("learn", {}, 1).status());
        HEARTH_TRY(brain->run("publish", {}, 1).status());
        if (shot % 500 == 0)
            std::printf("%5d shots: off by %.3f\n", shot, static_cast<double>(error));
    }
    return error < 0.05f ? Status() : internal_error("the cannon did not learn where it hits");
}

int main() {
    const Status status = run();
    if (!status.ok()) std::fprintf(stderr, "hello_regression: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
