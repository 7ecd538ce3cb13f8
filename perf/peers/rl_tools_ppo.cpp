// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// PPO on Pendulum in rl_tools (https://rl.tools), with its own hyperparameters, for comparison with
// `hearth gates --gate 10gpupendulum`: CPU seconds and steps until 100 deterministic episodes
// return -200 on average. Evaluations are not timed. It needs a checkout of rl_tools, and OpenBLAS:
//
//     g++ -std=c++17 -Ofast -march=native -D BENCHMARK -D RL_TOOLS_BACKEND_ENABLE_OPENBLAS
//         -D RL_TOOLS_DISABLE_TENSORBOARD -I RL_TOOLS/include
//         -I RL_TOOLS/src/rl/environments/pendulum/ppo/cpu
//         perf/peers/rl_tools_ppo.cpp -o rl_tools_ppo -lopenblas
//     OPENBLAS_NUM_THREADS=1 ./rl_tools_ppo 5         # seeds 0 to 4

// In the order that rl_tools requires.
// clang-format off
#include <rl_tools/operations/cpu_mux.h>
#include <rl_tools/rl/environments/pendulum/operations_generic.h>
#include <rl_tools/rl/environment_wrappers/scale_observations/operations_generic.h>
#include <rl_tools/nn/optimizers/adam/instance/operations_generic.h>
#include <rl_tools/nn/layers/standardize/operations_generic.h>
#include <rl_tools/nn_models/mlp_unconditional_stddev/operations_generic.h>
#include <rl_tools/nn_models/sequential/operations_generic.h>
#include <rl_tools/nn/optimizers/adam/operations_generic.h>
#include <rl_tools/rl/algorithms/ppo/loop/core/config.h>
#include <rl_tools/rl/loop/steps/evaluation/config.h>
#include <rl_tools/rl/loop/steps/timing/config.h>
#include <rl_tools/rl/algorithms/ppo/loop/core/operations_generic.h>
#include <rl_tools/rl/loop/steps/evaluation/operations_generic.h>
#include <rl_tools/rl/loop/steps/timing/operations_cpu.h>
// clang-format on

namespace rlt = rl_tools;
#include "config.h"  // rl_tools' settings of this task

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

using Device = rlt::devices::DEVICE_FACTORY<>;
using Index = Device::index_t;
using Numbers = rlt::numeric_types::Policy<float>;
using Config = CONFIG_FACTORY<Device, Numbers, true>;
using Loop = Config::LOOP_TIMING_CONFIG;
using LoopState = Loop::State<Loop>;
using Actor =
    rlt::utils::typing::remove_reference_t<decltype(rlt::get_actor(std::declval<LoopState>()))>;
using Evaluation =
    rlt::rl::utils::evaluation::Specification<Numbers, Index, Loop::ENVIRONMENT_EVALUATION, 100,
                                              Config::ENVIRONMENT::EPISODE_STEP_LIMIT>;
using EvaluationBuffer = rlt::rl::utils::evaluation::PolicyBuffer<
    rlt::rl::utils::evaluation::PolicyBufferSpecification<Evaluation, Actor, true>>;

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void run(Index seed) {
    constexpr double kBar = -200;
    Device device;
    LoopState state;
    EvaluationBuffer buffer;
    rlt::malloc(device, state);
    rlt::malloc(device, buffer);
    rlt::init(device, state, seed);
    double seconds = 0, bar_seconds = -1, last = 0;
    long steps = 0, bar_steps = -1;
    for (bool is_done = false; !is_done;) {
        const double before = cpu_seconds();
        is_done = rlt::step(device, state);
        seconds += cpu_seconds() - before;
        steps += Config::LOOP_CORE_PARAMETERS::N_ENVIRONMENTS *
                 Config::LOOP_CORE_PARAMETERS::ON_POLICY_RUNNER_STEPS_PER_ENV;
        if (bar_steps >= 0 && !is_done) continue;
        rlt::rl::utils::evaluation::Result<Evaluation> result;
        auto actor = rlt::get_actor(state);
        rlt::evaluate(device, rlt::get_ref(device, state.envs, 0), state.ui, actor, buffer, result,
                      state.rng, rlt::Mode<rlt::mode::Evaluation<>>{});
        last = static_cast<double>(result.returns_mean);
        if (bar_steps >= 0 || last < kBar) continue;
        bar_steps = steps;
        bar_seconds = seconds;
    }
    std::printf(
        "rl_tools PPO Pendulum seed %d: bar after %ld steps, %.2f CPU s; %ld steps in %.2f CPU s, "
        "then %.1f\n",
        static_cast<int>(seed), bar_steps, bar_seconds, steps, seconds, last);
    rlt::free(device, buffer);
    rlt::free(device, state);
}

int main(int argc, char** argv) {
    const int seeds = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int seed = 0; seed < seeds; ++seed) run(static_cast<Index>(seed));
}
