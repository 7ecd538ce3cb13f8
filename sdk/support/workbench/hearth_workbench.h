/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Hearth for programs that have no Vulkan and no C++ of their own: a headless host, and the compiler, as C
 * functions beside hearth.h and hearth_agents.h.  libhearth.so has all of them; the Python package binds it.
 *
 * A game has a device and uses hearth.h with it.  A script has none, so this makes one (sdk/support/standalone)
 * and hands out what hearth.h wants: a context, a command buffer, buffers.  Everything else goes through hearth.h.
 *
 *     hearth_headless_create(NULL, 0, &host, &report);
 *     hearth_cook_onnx(bytes, count, "{\"max_rows\": 64}", &package, &report);
 *     hearth_package_load(hearth_headless_context(host), ...);
 *     hearth_headless_begin(host, &commands);
 *     hearth_record(session, ...);
 *     hearth_headless_submit(host);                           // returns when the device is done
 *
 * Results and structs as in hearth.h.  `report`, optional everywhere, tells what was expected and what was found.
 * Threads: a host and all that came from its context belong to one thread at a time; cooking runs on any. */

#ifndef HEARTH_WORKBENCH_H_
#define HEARTH_WORKBENCH_H_

#include <hearth/hearth.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- A headless host --- */

typedef struct hearth_headless hearth_headless;

typedef uint32_t hearth_headless_flags;
/* The validation layers look on (HEARTH_ERROR_UNSUPPORTED if they are not installed);
 * hearth_headless_messages counts what they say. */
#define HEARTH_HEADLESS_VALIDATION 0x1u

/* How many devices there are, and the name of one: those that Vulkan lists, in its order.  Makes and destroys an
 * instance.  *count is the capacity of `names` before and the number of devices afterwards. */
HEARTH_API hearth_result hearth_headless_devices(char (*names)[256], uint32_t* count,
                                                 hearth_report* report);

/* Makes instance, device and context, and begins the first frame.
 *
 * device  NULL or "": the first discrete GPU, else an integrated one, else any; digits: that index of
 *         hearth_headless_devices; "native": this machine's CPU, one thread, without Vulkan, with kernels that the
 *         system's C compiler (CC, or cc) builds; else a part of its name.
 * Errors: HEARTH_ERROR_UNSUPPORTED without a Vulkan loader or driver; HEARTH_ERROR_NOT_FOUND listing the devices. */
HEARTH_API hearth_result hearth_headless_create(const char* device, hearth_headless_flags flags,
                                                hearth_headless** out, hearth_report* report);
/* HEARTH_ERROR_WRONG_ORDER, and nothing is destroyed, while sessions, agents or programs of the context live.
 * NULL is allowed. */
HEARTH_API hearth_result hearth_headless_destroy(hearth_headless* host);

HEARTH_API hearth_context* hearth_headless_context(hearth_headless* host);
HEARTH_API const char* hearth_headless_device(const hearth_headless* host);
/* Messages of the validation layers so far, warnings included. */
HEARTH_API uint32_t hearth_headless_messages(const hearth_headless* host);
/* The last failure of a call on this host, "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_headless_error(const hearth_headless* host);

/* Begins the host's one command buffer, for hearth_record and its like.
 * HEARTH_ERROR_WRONG_ORDER: it was begun and not submitted. */
HEARTH_API hearth_result hearth_headless_begin(hearth_headless* host, VkCommandBuffer* out);
/* Submits it and waits; begins the next frame, so readbacks of what was recorded have arrived.
 * HEARTH_ERROR_DEVICE_LOST: the context knows it too. */
HEARTH_API hearth_result hearth_headless_submit(hearth_headless* host);
/* Gives up what was recorded since begin, and tells the context (hearth_frame_dropped). */
HEARTH_API hearth_result hearth_headless_drop(hearth_headless* host);

typedef enum hearth_headless_memory {
    HEARTH_HEADLESS_UPLOAD = 0,   /* the CPU writes, the device reads */
    HEARTH_HEADLESS_READBACK = 1, /* both write, and the CPU reads fast */
    HEARTH_HEADLESS_MEMORY_FORCE_32_BITS = 0x7fffffff
} hearth_headless_memory;

/* A buffer for bindings, mapped and coherent as long as it lives. */
typedef struct hearth_headless_buffer {
    VkBuffer buffer;
    void* data;
    uint64_t bytes;
    uint32_t usage; /* for hearth_bind_buffer */
    uint32_t reserved;
} hearth_headless_buffer;

HEARTH_API hearth_result hearth_headless_buffer_create(hearth_headless* host, uint64_t bytes,
                                                       hearth_headless_memory memory,
                                                       hearth_headless_buffer* out);
/* Buffers that are left go with the host. */
HEARTH_API void hearth_headless_buffer_destroy(hearth_headless* host,
                                               const hearth_headless_buffer* buffer);

/* --- The compiler ---
 *
 * Options are one JSON object; an unknown key is an error that lists the known ones.  All have defaults.
 *
 *     max_rows    the most rows of a recording (1)
 *     profiles    names as of `hearth cook --profiles`, best first (["baseline"]); "device" needs `host`
 *     precision   "f32" or "f16"            quantize   "f16", "int8" or "int4"
 *     strip       leave the kernels' GLSL out (true); C for CPUs stays
 *
 * host  only for the profile "device"; else NULL. */

/* Bytes that a call made, 8-byte aligned.  They live until hearth_blob_destroy. */
typedef struct hearth_blob hearth_blob;
HEARTH_API const void* hearth_blob_data(const hearth_blob* blob);
HEARTH_API uint64_t hearth_blob_bytes(const hearth_blob* blob);
HEARTH_API void hearth_blob_destroy(hearth_blob* blob);

/* Cooks an ONNX model into a package.  Further options:
 *
 *     name     of the entry that runs the model ("main")
 *     shapes   {input: [extent, ...]}, an extent is a number or "rows"
 *     folder   where the files lie that the model keeps tensors in; without it such models are refused
 *     learn    an object: adds the entry "learn", one step of training.  Its inputs are the model's, "target",
 *              "learning_rate" []; its output is "loss" [].
 *                loss        "mse", "mae", "huber" (target as the output) or "cross_entropy" (target i32, the
 *                            output without its last extent)
 *                output      of the model, by name (its first)
 *                optimizer   "adam" or "sgd"     weight_decay (0)     momentum, of sgd (0)
 *                clip_norm   of all gradients together (0: off)
 *
 * Errors: those of import_onnx and cook. */
HEARTH_API hearth_result hearth_cook_onnx(const void* bytes, uint64_t byte_count,
                                          const char* options, hearth_headless* host,
                                          hearth_blob** out, hearth_report* report);

/* Cooks a package again, from its graphs and weights. */
HEARTH_API hearth_result hearth_cook_package(const void* bytes, uint64_t byte_count,
                                             const char* options, hearth_headless* host,
                                             hearth_blob** out, hearth_report* report);

/* Cooks agents: a package for hearth_agents_create, whose entry "act" runs the policy alone and whose entry "policy"
 * shows what it is made of.  max_rows is the most agents.  Further options:
 *
 *     observations  [{name, kind, width, low, high, ...}], as hearth::agents::Fields: kind "numbers" (width, low,
 *                   high, normalized), "flag", "one_hot" (options), "location" (axes, scale), "direction" (axes),
 *                   "angle", "rotation", "group" (parts), "array" (count, parts), "set" (capacity, parts)
 *     actions       [{name, kind: "choose", count, masked}] or [{name, kind: "drive", width, low, high}]
 *     stack         observations that the network sees (1)
 *     network       {kind: "mlp", widths, activation: "tanh", "relu", "gelu" or "silu", init: "orthogonal" or "fan_in"}
 *                   (as most of SAC begin), {kind: "gru", width} or
 *                   {kind: "lstm", width, before, after, activation}: dense layers before and after one LSTM
 *     learner       {kind: "ppo", "dqn" or "sac", and members of hearth::agents::Ppo, Dqn, Sac by name; "rails": members of
 *                   Rails}.  Of learning_rate, clip, entropy: {"live": number} makes it a live setting
 *     seed          of all that is random (0)
 *
 * The entry "policy", of PPO and DQN: observation [rows, width] (and memory [rows, 2 * memory width]) -> head [rows, ...],
 * logits and means or values of the choices, and of PPO value [rows], as the weights that learn have them. */
HEARTH_API hearth_result hearth_cook_agents(const char* options, hearth_headless* host,
                                            hearth_blob** out, hearth_report* report);

#ifdef __cplusplus
}
#endif

#endif
