// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The studio's build step: declares what agents observe and do and how they learn, and cooks it
// into a package. main.c is the game that ships the package.

#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>

#include <cstdio>
#include <fstream>

using namespace hearth;
using namespace hearth::agents;

namespace {

Status cook_cart_pole(const char* path) {
    const AgentSpec schema(ObservationSpec().box("place").box("speed").box("angle").box("turning"),
                           ActionSpec().discrete("push", 2));
    // Hyperparameters of RL Baselines3 Zoo for this task.
    Ppo ppo{.n_agents = 8, .n_steps = 32, .n_minibatches = 1, .n_epochs = 20, .vf_coef = 0.5};
    ppo.gamma = 0.98, ppo.gae_lambda = 0.8;
    ppo.ent_coef = ppo.limits.target_kl = 0;
    ppo.normalize_observations = ppo.normalize_rewards = false;
    const AgentManifest manifest = make_manifest(schema, ppo);
    const AgentGraphs traces = build_agent_graphs(schema, mlp_network({64, 64}), ppo);
    // One kernel per network on GPUs; one per layer for Vulkan drivers that run on the CPU.
    DeviceTarget gpu{.name = "gpu"}, cpu{.name = "cpu"};
    cpu.options.caps.device_type = DeviceType::kCpu;
    HEARTH_ASSIGN(const Cooked cooked,
                  cook(runtime_entries(traces, manifest), {.device_targets = {gpu, cpu},
                                                           .max_batch_size = manifest.n_agents,
                                                           .agents = manifest.save()}));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(cooked.bytes.data()),
               static_cast<std::streamsize>(cooked.bytes.size()));
    if (!file.flush()) return internal_error("cannot write it");
    std::printf("%s: %zu bytes\n", path, cooked.bytes.size());
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    const Status status =
        argc == 2 ? cook_cart_pole(argv[1]) : invalid_argument("usage: cook_cart_pole PACKAGE");
    if (!status.ok()) std::fprintf(stderr, "cook_cart_pole: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
