// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth_cards: compiles the programs of the benchmark and of the learners for a device, lets its
// driver build their pipelines, and writes what the driver says of them.  Nothing is run, so a
// driver over a device that does not exist will do.

#include "bench.hpp"
#include "probe.hpp"
#include "probe_shaders.gen.hpp"

#include <hearth/agents/learners.hpp>
#include <hearth/file.hpp>
#include <hearth/ops.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <programs/arguments.hpp>
#include <programs/device_targets.hpp>
#include <programs/streams.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hearth::perf {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::vector<std::string> words, tiles;
    std::string target = "class", json_path, modules_path;
};

/// A program, or the programs of a scene.
struct Subject {
    std::string name;
    std::function<Status(Bench&)> build;
};

/// All entries of a learner that a driver of agents records.
template <class Learner>
Subject learner(const char* name, const agents::AgentSpec& spec,
                const agents::PolicyNetwork& network, const Learner& learner) {
    return {name, [=](Bench& bench) -> Status {
                const agents::AgentManifest manifest = agents::make_manifest(spec, learner);
                const agents::AgentGraphs graphs =
                    agents::build_agent_graphs(spec, network, learner);
                HEARTH_ASSIGN(const Compiled compiled,
                              compile(agents::runtime_entries(graphs, manifest),
                                      {.caps = *bench.settings().compile_only,
                                       .max_batch_size = manifest.n_agents}));
                return Workload::create(bench.device(), compiled, manifest.n_agents).status();
            }};
}

std::vector<Subject> all_subjects() {
    using namespace agents;
    std::vector<Subject> subjects;
    for (const std::span<const Scene> group :
         {mlp_scenes(), policy_scenes(), agent_scenes(), gemm_scenes(), convolution_scenes(),
          image_network_scenes(), transformer_scenes(), digits_scenes(), texture_scenes()})
        for (const Scene& scene : group)
            subjects.push_back({scene.name, [&scene](Bench& bench) {
                                    Row row;
                                    return scene.run(bench, row);
                                }});
    const AgentSpec drives(ObservationSpec().box("seen", 16),
                           ActionSpec().continuous("drive", 2).discrete("gear", 3));
    const AgentSpec steers(ObservationSpec().box("seen", 16), ActionSpec().continuous("drive", 2));
    const AgentSpec chooses(ObservationSpec().box("seen", 16), ActionSpec().discrete("move", 4));
    subjects.push_back(learner("learner_ppo", drives, mlp_network({64, 64}), Ppo{}));
    subjects.push_back(learner("learner_ppo_gru", drives, gru_network(64), Ppo{.bptt_length = 16}));
    subjects.push_back(learner("learner_sac", steers, mlp_network({64, 64}, relu), Sac{}));
    subjects.push_back(learner("learner_dqn", chooses, mlp_network({64, 64}, relu), Dqn{}));
    subjects.push_back(
        learner("learner_cloning", drives, mlp_network({64, 64}), BehaviorCloning{}));
    return subjects;
}

/// Of a package for every GPU, in order of preference.
constexpr const char* kTargets[] = {"coopmat",  "coopmat-64", "coopmat-8x16x16", "fp16-dot",
                                    "fp16-32k", "large-32k",  "baseline",        "descriptors"};

/// Name of the device target that the device takes of a package cooked for all of them.
Result<std::string> target_for(standalone::Device& device) {
    Trace trace("probe");
    trace.output("y", matmul(trace.input("x", {256, 256}), trace.input("w", {256, 256})));
    CookOptions options;
    for (const char* name : kTargets) {
        HEARTH_ASSIGN(DeviceTarget known, programs::make_device_target(name, nullptr));
        // Products of f16 need what the target is named for.
        if (known.options.caps.shader_float16) known.options.precision = Precision::kF16;
        options.device_targets.push_back(std::move(known));
    }
    HEARTH_ASSIGN(const Cooked cooked, cook({&trace}, options));
    HEARTH_ASSIGN(const Context context, Context::create(device.host_info()));
    HEARTH_ASSIGN(const LoadedProgram program,
                  LoadedProgram::load_package(context, cooked.bytes, true));
    return std::string(program.info().device_target);
}

std::string driver_of(const standalone::Device& device) {
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    properties.pNext = &driver;
    device.vk().GetPhysicalDeviceProperties2(device.physical_device(), &properties);
    return fmt::format("{} {}", driver.driverName, driver.driverInfo);
}

/// CPU time in which this driver builds a kernel that does not change: the least of some, so that
/// times of two machines can be compared.
Result<double> reference_compile_s(standalone::Device& device) {
    double least_us = 1e12;
    for (int i = 0; i < 8; ++i) {
        Probe probe(device);
        const double start_us = process_now_us();
        HEARTH_TRY(probe.build(k_multiply_add));
        least_us = std::min(least_us, process_now_us() - start_us);
    }
    return least_us * 1e-6;
}

Json to_json(const std::string& subject, const PipelineStatistics& pipeline) {
    Json json = {
        {"subject", subject}, {"kernel", pipeline.kernel}, {"compile_s", pipeline.compile_s}};
    if (!pipeline.error.empty()) json["error"] = pipeline.error;
    for (const auto& [name, value] : pipeline.figures) json["figures"][name] = value;
    return json;
}

Status run(const Arguments& arguments) {
    HEARTH_TRY(check_writable(arguments.json_path));
    HEARTH_ASSIGN(const std::unique_ptr<standalone::Instance> instance,
                  standalone::Instance::create());
    HEARTH_ASSIGN(const std::unique_ptr<standalone::Device> device,
                  standalone::Device::create(*instance, {.pipeline_statistics = true}));
    HEARTH_ASSIGN(DeviceCaps caps, device->caps());
    std::string target = arguments.target;
    if (target == "class") {
        HEARTH_ASSIGN(target, target_for(*device));
    }
    if (target != "device") {
        HEARTH_ASSIGN(const DeviceTarget named, programs::make_device_target(target, nullptr));
        caps = named.options.caps;
    }
    std::map<std::string, std::string> variants;
    for (const std::string& tile : arguments.tiles) {
        constexpr std::string_view kBetween = " = ";
        const size_t at = tile.find(kBetween);
        if (at == std::string::npos)
            return invalid_argument("--tile is '" + tile + "', expected 'kernel = variant'");
        variants.emplace(tile.substr(0, at), tile.substr(at + kBetween.size()));
    }
    HEARTH_ASSIGN(const std::unique_ptr<Bench> bench,
                  Bench::create(*device, {}, {.compile_only = caps, .variants = variants}));
    PipelineCapture capture(*device);
    HEARTH_ASSIGN(const double reference_s, reference_compile_s(*device));
    Json document = {{"device", device->properties().deviceName},
                     {"driver", driver_of(*device)},
                     {"target", target},
                     {"reference_s", reference_s},
                     {"kernels", Json::array()}};
    for (const Subject& subject : all_subjects()) {
        const auto has = [&](const std::string& word) {
            return subject.name.find(word) != std::string::npos;
        };
        if (!arguments.words.empty() && std::ranges::none_of(arguments.words, has)) continue;
        const Status built = subject.build(*bench);
        const std::vector<PipelineStatistics> pipelines = capture.take();
        const std::vector<std::vector<uint32_t>> modules = capture.take_modules();
        for (size_t i = 0; i < modules.size() && !arguments.modules_path.empty(); ++i)
            HEARTH_TRY(write_file_atomically(
                fmt::format("{}/{}.{}.spv", arguments.modules_path, subject.name, i),
                std::as_bytes(std::span(modules[i]))));
        for (const PipelineStatistics& pipeline : pipelines)
            document["kernels"].push_back(to_json(subject.name, pipeline));
        if (pipelines.empty())
            document["kernels"].push_back(
                {{"subject", subject.name}, {"kernel", ""}, {"error", built.message()}});
        fmt::print(stderr, "{}: {} kernels\n", subject.name, pipelines.size());
    }
    return write_file_atomically(arguments.json_path, document.dump(1) + "\n");
}

int run_program(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Figures of a driver for the kernels of the benchmark, without running them.");
    app.add_option("JSON", arguments.json_path, "Where to write them.")->required();
    app.add_option("--rows", arguments.words, "Only programs whose name contains one of these.")
        ->delimiter(',');
    app.add_option("--target", arguments.target,
                   "Device target to compile for: \"class\", the one this device gets (default); "
                   "\"device\", its own limits; or a name.");
    app.add_option("--tile", arguments.tiles,
                   "'kernel = variant', as in files of hearth tune: in place of the shipped one.");
    app.add_option("--modules", arguments.modules_path, "Also write the SPIR-V into this folder.")
        ->check(CLI::ExistingDirectory);
    CLI11_PARSE(app, argc, argv);
    const Status status = run(arguments);
    if (!status.ok()) fmt::print(stderr, "hearth_cards: {}\n", status.message());
    return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace hearth::perf

int main(int argc, char** argv) {
    return hearth::programs::run_program("hearth_cards",
                                         [&] { return hearth::perf::run_program(argc, argv); });
}
