// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parses schema, network and learner from options and traces the agents.

#include "agents_options.hpp"

#include "model/agents/replay.hpp"

#include <hearth/nn.hpp>

#include <limits>
#include <numbers>
#include <string>
#include <utility>

namespace hearth::workbench {

namespace {

using namespace agents;

constexpr int64_t kMost = int64_t{1} << 24;

using Activation = Tensor (*)(const Tensor&);

Activation activation_of(Options& o) {
    const std::string name = o.text("activation", "tanh", {"tanh", "relu", "gelu", "silu"});
    if (name == "relu") return relu;
    if (name == "gelu") return gelu;
    if (name == "silu") return silu;
    return tanh;
}

Result<Fields> fields_of(std::vector<Options> list);

/// Adds one field, after reading its nested fields.
Status add_field(Fields& fields, Options& o) {
    const std::string name = o.text("name", "");
    const std::string kind = o.text("kind", "numbers",
                                    {"numbers", "flag", "one_hot", "location", "direction", "angle",
                                     "rotation", "group", "array", "set"});
    const auto parts = [&] { return fields_of(o.objects("parts")); };
    if (kind == "numbers") {
        const int64_t width = o.whole("width", 1, 1, kMost);
        const Range range{o.number("low", -1), o.number("high", 1)};
        fields.numbers(name, width, range, o.flag("normalized", true));
    } else if (kind == "flag") {
        fields.flag(name);
    } else if (kind == "one_hot") {
        fields.one_hot(name, o.whole("options", 0, 1, kMost));
    } else if (kind == "location") {
        const int64_t axes = o.whole("axes", 2, 1, kMost);
        fields.location(name, axes, o.number("scale", 1));
    } else if (kind == "direction") {
        fields.direction(name, o.whole("axes", 2, 1, kMost));
    } else if (kind == "angle") {
        fields.angle(name);
    } else if (kind == "rotation") {
        fields.rotation(name);
    } else if (kind == "group") {
        HEARTH_ASSIGN(const Fields own, parts());
        fields.group(name, own);
    } else if (kind == "array") {
        const int64_t count = o.whole("count", 1, 1, kMost);
        HEARTH_ASSIGN(const Fields own, parts());
        fields.array(name, count, own);
    } else if (kind == "set") {
        const int64_t capacity = o.whole("capacity", 1, 1, kMost);
        HEARTH_ASSIGN(const Fields own, parts());
        fields.set(name, capacity, own);
    }
    return o.finish();
}

Result<Fields> fields_of(std::vector<Options> list) {
    Fields fields;
    for (Options& o : list) HEARTH_TRY(add_field(fields, o));
    HEARTH_TRY(fields.status());
    return fields;
}

Result<Actions> actions_of(std::vector<Options> list) {
    Actions actions;
    for (Options& o : list) {
        const std::string name = o.text("name", "");
        if (o.text("kind", "drive", {"choose", "drive"}) == "choose") {
            const int64_t count = o.whole("count", 0, 1, kMost);
            actions.choose(name, count, o.flag("masked", false));
        } else {
            const int64_t width = o.whole("width", 1, 1, kMost);
            const double low = o.number("low", -1);
            actions.drive(name, width, {low, o.number("high", 1)});
        }
        HEARTH_TRY(o.finish());
    }
    HEARTH_TRY(actions.status());
    return actions;
}

/// Dense layers like mlp_network's, named PREFIX.SCOPE.0 and so on.
Tensor dense_layers(Trace& trace, const std::string& prefix, Tensor x,
                    const std::vector<int64_t>& widths, Activation activation, uint64_t seed) {
    for (size_t i = 0; i < widths.size(); ++i)
        x = activation(dense(trace, nn::join(prefix, i), x, widths[i], std::numbers::sqrt2, seed));
    return x;
}

/// Dense layers, one LSTM whose recurrent state is its h and c concatenated, dense layers: the
/// structure of the recurrent PPO of Stable-Baselines3 and CleanRL.
Network lstm_network(int64_t width, std::vector<int64_t> before, std::vector<int64_t> after,
                     Activation activation, uint64_t seed) {
    Network network;
    network.memory_width = 2 * width;
    network.call = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                       const Tensor& memory) {
        const Tensor x =
            dense_layers(trace, nn::join(prefix, "before"), features, before, activation, seed);
        const auto [h, c] =
            nn::lstm_cell(trace, nn::join(prefix, "lstm"), x,
                          {slice(memory, -1, 0, width), slice(memory, -1, width, 2 * width)}, width,
                          {.seed = seed});
        return NetworkResult{
            dense_layers(trace, nn::join(prefix, "after"), h, after, activation, seed),
            concat({h, c}, -1)};
    };
    network.sequence = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                           const Tensor& memory, const Tensor& resets) {
        const Tensor x =
            dense_layers(trace, nn::join(prefix, "before"), features, before, activation, seed);
        const auto state = [&](int64_t begin) {
            return unsqueeze(slice(memory, -1, begin, begin + width), {0});
        };
        const Tensor y =
            nn::lstm(trace, nn::join(prefix, "lstm"), x, width,
                     {.seed = seed, .h = state(0), .c = state(width), .resets = resets})
                .output;
        return dense_layers(trace, nn::join(prefix, "after"), y, after, activation, seed);
    };
    return network;
}

Result<Network> network_of(Options o, uint64_t seed) {
    const std::string kind = o.text("kind", "mlp", {"mlp", "gru", "lstm"});
    Network network;
    if (kind == "mlp") {
        const std::vector<int64_t> widths = o.wholes("widths", {64, 64}, 1, 1 << 16);
        const bool is_fan_in = o.text("init", "orthogonal", {"orthogonal", "fan_in"}) == "fan_in";
        network = mlp_network(widths, activation_of(o), seed,
                              is_fan_in ? nn::WeightInit::kFanIn : nn::WeightInit::kOrthogonal);
    } else if (kind == "gru") {
        network = gru_network(o.whole("width", 64, 1, 1 << 16), seed);
    } else {
        const int64_t width = o.whole("width", 64, 1, 1 << 16);
        std::vector<int64_t> before = o.wholes("before", {}, 1, 1 << 16);
        std::vector<int64_t> after = o.wholes("after", {}, 1, 1 << 16);
        network = lstm_network(width, std::move(before), std::move(after), activation_of(o), seed);
    }
    HEARTH_TRY(o.finish());
    return network;
}

// Members of the learners' structs, with the same names.
void read(Options& o, const char* key, double& value) {
    value = o.number(key, value);
}
void read(Options& o, const char* key, int64_t& value) {
    value = o.whole(key, value, 0, kMost);
}
void read(Options& o, const char* key, bool& value) {
    value = o.flag(key, value);
}
void read(Options& o, const char* key, Setting& value) {
    const Json given = o.any(key);
    const bool is_live = given.is_object() && given.size() == 1 && given.contains("live");
    const Json number = is_live ? given["live"] : given;
    if (given.is_null()) return;
    if (!number.is_number()) {
        o.fail(std::string(key) + ": expected a number or {\"live\": number}, found " +
               given.dump());
        return;
    }
    value = is_live ? Setting::live(number.get<double>()) : Setting(number.get<double>());
}
#define READ(object, member) read(o, #member, (object).member)

void read_rails(Options& learner, Rails& rails, Status& status) {
    Options o = learner.object("rails");
    READ(rails, observation_limit);
    READ(rails, reward_limit);
    READ(rails, gradient_norm);
    READ(rails, kl_stop);
    READ(rails, drift_limit);
    READ(rails, update_ratio);
    status = o.finish();
}

void read_replay(Options& o, Replay& replay) {
    READ(replay, capacity);
    READ(replay, batch);
    READ(replay, warmup);
    READ(replay, reward_scale);
    READ(replay, normalize_observations);
}

Result<Ppo> ppo_of(Options& o) {
    Ppo ppo;
    READ(ppo, horizon);
    READ(ppo, minibatches);
    READ(ppo, epochs);
    READ(ppo, sequence);
    READ(ppo, learning_rate);
    READ(ppo, clip);
    READ(ppo, entropy);
    READ(ppo, leash);
    READ(ppo, demonstrations);
    READ(ppo, cloning);
    READ(ppo, gamma);
    READ(ppo, lambda);
    READ(ppo, value_weight);
    READ(ppo, value_clip);
    READ(ppo, adam_epsilon);
    READ(ppo, first_log_deviation);
    READ(ppo, least_log_deviation);
    READ(ppo, most_log_deviation);
    READ(ppo, normalize_observations);
    READ(ppo, normalize_rewards);
    READ(ppo, normalize_advantages);
    READ(ppo, reward_scale);
    Status rails;
    read_rails(o, ppo.rails, rails);
    HEARTH_TRY(rails);
    HEARTH_TRY(o.finish());
    return ppo;
}

Result<Dqn> dqn_of(Options& o) {
    Dqn dqn;
    read_replay(o, dqn.replay);
    READ(dqn, learning_rate);
    READ(dqn, gamma);
    READ(dqn, steps);
    READ(dqn, is_double);
    READ(dqn, is_dueling);
    READ(dqn, priority);
    READ(dqn, correction);
    READ(dqn, target_period);
    READ(dqn, target_rate);
    READ(dqn, huber);
    Status rails;
    read_rails(o, dqn.rails, rails);
    HEARTH_TRY(rails);
    HEARTH_TRY(o.finish());
    return dqn;
}

Result<Sac> sac_of(Options& o) {
    Sac sac;
    read_replay(o, sac.replay);
    READ(sac, learning_rate);
    READ(sac, gamma);
    READ(sac, target_rate);
    READ(sac, first_temperature);
    READ(sac, target_entropy);
    READ(sac, least_log_deviation);
    READ(sac, most_log_deviation);
    Status rails;
    read_rails(o, sac.rails, rails);
    HEARTH_TRY(rails);
    HEARTH_TRY(o.finish());
    return sac;
}

#undef READ

struct Observed {
    Tensor observation, memory;
};

/// Encodes the observation of `prefix` as its learner does and applies its network.
NetworkResult trunk(Trace& trace, const char* prefix, const AgentSchema& schema,
                    const Network& network, const Observed& seen, bool normalize, double limit) {
    EncodeOptions encoding;
    encoding.normalizer = published_normalizer(trace, schema, normalize);
    encoding.limit = limit;
    const Tensor features = encode(trace, prefix, schema, seen.observation, encoding);
    return network.call(trace, prefix, features, seen.memory);
}

/// Traces the entry "policy" of PPO.
void trace_policy(Trace& trace, const AgentSchema& schema, const Network& network, const Ppo& ppo,
                  uint64_t seed) {
    Observed actor, critic;
    actor.observation = critic.observation =
        trace.input("observation", {kRows, schema.observation_width()});
    if (const int64_t half = network.memory_width; half > 0) {
        const Tensor memory = trace.input("memory", {kRows, 2 * half});
        actor.memory = slice(memory, -1, 0, half);
        critic.memory = slice(memory, -1, half, 2 * half);
    }
    const auto run = [&](const char* prefix, const Observed& seen) {
        return trunk(trace, prefix, schema, network, seen, ppo.normalize_observations,
                     ppo.rails.observation_limit);
    };
    const NetworkResult acts = run("actor", actor), judges = run("critic", critic);
    trace.output("head", dense(trace, "actor.head", acts.features,
                               ActionDistribution::head_width(schema), 0.01, seed));
    trace.output("value", squeeze(dense(trace, "critic.head", judges.features, 1, 1, seed), {-1}));
    if (network.memory_width > 0)
        trace.output("next_memory", concat({acts.memory, judges.memory}, -1));
}

/// Traces the entry "policy" of DQN: the values of all discrete actions, in order.
void trace_policy(Trace& trace, const AgentSchema& schema, const Network& network, const Dqn& dqn,
                  uint64_t seed) {
    Observed seen;
    seen.observation = trace.input("observation", {kRows, schema.observation_width()});
    const Tensor features = trunk(trace, "q", schema, network, seen,
                                  dqn.replay.normalize_observations, dqn.rails.observation_limit)
                                .features;
    std::vector<Tensor> values;
    Tensor base;
    if (dqn.is_dueling) base = dense(trace, "q.value", features, 1, 1, seed);
    for (const Action& a : schema.actions()) {
        const Tensor own =
            dense(trace, "q.choices." + a.name, features, a.count, dqn.is_dueling ? 0.01 : 1, seed);
        values.push_back(dqn.is_dueling ? base + own - mean(own, {-1}, true) : own);
    }
    trace.output("head", values.size() == 1 ? values[0] : concat(values, -1));
}

template <class Learner>
TracedAgents traced(const AgentSchema& schema, const Network& network, const Learner& learner,
                    uint64_t seed) {
    TracedAgents out{trace_agents(schema, network, learner, seed), manifest_of(schema, learner)};
    if constexpr (!std::is_same_v<Learner, Sac>) {
        out.traces.push_back(std::make_unique<Trace>("policy"));
        trace_policy(*out.traces.back(), schema, network, learner, seed);
    }
    return out;
}

}  // namespace

Result<TracedAgents> trace_described_agents(Options& options, int64_t max_rows) {
    HEARTH_ASSIGN(Fields observations, fields_of(options.objects("observations")));
    HEARTH_ASSIGN(Actions actions, actions_of(options.objects("actions")));
    const int64_t stack = options.whole("stack", 1, 1, 1024);
    const auto seed =
        static_cast<uint64_t>(options.whole("seed", 0, 0, std::numeric_limits<int64_t>::max()));
    const AgentSchema schema(std::move(observations), std::move(actions), stack);
    HEARTH_TRY(schema.status());
    HEARTH_ASSIGN(const Network network, network_of(options.object("network"), seed));
    Options learner = options.object("learner");
    const std::string kind = learner.text("kind", "ppo", {"ppo", "dqn", "sac"});
    if (kind == "dqn") {
        HEARTH_ASSIGN(Dqn dqn, dqn_of(learner));
        dqn.replay.agents = max_rows;
        return traced(schema, network, dqn, seed);
    }
    if (kind == "sac") {
        HEARTH_ASSIGN(Sac sac, sac_of(learner));
        sac.replay.agents = max_rows;
        return traced(schema, network, sac, seed);
    }
    HEARTH_ASSIGN(Ppo ppo, ppo_of(learner));
    ppo.agents = max_rows;
    return traced(schema, network, ppo, seed);
}

}  // namespace hearth::workbench
