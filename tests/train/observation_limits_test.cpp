// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Observations that training cannot tell apart are named in its log and on the terminal.

#include "native/open_device.hpp"
#include "train/trainer.hpp"

#include <hearth/file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace hearth::train {
namespace {

namespace fs = std::filesystem;

/// The log and the notes of a short run on the CPU device.
struct Logged {
    std::string log;
    std::vector<std::string> notes;
};

Logged run_with(double clip_obs) {
    Logged run;
    const fs::path root =
        fs::temp_directory_path() / ("hearth_observation_limits_" + std::to_string(getpid()));
    native::HostOptions options;
    options.build.flags = "-O1";
    const Result<native::OpenDevice> opened = native::open_device("cpu", options);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    if (!opened.ok()) return run;
    TrainConfig config;
    config.steps = 256;
    config.network = {8};
    config.ppo.n_agents = 4;
    config.ppo.n_steps = 8;
    config.ppo.n_minibatches = 1;
    config.ppo.n_epochs = 1;
    config.ppo.normalize_observations = true;
    config.ppo.limits.clip_obs = clip_obs;
    const auto outcome = train(*opened->device, config,
                               {.folder = root.string(), .on_note = [&](const std::string& note) {
                                    run.notes.push_back(note);
                                }});
    EXPECT_TRUE(outcome.ok()) << outcome.status().message();
    const auto bytes = read_whole_file((root / "run.jsonl").string());
    EXPECT_TRUE(bytes.ok());
    if (bytes.ok()) run.log.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    fs::remove_all(root);
    return run;
}

TEST(ObservationLimits, AreLoggedByNameAndNotedOnce) {
    const Logged logged = run_with(0.25);
    EXPECT_NE(logged.log.find(R"("at_limit":{")"), std::string::npos) << logged.log;
    EXPECT_NE(logged.log.find(R"([0]":0.)"), std::string::npos) << logged.log;
    ASSERT_EQ(logged.notes.size(), 4u) << "the elements of a cart-pole's observation";
    for (const std::string& note : logged.notes) {
        EXPECT_NE(note.find(" % of samples at the limit"), std::string::npos) << note;
        EXPECT_EQ(std::ranges::count(logged.notes, note), 1) << note;
    }
}

TEST(ObservationLimits, OfObservationsWithinThemNothingIsSaid) {
    const Logged logged = run_with(10);
    EXPECT_EQ(logged.log.find("at_limit"), std::string::npos) << logged.log;
    EXPECT_TRUE(logged.notes.empty());
}

}  // namespace
}  // namespace hearth::train
