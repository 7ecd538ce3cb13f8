// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates contexts, advances frames and frees retired sessions.

#include "device/session/context.hpp"

#include "core/host_allocator.hpp"
#include "device/session/converter.hpp"
#include "device/session/session.hpp"

#include <limits>

namespace hearth::runtime {

namespace {

void* allocate_from_host(void* user_data, size_t bytes, size_t alignment) {
    const auto* callbacks = static_cast<const VkAllocationCallbacks*>(user_data);
    return callbacks->pfnAllocation(callbacks->pUserData, bytes, alignment,
                                    VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
}

void free_to_host(void* user_data, void* memory) {
    const auto* callbacks = static_cast<const VkAllocationCallbacks*>(user_data);
    callbacks->pfnFree(callbacks->pUserData, memory);
}

/// Returns an allocator that uses `callbacks` (kept by pointer), or the C library.
HostAllocator allocator_over(VkAllocationCallbacks* callbacks) {
    if (callbacks->pfnAllocation == nullptr) return HostAllocator();
    return HostAllocator(callbacks, allocate_from_host, free_to_host);
}

#ifdef _WIN32
constexpr bool kResetsAllDevices = true;  // after two seconds, unless the registry says otherwise
#else
constexpr bool kResetsAllDevices = false;
#endif

/// Limit of slices without limits of their own, in GPU microseconds; 0: none.
double max_slice_us_of(const hearth_context_create_info& info, const hearth_device_caps& caps) {
    if (info.max_slice_us != 0)
        return info.max_slice_us < std::numeric_limits<double>::infinity() ? info.max_slice_us : 0;
    // An eighth of two seconds, of which the estimates may be off.
    constexpr double kCarefulUs = 250'000;
    const bool is_gpu =
        caps.device_type != VK_PHYSICAL_DEVICE_TYPE_CPU && caps.cpu_isa == HEARTH_CPU_ISA_NONE;
    const bool is_integrated = caps.device_type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    return is_gpu && (is_integrated || kResetsAllDevices) ? kCarefulUs : 0;
}

}  // namespace

HostAllocator* host_allocator(hearth_context* context) {
    auto* const own = reinterpret_cast<Context*>(context);
    return own != nullptr && own->is_intact() ? &own->allocator() : nullptr;
}

Context::Context(const VkAllocationCallbacks* callbacks)
    : callbacks_(callbacks != nullptr ? *callbacks : VkAllocationCallbacks{}),
      allocator_(allocator_over(&callbacks_)) {}

hearth_result Context::create(const hearth_context_create_info& info, Context** out,
                              gpu::Problems& problems) {
    // adopt() reports callbacks that are null, together with all other problems.
    VkAllocationCallbacks callbacks{};
    if (info.allocation_callbacks != nullptr &&
        info.allocation_callbacks->pfnAllocation != nullptr &&
        info.allocation_callbacks->pfnFree != nullptr)
        callbacks = *info.allocation_callbacks;
    // The context itself is allocated with the callbacks, before its own allocator exists.
    HostAllocator bootstrap = allocator_over(&callbacks);
    auto* context = bootstrap.make<Context>(&callbacks);
    if (context == nullptr) {
        problems.add("out of host memory");
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    context->allocator_.adopt_count(bootstrap);
    if (const hearth_result r = context->device_.adopt(info, problems); r != HEARTH_OK) {
        bootstrap.destroy(context);
        return r;
    }
    if (context->device_.caps().cpu_isa != HEARTH_CPU_ISA_NONE)
        context->native_ = reinterpret_cast<native::Device*>(info.device);
    context->memory_.init(context->device_, info);
    context->pipelines_.init(context->device_, context->allocator_);
    context->log_ = info.log;
    context->run_job_ = info.submit_task;
    context->verify_ = info.verify;
    context->callback_user_ = info.callback_user_data;
    context->frame_semaphore_ = info.timeline_semaphore;
    context->max_slice_us_ = max_slice_us_of(info, context->device_.caps());
    if (info.pipeline_cache == VK_NULL_HANDLE)
        if (const hearth_result r = context->create_pipeline_cache(info); r != HEARTH_OK) {
            problems.add("cannot create a pipeline cache (%s); pipelines are compiled without one",
                         gpu::name_of(r));
            bootstrap.adopt_count(context->allocator_);
            bootstrap.destroy(context);
            return r;
        }
    if (problems.count > 0 && context->log_ != nullptr)
        context->log_(context->callback_user_, HEARTH_LOG_WARNING, "context",
                      problems.text.c_str());
    *out = context;
    return HEARTH_OK;
}

hearth_result Context::create_cpu(const hearth_cpu_context_create_info& info, Context** out,
                                  gpu::Problems& problems) {
    VkAllocationCallbacks callbacks{};
    if (info.allocation_callbacks != nullptr) callbacks = *info.allocation_callbacks;
    if ((callbacks.pfnAllocation == nullptr) != (callbacks.pfnFree == nullptr)) {
        problems.add(
            "hearth_cpu_context_create_info::allocation_callbacks needs both functions, or "
            "neither");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    HostAllocator bootstrap = allocator_over(&callbacks);
    auto* const device = bootstrap.make<native::Device>();
    if (device == nullptr) {
        problems.add("out of host memory");
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    hearth_result result = HEARTH_ERROR_UNSUPPORTED;
    if (device->init(info, problems)) {
        hearth_context_create_info host = hearth_context_create_info_default();
        host.instance = device->instance();
        host.physical_device = device->physical_device();
        host.device = device->handle();
        host.get_instance_proc_addr = native::get_instance_proc;
        host.api_version = VK_API_VERSION_1_2;
        host.features = native::Device::features();
        host.allocation_callbacks = info.allocation_callbacks;
        host.device_memory_budget = info.device_memory_budget;
        host.log = info.log;
        host.submit_task = info.submit_task;
        host.callback_user_data = info.callback_user_data;
        host.verify = info.verify;
        result = create(host, out, problems);
    }
    if (result != HEARTH_OK) {
        bootstrap.destroy(device);
        return result;
    }
    (*out)->owns_native_ = true;
    return HEARTH_OK;
}

hearth_result Context::create_pipeline_cache(const hearth_context_create_info& info) {
    const hearth_result result =
        pipeline_cache_.create(device_, device_.properties(),
                               {static_cast<const std::byte*>(info.pipeline_cache_data),
                                static_cast<size_t>(info.pipeline_cache_bytes)});
    if (result != HEARTH_OK || info.pipeline_cache_bytes == 0 || pipeline_cache_.is_filled() ||
        log_ == nullptr)
        return result;
    FixedText<256> text;
    text.set("the saved pipeline cache is ignored: %s", pipeline_cache_.why_not());
    log_(callback_user_, HEARTH_LOG_INFO, "pipeline cache", text.c_str());
    return result;
}

hearth_result Context::destroy() {
    if (live_sessions_ > 0 || programs_ > 0)
        return fail(HEARTH_ERROR_INVALID_STATE,
                    "%u sessions and %u programs still exist; destroy them before the context",
                    live_sessions_, programs_);
    if (live_converters_ > 0)
        return fail(HEARTH_ERROR_INVALID_STATE,
                    "%u image converters still exist; destroy them before the context",
                    live_converters_);
    for (Session* s = sessions_; s != nullptr; s = s->next)
        if (s->has_jobs())
            return fail(
                HEARTH_ERROR_INVALID_STATE,
                "a pipeline task is still running; wait for it before you destroy the context");
    while (sessions_ != nullptr) free_session(*sessions_);
    while (converters_ != nullptr) free_converter(*converters_);
    if (arenas_ > 0)
        return fail(HEARTH_ERROR_INVALID_STATE,
                    "%u arenas still exist; destroy them before the context", arenas_);
    VkAllocationCallbacks callbacks = callbacks_;
    HostAllocator survivor = allocator_over(&callbacks);
    native::Device* const native = owns_native_ ? native_ : nullptr;
    survivor.destroy(this);
    survivor.destroy(native);
    return HEARTH_OK;
}

hearth_result Context::begin_frame(uint64_t frame_number, uint64_t completed_frame_number) {
    if (device_.is_lost()) return fail_lost(*this, "begin_frame");
    if (frame_number == HEARTH_NEXT_FRAME) frame_number = frame_number_ + 1;
    if (completed_frame_number == HEARTH_COMPLETED_ALL) completed_frame_number = frame_number - 1;
    if (completed_frame_number == HEARTH_COMPLETED_FROM_TIMELINE) {
        if (frame_semaphore_ == VK_NULL_HANDLE)
            return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                        "begin_frame: HEARTH_COMPLETED_FROM_TIMELINE needs "
                        "hearth_context_create_info::timeline_semaphore, which was not given");
        if (const hearth_result r = device_.check(device_.vk().GetSemaphoreCounterValue(
                device_.handle(), frame_semaphore_, &completed_frame_number));
            r != HEARTH_OK)
            return fail(r, "begin_frame: cannot read timeline_semaphore");
    }
    if (frame_number < frame_number_ || completed_frame_number < completed_ ||
        completed_frame_number >= frame_number)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "begin_frame(%llu, %llu) after (%llu, %llu): frame numbers must not decrease, "
                    "and the completed one must be smaller than the frame that begins",
                    static_cast<unsigned long long>(frame_number),
                    static_cast<unsigned long long>(completed_frame_number),
                    static_cast<unsigned long long>(frame_number_),
                    static_cast<unsigned long long>(completed_));
    frame_number_ = frame_number;
    completed_ = completed_frame_number;
    for (Session* s = sessions_; s != nullptr;) {
        Session* next = s->next;
        if (s->is_retired() && s->retired_frame_number() <= completed_ && !s->has_jobs())
            free_session(*s);
        else
            s->collect();
        s = next;
    }
    for (Converter* c = converters_; c != nullptr;) {
        Converter* next = c->next;
        if (c->is_retired() && c->retired_frame_number() <= completed_) free_converter(*c);
        c = next;
    }
    return HEARTH_OK;
}

hearth_result Context::drop_frame(uint64_t frame_number, gpu::Problems& lost) {
    if (device_.is_lost()) return fail_lost(*this, "discard_frame");
    if (frame_number > frame_number_ || frame_number <= completed_)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "discard_frame(%llu): expected a frame that has begun and not completed; begun "
                    "are those up to %llu, completed those up to %llu",
                    static_cast<unsigned long long>(frame_number),
                    static_cast<unsigned long long>(frame_number_),
                    static_cast<unsigned long long>(completed_));
    for (Session* s = sessions_; s != nullptr; s = s->next) s->take_back(frame_number, lost);
    for (Converter* c = converters_; c != nullptr; c = c->next) c->take_back(frame_number);
    return HEARTH_OK;
}

hearth_result Context::fail(hearth_result result, const char* format, ...) {
    error_.clear();
    va_list arguments;
    va_start(arguments, format);
    error_.append_list(format, arguments);
    va_end(arguments);
    if (log_ != nullptr) log_(callback_user_, HEARTH_LOG_ERROR, "context", error_.c_str());
    return result;
}

hearth_result Context::verify(std::span<const std::byte> bytes, bool is_package,
                              hearth_trust_level trust) {
    if (verify_ == nullptr) return HEARTH_OK;
    const hearth_load_request request{bytes.data(), bytes.size(), is_package ? 1u : 0u, trust};
    const hearth_result result = verify_(callback_user_, &request);
    if (result == HEARTH_OK) return HEARTH_OK;
    return fail(HEARTH_ERROR_VERIFICATION_FAILED,
                "%s: the application's verify callback rejected it with %s (%d)",
                is_package ? "package" : "program", gpu::name_of(result), static_cast<int>(result));
}

void Context::add(Session& session) {
    session.next = sessions_;
    if (sessions_ != nullptr) sessions_->previous = &session;
    sessions_ = &session;
    ++live_sessions_;
}

void Context::add(Converter& converter) {
    converter.next = converters_;
    if (converters_ != nullptr) converters_->previous = &converter;
    converters_ = &converter;
    ++live_converters_;
}

void Context::retire(Converter& converter) {
    if (converter.is_retired()) return;
    --live_converters_;
    converter.retire(frame_number_);
    if (frame_number_ <= completed_) free_converter(converter);
}

void Context::free_converter(Converter& converter) {
    (converter.previous != nullptr ? converter.previous->next : converters_) = converter.next;
    if (converter.next != nullptr) converter.next->previous = converter.previous;
    allocator_.destroy(&converter);
}

void Context::retire(Session& session) {
    if (session.is_retired()) return;
    --live_sessions_;
    session.retire(frame_number_);
    if (session.retired_frame_number() <= completed_ && !session.has_jobs()) free_session(session);
}

void Context::free_session(Session& session) {
    (session.previous != nullptr ? session.previous->next : sessions_) = session.next;
    if (session.next != nullptr) session.next->previous = session.previous;
    allocator_.destroy(&session);
}

}  // namespace hearth::runtime
