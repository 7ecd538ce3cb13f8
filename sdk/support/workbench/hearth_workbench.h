/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Hearth for programs without Vulkan and C++ code: a headless application, and the compiler, as C
 * functions beside hearth.h and hearth_agents.h. libhearth.so contains all of them; the Python
 * package binds it.
 *
 * A game has a device and uses hearth.h with it. A script has none, so this creates one
 * (sdk/support/standalone) and provides what hearth.h needs: a context, a command buffer, buffers.
 * Everything else goes through hearth.h.
 *
 *     hearth_headless_create(NULL, 0, &host, &messages);
 *     hearth_cook_onnx(bytes, count, "{\"max_batch_size\": 64}", &package, &messages);
 *     hearth_headless_load_package(host, ...);
 *     hearth_headless_begin(host, &commands);
 *     hearth_record(session, ...);
 *     hearth_headless_submit(host);                           // returns when the device is done
 *
 * Results and structs as in hearth.h. `messages`, always optional, receives what was expected and
 * what was found. Threads: a host and everything from its context belong to one thread at a time
 * (hearth_headless_lock); cooking runs on any. */

#ifndef HEARTH_WORKBENCH_H_
#define HEARTH_WORKBENCH_H_

#include <hearth/hearth.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- A headless application --- */

typedef struct hearth_headless hearth_headless;

typedef uint32_t hearth_headless_flags;
/* Enables the validation layers (HEARTH_ERROR_UNSUPPORTED if they are not installed);
 * hearth_headless_messages counts their messages. */
#define HEARTH_HEADLESS_VALIDATION 0x1u

/* Lists the names of the devices, in Vulkan's order. Creates and destroys an instance. *count is
 * the capacity of `names` on input and the number of devices on output. */
HEARTH_API hearth_result hearth_headless_devices(char (*names)[256], uint32_t* count,
                                                 hearth_messages* messages);

/* Creates instance, device and context, and begins the first frame.
 *
 * device  NULL or "": the first discrete GPU, else an integrated one, else any; digits: that index
 *         of hearth_headless_devices; "cpu": this machine's CPU, one thread, without Vulkan, with
 *         kernels built by the system's C compiler (CC, or cc); else a part of the device's name.
 * Errors: HEARTH_ERROR_UNSUPPORTED without a Vulkan loader or driver; HEARTH_ERROR_NOT_FOUND
 * listing the devices. */
HEARTH_API hearth_result hearth_headless_create(const char* device, hearth_headless_flags flags,
                                                hearth_headless** out, hearth_messages* messages);
/* Returns HEARTH_ERROR_INVALID_STATE and destroys nothing while sessions, agents or programs of the
 * context exist. Of a shared host, this undoes one call of hearth_headless_share; the last one
 * destroys it. NULL is allowed. */
HEARTH_API hearth_result hearth_headless_destroy(hearth_headless* host);

/* Returns the host that this process shares under the name of a device: all networks of a game, and
 * of the libraries in it, then use one device. The first call creates it as hearth_headless_create
 * does; each call needs one of hearth_headless_destroy. A host whose device was lost is not
 * returned again: the next call creates another.
 *
 * device  as for hearth_headless_create; NULL and "" are the same name
 * Errors: as hearth_headless_create. Threads: any. */
HEARTH_API hearth_result hearth_headless_share(const char* device, hearth_headless** out,
                                               hearth_messages* messages);
/* Locks a host and everything from its context, for this thread: hold it around each use of a shared
 * host, from hearth_headless_begin to hearth_headless_submit. Threads get it in the order of their
 * calls, so a long piece of work that is submitted in slices delays others by a slice. Not
 * recursive. Threads: any; unlock on the thread that locked. */
HEARTH_API void hearth_headless_lock(hearth_headless* host);
HEARTH_API void hearth_headless_unlock(hearth_headless* host);

HEARTH_API hearth_context* hearth_headless_context(hearth_headless* host);

/* The package's kernels may run on the CPU device: they are C text, and so code of whoever made the
 * package. */
#define HEARTH_HEADLESS_TRUST_KERNELS 0x2u

/* Loads a package for the host's device, as hearth_package_load does. On the CPU device a package
 * that the host did not cook (hearth_cook_onnx etc. with this host) is cooked again from its graph,
 * which is data, unless flags has HEARTH_HEADLESS_TRUST_KERNELS; hearth_package_load and
 * hearth_program_load refuse it there with HEARTH_ERROR_VERIFICATION_FAILED.
 *
 * bytes          8-byte aligned; not needed afterwards
 * device_target  NULL: the first that the device can run
 * Errors: as hearth_package_load and hearth_cook_package; hearth_headless_error describes them. */
HEARTH_API hearth_result hearth_headless_load_package(hearth_headless* host, const void* bytes,
                                                      uint64_t byte_count,
                                                      const char* device_target,
                                                      hearth_headless_flags flags,
                                                      hearth_program** out);
HEARTH_API const char* hearth_headless_device(const hearth_headless* host);
/* Number of validation messages so far, warnings included. */
HEARTH_API uint32_t hearth_headless_messages(const hearth_headless* host);
/* Error of the last failed call on this host, "" if there was none. Valid until the next call. */
HEARTH_API const char* hearth_headless_error(const hearth_headless* host);

/* Begins the host's only command buffer, for hearth_record etc. HEARTH_ERROR_INVALID_STATE: it was
 * begun and not submitted. */
HEARTH_API hearth_result hearth_headless_begin(hearth_headless* host, VkCommandBuffer* out);
/* Submits it and waits; begins the next frame, so that readbacks have arrived.
 * HEARTH_ERROR_DEVICE_LOST: the context is notified, too. */
HEARTH_API hearth_result hearth_headless_submit(hearth_headless* host);
/* Discards what was recorded since begin, and notifies the context (hearth_discard_frame). */
HEARTH_API hearth_result hearth_headless_discard(hearth_headless* host);

typedef enum hearth_headless_memory {
    HEARTH_HEADLESS_UPLOAD = 0,   /* the CPU writes, the device reads */
    HEARTH_HEADLESS_READBACK = 1, /* both write, and the CPU reads fast */
    HEARTH_HEADLESS_MEMORY_FORCE_32_BITS = 0x7fffffff
} hearth_headless_memory;

/* A buffer for bindings, mapped and coherent during its lifetime. */
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
/* Remaining buffers are destroyed with the host. */
HEARTH_API void hearth_headless_buffer_destroy(hearth_headless* host,
                                               const hearth_headless_buffer* buffer);

/* --- The compiler ---
 *
 * Options are one JSON object; an unknown key is an error that lists the known ones. All have
 * defaults.
 *
 *     max_batch_size   maximum batch size of a recording (1; cooked again: the package's)
 *     device_targets   names as for `hearth cook --device-targets`, best first (["baseline"]);
 *                      "device" needs `host`
 *     precision        "f32" (default) or "f16"; cooked again: the package's
 *     assume_int32     hold i64 in 32 bits on GPUs even where their range is not proven to fit
 *     assume_float32   compute f64 in f32 on GPUs
 *     quantize         "f16", "int8" or "int4"
 *     strip            remove the kernels' GLSL source (true); C for CPUs is kept
 *
 * host  for the device target "device", and on the CPU device to load the result; else NULL. */

/* Bytes returned by a call, 8-byte aligned. They live until hearth_blob_destroy. */
typedef struct hearth_blob hearth_blob;
HEARTH_API const void* hearth_blob_data(const hearth_blob* blob);
HEARTH_API uint64_t hearth_blob_bytes(const hearth_blob* blob);
HEARTH_API void hearth_blob_destroy(hearth_blob* blob);

/* Cooks an ONNX model into a package. Further options:
 *
 *     name     of the entry that runs the model ("main")
 *     shapes   {input: [extent, ...]}, an extent is a number or "batch" (the batch size)
 *     bounds   {node or output: count}, the largest extents and trip counts that depend on data
 *              (hearth::ImportOptions::bounds)
 *     folder   location of the model's external tensor files; without it such models are rejected
 *     learn    an object: adds the entry "learn", one step of training. Its inputs are the model's,
 *              "target", "learning_rate" []; its output is "loss" [].
 *                loss            "mse", "l1", "huber" (target like the output) or "cross_entropy"
 *                                (target i32, the output without its last extent)
 *                output          name of the model's output (its first)
 *                optimizer       "adam" or "sgd"     weight_decay (0)     momentum, for sgd (0)
 *                max_grad_norm   clips the norm of all gradients together (0: off)
 *
 * Errors: those of import_onnx and cook. */
HEARTH_API hearth_result hearth_cook_onnx(const void* bytes, uint64_t byte_count,
                                          const char* options, hearth_headless* host,
                                          hearth_blob** out, hearth_messages* messages);

/* Cooks a package again, from its graphs and weights. */
HEARTH_API hearth_result hearth_cook_package(const void* bytes, uint64_t byte_count,
                                             const char* options, hearth_headless* host,
                                             hearth_blob** out, hearth_messages* messages);

/* As hearth_cook_package, with other weights: a package that acts like what was trained, for games
 * to ship.
 *
 * weights  the bytes of a brain of the package, of a .safetensors file or of a file of torch.save;
 *          params and states that it lacks keep the package's
 * Errors: also HEARTH_ERROR_NOT_FOUND for weights that have none of the package's params. */
HEARTH_API hearth_result hearth_cook_package_with_weights(const void* bytes, uint64_t byte_count,
                                                          const char* options, const void* weights,
                                                          uint64_t weight_bytes,
                                                          hearth_headless* host, hearth_blob** out,
                                                          hearth_messages* messages);

/* Writes an entry of a package as an ONNX model. Options: {"entry": name}, by default the only one,
 * or "main".
 *
 * weights  trained weights in place of the package's: the bytes of a brain of it, of a .safetensors
 *          file or of a file of torch.save, with the params' names; NULL: the package's
 * Errors: HEARTH_ERROR_NOT_FOUND for another entry or a param that the weights lack; those of
 * load_brain, read_safetensors, read_torch and export_onnx. */
HEARTH_API hearth_result hearth_export_onnx(const void* package, uint64_t byte_count,
                                            const char* options, const void* weights,
                                            uint64_t weight_bytes, hearth_blob** out,
                                            hearth_messages* messages);

/* Cooks agents: a package for hearth_agents_create, with the additional entries "act", which runs
 * only the policy, and "policy", which outputs the network's results. max_batch_size is the maximum
 * number of agents. Further options:
 *
 *     observations  [{name, kind, size, low, high, ...}], as hearth::agents::ObservationSpec: kind
 *                   "box" (size, low, high, normalized), "binary", "discrete" (n), "position"
 *                   (dims, scale), "unit_vector" (dims), "angle", "quaternion", "dict" (fields),
 *                   "array" (count, fields), "entities" (max_count, fields)
 *     actions       as hearth::agents::ActionSpec: [{name, kind: "discrete", n, masked}] or
 *                   [{name, kind: "continuous", size, low, high}]
 *     frame_stack   number of observations that the network sees (1)
 *     network       {kind: "mlp", hidden_sizes, activation: "tanh", "relu", "gelu" or "silu", init:
 *                   "orthogonal" or "pytorch_default"} (the usual initialization of SAC),
 *                   {kind: "cnn", shape: [height, width, channels] of an image that is the whole
 *                   observation, channels_last (true), convolutions: [{channels, kernel_size,
 *                   stride}], hidden_sizes ([512]), activation ("relu"), init ("pytorch_default")},
 *                   {kind: "gru", hidden_size} or {kind: "lstm", hidden_size, before, after,
 *                   activation}: dense layers before and after one LSTM
 *     learner       {kind: "ppo", "dqn", "sac", "behavior_cloning" or "tamer", and
 *                   hyperparameters by name (docs/reference/learners.md)}.  Those such as
 *                   learning_rate, clip_range and ent_coef may be {"tunable": number}, which
 *                   hearth_agents_set_hyperparameter changes
 *     seed          of all random numbers (0)
 *
 * The entry "policy", of PPO and DQN, computed with the learner's weights: observation [batch,
 * observation size] (and recurrent_state [batch, 2 * recurrent state size]: the actor's, then the
 * critic's) -> for PPO logits_and_means [batch, ...], value [batch] (and next_recurrent_state); for
 * DQN q_values [batch, ...], of all discrete actions in order. */
HEARTH_API hearth_result hearth_cook_agents(const char* options, hearth_headless* host,
                                            hearth_blob** out, hearth_messages* messages);

/* Cooks online regression: a package with the entries store (input [batch, input_size], target
 * [batch, output_size]), learn (one minibatch of the samples that are stored, from the
 * learning_starts-th on), publish, and predict (input -> output, by the published weights).
 * max_batch_size is that of store and predict. Further options: input_size (1), output_size (1),
 * buffer_size, batch_size, learning_starts, learning_rate, huber_delta, target_limit, max_grad_norm
 * and max_update_ratio as of hearth::agents::Regression, network and seed as of
 * hearth_cook_agents. */
HEARTH_API hearth_result hearth_cook_regression(const char* options, hearth_headless* host,
                                                hearth_blob** out, hearth_messages* messages);

/* Cooks a network for supervised training: a package with the entries main (x [batch, ...] -> y
 * [batch, outputs]) and learn, as hearth_cook_onnx with learn. Further options:
 *
 *     input    [extent, ...] of one sample; a network of kind "cnn" takes [channels, height, width]
 *     outputs  number of outputs, or classes
 *     mean     [...], subtracted from x, one number for each of its elements (none)
 *     std      [...], by which x is divided then (none)
 *     network  "mlp" or "cnn" as of hearth_cook_agents, without shape; a linear layer follows
 *     learn    as of hearth_cook_onnx, without output
 *     seed     of the weights (0) */
HEARTH_API hearth_result hearth_cook_network(const char* options, hearth_headless* host,
                                             hearth_blob** out, hearth_messages* messages);

/* --- Supervised training: hearth/dataset.hpp and hearth/fit.hpp --- */

/* Samples. Immutable: any thread. */
typedef struct hearth_dataset hearth_dataset;

/* Makes a data set of copies of arrays.
 *
 * inputs   floats, of input_dims[0] samples
 * targets  has_labels: int32_t, labels; else floats
 * options  JSON object: {"classes": [name, ...]}, or NULL
 * Errors: those of hearth::make_dataset. */
HEARTH_API hearth_result hearth_dataset_create(const float* inputs, const uint64_t* input_dims,
                                               uint32_t input_rank, const void* targets,
                                               const uint64_t* target_dims, uint32_t target_rank,
                                               uint32_t has_labels, const char* options,
                                               hearth_dataset** out, hearth_messages* messages);
/* Reads a folder of images, an .npz file, or CSV. Options: targets ([name, ...]), inputs ("x"),
 * labels (false), classes ([]), delimiter (","), as of hearth::DatasetOptions. */
HEARTH_API hearth_result hearth_dataset_load(const char* path, const char* options,
                                             hearth_dataset** out, hearth_messages* messages);
/* Divides it at random: `second` gets `fraction` of the samples. */
HEARTH_API hearth_result hearth_dataset_split(const hearth_dataset* dataset, double fraction,
                                              uint64_t seed, hearth_dataset** first,
                                              hearth_dataset** second, hearth_messages* messages);
/* Returns {"inputs": [n, ...], "targets": [n, ...], "labels": bool, "classes": [name, ...]}. */
HEARTH_API hearth_result hearth_dataset_describe(const hearth_dataset* dataset, hearth_blob** out,
                                                 hearth_messages* messages);
/* Its floats, and its floats or labels (int32_t); valid as long as it. */
HEARTH_API const float* hearth_dataset_inputs(const hearth_dataset* dataset);
HEARTH_API const void* hearth_dataset_targets(const hearth_dataset* dataset);
HEARTH_API void hearth_dataset_destroy(hearth_dataset* dataset);

/* Called after each epoch with {"epoch", "train_loss", "validation": {metric: number}}; 0 stops. */
typedef uint32_t (*hearth_fit_callback)(void* user_data, const char* epoch);

/* Trains a package that has the entry learn, on the host's device.
 *
 * brain       to begin with; NULL: the package's weights
 * validation  NULL: none
 * options     loss, epochs, batch_size, learning_rate, seed, monitor, metrics, patience, min_delta,
 *             checkpoint, log, program, as of hearth::FitOptions
 * callback    optional
 * out_brain   receives the weights of the best epoch, as a brain of the package
 * report      receives {"history": [as for the callback], "best_epoch", "best": {metric: number},
 *             "confusion": [[...]], "end": "epochs", "early_stopping", "callback" or "stop_request"}
 * Errors: those of hearth::fit; of a package that learns in another way. */
HEARTH_API hearth_result hearth_fit(hearth_headless* host, const void* package, uint64_t byte_count,
                                    const void* brain, uint64_t brain_bytes,
                                    const hearth_dataset* train, const hearth_dataset* validation,
                                    const char* options, hearth_fit_callback callback,
                                    void* user_data, hearth_blob** out_brain, hearth_blob** report,
                                    hearth_messages* messages);

#ifdef __cplusplus
}
#endif

#endif
