// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Command line arguments, the path of the program, and replacing it by another.

#pragma once

#include <hearth/core/os_file.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#if defined(_WIN32)
#include <shellapi.h>
#endif

namespace hearth::programs {

/// main()'s arguments as UTF-8; on Windows they use the system's code page.
class CommandLine {
  public:
    CommandLine(int argc, char** argv) : words_(argv, argv + argc) {
#if defined(_WIN32)
        int count = 0;
        if (wchar_t** const wide = CommandLineToArgvW(GetCommandLineW(), &count)) {
            words_.clear();
            for (int i = 0; i < count; ++i) words_.push_back(os::detail::narrow(wide[i]));
            LocalFree(wide);
        }
#endif
        for (std::string& word : words_) pointers_.push_back(word.data());
        pointers_.push_back(nullptr);
    }
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    int argc() const {
        return static_cast<int>(words_.size());
    }
    char** argv() {
        return pointers_.data();
    }

  private:
    std::vector<std::string> words_;
    std::vector<char*> pointers_;
};

/// Path of this program; empty if unknown.
inline std::filesystem::path this_program() {
#if defined(_WIN32)
    std::wstring path(MAX_PATH, L'\0');
    for (;;) {
        const DWORD size =
            GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
        if (size < path.size()) return path.substr(0, size);
        path.resize(2 * path.size());
    }
#else
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored);
#endif
}

#if defined(_WIN32)

/// Quotes an argument as Windows programs parse it: backslashes are special only before quotes.
inline std::wstring quoted_word(const std::wstring& word) {
    std::wstring text = L"\"";
    size_t backslashes = 0;
    for (const wchar_t c : word) {
        if (c == L'"') text.append(backslashes + 1, L'\\');
        backslashes = c == L'\\' ? backslashes + 1 : 0;
        text += c;
    }
    text.append(backslashes, L'\\');
    return text + L'"';
}

#endif

/// Replaces this program by another, with the same streams and its exit code. Returns the reason if
/// it could not be started.
inline std::string become(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments) {
#if defined(_WIN32)
    // Windows cannot replace a process: this one waits for the other.
    std::wstring line = quoted_word(program.wstring());
    for (const std::string& argument : arguments)
        line += L' ' + quoted_word(os::detail::wide(argument));
    STARTUPINFOW startup{};
    startup.cb = sizeof startup;
    PROCESS_INFORMATION process{};
    if (!CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr,
                        &startup, &process))
        return os::error_text();
    WaitForSingleObject(process.hProcess, INFINITE);
    DWORD exit_code = 1;
    GetExitCodeProcess(process.hProcess, &exit_code);
    std::exit(static_cast<int>(exit_code));
#else
    std::vector<char*> words = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments)
        words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    return os::error_text();
#endif
}

}  // namespace hearth::programs
