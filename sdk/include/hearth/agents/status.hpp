// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Metrics and counters of learners.  Each entry (store, compute_advantages, learn, publish) keeps
// its own, as the states agents.status.ENTRY (f32), agents.counters.ENTRY (u32, low halves) and
// agents.carries.ENTRY (high halves); the entry frame also keeps their sum, in the single state
// agents.status.  Brains hold all of these.  Later counters are in the non-persistent state
// agents.recent (u32), which is zero after a brain was loaded.  status_words() joins a readback of
// the two.  Header-only, for applications and for learners.

#pragma once

#include <hearth/core/cpp20.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::agents {

/// Values of the last recording that computed finite ones; zero for those that a learner lacks.
enum class AgentMetric : uint32_t {
    kLoss,
    kPolicyLoss,
    kValueLoss,
    kEntropy,
    kKl,            ///< of the acting and the current policy: mean of r - 1 - log r
    kClipFraction,  ///< fraction of samples with a clipped ratio
    kExplainedVariance,
    kGradientNorm,         ///< before clipping
    kUpdateToWeightRatio,  ///< maximum over parameters: rms of the step / rms of the weight
    kEpisodeReturn,        ///< moving average of episode returns, before scaling
    kEpisodeLength,
    kEntCoef,      ///< SAC: the entropy coefficient
    kReferenceKl,  ///< divergence from the initial policy
    kCount,
};
inline constexpr size_t kMetricCount = static_cast<size_t>(AgentMetric::kCount);
inline constexpr std::array<std::string_view, kMetricCount> kMetricNames = {
    "loss",
    "policy_loss",
    "value_loss",
    "entropy",
    "kl",
    "clip_fraction",
    "explained_variance",
    "gradient_norm",
    "update_to_weight_ratio",
    "episode_return",
    "episode_length",
    "ent_coef",
    "reference_kl"};

enum class Counter : uint32_t {
    kSamples,              ///< stored
    kSamplesRejected,      ///< non-finite, or with an action or agent that does not exist
    kSamplesDropped,       ///< arrived when the rollout was full
    kObservationsClamped,  ///< values beyond the limit, in network inputs
    kRewardsClamped,       ///< rewards, feedback or regression targets beyond the limit
    kEpisodes,
    kGradientSteps,     ///< optimizer steps taken
    kSkippedNonFinite,  ///< steps not taken: loss or gradients not finite
    kSkippedKl,         ///< steps not taken: the policy moved too far from its samples
    kSkippedRatio,      ///< steps not taken: they would change a weight too much
    kPublications,
    kPublicationsRejected,  ///< weights not finite
    kPublicationsFar,       ///< beyond SafetyLimits::max_weight_drift
    // Since a brain was loaded:
    kSkippedInARow,  ///< steps not taken, non-finite or for their ratio, since the last one taken
    kChoicesAllMasked,  ///< choices of which every option was masked: option 0 was taken
    kActionsReplaced,   ///< action values that were not finite: the middle of their range was taken
    kCount,
};
inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::kCount);
/// Counters in the state agents.status: those before kSkippedInARow.
inline constexpr size_t kSavedCounterCount = static_cast<size_t>(Counter::kSkippedInARow);
inline constexpr std::array<std::string_view, kCounterCount> kCounterNames = {
    "samples",          "samples_rejected", "samples_dropped",    "observations_clamped",
    "rewards_clamped",  "episodes",         "gradient_steps",     "skipped_non_finite",
    "skipped_kl",       "skipped_ratio",    "publications",       "publications_rejected",
    "publications_far", "skipped_in_a_row", "choices_all_masked", "actions_replaced"};

/// Metrics, then the low and the high halves of all counters.
inline constexpr size_t kStatusWords = kMetricCount + 2 * kCounterCount;
/// Words of the state agents.status: the same of the saved counters.
inline constexpr size_t kSavedStatusWords = kMetricCount + 2 * kSavedCounterCount;

/// Joins the states agents.status and agents.recent after a readback.  Programs of earlier versions
/// have fewer counters and no agents.recent: what is missing is zero.
inline std::array<uint32_t, kStatusWords> status_words(std::span<const uint32_t> status,
                                                       std::span<const uint32_t> recent = {}) {
    std::array<uint32_t, kStatusWords> words{};
    if (status.size() < kMetricCount) return words;
    const size_t saved = std::min((status.size() - kMetricCount) / 2, kSavedCounterCount);
    const size_t high = kMetricCount + (status.size() - kMetricCount) / 2;
    for (size_t i = 0; i < kMetricCount + saved; ++i) words[i] = status[i];
    for (size_t i = 0; i < saved; ++i) words[kMetricCount + kCounterCount + i] = status[high + i];
    for (size_t i = 0; i < recent.size() && kSavedCounterCount + i < kCounterCount; ++i)
        words[kMetricCount + kSavedCounterCount + i] = recent[i];
    return words;
}

/// View of status_words().
class StatusView {
  public:
    /// words  kStatusWords words, which must outlive the view
    explicit StatusView(std::span<const uint32_t> words) : words_(words) {}
    float operator[](AgentMetric d) const {
        return std::bit_cast<float>(words_[static_cast<size_t>(d)]);
    }
    uint64_t operator[](Counter c) const {
        const size_t low = kMetricCount + static_cast<size_t>(c);
        return words_[low] | static_cast<uint64_t>(words_[low + kCounterCount]) << 32;
    }

  private:
    std::span<const uint32_t> words_;
};

// --- Limits of observations ---

/// Words of the non-persistent state agents.observation_limits, u32: for each float of a frame (see
/// AgentSpec::observation_name) the number of samples in which it reached a limit; as many words
/// for samples whose changes an f32 hardly resolves; and the number of samples.  All are halved
/// when that reaches kMostObservationSamples, and zero after a brain was loaded.
constexpr int64_t observation_limit_words(int64_t frame_size) {
    return 2 * frame_size + 1;
}
inline constexpr uint32_t kMostObservationSamples = 1u << 20;

enum class ObservationLimit : uint8_t {
    /// SafetyLimits::clip_obs deviations from the mean, or the bounds of encode_frame().
    kClamped,
    /// Far from its field's range, with a spread of less than eight units in the last place: an
    /// offset should be subtracted in the game.
    kUnresolved,
};

/// Calls visit(index, limit, share) for each float of a frame that was at a limit in at least
/// `least_share` of the samples.  words: the state agents.observation_limits after a readback.
template <class Visit>
void for_each_observation_limit(std::span<const uint32_t> words, double least_share, Visit visit) {
    if (words.empty() || words.back() == 0) return;
    const size_t size = words.size() / 2;
    for (size_t i = 0; i < size; ++i)
        for (const ObservationLimit limit :
             {ObservationLimit::kClamped, ObservationLimit::kUnresolved}) {
            const double share = static_cast<double>(words[static_cast<size_t>(limit) * size + i]) /
                                 static_cast<double>(words.back());
            if (share >= least_share) visit(i, limit, share);
        }
}

// --- Sums ---

/// States of one entry after a readback.
struct EntryStatus {
    std::span<const float> metrics = {};
    std::span<const uint32_t> low, high = {};  ///< of saved counters
};

/// Sums the status of several entries into the layout of status_words().
inline std::array<uint32_t, kStatusWords> sum_status(std::span<const EntryStatus> entries) {
    std::array<uint32_t, kStatusWords> sum{};
    for (const EntryStatus& entry : entries) {
        for (size_t i = 0; i < kMetricCount; ++i)
            sum[i] = std::bit_cast<uint32_t>(std::bit_cast<float>(sum[i]) + entry.metrics[i]);
        for (size_t i = 0; i < kSavedCounterCount; ++i) {
            const uint64_t more = entry.low[i] | static_cast<uint64_t>(entry.high[i]) << 32;
            const uint64_t total = StatusView(sum)[static_cast<Counter>(i)] + more;
            sum[kMetricCount + i] = static_cast<uint32_t>(total);
            sum[kMetricCount + kCounterCount + i] = static_cast<uint32_t>(total >> 32);
        }
    }
    return sum;
}

}  // namespace hearth::agents
