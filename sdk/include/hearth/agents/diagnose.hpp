// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Names in words what is wrong with a run of agents that do not learn, and what to try: from a run
// log (`hearth doctor RUN.jsonl`) or from live agents.  Header-only.
//
//     for (const Finding& finding : agents.diagnose())
//         std::puts((finding.problem + ": " + finding.advice).c_str());

#pragma once

#include <hearth/agents.hpp>
#include <hearth/agents/run_log.hpp>
#include <hearth/core/cpp20.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::agents {

/// Something that keeps agents from learning.
struct Finding {
    std::string name;     ///< stable: "sparse_reward"
    std::string problem;  ///< with the field, the setting and the figures
    std::string advice;   ///< what to try
};

/// Metrics of a run by the names of a run log, as (position, value) in order of position.
struct RunMetrics {
    std::map<std::string, std::vector<std::pair<double, double>>, std::less<>> series = {};
    bool is_in_seconds = false;  ///< positions are seconds of the game
};

namespace detail::doctor {

// Thresholds.  A verdict needs evidence that a healthy run does not show: all of these were set
// before they were tried.

/// Fewer samples tell nothing: two rollouts of the defaults (16 agents, 64 steps).
inline constexpr double kMinSamples = 2048;
/// Fewer points of a curve have no trend: two for each quarter.
inline constexpr size_t kMinPoints = 8;
/// A random policy that is rewarded in one of twenty episodes shows a reward in so many with a
/// probability of 92 %.
inline constexpr double kMinEpisodes = 50;
/// The network sees the limit in place of the value in most samples.
inline constexpr double kAtLimitShare = 0.5;
/// Most of what was played is thrown away, because learning is slower than playing.
inline constexpr double kDroppedShare = 0.5;
/// Ten seconds at 60 frames per second, after which the driver exceeds the budget by itself.
inline constexpr double kFramesWithoutUpdate = 600;
/// Most optimizer steps are thrown away.
inline constexpr double kSkippedShare = 0.5;
/// Single values that are not finite, or masks without an option, may be an accident.
inline constexpr double kRejectedShare = 0.01;
/// As a fraction of the first quarter's entropy, at least of 1 nat: noise of minibatches stays below.
inline constexpr double kEntropyRise = 0.2;
/// The critic predicts hardly more than the mean; before so many steps it cannot.
inline constexpr double kLowExplainedVariance = 0.05, kMinGradientSteps = 200;
/// Between the medians of the first and the last quarter: returns that grow fivefold while an agent
/// learns raise the squared error by 25.
inline constexpr double kValueLossGrowth = 30;
/// A return that rises by this fraction, and by more than it varies within a quarter, shows that the
/// run learns, whatever its other curves do.
inline constexpr double kImprovement = 0.1;
/// At this rate a rollout of the defaults takes two minutes, and learning hours.
inline constexpr double kMinSamplesPerMinute = 500;
/// Eight rollouts of the defaults; the steps of an episode are seldom more for each of 16 agents.
inline constexpr double kMinSamplesWithoutEpisodes = 8192;
/// Returns that differ by less are equal: rounding of sums of some hundred rewards.
inline constexpr double kEqualReturns = 1e-4;
/// Relative change of weights by an optimizer step: a hundredth of the smallest that learns within
/// minutes, 1e-4.
inline constexpr double kMinUpdateRatio = 1e-6;
/// One snapshot that is restored may be an accident of the game, three are a pattern.
inline constexpr double kMinRollbacks = 3;
/// Rewards dropped after the end of an episode: more than in every other episode is no accident.
inline constexpr double kAfterEndPerEpisode = 0.5, kMinAfterEnd = 8;

/// A run with the questions that the rules ask.
class Run {
  public:
    explicit Run(const RunMetrics& metrics) : metrics_(metrics) {
        for (const auto& [name, points] : metrics.series)
            if (!points.empty()) end_ = std::max(end_, points.back().first);
    }
    bool is_in_seconds() const { return metrics_.is_in_seconds; }
    const std::vector<std::pair<double, double>>& points(std::string_view name) const {
        static const std::vector<std::pair<double, double>> none;
        const auto found = metrics_.series.find(name);
        return found == metrics_.series.end() ? none : found->second;
    }
    /// The last value; 0 if there is none.
    double last(std::string_view name) const {
        return points(name).empty() ? 0 : points(name).back().second;
    }
    /// last(part) / (last(part) + last(rest)); 0 if both are 0.
    double share(std::string_view part, std::string_view rest) const {
        const double sum = last(part) + last(rest);
        return sum > 0 ? last(part) / sum : 0;
    }
    bool has_samples() const { return last("samples") + last("samples_dropped") >= kMinSamples; }
    /// Values of a quarter of the curve, 0 to 3, from where it is first computed: metrics are zero
    /// before.  Empty of less than kMinPoints points.
    std::vector<double> values(std::string_view name, size_t quarter) const {
        const auto& all = points(name);
        size_t begin = 0;
        while (begin < all.size() && all[begin].second == 0) ++begin;
        const size_t count = all.size() - begin;
        std::vector<double> part;
        if (count < kMinPoints) return part;
        for (size_t i = count * quarter / 4; i < count * (quarter + 1) / 4; ++i)
            part.push_back(all[begin + i].second);
        return part;
    }
    /// Median of a quarter; NaN of less than kMinPoints points.
    double median(std::string_view name, size_t quarter) const {
        std::vector<double> part = values(name, quarter);
        if (part.empty()) return std::numeric_limits<double>::quiet_NaN();
        std::nth_element(part.begin(), part.begin() + static_cast<long>(part.size() / 2),
                         part.end());
        return part[part.size() / 2];
    }
    /// Mean distance from the quarter's median; NaN as median().
    double spread(std::string_view name, size_t quarter) const {
        const std::vector<double> part = values(name, quarter);
        const double middle = median(name, quarter);
        double sum = 0;
        for (const double value : part) sum += std::abs(value - middle);
        return sum / static_cast<double>(part.size());
    }
    bool is_improving() const {
        constexpr std::string_view kReturn = "episode_return";
        const double rise = median(kReturn, 3) - median(kReturn, 0);
        return rise > kImprovement * std::abs(median(kReturn, 0)) &&
               rise > spread(kReturn, 0) + spread(kReturn, 3);
    }
    /// Calls visit(name, value) for each "GROUP/name" of the last sample.
    template <class Visit>
    void each(std::string_view group, Visit visit) const {
        const std::string prefix = std::string(group) + "/";
        for (auto i = metrics_.series.lower_bound(prefix);
             i != metrics_.series.end() && i->first.starts_with(prefix); ++i)
            if (!i->second.empty() && i->second.back().first >= end_)
                visit(i->first.substr(prefix.size()), i->second.back().second);
    }

  private:
    const RunMetrics& metrics_;
    double end_ = -std::numeric_limits<double>::infinity();
};

inline std::string number(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", value);
    return digits;
}
inline std::string percent(double share) {
    return number(std::round(1000 * share) / 10) + " %";
}

using Findings = std::vector<Finding>;

inline void check_observations(const Run& run, Findings& found) {
    run.each(kNonFiniteKey, [&](const std::string& field, double count) {
        found.push_back(
            {"non_finite",
             "the observation '" + field + "' was NaN or infinite " + number(count) + " times",
             "check the game's code for a division by zero or an object that is gone; "
             "such samples are rejected"});
    });
    if (!run.has_samples()) return;
    run.each(kConstantKey, [&](const std::string& field, double value) {
        found.push_back(
            {"constant_observation",
             "the observation '" + field + "' never changed: it is always " + number(value),
             "write it each frame (find_observation returns its place), or remove the "
             "field"});
    });
    run.each(kAtLimitKey, [&](const std::string& field, double share) {
        if (share < kAtLimitShare) return;
        found.push_back({"observation_at_limit",
                         "the observation '" + field + "' is at its limit in " + percent(share) +
                             " of the samples",
                         "widen the field's range in the specification, or scale the value"});
    });
    run.each(kUnresolvedKey, [&](const std::string& field, double share) {
        if (share < kAtLimitShare) return;
        found.push_back({"observation_unresolved",
                         "the observation '" + field + "' is too far from zero for an f32",
                         "subtract an offset in the game, e.g. the agent's own place"});
    });
}

inline void check_rewards(const Run& run, Findings& found) {
    const double episodes = run.last("episodes");
    if (const double late = run.last("rewards_after_end");
        episodes >= 1 && late >= kAfterEndPerEpisode * episodes && late >= kMinAfterEnd)
        found.push_back({"reward_after_end",
                         number(late) + " rewards in " + number(episodes) +
                             " episodes came after end_episode and were dropped",
                         "call add_reward before end_episode"});
    if (!run.has_samples()) return;
    const auto& returns = run.points("episode_return");
    const bool is_zero = std::all_of(returns.begin(), returns.end(), [](const auto& point) {
        return std::abs(point.second) < 1e-6;
    });
    if (episodes >= kMinEpisodes && !returns.empty() && is_zero &&
        run.last("rewards_after_end") == 0)
        found.push_back({"sparse_reward", "no reward in " + number(episodes) + " episodes",
                         "reward progress on the way (distance, time), start episodes nearer to "
                         "the goal, or show the task by demonstrations"});
    if (const double rejected = run.last("rewards_rejected");
        rejected >= kRejectedShare * run.last("samples"))
        found.push_back({"reward_rejected",
                         number(rejected) + " rewards were NaN or infinite and were dropped",
                         "check the game's code for a division by zero; add_reward returns an "
                         "error for each"});
    if (episodes == 0 && run.last("samples") >= kMinSamplesWithoutEpisodes)
        found.push_back({"no_episodes",
                         "no episode has ended in " + number(run.last("samples")) + " samples",
                         "call end_episode where the agent has succeeded or failed, and with "
                         "kTruncated where its place or the game is reset"});
    if (const std::vector<double> late = run.values("episode_return", 3);
        !late.empty() && episodes >= kMinEpisodes && !is_zero &&
        run.spread("episode_return", 0) + run.spread("episode_return", 3) <=
            kEqualReturns * std::abs(late.back()))
        found.push_back(
            {"constant_return",
             "each episode returns " + number(late.back()) + ": no action makes a difference",
             "reward progress on the way, start episodes nearer to the goal, or show "
             "the task by demonstrations"});
    if (const double share = run.last("rewards_clamped") / run.last("samples");
        share >= kSkippedShare)
        found.push_back({"reward_clamped",
                         percent(share) + " of the rewards were beyond SafetyLimits::clip_reward",
                         "set reward_scale so that rewards are about 1, or normalize_rewards"});
}

inline void check_pace(const Run& run, Findings& found) {
    const double dropped = run.share("samples_dropped", "samples");
    const double waiting = run.last("frames_without_update");
    if (run.has_samples() && (dropped >= kDroppedShare || waiting >= kFramesWithoutUpdate))
        found.push_back({"starved_budget",
                         dropped >= kDroppedShare
                             ? percent(dropped) + " of the samples were dropped, because learning "
                                                  "is slower than playing"
                             : number(waiting) + " frames without a finished minibatch",
                         "raise learning_budget_us, or lower n_epochs, the widths of the network "
                         "or the decisions per second"});
    const auto& samples = run.points("samples");
    if (!run.is_in_seconds() || samples.size() < kMinPoints) return;
    const double minutes = (samples.back().first - samples.front().first) / 60;
    const double rate = (samples.back().second - samples.front().second) / minutes;
    if (minutes >= 1 && rate < kMinSamplesPerMinute)
        found.push_back({"few_samples",
                         number(rate) + " samples a minute; at least " +
                             number(kMinSamplesPerMinute) + " are needed to learn during play",
                         "add agents that share the brain, decide more often, run the simulation "
                         "faster than real time, or train before shipping"});
}

inline void check_policy(const Run& run, Findings& found) {
    if (!run.has_samples()) return;
    if (const double masked = run.last("choices_all_masked");
        masked >= kRejectedShare * run.last("samples"))
        found.push_back({"all_masked",
                         "all options of an action were masked in " + number(masked) + " decisions",
                         "leave at least one option of each maskable action available"});
    // SAC steers its entropy by itself.
    const double first = run.median("entropy", 0), now = run.median("entropy", 3);
    if (now > first + kEntropyRise * std::max(std::abs(first), 1.0) && run.last("ent_coef") == 0)
        found.push_back({"entropy_rising",
                         "the entropy rises, from " + number(first) + " to " + number(now) +
                             ": actions become more random",
                         "lower ent_coef; if it is 0 already, check that rewards depend on the "
                         "actions"});
}

inline void check_optimizer(const Run& run, Findings& found) {
    // A snapshot takes its counters along, so that these runs never have many samples.
    if (const double rollbacks = run.last("rollbacks"); rollbacks >= kMinRollbacks)
        found.push_back({"rolls_back",
                         "the learner went back to an earlier snapshot " + number(rollbacks) +
                             " times, because no optimizer step was accepted for a while",
                         "lower learning_rate; check rewards and observations for very large "
                         "values"});
    if (!run.has_samples()) return;
    const double kl = run.share("skipped_kl", "gradient_steps");
    if (kl >= kSkippedShare)
        found.push_back({"kl_stops",
                         percent(kl) + " of the optimizer steps were skipped, because the policy "
                                       "had moved further than target_kl",
                         "lower learning_rate or n_epochs"});
    if (const double share = run.share("skipped_ratio", "gradient_steps"); share >= kSkippedShare)
        found.push_back({"steps_too_large",
                         percent(share) + " of the optimizer steps would have changed a weight "
                                          "beyond max_update_ratio",
                         "lower learning_rate"});
    if (run.last("skipped_non_finite") + run.last("actions_replaced") +
            run.last("publications_rejected") >
        0)
        found.push_back({"non_finite_weights",
                         "loss, gradients or actions were not finite in " +
                             number(run.last("skipped_non_finite")) + " steps",
                         "lower learning_rate; check observations and rewards for very large "
                         "values"});
    if (run.last("gradient_steps") + run.last("skipped_kl") + run.last("skipped_ratio") +
            run.last("skipped_non_finite") ==
        0)
        found.push_back({"never_learned",
                         "no optimizer step in " + number(run.last("samples")) + " samples",
                         "lower n_steps or learning_starts, of which a rollout or a first batch is "
                         "made, or raise learning_budget_us"});
    // The curve of a learning rate of 0 is 0 throughout, and has no median.
    const bool stands_still =
        !run.points("update_to_weight_ratio").empty() && run.last("update_to_weight_ratio") == 0;
    const double ratio = stands_still ? 0 : run.median("update_to_weight_ratio", 3);
    if (ratio < kMinUpdateRatio && run.last("gradient_steps") >= kMinGradientSteps)
        found.push_back(
            {"steps_too_small",
             "an optimizer step changes the weights by " + number(ratio) + " of their size",
             "raise learning_rate; the learners' defaults are between 2.5e-4 and 3e-3"});
    const double first = run.median("value_loss", 0), now = run.median("value_loss", 3);
    const bool explodes = now > kValueLossGrowth * std::max(first, 1e-6) && !run.is_improving();
    if (explodes)
        found.push_back({"value_loss_explodes",
                         "the value loss grew from " + number(first) + " to " + number(now),
                         "lower learning_rate, set normalize_rewards or a smaller reward_scale, or "
                         "lower gamma"});
    const bool is_trained = run.last("gradient_steps") >= kMinGradientSteps;
    const double explained = run.median("explained_variance", 3);
    const bool earns = run.median("episode_return", 3) != 0;
    if (is_trained && explained < kLowExplainedVariance && earns && !run.is_improving() &&
        kl < kSkippedShare && !explodes)
        found.push_back({"low_explained_variance",
                         "the critic explains " + percent(std::max(explained, 0.0)) +
                             " of the variance of returns",
                         "check that observations show what rewards depend on; raise vf_coef or "
                         "learning_rate, or lower gamma"});
}

}  // namespace detail::doctor

/// What keeps the run from learning, in the order of the causes: observations, rewards, pace,
/// policy, optimizer.  Empty for a healthy run, and for one with too few samples to tell.
inline std::vector<Finding> diagnose(const RunMetrics& metrics) {
    const detail::doctor::Run run(metrics);
    std::vector<Finding> found;
    detail::doctor::check_observations(run, found);
    detail::doctor::check_rewards(run, found);
    detail::doctor::check_pace(run, found);
    detail::doctor::check_policy(run, found);
    detail::doctor::check_optimizer(run, found);
    return found;
}

inline std::vector<Finding> Agents::diagnose() const {
    RunMetrics metrics;
    const auto add = [&](const std::string& name, double value) {
        metrics.series[name] = {{0, value}};
    };
    const AgentsStatus now = status();
    for (size_t i = 0; i < kMetricCount; ++i)
        add(std::string(kMetricNames[i]), static_cast<double>(now[static_cast<AgentMetric>(i)]));
    for (size_t i = 0; i < kCounterCount; ++i)
        add(std::string(kCounterNames[i]), static_cast<double>(now[static_cast<Counter>(i)]));
    for (const auto& [name, value] : detail::driver_counts(now)) add(std::string(name), value);
    for (const ObservationAtLimit& o : observations_at_limit(*this))
        add(std::string(o.limit == ObservationLimit::kClamped ? kAtLimitKey : kUnresolvedKey) +
                "/" + o.name,
            o.share);
    for (uint32_t i = 0; i < observation_size(); ++i) {
        const ObservationRange range = observation_range(i);
        const std::string field(observation_name(i));
        if (range.is_constant())
            add(std::string(kConstantKey) + "/" + field, static_cast<double>(range.low));
        if (range.non_finite_count > 0)
            add(std::string(kNonFiniteKey) + "/" + field,
                static_cast<double>(range.non_finite_count));
    }
    return agents::diagnose(metrics);
}

}  // namespace hearth::agents
