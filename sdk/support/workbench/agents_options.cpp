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

Result<ObservationSpec> fields_of(std::vector<Options> list);

/// Adds one field, after reading its nested fields.
Status add_field(ObservationSpec& fields, Options& o) {
    const std::string name = o.text("name", "");
    const std::string kind = o.text("kind", "numbers",
                                    {"numbers", "flag", "one_hot", "location", "direction", "angle",
                                     "rotation", "group", "array", "set"});
    const auto parts = [&] { return fields_of(o.objects("parts")); };
    if (kind == "numbers") {
        const int64_t width = o.whole("width", 1, 1, kMost);
        const Range range{o.number("low", -1), o.number("high", 1)};
        fields.box(name, width, range, o.flag("normalized", true));
    } else if (kind == "flag") {
        fields.binary(name);
    } else if (kind == "one_hot") {
        fields.discrete(name, o.whole("options", 0, 1, kMost));
    } else if (kind == "location") {
        const int64_t axes = o.whole("axes", 2, 1, kMost);
        fields.position(name, axes, o.number("scale", 1));
    } else if (kind == "direction") {
        fields.unit_vector(name, o.whole("axes", 2, 1, kMost));
    } else if (kind == "angle") {
        fields.angle(name);
    } else if (kind == "rotation") {
        fields.quaternion(name);
    } else if (kind == "group") {
        HEARTH_ASSIGN(const ObservationSpec own, parts());
        fields.dict(name, own);
    } else if (kind == "array") {
        const int64_t count = o.whole("count", 1, 1, kMost);
        HEARTH_ASSIGN(const ObservationSpec own, parts());
        fields.array(name, count, own);
    } else if (kind == "set") {
        const int64_t capacity = o.whole("capacity", 1, 1, kMost);
        HEARTH_ASSIGN(const ObservationSpec own, parts());
        fields.entities(name, capacity, own);
    }
    return o.finish();
}

Result<ObservationSpec> fields_of(std::vector<Options> list) {
    ObservationSpec fields;
    for (Options& o : list) HEARTH_TRY(add_field(fields, o));
    HEARTH_TRY(fields.status());
    return fields;
}

Result<ActionSpec> actions_of(std::vector<Options> list) {
    ActionSpec actions;
    for (Options& o : list) {
        const std::string name = o.text("name", "");
        if (o.text("kind", "drive", {"choose", "drive"}) == "choose") {
            const int64_t count = o.whole("count", 0, 1, kMost);
            actions.discrete(name, count, o.flag("masked", false));
        } else {
            const int64_t width = o.whole("width", 1, 1, kMost);
            const double low = o.number("low", -1);
            actions.continuous(name, width, {low, o.number("high", 1)});
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
        x = activation(dense(trace, nn::join_name(prefix, i), x, widths[i], std::numbers::sqrt2, seed));
    return x;
}

/// Dense layers, one LSTM whose recurrent state is its h and c concatenated, dense layers: the
/// structure of the recurrent PPO of Stable-Baselines3 and CleanRL.
PolicyNetwork lstm_network(int64_t width, std::vector<int64_t> before, std::vector<int64_t> after,
                     Activation activation, uint64_t seed) {
    PolicyNetwork network;
    network.recurrent_state_size = 2 * width;
    network.forward = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                       const Tensor& memory) {
        const Tensor x =
            dense_layers(trace, nn::join_name(prefix, "before"), features, before, activation, seed);
        const auto [h, c] =
            nn::lstm_cell(trace, nn::join_name(prefix, "lstm"), x,
                          {slice(memory, -1, 0, width), slice(memory, -1, width, 2 * width)}, width,
                          {.seed = seed});
        return PolicyOutput{
            dense_layers(trace, nn::join_name(prefix, "after"), h, after, activation, seed),
            concat({h, c}, -1)};
    };
    network.forward_sequence = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                           const Tensor& memory, const Tensor& resets) {
        const Tensor x =
            dense_layers(trace, nn::join_name(prefix, "before"), features, before, activation, seed);
        const auto state = [&](int64_t begin) {
            return unsqueeze(slice(memory, -1, begin, begin + width), {0});
        };
        const Tensor y =
            nn::lstm(trace, nn::join_name(prefix, "lstm"), x, width,
                     {.seed = seed, .h = state(0), .c = state(width), .episode_starts = resets})
                .output;
        return dense_layers(trace, nn::join_name(prefix, "after"), y, after, activation, seed);
    };
    return network;
}

Result<PolicyNetwork> network_of(Options o, uint64_t seed) {
    const std::string kind = o.text("kind", "mlp", {"mlp", "gru", "lstm"});
    PolicyNetwork network;
    if (kind == "mlp") {
        const std::vector<int64_t> widths = o.wholes("widths", {64, 64}, 1, 1 << 16);
        const bool is_fan_in = o.text("init", "orthogonal", {"orthogonal", "fan_in"}) == "fan_in";
        network = mlp_network(widths, activation_of(o), seed,
                              is_fan_in ? nn::WeightInit::kPyTorchDefault : nn::WeightInit::kOrthogonal);
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
void read(Options& o, const char* key, Hyperparameter& value) {
    const Json given = o.any(key);
    const bool is_live = given.is_object() && given.size() == 1 && given.contains("live");
    const Json number = is_live ? given["live"] : given;
    if (given.is_null()) return;
    if (!number.is_number()) {
        o.fail(std::string(key) + ": expected a number or {\"live\": number}, found " +
               given.dump());
        return;
    }
    value = is_live ? Hyperparameter::tunable(number.get<double>()) : Hyperparameter(number.get<double>());
}
#define READ(object, member) read(o, #member, (object).member)

void read_rails(Options& learner, SafetyLimits& rails, Status& status) {
    Options o = learner.object("rails");
    READ(rails, clip_obs);
    READ(rails, clip_reward);
    READ(rails, max_grad_norm);
    READ(rails, target_kl);
    READ(rails, max_weight_drift);
    READ(rails, max_update_ratio);
    status = o.finish();
}

void read_replay(Options& o, ReplayOptions& replay) {
    READ(replay, buffer_size);
    READ(replay, batch_size);
    READ(replay, learning_starts);
    READ(replay, reward_scale);
    READ(replay, normalize_observations);
}

Result<Ppo> ppo_of(Options& o) {
    Ppo ppo;
    READ(ppo, n_steps);
    READ(ppo, n_minibatches);
    READ(ppo, n_epochs);
    READ(ppo, bptt_length);
    READ(ppo, learning_rate);
    READ(ppo, clip_range);
    READ(ppo, ent_coef);
    READ(ppo, reference_kl_coef);
    READ(ppo, demo_capacity);
    READ(ppo, bc_coef);
    READ(ppo, gamma);
    READ(ppo, gae_lambda);
    READ(ppo, vf_coef);
    READ(ppo, clip_range_vf);
    READ(ppo, adam_eps);
    READ(ppo, log_std_init);
    READ(ppo, log_std_min);
    READ(ppo, log_std_max);
    READ(ppo, normalize_observations);
    READ(ppo, normalize_rewards);
    READ(ppo, normalize_advantages);
    READ(ppo, reward_scale);
    Status rails;
    read_rails(o, ppo.limits, rails);
    HEARTH_TRY(rails);
    HEARTH_TRY(o.finish());
    return ppo;
}

Result<Dqn> dqn_of(Options& o) {
    Dqn dqn;
    read_replay(o, dqn.replay);
    READ(dqn, learning_rate);
    READ(dqn, gamma);
    READ(dqn, return_steps);
    READ(dqn, double_q);
    READ(dqn, dueling);
    READ(dqn, prioritized_alpha);
    READ(dqn, prioritized_beta);
    READ(dqn, target_update_interval);
    READ(dqn, tau);
    READ(dqn, huber_delta);
    Status rails;
    read_rails(o, dqn.limits, rails);
    HEARTH_TRY(rails);
    HEARTH_TRY(o.finish());
    return dqn;
}

Result<Sac> sac_of(Options& o) {
    Sac sac;
    read_replay(o, sac.replay);
    READ(sac, learning_rate);
    READ(sac, gamma);
    READ(sac, tau);
    READ(sac, ent_coef_init);
    READ(sac, target_entropy);
    READ(sac, log_std_min);
    READ(sac, log_std_max);
    Status rails;
    read_rails(o, sac.limits, rails);
    HEARTH_TRY(rails);
    HEARTH_TRY(o.finish());
    return sac;
}

#undef READ

struct Observed {
    Tensor observation, memory;
};

/// Encodes the observation of `prefix` as its learner does and applies its network.
PolicyOutput trunk(Trace& trace, const char* prefix, const AgentSpec& schema,
                    const PolicyNetwork& network, const Observed& seen, bool normalize, double limit) {
    EncodeOptions encoding;
    encoding.normalizer = published_normalizer(trace, schema, normalize);
    encoding.clip = limit;
    const Tensor features = encode(trace, prefix, schema, seen.observation, encoding);
    return network.forward(trace, prefix, features, seen.memory);
}

/// Traces the entry "policy" of PPO.
void trace_policy(Trace& trace, const AgentSpec& schema, const PolicyNetwork& network, const Ppo& ppo,
                  uint64_t seed) {
    Observed actor, critic;
    actor.observation = critic.observation =
        trace.input("observation", {kBatch, schema.observation_size()});
    if (const int64_t half = network.recurrent_state_size; half > 0) {
        const Tensor memory = trace.input("memory", {kBatch, 2 * half});
        actor.memory = slice(memory, -1, 0, half);
        critic.memory = slice(memory, -1, half, 2 * half);
    }
    const auto run = [&](const char* prefix, const Observed& seen) {
        return trunk(trace, prefix, schema, network, seen, ppo.normalize_observations,
                     ppo.limits.clip_obs);
    };
    const PolicyOutput acts = run("actor", actor), judges = run("critic", critic);
    trace.output("head", dense(trace, "actor.head", acts.features,
                               ActionDistribution::param_size(schema), 0.01, seed));
    trace.output("value", squeeze(dense(trace, "critic.head", judges.features, 1, 1, seed), {-1}));
    if (network.recurrent_state_size > 0)
        trace.output("next_memory", concat({acts.recurrent_state, judges.recurrent_state}, -1));
}

/// Traces the entry "policy" of DQN: the values of all discrete actions, in order.
void trace_policy(Trace& trace, const AgentSpec& schema, const PolicyNetwork& network, const Dqn& dqn,
                  uint64_t seed) {
    Observed seen;
    seen.observation = trace.input("observation", {kBatch, schema.observation_size()});
    const Tensor features = trunk(trace, "q", schema, network, seen,
                                  dqn.replay.normalize_observations, dqn.limits.clip_obs)
                                .features;
    std::vector<Tensor> values;
    Tensor base;
    if (dqn.dueling) base = dense(trace, "q.value", features, 1, 1, seed);
    for (const Action& a : schema.actions()) {
        const Tensor own =
            dense(trace, "q.choices." + a.name, features, a.count, dqn.dueling ? 0.01 : 1, seed);
        values.push_back(dqn.dueling ? base + own - mean(own, {-1}, true) : own);
    }
    trace.output("head", values.size() == 1 ? values[0] : concat(values, -1));
}

template <class Learner>
TracedAgents traced(const AgentSpec& schema, const PolicyNetwork& network, const Learner& learner,
                    uint64_t seed) {
    TracedAgents out{build_agent_graphs(schema, network, learner, seed), make_manifest(schema, learner)};
    if constexpr (!std::is_same_v<Learner, Sac>) {
        out.traces.push_back(std::make_unique<Trace>("policy"));
        trace_policy(*out.traces.back(), schema, network, learner, seed);
    }
    return out;
}

}  // namespace

Result<TracedAgents> trace_described_agents(Options& options, int64_t max_rows) {
    HEARTH_ASSIGN(ObservationSpec observations, fields_of(options.objects("observations")));
    HEARTH_ASSIGN(ActionSpec actions, actions_of(options.objects("actions")));
    const int64_t stack = options.whole("stack", 1, 1, 1024);
    const auto seed =
        static_cast<uint64_t>(options.whole("seed", 0, 0, std::numeric_limits<int64_t>::max()));
    const AgentSpec schema(std::move(observations), std::move(actions), stack);
    HEARTH_TRY(schema.status());
    HEARTH_ASSIGN(const PolicyNetwork network, network_of(options.object("network"), seed));
    Options learner = options.object("learner");
    const std::string kind = learner.text("kind", "ppo", {"ppo", "dqn", "sac"});
    if (kind == "dqn") {
        HEARTH_ASSIGN(Dqn dqn, dqn_of(learner));
        dqn.replay.n_agents = max_rows;
        return traced(schema, network, dqn, seed);
    }
    if (kind == "sac") {
        HEARTH_ASSIGN(Sac sac, sac_of(learner));
        sac.replay.n_agents = max_rows;
        return traced(schema, network, sac, seed);
    }
    HEARTH_ASSIGN(Ppo ppo, ppo_of(learner));
    ppo.n_agents = max_rows;
    return traced(schema, network, ppo, seed);
}

}  // namespace hearth::workbench
