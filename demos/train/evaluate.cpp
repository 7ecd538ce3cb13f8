// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates checkpoints in seeded episodes, and rates brains against each other.

#include "train/evaluate.hpp"

#include "classic/task.hpp"
#include "ghost_lap/simulation.hpp"
#include "hatchlings/world.hpp"
#include "random.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

namespace hearth::train {

double Evaluation::mean() const {
    return std::accumulate(returns.begin(), returns.end(), 0.0) /
           static_cast<double>(returns.size());
}

double Evaluation::deviation() const {
    double squares = 0;
    for (const double r : returns) squares += (r - mean()) * (r - mean());
    return std::sqrt(squares / static_cast<double>(std::max<size_t>(returns.size() - 1, 1)));
}

double Evaluation::worst() const {
    return *std::ranges::min_element(returns);
}

double Evaluation::success() const {
    return static_cast<double>(std::ranges::count_if(returns, [&](double r) { return r >= bar; })) /
           static_cast<double>(returns.size());
}

namespace {

constexpr size_t kTenths = 10;

/// Episodes played at a time; the number of agents in a file is that of its author.
constexpr int64_t kMostAtOnce = 4096;

/// Returns the tenth of [-1, 1] that contains `value`.
size_t tenth_of(double value) {
    const double bin = (value + 1) / 2 * double{kTenths};
    return std::min(static_cast<size_t>(std::max(bin, 0.0)), kTenths - 1);
}

/// One minute of a clearing per episode: the mean return of its hatchlings.
Result<Evaluation> evaluate_hatchlings(Learner& learner, int64_t episodes, uint64_t seed) {
    using namespace hatchlings;
    constexpr int64_t kFrames = 60 * kFramesPerSecond;
    const auto begun = std::chrono::steady_clock::now();
    Evaluation e;
    e.task = kHatchlings;
    e.bar = kHatchlingsBar;
    e.actions.resize(kTenths);
    for (int64_t episode = 0; episode < episodes; ++episode) {
        World world({.seed = seed + static_cast<uint64_t>(episode)});
        const auto count = static_cast<uint32_t>(world.hatchlings().size());
        for (int64_t frame = 0; frame < kFrames; ++frame) {
            if (world.is_decision_frame()) {
                HostTensor seen(DType::kF32, {count, kObservationWidth});
                auto at = seen.as<float>().begin();
                for (uint32_t i = 0; i < count; ++i)
                    at = std::ranges::copy(world.observe(i), at).out;
                HEARTH_ASSIGN(const HostTensor said, learner.act(seen));
                const auto thrust = said.as<float>();
                for (const float value : thrust) ++e.actions[tenth_of(static_cast<double>(value))];
                for (uint32_t i = 0; i < count; ++i)
                    world.set_thrust(i, {thrust[2 * i], thrust[2 * i + 1]});
            }
            world.step();
        }
        double sum = 0;
        for (uint32_t i = 0; i < count; ++i) sum += static_cast<double>(world.take_reward(i));
        e.returns.push_back(sum / static_cast<double>(count));
        e.lengths.push_back(kFrames / kFramesPerDecision);
    }
    e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return e;
}

/// Twenty seconds from the grid per episode, or until the car must be put back.
Result<Evaluation> evaluate_ghost_lap(Learner& learner, int64_t at_a_time, int64_t episodes,
                                      uint64_t seed) {
    using namespace ghost_lap;
    const auto begun = std::chrono::steady_clock::now();
    const Track track = Track::circuit();
    Evaluation e;
    e.task = kGhostLap;
    e.bar = static_cast<double>(kFastestDriverMetres);
    e.returns.resize(static_cast<size_t>(episodes));
    e.lengths.resize(static_cast<size_t>(episodes));
    e.actions.resize(kTenths);
    struct Drive {
        size_t episode;
        Racer racer;
    };
    for (size_t first = 0; first < e.returns.size(); first += static_cast<size_t>(at_a_time)) {
        std::vector<Drive> drives;
        const size_t end = std::min(e.returns.size(), first + static_cast<size_t>(at_a_time));
        for (size_t i = first; i < end; ++i)
            drives.push_back(
                {i, Racer(track,
                          Racer::kGridSpread *
                              scenes::random_signed(seed + i, scenes::Stream::kWorld, 0),
                          true)});
        for (int64_t t = 0; t < kEpisodeDecisions && !drives.empty(); ++t) {
            HostTensor seen(DType::kF32, {static_cast<int64_t>(drives.size()), kObservationSize});
            auto at = seen.as<float>().begin();
            for (const Drive& d : drives) at = std::ranges::copy(d.racer.observation(), at).out;
            HEARTH_ASSIGN(const HostTensor said, learner.act(seen));
            const auto action = said.as<float>();
            for (const float value : action) ++e.actions[tenth_of(static_cast<double>(value))];
            for (size_t i = 0; i < drives.size(); ++i) {
                Drive& d = drives[i];
                ++e.lengths[d.episode];
                for (int f = 0; f < kFramesPerDecision && d.racer.resets() == 0; ++f)
                    e.returns[d.episode] += static_cast<double>(
                        drive_frame(d.racer, {action[2 * i], action[2 * i + 1]}));
            }
            std::erase_if(drives, [](const Drive& d) { return d.racer.resets() > 0; });
        }
    }
    e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return e;
}

}  // namespace

Result<Evaluation> evaluate(standalone::Device& device, const Checkpoint& checkpoint,
                            int64_t episodes, uint64_t seed) {
    TrainConfig config = checkpoint.config;
    config.ppo.n_agents = std::min(config.ppo.n_agents, kMostAtOnce);
    HEARTH_ASSIGN(const auto learner, make_player(device, config));
    HEARTH_TRY(learner->restore(checkpoint.snapshot.brain));
    if (config.task == kHatchlings) return evaluate_hatchlings(*learner, episodes, seed);
    if (config.task == kGhostLap)
        return evaluate_ghost_lap(*learner, config.ppo.n_agents, episodes, seed);
    const auto begun = std::chrono::steady_clock::now();
    const classic::TaskInfo info = classic::make_task(config.task)->info();
    const auto count = static_cast<size_t>(episodes);
    Evaluation e;
    e.task = config.task;
    e.bar = info.solved_at;
    e.returns.resize(count);
    e.lengths.resize(count);
    e.actions.resize(info.choices > 0 ? static_cast<size_t>(info.choices) : kTenths);
    struct Place {
        std::unique_ptr<classic::Task> task;
        size_t episode = 0;
    };
    size_t next = 0;
    std::vector<Place> places;
    const auto begin = [&](Place& place) {
        place.episode = next++;
        place.task->reset(seed + place.episode);
    };
    for (int64_t i = 0; i < std::min(config.ppo.n_agents, episodes); ++i) {
        places.push_back({classic::make_task(config.task)});
        begin(places.back());
    }
    const auto width = static_cast<size_t>(info.observation_width);
    while (!places.empty()) {
        HostTensor seen(DType::kF32,
                        {static_cast<int64_t>(places.size()), static_cast<int64_t>(width)});
        for (size_t i = 0; i < places.size(); ++i)
            places[i].task->observe(seen.as<float>().subspan(i * width, width));
        HEARTH_ASSIGN(const HostTensor actions, learner->act(seen));
        for (size_t i = 0; i < places.size(); ++i) {
            const double action = actions.get(static_cast<int64_t>(i));
            const double low = static_cast<double>(info.low), high = static_cast<double>(info.high);
            ++e.actions[info.choices > 0 ? static_cast<size_t>(action)
                                         : tenth_of(2 * (action - low) / (high - low) - 1)];
            const size_t episode = places[i].episode;
            const classic::Outcome outcome = places[i].task->step(static_cast<float>(action));
            e.returns[episode] += outcome.reward;
            const bool is_late = ++e.lengths[episode] >= info.step_limit;
            if (!outcome.terminated && !is_late) continue;
            if (next < count)
                begin(places[i]);
            else
                places[i].task = nullptr;
        }
        std::erase_if(places, [](const Place& place) { return place.task == nullptr; });
    }
    e.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return e;
}

namespace {

/// Bradley-Terry strengths by the MM algorithm (Hunter, "MM Algorithms for Generalized
/// Bradley-Terry Models", 2004). wins: [brains][brains], draws as halves.
std::vector<double> bradley_terry(const std::vector<std::vector<double>>& wins) {
    const size_t n = wins.size();
    std::vector<double> strength(n, 1.0);
    for (int round = 0; round < 1000; ++round) {
        double most = 0;
        for (size_t i = 0; i < n; ++i) {
            // A virtual draw against a brain of strength 1 keeps strengths finite for those that
            // always win or lose.
            double won = 0.5, games = 1 / (strength[i] + 1);
            for (size_t j = 0; j < n; ++j) {
                if (i == j) continue;
                won += wins[i][j];
                games += (wins[i][j] + wins[j][i]) / (strength[i] + strength[j]);
            }
            const double after = won / games;
            most = std::max(most, std::abs(std::log(after / strength[i])));
            strength[i] = after;
        }
        if (most < 1e-9) break;
    }
    std::vector<double> elo(n);
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += elo[i] = 400 * std::log10(strength[i]);
    for (double& e : elo) e += 1500 - sum / static_cast<double>(n);
    return elo;
}

std::vector<double> rate_once(const std::vector<std::vector<double>>& returns,
                              const std::vector<size_t>& seeds) {
    std::vector<std::vector<double>> wins(returns.size(), std::vector<double>(returns.size()));
    for (size_t i = 0; i < returns.size(); ++i)
        for (size_t j = 0; j < i; ++j)
            for (const size_t s : seeds) {
                const double a = returns[i][s], b = returns[j][s];
                const double first = a > b ? 1 : a < b ? 0 : 0.5;
                wins[i][j] += first;
                wins[j][i] += 1 - first;
            }
    return bradley_terry(wins);
}

}  // namespace

std::vector<Rating> rate(const std::vector<std::vector<double>>& returns, uint64_t seed) {
    if (returns.empty() || returns[0].empty()) return std::vector<Rating>(returns.size());
    constexpr size_t kResamplings = 200;
    std::vector<size_t> seeds(returns[0].size());
    std::iota(seeds.begin(), seeds.end(), size_t{0});
    const std::vector<double> elo = rate_once(returns, seeds);
    std::vector<std::vector<double>> resampled(returns.size());
    std::mt19937_64 random(seed);
    for (size_t r = 0; r < kResamplings; ++r) {
        std::vector<size_t> drawn(seeds.size());
        for (size_t& s : drawn) s = random() % seeds.size();
        const std::vector<double> once = rate_once(returns, drawn);
        for (size_t i = 0; i < once.size(); ++i) resampled[i].push_back(once[i]);
    }
    std::vector<Rating> ratings;
    for (size_t i = 0; i < elo.size(); ++i) {
        std::ranges::sort(resampled[i]);
        ratings.push_back({elo[i], resampled[i][kResamplings / 40],
                           resampled[i][kResamplings - 1 - kResamplings / 40]});
    }
    return ratings;
}

}  // namespace hearth::train
