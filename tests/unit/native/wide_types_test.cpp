// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Integers of 64 bits and doubles in cooked C and on the CPU device are exact.

#include "compiler/interpreter/interpreter.hpp"
#include "native/device_executor.hpp"
#include "native/native_net.hpp"
#include "native/open_device.hpp"
#include "support/wide_graphs.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hearth::test {
namespace {

native::BuildOptions build_options() {
    return {.flags = "-O1 -Wall -Wextra -Werror",
            .cache_folder = ::testing::TempDir() + "hearth_wide_test"};
}

/// Integers to the bit; floats to a few units in the last place of a double.
void expect_exact(const WideGraph& wide, const NamedTensors& found) {
    NamedTensors weights;
    const auto reference = interpret(wide.graph, wide.inputs, weights, 1);
    ASSERT_TRUE(reference.ok()) << wide.name << ": " << reference.status().message();
    const HostTensor &want = reference->at(wide.name + ".out"),
                     &have = found.at(wide.name + ".out");
    ASSERT_EQ(have.dtype(), want.dtype()) << wide.name;
    ASSERT_EQ(have.shape(), want.shape()) << wide.name;
    for (int64_t i = 0; i < want.element_count(); ++i) {
        if (!is_floating(want.dtype()))
            EXPECT_EQ(have.get_int(i), want.get_int(i)) << wide.name << "[" << i << "]";
        else if (want.dtype() == DType::kF64)
            EXPECT_TRUE(have.get(i) == want.get(i) ||
                        std::fabs(have.get(i) - want.get(i)) <= 1e-15 * std::fabs(want.get(i)))
                << wide.name << "[" << i << "]";
        else
            EXPECT_FLOAT_EQ(static_cast<float>(have.get(i)), static_cast<float>(want.get(i)))
                << wide.name << "[" << i << "]";
    }
}

std::vector<Graph> graphs_of(const std::vector<WideGraph>& all) {
    std::vector<Graph> graphs;
    for (const WideGraph& wide : all) graphs.push_back(wide.graph);
    return graphs;
}

TEST(WideTypes, CookedCIsExact) {
    const std::vector<WideGraph> all = wide_graphs();
    for (const CpuIsa cpu : {CpuIsa::kScalar, native::this_cpu()}) {
        CompileToCOptions options;
        options.cpu_isa = cpu;
        const auto net = native::NativeNet::build(graphs_of(all), options, build_options());
        ASSERT_TRUE(net.ok()) << net.status().message();
        for (const WideGraph& wide : all) {
            const auto found = (*net)->run(wide.name, wide.inputs, 1);
            ASSERT_TRUE(found.ok()) << wide.name << ": " << found.status().message();
            expect_exact(wide, *found);
        }
    }
}

TEST(WideTypes, TheCpuDeviceIsExact) {
    const auto opened = native::open_device("cpu", {.build = build_options()});
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto executor = native::make_device_executor(*opened->device, "cpu");
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    const std::vector<WideGraph> all = wide_graphs();
    const Status loaded = (*executor)->load(graphs_of(all), 1);
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    for (const WideGraph& wide : all) {
        const auto found = (*executor)->run(wide.name, wide.inputs, 1);
        ASSERT_TRUE(found.ok()) << wide.name << ": " << found.status().message();
        expect_exact(wide, *found);
    }
}

}  // namespace
}  // namespace hearth::test
