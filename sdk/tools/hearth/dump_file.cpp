// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads dump files and groups their tensors.

#include "dump_file.hpp"

#include "cases.hpp"
#include "core/path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace hearth::tool {

namespace {

/// The names that version 1 gave, and today's.
constexpr std::pair<std::string_view, std::string_view> kTextNames[] = {
    {"rows", "batch_size"},
    {"step", "command"},
    {"steps", "commands"},
    {"profile", "device_target"},
    {"serial", "frame_number"}};
constexpr std::pair<std::string_view, std::string_view> kGroupNames[] = {
    {"slot/", "variable/"}, {"slot_after/", "variable_after/"}, {"step/", "command/"}};

Metadata with_new_names(Metadata texts) {
    for (const auto& [old, name] : kTextNames)
        if (auto node = texts.extract(std::string(old)); !node.empty()) {
            node.key() = name;
            texts.insert(std::move(node));
        }
    return texts;
}

NamedTensors with_new_names(NamedTensors tensors) {
    NamedTensors renamed;
    for (auto& [name, tensor] : tensors) {
        std::string now = name;
        for (const auto& [old, group] : kGroupNames)
            if (name.starts_with(old)) now = std::string(group) + name.substr(old.size());
        renamed.emplace(std::move(now), std::move(tensor));
    }
    return renamed;
}

}  // namespace

const std::string& Dump::text(std::string_view key) const {
    static const std::string kNone;
    const auto at = texts.find(key);
    return at == texts.end() ? kNone : at->second;
}

Result<uint64_t> Dump::number(std::string_view key) const {
    const std::string& digits = text(key);
    uint64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && stop == digits.data() + digits.size() && !digits.empty())
        return value;
    return corrupt_data(fmt::format("its {} is '{}', expected a number", key, digits));
}

NamedTensors Dump::group(std::string_view group) const {
    NamedTensors found;
    for (const auto& [name, tensor] : tensors)
        if (name.starts_with(group)) found.emplace(name.substr(group.size()), tensor);
    return found;
}

Result<Dump> read_dump(std::span<const std::byte> bytes) {
    Dump dump;
    HEARTH_ASSIGN(dump.tensors, read_safetensors(bytes, &dump.texts));
    if (dump.text("hearth_dump") != "1" && dump.text("hearth_dump") != "2")
        return unsupported(
            fmt::format("expected a dump of version 1 or 2, found hearth_dump '{}'; make it with "
                        "hearth_dump_encode or `hearth run --dump`",
                        dump.text("hearth_dump")));
    dump.texts = with_new_names(std::move(dump.texts));
    dump.tensors = with_new_names(std::move(dump.tensors));
    return dump;
}

Result<Dump> read_dump_file(const std::string& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
    Result<Dump> read = read_dump(bytes);
    return read.ok() ? std::move(read) : Result<Dump>(read.status().with_context(path));
}

Result<std::vector<std::filesystem::path>> dump_files(const std::string& path) {
    std::error_code error;
    const std::filesystem::path folder = path_of(path);
    if (!std::filesystem::is_directory(folder, error)) return std::vector{folder};
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder, error))
        if (file.path().extension() == ".safetensors") files.push_back(file.path());
    if (error || files.empty())
        return not_found(
            path +
            ": expected a file, or a folder of dumps; found a folder without .safetensors files");
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace hearth::tool
