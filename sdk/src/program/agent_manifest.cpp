// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serializes the manifest of a package's agents.

#include "core/bytes.hpp"
#include "program/legacy_names.hpp"

#include <hearth/agents/manifest.hpp>

#include <array>
#include <cmath>

namespace hearth::agents {

namespace {

constexpr uint32_t kMagic = 0x314d4148;  // "HAM1"
constexpr uint32_t kVersion = 3;         // 2: names, replay buffer size; 3: name of demonstrate
constexpr uint32_t kMost = 1u << 24;

/// All names in file order, and how many of them each version has.
template <class Names>
auto list_of(Names& n) {
    return std::array{&n.frame,       &n.store,   &n.compute_advantages,
                      &n.learn,       &n.publish, &n.shrink_and_perturb,
                      &n.last_action, &n.status,  &n.add_demonstrations};
}
size_t names_in(uint32_t version) {
    return version >= 3 ? 9 : version >= 2 ? 8 : 0;
}

}  // namespace

std::string_view name_of(Algorithm kind) {
    switch (kind) {
        case Algorithm::kPpo:
            return "PPO";
        case Algorithm::kDqn:
            return "DQN";
        case Algorithm::kSac:
            return "SAC";
        case Algorithm::kBehaviorCloning:
            return "cloning";
        case Algorithm::kTamer:
            return "praise";
    }
    return "?";
}

std::vector<std::byte> AgentManifest::save() const {
    ByteWriter out;
    const std::vector<std::byte> described = schema.save();
    out.number(kMagic).number(kVersion).number(static_cast<uint8_t>(algorithm));
    out.number(n_agents).number(n_steps).number(updates_per_rollout).number(sync_interval);
    out.number(static_cast<uint32_t>(hyperparameters.size()));
    for (const RuntimeHyperparameter& s : hyperparameters) out.counted_text(s.name).number(s.value);
    out.number(static_cast<uint32_t>(described.size())).bytes(described);
    out.number(replay_capacity);
    for (const std::string* name : list_of(names)) out.counted_text(*name);
    return out.finish();
}

Result<AgentManifest> AgentManifest::load(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    if (in.number<uint32_t>() != kMagic)
        return corrupt_data("not a manifest of agents; expected the bytes of AgentManifest::save");
    const auto version = in.number<uint32_t>();
    if (version < 1 || version > kVersion)
        return unsupported("manifest of agents: version " + std::to_string(version) +
                           "; this library reads versions up to " + std::to_string(kVersion));
    AgentManifest m;
    const auto kind = in.number<uint8_t>();
    m.algorithm = static_cast<Algorithm>(kind);
    m.n_agents = in.number<uint32_t>();
    m.n_steps = in.number<uint32_t>();
    m.updates_per_rollout = in.number<uint32_t>();
    m.sync_interval = in.number<uint32_t>();
    const uint32_t count = in.count(12);
    for (uint32_t i = 0; i < count && !in.failed(); ++i) {
        const std::string name(in.counted_text());
        m.hyperparameters.push_back({name, in.number<double>()});
        if (!std::isfinite(m.hyperparameters.back().value))
            return corrupt_data("manifest of agents: hyperparameter " + quoted(name) +
                                " is not finite");
    }
    const auto schema = in.take(in.number<uint32_t>());
    if (version >= 2) m.replay_capacity = in.number<uint32_t>();
    const std::array all = list_of(m.names);
    // What a version does not store has the name that it had then.
    for (std::string* name : all) *name = alias_of_entry(*name);
    for (size_t i = 0; i < names_in(version); ++i) *all[i] = in.counted_text();
    if (in.failed() || in.left() > 0)
        return corrupt_data("manifest of agents: its bytes end " +
                            std::string(in.failed() ? "early" : "late"));
    const auto sound = [](uint32_t value) { return value >= 1 && value <= kMost; };
    if (kind > static_cast<uint8_t>(Algorithm::kTamer) || !sound(m.n_agents) || m.n_steps > kMost ||
        !sound(m.updates_per_rollout) || !sound(m.sync_interval))
        return corrupt_data(
            "manifest of agents: a value is outside its range; make the manifest again by "
            "make_manifest");
    HEARTH_ASSIGN(m.schema, AgentSpec::load(schema));
    return m;
}

}  // namespace hearth::agents
