// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The learners as records, for code that finds a learner and its hyperparameters by name at run
// time: Python, `hearth train`, documentation.  C++ that knows its learner uses the structs of
// learners.hpp, whose members and defaults the records describe.
//
//     const LearnerDef* def = find_learner("sac");
//     AnyLearner learner(*def);
//     HEARTH_TRY(learner.set("batch_size", int64_t{256}));
//     const AgentGraphs graphs = learner.build_graphs(spec, mlp_network({64, 64}));

#pragma once

#include <hearth/agents/learners.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace hearth::agents {

/// Value of a hyperparameter.  int64_t: also the index of a choice.
using HyperparameterValue =
    std::variant<int64_t, double, bool, Hyperparameter, std::vector<double>>;

/// Number of any value but a list, which gives NaN; flags are 0 or 1.
double number_of(const HyperparameterValue& value);

/// Record of a hyperparameter: a member of the learner's struct, or of its ReplayOptions or
/// SafetyLimits.
struct HyperparameterDef {
    std::string_view name;  ///< the member's, unique within a learner
    std::string_view description;
    /// Of numbers, elements of lists, and indices of choices.
    Range range = {0, 1};
    std::span<const std::string_view> choices = {};
    // The same in other places; empty where there is none.
    std::string_view symbol = {};     ///< in the paper
    std::string_view sb3 = {};        ///< Stable-Baselines3
    std::string_view ml_agents = {};  ///< ML-Agents
    /// The default, NaN, stands for a value that the learner chooses.
    bool nan_is_automatic = false;
    HyperparameterValue (*get)(const void* learner) = nullptr;
    /// value: of the type that get() returns.
    void (*set)(void* learner, const HyperparameterValue& value) = nullptr;
};

/// Record of a learner.  `learner` is its struct.
struct LearnerDef {
    std::string_view name;   ///< in options and configurations, such as "ppo"
    std::string_view title;  ///< in messages and documentation, such as "PPO"
    std::string_view paper;
    Algorithm algorithm = Algorithm::kPpo;
    /// In the order of the struct's members, limits last.
    std::span<const HyperparameterDef> hyperparameters;
    /// Entries of every program of this learner, in order, publish and shrink_and_perturb excluded.
    std::span<const std::string_view> entries;
    std::shared_ptr<void> (*create)(const void* copied) = nullptr;  ///< null: with defaults
    AgentGraphs (*build)(const AgentSpec& spec, const PolicyNetwork& network, const void* learner,
                         uint64_t seed) = nullptr;
    /// Sets what the driver's schedule does not take from hyperparameters of the same name.
    void (*set_schedule)(const void* learner, AgentManifest& manifest) = nullptr;

    const HyperparameterDef* find(std::string_view hyperparameter) const;
};

/// All learners, in the order of the documentation.
std::span<const LearnerDef* const> learners();
/// Null if there is none of this name.
const LearnerDef* find_learner(std::string_view name);

/// A learner that is known at run time, with its hyperparameters.
class AnyLearner {
  public:
    /// With defaults.
    explicit AnyLearner(const LearnerDef& def) : def_(&def), learner_(def.create(nullptr)) {}
    template <class Learner>
    AnyLearner(const Learner& learner)
        : def_(&learner_def<Learner>()), learner_(def_->create(&learner)) {}
    AnyLearner(const AnyLearner& other)
        : def_(other.def_), learner_(def_->create(other.learner_.get())) {}
    AnyLearner& operator=(const AnyLearner& other) { return *this = AnyLearner(other); }
    AnyLearner(AnyLearner&&) = default;
    AnyLearner& operator=(AnyLearner&&) = default;

    const LearnerDef& def() const { return *def_; }
    /// Null if it is another learner.
    template <class Learner>
    const Learner* as() const {
        return def_ == &learner_def<Learner>() ? static_cast<const Learner*>(learner_.get())
                                               : nullptr;
    }

    /// Errors: kNotFound, naming the learner's hyperparameters.
    Result<HyperparameterValue> get(std::string_view name) const;
    /// A number sets any number; Hyperparameter::tunable() only what may be tunable.
    /// Errors: kNotFound as get(); kInvalidArgument for another type or a value out of range,
    /// naming what is expected.
    Status set(std::string_view name, const HyperparameterValue& value);

    /// Errors: recorded in the graphs.
    AgentGraphs build_graphs(const AgentSpec& spec, const PolicyNetwork& network,
                             uint64_t seed = 0) const {
        return detail::build_agent_graphs(*def_, spec, network, learner_.get(), seed);
    }
    AgentManifest manifest(const AgentSpec& spec) const {
        return detail::make_manifest(*def_, spec, learner_.get());
    }

  private:
    const LearnerDef* def_;
    std::shared_ptr<void> learner_;
};

}  // namespace hearth::agents
