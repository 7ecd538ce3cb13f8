// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeping creatures of Ember: files that survive kills and full disks, a week of versions, cards.

#include "card_file.hpp"

#include <hearth/core/hash.hpp>
#include <hearth/file.hpp>

#include <gtest/gtest.h>
#include <pictures/png.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace hearth::ember {
namespace {

namespace fs = std::filesystem;

/// A creature whose brain is as large as a real one.
Kept example(uint64_t frame = 77) {
    Kept kept{.name = "Ash", .seed = 5, .world = World(5).state(), .brain = {}};
    kept.world.frame = frame;
    constexpr std::array<size_t, kPartCount> kBytes = {12'726, 16'178, 8'054, 46'935};
    for (size_t i = 0; i < kPartCount; ++i)
        kept.brain[i].assign(kBytes[i], static_cast<std::byte>(frame & 255));
    kept.seconds = 1'700'000'000;
    kept.deeds.meals = 3;
    kept.memories.moments.resize(7);
    kept.memories.acts.resize(5);
    kept.memories.words.resize(2);
    return kept;
}

std::vector<std::byte> picture() {
    const std::vector<uint8_t> pixels(16 * 16 * 4, 200);
    auto png = pictures::encode_png(16, 16, pixels, false);
    EXPECT_TRUE(png.ok()) << png.status().message();
    return png.ok() ? *png : std::vector<std::byte>();
}

class EmberKeep : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string folder = (fs::temp_directory_path() / "ember_XXXXXX").string();
        ASSERT_NE(mkdtemp(folder.data()), nullptr);
        folder_ = folder;
    }
    void TearDown() override { fs::remove_all(folder_); }

    Nest nest() const {
        auto nest = Nest::open((folder_ / "creatures").string());
        EXPECT_TRUE(nest.ok()) << nest.status().message();
        return std::move(nest).value();
    }

    fs::path folder_;
};

TEST_F(EmberKeep, WhatIsKeptIsReadBack) {
    const Nest nest = this->nest();
    ASSERT_TRUE(nest.save(example(), 1).ok());
    const auto kept = nest.load("Ash");
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(encode(*kept), encode(example()));
    EXPECT_EQ(nest.names(), std::vector<std::string>{"Ash"});
}

TEST_F(EmberKeep, EachTruncationAndEachChangedByteIsRefused) {
    const std::vector<std::byte> whole = encode(example());
    for (size_t size = 0; size < whole.size(); size += size < 2'000 ? 1 : 997)
        EXPECT_FALSE(decode_kept(std::span(whole).first(size)).ok()) << size;
    std::vector<std::byte> changed = whole;
    for (size_t at = 0; at < whole.size(); at += at < 2'000 ? 1 : 997) {
        changed[at] ^= std::byte{0x10};
        EXPECT_FALSE(decode_kept(changed).ok()) << at;
        changed[at] = whole[at];
    }
    EXPECT_TRUE(decode_kept(changed).ok());
}

TEST_F(EmberKeep, ValuesThatTheGameNeverWritesAreRefused) {
    const auto refused = [](auto change) {
        Kept kept = example();
        change(kept);
        return !decode_kept(encode(kept)).ok();
    };
    EXPECT_TRUE(refused([](Kept& kept) { kept.world.body.position.x = 1e9f; }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.world.needs.cold = NAN; }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.world.doing.item = 10'000; }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.world.items[0].kind = static_cast<Thing>(9); }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.world.items.clear(); }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.name = "../../.profile"; }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.moments[6].senses[3] = 1e30f; }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.moments[0].felt = INFINITY; }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.acts[4].act = static_cast<Act>(11); }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.words[1].word = static_cast<Thing>(5); }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.words[1].daylight = -1; }));
    EXPECT_TRUE(
        refused([](Kept& kept) { kept.memories.moments.resize(Memories::kMostMoments + 1); }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.acts.resize(Memories::kMostActs + 1); }));
    EXPECT_TRUE(refused([](Kept& kept) { kept.memories.words.resize(Memories::kMostWords + 1); }));
    EXPECT_FALSE(refused([](Kept&) {}));
}

/// The file as format 1 had it: it ended behind the brain.
std::vector<std::byte> in_first_format(Kept kept) {
    constexpr size_t kHead = 16;
    kept.memories = {};
    std::vector<std::byte> file = encode(kept);
    constexpr size_t kAdded = 8 + (12 + 5) * 4 + 8 + 3 * 4;  // time, deeds, three empty lists
    file.resize(file.size() - kAdded);
    const uint32_t format = 1;
    const uint64_t sum = Hash().bytes(std::span(file).subspan(kHead)).value();
    std::memcpy(file.data() + 4, &format, sizeof format);
    std::memcpy(file.data() + 8, &sum, sizeof sum);
    return file;
}

TEST_F(EmberKeep, CreaturesOfTheFirstFormatAreRead) {
    const auto kept = decode_kept(in_first_format(example()));
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(kept->world.frame, 77u);
    EXPECT_EQ(kept->brain, example().brain);
    EXPECT_EQ(kept->seconds, 0);
    EXPECT_TRUE(kept->memories.is_empty());
}

TEST_F(EmberKeep, AFileStaysBelowItsBound) {
    Kept kept = example();
    kept.memories.moments.resize(Memories::kMostMoments);
    kept.memories.acts.resize(Memories::kMostActs);
    kept.memories.words.resize(Memories::kMostWords);
    EXPECT_LT(encode(kept).size(), 105'000u);  // 84 kB of brain, 16 of memories
}

TEST_F(EmberKeep, CreaturesAreListedNamedAndLetGo) {
    const Nest nest = this->nest();
    Kept kept = example(120);
    EXPECT_EQ(nest.free_name("Ash"), "Ash");
    ASSERT_TRUE(nest.save(kept, 1).ok());
    ASSERT_TRUE(nest.save(kept, 2).ok());
    EXPECT_EQ(nest.free_name("Ash"), "Ash 2");
    kept.name = "Ash 2";
    ASSERT_TRUE(nest.save(kept, 2).ok());
    EXPECT_EQ(nest.free_name("Ash"), "Ash 3");
    ASSERT_TRUE(write_file_atomically(nest.path_of("Bo"), std::string_view("embrace")).ok());

    const std::vector<Resident> all = nest.residents();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].name, "Ash");
    EXPECT_NEAR(all[0].seconds, 2, 1e-6);
    EXPECT_EQ(all[0].deeds.meals, 3u);
    EXPECT_TRUE(all[0].trouble.empty());
    EXPECT_FALSE(all[2].trouble.empty());

    ASSERT_EQ(nest.versions("Ash").size(), 1u);
    ASSERT_TRUE(nest.release("Ash").ok());
    EXPECT_EQ(nest.names(), (std::vector<std::string>{"Ash 2", "Bo"}));
    EXPECT_TRUE(nest.versions("Ash").empty());
    EXPECT_EQ(nest.release("Ash").code(), StatusCode::kNotFound);
    EXPECT_FALSE(nest.release("../Ash").ok());
}

TEST_F(EmberKeep, TheLongestNameGetsANumberToo) {
    const Nest nest = this->nest();
    Kept kept = example();
    kept.name = "Abcdefghijklmnopqrstu wx";
    ASSERT_TRUE(nest.save(kept, 1).ok());
    EXPECT_EQ(nest.free_name(kept.name), "Abcdefghijklmnopqrstu 2");
}

TEST_F(EmberKeep, ADamagedFileGivesWayToItsNewestVersion) {
    const Nest nest = this->nest();
    for (int64_t day = 1; day <= 3; ++day)
        ASSERT_TRUE(nest.save(example(static_cast<uint64_t>(day)), day).ok());
    const auto write = [&](std::vector<std::byte> bytes) {
        return write_file_atomically(nest.path_of("Ash"), std::span<const std::byte>(bytes)).ok();
    };
    std::vector<std::byte> bytes = encode(example(3));
    bytes[bytes.size() / 2] ^= std::byte{1};
    ASSERT_TRUE(write(bytes));
    const auto kept = nest.load("Ash");
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(kept->world.frame, 2u) << "as the third day began";
    // A later version of the game has kept it: an earlier one must not replace that.
    bytes = encode(example(3));
    bytes[4] = std::byte{99};
    ASSERT_TRUE(write(bytes));
    EXPECT_EQ(nest.load("Ash").status().code(), StatusCode::kUnsupported);
}

TEST_F(EmberKeep, ACardIsAdoptedUnderAFreeName) {
    const Nest nest = this->nest();
    const std::string path = (folder_ / "card.png").string();
    ASSERT_TRUE(write_card(path, picture(), example()).ok());
    ASSERT_TRUE(nest.save(example(3), 1).ok());
    const auto name = adopt_card(nest, path, 1);
    ASSERT_TRUE(name.ok()) << name.status().message();
    EXPECT_EQ(*name, "Ash 2");
    const auto kept = nest.load("Ash 2");
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(kept->brain, example().brain);
    EXPECT_EQ(nest.load("Ash")->world.frame, 3u);
}

TEST_F(EmberKeep, NamesCannotLeaveTheFolder) {
    for (const char* name : {"", "..", "a/b", "a.b", " a", "a ", "0123456789012345678901234"})
        EXPECT_FALSE(check_name(name).ok()) << name;
    Kept kept = example();
    kept.name = "../Ash";
    EXPECT_FALSE(nest().save(kept, 1).ok());
    EXPECT_FALSE(nest().load("../Ash").ok());
}

TEST_F(EmberKeep, AWeekOfVersionsIsKept) {
    const Nest nest = this->nest();
    for (int64_t day = 1; day <= 30; ++day)
        for (uint64_t save = 0; save < 3; ++save)
            ASSERT_TRUE(nest.save(example(static_cast<uint64_t>(day) * 100 + save), day).ok());
    const std::vector<int64_t> days = nest.versions("Ash");
    ASSERT_EQ(days.size(), static_cast<size_t>(Nest::kVersionDays));
    EXPECT_EQ(days.front(), 24);
    // A day's version is what the creature was when the day began.
    const auto before = nest.load_version("Ash", 30);
    ASSERT_TRUE(before.ok()) << before.status().message();
    EXPECT_EQ(before->world.frame, 2902u);
    EXPECT_EQ(nest.names(), std::vector<std::string>{"Ash"});
}

/// Runs `body` in a process of its own.
template <class Body>
pid_t fork_and(Body body) {
    const pid_t child = fork();
    if (child != 0) return child;
    body();
    _exit(0);
}

TEST_F(EmberKeep, KillsLoseNothingThatWasSaved) {
    const Nest nest = this->nest();
    uint32_t delay = 12'345;
    for (int kill_index = 0; kill_index < 200; ++kill_index) {
        int saved[2];
        ASSERT_EQ(pipe(saved), 0);
        const pid_t child = fork_and([&] {
            close(saved[0]);
            for (uint64_t frame = 1;; ++frame) {
                if (!nest.save(example(frame), 1).ok()) _exit(1);
                if (write(saved[1], &frame, sizeof frame) != sizeof frame) _exit(2);
            }
        });
        close(saved[1]);
        delay = delay * 1'664'525 + 1'013'904'223;
        usleep(500 + delay % 9'500);
        kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
        uint64_t frame = 0, newest = 0;
        while (read(saved[0], &frame, sizeof frame) == sizeof frame) newest = frame;
        close(saved[0]);
        if (newest == 0) continue;  // killed before its first save
        const auto kept = nest.load("Ash");
        ASSERT_TRUE(kept.ok()) << kept.status().message();
        EXPECT_TRUE(kept->world.frame == newest || kept->world.frame == newest + 1)
            << kept->world.frame << " after " << newest;
    }
    ASSERT_TRUE(nest.save(example(), 1).ok());
    EXPECT_LE(std::distance(fs::directory_iterator(folder_ / "creatures"), {}), 2)
        << "temporary files were left";
}

TEST_F(EmberKeep, AFullDiskLeavesTheOldFile) {
    const Nest nest = this->nest();
    ASSERT_TRUE(nest.save(example(1), 1).ok());
    ASSERT_TRUE(nest.save(example(2), 1).ok());
    const pid_t child = fork_and([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit little{10'000, 10'000};
        setrlimit(RLIMIT_FSIZE, &little);
        _exit(nest.save(example(3), 1).ok() ? 1 : 0);
    });
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the save seemed to succeed";
    const auto kept = nest.load("Ash");
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(kept->world.frame, 2u);
}

TEST(EmberCardFile, ACreatureTravelsInAPicture) {
    const auto card = with_creature(picture(), example());
    ASSERT_TRUE(card.ok()) << card.status().message();
    const auto kept = creature_in(*card);
    ASSERT_TRUE(kept.ok()) << kept.status().message();
    EXPECT_EQ(encode(*kept), encode(example()));
}

TEST(EmberCardFile, APictureWithoutACreatureIsNamedSo) {
    const auto kept = creature_in(picture());
    ASSERT_FALSE(kept.ok());
    EXPECT_EQ(kept.status().code(), StatusCode::kNotFound);
}

TEST(EmberCardFile, HostileCardsAreRefused) {
    const auto made = with_creature(picture(), example());
    ASSERT_TRUE(made.ok());
    const std::vector<std::byte>& card = *made;
    constexpr size_t kEnd = 12;  // IEND, behind the creature
    for (size_t size = 0; size + kEnd < card.size(); size += size < 500 ? 1 : 499)
        EXPECT_FALSE(creature_in(std::span(card).first(size)).ok()) << size;
    // A flipped bit before the creature's end, anywhere.
    std::vector<std::byte> changed = card;
    for (size_t at = 0; at + kEnd < card.size(); at += at < 500 ? 1 : 499) {
        changed[at] ^= std::byte{0x80};
        EXPECT_FALSE(creature_in(changed).ok()) << at;
        changed[at] = card[at];
    }
    // A chunk that claims to be longer than the file, and one that would wrap around.
    for (const std::byte first : {std::byte{0x10}, std::byte{0xff}}) {
        changed = card;
        changed[8] = first;
        EXPECT_FALSE(creature_in(changed).ok());
    }
}

}  // namespace
}  // namespace hearth::ember
