// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checkpoints that were damaged or forged are refused by name, before they reach a device.

#include "native/open_device.hpp"
#include "train/evaluate.hpp"
#include "train/trainer.hpp"

#include <hearth/file.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

namespace hearth::train {
namespace {

namespace fs = std::filesystem;

/// A short run on the CPU device, and its checkpoint.
class Checkpoints : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        root_ = fs::temp_directory_path() / ("hearth_checkpoints_" + std::to_string(getpid()));
        fs::create_directories(root_);
        native::HostOptions options;
        options.build.flags = "-O1";
        Result<native::OpenDevice> opened = native::open_device("cpu", options);
        ASSERT_TRUE(opened.ok()) << opened.status().message();
        device_ = std::make_unique<native::OpenDevice>(std::move(*opened));
        const auto outcome = train(device(), config(64), {.folder = folder()});
        ASSERT_TRUE(outcome.ok()) << outcome.status().message();
        Result<std::vector<std::byte>> bytes = read_whole_file(file());
        ASSERT_TRUE(bytes.ok());
        bytes_ = std::move(*bytes);
    }
    static void TearDownTestSuite() {
        device_ = nullptr;
        fs::remove_all(root_);
    }
    void SetUp() override {
        ASSERT_FALSE(bytes_.empty());
        ASSERT_TRUE(write_file_atomically(file(), bytes_).ok());
    }

    static standalone::Device& device() { return *device_->device; }
    static std::string folder() { return (root_ / "run").string(); }
    static std::string file() { return folder() + "/last.brain"; }
    static TrainConfig config(int64_t steps) {
        TrainConfig config;
        config.steps = steps;
        config.network = {8};
        config.ppo.n_agents = 4;
        config.ppo.n_steps = 8;
        config.ppo.n_minibatches = 1;
        config.ppo.n_epochs = 1;
        return config;
    }
    static Result<TrainOutcome> resume(std::vector<std::string>* notes = nullptr) {
        return train(device(), config(96),
                     {.folder = folder(), .resumes = true, .on_note = [&](const std::string& note) {
                          if (notes != nullptr) notes->push_back(note);
                      }});
    }

    /// Writes the checkpoint with its user data changed.
    static void forge(const std::function<void(NamedTensors&, Metadata&)>& change) {
        Brain brain = load_brain(bytes_).value();
        Metadata metadata;
        NamedTensors tensors = read_safetensors(brain.user_data, &metadata).value();
        change(tensors, metadata);
        brain.user_data = write_safetensors(tensors, metadata);
        write(brain);
    }
    static void write(const Brain& brain) {
        ASSERT_TRUE(write_file_atomically(file(), save_brain(brain).value()).ok());
    }
    static void expect_refused(const std::string& message) {
        const auto outcome = resume();
        ASSERT_FALSE(outcome.ok()) << message;
        EXPECT_NE(outcome.status().message().find(message), std::string::npos)
            << outcome.status().message() << "\nexpected: " << message;
    }

    static fs::path root_;
    static std::unique_ptr<native::OpenDevice> device_;
    static std::vector<std::byte> bytes_;
};

fs::path Checkpoints::root_;
std::unique_ptr<native::OpenDevice> Checkpoints::device_;
std::vector<std::byte> Checkpoints::bytes_;

TEST_F(Checkpoints, AnUnchangedOneIsResumed) {
    forge([](NamedTensors&, Metadata&) {});
    std::vector<std::string> notes;
    const auto outcome = resume(&notes);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    EXPECT_EQ(outcome->steps, 96);
    EXPECT_TRUE(notes.empty());
}

TEST_F(Checkpoints, CountsThatNoRunReachesAreNamed) {
    const auto with = [](const char* key, const char* text) {
        forge([&](NamedTensors&, Metadata& metadata) {
            if (text == nullptr)
                metadata.erase(key);
            else
                metadata[key] = text;
        });
    };
    with("steps", "9223372036854775807");
    expect_refused(
        "steps: expected a whole number up to 2199023255552, found '9223372036854775807'");
    with("steps", "96");
    expect_refused(
        "steps: expected windows times 32 (ppo.n_agents times ppo.n_steps), found 96 and 2 "
        "windows");
    with("windows", nullptr);
    expect_refused("windows: expected a whole number up to 2199023255552, found none");
    with("windows", "9223372036854775807");
    expect_refused("windows: expected a whole number up to");
    with("windows", "-1");
    expect_refused("found '-1'");
    with("ranks", "99999999");
    expect_refused("ranks: expected a whole number up to 65536");
}

TEST_F(Checkpoints, NumbersThatAreNotFiniteAreRefusedInEachState) {
    const Brain brain = load_brain(bytes_).value();
    const NamedTensors tensors = read_safetensors(brain.user_data).value();
    int checked = 0;
    for (const auto& [name, tensor] : tensors) {
        if (tensor.dtype() != DType::kF32 || name == "train.returns") continue;
        ++checked;
        const double values[] = {NAN, INFINITY, 3e38};
        const double value = values[checked % 3];
        forge([&](NamedTensors& forged, Metadata&) { forged.at(name).set(0, value); });
        expect_refused("'" + name + "': element 0 is ");
    }
    EXPECT_GT(checked, 15);
}

TEST_F(Checkpoints, IntegersOfAllOnesAreRefusedInEachState) {
    const Brain brain = load_brain(bytes_).value();
    const NamedTensors tensors = read_safetensors(brain.user_data).value();
    int checked = 0;
    for (const auto& [name, tensor] : tensors) {
        if (is_floating(tensor.dtype())) continue;
        ++checked;
        forge([&](NamedTensors& forged, Metadata&) {
            std::memset(forged.at(name).bytes().data(), 0xff, forged.at(name).bytes().size());
        });
        expect_refused("'" + name + "': element 0 is ");
    }
    for (size_t t = 0; t < brain.tensors.size(); ++t) {
        Brain forged = brain;
        HostTensor& tensor = forged.tensors[t].value;
        if (is_floating(tensor.dtype())) continue;
        ++checked;
        std::memset(tensor.bytes().data(), 0xff, tensor.bytes().size());
        write(forged);
        expect_refused("'" + forged.tensors[t].name + "': element 0 is ");
    }
    EXPECT_GT(checked, 8);
}

TEST_F(Checkpoints, WeightsBeyondAllTrainingAreRefusedAlsoForPlaying) {
    Brain brain = load_brain(bytes_).value();
    for (const char* name : {"actor.0.weight", "published.param.actor.0.weight"})
        brain.find(name)->value.set(3, 3e38);
    write(brain);
    expect_refused("'actor.0.weight': element 3 is 3e+38, expected a number of at most 1e18");
    const auto checkpoint = read_checkpoint(file());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const auto played = evaluate(device(), *checkpoint, 2, 1);
    ASSERT_FALSE(played.ok());
    EXPECT_NE(played.status().message().find("'published.param.actor.0.weight': element 3"),
              std::string::npos)
        << played.status().message();
}

TEST_F(Checkpoints, MissingStatesAreRefusedOrNamed) {
    forge([](NamedTensors& tensors, Metadata&) { tensors.erase("worlds.state"); });
    expect_refused("states: expected ");
    // A file that says nothing about its states is of an older version.
    forge([](NamedTensors& tensors, Metadata& metadata) {
        tensors.erase("worlds.state");
        metadata.erase("states");
    });
    std::vector<std::string> notes;
    const auto outcome = resume(&notes);
    ASSERT_TRUE(outcome.ok()) << outcome.status().message();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find("has no state 'worlds.state'"), std::string::npos) << notes[0];
}

TEST_F(Checkpoints, AStateOfAnotherTypeIsRefused) {
    forge([](NamedTensors& tensors, Metadata&) {
        tensors.at("rollout.step") = HostTensor(DType::kF32, {});
    });
    expect_refused("'rollout.step' is f32 of 4 bytes, expected i32 of 4");
}

TEST_F(Checkpoints, ANetworkLargerThanItsFileIsRefusedBeforeItIsMade) {
    forge([](NamedTensors&, Metadata& metadata) {
        TrainConfig large = config(64);
        large.network.assign(16, 4096);
        metadata["config"] = large.text();
    });
    const auto checkpoint = read_checkpoint(file());
    ASSERT_FALSE(checkpoint.ok());
    EXPECT_NE(checkpoint.status().message().find(
                  "network: expected 251658240 weights between its hidden layers, found "),
              std::string::npos)
        << checkpoint.status().message();
}

TEST_F(Checkpoints, ADeepConfigurationInABrainIsRefused) {
    forge([](NamedTensors&, Metadata& metadata) {
        metadata["config"] = R"({"task":"CartPole","ppo":)" + std::string(200'000, '[') +
                             std::string(200'000, ']') + "}";
    });
    expect_refused("expected JSON of at most 64 levels, found deeper nesting");
    EXPECT_FALSE(read_checkpoint(file()).ok());
}

}  // namespace
}  // namespace hearth::train
