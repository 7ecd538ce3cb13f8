# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# The compiler column: hearth::compiler, and hearth::import on top of it.  It never includes Vulkan.
if(HEARTH_GLSL)
    find_package(Threads REQUIRED)  # glslang names it and does not look for it
    find_package(glslang REQUIRED)
elseif(HEARTH_TESTS)
    message(FATAL_ERROR "HEARTH_GLSL=OFF: tests have kernels in GLSL; set HEARTH_TESTS=OFF, too")
endif()
if(HEARTH_PNG)
    find_package(PNG REQUIRED)
endif()
include(HearthOps)
include(HearthShaders)

# hearth_out_of_memory(target): lets std::bad_alloc unwind to where the library was entered, which makes a
# Status of it (core/out_of_memory.hpp).  Nothing is thrown otherwise, and nothing leaves the library.
function(hearth_out_of_memory target)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fexceptions>)
endfunction()

set(folders shaders ir kernel print reference ops interpreter autodiff fusion passes codegen plan driver)
list(TRANSFORM folders PREPEND compiler/)
list(APPEND folders model/nn model/optim model/fit import/archive import/data import/torch import/safetensors import/weights)
if(HEARTH_AGENTS)
    list(APPEND folders model/agents)
endif()
set(compiler_objects "")
foreach(folder IN LISTS folders)
    hearth_folder(${folder})
    string(REPLACE "/" "_" target hearth_${folder})
    hearth_out_of_memory(${target})
    list(APPEND compiler_objects $<TARGET_OBJECTS:${target}>)
endforeach()

# It links glslang for the sake of its headers; who links the library is below.
if(HEARTH_GLSL)
    target_link_libraries(hearth_compiler_codegen PRIVATE glslang::SPIRV)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/src/compiler/codegen/glsl_compiler.cpp
        TARGET_DIRECTORY hearth_compiler_codegen PROPERTIES COMPILE_DEFINITIONS HEARTH_HAS_GLSLANG)
endif()

if(HEARTH_PNG)
    foreach(target hearth_import_archive hearth_import_data)
        target_compile_definitions(${target} PRIVATE HEARTH_HAS_PNG)
        target_link_libraries(${target} PRIVATE PNG::PNG)  # and zlib, which it needs
    endforeach()
endif()

# Its functions of floats are those of kernels in C.
target_include_directories(hearth_compiler_reference SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/shaders/prelude)

set(op_table ${CMAKE_CURRENT_BINARY_DIR}/generated/op_table.gen.cpp)
hearth_op_table(${op_table})
target_sources(hearth_compiler_ops PRIVATE ${op_table})

set(shader_texts ${CMAKE_CURRENT_BINARY_DIR}/generated/shader_texts.gen.cpp)
hearth_shader_texts(${shader_texts})
target_sources(hearth_compiler_shaders PRIVATE ${shader_texts})

add_library(hearth_compiler STATIC ${compiler_objects})
add_library(hearth::compiler ALIAS hearth_compiler)
target_include_directories(hearth_compiler PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
target_link_libraries(hearth_compiler PUBLIC hearth::runtime)
if(HEARTH_GLSL)
    target_link_libraries(hearth_compiler PRIVATE
        glslang::glslang glslang::SPIRV glslang::glslang-default-resource-limits)
endif()
if(HEARTH_PNG)
    target_link_libraries(hearth_compiler PRIVATE PNG::PNG)
endif()

if(HEARTH_IMPORT)
    # Debian's package files for ONNX name a library that no package has, so it is found by hand.
    find_package(Protobuf REQUIRED)
    find_library(HEARTH_ONNX_PROTO onnx_proto REQUIRED)
    hearth_folder(import/onnx)
    hearth_out_of_memory(hearth_import_onnx)
    target_link_libraries(hearth_import_onnx PRIVATE protobuf::libprotobuf)
    target_compile_definitions(hearth_import_onnx PRIVATE ONNX_ML=1 ONNX_NAMESPACE=onnx)
    add_library(hearth_import STATIC $<TARGET_OBJECTS:hearth_import_onnx>)
    add_library(hearth::import ALIAS hearth_import)
    target_link_libraries(hearth_import PUBLIC hearth_compiler PRIVATE
        ${HEARTH_ONNX_PROTO} protobuf::libprotobuf)
endif()
