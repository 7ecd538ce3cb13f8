// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serializes the manifest of a package's agents.

#include "core/bytes.hpp"

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
    return std::array{&n.frame, &n.store,       &n.prepare, &n.learn,      &n.publish,
                      &n.adapt, &n.last_action, &n.status,  &n.demonstrate};
}
size_t names_in(uint32_t version) {
    return version >= 3 ? 9 : version >= 2 ? 8 : 0;
}

}  // namespace

std::string_view name_of(LearnerKind kind) {
    switch (kind) {
        case LearnerKind::kPpo:
            return "PPO";
        case LearnerKind::kDqn:
            return "DQN";
        case LearnerKind::kSac:
            return "SAC";
        case LearnerKind::kClone:
            return "cloning";
        case LearnerKind::kPraise:
            return "praise";
    }
    return "?";
}

std::vector<std::byte> AgentManifest::save() const {
    ByteWriter out;
    const std::vector<std::byte> described = schema.save();
    out.number(kMagic).number(kVersion).number(static_cast<uint8_t>(kind));
    out.number(agents).number(horizon).number(items).number(publish_period);
    out.number(static_cast<uint32_t>(settings.size()));
    for (const LiveSetting& s : settings) out.counted_text(s.name).number(s.value);
    out.number(static_cast<uint32_t>(described.size())).bytes(described);
    out.number(ring);
    for (const std::string* name : list_of(names)) out.counted_text(*name);
    return out.finish();
}

Result<AgentManifest> AgentManifest::load(std::span<const std::byte> bytes) {
    ByteReader in(bytes);
    if (in.number<uint32_t>() != kMagic) return corrupt_data("this is no manifest of agents");
    const auto version = in.number<uint32_t>();
    if (version < 1 || version > kVersion)
        return unsupported("manifest of agents: version " + std::to_string(version) +
                           "; this library reads versions up to " + std::to_string(kVersion));
    AgentManifest m;
    const auto kind = in.number<uint8_t>();
    m.kind = static_cast<LearnerKind>(kind);
    m.agents = in.number<uint32_t>();
    m.horizon = in.number<uint32_t>();
    m.items = in.number<uint32_t>();
    m.publish_period = in.number<uint32_t>();
    const uint32_t count = in.count(12);
    for (uint32_t i = 0; i < count && !in.failed(); ++i) {
        const std::string name(in.counted_text());
        m.settings.push_back({name, in.number<double>()});
        if (!std::isfinite(m.settings.back().value))
            return corrupt_data("manifest of agents: setting " + quoted(name) + " is not finite");
    }
    const auto schema = in.take(in.number<uint32_t>());
    if (version >= 2) m.ring = in.number<uint32_t>();
    const std::array all = list_of(m.names);
    for (size_t i = 0; i < names_in(version); ++i) *all[i] = in.counted_text();
    if (in.failed() || in.left() > 0)
        return corrupt_data("manifest of agents: its bytes end " +
                            std::string(in.failed() ? "early" : "late"));
    const auto sound = [](uint32_t value) { return value >= 1 && value <= kMost; };
    if (kind > static_cast<uint8_t>(LearnerKind::kPraise) || !sound(m.agents) ||
        m.horizon > kMost || !sound(m.items) || !sound(m.publish_period))
        return corrupt_data("manifest of agents: a number out of its range");
    HEARTH_ASSIGN(m.schema, AgentSchema::load(schema));
    return m;
}

}  // namespace hearth::agents
