// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The devices of a process, and what networks and agents on them have in common.  Independent of
// Godot.

#pragma once

#include <vulkan/vulkan.h>
// Headers that use Vulkan's types follow.
#include <hearth_workbench.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hearth_godot {

using Bytes = std::vector<uint8_t>;
using Floats = std::vector<float>;
/// Tensors, or fields of an observation, by name.
using Fields = std::vector<std::pair<std::string, Floats>>;

/// Copies bytes to the alignment of 8 bytes that packages and brains need.
std::vector<uint64_t> aligned(const Bytes& bytes);

/// Returns the index of the first value that is not finite, or values.size().
size_t find_non_finite(const Floats& values);

/// The device of this name that the process shares (hearth_headless_share), for one network.
class Host {
  public:
    /// Null: `messages` has the reason.  Any thread.
    static std::unique_ptr<Host> get(const std::string& device, hearth_messages& messages);
    /// Destroys devices that nobody uses.  Until then they are kept for networks to come.
    static void release_kept();

    explicit Host(hearth_headless* handle) : handle_(handle) {}
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host() { hearth_headless_destroy(handle_); }

    hearth_headless* handle() const { return handle_; }
    hearth_context* context() const { return hearth_headless_context(handle_); }

    // For std::unique_lock, which is held during each call on the device.
    void lock() { hearth_headless_lock(handle_); }
    void unlock() { hearth_headless_unlock(handle_); }

  private:
    hearth_headless* handle_;
};

/// A program on a host, with the error of its last call.  The base of networks and agents.
/// Threads: one at a time.
class Model {
  public:
    Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    bool is_open() const { return session_ != nullptr; }
    /// "" after a call that succeeded.
    const std::string& error() const { return error_; }
    void clear_error() { error_.clear(); }
    bool fail(const std::string& what, const std::string& why) {
        return describe(error_, what, why);
    }

  protected:
    ~Model() = default;

    /// Loads a package, or a single program, as shipped by games for one device.  The host is
    /// locked after it succeeded.
    std::unique_lock<Host> open_program(const std::string& path, const Bytes& bytes,
                                        const std::string& device);
    /// Submits what `record` records and waits. The host is locked.
    /// error   set on failure
    /// reason  tells why `record` failed
    bool frame(std::string& error, const std::string& what,
               const std::function<hearth_result(VkCommandBuffer)>& record,
               const std::function<std::string()>& reason);
    /// Sets an error; returns false.
    static bool describe(std::string& error, const std::string& what, const std::string& why) {
        error = what + ": " + why;
        return false;
    }
    bool check_open(const char* call) {
        return session_ != nullptr || fail(call, "no package is open; call open() first");
    }

    std::unique_ptr<Host> host_;
    hearth_program* program_ = nullptr;
    hearth_session* session_ = nullptr;
    bool needs_initialize_ = false;
    std::string error_;

  private:
    bool load_program(const std::string& path, const Bytes& bytes);
    bool fail_on_host(std::string& error, const std::string& what);
};

/// Runs one job at a time on a thread of its own.
class Worker {
  public:
    /// Waits for the job.
    ~Worker();

    /// Starts a job; the one before must have ended.
    void start(std::function<void()> job);
    void wait();
    bool is_busy();

  private:
    void work();

    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> job_;
    bool is_ending_ = false;
};

}  // namespace hearth_godot
