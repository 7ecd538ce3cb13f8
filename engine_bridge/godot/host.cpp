// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "host.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>

namespace hearth_godot {
namespace {

std::mutex hosts_mutex;
std::map<std::string, std::shared_ptr<Host>> hosts;

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

std::shared_ptr<Host> Host::get(const std::string& device, hearth_messages& messages) {
    const std::lock_guard lock(hosts_mutex);
    std::shared_ptr<Host>& host = hosts[device];
    if (host != nullptr) return host;
    auto created = std::make_shared<Host>();
    if (hearth_headless_create(device.c_str(), 0, &created->handle_, &messages) == HEARTH_OK)
        host = created;
    return host;
}

void Host::forget(const std::shared_ptr<Host>& host) {
    const std::lock_guard lock(hosts_mutex);
    for (auto& [device, held] : hosts)
        if (held == host) held = nullptr;
}

void Host::forget_all() {
    const std::lock_guard lock(hosts_mutex);
    hosts.clear();
}

std::unique_lock<std::mutex> Host::lock() {
    ++waiting_;
    std::unique_lock held(mutex_);
    --waiting_;
    return held;
}

std::unique_lock<std::mutex> Host::lock_last() {
    // Not for ever: threads that run networks all the time must not keep others from learning.
    for (int i = 0; waiting_ > 0 && i < 200; ++i)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    return std::unique_lock(mutex_);
}

std::unique_lock<std::mutex> Model::open_program(const std::string& path, const Bytes& bytes,
                                                 const std::string& device) {
    std::unique_lock<std::mutex> lock;
    if (bytes.empty()) return fail(path, "no such file, or an empty one"), std::move(lock);
    hearth_messages messages{};
    host_ = Host::get(device, messages);
    if (host_ == nullptr) return fail("device", messages.text), std::move(lock);
    lock = host_->lock();
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
    if (result != HEARTH_OK) return fail_on_host(error, what, result);
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
    if (result != HEARTH_OK) return fail_on_host(error, what, result);
    needs_initialize_ = false;
    return true;
}

bool Model::fail_on_host(std::string& error, const std::string& what, hearth_result result) {
    if (result == HEARTH_ERROR_DEVICE_LOST) Host::forget(host_);  // open() again for another
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
