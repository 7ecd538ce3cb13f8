// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Replay buffers of off-policy learners, and helpers shared by them.

#pragma once

#include "model/agents/parts.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hearth::agents {

/// A replay buffer: write position, size and total count in SCOPE.cursor, SCOPE.size and
/// SCOPE.serial; columns are "SCOPE.NAME" of [capacity, ...].  All are transient states.
class ReplayBuffer {
  public:
    ReplayBuffer(Trace& trace, int64_t capacity, std::string scope = "replay");

    Tensor column(const std::string& name, int64_t width = 0, DType dtype = DType::kF32,
                  const Init& init = {}) const;

    /// Appends samples.  Returns their positions, i32 [rows], or `capacity` (out of range) for
    /// unsound ones.  Moves the cursor; call it once.
    Tensor push(const Tensor& is_sound);
    /// u32 [rows]: serial (number of samples before it) of each pushed sample.
    const Tensor& serials() const { return serials_; }
    /// Positions of the samples with these serials (u32), or `capacity` if they were overwritten.
    Tensor place_of(const Tensor& serials) const;

    /// Positions of `count` samples drawn uniformly: i32 [count].
    Tensor draw(const Tensor& counter, uint64_t key, int64_t count) const;
    const Tensor& size() const { return size_; }  ///< i32 []: before the push
    int64_t capacity() const { return capacity_; }

  private:
    Trace* trace_;
    std::string scope_;
    int64_t capacity_;
    Tensor cursor_, size_, serial_;
    Tensor serials_;
};

/// For each agent the serials of its last `length` samples, newest first, as the transient states
/// replay.chain [agents, length] (u32) and replay.chain_length [agents].
class AgentChains {
  public:
    AgentChains(Trace& trace, int64_t agents, int64_t length);
    /// The serial of the `back`-th (0: newest) sample before those of this recording: u32 [rows],
    /// and whether it exists: bool [rows].
    struct Link {
        Tensor serial, exists;
    };
    Link link(const Tensor& id, int64_t back) const;
    /// Appends a sample; goes_on: bool [rows], false if the chain ends with it.
    void append(const Tensor& id, const Tensor& serials, const Tensor& goes_on) const;

  private:
    int64_t length_;
    Tensor serials_, lengths_;
};

/// One decision per row with its outcome.  A sound transition may be stored: it is finite, and its
/// agent and choices exist.
struct Transition {
    Tensor id, observation, mask, decision, reward, end, next_observation, next_mask;
    Tensor exists;   ///< bool [rows], or empty: all exist.  Missing ones are not counted as refused
    Tensor is_real;  ///< bool [rows]: it exists, and its agent id is valid
    Tensor is_sound;

    struct Parts {
        bool outcome = true;    ///< reward, end and next_observation
        bool next_mask = true;  ///< only where choices are masked
    };
    /// Declares the inputs of an entry.
    static Transition declare(Trace& trace, const AgentSpec& schema, int64_t agents, Parts parts);
    /// Sets is_real and is_sound.
    void check(const AgentSpec& schema, int64_t agents);
    /// Number of transitions that exist but are not sound: f32 [].
    Tensor refused() const;
    /// Updates the mean return and length of episodes from all transitions, stored or not.  An
    /// unsound one is a step without a reward; where none is real, an episode begins.
    void track_episodes(StatusWriter& status, int64_t agents) const;
};

/// Updates the moving averages of returns and lengths, and the episode count.  is_over: bool [n];
/// finished: number of ended episodes, f32 []; returns, lengths: [n], valid where is_over.
void average_episodes(StatusWriter& status, const Tensor& is_over, const Tensor& finished,
                      const Tensor& returns, const Tensor& lengths);

/// A decision as it is acted on: values that are not finite are the middle of their range.
struct Acted {
    Tensor decision;  ///< [rows, action size]
    Tensor replaced;  ///< f32 [rows, action size]: 1 where a value was not finite
};
Acted act_on(const Tensor& decision);

/// Inputs of the entry `frame`: the agents that act now, and the transitions that end with it.
/// Previous decisions are kept in the transient states last.NAME [agents, ...]; last.exists is set
/// where there is one, so that decisions from before a brain was loaded are not attributed to it.
struct Frame {
    Tensor id, observation, mask, explore;
    Tensor is_first;  ///< bool [rows]: an episode begins here
    Transition transition;

    struct Options {
        const char* said = "reward";  ///< input with the outcome of a decision, or "praise"
        bool next_mask = false;       ///< targets depend on the mask of the next observation
    };
    static Frame declare(Trace& trace, const AgentSpec& schema, int64_t agents, Options options);
    /// The value kept of the last decision under this name: [rows] or [rows, width].
    Tensor last(Trace& trace, const char* name, int64_t width) const;
    /// Keeps values that a learner needs of the decisions for the next frame.
    void remember(Trace& trace, const char* name, const Tensor& rows) const;
    /// Acts on the decisions, keeps them for the next frame, and counts.
    DecisionCounts finish(Trace& trace, const AgentSpec& schema, const Tensor& decision) const;
    /// As above for decisions that no learner stores: keeps the actions alone.
    DecisionCounts act(Trace& trace, const AgentSpec& schema, const Acted& acted) const;

    int64_t agents = 0;
};

/// Transitions that wait to be added to the replay buffer, in the non-persistent states
/// waiting.NAME.  The entry frame appends them, and the entry add_samples takes them in the order
/// of decisions.  So a minibatch finds the replay buffer, its priorities and the statistics as they
/// are after a known number of samples, whenever it is recorded.
class WaitingTransitions {
  public:
    WaitingTransitions(Trace& trace, const AgentSpec& schema, const ReplayOptions& replay,
                       bool has_next_mask);
    void append(const Transition& t);
    /// The transitions of the oldest decision.  Declares the input row, u32 [batch]: 0, 1, 2, ...
    Transition take_oldest();

  private:
    Tensor column(const std::string& name, int64_t width, DType dtype = DType::kF32) const;

    Trace* trace_;
    const AgentSpec* schema_;
    int64_t agents_;
    bool has_next_mask_;
    ReplayBuffer ring_;
};

/// A demonstration by a person: the inputs observation, mask and action (in the game's units) of an
/// entry.
struct Demonstration {
    Tensor observation, mask, action;
    Tensor is_sound;  ///< bool [rows]
    static Demonstration declare(Trace& trace, const AgentSpec& schema);
    /// Appends the sound ones to the columns observation, decision and mask, and counts.  Returns
    /// the positions of ReplayBuffer::push().
    Tensor store(StatusWriter& status, const AgentSpec& schema, ReplayBuffer& ring) const;
};

/// True where choices exist and numbers are finite.  decision: [rows, action width] -> bool [rows].
Tensor is_possible(const AgentSpec& schema, const Tensor& decision);

/// Number of floats that the fields of a frame are encoded to, sets excluded.
int64_t encoded_width(const AgentSpec& schema);

/// Counts and clamps rewards.  reward: [rows], already scaled -> [rows].
Tensor limited_rewards(StatusWriter& status, const Tensor& reward, const Tensor& is_sound,
                       double limit);
/// Counts elements of the newest frames that reach a limit, as a counter and by element in the
/// transient state agents.observation_limits (status.hpp).  is_sound: bool [rows]: those that count.
void count_observation_limits(StatusWriter& status, const AgentSpec& schema,
                              const Tensor& observation, const Tensor& is_sound,
                              const RunningMeanStd& normalizer, double clip);

/// The observation statistics that agents act by.
RunningMeanStd published_normalizer(Trace& trace, const AgentSpec& schema, bool is_used);

/// The learner's own current observation statistics, or none.
RunningMeanStd own_normalizer(Trace& trace, const AgentSpec& schema, bool is_used);

/// A loss, and the params that Adam updates to minimize it.
struct LearnGroup {
    Tensor loss;
    std::vector<Tensor> params;
    std::string optimizer;  ///< the name of its states
    ScalarOrTensor learning_rate = 1e-3;
    double epsilon = 1e-8;
    /// Gradients of the loss by the params; empty: computed by grad().
    std::vector<Tensor> gradients = {};
};

/// One optimizer step of all groups, subject to all safety limits.
struct LearnStep {
    std::vector<LearnGroup> groups;
    const SafetyLimits& rails;
    Tensor may_learn;      ///< bool [], or empty
    Tensor is_sound = {};  ///< bool [], or empty: true if what the loss does not show is finite
    std::function<void()> also =
        {};  ///< further updates that happen only with the step, after Adam's
};
/// Performs the step, and sets the diagnostics and counters that all learners have.
void guarded_step(StatusWriter& status, const LearnStep& step);

/// Declares a policy's decision as outputs of `act`.
void output_decision(Trace& trace, const AgentSpec& schema, const Tensor& decision,
                     const Tensor& log_prob = {});

/// Builder of an entry's trace.
struct EntryBody {
    const char* name;
    std::function<void(Trace&)> trace;
};
/// Traces these entries, of which the first one acts and "learn" or "step" learns, and the entries
/// of all learners, publish and adapt.  If `check` failed: a single trace that fails with it.
AgentGraphs trace_entries(const Status& check, uint64_t seed, const SafetyLimits& rails,
                          std::vector<EntryBody> entries);

}  // namespace hearth::agents
