// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds C sources to shared libraries, cached by content.

#include "native/library.hpp"

#include "core/path.hpp"

#include <hearth/core/hash.hpp>
#include <hearth/core/os_file.hpp>
#include <hearth/file.hpp>

#include <standalone/cache_folder.hpp>

#if !defined(_WIN32)
#include <sys/wait.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace hearth::native {

namespace {

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string machine_flags(CpuIsa cpu) {
    switch (cpu) {
        case CpuIsa::kX86_64V2:
            return " -march=x86-64-v2";
        case CpuIsa::kX86_64V3:
            return " -march=x86-64-v3";
        case CpuIsa::kX86_64V4:
            return " -march=x86-64-v4";
        default:
            return "";
    }
}

Result<std::filesystem::path> folder_of(const BuildOptions& options) {
    if (options.cache_folder.empty()) return standalone::cache_folder("native");
    std::error_code error;
    std::filesystem::create_directories(path_of(options.cache_folder), error);
    if (error)
        return not_found("cannot make the folder " + options.cache_folder + ": " + error.message());
    return path_of(options.cache_folder);
}

std::string hex_digits(uint64_t number) {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4)
        digits += "0123456789abcdef"[number >> static_cast<unsigned>(shift) & 15];
    return digits;
}

#if defined(_WIN32)

// File names here never contain quotes.
std::string in_quotes(const std::string& path) {
    return '"' + path + '"';
}

// cmd.exe strips the outermost quotes.
/// Returns the exit code.
int run(const std::string& command) {
    return _wsystem(path_of(in_quotes(command)).c_str());
}

constexpr char kCompiler[] = "gcc", kSuffix[] = ".dll", kForLibraries[] = " -shared";
constexpr char kPathSeparator = ';', kProgramSuffix[] = ".exe";

#else

std::string in_quotes(const std::string& path) {
    std::string text = "'";
    for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// Returns the exit code.
int run(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : status;
}

constexpr char kCompiler[] = "cc", kSuffix[] = ".so", kForLibraries[] = " -shared -fPIC";
constexpr char kPathSeparator = ':', kProgramSuffix[] = "";

#endif

/// True if the program is this path, or this name in a folder of PATH.
bool is_program(const std::string& name) {
    const auto exists = [](const std::filesystem::path& path) {
        std::error_code error;
        return std::filesystem::is_regular_file(path, error) ||
               std::filesystem::is_regular_file(path.string() + kProgramSuffix, error);
    };
    if (path_of(name).has_parent_path()) return exists(path_of(name));
    const std::string folders = environment("PATH");
    for (size_t begin = 0; begin < folders.size();) {
        const size_t end = std::min(folders.find(kPathSeparator, begin), folders.size());
        if (exists(path_of(folders.substr(begin, end - begin)) / path_of(name))) return true;
        begin = end + 1;
    }
    return false;
}

}  // namespace

std::string compiler_command(const BuildOptions& options) {
    std::string command = options.compiler.empty() ? environment("CC") : options.compiler;
    return command.empty() ? kCompiler : command;
}

bool has_compiler(const BuildOptions& options) {
    // The whole command is tried first because a path may contain blanks.
    const std::string command = compiler_command(options);
    return is_program(command) || is_program(command.substr(0, command.find(' ')));
}

Result<std::filesystem::path> build_library(const std::vector<SourceFile>& files, CpuIsa cpu,
                                            const BuildOptions& options) {
    const std::string compiler = compiler_command(options);
    const std::string flags = "-std=c11 " + options.flags + machine_flags(cpu) +
                              " -fwrapv -fno-strict-aliasing -fno-math-errno -ffp-contract=off" +
                              kForLibraries;
    Hash hash;
    hash.text(compiler).text(flags);
    for (const SourceFile& file : files) hash.text(file.name).text(file.text);
    const std::string digits = hex_digits(hash.value());
    HEARTH_ASSIGN(const std::filesystem::path folder, folder_of(options));
    const std::filesystem::path library = folder / (digits + kSuffix);
    if (std::filesystem::exists(library)) return library;
    if (!has_compiler(options))
        return not_found("there is no C compiler '" + compiler +
                         "'; install one (Debian: gcc), name it in the environment's CC, or link "
                         "kernels that `hearth cook --kernels` wrote");
    // Other processes may build the same: each uses a folder of its own and moves the result
    // atomically.
    const std::filesystem::path work = folder / (digits + "_" + hex_digits(os::unlikely_number()));
    std::error_code error;
    if (!std::filesystem::create_directory(work, error))
        return not_found("cannot make a folder in " + folder.string());
    const std::filesystem::path made = work / ("library" + std::string(kSuffix));
    const auto clean = [&] {
        std::error_code ignored;
        std::filesystem::remove_all(work, ignored);
    };
    for (const SourceFile& file : files)
        if (Status status = write_file_atomically((work / file.name).string(), file.text);
            !status.ok()) {
            clean();
            return status;
        }
    const std::string command = compiler + " " + flags + " -o " + in_quotes(made.string()) + " " +
                                in_quotes((work / files.front().name).string()) + " -lm";
    if (options.on_compile) options.on_compile();
    if (const int code = run(command); code != 0) {
        clean();
        return internal_error("failed: " + command +
                              "; expected a C compiler: install one, name it in the environment's "
                              "CC, or link kernels that `hearth cook --kernels` wrote");
    }
    std::filesystem::rename(made, library, error);
    clean();
    if (error) return internal_error("cannot keep " + library.string() + ": " + error.message());
    return library;
}

}  // namespace hearth::native
