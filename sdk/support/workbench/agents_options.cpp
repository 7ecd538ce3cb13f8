// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads schema, network and learner from options and builds the agents' graphs.

#include "agents_options.hpp"

#include "model/agents/replay.hpp"

#include <hearth/agents/learner_def.hpp>
#include <hearth/nn.hpp>

#include <programs/learner_json.hpp>

#include <algorithm>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hearth::workbench {

namespace {

using namespace agents;

constexpr int64_t kMax = int64_t{1} << 24;

using Activation = Tensor (*)(const Tensor&);

Activation activation_of(Options& o, const char* fallback = "tanh") {
    const std::string name = o.text("activation", fallback, {"tanh", "relu", "gelu", "silu"});
    if (name == "relu") return relu;
    if (name == "gelu") return gelu;
    if (name == "silu") return silu;
    return tanh;
}

Result<ObservationSpec> fields_of(std::vector<Options> list);

/// Adds one field, after reading its nested fields.
Status add_field(ObservationSpec& fields, Options& o) {
    const std::string name = o.text("name", "");
    const std::string kind = o.text("kind", "box",
                                    {"box", "binary", "discrete", "position", "unit_vector",
                                     "angle", "quaternion", "dict", "array", "entities"});
    const auto nested = [&] { return fields_of(o.objects("fields")); };
    if (kind == "box") {
        const int64_t size = o.whole("size", 1, 1, kMax);
        const Range range{o.number("low", -1), o.number("high", 1)};
        fields.box(name, size, range, o.flag("normalized", true));
    } else if (kind == "binary") {
        fields.binary(name);
    } else if (kind == "discrete") {
        fields.discrete(name, o.whole("n", 0, 1, kMax));
    } else if (kind == "position") {
        const int64_t dims = o.whole("dims", 2, 1, kMax);
        fields.position(name, dims, o.number("scale", 1));
    } else if (kind == "unit_vector") {
        fields.unit_vector(name, o.whole("dims", 2, 1, kMax));
    } else if (kind == "angle") {
        fields.angle(name);
    } else if (kind == "quaternion") {
        fields.quaternion(name);
    } else if (kind == "dict") {
        HEARTH_ASSIGN(const ObservationSpec own, nested());
        fields.dict(name, own);
    } else if (kind == "array") {
        const int64_t count = o.whole("count", 1, 1, kMax);
        HEARTH_ASSIGN(const ObservationSpec own, nested());
        fields.array(name, count, own);
    } else if (kind == "entities") {
        const int64_t max_count = o.whole("max_count", 1, 1, kMax);
        HEARTH_ASSIGN(const ObservationSpec own, nested());
        fields.entities(name, max_count, own);
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
        if (o.text("kind", "continuous", {"discrete", "continuous"}) == "discrete") {
            const int64_t n = o.whole("n", 0, 1, kMax);
            actions.discrete(name, n, o.flag("masked", false));
        } else {
            const int64_t size = o.whole("size", 1, 1, kMax);
            const double low = o.number("low", -1);
            actions.continuous(name, size, {low, o.number("high", 1)});
        }
        HEARTH_TRY(o.finish());
    }
    HEARTH_TRY(actions.status());
    return actions;
}

/// Dense layers like mlp_network's, named PREFIX.SCOPE.0 and so on.
Tensor dense_layers(Trace& trace, const std::string& prefix, Tensor x,
                    const std::vector<int64_t>& sizes, Activation activation, uint64_t seed) {
    for (size_t i = 0; i < sizes.size(); ++i)
        x = activation(
            dense(trace, nn::join_name(prefix, i), x, sizes[i], std::numbers::sqrt2, seed));
    return x;
}

/// Dense layers, one LSTM whose recurrent state is its h and c concatenated, dense layers: the
/// structure of the recurrent PPO of Stable-Baselines3 and CleanRL.
PolicyNetwork lstm_network(int64_t hidden_size, std::vector<int64_t> before,
                           std::vector<int64_t> after, Activation activation, uint64_t seed) {
    PolicyNetwork network;
    network.recurrent_state_size = 2 * hidden_size;
    network.forward = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                          const Tensor& recurrent_state) {
        const Tensor x = dense_layers(trace, nn::join_name(prefix, "before"), features, before,
                                      activation, seed);
        const auto [h, c] =
            nn::lstm_cell(trace, nn::join_name(prefix, "lstm"), x,
                          {slice(recurrent_state, -1, 0, hidden_size),
                           slice(recurrent_state, -1, hidden_size, 2 * hidden_size)},
                          hidden_size, {.seed = seed});
        return PolicyOutput{
            dense_layers(trace, nn::join_name(prefix, "after"), h, after, activation, seed),
            concat({h, c}, -1)};
    };
    network.forward_sequence = [=](Trace& trace, std::string_view prefix, const Tensor& features,
                                   const Tensor& recurrent_state, const Tensor& episode_starts) {
        const Tensor x = dense_layers(trace, nn::join_name(prefix, "before"), features, before,
                                      activation, seed);
        const auto state = [&](int64_t begin) {
            return unsqueeze(slice(recurrent_state, -1, begin, begin + hidden_size), {0});
        };
        const Tensor y = nn::lstm(trace, nn::join_name(prefix, "lstm"), x, hidden_size,
                                  {.seed = seed,
                                   .h = state(0),
                                   .c = state(hidden_size),
                                   .episode_starts = episode_starts})
                             .output;
        return dense_layers(trace, nn::join_name(prefix, "after"), y, after, activation, seed);
    };
    return network;
}

/// A convolution of a square kernel, without padding.
struct Convolution {
    int64_t channels = 0, kernel_size = 0, stride = 1;
};

/// Convolutions, then dense layers (Mnih et al., 2015).
struct CnnOptions {
    std::vector<int64_t> shape;  ///< of the image: height, width, channels
    bool channels_last = true;   ///< false: channels, height, width
    std::vector<Convolution> convolutions;
    std::vector<int64_t> hidden_sizes;
    Activation activation = relu;
    nn::WeightInit init = nn::WeightInit::kPyTorchDefault;
    uint64_t seed = 0;
};

PolicyNetwork cnn_network(const CnnOptions& cnn) {
    PolicyNetwork network;
    network.head_init = cnn.init;
    network.forward = [cnn](Trace& trace, std::string_view prefix, const Tensor& features,
                            const Tensor&) {
        const Dim rows = features.dim(0);
        Tensor x = reshape(features, {rows, cnn.shape[0], cnn.shape[1], cnn.shape[2]});
        if (cnn.channels_last) x = transpose(x, {0, 3, 1, 2});
        size_t layer = 0;
        for (const Convolution& c : cnn.convolutions)
            x = cnn.activation(nn::conv2d(
                trace, nn::join_name(prefix, layer++), x, c.channels,
                {c.kernel_size, c.kernel_size},
                {.window = {.strides = {c.stride, c.stride}}, .init = cnn.init, .seed = cnn.seed}));
        if (!x.ok()) return PolicyOutput{x, {}};
        x = reshape(x, {rows, x.dim(1).count * x.dim(2).count * x.dim(3).count});
        for (const int64_t size : cnn.hidden_sizes)
            x = cnn.activation(dense(trace, nn::join_name(prefix, layer++), x, size,
                                     std::numbers::sqrt2, cnn.seed, cnn.init));
        return PolicyOutput{x, {}};
    };
    return network;
}

nn::WeightInit init_of(Options& o, std::string_view fallback) {
    const std::string init =
        o.text("init", std::string(fallback), {"orthogonal", "pytorch_default"});
    return init == "orthogonal" ? nn::WeightInit::kOrthogonal : nn::WeightInit::kPyTorchDefault;
}

/// shape: of the image.
Result<CnnOptions> cnn_options(Options& o, std::vector<int64_t> shape, bool channels_last,
                               uint64_t seed) {
    CnnOptions cnn;
    cnn.shape = std::move(shape);
    cnn.channels_last = channels_last;
    for (Options& each : o.objects("convolutions")) {
        cnn.convolutions.push_back({each.whole("channels", 0, 1, 1 << 16),
                                    each.whole("kernel_size", 0, 1, 1 << 16),
                                    each.whole("stride", 1, 1, 1 << 16)});
        HEARTH_TRY(each.finish());
    }
    cnn.hidden_sizes = o.wholes("hidden_sizes", {512}, 1, 1 << 16);
    cnn.activation = activation_of(o, "relu");
    cnn.init = init_of(o, "pytorch_default");
    cnn.seed = seed;
    return cnn;
}

/// observation_size: that of the whole observation, which is the image.
Result<PolicyNetwork> cnn_of(Options& o, int64_t observation_size, uint64_t seed) {
    std::vector<int64_t> shape = o.wholes("shape", {}, 1, 1 << 16);
    const bool channels_last = o.flag("channels_last", true);
    HEARTH_ASSIGN(const CnnOptions cnn, cnn_options(o, std::move(shape), channels_last, seed));
    const int64_t size =
        cnn.shape.size() == 3 ? cnn.shape[0] * cnn.shape[1] * cnn.shape[2] : int64_t{0};
    if (size != observation_size)
        return invalid_argument(
            "options: network: shape: expected the three extents of an image that is the whole "
            "observation, which has " +
            std::to_string(observation_size) + " floats; found " +
            std::to_string(cnn.shape.size()) + " extents of " + std::to_string(size));
    return cnn_network(cnn);
}

Result<PolicyNetwork> network_of(Options o, int64_t observation_size, uint64_t seed) {
    const std::string kind = o.text("kind", "mlp", {"mlp", "cnn", "gru", "lstm"});
    PolicyNetwork network;
    if (kind == "mlp") {
        const std::vector<int64_t> hidden_sizes = o.wholes("hidden_sizes", {64, 64}, 1, 1 << 16);
        const nn::WeightInit init = init_of(o, "orthogonal");
        network = mlp_network(hidden_sizes, activation_of(o), seed, init);
    } else if (kind == "cnn") {
        HEARTH_ASSIGN(network, cnn_of(o, observation_size, seed));
    } else if (kind == "gru") {
        network = gru_network(o.whole("hidden_size", 64, 1, 1 << 16), seed);
    } else {
        const int64_t hidden_size = o.whole("hidden_size", 64, 1, 1 << 16);
        std::vector<int64_t> before = o.wholes("before", {}, 1, 1 << 16);
        std::vector<int64_t> after = o.wholes("after", {}, 1, 1 << 16);
        network =
            lstm_network(hidden_size, std::move(before), std::move(after), activation_of(o), seed);
    }
    HEARTH_TRY(o.finish());
    return network;
}

/// Reads the object with the key kind and the hyperparameters of that learner.
Result<AnyLearner> learner_of(const Json& object, int64_t max_agents) {
    const Json kind = object.is_object() && object.contains("kind") ? object["kind"] : "ppo";
    const LearnerDef* def = kind.is_string() ? find_learner(kind.get<std::string>()) : nullptr;
    if (def == nullptr) {
        std::string names;
        for (const LearnerDef* known : learners())
            names += (names.empty() ? "" : ", ") + std::string(known->name);
        return invalid_argument("options: learner: kind: expected one of " + names + ", found " +
                                programs::describe(kind));
    }
    AnyLearner learner(*def);
    if (!object.is_null())
        HEARTH_TRY(programs::read_learner(object, "learner", learner, {"kind", "n_agents"})
                       .with_context("options"));
    HEARTH_TRY(learner.set("n_agents", max_agents));
    return learner;
}

struct NetworkInput {
    Tensor observation, recurrent_state;
};

/// Encodes the observation of `prefix` as its learner does and applies its network.
PolicyOutput trunk(Trace& trace, const char* prefix, const AgentSpec& schema,
                   const PolicyNetwork& network, const NetworkInput& input, bool normalize,
                   double clip) {
    EncodeOptions encoding;
    encoding.normalizer = published_normalizer(trace, schema, normalize);
    encoding.clip = clip;
    const Tensor features = encode(trace, prefix, schema, input.observation, encoding);
    return network.forward(trace, prefix, features, input.recurrent_state);
}

/// Traces the entry "policy" of PPO.
void trace_policy(Trace& trace, const AgentSpec& schema, const PolicyNetwork& network,
                  const Ppo& ppo, uint64_t seed) {
    NetworkInput actor, critic;
    actor.observation = critic.observation =
        trace.input("observation", {kBatch, schema.observation_size()});
    if (const int64_t size = network.recurrent_state_size; size > 0) {
        const Tensor both = trace.input("recurrent_state", {kBatch, 2 * size});
        actor.recurrent_state = slice(both, -1, 0, size);
        critic.recurrent_state = slice(both, -1, size, 2 * size);
    }
    const auto run = [&](const char* prefix, const NetworkInput& input) {
        return trunk(trace, prefix, schema, network, input, ppo.normalize_observations,
                     ppo.limits.clip_obs);
    };
    const PolicyOutput policy = run("actor", actor), value = run("critic", critic);
    trace.output("logits_and_means", dense(trace, "actor.head", policy.features,
                                           ActionDistribution::param_size(schema), 0.01, seed));
    trace.output("value", squeeze(dense(trace, "critic.head", value.features, 1, 1, seed), {-1}));
    if (network.recurrent_state_size > 0)
        trace.output("next_recurrent_state",
                     concat({policy.recurrent_state, value.recurrent_state}, -1));
}

/// Traces the entry "policy" of DQN: the values of all discrete actions, in order.
void trace_policy(Trace& trace, const AgentSpec& schema, const PolicyNetwork& network,
                  const Dqn& dqn, uint64_t seed) {
    NetworkInput input;
    input.observation = trace.input("observation", {kBatch, schema.observation_size()});
    const Tensor features = trunk(trace, "q", schema, network, input,
                                  dqn.replay.normalize_observations, dqn.limits.clip_obs)
                                .features;
    std::vector<Tensor> values;
    Tensor base;
    if (dqn.dueling) base = dense(trace, "q.value", features, 1, 1, seed, network.head_init);
    for (const Action& a : schema.actions()) {
        const Tensor own = dense(trace, "q.choices." + a.name, features, a.count,
                                 dqn.dueling ? 0.01 : 1, seed, network.head_init);
        values.push_back(dqn.dueling ? base + own - mean(own, {-1}, true) : own);
    }
    trace.output("q_values", values.size() == 1 ? values[0] : concat(values, -1));
}

}  // namespace

Result<DescribedAgents> build_described_agents(Options& options, int64_t max_agents) {
    HEARTH_ASSIGN(ObservationSpec observations, fields_of(options.objects("observations")));
    HEARTH_ASSIGN(ActionSpec actions, actions_of(options.objects("actions")));
    const int64_t frame_stack = options.whole("frame_stack", 1, 1, 1024);
    const auto seed =
        static_cast<uint64_t>(options.whole("seed", 0, 0, std::numeric_limits<int64_t>::max()));
    const AgentSpec schema(std::move(observations), std::move(actions), frame_stack);
    HEARTH_TRY(schema.status());
    HEARTH_ASSIGN(const PolicyNetwork network,
                  network_of(options.object("network"), schema.observation_size(), seed));
    HEARTH_ASSIGN(const AnyLearner learner, learner_of(options.any("learner"), max_agents));
    DescribedAgents out{learner.build_graphs(schema, network, seed), learner.manifest(schema)};
    const auto add_policy = [&](const auto& known) {
        out.graphs.push_back(std::make_unique<Trace>("policy"));
        trace_policy(*out.graphs.back(), schema, network, known, seed);
    };
    if (const Ppo* ppo = learner.as<Ppo>()) add_policy(*ppo);
    if (const Dqn* dqn = learner.as<Dqn>()) add_policy(*dqn);
    return out;
}

namespace {

/// Reads one number for each element of a sample; a tensor of the batch's shape, or nothing.
Result<std::optional<HostTensor>> numbers_of(Options& o, const char* key, const Shape& sample) {
    const Json list = o.any(key);
    if (list.is_null()) return std::optional<HostTensor>();
    HostTensor out(DType::kF32, sample);
    const bool fits =
        list.is_array() && list.size() == static_cast<size_t>(out.element_count()) &&
        std::all_of(list.begin(), list.end(), [](const Json& each) { return each.is_number(); });
    if (!fits)
        return invalid_argument("options: " + std::string(key) + ": expected " +
                                std::to_string(out.element_count()) + " numbers, found " +
                                programs::describe(list));
    for (size_t i = 0; i < list.size(); ++i)
        out.set(static_cast<int64_t>(i), list[i].get<double>());
    return std::optional(std::move(out));
}

}  // namespace

Result<DescribedNetwork> build_described_network(Options& options) {
    const std::vector<int64_t> extents = options.wholes("input", {}, 1, kMax);
    const int64_t outputs = options.whole("outputs", 1, 1, kMax);
    const auto seed =
        static_cast<uint64_t>(options.whole("seed", 0, 0, std::numeric_limits<int64_t>::max()));
    const bool is_size = !extents.empty() && extents.size() < kMaxRank;
    const Shape sample(is_size ? std::span<const int64_t>(extents) : std::span<const int64_t>());
    const int64_t size = sample.element_count(1);
    if (!is_size || size > kMax)
        return invalid_argument("options: input: expected the extents of a sample, of up to " +
                                std::to_string(kMax) + " elements");
    Options o = options.object("network");
    PolicyNetwork network;
    if (o.text("kind", "mlp", {"mlp", "cnn"}) == "cnn") {
        if (extents.size() != 3)
            return invalid_argument(
                "options: network: kind \"cnn\" needs images [channels, "
                "height, width] as input, found " +
                to_string(sample));
        HEARTH_ASSIGN(const CnnOptions cnn, cnn_options(o, extents, false, seed));
        HEARTH_TRY(o.finish());
        network = cnn_network(cnn);
    } else {
        HEARTH_ASSIGN(network, network_of(o, size, seed));
    }
    HEARTH_ASSIGN(const std::optional<HostTensor> mean, numbers_of(options, "mean", sample));
    HEARTH_ASSIGN(const std::optional<HostTensor> std, numbers_of(options, "std", sample));
    DescribedNetwork described;
    described.input = sample;
    described.input.insert(0, kBatch);
    described.forward = [=](Trace& trace, const Tensor& x) {
        Tensor y = x;
        if (mean) y = y - trace.constant(*mean);
        if (std) y = y / trace.constant(*std);
        const Tensor features =
            network.forward(trace, "net", reshape(y, {kBatch, size}), {}).features;
        return dense(trace, "net.head", features, outputs, 1, seed, network.head_init);
    };
    return described;
}

Result<AgentGraphs> build_described_regression(Options& options) {
    Regression r;
    r.input_size = options.whole("input_size", r.input_size, 1, kMax);
    r.output_size = options.whole("output_size", r.output_size, 1, kMax);
    r.buffer_size = options.whole("buffer_size", r.buffer_size, 1, kMax);
    r.batch_size = options.whole("batch_size", r.batch_size, 1, kMax);
    r.learning_starts = options.whole("learning_starts", r.learning_starts, 1, kMax);
    r.learning_rate = options.number("learning_rate", r.learning_rate.value());
    r.huber_delta = options.number("huber_delta", r.huber_delta);
    r.target_limit = options.number("target_limit", r.target_limit);
    r.limits.max_grad_norm = options.number("max_grad_norm", r.limits.max_grad_norm);
    r.limits.max_update_ratio = options.number("max_update_ratio", r.limits.max_update_ratio);
    const auto seed =
        static_cast<uint64_t>(options.whole("seed", 0, 0, std::numeric_limits<int64_t>::max()));
    HEARTH_ASSIGN(const PolicyNetwork network,
                  network_of(options.object("network"), r.input_size, seed));
    return build_regression_graphs(network, r, seed);
}

}  // namespace hearth::workbench
