// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Supervised learners on replay buffers: behavior cloning and online regression.

#include "model/agents/learner_record.hpp"
#include "model/agents/replay.hpp"

#include <hearth/nn.hpp>

#include <string>

namespace hearth::agents {

namespace {

struct BehaviorCloningBuilder {
    const AgentSpec& schema;
    const PolicyNetwork& network;
    const BehaviorCloning& clone;
    uint64_t seed;

    struct Policy {
        ActionDistribution distribution;
        Tensor head;
    };

    Policy policy(Trace& trace, const Tensor& observation, const Tensor& mask,
                  const RunningMeanStd& normalizer) const {
        EncodeOptions options;
        options.normalizer = normalizer;
        options.clip = clone.limits.clip_obs;
        const Tensor features = encode(trace, "actor", schema, observation, options);
        const PolicyOutput net = network.forward(trace, "actor", features, {});
        const Tensor head = dense(trace, "actor.head", net.features,
                                  ActionDistribution::param_size(schema), 0.01, seed);
        Tensor log_std;
        if (const int64_t count = ActionDistribution::continuous_size(schema); count > 0)
            log_std =
                clamp(trace.param("actor.log_std", {count}, Init::constant(clone.log_std_init)),
                      clone.log_std_min, clone.log_std_max);
        return {ActionDistribution(schema, head, mask, log_std), head};
    }

    Tensor mask_input(Trace& trace) const {
        return schema.mask_size() > 0 ? trace.input("mask", {kBatch, schema.mask_size()})
                                      : Tensor();
    }

    ActionSample decide(Trace& trace, const Tensor& observation, const Tensor& mask,
                        const Tensor& explore) const {
        const Policy p = policy(trace, observation, mask,
                                published_normalizer(trace, schema, clone.normalize_observations));
        const ActionSample sample =
            p.distribution.sample(random_counter(trace, "act.steps", seed), rng_key("act"));
        const Tensor likeliest = p.distribution.mode();
        const Tensor explores = greater(explore, 0.5);
        return {where(explores, sample.action, likeliest),
                where(explores, sample.log_prob, p.distribution.log_prob(likeliest))};
    }

    void act(Trace& trace) const {
        const Tensor observation = trace.input("observation", {kBatch, schema.observation_size()});
        const Tensor mask = mask_input(trace);
        const ActionSample said = decide(trace, observation, mask, trace.input("exploration", {}));
        output_decision(trace, schema, said.action, said.log_prob);
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
    }

    /// Only acts: demonstrations come from a person, through `store`.
    void frame(Trace& trace) const {
        Frame f;
        f.agents = clone.n_agents;
        f.id = cast(trace.input("id", {kBatch}, DType::kU32), DType::kI32);
        const Tensor observation = trace.input("observation", {kBatch, schema.observation_size()});
        f.mask = mask_input(trace);
        const ActionSample said =
            decide(trace, observation, f.mask, trace.input("exploration", {}));
        gather_status(trace, {}, f.act(trace, schema, act_on(said.action)));
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
    }

    void store(Trace& trace) const {
        StatusWriter status(trace, "store");
        const Demonstration shown = Demonstration::declare(trace, schema);
        ReplayBuffer ring(trace, clone.buffer_size);
        const Tensor place = shown.store(status, schema, ring);
        if (is_capped())
            index_copy_(ring.column("source"), place, trace.input("demonstrator", {kBatch}));
        const RunningMeanStd normalizer =
            own_normalizer(trace, schema, clone.normalize_observations);
        count_observation_limits(status, schema, shown.observation, shown.is_sound, normalizer,
                                 clone.limits.clip_obs);
        if (normalizer.mean.ok())
            RunningStatistics::declare(trace, "observations", encoded_width(schema))
                .merge(encode_frame(schema, slice(shown.observation, -1, 0, schema.frame_size())),
                       number(shown.is_sound));
        (void)status.finish();
    }

    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayBuffer ring(trace, clone.buffer_size);
        const Tensor counter = random_counter(trace, "learn.draws", seed);
        const Tensor place = ring.draw(counter, rng_key("replay"), clone.batch_size);
        const Tensor observation =
            take(ring.column("observation", schema.observation_size()), place);
        const Tensor decision = take(ring.column("decision", schema.action_size()), place);
        const Tensor mask = schema.mask_size() > 0
                                ? take(ring.column("mask", schema.mask_size()), place)
                                : Tensor();
        const Tensor weight =
            is_capped() ? weight_of(take(ring.column("source"), place)) : Tensor();
        const Policy p = policy(trace, observation, mask,
                                own_normalizer(trace, schema, clone.normalize_observations));
        const Tensor loss = clone.loss == BcLoss::kMse
                                ? squared_loss(p.head, mask, decision, weight)
                                : neg(weighted(p.distribution.log_prob(decision), weight));
        status.set(AgentMetric::kEntropy, mean(p.distribution.entropy()));
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::parameters_with_prefix(trace, {"actor"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", clone.learning_rate)}},
             .rails = clone.limits,
             .may_learn = greater_equal(ring.size(), static_cast<double>(clone.learning_starts))});
        status.set(AgentMetric::kLoss, loss);
        status.set(AgentMetric::kPolicyLoss, loss);
        (void)status.finish();
    }

    bool is_capped() const { return clone.max_demonstrator_fraction < 1; }

    /// Weight of each sample of a batch, so that no source but the game itself exceeds its share.
    /// source: [batch] -> [batch].
    Tensor weight_of(const Tensor& source) const {
        const Tensor is_same = equal(unsqueeze(source, {1}), unsqueeze(source, {0}));
        const Tensor most = source.trace()->constant(clone.max_demonstrator_fraction *
                                                     static_cast<double>(clone.batch_size));
        return where(less(source, 0.5), 1.0, minimum(most / sum(number(is_same), {1}), 1.0));
    }
    /// Weighted mean over a batch.  loss: [batch] or [batch, n]; weight: [batch], or empty.
    static Tensor weighted(const Tensor& loss, const Tensor& weight) {
        if (!weight.ok()) return mean(loss);
        return mean(loss * (loss.rank() == 2 ? unsqueeze(weight, {-1}) : weight));
    }

    /// Mean squared error of numbers plus the cross-entropy of each choice.
    Tensor squared_loss(const Tensor& head, const Tensor& mask, const Tensor& decision,
                        const Tensor& weight) const {
        Tensor total;
        int64_t head_at = 0, at = 0, mask_at = 0;
        for (const Action& a : schema.actions()) {
            const Tensor own = slice(head, -1, head_at, head_at + a.count);
            const int64_t width = a.is_discrete ? 1 : a.count;
            const Tensor wanted = slice(decision, -1, at, at + width);
            Tensor term;
            if (a.is_discrete) {
                Tensor logits = own;
                if (a.masked) {
                    logits = where(available_options(slice(mask, -1, mask_at, mask_at + a.count)),
                                   own, -1e8);
                    mask_at += a.count;
                }
                term = weighted(cross_entropy(logits, cast(squeeze(wanted, {-1}), DType::kI32),
                                              {.reduction = Reduction::kNone}),
                                weight);
            } else {
                term = weighted(mse_loss(own, wanted, Reduction::kNone), weight);
            }
            total = total.ok() ? total + term : term;
            head_at += a.count;
            at += width;
        }
        return total;
    }
};

constexpr std::string_view kBcLosses[] = {"negative_log_likelihood", "mse"};
constexpr auto kHyperparametersOwn = std::to_array<HyperparameterDef>({
    n_agents_def<&BehaviorCloning::n_agents>(),
    buffer_size_def<&BehaviorCloning::buffer_size>(),
    batch_size_def<&BehaviorCloning::batch_size>(),
    learning_starts_def<&BehaviorCloning::learning_starts>(),
    learning_rate_def<&BehaviorCloning::learning_rate>(),
    member<&BehaviorCloning::loss>({.name = "loss",
                                    .description = "what is minimized",
                                    .range = {0, 1},
                                    .choices = kBcLosses}),
    log_std_init_def<&BehaviorCloning::log_std_init>(),
    log_std_min_def<&BehaviorCloning::log_std_min>(),
    log_std_max_def<&BehaviorCloning::log_std_max>(),
    normalize_observations_def<&BehaviorCloning::normalize_observations>(),
    member<&BehaviorCloning::max_demonstrator_fraction>(
        {.name = "max_demonstrator_fraction",
         .description = "maximum weight of a single demonstrator in a minibatch",
         .range = {1e-6, 1}}),
});
static_assert(kHyperparametersOwn.size() + 1 == member_count<BehaviorCloning>(),
              "a member has no record");
constexpr auto kHyperparameters =
    concat_defs(kHyperparametersOwn, limit_defs<&BehaviorCloning::limits>());
constexpr std::string_view kEntries[] = {"act", "store", "frame", "learn"};

AgentGraphs build_behavior_cloning(const AgentSpec& schema, const PolicyNetwork& network,
                                   const BehaviorCloning& behavior_cloning, uint64_t seed) {
    const auto check = [&]() -> Status {
        HEARTH_TRY(schema.status());
        HEARTH_TRY(check_hyperparameters("BehaviorCloning", kHyperparameters, &behavior_cloning));
        if (!(behavior_cloning.log_std_min < behavior_cloning.log_std_max))
            return invalid_argument(
                "BehaviorCloning: the bounds of log_std are empty; expected min < max");
        if (network.recurrent_state_size > 0)
            return unsupported(
                "BehaviorCloning: the network has recurrent state; expected one without");
        return {};
    };
    const BehaviorCloningBuilder b{schema, network, behavior_cloning, seed};
    return trace_entries(check(), seed, behavior_cloning.limits,
                         {{"act", [&](Trace& t) { b.act(t); }},
                          {"store", [&](Trace& t) { b.store(t); }},
                          {"frame", [&](Trace& t) { b.frame(t); }},
                          {"learn", [&](Trace& t) { b.learn(t); }}});
}

constexpr auto kRegressionHyperparametersOwn = std::to_array<HyperparameterDef>({
    member<&Regression::input_size>(
        {.name = "input_size", .description = "numbers of an input", .range = kAnyCount}),
    member<&Regression::output_size>(
        {.name = "output_size", .description = "numbers of an output", .range = kAnyCount}),
    buffer_size_def<&Regression::buffer_size>(),
    batch_size_def<&Regression::batch_size>(),
    learning_starts_def<&Regression::learning_starts>(),
    learning_rate_def<&Regression::learning_rate>(),
    huber_delta_def<&Regression::huber_delta>(),
    member<&Regression::target_limit>(
        {.name = "target_limit", .description = "clamps targets", .range = {0, 1e15}}),
});
static_assert(kRegressionHyperparametersOwn.size() + 1 == member_count<Regression>(),
              "a member has no record");
constexpr auto kRegressionHyperparameters =
    concat_defs(kRegressionHyperparametersOwn, limit_defs<&Regression::limits>());

}  // namespace

template <>
const LearnerDef& learner_def<BehaviorCloning>() {
    static const LearnerDef def = define_learner<BehaviorCloning, build_behavior_cloning>({
        .name = "behavior_cloning",
        .title = "BehaviorCloning",
        .paper = "Ross et al., \"A Reduction of Imitation Learning and Structured Prediction to "
                 "No-Regret Online Learning\", 2011",
        .algorithm = Algorithm::kBehaviorCloning,
        .hyperparameters = kHyperparameters,
        .entries = kEntries,
    });
    return def;
}

AgentGraphs build_regression_graphs(const PolicyNetwork& network, const Regression& r,
                                    uint64_t seed) {
    const auto check = [&]() -> Status {
        HEARTH_TRY(check_hyperparameters("regression", kRegressionHyperparameters, &r));
        if (network.recurrent_state_size > 0)
            return unsupported("Regression: the network has recurrent state; expected one without");
        return {};
    };
    const auto network_of = [&](Trace& trace, const Tensor& input) {
        const Tensor seen = clamp(where(is_finite(input), input, 0.0), -kFarthest, kFarthest);
        const PolicyOutput net = network.forward(trace, "net", seen, {});
        return dense(trace, "net.head", net.features, r.output_size, 1, seed);
    };
    const auto predict = [&](Trace& trace) {
        trace.output("output", network_of(trace, trace.input("input", {kBatch, r.input_size})));
        trace.output("version", identity(trace.state("published.version", {}, {}, DType::kU32)));
        const std::string read[] = {"net"};
        read_copies(trace, kPublished, read);
    };
    const auto store = [&](Trace& trace) {
        StatusWriter status(trace, "store");
        const Tensor input = trace.input("input", {kBatch, r.input_size});
        const Tensor target = trace.input("target", {kBatch, r.output_size});
        const Tensor is_sound = logical_and(rows_are_finite(input), rows_are_finite(target));
        ReplayBuffer ring(trace, r.buffer_size);
        const Tensor place = ring.push(is_sound);
        index_copy_(ring.column("input", r.input_size), place, input);
        index_copy_(ring.column("target", r.output_size), place,
                    clamp(target, -r.target_limit, r.target_limit));
        const auto count_beyond = [&](Counter counter, const Tensor& values, double limit) {
            status.add(counter,
                       sum(number(logical_and(is_sound, greater(max(abs(values), {-1}), limit)))));
        };
        count_beyond(Counter::kObservationsClamped, input, kFarthest);
        count_beyond(Counter::kRewardsClamped, target, r.target_limit);
        status.add(Counter::kSamples, sum(number(is_sound)));
        status.add(Counter::kSamplesRejected, sum(number(logical_not(is_sound))));
        (void)status.finish();
    };
    const auto learn = [&](Trace& trace) {
        StatusWriter status(trace, "learn");
        const ReplayBuffer ring(trace, r.buffer_size);
        const Tensor place =
            ring.draw(random_counter(trace, "learn.draws", seed), rng_key("replay"), r.batch_size);
        const Tensor output = network_of(trace, take(ring.column("input", r.input_size), place));
        const Tensor wanted = take(ring.column("target", r.output_size), place);
        const Tensor loss = r.huber_delta > 0 ? huber_loss(output, wanted, r.huber_delta)
                                              : mse_loss(output, wanted);
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::parameters_with_prefix(trace, {"net"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", r.learning_rate)}},
             .rails = r.limits,
             .may_learn = greater_equal(ring.size(), static_cast<double>(r.learning_starts))});
        status.set(AgentMetric::kLoss, loss);
        (void)status.finish();
    };
    return trace_entries(check(), seed, r.limits,
                         {{"predict", predict}, {"store", store}, {"learn", learn}});
}

}  // namespace hearth::agents
