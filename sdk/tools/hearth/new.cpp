// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth new: makes a project of a game, from the templates that are installed beside the tool.

#include "commands.hpp"
#include "model.hpp"
#include "tables.hpp"

#include <hearth/file.hpp>

#include <fmt/format.h>
#include <programs/command_line.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

namespace hearth::tool {

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string name, model, engine;
    bool agents = false, json = false;
};

// Names of targets that CMake, CTest and CPack reserve.
constexpr std::array<std::string_view, 14> kReservedNames = {
    "all",       "clean",      "edit_cache",     "help",          "install",
    "package",   "preinstall", "package_source", "rebuild_cache", "test",
    "ALL_BUILD", "INSTALL",    "RUN_TESTS",      "ZERO_CHECK"};
constexpr size_t kMaxNameBytes = 64;

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The name becomes a folder, a CMake project and a program.
Status check_name(const std::string& name) {
    const auto is_allowed = [](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    if (name.empty() || name.size() > kMaxNameBytes || !is_letter(name.front()) ||
        !std::ranges::all_of(name, is_allowed))
        return invalid_argument(fmt::format(
            "'{}' cannot name a project: expected a letter, then letters, digits, _ and -, at most "
            "{} characters; the project is made in the current folder",
            shortened(name, kMaxNameBytes + 8), kMaxNameBytes));
    if (std::ranges::find(kReservedNames, name) != kReservedNames.end())
        return invalid_argument(
            fmt::format("'{}' cannot name a project: CMake reserves it; choose another", name));
    return {};
}

std::string replaced(std::string text, std::string_view token, std::string_view value) {
    for (size_t at = 0; (at = text.find(token, at)) != std::string::npos; at += value.size())
        text.replace(at, token.size(), value);
    return text;
}

/// The licence of the templates is Hearth's; a project has its own.
std::string without_licence(std::string text) {
    while (text.starts_with("// SPDX-") || text.starts_with("# SPDX-"))
        text.erase(0, text.find('\n') + 1);
    if (text.starts_with('\n')) text.erase(0, 1);
    return text;
}

/// The templates in ../share/hearth, beside the program's folder.
Result<fs::path> find_templates() {
    const fs::path folder =
        programs::this_program().parent_path().parent_path() / "share" / "hearth" / "templates";
    std::error_code error;
    if (fs::is_directory(folder, error)) return folder;
    return not_found(
        fmt::format("found no templates in '{}': install Hearth's component 'tool' "
                    "whole, the folder share/hearth with it",
                    folder.string()));
}

/// Copies a template's files into the project, with its name in place of the template's.
Status copy_template(const fs::path& from, const fs::path& project, const std::string& model) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(from, error), end; !error && at != end;
         at.increment(error)) {
        fs::path to = project / fs::relative(at->path(), from, error);
        if (at->is_directory(error)) {
            fs::create_directory(to, error);
            continue;
        }
        if (to.filename() == "gitignore") to.replace_filename(".gitignore");
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(at->path().string()));
        std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        text = replaced(without_licence(std::move(text)), "my_game", project.filename().string());
        HEARTH_TRY(write_file_atomically(to.string(), replaced(text, "my_model_file", model)));
    }
    if (!error) return {};
    return internal_error(fmt::format("cannot copy '{}': {}", from.string(), error.message()));
}

/// Copies the model and checks that it can be imported without options.  Returns its new name.
Result<std::string> copy_model(const std::string& path, const fs::path& project) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path));
    const std::string name =
        fs::path(path).extension() == ".hearth" ? "model.hearth" : "model.onnx";
    const std::string copy = (project / name).string();
    HEARTH_TRY(write_file_atomically(copy, bytes));
    const Result<Model> model = load_model({.path = copy});
    if (!model.ok())
        return model.status().with_context(
            fmt::format("'{}' cannot be cooked as it is (hearth cook has options for that, and its "
                        "package can be the model of a project)",
                        path));
    return name;
}

Status fill(const Options& options, const fs::path& templates, const fs::path& project) {
    if (!options.model.empty()) {
        HEARTH_ASSIGN(const std::string model, copy_model(options.model, project));
        return copy_template(templates / "model", project, model);
    }
    HEARTH_TRY(copy_template(templates / "agents_shared", project, ""));
    const std::string kind = options.engine.empty() ? "agents" : options.engine;
    return copy_template(templates / kind, project, "");
}

Status run_new(const Options& options) {
    HEARTH_TRY(check_name(options.name));
    HEARTH_ASSIGN(const fs::path templates, find_templates());
    std::error_code error;
    const fs::path project = fs::current_path(error) / options.name;
    if (fs::exists(fs::symlink_status(project, error)))
        return invalid_argument(fmt::format(
            "'{}' exists already: choose another name, or move it away", project.string()));
    if (!fs::create_directory(project, error))
        return invalid_argument(
            fmt::format("cannot make the folder '{}': {}", project.string(), error.message()));
    if (Status filled = fill(options, templates, project); !filled.ok()) {
        fs::remove_all(project, error);  // made by this call
        return filled;
    }
    if (options.json) {
        print_json({{"project", project.string()}});
    } else {
        print("made {0}\n  cd {0}\n  cmake -B build && cmake --build build\n  build/{0}\n",
              options.name);
    }
    return {};
}

}  // namespace

void add_new(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "new", "Make a project: a game with agents that learn, or one that runs a model.");
    command->add_option("name", options->name, "Name of the project and of its folder.")
        ->required();
    CLI::Option* const agents = command->add_flag(
        "--agents", options->agents, "Agents that learn on this machine's CPU (the default).");
    CLI::Option* const model = command->add_option(
        "--model", options->model, "A project that runs this ONNX file or package instead.");
    CLI::Option* const engine =
        command
            ->add_option("--engine", options->engine,
                         "Agents in a window (sdl2), or on the game's own Vulkan device (vulkan).")
            ->check(CLI::IsMember({"sdl2", "vulkan"}));
    model->excludes(agents)->excludes(engine);
    command->add_flag("--json", options->json, "Print one JSON object instead of text.");
    command->callback([options, &exit_code] {
        const Status status = run_new(*options);
        if (!status.ok()) print_error("new", status, options->json);
        exit_code = static_cast<int>(status.ok() ? kExitOk : kExitFailed);
    });
}

}  // namespace hearth::tool
