// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Exported GLSL functions, called by a shader that is none of Hearth's with the weights of a
// session that has trained them, compute what the interpreter does.

#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/glsl.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <cstring>
#include <string>

namespace hearth::test {
namespace {

using standalone::MemoryKind;

constexpr int64_t kRowCount = 37;

/// Returns what the function computes from x, [rows, n].
struct FunctionCase {
    const char* name;
    int64_t width;
    Tensor (*build)(Trace& trace, const Tensor& x);
    Precision precision = Precision::kF32;
    double tolerance = 2e-5;
};

const FunctionCase kCases[] = {
    {"OddLayers", 3,
     [](Trace& t, const Tensor& x) {
         return nn::mlp(t, "net", x, {7, 5, 3}, tanh, {.seed = 4});
     }},
    {"OneNumberToOne", 1,
     [](Trace& t, const Tensor& x) {
         return nn::mlp(t, "net", x, {9, 1}, silu, {.seed = 4});
     }},
    {"Residual", 6,
     [](Trace& t, const Tensor& x) {
         const Tensor y = nn::mlp(t, "net", x, {11, 6}, gelu, {.seed = 5});
         return x + layer_norm(y, {-1}, t.param("scale", {6}, Init::constant(1.5)),
                               t.param("shift", {6}, Init::uniform(-1, 1, 3)));
     }},
    {"Softmax", 5,
     [](Trace& t, const Tensor& x) {
         return softmax(nn::mlp(t, "net", x, {13, 5}, relu, {.seed = 6}), -1);
     }},
    {"HashGridInTwoDimensions", 2,
     [](Trace& t, const Tensor& x) {
         const Tensor place = sigmoid(x);
         const nn::HashGridOptions grid{
             .levels = 5, .features = 3, .log2_entries = 6, .base_resolution = 3, .init_range = 1};
         return nn::mlp(t, "net", nn::hash_grid(t, "grid", place, grid), {17, 3}, relu,
                        {.seed = 7});
     }},
    {"HashGridInThreeDimensions", 3,
     [](Trace& t, const Tensor& x) {
         const nn::HashGridOptions grid{
             .levels = 3, .log2_entries = 5, .base_resolution = 2, .init_range = 1};
         return nn::linear(t, "net", nn::hash_grid(t, "grid", sigmoid(x), grid), 2);
     }},
    {"Frequencies", 2,
     [](Trace& t, const Tensor& x) {
         return nn::mlp(t, "net", nn::frequency_encoding(x, 3), {8, 4}, relu, {.seed = 8});
     }},
    {"WeightsOfSixteenBits", 5,
     [](Trace& t, const Tensor& x) {
         const Tensor w = t.param("w", {3, 5}, Init::uniform(-1, 1, 9), DType::kF16);
         const Tensor b = t.param("b", {3}, Init::uniform(-1, 1, 9), DType::kBF16);
         return matmul(x, transpose(cast(w, DType::kF32))) + cast(b, DType::kF32);
     },
     Precision::kF32, 1e-3},
    {"ProductsOfSixteenBits", 5,
     [](Trace& t, const Tensor& x) {
         return nn::mlp(t, "net", x, {12, 3}, relu, {.seed = 9});
     },
     Precision::kF16, 1e-2},
    {"TablesOfConstants", 4,
     [](Trace& t, const Tensor& x) {
         std::vector<double> values;
         for (int i = 0; i < 7 * 4; ++i) values.push_back(0.25 * i - 3);
         const Tensor table = t.constant(HostTensor::of({7, 4}, values, DType::kF32));
         const Tensor row = cast(floor(abs(squeeze(slice(x, 1, 0, 1), {1})) * 7.0), DType::kI32);
         return matmul(take(table, row) * x, transpose(table));
     }},
};

HostTensor random_rows(int64_t width, uint64_t key) {
    HostTensor t(DType::kF32, {kRowCount, width});
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, 2 * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))) - 1);
    return t;
}

std::string element(const std::string& name, int64_t count, int64_t i) {
    return count == 1 ? name : name + "[" + std::to_string(i) + "]";
}

std::string type(int64_t count) {
    if (count == 1) return "float";
    return count <= 4 ? "vec" + std::to_string(count) : "float[" + std::to_string(count) + "]";
}

/// A shader of a game's: one invocation for each row, places by push constants.
std::string caller_of(const std::string& function, int64_t in, int64_t out) {
    std::string text = "#version 450\n" + function +
                       "layout(local_size_x = 1) in;\n"
                       "layout(buffer_reference, std430) buffer Floats { float at[]; };\n"
                       "layout(push_constant) uniform Push { uvec2 weights; Floats x, y; } push;\n"
                       "void main() {\n    const uint row = gl_WorkGroupID.x;\n    " +
                       type(in) + " x;\n    " + type(out) + " y;\n";
    for (int64_t i = 0; i < in; ++i)
        text += "    " + element("x", in, i) + " = push.x.at[row * " + std::to_string(in) + " + " +
                std::to_string(i) + "];\n";
    text += "    net(push.weights, x, y);\n";
    for (int64_t i = 0; i < out; ++i)
        text += "    push.y.at[row * " + std::to_string(out) + " + " + std::to_string(i) +
                "] = " + element("y", out, i) + ";\n";
    return text + "}\n";
}

class ExportedFunction : public VulkanTest, public testing::WithParamInterface<FunctionCase> {
  protected:
    /// Runs the shader on kRowCount rows.
    std::vector<float> run(const std::string& source, VkDeviceAddress weights, const HostTensor& x,
                           int64_t out) {
        const Result<std::vector<uint32_t>> spirv = compile_glsl(source, "caller");
        EXPECT_TRUE(spirv.ok()) << spirv.status().message();
        if (!spirv.ok()) return {};
        const standalone::Buffer from = make_buffer(x.bytes().size(), MemoryKind::kUpload);
        const standalone::Buffer to = make_buffer(
            static_cast<uint64_t>(kRowCount * out) * sizeof(float), MemoryKind::kReadback);
        std::memcpy(from.data(), x.bytes().data(), x.bytes().size());
        const VkDeviceAddress push[] = {weights, from.address(), to.address()};

        VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
        module_info.codeSize = spirv->size() * sizeof(uint32_t);
        module_info.pCode = spirv->data();
        VkShaderModule shader = VK_NULL_HANDLE;
        EXPECT_EQ(vk().CreateShaderModule(device().handle(), &module_info, nullptr, &shader),
                  VK_SUCCESS);
        const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push};
        VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
        layout_info.pushConstantRangeCount = 1;
        layout_info.pPushConstantRanges = &range;
        VkPipelineLayout layout = VK_NULL_HANDLE;
        EXPECT_EQ(vk().CreatePipelineLayout(device().handle(), &layout_info, nullptr, &layout),
                  VK_SUCCESS);
        VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
        info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
        info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
        info.stage.module = shader;
        info.stage.pName = "main";
        info.layout = layout;
        VkPipeline pipeline = VK_NULL_HANDLE;
        EXPECT_EQ(vk().CreateComputePipelines(device().handle(), VK_NULL_HANDLE, 1, &info, nullptr,
                                              &pipeline),
                  VK_SUCCESS);
        const Status status = device().run([&](VkCommandBuffer cmd) {
            vk().CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
            vk().CmdPushConstants(cmd, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
            vk().CmdDispatch(cmd, kRowCount, 1, 1);
            VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
            barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
            barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
            vk().CmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                    VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0,
                                    nullptr);
        });
        EXPECT_TRUE(status.ok()) << status.message();
        vk().DestroyPipeline(device().handle(), pipeline, nullptr);
        vk().DestroyPipelineLayout(device().handle(), layout, nullptr);
        vk().DestroyShaderModule(device().handle(), shader, nullptr);
        const std::span<const float> found = to.as<float>();
        return {found.begin(), found.end()};
    }
};

TEST_P(ExportedFunction, EqualsTheInterpreterOnWeightsThatASessionHasTrained) {
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        GTEST_SKIP() << "functions read weights by device address";
    const FunctionCase& c = GetParam();
    Trace act("net"), learn("learn");
    act.output("y", c.build(act, act.input("x", {kBatch, c.width})));
    const Tensor goal = c.build(learn, learn.input("x", {kBatch, c.width}));
    const Tensor loss = mean(square(goal - 0.5));
    learn.output("loss", loss);
    if (c.precision == Precision::kF32 && !learn.params().empty() &&
        learn.params()[0].dtype() == DType::kF32)
        minimize(loss, learn.params(), AdamOptions{.learning_rate = 0.05});

    const CompileOptions options{
        .caps = device().caps().value(), .max_batch_size = kRowCount, .precision = c.precision};
    const auto compiled = compile({&act, &learn}, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto function = export_glsl(act, *compiled, options);
    ASSERT_TRUE(function.ok()) << function.status().message();

    const auto runner = standalone::ProgramRunner::create(device(), compiled->bytes);
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    const HostTensor x = random_rows(c.width, 11);
    for (int step = 0; step < 3; ++step)
        ASSERT_TRUE((*runner)->run("learn", kRowCount, {{"x", x}}).ok());

    VkDeviceAddress weights = 0;
    if (!function->variable.empty()) {
        const auto slot = (*runner)->program().find_variable(function->variable.c_str());
        ASSERT_TRUE(slot.ok()) << slot.status().message();
        weights = (*runner)->session().variable_buffer(*slot).value().device_address;
        ASSERT_NE(weights, 0u);
    }
    NamedTensors slots = (*runner)->read_variables().value();
    const auto expected = interpret(act.build().value(), {{"x", x}}, slots, kRowCount);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const HostTensor& y = expected->at("y");
    const int64_t out = y.element_count() / kRowCount;
    const std::vector<float> found = run(caller_of(function->text, c.width, out), weights, x, out);
    ASSERT_EQ(found.size(), static_cast<size_t>(y.element_count()));
    for (int64_t i = 0; i < y.element_count(); ++i)
        ASSERT_NEAR(found[static_cast<size_t>(i)], y.get(i), c.tolerance * (1 + std::abs(y.get(i))))
            << "row " << i / out << ", output " << i % out << "\n"
            << function->text;
}

INSTANTIATE_TEST_SUITE_P(Glsl, ExportedFunction, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

/// What exporting `entry` fails with.
std::string error_of(Trace& entry, std::string_view name = {}) {
    const CompileOptions options{.max_batch_size = 8};
    const auto compiled = compile({&entry}, options);
    if (!compiled.ok()) return "does not compile: " + compiled.status().message();
    return export_glsl(entry, *compiled, options, name).status().message();
}

TEST(ExportGlsl, ErrorsNameTheOperatorThatCannotBeExported) {
    Trace mixes("mixes");
    const Tensor x = mixes.input("x", {kBatch, 3});
    mixes.output("y", x - mean(x, {0}));
    EXPECT_EQ(
        error_of(mixes),
        "GLSL of entry 'mixes': operator 'reduce_sum' cannot be exported: it folds over rows");

    Trace flips("flips");
    flips.output("y", flip(flips.input("x", {kBatch, 3}), {0}));
    EXPECT_EQ(error_of(flips),
              "GLSL of entry 'flips': 'flip' reads [batch, 3] in other rows than the one that it "
              "computes");

    Trace sorts("sorts");
    sorts.output("y", sort(sorts.input("x", {kBatch, 40}), -1));
    EXPECT_NE(error_of(sorts).find("has a kernel of its own"), std::string::npos)
        << error_of(sorts);

    Trace draws("draws");
    draws.output("y", draws.input("x", {kBatch, 2}) +
                          random_uniform(draws.state("step", {}, {}, DType::kU32), 1, {kBatch, 2}));
    EXPECT_NE(error_of(draws).find("draws random numbers"), std::string::npos) << error_of(draws);
}

TEST(ExportGlsl, ErrorsNameNamesThatGlslDoesNotTake) {
    Trace entry("net");
    entry.output("y", nn::linear(entry, "l", entry.input("x", {kBatch, 3}), 2));
    EXPECT_EQ(error_of(entry, "2nd"), "GLSL of entry 'net': '2nd' is no name of a GLSL function");
    EXPECT_EQ(error_of(entry, "paint"), "");
    Trace dotted("net");
    dotted.output("y", nn::linear(dotted, "l", dotted.input("x.place", {kBatch, 3}), 2));
    EXPECT_EQ(error_of(dotted),
              "GLSL of entry 'net': 'x.place' cannot name a parameter of the function");
    Trace word("net");
    word.output("sample", nn::linear(word, "l", word.input("x", {kBatch, 3}), 2));
    EXPECT_NE(error_of(word), "");
}

TEST(ExportGlsl, NamesOfAFileStayInTheirComment) {
    const std::string code = "\nfloat own = 1;\r\n// \xe2\x80\xa8";
    Trace entry("net" + code);
    entry.output("y", nn::linear(entry, "l" + code, entry.input("x", {kBatch, 3}), 2));
    CompileOptions options;
    options.caps.name = "target" + code;
    const auto compiled = compile({&entry}, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto function = export_glsl(entry, *compiled, options, "paint");
    ASSERT_TRUE(function.ok()) << function.status().message();
    for (size_t at = 0; (at = function->text.find("float own", at)) != std::string::npos; ++at)
        EXPECT_TRUE(function->text.substr(function->text.rfind('\n', at) + 1).starts_with("// "))
            << function->text.substr(0, 400);
    EXPECT_EQ(function->text.find('\r'), std::string::npos);
}

TEST(ExportGlsl, WantsTheProgramThatHasTheWeights) {
    Trace one("net"), other("net");
    one.output("y", nn::linear(one, "one", one.input("x", {kBatch, 3}), 2));
    other.output("y", nn::linear(other, "other", other.input("x", {kBatch, 3}), 2));
    const CompileOptions options;
    const auto compiled = compile({&other}, options);
    ASSERT_TRUE(compiled.ok());
    EXPECT_EQ(export_glsl(one, *compiled, options).status().message(),
              "GLSL of entry 'net': the program has no weight 'one.weight' f32[2, 3]");
}

}  // namespace
}  // namespace hearth::test
