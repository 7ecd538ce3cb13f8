// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What frames of agents record, call by call: in which order, within which budget, and that a call
// that fails is made up for by later frames.

#include "gates/driver_calls.hpp"
#include "gates/driver_host.hpp"

#include <map>
#include <random>
#include <set>

namespace hearth::gates {
namespace {

using namespace agents;

/// A learner of each kind that the driver records in a way of its own.
struct Learner {
    const char* name;
    AgentSpec spec;
    AgentGraphs graphs;
    AgentManifest manifest;
    AgentsOptions options;
    bool learns_apart = false;
    mutable std::vector<std::byte> program = {};
};

AgentSpec aiming_spec() {
    return AgentSpec(ObservationSpec().box("place", 2).box("speed"),
                     ActionSpec().continuous("aim", 2, {-2, 2}));
}

Learner ppo_learner(bool learns_apart) {
    Ppo ppo = small_ppo();
    if (!learns_apart) ppo.demo_capacity = 32;
    Learner learner{learns_apart ? "PPO on two queues" : "PPO", aiming_spec(), {}, {}, {}};
    learner.graphs = build_agent_graphs(learner.spec, mlp_network({8}), ppo, 1);
    learner.manifest = make_manifest(learner.spec, ppo);
    learner.options.use_separate_learning_queue = learner.learns_apart = learns_apart;
    learner.options.enable_saved_games = !learns_apart;
    return learner;
}

Learner sac_learner() {
    Sac sac;
    sac.replay.n_agents = 4;
    sac.replay.buffer_size = 64;
    sac.replay.batch_size = 8;
    sac.replay.learning_starts = 8;
    Learner learner{"SAC", aiming_spec(), {}, {}, {}};
    learner.graphs = build_agent_graphs(learner.spec, mlp_network({8}), sac, 1);
    learner.manifest = make_manifest(learner.spec, sac);
    learner.options.enable_saved_games = true;
    return learner;
}

Learner cloning_learner() {
    BehaviorCloning clone;
    clone.n_agents = 4;
    clone.buffer_size = 32;
    clone.batch_size = 8;
    clone.learning_starts = 4;
    Learner learner{"cloning", aiming_spec(), {}, {}, {}};
    learner.graphs = build_agent_graphs(learner.spec, mlp_network({8}), clone, 1);
    learner.manifest = make_manifest(learner.spec, clone);
    learner.options.enable_saved_games = true;
    return learner;
}

/// A device on which each test makes agents many times over.
class DriverFailuresTest : public DriverTest {
  protected:
    void SetUp() override {
        if (test::test_setting("HEARTH_TEST_DEVICE") != "cpu")
            GTEST_SKIP() << "hundreds of pipelines, which a Vulkan driver compiles for long";
        DriverTest::SetUp();
    }
    void TearDown() override {
        DriverCalls::get() = {};
        if (!IsSkipped()) DriverTest::TearDown();
    }
    std::unique_ptr<Host> make(const Learner& learner) {
        AgentsOptions options = learner.options;
        options.max_snapshots = 2;
        options.snapshot_interval = 0;
        auto host =
            Host::create(device(), learner.graphs, learner.manifest, options, learner.program);
        if (host == nullptr) return nullptr;
        host->learns_apart = learner.learns_apart;
        if (learner.learns_apart) {
            // Its second session has pipelines of its own to wait for, which are shared.
            EXPECT_TRUE(host->agents.create_pipelines().ok());
        }
        return host;
    }
};

constexpr RecordOptions kDecides{.learning_budget_us = 0};
constexpr RecordOptions kLearns{.learning_budget_us = 1e9, .request_decision = false};
constexpr RecordOptions kIdles{.learning_budget_us = 0, .request_decision = false};

/// A game of a fixed course, however often its calls fail.
class Course {
  public:
    Course(std::unique_ptr<Host> host, const Learner& learner)
        : host_(std::move(host)), learner_(learner) {}

    /// Returns false if a call failed in a way that it should not.
    bool play() {
        host_->logs_calls = true;
        frame(kIdles);
        for (int i = 0; i < 3; ++i) ids_.push_back(*agents().add());
        const bool has_demonstrations = agents().add_demonstration(ids_[0], action_).ok();
        decide(9);
        learn();
        EXPECT_TRUE(agents().take_snapshot().ok());
        for (int i = 0; i < 3; ++i) frame(kIdles);
        if (has_demonstrations) frame(kIdles, [&] { demonstrate(); });
        decide(8);
        // The next decision completes the advantages.
        frame({.learning_budget_us = 0.01, .request_decision = false});
        decide(1);
        learn();
        if (agents().shrink_and_perturb(0.5).ok())
            for (int i = 0; i < 3; ++i) frame(kIdles);
        EXPECT_TRUE(agents().restore_snapshot(0).ok());
        for (int i = 0; i < 3; ++i) frame(kIdles);
        decide(4);
        EXPECT_TRUE(agents().remove(ids_[1]).ok());
        ids_[1] = *agents().add();
        decide(5);
        learn();
        agents().reset_brain();
        for (int i = 0; i < 3; ++i) frame(kIdles);
        decide(9);
        learn();
        if (learner_.options.enable_saved_games) {
            EXPECT_TRUE(agents().save_game().ok());
            for (int i = 0; i < 3; ++i) frame(kIdles);
            const auto game = agents().saved_game();
            EXPECT_TRUE(game.ok() && !game->empty());
        }
        host_->logs_calls = false;
        return is_sound_;
    }
    std::map<std::string, std::vector<float>> result() {
        std::map<std::string, std::vector<float>> out;
        for (const char* const name :
             {"actor.0.weight", "published.param.actor.0.weight", "actor.0.weight.m", "last.action",
              "last.observation", "agents.status"})
            if (host_->program().find_variable(name).ok()) out[name] = host_->slot(name);
        return out;
    }
    uint64_t errors() const { return errors_; }

  private:
    Agents& agents() { return host_->agents; }
    void demonstrate() { EXPECT_TRUE(agents().add_demonstration(ids_[0], action_).ok()); }
    /// Records until it works, twice at most.
    void frame(const RecordOptions& how, const std::function<void()>& play = {}) {
        const Status first = host_->frame(how, play);
        if (first.ok()) return;
        ++errors_;
        RecordOptions again = how;
        // A decision that was recorded before the failure is not requested again.
        again.request_decision = how.request_decision && agents().status().decisions == decided_;
        const Status second = host_->frame(again);
        EXPECT_TRUE(second.ok()) << second.message();
        is_sound_ = is_sound_ && second.ok();
    }
    void decide(int count) {
        for (int n = 0; n < count; ++n, ++decision_) {
            decided_ = agents().status().decisions;
            frame(kDecides, [&] {
                for (size_t i = 0; i < ids_.size(); ++i) {
                    const float x =
                        std::sin(0.3f * static_cast<float>(decision_) + static_cast<float>(i));
                    std::ranges::fill(agents().observation(ids_[i]), x);
                    EXPECT_TRUE(agents().add_reward(ids_[i], x).ok());
                    if ((decision_ + static_cast<int>(i)) % 7 == 6) {
                        EXPECT_TRUE(agents().end_episode(ids_[i], EpisodeEnd::kTruncated).ok());
                    }
                }
            });
            EXPECT_EQ(agents().status().decisions, decided_ + 1);
        }
    }
    void learn() {
        for (int i = 0; i < 12; ++i) frame(kLearns);
        EXPECT_EQ(agents().status().phase, HEARTH_AGENTS_ROLLOUT);
        EXPECT_EQ(agents().status().owed_gradient_steps, 0);
    }

    std::unique_ptr<Host> host_;
    const Learner& learner_;
    std::vector<AgentId> ids_;
    std::array<float, 2> action_{0.5f, -0.5f};
    int decision_ = 0;
    uint64_t decided_ = 0, errors_ = 0;
    bool is_sound_ = true;
};

/// Calls whose failure a later frame makes up for without an error.
bool is_optional(const RecordedCall& call) {
    static const std::set<std::string_view> names = {"readback", "save_brain", "save_game",
                                                     "load_brain", "reset"};
    return names.count(call.function) > 0;
}

TEST_F(DriverFailuresTest, EachCallOfEachFrameMayFailAndNothingIsLost) {
    struct Played {
        std::map<std::string, std::vector<float>> result;
        std::vector<RecordedCall> calls;
        uint64_t errors = 0;
    };
    const auto play = [&](const Learner& learner, uint64_t fails_at) {
        Played played;
        auto host = make(learner);
        if (host == nullptr) return played;
        Course course(std::move(host), learner);
        DriverCalls& log = DriverCalls::get();
        log = {};
        log.fails_at = fails_at;
        EXPECT_TRUE(course.play());
        played.calls = std::move(log.calls);
        played.errors = course.errors();
        played.result = course.result();
        return played;
    };
    std::vector<Learner> learners;
    learners.push_back(ppo_learner(false));
    learners.push_back(ppo_learner(true));
    learners.push_back(sac_learner());
    learners.push_back(cloning_learner());
    for (const Learner& learner : learners) {
        SCOPED_TRACE(learner.name);
        const Played undisturbed = play(learner, UINT64_MAX);
        EXPECT_EQ(undisturbed.errors, 0u);
        EXPECT_GT(undisturbed.calls.size(), 60u);
        for (uint64_t i = 0; i < undisturbed.calls.size(); ++i) {
            const Played played = play(learner, i);
            // Slices depend on measured times, so there may be other calls.
            if (i >= played.calls.size()) continue;
            const RecordedCall& call = played.calls[i];
            SCOPED_TRACE("call " + std::to_string(i) + ", " + std::string(call.function));
            EXPECT_EQ(played.errors, is_optional(call) ? 0u : 1u);
            // What the failed call was for is in the weights, the moments, and what was done last.
            EXPECT_TRUE(played.result == undisturbed.result);
            ASSERT_FALSE(HasFailure());
        }
    }
}

// Other errors than a lack of space are returned, and what was to be loaded is given up.
TEST_F(DriverFailuresTest, ErrorsOfRecordingAreReturned) {
    const Learner learner = ppo_learner(false);
    const auto play = [&](uint64_t fails_at, const std::function<void(Host&)>& request,
                          const RecordOptions& how) {
        const auto host = make(learner);
        if (host == nullptr) return Status();
        EXPECT_TRUE(host->agents.add().ok());
        for (int i = 0; i < 9; ++i) EXPECT_TRUE(host->frame(kDecides).ok());
        EXPECT_TRUE(host->agents.take_snapshot().ok());
        host->settle();
        request(*host);
        DriverCalls::get() = {};
        DriverCalls::get().fails_at = fails_at;
        DriverCalls::get().failure = HEARTH_ERROR_OUT_OF_RANGE;
        host->logs_calls = true;
        const Status failed = host->frame(how);
        host->logs_calls = false;
        EXPECT_TRUE(host->frame(kDecides).ok()) << hearth_agents_error(host->agents.handle());
        return failed;
    };
    const std::pair<const char*, std::function<void(Host&)>> requests[] = {
        {"load_brain", [](Host& h) { EXPECT_TRUE(h.agents.restore_snapshot(0).ok()); }},
        {"reset",
         [](Host& h) {
             EXPECT_TRUE(h.agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
         }},
        {"save_brain", [](Host& h) { EXPECT_TRUE(h.agents.take_snapshot().ok()); }},
        {"save_game", [](Host& h) { EXPECT_TRUE(h.agents.save_game().ok()); }},
        {"record", [](Host& h) { EXPECT_TRUE(h.agents.shrink_and_perturb(0.5).ok()); }},
    };
    for (const auto& [function, request] : requests) {
        SCOPED_TRACE(function);
        EXPECT_EQ(play(0, request, kIdles).code(), StatusCode::kOutOfRange);
        ASSERT_EQ(DriverCalls::get().calls.size(), 1u);
        EXPECT_EQ(DriverCalls::get().calls[0].function, function);
    }
    EXPECT_EQ(play(
                  0, [](Host&) {}, kDecides)
                  .code(),
              StatusCode::kOutOfRange);
    EXPECT_EQ(play(
                  0, [](Host&) {}, kLearns)
                  .code(),
              StatusCode::kOutOfRange);
}

TEST_F(DriverFailuresTest, ALoadWithoutSpaceWaitsForALimitedNumberOfFrames) {
    const Learner learner = ppo_learner(false);
    const auto host = make(learner);
    ASSERT_NE(host, nullptr);
    ASSERT_TRUE(host->agents.add().ok());
    ASSERT_TRUE(host->frame(kDecides).ok());
    ASSERT_TRUE(host->agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
    host->logs_calls = true;
    int frames = 1;
    for (; frames < 200; ++frames) {
        DriverCalls::get() = {};
        DriverCalls::get().fails_at = 0;
        if (!host->frame(kIdles).ok()) break;
        ASSERT_EQ(DriverCalls::get().calls.size(), 1u);
    }
    EXPECT_EQ(frames, 64);
    DriverCalls::get() = {};
    ASSERT_TRUE(host->frame(kIdles).ok());
    EXPECT_TRUE(DriverCalls::get().calls.empty()) << "it was given up";
}

// --- The order of calls ---

/// Which entries are partially recorded, from the calls so far, and which calls then may not be.
class OrderOfCalls {
  public:
    OrderOfCalls(Host& host, const Learner& learner) : learner_(learner) {
        for (const char* const name :
             {"frame", "compute_advantages", "learn", "publish", "shrink_and_perturb",
              "add_demonstrations", "store", "add_samples"})
            if (const auto index = host.program().find_entry(name); index.ok())
                names_[*index] = name;
    }
    std::string name_of(const RecordedCall& call) const {
        return call.function == "record" ? names_.at(call.entry) : std::string(call.function);
    }
    void check(const std::vector<RecordedCall>& calls) {
        for (const RecordedCall& call : calls) {
            const std::string name = name_of(call);
            ++counts_[name];
            if (call.result < 0) continue;
            const bool is_apart = learner_.learns_apart;
            const bool is_paced = learner_.manifest.train_freq > 0;
            const bool decides = cut_["frame"];
            const bool learns = cut_["learn"] || cut_["compute_advantages"];
            const auto forbid = [&](bool is_forbidden, const char* why) {
                EXPECT_FALSE(is_forbidden) << name << " while " << why;
            };
            if (name == "publish" && !is_apart) forbid(decides, "a decision is cut");
            if (name == "learn" && !is_apart && !is_paced && learner_.manifest.n_steps == 0)
                forbid(decides, "a decision is cut");
            if (name == "compute_advantages" && !is_apart) forbid(decides, "a decision is cut");
            if (name == "frame" && !is_apart)
                forbid(!cut_["frame"] && cut_["compute_advantages"], "advantages are cut");
            if (name == "save_brain" || name == "save_game") forbid(decides, "a decision is cut");
            if (name == "save_game") forbid(learns, "learning is cut");
            if (name == "shrink_and_perturb") {
                forbid(decides, "a decision is cut");
                forbid(learns, "learning is cut");
            }
            if (name == "add_demonstrations" || name == "store")
                forbid(learns && !is_apart, "learning is cut");
            if (name == "copy_variables") forbid(decides, "a decision is cut");
            if (name == "load_brain" || name == "reset")
                cut_.clear();
            else if (call.function == "record")
                cuts_[name] += (cut_[name] = call.result == HEARTH_INCOMPLETE) ? 1 : 0;
        }
    }
    uint64_t count(const std::string& name) { return counts_[name]; }
    uint64_t cuts(const std::string& name) { return cuts_[name]; }
    bool is_cut(const std::string& name) { return cut_[name]; }

  private:
    const Learner& learner_;
    std::map<uint32_t, std::string> names_;
    std::map<std::string, bool> cut_;
    std::map<std::string, uint64_t> counts_, cuts_;
};

/// Frames of a game that asks for anything at any time.
/// cuts: adds the recordings of each entry that did not finish it.
void play_at_random(Host& host, const Learner& learner, uint64_t seed, int frames,
                    std::map<std::string, uint64_t>& cuts) {
    std::mt19937_64 random(seed);
    const auto below = [&](int end) {
        return std::uniform_int_distribution<int>(0, end - 1)(random);
    };
    Agents& agents = host.agents;
    OrderOfCalls order(host, learner);
    std::vector<AgentId> ids;
    host.logs_calls = true;
    for (int frame = 0; frame < frames; ++frame) {
        switch (below(24)) {
            case 0:
            case 1:
                if (const auto id = agents.add(); id.ok()) ids.push_back(*id);
                break;
            case 2:
                if (ids.empty()) break;
                EXPECT_TRUE(agents.remove(ids.back()).ok());
                ids.pop_back();
                break;
            case 3:
                EXPECT_TRUE(agents.take_snapshot().ok());
                break;
            case 4:
                (void)agents.save_game();
                break;
            case 5:
                (void)agents.shrink_and_perturb(0.1);
                break;
            case 6:
                agents.freeze(below(4) == 0);
                break;
            case 7:
                if (below(4) == 0) (void)agents.restore_snapshot(0);
                break;
            case 8:
                if (below(4) == 0) agents.reset_brain();
                break;
            case 9:
                agents.finish_update();
                break;
            default:
                break;
        }
        for (const AgentId id : ids) {
            std::ranges::fill(agents.observation(id), static_cast<float>(below(100)) * 0.01f);
            EXPECT_TRUE(agents.add_reward(id, static_cast<float>(below(3))).ok());
            const float action[] = {0.5f, 0.5f};
            if (below(4) == 0) (void)agents.add_demonstration(id, action);
            if (below(16) == 0) {
                EXPECT_TRUE(agents.end_episode(id, EpisodeEnd::kTerminated).ok());
            }
        }
        const double budgets[] = {0, 0.5, 1, 2, 5, 20};
        const uint32_t within[] = {1, 1, 3, HEARTH_AGENTS_BEST_EFFORT};
        DriverCalls::get() = {};
        const Status recorded =
            host.frame({.learning_budget_us = below(12) == 0 ? 1e9 : budgets[below(6)],
                        .request_decision = below(4) > 0,
                        .max_decision_frames = within[below(4)]});
        ASSERT_TRUE(recorded.ok()) << frame << ": " << recorded.message();
        order.check(DriverCalls::get().calls);
        ASSERT_FALSE(::testing::Test::HasFailure()) << "frame " << frame;
    }
    host.logs_calls = false;
    for (const char* const name : {"frame", "learn", "publish"}) EXPECT_GT(order.count(name), 5u);
    EXPECT_GT(order.count("save_brain") + order.count("reset"), 5u);
    for (const char* const name : {"frame", "learn", "compute_advantages"})
        cuts[name] += order.cuts(name);
}

TEST_F(DriverFailuresTest, EntriesStayApartWhateverTheGameAsksFor) {
    std::vector<Learner> learners;
    learners.push_back(ppo_learner(false));
    learners.push_back(ppo_learner(true));
    learners.push_back(sac_learner());
    learners.push_back(cloning_learner());
    learners.push_back(cloning_learner());
    learners.back().name = "cloning that publishes seldom";
    learners.back().manifest.sync_interval = 3;
    for (const Learner& learner : learners) {
        std::map<std::string, uint64_t> cuts;
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            SCOPED_TRACE(std::string(learner.name) + ", seed " + std::to_string(seed));
            const auto host = make(learner);
            ASSERT_NE(host, nullptr);
            play_at_random(*host, learner, seed, 2000, cuts);
        }
        // How often depends on measured times: few at load, and under a sanitizer.
        EXPECT_GT(cuts["frame"], 0u) << learner.name;
        if (learner.manifest.n_steps == 0) continue;
        EXPECT_GT(cuts["learn"], 0u) << learner.name;
        EXPECT_GT(cuts["compute_advantages"], 0u) << learner.name;
    }
}

// A record is finished or an error, and within its budget, whatever is cut.
TEST_F(DriverFailuresTest, SmallBudgetsAreKeptByAdvantagesAndSamples) {
    std::vector<Learner> learners;
    learners.push_back(ppo_learner(false));
    learners.push_back(sac_learner());
    for (const Learner& learner : learners) {
        SCOPED_TRACE(learner.name);
        const auto host = make(learner);
        ASSERT_NE(host, nullptr);
        ASSERT_TRUE(host->agents.add().ok());
        const auto decide = [&] {
            for (int i = 0; i < 9; ++i) ASSERT_TRUE(host->frame(kDecides).ok());
        };
        decide();
        for (int i = 0; i < 8; ++i) ASSERT_TRUE(host->frame(kLearns).ok());  // measured
        decide();
        DriverCalls::get() = {};
        host->logs_calls = true;
        int frames = 0;
        while (DriverCalls::get().calls.empty() && frames < 2000) {
            ASSERT_TRUE(host->begin().ok());
            hearth_agents_record_info info = hearth_agents_record_info_default();
            info.learning_budget_us = 0.01;
            info.request_decision = 0;
            hearth_result result = HEARTH_OK;
            ASSERT_TRUE(device()
                            .run([&](VkCommandBuffer commands) {
                                info.command_buffer = commands;
                                DriverCalls::get().is_on = true;
                                result = hearth_agents_record(host->agents.handle(), &info);
                                DriverCalls::get().is_on = false;
                            })
                            .ok());
            ASSERT_EQ(result, HEARTH_OK) << "a cut entry is no result of a frame";
            ++frames;
        }
        EXPECT_GT(frames, 5) << "a hundredth of a microsecond a frame";
        EXPECT_LT(frames, 2000);
    }
}

TEST_F(DriverFailuresTest, SnapshotsWaitWhileAMinibatchIsHalfWritten) {
    const Learner learner = ppo_learner(false);
    const auto host = make(learner);
    ASSERT_NE(host, nullptr);
    ASSERT_TRUE(host->agents.add().ok());
    host->logs_calls = true;
    OrderOfCalls order(*host, learner);
    bool has_waited = false;
    for (int i = 0; i < 400; ++i) {
        DriverCalls::get() = {};
        ASSERT_TRUE(host->agents.take_snapshot().ok());
        ASSERT_TRUE(host->frame({.learning_budget_us = i < 40 ? 1e9 : 2}).ok());
        for (const RecordedCall& call : DriverCalls::get().calls)
            has_waited = has_waited || call.result == HEARTH_NOT_READY;
        order.check(DriverCalls::get().calls);
    }
    EXPECT_GT(order.cuts("learn"), 0u);
    EXPECT_TRUE(has_waited);
    EXPECT_GT(host->agents.status().snapshots_taken, 50u);
}

/// Lets the next call that records this entry fail.
void fail_next(const std::function<bool(const RecordedCall&)>& is_it) {
    DriverCalls::get() = {};
    DriverCalls::get().fails_if = is_it;
}

/// An agent with a full rollout from which there is something to learn.
AgentId fill_rollout(Host& host) {
    const AgentId id = *host.agents.add();
    for (int i = 0; i < 9; ++i)
        EXPECT_TRUE(host.frame(kDecides,
                               [&] {
                                   const auto x = static_cast<float>(i % 3);
                                   std::ranges::fill(host.agents.observation(id), x);
                                   EXPECT_TRUE(host.agents.add_reward(id, x).ok());
                               })
                        .ok());
    return id;
}

TEST_F(DriverFailuresTest, APublicationThatFailedWaitsForADecisionThatIsCut) {
    const Learner learner = ppo_learner(false);
    const auto host = make(learner);
    ASSERT_NE(host, nullptr);
    fill_rollout(*host);
    const std::vector<float> initial = host->slot("actor.0.weight");
    const uint32_t publish = *host->program().find_entry("publish");
    const auto publishes = [&](const RecordedCall& call) { return call.entry == publish; };
    const auto published = [&] { return std::ranges::any_of(DriverCalls::get().calls, publishes); };
    host->logs_calls = true;
    for (int i = 0; i < 2; ++i) {
        fail_next(publishes);
        for (int frames = 0; host->frame(kLearns).ok(); ++frames) ASSERT_LT(frames, 20);
        EXPECT_TRUE(published());
    }
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
    ASSERT_TRUE(host->agents.save_game().ok());
    // Neither in a frame without a budget, nor while the decision is cut.
    const RecordOptions sliced{.learning_budget_us = 1e9, .max_decision_frames = 4};
    DriverCalls::get() = {};
    ASSERT_TRUE(host->frame({.learning_budget_us = 0, .max_decision_frames = 4}).ok());
    EXPECT_FALSE(published());
    int frames = 0;
    for (; host->agents.status().decisions < 10; ++frames) {
        ASSERT_LT(frames, 10);
        EXPECT_FALSE(published());
        ASSERT_TRUE(host->frame(sliced).ok());
    }
    EXPECT_GT(frames, 0) << "the decision was not sliced";
    EXPECT_TRUE(published());
    EXPECT_NE(host->slot("actor.0.weight"), initial);
    EXPECT_EQ(host->slot("actor.0.weight"), host->slot("published.param.actor.0.weight"));
    DriverCalls::get() = {};
    ASSERT_TRUE(host->frame(kLearns).ok());
    EXPECT_FALSE(published()) << "once is enough";
}

/// Agents on two queues of which the learner is away.
std::unique_ptr<Host> with_learner_away(std::unique_ptr<Host> host) {
    if (host == nullptr) return nullptr;
    fill_rollout(*host);
    // Nothing was measured: a small first slice.
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(host->frame({.learning_budget_us = 0.5, .request_decision = false}).ok());
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_UPDATE);
    host->logs_calls = true;
    DriverCalls::get() = {};
    return host;
}

TEST_F(DriverFailuresTest, WithoutCommandsOfTheLearningQueueTheLearnerStaysWhereItIs) {
    const Learner learner = ppo_learner(true);
    const auto host = with_learner_away(make(learner));
    ASSERT_NE(host, nullptr);
    const std::vector<float> before = host->slot("actor.0.weight");
    ASSERT_TRUE(host->agents.shrink_and_perturb(1).ok());
    ASSERT_TRUE(host->agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
    host->learns_apart = false;
    for (int i = 0; i < 4; ++i) {
        const Status recorded = host->frame(kLearns);
        EXPECT_TRUE(recorded.ok()) << recorded.message();
        EXPECT_TRUE(DriverCalls::get().calls.empty());
    }
    host->learns_apart = true;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(host->frame(kIdles).ok());
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
    EXPECT_FALSE(DriverCalls::get().calls.empty());
    EXPECT_EQ(host->slot("actor.0.weight"), before);
}

TEST_F(DriverFailuresTest, APublicationThatFailedWaitsForTheLearningQueue) {
    const Learner learner = ppo_learner(true);
    const auto host = with_learner_away(make(learner));
    ASSERT_NE(host, nullptr);
    const uint32_t publish = *host->program().find_entry("publish");
    fail_next([&](const RecordedCall& call) { return call.entry == publish; });
    for (int frames = 0; host->frame(kLearns).ok(); ++frames) ASSERT_LT(frames, 20);
    DriverCalls::get() = {};
    host->learns_apart = false;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(host->frame(kLearns).ok());
    EXPECT_TRUE(DriverCalls::get().calls.empty());
    host->learns_apart = true;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(host->frame(kLearns).ok());
    EXPECT_FALSE(DriverCalls::get().calls.empty());
    EXPECT_EQ(host->slot("published.param.actor.0.weight"), host->slot("actor.0.weight"));
}

TEST_F(DriverFailuresTest, ALoadThatIsRejectedSendsTheLearnerBack) {
    const Learner learner = ppo_learner(true);
    const auto host = with_learner_away(make(learner));
    ASSERT_NE(host, nullptr);
    const std::vector<float> initial = host->slot("published.param.actor.0.weight");
    ASSERT_TRUE(host->agents.restore_snapshot(HEARTH_AGENTS_INITIAL_WEIGHTS).ok());
    fail_next([](const RecordedCall& call) { return call.function == "reset"; });
    DriverCalls::get().failure = HEARTH_ERROR_OUT_OF_RANGE;
    int frames = 0;
    while (host->frame(kIdles).ok()) ASSERT_LT(++frames, 6);
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_UPDATE) << "it was not loaded";
    // The way back fails once, too.
    fail_next([](const RecordedCall& call) { return call.function == "queue_transfer"; });
    EXPECT_FALSE(host->frame(kLearns).ok());
    DriverCalls::get() = {};
    for (int i = 0; i < 16; ++i) ASSERT_TRUE(host->frame(kLearns).ok());
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
    EXPECT_NE(host->slot("published.param.actor.0.weight"), initial) << "it has learned on";
}

// The learner is on its way back, for as long as the frame of its return is in flight.
TEST_F(DriverFailuresTest, ALearnerOnItsWayBackGetsNoOtherRollout) {
    const Learner learner = ppo_learner(true);
    const auto host = with_learner_away(make(learner));
    ASSERT_NE(host, nullptr);
    ASSERT_TRUE(host->frame(kLearns).ok());
    EXPECT_EQ(host->agents.status().phase, HEARTH_AGENTS_ROLLOUT);
    DriverCalls::get() = {};
    host->lag = 20;
    for (int i = 0; i < 18; ++i) ASSERT_TRUE(host->frame({.learning_budget_us = 1e9}).ok()) << i;
    for (const RecordedCall& call : DriverCalls::get().calls)
        EXPECT_NE(call.function, "copy_variables");
    host->lag = 0;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(host->frame(kLearns).ok());
    EXPECT_EQ(host->agents.status().rollouts, 2u);
}

TEST_F(DriverFailuresTest, ADemonstrationThatFailedIsRepeatedButNotInAFreeze) {
    const Learner learner = ppo_learner(false);
    for (const bool is_frozen : {false, true}) {
        const auto host = make(learner);
        ASSERT_NE(host, nullptr);
        const AgentId id = *host->agents.add();
        ASSERT_TRUE(host->frame(kDecides).ok());
        host->logs_calls = true;
        const float action[] = {0.5f, 0.5f};
        ASSERT_TRUE(host->agents.add_demonstration(id, action).ok());
        fail_next([](const RecordedCall& call) { return call.function == "record"; });
        EXPECT_FALSE(host->frame(kIdles).ok());
        host->agents.freeze(is_frozen);
        DriverCalls::get() = {};
        ASSERT_TRUE(host->frame(kIdles).ok());
        EXPECT_EQ(DriverCalls::get().calls.size(), is_frozen ? 0u : 1u);
    }
}

}  // namespace
}  // namespace hearth::gates
