// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "godot.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace hearth_godot {
namespace {

// Hashes of signatures in Godot's extension_api.json.
constexpr GDExtensionInt kHashOfSize = 3173160232;
constexpr GDExtensionInt kHashOfResize = 848867239;
constexpr GDExtensionInt kHashOfGetFileAsBytes = 659035735;
constexpr GDExtensionInt kHashOfStringify = 462733549;
constexpr GDExtensionInt kHashOfCallDeferred = 3400424181;
// PROPERTY_USAGE_DEFAULT: stored, and shown in the editor.
constexpr uint32_t kUsage = 6;

/// Enough for each type that is passed: strings, arrays, dictionaries, objects and numbers.
struct alignas(8) Storage {
    unsigned char bytes[16];
};

struct {
    GDExtensionClassLibraryPtr library;
    GDExtensionInterfaceStringNameNewWithLatin1Chars new_name;
    GDExtensionInterfaceStringNewWithUtf8CharsAndLen new_string;
    GDExtensionInterfaceStringToUtf8Chars to_utf8;
    GDExtensionInterfacePackedFloat32ArrayOperatorIndex float_at;
    GDExtensionInterfacePackedByteArrayOperatorIndex byte_at;
    GDExtensionInterfaceVariantNewNil new_nil;
    GDExtensionInterfaceVariantNewCopy new_copy;
    GDExtensionInterfaceVariantDestroy destroy;
    GDExtensionInterfaceVariantGetType type_of;
    GDExtensionInterfaceVariantConstruct construct;
    GDExtensionInterfaceVariantSetKeyed set_keyed;
    GDExtensionInterfaceVariantGetKeyed get_keyed;
    GDExtensionInterfaceVariantGetIndexed get_indexed;
    GDExtensionInterfaceVariantIterInit iterate;
    GDExtensionInterfaceVariantIterNext next;
    GDExtensionInterfaceVariantIterGet key_at;
    GDExtensionInterfaceGetVariantFromTypeConstructor find_to_variant;
    GDExtensionInterfaceGetVariantToTypeConstructor find_from_variant;
    GDExtensionInterfaceVariantGetPtrBuiltinMethod find_method;
    GDExtensionInterfaceVariantGetPtrDestructor find_destructor;
    GDExtensionInterfaceClassdbGetMethodBind find_class_method;
    GDExtensionInterfaceObjectMethodBindCall call;
    GDExtensionInterfaceClassdbConstructObject construct_object;
    GDExtensionInterfaceObjectSetInstance set_instance;
    GDExtensionInterfaceRefSetObject set_reference;
    GDExtensionInterfaceClassdbRegisterExtensionClass2 register_class;
    GDExtensionInterfaceClassdbRegisterExtensionClassMethod register_method;
    GDExtensionInterfaceClassdbRegisterExtensionClassProperty register_property;
    GDExtensionInterfaceClassdbRegisterExtensionClassSignal register_signal;
    GDExtensionInterfaceClassdbUnregisterExtensionClass unregister_class;
    // Null before Godot 4.3.
    GDExtensionsInterfaceEditorHelpLoadXmlFromUtf8CharsAndLen load_help;

    GDExtensionPtrBuiltInMethod float_size, float_resize, byte_size, byte_resize;
    GDExtensionMethodBindPtr get_file_as_bytes, stringify, call_deferred;
} api;

std::mutex instances_mutex;
std::unordered_map<GDExtensionConstObjectPtr, Instance*> instances;

void destroy_typed(GDExtensionVariantType type, void* value) {
    if (const GDExtensionPtrDestructor destructor = api.find_destructor(type)) destructor(value);
}

/// Owns a StringName.
class Name {
  public:
    explicit Name(const std::string& text) { api.new_name(&storage_, text.c_str(), 0); }
    ~Name() { destroy_typed(GDEXTENSION_VARIANT_TYPE_STRING_NAME, &storage_); }
    Name(const Name&) = delete;
    Name& operator=(const Name&) = delete;
    void* get() { return &storage_; }

  private:
    Storage storage_{};
};

/// Owns a String.
class String {
  public:
    explicit String(const std::string& text) {
        api.new_string(&storage_, text.data(), static_cast<GDExtensionInt>(text.size()));
    }
    ~String() { destroy_typed(GDEXTENSION_VARIANT_TYPE_STRING, &storage_); }
    String(const String&) = delete;
    String& operator=(const String&) = delete;
    void* get() { return &storage_; }

  private:
    Storage storage_{};
};

template <class T, class At>
std::vector<T> read_array(void* array, GDExtensionPtrBuiltInMethod size_of, At at) {
    int64_t size = 0;
    size_of(array, nullptr, &size, 0);
    std::vector<T> values(static_cast<size_t>(size));
    if (size > 0) std::copy_n(at(array, 0), size, values.data());
    return values;
}

template <class T, class At>
void write_array(const std::vector<T>& values, void* array, GDExtensionPtrBuiltInMethod resize,
                 At at) {
    const int64_t size = static_cast<int64_t>(values.size());
    int64_t ignored = 0;
    const GDExtensionConstTypePtr arguments[] = {&size};
    resize(array, arguments, &ignored, 1);
    if (size > 0) std::copy(values.begin(), values.end(), at(array, 0));
}

/// Calls a method of Godot's, of an object or static.
Variant call(GDExtensionMethodBindPtr method, GDExtensionObjectPtr object,
             const std::vector<Variant>& arguments) {
    std::vector<GDExtensionConstVariantPtr> pointers;
    for (const Variant& argument : arguments) pointers.push_back(argument.get());
    Variant result;
    api.destroy(result.get());
    GDExtensionCallError error{};
    api.call(method, object, pointers.data(), static_cast<GDExtensionInt>(pointers.size()),
             result.get(), &error);
    return result;
}

/// A Variant of an empty value of this type.
Variant empty(GDExtensionVariantType type) {
    Variant value;
    GDExtensionCallError error{};
    api.destroy(value.get());
    api.construct(type, value.get(), nullptr, 0, &error);
    return value;
}

}  // namespace

// --- Variants ------------------------------------------------------------------------------------

Variant::Variant() {
    api.new_nil(&storage_);
}
Variant::Variant(GDExtensionConstVariantPtr from) {
    api.new_copy(&storage_, from);
}
Variant::Variant(bool value) {
    GDExtensionBool typed = value ? 1 : 0;
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_BOOL)(&storage_, &typed);
}
Variant::Variant(int64_t value) {
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_INT)(&storage_, &value);
}
Variant::Variant(double value) {
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_FLOAT)(&storage_, &value);
}
Variant::Variant(const std::string& value) {
    String text(value);
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_STRING)(&storage_, text.get());
}
Variant::Variant(const Floats& values)
    : Variant(empty(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY)) {
    Storage array{};
    api.find_from_variant(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY)(&array, &storage_);
    write_array(values, &array, api.float_resize, api.float_at);
    api.destroy(&storage_);
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY)(&storage_, &array);
    destroy_typed(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, &array);
}
Variant::Variant(const Bytes& bytes) : Variant(empty(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY)) {
    Storage array{};
    api.find_from_variant(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY)(&array, &storage_);
    write_array(bytes, &array, api.byte_resize, api.byte_at);
    api.destroy(&storage_);
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY)(&storage_, &array);
    destroy_typed(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, &array);
}
Variant::Variant(const Fields& fields) : Variant(empty(GDEXTENSION_VARIANT_TYPE_DICTIONARY)) {
    for (const auto& [name, values] : fields) set_keyed(name, Variant(values));
}
Variant::Variant(const Numbers& numbers) : Variant(empty(GDEXTENSION_VARIANT_TYPE_DICTIONARY)) {
    for (const auto& [name, value] : numbers) set_keyed(name, Variant(value));
}
Variant::Variant(GDExtensionObjectPtr object) {
    api.find_to_variant(GDEXTENSION_VARIANT_TYPE_OBJECT)(&storage_, &object);
}
Variant& Variant::operator=(const Variant& other) {
    if (this == &other) return *this;
    api.destroy(&storage_);
    api.new_copy(&storage_, other.get());
    return *this;
}
Variant::~Variant() {
    api.destroy(&storage_);
}

Variant Variant::from_typed(GDExtensionVariantType type, GDExtensionConstTypePtr value) {
    Variant variant;
    api.destroy(variant.get());
    if (type == GDEXTENSION_VARIANT_TYPE_NIL)
        api.new_copy(variant.get(), value);
    else
        api.find_to_variant(type)(variant.get(), const_cast<void*>(value));
    return variant;
}

void Variant::to_typed(GDExtensionVariantType type, GDExtensionTypePtr value) const {
    if (type == GDEXTENSION_VARIANT_TYPE_NIL) return;
    // An object is returned as a reference, which counts.
    if (type == GDEXTENSION_VARIANT_TYPE_OBJECT) return api.set_reference(value, to_object());
    destroy_typed(type, value);
    api.find_from_variant(type)(value, const_cast<void*>(get()));
}

Variant Variant::as(GDExtensionVariantType type) const {
    Variant value;
    GDExtensionCallError error{};
    const GDExtensionConstVariantPtr arguments[] = {get()};
    api.destroy(value.get());
    api.construct(type, value.get(), arguments, 1, &error);
    return error.error == GDEXTENSION_CALL_OK ? value : Variant();
}

GDExtensionVariantType Variant::type() const {
    return api.type_of(get());
}

bool Variant::to_bool() const {
    GDExtensionBool value = 0;
    api.find_from_variant(GDEXTENSION_VARIANT_TYPE_BOOL)(&value, const_cast<void*>(get()));
    return value != 0;
}
int64_t Variant::to_int() const {
    int64_t value = 0;
    api.find_from_variant(GDEXTENSION_VARIANT_TYPE_INT)(&value, const_cast<void*>(get()));
    return value;
}
double Variant::to_double() const {
    double value = 0;
    api.find_from_variant(GDEXTENSION_VARIANT_TYPE_FLOAT)(&value, const_cast<void*>(get()));
    return value;
}
std::string Variant::to_string() const {
    Storage string{};
    api.find_from_variant(GDEXTENSION_VARIANT_TYPE_STRING)(&string, const_cast<void*>(get()));
    const GDExtensionInt size = api.to_utf8(&string, nullptr, 0);
    std::string text(static_cast<size_t>(size), '\0');
    api.to_utf8(&string, text.data(), size);
    destroy_typed(GDEXTENSION_VARIANT_TYPE_STRING, &string);
    return text;
}
Floats Variant::to_floats() const {
    Storage array{};
    const auto type = GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY;
    api.find_from_variant(type)(&array, const_cast<void*>(get()));
    Floats values = read_array<float>(&array, api.float_size, api.float_at);
    destroy_typed(type, &array);
    return values;
}
Bytes Variant::to_bytes() const {
    Storage array{};
    const auto type = GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY;
    api.find_from_variant(type)(&array, const_cast<void*>(get()));
    Bytes values = read_array<uint8_t>(&array, api.byte_size, api.byte_at);
    destroy_typed(type, &array);
    return values;
}
GDExtensionObjectPtr Variant::to_object() const {
    GDExtensionObjectPtr object = nullptr;
    if (type() == GDEXTENSION_VARIANT_TYPE_OBJECT)
        api.find_from_variant(GDEXTENSION_VARIANT_TYPE_OBJECT)(&object, const_cast<void*>(get()));
    return object;
}

void Variant::set_keyed(const std::string& key, const Variant& value) {
    GDExtensionBool is_valid = 0;
    api.set_keyed(&storage_, Variant(key).get(), value.get(), &is_valid);
}

bool to_numbers(const Variant& value, Floats& numbers) {
    switch (value.type()) {
        case GDEXTENSION_VARIANT_TYPE_BOOL:
        case GDEXTENSION_VARIANT_TYPE_INT:
        case GDEXTENSION_VARIANT_TYPE_FLOAT:
            numbers = {static_cast<float>(value.as(GDEXTENSION_VARIANT_TYPE_FLOAT).to_double())};
            return true;
        case GDEXTENSION_VARIANT_TYPE_VECTOR2:
        case GDEXTENSION_VARIANT_TYPE_VECTOR3: {
            const int count = value.type() == GDEXTENSION_VARIANT_TYPE_VECTOR2 ? 2 : 3;
            for (int i = 0; i < count; ++i) {
                Variant element;
                GDExtensionBool is_valid = 0, is_out = 0;
                api.destroy(element.get());
                api.get_indexed(value.get(), i, element.get(), &is_valid, &is_out);
                numbers.push_back(static_cast<float>(element.to_double()));
            }
            return true;
        }
        case GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY:
            numbers = value.to_floats();
            return true;
        case GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY:
        case GDEXTENSION_VARIANT_TYPE_PACKED_INT64_ARRAY:
        case GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT64_ARRAY:
            return to_numbers(value.as(GDEXTENSION_VARIANT_TYPE_ARRAY), numbers);
        case GDEXTENSION_VARIANT_TYPE_ARRAY:
            numbers = value.as(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY).to_floats();
            return true;
        default:
            return false;
    }
}

bool to_fields(const Variant& dictionary, Fields& fields, std::string& error) {
    Variant iterator;
    GDExtensionBool is_valid = 0;
    bool has_more = api.iterate(dictionary.get(), iterator.get(), &is_valid) != 0;
    for (; has_more && is_valid != 0;
         has_more = api.next(dictionary.get(), iterator.get(), &is_valid) != 0) {
        Variant key, value;
        api.destroy(key.get());
        api.key_at(dictionary.get(), iterator.get(), key.get(), &is_valid);
        api.destroy(value.get());
        api.get_keyed(dictionary.get(), key.get(), value.get(), &is_valid);
        const std::string name = key.as(GDEXTENSION_VARIANT_TYPE_STRING).to_string();
        Floats numbers;
        if (!to_numbers(value, numbers)) {
            error = name +
                    ": expected a number, a Vector2 or Vector3, an Array or a packed array, found "
                    "a Variant of type " +
                    std::to_string(value.type());
            return false;
        }
        fields.emplace_back(name, std::move(numbers));
    }
    return true;
}

Bytes read_file(const std::string& path) {
    return call(api.get_file_as_bytes, nullptr, {Variant(path)}).to_bytes();
}

std::string to_json(const Variant& value) {
    const Variant no_indent{std::string()}, sort_keys(true), full_precision(true);
    return call(api.stringify, nullptr, {value, no_indent, sort_keys, full_precision}).to_string();
}

// --- Classes -------------------------------------------------------------------------------------

void Instance::emit(const char* signal, const std::vector<Variant>& arguments) const {
    std::vector<Variant> all{Variant(std::string("emit_signal")), Variant(std::string(signal))};
    all.insert(all.end(), arguments.begin(), arguments.end());
    call(api.call_deferred, object, all);
}

Instance* find_instance(GDExtensionObjectPtr object, const char* class_name) {
    const std::lock_guard lock(instances_mutex);
    const auto found = instances.find(object);
    return found != instances.end() && std::strcmp(found->second->class_name, class_name) == 0
               ? found->second
               : nullptr;
}

Instance* construct(const char* class_name) {
    return find_instance(api.construct_object(Name(class_name).get()), class_name);
}

namespace {

GDExtensionObjectPtr create_object(void* data) {
    const Class& of = *static_cast<Class*>(data);
    Instance* const instance = of.create();
    instance->class_name = of.name;
    instance->object = api.construct_object(Name("Resource").get());
    api.set_instance(instance->object, Name(of.name).get(), instance);
    const std::lock_guard lock(instances_mutex);
    instances[instance->object] = instance;
    return instance->object;
}

void free_instance(void*, GDExtensionClassInstancePtr pointer) {
    auto* const instance = static_cast<Instance*>(pointer);
    {
        const std::lock_guard lock(instances_mutex);
        instances.erase(instance->object);
    }
    delete instance;
}

/// Calls with typed values, for typed scripts and other languages.
void call_typed(void* data, GDExtensionClassInstancePtr instance,
                const GDExtensionConstTypePtr* arguments, GDExtensionTypePtr out) {
    const Method& method = *static_cast<Method*>(data);
    std::vector<Variant> values;
    for (size_t i = 0; i < method.arguments.size(); ++i)
        values.push_back(Variant::from_typed(method.arguments[i].type, arguments[i]));
    const Variant result = method.run(static_cast<Instance*>(instance), values);
    if (out != nullptr) result.to_typed(method.result.type, out);
}

/// Calls with Variants, for untyped scripts.
void call_untyped(void* data, GDExtensionClassInstancePtr instance,
                  const GDExtensionConstVariantPtr* arguments, GDExtensionInt count,
                  GDExtensionVariantPtr out, GDExtensionCallError* error) {
    const Method& method = *static_cast<Method*>(data);
    const auto most = static_cast<GDExtensionInt>(method.arguments.size());
    const auto least = most - static_cast<GDExtensionInt>(method.defaults.size());
    *error = {GDEXTENSION_CALL_OK, 0, 0};
    if (count < least || count > most) {
        *error = {count < least ? GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS
                                : GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS,
                  0, static_cast<int32_t>(count < least ? least : most)};
        return;
    }
    std::vector<Variant> values;
    for (GDExtensionInt i = 0; i < most; ++i) {
        const GDExtensionVariantType wanted = method.arguments[static_cast<size_t>(i)].type;
        Variant value =
            i < count ? Variant(arguments[i]) : method.defaults[static_cast<size_t>(i - least)];
        // Null is no object.  Other values are converted as Godot does.
        const bool is_null_object = wanted == GDEXTENSION_VARIANT_TYPE_OBJECT &&
                                    value.type() == GDEXTENSION_VARIANT_TYPE_NIL;
        if (value.type() != wanted && !is_null_object) value = value.as(wanted);
        if (value.type() != wanted && !is_null_object) {
            *error = {GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT, static_cast<int32_t>(i), wanted};
            return;
        }
        values.push_back(value);
    }
    const Variant result = method.run(static_cast<Instance*>(instance), values);
    api.destroy(out);
    api.new_copy(out, result.get());
}

/// Property descriptions for Godot, with the strings that they point to.
class Descriptions {
  public:
    void add(const Argument& of, uint32_t hint = 0, const std::string& hint_string = "") {
        names_.push_back(std::make_unique<Name>(of.name));
        names_.push_back(std::make_unique<Name>(of.class_name));
        hints_.push_back(std::make_unique<String>(hint_string));
        infos_.push_back({of.type, names_[names_.size() - 2]->get(), names_.back()->get(), hint,
                          hints_.back()->get(), kUsage});
    }
    GDExtensionPropertyInfo* get() { return infos_.data(); }
    uint32_t count() const { return static_cast<uint32_t>(infos_.size()); }

  private:
    std::vector<std::unique_ptr<Name>> names_;
    std::vector<std::unique_ptr<String>> hints_;
    std::vector<GDExtensionPropertyInfo> infos_;
};

void register_method(Name& class_name, Method& method) {
    Name name(method.name);
    Descriptions arguments, result;
    for (const Argument& argument : method.arguments) arguments.add(argument);
    result.add(method.result);
    std::vector<GDExtensionClassMethodArgumentMetadata> metadata(
        method.arguments.size(), GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE);
    std::vector<GDExtensionVariantPtr> defaults;
    for (Variant& value : method.defaults) defaults.push_back(value.get());
    GDExtensionClassMethodInfo info{};
    info.name = name.get();
    info.method_userdata = &method;
    info.call_func = &call_untyped;
    info.ptrcall_func = &call_typed;
    info.method_flags = GDEXTENSION_METHOD_FLAGS_DEFAULT |
                        (method.is_static ? uint32_t{GDEXTENSION_METHOD_FLAG_STATIC} : 0u);
    info.has_return_value = method.result.type != GDEXTENSION_VARIANT_TYPE_NIL ? 1 : 0;
    info.return_value_info = result.get();
    info.argument_count = arguments.count();
    info.arguments_info = arguments.get();
    info.arguments_metadata = metadata.data();
    info.default_argument_count = static_cast<uint32_t>(defaults.size());
    info.default_arguments = defaults.data();
    api.register_method(api.library, class_name.get(), &info);
}

}  // namespace

void register_class(Class& of) {
    Name name(of.name), parent("Resource");
    GDExtensionClassCreationInfo2 info{};
    info.is_exposed = 1;
    info.create_instance_func = &create_object;
    info.free_instance_func = &free_instance;
    info.class_userdata = &of;
    api.register_class(api.library, name.get(), parent.get(), &info);
    for (Method& method : of.methods) register_method(name, method);
    for (const Property& property : of.properties) {
        Descriptions value;
        value.add(property.value, property.hint, property.hint_string);
        Name set("set_" + property.value.name), get("get_" + property.value.name);
        api.register_property(api.library, name.get(), value.get(), set.get(), get.get());
    }
    for (const auto& [signal, arguments] : of.signals) {
        Descriptions described;
        for (const Argument& argument : arguments) described.add(argument);
        Name signal_name(signal);
        api.register_signal(api.library, name.get(), signal_name.get(), described.get(),
                            described.count());
    }
}

void unregister_class(const Class& of) {
    Name name(of.name);
    api.unregister_class(api.library, name.get());
}

void load_documentation(const Bytes& xml) {
    if (api.load_help != nullptr && !xml.empty())
        api.load_help(reinterpret_cast<const char*>(xml.data()),
                      static_cast<GDExtensionInt>(xml.size()));
}

// --- The interface -------------------------------------------------------------------------------

namespace {

template <class Function>
bool load(GDExtensionInterfaceGetProcAddress get, const char* name, Function& function) {
    function = reinterpret_cast<Function>(get(name));
    return function != nullptr;
}

bool load_values(GDExtensionInterfaceGetProcAddress get) {
    return load(get, "string_name_new_with_latin1_chars", api.new_name) &&
           load(get, "string_new_with_utf8_chars_and_len", api.new_string) &&
           load(get, "string_to_utf8_chars", api.to_utf8) &&
           load(get, "packed_float32_array_operator_index", api.float_at) &&
           load(get, "packed_byte_array_operator_index", api.byte_at) &&
           load(get, "variant_new_nil", api.new_nil) &&
           load(get, "variant_new_copy", api.new_copy) &&
           load(get, "variant_destroy", api.destroy) &&
           load(get, "variant_get_type", api.type_of) &&
           load(get, "variant_construct", api.construct) &&
           load(get, "variant_set_keyed", api.set_keyed) &&
           load(get, "variant_get_keyed", api.get_keyed) &&
           load(get, "variant_get_indexed", api.get_indexed) &&
           load(get, "variant_iter_init", api.iterate) &&
           load(get, "variant_iter_next", api.next) && load(get, "variant_iter_get", api.key_at) &&
           load(get, "get_variant_from_type_constructor", api.find_to_variant) &&
           load(get, "get_variant_to_type_constructor", api.find_from_variant) &&
           load(get, "variant_get_ptr_builtin_method", api.find_method) &&
           load(get, "variant_get_ptr_destructor", api.find_destructor);
}

bool load_classes(GDExtensionInterfaceGetProcAddress get) {
    return load(get, "classdb_get_method_bind", api.find_class_method) &&
           load(get, "object_method_bind_call", api.call) &&
           load(get, "classdb_construct_object", api.construct_object) &&
           load(get, "object_set_instance", api.set_instance) &&
           load(get, "ref_set_object", api.set_reference) &&
           load(get, "classdb_register_extension_class2", api.register_class) &&
           load(get, "classdb_register_extension_class_method", api.register_method) &&
           load(get, "classdb_register_extension_class_property", api.register_property) &&
           load(get, "classdb_register_extension_class_signal", api.register_signal) &&
           load(get, "classdb_unregister_extension_class", api.unregister_class);
}

bool find(GDExtensionVariantType type, GDExtensionPtrBuiltInMethod& size,
          GDExtensionPtrBuiltInMethod& resize) {
    size = api.find_method(type, Name("size").get(), kHashOfSize);
    resize = api.find_method(type, Name("resize").get(), kHashOfResize);
    return size != nullptr && resize != nullptr;
}

bool find(const char* class_name, const char* method, GDExtensionInt hash,
          GDExtensionMethodBindPtr& out) {
    out = api.find_class_method(Name(class_name).get(), Name(method).get(), hash);
    return out != nullptr;
}

}  // namespace

bool load_interface(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr library) {
    api.library = library;
    load(get, "editor_help_load_xml_from_utf8_chars_and_len", api.load_help);
    return load_values(get) && load_classes(get);
}

bool find_engine_methods() {
    return find(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY, api.float_size, api.float_resize) &&
           find(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY, api.byte_size, api.byte_resize) &&
           find("FileAccess", "get_file_as_bytes", kHashOfGetFileAsBytes, api.get_file_as_bytes) &&
           find("JSON", "stringify", kHashOfStringify, api.stringify) &&
           find("Object", "call_deferred", kHashOfCallDeferred, api.call_deferred);
}

}  // namespace hearth_godot
