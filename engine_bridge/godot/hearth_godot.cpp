// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth as an extension for Godot 4 (GDExtension, 4.2 and later): the class HearthNetwork, a
// RefCounted. Compiled against Godot's gdextension_interface.h only, linked with libhearth.
//
//     HearthNetwork.open(path: String, device: String) -> bool    "": the best GPU; "cpu": the CPU
//     HearthNetwork.run(entry: String, inputs: PackedFloat32Array, batch_size: int)
//         -> PackedFloat32Array
//     HearthNetwork.error() -> String
//
// An extension has access neither to the features of the renderer's device nor to its command
// buffers, so the network has a device of its own, and tensors are passed as arrays: `inputs`
// concatenates all inputs of the entry in the order of `hearth info`; outputs likewise. Learning
// entries run like acting ones. run() waits for the device: call it for work that fits a frame, or
// from a thread. One thread at a time per HearthNetwork.

#include <vulkan/vulkan.h>
// Headers that use Vulkan's types follow.
#include <gdextension_interface.h>
#include <hearth_workbench.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

// --- A network, independent of Godot
// --------------------------------------------------------------

class Network {
  public:
    ~Network() { close(); }

    bool open(const std::string& path, const std::string& device) {
        close();
        hearth_messages messages{};
        if (hearth_headless_create(device.c_str(), 0, &host_, &messages) != HEARTH_OK)
            return fail("device", messages.text);
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.empty()) return fail(path, "no such file, or an empty one");
        hearth_context* const context = hearth_headless_context(host_);
        if (!load(context, bytes)) return fail(path, hearth_headless_error(host_));
        hearth_session_create_info create = hearth_session_create_info_default();
        create.program = program_;
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
        if (session_ == nullptr) return fail("run", "call open() first"), outputs;
        if (batch_size < 1) return fail("batch_size", "expected at least 1"), outputs;
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
        if (hearth_headless_begin(host_, &record.command_buffer) != HEARTH_OK)
            return fail("begin", hearth_headless_error(host_)), outputs;
        if ((needs_initialize_ &&
             hearth_record_initialize(session_, record.command_buffer) != HEARTH_OK) ||
            hearth_record(session_, &record, nullptr) != HEARTH_OK) {
            fail(name, hearth_session_error(session_));
            hearth_headless_discard(host_);
            return outputs;
        }
        if (hearth_headless_submit(host_) != HEARTH_OK)
            return fail("submit", hearth_headless_error(host_)), outputs;
        needs_initialize_ = false;
        for (const Tensor& t : tensors)
            if (t.is_output) read(t, outputs);
        return outputs;
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

    bool load(hearth_context* context, const std::string& bytes) {
        // Packages must be 8-byte aligned.
        std::vector<uint64_t> aligned((bytes.size() + 7) / 8);
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
        if (hearth_headless_load_package(host_, aligned.data(), bytes.size(), nullptr, 0,
                                         &program_) == HEARTH_OK)
            return true;
        // Also accepts a single program, as shipped by games for one device.
        hearth_program_load_info program = hearth_program_load_info_default();
        program.bytes = aligned.data();
        program.byte_count = bytes.size();
        return hearth_program_load(context, &program, &program_) == HEARTH_OK;
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
                if (buffer.buffer != VK_NULL_HANDLE) hearth_headless_buffer_destroy(host_, &buffer);
                buffer = {};
                if (hearth_headless_buffer_create(host_, std::max<uint64_t>(bytes, 16),
                                                  HEARTH_HEADLESS_READBACK, &buffer) != HEARTH_OK)
                    return fail(info.name, hearth_headless_error(host_));
            }
            Tensor t{hearth_bind_buffer(entry.bindings[i], buffer.buffer, 0, bytes, buffer.usage),
                     info.device_dtype, info.is_output != 0, buffer.data, bytes / 4};
            t.binding.release_scope =
                hearth_make_sync_scope(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
            if (!t.is_output) {
                if (inputs.size() - used < t.count)
                    return fail(info.name,
                                ("expected " + std::to_string(t.count) + " values, found " +
                                 std::to_string(inputs.size() - used))
                                    .c_str());
                write(t, inputs.data() + used);
                used += static_cast<size_t>(t.count);
            }
            tensors.push_back(t);
        }
        if (used == inputs.size()) return true;
        return fail("inputs", ("the entry takes " + std::to_string(used) + " values, found " +
                               std::to_string(inputs.size()))
                                  .c_str());
    }

    static void write(const Tensor& t, const float* values) {
        if (t.dtype == HEARTH_F32) {
            std::copy_n(values, t.count, static_cast<float*>(t.data));
            return;
        }
        for (uint64_t i = 0; i < t.count; ++i)
            static_cast<int32_t*>(t.data)[i] = static_cast<int32_t>(values[i]);
    }

    static void read(const Tensor& t, std::vector<float>& values) {
        for (uint64_t i = 0; i < t.count; ++i)
            values.push_back(t.dtype == HEARTH_F32
                                 ? static_cast<const float*>(t.data)[i]
                                 : static_cast<float>(static_cast<const int32_t*>(t.data)[i]));
    }

    void close() {
        if (session_ != nullptr) hearth_session_destroy(session_);
        if (program_ != nullptr) hearth_program_destroy(program_);
        hearth_headless_destroy(host_);  // and its buffers
        buffers_.clear();
        session_ = nullptr;
        program_ = nullptr;
        host_ = nullptr;
        error_.clear();
    }

    hearth_headless* host_ = nullptr;
    hearth_program* program_ = nullptr;
    hearth_session* session_ = nullptr;
    bool needs_initialize_ = false;
    std::map<uint32_t, hearth_headless_buffer> buffers_;
    std::string error_;
};

// --- Godot binding
// --------------------------------------------------------------------------------

constexpr char kClass[] = "HearthNetwork", kParent[] = "RefCounted";
// Hashes of builtin methods, from Godot's extension_api.json.
constexpr GDExtensionInt kHashOfSize = 3173160232, kHashOfResize = 848867239;

/// Storage for any Godot value; the largest is a Variant of a double-precision build.
struct alignas(8) Storage {
    unsigned char bytes[40];
};

GDExtensionClassLibraryPtr library = nullptr;
GDExtensionInterfaceStringNameNewWithLatin1Chars new_name = nullptr;
GDExtensionInterfaceStringNewWithUtf8Chars new_string = nullptr;
GDExtensionInterfaceStringToUtf8Chars to_utf8 = nullptr;
GDExtensionInterfacePackedFloat32ArrayOperatorIndex at = nullptr;
GDExtensionInterfacePackedFloat32ArrayOperatorIndexConst at_const = nullptr;
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
GDExtensionPtrBuiltInMethod size_of_array = nullptr, resize_array = nullptr;

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

std::vector<float> floats_of(GDExtensionConstTypePtr array) {
    int64_t size = 0;
    size_of_array(const_cast<void*>(array), nullptr, &size, 0);
    std::vector<float> values(static_cast<size_t>(size));
    if (size > 0) std::copy_n(at_const(array, 0), size, values.data());
    return values;
}

void give(const std::vector<float>& values, GDExtensionTypePtr array) {
    const int64_t size = static_cast<int64_t>(values.size());
    int64_t ignored = 0;
    const GDExtensionConstTypePtr arguments[] = {&size};
    resize_array(array, arguments, &ignored, 1);
    if (size > 0) std::copy(values.begin(), values.end(), at(array, 0));
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
             network.open(text_of(arguments[0]), text_of(arguments[1]));
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

void initialize(void*, GDExtensionInitializationLevel level) {
    if (level != GDEXTENSION_INITIALIZATION_SCENE) return;
    Name name(kClass), parent(kParent), size("size"), resize("resize");
    size_of_array =
        find_method(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, size.get(), kHashOfSize);
    resize_array =
        find_method(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, resize.get(), kHashOfResize);
    if (size_of_array == nullptr || resize_array == nullptr) return;  // other Godot version
    GDExtensionClassCreationInfo2 info{};
    info.is_exposed = 1;
    info.create_instance_func = &create;
    info.free_instance_func = &destroy_instance;
    register_class(library, name.get(), parent.get(), &info);
    for (Method& method : methods) add(method);
}

void deinitialize(void*, GDExtensionInitializationLevel level) {
    if (level != GDEXTENSION_INITIALIZATION_SCENE || resize_array == nullptr) return;
    Name name(kClass);
    unregister_class(library, name.get());
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
           load(get, "packed_float32_array_operator_index", at) &&
           load(get, "packed_float32_array_operator_index_const", at_const) &&
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
