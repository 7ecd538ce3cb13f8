// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Proximal policy optimization (Schulman et al., 2017).  A rollout is [horizon, agents] samples,
// time first; each has a weight, zero where there was no agent or the sample was rejected.

#include "model/agents/learner_record.hpp"
#include "model/agents/replay.hpp"

#include <hearth/agents/simulation.hpp>
#include <hearth/grad.hpp>
#include <hearth/nn.hpp>

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace hearth::agents {

namespace {

constexpr auto kHyperparametersOwn = std::to_array<HyperparameterDef>({
    n_agents_def<&Ppo::n_agents>("N"),
    member<&Ppo::n_steps>({.name = "n_steps",
                           .description = "decisions per agent in a rollout",
                           .range = kSteps,
                           .symbol = "T",
                           .sb3 = "n_steps",
                           .ml_agents = "buffer_size / agents"}),
    member<&Ppo::n_minibatches>({.name = "n_minibatches",
                                 .description = "minibatches per rollout",
                                 .range = kSteps,
                                 .sb3 = "n_steps * n_envs / batch_size",
                                 .ml_agents = "buffer_size / batch_size"}),
    member<&Ppo::n_epochs>({.name = "n_epochs",
                            .description = "passes over a rollout",
                            .range = {1, 1000},
                            .symbol = "K",
                            .sb3 = "n_epochs",
                            .ml_agents = "num_epoch"}),
    member<&Ppo::bptt_length>({.name = "bptt_length",
                               .description = "truncated BPTT length",
                               .range = kSteps,
                               .ml_agents = "memory.sequence_length"}),
    learning_rate_def<&Ppo::learning_rate>(),
    member<&Ppo::clip_range>({.name = "clip_range",
                              .description = "clips the ratio of probabilities",
                              .range = kFraction,
                              .symbol = "epsilon",
                              .sb3 = "clip_range",
                              .ml_agents = "epsilon"}),
    member<&Ppo::ent_coef>({.name = "ent_coef",
                            .description = "coefficient of the entropy",
                            .range = kCoefficient,
                            .symbol = "c_2",
                            .sb3 = "ent_coef",
                            .ml_agents = "beta"}),
    member<&Ppo::reference_kl_coef>(
        {.name = "reference_kl_coef",
         .description = "coefficient of the KL divergence from the initial policy",
         .range = kCoefficient}),
    member<&Ppo::demo_capacity>({.name = "demo_capacity",
                                 .description = "capacity for demonstrations; 0: none",
                                 .range = {0, kAnyCount.high}}),
    member<&Ppo::bc_coef>({.name = "bc_coef",
                           .description = "coefficient of the loss of behavior cloning",
                           .range = kCoefficient,
                           .ml_agents = "behavioral_cloning.strength"}),
    member<&Ppo::rnd_coef>({.name = "rnd_coef",
                            .description = "coefficient of the reward of curiosity (RND); 0: off",
                            .range = kCoefficient,
                            .ml_agents = "reward_signals.rnd.strength"}),
    member<&Ppo::rnd_size>({.name = "rnd_size",
                            .description = "width of the layers of curiosity",
                            .range = {1, 4096},
                            .ml_agents = "reward_signals.rnd.network_settings.hidden_units"}),
    gamma_def<&Ppo::gamma>(),
    member<&Ppo::gae_lambda>({.name = "gae_lambda",
                              .description = "exponent of generalized advantage estimation",
                              .range = kFraction,
                              .symbol = "lambda",
                              .sb3 = "gae_lambda",
                              .ml_agents = "lambd"}),
    member<&Ppo::vf_coef>({.name = "vf_coef",
                           .description = "coefficient of the squared error of values",
                           .range = kCoefficient,
                           .symbol = "c_1",
                           .sb3 = "vf_coef"}),
    member<&Ppo::clip_range_vf>({.name = "clip_range_vf",
                                 .description = "clips the change of values; 0: off",
                                 .range = kLimit,
                                 .sb3 = "clip_range_vf"}),
    member<&Ppo::adam_eps>({.name = "adam_eps",
                            .description = "epsilon of Adam",
                            .range = {1e-12, 1},
                            .sb3 = "policy_kwargs.optimizer_kwargs.eps"}),
    log_std_init_def<&Ppo::log_std_init>(),
    log_std_min_def<&Ppo::log_std_min>(),
    log_std_max_def<&Ppo::log_std_max>(),
    normalize_observations_def<&Ppo::normalize_observations>(),
    member<&Ppo::normalize_rewards>({.name = "normalize_rewards",
                                     .description = "divides by the std of discounted returns",
                                     .sb3 = "VecNormalize.norm_reward"}),
    member<&Ppo::normalize_advantages>({.name = "normalize_advantages",
                                        .description = "per minibatch",
                                        .sb3 = "normalize_advantage"}),
    member<&Ppo::report_values>(
        {.name = "report_values",
         .description = "the critic runs with each decision, for hearth_agents_get_value"}),
    member<&Ppo::reward_scale>({.name = "reward_scale",
                                .description = "factor of rewards",
                                .range = kLimit,
                                .ml_agents = "reward_signals.extrinsic.strength"}),
});
static_assert(kHyperparametersOwn.size() + 1 == member_count<Ppo>(), "a member has no record");
constexpr auto kHyperparameters = concat_defs(kHyperparametersOwn, limit_defs<&Ppo::limits>());
constexpr std::string_view kEntries[] = {"act", "store", "frame", "compute_advantages", "learn"};

void zero(const Tensor& state) {
    Trace& trace = *state.trace();
    trace.assign(state, trace.constant(HostTensor(state.dtype(), state.shape())));
}

class PpoBuilder {
  public:
    PpoBuilder(const AgentSpec& schema, const PolicyNetwork& network, const Ppo& ppo, uint64_t seed)
        : schema_(schema), network_(network), ppo_(ppo), seed_(seed) {
        encoded_ = encoded_width(schema);
    }

    Status check() const;
    void act(Trace& trace) const;
    void store(Trace& trace) const;
    void frame(Trace& trace) const;
    void prepare(Trace& trace) const;
    /// prepare() for rollouts that the entry `rollout` has recorded.
    void prepare_played(Trace& trace) const;
    void learn(Trace& trace) const;
    void gradient(Trace& trace) const;
    /// gradient: the finished trace of that entry, which declares the params.
    void step(Trace& trace, const Trace& gradient) const;
    void demonstrate(Trace& trace) const;
    Status check_rollout(const VectorEnv& simulation, const RolloutOptions& options) const;
    void rollout(Trace& trace, const VectorEnv& simulation, const RolloutOptions& options) const;
    bool has_demonstrations() const { return ppo_.demo_capacity > 0; }

  private:
    /// Columns of a rollout.
    struct Columns {
        Tensor observation, mask, decision, log_prob, memory;
        Tensor reward, end, valid, next_observation;  ///< of scope "rollout" alone
        Tensor advantage, returns;                    ///< of scope "batch" alone
        Tensor novel;  ///< of scope "batch", with curiosity: what its networks see
    };
    Columns declare(Trace& trace, const std::string& scope) const;

    /// A decision, and the recurrent state that it was made with.
    struct Said {
        Tensor decision, log_prob, memory, value;
    };
    Said decide(Trace& trace, const Tensor& observation, const Tensor& mask, const Tensor& explore,
                const Tensor& id, const Tensor& is_first) const;
    /// Steps of all worlds, each [steps * worlds, ...], time first, and the states that keep them.
    struct Played {
        Columns columns;  ///< reward: as returned by the simulation; valid: not yet set
        Tensor discounted, episode_return, episode_length;
    };
    Played play(Trace& trace, const VectorEnv& simulation, const RolloutOptions& options,
                int64_t steps) const;
    Played declare_played(Trace& trace) const;
    /// The columns of a recorded rollout with soundness checked and rewards scaled.  Counts samples
    /// and clamped values.
    Columns reviewed(Trace& trace, StatusWriter& status) const;
    void prepare(Trace& trace, StatusWriter& status, const Columns& ring) const;
    /// Writes transitions into the rollout.
    StatusTensors keep(Trace& trace, Transition t, const Tensor& log_prob,
                       const Tensor& memory) const;

    struct Policy {
        ActionDistribution distribution;
        Tensor memory;
    };
    /// prefix: "actor", or that of a copy.
    Policy policy(Trace& trace, const std::string& prefix, const Tensor& observation,
                  const Tensor& mask, const Tensor& memory, const RunningMeanStd& normalizer) const;
    ActionDistribution distribution(Trace& trace, const std::string& prefix, const Tensor& features,
                                    const Tensor& mask) const;
    /// observation, memory -> values [rows] and the next recurrent state.
    PolicyOutput critic(Trace& trace, const Tensor& observation, const Tensor& memory,
                        const RunningMeanStd& normalizer) const;
    Tensor value_head(Trace& trace, const Tensor& features) const;
    EncodeOptions encode_options(const RunningMeanStd& normalizer) const;
    /// The observation statistics by which the agents acted that made the samples.
    RunningMeanStd published_normalizer(Trace& trace) const;

    struct Terms {
        Tensor loss, policy_loss, value_loss, entropy, kl, clip_fraction, reference_kl;
        Tensor surprise;  ///< loss of curiosity's network, which has gradients of its own
    };
    /// The scalar terms, in the order in which `gradient` outputs them.
    static std::vector<Tensor*> parts_of(Terms& terms);
    Terms loss_of(Trace& trace) const;
    /// Takes an optimizer step by these gradients or, if empty, those of the loss, within all
    /// limits.
    void take_step(Trace& trace, StatusWriter& status, const Terms& terms,
                   std::vector<Tensor> params, std::vector<Tensor> gradients) const;

    /// Progress of an update: the order of its sequences over all epochs, the position of the next
    /// minibatch, and whether the KL limit has stopped it.
    Tensor order(Trace& trace) const {
        return trace.non_persistent_state("learn.order", {ppo_.n_epochs * sequences()}, {},
                                          DType::kI32);
    }
    /// For each minibatch: its number of samples, and the mean and std of their advantages.
    Tensor minibatches(Trace& trace) const {
        return trace.non_persistent_state("learn.minibatches",
                                          {ppo_.n_epochs * ppo_.n_minibatches, 3});
    }
    /// Samples of these sequences, time first.  sequence: i32 [..., n] -> [length, ..., n], or
    /// unchanged if a sequence is one sample.
    Tensor samples_of(Trace& trace, const Tensor& sequence) const;
    Tensor first_sample_of(Trace& trace, const Tensor& sequence) const;
    static Tensor cursor(Trace& trace) {
        return trace.non_persistent_state("learn.cursor", {}, {}, DType::kI32);
    }
    static Tensor has_stopped(Trace& trace) {
        return trace.non_persistent_state("learn.has_stopped", {});
    }

    int64_t recurrent_state_size() const { return 2 * network_.recurrent_state_size; }
    int64_t samples() const { return ppo_.n_steps * ppo_.n_agents; }
    int64_t sequences() const { return samples() / ppo_.bptt_length; }
    bool has_mask() const { return schema_.mask_size() > 0; }
    bool has_curiosity() const { return ppo_.rnd_coef.is_tunable() || ppo_.rnd_coef.value() != 0; }
    /// Squared error of the network that learns the random one: [rows, n] -> [rows].
    Tensor surprise(Trace& trace, const Tensor& seen) const;
    /// The reward of curiosity for all samples.  Stores what its networks have seen.
    Tensor curiosity(Trace& trace, const Columns& ring, const Columns& batch,
                     const RunningMeanStd& normalizer) const;
    bool has_reference_kl() const {
        return ppo_.reference_kl_coef.is_tunable() || ppo_.reference_kl_coef.value() != 0;
    }

    const AgentSpec& schema_;
    const PolicyNetwork& network_;
    const Ppo& ppo_;
    uint64_t seed_;
    int64_t encoded_ = 0;
};

Status PpoBuilder::check() const {
    HEARTH_TRY(schema_.status());
    HEARTH_TRY(check_hyperparameters("PPO", kHyperparameters, &ppo_));
    if (ppo_.n_steps % ppo_.bptt_length != 0)
        return invalid_argument("PPO: sequences of " + std::to_string(ppo_.bptt_length) +
                                " do not divide n_steps, which is " + std::to_string(ppo_.n_steps));
    if (sequences() % ppo_.n_minibatches != 0)
        return invalid_argument("PPO: " + std::to_string(ppo_.n_minibatches) +
                                " minibatches do not divide the rollout's " +
                                std::to_string(sequences()) + " sequences");
    if (ppo_.bptt_length > 1 && network_.recurrent_state_size == 0)
        return invalid_argument("PPO: sequences of " + std::to_string(ppo_.bptt_length) +
                                " for a network without recurrent state; expected 1");
    if (has_demonstrations() && network_.recurrent_state_size > 0)
        return unsupported(
            "PPO: demonstrations need a network without recurrent state; set demo_capacity to 0");
    if (has_curiosity() && encoded_ == 0)
        return invalid_argument(
            "PPO: rnd_coef is not 0, and all observations are entities, which curiosity does not "
            "see; add other observations, or set rnd_coef to 0");
    if (!(ppo_.log_std_min < ppo_.log_std_max))
        return invalid_argument("PPO: the bounds of log_std are empty; expected min < max");
    return {};
}

PpoBuilder::Columns PpoBuilder::declare(Trace& trace, const std::string& scope) const {
    const bool is_ring = scope == "rollout";
    const auto rows = [&](const char* name, int64_t width) {
        return trace.non_persistent_state(scope + "." + name, {samples(), width});
    };
    const auto column = [&](const char* name) {
        return trace.non_persistent_state(scope + "." + name, {samples()});
    };
    Columns c;
    c.observation = rows("observation", schema_.observation_size());
    if (has_mask()) c.mask = rows("mask", schema_.mask_size());
    c.decision = rows("decision", schema_.action_size());
    if (recurrent_state_size() > 0) c.memory = rows("recurrent_state", recurrent_state_size());
    c.log_prob = column("log_prob");
    c.end = column("end");
    c.valid = column("valid");
    if (is_ring) {
        c.reward = column("reward");
        c.next_observation = rows("next_observation", schema_.observation_size());
    } else {
        c.advantage = column("advantage");
        c.returns = column("returns");
        if (has_curiosity()) c.novel = rows("novel", encoded_);
    }
    return c;
}

EncodeOptions PpoBuilder::encode_options(const RunningMeanStd& normalizer) const {
    EncodeOptions options;
    options.normalizer = normalizer;
    options.clip = ppo_.limits.clip_obs;
    return options;
}

RunningMeanStd PpoBuilder::published_normalizer(Trace& trace) const {
    return agents::published_normalizer(trace, schema_, ppo_.normalize_observations);
}

ActionDistribution PpoBuilder::distribution(Trace& trace, const std::string& prefix,
                                            const Tensor& features, const Tensor& mask) const {
    const Tensor head = dense(trace, prefix + ".head", features,
                              ActionDistribution::param_size(schema_), 0.01, seed_);
    Tensor log_std;
    if (const int64_t count = ActionDistribution::continuous_size(schema_); count > 0)
        log_std =
            clamp(trace.param(prefix + ".log_std", {count}, Init::constant(ppo_.log_std_init)),
                  ppo_.log_std_min, ppo_.log_std_max);
    return ActionDistribution(schema_, head, mask, log_std);
}

PpoBuilder::Policy PpoBuilder::policy(Trace& trace, const std::string& prefix,
                                      const Tensor& observation, const Tensor& mask,
                                      const Tensor& memory,
                                      const RunningMeanStd& normalizer) const {
    const Tensor features = encode(trace, prefix, schema_, observation, encode_options(normalizer));
    const PolicyOutput net = network_.forward(trace, prefix, features, memory);
    return {distribution(trace, prefix, net.features, mask), net.recurrent_state};
}

Tensor PpoBuilder::value_head(Trace& trace, const Tensor& features) const {
    return squeeze(dense(trace, "critic.head", features, 1, 1, seed_), {-1});
}

PolicyOutput PpoBuilder::critic(Trace& trace, const Tensor& observation, const Tensor& memory,
                                const RunningMeanStd& normalizer) const {
    const Tensor features =
        encode(trace, "critic", schema_, observation, encode_options(normalizer));
    const PolicyOutput net = network_.forward(trace, "critic", features, memory);
    return {value_head(trace, net.features), net.recurrent_state};
}

PpoBuilder::Said PpoBuilder::decide(Trace& trace, const Tensor& observation, const Tensor& mask,
                                    const Tensor& explore, const Tensor& id,
                                    const Tensor& is_first) const {
    const RunningMeanStd normalizer = published_normalizer(trace);
    Said said;
    Tensor actor_memory, memory;
    const int64_t half = network_.recurrent_state_size;
    if (half > 0) {
        memory =
            trace.non_persistent_state("recurrent_state", {ppo_.n_agents, recurrent_state_size()});
        said.memory = where(unsqueeze(is_first, {-1}), 0.0, take(memory, id));
        actor_memory = slice(said.memory, -1, 0, half);
    }
    const Policy p = policy(trace, "actor", observation, mask, actor_memory, normalizer);
    if (half > 0) {
        // The critic has its own recurrent state, so it sees what the actor sees, without a head.
        const Tensor seen =
            encode(trace, "critic", schema_, observation, encode_options(normalizer));
        const Tensor critic_memory =
            network_.forward(trace, "critic", seen, slice(said.memory, -1, half, 2 * half))
                .recurrent_state;
        index_copy_(memory, id, concat({p.memory, critic_memory}, -1));
    }
    if (ppo_.report_values)
        said.value =
            critic(trace, observation, half > 0 ? slice(said.memory, -1, half, 2 * half) : Tensor(),
                   normalizer)
                .features;
    const ActionSample sample =
        p.distribution.sample(random_counter(trace, "act.steps", seed_), rng_key("act"));
    const Tensor likeliest = p.distribution.mode();
    const Tensor explores = greater(explore, 0.5);
    said.decision = where(explores, sample.action, likeliest);
    said.log_prob = where(explores, sample.log_prob, p.distribution.log_prob(likeliest));
    return said;
}

void PpoBuilder::act(Trace& trace) const {
    const Tensor observation = trace.input("observation", {kBatch, schema_.observation_size()});
    const Tensor mask = has_mask() ? trace.input("mask", {kBatch, schema_.mask_size()}) : Tensor();
    const Tensor explore = trace.input("exploration", {});
    Tensor id, is_first;
    if (recurrent_state_size() > 0) {
        id = cast(trace.input("id", {kBatch}, DType::kU32), DType::kI32);
        is_first = greater(trace.input("episode_start", {kBatch}), 0.5);
    }
    const Said said = decide(trace, observation, mask, explore, id, is_first);
    output_decision(trace, schema_, said.decision, said.log_prob);
    if (said.memory.ok()) trace.output("recurrent_state", said.memory);
    const std::string read[] = {"actor", "critic"};
    read_copies(trace, kPublished, read);
}

void PpoBuilder::store(Trace& trace) const {
    const Transition t =
        Transition::declare(trace, schema_, ppo_.n_agents, {.outcome = true, .next_mask = false});
    const Tensor log_prob = trace.input("log_prob", {kBatch});
    const Tensor memory = recurrent_state_size() > 0
                              ? trace.input("recurrent_state", {kBatch, recurrent_state_size()})
                              : Tensor();
    (void)keep(trace, t, log_prob, memory);
}

void PpoBuilder::frame(Trace& trace) const {
    const Frame f = Frame::declare(trace, schema_, ppo_.n_agents, {});
    const StatusTensors stored =
        keep(trace, f.transition, f.last(trace, "log_prob", 0),
             recurrent_state_size() > 0 ? f.last(trace, "recurrent_state", recurrent_state_size())
                                        : Tensor());
    const Said said = decide(trace, f.observation, f.mask, f.explore, f.id, f.is_first);
    const DecisionCounts decided = f.finish(trace, schema_, said.decision);
    f.remember(trace, "log_prob", said.log_prob);
    f.remember(trace, "value", said.value);
    f.remember(trace, "recurrent_state", said.memory);
    if (has_demonstrations())
        gather_status(trace, stored, decided,
                      {"compute_advantages", "learn", "publish", "add_demonstrations"});
    else
        gather_status(trace, stored, decided);
    const std::string read[] = {"actor", "critic"};
    read_copies(trace, kPublished, read);
}

StatusTensors PpoBuilder::keep(Trace& trace, Transition t, const Tensor& log_prob,
                               const Tensor& memory) const {
    StatusWriter status(trace, "store");
    t.is_sound = logical_and(t.is_sound, rows_are_finite(unsqueeze(log_prob, {-1})));
    if (memory.ok()) t.is_sound = logical_and(t.is_sound, rows_are_finite(memory));
    const Tensor& is_sound = t.is_sound;
    const Tensor step = trace.non_persistent_state("rollout.step", {}, {}, DType::kI32);
    const Tensor has_room = less(step, static_cast<double>(ppo_.n_steps));
    const Tensor is_stored = logical_and(is_sound, has_room);

    // Rewards: scaled by the std of discounted returns, then clamped.
    Tensor scaled = where(is_sound, t.reward, 0.0) * ppo_.reward_scale;
    if (ppo_.normalize_rewards) {
        const Tensor discounted = trace.non_persistent_state("rewards.discounted", {ppo_.n_agents});
        const auto statistics = RunningStatistics::declare(trace, "rewards", 1);
        const Tensor now =
            clamp(take(discounted, t.id) * ppo_.gamma + scaled, -kFarthest, kFarthest);
        statistics.merge(unsqueeze(now, {-1}), number(is_stored));
        index_copy_(discounted, t.id, where(greater(t.end, 0.5), 0.0, now));
        scaled = scaled * rsqrt(reshape(statistics.variance, {}) + 1e-8);
    }
    const Tensor reward = limited_rewards(status, scaled, is_sound, ppo_.limits.clip_reward);

    const Columns ring = declare(trace, "rollout");
    const Tensor place = where(is_stored, step * static_cast<double>(ppo_.n_agents) + t.id,
                               trace.constant(static_cast<double>(samples()), DType::kI32));
    index_copy_(ring.observation, place, t.observation);
    if (has_mask()) index_copy_(ring.mask, place, t.mask);
    index_copy_(ring.decision, place, t.decision);
    if (memory.ok()) index_copy_(ring.memory, place, memory);
    index_copy_(ring.log_prob, place, log_prob);
    index_copy_(ring.reward, place, reward);
    index_copy_(ring.end, place, t.end);
    index_copy_(ring.next_observation, place, t.next_observation);
    index_copy_(ring.valid, place, number(is_stored));
    // A frame in which all agents only begin an episode takes no step of the rollout.
    trace.assign(step, step + (t.exists.ok() ? cast(any(t.exists), DType::kI32)
                                             : trace.constant(1, DType::kI32)));

    status.add(Counter::kSamples, sum(number(is_stored)));
    status.add(Counter::kSamplesRejected, t.refused());
    status.add(Counter::kSamplesDropped, sum(number(logical_and(is_sound, logical_not(has_room)))));
    count_observation_limits(status, schema_, t.observation, is_sound, published_normalizer(trace),
                             ppo_.limits.clip_obs);
    t.track_episodes(status, ppo_.n_agents);
    return status.finish();
}

Tensor PpoBuilder::surprise(Trace& trace, const Tensor& seen) const {
    trace.target_copy("rnd.target", "rnd.random");  // never trained
    const auto layers = [&](const std::string& name, int count) {
        Tensor x = seen;
        for (int i = 0; i < count; ++i) {
            if (i > 0) x = relu(x);
            x = dense(trace, nn::join_name(name, static_cast<size_t>(i)), x, ppo_.rnd_size,
                      std::numbers::sqrt2, seed_);
        }
        return x;
    };
    return mean(square(layers("rnd.predictor", 3) - layers("rnd.target", 2)), {-1});
}

Tensor PpoBuilder::curiosity(Trace& trace, const Columns& ring, const Columns& batch,
                             const RunningMeanStd& normalizer) const {
    constexpr double kFarthestSeen = 5;  // Burda et al., 2018, section 2.4
    const Tensor newest = slice(ring.next_observation, -1, 0, schema_.frame_size());
    const Tensor seen = normalize_frame(schema_, newest, normalizer, kFarthestSeen);
    trace.assign(batch.novel, seen);
    const Tensor error = where(greater(ring.valid, 0.5), surprise(trace, seen), 0.0);

    // Divided by the std of discounted sums, which the ends of episodes do not interrupt.
    const Tensor before = trace.non_persistent_state("rnd.discounted", {ppo_.n_agents});
    const Tensor decayed = pad(unsqueeze(before * ppo_.gamma, {0}), {0, 0}, {ppo_.n_steps - 1, 0});
    const Tensor by_step = reshape(error, {ppo_.n_steps, ppo_.n_agents}) + decayed;
    const Tensor sums = linear_recurrence(by_step, by_step * 0.0 + ppo_.gamma, 0);
    trace.assign(before,
                 clamp(squeeze(slice(sums, 0, ppo_.n_steps - 1, ppo_.n_steps), {0}), 0, kFarthest));
    const auto statistics = RunningStatistics::declare(trace, "rnd.returns", 1);
    statistics.merge(reshape(sums, {samples(), 1}), ring.valid);
    const Tensor scaled = error * rsqrt(reshape(statistics.variance, {}) + 1e-8);
    return clamp(scaled, 0, ppo_.limits.clip_reward) *
           hyperparameter(trace, "rnd_coef", ppo_.rnd_coef);
}

void PpoBuilder::prepare(Trace& trace) const {
    StatusWriter status(trace, "compute_advantages");
    const Columns ring = declare(trace, "rollout");
    prepare(trace, status, ring);
    zero(ring.valid);
    (void)status.finish();
}

void PpoBuilder::prepare_played(Trace& trace) const {
    StatusWriter status(trace, "compute_advantages");
    const Columns sound = reviewed(trace, status);
    if (!trace.status().ok()) return;
    prepare(trace, status, sound);
    gather_status(trace, status.finish(), {}, {"learn", "publish"});
}

void PpoBuilder::prepare(Trace& trace, StatusWriter& status, const Columns& ring) const {
    const Columns batch = declare(trace, "batch");
    const RunningMeanStd normalizer = published_normalizer(trace);
    const Shape window{ppo_.n_steps, ppo_.n_agents};

    Tensor value, next_value;
    if (recurrent_state_size() > 0) {
        const int64_t half = network_.recurrent_state_size;
        const PolicyOutput now =
            critic(trace, ring.observation, slice(ring.memory, -1, half, 2 * half), normalizer);
        value = now.features;
        next_value = critic(trace, ring.next_observation, now.recurrent_state, normalizer).features;
    } else {
        // Both observations in one batch, so that the weights are read once.
        const PolicyOutput both =
            critic(trace, concat({ring.observation, ring.next_observation}, 0), {}, normalizer);
        value = slice(both.features, 0, 0, samples());
        next_value = slice(both.features, 0, samples(), 2 * samples());
    }
    const Tensor is_over = logical_and(greater(ring.end, 0.5), less(ring.end, 1.5));
    // Positions without a sample may hold anything.
    const Tensor is_valid = greater(ring.valid, 0.5);
    const Tensor reward =
        has_curiosity() ? ring.reward + curiosity(trace, ring, batch, normalizer) : ring.reward;
    const Tensor delta =
        where(is_valid, reward + where(is_over, 0.0, next_value) * ppo_.gamma - value, 0.0);
    // An advantage propagates from the next decision of the same agent's episode.
    const Tensor goes_on = number(logical_and(is_valid, less(ring.end, 0.5)));
    const Tensor next_valid =
        pad(slice(reshape(ring.valid, window), 0, 1, ppo_.n_steps), {0, 0}, {1, 0});
    const Tensor decay = reshape(goes_on, window) * next_valid * (ppo_.gamma * ppo_.gae_lambda);
    const Tensor advantage =
        reshape(linear_recurrence(reshape(delta, window), decay, 0, true), {samples()});
    const Tensor returns = advantage + value;

    trace.assign(batch.observation, ring.observation);
    if (has_mask()) trace.assign(batch.mask, ring.mask);
    trace.assign(batch.decision, ring.decision);
    if (recurrent_state_size() > 0) trace.assign(batch.memory, ring.memory);
    trace.assign(batch.log_prob, ring.log_prob);
    trace.assign(batch.end, ring.end);
    trace.assign(batch.valid, ring.valid);
    trace.assign(batch.advantage, advantage);
    trace.assign(batch.returns, where(is_valid, returns, 0.0));

    // The order of sequences over all epochs.  If one minibatch is the whole rollout, there is
    // nothing to draw, and all minibatches are equal.
    const bool is_whole = ppo_.n_minibatches == 1;
    const int64_t items = ppo_.n_epochs * ppo_.n_minibatches;
    Tensor of_items;
    if (is_whole) {
        const Tensor count = trace.constant(static_cast<double>(sequences()), DType::kI32);
        trace.assign(order(trace), mod(arange(trace, {ppo_.n_epochs * sequences()}), count));
    } else {
        const Tensor counter = random_counter(trace, "compute_advantages.steps", seed_);
        std::vector<Tensor> orders;
        for (int64_t e = 0; e < ppo_.n_epochs; ++e)
            orders.push_back(cast(
                random_permutation(counter, rng_key("order." + std::to_string(e)), sequences()),
                DType::kI32));
        const Tensor all_orders = orders.size() == 1 ? orders[0] : concat(orders, 0);
        trace.assign(order(trace), all_orders);
        of_items =
            samples_of(trace, reshape(all_orders, {items, sequences() / ppo_.n_minibatches}));
    }

    // Reductions over each minibatch, precomputed so that learn treats each sample on its own.
    const std::vector<int64_t> axes =
        !is_whole && ppo_.bptt_length > 1 ? std::vector<int64_t>{0, 2} : std::vector<int64_t>{1};
    const auto total = [&](const Tensor& x) { return sum(x, axes, true); };
    const auto of_each = [&](const Tensor& x) {
        return is_whole ? reshape(x, {1, samples()}) : take(x, of_items);
    };
    const Tensor item_weight = of_each(ring.valid);
    const Tensor item_advantage = where(greater(item_weight, 0.5), of_each(advantage), 0.0);
    const Tensor size = total(item_weight);
    const Tensor average = total(item_advantage) / maximum(size, 1.0);
    const Tensor apart = where(greater(item_weight, 0.5), item_advantage - average, 0.0);
    // n - 1, as in PyTorch's std().
    const Tensor deviation = sqrt(total(square(apart)) / maximum(size - 1.0, 1.0));
    const auto column = [&](const Tensor& x) {
        const Tensor own = reshape(x, {is_whole ? 1 : items, 1});
        return is_whole ? own + trace.constant(HostTensor(DType::kF32, {items, 1})) : own;
    };
    trace.assign(minibatches(trace),
                 concat({column(maximum(size, 1.0)), column(average), column(deviation)}, 1));

    if (ppo_.normalize_observations && encoded_ > 0) {
        // New observations take effect with the next publication: until then all see the same
        // statistics.
        const Tensor newest = slice(ring.observation, -1, 0, schema_.frame_size());
        RunningStatistics::declare(trace, "observations", encoded_)
            .merge(encode_frame(schema_, newest), ring.valid);
    }
    zero(trace.non_persistent_state("rollout.step", {}, {}, DType::kI32));
    zero(cursor(trace));
    zero(has_stopped(trace));

    const auto variance = [&](const Tensor& x) {
        return weighted_mean(square(x - weighted_mean(x, ring.valid)), ring.valid);
    };
    status.set(AgentMetric::kExplainedVariance,
               1.0 - variance(where(is_valid, advantage, 0.0)) /
                         (variance(where(is_valid, returns, 0.0)) + 1e-8));
}

// Sequence q belongs to agent q % agents and begins at decision q / agents * length.
Tensor PpoBuilder::first_sample_of(Trace& trace, const Tensor& sequence) const {
    const auto agents = static_cast<double>(ppo_.n_agents);
    const Tensor all = trace.constant(agents, DType::kI32);
    return div(sequence, all) * (agents * static_cast<double>(ppo_.bptt_length)) +
           mod(sequence, all);
}

Tensor PpoBuilder::samples_of(Trace& trace, const Tensor& sequence) const {
    const int64_t length = ppo_.bptt_length;
    if (length == 1 || !sequence.ok()) return sequence;
    const auto agents = static_cast<double>(ppo_.n_agents);
    Shape steps{length};
    for (int i = 0; i < sequence.rank(); ++i) steps.push_back(Dim(1));
    return unsqueeze(first_sample_of(trace, sequence), {0}) +
           reshape(arange(trace, {length}), steps) * agents;
}

PpoBuilder::Terms PpoBuilder::loss_of(Trace& trace) const {
    const Columns batch = declare(trace, "batch");
    const RunningMeanStd normalizer = published_normalizer(trace);
    const int64_t count = sequences() / ppo_.n_minibatches, length = ppo_.bptt_length;

    // The samples of each sequence are contiguous, so that a sequence is a window of rows.  A
    // minibatch that is the whole rollout uses the natural order, which saves two dependent loads.
    const bool is_whole = ppo_.n_minibatches == 1;
    const auto sequences_at = [&](const Tensor& place) {
        if (is_whole) return place;
        return take(order(trace), cursor(trace) * static_cast<double>(count) + place);
    };
    const auto agents = static_cast<double>(ppo_.n_agents);
    Tensor rows, step;
    if (length == 1) {
        rows = sequences_at(arange(trace, {count}));
    } else {
        const Tensor place = arange(trace, {count * length});
        const Tensor of_one = trace.constant(static_cast<double>(length), DType::kI32);
        step = mod(place, of_one);
        rows = first_sample_of(trace, sequences_at(div(place, of_one))) + step * agents;
    }
    const auto picked = [&](const Tensor& column) {
        return column.ok() ? take(column, rows) : Tensor();
    };
    const Tensor observation = picked(batch.observation), mask = picked(batch.mask);
    const Tensor weight = picked(batch.valid), advantage = picked(batch.advantage);
    const Tensor returns = picked(batch.returns);

    const auto features_of = [&](const std::string& prefix, int64_t memory_begin) {
        const Tensor seen = encode(trace, prefix, schema_, observation, encode_options(normalizer));
        if (network_.recurrent_state_size == 0)
            return network_.forward(trace, prefix, seen, {}).features;
        const auto part = [&](const Tensor& memory) {
            return slice(memory, -1, memory_begin, memory_begin + network_.recurrent_state_size);
        };
        if (length == 1)
            return network_.forward(trace, prefix, seen, part(picked(batch.memory))).features;
        Tensor memory =
            part(take(batch.memory, first_sample_of(trace, sequences_at(arange(trace, {count})))));
        // Resets the recurrent state if the step before ended an episode or has no sample.
        const Tensor before = maximum(rows - agents, 0.0);
        const Tensor is_broken =
            logical_or(greater(take(batch.end, before), 0.5), less(take(batch.valid, before), 0.5));
        const Tensor resets = reshape(logical_and(greater(step, 0.0), is_broken), {count, length});
        const Tensor by_step = reshape(seen, {count, length, seen.dim(-1).count});
        Tensor features;
        if (network_.forward_sequence) {
            features = network_.forward_sequence(trace, prefix, by_step, memory, resets);
        } else {
            std::vector<Tensor> steps;
            const auto at = [](const Tensor& x, int64_t t) {
                return squeeze(slice(x, 1, t, t + 1), {1});
            };
            for (int64_t t = 0; t < length; ++t) {
                if (t > 0) memory = where(unsqueeze(at(resets, t), {-1}), 0.0, memory);
                const PolicyOutput net = network_.forward(trace, prefix, at(by_step, t), memory);
                memory = net.recurrent_state;
                steps.push_back(net.features);
            }
            features = stack(steps, 1);
        }
        if (!features.ok()) return features;
        return reshape(features, {count * length, features.dim(-1)});
    };

    Terms terms;
    const ActionDistribution p = distribution(trace, "actor", features_of("actor", 0), mask);
    const Tensor value = value_head(trace, features_of("critic", network_.recurrent_state_size));

    // Broadcasts the three scalars to all samples, so that a fused network reads them like samples.
    const Tensor item = is_whole ? slice(minibatches(trace), 0, 0, 1)
                                 : take(minibatches(trace), rows * 0.0 + cursor(trace));
    const auto item_column = [&](int64_t i) { return squeeze(slice(item, 1, i, i + 1), {1}); };
    const Tensor share = weight / item_column(0);
    const auto mean_of = [&](const Tensor& x) { return sum(x * share); };
    // The advantage of a single sample, relative to itself, would be zero.
    const Tensor scaled =
        ppo_.normalize_advantages
            ? where(greater(item_column(0), 1.5),
                    (advantage - item_column(1)) / (item_column(2) + 1e-8), advantage)
            : advantage;
    const Tensor log_ratio = where(
        greater(weight, 0.5), p.log_prob(picked(batch.decision)) - picked(batch.log_prob), 0.0);
    const Tensor ratio = exp(log_ratio);
    const Tensor clip = hyperparameter(trace, "clip_range", ppo_.clip_range);
    const Tensor limited = minimum(maximum(ratio, 1.0 - clip), 1.0 + clip);
    terms.policy_loss = mean_of(maximum(neg(scaled * ratio), neg(scaled * limited)));
    terms.entropy = mean_of(p.entropy());
    Tensor error = square(value - returns);
    if (ppo_.clip_range_vf > 0) {
        const Tensor old = returns - advantage;
        const Tensor near = old + clamp(value - old, -ppo_.clip_range_vf, ppo_.clip_range_vf);
        error = maximum(error, square(near - returns));
    }
    // The metric is half the squared error, so its coefficient is twice vf_coef.
    terms.value_loss = mean_of(where(greater(weight, 0.5), error, 0.0)) * 0.5;
    // Schulman, "Approximating KL Divergence", 2020: the estimator k3.
    terms.kl = mean_of(ratio - 1.0 - log_ratio);
    terms.clip_fraction = mean_of(number(greater(abs(ratio - 1.0), clip)));
    terms.loss = terms.policy_loss -
                 terms.entropy * hyperparameter(trace, "ent_coef", ppo_.ent_coef) +
                 terms.value_loss * (2 * ppo_.vf_coef);
    if (has_reference_kl()) {
        trace.target_copy("reference.actor", "actor");
        const ActionDistribution shipped =
            distribution(trace, "reference.actor", features_of("reference.actor", 0), mask);
        terms.reference_kl = mean_of(p.kl(shipped));
        terms.loss = terms.loss + terms.reference_kl * hyperparameter(trace, "reference_kl_coef",
                                                                      ppo_.reference_kl_coef);
    }
    if (has_curiosity())
        terms.surprise =
            mean_of(where(greater(weight, 0.5), surprise(trace, picked(batch.novel)), 0.0));
    if (has_demonstrations()) {
        // As many as the minibatch has samples, so that both run in one kernel.
        const ReplayBuffer ring(trace, ppo_.demo_capacity, "demonstration");
        const Tensor place = ring.draw(random_counter(trace, "learn.draws", seed_),
                                       rng_key("demonstration"), length * count);
        const auto shown = [&](const char* name, int64_t width) {
            return take(ring.column(name, width), place);
        };
        const Policy imitated =
            policy(trace, "actor", shown("observation", schema_.observation_size()),
                   has_mask() ? shown("mask", schema_.mask_size()) : Tensor(), {}, normalizer);
        const Tensor likelihood =
            mean(imitated.distribution.log_prob(shown("decision", schema_.action_size())));
        const Tensor is_any = number(greater(ring.size(), 0));
        terms.loss =
            terms.loss - likelihood * is_any * hyperparameter(trace, "bc_coef", ppo_.bc_coef);
    }
    return terms;
}

void PpoBuilder::demonstrate(Trace& trace) const {
    StatusWriter status(trace, "add_demonstrations");
    const Demonstration shown = Demonstration::declare(trace, schema_);
    ReplayBuffer ring(trace, ppo_.demo_capacity, "demonstration");
    (void)shown.store(status, schema_, ring);
    (void)status.finish();
}

Status PpoBuilder::check_rollout(const VectorEnv& simulation, const RolloutOptions& options) const {
    HEARTH_TRY(check());
    if (!simulation.reset || !simulation.observe || !simulation.step)
        return invalid_argument(
            "rollout: reset, observe and step of the simulation must all be given");
    if (simulation.n_agents < 1 || ppo_.n_agents % simulation.n_agents != 0)
        return invalid_argument("rollout: " + std::to_string(ppo_.n_agents) +
                                " agents are not a multiple of the agents per world, " +
                                std::to_string(simulation.n_agents));
    if (simulation.state_size < 1 || simulation.max_episode_steps < 0)
        return invalid_argument("rollout: a state of " + std::to_string(simulation.state_size) +
                                " floats and a limit of " +
                                std::to_string(simulation.max_episode_steps) +
                                " steps, expected 1 or more, and 0 or more");
    if (options.steps_per_recording < 0 ||
        (options.steps_per_recording > 0 && ppo_.n_steps % options.steps_per_recording != 0))
        return invalid_argument(
            "rollout: recordings of " + std::to_string(options.steps_per_recording) +
            " steps do not divide n_steps, which is " + std::to_string(ppo_.n_steps));
    if (has_mask()) return unsupported("rollout: masked discrete actions");
    if (recurrent_state_size() > 0) return unsupported("rollout: a network with recurrent state");
    return {};
}

PpoBuilder::Played PpoBuilder::play(Trace& trace, const VectorEnv& simulation,
                                    const RolloutOptions& options, int64_t steps) const {
    const int64_t in_each = simulation.n_agents, worlds = ppo_.n_agents / in_each;
    const Tensor runs = global_step(trace, "rollout.runs");
    const Tensor id = arange(trace, {worlds});
    const Tensor agent_id = in_each == 1 ? id : arange(trace, {ppo_.n_agents});
    const auto stored = [&](const char* name, int64_t count) {
        return trace.non_persistent_state(name, {count});
    };
    /// Broadcasts a value per world to its agents.
    const auto of_agents = [&](const Tensor& of_worlds) {
        if (in_each == 1) return of_worlds;
        return reshape(expand(unsqueeze(of_worlds, {-1}), {worlds, in_each}), {ppo_.n_agents});
    };
    const Tensor worlds_state =
        trace.non_persistent_state("worlds.state", {worlds, simulation.state_size});
    const Tensor worlds_begun = stored("worlds.begun", worlds);
    const Tensor worlds_age = stored("worlds.age", worlds);
    const Tensor worlds_return = stored("worlds.return", ppo_.n_agents);
    const Tensor worlds_discounted = stored("rewards.discounted", ppo_.n_agents);
    /// Random draws depend on the step alone, however a rollout is split into recordings.
    const Tensor begun =
        runs * static_cast<double>(steps) + seed_offset(trace, options.seed, "rollout.seed");
    const auto counter_of = [&](int64_t t) { return begun + static_cast<double>(t); };
    const auto begin = [&](const std::string& stream, const Tensor& counter) {
        return simulation.reset(counter, rng_key("worlds." + stream), worlds);
    };

    const Tensor is_begun = greater(take(worlds_begun, id), 0.5);
    Tensor state =
        where(unsqueeze(is_begun, {-1}), take(worlds_state, id), begin("first", counter_of(0)));
    Tensor age = take(worlds_age, id), sum = take(worlds_return, agent_id);
    Tensor discounted = take(worlds_discounted, agent_id);
    const RunningMeanStd normalizer = published_normalizer(trace);
    std::vector<Tensor> observations, decisions, log_probabilities, rewards, ends, next, varies,
        sums, ages;
    for (int64_t t = 0; t < steps; ++t) {
        const Tensor counter = counter_of(t);
        const Tensor seen = simulation.observe(state);
        const Policy p = policy(trace, "actor", seen, {}, {}, normalizer);
        const ActionSample said = p.distribution.sample(counter, rng_key("act"));
        const StepResult s = simulation.step(state, unscale_action(schema_, said.action), counter,
                                             rng_key("worlds.step"));
        if (!s.state.ok() || !s.reward.ok() || !s.terminated.ok()) {
            trace.fail(
                invalid_argument("rollout: the simulation's step returned no tensor; return the "
                                 "next state and reward"));
            return {};
        }
        age = age + 1.0;
        sum = clamp(sum + s.reward, -kFarthest, kFarthest);
        Tensor end = number(s.terminated);
        if (simulation.max_episode_steps > 0) {
            const Tensor is_late =
                greater(age, static_cast<double>(simulation.max_episode_steps) - 0.5);
            end = where(s.terminated, 1.0, number(is_late) * 2.0);
        }
        const Tensor has_ended = greater(end, 0.5);
        const Tensor end_of_agents = of_agents(end);
        const Tensor agents_ended = in_each == 1 ? has_ended : greater(end_of_agents, 0.5);
        if (ppo_.normalize_rewards)
            discounted = clamp(discounted * ppo_.gamma + s.reward * ppo_.reward_scale, -kFarthest,
                               kFarthest);
        observations.push_back(seen);
        decisions.push_back(said.action);
        log_probabilities.push_back(said.log_prob);
        rewards.push_back(s.reward);
        ends.push_back(end_of_agents);
        next.push_back(simulation.observe(s.state));
        varies.push_back(discounted);
        sums.push_back(where(agents_ended, sum, 0.0));
        ages.push_back(of_agents(where(has_ended, age, 0.0)));
        state = where(unsqueeze(has_ended, {-1}), begin("next", counter), s.state);
        age = where(has_ended, 0.0, age);
        sum = where(agents_ended, 0.0, sum);
        discounted = where(agents_ended, 0.0, discounted);
    }
    // Written as rows in place, like those of the rollout, so that they share a kernel.
    const auto keep = [](const Tensor& target, const Tensor& rows, const Tensor& value) {
        index_copy_(target, rows, value, /*are_distinct=*/true);
    };
    keep(worlds_state, id, state);
    keep(worlds_begun, id, age * 0.0 + 1.0);
    keep(worlds_age, id, age);
    keep(worlds_return, agent_id, sum);
    Played played;
    Columns& c = played.columns;
    c.observation = concat(observations, 0);
    c.decision = concat(decisions, 0);
    c.log_prob = concat(log_probabilities, 0);
    c.reward = concat(rewards, 0);
    c.end = concat(ends, 0);
    c.next_observation = concat(next, 0);
    if (ppo_.normalize_rewards) {
        keep(worlds_discounted, agent_id, discounted);
        played.discounted = concat(varies, 0);
    }
    played.episode_return = concat(sums, 0);
    played.episode_length = concat(ages, 0);
    return played;
}

PpoBuilder::Played PpoBuilder::declare_played(Trace& trace) const {
    Played p;
    p.columns = declare(trace, "rollout");
    if (ppo_.normalize_rewards)
        p.discounted = trace.non_persistent_state("rollout.discounted", {samples()});
    p.episode_return = trace.non_persistent_state("rollout.episode_return", {samples()});
    p.episode_length = trace.non_persistent_state("rollout.episode_length", {samples()});
    return p;
}

// Counts and scales, which need all samples of a rollout, are left to `prepare`: here they would
// cost a barrier per reduction in every recording, and would depend on the number of recordings.
void PpoBuilder::rollout(Trace& trace, const VectorEnv& simulation,
                         const RolloutOptions& options) const {
    const int64_t steps =
        options.steps_per_recording == 0 ? ppo_.n_steps : options.steps_per_recording;
    const int64_t count = steps * ppo_.n_agents;
    const Played now = play(trace, simulation, options, steps);
    if (!trace.status().ok()) return;
    const Played window = declare_played(trace);
    const Tensor step = trace.non_persistent_state("rollout.step", {}, {}, DType::kI32);
    const Tensor place = arange(trace, {count}) + step * static_cast<double>(ppo_.n_agents);
    const auto keep = [&](const Tensor& column, const Tensor& value) {
        if (steps == ppo_.n_steps)
            trace.assign(column, value);
        else
            index_copy_(column, place, value, /*are_distinct=*/true);
    };
    keep(window.columns.observation, now.columns.observation);
    keep(window.columns.decision, now.columns.decision);
    keep(window.columns.log_prob, now.columns.log_prob);
    keep(window.columns.reward, now.columns.reward);
    keep(window.columns.end, now.columns.end);
    keep(window.columns.next_observation, now.columns.next_observation);
    if (ppo_.normalize_rewards) keep(window.discounted, now.discounted);
    keep(window.episode_return, now.episode_return);
    keep(window.episode_length, now.episode_length);
    // A rollout that is recorded again before prepare starts over.
    trace.assign(step, mod(step + static_cast<double>(steps),
                           trace.constant(static_cast<double>(ppo_.n_steps), DType::kI32)));
    const std::string read[] = {"actor", "critic"};
    read_copies(trace, kPublished, read);
}

PpoBuilder::Columns PpoBuilder::reviewed(Trace& trace, StatusWriter& status) const {
    const Played played = declare_played(trace);
    Columns c = played.columns;
    Tensor is_sound =
        logical_and(rows_are_finite(c.observation), rows_are_finite(c.next_observation));
    is_sound = logical_and(is_sound, rows_are_finite(c.decision));
    is_sound = logical_and(is_sound, logical_and(is_finite(c.reward), is_finite(c.log_prob)));
    Tensor scaled = where(is_sound, c.reward, 0.0) * ppo_.reward_scale;
    if (ppo_.normalize_rewards) {
        // Scaled by the statistics from before this rollout.
        const auto statistics = RunningStatistics::declare(trace, "rewards", 1);
        statistics.merge(unsqueeze(played.discounted, {-1}), number(is_sound));
        scaled = scaled * rsqrt(reshape(statistics.variance, {}) + 1e-8);
    }
    c.reward = limited_rewards(status, scaled, is_sound, ppo_.limits.clip_reward);
    c.valid = number(is_sound);

    status.add(Counter::kSamples, sum(c.valid));
    status.add(Counter::kSamplesRejected, sum(number(logical_not(is_sound))));
    count_observation_limits(status, schema_, c.observation, is_sound, published_normalizer(trace),
                             ppo_.limits.clip_obs);
    const Tensor is_over = greater(c.end, 0.5);
    average_episodes(status, is_over, sum(number(is_over)), played.episode_return,
                     played.episode_length);
    return c;
}

void PpoBuilder::learn(Trace& trace) const {
    StatusWriter status(trace, "learn");
    const Terms terms = loss_of(trace);
    if (!trace.status().ok()) return;
    take_step(trace, status, terms, nn::parameters_with_prefix(trace, {"actor", "critic"}), {});
}

std::vector<Tensor*> PpoBuilder::parts_of(Terms& terms) {
    return {&terms.loss,    &terms.policy_loss, &terms.value_loss,
            &terms.entropy, &terms.kl,          &terms.clip_fraction};
}

void PpoBuilder::gradient(Trace& trace) const {
    if (has_curiosity())
        return trace.fail(
            unsupported("PPO: several ranks share no curiosity; set rnd_coef to 0, or train with "
                        "one"));
    Terms terms = loss_of(trace);
    if (!trace.status().ok()) return;
    std::vector<Tensor> sums;
    for (const Tensor& g : grad(terms.loss, nn::parameters_with_prefix(trace, {"actor", "critic"})))
        sums.push_back(reshape(g, {g.shape().element_count(1)}));
    for (const Tensor* part : parts_of(terms)) sums.push_back(reshape(*part, {1}));
    if (has_reference_kl()) sums.push_back(reshape(terms.reference_kl, {1}));
    trace.output("sums", concat(sums, 0));
}

void PpoBuilder::step(Trace& trace, const Trace& gradient) const {
    StatusWriter status(trace, "learn");
    std::vector<Tensor> params;
    int64_t count = 0;
    for (const Tensor& of : nn::parameters_with_prefix(gradient, {"actor", "critic"})) {
        params.push_back(redeclared_param(trace, of));
        count += of.shape().element_count(1);
    }
    Terms terms;
    std::vector<Tensor*> parts = parts_of(terms);
    if (has_reference_kl()) parts.push_back(&terms.reference_kl);
    const Tensor sums = trace.input("sums", {count + static_cast<int64_t>(parts.size())});
    int64_t at = 0;
    const auto next = [&](const Shape& shape) {
        const int64_t begin = at;
        at += shape.element_count(1);
        return reshape(slice(sums, 0, begin, at), shape);
    };
    std::vector<Tensor> gradients;
    for (const Tensor& param : params) gradients.push_back(next(param.shape()));
    for (Tensor* part : parts) *part = next({});
    take_step(trace, status, terms, std::move(params), std::move(gradients));
}

void PpoBuilder::take_step(Trace& trace, StatusWriter& status, const Terms& terms,
                           std::vector<Tensor> params, std::vector<Tensor> gradients) const {
    if (!trace.status().ok()) return;
    // The KL limit stops further steps on these samples once the policy has moved too far.
    Tensor may_learn;
    const Tensor is_sound = is_finite(terms.kl);
    if (ppo_.limits.target_kl > 0) {
        const Tensor stopped = has_stopped(trace);
        const Tensor is_beyond = logical_and(is_sound, greater(terms.kl, ppo_.limits.target_kl));
        const Tensor is_far = logical_or(is_beyond, greater(stopped, 0.5));
        may_learn = logical_not(is_far);
        status.add(Counter::kSkippedKl, is_far);
        trace.assign(stopped, number(is_far));
    }
    trace.assign(cursor(trace), cursor(trace) + 1.0);
    const ScalarOrTensor rate = rate_of(trace, "learning_rate", ppo_.learning_rate);
    std::vector<LearnGroup> groups = {{.loss = terms.loss,
                                       .params = std::move(params),
                                       .optimizer = "adam",
                                       .learning_rate = rate,
                                       .epsilon = ppo_.adam_eps,
                                       .gradients = std::move(gradients)}};
    if (terms.surprise.ok())
        groups.push_back({.loss = terms.surprise,
                          .params = nn::parameters_with_prefix(trace, {"rnd.predictor"}),
                          .optimizer = "rnd.adam",
                          .learning_rate = rate,
                          .epsilon = ppo_.adam_eps});
    guarded_step(status, {.groups = std::move(groups),
                          .rails = ppo_.limits,
                          .may_learn = may_learn,
                          .is_sound = is_sound});

    status.set(AgentMetric::kLoss, terms.loss);
    status.set(AgentMetric::kPolicyLoss, terms.policy_loss);
    status.set(AgentMetric::kValueLoss, terms.value_loss);
    status.set(AgentMetric::kEntropy, terms.entropy);
    status.set(AgentMetric::kKl, terms.kl);
    status.set(AgentMetric::kClipFraction, terms.clip_fraction);
    if (terms.reference_kl.ok()) status.set(AgentMetric::kReferenceKl, terms.reference_kl);
    (void)status.finish();
}

AgentGraphs build_ppo(const AgentSpec& schema, const PolicyNetwork& network, const Ppo& ppo,
                      uint64_t seed) {
    const PpoBuilder b(schema, network, ppo, seed);
    std::vector<EntryBody> entries = {{"act", [&](Trace& t) { b.act(t); }},
                                      {"store", [&](Trace& t) { b.store(t); }},
                                      {"frame", [&](Trace& t) { b.frame(t); }},
                                      {"compute_advantages", [&](Trace& t) { b.prepare(t); }},
                                      {"learn", [&](Trace& t) { b.learn(t); }}};
    if (ppo.demo_capacity > 0)
        entries.push_back({"add_demonstrations", [&](Trace& t) { b.demonstrate(t); }});
    return trace_entries(b.check(), seed, ppo.limits, std::move(entries));
}

}  // namespace

template <>
const LearnerDef& learner_def<Ppo>() {
    static const LearnerDef def = define_learner<Ppo, build_ppo>({
        .name = "ppo",
        .title = "PPO",
        .paper = "Schulman et al., \"Proximal Policy Optimization Algorithms\", 2017",
        .algorithm = Algorithm::kPpo,
        .hyperparameters = kHyperparameters,
        .entries = kEntries,
        .set_schedule =
            [](const void* learner, AgentManifest& manifest) {
                const Ppo& ppo = *static_cast<const Ppo*>(learner);
                manifest.updates_per_rollout =
                    static_cast<uint32_t>(ppo.n_epochs * ppo.n_minibatches);
            },
    });
    return def;
}

AgentGraphs build_agent_graphs(const AgentSpec& schema, const PolicyNetwork& network,
                               const Ppo& ppo, const VectorEnv& simulation,
                               const RolloutOptions& options, uint64_t seed) {
    const PpoBuilder b(schema, network, ppo, seed);
    std::vector<EntryBody> entries = {
        {"act", [&](Trace& t) { b.act(t); }},
        {"rollout", [&](Trace& t) { b.rollout(t, simulation, options); }},
        {"compute_advantages", [&](Trace& t) { b.prepare_played(t); }}};
    const Trace* gradient = nullptr;
    if (options.data_parallel) {
        entries.push_back({"gradient", [&](Trace& t) {
                               b.gradient(t);
                               gradient = &t;
                           }});
        entries.push_back({"step", [&](Trace& t) { b.step(t, *gradient); }});
    } else {
        entries.push_back({"learn", [&](Trace& t) { b.learn(t); }});
    }
    if (b.has_demonstrations())
        entries.push_back({"add_demonstrations", [&](Trace& t) { b.demonstrate(t); }});
    return trace_entries(b.check_rollout(simulation, options), seed, ppo.limits,
                         std::move(entries));
}

}  // namespace hearth::agents
