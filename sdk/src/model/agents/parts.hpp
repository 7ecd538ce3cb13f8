// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Building blocks of learners: counters and diagnostics, weight copies, statistics, publishing.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/agents/distribution.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/agents/status.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// Bound of raw and encoded observations and of running sums of rewards: their squares can still
/// be summed in an f32.
inline constexpr double kFarthest = 1e15;

// --- Small algebra ---

/// bool of any shape -> f32.
Tensor number(const Tensor& condition);
/// The options of a choice that can be taken: those with a mask above 0 or, if there is none, the
/// first one.  mask: [rows, options] -> bool.
Tensor available_options(const Tensor& mask);
/// Score of a masked option: far below any other, and far from overflow.  Its exponential is zero,
/// and so is zero times it.
inline constexpr double kAbsent = -1e8;
/// Scores from which one option is chosen: even if they are NaN, no masked one is.
/// available: bool, of their shape.
Tensor choosable(const Tensor& scores, const Tensor& available);
/// True where an element is finite: bool, of x's shape.
Tensor is_finite(const Tensor& x);
/// True for rows whose elements are all finite.  x: [rows, n] -> bool [rows].
Tensor rows_are_finite(const Tensor& x);
/// sum(x * weight) / max(sum(weight), 1).  x, weight: [n] -> [].
Tensor weighted_mean(const Tensor& x, const Tensor& weight);

/// Linear layer with the params name.weight and name.bias.  gain: for orthogonal initialization.
Tensor dense(Trace& trace, const std::string& name, const Tensor& x, int64_t width, double gain,
             uint64_t seed, nn::WeightInit init = nn::WeightInit::kOrthogonal);

/// The value as a constant or, if the setting is live, as an input [] of this name.
Tensor hyperparameter(Trace& trace, std::string_view name, const Hyperparameter& s);
ScalarOrTensor rate_of(Trace& trace, std::string_view name, const Hyperparameter& s);

// --- Random numbers ---

/// The place of a seed among the counters of random numbers: u32 [].  The seed is the non-persistent
/// state NAME, so that programs that differ in their seed alone have the same kernels.  Places of N
/// successive seeds are at least 2^32 / (3 N) draws apart.
Tensor seed_offset(Trace& trace, uint64_t seed, std::string_view name = "seed");
/// global_step(), beginning at the seed's place: a counter for random_uniform() and similar.
Tensor random_counter(Trace& trace, std::string_view steps, uint64_t seed);

// --- States ---

/// Running mean and variance, as states NAME.mean, NAME.variance [width] and NAME.count [], and as
/// a transient state the digits that the mean lacks, NAME.mean_low [width].
struct RunningStatistics {
    Tensor mean, variance, count, mean_low;
    static RunningStatistics declare(Trace& trace, const std::string& name, int64_t width);
    /// Merges samples [n, width] with weights [n] (Chan, Golub and LeVeque, 1979).  The count is
    /// capped at a million, so that the statistics follow a game that changes.  Samples farther
    /// than 10,000 deviations away count as that far: a wrong one is forgotten, and a move is
    /// followed within some merges.
    void merge(const Tensor& samples, const Tensor& weight) const;
};

// --- Limits of observations ---

/// f32 [batch, frame size] each: 1 for raw elements of a frame that reach a limit, and for those
/// whose changes an f32 hardly resolves: far from their field's range, with a spread of less than
/// eight units in the last place.
struct LimitedElements {
    Tensor limited, unresolved;
};
/// As normalize_frame() encodes them.  frame: [batch, frame size].
LimitedElements elements_at_limit(const AgentSpec& schema, const Tensor& frame,
                                  const RunningMeanStd& normalizer, double clip);

// --- Copies of weights ---

/// Turns the params and states of a finished trace whose names begin with one of `prefixes` into
/// states "SCOPE.NAME" with the same initial values: copies that an entry reads while another one
/// learns.
void read_copies(Trace& trace, std::string_view scope, std::span<const std::string> prefixes);

/// Declares a param of another trace in this one.
Tensor redeclared_param(Trace& trace, const Tensor& param);

/// The initial value of a param: a constant, or a non-persistent state where a constant would be
/// part of a kernel's code, so that kernels do not depend on the seed of the weights.
Tensor initial_value(Trace& trace, const Value& param);

/// A pair of tensors of this trace: the original that learns, and the copy that read_copies() made.
struct CopiedTensor {
    Tensor from, to;
};
std::vector<CopiedTensor> declare_copies(Trace& trace, const Trace& reader, std::string_view scope);

// --- Status ---

/// Status of one role (status.hpp), or of all together.
struct StatusTensors {
    Tensor diagnostics;  ///< f32 [kDiagnosticCount]
    Tensor low, high;    ///< low and high words of counters: u32 [kSavedCounterCount]
    /// Declares the states of this role.
    static StatusTensors declare(Trace& trace, std::string_view role);
};

/// Writes the diagnostics and counters of a role.  Each role has its own states, so that one entry
/// can be sliced while others run in between.
class StatusWriter {
  public:
    StatusWriter(Trace& trace, std::string_view role)
        : trace_(&trace), before_(StatusTensors::declare(trace, role)) {}
    /// value: f32 [].  A value that is not finite is ignored.
    void set(AgentMetric d, const Tensor& value) { values_[static_cast<size_t>(d)] = value; }
    /// Increment of a saved counter: bool or f32 [] (at most 2^24 at once).
    void add(Counter c, const Tensor& amount) { amounts_[static_cast<size_t>(c)] = amount; }
    /// The old value of a diagnostic.
    Tensor value(AgentMetric d) const;
    /// Assigns the states; returns their new values.
    StatusTensors finish();

  private:
    Trace* trace_;
    StatusTensors before_;
    std::array<Tensor, kMetricCount> values_;
    std::array<Tensor, kSavedCounterCount> amounts_;
};

/// The non-persistent state learn.skipped_in_a_row: u32 [].
Tensor skipped_in_a_row(Trace& trace);

/// Increments of the counters of decisions: f32 [] each, or empty.
struct DecisionCounts {
    Tensor all_masked, replaced;
};

/// Updates the states agents.status, the sum of `store` and the other roles, and agents.recent.
/// stored: the new status of `store` if this entry includes it, otherwise empty.
void gather_status(Trace& trace, const StatusTensors& stored, const DecisionCounts& decided,
                   std::initializer_list<std::string_view> others = {"compute_advantages", "learn",
                                                                     "publish"});

/// The entry `publish`: copies the weights that `act` reads, unless one of them is not finite.
/// drift_limit: as in Rails.
void trace_publish(Trace& trace, const Trace& act, double drift_limit);

/// Scope of the published copies that `act` reads.
inline constexpr std::string_view kPublished = "published";

}  // namespace hearth::agents
