// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Code generation writes the kernels that it wrote when they were last changed on purpose, to the
// bit: what lets it be rewritten piece by piece.  tests/data/replay/README.md says how to record
// them anew.

#include "brain.hpp"
#include "compiler/driver/compile.hpp"
#include "digits.hpp"
#include "ops/op_cases.hpp"
#include "support/cases.hpp"
#include "support/fused_network_nets.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/io.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <programs/device_targets.hpp>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <span>

namespace hearth::test {
namespace {

/// What programs are compiled for.
struct Target {
    std::string name;
    DeviceCaps caps;
    BindingModel binding_model = BindingModel::kDeviceAddress;
};

std::vector<Target> make_targets() {
    DeviceCaps software;  // lavapipe of Mesa 22.3.6
    software.name = "software";
    software.subgroup_size = 8;
    software.device_type = DeviceType::kCpu;
    software.max_compute_work_group_invocations = software.max_compute_work_group_size_x = 1024;
    software.max_compute_shared_memory_size = 32 << 10;
    software.max_storage_buffer_range = uint64_t{1} << 31;
    software.shader_float16 = software.storage_buffer_16bit_access =
        software.storage_buffer_8bit_access = true;
    software.subgroup_arithmetic = true;
    DeviceCaps h200 = software;  // NVIDIA H200
    h200.name = "h200";
    h200.subgroup_size = 32;
    h200.device_type = DeviceType::kOther;
    h200.max_compute_shared_memory_size = 48 << 10;
    h200.max_push_constants_size = 256;
    h200.max_compute_work_group_count_x = 0x7fffffff;
    h200.cooperative_matrix = CooperativeMatrixExt::kKhr;
    h200.cooperative_matrix_nv = true;
    const auto address = BindingModel::kDeviceAddress;
    return {{"baseline address", baseline_caps(), address},
            {"baseline descriptor", baseline_caps(), BindingModel::kDescriptor},
            {"software address", software, address},
            {"h200 address", h200, address}};
}

const std::vector<Target>& targets() {
    static const std::vector<Target> all = make_targets();
    return all;
}

std::string setting() {
    const char* text = std::getenv("HEARTH_REPLAY");
    return text != nullptr ? text : "";
}
bool takes_all() {
    return !setting().empty();
}

std::string digits_of(uint64_t hash) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

/// Whether a validator, a command with options, accepts the module.
bool is_valid(const std::string& validator, std::span<const uint32_t> module) {
    // Tests run in several processes at once.
    const std::string path =
        testing::TempDir() + "hearth_kernel_" + std::to_string(getpid()) + ".spv";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(module.data()),
               static_cast<std::streamsize>(4 * module.size()));
    return std::system((validator + " " + path).c_str()) == 0;
}

/// A newer validator than the system's: that of HEARTH_CARDS_ROOT, which `./dev cards root` unpacks;
/// empty if there is none.
std::string newest_validator() {
    const char* const root = std::getenv("HEARTH_CARDS_ROOT");
    if (root == nullptr) return "";
    const std::string lib = std::string(root) + "/usr/lib/x86_64-linux-gnu",
                      program = std::string(root) + "/usr/bin/spirv-val";
    if (!std::filesystem::exists(program)) return "";
    return lib + "/ld-linux-x86-64.so.2 --library-path " + lib + " " + program +
           " --target-env vulkan1.3 --scalar-block-layout";
}

/// Gives each module to the newest validator once.
void expect_valid_for_newest(const Program& program) {
    static const std::string validator = newest_validator();
    static std::set<uint64_t> known;
    if (validator.empty()) return;
    for (const Kernel& kernel : program.kernels) {
        Hash hash;
        for (const uint32_t word : kernel.spirv) hash.number(word);
        if (known.insert(hash.value()).second) {
            EXPECT_TRUE(is_valid(validator, kernel.spirv)) << kernel.name;
        }
    }
}

TEST(NewestValidator, RejectsABrokenModuleAndTakesASoundOne) {
    const std::string validator = newest_validator();
    if (validator.empty())
        GTEST_SKIP()
            << "HEARTH_CARDS_ROOT names no folder with a newer spirv-val (./dev cards root "
               "makes one): it validates no module of this run";
    Trace trace("main");
    trace.output("y", relu(trace.input("x", {4})));
    const auto made = compile_graphs({trace.build().value()}, {});
    ASSERT_TRUE(made.ok()) << made.status().message();
    std::vector<uint32_t> module = made->program.kernels.at(0).spirv;
    EXPECT_TRUE(is_valid(validator, module));
    module.resize(module.size() - 1);
    EXPECT_FALSE(is_valid(validator + " 2>/dev/null", module));
}

std::string hash_of(const Program& program) {
    expect_valid_for_newest(program);
    Hash hash;
    for (const Kernel& kernel : program.kernels) {
        hash.number(kernel.spirv.size());
        for (const uint32_t word : kernel.spirv) hash.number(word);
    }
    return digits_of(hash.value());
}

/// Whether this compiler may make it otherwise than GCC, with which the lines were recorded: C++
/// leaves open in which order the calls within one expression are made, and in these each call
/// makes an operator.
bool may_differ_here([[maybe_unused]] std::string_view what) {
#if defined(__clang__)
    for (const std::string_view prefix :
         {"operator gru_window_backward ", "program dqn ",
          "program fused_network MatricesOfOddWidthsInRegisters ",
          "program fused_network MatricesOfTwoHeads ", "program fused_network TwoHeads ",
          "program ppo_choice ", "program profile digits ", "program sac "})
        if (what.starts_with(prefix)) return true;
#endif
    return false;
}

/// The lines of kernels.txt: what was compiled, and its hash.
class Records {
  public:
    static Records& instance() {
        static Records records;
        return records;
    }

    /// Compares with what is recorded, or records it.
    void expect(const std::string& what, const std::string& hash) {
        if (setting() == "write") {
            lines_[what] = hash;
            return;
        }
        const auto at = lines_.find(what);
        ASSERT_NE(at, lines_.end()) << what << " is not recorded: see tests/data/replay/README.md";
        if (hash != at->second && may_differ_here(what))
            GTEST_SKIP() << what << " is recorded as GCC makes it";
        EXPECT_EQ(hash, at->second) << what;
    }

    ~Records() {
        if (setting() != "write") return;
        std::ofstream file(HEARTH_REPLAY_DATA);
        for (const auto& [what, hash] : lines_) file << what << " " << hash << "\n";
    }

  private:
    Records() {
        std::ifstream file(HEARTH_REPLAY_DATA);
        for (std::string line; std::getline(file, line);)
            if (const size_t space = line.rfind(' '); space != std::string::npos)
                lines_[line.substr(0, space)] = line.substr(space + 1);
    }
    std::map<std::string, std::string> lines_;
};

CompileOptions options_for(const Target& target, uint64_t rows_capacity) {
    CompileOptions options;
    options.caps = target.caps;
    options.binding_model = target.binding_model;
    options.max_batch_size = rows_capacity;
    options.keep_source = false;
    // Of integers of 64 bits and doubles the kernels of 32 bits are recorded.
    options.assume_int32 = options.assume_float32 = true;
    return options;
}

class ReplayOfOperator : public testing::TestWithParam<const OpDef*> {};

TEST_P(ReplayOfOperator, WritesTheKernelsThatAreRecorded) {
    const OpDef& op = *GetParam();
    auto variants = variants_of(op);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    auto narrow = narrow_variants_of(op, DType::kF16);
    ASSERT_TRUE(narrow.ok()) << narrow.status().message();
    // Names are unique among the variants of one type.
    std::vector<Graph> graphs[2];
    uint64_t rows = 1;
    for (const bool is_narrow : {false, true})
        for (Variant& v : is_narrow ? *narrow : *variants) {
            rows = std::max(rows, static_cast<uint64_t>(v.rows) + 5);
            graphs[is_narrow].push_back(std::move(v.graph));
        }
    if (graphs[0].empty()) GTEST_SKIP() << op.name << " has only samples of types no GPU holds";
    // Each operator for another target, all targets at night.
    const size_t chosen = Hash().text(op.name).value() % targets().size();
    for (size_t t = 0; t < targets().size(); ++t) {
        if (t != chosen && !takes_all()) continue;
        const Target& target = targets()[t];
        for (const bool is_narrow : {false, true}) {
            if (graphs[is_narrow].empty()) continue;
            const auto compiled = compile_graphs(graphs[is_narrow], options_for(target, rows));
            ASSERT_TRUE(compiled.ok()) << target.name << ": " << compiled.status().message();
            Records::instance().expect(
                "operator " + std::string(op.name) + (is_narrow ? " f16 " : " ") + target.name,
                hash_of(compiled->program));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Of, ReplayOfOperator, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

/// A whole program: its kernels, and its content hash, which is that of the plan too.
void expect_program(const std::string& name, const Target& target, const Result<Compiled>& made) {
    ASSERT_TRUE(made.ok()) << name << " " << target.name << ": " << made.status().message();
    const auto program = load_program(made->bytes);
    ASSERT_TRUE(program.ok()) << program.status().message();
    Records::instance().expect("program " + name + " " + target.name,
                               hash_of(*program) + ":" + digits_of(made->hash));
}

/// f(target) of those that this run takes.
void for_each_target(const std::string& name, const std::function<void(const Target&)>& f) {
    const size_t chosen = Hash().text(name).value() % targets().size();
    for (size_t t = 0; t < targets().size(); ++t)
        if (t == chosen || takes_all()) f(targets()[t]);
}

TEST(ReplayOfProgram, GhostLap) {
    for_each_target("ghost_lap", [](const Target& t) {
        const auto traces = ghost_lap::trace_brain(1);
        const auto manifest = ghost_lap::manifest();
        expect_program(
            "ghost_lap", t,
            compile(agents::runtime_entries(traces, manifest), options_for(t, manifest.n_agents)));
    });
}

TEST(ReplayOfProgram, DigitsLearner) {
    for (const Precision precision : {Precision::kF32, Precision::kF16}) {
        const std::string name = precision == Precision::kF32 ? "digits" : "digits_f16";
        for_each_target(name, [&](const Target& t) {
            Trace read("read"), learn("learn");
            read.output("scores",
                        demo::digits_net(read, read.input("x", {kBatch, 1, 8, 8}), false, 1));
            const Tensor scores =
                demo::digits_net(learn, learn.input("x", {kBatch, 1, 8, 8}), true, 1);
            const Tensor loss = cross_entropy(scores, learn.input("labels", {kBatch}, DType::kI32));
            learn.output("loss", loss);
            minimize(loss, learn.params(), AdamOptions{});
            CompileOptions options = options_for(t, 64);
            options.precision = precision;
            expect_program(name, t, compile({&read, &learn}, options));
        });
    }
}

/// What packages for players' cards are made of: each class of devices for which programs are
/// cooked.
TEST(ReplayOfProgram, Profiles) {
    for (const programs::DeviceTargetClass& target_class : programs::device_target_classes()) {
        const std::string name = target_class.name;
        if (name == "device") continue;
        if (!takes_all() && Hash().text(name).value() % 3 != 0) continue;
        const auto profile = programs::make_device_target(name, nullptr);
        ASSERT_TRUE(profile.ok()) << profile.status().message();
        if (profile->options.caps.cpu_isa != CpuIsa::kNone) continue;
        const Target target{name, profile->options.caps, profile->options.binding_model};
        Trace read("read"), learn("learn");
        read.output("scores", demo::digits_net(read, read.input("x", {kBatch, 1, 8, 8}), false, 1));
        const Tensor loss =
            cross_entropy(demo::digits_net(learn, learn.input("x", {kBatch, 1, 8, 8}), true, 1),
                          learn.input("labels", {kBatch}, DType::kI32));
        learn.output("loss", loss);
        minimize(loss, learn.params(), AdamOptions{});
        CompileOptions options = options_for(target, 64);
        if (target.caps.shader_float16) options.precision = Precision::kF16;
        expect_program("profile digits", target, compile({&read, &learn}, options));
        const auto traces = ghost_lap::trace_brain(1);
        const auto manifest = ghost_lap::manifest();
        expect_program("profile ghost_lap", target,
                       compile(agents::runtime_entries(traces, manifest),
                               options_for(target, manifest.n_agents)));
    }
}

/// SPIR-V 1.3 and no more, as spirv-val of SPIRV-Tools says of kernels for Vulkan 1.1.
void expect_valid_for_1_1(const Program& program, const std::string& what) {
    for (const Kernel& kernel : program.kernels) {
        ASSERT_EQ(kernel.spirv.at(1), 0x00010300u) << what << " " << kernel.name;
        EXPECT_TRUE(is_valid(HEARTH_SPIRV_VAL " --target-env vulkan1.1", kernel.spirv))
            << what << " " << kernel.name;
    }
}

/// Of programs that act and learn, and in the whole run of every operator.
TEST(Vulkan11Profile, EveryKernelIsValid) {
    if (std::string_view(HEARTH_SPIRV_VAL).empty()) GTEST_SKIP() << "spirv-val is not installed";
    size_t count = 0;
    for (const char* name : {"vulkan-1.1", "vulkan-1.1-descriptors"}) {
        const auto profile = programs::make_device_target(name, nullptr);
        ASSERT_TRUE(profile.ok()) << profile.status().message();
        const Target target{name, profile->options.caps, profile->options.binding_model};
        const auto traces = ghost_lap::trace_brain(1);
        const auto manifest = ghost_lap::manifest();
        const auto made =
            compile_graphs(finish_all(agents::runtime_entries(traces, manifest)).value(),
                           options_for(target, manifest.n_agents));
        ASSERT_TRUE(made.ok()) << made.status().message();
        expect_valid_for_1_1(made->program, name);
        count += made->program.kernels.size();
        if (!takes_all()) continue;
        for (const OpDef* op : all_ops()) {
            auto variants = variants_of(*op);
            ASSERT_TRUE(variants.ok()) << variants.status().message();
            std::vector<Graph> graphs;
            uint64_t rows = 1;
            for (Variant& v : *variants) {
                rows = std::max(rows, static_cast<uint64_t>(v.rows) + 5);
                graphs.push_back(std::move(v.graph));
            }
            if (graphs.empty()) continue;
            const auto of_op = compile_graphs(graphs, options_for(target, rows));
            ASSERT_TRUE(of_op.ok()) << op->name << ": " << of_op.status().message();
            expect_valid_for_1_1(of_op->program, std::string(name) + " " + std::string(op->name));
            count += of_op->program.kernels.size();
        }
    }
    EXPECT_GT(count, 10u);
    RecordProperty("kernels", static_cast<int>(count));
}

template <class Learner>
void expect_learner(const std::string& name, const agents::AgentSpec& schema,
                    const Learner& learner) {
    for_each_target(name, [&](const Target& t) {
        const auto traces =
            agents::build_agent_graphs(schema, agents::mlp_network({32, 32}, tanh, 1), learner, 1);
        expect_program(name, t, compile(agents::all_entries(traces), options_for(t, 16)));
    });
}

TEST(ReplayOfProgram, Learners) {
    using namespace agents;
    const AgentSpec chooses(ObservationSpec().box("cart", 4), ActionSpec().discrete("push", 2));
    const AgentSpec steers(ObservationSpec().box("car", 5), ActionSpec().continuous("steer", 2));
    expect_learner("ppo_choice", chooses, Ppo{.n_agents = 16});
    expect_learner("ppo_numbers", steers, Ppo{.n_agents = 16});
    expect_learner("dqn", chooses, Dqn{});
    expect_learner("sac", steers, Sac{});
    expect_learner("clone", steers, BehaviorCloning{});
}

/// Small networks as one kernel: with plain arithmetic, with windows, and on both kinds of matrix
/// cores.
TEST(ReplayOfProgram, FuseMlp) {
    Target software = targets()[2], h200 = targets()[3], khr = h200;
    khr.name = "h200 khr address";
    khr.caps.cooperative_matrix_nv = false;
    for (const fused_networks::Net& net : fused_networks::kNets) {
        const std::string name = std::string("fused_network ") + net.name;
        const std::vector<Target> devices = {net.has_matrices ? khr : software, h200};
        const size_t chosen = Hash().text(name).value() % devices.size();
        for (size_t d = 0; d < devices.size(); ++d) {
            if (d != chosen && !takes_all()) continue;
            Trace act("act"), learn("learn");
            fused_networks::trace(net, false, act);
            fused_networks::trace(net, true, learn);
            CompileOptions options = options_for(devices[d], net.capacity);
            options.caps.max_compute_shared_memory_size = net.shared_bytes;
            if (net.has_matrices) options.precision = Precision::kF16;
            expect_program(name, devices[d], compile({&act, &learn}, options));
        }
    }
}

/// Every network below the folder.
void expect_networks(const std::string& folder) {
    size_t count = 0;
    for (const std::filesystem::path& place : reference_cases::places_of(folder))
        for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
            const std::filesystem::path& path = entry.path();
            if (path.extension() != ".onnx") continue;
            const bool is_own = path.string().starts_with(HEARTH_TORCH_DATA);
            const std::string name = (is_own ? "own/" : "cases/") + folder + "/" +
                                     path.lexically_relative(place).string();
            const auto model = import_onnx_file(path.string());
            ASSERT_TRUE(model.ok()) << path << ": " << model.status().message();
            ++count;
            for_each_target(name, [&](const Target& t) {
                Trace act("act");
                std::vector<Tensor> inputs;
                for (const TensorSpec& port : model->inputs())
                    inputs.push_back(act.input(port.name, port.shape, port.dtype));
                const std::vector<Tensor> outputs = model->call(act, inputs);
                for (size_t i = 0; i < outputs.size(); ++i)
                    act.output(model->outputs()[i].name, outputs[i]);
                expect_program(name, t, compile({&act}, options_for(t, 64)));
            });
        }
    if (count == 0 && setting() == "write")
        FAIL() << "lines of cases/" << folder << " would stay old: HEARTH_CASES names no folder";
    if (count == 0) GTEST_SKIP() << "no " << folder << ": HEARTH_CASES names no folder with some";
}

TEST(ReplayOfProgram, Nets) {
    expect_networks("nets");
}
TEST(ReplayOfProgram, DigitsCnn) {
    expect_networks("digits");
}
TEST(ReplayOfProgram, Policies) {
    expect_networks("policies");
}

}  // namespace
}  // namespace hearth::test
