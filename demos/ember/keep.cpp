// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "keep.hpp"

#include <hearth/file.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace hearth::ember {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostFileBytes = 8 << 20;
constexpr std::string_view kEnding = ".ember";

Result<Kept> read(const std::string& path) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes, read_whole_file(path, kMostFileBytes));
    return decode_kept(bytes);
}

}  // namespace

Result<Nest> Nest::open(std::string folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return invalid_argument("cannot make the folder '" + folder + "': " + error.message());
    return Nest(std::move(folder));
}

std::string Nest::path_of(const std::string& name) const {
    return folder_ + "/" + name + std::string(kEnding);
}

std::string Nest::path_of(const std::string& name, int64_t day) const {
    return folder_ + "/" + name + ".day" + std::to_string(day) + std::string(kEnding);
}

Status Nest::keep_version(const std::string& name, int64_t day) const {
    for (const int64_t old : versions(name)) {
        std::error_code ignored;
        if (old <= day - kVersionDays) fs::remove(path_of(name, old), ignored);
    }
    std::error_code error;
    if (!fs::exists(path_of(name), error) || fs::exists(path_of(name, day), error)) return {};
    HEARTH_ASSIGN(const std::vector<std::byte> before,
                  read_whole_file(path_of(name), kMostFileBytes));
    return write_file_atomically(path_of(name, day), std::span<const std::byte>(before));
}

Status Nest::save(const Kept& kept, int64_t day) const {
    return save(kept.name, encode(kept), day);
}

Status Nest::save(const std::string& name, std::span<const std::byte> bytes, int64_t day) const {
    HEARTH_TRY(check_name(name));
    // A version that cannot be kept must not keep the present from being saved.
    const Status version = keep_version(name, day);
    HEARTH_TRY(write_file_atomically(path_of(name), bytes));
    return version;
}

Result<Kept> Nest::load(const std::string& name) const {
    HEARTH_TRY(check_name(name));
    Result<Kept> kept = read(path_of(name));
    // Not for a file of a later version of the game, which the next save would replace.
    if (kept.ok() || kept.status().code() != StatusCode::kCorruptData) return kept;
    const std::vector<int64_t> days = versions(name);
    for (size_t i = days.size(); i-- > 0;)
        if (Result<Kept> earlier = read(path_of(name, days[i])); earlier.ok()) return earlier;
    return kept;
}

Result<Kept> Nest::load_version(const std::string& name, int64_t day) const {
    HEARTH_TRY(check_name(name));
    return read(path_of(name, day));
}

std::vector<std::string> Nest::names() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        const std::string file = entry.path().filename().string();
        if (!file.ends_with(kEnding)) continue;
        std::string name = file.substr(0, file.size() - kEnding.size());
        if (check_name(name).ok()) names.push_back(std::move(name));
    }
    std::ranges::sort(names);
    return names;
}

std::vector<Resident> Nest::residents() const {
    std::vector<Resident> residents;
    for (const std::string& name : names()) {
        Resident& resident = residents.emplace_back();
        resident.name = name;
        const Result<Kept> kept = load(name);
        if (!kept.ok()) {
            resident.trouble = kept.status().message();
            continue;
        }
        resident.seconds = static_cast<double>(kept->world.frame) * double{kFrameSeconds};
        resident.kept_at = kept->seconds;
        resident.deeds = kept->deeds;
    }
    return residents;
}

std::string Nest::free_name(const std::string& wish) const {
    const std::vector<std::string> taken = names();
    const auto is_taken = [&](const std::string& name) {
        return std::ranges::find(taken, name) != taken.end();
    };
    std::string name = wish;
    for (int number = 2; is_taken(name); ++number) {
        const std::string end = " " + std::to_string(number);
        name = wish.substr(0, kMostName - end.size());
        name.erase(name.find_last_not_of(' ') + 1);
        name += end;
    }
    return name;
}

Status Nest::release(const std::string& name) const {
    HEARTH_TRY(check_name(name));
    std::error_code error;
    // The versions first: what fails leaves the creature.
    for (const int64_t day : versions(name)) {
        fs::remove(path_of(name, day), error);
        if (error) return internal_error(path_of(name, day) + ": " + error.message());
    }
    if (!fs::remove(path_of(name), error) && !error)
        return not_found("there is no creature '" + name + "' in " + folder_);
    if (error) return internal_error(path_of(name) + ": " + error.message());
    return {};
}

std::vector<int64_t> Nest::versions(const std::string& name) const {
    std::vector<int64_t> days;
    const std::string begins = name + ".day";
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        const std::string file = entry.path().filename().string();
        if (!file.starts_with(begins) || !file.ends_with(kEnding)) continue;
        const char* const first = file.data() + begins.size();
        const char* const last = file.data() + file.size() - kEnding.size();
        int64_t day = 0;
        const auto [end, failed] = std::from_chars(first, last, day);
        if (failed == std::errc() && end == last) days.push_back(day);
    }
    std::ranges::sort(days);
    return days;
}

}  // namespace hearth::ember
