// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The convolutional network of demos/digits, trained on the device from scratch.

#include "support/cases.hpp"
#include "support/vulkan_fixture.hpp"

#include <digits.hpp>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

namespace hearth::demo {
namespace {

class DigitsDemo : public test::VulkanTest {
  protected:
    std::unique_ptr<DigitsLearner> make_learner(DigitsOptions options, const Digits& data) {
        if (test::test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        auto learner = DigitsLearner::create(device(), options, data.count());
        EXPECT_TRUE(learner.ok()) << learner.status().message();
        return learner.ok() ? std::move(learner).value() : nullptr;
    }
};

/// Images of random pixels, all of them different.
Digits noise(int64_t count) {
    Digits digits{Init::uniform(0, 1).make("noise", DType::kF32, {count, 1, 8, 8}),
                  HostTensor(DType::kI32, {count})};
    for (int64_t i = 0; i < count; ++i) digits.labels.set(i, static_cast<double>(i % 10));
    return digits;
}

TEST_F(DigitsDemo, ReadsAtLeast975OfAThousandAfterTraining) {
    // On other hosts the shorter test below does.
    if (!test::test_setting("HEARTH_TEST_BINDING").empty() ||
        !test::test_setting("HEARTH_TEST_FEATURES").empty())
        GTEST_SKIP() << "trained on the default host";
    const auto path = reference_cases::place_of("digits/digits.csv");
    if (!path) GTEST_SKIP() << "neither tests/data/torch nor HEARTH_CASES is there";
    const auto data = read_digits(path->string());
    ASSERT_TRUE(data.ok()) << data.status().message();
    EXPECT_EQ(data->train.count(), 1437);
    EXPECT_EQ(data->test.count(), 360);
    const DigitsOptions options;
    const auto learner = make_learner(options, data->train);
    ASSERT_NE(learner, nullptr);
    while (learner->epoch() < options.epochs) {
        const auto loss = learner->learn_epoch(data->train);
        ASSERT_TRUE(loss.ok()) << loss.status().message();
    }
    const auto accuracy = learner->accuracy(data->test);
    ASSERT_TRUE(accuracy.ok()) << accuracy.status().message();
    EXPECT_GE(*accuracy, 0.975);
    RecordProperty("accuracy_percent", std::to_string(100 * *accuracy));
    for (const WeightFormat format : {WeightFormat::kF16, WeightFormat::kInt8}) {
        const auto narrow = learner->accuracy(data->test, format);
        ASSERT_TRUE(narrow.ok()) << narrow.status().message();
        EXPECT_GE(*narrow, *accuracy - 0.01) << (format == WeightFormat::kF16 ? "f16" : "int8");
    }
}

TEST_F(DigitsDemo, SeedsDecideEveryBitOfTheWeights) {
    const Digits data = noise(40);
    const auto weights_after_an_epoch = [&](uint64_t seed) {
        // The last batch is smaller than the others.
        const auto learner = make_learner({.seed = seed, .epochs = 1, .batch = 16}, data);
        EXPECT_TRUE(learner && learner->learn_epoch(data).ok());
        auto slots = learner ? learner->runner().read_variables() : Result<NamedTensors>(Status());
        return slots.ok() ? *slots : NamedTensors();
    };
    const NamedTensors first = weights_after_an_epoch(7);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, weights_after_an_epoch(7));
    EXPECT_NE(first, weights_after_an_epoch(8));
}

TEST(DigitsDemoFile, IsRefusedWithItsLineWhereItIsWrong) {
    const std::string path = testing::TempDir() + "/hearth_digits_test.csv";
    const auto error_of = [&](const std::string& text) {
        std::ofstream(path) << text;
        return read_digits(path).status().message();
    };
    std::string good = "3";
    for (int i = 0; i < 64; ++i) good += ",16";
    for (const std::string& bad : {std::string("3,1,2"), good + ",1", "12" + good.substr(1),
                                   good.substr(0, good.size() - 2) + "17", std::string("x")})
        EXPECT_EQ(error_of("# comment\n" + good + "\n" + bad + "\n"),
                  path + ":3: expected a digit and 64 numbers from 0 to 16")
            << bad;
    EXPECT_EQ(error_of(good), path + ": 1 digits leave none to test");
    std::filesystem::remove(path);
    EXPECT_EQ(read_digits(path).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace hearth::demo
