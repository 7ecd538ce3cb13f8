// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/agents/manifest.hpp>
#include <hearth/agents/schema.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace hearth::agents {
namespace {

Fields senses() {
    return Fields()
        .numbers("speed", 1, {0, 30})
        .numbers("rays", 3)
        .one_hot("weapon", 4)
        .rotation("turret")
        .set("enemies", 2, Fields().location("place", 2, 50).flag("armed"))
        .array("wheels", 2, Fields().angle("steer"));
}

Actions deeds() {
    return Actions().choose("move", 4, true).choose("shoot", 2).drive("aim", 2, {-3, 3});
}

TEST(AgentSchema, CountsTheFloatsOfObservationsActionsAndMasks) {
    const AgentSchema schema(senses(), deeds(), 3);
    ASSERT_TRUE(schema.status().ok()) << schema.status().message();
    EXPECT_EQ(schema.frame_width(), 1 + 3 + 1 + 4 + (1 + 2 * 3) + 2);
    EXPECT_EQ(schema.observation_width(), 3 * schema.frame_width());
    EXPECT_EQ(schema.action_width(), 4);
    EXPECT_EQ(schema.mask_width(), 4);
    EXPECT_TRUE(schema.has_choices());
    EXPECT_TRUE(schema.has_numbers());
}

TEST(AgentSchema, NamesEachFloat) {
    const AgentSchema schema(senses(), deeds(), 2);
    EXPECT_EQ(schema.name_of_observation(0), "speed");
    EXPECT_EQ(schema.name_of_observation(2), "rays[1]");
    EXPECT_EQ(schema.name_of_observation(6), "turret.y");
    EXPECT_EQ(schema.name_of_observation(9), "enemies (how many)");
    EXPECT_EQ(schema.name_of_observation(13), "enemies[1]/place.x");
    EXPECT_EQ(schema.name_of_observation(17), "wheels[1]/steer");
    EXPECT_EQ(schema.name_of_observation(18), "speed (1 back)");
    EXPECT_EQ(schema.name_of_action(0), "move");
    EXPECT_EQ(schema.name_of_action(3), "aim[1]");
}

TEST(AgentSchema, FindsFieldsByPath) {
    const AgentSchema schema(senses(), deeds());
    const auto rays = schema.find("rays"), place = schema.find("enemies/place");
    ASSERT_TRUE(rays.ok() && place.ok());
    EXPECT_EQ(rays->begin, 1);
    EXPECT_EQ(rays->width, 3);
    EXPECT_EQ(place->begin, 10);
    EXPECT_EQ(place->width, 2);
    const auto missing = schema.find("ray");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
    EXPECT_NE(missing.status().message().find("'rays'"), std::string::npos);
    EXPECT_FALSE(schema.find("rays/x").ok());
}

TEST(AgentSchema, SavesAndLoads) {
    const AgentSchema schema(senses(), deeds(), 3);
    const auto loaded = AgentSchema::load(schema.save());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->difference(schema), "");
    EXPECT_EQ(loaded->hash(), schema.hash());
    EXPECT_EQ(loaded->save(), schema.save());
}

// It goes into files: another value would refuse every brain there is.
TEST(AgentSchema, HashesToTheSameNumberForEver) {
    EXPECT_EQ(AgentSchema(senses(), deeds(), 3).hash(), 15603413176545507449u);
}

TEST(AgentSchema, EachTruncationAndChangedByteIsRejectedOrASoundSchema) {
    const AgentSchema schema(senses(), deeds(), 3);
    const std::vector<std::byte> bytes = schema.save();
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(AgentSchema::load(std::span(bytes).first(size)).ok()) << size;
    for (size_t i = 0; i < bytes.size(); ++i) {
        std::vector<std::byte> changed = bytes;
        changed[i] ^= std::byte{0xff};
        const auto loaded = AgentSchema::load(changed);
        if (!loaded.ok()) continue;
        const auto again = AgentSchema::load(loaded->save());
        ASSERT_TRUE(again.ok()) << i << ": " << again.status().message();
        EXPECT_EQ(again->hash(), loaded->hash()) << i;
    }
    std::vector<std::byte> longer = bytes;
    longer.push_back({});
    EXPECT_FALSE(AgentSchema::load(longer).ok());
}

struct Change {
    const char* name;
    AgentSchema there;
    const char* expected;
};

TEST(AgentSchema, AMismatchNamesTheField) {
    const AgentSchema here(senses(), deeds());
    const auto with = [](Fields fields) { return AgentSchema(std::move(fields), deeds()); };
    const Fields pair = Fields().numbers("a").numbers("b");
    const Change changes[] = {
        {"width", with(Fields().numbers("speed", 1, {0, 30}).numbers("rays", 9)),
         "observations/rays: width 3 here, 9 there"},
        {"range", with(Fields().numbers("speed", 1, {0, 40})),
         "observations/speed: range [0, 30] here, [0, 40] there"},
        {"kind", with(Fields().angle("speed")), "observations/speed: numbers here, angle there"},
        {"missing", with(Fields().numbers("speed", 1, {0, 30})), "observations/rays: only here"},
        {"stack", AgentSchema(senses(), deeds(), 2), "observations: stack 1 here, 2 there"},
        {"choices", AgentSchema(senses(), Actions().choose("move", 5, true)),
         "actions/move: choices 4 here, 5 there"},
        {"masked", AgentSchema(senses(), Actions().choose("move", 4)),
         "actions/move: masked here, not masked there"},
        {"nested",
         with(Fields()
                  .numbers("speed", 1, {0, 30})
                  .numbers("rays", 3)
                  .one_hot("weapon", 4)
                  .rotation("turret")
                  .set("enemies", 2, Fields().location("place", 3, 50).flag("armed"))),
         "observations/enemies/place: axes 2 here, 3 there"},
    };
    for (const Change& change : changes) {
        EXPECT_EQ(here.difference(change.there), change.expected) << change.name;
        EXPECT_NE(here.hash(), change.there.hash()) << change.name;
    }
    const AgentSchema swapped(Fields().numbers("b").numbers("a"), deeds());
    EXPECT_EQ(with(pair).difference(swapped), "observations: at place 0 'a' here, 'b' there");
}

TEST(AgentSchema, TellsWhatIsWrongWithLists) {
    const auto message = [](Fields fields, Actions actions = deeds(), int64_t stack = 1) {
        return AgentSchema(std::move(fields), std::move(actions), stack).status().message();
    };
    EXPECT_EQ(message(senses()), "");
    EXPECT_NE(message(Fields()).find("observes nothing"), std::string::npos);
    EXPECT_NE(message(senses(), Actions()).find("decides nothing"), std::string::npos);
    EXPECT_NE(message(Fields().numbers("a").flag("a")).find("'a' is there twice"),
              std::string::npos);
    EXPECT_NE(message(Fields().numbers("a/b")).find("no name"), std::string::npos);
    EXPECT_NE(message(Fields().numbers("a", 0)).find("size of 0"), std::string::npos);
    EXPECT_NE(message(Fields().numbers("a", 1, {2, 2})).find("range of 'a'"), std::string::npos);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_NE(message(Fields().numbers("a", 1, {0, infinity})).find("range"), std::string::npos);
    EXPECT_NE(message(Fields().array("a", 3, Fields())).find("no fields"), std::string::npos);
    EXPECT_NE(message(Fields().array("a", 3, Fields().set("b", 2, Fields().flag("c"))))
                  .find("holds a set"),
              std::string::npos);
    EXPECT_NE(message(Fields().array("a", 3, Fields().numbers("x", -1))).find("in 'a'"),
              std::string::npos);
    EXPECT_NE(message(Fields().array("a", 60000, Fields().numbers("x", 60000))).find("size"),
              std::string::npos);
    EXPECT_NE(message(senses(), deeds(), 0).find("0 observations"), std::string::npos);
    EXPECT_NE(message(senses(), Actions().choose("one", 1)).find("size of 1"), std::string::npos);
}

TEST(AgentManifest, SavesAndLoadsAndRejectsWhatIsNone) {
    AgentManifest manifest;
    manifest.schema = AgentSchema(senses(), deeds(), 2);
    manifest.kind = LearnerKind::kSac;
    manifest.agents = 64;
    manifest.ring = 5000;
    manifest.settings = {{"learning_rate", 1e-3}, {"clip", 0.2}};
    manifest.names.frame = "foxes";
    manifest.names.status = "foxes.status";
    const std::vector<std::byte> bytes = manifest.save();
    const auto loaded = AgentManifest::load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->schema.difference(manifest.schema), "");
    EXPECT_EQ(loaded->kind, manifest.kind);
    EXPECT_EQ(loaded->agents, 64u);
    EXPECT_EQ(loaded->settings, manifest.settings);
    EXPECT_EQ(loaded->ring, 5000u);
    EXPECT_EQ(loaded->names, manifest.names);
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(AgentManifest::load(std::span(bytes).first(size)).ok()) << size;
    for (size_t i = 0; i < bytes.size(); ++i) {
        std::vector<std::byte> changed = bytes;
        changed[i] ^= std::byte{0xff};
        if (const auto other = AgentManifest::load(changed); other.ok()) {
            EXPECT_TRUE(other->schema.status().ok()) << i;
        }
    }
}

TEST(AgentManifest, ReadsEarlierVersions) {
    AgentManifest manifest;
    manifest.schema = AgentSchema(senses(), deeds());
    std::vector<std::byte> bytes = manifest.save();
    // What version 3 appends, then what version 2 does: the ring's size and eight names.
    bytes.resize(bytes.size() - sizeof(uint32_t) - std::strlen("demonstrate"));
    bytes[4] = std::byte{2};
    const auto second = AgentManifest::load(bytes);
    ASSERT_TRUE(second.ok()) << second.status().message();
    EXPECT_EQ(second->names, AgentNames());
    size_t names = sizeof(uint32_t);
    for (const char* name :
         {"frame", "store", "prepare", "learn", "publish", "adapt", "last.action", "agents.status"})
        names += sizeof(uint32_t) + std::strlen(name);
    bytes.resize(bytes.size() - names);
    bytes[4] = std::byte{1};
    const auto loaded = AgentManifest::load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->names, AgentNames());
    EXPECT_EQ(loaded->ring, 0u);
    bytes[4] = std::byte{4};
    EXPECT_NE(AgentManifest::load(bytes).status().message().find("version 4"), std::string::npos);
}

}  // namespace
}  // namespace hearth::agents
