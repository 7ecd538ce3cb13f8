// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning algorithms as graph code, traced into entries with fixed names
// (docs/design/0012-agents.md).
//
//     const AgentGraphs graphs =
//         build_agent_graphs(spec, mlp_network({64, 64}), Ppo{.n_agents = 16});
//     const auto compiled = compile(all_entries(graphs), {.caps = caps, .max_batch_size = 16});
//
// Entries with their inputs and outputs (batch: the acting agents; floats are f32; recurrent_state
// only if the network has one):
//
//     act      observation [batch, observation size]; mask [batch, mask size] if an action is
//              maskable; exploration []: above 0.5 samples, otherwise takes the mode; recurrent:
//              id u32 [batch], episode_start [batch]
//              -> action [batch, action size] in the game's units; decision, the same in policy
//              units; log_prob [batch]; version u32 []; recurrent: recurrent_state [batch, state
//              size]
//     store    inputs and outputs of act (id, observation, mask, decision, log_prob,
//              recurrent_state), and reward [batch], done_kind [batch] (0: continues,
//              1: terminated, 2: truncated), next_observation [batch, observation size]
//     compute_advantages  no inputs: computes advantages of a full rollout
//     learn    only tunable hyperparameters: one minibatch
//     publish  no inputs: copies learned weights to those that act reads
//
//     frame    store and act in one, for a driver that holds no buffers: decisions are kept on the
//              GPU.  id, observation and mask; reward and done_kind of the last decision;
//              episode_start [batch]: 1 if there was none; final_observation [batch, observation
//              size] and, for DQN with masks, final_mask [batch, mask size]: the episode's last
//              observation and its mask, used where done_kind is 2; exploration []
//              -> the state last.action [n_agents, action size], indexed by id
//
// Actions are finite and in range whatever the weights are (Counter::kActionsReplaced and, for each
// value, the state agents.actions_replaced, u32 [action size]).  If a mask leaves no option of a
// choice, option 0 is taken (Counter::kChoicesAllMasked).
//
// store, compute_advantages, learn and publish each keep their own status (status.hpp); frame also
// keeps the sum, agents.status and agents.recent.  All state is in the program.

#pragma once

#include <hearth/agents/distribution.hpp>
#include <hearth/agents/manifest.hpp>
#include <hearth/agents/schema.hpp>
#include <hearth/core/cpp20.hpp>
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

/// A hyperparameter: fixed at tracing, or *tunable*: an input [] of the entry `learn` with the name
/// of the member, for sliders or schedules.
class Hyperparameter {
  public:
    Hyperparameter(double value) : value_(value) {}
    /// value  the default that a driver passes
    static Hyperparameter tunable(double value) {
        Hyperparameter s(value);
        s.is_tunable_ = true;
        return s;
    }
    double value() const { return value_; }
    bool is_tunable() const { return is_tunable_; }

  private:
    double value_ = 0;
    bool is_tunable_ = false;
};

/// Output of a network's trunk.
struct PolicyOutput {
    Tensor features = {};         ///< [batch, any size]
    Tensor recurrent_state = {};  ///< the new state [batch, recurrent_state_size], or empty
};

/// The trunk of actor and critic networks, to which learners add the heads.  A function of (trace,
/// prefix, features [batch, n], memory: recurrent state [batch, recurrent_state_size] or empty)
/// that declares its parameters under the prefix.  It is called once per network or, if recurrent,
/// once per step of a rollout.
struct PolicyNetwork {
    std::function<PolicyOutput(Trace& trace, std::string_view prefix, const Tensor& features,
                               const Tensor& memory)>
        forward;
    int64_t recurrent_state_size = 0;
    /// Optional: evaluates whole sequences with the parameters of `forward`, which is otherwise
    /// called per step.
    /// features: [n, length, size], memory: [n, recurrent_state_size] at the first step, resets:
    /// bool [n, length], true where the recurrent state is zeroed before the step.  -> features
    /// [n, length, any size]
    std::function<Tensor(Trace& trace, std::string_view prefix, const Tensor& features,
                         const Tensor& memory, const Tensor& resets)>
        forward_sequence = {};
    /// Initialization of the heads that DQN and SAC add; those of PPO and behavior cloning are
    /// orthogonal.
    nn::WeightInit head_init = nn::WeightInit::kOrthogonal;
};

/// Linear layers of these sizes, each followed by `activation`.
/// init  of the layers, and head_init; kOrthogonal: gain sqrt 2 and zero biases, as usual for PPO;
///       kPyTorchDefault: as in most implementations of SAC and DQN
PolicyNetwork mlp_network(std::vector<int64_t> widths, Tensor (*activation)(const Tensor&) = tanh,
                          uint64_t seed = 0, nn::WeightInit init = nn::WeightInit::kOrthogonal);
/// A linear layer followed by a GRU, both of size `hidden_size`.
PolicyNetwork gru_network(int64_t hidden_size, uint64_t seed = 0);

/// Safety limits of learning, on by default; each violation is counted.  Non-finite samples,
/// gradients and weights are always rejected.
struct SafetyLimits {
    double clip_obs = 10;        ///< clamps normalized observations
    double clip_reward = 10;     ///< clamps rewards, after scaling
    double max_grad_norm = 0.5;  ///< clips the global gradient norm
    double target_kl = 0.03;     ///< PPO: stops the update of a rollout beyond this KL; 0: off
    /// Maximum relative distance of weights from their initial values for publication (rms over all
    /// parameters used by act), for brains trained before shipping; 0: off.
    double max_weight_drift = 0;
    /// Skips optimizer steps that change a weight matrix by more than this fraction (rms of the
    /// step over rms of the weights, the latter at least 0.05); 0: off.
    double max_update_ratio = 0.5;
};

/// Proximal policy optimization (Schulman et al., 2017) with the details of Huang et al., "The 37
/// Implementation Details of PPO", 2022: separate actor and critic, orthogonal initialization,
/// advantages normalized per minibatch, clipped ratio, entropy bonus, gradient norm clipping.
/// Defaults suit about sixteen creatures that share a brain and learn within minutes.
///
/// Entries: act, store, frame, compute_advantages, learn, publish and shrink_and_perturb.  A rollout
/// is n_steps recordings of store; then record compute_advantages, n_epochs * n_minibatches times
/// learn, and publish.  With demo_capacity there is also the entry add_demonstrations: observation,
/// mask and action [batch, action size] in the game's units, of agents that a person controls; the
/// policy's decisions for them were not executed and must not be stored.
struct Ppo {
    int64_t n_agents = 16;      ///< maximum number of agents
    int64_t n_steps = 64;       ///< decisions per agent in a rollout
    int64_t n_minibatches = 4;  ///< per rollout; divides n_steps * n_agents / bptt_length
    int64_t n_epochs = 4;
    int64_t bptt_length = 1;  ///< truncated BPTT length; more than 1 requires a recurrent network
    Hyperparameter learning_rate = 1e-3;
    Hyperparameter clip_range = 0.2;
    Hyperparameter ent_coef = 0.003;
    /// Coefficient of the KL divergence from the initial policy.
    Hyperparameter reference_kl_coef = 0;
    /// Capacity for demonstrations; 0: none, and no entry add_demonstrations.  Non-recurrent
    /// networks only.
    int64_t demo_capacity = 0;
    /// Coefficient of the negative mean log-probability of demonstrated actions, of which each
    /// minibatch holds as many as samples; 0 while there are none.
    Hyperparameter bc_coef = 0.1;
    /// Curiosity: coefficient of the intrinsic reward of random network distillation (Burda et al.,
    /// 2018), for games whose rewards are too sparse to be found by chance; 0: none.  It is the
    /// error of a network that learns the outputs of a fixed random one at the observations that
    /// follow decisions, divided by the running std of its discounted sums; at most
    /// limits.clip_reward.  It is added to the reward, unlike in the paper, whose critic has two
    /// heads.  Observations of entities are not looked at.
    Hyperparameter rnd_coef = 0;
    int64_t rnd_size = 64;  ///< width of both networks' layers and outputs
    double gamma = 0.99;    ///< a reward counts half after 69 decisions; more for later ones
    double gae_lambda = 0.95;
    double vf_coef = 0.25;     ///< coefficient of the squared error
    double clip_range_vf = 0;  ///< as ppo_value_loss; 0: off
    double adam_eps = 1e-5;
    double log_std_init = -0.5;  ///< initial log std of continuous actions
    double log_std_min = -2, log_std_max = 0.5;
    bool normalize_observations = true;
    bool normalize_rewards = true;  ///< divided by the std of discounted returns
    bool normalize_advantages = true;
    /// The critic also runs with each decision, so that a game can show what its agents expect
    /// (hearth_agents_get_value).
    bool report_values = false;
    double reward_scale = 1;
    SafetyLimits limits = {};
};

// --- Learners with a replay buffer: entries act, store, learn, publish, shrink_and_perturb ---
//
// store may be recorded at any time; learn does nothing while the buffer holds fewer than
// `learning_starts` samples.  There are no rollouts and no entry compute_advantages.

/// Replay buffer options of DQN and SAC.
struct ReplayOptions {
    int64_t n_agents = 16;  ///< maximum number of agents
    int64_t buffer_size = 50'000;
    int64_t batch_size = 128;
    int64_t learning_starts = 1'000;
    /// In the driver, gradient_steps minibatches follow every train_freq samples of all agents.
    /// Its budget of time delays them; while more than waiting_decisions decisions wait to be
    /// learned from, agents decide and their samples are not collected.
    int64_t train_freq = 1;
    int64_t gradient_steps = 1;
    int64_t waiting_decisions = 256;
    double reward_scale = 1;
    bool normalize_observations = false;
};

/// Deep Q-learning (Mnih et al., 2015) for discrete actions, with double Q-learning (van Hasselt,
/// 2016), dueling heads (Wang et al., 2016), n-step returns and prioritized replay (Schaul et al.,
/// 2016).  Several discrete actions have a branch each (Tavakoli et al., 2018).  The input
/// `exploration` of act is epsilon, the fraction of random actions.  With masks, store also takes
/// next_mask [batch, mask size].
struct Dqn {
    ReplayOptions replay{.train_freq = 4};
    Hyperparameter learning_rate = 2.5e-4;
    double gamma = 0.99;
    int64_t return_steps = 1;  ///< of n-step returns, 1 to 16
    bool double_q = true;
    bool dueling = true;
    double prioritized_alpha = 0;           ///< prioritization exponent alpha; 0: uniform sampling
    Hyperparameter prioritized_beta = 0.4;  ///< importance-sampling exponent beta
    int64_t target_update_interval = 500;  ///< gradient steps between updates of the target network
    double tau = 1;                        ///< Polyak coefficient tau of these updates; 1: copy
    double huber_delta = 1;                ///< Huber delta; 0: squared error
    SafetyLimits limits{.max_grad_norm = 10, .target_kl = 0};
};

/// Soft actor-critic (Haarnoja et al., 2018) for continuous actions, with automatic entropy
/// coefficient.  Reference implementations initialize with nn::WeightInit::kPyTorchDefault, which
/// is also more reliable here (docs/reference/gates.md).
struct Sac {
    ReplayOptions replay{
        .n_agents = 16, .buffer_size = 50'000, .batch_size = 128, .learning_starts = 100};
    Hyperparameter learning_rate = 1e-3;
    double gamma = 0.99;
    double tau = 0.005;
    double ent_coef_init = 1;
    /// Target entropy; NaN: minus the number of continuous values.
    double target_entropy = std::numeric_limits<double>::quiet_NaN();
    double log_std_min = -5, log_std_max = 2;
    SafetyLimits limits{.clip_reward = 100, .max_grad_norm = 10, .target_kl = 0};
};

/// Loss of behavior cloning.
enum class BcLoss : uint8_t {
    kNegativeLogLikelihood,  ///< negative log-likelihood of demonstrated actions
    kMse,  ///< squared error of continuous means, and cross-entropy of discrete actions
};

/// Behavior cloning from a buffer of demonstrations that grows during play, with corrections in
/// states that the policy reached (Ross et al., "DAgger", 2011; Kelly et al., "HG-DAgger", 2019).
/// store takes observation, mask and action [batch, action size] in the game's units.
struct BehaviorCloning {
    int64_t n_agents = 16;  ///< maximum number of agents that act by `frame`
    int64_t buffer_size = 20'000;
    int64_t batch_size = 128;
    int64_t learning_starts = 128;
    Hyperparameter learning_rate = 1e-3;
    BcLoss loss = BcLoss::kNegativeLogLikelihood;
    double log_std_init = -0.5, log_std_min = -3, log_std_max = 0.5;
    bool normalize_observations = false;
    /// Maximum weight of a single demonstrator's samples in a batch, as a fraction.  If less than
    /// 1, store also takes demonstrator [batch], an integer; 0 is the game itself, which is not
    /// limited.
    double max_demonstrator_fraction = 1;
    SafetyLimits limits{.target_kl = 0};
};

/// Learning from human feedback (Knox and Stone, "TAMER", 2009): a model predicts how a discrete
/// action would be judged, and act takes the best.  The input `exploration` of act is the fraction
/// of random actions.  store takes id, observation, mask and decision of each decision, and praise
/// [batch]: feedback since the last decision, -1 to 1, 0 for none.  It is credited with the weights
/// `credit_window` to that agent's previous decisions, newest first.
struct Tamer {
    int64_t n_agents = 16;
    int64_t buffer_size = 4'096;
    int64_t batch_size = 64;
    int64_t learning_starts = 4;  ///< minimum number of judged decisions
    std::vector<double> credit_window = {0.5, 1, 1, 0.5};
    Hyperparameter learning_rate = 3e-3;
    bool normalize_observations = false;
    SafetyLimits limits{.target_kl = 0};
};

using AgentGraphs = std::vector<std::unique_ptr<Trace>>;

/// The record of a learner, with which all functions below work (learner_def.hpp).
struct LearnerDef;
template <class Learner>
const LearnerDef& learner_def() = delete;  // for anything but a learner's struct
template <>
const LearnerDef& learner_def<Ppo>();
template <>
const LearnerDef& learner_def<Dqn>();
template <>
const LearnerDef& learner_def<Sac>();
template <>
const LearnerDef& learner_def<BehaviorCloning>();
template <>
const LearnerDef& learner_def<Tamer>();

namespace detail {
AgentGraphs build_agent_graphs(const LearnerDef& def, const AgentSpec& spec,
                               const PolicyNetwork& network, const void* learner, uint64_t seed);
AgentManifest make_manifest(const LearnerDef& def, const AgentSpec& spec, const void* learner);
}  // namespace detail

/// Traces the entries of a learner: Ppo, Dqn, Sac, BehaviorCloning or Tamer.
/// Errors: recorded in the graphs.
template <class Learner>
AgentGraphs build_agent_graphs(const AgentSpec& spec, const PolicyNetwork& network,
                               const Learner& learner, uint64_t seed = 0) {
    return detail::build_agent_graphs(learner_def<Learner>(), spec, network, &learner, seed);
}

/// Description of these agents for the driver; ship its bytes with the program.
template <class Learner>
AgentManifest make_manifest(const AgentSpec& spec, const Learner& learner) {
    return detail::make_manifest(learner_def<Learner>(), spec, &learner);
}

/// Online regression from streaming samples.  Entries predict (input [batch, input_size] -> output
/// [batch, output_size]), store (input, target), learn, publish, shrink_and_perturb.
struct Regression {
    int64_t input_size = 1, output_size = 1;
    int64_t buffer_size = 20'000;
    int64_t batch_size = 128;
    int64_t learning_starts = 128;
    Hyperparameter learning_rate = 1e-3;
    double huber_delta = 0;     ///< Huber delta; 0: squared error
    double target_limit = 1e4;  ///< targets are clamped, and counted as kRewardsClamped
    SafetyLimits limits{.target_kl = 0};
};
AgentGraphs build_regression_graphs(const PolicyNetwork& network, const Regression& regression,
                                    uint64_t seed = 0);

// --- Shrink and perturb, for when the rules of the game change ---
//
// The entry shrink_and_perturb of every learner has the input strength [].  It resets the
// optimizer's moments and interpolates weights by that fraction towards new random ones, and biases
// and log stds towards their initial values (Ash and Adams, "On Warm-Starting Neural Network
// Training", 2020).  0: only the optimizer; 1: a new brain.  Published weights stay until the next
// publication.

/// For compile() and cook(): all entries, or only those that the driver (hearth_agents.h) records,
/// which excludes act, and store if frame does the storing.
std::vector<Trace*> all_entries(const AgentGraphs& graphs);
std::vector<Trace*> runtime_entries(const AgentGraphs& graphs, const AgentManifest& manifest);

}  // namespace hearth::agents
