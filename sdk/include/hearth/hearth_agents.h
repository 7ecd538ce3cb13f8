/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Agents that learn while the game runs, as a C interface over hearth.h: who there is, what they see, how
 * they are rewarded, what they do.  All agents of a brain act in one recording; learning is recorded
 * beside it, within a budget of GPU time.
 *
 *     each frame    hearth_begin_frame(context, serial, completed);
 *                   hearth_agents_poll(agents);                     newest actions have arrived
 *                   ... play: read hearth_agents_action(), fill hearth_agents_observation(), reward ...
 *                   hearth_agents_record(agents, &info);            acts, learns, reads back
 *                   submit
 *
 * Conventions, results and threads are hearth.h's.  All calls on one hearth_agents are externally
 * synchronized, also with its session and hearth_begin_frame.  Calls of a frame allocate nothing, wait
 * for nothing and submit nothing. */

#ifndef HEARTH_AGENTS_H_
#define HEARTH_AGENTS_H_

#include <hearth/hearth.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hearth_agents hearth_agents;

/* One agent.  Stale ones, of agents that were removed, are recognized. */
typedef struct hearth_agent {
    uint32_t index;
    uint32_t generation; /* never 0 */
} hearth_agent;

/* All fields zero, but for the type and the size; engines keep their warnings about C's casts and zeros. */
#if defined(__cplusplus)
#define HEARTH_AGENTS_STRUCT_TYPE(number) static_cast<hearth_struct_type>(number)
#define HEARTH_AGENTS_STRUCT(name, tag) \
    name value = {};                    \
    value.type = tag;                   \
    value.size = uint32_t {             \
        sizeof(name)                    \
    }
#else
#define HEARTH_AGENTS_STRUCT_TYPE(number) ((hearth_struct_type)(number))
#define HEARTH_AGENTS_STRUCT(name, tag) \
    name value = {.type = tag};         \
    value.size = (uint32_t)sizeof(name)
#endif
#define HEARTH_STRUCT_AGENTS_CREATE_INFO HEARTH_AGENTS_STRUCT_TYPE(1000)
#define HEARTH_STRUCT_AGENTS_RECORD_INFO HEARTH_AGENTS_STRUCT_TYPE(1001)
#define HEARTH_STRUCT_AGENTS_STATUS HEARTH_AGENTS_STRUCT_TYPE(1002)

typedef struct hearth_agents_create_info {
    hearth_struct_type type;
    uint32_t size;
    const hearth_program* program; /* with the entry frame, and what its learner has besides */
    const void* manifest;          /* AgentManifest::save(); NULL: that of the program's package */
    uint64_t manifest_bytes;
    const char* name;          /* optional; for debug labels and messages; copied */
    uint32_t frames_in_flight; /* frames recorded and not yet completed; at least 1 */
    /* Non-zero: learning goes into command buffers of its own (hearth_agents_record_info::learn_command_buffer), for
     * a queue beside the one on which agents act.  Takes a second session's memory.  HEARTH_ERROR_UNSUPPORTED
     * for learners without windows: those have new samples in each frame. */
    uint32_t learns_apart;
    /* Optional: AgentSchema::save() of the schema that the game was written for.  Another one in the manifest
     * is HEARTH_ERROR_MISMATCH, and the report names the field that differs. */
    const void* schema;
    uint64_t schema_bytes;
    /* How many of the newest snapshots are kept, besides the factory's; each takes the bytes of a brain.  0: none,
     * and then hearth_agents_keep and _save are unsupported. */
    uint32_t snapshot_count;
    uint32_t
        snapshot_period; /* records between snapshots that are taken by themselves; 0: none are */
    /* Decisions over which "stuck" and "rules changed" average what the game scores; 0: no such watch. */
    uint32_t watched_decisions;
    uint32_t learn_queue_family; /* of that queue; HEARTH_QUEUE_FAMILY_SAME: that of the context */
} hearth_agents_create_info;

static inline hearth_agents_create_info hearth_agents_create_info_default(void) {
    HEARTH_AGENTS_STRUCT(hearth_agents_create_info, HEARTH_STRUCT_AGENTS_CREATE_INFO);
    value.frames_in_flight = 3;
    value.snapshot_count = 3;
    value.snapshot_period = 3600;  /* a minute of 60 frames a second */
    value.watched_decisions = 225; /* 15 seconds of 15 decisions a second */
    value.learn_queue_family = HEARTH_QUEUE_FAMILY_SAME;
    return value;
}

/* Allocates all that it will ever use, a session included.  `report`, optional, tells what is wrong.
 * Errors: HEARTH_ERROR_NOT_FOUND without a manifest, here and in the package; HEARTH_ERROR_CORRUPT_DATA for
 * one that is none; HEARTH_ERROR_MISMATCH for one of another program or schema, naming what differs; those
 * of hearth_session_create. */
HEARTH_API hearth_result hearth_agents_create(hearth_context* context,
                                              const hearth_agents_create_info* info,
                                              hearth_agents** out, hearth_report* report);
/* Callable at any time, as hearth_session_destroy.  NULL is allowed. */
HEARTH_API void hearth_agents_destroy(hearth_agents* agents);

/* The last failure of a call on these agents, "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_agents_error(const hearth_agents* agents);

/* To build its pipelines (hearth_session_build), to save and load brains, to look at slots: the state
 * last.action [agents, action width] holds the newest actions on the GPU, by hearth_agent::index.  Its
 * entries are recorded by hearth_agents_record alone. */
HEARTH_API hearth_session* hearth_agents_get_session(hearth_agents* agents);

/* --- Who --- */

/* HEARTH_ERROR_OUT_OF_RANGE: there are as many as the learner was made for. */
HEARTH_API hearth_result hearth_agents_add(hearth_agents* agents, hearth_agent* out);
/* Its last decision is stored by the next record; if nobody called hearth_agents_end, as cut off here. */
HEARTH_API hearth_result hearth_agents_remove(hearth_agents* agents, hearth_agent agent);
HEARTH_API uint32_t hearth_agents_count(const hearth_agents* agents);

/* --- What they see, and what comes of it --- */

/* Where a field begins in an observation, by its path ("enemies/place"), and its floats.
 * HEARTH_ERROR_NOT_FOUND; hearth_agents_error tells which there are. */
HEARTH_API hearth_result hearth_agents_find_field(hearth_agents* agents, const char* path,
                                                  uint32_t* begin, uint32_t* width);
HEARTH_API hearth_result hearth_agents_find_action(hearth_agents* agents, const char* name,
                                                   uint32_t* begin, uint32_t* width);
HEARTH_API uint32_t hearth_agents_observation_width(const hearth_agents* agents);
HEARTH_API uint32_t hearth_agents_action_width(const hearth_agents* agents);
/* What a float is: "enemies[2]/place.x"; "" beyond the last.  Valid until the next call of either. */
HEARTH_API const char* hearth_agents_observation_name(const hearth_agents* agents, uint32_t index);
HEARTH_API const char* hearth_agents_action_name(const hearth_agents* agents, uint32_t index);
/* Equal for equal schemas on every platform. */
HEARTH_API uint64_t hearth_agents_schema_hash(const hearth_agents* agents);

/* The agent's observation of this frame, to be written before record; it keeps what was written last.
 * NULL for a stale agent.  Valid until the agent is removed. */
HEARTH_API float* hearth_agents_observation(hearth_agents* agents, hearth_agent agent);
/* 1 for each choice that there is, of all choices with a mask, in order; ones at first.  NULL also if no
 * choice has one. */
HEARTH_API float* hearth_agents_mask(hearth_agents* agents, hearth_agent agent);

/* Adds to what the last decision is rewarded (or praised) with.  What is not finite is refused:
 * HEARTH_ERROR_INVALID_ARGUMENT, counted in hearth_agents_status::rewards_refused. */
HEARTH_API hearth_result hearth_agents_reward(hearth_agents* agents, hearth_agent agent,
                                              float amount);

typedef enum hearth_agents_ending {
    HEARTH_AGENTS_OVER = 1,    /* the task has ended: nothing comes after it */
    HEARTH_AGENTS_CUT_OFF = 2, /* a time limit: it would have gone on */
    HEARTH_AGENTS_ENDING_FORCE_32_BITS = 0x7fffffff
} hearth_agents_ending;
/* The last decision was its episode's last; what is observed from now on belongs to the next one.
 * final_observation: what was seen last, or NULL: the observation as it is now; looked at if cut off. */
HEARTH_API hearth_result hearth_agents_end(hearth_agents* agents, hearth_agent agent,
                                           hearth_agents_ending ending,
                                           const float* final_observation);

/* How well the game thinks that things go, for the watch alone: the sum over all agents since the last
 * decision.  Once it was called, scores are watched and not rewards. */
HEARTH_API hearth_result hearth_agents_score(hearth_agents* agents, float amount);

/* Cloning, and PPO with demonstrations: what a person did where the agent is now, in the game's units.  Stored by
 * the next record, or behind the item of learning that is cut then, of each agent the newest.  With PPO the
 * agent's last decision is no sample then: it was not done.  HEARTH_ERROR_UNSUPPORTED for other learners. */
HEARTH_API hearth_result hearth_agents_demonstrate(hearth_agents* agents, hearth_agent agent,
                                                   const float* action);
/* The same by one of several people, numbered from 1 (to 2^24): none weighs more in a batch than Clone::source_share.
 * HEARTH_ERROR_UNSUPPORTED if the learner was made without one. */
HEARTH_API hearth_result hearth_agents_demonstrate_as(hearth_agents* agents, hearth_agent agent,
                                                      const float* action, uint32_t source);

/* --- What they do --- */

/* Takes over what has arrived from the GPU: actions and status.  After hearth_begin_frame. */
HEARTH_API void hearth_agents_poll(hearth_agents* agents);
/* The newest action that has arrived, in the game's units; NULL while there is none, and for a stale
 * agent.  Valid until the next poll. */
HEARTH_API const float* hearth_agents_action(const hearth_agents* agents, hearth_agent agent);

/* --- Each frame --- */

/* hearth_agents_record_info::decide_within: whenever learn_us leaves time for it. */
#define HEARTH_AGENTS_WHENEVER 0u

/* What a frame's picture or learning gives way to: how long slices of learning are beside learn_us, and their
 * hearth_record_info::occupancy_priority, as the host has set it, low or high. */
typedef enum hearth_agents_preference {
    HEARTH_AGENTS_BALANCED = 0,
    HEARTH_AGENTS_PREFER_GRAPHICS = 1, /* half as long */
    HEARTH_AGENTS_PREFER_LEARNING = 2, /* twice as long */
    HEARTH_AGENTS_PREFERENCE_FORCE_32_BITS = 0x7fffffff
} hearth_agents_preference;

typedef struct hearth_agents_record_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer; /* as hearth_record */
    /* 1 samples, 0 takes the likeliest actions; with DQN and praise the part of random ones. */
    float explore;
    uint32_t decide; /* non-zero: agents decide in this frame; 0: they only learn */
    double learn_us; /* GPU microseconds for learning in this frame, by measured cost; 0: none */
    hearth_agents_preference preference;
    uint32_t reserved;
    /* How many frames the decision may be spread over, cut at barriers: 1, this one; N, it is done by the Nth;
     * HEARTH_AGENTS_WHENEVER.  Observations are those of the frame in which it begins; the next decision
     * begins when it is done. */
    uint32_t decide_within;
    /* Inputs of the entry frame that the game's own buffers hold (hearth_agents_find_input): row r is that of
     * the r-th agent alive, by index.  As hearth_record wants them; unchanged until the decision is done. */
    uint32_t input_count;
    const hearth_bound* inputs;
    /* Optional: the GPU decides how many agents decide, and `id` which: as hearth_record_info::run_block, with
     * at most as many rows as there are agents alive.  All inputs with rows are then buffers. */
    const hearth_bound* row_count;
    /* With learns_apart: where learning is recorded, in a frame without it nothing is.  To be submitted to the
     * learning queue, in order; it needs no semaphore towards the other queue, before, behind or beside which it
     * may run.  A frame's serial has completed when both of its command buffers have.  Both have to be submitted:
     * agents that learn apart do not take back a frame that was dropped. */
    VkCommandBuffer learn_command_buffer;
} hearth_agents_record_info;

static inline hearth_agents_record_info hearth_agents_record_info_default(void) {
    HEARTH_AGENTS_STRUCT(hearth_agents_record_info, HEARTH_STRUCT_AGENTS_RECORD_INFO);
    value.explore = 1;
    value.decide = 1;
    value.learn_us = 500;
    value.decide_within = 1;
    return value;
}

/* The binding of an input of the entry frame, for hearth_agents_record_info::inputs: "observation", "reward",
 * "end" (hearth_agents_ending; 0: it goes on), "begins" (1: the agent's first decision), "id" (u32), "mask",
 * "final_observation".  HEARTH_ERROR_NOT_FOUND; hearth_agents_error tells which there are. */
HEARTH_API hearth_result hearth_agents_find_input(hearth_agents* agents, const char* name,
                                                  uint32_t* binding);

/* Records what all agents do in this frame: stores what came of their last decisions, decides anew, and
 * learns as far as the budget goes.  Learning goes on in a later frame where it stopped, at a barrier or in the
 * middle of a dispatch that is longer than the budget, and what becomes of the weights does not depend on where
 * that is.  With learns_apart a window goes to the
 * learning queue, and what was learned comes back, between two decisions, by copies in command_buffer,
 * frames_in_flight frames behind what they wait for; loading, rewinding and forgetting wait for that, too.
 * HEARTH_NOT_READY: pipelines are still being built; nothing was recorded, nothing is lost. */
HEARTH_API hearth_result hearth_agents_record(hearth_agents* agents,
                                              const hearth_agents_record_info* info);

/* A live setting of the learner, for all that is recorded from now on.  HEARTH_ERROR_NOT_FOUND;
 * hearth_agents_error tells which there are. */
HEARTH_API hearth_result hearth_agents_set(hearth_agents* agents, const char* setting,
                                           double value);
/* The rules have changed: 0 clears the optimizer, 1 begins with a fresh brain.  Recorded by the next
 * record, as soon as no learning is under way. */
HEARTH_API hearth_result hearth_agents_adapt(hearth_agents* agents, double strength);
/* A window that is being learned from is finished without regard to learn_us, by up to eight items a record:
 * for loading screens.  Nothing is to be done where none is. */
HEARTH_API void hearth_agents_flush(hearth_agents* agents);

/* --- What was learned ---
 *
 * What acts is a published copy of what learns: changed by one recorded copy between two decisions, if all of
 * it is finite, which the GPU itself decides.  Should the GPU refuse, the driver goes back to the newest snapshot
 * and counts it (hearth_agents_status::rollbacks).
 *
 * A snapshot is a brain's bytes (hearth.h): 0 is the newest.  It is taken right behind a publication, every
 * snapshot_period records, and kept once it has arrived and all of it is finite.  Going back, loading and
 * forgetting are recorded by the next record, in front of everything else; each agent then begins anew, and
 * samples that are not in brains are gone. */

/* The program's first contents, as a snapshot. */
#define HEARTH_AGENTS_FACTORY 0xffffffffu

/* Takes a snapshot as soon as nothing is cut in the middle.  HEARTH_ERROR_UNSUPPORTED with a snapshot_count
 * of 0. */
HEARTH_API hearth_result hearth_agents_keep(hearth_agents* agents);
/* How many have arrived and are kept. */
HEARTH_API uint32_t hearth_agents_snapshot_count(const hearth_agents* agents);
/* Back to a snapshot, of these agents or of others of the same program: opponents that act from the ring of those
 * that learn, say.  Nothing is done to `from`.  HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_MISMATCH. */
HEARTH_API hearth_result hearth_agents_rewind(hearth_agents* agents, uint32_t snapshot);
HEARTH_API hearth_result hearth_agents_load_snapshot(hearth_agents* agents,
                                                     const hearth_agents* from, uint32_t snapshot);
/* Back to the factory's contents, and all snapshots are overwritten. */
HEARTH_API void hearth_agents_forget(hearth_agents* agents);
/* Non-zero: nothing is learned, published, kept and (by brains without memory) stored until it is called with
 * zero; agents act. */
HEARTH_API void hearth_agents_freeze(hearth_agents* agents, uint32_t frozen);

/* The bytes of a snapshot, for a file.  *byte_count is the capacity of `out` before and the size afterwards; with
 * `out` NULL it is set to the size.  HEARTH_ERROR_NOT_FOUND also for the factory's; HEARTH_ERROR_OUT_OF_RANGE. */
HEARTH_API hearth_result hearth_agents_save(const hearth_agents* agents, uint32_t snapshot,
                                            void* out, uint64_t* byte_count);
/* Checks a brain (8-byte aligned), and has the next record load it.  One of another schema is
 * HEARTH_ERROR_MISMATCH, and `report`, optional, names the field.  Allocates.  Errors: as hearth_brain_check. */
HEARTH_API hearth_result hearth_agents_load(hearth_agents* agents, const void* bytes,
                                            uint64_t byte_count, hearth_report* report);

/* --- What goes on --- */

typedef enum hearth_agents_phase {
    HEARTH_AGENTS_COLLECTING = 0,
    HEARTH_AGENTS_LEARNING = 1,
    HEARTH_AGENTS_PHASE_FORCE_32_BITS = 0x7fffffff
} hearth_agents_phase;

/* Of the last recording that computed them; zero where a learner has none.  hearth/agents/status.hpp says
 * what each is. */
typedef enum hearth_agents_diagnostic {
    HEARTH_AGENTS_LOSS = 0,
    HEARTH_AGENTS_POLICY_LOSS = 1,
    HEARTH_AGENTS_VALUE_LOSS = 2,
    HEARTH_AGENTS_ENTROPY = 3,
    HEARTH_AGENTS_KL = 4,
    HEARTH_AGENTS_CLIP_FRACTION = 5,
    HEARTH_AGENTS_EXPLAINED_VARIANCE = 6,
    HEARTH_AGENTS_GRADIENT_NORM = 7,
    HEARTH_AGENTS_UPDATE_RATIO = 8,
    HEARTH_AGENTS_RETURN = 9,
    HEARTH_AGENTS_EPISODE_LENGTH = 10,
    HEARTH_AGENTS_TEMPERATURE = 11,
    HEARTH_AGENTS_LEASH = 12,
    HEARTH_AGENTS_DIAGNOSTIC_FORCE_32_BITS = 0x7fffffff
} hearth_agents_diagnostic;
#define HEARTH_AGENTS_DIAGNOSTICS 13

typedef enum hearth_agents_counter {
    HEARTH_AGENTS_SAMPLES = 0,
    HEARTH_AGENTS_SAMPLES_REFUSED = 1,
    HEARTH_AGENTS_SAMPLES_DROPPED = 2,
    HEARTH_AGENTS_OBSERVATIONS_CLAMPED = 3,
    HEARTH_AGENTS_REWARDS_CLAMPED = 4,
    HEARTH_AGENTS_EPISODES = 5,
    HEARTH_AGENTS_LEARN_STEPS = 6,
    HEARTH_AGENTS_SKIPPED_NOT_FINITE = 7,
    HEARTH_AGENTS_SKIPPED_KL = 8,
    HEARTH_AGENTS_SKIPPED_RATIO = 9,
    HEARTH_AGENTS_PUBLICATIONS = 10,
    HEARTH_AGENTS_PUBLICATIONS_REFUSED = 11,
    HEARTH_AGENTS_PUBLICATIONS_FAR = 12,
    HEARTH_AGENTS_COUNTER_FORCE_32_BITS = 0x7fffffff
} hearth_agents_counter;
#define HEARTH_AGENTS_COUNTERS 13

typedef enum hearth_agents_snapshot_phase {
    HEARTH_AGENTS_SNAPSHOT_NONE = 0,
    HEARTH_AGENTS_SNAPSHOT_WANTED = 1,     /* by hearth_agents_keep, and not recorded yet */
    HEARTH_AGENTS_SNAPSHOT_ON_ITS_WAY = 2, /* recorded; it arrives with a later poll */
    HEARTH_AGENTS_SNAPSHOT_PHASE_FORCE_32_BITS = 0x7fffffff
} hearth_agents_snapshot_phase;

typedef struct hearth_agents_status {
    hearth_struct_type type;
    uint32_t size;
    hearth_agents_phase phase;
    uint32_t agents;
    uint32_t items_done; /* of the window that is being learned from */
    uint32_t items;
    double learn_us_p95;      /* GPU time of one item, by the last 32 slices; 0: not measured */
    uint64_t frames;          /* recorded in which agents decided */
    uint64_t windows;         /* learned from, or begun */
    uint64_t rewards_refused; /* by hearth_agents_reward */
    uint64_t serial;          /* of the frame that the numbers below are of */
    float diagnostics[HEARTH_AGENTS_DIAGNOSTICS];
    uint64_t counters[HEARTH_AGENTS_COUNTERS];
    double decide_us_p95; /* GPU time of one decision of all agents, by the last 32 slices */
    uint32_t frozen;
    uint32_t snapshots; /* hearth_agents_snapshot_count */
    /* Told by comparing what the game scores (or rewards), per decision and agent, in stretches of
     * watched_decisions; nothing is done about it. */
    uint32_t
        stuck; /* for four stretches less than a quarter of the first: try adapt(1), or other rewards */
    uint32_t rules_changed;     /* it has fallen at once, and is not back: try adapt(0.6) */
    double score;               /* of the last stretch */
    double first_score;         /* of the first */
    uint64_t rollbacks;         /* to the newest snapshot, because the GPU refused to publish */
    uint64_t snapshots_refused; /* not finite, or not encodable */
    uint64_t snapshots_taken;   /* that have arrived and were kept, since the agents were made */
    hearth_agents_snapshot_phase snapshot_phase;
    uint32_t reserved;
    uint64_t learn_frames; /* in which the GPU learned, as far as their times have arrived */
    uint64_t
        learn_frames_over; /* of those: in which it took longer than learn_us and preference allowed */
} hearth_agents_status;

static inline hearth_agents_status hearth_agents_status_default(void) {
    HEARTH_AGENTS_STRUCT(hearth_agents_status, HEARTH_STRUCT_AGENTS_STATUS);
    return value;
}

/* As of the last poll. */
HEARTH_API hearth_result hearth_agents_get_status(const hearth_agents* agents,
                                                  hearth_agents_status* out);
/* "kl", "samples_refused", ...; NULL beyond the last.  Any thread. */
HEARTH_API const char* hearth_agents_diagnostic_name(uint32_t index);
HEARTH_API const char* hearth_agents_counter_name(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
