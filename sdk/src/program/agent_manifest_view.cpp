// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks and reads saved manifests of agents.

#include "program/agent_manifest_view.hpp"

#include "program/legacy_names.hpp"

#include <algorithm>

namespace hearth::agents {

namespace {

constexpr uint32_t kMost = 1u << 24;
constexpr size_t kMostNameBytes = 128;
constexpr uint32_t kMostHyperparameters = 256;  // each is found by reading those before it
constexpr uint32_t kMostWaitingDecisions = 1u << 16;

size_t names_in(uint32_t version) {
    return version >= 4 ? 10 : version >= 3 ? 9 : version >= 2 ? 8 : 0;
}

StatusCode corrupt(SpecText& error, const char* what) {
    error.set("manifest of agents: %s", what);
    return StatusCode::kCorruptData;
}

}  // namespace

HyperparameterView AgentManifestView::read_hyperparameter(ByteReader& in) const {
    const RuntimeHyperparameter widest;  // what an f32 holds
    HyperparameterView h{in.counted_text(), in.number<double>(), widest.low, widest.high};
    if (version_ < 4) return h;
    h.low = std::max(in.number<double>(), widest.low);
    h.high = std::min(in.number<double>(), widest.high);
    return h;
}

HyperparameterView AgentManifestView::hyperparameter(uint32_t index) const {
    ByteReader in(hyperparameters_);
    HyperparameterView h;
    for (uint32_t i = 0; i <= index; ++i) h = read_hyperparameter(in);
    return h;
}

StatusCode AgentManifestView::open(std::span<const std::byte> bytes, SpecText& error) {
    ByteReader in(bytes);
    if (in.number<uint32_t>() != kAgentManifestMagic) {
        error.set("not a manifest of agents; expected the bytes of AgentManifest::save");
        return StatusCode::kCorruptData;
    }
    version_ = in.number<uint32_t>();
    if (version_ < 1 || version_ > kAgentManifestVersion) {
        error.set("manifest of agents: version %u; this library reads versions up to %u", version_,
                  kAgentManifestVersion);
        return StatusCode::kUnsupported;
    }
    const auto kind = in.number<uint8_t>();
    algorithm_ = static_cast<Algorithm>(kind);
    n_agents_ = in.number<uint32_t>();
    n_steps_ = in.number<uint32_t>();
    updates_per_rollout_ = in.number<uint32_t>();
    sync_interval_ = in.number<uint32_t>();
    hyperparameter_count_ = in.count(version_ >= 4 ? 28 : 12);
    if (hyperparameter_count_ > kMostHyperparameters)
        return corrupt(error, "it has more than 256 hyperparameters");
    const uint64_t begin = in.position();
    for (uint32_t i = 0; i < hyperparameter_count_ && !in.failed(); ++i) {
        const HyperparameterView h = read_hyperparameter(in);
        if (h.low <= h.value && h.value <= h.high) continue;
        if (in.failed()) break;
        error.set("manifest of agents: hyperparameter '%.*s' is %g, expected %g to %g",
                  static_cast<int>(std::min(h.name.size(), kMostNameBytes)), h.name.data(), h.value,
                  h.low, h.high);
        return StatusCode::kCorruptData;
    }
    if (!in.failed()) hyperparameters_ = bytes.subspan(begin, in.position() - begin);
    const auto spec = in.take(in.number<uint32_t>());
    replay_capacity_ = version_ >= 2 ? in.number<uint32_t>() : 0;
    // A name that a version does not store is the one that it had then.
    constexpr std::string_view kNames[] = {"frame",       "store",         "compute_advantages",
                                           "learn",       "publish",       "shrink_and_perturb",
                                           "last.action", "agents.status", "add_demonstrations",
                                           "add_samples"};
    for (size_t i = 0; i < kManifestNames; ++i) {
        names_[i] = i < names_in(version_) ? in.counted_text() : alias_of_entry(kNames[i]);
        if (names_[i].size() > kMostNameBytes) return corrupt(error, "a name is too long");
    }
    if (version_ >= 4)
        for (uint32_t* const value :
             {&train_freq_, &gradient_steps_, &learning_starts_, &waiting_decisions_})
            *value = in.number<uint32_t>();
    if (in.failed() || in.left() > 0)
        return corrupt(error, in.failed() ? "its bytes end early" : "its bytes end late");
    const auto sound = [](uint32_t value) { return value >= 1 && value <= kMost; };
    if (kind >= std::size(kAlgorithmNames) || !sound(n_agents_) || n_steps_ > kMost ||
        !sound(updates_per_rollout_) || !sound(sync_interval_) || train_freq_ > kMost ||
        !sound(gradient_steps_) || learning_starts_ > kMost ||
        waiting_decisions_ > kMostWaitingDecisions || (train_freq_ > 0 && waiting_decisions_ == 0))
        return corrupt(error,
                       "a value is outside its range; make the manifest again by make_manifest");
    return spec_.open(spec, error);
}

}  // namespace hearth::agents
