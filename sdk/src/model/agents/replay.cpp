// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Replay buffers, transitions, guarded gradient steps, and the `adapt` entry of agent learners.

#include "model/agents/replay.hpp"

#include "compiler/ir/graph.hpp"

#include <hearth/grad.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace hearth::agents {

// --- Replay buffers ---

ReplayBuffer::ReplayBuffer(Trace& trace, int64_t capacity, std::string scope)
    : trace_(&trace),
      scope_(std::move(scope)),
      capacity_(capacity),
      cursor_(trace.non_persistent_state(scope_ + ".cursor", {}, {}, DType::kI32)),
      size_(trace.non_persistent_state(scope_ + ".size", {}, {}, DType::kI32)),
      serial_(trace.non_persistent_state(scope_ + ".serial", {}, {}, DType::kU32)) {}

Tensor ReplayBuffer::column(const std::string& name, int64_t width, DType dtype,
                            const Init& init) const {
    const Shape shape = width == 0 ? Shape{capacity_} : Shape{capacity_, width};
    return trace_->non_persistent_state(scope_ + "." + name, shape, init, dtype);
}

Tensor ReplayBuffer::push(const Tensor& is_sound) {
    if (!is_sound.ok()) return is_sound;
    const Tensor one = cast(is_sound, DType::kI32);
    const Tensor before = cumsum(one, 0, true), count = sum(one);
    const Tensor capacity = trace_->constant(static_cast<double>(capacity_), DType::kI32);
    serials_ = serial_ + cast(before, DType::kU32);
    trace_->assign(cursor_, mod(cursor_ + count, capacity));
    trace_->assign(size_, minimum(size_ + count, capacity));
    trace_->assign(serial_, serial_ + cast(count, DType::kU32));
    return where(is_sound, mod(cursor_ + before, capacity), capacity);
}

// Ages are differences of u32 serials, which stay correct when the sample count wraps around 2^32.
Tensor ReplayBuffer::place_of(const Tensor& serials) const {
    const Tensor capacity = trace_->constant(static_cast<double>(capacity_), DType::kI32);
    const Tensor age = serial_ - serials;
    const Tensor is_there = logical_and(less_equal(age, cast(size_, DType::kU32)), greater(age, 0));
    const Tensor back = cast(where(is_there, age, trace_->constant(0, DType::kU32)), DType::kI32);
    return where(is_there, mod(cursor_ - back + capacity, capacity), capacity);
}

Tensor ReplayBuffer::draw(const Tensor& counter, uint64_t key, int64_t count) const {
    const Tensor u = random_uniform(counter, key, {count});
    const Tensor last =
        maximum(size_ - trace_->constant(1, DType::kI32), trace_->constant(0, DType::kI32));
    return minimum(cast(floor(u * cast(size_, DType::kF32)), DType::kI32), last);
}

AgentChains::AgentChains(Trace& trace, int64_t agents, int64_t length)
    : length_(length),
      serials_(trace.non_persistent_state("replay.chain", {agents, std::max<int64_t>(length, 1)},
                                          {}, DType::kU32)),
      lengths_(trace.non_persistent_state("replay.chain_length", {agents}, {}, DType::kI32)) {}

AgentChains::Link AgentChains::link(const Tensor& id, int64_t back) const {
    const Tensor all = squeeze(slice(serials_, 1, back, back + 1), {1});
    return {take(all, id), greater(take(lengths_, id), static_cast<double>(back))};
}

void AgentChains::append(const Tensor& id, const Tensor& serials, const Tensor& goes_on) const {
    if (!id.ok() || !serials.ok()) return;
    const Tensor now = unsqueeze(serials, {-1});
    const Tensor next =
        length_ > 1 ? concat({now, slice(take(serials_, id), 1, 0, length_ - 1)}, 1) : now;
    index_copy_(serials_, id, next);
    const Tensor longer = clamp(take(lengths_, id) + 1.0, 0, static_cast<double>(length_));
    index_copy_(lengths_, id, where(goes_on, longer, 0.0));
}

// --- Stored samples ---

Tensor is_possible(const AgentSpec& schema, const Tensor& decision) {
    Tensor sound = rows_are_finite(decision);
    int64_t at = 0;
    for (const Action& a : schema.actions()) {
        if (a.is_discrete) {
            const Tensor index = squeeze(slice(decision, -1, at, at + 1), {-1});
            sound = logical_and(sound, logical_and(greater_equal(index, 0),
                                                   less(index, static_cast<double>(a.count))));
        }
        at += a.is_discrete ? 1 : a.count;
    }
    return sound;
}

Transition Transition::declare(Trace& trace, const AgentSpec& schema, int64_t agents, Parts parts) {
    const auto rows = [&](const char* name, int64_t width) {
        return trace.input(name, {kBatch, width});
    };
    const bool has_mask = schema.mask_size() > 0;
    Transition t;
    t.id = cast(trace.input("id", {kBatch}, DType::kU32), DType::kI32);
    t.observation = rows("observation", schema.observation_size());
    if (has_mask) t.mask = rows("mask", schema.mask_size());
    t.decision = rows("decision", schema.action_size());
    if (parts.outcome) {
        t.reward = trace.input("reward", {kBatch});
        t.end = trace.input("done_kind", {kBatch});
        t.next_observation = rows("next_observation", schema.observation_size());
        if (has_mask && parts.next_mask) t.next_mask = rows("next_mask", schema.mask_size());
    }
    t.check(schema, agents);
    return t;
}

void Transition::check(const AgentSpec& schema, int64_t agents) {
    is_sound = logical_and(rows_are_finite(observation), is_possible(schema, decision));
    if (next_observation.ok()) is_sound = logical_and(is_sound, rows_are_finite(next_observation));
    if (reward.ok() && end.ok())
        is_sound =
            logical_and(is_sound, rows_are_finite(stack(std::vector<Tensor>{reward, end}, 1)));
    is_real = logical_and(greater_equal(id, 0), less(id, static_cast<double>(agents)));
    if (exists.ok()) is_real = logical_and(is_real, exists);
    is_sound = logical_and(is_sound, is_real);
}

Demonstration Demonstration::declare(Trace& trace, const AgentSpec& schema) {
    Demonstration d;
    d.observation = trace.input("observation", {kBatch, schema.observation_size()});
    if (schema.mask_size() > 0) d.mask = trace.input("mask", {kBatch, schema.mask_size()});
    d.action = trace.input("action", {kBatch, schema.action_size()});
    d.is_sound = logical_and(rows_are_finite(d.observation), is_possible(schema, d.action));
    return d;
}

Tensor Demonstration::store(StatusWriter& status, const AgentSpec& schema,
                            ReplayBuffer& ring) const {
    const Tensor place = ring.push(is_sound);
    index_copy_(ring.column("observation", schema.observation_size()), place, observation);
    index_copy_(ring.column("decision", schema.action_size()), place, scale_action(schema, action));
    if (mask.ok()) index_copy_(ring.column("mask", schema.mask_size()), place, mask);
    status.add(Counter::kSamples, sum(number(is_sound)));
    status.add(Counter::kSamplesRejected, sum(number(logical_not(is_sound))));
    return place;
}

Tensor Transition::refused() const {
    const Tensor is_bad = logical_not(is_sound);
    return sum(number(exists.ok() ? logical_and(exists, is_bad) : is_bad));
}

void Transition::track_episodes(StatusWriter& status, int64_t agents) const {
    if (!id.ok() || !end.ok()) return;
    Trace& trace = *id.trace();
    const Tensor returns = trace.non_persistent_state("episodes.return", {agents});
    const Tensor lengths = trace.non_persistent_state("episodes.length", {agents});
    const Tensor sum_now =
        clamp(where(is_real, take(returns, id) + where(is_sound, reward, 0.0), 0.0), -kFarthest,
              kFarthest);
    const Tensor length_now = where(is_real, take(lengths, id) + 1.0, 0.0);
    const Tensor is_over = logical_and(greater(end, 0.5), is_real);
    const Tensor finished = sum(number(is_over));
    index_copy_(returns, id, where(is_over, 0.0, sum_now));
    index_copy_(lengths, id, where(is_over, 0.0, length_now));
    average_episodes(status, is_over, finished, sum_now, length_now);
}

void average_episodes(StatusWriter& status, const Tensor& is_over, const Tensor& finished,
                      const Tensor& returns, const Tensor& lengths) {
    if (!finished.ok()) return;
    Trace& trace = *finished.trace();
    // A plain mean at first, then an exponential average over about twenty episodes.
    const Tensor seen = trace.state("episodes.seen", {});
    const Tensor all = seen + finished;
    trace.assign(seen, minimum(all, 20.0));
    const Tensor weight = finished / maximum(all, 1.0);
    const auto average = [&](AgentMetric d, const Tensor& values) {
        const Tensor mean_now = sum(where(is_over, values, 0.0)) / maximum(finished, 1.0);
        const Tensor before = status.value(d);
        status.set(d, before + (mean_now - before) * weight);
    };
    average(AgentMetric::kEpisodeReturn, returns);
    average(AgentMetric::kEpisodeLength, lengths);
    status.add(Counter::kEpisodes, finished);
}

Frame Frame::declare(Trace& trace, const AgentSpec& schema, int64_t agents, Options options) {
    const bool has_mask = schema.mask_size() > 0;
    const int64_t width = schema.observation_size();
    const bool has_reward = std::string_view(options.said) == "reward";
    Frame f;
    f.agents = agents;
    f.id = cast(trace.input("id", {kBatch}, DType::kU32), DType::kI32);
    f.observation = trace.input("observation", {kBatch, width});
    if (has_mask) f.mask = trace.input("mask", {kBatch, schema.mask_size()});
    f.explore = trace.input("exploration", {});
    Transition& t = f.transition;
    t.id = f.id;
    t.reward = trace.input(options.said, {kBatch});
    t.end = trace.input("done_kind", {kBatch});
    const Tensor begins = trace.input("episode_start", {kBatch});
    f.is_first = logical_or(greater(begins, 0.5), greater(t.end, 0.5));
    t.exists = logical_and(less(begins, 0.5), greater(f.last(trace, "exists", 0), 0.5));
    t.observation = f.last(trace, "observation", width);
    if (has_mask) t.mask = f.last(trace, "mask", schema.mask_size());
    t.decision = f.last(trace, "decision", schema.action_size());
    if (has_reward) {
        const Tensor final_observation = trace.input("final_observation", {kBatch, width});
        const Tensor is_cut = unsqueeze(greater(t.end, 1.5), {-1});
        // Truncated episodes bootstrap from the final observation.  After a termination there is no
        // next state: `end` masks the observation of the new episode.
        t.next_observation = where(is_cut, final_observation, f.observation);
        if (has_mask && options.next_mask)
            t.next_mask =
                where(is_cut, trace.input("final_mask", {kBatch, schema.mask_size()}), f.mask);
    }
    t.check(schema, agents);
    return f;
}

Tensor Frame::last(Trace& trace, const char* name, int64_t width) const {
    const Shape shape = width == 0 ? Shape{agents} : Shape{agents, width};
    return take(trace.non_persistent_state("last." + std::string(name), shape), id);
}

void Frame::remember(Trace& trace, const char* name, const Tensor& rows) const {
    if (!rows.ok()) return;
    Shape shape{agents};
    if (rows.rank() == 2) shape.push_back(rows.dim(1));
    index_copy_(trace.non_persistent_state("last." + std::string(name), shape), id, rows);
}

DecisionCounts Frame::finish(Trace& trace, const AgentSpec& schema, const Tensor& decision) const {
    const Acted acted = act_on(decision);
    remember(trace, "observation", observation);
    if (mask.ok()) remember(trace, "mask", mask);
    remember(trace, "decision", acted.decision);
    remember(trace, "exists", number(greater_equal(id, 0)));
    return act(trace, schema, acted);
}

DecisionCounts Frame::act(Trace& trace, const AgentSpec& schema, const Acted& acted) const {
    if (!acted.decision.ok()) return {};
    remember(trace, "action", unscale_action(schema, acted.decision));
    const Tensor by_value = trace.non_persistent_state("agents.actions_replaced",
                                                       {schema.action_size()}, {}, DType::kU32);
    trace.assign(by_value, by_value + cast(sum(acted.replaced, {0}), DType::kU32));
    DecisionCounts counts{{}, sum(acted.replaced)};
    int64_t at = 0;
    for (const Action& a : schema.actions()) {
        if (!a.masked) continue;
        const Tensor most = max(slice(mask, -1, at, at + a.count), {-1});
        at += a.count;
        const Tensor all_masked = sum(number(logical_not(greater(most, 0))));
        counts.all_masked = counts.all_masked.ok() ? counts.all_masked + all_masked : all_masked;
    }
    return counts;
}

WaitingTransitions::WaitingTransitions(Trace& trace, const AgentSpec& schema,
                                       const ReplayOptions& replay, bool has_next_mask)
    : trace_(&trace),
      schema_(&schema),
      agents_(replay.n_agents),
      has_next_mask_(has_next_mask && schema.mask_size() > 0),
      ring_(trace, replay.waiting_decisions * replay.n_agents, "waiting") {}

Tensor WaitingTransitions::column(const std::string& name, int64_t width, DType dtype) const {
    return ring_.column(name, width, dtype);
}

void WaitingTransitions::append(const Transition& t) {
    const Tensor place = ring_.push(t.is_real);
    const int64_t observed = schema_->observation_size();
    index_copy_(column("id", 0, DType::kI32), place, t.id);
    index_copy_(column("observation", observed), place, t.observation);
    index_copy_(column("decision", schema_->action_size()), place, t.decision);
    index_copy_(column("reward", 0), place, t.reward);
    index_copy_(column("end", 0), place, t.end);
    index_copy_(column("next_observation", observed), place, t.next_observation);
    if (has_next_mask_) index_copy_(column("next_mask", schema_->mask_size()), place, t.next_mask);
}

Transition WaitingTransitions::take_oldest() {
    Trace& trace = *trace_;
    const Tensor taken = trace.non_persistent_state("waiting.taken", {}, {}, DType::kU32);
    const Tensor row = trace.input("row", {kBatch}, DType::kU32);
    const Tensor place = ring_.place_of(taken + row);
    const int64_t observed = schema_->observation_size();
    Transition t;
    t.exists = less(place, static_cast<double>(ring_.capacity()));
    t.id = take(column("id", 0, DType::kI32), place);
    t.observation = take(column("observation", observed), place);
    t.decision = take(column("decision", schema_->action_size()), place);
    t.reward = take(column("reward", 0), place);
    t.end = take(column("end", 0), place);
    t.next_observation = take(column("next_observation", observed), place);
    if (has_next_mask_) t.next_mask = take(column("next_mask", schema_->mask_size()), place);
    t.check(*schema_, agents_);
    trace.assign(taken, taken + cast(sum(cast(t.exists, DType::kI32)), DType::kU32));
    return t;
}

int64_t encoded_width(const AgentSpec& schema) {
    int64_t width = 0;
    for (const Field& f : schema.observations()) width += f.encoded_size();
    return width;
}

Tensor limited_rewards(StatusWriter& status, const Tensor& reward, const Tensor& is_sound,
                       double limit) {
    status.add(Counter::kRewardsClamped,
               sum(number(logical_and(is_sound, greater(abs(reward), limit)))));
    return clamp(where(is_sound, reward, 0.0), -limit, limit);
}

void count_observation_limits(StatusWriter& status, const AgentSpec& schema,
                              const Tensor& observation, const Tensor& is_sound,
                              const RunningMeanStd& normalizer, double clip) {
    if (!observation.ok() || schema.frame_size() == 0) return;
    Trace& trace = *observation.trace();
    const int64_t size = schema.frame_size();
    const LimitedElements found =
        elements_at_limit(schema, slice(observation, -1, 0, size), normalizer, clip);
    const Tensor weight = unsqueeze(number(is_sound), {-1});
    const Tensor limited = found.limited * weight;
    status.add(Counter::kObservationsClamped, sum(limited));

    const Tensor before = trace.non_persistent_state(
        "agents.observation_limits", {observation_limit_words(size)}, {}, DType::kU32);
    const Tensor counts =
        concat({sum(limited, {0}), sum(found.unresolved * weight, {0}), sum(weight, {0})}, 0);
    const Tensor after = before + cast(counts, DType::kU32);
    // Halved now and then, so that shares are those of late.
    const Tensor is_full = greater_equal(slice(after, 0, 2 * size, 2 * size + 1),
                                         static_cast<double>(kMostObservationSamples));
    trace.assign(before, where(is_full, div(after, trace.constant(2, DType::kU32)), after));
}

RunningMeanStd published_normalizer(Trace& trace, const AgentSpec& schema, bool is_used) {
    const int64_t width = encoded_width(schema);
    if (!is_used || width == 0) return {};
    const std::string name = std::string(kPublished) + ".state.observations";
    return {trace.state(name + ".mean", {width}),
            trace.state(name + ".variance", {width}, Init::constant(1))};
}

Acted act_on(const Tensor& decision) {
    if (!decision.ok()) return {decision, decision};
    const Tensor is_sound = is_finite(decision);
    return {where(is_sound, decision, 0.0), number(logical_not(is_sound))};
}

void output_decision(Trace& trace, const AgentSpec& schema, const Tensor& decision,
                     const Tensor& log_prob) {
    const Tensor acted = act_on(decision).decision;
    trace.output("action", unscale_action(schema, acted));
    trace.output("decision", identity(acted));
    if (log_prob.ok()) trace.output("log_prob", log_prob);
    trace.output("version", identity(trace.state("published.version", {}, {}, DType::kU32)));
}

RunningMeanStd own_normalizer(Trace& trace, const AgentSpec& schema, bool is_used) {
    if (!is_used || encoded_width(schema) == 0) return {};
    const auto statistics =
        RunningStatistics::declare(trace, "observations", encoded_width(schema));
    return {statistics.mean, statistics.variance};
}

// --- Gradient steps ---

namespace {

Tensor next_value(const Tensor& param) {
    for (const Assignment& u : param.trace()->graph().updates)
        if (u.target == param.value()) return {param.trace(), u.value};
    return param;
}

/// The largest ratio of a step's rms to the rms of its param, which counts as at least 0.05: [].
/// Scalar params are excluded, because they have no typical size.
Tensor largest_update_ratio(const std::vector<LearnGroup>& groups) {
    constexpr double kLeastWeight = 0.05;
    Tensor largest;
    for (const LearnGroup& g : groups)
        for (const Tensor& param : g.params) {
            if (param.rank() == 0) continue;
            const Tensor change = mean(square(next_value(param) - param));
            const Tensor size = maximum(mean(square(param)), kLeastWeight * kLeastWeight);
            const Tensor ratio = change / size;
            largest = largest.ok() ? maximum(largest, ratio) : ratio;
        }
    return sqrt(largest);
}

}  // namespace

void guarded_step(StatusWriter& status, const LearnStep& step) {
    const auto both = [](const Tensor& a, const Tensor& b) {
        return a.ok() ? logical_and(a, b) : b;
    };
    if (step.groups.empty() || !step.groups[0].loss.ok()) return;
    Trace& trace = *step.groups[0].loss.trace();
    ConditionalUpdate guard(trace);
    Tensor is_sound = step.is_sound, largest_norm;
    for (const LearnGroup& g : step.groups) {
        const std::vector<Tensor> gradients =
            g.gradients.empty() ? grad(g.loss, g.params) : g.gradients;
        // The norm is finite only if all gradients are, so they need no reductions of their own.
        const Tensor norm = global_norm(gradients);
        is_sound = both(is_sound, logical_and(is_finite(g.loss), is_finite(norm)));
        largest_norm = largest_norm.ok() ? maximum(largest_norm, norm) : norm;
        adam(g.params, clip_by_global_norm(gradients, step.rails.max_grad_norm),
             AdamOptions{
                 .learning_rate = g.learning_rate, .epsilon = g.epsilon, .name = g.optimizer});
    }
    // Each limit counts only steps that passed the limits before it, so one skip is counted once.
    Tensor may_step = both(step.may_learn, is_sound);
    const Tensor fails = logical_not(is_sound);
    status.add(Counter::kSkippedNonFinite,
               step.may_learn.ok() ? logical_and(step.may_learn, fails) : fails);
    if (step.rails.max_update_ratio > 0) {
        const Tensor ratio = largest_update_ratio(step.groups);
        const Tensor is_small = less_equal(ratio, step.rails.max_update_ratio);
        status.set(AgentMetric::kUpdateToWeightRatio, ratio);
        status.add(Counter::kSkippedRatio, logical_and(may_step, logical_not(is_small)));
        may_step = logical_and(may_step, is_small);
    }
    if (step.also) step.also();
    guard.commit_if(may_step);
    const Tensor skipped = skipped_in_a_row(trace), more = skipped + 1.0;
    trace.assign(skipped, where(may_step, trace.constant(0, DType::kU32),
                                step.may_learn.ok() ? where(step.may_learn, more, skipped) : more));
    status.add(Counter::kGradientSteps, may_step);
    status.set(AgentMetric::kGradientNorm, largest_norm);
}

// --- adapt ---

namespace {

double rms_of(const HostTensor& values) {
    double squares = 0;
    for (int64_t i = 0; i < values.element_count(); ++i) squares += values.get(i) * values.get(i);
    return std::sqrt(squares / static_cast<double>(std::max<int64_t>(values.element_count(), 1)));
}

/// Shrinks and perturbs the params that this `learn` entry trains (Ash and Adams, 2020).
void trace_adapt(Trace& trace, const Trace& learn, uint64_t seed) {
    const Graph& graph = learn.graph();
    const Tensor strength = clamp(trace.input("strength", {}), 0, 1);
    const Tensor counter = random_counter(trace, "shrink_and_perturb.steps", seed);
    const auto is_trained = [&](ValueId id) {
        return std::ranges::any_of(graph.updates,
                                   [&](const Assignment& u) { return u.target == id; });
    };
    const auto init_of = [](const Value& v) {
        return v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
    };
    const auto blend = [&](const Tensor& now, const Tensor& fresh) {
        return now + (fresh - now) * strength;
    };
    // Matrices are redrawn with their initial rms; vectors return to their initial values.
    const auto is_redrawn = [](const Value& v) { return v.shape.rank() >= 2 && v.data; };
    std::vector<ValueId> trained;
    std::vector<double> sizes;
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Value& v = graph.values[id];
        if (v.kind != ValueKind::kParam || !is_trained(id)) continue;
        trained.push_back(id);
        if (is_redrawn(v)) sizes.push_back(rms_of(*v.data));
    }
    const auto count = static_cast<int64_t>(sizes.size());
    const Tensor rms =
        count == 0 ? Tensor()
                   : trace.non_persistent_state(
                         "shrink_and_perturb.initial_rms", {count},
                         Init{Init::Kind::kData, 0, 0, 0,
                              std::make_shared<const HostTensor>(HostTensor::of({count}, sizes))});
    int64_t redrawn = 0;
    for (const ValueId id : trained) {
        const Value& v = graph.values[id];
        const Tensor param = trace.param(v.name, v.shape, init_of(v), v.dtype);
        Tensor fresh = initial_value(trace, v);
        if (is_redrawn(v)) {
            const Tensor size = reshape(slice(rms, 0, redrawn, redrawn + 1), {});
            ++redrawn;
            fresh = random_normal(counter, rng_key("adapt." + v.name), v.shape, 0, 1, v.dtype) *
                    cast(size, v.dtype);
        }
        const Tensor next = blend(param, fresh);
        trace.assign(param, next);
        if (const ValueId target = graph.find("target." + v.name); target != kInvalidId) {
            const Value& t = graph.values[target];
            trace.assign(trace.state(t.name, t.shape, init_of(t), t.dtype), next);
        }
    }
    // Optimizer state: moments beside params, and their bias corrections.
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Value& v = graph.values[id];
        if (v.kind != ValueKind::kState || !is_trained(id)) continue;
        const bool is_correction =
            v.name.ends_with(".correction1") || v.name.ends_with(".correction2");
        const bool is_moment = (v.name.ends_with(".m") || v.name.ends_with(".v")) &&
                               graph.find(v.name.substr(0, v.name.size() - 2)) != kInvalidId;
        if (!is_correction && !is_moment) continue;
        trace.assign(trace.state(v.name, v.shape, init_of(v), v.dtype),
                     trace.constant(HostTensor(v.dtype, v.shape)));
    }
}

}  // namespace

AgentGraphs trace_entries(const Status& check, uint64_t seed, const SafetyLimits& rails,
                          std::vector<EntryBody> entries) {
    AgentGraphs graphs;
    const auto add = [&](const char* name) -> Trace& {
        graphs.push_back(std::make_unique<Trace>(name));
        return *graphs.back();
    };
    if (!check.ok()) {
        add(entries[0].name).fail(check);
        return graphs;
    }
    const Trace* learn = nullptr;
    for (const EntryBody& e : entries) {
        e.trace(add(e.name));
        if (std::string_view(e.name) == "learn" || std::string_view(e.name) == "step")
            learn = graphs.back().get();
    }
    trace_publish(add("publish"), *graphs[0], rails.max_weight_drift);
    trace_adapt(add("shrink_and_perturb"), *learn, seed);
    return graphs;
}

}  // namespace hearth::agents
