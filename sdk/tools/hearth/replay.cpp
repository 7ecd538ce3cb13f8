// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth replay: prints a dump ("Dumps" in hearth.h) or a folder of dumps, runs it again on a
// device and compares the results.

#include "cases.hpp"
#include "commands.hpp"
#include "compare.hpp"
#include "core/path.hpp"
#include "dump_file.hpp"
#include "model.hpp"
#include "program/program.hpp"
#include "tables.hpp"

#include <hearth/weights.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <programs/arguments.hpp>
#include <standalone/device.hpp>
#include <standalone/instance.hpp>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

namespace hearth::tool {

namespace {

struct ReplayOptions {
    std::string path;
    std::string program;
    std::string device_target;
    int device_index = -1;
    bool only_print = false;
    Tolerance tolerance;
    bool json = false;
};

/// Makes a dump's program self-contained: initial values stored in a package are replaced by zeros,
/// because the dump has the variables' contents.
Result<std::vector<std::byte>> alone(std::span<const std::byte> bytes) {
    constexpr uint64_t kMaxOutside = uint64_t{1} << 31;
    file::FileHeader header;
    if (bytes.size() < sizeof header)
        return corrupt_data(
            "its program is truncated; make the dump again, or give --program FILE");
    std::memcpy(&header, bytes.data(), sizeof header);
    const bool is_outside = (header.flags & file::kDataIsOutside) != 0;
    if (is_outside && header.outside_bytes > kMaxOutside)
        return out_of_range(fmt::format(
            "its program refers to {} bytes of weights, more than {}; give --program FILE",
            header.outside_bytes, kMaxOutside));
    const std::vector<std::byte> zeros(is_outside ? static_cast<size_t>(header.outside_bytes)
                                                  : size_t{0});
    HEARTH_ASSIGN(const Program program, load_program(bytes, zeros));
    return save_program(program);
}

/// A device and the dump's program on it.
struct Replayer {
    std::unique_ptr<standalone::Instance> instance;
    std::unique_ptr<standalone::Device> device;
    std::unique_ptr<standalone::ProgramRunner> runner;
};

Result<Replayer> make_replayer(const Dump& dump, const ReplayOptions& options) {
    Replayer r;
    std::vector<std::byte> bytes;
    const bool is_given = !options.program.empty();
    if (is_given) {
        HEARTH_ASSIGN(bytes, read_file(options.program));
    } else {
        const auto inside = dump.tensors.find("program");
        if (inside == dump.tensors.end())
            return not_found(
                "the dump contains no program; give its package or program by --program FILE");
        HEARTH_ASSIGN(bytes, alone(inside->second.bytes()));
    }
    const bool has_package = is_package(bytes);
    standalone::DeviceOptions device_options;
    device_options.index = options.device_index;
    if (!has_package) {
        HEARTH_ASSIGN(const Program program, load_program(bytes));
        if (program.binding_model == BindingModel::kDescriptor)
            device_options.binding_model = HEARTH_BINDING_PUSH_DESCRIPTOR;
    }
    HEARTH_ASSIGN(r.instance, standalone::Instance::create());
    HEARTH_ASSIGN(r.device, standalone::Device::create(*r.instance, device_options));
    if (has_package) {
        const std::string& device_target =
            options.device_target.empty() ? dump.text("device_target") : options.device_target;
        HEARTH_ASSIGN(r.runner, standalone::ProgramRunner::create_from_package(
                                    *r.device, bytes, device_target.c_str()));
    } else {
        HEARTH_ASSIGN(r.runner, standalone::ProgramRunner::create(*r.device, bytes));
    }
    const hearth_program_info info = r.runner->program().info();
    const bool same_program = hash_text(info.hash) == dump.text("program");
    // An explicit --device-target allows a program of another device target, if the graph is the same.
    if (!same_program &&
        (options.device_target.empty() || hash_text(info.graph_hash) != dump.text("graph")))
        return invalid_argument(
            fmt::format("the dump is of program {}, graph {}, and --program or --device-target "
                        "gives program {}, "
                        "graph {}; give the one that the dump was made with",
                        dump.text("program"), dump.text("graph"), hash_text(info.hash),
                        hash_text(info.graph_hash)));
    return r;
}

/// The dump's inputs, converted to the entry's logical types: device memory may hold other types.
Result<NamedTensors> inputs_of(const Dump& dump, LoadedProgram& program, uint32_t entry) {
    NamedTensors inputs;
    for (const auto& [name, tensor] : dump.group("input/")) {
        HEARTH_ASSIGN(const uint32_t index, program.find_binding(entry, name.c_str()));
        HEARTH_ASSIGN(const hearth_binding_info binding, program.binding(index));
        inputs.emplace(name, tensor.cast(static_cast<DType>(binding.dtype)));
    }
    return inputs;
}

Result<Dump> run_again(const Dump& dump, const ReplayOptions& options) {
    HEARTH_ASSIGN(const Replayer r, make_replayer(dump, options));
    LoadedProgram& program = r.runner->program();
    HEARTH_ASSIGN(const uint32_t entry, program.find_entry(dump.text("entry").c_str()));
    HEARTH_ASSIGN(const uint64_t batch_size, dump.number("batch_size"));
    uint64_t command = HEARTH_NO_COMMAND;
    if (dump.texts.contains("command")) {
        HEARTH_ASSIGN(command, dump.number("command"));
    }
    if (batch_size == 0 || batch_size > program.info().max_batch_size ||
        command > HEARTH_NO_COMMAND)
        return corrupt_data(
            fmt::format("batch size {} or command {} is not in the program", batch_size, command));
    for (const auto& [name, tensor] : dump.group("variable/"))
        HEARTH_TRY(r.runner->write_variable(name.c_str(), tensor.bytes()));
    HEARTH_ASSIGN(const NamedTensors inputs, inputs_of(dump, program, entry));
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  r.runner->dump(dump.text("entry").c_str(), static_cast<int64_t>(batch_size),
                                 inputs, static_cast<uint32_t>(command)));
    return read_dump(bytes);
}

bool is_result(std::string_view name) {
    return name.starts_with("output/") || name.starts_with("variable_after/") ||
           name.starts_with("command/");
}

Json texts_of(const Dump& dump) {
    Json json = Json::object();
    for (const auto& [key, text] : dump.texts) json[key] = text;
    return json;
}

/// Describes a dump and, unless only printing, runs it again and compares the results: "agree" in
/// the returned object.
Result<Json> replay(const Dump& dump, const ReplayOptions& options) {
    Json report = {{"dump", texts_of(dump)}, {"tensors", Json::array()}, {"agree", true}};
    for (const auto& [name, tensor] : dump.tensors)
        report["tensors"].push_back({{"name", name},
                                     {"dtype", name_of(tensor.dtype())},
                                     {"shape", to_string(tensor.shape())}});
    if (!options.json) {
        for (const auto& [key, text] : dump.texts)
            if (key != "commands" && key != "hearth_dump" && !text.empty())
                print("{}: {}\n", key, text);
        print("commands:\n{}\n", dump.text("commands"));
        for (const Json& t : report["tensors"])
            print("{} {}{}\n", t["name"].get<std::string>(), t["dtype"].get<std::string>(),
                  t["shape"].get<std::string>());
    }
    const bool has_results = std::any_of(dump.tensors.begin(), dump.tensors.end(),
                                         [](const auto& t) { return is_result(t.first); });
    if (options.only_print || !has_results) return report;
    Result<Dump> again = run_again(dump, options);
    if (!again.ok()) return again.status().with_context("replaying");
    bool agree = true;
    report["device"] = again->text("device");
    report["outputs"] = Json::array();
    if (!options.json) print("replayed on {}\n", again->text("device"));
    for (const auto& [name, then] : dump.tensors) {
        if (!is_result(name)) continue;
        const auto now = again->tensors.find(name);
        if (now == again->tensors.end()) {
            // Commands differ between device targets; all other names belong to the graph.
            if (name.starts_with("command/") && !options.device_target.empty()) continue;
            return corrupt_data(
                "the dump has '" + name +
                "', which its program does not compute; give the program of the dump by "
                "--program FILE");
        }
        const std::optional<std::string> difference =
            first_difference(now->second, then, options.tolerance);
        agree = agree && !difference;
        const bool is_equal = now->second == then;
        report["outputs"].push_back(
            {{"name", name}, {"equal_bits", is_equal}, {"agree", !difference}});
        if (difference) report["outputs"].back()["difference"] = *difference;
        if (!options.json)
            print("{}: {}\n", name,
                  is_equal     ? "equal bits"
                  : difference ? *difference
                               : "within the tolerance");
    }
    report["agree"] = agree;
    return report;
}

Result<bool> replay_file(const ReplayOptions& options) {
    HEARTH_ASSIGN(const Dump dump, read_dump_file(options.path));
    HEARTH_ASSIGN(const Json report, replay(dump, options));
    if (options.json) print_json(report);
    return report["agree"].get<bool>();
}

/// Variables that changed since the previous dump: written by the application or another recording.
std::vector<std::string> changed_between(const Dump& before, const Dump& after) {
    const NamedTensors left = before.group("variable_after/"), had = before.group("variable/");
    const auto at_end = [&](const std::string& name) -> const HostTensor* {
        for (const NamedTensors* tensors : {&left, &had})
            if (const auto found = tensors->find(name); found != tensors->end())
                return &found->second;
        return nullptr;
    };
    std::vector<std::string> changed;
    for (const auto& [name, now] : after.group("variable/")) {
        const HostTensor* const then = at_end(name);
        if (then == nullptr || *then != now) changed.push_back(name);
    }
    return changed;
}

/// Replays the dumps of one session in name order.  Each is replayed separately; only one of them
/// needs to include the program.
Result<bool> replay_folder(const ReplayOptions& options) {
    HEARTH_ASSIGN(const std::vector<std::filesystem::path> files, dump_files(options.path));
    Json all = {{"dumps", Json::array()}, {"agree", true}};
    std::optional<Dump> before;
    std::map<std::string, HostTensor> programs;  // keyed by program hash
    for (const std::filesystem::path& file : files) {
        HEARTH_ASSIGN(Dump dump, read_dump_file(file.string()));
        if (const auto inside = dump.tensors.find("program"); inside != dump.tensors.end())
            programs.insert_or_assign(dump.text("program"), inside->second);
        else if (const auto known = programs.find(dump.text("program")); known != programs.end())
            dump.tensors.emplace("program", known->second);
        if (!options.json) print("== {}\n", file.filename().string());
        Result<Json> report = replay(dump, options);
        if (!report.ok()) return report.status().with_context(file.string());
        (*report)["file"] = file.filename().string();
        if (before && before->text("graph") == dump.text("graph")) {
            const std::vector<std::string> changed = changed_between(*before, dump);
            (*report)["changed_before"] = changed;
            if (!options.json)
                print("{}\n", changed.empty() ? "continues from the end of the previous dump"
                                              : fmt::format("changed since the previous dump: {}",
                                                            fmt::join(changed, ", ")));
        }
        if (!(*report)["agree"].get<bool>()) all["agree"] = false;
        all["dumps"].push_back(std::move(*report));
        before = std::move(dump);
    }
    if (options.json) print_json(all);
    return all["agree"].get<bool>();
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<ReplayOptions>();
    CLI::App* command = app.add_subcommand(
        "replay", "Print a dump, run it again on this machine's GPU and compare the results.");
    command
        ->add_option(
            "DUMP", options->path,
            "A file of hearth_dump_encode or `hearth run --dump`, or a folder of them: successive "
            "recordings in the order of their names.")
        ->required();
    command->add_option("--program", options->program,
                        "The package or program of a dump that does not contain it.");
    command->add_option(
        "--device-target", options->device_target,
        "Another device target of the package to compare with; default: the dump's.");
    command
        ->add_option("--device-index", options->device_index,
                     "Which GPU of `hearth info`; default: the first discrete one.")
        ->check(programs::device_index());
    command->add_flag("--print", options->only_print, "Only print its contents.");
    add_tolerance_options(*command, options->tolerance);
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->footer(
        "Exit code 0 if everything agrees, 1 if not or on errors.  A dump that contains a program "
        "is "
        "code that runs on the GPU: replay only dumps of people whose programs you would run.");
    command->callback([options, &exit_code] {
        const Result<bool> agree = std::filesystem::is_directory(path_of(options->path))
                                       ? replay_folder(*options)
                                       : replay_file(*options);
        if (!agree.ok()) print_error("replay", agree.status(), options->json);
        exit_code = agree.ok() && *agree ? kExitOk : kExitFailed;
    });
}

}  // namespace hearth::tool
