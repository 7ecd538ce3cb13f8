// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Building blocks of learners: statistics, weight copies, status words, publishing, networks.

#include "model/agents/parts.hpp"

#include "compiler/ir/graph.hpp"

#include <hearth/agents/simulation.hpp>
#include <hearth/nn.hpp>

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

namespace hearth::agents {

namespace {

constexpr double kLargest = static_cast<double>(std::numeric_limits<float>::max());

bool is_under(std::string_view name, std::string_view path) {
    return name.starts_with(path) && (name.size() == path.size() || name[path.size()] == '.');
}

Init init_of(const Value& v) {
    return v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
}

}  // namespace

Tensor number(const Tensor& condition) {
    return cast(condition, DType::kF32);
}

Tensor available_options(const Tensor& mask) {
    if (!mask.ok()) return mask;
    const Tensor is_any = greater(max(mask, {-1}, true), 0);
    HostTensor first(mask.dtype(), {mask.dim(-1)});
    first.set(0, 1);
    return greater(where(is_any, mask, mask.trace()->constant(first)), 0);
}

Tensor choosable(const Tensor& scores, const Tensor& available) {
    constexpr double kUnlikely = kAbsent / 2;
    return where(available, where(greater(scores, kUnlikely), scores, kUnlikely), kAbsent);
}

// Comparisons with NaN are false.
Tensor is_finite(const Tensor& x) {
    return less_equal(abs(x), kLargest);
}

Tensor rows_are_finite(const Tensor& x) {
    return less_equal(max(abs(x), {-1}), kLargest);
}

Tensor weighted_mean(const Tensor& x, const Tensor& weight) {
    return sum(x * weight) / maximum(sum(weight), 1.0);
}

Tensor dense(Trace& trace, const std::string& name, const Tensor& x, int64_t width, double gain,
             uint64_t seed, nn::WeightInit init) {
    if (!x.ok()) return x;
    if (width < 1) {
        trace.fail(invalid_argument("layer '" + name + "' has a width of " + std::to_string(width) +
                                    ", expected at least 1"));
        return {&trace, kInvalidId};
    }
    const Shape shape{width, x.dim(-1)};
    const double own = init == nn::WeightInit::kOrthogonal ? gain : 1;
    const Tensor weight =
        trace.param(name + ".weight", shape, nn::weight_init(init, shape, seed, own));
    return linear(x, weight,
                  trace.param(name + ".bias", {width}, nn::bias_init(init, shape, seed)));
}

Tensor hyperparameter(Trace& trace, std::string_view name, const Hyperparameter& s) {
    return s.is_tunable() ? trace.input(name, {}) : trace.constant(s.value());
}

ScalarOrTensor rate_of(Trace& trace, std::string_view name, const Hyperparameter& s) {
    if (s.is_tunable()) return trace.input(name, {});
    return s.value();
}

// Multiples of the golden ratio are spread evenly (Fibonacci hashing; Knuth, TAOCP vol. 3, 6.4).
Tensor seed_offset(Trace& trace, uint64_t seed, std::string_view name) {
    constexpr double kGoldenRatio = 2654435769;  // of 2^32
    const auto folded = static_cast<uint32_t>(seed ^ seed >> 32);
    const Tensor state = trace.non_persistent_state(
        name, {}, Init::constant(static_cast<double>(folded)), DType::kU32);
    return state * trace.constant(kGoldenRatio, DType::kU32);
}

Tensor random_counter(Trace& trace, std::string_view steps, uint64_t seed) {
    return global_step(trace, steps) + seed_offset(trace, seed);
}

RunningStatistics RunningStatistics::declare(Trace& trace, const std::string& name, int64_t width) {
    return {trace.state(name + ".mean", {width}),
            trace.state(name + ".variance", {width}, Init::constant(1)),
            trace.state(name + ".count", {}, Init::constant(1e-4)),
            trace.non_persistent_state(name + ".mean_low", {width})};
}

// Samples are taken relative to the running mean, and a batch's mean is corrected by the mean of
// what is left (Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983):
// otherwise sums of samples far from zero would lose the digits in which they differ.
void RunningStatistics::merge(const Tensor& samples, const Tensor& weight) const {
    if (!mean.ok() || !samples.ok()) return;
    constexpr double kMostSamples = 1e6, kFewSamples = 1e3, kFarthestDeviations = 1e4;
    Trace& trace = *mean.trace();
    const Tensor w = unsqueeze(weight, {-1});
    const Tensor total = sum(weight), divisor = maximum(total, 1.0);
    // The initial mean and variance are no samples.
    const Tensor has_any = greater_equal(count, 1);
    const Tensor before = where(has_any, count, 0.0);
    // Of few samples the variance may still be far too small.
    const Tensor spread =
        variance + where(greater_equal(count, kFewSamples), 1e-8, square(mean) + 1.0);
    const Tensor most = where(has_any, sqrt(spread) * kFarthestDeviations, kLargest);
    const Tensor apart = maximum(minimum((samples - mean) - mean_low, most), neg(most));
    const Tensor rough = sum(apart * w, {0}) / divisor;
    const Tensor rest = apart - rough;
    const Tensor correction = sum(rest * w, {0}) / divisor;
    const Tensor batch_variance = sum(square(rest) * w, {0}) / divisor - square(correction);
    const Tensor batch_apart = rough + correction;
    const Tensor all = before + total, share = total / maximum(all, 1.0);
    const Tensor is_any = greater(total, 0);
    // Kahan summation: steps of a mean of many samples are smaller than its last digit.
    const Tensor step = batch_apart * share + mean_low;
    const Tensor next_mean = mean + step;
    const Tensor next_variance = where(
        has_any,
        variance + ((batch_variance - variance) + square(batch_apart) * (1.0 - share)) * share,
        batch_variance);
    trace.assign(mean, where(is_any, next_mean, mean));
    trace.assign(mean_low, where(is_any, step - (next_mean - mean), mean_low));
    trace.assign(variance, where(is_any, maximum(next_variance, 0.0), variance));
    trace.assign(count, where(is_any, minimum(all, kMostSamples), count));
}

void read_copies(Trace& trace, std::string_view scope, std::span<const std::string> prefixes) {
    for (Value& v : mutable_graph(trace).values) {
        if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
        const bool is_meant = std::ranges::any_of(
            prefixes, [&](const std::string& path) { return is_under(v.name, path); });
        if (!is_meant) continue;
        // The name encodes the kind, so that the publishing entry declares the original alike.
        v.name =
            std::string(scope) + (v.kind == ValueKind::kParam ? ".param." : ".state.") + v.name;
        v.kind = ValueKind::kState;
    }
}

Tensor redeclared_param(Trace& trace, const Tensor& param) {
    const Value& v = param.trace()->graph().value(param.value());
    return trace.param(v.name, v.shape, init_of(v), v.dtype);
}

Tensor initial_value(Trace& trace, const Value& param) {
    if (!param.data) return trace.constant(HostTensor(param.dtype, param.shape));
    if (param.shape.element_count(1) > 1) return trace.constant(*param.data);
    return trace.non_persistent_state("initial." + param.name, param.shape, init_of(param),
                                      param.dtype);
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

// --- Status ---

// Three states rather than one: each element depends only on elements of the same index, so the
// last kernel updates all three in place.
StatusTensors StatusTensors::declare(Trace& trace, std::string_view role) {
    const std::string name(role);
    constexpr auto kDiagnostics = static_cast<int64_t>(kMetricCount);
    constexpr auto kCounters = static_cast<int64_t>(kSavedCounterCount);
    return {trace.state("agents.status." + name, {kDiagnostics}),
            trace.state("agents.counters." + name, {kCounters}, {}, DType::kU32),
            trace.state("agents.carries." + name, {kCounters}, {}, DType::kU32)};
}

Tensor StatusWriter::value(AgentMetric d) const {
    const auto at = static_cast<int64_t>(d);
    return reshape(slice(before_.diagnostics, 0, at, at + 1), {});
}

StatusTensors StatusWriter::finish() {
    Trace& trace = *trace_;
    if (!trace.status().ok()) return {};
    // Selects by index, in one kernel; concatenating scalars would need a level for every few.
    const Tensor diagnostic = arange(trace, before_.diagnostics.shape());
    const Tensor counter = arange(trace, before_.low.shape());
    StatusTensors next = before_;
    for (size_t i = 0; i < kMetricCount; ++i)
        if (values_[i].ok())
            next.diagnostics =
                where(equal(diagnostic, static_cast<double>(i)), values_[i], next.diagnostics);
    next.diagnostics = where(is_finite(next.diagnostics), next.diagnostics, before_.diagnostics);
    Tensor more = trace.constant(0, DType::kU32);
    for (size_t i = 0; i < kSavedCounterCount; ++i)
        if (amounts_[i].ok())
            more =
                where(equal(counter, static_cast<double>(i)), cast(amounts_[i], DType::kU32), more);
    next.low = before_.low + more;
    next.high = before_.high + cast(less(next.low, before_.low), DType::kU32);
    trace.assign(before_.diagnostics, next.diagnostics);
    trace.assign(before_.low, next.low);
    trace.assign(before_.high, next.high);
    return next;
}

Tensor skipped_in_a_row(Trace& trace) {
    return trace.non_persistent_state("learn.skipped_in_a_row", {}, {}, DType::kU32);
}

void gather_status(Trace& trace, const StatusTensors& stored, const DecisionCounts& decided,
                   std::initializer_list<std::string_view> others) {
    if (!trace.status().ok()) return;
    StatusTensors sum = stored.low.ok() ? stored : StatusTensors::declare(trace, "store");
    for (const std::string_view role : others) {
        const StatusTensors s = StatusTensors::declare(trace, role);
        // Each diagnostic belongs to one role and is zero in all others.
        const Tensor low = sum.low + s.low;
        sum = {sum.diagnostics + s.diagnostics, low,
               sum.high + s.high + cast(less(low, s.low), DType::kU32)};
    }
    const Tensor words =
        trace.state("agents.status", {static_cast<int64_t>(kSavedStatusWords)}, {}, DType::kU32);
    trace.assign(words, concat({bitcast(sum.diagnostics, DType::kU32), sum.low, sum.high}, 0));

    constexpr auto kRecent = static_cast<int64_t>(kCounterCount - kSavedCounterCount);
    const Tensor recent = trace.non_persistent_state("agents.recent", {kRecent}, {}, DType::kU32);
    const Tensor index = arange(trace, {kRecent});
    Tensor next = recent;
    const auto set = [&](Counter c, const Tensor& value) {
        const auto place = static_cast<double>(c) - static_cast<double>(kSavedCounterCount);
        next = where(equal(index, place), value, next);
    };
    set(Counter::kSkippedInARow, skipped_in_a_row(trace));
    if (decided.all_masked.ok())
        set(Counter::kChoicesAllMasked, recent + cast(decided.all_masked, DType::kU32));
    if (decided.replaced.ok())
        set(Counter::kActionsReplaced, recent + cast(decided.replaced, DType::kU32));
    trace.assign(recent, next);
}

/// Relative distance between the params to publish and their initial values: [].
Tensor drift_of(const std::vector<CopiedTensor>& copies) {
    Trace& trace = *copies[0].from.trace();
    Tensor apart = trace.constant(0), size = trace.constant(0);
    for (const CopiedTensor& c : copies) {
        const Value& v = trace.graph().value(c.from.value());
        if (v.kind != ValueKind::kParam) continue;
        const Tensor first = initial_value(trace, v);
        apart = apart + sum(square(c.from - first));
        size = size + sum(square(first));
    }
    return sqrt(apart / maximum(size, 1e-12));
}

void trace_publish(Trace& trace, const Trace& act, double drift_limit) {
    const std::vector<CopiedTensor> copies = declare_copies(trace, act, kPublished);
    std::vector<Tensor> published;
    for (const CopiedTensor& c : copies) published.push_back(c.from);
    StatusWriter status(trace, "publish");
    if (!published.empty()) {
        ConditionalUpdate guard(trace);
        const Tensor is_sound = all_finite(published);
        Tensor may_publish = is_sound;
        if (drift_limit > 0) {
            const Tensor is_near = less_equal(drift_of(copies), drift_limit);
            may_publish = logical_and(is_sound, is_near);
            status.add(Counter::kPublicationsFar, logical_and(is_sound, logical_not(is_near)));
        }
        for (const CopiedTensor& c : copies) trace.assign(c.to, c.from);
        (void)global_step(trace, "published.version");
        guard.commit_if(may_publish);
        status.add(Counter::kPublications, may_publish);
        status.add(Counter::kPublicationsRejected, logical_not(is_sound));
    }
    (void)status.finish();
}

std::vector<Trace*> all_entries(const AgentGraphs& graphs) {
    std::vector<Trace*> out;
    for (const auto& trace : graphs) out.push_back(trace.get());
    return out;
}

std::vector<Trace*> runtime_entries(const AgentGraphs& graphs, const AgentManifest& manifest) {
    std::vector<Trace*> out;
    for (const auto& trace : graphs) {
        const std::string& name = trace->graph().name;
        const bool is_stored_apart = manifest.algorithm == Algorithm::kBehaviorCloning;
        if (name == "act" && graphs.size() > 1) continue;
        if (name == "store" && !is_stored_apart) continue;
        out.push_back(trace.get());
    }
    return out;
}

std::vector<Trace*> simulation_entries(const AgentGraphs& graphs) {
    std::vector<Trace*> out;
    for (const auto& trace : graphs)
        if (trace->graph().name != "shrink_and_perturb") out.push_back(trace.get());
    return out;
}

// --- Networks ---

PolicyNetwork mlp_network(std::vector<int64_t> widths, Tensor (*activation)(const Tensor&),
                          uint64_t seed, nn::WeightInit init) {
    PolicyNetwork network;
    network.head_init = init;
    network.forward = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                          const Tensor&) {
        Tensor x = features;
        for (size_t i = 0; i < widths.size(); ++i)
            x = activation(dense(trace, nn::join_name(prefix, i), x, widths[i], std::numbers::sqrt2,
                                 seed, init));
        return PolicyOutput{x, {}};
    };
    return network;
}

PolicyNetwork gru_network(int64_t hidden_size, uint64_t seed) {
    PolicyNetwork network;
    network.recurrent_state_size = hidden_size;
    network.forward = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                          const Tensor& memory) {
        const Tensor x = tanh(dense(trace, nn::join_name(prefix, "in"), features, hidden_size,
                                    std::numbers::sqrt2, seed));
        const Tensor next = nn::gru_cell(trace, nn::join_name(prefix, "gru"), x, memory,
                                         hidden_size, {.seed = seed});
        return PolicyOutput{next, next};
    };
    // The part that does not depend on the recurrent state is one product for all steps.
    network.forward_sequence = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                                   const Tensor& memory, const Tensor& resets) {
        if (!features.ok()) return features;
        const Dim windows = features.dim(0), length = features.dim(1);
        const Dim rows(windows.count * length.count, windows.is_batch);
        const Tensor x = tanh(dense(trace, nn::join_name(prefix, "in"),
                                    reshape(features, {rows, features.dim(2)}), hidden_size,
                                    std::numbers::sqrt2, seed));
        return nn::gru(trace, nn::join_name(prefix, "gru"),
                       reshape(x, {windows, length, Dim(hidden_size)}), hidden_size,
                       {.seed = seed, .h = unsqueeze(memory, {0}), .episode_starts = resets})
            .output;
    };
    return network;
}

}  // namespace hearth::agents
