// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Self-play: agents that learn play against earlier brains of their own, or of the other side of an
// asymmetric game, with Elo ratings (Elo, "The Rating of Chessplayers", 1978).  Header-only; needs
// no compiler library.
//
//     AgentsOptions keeps{.max_snapshots = 10, .snapshot_interval = 300};       // of the learners
//     SelfPlay match(learners, opponents, {.choice = OpponentChoice::kPrioritized});
//     for each frame, after both polls:
//         HEARTH_TRY(match.update());                  // loads opponents' brains, logs the ratings
//         for each game that has ended:
//             HEARTH_TRY(match.end_game(1));           // 1: the learner has won, 0.5: a draw, 0
//
// Two brains that play against each other's past have a match each, and name each other's:
//     wolves.set_rival(deer), deer.set_rival(wolves);

#pragma once

#include <hearth/agents.hpp>
#include <hearth/core/cpp20.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace hearth::agents {

/// How a match chooses the next opponent among the snapshots that are kept.
enum class OpponentChoice {
    kLatest,   ///< the newest
    kUniform,  ///< each with equal probability
    /// By (1 - rate of games won against it)^2: those that are hard to beat (Vinyals et al.,
    /// "Grandmaster level in StarCraft II", 2019).
    kPrioritized,
};

/// Options of SelfPlay.
struct SelfPlayOptions {
    OpponentChoice choice = OpponentChoice::kUniform;
    /// Probability of the newest snapshot, whatever the choice; as in ML-Agents.
    double play_against_latest_ratio = 0.5;
    uint32_t games_per_opponent = 50;  ///< after which the next one is chosen
    double initial_elo = 1200;
    double elo_factor = 32;  ///< maximum change of a rating by one game, divided by two
    uint64_t seed = 0;
};

/// Matches of agents that learn with frozen agents that act from snapshots.  Neither owns: both
/// Agents, and the rival, must outlive it and stay where they are.  One thread at a time.
class SelfPlay {
  public:
    /// opponents: agents with the learners' spec and network (the rival's, if there is one), which
    /// are frozen and act from the initial weights until the first snapshot has arrived.  The game
    /// adds, polls and records them like others.
    SelfPlay(Agents& learners, Agents& opponents, const SelfPlayOptions& options = {})
        : learners_(&learners),
          opponents_(&opponents),
          options_(options),
          random_(options.seed),
          elo_(options.initial_elo),
          opponent_elo_(options.initial_elo) {
        opponents.freeze(true);
    }

    /// Draws opponents from the snapshots of the rival's learners.
    void set_rival(const SelfPlay& rival) { rival_ = &rival; }

    /// Takes over snapshots that have arrived, and logs "elo" and "opponent_elo".  Call it in each
    /// frame after the learners' poll().
    /// Errors: those of Agents::load_snapshot, e.g. kIncompatible for opponents of another network.
    Status update() {
        const uint64_t taken = learners_->status().snapshots_taken;
        for (; snapshots_taken_ < taken; ++snapshots_taken_)
            past_.insert(past_.begin(), {snapshots_taken_ + 1, elo_});
        past_.resize(std::min<size_t>(past_.size(), learners_->snapshot_count()));
        if (!has_opponent_ || games_ >= options_.games_per_opponent) HEARTH_TRY(choose());
        HEARTH_TRY(learners_->log("elo", elo_));
        return learners_->log("opponent_elo", opponent_elo_);
    }
    /// Counts a game of a learner with an opponent.  Games that were under way when the opponent
    /// changed count for the new one.
    /// score: 1 if the learner has won, 0.5 for a draw, 0 if it has lost
    /// Errors: kInvalidArgument for scores outside of [0, 1].
    Status end_game(double score) {
        if (!(score >= 0 && score <= 1))
            return invalid_argument("the score of a game is " + std::to_string(score) +
                                    ", expected 0 to 1");
        ++games_;
        const double expected = 1 / (1 + std::pow(10, (opponent_elo_ - elo_) / 400));
        elo_ += options_.elo_factor * (score - expected);
        Record& record = record_of(opponent_);
        record.games += 1, record.won += score;
        return {};
    }

    /// Rating of the learners, and of the brain that they play against.
    double elo() const { return elo_; }
    double opponent_elo() const { return opponent_elo_; }
    /// Snapshot that the opponents act from, counted from 1 as status().snapshots_taken counts; 0:
    /// the initial weights.
    uint64_t opponent() const { return opponent_; }
    /// Share of games won against a snapshot; 0.5 before the first game.
    double win_rate(uint64_t snapshot) const {
        for (const Record& record : records_)
            if (record.snapshot == snapshot) return record.rate();
        return Record{}.rate();
    }

  private:
    /// A snapshot of the learners that is kept.
    struct Past {
        uint64_t snapshot = 0;
        double elo = 0;  ///< when it was taken
    };
    /// Games against an opponent, beginning with one that was drawn.
    struct Record {
        uint64_t snapshot = 0;
        double games = 1, won = 0.5;
        double rate() const { return won / games; }
    };

    Record& record_of(uint64_t snapshot) {
        for (Record& record : records_)
            if (record.snapshot == snapshot) return record;
        return records_.emplace_back(Record{snapshot});
    }

    Status choose() {
        const SelfPlay& source = rival_ == nullptr ? *this : *rival_;
        const std::vector<Past>& past = source.past_;
        has_opponent_ = true, games_ = 0;
        if (past.empty()) {  // no snapshot has arrived
            opponent_ = 0, opponent_elo_ = source.options_.initial_elo;
            return opponents_->load_snapshot(*source.learners_, HEARTH_AGENTS_INITIAL_WEIGHTS);
        }
        // Records of snapshots that are no longer kept are not needed.
        std::erase_if(records_, [&](const Record& r) { return r.snapshot < past.back().snapshot; });
        const size_t index = choose_index(past);
        opponent_ = past[index].snapshot, opponent_elo_ = past[index].elo;
        return opponents_->load_snapshot(*source.learners_, static_cast<uint32_t>(index));
    }

    size_t choose_index(const std::vector<Past>& past) {
        const double draw = unit_random();
        if (options_.choice == OpponentChoice::kLatest || draw < options_.play_against_latest_ratio)
            return 0;
        std::vector<double> sums;  // cumulative weights
        for (const Past& p : past) {
            const double lost = 1 - win_rate(p.snapshot);
            const double weight = options_.choice == OpponentChoice::kUniform ? 1 : lost * lost;
            sums.push_back((sums.empty() ? 0 : sums.back()) + weight);
        }
        const double at = unit_random() * sums.back();
        const auto found = std::upper_bound(sums.begin(), sums.end(), at);
        return std::min<size_t>(static_cast<size_t>(found - sums.begin()), sums.size() - 1);
    }
    /// In [0, 1), equal on every platform.
    double unit_random() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

    Agents* learners_;
    Agents* opponents_;
    const SelfPlay* rival_ = nullptr;
    SelfPlayOptions options_;
    std::mt19937_64 random_;
    double elo_, opponent_elo_;
    std::vector<Past> past_;       ///< newest first, as the learners' snapshots
    std::vector<Record> records_;  ///< of opponents that are kept
    uint64_t opponent_ = 0, snapshots_taken_ = 0;
    uint32_t games_ = 0;
    bool has_opponent_ = false;
};

}  // namespace hearth::agents
