// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines, compiles and builds the ghost's network.

#include "brain.hpp"

#include <hearth/nn.hpp>

namespace hearth::ghost_lap {

agents::AgentManifest manifest() {
    return agents::make_manifest(schema(), learner());
}

agents::AgentGraphs trace_brain(uint64_t seed) {
    // docs/design/0004-ghost-lap.md: initial weights larger than Xavier's generalize worse.
    agents::PolicyNetwork network;
    network.forward = [seed](Trace& trace, std::string_view prefix, const Tensor& features,
                             const Tensor&) {
        const nn::LinearOptions xavier{.init = nn::WeightInit::kXavier, .seed = seed};
        constexpr int64_t kHidden = 32;
        Tensor x = features;
        for (const int64_t layer : {0, 1})
            x = tanh(nn::linear(trace, nn::join_name(prefix, layer), x, kHidden, xavier));
        return agents::PolicyOutput{x, {}};
    };
    return agents::build_agent_graphs(schema(), network, learner(), seed);
}

Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed) {
    return demo::Mind::create(device, trace_brain(seed), manifest());
}

}  // namespace hearth::ghost_lap
