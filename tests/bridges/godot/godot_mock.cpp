// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "godot_mock.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace mock {

std::map<std::string, Bytes> files;
std::map<std::string, Class> classes;
std::atomic<int> live = 0;

namespace {

std::mutex mutex;  // of reference counts and signals, which extensions touch from their threads
std::vector<Signal> signals;

void count_reference(Object* object, int by) {
    if (object == nullptr) return;
    bool is_last = false;
    {
        const std::lock_guard lock(mutex);
        object->references += by;
        is_last = object->references == 0;
    }
    if (!is_last) return;
    const Class& of = classes.at(object->class_name);
    of.info.free_instance_func(of.info.class_userdata, object->instance);
    delete object;
    --live;
}

}  // namespace

void must(bool is_so, const std::string& what) {
    if (is_so) return;
    std::printf("failed: %s\n", what.c_str());
    std::exit(1);
}

Value::Value(Object* value) : type(GDEXTENSION_VARIANT_TYPE_OBJECT), object(value) {
    count_reference(object, 1);
}
Value::Value(const Value& other)
    : type(other.type),
      integer(other.integer),
      real(other.real),
      text(other.text),
      floats(other.floats),
      bytes(other.bytes),
      entries(other.entries),
      elements(other.elements),
      object(other.object) {
    count_reference(object, 1);
}
Value& Value::operator=(const Value& other) {
    Value copy(other);
    std::swap(type, copy.type);
    std::swap(integer, copy.integer);
    std::swap(real, copy.real);
    std::swap(text, copy.text);
    std::swap(floats, copy.floats);
    std::swap(bytes, copy.bytes);
    std::swap(entries, copy.entries);
    std::swap(elements, copy.elements);
    std::swap(object, copy.object);
    return *this;
}
Value::~Value() {
    count_reference(object, -1);
}

namespace {

// --- Storage -------------------------------------------------------------------------------------

// Variants, and typed values other than numbers and objects, are stored as pointers to a Value.

Value& of(const void* storage) {
    Value* held = nullptr;
    std::memcpy(&held, storage, sizeof held);
    must(held != nullptr, "a value that was not constructed");
    return *held;
}
void make(void* storage, const Value& value) {
    ++live;
    Value* const made = new Value(value);
    std::memcpy(storage, &made, sizeof made);
}
void drop(void* storage) {
    --live;
    delete &of(storage);
    std::memset(storage, 0, sizeof(void*));
}

/// A typed value in a Variant.
template <GDExtensionVariantType Type>
void to_variant(void* out, void* typed) {
    if constexpr (Type == GDEXTENSION_VARIANT_TYPE_BOOL)
        make(out, Value(*static_cast<GDExtensionBool*>(typed) != 0));
    else if constexpr (Type == GDEXTENSION_VARIANT_TYPE_INT)
        make(out, Value(*static_cast<int64_t*>(typed)));
    else if constexpr (Type == GDEXTENSION_VARIANT_TYPE_FLOAT)
        make(out, Value(*static_cast<double*>(typed)));
    else if constexpr (Type == GDEXTENSION_VARIANT_TYPE_OBJECT)
        make(out, Value(*static_cast<Object**>(typed)));
    else
        make(out, of(typed));
}
template <GDExtensionVariantType Type>
void from_variant(void* out, void* variant) {
    const Value& value = of(variant);
    if constexpr (Type == GDEXTENSION_VARIANT_TYPE_BOOL)
        *static_cast<GDExtensionBool*>(out) = value.integer != 0 ? 1 : 0;
    else if constexpr (Type == GDEXTENSION_VARIANT_TYPE_INT)
        *static_cast<int64_t*>(out) = value.integer;
    else if constexpr (Type == GDEXTENSION_VARIANT_TYPE_FLOAT)
        *static_cast<double*>(out) = value.real;
    else if constexpr (Type == GDEXTENSION_VARIANT_TYPE_OBJECT)
        *static_cast<Object**>(out) = value.object;
    else
        make(out, value);
}

struct Conversions {
    GDExtensionVariantFromTypeConstructorFunc to = nullptr;
    GDExtensionTypeFromVariantConstructorFunc from = nullptr;
};
template <GDExtensionVariantType Type>
Conversions conversions_of() {
    return {&to_variant<Type>, &from_variant<Type>};
}

Conversions conversions(GDExtensionVariantType type) {
    switch (type) {
        case GDEXTENSION_VARIANT_TYPE_BOOL:
            return conversions_of<GDEXTENSION_VARIANT_TYPE_BOOL>();
        case GDEXTENSION_VARIANT_TYPE_INT:
            return conversions_of<GDEXTENSION_VARIANT_TYPE_INT>();
        case GDEXTENSION_VARIANT_TYPE_FLOAT:
            return conversions_of<GDEXTENSION_VARIANT_TYPE_FLOAT>();
        case GDEXTENSION_VARIANT_TYPE_OBJECT:
            return conversions_of<GDEXTENSION_VARIANT_TYPE_OBJECT>();
        default:
            return conversions_of<GDEXTENSION_VARIANT_TYPE_STRING>();  // by pointer
    }
}

bool is_by_pointer(GDExtensionVariantType type) {
    return conversions(type).to == conversions(GDEXTENSION_VARIANT_TYPE_STRING).to;
}

/// A value of another type, as Godot's constructors make it.  False: there is none.
bool convert(const Value& from, GDExtensionVariantType type, Value& out) {
    const auto is = [&](GDExtensionVariantType t) { return from.type == t; };
    out = from;
    out.type = type;
    if (is(type)) return true;
    switch (type) {
        case GDEXTENSION_VARIANT_TYPE_FLOAT:
            out.real =
                is(GDEXTENSION_VARIANT_TYPE_FLOAT) ? from.real : static_cast<double>(from.integer);
            return is(GDEXTENSION_VARIANT_TYPE_INT) || is(GDEXTENSION_VARIANT_TYPE_BOOL);
        case GDEXTENSION_VARIANT_TYPE_STRING:
            return is(GDEXTENSION_VARIANT_TYPE_STRING_NAME);
        case GDEXTENSION_VARIANT_TYPE_ARRAY:
            return is(GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY) ||
                   is(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT64_ARRAY);
        case GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY:
            return is(GDEXTENSION_VARIANT_TYPE_ARRAY);
        default:
            return false;
    }
}

// --- Functions of Variants -----------------------------------------------------------------------

void construct_variant(GDExtensionVariantType type, void* out, const void* const* arguments,
                       int32_t count, GDExtensionCallError* error) {
    *error = {GDEXTENSION_CALL_OK, 0, 0};
    Value value;
    value.type = type;
    if (count == 1 && !convert(of(arguments[0]), type, value)) {
        error->error = GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT;
        value = Value();
    }
    make(out, value);
}

void get_keyed(const void* dictionary, const void* key, void* out, GDExtensionBool* is_valid) {
    *is_valid = 0;
    for (const auto& [name, value] : of(dictionary).entries)
        if (name == of(key).text) {
            *is_valid = 1;
            return make(out, value);
        }
    make(out, Value());
}

GDExtensionBool iterate(const void* dictionary, void* iterator, GDExtensionBool* is_valid) {
    *is_valid = 1;
    of(iterator) = Value(int64_t{0});
    return of(dictionary).entries.empty() ? 0 : 1;
}
GDExtensionBool next(const void* dictionary, void* iterator, GDExtensionBool* is_valid) {
    *is_valid = 1;
    const auto index = ++of(iterator).integer;
    return index < static_cast<int64_t>(of(dictionary).entries.size()) ? 1 : 0;
}
void key_at(const void* dictionary, void* iterator, void* out, GDExtensionBool* is_valid) {
    *is_valid = 1;
    const auto index = static_cast<size_t>(of(iterator).integer);
    make(out, Value(of(dictionary).entries[index].first.c_str()));
}

template <class Element, std::vector<Element> Value::*Elements>
GDExtensionPtrBuiltInMethod array_method(const std::string& name, GDExtensionInt hash) {
    if (name == "size" && hash == 3173160232)
        return [](void* a, const void* const*, void* out, auto) {
            *static_cast<int64_t*>(out) = static_cast<int64_t>((of(a).*Elements).size());
        };
    if (name == "resize" && hash == 848867239)
        return [](void* a, const void* const* arguments, void*, auto) {
            (of(a).*Elements)
                .resize(static_cast<size_t>(*static_cast<const int64_t*>(arguments[0])));
        };
    return nullptr;
}

// --- Methods of the engine -----------------------------------------------------------------------

std::string to_json(const Value& value) {
    if (value.type == GDEXTENSION_VARIANT_TYPE_STRING) return "\"" + value.text + "\"";
    if (value.type == GDEXTENSION_VARIANT_TYPE_INT) return std::to_string(value.integer);
    if (value.type == GDEXTENSION_VARIANT_TYPE_FLOAT) return std::to_string(value.real);
    std::string text;
    if (value.type == GDEXTENSION_VARIANT_TYPE_ARRAY) {
        for (const Value& element : value.elements)
            text += (text.empty() ? "" : ", ") + to_json(element);
        return "[" + text + "]";
    }
    must(value.type == GDEXTENSION_VARIANT_TYPE_DICTIONARY, "JSON of a value of another type");
    text = "{";
    for (const auto& [name, entry] : value.entries)
        text += (text.size() > 1 ? ", \"" : "\"") + name + "\": " + to_json(entry);
    return text + "}";
}

/// A method of the engine: its index is the MethodBind.
struct EngineMethod {
    const char* of_class;
    const char* name;
    GDExtensionInt hash;
    Value (*run)(Object* object, const std::vector<Value>& arguments);
};
const EngineMethod engine_methods[] = {
    {"FileAccess", "get_file_as_bytes", 659035735,
     [](Object*, const std::vector<Value>& arguments) {
         const auto found = files.find(arguments.at(0).text);
         return Value(found != files.end() ? found->second : Bytes{});
     }},
    {"JSON", "stringify", 462733549,
     [](Object*, const std::vector<Value>& arguments) {
         return Value(to_json(arguments.at(0)).c_str());
     }},
    {"Object", "call_deferred", 3400424181,
     [](Object* object, const std::vector<Value>& arguments) {
         must(arguments.at(0).text == "emit_signal", "a deferred call of emit_signal");
         const std::vector<std::string>& known = classes.at(object->class_name).signals;
         must(std::count(known.begin(), known.end(), arguments.at(1).text) == 1,
              "no signal " + arguments.at(1).text);
         const std::lock_guard lock(mutex);
         signals.push_back(
             {object, arguments.at(1).text, {arguments.begin() + 2, arguments.end()}});
         return Value();
     }},
};

void call_engine(const void* method, void* object, const void* const* arguments,
                 GDExtensionInt count, void* out, GDExtensionCallError* error) {
    std::vector<Value> values;
    for (GDExtensionInt i = 0; i < count; ++i) values.push_back(of(arguments[i]));
    *error = {GDEXTENSION_CALL_OK, 0, 0};
    make(out, static_cast<const EngineMethod*>(method)->run(static_cast<Object*>(object), values));
}

// --- The class database --------------------------------------------------------------------------

void register_class(void*, const void* name, const void* parent,
                    const GDExtensionClassCreationInfo2* info) {
    Class& made = classes[of(name).text];
    made.info = *info;
    made.parent = of(parent).text;
}

void register_method(void*, const void* class_name, const GDExtensionClassMethodInfo* info) {
    Class& made = classes.at(of(class_name).text);
    const std::string method = of(info->name).text;
    made.methods[method] = *info;
    made.result_types[method] = info->return_value_info->type;
    for (uint32_t i = 0; i < info->argument_count; ++i)
        made.argument_names[method].push_back(of(info->arguments_info[i].name).text);
    for (uint32_t i = 0; i < info->default_argument_count; ++i)
        made.defaults[method].push_back(of(info->default_arguments[i]));
}

void* construct_object(const void* name) {
    const std::string class_name = of(name).text;
    if (class_name == "Resource") {
        ++live;
        return new Object;
    }
    const Class& found = classes.at(class_name);
    auto* const object =
        static_cast<Object*>(found.info.create_instance_func(found.info.class_userdata));
    must(object->class_name == class_name, "an instance of its class");
    return object;
}

template <class Function>
GDExtensionInterfaceFunctionPtr give(Function function) {
    return reinterpret_cast<GDExtensionInterfaceFunctionPtr>(function);
}

GDExtensionInterfaceFunctionPtr find_value_function(const std::string& wanted) {
    if (wanted == "string_name_new_with_latin1_chars")
        return give(GDExtensionInterfaceStringNameNewWithLatin1Chars(
            [](void* out, const char* text, GDExtensionBool) {
                make(out, Value(text));
                of(out).type = GDEXTENSION_VARIANT_TYPE_STRING_NAME;
            }));
    if (wanted == "string_new_with_utf8_chars_and_len")
        return give(GDExtensionInterfaceStringNewWithUtf8CharsAndLen(
            [](void* out, const char* text, GDExtensionInt size) {
                make(out, Value(std::string(text, static_cast<size_t>(size)).c_str()));
            }));
    if (wanted == "string_to_utf8_chars")
        return give(GDExtensionInterfaceStringToUtf8Chars(
            [](const void* s, char* out, GDExtensionInt most) -> GDExtensionInt {
                const std::string& text = of(s).text;
                if (out != nullptr)
                    std::memcpy(out, text.data(), std::min(text.size(), static_cast<size_t>(most)));
                return static_cast<GDExtensionInt>(text.size());
            }));
    if (wanted == "packed_float32_array_operator_index")
        return give(GDExtensionInterfacePackedFloat32ArrayOperatorIndex(
            [](void* a, GDExtensionInt i) { return &of(a).floats.at(static_cast<size_t>(i)); }));
    if (wanted == "packed_byte_array_operator_index")
        return give(GDExtensionInterfacePackedByteArrayOperatorIndex(
            [](void* a, GDExtensionInt i) { return &of(a).bytes.at(static_cast<size_t>(i)); }));
    if (wanted == "variant_get_ptr_builtin_method")
        return give(GDExtensionInterfaceVariantGetPtrBuiltinMethod(
            [](GDExtensionVariantType type, const void* method, GDExtensionInt hash) {
                return type == GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY
                           ? array_method<uint8_t, &Value::bytes>(of(method).text, hash)
                           : array_method<float, &Value::floats>(of(method).text, hash);
            }));
    if (wanted == "variant_get_ptr_destructor")
        return give(GDExtensionInterfaceVariantGetPtrDestructor(
            [](GDExtensionVariantType type) -> GDExtensionPtrDestructor {
                return is_by_pointer(type) ? &drop : nullptr;
            }));
    if (wanted == "get_variant_to_type_constructor")
        return give(GDExtensionInterfaceGetVariantToTypeConstructor(
            [](GDExtensionVariantType type) { return conversions(type).from; }));
    if (wanted == "get_variant_from_type_constructor")
        return give(GDExtensionInterfaceGetVariantFromTypeConstructor(
            [](GDExtensionVariantType type) { return conversions(type).to; }));
    return nullptr;
}

GDExtensionInterfaceFunctionPtr find_variant_function(const std::string& wanted) {
    if (wanted == "variant_new_nil")
        return give(GDExtensionInterfaceVariantNewNil([](void* out) { make(out, Value()); }));
    if (wanted == "variant_new_copy")
        return give(GDExtensionInterfaceVariantNewCopy(
            [](void* out, const void* from) { make(out, of(from)); }));
    if (wanted == "variant_destroy") return give(GDExtensionInterfaceVariantDestroy(&drop));
    if (wanted == "variant_get_type")
        return give(GDExtensionInterfaceVariantGetType([](const void* v) { return of(v).type; }));
    if (wanted == "variant_construct")
        return give(GDExtensionInterfaceVariantConstruct(&construct_variant));
    if (wanted == "variant_set_keyed")
        return give(GDExtensionInterfaceVariantSetKeyed(
            [](void* d, const void* key, const void* value, GDExtensionBool* is_valid) {
                of(d).entries.emplace_back(of(key).text, of(value));
                *is_valid = 1;
            }));
    if (wanted == "variant_get_keyed") return give(GDExtensionInterfaceVariantGetKeyed(&get_keyed));
    if (wanted == "variant_get_indexed")
        return give(GDExtensionInterfaceVariantGetIndexed(
            [](const void* v, GDExtensionInt i, void* out, GDExtensionBool*, GDExtensionBool*) {
                make(out, Value(double{of(v).floats.at(static_cast<size_t>(i))}));
            }));
    if (wanted == "variant_iter_init") return give(GDExtensionInterfaceVariantIterInit(&iterate));
    if (wanted == "variant_iter_next") return give(GDExtensionInterfaceVariantIterNext(&next));
    if (wanted == "variant_iter_get") return give(GDExtensionInterfaceVariantIterGet(&key_at));
    return nullptr;
}

GDExtensionInterfaceFunctionPtr find_class_function(const std::string& wanted) {
    if (wanted == "classdb_get_method_bind")
        return give(GDExtensionInterfaceClassdbGetMethodBind(
            [](const void* of_class, const void* name, GDExtensionInt hash) -> const void* {
                for (const EngineMethod& method : engine_methods)
                    if (of(of_class).text == method.of_class && of(name).text == method.name &&
                        hash == method.hash)
                        return &method;
                return nullptr;
            }));
    if (wanted == "object_method_bind_call")
        return give(GDExtensionInterfaceObjectMethodBindCall(&call_engine));
    if (wanted == "classdb_construct_object")
        return give(GDExtensionInterfaceClassdbConstructObject(&construct_object));
    if (wanted == "object_set_instance")
        return give(GDExtensionInterfaceObjectSetInstance(
            [](void* object, const void* class_name, void* instance) {
                static_cast<Object*>(object)->class_name = of(class_name).text;
                static_cast<Object*>(object)->instance = instance;
            }));
    if (wanted == "ref_set_object")
        return give(GDExtensionInterfaceRefSetObject([](void* reference, void* object) {
            auto** const held = static_cast<Object**>(reference);
            count_reference(static_cast<Object*>(object), 1);
            count_reference(*held, -1);
            *held = static_cast<Object*>(object);
        }));
    if (wanted == "classdb_register_extension_class2")
        return give(GDExtensionInterfaceClassdbRegisterExtensionClass2(&register_class));
    if (wanted == "classdb_register_extension_class_method")
        return give(GDExtensionInterfaceClassdbRegisterExtensionClassMethod(&register_method));
    if (wanted == "classdb_register_extension_class_property")
        return give(GDExtensionInterfaceClassdbRegisterExtensionClassProperty(
            [](void*, const void* class_name, const GDExtensionPropertyInfo* info,
               const void* setter, const void* getter) {
                Class& made = classes.at(of(class_name).text);
                must(made.methods.count(of(setter).text) == 1 &&
                         made.methods.count(of(getter).text) == 1,
                     "a property's methods are registered before it");
                made.properties.push_back(of(info->name).text);
            }));
    if (wanted == "classdb_register_extension_class_signal")
        return give(GDExtensionInterfaceClassdbRegisterExtensionClassSignal(
            [](void*, const void* class_name, const void* signal, const GDExtensionPropertyInfo*,
               GDExtensionInt) {
                classes.at(of(class_name).text).signals.push_back(of(signal).text);
            }));
    if (wanted == "classdb_unregister_extension_class")
        return give(
            GDExtensionInterfaceClassdbUnregisterExtensionClass([](void*, const void* class_name) {
                must(classes.erase(of(class_name).text) == 1, "a class that was registered");
            }));
    return nullptr;
}

}  // namespace

GDExtensionInterfaceFunctionPtr find(const char* name) {
    for (auto* const find_in : {&find_value_function, &find_variant_function, &find_class_function})
        if (const GDExtensionInterfaceFunctionPtr function = find_in(name)) return function;
    return nullptr;
}

// --- Calls of scripts ----------------------------------------------------------------------------

namespace {

Value call_method(const GDExtensionClassMethodInfo& info, void* instance,
                  const std::vector<Value>& arguments, GDExtensionCallErrorType expected) {
    std::vector<void*> storage(arguments.size());
    std::vector<const void*> pointers;
    for (size_t i = 0; i < arguments.size(); ++i) {
        make(&storage[i], arguments[i]);
        pointers.push_back(&storage[i]);
    }
    void* out = nullptr;
    make(&out, Value());
    GDExtensionCallError error{};
    info.call_func(info.method_userdata, instance, pointers.data(),
                   static_cast<GDExtensionInt>(pointers.size()), &out, &error);
    must(error.error == expected, "a call's error");
    for (void*& value : storage) drop(&value);
    const Value result = of(&out);
    drop(&out);
    return result;
}

}  // namespace

Value call(const Value& object, const char* method, const std::vector<Value>& arguments,
           GDExtensionCallErrorType expected) {
    return call_method(classes.at(object.object->class_name).methods.at(method),
                       object.object->instance, arguments, expected);
}

Value call_static(const char* class_name, const char* method, const std::vector<Value>& arguments) {
    const GDExtensionClassMethodInfo& info = classes.at(class_name).methods.at(method);
    must((info.method_flags & GDEXTENSION_METHOD_FLAG_STATIC) != 0, "a static method");
    return call_method(info, nullptr, arguments, GDEXTENSION_CALL_OK);
}

Value call_typed(const Value& object, const char* method, const std::vector<Value>& arguments) {
    const GDExtensionClassMethodInfo& info =
        classes.at(object.object->class_name).methods.at(method);
    must(arguments.size() == info.argument_count, "typed scripts pass all arguments");
    std::vector<int64_t> storage(arguments.size());
    std::vector<const void*> pointers;
    for (size_t i = 0; i < arguments.size(); ++i) {
        void* variant = nullptr;
        make(&variant, arguments[i]);
        conversions(arguments[i].type).from(&storage[i], &variant);
        drop(&variant);
        pointers.push_back(&storage[i]);
    }
    const GDExtensionVariantType type =
        classes.at(object.object->class_name).result_types.at(method);
    int64_t out = 0;
    if (is_by_pointer(type)) {
        Value empty;
        empty.type = type;
        make(&out, empty);
    }
    info.ptrcall_func(info.method_userdata, object.object->instance, pointers.data(), &out);
    for (size_t i = 0; i < arguments.size(); ++i)
        if (is_by_pointer(arguments[i].type)) drop(&storage[i]);
    void* variant = nullptr;
    conversions(type).to(&variant, &out);
    const Value result = of(&variant);
    drop(&variant);
    if (is_by_pointer(type)) drop(&out);
    if (type == GDEXTENSION_VARIANT_TYPE_OBJECT) {
        Object* returned = nullptr;
        std::memcpy(&returned, &out, sizeof returned);
        count_reference(returned, -1);
    }
    return result;
}

Value construct(const char* class_name) {
    void* name = nullptr;
    make(&name, Value(class_name));
    auto* const object = static_cast<Object*>(construct_object(&name));
    drop(&name);
    return Value(object);
}

std::vector<Signal> take_signals() {
    const std::lock_guard lock(mutex);
    return std::exchange(signals, {});
}

}  // namespace mock
