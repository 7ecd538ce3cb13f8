/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Agents that learn while the game runs: a C interface over hearth.h for adding agents, passing
 * observations and rewards, and reading actions.  All agents of a brain act in one recording;
 * learning is recorded alongside, within a budget of GPU time.
 *
 *     each frame    hearth_begin_frame(context, frame_number, completed_frame_number);
 *                   hearth_agents_poll(agents);                     takes over the newest actions
 *                   ... read hearth_agents_action(), fill hearth_agents_observation() ...
 *                   hearth_agents_record(agents, &info);            acts, learns, reads back
 *                   submit
 *
 * Conventions, results and thread rules are those of hearth.h.  All calls on one hearth_agents
 * are externally synchronized with each other, with its session and with hearth_begin_frame; debug
 * builds refuse those that overlap, with HEARTH_ERROR_INVALID_STATE.
 * Per-frame calls allocate nothing, wait for nothing and submit nothing. */

#ifndef HEARTH_AGENTS_H_
#define HEARTH_AGENTS_H_

#include <hearth/hearth.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_agents hearth_agents;

/* Handle of an agent.  Handles of removed agents are stale, which calls detect. */
typedef struct hearth_agent {
    uint32_t index;
    uint32_t generation; /* never 0 */
} hearth_agent;

/* Parameters of hearth_agents_create. */
typedef struct hearth_agents_create_info {
    hearth_struct_type type;
    uint32_t size;
    const hearth_program* program; /* has the entry frame and the others of its learner */
    const void* manifest;          /* AgentManifest::save(); NULL: that of the program's package */
    uint64_t manifest_bytes;
    const char* name;          /* optional; for debug labels and messages; copied */
    uint32_t frames_in_flight; /* maximum frames recorded and not yet completed; at least 1 */
    /* Non-zero: learning is recorded into its own command buffers
     * (hearth_agents_record_info::learning_command_buffer), for a second queue.  Allocates a second
     * session.  HEARTH_ERROR_UNSUPPORTED for learners with a replay buffer, which get new
     * samples every frame. */
    uint32_t use_separate_learning_queue;
    /* Optional: AgentSpec::save() of the schema that the game was built for.  If the manifest's
     * schema differs, creation fails with HEARTH_ERROR_INCOMPATIBLE and the messages name the
     * differing field. */
    const void* schema;
    uint64_t schema_bytes;
    /* Number of newest snapshots to keep, besides the initial weights; each takes the size of a
     * brain.  0: none, and hearth_agents_take_snapshot and _save are unsupported. */
    uint32_t max_snapshots;
    uint32_t snapshot_interval; /* records between automatic snapshots; 0: none */
    /* Decisions per window over which `is_plateaued` and `reward_shift_detected` average the score;
     * 0: not computed. */
    uint32_t progress_window;
    uint32_t learning_queue_family; /* HEARTH_QUEUE_FAMILY_SAME: that of the context */
    /* Maximum bytes of CPU memory for the agents' buffers and snapshots; 0: 64 MiB and 16 times the
     * bytes of the program's weights, so that a small file cannot take a lot of memory. */
    uint64_t max_host_bytes;
    /* Non-zero: hearth_agents_save_game works.  Allocates CPU memory and readback memory for a copy
     * of all variables, replay buffers included.  HEARTH_ERROR_UNSUPPORTED with
     * use_separate_learning_queue. */
    uint32_t enable_saved_games;
    uint32_t reserved;
    /* Optional: parameters of episodes and their lessons as JSON (docs/reference/curriculum.md), not
     * terminated; copied.  An invalid one is HEARTH_ERROR_INVALID_ARGUMENT and names its line. */
    const char* curriculum;
    uint64_t curriculum_bytes;
} hearth_agents_create_info;

/* Creates agents and allocates everything that they will ever use, including a session.
 * `messages`, optional, describes what is wrong.
 * Errors: HEARTH_ERROR_NOT_FOUND if neither `info` nor the package has a manifest;
 * HEARTH_ERROR_CORRUPT_DATA for an invalid manifest; HEARTH_ERROR_INCOMPATIBLE for a manifest of
 * another program or schema, naming the difference; HEARTH_ERROR_BUDGET_EXCEEDED for more memory
 * than max_host_bytes; HEARTH_ERROR_NON_FINITE for initial values that are NaN or infinite, and
 * params of 2^60 or more; HEARTH_ERROR_OUT_OF_HOST_MEMORY; those of hearth_session_create. */
HEARTH_API hearth_result hearth_agents_create(hearth_context* context,
                                              const hearth_agents_create_info* info,
                                              hearth_agents** out, hearth_messages* messages);
/* May be called at any time, as hearth_session_destroy.  NULL is allowed. */
HEARTH_API void hearth_agents_destroy(hearth_agents* agents);

/* The last error of a call on these agents; "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_agents_error(const hearth_agents* agents);

/* The session of the agents, for creating its pipelines (hearth_session_create_pipelines), saving
 * and loading brains, and inspecting variables.  The state last.action [n_agents, action size]
 * holds the newest actions on the GPU, indexed by hearth_agent::index.  Only hearth_agents_record
 * may record the session's entries. */
HEARTH_API hearth_session* hearth_agents_get_session(hearth_agents* agents);

/* --- Adding and removing agents --- */

/* Adds an agent.  HEARTH_ERROR_OUT_OF_RANGE if the learner's maximum number of agents is
 * reached; an agent removed since the last record does not count. */
HEARTH_API hearth_result hearth_agents_add(hearth_agents* agents, hearth_agent* out);
/* Removes an agent.  The next record stores its last decision; if hearth_agents_end_episode was not
 * called, its episode counts as truncated here. */
HEARTH_API hearth_result hearth_agents_remove(hearth_agents* agents, hearth_agent agent);
/* Returns the number of live agents, and the maximum number. */
HEARTH_API uint32_t hearth_agents_count(const hearth_agents* agents);
HEARTH_API uint32_t hearth_agents_capacity(const hearth_agents* agents);

/* --- Observations and rewards --- */

/* Returns the offset and size, in floats, of a field in an observation, by path such as
 * "enemies/place".
 * HEARTH_ERROR_NOT_FOUND: no such field; hearth_agents_error lists the existing ones. */
HEARTH_API hearth_result hearth_agents_find_observation(hearth_agents* agents, const char* path,
                                                        uint32_t* offset, uint32_t* size);
/* As hearth_agents_find_observation, for an action by name. */
HEARTH_API hearth_result hearth_agents_find_action(hearth_agents* agents, const char* name,
                                                   uint32_t* offset, uint32_t* size);
/* Floats of a single observation (without frame stacking), of an action, and of an action mask. */
HEARTH_API uint32_t hearth_agents_observation_size(const hearth_agents* agents);
HEARTH_API uint32_t hearth_agents_action_size(const hearth_agents* agents);
HEARTH_API uint32_t hearth_agents_action_mask_size(const hearth_agents* agents);
/* Share of the samples, since the brain was loaded or reset, in which a float of the observation was
 * at a limit, from 0 to 1.  *clamped: the network saw the limit in its place.  *unresolved: its
 * changes are too small beside its offset for an f32, which the game should subtract.  A share that
 * is not small hides from the agents what they should see.
 * HEARTH_ERROR_OUT_OF_RANGE: no such float.  As of the last poll. */
HEARTH_API hearth_result hearth_agents_observation_limits(const hearth_agents* agents,
                                                          uint32_t index, float* clamped,
                                                          float* unresolved);
/* Smallest and largest finite value of a float of the observations that agents decided by, and the
 * number of values that were not finite, since creation.  A float that never changes shows agents
 * nothing.  *low > *high: there were no values, or they came from the game's own buffers.
 * HEARTH_ERROR_OUT_OF_RANGE: no such float. */
HEARTH_API hearth_result hearth_agents_observation_range(const hearth_agents* agents,
                                                         uint32_t index, float* low, float* high,
                                                         uint64_t* non_finite_count);
/* Name of a single float, such as "enemies[2]/place.x"; "" if the index is out of range.  Valid
 * until the next call of either function. */
HEARTH_API const char* hearth_agents_observation_name(const hearth_agents* agents, uint32_t index);
HEARTH_API const char* hearth_agents_action_name(const hearth_agents* agents, uint32_t index);
/* Hash of the schema: equal for equal schemas on every platform. */
HEARTH_API uint64_t hearth_agents_schema_hash(const hearth_agents* agents);

/* Kinds of fields, for drawing: those of ObservationSpec (hearth/agents/schema.hpp) and of actions. */
typedef enum hearth_agents_field_kind {
    HEARTH_AGENTS_FIELD_BOX = 0,         /* continuous values: distances along rays, a speed */
    HEARTH_AGENTS_FIELD_DISCRETE = 1,    /* the index of one of `options` */
    HEARTH_AGENTS_FIELD_POSITION = 2,    /* coordinates */
    HEARTH_AGENTS_FIELD_UNIT_VECTOR = 3, /* a direction */
    HEARTH_AGENTS_FIELD_ANGLE = 4,       /* radians */
    HEARTH_AGENTS_FIELD_QUATERNION = 5,  /* x, y, z, w */
    HEARTH_AGENTS_FIELD_DISCRETE_ACTION = 6,
    HEARTH_AGENTS_FIELD_CONTINUOUS_ACTION = 7,
    HEARTH_AGENTS_FIELD_KIND_FORCE_32_BITS = 0x7fffffff
} hearth_agents_field_kind;

#define HEARTH_AGENTS_MAX_FIELD_NAME 256
#define HEARTH_AGENTS_NO_FLOAT 0xffffffffu

/* A field of the observation, or an action.  Fields of an array or of entities exist `copies` times:
 * the i-th at the float offset + i * stride. */
typedef struct hearth_agents_field {
    char name[HEARTH_AGENTS_MAX_FIELD_NAME]; /* path, such as "enemies/place"; cut if longer */
    hearth_agents_field_kind kind;
    uint32_t offset;       /* in the observation, or in the action */
    uint32_t size;         /* floats of one copy */
    uint32_t options;      /* of a discrete field or action; otherwise 0 */
    uint32_t copies;       /* at least 1 */
    uint32_t stride;       /* floats between two copies */
    uint32_t count_offset; /* float with the number of entities there; or HEARTH_AGENTS_NO_FLOAT */
    uint32_t mask_offset;  /* first float of the action in the mask; or HEARTH_AGENTS_NO_FLOAT */
    float low, high;       /* range of a box and a continuous action, scale of a position */
} hearth_agents_field;

/* The fields that agents see and the actions that they choose, in order, to draw over the game's
 * picture (engine_bridge/imgui).  Of lists within an array or entities, each element is a field of
 * its own.  HEARTH_ERROR_OUT_OF_RANGE: no such field. */
HEARTH_API uint32_t hearth_agents_field_count(const hearth_agents* agents);
HEARTH_API hearth_result hearth_agents_get_field(const hearth_agents* agents, uint32_t index,
                                                 hearth_agents_field* out);

/* Returns the agent's observation buffer, to be filled before record; contents persist from
 * frame to frame.  NULL for a stale agent.  Valid until the agent is removed. */
HEARTH_API float* hearth_agents_observation(hearth_agents* agents, hearth_agent agent);
/* Returns the agent's action mask: a float for each option of each maskable discrete action, in
 * order; 1: available, 0: not.  Initially all ones.  NULL also if no action is maskable. */
HEARTH_API float* hearth_agents_action_mask(hearth_agents* agents, hearth_agent agent);

/* Adds to the reward (or human feedback) of the agent's last decision.  Non-finite amounts and sums
 * are rejected with HEARTH_ERROR_INVALID_ARGUMENT and counted in
 * hearth_agents_status::rewards_rejected.  Rewards between the end of an episode and the next
 * decision belong to no decision: they are dropped and counted in rewards_after_end. */
HEARTH_API hearth_result hearth_agents_add_reward(hearth_agents* agents, hearth_agent agent,
                                                  float amount);

/* Reason for the end of an episode. */
typedef enum hearth_agents_episode_end {
    HEARTH_AGENTS_TERMINATED = 1, /* the episode ended in a terminal state */
    HEARTH_AGENTS_TRUNCATED = 2,  /* ended early, e.g. by a time limit: values bootstrap */
    HEARTH_AGENTS_EPISODE_END_FORCE_32_BITS = 0x7fffffff
} hearth_agents_episode_end;
/* Ends the agent's episode with its last decision; later observations belong to the next
 * episode.
 * final_observation  the last observation of the episode, used if it was truncated; NULL: the
 *                    observation as it is now
 * final_action_mask  the action mask that belongs to it; NULL: the mask as it is now
 * Of several ends before the next decision the first one counts; the others are counted in
 * hearth_agents_status::repeated_ends. */
HEARTH_API hearth_result hearth_agents_end_episode(hearth_agents* agents, hearth_agent agent,
                                                   hearth_agents_episode_end episode_end,
                                                   const float* final_observation,
                                                   const float* final_action_mask);

/* Adds to the game's own score of progress, used only for `is_plateaued` and
 * `reward_shift_detected`: summed over all agents since the last decision.  Once this has been
 * called, scores are monitored instead of rewards. */
HEARTH_API hearth_result hearth_agents_report_score(hearth_agents* agents, float amount);

/* For behavior cloning, and PPO with demonstrations: adds the action that a person took in the
 * agent's current state, in the game's units.  The next record stores it, or, if that record
 * splits a learning step, a record after the step is finished; only the newest per agent is
 * kept.  With PPO the agent's own last decision is then not stored as a sample, because it was
 * not executed.  HEARTH_ERROR_UNSUPPORTED for other learners. */
HEARTH_API hearth_result hearth_agents_add_demonstration(hearth_agents* agents, hearth_agent agent,
                                                         const float* action);
/* As hearth_agents_add_demonstration, for one of several demonstrators, numbered from 1 (to 2^24):
 * none gets more than the fraction BehaviorCloning::max_demonstrator_fraction of a batch.  0 is the
 * game itself, without a limit.  HEARTH_ERROR_UNSUPPORTED if the learner was made without
 * max_demonstrator_fraction. */
HEARTH_API hearth_result hearth_agents_add_demonstration_from(hearth_agents* agents,
                                                              hearth_agent agent,
                                                              const float* action,
                                                              uint32_t demonstrator);

/* --- Actions --- */

/* Takes over actions and status that have arrived from the GPU.  Call it after
 * hearth_begin_frame. */
HEARTH_API void hearth_agents_poll(hearth_agents* agents);
/* The newest action that has arrived, in the game's units; NULL if there is none yet, and for a
 * stale agent.  Valid until the next poll. */
HEARTH_API const float* hearth_agents_action(const hearth_agents* agents, hearth_agent agent);

/* The critic's value of the observation that the agent's newest action was chosen for: the discounted
 * return that it expects, of rewards as the learner scales them.
 * HEARTH_ERROR_UNSUPPORTED: the learner computes none (Ppo::report_values); HEARTH_ERROR_NOT_FOUND:
 * no action of this agent has arrived yet. */
HEARTH_API hearth_result hearth_agents_get_value(const hearth_agents* agents, hearth_agent agent,
                                                 float* value);

/* --- Recording a frame --- */

/* hearth_agents_record_info::max_decision_frames: best effort, whenever learning_budget_us leaves
 * time for it. */
#define HEARTH_AGENTS_BEST_EFFORT 0u

/* Priority of learning relative to the game's own GPU work: scales the duration of learning
 * slices relative to learning_budget_us, and sets their hearth_record_info::occupancy_priority
 * (balanced: as the application's command buffer has it; graphics: low; learning: high). */
typedef enum hearth_agents_priority {
    HEARTH_AGENTS_PRIORITY_BALANCED = 0,
    HEARTH_AGENTS_PRIORITY_GRAPHICS = 1, /* half of learning_budget_us */
    HEARTH_AGENTS_PRIORITY_LEARNING = 2, /* twice learning_budget_us */
    HEARTH_AGENTS_PRIORITY_FORCE_32_BITS = 0x7fffffff
} hearth_agents_priority;

/* Parameters of hearth_agents_record. */
typedef struct hearth_agents_record_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer; /* as hearth_record */
    /* PPO, SAC and behavior cloning: above 0.5 samples actions, otherwise takes the mode.
     * DQN and TAMER: the fraction of random actions (epsilon). */
    float exploration;
    uint32_t request_decision; /* non-zero: agents decide in this frame; 0: only learn */
    /* GPU microseconds for learning in this frame, by measured cost; 0: none. */
    double learning_budget_us;
    hearth_agents_priority priority;
    uint32_t reserved;
    /* Maximum number of frames that a decision may be spread over, split at barriers: 1: this
     * frame; N: finished in the Nth frame at the latest; HEARTH_AGENTS_BEST_EFFORT: best effort.
     * It uses the observations of the frame in which its first part is recorded, until which a
     * request for best effort waits; the next decision starts after it has finished. */
    uint32_t max_decision_frames;
    /* Inputs of the entry frame that come from the game's own buffers
     * (hearth_agents_find_input): batch item r belongs to the r-th live agent, by index.
     * Requirements as for hearth_record; contents must not change until the decision is
     * finished. */
    uint32_t input_count;
    const hearth_tensor_binding* inputs;
    /* Optional: the GPU determines how many agents decide, as in
     * hearth_record_info::indirect_batch_buffer, and the input `id` which ones; at most the number
     * of live agents.  All batched inputs must then be buffers. */
    const hearth_tensor_binding* indirect_agent_count_buffer;
    /* With use_separate_learning_queue: command buffer for learning; if NULL, nothing is learned in
     * this frame.  Submit it to the learning queue, in order; it needs no semaphore with the other
     * queue, and may run before, after or concurrently with it.  A frame is complete when both of
     * its command buffers are.  Both must be submitted: with use_separate_learning_queue
     * hearth_discard_frame is not supported. */
    VkCommandBuffer learning_command_buffer;
} hearth_agents_record_info;

/* Returns the binding of an input of the entry frame, for hearth_agents_record_info::inputs:
 * "observation", "reward", "done_kind" (hearth_agents_episode_end; 0: the episode continues),
 * "episode_start" (1: the agent's first decision), "id" (u32), "mask", "final_observation",
 * "final_mask".
 * HEARTH_ERROR_NOT_FOUND: no such input; hearth_agents_error lists the existing ones. */
HEARTH_API hearth_result hearth_agents_find_input(hearth_agents* agents, const char* name,
                                                  uint32_t* binding);

/* Records one frame of all agents: stores the outcome of their last decisions, decides, and
 * learns as far as the budget allows.  Learning continues in a later frame where it stopped, at
 * a barrier or within a dispatch that exceeds the budget; the resulting weights do not depend on
 * where it stopped.  With use_separate_learning_queue each rollout is copied to the learning
 * queue's session and the learned weights are copied back, between two decisions, by commands in
 * command_buffer, frames_in_flight frames after the work that they depend on; loading, restoring
 * and resetting wait for that too.
 * Without agents nothing is decided, and learning goes on.  A minibatch that the budget would not
 * finish within 600 frames is given more time, which counts in update_frames_over_budget.
 * HEARTH_NOT_READY: pipelines are still being built; nothing was recorded, nothing is lost.
 * HEARTH_ERROR_INVALID_STATE: recorded already in this frame. */
HEARTH_API hearth_result hearth_agents_record(hearth_agents* agents,
                                              const hearth_agents_record_info* info);

/* Sets a tunable hyperparameter of the learner for everything recorded from now on.
 * HEARTH_ERROR_NOT_FOUND: no such name; hearth_agents_error lists the existing ones. */
HEARTH_API hearth_result hearth_agents_set_hyperparameter(hearth_agents* agents, const char* name,
                                                          double value);
/* Shrink and perturb, for when the rules of the game change: 0 only resets the optimizer, 1
 * starts with new random weights (see `shrink_and_perturb` in hearth/agents/learners.hpp).
 * Recorded by the next record, once no update is in progress. */
HEARTH_API hearth_result hearth_agents_shrink_and_perturb(hearth_agents* agents, double strength);
/* Finishes the update in progress regardless of learning_budget_us, by up to eight minibatches per
 * record, for loading screens.  No effect if no update is in progress. */
HEARTH_API void hearth_agents_finish_update(hearth_agents* agents);

/* --- Brains and snapshots ---
 *
 * Agents act with a published copy of the weights that are being learned.  It is updated by one
 * recorded copy between two decisions, if the GPU finds all weights finite (and within
 * SafetyLimits::max_weight_drift).  If some are not finite, or 32 steps in a row were not taken, the
 * newest snapshot is restored, which is counted in hearth_agents_status::rollbacks; if that happens
 * again before a step is taken, the snapshot before it, and at last the initial weights.
 *
 * A snapshot is a brain (hearth.h); index 0 is the newest.  It is taken immediately after a
 * publication, every snapshot_interval records, and kept once it has arrived and is finite.
 * Restoring, loading and resetting are done by the next record, before everything else; each
 * agent then starts a new episode, and samples that brains do not contain are lost. */

/* Snapshot index of the program's initial values. */
#define HEARTH_AGENTS_INITIAL_WEIGHTS 0xffffffffu

/* Requests a snapshot, taken as soon as no entry is partially recorded.
 * HEARTH_ERROR_UNSUPPORTED if max_snapshots is 0. */
HEARTH_API hearth_result hearth_agents_take_snapshot(hearth_agents* agents);
/* Number of snapshots that have arrived and are kept. */
HEARTH_API uint32_t hearth_agents_snapshot_count(const hearth_agents* agents);
/* Restores a snapshot of these agents, or loads one of other agents of the same program, for
 * example for opponents that act with past snapshots of the learning agents.  `from` is not
 * changed.  HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_INCOMPATIBLE. */
HEARTH_API hearth_result hearth_agents_restore_snapshot(hearth_agents* agents, uint32_t snapshot);
HEARTH_API hearth_result hearth_agents_load_snapshot(hearth_agents* agents,
                                                     const hearth_agents* from, uint32_t snapshot);
/* Resets the brain to its initial values and erases all snapshots. */
HEARTH_API void hearth_agents_reset_brain(hearth_agents* agents);
/* Non-zero: stops learning, publishing, snapshots and (for networks without recurrent state)
 * storing samples, until it is called with zero.  Agents keep acting. */
HEARTH_API void hearth_agents_freeze(hearth_agents* agents, uint32_t frozen);

/* Copies a snapshot, for saving to a file.  *byte_count is the capacity of `out` on entry and
 * the size on return; if `out` is NULL it is set to a sufficient capacity.
 * Until the first snapshot has arrived, 0 is the brain that was loaded last or, without one, the
 * initial weights, which allocates memory; take a snapshot to save what was learned since.
 * snapshot: or HEARTH_AGENTS_INITIAL_WEIGHTS.  Errors: NOT_FOUND, OUT_OF_RANGE, OUT_OF_HOST_MEMORY. */
HEARTH_API hearth_result hearth_agents_save(const hearth_agents* agents, uint32_t snapshot,
                                            void* out, uint64_t* byte_count);
/* As hearth_agents_save, but only what acting needs: the acting weights and the statistics of
 * observations and rewards.  Whoever loads it learns on from these weights with a new optimizer and
 * an empty rollout. */
HEARTH_API hearth_result hearth_agents_save_weights(const hearth_agents* agents, uint32_t snapshot,
                                                    void* out, uint64_t* byte_count);

/* Requests a saved game, recorded as soon as no entry is partially recorded: a brain that also holds
 * replay buffers, the agents with their handles, and what was reported since their last decisions.
 * After it is loaded (by a record that does nothing else), everything goes on to the bit as it
 * would have, if the application reports the same.
 * HEARTH_ERROR_UNSUPPORTED without enable_saved_games. */
HEARTH_API hearth_result hearth_agents_save_game(hearth_agents* agents);
/* Copies the saved game, as hearth_agents_save; for hearth_agents_load.
 * HEARTH_NOT_READY: it has not arrived yet.  HEARTH_ERROR_NOT_FOUND: none was requested. */
HEARTH_API hearth_result hearth_agents_get_saved_game(const hearth_agents* agents, void* out,
                                                      uint64_t* byte_count);

/* Validates a brain (8-byte aligned), which the next record loads.  For a brain of another
 * schema it returns HEARTH_ERROR_INCOMPATIBLE and `messages`, optional, names the field.  Allocates
 * memory.  If one of the four decisions after loading has actions that are not finite (they never
 * reach the game), the brain is rolled back, which is counted in
 * hearth_agents_status::brains_rejected.
 * Errors: as hearth_brain_check with HEARTH_BRAIN_LIMIT_PARAMS. */
HEARTH_API hearth_result hearth_agents_load(hearth_agents* agents, const void* bytes,
                                            uint64_t byte_count, hearth_messages* messages);

/* --- Status --- */

/* Phase of a learner with rollouts: collecting samples, or updating weights from a full rollout. */
typedef enum hearth_agents_phase {
    HEARTH_AGENTS_ROLLOUT = 0,
    HEARTH_AGENTS_UPDATE = 1,
    HEARTH_AGENTS_PHASE_FORCE_32_BITS = 0x7fffffff
} hearth_agents_phase;

/* Values of the last recording that computed them; zero for those that the learner does not
 * have.  While agents are frozen, EPISODE_RETURN and EPISODE_LENGTH average the episodes that ended
 * since then, of the rewards of hearth_agents_add_reward.  Defined in hearth/agents/status.hpp. */
typedef enum hearth_agents_metric {
    HEARTH_AGENTS_LOSS = 0,
    HEARTH_AGENTS_POLICY_LOSS = 1,
    HEARTH_AGENTS_VALUE_LOSS = 2,
    HEARTH_AGENTS_ENTROPY = 3,
    HEARTH_AGENTS_KL = 4,
    HEARTH_AGENTS_CLIP_FRACTION = 5,
    HEARTH_AGENTS_EXPLAINED_VARIANCE = 6,
    HEARTH_AGENTS_GRADIENT_NORM = 7,
    HEARTH_AGENTS_UPDATE_TO_WEIGHT_RATIO = 8,
    HEARTH_AGENTS_EPISODE_RETURN = 9,
    HEARTH_AGENTS_EPISODE_LENGTH = 10,
    HEARTH_AGENTS_ENT_COEF = 11,
    HEARTH_AGENTS_REFERENCE_KL = 12,
    HEARTH_AGENTS_METRIC_FORCE_32_BITS = 0x7fffffff
} hearth_agents_metric;
#define HEARTH_AGENTS_METRICS 13

/* 64-bit counters.  Defined in hearth/agents/status.hpp. */
typedef enum hearth_agents_counter {
    HEARTH_AGENTS_SAMPLES = 0,
    HEARTH_AGENTS_SAMPLES_REJECTED = 1,
    HEARTH_AGENTS_SAMPLES_DROPPED = 2,
    HEARTH_AGENTS_OBSERVATIONS_CLAMPED = 3,
    HEARTH_AGENTS_REWARDS_CLAMPED = 4,
    HEARTH_AGENTS_EPISODES = 5,
    HEARTH_AGENTS_GRADIENT_STEPS = 6,
    HEARTH_AGENTS_SKIPPED_NON_FINITE = 7,
    HEARTH_AGENTS_SKIPPED_KL = 8,
    HEARTH_AGENTS_SKIPPED_RATIO = 9,
    HEARTH_AGENTS_PUBLICATIONS = 10,
    HEARTH_AGENTS_PUBLICATIONS_REJECTED = 11,
    HEARTH_AGENTS_PUBLICATIONS_FAR = 12,
    HEARTH_AGENTS_SKIPPED_IN_A_ROW = 13,
    HEARTH_AGENTS_CHOICES_ALL_MASKED = 14,
    HEARTH_AGENTS_ACTIONS_REPLACED = 15,
    HEARTH_AGENTS_COUNTER_FORCE_32_BITS = 0x7fffffff
} hearth_agents_counter;
#define HEARTH_AGENTS_COUNTERS 16

/* Progress of the current snapshot. */
typedef enum hearth_agents_snapshot_phase {
    HEARTH_AGENTS_SNAPSHOT_NONE = 0,
    HEARTH_AGENTS_SNAPSHOT_PENDING =
        1, /* requested by hearth_agents_take_snapshot, not recorded yet */
    HEARTH_AGENTS_SNAPSHOT_IN_FLIGHT = 2, /* recorded; arrives with a later poll */
    HEARTH_AGENTS_SNAPSHOT_PHASE_FORCE_32_BITS = 0x7fffffff
} hearth_agents_snapshot_phase;

/* Status of the agents; see hearth_agents_get_status. */
typedef struct hearth_agents_status {
    hearth_struct_type type;
    uint32_t size;
    hearth_agents_phase phase;
    uint32_t agents;
    uint32_t minibatches_done; /* minibatches of the update in progress that are done */
    uint32_t minibatches;
    double minibatch_us_p95;   /* GPU time per minibatch, a high estimate; 0: not measured */
    uint64_t decisions;        /* recorded frames in which agents decided */
    uint64_t rollouts;         /* rollouts learned from, including the current one */
    uint64_t rewards_rejected; /* by hearth_agents_add_reward */
    uint64_t frame_number;     /* frame that the values below belong to */
    float metrics[HEARTH_AGENTS_METRICS];
    uint64_t counters[HEARTH_AGENTS_COUNTERS];
    double decision_us_p95; /* GPU time per decision, a high estimate; 0: not measured */
    uint32_t frozen;
    uint32_t snapshots; /* as hearth_agents_snapshot_count */
    /* Progress monitor: compares the score (or reward) per decision and agent, averaged over
     * windows of progress_window.  Informative only. */
    /* Four windows in a row below 1/4 of the first: try hearth_agents_shrink_and_perturb(agents, 1)
     * or other rewards. */
    uint32_t is_plateaued;
    /* The score dropped suddenly and stays low: try shrink and perturb with 0.6. */
    uint32_t reward_shift_detected;
    double score;                /* mean of the last window */
    double initial_score;        /* mean of the first window */
    uint64_t rollbacks;          /* see "Brains and snapshots" */
    uint64_t snapshots_rejected; /* not finite, or could not be encoded */
    uint64_t snapshots_taken;    /* arrived and kept, since creation */
    hearth_agents_snapshot_phase snapshot_phase;
    /* Bit i: the learner has the hearth_agents_metric i; the other metrics are zero. */
    uint32_t metrics_available;
    uint64_t update_frames; /* frames with learning, as far as their GPU times have arrived */
    /* Those that exceeded learning_budget_us, scaled by the priority. */
    uint64_t update_frames_over_budget;
    /* Frames with a budget since the last minibatch was finished, while an update is in progress,
     * and the predicted GPU time that the current minibatch still needs. */
    uint64_t frames_without_update;
    double update_us_left;
    /* Learners with a replay buffer and a fixed number of gradient steps per sample: steps that are
     * due and not done, and samples not stored while too many were due. */
    double owed_gradient_steps;
    uint64_t samples_paused;
    uint64_t rewards_after_end; /* dropped by hearth_agents_add_reward */
    uint64_t repeated_ends;     /* ignored by hearth_agents_end_episode */
    uint64_t brains_rejected;   /* loaded, and rolled back: see hearth_agents_load */
} hearth_agents_status;

/* Returns the status as of the last poll. */
HEARTH_API hearth_result hearth_agents_get_status(const hearth_agents* agents,
                                                  hearth_agents_status* out);
/* Names such as "kl" and "samples_rejected"; NULL if the index is out of range.  Any thread. */
HEARTH_API const char* hearth_agents_metric_name(uint32_t index);
HEARTH_API const char* hearth_agents_counter_name(uint32_t index);

/* --- Demonstration files --- */

/* A .demo file holds what people, or a program, did in a game: a header with the spec of the agents,
 * then steps of equal size.  The game opens a file with the bytes of hearth_demo_begin, appends those
 * of hearth_demo_add at each decision, and reads the whole file for the other functions; docs/
 * reference/demo_format.md describes the bytes. */

/* Contents of a file, as hearth_demo_open returns them.  Pointers are into the file's bytes. */
typedef struct hearth_demo_info {
    uint64_t schema_hash; /* hearth_agents_schema_hash */
    uint64_t step_count;
    const void* schema; /* AgentSpec::save() */
    uint64_t schema_bytes;
    uint32_t observation_size, action_mask_size, action_size; /* floats of a step */
} hearth_demo_info;

/* A step: a decision and what came of it.  Pointers are into the file's bytes. */
typedef struct hearth_demo_step {
    const float* observation;
    const float* action_mask; /* NULL if no action is maskable */
    const float* action;      /* in the game's units */
    float reward;             /* until the next step of the episode */
    uint32_t episode_end;     /* 0: the episode goes on; or a hearth_agents_episode_end */
    uint32_t demonstrator;    /* numbered from 1; 0: the game itself */
} hearth_demo_step;

/* Copies the header with which a file of these agents begins; `out` and `byte_count` as in
 * hearth_agents_save. */
HEARTH_API hearth_result hearth_demo_begin(const hearth_agents* agents, void* out,
                                           uint64_t* byte_count);
/* Copies a step with the agent's observation and mask as they are now, to be appended to a file; it
 * changes nothing of the agents, whatever their learner.
 * HEARTH_ERROR_INVALID_ARGUMENT for values that are not finite; HEARTH_ERROR_NOT_FOUND: no such
 * agent; HEARTH_ERROR_OUT_OF_RANGE for other ends and demonstrators above 2^24. */
HEARTH_API hearth_result hearth_demo_add(hearth_agents* agents, hearth_agent agent,
                                         const float* action, float reward, uint32_t episode_end,
                                         uint32_t demonstrator, void* out, uint64_t* byte_count);
/* Checks a whole file, aligned to 8 bytes.  Any thread.
 * HEARTH_ERROR_CORRUPT_DATA, which names the first step that is damaged, or the size to cut the file
 * to if it ends within a step; HEARTH_ERROR_UNSUPPORTED: another version. */
HEARTH_API hearth_result hearth_demo_open(const void* bytes, uint64_t byte_count,
                                          hearth_demo_info* out, hearth_messages* messages);
/* Returns a step of a file.  Any thread.  Errors: as hearth_demo_open, for this step alone;
 * HEARTH_ERROR_NOT_FOUND: the file has fewer steps. */
HEARTH_API hearth_result hearth_demo_get_step(const void* bytes, uint64_t byte_count, uint64_t step,
                                              hearth_demo_step* out, hearth_messages* messages);
/* Gives a step to the learner: sets the agent's observation and mask, and adds the demonstration.
 * One step for each agent and record; with BehaviorCloning an agent of its own for each step that a
 * record takes is fastest.  A demonstrator is passed on if the learner distinguishes them.
 * Errors: those of hearth_demo_get_step and hearth_agents_add_demonstration;
 * HEARTH_ERROR_INCOMPATIBLE: the file is of agents with another spec, naming the field. */
HEARTH_API hearth_result hearth_demo_replay(hearth_agents* agents, hearth_agent agent,
                                            const void* bytes, uint64_t byte_count, uint64_t step);

/* --- Metrics of the game's own --- */

#define HEARTH_AGENTS_MAX_CUSTOM_METRICS 32

/* A metric of the game's own, over the values since hearth_agents_restart_custom_metrics. */
typedef struct hearth_agents_custom_metric {
    const char* name; /* lives as long as the agents */
    double mean;      /* that of the last value if there are none */
    double last;
    uint64_t count; /* number of values */
} hearth_agents_custom_metric;

/* Adds a value to a metric of the game's own, such as "catches", for run logs and panels.
 * name: 1 to 63 bytes of UTF-8, copied.
 * HEARTH_ERROR_INVALID_ARGUMENT for other names, and values that are or whose sum is not finite;
 * HEARTH_ERROR_OUT_OF_RANGE for more than HEARTH_AGENTS_MAX_CUSTOM_METRICS names. */
HEARTH_API hearth_result hearth_agents_log(hearth_agents* agents, const char* name, double value);
HEARTH_API uint32_t hearth_agents_custom_metric_count(const hearth_agents* agents);
/* HEARTH_ERROR_OUT_OF_RANGE: no such metric. */
HEARTH_API hearth_result hearth_agents_get_custom_metric(const hearth_agents* agents,
                                                         uint32_t index,
                                                         hearth_agents_custom_metric* out);
/* Begins the next period of all metrics, after they were written to a run log. */
HEARTH_API void hearth_agents_restart_custom_metrics(hearth_agents* agents);

/* --- Parameters of episodes ---
 *
 * A curriculum (hearth_agents_create_info::curriculum) names parameters that the game reads when an
 * episode begins, such as the height of a wall, and their lessons.  A lesson ends when its measure
 * exceeds a threshold: the mean return of the last episodes ("reward"), the share of max_steps
 * decisions ("progress"), or the mean of a metric of hearth_agents_log, logged once per episode.
 * Lessons stand still while the agents are frozen, go on where they were in a saved game, and begin
 * anew with hearth_agents_reset_brain. */

/* The state of a parameter. */
typedef struct hearth_agents_lesson {
    const char* parameter;      /* lives as long as the agents, as `lesson` does */
    const char* lesson;         /* "" for a parameter without lessons */
    uint32_t index;             /* of the lesson, from 0 */
    uint32_t count;             /* of the parameter's lessons */
    uint32_t episodes;          /* measured in this lesson */
    uint32_t min_lesson_length; /* episodes before it can end */
    double signal;              /* what is compared with the threshold; 0 before the first time */
    double threshold;
} hearth_agents_lesson;

/* The value of a parameter for an episode that begins: that of its lesson, or a new draw if the
 * lesson has a sampler.  The n-th draw depends on the curriculum's seed, the parameter's name and n
 * alone.
 * HEARTH_ERROR_NOT_FOUND: no such parameter; hearth_agents_error lists the existing ones. */
HEARTH_API hearth_result hearth_agents_get_parameter(hearth_agents* agents, const char* name,
                                                     double* value);
HEARTH_API uint32_t hearth_agents_parameter_count(const hearth_agents* agents);
/* index: of a parameter, in the order of the curriculum.  HEARTH_ERROR_OUT_OF_RANGE: none. */
HEARTH_API hearth_result hearth_agents_get_lesson(const hearth_agents* agents, uint32_t index,
                                                  hearth_agents_lesson* out);

/* --- Defaults --- */

/* As those of hearth.h: inline, and exported for other languages. */
#if defined(HEARTH_EXPORT_INLINE_FUNCTIONS)
#define HEARTH_AGENTS_INLINE HEARTH_API
#else
#define HEARTH_AGENTS_INLINE static inline
#endif
/* Without casts or zeros that engines' compiler warnings reject. */
#if defined(__cplusplus)
#define HEARTH_AGENTS_STRUCT(name, tag) \
    name value = {};                    \
    value.type = tag;                   \
    value.size = uint32_t {             \
        sizeof(name)                    \
    }
#else
#define HEARTH_AGENTS_STRUCT(name, tag) \
    name value = {.type = tag};         \
    value.size = (uint32_t)sizeof(name)
#endif

HEARTH_AGENTS_INLINE hearth_agents_create_info hearth_agents_create_info_default(void) {
    HEARTH_AGENTS_STRUCT(hearth_agents_create_info, HEARTH_STRUCT_AGENTS_CREATE_INFO);
    value.frames_in_flight = 3;
    value.max_snapshots = 3;
    value.snapshot_interval = 3600; /* one minute at 60 frames per second */
    value.progress_window = 225;    /* 15 seconds at 15 decisions per second */
    value.learning_queue_family = HEARTH_QUEUE_FAMILY_SAME;
    return value;
}

HEARTH_AGENTS_INLINE hearth_agents_record_info hearth_agents_record_info_default(void) {
    HEARTH_AGENTS_STRUCT(hearth_agents_record_info, HEARTH_STRUCT_AGENTS_RECORD_INFO);
    value.exploration = 1;
    value.request_decision = 1;
    value.learning_budget_us = 500;
    value.max_decision_frames = 1;
    return value;
}

HEARTH_AGENTS_INLINE hearth_agents_status hearth_agents_status_default(void) {
    HEARTH_AGENTS_STRUCT(hearth_agents_status, HEARTH_STRUCT_AGENTS_STATUS);
    return value;
}

#undef HEARTH_AGENTS_STRUCT
#undef HEARTH_AGENTS_INLINE

#ifdef __cplusplus
}
#endif

#endif
