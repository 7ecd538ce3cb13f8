// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Soft actor-critic (Haarnoja et al., "Soft Actor-Critic Algorithms and Applications", 2018).

#include "model/agents/learner_record.hpp"
#include "model/agents/replay.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>

#include <cmath>
#include <string>

namespace hearth::agents {

namespace {

struct SacBuilder {
    const AgentSpec& schema;
    const PolicyNetwork& network;
    const Sac& sac;
    uint64_t seed;

    EncodeOptions encode_options(const RunningMeanStd& normalizer) const {
        EncodeOptions options;
        options.normalizer = normalizer;
        options.clip = sac.limits.clip_obs;
        return options;
    }

    ActionDistribution policy(Trace& trace, const Tensor& observation,
                              const RunningMeanStd& normalizer) const {
        const Tensor features =
            encode(trace, "actor", schema, observation, encode_options(normalizer));
        const PolicyOutput net = network.forward(trace, "actor", features, {});
        const int64_t count = ActionDistribution::continuous_size(schema);
        const Tensor head =
            dense(trace, "actor.head", net.features, 2 * count, 0.1, seed, network.head_init);
        const Tensor log_std =
            clamp(slice(head, -1, count, 2 * count), sac.log_std_min, sac.log_std_max);
        return ActionDistribution(schema, slice(head, -1, 0, count), {}, log_std,
                                  ContinuousDistribution::kSquashedGaussian);
    }

    /// prefix: "critic1", or that of its target copy. -> [rows]
    Tensor critic(Trace& trace, const std::string& prefix, const Tensor& observation,
                  const Tensor& action, const RunningMeanStd& normalizer) const {
        const Tensor features =
            encode(trace, prefix, schema, observation, encode_options(normalizer));
        const PolicyOutput net = network.forward(trace, prefix, concat({features, action}, -1), {});
        return squeeze(dense(trace, prefix + ".head", net.features, 1, 1, seed, network.head_init),
                       {-1});
    }

    Tensor decide(Trace& trace, const Tensor& observation, const Tensor& explore) const {
        const ActionDistribution p =
            policy(trace, observation,
                   published_normalizer(trace, schema, sac.replay.normalize_observations));
        return where(greater(explore, 0.5),
                     p.sample(random_counter(trace, "act.steps", seed), rng_key("act")).action,
                     p.mode());
    }

    void act(Trace& trace) const {
        const Tensor observation = trace.input("observation", {kBatch, schema.observation_size()});
        output_decision(trace, schema, decide(trace, observation, trace.input("exploration", {})));
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
    }

    void store(Trace& trace) const {
        (void)keep(trace, Transition::declare(trace, schema, sac.replay.n_agents, {}));
    }

    void frame(Trace& trace) const {
        const Frame f = Frame::declare(trace, schema, sac.replay.n_agents, {});
        WaitingTransitions(trace, schema, sac.replay, false).append(f.transition);
        gather_status(trace, {}, f.finish(trace, schema, decide(trace, f.observation, f.explore)));
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
    }

    void add_samples(Trace& trace) const {
        (void)keep(trace, WaitingTransitions(trace, schema, sac.replay, false).take_oldest());
    }

    StatusTensors keep(Trace& trace, const Transition& t) const {
        StatusWriter status(trace, "store");
        const ReplayOptions& replay = sac.replay;
        const Tensor reward = limited_rewards(status, t.reward * replay.reward_scale, t.is_sound,
                                              sac.limits.clip_reward);
        ReplayBuffer ring(trace, replay.buffer_size);
        const Tensor place = ring.push(t.is_sound);
        const int64_t width = schema.observation_size();
        index_copy_(ring.column("observation", width), place, t.observation);
        index_copy_(ring.column("decision", schema.action_size()), place, clamp(t.decision, -1, 1));
        index_copy_(ring.column("reward"), place, reward);
        index_copy_(ring.column("end"), place, t.end);
        index_copy_(ring.column("next_observation", width), place, t.next_observation);
        status.add(Counter::kSamples, sum(number(t.is_sound)));
        status.add(Counter::kSamplesRejected, t.refused());
        const RunningMeanStd normalizer =
            own_normalizer(trace, schema, replay.normalize_observations);
        count_observation_limits(status, schema, t.observation, t.is_sound, normalizer,
                                 sac.limits.clip_obs);
        if (normalizer.mean.ok())
            RunningStatistics::declare(trace, "observations", encoded_width(schema))
                .merge(encode_frame(schema, slice(t.observation, -1, 0, schema.frame_size())),
                       number(t.is_sound));
        t.track_episodes(status, replay.n_agents);
        return status.finish();
    }

    // Actor, critics and temperature learn at once, each from the old values of the others.
    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayBuffer ring(trace, sac.replay.buffer_size);
        const Tensor counter = random_counter(trace, "learn.draws", seed);
        const Tensor place = ring.draw(counter, rng_key("replay"), sac.replay.batch_size);
        const RunningMeanStd normalizer =
            own_normalizer(trace, schema, sac.replay.normalize_observations);
        const auto picked = [&](const char* name, int64_t width = 0) {
            return take(ring.column(name, width), place);
        };
        const Tensor observation = picked("observation", schema.observation_size());
        const Tensor next = picked("next_observation", schema.observation_size());
        const Tensor decision = picked("decision", schema.action_size());
        const Tensor end = picked("end");
        const Tensor log_temperature =
            trace.param("ent_coef.log", {}, Init::constant(std::log(sac.ent_coef_init)));
        const Tensor temperature = exp(stop_gradient(log_temperature));

        const ActionSample later =
            policy(trace, next, normalizer).sample(counter, rng_key("learn.next"));
        const ActionSample now =
            policy(trace, observation, normalizer).sample(counter, rng_key("learn.now"));
        trace.target_copy("target.critic1", "critic1");
        trace.target_copy("target.critic2", "critic2");
        const Tensor q1 = critic(trace, "critic1", observation, decision, normalizer);
        const Tensor q2 = critic(trace, "critic2", observation, decision, normalizer);
        const Tensor t1 = critic(trace, "target.critic1", next, later.action, normalizer);
        const Tensor t2 = critic(trace, "target.critic2", next, later.action, normalizer);

        const Tensor is_over = logical_and(greater(end, 0.5), less(end, 1.5));
        const Tensor next_value = minimum(t1, t2) - temperature * later.log_prob;
        const Tensor wanted =
            stop_gradient(picked("reward") + where(is_over, 0.0, next_value) * sac.gamma);
        const Tensor critic_loss = (mse_loss(q1, wanted) + mse_loss(q2, wanted)) * 0.5;
        const Tensor judged =
            minimum(critic(trace, "critic1", observation, now.action, normalizer),
                    critic(trace, "critic2", observation, now.action, normalizer));
        const Tensor actor_loss = mean(temperature * now.log_prob - judged);
        const double target =
            std::isnan(sac.target_entropy)
                ? -static_cast<double>(ActionDistribution::continuous_size(schema))
                : sac.target_entropy;
        const Tensor temperature_loss =
            neg(log_temperature * stop_gradient(mean(now.log_prob) + target));

        const ScalarOrTensor rate = rate_of(trace, "learning_rate", sac.learning_rate);
        const auto under = [&](std::initializer_list<std::string_view> paths) {
            return nn::parameters_with_prefix(trace, paths);
        };
        guarded_step(status,
                     {.groups = {{critic_loss, under({"critic1", "critic2"}), "adam.critic", rate},
                                 {actor_loss, under({"actor"}), "adam.actor", rate},
                                 {temperature_loss, under({"ent_coef"}), "adam.ent_coef", rate}},
                      .rails = sac.limits,
                      .may_learn = greater_equal(ring.size(),
                                                 static_cast<double>(sac.replay.learning_starts)),
                      .also = [&] {
                          polyak_update(trace, "target.critic1", "critic1", sac.tau);
                          polyak_update(trace, "target.critic2", "critic2", sac.tau);
                      }});
        status.set(AgentMetric::kLoss, critic_loss + actor_loss);
        status.set(AgentMetric::kPolicyLoss, actor_loss);
        status.set(AgentMetric::kValueLoss, critic_loss);
        status.set(AgentMetric::kEntropy, neg(mean(now.log_prob)));
        // Tied to the loss, so it is read before the temperature changes and needs no copy.
        status.set(AgentMetric::kEntCoef, where(is_finite(critic_loss), temperature, 0.0));
        (void)status.finish();
    }
};

constexpr auto kHyperparametersOwn = std::to_array<HyperparameterDef>({
    learning_rate_def<&Sac::learning_rate>("lambda"),
    gamma_def<&Sac::gamma>(),
    member<&Sac::tau>({.name = "tau",
                       .description = "Polyak coefficient of the target critics",
                       .range = kFraction,
                       .symbol = "tau",
                       .sb3 = "tau",
                       .ml_agents = "tau"}),
    member<&Sac::ent_coef_init>({.name = "ent_coef_init",
                                 .description = "initial entropy coefficient",
                                 .range = {1e-9, 1e9},
                                 .symbol = "alpha",
                                 .sb3 = "ent_coef",
                                 .ml_agents = "init_entcoef"}),
    member<&Sac::target_entropy>(
        {.name = "target_entropy",
         .description = "target entropy; automatic: minus the number of continuous values",
         .range = {-1e6, 1e6},
         .symbol = "H",
         .sb3 = "target_entropy",
         .nan_is_automatic = true}),
    log_std_min_def<&Sac::log_std_min>(),
    log_std_max_def<&Sac::log_std_max>(),
});
static_assert(kHyperparametersOwn.size() + 2 == member_count<Sac>(), "a member has no record");
constexpr auto kHyperparameters =
    concat_defs(replay_defs<&Sac::replay>(), kHyperparametersOwn, limit_defs<&Sac::limits>());
constexpr std::string_view kEntries[] = {"act", "store", "frame", "add_samples", "learn"};

AgentGraphs build_sac(const AgentSpec& schema, const PolicyNetwork& network, const Sac& sac,
                      uint64_t seed) {
    const auto check = [&]() -> Status {
        HEARTH_TRY(schema.status());
        for (const Action& a : schema.actions())
            if (a.is_discrete)
                return invalid_argument(
                    "SAC: action '" + a.name +
                    "' is discrete; expected continuous actions (PPO takes both)");
        HEARTH_TRY(check_hyperparameters("SAC", kHyperparameters, &sac));
        if (network.recurrent_state_size > 0)
            return unsupported("SAC: the network has recurrent state; expected one without");
        if (!(sac.log_std_min < sac.log_std_max))
            return invalid_argument("SAC: the bounds of log_std are empty; expected min < max");
        return {};
    };
    const SacBuilder b{schema, network, sac, seed};
    return trace_entries(check(), seed, sac.limits,
                         {{"act", [&](Trace& t) { b.act(t); }},
                          {"store", [&](Trace& t) { b.store(t); }},
                          {"frame", [&](Trace& t) { b.frame(t); }},
                          {"add_samples", [&](Trace& t) { b.add_samples(t); }},
                          {"learn", [&](Trace& t) { b.learn(t); }}});
}

}  // namespace

template <>
const LearnerDef& learner_def<Sac>() {
    static const LearnerDef def = define_learner<Sac, build_sac>({
        .name = "sac",
        .title = "SAC",
        .paper = "Haarnoja et al., \"Soft Actor-Critic Algorithms and Applications\", 2018",
        .algorithm = Algorithm::kSac,
        .hyperparameters = kHyperparameters,
        .entries = kEntries,
        .set_schedule = set_learning_starts<Sac>,
    });
    return def;
}

}  // namespace hearth::agents
