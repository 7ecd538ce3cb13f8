// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Makes the files of tests/data/legacy/v0.1: what players, and those who trained before shipping, have from
// version 0.1.  Compiles against Hearth 0.1 only, whose names it uses: with the folders sdk/support and
// demos to include from, and hearth_training and hearth::native to link.
//
//     make_legacy FOLDER           writes the files
//     make_legacy --names          prints the names that programs of all learners have

#include "native/open_device.hpp"
#include "train/trainer.hpp"

#include <hearth/agents.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/agents/run_log.hpp>
#include <hearth/agents/simulation.hpp>
#include <hearth/brain.hpp>
#include <hearth/compile.hpp>
#include <hearth/file.hpp>

#include <standalone/program_runner.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
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
    agents::AgentSchema schema;
    agents::AgentManifest manifest;
    agents::Traces traces;
};

constexpr uint64_t kSeed = 7;
inline constexpr const char* kLearners[] = {"ppo", "gru", "dqn", "sac", "clone", "praise", "small"};
/// Those that there is a package of.
inline constexpr const char* kPackages[] = {"ppo", "small"};

enum class Senses { kPlain, kWithSet };

/// Five floats, two kinds of actions: learners take of them what they can.
inline agents::AgentSchema make_schema(Senses kind, bool has_choices, bool has_numbers) {
    agents::Fields senses;
    senses.numbers("speed", 1, {0, 4}).angle("heading");
    const agents::Fields ember = agents::Fields().numbers("distance", 1, {-1, 1});
    if (kind == Senses::kWithSet)
        senses.set("embers", 2, ember);
    else
        senses.flag("is_lit").array("posts", 2, ember);
    agents::Actions deeds;
    if (has_choices) deeds.choose("move", 3, true);
    if (has_choices && !has_numbers) deeds.choose("chirp", 2);
    if (has_numbers) deeds.drive("aim", has_choices ? 1 : 2, {-2, 2});
    return {senses, deeds};
}

template <class Settings>
Learner make_learner(std::string name, const agents::AgentSchema& schema,
                     const agents::Network& network, const Settings& settings) {
    Learner learner;
    learner.name = std::move(name);
    learner.schema = schema;
    learner.manifest = manifest_of(schema, settings);
    learner.traces = trace_agents(schema, network, settings, kSeed);
    return learner;
}

inline agents::Ppo ppo_settings() {
    using agents::Setting;
    agents::Ppo ppo;
    ppo.agents = 3;
    ppo.horizon = 4;
    ppo.minibatches = 2;
    ppo.epochs = 2;
    ppo.learning_rate = Setting::live(3e-3);
    ppo.clip = Setting::live(0.2);
    ppo.entropy = Setting::live(0.003);
    ppo.leash = Setting::live(0.01);
    ppo.demonstrations = 16;
    ppo.cloning = Setting::live(0.1);
    return ppo;
}

inline agents::Ppo gru_settings() {
    agents::Ppo ppo;
    ppo.agents = 2;
    ppo.horizon = 4;
    ppo.minibatches = 2;
    ppo.epochs = 2;
    ppo.sequence = 2;
    ppo.learning_rate = 3e-3;
    return ppo;
}

inline agents::Dqn dqn_settings() {
    agents::Dqn dqn;
    dqn.replay = {
        .agents = 2, .capacity = 64, .batch = 8, .warmup = 8, .normalize_observations = true};
    dqn.learning_rate = agents::Setting::live(1e-3);
    dqn.steps = 2;
    dqn.is_double = dqn.is_dueling = true;
    dqn.priority = 0.6;
    dqn.correction = agents::Setting::live(0.4);
    dqn.target_period = 5;
    return dqn;
}

inline agents::Sac sac_settings() {
    agents::Sac sac;
    sac.replay = {.agents = 2, .capacity = 64, .batch = 8, .warmup = 8};
    return sac;
}

inline agents::Clone clone_settings() {
    agents::Clone clone;
    clone.agents = 3;
    clone.capacity = 64;
    clone.batch = 8;
    clone.warmup = 8;
    clone.normalize_observations = true;
    clone.source_share = 0.5;
    return clone;
}

inline agents::Praise praise_settings() {
    agents::Praise praise;
    praise.agents = 2;
    praise.capacity = 64;
    praise.batch = 8;
    return praise;
}

/// As little as there is to a package that learns.
inline agents::Ppo small_settings() {
    agents::Ppo ppo;
    ppo.agents = 2;
    ppo.horizon = 2;
    ppo.minibatches = ppo.epochs = 1;
    ppo.learning_rate = agents::Setting::live(3e-3);
    ppo.normalize_observations = ppo.normalize_rewards = ppo.normalize_advantages = false;
    ppo.rails.kl_stop = ppo.rails.update_ratio = 0;
    return ppo;
}

/// One of kLearners.  Networks are as small as they are so that files are.
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
    return make_learner(
        "small",
        agents::AgentSchema(agents::Fields().numbers("place", 2), agents::Actions().drive("aim")),
        mlp_network({}), small_settings());
}

/// Regression has no agents.
inline agents::Regression regression_settings() {
    agents::Regression regression;
    regression.input_width = 3;
    regression.output_width = 2;
    regression.capacity = 32;
    regression.batch = 8;
    regression.warmup = 8;
    regression.learning_rate = agents::Setting::live(1e-2);
    return regression;
}

inline agents::Traces trace_regression() {
    return agents::trace_regression(agents::mlp_network({8}), regression_settings(), kSeed);
}

constexpr int64_t kRegressionRows = 4;

// --- The device ---

/// This machine's CPU, used as any machine's: the same bits wherever there is the same <math.h>.
inline Result<native::OpenDevice> open_scalar_cpu() {
    return native::open_device("native", {.cpu = Cpu::kScalar, .build = {.flags = "-O1"}});
}

// --- Driving ---

/// Agents on a device, and a host that submits frames one by one.
class Rig {
  public:
    /// Compiles the learner for the device, which must outlive this.
    static Result<std::unique_ptr<Rig>> create(standalone::Device& device, const Learner& learner) {
        auto rig = std::unique_ptr<Rig>(new Rig(device));
        HEARTH_ASSIGN(rig->context_, Context::create(device.host_info()));
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, rig->context_.caps());
        options.rows_capacity = learner.manifest.agents;
        const auto entries = agents::driven_entries_of(learner.traces, learner.manifest);
        HEARTH_ASSIGN(const Compiled compiled, compile(std::span<Trace* const>(entries), options));
        rig->bytes_ = compiled.bytes;
        HEARTH_ASSIGN(rig->program_, LoadedProgram::load(rig->context_, compiled.bytes));
        const std::vector<std::byte> manifest = learner.manifest.save();
        return start(std::move(rig), {.manifest = manifest}, learner.manifest.agents);
    }
    /// Of a package, which needs nothing but itself; schema: what the game expects.
    static Result<std::unique_ptr<Rig>> create(standalone::Device& device,
                                               std::span<const std::byte> package,
                                               const agents::AgentSchema& schema,
                                               uint32_t agent_count) {
        auto rig = std::unique_ptr<Rig>(new Rig(device));
        HEARTH_ASSIGN(rig->context_, Context::create(device.host_info()));
        HEARTH_ASSIGN(rig->program_, LoadedProgram::load_package(rig->context_, package));
        const std::vector<std::byte> expected = schema.save();
        return start(std::move(rig), {.schema = expected}, agent_count);
    }

    /// One frame: what the game does with what has arrived, then the recording.
    Status frame(const agents::AgentsFrame& how, const std::function<void()>& play = {}) {
        return submit([&](VkCommandBuffer commands) -> Status {
            agents.poll();
            if (play) play();
            HEARTH_ASSIGN(const bool is_recorded, agents.record(commands, how));
            return is_recorded ? Status() : internal_error("pipelines are not ready");
        });
    }
    /// Lets everything arrive.
    Status settle() {
        for (int i = 0; i < 3; ++i) HEARTH_TRY(frame({.learn_us = 0, .decide = false}));
        agents.poll();
        return {};
    }
    Status load(std::span<const std::byte> brain) {
        HEARTH_TRY(agents.load(brain));
        return settle();
    }
    /// The brain as it is now, by Agents::save.
    Result<std::vector<std::byte>> save() {
        HEARTH_TRY(agents.keep());
        HEARTH_TRY(settle());
        return agents.save(0);
    }
    /// Records a brain in the session itself.
    Status record_brain(std::span<const std::byte> brain, hearth_brain_flags flags) {
        return submit([&](VkCommandBuffer commands) {
            hearth_report report{};
            return to_status(hearth_record_brain(agents.session(), commands, brain.data(),
                                                 brain.size(), flags, &report),
                             report.text);
        });
    }
    /// The brain as the session encodes it, with what the driver puts beside it in `like`.
    Result<std::vector<std::byte>> encode(std::span<const std::byte> like,
                                          hearth_brain_flags flags) {
        HEARTH_ASSIGN(const hearth_brain_info about, brain_info(like));
        hearth_readback id = 0;
        HEARTH_TRY(submit([&](VkCommandBuffer commands) {
            return to_status(hearth_record_snapshot(agents.session(), commands, &id),
                             hearth_session_error(agents.session()));
        }));
        HEARTH_TRY(settle());
        hearth_brain_save_info info = hearth_brain_save_info_default();
        uint64_t serial = 0, bytes = 0;
        HEARTH_TRY(to_status(hearth_readback_poll(agents.session(), id, &info.snapshot,
                                                  &info.snapshot_bytes, &serial),
                             "snapshot"));
        info.flags = flags;
        info.host_schema_hash = about.host_schema_hash;
        info.host_data = about.host_data;
        info.host_bytes = about.host_bytes;
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
    /// The serialized program; none of a package.
    std::span<const std::byte> program_bytes() const { return bytes_; }
    const std::vector<AgentId>& ids() const { return ids_; }

  private:
    explicit Rig(standalone::Device& device) : device_(device) {}
    static Result<std::unique_ptr<Rig>> start(std::unique_ptr<Rig> rig,
                                              const agents::AgentsOptions& options,
                                              uint32_t agent_count) {
        HEARTH_ASSIGN(rig->agents, Agents::create(rig->context_, rig->program_, options));
        HEARTH_TRY(rig->agents.build());
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

/// As much of it as they have senses for.
inline void see(Rig& rig, AgentId id, const std::array<float, 5>& values) {
    const std::span<float> seen = rig.agents.observe(id);
    std::copy_n(values.begin(), std::min(values.size(), seen.size()), seen.begin());
}

/// A day in the life: what agents see depends on the frame, on who they are and on what they did.
inline Status live(Rig& rig, const Learner& learner, int frame) {
    Agents& brain = rig.agents;
    const agents::LearnerKind kind = learner.manifest.kind;
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
        if (float* const mask = brain.mask(id); mask != nullptr) {
            mask[1] = count % 2 == 0 ? 1.0f : 0.0f;
            mask[2] = count % 5 != 0 ? 1.0f : 0.0f;
        }
        // A person shows how, to PPO now and then.
        if (kind == agents::LearnerKind::kClone || (learner.name == "ppo" && count % 6 == 0)) {
            const float shown[2] = {0, 1.5f * wanted};
            HEARTH_TRY(brain.demonstrate(
                id, shown, kind == agents::LearnerKind::kClone ? static_cast<uint32_t>(i) : 0));
        }
        if (kind == agents::LearnerKind::kClone || action.empty()) continue;
        HEARTH_TRY(brain.reward(id, std::clamp(0.5f - std::abs(did - wanted), -1.0f, 1.0f)));
        if (kind != agents::LearnerKind::kPraise && (frame + static_cast<int>(i) * 3) % 11 == 10)
            HEARTH_TRY(brain.end(id, i % 2 ? agents::Ending::kOver : agents::Ending::kCutOff));
    }
    return {};
}

/// Frames [begin, end) of it, learning whatever there is to learn: from a window behind the frame that filled it, from
/// a ring in each frame.
inline Status play(Rig& rig, const Learner& learner, int begin, int end) {
    const bool has_windows = learner.manifest.horizon > 0;
    for (int frame = begin; frame < end; ++frame) {
        Status lived;
        HEARTH_TRY(rig.frame({.learn_us = has_windows ? 0 : 1e9},
                             [&] { lived = live(rig, learner, frame); }));
        HEARTH_TRY(lived);
        do {
            HEARTH_TRY(rig.frame({.learn_us = 1e9, .decide = false}));
        } while (rig.agents.status().phase == HEARTH_AGENTS_LEARNING);
    }
    return rig.settle();
}

constexpr int kProbeFrames = 3;

/// What agents that begin anew do in three frames, without chance and without learning:
/// [frame][agent][action width].
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
        HEARTH_TRY(rig.frame({.learn_us = 0, .explore = 0}, look));
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
        const agents::Traces traces = trace_regression();
        CompileOptions options;
        HEARTH_ASSIGN(options.caps, device.caps());
        options.rows_capacity = kRegressionRows;
        const auto entries = agents::entries_of(traces);
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
    /// [rows, output width]
    Result<std::vector<float>> predict() {
        HEARTH_ASSIGN(const NamedTensors said,
                      runner_->run("predict", kRegressionRows, {{"input", inputs(1000)}}));
        const auto values = said.at("output").as<float>();
        return std::vector<float>(values.begin(), values.end());
    }
    Result<std::vector<std::byte>> save() {
        hearth_readback id = 0;
        HEARTH_TRY(runner_->submit([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(const auto recorded, runner_->session().record_snapshot(commands));
            if (!recorded) return internal_error("an entry is under way");
            id = *recorded;
            return {};
        }));
        HEARTH_TRY(runner_->begin_frame());
        HEARTH_ASSIGN(const auto arrived, runner_->session().poll(id));
        if (!arrived) return internal_error("the snapshot has not arrived");
        auto brain = runner_->program().encode_brain(arrived->bytes);
        runner_->session().release(id);
        return brain;
    }
    Status load(std::span<const std::byte> brain, hearth_brain_flags flags = 0) {
        return runner_->submit([&](VkCommandBuffer commands) {
            return runner_->session().record_brain(commands, brain, flags);
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

namespace {

namespace fs = std::filesystem;

class Maker {
  public:
    Maker(standalone::Device& device, std::string folder)
        : device_(device), folder_(std::move(folder)) {}

    Status make() {
        for (const std::string name : kLearners)
            if (name != "small") HEARTH_TRY(make_brain(name));
        HEARTH_TRY(make_regression());
        HEARTH_TRY(make_packages());
        HEARTH_TRY(write("actions.txt", actions_));
        return make_training();
    }

  private:
    Status write(const std::string& name, std::span<const std::byte> bytes) const {
        std::printf("%-28s %7zu bytes\n", name.c_str(), bytes.size());
        return write_file_atomically(folder_ + "/" + name, bytes);
    }
    Status write(const std::string& name, const std::string& text) const {
        return write(name, std::as_bytes(std::span(text)));
    }

    /// Whether it has learned, and published what it learned.
    static Status check_moved(const std::string& name, const Brain& first,
                              std::span<const std::byte> brain) {
        HEARTH_ASSIGN(const Brain now, load_brain(brain));
        int params = 0, published = 0;
        for (const BrainDifference& d : diff_brains(first, now)) {
            if (d.kind == BrainDifference::Kind::kEqual) continue;
            if (d.kind != BrainDifference::Kind::kChanged)
                return internal_error(name + ": '" + d.name + "' is another tensor");
            if (!now.find(d.name)->is_state) ++params;
            if (d.name.starts_with("published.")) ++published;
        }
        std::printf("%s: %d params and %d published tensors have changed\n", name.c_str(), params,
                    published);
        return params >= 4 && published >= 4 ? Status() : internal_error(name + " has not learned");
    }

    void remember(const std::string& name, const std::vector<float>& actions) {
        actions_ += name;
        for (const float action : actions) actions_ += " " + agents::detail::json_number(action);
        actions_ += "\n";
    }

    /// The run log of some of its life goes along with PPO's.
    Status make_brain(const std::string& name) {
        const Learner learner = make_learner(name);
        HEARTH_ASSIGN(const auto rig, Rig::create(device_, learner));
        std::string log = agents::run_log_begin("legacy", "frames");
        constexpr int kFrames = 48, kPart = 12;
        for (int frame = 0; frame < kFrames; frame += kPart) {
            HEARTH_TRY(play(*rig, learner, frame, frame + kPart));
            log += agents::run_log_sample(rig->agents.status(), frame + kPart);
            if (frame == kPart) log += agents::run_log_event(frame + kPart + 0.5, "praise");
        }
        const agents::AgentsStatus status = rig->agents.status();
        std::printf("%s: %llu samples, %llu steps, %llu publications, %llu episodes\n",
                    name.c_str(),
                    static_cast<unsigned long long>(status[agents::Counter::kSamples]),
                    static_cast<unsigned long long>(status[agents::Counter::kLearnSteps]),
                    static_cast<unsigned long long>(status[agents::Counter::kPublications]),
                    static_cast<unsigned long long>(status[agents::Counter::kEpisodes]));
        HEARTH_ASSIGN(const std::vector<std::byte> brain, rig->save());
        HEARTH_ASSIGN(const Brain first, shipped_brain(rig->program_bytes()));
        HEARTH_TRY(check_moved(name, first, brain));
        HEARTH_TRY(write(name + ".brain", brain));
        if (learner.name == "ppo") {
            HEARTH_ASSIGN(const auto delta, rig->encode(brain, HEARTH_BRAIN_DELTA));
            HEARTH_TRY(write("ppo_delta.brain", delta));
            HEARTH_TRY(write("agents.jsonl", log));
        }
        HEARTH_ASSIGN(const auto fresh, Rig::create(device_, learner));
        HEARTH_TRY(fresh->load(brain));
        HEARTH_ASSIGN(const auto actions, likeliest_actions(*fresh));
        remember(name, actions);
        return {};
    }

    Status make_regression() {
        HEARTH_ASSIGN(const auto rig, RegressionRig::create(device_));
        HEARTH_TRY(rig->learn(40));
        HEARTH_ASSIGN(const std::vector<std::byte> brain, rig->save());
        HEARTH_ASSIGN(const Brain first, shipped_brain(rig->program_bytes()));
        HEARTH_TRY(check_moved("regression", first, brain));
        HEARTH_TRY(write("regression.brain", brain));
        HEARTH_ASSIGN(const auto output, rig->predict());
        remember("regression", output);
        return {};
    }

    /// PPO's package is for any CPU, the small one for any GPU, too; its agents save a brain.
    Status make_packages() {
        for (const std::string name : kPackages) {
            const Learner learner = make_learner(name);
            CookProfile gpu{.name = "baseline"}, cpu{.name = "scalar"};
            gpu.options.keep_source = false;
            cpu.options.caps = cpu_caps(Cpu::kScalar);
            CookOptions options{.profiles = {cpu},
                                .rows_capacity = learner.manifest.agents,
                                .notes = "made by Hearth 0.1",
                                .agents = learner.manifest.save()};
            if (name == "small") options.profiles.insert(options.profiles.begin(), gpu);
            const auto entries = agents::driven_entries_of(learner.traces, learner.manifest);
            HEARTH_ASSIGN(const Cooked cooked, cook(std::span<Trace* const>(entries), options));
            HEARTH_TRY(write(name + ".hearth", cooked.bytes));
            const auto start = [&] {
                return Rig::create(device_, cooked.bytes, learner.schema, learner.manifest.agents);
            };
            HEARTH_ASSIGN(const auto rig, start());
            HEARTH_TRY(play(*rig, learner, 0, 3));
            if (name != "small") continue;
            HEARTH_TRY(play(*rig, learner, 3, 30));
            HEARTH_ASSIGN(const std::vector<std::byte> brain, rig->save());
            HEARTH_ASSIGN(const Brain first, shipped_brain(cooked.bytes));
            HEARTH_TRY(check_moved(name, first, brain));
            HEARTH_TRY(write(name + ".brain", brain));
            HEARTH_ASSIGN(const auto fresh, start());
            HEARTH_TRY(fresh->load(brain));
            HEARTH_ASSIGN(const auto actions, likeliest_actions(*fresh));
            remember(name, actions);
        }
        return {};
    }

    /// A run of `hearth train` that stopped on the way; log and weights of when it had ended.
    Status make_training() {
        const fs::path folder = fs::path(folder_) / "run";
        std::error_code error;
        fs::remove_all(folder, error);
        const auto config_of = [](int steps) {
            return train::parse_config(
                R"({"task": "Pendulum", "seed": 7, "network": [8], "steps": )" +
                std::to_string(steps) + R"(, "ppo": {"agents": 4, "horizon": 16,
                    "minibatches": 2, "epochs": 2}})");
        };
        const auto copy = [&](const char* from, const char* to) -> Status {
            HEARTH_ASSIGN(const auto bytes, read_whole_file((folder / from).string()));
            return write(to, bytes);
        };
        HEARTH_ASSIGN(const train::TrainConfig half, config_of(832));
        HEARTH_TRY(train::train(device_, half, {.folder = folder.string()}).status());
        HEARTH_TRY(copy("last.brain", "train.brain"));
        HEARTH_ASSIGN(const train::TrainConfig whole, config_of(1024));
        HEARTH_TRY(
            train::train(device_, whole, {.folder = folder.string(), .resumes = true}).status());
        HEARTH_TRY(copy("run.jsonl", "train.jsonl"));
        HEARTH_TRY(copy("weights.safetensors", "train.safetensors"));
        fs::remove_all(folder, error);
        return {};
    }

    standalone::Device& device_;
    std::string folder_, actions_;
};

// --- Names ---

std::string text_of(uint32_t rank, const hearth_dim* dims) {
    std::string text = "[";
    for (uint32_t i = 0; i < rank; ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(dims[i].count) + (dims[i].per_row != 0 ? "*rows" : "");
    }
    return text + "]";
}

Status print_names(standalone::Device& device, const std::string& title,
                   const agents::Traces& traces) {
    HEARTH_ASSIGN(Context context, Context::create(device.host_info()));
    CompileOptions options;
    HEARTH_ASSIGN(options.caps, context.caps());
    options.rows_capacity = 8;
    const auto entries = agents::entries_of(traces);
    HEARTH_ASSIGN(const Compiled compiled, compile(std::span<Trace* const>(entries), options));
    HEARTH_ASSIGN(const LoadedProgram program, LoadedProgram::load(context, compiled.bytes));
    const hearth_program_info about = program.info();
    std::printf("\n=== %s ===\n", title.c_str());
    for (uint32_t e = 0; e < about.entry_count; ++e) {
        HEARTH_ASSIGN(const hearth_entry_info entry, program.entry(e));
        std::printf("entry %s\n", entry.name);
        for (uint32_t i = 0; i < entry.binding_count; ++i) {
            HEARTH_ASSIGN(const hearth_binding_info b, program.binding(entry.bindings[i]));
            std::printf("    %-6s %-20s %s %s\n", b.is_output ? "output" : "input", b.name,
                        name_of(static_cast<DType>(b.dtype)).data(),
                        text_of(b.rank, b.dims).c_str());
        }
    }
    constexpr std::pair<hearth_slot_kind, const char*> kKinds[] = {
        {HEARTH_SLOT_PARAM, "param"},
        {HEARTH_SLOT_STATE, "state"},
        {HEARTH_SLOT_TRANSIENT, "transient"}};
    for (const auto& [kind, word] : kKinds)
        for (uint32_t i = 0; i < about.slot_count; ++i) {
            HEARTH_ASSIGN(const hearth_slot_info slot, program.slot(i));
            if (slot.kind == kind)
                std::printf("%-9s %-48s %s %s\n", word, slot.name,
                            name_of(static_cast<DType>(slot.dtype)).data(),
                            text_of(slot.rank, slot.dims).c_str());
        }
    return {};
}

Status print_all_names(standalone::Device& device) {
    for (const char* name : kLearners) {
        const Learner learner = make_learner(name);
        HEARTH_TRY(print_names(device, name, learner.traces));
        const agents::AgentNames& n = learner.manifest.names;
        std::printf(
            "manifest  version 3: frame=%s store=%s prepare=%s learn=%s publish=%s adapt=%s "
            "demonstrate=%s last_action=%s status=%s; settings:",
            n.frame.c_str(), n.store.c_str(), n.prepare.c_str(), n.learn.c_str(), n.publish.c_str(),
            n.adapt.c_str(), n.demonstrate.c_str(), n.last_action.c_str(), n.status.c_str());
        for (const agents::LiveSetting& s : learner.manifest.settings)
            std::printf(" %s", s.name.c_str());
        std::printf("\n");
    }
    HEARTH_TRY(print_names(device, "regression", trace_regression()));

    // What `hearth train` compiles, by one process and by several.
    agents::Simulation landing{.state_width = 2, .step_limit = 20};
    landing.begin = [](const Tensor& counter, uint64_t key, int64_t worlds) {
        return random_uniform(counter, key, {worlds, 2}, 1, 2);
    };
    landing.observe = [](const Tensor& state) { return state; };
    landing.step = [](const Tensor& state, const Tensor& action, const Tensor&, uint64_t) {
        const Tensor fall = slice(state, -1, 1, 2) + (action - 0.5) * 0.02;
        const Tensor height = slice(state, -1, 0, 1) - fall * 0.02;
        return agents::SimulationStep{concat({height, fall}, -1), neg(abs(squeeze(fall, {-1}))),
                                      squeeze(less(height, 0), {-1})};
    };
    const agents::AgentSchema schema(agents::Fields().numbers("height and speed", 2),
                                     agents::Actions().drive("thrust", 1, {0, 1}));
    for (const bool is_parallel : {false, true}) {
        agents::Ppo ppo = ppo_settings();
        ppo.agents = 8;
        ppo.demonstrations = 0;
        const agents::RolloutOptions how{.steps = 2, .data_parallel = is_parallel};
        HEARTH_TRY(print_names(
            device,
            is_parallel ? "ppo with worlds on the device, data-parallel"
                        : "ppo with worlds on the device (hearth train; without leash there)",
            agents::trace_agents(schema, agents::mlp_network({8}), ppo, landing, how, kSeed)));
    }
    std::printf("\n=== diagnostics and counters (run logs, hearth_agents_diagnostic_name) ===\n");
    for (const auto name : agents::kDiagnosticNames) std::printf("%s\n", name.data());
    for (const auto name : agents::kCounterNames) std::printf("%s\n", name.data());
    std::printf(
        "\n=== keys of `hearth train` configurations, also within its checkpoints ===\n%s\n",
        train::TrainConfig().text().c_str());
    return {};
}

Status run(int argc, char** argv) {
    if (argc != 2) return invalid_argument("usage: make_legacy FOLDER | --names");
    HEARTH_ASSIGN(const native::OpenDevice device, open_scalar_cpu());
    if (std::string_view(argv[1]) == "--names") return print_all_names(*device.device);
    return Maker(*device.device, argv[1]).make();
}

}  // namespace
}  // namespace hearth::legacy

int main(int argc, char** argv) {
    const hearth::Status status = hearth::legacy::run(argc, argv);
    if (!status.ok()) std::fprintf(stderr, "make_legacy: %s\n", status.message().c_str());
    return status.ok() ? 0 : 1;
}
