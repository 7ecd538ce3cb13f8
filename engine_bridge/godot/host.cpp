// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "host.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace hearth_godot {
namespace {

std::mutex kept_mutex;
std::set<hearth_headless*> kept;

}  // namespace

std::vector<uint64_t> aligned(const Bytes& bytes) {
    std::vector<uint64_t> words((bytes.size() + 7) / 8);
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

size_t find_non_finite(const Floats& values) {
    const auto found = std::find_if_not(values.begin(), values.end(),
                                        [](float value) { return std::isfinite(value); });
    return static_cast<size_t>(found - values.begin());
}

std::unique_ptr<Host> Host::get(const std::string& device, hearth_messages& messages) {
    const std::lock_guard lock(kept_mutex);
    hearth_headless* handle = nullptr;
    if (hearth_headless_share(device.c_str(), &handle, &messages) != HEARTH_OK) return nullptr;
    if (hearth_headless* again = nullptr;
        kept.count(handle) == 0 &&
        hearth_headless_share(device.c_str(), &again, nullptr) == HEARTH_OK)
        kept.insert(again);
    return std::make_unique<Host>(handle);
}

void Host::release_kept() {
    const std::lock_guard lock(kept_mutex);
    for (hearth_headless* const handle : kept) hearth_headless_destroy(handle);
    kept.clear();
}

std::unique_lock<Host> Model::open_program(const std::string& path, const Bytes& bytes,
                                           const std::string& device) {
    std::unique_lock<Host> lock;
    if (bytes.empty()) return fail(path, "no such file, or an empty one"), std::move(lock);
    hearth_messages messages{};
    host_ = Host::get(device, messages);
    if (host_ == nullptr) return fail("device", messages.text), std::move(lock);
    lock = std::unique_lock(*host_);
    if (!load_program(path, bytes)) lock.unlock();
    return lock;
}

bool Model::load_program(const std::string& path, const Bytes& bytes) {
    const std::vector<uint64_t> words = aligned(bytes);
    hearth_package_info info = hearth_package_info_default();
    hearth_messages messages{};
    if (hearth_package_get_info(words.data(), bytes.size(), &info, &messages) == HEARTH_OK)
        return hearth_headless_load_package(host_->handle(), words.data(), bytes.size(), nullptr, 0,
                                            &program_) == HEARTH_OK ||
               fail(path, hearth_headless_error(host_->handle()));
    hearth_program_load_info program = hearth_program_load_info_default();
    program.bytes = words.data();
    program.byte_count = bytes.size();
    return hearth_program_load(host_->context(), &program, &program_) == HEARTH_OK ||
           fail(path, "no package (" + std::string(messages.text) + ") and no program (" +
                          hearth_context_error(host_->context()) + ")");
}

bool Model::frame(std::string& error, const std::string& what,
                  const std::function<hearth_result(VkCommandBuffer)>& record,
                  const std::function<std::string()>& reason) {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    hearth_result result = hearth_headless_begin(host_->handle(), &commands);
    if (result != HEARTH_OK) return fail_on_host(error, what);
    if (needs_initialize_) {
        result = hearth_record_initialize(session_, commands);
        if (result < 0) describe(error, what, hearth_session_error(session_));
    }
    if (result == HEARTH_OK) {
        result = record(commands);
        if (result < 0) describe(error, what, reason());
    }
    if (result < 0) {
        hearth_headless_discard(host_->handle());
        return false;
    }
    result = hearth_headless_submit(host_->handle());
    if (result != HEARTH_OK) return fail_on_host(error, what);
    needs_initialize_ = false;
    return true;
}

bool Model::fail_on_host(std::string& error, const std::string& what) {
    return describe(error, what, hearth_headless_error(host_->handle()));
}

Worker::~Worker() {
    if (!thread_.joinable()) return;
    wait();
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Worker::start(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        job_ = std::move(job);
    }
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    changed_.notify_all();
}

void Worker::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return job_ == nullptr; });
}

bool Worker::is_busy() {
    const std::lock_guard lock(mutex_);
    return job_ != nullptr;
}

void Worker::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return job_ != nullptr || is_ending_; });
        if (job_ == nullptr) return;
        lock.unlock();
        job_();
        lock.lock();
        job_ = nullptr;
        changed_.notify_all();
    }
}

}  // namespace hearth_godot
