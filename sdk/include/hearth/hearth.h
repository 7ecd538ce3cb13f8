/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Hearth's runtime as a C interface: query, adopt, load, bind, record, read back, destroy.
 *
 * Hearth is a guest.  It borrows the host's VkInstance, VkDevice, memory and command buffers,
 * records compute work into them and leaves everything else as it found it.  It creates no instance
 * and no device, submits nothing, waits on nothing, starts no thread, and calls Vulkan only through
 * the host's vkGetInstanceProcAddr.
 *
 * Conventions
 *   Structs   begin with `type` and `size`.  Make them with their `..._default()` function, which
 *             fills both in; fields that later versions add at the end are then absent, not
 *             garbage.  A struct larger than the library knows was made with a newer header and is
 *             refused: HEARTH_ERROR_VERSION_MISMATCH.
 *   Results   0 is success, positive is "not an error", negative is an error.  A call that returns
 *             an error has recorded nothing and changed nothing.  hearth_context_error,
 *             hearth_session_error and hearth_program_error tell more, as one sentence.
 *   Strings   UTF-8, zero-terminated.  Strings that Hearth returns live as long as the object that
 *             they were asked of; names in requirement lists live forever.
 *   Threads   no locks inside.  Each function names what must not be used by two threads at once.
 *             Different contexts never need synchronizing with each other; nor do recordings of
 *             different sessions of one context.
 *   Serials   hearth_begin_frame(serial, completed) is the only clock.  Work recorded after
 *             begin_frame(N, ...) belongs to serial N and counts as finished once a begin_frame
 *             says completed >= N.  hearth_frame_dropped(N) says that it was never submitted.
 *
 * Compiles by itself and before or after vulkan.h, as C11 and as C++. */

#ifndef HEARTH_H_
#define HEARTH_H_

#include <stddef.h>
#include <stdint.h>

#define HEARTH_VERSION_MAJOR 0
#define HEARTH_VERSION_MINOR 1
#define HEARTH_VERSION_PATCH 0
#define HEARTH_MAKE_VERSION(major, minor, patch) \
    (((UINT32_C(0) + (major)) << 22) | ((UINT32_C(0) + (minor)) << 12) | (UINT32_C(0) + (patch)))
#define HEARTH_VERSION \
    HEARTH_MAKE_VERSION(HEARTH_VERSION_MAJOR, HEARTH_VERSION_MINOR, HEARTH_VERSION_PATCH)

#if defined(_WIN32)
#define HEARTH_VKAPI_PTR __stdcall
#if defined(HEARTH_BUILD_SHARED)
#define HEARTH_API __declspec(dllexport)
#else
#define HEARTH_API
#endif
#else
#define HEARTH_VKAPI_PTR
#define HEARTH_API __attribute__((visibility("default")))
#endif

/* Experimental functions may change or go with any version, also behind 1.0 (docs/abi.md).  Who calls one with
 * HEARTH_WARN_EXPERIMENTAL defined gets the compiler's warning of deprecated functions; with
 * HEARTH_NO_EXPERIMENTAL they are not declared. */
#if !defined(HEARTH_WARN_EXPERIMENTAL)
#define HEARTH_EXPERIMENTAL
#elif defined(_MSC_VER) && !defined(__clang__)
#define HEARTH_EXPERIMENTAL __declspec(deprecated("experimental: may change or go"))
#else
#define HEARTH_EXPERIMENTAL __attribute__((deprecated("experimental: may change or go")))
#endif

/* Vulkan's handles, word for word as vulkan_core.h declares them (repeating a typedef is allowed).
 */
#if !defined(VULKAN_CORE_H_)
typedef struct VkInstance_T* VkInstance;
typedef struct VkPhysicalDevice_T* VkPhysicalDevice;
typedef struct VkDevice_T* VkDevice;
typedef struct VkCommandBuffer_T* VkCommandBuffer;
#if defined(__LP64__) || defined(_WIN64) || defined(__x86_64__) || defined(__aarch64__)
typedef struct VkBuffer_T* VkBuffer;
typedef struct VkDeviceMemory_T* VkDeviceMemory;
typedef struct VkPipelineCache_T* VkPipelineCache;
typedef struct VkQueryPool_T* VkQueryPool;
typedef struct VkSemaphore_T* VkSemaphore;
typedef struct VkImage_T* VkImage;
typedef struct VkImageView_T* VkImageView;
#else
typedef uint64_t VkBuffer;
typedef uint64_t VkDeviceMemory;
typedef uint64_t VkPipelineCache;
typedef uint64_t VkQueryPool;
typedef uint64_t VkSemaphore;
typedef uint64_t VkImage;
typedef uint64_t VkImageView;
#endif
typedef struct VkAllocationCallbacks VkAllocationCallbacks;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Results
 * --------------------------------------------------------------------------------------------- */

typedef enum hearth_result {
    HEARTH_OK = 0,
    HEARTH_NOT_READY = 1,  /* pipelines still being built, or a readback not finished: ask later */
    HEARTH_INCOMPLETE = 2, /* recorded up to a limit; call again with the same cursor */

    HEARTH_ERROR_INVALID_ARGUMENT = -1,
    HEARTH_ERROR_NOT_FOUND = -2,        /* no entry, binding or slot of that name or index */
    HEARTH_ERROR_UNSUPPORTED = -3,      /* a feature, extension or limit that the device lacks */
    HEARTH_ERROR_CORRUPT_DATA = -4,     /* bytes that are not a program */
    HEARTH_ERROR_VERSION_MISMATCH = -5, /* a program or header of another version */
    HEARTH_ERROR_OUT_OF_RANGE = -6,     /* rows, offset or size beyond its limit */
    HEARTH_ERROR_WRONG_ORDER = -7,      /* a call that something else must precede */
    HEARTH_ERROR_RING_FULL = -8,        /* more in flight than the session was created for */
    HEARTH_ERROR_BUDGET = -9,           /* beyond the host's budget; nothing was allocated */
    HEARTH_ERROR_OUT_OF_HOST_MEMORY = -10,
    HEARTH_ERROR_OUT_OF_DEVICE_MEMORY = -11,
    HEARTH_ERROR_PIPELINE = -12, /* the driver refused to build a pipeline */
    HEARTH_ERROR_DEVICE_LOST = -13,
    HEARTH_ERROR_INTERNAL = -14,
    HEARTH_ERROR_MISMATCH = -15,   /* a brain of another net, schema or parent */
    HEARTH_ERROR_DROPPED = -16,    /* recorded in a frame that was never submitted */
    HEARTH_ERROR_NOT_FINITE = -17, /* a brain with NaN or infinities */
    HEARTH_ERROR_UNTRUSTED = -18,  /* refused by hearth_host_info::verify */
    HEARTH_RESULT_FORCE_32_BITS = 0x7fffffff
} hearth_result;

/* "HEARTH_ERROR_RING_FULL"; never NULL.  Any thread. */
HEARTH_API const char* hearth_result_name(hearth_result result);

/* HEARTH_VERSION of the library in use.  Any thread. */
HEARTH_API uint32_t hearth_version(void);

/* HEARTH_OK if a caller compiled against `header_version` can use this library: equal major, and
 * while major is 0 equal minor.  Pass HEARTH_VERSION.  Any thread. */
HEARTH_API hearth_result hearth_check_version(uint32_t header_version);

/* How the library was built, for bug reports: "hearth 0.1.0 g++ 12.2.0 release".  Any thread. */
HEARTH_API const char* hearth_build_info(void);

/* All problems that a call found, one a line.  Optional wherever it is a parameter. */
typedef struct hearth_report {
    uint32_t problem_count;
    char text[4092]; /* cut at the end if there is more */
} hearth_report;

typedef enum hearth_struct_type {
    HEARTH_STRUCT_NONE = 0, /* a struct not made with its _default() function */
    HEARTH_STRUCT_DEVICE_QUERY = 1,
    HEARTH_STRUCT_REQUIREMENTS = 2,
    HEARTH_STRUCT_DEVICE_CAPS = 3,
    HEARTH_STRUCT_HOST_INFO = 4,
    HEARTH_STRUCT_PROGRAM_LOAD_INFO = 5,
    HEARTH_STRUCT_PROGRAM_INFO = 6,
    HEARTH_STRUCT_ENTRY_INFO = 7,
    HEARTH_STRUCT_BINDING_INFO = 8,
    HEARTH_STRUCT_SLOT_INFO = 9,
    HEARTH_STRUCT_SESSION_CREATE_INFO = 10,
    HEARTH_STRUCT_MEMORY_NEEDS = 11,
    HEARTH_STRUCT_SESSION_STATUS = 12,
    HEARTH_STRUCT_RECORD_INFO = 13,
    HEARTH_STRUCT_READBACK_INFO = 14,
    HEARTH_STRUCT_BUFFER_RANGE = 15,
    HEARTH_STRUCT_PROFILE = 16,
    HEARTH_STRUCT_CONTEXT_STATS = 17,
    HEARTH_STRUCT_PACKAGE_LOAD_INFO = 18,
    HEARTH_STRUCT_PACKAGE_INFO = 19,
    HEARTH_STRUCT_BRAIN_INFO = 20,
    HEARTH_STRUCT_BRAIN_SAVE_INFO = 21,
    HEARTH_STRUCT_STEP_INFO = 22,
    HEARTH_STRUCT_CONVERTER_CREATE_INFO = 23,
    HEARTH_STRUCT_CONVERSION_INFO = 24,
    HEARTH_STRUCT_DUMP_INFO = 25,
    HEARTH_STRUCT_NATIVE_INFO = 26,
    HEARTH_STRUCT_SESSION_DUMP_INFO = 27,
    HEARTH_STRUCT_TYPE_FORCE_32_BITS = 0x7fffffff
} hearth_struct_type;

/* ------------------------------------------------------------------------------------------------
 * Before the device exists: what Hearth needs (any thread; nothing is created)
 * --------------------------------------------------------------------------------------------- */

typedef void(HEARTH_VKAPI_PTR* hearth_void_function)(void);
/* The same types as PFN_vkGetInstanceProcAddr and PFN_vkGetDeviceProcAddr. */
typedef hearth_void_function(HEARTH_VKAPI_PTR* hearth_get_instance_proc)(VkInstance, const char*);
typedef hearth_void_function(HEARTH_VKAPI_PTR* hearth_get_device_proc)(VkDevice, const char*);

/* Device features as bits.  Each is one boolean of a Vulkan feature struct, named the same there.
 */
typedef uint64_t hearth_features;
#define HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS (UINT64_C(1) << 0)
#define HEARTH_FEATURE_SYNCHRONIZATION_2 (UINT64_C(1) << 1)
#define HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS (UINT64_C(1) << 2)
#define HEARTH_FEATURE_SHADER_FLOAT16 (UINT64_C(1) << 3)
#define HEARTH_FEATURE_SHADER_INT16 (UINT64_C(1) << 4)
#define HEARTH_FEATURE_SHADER_INT64 (UINT64_C(1) << 5)
#define HEARTH_FEATURE_HOST_QUERY_RESET (UINT64_C(1) << 6)
#define HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS (UINT64_C(1) << 7)
/* Of VK_NV_cooperative_matrix and VK_KHR_cooperative_matrix; worth enabling both, one is used. */
#define HEARTH_FEATURE_COOPERATIVE_MATRIX_NV (UINT64_C(1) << 8)
#define HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR (UINT64_C(1) << 9)
/* Shaders with the matrices of VK_KHR_cooperative_matrix need it. */
#define HEARTH_FEATURE_VULKAN_MEMORY_MODEL (UINT64_C(1) << 10)
/* Of VK_NV_cooperative_matrix2, both: matrices that a whole workgroup holds. */
#define HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE (UINT64_C(1) << 11)
#define HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS (UINT64_C(1) << 12)
/* Lets hearth_begin_frame read hearth_host_info::frame_semaphore. */
#define HEARTH_FEATURE_TIMELINE_SEMAPHORE (UINT64_C(1) << 13)
/* What foreign programs need, and nothing else; see HEARTH_TRUST_FOREIGN.  The first is a feature of
 * Vulkan 1.0 which the second, of VK_EXT_robustness2, needs. */
#define HEARTH_FEATURE_ROBUST_BUFFER_ACCESS (UINT64_C(1) << 14)
#define HEARTH_FEATURE_ROBUST_BUFFER_ACCESS_2 (UINT64_C(1) << 15)
/* Pipelines may then ask for a subgroup size (hearth_device_caps::min_subgroup_size and max_subgroup_size), and for
 * subgroups of which all invocations are there. */
#define HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL (UINT64_C(1) << 16)
#define HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS (UINT64_C(1) << 17)
/* Of VK_NV_compute_occupancy_priority: lets hearth_record_info::occupancy_priority be more than a wish. */
#define HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY (UINT64_C(1) << 18)
#define HEARTH_FEATURE_COUNT 19

/* "bufferDeviceAddress" for a single bit; "" for anything else. */
HEARTH_API const char* hearth_feature_name(hearth_features one_bit);

/* How kernels find their operands; a program is compiled for one of the two. */
typedef enum hearth_binding_model {
    HEARTH_BINDING_DEVICE_ADDRESS = 0,  /* needs bufferDeviceAddress */
    HEARTH_BINDING_PUSH_DESCRIPTOR = 1, /* needs VK_KHR_push_descriptor */
    HEARTH_BINDING_MODEL_FORCE_32_BITS = 0x7fffffff
} hearth_binding_model;

typedef struct hearth_device_query {
    hearth_struct_type type;
    uint32_t size;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    hearth_get_instance_proc get_instance_proc_addr;
    /* The version that the host uses: the smaller of VkApplicationInfo::apiVersion and the
     * device's. */
    uint32_t api_version;
    hearth_binding_model binding_model; /* of the programs to be run */
    /* Non-zero: foreign programs will be run too (HEARTH_TRUST_FOREIGN).  What they need is then
     * required; otherwise it is not even optional, because it makes all shaders a little slower. */
    uint32_t foreign_programs;
    uint32_t reserved;
} hearth_device_query;

#define HEARTH_MAX_EXTENSIONS 16

/* Lists of names are strings that live forever. */
typedef struct hearth_requirements {
    hearth_struct_type type;
    uint32_t size;
    uint32_t min_api_version; /* VK_API_VERSION_1_1 */
    uint32_t required_extension_count;
    uint32_t optional_extension_count;
    uint32_t compute_queue_count; /* queues worth having in a family with VK_QUEUE_COMPUTE_BIT */
    const char* required_extensions[HEARTH_MAX_EXTENSIONS];
    const char* optional_extensions[HEARTH_MAX_EXTENSIONS]; /* only those that the device has */
    hearth_features required_features;
    hearth_features optional_features; /* only those that the device has */
} hearth_requirements;

/* Instance extensions worth enabling (all optional; enable those that the instance has). */
HEARTH_API hearth_result hearth_query_instance(hearth_requirements* out);

/* What to enable on this physical device.  HEARTH_ERROR_UNSUPPORTED if it lacks something required;
 * `out` is then filled all the same and `report` names what is missing. */
HEARTH_API hearth_result hearth_query_device(const hearth_device_query* query,
                                             hearth_requirements* out, hearth_report* report);

/* Sets the booleans of `features` in the host's own pNext chain for vkCreateDevice.
 *
 * features2  a VkPhysicalDeviceFeatures2 that heads the chain (so pEnabledFeatures must be NULL).
 *            Structs already there are edited; missing ones are appended from `storage`.
 * storage    8-byte aligned memory that must outlive vkCreateDevice; *storage_bytes says how much.
 *            With storage NULL nothing is changed and *storage_bytes is set to what is needed.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE if storage is too small; nothing is changed then. */
HEARTH_API hearth_result hearth_patch_features(hearth_features features, uint32_t api_version,
                                               void* features2, void* storage,
                                               size_t* storage_bytes);

/* The other way round, for hearth_host_info::features: what a device was created with.
 *
 * chain             its VkDeviceCreateInfo::pNext, or any part of it: a VkPhysicalDeviceFeatures2, say.  NULL: none.
 *                   Structs that hold none of Hearth's features are passed over.
 * enabled_features  its pEnabledFeatures, a VkPhysicalDeviceFeatures, or NULL.
 *
 * Any thread. */
HEARTH_API hearth_features hearth_read_features(const void* chain, const void* enabled_features);

/* By which extension kernels reach the device's matrix cores. */
typedef enum hearth_matrix_cores {
    HEARTH_MATRIX_CORES_NONE = 0,
    HEARTH_MATRIX_CORES_NV = 1,  /* VK_NV_cooperative_matrix */
    HEARTH_MATRIX_CORES_KHR = 2, /* VK_KHR_cooperative_matrix */
    HEARTH_MATRIX_CORES_FORCE_32_BITS = 0x7fffffff
} hearth_matrix_cores;

/* What the sizes of matrices that a workgroup of so many invocations holds are multiples of. */
typedef struct hearth_workgroup_matrix {
    uint32_t invocations; /* zero: there is no such kind */
    uint32_t m, n, k;
} hearth_workgroup_matrix;

#define HEARTH_MAX_WORKGROUP_MATRICES 4

/* The CPU that kernels in C are written for: its vector registers, as compilers name them. */
typedef enum hearth_cpu {
    HEARTH_CPU_NONE = 0,   /* a GPU, by Vulkan */
    HEARTH_CPU_SCALAR = 1, /* no vector registers */
    HEARTH_CPU_X86_64_V2 = 2,
    HEARTH_CPU_X86_64_V3 = 3,
    HEARTH_CPU_X86_64_V4 = 4,
    HEARTH_CPU_NEON = 5,
    HEARTH_CPU_WASM128 = 6,
    HEARTH_CPU_FORCE_32_BITS = 0x7fffffff
} hearth_cpu;

/* What a compiler needs to know of a device: the C face of hearth::DeviceCaps. */
typedef struct hearth_device_caps {
    hearth_struct_type type;
    uint32_t size;
    char name[256];
    uint32_t subgroup_size;
    uint32_t max_workgroup_invocations;
    uint32_t max_workgroup_size_x;
    uint32_t max_workgroup_count_x;
    uint32_t shared_memory_bytes;
    uint32_t push_constant_bytes;
    uint64_t buffer_alignment;
    uint64_t max_buffer_bytes;
    uint32_t fp16_arithmetic;
    uint32_t fp16_storage;
    uint32_t subgroup_arithmetic;
    uint32_t timestamps; /* the queue family can write them (only hearth_context_caps knows) */
    uint32_t int8_storage;
    uint32_t matrix_cores; /* hearth_matrix_cores, of kernels with f16 operands and f32 sums */
    /* What a subgroup multiplies at once: [m, k] times [k, n].  16x16x16 if there is that kind. */
    uint32_t matrix_m, matrix_n, matrix_k;
    /* Shared memory that the driver takes for itself in kernels with matrices of a workgroup. */
    uint32_t workgroup_matrix_shared_bytes;
    /* f16 into f32, through VK_NV_cooperative_matrix2. */
    hearth_workgroup_matrix workgroup_matrices[HEARTH_MAX_WORKGROUP_MATRICES];
    /* Kernels may reach matrix cores by VK_NV_cooperative_matrix, whatever `matrix_cores` says. */
    uint32_t nv_matrix_cores;
    uint32_t cpu; /* hearth_cpu: of a native device, and then programs are compiled for it */
    uint32_t is_software; /* the driver runs on the CPU */
    /* The newest SPIR-V that it takes, as modules say it: 0x00010300 is 1.3, all that Vulkan 1.1 promises. */
    uint32_t spirv_version;
    /* Pipelines may ask for any power of two from the one to the other; 0 where
     * HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL is not enabled: subgroups have `subgroup_size` then. */
    uint32_t min_subgroup_size, max_subgroup_size;
    uint32_t is_integrated; /* a GPU that shares its memory with the CPU */
    /* Multiprocessors, compute units or Xe cores, each of which runs workgroups; 0 if the driver does not tell. */
    uint32_t compute_units;
} hearth_device_caps;

/* Caps of a physical device on which `enabled` will be (or was) enabled. */
HEARTH_API hearth_result hearth_query_caps(const hearth_device_query* query,
                                           hearth_features enabled, hearth_device_caps* out);

/* ------------------------------------------------------------------------------------------------
 * Context: a device adopted
 * --------------------------------------------------------------------------------------------- */

typedef struct hearth_context hearth_context;

/* What a piece of device memory is for; the host's allocator may treat them differently. */
typedef enum hearth_memory_usage {
    HEARTH_MEMORY_WEIGHTS = 0,  /* parameters and states: lives as long as the session */
    HEARTH_MEMORY_ARENA = 1,    /* intermediates: contents matter only while an entry runs */
    HEARTH_MEMORY_RUN = 2,      /* small per-recording values, written by the CPU */
    HEARTH_MEMORY_STAGING = 3,  /* initial weights and uploads, written by the CPU */
    HEARTH_MEMORY_READBACK = 4, /* read by the CPU */
    HEARTH_MEMORY_SHADOW = 5,   /* copies of host buffers that have no device address */
    HEARTH_MEMORY_USAGE_COUNT = 6,
    HEARTH_MEMORY_USAGE_FORCE_32_BITS = 0x7fffffff
} hearth_memory_usage;

typedef struct hearth_memory_request {
    uint64_t size_bytes;
    uint64_t alignment;
    uint32_t memory_type_bits;     /* as in VkMemoryRequirements */
    uint32_t required_properties;  /* VkMemoryPropertyFlags */
    uint32_t preferred_properties; /* VkMemoryPropertyFlags, in addition, if there is such a type */
    uint32_t device_address;       /* non-zero: VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT is needed */
    hearth_memory_usage usage;
    const char* name; /* valid during the call */
} hearth_memory_request;

typedef struct hearth_memory_block {
    VkDeviceMemory memory;
    uint64_t offset;
    void* mapped;   /* address of `offset`, if required_properties has HOST_VISIBLE; else ignored */
    uint64_t token; /* the host's own */
} hearth_memory_block;

/* Called from hearth_session_create, hearth_session_destroy, hearth_arena_create, hearth_arena_destroy,
 * hearth_begin_frame and hearth_context_destroy only, on the calling thread. */
typedef struct hearth_memory_hooks {
    void* user_data;
    /* Returns HEARTH_OK and fills *out, or an error that the caller of Hearth gets to see. */
    hearth_result (*allocate)(void* user_data, const hearth_memory_request* request,
                              hearth_memory_block* out);
    void (*free)(void* user_data, const hearth_memory_block* block);
} hearth_memory_hooks;

typedef enum hearth_log_level {
    HEARTH_LOG_ERROR = 0,
    HEARTH_LOG_WARNING = 1,
    HEARTH_LOG_INFO = 2,
    HEARTH_LOG_LEVEL_FORCE_32_BITS = 0x7fffffff
} hearth_log_level;

/* `message` is valid during the call; on the thread that called Hearth. */
typedef void (*hearth_log_callback)(void* user_data, hearth_log_level level, const char* category,
                                    const char* message);

/* Runs job(job_data) once, now or later, on any thread. */
typedef void (*hearth_job_callback)(void* user_data, void (*job)(void* job_data), void* job_data);

/* Who vouches for the bytes of a program or package; "Trust", below, tells what follows from it. */
typedef enum hearth_trust {
    HEARTH_TRUST_HOST = 0,    /* the host does, as for its own code */
    HEARTH_TRUST_FOREIGN = 1, /* nobody: from a player, a workshop, the network */
    HEARTH_TRUST_FORCE_32_BITS = 0x7fffffff
} hearth_trust;

/* What is about to be loaded. */
typedef struct hearth_load_request {
    const void* bytes; /* all that the host gave, untouched so far */
    uint64_t byte_count;
    uint32_t is_package; /* zero: a program */
    hearth_trust trust;
} hearth_load_request;

/* The host's say in what is loaded: HEARTH_OK lets it, anything else refuses it. */
typedef hearth_result (*hearth_verify_callback)(void* user_data,
                                                const hearth_load_request* request);

#define HEARTH_HEAP_COUNT 16 /* VK_MAX_MEMORY_HEAPS */

typedef struct hearth_host_info {
    hearth_struct_type type;
    uint32_t size;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    hearth_get_instance_proc get_instance_proc_addr;
    hearth_get_device_proc get_device_proc_addr; /* NULL: asked of get_instance_proc_addr */
    uint32_t api_version;                        /* in use: min(application's, device's) */
    uint32_t queue_family_index; /* of the queues that recordings will be submitted to */
    /* What the host ENABLED when it created instance and device, not what they support.  An
     * extension or feature that is not in these lists is not used. */
    uint32_t instance_extension_count;
    uint32_t device_extension_count;
    const char* const* instance_extensions;
    const char* const* device_extensions;
    hearth_features features;
    hearth_binding_model binding_model; /* of the programs to be run; see hearth_device_query */
    uint32_t reserved;
    VkPipelineCache pipeline_cache; /* optional; not destroyed; used by every thread that builds */
    const VkAllocationCallbacks* cpu_allocation; /* optional; copied; for Hearth and the driver */
    const hearth_memory_hooks* memory_hooks;     /* optional; copied */
    uint64_t device_memory_budget;               /* bytes of all heaps; 0: no limit */
    hearth_log_callback log;                     /* optional */
    hearth_job_callback run_job;                 /* optional; see hearth_session_build_async */
    void* callback_user_data;                    /* for log and run_job */
    /* Optional, if pipeline_cache is null: what hearth_context_save_pipeline_cache gave in an
     * earlier run; not needed after the call.  What another device, driver or library made, or what
     * is damaged, is ignored (and logged): hearth_context_stats tells. */
    const void* pipeline_cache_data;
    uint64_t pipeline_cache_bytes;
    /* Optional: a timeline semaphore whose value is the last completed serial, for
     * HEARTH_COMPLETED_BY_SEMAPHORE.  Needs HEARTH_FEATURE_TIMELINE_SEMAPHORE; not destroyed, and
     * lives as long as the context. */
    VkSemaphore frame_semaphore;
    /* Optional: asked by every hearth_program_load and hearth_package_load of the context, on the
     * calling thread, before Hearth reads any of the bytes; with callback_user_data. */
    hearth_verify_callback verify;
    /* Bytes that Hearth may take of each memory heap, by its index; 0: no limit.  A memory type whose heap
     * has no room left is passed over for the next that will do.  Where there is none, it is
     * HEARTH_ERROR_BUDGET before the driver is asked.  Without memory_hooks only: those choose the heap. */
    uint64_t heap_budgets[HEARTH_HEAP_COUNT];
} hearth_host_info;

/* Adopts the host's device.  HEARTH_ERROR_INVALID_ARGUMENT or HEARTH_ERROR_UNSUPPORTED if the
 * handshake has problems: `report` then lists all of them.
 * Threads: any, as long as nobody destroys the device. */
HEARTH_API hearth_result hearth_context_create(const hearth_host_info* info, hearth_context** out,
                                               hearth_report* report);

/* Frees everything at once.  The host guarantees that all recorded work has finished executing and
 * that no job is running.  HEARTH_ERROR_WRONG_ORDER while sessions or programs have not been
 * destroyed.  Threads: externally synchronized on `context` and all that came from it. */
HEARTH_API hearth_result hearth_context_destroy(hearth_context* context);

/* ------------------------------------------------------------------------------------------------
 * Native device: the CPU in place of a GPU, for servers, tools, tests and machines without one
 *
 * Everything else of this header works on it as on a Vulkan device, in the same order of calls: programs (compiled for
 * hearth_device_caps::cpu), sessions, bindings, slices, readbacks, brains, agents.  What differs:
 *
 *   command buffers  are hearth_native_commands_create's, and hearth_native_commands_run takes the queue's place
 *   buffers          are the host's own memory, by hearth_native_buffer_create; or bindings by value
 *   images           there are none: no hearth_converter, and foreign programs are refused
 *
 * Kernels are functions in C.  A game links the file that `hearth cook --kernels` wrote of a profile for CPUs, and
 * passes its table; tools have a compiler build what tables lack.
 * --------------------------------------------------------------------------------------------- */

/* Runs workgroups [first, end) of `workgroups` on what `operands` point to. */
typedef void hearth_native_function(void* const* operands, int32_t rows, int32_t first, int32_t end,
                                    int32_t workgroups);

typedef struct hearth_native_kernel {
    uint64_t hash; /* by which a program names it */
    hearth_native_function* function;
} hearth_native_kernel;

/* In ascending order of hashes.  Written by `hearth cook`. */
typedef struct hearth_native_kernels {
    uint32_t cpu; /* hearth_cpu */
    uint32_t count;
    const hearth_native_kernel* kernels;
} hearth_native_kernels;

/* A kernel that no table has. */
typedef struct hearth_native_source {
    uint64_t hash;
    const char* name; /* in the program */
    const char*
        text; /* its definition in C, "" if the program was stripped of it; zero-terminated */
} hearth_native_source;

/* Called by hearth_program_load and hearth_package_load, on their thread.  Returns a table with the kernels, which
 * lives as long as the context, or NULL: loading then fails and names a kernel. */
typedef const hearth_native_kernels* (*hearth_native_build_callback)(
    void* user_data, hearth_cpu cpu, const hearth_native_source* sources, uint32_t count);

/* Calls job(job_data, i) for each i < count, on any threads at once and in any order, and returns when all have. */
typedef void (*hearth_parallel_callback)(void* user_data, uint32_t count,
                                         void (*job)(void* job_data, uint32_t index),
                                         void* job_data);

typedef struct hearth_native_info {
    hearth_struct_type type;
    uint32_t size;
    /* What hearth_context_caps is to say that programs are compiled for; programs for less run, too.  NONE: the
     * widest that this machine has, hearth_native_cpu(). */
    hearth_cpu cpu;
    uint32_t table_count;
    const hearth_native_kernels* const* tables; /* each lives as long as the context */
    hearth_native_build_callback build;         /* optional */
    /* Optional: used by hearth_native_commands_run.  Results are the same bits with it and without. */
    hearth_parallel_callback parallel;
    uint32_t thread_count; /* that `parallel` uses */
    uint32_t reserved;
    const VkAllocationCallbacks* cpu_allocation; /* the rest as in hearth_host_info */
    uint64_t device_memory_budget;
    hearth_log_callback log;
    hearth_job_callback run_job;
    void* callback_user_data;
    hearth_verify_callback verify;
} hearth_native_info;

/* The widest that this machine runs.  Any thread. */
HEARTH_API hearth_cpu hearth_native_cpu(void);

/* Makes a context of this machine's CPU.  It needs no Vulkan: no loader, driver or device.
 * Errors: HEARTH_ERROR_UNSUPPORTED for a CPU or tables that this machine does not run; `report` lists all problems.
 * Threads: any. */
HEARTH_API hearth_result hearth_context_create_native(const hearth_native_info* info,
                                                      hearth_context** out, hearth_report* report);

/* A command buffer for the hearth_record_... functions of a native context.  Destroy it before the context. */
HEARTH_API hearth_result hearth_native_commands_create(hearth_context* context,
                                                       VkCommandBuffer* out);
HEARTH_API void hearth_native_commands_destroy(hearth_context* context, VkCommandBuffer commands);

/* Executes what was recorded since the last run, in its order, and empties the command buffer; when it returns, the
 * work is done, and the next hearth_begin_frame may say that its serial has completed.
 * Allocates nothing.  HEARTH_ERROR_OUT_OF_HOST_MEMORY: recording ran out of memory, and nothing was executed:
 * tell hearth_frame_dropped.
 * Threads: any one at a time that uses what was recorded. */
HEARTH_API hearth_result hearth_native_commands_run(hearth_context* context,
                                                    VkCommandBuffer commands);
/* Empties it without executing anything; tell hearth_frame_dropped. */
HEARTH_API hearth_result hearth_native_commands_reset(hearth_context* context,
                                                      VkCommandBuffer commands);

/* Makes memory of the host's a buffer that can be bound, at multiples of 16 bytes.  It stays the host's, who may read
 * and write it whenever no work that uses it runs; bind it with usage HEARTH_NATIVE_BUFFER_USAGE. */
HEARTH_API hearth_result hearth_native_buffer_create(hearth_context* context, void* memory,
                                                     uint64_t byte_count, VkBuffer* out);
HEARTH_API void hearth_native_buffer_destroy(hearth_context* context, VkBuffer buffer);

/* VkBufferUsageFlags: TRANSFER_SRC, TRANSFER_DST, STORAGE_BUFFER, SHADER_DEVICE_ADDRESS. */
#define HEARTH_NATIVE_BUFFER_USAGE 0x20023u

/* ------------------------------------------------------------------------------------------------
 * Context, continued: frames
 * --------------------------------------------------------------------------------------------- */

/* As completed_serial of hearth_begin_frame: the value of hearth_host_info::frame_semaphore, which
 * the host lets each frame's submission signal with its serial. */
#define HEARTH_COMPLETED_BY_SEMAPHORE UINT64_MAX

/* The clock.  `serial` numbers the frame that is about to be recorded, from 1; it never decreases
 * (it may repeat or skip).  All work of serials <= completed_serial has finished executing, but for
 * serials that hearth_frame_dropped was told of; it is less than `serial`.  Frees what was destroyed
 * and is no longer in use.  Allocates nothing.
 * Errors: HEARTH_ERROR_INVALID_ARGUMENT if serials go backwards, if completed_serial >= serial, or
 * for HEARTH_COMPLETED_BY_SEMAPHORE without a semaphore.
 * Threads: externally synchronized on `context` and all that came from it. */
HEARTH_API hearth_result hearth_begin_frame(hearth_context* context, uint64_t serial,
                                            uint64_t completed_serial);

/* The command buffers recorded with `serial` so far were not submitted and never will be (because
 * the swapchain was out of date, say).  What they held is taken back, in every session:
 *
 *   setup       is due again, unless an earlier one stands; hearth_record refuses until then
 *   uploads     are lost, and so are brains and what was to be forgotten: record them again.
 *               hearth_session_status counts them
 *   readbacks   and snapshots: hearth_readback_poll returns HEARTH_ERROR_DROPPED; release them as
 *               ever
 *   recordings  did not happen: record them again.  A sliced one goes on from its first lost slice:
 *               hearth_record takes its cursor, as it is or as it was before, back to there.  (If
 *               the last slice is lost, only a copy made before it does so, for the cursor itself
 *               was reset.)
 *   timings     are not reported
 *
 * The room of all these in the session's rings is free at once.  `report`, optional, has a line for
 * each thing lost.  Tell it before anything is recorded with a later serial: what was recorded
 * meanwhile runs on what is not there, and a sliced recording that it went on with is started anew.
 * The same serial may be used again afterwards; a serial with nothing to lose is no error.
 * Allocates nothing.
 * Errors: HEARTH_ERROR_INVALID_ARGUMENT for a serial later than the current one or completed.
 * Threads: externally synchronized on `context` and all that came from it. */
HEARTH_API hearth_result hearth_frame_dropped(hearth_context* context, uint64_t serial,
                                              hearth_report* report);

/* The host saw VK_ERROR_DEVICE_LOST: from now on every call that would use the device (frames,
 * loading, sessions, pipelines, recording, readbacks, timings) returns HEARTH_ERROR_DEVICE_LOST at
 * once and calls nothing of Vulkan.  Queries of what is known, brains' bytes and destroying work as
 * ever.  Any thread. */
HEARTH_API void hearth_context_device_lost(hearth_context* context);

/* The last failure of a call on this context, "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_context_error(const hearth_context* context);

/* Caps of the adopted device with the features that the host enabled. */
HEARTH_API hearth_result hearth_context_caps(const hearth_context* context,
                                             hearth_device_caps* out);

typedef struct hearth_context_stats {
    hearth_struct_type type;
    uint32_t size;
    uint64_t cpu_bytes; /* held now by Hearth itself, through the host's callbacks */
    uint64_t cpu_bytes_peak;
    uint64_t device_bytes[HEARTH_MEMORY_USAGE_COUNT]; /* held now */
    uint64_t device_bytes_total;
    uint32_t session_count;
    uint32_t pipeline_count;      /* shared between sessions by content */
    uint32_t pipeline_cache_used; /* non-zero: hearth_host_info::pipeline_cache_data was taken */
    uint32_t reserved;
    uint64_t serial; /* of the last hearth_begin_frame; 0: none yet */
    uint64_t completed_serial;
    uint64_t heap_bytes[HEARTH_HEAP_COUNT]; /* held now of each memory heap; 0 with memory_hooks */
} hearth_context_stats;

HEARTH_API hearth_result hearth_context_get_stats(const hearth_context* context,
                                                  hearth_context_stats* out);

/* What the driver remembers of the pipelines built so far, for hearth_host_info of the next run.
 * *byte_count is the capacity of `out` before and the size afterwards; with `out` NULL it is set to
 * what is enough.
 * Errors: HEARTH_ERROR_NOT_FOUND if the host gave a VkPipelineCache of its own;
 * HEARTH_ERROR_OUT_OF_RANGE if it did not fit.
 * Threads: any, but not at the same time as hearth_context_destroy. */
HEARTH_API hearth_result hearth_context_save_pipeline_cache(hearth_context* context, void* out,
                                                            uint64_t* byte_count);

/* ------------------------------------------------------------------------------------------------
 * Trust: what loading a program or package means
 *
 * A program carries kernels, and kernels run as code does.  Before anything is used, loading checks
 *   - every byte of the tables: each index, size, offset and sum, names, checksums; what a file
 *     claims can neither lead outside its bytes nor make loading take longer than they are long;
 *   - each step against what its kernel declares: operands inside their region (weights, arena,
 *     bindings), large enough, aligned, where the kernel looks for them;
 *   - what the SPIR-V declares: its structure, local size, shared memory, push constants, bindings,
 *     specialization constants, capabilities (those that the device has enabled, and no others).
 * Not checked is what the instructions do.  A kernel made for it can read and write any memory that
 * the device lets this process reach (with device addresses: any buffer of the game), never end, or
 * hit a bug of the driver's compiler.  Checksums find damage; they stop nobody.
 *
 * So a host loads programs and packages from where it would load a shared library from: its own
 * installation, or signed.  HEARTH_TRUST_HOST, the default, says that it did.  hearth_host_info::
 * verify is the place to check a signature, for it cannot be forgotten: hearth_sha256 gives the hash
 * to compare or to verify a signature of.  Bytes that were verified must not change afterwards: read
 * the file rather than map it if others can write it.
 *
 * A host that loads players' files does so with HEARTH_TRUST_FOREIGN.  Such a program is taken only
 * if its operands are descriptors (HEARTH_BINDING_PUSH_DESCRIPTOR, so that no kernel has an address
 * of anything; hosts that use addresses for their own programs enable VK_KHR_push_descriptor beside
 * them) and if the host enabled robustBufferAccess2: each kernel can then reach the operands of its
 * step and nothing beyond; reads outside give zero, writes outside are lost.  Its pipelines are never
 * shared with other programs.  What remains is the host's business: kernels that do not end (the
 * device is lost, as with any shader), memory of its own that a kernel indexes wrongly (shared and
 * local arrays are the driver's), bugs of the driver, and nonsense in the outputs.  A player's brain
 * on the host's own program needs none of this: brains are numbers, checked in full, and run nothing.
 * docs/security.md has the whole.
 * --------------------------------------------------------------------------------------------- */

/* The SHA-256 of bytes (FIPS 180-4), for hearth_host_info::verify.  Any thread. */
HEARTH_API void hearth_sha256(const void* bytes, uint64_t byte_count, uint8_t hash[32]);

/* ------------------------------------------------------------------------------------------------
 * Programs: what the compiler made
 * --------------------------------------------------------------------------------------------- */

typedef struct hearth_program hearth_program;

typedef struct hearth_program_load_info {
    hearth_struct_type type;
    uint32_t size;
    const void* bytes;
    uint64_t byte_count;
    /* Non-zero: `bytes` (8-byte aligned, e.g. a mapped file) stays valid and unchanged until the
     * program is destroyed and its sessions are gone, so that no copy is made. */
    uint32_t borrow;
    hearth_trust trust;
} hearth_program_load_info;

/* Checks bytes, as "Trust" above tells, and makes a program of them.
 * Errors: HEARTH_ERROR_UNTRUSTED, HEARTH_ERROR_CORRUPT_DATA, HEARTH_ERROR_VERSION_MISMATCH,
 * OUT_OF_HOST_MEMORY; HEARTH_ERROR_UNSUPPORTED for a foreign program that uses addresses, or where
 * the host has not enabled what foreign programs need.
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_program_load(hearth_context* context,
                                             const hearth_program_load_info* info,
                                             hearth_program** out);

/* A package (`.hearth`): graph, weights and one program for each profile, as `hearth cook` makes it. */
typedef struct hearth_package_load_info {
    hearth_struct_type type;
    uint32_t size;
    const void* bytes; /* of the whole file, 8-byte aligned; e.g. mapped */
    uint64_t byte_count;
    /* Non-zero: `bytes` stays valid and unchanged until the program is destroyed and its sessions
     * are gone; the weights are then used where they lie.  Zero: what is needed is copied. */
    uint32_t borrow;
    /* HEARTH_TRUST_FOREIGN: profiles that use addresses are passed over. */
    hearth_trust trust;
    /* NULL: the first profile, in the package's order, that the device can run. */
    const char* profile;
} hearth_package_load_info;

/* Checks bytes, as "Trust" above tells, chooses a profile for the context's device and makes a
 * program of it.
 * Compiles nothing and does no work for each operator.
 * Errors: as hearth_program_load; HEARTH_ERROR_NOT_FOUND for an unknown profile;
 * HEARTH_ERROR_UNSUPPORTED if the device can run none (hearth_context_error tells why, for each).
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_package_load(hearth_context* context,
                                             const hearth_package_load_info* info,
                                             hearth_program** out);

#define HEARTH_MAX_PROFILES 8

typedef struct hearth_package_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t graph_hash; /* of what was cooked; see hearth_program_info */
    uint64_t graph_bytes;
    uint64_t weights_bytes; /* in the file, for all profiles */
    uint32_t profile_count;
    uint32_t reserved;
    const char* profiles[HEARTH_MAX_PROFILES]; /* best first; they point into the bytes */
    uint64_t program_bytes[HEARTH_MAX_PROFILES];
} hearth_package_info;

/* Checks a package (8-byte aligned) and lists what is in it.  `report`, optional, tells what is
 * wrong.  Any thread. */
HEARTH_API hearth_result hearth_package_get_info(const void* bytes, uint64_t byte_count,
                                                 hearth_package_info* out, hearth_report* report);

/* Sessions made from it keep what they need.  NULL is allowed. */
HEARTH_API void hearth_program_destroy(hearth_program* program);

/* Element types.  f64, i64 and u64 have a narrower device form; so that 16-bit and 8-bit types have
 * a wider one, a program must have been compiled for a device without 16-bit or 8-bit storage: see
 * `device_dtype`. */
typedef enum hearth_dtype {
    HEARTH_F32 = 0,
    HEARTH_F16 = 1,
    HEARTH_BF16 = 2,
    HEARTH_F64 = 3,
    HEARTH_I8 = 4,
    HEARTH_U8 = 5,
    HEARTH_I16 = 6,
    HEARTH_U16 = 7,
    HEARTH_I32 = 8,
    HEARTH_U32 = 9,
    HEARTH_I64 = 10,
    HEARTH_U64 = 11,
    HEARTH_BOOL = 12,
    HEARTH_DTYPE_FORCE_32_BITS = 0x7fffffff
} hearth_dtype;

#define HEARTH_MAX_RANK 8

typedef struct hearth_dim {
    int64_t count;
    uint32_t per_row; /* non-zero: the extent is count * rows */
    uint32_t reserved;
} hearth_dim;

typedef struct hearth_program_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t hash;
    const char* profile;
    uint64_t rows_capacity; /* rows of a recording: 1..rows_capacity */
    uint64_t arena_bytes;
    uint64_t weights_bytes;
    hearth_binding_model binding_model;
    uint32_t kernel_count;
    uint32_t entry_count;
    uint32_t binding_count;
    uint32_t slot_count;
    uint32_t step_count;
    uint64_t graph_hash; /* equal for programs of one graph, whatever their profile */
} hearth_program_info;

typedef struct hearth_entry_info {
    hearth_struct_type type;
    uint32_t size;
    const char* name;
    const uint32_t* bindings; /* indices of the bindings that a recording of it must give */
    uint32_t binding_count;
    uint32_t step_count;
    uint32_t dispatch_count;
    uint32_t barrier_count;
    uint64_t arena_bytes;
    uint64_t flops; /* estimates at rows_capacity */
    uint64_t bytes_moved;
} hearth_entry_info;

typedef enum hearth_step_kind {
    HEARTH_STEP_DISPATCH = 0,
    HEARTH_STEP_COPY = 1,
    HEARTH_STEP_FILL = 2,
    HEARTH_STEP_BARRIER = 3,
    HEARTH_STEP_KIND_FORCE_32_BITS = 0x7fffffff
} hearth_step_kind;

typedef struct hearth_step_info {
    hearth_struct_type type;
    uint32_t size;
    hearth_step_kind kind;
    /* Into how many parts a dispatch may be cut (HEARTH_SESSION_CUT_DISPATCHES), of equally many workgroups: those
     * that share an index along its longest axis.  1: it is recorded whole, as all other steps are, because its kernel asks
     * how many workgroups there are, or uses atomics. */
    uint32_t part_count;
    const char* label; /* for people */
    uint64_t flops;    /* estimates at rows_capacity */
    uint64_t bytes_moved;
    uint64_t workgroups; /* of a dispatch; this and part_count are those at rows_capacity */
} hearth_step_info;

typedef struct hearth_binding_info {
    hearth_struct_type type;
    uint32_t size;
    const char* name;
    uint32_t is_output;
    hearth_dtype dtype;
    hearth_dtype device_dtype; /* of the bytes in the buffer */
    uint32_t rank;
    hearth_dim dims[HEARTH_MAX_RANK];
    uint64_t bytes_fixed; /* needs bytes_fixed + bytes_per_row * rows bytes */
    uint64_t bytes_per_row;
    uint32_t element_count; /* names of elements: of an output that packs named numbers; else 0 */
    uint32_t is_in_place;   /* an input that recordings write new contents over, once it is read */
} hearth_binding_info;

typedef enum hearth_slot_kind {
    HEARTH_SLOT_PARAM = 0,
    HEARTH_SLOT_STATE = 1,
    HEARTH_SLOT_CONSTANT = 2,
    HEARTH_SLOT_TRANSIENT = 3, /* a state that no brain holds */
    HEARTH_SLOT_KIND_FORCE_32_BITS = 0x7fffffff
} hearth_slot_kind;

/* A tensor that persists between recordings. */
typedef struct hearth_slot_info {
    hearth_struct_type type;
    uint32_t size;
    const char* name;
    hearth_slot_kind kind;
    hearth_dtype dtype;
    hearth_dtype device_dtype;
    uint32_t rank;
    hearth_dim dims[HEARTH_MAX_RANK];
    uint64_t bytes;
} hearth_slot_info;

/* Queries: any thread.  HEARTH_ERROR_NOT_FOUND if there is no such index or name;
 * hearth_program_error tells which there are. */
HEARTH_API hearth_result hearth_program_get_info(const hearth_program* program,
                                                 hearth_program_info* out);
HEARTH_API hearth_result hearth_program_get_entry(const hearth_program* program, uint32_t index,
                                                  hearth_entry_info* out);
/* A step of an entry, 0 <= index < step_count: where slices can be cut, and what lies between. */
HEARTH_API hearth_result hearth_program_get_step(const hearth_program* program, uint32_t entry,
                                                 uint32_t index, hearth_step_info* out);
/* The slots that an entry writes, ascending.  *count is the capacity of `slots` before and how many there are
 * afterwards; with `slots` NULL it is set to that.  HEARTH_ERROR_OUT_OF_RANGE if they do not fit. */
HEARTH_API hearth_result hearth_program_get_written_slots(const hearth_program* program,
                                                          uint32_t entry, uint32_t* slots,
                                                          uint32_t* count);
HEARTH_API hearth_result hearth_program_get_binding(const hearth_program* program, uint32_t index,
                                                    hearth_binding_info* out);
HEARTH_API hearth_result hearth_program_get_slot(const hearth_program* program, uint32_t index,
                                                 hearth_slot_info* out);
HEARTH_API hearth_result hearth_program_find_entry(const hearth_program* program, const char* name,
                                                   uint32_t* index);
/* Names of bindings are unique within an entry, not within a program. */
HEARTH_API hearth_result hearth_program_find_binding(const hearth_program* program, uint32_t entry,
                                                     const char* name, uint32_t* index);
HEARTH_API hearth_result hearth_program_find_slot(const hearth_program* program, const char* name,
                                                  uint32_t* index);

/* The last failure of a query of this program on the calling thread, "" if there was none or another
 * program's came after it.  Valid until the next failure on this thread. */
HEARTH_API const char* hearth_program_error(const hearth_program* program);

/* What the package that it was loaded from says of agents (hearth_agents.h, docs/package_format.md):
 * bytes that live as long as the program.  HEARTH_ERROR_NOT_FOUND: nothing. */
HEARTH_API hearth_result hearth_program_get_agents(const hearth_program* program,
                                                   const void** bytes, uint64_t* byte_count);

/* The named numbers of an output that packs them (hearth::output_scalars): number i of the buffer, in
 * elements of the binding's device_dtype.  HEARTH_ERROR_NOT_FOUND also for a binding without names. */
HEARTH_API hearth_result hearth_program_get_element(const hearth_program* program, uint32_t binding,
                                                    uint32_t index, const char** name);
HEARTH_API hearth_result hearth_program_find_element(const hearth_program* program,
                                                     uint32_t binding, const char* name,
                                                     uint32_t* index);

/* ------------------------------------------------------------------------------------------------
 * Sessions: a program with memory
 * --------------------------------------------------------------------------------------------- */

typedef struct hearth_session hearth_session;

typedef uint32_t hearth_session_flags;
/* Host buffers that kernels cannot address, offsets that they cannot reach and rows with a stride are
 * copied in and out by recorded copies, through memory of the session, and values for which inline_bytes
 * has no room through the upload ring, as one upload.  Without it they are errors. */
#define HEARTH_SESSION_COPY_BINDINGS 0x1u
/* Timestamps around each recording; see hearth_profile_next. */
#define HEARTH_SESSION_PROFILE_ENTRIES 0x2u
/* Timestamps around each step as well.  They keep steps from overlapping in the measurement: read
 * them as upper bounds. */
#define HEARTH_SESSION_PROFILE_STEPS 0x4u
/* Keeps the initial weights staged, so that hearth_record_setup can be recorded again to reset. */
#define HEARTH_SESSION_KEEP_INITIAL 0x8u
/* For development: each recording asks Vulkan about the buffers that it is given.  A range that ends
 * beyond its VkBuffer (as far as vkGetBufferMemoryRequirements tells, which rounds up) and a
 * device_address that is not the buffer's are then errors that name the binding.  (That an output
 * shares bytes with another binding is an error without it.) */
#define HEARTH_SESSION_CHECK_BINDINGS 0x10u
/* For hearth_record_info::max_us: timestamps around each recording, which hearth_begin_frame reads when they have
 * arrived.  They take a place of profile_recordings until then; with HEARTH_SESSION_PROFILE_ENTRIES or _STEPS, too,
 * until hearth_profile_next has given them. */
#define HEARTH_SESSION_MEASURE_COSTS 0x20u
/* Limits of a recording may cut a dispatch that exceeds one alone (hearth_record_info).  HEARTH_SESSION_MEASURE_COSTS
 * has it, too.  Not the default: pipelines for vkCmdDispatchBase cost each dispatch 0.3 us on an H100, cut or not. */
#define HEARTH_SESSION_CUT_DISPATCHES 0x40u

/* Scratch memory that sessions share which never run at the same time: as much as the one that needs most
 * (hearth_program_info::arena_bytes) in place of the sum.  Recordings of all of them must execute in the
 * order in which they were recorded, as those of one session must; each begins with a barrier that waits
 * for the others'.  A sliced recording that another session's recording came between is abandoned: its
 * cursor is refused. */
typedef struct hearth_arena hearth_arena;

/* Errors: HEARTH_ERROR_OUT_OF_RANGE, HEARTH_ERROR_BUDGET, OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY; the
 * context's error tells more.  Threads: externally synchronized on `context`; sessions that share an arena
 * are externally synchronized with each other. */
HEARTH_API hearth_result hearth_arena_create(hearth_context* context, uint64_t byte_count,
                                             hearth_arena** out);

/* Callable at any time before its context is destroyed: the memory lives as long as sessions that were
 * created with it.  NULL is allowed.  Threads: externally synchronized on the context. */
HEARTH_API void hearth_arena_destroy(hearth_arena* arena);

/* Sized for the program; see upload_bytes. */
#define HEARTH_AUTOMATIC_BYTES UINT64_MAX

typedef struct hearth_session_create_info {
    hearth_struct_type type;
    uint32_t size;
    const hearth_program* program;
    const char* name; /* optional; for debug labels and messages; copied */
    hearth_session_flags flags;
    /* hearth_record calls (each slice counts) that may be in flight, over all frames. */
    uint32_t recordings_in_flight;
    /* Bytes of by-value bindings that one recording may carry, up to 65536; each is rounded up to 256. */
    uint32_t inline_bytes;
    /* Rings.  HEARTH_AUTOMATIC_BYTES, the default of both sizes: what two brains and all inputs twice
     * take, or two snapshots and all outputs twice, and 16 KiB; at most 1 MiB. */
    uint32_t upload_count;   /* hearth_record_upload calls in flight */
    uint64_t upload_bytes;   /* and their bytes; 0: no uploads */
    uint64_t readback_bytes; /* bytes of readbacks requested and not yet released; 0: none */
    uint32_t readback_count;
    uint32_t profile_recordings; /* recordings whose timestamps may be waiting to be read */
    /* Optional: timestamp queries of the host's.  Null: the session makes a pool of its own. */
    VkQueryPool query_pool;
    uint32_t first_query;
    uint32_t query_count;
    /* Optional: scratch memory that other sessions use, too; see hearth_arena_create. */
    hearth_arena* arena;
} hearth_session_create_info;

typedef struct hearth_memory_needs {
    hearth_struct_type type;
    uint32_t size;
    uint64_t bytes[HEARTH_MEMORY_USAGE_COUNT];
    uint64_t alignment[HEARTH_MEMORY_USAGE_COUNT];
    uint32_t memory_type_bits[HEARTH_MEMORY_USAGE_COUNT];
    uint32_t reserved[2];
    uint64_t total_bytes;
} hearth_memory_needs;

/* The device memory that hearth_session_create with this info allocates, by usage.
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_session_query_memory(hearth_context* context,
                                                     const hearth_session_create_info* info,
                                                     hearth_memory_needs* out);

/* Allocates all that the session will ever use.  Builds no pipelines.
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_session_create(hearth_context* context,
                                               const hearth_session_create_info* info,
                                               hearth_session** out);

/* Callable at any time: memory is freed by the begin_frame that says the current serial has
 * completed.  Readbacks are cancelled.  NULL is allowed.
 * Threads: externally synchronized on `session` and its context. */
HEARTH_API void hearth_session_destroy(hearth_session* session);

/* The last failure of a call on this session, "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_session_error(const hearth_session* session);

/* Builds up to `max_pipelines` pipelines (0: all that are left), here and now, which can take
 * seconds.  HEARTH_NOT_READY if some are left or are being built elsewhere.
 * Threads: any; not while the session is being created or destroyed. */
HEARTH_API hearth_result hearth_session_build(hearth_session* session, uint32_t max_pipelines);

/* Builds through hearth_host_info::run_job, one job for each pipeline.
 * HEARTH_ERROR_WRONG_ORDER if the host gave no run_job.  Threads: as hearth_session_build. */
HEARTH_API hearth_result hearth_session_build_async(hearth_session* session);

typedef struct hearth_session_status {
    hearth_struct_type type;
    uint32_t size;
    hearth_result pipelines; /* HEARTH_OK, HEARTH_NOT_READY, or what the driver failed with */
    uint32_t pipeline_count;
    uint32_t pipelines_ready;
    uint32_t setup_recorded; /* non-zero after hearth_record_setup, unless its frame was dropped */
    uint64_t setup_serial;
    uint32_t recordings_in_flight;
    uint32_t readbacks_in_flight;
    /* What hearth_frame_dropped took back since the session was created. */
    uint64_t dropped_serial; /* the last one that took something back; 0: none */
    uint32_t dropped_setups;
    uint32_t dropped_uploads;   /* hearth_record_upload, _brain and _forget */
    uint32_t dropped_readbacks; /* and snapshots, released or not */
    uint32_t reserved;
} hearth_session_status;

HEARTH_API hearth_result hearth_session_get_status(const hearth_session* session,
                                                   hearth_session_status* out);

/* A range of a buffer, to be used by shaders or copies of the host's own. */
typedef struct hearth_buffer_range {
    hearth_struct_type type;
    uint32_t size;
    VkBuffer buffer;
    uint64_t offset;
    uint64_t bytes;
    uint64_t device_address; /* of `offset`; 0 without bufferDeviceAddress */
} hearth_buffer_range;

/* Where a slot lives.  The host orders its accesses against recordings itself: recordings access it
 * with COMPUTE_SHADER (storage read/write) and TRANSFER (read/write). */
HEARTH_API hearth_result hearth_session_get_slot_buffer(const hearth_session* session,
                                                        uint32_t slot, hearth_buffer_range* out);

/* ------------------------------------------------------------------------------------------------
 * Recording
 *
 * Precondition of every hearth_record... function: `command_buffer` is in the recording state,
 * outside a render pass, of a pool whose family is hearth_host_info::queue_family_index.  Primary
 * or secondary.  Afterwards the compute bind point's pipeline, descriptor sets and push constants
 * are undefined; everything else is untouched.
 *
 * All recordings of one session must execute in the order in which they were recorded: on one
 * queue, or ordered by the host's semaphores.  A session orders its own memory between recordings
 * with one leading barrier; the host never needs a barrier for it.
 *
 * They allocate nothing, lock nothing and call no driver function but vkCmd... and
 * vkGetBufferDeviceAddress (and vkGetBufferMemoryRequirements, with HEARTH_SESSION_CHECK_BINDINGS).
 *
 * Threads: externally synchronized on `session` and the command buffer; not during
 * hearth_begin_frame.  Different sessions may record at the same time.
 * --------------------------------------------------------------------------------------------- */

/* Stages and accesses as VkPipelineStageFlags2 and VkAccessFlags2.  Without synchronization2 they
 * are mapped to the older flags. */
typedef struct hearth_scope {
    uint64_t stages; /* 0: nothing to wait for, or nothing waits */
    uint64_t access;
    uint32_t queue_family; /* that owns the buffer; HEARTH_QUEUE_FAMILY_SAME: no transfer */
    uint32_t reserved;
} hearth_scope;

#define HEARTH_QUEUE_FAMILY_SAME 0xffffffffu

/* What a recording is given for one binding: a buffer of the host's, or bytes.
 * Make it with hearth_bind_buffer or hearth_bind_bytes. */
typedef struct hearth_bound {
    uint32_t binding; /* index of the program's binding */
    uint32_t usage;   /* VkBufferUsageFlags that the buffer was created with */
    VkBuffer buffer;
    uint64_t offset;
    uint64_t bytes;          /* from offset; at least what the binding needs at these rows */
    uint64_t device_address; /* of the buffer's start; 0: asked of Vulkan */
    /* Bytes from one row to the next in the buffer, for a binding whose bytes all grow with the rows:
     * components of the game's agents may lie between.  0: rows lie one after the other.  Rows that do
     * not are copied in and out, as HEARTH_SESSION_COPY_BINDINGS says, and so is what lies at an offset
     * that kernels cannot reach; any number of bytes will do. */
    uint64_t row_stride;
    const void* data;    /* by value, for inputs: buffer is null; copied during the call */
    hearth_scope before; /* HEARTH_BARRIERS_SDK: how the host used it before */
    hearth_scope after;  /* and how it will use it afterwards */
} hearth_bound;

typedef enum hearth_barriers {
    /* Hearth waits for each binding's `before` and releases it to its `after`: one barrier before
     * and one after, all bindings merged. */
    HEARTH_BARRIERS_SDK = 0,
    /* The host has put hearth_session_get_binding_scope's scopes into barriers of its own. */
    HEARTH_BARRIERS_HOST = 1,
    HEARTH_BARRIERS_FORCE_32_BITS = 0x7fffffff
} hearth_barriers;

typedef struct hearth_record_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer;
    uint32_t entry;
    uint32_t bound_count;
    const hearth_bound* bound; /* each binding of the entry once, in any order */
    uint64_t rows;             /* live rows, 1..rows_capacity */
    hearth_barriers barriers;
    uint32_t reserved;
    /* Optional: the row count is read by the GPU from this buffer instead: four uint32_t, {rows, 0,
     * 0, 0}, at a multiple of 256 bytes; it may be less than `rows`, never more.  With it and with
     * no by-value bindings the command buffer refers to nothing transient and may be executed again
     * and again, as long as the session and the buffers exist.  `binding` is ignored. */
    const hearth_bound* run_block;
    /* Slicing: stop at the last barrier before a limit would be exceeded (0: no limit).  Where what lies
     * between two barriers exceeds one alone, a slice begins with it and it is cut: between its steps, and,
     * in sessions with HEARTH_SESSION_CUT_DISPATCHES, a dispatch between its parts (hearth_step_info).  The bits
     * are the same wherever it is cut.  Who reads between two slices what they write finds a part of it written,
     * in the middle of a tensor, too.  Only a single part, or else a single step, may exceed a limit. */
    uint32_t max_dispatches;
    uint32_t max_workgroups;
    uint64_t max_flops;
    uint64_t max_bytes_moved;
    /* The same in microseconds of the GPU (0: no limit), for sessions with HEARTH_SESSION_MEASURE_COSTS: as much as is
     * predicted to take no longer, or else the least that can be recorded, which may be longer.  A prediction is what
     * the steps took in earlier slices, and a little more where slices took longer than predicted; of a step that was
     * never measured, what its flops and bytes_moved let expect beside those that were.  Before any was, that is a
     * guess at a small GPU.  A dispatch that is longer than the limit is cut into parts if that was seen to help.
     * Where the queue family has no timestamps the guess stays.  Nothing waits for a measurement. */
    double max_us;
    /* A hint for devices that run other work at the same time: how readily the recording's dispatches occupy the GPU
     * beside it, above 0 to 1; 0.25 is low, 0.75 high.  Afterwards the command buffer is back at 0.5, with which each
     * begins.  0, the default: nothing is recorded, and they run as the host has set its command buffer.
     * Ignored without HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY. */
    float occupancy_priority;
    uint32_t reserved2;
} hearth_record_info;

/* Where a sliced recording stopped.  Zero-initialize it to start.  It is the host's: forgetting it
 * abandons the rest, which is always safe. */
typedef struct hearth_cursor {
    uint32_t entry;
    uint32_t next_step;
    uint32_t next_part; /* of that step; both 0: at the start */
    uint32_t reserved;
    uint64_t epoch;       /* which run of the entry it belongs to */
    uint64_t fingerprint; /* of rows and bindings, which must be the same for each slice */
} hearth_cursor;

/* Records an entry, or the next slice of it.
 *
 * cursor  NULL: the whole entry.  HEARTH_INCOMPLETE: call again with it, with the same rows and
 *         bindings, into a later command buffer.  HEARTH_OK: finished, and reset to the start.
 * Returns HEARTH_NOT_READY if a pipeline is not built yet; nothing is recorded.
 * Errors: HEARTH_ERROR_WRONG_ORDER before setup (or after its frame was dropped) or begin_frame, or
 * for a cursor whose entry was started anew meanwhile; HEARTH_ERROR_RING_FULL;
 * HEARTH_ERROR_OUT_OF_RANGE for rows or a buffer that is too small; HEARTH_ERROR_INVALID_ARGUMENT. */
HEARTH_API hearth_result hearth_record(hearth_session* session, const hearth_record_info* info,
                                       hearth_cursor* cursor);

/* What hearth_record predicts: how many microseconds the GPU will take for the rest of an entry from `cursor` on
 * (NULL: for all of it) at these rows.
 * Errors: HEARTH_ERROR_UNSUPPORTED for a session without HEARTH_SESSION_MEASURE_COSTS; HEARTH_ERROR_NOT_FOUND,
 * HEARTH_ERROR_OUT_OF_RANGE; HEARTH_ERROR_INVALID_ARGUMENT for another entry's cursor.
 * Threads: externally synchronized on `session`. */
HEARTH_API hearth_result hearth_session_predict(hearth_session* session, uint32_t entry,
                                                uint64_t rows, const hearth_cursor* cursor,
                                                double* us);

/* Copies the initial contents of all slots; must execute before the first recording.  The staged
 * copy is freed when its serial has completed. */
HEARTH_API hearth_result hearth_record_setup(hearth_session* session,
                                             VkCommandBuffer command_buffer);

/* Overwrites bytes [offset, offset + byte_count) of a slot; `data` is copied during the call.
 * offset and byte_count are multiples of the size of an element (of the slot's device_dtype). */
HEARTH_API hearth_result hearth_record_upload(hearth_session* session,
                                              VkCommandBuffer command_buffer, uint32_t slot,
                                              uint64_t offset, const void* data,
                                              uint64_t byte_count);

/* The stages and accesses with which recordings of `entry` touch `binding` when it is bound to a
 * buffer with these usage flags: what a host that barriers itself (HEARTH_BARRIERS_HOST) must make
 * visible before and may wait for after.  For what is copied on account of its offset or row_stride ask
 * with TRANSFER usage alone. */
HEARTH_API hearth_result hearth_session_get_binding_scope(const hearth_session* session,
                                                          uint32_t entry, uint32_t binding,
                                                          uint32_t buffer_usage, hearth_scope* out);

/* ------------------------------------------------------------------------------------------------
 * Readback: request -> recorded copy -> poll -> read -> release
 * --------------------------------------------------------------------------------------------- */

/* A request; never 0.  Stale ids are recognized. */
typedef uint64_t hearth_readback;

/* A range to read back.  Make it with hearth_part_of_slot or hearth_part_of_buffer. */
typedef struct hearth_readback_part {
    VkBuffer buffer; /* a buffer of the host's with TRANSFER_SRC usage, or null: a slot */
    uint32_t slot;
    uint32_t reserved;
    uint64_t offset;     /* within buffer or slot */
    uint64_t byte_count; /* 0 with a slot: to its end */
    hearth_scope before; /* buffer only: how it was written.  stages 0: already visible to copies */
} hearth_readback_part;

typedef struct hearth_readback_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer;
    /* One range; ignored if there are parts.  The fields are those of hearth_readback_part. */
    VkBuffer buffer;
    uint32_t slot;
    uint32_t reserved;
    uint64_t offset;
    uint64_t byte_count;
    hearth_scope before;
    /* Optional: several ranges, of slots and buffers, read at one point and as one request.  Their bytes lie
     * one after the other, in the order given, without gaps: several scalars are an array. */
    const hearth_readback_part* parts;
    uint32_t part_count;
    uint32_t reserved2;
} hearth_readback_info;

/* Records the copy of one range, or of all parts behind one barrier.
 * Errors: HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_OUT_OF_RANGE and HEARTH_ERROR_INVALID_ARGUMENT name the part;
 * HEARTH_ERROR_RING_FULL; HEARTH_ERROR_WRONG_ORDER before begin_frame, or setup for slots. */
HEARTH_API hearth_result hearth_record_readback(hearth_session* session,
                                                const hearth_readback_info* info,
                                                hearth_readback* out);

/* HEARTH_OK: *data and *byte_count are the bytes, valid until released; *serial is the serial they
 * belong to.  HEARTH_NOT_READY: later.  HEARTH_ERROR_NOT_FOUND: no such request.
 * HEARTH_ERROR_DROPPED: its frame was dropped, and it will never arrive; release it.
 * Never waits.  Threads: externally synchronized on `session`. */
HEARTH_API hearth_result hearth_readback_poll(hearth_session* session, hearth_readback readback,
                                              const void** data, uint64_t* byte_count,
                                              uint64_t* serial);

/* Gives the bytes back, or cancels a request that has not finished.  Unknown ids are ignored. */
HEARTH_API void hearth_readback_release(hearth_session* session, hearth_readback readback);

/* ------------------------------------------------------------------------------------------------
 * Dumps (experimental): recordings with all that they were given and all that came of them, for a bug report
 *
 * A dump is a .safetensors file's worth of bytes, which `hearth replay` reads, runs again and compares; so
 * does whatever else reads that format.  Its tensors are
 *
 *   slot/NAME         every slot before the entry; input/NAME, every input
 *   step/STEP/OPERAND what a chosen step wrote, as bytes
 *   output/NAME       what is written of the bindings; slot_after/NAME, each slot that the entry writes
 *   program           with HEARTH_DUMP_PROGRAM: the program, so that it can be run without its package
 *
 * in the types that they have in memory, and its texts (__metadata__) name the build, the device, the
 * program's hashes and profile, entry, rows, step, serial, the entry's steps, and the last errors of session
 * and context.  There is no address and no handle in it, no path, nothing of the host's other memory, no
 * name of the application, the machine or its user, and nothing of earlier recordings but what slots hold.
 * Inputs and weights are there, though: what players did, and what was learned of it.  A game asks them
 * before it sends a dump to anybody.
 * --------------------------------------------------------------------------------------------- */

#define HEARTH_NO_STEP UINT32_MAX

/* Records an entry as hearth_record does without a cursor, and copies what a dump holds into one readback:
 * finish with hearth_readback_poll, hearth_dump_encode and hearth_readback_release.  What is computed is to
 * the bit the same; it takes a few barriers more.
 *
 * step  HEARTH_NO_STEP, or a step of the entry (hearth_program_get_step), but no barrier.
 *
 * Takes hearth_program_dump_bytes of readback_bytes.  The buffers that are bound need TRANSFER_SRC usage,
 * and with HEARTH_BARRIERS_HOST the host's barriers include TRANSFER reads of them, before and after.
 * Errors: those of hearth_record and hearth_record_readback; HEARTH_ERROR_INVALID_ARGUMENT for the step, for
 * a limit, and for a buffer without TRANSFER_SRC, which it names. */
#if !defined(HEARTH_NO_EXPERIMENTAL)
HEARTH_API HEARTH_EXPERIMENTAL hearth_result hearth_record_dump(hearth_session* session,
                                                                const hearth_record_info* info,
                                                                uint32_t step,
                                                                hearth_readback* out);
#endif

/* Bytes of the readback of hearth_record_dump; 0 if there is no such entry or step, or for rows beyond the
 * program's.  Any thread. */
#if !defined(HEARTH_NO_EXPERIMENTAL)
HEARTH_API HEARTH_EXPERIMENTAL uint64_t hearth_program_dump_bytes(const hearth_program* program,
                                                                  uint32_t entry, uint64_t rows,
                                                                  uint32_t step);
#endif

typedef uint32_t hearth_dump_flags;
/* With the program's bytes: kernels, names and first contents, unless these are in a package. */
#define HEARTH_DUMP_PROGRAM 0x1u

typedef struct hearth_dump_info {
    hearth_struct_type type;
    uint32_t size;
    uint32_t entry; /* as recorded */
    uint32_t step;
    uint64_t rows;
    /* What hearth_readback_poll gave.  NULL: texts alone, after the device was lost, say. */
    const void* data;
    uint64_t data_bytes;
    uint64_t serial;
    hearth_dump_flags flags;
    uint32_t reserved;
    const char* note; /* optional: the host's own words */
} hearth_dump_info;

/* Makes a dump's bytes.  *byte_count is the capacity of `out` before and the size afterwards; with `out`
 * NULL it is set to what is needed.  Allocates nothing.
 * Errors: HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_OUT_OF_RANGE, HEARTH_ERROR_INVALID_ARGUMENT;
 * hearth_session_error tells more.  Threads: externally synchronized on `session`. */
#if !defined(HEARTH_NO_EXPERIMENTAL)
HEARTH_API HEARTH_EXPERIMENTAL hearth_result hearth_dump_encode(hearth_session* session,
                                                                const hearth_dump_info* info,
                                                                void* out, uint64_t* byte_count);
#endif

/* Takes a dump, valid during the call, and puts it into a file, say: `hearth replay` and `hearth diff` read
 * folders of such files, in the order of their names.  It calls nothing of Hearth.
 * index  counts the dumps of one hearth_session_dump, from 0; what was recorded into a frame that was dropped
 *        is missing. */
typedef void (*hearth_dump_callback)(void* user_data, uint64_t index, const void* bytes,
                                     uint64_t byte_count);

typedef struct hearth_session_dump_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t count; /* recordings to dump; 0: no more, and those on their way are given up */
    hearth_dump_callback callback; /* not null if there are any */
    void* user_data;
    hearth_dump_flags flags; /* HEARTH_DUMP_PROGRAM: with the first one that arrives */
    uint32_t reserved;
} hearth_session_dump_info;

/* Dumps the next `count` executions: hearth_record records as hearth_record_dump does, and hearth_begin_frame
 * hands over each dump, on its thread, when its serial has completed.  In place of an earlier call's; the
 * session's end is the end of it, too.
 *
 * Passed over, and not counted, are slices (a cursor with a limit), what has a run_block, since its command
 * buffer may be executed again, and what finds no room in readback_bytes: hearth_program_dump_bytes for each
 * recording in flight.  Until the last dump is handed over hearth_begin_frame allocates CPU memory for each;
 * a dump for which there is none is missing, and the log says so.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE if no entry's dump fits into readback_bytes;
 * HEARTH_ERROR_INVALID_ARGUMENT; HEARTH_ERROR_OUT_OF_HOST_MEMORY.
 * Threads: externally synchronized on `session`. */
#if !defined(HEARTH_NO_EXPERIMENTAL)
HEARTH_API HEARTH_EXPERIMENTAL hearth_result
hearth_session_dump(hearth_session* session, const hearth_session_dump_info* info);
#endif

/* ------------------------------------------------------------------------------------------------
 * Images: texels to a tensor in a buffer, and back, as recorded kernels
 *
 * A converter is one direction for one format.  Its conversions are recorded beside those of sessions:
 * an image to the buffer that is an entry's input, or an entry's output to an image.  It takes no
 * device memory; the buffers and images are the host's.  The element type is f32.
 *
 *   reading   images with SAMPLED usage and any format of colour (of up to 32 bits a component), depth,
 *             stencil or BC; integers become floats of the same value.  What the format says is decoded:
 *             UNORM to 0..1, SRGB to linear, and so on
 *   writing   images with STORAGE usage in R8G8B8A8_UNORM, R8G8B8A8_SNORM, R16G16B16A16_SFLOAT,
 *             R32_SFLOAT or R32G32B32A32_SFLOAT: those that every device writes without a further
 *             feature.  An image of R8G8B8A8_SRGB is written through a view of R8G8B8A8_UNORM with
 *             HEARTH_CONVERSION_SRGB
 *
 * Texels are areas: pixel i of n covers [i / n, (i + 1) / n).  Resampling takes the place's centre:
 * without HEARTH_CONVERSION_LINEAR the source that it lies in, with it the two by two around it, weighted;
 * what lies outside the region is its edge.  Neither averages: halve an image more than once by mips.
 * --------------------------------------------------------------------------------------------- */

typedef struct hearth_converter hearth_converter;

typedef enum hearth_conversion_direction {
    HEARTH_IMAGE_TO_TENSOR = 0,
    HEARTH_TENSOR_TO_IMAGE = 1,
    HEARTH_CONVERSION_DIRECTION_FORCE_32_BITS = 0x7fffffff
} hearth_conversion_direction;

typedef struct hearth_converter_create_info {
    hearth_struct_type type;
    uint32_t size;
    hearth_conversion_direction direction;
    uint32_t format;               /* VkFormat of the views */
    uint32_t recordings_in_flight; /* hearth_record_conversion calls, over all frames: 1..16384 */
    uint32_t reserved;
} hearth_converter_create_info;

/* Builds the pipeline, here and now, and a descriptor set for each recording in flight.
 * Errors: HEARTH_ERROR_UNSUPPORTED for another format; HEARTH_ERROR_OUT_OF_RANGE; what the driver says.
 * hearth_context_error tells more.  Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_converter_create(hearth_context* context,
                                                 const hearth_converter_create_info* info,
                                                 hearth_converter** out);

/* Callable at any time, before its context is destroyed: what it holds is freed by the begin_frame
 * that says the current serial has completed.  NULL is allowed.
 * Threads: externally synchronized on `converter` and its context. */
HEARTH_API void hearth_converter_destroy(hearth_converter* converter);

/* The last failure of a call on this converter, "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_converter_error(const hearth_converter* converter);

typedef uint32_t hearth_conversion_flags;
/* The tensor is [height, width, channels].  Without it: [channels, height, width]. */
#define HEARTH_CONVERSION_CHANNELS_LAST 0x1u
#define HEARTH_CONVERSION_LINEAR 0x2u /* resample linearly; without it: the nearest */
#define HEARTH_CONVERSION_FLIP_X 0x4u
#define HEARTH_CONVERSION_FLIP_Y 0x8u
/* Red, green and blue of the image are encoded as sRGB though its format does not say so: they are
 * decoded before anything else when read, and encoded after all else when written. */
#define HEARTH_CONVERSION_SRGB 0x10u

#define HEARTH_SWIZZLE_ZERO 4u
#define HEARTH_SWIZZLE_ONE 5u

/* Reading: channel c of the tensor is component swizzle[c] of the image, times scale[c], plus bias[c].
 * Writing: component k of the image is channel swizzle[k] of the tensor, times scale[k], plus bias[k].
 * Make it with hearth_conversion_info_default(): the first three channels as they are. */
typedef struct hearth_conversion_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer;
    VkImage image;
    VkImageView view; /* 2D, of one level and layer; lives until the recording has executed */
    uint32_t aspect;  /* VkImageAspectFlags; what the view shows of the image */
    uint32_t mip_level;
    uint32_t array_layer;
    uint32_t image_width; /* of that level */
    uint32_t image_height;
    uint32_t region_x; /* what is converted of it; width and height 0: all */
    uint32_t region_y;
    uint32_t region_width;
    uint32_t region_height;
    /* VkImageLayout.  HEARTH_BARRIERS_SDK: the image comes from `before` and is left in `after`
     * (UNDEFINED: in what the kernel used, GENERAL or, where that can be read, `before`; else
     * SHADER_READ_ONLY_OPTIMAL).  An image that is written all over may come from UNDEFINED.
     * HEARTH_BARRIERS_HOST: it is and stays in `before`: GENERAL, or a layout for reading. */
    uint32_t image_layout_before;
    uint32_t image_layout_after;
    uint32_t reserved;
    hearth_scope image_before; /* how the host used the image, and how it will */
    hearth_scope image_after;
    /* A buffer with STORAGE_BUFFER usage, at a multiple of minStorageBufferOffsetAlignment; `before`
     * and `after` as in recordings of sessions.  `binding` and `data` are ignored. */
    hearth_bound tensor;
    uint32_t tensor_width;
    uint32_t tensor_height;
    uint32_t channels; /* 1..4 */
    hearth_conversion_flags flags;
    uint32_t swizzle[4]; /* HEARTH_SWIZZLE_ZERO and _ONE are constants */
    float scale[4];
    float bias[4];
    hearth_barriers barriers;
    uint32_t reserved2;
} hearth_conversion_info;

/* Records the conversion.  The command buffer is as "Recording" says; compute state is undefined
 * afterwards, and descriptor sets of the compute bind point.  Allocates nothing.
 * Errors: HEARTH_ERROR_RING_FULL; HEARTH_ERROR_INVALID_ARGUMENT, HEARTH_ERROR_OUT_OF_RANGE;
 * HEARTH_ERROR_WRONG_ORDER before begin_frame.
 * Threads: externally synchronized on `converter` and the command buffer; not during
 * hearth_begin_frame. */
HEARTH_API hearth_result hearth_record_conversion(hearth_converter* converter,
                                                  const hearth_conversion_info* info);

/* ------------------------------------------------------------------------------------------------
 * Brains: what was learned, saved, loaded and forgotten
 *
 * A brain is a file's worth of bytes that holds all params and states of a program (weights,
 * optimizer moments, counters, random state, statistics) by name, but not its transient states
 * (rings of samples, memory): these go back to their first contents when a brain is loaded.  It loads on any device and
 * profile.  Hearth opens no files: hearth_record_snapshot copies the memory in the command buffer,
 * at one point between recordings; once its serial has completed, hearth_brain_encode makes the
 * file's bytes of the copy on any thread, and the host writes them (hearth/brain_file.hpp has a
 * function that does so atomically).  Loading checks everything before it touches the session.
 * --------------------------------------------------------------------------------------------- */

typedef uint32_t hearth_brain_flags;
/* Loading: tensors that one side lacks are left as they are, and the bindings may differ.  Without
 * it params and states must be the same, name by name. */
#define HEARTH_BRAIN_ALLOW_PARTIAL 0x1u
/* Loading: the graph that the brain learned in must be this program's. */
#define HEARTH_BRAIN_SAME_GRAPH 0x2u
/* Saving: store what differs from the program's first contents alone.  The brain then loads only
 * where those first contents are the same. */
#define HEARTH_BRAIN_DELTA 0x4u
/* Loading and saving: NaN and infinities are welcome.  Without it they are HEARTH_ERROR_NOT_FINITE:
 * they spread, and a net that has learned one never recovers. */
#define HEARTH_BRAIN_ALLOW_NONFINITE 0x8u

typedef struct hearth_brain_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t graph_hash;       /* of the program that saved it */
    uint64_t schema_hash;      /* of its inputs and outputs */
    uint64_t parent_hash;      /* of the first contents that it learned from */
    uint64_t host_schema_hash; /* the host's own */
    uint32_t tensor_count;
    uint32_t changed_count; /* of a delta: tensors that differ from the parent; else all */
    uint32_t is_delta;
    uint32_t format_version;
    const void* host_data; /* the host's own bytes; they point into the brain's */
    uint64_t host_bytes;
} hearth_brain_info;

/* Checks the bytes of a brain (8-byte aligned) and tells what it is.  `report`, optional, tells what
 * is wrong.  Any thread. */
HEARTH_API hearth_result hearth_brain_get_info(const void* bytes, uint64_t byte_count,
                                               hearth_brain_info* out, hearth_report* report);

/* Records a copy of all that a brain holds into the readback ring, as one consistent state: finish
 * with hearth_readback_poll and hearth_readback_release.  Takes hearth_program_snapshot_bytes of
 * readback_bytes.  Bytes between tensors are zero: equal contents, equal bytes.
 * HEARTH_NOT_READY: a sliced entry stands between the first and the last of its writes; nothing was
 * recorded: try again when it has finished. */
HEARTH_API hearth_result hearth_record_snapshot(hearth_session* session,
                                                VkCommandBuffer command_buffer,
                                                hearth_readback* out);

/* Bytes of a snapshot of this program's sessions, and of what loading a brain takes of upload_bytes;
 * there, first contents of transient states that are not zero come on top. */
HEARTH_API uint64_t hearth_program_snapshot_bytes(const hearth_program* program);

typedef struct hearth_brain_save_info {
    hearth_struct_type type;
    uint32_t size;
    const void* snapshot; /* what hearth_readback_poll gave for hearth_record_snapshot */
    uint64_t snapshot_bytes;
    hearth_brain_flags flags;
    uint32_t reserved;
    uint64_t host_schema_hash; /* optional: of the host's own observation schema */
    const void* host_data;     /* optional: bytes that come back with the brain */
    uint64_t host_bytes;
} hearth_brain_save_info;

/* Makes a brain's bytes of a snapshot.  *byte_count is the capacity of `out` before and the size
 * afterwards; with `out` NULL it is set to what is enough.
 * Errors: HEARTH_ERROR_NOT_FINITE unless the flags allow it; HEARTH_ERROR_OUT_OF_RANGE if it does
 * not fit.
 * Allocates nothing.  Any thread, as long as `program` and the snapshot live. */
HEARTH_API hearth_result hearth_brain_encode(const hearth_program* program,
                                             const hearth_brain_save_info* info, void* out,
                                             uint64_t* byte_count);

/* Whether the brain could be loaded; `report`, optional, lists all that stands against it.
 * Errors: HEARTH_ERROR_CORRUPT_DATA, HEARTH_ERROR_VERSION_MISMATCH, HEARTH_ERROR_MISMATCH,
 * HEARTH_ERROR_NOT_FINITE.  Any thread. */
HEARTH_API hearth_result hearth_brain_check(const hearth_program* program, const void* bytes,
                                            uint64_t byte_count, hearth_brain_flags flags,
                                            hearth_report* report);

/* Checks the brain, decodes all of it into the upload ring, and only then records the copies.
 * Slices of entries that are not finished are abandoned.  Errors: as hearth_brain_check, and
 * HEARTH_ERROR_RING_FULL. */
HEARTH_API hearth_result hearth_record_brain(hearth_session* session,
                                             VkCommandBuffer command_buffer, const void* bytes,
                                             uint64_t byte_count, hearth_brain_flags flags,
                                             hearth_report* report);

/* Puts params and states, transient ones too, back to the program's first contents: those whose names match `pattern`, in
 * which '*' stands for any characters (NULL: all).  *count, optional, is how many.
 * Errors: HEARTH_ERROR_NOT_FOUND if there is none; HEARTH_ERROR_RING_FULL. */
HEARTH_API hearth_result hearth_record_forget(hearth_session* session,
                                              VkCommandBuffer command_buffer, const char* pattern,
                                              uint32_t* count);

/* ------------------------------------------------------------------------------------------------
 * Two sessions of one program: one works on a queue of its own while the other is used every frame
 * --------------------------------------------------------------------------------------------- */

/* Records copies of slots of `from` to the same slots of `to`, another session of the same program and context.
 * Both sessions' earlier recordings of this queue are finished then, and later ones see the copies.  Work
 * of theirs on another queue has to be complete, and the other queue's may begin when this has completed.
 * Errors: HEARTH_ERROR_MISMATCH for sessions of different programs, HEARTH_ERROR_NOT_FOUND for a slot. */
HEARTH_API hearth_result hearth_record_copy_slots(hearth_session* to, hearth_session* from,
                                                  VkCommandBuffer command_buffer,
                                                  const uint32_t* slots, uint32_t count);

/* Hands all memory of a session from one queue family to another (HEARTH_QUEUE_FAMILY_SAME: that of the context).
 * Recorded twice with equal arguments: behind the last work on the old queue, and, once that serial has
 * completed, in front of the first on the new one.  Equal families: nothing is recorded. */
HEARTH_API hearth_result hearth_record_queue_transfer(hearth_session* session,
                                                      VkCommandBuffer command_buffer,
                                                      uint32_t from_family, uint32_t to_family);

/* ------------------------------------------------------------------------------------------------
 * Profile
 * --------------------------------------------------------------------------------------------- */

typedef struct hearth_profile {
    hearth_struct_type type;
    uint32_t size;
    uint64_t serial;
    uint64_t rows;
    uint32_t entry;
    uint32_t first_step; /* of the slice, counted within the entry */
    uint32_t step_count; /* of step_ns and step_labels; 0 without HEARTH_SESSION_PROFILE_STEPS */
    uint32_t first_part; /* of that step, where a slice cut it */
    double total_ns;
    const double* step_ns; /* valid until the next call on the session */
    const char* const* step_labels;
    /* Behind the slice: where the next one would begin; at the end of the entry, its step_count and 0. */
    uint32_t end_step;
    uint32_t end_part;
} hearth_profile;

/* The oldest recording whose timestamps have arrived and have not been read yet.
 * HEARTH_NOT_READY: none.  HEARTH_ERROR_UNSUPPORTED: the queue family has no timestamps.
 * Recordings made while profile_recordings are waiting to be read are not measured. */
HEARTH_API hearth_result hearth_profile_next(hearth_session* session, hearth_profile* out);

/* The session as JSON, zero-terminated, for a game's developer tools (experimental): device_bytes by usage,
 * pipelines, slots, and for each entry its bindings, its steps with their estimated flops and bytes_moved,
 * their sums, and measured_us of the last whole recording that hearth_profile_next gave (with measured_rows).
 * An extent that counts rows is "rows" or "4*rows".  *byte_count is the capacity of `out` before and the size
 * with the zero afterwards; with `out` NULL it is set to what is needed.  Allocates nothing.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE if it did not fit.  Threads: externally synchronized on `session`. */
#if !defined(HEARTH_NO_EXPERIMENTAL)
HEARTH_API HEARTH_EXPERIMENTAL hearth_result hearth_session_describe(hearth_session* session,
                                                                     char* out,
                                                                     uint64_t* byte_count);
#endif

#if defined(__cplusplus)
#define HEARTH_INLINE inline
#else
#define HEARTH_INLINE static inline
#endif

/* {stages, access}, staying in the same queue family. */
HEARTH_INLINE hearth_scope hearth_make_scope(uint64_t stages, uint64_t access) {
    hearth_scope scope;
    scope.stages = stages;
    scope.access = access;
    scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    scope.reserved = 0;
    return scope;
}

/* Nothing: a pointer, and a handle, which is a pointer or a number; without the warnings of either
 * language. */
#if defined(__cplusplus)
#define HEARTH_NO_DATA nullptr
#define HEARTH_NO_BUFFER VkBuffer()
#else
#define HEARTH_NO_DATA NULL
#define HEARTH_NO_BUFFER 0
#endif

/* Binds bytes [offset, offset + byte_count) of a buffer created with `usage` (VkBufferUsageFlags).
 * Set `before` and `after` unless the host barriers itself. */
HEARTH_INLINE hearth_bound hearth_bind_buffer(uint32_t binding, VkBuffer buffer, uint64_t offset,
                                              uint64_t byte_count, uint32_t usage) {
    hearth_bound bound;
    bound.binding = binding;
    bound.usage = usage;
    bound.buffer = buffer;
    bound.offset = offset;
    bound.bytes = byte_count;
    bound.device_address = 0;
    bound.row_stride = 0;
    bound.data = HEARTH_NO_DATA;
    bound.before = hearth_make_scope(0, 0);
    bound.after = hearth_make_scope(0, 0);
    return bound;
}

/* Binds `byte_count` bytes by value (inputs only). */
HEARTH_INLINE hearth_bound hearth_bind_bytes(uint32_t binding, const void* data,
                                             uint64_t byte_count) {
    hearth_bound bound = hearth_bind_buffer(binding, HEARTH_NO_BUFFER, 0, byte_count, 0);
    bound.data = data;
    return bound;
}

/* Bytes [offset, offset + byte_count) of a buffer of the host's with TRANSFER_SRC usage, as part of a readback.
 * before  how it was written; {0, 0}: already visible to copies. */
HEARTH_INLINE hearth_readback_part hearth_part_of_buffer(VkBuffer buffer, uint64_t offset,
                                                         uint64_t byte_count, hearth_scope before) {
    hearth_readback_part part;
    part.buffer = buffer;
    part.slot = 0;
    part.reserved = 0;
    part.offset = offset;
    part.byte_count = byte_count;
    part.before = before;
    return part;
}

/* Bytes [offset, offset + byte_count) of a slot, as part of a readback; byte_count 0: to its end. */
HEARTH_INLINE hearth_readback_part hearth_part_of_slot(uint32_t slot, uint64_t offset,
                                                       uint64_t byte_count) {
    hearth_readback_part part =
        hearth_part_of_buffer(HEARTH_NO_BUFFER, offset, byte_count, hearth_make_scope(0, 0));
    part.slot = slot;
    return part;
}

#undef HEARTH_NO_BUFFER
#undef HEARTH_NO_DATA
#undef HEARTH_INLINE

/* ------------------------------------------------------------------------------------------------
 * Defaults
 * --------------------------------------------------------------------------------------------- */

#if defined(__cplusplus)
#define HEARTH_DEFAULT_FUNCTION(name, tag) \
    inline name name##_default(void) {     \
        name value = {};                   \
        value.type = tag;                  \
        value.size = uint32_t{sizeof(name)};
#else
#define HEARTH_DEFAULT_FUNCTION(name, tag)    \
    static inline name name##_default(void) { \
        name value = {0};                     \
        value.type = tag;                     \
        value.size = (uint32_t)sizeof(name);
#endif
#define HEARTH_DEFAULT_END \
    return value;          \
    }

/* clang-format off */
HEARTH_DEFAULT_FUNCTION(hearth_device_query, HEARTH_STRUCT_DEVICE_QUERY) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_requirements, HEARTH_STRUCT_REQUIREMENTS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_device_caps, HEARTH_STRUCT_DEVICE_CAPS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_host_info, HEARTH_STRUCT_HOST_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_native_info, HEARTH_STRUCT_NATIVE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_context_stats, HEARTH_STRUCT_CONTEXT_STATS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_program_load_info, HEARTH_STRUCT_PROGRAM_LOAD_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_package_load_info, HEARTH_STRUCT_PACKAGE_LOAD_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_package_info, HEARTH_STRUCT_PACKAGE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_program_info, HEARTH_STRUCT_PROGRAM_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_entry_info, HEARTH_STRUCT_ENTRY_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_step_info, HEARTH_STRUCT_STEP_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_binding_info, HEARTH_STRUCT_BINDING_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_slot_info, HEARTH_STRUCT_SLOT_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_session_create_info, HEARTH_STRUCT_SESSION_CREATE_INFO)
    value.recordings_in_flight = 64;
    value.inline_bytes = 1024;
    value.upload_count = 64;
    value.upload_bytes = HEARTH_AUTOMATIC_BYTES;
    value.readback_bytes = HEARTH_AUTOMATIC_BYTES;
    value.readback_count = 64;
    value.profile_recordings = 16;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_memory_needs, HEARTH_STRUCT_MEMORY_NEEDS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_session_status, HEARTH_STRUCT_SESSION_STATUS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_buffer_range, HEARTH_STRUCT_BUFFER_RANGE) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_record_info, HEARTH_STRUCT_RECORD_INFO)
    value.rows = 1;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_readback_info, HEARTH_STRUCT_READBACK_INFO)
    value.before.queue_family = HEARTH_QUEUE_FAMILY_SAME;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_dump_info, HEARTH_STRUCT_DUMP_INFO)
    value.step = HEARTH_NO_STEP;
    value.rows = 1;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_session_dump_info, HEARTH_STRUCT_SESSION_DUMP_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_brain_info, HEARTH_STRUCT_BRAIN_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_brain_save_info, HEARTH_STRUCT_BRAIN_SAVE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_profile, HEARTH_STRUCT_PROFILE) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_converter_create_info, HEARTH_STRUCT_CONVERTER_CREATE_INFO)
    value.recordings_in_flight = 8;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_conversion_info, HEARTH_STRUCT_CONVERSION_INFO)
    value.aspect = 1; /* VK_IMAGE_ASPECT_COLOR_BIT */
    value.image_before.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.image_after.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.tensor.before.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.tensor.after.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.channels = 3;
    for (uint32_t i = 0; i < 4; ++i) {
        value.swizzle[i] = i;
        value.scale[i] = 1.0f;
    }
HEARTH_DEFAULT_END
/* clang-format on */

#undef HEARTH_DEFAULT_FUNCTION
#undef HEARTH_DEFAULT_END

#ifdef __cplusplus
} /* extern "C" */
static_assert(sizeof(hearth_result) == 4 && sizeof(hearth_dtype) == 4, "enums must be 32 bits");
#else
_Static_assert(sizeof(hearth_result) == 4 && sizeof(hearth_dtype) == 4, "enums must be 32 bits");
#endif

#endif /* HEARTH_H_ */
