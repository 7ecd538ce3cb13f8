// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs programs on a device and waits for their results.

#include "program_runner.hpp"

#include <hearth/file.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace hearth::standalone {

namespace {

Shape shape_of(const hearth_dim* dims, uint32_t rank) {
    Shape shape;
    for (uint32_t i = 0; i < rank; ++i)
        shape.push_back(Dim(static_cast<int64_t>(dims[i].count), dims[i].is_batch != 0));
    return shape;
}

DType dtype_of(hearth_dtype dtype) {
    return static_cast<DType>(dtype);
}

HostTensor from_device(DType logical, DType device, const Shape& shape, const void* bytes) {
    HostTensor raw(device, shape);
    if (!raw.bytes().empty()) std::memcpy(raw.bytes().data(), bytes, raw.bytes().size());
    return raw.cast(logical);
}

}  // namespace

struct ProgramRunner::Bound {
    hearth_binding_info info;
    Shape shape;
    Buffer* buffer;
    hearth_tensor_binding bound;
};

ProgramRunner::~ProgramRunner() {
    if (pool_ != VK_NULL_HANDLE) device_.vk().DestroyCommandPool(device_.handle(), pool_, nullptr);
}

Status ProgramRunner::make_commands(size_t count) {
    if (commands_.size() >= count) return {};
    const VulkanApi& vk = device_.vk();
    if (pool_ == VK_NULL_HANDLE) {
        VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
        info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
        info.queueFamilyIndex = device_.queue_family();
        HEARTH_TRY(check_vulkan(vk.CreateCommandPool(device_.handle(), &info, nullptr, &pool_),
                                "vkCreateCommandPool"));
    }
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    allocate.commandPool = pool_;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = static_cast<uint32_t>(count - commands_.size());
    std::vector<VkCommandBuffer> more(allocate.commandBufferCount);
    HEARTH_TRY(check_vulkan(vk.AllocateCommandBuffers(device_.handle(), &allocate, more.data()),
                            "vkAllocateCommandBuffers"));
    commands_.insert(commands_.end(), more.begin(), more.end());
    return {};
}

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::create(
    Device& device, std::vector<std::byte> bytes, const hearth_session_create_info& session,
    const std::string& pipelines) {
    std::unique_ptr<ProgramRunner> runner(new ProgramRunner(device));
    std::vector<std::byte> kept;
    if (!pipelines.empty())
        if (Result<std::vector<std::byte>> file = read_whole_file(pipelines); file.ok())
            kept = std::move(*file);
    HEARTH_TRY(runner->make_context(kept));
    runner->bytes_ = std::move(bytes);
    HEARTH_TRY(runner->set_up(
        LoadedProgram::load(runner->context_, runner->bytes_, /*borrow=*/true), session));
    if (pipelines.empty() || runner->context_.stats().pipeline_cache_used != 0) return runner;
    HEARTH_ASSIGN(kept, runner->context_.save_pipeline_cache());
    HEARTH_TRY(write_file_atomically(pipelines, kept));
    return runner;
}

Result<std::unique_ptr<ProgramRunner>> ProgramRunner::create_from_package(
    Device& device, std::span<const std::byte> package, const char* profile) {
    std::unique_ptr<ProgramRunner> runner(new ProgramRunner(device));
    HEARTH_TRY(runner->make_context({}));
    HEARTH_TRY(runner->set_up(
        LoadedProgram::load_package(runner->context_, package, /*borrow=*/false, profile)));
    return runner;
}

Status ProgramRunner::make_context(std::span<const std::byte> pipelines) {
    hearth_context_create_info host = device_.host_info();
    host.pipeline_cache_data = pipelines.data();
    host.pipeline_cache_bytes = pipelines.size();
    host.callback_user_data = this;
    host.submit_task = [](void* user, void (*job)(void*), void* data) {
        static_cast<ProgramRunner*>(user)->jobs_.push_back({job, data});
    };
    HEARTH_ASSIGN(context_, Context::create(host));
    return {};
}

Status ProgramRunner::set_up(Result<LoadedProgram> program,
                             const hearth_session_create_info& session) {
    if (!program.ok()) return program.status();
    program_ = std::move(*program);
    HEARTH_ASSIGN(session_, Session::create(context_, program_, session));
    readback_bytes_ = session.readback_bytes;
    HEARTH_TRY(build_pipelines());
    return submit(
        [this](VkCommandBuffer commands) { return session_.record_initialize(commands); });
}

/// Drivers take seconds to compile a learner's kernels, one thread each, so build in parallel.
Status ProgramRunner::build_pipelines() {
    if (hearth_session_create_pipelines_async(session_.handle()) >= 0) {
        std::atomic<size_t> next = 0;
        const auto work = [&] {
            for (size_t i = next++; i < jobs_.size(); i = next++) jobs_[i].run(jobs_[i].data);
        };
        const size_t processors = std::max<size_t>(std::thread::hardware_concurrency(), 1);
        std::vector<std::thread> threads;
        while (threads.size() + 1 < std::min(processors, jobs_.size())) threads.emplace_back(work);
        work();
        for (std::thread& thread : threads) thread.join();
        jobs_.clear();
    }
    return session_.create_pipelines();  // builds the remaining ones, or returns the error
}

Status ProgramRunner::submit(const std::function<Status(VkCommandBuffer)>& record) {
    return submit({&record, 1});
}

Status ProgramRunner::submit(std::span<const std::function<Status(VkCommandBuffer)>> records) {
    HEARTH_TRY(begin_frame());
    HEARTH_TRY(make_commands(records.size()));
    Status status;
    for (size_t i = 0; i < records.size() && status.ok(); ++i)
        status = record_and_submit(commands_[i], records[i]);
    HEARTH_TRY(check_vulkan(device_.vk().QueueWaitIdle(device_.queue()), "vkQueueWaitIdle"));
    return status;
}

Status ProgramRunner::record_and_submit(VkCommandBuffer commands,
                                        const std::function<Status(VkCommandBuffer)>& record) {
    const VulkanApi& vk = device_.vk();
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    HEARTH_TRY(check_vulkan(vk.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer"));
    const Status recorded = record(commands);
    HEARTH_TRY(check_vulkan(vk.EndCommandBuffer(commands), "vkEndCommandBuffer"));
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    HEARTH_TRY(
        check_vulkan(vk.QueueSubmit(device_.queue(), 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit"));
    return recorded;
}

Status ProgramRunner::begin_frame() {
    HEARTH_TRY(context_.begin_frame(serial_ + 1, serial_));
    ++serial_;
    return {};
}

Result<ProgramRunner::Bound> ProgramRunner::bind(uint32_t binding, int64_t rows,
                                                 const NamedTensors& inputs) {
    Bound b;
    HEARTH_ASSIGN(b.info, program_.binding(binding));
    b.shape = shape_of(b.info.dims, b.info.rank).resolve(rows);
    const uint64_t bytes = b.info.bytes_fixed + b.info.bytes_per_item * static_cast<uint64_t>(rows);
    const bool is_written = b.info.is_output != 0 || b.info.is_inout != 0;
    const MemoryKind kind = is_written ? MemoryKind::kReadback : MemoryKind::kUpload;
    const uint64_t size = std::max<uint64_t>(bytes, 4);
    b.buffer = &buffers_[binding];
    if (b.buffer->size_bytes() != size) {
        HEARTH_ASSIGN(*b.buffer,
                      Buffer::create(device_, size, kind, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT));
    }
    b.bound = hearth_bind_buffer(binding, b.buffer->handle(), 0, size, b.buffer->usage());
    if (is_written)
        b.bound.release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    if (b.info.is_output != 0) {
        std::memset(b.buffer->data(), 0xff, size);  // unwritten elements become NaN
        return b;
    }
    const auto given = inputs.find(b.info.name);
    if (given == inputs.end())
        return not_found("no value for the input '" + std::string(b.info.name) + "'");
    const HostTensor& value = given->second;
    if (value.shape() != b.shape || value.dtype() != dtype_of(b.info.dtype))
        return invalid_argument("input '" + std::string(b.info.name) + "' is " +
                                std::string(name_of(dtype_of(b.info.dtype))) + to_string(b.shape) +
                                ", found " + std::string(name_of(value.dtype())) +
                                to_string(value.shape()));
    HEARTH_ASSIGN(const HostTensor raw, value.held_as(dtype_of(b.info.device_dtype),
                                                      "input '" + std::string(b.info.name) + "'"));
    if (!raw.bytes().empty()) std::memcpy(b.buffer->data(), raw.bytes().data(), raw.bytes().size());
    return b;
}

Result<std::vector<ProgramRunner::Bound>> ProgramRunner::bind_all(const hearth_entry_info& entry,
                                                                  int64_t rows,
                                                                  const NamedTensors& inputs) {
    std::vector<Bound> bindings;
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        HEARTH_ASSIGN(Bound b, bind(entry.bindings[i], rows, inputs));
        bindings.push_back(b);
    }
    return bindings;
}

std::vector<hearth_tensor_binding> ProgramRunner::bounds_of(const std::vector<Bound>& bindings) {
    std::vector<hearth_tensor_binding> bound;
    for (const Bound& b : bindings) bound.push_back(b.bound);
    return bound;
}

Result<NamedTensors> ProgramRunner::run(const char* entry, int64_t rows, const NamedTensors& inputs,
                                        const std::function<void(hearth_record_info&)>& limit) {
    HEARTH_ASSIGN(const uint32_t index, program_.find_entry(entry));
    HEARTH_ASSIGN(const hearth_entry_info info, program_.entry(index));
    HEARTH_ASSIGN(const std::vector<Bound> bindings, bind_all(info, rows, inputs));
    const std::vector<hearth_tensor_binding> bound = bounds_of(bindings);
    hearth_record_info record = hearth_record_info_default();
    record.entry = index;
    record.batch_size = static_cast<uint64_t>(rows);
    record.bindings = bound.data();
    record.binding_count = static_cast<uint32_t>(bound.size());
    hearth_run_cursor cursor{};
    Progress progress = Progress::kIncomplete;
    while (progress == Progress::kIncomplete) {
        HEARTH_TRY(submit([&](VkCommandBuffer commands) -> Status {
            record.command_buffer = commands;
            if (limit) limit(record);
            HEARTH_ASSIGN(progress, session_.record(record, &cursor));
            return {};
        }));
    }
    if (progress == Progress::kNotReady) return internal_error("pipelines are not ready");
    NamedTensors outputs;
    for (const Bound& b : bindings)
        if (b.info.is_output != 0 || b.info.is_inout != 0)
            outputs[b.info.name] = from_device(
                dtype_of(b.info.dtype), dtype_of(b.info.device_dtype), b.shape, b.buffer->data());
    return outputs;
}

Result<std::vector<std::byte>> ProgramRunner::dump(const char* entry, int64_t rows,
                                                   const NamedTensors& inputs, uint32_t step) {
    HEARTH_ASSIGN(const uint32_t index, program_.find_entry(entry));
    HEARTH_ASSIGN(const hearth_entry_info info, program_.entry(index));
    HEARTH_ASSIGN(const std::vector<Bound> bindings, bind_all(info, rows, inputs));
    const std::vector<hearth_tensor_binding> bound = bounds_of(bindings);
    const hearth_program_info program = program_.info();
    // A separate session, with enough readback space and variables that may change.
    hearth_session_create_info create = hearth_session_create_info_default();
    create.name = "dump";
    create.readback_bytes = program_.dump_size(index, static_cast<uint64_t>(rows), step);
    HEARTH_ASSIGN(Session session, Session::create(context_, program_, create));
    HEARTH_TRY(session.create_pipelines());
    std::vector<uint32_t> variables(program.variable_count);
    for (uint32_t i = 0; i < program.variable_count; ++i) variables[i] = i;
    hearth_record_info record = hearth_record_info_default();
    record.entry = index;
    record.batch_size = static_cast<uint64_t>(rows);
    record.bindings = bound.data();
    record.binding_count = static_cast<uint32_t>(bound.size());
    hearth_readback id{};
    const Status submitted = submit([&](VkCommandBuffer commands) -> Status {
        HEARTH_TRY(session.record_initialize(commands));
        HEARTH_TRY(to_status(
            hearth_record_copy_variables(session.handle(), session_.handle(), commands,
                                         variables.data(), static_cast<uint32_t>(variables.size())),
            session.error()));
        record.command_buffer = commands;
        HEARTH_ASSIGN(const std::optional<hearth_readback> recorded,
                      session.record_dump(record, step));
        if (!recorded) return internal_error("pipelines are not ready");
        id = *recorded;
        return {};
    });
    HEARTH_TRY(submitted);
    HEARTH_TRY(begin_frame());
    HEARTH_ASSIGN(const std::optional<ReadbackData> data, session.poll(id));
    if (!data) return internal_error("the dump of a finished submission is not there");
    hearth_dump_info dump = hearth_dump_info_default();
    dump.entry = index;
    dump.command = step;
    dump.batch_size = record.batch_size;
    dump.data = data->bytes.data();
    dump.data_bytes = data->bytes.size();
    dump.frame_number = data->frame_number;
    dump.flags = HEARTH_DUMP_PROGRAM;
    return session.encode_dump(dump);
}

Status ProgramRunner::write_variable(const char* name, std::span<const std::byte> bytes) {
    HEARTH_ASSIGN(const uint32_t index, program_.find_variable(name));
    HEARTH_ASSIGN(const hearth_variable_info info, program_.variable(index));
    if (bytes.size() != info.bytes)
        return invalid_argument("slot '" + std::string(name) + "' has " +
                                std::to_string(info.bytes) + " bytes, found " +
                                std::to_string(bytes.size()));
    constexpr size_t kAtOnce = 8192;  // fits in the smallest automatically sized ring
    for (size_t at = 0; at < bytes.size(); at += kAtOnce) {
        const auto part = bytes.subspan(at, std::min(kAtOnce, bytes.size() - at));
        HEARTH_TRY(submit([&](VkCommandBuffer commands) {
            return session_.record_update_variable(commands, index, part, at);
        }));
    }
    return {};
}

Result<HostTensor> ProgramRunner::read_variable(const char* name) {
    HEARTH_ASSIGN(const uint32_t index, program_.find_variable(name));
    HEARTH_ASSIGN(const hearth_variable_info info, program_.variable(index));
    // In pieces, which fit in the readback ring whatever the variable's size.
    const uint64_t most = std::max<uint64_t>(readback_bytes_ / 2 / 16 * 16, 16);
    std::vector<std::byte> bytes;
    while (bytes.size() < info.bytes) {
        const hearth_readback_region part = hearth_readback_of_variable(
            index, bytes.size(), std::min<uint64_t>(most, info.bytes - bytes.size()));
        hearth_readback id{};
        HEARTH_TRY(submit([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(id, session_.record_readback(commands, {&part, 1}));
            return {};
        }));
        HEARTH_TRY(begin_frame());
        HEARTH_ASSIGN(const std::optional<ReadbackData> data, session_.poll(id));
        if (!data) return internal_error("the readback of a finished submission is not there");
        bytes.insert(bytes.end(), data->bytes.begin(), data->bytes.end());
        session_.release(id);
    }
    return from_device(dtype_of(info.dtype), dtype_of(info.device_dtype),
                       shape_of(info.dims, info.rank), bytes.data());
}

Result<NamedTensors> ProgramRunner::read_variables() {
    NamedTensors all;
    const uint32_t count = program_.info().variable_count;
    for (uint32_t i = 0; i < count; ++i) {
        HEARTH_ASSIGN(const hearth_variable_info info, program_.variable(i));
        if (info.kind == HEARTH_VARIABLE_CONSTANT) continue;
        HEARTH_ASSIGN(all[info.name], read_variable(info.name));
    }
    return all;
}

}  // namespace hearth::standalone
