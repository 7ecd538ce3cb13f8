/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

/* Hearth's C runtime interface: query requirements, adopt a device, load programs, create
 * sessions, record, read back, destroy.
 *
 * The application owns everything: Hearth uses its VkInstance, VkDevice, memory and command
 * buffers, and only records compute work.  It creates no instance and no device, submits
 * nothing, never waits, starts no threads, and calls Vulkan only through the application's
 * vkGetInstanceProcAddr.
 *
 * Conventions
 *   Structs   begin with `type` and `size`.  Create them with their `..._default()` function, which
 *             sets both, so that fields which later versions append read as absent rather than as
 *             garbage.  A struct larger than the library knows comes from a newer header and is
 *             rejected with HEARTH_ERROR_VERSION_MISMATCH.
 *   Results   0 is success, positive values are not errors, negative values are errors.  A call
 *             that returns an error has recorded nothing and changed nothing.  Details, as one
 *             sentence: hearth_context_error, hearth_session_error and hearth_program_error.
 *   Strings   UTF-8, zero-terminated.  A returned string lives as long as the object that it was
 *             queried from; names in requirement lists are static.
 *   Threads   There are no internal locks.  Each function documents what must be externally
 *             synchronized.  Different contexts never need synchronization with each other, and
 *             neither do recordings of different sessions of one context.
 *   Frames    have numbers, and hearth_begin_frame(frame_number, completed_frame_number) is the
 *             only clock.  Work recorded after begin_frame(N, ...) belongs to frame N; it counts as
 *             complete once a begin_frame reports completed_frame_number >= N.
 *             hearth_discard_frame(N) reports that frame N was never submitted.
 *
 * This header is self-contained, compiles as C11 and as C++, and may be included before or after
 * vulkan.h. */

#ifndef HEARTH_H_
#define HEARTH_H_

#include <stddef.h>
#include <stdint.h>

#define HEARTH_VERSION_MAJOR 0
#define HEARTH_VERSION_MINOR 2
#define HEARTH_VERSION_PATCH 0
#define HEARTH_MAKE_VERSION(major, minor, patch) \
    (((UINT32_C(0) + (major)) << 22) | ((UINT32_C(0) + (minor)) << 12) | (UINT32_C(0) + (patch)))
/* HEARTH_MAKE_VERSION of these, without it: generators of bindings evaluate no macro functions. */
#define HEARTH_VERSION                                                           \
    (((HEARTH_VERSION_MAJOR + 0u) << 22) | ((HEARTH_VERSION_MINOR + 0u) << 12) | \
     (HEARTH_VERSION_PATCH + 0u))

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

/* Experimental functions may change or disappear in any version, even after 1.0
 * (docs/reference/abi.md).  Define HEARTH_WARN_EXPERIMENTAL to mark them deprecated, so that the
 * compiler warns at each call; define HEARTH_NO_EXPERIMENTAL to leave them undeclared. */
#if !defined(HEARTH_WARN_EXPERIMENTAL)
#define HEARTH_EXPERIMENTAL
#elif defined(_MSC_VER) && !defined(__clang__)
#define HEARTH_EXPERIMENTAL __declspec(deprecated("experimental: may change or go"))
#else
#define HEARTH_EXPERIMENTAL __attribute__((deprecated("experimental: may change or go")))
#endif

/* Vulkan's handles, declared exactly as in vulkan_core.h (a repeated typedef is allowed). */
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

/* Result of a call: 0 success, positive not an error, negative an error. */
typedef enum hearth_result {
    HEARTH_OK = 0,
    HEARTH_NOT_READY = 1,  /* pipelines still being built, or a readback pending: try later */
    HEARTH_INCOMPLETE = 2, /* stopped at a limit; call again with the same cursor */

    HEARTH_ERROR_INVALID_ARGUMENT = -1,
    HEARTH_ERROR_NOT_FOUND = -2,          /* no entry, binding or variable of that name or index */
    HEARTH_ERROR_UNSUPPORTED = -3,        /* the device lacks a feature, extension or limit */
    HEARTH_ERROR_CORRUPT_DATA = -4,       /* the bytes are not a valid program, package or brain */
    HEARTH_ERROR_VERSION_MISMATCH = -5,   /* a program or header of another version */
    HEARTH_ERROR_OUT_OF_RANGE = -6,       /* batch size, offset or size beyond its limit */
    HEARTH_ERROR_INVALID_STATE = -7,      /* a call that must come first is missing */
    HEARTH_ERROR_TOO_MANY_IN_FLIGHT = -8, /* more in flight than the session was created for */
    HEARTH_ERROR_BUDGET_EXCEEDED = -9,    /* exceeds the application's budget; nothing allocated */
    HEARTH_ERROR_OUT_OF_HOST_MEMORY = -10,
    HEARTH_ERROR_OUT_OF_DEVICE_MEMORY = -11,
    HEARTH_ERROR_PIPELINE_CREATION_FAILED = -12, /* the driver failed to create a pipeline */
    HEARTH_ERROR_DEVICE_LOST = -13,
    HEARTH_ERROR_INTERNAL = -14,
    HEARTH_ERROR_INCOMPATIBLE = -15,        /* a brain of another graph, schema or base */
    HEARTH_ERROR_DISCARDED = -16,           /* recorded in a frame that was never submitted */
    HEARTH_ERROR_NON_FINITE = -17,          /* a brain contains NaN or infinity */
    HEARTH_ERROR_VERIFICATION_FAILED = -18, /* rejected by hearth_context_create_info::verify */
    HEARTH_RESULT_FORCE_32_BITS = 0x7fffffff
} hearth_result;

/* Name of a result code, such as "HEARTH_ERROR_TOO_MANY_IN_FLIGHT"; never NULL.  Any thread. */
HEARTH_API const char* hearth_result_name(hearth_result result);

/* Returns HEARTH_VERSION of the loaded library.  Any thread. */
HEARTH_API uint32_t hearth_version(void);

/* Returns HEARTH_OK if a caller compiled against `header_version` (pass HEARTH_VERSION) can use
 * this library: the major versions must be equal and, while major is 0, the minor versions too.
 * Any thread. */
HEARTH_API hearth_result hearth_check_version(uint32_t header_version);

/* Build description for bug reports: "hearth 0.2.0 g++ 12.2.0 release".  Any thread. */
HEARTH_API const char* hearth_build_info(void);

/* All problems that a call found, one per line.  Optional wherever it is a parameter. */
typedef struct hearth_messages {
    uint32_t message_count;
    char text[4092]; /* truncated if there is more */
} hearth_messages;

typedef enum hearth_struct_type {
    HEARTH_STRUCT_NONE = 0, /* a struct not made with its _default() function */
    HEARTH_STRUCT_DEVICE_REQUIREMENTS_INFO = 1,
    HEARTH_STRUCT_REQUIREMENTS = 2,
    HEARTH_STRUCT_DEVICE_CAPS = 3,
    HEARTH_STRUCT_CONTEXT_CREATE_INFO = 4,
    HEARTH_STRUCT_PROGRAM_LOAD_INFO = 5,
    HEARTH_STRUCT_PROGRAM_INFO = 6,
    HEARTH_STRUCT_ENTRY_INFO = 7,
    HEARTH_STRUCT_BINDING_INFO = 8,
    HEARTH_STRUCT_VARIABLE_INFO = 9,
    HEARTH_STRUCT_SESSION_CREATE_INFO = 10,
    HEARTH_STRUCT_MEMORY_REQUIREMENTS = 11,
    HEARTH_STRUCT_SESSION_STATUS = 12,
    HEARTH_STRUCT_RECORD_INFO = 13,
    HEARTH_STRUCT_READBACK_INFO = 14,
    HEARTH_STRUCT_BUFFER_RANGE = 15,
    HEARTH_STRUCT_TIMINGS = 16,
    HEARTH_STRUCT_CONTEXT_STATS = 17,
    HEARTH_STRUCT_PACKAGE_LOAD_INFO = 18,
    HEARTH_STRUCT_PACKAGE_INFO = 19,
    HEARTH_STRUCT_BRAIN_INFO = 20,
    HEARTH_STRUCT_BRAIN_SAVE_INFO = 21,
    HEARTH_STRUCT_COMMAND_INFO = 22,
    HEARTH_STRUCT_IMAGE_CONVERTER_CREATE_INFO = 23,
    HEARTH_STRUCT_IMAGE_CONVERSION_INFO = 24,
    HEARTH_STRUCT_DUMP_INFO = 25,
    HEARTH_STRUCT_CPU_CONTEXT_CREATE_INFO = 26,
    HEARTH_STRUCT_SESSION_DUMP_INFO = 27,
    /* Structs of hearth_agents.h. */
    HEARTH_STRUCT_AGENTS_CREATE_INFO = 1000,
    HEARTH_STRUCT_AGENTS_RECORD_INFO = 1001,
    HEARTH_STRUCT_AGENTS_STATUS = 1002,
    HEARTH_STRUCT_TYPE_FORCE_32_BITS = 0x7fffffff
} hearth_struct_type;

/* ------------------------------------------------------------------------------------------------
 * Before device creation: requirements (any thread; nothing is created)
 * --------------------------------------------------------------------------------------------- */

typedef void(HEARTH_VKAPI_PTR* hearth_void_function)(void);
/* Same types as PFN_vkGetInstanceProcAddr and PFN_vkGetDeviceProcAddr. */
typedef hearth_void_function(HEARTH_VKAPI_PTR* hearth_get_instance_proc)(VkInstance, const char*);
typedef hearth_void_function(HEARTH_VKAPI_PTR* hearth_get_device_proc)(VkDevice, const char*);

/* Device features as bits.  Each is one boolean of a Vulkan feature struct, with the same name.
 * Constants of 64 bits are variables and not macros, whose values generators of bindings cut. */
typedef uint64_t hearth_features;
static const hearth_features HEARTH_FEATURE_BUFFER_DEVICE_ADDRESS = UINT64_C(1) << 0;
static const hearth_features HEARTH_FEATURE_SYNCHRONIZATION_2 = UINT64_C(1) << 1;
static const hearth_features HEARTH_FEATURE_STORAGE_BUFFER_16BIT_ACCESS = UINT64_C(1) << 2;
static const hearth_features HEARTH_FEATURE_SHADER_FLOAT16 = UINT64_C(1) << 3;
static const hearth_features HEARTH_FEATURE_SHADER_INT16 = UINT64_C(1) << 4;
static const hearth_features HEARTH_FEATURE_SHADER_INT64 = UINT64_C(1) << 5;
static const hearth_features HEARTH_FEATURE_HOST_QUERY_RESET = UINT64_C(1) << 6;
static const hearth_features HEARTH_FEATURE_STORAGE_BUFFER_8BIT_ACCESS = UINT64_C(1) << 7;
/* From VK_NV_cooperative_matrix and VK_KHR_cooperative_matrix.  Enable both; Hearth uses one. */
static const hearth_features HEARTH_FEATURE_COOPERATIVE_MATRIX_NV = UINT64_C(1) << 8;
static const hearth_features HEARTH_FEATURE_COOPERATIVE_MATRIX_KHR = UINT64_C(1) << 9;
/* Required by shaders that use VK_KHR_cooperative_matrix. */
static const hearth_features HEARTH_FEATURE_VULKAN_MEMORY_MODEL = UINT64_C(1) << 10;
/* Both from VK_NV_cooperative_matrix2: workgroup-scope matrices. */
static const hearth_features HEARTH_FEATURE_COOPERATIVE_MATRIX_WORKGROUP_SCOPE = UINT64_C(1) << 11;
static const hearth_features HEARTH_FEATURE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS = UINT64_C(1)
                                                                                     << 12;
/* Allows hearth_begin_frame to read hearth_context_create_info::timeline_semaphore. */
static const hearth_features HEARTH_FEATURE_TIMELINE_SEMAPHORE = UINT64_C(1) << 13;
/* Needed only by untrusted programs; see HEARTH_TRUST_UNTRUSTED.  robustBufferAccess is a Vulkan
 * 1.0 feature that robustBufferAccess2, of VK_EXT_robustness2, depends on. */
static const hearth_features HEARTH_FEATURE_ROBUST_BUFFER_ACCESS = UINT64_C(1) << 14;
static const hearth_features HEARTH_FEATURE_ROBUST_BUFFER_ACCESS_2 = UINT64_C(1) << 15;
/* Lets pipelines require a subgroup size (hearth_device_caps::min_subgroup_size and
 * max_subgroup_size) and full subgroups. */
static const hearth_features HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL = UINT64_C(1) << 16;
static const hearth_features HEARTH_FEATURE_COMPUTE_FULL_SUBGROUPS = UINT64_C(1) << 17;
/* From VK_NV_compute_occupancy_priority: gives hearth_record_info::occupancy_priority an effect. */
static const hearth_features HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY = UINT64_C(1) << 18;
/* shaderMixedFloatDotProductFloat16AccFloat32 of VK_VALVE_shader_mixed_float_dot_product: products of
 * f16, summed in f32, two at a time where there are no cooperative matrices. */
static const hearth_features HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT = UINT64_C(1) << 19;
/* Lets image converters write every format that the device stores; without it, those that
 * "Images" lists. */
static const hearth_features HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT = UINT64_C(1)
                                                                                        << 20;
#define HEARTH_FEATURE_COUNT 21

/* The features that are in VkPhysicalDeviceFeatures, for applications that pass it as
 * pEnabledFeatures: shaderInt16, shaderInt64, robustBufferAccess and
 * shaderStorageImageWriteWithoutFormat. */
static const hearth_features HEARTH_FEATURES_OF_VULKAN_1_0 =
    UINT64_C(1) << 4 | UINT64_C(1) << 5 | UINT64_C(1) << 14 | UINT64_C(1) << 20;

/* Vulkan's name of a single feature bit, such as "bufferDeviceAddress"; "" for anything else. */
HEARTH_API const char* hearth_feature_name(hearth_features one_bit);

/* Mechanism by which kernels access their operands.  A program is compiled for one of them. */
typedef enum hearth_binding_model {
    HEARTH_BINDING_DEVICE_ADDRESS = 0,  /* requires bufferDeviceAddress */
    HEARTH_BINDING_PUSH_DESCRIPTOR = 1, /* requires VK_KHR_push_descriptor */
    HEARTH_BINDING_MODEL_FORCE_32_BITS = 0x7fffffff
} hearth_binding_model;

/* Input of hearth_get_device_requirements and hearth_get_device_caps. */
typedef struct hearth_device_requirements_info {
    hearth_struct_type type;
    uint32_t size;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    hearth_get_instance_proc get_instance_proc_addr;
    /* The version in use: the smaller of VkApplicationInfo::apiVersion and the device's version. */
    uint32_t api_version;
    hearth_binding_model binding_model; /* of the programs that will run */
    /* Non-zero: untrusted programs will run too (HEARTH_TRUST_UNTRUSTED), so what they need is
     * required.  Otherwise it is not even listed as optional, because it slows all shaders down
     * a little. */
    uint32_t allow_untrusted_programs;
    uint32_t reserved;
} hearth_device_requirements_info;

#define HEARTH_MAX_EXTENSIONS 16

/* The names are static strings. */
typedef struct hearth_requirements {
    hearth_struct_type type;
    uint32_t size;
    uint32_t min_api_version; /* VK_API_VERSION_1_1 */
    uint32_t required_extension_count;
    uint32_t optional_extension_count;
    uint32_t compute_queue_count; /* recommended queues in a family with VK_QUEUE_COMPUTE_BIT */
    const char* required_extensions[HEARTH_MAX_EXTENSIONS];
    const char* optional_extensions[HEARTH_MAX_EXTENSIONS]; /* only those the device supports */
    hearth_features required_features;
    hearth_features optional_features; /* only those the device supports */
} hearth_requirements;

/* Instance extensions worth enabling.  All are optional: enable those that the instance
 * supports. */
HEARTH_API hearth_result hearth_get_instance_requirements(hearth_requirements* out);

/* Extensions and features to enable on this physical device.  Returns HEARTH_ERROR_UNSUPPORTED if a
 * required one is missing; `out` is filled nevertheless and `messages` name what is missing. */
HEARTH_API hearth_result
hearth_get_device_requirements(const hearth_device_requirements_info* query,
                               hearth_requirements* out, hearth_messages* messages);

/* Sets the booleans of `features` in the application's pNext chain for vkCreateDevice.
 *
 * chain    the chain's first struct.  Structs already in the chain are edited; missing ones are
 *          placed in `storage` and inserted behind the first.  NULL: no struct exists yet; storage
 *          then begins with the first of a chain of the structs that are needed, to pass as pNext
 *          or to chain one by one.
 *          HEARTH_FEATURES_OF_VULKAN_1_0 are in a VkPhysicalDeviceFeatures2, which excludes
 *          pEnabledFeatures: applications that pass pEnabledFeatures set these there, and leave
 *          their bits out of `features`.
 * storage  8-byte aligned memory that must outlive vkCreateDevice, *storage_bytes in size.  If
 *          NULL, nothing is changed and *storage_bytes is set to a sufficient size; 0: no struct
 *          is missing.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE if storage is too small; nothing is changed then.
 * HEARTH_ERROR_INVALID_ARGUMENT for a chain whose first struct has no sType. */
HEARTH_API hearth_result hearth_enable_features(hearth_features features, uint32_t api_version,
                                                void* chain, void* storage, size_t* storage_bytes);

/* Returns the features that a device was created with, for hearth_context_create_info::features:
 * the inverse of hearth_enable_features.
 *
 * chain             VkDeviceCreateInfo::pNext or a tail of it, for example a
 *                   VkPhysicalDeviceFeatures2; NULL for none.  Structs without features that Hearth
 *                   uses are skipped.
 * enabled_features  VkDeviceCreateInfo::pEnabledFeatures (a VkPhysicalDeviceFeatures), or NULL.
 *
 * Any thread. */
HEARTH_API hearth_features hearth_get_enabled_features(const void* chain,
                                                       const void* enabled_features);

/* Extension through which kernels use cooperative matrices (tensor cores). */
typedef enum hearth_cooperative_matrix_ext {
    HEARTH_COOPERATIVE_MATRIX_EXT_NONE = 0,
    HEARTH_COOPERATIVE_MATRIX_EXT_NV = 1,  /* VK_NV_cooperative_matrix */
    HEARTH_COOPERATIVE_MATRIX_EXT_KHR = 2, /* VK_KHR_cooperative_matrix */
    HEARTH_COOPERATIVE_MATRIX_EXT_FORCE_32_BITS = 0x7fffffff
} hearth_cooperative_matrix_ext;

/* Granularity of workgroup-scope cooperative matrices for a workgroup of this size: M, N and K
 * must be multiples of m, n and k. */
typedef struct hearth_workgroup_scope_granularity {
    uint32_t invocations; /* workgroup size; 0: unused entry */
    uint32_t m, n, k;
} hearth_workgroup_scope_granularity;

#define HEARTH_MAX_WORKGROUP_SCOPE_GRANULARITIES 4

/* Instruction-set level of CPU kernels, named as compilers name it. */
typedef enum hearth_cpu_isa {
    HEARTH_CPU_ISA_NONE = 0,   /* a Vulkan device */
    HEARTH_CPU_ISA_SCALAR = 1, /* no vector instructions */
    HEARTH_CPU_ISA_X86_64_V2 = 2,
    HEARTH_CPU_ISA_X86_64_V3 = 3,
    HEARTH_CPU_ISA_X86_64_V4 = 4,
    HEARTH_CPU_ISA_NEON = 5,
    HEARTH_CPU_ISA_WASM128 = 6,
    HEARTH_CPU_ISA_FORCE_32_BITS = 0x7fffffff
} hearth_cpu_isa;

/* Device properties that the compiler needs; mirrors hearth::DeviceCaps in C. */
typedef struct hearth_device_caps {
    hearth_struct_type type;
    uint32_t size;
    char name[256];
    uint32_t subgroup_size;
    uint32_t max_compute_work_group_invocations;
    uint32_t max_compute_work_group_size_x;
    uint32_t max_compute_work_group_count_x;
    uint32_t max_compute_shared_memory_size;
    uint32_t max_push_constants_size;
    uint64_t min_storage_buffer_offset_alignment;
    uint64_t max_storage_buffer_range;
    uint32_t shader_float16;
    uint32_t storage_buffer_16bit_access;
    uint32_t subgroup_arithmetic;
    /* By the queue family; set only by hearth_context_get_device_caps. */
    uint32_t timestamp_supported;
    uint32_t storage_buffer_8bit_access;
    /* A hearth_cooperative_matrix_ext, for f16 operands and f32 accumulators. */
    uint32_t cooperative_matrix;
    /* Subgroup-scope tile: [m, k] times [k, n].  16x16x16 if the device supports it. */
    uint32_t cooperative_matrix_m, cooperative_matrix_n, cooperative_matrix_k;
    /* Shared memory that the driver reserves in kernels with workgroup-scope matrices, in bytes. */
    uint32_t workgroup_scope_reserved_shared_memory;
    /* From VK_NV_cooperative_matrix2, for f16 operands and f32 accumulators. */
    hearth_workgroup_scope_granularity
        workgroup_scope_granularities[HEARTH_MAX_WORKGROUP_SCOPE_GRANULARITIES];
    /* Kernels may use VK_NV_cooperative_matrix, whatever `cooperative_matrix` says. */
    uint32_t cooperative_matrix_nv;
    /* A hearth_cpu_isa; not NONE for a CPU device, for which programs are compiled. */
    uint32_t cpu_isa;
    /* A VkPhysicalDeviceType: 1 shares its memory with the CPU, 4 runs on it. */
    uint32_t device_type;
    /* Newest supported SPIR-V version, encoded as in modules: 0x00010300 is 1.3, the minimum
     * that Vulkan 1.1 guarantees. */
    uint32_t spirv_version;
    /* Pipelines may require any power of two in this range.  Both are 0 unless
     * HEARTH_FEATURE_SUBGROUP_SIZE_CONTROL is enabled; subgroups then have `subgroup_size`. */
    uint32_t min_subgroup_size, max_subgroup_size;
    /* Number of multiprocessors, compute units or Xe cores: from the driver, or by device_id where
     * it does not report them; 0 if unknown. */
    uint32_t compute_units;
    /* HEARTH_FEATURE_SHADER_INT64 is enabled: programs whose integers may exceed 32 bits run. */
    uint32_t shader_int64;
    /* Programs may reach buffers by address (HEARTH_BINDING_DEVICE_ADDRESS); otherwise they are
     * compiled for push descriptors. */
    uint32_t buffer_device_address;
    /* vendorID, deviceID and driverVersion of VkPhysicalDeviceProperties. */
    uint32_t vendor_id, device_id, driver_version;
    /* A VkDriverId; 0 below Vulkan 1.2 without VK_KHR_driver_properties. */
    uint32_t driver_id;
    /* HEARTH_FEATURE_MIXED_FLOAT_DOT_PRODUCT is enabled, and 16-bit arithmetic and storage with it. */
    uint32_t mixed_float_dot_product;
} hearth_device_caps;

/* Caps of a physical device on which the features `enabled` will be (or were) enabled. */
HEARTH_API hearth_result hearth_get_device_caps(const hearth_device_requirements_info* query,
                                                hearth_features enabled, hearth_device_caps* out);

/* ------------------------------------------------------------------------------------------------
 * Context: an adopted device
 * --------------------------------------------------------------------------------------------- */

/* An adopted device.  All other objects are created from a context and must be destroyed before
 * it. */
typedef struct hearth_context hearth_context;

/* Purpose of a device memory allocation; the application's allocator may treat them differently. */
typedef enum hearth_memory_usage {
    HEARTH_MEMORY_WEIGHTS = 0, /* parameters and states: lives as long as the session */
    HEARTH_MEMORY_ARENA = 1,   /* intermediates: contents are valid only while an entry runs */
    HEARTH_MEMORY_PER_RECORDING = 2, /* small per-recording values, written by the CPU */
    HEARTH_MEMORY_STAGING = 3,       /* initial weights and uploads, written by the CPU */
    HEARTH_MEMORY_READBACK = 4,      /* read by the CPU */
    HEARTH_MEMORY_BOUNCE = 5,        /* bounce buffers for buffers without a device address */
    HEARTH_MEMORY_USAGE_COUNT = 6,
    HEARTH_MEMORY_USAGE_FORCE_32_BITS = 0x7fffffff
} hearth_memory_usage;

/* A device memory allocation that Hearth requests from hearth_device_memory_callbacks. */
typedef struct hearth_device_memory_allocate_info {
    uint64_t size_bytes;
    uint64_t alignment;
    uint32_t memory_type_bits;     /* as in VkMemoryRequirements */
    uint32_t required_properties;  /* VkMemoryPropertyFlags */
    uint32_t preferred_properties; /* VkMemoryPropertyFlags, preferred in addition, if available */
    uint32_t device_address;       /* non-zero: requires VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT */
    hearth_memory_usage usage;
    const char* name; /* valid during the call */
} hearth_device_memory_allocate_info;

/* An allocation made by hearth_device_memory_callbacks. */
typedef struct hearth_memory_block {
    VkDeviceMemory memory;
    uint64_t offset;
    void* mapped; /* address of `offset` if required_properties has HOST_VISIBLE; else ignored */
    uint64_t user_data; /* for the application's use */
} hearth_memory_block;

/* Device memory allocator of the application.  Called only from hearth_session_create,
 * hearth_session_destroy, hearth_arena_create, hearth_arena_destroy, hearth_begin_frame and
 * hearth_context_destroy, on the calling thread. */
typedef struct hearth_device_memory_callbacks {
    void* user_data;
    /* Returns HEARTH_OK and fills *out, or an error that is passed on to Hearth's caller. */
    hearth_result (*allocate)(void* user_data, const hearth_device_memory_allocate_info* request,
                              hearth_memory_block* out);
    void (*free)(void* user_data, const hearth_memory_block* block);
} hearth_device_memory_callbacks;

typedef enum hearth_log_level {
    HEARTH_LOG_ERROR = 0,
    HEARTH_LOG_WARNING = 1,
    HEARTH_LOG_INFO = 2,
    HEARTH_LOG_LEVEL_FORCE_32_BITS = 0x7fffffff
} hearth_log_level;

/* Called on the thread that called Hearth; `message` is valid during the call. */
typedef void (*hearth_log_callback)(void* user_data, hearth_log_level level, const char* category,
                                    const char* message);

/* Submits a task: must run job(job_data) exactly once, immediately or later, on any thread. */
typedef void (*hearth_task_callback)(void* user_data, void (*job)(void* job_data), void* job_data);

/* Trust level of the bytes of a program or package; "Trust", below, lists the consequences. */
typedef enum hearth_trust_level {
    HEARTH_TRUST_TRUSTED = 0,   /* vouched for by the application, like its own code */
    HEARTH_TRUST_UNTRUSTED = 1, /* from a player, a workshop or the network */
    HEARTH_TRUST_FORCE_32_BITS = 0x7fffffff
} hearth_trust_level;

/* Describes a pending load to hearth_verify_callback. */
typedef struct hearth_load_request {
    const void* bytes; /* all bytes passed to the load call, not yet read by Hearth */
    uint64_t byte_count;
    uint32_t is_package; /* zero: a program */
    hearth_trust_level trust;
} hearth_load_request;

/* Returns HEARTH_OK to allow the load; anything else rejects it. */
typedef hearth_result (*hearth_verify_callback)(void* user_data,
                                                const hearth_load_request* request);

#define HEARTH_HEAP_COUNT 16 /* VK_MAX_MEMORY_HEAPS */

/* Parameters of hearth_context_create: the application's device and callbacks. */
typedef struct hearth_context_create_info {
    hearth_struct_type type;
    uint32_t size;
    VkInstance instance;
    VkPhysicalDevice physical_device;
    VkDevice device;
    hearth_get_instance_proc get_instance_proc_addr;
    hearth_get_device_proc get_device_proc_addr; /* NULL: queried through get_instance_proc_addr */
    uint32_t api_version;                        /* in use: min(application's, device's) */
    uint32_t queue_family_index; /* family of the queues that recordings are submitted to */
    /* The extensions and features that the application ENABLED when it created instance and
     * device, not those that are supported.  Hearth uses no others. */
    uint32_t instance_extension_count;
    uint32_t device_extension_count;
    const char* const* instance_extensions;
    const char* const* device_extensions;
    hearth_features features;
    /* Of the programs that will run; see hearth_device_requirements_info. */
    hearth_binding_model binding_model;
    uint32_t reserved;
    VkPipelineCache pipeline_cache; /* optional; not destroyed; used on any thread */
    /* Optional; copied; for Hearth and the driver. */
    const VkAllocationCallbacks* allocation_callbacks;
    const hearth_device_memory_callbacks* device_memory_callbacks; /* optional; copied */
    uint64_t device_memory_budget;    /* in bytes, over all heaps; 0: no limit */
    hearth_log_callback log;          /* optional */
    hearth_task_callback submit_task; /* optional; see hearth_session_create_pipelines_async */
    void* callback_user_data;         /* for log, submit_task and verify */
    /* Optional, if pipeline_cache is null: data from hearth_context_save_pipeline_cache of an
     * earlier run; not needed after the call.  Data of another device, driver or library and
     * corrupt data are ignored (and logged): see hearth_context_stats::pipeline_cache_used. */
    const void* pipeline_cache_data;
    uint64_t pipeline_cache_bytes;
    /* Optional: a timeline semaphore whose value is the last completed frame number, for
     * HEARTH_COMPLETED_FROM_TIMELINE.  Its existence says that timelineSemaphore is enabled, whether
     * or not `features` has HEARTH_FEATURE_TIMELINE_SEMAPHORE.  Must outlive the context, which does
     * not destroy it. */
    VkSemaphore timeline_semaphore;
    /* Optional: called by every hearth_program_load and hearth_package_load of the context with
     * callback_user_data, on the calling thread, before Hearth reads any of the bytes. */
    hearth_verify_callback verify;
    /* Maximum bytes that Hearth allocates from each memory heap, by heap index; 0: no limit.
     * Memory types whose heap has no room left are skipped; if no suitable type remains, the
     * call returns HEARTH_ERROR_BUDGET_EXCEEDED without calling the driver.  Not used with
     * device_memory_callbacks, which choose the heap. */
    uint64_t heap_budgets[HEARTH_HEAP_COUNT];
    /* GPU microseconds of a slice that is recorded with a cursor and without limits of its own, for
     * devices whose drivers reset what takes seconds.  Measured in sessions with
     * HEARTH_SESSION_COLLECT_GPU_TIMINGS, and before or without measurements estimated from flops and
     * bytes moved, as of a small GPU.  0: 250,000 on integrated GPUs, and on all GPUs under Windows;
     * no limit elsewhere.  HUGE_VAL: no limit. */
    double max_slice_us;
} hearth_context_create_info;

/* Adopts the application's device.  Returns HEARTH_ERROR_INVALID_ARGUMENT or
 * HEARTH_ERROR_UNSUPPORTED if `info` has problems: `messages` then list all of them.  Listed
 * extensions that the device does not have are named in `messages` and logged, but are no error,
 * because layers provide some.
 * Threads: any, as long as the device is not destroyed meanwhile. */
HEARTH_API hearth_result hearth_context_create(const hearth_context_create_info* info,
                                               hearth_context** out, hearth_messages* messages);

/* Frees everything immediately.  The application guarantees that all recorded work has finished
 * executing and that no task is running.  Returns HEARTH_ERROR_INVALID_STATE if any session or
 * program still exists.  Threads: externally synchronized on `context` and all objects created
 * from it. */
HEARTH_API hearth_result hearth_context_destroy(hearth_context* context);

/* ------------------------------------------------------------------------------------------------
 * CPU device: the CPU in place of a GPU, for servers, tools, tests and machines without a GPU
 *
 * The rest of this header works as on a Vulkan device, in the same order of calls: programs
 * (compiled for hearth_device_caps::cpu_isa), sessions, bindings, slices, readbacks, brains,
 * agents.  Differences:
 *
 *   command buffers  are created by hearth_cpu_command_buffer_create;
 *                    hearth_cpu_command_buffer_execute replaces the queue submission
 *   buffers          wrap application memory (hearth_cpu_buffer_import)
 *   images           are not supported: there is no hearth_image_converter
 *   trust            untrusted programs are rejected
 *
 * Kernels are compiled C functions.  A game links the C file that `hearth cook --kernels` generates
 * for a CPU target and passes its table; tools compile kernels that are in no table at run time.
 * --------------------------------------------------------------------------------------------- */

/* A CPU kernel.  Runs workgroups [first, end) of `workgroups` on the memory that `operands`
 * point to. */
typedef void hearth_cpu_kernel_fn(void* const* operands, int32_t batch_size, int32_t first,
                                  int32_t end, int32_t workgroups);

/* An entry of hearth_cpu_kernel_table. */
typedef struct hearth_cpu_kernel {
    uint64_t hash; /* identifies the kernel in programs */
    hearth_cpu_kernel_fn* function;
} hearth_cpu_kernel;

/* A table of kernels, in ascending order of hashes.  Generated by `hearth cook`. */
typedef struct hearth_cpu_kernel_table {
    uint32_t cpu_isa; /* a hearth_cpu_isa */
    uint32_t count;
    const hearth_cpu_kernel* kernels;
} hearth_cpu_kernel_table;

/* A kernel that is in no table, for hearth_cpu_compile_callback. */
typedef struct hearth_cpu_kernel_source {
    uint64_t hash;
    const char* name; /* its name in the program */
    const char* text; /* its C source, zero-terminated; "" if it was stripped from the program */
} hearth_cpu_kernel_source;

/* Compiles kernels at run time.  Called by hearth_program_load and hearth_package_load, on their
 * thread.  The sources are those in the program, and so code of whoever made it.  Returns a table
 * of the kernels, which must live as long as the context, or NULL: the load then fails and names a
 * kernel. */
typedef const hearth_cpu_kernel_table* (*hearth_cpu_compile_callback)(
    void* user_data, hearth_cpu_isa cpu_isa, const hearth_cpu_kernel_source* sources,
    uint32_t count);

/* Parallel for: calls job(job_data, i) for each i < count, concurrently and in any order, and
 * returns after all calls have returned. */
typedef void (*hearth_parallel_for_callback)(void* user_data, uint32_t count,
                                             void (*job)(void* job_data, uint32_t index),
                                             void* job_data);

/* Parameters of hearth_context_create_cpu. */
typedef struct hearth_cpu_context_create_info {
    hearth_struct_type type;
    uint32_t size;
    /* The instruction set that hearth_context_get_device_caps reports to the compiler; programs for
     * narrower ones run too.  NONE: the widest that this machine supports,
     * hearth_detect_cpu_isa(). */
    hearth_cpu_isa cpu_isa;
    uint32_t table_count;
    const hearth_cpu_kernel_table* const* tables; /* each lives as long as the context */
    hearth_cpu_compile_callback compile;          /* optional */
    /* Optional: used by hearth_cpu_command_buffer_execute.  Results are bitwise equal with and
     * without it. */
    hearth_parallel_for_callback parallel_for;
    uint32_t thread_count; /* number of threads that `parallel_for` uses */
    uint32_t reserved;
    /* From here on as in hearth_context_create_info. */
    const VkAllocationCallbacks* allocation_callbacks;
    uint64_t device_memory_budget;
    hearth_log_callback log;
    hearth_task_callback submit_task;
    void* callback_user_data;
    hearth_verify_callback verify;
} hearth_cpu_context_create_info;

/* Detects the widest instruction set that this machine supports.  Any thread. */
HEARTH_API hearth_cpu_isa hearth_detect_cpu_isa(void);

/* Creates a context for this machine's CPU.  Needs no Vulkan loader, driver or device.
 * Errors: HEARTH_ERROR_UNSUPPORTED if this machine cannot run `cpu_isa` or one of the tables;
 * `messages` list all problems.
 * Threads: any. */
HEARTH_API hearth_result hearth_context_create_cpu(const hearth_cpu_context_create_info* info,
                                                   hearth_context** out, hearth_messages* messages);

/* Creates a command buffer for the hearth_record_... functions of a CPU context.  Destroy it
 * before the context. */
HEARTH_API hearth_result hearth_cpu_command_buffer_create(hearth_context* context,
                                                          VkCommandBuffer* out);
/* Destroys a command buffer; its recorded work must have been executed or reset. */
HEARTH_API void hearth_cpu_command_buffer_destroy(hearth_context* context,
                                                  VkCommandBuffer commands);

/* Executes the commands recorded since the last call, in order, and empties the command buffer.
 * The work is complete on return, so the next hearth_begin_frame may report its frame number as
 * completed.
 * Allocates nothing.
 * Errors: HEARTH_ERROR_OUT_OF_HOST_MEMORY if an earlier recording ran out of memory; nothing was
 * executed: call hearth_discard_frame.
 * Threads: externally synchronized on `commands` and the sessions recorded into it. */
HEARTH_API hearth_result hearth_cpu_command_buffer_execute(hearth_context* context,
                                                           VkCommandBuffer commands);
/* Empties the command buffer without executing it; call hearth_discard_frame afterwards. */
HEARTH_API hearth_result hearth_cpu_command_buffer_reset(hearth_context* context,
                                                         VkCommandBuffer commands);

/* Wraps application memory as a buffer that can be bound, at offsets that are multiples of 16
 * bytes.  The application keeps ownership and may access the memory whenever no work that uses
 * it is running.  Bind it with usage HEARTH_CPU_BUFFER_USAGE. */
HEARTH_API hearth_result hearth_cpu_buffer_import(hearth_context* context, void* memory,
                                                  uint64_t byte_count, VkBuffer* out);
/* Destroys the buffer object, not the memory.  No work that uses it may be pending. */
HEARTH_API void hearth_cpu_buffer_destroy(hearth_context* context, VkBuffer buffer);

/* VkBufferUsageFlags: TRANSFER_SRC, TRANSFER_DST, STORAGE_BUFFER, SHADER_DEVICE_ADDRESS. */
#define HEARTH_CPU_BUFFER_USAGE 0x20023u

/* ------------------------------------------------------------------------------------------------
 * Context, continued: frames
 * --------------------------------------------------------------------------------------------- */

/* As completed_frame_number of hearth_begin_frame: use the value of
 * hearth_context_create_info::timeline_semaphore, which each frame's submission signals with its
 * frame number. */
static const uint64_t HEARTH_COMPLETED_FROM_TIMELINE = UINT64_MAX;
/* As completed_frame_number: all frames before frame_number.  For applications that wait for each
 * submission before they begin the next frame. */
static const uint64_t HEARTH_COMPLETED_ALL = UINT64_MAX - 1;
/* As frame_number: that of the frame after the last one. */
static const uint64_t HEARTH_NEXT_FRAME = UINT64_MAX;

/* Begins a frame.  frame_number is that of the frame about to be recorded, from 1; it never
 * decreases, but may repeat or skip values.  completed_frame_number, less than frame_number,
 * reports that all work of frames up to and including it has finished executing, except for frames
 * passed to hearth_discard_frame.  Frees destroyed objects that are no longer in use.  Allocates
 * nothing, except while a hearth_session_dump is pending.
 * Errors: HEARTH_ERROR_INVALID_ARGUMENT if frame numbers decrease, if completed_frame_number >=
 * frame_number, or for HEARTH_COMPLETED_FROM_TIMELINE without a semaphore.
 * Threads: externally synchronized on `context` and all objects created from it. */
HEARTH_API hearth_result hearth_begin_frame(hearth_context* context, uint64_t frame_number,
                                            uint64_t completed_frame_number);

/* Reports that the command buffers recorded in this frame so far were not submitted and never will
 * be, for example because the swapchain was out of date.  Their effects are undone in every
 * session:
 *
 *   initialize  must be recorded again, unless an earlier one stands; else hearth_record fails
 *   uploads     as well as brain loads and resets are lost: record them again.
 *               hearth_session_status counts them
 *   readbacks   and saved brains: hearth_readback_poll returns HEARTH_ERROR_DISCARDED; release them
 *   recordings  must be recorded again.  A sliced recording continues from its first lost slice:
 *               hearth_record rewinds its cursor, current or older, to that point.  (If the last
 *               slice is lost, only a copy of the cursor from before it works, because the cursor
 *               itself was reset.)
 *   timings     are not reported
 *
 * Their space in the session's ring buffers is free immediately.  `messages`, optional, has a line
 * for each lost item.  Call this before recording anything with a later frame number: anything
 * recorded in between would depend on work that never ran, and a sliced recording continued in
 * between is restarted.  The same frame number may be used again; a frame with nothing to lose
 * is not an error.
 * Allocates nothing.
 * Errors: HEARTH_ERROR_INVALID_ARGUMENT for a frame number later than the current one or
 * completed.
 * Threads: externally synchronized on `context` and all objects created from it. */
HEARTH_API hearth_result hearth_discard_frame(hearth_context* context, uint64_t frame_number,
                                              hearth_messages* messages);

/* Reports that the application saw VK_ERROR_DEVICE_LOST.  Every later call that would use the
 * device (frames, loading, sessions, pipelines, recording, readbacks, timings) returns
 * HEARTH_ERROR_DEVICE_LOST immediately and does not call Vulkan.  Queries of known state,
 * encoding of brains and destruction keep working.  Any thread. */
HEARTH_API void hearth_context_notify_device_lost(hearth_context* context);

/* The last error of a call on this context; "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_context_error(const hearth_context* context);

/* Caps of the adopted device with the features that the application enabled. */
HEARTH_API hearth_result hearth_context_get_device_caps(const hearth_context* context,
                                                        hearth_device_caps* out);

/* Memory and object statistics of a context. */
typedef struct hearth_context_stats {
    hearth_struct_type type;
    uint32_t size;
    uint64_t cpu_bytes; /* currently allocated by Hearth through the application's callbacks */
    uint64_t cpu_bytes_peak;
    uint64_t device_bytes[HEARTH_MEMORY_USAGE_COUNT]; /* currently allocated */
    uint64_t device_bytes_total;
    uint32_t session_count;
    uint32_t pipeline_count; /* shared between sessions by content hash */
    /* Non-zero: hearth_context_create_info::pipeline_cache_data was accepted. */
    uint32_t pipeline_cache_used;
    uint32_t reserved;
    uint64_t frame_number; /* of the last hearth_begin_frame; 0: none yet */
    uint64_t completed_frame_number;
    /* Currently allocated, by heap; 0 with device_memory_callbacks. */
    uint64_t heap_bytes[HEARTH_HEAP_COUNT];
} hearth_context_stats;

/* Returns the current statistics.  Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_context_get_stats(const hearth_context* context,
                                                  hearth_context_stats* out);

/* Serializes the pipeline cache, for hearth_context_create_info::pipeline_cache_data of the next
 * run.  *byte_count is the capacity of `out` on entry and the size on return; if `out` is NULL it
 * is set to a sufficient capacity.
 * Errors: HEARTH_ERROR_NOT_FOUND if the application passed its own VkPipelineCache;
 * HEARTH_ERROR_OUT_OF_RANGE if `out` is too small.
 * Threads: any, but not concurrently with hearth_context_destroy. */
HEARTH_API hearth_result hearth_context_save_pipeline_cache(hearth_context* context, void* out,
                                                            uint64_t* byte_count);

/* ------------------------------------------------------------------------------------------------
 * Trust: consequences of loading a program or package
 *
 * A program contains kernels, which are executable code.  Before using anything, loading validates
 *   - all tables, byte by byte: indices, sizes, offsets and their sums, names, checksums.  No value
 *     in a file can cause accesses outside its bytes or more work than its length warrants;
 *   - each command against its kernel's declaration: operands within their region (weights, arena,
 *     bindings), large enough, aligned, and at the locations that the kernel expects;
 *   - the SPIR-V declarations: structure, local size, shared memory, push constants, bindings,
 *     specialization constants, capabilities (only those enabled on the device).
 * Loading does not check what the instructions do.  A malicious kernel can access any memory that
 * the device lets this process reach (with device addresses: any buffer of the game), loop forever,
 * or trigger a bug in the driver's compiler.  Checksums detect corruption, not tampering.
 *
 * Applications should therefore load programs and packages only from places that they would load a
 * shared library from: their own installation, or signed.  HEARTH_TRUST_TRUSTED, the default,
 * asserts this.  hearth_context_create_info::verify is the place to check signatures, since every
 * load calls it; hearth_sha256 computes the hash.  Verified bytes must not change afterwards: if
 * others can write the file, read it into memory instead of mapping it.
 *
 * Load files from players with HEARTH_TRUST_UNTRUSTED.  Such a program is accepted only if its
 * operands are descriptors (HEARTH_BINDING_PUSH_DESCRIPTOR, so that kernels have no addresses;
 * applications that use addresses for their own programs additionally enable
 * VK_KHR_push_descriptor) and if robustBufferAccess2 is enabled: each kernel can then reach only
 * the application's buffers among the operands of its command, and its own session's memory;
 * out-of-bounds reads return zero and out-of-bounds writes are discarded.  Its pipelines are never shared with other programs.  The remaining risks are the
 * application's: kernels that never end (the device is lost, as with any shader), out-of-range
 * indices into a kernel's own shared and local arrays (their handling is the driver's), driver
 * bugs, and wrong outputs.  A player's brain for the application's own program needs none of this:
 * brains are data, fully validated, and execute nothing.  See docs/explanation/security.md for
 * details.
 * --------------------------------------------------------------------------------------------- */

/* Computes the SHA-256 of bytes (FIPS 180-4), for hearth_context_create_info::verify.  Any
 * thread. */
HEARTH_API void hearth_sha256(const void* bytes, uint64_t byte_count, uint8_t hash[32]);

/* ------------------------------------------------------------------------------------------------
 * Programs: compiled graphs
 * --------------------------------------------------------------------------------------------- */

/* A loaded program: immutable, shared by any number of sessions. */
typedef struct hearth_program hearth_program;

/* Parameters of hearth_program_load. */
typedef struct hearth_program_load_info {
    hearth_struct_type type;
    uint32_t size;
    const void* bytes;
    uint64_t byte_count;
    /* Non-zero: `bytes` (8-byte aligned, e.g. a mapped file) stays valid and unchanged until the
     * program and all its sessions are destroyed, so no copy is made. */
    uint32_t borrow;
    hearth_trust_level trust;
} hearth_program_load_info;

/* Validates bytes as described under "Trust" above and creates a program from them.
 * Errors: HEARTH_ERROR_VERIFICATION_FAILED, HEARTH_ERROR_CORRUPT_DATA,
 * HEARTH_ERROR_VERSION_MISMATCH, HEARTH_ERROR_OUT_OF_HOST_MEMORY; HEARTH_ERROR_UNSUPPORTED for an
 * untrusted program that uses device addresses, or if the application has not enabled what
 * untrusted programs need.
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_program_load(hearth_context* context,
                                             const hearth_program_load_info* info,
                                             hearth_program** out);

/* Describes a package (`.hearth`) to load: a graph, its weights and one program per device target,
 * created by `hearth cook`. */
typedef struct hearth_package_load_info {
    hearth_struct_type type;
    uint32_t size;
    const void* bytes; /* of the whole file, 8-byte aligned, e.g. mapped */
    uint64_t byte_count;
    /* Non-zero: `bytes` stays valid and unchanged until the program and all its sessions are
     * destroyed; weights are then used in place.  Zero: the needed parts are copied. */
    uint32_t borrow;
    /* HEARTH_TRUST_UNTRUSTED: programs that use device addresses are skipped. */
    hearth_trust_level trust;
    /* NULL: the first device target, in package order, that the device can run; those of
     * hearth_context_create_info::binding_model come before all others. */
    const char* device_target;
} hearth_package_load_info;

/* Validates bytes as described under "Trust" above, selects a device target for the context's
 * device and creates a program from it.  Compiles nothing and does no per-operator work.
 * Errors: as hearth_program_load; HEARTH_ERROR_NOT_FOUND for an unknown device target;
 * HEARTH_ERROR_UNSUPPORTED if the device can run none (hearth_context_error gives a reason for
 * each).
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_package_load(hearth_context* context,
                                             const hearth_package_load_info* info,
                                             hearth_program** out);

#define HEARTH_MAX_DEVICE_TARGETS 8

/* Contents of a package; see hearth_package_get_info. */
typedef struct hearth_package_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t graph_hash;    /* of the cooked graph; see hearth_program_info */
    uint64_t graph_bytes;   /* in the file, where it is compressed */
    uint64_t weights_bytes; /* in the file, for all device targets */
    uint32_t device_target_count;
    uint32_t reserved;
    const char* device_targets[HEARTH_MAX_DEVICE_TARGETS]; /* best first; point into the bytes */
    uint64_t program_bytes[HEARTH_MAX_DEVICE_TARGETS];     /* in the file, compressed */
} hearth_package_info;

/* Validates a package (8-byte aligned) and describes its contents.  `messages`, optional,
 * describes what is wrong.  Any thread. */
HEARTH_API hearth_result hearth_package_get_info(const void* bytes, uint64_t byte_count,
                                                 hearth_package_info* out,
                                                 hearth_messages* messages);

/* Existing sessions of the program keep what they need.  NULL is allowed. */
HEARTH_API void hearth_program_destroy(hearth_program* program);

/* Element types.  GPUs store f64 as f32, and i64 and u64 as i32 and u32 unless the program needs
 * 64 bits; CPUs store each as it is.  16-bit and 8-bit types are stored as a wider type only in
 * programs compiled for a device without 16-bit or 8-bit storage; see `device_dtype`. */
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

/* An extent of a shape: a constant or a multiple of the batch size. */
typedef struct hearth_dim {
    int64_t count;
    uint32_t is_batch; /* non-zero: the extent is count * batch size */
    uint32_t reserved;
} hearth_dim;

/* Properties of a program. */
typedef struct hearth_program_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t hash;
    const char* device_target;
    uint64_t max_batch_size; /* recordings use 1..max_batch_size */
    uint64_t arena_bytes;
    uint64_t weights_bytes;
    hearth_binding_model binding_model;
    uint32_t kernel_count;
    uint32_t entry_count;
    uint32_t binding_count;
    uint32_t variable_count;
    uint32_t command_count;
    uint64_t graph_hash; /* equal for programs compiled from one graph, for any device target */
} hearth_program_info;

/* An entry: a function of the program, recorded as a whole or in slices. */
typedef struct hearth_entry_info {
    hearth_struct_type type;
    uint32_t size;
    const char* name;
    const uint32_t* bindings; /* indices of the bindings that its recordings must provide */
    uint32_t binding_count;
    uint32_t command_count;
    uint32_t dispatch_count;
    uint32_t barrier_count;
    uint64_t arena_bytes;
    uint64_t flops; /* estimates at max_batch_size */
    uint64_t bytes_moved;
} hearth_entry_info;

/* Kind of a command. */
typedef enum hearth_command_kind {
    HEARTH_COMMAND_DISPATCH = 0,
    HEARTH_COMMAND_COPY = 1,
    HEARTH_COMMAND_FILL = 2,
    HEARTH_COMMAND_BARRIER = 3,
    HEARTH_COMMAND_KIND_FORCE_32_BITS = 0x7fffffff
} hearth_command_kind;

/* A command of an entry. */
typedef struct hearth_command_info {
    hearth_struct_type type;
    uint32_t size;
    hearth_command_kind kind;
    /* Number of sub-dispatches, of equally many workgroups each, that a dispatch can be split
     * into (HEARTH_SESSION_SPLIT_DISPATCHES): its extent along its longest axis.  1: not
     * divisible, because its kernel depends on the number of workgroups or uses atomics, or
     * because it is no dispatch. */
    uint32_t sub_dispatch_count;
    const char* label; /* human-readable */
    uint64_t flops;    /* estimates at max_batch_size */
    uint64_t bytes_moved;
    uint64_t workgroups; /* of a dispatch; this and sub_dispatch_count are at max_batch_size */
} hearth_command_info;

/* A binding: an input or output of an entry, supplied by the application at each recording. */
typedef struct hearth_binding_info {
    hearth_struct_type type;
    uint32_t size;
    const char* name;
    uint32_t is_output;
    hearth_dtype dtype;
    hearth_dtype device_dtype; /* element type of the buffer's contents */
    uint32_t rank;
    hearth_dim dims[HEARTH_MAX_RANK];
    uint64_t bytes_fixed; /* the buffer needs bytes_fixed + bytes_per_item * batch size bytes */
    uint64_t bytes_per_item;
    uint32_t scalar_count; /* number of named scalars, for an output that packs them; else 0 */
    uint32_t is_inout;     /* an input that recordings read, then overwrite with new contents */
} hearth_binding_info;

/* Kind of a variable. */
typedef enum hearth_variable_kind {
    HEARTH_VARIABLE_PARAM = 0,
    HEARTH_VARIABLE_STATE = 1,
    HEARTH_VARIABLE_CONSTANT = 2,
    HEARTH_VARIABLE_NON_PERSISTENT = 3, /* a state that brains do not contain */
    HEARTH_VARIABLE_KIND_FORCE_32_BITS = 0x7fffffff
} hearth_variable_kind;

/* A variable: a tensor that persists between recordings. */
typedef struct hearth_variable_info {
    hearth_struct_type type;
    uint32_t size;
    const char* name;
    hearth_variable_kind kind;
    hearth_dtype dtype;
    hearth_dtype device_dtype;
    uint32_t rank;
    hearth_dim dims[HEARTH_MAX_RANK];
    uint64_t bytes;
} hearth_variable_info;

/* Program queries.  Any thread.  HEARTH_ERROR_NOT_FOUND if the index or name does not exist;
 * hearth_program_error lists those that do. */
HEARTH_API hearth_result hearth_program_get_info(const hearth_program* program,
                                                 hearth_program_info* out);
HEARTH_API hearth_result hearth_program_get_entry(const hearth_program* program, uint32_t index,
                                                  hearth_entry_info* out);
/* Describes a command of an entry, 0 <= index < command_count.  Slices end at barriers or between
 * sub-dispatches. */
HEARTH_API hearth_result hearth_program_get_command(const hearth_program* program, uint32_t entry,
                                                    uint32_t index, hearth_command_info* out);
/* Indices of the variables that an entry writes, ascending.  *count is the capacity of `variables`
 * on entry and their number on return; if `variables` is NULL it is set to that number.
 * HEARTH_ERROR_OUT_OF_RANGE if `variables` is too small. */
HEARTH_API hearth_result hearth_program_get_mutated_variables(const hearth_program* program,
                                                              uint32_t entry, uint32_t* variables,
                                                              uint32_t* count);
HEARTH_API hearth_result hearth_program_get_binding(const hearth_program* program, uint32_t index,
                                                    hearth_binding_info* out);
HEARTH_API hearth_result hearth_program_get_variable(const hearth_program* program, uint32_t index,
                                                     hearth_variable_info* out);
HEARTH_API hearth_result hearth_program_find_entry(const hearth_program* program, const char* name,
                                                   uint32_t* index);
/* Binding names are unique within an entry, not within a program. */
HEARTH_API hearth_result hearth_program_find_binding(const hearth_program* program, uint32_t entry,
                                                     const char* name, uint32_t* index);
HEARTH_API hearth_result hearth_program_find_variable(const hearth_program* program,
                                                      const char* name, uint32_t* index);

/* The last error of a query of this program on the calling thread; "" if there was none, or if a
 * query of another program failed since.  Valid until the next failure on this thread. */
HEARTH_API const char* hearth_program_error(const hearth_program* program);

/* The agent manifest of the package that the program was loaded from (hearth_agents.h,
 * docs/reference/package_format.md); the bytes live as long as the program.
 * HEARTH_ERROR_NOT_FOUND: none. */
HEARTH_API hearth_result hearth_program_get_agent_manifest(const hearth_program* program,
                                                           const void** bytes,
                                                           uint64_t* byte_count);

/* Named scalars of an output that packs them (hearth::output_scalars).  `index` is the position
 * in the buffer, in elements of the binding's device_dtype.  HEARTH_ERROR_NOT_FOUND also for a
 * binding without named scalars. */
HEARTH_API hearth_result hearth_program_get_scalar(const hearth_program* program, uint32_t binding,
                                                   uint32_t index, const char** name);
HEARTH_API hearth_result hearth_program_find_scalar(const hearth_program* program, uint32_t binding,
                                                    const char* name, uint32_t* index);

/* ------------------------------------------------------------------------------------------------
 * Sessions: a program with device memory for its variables
 * --------------------------------------------------------------------------------------------- */

/* An instance of a program, with its own variables and scratch memory. */
typedef struct hearth_session hearth_session;

typedef uint32_t hearth_session_flags;
/* Allows bindings that kernels cannot access directly: buffers without a device address,
 * unaligned offsets and strided items are copied in and out through session memory; by-value data
 * that exceeds max_inline_bytes goes through the upload ring buffer, as one upload.  Without this
 * flag they are errors. */
#define HEARTH_SESSION_ALLOW_STAGING_COPIES 0x1u
/* Records timestamps around each recording; see hearth_session_next_timings. */
#define HEARTH_SESSION_TIMESTAMP_RUNS 0x2u
/* Also records timestamps around each command.  They prevent commands from overlapping, so the
 * times are upper bounds. */
#define HEARTH_SESSION_TIMESTAMP_COMMANDS 0x4u
/* Keeps the initial weights staged, so that hearth_record_initialize can be recorded again to
 * reset. */
#define HEARTH_SESSION_KEEP_INITIAL_WEIGHTS 0x8u
/* For development: validates the buffers of each recording against Vulkan.  A range that ends
 * beyond its VkBuffer (as far as vkGetBufferMemoryRequirements shows, which rounds up) and a
 * device_address that differs from the buffer's are then errors that name the binding.  (An
 * output that aliases another binding is an error even without this flag.) */
#define HEARTH_SESSION_VALIDATE_BINDINGS 0x10u
/* For hearth_record_info::gpu_time_budget_us: records timestamps around each recording, which
 * hearth_begin_frame reads once they are available.  Until then each occupies one of
 * max_pending_timings; with HEARTH_SESSION_TIMESTAMP_RUNS or _COMMANDS, until
 * hearth_session_next_timings has returned it as well. */
#define HEARTH_SESSION_COLLECT_GPU_TIMINGS 0x20u
/* Lets the limits of a recording split a dispatch that exceeds one by itself
 * (hearth_record_info); implied by HEARTH_SESSION_COLLECT_GPU_TIMINGS.  Not the default, because
 * pipelines for vkCmdDispatchBase cost 0.3 us per dispatch on an H100, whether split or not. */
#define HEARTH_SESSION_SPLIT_DISPATCHES 0x40u

/* Scratch memory shared by sessions that never run concurrently: its size is the maximum of
 * their hearth_program_info::arena_bytes instead of the sum.  Recordings of all these sessions
 * must execute in the order in which they were recorded, as those of one session must; each
 * begins with a barrier that waits for the others'.  A sliced recording that is interleaved with
 * a recording of another session is abandoned: its cursor is rejected. */
typedef struct hearth_arena hearth_arena;

/* Errors: HEARTH_ERROR_OUT_OF_RANGE, HEARTH_ERROR_BUDGET_EXCEEDED,
 * HEARTH_ERROR_OUT_OF_HOST_MEMORY, HEARTH_ERROR_OUT_OF_DEVICE_MEMORY; hearth_context_error gives
 * details.
 * Threads: externally synchronized on `context`; sessions that share an arena are externally
 * synchronized with each other. */
HEARTH_API hearth_result hearth_arena_create(hearth_context* context, uint64_t byte_count,
                                             hearth_arena** out);

/* May be called at any time before the context is destroyed: the memory is freed only after the
 * sessions that use it.  NULL is allowed.  Threads: externally synchronized on the context. */
HEARTH_API void hearth_arena_destroy(hearth_arena* arena);

/* A size derived from the program; see upload_bytes. */
static const uint64_t HEARTH_SIZE_AUTO = UINT64_MAX;

/* Parameters of hearth_session_create. */
typedef struct hearth_session_create_info {
    hearth_struct_type type;
    uint32_t size;
    const hearth_program* program;
    const char* name; /* optional; for debug labels and messages; copied */
    hearth_session_flags flags;
    /* Maximum number of hearth_record calls (each slice counts) in flight, over all frames. */
    uint32_t recordings_in_flight;
    /* Maximum bytes of by-value bindings per recording, up to 65536; each is rounded up to 256. */
    uint32_t max_inline_bytes;
    /* Ring buffers.  HEARTH_SIZE_AUTO, the default of both sizes: space for two brains and
     * twice all inputs (upload), or two snapshots and twice all outputs (readback), plus 16 KiB;
     * at most 1 MiB. */
    uint32_t upload_count;   /* hearth_record_update_variable calls in flight */
    uint64_t upload_bytes;   /* bytes of uploads in flight; 0: no uploads */
    uint64_t readback_bytes; /* bytes of unreleased readbacks; 0: no readbacks */
    uint32_t readback_count;
    uint32_t max_pending_timings; /* maximum recordings with unread timestamps */
    /* Optional: timestamp queries of the application.  Null: the session creates its own pool. */
    VkQueryPool query_pool;
    uint32_t first_query;
    uint32_t query_count;
    /* Optional: scratch memory shared with other sessions; see hearth_arena_create. */
    hearth_arena* arena;
} hearth_session_create_info;

/* Device memory requirements, indexed by hearth_memory_usage. */
typedef struct hearth_memory_requirements {
    hearth_struct_type type;
    uint32_t size;
    uint64_t bytes[HEARTH_MEMORY_USAGE_COUNT];
    uint64_t alignment[HEARTH_MEMORY_USAGE_COUNT];
    uint32_t memory_type_bits[HEARTH_MEMORY_USAGE_COUNT];
    uint32_t reserved[2];
    uint64_t total_bytes;
} hearth_memory_requirements;

/* Device memory that hearth_session_create would allocate with this info, by usage.
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_session_get_memory_requirements(
    hearth_context* context, const hearth_session_create_info* info,
    hearth_memory_requirements* out);

/* Allocates everything that the session will ever use.  Creates no pipelines.
 * Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_session_create(hearth_context* context,
                                               const hearth_session_create_info* info,
                                               hearth_session** out);

/* May be called at any time: the memory is freed by the begin_frame that reports the current
 * frame as completed.  Pending readbacks are cancelled.  NULL is allowed.
 * Threads: externally synchronized on `session` and its context. */
HEARTH_API void hearth_session_destroy(hearth_session* session);

/* The last error of a call on this session; "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_session_error(const hearth_session* session);

/* Creates up to `max_pipelines` pipelines (0: all remaining) on the calling thread, which can
 * take seconds.  HEARTH_NOT_READY if some remain or are being created on another thread.
 * Threads: any; not while the session is being created or destroyed. */
HEARTH_API hearth_result hearth_session_create_pipelines(hearth_session* session,
                                                         uint32_t max_pipelines);

/* Creates pipelines through hearth_context_create_info::submit_task, one task per pipeline.
 * HEARTH_ERROR_INVALID_STATE if submit_task is NULL.
 * Threads: as hearth_session_create_pipelines. */
HEARTH_API hearth_result hearth_session_create_pipelines_async(hearth_session* session);

/* Status of a session. */
typedef struct hearth_session_status {
    hearth_struct_type type;
    uint32_t size;
    hearth_result pipelines; /* HEARTH_OK, HEARTH_NOT_READY, or the driver's error */
    uint32_t pipeline_count;
    uint32_t pipelines_ready;
    /* Non-zero after hearth_record_initialize, unless its frame was discarded. */
    uint32_t is_initialized;
    uint64_t initialized_frame;
    uint32_t recordings_in_flight;
    uint32_t readbacks_in_flight;
    /* Effects of hearth_discard_frame since the session was created. */
    uint64_t discarded_frame; /* the last frame in which something was undone; 0: none */
    uint32_t discarded_initializations;
    /* hearth_record_update_variable, _load_brain and _reset_variables. */
    uint32_t discarded_uploads;
    uint32_t discarded_readbacks; /* readbacks and saved brains, released or not */
    uint32_t discarded_frames;    /* calls, whether or not something was undone */
} hearth_session_status;

/* Returns the current status.  Threads: externally synchronized on `session`. */
HEARTH_API hearth_result hearth_session_get_status(const hearth_session* session,
                                                   hearth_session_status* out);

/* A range of a buffer, for use by the application's own shaders or copies. */
typedef struct hearth_buffer_range {
    hearth_struct_type type;
    uint32_t size;
    VkBuffer buffer;
    uint64_t offset;
    uint64_t bytes;
    uint64_t device_address; /* of `offset`; 0 without bufferDeviceAddress */
} hearth_buffer_range;

/* Returns the location of a variable.  The application synchronizes its accesses with recordings
 * itself: these access it with COMPUTE_SHADER (storage read/write) and TRANSFER (read/write). */
HEARTH_API hearth_result hearth_session_get_variable_buffer(const hearth_session* session,
                                                            uint32_t variable,
                                                            hearth_buffer_range* out);

/* ------------------------------------------------------------------------------------------------
 * Recording
 *
 * Precondition of every hearth_record... function: `command_buffer` is in the recording state,
 * outside a render pass, and from a pool of the family
 * hearth_context_create_info::queue_family_index.  It may be primary or secondary.  Afterwards the
 * compute bind point's pipeline, descriptor sets and push constants are undefined; all other state
 * is unchanged.
 *
 * All recordings of one session must execute in the order in which they were recorded: on one
 * queue, or ordered by the application's semaphores.  One leading barrier per recording orders
 * accesses to the session's own memory; the application never needs a barrier for it.
 *
 * These functions allocate nothing, take no locks and call no driver function but vkCmd... and
 * vkGetBufferDeviceAddress (and vkGetBufferMemoryRequirements, with
 * HEARTH_SESSION_VALIDATE_BINDINGS).
 *
 * Threads: externally synchronized on `session` and the command buffer; not during
 * hearth_begin_frame.  Different sessions may record concurrently.
 * --------------------------------------------------------------------------------------------- */

/* A synchronization scope: stages and accesses as VkPipelineStageFlags2 and VkAccessFlags2.
 * Without synchronization2 they are mapped to the Vulkan 1.0 flags. */
typedef struct hearth_sync_scope {
    uint64_t stages; /* 0: an empty scope, so no dependency */
    uint64_t access;
    uint32_t queue_family; /* that owns the buffer; HEARTH_QUEUE_FAMILY_SAME: no transfer */
    uint32_t reserved;
} hearth_sync_scope;

#define HEARTH_QUEUE_FAMILY_SAME 0xffffffffu

/* The buffer or bytes for one binding of a recording.
 * Create it with hearth_bind_buffer or hearth_bind_bytes. */
typedef struct hearth_tensor_binding {
    uint32_t binding; /* index of the program's binding */
    uint32_t usage;   /* VkBufferUsageFlags that the buffer was created with */
    VkBuffer buffer;
    uint64_t offset;
    uint64_t bytes;          /* from offset; at least what the binding needs at this batch size */
    uint64_t device_address; /* of the start of the buffer; 0: queried from Vulkan */
    /* Distance in bytes between consecutive batch items in the buffer, for a binding whose size
     * is proportional to the batch size, such as a component in an array of structs.  0: tightly
     * packed.  Strided data, and data at an offset that kernels cannot address, is copied in and
     * out (HEARTH_SESSION_ALLOW_STAGING_COPIES); the stride may be any number of bytes. */
    uint64_t item_stride;
    const void* data; /* by value, inputs only: buffer is null; copied during the call */
    hearth_sync_scope acquire_scope; /* HEARTH_BARRIERS_AUTOMATIC: the application's previous use */
    hearth_sync_scope release_scope; /* and its next use */
} hearth_tensor_binding;

/* Selects who inserts the barriers for bound buffers and images. */
typedef enum hearth_barriers {
    /* Hearth waits for each binding's acquire_scope and makes results available to its
     * release_scope, with one merged barrier before and one after the recording. */
    HEARTH_BARRIERS_AUTOMATIC = 0,
    /* The application's own barriers cover the scopes from hearth_session_get_binding_scope. */
    HEARTH_BARRIERS_MANUAL = 1,
    HEARTH_BARRIERS_FORCE_32_BITS = 0x7fffffff
} hearth_barriers;

/* Parameters of hearth_record. */
typedef struct hearth_record_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer;
    uint32_t entry;
    uint32_t binding_count;
    /* Each binding of the entry exactly once, in any order. */
    const hearth_tensor_binding* bindings;
    uint64_t batch_size; /* 1..hearth_program_info::max_batch_size */
    hearth_barriers barriers;
    uint32_t reserved;
    /* Optional: the GPU reads the batch size from this buffer instead: four uint32_t, {batch size,
     * 0, 0, 0}, at a multiple of 256 bytes; the value must not exceed batch_size.  If there are no
     * by-value bindings either, the command buffer references nothing transient and may be
     * executed repeatedly, as long as the session and the buffers exist.  `binding` is ignored. */
    const hearth_tensor_binding* indirect_batch_buffer;
    /* Limits of a slice (0: no limit): recording stops at the last barrier before a limit would
     * be exceeded.  If the commands between two barriers exceed a limit by themselves, the slice
     * starts with them and ends between commands or, in sessions with
     * HEARTH_SESSION_SPLIT_DISPATCHES, between sub-dispatches (hearth_command_info).  Results are
     * bitwise equal wherever slices end.  Readers that run between two slices may see partially
     * written tensors.  Only a single sub-dispatch, or a single command that cannot be split,
     * may exceed a limit.  A slice without limits has that of its context, if there is a cursor:
     * hearth_context_create_info::max_slice_us. */
    uint32_t max_dispatches;
    uint32_t max_workgroups;
    uint64_t max_flops;
    uint64_t max_bytes_moved;
    /* Limit of a slice in estimated GPU microseconds (0: no limit), for sessions with
     * HEARTH_SESSION_COLLECT_GPU_TIMINGS.  A slice takes as much as is estimated to fit, or the
     * minimum that can be recorded, which may take longer.  The estimate of a command is its
     * time in earlier slices, raised by a margin where slices took longer than estimated; for a
     * command not yet measured, its flops and bytes_moved scaled by the measured ones; before
     * any measurement, a guess for a small GPU, which remains if the queue family has no
     * timestamps.  A dispatch that exceeds the limit is split into sub-dispatches if
     * measurements show that this helps.  Never waits for a measurement. */
    double gpu_time_budget_us;
    /* Hint for devices that run other work concurrently: priority of this recording's dispatches
     * in occupying the GPU, in (0, 1]; 0.25 is low, 0.75 high.  Afterwards the command buffer is
     * back at 0.5, Vulkan's default.  0, the default: nothing is recorded, and the application's
     * setting applies.  Ignored without HEARTH_FEATURE_COMPUTE_OCCUPANCY_PRIORITY. */
    float occupancy_priority;
    uint32_t reserved2;
} hearth_record_info;

/* Position at which a sliced recording stopped.  Zero-initialize it to start.  It belongs to the
 * application; discarding it abandons the rest of the entry, which is always safe. */
typedef struct hearth_run_cursor {
    uint32_t entry;
    uint32_t next_command;
    uint32_t next_sub_dispatch; /* sub-dispatch of that command; both 0: at the start */
    uint32_t reserved;
    uint64_t generation;    /* identifies the run of the entry */
    uint64_t bindings_hash; /* of batch size and bindings, which must not change between slices */
} hearth_run_cursor;

/* Records an entry, or its next slice.
 *
 * cursor  NULL: records the whole entry.  Otherwise the position of the next slice; updated.
 * Returns HEARTH_OK when the entry is finished; the cursor is then reset to the start.
 * Returns HEARTH_INCOMPLETE if a limit was reached: call again with the same cursor, batch size
 * and bindings, into a later command buffer.
 * Returns HEARTH_NOT_READY if a pipeline has not been created yet; nothing is recorded.
 * Errors: HEARTH_ERROR_INVALID_STATE before hearth_record_initialize (or after its frame was
 * discarded) or begin_frame, or for a cursor whose entry has been restarted since;
 * HEARTH_ERROR_TOO_MANY_IN_FLIGHT; HEARTH_ERROR_OUT_OF_RANGE for the batch size or a buffer that is
 * too small; HEARTH_ERROR_INVALID_ARGUMENT. */
HEARTH_API hearth_result hearth_record(hearth_session* session, const hearth_record_info* info,
                                       hearth_run_cursor* cursor);

/* Estimates the GPU time in microseconds of the rest of an entry from `cursor` (NULL: of the
 * whole entry) at this batch size, as hearth_record does for gpu_time_budget_us.
 * Errors: HEARTH_ERROR_UNSUPPORTED for a session without HEARTH_SESSION_COLLECT_GPU_TIMINGS;
 * HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_OUT_OF_RANGE; HEARTH_ERROR_INVALID_ARGUMENT for another
 * entry's cursor.
 * Threads: externally synchronized on `session`. */
HEARTH_API hearth_result hearth_session_estimate_gpu_time(hearth_session* session, uint32_t entry,
                                                          uint64_t batch_size,
                                                          const hearth_run_cursor* cursor,
                                                          double* us);

/* Records copies of the initial values of all variables.  Must execute before the first
 * recording.  The staging memory is freed when its frame has completed. */
HEARTH_API hearth_result hearth_record_initialize(hearth_session* session,
                                                  VkCommandBuffer command_buffer);

/* Overwrites bytes [offset, offset + byte_count) of a variable; `data` is copied during the
 * call.  offset and byte_count must be multiples of the element size of the variable's
 * device_dtype. */
HEARTH_API hearth_result hearth_record_update_variable(hearth_session* session,
                                                       VkCommandBuffer command_buffer,
                                                       uint32_t variable, uint64_t offset,
                                                       const void* data, uint64_t byte_count);

/* Returns the stages and accesses with which recordings of `entry` use `binding` when it is
 * bound to a buffer with these usage flags.  With HEARTH_BARRIERS_MANUAL the application must make
 * the buffer visible to this scope before the recording, and may wait for this scope after it.
 * For a binding that is copied because of its offset or item_stride, pass TRANSFER usage alone. */
HEARTH_API hearth_result hearth_session_get_binding_scope(const hearth_session* session,
                                                          uint32_t entry, uint32_t binding,
                                                          uint32_t buffer_usage,
                                                          hearth_sync_scope* out);

/* ------------------------------------------------------------------------------------------------
 * Readback: request -> recorded copy -> poll -> read -> release
 * --------------------------------------------------------------------------------------------- */

/* A readback request; never 0.  Ids of released requests are detected. */
typedef uint64_t hearth_readback;

/* A range to read back.  Create it with hearth_readback_of_variable or
 * hearth_readback_of_buffer. */
typedef struct hearth_readback_region {
    VkBuffer buffer; /* an application buffer with TRANSFER_SRC usage; null: a variable */
    uint32_t variable;
    uint32_t reserved;
    uint64_t offset;     /* within the buffer or variable */
    uint64_t byte_count; /* 0 for a variable: to its end */
    /* Buffer only: how it was written.  stages 0: already visible to copies. */
    hearth_sync_scope acquire_scope;
} hearth_readback_region;

/* Parameters of hearth_record_readback. */
typedef struct hearth_readback_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer;
    /* A single range, with the fields of hearth_readback_region; ignored if `regions` is used. */
    VkBuffer buffer;
    uint32_t variable;
    uint32_t reserved;
    uint64_t offset;
    uint64_t byte_count;
    hearth_sync_scope acquire_scope;
    /* Optional: several ranges of variables and buffers, read at the same point as one request.
     * Their bytes are packed in the order given, without gaps. */
    const hearth_readback_region* regions;
    uint32_t region_count;
    uint32_t reserved2;
} hearth_readback_info;

/* Records the copy of one range, or of all regions after a single barrier.
 * Errors: HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_OUT_OF_RANGE and HEARTH_ERROR_INVALID_ARGUMENT,
 * naming the region; HEARTH_ERROR_TOO_MANY_IN_FLIGHT; HEARTH_ERROR_INVALID_STATE before begin_frame
 * or, for variables, before hearth_record_initialize. */
HEARTH_API hearth_result hearth_record_readback(hearth_session* session,
                                                const hearth_readback_info* info,
                                                hearth_readback* out);

/* Polls a readback.  Never waits.
 * HEARTH_OK: *data and *byte_count are the bytes, valid until released; *frame_number is the frame
 * that they were recorded in.  HEARTH_NOT_READY: not available yet.  HEARTH_ERROR_NOT_FOUND: no
 * such request.
 * HEARTH_ERROR_DISCARDED: its frame was discarded, so the data will never arrive; release it.
 * Threads: externally synchronized on `session`. */
HEARTH_API hearth_result hearth_readback_poll(hearth_session* session, hearth_readback readback,
                                              const void** data, uint64_t* byte_count,
                                              uint64_t* frame_number);

/* Releases the bytes, or cancels a pending request.  Unknown ids are ignored. */
HEARTH_API void hearth_readback_release(hearth_session* session, hearth_readback readback);

/* ------------------------------------------------------------------------------------------------
 * Dumps (experimental): captures a recording with all its inputs and outputs, for bug reports
 *
 * A dump is the content of a .safetensors file, which `hearth replay` reads, runs again and
 * compares.  Its tensors, in the types that they have in memory, are
 *
 *   variable/NAME          each variable before the entry
 *   input/NAME             each input
 *   command/INDEX/OPERAND  what a selected command wrote, as bytes
 *   output/NAME            each binding that is written
 *   variable_after/NAME    each variable that the entry writes
 *   program                with HEARTH_DUMP_PROGRAM: the program, to run without its package
 *
 * Its text metadata (__metadata__) contains the build, the device, the program's hashes and device
 * target, entry, batch size, command, frame number, the entry's commands, and the last errors of
 * session and context.  A dump contains no addresses, handles or paths, no other application
 * memory, no name of the application, machine or user, and nothing of earlier recordings except the
 * variables' values.  It does contain inputs and weights, and so players' actions and what was
 * learned from them: ask players for consent before sending a dump to anybody.
 * --------------------------------------------------------------------------------------------- */

#define HEARTH_NO_COMMAND 0xffffffffu

#if !defined(HEARTH_NO_EXPERIMENTAL)
/* Records an entry, as hearth_record without a cursor, and copies the contents of a dump into
 * one readback: finish with hearth_readback_poll, hearth_dump_encode and
 * hearth_readback_release.  Results are bitwise equal to those of hearth_record; a few barriers
 * are added.
 *
 * command  HEARTH_NO_COMMAND, or a command of the entry (hearth_program_get_command) that is not a
 *          barrier.
 *
 * Uses hearth_program_get_dump_size of readback_bytes.  Bound buffers need TRANSFER_SRC usage; with
 * HEARTH_BARRIERS_MANUAL the application's barriers must cover TRANSFER reads of them, before and
 * after.
 * Errors: those of hearth_record and hearth_record_readback; HEARTH_ERROR_INVALID_ARGUMENT for a
 * bad `command`, for a limit, and for a buffer without TRANSFER_SRC, which it names. */
HEARTH_API HEARTH_EXPERIMENTAL hearth_result hearth_record_dump(hearth_session* session,
                                                                const hearth_record_info* info,
                                                                uint32_t command,
                                                                hearth_readback* out);
#endif

#if !defined(HEARTH_NO_EXPERIMENTAL)
/* Readback size of hearth_record_dump in bytes; 0 if the entry or command does not exist or the
 * batch size exceeds hearth_program_info::max_batch_size.  Any thread. */
HEARTH_API HEARTH_EXPERIMENTAL uint64_t hearth_program_get_dump_size(const hearth_program* program,
                                                                     uint32_t entry,
                                                                     uint64_t batch_size,
                                                                     uint32_t command);
#endif

typedef uint32_t hearth_dump_flags;
/* Includes the program's bytes: kernels, names and, unless they are in a package, initial
 * values. */
#define HEARTH_DUMP_PROGRAM 0x1u

/* Parameters of hearth_dump_encode. */
typedef struct hearth_dump_info {
    hearth_struct_type type;
    uint32_t size;
    uint32_t entry; /* this, command and batch_size as recorded */
    uint32_t command;
    uint64_t batch_size;
    /* From hearth_readback_poll.  NULL: encode metadata only, for example after a device loss. */
    const void* data;
    uint64_t data_bytes;
    uint64_t frame_number;
    hearth_dump_flags flags;
    uint32_t reserved;
    const char* note; /* optional: free text of the application */
} hearth_dump_info;

#if !defined(HEARTH_NO_EXPERIMENTAL)
/* Encodes a dump.  *byte_count is the capacity of `out` on entry and the size on return; if
 * `out` is NULL it is set to the required size.  Allocates nothing.
 * Errors: HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_OUT_OF_RANGE, HEARTH_ERROR_INVALID_ARGUMENT;
 * hearth_session_error gives details.  Threads: externally synchronized on `session`. */
HEARTH_API HEARTH_EXPERIMENTAL hearth_result hearth_dump_encode(hearth_session* session,
                                                                const hearth_dump_info* info,
                                                                void* out, uint64_t* byte_count);
#endif

/* Receives an encoded dump, valid during the call, for example to write it to a file: `hearth
 * replay` and `hearth diff` read folders of such files, in the order of their names.  Must not
 * call Hearth.
 * index  counts the dumps of one hearth_session_dump, from 0; indices of recordings in discarded
 *        frames are skipped. */
typedef void (*hearth_dump_callback)(void* user_data, uint64_t index, const void* bytes,
                                     uint64_t byte_count);

/* Parameters of hearth_session_dump. */
typedef struct hearth_session_dump_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t count;                /* recordings to dump; 0: stop, and discard pending dumps */
    hearth_dump_callback callback; /* must not be NULL if count > 0 */
    void* user_data;
    hearth_dump_flags flags; /* HEARTH_DUMP_PROGRAM: in the first dump that arrives */
    uint32_t reserved;
} hearth_session_dump_info;

#if !defined(HEARTH_NO_EXPERIMENTAL)
/* Dumps the next `count` recordings: hearth_record then works as hearth_record_dump, and
 * hearth_begin_frame passes each dump to the callback, on its thread, once its frame has
 * completed.  Replaces an earlier request; destroying the session ends it.
 *
 * Skipped and not counted are slices (a cursor with a limit), recordings with an
 * indirect_batch_buffer, whose command buffer may be executed repeatedly, and recordings that find
 * no space in readback_bytes, of which each recording in flight takes
 * hearth_program_get_dump_size.  Until the last dump is delivered hearth_begin_frame allocates CPU
 * memory for each; if that fails the dump is missing, which is logged.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE if no entry's dump fits into readback_bytes;
 * HEARTH_ERROR_INVALID_ARGUMENT; HEARTH_ERROR_OUT_OF_HOST_MEMORY.
 * Threads: externally synchronized on `session`. */
HEARTH_API HEARTH_EXPERIMENTAL hearth_result
hearth_session_dump(hearth_session* session, const hearth_session_dump_info* info);
#endif

/* ------------------------------------------------------------------------------------------------
 * Images: recorded kernels that convert texels to a tensor in a buffer, and back
 *
 * A converter handles one direction and one format.  Conversions are recorded alongside a session's
 * entries: from an image to the buffer of an entry's input, or from an entry's output to an image.
 * A converter allocates no device memory; the buffers and images belong to the application.  The
 * element type is f32.
 *
 *   reading   Images with SAMPLED usage of each format that the device samples: color with up to
 *             32 bits per component, depth, stencil, compressed; not those that need a sampler with
 *             Y'CBCR conversion.  Formats are decoded: UNORM to 0..1, SRGB to linear, and so on;
 *             integers become floats of the same value.  The stencil of a combined format is read
 *             with a converter for S8_UINT.
 *   writing   Images with STORAGE usage of each format that the device stores, such as B8G8R8A8 and
 *             A2B10G10R10_UNORM of swapchains, with
 *             HEARTH_FEATURE_SHADER_STORAGE_IMAGE_WRITE_WITHOUT_FORMAT; without it, R8G8B8A8 (UNORM,
 *             SNORM, UINT, SINT), R16G16B16A16, R32G32B32A32 and R32 (SFLOAT, UINT, SINT).
 *             Integers are rounded to nearest and clamped to the component's range; NaN gives 0.
 *             Few devices store sRGB: write those images through a view of the UNORM format of the
 *             same bits (R8G8B8A8_UNORM for R8G8B8A8_SRGB), with HEARTH_CONVERSION_SRGB.
 *
 * Pixel i of n covers the interval [i / n, (i + 1) / n).  Resampling evaluates the source at the
 * center of the target pixel: nearest neighbor by default, bilinear with
 * HEARTH_CONVERSION_FILTER_LINEAR; coordinates outside the region are clamped to its edge.  Neither
 * averages: for downscaling by more than two, use mip levels.
 * --------------------------------------------------------------------------------------------- */

/* An image converter: one direction and one image format. */
typedef struct hearth_image_converter hearth_image_converter;

typedef enum hearth_image_conversion_direction {
    HEARTH_IMAGE_TO_TENSOR = 0,
    HEARTH_TENSOR_TO_IMAGE = 1,
    HEARTH_CONVERSION_DIRECTION_FORCE_32_BITS = 0x7fffffff
} hearth_image_conversion_direction;

/* Parameters of hearth_image_converter_create. */
typedef struct hearth_image_converter_create_info {
    hearth_struct_type type;
    uint32_t size;
    hearth_image_conversion_direction direction;
    uint32_t format; /* VkFormat of the image views */
    /* hearth_record_convert_image calls, over all frames: 1..16384. */
    uint32_t recordings_in_flight;
    uint32_t reserved;
} hearth_image_converter_create_info;

/* Creates the pipeline, on the calling thread, and a descriptor set per recording in flight.
 * Errors: HEARTH_ERROR_UNSUPPORTED for formats that the kernels or the device cannot convert;
 * HEARTH_ERROR_OUT_OF_RANGE; driver errors.
 * hearth_context_error gives details.  Threads: externally synchronized on `context`. */
HEARTH_API hearth_result hearth_image_converter_create(
    hearth_context* context, const hearth_image_converter_create_info* info,
    hearth_image_converter** out);

/* May be called at any time before the context is destroyed: resources are freed by the
 * begin_frame that reports the current frame as completed.  NULL is allowed.
 * Threads: externally synchronized on `converter` and its context. */
HEARTH_API void hearth_image_converter_destroy(hearth_image_converter* converter);

/* The last error of a call on this converter; "" if there was none.  Valid until the next call. */
HEARTH_API const char* hearth_image_converter_error(const hearth_image_converter* converter);

typedef uint32_t hearth_image_conversion_flags;
/* The tensor is [height, width, channels]; by default it is [channels, height, width]. */
#define HEARTH_CONVERSION_CHANNELS_LAST 0x1u
#define HEARTH_CONVERSION_FILTER_LINEAR 0x2u /* bilinear; default: nearest */
#define HEARTH_CONVERSION_FLIP_X 0x4u
#define HEARTH_CONVERSION_FLIP_Y 0x8u
/* The image's red, green and blue are sRGB-encoded although its format does not say so.  Reading
 * decodes them before all other processing; writing encodes them after it. */
#define HEARTH_CONVERSION_SRGB 0x10u

#define HEARTH_SWIZZLE_ZERO 4u
#define HEARTH_SWIZZLE_ONE 5u

/* Reading: tensor channel c = image component swizzle[c] * scale[c] + bias[c].
 * Writing: image component k = tensor channel swizzle[k] * scale[k] + bias[k].
 * Default (hearth_image_conversion_info_default()): the first three channels, unchanged. */
typedef struct hearth_image_conversion_info {
    hearth_struct_type type;
    uint32_t size;
    VkCommandBuffer command_buffer;
    VkImage image;
    VkImageView view; /* 2D, a single level and layer; must live until the recording has executed */
    /* VkImageAspectFlags of the image: all of its aspects, although the view has one of them.
     * Read by HEARTH_BARRIERS_AUTOMATIC. */
    uint32_t aspect;
    uint32_t mip_level;
    uint32_t array_layer;
    uint32_t image_width; /* of that mip level */
    uint32_t image_height;
    uint32_t region_x; /* region to convert; width and height 0: the whole image */
    uint32_t region_y;
    uint32_t region_width;
    uint32_t region_height;
    /* VkImageLayouts.  HEARTH_BARRIERS_AUTOMATIC: the image is transitioned from the first to the
     * second; if image_layout_after is UNDEFINED it stays in the layout that the kernel used:
     * GENERAL or, for reading, image_layout_before if that layout can be read, else
     * SHADER_READ_ONLY_OPTIMAL.  image_layout_before may be UNDEFINED for an image that is written
     * completely.  HEARTH_BARRIERS_MANUAL: the image is and stays in image_layout_before, which is
     * GENERAL or, for reading, a readable layout. */
    uint32_t image_layout_before;
    uint32_t image_layout_after;
    uint32_t reserved;
    /* The application's previous use of the image, and its next use. */
    hearth_sync_scope image_acquire_scope;
    hearth_sync_scope image_release_scope;
    /* A buffer with STORAGE_BUFFER usage, at a multiple of minStorageBufferOffsetAlignment;
     * acquire_scope and release_scope as in hearth_record.  `binding` and `data` are ignored. */
    hearth_tensor_binding tensor;
    uint32_t tensor_width;
    uint32_t tensor_height;
    uint32_t channels; /* 1..4 */
    hearth_image_conversion_flags flags;
    uint32_t swizzle[4]; /* HEARTH_SWIZZLE_ZERO and _ONE select constants */
    float scale[4];
    float bias[4];
    hearth_barriers barriers;
    uint32_t reserved2;
} hearth_image_conversion_info;

/* Records a conversion.  Requirements on the command buffer: see "Recording".  Afterwards the
 * compute bind point's pipeline, descriptor sets and push constants are undefined.  Allocates
 * nothing.
 * Errors: HEARTH_ERROR_TOO_MANY_IN_FLIGHT; HEARTH_ERROR_INVALID_ARGUMENT,
 * HEARTH_ERROR_OUT_OF_RANGE; HEARTH_ERROR_INVALID_STATE before begin_frame.
 * Threads: externally synchronized on `converter` and the command buffer; not during
 * hearth_begin_frame. */
HEARTH_API hearth_result hearth_record_convert_image(hearth_image_converter* converter,
                                                     const hearth_image_conversion_info* info);

/* ------------------------------------------------------------------------------------------------
 * Brains: saving, loading and resetting what was learned
 *
 * A brain is a checkpoint: the bytes of a file that holds all parameters and states of a program by
 * name (weights, optimizer moments, counters, random state, statistics), but not its non-persistent
 * states (replay buffers, recurrent states), which return to their initial values when a brain is
 * loaded.  There are two other kinds of brains: a brain of weights holds what acting needs, and
 * everything else takes its initial value; a saved game holds the non-persistent states as well, so
 * that everything goes on where it was.  All load the same way.  A brain loads on any device and device target.  Hearth opens no files:
 * hearth_record_save_brain copies the memory in the command buffer, at one point between
 * recordings; once its frame has completed, hearth_brain_encode encodes the copy on any thread, and
 * the application writes the bytes (hearth/brain_file.hpp does so atomically).  Loading validates
 * everything before it changes the session.
 * --------------------------------------------------------------------------------------------- */

typedef uint32_t hearth_brain_flags;
/* Loading: tensors that exist on one side only are ignored, and the bindings may differ.
 * Without this flag parameters and states must match by name. */
#define HEARTH_BRAIN_NON_STRICT 0x1u
/* Loading: the brain's graph hash must equal this program's. */
#define HEARTH_BRAIN_REQUIRE_SAME_GRAPH 0x2u
/* Saving: store only tensors that differ from the program's initial values.  The brain then
 * loads only into programs with the same initial values. */
#define HEARTH_BRAIN_DELTA 0x4u
/* Loading and saving: accept NaN and infinities, which otherwise are HEARTH_ERROR_NON_FINITE: they
 * spread through training, and a network does not recover from them. */
#define HEARTH_BRAIN_ALLOW_NON_FINITE 0x8u
#define HEARTH_BRAIN_SAVED_GAME 0x10u /* saving: the snapshot is of hearth_record_save_game */
/* Loading: params of 2^60 or more, whose squares overflow in training, are not finite, too. */
#define HEARTH_BRAIN_LIMIT_PARAMS 0x20u

/* Properties of a brain; see hearth_brain_get_info. */
typedef struct hearth_brain_info {
    hearth_struct_type type;
    uint32_t size;
    uint64_t graph_hash;       /* of the program that saved it */
    uint64_t schema_hash;      /* of that program's inputs and outputs */
    uint64_t base_hash;        /* of the initial values that training started from */
    uint64_t user_schema_hash; /* set by the application */
    uint32_t tensor_count;
    uint32_t changed_count; /* delta: tensors that differ from the base; otherwise all */
    uint32_t is_delta;
    uint32_t format_version;
    const void* user_data; /* the application's bytes; they point into the brain */
    uint64_t user_data_size;
    uint32_t is_weights;    /* only what acting needs (hearth_brain_extract_weights) */
    uint32_t is_saved_game; /* with non-persistent states (hearth_record_save_game) */
} hearth_brain_info;

/* Validates the bytes of a brain (8-byte aligned) and describes it.  `messages`, optional,
 * describes what is wrong.  Any thread. */
HEARTH_API hearth_result hearth_brain_get_info(const void* bytes, uint64_t byte_count,
                                               hearth_brain_info* out, hearth_messages* messages);

/* Records a copy of everything that a brain contains, a snapshot, into the readback ring buffer, as
 * one consistent state; finish with hearth_readback_poll and hearth_readback_release.  Uses
 * hearth_program_get_brain_size of readback_bytes.  Padding between tensors is zero, so equal
 * contents give equal bytes.
 * HEARTH_NOT_READY: a sliced entry is between its first and its last write; nothing was
 * recorded.  Try again when it has finished. */
HEARTH_API hearth_result hearth_record_save_brain(hearth_session* session,
                                                  VkCommandBuffer command_buffer,
                                                  hearth_readback* out);

/* Size of a snapshot of this program's sessions in bytes.  Loading a brain uses as much of
 * upload_bytes, plus the non-zero initial values of non-persistent states. */
HEARTH_API uint64_t hearth_program_get_brain_size(const hearth_program* program);

/* Writes the snapshot of a session that has only been initialized, for hearth_brain_encode.
 * byte_count: at least hearth_program_get_brain_size.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE for fewer bytes.  Allocates nothing.  Any thread. */
HEARTH_API hearth_result hearth_program_get_initial_snapshot(const hearth_program* program,
                                                             void* out, uint64_t byte_count);

/* As hearth_record_save_brain and hearth_program_get_brain_size, for saved games: non-persistent
 * states, too. */
HEARTH_API hearth_result hearth_record_save_game(hearth_session* session,
                                                 VkCommandBuffer command_buffer,
                                                 hearth_readback* out);
HEARTH_API uint64_t hearth_program_get_saved_game_size(const hearth_program* program);

/* Copies what acting needs of a learner's brain (8-byte aligned): weights and statistics of
 * observations and rewards.  *out_byte_count is the capacity of `out` on entry, at least
 * byte_count, and the size on return; if `out` is NULL it is set to a sufficient capacity.
 * Errors: as hearth_brain_get_info; HEARTH_ERROR_UNSUPPORTED for a saved game;
 * HEARTH_ERROR_OUT_OF_RANGE.  Any thread. */
HEARTH_API hearth_result hearth_brain_extract_weights(const void* bytes, uint64_t byte_count,
                                                      void* out, uint64_t* out_byte_count,
                                                      hearth_messages* messages);

/* Parameters of hearth_brain_encode. */
typedef struct hearth_brain_save_info {
    hearth_struct_type type;
    uint32_t size;
    const void* snapshot; /* from hearth_readback_poll, for hearth_record_save_brain */
    uint64_t snapshot_bytes;
    hearth_brain_flags flags;
    uint32_t reserved;
    uint64_t user_schema_hash; /* optional: hash of the application's own observation schema */
    const void* user_data;     /* optional: application bytes stored with the brain */
    uint64_t user_data_size;
} hearth_brain_save_info;

/* Encodes a snapshot as a brain.  *byte_count is the capacity of `out` on entry and the size on
 * return; if `out` is NULL it is set to a sufficient capacity.
 * Errors: HEARTH_ERROR_NON_FINITE unless the flags allow it; HEARTH_ERROR_OUT_OF_RANGE if `out`
 * is too small.
 * Allocates nothing.  Any thread, as long as `program` and the snapshot live. */
HEARTH_API hearth_result hearth_brain_encode(const hearth_program* program,
                                             const hearth_brain_save_info* info, void* out,
                                             uint64_t* byte_count);

/* Returns HEARTH_OK if the brain can be loaded into this program; `messages`, optional, lists all
 * reasons against it.
 * Errors: HEARTH_ERROR_CORRUPT_DATA, HEARTH_ERROR_VERSION_MISMATCH, HEARTH_ERROR_INCOMPATIBLE,
 * HEARTH_ERROR_NON_FINITE.  Any thread. */
HEARTH_API hearth_result hearth_brain_check(const hearth_program* program, const void* bytes,
                                            uint64_t byte_count, hearth_brain_flags flags,
                                            hearth_messages* messages);

/* Validates the brain, decodes it completely into the upload ring buffer, and only then records the
 * copies.  Unfinished sliced recordings are abandoned.  Errors: as hearth_brain_check, and
 * HEARTH_ERROR_TOO_MANY_IN_FLIGHT. */
HEARTH_API hearth_result hearth_record_load_brain(hearth_session* session,
                                                  VkCommandBuffer command_buffer, const void* bytes,
                                                  uint64_t byte_count, hearth_brain_flags flags,
                                                  hearth_messages* messages);

/* Resets parameters and states, non-persistent ones included, to the program's initial values:
 * those whose names match `pattern`, in which '*' matches any characters (NULL: all).  *count,
 * optional, is set to the number of matching variables.
 * Errors: HEARTH_ERROR_NOT_FOUND if none match; HEARTH_ERROR_TOO_MANY_IN_FLIGHT. */
HEARTH_API hearth_result hearth_record_reset_variables(hearth_session* session,
                                                       VkCommandBuffer command_buffer,
                                                       const char* pattern, uint32_t* count);

/* ------------------------------------------------------------------------------------------------
 * Two sessions of one program: one runs on its own queue while the other is used every frame
 * --------------------------------------------------------------------------------------------- */

/* Records copies of variables of `from` to the same variables of `to`, another session of the
 * same program and context.  Waits for earlier recordings of both sessions on this queue, and
 * makes the copies visible to later ones.  Work of either session on another queue must have
 * completed before this executes, and may start there again after it has completed.
 * Errors: HEARTH_ERROR_INCOMPATIBLE for sessions of different programs, HEARTH_ERROR_NOT_FOUND for
 * a variable index. */
HEARTH_API hearth_result hearth_record_copy_variables(hearth_session* to, hearth_session* from,
                                                      VkCommandBuffer command_buffer,
                                                      const uint32_t* variables, uint32_t count);

/* Transfers ownership of all memory of a session from one queue family to another
 * (HEARTH_QUEUE_FAMILY_SAME: the context's).  Record it twice with equal arguments: after the
 * last work on the old queue (release) and, once that frame has completed, before the first work
 * on the new one (acquire).  Records nothing if the families are equal. */
HEARTH_API hearth_result hearth_record_queue_transfer(hearth_session* session,
                                                      VkCommandBuffer command_buffer,
                                                      uint32_t from_family, uint32_t to_family);

/* ------------------------------------------------------------------------------------------------
 * GPU timings
 * --------------------------------------------------------------------------------------------- */

/* GPU times of a recording or slice, in nanoseconds. */
typedef struct hearth_timings {
    hearth_struct_type type;
    uint32_t size;
    uint64_t frame_number;
    uint64_t batch_size;
    uint32_t entry;
    uint32_t first_command; /* first command of the slice, within the entry */
    /* Of command_ns and command_labels; 0 without HEARTH_SESSION_TIMESTAMP_COMMANDS. */
    uint32_t command_count;
    uint32_t first_sub_dispatch; /* sub-dispatch of that command at which the slice starts */
    double total_ns;
    const double* command_ns; /* valid until the next call on the session */
    const char* const* command_labels;
    /* Position after the slice, where the next one starts; at the end of the entry,
     * hearth_entry_info::command_count and 0. */
    uint32_t end_command;
    uint32_t end_sub_dispatch;
} hearth_timings;

/* Returns the oldest recording with available and unread timestamps.
 * HEARTH_NOT_READY: none.  HEARTH_ERROR_UNSUPPORTED: the queue family has no timestamps.
 * While max_pending_timings recordings are unread, further recordings are not measured. */
HEARTH_API hearth_result hearth_session_next_timings(hearth_session* session, hearth_timings* out);

#if !defined(HEARTH_NO_EXPERIMENTAL)
/* Describes the session as zero-terminated JSON, for a game's developer tools (experimental):
 * device_bytes by usage, pipelines, variables, and for each entry its bindings, its commands
 * with their estimated flops and bytes_moved, the sums of these, and measured_us of the last
 * complete recording that hearth_session_next_timings returned, with measured_batch_size.  An
 * extent that depends on the batch size is "batch" or "4*batch".  *byte_count is the capacity of
 * `out` on entry and the size including the terminating zero on return; if `out` is NULL it is set
 * to the required size.  Allocates nothing.
 * Errors: HEARTH_ERROR_OUT_OF_RANGE if `out` is too small.
 * Threads: externally synchronized on `session`. */
HEARTH_API HEARTH_EXPERIMENTAL hearth_result hearth_session_to_json(hearth_session* session,
                                                                    char* out,
                                                                    uint64_t* byte_count);
#endif

/* The functions from here on are inline, so that a struct's size is that of the caller's header.
 * The library exports them too, for languages that cannot call inline functions: bindings made from
 * the headers of the library's version (hearth_check_version), because structs are returned whole.
 * Generators of bindings, and one source file of the library, define HEARTH_EXPORT_INLINE_FUNCTIONS. */
#if defined(HEARTH_EXPORT_INLINE_FUNCTIONS)
#define HEARTH_INLINE HEARTH_API
#else
#define HEARTH_INLINE static inline
#endif

/* Makes the scope {stages, access}, without a queue family transfer. */
HEARTH_INLINE hearth_sync_scope hearth_make_sync_scope(uint64_t stages, uint64_t access) {
    hearth_sync_scope scope;
    scope.stages = stages;
    scope.access = access;
    scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    scope.reserved = 0;
    return scope;
}

/* A null pointer and a null handle (which is a pointer or an integer), without warnings in C or
 * C++. */
#if defined(__cplusplus)
#define HEARTH_NO_DATA nullptr
#define HEARTH_NO_BUFFER VkBuffer()
#else
#define HEARTH_NO_DATA NULL
#define HEARTH_NO_BUFFER 0
#endif

/* Binds bytes [offset, offset + byte_count) of a buffer created with `usage`
 * (VkBufferUsageFlags).  Set acquire_scope and release_scope unless the application inserts the
 * barriers itself. */
HEARTH_INLINE hearth_tensor_binding hearth_bind_buffer(uint32_t binding, VkBuffer buffer,
                                                       uint64_t offset, uint64_t byte_count,
                                                       uint32_t usage) {
    hearth_tensor_binding tensor;
    tensor.binding = binding;
    tensor.usage = usage;
    tensor.buffer = buffer;
    tensor.offset = offset;
    tensor.bytes = byte_count;
    tensor.device_address = 0;
    tensor.item_stride = 0;
    tensor.data = HEARTH_NO_DATA;
    tensor.acquire_scope = hearth_make_sync_scope(0, 0);
    tensor.release_scope = hearth_make_sync_scope(0, 0);
    return tensor;
}

/* Binds `byte_count` bytes by value (inputs only). */
HEARTH_INLINE hearth_tensor_binding hearth_bind_bytes(uint32_t binding, const void* data,
                                                      uint64_t byte_count) {
    hearth_tensor_binding tensor = hearth_bind_buffer(binding, HEARTH_NO_BUFFER, 0, byte_count, 0);
    tensor.data = data;
    return tensor;
}

/* Bytes [offset, offset + byte_count) of an application buffer with TRANSFER_SRC usage, as a region
 * of a readback.
 * acquire_scope  how it was written; {0, 0}: already visible to copies. */
HEARTH_INLINE hearth_readback_region hearth_readback_of_buffer(VkBuffer buffer, uint64_t offset,
                                                               uint64_t byte_count,
                                                               hearth_sync_scope acquire_scope) {
    hearth_readback_region region;
    region.buffer = buffer;
    region.variable = 0;
    region.reserved = 0;
    region.offset = offset;
    region.byte_count = byte_count;
    region.acquire_scope = acquire_scope;
    return region;
}

/* Bytes [offset, offset + byte_count) of a variable, as a region of a readback; byte_count 0: to
 * its end. */
HEARTH_INLINE hearth_readback_region hearth_readback_of_variable(uint32_t variable, uint64_t offset,
                                                                 uint64_t byte_count) {
    hearth_readback_region region = hearth_readback_of_buffer(HEARTH_NO_BUFFER, offset, byte_count,
                                                              hearth_make_sync_scope(0, 0));
    region.variable = variable;
    return region;
}

#undef HEARTH_NO_BUFFER
#undef HEARTH_NO_DATA

/* ------------------------------------------------------------------------------------------------
 * Defaults
 * --------------------------------------------------------------------------------------------- */

#if defined(__cplusplus)
#define HEARTH_DEFAULT_FUNCTION(name, tag)    \
    HEARTH_INLINE name name##_default(void) { \
        name value = {};                      \
        value.type = tag;                     \
        value.size = uint32_t{sizeof(name)};
#else
#define HEARTH_DEFAULT_FUNCTION(name, tag)    \
    HEARTH_INLINE name name##_default(void) { \
        name value = {.type = tag};           \
        value.size = (uint32_t)sizeof(name);
#endif
#define HEARTH_DEFAULT_END \
    return value;          \
    }

/* clang-format off */
HEARTH_DEFAULT_FUNCTION(hearth_device_requirements_info, HEARTH_STRUCT_DEVICE_REQUIREMENTS_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_requirements, HEARTH_STRUCT_REQUIREMENTS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_device_caps, HEARTH_STRUCT_DEVICE_CAPS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_context_create_info, HEARTH_STRUCT_CONTEXT_CREATE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_cpu_context_create_info, HEARTH_STRUCT_CPU_CONTEXT_CREATE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_context_stats, HEARTH_STRUCT_CONTEXT_STATS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_program_load_info, HEARTH_STRUCT_PROGRAM_LOAD_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_package_load_info, HEARTH_STRUCT_PACKAGE_LOAD_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_package_info, HEARTH_STRUCT_PACKAGE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_program_info, HEARTH_STRUCT_PROGRAM_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_entry_info, HEARTH_STRUCT_ENTRY_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_command_info, HEARTH_STRUCT_COMMAND_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_binding_info, HEARTH_STRUCT_BINDING_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_variable_info, HEARTH_STRUCT_VARIABLE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_session_create_info, HEARTH_STRUCT_SESSION_CREATE_INFO)
    value.recordings_in_flight = 64;
    value.max_inline_bytes = 1024;
    value.upload_count = 64;
    value.upload_bytes = HEARTH_SIZE_AUTO;
    value.readback_bytes = HEARTH_SIZE_AUTO;
    value.readback_count = 64;
    value.max_pending_timings = 16;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_memory_requirements, HEARTH_STRUCT_MEMORY_REQUIREMENTS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_session_status, HEARTH_STRUCT_SESSION_STATUS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_buffer_range, HEARTH_STRUCT_BUFFER_RANGE) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_record_info, HEARTH_STRUCT_RECORD_INFO)
    value.batch_size = 1;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_readback_info, HEARTH_STRUCT_READBACK_INFO)
    value.acquire_scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_dump_info, HEARTH_STRUCT_DUMP_INFO)
    value.command = HEARTH_NO_COMMAND;
    value.batch_size = 1;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_session_dump_info, HEARTH_STRUCT_SESSION_DUMP_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_brain_info, HEARTH_STRUCT_BRAIN_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_brain_save_info, HEARTH_STRUCT_BRAIN_SAVE_INFO) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_timings, HEARTH_STRUCT_TIMINGS) HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_image_converter_create_info, HEARTH_STRUCT_IMAGE_CONVERTER_CREATE_INFO)
    value.recordings_in_flight = 8;
HEARTH_DEFAULT_END
HEARTH_DEFAULT_FUNCTION(hearth_image_conversion_info, HEARTH_STRUCT_IMAGE_CONVERSION_INFO)
    value.aspect = 1; /* VK_IMAGE_ASPECT_COLOR_BIT */
    value.image_acquire_scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.image_release_scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.tensor.acquire_scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.tensor.release_scope.queue_family = HEARTH_QUEUE_FAMILY_SAME;
    value.channels = 3;
    for (uint32_t i = 0; i < 4; ++i) {
        value.swizzle[i] = i;
        value.scale[i] = 1.0f;
    }
HEARTH_DEFAULT_END
/* clang-format on */

#undef HEARTH_DEFAULT_FUNCTION
#undef HEARTH_DEFAULT_END
#undef HEARTH_INLINE

#ifdef __cplusplus
} /* extern "C" */
static_assert(sizeof(hearth_result) == 4 && sizeof(hearth_dtype) == 4, "enums must be 32 bits");
#else
_Static_assert(sizeof(hearth_result) == 4 && sizeof(hearth_dtype) == 4, "enums must be 32 bits");
#endif

#endif /* HEARTH_H_ */
