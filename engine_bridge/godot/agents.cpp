// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "agents.hpp"

#include <algorithm>
#include <cmath>

namespace hearth_godot {
namespace {

/// Handles as integers: the generation, which is never 0, in the upper half.
hearth_agent agent_of(int64_t handle) {
    const auto bits = static_cast<uint64_t>(handle);
    return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)};
}
int64_t handle_of(hearth_agent agent) {
    return static_cast<int64_t>(uint64_t{agent.generation} << 32 | agent.index);
}

const char* const kNoAgent = "no such agent; pass what add() returned, and not after remove()";

}  // namespace

bool Agents::open(const std::string& path, const Bytes& bytes, const std::string& device,
                  bool enable_saved_games) {
    close();
    clear_error();
    const std::unique_lock lock = open_program(path, bytes, device);
    if (!lock.owns_lock()) return false;
    hearth_agents_create_info create = hearth_agents_create_info_default();
    create.program = program_;
    create.frames_in_flight = 1;  // each frame waits for the device
    create.enable_saved_games = enable_saved_games ? 1 : 0;
    hearth_messages messages{};
    if (hearth_agents_create(host_->context(), &create, &agents_, &messages) != HEARTH_OK)
        return fail(path, messages.text);
    session_ = hearth_agents_get_session(agents_);
    if (hearth_session_create_pipelines(session_, 0) != HEARTH_OK)
        return fail("session", hearth_session_error(session_));
    return true;
}

void Agents::close() {
    worker_.wait();
    if (host_ == nullptr) return;
    const std::unique_ptr<Host> host = std::move(host_);
    const std::unique_lock lock(*host);
    if (agents_ != nullptr) hearth_agents_destroy(agents_);
    if (program_ != nullptr) hearth_program_destroy(program_);
    agents_ = nullptr;
    session_ = nullptr;
    program_ = nullptr;
}

bool Agents::check(hearth_result result, const char* call) {
    return result >= 0 || fail(call, hearth_agents_error(agents_));
}

// --- Agents and what they see --------------------------------------------------------------------

int64_t Agents::add() {
    if (!wait() || !check_open("add")) return -1;
    hearth_agent agent{};
    return check(hearth_agents_add(agents_, &agent), "add") ? handle_of(agent) : -1;
}

bool Agents::remove(int64_t agent) {
    return wait() && check_open("remove") &&
           check(hearth_agents_remove(agents_, agent_of(agent)), "remove");
}

int64_t Agents::count() {
    return wait() && is_open() ? hearth_agents_count(agents_) : 0;
}
int64_t Agents::observation_size() {
    return is_open() ? hearth_agents_observation_size(agents_) : 0;
}
int64_t Agents::action_size() {
    return is_open() ? hearth_agents_action_size(agents_) : 0;
}

float* Agents::find_observation(int64_t agent, const char* call) {
    if (!wait() || !check_open(call)) return nullptr;
    float* const to = hearth_agents_observation(agents_, agent_of(agent));
    if (to == nullptr) fail(call, kNoAgent);
    return to;
}

bool Agents::observe(int64_t agent, const Floats& observation) {
    float* const to = find_observation(agent, "observe");
    if (to == nullptr) return false;
    const size_t size = hearth_agents_observation_size(agents_);
    if (observation.size() != size)
        return fail("observe", "expected " + std::to_string(size) + " values, found " +
                                   std::to_string(observation.size()));
    const size_t bad = find_non_finite(observation);
    if (bad != size)
        return fail(
            "observe",
            std::string(hearth_agents_observation_name(agents_, static_cast<uint32_t>(bad))) +
                " is " + std::to_string(observation[bad]) + ", expected a finite number");
    std::copy(observation.begin(), observation.end(), to);
    return true;
}

bool Agents::observe_fields(int64_t agent, const Fields& fields) {
    float* const to = find_observation(agent, "observe_fields");
    if (to == nullptr) return false;
    for (const auto& [name, values] : fields) {
        uint32_t offset = 0, size = 0;
        if (!check(hearth_agents_find_observation(agents_, name.c_str(), &offset, &size),
                   "observe_fields"))
            return false;
        if (values.size() != size)
            return fail(name, "expected " + std::to_string(size) + " values, found " +
                                  std::to_string(values.size()));
        const size_t bad = find_non_finite(values);
        if (bad != size)
            return fail(name, "value " + std::to_string(bad) + " is " +
                                  std::to_string(values[bad]) + ", expected a finite number");
        std::copy(values.begin(), values.end(), to + offset);
    }
    return true;
}

bool Agents::add_reward(int64_t agent, double amount) {
    return wait() && check_open("add_reward") &&
           check(hearth_agents_add_reward(agents_, agent_of(agent), static_cast<float>(amount)),
                 "add_reward");
}

bool Agents::end_episode(int64_t agent, bool is_truncated) {
    const auto end = is_truncated ? HEARTH_AGENTS_TRUNCATED : HEARTH_AGENTS_TERMINATED;
    return wait() && check_open("end_episode") &&
           check(hearth_agents_end_episode(agents_, agent_of(agent), end, nullptr, nullptr),
                 "end_episode");
}

// --- Frames --------------------------------------------------------------------------------------

bool Agents::decide(const Frame& frame) {
    if (!wait() || !check_open("decide")) return false;
    if (!std::isfinite(frame.exploration) || !(frame.learning_budget_us >= 0))
        return fail("decide", "exploration is " + std::to_string(frame.exploration) +
                                  " and learning_budget_us " +
                                  std::to_string(frame.learning_budget_us) +
                                  ", expected a finite number and at least 0 microseconds");
    if (!frame.is_threaded) return decide_and_learn(frame, error_);
    worker_.start([this, frame] { decide_and_learn(frame, frame_error_); });
    return true;
}

/// A frame with decisions; without a limit of the budget, and frames without until nothing is left
/// to learn.
bool Agents::decide_and_learn(const Frame& settings, std::string& error) {
    constexpr double kMostUs = 1e9;  // of hearth_agents_record
    Frame limited = settings;
    limited.learning_budget_us = std::min(settings.learning_budget_us, kMostUs);
    if (!record_frame(limited, true, error)) return false;
    if (!std::isinf(settings.learning_budget_us)) return true;
    const auto is_learning = [&] {
        hearth_agents_status status = hearth_agents_status_default();
        hearth_agents_get_status(agents_, &status);
        return status.frozen == 0 &&
               (status.phase == HEARTH_AGENTS_UPDATE || status.owed_gradient_steps > 0);
    };
    constexpr int kMostFrames = 10000;
    for (int i = 0; i < kMostFrames && is_learning(); ++i) {
        hearth_agents_finish_update(agents_);
        if (!record_frame(limited, false, error)) return false;
    }
    return true;
}

bool Agents::wait() {
    worker_.wait();
    error_ = std::move(frame_error_);
    frame_error_.clear();
    return error_.empty();
}

bool Agents::record_frame(const Frame& settings, bool is_deciding, std::string& error) {
    const std::unique_lock lock(*host_);
    const bool is_recorded = frame(
        error, "decide",
        [&](VkCommandBuffer commands) {
            hearth_agents_record_info info = hearth_agents_record_info_default();
            info.command_buffer = commands;
            info.exploration = static_cast<float>(settings.exploration);
            info.learning_budget_us = settings.learning_budget_us;
            info.request_decision = is_deciding ? 1 : 0;
            return hearth_agents_record(agents_, &info);
        },
        [&] { return hearth_agents_error(agents_); });
    if (is_recorded) hearth_agents_poll(agents_);
    return is_recorded;
}

Floats Agents::action(int64_t agent) {
    if (!wait() || !check_open("action")) return {};
    if (hearth_agents_observation(agents_, agent_of(agent)) == nullptr)
        return fail("action", kNoAgent), Floats{};
    const float* const newest = hearth_agents_action(agents_, agent_of(agent));
    if (newest == nullptr)
        return fail("action", "the agent has not decided; call decide() after add()"), Floats{};
    return Floats(newest, newest + hearth_agents_action_size(agents_));
}

Floats Agents::action_field(int64_t agent, const std::string& name) {
    const Floats values = action(agent);
    uint32_t offset = 0, size = 0;
    if (values.empty() ||
        !check(hearth_agents_find_action(agents_, name.c_str(), &offset, &size), "action_field"))
        return {};
    return Floats(values.begin() + offset, values.begin() + offset + size);
}

void Agents::freeze(bool is_frozen) {
    if (wait() && is_open()) hearth_agents_freeze(agents_, is_frozen ? 1 : 0);
}

std::vector<std::pair<std::string, double>> Agents::status() {
    std::vector<std::pair<std::string, double>> values;
    hearth_agents_status status = hearth_agents_status_default();
    if (!wait() || !check_open("status") ||
        !check(hearth_agents_get_status(agents_, &status), "status"))
        return values;
    for (uint32_t i = 0; i < HEARTH_AGENTS_METRICS; ++i)
        values.emplace_back(hearth_agents_metric_name(i), double{status.metrics[i]});
    for (uint32_t i = 0; i < HEARTH_AGENTS_COUNTERS; ++i)
        values.emplace_back(hearth_agents_counter_name(i), static_cast<double>(status.counters[i]));
    values.emplace_back("decisions", static_cast<double>(status.decisions));
    values.emplace_back("rollouts", static_cast<double>(status.rollouts));
    values.emplace_back("rollbacks", static_cast<double>(status.rollbacks));
    values.emplace_back("is_plateaued", status.is_plateaued != 0 ? 1.0 : 0.0);
    return values;
}

// --- Brains --------------------------------------------------------------------------------------

/// Records frames without decisions until has_arrived().
/// finish_update  finishes the update in progress; otherwise only what is partially recorded
bool Agents::run_without_decisions(const char* call, bool finish_update,
                                   const std::function<bool()>& has_arrived) {
    constexpr int kMostFrames = 1000;
    constexpr int kFramesOfReadback = 2;
    for (int i = 0; i < kMostFrames; ++i) {
        if (has_arrived()) return true;
        if (finish_update) hearth_agents_finish_update(agents_);
        // Learning in frames that the game does not have would change what it goes on from.
        const bool is_learning = finish_update || i >= kFramesOfReadback;
        if (!record_frame({0, is_learning ? 500.0 : 0.0, false}, false, error_)) return false;
    }
    return fail(call, "nothing has arrived in 1,000 frames");
}

Bytes Agents::save() {
    Bytes brain;
    if (!wait() || !check_open("save")) return brain;
    const auto taken = [&] {
        hearth_agents_status status = hearth_agents_status_default();
        hearth_agents_get_status(agents_, &status);
        return status.snapshots_taken;
    };
    const uint64_t before = taken();
    if (!check(hearth_agents_take_snapshot(agents_), "save") ||
        !run_without_decisions("save", true, [&] { return taken() != before; }))
        return brain;
    uint64_t size = 0;
    if (!check(hearth_agents_save(agents_, 0, nullptr, &size), "save")) return brain;
    brain.resize(size);
    if (!check(hearth_agents_save(agents_, 0, brain.data(), &size), "save")) size = 0;
    brain.resize(size);
    return brain;
}

Bytes Agents::save_game() {
    Bytes game;
    if (!wait() || !check_open("save_game") ||
        !check(hearth_agents_save_game(agents_), "save_game"))
        return game;
    uint64_t size = 0;
    hearth_result result = HEARTH_NOT_READY;
    const auto has_arrived = [&] {
        result = hearth_agents_get_saved_game(agents_, nullptr, &size);
        return result != HEARTH_NOT_READY;
    };
    if (!run_without_decisions("save_game", false, has_arrived) || !check(result, "save_game"))
        return game;
    game.resize(size);
    if (!check(hearth_agents_get_saved_game(agents_, game.data(), &size), "save_game")) size = 0;
    game.resize(size);
    return game;
}

bool Agents::load(const Bytes& brain) {
    if (!wait() || !check_open("load")) return false;
    if (brain.empty()) return fail("load", "the brain is empty; pass what save() returned");
    const std::vector<uint64_t> words = aligned(brain);
    hearth_messages messages{};
    if (hearth_agents_load(agents_, words.data(), brain.size(), &messages) != HEARTH_OK)
        return fail("load", messages.text);
    // Loaded by a frame that does nothing else, a saved game goes on to the bit.
    return record_frame({0, 0, false}, false, error_);
}

bool Agents::reset() {
    if (!wait() || !check_open("reset")) return false;
    hearth_agents_reset_brain(agents_);
    return true;
}

}  // namespace hearth_godot
