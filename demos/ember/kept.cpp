// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "kept.hpp"

#include "save_archive.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hearth::ember {
namespace {

constexpr uint32_t kMagic = 0x72626d65;  // "embr"
constexpr uint32_t kFormat = 2;
constexpr uint32_t kFirstFormat = 1;  ///< without time, deeds and memories
constexpr size_t kMostItems = 256, kMostBrainBytes = 1 << 20;
constexpr size_t kHeadBytes = 16;  ///< magic, format, checksum

template <class Range, class Holds>
bool all_of(const Range& range, Holds holds) {
    return std::all_of(range.begin(), range.end(), holds);
}

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
        if (!raw.empty()) std::memcpy(bytes.data(), raw.data(), raw.size());
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
        return all_of(senses, [](float sense) { return std::abs(sense) <= 2; });
    };
    const auto is_felt = [](float felt) { return std::abs(felt) <= 1; };
    return all_of(memories.moments,
                  [&](const FeltMoment& moment) {
                      return is_senses(moment.senses) && is_felt(moment.felt);
                  }) &&
           all_of(memories.acts,
                  [&](const FeltAct& act) {
                      return is_senses(act.senses) && is_felt(act.felt) &&
                             static_cast<size_t>(act.act) < kActCount;
                  }) &&
           all_of(memories.words, [](const HeardWord& heard) {
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
           world.doing.seconds >= 0 && all_of(world.items, is_item) && is_possible(kept.memories);
}

/// The Hash of hearth/core/hash.hpp, which the library of C++ for WebAssembly cannot compile.
uint64_t checksum(std::span<const std::byte> bytes) {
    uint64_t h = 0xcbf29ce484222325u;
    for (const std::byte byte : bytes) h = (h ^ static_cast<uint64_t>(byte)) * 0x100000001b3u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

}  // namespace

Status check_name(const std::string& name) {
    const auto is_allowed = [](unsigned char c) { return std::isalnum(c) || c == ' ' || c == '-'; };
    if (!name.empty() && name.size() <= kMostName && name.front() != ' ' && name.back() != ' ' &&
        all_of(name, is_allowed))
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

}  // namespace hearth::ember
