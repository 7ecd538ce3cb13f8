// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth_docgen: writes the pages of docs/reference that are made from records, or checks that they
// are current.
//
//   hearth_docgen docs/reference           writes operators.md, learners.md and kernel_instructions.md
//   hearth_docgen --check docs/reference   fails if a page would change

#include "pages.hpp"

#include <hearth/file.hpp>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace hearth::docgen {

std::string cell(const std::string& text) {
    std::string escaped;
    for (char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    return " " + escaped + " |";
}

}  // namespace hearth::docgen

int main(int argument_count, char** arguments) {
    using namespace hearth;
    const bool checks = argument_count == 3 && std::string(arguments[1]) == "--check";
    if (argument_count != 2 && !checks) {
        std::fprintf(stderr, "usage: hearth_docgen [--check] DIR\n");
        return 2;
    }
    const std::string folder = arguments[argument_count - 1];
    const struct {
        const char* name;
        std::string (*text)();
    } pages[] = {{"operators.md", docgen::operators_page},
                 {"learners.md", docgen::learners_page},
                 {"kernel_instructions.md", docgen::instructions_page}};
    int failures = 0;
    for (const auto& page : pages) {
        const std::string path = folder + "/" + page.name, text = page.text();
        if (!checks) {
            const Status status = write_file_atomically(path, text);
            if (status.ok()) continue;
            std::fprintf(stderr, "hearth_docgen: %s\n", status.message().c_str());
            ++failures;
            continue;
        }
        const Result<std::vector<std::byte>> found = read_whole_file(path);
        if (found.ok() && std::ranges::equal(*found, std::as_bytes(std::span(text)))) continue;
        std::fprintf(stderr, "%s is not what the records say; run: hearth_docgen %s\n",
                     path.c_str(), folder.c_str());
        ++failures;
    }
    return failures == 0 ? 0 : 1;
}
