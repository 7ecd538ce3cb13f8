// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Integers of 64 bits on a device: exact where it has them, refused where it does not.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"
#include "support/wide_graphs.hpp"

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

namespace hearth::test {
namespace {

TEST_F(VulkanTest, IntegersOf64BitsAreExactOrRefused) {
    const auto caps = device().caps();
    ASSERT_TRUE(caps.ok());
    CompileOptions options;
    options.caps = *caps;
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    std::vector<WideGraph> all = wide_graphs();
    if (!caps->shader_float64)
        std::erase_if(all, [](const WideGraph& wide) { return wide.has_doubles; });
    std::vector<Graph> graphs;
    for (const WideGraph& wide : all) graphs.push_back(wide.graph);
    const auto compiled = compile_graphs(std::move(graphs), options);
    if (!caps->shader_int64) {
        ASSERT_EQ(compiled.status().code(), StatusCode::kUnsupported);
        EXPECT_NE(compiled.status().message().find("--assume-int32"), std::string::npos);
        return;
    }
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    auto runner = standalone::ProgramRunner::create(device(), save_program(compiled->program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    for (const WideGraph& wide : all) {
        NamedTensors weights;
        const auto expected = interpret(wide.graph, wide.inputs, weights, 1);
        const auto found = (*runner)->run(wide.name.c_str(), 1, wide.inputs);
        ASSERT_TRUE(expected.ok() && found.ok()) << wide.name << ": " << found.status().message();
        const HostTensor &want = expected->at(wide.name + ".out"),
                         &have = found->at(wide.name + ".out");
        ASSERT_EQ(have.dtype(), want.dtype()) << wide.name;
        for (int64_t i = 0; i < want.element_count(); ++i)
            if (is_floating(want.dtype()) && std::isfinite(want.get(i)))
                EXPECT_NEAR(have.get(i), want.get(i), 1e-6 * std::abs(want.get(i))) << wide.name;
            else if (is_floating(want.dtype()))
                EXPECT_EQ(have.get(i), want.get(i)) << wide.name;
            else
                EXPECT_EQ(have.get_int(i), want.get_int(i)) << wide.name << "[" << i << "]";
    }
}

}  // namespace
}  // namespace hearth::test
