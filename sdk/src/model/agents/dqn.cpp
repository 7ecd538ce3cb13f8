// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Deep Q-learning, and learning from praise (TAMER): both estimate a value for each choice.

#include "model/agents/learner_record.hpp"
#include "model/agents/replay.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>

#include <cmath>
#include <string>

namespace hearth::agents {

namespace {

/// Values of all choices: [rows, choices] for each action of a schema.
using Values = std::vector<Tensor>;

struct ChoiceNet {
    const AgentSpec& schema;
    const PolicyNetwork& network;
    uint64_t seed;
    bool is_dueling;
    double limit;

    Values values(Trace& trace, const std::string& prefix, const Tensor& observation,
                  const RunningMeanStd& normalizer) const {
        EncodeOptions options;
        options.normalizer = normalizer;
        options.clip = limit;
        const Tensor features = encode(trace, prefix, schema, observation, options);
        const PolicyOutput net = network.forward(trace, prefix, features, {});
        Values values;
        Tensor base;
        if (is_dueling)
            base = dense(trace, prefix + ".value", net.features, 1, 1, seed, network.head_init);
        for (const Action& a : schema.actions()) {
            const Tensor own = dense(trace, prefix + ".choices." + a.name, net.features, a.count,
                                     is_dueling ? 0.01 : 1, seed, network.head_init);
            values.push_back(is_dueling ? base + own - mean(own, {-1}, true) : own);
        }
        return values;
    }

    /// Values from which the best is chosen, with masked options at kAbsent.
    Values masked(const Values& values, const Tensor& mask) const {
        Values out;
        int64_t at = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            const Action& a = schema.actions()[i];
            if (!a.masked || !mask.ok()) {
                out.push_back(values[i]);
                continue;
            }
            const Tensor there = slice(mask, -1, at, at + a.count);
            at += a.count;
            out.push_back(choosable(values[i], available_options(there)));
        }
        return out;
    }

    /// values[i] at the choices in column i.  indices: [rows, actions] -> [rows] each.
    Values at(const Values& values, const Tensor& indices) const {
        Values out;
        for (size_t i = 0; i < values.size(); ++i) {
            const auto c = static_cast<int64_t>(i);
            const Tensor own = cast(slice(indices, -1, c, c + 1), DType::kI32);
            out.push_back(squeeze(gather_elements(values[i], own, -1), {-1}));
        }
        return out;
    }

    static Tensor mean_of(const Values& values) {
        Tensor total = values[0];
        for (size_t i = 1; i < values.size(); ++i) total = total + values[i];
        return values.size() == 1 ? total : total / static_cast<double>(values.size());
    }

    static Tensor best(const Values& values) {
        std::vector<Tensor> columns;
        for (const Tensor& v : values) columns.push_back(cast(argmax(v, -1, true), DType::kF32));
        return columns.size() == 1 ? columns[0] : concat(columns, -1);
    }

    Tensor decide(Trace& trace, const std::string& prefix, bool normalizes,
                  const Tensor& observation, const Tensor& mask, const Tensor& explore) const {
        const Values values = masked(this->values(trace, prefix, observation,
                                                  published_normalizer(trace, schema, normalizes)),
                                     mask);
        const Tensor counter = random_counter(trace, "act.steps", seed);
        const Tensor draw = random_uniform(counter, rng_key("act.explore"), {kBatch, 1});
        const Tensor is_random = less(draw, explore);
        std::vector<Tensor> columns;
        for (size_t i = 0; i < values.size(); ++i) {
            const Tensor even = where(less_equal(values[i], kAbsent), kAbsent, values[i] * 0.0);
            const Tensor any =
                categorical(counter, rng_key("act." + schema.actions()[i].name), even);
            columns.push_back(where(is_random, unsqueeze(cast(any, DType::kF32), {-1}),
                                    cast(argmax(values[i], -1, true), DType::kF32)));
        }
        return columns.size() == 1 ? columns[0] : concat(columns, -1);
    }

    void act(Trace& trace, const std::string& prefix, bool normalizes) const {
        const Tensor observation = trace.input("observation", {kBatch, schema.observation_size()});
        const Tensor mask =
            schema.mask_size() > 0 ? trace.input("mask", {kBatch, schema.mask_size()}) : Tensor();
        const Tensor explore = trace.input("exploration", {});
        output_decision(trace, schema,
                        decide(trace, prefix, normalizes, observation, mask, explore));
        const std::string read[] = {prefix};
        read_copies(trace, kPublished, read);
    }

    void finish_frame(Trace& trace, const Frame& f, const StatusTensors& stored,
                      const std::string& prefix, bool normalizes) const {
        gather_status(
            trace, stored,
            f.finish(trace, schema,
                     decide(trace, prefix, normalizes, f.observation, f.mask, f.explore)));
        const std::string read[] = {prefix};
        read_copies(trace, kPublished, read);
    }

    Status check(const char* learner) const {
        HEARTH_TRY(schema.status());
        for (const Action& a : schema.actions())
            if (!a.is_discrete)
                return invalid_argument(std::string(learner) + ": action '" + a.name +
                                        "' is continuous; expected discrete actions (PPO and SAC "
                                        "take continuous ones)");
        if (network.recurrent_state_size > 0)
            return unsupported(std::string(learner) +
                               ": the network has recurrent state; expected one without");
        return {};
    }
};

void store_observations(Trace& trace, StatusWriter& status, const AgentSpec& schema,
                        const Transition& t, bool normalizes, double limit) {
    const RunningMeanStd normalizer = own_normalizer(trace, schema, normalizes);
    count_observation_limits(status, schema, t.observation, t.is_sound, normalizer, limit);
    if (!normalizer.mean.ok()) return;
    RunningStatistics::declare(trace, "observations", encoded_width(schema))
        .merge(encode_frame(schema, slice(t.observation, -1, 0, schema.frame_size())),
               number(t.is_sound));
}

// --- DQN ---

struct DqnBuilder {
    const AgentSpec& schema;
    const Dqn& dqn;
    uint64_t seed;
    ChoiceNet net;

    bool has_mask() const { return schema.mask_size() > 0; }
    bool has_priority() const { return dqn.prioritized_alpha > 0; }
    /// The largest priority so far, which new samples get.
    static Tensor most_priority(Trace& trace) {
        return trace.non_persistent_state("replay.max_priority", {}, Init::constant(1));
    }

    /// Accumulates n-step returns in place: adds each new reward, discounted, to the samples of up
    /// to steps - 1 decisions ago.  Each stored return is valid at any time.
    StatusTensors keep(Trace& trace, const Transition& t) const {
        StatusWriter status(trace, "store");
        const ReplayOptions& replay = dqn.replay;
        const Tensor reward = limited_rewards(status, t.reward * replay.reward_scale, t.is_sound,
                                              dqn.limits.clip_reward);
        ReplayBuffer ring(trace, replay.buffer_size);
        const Tensor place = ring.push(t.is_sound);
        index_copy_(ring.column("observation", schema.observation_size()), place, t.observation);
        index_copy_(ring.column("decision", schema.action_size()), place, t.decision);
        const Tensor rewards = ring.column("reward"), discounts = ring.column("discount");
        const Tensor ends = ring.column("end");
        const Tensor next = ring.column("next_observation", schema.observation_size());

        std::vector<Tensor> places{place}, returns{reward}, powers, next_rows, end_rows, mask_rows;
        const Tensor ones = number(t.is_sound) * 0.0 + 1.0;
        powers.push_back(ones * dqn.gamma);
        const AgentChains chains(trace, replay.n_agents, dqn.return_steps - 1);
        for (int64_t back = 0; back + 1 < dqn.return_steps; ++back) {
            const AgentChains::Link link = chains.link(t.id, back);
            const Tensor nowhere =
                trace.constant(static_cast<double>(replay.buffer_size), DType::kI32);
            const Tensor before =
                where(logical_and(link.exists, t.is_sound), ring.place_of(link.serial), nowhere);
            const double discount = std::pow(dqn.gamma, static_cast<double>(back + 1));
            places.push_back(before);
            returns.push_back(take(rewards, before) + reward * discount);
            powers.push_back(ones * (discount * dqn.gamma));
        }
        for (size_t i = 0; i < places.size(); ++i) {
            next_rows.push_back(t.next_observation);
            end_rows.push_back(t.end);
            if (has_mask()) mask_rows.push_back(t.next_mask);
        }
        const auto joined = [](const std::vector<Tensor>& parts) {
            return parts.size() == 1 ? parts[0] : concat(parts, 0);
        };
        const Tensor all = joined(places);
        index_copy_(rewards, all, joined(returns));
        index_copy_(discounts, all, joined(powers));
        index_copy_(ends, all, joined(end_rows));
        index_copy_(next, all, joined(next_rows));
        if (has_mask())
            index_copy_(ring.column("next_mask", schema.mask_size()), all, joined(mask_rows));
        if (dqn.return_steps > 1)
            chains.append(t.id, ring.serials(), logical_and(t.is_sound, less(t.end, 0.5)));
        if (has_priority()) {
            index_copy_(ring.column("priority"), place, ones * most_priority(trace));
        }
        status.add(Counter::kSamples, sum(number(t.is_sound)));
        status.add(Counter::kSamplesRejected, t.refused());
        store_observations(trace, status, schema, t, replay.normalize_observations,
                           dqn.limits.clip_obs);
        t.track_episodes(status, replay.n_agents);
        return status.finish();
    }

    void store(Trace& trace) const {
        (void)keep(trace, Transition::declare(trace, schema, dqn.replay.n_agents, {}));
    }

    void frame(Trace& trace) const {
        const Frame f = Frame::declare(trace, schema, dqn.replay.n_agents, {.next_mask = true});
        WaitingTransitions(trace, schema, dqn.replay, true).append(f.transition);
        net.finish_frame(trace, f, {}, "q", dqn.replay.normalize_observations);
    }

    void add_samples(Trace& trace) const {
        (void)keep(trace, WaitingTransitions(trace, schema, dqn.replay, true).take_oldest());
    }

    struct Draw {
        Tensor place;   ///< i32 [batch]: indices of samples
        Tensor weight;  ///< importance weights [batch], at most 1
    };

    Draw draw(Trace& trace, const ReplayBuffer& ring) const {
        const int64_t batch = dqn.replay.batch_size;
        const Tensor counter = random_counter(trace, "learn.draws", seed);
        const uint64_t key = rng_key("replay");
        if (!has_priority())
            return {ring.draw(counter, key, batch),
                    trace.constant(HostTensor::of(
                        {batch}, std::vector<double>(static_cast<size_t>(batch), 1.0)))};
        // Stratified: one sample per `batch`-th of the total priority (the paper's appendix B.2.1).
        const Tensor priorities = ring.column("priority");
        const Tensor up_to = cumsum(priorities, 0);
        const Tensor total = slice(up_to, 0, ring.capacity() - 1, ring.capacity());
        const Tensor part =
            (cast(arange(trace, {batch}), DType::kF32) + random_uniform(counter, key, {batch})) *
            (1.0 / static_cast<double>(batch));
        const Tensor last =
            maximum(ring.size() - trace.constant(1, DType::kI32), trace.constant(0, DType::kI32));
        const Tensor place =
            minimum(cast(searchsorted(up_to, part * total, true), DType::kI32), last);
        const Tensor probability = maximum(take(priorities, place), 1e-12) / maximum(total, 1e-12);
        const Tensor beta = hyperparameter(trace, "prioritized_beta", dqn.prioritized_beta);
        const Tensor raw = exp(neg(beta) * log(probability * cast(ring.size(), DType::kF32)));
        return {place, raw / max(raw)};
    }

    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayBuffer ring(trace, dqn.replay.buffer_size);
        const Draw drawn = draw(trace, ring);
        const RunningMeanStd normalizer =
            own_normalizer(trace, schema, dqn.replay.normalize_observations);
        const auto picked = [&](const char* name, int64_t width = 0) {
            return take(ring.column(name, width), drawn.place);
        };
        const Tensor observation = picked("observation", schema.observation_size());
        const Tensor next = picked("next_observation", schema.observation_size());
        const Tensor decision = picked("decision", schema.action_size());
        const Tensor next_mask = has_mask() ? picked("next_mask", schema.mask_size()) : Tensor();

        trace.target_copy("target.q", "q");
        const Values now = net.values(trace, "q", observation, normalizer);
        const Values later = net.values(trace, "target.q", next, normalizer);
        const Values judge = dqn.double_q ? net.values(trace, "q", next, normalizer) : later;
        const Tensor choice = ChoiceNet::best(net.masked(judge, next_mask));
        const Tensor next_value = ChoiceNet::mean_of(net.at(later, choice));
        const Tensor end = picked("end");
        const Tensor is_over = logical_and(greater(end, 0.5), less(end, 1.5));
        const Tensor wanted =
            stop_gradient(picked("reward") + picked("discount") * where(is_over, 0.0, next_value));

        Tensor losses, surprise;
        for (const Tensor& value : net.at(now, decision)) {
            const Tensor term = dqn.huber_delta > 0
                                    ? huber_loss(value, wanted, dqn.huber_delta, Reduction::kNone)
                                    : square(value - wanted);
            const Tensor off = abs(value - wanted);
            losses = losses.ok() ? losses + term : term;
            surprise = surprise.ok() ? surprise + off : off;
        }
        const auto branches = static_cast<double>(schema.actions().size());
        const Tensor loss = mean(losses * drawn.weight) / branches;
        const auto also = [&] {
            if (has_priority()) {
                const Tensor priority =
                    exp(log(surprise / branches + 1e-6) * dqn.prioritized_alpha);
                index_copy_(ring.column("priority"), drawn.place, priority);
                const Tensor most = most_priority(trace);
                trace.assign(most, maximum(most, max(priority)));
            }
            if (dqn.target_update_interval == 1)
                return polyak_update(trace, "target.q", "q", dqn.tau);
            const Tensor since = trace.state("learn.since_target", {}, {}, DType::kI32);
            const Tensor count = since + 1.0;
            // Tied to the loss, so `since` is read before it changes and needs no copy.
            const Tensor moves =
                logical_and(is_finite(loss),
                            greater_equal(count, static_cast<double>(dqn.target_update_interval)));
            trace.assign(since, where(moves, trace.constant(0, DType::kI32), count));
            polyak_update(trace, "target.q", "q", ScalarOrTensor(number(moves) * dqn.tau));
        };
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::parameters_with_prefix(trace, {"q"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", dqn.learning_rate)}},
             .rails = dqn.limits,
             .may_learn =
                 greater_equal(ring.size(), static_cast<double>(dqn.replay.learning_starts)),
             .also = also});
        status.set(AgentMetric::kLoss, loss);
        status.set(AgentMetric::kValueLoss, loss);
        (void)status.finish();
    }
};

// --- Praise (TAMER) ---

struct TamerBuilder {
    const AgentSpec& schema;
    const Tamer& praise;
    uint64_t seed;
    ChoiceNet net;

    /// The number of judged decisions.
    static Tensor judged_count(Trace& trace) {
        return trace.non_persistent_state("praise.count", {});
    }

    // The label of a decision is the mean of the praise that it received, weighted by credit.
    //
    // In `store`, the praise was given before the decision that comes with it; in `frame`
    // (is_after), it also applies to the decision that is being stored.
    StatusTensors keep(Trace& trace, const Transition& t, const Tensor& said, bool is_after) const {
        StatusWriter status(trace, "store");
        const Tensor is_said = logical_and(less_equal(abs(said), 1e30), not_equal(said, 0));
        status.add(Counter::kRewardsClamped, sum(number(greater(abs(said), 1.0))));
        const Tensor amount = clamp(where(is_said, said, 0.0), -1, 1);

        ReplayBuffer ring(trace, praise.buffer_size);
        const Tensor place = ring.push(t.is_sound);
        index_copy_(ring.column("observation", schema.observation_size()), place, t.observation);
        index_copy_(ring.column("decision", schema.action_size()), place, t.decision);
        const Tensor labels = ring.column("label"), weights = ring.column("weight");
        const auto length = static_cast<int64_t>(praise.credit_window.size());
        const AgentChains chains(trace, praise.n_agents, length);
        const Tensor zeros = amount * 0.0;
        std::vector<Tensor> places{place}, label_rows{zeros}, weight_rows{zeros};
        if (is_after) {
            label_rows[0] = amount * praise.credit_window[0];
            weight_rows[0] = number(is_said) * praise.credit_window[0];
        }
        const int64_t skipped = is_after ? 1 : 0;
        const Tensor is_agent =
            logical_and(greater_equal(t.id, 0), less(t.id, static_cast<double>(praise.n_agents)));
        for (int64_t back = 0; back + skipped < length; ++back) {
            const AgentChains::Link link = chains.link(t.id, back);
            const Tensor nowhere =
                trace.constant(static_cast<double>(praise.buffer_size), DType::kI32);
            const Tensor meant = logical_and(is_agent, logical_and(link.exists, is_said));
            const Tensor before = where(meant, ring.place_of(link.serial), nowhere);
            const double credit = praise.credit_window[static_cast<size_t>(back + skipped)];
            places.push_back(before);
            label_rows.push_back(take(labels, before) + amount * credit);
            weight_rows.push_back(take(weights, before) + zeros + credit);
        }
        const Tensor all = concat(places, 0);
        index_copy_(labels, all, concat(label_rows, 0));
        index_copy_(weights, all, concat(weight_rows, 0));
        chains.append(t.id, ring.serials(), t.is_sound);
        const Tensor judged = judged_count(trace);
        trace.assign(judged, minimum(judged + sum(number(is_said)), 1e6));
        status.add(Counter::kSamples, sum(number(t.is_sound)));
        status.add(Counter::kSamplesRejected, t.refused());
        store_observations(trace, status, schema, t, praise.normalize_observations,
                           praise.limits.clip_obs);
        return status.finish();
    }

    void store(Trace& trace) const {
        const Transition t = Transition::declare(trace, schema, praise.n_agents,
                                                 {.outcome = false, .next_mask = false});
        (void)keep(trace, t, trace.input("praise", {kBatch}), false);
    }

    void frame(Trace& trace) const {
        const Frame f = Frame::declare(trace, schema, praise.n_agents, {.said = "praise"});
        Transition t = f.transition;
        const Tensor said = t.reward;
        t.reward = {};
        t.check(schema, praise.n_agents);  // praise does not affect whether a decision is valid
        net.finish_frame(trace, f, keep(trace, t, said, true), "judge",
                         praise.normalize_observations);
    }

    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayBuffer ring(trace, praise.buffer_size);
        const Tensor weights = ring.column("weight"), labels = ring.column("label");
        // Samples judged decisions only, with probability proportional to their credit.
        const Tensor up_to = cumsum(weights, 0);
        const Tensor total = slice(up_to, 0, praise.buffer_size - 1, praise.buffer_size);
        const Tensor u = random_uniform(random_counter(trace, "learn.draws", seed),
                                        rng_key("replay"), {praise.batch_size});
        const Tensor place =
            minimum(cast(searchsorted(up_to, u * total, true), DType::kI32),
                    trace.constant(static_cast<double>(praise.buffer_size - 1), DType::kI32));
        const Tensor weight = take(weights, place);
        const Tensor label = take(labels, place) / maximum(weight, 1e-6);
        const Tensor observation =
            take(ring.column("observation", schema.observation_size()), place);
        const Tensor decision = take(ring.column("decision", schema.action_size()), place);
        const Values values =
            net.values(trace, "judge", observation,
                       own_normalizer(trace, schema, praise.normalize_observations));
        const Tensor loss = mse_loss(ChoiceNet::mean_of(net.at(values, decision)), label);
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::parameters_with_prefix(trace, {"judge"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", praise.learning_rate)}},
             .rails = praise.limits,
             .may_learn = logical_and(
                 greater_equal(judged_count(trace), static_cast<double>(praise.learning_starts)),
                 greater(reshape(total, {}), 0))});
        status.set(AgentMetric::kLoss, loss);
        (void)status.finish();
    }
};

constexpr auto kDqnHyperparametersOwn = std::to_array<HyperparameterDef>({
    learning_rate_def<&Dqn::learning_rate>(),
    gamma_def<&Dqn::gamma>(),
    member<&Dqn::return_steps>({.name = "return_steps",
                                .description = "of n-step returns",
                                .range = {1, 16},
                                .symbol = "n"}),
    member<&Dqn::double_q>({.name = "double_q", .description = "double Q-learning"}),
    member<&Dqn::dueling>({.name = "dueling", .description = "dueling heads"}),
    member<&Dqn::prioritized_alpha>({.name = "prioritized_alpha",
                                     .description = "prioritization exponent; 0: uniform sampling",
                                     .range = {0, 10},
                                     .symbol = "alpha"}),
    member<&Dqn::prioritized_beta>({.name = "prioritized_beta",
                                    .description = "importance-sampling exponent",
                                    .range = {0, 10},
                                    .symbol = "beta"}),
    member<&Dqn::target_update_interval>(
        {.name = "target_update_interval",
         .description = "steps of the optimizer between updates of the target network",
         .range = kAnyCount,
         .symbol = "C",
         .sb3 = "target_update_interval"}),
    member<&Dqn::tau>({.name = "tau",
                       .description = "Polyak coefficient of these updates; 1: copy",
                       .range = kFraction,
                       .sb3 = "tau"}),
    huber_delta_def<&Dqn::huber_delta>(),
});
static_assert(kDqnHyperparametersOwn.size() + 2 == member_count<Dqn>(), "a member has no record");
constexpr auto kDqnHyperparameters =
    concat_defs(replay_defs<&Dqn::replay>(), kDqnHyperparametersOwn, limit_defs<&Dqn::limits>());
constexpr std::string_view kDqnEntries[] = {"act", "store", "frame", "add_samples", "learn"};

AgentGraphs build_dqn(const AgentSpec& schema, const PolicyNetwork& network, const Dqn& dqn,
                      uint64_t seed) {
    const ChoiceNet net{schema, network, seed, dqn.dueling, dqn.limits.clip_obs};
    const auto check = [&]() -> Status {
        HEARTH_TRY(net.check("DQN"));
        HEARTH_TRY(check_hyperparameters("DQN", kDqnHyperparameters, &dqn));
        if (dqn.replay.buffer_size < 2 * dqn.return_steps * dqn.replay.n_agents)
            return invalid_argument(
                "DQN: a replay buffer of " + std::to_string(dqn.replay.buffer_size) +
                " is too small for " + std::to_string(dqn.replay.n_agents) +
                " agents and returns of " + std::to_string(dqn.return_steps) + " steps");
        return {};
    };
    const DqnBuilder b{schema, dqn, seed, net};
    return trace_entries(
        check(), seed, dqn.limits,
        {{"act", [&](Trace& t) { net.act(t, "q", dqn.replay.normalize_observations); }},
         {"store", [&](Trace& t) { b.store(t); }},
         {"frame", [&](Trace& t) { b.frame(t); }},
         {"add_samples", [&](Trace& t) { b.add_samples(t); }},
         {"learn", [&](Trace& t) { b.learn(t); }}});
}

constexpr auto kTamerHyperparametersOwn = std::to_array<HyperparameterDef>({
    n_agents_def<&Tamer::n_agents>(),
    buffer_size_def<&Tamer::buffer_size>(),
    batch_size_def<&Tamer::batch_size>(),
    learning_starts_def<&Tamer::learning_starts>(),
    member<&Tamer::credit_window>(
        {.name = "credit_window",
         .description = "weights of praise for the last decisions, newest first",
         .range = {0, 100}}),
    learning_rate_def<&Tamer::learning_rate>(),
    normalize_observations_def<&Tamer::normalize_observations>(),
});
static_assert(kTamerHyperparametersOwn.size() + 1 == member_count<Tamer>(),
              "a member has no record");
constexpr auto kTamerHyperparameters =
    concat_defs(kTamerHyperparametersOwn, limit_defs<&Tamer::limits>());
constexpr std::string_view kTamerEntries[] = {"act", "store", "frame", "learn"};

AgentGraphs build_tamer(const AgentSpec& schema, const PolicyNetwork& network, const Tamer& tamer,
                        uint64_t seed) {
    const ChoiceNet net{schema, network, seed, false, tamer.limits.clip_obs};
    const auto check = [&]() -> Status {
        HEARTH_TRY(net.check("TAMER"));
        HEARTH_TRY(check_hyperparameters("TAMER", kTamerHyperparameters, &tamer));
        if (tamer.credit_window.empty() || tamer.credit_window.size() > 64)
            return invalid_argument("TAMER: credit for " +
                                    std::to_string(tamer.credit_window.size()) +
                                    " decisions, expected 1 to 64");
        for (const double c : tamer.credit_window)
            if (!(c > 0 && c <= 100))
                return invalid_argument("TAMER: a credit of " + std::to_string(c) +
                                        ", expected more than 0, at most 100");
        return {};
    };
    const TamerBuilder b{schema, tamer, seed, net};
    return trace_entries(
        check(), seed, tamer.limits,
        {{"act", [&](Trace& t) { net.act(t, "judge", tamer.normalize_observations); }},
         {"store", [&](Trace& t) { b.store(t); }},
         {"frame", [&](Trace& t) { b.frame(t); }},
         {"learn", [&](Trace& t) { b.learn(t); }}});
}

}  // namespace

template <>
const LearnerDef& learner_def<Dqn>() {
    static const LearnerDef def = define_learner<Dqn, build_dqn>({
        .name = "dqn",
        .title = "DQN",
        .paper = "Mnih et al., \"Human-level control through deep reinforcement learning\", 2015",
        .algorithm = Algorithm::kDqn,
        .hyperparameters = kDqnHyperparameters,
        .entries = kDqnEntries,
        .set_schedule = set_learning_starts<Dqn>,
    });
    return def;
}

template <>
const LearnerDef& learner_def<Tamer>() {
    static const LearnerDef def = define_learner<Tamer, build_tamer>({
        .name = "tamer",
        .title = "TAMER",
        .paper = "Knox and Stone, \"Interactively Shaping Agents via Human Reinforcement\", 2009",
        .algorithm = Algorithm::kTamer,
        .hyperparameters = kTamerHyperparameters,
        .entries = kTamerEntries,
    });
    return def;
}

}  // namespace hearth::agents
