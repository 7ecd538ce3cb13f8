// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What learning agents keep on a device: rings that are written in place, states that no brain
// holds, updates that a NaN does not reach, and diagnostics by name.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/brain.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <limits>

namespace hearth::test {
namespace {

constexpr int64_t kCapacity = 70, kRing = 133;

HostTensor filled(DType dtype, const Shape& shape, int64_t first) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        if (is_floating(dtype))
            t.set(i, 0.5 * static_cast<double>((first + 11 * i) % 97 - 40));
        else
            t.set_int(i, (first + 11 * i) % 97);
    return t;
}

class AgentStates : public VulkanTest {
  protected:
    void TearDown() override {
        runner_.reset();
        VulkanTest::TearDown();
    }

    void compile(const std::function<void(Trace&)>& build) {
        Trace trace("store");
        build(trace);
        auto graph = trace.build();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        graph_ = *graph;
        CompileOptions options;
        auto caps = device().caps();
        ASSERT_TRUE(caps.ok());
        options.caps = *caps;
        options.max_batch_size = kCapacity;
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        auto compiled = compile_graphs({graph_}, options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        bytes_ = save_program(compiled->program);
        runner_ = make();
        ASSERT_TRUE(runner_);
    }

    std::unique_ptr<standalone::ProgramRunner> make() {
        auto runner = standalone::ProgramRunner::create(device(), bytes_);
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        return runner.ok() ? std::move(runner).value() : nullptr;
    }

    /// One recording, and the interpreter's beside it; all slots must agree to the bit.
    void step(const NamedTensors& inputs, int64_t rows) {
        const auto found = runner_->run("store", rows, inputs);
        const auto expected = interpret(graph_, inputs, states_, rows);
        ASSERT_TRUE(found.ok()) << found.status().message();
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        for (const auto& [name, tensor] : states_) {
            const auto slot = runner_->read_variable(name.c_str());
            ASSERT_TRUE(slot.ok()) << slot.status().message();
            EXPECT_EQ(slot->cast(tensor.dtype()), tensor) << name;
        }
    }

    Result<std::vector<std::byte>> snapshot(standalone::ProgramRunner& runner) {
        hearth_readback id = 0;
        HEARTH_TRY(runner.submit([&](VkCommandBuffer commands) -> Status {
            HEARTH_ASSIGN(const auto taken, runner.session().record_save_brain(commands));
            id = taken.value_or(0);
            return {};
        }));
        HEARTH_TRY(runner.submit([](VkCommandBuffer) { return Status(); }));
        HEARTH_ASSIGN(const auto data, runner.session().poll(id));
        if (!data) return internal_error("the snapshot has not arrived");
        std::vector<std::byte> copy(data->bytes.begin(), data->bytes.end());
        runner.session().release(id);
        return copy;
    }

    Graph graph_;
    std::vector<std::byte> bytes_;
    std::unique_ptr<standalone::ProgramRunner> runner_;
    NamedTensors states_;
};

void store_in_rings(Trace& t) {
    const Tensor x = t.input("x", {kBatch, 5}), at = t.input("at", {kBatch}, DType::kI32);
    index_copy_(t.non_persistent_state("memory", {kRing, 5}, Init::constant(-1)), at,
                tanh(x) * 2.0);
    index_copy_(t.non_persistent_state("flags", {kRing}, {}, DType::kU8), at,
                cast(greater(at, 3), DType::kU8));
    index_copy_(t.non_persistent_state("halfs", {kRing, 3}, {}, DType::kF16), at,
                cast(slice(x, 1, 0, 3), DType::kF16));
    const Tensor next = t.state("next", {}, {}, DType::kU32);
    t.assign(next, ring_buffer_push(t.non_persistent_state("ring", {kRing, 5}), next, x));
}

TEST_F(AgentStates, RowsInPlaceGiveTheInterpretersBits) {
    ASSERT_NO_FATAL_FAILURE(compile(store_in_rings));
    for (int64_t n = 0; n < 5; ++n) {
        const int64_t rows = n == 0 ? 1 : kCapacity - 9 * n;
        // Many for one place, some outside.
        HostTensor at(DType::kI32, {rows});
        for (int64_t i = 0; i < rows; ++i) at.set_int(i, (i * i + n) % 41 * 4 - 5);
        HostTensor x(DType::kF32, {rows, 5});
        for (int64_t i = 0; i < x.element_count(); ++i) x.set(i, (i + n) % 3 == 0 ? 0.0 : 1e9);
        ASSERT_NO_FATAL_FAILURE(step({{"x", x}, {"at", at}}, rows));
    }
}

// A recurrent policy's memory: kernels that read all of a row, or rows of others, run before any of
// the new contents are written, whatever kernels they are.
TEST_F(AgentStates, AnInputThatIsAssignedIsWrittenInPlaceAfterAllHaveReadIt) {
    const auto fused = [](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 5}), memory = t.input("memory", {kBatch, 6});
        const Tensor w = t.param("w", {11, 6}, Init::uniform(-0.5, 0.5));
        const Tensor next = tanh(matmul(concat({x, memory}, 1), w));
        t.assign(memory, next);
        t.output("action", slice(next, 1, 0, 2));
    };
    const auto apart = [](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 5}), memory = t.input("memory", {kBatch, 6});
        // The mean of all agents' memory, and memory element by element, in kernels of their own.
        const Tensor average = mean(memory, {0}, true);
        t.assign(memory, memory * 0.5 + average + sum(x, {1}, true));
        t.output("seen", max(memory, {1}));
        const Tensor ring = t.input("ring", {kRing, 5});  // rows of the host's own buffer
        index_copy_(ring, t.input("at", {kBatch}, DType::kI32), x);
        t.output("sum", sum(ring, {0}));
    };
    for (const auto& build :
         {std::function<void(Trace&)>(fused), std::function<void(Trace&)>(apart)}) {
        ASSERT_NO_FATAL_FAILURE(compile(build));
        for (const int64_t rows : {int64_t{1}, int64_t{33}, kCapacity}) {
            HostTensor at(DType::kI32, {rows});
            for (int64_t i = 0; i < rows; ++i) at.set_int(i, (7 * i) % kRing);
            NamedTensors inputs{{"x", filled(DType::kF32, {rows, 5}, 3)},
                                {"memory", filled(DType::kF32, {rows, 6}, 8)},
                                {"ring", filled(DType::kF32, {kRing, 5}, 1)},
                                {"at", at}};
            for (int turn = 0; turn < 3; ++turn) {
                auto found = runner_->run("store", rows, inputs);
                const auto expected = interpret(graph_, inputs, states_, rows);
                ASSERT_TRUE(found.ok()) << found.status().message();
                ASSERT_TRUE(expected.ok()) << expected.status().message();
                ASSERT_EQ(found->size(), expected->size());
                for (const auto& [name, tensor] : *expected)
                    for (int64_t i = 0; i < tensor.element_count(); ++i)
                        ASSERT_NEAR(found->at(name).get(i), tensor.get(i),
                                    1e-4 * (1 + std::fabs(tensor.get(i))))
                            << name << " " << i << " of " << rows << " rows";
                for (const char* name : {"memory", "ring"})
                    if (found->contains(name)) inputs.insert_or_assign(name, found->at(name));
            }
        }
    }
}

TEST_F(AgentStates, NoBrainHoldsTransientStatesAndLoadingResetsThem) {
    ASSERT_NO_FATAL_FAILURE(compile([](Trace& t) {
        store_in_rings(t);
        const Tensor w = t.param("w", {3}, Init::constant(1));
        t.assign(w, w * 2.0);
    }));
    const NamedTensors inputs{{"x", filled(DType::kF32, {7, 5}, 1)},
                              {"at", filled(DType::kI32, {7}, 0)}};
    ASSERT_TRUE(runner_->run("store", 7, inputs).ok());
    const auto taken = snapshot(*runner_);
    ASSERT_TRUE(taken.ok()) << taken.status().message();
    EXPECT_EQ(taken->size(), 32u);  // "next" and "w", 16 bytes each
    const auto brain = runner_->program().serialize_brain(*taken);
    ASSERT_TRUE(brain.ok()) << brain.status().message();
    const auto parsed = load_brain(*brain);
    ASSERT_TRUE(parsed.ok());
    ASSERT_EQ(parsed->tensors.size(), 2u);
    EXPECT_EQ(initial_brain(bytes_)->tensors.size(), 2u);

    ASSERT_TRUE(runner_->run("store", 7, inputs).ok());
    const Status loaded = runner_->submit([&](VkCommandBuffer commands) {
        return runner_->session().record_load_brain(commands, *brain);
    });
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    EXPECT_EQ(runner_->read_variable("w")->get(0), 2);
    EXPECT_EQ(runner_->read_variable("next")->get_int(0), 7);
    EXPECT_EQ(*runner_->read_variable("ring"), HostTensor(DType::kF32, {kRing, 5}));
    EXPECT_EQ(runner_->read_variable("memory")->get(12), -1);

    ASSERT_TRUE(runner_->run("store", 7, inputs).ok());
    const Status forgotten = runner_->submit([&](VkCommandBuffer commands) -> Status {
        HEARTH_TRY(runner_->session().record_reset_variables(commands, "*").status());
        return {};
    });
    ASSERT_TRUE(forgotten.ok()) << forgotten.message();
    EXPECT_EQ(*runner_->read_variable("ring"), HostTensor(DType::kF32, {kRing, 5}));
    EXPECT_EQ(runner_->read_variable("w")->get(0), 1);
    const auto info = runner_->program().variable(*runner_->program().find_variable("ring"));
    EXPECT_EQ(info->kind, HEARTH_VARIABLE_NON_PERSISTENT);
}

// What lay between the tensors went into hashes of snapshots.
TEST_F(AgentStates, EqualContentsGiveEqualSnapshots) {
    ASSERT_NO_FATAL_FAILURE(compile([](Trace& t) {
        for (const char* name : {"a", "b", "c"}) {
            const Tensor s = t.state(name, {5}, Init::constant(3), DType::kF32);
            t.assign(s, s + 1.0);
        }
    }));
    const auto other = make();
    ASSERT_TRUE(other);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(runner_->run("store", 1, {}).ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(other->run("store", 1, {}).ok());
    std::vector<std::vector<std::byte>> all;
    for (int i = 0; i < 3; ++i) {
        const auto taken = snapshot(i % 2 == 0 ? *runner_ : *other);
        ASSERT_TRUE(taken.ok()) << taken.status().message();
        all.push_back(*taken);
    }
    EXPECT_EQ(all[0], all[1]);
    EXPECT_EQ(all[0], all[2]);
    for (size_t slot = 0; slot < 3; ++slot)
        for (size_t i = 20; i < 32; ++i) EXPECT_EQ(all[0][32 * slot + i], std::byte{0});
}

TEST_F(AgentStates, ALostNetIsNotSavedUnlessAskedFor) {
    ASSERT_NO_FATAL_FAILURE(compile([](Trace& t) {
        const Tensor w = t.param("w", {3}, Init::constant(1));
        t.assign(w, w + t.input("x", {3}));
    }));
    const auto encoded = [&](hearth_brain_flags flags) {
        const auto taken = snapshot(*runner_);
        EXPECT_TRUE(taken.ok());
        return runner_->program().serialize_brain(*taken, flags).status();
    };
    EXPECT_TRUE(encoded(0).ok());
    HostTensor bad(DType::kF32, {3});
    bad.set(1, std::numeric_limits<double>::quiet_NaN());
    ASSERT_TRUE(runner_->run("store", 1, {{"x", bad}}).ok());
    EXPECT_EQ(encoded(0).message(),
              "HEARTH_ERROR_NON_FINITE: hearth_brain_encode: 'w': element 1 is NaN or infinite; "
              "reset it, or accept it by HEARTH_BRAIN_ALLOW_NON_FINITE");
    EXPECT_TRUE(encoded(HEARTH_BRAIN_ALLOW_NON_FINITE).ok());
}

TEST_F(AgentStates, ANaNNeverReachesGuardedUpdates) {
    ASSERT_NO_FATAL_FAILURE(compile([](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 5});
        ConditionalUpdate guard(t);
        const Tensor w = t.param("w", {5}, Init::constant(0.5));
        const Tensor loss = mean(square(sum(x * w, {-1}) - 1.0));
        const std::vector<Tensor> g =
            minimize(loss, std::span(&w, 1), AdamOptions{.learning_rate = 0.5});
        const Tensor count = t.state("count", {}, {}, DType::kU32);
        t.assign(count, ring_buffer_push(t.non_persistent_state("seen", {kRing, 5}), count, x));
        guard.commit_if(all_finite({g[0], x}));
    }));
    for (int64_t n = 0; n < 6; ++n) {
        // Powers of two: the device and the interpreter then round alike, but for Adam's step.
        HostTensor x(DType::kF32, {4, 5});
        for (int64_t i = 0; i < 20; ++i) x.set(i, static_cast<double>((i + n) % 3 - 1));
        if (n % 3 == 1) x.set(7, n % 2 == 0 ? HUGE_VAL : std::nan(""));
        const auto before = runner_->read_variables();
        ASSERT_TRUE(runner_->run("store", 4, {{"x", x}}).ok());
        const auto after = runner_->read_variables();
        ASSERT_TRUE(before.ok() && after.ok());
        if (n % 3 == 1)
            EXPECT_EQ(*before, *after);
        else
            EXPECT_NE(before->at("w"), after->at("w"));
        for (int64_t i = 0; i < 5; ++i) EXPECT_TRUE(std::isfinite(after->at("w").get(i)));
    }
    EXPECT_EQ(runner_->read_variable("count")->get_int(0), 16);
}

TEST_F(AgentStates, ScalarsComeBackAsOneOutputAndAreFoundByName) {
    ASSERT_NO_FATAL_FAILURE(compile([](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 5});
        output_scalars("status", {{"mean", mean(x)}, {"most", max(x)}, {"least", min(x)}});
    }));
    const HostTensor x = filled(DType::kF32, {9, 5}, 2);
    const auto out = runner_->run("store", 9, {{"x", x}});
    ASSERT_TRUE(out.ok()) << out.status().message();
    const LoadedProgram& program = runner_->program();
    const auto binding = program.find_binding(0, "status");
    ASSERT_TRUE(binding.ok());
    EXPECT_EQ(program.binding(*binding)->scalar_count, 3u);
    const auto most = program.find_scalar(*binding, "most");
    ASSERT_TRUE(most.ok()) << most.status().message();
    EXPECT_EQ(*most, 1u);
    double expected = -HUGE_VAL;
    for (int64_t i = 0; i < x.element_count(); ++i) expected = std::max(expected, x.get(i));
    EXPECT_EQ(out->at("status").get(*most), expected);
    const char* name = nullptr;
    EXPECT_EQ(hearth_program_get_scalar(program.handle(), *binding, 2, &name), HEARTH_OK);
    EXPECT_STREQ(name, "least");
    EXPECT_EQ(hearth_program_get_scalar(program.handle(), *binding, 3, &name),
              HEARTH_ERROR_NOT_FOUND);
    uint32_t index = 0;
    EXPECT_EQ(hearth_program_find_scalar(program.handle(), *binding, "worst", &index),
              HEARTH_ERROR_NOT_FOUND);
    EXPECT_EQ(
        hearth_program_find_scalar(program.handle(), *program.find_binding(0, "x"), "most", &index),
        HEARTH_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace hearth::test
