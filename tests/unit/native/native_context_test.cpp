// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth.h on this machine's CPU, as a game without Vulkan uses it: linked or built functions,
// memory of its own, brains, threads, and what is refused.

#include "compiler/driver/compile.hpp"
#include "compiler/print/native_kernels.hpp"
#include "device/native/device.hpp"
#include "native/native_host.hpp"
#include "native/native_net.hpp"

#include <hearth/brain.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/hearth_runtime.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

namespace hearth::test {
namespace {

constexpr uint64_t kCapacity = 300;
constexpr int kInputs = 5, kOutputs = 3;

native::HostOptions host_options(uint32_t threads = 1, const std::string& compiler = "") {
    return {.threads = threads,
            .build = {.compiler = compiler,
                      .flags = "-O2 -Wall -Wextra -Werror",
                      .cache_folder = ::testing::TempDir() + "hearth_native_test"}};
}

/// A policy that learns: entries "act" and "learn".
Compiled policy(const DeviceCaps& caps, const std::vector<int64_t>& widths = {40, 16, kOutputs},
                Tensor (*activation)(const Tensor&) = tanh) {
    Trace act("act"), learn("learn");
    const auto net = [&](Trace& trace, const Tensor& x) {
        return nn::mlp(trace, "net", x, widths, activation, {.seed = 1});
    };
    act.output("y", net(act, act.input("x", {kBatch, kInputs})));
    const Tensor x = learn.input("x", {kBatch, kInputs});
    const Tensor loss = mse_loss(net(learn, x), learn.input("t", {kBatch, widths.back()}));
    AdamOptions adam;
    adam.learning_rate = 1e-2;
    minimize(loss, learn.params(), adam);
    learn.output("loss", loss);
    auto compiled = compile({&act, &learn}, {.caps = caps, .max_batch_size = kCapacity});
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? std::move(compiled).value() : Compiled();
}

/// A game: a context, its commands, and a session of the policy.
class Game {
  public:
    static std::unique_ptr<Game> make(const hearth_cpu_context_create_info& info,
                                      const Compiled& compiled) {
        auto game = std::make_unique<Game>();
        const auto must = [](const auto& result) {
            EXPECT_TRUE(result.ok()) << result.status().message();
            return result.ok();
        };
        auto context = Context::create_cpu(info);
        if (!must(context)) return nullptr;
        game->context_ = std::move(*context);
        auto commands = CpuCommandBuffer::create(game->context_);
        auto program = LoadedProgram::load(game->context_, compiled.bytes);
        if (!must(commands) || !must(program)) return nullptr;
        game->commands_ = std::move(*commands);
        game->program_ = std::move(*program);
        hearth_session_create_info create = hearth_session_create_info_default();
        create.flags = HEARTH_SESSION_SPLIT_DISPATCHES;
        auto session = Session::create(game->context_, game->program_, create);
        if (!must(session)) return nullptr;
        game->session_ = std::move(*session);
        EXPECT_TRUE(game->session_.create_pipelines().ok());
        game->frame([&] { return game->session_.record_initialize(game->commands_.handle()); });
        return game;
    }

    template <class Record>
    void frame(Record record) {
        EXPECT_TRUE(context_.begin_frame(serial_ + 1, serial_).ok());
        ++serial_;
        const Status recorded = record();
        EXPECT_TRUE(recorded.ok()) << recorded.message();
        const Status run = commands_.execute();
        EXPECT_TRUE(run.ok()) << run.message();
    }

    /// A step of learning on rows that the step's number decides; its loss.
    float learn(int step, uint64_t rows = kCapacity,
                const std::function<void(hearth_record_info&)>& limit = {}) {
        fill(step, rows);
        const hearth_tensor_binding bound[] = {bind("learn", "x", x_), bind("learn", "t", t_),
                                               bind("learn", "loss", loss_)};
        record("learn", bound, rows, limit);
        return loss_[0];
    }
    std::vector<float> act(int step, uint64_t rows = kCapacity) {
        fill(step, rows);
        const hearth_tensor_binding bound[] = {bind("act", "x", x_), bind("act", "y", y_)};
        record("act", bound, rows, {});
        return {y_.begin(), y_.begin() + static_cast<ptrdiff_t>(rows) * kOutputs};
    }

    std::vector<std::byte> brain() {
        hearth_readback readback = 0;
        frame([&] {
            auto recorded = session_.record_save_brain(commands_.handle());
            if (!recorded.ok()) return recorded.status();
            readback = recorded->value();
            return Status();
        });
        EXPECT_TRUE(context_.begin_frame(serial_ + 1, serial_).ok());
        ++serial_;
        auto arrived = session_.poll(readback);
        EXPECT_TRUE(arrived.ok() && arrived->has_value());
        auto brain = program_.serialize_brain((*arrived)->bytes);
        EXPECT_TRUE(brain.ok()) << brain.status().message();
        session_.release(readback);
        return brain.ok() ? std::move(brain).value() : std::vector<std::byte>();
    }
    Status load(std::span<const std::byte> brain) {
        Status status;
        frame([&] {
            status = session_.record_load_brain(commands_.handle(), brain);
            return Status();
        });
        return status;
    }

    Context& context() { return context_; }
    CpuCommandBuffer& commands() { return commands_; }
    Session& session() { return session_; }
    int slices = 0;  ///< of all recordings

  private:
    template <size_t N>
    struct alignas(16) Numbers : std::array<float, N> {};

    void fill(int step, uint64_t rows) {
        for (uint64_t i = 0; i < rows; ++i)
            for (size_t j = 0; j < kInputs; ++j) {
                const double at = static_cast<double>(i * 7 + j * 3) + step;
                x_[i * kInputs + j] = static_cast<float>(std::fmod(at * 0.618033988, 2.0) - 1);
                if (j < kOutputs) t_[i * kOutputs + j] = x_[i * kInputs + j] * x_[i * kInputs];
            }
    }
    template <size_t N>
    hearth_tensor_binding bind(const char* entry, const char* name, Numbers<N>& memory) {
        const uint32_t entry_index = program_.find_entry(entry).value();
        const uint32_t binding = program_.find_binding(entry_index, name).value();
        VkBuffer& buffer = buffers_[memory.data()].buffer;
        if (buffer == VkBuffer()) {
            EXPECT_EQ(hearth_cpu_buffer_import(context_.handle(), memory.data(), sizeof(float) * N,
                                               &buffer),
                      HEARTH_OK);
        }
        buffers_[memory.data()].context = context_.handle();
        return hearth_bind_buffer(binding, buffer, 0, sizeof(float) * N, HEARTH_CPU_BUFFER_USAGE);
    }
    void record(const char* entry, std::span<const hearth_tensor_binding> bound, uint64_t rows,
                const std::function<void(hearth_record_info&)>& limit) {
        hearth_run_cursor cursor{};
        hearth_result result = HEARTH_INCOMPLETE;
        while (result == HEARTH_INCOMPLETE)
            frame([&] {
                hearth_record_info info = hearth_record_info_default();
                info.command_buffer = commands_.handle();
                info.entry = program_.find_entry(entry).value();
                info.bindings = bound.data();
                info.binding_count = static_cast<uint32_t>(bound.size());
                info.batch_size = rows;
                if (limit) limit(info);
                result = hearth_record(session_.handle(), &info, &cursor);
                ++slices;
                return result >= 0 ? Status() : to_status(result, session_.error());
            });
    }

    struct Buffer {
        ~Buffer() { hearth_cpu_buffer_destroy(context, buffer); }
        hearth_context* context = nullptr;
        VkBuffer buffer = VkBuffer();
    };
    Context context_;
    CpuCommandBuffer commands_;
    LoadedProgram program_;
    Session session_;
    uint64_t serial_ = 0;
    Numbers<kCapacity * kInputs> x_{};
    Numbers<kCapacity * kOutputs> t_{}, y_{};
    Numbers<4> loss_{};
    std::map<const float*, Buffer> buffers_;
};

/// Of names and contents, whatever else a brain says.
uint64_t hash_of_weights(std::span<const std::byte> bytes) {
    const Result<Brain> brain = load_brain(bytes);
    EXPECT_TRUE(brain.ok()) << brain.status().message();
    Hash hash;
    for (const BrainTensor& tensor : brain->tensors)
        hash.text(tensor.name).bytes(tensor.value.bytes());
    return hash.value();
}

TEST(NativeContext, APolicyLearns) {
    native::Host host(host_options());
    const auto game = Game::make(host.info(), policy(cpu_caps(native::this_cpu())));
    ASSERT_NE(game, nullptr);
    const float first = game->learn(0);
    float last = 0;
    for (int step = 1; step < 300; ++step) last = game->learn(step % 10);
    EXPECT_GT(first, 0.1f);
    EXPECT_LT(last, 0.01f);
}

TEST(NativeContext, BitsDependOnNeitherThreadsNorSlicesNorCompiler) {
    const Compiled compiled = policy(cpu_caps(native::this_cpu()));
    std::vector<std::vector<std::byte>> brains;
    std::vector<std::vector<float>> actions;
    for (const char* compiler : {"gcc", "clang-14"}) {
        if (std::system((std::string(compiler) + " --version > /dev/null 2>&1").c_str()) != 0) {
            std::printf("there is no %s here\n", compiler);
            continue;
        }
        for (const uint32_t threads : {1u, 2u, 4u}) {
            native::Host host(host_options(threads, compiler));
            const auto game = Game::make(host.info(), compiled);
            ASSERT_NE(game, nullptr) << host.error();
            for (int step = 0; step < 4; ++step)
                (void)game->learn(step, kCapacity, [&](hearth_record_info& info) {
                    if (step % 2 == 1) info.max_workgroups = 1;
                });
            EXPECT_GT(game->slices, 20);  // steps are many slices, and workgroups cut them finer
            brains.push_back(game->brain());
            actions.push_back(game->act(9));
        }
    }
    for (const auto& brain : brains) EXPECT_EQ(brain, brains[0]);
    for (const auto& action : actions) EXPECT_EQ(action, actions[0]);
}

// The bits themselves, so that a change of them is seen wherever it comes from.  Nothing here calls
// <math.h> but for
// square roots, which IEEE 754 rounds, so they depend on no library; the flags are those that
// library.cpp gives:
// -ffp-contract=off, above all; products say themselves where they fuse multiply and add.
TEST(NativeContext, TrainedWeightsAreTheseBitsOnEachKindOfCpu) {
    const struct {
        CpuIsa cpu;
        uint64_t weights;
    } kGolden[] = {{CpuIsa::kScalar, 0x755bbcba374a7195},
                   {CpuIsa::kX86_64V2, 0x755bbcba374a7195},
                   // Fused multiply-adds round once where the others round twice.
                   {CpuIsa::kX86_64V3, 0xe7fa6726c135de91},
                   {CpuIsa::kX86_64V4, 0xe7fa6726c135de91}};
    for (const auto& golden : kGolden) {
        if (!native::runs_on(golden.cpu, native::this_cpu())) {
            std::printf("this machine does not run %s\n", std::string(name_of(golden.cpu)).c_str());
            continue;
        }
        const Compiled compiled = policy(cpu_caps(golden.cpu), {40, 16, kOutputs}, relu);
        for (const char* compiler : {"gcc", "clang-14"})
            for (const uint32_t threads : {1u, 2u, 4u}) {
                if (std::system((std::string(compiler) + " --version > /dev/null 2>&1").c_str()) !=
                    0)
                    continue;
                native::HostOptions options = host_options(threads, compiler);
                options.cpu = golden.cpu;
                native::Host host(options);
                const auto game = Game::make(host.info(), compiled);
                ASSERT_NE(game, nullptr) << host.error();
                for (int step = 0; step < 20; ++step) (void)game->learn(step);
                EXPECT_EQ(hash_of_weights(game->brain()), golden.weights)
                    << std::hex << name_of(golden.cpu) << ", " << compiler << ", " << threads
                    << " threads";
            }
    }
}

TEST(NativeContext, ABrainGoesOnInAnotherContextAsIfNothingHadHappened) {
    native::Host host(host_options());
    const Compiled compiled = policy(cpu_caps(native::this_cpu()));
    const auto first = Game::make(host.info(), compiled),
               second = Game::make(host.info(), compiled);
    ASSERT_TRUE(first && second);
    for (int step = 0; step < 10; ++step) (void)first->learn(step);
    const Status loaded = second->load(first->brain());
    ASSERT_TRUE(loaded.ok()) << loaded.message();
    for (int step = 10; step < 15; ++step) EXPECT_EQ(first->learn(step), second->learn(step));
    EXPECT_EQ(first->brain(), second->brain());
}

TEST(NativeContext, AGameThatLinksItsKernelsNeedsNoCompiler) {
    const Compiled compiled = policy(cpu_caps(native::this_cpu()));
    // What the game's own compiler makes of the file that cooking writes: here a table that a host
    // built before.
    native::Host tool(host_options());
    static const hearth_cpu_kernel_table* linked = nullptr;
    static hearth_cpu_compile_callback build = nullptr;
    hearth_cpu_context_create_info with_compiler = tool.info();
    build = with_compiler.compile;
    with_compiler.compile = [](void* self, hearth_cpu_isa cpu,
                               const hearth_cpu_kernel_source* sources, uint32_t count) {
        return linked = build(self, cpu, sources, count);
    };
    const auto at_the_studio = Game::make(with_compiler, compiled);
    ASSERT_TRUE(at_the_studio && linked != nullptr);

    hearth_cpu_context_create_info shipped = hearth_cpu_context_create_info_default();
    shipped.tables = &linked;
    shipped.table_count = 1;
    const auto game = Game::make(shipped, compiled);
    ASSERT_NE(game, nullptr);
    EXPECT_EQ(game->learn(0), at_the_studio->learn(0));

    hearth_cpu_context_create_info without = hearth_cpu_context_create_info_default();
    auto context = Context::create_cpu(without);
    ASSERT_TRUE(context.ok());
    const auto program = LoadedProgram::load(*context, compiled.bytes);
    ASSERT_FALSE(program.ok());
    EXPECT_NE(
        program.status().message().find("is in none of hearth_cpu_context_create_info::tables"),
        std::string::npos)
        << program.status().message();
}

TEST(NativeContext, ProgramsForOtherDevicesAreRefusedByName) {
    native::Host host(host_options());
    auto context = Context::create_cpu(host.info());
    ASSERT_TRUE(context.ok());
    const auto refused = [&](const DeviceCaps& caps) {
        const auto program = LoadedProgram::load(*context, policy(caps).bytes);
        EXPECT_FALSE(program.ok());
        return program.ok() ? std::string() : std::string(program.status().message());
    };
    EXPECT_NE(refused(baseline_caps()).find("it is for a Vulkan device, and this is a CPU device"),
              std::string::npos);
    EXPECT_NE(
        refused(cpu_caps(CpuIsa::kWasm128)).find("it is for CPUs with wasm128, and this one has"),
        std::string::npos);
    hearth_cpu_context_create_info foreign = host.info();
    foreign.cpu_isa = HEARTH_CPU_ISA_WASM128;
    const auto none = Context::create_cpu(foreign);
    ASSERT_FALSE(none.ok());
    EXPECT_NE(
        none.status().message().find(
            "hearth_cpu_context_create_info::cpu_isa is wasm128, this machine supports up to"),
        std::string::npos)
        << none.status().message();
}

TEST(NativeContext, ABrainOfAnotherGraphIsRefusedByName) {
    native::Host host(host_options());
    const auto small = Game::make(host.info(), policy(cpu_caps(native::this_cpu()), {8, kOutputs}));
    const auto game = Game::make(host.info(), policy(cpu_caps(native::this_cpu())));
    ASSERT_TRUE(small && game);
    const std::vector<std::byte> before = game->brain();
    const Status status = game->load(small->brain());
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find("net.0"), std::string::npos) << status.message();
    EXPECT_EQ(game->brain(), before);
}

TEST(NativeContext, ThereAreNoImages) {
    auto context = Context::create_cpu();
    ASSERT_TRUE(context.ok()) << context.status().message();
    hearth_image_converter_create_info info = hearth_image_converter_create_info_default();
    info.format = 37;  // VK_FORMAT_R8G8B8A8_UNORM
    hearth_image_converter* converter = nullptr;
    EXPECT_EQ(hearth_image_converter_create(context->handle(), &info, &converter),
              HEARTH_ERROR_UNSUPPORTED);
    EXPECT_NE(context->error().find("the CPU device has no images"), std::string::npos);
}

}  // namespace
}  // namespace hearth::test
