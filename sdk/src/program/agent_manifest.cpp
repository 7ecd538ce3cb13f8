// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serializes the manifest of a package's agents.

#include "core/bytes.hpp"
#include "program/agent_manifest_view.hpp"

#include <hearth/agents/manifest.hpp>

#include <array>

namespace hearth::agents {

namespace {

/// All names, as ManifestName.
template <class Names>
auto list_of(Names& n) {
    return std::array{&n.frame,       &n.store,   &n.compute_advantages,
                      &n.learn,       &n.publish, &n.shrink_and_perturb,
                      &n.last_action, &n.status,  &n.add_demonstrations,
                      &n.add_samples};
}

}  // namespace

std::vector<std::byte> AgentManifest::save() const {
    ByteWriter out;
    const std::vector<std::byte> described = schema.save();
    out.number(kAgentManifestMagic)
        .number(kAgentManifestVersion)
        .number(static_cast<uint8_t>(algorithm));
    out.number(n_agents).number(n_steps).number(updates_per_rollout).number(sync_interval);
    out.number(static_cast<uint32_t>(hyperparameters.size()));
    for (const RuntimeHyperparameter& s : hyperparameters)
        out.counted_text(s.name).number(s.value).number(s.low).number(s.high);
    out.number(static_cast<uint32_t>(described.size())).bytes(described);
    out.number(replay_capacity);
    for (const std::string* name : list_of(names)) out.counted_text(*name);
    out.number(train_freq).number(gradient_steps).number(learning_starts).number(waiting_decisions);
    return out.finish();
}

Result<AgentManifest> AgentManifest::load(std::span<const std::byte> bytes) {
    AgentManifestView view;
    SpecText error;
    if (const StatusCode code = view.open(bytes, error); code != StatusCode::kOk)
        return Status(code, error.c_str());
    AgentManifest m;
    m.algorithm = view.algorithm();
    m.n_agents = view.n_agents();
    m.n_steps = view.n_steps();
    m.replay_capacity = view.replay_capacity();
    m.updates_per_rollout = view.updates_per_rollout();
    m.sync_interval = view.sync_interval();
    m.train_freq = view.train_freq();
    m.gradient_steps = view.gradient_steps();
    m.learning_starts = view.learning_starts();
    m.waiting_decisions = view.waiting_decisions();
    for (uint32_t i = 0; i < view.hyperparameter_count(); ++i) {
        const HyperparameterView h = view.hyperparameter(i);
        m.hyperparameters.push_back({std::string(h.name), h.value, h.low, h.high});
    }
    const std::array all = list_of(m.names);
    for (size_t i = 0; i < kManifestNames; ++i) *all[i] = view.name(static_cast<ManifestName>(i));
    HEARTH_ASSIGN(m.schema, AgentSpec::load(view.spec().bytes()));
    return m;
}

}  // namespace hearth::agents
