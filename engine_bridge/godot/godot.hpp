// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Godot's C interface for extensions in C++: Variants, and classes whose methods, properties and
// signals scripts use.

#pragma once

#include "host.hpp"

#include <gdextension_interface.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hearth_godot {

/// Fields by name with a number each; a Dictionary.
using Numbers = std::vector<std::pair<std::string, double>>;

/// Owns a Variant.
class Variant {
  public:
    Variant();  // null
    explicit Variant(GDExtensionConstVariantPtr from);
    explicit Variant(bool value);
    explicit Variant(int64_t value);
    explicit Variant(double value);
    explicit Variant(const std::string& value);
    explicit Variant(const Floats& values);  // PackedFloat32Array
    explicit Variant(const Bytes& bytes);    // PackedByteArray
    explicit Variant(const Fields& fields);  // Dictionary of PackedFloat32Arrays
    explicit Variant(const Numbers& numbers);
    explicit Variant(GDExtensionObjectPtr object);  // holds a reference of a RefCounted
    Variant(const Variant& other) : Variant(other.get()) {}
    Variant& operator=(const Variant& other);
    ~Variant();

    /// Copies a value of this type, as ptrcall passes it.
    static Variant from_typed(GDExtensionVariantType type, GDExtensionConstTypePtr value);
    /// Writes into a constructed value of this type, as ptrcall returns it.
    void to_typed(GDExtensionVariantType type, GDExtensionTypePtr value) const;
    /// Returns this as a value of another type that has a constructor for it, such as a
    /// PackedFloat32Array from an Array; null if there is none.
    Variant as(GDExtensionVariantType type) const;

    GDExtensionVariantType type() const;
    bool to_bool() const;
    int64_t to_int() const;
    double to_double() const;
    std::string to_string() const;
    Floats to_floats() const;
    Bytes to_bytes() const;
    GDExtensionObjectPtr to_object() const;

    GDExtensionConstVariantPtr get() const { return &storage_; }
    GDExtensionVariantPtr get() { return &storage_; }

  private:
    void set_keyed(const std::string& key, const Variant& value);

    struct alignas(8) {
        unsigned char bytes[40];  // 24 in Godot with single precision
    } storage_;
};

/// The numbers of a bool, a number, a vector, a packed array or an Array.  False: of another type.
bool to_numbers(const Variant& value, Floats& numbers);
/// The fields of a Dictionary.  On failure `error` names the field.
bool to_fields(const Variant& dictionary, Fields& fields, std::string& error);

/// Reads a file of res:// or user://, which need not be one of the operating system; empty if there
/// is no such file.
Bytes read_file(const std::string& path);
/// A Variant as JSON text, by Godot.
std::string to_json(const Variant& value);

/// An object of a class of ours.
class Instance {
  public:
    virtual ~Instance() = default;

    /// Emits a signal on the main thread, once the current frame has ended.  Any thread.
    void emit(const char* signal, const std::vector<Variant>& arguments) const;

    GDExtensionObjectPtr object = nullptr;
    const char* class_name = nullptr;
};

/// Our instance behind an object, null if it is of another class.
Instance* find_instance(GDExtensionObjectPtr object, const char* class_name);

struct Argument {
    std::string name;
    GDExtensionVariantType type = GDEXTENSION_VARIANT_TYPE_NIL;  // NIL: any
    std::string class_name;                                      // of an OBJECT
};

struct Method {
    std::string name;
    std::vector<Argument> arguments;
    Argument result;                // NIL: none
    std::vector<Variant> defaults;  // of the last arguments
    bool is_static = false;
    std::function<Variant(Instance*, const std::vector<Variant>&)> run;
};

struct Property {
    Argument value;
    uint32_t hint = 0;  // PROPERTY_HINT_*
    std::string hint_string;
};

/// A class that extends Resource.
struct Class {
    const char* name;
    std::function<Instance*()> create;
    std::vector<Method> methods;  // including set_X and get_X for each property X
    std::vector<Property> properties;
    std::vector<std::pair<std::string, std::vector<Argument>>> signals;
};

/// Loads the functions of Godot's interface.  False: this Godot lacks one.
bool load_interface(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr library);
/// Finds the methods of Godot's classes that this calls.  False: this Godot lacks one.
bool find_engine_methods();
/// `of` must live until unregister_class.
void register_class(Class& of);
void unregister_class(const Class& of);
/// A new object of one of the classes; the caller's Variant holds its first reference.
Instance* construct(const char* class_name);
/// Shows class references (XML) in the editor.
void load_documentation(const Bytes& xml);

// --- Methods of C++ classes as methods for scripts -----------------------------------------------

/// Maps a C++ type to the type that scripts see.  Any pointer to an Instance is an object of class T::kName.
template <class T>
struct TypeOf {
    static_assert(std::is_pointer_v<T>);
    using Object = std::remove_pointer_t<T>;
    static Argument argument() { return {"", GDEXTENSION_VARIANT_TYPE_OBJECT, Object::kName}; }
    static T from(const Variant& value) {
        return static_cast<T>(find_instance(value.to_object(), Object::kName));
    }
    static Variant to(T value) { return value != nullptr ? Variant(value->object) : Variant(); }
};
#define HEARTH_GODOT_TYPE(T, TYPE, READ)                                                 \
    template <>                                                                          \
    struct TypeOf<T> {                                                                   \
        static Argument argument() { return {"", GDEXTENSION_VARIANT_TYPE_##TYPE, ""}; } \
        static T from([[maybe_unused]] const Variant& value) { return READ; }            \
        static Variant to(const T& value) { return Variant(value); }                     \
    }
HEARTH_GODOT_TYPE(bool, BOOL, value.to_bool());
HEARTH_GODOT_TYPE(int64_t, INT, value.to_int());
HEARTH_GODOT_TYPE(double, FLOAT, value.to_double());
HEARTH_GODOT_TYPE(std::string, STRING, value.to_string());
HEARTH_GODOT_TYPE(Floats, PACKED_FLOAT32_ARRAY, value.to_floats());
HEARTH_GODOT_TYPE(Bytes, PACKED_BYTE_ARRAY, value.to_bytes());
HEARTH_GODOT_TYPE(Fields, DICTIONARY, Fields{});
HEARTH_GODOT_TYPE(Numbers, DICTIONARY, Numbers{});
#undef HEARTH_GODOT_TYPE
/// Any Variant: a Dictionary, for methods that read it themselves.
template <>
struct TypeOf<Variant> {
    static Argument argument() { return {"", GDEXTENSION_VARIANT_TYPE_DICTIONARY, ""}; }
    static Variant from(const Variant& value) { return value; }
    static Variant to(const Variant& value) { return value; }
};

template <class F, class... A, size_t... I>
Variant invoke_with(const F& function, const std::vector<Variant>& values,
                    std::index_sequence<I...>) {
    using R = std::invoke_result_t<F, A...>;
    if constexpr (std::is_void_v<R>) {
        function(TypeOf<A>::from(values[I])...);
        return Variant();
    } else {
        return TypeOf<R>::to(function(TypeOf<A>::from(values[I])...));
    }
}

template <class R, class... A>
Method describe_method(const char* name, const std::vector<const char*>& names,
                       std::vector<Variant> defaults) {
    Method method{name, {TypeOf<std::decay_t<A>>::argument()...}, {}, std::move(defaults), {}, {}};
    for (size_t i = 0; i < names.size(); ++i) method.arguments[i].name = names[i];
    if constexpr (!std::is_void_v<R>) method.result = TypeOf<R>::argument();
    return method;
}

/// A method of scripts that calls one of C++.
template <class C, class R, class... A>
Method method(const char* name, R (C::*function)(A...), const std::vector<const char*>& names = {},
              std::vector<Variant> defaults = {}) {
    Method method = describe_method<R, A...>(name, names, std::move(defaults));
    method.run = [function](Instance* instance, const std::vector<Variant>& values) {
        C& of = *static_cast<C*>(instance);
        return invoke_with<std::function<R(std::decay_t<A>...)>, std::decay_t<A>...>(
            [&](std::decay_t<A>... a) { return (of.*function)(a...); }, values,
            std::index_sequence_for<A...>());
    };
    return method;
}
template <class R, class... A>
Method static_method(const char* name, R (*function)(A...), const std::vector<const char*>& names) {
    Method method = describe_method<R, A...>(name, names, {});
    method.is_static = true;
    method.run = [function](Instance*, const std::vector<Variant>& values) {
        return invoke_with<R (*)(A...), std::decay_t<A>...>(function, values,
                                                            std::index_sequence_for<A...>());
    };
    return method;
}

}  // namespace hearth_godot
