/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Five functions by which a game becomes a training ground: a shared library that exports them is a Gymnasium Env and
 * VectorEnv (engine_bridge/python), and whatever else can call C.  Hearth's library neither has nor needs them.
 *
 * A library may hold several environments.  One object steps many worlds at once; each world has `agents` agents, and
 * row r of every array is agent r % agents of world r / agents.  All arrays are the caller's, C order, and are looked
 * at during the call alone.  Equal seeds and actions give equal results.
 *
 * Threads: one object, one thread at a time; different objects need no synchronizing.
 * Errors: the caller passes sizes as described and finite actions; what is outside a range is limited by the game, as
 * from a player. */

#ifndef HEARTH_ENVIRONMENT_H_
#define HEARTH_ENVIRONMENT_H_

#include <stdint.h>

#if defined(_WIN32)
#define HEARTH_ENVIRONMENT_API __declspec(dllexport)
#else
#define HEARTH_ENVIRONMENT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The game's own: all worlds. */
typedef struct hearth_environment hearth_environment;

/* What there is, as one JSON object that lives forever:
 *
 *     {"version": 1, "environments": [{
 *         "name": "CartPole",
 *         "observations": [{"name": "cart", "kind": "numbers", "width": 4}],   as hearth_cook_agents takes them
 *         "actions": [{"name": "push", "kind": "choose", "count": 2}],
 *         "observation_low": [-4.8, null, ...],    optional: bounds of each float; null is no bound
 *         "observation_high": [4.8, null, ...],
 *         "agents": [1, 1],           least and most agents of a world
 *         "step_limit": 500,          after which a world cuts off; 0: never
 *         "solved_at": 475}]}         optional: a mean return that counts as solved
 *
 * An action is floats: of a choice its index, of a drive its numbers in their range. */
HEARTH_ENVIRONMENT_API const char* hearth_environment_describe(void);

/* Makes `worlds` worlds of `agents` agents each.  NULL: no environment of this name, or not with so many agents.
 * Nothing may be stepped before it was reset. */
HEARTH_ENVIRONMENT_API hearth_environment* hearth_environment_create(const char* name,
                                                                     uint32_t worlds,
                                                                     uint32_t agents);

/* Begins episodes.
 *
 * which         [worlds], non-zero: this world; NULL: all
 * seeds         [worlds]: what the episode depends on, alone; NULL: on the world's last seed and how many episodes
 *               it has had since
 * observations  [worlds * agents, observation width]; rows of worlds that are not reset are not touched */
HEARTH_ENVIRONMENT_API void hearth_environment_reset(hearth_environment* environment,
                                                     const uint8_t* which, const uint64_t* seeds,
                                                     float* observations);

/* One decision of all agents of all worlds.
 *
 * actions       [worlds * agents, action width]
 * observations  [worlds * agents, observation width]: also of what has ended, as it was at the end
 * rewards       [worlds * agents]
 * ends          [worlds * agents]: 0 goes on, 1 the task has ended, 2 cut off by the step limit.  A world in which one
 *               agent has ended is reset before it is stepped again. */
HEARTH_ENVIRONMENT_API void hearth_environment_step(hearth_environment* environment,
                                                    const float* actions, float* observations,
                                                    float* rewards, uint8_t* ends);

HEARTH_ENVIRONMENT_API void hearth_environment_destroy(hearth_environment* environment);

#ifdef __cplusplus
}
#endif

#endif
