// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Describes a session as JSON for developer tools: variables, entries with their commands, and
// costs.

#include "device/session/json_sink.hpp"
#include "device/session/session.hpp"
#include "program/variable_kind.hpp"

namespace hearth::runtime {

namespace {

constexpr const char* kUsageNames[HEARTH_MEMORY_USAGE_COUNT] = {
    "weights", "arena", "per_recording", "staging", "readback", "bounce"};

const char* json_name_of(VariableKind kind) {
    return kind == VariableKind::kTransient ? "non_persistent" : hearth::name_of(kind);
}

/// Writes JSON objects and arrays, including the commas.
class JsonWriter {
  public:
    explicit JsonWriter(std::byte* out) : sink_(out) {}

    void open(char bracket) {
        sink_.raw({&bracket, 1});
        is_first_ = true;
    }
    void close(char bracket) {
        sink_.raw({&bracket, 1});
        is_first_ = false;
    }
    void next() {
        if (!is_first_) sink_.raw(",");
        is_first_ = false;
    }
    void key(std::string_view name) {
        next();
        sink_.text({name});
        sink_.raw(":");
        is_first_ = true;
    }
    void text(std::string_view name, std::string_view value) {
        key(name);
        sink_.text({value});
        is_first_ = false;
    }
    void number(std::string_view name, uint64_t value) {
        key(name);
        sink_.number(value);
        is_first_ = false;
    }
    void hash(std::string_view name, uint64_t value) {
        char digits[24];
        (void)std::snprintf(digits, sizeof digits, "%016llx",
                            static_cast<unsigned long long>(value));
        text(name, digits);
    }
    void fraction(std::string_view name, double value) {
        char digits[40];
        const int size = std::snprintf(digits, sizeof digits, "%.3f", value);
        key(name);
        sink_.raw({digits, static_cast<size_t>(size)});
        is_first_ = false;
    }
    /// Writes a batch axis as "batch", or as "4*batch".
    void shape(const file::ShapeRecord& shape) {
        key("shape");
        open('[');
        for (uint32_t i = 0; i < shape.rank; ++i) {
            next();
            const auto count = static_cast<uint64_t>(shape.counts[i]);
            if ((shape.batch_mask >> i & 1) == 0) {
                sink_.number(count);
                continue;
            }
            sink_.raw("\"");
            if (count != 1) {
                sink_.number(count);
                sink_.raw("*");
            }
            sink_.raw("batch\"");
        }
        close(']');
    }
    void objects(std::string_view name) {
        key(name);
        open('[');
    }
    void object() {
        next();
        open('{');
    }
    uint64_t size() const { return sink_.size(); }

  private:
    JsonSink sink_;
    bool is_first_ = true;
};

}  // namespace

uint64_t Session::write_description(std::byte* out) const {
    const ProgramView& view = this->view();
    JsonWriter json(out);
    json.open('{');
    json.text("session", name_.c_str());
    json.text("build", hearth_build_info());
    json.text("device", context_->device().caps().name);
    json.hash("program", view.header().content_hash);
    json.hash("graph", view.header().graph_hash);
    json.text("device_target", view.text_view(view.header().device_target));
    json.number("max_batch_size", view.header().max_batch_size);
    uint64_t bytes[HEARTH_MEMORY_USAGE_COUNT] = {};
    for (const gpu::Buffer& buffer : buffers_) bytes[buffer.usage] += buffer.allocated_bytes;
    json.key("device_bytes");
    json.open('{');
    for (uint32_t i = 0; i < HEARTH_MEMORY_USAGE_COUNT; ++i) json.number(kUsageNames[i], bytes[i]);
    json.close('}');
    uint32_t ready = 0;
    (void)pipelines_status(&ready);
    json.number("pipelines", pipelines_.size());
    json.number("pipelines_ready", ready);

    json.objects("variables");
    for (const file::VariableRecord& variable : view.variables()) {
        json.object();
        json.text("name", view.text_view(variable.name));
        json.text("kind", json_name_of(static_cast<VariableKind>(variable.kind)));
        json.text("dtype", hearth::name_of(static_cast<DType>(variable.dtype)));
        json.shape(variable.shape);
        json.number("bytes", variable.bytes);
        json.close('}');
    }
    json.close(']');

    json.objects("entries");
    for (uint32_t e = 0; e < entries_.size(); ++e) {
        const file::EntryRecord& entry = view.entries()[e];
        json.object();
        json.text("name", view.text_view(entry.name));
        json.number("arena_bytes", entry.arena_bytes);
        json.objects("bindings");
        for (const uint32_t b : view.bindings_of(entry)) {
            const file::BindingRecord& binding = view.bindings()[b];
            json.object();
            json.text("name", view.text_view(binding.name));
            json.text("direction", binding.direction == static_cast<uint32_t>(Direction::kOutput)
                                       ? "output"
                                       : "input");
            json.text("dtype", hearth::name_of(static_cast<DType>(binding.dtype)));
            json.shape(binding.shape);
            json.close('}');
        }
        json.close(']');
        uint64_t dispatches = 0, barriers = 0, flops = 0, bytes_moved = 0;
        json.objects("commands");
        for (const file::CommandRecord& command : view.commands_of(entry)) {
            const auto kind = static_cast<CommandKind>(command.kind);
            dispatches += kind == CommandKind::kDispatch;
            barriers += kind == CommandKind::kBarrier;
            flops += command.flops;
            bytes_moved += command.bytes_moved;
            json.object();
            json.text("kind", name_of(kind));
            if (kind == CommandKind::kDispatch)
                json.text("kernel", view.text_view(view.kernels()[command.kernel].name));
            if (kind != CommandKind::kBarrier) {
                json.text("label", view.text_view(command.label));
                json.number("flops", command.flops);
                json.number("bytes_moved", command.bytes_moved);
            }
            json.close('}');
        }
        json.close(']');
        json.number("dispatches", dispatches);
        json.number("barriers", barriers);
        json.number("flops", flops);
        json.number("bytes_moved", bytes_moved);
        if (entries_[e].measured_ns > 0) {
            json.fraction("measured_us", entries_[e].measured_ns / 1e3);
            json.number("measured_batch_size", entries_[e].measured_rows);
        }
        json.close('}');
    }
    json.close(']');
    json.close('}');
    return json.size();
}

hearth_result Session::describe(char* out, uint64_t* byte_count) {
    const uint64_t needed = write_description(nullptr) + 1;  // and the terminating zero
    const uint64_t capacity = *byte_count;
    *byte_count = needed;
    if (out == nullptr) return HEARTH_OK;
    if (capacity < needed)
        return fail(HEARTH_ERROR_OUT_OF_RANGE,
                    "to_json: the description takes %llu bytes, *byte_count is %llu; call with out "
                    "= NULL for "
                    "the size",
                    static_cast<unsigned long long>(needed),
                    static_cast<unsigned long long>(capacity));
    (void)write_description(reinterpret_cast<std::byte*>(out));
    out[needed - 1] = 0;
    return HEARTH_OK;
}

}  // namespace hearth::runtime
