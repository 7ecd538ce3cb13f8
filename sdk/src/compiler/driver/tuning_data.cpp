// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Parses and prints tuning data.

#include "compiler/driver/tuning_data.hpp"

#include "core/bytes.hpp"

#include <hearth/hearth.h>

#include <span>
#include <vector>

namespace hearth {

namespace {

constexpr std::string_view kFirstLine = "hearth tuning 1";
constexpr std::string_view kSeparator = " = ";

std::string version_text() {
    return std::to_string(HEARTH_VERSION_MAJOR) + "." + std::to_string(HEARTH_VERSION_MINOR) + "." +
           std::to_string(HEARTH_VERSION_PATCH);
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        lines.push_back(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

Status bad_line(size_t index, const std::string& what) {
    return corrupt_data("tuning: line " + std::to_string(index + 1) + ": " + what);
}

/// Parses the header: "device X" and so on.
Status read_head(std::span<const std::string_view> lines, Tuning& tuning) {
    const std::pair<std::string_view, std::string*> fields[] = {
        {"device ", &tuning.device}, {"driver ", &tuning.driver}, {"version ", &tuning.version}};
    if (lines.empty() || lines[0] != kFirstLine)
        return bad_line(0, "expected '" + std::string(kFirstLine) + "'");
    for (size_t i = 0; i < std::size(fields); ++i) {
        const auto& [name, value] = fields[i];
        if (lines.size() <= i + 1 || !lines[i + 1].starts_with(name))
            return bad_line(i + 1, "expected '" + std::string(name) + "...'");
        *value = lines[i + 1].substr(name.size());
    }
    return {};
}

std::string differs(std::string_view what, std::string_view found, std::string_view expected) {
    if (found == expected) return "";
    return "it was measured for " + std::string(what) + " " + quoted(found) + ", not " +
           quoted(expected);
}

}  // namespace

std::string Tuning::mismatch(const CompileOptions& options) const {
    const Tuning wanted = tuning_for(options);
    for (const std::string& difference :
         {differs("device", device, wanted.device), differs("driver", driver, wanted.driver),
          differs("Hearth", version, wanted.version)})
        if (!difference.empty()) return difference;
    return "";
}

Tuning tuning_for(const CompileOptions& options) {
    Tuning tuning;
    tuning.device = options.caps.name;
    tuning.driver = options.driver_id;
    tuning.version = version_text();
    return tuning;
}

Result<Tuning> parse_tuning(std::string_view text) {
    Tuning tuning;
    const std::vector<std::string_view> lines = lines_of(text);
    HEARTH_TRY(read_head(lines, tuning));
    for (size_t i = 4; i < lines.size(); ++i) {
        if (lines[i].empty()) continue;
        const size_t middle = lines[i].find(kSeparator);
        if (middle == std::string_view::npos) return bad_line(i, "expected 'kernel = variant'");
        const std::string kernel(lines[i].substr(0, middle));
        std::string_view variant = lines[i].substr(middle + kSeparator.size());
        if (const size_t end = variant.find(kSeparator); end != std::string_view::npos) {
            tuning.remarks[kernel] = variant.substr(end + kSeparator.size());
            variant = variant.substr(0, end);
        }
        if (!tuning.variants.emplace(kernel, variant).second)
            return bad_line(i, quoted(kernel) + " is there twice");
    }
    return tuning;
}

std::string print_tuning(const Tuning& tuning) {
    std::string text(kFirstLine);
    text += "\ndevice " + tuning.device + "\ndriver " + tuning.driver + "\nversion " +
            tuning.version + "\n";
    for (const auto& [kernel, variant] : tuning.variants) {
        text += kernel + std::string(kSeparator) + variant;
        if (const auto remark = tuning.remarks.find(kernel); remark != tuning.remarks.end())
            text += std::string(kSeparator) + remark->second;
        text += "\n";
    }
    return text;
}

}  // namespace hearth
