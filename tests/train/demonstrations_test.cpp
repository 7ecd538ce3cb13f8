// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Training that imitates a .demo file.

#include "classic/simulations.hpp"
#include "native/open_device.hpp"
#include "program/demo_file.hpp"
#include "train/trainer.hpp"

#include <hearth/agents/schema.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/file.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace hearth::train {
namespace {

namespace fs = std::filesystem;

using namespace agents;

class Demonstrations : public ::testing::Test {
  protected:
    void SetUp() override {
        native::HostOptions options;
        options.build.flags = "-O1";
        auto opened = native::open_device("cpu", options);
        ASSERT_TRUE(opened.ok()) << opened.status().message();
        device_ = std::move(*opened);
        fs::create_directories(root_);
    }
    void TearDown() override { fs::remove_all(root_); }

    /// Steps of a teacher who pushes the cart to where the pole falls.
    std::string teach(const AgentSpec& spec, uint32_t steps) {
        const std::vector<std::byte> schema = spec.save();
        AgentSpecView view;
        SpecText error;
        EXPECT_EQ(view.open(schema, error), StatusCode::kOk) << error.c_str();
        std::vector<std::byte> bytes(demo_header_bytes(view) + steps * demo_step_bytes(view));
        write_demo_header(view, bytes.data());
        for (uint32_t i = 0; i < steps; ++i) {
            std::array<float, 4> seen;
            for (uint32_t k = 0; k < 4; ++k)
                seen[k] = static_cast<float>(uniform_from_bits(philox_bits(1, i, k)) - 0.5);
            seen[2] *= 0.4f;  // rad, as the pole falls at 0.21
            const float push = seen[2] + 0.25f * seen[3] > 0 ? 1 : 0;
            write_demo_step(view, {.observation = seen.data(), .action = &push},
                            bytes.data() + demo_header_bytes(view) + i * demo_step_bytes(view));
        }
        const std::string path = (root_ / "teacher.demo").string();
        EXPECT_TRUE(write_file_atomically(path, bytes).ok());
        return path;
    }
    Result<TrainOutcome> run(const std::string& demonstrations) {
        TrainConfig config;
        config.steps = 8192;
        config.network = {32};
        config.demonstrations = demonstrations;
        config.ppo.n_agents = 8;
        config.ppo.n_steps = 32;
        config.ppo.bc_coef = 1;
        config.ppo.limits.target_kl = 0;
        return train(*device_.device, config,
                     {.folder = (root_ / (demonstrations.empty() ? "alone" : "taught")).string()});
    }

    const fs::path root_ =
        fs::temp_directory_path() / ("hearth_demonstrations_" + std::to_string(getpid()));
    native::OpenDevice device_;
};

TEST_F(Demonstrations, TeachByTheConfiguration) {
    const auto spec = classic::schema_of(classic::make_task("CartPole")->info());
    const auto taught = run(teach(spec, 500)), alone = run("");
    ASSERT_TRUE(taught.ok()) << taught.status().message();
    ASSERT_TRUE(alone.ok()) << alone.status().message();
    RecordProperty("taught", std::to_string(taught->mean_return));
    RecordProperty("alone", std::to_string(alone->mean_return));
    EXPECT_GT(taught->mean_return, 2 * alone->mean_return);
    EXPECT_GT(taught->mean_return, 120);
}

TEST_F(Demonstrations, OfOthersAreRefusedByTheNameOfTheField) {
    const AgentSpec others(ObservationSpec().box("speed", 4), ActionSpec().discrete("push", 2));
    const Status refused = run(teach(others, 3)).status();
    EXPECT_NE(refused.message().find("expected demonstrations of the task's agents"),
              std::string::npos)
        << refused.message();
    EXPECT_NE(refused.message().find("observation: only here"), std::string::npos)
        << refused.message();
    EXPECT_NE(run(teach(others, 0)).status().message().find("expected at least one step"),
              std::string::npos);
    EXPECT_NE(run((root_ / "none.demo").string()).status().message().find("none.demo"),
              std::string::npos);
}

TEST_F(Demonstrations, AreInTheTextOfAConfigurationThatHasThem) {
    TrainConfig config;
    EXPECT_EQ(config.text().find("demonstrations"), std::string::npos);
    config.demonstrations = "anna.demo";
    const auto read = parse_config(config.text());
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->demonstrations, "anna.demo");
    EXPECT_NE(parse_config(R"({"demonstrations": 3})")
                  .status()
                  .message()
                  .find("demonstrations: expected a text"),
              std::string::npos);
}

}  // namespace
}  // namespace hearth::train
