// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The driver's classes without a device: each call in each state, against the tables in their
// headers, and random sequences of calls against models.

#include "device/agents/archive.hpp"
#include "device/agents/call_guard.hpp"
#include "device/agents/demonstrations.hpp"
#include "device/agents/exchange.hpp"
#include "device/agents/readbacks.hpp"
#include "device/agents/rollout.hpp"
#include "device/agents/roster.hpp"
#include "device/agents/snapshots.hpp"
#include "device/agents/updates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace hearth::agents {
namespace {

// --- The tables of the headers ---

using Names = std::vector<std::string>;

/// States, calls, and for each pair the states that the call leads to; none: a broken invariant.
struct Table {
    Names states, calls;
    std::map<std::pair<std::string, std::string>, std::set<std::string>> cells;
};

/// Cells of a line, separated by two spaces or more, by column.
std::map<size_t, std::string> cells_of(const std::string& line) {
    std::map<size_t, std::string> cells;
    size_t at = 0;
    while ((at = line.find_first_not_of("/ ", at)) != std::string::npos) {
        const size_t end = std::min(line.find("  ", at), line.size());
        cells[at] = line.substr(at, end - at);
        at = end;
    }
    return cells;
}

/// Reads the table of a class from the comment before it.  A line that begins with "or" continues
/// the cell above.
Table table_of(const std::string& header) {
    std::ifstream file(std::string(HEARTH_SOURCES) + "/device/agents/" + header);
    EXPECT_TRUE(file.is_open()) << header;
    Table table;
    std::string line;
    std::map<size_t, std::string> calls;
    while (std::getline(file, line)) {
        if (line.rfind("///", 0) != 0) continue;
        std::map<size_t, std::string> row = cells_of(line);
        if (row.empty()) continue;
        const auto first = *row.begin();
        const bool continues = first.second.rfind("or ", 0) == 0 && calls.count(first.first) > 0;
        const bool is_row =
            row.size() > 1 && first.second[0] == 'k' && calls.count(std::next(row.begin())->first);
        if (!continues && !is_row) {
            calls = row;
            continue;
        }
        if (is_row) {
            table.states.push_back(first.second);
            row.erase(row.begin());
            EXPECT_EQ(row.size(), calls.size()) << header << ": " << line;
            table.calls.clear();
            for (const auto& [column, call] : calls) table.calls.push_back(call);
        }
        for (const auto& [column, cell] : row) {
            EXPECT_EQ(calls.count(column), 1u) << header << ": column " << column << ": " << line;
            std::set<std::string>& found = table.cells[{table.states.back(), calls[column]}];
            std::istringstream words(cell);
            for (std::string word; words >> word;)
                if (word != "or" && word != "-") found.insert(word);
        }
    }
    EXPECT_FALSE(table.states.empty()) << header;
    return table;
}

/// Tries every call in every state.  A Machine is an object of the class with a path to each state
/// (false: there is none in this variant) and with the calls by name, whose other effects it checks.
template <class Machine>
void expect_table(const std::string& header) {
    const Table table = table_of(header);
    EXPECT_EQ(table.states, Machine::states());
    for (const std::string& state : table.states)
        for (const std::string& call : table.calls) {
            SCOPED_TRACE(header + ": " + call + " in " + state);
            const std::set<std::string>& expected = table.cells.at({state, call});
            std::set<std::string> found;
            bool is_reached = false;
            for (int variant = 0; variant < Machine::kVariants; ++variant) {
                Machine machine(variant);
                if (!machine.reach(state)) continue;
                is_reached = true;
                ASSERT_EQ(machine.state(), state);
                if (expected.empty()) {
                    EXPECT_DEATH(machine.call(call), "broken invariant");
                    break;
                }
                machine.call(call);
                found.insert(machine.state());
            }
            EXPECT_TRUE(is_reached);
            EXPECT_EQ(found, expected);
        }
}

/// Memory that may run out, and that counts leaks as failures.
class TestMemory {
  public:
    ~TestMemory() { EXPECT_EQ(host.bytes_held(), 0u); }
    int64_t left = -1;  ///< allocations that succeed; below 0: all of them
    HostAllocator host{this,
                       [](void* self, size_t bytes, size_t) -> void* {
                           auto& memory = *static_cast<TestMemory*>(self);
                           if (memory.left == 0) return nullptr;
                           if (memory.left > 0) --memory.left;
                           return std::malloc(bytes);
                       },
                       [](void*, void* memory) { std::free(memory); }};
};

using Random = std::mt19937_64;
int below(Random& random, int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
}

constexpr int kSteps = 10000;

// --- Roster ---

struct ByHandle {
    bool operator()(hearth_agent a, hearth_agent b) const {
        return std::tie(a.index, a.generation) < std::tie(b.index, b.generation);
    }
};
using AgentSet = std::set<hearth_agent, ByHandle>;
template <class T>
using AgentMap = std::map<hearth_agent, T, ByHandle>;

bool is_live(const Roster& roster, uint32_t index) {
    return roster.state(index) == AgentState::kJoined || roster.state(index) == AgentState::kActing;
}

class RosterMachine {
  public:
    static constexpr int kVariants = 1;
    static Names states() { return {"kFree", "kJoined", "kActing", "kLeaving"}; }

    explicit RosterMachine(int) { EXPECT_TRUE(roster_.allocate(memory_.host, 1)); }
    bool reach(const std::string& state) {
        if (state != "kFree") call("add");
        if (state == "kActing" || state == "kLeaving") call("decided");
        if (state == "kLeaving") call("remove");
        return true;
    }
    std::string state() const { return states()[static_cast<size_t>(roster_.state(0))]; }

    void call(const std::string& name) {
        const AgentState before = roster_.state(0);
        const uint64_t first = roster_.first_decision(0);
        if (name == "add") {
            hearth_agent added = agent_;
            const Roster::Added how = roster_.add(decision_ + 1, added);
            EXPECT_EQ(how, before == AgentState::kFree      ? Roster::Added::kAtFreeIndex
                           : before == AgentState::kLeaving ? Roster::Added::kInPlaceOfLeaving
                                                            : Roster::Added::kNo);
            if (how != Roster::Added::kNo) {
                EXPECT_EQ(added.generation, agent_.generation + 1);
                EXPECT_FALSE(roster_.has(agent_));
                EXPECT_EQ(roster_.first_decision(0),
                          before == AgentState::kLeaving ? decision_ + 1 : UINT64_MAX);
            }
            agent_ = added;
        } else if (name == "remove") {
            roster_.remove(agent_);
        } else if (name == "start_decision") {
            roster_.start_decision();
            EXPECT_EQ(roster_.first_decision(0), first);
        } else if (name == "decided") {
            ++decision_;
            for (const uint32_t other : {agent_.generation + 1, agent_.generation - 1}) {
                roster_.decided({0, other}, decision_);
                EXPECT_EQ(roster_.state(0), before);
                EXPECT_EQ(roster_.first_decision(0), first);
            }
            roster_.decided(agent_, decision_);
            EXPECT_EQ(roster_.first_decision(0), before == AgentState::kJoined ? decision_ : first);
        } else {
            roster_.restart();
            EXPECT_EQ(roster_.first_decision(0), UINT64_MAX);
        }
        EXPECT_EQ(roster_.alive(), is_live(roster_, 0) ? 1u : 0u);
        EXPECT_EQ(roster_.has(agent_), is_live(roster_, 0));
        EXPECT_FALSE(roster_.has({1, agent_.generation}));
        EXPECT_EQ(roster_.generation(0), agent_.generation);
    }

  private:
    TestMemory memory_;
    Roster roster_;
    hearth_agent agent_{};
    uint64_t decision_ = 0;
};

TEST(DriverStates, RosterFollowsItsTable) {
    expect_table<RosterMachine>("roster.hpp");
}

TEST(DriverStates, AnIndexOfALeavingAgentIsTakenOnlyIfNoneIsFree) {
    TestMemory memory;
    Roster roster;
    ASSERT_TRUE(roster.allocate(memory.host, 3));
    hearth_agent agents[4] = {};
    ASSERT_EQ(roster.add(1, agents[0]), Roster::Added::kAtFreeIndex);
    ASSERT_EQ(roster.add(1, agents[1]), Roster::Added::kAtFreeIndex);
    roster.decided(agents[0], 1);
    roster.remove(agents[0]);
    EXPECT_EQ(roster.add(2, agents[2]), Roster::Added::kAtFreeIndex);
    EXPECT_EQ(agents[2].index, 2u);
    EXPECT_EQ(roster.add(2, agents[3]), Roster::Added::kInPlaceOfLeaving);
    EXPECT_EQ(agents[3].index, 0u);
    EXPECT_FALSE(roster.has(agents[0]));
    EXPECT_EQ(roster.alive(), 3u);
    // A decision that began before reports the old agent: the new one has not taken part in it.
    roster.decided(agents[0], 2);
    EXPECT_EQ(roster.first_decision(0), 2u);
    EXPECT_EQ(roster.add(2, agents[0]), Roster::Added::kNo);
}

TEST(DriverStates, RosterWithoutMemoryIsEmpty) {
    TestMemory memory;
    memory.left = 0;
    Roster roster;
    EXPECT_FALSE(roster.allocate(memory.host, 3));
    EXPECT_EQ(roster.capacity(), 0u);
    hearth_agent agent{};
    EXPECT_EQ(roster.add(1, agent), Roster::Added::kNo);
    EXPECT_FALSE(roster.has({0, 0}));
}

/// Access to the private slots, whose generations take 2^32 calls to wrap.
template <auto Member>
struct Access {
    friend auto& slots_of(Roster& roster) { return roster.*Member; }
};
auto& slots_of(Roster& roster);
template struct Access<&Roster::slots_>;

struct LiveAgent {
    bool is_deciding = false;  ///< takes part in the decision in progress
    uint64_t first_decision = UINT64_MAX;
};

/// Random calls.  first_generation: of every index before its first agent.
void play_roster(uint64_t seed, uint32_t first_generation) {
    SCOPED_TRACE(seed);
    constexpr uint32_t kCapacity = 5;
    TestMemory memory;
    Roster roster;
    ASSERT_TRUE(roster.allocate(memory.host, kCapacity));
    for (auto& slot : slots_of(roster)) slot.generation = first_generation;
    Random random(seed);
    AgentMap<LiveAgent> live;
    AgentSet stale;
    AgentSet batch;  ///< of the decision in progress
    bool is_deciding = false;
    uint64_t decisions = 0;
    const auto any_live = [&] {
        return std::next(live.begin(), below(random, static_cast<int>(live.size())))->first;
    };
    for (int step = 0; step < kSteps; ++step) {
        const int what = below(random, 100);
        if (what < 40) {
            uint32_t free = 0;
            for (uint32_t i = 0; i < kCapacity; ++i)
                free += roster.state(i) == AgentState::kFree ? 1 : 0;
            hearth_agent agent{};
            const Roster::Added how = roster.add(decisions + (is_deciding ? 2 : 1), agent);
            EXPECT_EQ(how == Roster::Added::kNo, live.size() == kCapacity);
            EXPECT_EQ(how == Roster::Added::kAtFreeIndex, free > 0);
            if (how == Roster::Added::kNo) continue;
            EXPECT_EQ(live.count(agent) + stale.count(agent), 0u);
            live[agent] = {};
            if (how == Roster::Added::kInPlaceOfLeaving)
                live[agent].first_decision = decisions + (is_deciding ? 2 : 1);
        } else if (what < 70) {
            if (live.empty()) continue;
            const hearth_agent agent = any_live();
            roster.remove(agent);
            live.erase(agent);
            stale.insert(agent);
        } else if (what < 98) {
            if (!is_deciding) {
                batch.clear();
                for (uint32_t i = 0; i < kCapacity; ++i)
                    if (roster.state(i) != AgentState::kFree)
                        batch.insert({i, roster.generation(i)});
                roster.start_decision();
            } else {
                ++decisions;
                for (const hearth_agent agent : batch) {
                    roster.decided(agent, decisions);
                    const auto found = live.find(agent);
                    if (found == live.end()) continue;
                    EXPECT_EQ(roster.state(agent.index), AgentState::kActing);
                    found->second.first_decision =
                        std::min(found->second.first_decision, decisions);
                }
            }
            is_deciding = !is_deciding;
        } else {
            roster.restart();
            is_deciding = false;
            for (auto& [agent, about] : live) about.first_decision = UINT64_MAX;
        }
        uint32_t alive = 0;
        for (uint32_t i = 0; i < kCapacity; ++i) {
            alive += is_live(roster, i) ? 1 : 0;
            if (roster.state(i) != AgentState::kFree) {
                EXPECT_NE(roster.generation(i), 0u);
            }
        }
        ASSERT_EQ(alive, live.size()) << step;
        ASSERT_EQ(roster.alive(), live.size()) << step;
        for (const auto& [agent, about] : live) {
            ASSERT_TRUE(roster.has(agent)) << step;
            ASSERT_EQ(roster.first_decision(agent.index), about.first_decision) << step;
        }
        if (step % 100 == 99 || stale.size() < 20) {
            for (const hearth_agent agent : stale) ASSERT_FALSE(roster.has(agent)) << step;
        }
    }
    EXPECT_GT(decisions, 1000u);
    EXPECT_GT(stale.size(), 1000u);
}

TEST(DriverStates, RosterAcceptsLiveAgentsAloneWhateverHappens) {
    for (uint64_t seed = 1; seed <= 3; ++seed) play_roster(seed, 0);
}

TEST(DriverStates, GenerationsAreNeverZeroAfterTheyHaveWrapped) {
    play_roster(4, UINT32_MAX - 3);
}

// --- Rollout ---

constexpr Sizes kSizes{.agents = 3, .frame = 2, .observation = 6, .mask = 2, .action = 1};

/// A rollout with a roster of its own.
struct Game {
    explicit Game(const Sizes& of = kSizes) : sizes(of) {
        EXPECT_TRUE(roster.allocate(memory.host, sizes.agents));
        EXPECT_TRUE(rollout.allocate(memory.host, sizes));
    }
    hearth_agent add() {
        hearth_agent agent{};
        const Roster::Added how = roster.add(decisions + (is_deciding() ? 2 : 1), agent);
        EXPECT_NE(how, Roster::Added::kNo);
        if (how == Roster::Added::kAtFreeIndex) rollout.join(agent.index);
        if (how == Roster::Added::kInPlaceOfLeaving) rollout.replace(agent.index);
        return agent;
    }
    bool is_deciding() const { return rollout.state() != DecisionState::kNone; }
    Rollout::Packed start(Rollout::PackOptions options = {}) {
        const Rollout::Packed packed = rollout.pack(roster, options);
        if (packed.rows == 0) return packed;
        rollout.start();
        roster.start_decision();
        return packed;
    }
    void finish() {
        ++decisions;
        for (uint32_t r = 0; r < rollout.packed().rows; ++r)
            roster.decided({rollout.rows().id[r], rollout.rows().generation[r]}, decisions);
        rollout.finish();
    }
    Rollout::Packed decide(Rollout::PackOptions options = {}) {
        const Rollout::Packed packed = start(options);
        if (packed.rows > 0) finish();
        return packed;
    }
    void see(uint32_t agent, float value) {
        std::fill_n(rollout.observation(agent), sizes.frame, value);
    }
    std::vector<float> seen(uint32_t row) const { return part(rollout.rows().observation, row); }
    std::vector<float> final(uint32_t row) const {
        return part(rollout.rows().final_observation, row);
    }
    std::vector<float> part(const Array<float>& values, uint32_t row) const {
        const float* const begin = values.data() + row * sizes.observation;
        std::vector<float> first;  // of each frame
        for (size_t i = 0; i < sizes.observation; i += sizes.frame) first.push_back(begin[i]);
        return first;
    }

    Sizes sizes;
    TestMemory memory;
    Roster roster;
    Rollout rollout;
    uint64_t decisions = 0;
};

class RolloutMachine {
  public:
    static constexpr int kVariants = 2;  // with an agent, and without any
    static Names states() { return {"kNone", "kPacked", "kStarted"}; }

    explicit RolloutMachine(int variant) : has_agent_(variant == 0) {
        if (has_agent_) game_.add();
    }
    bool reach(const std::string& state) {
        if (state == "kNone") return true;
        if (!has_agent_) return false;
        call("pack");
        if (state == "kStarted") call("start");
        return true;
    }
    std::string state() const { return states()[static_cast<size_t>(game_.rollout.state())]; }

    void call(const std::string& name) {
        Rollout& rollout = game_.rollout;
        if (name == "pack") {
            const uint32_t rows = rollout.pack(game_.roster, {}).rows;
            EXPECT_EQ(rows, has_agent_ ? 1u : 0u);
            EXPECT_EQ(rollout.packed().rows, rows);
        } else if (name == "start") {
            rollout.add_reward(0, 1);
            rollout.start();
            EXPECT_TRUE(rollout.can_add_reward(0, std::numeric_limits<float>::max()));
        } else if (name == "finish") {
            rollout.finish();
        } else if (name == "abandon") {
            rollout.add_reward(0, 1);
            rollout.abandon();
            EXPECT_EQ(rollout.pack(game_.roster, {}).rows, 1u);
            EXPECT_EQ(rollout.rows().reward[0], 1);
            rollout.abandon();
        } else {
            rollout.add_reward(0, 1);
            rollout.end(0, HEARTH_AGENTS_TERMINATED, nullptr, nullptr);
            rollout.restart();
            EXPECT_FALSE(rollout.has_ended(0));
        }
    }

  private:
    bool has_agent_;
    Game game_;
};

TEST(DriverStates, RolloutFollowsItsTable) {
    expect_table<RolloutMachine>("rollout.hpp");
}

TEST(DriverStates, TheFirstObservationOfAnEpisodeFillsItsFrameStack) {
    Game game;
    const uint32_t agent = game.add().index;
    using Stack = std::vector<float>;
    const auto decide = [&](float value) {
        game.see(agent, value);
        game.decide();
        return game.seen(0);
    };
    EXPECT_EQ(decide(1), (Stack{1, 1, 1}));
    EXPECT_EQ(decide(2), (Stack{2, 1, 1}));
    EXPECT_EQ(decide(3), (Stack{3, 2, 1}));
    game.see(agent, 4);
    game.rollout.end(agent, HEARTH_AGENTS_TRUNCATED, nullptr, nullptr);
    EXPECT_EQ(decide(5), (Stack{5, 5, 5})) << "of the new episode";
    EXPECT_EQ(game.final(0), (Stack{4, 3, 2})) << "of the old one";
    EXPECT_EQ(decide(6), (Stack{6, 5, 5}));
    EXPECT_EQ(game.final(0), (Stack{6, 5, 5})) << "as it is now";
    game.rollout.restart();
    game.roster.restart();
    EXPECT_EQ(decide(7), (Stack{7, 7, 7})) << "other weights begin an episode";
}

TEST(DriverStates, AReplacedAgentsLastTransitionIsItsOwn) {
    Game game({.agents = 1, .frame = 2, .observation = 6, .mask = 2, .action = 1});
    const hearth_agent old = game.add();
    game.see(0, 1);
    game.decide();
    game.see(0, 2);
    game.rollout.mask(0)[1] = 0;
    game.rollout.add_reward(0, 5);
    game.roster.remove(old);
    const hearth_agent added = game.add();
    EXPECT_EQ(added.index, old.index);
    EXPECT_TRUE(game.rollout.has_ended(0)) << "rewards of the new agent belong to no decision";
    EXPECT_EQ(game.rollout.mask(0)[1], 1);
    game.see(0, 3);
    game.decide();
    const Rows& rows = game.rollout.rows();
    EXPECT_EQ(rows.reward[0], 5);
    EXPECT_EQ(rows.done_kind[0], static_cast<float>(HEARTH_AGENTS_TRUNCATED));
    EXPECT_EQ(rows.episode_start[0], 0);
    EXPECT_EQ(game.final(0), (std::vector<float>{2, 1, 1}));
    EXPECT_EQ(rows.final_mask[1], 0);
    EXPECT_EQ(rows.mask[1], 1);
    EXPECT_EQ(game.seen(0), (std::vector<float>{3, 3, 3}));
    EXPECT_EQ(game.roster.first_decision(0), 2u);
}

TEST(DriverStates, AnAgentThatEndedItsEpisodeIsReplacedWithThatEnd) {
    Game game({.agents = 1, .frame = 2, .observation = 6, .mask = 2, .action = 1});
    const hearth_agent old = game.add();
    game.decide();
    const float last[] = {8, 8}, mask[] = {0, 1};
    game.rollout.end(0, HEARTH_AGENTS_TERMINATED, last, mask);
    game.roster.remove(old);
    game.add();
    game.decide();
    const Rows& rows = game.rollout.rows();
    EXPECT_EQ(rows.done_kind[0], static_cast<float>(HEARTH_AGENTS_TERMINATED));
    EXPECT_EQ(game.final(0)[0], 8);
    EXPECT_EQ(rows.final_mask[0], 0);
    EXPECT_EQ(rows.final_mask[1], 1);
}

// Between two slices of a decision that stores its last outcome, an agent's index is free again.
TEST(DriverStates, AnIndexIsFreeOnceItsLastOutcomeIsBeingStored) {
    Game game({.agents = 1, .frame = 2, .observation = 6, .mask = 2, .action = 1});
    const hearth_agent old = game.add();
    game.decide();
    game.roster.remove(old);
    EXPECT_EQ(game.start().transitions, 1u);
    const hearth_agent added = game.add();
    EXPECT_EQ(game.roster.state(0), AgentState::kJoined);
    game.finish();
    EXPECT_EQ(game.roster.state(0), AgentState::kJoined) << "it has not decided yet";
    EXPECT_EQ(game.roster.first_decision(0), UINT64_MAX);
    EXPECT_EQ(game.decide().transitions, 0u);
    EXPECT_EQ(game.rollout.rows().episode_start[0], 1);
    EXPECT_EQ(game.rollout.rows().done_kind[0], 0);
    EXPECT_TRUE(game.roster.has(added));
}

TEST(DriverStates, AReplacedAgentsActionIsNotTheNewOnes) {
    Game game({.agents = 1, .frame = 2, .observation = 6, .mask = 2, .action = 1});
    const hearth_agent old = game.add();
    game.decide();
    game.start();  // decision 2 sees the old agent
    game.roster.remove(old);
    game.add();
    game.finish();
    EXPECT_EQ(game.roster.first_decision(0), 3u);
    EXPECT_EQ(game.decide().transitions, 1u);
    EXPECT_EQ(game.rollout.rows().done_kind[0], static_cast<float>(HEARTH_AGENTS_TRUNCATED));
}

TEST(DriverStates, AFrozenRolloutStoresNothingAndAClosingOneCutsEpisodes) {
    Game game;
    for (int i = 0; i < 3; ++i) game.add();
    game.decide();
    game.rollout.add_reward(0, 1);
    game.rollout.end(1, HEARTH_AGENTS_TERMINATED, nullptr, nullptr);
    game.rollout.possess(2);
    EXPECT_EQ(game.decide({.stores = true, .closes = true}).transitions, 2u);
    EXPECT_TRUE(game.rollout.has_outcomes());
    const Rows& rows = game.rollout.rows();
    EXPECT_EQ(rows.reward[0], 1);
    EXPECT_EQ(rows.done_kind[0], static_cast<float>(HEARTH_AGENTS_TRUNCATED));
    EXPECT_EQ(rows.done_kind[1], static_cast<float>(HEARTH_AGENTS_TERMINATED));
    EXPECT_EQ(rows.episode_start[1], 0);
    EXPECT_EQ(rows.episode_start[2], 1) << "a person acted";
    game.rollout.add_reward(0, 1);
    game.rollout.end(1, HEARTH_AGENTS_TERMINATED, nullptr, nullptr);
    EXPECT_EQ(game.decide({.stores = false}).transitions, 3u);
    EXPECT_FALSE(game.rollout.has_outcomes());
    for (uint32_t r = 0; r < 3; ++r) {
        EXPECT_EQ(rows.reward[r], 0);
        EXPECT_EQ(rows.done_kind[r], 0);
        EXPECT_EQ(rows.episode_start[r], 1);
    }
}

TEST(DriverStates, RewardsAddUpToFiniteSums) {
    Game game;
    game.add();
    constexpr float kMost = std::numeric_limits<float>::max();
    EXPECT_TRUE(game.rollout.can_add_reward(0, 0.75f * kMost));
    game.rollout.add_reward(0, 0.75f * kMost);
    EXPECT_FALSE(game.rollout.can_add_reward(0, 0.75f * kMost));
    EXPECT_FALSE(game.rollout.can_add_reward(0, NAN));
    EXPECT_FALSE(game.rollout.can_add_reward(0, INFINITY));
    EXPECT_TRUE(game.rollout.can_add_reward(0, -kMost));
}

TEST(DriverStates, RolloutTakesTheMemoryThatItStatesOrFails) {
    int64_t failures = 0;
    for (bool is_made = false; !is_made; ++failures) {
        TestMemory memory;
        memory.left = failures;
        Rollout rollout;
        is_made = rollout.allocate(memory.host, kSizes);
        if (!is_made) continue;
        EXPECT_EQ(memory.host.bytes_held(),
                  kSizes.agents * Rollout::bytes_per_agent(kSizes) + Rollout::shared_bytes(kSizes));
    }
    EXPECT_GE(failures, 15);
}

/// An agent as the game knows it.
struct Player {
    float current = 0;
    std::deque<float> past;  ///< of its episode, newest first
    float mask = 1, reward = 0;
    int end = 0;
    std::vector<float> final;
    float final_mask = 1;
    bool has_outcome = false;  ///< has decided, and executed that
};

std::vector<float> stack_of(const Player& p, float newest) {
    std::vector<float> stack{newest};
    for (const float past : p.past) stack.push_back(past);
    stack.resize(3, p.past.empty() ? newest : p.past.back());
    return stack;
}

void play_rollout(uint64_t seed) {
    SCOPED_TRACE(seed);
    constexpr uint32_t kAgents = 4;
    Game game({.agents = kAgents, .frame = 1, .observation = 3, .mask = 1, .action = 1});
    Rollout& rollout = game.rollout;
    Random random(seed);
    AgentMap<Player> players;
    std::map<uint32_t, Player> leaving;  ///< by index; a replaced one's end is its successor's
    std::map<uint32_t, hearth_agent> at;
    bool is_started = false;
    uint64_t transitions = 0, replaced = 0;
    const auto end_of = [](Player& p, int kind) {
        p.end = kind;
        p.final = stack_of(p, p.current);
        p.final_mask = p.mask;
    };
    for (int step = 0; step < kSteps; ++step) {
        const int what = below(random, 100);
        if (what < 12) {
            if (players.size() == kAgents) continue;
            const hearth_agent agent = game.add();
            Player player;
            const auto left = leaving.find(agent.index);
            if (left != leaving.end()) {
                Player& old = left->second;
                if (old.end == 0) end_of(old, HEARTH_AGENTS_TRUNCATED);
                player.reward = old.reward;
                player.end = old.end;
                player.final = old.final;
                player.final_mask = old.final_mask;
                player.has_outcome = old.has_outcome;
                leaving.erase(left);
                ++replaced;
            }
            at[agent.index] = agent;
            players[agent] = player;
        } else if (what < 60 && !players.empty()) {
            const auto chosen =
                std::next(players.begin(), below(random, static_cast<int>(players.size())));
            const uint32_t i = chosen->first.index;
            Player& p = chosen->second;
            switch (below(random, 6)) {
                case 0:
                    if (game.roster.state(i) == AgentState::kActing) leaving[i] = p;
                    game.roster.remove(chosen->first);
                    players.erase(chosen);
                    break;
                case 1:
                    p.mask = static_cast<float>(below(random, 2));
                    *rollout.mask(i) = p.mask;
                    break;
                case 2:
                    EXPECT_EQ(rollout.has_ended(i), p.end != 0);
                    if (p.end != 0) break;
                    p.reward += 1;
                    rollout.add_reward(i, 1);
                    break;
                case 3: {
                    if (p.end != 0) break;
                    const auto kind =
                        below(random, 2) == 0 ? HEARTH_AGENTS_TERMINATED : HEARTH_AGENTS_TRUNCATED;
                    const bool has_final = below(random, 2) == 0;
                    const float last = static_cast<float>(step) + 0.5f, last_mask = 0.25f;
                    end_of(p, kind);
                    if (has_final) {
                        p.final = stack_of(p, last);
                        p.final_mask = last_mask;
                    }
                    rollout.end(i, kind, has_final ? &last : nullptr,
                                has_final ? &last_mask : nullptr);
                    break;
                }
                case 4:
                    if (!p.has_outcome) break;
                    rollout.possess(i);
                    p.has_outcome = false;
                    break;
                default:
                    p.current = static_cast<float>(step);
                    *rollout.observation(i) = p.current;
            }
        } else if (what < 98) {
            if (is_started) {
                game.finish();
                is_started = false;
                continue;
            }
            const Rollout::PackOptions options{below(random, 8) > 0, below(random, 8) == 0};
            const Rollout::Packed packed = rollout.pack(game.roster, options);
            ASSERT_EQ(packed.rows, players.size() + leaving.size()) << step;
            if (packed.rows == 0) continue;
            uint32_t r = 0, count = 0;
            double reward = 0;
            const auto check = [&](Player& p, uint32_t i, bool is_leaving) {
                const Rows& rows = rollout.rows();
                EXPECT_EQ(rows.id[r], i);
                if (p.end != 0) p.past.clear();
                if (!is_leaving) {
                    EXPECT_EQ(rows.generation[r], at[i].generation);
                    EXPECT_EQ(game.part(rows.observation, r), stack_of(p, p.current)) << step;
                    EXPECT_EQ(rows.mask[r], p.mask);
                }
                const bool is_stored = p.has_outcome && options.stores;
                EXPECT_EQ(rows.episode_start[r], is_stored ? 0 : 1) << step;
                if (is_stored) {
                    const bool is_cut = p.end == 0 && (is_leaving || options.closes);
                    EXPECT_EQ(rows.reward[r], p.reward);
                    EXPECT_EQ(rows.done_kind[r], is_cut ? 2 : p.end) << step;
                    EXPECT_EQ(game.part(rows.final_observation, r),
                              p.end != 0 ? p.final : stack_of(p, p.current))
                        << step;
                    EXPECT_EQ(rows.final_mask[r], p.end != 0 ? p.final_mask : p.mask);
                }
                count += p.has_outcome ? 1 : 0;
                reward += p.has_outcome ? static_cast<double>(p.reward) : 0.0;
                ++r;
            };
            for (uint32_t i = 0; i < kAgents; ++i) {
                if (const auto left = leaving.find(i); left != leaving.end())
                    check(left->second, i, true);
                else if (const auto p = players.find(at[i]); p != players.end())
                    check(p->second, i, false);
            }
            EXPECT_EQ(packed.transitions, count) << step;
            EXPECT_EQ(packed.reward, reward) << step;
            if (below(random, 4) == 0) {
                rollout.abandon();
                continue;
            }
            transitions += count;
            rollout.start();
            game.roster.start_decision();
            is_started = true;
            leaving.clear();
            for (auto& [agent, p] : players) {
                p.past.push_front(p.current);
                if (p.past.size() > 2) p.past.pop_back();
                p.reward = 0;
                p.end = 0;
                p.has_outcome = true;
            }
        } else {
            rollout.restart();
            game.roster.restart();
            is_started = false;
            leaving.clear();
            for (auto& [agent, p] : players) {
                p.past.clear();
                p.reward = 0;
                p.end = 0;
                p.has_outcome = false;
            }
        }
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(transitions, 1000u);
    EXPECT_GT(replaced, 20u);
}

TEST(DriverStates, RolloutPacksWhatTheGameSaid) {
    for (uint64_t seed = 1; seed <= 3; ++seed) play_rollout(seed);
}

// --- Threads ---

TEST(CallGuard, RefusesTheSecondThreadAndReportsItOnce) {
    CallState state;
    {
        const CallGuard<true> first(state);
        EXPECT_TRUE(first.is_alone());
        EXPECT_FALSE(first.takes_overlap());
        const CallGuard<true> second(state);
        EXPECT_FALSE(second.is_alone());
    }
    const CallGuard<true> next(state);
    EXPECT_TRUE(next.is_alone());
    EXPECT_TRUE(next.takes_overlap());
    EXPECT_FALSE(next.takes_overlap());
    const CallGuard<false> without(state);
    EXPECT_TRUE(without.is_alone());
    EXPECT_FALSE(without.takes_overlap());
}

TEST(CallGuard, LetsOneThreadInAtATime) {
    CallState state;
    int64_t calls = 0;  // written by the thread that is alone
    int64_t counts[2] = {};
    const auto play = [&](int64_t& count) {
        for (int i = 0; i < 100000; ++i) {
            const CallGuard<true> guard(state);
            if (!guard.is_alone()) continue;
            ++calls;
            ++count;
        }
    };
    std::thread other([&] { play(counts[1]); });
    play(counts[0]);
    other.join();
    EXPECT_EQ(calls, counts[0] + counts[1]);
    EXPECT_GT(calls, 0);
}

// --- Updates ---

class UpdatesMachine {
  public:
    static constexpr int kVariants = 9;
    static Names states() { return {"kCollecting", "kAdvantages", "kAddSamples", "kMinibatches"}; }

    explicit UpdatesMachine(int variant) {
        const struct {
            Schedule schedule;
            std::vector<uint32_t> decisions;  ///< samples of each
        } variants[kVariants] = {
            {{.n_steps = 1, .updates_per_rollout = 1}, {1}},
            {{.n_steps = 1, .updates_per_rollout = 2}, {1}},
            {{.updates_per_rollout = 1}, {1}},
            {{.updates_per_rollout = 2}, {1}},
            // With a pace: no minibatch is due, or one, or two.
            {{.train_freq = 4, .waiting_decisions = 2}, {2}},
            {{.train_freq = 4, .waiting_decisions = 2}, {2, 2}},
            {{.train_freq = 4, .waiting_decisions = 2}, {4}},
            {{.train_freq = 4, .waiting_decisions = 2}, {4, 4}},
            {{.train_freq = 4, .gradient_steps = 2, .waiting_decisions = 2}, {4}},
        };
        EXPECT_TRUE(updates_.allocate(memory_.host, variants[variant].schedule));
        for (const uint32_t samples : variants[variant].decisions) updates_.count_decision(samples);
    }
    bool reach(const std::string& wanted) {
        EXPECT_TRUE(updates_.is_due());
        const std::pair<const char*, const char*> path[] = {{"kCollecting", "begin"},
                                                            {"kAdvantages", "advantages_done"},
                                                            {"kAddSamples", "samples_added"}};
        for (const auto& [at, next] : path)
            if (state() == at && state() != wanted) call(next);
        return state() == wanted;
    }
    std::string state() const { return states()[static_cast<size_t>(updates_.phase())]; }

    void call(const std::string& name) {
        const uint64_t rollouts = updates_.rollouts(), left = updates_.minibatches_left();
        const Schedule& schedule = updates_.schedule();
        updates_.flush();
        if (name == "begin") {
            updates_.begin();
            EXPECT_EQ(updates_.rollouts(), rollouts + (schedule.has_rollouts() ? 1 : 0));
            EXPECT_EQ(updates_.minibatches_left(),
                      schedule.is_paced() ? 0 : schedule.updates_per_rollout);
            EXPECT_EQ(updates_.collected(), 0u);
        } else if (name == "advantages_done") {
            updates_.advantages_done();
        } else if (name == "samples_added") {
            updates_.samples_added();
        } else {
            const bool publishes = updates_.is_publication_next();
            EXPECT_EQ(publishes, !schedule.has_rollouts() || left == 1);
            EXPECT_EQ(updates_.minibatch_done(), publishes);
            if (left > 1) {
                EXPECT_EQ(updates_.minibatches_left(), left - 1);
            }
        }
        EXPECT_EQ(updates_.is_learning(), state() != "kCollecting");
        if (name != "begin") {
            EXPECT_EQ(updates_.is_flushing(), updates_.is_learning());
        }
    }
    Updates& updates() { return updates_; }

  private:
    TestMemory memory_;
    Updates updates_;
};

TEST(DriverStates, UpdatesFollowTheirTable) {
    expect_table<UpdatesMachine>("updates.hpp");
    for (const std::string& state : UpdatesMachine::states())
        for (int variant = 0; variant < UpdatesMachine::kVariants; ++variant) {
            UpdatesMachine machine(variant);
            if (!machine.reach(state)) continue;
            Updates& updates = machine.updates();
            updates.flush();
            updates.restart(99);
            EXPECT_EQ(machine.state(), "kCollecting");
            EXPECT_EQ(updates.collected(), updates.schedule().n_steps);
            EXPECT_FALSE(updates.is_flushing());
            EXPECT_EQ(updates.minibatches_left() + updates.owed_steps(), 0u);
            EXPECT_EQ(updates.is_due(), updates.schedule().has_rollouts()) << "a loaded rollout";
        }
}

/// Samples that each minibatch may draw from.
struct Learned {
    std::vector<uint64_t> samples;
    uint64_t stored = 0, paused = 0;
};

/// Plays decisions, of which learning follows by this many recordings a frame at most.
Learned learn(uint64_t seed, const Schedule& schedule, int most_recordings) {
    Random random(seed), time(static_cast<uint64_t>(most_recordings));
    TestMemory memory;
    Updates updates;
    EXPECT_TRUE(updates.allocate(memory.host, schedule));
    Learned learned;
    uint64_t added = 0;
    const auto due = [&](uint64_t samples) {
        return samples < schedule.learning_starts
                   ? 0
                   : (samples - schedule.learning_starts) / schedule.train_freq *
                         schedule.gradient_steps;
    };
    const auto record = [&] {
        if (!updates.is_learning()) updates.begin();
        if (updates.phase() == LearningPhase::kAddSamples) {
            EXPECT_EQ(learned.samples.size(), due(added)) << "its minibatches come first";
            added += updates.samples_to_add();
            updates.samples_added();
        } else {
            learned.samples.push_back(added);
            (void)updates.minibatch_done();
        }
        EXPECT_LE(learned.samples.size(), due(added));
    };
    for (int frame = 0; frame < kSteps / 4; ++frame) {
        const auto samples = static_cast<uint32_t>(below(random, 6));
        if (updates.is_collection_paused()) {
            updates.count_paused(samples);
            learned.paused += samples;
        } else {
            updates.count_decision(samples);
            learned.stored += samples;
        }
        for (int n = below(time, most_recordings + 1); n > 0; --n)
            if (updates.is_learning() || updates.is_due()) record();
        EXPECT_EQ(updates.owed_steps(), due(learned.stored) - learned.samples.size());
        if (::testing::Test::HasFailure()) return learned;
    }
    while (updates.is_learning() || updates.is_due()) record();
    EXPECT_EQ(added, learned.stored);
    EXPECT_EQ(learned.samples.size(), due(learned.stored));
    EXPECT_EQ(updates.owed_steps(), 0u);
    EXPECT_EQ(updates.samples_paused(), learned.paused);
    return learned;
}

TEST(DriverStates, APaceLearnsTheSameWhateverTimeThereIs) {
    Schedule schedule{.train_freq = 4, .gradient_steps = 3, .learning_starts = 50};
    schedule.waiting_decisions = kSteps;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        const Learned slow = learn(seed, schedule, 1), fast = learn(seed, schedule, 100);
        EXPECT_EQ(slow.samples, fast.samples);
        EXPECT_GT(fast.samples.size(), 4000u);
        EXPECT_EQ(slow.paused + fast.paused, 0u);
    }
}

TEST(DriverStates, CollectionPausesWhileTheQueueIsFull) {
    const Schedule schedule{.train_freq = 1, .gradient_steps = 2, .waiting_decisions = 3};
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        EXPECT_GT(learn(seed, schedule, 2).paused, 1000u);
        EXPECT_EQ(learn(seed, schedule, 1000).paused, 0u);
    }
}

// Slices that are due finish a minibatch within the limit, whatever they cost.
TEST(DriverStates, EnoughSlicesAreDueToFinishInTime) {
    for (const uint32_t most : {1u, 2u, 7u, 600u})
        for (const uint32_t slices : {1u, 2u, 6u, 7u, 8u, 100u, 601u, 5000u}) {
            SCOPED_TRACE(std::to_string(slices) + " within " + std::to_string(most));
            TestMemory memory;
            Updates updates;
            Schedule schedule;
            schedule.max_frames_per_update = most;
            ASSERT_TRUE(updates.allocate(memory.host, schedule));
            updates.begin();
            uint32_t left = slices, frames = 0, largest = 0;
            while (left > 0 && frames < 2 * most) {
                updates.count_frame();
                ++frames;
                const uint32_t due = std::min(updates.slices_due(left), left);
                for (uint32_t i = 0; i < due; ++i) updates.count_slice();
                left -= due;
                largest = std::max(largest, due);
            }
            EXPECT_EQ(left, 0u);
            EXPECT_LE(frames, most + 1);
            const uint32_t others = std::max(most - 1, 1u);
            EXPECT_LE(largest, (slices + others - 1) / others) << "spread over the frames";
        }
}

TEST(DriverStates, AnOverdueMinibatchIsRecordedWhole) {
    TestMemory memory;
    Updates updates;
    Schedule schedule;
    schedule.max_frames_per_update = 3;
    schedule.updates_per_rollout = 2;
    ASSERT_TRUE(updates.allocate(memory.host, schedule));
    updates.begin();
    for (const bool is_overdue : {false, false, true}) {
        updates.count_frame();
        updates.count_slice();
        EXPECT_EQ(updates.records_whole(), is_overdue);
    }
    (void)updates.minibatch_done();
    EXPECT_FALSE(updates.records_whole());
    updates.flush();
    EXPECT_TRUE(updates.records_whole());
}

TEST(DriverStates, NoUpdateIsOverdueBeforeLearningStarts) {
    TestMemory memory;
    Updates updates;
    Schedule schedule;
    schedule.train_freq = 1;
    schedule.learning_starts = 8;
    schedule.waiting_decisions = 4;
    schedule.max_frames_per_update = 3;
    ASSERT_TRUE(updates.allocate(memory.host, schedule));
    for (int decision = 0; decision < 3; ++decision) {
        updates.count_decision(4);
        if (!updates.is_learning()) updates.begin();
        for (int frame = 0; frame < 2; ++frame) updates.count_frame();
        const bool is_owed = decision == 2;
        EXPECT_EQ(updates.frames_without_update(), is_owed ? 2u : 0u);
        if (!is_owed) updates.samples_added();
    }
    updates.count_frame();
    EXPECT_TRUE(updates.records_whole());
}

TEST(DriverStates, SavingAGameChangesNothing) {
    TestMemory memory;
    Updates updates;
    ASSERT_TRUE(updates.allocate(memory.host, {.updates_per_rollout = 3}));
    updates.begin();
    updates.count_frame();
    updates.flush();
    std::vector<std::byte> bytes(1024);
    Archive archive = Archive::write(bytes);
    updates.archive(archive);
    EXPECT_FALSE(archive.failed());
    EXPECT_TRUE(updates.is_flushing());
    EXPECT_EQ(updates.frames_without_update(), 1u);
}

TEST(DriverStates, AnArchiveThatEndsEarlyChangesNothing) {
    const std::array<std::byte, 8> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                         std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};
    Archive archive = Archive::read(std::span(bytes).first(6));
    uint32_t first = 0, second = 9;
    archive(first, second);
    EXPECT_EQ(first, 0x04030201u);
    EXPECT_EQ(second, 9u);
    EXPECT_TRUE(archive.failed());
    uint16_t third = 9;
    archive(third);
    EXPECT_EQ(third, 9u) << "after the end";
    Archive measured = Archive::measure();
    measured(first, third);
    EXPECT_EQ(measured.position(), 6u);
}

// Saved games are untrusted.
TEST(DriverStates, RandomBytesOfASavedGameGiveSoundStates) {
    Random random(1);
    for (int game = 0; game < 300; ++game) {
        std::vector<std::byte> bytes(4096);
        // Few values are large, so that many of them are near those of a saved game.
        for (std::byte& b : bytes)
            b = static_cast<std::byte>(below(random, 4) > 0 ? below(random, 4)
                                                            : below(random, 256));
        TestMemory memory;
        Roster roster;
        Rollout rollout;
        Updates updates;
        Schedule schedule{.train_freq = 2, .learning_starts = 3, .waiting_decisions = 4};
        if (game % 3 == 0) schedule = {.n_steps = 4, .updates_per_rollout = 3};
        if (game % 3 == 1) schedule = {};
        ASSERT_TRUE(roster.allocate(memory.host, kSizes.agents));
        ASSERT_TRUE(rollout.allocate(memory.host, kSizes));
        ASSERT_TRUE(updates.allocate(memory.host, schedule));
        Archive archive = Archive::read(bytes);
        roster.archive(archive);
        rollout.archive(archive);
        updates.archive(archive);
        EXPECT_FALSE(archive.failed());
        uint32_t alive = 0;
        for (uint32_t i = 0; i < kSizes.agents; ++i) {
            EXPECT_LE(roster.state(i), AgentState::kLeaving);
            if (!is_live(roster, i)) continue;
            ++alive;
            EXPECT_TRUE(roster.has({i, roster.generation(i)}));
            EXPECT_NE(roster.generation(i), 0u);
        }
        EXPECT_EQ(roster.alive(), alive);
        hearth_agent agent{};
        while (roster.add(1, agent) != Roster::Added::kNo) ++alive;
        EXPECT_EQ(alive, kSizes.agents);
        const Rollout::Packed packed = rollout.pack(roster, {});
        EXPECT_EQ(packed.rows, kSizes.agents);
        for (uint32_t r = 0; r < packed.rows; ++r) {
            EXPECT_TRUE(std::isfinite(rollout.rows().reward[r]));
            const float end = rollout.rows().done_kind[r];
            EXPECT_TRUE(end == 0 || end == 1 || end == 2);
        }
        rollout.start();
        EXPECT_LE(updates.collected(), schedule.n_steps);
        for (int i = 0; i < 100; ++i) {
            if (!updates.is_learning() && !updates.is_due()) break;
            if (!updates.is_learning()) updates.begin();
            if (updates.phase() == LearningPhase::kAdvantages) updates.advantages_done();
            if (updates.phase() == LearningPhase::kAddSamples)
                updates.samples_added();
            else
                (void)updates.minibatch_done();
        }
    }
}

// --- Snapshots ---

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}
std::string text_of(std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}
void arrive(Snapshots& snapshots, const std::string& contents) {
    ASSERT_LE(contents.size(), snapshots.space().size());
    std::ranges::copy(bytes_of(contents), snapshots.space().begin());
    snapshots.arrive(contents.size());
}

class SnapshotsMachine {
  public:
    static constexpr int kVariants = 2;  // due with every record, and with every second one
    static Names states() {
        return {"kNone", "kDue", "kWanted", "kInFlight", "kInFlightAndWanted"};
    }

    explicit SnapshotsMachine(int variant) {
        EXPECT_TRUE(snapshots_.allocate(memory_.host, 2, 8, variant == 0 ? 1 : 2));
    }
    bool reach(const std::string& state) {
        while (state == "kDue" && snapshots_.state() != SnapshotState::kDue) call("count_record");
        if (state == "kNone" || state == "kDue") return true;
        call("request");
        if (state == "kWanted") return true;
        call("record");
        if (state == "kInFlightAndWanted") call("request");
        return true;
    }
    std::string state() const { return states()[static_cast<size_t>(snapshots_.state())]; }

    void call(const std::string& name) {
        if (name == "request") {
            snapshots_.request();
            EXPECT_TRUE(snapshots_.is_requested());
        } else if (name == "count_record") {
            snapshots_.count_record();
        } else if (name == "record") {
            snapshots_.record(7, 3);
            EXPECT_EQ(snapshots_.readback(), 7u);
            EXPECT_EQ(snapshots_.collected(), 3u);
        } else {
            snapshots_.arrive(1);
            EXPECT_EQ(snapshots_.taken(), 1u);
            EXPECT_EQ(snapshots_.readback(), 0u);
        }
        EXPECT_EQ(snapshots_.is_in_flight(),
                  state() == "kInFlight" || state() == "kInFlightAndWanted");
        EXPECT_EQ(snapshots_.is_requested(),
                  state() == "kWanted" || state() == "kInFlightAndWanted");
    }
    Snapshots& snapshots() { return snapshots_; }

  private:
    TestMemory memory_;
    Snapshots snapshots_;
};

TEST(DriverStates, SnapshotsFollowTheirTable) {
    expect_table<SnapshotsMachine>("snapshots.hpp");
    for (const std::string& state : SnapshotsMachine::states()) {
        SnapshotsMachine erased(0), lost(0);
        ASSERT_TRUE(erased.reach(state) && lost.reach(state));
        erased.snapshots().erase();
        EXPECT_EQ(erased.state(), "kNone") << state;
        EXPECT_EQ(erased.snapshots().readback(), 0u);
        if (lost.snapshots().is_in_flight()) {
            lost.snapshots().lose();
            EXPECT_EQ(lost.state(), "kWanted") << state;
            EXPECT_EQ(lost.snapshots().taken() + lost.snapshots().rejected(), 0u);
        } else {
            EXPECT_DEATH(lost.snapshots().lose(), "broken invariant") << state;
        }
    }
}

TEST(DriverStates, SnapshotsAreDueOncePerInterval) {
    TestMemory memory;
    Snapshots snapshots;
    ASSERT_TRUE(snapshots.allocate(memory.host, 1, 8, 3));
    const auto records_until_due = [&] {
        for (int records = 1; records < 10; ++records) {
            snapshots.count_record();
            if (snapshots.state() == SnapshotState::kDue) return records;
        }
        return 0;
    };
    EXPECT_EQ(records_until_due(), 3);
    snapshots.record(1, 0);
    snapshots.count_record();
    snapshots.arrive(1);
    EXPECT_EQ(records_until_due(), 2) << "counted from the record on";
    snapshots.record(1, 0);
    snapshots.arrive(1);
    snapshots.count_record();
    snapshots.restart_interval();
    EXPECT_EQ(records_until_due(), 3);
    Snapshots never;
    ASSERT_TRUE(never.allocate(memory.host, 1, 8, 0));
    for (int i = 0; i < 10; ++i) never.count_record();
    EXPECT_EQ(never.state(), SnapshotState::kNone);
}

TEST(DriverStates, SnapshotsAreARingNewestFirst) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        Random random(seed);
        constexpr uint32_t kMost = 3;
        TestMemory memory;
        Snapshots snapshots;
        ASSERT_TRUE(snapshots.allocate(memory.host, kMost, 16, 0));
        std::deque<std::string> newest;
        uint64_t taken = 0, rejected = 0;
        for (int step = 0; step < kSteps; ++step) {
            snapshots.request();
            snapshots.record(1, 0);
            const int what = below(random, 20);
            if (what == 0) {
                snapshots.erase();
                newest.clear();
            } else if (what == 1) {
                snapshots.lose();
            } else if (what == 2) {
                snapshots.arrive(0);
                ++rejected;
            } else {
                newest.push_front("snapshot " + std::to_string(step));
                if (newest.size() > kMost) newest.pop_back();
                arrive(snapshots, newest.front());
                ++taken;
            }
            ASSERT_EQ(snapshots.count(), newest.size());
            for (uint32_t i = 0; i < newest.size(); ++i)
                ASSERT_EQ(text_of(snapshots.at(i)), newest[i]) << step;
            ASSERT_TRUE(snapshots.at(snapshots.count()).empty());
            ASSERT_TRUE(snapshots.at(UINT32_MAX).empty());
            if (snapshots.is_in_flight()) snapshots.arrive(0), ++rejected;
        }
        EXPECT_EQ(snapshots.taken(), taken);
        EXPECT_EQ(snapshots.rejected(), rejected);
    }
}

TEST(DriverStates, ErasedSnapshotsAreZeros) {
    TestMemory memory;
    Snapshots snapshots;
    ASSERT_TRUE(snapshots.allocate(memory.host, 2, 8, 0));
    for (const char* const contents : {"secret 1", "secret 2"}) {
        snapshots.request();
        snapshots.record(1, 0);
        arrive(snapshots, contents);
    }
    const std::span<const std::byte> kept[] = {snapshots.at(0), snapshots.at(1)};
    snapshots.erase();
    for (const auto& bytes : kept)
        EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
}

// --- Exchange ---

class ExchangeMachine {
  public:
    static constexpr int kVariants = 1;
    static Names states() { return {"kNone", "kBrain", "kInitialWeights"}; }

    explicit ExchangeMachine(int) { EXPECT_TRUE(exchange_.allocate(memory_.host, 8)); }
    bool reach(const std::string& state) {
        if (state == "kBrain") call("request_brain");
        if (state == "kInitialWeights") call("request_initial");
        return true;
    }
    std::string state() const { return states()[static_cast<size_t>(exchange_.state())]; }

    void call(const std::string& name) {
        if (name == "request_brain") {
            EXPECT_TRUE(exchange_.request_brain(memory_.host, bytes_of("brain")));
            EXPECT_EQ(text_of(exchange_.brain()), "brain");
        } else if (name == "request_initial") {
            exchange_.request_initial();
        } else if (name == "wait") {
            EXPECT_TRUE(exchange_.wait());
        } else if (name == "complete") {
            exchange_.complete();
        } else {
            const std::span<const std::byte> brain = exchange_.brain();
            exchange_.erase();
            EXPECT_TRUE(exchange_.brain().empty());
            EXPECT_TRUE(std::ranges::all_of(brain, [](std::byte b) { return b == std::byte{0}; }));
        }
    }

  private:
    TestMemory memory_;
    Exchange exchange_;
};

TEST(DriverStates, ExchangeFollowsItsTable) {
    expect_table<ExchangeMachine>("exchange.hpp");
}

TEST(DriverStates, ALoadWaitsForALimitedNumberOfFrames) {
    TestMemory memory;
    Exchange exchange;
    const auto waits = [&] {
        uint32_t count = 1;
        while (exchange.wait()) ++count;
        return count;
    };
    exchange.request_initial();
    EXPECT_EQ(waits(), Exchange::kMostWaits);
    exchange.complete();
    exchange.request_initial();
    EXPECT_EQ(waits(), Exchange::kMostWaits);
    ASSERT_TRUE(exchange.request_brain(memory.host, bytes_of("another")));
    EXPECT_EQ(waits(), Exchange::kMostWaits) << "each request waits anew";
}

TEST(DriverStates, ADiscardedLoadIsRequestedAgain) {
    TestMemory memory;
    Exchange exchange;
    ASSERT_TRUE(exchange.request_brain(memory.host, bytes_of("brain")));
    exchange.complete();
    EXPECT_EQ(exchange.state(), LoadState::kNone);
    exchange.repeat(LoadState::kBrain);
    EXPECT_EQ(exchange.state(), LoadState::kBrain);
    EXPECT_EQ(text_of(exchange.brain()), "brain");
}

TEST(DriverStates, ExchangeKeepsItsBrainIfMemoryRunsOut) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        Random random(seed);
        TestMemory memory;
        Exchange exchange;
        ASSERT_TRUE(exchange.allocate(memory.host, 4));
        std::string brain;
        LoadState state = LoadState::kNone;
        size_t space = 4;
        uint64_t failures = 0;
        for (int step = 0; step < kSteps; ++step) {
            const int what = below(random, 10);
            memory.left = below(random, 2) == 0 ? 0 : -1;
            if (what < 6) {
                // Longer with time, so that some do not fit whenever they come.
                const std::string wanted(static_cast<size_t>(1 + below(random, 8 + step / 20)),
                                         static_cast<char>('a' + what));
                const bool fits = wanted.size() <= space;
                const bool is_requested = exchange.request_brain(memory.host, bytes_of(wanted));
                ASSERT_EQ(is_requested, fits || memory.left != 0);
                failures += is_requested ? 0 : 1;
                if (is_requested) {
                    brain = wanted;
                    state = LoadState::kBrain;
                    space = std::max(space, wanted.size());
                }
            } else if (what == 6) {
                exchange.request_initial();
                state = LoadState::kInitialWeights;
            } else if (what == 7) {
                exchange.erase();
                brain.clear();
                state = LoadState::kNone;
            } else if (state != LoadState::kNone) {
                exchange.complete();
                state = LoadState::kNone;
            }
            ASSERT_EQ(exchange.state(), state) << step;
            ASSERT_EQ(text_of(exchange.brain()), brain) << step;
        }
        EXPECT_GT(failures, 10u);
    }
}

// --- Readbacks ---

class ReadbacksMachine {
  public:
    static constexpr int kVariants = 6;  // a ring of one to three, filled as little or as possible
    static Names states() { return {"kIdle", "kWaiting", "kFull"}; }

    explicit ReadbacksMachine(int variant) : most_(1 + variant / 2), fills_(variant % 2 == 1) {
        EXPECT_TRUE(readbacks_.allocate(memory_.host, static_cast<uint32_t>(most_), 1,
                                        kSavedStatusWords, 0));
    }
    bool reach(const std::string& state) {
        if (state == "kWaiting" && most_ == 1) return false;
        const int wanted = state == "kIdle" ? 0 : state == "kFull" ? most_ : fills_ ? most_ - 1 : 1;
        while (count_ < wanted) call("push");
        return true;
    }
    std::string state() const { return states()[static_cast<size_t>(readbacks_.state())]; }

    void call(const std::string& name) {
        if (name == "push") {
            readbacks_.push({.actions = 1, .status = 2, .decision = ++decision_});
            ++count_;
            EXPECT_EQ(readbacks_.newest().decision, decision_);
        } else {
            readbacks_.pop();
            --count_;
        }
        if (count_ == 0) return;
        EXPECT_EQ(readbacks_.oldest().decision, decision_ + 1 - static_cast<uint64_t>(count_));
    }

  private:
    int most_, count_ = 0;
    bool fills_;
    TestMemory memory_;
    Readbacks readbacks_;
    uint64_t decision_ = 0;
};

TEST(DriverStates, ReadbacksFollowTheirTable) {
    expect_table<ReadbacksMachine>("readbacks.hpp");
}

TEST(DriverStates, ReadbacksArriveInOrder) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        Random random(seed);
        TestMemory memory;
        Readbacks readbacks;
        ASSERT_TRUE(readbacks.allocate(memory.host, 4, 1, kSavedStatusWords, 0));
        std::deque<uint64_t> waiting;
        uint64_t pushed = 0;
        for (int step = 0; step < kSteps; ++step) {
            if (below(random, 2) == 0 && readbacks.state() != ReadbackState::kFull) {
                readbacks.push({.decision = ++pushed});
                waiting.push_back(pushed);
            } else if (readbacks.state() != ReadbackState::kIdle) {
                readbacks.pop();
                waiting.pop_front();
            }
            ASSERT_EQ(readbacks.state(), waiting.empty()       ? ReadbackState::kIdle
                                         : waiting.size() == 4 ? ReadbackState::kFull
                                                               : ReadbackState::kWaiting);
            if (waiting.empty()) continue;
            ASSERT_EQ(readbacks.oldest().decision, waiting.front());
            ASSERT_EQ(readbacks.newest().decision, waiting.back());
        }
        EXPECT_GT(pushed, 1000u);
    }
}

TEST(DriverStates, ActionsOfAnotherSizeAreIgnored) {
    TestMemory memory;
    Readbacks readbacks;
    ASSERT_TRUE(readbacks.allocate(memory.host, 1, 2, kSavedStatusWords, 0));
    const float actions[] = {1, 2, 3};
    const auto bytes = std::as_bytes(std::span(actions));
    for (const size_t size : {0, 4, 7, 9, 12}) {
        readbacks.take_actions(bytes.first(size), 5);
        EXPECT_EQ(readbacks.actions_decision(), 0u) << size;
        EXPECT_EQ(readbacks.actions()[0], 0) << size;
    }
    readbacks.take_actions(bytes.first(8), 5);
    EXPECT_EQ(readbacks.actions_decision(), 5u);
    EXPECT_EQ(readbacks.actions()[1], 2);
}

// Programs of earlier versions have fewer counters.
TEST(DriverStates, StatusOfEachVersionIsJoined) {
    EXPECT_FALSE(Readbacks::is_status_size(0));
    EXPECT_FALSE(Readbacks::is_status_size(kMetricCount - 2));
    EXPECT_FALSE(Readbacks::is_status_size(kMetricCount + 1)) << "half a counter";
    EXPECT_FALSE(Readbacks::is_status_size(kSavedStatusWords + 2));
    EXPECT_FALSE(Readbacks::is_status_size(UINT64_MAX / 4 * 2 + 1));
    EXPECT_FALSE(Readbacks::is_recent_size(Readbacks::kRecentWords + 1));
    for (size_t counters = 0; counters <= kSavedCounterCount; ++counters)
        for (size_t recent = 0; recent <= Readbacks::kRecentWords; ++recent) {
            SCOPED_TRACE(counters);
            const size_t size = kMetricCount + 2 * counters;
            ASSERT_TRUE(Readbacks::is_status_size(size));
            ASSERT_TRUE(Readbacks::is_recent_size(recent));
            TestMemory memory;
            Readbacks readbacks;
            ASSERT_TRUE(readbacks.allocate(memory.host, 1, 1, size, recent));
            std::vector<uint32_t> words(size), later(recent);
            for (size_t i = 0; i < kMetricCount; ++i)
                words[i] = std::bit_cast<uint32_t>(static_cast<float>(i) + 0.5f);
            for (size_t i = 0; i < counters; ++i) {
                words[kMetricCount + i] = static_cast<uint32_t>(100 + i);
                words[kMetricCount + counters + i] = 1;  // 2^32
            }
            for (size_t i = 0; i < recent; ++i) later[i] = static_cast<uint32_t>(200 + i);
            const auto bytes = std::as_bytes(std::span(words));
            const auto later_bytes = std::as_bytes(std::span(later));
            readbacks.take_status(bytes.first(bytes.size() - 1), later_bytes, 9);
            if (recent > 0) readbacks.take_status(bytes, later_bytes.first(4 * recent - 1), 9);
            EXPECT_EQ(readbacks.status_frame_number(), 0u) << "of another size";
            readbacks.take_status(bytes, later_bytes, 9);
            EXPECT_EQ(readbacks.status_frame_number(), 9u);
            const StatusView status = readbacks.status();
            for (size_t i = 0; i < kMetricCount; ++i)
                EXPECT_EQ(status[static_cast<AgentMetric>(i)], static_cast<float>(i) + 0.5f);
            for (size_t i = 0; i < kCounterCount; ++i) {
                const size_t n = i - kSavedCounterCount;
                EXPECT_EQ(status[static_cast<Counter>(i)], i < counters
                                                               ? 100 + i + (uint64_t{1} << 32)
                                                           : i < kSavedCounterCount ? 0
                                                           : n < recent             ? 200 + n
                                                                                    : 0)
                    << i;
            }
        }
}

// --- Demonstrations ---

class DemonstrationsMachine {
  public:
    static constexpr int kVariants = 2;  // one agent's are cleared, or all agents'
    static Names states() { return {"kNone", "kGiven", "kCaptured"}; }

    explicit DemonstrationsMachine(int variant) : clears_all_(variant == 1) {
        EXPECT_TRUE(demonstrations_.allocate(memory_.host, kSizes));
        demonstrations_.add(1, &action_, 0);  // of another agent
    }
    bool reach(const std::string& state) {
        if (state != "kNone") call("add");
        if (state == "kCaptured") call("capture");
        return true;
    }
    std::string state() const { return states()[static_cast<size_t>(demonstrations_.state(2))]; }

    void call(const std::string& name) {
        const float observation[] = {1, 2, 3, 4, 5, 6}, mask[] = {0, 1};
        if (name == "add") {
            action_ += 1;
            demonstrations_.add(2, &action_, 9);
        } else if (name == "capture") {
            demonstrations_.capture(2, observation, mask);
        } else if (name == "pack") {
            const uint32_t rows = demonstrations_.pack();
            EXPECT_EQ(rows, state() == "kCaptured" ? 1u : 0u);
            if (rows == 0) return;
            const Demonstrations::Rows& packed = demonstrations_.rows();
            EXPECT_EQ(packed.action[0], action_);
            EXPECT_EQ(packed.demonstrator[0], 9);
            EXPECT_TRUE(std::equal(observation, observation + 6, packed.observation.begin()));
            EXPECT_TRUE(std::equal(mask, mask + 2, packed.mask.begin()));
        } else if (clears_all_) {
            demonstrations_.clear();
            EXPECT_EQ(demonstrations_.state(1), DemonstrationState::kNone);
        } else {
            demonstrations_.clear(2);
            EXPECT_EQ(demonstrations_.state(1), DemonstrationState::kGiven);
        }
        EXPECT_EQ(demonstrations_.state(0), DemonstrationState::kNone);
    }

  private:
    bool clears_all_;
    TestMemory memory_;
    Demonstrations demonstrations_;
    float action_ = 1;
};

TEST(DriverStates, DemonstrationsFollowTheirTable) {
    expect_table<DemonstrationsMachine>("demonstrations.hpp");
}

TEST(DriverStates, TheNewestDemonstrationOfEachAgentIsPackedOnce) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        Random random(seed);
        TestMemory memory;
        Demonstrations demonstrations;
        constexpr Sizes kOf{.agents = 3, .frame = 1, .observation = 1, .mask = 0, .action = 1};
        ASSERT_TRUE(demonstrations.allocate(memory.host, kOf));
        EXPECT_LE(memory.host.bytes_held(),
                  kOf.agents * Demonstrations::bytes_per_agent(kOf) + 2 * sizeof(float));
        struct Shown {
            float action = 0, observation = 0;
            bool is_captured = false;
        };
        std::map<uint32_t, Shown> shown;
        for (int step = 0; step < kSteps; ++step) {
            const auto agent = static_cast<uint32_t>(below(random, 3));
            const auto value = static_cast<float>(step);
            const int what = below(random, 10);
            if (what < 4) {
                demonstrations.add(agent, &value, 0);
                shown[agent] = {.action = value};
            } else if (what < 7) {
                if (shown.count(agent) == 0 || shown[agent].is_captured) continue;
                demonstrations.capture(agent, &value, nullptr);
                shown[agent].observation = value;
                shown[agent].is_captured = true;
            } else if (what == 7) {
                demonstrations.clear(agent);
                shown.erase(agent);
            } else {
                const uint32_t rows = demonstrations.pack();
                uint32_t row = 0;
                for (const auto& [index, s] : shown) {
                    if (!s.is_captured) continue;
                    ASSERT_LT(row, rows);
                    EXPECT_EQ(demonstrations.rows().action[row], s.action);
                    EXPECT_EQ(demonstrations.rows().observation[row++], s.observation);
                }
                ASSERT_EQ(rows, row) << step;
                if (what == 9) {
                    demonstrations.clear();
                    shown.clear();
                }
            }
        }
    }
}

}  // namespace
}  // namespace hearth::agents
