// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes those seeds of the corpus that Hearth makes itself: fuzz_seeds CORPUS.  Run it after a
// file format changes.

#include "program/package.hpp"
#include "support/onnx_models.hpp"
#include "support/package_contents.hpp"
#include "support/smallest_package.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>
#include <hearth/ops.hpp>

#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::OnnxBuilder;
using testing::set_int;
using testing::set_ints;

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

OnnxBuilder with_convolution() {
    OnnxBuilder b;
    b.input("x", {"n", 1, 4, 4}).output("y");
    b.initializer(float_tensor("w", {2, 1, 3, 3}, std::vector<float>(18, 0.5f)));
    for (const char* name : {"scale", "bias", "mean", "variance"})
        b.initializer(float_tensor(name, {2}, {1, 2}));
    onnx::TensorProto outside = float_tensor("outside", {2}, {});
    outside.clear_raw_data();
    outside.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& location = *outside.add_external_data();
    location.set_key("location");
    location.set_value("w.data");
    b.initializer(outside);
    set_ints(b.node("Conv", {"x", "w", "outside"}, {"c"}), "pads", {1, 1, 1, 1});
    b.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"b"});
    set_ints(b.node("MaxPool", {"b"}, {"p"}), "kernel_shape", {2, 2});
    set_int(b.node("Flatten", {"p"}, {"y"}), "axis", 1);
    return b;
}

/// The package without what the runtime does not read: graph, labels and debug tables.
Result<std::vector<std::byte>> stripped(std::span<const std::byte> package) {
    PackageView view;
    ViewError error;
    if (!view.open(package, &error)) return corrupt_data(error.text.c_str());
    PackageContents contents;
    contents.graph_hash = view.header().graph_hash;
    contents.agents.assign(view.agents().begin(), view.agents().end());
    HEARTH_ASSIGN(Program program, load_program(view, 0));
    for (Command& command : program.commands) {
        command.label.clear();
        command.computes.clear();
        command.operand_values.clear();
    }
    contents.device_targets.push_back({view.device_targets()[0].name, std::move(program), 0, 0});
    contents.compress = false;
    return save_package(std::move(contents));
}

/// Agents as small as a learner can be, for a CPU.  The target `agents` runs none of their kernels.
template <class Learner>
Result<std::vector<std::byte>> agents_package(const agents::AgentSpec& spec,
                                              const Learner& learner) {
    const agents::AgentManifest manifest = make_manifest(spec, learner);
    const agents::AgentGraphs graphs = build_agent_graphs(spec, agents::mlp_network({4}), learner);
    DeviceTarget scalar{.name = "scalar", .options = {.caps = cpu_caps(CpuIsa::kScalar)}};
    scalar.options.keep_source = false;
    HEARTH_ASSIGN(Cooked cooked,
                  cook(runtime_entries(graphs, manifest), {.device_targets = {scalar},
                                                           .max_batch_size = manifest.n_agents,
                                                           .agents = manifest.save()}));
    return stripped(cooked.bytes);
}

Status write_agents(const std::filesystem::path& folder) {
    using namespace agents;
    const ObservationSpec seen = ObservationSpec().box("x").entities(
        "others", 2, ObservationSpec().position("place", 2, 50));
    const AgentSpec pushes(seen, ActionSpec().discrete("push", 3, true)),
        aims(seen, ActionSpec().continuous("aim", 2));
    const auto save = [&](const char* name, Result<std::vector<std::byte>> bytes) -> Status {
        if (bytes.ok()) write(folder / name, *bytes);
        return bytes.status();
    };
    const Ppo ppo{.n_agents = 3, .n_steps = 4, .n_minibatches = 1, .n_epochs = 1};
    HEARTH_TRY(save("ppo.hearth", agents_package(pushes, ppo)));
    const ReplayOptions replay{
        .n_agents = 3, .buffer_size = 16, .batch_size = 4, .learning_starts = 4};
    HEARTH_TRY(save("dqn.hearth", agents_package(pushes, Dqn{.replay = replay})));
    HEARTH_TRY(save("sac.hearth", agents_package(aims, Sac{.replay = replay})));
    const BehaviorCloning cloning{
        .n_agents = 3, .buffer_size = 16, .batch_size = 4, .learning_starts = 4};
    HEARTH_TRY(save("clone.hearth", agents_package(pushes, cloning)));
    const Tamer tamer{.n_agents = 3, .buffer_size = 16, .batch_size = 4};
    return save("tamer.hearth", agents_package(pushes, tamer));
}

/// With and without remarks, an empty line and ends of lines of both kinds.
std::vector<std::byte> tuning() {
    constexpr std::string_view kText =
        "hearth tuning 1\n"
        "device a device\n"
        "driver 1.2\n"
        "version 0.1.0\n"
        "matmul 64x64x1024 = matrix 64x64x64 of 32x32, 1 stages, 0 threads = 20.5 us\n"
        "\n"
        "matmul 96x64x128 = tiles 32x32x8\r\n"
        "matmul 8x16x8 = rows 8 = 3.5 us, shipped 4.25\n";
    const auto bytes = std::as_bytes(std::span(kText));
    return {bytes.begin(), bytes.end()};
}

int write_all(const std::filesystem::path& corpus) {
    write(corpus / "onnx/policy.onnx", testing::small_policy().bytes());
    write(corpus / "onnx/branches.onnx", testing::model_with_branches().bytes());
    write(corpus / "onnx/loops.onnx", testing::model_with_loops().bytes());
    write(corpus / "onnx/function.onnx", testing::model_with_function().bytes());
    write(corpus / "onnx/convolution.onnx", with_convolution().bytes());
    write(corpus / "onnx/tensor.pb", testing::bytes_of(float_tensor("t", {2, 2}, {1, 2, 3, 4})));
    const Result<Cooked> cooked = testing::cook_smallest_package();
    if (!cooked.ok()) {
        std::fprintf(stderr, "%s\n", cooked.status().message().c_str());
        return 1;
    }
    write(corpus / "package/compressed.hearth", cooked->bytes);
    const Result<std::vector<std::byte>> stored = testing::without_compression(cooked->bytes);
    if (!stored.ok()) {
        std::fprintf(stderr, "%s\n", stored.status().message().c_str());
        return 1;
    }
    write(corpus / "package/learner.hearth", *stored);
    if (const Status status = write_agents(corpus / "agents"); !status.ok()) {
        std::fprintf(stderr, "%s\n", status.message().c_str());
        return 1;
    }
    write(corpus / "tuning/three.txt", tuning());
    return 0;
}

}  // namespace
}  // namespace hearth

int main(int argc, char** argv) {
    return argc == 2 ? hearth::write_all(argv[1]) : 2;
}
