// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds pipelines on the calling thread, or in jobs on the application's threads.

#include "device/session/session.hpp"

namespace hearth::runtime {

template <class Tell>
hearth_result Session::tell(hearth_result result, const Tell& tell) {
    if (is_telling_.test_and_set(std::memory_order_acquire)) return result;
    (void)tell();
    is_telling_.clear(std::memory_order_release);
    return result;
}

hearth_result Session::build(uint32_t max_pipelines) {
    if (context_->device().is_lost())
        return tell(HEARTH_ERROR_DEVICE_LOST, [&] { return fail_lost(*this, "create_pipelines"); });
    uint32_t built = 0;
    for (uint32_t k = 0; k < pipelines_.size(); ++k) {
        if (pipelines_[k]->is_ready()) continue;
        if (max_pipelines != 0 && built == max_pipelines) return HEARTH_NOT_READY;
        const hearth_result result = pipelines_[k]->build(pipeline_source(k));
        if (result < 0) return tell(result, [&] { return fail_pipeline(k, result); });
        ++built;
    }
    return pipelines_status(nullptr);
}

hearth_result Session::fail_pipeline(uint32_t kernel, hearth_result result) {
    return fail(result, "kernel %s: %s (VkResult %d)", view().text(view().kernels()[kernel].name),
                gpu::name_of(result), static_cast<int>(pipelines_[kernel]->failure()));
}

hearth_result Session::build_async() {
    if (context_->device().is_lost())
        return tell(HEARTH_ERROR_DEVICE_LOST,
                    [&] { return fail_lost(*this, "create_pipelines_async"); });
    if (!context_->has_jobs())
        return fail(HEARTH_ERROR_INVALID_STATE,
                    "create_pipelines_async needs hearth_context_create_info::submit_task; give "
                    "it, or call hearth_session_create_pipelines");
    if (has_jobs()) return HEARTH_NOT_READY;
    for (uint32_t k = 0; k < pipelines_.size(); ++k) {
        if (pipelines_[k]->is_ready()) continue;
        pending_jobs_.fetch_add(1, std::memory_order_relaxed);
        context_->run_job(run_job, &jobs_[k]);
    }
    return pipelines_status(nullptr);
}

void Session::run_job(void* data) {
    const Job& job = *static_cast<const Job*>(data);
    Session& session = *job.session;
    (void)session.pipelines_[job.kernel]->build(session.pipeline_source(job.kernel));
    // The session must not be touched after this: it may be freed.
    session.pending_jobs_.fetch_sub(1, std::memory_order_release);
}

hearth_result Session::pipelines_status(uint32_t* ready_count) const {
    hearth_result result = HEARTH_OK;
    uint32_t ready = 0;
    for (const gpu::Pipeline* pipeline : pipelines_) {
        const hearth_result status = pipeline->status();
        ready += status == HEARTH_OK;
        if (status < 0 && result >= 0) result = status;
        if (status > 0 && result == HEARTH_OK) result = status;
    }
    if (ready_count != nullptr) *ready_count = ready;
    return result;
}

}  // namespace hearth::runtime
