// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The headless application: instance, device, context, command buffer and buffers.

#include "headless.hpp"

#include "core/out_of_memory.hpp"
#include "result.hpp"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

using hearth::Result;
using hearth::Status;
using hearth::workbench::result_of;
using hearth::workbench::set_messages;

namespace standalone = hearth::standalone;

hearth_headless::~hearth_headless() {
    buffers.clear();
    if (pool != VK_NULL_HANDLE) device->vk().DestroyCommandPool(device->handle(), pool, nullptr);
    if (context != nullptr) (void)hearth_context_destroy(context);
}

namespace {

std::array<uint8_t, 32> sha256_of(std::span<const std::byte> bytes) {
    std::array<uint8_t, 32> hash{};
    hearth_sha256(bytes.data(), bytes.size(), hash.data());
    return hash;
}

}  // namespace

void hearth_headless::trust(std::span<const std::byte> bytes) {
    if (native != nullptr) trusted.insert(sha256_of(bytes));
}

bool hearth_headless::trusts(std::span<const std::byte> bytes) const {
    return trusted.contains(sha256_of(bytes));
}

namespace {

/// The CPU device loads only what the host trusts: kernels are C text, and loading compiles it.
hearth_result verify_trust(void* host, const hearth_load_request* request) {
    const std::span bytes(static_cast<const std::byte*>(request->bytes),
                          static_cast<size_t>(request->byte_count));
    return static_cast<const hearth_headless*>(host)->trusts(bytes)
               ? HEARTH_OK
               : HEARTH_ERROR_VERIFICATION_FAILED;
}

std::string name_of(standalone::Instance& instance, size_t index) {
    VkPhysicalDeviceProperties properties{};
    instance.vk().GetPhysicalDeviceProperties(instance.physical_devices()[index], &properties);
    return properties.deviceName;
}

/// Returns the index of the device of this index or part of a name; -1, for "": the best one.
Result<int> find_device(standalone::Instance& instance, const std::string& device_name) {
    if (device_name.empty()) return -1;
    const size_t count = instance.physical_devices().size();
    std::string names;
    const bool is_index = device_name.find_first_not_of("0123456789") == std::string::npos;
    for (size_t i = 0; i < count; ++i) {
        const std::string name = name_of(instance, i);
        if (is_index ? device_name == std::to_string(i)
                     : name.find(device_name) != std::string::npos)
            return static_cast<int>(i);
        names += (i == 0 ? "" : "; ") + std::to_string(i) + ": " + name;
    }
    return hearth::not_found("no device is named '" + device_name + "'; there are: " + names +
                             (count == 0 ? "" : "; ") + "cpu");
}

/// Opens kernels/ISA.so beside this library, which the Python wheel has, and returns its table;
/// null if there is none for this machine.
const hearth_cpu_kernel_table* open_compiled_kernels(hearth::native::SharedLibrary& library) {
#if defined(_WIN32)
    return nullptr;
#else
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&hearth_headless_create), &self) == 0) return nullptr;
    const auto isa = static_cast<hearth::CpuIsa>(hearth_detect_cpu_isa());
    const std::filesystem::path path = std::filesystem::path(self.dli_fname).parent_path() /
                                       "kernels" / (std::string(hearth::name_of(isa)) + ".so");
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return nullptr;
    Result<hearth::native::SharedLibrary> opened = hearth::native::SharedLibrary::open(path);
    if (!opened.ok()) return nullptr;
    library = std::move(*opened);
    return static_cast<const hearth_cpu_kernel_table*>(library.find("hearth_kernels"));
#endif
}

Status make_commands(hearth_headless& host) {
    const standalone::VulkanApi& vk = host.device->vk();
    VkCommandPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    info.queueFamilyIndex = host.device->queue_family();
    HEARTH_TRY(standalone::check_vulkan(
        vk.CreateCommandPool(host.device->handle(), &info, nullptr, &host.pool),
        "vkCreateCommandPool"));
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = host.pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    return standalone::check_vulkan(
        vk.AllocateCommandBuffers(host.device->handle(), &allocate, &host.commands),
        "vkAllocateCommandBuffers");
}

Result<std::unique_ptr<hearth_headless>> make_host(const std::string& device_name,
                                                   hearth_headless_flags flags) {
    if ((flags & ~HEARTH_HEADLESS_VALIDATION) != 0)
        return hearth::invalid_argument("flags are " + std::to_string(flags) +
                                        ", expected HEARTH_HEADLESS_VALIDATION or 0");
    auto host = std::make_unique<hearth_headless>();
    const bool has_validation = (flags & HEARTH_HEADLESS_VALIDATION) != 0;
    standalone::DeviceOptions device;
    if (device_name == "cpu") {
        if (has_validation)
            return hearth::unsupported(
                "HEARTH_HEADLESS_VALIDATION is for Vulkan devices, and this is the CPU device");
        hearth::native::HostOptions options;
        if (const hearth_cpu_kernel_table* table = open_compiled_kernels(host->kernels))
            options.tables.push_back(table);
        host->native = std::make_unique<hearth::native::Host>(std::move(options));
        HEARTH_ASSIGN(host->instance, standalone::Instance::create_native(host->native->info()));
    } else {
        standalone::InstanceOptions options;
        options.validation = has_validation;
        HEARTH_ASSIGN(host->instance, standalone::Instance::create(options));
        HEARTH_ASSIGN(device.index, find_device(*host->instance, device_name));
    }
    HEARTH_ASSIGN(host->device, standalone::Device::create(*host->instance, device));
    hearth_context_create_info info = host->device->host_info();
    if (host->native != nullptr) {
        info.verify = verify_trust;
        info.callback_user_data = host.get();
    }
    hearth_messages messages{};
    HEARTH_TRY(
        hearth::to_status(hearth_context_create(&info, &host->context, &messages), messages.text));
    HEARTH_TRY(hearth::to_status(
        hearth_begin_frame(host->context, host->frame_number, host->frame_number - 1),
        "the first frame"));
    HEARTH_TRY(make_commands(*host));
    return host;
}

/// Keeps the message of a failed call; returns its result.
hearth_result with_error(hearth_headless& host, hearth_result result, std::string text) {
    if (result < 0) host.error = std::move(text);
    if (result == HEARTH_ERROR_DEVICE_LOST) host.is_lost = true;
    return result;
}

/// Converts the result of a Vulkan call, and sets the error.
hearth_result with_error(hearth_headless& host, VkResult result, const char* call) {
    if (result >= 0) return HEARTH_OK;
    if (result == VK_ERROR_DEVICE_LOST) hearth_context_notify_device_lost(host.context);
    return with_error(host,
                      result == VK_ERROR_DEVICE_LOST            ? HEARTH_ERROR_DEVICE_LOST
                      : result == VK_ERROR_OUT_OF_HOST_MEMORY   ? HEARTH_ERROR_OUT_OF_HOST_MEMORY
                      : result == VK_ERROR_OUT_OF_DEVICE_MEMORY ? HEARTH_ERROR_OUT_OF_DEVICE_MEMORY
                                                                : HEARTH_ERROR_INTERNAL,
                      standalone::check_vulkan(result, call).message());
}

/// Cooks a package again, from its graph, for the CPU device of the host.
Result<std::vector<std::byte>> cook_for_cpu(hearth_headless& host,
                                            std::span<const std::byte> package,
                                            const char* device_target) {
    if (device_target != nullptr)
        return hearth::invalid_argument(
            "device_target chooses among the package's programs, whose C text the CPU device "
            "compiles only with HEARTH_HEADLESS_TRUST_KERNELS; found '" +
            std::string(device_target) + "' without it");
    HEARTH_ASSIGN(
        std::vector<std::byte> own,
        hearth::workbench::cook_package(package, R"({"device_targets": ["device"]})", &host));
    host.trust(own);
    return own;
}

hearth_result destroy(hearth_headless* host) {
    const hearth_result result = hearth_context_destroy(host->context);
    if (result == HEARTH_ERROR_INVALID_STATE)
        return with_error(*host, result, hearth_context_error(host->context));
    host->context = nullptr;
    delete host;
    return result;
}

/// The hosts that this process shares, by the name of their device.
struct SharedHosts {
    std::mutex mutex;
    std::map<std::string, hearth_headless*> by_name;
};
SharedHosts& shared_hosts() {
    static SharedHosts hosts;
    return hosts;
}

hearth_result next_frame(hearth_headless& host) {
    const hearth_result result =
        hearth_begin_frame(host.context, host.frame_number + 1, host.frame_number);
    if (result == HEARTH_OK) ++host.frame_number;
    return with_error(host, result, hearth_context_error(host.context));
}

}  // namespace

extern "C" {

hearth_result hearth_headless_devices(char (*names)[256], uint32_t* count,
                                      hearth_messages* messages) {
    if (count == nullptr || (names == nullptr && *count > 0))
        return set_messages(messages, hearth::invalid_argument("count, or names, is NULL"));
    Result<std::unique_ptr<standalone::Instance>> instance = standalone::Instance::create();
    if (!instance.ok()) return set_messages(messages, instance.status());
    const auto there = static_cast<uint32_t>((*instance)->physical_devices().size());
    for (uint32_t i = 0; i < std::min(*count, there); ++i) {
        const std::string name = name_of(**instance, i);
        std::strncpy(names[i], name.c_str(), sizeof names[i] - 1);
        names[i][sizeof names[i] - 1] = '\0';
    }
    *count = there;
    return HEARTH_OK;
}

hearth_result hearth_headless_create(const char* device, hearth_headless_flags flags,
                                     hearth_headless** out, hearth_messages* messages) {
    if (out == nullptr) return set_messages(messages, hearth::invalid_argument("out is NULL"));
    Result<std::unique_ptr<hearth_headless>> host =
        make_host(device == nullptr ? "" : device, flags);
    if (!host.ok()) return set_messages(messages, host.status());
    *out = host->release();
    return HEARTH_OK;
}

hearth_result hearth_headless_share(const char* device, hearth_headless** out,
                                    hearth_messages* messages) {
    if (out == nullptr) return set_messages(messages, hearth::invalid_argument("out is NULL"));
    const std::string name = device == nullptr ? "" : device;
    const std::lock_guard lock(shared_hosts().mutex);
    const auto found = shared_hosts().by_name.find(name);
    if (found != shared_hosts().by_name.end() && !found->second->is_lost) {
        ++found->second->share_count;
        *out = found->second;
        return HEARTH_OK;
    }
    const hearth_result result = hearth_headless_create(device, 0, out, messages);
    if (result != HEARTH_OK) return result;
    (*out)->share_count = 1;
    shared_hosts().by_name[name] = *out;
    return HEARTH_OK;
}

hearth_result hearth_headless_destroy(hearth_headless* host) {
    if (host == nullptr) return HEARTH_OK;
    const std::lock_guard lock(shared_hosts().mutex);
    if (host->share_count > 1) {
        --host->share_count;
        return HEARTH_OK;
    }
    const hearth_result result = destroy(host);
    if (result != HEARTH_ERROR_INVALID_STATE)
        std::erase_if(shared_hosts().by_name,
                      [&](const auto& entry) { return entry.second == host; });
    return result;
}

void hearth_headless_lock(hearth_headless* host) {
    host->mutex.lock();
}
void hearth_headless_unlock(hearth_headless* host) {
    host->mutex.unlock();
}

hearth_context* hearth_headless_context(hearth_headless* host) {
    return host->context;
}

hearth_result hearth_headless_load_package(hearth_headless* host, const void* bytes,
                                           uint64_t byte_count, const char* device_target,
                                           hearth_headless_flags flags, hearth_program** out) {
    if (out == nullptr) return with_error(*host, HEARTH_ERROR_INVALID_ARGUMENT, "out is NULL");
    if ((flags & ~HEARTH_HEADLESS_TRUST_KERNELS) != 0)
        return with_error(
            *host, HEARTH_ERROR_INVALID_ARGUMENT,
            "flags are " + std::to_string(flags) + ", expected HEARTH_HEADLESS_TRUST_KERNELS or 0");
    const std::span package(static_cast<const std::byte*>(bytes), static_cast<size_t>(byte_count));
    hearth_package_load_info info = hearth_package_load_info_default();
    info.bytes = bytes;
    info.byte_count = byte_count;
    info.device_target = device_target;
    if ((flags & HEARTH_HEADLESS_TRUST_KERNELS) != 0) host->trust(package);
    std::vector<std::byte> own;
    if (host->native != nullptr && !host->trusts(package)) {
        Result<std::vector<std::byte>> cooked =
            hearth::or_out_of_memory([&] { return cook_for_cpu(*host, package, device_target); });
        if (!cooked.ok())
            return with_error(*host, result_of(cooked.status()), cooked.status().message());
        own = std::move(*cooked);
        info.bytes = own.data();
        info.byte_count = own.size();
    }
    const hearth_result result = hearth_package_load(host->context, &info, out);
    std::string why = hearth_context_error(host->context);
    // The context knows only that a kernel is missing.
    if (result == HEARTH_ERROR_NOT_FOUND && host->native && !host->native->error().empty())
        why = host->native->error();
    return with_error(*host, result, std::move(why));
}

const char* hearth_headless_device(const hearth_headless* host) {
    return host->device->properties().deviceName;
}

uint32_t hearth_headless_messages(const hearth_headless* host) {
    return host->instance->messages().count();
}

const char* hearth_headless_error(const hearth_headless* host) {
    return host->error.c_str();
}

hearth_result hearth_headless_begin(hearth_headless* host, VkCommandBuffer* out) {
    if (out == nullptr) return with_error(*host, HEARTH_ERROR_INVALID_ARGUMENT, "out is NULL");
    if (host->is_recording)
        return with_error(*host, HEARTH_ERROR_INVALID_STATE,
                          "the command buffer was begun and not submitted");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    const hearth_result result =
        with_error(*host, host->device->vk().BeginCommandBuffer(host->commands, &begin),
                   "vkBeginCommandBuffer");
    if (result != HEARTH_OK) return result;
    host->is_recording = true;
    *out = host->commands;
    return HEARTH_OK;
}

hearth_result hearth_headless_submit(hearth_headless* host) {
    if (!host->is_recording)
        return with_error(*host, HEARTH_ERROR_INVALID_STATE, "the command buffer was not begun");
    host->is_recording = false;
    const standalone::VulkanApi& vk = host->device->vk();
    const VkQueue queue = host->device->queue();
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &host->commands;
    hearth_result result =
        with_error(*host, vk.EndCommandBuffer(host->commands), "vkEndCommandBuffer");
    if (result == HEARTH_OK)
        result =
            with_error(*host, vk.QueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    if (result == HEARTH_OK) result = with_error(*host, vk.QueueWaitIdle(queue), "vkQueueWaitIdle");
    return result == HEARTH_OK ? next_frame(*host) : result;
}

hearth_result hearth_headless_discard(hearth_headless* host) {
    if (!host->is_recording)
        return with_error(*host, HEARTH_ERROR_INVALID_STATE, "the command buffer was not begun");
    host->is_recording = false;
    const hearth_result ended = with_error(
        *host, host->device->vk().EndCommandBuffer(host->commands), "vkEndCommandBuffer");
    const hearth_result discarded =
        hearth_discard_frame(host->context, host->frame_number, nullptr);
    if (discarded < 0) return with_error(*host, discarded, hearth_context_error(host->context));
    return ended;
}

hearth_result hearth_headless_buffer_create(hearth_headless* host, uint64_t bytes,
                                            hearth_headless_memory memory,
                                            hearth_headless_buffer* out) {
    if (out == nullptr) return with_error(*host, HEARTH_ERROR_INVALID_ARGUMENT, "out is NULL");
    if (memory != HEARTH_HEADLESS_UPLOAD && memory != HEARTH_HEADLESS_READBACK)
        return with_error(*host, HEARTH_ERROR_INVALID_ARGUMENT,
                          "memory is " + std::to_string(memory) +
                              ", expected HEARTH_HEADLESS_UPLOAD or HEARTH_HEADLESS_READBACK");
    Result<standalone::Buffer> buffer = standalone::Buffer::create(
        *host->device, std::max<uint64_t>(bytes, 4),
        memory == HEARTH_HEADLESS_UPLOAD ? standalone::MemoryKind::kUpload
                                         : standalone::MemoryKind::kReadback);
    if (!buffer.ok())
        return with_error(*host, result_of(buffer.status()), buffer.status().message());
    *out = {buffer->handle(), buffer->data(), buffer->size_bytes(), buffer->usage(), 0};
    host->buffers.push_back(std::move(*buffer));
    return HEARTH_OK;
}

void hearth_headless_buffer_destroy(hearth_headless* host, const hearth_headless_buffer* buffer) {
    std::erase_if(host->buffers,
                  [&](const standalone::Buffer& b) { return b.handle() == buffer->buffer; });
}

}  // extern "C"
