// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How agents learn: graph code, traced into entries with fixed names (docs/design/0012-agents.md).
//
//     const auto traces = trace_agents(schema, mlp_network({64, 64}), Ppo{.agents = 16});
//     const auto compiled = compile(entries_of(traces), {.caps = caps, .rows_capacity = 16});
//
// Entries, and what they are given (rows: agents that act or acted; all floats are f32):
//
//     act      observation [rows, observation width]; mask [rows, mask width] if there is one; explore
//              []: 1 samples, 0 takes the likeliest; with memory also id u32 [rows] and is_first [rows]
//              -> action [rows, action width] in the game's units; decision, the same in policy units;
//              log_probability [rows]; version u32 []; with memory: memory [rows, memory width]
//     store    what act was given and said (id, observation, mask, decision, log_probability, memory), and
//              reward [rows], end [rows] (0: the episode goes on, 1: it is over, 2: it was cut off),
//              next_observation [rows, observation width]
//     prepare  nothing: a window is full
//     learn    nothing but live settings: one minibatch
//     publish  nothing: what act reads becomes what learn wrote
//
//     frame    store and act in one, for a driver that holds no buffers: what acted is remembered on the GPU.
//              id, observation and mask; reward and end of the last decision; begins [rows]: 1 where there
//              was none; final_observation [rows, observation width]: what was seen last, looked at where
//              end is 2; explore [] -> the state last.action [agents, action width], by id
//
// store, prepare, learn and publish each keep a status of their own (status.hpp); frame also their sum,
// agents.status.  All state is in the program.

#pragma once

#include <hearth/agents/distribution.hpp>
#include <hearth/agents/manifest.hpp>
#include <hearth/agents/schema.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// A number of a learner: fixed when it is traced, or *live*: an input [] of the entry `learn`, named
/// as the member, for a slider or a schedule.
class Setting {
  public:
    Setting(double value) : value_(value) {}
    /// value: what a driver gives it as long as nobody says otherwise.
    static Setting live(double value) {
        Setting s(value);
        s.is_live_ = true;
        return s;
    }
    double value() const { return value_; }
    bool is_live() const { return is_live_; }

  private:
    double value_ = 0;
    bool is_live_ = false;
};

/// What a network makes of its features, and what it remembers.
struct NetworkResult {
    Tensor features;  ///< [rows, any width]
    Tensor memory;    ///< [rows, memory width], or empty
};

/// The trunk of actors and critics; learners add the heads.  A function of (trace, prefix, features
/// [rows, n], memory [rows, memory_width] or empty), that declares its params under the prefix and is
/// called once for each net, with memory once for each step of a window.
struct Network {
    std::function<NetworkResult(Trace& trace, std::string_view prefix, const Tensor& features,
                                const Tensor& memory)>
        call;
    int64_t memory_width = 0;
    /// Optional: the same for whole windows, with the params of `call`; otherwise that is called step by step.
    /// features: [n, length, width], memory: [n, memory_width] of the first step, resets: bool [n, length],
    /// where memory is zero before that step.  -> features [n, length, any width].
    std::function<Tensor(Trace& trace, std::string_view prefix, const Tensor& features,
                         const Tensor& memory, const Tensor& resets)>
        sequence = {};
    /// How the heads begin that DQN and SAC add; PPO's and cloning's are orthogonal.
    nn::WeightInit heads = nn::WeightInit::kOrthogonal;
};

/// Linear layers of these widths, each followed by `activation`.  init: how they and `heads` begin; kOrthogonal: with a
/// gain of sqrt 2 and zero biases, as PPO wants it; kFanIn: as in most implementations of SAC and DQN.
Network mlp_network(std::vector<int64_t> widths, Tensor (*activation)(const Tensor&) = tanh,
                    uint64_t seed = 0, nn::WeightInit init = nn::WeightInit::kOrthogonal);
/// A linear layer and a GRU, each of this width.
Network gru_network(int64_t width, uint64_t seed = 0);

/// What keeps a learner from hurting the game.  On by default; each trip is counted.  Samples,
/// gradients and weights that are not finite are always refused.
struct Rails {
    double observation_limit = 10;  ///< of what networks see
    double reward_limit = 10;       ///< of rewards, after scaling
    double gradient_norm = 0.5;     ///< the common norm is clipped to it
    double kl_stop = 0.03;          ///< PPO: no more steps of this window beyond; 0: off
    /// Weights farther from the first contents than this part of their size (rms, of all that act together)
    /// are not published: for brains that were trained before they were shipped; 0: off.
    double drift_limit = 0;
    /// A step that changes a weight matrix by more than this part of its size (rms, of weights that are
    /// taken to be 0.05 at least) is not taken; 0: off.
    double update_ratio = 0.5;
};

/// Proximal policy optimization (Schulman et al., 2017) with the details of Huang et al., "The 37
/// Implementation Details of PPO", 2022: separate actor and critic, orthogonal first weights,
/// advantages normalized for each minibatch, clipped ratio, entropy bonus, gradient norm clipped.
/// Defaults are for some sixteen creatures that share a brain and learn in minutes.
struct Ppo {
    int64_t agents = 16;      ///< most at a time
    int64_t horizon = 64;     ///< decisions of each in a window
    int64_t minibatches = 4;  ///< of a window; divides horizon * agents / sequence
    int64_t epochs = 4;
    int64_t sequence = 1;  ///< steps of backpropagation through time; more than 1 with memory
    Setting learning_rate = 1e-3;
    Setting clip = 0.2;
    Setting entropy = 0.003;
    Setting leash = 0;  ///< weight of the divergence from the first contents of the actor
    /// Demonstrations that are remembered; 0: none, and no entry demonstrate.  Networks without memory.
    int64_t demonstrations = 0;
    /// Weight of minus the mean log-probability of demonstrated actions, as many in each minibatch as
    /// that has samples; 0 while there are none.
    Setting cloning = 0.1;
    double gamma = 0.97;
    double lambda = 0.95;
    double value_weight = 0.5;  ///< of half the squared error
    double value_clip = 0;      ///< as ppo_value_loss; 0: off
    double adam_epsilon = 1e-5;
    double first_log_deviation = -0.5;  ///< of numbers
    double least_log_deviation = -2, most_log_deviation = 0.5;
    bool normalize_observations = true;
    bool normalize_rewards = true;  ///< by the deviation of discounted returns
    bool normalize_advantages = true;
    double reward_scale = 1;
    Rails rails;
};

using Traces = std::vector<std::unique_ptr<Trace>>;

/// The entries act, store, frame, prepare, learn, publish and adapt.  A window is `horizon` recordings of
/// store; then prepare, epochs * minibatches times learn, and publish.  With demonstrations also the entry
/// demonstrate: observation, mask and action [rows, action width] in the game's units, of agents that a
/// person steers; what the policy decided for them meanwhile was not done, so it is not to be stored.
/// Errors, kept by the traces.
Traces trace_agents(const AgentSchema& schema, const Network& network, const Ppo& ppo,
                    uint64_t seed = 0);

// --- Learners from a ring of samples: entries act, store, learn, publish, adapt ---
//
// store may be recorded at any time; learn does nothing while the ring holds fewer than `warmup`
// samples.  There are no windows and no prepare.

/// What a ring of transitions has in common.
struct Replay {
    int64_t agents = 16;  ///< most at a time
    int64_t capacity = 50'000;
    int64_t batch = 128;
    int64_t warmup = 1'000;
    double reward_scale = 1;
    bool normalize_observations = false;
};

/// Deep Q-learning (Mnih et al., 2015) for choices, with double estimates (van Hasselt, 2016), dueling
/// heads (Wang et al., 2016), returns of several steps and prioritized samples (Schaul et al., 2016).
/// Several choices have a branch each (Tavakoli et al., 2018).  The input `explore` of act is the part of
/// random actions.  With masks, store also takes next_mask [rows, mask width].
struct Dqn {
    Replay replay;
    Setting learning_rate = 2.5e-4;
    double gamma = 0.99;
    int64_t steps = 1;  ///< of a return, 1 to 16
    bool is_double = true;
    bool is_dueling = true;
    double priority = 0;          ///< exponent alpha; 0: samples are drawn evenly
    Setting correction = 0.4;     ///< exponent beta of the weights against that
    int64_t target_period = 500;  ///< learn steps
    double target_rate = 1;       ///< how far the target moves then
    double huber = 1;             ///< where errors become linear; 0: squared throughout
    Rails rails{.gradient_norm = 10, .kl_stop = 0};
};

/// Soft actor-critic (Haarnoja et al., 2018) for numbers, with automatic temperature.  Its references begin with
/// nn::WeightInit::kFanIn, and do so more reliably (docs/gates.md).
struct Sac {
    Replay replay{.agents = 16, .capacity = 50'000, .batch = 128, .warmup = 100};
    Setting learning_rate = 1e-3;
    double gamma = 0.99;
    double target_rate = 0.005;
    double first_temperature = 1;
    /// What the temperature steers to; not a number: minus how many numbers there are.
    double target_entropy = std::numeric_limits<double>::quiet_NaN();
    double least_log_deviation = -5, most_log_deviation = 2;
    Rails rails{.reward_limit = 100, .gradient_norm = 10, .kl_stop = 0};
};

/// What cloning minimizes.
enum class CloneLoss : uint8_t {
    kLikelihood,  ///< minus the log-probability of what the person did
    kSquared,     ///< squared distance of numbers from the mean, and cross-entropy of choices
};

/// Behaviour cloning from a ring of demonstrations that grows while one plays: what a person does in
/// states that the policy came to is stored as well (Ross et al., "DAgger", 2011; Kelly et al.,
/// "HG-DAgger", 2019).  store takes observation, mask and action [rows, action width] in the game's units.
struct Clone {
    int64_t agents = 16;  ///< most that act by `frame`
    int64_t capacity = 20'000;
    int64_t batch = 128;
    int64_t warmup = 128;
    Setting learning_rate = 1e-3;
    CloneLoss loss = CloneLoss::kLikelihood;
    double first_log_deviation = -0.5, least_log_deviation = -3, most_log_deviation = 0.5;
    bool normalize_observations = false;
    /// The most that the demonstrations of one source may weigh in a batch, as a part of it; less than 1:
    /// store takes source [rows] besides, a whole number; 0 is the game itself, which has no limit.
    double source_share = 1;
    Rails rails{.kl_stop = 0};
};

/// Learning from a person's praise and scolding (Knox and Stone, "TAMER", 2009): a model of how a choice
/// would be judged; act takes what is judged best.  The input `explore` of act is the part of random
/// actions.  store takes id, observation, mask and decision of each decision, and praise [rows]: what
/// was said since the last one, -1 to 1, 0 for nothing; it is credited to the decisions of that agent that
/// are `credit` old (of decisions before this one, the newest first).
struct Praise {
    int64_t agents = 16;
    int64_t capacity = 4'096;
    int64_t batch = 64;
    int64_t warmup = 4;  ///< decisions judged
    std::vector<double> credit = {0.5, 1, 1, 0.5};
    Setting learning_rate = 3e-3;
    bool normalize_observations = false;
    Rails rails{.kl_stop = 0};
};

Traces trace_agents(const AgentSchema& schema, const Network& network, const Dqn& dqn,
                    uint64_t seed = 0);
Traces trace_agents(const AgentSchema& schema, const Network& network, const Sac& sac,
                    uint64_t seed = 0);
Traces trace_agents(const AgentSchema& schema, const Network& network, const Clone& clone,
                    uint64_t seed = 0);
Traces trace_agents(const AgentSchema& schema, const Network& network, const Praise& praise,
                    uint64_t seed = 0);

/// Online regression: anything that has an answer, learned while samples come.  Entries predict (input
/// [rows, input_width] -> output [rows, output_width]), store (input, target), learn, publish, adapt.
struct Regression {
    int64_t input_width = 1, output_width = 1;
    int64_t capacity = 20'000;
    int64_t batch = 128;
    int64_t warmup = 128;
    Setting learning_rate = 1e-3;
    double huber = 0;           ///< where errors become linear; 0: squared throughout
    double target_limit = 1e4;  ///< targets are cut off there, and counted with the rewards
    Rails rails{.kl_stop = 0};
};
Traces trace_regression(const Network& network, const Regression& regression, uint64_t seed = 0);

// --- adapt: when the rules of the game change ---
//
// The entry "adapt" of every learner has the input strength []: moments of the optimizer are cleared, and
// weights move that part of the way to fresh random ones, biases and deviations to their first
// contents (Ash and Adams, "On Warm-Starting Neural Network Training", 2020).  0: the optimizer alone, 1:
// a fresh brain.  Published weights stay until the next publication.

/// For compile() and cook(): all entries; or those that a driver records (hearth_agents.h), which leaves
/// act out, and store where frame stores.
std::vector<Trace*> entries_of(const Traces& traces);
std::vector<Trace*> driven_entries_of(const Traces& traces, const AgentManifest& manifest);

/// What a driver must know of these agents; ship its bytes with the program.
AgentManifest manifest_of(const AgentSchema& schema, const Ppo& ppo);
AgentManifest manifest_of(const AgentSchema& schema, const Dqn& dqn);
AgentManifest manifest_of(const AgentSchema& schema, const Sac& sac);
AgentManifest manifest_of(const AgentSchema& schema, const Clone& clone);
AgentManifest manifest_of(const AgentSchema& schema, const Praise& praise);

}  // namespace hearth::agents
