// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Supervised learners on replay buffers: behavior cloning and online regression.

#include "model/agents/replay.hpp"

#include <hearth/nn.hpp>

#include <string>

namespace hearth::agents {

namespace {

struct CloneBuilder {
    const AgentSchema& schema;
    const Network& network;
    const Clone& clone;
    uint64_t seed;

    struct Policy {
        ActionDistribution distribution;
        Tensor head;
    };

    Policy policy(Trace& trace, const Tensor& observation, const Tensor& mask,
                  const Normalizer& normalizer) const {
        EncodeOptions options;
        options.normalizer = normalizer;
        options.limit = clone.rails.observation_limit;
        const Tensor features = encode(trace, "actor", schema, observation, options);
        const NetworkResult net = network.call(trace, "actor", features, {});
        const Tensor head = dense(trace, "actor.head", net.features,
                                  ActionDistribution::head_width(schema), 0.01, seed);
        Tensor log_deviation;
        if (const int64_t count = ActionDistribution::number_count(schema); count > 0)
            log_deviation = clamp(trace.param("actor.log_deviation", {count},
                                              Init::constant(clone.first_log_deviation)),
                                  clone.least_log_deviation, clone.most_log_deviation);
        return {ActionDistribution(schema, head, mask, log_deviation), head};
    }

    Tensor mask_input(Trace& trace) const {
        return schema.mask_width() > 0 ? trace.input("mask", {kRows, schema.mask_width()})
                                       : Tensor();
    }

    ActionSample decide(Trace& trace, const Tensor& observation, const Tensor& mask,
                        const Tensor& explore) const {
        const Policy p = policy(trace, observation, mask,
                                published_normalizer(trace, schema, clone.normalize_observations));
        const ActionSample sample =
            p.distribution.sample(run_counter(trace, "act.steps"), random_key("act", seed));
        const Tensor likeliest = p.distribution.mode();
        const Tensor explores = greater(explore, 0.5);
        return {where(explores, sample.action, likeliest),
                where(explores, sample.log_probability, p.distribution.log_probability(likeliest))};
    }

    void act(Trace& trace) const {
        const Tensor observation = trace.input("observation", {kRows, schema.observation_width()});
        const Tensor mask = mask_input(trace);
        const ActionSample said = decide(trace, observation, mask, trace.input("explore", {}));
        output_decision(trace, schema, said.action, said.log_probability);
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
    }

    /// Only acts: demonstrations come from a person, through `store`.
    void frame(Trace& trace) const {
        Frame f;
        f.agents = clone.agents;
        f.id = cast(trace.input("id", {kRows}, DType::kU32), DType::kI32);
        const Tensor observation = trace.input("observation", {kRows, schema.observation_width()});
        const Tensor mask = mask_input(trace);
        const ActionSample said = decide(trace, observation, mask, trace.input("explore", {}));
        f.remember(trace, "action", game_action(schema, said.action));
        gather_status(trace, {});
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
    }

    void store(Trace& trace) const {
        StatusWriter status(trace, "store");
        const Demonstration shown = Demonstration::declare(trace, schema);
        ReplayRing ring(trace, clone.capacity);
        const Tensor place = shown.store(status, schema, ring);
        if (is_capped()) assign_rows(ring.column("source"), place, trace.input("source", {kRows}));
        const Normalizer normalizer = own_normalizer(trace, schema, clone.normalize_observations);
        count_limited_observations(status, schema, shown.observation, normalizer,
                                   clone.rails.observation_limit);
        if (normalizer.mean.ok())
            RunningStatistics::declare(trace, "observations", encoded_width(schema))
                .merge(encode_frame(schema, slice(shown.observation, -1, 0, schema.frame_width())),
                       number(shown.is_sound));
        (void)status.finish();
    }

    void learn(Trace& trace) const {
        StatusWriter status(trace, "learn");
        const ReplayRing ring(trace, clone.capacity);
        const Tensor counter = run_counter(trace, "learn.draws");
        const Tensor place = ring.draw(counter, random_key("replay", seed), clone.batch);
        const Tensor observation =
            gather(ring.column("observation", schema.observation_width()), place);
        const Tensor decision = gather(ring.column("decision", schema.action_width()), place);
        const Tensor mask = schema.mask_width() > 0
                                ? gather(ring.column("mask", schema.mask_width()), place)
                                : Tensor();
        const Tensor weight =
            is_capped() ? weight_of(gather(ring.column("source"), place)) : Tensor();
        const Policy p = policy(trace, observation, mask,
                                own_normalizer(trace, schema, clone.normalize_observations));
        const Tensor loss = clone.loss == CloneLoss::kSquared
                                ? squared_loss(p.head, mask, decision, weight)
                                : neg(weighted(p.distribution.log_probability(decision), weight));
        status.set(Diagnostic::kEntropy, mean(p.distribution.entropy()));
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::params_under(trace, {"actor"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", clone.learning_rate)}},
             .rails = clone.rails,
             .may_learn = greater_equal(ring.size(), static_cast<double>(clone.warmup))});
        status.set(Diagnostic::kLoss, loss);
        status.set(Diagnostic::kPolicyLoss, loss);
        (void)status.finish();
    }

    bool is_capped() const { return clone.source_share < 1; }

    /// Weight of each sample of a batch, so that no source but the game itself exceeds its share.
    /// source: [batch] -> [batch].
    Tensor weight_of(const Tensor& source) const {
        const Tensor is_same = equal(unsqueeze(source, {1}), unsqueeze(source, {0}));
        const Tensor most =
            source.trace()->constant(clone.source_share * static_cast<double>(clone.batch));
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
            const int64_t width = a.is_choice ? 1 : a.count;
            const Tensor wanted = slice(decision, -1, at, at + width);
            Tensor term;
            if (a.is_choice) {
                Tensor logits = own;
                if (a.masked) {
                    logits =
                        where(greater(slice(mask, -1, mask_at, mask_at + a.count), 0), own, -1e8);
                    mask_at += a.count;
                }
                term = weighted(cross_entropy(logits, cast(squeeze(wanted, {-1}), DType::kI32),
                                              {.reduction = Reduction::kElements}),
                                weight);
            } else {
                term = weighted(mse_loss(own, wanted, Reduction::kElements), weight);
            }
            total = total.ok() ? total + term : term;
            head_at += a.count;
            at += width;
        }
        return total;
    }
};

}  // namespace

Traces trace_agents(const AgentSchema& schema, const Network& network, const Clone& clone,
                    uint64_t seed) {
    const auto check = [&]() -> Status {
        HEARTH_TRY(schema.status());
        HEARTH_TRY(check_replay(
            "cloning", {.capacity = clone.capacity, .batch = clone.batch, .warmup = clone.warmup}));
        if (!(clone.source_share > 0 && clone.source_share <= 1))
            return invalid_argument("cloning: a source_share of " +
                                    std::to_string(clone.source_share) +
                                    ", expected more than 0, at most 1");
        if (network.memory_width > 0)
            return unsupported("cloning: networks with memory; expected one without");
        return {};
    };
    const CloneBuilder b{schema, network, clone, seed};
    return trace_entries(check(), seed, clone.rails,
                         {{"act", [&](Trace& t) { b.act(t); }},
                          {"store", [&](Trace& t) { b.store(t); }},
                          {"frame", [&](Trace& t) { b.frame(t); }},
                          {"learn", [&](Trace& t) { b.learn(t); }}});
}

Traces trace_regression(const Network& network, const Regression& r, uint64_t seed) {
    const auto check = [&]() -> Status {
        HEARTH_TRY(check_positive("regression", "input_width", r.input_width));
        HEARTH_TRY(check_positive("regression", "output_width", r.output_width));
        HEARTH_TRY(check_replay("regression",
                                {.capacity = r.capacity, .batch = r.batch, .warmup = r.warmup}));
        if (network.memory_width > 0)
            return unsupported("regression: networks with memory; expected one without");
        return {};
    };
    const auto network_of = [&](Trace& trace, const Tensor& input) {
        const Tensor seen = clamp(where(less_equal(abs(input), 1e30), input, 0.0), -1e4, 1e4);
        const NetworkResult net = network.call(trace, "net", seen, {});
        return dense(trace, "net.head", net.features, r.output_width, 1, seed);
    };
    const auto predict = [&](Trace& trace) {
        trace.output("output", network_of(trace, trace.input("input", {kRows, r.input_width})));
        trace.output("version", identity(trace.state("published.version", {}, {}, DType::kU32)));
        const std::string read[] = {"net"};
        read_copies(trace, kPublished, read);
    };
    const auto store = [&](Trace& trace) {
        StatusWriter status(trace, "store");
        const Tensor input = trace.input("input", {kRows, r.input_width});
        const Tensor target = trace.input("target", {kRows, r.output_width});
        const Tensor is_sound = logical_and(rows_are_finite(input), rows_are_finite(target));
        ReplayRing ring(trace, r.capacity);
        const Tensor place = ring.push(is_sound);
        assign_rows(ring.column("input", r.input_width), place, input);
        assign_rows(ring.column("target", r.output_width), place,
                    clamp(target, -r.target_limit, r.target_limit));
        status.add(
            Counter::kRewardsClamped,
            sum(number(logical_and(is_sound, greater(max(abs(target), {-1}), r.target_limit)))));
        status.add(Counter::kSamples, sum(number(is_sound)));
        status.add(Counter::kSamplesRefused, sum(number(logical_not(is_sound))));
        (void)status.finish();
    };
    const auto learn = [&](Trace& trace) {
        StatusWriter status(trace, "learn");
        const ReplayRing ring(trace, r.capacity);
        const Tensor place =
            ring.draw(run_counter(trace, "learn.draws"), random_key("replay", seed), r.batch);
        const Tensor output = network_of(trace, gather(ring.column("input", r.input_width), place));
        const Tensor wanted = gather(ring.column("target", r.output_width), place);
        const Tensor loss =
            r.huber > 0 ? huber_loss(output, wanted, r.huber) : mse_loss(output, wanted);
        guarded_step(
            status,
            {.groups = {{.loss = loss,
                         .params = nn::params_under(trace, {"net"}),
                         .optimizer = "adam",
                         .learning_rate = rate_of(trace, "learning_rate", r.learning_rate)}},
             .rails = r.rails,
             .may_learn = greater_equal(ring.size(), static_cast<double>(r.warmup))});
        status.set(Diagnostic::kLoss, loss);
        (void)status.finish();
    };
    return trace_entries(check(), seed, r.rails,
                         {{"predict", predict}, {"store", store}, {"learn", learn}});
}

}  // namespace hearth::agents
