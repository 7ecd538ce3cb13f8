// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rings of samples that grow while a game runs, and what learners from them share.

#pragma once

#include "model/agents/parts.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hearth::agents {

/// Where samples go and come from: SCOPE.cursor, SCOPE.size and SCOPE.serial.  Columns are "SCOPE.NAME" of
/// [capacity, ...].  All are transient states.
class ReplayRing {
  public:
    ReplayRing(Trace& trace, int64_t capacity, std::string scope = "replay");

    Tensor column(const std::string& name, int64_t width = 0, DType dtype = DType::kF32,
                  const Init& init = {}) const;

    /// Where the next samples go: i32 [rows], `capacity` (nowhere) for those that are not sound.
    /// Moves the cursor; call it once.
    Tensor push(const Tensor& is_sound);
    /// u32 [rows]: how many samples there were before each of those pushed.
    const Tensor& serials() const { return serials_; }
    /// Where samples with these serials (u32) are, or `capacity` if they are gone.
    Tensor place_of(const Tensor& serials) const;

    /// Random places of samples, i32 [count].
    Tensor draw(const Tensor& counter, uint64_t key, int64_t count) const;
    const Tensor& size() const { return size_; }  ///< i32 [], before what is pushed
    int64_t capacity() const { return capacity_; }

  private:
    Trace* trace_;
    std::string scope_;
    int64_t capacity_;
    Tensor cursor_, size_, serial_;
    Tensor serials_;
};

/// The first choices or numbers of a chain: for each agent the serials of its last `length` samples,
/// newest first, as the transient states replay.chain [agents, length] (u32) and replay.chain_length [agents].
class AgentChains {
  public:
    AgentChains(Trace& trace, int64_t agents, int64_t length);
    /// u32 [rows]: the sample `back` (0: the newest) before those of this recording, and whether there
    /// is one: bool [rows].
    struct Link {
        Tensor serial, exists;
    };
    Link link(const Tensor& id, int64_t back) const;
    /// Appends; goes_on: bool [rows]: otherwise the chain ends behind this sample.
    void append(const Tensor& id, const Tensor& serials, const Tensor& goes_on) const;

  private:
    int64_t length_;
    Tensor serials_, lengths_;
};

/// One decision of each row and what came of it, and whether it may be stored: finite, of an agent and of
/// choices that exist.
struct Transition {
    Tensor id, observation, mask, decision, reward, end, next_observation, next_mask;
    Tensor exists;   ///< bool [rows], or empty: all do.  What does not exist is not refused either
    Tensor is_real;  ///< bool [rows]: it exists, and is of an agent
    Tensor is_sound;

    struct Parts {
        bool outcome = true;    ///< reward, end and next_observation
        bool next_mask = true;  ///< where choices are masked
    };
    /// As inputs of an entry.
    static Transition declare(Trace& trace, const AgentSchema& schema, int64_t agents, Parts parts);
    /// Sets is_real and is_sound.
    void check(const AgentSchema& schema, int64_t agents);
    /// How many exist and are not sound: f32 [].
    Tensor refused() const;
    /// The mean return and length of episodes, of all that is played, be it stored or not.  What is not sound
    /// is a step without a reward; where nothing is real, an episode begins.
    void track_episodes(StatusWriter& status, int64_t agents) const;
};

/// Moves the averages of returns and lengths, and counts.  is_over: bool [n]; finished: how many of them, f32 [];
/// returns, lengths: [n], of those that are over.
void average_episodes(StatusWriter& status, const Tensor& is_over, const Tensor& finished,
                      const Tensor& returns, const Tensor& lengths);

/// Inputs of the entry `frame`: what acts now, and the transition that it ends.  What acted last is
/// remembered in transient states last.NAME [agents, ...]; last.exists tells of whom there is something,
/// so that a decision from before a brain was loaded is not taken for one that came after.
struct Frame {
    Tensor id, observation, mask, explore;
    Tensor is_first;  ///< bool [rows]: an episode begins here
    Transition transition;

    /// said: besides end, what tells the outcome of a decision: "reward" or "praise".
    static Frame declare(Trace& trace, const AgentSchema& schema, int64_t agents,
                         const char* said = "reward");
    /// What was remembered of the last decision under this name: [rows] or [rows, width].
    Tensor last(Trace& trace, const char* name, int64_t width) const;
    /// Remembers decisions, and what else a learner stores of them.
    void remember(Trace& trace, const AgentSchema& schema, const Tensor& decision) const;
    void remember(Trace& trace, const char* name, const Tensor& rows) const;

    int64_t agents = 0;
};

/// What a person did where an agent was: the inputs observation, mask and action (in the game's units) of
/// an entry.
struct Demonstration {
    Tensor observation, mask, action;
    Tensor is_sound;  ///< bool [rows]
    static Demonstration declare(Trace& trace, const AgentSchema& schema);
    /// Appends what is sound to columns observation, decision and mask, and counts.  Returns where:
    /// ReplayRing::push().
    Tensor store(StatusWriter& status, const AgentSchema& schema, ReplayRing& ring) const;
};

/// Choices that exist, numbers finite.  decision: [rows, action width] -> bool [rows].
Tensor is_possible(const AgentSchema& schema, const Tensor& decision);

/// Floats that networks see of the fields of a frame, without sets.
int64_t encoded_width(const AgentSchema& schema);

/// Counts and limits rewards.  reward: [rows], already scaled -> [rows].
Tensor limited_rewards(StatusWriter& status, const Tensor& reward, const Tensor& is_sound,
                       double limit);
/// Counts the numbers of the newest frames that networks see cut off.
void count_limited_observations(StatusWriter& status, const AgentSchema& schema,
                                const Tensor& observation, const Normalizer& normalizer,
                                double limit);

/// The statistics by which agents act.
Normalizer published_normalizer(Trace& trace, const AgentSchema& schema, bool is_used);

/// The statistics as this learner has them now, or nothing.
Normalizer own_normalizer(Trace& trace, const AgentSchema& schema, bool is_used);

/// A loss, and the params that Adam moves to make it smaller.
struct LearnGroup {
    Tensor loss;
    std::vector<Tensor> params;
    std::string optimizer;  ///< the name of its states
    Rate learning_rate = 1e-3;
    double epsilon = 1e-8;
    /// Of the loss, by the params; empty: are derived from it.
    std::vector<Tensor> gradients = {};
};

/// One step of all groups, behind all rails.
struct LearnStep {
    std::vector<LearnGroup> groups;
    const Rails& rails;
    Tensor may_learn;  ///< bool [], or empty
    std::function<void()> also =
        {};  ///< other updates that happen only with the step, after Adam's
};
/// Sets the diagnostics and counters that all learners have.
void guarded_step(StatusWriter& status, const LearnStep& step);

/// What a policy said, as outputs of `act`.
void output_decision(Trace& trace, const AgentSchema& schema, const Tensor& decision,
                     const Tensor& log_probability = {});

/// What an entry of this name does.
struct EntryBody {
    const char* name;
    std::function<void(Trace&)> trace;
};
/// These entries, of which the first one acts and "learn" or "step" learns, and what all learners have besides:
/// publish and adapt.  If `check` failed: a single trace that only says why.
Traces trace_entries(const Status& check, uint64_t seed, const Rails& rails,
                     std::vector<EntryBody> entries);

/// Range checks shared by learners: OK, or which setting is out of its range.
Status check_positive(const char* learner, const char* name, int64_t value);
Status check_replay(const char* learner, const Replay& replay);

}  // namespace hearth::agents
