// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints the values and layouts of gdextension_interface.h that the extension relies on.  `./dev
// godot` compiles this with our own header and with Godot's, and compares.

#include <gdextension_interface.h>

#include <cstddef>
#include <cstdio>

#define VALUE(name) std::printf("%s %d\n", #name, static_cast<int>(name))
#define FIELD(type, field) \
    std::printf("%s.%s %zu of %zu\n", #type, #field, offsetof(type, field), sizeof(type))

int main() {
    VALUE(GDEXTENSION_VARIANT_TYPE_NIL);
    VALUE(GDEXTENSION_VARIANT_TYPE_BOOL);
    VALUE(GDEXTENSION_VARIANT_TYPE_INT);
    VALUE(GDEXTENSION_VARIANT_TYPE_FLOAT);
    VALUE(GDEXTENSION_VARIANT_TYPE_STRING);
    VALUE(GDEXTENSION_VARIANT_TYPE_VECTOR2);
    VALUE(GDEXTENSION_VARIANT_TYPE_VECTOR3);
    VALUE(GDEXTENSION_VARIANT_TYPE_STRING_NAME);
    VALUE(GDEXTENSION_VARIANT_TYPE_OBJECT);
    VALUE(GDEXTENSION_VARIANT_TYPE_DICTIONARY);
    VALUE(GDEXTENSION_VARIANT_TYPE_ARRAY);
    VALUE(GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY);
    VALUE(GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY);
    VALUE(GDEXTENSION_VARIANT_TYPE_PACKED_INT64_ARRAY);
    VALUE(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY);
    VALUE(GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT64_ARRAY);
    VALUE(GDEXTENSION_CALL_OK);
    VALUE(GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT);
    VALUE(GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS);
    VALUE(GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS);
    VALUE(GDEXTENSION_METHOD_FLAGS_DEFAULT);
    VALUE(GDEXTENSION_METHOD_FLAG_STATIC);
    VALUE(GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE);
    VALUE(GDEXTENSION_INITIALIZATION_SCENE);
    VALUE(GDEXTENSION_INITIALIZATION_EDITOR);
    FIELD(GDExtensionCallError, error);
    FIELD(GDExtensionCallError, argument);
    FIELD(GDExtensionCallError, expected);
    FIELD(GDExtensionPropertyInfo, type);
    FIELD(GDExtensionPropertyInfo, name);
    FIELD(GDExtensionPropertyInfo, class_name);
    FIELD(GDExtensionPropertyInfo, hint);
    FIELD(GDExtensionPropertyInfo, hint_string);
    FIELD(GDExtensionPropertyInfo, usage);
    FIELD(GDExtensionClassCreationInfo2, is_exposed);
    FIELD(GDExtensionClassCreationInfo2, create_instance_func);
    FIELD(GDExtensionClassCreationInfo2, free_instance_func);
    FIELD(GDExtensionClassCreationInfo2, class_userdata);
    FIELD(GDExtensionClassMethodInfo, name);
    FIELD(GDExtensionClassMethodInfo, method_userdata);
    FIELD(GDExtensionClassMethodInfo, call_func);
    FIELD(GDExtensionClassMethodInfo, ptrcall_func);
    FIELD(GDExtensionClassMethodInfo, method_flags);
    FIELD(GDExtensionClassMethodInfo, has_return_value);
    FIELD(GDExtensionClassMethodInfo, return_value_info);
    FIELD(GDExtensionClassMethodInfo, return_value_metadata);
    FIELD(GDExtensionClassMethodInfo, argument_count);
    FIELD(GDExtensionClassMethodInfo, arguments_info);
    FIELD(GDExtensionClassMethodInfo, arguments_metadata);
    FIELD(GDExtensionClassMethodInfo, default_argument_count);
    FIELD(GDExtensionClassMethodInfo, default_arguments);
    FIELD(GDExtensionInitialization, minimum_initialization_level);
    FIELD(GDExtensionInitialization, userdata);
    FIELD(GDExtensionInitialization, initialize);
    FIELD(GDExtensionInitialization, deinitialize);
    return 0;
}
