// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "keep.hpp"

#include "save_archive.hpp"

#include <hearth/core/hash.hpp>
#include <hearth/file.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

namespace hearth::ember {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kMagic = 0x72626d65;  // "embr"
constexpr uint32_t kFormat = 2;
constexpr uint32_t kFirstFormat = 1;  ///< without time, deeds and memories
constexpr size_t kMostName = 24, kMostItems = 256, kMostBrainBytes = 1 << 20;
constexpr size_t kHeadBytes = 16;  ///< magic, format, checksum
constexpr uint64_t kMostFileBytes = 8 << 20;
constexpr std::string_view kEnding = ".ember";

using Writer = scenes::SaveWriter;
using Reader = scenes::SaveReader;

// Each type lists its members once, for reading and writing.

template <class Archive>
void visit(Archive& archive, Item& item) {
    archive(item.kind);
    archive(item.place);
    visit(archive, item.position);
    archive(item.grown);
}
template <class Archive>
void visit(Archive& archive, Doing& doing) {
    archive(doing.act);
    archive(doing.is_over);
    archive(doing.seconds);
    visit(archive, doing.target);
    archive(doing.item);
    archive(doing.succeeded);
}
template <class Archive>
void visit(Archive& archive, FeltMoment& moment) {
    for (float& sense : moment.senses) archive(sense);
    archive(moment.felt);
}
template <class Archive>
void visit(Archive& archive, FeltAct& act) {
    for (float& sense : act.senses) archive(sense);
    archive(act.act);
    archive(act.felt);
}
template <class Archive>
void visit(Archive& archive, HeardWord& heard) {
    archive(heard.thing);
    archive(heard.word);
    archive(heard.place);
    archive(heard.daylight);
}
/// A list with its length.
template <class Archive, class Value>
void visit_list(Archive& archive, std::vector<Value>& values, size_t most) {
    auto count = static_cast<uint32_t>(values.size());
    archive(count);
    if constexpr (Archive::kReads) {
        archive.require(count <= most);
        if (archive.is_sound()) values.resize(count);
    }
    for (Value& value : values) visit(archive, value);
}
template <class Archive>
void visit(Archive& archive, WorldState& world) {
    archive(world.dice.seed);
    archive(world.dice.counter);
    archive(world.frame);
    Body& body = world.body;
    visit(archive, body.position);
    for (float* const value : {&body.heading, &body.speed, &body.turning}) archive(*value);
    Needs& needs = world.needs;
    for (float* const value : {&needs.hunger, &needs.cold, &needs.fatigue}) archive(*value);
    visit(archive, world.doing);
    visit_list(archive, world.items, kMostItems);
}

/// A byte string with its length.
template <class Archive, class Bytes>
void visit_bytes(Archive& archive, Bytes& bytes, size_t most) {
    auto count = static_cast<uint32_t>(bytes.size());
    archive(count);
    if constexpr (Archive::kReads) {
        archive.require(count <= most);
        const auto raw = archive.take(count);
        bytes.resize(raw.size());
        std::ranges::copy(raw, std::as_writable_bytes(std::span(bytes)).begin());
    } else {
        archive.append(std::as_bytes(std::span(bytes)));
    }
}

template <class Archive>
void visit(Archive& archive, Deeds& deeds) {
    for (uint32_t* const count :
         {&deeds.walks, &deeds.meals, &deeds.fed, &deeds.warmings, &deeds.comes, &deeds.escapes,
          &deeds.songs, &deeds.spins, &deeds.words, &deeds.nights, &deeds.reached, &deeds.days})
        archive(*count);
    for (uint32_t& count : deeds.said) archive(count);
    archive(deeds.last_day);
}
template <class Archive>
void visit(Archive& archive, Kept& kept, uint32_t format) {
    visit_bytes(archive, kept.name, kMostName);
    archive(kept.seed);
    visit(archive, kept.world);
    for (auto& part : kept.brain) visit_bytes(archive, part, kMostBrainBytes);
    if (format == kFirstFormat) return;
    archive(kept.seconds);
    visit(archive, kept.deeds);
    visit_list(archive, kept.memories.moments, Memories::kMostMoments);
    visit_list(archive, kept.memories.acts, Memories::kMostActs);
    visit_list(archive, kept.memories.words, Memories::kMostWords);
}

/// Checks everything that the learners and the game rely on.
bool is_possible(const Memories& memories) {
    const auto is_senses = [](const Senses& senses) {
        return std::ranges::all_of(senses, [](float sense) { return std::abs(sense) <= 2; });
    };
    const auto is_felt = [](float felt) { return std::abs(felt) <= 1; };
    return std::ranges::all_of(memories.moments,
                               [&](const FeltMoment& moment) {
                                   return is_senses(moment.senses) && is_felt(moment.felt);
                               }) &&
           std::ranges::all_of(memories.acts,
                               [&](const FeltAct& act) {
                                   return is_senses(act.senses) && is_felt(act.felt) &&
                                          static_cast<size_t>(act.act) < kActCount;
                               }) &&
           std::ranges::all_of(memories.words, [](const HeardWord& heard) {
               return static_cast<size_t>(heard.thing) < kThingCount &&
                      static_cast<size_t>(heard.word) < kThingCount &&
                      static_cast<size_t>(heard.place) < kPlaceCount && heard.daylight >= 0 &&
                      heard.daylight <= 1;
           });
}

/// Checks everything that the game indexes or relies on.
bool is_possible(const Kept& kept) {
    const WorldState& world = kept.world;
    const auto is_inside = [](glm::vec2 p) {
        return p.x >= 0 && p.x <= kGarden.x && p.y >= 0 && p.y <= kGarden.y;
    };
    const auto is_fraction = [](float x) { return x >= 0 && x <= 1; };
    const auto is_item = [&](const Item& item) {
        return static_cast<size_t>(item.kind) < kThingCount &&
               static_cast<size_t>(item.place) < kPlaceCount && is_inside(item.position) &&
               item.grown >= 0 && item.grown <= 2;
    };
    return check_name(kept.name).ok() && is_inside(world.body.position) &&
           std::abs(world.body.heading) < 10 && std::abs(world.body.speed) < 10 &&
           std::abs(world.body.turning) < 10 && is_fraction(world.needs.hunger) &&
           is_fraction(world.needs.cold) && is_fraction(world.needs.fatigue) &&
           static_cast<size_t>(world.doing.act) < kActCount &&
           world.doing.item < world.items.size() && is_inside(world.doing.target) &&
           world.doing.seconds >= 0 && std::ranges::all_of(world.items, is_item) &&
           is_possible(kept.memories);
}

uint64_t checksum(std::span<const std::byte> bytes) {
    return Hash().bytes(bytes).value();
}

}  // namespace

Status check_name(const std::string& name) {
    const auto is_allowed = [](unsigned char c) { return std::isalnum(c) || c == ' ' || c == '-'; };
    if (!name.empty() && name.size() <= kMostName && name.front() != ' ' && name.back() != ' ' &&
        std::ranges::all_of(name, is_allowed))
        return {};
    return invalid_argument("a name has 1 to 24 letters, digits, spaces and hyphens");
}

std::vector<std::byte> encode(const Kept& kept) {
    Writer body;
    Kept copy = kept;  // visit() takes a mutable object, for both directions
    visit(body, copy, kFormat);
    const std::vector<std::byte> bytes = body.take();
    Writer file;
    uint32_t magic = kMagic, format = kFormat;
    uint64_t sum = checksum(bytes);
    file(magic);
    file(format);
    file(sum);
    file.append(bytes);
    return file.take();
}

Result<Kept> decode_kept(std::span<const std::byte> bytes) {
    Reader head(bytes);
    uint32_t magic = 0, format = 0;
    uint64_t sum = 0;
    head(magic);
    head(format);
    head(sum);
    if (!head.is_sound() || magic != kMagic)
        return corrupt_data("not a creature: it begins with other bytes than 'embr'");
    if (format < kFirstFormat || format > kFormat)
        return unsupported("the creature has format " + std::to_string(format) + ", expected " +
                           std::to_string(kFirstFormat) + " to " + std::to_string(kFormat) +
                           ": a later version of the game kept it");
    const auto body = bytes.subspan(kHeadBytes);
    if (checksum(body) != sum)
        return corrupt_data("the creature's file is damaged: its checksum does not match");
    Reader reader(body);
    Kept kept;
    visit(reader, kept, format);
    if (!reader.is_sound() || !reader.is_at_end() || !is_possible(kept))
        return corrupt_data("the creature's file holds values that the game never writes");
    return kept;
}

// --- A folder ------------------------------------------------------------------------------------

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
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  read_whole_file(path_of(name), kMostFileBytes));
    return decode_kept(bytes);
}

Result<Kept> Nest::load_version(const std::string& name, int64_t day) const {
    HEARTH_TRY(check_name(name));
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  read_whole_file(path_of(name, day), kMostFileBytes));
    return decode_kept(bytes);
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
