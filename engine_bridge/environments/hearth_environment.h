/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Five functions that make a game a training environment: a shared library that exports them
 * becomes a Gymnasium Env and VectorEnv (engine_bridge/python), and is callable from anything that
 * can call C. Hearth's library neither contains nor requires them.
 *
 * A library may provide several environments. One object steps many worlds at once. Each world has
 * `agents` agents, and row r of every array is agent r % agents of world r / agents. All arrays
 * belong to the caller, are in C order, and are accessed only during the call. Equal seeds and
 * actions give equal results.
 *
 * Threads: one object, one thread at a time; different objects need no synchronization.
 * Errors: the caller passes sizes as described and finite actions; actions out of range are
 * clamped by the game, like a player's input. */

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

/* All worlds of one environment; defined by the game. */
typedef struct hearth_environment hearth_environment;

/* Describes the environments as one JSON object with static lifetime:
 *
 *     {"version": 2, "environments": [{
 *         "name": "CartPole",
 *         "observations": [{"name": "cart", "kind": "box", "size": 4}],
 *         "actions": [{"name": "push", "kind": "discrete", "n": 2}],
 *         "observation_low": [-4.8, null, ...],    optional: bounds of each float; null: unbounded
 *         "observation_high": [4.8, null, ...],
 *         "n_agents": [1, 1],              minimum and maximum number of agents in a world
 *         "max_episode_steps": 500,        steps after which a world is truncated; 0: never
 *         "solved_at": 475}]}              optional: a mean return that counts as solved
 *
 * observations and actions are as for hearth_cook_agents. Actions are floats: the index of a
 * discrete action, the values of a continuous one in their range. */
HEARTH_ENVIRONMENT_API const char* hearth_environment_describe(void);

/* Creates `worlds` worlds of `agents` agents each. NULL: no environment of this name, or not with
 * this number of agents. A world must be reset before it is stepped. */
HEARTH_ENVIRONMENT_API hearth_environment* hearth_environment_create(const char* name,
                                                                     uint32_t worlds,
                                                                     uint32_t agents);

/* Starts episodes.
 *
 * which         [worlds], non-zero: this world; NULL: all
 * seeds         [worlds]: determines the episode; NULL: derived from the world's last seed and the
 *               number of episodes since
 * observations  [worlds * agents, observation size]; rows of other worlds stay unchanged */
HEARTH_ENVIRONMENT_API void hearth_environment_reset(hearth_environment* environment,
                                                     const uint8_t* which, const uint64_t* seeds,
                                                     float* observations);

/* Executes one decision of all agents of all worlds.
 *
 * actions       [worlds * agents, action size]
 * observations  [worlds * agents, observation size]: for ended episodes the final observation
 * rewards       [worlds * agents]
 * ends          [worlds * agents]: 0 continues, 1 terminated, 2 truncated by max_episode_steps. A
 *               world with an ended agent must be reset before it is stepped again. */
HEARTH_ENVIRONMENT_API void hearth_environment_step(hearth_environment* environment,
                                                    const float* actions, float* observations,
                                                    float* rewards, uint8_t* ends);

HEARTH_ENVIRONMENT_API void hearth_environment_destroy(hearth_environment* environment);

#ifdef __cplusplus
}
#endif

#endif
