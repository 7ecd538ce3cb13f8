// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/glsl_compiler.hpp"

#if defined(HEARTH_HAS_GLSLANG)

#include <glslang/Public/ResourceLimits.h>
#include <glslang/Public/ShaderLang.h>
#include <glslang/SPIRV/GlslangToSpv.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace hearth {

bool has_glsl_compiler() {
    return true;
}

namespace {

// glslang keeps process-wide tables; they are built once, by the first caller.
struct GlslangProcess {
    GlslangProcess() { glslang::InitializeProcess(); }
    ~GlslangProcess() { glslang::FinalizeProcess(); }
};

/// The first error of a log, with the line of the source that it names: generated sources have
/// hundreds of lines.
std::string first_error(std::string_view log, std::string_view source) {
    constexpr std::string_view kStart = "ERROR: 0:";  // the first string, then its line
    const size_t start = log.find(kStart);
    if (start == log.npos) return std::string(log.substr(0, log.find('\n')));
    log.remove_prefix(start + kStart.size());
    std::string error = "line " + std::string(log.substr(0, log.find('\n')));
    int line = 0;
    std::from_chars(log.data(), log.data() + log.size(), line);
    for (; line > 1 && source.find('\n') != source.npos; --line)
        source.remove_prefix(source.find('\n') + 1);
    source = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(source.find_first_not_of(' '), source.size()));
    constexpr size_t kMostCharacters = 100;
    return error + ": " + std::string(source.substr(0, kMostCharacters));
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
        return internal_error("kernel " + name +
                              " does not compile: " + first_error(shader.getInfoLog(), source));
    glslang::TProgram program;
    program.addShader(&shader);
    if (!program.link(messages))
        return internal_error("kernel " + name +
                              " does not link: " + first_error(program.getInfoLog(), source));
    std::vector<uint32_t> words;
    glslang::SpvOptions options;
    options.disableOptimizer = true;  // drivers optimize; this keeps cooking fast
    glslang::GlslangToSpv(*program.getIntermediate(EShLangCompute), words, &options);
    return words;
}

}  // namespace hearth

#else

namespace hearth {

bool has_glsl_compiler() {
    return false;
}

Result<std::vector<uint32_t>> compile_glsl(const std::string& /*source*/, const std::string& name,
                                           uint32_t /*newest_spirv*/) {
    return unsupported("kernel " + name +
                       " is written as GLSL, which this build does not compile; write it as a body "
                       "(hearth/kernel.hpp), or build with -D HEARTH_GLSL=ON (needs glslang)");
}

}  // namespace hearth

#endif
