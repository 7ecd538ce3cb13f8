// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes the configuration of training runs as JSON.

#include "train/config.hpp"

#include "classic/task.hpp"

#include <nlohmann/json.hpp>
#include <programs/json.hpp>
#include <programs/learner_json.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace hearth::train {

namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::set<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Reads the keys of an object; unread keys are an error.
class ObjectReader {
  public:
    ObjectReader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
        if (!json.is_object()) fail("expected an object", json);
    }

    void read(const char* key, std::string& out) {
        if (const Json* value = find(key)) {
            if (!value->is_string()) return fail(named(key) + ": expected a text", *value);
            out = value->get<std::string>();
        }
    }
    void read(const char* key, bool& out) {
        if (const Json* value = find(key)) {
            if (!value->is_boolean()) return fail(named(key) + ": expected true or false", *value);
            out = value->get<bool>();
        }
    }
    void read(const char* key, int64_t& out, int64_t least, int64_t most) {
        if (const Json* value = find(key)) {
            const bool fits = value->is_number_unsigned() &&
                              value->get<uint64_t>() >= static_cast<uint64_t>(least) &&
                              value->get<uint64_t>() <= static_cast<uint64_t>(most);
            if (!fits)
                return fail(named(key) + ": expected a whole number from " + std::to_string(least) +
                                " to " + std::to_string(most),
                            *value);
            out = value->get<int64_t>();
        }
    }
    void read(const char* key, std::vector<int64_t>& out, int64_t least, int64_t most) {
        const Json* value = find(key);
        if (value == nullptr) return;
        out.clear();
        if (!value->is_array() || value->empty() || value->size() > 16)
            return fail(named(key) + ": expected a list of 1 to 16 numbers", *value);
        for (const Json& one : *value) {
            if (!one.is_number_unsigned() || one.get<uint64_t>() < static_cast<uint64_t>(least) ||
                one.get<uint64_t>() > static_cast<uint64_t>(most))
                return fail(named(key) + ": expected whole numbers from " + std::to_string(least) +
                                " to " + std::to_string(most),
                            one);
            out.push_back(one.get<int64_t>());
        }
    }
    const Json* find(const char* key) {
        known_.insert(key);
        if (!json_.is_object()) return nullptr;
        const auto at = json_.find(key);
        return at == json_.end() ? nullptr : &*at;
    }
    std::string named(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

    Status finish() {
        if (status_.ok() && json_.is_object())
            for (const auto& [key, value] : json_.items())
                if (!known_.contains(key))
                    return invalid_argument("unknown key '" + named(key.c_str()) + "'; there are " +
                                            joined(known_));
        return status_;
    }

  private:
    void fail(const std::string& expected, const Json& found) {
        if (status_.ok())
            status_ = invalid_argument(expected + ", found " + programs::describe(found));
    }

    const Json& json_;
    std::string path_;
    std::set<std::string> known_;
    Status status_;
};

/// The object with keys of version 0.1 under today's names, for configurations in old brains.
Json with_current_names(const Json& ppo) {
    constexpr std::pair<const char*, const char*> kNames[] = {
        {"agents", "n_agents"},
        {"horizon", "n_steps"},
        {"minibatches", "n_minibatches"},
        {"epochs", "n_epochs"},
        {"clip", "clip_range"},
        {"entropy", "ent_coef"},
        {"lambda", "gae_lambda"},
        {"value_weight", "vf_coef"},
        {"first_log_deviation", "log_std_init"},
        {"kl_stop", "target_kl"},
        {"gradient_norm", "max_grad_norm"},
        {"reward_limit", "clip_reward"},
        {"update_ratio", "max_update_ratio"}};
    if (!ppo.is_object()) return ppo;
    Json current = ppo;
    for (const auto& [old_name, new_name] : kNames) {
        if (!ppo.contains(old_name) || ppo.contains(new_name)) continue;
        Json value = ppo[old_name];
        current.erase(old_name);
        // It was the coefficient of half the squared error.
        if (std::string_view(new_name) == "vf_coef" && value.is_number())
            value = value.get<double>() / 2;
        current[new_name] = std::move(value);
    }
    return current;
}

/// Refuses tunable hyperparameters that training never changes: they would be fixed in silence.
Status validate_fixed(const Json& ppo) {
    for (const char* name : {"ent_coef", "reference_kl_coef", "bc_coef", "rnd_coef"})
        if (const auto given = ppo.find(name); given != ppo.end() && given->is_object())
            return invalid_argument(std::string("ppo.") + name + ": expected a number, found " +
                                    given->dump() +
                                    "; training tunes learning_rate and clip_range alone");
    return {};
}

}  // namespace

std::string TrainConfig::text() const {
    Json json = {{"task", task},
                 {"seed", seed},
                 {"steps", steps},
                 {"network", network},
                 {"decays", decays},
                 {"checkpoint_windows", checkpoint_windows},
                 {"rollout_steps", rollout_steps},
                 {"varies_rules", varies_rules},
                 {"ppo", programs::write_learner<Json>(ppo)}};
    if (!demonstrations.empty()) json["demonstrations"] = demonstrations;
    return json.dump(2) + "\n";
}

Result<TrainConfig> parse_config(std::string_view text) {
    Result<Json> parsed = programs::parse_json<Json>(text);
    if (!parsed.ok()) return parsed.status().with_context("configuration");
    const Json json = std::move(*parsed);
    TrainConfig config;
    ObjectReader root(json, "");
    root.read("task", config.task);
    int64_t seed = 0;
    root.read("seed", seed, 0, int64_t{1} << 53);
    config.seed = static_cast<uint64_t>(seed);
    root.read("steps", config.steps, 1, int64_t{1} << 40);
    root.read("network", config.network, 1, 4096);
    root.read("decays", config.decays);
    root.read("checkpoint_windows", config.checkpoint_windows, 1, 1 << 30);
    root.read("rollout_steps", config.rollout_steps, 0, 1 << 16);
    root.read("varies_rules", config.varies_rules);
    root.read("demonstrations", config.demonstrations);
    if (const Json* given = root.find("ppo")) {
        agents::AnyLearner learner(config.ppo);
        const Json ppo = with_current_names(*given);
        HEARTH_TRY(programs::read_learner(ppo, "ppo", learner));
        HEARTH_TRY(validate_fixed(ppo));
        config.ppo = *learner.as<agents::Ppo>();
    }
    using agents::Hyperparameter;
    for (Hyperparameter* input : {&config.ppo.learning_rate, &config.ppo.clip_range})
        *input = Hyperparameter::tunable(input->value());
    for (Hyperparameter* fixed : {&config.ppo.ent_coef, &config.ppo.reference_kl_coef,
                                  &config.ppo.bc_coef, &config.ppo.rnd_coef})
        *fixed = fixed->value();
    HEARTH_TRY(root.finish());
    if (config.task != kHatchlings && config.task != kGhostLap &&
        std::ranges::find(classic::kTaskNames, config.task) == classic::kTaskNames.end()) {
        std::string names;
        for (const std::string_view name : classic::kTaskNames) names += std::string(name) + ", ";
        names += std::string(kHatchlings) + ", " + std::string(kGhostLap);
        return invalid_argument("task: expected one of " + names + ", found '" + config.task + "'");
    }
    if (config.varies_rules && config.task != kHatchlings)
        return invalid_argument("varies_rules: expected false, as " + config.task +
                                " has one set of rules");
    return config;
}

}  // namespace hearth::train
