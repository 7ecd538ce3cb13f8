// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The part of Godot's C interface for extensions that engine_bridge/godot and its test host use,
// declared from its documentation so that the bridge can be compiled and run without Godot.
// Structs have fewer members and enumerations other values than Godot's: Godot must not load
// anything that was compiled with this header.

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int64_t GDExtensionInt;
typedef uint8_t GDExtensionBool;
typedef void *GDExtensionVariantPtr, *GDExtensionUninitializedVariantPtr, *GDExtensionStringNamePtr,
    *GDExtensionUninitializedStringNamePtr, *GDExtensionStringPtr,
    *GDExtensionUninitializedStringPtr, *GDExtensionObjectPtr, *GDExtensionTypePtr,
    *GDExtensionUninitializedTypePtr, *GDExtensionClassInstancePtr, *GDExtensionClassLibraryPtr;
typedef const void *GDExtensionConstVariantPtr, *GDExtensionConstStringNamePtr,
    *GDExtensionConstStringPtr, *GDExtensionConstTypePtr, *GDExtensionMethodBindPtr;

typedef enum {
    GDEXTENSION_VARIANT_TYPE_NIL,
    GDEXTENSION_VARIANT_TYPE_BOOL,
    GDEXTENSION_VARIANT_TYPE_INT,
    GDEXTENSION_VARIANT_TYPE_STRING,
    GDEXTENSION_VARIANT_TYPE_STRING_NAME,
    GDEXTENSION_VARIANT_TYPE_PACKED_BYTE_ARRAY,
    GDEXTENSION_VARIANT_TYPE_PACKED_FLOAT32_ARRAY
} GDExtensionVariantType;

typedef enum {
    GDEXTENSION_CALL_OK,
    GDEXTENSION_CALL_ERROR_INVALID_METHOD,
    GDEXTENSION_CALL_ERROR_INVALID_ARGUMENT,
    GDEXTENSION_CALL_ERROR_TOO_MANY_ARGUMENTS,
    GDEXTENSION_CALL_ERROR_TOO_FEW_ARGUMENTS
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
typedef void (*GDExtensionPtrConstructor)(GDExtensionUninitializedTypePtr base,
                                          const GDExtensionConstTypePtr* arguments);
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
    GDExtensionClassCreateInstance create_instance_func;
    GDExtensionClassFreeInstance free_instance_func;
    void* class_userdata;
} GDExtensionClassCreationInfo2;

typedef enum { GDEXTENSION_METHOD_FLAGS_DEFAULT = 1 } GDExtensionClassMethodFlags;
typedef enum { GDEXTENSION_METHOD_ARGUMENT_METADATA_NONE } GDExtensionClassMethodArgumentMetadata;
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
} GDExtensionClassMethodInfo;

typedef enum {
    GDEXTENSION_INITIALIZATION_CORE,
    GDEXTENSION_INITIALIZATION_SERVERS,
    GDEXTENSION_INITIALIZATION_SCENE
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
typedef void (*GDExtensionInterfaceStringNewWithUtf8Chars)(GDExtensionUninitializedStringPtr,
                                                           const char*);
typedef GDExtensionInt (*GDExtensionInterfaceStringToUtf8Chars)(GDExtensionConstStringPtr,
                                                                char* text, GDExtensionInt most);
typedef float* (*GDExtensionInterfacePackedFloat32ArrayOperatorIndex)(GDExtensionTypePtr,
                                                                      GDExtensionInt);
typedef const float* (*GDExtensionInterfacePackedFloat32ArrayOperatorIndexConst)(
    GDExtensionConstTypePtr, GDExtensionInt);
typedef uint8_t* (*GDExtensionInterfacePackedByteArrayOperatorIndex)(GDExtensionTypePtr,
                                                                     GDExtensionInt);
typedef const uint8_t* (*GDExtensionInterfacePackedByteArrayOperatorIndexConst)(
    GDExtensionConstTypePtr, GDExtensionInt);
typedef GDExtensionMethodBindPtr (*GDExtensionInterfaceClassdbGetMethodBind)(
    GDExtensionConstStringNamePtr class_name, GDExtensionConstStringNamePtr method,
    GDExtensionInt hash);
typedef void (*GDExtensionInterfaceObjectMethodBindPtrcall)(
    GDExtensionMethodBindPtr, GDExtensionObjectPtr, const GDExtensionConstTypePtr* arguments,
    GDExtensionTypePtr out);
typedef GDExtensionPtrBuiltInMethod (*GDExtensionInterfaceVariantGetPtrBuiltinMethod)(
    GDExtensionVariantType, GDExtensionConstStringNamePtr, GDExtensionInt hash);
typedef GDExtensionPtrConstructor (*GDExtensionInterfaceVariantGetPtrConstructor)(
    GDExtensionVariantType, int32_t index);
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
