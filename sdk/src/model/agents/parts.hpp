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
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

// --- Small algebra ---

/// bool of any shape -> f32.
Tensor number(const Tensor& condition);
/// Whether each element is finite: bool, of x's shape.
Tensor is_finite(const Tensor& x);
/// x: [rows, n] -> bool [rows].
Tensor rows_are_finite(const Tensor& x);
/// sum(x * weight) / max(sum(weight), 1).  x, weight: [n] -> [].
Tensor weighted_mean(const Tensor& x, const Tensor& weight);

/// linear with the params name.weight and name.bias.  gain: of orthogonal ones.
Tensor dense(Trace& trace, const std::string& name, const Tensor& x, int64_t width, double gain,
             uint64_t seed, nn::WeightInit init = nn::WeightInit::kOrthogonal);

/// The value, or an input [] of this name.
Tensor setting(Trace& trace, std::string_view name, const Setting& s);
Rate rate_of(Trace& trace, std::string_view name, const Setting& s);

// --- States ---

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

/// A param of another trace, declared in this one.
Tensor redeclared_param(Trace& trace, const Tensor& param);

/// The tensors that read_copies() renamed in `reader`, as pairs of this trace: what learns, and the copy.
struct CopiedTensor {
    Tensor from, to;
};
std::vector<CopiedTensor> declare_copies(Trace& trace, const Trace& reader, std::string_view scope);

// --- Rails ---

/// What one role tells (status.hpp), or what all do together.
struct StatusTensors {
    Tensor diagnostics;  ///< f32 [kDiagnosticCount]
    Tensor low, high;    ///< of counters: u32 [kCounterCount]
    /// As the states of this role.
    static StatusTensors declare(Trace& trace, std::string_view role);
};

/// Diagnostics and counters of a role.  Each has its own, so that one can be cut into slices while another
/// runs in between.
class StatusWriter {
  public:
    StatusWriter(Trace& trace, std::string_view role)
        : trace_(&trace), before_(StatusTensors::declare(trace, role)) {}
    /// f32 [].  One that is not finite is left as it was.
    void set(Diagnostic d, const Tensor& value) { values_[static_cast<size_t>(d)] = value; }
    /// How many more: bool or f32 [] (at most 2^24 at once).
    void add(Counter c, const Tensor& amount) { amounts_[static_cast<size_t>(c)] = amount; }
    /// The present value of a diagnostic.
    Tensor value(Diagnostic d) const;
    /// Assigns the states; returns what they become.
    StatusTensors finish();

  private:
    Trace* trace_;
    StatusTensors before_;
    std::array<Tensor, kDiagnosticCount> values_;
    std::array<Tensor, kCounterCount> amounts_;
};

/// The state "agents.status", for one readback: the sum of store and the other roles.  stored: what the
/// status of store becomes in this entry, or nothing if that is not part of it.
void gather_status(Trace& trace, const StatusTensors& stored,
                   std::initializer_list<std::string_view> others = {"prepare", "learn",
                                                                     "publish"});

/// The entry `publish`: copies what `act` reads, unless something of it is not finite.
/// drift_limit: as Rails.
void trace_publish(Trace& trace, const Trace& act, double drift_limit);

/// What `act` says besides its action, and the run counter of its samples.
inline constexpr std::string_view kPublished = "published";

}  // namespace hearth::agents
