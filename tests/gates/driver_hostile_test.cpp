// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Programs and manifests that fit neither each other nor the driver, and calls in orders that no
// game should make.

#include "device/agents/driver.hpp"
#include "gates/driver_host.hpp"

#include <hearth/agents/status.hpp>
#include <hearth/ops.hpp>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

namespace hearth::gates {
namespace {

using namespace agents;

// --- Programs ---

struct Input {
    std::string name;
    Shape shape;
    DType dtype = DType::kF32;
};

/// A program and a manifest of four agents that learn nothing, of which a test changes one thing.
struct Foreign {
    std::vector<Input> frame = {{"observation", {kBatch, 3}}, {"mask", {kBatch, 3}},
                                {"reward", {kBatch}},         {"done_kind", {kBatch}},
                                {"episode_start", {kBatch}},  {"final_observation", {kBatch, 3}},
                                {"final_mask", {kBatch, 3}},  {"id", {kBatch}, DType::kU32},
                                {"exploration", {}}};
    std::vector<Input> learn = {{"learning_rate", {}}};
    Input last_action{"last.action", {4, 2}};
    Input status{"agents.status", {static_cast<int64_t>(kSavedStatusWords)}, DType::kU32};
    Input recent;                 ///< without a name: none
    Input saved;                  ///< a state that brains hold; without a name: none
    Init initial;                 ///< of that state
    std::string written, output;  ///< an input that the entry writes to, and an output
    uint64_t max_batch_size = 4;
    AgentManifest manifest;

    Foreign() {
        manifest.schema = small_schema();
        manifest.algorithm = Algorithm::kDqn;
        manifest.n_agents = 4;
        manifest.hyperparameters = {{"learning_rate", 1e-3, 0, 1}};
    }
    Input& input(std::string_view name) {
        return *std::find_if(frame.begin(), frame.end(),
                             [&](const Input& i) { return i.name == name; });
    }
};

/// Adds one to a state.
void count(Trace& trace, const Input& state, const Tensor& also = {}) {
    if (state.name.empty()) return;
    const Tensor old = trace.non_persistent_state(state.name, state.shape, {}, state.dtype);
    trace.assign(old, old + (also.ok() ? cast(also, state.dtype) : trace.constant(1, state.dtype)));
}

/// Sums all inputs.
Tensor read(Trace& trace, const Foreign& foreign, const std::vector<Input>& inputs) {
    Tensor total = trace.constant(0.0);
    for (const Input& i : inputs) {
        const Tensor x = trace.input(i.name, i.shape, i.dtype);
        total = total + sum(cast(x, DType::kF32));
        if (i.name == foreign.written) trace.assign(x, x + trace.constant(1, i.dtype));
    }
    return total;
}

class DriverHostileTest : public DriverTest {
  protected:
    void SetUp() override {
        DriverTest::SetUp();
        auto context = Context::create(device().host_info());
        ASSERT_TRUE(context.ok()) << context.status().message();
        context_ = std::move(context).value();
    }
    void TearDown() override {
        program_ = {};
        context_ = {};
        DriverTest::TearDown();
    }

    void load(const Foreign& foreign) {
        Trace frame("frame"), learn("learn"), publish("publish");
        const Tensor total = read(frame, foreign, foreign.frame);
        count(frame, foreign.last_action, total);
        count(frame, foreign.status);
        count(frame, foreign.recent);
        if (!foreign.saved.name.empty()) {
            const Tensor old =
                frame.state(foreign.saved.name, foreign.saved.shape, foreign.initial);
            frame.assign(old, old + 1.0);
        }
        if (!foreign.output.empty()) frame.output(foreign.output, total);
        count(learn, {"learned", {}}, read(learn, foreign, foreign.learn));
        count(publish, {"published", {}});
        std::vector<Trace*> entries = {&frame, &learn, &publish};
        Trace advantages("compute_advantages");
        if (foreign.manifest.n_steps > 0) {
            count(advantages, {"computed", {}});
            entries.push_back(&advantages);
        }
        CompileOptions options;
        options.caps = *context_.device_caps();
        options.max_batch_size = foreign.max_batch_size;
        if (test::test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        const auto compiled = compile(std::span<Trace* const>(entries), options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        auto program = LoadedProgram::load(context_, compiled->bytes);
        ASSERT_TRUE(program.ok()) << program.status().message();
        program_ = std::move(program).value();
    }

    struct Made {
        hearth_result result = HEARTH_OK;
        std::string message;
        double seconds = 0;
        uint64_t peak_bytes = 0;  ///< CPU memory besides what was held before
    };
    hearth_agents_create_info create_info(std::span<const std::byte> manifest) const {
        hearth_agents_create_info info = hearth_agents_create_info_default();
        info.program = program_.handle();
        info.manifest = manifest.data();
        info.manifest_bytes = manifest.size();
        return info;
    }
    const Context& context() const { return context_; }
    const LoadedProgram& program() const { return program_; }
    hearth_result in_frame(const std::function<hearth_result(VkCommandBuffer)>& record) {
        EXPECT_TRUE(context_.begin_frame(serial_ + 1, serial_).ok());
        ++serial_;
        hearth_result result = HEARTH_OK;
        EXPECT_TRUE(
            device().run([&](VkCommandBuffer commands) { result = record(commands); }).ok());
        return result;
    }
    /// Creates agents, lets them play three frames, and destroys them.
    Made create(std::span<const std::byte> manifest,
                const std::function<void(hearth_agents_create_info&)>& change = {}) {
        hearth_agents_create_info info = create_info(manifest);
        if (change) change(info);
        Made made;
        hearth_agents* agents = nullptr;
        hearth_messages messages{};
        const hearth_context_stats before = context_.stats();
        const auto begin = std::chrono::steady_clock::now();
        made.result = hearth_agents_create(context_.handle(), &info, &agents, &messages);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        made.seconds = taken.count();
        made.message = messages.text;
        made.peak_bytes = context_.stats().cpu_bytes_peak - before.cpu_bytes;
        if (made.result == HEARTH_OK) {
            EXPECT_TRUE(plays(agents));
            hearth_agents_destroy(agents);
            EXPECT_TRUE(context_.begin_frame(serial_ + 1, serial_).ok());
            ++serial_;
        } else {
            EXPECT_EQ(agents, nullptr);
            EXPECT_EQ(messages.message_count, 1u);
        }
        EXPECT_EQ(context_.stats().cpu_bytes, before.cpu_bytes);
        return made;
    }
    Made create(const Foreign& foreign) {
        load(foreign);
        return create(foreign.manifest.save());
    }
    /// Creation fails, within a second and 100 MB, with a message that contains `what`.
    void expect_refused(const Foreign& foreign, hearth_result result, const std::string& what) {
        SCOPED_TRACE(what);
        const Made made = create(foreign);
        EXPECT_EQ(made.result, result) << made.message;
        EXPECT_NE(made.message.find(what), std::string::npos) << made.message;
        EXPECT_LT(made.seconds, 1);
        EXPECT_LT(made.peak_bytes, 100u << 20);
    }

    bool plays(hearth_agents* agents) {
        hearth_session* const session = hearth_agents_get_session(agents);
        bool works = hearth_session_create_pipelines(session, 0) == HEARTH_OK;
        hearth_agent agent{};
        works = works && hearth_agents_add(agents, &agent) == HEARTH_OK;
        for (int i = 0; i < 3 && works; ++i)
            works = in_frame([&](VkCommandBuffer commands) {
                        hearth_agents_poll(agents);
                        hearth_agents_record_info info = hearth_agents_record_info_default();
                        info.command_buffer = commands;
                        return hearth_agents_record(agents, &info);
                    }) == HEARTH_OK;
        EXPECT_TRUE(works) << hearth_agents_error(agents);
        return works;
    }

  private:
    Context context_;
    LoadedProgram program_;
    uint64_t serial_ = 0;
};

TEST_F(DriverHostileTest, WithoutAnythingChangedAForeignProgramPlays) {
    const Made made = create(Foreign());
    EXPECT_EQ(made.result, HEARTH_OK) << made.message;
}

// The driver knows the size of the memory behind each input.  It used to believe the program.
TEST_F(DriverHostileTest, InputsOfAnotherSizeOrTypeAreRefusedByName) {
    constexpr int64_t kMillion = 1 << 20;
    const struct {
        Input input;
        std::string says;
    } inputs[] = {
        {{"reward", {kBatch, kMillion}}, "1048576 floats in the program, 1 per agent"},
        {{"reward", {4}}, "4 floats in the program, 1 per agent"},
        {{"exploration", {64}}, "64 floats in the program, 1 by the manifest's spec"},
        {{"exploration", {kBatch}}, "1 floats in the program, 1 by the manifest's spec"},
        {{"id", {kBatch}}, "elements of dtype"},
        {{"id", {kBatch, 2}, DType::kU32}, "2 floats in the program, 1 per agent"},
        {{"observation", {kBatch, 4}}, "4 floats in the program, 3 per agent"},
        {{"observation", {kBatch, 3}, DType::kI32}, "elements of dtype"},
        {{"final_observation", {kBatch, 2}}, "2 floats in the program, 3 per agent"},
        {{"mask", {kBatch, 6}}, "6 floats in the program, 3 per agent"},
        {{"final_mask", {kBatch}}, "1 floats in the program, 3 per agent"},
        {{"done_kind", {kBatch, 2}}, "2 floats in the program, 1 per agent"},
        {{"episode_start", {}}, "1 floats in the program, 1 per agent"},
    };
    for (const auto& [input, says] : inputs) {
        SCOPED_TRACE(input.name);
        Foreign foreign;
        foreign.input(input.name) = input;
        expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE,
                       "entry 'frame', '" + input.name + "': " + says);
    }
    Foreign unknown;
    unknown.frame.push_back({"secret", {kBatch}});
    expect_refused(unknown, HEARTH_ERROR_INCOMPATIBLE, "entry 'frame', 'secret': an input that");
    Foreign rate;
    rate.learn = {{"learning_rate", {1 << 20}}};
    expect_refused(rate, HEARTH_ERROR_INCOMPATIBLE, "entry 'learn', 'learning_rate': 1048576");
}

TEST_F(DriverHostileTest, EntriesThatWriteToTheGamesMemoryAreRefusedByName) {
    for (const char* const name : {"observation", "reward", "exploration", "id"}) {
        Foreign foreign;
        foreign.written = name;
        expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE,
                       "entry 'frame', '" + std::string(name) + "': an output");
    }
    Foreign foreign;
    foreign.output = "total";
    expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE, "entry 'frame', 'total': an output");
}

TEST_F(DriverHostileTest, StatesOfAnotherSizeAreRefusedByName) {
    const auto words = static_cast<int64_t>(kSavedStatusWords);
    const Input actions[] = {{"last.action", {4, 3}},
                             {"last.action", {3, 2}},
                             {"last.action", {1 << 20}},
                             {"last.action", {4, 2}, DType::kI32},
                             {"last.action", {4, 4}, DType::kF16}};
    for (const Input& input : actions) {
        Foreign foreign;
        foreign.last_action = input;
        expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE, "state 'last.action' has");
    }
    for (const int64_t size : {int64_t{1}, int64_t{12}, int64_t{14}, words - 1, words + 1,
                               words + 2, int64_t{1} << 20}) {
        Foreign foreign;
        foreign.status.shape = {size};
        expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE, "state 'agents.status' has");
        expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE, "counters; cook the package again");
    }
    Foreign recent;
    recent.recent = {"agents.recent", {1 << 20}, DType::kU32};
    expect_refused(recent, HEARTH_ERROR_INCOMPATIBLE, "state 'agents.recent' has 4194304 bytes");
    // A version with fewer counters.
    Foreign early;
    early.status.shape = {words - 2};
    EXPECT_EQ(create(early).result, HEARTH_OK);
    Foreign without;
    without.last_action.name.clear();
    expect_refused(without, HEARTH_ERROR_INCOMPATIBLE, "the program has no state 'last.action'");
    without = {};
    without.status.name.clear();
    expect_refused(without, HEARTH_ERROR_INCOMPATIBLE, "the program has no state 'agents.status'");
    without = {};
    without.manifest.names.learn = "study";
    expect_refused(without, HEARTH_ERROR_INCOMPATIBLE, "the program has no entry 'study'");
}

// Brains with such weights are refused, and so are packages whose own are such.
TEST_F(DriverHostileTest, InitialWeightsThatNoTrainingReachesAreRefusedByName) {
    const std::string kNotFinite = "element 1 of the initial value is NaN or infinite";
    const std::string kFar = "element 1 of the initial value has a magnitude of 2^60 or more";
    const auto initial = [](float value) {
        return Init::from(HostTensor::of({2}, std::vector<float>{1, value}));
    };
    const auto refused = [&](const char* name, float value, const std::string& says) {
        Foreign foreign;
        foreign.saved = {name, {2}};
        foreign.initial = initial(value);
        expect_refused(foreign, HEARTH_ERROR_NON_FINITE, "'" + std::string(name) + "': " + says);
    };
    const float infinity = std::numeric_limits<float>::infinity();
    for (const char* name : {"published.param.actor.0.weight", "target.actor.0.weight", "scale"})
        for (const float value : {NAN, infinity, -infinity}) refused(name, value, kNotFinite);
    for (const float value : {0x1p60f, -3e38f}) {
        refused("published.param.actor.0.weight", value, kFar);
        refused("target.actor.0.weight", value, kFar);
    }
    Foreign foreign;
    foreign.saved = {"published.param.actor.0.weight", {2}};
    foreign.initial = initial(0x1p59f);
    EXPECT_EQ(create(foreign).result, HEARTH_OK);
    // A sum of returns is no param.
    foreign.saved.name = "scale";
    foreign.initial = initial(1e30f);
    EXPECT_EQ(create(foreign).result, HEARTH_OK);
}

// --- Manifests ---

TEST_F(DriverHostileTest, AManifestOfMoreAgentsThanTheProgramHoldsIsRefusedBeforeItTakesMemory) {
    Foreign foreign;
    foreign.manifest.n_agents = 1u << 24;
    expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE,
                   "the program has room for 4 agents, the learner was made for 16777216");
    foreign.manifest.n_agents = 0xffffffff;
    expect_refused(foreign, HEARTH_ERROR_CORRUPT_DATA, "a value is outside its range");
}

TEST_F(DriverHostileTest, ManyAgentsOfASmallFileAreRefusedByTheLimitOfMemory) {
    Foreign foreign;
    foreign.manifest.n_agents = 1u << 20;
    foreign.max_batch_size = 1u << 20;
    foreign.last_action.shape = {1 << 20, 2};
    expect_refused(foreign, HEARTH_ERROR_BUDGET_EXCEEDED, "max_host_bytes");

    constexpr int64_t kWide = 65536;
    foreign = {};
    foreign.manifest.n_agents = 4096;
    foreign.max_batch_size = 4096;
    foreign.manifest.schema =
        AgentSpec(ObservationSpec().box("x", kWide), ActionSpec().continuous("aim", 2));
    foreign.last_action.shape = {4096, 2};
    foreign.input("observation").shape = {kBatch, kWide};
    foreign.input("final_observation").shape = {kBatch, kWide};
    std::erase_if(foreign.frame, [](const Input& i) { return i.name.find("mask") != i.name.npos; });
    expect_refused(foreign, HEARTH_ERROR_BUDGET_EXCEEDED, "4096 agents of");
}

TEST_F(DriverHostileTest, TheApplicationsLimitOfMemoryHoldsBothWays) {
    const Foreign foreign;
    load(foreign);
    const std::vector<std::byte> manifest = foreign.manifest.save();
    const auto with = [&](uint64_t bytes) {
        return create(manifest,
                      [&](hearth_agents_create_info& info) { info.max_host_bytes = bytes; });
    };
    const Made refused = with(1);
    EXPECT_EQ(refused.result, HEARTH_ERROR_BUDGET_EXCEEDED);
    const size_t at = refused.message.find(" need ");
    ASSERT_NE(at, std::string::npos) << refused.message;
    const uint64_t needed = std::stoull(refused.message.substr(at + 6));
    EXPECT_EQ(with(needed - 1).result, HEARTH_ERROR_BUDGET_EXCEEDED);
    EXPECT_EQ(with(needed).result, HEARTH_OK);
}

TEST_F(DriverHostileTest, EachTruncationOfAManifestIsRefused) {
    const Foreign foreign;
    load(foreign);
    const std::vector<std::byte> manifest = foreign.manifest.save();
    for (size_t size = 1; size < manifest.size(); ++size) {
        const Made made = create(std::span(manifest).first(size));
        EXPECT_LT(made.result, 0) << size;
        EXPECT_FALSE(made.message.empty()) << size;
    }
}

TEST_F(DriverHostileTest, ChangedBytesOfAManifestAreRefusedOrHarmless) {
    const Foreign foreign;
    load(foreign);
    const std::vector<std::byte> sound = foreign.manifest.save();
    int accepted = 0;
    for (size_t i = 0; i < sound.size(); ++i)
        for (const int value : {0x00, 0x7f, 0xff}) {
            std::vector<std::byte> manifest = sound;
            manifest[i] = static_cast<std::byte>(value);
            const Made made = create(manifest);
            EXPECT_LT(made.peak_bytes, 100u << 20) << i;
            accepted += made.result == HEARTH_OK ? 1 : 0;
        }
    EXPECT_GT(accepted, 0) << "names of agents' fields may be anything";
}

TEST_F(DriverHostileTest, HyperparametersStayWithinTheirRange) {
    const float kMost = std::numeric_limits<float>::max();
    Foreign foreign;
    for (const double value : {-0.1, 1.5, std::nan(""), HUGE_VAL}) {
        foreign.manifest.hyperparameters = {{"learning_rate", value, 0, 1}};
        expect_refused(foreign, HEARTH_ERROR_CORRUPT_DATA, "hyperparameter 'learning_rate' is");
    }
    foreign.manifest.hyperparameters = {{"learning_rate", 1e300, 0, 1e300}};
    expect_refused(foreign, HEARTH_ERROR_CORRUPT_DATA, "hyperparameter 'learning_rate' is");
    foreign.manifest.hyperparameters = {{"learning_rate", kMost, -kMost, kMost}};
    EXPECT_EQ(create(foreign).result, HEARTH_OK);
    // Finding one reads those before it.
    foreign.manifest.hyperparameters.assign(1 << 20, {"learning_rate", 1e-3, 0, 1});
    expect_refused(foreign, HEARTH_ERROR_CORRUPT_DATA, "more than 256 hyperparameters");
}

TEST_F(DriverHostileTest, ArgumentsOutsideTheirRangeAreRefusedByName) {
    const Foreign foreign;
    load(foreign);
    const std::vector<std::byte> manifest = foreign.manifest.save();
    const auto refused = [&](const std::function<void(hearth_agents_create_info&)>& change) {
        const Made made = create(manifest, change);
        EXPECT_EQ(made.result, HEARTH_ERROR_INVALID_ARGUMENT) << made.message;
        EXPECT_LT(made.seconds, 1);
        EXPECT_LT(made.peak_bytes, 1u << 20);
        return made.message;
    };
    using Info = hearth_agents_create_info;
    EXPECT_NE(refused([](Info& i) {
                  i.frames_in_flight = 1'000'000'000;
              }).find("frames_in_flight is 1000000000"),
              std::string::npos);
    EXPECT_NE(refused([](Info& i) { i.frames_in_flight = UINT32_MAX; }).find("expected at most"),
              std::string::npos);
    EXPECT_NE(refused([](Info& i) { i.max_snapshots = 65; }).find("max_snapshots is 65"),
              std::string::npos);
    EXPECT_NE(refused([](Info& i) { i.program = nullptr; }).find("program is null"),
              std::string::npos);
    EXPECT_NE(refused([](Info& i) { i.size -= 8; }).find("hearth_agents_create_info_default"),
              std::string::npos);
    for (const uint32_t frames : {0u, 1u, 64u})
        EXPECT_EQ(create(manifest, [&](Info& i) { i.frames_in_flight = frames; }).result,
                  HEARTH_OK);
}

TEST_F(DriverHostileTest, ACreationWithoutItsArgumentsIsRefused) {
    const Foreign foreign;
    load(foreign);
    const std::vector<std::byte> manifest = foreign.manifest.save();
    hearth_agents_create_info info = create_info(manifest);
    hearth_agents* agents = nullptr;
    hearth_messages messages{};
    const auto refused = [&](hearth_context* context, const hearth_agents_create_info* how,
                             hearth_agents** out) {
        messages = {};
        EXPECT_EQ(hearth_agents_create(context, how, out, &messages),
                  HEARTH_ERROR_INVALID_ARGUMENT);
        EXPECT_EQ(agents, nullptr);
        return messages.message_count == 1;
    };
    hearth_context* const context = this->context().handle();
    EXPECT_TRUE(refused(nullptr, &info, &agents));
    EXPECT_TRUE(refused(context, nullptr, &agents));
    EXPECT_TRUE(refused(context, &info, nullptr));
    info.type = HEARTH_STRUCT_AGENTS_STATUS;
    EXPECT_TRUE(refused(context, &info, &agents));
    info = create_info(manifest);
    info.size += 8;
    EXPECT_TRUE(refused(context, &info, &agents));
    info = create_info(manifest);
    // A spec that is none.
    info.schema = manifest.data();
    info.schema_bytes = manifest.size();
    EXPECT_EQ(hearth_agents_create(context, &info, &agents, &messages), HEARTH_ERROR_CORRUPT_DATA);
    EXPECT_EQ(agents, nullptr);
    // Messages are optional.
    EXPECT_EQ(hearth_agents_create(context, &info, &agents, nullptr), HEARTH_ERROR_CORRUPT_DATA);
}

TEST_F(DriverHostileTest, AProgramWithoutWeightsHasNoSnapshotsAndItsSessionNoErrors) {
    load(Foreign());
    const std::vector<std::byte> manifest = Foreign().manifest.save();
    hearth_agents_create_info info = create_info(manifest);
    hearth_agents* agents = nullptr;
    ASSERT_EQ(hearth_agents_create(context().handle(), &info, &agents, nullptr), HEARTH_OK);
    EXPECT_TRUE(plays(agents));
    EXPECT_STREQ(hearth_session_error(hearth_agents_get_session(agents)), "");
    EXPECT_EQ(hearth_agents_take_snapshot(agents), HEARTH_ERROR_UNSUPPORTED);
    hearth_agents_destroy(agents);
}

// A queue of waiting decisions has the size that the manifest states, or learning reads beyond it.
TEST_F(DriverHostileTest, AQueueOfAnotherSizeIsRefusedByName) {
    Foreign foreign;
    foreign.manifest.train_freq = 1;
    foreign.manifest.waiting_decisions = 8;
    expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE,
                   "state 'waiting.id' has 0 bytes, expected 128 for 8 waiting decisions");
    foreign.manifest.waiting_decisions = 0;
    expect_refused(foreign, HEARTH_ERROR_CORRUPT_DATA, "a value is outside its range");
    // Rollouts have no queue, and need compute_advantages.
    foreign.manifest.waiting_decisions = 8;
    foreign.manifest.n_steps = 4;
    EXPECT_EQ(create(foreign).result, HEARTH_OK);
    foreign.manifest.names.compute_advantages = "none";
    expect_refused(foreign, HEARTH_ERROR_INCOMPATIBLE, "no entry 'none'");
}

// Brains of rollouts say how much of it is filled, in data that only these agents write.
TEST_F(DriverHostileTest, DataOfAnotherApplicationInABrainIsNotRead) {
    Foreign foreign;
    foreign.manifest.n_steps = 2;
    foreign.saved = {"rollout.step", {1}};
    load(foreign);
    const std::vector<std::byte> manifest = foreign.manifest.save();
    const hearth_agents_create_info info = create_info(manifest);
    hearth_agents* agents = nullptr;
    ASSERT_EQ(hearth_agents_create(context().handle(), &info, &agents, nullptr), HEARTH_OK);
    ASSERT_TRUE(plays(agents));
    hearth_session* const session = hearth_agents_get_session(agents);
    hearth_readback readback = 0;
    EXPECT_EQ(in_frame([&](VkCommandBuffer commands) {
                  return hearth_record_save_brain(session, commands, &readback);
              }),
              HEARTH_OK);
    EXPECT_EQ(in_frame([](VkCommandBuffer) { return HEARTH_OK; }), HEARTH_OK);
    hearth_brain_save_info save = hearth_brain_save_info_default();
    uint64_t frame = 0;
    ASSERT_EQ(hearth_readback_poll(session, readback, &save.snapshot, &save.snapshot_bytes, &frame),
              HEARTH_OK);
    save.user_schema_hash = hearth_agents_schema_hash(agents);
    for (const uint32_t magic : {0x31534148u, 0x12345678u}) {
        SCOPED_TRACE(magic);
        const uint32_t data[] = {magic, 2, 0, 0};
        save.user_data = data;
        save.user_data_size = sizeof data;
        uint64_t bytes = 0;
        ASSERT_EQ(hearth_brain_encode(program().handle(), &save, nullptr, &bytes), HEARTH_OK);
        std::vector<uint64_t> brain(bytes / 8 + 1);
        ASSERT_EQ(hearth_brain_encode(program().handle(), &save, brain.data(), &bytes), HEARTH_OK);
        ASSERT_EQ(hearth_agents_load(agents, brain.data(), bytes, nullptr), HEARTH_OK);
        hearth_agents_status before = hearth_agents_status_default(), after = before;
        EXPECT_EQ(hearth_agents_get_status(agents, &before), HEARTH_OK);
        EXPECT_EQ(in_frame([&](VkCommandBuffer commands) {
                      hearth_agents_record_info record = hearth_agents_record_info_default();
                      record.command_buffer = commands;
                      record.request_decision = 0;
                      return hearth_agents_record(agents, &record);
                  }),
                  HEARTH_OK);
        EXPECT_EQ(hearth_agents_get_status(agents, &after), HEARTH_OK);
        const bool is_own = magic == 0x31534148u;
        EXPECT_EQ(after.rollouts, before.rollouts + (is_own ? 1 : 0)) << "of two decisions";
    }
    hearth_readback_release(session, readback);
    hearth_agents_destroy(agents);
}

// --- Calls ---

using DriverRulesTest = DriverTest;

std::vector<AgentId> fill(Host& host) {
    std::vector<AgentId> ids;
    while (host.agents.count() < 4) ids.push_back(*host.agents.add());
    return ids;
}

void see(Host& host, AgentId id, float value) {
    std::ranges::fill(host.agents.observation(id), value);
}

/// A column of the rollout: the sample of a step and an index.
float at(Host& host, const char* column, size_t step, size_t index, size_t width = 1) {
    return host.slot(column)[(step * 4 + index) * width];
}

TEST_F(DriverRulesTest, AWaveRespawnsInOneFrameAndEachTransitionIsItsAgents) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    std::vector<AgentId> ids = fill(*host);
    const RecordOptions acts{.learning_budget_us = 0};
    const auto old = [&] {
        for (const AgentId id : ids) see(*host, id, 1);
    };
    ASSERT_TRUE(host->frame(acts, old).ok());
    ASSERT_TRUE(host->frame(acts, old).ok());
    std::vector<AgentId> added;
    ASSERT_TRUE(host->frame(acts,
                            [&] {
                                for (const AgentId id : ids) {
                                    see(*host, id, 2);
                                    EXPECT_TRUE(host->agents.add_reward(id, 5).ok());
                                    EXPECT_TRUE(host->agents.remove(id).ok());
                                }
                                EXPECT_EQ(host->agents.count(), 0u);
                                added = fill(*host);
                                EXPECT_EQ(added.size(), 4u);
                                EXPECT_FALSE(host->agents.add().ok());
                                for (const AgentId id : added) {
                                    EXPECT_TRUE(host->agents.action(id).empty());
                                    see(*host, id, 3);
                                    EXPECT_TRUE(host->agents.add_reward(id, 7).ok());
                                }
                            })
                    .ok());
    EXPECT_EQ(host->agents.status().rewards_after_end, 4u);
    ASSERT_TRUE(host->frame(acts,
                            [&] {
                                for (const AgentId id : added) see(*host, id, 4);
                            })
                    .ok());
    host->settle();
    for (const AgentId id : ids) {
        EXPECT_FALSE(host->agents.add_reward(id, 1).ok());
        EXPECT_TRUE(host->agents.action(id).empty());
        EXPECT_TRUE(host->agents.observation(id).empty());
    }
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_FALSE(host->agents.action(added[i]).empty());
        EXPECT_NE(added[i].generation, ids[i].generation);
        // Decision 0, of the old agent; its decision 1 with the end; the new agent's first.
        EXPECT_EQ(at(*host, "rollout.end", 0, i), 0);
        EXPECT_EQ(at(*host, "rollout.end", 1, i), HEARTH_AGENTS_TRUNCATED);
        EXPECT_EQ(at(*host, "rollout.end", 2, i), 0);
        EXPECT_EQ(at(*host, "rollout.observation", 1, i, 3), 1);
        EXPECT_EQ(at(*host, "rollout.next_observation", 1, i, 3), 2) << "as the old agent saw it";
        EXPECT_EQ(at(*host, "rollout.observation", 2, i, 3), 3);
        EXPECT_EQ(at(*host, "rollout.next_observation", 2, i, 3), 4);
        EXPECT_GT(at(*host, "rollout.reward", 1, i), 0);
        EXPECT_EQ(at(*host, "rollout.reward", 2, i), 0) << "a reward before the first decision";
    }
    EXPECT_EQ(host->agents.status()[Counter::kEpisodes], 4u);
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 12u);
}

// The decision in progress has seen the agents that were removed.
TEST_F(DriverRulesTest, AnAgentAddedDuringASlicedDecisionGetsItsOwnAction) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    std::vector<AgentId> ids = fill(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    const RecordOptions sliced{.learning_budget_us = 0, .max_decision_frames = 4};
    ASSERT_TRUE(host->frame(sliced).ok());
    ASSERT_EQ(host->agents.status().decisions, 1u) << "the decision was not sliced";
    ASSERT_TRUE(host->agents.remove(ids[0]).ok());
    const AgentId added = *host->agents.add();
    EXPECT_EQ(added.index, ids[0].index);
    while (host->agents.status().decisions < 2) ASSERT_TRUE(host->frame(sliced).ok());
    host->settle();
    EXPECT_TRUE(host->agents.action(added).empty()) << "what was decided for the old agent";
    EXPECT_FALSE(host->agents.action(ids[1]).empty());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    host->settle();
    EXPECT_FALSE(host->agents.action(added).empty());
    EXPECT_EQ(at(*host, "rollout.end", 1, 0), HEARTH_AGENTS_TRUNCATED);
    EXPECT_EQ(at(*host, "rollout.end", 1, 1), 0);
}

TEST_F(DriverRulesTest, TheFirstEndOfAnEpisodeCountsAndRewardsAfterItAreCounted) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const AgentId id = *host->agents.add();
    const RecordOptions acts{.learning_budget_us = 0};
    ASSERT_TRUE(host->frame(acts).ok());
    ASSERT_TRUE(
        host->frame(acts,
                    [&] {
                        const float last[] = {9, 9, 9};
                        Agents& agents = host->agents;
                        EXPECT_TRUE(agents.add_reward(id, 1).ok());
                        EXPECT_TRUE(agents.end_episode(id, EpisodeEnd::kTruncated, last).ok());
                        EXPECT_TRUE(agents.end_episode(id, EpisodeEnd::kTerminated).ok());
                        EXPECT_TRUE(agents.add_reward(id, 100).ok());
                        EXPECT_FALSE(agents.add_reward(id, NAN).ok());
                        EXPECT_EQ(agents.status().repeated_ends, 1u);
                        EXPECT_EQ(agents.status().rewards_after_end, 1u);
                        EXPECT_EQ(agents.status().rewards_rejected, 1u);
                        EXPECT_FALSE(agents.end_episode(id, static_cast<EpisodeEnd>(3)).ok());
                        see(*host, id, 1);
                    })
            .ok());
    ASSERT_TRUE(host->frame(acts).ok());
    host->settle();
    EXPECT_EQ(at(*host, "rollout.end", 0, 0), HEARTH_AGENTS_TRUNCATED);
    EXPECT_EQ(at(*host, "rollout.next_observation", 0, 0, 3), 9);
    EXPECT_EQ(at(*host, "rollout.end", 1, 0), 0);
    EXPECT_EQ(at(*host, "rollout.reward", 1, 0), 0) << "a reward after the end";
    EXPECT_EQ(host->agents.status()[Counter::kEpisodes], 1u);
}

TEST_F(DriverRulesTest, RewardsThatAddUpToInfinityAreRejectedAndCounted) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const AgentId id = *host->agents.add();
    constexpr float kMost = std::numeric_limits<float>::max();
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0},
                            [&] {
                                EXPECT_TRUE(host->agents.add_reward(id, kMost).ok());
                                const Status twice = host->agents.add_reward(id, kMost);
                                EXPECT_NE(twice.message().find("infinite"), std::string::npos);
                                EXPECT_EQ(host->agents.status().rewards_rejected, 1u);
                            })
                    .ok());
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 1u);
    EXPECT_EQ(host->agents.status()[Counter::kSamplesRejected], 0u);
}

TEST_F(DriverRulesTest, ChoicesWithoutAnOptionAreCounted) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    fill(*host);
    const AgentId first{0, 1};
    for (const int available : {1, 0, 0}) {
        ASSERT_TRUE(host->frame({.learning_budget_us = 0},
                                [&] {
                                    std::fill_n(host->agents.action_mask(first), 3,
                                                static_cast<float>(available));
                                })
                        .ok());
    }
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kChoicesAllMasked], 2u);
    EXPECT_EQ(host->agents.action(first)[0], 0);
}

TEST_F(DriverRulesTest, WithoutAgentsNothingIsDecided) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(host->frame({}).ok());
    EXPECT_EQ(host->agents.status().decisions, 0u);
    const AgentId id = *host->agents.add();
    ASSERT_TRUE(host->agents.remove(id).ok());
    EXPECT_FALSE(host->agents.remove(id).ok());
    ASSERT_TRUE(host->frame({}).ok());
    EXPECT_EQ(host->agents.status().decisions, 0u);
    EXPECT_TRUE(host->agents.add().ok());
    ASSERT_TRUE(host->frame({}).ok());
    EXPECT_EQ(host->agents.status().decisions, 1u);
}

TEST_F(DriverRulesTest, AFrameIsRecordedOnceUnlessItIsDiscarded) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const RecordOptions acts{.learning_budget_us = 0};
    const auto refused = [&] {
        const Status twice = host->record_agents(acts);
        EXPECT_NE(twice.message().find("is recorded already"), std::string::npos)
            << twice.message();
        return !twice.ok();
    };
    // Nobody decides in the first frame, which initializes the session, nor in the second one.
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(host->begin().ok());
        ASSERT_TRUE(host->discard_frame(acts).ok());
        ASSERT_TRUE(host->record_agents(acts).ok()) << hearth_agents_error(host->agents.handle());
        EXPECT_TRUE(refused());
    }
    ASSERT_TRUE(host->agents.add().ok());
    ASSERT_TRUE(host->begin().ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(host->discard_frame(acts).ok()) << i;
    ASSERT_TRUE(host->record_agents(acts).ok());
    EXPECT_TRUE(refused());
    EXPECT_TRUE(refused());
    ASSERT_TRUE(host->frame(acts).ok());
}

TEST_F(DriverRulesTest, ARefusedCallRecordsNothingAndTheFrameMayBeRecorded) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const AgentId id = *host->agents.add();
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    ASSERT_TRUE(host->begin([&] { EXPECT_TRUE(host->agents.add_reward(id, 1).ok()); }).ok());
    const hearth_tensor_binding unknown = hearth_bind_bytes(9999, &id, sizeof id);
    const Status refused = host->record_agents({.inputs = {&unknown, 1}});
    EXPECT_NE(refused.message().find("inputs[0].binding is 9999"), std::string::npos);
    EXPECT_EQ(host->agents.status().decisions, 1u);
    ASSERT_TRUE(host->record_agents({.learning_budget_us = 0}).ok());
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 1u);
    EXPECT_GT(at(*host, "rollout.reward", 0, 0), 0);
}

TEST_F(DriverRulesTest, ADiscardedDecisionLeavesNoTransitionBehind) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const RecordOptions acts{.learning_budget_us = 0};
    const AgentId id = *host->agents.add();
    ASSERT_TRUE(host->frame(acts, [&] { see(*host, id, 1); }).ok());
    ASSERT_TRUE(host->frame(acts, [&] { see(*host, id, 2); }).ok());
    ASSERT_TRUE(host->begin([&] {
                        see(*host, id, 3);
                        EXPECT_TRUE(host->agents.add_reward(id, 5).ok());
                        EXPECT_TRUE(host->agents.end_episode(id, EpisodeEnd::kTerminated).ok());
                        EXPECT_TRUE(host->agents.add().ok());
                    })
                    .ok());
    ASSERT_TRUE(host->discard_frame(acts).ok());
    // The end of the episode was in the frame that never ran: what follows belongs to no decision.
    ASSERT_TRUE(host->record_agents(acts).ok());
    ASSERT_TRUE(host->frame(acts, [&] { see(*host, id, 4); }).ok());
    host->settle();
    const std::vector<float> seen = host->slot("rollout.observation"),
                             next = host->slot("rollout.next_observation"),
                             valid = host->slot("rollout.valid");
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 3u) << "1 to 2, 3 to 4, and another agent";
    ASSERT_EQ(valid[0], 1);
    EXPECT_EQ(seen[0], 1);
    EXPECT_EQ(next[0], 2);
    ASSERT_EQ(valid[4], 1);
    EXPECT_EQ(seen[3 * 4], 3);
    EXPECT_EQ(next[3 * 4], 4);
    EXPECT_FALSE(host->agents.action(id).empty());
}

TEST_F(DriverRulesTest, AnotherFrameThatIsDiscardedChangesNothing) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    ASSERT_TRUE(host->agents.add().ok());
    const RecordOptions acts{.learning_budget_us = 0};
    ASSERT_TRUE(host->frame(acts).ok());
    ASSERT_TRUE(host->frame(acts).ok());
    ASSERT_TRUE(host->begin().ok());
    ASSERT_TRUE(host->discard_empty_frame().ok());
    ASSERT_TRUE(host->frame(acts).ok());
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 2u);
}

TEST_F(DriverRulesTest, ADiscardedLoadIsRecordedAgain) {
    const auto host = small_host(device(), {.max_snapshots = 1, .snapshot_interval = 0});
    ASSERT_NE(host, nullptr);
    fill(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    const std::vector<float> initial = host->slot("actor.0.weight");
    ASSERT_TRUE(host->agents.shrink_and_perturb(1).ok());
    ASSERT_TRUE(host->begin().ok());
    ASSERT_TRUE(host->discard_frame({.learning_budget_us = 0}).ok());
    ASSERT_TRUE(host->record_agents({.learning_budget_us = 0}).ok());
    const std::vector<float> changed = host->slot("actor.0.weight");
    EXPECT_NE(changed, initial);
    ASSERT_TRUE(host->agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
    ASSERT_TRUE(host->begin().ok());
    ASSERT_TRUE(host->discard_frame({.learning_budget_us = 0}).ok());
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    EXPECT_EQ(host->slot("actor.0.weight"), initial);
}

// The last outcomes before a freeze end episodes, also if a decision is in progress then.
TEST_F(DriverRulesTest, FreezingDuringASlicedDecisionStoresItsOutcome) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    fill(*host);
    const RecordOptions whole{.learning_budget_us = 0};
    ASSERT_TRUE(host->frame(whole).ok());
    const RecordOptions sliced{.learning_budget_us = 0, .max_decision_frames = 4};
    ASSERT_TRUE(host->frame(sliced).ok());
    ASSERT_EQ(host->agents.status().decisions, 1u) << "the decision was not sliced";
    host->agents.freeze(true);
    while (host->agents.status().decisions < 2) ASSERT_TRUE(host->frame(sliced).ok());
    ASSERT_TRUE(host->frame(whole).ok());
    ASSERT_TRUE(host->frame(whole).ok());
    host->agents.freeze(true);  // it is frozen already
    ASSERT_TRUE(host->frame(whole).ok());
    ASSERT_TRUE(host->frame(whole).ok());
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 8u);
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(at(*host, "rollout.end", 0, i), 0);
        EXPECT_EQ(at(*host, "rollout.end", 1, i), HEARTH_AGENTS_TRUNCATED);
    }
}

TEST_F(DriverRulesTest, ADecisionWaitsForItsBudgetAndLosesNothing) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    std::vector<AgentId> ids = fill(*host);
    ASSERT_TRUE(host->frame({.learning_budget_us = 0}).ok());
    const RecordOptions waits{.learning_budget_us = 0,
                              .max_decision_frames = HEARTH_AGENTS_BEST_EFFORT};
    ASSERT_TRUE(
        host->frame(waits, [&] { EXPECT_TRUE(host->agents.add_reward(ids[0], 1).ok()); }).ok());
    ASSERT_TRUE(host->frame(waits,
                            [&] {
                                EXPECT_TRUE(host->agents.add_reward(ids[1], 1).ok());
                                EXPECT_TRUE(
                                    host->agents.end_episode(ids[2], EpisodeEnd::kTerminated).ok());
                                EXPECT_TRUE(host->agents.remove(ids[3]).ok());
                                EXPECT_TRUE(host->agents.add().ok());
                            })
                    .ok());
    EXPECT_EQ(host->agents.status().decisions, 1u);
    // The request stands, although it is not repeated.
    int frames = 0;
    // A machine at load measured the first decision as slow: in the end there is time for that, too.
    for (; frames < 2000 && host->agents.status().decisions < 2; ++frames)
        ASSERT_TRUE(host->frame({.learning_budget_us = frames < 10 ? 1.0 : 1000.0,
                                 .request_decision = false})
                        .ok());
    EXPECT_GT(frames, 1) << "a microsecond is not enough";
    host->settle();
    EXPECT_EQ(host->agents.status().decisions, 2u);
    EXPECT_GT(at(*host, "rollout.reward", 0, 0), 0);
    EXPECT_GT(at(*host, "rollout.reward", 0, 1), 0);
    EXPECT_EQ(at(*host, "rollout.end", 0, 2), HEARTH_AGENTS_TERMINATED);
    EXPECT_EQ(at(*host, "rollout.end", 0, 3), HEARTH_AGENTS_TRUNCATED);
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 4u);
}

// --- Arguments ---

TEST_F(DriverRulesTest, WhatIsNoHandleIsRefusedByEveryCall) {
    std::array<uint64_t, 1024> memory{};
    for (hearth_agents* const agents :
         {static_cast<hearth_agents*>(nullptr), reinterpret_cast<hearth_agents*>(memory.data())}) {
        const hearth_agent id{0, 1};
        hearth_agent added{};
        uint32_t offset = 0, size = 0;
        uint64_t bytes = 0;
        float share = 0;
        double value = 0;
        hearth_agents_custom_metric metric{};
        hearth_agents_lesson lesson{};
        hearth_agents_field field{};
        const float action[2] = {};
        const hearth_agents_record_info record = hearth_agents_record_info_default();
        hearth_agents_status status = hearth_agents_status_default();
        const hearth_result results[] = {
            hearth_agents_add(agents, &added),
            hearth_agents_remove(agents, id),
            hearth_agents_find_observation(agents, "place", &offset, &size),
            hearth_agents_find_action(agents, "aim", &offset, &size),
            hearth_agents_observation_limits(agents, 0, &share, &share),
            hearth_agents_add_reward(agents, id, 1),
            hearth_agents_end_episode(agents, id, HEARTH_AGENTS_TERMINATED, nullptr, nullptr),
            hearth_agents_report_score(agents, 1),
            hearth_agents_log(agents, "catches", 1),
            hearth_demo_begin(agents, nullptr, &bytes),
            hearth_demo_add(agents, id, &share, 0, 0, 0, nullptr, &bytes),
            hearth_demo_replay(agents, id, &bytes, sizeof bytes, 0),
            hearth_agents_get_custom_metric(agents, 0, &metric),
            hearth_agents_get_parameter(agents, "wall", &value),
            hearth_agents_get_lesson(agents, 0, &lesson),
            hearth_agents_get_field(agents, 0, &field),
            hearth_agents_get_value(agents, id, &share),
            hearth_agents_observation_range(agents, 0, &share, &share, &bytes),
            hearth_agents_add_demonstration(agents, id, action),
            hearth_agents_record(agents, &record),
            hearth_agents_find_input(agents, "reward", &offset),
            hearth_agents_set_hyperparameter(agents, "learning_rate", 1e-3),
            hearth_agents_shrink_and_perturb(agents, 0),
            hearth_agents_take_snapshot(agents),
            hearth_agents_restore_snapshot(agents, 0),
            hearth_agents_load_snapshot(agents, agents, 0),
            hearth_agents_save(agents, 0, nullptr, &bytes),
            hearth_agents_save_weights(agents, 0, nullptr, &bytes),
            hearth_agents_save_game(agents),
            hearth_agents_get_saved_game(agents, nullptr, &bytes),
            hearth_agents_load(agents, memory.data(), sizeof memory, nullptr),
            hearth_agents_get_status(agents, &status)};
        for (const hearth_result result : results)
            EXPECT_EQ(result, HEARTH_ERROR_INVALID_ARGUMENT) << &result - results;
        hearth_agents_poll(agents);
        hearth_agents_finish_update(agents);
        hearth_agents_restart_custom_metrics(agents);
        hearth_agents_freeze(agents, 1);
        hearth_agents_reset_brain(agents);
        hearth_agents_destroy(agents);
        EXPECT_EQ(hearth_agents_get_session(agents), nullptr);
        EXPECT_EQ(hearth_agents_observation(agents, id), nullptr);
        EXPECT_EQ(hearth_agents_action_mask(agents, id), nullptr);
        EXPECT_EQ(hearth_agents_action(agents, id), nullptr);
        EXPECT_EQ(hearth_agents_count(agents) + hearth_agents_capacity(agents) +
                      hearth_agents_custom_metric_count(agents) +
                      hearth_agents_snapshot_count(agents) +
                      hearth_agents_observation_size(agents) + hearth_agents_action_size(agents) +
                      hearth_agents_action_mask_size(agents) + hearth_agents_schema_hash(agents),
                  0u);
        for (const char* const text :
             {hearth_agents_error(agents), hearth_agents_observation_name(agents, 0),
              hearth_agents_action_name(agents, 0)})
            EXPECT_STREQ(text, "");
    }
}

// --- Frames in flight ---

TEST_F(DriverRulesTest, MoreFramesInFlightThanStatedLoseReadbacksAlone) {
    const auto host = small_host(device(), {.frames_in_flight = 2, .enable_saved_games = true});
    ASSERT_NE(host, nullptr);
    const std::vector<AgentId> ids = fill(*host);
    const RecordOptions acts{.learning_budget_us = 0};
    ASSERT_TRUE(host->frame(acts).ok());
    host->lag = 12;
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(host->frame(acts).ok()) << i;
    host->lag = 0;
    host->settle();
    EXPECT_EQ(host->agents.status().decisions, 11u);
    ASSERT_TRUE(host->frame(acts).ok());
    host->settle();
    EXPECT_FALSE(host->agents.action(ids[0]).empty());
    EXPECT_EQ(host->agents.status()[Counter::kSamples], 4u * 8) << "of a rollout";

    // What is saved arrives as late as everything else.
    host->lag = 3;
    EXPECT_EQ(host->agents.saved_game().status().code(), StatusCode::kNotFound);
    ASSERT_TRUE(host->agents.save_game().ok());
    ASSERT_TRUE(host->agents.take_snapshot().ok());
    int frames = 0;
    for (; host->agents.snapshot_count() == 0 && frames < 20; ++frames) {
        EXPECT_EQ(host->agents.saved_game()->size(), 0u);
        const Status recorded = host->frame({.learning_budget_us = 0, .request_decision = false});
        ASSERT_TRUE(recorded.ok()) << recorded.message();
    }
    EXPECT_EQ(frames, 5);
    EXPECT_EQ(host->agents.status().snapshots_taken, 1u);
    EXPECT_GT(host->agents.saved_game()->size(), 0u);
    uint64_t bytes = 0;
    EXPECT_EQ(hearth_agents_save_weights(host->agents.handle(), 1, nullptr, &bytes),
              HEARTH_ERROR_NOT_FOUND);
    EXPECT_EQ(hearth_agents_save_weights(host->agents.handle(), 0, nullptr, &bytes), HEARTH_OK);
}

/// Agents that learn and publish after every second decision, of which a weight is NaN.
std::unique_ptr<Host> poisoned_host(standalone::Device& device, uint64_t lag) {
    Ppo ppo = small_ppo();
    ppo.n_steps = 2;
    ppo.n_minibatches = ppo.n_epochs = 1;
    auto host = Host::create(device, build_agent_graphs(small_schema(), mlp_network({8}), ppo, 1),
                             make_manifest(small_schema(), ppo),
                             {.frames_in_flight = 16, .max_snapshots = 1, .snapshot_interval = 0});
    if (host == nullptr) return nullptr;
    fill(*host);
    for (int i = 0; i < 6; ++i) EXPECT_TRUE(host->frame({.learning_budget_us = 1e9}).ok());
    EXPECT_TRUE(host->agents.take_snapshot().ok());
    host->settle();
    EXPECT_EQ(host->agents.snapshot_count(), 1u);
    const auto weight = host->program().find_variable("actor.0.weight");
    EXPECT_TRUE(weight.ok());
    const float poison = std::numeric_limits<float>::quiet_NaN();
    host->record([&](VkCommandBuffer commands) {
        return hearth_record_update_variable(host->agents.session(), commands, *weight, 0, &poison,
                                             sizeof poison);
    });
    host->lag = lag;
    return host;
}

// Several rejections of the same weights are on their way when the first one arrives.
TEST_F(DriverRulesTest, WeightsThatAreReplacedAreNotRolledBackAgain) {
    for (const bool all_at_once : {false, true}) {
        const auto host = poisoned_host(device(), 12);
        ASSERT_NE(host, nullptr);
        for (int i = 0; i < 12; ++i) {
            const Status recorded = host->frame({.learning_budget_us = 1e9});
            ASSERT_TRUE(recorded.ok()) << recorded.message();
            EXPECT_EQ(host->agents.status().rollbacks, 0u);
        }
        if (all_at_once) host->lag = 0;
        for (int i = 0; i < 30; ++i) ASSERT_TRUE(host->frame({.learning_budget_us = 1e9}).ok());
        host->settle();
        EXPECT_EQ(host->agents.status().rollbacks, 1u) << all_at_once;
        for (const float w : host->slot("actor.0.weight")) EXPECT_TRUE(std::isfinite(w));
    }
}

// The first decision after a load is compared with, too.
TEST_F(DriverRulesTest, ARejectionRightAfterALoadIsNoticed) {
    BehaviorCloning clone;
    clone.n_agents = 4;
    clone.buffer_size = 32;
    clone.batch_size = 8;
    clone.learning_starts = 8;
    const auto host =
        Host::create(device(), build_agent_graphs(small_schema(), mlp_network({8}), clone, 1),
                     make_manifest(small_schema(), clone));
    ASSERT_NE(host, nullptr);
    fill(*host);
    const RecordOptions acts{.learning_budget_us = 0};
    ASSERT_TRUE(host->frame(acts).ok());
    ASSERT_TRUE(host->agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
    host->settle();
    ASSERT_TRUE(host->frame(acts).ok());
    host->settle();
    const auto weight = host->program().find_variable("actor.0.weight");
    ASSERT_TRUE(weight.ok());
    const float poison = std::numeric_limits<float>::quiet_NaN();
    host->record([&](VkCommandBuffer commands) {
        return hearth_record_update_variable(host->agents.session(), commands, *weight, 0, &poison,
                                             sizeof poison);
    });
    ASSERT_TRUE(host->frame({.learning_budget_us = 1e9, .request_decision = false}).ok());
    EXPECT_EQ(host->agents.status().rollbacks, 0u);
    ASSERT_TRUE(host->frame(acts).ok());
    host->settle();
    EXPECT_EQ(host->agents.status()[Counter::kPublicationsRejected], 1u);
    EXPECT_EQ(host->agents.status().rollbacks, 1u);
}

#ifndef NDEBUG
TEST_F(DriverRulesTest, ACallDuringAnotherOneIsRefusedAndReported) {
    const auto host = small_host(device()), other = small_host(device());
    ASSERT_TRUE(host != nullptr && other != nullptr);
    const AgentId id = *host->agents.add();
    hearth_agents* const agents = host->agents.handle();
    const auto reward = [&] { return hearth_agents_add_reward(agents, id, 1); };
    {
        const CallGuard<> inside(agents->call);
        EXPECT_EQ(reward(), HEARTH_ERROR_INVALID_STATE);
    }
    EXPECT_EQ(reward(), HEARTH_ERROR_INVALID_STATE);
    EXPECT_NE(std::string(hearth_agents_error(agents)).find("another thread"), std::string::npos);
    EXPECT_EQ(reward(), HEARTH_OK) << "reported once";
    {
        const CallGuard<> inside(agents->call);
        hearth_agents_freeze(agents, 1);
    }
    EXPECT_EQ(reward(), HEARTH_ERROR_INVALID_STATE);
    EXPECT_EQ(host->agents.status().frozen, 0u);
    const CallGuard<> inside(agents->call);
    EXPECT_EQ(
        hearth_agents_load_snapshot(other->agents.handle(), agents, HEARTH_AGENTS_INITIAL_WEIGHTS),
        HEARTH_ERROR_INVALID_STATE);
}

TEST_F(DriverRulesTest, TwoThreadsInOneHandleNeverMeet) {
    const auto host = small_host(device());
    ASSERT_NE(host, nullptr);
    const AgentId id = *host->agents.add();
    hearth_agents* const agents = host->agents.handle();
    std::atomic<bool> is_refused = false;
    const auto play = [&] {
        for (int i = 0; i < 10'000'000 && !is_refused; ++i) {
            (void)hearth_agents_action(agents, id);
            (void)hearth_agents_observation_name(agents, 1);
            hearth_agents_poll(agents);
            if (hearth_agents_add_reward(agents, id, 1e-9f) == HEARTH_ERROR_INVALID_STATE)
                is_refused = true;
        }
    };
    std::thread other(play);
    play();
    other.join();
    EXPECT_TRUE(is_refused);
}
#endif

}  // namespace
}  // namespace hearth::gates
