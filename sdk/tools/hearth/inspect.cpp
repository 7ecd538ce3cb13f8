// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth inspect: a model's graph and the Program made of it.

#include "cases.hpp"
#include "commands.hpp"
#include "compile/compile.hpp"
#include "ir/graph.hpp"

#include <hearth/io.hpp>

#include <fmt/format.h>
#include <standalone/device.hpp>
#include <standalone/instance.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hearth::tool {

namespace {

struct InspectOptions {
    std::string model;
    uint64_t rows = 1;
    std::vector<std::string> shapes;
    bool use_device = false;
    bool unfused = false;
    bool show_passes = false;
    bool show_source = false;
};

/// "x=1,3,96,96"; an extent may be the word rows.
Result<NamedShape> parse_shape(const std::string& text) {
    const auto bad = [&] {
        return invalid_argument("'" + text + "' is no shape; expected NAME=EXTENT,EXTENT,...");
    };
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) return bad();
    NamedShape named{text.substr(0, equals), {}};
    size_t at = equals + 1;
    while (at < text.size()) {
        const size_t end = std::min(text.find(',', at), text.size());
        int64_t extent = 0;
        const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, extent);
        const bool is_number = error == std::errc() && stop == text.data() + end && extent >= 0;
        if (named.shape.rank() == kMaxRank) return bad();
        if (is_number)
            named.shape.push_back(Dim(extent));
        else if (text.compare(at, end - at, "rows") == 0)
            named.shape.push_back(kRows);
        else
            return bad();
        at = end + 1;
    }
    return named;
}

/// Where one value lies in the arena, and from which step to which.
struct Placed {
    uint64_t begin = 0, end = 0;
    uint32_t first_step = 0, last_step = 0;
};

/// One line for each value: its bytes, and a mark for each step (or group of steps) while it lives.
void print_arena_map(const Program& program, const Entry& entry) {
    std::map<uint32_t, Placed> values;
    for (uint32_t s = 0; s < entry.step_count; ++s) {
        const Step& step = program.steps[entry.first_step + s];
        const std::span<const Operand> operands = program.operands_of(step);
        for (size_t i = 0; i < operands.size() && i < step.operand_values.size(); ++i) {
            if (operands[i].region != Region::kArena) continue;
            const uint64_t end = operands[i].offset + operands[i].bytes.at(program.rows_capacity);
            Placed& value =
                values.try_emplace(step.operand_values[i], Placed{operands[i].offset, end, s, s})
                    .first->second;
            value.last_step = s;
        }
    }
    constexpr uint32_t kMostColumns = 100;
    const uint32_t steps_per_column = entry.step_count / kMostColumns + 1;
    fmt::print("arena map of {}: {} bytes from {}, {} values, one column for {} steps\n",
               entry.name, entry.arena_bytes, entry.arena_offset, values.size(), steps_per_column);
    std::vector<std::pair<uint32_t, Placed>> order(values.begin(), values.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.begin < b.second.begin; });
    for (const auto& [id, value] : order) {
        std::string life;
        for (uint32_t s = 0; s < entry.step_count; s += steps_per_column) {
            const bool lives = s + steps_per_column > value.first_step && s <= value.last_step;
            life += lives ? '#' : '.';
        }
        fmt::print("  [{:>9}, +{:>8})  %{:<5} {}\n", value.begin, value.end - value.begin, id,
                   life);
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

Status inspect(const InspectOptions& options) {
    ImportOptions import_options;
    for (const std::string& text : options.shapes) {
        HEARTH_ASSIGN(NamedShape shape, parse_shape(text));
        import_options.input_shapes.push_back(std::move(shape));
    }
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(options.model));
    HEARTH_ASSIGN(const ImportedModel model, import_onnx(bytes, import_options));
    fmt::print("{}", print(model.graph()));
    HEARTH_TRY(model.fits_device());

    CompileOptions compile_options;
    HEARTH_ASSIGN(compile_options.caps, caps_for(options));
    compile_options.rows_capacity = options.rows;
    compile_options.fuse = !options.unfused;
    if (options.show_passes)
        compile_options.observer = [](std::string_view, std::string_view stage,
                                      const std::string& text) {
            fmt::print("\nafter {}:\n{}", stage, text);
        };
    HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs({model.graph()}, compile_options));
    const Program& program = compiled.program;
    fmt::print("\n{}", dump(program));
    for (const Entry& entry : program.entries) {
        fmt::print("\n");
        print_arena_map(program, entry);
    }
    if (options.show_source)
        for (const Kernel& kernel : program.kernels)
            fmt::print("\nkernel {}:\n{}\n", kernel.name, kernel.source);
    return {};
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<InspectOptions>();
    CLI::App* command = app.add_subcommand(
        "inspect", "Print a model's graph, its program, the arena map and the barriers.");
    command->add_option("MODEL", options->model, "An ONNX file.")->required();
    command->add_option("--rows", options->rows, "The most rows the program is made for.")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 24))
        ->capture_default_str();
    command->add_option("--shape", options->shapes,
                        "Shape of an input, NAME=EXTENT,...; an extent may be `rows`.");
    command->add_flag("--device", options->use_device,
                      "Compile for this machine's GPU, not for any.");
    command->add_flag("--unfused", options->unfused, "One kernel for each operator.");
    command->add_flag("--passes", options->show_passes, "Also print the graph after each pass.");
    command->add_flag("--source", options->show_source, "Also print the kernels' GLSL.");
    command->callback([options, &exit_code] {
        if (Status status = inspect(*options); !status.ok()) {
            fmt::print(stderr, "hearth inspect: {}\n", status.message());
            exit_code = 1;
        }
    });
}

}  // namespace hearth::tool
