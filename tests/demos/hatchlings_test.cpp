// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hatchlings without pictures: what they learn, what it may cost, and what it withstands.  Those
// named Nightly take long, and `./dev nightly` runs them; in the suite programs learn with three
// seeds (tests/demos/CMakeLists.txt).

#include "play.hpp"

#include <hearth/brain_file.hpp>
#include <hearth/compile.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

namespace hearth::hatchlings {
namespace {

using agents::AgentMetric;
using agents::Counter;
namespace fs = std::filesystem;

constexpr uint64_t kSecond = kFramesPerSecond;

/// A game and its frames, with as many in flight as the program has.
struct Match {
    std::unique_ptr<Play> play;
    std::unique_ptr<demo::FrameLoop> loop;
    uint64_t serial = 0;

    const World& world() const { return play->world(); }
    float rate() const { return play->progress().bars().back().embers; }
    float score() const { return play->progress().bars().back().score; }
};

class HatchlingsPlay : public ::testing::Test {
  protected:
    void SetUp() override {
        // Some drivers cannot be loaded again and again in one process: this one keeps them loaded.
        static const auto keeps_driver_loaded = standalone::Instance::create();
        auto instance = standalone::Instance::create();
        ASSERT_TRUE(instance.ok()) << instance.status().message();
        instance_ = std::move(instance).value();
        auto device = standalone::Device::create(*instance_);
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_ = std::move(device).value();
    }

    standalone::Device& device() { return *device_; }

    Match begin(const PlayOptions& options) {
        Match match;
        auto play = Play::create(device(), options);
        EXPECT_TRUE(play.ok()) << play.status().message();
        if (play.ok()) match.play = std::move(play).value();
        auto loop = demo::FrameLoop::create(device(), 0);
        EXPECT_TRUE(loop.ok()) << loop.status().message();
        if (loop.ok()) match.loop = std::move(loop).value();
        return match;
    }
    static Status try_frames(Match& match, uint64_t count, const std::function<void()>& each) {
        for (uint64_t i = 0; i < count; ++i) {
            HEARTH_ASSIGN(const auto frame, match.loop->begin(nullptr));
            match.serial = frame->serial;
            HEARTH_TRY(match.play->record(*frame));
            HEARTH_TRY(match.loop->end(*frame, nullptr));
            (void)match.play->step();
            if (each) each();
        }
        return match.loop->wait();
    }
    /// Plays on; each: after every frame.
    static void frames(Match& match, uint64_t count, const std::function<void()>& each = {}) {
        const Status status = try_frames(match, count, each);
        ASSERT_TRUE(status.ok()) << status.message();
    }
    static void obey(Match& match, Verb verb, float value = 0) {
        const Status status = match.play->obey({.verb = verb, .value = {value, 0}});
        ASSERT_TRUE(status.ok()) << status.message();
    }
    static uint64_t weights_hash(Match& match) {
        const auto hash = match.play->mind().weights_hash(match.serial);
        EXPECT_TRUE(hash.ok()) << hash.status().message();
        return hash.ok() ? *hash : 0;
    }
    /// How many there are in the learner's ring.
    uint64_t demonstrations(Match& match) {
        demo::Mind& mind = match.play->mind();
        hearth_session* const session = mind.agents().session();
        const auto read = [&]() -> Result<uint64_t> {
            hearth_readback_info info = hearth_readback_info_default();
            HEARTH_ASSIGN(info.variable, mind.program().find_variable("demonstration.size"));
            hearth_readback id = 0;
            HEARTH_TRY(mind.guest().context().begin_frame(match.serial + 1, match.serial));
            ++match.serial;
            hearth_result result = HEARTH_OK;
            HEARTH_TRY(device().run_compute([&](VkCommandBuffer commands) {
                info.command_buffer = commands;
                result = hearth_record_readback(session, &info, &id);
            }));
            if (result != HEARTH_OK) return to_status(result, hearth_session_error(session));
            HEARTH_TRY(mind.guest().context().begin_frame(match.serial + 1, match.serial));
            ++match.serial;
            const void* data = nullptr;
            uint64_t bytes = 0, serial = 0;
            HEARTH_TRY(
                to_status(hearth_readback_poll(session, id, &data, &bytes, &serial), "no answer"));
            const int32_t count = *static_cast<const int32_t*>(data);
            hearth_readback_release(session, id);
            return static_cast<uint64_t>(count);
        }();
        EXPECT_TRUE(read.ok()) << read.status().message();
        return read.ok() ? *read : 0;
    }
    /// What the program says of a run: its last line.
    std::string run_program(const std::string& arguments) {
        const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
        const std::string log = path("log");
        const std::string command = (folder / "hatchlings").string() +
                                    " --headless --turbo --draw-every 1000000000 --screenshots " +
                                    path("pictures") + " --out " + log + " " + arguments +
                                    " >/dev/null 2>&1";
        (void)std::system(command.c_str());  // its exit code tells whether they have learned enough
        const auto bytes = read_whole_file(log);
        if (!bytes.ok()) return bytes.status().message();
        std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
        text = text.substr(0, text.find_last_not_of('\n') + 1);
        return std::string(text.substr(text.find_last_of('\n') + 1));
    }
    std::string path(const char* name) {
        const ::testing::TestInfo& info = *::testing::UnitTest::GetInstance()->current_test_info();
        const fs::path folder = fs::temp_directory_path() /
                                fmt::format("hearth_hatchlings_{}_{}", getpid(), info.name());
        fs::create_directories(folder);
        folder_ = folder;
        return (folder / name).string();
    }
    void TearDown() override {
        if (!folder_.empty()) fs::remove_all(folder_);
    }

  private:
    std::unique_ptr<standalone::Instance> instance_;
    std::unique_ptr<standalone::Device> device_;
    fs::path folder_;
};

// --- Cost ----------------------------------------------------------------------------------------

TEST_F(HatchlingsPlay, LearningNeverRecordsMoreInAFrameThanItsBudgetPlans) {
    constexpr double kBudgetUs = 200'000;  // a software driver takes its time
    Match match = begin({.learn_us = kBudgetUs});
    uint64_t before = 0, most = 0;
    const auto recorded = [&] {
        const agents::AgentsStatus s = match.play->mind().agents().status();
        return s.phase == HEARTH_AGENTS_UPDATE
                   ? (s.rollouts - 1) * s.minibatches + s.minibatches_done
                   : s.rollouts * s.minibatches;
    };
    uint64_t unplanned = 0;
    double cost_us = 0;
    frames(match, 12 * kSecond, [&] {
        const uint64_t now = recorded();
        cost_us = match.play->mind().agents().status().minibatch_us_p95;  // as this frame knew it
        // What a frame may take: its budget, what is saved up for one item, and one that was under
        // way.
        const double planned = cost_us > 0 ? std::max(kBudgetUs, cost_us) / cost_us + 1 : 1;
        if (static_cast<double>(now - before) > planned) ++unplanned;
        most = std::max(most, now - before);
        before = now;
    });
    EXPECT_GT(before, 16u) << "a window and more was learned from";
    EXPECT_EQ(unplanned, 0u) << "at most " << most << " items in a frame of " << cost_us << " us";
    EXPECT_EQ(match.play->mind().guest().frame_path_cpu_allocations(), 0u);
    EXPECT_EQ(match.play->mind().guest().frame_path_device_allocations(), 0u);
}

// Which Vulkan functions Hearth asked the host for.
std::set<std::string, std::less<>>& asked() {
    static std::set<std::string, std::less<>> names;
    return names;
}
PFN_vkGetInstanceProcAddr g_instance_proc = nullptr;
PFN_vkGetDeviceProcAddr g_device_proc = nullptr;

PFN_vkVoidFunction VKAPI_PTR noted_device_proc(VkDevice device, const char* name) {
    asked().insert(name);
    return g_device_proc(device, name);
}
PFN_vkVoidFunction VKAPI_PTR noted_instance_proc(VkInstance instance, const char* name) {
    asked().insert(name);
    const PFN_vkVoidFunction real = g_instance_proc(instance, name);
    if (std::string_view(name) != "vkGetDeviceProcAddr") return real;
    g_device_proc = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(noted_device_proc);
}

TEST_F(HatchlingsPlay, HearthDoesNotEvenHaveTheFunctionsThatSubmitAndWait) {
    hearth_context_create_info info = device().host_info();
    g_instance_proc = reinterpret_cast<PFN_vkGetInstanceProcAddr>(info.get_instance_proc_addr);
    info.get_instance_proc_addr = reinterpret_cast<hearth_get_instance_proc>(noted_instance_proc);
    info.get_device_proc_addr = nullptr;  // then it is asked of the other one
    asked().clear();
    const auto context = Context::create(info);
    ASSERT_TRUE(context.ok()) << context.status().message();
    EXPECT_TRUE(asked().contains("vkCmdDispatch"));
    for (const char* name : {"vkQueueSubmit", "vkQueueSubmit2", "vkQueueWaitIdle",
                             "vkDeviceWaitIdle", "vkWaitForFences", "vkWaitSemaphores"})
        EXPECT_FALSE(asked().contains(name)) << name;
}

// --- Saving --------------------------------------------------------------------------------------

TEST_F(HatchlingsPlay, ASavedGameGoesOnInANewProcessAsIfItHadNeverStopped) {
    constexpr uint64_t kSaveAt = 9 * kSecond, kEnd = 20 * kSecond;
    const std::string file = path("game");
    Match match = begin({.seed = 2});
    uint64_t saved_frame = 0;
    frames(match, kEnd, [&] {
        if (match.world().frame() == kSaveAt) match.play->save();
        if (const auto game = match.play->take_saved()) {
            ASSERT_TRUE(write_file_atomically(file, *game).ok());
            saved_frame = match.world().frame();
        }
    });
    ASSERT_GE(saved_frame, kSaveAt);
    ASSERT_LT(saved_frame, kSaveAt + 300) << "the next window was learned from by then";
    ASSERT_GE(match.play->status()[Counter::kPublications], 3u) << "it learned after that, too";

    // Rules are those of the file.
    const std::string end =
        run_program(fmt::format("--frames {} --seed 2 --motes 3 --load {}", kEnd, file));
    EXPECT_NE(end.find(fmt::format("\"state_hash\":\"{:016x}\"", match.world().state_hash())),
              std::string::npos)
        << end;
    EXPECT_NE(end.find(fmt::format("\"weights_hash\":\"{:016x}\"", weights_hash(match))),
              std::string::npos)
        << end;
}

TEST_F(HatchlingsPlay, DamagedSavedGamesAreRefused) {
    Match match = begin({.hatchlings = 4});
    frames(match, 20);
    const SavedGame game{match.world().state(), match.play->progress().state(),
                         std::vector<Judged>(4)};
    const std::vector<std::byte> bytes = encode(game);
    const auto again = decode_saved_game(bytes);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(encode(*again), bytes);
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode_saved_game(std::span(bytes).first(size)).ok()) << size;
    std::vector<std::byte> later = bytes;
    later[8] = std::byte{99};
    EXPECT_EQ(decode_saved_game(later).status().code(), StatusCode::kUnsupported);
    // A place that is not a number.
    SavedGame bad = game;
    bad.world.hatchlings[0].position.x = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(decode_saved_game(encode(bad)).status().code(), StatusCode::kCorruptData);

    // Of another number of hatchlings.
    const auto file = match.play->save_now(match.serial);
    ASSERT_TRUE(file.ok()) << file.status().message();
    for (const size_t size : {size_t{9}, size_t{40}, file->size() - 1})
        EXPECT_FALSE(match.play->load(std::span(*file).first(size)).ok()) << size;
    Match other = begin({.hatchlings = 5});
    const Status refused = other.play->load(*file);
    EXPECT_NE(refused.message().find("4 hatchlings, this one 5"), std::string::npos)
        << refused.message();
}

// --- Poison --------------------------------------------------------------------------------------

TEST_F(HatchlingsPlay, NonsenseOfSomeForASecondIsRefusedAndCountedAndLearningGoesOn) {
    Match match = begin({.seed = 4});
    bool is_poisoned = false;
    match.play->set_tamper([&](uint32_t hatchling, Observation& seen, float& reward) {
        constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
        if (!is_poisoned) return;
        if (hatchling == 0) seen[3] = kNaN;
        if (hatchling == 1) seen[4] = std::numeric_limits<float>::infinity();
        if (hatchling == 2) seen[5] = 1e30f;
        if (hatchling == 3) reward = kNaN;
        if (hatchling == 4) reward = 1e30f;
        if (hatchling == 5) reward = -std::numeric_limits<float>::infinity();
    });
    frames(match, 6 * kSecond);
    const agents::AgentsStatus before = match.play->status();
    ASSERT_GT(before[Counter::kPublications], 0u);
    EXPECT_EQ(before[Counter::kSamplesRejected] + before.rewards_rejected, 0u);

    is_poisoned = true;
    frames(match, kSecond);
    is_poisoned = false;
    frames(match, 8 * kSecond, [&] {
        for (const Hatchling& h : match.world().hatchlings())
            ASSERT_TRUE(std::isfinite(h.position.x + h.thrust.x + h.thrust.y));
    });
    const agents::AgentsStatus after = match.play->status();
    const uint64_t decisions = kSecond / kFramesPerDecision;
    // Each sample has what was seen before and after it, so that nonsense spoils one more.
    EXPECT_GE(after[Counter::kSamplesRejected], 2 * decisions);
    EXPECT_LE(after[Counter::kSamplesRejected], 2 * (decisions + 2));
    EXPECT_EQ(after.rewards_rejected, 2 * decisions);
    EXPECT_GE(after[Counter::kObservationsClamped], decisions);
    EXPECT_GE(after[Counter::kRewardsClamped], decisions);
    EXPECT_GT(after[Counter::kPublications], before[Counter::kPublications]);
    EXPECT_GT(after[Counter::kGradientSteps], before[Counter::kGradientSteps]);
    EXPECT_TRUE(std::isfinite(after[AgentMetric::kEntropy]));
    // A brain with a number that is none could not be saved.
    const auto game = match.play->save_now(match.serial);
    EXPECT_TRUE(game.ok()) << game.status().message();
}

// --- Freezing ------------------------------------------------------------------------------------

/// The entry act alone, as a game without learning would ship it.
class Instinct {
  public:
    static Result<std::unique_ptr<Instinct>> create(standalone::Device& device, uint64_t seed,
                                                    uint32_t hatchlings) {
        std::unique_ptr<Instinct> self(new Instinct());
        HEARTH_ASSIGN(self->context_, Context::create(device.host_info()));
        HEARTH_ASSIGN(const DeviceCaps caps, self->context_.device_caps());
        const auto traces =
            agents::build_agent_graphs(schema(), network(seed), learner(hatchlings), seed);
        HEARTH_ASSIGN(const Compiled compiled,
                      compile({traces.front().get()},
                              {.caps = caps,
                               .binding_model = static_cast<BindingModel>(device.binding_model()),
                               .max_batch_size = hatchlings}));
        HEARTH_ASSIGN(self->program_, LoadedProgram::load(self->context_, compiled.bytes));
        hearth_session_create_info info = hearth_session_create_info_default();
        info.max_inline_bytes = 1 << 16;
        HEARTH_ASSIGN(self->session_, Session::create(self->context_, self->program_, info));
        HEARTH_TRY(self->session_.create_pipelines());
        HEARTH_ASSIGN(self->act_, self->program_.find_entry("act"));
        HEARTH_ASSIGN(self->observation_, self->program_.find_binding(self->act_, "observation"));
        HEARTH_ASSIGN(self->explore_, self->program_.find_binding(self->act_, "exploration"));
        for (const char* name : {"action", "decision", "log_prob", "version"}) {
            HEARTH_ASSIGN(const uint32_t binding, self->program_.find_binding(self->act_, name));
            HEARTH_ASSIGN(
                standalone::Buffer buffer,
                standalone::Buffer::create(device, 4096, standalone::MemoryKind::kReadback));
            self->outputs_.push_back({binding, std::move(buffer)});
        }
        return self;
    }

    /// What all of them do, waited for.
    Status act(standalone::Device& device, const World& world, std::vector<glm::vec2>& actions) {
        const auto count = static_cast<uint32_t>(world.hatchlings().size());
        std::vector<float> seen;
        for (uint32_t i = 0; i < count; ++i)
            for (const float value : world.observe(i)) seen.push_back(value);
        const float explore = 1;
        std::vector<hearth_tensor_binding> bound = {
            bind_values(observation_, std::span<const float>(seen)),
            bind_values(explore_, std::span<const float>(&explore, 1))};
        const uint64_t widths[] = {8, 8, 4, 0};
        for (size_t i = 0; i < outputs_.size(); ++i) {
            const standalone::Buffer& buffer = outputs_[i].buffer;
            bound.push_back(hearth_bind_buffer(outputs_[i].binding, buffer.handle(), 0,
                                               std::max<uint64_t>(widths[i] * count, 4),
                                               buffer.usage()));
            bound.back().device_address = buffer.address();
        }
        HEARTH_TRY(context_.begin_frame(serial_ + 1, serial_));
        ++serial_;
        Status recorded;
        HEARTH_TRY(device.run_compute([&](VkCommandBuffer commands) {
            if (serial_ == 1) recorded = session_.record_initialize(commands);
            if (recorded.ok()) recorded = session_.record(commands, act_, count, bound).status();
        }));
        HEARTH_TRY(recorded);
        const std::span<const float> values = outputs_[0].buffer.as<float>();
        actions.clear();
        for (size_t i = 0; i < count; ++i) actions.emplace_back(values[2 * i], values[2 * i + 1]);
        return {};
    }

  private:
    struct Output {
        uint32_t binding;
        standalone::Buffer buffer;
    };
    Instinct() = default;
    Context context_;
    LoadedProgram program_;
    Session session_;
    uint32_t act_ = 0, observation_ = 0, explore_ = 0;
    std::vector<Output> outputs_;
    uint64_t serial_ = 0;
};

TEST_F(HatchlingsPlay, FrozenTheyDoBitForBitWhatTheirBrainDoesWithoutALearner) {
    constexpr uint64_t kFrames = 6 * kSecond;
    Match fresh = begin({.seed = 7, .learns = false});
    frames(fresh, 1);
    Match frozen = begin({.seed = 7, .learns = false});
    frames(frozen, kFrames);
    EXPECT_EQ(frozen.play->mind().agents().status().rollouts, 0u) << "nothing was recorded for it";
    EXPECT_EQ(frozen.play->status()[Counter::kGradientSteps], 0u);
    EXPECT_EQ(weights_hash(frozen), weights_hash(fresh));

    World world({.seed = 7});
    auto made = Instinct::create(device(), 7, 16);
    ASSERT_TRUE(made.ok()) << made.status().message();
    std::vector<glm::vec2> decided;
    uint64_t due = std::numeric_limits<uint64_t>::max();
    for (uint64_t i = 0; i < kFrames; ++i) {
        if (world.frame() == due)
            for (uint32_t k = 0; k < decided.size(); ++k) world.set_thrust(k, decided[k]);
        if (world.is_decision_frame()) {
            const Status acted = (*made)->act(device(), world, decided);
            ASSERT_TRUE(acted.ok()) << acted.message();
            due = world.frame() + demo::FrameLoop::kFramesInFlight;
        }
        world.step();
    }
    EXPECT_EQ(frozen.world().state_hash(), world.state_hash());
}

TEST_F(HatchlingsPlay, TheKeyThawsWhatAPanelHasFrozen) {
    Match match = begin({.seed = 7});
    frames(match, 1);
    match.play->mind().agents().freeze(true);
    EXPECT_TRUE(match.play->is_frozen());
    obey(match, Verb::kFreeze);
    EXPECT_FALSE(match.play->is_frozen());
    EXPECT_EQ(match.play->mind().agents().status().frozen, 0u);
}

TEST_F(HatchlingsPlay, ForgettingBringsBackTheFirstWeightsAndRewindingThoseOfASnapshot) {
    Match fresh = begin({.seed = 5, .learns = false});
    frames(fresh, 4);
    Match match = begin({.seed = 5});
    frames(match, 19 * kSecond);
    ASSERT_EQ(match.play->mind().agents().snapshot_count(), 1u) << "that of 15 s";
    Match then = begin({.seed = 5, .learns = false});
    const Status replayed = then.play->replay(*match.play, 0);
    ASSERT_TRUE(replayed.ok()) << replayed.message();
    EXPECT_EQ(then.world().frame(), match.world().frame());
    frames(then, 4);
    const uint64_t at_first = weights_hash(fresh), at_15_s = weights_hash(then);
    EXPECT_NE(at_first, at_15_s);

    // In the middle of learning, and frozen.
    while (match.play->mind().agents().status().phase != HEARTH_AGENTS_UPDATE) frames(match, 1);
    obey(match, Verb::kFreeze);
    obey(match, Verb::kRewind);
    frames(match, 12);
    const auto rewound = match.play->save_now(match.serial);
    ASSERT_TRUE(rewound.ok()) << rewound.status().message();
    EXPECT_EQ(weights_hash(match), at_15_s);

    Match other = begin({.seed = 5});
    ASSERT_TRUE(other.play->load(*rewound).ok());
    frames(other, 6 * kSecond);
    obey(other, Verb::kForget);
    obey(other, Verb::kFreeze);
    frames(other, 12);
    EXPECT_EQ(weights_hash(other), at_first);
    EXPECT_EQ(other.play->mind().agents().snapshot_count(), 0u);
}

TEST_F(HatchlingsPlay, WhatAPossessedOneDoesIsNotLearnedAsItsOwn) {
    Match match = begin({.seed = 6, .hatchlings = 4});
    frames(match, 2 * kSecond);
    const uint64_t before = match.play->status()[Counter::kSamples];
    const Status possessed = match.play->obey({.verb = Verb::kPossess, .hatchling = 2});
    ASSERT_TRUE(possessed.ok()) << possessed.message();
    match.play->steer(glm::vec2(1, 0));
    frames(match, kSecond, [&] { EXPECT_EQ(match.world().hatchlings()[2].thrust.x, 1.0f); });
    obey(match, Verb::kRelease);
    frames(match, 4 + demo::FrameLoop::kFramesInFlight);
    const uint64_t decisions = kSecond / kFramesPerDecision;
    const uint64_t shown = demonstrations(match);
    EXPECT_EQ(shown, decisions) << "each of its decisions";
    const uint64_t samples = match.play->status()[Counter::kSamples] - before - shown;
    // Of the fourth only the decision before it was possessed was stored.
    EXPECT_GE(samples, 3 * decisions);
    EXPECT_LE(samples, 3 * (decisions + 2) + 1);
    // Its own x may be 1 as well: actions are clipped there.
    const glm::vec2 thrust = match.world().hatchlings()[2].thrust;
    EXPECT_NE(thrust, glm::vec2(1, 0)) << "it decides again";
}

TEST_F(HatchlingsPlay, PraiseHasAShareInWhatIsLearnedAndNoMore) {
    Match match = begin({.seed = 6, .hatchlings = 2});
    frames(match, 20);
    const auto judge = [&](Verb verb, uint32_t hatchling) {
        const Status judged = match.play->obey({.verb = verb, .hatchling = hatchling});
        ASSERT_TRUE(judged.ok()) << judged.message();
    };
    for (int i = 0; i < 3; ++i) judge(Verb::kPraise, 0);
    judge(Verb::kScold, 0);
    EXPECT_EQ(match.play->judgements_refused(), 0u);
    for (int i = 0; i < 10; ++i) judge(Verb::kPraise, 0);
    EXPECT_EQ(match.play->judgements_refused(), 10u);
    judge(Verb::kPraise, 1);  // another one has its own share
    EXPECT_EQ(match.play->judgements_refused(), 10u);
    frames(match, uint64_t{kHorizon} * kFramesPerDecision);
    for (int i = 0; i < 5; ++i) judge(Verb::kScold, 0);
    EXPECT_EQ(match.play->judgements_refused(), 11u) << "a window later it counts again";
}

TEST_F(HatchlingsPlay, AThousandOfThemStartAndRunWithoutAllocatingInAFrame) {
    Match match = begin({.hatchlings = 1024, .learn_us = 1000});
    ASSERT_NE(match.play, nullptr);
    frames(match, 24);
    const agents::AgentsStatus status = match.play->status();
    EXPECT_EQ(status.agents, 1024u);
    EXPECT_GE(status[Counter::kSamples], 3u * 1024);
    EXPECT_EQ(status[Counter::kSamplesRejected], 0u);
    EXPECT_EQ(match.play->mind().guest().frame_path_cpu_allocations(), 0u);
    EXPECT_EQ(match.play->mind().guest().frame_path_device_allocations(), 0u);
    size_t moving = 0;
    for (const Hatchling& h : match.world().hatchlings())
        moving += h.thrust.x != 0 || h.thrust.y != 0 ? 1 : 0;
    EXPECT_EQ(moving, 1024u) << "each has decided for itself";
}

// --- Learning ------------------------------------------------------------------------------------

TEST_F(HatchlingsPlay, TheShippedBrainForagesFromTheFirstQuarterOfAMinute) {
    const auto weights = shipped_weights();
    ASSERT_TRUE(weights.ok()) << weights.status().message();
    Match match = begin({.seed = 5, .weights = *weights});
    frames(match, Progress::kBarFrames);
    EXPECT_GE(match.rate(), 20);  // embers a minute; fresh brains find one or two
    NamedTensors other = *weights;
    other.erase("actor.head.weight");
    const auto refused = Play::create(device(), {.weights = other});
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find("actor.head.weight"), std::string::npos)
        << refused.status().message();
}

/// What a player may change, and what is enough to cope with it: embers less frost a minute for
/// each.
struct Change {
    const char* name;
    Command command;
    float enough;
};
constexpr Change kChanges[] = {
    {"MoreFrost", {.verb = Verb::kFrost, .value = {24, 0}}, 10},
    {"Wind", {.verb = Verb::kWind, .value = {3, 0}}, 10},
    {"SofterPenalty", {.verb = Verb::kPenalty, .value = {-0.05f, 0}}, 10},
};

class HatchlingsWarmStart : public HatchlingsPlay, public ::testing::WithParamInterface<Change> {
  protected:
    static constexpr int kMostBars = 12;  // three minutes

    /// Bars until they cope; kMostBars + 1: not in `most`.
    int bars_to_cope(uint64_t seed, const NamedTensors& weights, int most) {
        Match match = begin({.seed = seed, .weights = weights});
        const Status obeyed = match.play->obey(GetParam().command);
        EXPECT_TRUE(obeyed.ok()) << obeyed.message();
        for (int bar = 1; bar <= most; ++bar) {
            frames(match, Progress::kBarFrames);
            if (match.score() >= GetParam().enough) return bar;
        }
        return kMostBars + 1;
    }
};

TEST_P(HatchlingsWarmStart, CopesInHalfTheTimeOfAFreshOne) {
    const auto weights = shipped_weights();
    ASSERT_TRUE(weights.ok()) << weights.status().message();
    const uint64_t seeds = std::getenv("HEARTH_TEST_EVERY") != nullptr ? 3 : 1;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        const int warm = bars_to_cope(seed, *weights, 4);
        ASSERT_LE(warm, 4) << "seed " << seed;
        EXPECT_GT(bars_to_cope(seed, {}, 2 * warm - 1), 2 * warm - 1) << "seed " << seed;
    }
}

TEST_P(HatchlingsWarmStart, DISABLED_HowMuchSoonerItCopesThanAFreshOne) {
    const auto weights = shipped_weights();
    ASSERT_TRUE(weights.ok()) << weights.status().message();
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        const int warm = bars_to_cope(seed, *weights, kMostBars);
        const int fresh = bars_to_cope(seed, {}, kMostBars);
        fmt::print("seed {:2}: warm {} s, fresh {} s ({}: not in {})\n", seed,
                   warm * Progress::kBarSeconds, fresh * Progress::kBarSeconds,
                   (kMostBars + 1) * Progress::kBarSeconds, kMostBars * Progress::kBarSeconds);
        EXPECT_LE(2 * warm, fresh) << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Changes, HatchlingsWarmStart, ::testing::ValuesIn(kChanges),
                         [](const auto& instance) { return std::string(instance.param.name); });

constexpr float kEnough = 3;  // times as many embers as in their first 15 s

class HatchlingsNightly : public HatchlingsPlay {};

TEST_F(HatchlingsNightly, DISABLED_TheyLearnAndWhenTheRulesChangeTheyAdaptOrItIsReported) {
    Match match = begin({.seed = 14});
    frames(match, 90 * kSecond);
    EXPECT_GE(match.play->progress().gain(), kEnough);
    EXPECT_EQ(match.play->progress().mood(), Mood::kLearning);
    const auto game = match.play->save_now(match.serial);
    ASSERT_TRUE(game.ok()) << game.status().message();

    // A hot night, in which embers burn: what they have learned hurts them.
    Match unaided = begin({.seed = 14});
    ASSERT_TRUE(unaided.play->load(*game).ok());
    obey(unaided, Verb::kHotNight);
    frames(unaided, 30 * kSecond);
    EXPECT_LT(unaided.score(), 0);
    EXPECT_EQ(unaided.play->progress().mood(), Mood::kDegraded);

    Match aided = begin({.seed = 14});
    ASSERT_TRUE(aided.play->load(*game).ok());
    obey(aided, Verb::kHotNight);
    obey(aided, Verb::kAdapt, 1);
    int bars = 0;
    do frames(aided, Progress::kBarFrames);
    while (++bars < 8 && !(bars > 2 && aided.score() >= 0));
    EXPECT_GE(aided.score(), 0) << "within 120 s";
    EXPECT_GT(aided.score(), unaided.score());
}

TEST_F(HatchlingsNightly, DISABLED_EighteenOfTwentySeedsFindThreeTimesAsManyAndNoneFewer) {
    int learned = 0, alarms = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        Match match = begin({.seed = seed});
        bool is_alarmed = false;
        frames(match, 180 * kSecond,
               [&] { is_alarmed = is_alarmed || match.play->progress().mood() == Mood::kStuck; });
        const float gain = match.play->progress().gain();
        fmt::print("seed {:2}: {:.1f} to {:.1f} embers a minute, {:.1f} times{}\n", seed,
                   match.play->progress().bars().front().embers, match.rate(), gain,
                   is_alarmed ? ", \"stuck\"" : "");
        learned += gain >= kEnough ? 1 : 0;
        alarms += is_alarmed ? 1 : 0;
        EXPECT_GE(gain, 1) << "seed " << seed;
    }
    EXPECT_GE(learned, 18);
    EXPECT_LE(alarms, 1);
}

TEST_F(HatchlingsNightly, DISABLED_WhoeverDaresNothingIsReportedAsStuckAndAdviceHelps) {
    // So much frost that most seeds end up avoiding everything.
    bool is_shown = false;
    for (uint64_t seed = 1; seed <= 6 && !is_shown; ++seed) {
        Match match = begin({.seed = seed, .rules = {.frost_reward = -2, .mote_count = 24}});
        uint64_t stuck = 0;
        frames(match, 240 * kSecond, [&] {
            if (stuck == 0 && match.play->progress().mood() == Mood::kStuck)
                stuck = match.world().frame();
        });
        fmt::print("seed {}: {:.1f} to {:.1f} embers a minute, stuck at {} s\n", seed,
                   match.play->progress().bars().front().embers, match.rate(), stuck / kSecond);
        if (stuck == 0) continue;
        is_shown = true;
        const float first = match.play->progress().bars().front().embers;
        obey(match, Verb::kPenalty, -0.1f);
        obey(match, Verb::kAdapt, 1);
        float best = 0;
        for (int bar = 0; bar < 8; ++bar) {
            frames(match, Progress::kBarFrames);
            best = std::max(best, match.rate());
        }
        EXPECT_GE(best, first) << "a fresh start and a softer penalty, within 120 s";
    }
    EXPECT_TRUE(is_shown) << "no seed collapsed";
}

TEST_F(HatchlingsNightly, DISABLED_AfterAHotNightTheyComeNearToAFreshBrain) {
    Match match = begin({.seed = 1});
    frames(match, 180 * kSecond);
    obey(match, Verb::kHotNight);
    obey(match, Verb::kAdapt, 1);
    float best = -1e9f;
    for (int bar = 0; bar < 8; ++bar) {
        frames(match, Progress::kBarFrames);
        best = std::max(best, match.score());
    }
    EXPECT_GE(best, 0) << "within 120 s";
    frames(match, 120 * kSecond);
    Match fresh = begin({.seed = 1, .rules = {.is_hot_night = true}});
    frames(fresh, 240 * kSecond);
    fmt::print("adapted {:.1f}, fresh {:.1f}\n", match.score(), fresh.score());
    EXPECT_GE(match.score(), 0.6f * fresh.score());
}

// In a hot night to do nothing is nearly as good as anything, so that no number of embers can be
// asked for.  Asked for are nine tenths of what a fresh brain's return gains in three minutes of
// that night.
TEST_F(HatchlingsNightly,
       DISABLED_AHotNightIsLearnedTwiceAsFastFromTheShippedBrainAsFromAFreshOne) {
    const auto weights = shipped_weights();
    ASSERT_TRUE(weights.ok()) << weights.status().message();
    const auto returns = [&](uint64_t seed, const NamedTensors& first, int bars) {
        Match match = begin({.seed = seed, .weights = first});
        obey(match, Verb::kHotNight);
        std::vector<float> all;  // of each bar, for each hatchling and minute
        for (int i = 0; i < bars; ++i) {
            frames(match, Progress::kBarFrames);
            const Progress::Bar& bar = match.play->progress().bars().back();
            const Rules& rules = match.world().rules();
            all.push_back(-rules.ember_reward * bar.embers - rules.frost_reward * bar.motes);
        }
        return all;
    };
    const char* const asked = std::getenv("HEARTH_SEEDS");
    const uint64_t seeds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 3;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::vector<float> fresh = returns(seed, {}, 12), warm = returns(seed, *weights, 4);
        float end = 0;
        for (size_t i = 8; i < 12; ++i) end += fresh[i] / 4;
        const float wanted = fresh[0] + 0.9f * (end - fresh[0]);
        const auto bars_until = [&](const std::vector<float>& bars) {
            return std::ranges::find_if(bars, [&](float r) { return r >= wanted; }) - bars.begin() +
                   1;
        };
        fmt::print("seed {}: {:.2f} after {} s from the shipped brain, {} s from a fresh one\n",
                   seed, wanted, bars_until(warm) * Progress::kBarSeconds,
                   bars_until(fresh) * Progress::kBarSeconds);
        EXPECT_LE(2 * bars_until(warm), bars_until(fresh)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace hearth::hatchlings
