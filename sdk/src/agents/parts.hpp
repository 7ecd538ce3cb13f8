// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What learners share: counters and diagnostics, guarded updates, copies of weights, statistics.

#pragma once

#include <hearth/agents/distribution.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/agents/status.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

// --- Small algebra ---

/// bool of any shape -> f32.
Tensor number(const Tensor& condition);
/// Whether all elements are finite: bool [].
Tensor is_finite(const Tensor& x);
/// x: [rows, n] -> bool [rows].
Tensor rows_are_finite(const Tensor& x);
/// sum(x * weight) / max(sum(weight), 1).  x, weight: [n] -> [].
Tensor weighted_mean(const Tensor& x, const Tensor& weight);

/// linear with the params name.weight, orthogonal of this gain, and name.bias, zero.
Tensor dense(Trace& trace, const std::string& name, const Tensor& x, int64_t width, double gain,
             uint64_t seed);

/// The value, or an input [] of this name.
Tensor setting(Trace& trace, std::string_view name, const Setting& s);
Rate rate_of(Trace& trace, std::string_view name, const Setting& s);

// --- States ---

/// target[places[i]] <- rows[i]; places outside [0, extent) are left out.  places: i32 [n].
void write_rows(const Tensor& target, const Tensor& places, const Tensor& rows);

/// A running mean and variance, as states NAME.mean, NAME.variance [width] and NAME.count [].
struct RunningStatistics {
    Tensor mean, variance, count;
    static RunningStatistics declare(Trace& trace, const std::string& name, int64_t width);
    /// Merges samples [n, width] with weights [n] (Chan, Golub and LeVeque, 1979).  Samples weigh
    /// against a million earlier ones at most, so that it follows a game that changes.
    void merge(const Tensor& samples, const Tensor& weight) const;
};

// --- Weights under other names ---

/// Turns the params of a finished trace whose names begin with one of `prefixes`, and such states, into
/// states "SCOPE.NAME" with the same first contents: what an entry reads in place of what another
/// learns.
void read_copies(Trace& trace, std::string_view scope, std::span<const std::string> prefixes);

/// The tensors that read_copies() renamed in `reader`, as pairs of this trace: what learns, and the copy.
struct CopiedTensor {
    Tensor from, to;
};
std::vector<CopiedTensor> declare_copies(Trace& trace, const Trace& reader, std::string_view scope);

/// Makes the params at or below `copy` states with the first contents of the params of this trace at
/// or below `original`, which are declared already, and returns both.
std::vector<CopiedTensor> freeze_as_copy(Trace& trace, std::string_view copy,
                                         std::string_view original);

// --- Rails ---

/// The updates that a trace makes between construction and apply() happen only where a bool says so.
class Guard {
  public:
    explicit Guard(Trace& trace);
    /// condition: bool [].  It must not be computed from guarded values.
    void apply(const Tensor& condition) const;
    /// The largest rms of a step by the rms of its param, which counts as 0.05 at least: [].
    Tensor largest_update_ratio() const;

  private:
    Trace* trace_;
    size_t first_;
};

/// The state "agents.status.ROLE": diagnostics and counters (status.hpp).  Each role has its own, so that
/// one can be cut into slices while another runs in between.
class StatusWriter {
  public:
    StatusWriter(Trace& trace, std::string_view role);
    /// f32 [].
    void set(Diagnostic d, const Tensor& value) { values_[static_cast<size_t>(d)] = value; }
    /// How many more: bool or f32 [] (at most 2^24 at once).
    void add(Counter c, const Tensor& amount) { amounts_[static_cast<size_t>(c)] = amount; }
    /// The present value of a diagnostic.
    Tensor value(Diagnostic d) const;
    /// Assigns the state; returns what it becomes.
    Tensor finish();

  private:
    Trace* trace_;
    std::string name_;
    std::array<Tensor, kDiagnosticCount> values_;
    std::array<Tensor, kCounterCount> amounts_;
};

/// The state "agents.status", for one readback: the sum of all roles, of which the entry that calls this
/// is "store".  own: what its status becomes, or empty: it has none in this entry.
void gather_status(Trace& trace, const Tensor& own);

/// The mean return and length of episodes, from what is stored.  reward, end: [rows], id: i32 [rows],
/// is_sound: bool [rows].
void track_episodes(Trace& trace, StatusWriter& status, int64_t agents, const Tensor& id,
                    const Tensor& reward, const Tensor& end, const Tensor& is_sound);

/// The entry `publish`: copies what `act` reads, unless something of it is not finite.
std::unique_ptr<Trace> trace_publish(const Trace& act);

/// What `act` says besides its action, and the run counter of its samples.
inline constexpr std::string_view kPublished = "published";

}  // namespace hearth::agents
