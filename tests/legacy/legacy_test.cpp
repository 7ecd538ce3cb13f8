// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Files of version 0.1 continue to work: brains, whole and as deltas, packages, checkpoints of `hearth train`
// and run logs (tests/data/legacy).  Many names have changed since (program/legacy_names.hpp); each tensor is
// loaded nevertheless.

#include "compiler/driver/compile.hpp"
#include "legacy/legacy_agents.hpp"
#include "native/native_net.hpp"
#include "program/legacy_names.hpp"
#include "support/vulkan_fixture.hpp"
#include "train/evaluate.hpp"
#include "train/trainer.hpp"

#include <hearth/agents/manifest.hpp>
#include <hearth/file.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace hearth::legacy {
namespace {

namespace fs = std::filesystem;

/// Names of a brain's tensors: as in the files, or today's.
enum class Names { kThen, kToday };

std::string name_in(Names names, const std::string& name_then) {
    return names == Names::kThen ? name_then : std::string(alias_of_variable(name_then).view());
}

/// The <math.h> of the machine that made the files may round differently.
constexpr double kRounding = 1e-4;

/// HEARTH_LEGACY_PACKAGES: CMake has unpacked packages.tar.xz there.
std::string path_of(const std::string& name) {
    const bool is_package = name.ends_with(".hearth");
    return std::string(is_package ? HEARTH_LEGACY_PACKAGES : HEARTH_LEGACY_DATA) + "/v0.1/" + name;
}

std::vector<std::byte> file(const std::string& name) {
    auto bytes = read_whole_file(path_of(name));
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    return bytes.ok() ? std::move(bytes).value() : std::vector<std::byte>();
}

/// Actions of agents of version 0.1 with this brain.
std::vector<float> actions_then(const std::string& name) {
    std::ifstream in(path_of("actions.txt"));
    std::vector<float> actions;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word) || word != name) continue;
        while (words >> word) actions.push_back(std::stof(word));
    }
    EXPECT_FALSE(actions.empty()) << name;
    return actions;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], kRounding) << i;
}

Brain brain_of(std::span<const std::byte> bytes, const Brain* parent = nullptr) {
    auto brain = load_brain(bytes, parent);
    EXPECT_TRUE(brain.ok()) << brain.status().message();
    return brain.ok() ? std::move(brain).value() : Brain();
}

/// Kind, type, shape and contents of a tensor, without its name.
using Contents = std::tuple<bool, int, std::string, std::vector<std::byte>>;

std::vector<Contents> contents_of(const Brain& brain) {
    std::vector<Contents> contents;
    for (const BrainTensor& t : brain.tensors) {
        const auto bytes = t.value.bytes();
        contents.emplace_back(t.is_state, static_cast<int>(t.value.dtype()),
                              to_string(t.value.shape()),
                              std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    std::sort(contents.begin(), contents.end());
    return contents;
}

/// Expects each tensor of `then` in `now`, under its name in `names`, and no other tensors.
void expect_arrived(const Brain& then, const Brain& now, Names names) {
    ASSERT_FALSE(then.tensors.empty());
    EXPECT_EQ(now.tensors.size(), then.tensors.size());
    for (const BrainTensor& t : then.tensors) {
        const std::string name = name_in(names, t.name);
        const BrainTensor* const found = now.find(name);
        if (found == nullptr || found->name != name) {
            ADD_FAILURE() << "no '" << name << "', which was '" << t.name << "'";
            continue;
        }
        EXPECT_EQ(found->is_state, t.is_state) << t.name;
        EXPECT_TRUE(found->value == t.value) << t.name << " has other contents";
    }
    // Independent of names.
    EXPECT_TRUE(contents_of(now) == contents_of(then));
}

/// The number of different tensors, regardless of names.
size_t differences(const Brain& a, const Brain& b) {
    const std::vector<Contents> of_a = contents_of(a), of_b = contents_of(b);
    std::vector<Contents> apart;
    std::set_symmetric_difference(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                                  std::back_inserter(apart));
    return apart.size();
}

class LegacyTest : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (opened().device) return;
        auto made = open_scalar_cpu();
        ASSERT_TRUE(made.ok()) << made.status().message();
        opened() = std::move(made).value();
    }
    static standalone::Device& device() { return *opened().device; }

    static std::unique_ptr<Rig> make_rig(const Learner& learner) {
        auto rig = Rig::create(device(), learner);
        EXPECT_TRUE(rig.ok()) << rig.status().message();
        return rig.ok() ? std::move(rig).value() : nullptr;
    }
    static std::unique_ptr<Rig> make_rig(std::span<const std::byte> package,
                                         const Learner& learner) {
        auto rig = Rig::create(device(), package, learner.schema, learner.manifest.n_agents);
        EXPECT_TRUE(rig.ok()) << rig.status().message();
        return rig.ok() ? std::move(rig).value() : nullptr;
    }
    static Brain saved(Rig& rig) {
        const auto bytes = rig.save();
        EXPECT_TRUE(bytes.ok()) << bytes.status().message();
        return bytes.ok() ? brain_of(*bytes) : Brain();
    }
    static void expect_actions(Rig& rig, const std::string& name) {
        const auto actions = likeliest_actions(rig);
        ASSERT_TRUE(actions.ok()) << actions.status().message();
        expect_near(*actions, actions_then(name));
    }

  private:
    /// Shared by all tests, so that each kernel is built once.
    static native::OpenDevice& opened() {
        static native::OpenDevice device;
        return device;
    }
};

class LegacyBrain : public LegacyTest, public ::testing::WithParamInterface<const char*> {
  protected:
    Learner learner_ = make_learner(GetParam());
    std::vector<std::byte> bytes_ = file(std::string(GetParam()) + ".brain");
};

TEST_P(LegacyBrain, FitsTheLearnerOfToday) {
    const auto rig = make_rig(learner_);
    ASSERT_NE(rig, nullptr);
    for (const hearth_brain_flags flags : {0u, HEARTH_BRAIN_NON_STRICT}) {
        const Status fits = rig->program().validate_brain(bytes_, flags);
        EXPECT_TRUE(fits.ok()) << fits.message();
    }
}

// The random numbers of a param depend on its name, so none of those may be renamed.
TEST_P(LegacyBrain, IsFromTheInitialValuesOfToday) {
    const auto rig = make_rig(learner_);
    ASSERT_NE(rig, nullptr);
    auto initial = initial_brain(rig->program_bytes());
    ASSERT_TRUE(initial.ok()) << initial.status().message();
    for (BrainTensor& t : initial->tensors) t.name = alias_of_variable(t.name).view();
    EXPECT_EQ(hash_of(*initial), brain_of(bytes_).base_hash);
}

TEST_P(LegacyBrain, LoadsWholeAndDecidesAsItDid) {
    const auto rig = make_rig(learner_);
    ASSERT_NE(rig, nullptr);
    const Brain then = brain_of(bytes_), first = saved(*rig);
    EXPECT_GT(differences(first, then), then.tensors.size())
        << "the test would pass without loading";
    const Status loaded = rig->load(bytes_);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    expect_arrived(then, saved(*rig), Names::kToday);
    expect_actions(*rig, learner_.name);
}

TEST_P(LegacyBrain, LoadsWholeWherePartsAreAllowed) {
    const auto rig = make_rig(learner_);
    ASSERT_NE(rig, nullptr);
    const Status loaded = rig->record_brain(bytes_, HEARTH_BRAIN_NON_STRICT);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    expect_arrived(brain_of(bytes_), saved(*rig), Names::kToday);
}

TEST_P(LegacyBrain, GoesOnLearning) {
    const auto rig = make_rig(learner_);
    ASSERT_NE(rig, nullptr);
    ASSERT_TRUE(rig->load(bytes_).ok());
    const Status played = play(*rig, learner_, 200, 220);
    ASSERT_TRUE(played.ok()) << played.message();
    const agents::AgentsStatus status = rig->agents.status();
    EXPECT_EQ(status.rollbacks, 0u);
    const Brain then = brain_of(bytes_), now = saved(*rig);
    EXPECT_GT(differences(then, now), 8u);
}

INSTANTIATE_TEST_SUITE_P(Of, LegacyBrain, ::testing::ValuesIn(kLearners),
                         [](const auto& of) { return std::string(of.param); });

class LegacyFile : public LegacyTest {};

TEST_F(LegacyFile, BrainOfRegressionLoads) {
    const std::vector<std::byte> bytes = file("regression.brain");
    for (const hearth_brain_flags flags : {0u, HEARTH_BRAIN_NON_STRICT}) {
        const auto rig = RegressionRig::create(device());
        ASSERT_TRUE(rig.ok()) << rig.status().message();
        const Status fits = (*rig)->program().validate_brain(bytes, flags);
        EXPECT_TRUE(fits.ok()) << fits.message();
        const Status loaded = (*rig)->load(bytes, flags);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        const auto now = (*rig)->save();
        ASSERT_TRUE(now.ok()) << now.status().message();
        expect_arrived(brain_of(bytes), brain_of(*now), Names::kToday);
        const auto output = (*rig)->predict();
        ASSERT_TRUE(output.ok()) << output.status().message();
        expect_near(*output, actions_then("regression"));
        EXPECT_TRUE((*rig)->learn(10).ok());
    }
}

// --- Deltas ---

TEST_F(LegacyFile, DeltaLoadsIntoTheSameLearnerOfToday) {
    const Learner learner = make_learner("ppo");
    const std::vector<std::byte> delta = file("ppo_delta.brain");
    const auto about = brain_info(delta);
    ASSERT_TRUE(about.ok()) << about.status().message();
    EXPECT_EQ(about->is_delta, 1u);
    const Brain whole = brain_of(file("ppo.brain"));  // saved at the same time
    {
        const auto rig = make_rig(learner);
        ASSERT_NE(rig, nullptr);
        for (const hearth_brain_flags flags : {0u, HEARTH_BRAIN_NON_STRICT}) {
            const Status fits = rig->program().validate_brain(delta, flags);
            EXPECT_TRUE(fits.ok()) << fits.message();
        }
        const Status loaded = rig->load(delta);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        expect_arrived(whole, saved(*rig), Names::kToday);
        expect_actions(*rig, "ppo");
        // Tools decode it as well.
        const auto shipped = initial_brain(rig->program_bytes());
        ASSERT_TRUE(shipped.ok()) << shipped.status().message();
        expect_arrived(whole, brain_of(delta, &*shipped), Names::kThen);
    }
    const auto rig = make_rig(learner);
    ASSERT_NE(rig, nullptr);
    const Status loaded = rig->record_brain(delta, HEARTH_BRAIN_NON_STRICT);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    expect_arrived(whole, saved(*rig), Names::kToday);
}

// --- Packages ---

class LegacyPackage : public LegacyTest, public ::testing::WithParamInterface<const char*> {
  protected:
    void expect_loads(Rig& rig, const std::string& brain, hearth_brain_flags flags, Names names) {
        const std::vector<std::byte> bytes = file(brain);
        const Status fits = rig.program().validate_brain(bytes, flags);
        EXPECT_TRUE(fits.ok()) << brain << ": " << fits.message();
        const Status loaded = flags == 0 ? rig.load(bytes) : rig.record_brain(bytes, flags);
        ASSERT_TRUE(loaded.ok()) << brain << ": " << loaded.message();
        expect_arrived(brain_, saved(rig), names);
    }
    /// Whole and, if there is one, as a delta; strict and non-strict.
    void expect_loads_all(Rig& rig, Names names) {
        for (const hearth_brain_flags flags : {0u, HEARTH_BRAIN_NON_STRICT}) {
            expect_loads(rig, name_ + ".brain", flags, names);
            if (name_ == "ppo") expect_loads(rig, "ppo_delta.brain", flags, names);
        }
    }

    /// Inputs and hyperparameters have two names, in packages of either version.
    void expect_both_names(Rig& rig) {
        for (const char* input : {"id", "observation", "reward", "final_observation"})
            EXPECT_TRUE(rig.agents.find_input(input).ok()) << input;
        for (const auto& [old_name, new_name] :
             {std::pair("explore", "exploration"), std::pair("end", "done_kind"),
              std::pair("begins", "episode_start")}) {
            const auto by_old = rig.agents.find_input(old_name);
            const auto by_new = rig.agents.find_input(new_name);
            ASSERT_TRUE(by_old.ok()) << by_old.status().message();
            ASSERT_TRUE(by_new.ok()) << by_new.status().message();
            EXPECT_EQ(*by_old, *by_new) << new_name;
        }
        EXPECT_TRUE(rig.agents.set_hyperparameter("learning_rate", 1e-3).ok());
        if (name_ != "ppo") return;
        for (const char* name : {"clip", "clip_range", "entropy", "ent_coef", "leash",
                                 "reference_kl_coef", "cloning", "bc_coef"})
            EXPECT_TRUE(rig.agents.set_hyperparameter(name, 0.01).ok()) << name;
    }

    std::string name_ = GetParam();
    Learner learner_ = make_learner(name_);
    std::vector<std::byte> package_ = file(name_ + ".hearth");
    Brain brain_ = brain_of(file(name_ + ".brain"));
};

TEST_P(LegacyPackage, HasTheVariablesOfTheLearnerOfToday) {
    const auto then = make_rig(package_, learner_), now = make_rig(learner_);
    ASSERT_TRUE(then != nullptr && now != nullptr);
    uint32_t persistent = 0;
    for (uint32_t i = 0; i < then->program().info().variable_count; ++i) {
        const hearth_variable_info variable = *then->program().variable(i);
        if (variable.kind == HEARTH_VARIABLE_CONSTANT) continue;
        const std::string name = name_in(Names::kToday, variable.name);
        const auto found = now->program().find_variable(name.c_str());
        ASSERT_TRUE(found.ok()) << "no '" << name << "', which was '" << variable.name << "'";
        EXPECT_EQ(now->program().variable(*found)->kind, variable.kind) << name;
        EXPECT_EQ(now->program().variable(*found)->bytes, variable.bytes) << name;
        EXPECT_EQ(name_in(Names::kToday, name), variable.name);
        persistent += variable.kind != HEARTH_VARIABLE_NON_PERSISTENT ? 1 : 0;
    }
    // States that came later are in no brain.
    for (uint32_t i = 0; i < now->program().info().variable_count; ++i) {
        const hearth_variable_kind kind = now->program().variable(i)->kind;
        if (kind != HEARTH_VARIABLE_CONSTANT && kind != HEARTH_VARIABLE_NON_PERSISTENT)
            --persistent;
    }
    EXPECT_EQ(persistent, 0u);
}

TEST_P(LegacyPackage, IsDriven) {
    const auto rig = make_rig(package_, learner_);
    ASSERT_NE(rig, nullptr);
    EXPECT_EQ(hearth_agents_schema_hash(rig->agents.handle()), learner_.schema.hash());
    const Status three = play(*rig, learner_, 0, 3);
    ASSERT_TRUE(three.ok()) << three.message();
    for (const AgentId id : rig->ids()) EXPECT_FALSE(rig->agents.action(id).empty());
    expect_loads_all(*rig, Names::kThen);
    ASSERT_TRUE(rig->load(file(name_ + ".brain")).ok());
    expect_actions(*rig, name_);

    expect_both_names(*rig);
    EXPECT_TRUE(rig->agents.shrink_and_perturb(0.5).ok());
    const Status more = play(*rig, learner_, 200, 216);
    ASSERT_TRUE(more.ok()) << more.message();
    const agents::AgentsStatus status = rig->agents.status();
    EXPECT_GT(status.rollouts, 2u);
    EXPECT_EQ(status.rollbacks, 0u);
    EXPECT_GT(status[agents::Counter::kGradientSteps], 0u);
    EXPECT_GT(status[agents::Counter::kPublications], 0u);
}

TEST_P(LegacyPackage, IsTheBaseOfItsDeltas) {
    const auto shipped = initial_brain(package_);
    ASSERT_TRUE(shipped.ok()) << shipped.status().message();
    const auto whole = brain_info(file(name_ + ".brain"));
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    EXPECT_EQ(hash_of(*shipped), whole->base_hash);
    if (name_ == "ppo")
        expect_arrived(brain_, brain_of(file("ppo_delta.brain"), &*shipped), Names::kThen);
}

// After an update of the game, a player's brain goes from the old package to the learner of today.
TEST_P(LegacyPackage, BrainsGoToTheLearnerOfTodayAndBack) {
    const auto now = make_rig(learner_);
    ASSERT_NE(now, nullptr);
    expect_loads_all(*now, Names::kToday);
    expect_both_names(*now);
    const auto whole = now->save();
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    const auto delta = now->encode(*whole, HEARTH_BRAIN_DELTA);
    ASSERT_TRUE(delta.ok()) << delta.status().message();
    EXPECT_EQ(brain_info(*delta)->is_delta, 1u);
    for (const auto& brain : {*whole, *delta}) {
        const auto then = make_rig(package_, learner_);
        ASSERT_NE(then, nullptr);
        const Status back = then->load(brain);
        ASSERT_TRUE(back.ok()) << back.message();
        expect_arrived(brain_, saved(*then), Names::kThen);
        expect_actions(*then, name_);
    }
}

TEST_P(LegacyPackage, IsDrivenAfterRecooking) {
    DeviceTarget cpu{.name = "scalar"};
    cpu.options.caps = cpu_caps(CpuIsa::kScalar);
    const auto cooked =
        recook(package_, {.device_targets = {cpu}, .max_batch_size = learner_.manifest.n_agents});
    ASSERT_TRUE(cooked.ok()) << cooked.status().message();
    const auto rig = make_rig(cooked->bytes, learner_);
    ASSERT_NE(rig, nullptr);
    expect_loads_all(*rig, Names::kThen);
    ASSERT_TRUE(rig->load(file(name_ + ".brain")).ok());
    expect_actions(*rig, name_);
    const Status played = play(*rig, learner_, 0, 12);
    EXPECT_TRUE(played.ok()) << played.message();
}

INSTANTIATE_TEST_SUITE_P(Of, LegacyPackage, ::testing::ValuesIn(kPackages),
                         [](const auto& of) { return std::string(of.param); });

TEST_F(LegacyFile, PackageIsDrivenOnAVulkanDevice) {
    test::set_if_unset("GALLIVM_PERF", "nopt");
    const auto opened = native::open_device("");
    if (!opened.ok()) GTEST_SKIP() << "no Vulkan device: " << opened.status().message();
    const Learner learner = make_learner("small");
    const auto rig = Rig::create(*opened->device, file("small.hearth"), learner.schema,
                                 learner.manifest.n_agents);
    ASSERT_TRUE(rig.ok()) << rig.status().message();
    const Status three = play(**rig, learner, 0, 3);
    ASSERT_TRUE(three.ok()) << three.message();
    const std::vector<std::byte> brain = file("small.brain");
    const Status loaded = (*rig)->load(brain);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    expect_arrived(brain_of(brain), saved(**rig), Names::kThen);
    const auto actions = likeliest_actions(**rig);
    ASSERT_TRUE(actions.ok()) << actions.status().message();
    expect_near(*actions, actions_then("small"));
    const Status played = play(**rig, learner, 0, 12);
    EXPECT_TRUE(played.ok()) << played.message();
}

// --- Cooked C, which has its own loader of brains ---

TEST_F(LegacyFile, BrainLoadsInCookedC) {
    for (const char* name : {"ppo", "dqn"}) {
        const Learner learner = make_learner(name);
        const auto entries = agents::runtime_entries(learner.traces, learner.manifest);
        auto graphs = finish_all(std::span<Trace* const>(entries));
        ASSERT_TRUE(graphs.ok()) << graphs.status().message();
        CompileToCOptions cook;
        cook.max_batch_size = learner.manifest.n_agents;
        const auto net =
            native::NativeNet::build(std::move(graphs).value(), cook, {.flags = "-O0"});
        ASSERT_TRUE(net.ok()) << net.status().message();
        const std::vector<std::byte> bytes = file(std::string(name) + ".brain");
        const Status loaded = (*net)->load_brain(bytes);
        ASSERT_TRUE(loaded.ok()) << loaded.message();
        const auto again = (*net)->save_brain();
        ASSERT_TRUE(again.ok()) << again.status().message();
        expect_arrived(brain_of(bytes), brain_of(*again), Names::kToday);
        if (name != std::string_view("ppo")) continue;
        ASSERT_TRUE((*net)->forget().ok());
        const Status delta = (*net)->load_brain(file("ppo_delta.brain"));
        ASSERT_TRUE(delta.ok()) << delta.message();
        EXPECT_EQ(*(*net)->save_brain(), *again);
    }
}

// --- Training before shipping ---

// Seeds choose other random numbers since, so the result is as near to that of version 0.1 as 12
// steps of Adam with a learning rate of 1e-3 allow.
TEST_F(LegacyFile, TrainingContinuesFromACheckpoint) {
    const fs::path folder = fs::path(::testing::TempDir()) / "hearth_legacy_run";
    fs::remove_all(folder);
    fs::create_directories(folder);
    fs::copy_file(path_of("train.brain"), folder / "last.brain");
    fs::copy_file(path_of("train.jsonl"), folder / "run.jsonl");
    const auto begun = train::read_checkpoint(path_of("train.brain"));
    ASSERT_TRUE(begun.ok()) << begun.status().message();
    EXPECT_EQ(begun->steps, 832);
    EXPECT_FALSE(begun->returns.empty());
    train::TrainConfig config = begun->config;
    config.steps = 1024;
    const auto outcome =
        train::train(device(), config, {.folder = folder.string(), .resumes = true});
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_EQ(outcome->steps, config.steps);

    // The result of this run in version 0.1.
    const auto then = read_safetensors(file("train.safetensors"));
    ASSERT_TRUE(then.ok()) << then.status().message();
    const auto bytes = read_whole_file((folder / "weights.safetensors").string());
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const auto now = read_safetensors(*bytes);
    ASSERT_TRUE(now.ok()) << now.status().message();
    EXPECT_EQ(now->size(), then->size());
    for (const auto& [name, value] : *then) {
        const auto found = now->find(name_in(Names::kToday, name));
        ASSERT_NE(found, now->end()) << name;
        ASSERT_EQ(found->second.element_count(), value.element_count());
        for (int64_t i = 0; i < value.element_count(); ++i)
            ASSERT_NEAR(found->second.get(i), value.get(i), 0.012) << name << "[" << i << "]";
    }
    // The log continues where it was cut: no line is missing or repeated.
    const auto lines = [](const fs::path& path) {
        std::ifstream in(path);
        std::map<std::string, int> types;
        for (std::string line; std::getline(in, line);)
            ++types[nlohmann::json::parse(line).value("type", "")];
        return types;
    };
    EXPECT_EQ(lines(folder / "run.jsonl"), lines(path_of("train.jsonl")));
    fs::remove_all(folder);
}

TEST_F(LegacyFile, CheckpointPlays) {
    const auto checkpoint = train::read_checkpoint(path_of("train.brain"));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const auto player = train::make_player(device(), checkpoint->config);
    ASSERT_TRUE(player.ok()) << player.status().message();
    const Status restored = (*player)->restore(checkpoint->snapshot.brain);
    ASSERT_TRUE(restored.ok()) << restored.message();
    const auto action = (*player)->act(HostTensor::of({1, 3}, std::vector<float>{1, 0, 0.5f}));
    ASSERT_TRUE(action.ok()) << action.status().message();
    EXPECT_TRUE(std::isfinite(action->get(0)));
    const auto evaluation = train::evaluate(device(), *checkpoint, 2, 0);
    ASSERT_TRUE(evaluation.ok()) << evaluation.status().message();
    EXPECT_EQ(evaluation->returns.size(), 2u);
}

// Games ship params alone, by name.
TEST_F(LegacyFile, TrainedWeightsFitTheLearnerOfToday) {
    const auto weights = read_safetensors(file("train.safetensors"));
    ASSERT_TRUE(weights.ok()) << weights.status().message();
    const auto checkpoint = train::read_checkpoint(path_of("train.brain"));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const agents::AgentSpec schema(agents::ObservationSpec().box("observation", 3),
                                   agents::ActionSpec().continuous("torque"));
    const agents::AgentGraphs traces =
        build_agent_graphs(schema, agents::mlp_network(checkpoint->config.network),
                           checkpoint->config.ppo, checkpoint->config.seed);
    for (const auto& trace : traces) {
        if (trace->graph().name != "learn") continue;
        const auto loaded = load_weights(*weights, *trace);
        ASSERT_TRUE(loaded.ok()) << loaded.status().message();
        EXPECT_EQ(loaded->loaded.size(), weights->size());
        const NamedTensors now = state_dict(*trace);
        for (const auto& [name, value] : *weights) {
            const auto found = now.find(name_in(Names::kToday, name));
            ASSERT_NE(found, now.end()) << name;
            EXPECT_TRUE(found->second == value) << name;
        }
    }
}

// --- Run logs ---

TEST_F(LegacyFile, RunLogsHaveSamplesWithTheNamesOfThen) {
    for (const char* name : {"agents.jsonl", "train.jsonl"}) {
        std::ifstream in(path_of(name));
        int samples = 0;
        for (std::string line; std::getline(in, line);) {
            const auto json = nlohmann::json::parse(line, nullptr, false);
            ASSERT_TRUE(json.is_object()) << line;
            if (json.value("type", "") != "agents") continue;
            ++samples;
            for (const char* metric : {"loss", "kl", "samples", "learn_steps"})
                EXPECT_TRUE(json.contains(metric)) << name << ": " << metric;
        }
        EXPECT_GE(samples, 4) << name;
    }
}

}  // namespace
}  // namespace hearth::legacy
