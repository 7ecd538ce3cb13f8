// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What is promised of every executor, held by Hearth's own.

#include "native/device_executor.hpp"
#include "native/open_device.hpp"
#include "ops/custom_kernel_ops.hpp"
#include "promises.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

TEST(ReferenceExecutor, KeepsItsPromises) {
    expect_promises(*make_reference_executor());
}

TEST(ProgramExecutor, KeepsItsPromises) {
    expect_promises(*make_program_executor());
}

TEST(CpuExecutor, KeepsItsPromises) {
    const auto opened = native::open_device(
        "cpu", {.build = {.flags = "-O1", .cache_folder = ::testing::TempDir() + "hearth_native"}});
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto executor = native::make_device_executor(*opened->device, "cpu");
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    expect_promises(**executor);
}

TEST(VulkanExecutor, KeepsItsPromises) {
    const auto opened = native::open_device("");
    if (!opened.ok()) GTEST_SKIP() << opened.status().message();
    const auto executor = native::make_device_executor(*opened->device, "gpu");
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    expect_promises(**executor);
}

TEST(DecomposeUnknown, ReplacesWhatIsDeniedUntilNothingIs) {
    Trace trace("act");
    trace.output("y", log_softmax(relu(trace.input("x", {kBatch, 5})), 1));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok());
    const auto is_known = [](const Graph&, const Node& node) {
        return node.op->op_class != OpClass::kComposite;
    };
    const auto decomposed = legalize(*graph, is_known);
    ASSERT_TRUE(decomposed.ok()) << decomposed.status().message();
    for (const Node& node : decomposed->nodes)
        EXPECT_TRUE(is_known(*decomposed, node)) << node.op->name;
    HostTensor x(DType::kF32, {3, 5});
    for (int64_t i = 0; i < 15; ++i) x.set(i, static_cast<double>(i % 4) - 1.5);
    const auto executor = make_reference_executor();
    ASSERT_TRUE(executor->load({*graph}, 3).ok());
    const auto expected = executor->run("act", {{"x", x}}, 3);
    ASSERT_TRUE(executor->load({*decomposed}, 3).ok());
    const auto found = executor->run("act", {{"x", x}}, 3);
    ASSERT_TRUE(expected.ok() && found.ok());
    for (int64_t i = 0; i < 15; ++i)
        EXPECT_NEAR(found->at("y").get(i), expected->at("y").get(i), 1e-6);
}

TEST(DecomposeUnknown, NamesAllThatHaveNoDecomposition) {
    Trace trace("act");
    const Tensor x = trace.input("x", {4});
    trace.output("y", tanh(cumsum(x, 0)) + softmax(x, 0));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok());
    const auto refused = legalize(*graph, [](const Graph&, const Node& node) {
        return node.op->name != "tanh" && node.op->name != "cumsum" && node.op->name != "softmax";
    });
    EXPECT_EQ(refused.status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(refused.status().message(),
              "there is no operator cumsum, tanh, nor a decomposition of it");
}

TEST(RegisterExecutor, RefusesNamesThatAreTaken) {
    const auto make = [] { return make_reference_executor(); };
    EXPECT_EQ(make_registered_executor("another"), nullptr);
    EXPECT_TRUE(register_executor("another", make).ok());
    EXPECT_NE(make_registered_executor("another"), nullptr);
    EXPECT_EQ(register_executor("another", make).message(),
              "an executor 'another' is already registered; choose another name");
    EXPECT_EQ(register_executor("cpu", make).message(),
              "'cpu' is the name of a built-in executor; choose another name");
}

}  // namespace
}  // namespace hearth::test
