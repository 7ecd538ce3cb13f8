// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Deep Q-learning, and learning from praise (TAMER): both estimate a value for each choice.

#include "model/agents/replay.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>

#include <cmath>
#include <string>

namespace hearth::agents {

namespace {

constexpr double kAbsent = -1e8;

/// Values of all choices: [rows, choices] for each action of a schema.
using Values = std::vector<Tensor>;

struct ChoiceNet {
    const AgentSchema& schema;
    const Network& network;
    uint64_t seed;
    bool is_dueling;
    double limit;

    Values values(Trace& trace, const std::string& prefix, const Tensor& observation,
                  const Normalizer& normalizer) const {
        EncodeOptions options;
        options.normalizer = normalizer;
        options.limit = limit;
        const Tensor features = encode(trace, prefix, schema, observation, options);
        const NetworkResult net = network.call(trace, prefix, features, {});
        Values values;
        Tensor base;
        if (is_dueling)
            base = dense(trace, prefix + ".value", net.features, 1, 1, seed, network.heads);
        for (const Action& a : schema.actions()) {
            const Tensor own = dense(trace, prefix + ".choices." + a.name, net.features, a.count,
                                     is_dueling ? 0.01 : 1, seed, network.heads);
            values.push_back(is_dueling ? base + own - mean(own, {-1}, true) : own);
        }
        return values;
    }

    /// Values with masked choices at kAbsent; a mask that excludes all choices is ignored.
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
            const Tensor is_any = greater(max(there, {-1}, true), 0);
            out.push_back(
                where(logical_or(greater(there, 0), logical_not(is_any)), values[i], kAbsent));
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
        const Tensor counter = run_counter(trace, "act.steps");
        const Tensor draw = random_uniform(counter, random_key("act.explore", seed), {kRows, 1});
        const Tensor is_random = less(draw, explore);
        std::vector<Tensor> columns;
        for (size_t i = 0; i < values.size(); ++i) {
            const Tensor even = where(less_equal(values[i], kAbsent), kAbsent, values[i] * 0.0);
            const Tensor any =
                categorical(counter, random_key("act." + schema.actions()[i].name, seed), even);
            columns.push_back(where(is_random, unsqueeze(cast(any, DType::kF32), {-1}),
                                    cast(argmax(values[i], -1, true), DType::kF32)));
        }
        return columns.size() == 1 ? columns[0] : concat(columns, -1);
    }

    void act(Trace& trace, const std::string& prefix, bool normalizes) const {
        const Tensor observation = trace.input("observation", {kRows, schema.observation_width()});
        const Tensor mask =
            schema.mask_width() > 0 ? trace.input("mask", {kRows, schema.mask_width()}) : Tensor();
        const Tensor explore = trace.input("explore", {});
        output_decision(trace, schema,
                        decide(trace, prefix, normalizes, observation, mask, explore));
        const std::string read[] = {prefix};
        read_copies(trace, kPublished, read);
    }

    void finish_frame(Trace& trace, const Frame& f, const std::string& prefix,
                      bool normalizes) const {
        f.remember(trace, schema,
                   decide(trace, prefix, normalizes, f.observation, f.mask, f.explore));
        const std::string read[] = {prefix};
        read_copies(trace, kPublished, read);
    }

    Status check(const char* learner) const {
        HEARTH_TRY(schema.status());
        for (const Action& a : schema.actions())
            if (!a.is_choice)
                return invalid_argument(std::string(learner) + ": action '" + a.name +
                                        "' is numbers; expected choices");
        if (network.memory_width > 0)
            return unsupported(std::string(learner) +
                               ": networks with memory; expected one without");
        return {};
    }
};

void store_observations(Trace& trace, StatusWriter& status, const AgentSchema& schema,
                        const Transition& t, bool normalizes, double limit) {
    const Normalizer normalizer = own_normalizer(trace, schema, normalizes);
    count_limited_observations(status, schema, t.observation, normalizer, limit);
    if (!normalizer.mean.ok()) return;
    RunningStatistics::declare(trace, "observations", encoded_width(schema))
        .merge(encode_frame(schema, slice(t.observation, -1, 0, schema.frame_width())),
               number(t.is_sound));
}

// --- DQN ---

struct DqnBuilder {
    const AgentSchema& schema;
    const Dqn& dqn;
    uint64_t seed;
    ChoiceNet net;

    bool has_mask() const { return schema.mask_width() > 0; }
    bool has_priority() const { return dqn.priority > 0; }
    /// The largest priority so far, which new samples get.
    static Tensor most_priority(Trace& trace) {
        return trace.transient("replay.most_priority", {}, Init::constant(1));
    }

    /// Accumulates n-step returns in place: adds each new reward, discounted, to the samples of up
    /// to steps - 1 decisions ago.  Each stored return is valid at any time.
    StatusTensors keep(Trace& trace, const Transition& t) const {
        StatusWriter status(trace, "store");
        const Replay& replay = dqn.replay;
        const Tensor reward = limited_rewards(status, t.reward * replay.reward_scale, t.is_sound,
                                              dqn.rails.reward_limit);
        ReplayRing ring(trace, replay.capacity);
        const Tensor place = ring.push(t.is_sound);
        assign_rows(ring.column("observation", schema.observation_width()), place, t.observation);
        assign_rows(ring.column("decision", schema.action_width()), place, t.decision);
        const Tensor rewards = ring.column("reward"), discounts = ring.column("discount");
        const Tensor ends = ring.column("end");
        const Tensor next = ring.column("next_observation", schema.observation_width());

        std::vector<Tensor> places{place}, returns{reward}, powers, next_rows, end_rows, mask_rows;
        const Tensor ones = number(t.is_sound) * 0.0 + 1.0;
        powers.push_back(ones * dqn.gamma);
        const AgentChains chains(trace, replay.agents, dqn.steps - 1);
        for (int64_t back = 0; back + 1 < dqn.steps; ++back) {
            const AgentChains::Link link = chains.link(t.id, back);
            const Tensor nowhere =
                trace.constant(static_cast<double>(replay.capacity), DType::kI32);
            const Tensor before =
                where(logical_and(link.exists, t.is_sound), ring.place_of(link.serial), nowhere);
            const double discount = std::pow(dqn.gamma, static_cast<double>(back + 1));
            places.push_back(before);
            returns.push_back(gather(rewards, before) + reward * discount);
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
        assign_rows(rewards, all, joined(returns));
        assign_rows(discounts, all, joined(powers));
        assign_rows(ends, all, joined(end_rows));
        assign_rows(next, all, joined(next_rows));
        if (has_mask())
            assign_rows(ring.column("next_mask", schema.mask_width()), all, joined(mask_rows));
        if (dqn.steps > 1)
            chains.append(t.id, ring.serials(), logical_and(t.is_sound, less(t.end, 0.5)));
        if (has_priority()) {
            assign_rows(ring.column("priority"), place, ones * most_priority(trace));
        }
        status.add(Counter::kSamples, sum(number(t.is_sound)));
        status.add(Counter::kSamplesRefused, t.refused());
        store_observations(trace, status, schema, t, replay.normalize_observations,
                           dqn.rails.observation_limit);
        t.track_episodes(status, replay.agents);
        return status.finish();
    }

    void store(Trace& trace) const {
        (void)keep(trace, Transition::declare(trace, schema, dqn.replay.agents, {}));
    }

    void frame(Trace& trace) const {
        const Frame f = Frame::declare(trace, schema, dqn.replay.agents);
        gather_status(trace, keep(trace, f.transition));
        net.finish_frame(trace, f, "q", dqn.replay.normalize_observations);
    }

    struct Draw {
        Tensor place;   ///< i32 [batch]: indices of samples
        Tensor weight;  ///< importance weights [batch], at most 1
    };

    Draw draw(Trace& trace, const ReplayRing& ring) const {
        const int64_t batch = dqn.replay.batch;
        const Tensor counter = run_counter(trace, "learn.draws");
        const uint64_t key = random_key("replay", seed);
        if (!has_priority())
            return {ring.draw(counter, key, batch),
                    trace.constant(HostTensor::of(
                        {batch}, std::vector<double>(static_cast<size_t>(batch), 1.0)))};
        // Stratified: one sample per `batch`-th of the total priority (the paper's appendix B.2.1).
        const Tensor priorities = ring.column("priority");
        const Tensor up_to = cumsum(priorities, 0);
        const Tensor total = slice(up_to, 0, ring.capacity() - 1, ring.capacity());
        const Tensor part =
            (cast(iota(trace, {batch}), DType::kF32) + random_uniform(counter, key, {batch})) *
            (1.0 / static_cast<double>(batch));
        const Tensor last =
            maximum(ring.size() - trace.constant(1, DType::kI32), trace.constant(0, DType::kI32));
        const Tensor place =
            minimum(cast(search_sorted(up_to, part * total, true), DType::kI32), last);
        const Tensor probability =
            maximum(gather(priorities, place), 1e-12) / maximum(total, 1e-12);
        const Tensor beta = setting(trace, "correction", dqn.correction);
        const Tensor raw = exp(neg(beta) * log(probability * cast(ring.size(), DType::kF32)));
        return {place, raw / max(raw)};
    }

    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayRing ring(trace, dqn.replay.capacity);
        const Draw drawn = draw(trace, ring);
        const Normalizer normalizer =
            own_normalizer(trace, schema, dqn.replay.normalize_observations);
        const auto picked = [&](const char* name, int64_t width = 0) {
            return gather(ring.column(name, width), drawn.place);
        };
        const Tensor observation = picked("observation", schema.observation_width());
        const Tensor next = picked("next_observation", schema.observation_width());
        const Tensor decision = picked("decision", schema.action_width());
        const Tensor next_mask = has_mask() ? picked("next_mask", schema.mask_width()) : Tensor();

        trace.mirror("target.q", "q");
        const Values now = net.values(trace, "q", observation, normalizer);
        const Values later = net.values(trace, "target.q", next, normalizer);
        const Values judge = dqn.is_double ? net.values(trace, "q", next, normalizer) : later;
        const Tensor choice = ChoiceNet::best(net.masked(judge, next_mask));
        const Tensor next_value = ChoiceNet::mean_of(net.at(later, choice));
        const Tensor end = picked("end");
        const Tensor is_over = logical_and(greater(end, 0.5), less(end, 1.5));
        const Tensor wanted =
            stop_gradient(picked("reward") + picked("discount") * where(is_over, 0.0, next_value));

        Tensor losses, surprise;
        for (const Tensor& value : net.at(now, decision)) {
            const Tensor term = dqn.huber > 0
                                    ? huber_loss(value, wanted, dqn.huber, Reduction::kElements)
                                    : square(value - wanted);
            const Tensor off = abs(value - wanted);
            losses = losses.ok() ? losses + term : term;
            surprise = surprise.ok() ? surprise + off : off;
        }
        const auto branches = static_cast<double>(schema.actions().size());
        const Tensor loss = mean(losses * drawn.weight) / branches;
        const auto also = [&] {
            if (has_priority()) {
                const Tensor priority = exp(log(surprise / branches + 1e-6) * dqn.priority);
                assign_rows(ring.column("priority"), drawn.place, priority);
                const Tensor most = most_priority(trace);
                trace.assign(most, maximum(most, max(priority)));
            }
            if (dqn.target_period == 1) return follow(trace, "target.q", "q", dqn.target_rate);
            const Tensor since = trace.state("learn.since_target", {}, {}, DType::kI32);
            const Tensor count = since + 1.0;
            // Tied to the loss, so `since` is read before it changes and needs no copy.
            const Tensor moves = logical_and(
                is_finite(loss), greater_equal(count, static_cast<double>(dqn.target_period)));
            trace.assign(since, where(moves, trace.constant(0, DType::kI32), count));
            follow(trace, "target.q", "q", Rate(number(moves) * dqn.target_rate));
        };
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::params_under(trace, {"q"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", dqn.learning_rate)}},
             .rails = dqn.rails,
             .may_learn = greater_equal(ring.size(), static_cast<double>(dqn.replay.warmup)),
             .also = also});
        status.set(Diagnostic::kLoss, loss);
        status.set(Diagnostic::kValueLoss, loss);
        (void)status.finish();
    }
};

// --- Praise (TAMER) ---

struct PraiseBuilder {
    const AgentSchema& schema;
    const Praise& praise;
    uint64_t seed;
    ChoiceNet net;

    /// The number of judged decisions.
    static Tensor judged_count(Trace& trace) { return trace.transient("praise.count", {}); }

    // The label of a decision is the mean of the praise that it received, weighted by credit.
    //
    // In `store`, the praise was given before the decision that comes with it; in `frame`
    // (is_after), it also applies to the decision that is being stored.
    StatusTensors keep(Trace& trace, const Transition& t, const Tensor& said, bool is_after) const {
        StatusWriter status(trace, "store");
        const Tensor is_said = logical_and(less_equal(abs(said), 1e30), not_equal(said, 0));
        status.add(Counter::kRewardsClamped, sum(number(greater(abs(said), 1.0))));
        const Tensor amount = clamp(where(is_said, said, 0.0), -1, 1);

        ReplayRing ring(trace, praise.capacity);
        const Tensor place = ring.push(t.is_sound);
        assign_rows(ring.column("observation", schema.observation_width()), place, t.observation);
        assign_rows(ring.column("decision", schema.action_width()), place, t.decision);
        const Tensor labels = ring.column("label"), weights = ring.column("weight");
        const auto length = static_cast<int64_t>(praise.credit.size());
        const AgentChains chains(trace, praise.agents, length);
        const Tensor zeros = amount * 0.0;
        std::vector<Tensor> places{place}, label_rows{zeros}, weight_rows{zeros};
        if (is_after) {
            label_rows[0] = amount * praise.credit[0];
            weight_rows[0] = number(is_said) * praise.credit[0];
        }
        const int64_t skipped = is_after ? 1 : 0;
        const Tensor is_agent =
            logical_and(greater_equal(t.id, 0), less(t.id, static_cast<double>(praise.agents)));
        for (int64_t back = 0; back + skipped < length; ++back) {
            const AgentChains::Link link = chains.link(t.id, back);
            const Tensor nowhere =
                trace.constant(static_cast<double>(praise.capacity), DType::kI32);
            const Tensor meant = logical_and(is_agent, logical_and(link.exists, is_said));
            const Tensor before = where(meant, ring.place_of(link.serial), nowhere);
            const double credit = praise.credit[static_cast<size_t>(back + skipped)];
            places.push_back(before);
            label_rows.push_back(gather(labels, before) + amount * credit);
            weight_rows.push_back(gather(weights, before) + zeros + credit);
        }
        const Tensor all = concat(places, 0);
        assign_rows(labels, all, concat(label_rows, 0));
        assign_rows(weights, all, concat(weight_rows, 0));
        chains.append(t.id, ring.serials(), t.is_sound);
        const Tensor judged = judged_count(trace);
        trace.assign(judged, minimum(judged + sum(number(is_said)), 1e6));
        status.add(Counter::kSamples, sum(number(t.is_sound)));
        status.add(Counter::kSamplesRefused, t.refused());
        store_observations(trace, status, schema, t, praise.normalize_observations,
                           praise.rails.observation_limit);
        return status.finish();
    }

    void store(Trace& trace) const {
        const Transition t = Transition::declare(trace, schema, praise.agents,
                                                 {.outcome = false, .next_mask = false});
        (void)keep(trace, t, trace.input("praise", {kRows}), false);
    }

    void frame(Trace& trace) const {
        const Frame f = Frame::declare(trace, schema, praise.agents, "praise");
        Transition t = f.transition;
        const Tensor said = t.reward;
        t.reward = {};
        t.check(schema, praise.agents);  // praise does not affect whether a decision is valid
        gather_status(trace, keep(trace, t, said, true));
        net.finish_frame(trace, f, "judge", praise.normalize_observations);
    }

    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayRing ring(trace, praise.capacity);
        const Tensor weights = ring.column("weight"), labels = ring.column("label");
        // Samples judged decisions only, with probability proportional to their credit.
        const Tensor up_to = cumsum(weights, 0);
        const Tensor total = slice(up_to, 0, praise.capacity - 1, praise.capacity);
        const Tensor u = random_uniform(run_counter(trace, "learn.draws"),
                                        random_key("replay", seed), {praise.batch});
        const Tensor place =
            minimum(cast(search_sorted(up_to, u * total, true), DType::kI32),
                    trace.constant(static_cast<double>(praise.capacity - 1), DType::kI32));
        const Tensor weight = gather(weights, place);
        const Tensor label = gather(labels, place) / maximum(weight, 1e-6);
        const Tensor observation =
            gather(ring.column("observation", schema.observation_width()), place);
        const Tensor decision = gather(ring.column("decision", schema.action_width()), place);
        const Values values =
            net.values(trace, "judge", observation,
                       own_normalizer(trace, schema, praise.normalize_observations));
        const Tensor loss = mse_loss(ChoiceNet::mean_of(net.at(values, decision)), label);
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::params_under(trace, {"judge"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", praise.learning_rate)}},
             .rails = praise.rails,
             .may_learn =
                 logical_and(greater_equal(judged_count(trace), static_cast<double>(praise.warmup)),
                             greater(reshape(total, {}), 0))});
        status.set(Diagnostic::kLoss, loss);
        (void)status.finish();
    }
};

}  // namespace

Traces trace_agents(const AgentSchema& schema, const Network& network, const Dqn& dqn,
                    uint64_t seed) {
    const ChoiceNet net{schema, network, seed, dqn.is_dueling, dqn.rails.observation_limit};
    const auto check = [&]() -> Status {
        HEARTH_TRY(net.check("DQN"));
        HEARTH_TRY(check_replay("DQN", dqn.replay));
        HEARTH_TRY(check_positive("DQN", "target_period", dqn.target_period));
        if (dqn.steps < 1 || dqn.steps > 16)
            return invalid_argument("DQN: returns of " + std::to_string(dqn.steps) +
                                    " steps, expected 1 to 16");
        if (dqn.replay.capacity < 2 * dqn.steps * dqn.replay.agents)
            return invalid_argument("DQN: a ring of " + std::to_string(dqn.replay.capacity) +
                                    " is too small for " + std::to_string(dqn.replay.agents) +
                                    " agents and returns of " + std::to_string(dqn.steps) +
                                    " steps");
        return {};
    };
    const DqnBuilder b{schema, dqn, seed, net};
    return trace_entries(
        check(), seed, dqn.rails,
        {{"act", [&](Trace& t) { net.act(t, "q", dqn.replay.normalize_observations); }},
         {"store", [&](Trace& t) { b.store(t); }},
         {"frame", [&](Trace& t) { b.frame(t); }},
         {"learn", [&](Trace& t) { b.learn(t); }}});
}

Traces trace_agents(const AgentSchema& schema, const Network& network, const Praise& praise,
                    uint64_t seed) {
    const ChoiceNet net{schema, network, seed, false, praise.rails.observation_limit};
    const auto check = [&]() -> Status {
        HEARTH_TRY(net.check("praise"));
        HEARTH_TRY(check_replay("praise", {.agents = praise.agents,
                                           .capacity = praise.capacity,
                                           .batch = praise.batch,
                                           .warmup = praise.warmup}));
        if (praise.credit.empty() || praise.credit.size() > 64)
            return invalid_argument("praise: credit for " + std::to_string(praise.credit.size()) +
                                    " decisions, expected 1 to 64");
        for (const double c : praise.credit)
            if (!(c > 0 && c <= 100))
                return invalid_argument("praise: a credit of " + std::to_string(c) +
                                        ", expected more than 0, at most 100");
        return {};
    };
    const PraiseBuilder b{schema, praise, seed, net};
    return trace_entries(
        check(), seed, praise.rails,
        {{"act", [&](Trace& t) { net.act(t, "judge", praise.normalize_observations); }},
         {"store", [&](Trace& t) { b.store(t); }},
         {"frame", [&](Trace& t) { b.frame(t); }},
         {"learn", [&](Trace& t) { b.learn(t); }}});
}

}  // namespace hearth::agents
