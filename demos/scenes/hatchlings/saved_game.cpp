// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serializes a saved game: the world, the progress and the judgements.

#include "hatchlings/saved_game.hpp"

#include "save_archive.hpp"

#include <algorithm>

namespace hearth::hatchlings {
namespace {

constexpr uint64_t kMagic = 0x6c746368'74616820u;  // " hatchtl"
constexpr uint64_t kFormat = 3;                    // 3: random numbers by frame
constexpr uint64_t kFileMagic =
    0x65766173'74616820u;  // " hatsave": the game's bytes, counted, then the brain's
constexpr size_t kMostHatchlings = 1024, kMostBars = 1 << 16, kMostText = 64;

using Writer = scenes::SaveWriter;
using Reader = scenes::SaveReader;

// Each type lists its members once, for reading and writing.

template <class Archive>
void visit(Archive& archive, Hatchling& h) {
    visit(archive, h.position);
    visit(archive, h.velocity);
    visit(archive, h.thrust);
    for (float* const value : {&h.chilled_s, &h.immune_s, &h.reward, &h.glow}) archive(*value);
    archive(h.embers);
    archive(h.motes);
}
template <class Archive>
void visit(Archive& archive, Drifter& d) {
    visit(archive, d.position);
    visit(archive, d.velocity);
    archive(d.age_s);
}
template <class Archive>
void visit(Archive& archive, Rules& rules) {
    archive(rules.ember_reward);
    archive(rules.frost_reward);
    archive(rules.ember_count);
    archive(rules.mote_count);
    visit(archive, rules.wind);
    archive(rules.is_hot_night);
}
template <class Archive>
void visit(Archive& archive, Progress::Bar& bar) {
    for (float* const value : {&bar.embers, &bar.motes, &bar.score}) archive(*value);
    archive(bar.is_hot_night);
}
template <class Archive>
void visit(Archive& archive, char& letter) {
    archive(letter);
}
template <class Archive>
void visit(Archive& archive, Judged& judged) {
    for (uint64_t& frame : judged.frames) archive(frame);
    archive(judged.count);
}
template <class Archive>
void visit(Archive& archive, Progress::Mark& mark);
template <class Archive, class List>
void visit_all(Archive& archive, List& list, size_t most) {
    auto count = static_cast<uint32_t>(list.size());
    archive(count);
    if constexpr (Archive::kReads) {
        if (count > most || !archive.is_sound()) return archive.require(false);
        list.resize(count);
    }
    for (auto& each : list) visit(archive, each);
}
template <class Archive>
void visit(Archive& archive, Progress::Mark& mark) {
    archive(mark.frame);
    visit_all(archive, mark.text, kMostText);
}
template <class Archive>
void visit(Archive& archive, SavedGame& game) {
    WorldState& world = game.world;
    archive(world.seed);
    visit(archive, world.rules);
    visit_all(archive, world.hatchlings, kMostHatchlings);
    visit_all(archive, world.embers, kMaxEmbers);
    visit_all(archive, world.motes, kMaxMotes);
    archive(world.frame);
    archive(world.score);
    archive(world.state_hash);
    visit_all(archive, game.progress.bars, kMostBars);
    visit_all(archive, game.progress.marks, kMostBars);
    archive(game.progress.embers);
    archive(game.progress.motes);
    visit_all(archive, game.judged, kMostHatchlings);
}

}  // namespace

std::vector<std::byte> encode(const SavedGame& game) {
    Writer writer;
    writer(kMagic);
    writer(kFormat);
    SavedGame copy = game;  // visit() takes a mutable object, for both directions
    visit(writer, copy);
    return writer.take();
}

Result<SavedGame> decode_saved_game(std::span<const std::byte> bytes) {
    Reader reader(bytes);
    uint64_t magic = 0, format = 0;
    reader(magic);
    reader(format);
    if (!reader.is_sound() || magic != kMagic)
        return corrupt_data("no game of Hatchlings goes with this brain");
    if (format != kFormat)
        return unsupported("the saved game has format " + std::to_string(format) + ", expected " +
                           std::to_string(kFormat));
    SavedGame game;
    visit(reader, game);
    if (!reader.is_sound() || !reader.is_at_end() || game.world.hatchlings.empty() ||
        game.judged.size() != game.world.hatchlings.size())
        return corrupt_data("the saved game is damaged");
    return game;
}

std::vector<std::byte> file_of(const SavedGame& game, std::span<const std::byte> brain) {
    const std::vector<std::byte> described = encode(game);
    Writer writer;
    writer(kFileMagic);
    writer(uint64_t{described.size()});
    const std::vector<std::byte> head = writer.take();
    std::vector<std::byte> file(head.size() + described.size() + brain.size());
    auto at = std::ranges::copy(head, file.begin()).out;
    at = std::ranges::copy(described, at).out;
    std::ranges::copy(brain, at);
    return file;
}

Result<LoadedFile> read_file(std::span<const std::byte> bytes) {
    Reader reader(bytes);
    uint64_t magic = 0, described = 0;
    reader(magic);
    if (!reader.is_sound() || magic != kFileMagic)
        return LoadedFile{{}, std::vector<std::byte>(bytes.begin(), bytes.end())};
    reader(described);
    if (!reader.is_sound() || described > reader.left().size())
        return corrupt_data("the saved game is cut off: it is " + std::to_string(bytes.size()) +
                            " bytes long");
    HEARTH_ASSIGN(SavedGame game,
                  decode_saved_game(reader.left().first(static_cast<size_t>(described))));
    const auto brain = reader.left().subspan(static_cast<size_t>(described));
    return LoadedFile{std::move(game), std::vector<std::byte>(brain.begin(), brain.end())};
}

}  // namespace hearth::hatchlings
