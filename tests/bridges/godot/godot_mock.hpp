// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stands in for Godot: its values, its class database and its objects, behind the functions of its
// C interface for extensions that engine_bridge/godot loads.

#pragma once

#include <gdextension_interface.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mock {

using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

/// An object of an extension's class, counted as a RefCounted.
struct Object {
    std::string class_name;
    void* instance = nullptr;
    int references = 0;
};

struct Value {
    GDExtensionVariantType type = GDEXTENSION_VARIANT_TYPE_NIL;
    int64_t integer = 0;  // also of a BOOL
    double real = 0;
    std::string text;  // of a STRING or STRING_NAME
    Floats floats;     // also of vectors and of an ARRAY of numbers
    Bytes bytes;
    std::vector<std::pair<std::string, Value>> entries;  // of a DICTIONARY
    std::vector<Value> elements;                         // of an ARRAY of other values
    Object* object = nullptr;

    Value() = default;
    explicit Value(bool value) : type(GDEXTENSION_VARIANT_TYPE_BOOL), integer(value ? 1 : 0) {}
    explicit Value(int64_t value) : type(GDEXTENSION_VARIANT_TYPE_INT), integer(value) {}
    explicit Value(double value) : type(GDEXTENSION_VARIANT_TYPE_FLOAT), real(value) {}
    explicit Value(const char* value) : type(GDEXTENSION_VARIANT_TYPE_STRING), text(value) {}
    explicit Value(Floats value)
        : type(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY), floats(std::move(value)) {}
    explicit Value(Bytes value)
        : type(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY), bytes(std::move(value)) {}
    explicit Value(std::vector<std::pair<std::string, Value>> value)
        : type(GDEXTENSION_VARIANT_TYPE_DICTIONARY), entries(std::move(value)) {}
    explicit Value(Object* value);  // counts a reference, as copies do
    Value(const Value& other);
    Value& operator=(const Value& other);
    ~Value();
};

struct Signal {
    Object* object;
    std::string name;
    std::vector<Value> arguments;
};

/// An Array.
inline Value list(std::vector<Value> elements) {
    Value value;
    value.type = GDEXTENSION_VARIANT_TYPE_ARRAY;
    value.elements = std::move(elements);
    return value;
}

/// What an extension registered under a class's name.
struct Class {
    GDExtensionClassCreationInfo2 info{};
    std::string parent;
    std::map<std::string, GDExtensionClassMethodInfo> methods;
    std::map<std::string, GDExtensionVariantType> result_types;
    std::map<std::string, std::vector<std::string>> argument_names;
    std::map<std::string, std::vector<Value>> defaults;
    std::vector<std::string> properties, signals;
};

extern std::map<std::string, Bytes> files;  // of res:// and user://
extern std::map<std::string, Class> classes;
extern std::atomic<int> live;  // values, strings, names, arrays and objects

/// Ends the program if `is_so` is false.
void must(bool is_so, const std::string& what);

/// The function of the interface with this name; null: there is none.
GDExtensionInterfaceFunctionPtr find(const char* name);

/// Calls a method as an untyped script does.
Value call(const Value& object, const char* method, const std::vector<Value>& arguments = {},
           GDExtensionCallErrorType expected = GDEXTENSION_CALL_OK);
/// Calls a method as a typed script does.
Value call_typed(const Value& object, const char* method, const std::vector<Value>& arguments);
/// Calls a static method.
Value call_static(const char* class_name, const char* method, const std::vector<Value>& arguments);
/// A new object, as `NAME.new()`.
Value construct(const char* class_name);
/// The signals that were emitted since the last call.
std::vector<Signal> take_signals();

}  // namespace mock
