// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines, compiles and builds the brain that all hatchlings share.

#include "brain.hpp"

#include "insight.hpp"

#include <hearth/weights.hpp>

namespace hearth::hatchlings {

Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed,
                                              uint32_t hatchlings, const NamedTensors& weights) {
    const agents::AgentSpec described = schema();
    const agents::Ppo ppo = learner(hatchlings);
    agents::AgentGraphs traces = agents::build_agent_graphs(described, network(seed), ppo, seed);
    traces.push_back(Insight::trace(seed, hatchlings));
    // The acting policy reads published copies of the parameters.
    NamedTensors first = weights;
    for (const auto& [name, value] : weights) first["published.param." + name] = value;
    for (const auto& trace : traces) {
        if (weights.empty()) break;
        HEARTH_ASSIGN(const LoadReport report, load_weights(first, *trace, {.strict = false}));
        if (!report.missing.empty() || !report.mismatched.empty())
            return invalid_argument("these are not a hatchling's weights: " + report.text(", "));
    }
    return demo::Mind::create(device, traces, agents::make_manifest(described, ppo));
}

}  // namespace hearth::hatchlings
