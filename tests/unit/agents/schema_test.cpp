// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/agents/manifest.hpp>
#include <hearth/agents/schema.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace hearth::agents {
namespace {

ObservationSpec senses() {
    return ObservationSpec()
        .box("speed", 1, {0, 30})
        .box("rays", 3)
        .discrete("weapon", 4)
        .quaternion("turret")
        .entities("enemies", 2, ObservationSpec().position("place", 2, 50).binary("armed"))
        .array("wheels", 2, ObservationSpec().angle("steer"));
}

ActionSpec deeds() {
    return ActionSpec()
        .discrete("move", 4, true)
        .discrete("shoot", 2)
        .continuous("aim", 2, {-3, 3});
}

TEST(AgentSpec, CountsTheFloatsOfObservationsActionsAndMasks) {
    const AgentSpec schema(senses(), deeds(), 3);
    ASSERT_TRUE(schema.status().ok()) << schema.status().message();
    EXPECT_EQ(schema.frame_size(), 1 + 3 + 1 + 4 + (1 + 2 * 3) + 2);
    EXPECT_EQ(schema.observation_size(), 3 * schema.frame_size());
    EXPECT_EQ(schema.action_size(), 4);
    EXPECT_EQ(schema.mask_size(), 4);
    EXPECT_TRUE(schema.has_discrete());
    EXPECT_TRUE(schema.has_continuous());
}

TEST(AgentSpec, NamesEachFloat) {
    const AgentSpec schema(senses(), deeds(), 2);
    EXPECT_EQ(schema.observation_name(0), "speed");
    EXPECT_EQ(schema.observation_name(2), "rays[1]");
    EXPECT_EQ(schema.observation_name(6), "turret.y");
    EXPECT_EQ(schema.observation_name(9), "enemies (how many)");
    EXPECT_EQ(schema.observation_name(13), "enemies[1]/place.x");
    EXPECT_EQ(schema.observation_name(17), "wheels[1]/steer");
    EXPECT_EQ(schema.observation_name(18), "speed (1 back)");
    EXPECT_EQ(schema.action_name(0), "move");
    EXPECT_EQ(schema.action_name(3), "aim[1]");
}

TEST(AgentSpec, FindsFieldsByPath) {
    const AgentSpec schema(senses(), deeds());
    const auto rays = schema.find("rays"), place = schema.find("enemies/place");
    ASSERT_TRUE(rays.ok() && place.ok());
    EXPECT_EQ(rays->offset, 1);
    EXPECT_EQ(rays->size, 3);
    EXPECT_EQ(place->offset, 10);
    EXPECT_EQ(place->size, 2);
    const auto missing = schema.find("ray");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
    EXPECT_NE(missing.status().message().find("'rays'"), std::string::npos);
    EXPECT_FALSE(schema.find("rays/x").ok());
}

TEST(AgentSpec, SavesAndLoads) {
    const AgentSpec schema(senses(), deeds(), 3);
    const auto loaded = AgentSpec::load(schema.save());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->diff(schema), "");
    EXPECT_EQ(loaded->hash(), schema.hash());
    EXPECT_EQ(loaded->save(), schema.save());
}

// It goes into files: another value would refuse every brain there is.
TEST(AgentSpec, HashesToTheSameNumberForEver) {
    EXPECT_EQ(AgentSpec(senses(), deeds(), 3).hash(), 15603413176545507449u);
}

TEST(AgentSpec, EachTruncationAndChangedByteIsRejectedOrASoundSchema) {
    const AgentSpec schema(senses(), deeds(), 3);
    const std::vector<std::byte> bytes = schema.save();
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(AgentSpec::load(std::span(bytes).first(size)).ok()) << size;
    for (size_t i = 0; i < bytes.size(); ++i) {
        std::vector<std::byte> changed = bytes;
        changed[i] ^= std::byte{0xff};
        const auto loaded = AgentSpec::load(changed);
        if (!loaded.ok()) continue;
        const auto again = AgentSpec::load(loaded->save());
        ASSERT_TRUE(again.ok()) << i << ": " << again.status().message();
        EXPECT_EQ(again->hash(), loaded->hash()) << i;
    }
    std::vector<std::byte> longer = bytes;
    longer.push_back({});
    EXPECT_FALSE(AgentSpec::load(longer).ok());
}

struct Change {
    const char* name;
    AgentSpec there;
    const char* expected;
};

TEST(AgentSpec, AMismatchNamesTheField) {
    const AgentSpec here(senses(), deeds());
    const auto with = [](ObservationSpec fields) { return AgentSpec(std::move(fields), deeds()); };
    const ObservationSpec pair = ObservationSpec().box("a").box("b");
    const Change changes[] = {
        {"width", with(ObservationSpec().box("speed", 1, {0, 30}).box("rays", 9)),
         "observations/rays: width 3 here, 9 there"},
        {"range", with(ObservationSpec().box("speed", 1, {0, 40})),
         "observations/speed: range [0, 30] here, [0, 40] there"},
        {"kind", with(ObservationSpec().angle("speed")),
         "observations/speed: numbers here, angle there"},
        {"missing", with(ObservationSpec().box("speed", 1, {0, 30})),
         "observations/rays: only here"},
        {"stack", AgentSpec(senses(), deeds(), 2), "observations: stack 1 here, 2 there"},
        {"choices", AgentSpec(senses(), ActionSpec().discrete("move", 5, true)),
         "actions/move: choices 4 here, 5 there"},
        {"masked", AgentSpec(senses(), ActionSpec().discrete("move", 4)),
         "actions/move: masked here, not masked there"},
        {"nested",
         with(ObservationSpec()
                  .box("speed", 1, {0, 30})
                  .box("rays", 3)
                  .discrete("weapon", 4)
                  .quaternion("turret")
                  .entities("enemies", 2,
                            ObservationSpec().position("place", 3, 50).binary("armed"))),
         "observations/enemies/place: axes 2 here, 3 there"},
    };
    for (const Change& change : changes) {
        EXPECT_EQ(here.diff(change.there), change.expected) << change.name;
        EXPECT_NE(here.hash(), change.there.hash()) << change.name;
    }
    const AgentSpec swapped(ObservationSpec().box("b").box("a"), deeds());
    EXPECT_EQ(with(pair).diff(swapped), "observations: at place 0 'a' here, 'b' there");
}

TEST(AgentSpec, TellsWhatIsWrongWithLists) {
    const auto message = [](ObservationSpec fields, ActionSpec actions = deeds(),
                            int64_t stack = 1) {
        return AgentSpec(std::move(fields), std::move(actions), stack).status().message();
    };
    EXPECT_EQ(message(senses()), "");
    EXPECT_NE(message(ObservationSpec()).find("there are no observations"), std::string::npos);
    EXPECT_NE(message(senses(), ActionSpec()).find("there are no actions"), std::string::npos);
    EXPECT_NE(message(ObservationSpec().box("a").binary("a")).find("'a' is there twice"),
              std::string::npos);
    EXPECT_NE(message(ObservationSpec().box("a/b")).find("is not a valid name"), std::string::npos);
    EXPECT_NE(message(ObservationSpec().box("a", 0)).find("size of 0"), std::string::npos);
    EXPECT_NE(message(ObservationSpec().box("a", 1, {2, 2})).find("range of 'a'"),
              std::string::npos);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_NE(message(ObservationSpec().box("a", 1, {0, infinity})).find("range"),
              std::string::npos);
    EXPECT_NE(message(ObservationSpec().array("a", 3, ObservationSpec())).find("no fields"),
              std::string::npos);
    EXPECT_NE(
        message(ObservationSpec().array(
                    "a", 3, ObservationSpec().entities("b", 2, ObservationSpec().binary("c"))))
            .find("contains a set of entities"),
        std::string::npos);
    EXPECT_NE(
        message(ObservationSpec().array("a", 3, ObservationSpec().box("x", -1))).find("in 'a'"),
        std::string::npos);
    EXPECT_NE(message(ObservationSpec().array("a", 60000, ObservationSpec().box("x", 60000)))
                  .find("size"),
              std::string::npos);
    EXPECT_NE(message(senses(), deeds(), 0).find("0 observations"), std::string::npos);
    EXPECT_NE(message(senses(), ActionSpec().discrete("one", 1)).find("size of 1"),
              std::string::npos);
}

TEST(AgentManifest, SavesAndLoadsAndRejectsWhatIsNone) {
    AgentManifest manifest;
    manifest.schema = AgentSpec(senses(), deeds(), 2);
    manifest.algorithm = Algorithm::kSac;
    manifest.n_agents = 64;
    manifest.replay_capacity = 5000;
    manifest.hyperparameters = {{"learning_rate", 1e-3}, {"clip", 0.2}};
    manifest.names.frame = "foxes";
    manifest.names.status = "foxes.status";
    const std::vector<std::byte> bytes = manifest.save();
    const auto loaded = AgentManifest::load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->schema.diff(manifest.schema), "");
    EXPECT_EQ(loaded->algorithm, manifest.algorithm);
    EXPECT_EQ(loaded->n_agents, 64u);
    EXPECT_EQ(loaded->hyperparameters, manifest.hyperparameters);
    EXPECT_EQ(loaded->replay_capacity, 5000u);
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
    manifest.schema = AgentSpec(senses(), deeds());
    std::vector<std::byte> bytes = manifest.save();
    // What versions 4 and 3 append, then what version 2 does: the ring's size and eight names.
    bytes.resize(bytes.size() - 6 * sizeof(uint32_t) - std::strlen("add_samples") -
                 std::strlen("add_demonstrations"));
    bytes[4] = std::byte{2};
    const auto second = AgentManifest::load(bytes);
    ASSERT_TRUE(second.ok()) << second.status().message();
    EXPECT_EQ(second->names.compute_advantages, "compute_advantages") << "as stored";
    EXPECT_EQ(second->names.add_demonstrations, "demonstrate") << "as it was named then";
    size_t names = sizeof(uint32_t);
    for (const char* name : {"frame", "store", "compute_advantages", "learn", "publish",
                             "shrink_and_perturb", "last.action", "agents.status"})
        names += sizeof(uint32_t) + std::strlen(name);
    bytes.resize(bytes.size() - names);
    bytes[4] = std::byte{1};
    const auto loaded = AgentManifest::load(bytes);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->names.frame, "frame");
    EXPECT_EQ(loaded->names.compute_advantages, "prepare") << "as it was named then";
    EXPECT_EQ(loaded->names.shrink_and_perturb, "adapt");
    EXPECT_EQ(loaded->replay_capacity, 0u);
    bytes[4] = std::byte{5};
    EXPECT_NE(AgentManifest::load(bytes).status().message().find("version 5"), std::string::npos);
}

}  // namespace
}  // namespace hearth::agents
