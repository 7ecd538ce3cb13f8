// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth inspect: prints a model's graph and the Program compiled from it.

#include "commands.hpp"
#include "compiler/driver/compile.hpp"
#include "describe_program.hpp"
#include "model.hpp"
#include "tables.hpp"

#include <fmt/format.h>
#include <programs/arguments.hpp>
#include <standalone/device.hpp>
#include <standalone/instance.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hearth::tool {

namespace {

struct InspectOptions {
    ModelOptions model;
    CompileOptions assume = {};  ///< --assume-int32, --assume-float32
    uint64_t max_batch_size = 1;
    bool use_device = false;
    bool unfused = false;
    bool show_passes = false;
    bool show_source = false;
    bool json = false;
};

/// Arena range and lifetime of a value.
struct Placed {
    uint64_t begin = 0, end = 0;
    uint32_t first_command = 0, last_command = 0;
};

/// Prints one line per value: its bytes, and a mark for each command (or group of commands) of its
/// lifetime.
void print_arena_map(const Program& program, const Entry& entry) {
    std::map<uint32_t, Placed> values;
    for (uint32_t s = 0; s < entry.command_count; ++s) {
        const Command& command = program.commands[entry.first_command + s];
        const std::span<const Operand> operands = program.operands_of(command);
        for (size_t i = 0; i < operands.size() && i < command.operand_values.size(); ++i) {
            if (operands[i].region != Region::kArena) continue;
            const uint64_t end = operands[i].offset + operands[i].bytes.at(program.max_batch_size);
            Placed& value =
                values.try_emplace(command.operand_values[i], Placed{operands[i].offset, end, s, s})
                    .first->second;
            value.last_command = s;
        }
    }
    constexpr uint32_t kMaxColumns = 100;
    const uint32_t commands_per_column = entry.command_count / kMaxColumns + 1;
    print("arena map of {}: {} bytes from {}, {} values, one column for {} commands\n", entry.name,
          entry.arena_bytes, entry.arena_offset, values.size(), commands_per_column);
    std::vector<std::pair<uint32_t, Placed>> order(values.begin(), values.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.begin < b.second.begin; });
    for (const auto& [id, value] : order) {
        std::string life;
        for (uint32_t s = 0; s < entry.command_count; s += commands_per_column) {
            const bool lives =
                s + commands_per_column > value.first_command && s <= value.last_command;
            life += lives ? '#' : '.';
        }
        print("  [{:>9}, +{:>8})  %{:<5} {}\n", value.begin, value.end - value.begin, id, life);
    }
}

Result<DeviceCaps> caps_for(const InspectOptions& options) {
    if (!options.use_device) return baseline_caps();
    HEARTH_ASSIGN(const std::unique_ptr<standalone::Instance> instance,
                  standalone::Instance::create());
    HEARTH_ASSIGN(const std::unique_ptr<standalone::Device> device,
                  standalone::Device::create(*instance));
    return device->caps();
}

void print_program(const Program& program, const InspectOptions& options) {
    print("\n{}", dump(program));
    for (const Entry& entry : program.entries) {
        print("\n");
        print_arena_map(program, entry);
    }
    if (options.show_source)
        for (const Kernel& kernel : program.kernels)
            print("\nkernel {}:\n{}\n", kernel.name,
                  kernel.source.empty() ? "no source was kept; cook with --keep-source"
                                        : kernel.source);
}

Status inspect_package(std::span<const std::byte> bytes, const InspectOptions& options) {
    HEARTH_ASSIGN(const PackageView view, open_package(bytes));
    const size_t graph_bytes = view.section(view.graph_section()).size();
    if (!options.json)
        print("\npackage of {} bytes: graph {} ({} bytes), weights {} bytes\n", bytes.size(),
              hash_text(view.header().graph_hash), graph_bytes, view.weights().size());
    Json device_targets = Json::array();
    for (uint32_t i = 0; i < view.device_targets().size(); ++i) {
        const char* name = view.device_targets()[i].name;
        const Result<Program> program = load_program(view, i);
        if (!program.ok()) return program.status().with_context(name);
        if (options.json) {
            device_targets.push_back(describe_program(*program));
            continue;
        }
        print("\ndevice target {}: program of {} bytes\n", name,
              view.section(view.program_section(i)).size());
        print_program(*program, options);
    }
    if (options.json)
        print_json({{"bytes", bytes.size()},
                    {"graph_hash", hash_text(view.header().graph_hash)},
                    {"graph_bytes", graph_bytes},
                    {"weights_bytes", view.weights().size()},
                    {"remarks", view.notes()},
                    {"device_targets", std::move(device_targets)}});
    return {};
}

Status inspect(const InspectOptions& options) {
    HEARTH_ASSIGN(const Model model, load_model(options.model));
    if (!options.json) {
        for (const Graph& graph : model.graphs) print("{}", print(graph));
        for (size_t i = 0; i < model.strings.size(); ++i)
            print("string {}: '{}'\n", i, model.strings[i]);
    }
    if (model.is_package()) return inspect_package(model.package, options);

    CompileOptions compile_options = options.assume;
    HEARTH_ASSIGN(compile_options.caps, caps_for(options));
    compile_options.max_batch_size = options.max_batch_size;
    compile_options.fuse = !options.unfused;
    if (options.show_source) compile_options.keep_source = true;
    if (options.show_passes && !options.json)
        compile_options.on_pass = [](std::string_view, std::string_view stage,
                                     const std::string& text) {
            print("\nafter {}:\n{}", stage, text);
        };
    HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(model.graphs, compile_options));
    if (options.json)
        print_json(describe_program(compiled.program));
    else
        print_program(compiled.program, options);
    return {};
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command = app.add_subcommand("inspect",
                                           "Print a model's graph, its program (each of a "
                                           "package's), the arena map and the barriers.");
    add_model_options(*command, options->model);
    add_assume_options(*command, options->assume);
    command
        ->add_option("--max-batch-size", options->max_batch_size,
                     "Largest batch size of the compiled program.")
        ->check(programs::whole_number(1, uint64_t{1} << 24))
        ->capture_default_str();
    command->add_flag("--device", options->use_device,
                      "Compile for this machine's GPU instead of the baseline.");
    command->add_flag("--unfused", options->unfused,
                      "Compile one kernel per operator, without fusion.");
    command->add_flag("--passes", options->show_passes, "Also print the graph after each pass.");
    command->add_flag("--source", options->show_source, "Also print the kernels' GLSL.");
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        if (Status status = inspect(*options); !status.ok()) {
            print_error("inspect", status, options->json);
            exit_code = kExitFailed;
        }
    });
}

}  // namespace hearth::tool
