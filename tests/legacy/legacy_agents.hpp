// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The learners whose files are in tests/data/legacy, the small world in which they learned, and rigs that
// drive them.

#pragma once

#include "native/open_device.hpp"

#include <hearth/agents.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/brain.hpp>
#include <hearth/compile.hpp>

#include <standalone/program_runner.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::legacy {

using agents::AgentId;
using agents::Agents;

// --- Learners ---

struct Learner {
    std::string name;
    agents::AgentSpec schema;
    agents::AgentManifest manifest;
    agents::AgentGraphs traces;
};

constexpr uint64_t kSeed = 7;
inline constexpr const char* kLearners[] = {"ppo", "gru", "dqn", "sac", "clone", "praise", "small"};
/// Learners with a package.
inline constexpr const char* kPackages[] = {"ppo", "small"};

enum class Senses { kPlain, kWithSet };

/// Five floats and two kinds of actions, of which each learner uses those that it supports.
inline agents::AgentSpec make_schema(Senses kind, bool has_choices, bool has_numbers) {
    agents::ObservationSpec senses;
    senses.box("speed", 1, {0, 4}).angle("heading");
    const agents::ObservationSpec ember = agents::ObservationSpec().box("distance", 1, {-1, 1});
    if (kind == Senses::kWithSet)
        senses.entities("embers", 2, ember);
    else
        senses.binary("is_lit").array("posts", 2, ember);
    agents::ActionSpec deeds;
    if (has_choices) deeds.discrete("move", 3, true);
    if (has_choices && !has_numbers) deeds.discrete("chirp", 2);
    if (has_numbers) deeds.continuous("aim", has_choices ? 1 : 2, {-2, 2});
    return {senses, deeds};
}

template <class Settings>
Learner make_learner(std::string name, const agents::AgentSpec& schema,
                     const agents::PolicyNetwork& network, const Settings& settings) {
    Learner learner;
    learner.name = std::move(name);
    learner.schema = schema;
    learner.manifest = make_manifest(schema, settings);
    learner.traces = build_agent_graphs(schema, network, settings, kSeed);
    return learner;
}

inline agents::Ppo ppo_settings() {
    using agents::Hyperparameter;
    agents::Ppo ppo;
    ppo.n_agents = 3;
    ppo.n_steps = 4;
    ppo.n_minibatches = 2;
    ppo.n_epochs = 2;
    ppo.learning_rate = Hyperparameter::tunable(3e-3);
    ppo.clip_range = Hyperparameter::tunable(0.2);
    ppo.ent_coef = Hyperparameter::tunable(0.003);
    ppo.reference_kl_coef = Hyperparameter::tunable(0.01);
    ppo.demo_capacity = 16;
    ppo.bc_coef = Hyperparameter::tunable(0.1);
    return ppo;
}

inline agents::Ppo gru_settings() {
    agents::Ppo ppo;
    ppo.n_agents = 2;
    ppo.n_steps = 4;
    ppo.n_minibatches = 2;
    ppo.n_epochs = 2;
    ppo.bptt_length = 2;
    ppo.learning_rate = 3e-3;
    return ppo;
}

inline agents::Dqn dqn_settings() {
    agents::Dqn dqn;
    dqn.replay = {.n_agents = 2,
                  .buffer_size = 64,
                  .batch_size = 8,
                  .learning_starts = 8,
                  .normalize_observations = true};
    dqn.learning_rate = agents::Hyperparameter::tunable(1e-3);
    dqn.return_steps = 2;
    dqn.double_q = dqn.dueling = true;
    dqn.prioritized_alpha = 0.6;
    dqn.prioritized_beta = agents::Hyperparameter::tunable(0.4);
    dqn.target_update_interval = 5;
    return dqn;
}

inline agents::Sac sac_settings() {
    agents::Sac sac;
    sac.replay = {.n_agents = 2, .buffer_size = 64, .batch_size = 8, .learning_starts = 8};
    return sac;
}

inline agents::BehaviorCloning clone_settings() {
    agents::BehaviorCloning clone;
    clone.n_agents = 3;
    clone.buffer_size = 64;
    clone.batch_size = 8;
    clone.learning_starts = 8;
    clone.normalize_observations = true;
    clone.max_demonstrator_fraction = 0.5;
    return clone;
}

inline agents::Tamer praise_settings() {
    agents::Tamer praise;
    praise.n_agents = 2;
    praise.buffer_size = 64;
    praise.batch_size = 8;
    return praise;
}

/// The smallest learner, for small packages.
inline agents::Ppo small_settings() {
    agents::Ppo ppo;
    ppo.n_agents = 2;
    ppo.n_steps = 2;
    ppo.n_minibatches = ppo.n_epochs = 1;
    ppo.learning_rate = agents::Hyperparameter::tunable(3e-3);
    ppo.normalize_observations = ppo.normalize_rewards = ppo.normalize_advantages = false;
    ppo.limits.target_kl = ppo.limits.max_update_ratio = 0;
    return ppo;
}

/// One of kLearners.  Its networks are small so that its files are.
inline Learner make_learner(std::string_view name) {
    using agents::gru_network;
    using agents::mlp_network;
    if (name == "ppo")
        return make_learner("ppo", make_schema(Senses::kWithSet, true, true), mlp_network({4}),
                            ppo_settings());
    if (name == "gru")
        return make_learner("gru", make_schema(Senses::kPlain, true, true), gru_network(4),
                            gru_settings());
    if (name == "dqn")
        return make_learner("dqn", make_schema(Senses::kWithSet, true, false), mlp_network({4}),
                            dqn_settings());
    if (name == "sac")
        return make_learner("sac", make_schema(Senses::kPlain, false, true), mlp_network({4}),
                            sac_settings());
    if (name == "clone")
        return make_learner("clone", make_schema(Senses::kWithSet, true, true), mlp_network({4}),
                            clone_settings());
    if (name == "praise")
        return make_learner("praise", make_schema(Senses::kWithSet, true, false), mlp_network({4}),
                            praise_settings());
    return make_learner("small",
                        agents::AgentSpec(agents::ObservationSpec().box("place", 2),
                                          agents::ActionSpec().continuous("aim")),
                        mlp_network({}), small_settings());
}

/// Regression has no agents.
inline agents::Regression regression_settings() {
    agents::Regression regression;
    regression.input_size = 3;
    regression.output_size = 2;
    regression.buffer_size = 32;
    regression.batch_size = 8;
    regression.learning_starts = 8;
    regression.learning_rate = agents::Hyperparameter::tunable(1e-2);
    return regression;
}

inline agents::AgentGraphs regression_graphs() {
    return agents::build_regression_graphs(agents::mlp_network({8}), regression_settings(), kSeed);
}

constexpr int64_t kRegressionRows = 4;

// --- The device ---

/// This machine's CPU without vector instructions: the same bits wherever <math.h> is the same.
inline Result<native::OpenDevice> open_scalar_cpu() {
    return native::open_device("cpu", {.cpu = CpuIsa::kScalar, .build = {.flags = "-O1"}});
}

// --- Driving ---

/// Agents on a device, and an application that submits frames one by one.
class Rig {
  public:
    /// Compiles the learner for the device, which must outlive this.
    static Result<std::unique_ptr<Rig>> create(standalone::Device& device, const Learner& learner) {
        auto rig = std::unique_ptr<Rig>(new Rig(device));
        HEARTH_ASSIGN(rig->context_, Context::create(device.host_info()));
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, rig->context_.device_caps());
        options.max_batch_size = learner.manifest.n_agents;
        const auto entries = agents::runtime_entries(learner.traces, learner.manifest);
        HEARTH_ASSIGN(const Compiled compiled, compile(std::span<Trace* const>(entries), options));
        rig->bytes_ = compiled.bytes;
        HEARTH_ASSIGN(rig->program_, LoadedProgram::load(rig->context_, compiled.bytes));
        const std::vector<std::byte> manifest = learner.manifest.save();
        return start(std::move(rig), {.manifest = manifest}, learner.manifest.n_agents);
    }
    /// From a package.  schema: what the game expects.
    static Result<std::unique_ptr<Rig>> create(standalone::Device& device,
                                               std::span<const std::byte> package,
                                               const agents::AgentSpec& schema,
                                               uint32_t agent_count) {
        auto rig = std::unique_ptr<Rig>(new Rig(device));
        HEARTH_ASSIGN(rig->context_, Context::create(device.host_info()));
        HEARTH_ASSIGN(rig->program_, LoadedProgram::load_package(rig->context_, package));
        const std::vector<std::byte> expected = schema.save();
        return start(std::move(rig), {.schema = expected}, agent_count);
    }

    /// One frame: polls, plays, records and waits.
    Status frame(const agents::RecordOptions& how, const std::function<void()>& play = {}) {
        return submit([&](VkCommandBuffer commands) -> Status {
            agents.poll();
            if (play) play();
            HEARTH_ASSIGN(const bool is_recorded, agents.record(commands, how));
            return is_recorded ? Status() : internal_error("pipelines are not ready");
        });
    }
    /// Waits until all readbacks have arrived.
    Status settle() {
        for (int i = 0; i < 3; ++i)
            HEARTH_TRY(frame({.learning_budget_us = 0, .request_decision = false}));
        agents.poll();
        return {};
    }
    Status load(std::span<const std::byte> brain) {
        HEARTH_TRY(agents.load(brain));
        return settle();
    }
    /// The current brain, by Agents::save.
    Result<std::vector<std::byte>> save() {
        HEARTH_TRY(agents.take_snapshot());
        HEARTH_TRY(settle());
        return agents.save(0);
    }
    /// Loads a brain by the session instead of the agents.
    Status record_brain(std::span<const std::byte> brain, hearth_brain_flags flags) {
        return submit([&](VkCommandBuffer commands) {
            hearth_messages messages{};
            return to_status(hearth_record_load_brain(agents.session(), commands, brain.data(),
                                                      brain.size(), flags, &messages),
                             messages.text);
        });
    }
    /// The current brain as encoded by the session, with the schema hash and the application's bytes
    /// of the brain `like`.
    Result<std::vector<std::byte>> encode(std::span<const std::byte> like,
                                          hearth_brain_flags flags) {
        HEARTH_ASSIGN(const hearth_brain_info about, brain_info(like));
        hearth_readback id = 0;
        HEARTH_TRY(submit([&](VkCommandBuffer commands) {
            return to_status(hearth_record_save_brain(agents.session(), commands, &id),
                             hearth_session_error(agents.session()));
        }));
        HEARTH_TRY(settle());
        hearth_brain_save_info info = hearth_brain_save_info_default();
        uint64_t serial = 0, bytes = 0;
        HEARTH_TRY(to_status(hearth_readback_poll(agents.session(), id, &info.snapshot,
                                                  &info.snapshot_bytes, &serial),
                             "snapshot"));
        info.flags = flags;
        info.user_schema_hash = about.user_schema_hash;
        info.user_data = about.user_data;
        info.user_data_size = about.user_data_size;
        const auto encoded = [&](void* out) {
            return to_status(hearth_brain_encode(program_.handle(), &info, out, &bytes),
                             hearth_program_error(program_.handle()));
        };
        HEARTH_TRY(encoded(nullptr));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(encoded(out.data()));
        out.resize(bytes);
        hearth_readback_release(agents.session(), id);
        return out;
    }

    const LoadedProgram& program() const { return program_; }
    /// The serialized program; empty for packages.
    std::span<const std::byte> program_bytes() const { return bytes_; }
    const std::vector<AgentId>& ids() const { return ids_; }

  private:
    explicit Rig(standalone::Device& device) : device_(device) {}
    static Result<std::unique_ptr<Rig>> start(std::unique_ptr<Rig> rig,
                                              const agents::AgentsOptions& options,
                                              uint32_t agent_count) {
        HEARTH_ASSIGN(rig->agents, Agents::create(rig->context_, rig->program_, options));
        HEARTH_TRY(rig->agents.create_pipelines());
        for (uint32_t i = 0; i < agent_count; ++i) {
            HEARTH_ASSIGN(const AgentId id, rig->agents.add());
            rig->ids_.push_back(id);
        }
        HEARTH_TRY(rig->settle());
        return rig;
    }
    Status submit(const std::function<Status(VkCommandBuffer)>& record) {
        HEARTH_TRY(context_.begin_frame(serial_ + 1, serial_));
        ++serial_;
        Status recorded;
        HEARTH_TRY(device_.run([&](VkCommandBuffer commands) { recorded = record(commands); }));
        return recorded;
    }

    standalone::Device& device_;
    Context context_;
    LoadedProgram program_;
    std::vector<std::byte> bytes_;
    std::vector<AgentId> ids_;
    uint64_t serial_ = 0;

  public:
    Agents agents;  // last: it goes before its context does
};

// --- The world ---

/// Writes as many of the values as the agent observes.
inline void see(Rig& rig, AgentId id, const std::array<float, 5>& values) {
    const std::span<float> seen = rig.agents.observation(id);
    std::copy_n(values.begin(), std::min(values.size(), seen.size()), seen.begin());
}

/// One frame of the world: observations depend on the frame, the agent and its last action.
inline Status live(Rig& rig, const Learner& learner, int frame) {
    Agents& brain = rig.agents;
    const agents::Algorithm kind = learner.manifest.algorithm;
    for (size_t i = 0; i < rig.ids().size(); ++i) {
        const AgentId id = rig.ids()[i];
        const std::span<const float> action = brain.action(id);
        const float did = action.empty() ? 0.0f : action.back();
        const float time = 0.3f * static_cast<float>(frame) + static_cast<float>(i);
        const int count = frame + static_cast<int>(i);
        const float wanted = std::sin(time);
        see(rig, id,
            {2 + 2 * wanted, 3 * std::cos(0.7f * time), static_cast<float>(count % 3),
             std::sin(1.3f * time), 0.25f * did});
        if (float* const mask = brain.action_mask(id); mask != nullptr) {
            mask[1] = count % 2 == 0 ? 1.0f : 0.0f;
            mask[2] = count % 5 != 0 ? 1.0f : 0.0f;
        }
        // A person demonstrates: always for cloning, now and then for PPO.
        if (kind == agents::Algorithm::kBehaviorCloning ||
            (learner.name == "ppo" && count % 6 == 0)) {
            const float shown[2] = {0, 1.5f * wanted};
            HEARTH_TRY(brain.add_demonstration(
                id, shown,
                kind == agents::Algorithm::kBehaviorCloning ? static_cast<uint32_t>(i) : 0));
        }
        if (kind == agents::Algorithm::kBehaviorCloning || action.empty()) continue;
        HEARTH_TRY(brain.add_reward(id, std::clamp(0.5f - std::abs(did - wanted), -1.0f, 1.0f)));
        if (kind != agents::Algorithm::kTamer && (frame + static_cast<int>(i) * 3) % 11 == 10)
            HEARTH_TRY(brain.end_episode(
                id, i % 2 ? agents::EpisodeEnd::kTerminated : agents::EpisodeEnd::kTruncated));
    }
    return {};
}

/// Plays frames [begin, end) with as much learning as possible: from rollouts after the frame that completes
/// them, from replay buffers in each frame.
inline Status play(Rig& rig, const Learner& learner, int begin, int end) {
    const bool has_windows = learner.manifest.n_steps > 0;
    for (int frame = begin; frame < end; ++frame) {
        Status lived;
        HEARTH_TRY(rig.frame({.learning_budget_us = has_windows ? 0 : 1e9},
                             [&] { lived = live(rig, learner, frame); }));
        HEARTH_TRY(lived);
        do {
            HEARTH_TRY(rig.frame({.learning_budget_us = 1e9, .request_decision = false}));
        } while (rig.agents.status().phase == HEARTH_AGENTS_UPDATE);
    }
    return rig.settle();
}

constexpr int kProbeFrames = 3;

/// The likeliest actions of agents that begin an episode, in three frames without learning:
/// [frame][agent][action size].
inline Result<std::vector<float>> likeliest_actions(Rig& rig) {
    std::vector<float> out;
    for (int frame = 0; frame < kProbeFrames; ++frame) {
        const auto look = [&] {
            for (size_t i = 0; i < rig.ids().size(); ++i) {
                const float shift =
                    0.25f * static_cast<float>(i) + 0.5f * static_cast<float>(frame);
                see(rig, rig.ids()[i], {1 + shift, 2 - 2 * shift, 2, shift - 0.75f, 0.5f});
            }
        };
        HEARTH_TRY(rig.frame({.learning_budget_us = 0, .exploration = 0}, look));
        HEARTH_TRY(rig.settle());
        for (const AgentId id : rig.ids()) {
            const std::span<const float> action = rig.agents.action(id);
            if (action.empty()) return internal_error("no action has arrived");
            out.insert(out.end(), action.begin(), action.end());
        }
    }
    return out;
}

// --- Regression: no driver, entries by name ---

class RegressionRig {
  public:
    static Result<std::unique_ptr<RegressionRig>> create(standalone::Device& device) {
        auto rig = std::unique_ptr<RegressionRig>(new RegressionRig);
        const agents::AgentGraphs traces = regression_graphs();
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, device.caps());
        options.max_batch_size = kRegressionRows;
        const auto entries = agents::all_entries(traces);
        HEARTH_ASSIGN(const Compiled compiled, compile(std::span<Trace* const>(entries), options));
        rig->bytes_ = compiled.bytes;
        HEARTH_ASSIGN(rig->runner_, standalone::ProgramRunner::create(device, compiled.bytes));
        return rig;
    }
    Status learn(int steps) {
        for (int step = 0; step < steps; ++step) {
            const HostTensor input = inputs(step);
            HostTensor target(DType::kF32, {Dim(kRegressionRows), 2});
            for (int64_t row = 0; row < kRegressionRows; ++row) {
                target.set(2 * row, input.get(3 * row) - 0.5 * input.get(3 * row + 1));
                target.set(2 * row + 1, 0.25 + 0.5 * input.get(3 * row + 2));
            }
            HEARTH_TRY(run("store", kRegressionRows, {{"input", input}, {"target", target}}));
            HEARTH_TRY(run("learn", 1, {{"learning_rate", HostTensor::scalar(1e-2)}}));
        }
        return run("publish", 1, {});
    }
    /// [rows, output size]
    Result<std::vector<float>> predict() {
        HEARTH_ASSIGN(const NamedTensors said,
                      runner_->run("predict", kRegressionRows, {{"input", inputs(1000)}}));
        const auto values = said.at("output").as<float>();
        return std::vector<float>(values.begin(), values.end());
    }
    Result<std::vector<std::byte>> save() {
        hearth_readback id = 0;
        HEARTH_TRY(runner_->submit([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(const auto recorded, runner_->session().record_save_brain(commands));
            if (!recorded) return internal_error("an entry has been recorded in part");
            id = *recorded;
            return {};
        }));
        HEARTH_TRY(runner_->begin_frame());
        HEARTH_ASSIGN(const auto arrived, runner_->session().poll(id));
        if (!arrived) return internal_error("the snapshot has not arrived");
        auto brain = runner_->program().serialize_brain(arrived->bytes);
        runner_->session().release(id);
        return brain;
    }
    Status load(std::span<const std::byte> brain, hearth_brain_flags flags = 0) {
        return runner_->submit([&](VkCommandBuffer commands) {
            return runner_->session().record_load_brain(commands, brain, flags);
        });
    }
    const LoadedProgram& program() const { return runner_->program(); }
    std::span<const std::byte> program_bytes() const { return bytes_; }

  private:
    RegressionRig() = default;
    Status run(const char* entry, int64_t rows, const NamedTensors& inputs) {
        return runner_->run(entry, rows, inputs).status();
    }
    static HostTensor inputs(int step) {
        HostTensor input(DType::kF32, {Dim(kRegressionRows), 3});
        for (int64_t i = 0; i < input.element_count(); ++i)
            input.set(i, std::sin(0.7 * static_cast<double>(i + 5 * step)));
        return input;
    }

    std::vector<std::byte> bytes_;
    std::unique_ptr<standalone::ProgramRunner> runner_;
};

}  // namespace hearth::legacy
