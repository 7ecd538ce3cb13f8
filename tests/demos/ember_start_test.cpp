// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ember starts without compiling anything: this program links the small library alone, and the
// context has no callback that could compile.

#include "life.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hearth::ember {
namespace {

Result<Context> context_with(const std::vector<const hearth_cpu_kernel_table*>& tables) {
    hearth_cpu_context_create_info info = hearth_cpu_context_create_info_default();
    info.tables = tables.data();
    info.table_count = static_cast<uint32_t>(tables.size());
    return Context::create_cpu(info);
}

TEST(EmberStart, NeedsNeitherACompilerNorACache) {
    const auto tables = part_kernels();
    auto context = context_with(tables);
    ASSERT_TRUE(context.ok()) << context.status().message();
    auto programs = load_part_programs(*context);
    ASSERT_TRUE(programs.ok()) << programs.status().message();
    auto life = Life::create(*context, *programs, {.frames_in_flight = 1});
    ASSERT_TRUE(life.ok()) << life.status().message();
    auto commands = CpuCommandBuffer::create(*context);
    ASSERT_TRUE(commands.ok()) << commands.status().message();
    for (uint64_t frame = 1; frame <= 120; ++frame) {
        ASSERT_TRUE(context->begin_frame(frame, frame - 1).ok());
        const Status recorded = life->record(commands->handle(), {});
        ASSERT_TRUE(recorded.ok()) << recorded.message();
        const Status executed = commands->execute();
        ASSERT_TRUE(executed.ok()) << executed.message();
        life->step();
    }
    EXPECT_EQ(life->world().frame(), 120u);
}

TEST(EmberStart, AKernelThatIsNotLinkedIsNamed) {
    auto context = context_with({});
    ASSERT_TRUE(context.ok()) << context.status().message();
    const auto programs = load_part_programs(*context);
    ASSERT_FALSE(programs.ok());
    EXPECT_NE(programs.status().message().find("kernel"), std::string::npos)
        << programs.status().message();
}

}  // namespace
}  // namespace hearth::ember
