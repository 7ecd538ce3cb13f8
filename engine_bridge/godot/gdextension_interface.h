// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The part of Godot's C interface for extensions (4.2 and later) that this extension uses, declared
// from its documentation, so that the extension is built without Godot.  Values and layouts are
// those of Godot's own gdextension_interface.h; `./dev godot` compiles the extension with that one,
// too, and compares.

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int64_t GDExtensionInt;
typedef uint8_t GDExtensionBool;
typedef void *GDExtensionVariantPtr, *GDExtensionUninitializedVariantPtr, *GDExtensionStringNamePtr,
    *GDExtensionUninitializedStringNamePtr, *GDExtensionStringPtr,
    *GDExtensionUninitializedStringPtr, *GDExtensionObjectPtr, *GDExtensionTypePtr,
    *GDExtensionUninitializedTypePtr, *GDExtensionRefPtr, *GDExtensionClassInstancePtr,
    *GDExtensionClassLibraryPtr;
typedef const void *GDExtensionConstVariantPtr, *GDExtensionConstStringNamePtr,
    *GDExtensionConstStringPtr, *GDExtensionConstTypePtr, *GDExtensionConstObjectPtr,
    *GDExtensionMethodBindPtr;

typedef enum {
    GDEXTENSION_VARIANT_TYPE_NIL = 0,
    GDEXTENSION_VARIANT_TYPE_BOOL = 1,
    GDEXTENSION_VARIANT_TYPE_INT = 2,
    GDEXTENSION_VARIANT_TYPE_FLOAT = 3,
    GDEXTENSION_VARIANT_TYPE_STRING = 4,
    GDEXTENSION_VARIANT_TYPE_VECTOR2 = 5,
    GDEXTENSION_VARIANT_TYPE_VECTOR3 = 9,
    GDEXTENSION_VARIANT_TYPE_STRING_NAME = 21,
    GDEXTENSION_VARIANT_TYPE_OBJECT = 24,
    GDEXTENSION_VARIANT_TYPE_DICTIONARY = 27,
    GDEXTENSION_VARIANT_TYPE_ARRAY = 28,
    GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY = 29,
    GDEXTENSION_VARIANT_TYPE_PACKED_INT32_ARRAY = 30,
    GDEXTENSION_VARIANT_TYPE_PACKED_INT64_ARRAY = 31,
    GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY = 32,
    GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT64_ARRAY = 33,
    GDEXTENSION_VARIANT_TYPE_VARIANT_MAX = 39
} GDExtensionVariantType;

typedef enum {
    GDEXTENSION_CALL_OK = 0,
    GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT = 2,
    GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS = 3,
    GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS = 4
} GDExtensionCallErrorType;
typedef struct {
    GDExtensionCallErrorType error;
    int32_t argument, expected;
} GDExtensionCallError;

typedef void (*GDExtensionVariantFromTypeConstructorFunc)(GDExtensionUninitializedVariantPtr,
                                                          GDExtensionTypePtr);
typedef void (*GDExtensionTypeFromVariantConstructorFunc)(GDExtensionUninitializedTypePtr,
                                                          GDExtensionVariantPtr);
typedef void (*GDExtensionPtrBuiltInMethod)(GDExtensionTypePtr base,
                                            const GDExtensionConstTypePtr* arguments,
                                            GDExtensionTypePtr out, int count);
typedef void (*GDExtensionPtrDestructor)(GDExtensionTypePtr base);

typedef struct {
    GDExtensionVariantType type;
    GDExtensionStringNamePtr name, class_name;
    uint32_t hint;
    GDExtensionStringPtr hint_string;
    uint32_t usage;
} GDExtensionPropertyInfo;
typedef GDExtensionObjectPtr (*GDExtensionClassCreateInstance)(void* userdata);
typedef void (*GDExtensionClassFreeInstance)(void* userdata, GDExtensionClassInstancePtr);
typedef struct {
    GDExtensionBool is_virtual, is_abstract, is_exposed;
    // Callbacks that this extension does not have: set, get, get_property_list, free_property_list,
    // property_can_revert, property_get_revert, validate_property, notification, to_string,
    // reference, unreference.
    void* unused_before[11];
    GDExtensionClassCreateInstance create_instance_func;
    GDExtensionClassFreeInstance free_instance_func;
    // recreate_instance, get_virtual, get_virtual_call_data, call_virtual_with_data, get_rid.
    void* unused_after[5];
    void* class_userdata;
} GDExtensionClassCreationInfo2;

typedef enum {
    GDEXTENSION_METHOD_FLAGS_DEFAULT = 1,
    GDEXTENSION_METHOD_FLAG_STATIC = 32
} GDExtensionClassMethodFlags;
typedef enum {
    GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE = 0
} GDExtensionClassMethodArgumentMetadata;
typedef void (*GDExtensionClassMethodCall)(void* userdata, GDExtensionClassInstancePtr,
                                           const GDExtensionConstVariantPtr* arguments,
                                           GDExtensionInt count, GDExtensionVariantPtr out,
                                           GDExtensionCallError* error);
typedef void (*GDExtensionClassMethodPtrCall)(void* userdata, GDExtensionClassInstancePtr,
                                              const GDExtensionConstTypePtr* arguments,
                                              GDExtensionTypePtr out);
typedef struct {
    GDExtensionStringNamePtr name;
    void* method_userdata;
    GDExtensionClassMethodCall call_func;
    GDExtensionClassMethodPtrCall ptrcall_func;
    uint32_t method_flags;
    GDExtensionBool has_return_value;
    GDExtensionPropertyInfo* return_value_info;
    GDExtensionClassMethodArgumentMetadata return_value_metadata;
    uint32_t argument_count;
    GDExtensionPropertyInfo* arguments_info;
    GDExtensionClassMethodArgumentMetadata* arguments_metadata;
    uint32_t default_argument_count;
    GDExtensionVariantPtr* default_arguments;
} GDExtensionClassMethodInfo;

typedef enum {
    GDEXTENSION_INITIALIZATION_CORE = 0,
    GDEXTENSION_INITIALIZATION_SERVERS = 1,
    GDEXTENSION_INITIALIZATION_SCENE = 2,
    GDEXTENSION_INITIALIZATION_EDITOR = 3
} GDExtensionInitializationLevel;
typedef struct {
    GDExtensionInitializationLevel minimum_initialization_level;
    void* userdata;
    void (*initialize)(void* userdata, GDExtensionInitializationLevel);
    void (*deinitialize)(void* userdata, GDExtensionInitializationLevel);
} GDExtensionInitialization;

typedef void (*GDExtensionInterfaceFunctionPtr)();
typedef GDExtensionInterfaceFunctionPtr (*GDExtensionInterfaceGetProcAddress)(const char* name);
typedef void (*GDExtensionInterfaceStringNameNewWithLatin1Chars)(
    GDExtensionUninitializedStringNamePtr, const char*, GDExtensionBool is_static);
typedef void (*GDExtensionInterfaceStringNewWithUtf8CharsAndLen)(GDExtensionUninitializedStringPtr,
                                                                 const char*, GDExtensionInt size);
typedef GDExtensionInt (*GDExtensionInterfaceStringToUtf8Chars)(GDExtensionConstStringPtr,
                                                                char* text, GDExtensionInt most);
typedef float* (*GDExtensionInterfacePackedFloat32ArrayOperatorIndex)(GDExtensionTypePtr,
                                                                      GDExtensionInt);
typedef uint8_t* (*GDExtensionInterfacePackedByteArrayOperatorIndex)(GDExtensionTypePtr,
                                                                     GDExtensionInt);
typedef GDExtensionMethodBindPtr (*GDExtensionInterfaceClassdbGetMethodBind)(
    GDExtensionConstStringNamePtr class_name, GDExtensionConstStringNamePtr method,
    GDExtensionInt hash);
typedef GDExtensionPtrBuiltInMethod (*GDExtensionInterfaceVariantGetPtrBuiltinMethod)(
    GDExtensionVariantType, GDExtensionConstStringNamePtr, GDExtensionInt hash);
typedef GDExtensionPtrDestructor (*GDExtensionInterfaceVariantGetPtrDestructor)(
    GDExtensionVariantType);
typedef GDExtensionTypeFromVariantConstructorFunc (
    *GDExtensionInterfaceGetVariantToTypeConstructor)(GDExtensionVariantType);
typedef GDExtensionVariantFromTypeConstructorFunc (
    *GDExtensionInterfaceGetVariantFromTypeConstructor)(GDExtensionVariantType);
typedef GDExtensionVariantType (*GDExtensionInterfaceVariantGetType)(GDExtensionConstVariantPtr);
typedef GDExtensionObjectPtr (*GDExtensionInterfaceClassdbConstructObject)(
    GDExtensionConstStringNamePtr);
typedef void (*GDExtensionInterfaceObjectSetInstance)(GDExtensionObjectPtr,
                                                      GDExtensionConstStringNamePtr,
                                                      GDExtensionClassInstancePtr);
typedef void (*GDExtensionInterfaceClassdbRegisterExtensionClass2)(
    GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr name,
    GDExtensionConstStringNamePtr parent, const GDExtensionClassCreationInfo2*);
typedef void (*GDExtensionInterfaceClassdbRegisterExtensionClassMethod)(
    GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr class_name,
    const GDExtensionClassMethodInfo*);
typedef void (*GDExtensionInterfaceClassdbUnregisterExtensionClass)(GDExtensionClassLibraryPtr,
                                                                    GDExtensionConstStringNamePtr);
typedef void (*GDExtensionInterfaceVariantNewNil)(GDExtensionUninitializedVariantPtr);
typedef void (*GDExtensionInterfaceVariantNewCopy)(GDExtensionUninitializedVariantPtr,
                                                   GDExtensionConstVariantPtr);
typedef void (*GDExtensionInterfaceVariantDestroy)(GDExtensionVariantPtr);
typedef void (*GDExtensionInterfaceVariantConstruct)(GDExtensionVariantType,
                                                     GDExtensionUninitializedVariantPtr,
                                                     const GDExtensionConstVariantPtr* arguments,
                                                     int32_t count, GDExtensionCallError*);
typedef void (*GDExtensionInterfaceVariantSetKeyed)(GDExtensionVariantPtr,
                                                    GDExtensionConstVariantPtr key,
                                                    GDExtensionConstVariantPtr value,
                                                    GDExtensionBool* is_valid);
typedef void (*GDExtensionInterfaceVariantGetKeyed)(GDExtensionConstVariantPtr,
                                                    GDExtensionConstVariantPtr key,
                                                    GDExtensionUninitializedVariantPtr out,
                                                    GDExtensionBool* is_valid);
typedef void (*GDExtensionInterfaceVariantGetIndexed)(GDExtensionConstVariantPtr, GDExtensionInt,
                                                      GDExtensionUninitializedVariantPtr out,
                                                      GDExtensionBool* is_valid,
                                                      GDExtensionBool* is_out_of_bounds);
typedef GDExtensionBool (*GDExtensionInterfaceVariantIterInit)(
    GDExtensionConstVariantPtr, GDExtensionUninitializedVariantPtr iterator,
    GDExtensionBool* is_valid);
typedef GDExtensionBool (*GDExtensionInterfaceVariantIterNext)(GDExtensionConstVariantPtr,
                                                               GDExtensionVariantPtr iterator,
                                                               GDExtensionBool* is_valid);
typedef void (*GDExtensionInterfaceVariantIterGet)(GDExtensionConstVariantPtr,
                                                   GDExtensionVariantPtr iterator,
                                                   GDExtensionUninitializedVariantPtr out,
                                                   GDExtensionBool* is_valid);
typedef void (*GDExtensionInterfaceObjectMethodBindCall)(
    GDExtensionMethodBindPtr, GDExtensionObjectPtr, const GDExtensionConstVariantPtr* arguments,
    GDExtensionInt count, GDExtensionUninitializedVariantPtr out, GDExtensionCallError*);
typedef void (*GDExtensionInterfaceRefSetObject)(GDExtensionRefPtr, GDExtensionObjectPtr);
typedef void (*GDExtensionInterfaceClassdbRegisterExtensionClassProperty)(
    GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr class_name,
    const GDExtensionPropertyInfo*, GDExtensionConstStringNamePtr setter,
    GDExtensionConstStringNamePtr getter);
typedef void (*GDExtensionInterfaceClassdbRegisterExtensionClassSignal)(
    GDExtensionClassLibraryPtr, GDExtensionConstStringNamePtr class_name,
    GDExtensionConstStringNamePtr signal, const GDExtensionPropertyInfo* arguments,
    GDExtensionInt count);
typedef void (*GDExtensionsInterfaceEditorHelpLoadXmlFromUtf8CharsAndLen)(const char* xml,
                                                                          GDExtensionInt size);
