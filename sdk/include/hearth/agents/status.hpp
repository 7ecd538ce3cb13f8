// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What learners tell: diagnostics, and 64-bit counters.  Each role (store, prepare, learn, publish) keeps
// its own, as the states agents.status.ROLE (f32), agents.counters.ROLE (u32, low halves) and
// agents.carries.ROLE (high halves); the entry frame keeps their sum as well, as words of one state
// "agents.status", so that one readback tells everything.  Header-only, for the small library and for
// learners.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::agents {

/// Of the last recording that computed them and found them finite; zero where a learner has none.
enum class Diagnostic : uint32_t {
    kLoss,
    kPolicyLoss,
    kValueLoss,
    kEntropy,
    kKl,            ///< of the policy now from that which acted: mean of r - 1 - log r
    kClipFraction,  ///< samples whose ratio is beyond the clip
    kExplainedVariance,
    kGradientNorm,  ///< before it is clipped
    kUpdateRatio,   ///< the largest of all params: rms of the step by rms of the weight
    kReturn,        ///< moving average over episodes, before scaling
    kEpisodeLength,
    kTemperature,
    kLeash,  ///< divergence from the shipped policy
    kCount,
};
inline constexpr size_t kDiagnosticCount = static_cast<size_t>(Diagnostic::kCount);
inline constexpr std::array<std::string_view, kDiagnosticCount> kDiagnosticNames = {
    "loss",           "policy_loss",        "value_loss",    "entropy",      "kl",
    "clip_fraction",  "explained_variance", "gradient_norm", "update_ratio", "return",
    "episode_length", "temperature",        "leash"};

enum class Counter : uint32_t {
    kSamples,              ///< stored
    kSamplesRefused,       ///< not finite, or an action or agent that does not exist
    kSamplesDropped,       ///< came when the window was full
    kObservationsClamped,  ///< numbers beyond the limit, as a network sees them
    kRewardsClamped,       ///< or praise, or samples with a target, beyond the limit
    kEpisodes,
    kLearnSteps,        ///< taken
    kSkippedNotFinite,  ///< steps not taken: loss or gradients were not finite
    kSkippedKl,         ///< ... the policy had moved too far for its samples
    kSkippedRatio,      ///< ... they would have changed a weight too much at once
    kPublications,
    kPublicationsRefused,  ///< not finite
    kPublicationsFar,      ///< not done: beyond Rails::drift_limit
    kCount,
};
inline constexpr size_t kCounterCount = static_cast<size_t>(Counter::kCount);
inline constexpr std::array<std::string_view, kCounterCount> kCounterNames = {
    "samples",         "samples_refused", "samples_dropped", "observations_clamped",
    "rewards_clamped", "episodes",        "learn_steps",     "skipped_not_finite",
    "skipped_kl",      "skipped_ratio",   "publications",    "publications_refused",
    "publications_far"};

/// Words of the state agents.status: diagnostics, the low halves of all counters, their high halves.
inline constexpr size_t kStatusWords = kDiagnosticCount + 2 * kCounterCount;

/// The state as it was read back.
class StatusView {
  public:
    /// words: kStatusWords, which must outlive this.
    explicit StatusView(std::span<const uint32_t> words) : words_(words) {}
    float operator[](Diagnostic d) const {
        return std::bit_cast<float>(words_[static_cast<size_t>(d)]);
    }
    uint64_t operator[](Counter c) const {
        const size_t low = kDiagnosticCount + static_cast<size_t>(c);
        return words_[low] | static_cast<uint64_t>(words_[low + kCounterCount]) << 32;
    }

  private:
    std::span<const uint32_t> words_;
};

/// One role's states, as they were read back.
struct RoleStatus {
    std::span<const float> diagnostics;
    std::span<const uint32_t> low, high;  ///< of counters
};

/// The sum of several roles, as the state agents.status is.
inline std::array<uint32_t, kStatusWords> sum_of_status(std::span<const RoleStatus> roles) {
    std::array<uint32_t, kStatusWords> sum{};
    for (const RoleStatus& role : roles) {
        for (size_t i = 0; i < kDiagnosticCount; ++i)
            sum[i] = std::bit_cast<uint32_t>(std::bit_cast<float>(sum[i]) + role.diagnostics[i]);
        for (size_t i = 0; i < kCounterCount; ++i) {
            const uint64_t more = role.low[i] | static_cast<uint64_t>(role.high[i]) << 32;
            const uint64_t total = StatusView(sum)[static_cast<Counter>(i)] + more;
            sum[kDiagnosticCount + i] = static_cast<uint32_t>(total);
            sum[kDiagnosticCount + kCounterCount + i] = static_cast<uint32_t>(total >> 32);
        }
    }
    return sum;
}

}  // namespace hearth::agents
