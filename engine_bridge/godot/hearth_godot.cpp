// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth as an extension for Godot 4 (GDExtension, 4.2 and later): the class HearthNetwork, a
// RefCounted. Compiled against Godot's gdextension_interface.h only, linked with libhearth.
//
//     HearthNetwork.open(path: String, device: String) -> bool    "": the best GPU; "cpu": the CPU
//     HearthNetwork.run(entry: String, inputs: PackedFloat32Array, batch_size: int)
//         -> PackedFloat32Array
//     HearthNetwork.save() -> PackedByteArray              what was learned; empty on failure
//     HearthNetwork.load(brain: PackedByteArray) -> bool   returns to what save() returned
//     HearthNetwork.reset() -> bool                        forgets what was learned
//     HearthNetwork.error() -> String
//
// Paths are Godot's (res://, user://), so packages are found in exported games, too.
//
// An extension has access neither to the features of the renderer's device nor to its command
// buffers, so Hearth has a device of its own, which all networks of a process share, and tensors
// are passed as arrays: `inputs` concatenates all inputs of the entry in the order of `hearth
// info`; outputs likewise. Learning entries run like acting ones. run() waits for the device: call
// it for work that fits a frame, or from a thread. One thread at a time per HearthNetwork; networks
// of several threads take turns on the device.

#include <vulkan/vulkan.h>
// Headers that use Vulkan's types follow.
#include <gdextension_interface.h>
#include <hearth_workbench.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

// --- A network, independent of Godot
// --------------------------------------------------------------

using Bytes = std::vector<uint8_t>;

/// Copies bytes to the alignment of 8 bytes that packages and brains need.
std::vector<uint64_t> aligned(const Bytes& bytes) {
    std::vector<uint64_t> words((bytes.size() + 7) / 8);
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

/// A device of its own. Its mutex is held during each call on the device.
struct Host {
    ~Host() { hearth_headless_destroy(handle); }  // and its buffers

    hearth_headless* handle = nullptr;
    std::mutex mutex;
};

/// The devices in use, by the name that open() was called with.
class Hosts {
  public:
    /// Null: `messages` has the reason.
    std::shared_ptr<Host> get(const std::string& device, hearth_messages& messages) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Host>& host = hosts_[device];
        if (host != nullptr) return host;
        auto created = std::make_shared<Host>();
        if (hearth_headless_create(device.c_str(), 0, &created->handle, &messages) == HEARTH_OK)
            host = created;
        return host;
    }
    /// Makes later calls of get() create a new device.
    void forget(const std::shared_ptr<Host>& host) {
        const std::lock_guard lock(mutex_);
        for (auto& [device, held] : hosts_)
            if (held == host) held = nullptr;
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        hosts_.clear();
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Host>> hosts_;
};
Hosts hosts;

class Network {
  public:
    ~Network() { close(); }

    /// bytes  of the file at `path`; empty: there is none
    bool open(const std::string& path, const Bytes& bytes, const std::string& device) {
        close();
        if (bytes.empty()) return fail(path, "no such file, or an empty one");
        hearth_messages messages{};
        host_ = hosts.get(device, messages);
        if (host_ == nullptr) return fail("device", messages.text);
        const std::lock_guard lock(host_->mutex);
        hearth_context* const context = hearth_headless_context(host_->handle);
        if (!load_program(path, bytes)) return false;
        // Saving copies everything at once; learning entries have inputs and outputs beside it.
        const uint64_t room = hearth_program_get_brain_size(program_) + (uint64_t{1} << 20);
        hearth_session_create_info create = hearth_session_create_info_default();
        create.program = program_;
        create.upload_bytes = create.readback_bytes = room;
        if (hearth_session_create(context, &create, &session_) != HEARTH_OK)
            return fail("session", hearth_context_error(context));
        if (hearth_session_create_pipelines(session_, 0) != HEARTH_OK)
            return fail("session", hearth_session_error(session_));
        needs_initialize_ = true;
        return true;
    }

    /// Returns an empty vector on failure; error() is the reason.
    std::vector<float> run(const std::string& name, const std::vector<float>& inputs,
                           int64_t batch_size) {
        std::vector<float> outputs;
        error_.clear();
        if (!is_open("run")) return outputs;
        if (batch_size < 1) return fail("batch_size", "expected at least 1"), outputs;
        const std::lock_guard lock(host_->mutex);
        uint32_t index = 0;
        hearth_entry_info entry = hearth_entry_info_default();
        if (hearth_program_find_entry(program_, name.c_str(), &index) != HEARTH_OK ||
            hearth_program_get_entry(program_, index, &entry) != HEARTH_OK)
            return fail("entry", hearth_program_error(program_)), outputs;
        std::vector<Tensor> tensors;
        if (!bind(entry, inputs, batch_size, tensors)) return outputs;
        std::vector<hearth_tensor_binding> bindings;
        for (const Tensor& t : tensors) bindings.push_back(t.binding);
        hearth_record_info record = hearth_record_info_default();
        record.entry = index;
        record.bindings = bindings.data();
        record.binding_count = static_cast<uint32_t>(bindings.size());
        record.batch_size = static_cast<uint64_t>(batch_size);
        if (!frame(name, [&](VkCommandBuffer commands) {
                record.command_buffer = commands;
                return hearth_record(session_, &record, nullptr);
            }))
            return outputs;
        for (const Tensor& t : tensors)
            if (t.is_output) read(t, outputs);
        // The outputs are returned all the same: some networks have infinities in them.
        const auto bad = std::find_if_not(outputs.begin(), outputs.end(),
                                          [](float value) { return std::isfinite(value); });
        if (bad != outputs.end())
            fail(name, ("output value " + std::to_string(bad - outputs.begin()) + " is " +
                        std::to_string(*bad) +
                        "; if learning diverged, call reset(), or load() a brain saved before")
                           .c_str());
        return outputs;
    }

    /// Returns an empty vector on failure.
    Bytes save() {
        error_.clear();
        Bytes brain;
        if (!is_open("save")) return brain;
        const std::lock_guard lock(host_->mutex);
        hearth_readback readback = 0;
        if (!frame("save", [&](VkCommandBuffer commands) {
                return hearth_record_save_brain(session_, commands, &readback);
            }))
            return brain;
        hearth_brain_save_info info = hearth_brain_save_info_default();
        uint64_t frame_number = 0, byte_count = 0;
        // Submitting waited for the device, so the copy has arrived.
        hearth_result result = hearth_readback_poll(session_, readback, &info.snapshot,
                                                    &info.snapshot_bytes, &frame_number);
        if (result == HEARTH_OK)
            result = hearth_brain_encode(program_, &info, nullptr, &byte_count);
        if (result == HEARTH_OK) {
            brain.resize(static_cast<size_t>(byte_count));
            result = hearth_brain_encode(program_, &info, brain.data(), &byte_count);
            brain.resize(result == HEARTH_OK ? static_cast<size_t>(byte_count) : 0);
        }
        if (result == HEARTH_ERROR_NON_FINITE)
            fail("save",
                 "the network has values that are not finite; call reset(), or load() a "
                 "brain saved before");
        else if (result != HEARTH_OK)
            fail("save", hearth_result_name(result));
        hearth_readback_release(session_, readback);
        return brain;
    }

    bool load(const Bytes& brain) {
        error_.clear();
        if (!is_open("load")) return false;
        const std::lock_guard lock(host_->mutex);
        const std::vector<uint64_t> words = aligned(brain);
        hearth_messages messages{};
        if (brain.empty()) return fail("load", "the brain is empty; pass what save() returned");
        return frame(
            "load",
            [&](VkCommandBuffer commands) {
                return hearth_record_load_brain(session_, commands, words.data(), brain.size(), 0,
                                                &messages);
            },
            &messages);
    }

    bool reset() {
        error_.clear();
        if (!is_open("reset")) return false;
        const std::lock_guard lock(host_->mutex);
        return frame("reset", [&](VkCommandBuffer commands) {
            return hearth_record_reset_variables(session_, commands, nullptr, nullptr);
        });
    }

    const std::string& error() const { return error_; }

  private:
    struct Tensor {
        hearth_tensor_binding binding;
        hearth_dtype dtype;
        bool is_output;
        void* data;
        uint64_t count;
    };

    bool fail(const std::string& what, const char* why) {
        error_ = what + ": " + why;
        return false;
    }

    bool is_open(const char* call) {
        return session_ != nullptr || fail(call, "call open() first");
    }

    /// Loads a package, or a single program, as shipped by games for one device.
    bool load_program(const std::string& path, const Bytes& bytes) {
        const std::vector<uint64_t> words = aligned(bytes);
        hearth_package_info info = hearth_package_info_default();
        hearth_messages messages{};
        if (hearth_package_get_info(words.data(), bytes.size(), &info, &messages) == HEARTH_OK)
            return hearth_headless_load_package(host_->handle, words.data(), bytes.size(), nullptr,
                                                0, &program_) == HEARTH_OK ||
                   fail(path, hearth_headless_error(host_->handle));
        hearth_context* const context = hearth_headless_context(host_->handle);
        hearth_program_load_info program = hearth_program_load_info_default();
        program.bytes = words.data();
        program.byte_count = bytes.size();
        return hearth_program_load(context, &program, &program_) == HEARTH_OK ||
               fail(path, ("no package (" + std::string(messages.text) + ") and no program (" +
                           hearth_context_error(context) + ")")
                              .c_str());
    }

    /// Submits what `record` records and waits. The host's mutex is held.
    /// messages  what a failed `record` says, if not the session
    template <class Record>
    bool frame(const std::string& what, Record record, const hearth_messages* messages = nullptr) {
        VkCommandBuffer commands = VK_NULL_HANDLE;
        hearth_result result = hearth_headless_begin(host_->handle, &commands);
        if (result != HEARTH_OK) return fail_on_host(what, result);
        if (needs_initialize_) result = hearth_record_initialize(session_, commands);
        if (result == HEARTH_OK) result = record(commands);
        if (result < 0) {
            fail(what, messages != nullptr && messages->message_count > 0
                           ? messages->text
                           : hearth_session_error(session_));
            hearth_headless_discard(host_->handle);
            return false;
        }
        result = hearth_headless_submit(host_->handle);
        if (result != HEARTH_OK) return fail_on_host(what, result);
        needs_initialize_ = false;
        return true;
    }

    bool fail_on_host(const std::string& what, hearth_result result) {
        if (result == HEARTH_ERROR_DEVICE_LOST) hosts.forget(host_);  // open() again for another
        return fail(what, hearth_headless_error(host_->handle));
    }

    /// Creates a buffer for each binding, and fills the inputs.
    bool bind(const hearth_entry_info& entry, const std::vector<float>& inputs, int64_t batch_size,
              std::vector<Tensor>& tensors) {
        size_t used = 0;
        for (uint32_t i = 0; i < entry.binding_count; ++i) {
            hearth_binding_info info = hearth_binding_info_default();
            hearth_program_get_binding(program_, entry.bindings[i], &info);
            if (info.device_dtype != HEARTH_F32 && info.device_dtype != HEARTH_I32)
                return fail(info.name, "expected f32 or i32, which arrays of floats can hold");
            const uint64_t bytes =
                info.bytes_fixed + info.bytes_per_item * static_cast<uint64_t>(batch_size);
            hearth_headless_buffer& buffer = buffers_[entry.bindings[i]];
            if (buffer.bytes < bytes || buffer.buffer == VK_NULL_HANDLE) {
                if (buffer.buffer != VK_NULL_HANDLE)
                    hearth_headless_buffer_destroy(host_->handle, &buffer);
                buffer = {};
                if (hearth_headless_buffer_create(host_->handle, std::max<uint64_t>(bytes, 16),
                                                  HEARTH_HEADLESS_READBACK, &buffer) != HEARTH_OK)
                    return fail(info.name, hearth_headless_error(host_->handle));
            }
            Tensor t{hearth_bind_buffer(entry.bindings[i], buffer.buffer, 0, bytes, buffer.usage),
                     info.device_dtype, info.is_output != 0, buffer.data, bytes / 4};
            t.binding.release_scope =
                hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
            if (!t.is_output) {
                if (!write(t, info.name, inputs, used)) return false;
                used += static_cast<size_t>(t.count);
            }
            tensors.push_back(t);
        }
        if (used == inputs.size()) return true;
        return fail("inputs", ("the entry takes " + std::to_string(used) + " values, found " +
                               std::to_string(inputs.size()))
                                  .c_str());
    }

    /// Fills an input from inputs[first] on. A value that is not finite would stay in the weights
    /// of a network that learns from it.
    bool write(const Tensor& t, const char* name, const std::vector<float>& inputs, size_t first) {
        if (inputs.size() - first < t.count)
            return fail(name, ("expected " + std::to_string(t.count) + " values, found " +
                               std::to_string(inputs.size() - first))
                                  .c_str());
        const float* const values = inputs.data() + first;
        for (uint64_t i = 0; i < t.count; ++i) {
            if (!std::isfinite(values[i]))
                return fail(name, ("value " + std::to_string(i) + " is " +
                                   std::to_string(values[i]) + ", expected a finite number")
                                      .c_str());
            if (t.dtype == HEARTH_F32)
                static_cast<float*>(t.data)[i] = values[i];
            else
                static_cast<int32_t*>(t.data)[i] = static_cast<int32_t>(values[i]);
        }
        return true;
    }

    static void read(const Tensor& t, std::vector<float>& values) {
        for (uint64_t i = 0; i < t.count; ++i)
            values.push_back(t.dtype == HEARTH_F32
                                 ? static_cast<const float*>(t.data)[i]
                                 : static_cast<float>(static_cast<const int32_t*>(t.data)[i]));
    }

    void close() {
        error_.clear();
        if (host_ == nullptr) return;
        const std::shared_ptr<Host> host = std::move(host_);
        const std::lock_guard lock(host->mutex);
        if (session_ != nullptr) hearth_session_destroy(session_);
        if (program_ != nullptr) hearth_program_destroy(program_);
        for (const auto& [binding, buffer] : buffers_)
            if (buffer.buffer != VK_NULL_HANDLE)
                hearth_headless_buffer_destroy(host->handle, &buffer);
        buffers_.clear();
        session_ = nullptr;
        program_ = nullptr;
    }

    std::shared_ptr<Host> host_;
    hearth_program* program_ = nullptr;
    hearth_session* session_ = nullptr;
    bool needs_initialize_ = false;
    std::map<uint32_t, hearth_headless_buffer> buffers_;
    std::string error_;
};

// --- Godot binding
// --------------------------------------------------------------------------------

constexpr char kClass[] = "HearthNetwork", kParent[] = "RefCounted";
// Hashes of methods, from Godot's extension_api.json; all packed arrays have the same.
constexpr GDExtensionInt kHashOfSize = 3173160232, kHashOfResize = 848867239,
                         kHashOfGetFileAsBytes = 659035735;

/// Storage for any Godot value; the largest is a Variant of a double-precision build.
struct alignas(8) Storage {
    unsigned char bytes[40];
};

GDExtensionClassLibraryPtr library = nullptr;
GDExtensionInterfaceStringNameNewWithLatin1Chars new_name = nullptr;
GDExtensionInterfaceStringNewWithUtf8Chars new_string = nullptr;
GDExtensionInterfaceStringToUtf8Chars to_utf8 = nullptr;
GDExtensionInterfacePackedFloat32ArrayOperatorIndex float_at = nullptr;
GDExtensionInterfacePackedFloat32ArrayOperatorIndexConst float_at_const = nullptr;
GDExtensionInterfacePackedByteArrayOperatorIndex byte_at = nullptr;
GDExtensionInterfacePackedByteArrayOperatorIndexConst byte_at_const = nullptr;
GDExtensionInterfaceClassdbGetMethodBind find_class_method = nullptr;
GDExtensionInterfaceObjectMethodBindPtrcall call_class_method = nullptr;
GDExtensionInterfaceVariantGetPtrBuiltinMethod find_method = nullptr;
GDExtensionInterfaceVariantGetPtrConstructor find_constructor = nullptr;
GDExtensionInterfaceVariantGetPtrDestructor find_destructor = nullptr;
GDExtensionInterfaceGetVariantToTypeConstructor find_from_variant = nullptr;
GDExtensionInterfaceGetVariantFromTypeConstructor find_to_variant = nullptr;
GDExtensionInterfaceVariantGetType type_of = nullptr;
GDExtensionInterfaceClassdbConstructObject construct = nullptr;
GDExtensionInterfaceObjectSetInstance set_instance = nullptr;
GDExtensionInterfaceClassdbRegisterExtensionClass2 register_class = nullptr;
GDExtensionInterfaceClassdbRegisterExtensionClassMethod register_method = nullptr;
GDExtensionInterfaceClassdbUnregisterExtensionClass unregister_class = nullptr;
/// Methods of a kind of packed array.
struct ArrayMethods {
    GDExtensionPtrBuiltInMethod size = nullptr, resize = nullptr;
};
ArrayMethods float_array, byte_array;
GDExtensionMethodBindPtr get_file_as_bytes = nullptr;

void destroy(GDExtensionVariantType type, Storage& value) {
    if (const GDExtensionPtrDestructor destructor = find_destructor(type)) destructor(&value);
}

/// Owns a StringName.
class Name {
  public:
    explicit Name(const char* text) { new_name(&storage_, text, 0); }
    ~Name() { destroy(GDEXTENSION_VARIANT_TYPE_STRING_NAME, storage_); }
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;
    void* get() { return &storage_; }

  private:
    Storage storage_{};
};

std::string text_of(GDExtensionConstTypePtr string) {
    const GDExtensionInt size = to_utf8(string, nullptr, 0);
    std::string text(static_cast<size_t>(size), '\0');
    to_utf8(string, text.data(), size);
    return text;
}

template <class T, class At>
std::vector<T> values_of(GDExtensionConstTypePtr array, const ArrayMethods& methods, At at) {
    int64_t size = 0;
    methods.size(const_cast<void*>(array), nullptr, &size, 0);
    std::vector<T> values(static_cast<size_t>(size));
    if (size > 0) std::copy_n(at(array, 0), size, values.data());
    return values;
}
std::vector<float> floats_of(GDExtensionConstTypePtr array) {
    return values_of<float>(array, float_array, float_at_const);
}
Bytes bytes_of(GDExtensionConstTypePtr array) {
    return values_of<uint8_t>(array, byte_array, byte_at_const);
}

template <class T, class At>
void give(const std::vector<T>& values, GDExtensionTypePtr array, const ArrayMethods& methods,
          At at) {
    const int64_t size = static_cast<int64_t>(values.size());
    int64_t ignored = 0;
    const GDExtensionConstTypePtr arguments[] = {&size};
    methods.resize(array, arguments, &ignored, 1);
    if (size > 0) std::copy(values.begin(), values.end(), at(array, 0));
}
void give(const std::vector<float>& values, GDExtensionTypePtr array) {
    give(values, array, float_array, float_at);
}
void give(const Bytes& bytes, GDExtensionTypePtr array) {
    give(bytes, array, byte_array, byte_at);
}

/// Reads a file of res:// or user://, which need not be one of the operating system. `path` is a
/// String; empty if there is no such file.
Bytes read_file(GDExtensionConstTypePtr path) {
    Storage read{};
    find_constructor(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, 0)(&read, nullptr);
    const GDExtensionConstTypePtr arguments[] = {path};
    call_class_method(get_file_as_bytes, nullptr, arguments, &read);
    Bytes bytes = bytes_of(&read);
    destroy(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, read);
    return bytes;
}

void give(const std::string& text, GDExtensionTypePtr string) {
    if (const GDExtensionPtrDestructor destructor =
            find_destructor(GDEXTENSION_VARIANT_TYPE_STRING))
        destructor(string);
    new_string(string, text.c_str());
}

/// A method for Godot's ptrcall: pointers to typed values; `result` is already constructed.
struct Method {
    const char* name;
    std::vector<std::pair<const char*, GDExtensionVariantType>> arguments;
    GDExtensionVariantType result;
    void (*run)(Network& network, const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr out);
};

Method methods[] = {
    {"open",
     {{"path", GDEXTENSION_VARIANT_TYPE_STRING}, {"device", GDEXTENSION_VARIANT_TYPE_STRING}},
     GDEXTENSION_VARIANT_TYPE_BOOL,
     [](Network& network, const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr out) {
         *static_cast<GDExtensionBool*>(out) =
             network.open(text_of(arguments[0]), read_file(arguments[0]), text_of(arguments[1]));
     }},
    {"run",
     {{"entry", GDEXTENSION_VARIANT_TYPE_STRING},
      {"inputs", GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY},
      {"batch_size", GDEXTENSION_VARIANT_TYPE_INT}},
     GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY,
     [](Network& network, const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr out) {
         give(network.run(text_of(arguments[0]), floats_of(arguments[1]),
                          *static_cast<const int64_t*>(arguments[2])),
              out);
     }},
    {"save",
     {},
     GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY,
     [](Network& network, const GDExtensionConstTypePtr*, GDExtensionTypePtr out) {
         give(network.save(), out);
     }},
    {"load",
     {{"brain", GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY}},
     GDEXTENSION_VARIANT_TYPE_BOOL,
     [](Network& network, const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr out) {
         *static_cast<GDExtensionBool*>(out) = network.load(bytes_of(arguments[0]));
     }},
    {"reset",
     {},
     GDEXTENSION_VARIANT_TYPE_BOOL,
     [](Network& network, const GDExtensionConstTypePtr*, GDExtensionTypePtr out) {
         *static_cast<GDExtensionBool*>(out) = network.reset();
     }},
    {"error",
     {},
     GDEXTENSION_VARIANT_TYPE_STRING,
     [](Network& network, const GDExtensionConstTypePtr*, GDExtensionTypePtr out) {
         give(network.error(), out);
     }},
};

void call_fast(void* method, GDExtensionClassInstancePtr network,
               const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr out) {
    static_cast<Method*>(method)->run(*static_cast<Network*>(network), arguments, out);
}

/// Calls with Variants, for untyped scripts.
void call(void* data, GDExtensionClassInstancePtr network,
          const GDExtensionConstVariantPtr* arguments, GDExtensionInt count,
          GDExtensionVariantPtr out, GDExtensionCallError* error) {
    const Method& method = *static_cast<Method*>(data);
    const auto expected = static_cast<GDExtensionInt>(method.arguments.size());
    *error = {GDEXTENSION_CALL_OK, 0, 0};
    if (count != expected)
        *error = {count < expected ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS
                                   : GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS,
                  0, static_cast<int32_t>(expected)};
    for (GDExtensionInt i = 0; i < std::min(count, expected); ++i)
        if (const GDExtensionVariantType type = method.arguments[static_cast<size_t>(i)].second;
            type_of(arguments[i]) != type)
            *error = {GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT, static_cast<int32_t>(i), type};
    if (error->error != GDEXTENSION_CALL_OK) return;

    std::vector<Storage> values(method.arguments.size());
    std::vector<GDExtensionConstTypePtr> pointers;
    for (size_t i = 0; i < values.size(); ++i) {
        find_from_variant(method.arguments[i].second)(&values[i], const_cast<void*>(arguments[i]));
        pointers.push_back(&values[i]);
    }
    Storage result{};
    find_constructor(method.result, 0)(&result, nullptr);
    method.run(*static_cast<Network*>(network), pointers.data(), &result);
    find_to_variant(method.result)(out, &result);
    destroy(method.result, result);
    for (size_t i = 0; i < values.size(); ++i) destroy(method.arguments[i].second, values[i]);
}

GDExtensionObjectPtr create(void*) {
    Name parent(kParent), name(kClass);
    const GDExtensionObjectPtr object = construct(parent.get());
    set_instance(object, name.get(), new Network);
    return object;
}

void destroy_instance(void*, GDExtensionClassInstancePtr network) {
    delete static_cast<Network*>(network);
}

void add(Method& method) {
    Name class_name(kClass), name(method.name), no_class("");
    Storage no_hint{};
    new_string(&no_hint, "");
    const auto property = [&](GDExtensionVariantType type, void* of) {
        return GDExtensionPropertyInfo{type, of, no_class.get(), 0, &no_hint, 6};  // usage: default
    };
    std::vector<Storage> names(method.arguments.size());
    std::vector<GDExtensionPropertyInfo> arguments;
    for (size_t i = 0; i < names.size(); ++i) {
        new_name(&names[i], method.arguments[i].first, 0);
        arguments.push_back(property(method.arguments[i].second, &names[i]));
    }
    std::vector<GDExtensionClassMethodArgumentMetadata> metadata(
        names.size(), GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE);
    GDExtensionPropertyInfo result = property(method.result, no_class.get());
    GDExtensionClassMethodInfo info{};
    info.name = name.get();
    info.method_userdata = &method;
    info.call_func = &call;
    info.ptrcall_func = &call_fast;
    info.method_flags = GDEXTENSION_METHOD_FLAGS_DEFAULT;
    info.has_return_value = 1;
    info.return_value_info = &result;
    info.argument_count = static_cast<uint32_t>(arguments.size());
    info.arguments_info = arguments.data();
    info.arguments_metadata = metadata.data();
    register_method(library, class_name.get(), &info);
    for (Storage& s : names) destroy(GDEXTENSION_VARIANT_TYPE_STRING_NAME, s);
    destroy(GDEXTENSION_VARIANT_TYPE_STRING, no_hint);
}

bool find_methods(GDExtensionVariantType type, ArrayMethods& methods_of_type) {
    Name size("size"), resize("resize");
    methods_of_type = {find_method(type, size.get(), kHashOfSize),
                       find_method(type, resize.get(), kHashOfResize)};
    return methods_of_type.size != nullptr && methods_of_type.resize != nullptr;
}

bool is_registered = false;

void initialize(void*, GDExtensionInitializationLevel level) {
    if (level != GDEXTENSION_INITIALIZATION_SCENE) return;
    Name name(kClass), parent(kParent), file_access("FileAccess"), read("get_file_as_bytes");
    get_file_as_bytes = find_class_method(file_access.get(), read.get(), kHashOfGetFileAsBytes);
    is_registered = find_methods(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, float_array) &&
                    find_methods(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, byte_array) &&
                    get_file_as_bytes != nullptr;
    if (!is_registered) return;  // other Godot version
    GDExtensionClassCreationInfo2 info{};
    info.is_exposed = 1;
    info.create_instance_func = &create;
    info.free_instance_func = &destroy_instance;
    register_class(library, name.get(), parent.get(), &info);
    for (Method& method : methods) add(method);
}

void deinitialize(void*, GDExtensionInitializationLevel level) {
    if (level != GDEXTENSION_INITIALIZATION_SCENE || !is_registered) return;
    Name name(kClass);
    unregister_class(library, name.get());
    hosts.clear();
}

template <class Function>
bool load(GDExtensionInterfaceGetProcAddress get, const char* name, Function& function) {
    function = reinterpret_cast<Function>(get(name));
    return function != nullptr;
}

}  // namespace

#if defined(_WIN32)
#define HEARTH_GODOT_EXPORT __declspec(dllexport)
#else
#define HEARTH_GODOT_EXPORT __attribute__((visibility("default")))
#endif

/// The entry_symbol of hearth.gdextension. Returns false if Godot lacks a function of 4.2.
extern "C" HEARTH_GODOT_EXPORT GDExtensionBool
hearth_godot_init(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr of,
                  GDExtensionInitialization* out) {
    library = of;
    out->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
    out->userdata = nullptr;
    out->initialize = &initialize;
    out->deinitialize = &deinitialize;
    return load(get, "string_name_new_with_latin1_chars", new_name) &&
           load(get, "string_new_with_utf8_chars", new_string) &&
           load(get, "string_to_utf8_chars", to_utf8) &&
           load(get, "packed_float32_array_operator_index", float_at) &&
           load(get, "packed_float32_array_operator_index_const", float_at_const) &&
           load(get, "packed_byte_array_operator_index", byte_at) &&
           load(get, "packed_byte_array_operator_index_const", byte_at_const) &&
           load(get, "classdb_get_method_bind", find_class_method) &&
           load(get, "object_method_bind_ptrcall", call_class_method) &&
           load(get, "variant_get_ptr_builtin_method", find_method) &&
           load(get, "variant_get_ptr_constructor", find_constructor) &&
           load(get, "variant_get_ptr_destructor", find_destructor) &&
           load(get, "get_variant_to_type_constructor", find_from_variant) &&
           load(get, "get_variant_from_type_constructor", find_to_variant) &&
           load(get, "variant_get_type", type_of) &&
           load(get, "classdb_construct_object", construct) &&
           load(get, "object_set_instance", set_instance) &&
           load(get, "classdb_register_extension_class2", register_class) &&
           load(get, "classdb_register_extension_class_method", register_method) &&
           load(get, "classdb_unregister_extension_class", unregister_class);
}
