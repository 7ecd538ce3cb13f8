// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stands in for Godot to test engine_bridge/godot: has its own strings, arrays and Variants, lets
// the extension register its class, creates an instance and calls its methods as typed and as
// untyped scripts do: godot_host PROGRAM.  The program is the file res://game.hearth, which the
// operating system does not know, as in an exported game.  Prints the results, and the number of
// values that are left at the end.

#include <dlfcn.h>
#include <gdextension_interface.h>
#include <hearth_workbench.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern "C" GDExtensionBool hearth_godot_init(GDExtensionInterfaceGetProcAddress get,
                                             GDExtensionClassLibraryPtr library,
                                             GDExtensionInitialization* out);

namespace {

int devices = 0;
bool is_lost = false;  // by the next submission

/// libhearth's function of this name, which one of this host stands in front of.
template <class Function>
Function* next(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

/// Counts the devices that the extension creates, in place of libhearth's function, which it calls.
extern "C" __attribute__((visibility("default"))) hearth_result hearth_headless_create(
    const char* device, hearth_headless_flags flags, hearth_headless** out,
    hearth_messages* messages) {
    ++devices;
    return next(hearth_headless_create, "hearth_headless_create")(device, flags, out, messages);
}

/// Loses the device on request.
extern "C" __attribute__((visibility("default"))) hearth_result hearth_headless_submit(
    hearth_headless* host) {
    if (!is_lost) return next(hearth_headless_submit, "hearth_headless_submit")(host);
    is_lost = false;
    hearth_headless_discard(host);
    return HEARTH_ERROR_DEVICE_LOST;
}

namespace {

void must(bool is_so, const std::string& what) {
    if (is_so) return;
    std::printf("failed: %s\n", what.c_str());
    std::exit(1);
}

// --- Values: stored as pointers, except BOOL and INT --------------------------------------------

using Array = std::vector<float>;
using Bytes = std::vector<uint8_t>;
std::atomic<int> live = 0;  // strings, names and arrays

template <class T>
void make(void* storage, T value) {
    ++live;
    T* const made = new T(std::move(value));
    std::memcpy(storage, &made, sizeof made);
}

template <class T>
T& of(const void* storage) {
    T* held = nullptr;
    std::memcpy(&held, storage, sizeof held);
    return *held;
}

template <class T>
void drop(void* storage) {
    --live;
    delete &of<T>(storage);
}

struct Variant {
    GDExtensionVariantType type = GDEXTENSION_VARIANT_TYPE_NIL;
    int64_t number = 0;
    std::string text;
    Array array;
    Bytes bytes;
};

Variant variant(const char* text) {
    Variant v;
    v.type = GDEXTENSION_VARIANT_TYPE_STRING;
    v.text = text;
    return v;
}
Variant variant(Array array) {
    Variant v;
    v.type = GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY;
    v.array = std::move(array);
    return v;
}
Variant variant(Bytes bytes) {
    Variant v;
    v.type = GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY;
    v.bytes = std::move(bytes);
    return v;
}
Variant variant(int64_t number) {
    Variant v;
    v.type = GDEXTENSION_VARIANT_TYPE_INT;
    v.number = number;
    return v;
}

void type_from_variant_string(void* out, void* v) {
    make(out, static_cast<Variant*>(v)->text);
}
void type_from_variant_array(void* out, void* v) {
    make(out, static_cast<Variant*>(v)->array);
}
void type_from_variant_bytes(void* out, void* v) {
    make(out, static_cast<Variant*>(v)->bytes);
}
void type_from_variant_int(void* out, void* v) {
    *static_cast<int64_t*>(out) = static_cast<Variant*>(v)->number;
}
void variant_from_string(void* out, void* value) {
    *static_cast<Variant*>(out) = variant(of<std::string>(value).c_str());
}
void variant_from_array(void* out, void* value) {
    *static_cast<Variant*>(out) = variant(of<Array>(value));
}
void variant_from_bytes(void* out, void* value) {
    *static_cast<Variant*>(out) = variant(of<Bytes>(value));
}
void variant_from_bool(void* out, void* value) {
    auto* const v = static_cast<Variant*>(out);
    v->type = GDEXTENSION_VARIANT_TYPE_BOOL;
    v->number = *static_cast<GDExtensionBool*>(value);
}

// --- Files of the game ---------------------------------------------------------------------------

std::map<std::string, Bytes> files;

Bytes get_file_as_bytes(const std::string& path) {
    const auto found = files.find(path);
    return found != files.end() ? found->second : Bytes{};
}

// --- The class database --------------------------------------------------------------------------

GDExtensionClassCreationInfo2 made{};
std::string class_name, parent_name;
std::map<std::string, GDExtensionClassMethodInfo> methods;
std::map<std::string, std::vector<std::string>> argument_names;
struct Object {
    void* instance = nullptr;
};

template <class Function>
GDExtensionInterfaceFunctionPtr give(Function function) {
    return reinterpret_cast<GDExtensionInterfaceFunctionPtr>(function);
}

template <class Values>
GDExtensionPtrBuiltInMethod array_method(const std::string& name, GDExtensionInt hash) {
    if (name == "size" && hash == 3173160232)
        return [](void* a, const void* const*, void* out, auto) {
            *static_cast<int64_t*>(out) = static_cast<int64_t>(of<Values>(a).size());
        };
    if (name == "resize" && hash == 848867239)
        return [](void* a, const void* const* arguments, void*, auto) {
            of<Values>(a).resize(static_cast<size_t>(*static_cast<const int64_t*>(arguments[0])));
        };
    return nullptr;
}

GDExtensionInterfaceFunctionPtr find(const char* name) {
    const std::string wanted = name;
    if (wanted == "string_name_new_with_latin1_chars")
        return give(GDExtensionInterfaceStringNameNewWithLatin1Chars(
            [](void* out, const char* text, GDExtensionBool) { make(out, std::string(text)); }));
    if (wanted == "string_new_with_utf8_chars")
        return give(GDExtensionInterfaceStringNewWithUtf8Chars(
            [](void* out, const char* text) { make(out, std::string(text)); }));
    if (wanted == "string_to_utf8_chars")
        return give(GDExtensionInterfaceStringToUtf8Chars(
            [](const void* s, char* out, GDExtensionInt most) -> GDExtensionInt {
                const auto& text = of<std::string>(s);
                if (out != nullptr)
                    std::memcpy(out, text.data(), std::min(text.size(), static_cast<size_t>(most)));
                return static_cast<GDExtensionInt>(text.size());
            }));
    if (wanted == "packed_float32_array_operator_index")
        return give(GDExtensionInterfacePackedFloat32ArrayOperatorIndex(
            [](void* a, GDExtensionInt i) { return &of<Array>(a).at(static_cast<size_t>(i)); }));
    if (wanted == "packed_float32_array_operator_index_const")
        return give(GDExtensionInterfacePackedFloat32ArrayOperatorIndexConst(
            [](const void* a, GDExtensionInt i) -> const float* {
                return &of<Array>(a).at(static_cast<size_t>(i));
            }));
    if (wanted == "packed_byte_array_operator_index")
        return give(GDExtensionInterfacePackedByteArrayOperatorIndex(
            [](void* a, GDExtensionInt i) { return &of<Bytes>(a).at(static_cast<size_t>(i)); }));
    if (wanted == "packed_byte_array_operator_index_const")
        return give(GDExtensionInterfacePackedByteArrayOperatorIndexConst(
            [](const void* a, GDExtensionInt i) -> const uint8_t* {
                return &of<Bytes>(a).at(static_cast<size_t>(i));
            }));
    if (wanted == "classdb_get_method_bind")
        return give(GDExtensionInterfaceClassdbGetMethodBind(
            [](const void* of_class, const void* method, GDExtensionInt hash) -> const void* {
                must(of<std::string>(of_class) == "FileAccess" && hash == 659035735,
                     "a method of FileAccess");
                return of<std::string>(method) == "get_file_as_bytes" ? &files : nullptr;
            }));
    if (wanted == "object_method_bind_ptrcall")
        return give(GDExtensionInterfaceObjectMethodBindPtrcall(
            [](const void* method, void* object, const void* const* arguments, void* out) {
                must(method == &files && object == nullptr, "a static method");
                of<Bytes>(out) = get_file_as_bytes(of<std::string>(arguments[0]));
            }));
    if (wanted == "variant_get_ptr_builtin_method")
        return give(GDExtensionInterfaceVariantGetPtrBuiltinMethod(
            [](GDExtensionVariantType type, const void* method,
               GDExtensionInt hash) -> GDExtensionPtrBuiltInMethod {
                must(type == GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY ||
                         type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY,
                     "methods of arrays");
                return type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY
                           ? array_method<Bytes>(of<std::string>(method), hash)
                           : array_method<Array>(of<std::string>(method), hash);
            }));
    if (wanted == "variant_get_ptr_constructor")
        return give(GDExtensionInterfaceVariantGetPtrConstructor(
            [](GDExtensionVariantType type, int32_t) -> GDExtensionPtrConstructor {
                if (type == GDEXTENSION_VARIANT_TYPE_BOOL)
                    return [](void* out, const void* const*) {
                        *static_cast<GDExtensionBool*>(out) = 0;
                    };
                if (type == GDEXTENSION_VARIANT_TYPE_STRING)
                    return [](void* out, const void* const*) { make(out, std::string()); };
                if (type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY)
                    return [](void* out, const void* const*) { make(out, Bytes()); };
                return [](void* out, const void* const*) { make(out, Array()); };
            }));
    if (wanted == "variant_get_ptr_destructor")
        return give(GDExtensionInterfaceVariantGetPtrDestructor(
            [](GDExtensionVariantType type) -> GDExtensionPtrDestructor {
                if (type == GDEXTENSION_VARIANT_TYPE_STRING ||
                    type == GDEXTENSION_VARIANT_TYPE_STRING_NAME)
                    return &drop<std::string>;
                if (type == GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY) return &drop<Array>;
                if (type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY) return &drop<Bytes>;
                return nullptr;  // as Godot has none for BOOL and INT
            }));
    if (wanted == "get_variant_to_type_constructor")
        return give(GDExtensionInterfaceGetVariantToTypeConstructor(
            [](GDExtensionVariantType type) -> GDExtensionTypeFromVariantConstructorFunc {
                if (type == GDEXTENSION_VARIANT_TYPE_STRING) return &type_from_variant_string;
                if (type == GDEXTENSION_VARIANT_TYPE_INT) return &type_from_variant_int;
                if (type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY)
                    return &type_from_variant_bytes;
                return &type_from_variant_array;
            }));
    if (wanted == "get_variant_from_type_constructor")
        return give(GDExtensionInterfaceGetVariantFromTypeConstructor(
            [](GDExtensionVariantType type) -> GDExtensionVariantFromTypeConstructorFunc {
                if (type == GDEXTENSION_VARIANT_TYPE_STRING) return &variant_from_string;
                if (type == GDEXTENSION_VARIANT_TYPE_BOOL) return &variant_from_bool;
                if (type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY) return &variant_from_bytes;
                return &variant_from_array;
            }));
    if (wanted == "variant_get_type")
        return give(GDExtensionInterfaceVariantGetType(
            [](const void* v) { return static_cast<const Variant*>(v)->type; }));
    if (wanted == "classdb_construct_object")
        return give(GDExtensionInterfaceClassdbConstructObject([](const void* of_class) -> void* {
            must(of<std::string>(of_class) == "RefCounted", "an object of its parent");
            return new Object;
        }));
    if (wanted == "object_set_instance")
        return give(GDExtensionInterfaceObjectSetInstance(
            [](void* object, const void* of_class, void* instance) {
                must(of<std::string>(of_class) == class_name, "an instance of its class");
                static_cast<Object*>(object)->instance = instance;
            }));
    if (wanted == "classdb_register_extension_class2")
        return give(GDExtensionInterfaceClassdbRegisterExtensionClass2(
            [](void*, const void* own, const void* parent,
               const GDExtensionClassCreationInfo2* info) {
                class_name = of<std::string>(own);
                parent_name = of<std::string>(parent);
                made = *info;
            }));
    if (wanted == "classdb_register_extension_class_method")
        return give(GDExtensionInterfaceClassdbRegisterExtensionClassMethod(
            [](void*, const void* of_class, const GDExtensionClassMethodInfo* info) {
                must(of<std::string>(of_class) == class_name, "a method of its class");
                const std::string method = of<std::string>(info->name);
                methods[method] = *info;
                for (uint32_t i = 0; i < info->argument_count; ++i)
                    argument_names[method].push_back(of<std::string>(info->arguments_info[i].name));
            }));
    if (wanted == "classdb_unregister_extension_class")
        return give(GDExtensionInterfaceClassdbUnregisterExtensionClass([](void*, const void* own) {
            must(of<std::string>(own) == class_name, "its own class");
            methods.clear();
        }));
    return nullptr;
}

/// Calls a method as an untyped script does.
Variant call(void* instance, const char* method, std::vector<Variant> arguments,
             GDExtensionCallErrorType expected = GDEXTENSION_CALL_OK) {
    std::vector<const void*> pointers;
    for (const Variant& v : arguments) pointers.push_back(&v);
    Variant out;
    GDExtensionCallError error{};
    const GDExtensionClassMethodInfo& info = methods.at(method);
    info.call_func(info.method_userdata, instance, pointers.data(),
                   static_cast<GDExtensionInt>(pointers.size()), &out, &error);
    must(error.error == expected, std::string(method) + ": the call's error");
    return out;
}

void print(const char* name, const Array& values) {
    std::printf("%s: %zu values:", name, values.size());
    for (size_t i = 0; i < std::min<size_t>(values.size(), 4); ++i)
        std::printf(" %g", double{values[i]});
    std::printf("\n");
}

/// Instances of the class, as scripts create and drop them.
class Instance {
  public:
    Instance() : object_(static_cast<Object*>(made.create_instance_func(made.class_userdata))) {}
    ~Instance() {
        made.free_instance_func(made.class_userdata, object_->instance);
        delete object_;
    }
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    void* get() const { return object_->instance; }
    std::string error() const { return call(get(), "error", {}).text; }
    bool open(const char* path, const char* device = "") const {
        return call(get(), "open", {variant(path), variant(device)}).number != 0;
    }
    Array run(const char* entry, const Array& inputs) const {
        return call(get(), "run", {variant(entry), variant(inputs), variant(int64_t{1})}).array;
    }

  private:
    Object* object_;
};

/// A network that learns is saved, reset and loaded, and keeps what it learned when a value that is
/// not finite is passed to it.
void learn_and_save(const Instance& network, const Array& x) {
    const Array before = network.run("act", x);
    Array lesson = x;
    lesson.push_back(0.5f);  // the rate
    must(!network.run("learn", lesson).empty(), network.error());
    const Array learned = network.run("act", x);
    must(!learned.empty() && learned != before, "it learned nothing");
    lesson[2] = NAN;
    must(network.run("learn", lesson).empty(), "it learned from NaN");
    std::printf("error: %s\n", network.error().c_str());
    must(network.run("act", x) == learned && network.error().empty(), "NaN stayed in it");

    const Bytes brain = call(network.get(), "save", {}).bytes;
    must(!brain.empty(), network.error());
    must(call(network.get(), "reset", {}).number != 0, network.error());
    must(network.run("act", x) == before, "reset did not forget");
    must(call(network.get(), "load", {variant(brain)}).number != 0, network.error());
    must(network.run("act", x) == learned, "load did not bring back what was saved");
    const Instance other;
    must(other.open("res://game.hearth"), other.error());
    must(call(other.get(), "load", {variant(brain)}).number != 0 && other.run("act", x) == learned,
         "another network did not go on from the brain");
    must(network.run("act", x) == learned, "networks share what they learn");
    must(call(network.get(), "load", {variant(Bytes{1, 2, 3})}).number == 0, "it loaded nothing");
    std::printf("error: %s\n", network.error().c_str());
}

/// Opening a network again after its device was lost creates another one.
void lose_device(const Array& x) {
    const Instance network;
    must(network.open("res://game.hearth"), network.error());
    const Array expected = network.run("act", x);
    is_lost = true;
    must(network.run("act", x).empty() && !network.error().empty(), "the device was not lost");
    must(network.open("res://game.hearth") && network.run("act", x) == expected, network.error());
    std::printf("devices after a loss: %d\n", devices);
}

/// Networks of several threads take turns on the device that they share.
void run_in_threads(const Array& x) {
    const Instance first, second;
    must(first.open("res://game.hearth") && second.open("res://game.hearth"),
         "opening two networks");
    const Array expected = first.run("act", x);
    const auto run = [&](const Instance& network) {
        for (int i = 0; i < 2000; ++i)
            must(network.run("act", x) == expected, "a thread: " + network.error());
    };
    std::thread other([&] { run(second); });
    run(first);
    other.join();
}

}  // namespace

int main(int argc, char** argv) {
    must(argc == 2, "usage: godot_host PROGRAM");
    std::ifstream program(argv[1], std::ios::binary);
    files["res://game.hearth"] = Bytes(std::istreambuf_iterator<char>(program), {});
    files["res://half.hearth"] = files["res://game.hearth"];
    files["res://half.hearth"].resize(files["res://game.hearth"].size() / 2);
    GDExtensionInitialization extension{};
    must(hearth_godot_init([](const char*) -> GDExtensionInterfaceFunctionPtr { return nullptr; },
                           nullptr, &extension) == 0,
         "it accepted an older Godot");
    must(hearth_godot_init(&find, nullptr, &extension) != 0, "hearth_godot_init");
    extension.initialize(extension.userdata, GDEXTENSION_INITIALIZATION_CORE);
    must(class_name.empty(), "registered too early");
    extension.initialize(extension.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    std::printf("%s extends %s:", class_name.c_str(), parent_name.c_str());
    for (const auto& [name, info] : methods) {
        std::printf(" %s(", name.c_str());
        for (const std::string& argument : argument_names[name])
            std::printf(" %s", argument.c_str());
        std::printf(" )");
    }
    std::printf("\n");
    auto instance = std::make_unique<Instance>();
    void* const network = instance->get();

    // Errors are reported.
    call(network, "open", {variant("x")}, GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS);
    call(network, "open", {variant("x"), variant(int64_t{1})},
         GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT);
    must(call(network, "open", {variant("nothing.hearth"), variant("")}).number == 0,
         "it opened nothing");
    std::printf("error: %s\n", call(network, "error", {}).text.c_str());
    must(!instance->open("res://half.hearth"), "it opened half a program");
    std::printf("error: %s\n", instance->error().c_str());
    must(instance->open("res://game.hearth"), instance->error());
    must(call(network, "run", {variant("act"), variant(Array{1}), variant(int64_t{1})})
             .array.empty(),
         "too few values");
    std::printf("error: %s\n", call(network, "error", {}).text.c_str());

    // act: y = x + state; the state is 0, 1, 2, ...
    Array x(96);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.01f * static_cast<float>(i + 1);
    print("y", call(network, "run", {variant("act"), variant(x), variant(int64_t{1})}).array);
    // Calls a method as a typed script does.
    void *entry = nullptr, *inputs = nullptr, *out = nullptr;
    make(&entry, std::string("act"));
    x[0] = 100;
    make(&inputs, x);
    make(&out, Array{7});
    const int64_t batch_size = 1;
    const void* const arguments[] = {&entry, &inputs, &batch_size};
    const GDExtensionClassMethodInfo& run = methods.at("run");
    run.ptrcall_func(run.method_userdata, network, arguments, &out);
    print("then", of<Array>(&out));
    drop<std::string>(&entry);
    drop<Array>(&inputs);
    drop<Array>(&out);

    learn_and_save(*instance, x);
    run_in_threads(x);
    std::printf("devices: %d\n", devices);
    lose_device(x);
    instance.reset();
    extension.deinitialize(extension.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    std::printf("methods left: %zu, values left: %d\n", methods.size(), live.load());
    return 0;
}
