// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implements hearth.h on the runtime's classes: checks pointers and struct versions, and forwards.

#include "core/checked.hpp"
#include "core/portable.hpp"
#include "core/sha256.hpp"
#include "device/capi/structs.hpp"
#include "device/session/brain.hpp"
#include "device/session/converter.hpp"
#include "device/session/dump.hpp"
#include "device/session/session.hpp"
#include "program/package.hpp"

using namespace hearth;
using namespace hearth::capi;

namespace {

// The opaque types of hearth.h are the runtime's classes.
runtime::Context* unwrap(hearth_context* c) {
    return reinterpret_cast<runtime::Context*>(c);
}
const runtime::Context* unwrap(const hearth_context* c) {
    return reinterpret_cast<const runtime::Context*>(c);
}
runtime::LoadedProgram* unwrap(hearth_program* p) {
    return reinterpret_cast<runtime::LoadedProgram*>(p);
}
const runtime::LoadedProgram* unwrap(const hearth_program* p) {
    return reinterpret_cast<const runtime::LoadedProgram*>(p);
}
runtime::Arena* unwrap(hearth_arena* a) {
    return reinterpret_cast<runtime::Arena*>(a);
}
const runtime::Arena* unwrap(const hearth_arena* a) {
    return reinterpret_cast<const runtime::Arena*>(a);
}
runtime::Converter* unwrap(hearth_image_converter* c) {
    return reinterpret_cast<runtime::Converter*>(c);
}
const runtime::Converter* unwrap(const hearth_image_converter* c) {
    return reinterpret_cast<const runtime::Converter*>(c);
}
runtime::Session* unwrap(hearth_session* s) {
    return reinterpret_cast<runtime::Session*>(s);
}
/// Queries change nothing but the session's error text.
runtime::Session* unwrap(const hearth_session* s) {
    return reinterpret_cast<runtime::Session*>(const_cast<hearth_session*>(s));
}

void write_report(hearth_messages* report, const gpu::Problems& problems) {
    if (report == nullptr) return;
    report->message_count = problems.count;
    std::memcpy(report->text, problems.text.c_str(), sizeof report->text);
}

void fill_dims(const file::ShapeRecord& shape, uint32_t& rank, hearth_dim* dims) {
    rank = shape.rank;
    for (uint32_t i = 0; i < shape.rank; ++i)
        dims[i] = {shape.counts[i], shape.batch_mask >> i & 1, 0};
}

hearth_dtype device_type(uint32_t dtype, const ProgramView& view) {
    return static_cast<hearth_dtype>(device_dtype(static_cast<DType>(dtype), view.storage()));
}

static_assert(static_cast<int>(DType::kBool) == HEARTH_BOOL && kDTypeCount == HEARTH_BOOL + 1);
static_assert(kMaxRank == HEARTH_MAX_RANK);

/// The last failure of a program query on this thread. Queries are allowed on any thread, so
/// neither the program nor the context can hold it.
struct ProgramError {
    const hearth_program* program = nullptr;
    FixedText<512> text;
};
thread_local ProgramError program_error;

/// Reports errors of program queries. Like all owners of an error text it has fail(result, format,
/// ...).
struct ProgramQuery {
    const hearth_program* program;

    HEARTH_PRINTF(3, 4) hearth_result fail(hearth_result result, const char* format, ...) const {
        program_error.program = program;
        program_error.text.clear();
        va_list arguments;
        va_start(arguments, format);
        program_error.text.append_list(format, arguments);
        va_end(arguments);
        return result;
    }
};

/// False for a pointer that is no handle. There is no object to report the error to.
template <class Handle>
bool is_handle(const Handle* handle) {
    return handle != nullptr && unwrap(handle)->is_intact();
}

template <class Owner>
hearth_result fail_null(Owner& owner, const char* call, const char* argument) {
    return owner.fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: %s is null", call, argument);
}

/// Returns HEARTH_OK if the struct was made with its _default() function; else sets an error on
/// `owner`.
template <class Owner, class T>
hearth_result check_struct(Owner& owner, const char* call, const char* argument, const char* type,
                           const T* given, const T& fresh) {
    if (is_made(given, fresh)) return HEARTH_OK;
    FixedText<256> why;
    const hearth_result result = capi::check_struct(given, fresh, argument, type, why);
    return owner.fail(result, "%s: %s", call, why.c_str());
}
template <class T>
hearth_result check_struct(gpu::Problems& problems, const char* call, const char* argument,
                           const char* type, const T* given, const T& fresh) {
    if (is_made(given, fresh)) return HEARTH_OK;
    FixedText<256> why;
    const hearth_result result = capi::check_struct(given, fresh, argument, type, why);
    problems.add("%s: %s", call, why.c_str());
    return result;
}
#define HEARTH_CHECK_STRUCT(owner, type, argument)                                       \
    if (const hearth_result checked =                                                    \
            check_struct(owner, __func__, #argument, #type, argument, type##_default()); \
        checked != HEARTH_OK)                                                            \
    return checked
#define HEARTH_CHECK_POINTER(owner, argument) \
    if (argument == nullptr) return fail_null(owner, __func__, #argument)

#define HEARTH_CHECK_NATIVE(owner)                                                          \
    if (owner.native() == nullptr)                                                          \
    return owner.fail(                                                                      \
        HEARTH_ERROR_UNSUPPORTED,                                                           \
        "%s: the context is of a Vulkan device; expected one of hearth_context_create_cpu", \
        __func__)

/// Returns HEARTH_OK if the session is usable.
hearth_result check_session(const hearth_session* session, const char* call) {
    if (!is_handle(session)) return HEARTH_ERROR_INVALID_ARGUMENT;
    if (!unwrap(session)->is_retired()) return HEARTH_OK;
    return unwrap(session)->fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: the session was destroyed",
                                 call);
}
#define HEARTH_CHECK_SESSION(session)                                                         \
    if (const hearth_result checked = check_session(session, __func__); checked != HEARTH_OK) \
    return checked

/// Returns HEARTH_OK if sessions of `context` can be created from the program.
hearth_result check_program(runtime::Context& context, const hearth_program* program,
                            const char* call) {
    const char* const problem = program == nullptr              ? "is null"
                                : !unwrap(program)->is_intact() ? "is not a handle of a program"
                                : &unwrap(program)->context() != &context
                                    ? "is of another context; expected one of this context"
                                : unwrap(program)->is_closed() ? "was destroyed"
                                                               : nullptr;
    if (problem == nullptr) return HEARTH_OK;
    return context.fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: info->program %s", call, problem);
}

/// Returns HEARTH_OK for null, or an arena that sessions of `context` can use.
hearth_result check_arena(runtime::Context& context, hearth_arena* arena, const char* call) {
    if (arena == nullptr) return HEARTH_OK;
    const char* const problem = !unwrap(arena)->is_intact() ? "is not a handle of an arena"
                                : &unwrap(arena)->context() != &context
                                    ? "is of another context; expected one of this context"
                                : unwrap(arena)->is_closed() ? "was destroyed"
                                                             : nullptr;
    if (problem == nullptr) return HEARTH_OK;
    return context.fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: info->arena %s", call, problem);
}

/// Finds the index of the record named `name`; the error lists the known names.
template <class Records, class Name>
hearth_result find_named(const ProgramQuery& query, const char* what, const ProgramView& view,
                         const Records& records, const char* name, Name name_of_record,
                         uint32_t* index) {
    for (uint32_t i = 0; i < records.size(); ++i) {
        if (view.text_view(name_of_record(records[i])) != name) continue;
        *index = i;
        return HEARTH_OK;
    }
    FixedText<300> known;
    constexpr uint32_t kMostNamed = 16;
    for (uint32_t i = 0; i < records.size() && i < kMostNamed; ++i)
        known.append("%s%.60s", i > 0 ? ", " : "", view.text(name_of_record(records[i])));
    if (records.size() > kMostNamed) known.append(", ...");
    return query.fail(HEARTH_ERROR_NOT_FOUND, "no %s is named '%.100s'; there are: %s", what, name,
                      records.empty() ? "none" : known.c_str());
}

bool is_known(hearth_trust_level trust) {
    return trust == HEARTH_TRUST_TRUSTED || trust == HEARTH_TRUST_UNTRUSTED;
}

hearth_result open_brain(const void* bytes, uint64_t byte_count, BrainView& brain,
                         gpu::Problems& problems, const char* call) {
    if (bytes == nullptr || byte_count > SIZE_MAX / 2) {
        problems.add("%s: %s", call,
                     bytes == nullptr ? "bytes is null" : "byte_count exceeds the address space");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    ViewError error;
    if (brain.open(std::span(static_cast<const std::byte*>(bytes), byte_count), &error))
        return HEARTH_OK;
    problems.add("%s", error.text.c_str());
    return runtime::result_of(error.code);
}

/// Creates a context of either kind; `function` is the API function that the application called.
template <class Info>
hearth_result create_context(const char* function, const char* type, const Info* info,
                             const Info& defaults,
                             hearth_result (*create)(const Info&, runtime::Context**,
                                                     gpu::Problems&),
                             hearth_context** out, hearth_messages* report) {
    gpu::Problems problems;
    hearth_result result = HEARTH_ERROR_INVALID_ARGUMENT;
    if (out == nullptr) {
        problems.add("%s: out is null", function);
    } else {
        runtime::Context* context = nullptr;
        result = check_struct(problems, function, "info", type, info, defaults);
        if (result == HEARTH_OK) result = create(read_struct(info, defaults), &context, problems);
        *out = reinterpret_cast<hearth_context*>(context);
    }
    write_report(report, problems);
    return result;
}

}  // namespace

#define HEARTH_STRINGIFY_(x) #x
#define HEARTH_STRINGIFY(x) HEARTH_STRINGIFY_(x)
#define HEARTH_VERSION_TEXT                \
    HEARTH_STRINGIFY(HEARTH_VERSION_MAJOR) \
    "." HEARTH_STRINGIFY(HEARTH_VERSION_MINOR) "." HEARTH_STRINGIFY(HEARTH_VERSION_PATCH)

extern "C" {

// ------------------------------------------------------------------------------------ results

const char* hearth_result_name(hearth_result result) {
    return gpu::name_of(result);
}

uint32_t hearth_version(void) {
    return HEARTH_VERSION;
}

hearth_result hearth_check_version(uint32_t header_version) {
    const uint32_t major = header_version >> 22, minor = header_version >> 12 & 0x3ff;
    const bool usable =
        major == HEARTH_VERSION_MAJOR &&
        (HEARTH_VERSION_MAJOR > 0 ? minor <= HEARTH_VERSION_MINOR : minor == HEARTH_VERSION_MINOR);
    return usable ? HEARTH_OK : HEARTH_ERROR_VERSION_MISMATCH;
}

const char* hearth_build_info(void) {
#if defined(NDEBUG)
    return "hearth " HEARTH_VERSION_TEXT " " HEARTH_COMPILER_VERSION " release";
#else
    return "hearth " HEARTH_VERSION_TEXT " " HEARTH_COMPILER_VERSION " debug";
#endif
}

// ------------------------------------------------------------------------------- requirements

const char* hearth_feature_name(hearth_features one_bit) {
    for (const gpu::Feature& feature : gpu::all_features())
        if (feature.bit == one_bit) return feature.name;
    return "";
}

hearth_result hearth_get_instance_requirements(hearth_requirements* out) {
    if (!is_made(out, hearth_requirements_default())) return HEARTH_ERROR_INVALID_ARGUMENT;
    hearth_requirements value = hearth_requirements_default();
    value.min_api_version = VK_API_VERSION_1_2;
    value.optional_extensions[value.optional_extension_count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_get_device_requirements(const hearth_device_requirements_info* query,
                                             hearth_requirements* out, hearth_messages* messages) {
    gpu::Problems problems;
    hearth_result result =
        check_struct(problems, __func__, "query", "hearth_device_requirements_info", query,
                     hearth_device_requirements_info_default());
    if (result == HEARTH_OK)
        result = check_struct(problems, __func__, "out", "hearth_requirements", out,
                              hearth_requirements_default());
    if (result == HEARTH_OK) {
        hearth_requirements value = hearth_requirements_default();
        result = gpu::query_requirements(
            read_struct(query, hearth_device_requirements_info_default()), value, problems);
        write_struct(out, value);
    }
    write_report(messages, problems);
    return result;
}

hearth_features hearth_get_enabled_features(const void* chain, const void* enabled_features) {
    return gpu::read_features(static_cast<const VkBaseInStructure*>(chain),
                              static_cast<const VkPhysicalDeviceFeatures*>(enabled_features));
}

hearth_result hearth_enable_features(hearth_features features, uint32_t, void* chain, void* storage,
                                     size_t* storage_bytes) {
    auto* head = static_cast<VkBaseOutStructure*>(chain);
    // An sType of 0 is no feature struct, but one that was not filled in.
    const bool is_filled = head == nullptr || head->sType != VK_STRUCTURE_TYPE_APPLICATION_INFO;
    if (!is_filled || storage_bytes == nullptr) return HEARTH_ERROR_INVALID_ARGUMENT;
    return gpu::patch_features(features, head, storage, storage_bytes);
}

hearth_result hearth_get_device_caps(const hearth_device_requirements_info* query,
                                     hearth_features enabled, hearth_device_caps* out) {
    if (!is_made(query, hearth_device_requirements_info_default()) ||
        !is_made(out, hearth_device_caps_default()))
        return HEARTH_ERROR_INVALID_ARGUMENT;
    const hearth_device_requirements_info q =
        read_struct(query, hearth_device_requirements_info_default());
    if (q.get_instance_proc_addr == nullptr || q.physical_device == VK_NULL_HANDLE)
        return HEARTH_ERROR_INVALID_ARGUMENT;
    gpu::Problems problems;
    const gpu::InstanceFunctions vk =
        gpu::load_instance_functions(q.get_instance_proc_addr, q.instance, problems);
    if (problems.count > 0) return HEARTH_ERROR_UNSUPPORTED;
    hearth_result result = HEARTH_OK;
    const hearth_device_caps caps =
        gpu::query_caps(vk, q.physical_device, q.api_version, enabled, q.binding_model, result);
    if (result == HEARTH_OK) write_struct(out, caps);
    return result;
}

// ------------------------------------------------------------------------------------ context

hearth_result hearth_context_create(const hearth_context_create_info* info, hearth_context** out,
                                    hearth_messages* messages) {
    return create_context(__func__, "hearth_context_create_info", info,
                          hearth_context_create_info_default(), runtime::Context::create, out,
                          messages);
}

hearth_cpu_isa hearth_detect_cpu_isa(void) {
    return static_cast<hearth_cpu_isa>(native::machine_cpu());
}

hearth_result hearth_context_create_cpu(const hearth_cpu_context_create_info* info,
                                        hearth_context** out, hearth_messages* messages) {
    return create_context(__func__, "hearth_cpu_context_create_info", info,
                          hearth_cpu_context_create_info_default(), runtime::Context::create_cpu,
                          out, messages);
}

hearth_result hearth_cpu_command_buffer_create(hearth_context* context, VkCommandBuffer* out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    HEARTH_CHECK_POINTER(owner, out);
    *out = nullptr;
    HEARTH_CHECK_NATIVE(owner);
    *out = native::create_commands(*owner.native(), owner.device().callbacks());
    if (*out != nullptr) return HEARTH_OK;
    return owner.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "%s: out of host memory", __func__);
}

void hearth_cpu_command_buffer_destroy(hearth_context* context, VkCommandBuffer commands) {
    if (is_handle(context) && unwrap(context)->native() != nullptr)
        native::destroy_commands(commands);
}

hearth_result hearth_cpu_command_buffer_execute(hearth_context* context, VkCommandBuffer commands) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    if (owner.device().is_lost()) return runtime::fail_lost(owner, __func__);
    HEARTH_CHECK_NATIVE(owner);
    HEARTH_CHECK_POINTER(owner, commands);
    const VkResult result = native::execute(commands);
    native::reset_commands(commands);
    if (result == VK_SUCCESS) return HEARTH_OK;
    return owner.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY,
                      "%s: some commands could not be recorded for lack of memory, so none was "
                      "executed; reset and record again",
                      __func__);
}

hearth_result hearth_cpu_command_buffer_reset(hearth_context* context, VkCommandBuffer commands) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    HEARTH_CHECK_NATIVE(owner);
    HEARTH_CHECK_POINTER(owner, commands);
    native::reset_commands(commands);
    return HEARTH_OK;
}

hearth_result hearth_cpu_buffer_import(hearth_context* context, void* memory, uint64_t byte_count,
                                       VkBuffer* out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    HEARTH_CHECK_POINTER(owner, out);
    *out = VK_NULL_HANDLE;
    HEARTH_CHECK_NATIVE(owner);
    HEARTH_CHECK_POINTER(owner, memory);
    constexpr uintptr_t kAlignment = 16;
    if (reinterpret_cast<uintptr_t>(memory) % kAlignment != 0)
        return owner.fail(HEARTH_ERROR_INVALID_ARGUMENT,
                          "%s: the memory is at %p, expected a multiple of 16", __func__, memory);
    *out = native::create_buffer(memory, byte_count, owner.device().callbacks());
    if (*out != VK_NULL_HANDLE) return HEARTH_OK;
    return owner.fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "%s: out of host memory", __func__);
}

void hearth_cpu_buffer_destroy(hearth_context* context, VkBuffer buffer) {
    if (!is_handle(context) || unwrap(context)->native() == nullptr) return;
    const gpu::Device& device = unwrap(context)->device();
    device.vk().DestroyBuffer(device.handle(), buffer, device.callbacks());
}

hearth_result hearth_context_destroy(hearth_context* context) {
    if (context == nullptr) return HEARTH_OK;
    return is_handle(context) ? unwrap(context)->destroy() : HEARTH_ERROR_INVALID_ARGUMENT;
}

hearth_result hearth_begin_frame(hearth_context* context, uint64_t frame_number,
                                 uint64_t completed_frame_number) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    return unwrap(context)->begin_frame(frame_number, completed_frame_number);
}

hearth_result hearth_discard_frame(hearth_context* context, uint64_t frame_number,
                                   hearth_messages* messages) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    gpu::Problems lost;
    const hearth_result result = unwrap(context)->drop_frame(frame_number, lost);
    write_report(messages, lost);
    return result;
}

void hearth_context_notify_device_lost(hearth_context* context) {
    if (is_handle(context)) unwrap(context)->device().set_lost();
}

const char* hearth_context_error(const hearth_context* context) {
    return is_handle(context) ? unwrap(context)->error() : "";
}

hearth_result hearth_context_get_device_caps(const hearth_context* context,
                                             hearth_device_caps* out) {
    if (!is_handle(context) || !is_made(out, hearth_device_caps_default()))
        return HEARTH_ERROR_INVALID_ARGUMENT;
    write_struct(out, unwrap(context)->device().caps());
    return HEARTH_OK;
}

hearth_result hearth_context_get_stats(const hearth_context* context, hearth_context_stats* out) {
    if (!is_handle(context) || !is_made(out, hearth_context_stats_default()))
        return HEARTH_ERROR_INVALID_ARGUMENT;
    const runtime::Context& c = *unwrap(context);
    hearth_context_stats value = hearth_context_stats_default();
    value.cpu_bytes = c.allocator().bytes_held();
    value.cpu_bytes_peak = c.allocator().bytes_peak();
    for (uint32_t i = 0; i < HEARTH_MEMORY_USAGE_COUNT; ++i)
        value.device_bytes[i] = c.memory().held(static_cast<hearth_memory_usage>(i));
    value.device_bytes_total = c.memory().held_total();
    for (uint32_t i = 0; i < HEARTH_HEAP_COUNT; ++i)
        value.heap_bytes[i] = c.memory().held_of_heap(i);
    value.session_count = c.session_count();
    value.pipeline_count = c.pipelines().count();
    value.pipeline_cache_used = c.pipeline_cache().is_filled() ? 1 : 0;
    value.frame_number = c.frame_number();
    value.completed_frame_number = c.completed_frame_number();
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_context_save_pipeline_cache(hearth_context* context, void* out,
                                                 uint64_t* byte_count) {
    if (!is_handle(context) || byte_count == nullptr) return HEARTH_ERROR_INVALID_ARGUMENT;
    if (unwrap(context)->device().is_lost()) return HEARTH_ERROR_DEVICE_LOST;
    return unwrap(context)->pipeline_cache().save(static_cast<std::byte*>(out), byte_count);
}

// -------------------------------------------------------------------------------------- trust

void hearth_sha256(const void* bytes, uint64_t byte_count, uint8_t hash[32]) {
    if (hash == nullptr || (bytes == nullptr && byte_count > 0) || byte_count > SIZE_MAX / 2)
        return;
    const auto sum = sha256(std::span(static_cast<const std::byte*>(bytes), byte_count));
    std::copy(sum.begin(), sum.end(), hash);
}

// ----------------------------------------------------------------------------------- programs

hearth_result hearth_program_load(hearth_context* context, const hearth_program_load_info* info,
                                  hearth_program** out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    if (owner.device().is_lost()) return runtime::fail_lost(owner, __func__);
    HEARTH_CHECK_STRUCT(owner, hearth_program_load_info, info);
    HEARTH_CHECK_POINTER(owner, out);
    *out = nullptr;
    const hearth_program_load_info i = read_struct(info, hearth_program_load_info_default());
    if (i.bytes == nullptr) return fail_null(owner, __func__, "info->bytes");
    if (i.byte_count > SIZE_MAX / 2)
        return owner.fail(HEARTH_ERROR_INVALID_ARGUMENT,
                          "%s: info->byte_count exceeds the address space", __func__);
    if (!is_known(i.trust))
        return owner.fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: info->trust is %u, expected 0 or 1",
                          __func__, static_cast<unsigned>(i.trust));
    runtime::LoadedProgram* program = nullptr;
    const hearth_result result = runtime::LoadedProgram::load(
        *unwrap(context),
        {static_cast<const std::byte*>(i.bytes), static_cast<size_t>(i.byte_count)}, i.borrow != 0,
        i.trust, &program);
    *out = reinterpret_cast<hearth_program*>(program);
    return result;
}

hearth_result hearth_package_load(hearth_context* context, const hearth_package_load_info* info,
                                  hearth_program** out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    if (owner.device().is_lost()) return runtime::fail_lost(owner, __func__);
    HEARTH_CHECK_STRUCT(owner, hearth_package_load_info, info);
    HEARTH_CHECK_POINTER(owner, out);
    *out = nullptr;
    const hearth_package_load_info i = read_struct(info, hearth_package_load_info_default());
    if (i.bytes == nullptr) return fail_null(owner, __func__, "info->bytes");
    if (i.byte_count > SIZE_MAX / 2)
        return owner.fail(HEARTH_ERROR_INVALID_ARGUMENT,
                          "%s: info->byte_count exceeds the address space", __func__);
    if (!is_known(i.trust))
        return owner.fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: info->trust is %u, expected 0 or 1",
                          __func__, static_cast<unsigned>(i.trust));
    runtime::LoadedProgram* program = nullptr;
    const hearth_result result = runtime::LoadedProgram::load_package(
        *unwrap(context),
        {static_cast<const std::byte*>(i.bytes), static_cast<size_t>(i.byte_count)}, i.borrow != 0,
        i.trust, i.device_target, &program);
    *out = reinterpret_cast<hearth_program*>(program);
    return result;
}

hearth_result hearth_package_get_info(const void* bytes, uint64_t byte_count,
                                      hearth_package_info* out, hearth_messages* messages) {
    gpu::Problems problems;
    hearth_result result = check_struct(problems, __func__, "out", "hearth_package_info", out,
                                        hearth_package_info_default());
    if (result == HEARTH_OK && (bytes == nullptr || byte_count > SIZE_MAX / 2)) {
        problems.add("%s: %s", __func__,
                     bytes == nullptr ? "bytes is null" : "byte_count exceeds the address space");
        result = HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (result != HEARTH_OK) {
        write_report(messages, problems);
        return result;
    }
    PackageView package;
    ViewError error;
    const bool is_open =
        package.open(std::span(static_cast<const std::byte*>(bytes), byte_count), &error);
    if (!is_open) problems.add("%s", error.text.c_str());
    write_report(messages, problems);
    if (!is_open) return runtime::result_of(error.code);
    hearth_package_info value = hearth_package_info_default();
    value.graph_hash = package.header().graph_hash;
    value.graph_bytes = package.section(package.graph_section()).size();
    value.weights_bytes = package.weights().size();
    value.device_target_count = static_cast<uint32_t>(package.device_targets().size());
    for (uint32_t i = 0; i < value.device_target_count; ++i) {
        value.device_targets[i] = package.device_targets()[i].name;
        value.program_bytes[i] = package.section(package.program_section(i)).size();
    }
    write_struct(out, value);
    return HEARTH_OK;
}

void hearth_program_destroy(hearth_program* program) {
    if (is_handle(program)) unwrap(program)->close();
}

hearth_result hearth_program_get_info(const hearth_program* program, hearth_program_info* out) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_STRUCT(query, hearth_program_info, out);
    const ProgramView& view = unwrap(program)->view();
    const file::FileHeader& header = view.header();
    hearth_program_info value = hearth_program_info_default();
    value.hash = header.content_hash;
    value.device_target = view.text(header.device_target);
    value.max_batch_size = header.max_batch_size;
    value.arena_bytes = header.arena_bytes;
    value.weights_bytes = header.weights_bytes;
    value.binding_model = static_cast<hearth_binding_model>(header.binding_model);
    value.kernel_count = static_cast<uint32_t>(view.kernels().size());
    value.entry_count = static_cast<uint32_t>(view.entries().size());
    value.binding_count = static_cast<uint32_t>(view.bindings().size());
    value.variable_count = static_cast<uint32_t>(view.variables().size());
    value.command_count = static_cast<uint32_t>(view.commands().size());
    value.graph_hash = header.graph_hash;
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_program_get_entry(const hearth_program* program, uint32_t index,
                                       hearth_entry_info* out) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_STRUCT(query, hearth_entry_info, out);
    const ProgramView& view = unwrap(program)->view();
    if (index >= view.entries().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "entry is %u, expected less than %zu", index,
                          view.entries().size());
    const file::EntryRecord& entry = view.entries()[index];
    hearth_entry_info value = hearth_entry_info_default();
    value.name = view.text(entry.name);
    value.bindings = view.bindings_of(entry).data();
    value.binding_count = entry.bindings.count;
    value.command_count = entry.commands.count;
    value.arena_bytes = entry.arena_bytes;
    for (const file::CommandRecord& command : view.commands_of(entry)) {
        value.dispatch_count += command.kind == static_cast<uint32_t>(CommandKind::kDispatch);
        value.barrier_count += command.kind == static_cast<uint32_t>(CommandKind::kBarrier);
        value.flops = (Checked(value.flops) + command.flops).or_most();
        value.bytes_moved = (Checked(value.bytes_moved) + command.bytes_moved).or_most();
    }
    write_struct(out, value);
    return HEARTH_OK;
}

static_assert(HEARTH_COMMAND_DISPATCH == static_cast<int>(CommandKind::kDispatch) &&
              HEARTH_COMMAND_COPY == static_cast<int>(CommandKind::kCopy) &&
              HEARTH_COMMAND_FILL == static_cast<int>(CommandKind::kFill) &&
              HEARTH_COMMAND_BARRIER == static_cast<int>(CommandKind::kBarrier));

hearth_result hearth_program_get_command(const hearth_program* program, uint32_t entry,
                                         uint32_t index, hearth_command_info* out) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_STRUCT(query, hearth_command_info, out);
    const ProgramView& view = unwrap(program)->view();
    if (entry >= view.entries().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "entry is %u, expected less than %zu", entry,
                          view.entries().size());
    const std::span<const file::CommandRecord> commands = view.commands_of(view.entries()[entry]);
    if (index >= commands.size())
        return query.fail(HEARTH_ERROR_NOT_FOUND,
                          "command is %u, expected less than the %zu of entry %s", index,
                          commands.size(), view.text(view.entries()[entry].name));
    const file::CommandRecord& command = commands[index];
    hearth_command_info value = hearth_command_info_default();
    value.kind = static_cast<hearth_command_kind>(command.kind);
    value.label = view.text(command.label);
    value.flops = command.flops;
    value.bytes_moved = command.bytes_moved;
    value.sub_dispatch_count = 1;
    if (command.kind == static_cast<uint32_t>(CommandKind::kDispatch)) {
        const Grid grid = grid_at(command, view.header().max_batch_size);
        value.workgroups = grid.workgroups(grid.part_count()).or_most();
        if (unwrap(program)->is_divisible(command.kernel))
            value.sub_dispatch_count = grid.part_count();
    }
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_program_get_mutated_variables(const hearth_program* program, uint32_t entry,
                                                   uint32_t* variables, uint32_t* count) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, count);
    const ProgramView& view = unwrap(program)->view();
    if (entry >= view.entries().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "entry is %u, expected less than %zu", entry,
                          view.entries().size());
    const auto is_written = [&](const file::VariableRecord& variable) {
        for (const file::CommandRecord& command : view.commands_of(view.entries()[entry]))
            for (const file::OperandRecord& operand : view.operands_of(command))
                if (operand.region == static_cast<uint32_t>(Region::kWeights) &&
                    (operand.access & static_cast<uint32_t>(Access::kWrite)) != 0 &&
                    operand.offset < variable.offset + variable.bytes &&
                    variable.offset <
                        operand.offset + extent_at(operand.bytes, view.header().max_batch_size))
                    return true;
        return false;
    };
    const uint32_t capacity = variables == nullptr ? 0 : *count;
    uint32_t found = 0;
    for (uint32_t i = 0; i < view.variables().size(); ++i) {
        if (!is_written(view.variables()[i])) continue;
        if (found < capacity) variables[found] = i;
        ++found;
    }
    *count = found;
    if (variables == nullptr || found <= capacity) return HEARTH_OK;
    return query.fail(
        HEARTH_ERROR_OUT_OF_RANGE,
        "entry %u writes %u variables, there is room for %u; set *count to at least that", entry,
        found, capacity);
}

hearth_result hearth_program_get_binding(const hearth_program* program, uint32_t index,
                                         hearth_binding_info* out) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_STRUCT(query, hearth_binding_info, out);
    const ProgramView& view = unwrap(program)->view();
    if (index >= view.bindings().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "binding is %u, expected less than %zu", index,
                          view.bindings().size());
    const file::BindingRecord& binding = view.bindings()[index];
    hearth_binding_info value = hearth_binding_info_default();
    value.name = view.text(binding.name);
    value.is_output = binding.direction == static_cast<uint32_t>(Direction::kOutput);
    value.is_inout = binding.direction == static_cast<uint32_t>(Direction::kInOut);
    value.dtype = static_cast<hearth_dtype>(binding.dtype);
    value.device_dtype = device_type(binding.dtype, view);
    fill_dims(binding.shape, value.rank, value.dims);
    value.bytes_fixed = binding.bytes.fixed;
    value.bytes_per_item = binding.bytes.is_batch;
    value.scalar_count = binding.elements.count;
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_program_get_variable(const hearth_program* program, uint32_t index,
                                          hearth_variable_info* out) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_STRUCT(query, hearth_variable_info, out);
    const ProgramView& view = unwrap(program)->view();
    if (index >= view.variables().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "variable is %u, expected less than %zu", index,
                          view.variables().size());
    const file::VariableRecord& variable = view.variables()[index];
    hearth_variable_info value = hearth_variable_info_default();
    value.name = view.text(variable.name);
    value.kind = static_cast<hearth_variable_kind>(variable.kind);
    value.dtype = static_cast<hearth_dtype>(variable.dtype);
    value.device_dtype = device_type(variable.dtype, view);
    fill_dims(variable.shape, value.rank, value.dims);
    value.bytes = variable.bytes;
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_program_find_entry(const hearth_program* program, const char* name,
                                        uint32_t* index) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, name);
    HEARTH_CHECK_POINTER(query, index);
    const ProgramView& view = unwrap(program)->view();
    return find_named(
        query, "entry", view, view.entries(), name,
        [](const file::EntryRecord& entry) { return entry.name; }, index);
}

hearth_result hearth_program_find_binding(const hearth_program* program, uint32_t entry,
                                          const char* name, uint32_t* index) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, name);
    HEARTH_CHECK_POINTER(query, index);
    const ProgramView& view = unwrap(program)->view();
    if (entry >= view.entries().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "entry is %u, expected less than %zu", entry,
                          view.entries().size());
    const file::EntryRecord& record = view.entries()[entry];
    const std::span<const uint32_t> list = view.bindings_of(record);
    FixedText<100> what;
    what.set("binding of entry %.70s", view.text(record.name));
    uint32_t position = 0;
    const hearth_result result = find_named(
        query, what.c_str(), view, list, name,
        [&](uint32_t binding) { return view.bindings()[binding].name; }, &position);
    if (result == HEARTH_OK) *index = list[position];
    return result;
}

hearth_result hearth_program_find_variable(const hearth_program* program, const char* name,
                                           uint32_t* index) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, name);
    HEARTH_CHECK_POINTER(query, index);
    const ProgramView& view = unwrap(program)->view();
    return find_named(
        query, "slot", view, view.variables(), name,
        [](const file::VariableRecord& variable) { return variable.name; }, index);
}

const char* hearth_program_error(const hearth_program* program) {
    return program != nullptr && program_error.program == program ? program_error.text.c_str() : "";
}

hearth_result hearth_program_get_scalar(const hearth_program* program, uint32_t binding,
                                        uint32_t index, const char** name) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, name);
    const ProgramView& view = unwrap(program)->view();
    if (binding >= view.bindings().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "binding is %u, expected less than %zu", binding,
                          view.bindings().size());
    const std::span<const file::TextRef> names = view.elements_of(view.bindings()[binding]);
    if (index >= names.size())
        return query.fail(HEARTH_ERROR_NOT_FOUND,
                          "scalar is %u, expected less than the %zu named ones of '%s'", index,
                          names.size(), view.text(view.bindings()[binding].name));
    *name = view.text(names[index]);
    return HEARTH_OK;
}

hearth_result hearth_program_find_scalar(const hearth_program* program, uint32_t binding,
                                         const char* name, uint32_t* index) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, name);
    HEARTH_CHECK_POINTER(query, index);
    const ProgramView& view = unwrap(program)->view();
    if (binding >= view.bindings().size())
        return query.fail(HEARTH_ERROR_NOT_FOUND, "binding is %u, expected less than %zu", binding,
                          view.bindings().size());
    FixedText<160> what;
    what.set("scalar of '%.100s'", view.text(view.bindings()[binding].name));
    return find_named(
        query, what.c_str(), view, view.elements_of(view.bindings()[binding]), name,
        [](const file::TextRef& element) { return element; }, index);
}

hearth_result hearth_program_get_agent_manifest(const hearth_program* program, const void** bytes,
                                                uint64_t* byte_count) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, bytes);
    HEARTH_CHECK_POINTER(query, byte_count);
    const std::span<const std::byte> agents = unwrap(program)->agents();
    *bytes = agents.data();
    *byte_count = agents.size();
    if (!agents.empty()) return HEARTH_OK;
    return query.fail(
        HEARTH_ERROR_NOT_FOUND,
        "the program's package has no manifest of agents; cook it with CookOptions::agents");
}

// ----------------------------------------------------------------------------------- sessions

hearth_result hearth_session_get_memory_requirements(hearth_context* context,
                                                     const hearth_session_create_info* info,
                                                     hearth_memory_requirements* out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    if (owner.device().is_lost()) return runtime::fail_lost(owner, __func__);
    HEARTH_CHECK_STRUCT(owner, hearth_session_create_info, info);
    HEARTH_CHECK_STRUCT(owner, hearth_memory_requirements, out);
    const hearth_session_create_info i = read_struct(info, hearth_session_create_info_default());
    if (const hearth_result r = check_program(owner, i.program, __func__); r != HEARTH_OK) return r;
    if (const hearth_result r = check_arena(owner, i.arena, __func__); r != HEARTH_OK) return r;
    hearth_memory_requirements value = hearth_memory_requirements_default();
    const hearth_result result =
        runtime::Session::query_memory(*unwrap(context), i, *unwrap(i.program), value);
    if (result == HEARTH_OK) write_struct(out, value);
    return result;
}

hearth_result hearth_arena_create(hearth_context* context, uint64_t byte_count,
                                  hearth_arena** out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(*unwrap(context), out);
    *out = nullptr;
    if (unwrap(context)->device().is_lost()) return runtime::fail_lost(*unwrap(context), __func__);
    runtime::Arena* arena = nullptr;
    const hearth_result result = runtime::Arena::create(*unwrap(context), byte_count, &arena);
    *out = reinterpret_cast<hearth_arena*>(arena);
    return result;
}

void hearth_arena_destroy(hearth_arena* arena) {
    if (is_handle(arena) && !unwrap(arena)->is_closed()) unwrap(arena)->close();
}

hearth_result hearth_session_create(hearth_context* context, const hearth_session_create_info* info,
                                    hearth_session** out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Context& owner = *unwrap(context);
    if (owner.device().is_lost()) return runtime::fail_lost(owner, __func__);
    HEARTH_CHECK_STRUCT(owner, hearth_session_create_info, info);
    HEARTH_CHECK_POINTER(owner, out);
    *out = nullptr;
    const hearth_session_create_info i = read_struct(info, hearth_session_create_info_default());
    if (const hearth_result r = check_program(owner, i.program, __func__); r != HEARTH_OK) return r;
    if (const hearth_result r = check_arena(owner, i.arena, __func__); r != HEARTH_OK) return r;
    runtime::Session* session = nullptr;
    // The session counts the program's uses; the program itself does not change.
    auto& program = *const_cast<runtime::LoadedProgram*>(unwrap(i.program));
    const hearth_result result = runtime::Session::create(*unwrap(context), i, program, &session);
    *out = reinterpret_cast<hearth_session*>(session);
    return result;
}

void hearth_session_destroy(hearth_session* session) {
    if (is_handle(session)) unwrap(session)->context().retire(*unwrap(session));
}

const char* hearth_session_error(const hearth_session* session) {
    return is_handle(session) ? unwrap(session)->error() : "";
}

hearth_result hearth_session_create_pipelines(hearth_session* session, uint32_t max_pipelines) {
    HEARTH_CHECK_SESSION(session);
    return unwrap(session)->build(max_pipelines);
}

hearth_result hearth_session_create_pipelines_async(hearth_session* session) {
    HEARTH_CHECK_SESSION(session);
    return unwrap(session)->build_async();
}

hearth_result hearth_session_get_status(const hearth_session* session, hearth_session_status* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_session_status, out);
    hearth_session_status value = hearth_session_status_default();
    unwrap(session)->fill_status(value);
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_session_get_variable_buffer(const hearth_session* session, uint32_t variable,
                                                 hearth_buffer_range* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_buffer_range, out);
    hearth_buffer_range value = hearth_buffer_range_default();
    const hearth_result result = unwrap(session)->variable_buffer(variable, value);
    if (result == HEARTH_OK) write_struct(out, value);
    return result;
}

hearth_result hearth_session_get_binding_scope(const hearth_session* session, uint32_t entry,
                                               uint32_t binding, uint32_t buffer_usage,
                                               hearth_sync_scope* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_POINTER(*unwrap(session), out);
    return unwrap(session)->binding_scope(entry, binding, buffer_usage, *out);
}

// ----------------------------------------------------------------------------------- converters

hearth_result hearth_image_converter_create(hearth_context* context,
                                            const hearth_image_converter_create_info* info,
                                            hearth_image_converter** out) {
    if (!is_handle(context)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(*unwrap(context), out);
    *out = nullptr;
    HEARTH_CHECK_STRUCT(*unwrap(context), hearth_image_converter_create_info, info);
    runtime::Converter* converter = nullptr;
    const hearth_result result = runtime::Converter::create(
        *unwrap(context), read_struct(info, hearth_image_converter_create_info_default()),
        &converter);
    *out = reinterpret_cast<hearth_image_converter*>(converter);
    return result;
}

void hearth_image_converter_destroy(hearth_image_converter* converter) {
    if (is_handle(converter)) unwrap(converter)->context().retire(*unwrap(converter));
}

const char* hearth_image_converter_error(const hearth_image_converter* converter) {
    return is_handle(converter) ? unwrap(converter)->error() : "";
}

hearth_result hearth_record_convert_image(hearth_image_converter* converter,
                                          const hearth_image_conversion_info* info) {
    if (!is_handle(converter)) return HEARTH_ERROR_INVALID_ARGUMENT;
    runtime::Converter& to = *unwrap(converter);
    if (to.is_retired())
        return to.fail(HEARTH_ERROR_INVALID_ARGUMENT, "%s: the converter was destroyed", __func__);
    HEARTH_CHECK_STRUCT(to, hearth_image_conversion_info, info);
    return to.record(read_struct(info, hearth_image_conversion_info_default()));
}

// ---------------------------------------------------------------------------------- recording

hearth_result hearth_record(hearth_session* session, const hearth_record_info* info,
                            hearth_run_cursor* cursor) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_record_info, info);
    return unwrap(session)->record(read_struct(info, hearth_record_info_default()), cursor);
}

hearth_result hearth_session_estimate_gpu_time(hearth_session* session, uint32_t entry,
                                               uint64_t batch_size, const hearth_run_cursor* cursor,
                                               double* us) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_POINTER(*unwrap(session), us);
    return unwrap(session)->predict(entry, batch_size, cursor, *us);
}

hearth_result hearth_record_initialize(hearth_session* session, VkCommandBuffer command_buffer) {
    HEARTH_CHECK_SESSION(session);
    return unwrap(session)->record_setup(command_buffer);
}

hearth_result hearth_record_update_variable(hearth_session* session, VkCommandBuffer command_buffer,
                                            uint32_t variable, uint64_t offset, const void* data,
                                            uint64_t byte_count) {
    HEARTH_CHECK_SESSION(session);
    return unwrap(session)->record_upload(command_buffer, variable, offset, data, byte_count);
}

hearth_result hearth_record_readback(hearth_session* session, const hearth_readback_info* info,
                                     hearth_readback* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_readback_info, info);
    HEARTH_CHECK_POINTER(*unwrap(session), out);
    return unwrap(session)->record_readback(read_struct(info, hearth_readback_info_default()), out);
}

hearth_result hearth_readback_poll(hearth_session* session, hearth_readback readback,
                                   const void** data, uint64_t* byte_count,
                                   uint64_t* frame_number) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_POINTER(*unwrap(session), data);
    HEARTH_CHECK_POINTER(*unwrap(session), byte_count);
    HEARTH_CHECK_POINTER(*unwrap(session), frame_number);
    return unwrap(session)->poll(readback, data, byte_count, frame_number);
}

void hearth_readback_release(hearth_session* session, hearth_readback readback) {
    if (is_handle(session)) unwrap(session)->release(readback);
}

hearth_result hearth_record_dump(hearth_session* session, const hearth_record_info* info,
                                 uint32_t command, hearth_readback* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_record_info, info);
    HEARTH_CHECK_POINTER(*unwrap(session), out);
    return unwrap(session)->record_dump(read_struct(info, hearth_record_info_default()), command,
                                        out);
}

uint64_t hearth_program_get_dump_size(const hearth_program* program, uint32_t entry,
                                      uint64_t batch_size, uint32_t command) {
    if (!is_handle(program)) return 0;
    const ProgramView& view = unwrap(program)->view();
    if (entry >= view.entries().size() || batch_size == 0 ||
        batch_size > view.header().max_batch_size ||
        !runtime::is_dump_command(view, view.entries()[entry], command))
        return 0;
    return runtime::for_each_dumped(view, entry, batch_size, command,
                                    [](const runtime::DumpItem&) {});
}

hearth_result hearth_dump_encode(hearth_session* session, const hearth_dump_info* info, void* out,
                                 uint64_t* byte_count) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_dump_info, info);
    HEARTH_CHECK_POINTER(*unwrap(session), byte_count);
    return runtime::encode_dump(*unwrap(session), read_struct(info, hearth_dump_info_default()),
                                static_cast<std::byte*>(out), byte_count);
}

hearth_result hearth_session_dump(hearth_session* session, const hearth_session_dump_info* info) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_session_dump_info, info);
    return unwrap(session)->dump_next(read_struct(info, hearth_session_dump_info_default()));
}

hearth_result hearth_brain_get_info(const void* bytes, uint64_t byte_count, hearth_brain_info* out,
                                    hearth_messages* messages) {
    BrainView brain;
    gpu::Problems problems;
    hearth_result result = check_struct(problems, __func__, "out", "hearth_brain_info", out,
                                        hearth_brain_info_default());
    if (result == HEARTH_OK) result = open_brain(bytes, byte_count, brain, problems, __func__);
    write_report(messages, problems);
    if (result != HEARTH_OK) return result;
    hearth_brain_info value = hearth_brain_info_default();
    const file::BrainHeader& header = brain.header();
    value.graph_hash = header.graph_hash;
    value.schema_hash = header.schema_hash;
    value.base_hash = header.parent_hash;
    value.user_schema_hash = header.host_schema_hash;
    value.tensor_count = header.tensor_count;
    for (const file::BrainTensorRecord& tensor : brain.tensors())
        value.changed_count +=
            tensor.encoding != static_cast<uint32_t>(file::BrainEncoding::kParent);
    value.is_delta = brain.is_delta() ? 1 : 0;
    value.is_weights = brain.contents() == file::BrainContents::kWeights ? 1 : 0;
    value.is_saved_game = brain.contents() == file::BrainContents::kSavedGame ? 1 : 0;
    value.format_version = header.format_version;
    value.user_data = brain.host_data().data();
    value.user_data_size = brain.host_data().size();
    write_struct(out, value);
    return HEARTH_OK;
}

hearth_result hearth_record_save_brain(hearth_session* session, VkCommandBuffer command_buffer,
                                       hearth_readback* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_POINTER(*unwrap(session), out);
    return unwrap(session)->record_snapshot(command_buffer, file::BrainContents::kCheckpoint, out);
}

uint64_t hearth_program_get_brain_size(const hearth_program* program) {
    return is_handle(program)
               ? runtime::snapshot_bytes(*unwrap(program), file::BrainContents::kCheckpoint)
               : 0;
}

hearth_result hearth_program_get_initial_snapshot(const hearth_program* program, void* out,
                                                  uint64_t byte_count) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_POINTER(query, out);
    if (const uint64_t needed = hearth_program_get_brain_size(program); byte_count < needed)
        return query.fail(HEARTH_ERROR_OUT_OF_RANGE, "%s: %llu bytes given, %llu needed", __func__,
                          static_cast<unsigned long long>(byte_count),
                          static_cast<unsigned long long>(needed));
    runtime::write_initial_snapshot(*unwrap(program), file::BrainContents::kCheckpoint,
                                    static_cast<std::byte*>(out));
    return HEARTH_OK;
}

hearth_result hearth_record_save_game(hearth_session* session, VkCommandBuffer command_buffer,
                                      hearth_readback* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_POINTER(*unwrap(session), out);
    return unwrap(session)->record_snapshot(command_buffer, file::BrainContents::kSavedGame, out);
}

uint64_t hearth_program_get_saved_game_size(const hearth_program* program) {
    return is_handle(program)
               ? runtime::snapshot_bytes(*unwrap(program), file::BrainContents::kSavedGame)
               : 0;
}

hearth_result hearth_brain_extract_weights(const void* bytes, uint64_t byte_count, void* out,
                                           uint64_t* out_byte_count, hearth_messages* messages) {
    if (out_byte_count == nullptr) return HEARTH_ERROR_INVALID_ARGUMENT;
    BrainView brain;
    gpu::Problems problems;
    const hearth_result result = open_brain(bytes, byte_count, brain, problems, __func__);
    write_report(messages, problems);
    if (result != HEARTH_OK) return result;
    if (brain.contents() == file::BrainContents::kSavedGame) {
        problems.add("%s: a saved game; load it and save a brain", __func__);
        write_report(messages, problems);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (out == nullptr) return *out_byte_count = byte_count, HEARTH_OK;
    if (*out_byte_count < byte_count) return HEARTH_ERROR_OUT_OF_RANGE;
    *out_byte_count =
        write_weights(brain, {static_cast<std::byte*>(out), to_size(*out_byte_count)});
    return HEARTH_OK;
}

hearth_result hearth_brain_encode(const hearth_program* program, const hearth_brain_save_info* info,
                                  void* out, uint64_t* byte_count) {
    const ProgramQuery query{program};
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    HEARTH_CHECK_STRUCT(query, hearth_brain_save_info, info);
    HEARTH_CHECK_POINTER(query, byte_count);
    gpu::Problems problems;
    const hearth_result result =
        runtime::encode_brain(*unwrap(program), read_struct(info, hearth_brain_save_info_default()),
                              static_cast<std::byte*>(out), byte_count, problems);
    if (problems.count > 0) return query.fail(result, "%s: %s", __func__, problems.text.c_str());
    return result;
}

hearth_result hearth_brain_check(const hearth_program* program, const void* bytes,
                                 uint64_t byte_count, hearth_brain_flags flags,
                                 hearth_messages* messages) {
    if (!is_handle(program)) return HEARTH_ERROR_INVALID_ARGUMENT;
    BrainView brain;
    gpu::Problems problems;
    hearth_result result = open_brain(bytes, byte_count, brain, problems, __func__);
    if (result == HEARTH_OK)
        result = runtime::check_brain(*unwrap(program), brain, flags, problems);
    write_report(messages, problems);
    return result;
}

hearth_result hearth_record_load_brain(hearth_session* session, VkCommandBuffer command_buffer,
                                       const void* bytes, uint64_t byte_count,
                                       hearth_brain_flags flags, hearth_messages* messages) {
    HEARTH_CHECK_SESSION(session);
    if (unwrap(session)->context().device().is_lost())
        return runtime::fail_lost(*unwrap(session), __func__);
    BrainView brain;
    gpu::Problems problems;
    hearth_result result = open_brain(bytes, byte_count, brain, problems, __func__);
    if (result == HEARTH_OK)
        result = unwrap(session)->record_brain(command_buffer, brain, flags, problems);
    else
        (void)unwrap(session)->fail(result, "%.500s", problems.text.c_str());
    write_report(messages, problems);
    return result;
}

hearth_result hearth_record_reset_variables(hearth_session* session, VkCommandBuffer command_buffer,
                                            const char* pattern, uint32_t* count) {
    HEARTH_CHECK_SESSION(session);
    return unwrap(session)->record_forget(command_buffer, pattern, count);
}

hearth_result hearth_record_copy_variables(hearth_session* to, hearth_session* from,
                                           VkCommandBuffer command_buffer,
                                           const uint32_t* variables, uint32_t count) {
    HEARTH_CHECK_SESSION(to);
    HEARTH_CHECK_SESSION(from);
    if (count > 0) HEARTH_CHECK_POINTER(*unwrap(to), variables);
    return unwrap(to)->record_copy_variables(*unwrap(from), command_buffer, {variables, count});
}

hearth_result hearth_record_queue_transfer(hearth_session* session, VkCommandBuffer command_buffer,
                                           uint32_t from_family, uint32_t to_family) {
    HEARTH_CHECK_SESSION(session);
    return unwrap(session)->record_queue_transfer(command_buffer, from_family, to_family);
}

hearth_result hearth_session_next_timings(hearth_session* session, hearth_timings* out) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_STRUCT(*unwrap(session), hearth_timings, out);
    hearth_timings value = hearth_timings_default();
    const hearth_result result = unwrap(session)->next_timings(value);
    if (result == HEARTH_OK) write_struct(out, value);
    return result;
}

hearth_result hearth_session_to_json(hearth_session* session, char* out, uint64_t* byte_count) {
    HEARTH_CHECK_SESSION(session);
    HEARTH_CHECK_POINTER(*unwrap(session), byte_count);
    return unwrap(session)->describe(out, byte_count);
}

}  // extern "C"
