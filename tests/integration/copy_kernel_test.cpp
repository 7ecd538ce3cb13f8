// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Copies between params and states, which kernels do on a GPU and vkCmdCopyBuffer on a CPU.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>

namespace hearth::test {
namespace {

class CopyKernel : public VulkanTest {
  protected:
    /// Two states that change places at each run, of more elements than a workgroup has threads;
    /// what one of them held, plus one, comes out.
    static Graph exchange() {
        constexpr int64_t kCount = 301;
        Trace trace("exchange");
        const Tensor a = trace.state("a", {kCount}, Init::uniform(-1, 1));
        const Tensor b = trace.state("b", {kCount}, Init::uniform(-1, 1));
        trace.output("y", a + 1.0);
        trace.assign(a, b);
        trace.assign(b, a);
        return trace.build().value();
    }

    static Result<Program> compiled_for(const Graph& graph, DeviceCaps caps, bool is_software) {
        caps.device_type = is_software ? DeviceType::kCpu : DeviceType::kOther;
        CompileOptions options{.caps = caps};
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        HEARTH_ASSIGN(CompiledProgram compiled, compile_graphs({graph}, options));
        return std::move(compiled.program);
    }

    static int64_t copies_in(const Program& program) {
        return std::ranges::count(program.commands, CommandKind::kCopy, &Command::kind);
    }
};

TEST_F(CopyKernel, ExchangesStates) {
    const Graph graph = exchange();
    const auto program = compiled_for(graph, device().caps().value(), false);
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(copies_in(*program), 0);
    const auto runner = standalone::ProgramRunner::create(device(), save_program(*program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    NamedTensors weights;
    for (int run = 0; run < 3; ++run) {
        const auto expected = interpret(graph, {}, weights, 1);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto found = (*runner)->run("exchange", 1, {});
        ASSERT_TRUE(found.ok()) << found.status().message();
        EXPECT_EQ(*found, *expected) << "run " << run;
    }
    const auto slots = (*runner)->read_variables();
    ASSERT_TRUE(slots.ok());
    EXPECT_EQ(*slots, weights);
}

TEST_F(CopyKernel, IsLeftOutWhereTheDriverCopiesOrNothingIsCopied) {
    const Graph graph = exchange();
    const auto on_cpu = compiled_for(graph, device().caps().value(), true);
    ASSERT_TRUE(on_cpu.ok()) << on_cpu.status().message();
    EXPECT_GT(copies_in(*on_cpu), 0);
    Trace trace("count");
    const Tensor n = trace.state("n", {4});
    trace.assign(n, n + 1.0);
    const auto in_place = compiled_for(trace.build().value(), device().caps().value(), false);
    ASSERT_TRUE(in_place.ok()) << in_place.status().message();
    EXPECT_EQ(in_place->kernels.size(), 1u);
}

}  // namespace
}  // namespace hearth::test
