// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/glsl_compiler.hpp"

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

namespace hearth {

namespace {

// glslang keeps process-wide tables; they are built once, by the first caller.
struct GlslangProcess {
    GlslangProcess() { glslang::InitializeProcess(); }
    ~GlslangProcess() { glslang::FinalizeProcess(); }
};

std::string numbered(const std::string& source) {
    std::string text;
    int number = 1;
    for (size_t at = 0; at < source.size();) {
        const size_t end = std::min(source.find('\n', at), source.size());
        text += std::to_string(number++) + ": " + source.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return text;
}

}  // namespace

Result<std::vector<uint32_t>> compile_glsl(const std::string& source, const std::string& name,
                                           uint32_t newest_spirv) {
    static const GlslangProcess process;
    glslang::TShader shader(EShLangCompute);
    const char* text = source.c_str();
    shader.setStrings(&text, 1);
    shader.setEnvInput(glslang::EShSourceGlsl, EShLangCompute, glslang::EShClientVulkan, 100);
    const bool is_1_5 = newest_spirv >= 0x00010500;
    shader.setEnvClient(glslang::EShClientVulkan,
                        is_1_5 ? glslang::EShTargetVulkan_1_2 : glslang::EShTargetVulkan_1_1);
    shader.setEnvTarget(glslang::EShTargetSpv,
                        is_1_5 ? glslang::EShTargetSpv_1_5 : glslang::EShTargetSpv_1_3);
    const TBuiltInResource* limits = GetDefaultResources();
    const auto messages = static_cast<EShMessages>(EShMsgSpvRules | EShMsgVulkanRules);
    if (!shader.parse(limits, 450, false, messages))
        return internal_error("kernel " + name + " does not compile: " + shader.getInfoLog() +
                              numbered(source));
    glslang::TProgram program;
    program.addShader(&shader);
    if (!program.link(messages))
        return internal_error("kernel " + name + " does not link: " + program.getInfoLog());
    std::vector<uint32_t> words;
    glslang::SpvOptions options;
    options.disableOptimizer = true;  // drivers optimize; this keeps cooking fast
    glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &options);
    return words;
}

}  // namespace hearth
