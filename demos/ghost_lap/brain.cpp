// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines, compiles and builds the ghost's network.

#include "brain.hpp"

#include <hearth/nn.hpp>

namespace hearth::ghost_lap {

agents::AgentManifest manifest() {
    return agents::manifest_of(schema(), learner());
}

agents::Traces trace_brain(uint64_t seed) {
    // docs/design/0004-ghost-lap.md: initial weights larger than Xavier's generalize worse.
    agents::Network network;
    network.call = [seed](Trace& trace, std::string_view prefix, const Tensor& features,
                          const Tensor&) {
        const nn::LinearOptions xavier{.init = nn::WeightInit::kXavier, .seed = seed};
        constexpr int64_t kHidden = 32;
        Tensor x = features;
        for (const int64_t layer : {0, 1})
            x = tanh(nn::linear(trace, nn::join(prefix, layer), x, kHidden, xavier));
        return agents::NetworkResult{x, {}};
    };
    return agents::trace_agents(schema(), network, learner(), seed);
}

Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed) {
    return demo::Mind::create(device, trace_brain(seed), manifest());
}

}  // namespace hearth::ghost_lap
