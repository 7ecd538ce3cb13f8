// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "agents/parts.hpp"

#include "ir/rewrite.hpp"

#include <hearth/nn.hpp>

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

namespace hearth::agents {

namespace {

constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());
constexpr double kLeastWeight = 0.05;  // what an update is compared with, where weights are smaller

bool is_under(std::string_view name, std::string_view path) {
    return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.');
}

/// For each node, whether `value` depends on it.
std::vector<bool> needed_for(const Graph& graph, ValueId value) {
    std::vector<bool> is_needed(graph.nodes.size());
    std::vector<ValueId> stack{value};
    while (!stack.empty()) {
        const Value& v = graph.value(stack.back());
        stack.pop_back();
        if (v.kind != ValueKind::kNode || is_needed[v.node]) continue;
        is_needed[v.node] = true;
        const std::vector<ValueId>& inputs = graph.nodes[v.node].inputs;
        stack.insert(stack.end(), inputs.begin(), inputs.end());
    }
    return is_needed;
}

/// The largest of numbers [1] -> [].  Reductions of one element each are kernels of their own:
/// comparisons alone would be computed again by every kernel that reads them.
Tensor largest_of(std::vector<Tensor> numbers) {
    constexpr size_t kAtOnce = 16;
    do {
        std::vector<Tensor> fewer;
        for (size_t i = 0; i < numbers.size(); i += kAtOnce) {
            Tensor largest = numbers[i];
            for (size_t k = i + 1; k < std::min(i + kAtOnce, numbers.size()); ++k)
                largest = maximum(largest, numbers[k]);
            fewer.push_back(max(largest, {0}, true));
        }
        numbers = std::move(fewer);
    } while (numbers.size() > 1);
    return reshape(numbers[0], {});
}

Init init_of(const Value& v) {
    return v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
}

}  // namespace

Tensor number(const Tensor& condition) {
    return cast(condition, DType::kF32);
}

// Comparisons with NaN are false.
Tensor is_finite(const Tensor& x) {
    return less_equal(max(abs(x)), kLargest);
}

Tensor rows_are_finite(const Tensor& x) {
    return less_equal(max(abs(x), {-1}), kLargest);
}

Tensor weighted_mean(const Tensor& x, const Tensor& weight) {
    return sum(x * weight) / maximum(sum(weight), 1.0);
}

Tensor dense(Trace& trace, const std::string& name, const Tensor& x, int64_t width, double gain,
             uint64_t seed) {
    if (!x.ok()) return x;
    const Tensor weight =
        trace.param(name + ".weight", {width, x.dim(-1)}, Init::orthogonal(gain, seed));
    return linear(x, weight, trace.param(name + ".bias", {width}));
}

Tensor setting(Trace& trace, std::string_view name, const Setting& s) {
    return s.is_live() ? trace.input(name, {}) : trace.constant(s.value());
}

Rate rate_of(Trace& trace, std::string_view name, const Setting& s) {
    if (s.is_live()) return trace.input(name, {});
    return s.value();
}

void write_rows(const Tensor& target, const Tensor& places, const Tensor& rows) {
    if (!target.ok()) return;
    target.trace()->assign(target, scatter_nd(target, unsqueeze(places, {-1}), rows));
}

RunningStatistics RunningStatistics::declare(Trace& trace, const std::string& name, int64_t width) {
    return {trace.state(name + ".mean", {width}),
            trace.state(name + ".variance", {width}, Init::constant(1)),
            trace.state(name + ".count", {}, Init::constant(1e-4))};
}

void RunningStatistics::merge(const Tensor& samples, const Tensor& weight) const {
    if (!mean.ok() || !samples.ok()) return;
    constexpr double kMostSamples = 1e6;
    Trace& trace = *mean.trace();
    const Tensor w = unsqueeze(weight, {-1});
    const Tensor total = sum(weight), divisor = maximum(total, 1.0);
    const Tensor batch_mean = sum(samples * w, {0}) / divisor;
    const Tensor batch_square = sum(square(samples - batch_mean) * w, {0});
    const Tensor all = count + total, apart = batch_mean - mean;
    const Tensor is_any = greater(total, 0);
    const Tensor next_mean = mean + apart * (total / all);
    const Tensor next_variance =
        (variance * count + batch_square + square(apart) * (count * total / all)) / all;
    trace.assign(mean, where(is_any, next_mean, mean));
    trace.assign(variance, where(is_any, next_variance, variance));
    trace.assign(count, minimum(all, kMostSamples));
}

void read_copies(Trace& trace, std::string_view scope, std::span<const std::string> prefixes) {
    for (Value& v : trace.graph().values) {
        if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
        const bool is_meant = std::ranges::any_of(
            prefixes, [&](const std::string& path) { return is_under(v.name, path); });
        if (!is_meant) continue;
        // Remembered, since the publishing entry declares the original of the same kind.
        v.name =
            std::string(scope) + (v.kind == ValueKind::kParam ? ".param." : ".state.") + v.name;
        v.kind = ValueKind::kState;
    }
}

std::vector<CopiedTensor> declare_copies(Trace& trace, const Trace& reader,
                                         std::string_view scope) {
    const std::string params = std::string(scope) + ".param.";
    const std::string states = std::string(scope) + ".state.";
    std::vector<CopiedTensor> copies;
    for (const Value& v : reader.graph().values) {
        if (v.kind != ValueKind::kState) continue;
        const bool is_param = v.name.starts_with(params);
        if (!is_param && !v.name.starts_with(states)) continue;
        const std::string_view name = std::string_view(v.name).substr(params.size());
        const Init init = init_of(v);
        const Tensor from = is_param ? trace.param(name, v.shape, init, v.dtype)
                                     : trace.state(name, v.shape, init, v.dtype);
        copies.push_back({from, trace.state(v.name, v.shape, init, v.dtype)});
    }
    return copies;
}

std::vector<CopiedTensor> freeze_as_copy(Trace& trace, std::string_view copy,
                                         std::string_view original) {
    std::vector<CopiedTensor> copies;
    Graph& graph = trace.graph();
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        Value& v = graph.values[id];
        if (v.kind != ValueKind::kParam || !is_under(v.name, copy)) continue;
        const std::string twin = std::string(original) + v.name.substr(copy.size());
        const ValueId from = graph.find(twin);
        if (from == kNone) {
            trace.fail(internal_error("no param '" + twin + "' to copy"));
            return {};
        }
        v.kind = ValueKind::kState;
        v.data = graph.values[from].data;
        copies.push_back({{&trace, from}, {&trace, id}});
    }
    return copies;
}

// --- Guard ---

Guard::Guard(Trace& trace) : trace_(&trace), first_(trace.graph().updates.size()) {}

// What is computed of an updated value reads the guarded one, where it can: the step of a param,
// say, reads its guarded moments, and all of them are one kernel.
void Guard::apply(const Tensor& condition) const {
    if (!trace_->status().ok() || !condition.ok()) return;
    Graph& graph = trace_->graph();
    const std::vector<bool> is_before = needed_for(graph, condition.value());
    for (size_t i = first_; i < graph.updates.size(); ++i) {
        const GraphUpdate update = graph.updates[i];
        const Tensor before(trace_, update.target), after(trace_, update.value);
        const Tensor kept = where(condition, after, before);
        graph.updates[i].value = kept.value();
        if (graph.value(update.value).kind != ValueKind::kNode) continue;
        for (NodeId n = 0; n < is_before.size(); ++n)
            if (!is_before[n])
                std::replace(graph.nodes[n].inputs.begin(), graph.nodes[n].inputs.end(),
                             update.value, kept.value());
    }
    restore_order(graph);
}

Tensor Guard::largest_update_ratio() const {
    std::vector<Tensor> ratios;
    for (size_t i = first_; i < trace_->graph().updates.size(); ++i) {
        const GraphUpdate update = trace_->graph().updates[i];
        if (trace_->graph().value(update.target).kind != ValueKind::kParam) continue;
        const Tensor before(trace_, update.target), after(trace_, update.value);
        const Tensor step = mean(square(after - before));
        const Tensor size = maximum(mean(square(before)), kLeastWeight * kLeastWeight);
        ratios.push_back(reshape(step / size, {1}));
    }
    return ratios.empty() ? trace_->constant(0) : sqrt(largest_of(std::move(ratios)));
}

// --- Status ---

namespace {

constexpr auto kLow = static_cast<int64_t>(kDiagnosticCount);
constexpr auto kHigh = static_cast<int64_t>(kDiagnosticCount + kCounterCount);
constexpr auto kWords = static_cast<int64_t>(kStatusWords);

Tensor status_state(Trace& trace, const std::string& name) {
    return trace.state(name, {kWords}, {}, DType::kU32);
}

}  // namespace

StatusWriter::StatusWriter(Trace& trace, std::string_view role)
    : trace_(&trace), name_("agents.status." + std::string(role)) {}

Tensor StatusWriter::value(Diagnostic d) const {
    const auto at = static_cast<int64_t>(d);
    return reshape(bitcast(slice(status_state(*trace_, name_), 0, at, at + 1), DType::kF32), {});
}

Tensor StatusWriter::finish() {
    Trace& trace = *trace_;
    if (!trace.status().ok()) return {};
    const Tensor before = status_state(trace, name_);
    const Tensor low = slice(before, 0, kLow, kHigh), high = slice(before, 0, kHigh, kWords);
    // By choices rather than by joining single numbers: these are one kernel, those a level for every few.
    const Tensor at = iota(trace, {kLow}), counter_at = iota(trace, {kHigh - kLow});
    Tensor diagnostics = slice(before, 0, 0, kLow);
    for (size_t i = 0; i < kDiagnosticCount; ++i)
        if (values_[i].ok())
            diagnostics = where(equal(at, static_cast<double>(i)),
                                bitcast(cast(values_[i], DType::kF32), DType::kU32), diagnostics);
    Tensor more = trace.constant(HostTensor(DType::kU32, {kHigh - kLow}));
    for (size_t i = 0; i < kCounterCount; ++i)
        if (amounts_[i].ok())
            more = where(equal(counter_at, static_cast<double>(i)), cast(amounts_[i], DType::kU32),
                         more);
    const Tensor next_low = low + more;
    const Tensor next_high = high + cast(less(next_low, low), DType::kU32);
    const Tensor next = concat({diagnostics, next_low, next_high}, 0);
    trace.assign(before, next);
    return next;
}

void gather_status(Trace& trace, const Tensor& own) {
    if (!trace.status().ok()) return;
    Tensor diagnostics, low, high;
    for (const char* role : {"store", "prepare", "learn", "publish"}) {
        const bool is_own = std::string_view(role) == "store" && own.ok();
        const Tensor words =
            is_own ? own : status_state(trace, "agents.status." + std::string(role));
        const Tensor d = bitcast(slice(words, 0, 0, kLow), DType::kF32);
        const Tensor l = slice(words, 0, kLow, kHigh), h = slice(words, 0, kHigh, kWords);
        if (!low.ok()) {
            diagnostics = d;
            low = l;
            high = h;
            continue;
        }
        // Each diagnostic is one role's, and zero in all others.
        diagnostics = diagnostics + d;
        const Tensor sum_low = low + l;
        high = high + h + cast(less(sum_low, l), DType::kU32);
        low = sum_low;
    }
    trace.assign(status_state(trace, "agents.status"),
                 concat({bitcast(diagnostics, DType::kU32), low, high}, 0));
}

void track_episodes(Trace& trace, StatusWriter& status, int64_t agents, const Tensor& id,
                    const Tensor& reward, const Tensor& end, const Tensor& is_sound) {
    const Tensor returns = trace.state("episodes.return", {agents});
    const Tensor lengths = trace.state("episodes.length", {agents});
    const Tensor sum_now = gather(returns, id) + where(is_sound, reward, 0.0);
    const Tensor length_now = gather(lengths, id) + 1.0;
    const Tensor is_over = logical_and(greater(end, 0.5), is_sound);
    const Tensor finished = sum(number(is_over));
    write_rows(returns, id, where(is_over, 0.0, sum_now));
    write_rows(lengths, id, where(is_over, 0.0, length_now));
    // A plain mean at first, then one that forgets over some twenty episodes.
    const Tensor seen = trace.state("episodes.seen", {});
    const Tensor all = seen + finished;
    trace.assign(seen, minimum(all, 20.0));
    const Tensor weight = finished / maximum(all, 1.0);
    const auto average = [&](Diagnostic d, const Tensor& values) {
        const Tensor mean_now = sum(where(is_over, values, 0.0)) / maximum(finished, 1.0);
        const Tensor before = status.value(d);
        status.set(d, before + (mean_now - before) * weight);
    };
    average(Diagnostic::kReturn, sum_now);
    average(Diagnostic::kEpisodeLength, length_now);
    status.add(Counter::kEpisodes, finished);
}

std::unique_ptr<Trace> trace_publish(const Trace& act) {
    auto trace = std::make_unique<Trace>("publish");
    const std::vector<CopiedTensor> copies = declare_copies(*trace, act, kPublished);
    std::vector<Tensor> largest;
    for (const CopiedTensor& c : copies) largest.push_back(reshape(max(abs(c.from)), {1}));
    StatusWriter status(*trace, "publish");
    if (!largest.empty()) {
        const Tensor is_sound = less_equal(largest_of(std::move(largest)), kLargest);
        for (const CopiedTensor& c : copies) trace->assign(c.to, where(is_sound, c.from, c.to));
        const Tensor version = trace->state("published.version", {}, {}, DType::kU32);
        trace->assign(version, version + cast(is_sound, DType::kU32));
        status.add(Counter::kPublications, is_sound);
        status.add(Counter::kPublicationsRefused, logical_not(is_sound));
    }
    (void)status.finish();
    return trace;
}

std::vector<Trace*> entries_of(const Traces& traces) {
    std::vector<Trace*> out;
    for (const auto& trace : traces) out.push_back(trace.get());
    return out;
}

std::vector<Trace*> driven_entries_of(const Traces& traces, const AgentManifest& manifest) {
    std::vector<Trace*> out;
    for (const auto& trace : traces) {
        const std::string& name = trace->graph().name;
        const bool is_stored_apart = manifest.kind == LearnerKind::kClone;
        if (name == "act" && traces.size() > 1) continue;
        if (name == "store" && !is_stored_apart) continue;
        out.push_back(trace.get());
    }
    return out;
}

namespace {

AgentManifest manifest_with(const AgentSchema& schema, LearnerKind kind, int64_t agents,
                            int64_t ring,
                            std::initializer_list<std::pair<const char*, Setting>> settings) {
    AgentManifest m;
    m.schema = schema;
    m.kind = kind;
    m.agents = static_cast<uint32_t>(agents);
    m.ring = static_cast<uint32_t>(ring);
    for (const auto& [name, setting] : settings)
        if (setting.is_live()) m.settings.push_back({name, setting.value()});
    return m;
}

}  // namespace

AgentManifest manifest_of(const AgentSchema& schema, const Ppo& ppo) {
    AgentManifest m = manifest_with(schema, LearnerKind::kPpo, ppo.agents, 0,
                                    {{"learning_rate", ppo.learning_rate},
                                     {"clip", ppo.clip},
                                     {"entropy", ppo.entropy},
                                     {"leash", ppo.leash}});
    m.horizon = static_cast<uint32_t>(ppo.horizon);
    m.items = static_cast<uint32_t>(ppo.epochs * ppo.minibatches);
    return m;
}

AgentManifest manifest_of(const AgentSchema& schema, const Dqn& dqn) {
    return manifest_with(schema, LearnerKind::kDqn, dqn.replay.agents, dqn.replay.capacity,
                         {{"learning_rate", dqn.learning_rate}, {"correction", dqn.correction}});
}

AgentManifest manifest_of(const AgentSchema& schema, const Sac& sac) {
    return manifest_with(schema, LearnerKind::kSac, sac.replay.agents, sac.replay.capacity,
                         {{"learning_rate", sac.learning_rate}});
}

AgentManifest manifest_of(const AgentSchema& schema, const Clone& clone) {
    return manifest_with(schema, LearnerKind::kClone, clone.agents, clone.capacity,
                         {{"learning_rate", clone.learning_rate}});
}

AgentManifest manifest_of(const AgentSchema& schema, const Praise& praise) {
    return manifest_with(schema, LearnerKind::kPraise, praise.agents, praise.capacity,
                         {{"learning_rate", praise.learning_rate}});
}

// --- Networks ---

Network mlp_network(std::vector<int64_t> widths, Tensor (*activation)(const Tensor&),
                    uint64_t seed) {
    Network network;
    network.call = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                       const Tensor&) {
        Tensor x = features;
        for (size_t i = 0; i < widths.size(); ++i)
            x = activation(
                dense(trace, nn::join(prefix, i), x, widths[i], std::numbers::sqrt2, seed));
        return NetworkResult{x, {}};
    };
    return network;
}

Network gru_network(int64_t width, uint64_t seed) {
    Network network;
    network.memory_width = width;
    network.call = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                       const Tensor& memory) {
        const Tensor x =
            tanh(dense(trace, nn::join(prefix, "in"), features, width, std::numbers::sqrt2, seed));
        const Tensor next =
            nn::gru_cell(trace, nn::join(prefix, "gru"), x, memory, width, {.seed = seed});
        return NetworkResult{next, next};
    };
    return network;
}

}  // namespace hearth::agents
