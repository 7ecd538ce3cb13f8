// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning on a queue of its own. Two sessions of one program: one acts and stores samples in every
// frame, the other learns. Only one queue uses the learner's session at a time. It changes owner
// once a frame has completed, so no semaphore is needed and neither queue ever waits for the other:
//
//   kActing      a rollout is full: its samples are copied to the learner, on the acting queue
//   kToLearning  that frame has not completed yet
//   kLearning    prepare, learn, publish, sliced to fit the budget, on the learning queue
//   kToActing    the frame with publish has not completed yet; afterwards the learned variables are
//                copied back, between two decisions, on the acting queue
//
// The GPU itself decides in `publish` whether the acting policy changes. If it does not, the values
// that are copied back equal the old ones.

#include "device/agents/agents.hpp"

#include <algorithm>

using namespace hearth;
using namespace hearth::agents;

std::vector<uint32_t> hearth_agents::variables_written_by(
    std::initializer_list<const Role*> roles) const {
    std::vector<uint32_t> all;
    for (const Role* role : roles) {
        if (!role->exists) continue;
        uint32_t count = 0;
        (void)hearth_program_get_mutated_variables(program, role->entry, nullptr, &count);
        std::vector<uint32_t> written(count);
        (void)hearth_program_get_mutated_variables(program, role->entry, written.data(), &count);
        all.insert(all.end(), written.begin(), written.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

hearth_result hearth_agents::set_up_apart(const hearth_agents_create_info& info,
                                          const hearth_session_create_info& create,
                                          std::string& why) {
    learner = session;
    if (info.use_separate_learning_queue == 0) return HEARTH_OK;
    if (manifest.n_steps == 0) {
        why =
            "use_separate_learning_queue: " + std::string(name_of(manifest.algorithm)) +
            " learns from the samples of each frame; expected a learner with rollouts, such as Ppo";
        return HEARTH_ERROR_UNSUPPORTED;
    }
    learn_queue_family = info.learning_queue_family;
    hearth_session_create_info second = create;
    second.readback_bytes = 0;
    second.upload_bytes = hearth_program_get_brain_size(program) + (1u << 16);
    if (const auto r = hearth_session_create(context, &second, &learner); r != HEARTH_OK) {
        learner = session;
        why = hearth_context_error(context);
        return r;
    }
    for (Role* role : {&prepare, &learn, &publish, &adapt}) role->is_learners = true;

    // Both sides write the rollout's fill position; `prepare` resets it, so it travels with the
    // samples.
    sampled_variables = variables_written_by({&frame, &store});
    for (const uint32_t index : variables_written_by({&prepare, &learn, &publish, &adapt})) {
        hearth_variable_info variable = hearth_variable_info_default();
        (void)hearth_program_get_variable(program, index, &variable);
        if (std::binary_search(sampled_variables.begin(), sampled_variables.end(), index))
            taken_variables.push_back(variable.name);
        else if (variable.kind != HEARTH_VARIABLE_NON_PERSISTENT)
            learned_variables.push_back(index);
    }
    return HEARTH_OK;
}

/// True once the frame in which the learner's session was handed over has completed.
bool hearth_agents::has_arrived() const {
    hearth_context_stats stats = hearth_context_stats_default();
    return hearth_context_get_stats(context, &stats) == HEARTH_OK &&
           stats.completed_frame_number >= turn_frame_number;
}

/// Records one half of a queue ownership transfer: the release or the acquire.
hearth_result hearth_agents::transfer(VkCommandBuffer commands, bool to_learning) {
    const uint32_t acting = HEARTH_QUEUE_FAMILY_SAME;
    const auto r =
        hearth_record_queue_transfer(learner, commands, to_learning ? acting : learn_queue_family,
                                     to_learning ? learn_queue_family : acting);
    if (r != HEARTH_OK) error.set("%s", hearth_session_error(learner));
    return r;
}

/// Releases the learner's session to the other queue, after what `commands` contain for it.
hearth_result hearth_agents::hand_over(VkCommandBuffer commands, Turn to) {
    hearth_context_stats stats = hearth_context_stats_default();
    (void)hearth_context_get_stats(context, &stats);
    const bool to_learning = to == Turn::kToLearning;
    if (const auto r = transfer(commands, to_learning); r != HEARTH_OK) return r;
    turn = to;
    turn_frame_number = stats.frame_number;
    return HEARTH_OK;
}

/// Acquires the learner's session once its hand-over has completed, and copies back what it
/// learned.
hearth_result hearth_agents::record_turn(VkCommandBuffer commands) {
    if (!is_apart()) return HEARTH_OK;
    if (turn == Turn::kToLearning && learn_commands != nullptr && has_arrived()) {
        if (const auto r = transfer(learn_commands, true); r != HEARTH_OK) return r;
        turn = Turn::kLearning;
    }
    // A sliced decision must finish with the weights that it began with.
    if (turn == Turn::kToActing && !is_deciding && has_arrived()) {
        if (const auto r = transfer(commands, false); r != HEARTH_OK) return r;
        turn = Turn::kActing;
        if (!is_learning) return publish_to_acting(commands);
    }
    return HEARTH_OK;
}

/// Copies the learned variables to the acting session, after learning or when it is abandoned for a
/// load.
hearth_result hearth_agents::publish_to_acting(VkCommandBuffer commands) {
    const auto r =
        hearth_record_copy_variables(session, learner, commands, learned_variables.data(),
                                     static_cast<uint32_t>(learned_variables.size()));
    if (r != HEARTH_OK) error.set("%s", hearth_session_error(session));
    return r;
}

/// Copies a full rollout to the learner and starts a new one.
hearth_result hearth_agents::hand_samples_over(VkCommandBuffer commands) {
    const auto count = static_cast<uint32_t>(sampled_variables.size());
    hearth_result r =
        hearth_record_copy_variables(learner, session, commands, sampled_variables.data(), count);
    if (r != HEARTH_OK) {
        error.set("%s", hearth_session_error(learner));
        return r;
    }
    for (const std::string& name : taken_variables) {
        r = hearth_record_reset_variables(session, commands, name.c_str(), nullptr);
        if (r == HEARTH_OK) continue;
        error.set("%s", hearth_session_error(session));
        return r;
    }
    needs_prepare = true;
    return hand_over(commands, Turn::kToLearning);
}

/// Returns the learner's session in its current state, because loading a brain discards the
/// learning in progress.
hearth_result hearth_agents::call_back_learner() {
    if (turn != Turn::kLearning || learn_commands == nullptr) return HEARTH_OK;
    return hand_over(learn_commands, Turn::kToActing);
}
