// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "train/hatchlings_worlds.hpp"

#include "hatchlings/saved_game.hpp"

#include <algorithm>
#include <cstring>

namespace hearth::train {

using hatchlings::kActionWidth;
using hatchlings::kFramesPerDecision;
using hatchlings::kObservationWidth;
using hatchlings::World;

HatchlingsWorlds::HatchlingsWorlds(int64_t hatchlings, uint64_t seed)
    : returns_(static_cast<size_t>(hatchlings)) {
    const auto count = static_cast<uint64_t>(hatchlings / kInOne);
    for (uint64_t w = 0; w < count; ++w)
        worlds_.emplace_back(hatchlings::WorldOptions{.seed = seed + w});
}

void HatchlingsWorlds::observe(std::span<float> out) const {
    auto at = out.begin();
    for (const World& world : worlds_)
        for (uint32_t i = 0; i < kInOne; ++i) at = std::ranges::copy(world.observe(i), at).out;
}

std::vector<HatchlingsWorlds::Outcome> HatchlingsWorlds::step(std::span<const float> thrust) {
    std::vector<Outcome> outcomes(returns_.size());
    size_t at = 0;
    for (World& world : worlds_) {
        for (uint32_t i = 0; i < kInOne; ++i)
            world.set_thrust(
                i, {thrust[kActionWidth * (at + i)], thrust[kActionWidth * (at + i) + 1]});
        for (int f = 0; f < kFramesPerDecision; ++f) world.step();
        const bool is_over = world.frame() >= kEpisodeFrames;
        for (uint32_t i = 0; i < kInOne; ++i, ++at) {
            Outcome& o = outcomes[at];
            o.reward = world.take_reward(i);
            returns_[at] += o.reward;
            o.end = is_over ? 2.0f : 0.0f;
            o.episode_return = is_over ? returns_[at] : 0.0f;
        }
    }
    return outcomes;
}

void HatchlingsWorlds::begin_anew() {
    for (size_t w = 0; w < worlds_.size(); ++w) {
        if (worlds_[w].frame() < kEpisodeFrames) continue;
        worlds_[w] = World({.seed = worlds_[w].state().seed + worlds_.size()});
        std::fill_n(returns_.begin() + static_cast<ptrdiff_t>(w) * kInOne, kInOne, 0.0f);
    }
}

// Each world as a saved game, all of one size; then the returns.
std::vector<std::byte> HatchlingsWorlds::save() const {
    std::vector<std::byte> bytes;
    for (const World& world : worlds_) {
        const std::vector<std::byte> game =
            hatchlings::encode({world.state(), {}, std::vector<hatchlings::Judged>(kInOne)});
        bytes.insert(bytes.end(), game.begin(), game.end());
    }
    const auto returns = std::as_bytes(std::span(returns_));
    bytes.insert(bytes.end(), returns.begin(), returns.end());
    return bytes;
}

Status HatchlingsWorlds::load(std::span<const std::byte> bytes) {
    const size_t of_returns = returns_.size() * sizeof(float);
    const size_t of_worlds = bytes.size() - std::min(bytes.size(), of_returns);
    if (of_worlds == 0 || of_worlds % worlds_.size() != 0)
        return corrupt_data("worlds: " + std::to_string(bytes.size()) + " bytes are not " +
                            std::to_string(worlds_.size()) + " clearings");
    const size_t of_one = of_worlds / worlds_.size();
    std::vector<World> worlds;
    for (size_t w = 0; w < worlds_.size(); ++w) {
        HEARTH_ASSIGN(hatchlings::SavedGame game,
                      hatchlings::decode_saved_game(bytes.subspan(w * of_one, of_one)));
        if (game.world.hatchlings.size() != static_cast<size_t>(kInOne))
            return corrupt_data("worlds: a clearing of " +
                                std::to_string(game.world.hatchlings.size()) +
                                " hatchlings, expected " + std::to_string(kInOne));
        worlds.push_back(World::resume(std::move(game.world)));
    }
    worlds_ = std::move(worlds);
    std::memcpy(returns_.data(), bytes.data() + of_worlds, of_returns);
    return {};
}

}  // namespace hearth::train
