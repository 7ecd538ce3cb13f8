// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Supervised learners: behaviour cloning and online regression, from rings that grow.

#include "agents/replay.hpp"

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

    std::unique_ptr<Trace> act() const {
        auto owner = std::make_unique<Trace>("act");
        Trace& trace = *owner;
        const Tensor observation = trace.input("observation", {kRows, schema.observation_width()});
        const Tensor mask = mask_input(trace);
        const ActionSample said = decide(trace, observation, mask, trace.input("explore", {}));
        output_decision(trace, schema, said.action, said.log_probability);
        const std::string read[] = {"actor"};
        read_copies(trace, kPublished, read);
        return owner;
    }

    /// Only acts: what is learned comes from a person, through `store`.
    std::unique_ptr<Trace> frame() const {
        auto owner = std::make_unique<Trace>("frame");
        Trace& trace = *owner;
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
        return owner;
    }

    std::unique_ptr<Trace> store() const {
        auto owner = std::make_unique<Trace>("store");
        Trace& trace = *owner;
        StatusWriter status(trace, "store");
        const Tensor observation = trace.input("observation", {kRows, schema.observation_width()});
        const Tensor mask = mask_input(trace);
        const Tensor action = trace.input("action", {kRows, schema.action_width()});
        const Tensor is_sound =
            logical_and(rows_are_finite(observation), is_possible(schema, action));
        ReplayRing ring(trace, clone.capacity);
        const Tensor place = ring.push(is_sound);
        write_rows(ring.column("observation", schema.observation_width()), place, observation);
        write_rows(ring.column("decision", schema.action_width()), place,
                   policy_action(schema, action));
        if (mask.ok()) write_rows(ring.column("mask", schema.mask_width()), place, mask);
        status.add(Counter::kSamples, sum(number(is_sound)));
        status.add(Counter::kSamplesRefused, sum(number(logical_not(is_sound))));
        const Normalizer normalizer = own_normalizer(trace, schema, clone.normalize_observations);
        count_limited_observations(status, schema, observation, normalizer,
                                   clone.rails.observation_limit);
        if (normalizer.mean.ok())
            RunningStatistics::declare(trace, "observations", encoded_width(schema))
                .merge(encode_frame(schema, slice(observation, -1, 0, schema.frame_width())),
                       number(is_sound));
        (void)status.finish();
        return owner;
    }

    std::unique_ptr<Trace> learn() const {
        auto owner = std::make_unique<Trace>("learn");
        Trace& trace = *owner;
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
        const Policy p = policy(trace, observation, mask,
                                own_normalizer(trace, schema, clone.normalize_observations));
        const Tensor loss = clone.loss == CloneLoss::kSquared
                                ? squared_loss(p.head, mask, decision)
                                : neg(mean(p.distribution.log_probability(decision)));
        status.set(Diagnostic::kEntropy, mean(p.distribution.entropy()));
        const Guard guard(trace);
        const LearnGroup groups[] = {
            {.loss = loss,
             .params = nn::params_under(trace, {"actor"}),
             .optimizer = "adam",
             .learning_rate = rate_of(trace, "learning_rate", clone.learning_rate)}};
        (void)guarded_step(status, guard, groups, clone.rails,
                           greater_equal(ring.size(), static_cast<double>(clone.warmup)));
        status.set(Diagnostic::kLoss, loss);
        status.set(Diagnostic::kPolicyLoss, loss);
        (void)status.finish();
        return owner;
    }

    /// Mean squared distance of numbers, and the cross-entropy of each choice.
    Tensor squared_loss(const Tensor& head, const Tensor& mask, const Tensor& decision) const {
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
                term = cross_entropy(logits, cast(squeeze(wanted, {-1}), DType::kI32));
            } else {
                term = mse_loss(own, wanted);
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
        if (network.memory_width > 0)
            return unsupported("cloning: networks with memory; expected one without");
        return {};
    };
    if (Status s = check(); !s.ok()) return failed_traces(std::move(s));
    const CloneBuilder builder{schema, network, clone, seed};
    Traces traces;
    traces.push_back(builder.act());
    traces.push_back(builder.store());
    traces.push_back(builder.frame());
    traces.push_back(builder.learn());
    traces.push_back(trace_publish(*traces[0]));
    traces.push_back(trace_adapt(*traces[3], seed));
    return traces;
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
    if (Status s = check(); !s.ok()) return failed_traces(std::move(s));
    const auto predict = [&](Trace& trace, const Tensor& input) {
        const Tensor seen = clamp(where(less_equal(abs(input), 1e30), input, 0.0), -1e4, 1e4);
        const NetworkResult net = network.call(trace, "net", seen, {});
        return dense(trace, "net.head", net.features, r.output_width, 1, seed);
    };
    Traces traces;
    const auto add = [&](const char* name) -> Trace& {
        traces.push_back(std::make_unique<Trace>(name));
        return *traces.back();
    };
    Trace& predicting = add("predict");
    predicting.output("output",
                      predict(predicting, predicting.input("input", {kRows, r.input_width})));
    predicting.output("version",
                      identity(predicting.state("published.version", {}, {}, DType::kU32)));
    const std::string read[] = {"net"};
    read_copies(predicting, kPublished, read);

    Trace& store = add("store");
    StatusWriter stored(store, "store");
    const Tensor input = store.input("input", {kRows, r.input_width});
    const Tensor target = store.input("target", {kRows, r.output_width});
    const Tensor is_sound = logical_and(rows_are_finite(input), rows_are_finite(target));
    ReplayRing ring(store, r.capacity);
    const Tensor place = ring.push(is_sound);
    write_rows(ring.column("input", r.input_width), place, input);
    write_rows(ring.column("target", r.output_width), place,
               clamp(target, -r.target_limit, r.target_limit));
    stored.add(Counter::kRewardsClamped,
               sum(number(logical_and(is_sound, greater(max(abs(target), {-1}), r.target_limit)))));
    stored.add(Counter::kSamples, sum(number(is_sound)));
    stored.add(Counter::kSamplesRefused, sum(number(logical_not(is_sound))));
    (void)stored.finish();

    Trace& learn = add("learn");
    StatusWriter learned(learn, "learn");
    const ReplayRing source(learn, r.capacity);
    const Tensor drawn =
        source.draw(run_counter(learn, "learn.draws"), random_key("replay", seed), r.batch);
    const Tensor output = predict(learn, gather(source.column("input", r.input_width), drawn));
    const Tensor wanted = gather(source.column("target", r.output_width), drawn);
    const Tensor loss =
        r.huber > 0 ? huber_loss(output, wanted, r.huber) : mse_loss(output, wanted);
    const Guard guard(learn);
    const LearnGroup groups[] = {
        {.loss = loss,
         .params = nn::params_under(learn, {"net"}),
         .optimizer = "adam",
         .learning_rate = rate_of(learn, "learning_rate", r.learning_rate)}};
    (void)guarded_step(learned, guard, groups, r.rails,
                       greater_equal(source.size(), static_cast<double>(r.warmup)));
    learned.set(Diagnostic::kLoss, loss);
    (void)learned.finish();
    traces.push_back(trace_publish(*traces[0]));
    traces.push_back(trace_adapt(*traces[2], seed));
    return traces;
}

}  // namespace hearth::agents
