// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "network.hpp"

#include <algorithm>
#include <cmath>

namespace hearth_godot {

bool Network::open(const std::string& path, const Bytes& bytes, const std::string& device) {
    close();
    clear_error();
    const std::unique_lock lock = open_program(path, bytes, device);
    if (!lock.owns_lock()) return false;
    // Saving copies everything at once; learning entries have inputs and outputs beside it.
    const uint64_t room = hearth_program_get_brain_size(program_) + (uint64_t{1} << 20);
    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program_;
    create.upload_bytes = create.readback_bytes = room;
    create.flags |= HEARTH_SESSION_COLLECT_GPU_TIMINGS;
    if (hearth_session_create(host_->context(), &create, &session_) != HEARTH_OK)
        return fail("session", hearth_context_error(host_->context()));
    if (hearth_session_create_pipelines(session_, 0) != HEARTH_OK)
        return fail("session", hearth_session_error(session_));
    needs_initialize_ = true;
    return true;
}

void Network::close() {
    worker_.wait();
    if (host_ == nullptr) return;
    const std::unique_ptr<Host> host = std::move(host_);
    const std::unique_lock lock(*host);
    if (session_ != nullptr) hearth_session_destroy(session_);
    if (program_ != nullptr) hearth_program_destroy(program_);
    for (Buffers* buffers : {&buffers_, &started_buffers_}) {
        for (const auto& [binding, buffer] : *buffers)
            if (buffer.buffer != VK_NULL_HANDLE)
                hearth_headless_buffer_destroy(host->handle(), &buffer);
        buffers->clear();
    }
    session_ = nullptr;
    program_ = nullptr;
}

// --- Running -------------------------------------------------------------------------------------

Floats Network::run(const std::string& entry, const Floats& inputs, int64_t batch_size) {
    Floats outputs;
    clear_error();
    if (!check_open("run")) return outputs;
    const std::unique_lock lock(*host_);
    Call call;
    if (!bind(entry, batch_size, buffers_, call) || !write_concatenated(call, inputs) ||
        !record(call))
        return outputs;
    for (const Tensor& tensor : call.tensors) {
        if (!tensor.is_output) continue;
        const Floats values = read(tensor);
        outputs.insert(outputs.end(), values.begin(), values.end());
    }
    check_outputs(call, error_);
    return outputs;
}

Fields Network::run_fields(const std::string& entry, const Fields& inputs) {
    clear_error();
    if (!check_open("run_fields")) return {};
    const std::unique_lock lock(*host_);
    Call call;
    if (!bind(entry, find_batch_size(entry, inputs), buffers_, call) ||
        !write_fields(call, inputs) || !record(call))
        return {};
    check_outputs(call, error_);
    return read_fields(call);
}

bool Network::start(const std::string& entry, const Fields& inputs, double budget_us,
                    std::function<void(const Fields&, const std::string&)> done) {
    clear_error();
    if (!check_open("start")) return false;
    if (worker_.is_busy())
        return fail("start", "an entry is running already; wait for `finished`, or call wait()");
    if (!(budget_us >= 0))
        return fail("start", "learning_budget_us is " + std::to_string(budget_us) +
                                 ", expected microseconds, or 0 for no limit");
    auto call = std::make_shared<Call>();
    {
        const std::unique_lock lock(*host_);
        if (!bind(entry, find_batch_size(entry, inputs), started_buffers_, *call) ||
            !write_fields(*call, inputs))
            return false;
    }
    call->record.gpu_time_budget_us = budget_us;
    worker_.start([this, call, done = std::move(done)] {
        hearth_run_cursor cursor{};
        bool is_done = false, is_good = true;
        std::string error;
        Fields outputs;
        while (is_good && !is_done) {
            const std::unique_lock lock(*host_);
            is_good = record_piece(*call, cursor, is_done, error);
            if (is_good && is_done) {
                check_outputs(*call, error);
                outputs = read_fields(*call);
            }
        }
        done(outputs, error);
    });
    return true;
}

bool Network::find_entry(const std::string& name, uint32_t& index, hearth_entry_info& entry) {
    return (hearth_program_find_entry(program_, name.c_str(), &index) == HEARTH_OK &&
            hearth_program_get_entry(program_, index, &entry) == HEARTH_OK) ||
           fail("entry", hearth_program_error(program_));
}

/// Finds the entry's tensors and creates a buffer for each.
bool Network::bind(const std::string& name, int64_t batch_size, Buffers& buffers, Call& call) {
    hearth_entry_info entry = hearth_entry_info_default();
    if (!find_entry(name, call.record.entry, entry)) return false;
    hearth_program_info program = hearth_program_info_default();
    hearth_program_get_info(program_, &program);
    if (batch_size < 1 || static_cast<uint64_t>(batch_size) > program.max_batch_size)
        return fail("batch_size", "expected 1 to " + std::to_string(program.max_batch_size) +
                                      ", found " + std::to_string(batch_size));
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info info = hearth_binding_info_default();
        hearth_program_get_binding(program_, entry.bindings[i], &info);
        if (info.device_dtype != HEARTH_F32 && info.device_dtype != HEARTH_I32)
            return fail(info.name, "expected f32 or i32, which arrays of floats can hold");
        const uint64_t bytes =
            info.bytes_fixed + info.bytes_per_item * static_cast<uint64_t>(batch_size);
        hearth_headless_buffer& buffer = buffers[entry.bindings[i]];
        if (buffer.bytes < bytes || buffer.buffer == VK_NULL_HANDLE) {
            if (buffer.buffer != VK_NULL_HANDLE)
                hearth_headless_buffer_destroy(host_->handle(), &buffer);
            buffer = {};
            if (hearth_headless_buffer_create(host_->handle(), std::max<uint64_t>(bytes, 16),
                                              HEARTH_HEADLESS_READBACK, &buffer) != HEARTH_OK)
                return fail(info.name, hearth_headless_error(host_->handle()));
        }
        Tensor tensor{info.name,
                      hearth_bind_buffer(entry.bindings[i], buffer.buffer, 0, bytes, buffer.usage),
                      info.device_dtype,
                      info.is_output != 0,
                      buffer.data,
                      bytes / 4};
        tensor.binding.release_scope =
            hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
        call.tensors.push_back(tensor);
        call.bindings.push_back(tensor.binding);
    }
    call.name = name;
    call.record.bindings = call.bindings.data();
    call.record.binding_count = static_cast<uint32_t>(call.bindings.size());
    call.record.batch_size = static_cast<uint64_t>(batch_size);
    return true;
}

/// Returns the batch size at which the first batched input has as many values as given, else 1.
int64_t Network::find_batch_size(const std::string& name, const Fields& inputs) {
    uint32_t index = 0;
    hearth_entry_info entry = hearth_entry_info_default();
    if (!find_entry(name, index, entry)) return 1;
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info info = hearth_binding_info_default();
        hearth_program_get_binding(program_, entry.bindings[i], &info);
        if (info.is_output != 0 || info.bytes_per_item == 0) continue;
        for (const auto& [input, values] : inputs)
            if (input == info.name)
                return std::max<int64_t>(1, (static_cast<int64_t>(values.size() * 4) -
                                             static_cast<int64_t>(info.bytes_fixed)) /
                                                static_cast<int64_t>(info.bytes_per_item));
    }
    return 1;
}

/// Fills an input.  A value that is not finite would stay in the weights of a network that learns
/// from it.
bool Network::write(const Tensor& tensor, const float* values) {
    for (uint64_t i = 0; i < tensor.count; ++i) {
        if (!std::isfinite(values[i]))
            return fail(tensor.name, "value " + std::to_string(i) + " is " +
                                         std::to_string(values[i]) + ", expected a finite number");
        if (tensor.dtype == HEARTH_F32)
            static_cast<float*>(tensor.data)[i] = values[i];
        else
            static_cast<int32_t*>(tensor.data)[i] = static_cast<int32_t>(values[i]);
    }
    return true;
}

bool Network::write_concatenated(const Call& call, const Floats& inputs) {
    size_t used = 0;
    for (const Tensor& tensor : call.tensors) {
        if (tensor.is_output) continue;
        if (inputs.size() - used < tensor.count)
            return fail(tensor.name, "expected " + std::to_string(tensor.count) +
                                         " values, found " + std::to_string(inputs.size() - used));
        if (!write(tensor, inputs.data() + used)) return false;
        used += static_cast<size_t>(tensor.count);
    }
    return used == inputs.size() ||
           fail("inputs", "the entry takes " + std::to_string(used) + " values, found " +
                              std::to_string(inputs.size()));
}

bool Network::write_fields(const Call& call, const Fields& inputs) {
    std::string names;
    for (const Tensor& tensor : call.tensors) {
        if (tensor.is_output) continue;
        names += (names.empty() ? "" : ", ") + tensor.name;
        const auto given = std::find_if(inputs.begin(), inputs.end(), [&](const auto& field) {
            return field.first == tensor.name;
        });
        if (given == inputs.end())
            return fail(call.name, "the input " + tensor.name + " is missing");
        if (given->second.size() != tensor.count)
            return fail(tensor.name, "expected " + std::to_string(tensor.count) +
                                         " values, found " + std::to_string(given->second.size()));
        if (!write(tensor, given->second.data())) return false;
    }
    for (const auto& [name, values] : inputs)
        if (std::none_of(
                call.tensors.begin(), call.tensors.end(),
                [&, &field = name](const Tensor& t) { return !t.is_output && t.name == field; }))
            return fail(call.name, "no input " + name + "; the inputs are " + names);
    return true;
}

bool Network::record(Call& call) {
    return frame(
        error_, call.name,
        [&](VkCommandBuffer commands) {
            call.record.command_buffer = commands;
            return hearth_record(session_, &call.record, nullptr);
        },
        [&] { return hearth_session_error(session_); });
}

bool Network::record_piece(Call& call, hearth_run_cursor& cursor, bool& is_done,
                           std::string& error) {
    return frame(
        error, call.name,
        [&](VkCommandBuffer commands) {
            call.record.command_buffer = commands;
            const hearth_result result = hearth_record(session_, &call.record, &cursor);
            is_done = result == HEARTH_OK;
            return result;
        },
        [&] { return hearth_session_error(session_); });
}

/// Sets the error if an output is not finite.  The outputs are returned all the same: some networks
/// have infinities in them.
void Network::check_outputs(const Call& call, std::string& error) {
    for (const Tensor& tensor : call.tensors) {
        if (!tensor.is_output) continue;
        const Floats values = read(tensor);
        const size_t bad = find_non_finite(values);
        if (bad == values.size()) continue;
        describe(error, call.name,
                 "value " + std::to_string(bad) + " of the output " + tensor.name + " is " +
                     std::to_string(values[bad]) +
                     "; if learning diverged, call reset(), or load() a brain saved before");
        return;
    }
}

Floats Network::read(const Tensor& tensor) {
    Floats values(tensor.count);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = tensor.dtype == HEARTH_F32
                        ? static_cast<const float*>(tensor.data)[i]
                        : static_cast<float>(static_cast<const int32_t*>(tensor.data)[i]);
    return values;
}

Fields Network::read_fields(const Call& call) {
    Fields outputs;
    for (const Tensor& tensor : call.tensors)
        if (tensor.is_output) outputs.emplace_back(tensor.name, read(tensor));
    return outputs;
}

// --- Brains --------------------------------------------------------------------------------------

Bytes Network::save() {
    worker_.wait();
    clear_error();
    Bytes brain;
    if (!check_open("save")) return brain;
    const std::unique_lock lock(*host_);
    hearth_readback readback = 0;
    if (!frame(
            error_, "save",
            [&](VkCommandBuffer commands) {
                return hearth_record_save_brain(session_, commands, &readback);
            },
            [&] { return hearth_session_error(session_); }))
        return brain;
    hearth_brain_save_info info = hearth_brain_save_info_default();
    uint64_t frame_number = 0, byte_count = 0;
    // Submitting waited for the device, so the copy has arrived.
    hearth_result result = hearth_readback_poll(session_, readback, &info.snapshot,
                                                &info.snapshot_bytes, &frame_number);
    if (result == HEARTH_OK) result = hearth_brain_encode(program_, &info, nullptr, &byte_count);
    if (result == HEARTH_OK) {
        brain.resize(static_cast<size_t>(byte_count));
        result = hearth_brain_encode(program_, &info, brain.data(), &byte_count);
        brain.resize(result == HEARTH_OK ? static_cast<size_t>(byte_count) : 0);
    }
    if (result == HEARTH_ERROR_NON_FINITE)
        fail("save",
             "the network has values that are not finite; call reset(), or load() a brain saved "
             "before");
    else if (result != HEARTH_OK)
        fail("save", hearth_result_name(result));
    hearth_readback_release(session_, readback);
    return brain;
}

bool Network::load(const Bytes& brain) {
    worker_.wait();
    clear_error();
    if (!check_open("load")) return false;
    if (brain.empty()) return fail("load", "the brain is empty; pass what save() returned");
    const std::unique_lock lock(*host_);
    const std::vector<uint64_t> words = aligned(brain);
    hearth_messages messages{};
    return frame(
        error_, "load",
        [&](VkCommandBuffer commands) {
            return hearth_record_load_brain(session_, commands, words.data(), brain.size(), 0,
                                            &messages);
        },
        [&] {
            return std::string(messages.message_count > 0 ? messages.text
                                                          : hearth_session_error(session_));
        });
}

bool Network::reset() {
    worker_.wait();
    clear_error();
    if (!check_open("reset")) return false;
    const std::unique_lock lock(*host_);
    return frame(
        error_, "reset",
        [&](VkCommandBuffer commands) {
            return hearth_record_reset_variables(session_, commands, nullptr, nullptr);
        },
        [&] { return hearth_session_error(session_); });
}

}  // namespace hearth_godot
